"""The connection of the inertia metric at work: covariant derivatives and geodesics, without forming Christoffel symbols.

The Coriolis matrix is the connection along a velocity, C(q, u)_kj = Σ_i Γ_ijk u_i, for every joint kind. Armature alone has
to be added where velocities are body twists: there it is an inertia that turns with the joint, which Coriolis forces, by
convention, leave out.
"""

from __future__ import annotations

from torsor.arrays import factor, matvec, solve, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointVector
from torsor.geometry.freedoms import structure_constants
from torsor.mechanics.dynamics.articulated_body import articulated_body_acceleration
from torsor.mechanics.dynamics.coriolis_matrix import coriolis_matrix
from torsor.mechanics.dynamics.inverse_dynamics import coriolis_forces
from torsor.mechanics.dynamics.mass_matrix import mass_matrix
from torsor.model import Robot
from torsor.model.link_inertias import may_be_singular


def covariant_derivative(
    robot: Robot, q: ConfigurationVector, u: JointVector, w: JointVector, w_rate: JointVector
) -> JointVector:
    """∇_u w = ẇ + M⁻¹ C(q, u) w, components ẇ_k + Σ Γ^k_ij u_i w_j: how the field w changes along u [Alt04, (6), (7)].

    With u = w = v and w_rate = a it is the covariant acceleration, what is left for M⁻¹ τ.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    u : (..., nv) array
        Direction, in any unit.
    w : (..., nv) array
        Components of the field, in any unit.
    w_rate : (..., nv) array
        Derivative ẇ of the components of w along u.

    Returns
    -------
    (..., nv) array
        NaN where M is singular.
    """
    force = matvec(coriolis_matrix(robot, q, u), w)
    s = structure_constants(robot.structure)
    if s is not None:  # ½ (⟨[u, w], e_k⟩ − ⟨[u, e_k], w⟩ − ⟨[w, e_k], u⟩) of armature
        A = robot.parameters.armature
        force = force + 0.5 * (A * _bracket(s, u, w) - _pairing(s, u, A * w) - _pairing(s, w, A * u))
    return w_rate + solve(factor(mass_matrix(robot, q), guarded=may_be_singular(robot)), force)


def geodesic_acceleration(robot: Robot, q: ConfigurationVector, v: JointVector) -> JointVector:
    """v̇_k = −Σ Γ^k_ij v_i v_j, the acceleration under no force at all: ∇_v v = 0 [Alt04, (6), (7); BSP93, E000-11].

    Neither of drives, gravity, friction nor springs.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    (..., nv) array
        rad/s² or m/s²; NaN where M is singular.
    """
    force = coriolis_forces(robot, q, v)
    s = structure_constants(robot.structure)
    if s is not None:
        force = force - _pairing(s, v, robot.parameters.armature * v)
    return solve(factor(mass_matrix(robot, q), guarded=may_be_singular(robot)), -force)


def articulated_geodesic_acceleration(robot: Robot, q: ConfigurationVector, v: JointVector) -> JointVector:
    """The same by the articulated-body recursion, O(n): forward dynamics with neither force, gravity, friction nor springs.

    For robots whose mass matrix is positive definite everywhere, with joints of one degree of freedom. Shapes and units as above.
    """
    return articulated_body_acceleration(left_alone(robot), q, v, 0.0 * v)


def left_alone(robot: Robot) -> Robot:
    """The robot without gravity, friction and springs."""
    still = {"gravity": zeros(3)} | dict.fromkeys(
        ("viscous_friction", "coulomb_friction", "stiffness"), zeros(robot.nv)
    )
    return Robot(robot.structure, robot.parameters._replace(**still))


def _bracket(s: Array, u: JointVector, w: JointVector) -> JointVector:
    """[u, w]_r = Σ s_ij^r u_i w_j."""
    return matvec(transpose(matvec(s.swapaxes(-1, -2), w[..., None, :])), u)


def _pairing(s: Array, u: JointVector, p: JointVector) -> JointVector:
    """⟨[u, e_k], p⟩ = Σ s_ik^r u_i p_r for all k."""
    return matvec(transpose(matvec(s, p[..., None, :])), u)
