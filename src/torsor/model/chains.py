"""Serial chains from what textbooks and data sheets give: screws and homes, products of exponentials, DH tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from torsor.arrays import dot, exact_constants, is_concrete, known_numbers
from torsor.arrays.typing import Array, GivenVector3, Pose, Twist
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.errors import ModelError, ShapeError
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.model._assemble import EARTH, assemble
from torsor.model.inertia import Inertia
from torsor.model.joint_kinds import SCREW_KINDS
from torsor.model.joints import Joint
from torsor.model.poses import check_pose, composed, pose_from
from torsor.model.robot import Robot

_ROUNDING = 1e-12  # of the lengths: a pitch that a revolute joint's screw may owe to the way it was computed


@explained
@exact_constants()
def serial_chain(
    screws: Twist,
    homes: Pose,
    inertias: Sequence[Inertia],
    *,
    tip: Pose | None = None,
    gravity: GivenVector3 = EARTH,
    names: Sequence[str] | None = None,
    name: str = "chain",
    kinds: Sequence[str] | None = None,
) -> Robot:
    """The robot of the textbook's three lists [LP, (9.35)–(9.40), E002-4; BSP93, (4)].

    Parameters
    ----------
    screws : (n, 6) array
        Screw of each joint in the base frame at q = 0, (angular, linear), m; any length and pitch: the joint moves by
        exp(screw · q).
    homes : (n, 4, 4) array
        Link frames at q = 0 in the base frame, m.
    inertias : sequence of Inertia
        One for each link, in its link frame.
    tip : (4, 4) array, optional
        The end frame at q = 0, named "tip"; the last link frame if it is not given.
    gravity : (3,) array, optional
        Acceleration of free fall in base axes, m/s².
    names : sequence of str, optional
        Names of the joints.
    name : str, optional
        Name of the robot.
    kinds : sequence of str, optional
        "revolute", "prismatic" or "helical" (any screw that turns) for each joint. They follow from the screws, but for
        screws that JAX or `torsor.compile` traces, whose numbers are not known.

    Returns
    -------
    Robot
    """
    screws, homes = _lists(screws, homes, inertias)
    n = len(screws)
    names = _joint_names(names, n)
    kinds = _kinds(kinds, screws)
    homes = [check_pose(f"serial_chain: homes[{i}]", home) for i, home in enumerate(homes)]
    previous = [np.eye(4), *homes[:-1]]
    joints = [
        Joint(
            name=names[i],
            kind=kinds[i],
            parent="base" if i == 0 else f"link_{i}",
            link=f"link_{i + 1}",
            pose=composed(se3.inverse(previous[i]), homes[i]),
            screw=_without_rounding(kinds[i], lie.transform_twist_inverse(homes[i], screws[i]), screws[i], homes[i]),
            inertia=inertias[i],
        )
        for i in range(n)
    ]
    end = homes[-1] if tip is None else check_pose("serial_chain: tip", tip)
    frames = {"tip": (f"link_{n}", composed(se3.inverse(homes[-1]), end))}
    return assemble(joints, name=name, gravity=gravity, frames=frames)


class DHRow(NamedTuple):
    """One row of a Denavit–Hartenberg table (m, rad); the joint variable is added to theta, or to d if prismatic."""

    a: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    prismatic: bool = False


@explained
@exact_constants()
def dh_chain(
    table: Sequence[DHRow | Sequence[float]],
    inertias: Sequence[Inertia],
    *,
    convention: str,
    tip: Pose | None = None,
    gravity: GivenVector3 = EARTH,
    names: Sequence[str] | None = None,
    name: str = "chain",
) -> Robot:
    """The robot of a Denavit–Hartenberg table [Sil81, §1.2].

    Parameters
    ----------
    table : sequence of DHRow or of sequences
        Rows (a, alpha, d, theta, prismatic=False), m and rad.
    inertias : sequence of Inertia
        One for each link, in its link frame.
    convention : str
        "standard" (T = R_z(θ) T_z(d) T_x(a) R_x(α), frame at the far end of the link) or "modified"
        (T = R_x(α) T_x(a) R_z(θ) T_z(d), frame at the joint).
    tip : (4, 4) array, optional
        The end frame seen from the last link frame, m.
    gravity : (3,) array, optional
        Acceleration of free fall in base axes, m/s².
    names : sequence of str, optional
        Names of the joints.
    name : str, optional
        Name of the robot.

    Returns
    -------
    Robot
    """
    refuse_unknown_word("convention", convention, ("standard", "modified"))
    rows = [_dh_row(k, row) for k, row in enumerate(table)]
    screws, homes, T = [], [], np.eye(4)
    for row in rows:
        link = pose_from((row.a, 0.0, 0.0), (row.alpha, 0.0, 0.0))
        turn = pose_from((0.0, 0.0, row.d), (0.0, 0.0, row.theta))
        axis_frame = T if convention == "standard" else composed(T, link)  # the joint's axis is this frame's z
        axis = np.array([0, 0, 0, 0, 0, 1.0]) if row.prismatic else np.array([0, 0, 1.0, 0, 0, 0])
        screws.append(lie.transform_twist(axis_frame, axis))
        T = composed(T, turn, link) if convention == "standard" else composed(T, link, turn)
        homes.append(T)
    end = T if tip is None else composed(T, check_pose("dh_chain: tip", tip))
    # Of numbers that are known the screws tell the kinds.
    kinds = None if is_concrete(*screws) else ["prismatic" if row.prismatic else "revolute" for row in rows]
    return serial_chain(screws, homes, inertias, tip=end, gravity=gravity, names=names, name=name, kinds=kinds)


def _dh_row(k: int, row: DHRow | Sequence[float]) -> DHRow:
    if isinstance(row, DHRow):
        return row
    if len(row) > 5:
        raise ModelError(f"dh_chain: row {k} takes (a, alpha, d, theta, prismatic), got {len(row)} values.")
    return DHRow(*row)


def _lists(screws: Array, homes: Array, inertias: Sequence[Inertia]) -> tuple[Array, Array]:
    screws, homes = known_numbers(screws), known_numbers(homes)
    n = len(inertias)
    if tuple(screws.shape) != (n, 6) or tuple(homes.shape) != (n, 4, 4):
        raise ShapeError(
            f"for {n} inertias, `screws` must have shape ({n}, 6) and `homes` ({n}, 4, 4); "
            f"got {screws.shape} and {homes.shape}."
        )
    return screws, homes


def _kinds(kinds: Sequence[str] | None, screws: Array) -> Sequence[str]:
    n = len(screws)
    if kinds is None:
        if not is_concrete(screws):
            example = ", ".join(["'revolute'"] * n)
            raise ModelError(
                f"`screws` are traced, so that their numbers do not tell what kinds of joints they are; say it: "
                f"kinds=[{example}], each 'revolute', 'prismatic' or 'helical'."
            )
        return ["helical"] * n  # decided by the screw itself
    if len(kinds) != n:
        raise ModelError(f"`kinds` must hold {n} of 'revolute', 'prismatic' and 'helical', got {kinds!r:.80}.")
    for kind in kinds:
        refuse_unknown_word("kinds", kind, SCREW_KINDS)
    return kinds


def _without_rounding(kind: str, S: Twist, A: Twist, home: Pose) -> Twist:
    """The screw in its link frame; of a joint said to be revolute, without a pitch that is rounding of A in the base frame."""
    if kind != "revolute" or not is_concrete(S, A, home) or not np.any(S[:3]):
        return S
    pitch = dot(S[:3], S[3:]) / dot(S[:3], S[:3])
    length = max(np.abs(A[3:]).max() / np.abs(A[:3]).max(), np.abs(home[:3, 3]).max())
    return S - np.concatenate([np.zeros(3), pitch * S[:3]]) if abs(pitch) <= _ROUNDING * length else S


def _joint_names(names: Sequence[str] | None, n: int) -> list[str]:
    if names is None:
        return [f"joint_{i + 1}" for i in range(n)]
    if len(names) != n:
        raise ShapeError(f"`names` must hold {n} joint names, got {len(names)}.")
    return list(names)
