"""Joint forces that external wrenches on named frames amount to: Σ Jᵀ F, by carrying the wrenches towards the base, in O(n).

Two ways to write a wrench, as for twists. body: in the axes of its frame, about its origin (a thruster, a force sensor's
reading, `wrenches` of inverse dynamics). mixed: in base axes, about the frame's origin (a weight, a rope's pull).
"""

from __future__ import annotations

from torsor.arrays import concat, matvec, transpose, zeros
from torsor.arrays.typing import ConfigurationVector, JointVector, Wrench
from torsor.lie import unchecked as lie
from torsor.lie.unchecked.se3 import rotation
from torsor.mechanics.kinematics.poses import path_to, pose_on_link
from torsor.mechanics.recursions.joint_motion import gather_vector, joint_pose, joint_poses, project_on_joint
from torsor.mechanics.recursions.newton_euler import Wrenches, wrenches_on_links
from torsor.model import Robot


def body_wrench_forces(robot: Robot, q: ConfigurationVector, wrenches: Wrenches) -> JointVector:
    """Σ J_bᵀ F of wrenches in the axes of their frames: what they do, as joint forces [PBP95, (26), (27); LP, (9.42)].

    To hold the robot still against them takes the opposite.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    wrenches : mapping
        Frame name → (..., 6) wrench of the environment on the robot, N·m and N, in the axes of that frame.

    Returns
    -------
    (..., nv) array
        N·m or N.
    """
    T_pi, F = joint_poses(robot, q), wrenches_on_links(robot, wrenches)
    forces = [zeros(robot.structure.coordinate_of(i).nv) for i in range(robot.n)]
    for i in range(robot.n - 1, -1, -1):
        if i not in F:
            continue
        forces[i] = project_on_joint(robot, i, F[i])
        if (parent := robot.structure.parents[i]) >= 0:
            carried = lie.transform_wrench_inverse(T_pi[i], F[i])
            F[parent] = F[parent] + carried if parent in F else carried
    return gather_vector(robot, forces)


def mixed_wrench_forces(robot: Robot, q: ConfigurationVector, wrenches: Wrenches) -> JointVector:
    """Σ J_mᵀ F of wrenches in base axes about the origins of their frames, as joint forces [PBP95, (26), (27); Sil81, (3.15)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    wrenches : mapping
        Frame name → (..., 6) wrench on the robot, N·m and N, in base axes about the origin of that frame.

    Returns
    -------
    (..., nv) array
        N·m or N.
    """
    turned = {name: _in_frame(robot, q, name, F) for name, F in wrenches.items()}
    return body_wrench_forces(robot, q, turned)


def _in_frame(robot: Robot, q: ConfigurationVector, frame: str, F: Wrench) -> Wrench:
    """A wrench in base axes about the frame's origin, in the frame's axes: turned joint by joint."""
    for T in [*(joint_pose(robot, i, q) for i in path_to(robot, frame)), pose_on_link(robot, frame)]:
        R = transpose(rotation(T))
        F = concat([matvec(R, F[..., :3]), matvec(R, F[..., 3:])])
    return F
