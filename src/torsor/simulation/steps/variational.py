"""The variational step on the group, in O(n): Lee, Liu, Park and Srinivasa's, in position–momentum form.

The step is the motion u for which the discrete momentum at its start is the momentum p that the robot has; the one at its end is
the new momentum [MW01]. Nothing is dissipated by the method: momenta that the equations of motion conserve stay as they
are, to rounding, and the energy of a robot that nothing drives stays near its value for a very long time [HLW06, §IX.8].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from torsor.arrays import absolute, constant, is_concrete, stack, where, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, Pose
from torsor.mechanics.dynamics.forward_dynamics import forward_dynamics
from torsor.mechanics.dynamics.inverse_dynamics import gravity_forces
from torsor.mechanics.dynamics.mass_matrix import mass_matrix
from torsor.mechanics.dynamics.springs import plus_springs
from torsor.mechanics.kinematics.manifold import increment_rate, integrate
from torsor.mechanics.recursions.joint_motion import joint_poses
from torsor.model import Robot
from torsor.simulation.steps.broyden import improved
from torsor.simulation.steps.discrete_momentum import (
    Displacement,
    carried_along,
    displacement,
    momentum,
    momentum_at_end,
    momentum_at_start,
)
from torsor.simulation.steps.momentum_slope import Factored, factored, solved

Force = Callable[[Array, Array, Array], Array]  # of t (...), q (..., nq), v (..., nv): joint forces (..., nv)
Memory = dict[str, Array]
ITERATIONS = 4
CONVERGED = 1e-10  # rad or m: a correction of this size leaves errors far below it


class VariationalStep(NamedTuple):
    """State and memory after a step; ``residual`` (...), the correction that another iteration would make, rad or m; how many
    ``iterations`` (...) were made until corrections were negligible.
    """

    q: ConfigurationVector
    v: JointVector
    memory: Memory
    residual: Array
    iterations: Array


def variational_start(robot: Robot, q: ConfigurationVector, v: JointVector) -> Memory:
    """What the method remembers besides q and v: the momentum p (..., nv), and mean velocities of the last two steps.

    To be made again whenever something else than the step has changed q or v.
    """
    return {"p": momentum(robot, q, v), "mean": v, "mean_before": v}


def variational_step(
    robot: Robot, force: Force, t: Array, q: ConfigurationVector, v: JointVector, memory: Memory, h: Array
) -> VariationalStep:
    """One step of length h: half of the impulses, a motion that conserves momentum, the other half of them [LLPS16].

    Second order. Gravity, springs and ``force`` act at both ends; so does viscous friction, on the motion of the step (`early`),
    and may be of any size. ``force`` is all other joint forces: drives, JᵀF of wrenches, Coulomb friction. Where they depend on
    v, the velocity at the end is predicted.
    """
    p = begun(robot, force(t, q, v), q, memory["p"], h)
    found = solve_motion(robot, q, p, h, h[..., None] * (2.0 * memory["mean"] - memory["mean_before"]))
    q_new = integrate(robot, q, found.u)
    v_new, p_new = ended(robot, force, t, q_new, force(t, q, v), found.p, h)
    memory = {"p": p_new, "mean": found.u / h[..., None], "mean_before": memory["mean"]}
    return VariationalStep(q_new, v_new, memory, found.residual, found.iterations)


def begun(robot: Robot, force: JointVector, q: ConfigurationVector, p: JointVector, h: Array) -> JointVector:
    """The momentum (..., nv) with which the motion of a step begins, after the first half of its impulses."""
    return p + early(robot, h) * h[..., None] * (force - potential_forces(robot, q))


def ended(
    robot: Robot, force: Force, t: Array, q: ConfigurationVector, before: JointVector, p: JointVector, h: Array
) -> tuple[JointVector, JointVector]:
    """Velocity and momentum at the end q of a step from t, after the second half of its impulses on p; ``before``: the forces at
    its start, with which the velocity is predicted.
    """
    rest = (1.0 - early(robot, h)) * h[..., None]
    p = p - rest * potential_forces(robot, q)
    p = p + rest * force(t + h, q, velocity(robot, q, p + rest * before))
    return velocity(robot, q, p), p


class Motion(NamedTuple):
    """The motion u (..., nv) and the momentum p at its end; ``residual`` and ``iterations`` of `VariationalStep`."""

    u: JointVector
    p: JointVector
    residual: Array
    iterations: Array


def solve_motion(robot: Robot, q: ConfigurationVector, p: JointVector, h: Array, u: JointVector) -> Motion:
    """The motion in time h that begins with momentum p, from a guess u, by Newton's method with one slope and Broyden's updates.

    What is left of the equation is taken from the momentum at the end, so that neither it nor rounding errors add up from step
    to step.
    """
    starts = joint_poses(robot, q)
    moved = displacement(robot, starts, u, h)
    K = slope(robot, starts, moved, h)
    busy, count, steps = 0.0 * h == 0.0, 0.0 * h, list[Array]()
    for k in range(ITERATIONS):
        if k:
            moved = displacement(robot, starts, u, h)
        left = left_over(robot, starts, moved, u, p, h)
        eta = solved(robot, K, h[..., None] * left)
        steps.append(improved(steps, -increment_rate(robot, u, eta)))
        u = where(busy[..., None], u + steps[-1], u)
        count = count + where(busy, 1.0, 0.0)
        busy = busy & ~(largest(eta) <= CONVERGED)
    moved = displacement(robot, starts, u, h)
    left = left_over(robot, starts, moved, u, p, h)
    return Motion(u, arrived(robot, moved, u, left, h), largest(solved(robot, K, h[..., None] * left)), count)


def velocity(robot: Robot, q: ConfigurationVector, p: JointVector) -> JointVector:
    """M(q)⁻¹ p (..., nv)."""
    nothing = zeros(robot.nv)
    bare = robot.parameters._replace(
        gravity=zeros(3), viscous_friction=nothing, coulomb_friction=nothing, stiffness=nothing
    )
    return forward_dynamics(Robot(robot.structure, bare), q, nothing, p)


def potential_forces(robot: Robot, q: ConfigurationVector) -> JointVector:
    """The gradient (..., nv) of potential energy: what holds the robot against gravity and springs."""
    return plus_springs(robot, q, gravity_forces(robot, q))


def early(robot: Robot, h: Array) -> JointVector:
    """Which part (..., nv) of its impulses a step has at its start: a half, and more where there is viscous friction.

    ½ + z/(12 + 2z), z = h D_jj / M_jj in the home configuration, follows 1/(1 − e^{−z}) − 1/z, with which a step of ṗ = −D p/M
    would be exact. From ½ it differs by O(h), so that the order remains, and it goes to 1 with D: what is fast dies out in one
    step.
    """
    D = robot.parameters.viscous_friction
    if is_concrete(D) and not D.any():
        return constant([0.5] * robot.nv)
    M = mass_matrix(robot, constant([x for _, kind in robot.structure.blocks for x in kind.home]))
    inertia = stack([M[k, k] for k in range(robot.nv)])
    z = h[..., None] * D
    return 0.5 + z / (12.0 * inertia + 2.0 * z)


def slope(robot: Robot, starts: list[Pose], moved: Displacement, h: Array) -> Factored:
    """How what is left of the equation changes with the motion."""
    damping = early(robot, h) * h[..., None] * robot.parameters.viscous_friction
    return factored(robot, starts, moved.ends, moved.screws, robot.parameters.armature + damping)


def left_over(
    robot: Robot, starts: list[Pose], moved: Displacement, u: JointVector, p: JointVector, h: Array
) -> JointVector:
    """What the motion u needs at its start more than p: its momentum, and what friction D u takes early."""
    return momentum_at_start(robot, starts, moved, u, h) + early(robot, h) * robot.parameters.viscous_friction * u - p


def arrived(robot: Robot, moved: Displacement, u: JointVector, left: JointVector, h: Array) -> JointVector:
    """The momentum at the end of the motion u, friction's late part and what was left over taken off."""
    late = (1.0 - early(robot, h)) * robot.parameters.viscous_friction * u
    return momentum_at_end(robot, moved, u, h) - late - carried_along(robot, u, left)


def largest(x: Array) -> Array:
    """The largest |x_k| (...); NaN if there is one."""
    most = absolute(x[..., 0])
    for k in range(1, x.shape[-1]):
        size = absolute(x[..., k])
        most = where(size <= most, most, size)
    return most
