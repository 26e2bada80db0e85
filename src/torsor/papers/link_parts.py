"""What each link contributes to the energies and to the Christoffel symbols, "to isolate distinct physical quantities" [BSP93].

Sums over links are the quantities of the whole robot, but for what is at the joints: armature and springs.
"""

from __future__ import annotations

from torsor.arrays import dot, matvec, permute, stack
from torsor.arrays.typing import Array, ConfigurationVector, JointVector
from torsor.border import checked
from torsor.lie.unchecked import se3
from torsor.mechanics.dynamics.energy import link_momenta
from torsor.mechanics.kinematics.poses import poses_in_base
from torsor.mechanics.recursions.joint_motion import joint_poses
from torsor.model import Robot
from torsor.papers.brackets import brackets_of_links


@checked
def link_kinetic_energies(robot: Robot, q: ConfigurationVector, v: JointVector) -> Array:
    """Kinetic energy K_i = ½ V_iᵀ G_i V_i of each link [LP, (9.59), §9.1; PBP95, (35)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    (..., n) array
        J, in the order of ``robot.links``. Their sum and ½ armature · v² make `torsor.kinetic_energy`.
    """
    twists, momenta = link_momenta(robot, joint_poses(robot, q), v)
    return stack([0.5 * dot(V, P) for V, P in zip(twists, momenta, strict=True)])


@checked
def link_potential_energies(robot: Robot, q: ConfigurationVector) -> Array:
    """Potential energy P_i = −m_i g · p_i of each link, p_i its centre of mass [LP, §9.1; PBP95, (58), E001-8].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., n) array
        J, in the order of ``robot.links``. Their sum and the energy of springs make `torsor.potential_energy`.
    """
    gravity, energies = robot.parameters.gravity, list[Array]()
    for T, G in zip(poses_in_base(robot, q), robot.parameters.inertias, strict=True):
        moment = G[..., 0:1] * se3.translation(T) + matvec(se3.rotation(T), G[..., 1:4])  # m_i p_i
        energies.append(-dot(gravity, moment))
    return stack(energies)


@checked
def link_christoffel_symbols(robot: Robot, q: ConfigurationVector) -> Array:
    """Christoffel symbols γ^p_ijk of each link p, of which Γ_ijk is the sum [BSP93, Proposition, E000-9].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., n, nv, nv, nv) array
        In kg·m², kg·m or kg; links in the order of ``robot.links``, then i, j, k, the lowered index last. γ^p_ijk is zero unless
        joints i, j and k carry link p. Armature has Christoffel symbols only at joints of several freedoms; those are not here.
    """
    return permute(stack(brackets_of_links(robot, q)), (3, 0, 1, 2))
