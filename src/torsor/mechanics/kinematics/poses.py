"""Where the links and frames of a robot are."""

from __future__ import annotations

from torsor.arrays import identity, matmul, stack_matrices
from torsor.arrays.typing import ConfigurationVector, FramePoses, LinkPoses, Pose
from torsor.mechanics.recursions.joint_motion import joint_pose, joint_poses
from torsor.model import Robot


def link_poses(robot: Robot, q: ConfigurationVector) -> LinkPoses:
    """Poses T_0i of all moving links in the base frame: T_0i = T_0p M_i e^{S_i q_i} [PBP95, (23), (67); LP, (9.37)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., n, 4, 4) array
        One pose per joint, base excluded, positions in m.
    """
    return stack_matrices(poses_in_base(robot, q))


def frame_pose(robot: Robot, q: ConfigurationVector, frame: str) -> Pose:
    """Pose T_0f of a named frame (a link, a tool, "tip", the base) in the base frame [PBP95, (12)–(14), (23)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    frame : str
        Name of a frame: a link, a tool, the base.

    Returns
    -------
    (..., 4, 4) array
        Position in m.
    """
    T = identity(4)
    for i in path_to(robot, frame):
        T = matmul(T, joint_pose(robot, i, q))
    return matmul(T, pose_on_link(robot, frame))


def frame_poses(robot: Robot, q: ConfigurationVector) -> FramePoses:
    """Poses T_0f of all frames, in the order of ``robot.frames`` [PBP95, (12)–(14), (23)].

    These are the base, the links, and the named frames on them. What they have in common is computed once.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., n_frames, 4, 4) array
        One pose per frame, positions in m; that of "tool" is ``poses[..., robot.frames.index("tool"), :, :]``.
    """
    links = poses_in_base(robot, q)
    on_links = [(frame.link, pose_on_link(robot, frame.name)) for frame in robot.structure.frames]
    return stack_matrices([pose if link < 0 else matmul(links[link], pose) for link, pose in on_links])


def path_to(robot: Robot, frame: str) -> list[int]:
    """The joints that carry a frame, from the base outwards."""
    return robot.structure.path_from_base(robot.structure.frame(frame).link)


def pose_on_link(robot: Robot, frame: str) -> Pose:
    """The constant pose of a frame in that of the link that it is fixed to."""
    row = robot.structure.frame(frame).pose_row
    return identity(4) if row is None else robot.parameters.frame_poses[row]


def poses_in_base(robot: Robot, q: ConfigurationVector) -> list[Pose]:
    """T_0i of every link, as a list."""
    T: list[Pose] = []
    for p, T_pi in zip(robot.structure.parents, joint_poses(robot, q), strict=True):
        T.append(T_pi if p < 0 else matmul(T[p], T_pi))
    return T
