"""Forces and moments on the links by both derivations, side by side; and a load on the tip as the pull of one more link.

F_i = m_i v̇_i and N_i = I_i·ω̇_i + ω_i × (I_i·ω_i) come out of the Lagrange equation (3.11), and are what Newton and Euler begin
with [Sil81, §1.3, §3.2]. Both contain the upward acceleration that stands for gravity.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from torsor._reports import in_one_line
from torsor.arrays import concat, cross, matvec, stack_vectors
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, Scalar, Twist, Wrench
from torsor.border import checked
from torsor.lie.unchecked import se3
from torsor.mechanics.kinematics.poses import poses_in_base
from torsor.model import Robot
from torsor.papers.formulations._luh_walker_paul import total_forces
from torsor.papers.formulations._silver import link_places, loads
from torsor.papers.formulations.formulation import joint_rates, refuse_other_joints
from torsor.papers.formulations.links import newton_euler_model

LinkVectors = Annotated[Array, "... n 3"]


@in_one_line
class LinkForces(NamedTuple):
    """Total force and total moment about its centre of mass on every link, in base axes.

    Attributes
    ----------
    force : (..., n, 3) array
        F_i, N, links in the order of ``robot.links``.
    moment : (..., n, 3) array
        N_i, N·m.
    """

    force: LinkVectors
    moment: LinkVectors


@checked
def lagrange_link_forces(robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector) -> LinkForces:
    """F_i and N_i as the Lagrange equation in ω has them, computed in fixed axes [Sil81, (3.11), (3.12)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    a : (..., nv) array
        Acceleration, rad/s² or m/s².

    Returns
    -------
    LinkForces
        In N, N·m.
    """
    refuse_other_joints(robot)
    model = newton_euler_model(robot, q)
    found = loads(model, link_places(model), joint_rates(robot, v), joint_rates(robot, a))
    return LinkForces(stack_vectors([load.F for load in found]), stack_vectors([load.N for load in found]))


@checked
def newton_euler_link_forces(robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector) -> LinkForces:
    """F_i and N_i as Newton's and Euler's equations have them, computed in link axes [LWP80; Sil81, §1.3].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    a : (..., nv) array
        Acceleration, rad/s² or m/s².

    Returns
    -------
    LinkForces
        In N, N·m, turned into base axes.
    """
    refuse_other_joints(robot)
    F, N = total_forces(newton_euler_model(robot, q), joint_rates(robot, v), joint_rates(robot, a))
    turns = [se3.rotation(T) for T in poses_in_base(robot, q)]
    force, moment = ([matvec(R, x) for R, x in zip(turns, given, strict=True)] for given in (F, N))
    return LinkForces(stack_vectors(force), stack_vectors(moment))


@checked
def extra_link_acceleration(mass: Scalar, V: Twist, F: Wrench) -> Twist:
    """Acceleration V̇ with which one more link, attached to the tip, loads it with the wrench F [Sil81, §3.2].

    The link is a ball with its centre in the tip's frame, of mass m and I = m 1 m². Moving it with V̇ takes the wrench
    (m ω̇, m (v̇ + ω × v)), and the tip feels minus that: V̇ = −F/m − (0, ω × v). Its F and N in (3.12) are the load.

    Parameters
    ----------
    mass : (...) array
        Mass m of the extra link, kg; any positive one does.
    V : (..., 6) array
        Body twist of the tip's frame, rad/s, m/s.
    F : (..., 6) array
        Wrench on the tip, in the axes of that frame, N·m, N.

    Returns
    -------
    (..., 6) array
        Body acceleration of the extra link, rad/s², m/s².
    """
    m = mass[..., None]
    turned = cross(V[..., :3], V[..., 3:])
    return concat([-F[..., :3] / m, -F[..., 3:] / m - turned])
