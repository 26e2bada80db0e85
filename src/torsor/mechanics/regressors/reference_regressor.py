"""The regressor of adaptive control: forces along a reference velocity, linear in the inertial parameters."""

from __future__ import annotations

from torsor.arrays import concat, zeros
from torsor.arrays.typing import ConfigurationVector, JointVector, Regressor, Twist
from torsor.lie import unchecked as lie
from torsor.mechanics.recursions.joint_motion import joint_poses, joint_twist
from torsor.mechanics.recursions.link_jacobians import link_jacobians
from torsor.mechanics.recursions.newton_euler import link_motion
from torsor.mechanics.regressors.torque_regressor import work_rows
from torsor.model import Robot


def reference_regressor(
    robot: Robot, q: ConfigurationVector, v: JointVector, v_ref: JointVector, a_ref: JointVector
) -> Regressor:
    """Y(q, v, v_ref, a_ref) with Y π = M a_ref + C v_ref + g, C the `coriolis_matrix`, Ṁ − 2C skew [SL87; EW21].

    As `torque_regressor`, which it is for v_ref = v and a_ref = a, but with the twist V_r that the reference velocity gives
    each link and the acceleration A_r = J a_ref + J̇ v_ref, less gravity::

        A_r,i = Ad(T_ip) A_r,p + S_i a_ref,i + [V_i, S_i v_ref,i]
        L = v̇_r + ω_r × v        Ξ = [ω̇_r] + [ω_r] [ω]

    That field's work is J (G A_r + B V_r) with the body-level B = ((tr Q) 1 − Q, 0; −[p], 0) of `coriolis_matrix`.

    ``q`` (..., nq), rad or m; ``v``, ``v_ref``, ``a_ref`` (..., nv), rad, m, s. Returns (..., nv, 10 n), N·m or N per kg,
    kg·m and kg·m²; the columns are named by `inertial_parameter_names`.
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
