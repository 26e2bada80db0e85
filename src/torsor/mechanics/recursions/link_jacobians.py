"""How every coordinate moves every link: the Jacobians of all links, each in its own link's frame."""

from __future__ import annotations

from collections.abc import Sequence

from torsor.arrays import transpose
from torsor.arrays.typing import JointScrews, Pose
from torsor.lie import unchecked as lie
from torsor.mechanics.recursions.joint_motion import gather_columns, joint_screws
from torsor.mechanics.recursions.supporting_chain import rows
from torsor.model import Robot


def link_jacobians(robot: Robot, T_pi: Sequence[Pose]) -> list[JointScrews]:
    """J_i (..., nv, 6), rows: the twist of link i per unit of each velocity, J_i = Ad(T_ip) J_p + S_i [PBP95, (24)]."""
    J: list[JointScrews] = []
    for i, p in enumerate(robot.structure.parents):
        own = transpose(gather_columns(robot, {i: transpose(joint_screws(robot, i))}, 6))
        J.append(own if p < 0 else lie.transform_twist_inverse(rows(T_pi[i]), J[p]) + own)
    return J
