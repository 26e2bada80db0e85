"""The algorithms of Lynch & Park §9.5, with the book's signs: F_tip is what the tip does to the environment [LP, E002-10]."""

from __future__ import annotations

from torsor.arrays import as_numbers, factor, matvec, solve, stack_vectors, transpose
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, Wrench
from torsor.border import checked, explained
from torsor.errors import ModelError, ShapeError
from torsor.mechanics.dynamics.inverse_dynamics import inverse_dynamics
from torsor.mechanics.dynamics.mass_matrix import mass_matrix
from torsor.mechanics.kinematics.jacobians import body_jacobian
from torsor.model import Robot
from torsor.model.link_inertias import may_be_singular


@checked
def joint_acceleration(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    tau: JointVector,
    F_tip: Wrench | None = None,
    *,
    frame: str = "tip",
) -> JointVector:
    """GetJointAccel: solve M a = τ − γ − JᵀF_tip, γ by inverse dynamics with a = 0 [LP, §9.5, (9.89)].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s; ``tau`` (..., nv), N·m or N; ``F_tip`` (..., 6), N·m and N,
    in the axes of ``frame``, exerted *by* the tip. Returns (..., nv), rad/s² or m/s².
    """
    rhs = tau - inverse_dynamics(robot, q, v, 0.0 * v)
    if F_tip is not None:
        rhs = rhs - matvec(transpose(body_jacobian(robot, q, frame)), F_tip)
    return solve(factor(mass_matrix(robot, q), guarded=may_be_singular(robot)), rhs)


@explained
def euler_trajectory(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    torques: Array,
    step: float,
    tip_wrenches: Array | None = None,
    *,
    frame: str = "tip",
) -> tuple[Array, Array]:
    """The book's Euler integration: θ[k+1] = θ[k] + h θ̇[k], θ̇[k+1] = θ̇[k] + h θ̈[k], k = 0 … N − 1 [LP, §9.5, E002-12].

    ``q`` (nq,), rad or m; ``v`` (nv,), rad/s or m/s; ``torques`` (N, nv), N·m or N; ``step`` s; ``tip_wrenches`` (N, 6),
    N·m and N, by the tip. For robots whose joints have one number each. Returns q (N + 1, nq) and v (N + 1, nv).
    """
    if robot.nq != robot.nv:
        raise ModelError(f"euler_trajectory: robot {robot.name!r} has joints with quaternions; use simulate.")
    torques = as_numbers(torques)
    if torques.ndim != 2 or torques.shape[-1] != robot.nv:
        raise ShapeError(f"euler_trajectory: `torques` must have shape (N, {robot.nv}), got {tuple(torques.shape)}.")
    qs, vs = [as_numbers(q)], [as_numbers(v)]
    for k in range(len(torques)):
        F_tip = None if tip_wrenches is None else as_numbers(tip_wrenches)[k]
        a = joint_acceleration(robot, qs[k], vs[k], torques[k], F_tip, frame=frame)
        qs.append(qs[k] + step * vs[k])
        vs.append(vs[k] + step * a)
    return stack_vectors(qs), stack_vectors(vs)
