"""Inverse dynamics, linear in its parameters: of the links τ = Y(q, v, a) π, of the joints, and along a reference velocity."""

from __future__ import annotations

from torsor.arrays import concat, constant, cross, identity, matmul, zeros
from torsor.arrays.typing import (
    ConfigurationVector,
    InertiaRow,
    JointRegressor,
    JointScrews,
    JointVector,
    Regressor,
    Twist,
)
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import so3
from torsor.mechanics.dynamics.friction import coulomb_direction
from torsor.mechanics.dynamics.springs import spring_positions
from torsor.mechanics.recursions.joint_motion import joint_poses, joint_twist
from torsor.mechanics.recursions.newton_euler import BaseMotion, link_motion
from torsor.mechanics.recursions.supporting_chain import link_jacobians
from torsor.model import Robot


def torque_regressor(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    a: JointVector,
    *,
    base_motion: BaseMotion | None = None,
) -> Regressor:
    """Y(q, v, a) with Y π = M a + C v + g, π the `inertial_parameters`: ten columns per moving link [AAH86].

    A particle at x of link l accelerates by L + Ξ x, L = v̇ + ω × v and Ξ = [ω̇] + [ω]², where (ω, v) and (ω̇, v̇) are the
    twist and the acceleration of the link [PBP95, (24), (25)], less gravity. A coordinate moves it by the row (ω_J, v_J) of
    the link's Jacobian, and the force of that coordinate is Σ m (v_J + ω_J × x)·(L + Ξ x) over the particles.
    Armature, friction and springs are not links': their columns are `joint_regressor`.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    a : (..., nv) array
        Acceleration, rad/s² or m/s².
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    (..., nv, 10 n) array
        N·m or N per kg, kg·m and kg·m²; the columns are named by `inertial_parameter_names`.
    """
    T_pi = joint_poses(robot, q)
    V, A = link_motion(robot, T_pi, v, a, gravity=True, base_motion=base_motion)
    return concat([work_rows(*link) for link in zip(link_jacobians(robot, T_pi), V, V, A, strict=True)])


def work_rows(J: JointScrews, V: Twist, V_r: Twist, A: Twist) -> InertiaRow:
    """Rows (..., nv, 10) of one link: the work of the field L + Ξ x on each of the twists J (..., nv, 6).

    V_r is V itself, but for the reference velocities of `reference_regressor`.
    """
    w, w_r = V[..., :3], V_r[..., :3]
    L = A[..., 3:] + cross(w_r, V[..., 3:])
    Xi = so3.hat(A[..., :3]) + matmul(so3.hat(w_r), so3.hat(w))
    return lie.work_row(J, L[..., None, :], Xi[..., None, :, :])


def reference_regressor(
    robot: Robot, q: ConfigurationVector, v: JointVector, v_ref: JointVector, a_ref: JointVector
) -> Regressor:
    """Y(q, v, v_ref, a_ref) with Y π = M a_ref + C v_ref + g, C the `coriolis_matrix`, Ṁ − 2C skew [SL87; EW21].

    As `torque_regressor`, which it is for v_ref = v and a_ref = a, but with the twist V_r that the reference velocity gives
    each link and the acceleration A_r = J a_ref + J̇ v_ref, less gravity::

        A_r,i = Ad(T_ip) A_r,p + S_i a_ref,i + [V_i, S_i v_ref,i]
        L = v̇_r + ω_r × v        Ξ = [ω̇_r] + [ω_r] [ω]

    That field's work is J (G A_r + B V_r) with the body-level B = ((tr Q) 1 − Q, 0; −[p], 0) of `coriolis_matrix`.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    v_ref : (..., nv) array
        Reference velocity, rad/s or m/s.
    a_ref : (..., nv) array
        Reference acceleration, rad/s² or m/s².

    Returns
    -------
    (..., nv, 10 n) array
        N·m or N per kg, kg·m and kg·m²; the columns are named by `inertial_parameter_names`.
    """
    T_pi = joint_poses(robot, q)
    V: list[Twist] = link_motion(robot, T_pi, v, None, gravity=False, base_motion=None)[0]
    V_r: list[Twist] = link_motion(robot, T_pi, v_ref, None, gravity=False, base_motion=None)[0]
    lift = concat([zeros(3), -robot.parameters.gravity])
    A_r: list[Twist] = []
    for i, p in enumerate(robot.structure.parents):
        carried = lie.transform_twist_inverse(T_pi[i], lift if p < 0 else A_r[p])
        A_r.append(carried + joint_twist(robot, i, a_ref) + lie.bracket(V[i], joint_twist(robot, i, v_ref)))
    return concat([work_rows(*link) for link in zip(link_jacobians(robot, T_pi), V, V_r, A_r, strict=True)])


def joint_regressor(robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector) -> JointRegressor:
    """(diag a, diag v, diag sign v, diag q, −1): columns of armature, friction and springs [Sil81, §3.2; AAH86].

    Beside `torque_regressor`, times (π, armature, viscous friction, Coulomb friction, stiffness, stiffness · rest), it makes up
    `inverse_dynamics`. With a Coulomb width w > 0 (`Robot.with_coulomb_width`) sign(v) becomes tanh(v/w). A spring's force
    k q − k rest is linear in k and k rest; for joints with several numbers, which have no springs, both columns are zero.

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
    (..., nv, 5 nv) array
        The columns are named by `joint_parameter_names`.
    """
    one = concat([constant([-1.0 * kind.has_screw] * c.nv) for c, kind in robot.structure.blocks])
    diagonals = (a, v, coulomb_direction(robot, v), spring_positions(robot, q), one)
    return concat([identity(robot.nv) * x[..., None, :] for x in diagonals])
