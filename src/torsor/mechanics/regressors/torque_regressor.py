"""Inverse dynamics, linear in the inertial parameters: τ = Y(q, v, a) π."""

from __future__ import annotations

from torsor.arrays import concat, cross, matmul
from torsor.arrays.typing import ConfigurationVector, InertiaRow, JointScrews, JointVector, Regressor, Twist
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import so3
from torsor.mechanics.recursions.joint_motion import joint_poses
from torsor.mechanics.recursions.link_jacobians import link_jacobians
from torsor.mechanics.recursions.newton_euler import BaseMotion, link_motion
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
    Armature and friction are not links': their columns are `joint_regressor`.

    ``q`` (..., nq), rad or m; ``v``, ``a`` (..., nv), rad, m, s; ``base_motion`` as in inverse dynamics. Returns
    (..., nv, 10 n), N·m or N per kg, kg·m and kg·m²; the columns are named by `inertial_parameter_names`.
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
