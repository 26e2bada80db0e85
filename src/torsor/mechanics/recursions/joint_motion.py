"""How one joint moves its link, for every joint kind; and how joints add up to the coordinates that drive them.

Link i sits at T_pi = M_i e^{S_i q_i} of its parent p [PBP95, (23)]. The screws of a joint are rows (k, 6) of constants
in its link frame for every kind (k = 1 for revolute, prismatic and helical; 3 for planar and spherical; 6 for free),
so that V_i = Ad(T_ip) V_p + S_iᵀ v_i holds for all of them.

Plain numbers are unit screws of their joint's kind, for which the motion has its shortest form. Screws that are inputs of a
program, or being differentiated, may be any, and the motion is e^{S q} of that screw: its derivatives are then right in every
direction, also in those that leave the joint's kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from torsor.arrays import block, by_rows, concat, matmul, matvec, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, Pose, Twist, Wrench
from torsor.model import Robot

Blocks = dict[tuple[int, int], Array]  # of two joints, the entries of a matrix over their coordinates


def joint_pose(robot: Robot, i: int, q: ConfigurationVector) -> Pose:
    """T_pi, the pose of link i in its parent's frame."""
    return matmul(robot.parameters.poses[i], joint_motion(robot, i, q))


def joint_motion(robot: Robot, i: int, q: ConfigurationVector) -> Pose:
    """e^{S_i q_i}, the pose of link i seen from where it is at q_i = 0."""
    s, (_, ratio, offset) = robot.structure, robot.structure.couplings[i]
    part = q[..., s.coordinate_of(i).q]
    if ratio != 1.0 or offset != 0.0:
        part = ratio * part + offset
    return s.kind_of(i).motion(robot.parameters.screws[i], part)


def joint_poses(robot: Robot, q: ConfigurationVector) -> list[Pose]:
    """T_pi of every link."""
    return [joint_pose(robot, i, q) for i in range(robot.n)]


def joint_screws(robot: Robot, i: int) -> Twist:
    """S_i, rows (k, 6) in the link frame, per unit of the coordinates that drive joint i."""
    if (rows := robot.structure.kind_of(i).rows) is not None:
        return rows
    return robot.structure.couplings[i].ratio * robot.parameters.screws[i][None, :]


def joint_twist(robot: Robot, i: int, v: JointVector) -> Twist:
    """S_iᵀ v_i, the twist of link i relative to its parent, in frame i."""
    S = joint_screws(robot, i)
    v_i = v[..., robot.structure.coordinate_of(i).v]
    return S[0] * v_i if S.shape[0] == 1 else matvec(transpose(S), v_i)


def project_on_joint(robot: Robot, i: int, F: Wrench) -> Array:
    """S_i F (..., k), the part of a wrench that does work on joint i."""
    return matvec(joint_screws(robot, i), F)


def by_joints(robot: Robot, function: Callable[[Array], Array], rows: Sequence[Array]) -> list[Array]:
    """``function`` of the rows (..., k, m) of each joint: those of joints on the base alone, all others one by one (`by_rows`).

    Most of what a joint on the base moves with is 0 or 1, for its axes are those of the root.
    """
    made = {i: function(rows[i]) for i, parent in enumerate(robot.structure.parents) if parent < 0}
    if inner := [i for i in range(robot.n) if i not in made]:
        found = by_rows(function, concat([rows[i] for i in inner], axis=-2))
        ends = accumulate(rows[i].shape[-2] for i in inner)
        made |= {i: found[..., end - rows[i].shape[-2] : end, :] for i, end in zip(inner, ends, strict=True)}
    return [made[i] for i in range(robot.n)]


def gather_vector(robot: Robot, parts: Sequence[Array]) -> JointVector:
    """Per-joint values (..., k) as one vector (..., nv); joints that share a coordinate add up."""
    s = robot.structure
    totals: list[Array] = [None] * len(s.coordinates)
    for i, part in enumerate(parts):
        c = s.couplings[i].coordinate
        totals[c] = part if totals[c] is None else totals[c] + part
    return concat(totals)


def gather_columns(robot: Robot, parts: Mapping[int, Array], rows: int) -> Array:
    """Per-joint columns (..., rows, k) as one matrix (..., rows, nv), zero for joints without any."""
    s = robot.structure
    totals: list[Array] = [None] * len(s.coordinates)
    for i, part in parts.items():
        c = s.couplings[i].coordinate
        totals[c] = part if totals[c] is None else totals[c] + part
    return concat(
        [zeros(rows, c.nv) if total is None else total for c, total in zip(s.coordinates, totals, strict=True)]
    )


def gather_matrix(robot: Robot, blocks: Mapping[tuple[int, int], Array]) -> Array:
    """Per-joint blocks (..., k_i, k_j) as one matrix (..., nv, nv), zero where joints do not meet."""
    s = robot.structure
    totals: dict[tuple[int, int], Array] = {}
    for (i, j), part in blocks.items():
        key = s.couplings[i].coordinate, s.couplings[j].coordinate
        totals[key] = totals[key] + part if key in totals else part
    sizes = [c.nv for c in s.coordinates]
    return block(
        [[totals.get((a, b), zeros(rows, columns)) for b, columns in enumerate(sizes)] for a, rows in enumerate(sizes)]
    )
