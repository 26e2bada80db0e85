"""The joints that carry a frame, with their screws where they are now: what all Jacobians are made of.

In the three ways of `jacobians`, each as rows (..., k, 6) per joint, in order from the base outwards.
"""

from __future__ import annotations

from collections.abc import Sequence

from torsor.arrays import identity, matmul, matvec, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector, Jacobian, JointScrews, JointVector, Pose, Twist
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.mechanics.kinematics.poses import frame_pose, path_to, pose_on_link
from torsor.mechanics.recursions.joint_motion import gather_columns, joint_pose, joint_screws
from torsor.mechanics.recursions.newton_euler import BaseMotion
from torsor.model import Robot


def space_screws(robot: Robot, q: ConfigurationVector, frame: str) -> dict[int, Twist]:
    """Ad(T_0i) S_i: in base axes about the base origin."""
    poses, _ = _poses(robot, q, frame)
    return {i: lie.transform_twist(rows(T_0i), joint_screws(robot, i)) for i, T_0i in poses.items()}


def body_screws(robot: Robot, q: ConfigurationVector, frame: str) -> dict[int, Twist]:
    """Ad(T_if)⁻¹ S_i: in the frame's axes about its origin. From the frame inwards, for the base does not enter."""
    T_if = pose_on_link(robot, frame)
    screws: list[tuple[int, Twist]] = []
    for i in reversed(path_to(robot, frame)):
        screws.append((i, lie.transform_twist_inverse(rows(T_if), joint_screws(robot, i))))
        T_if = matmul(joint_pose(robot, i, q), T_if)
    return dict(reversed(screws))


def mixed_screws(robot: Robot, q: ConfigurationVector, frame: str) -> dict[int, Twist]:
    """Ad(R_0i, p_i − p) S_i: in base axes about the frame's origin p."""
    poses, T_0f = _poses(robot, q, frame)
    p = se3.translation(T_0f)
    seen = {i: se3.pose(se3.rotation(T), se3.translation(T) - p) for i, T in poses.items()}
    return {i: lie.transform_twist(rows(T), joint_screws(robot, i)) for i, T in seen.items()}


def in_body_axes(robot: Robot, q: ConfigurationVector, frame: str, base_motion: BaseMotion | None) -> BaseMotion:
    """The motion of the base, zero if there is none, as `body_screws` are written."""
    if base_motion is None:
        return zeros(6), zeros(6)
    V_0, A_0 = (lie.transform_twist_inverse(frame_pose(robot, q, frame), x) for x in base_motion)
    return V_0, A_0


def in_mixed_axes(robot: Robot, q: ConfigurationVector, frame: str, base_motion: BaseMotion | None) -> BaseMotion:
    """The motion of the base, zero if there is none, as `mixed_screws` are written."""
    if base_motion is None:
        return zeros(6), zeros(6)
    from_frame = se3.pose(identity(3), -se3.translation(frame_pose(robot, q, frame)))
    V_0, A_0 = (lie.transform_twist(from_frame, x) for x in base_motion)
    return V_0, A_0


def link_twists(robot: Robot, screws: dict[int, Twist], v: JointVector, V_0: Twist | None = None) -> dict[int, Twist]:
    """Twist V_i = V_p + J_i v_i of every link of a chain, written as its screws are; −1 is the base, with V_0 or zero."""
    V: dict[int, Twist] = {-1: zeros(6) if V_0 is None else V_0}
    for i, J in screws.items():
        V[i] = V[robot.structure.parents[i]] + matvec(transpose(J), v[..., robot.structure.coordinate_of(i).v])
    return V


def jacobian_of(robot: Robot, parts: dict[int, Array]) -> Jacobian:
    """Per-joint rows (..., k, 6) as the columns of a Jacobian (..., 6, nv)."""
    return gather_columns(robot, {i: transpose(part) for i, part in parts.items()}, 6)


def rows(T: Pose) -> Pose:
    """A pose with an axis for the rows of a joint's screws."""
    return T[..., None, :, :]


def _poses(robot: Robot, q: ConfigurationVector, frame: str) -> tuple[dict[int, Pose], Pose]:
    """T_0i of the links between the base and a frame, and T_0f."""
    T, poses = identity(4), {}
    for i in path_to(robot, frame):
        poses[i] = T = matmul(T, joint_pose(robot, i, q))
    return poses, matmul(T, pose_on_link(robot, frame))


def link_jacobians(robot: Robot, T_pi: Sequence[Pose]) -> list[JointScrews]:
    """J_i (..., nv, 6), rows: the twist of link i per unit of each velocity, J_i = Ad(T_ip) J_p + S_i [PBP95, (24)]."""
    J: list[JointScrews] = []
    for i, p in enumerate(robot.structure.parents):
        own = transpose(gather_columns(robot, {i: transpose(joint_screws(robot, i))}, 6))
        J.append(own if p < 0 else lie.transform_twist_inverse(rows(T_pi[i]), J[p]) + own)
    return J
