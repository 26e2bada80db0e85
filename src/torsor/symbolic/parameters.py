"""The numbers of a robot that a textbook would write as letters, found and named; and the robot made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.lie.unchecked import se3
from torsor.model import Inertia, Parameters, Robot, pose_from
from torsor.model.inertia import refuse_unphysical
from torsor.model.joint_kinds import KINDS

ROUNDING = 1e-12  # of 1 m, of a rotation, or of a link's largest moment: what should have been zero
INERTIAL = ("m", "I", "J")  # stems of the parameters that M is linear in
_AXES = "xyz"


class Letter(NamedTuple):
    """A number with a name to be: ``stem``_``number``, and ``suffix`` if others share both. Value in SI units."""

    stem: str
    number: str
    suffix: str
    value: float
    unit: str

    def name(self, *, alone: bool) -> str:
        """The symbol's name; the suffix is left out if no other parameter of this stem and number is in sight."""
        tail = self.number + ("" if alone else self.suffix)
        return f"{self.stem}_{tail}" if tail else self.stem


class Entry(NamedTuple):
    """A number of the robot: ± a letter."""

    letter: int
    sign: float


class Place(NamedTuple):
    """A frame on a link (−1: the base): its rotation (3, 3), and its offset as letters."""

    link: int
    rotation: Array
    offset: list[Entry | None]


class Anatomy:
    """A robot as fixed numbers (axes, rotations) and letters (lengths, masses, inertias, gravity, pitch, armature).

    Link frames are first moved onto their joints' axes, which changes no equation of motion: lengths are then distances
    between axes, as in textbooks, wherever the model has its frames. A coordinate of a centre of mass that equals one of
    the next joint's axis, or of a named frame such as the tip, on the same link is the same length.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.letters: list[Letter] = []
        s, p = robot.structure, robot.parameters
        self.shifts = shifts = [_axis_point(p.screws[i], s.kinds[i]) for i in range(robot.n)]
        poses = []
        for i in range(robot.n):
            back = np.eye(4) if s.parents[i] < 0 else pose_from(-shifts[s.parents[i]])
            poses.append(_tidy(back @ p.poses[i] @ pose_from(shifts[i])))
        self.poses = np.array(poses)
        self.directions = np.array([_tidy(s.kind_of(i).axis_of(p.screws[i])) for i in range(robot.n)])
        self.offsets = self._offsets()
        self.masses, self.coms, self.moments = self._bodies(shifts)
        self.pitches = [
            self._letter("h", i, "", float(S[:3] @ S[3:]), "m/rad") if s.kind_of(i).has_pitch else None
            for i, S in enumerate(p.screws)
        ]
        self.gravity = [self._letter("g", None, _AXES[k], x, "m/s²") for k, x in enumerate(_tidy(p.gravity))]
        self.armature = [
            self._letter("J", k, "", x, "kg" if slides else "kg·m²")
            for k, (x, slides) in enumerate(zip(p.armature, sliding(robot), strict=True))
        ]

    def values(self) -> list[float]:
        """The robot's numbers for the letters, in their order."""
        return [letter.value for letter in self.letters]

    def robot_of(self, x: Array | Sequence[float]) -> Robot:
        """The robot whose letters have the values ``x``, numbers or traced ones."""
        s = self.robot.structure
        poses, screws, rows = [], [], []
        for i in range(s.n):
            poses.append(se3.pose(self.poses[i][:3, :3], vector_of(self.offsets[i], x)))
            linear = self.directions[i] * 1.0
            screws.append(s.kind_of(i).screw_along(linear, number_of(self.pitches[i], x)))
            moments = [vector_of(row, x) for row in self.moments[i]]
            rows.append(Inertia(number_of(self.masses[i], x), vector_of(self.coms[i], x), np.stack(moments)).row)
        changes: dict[str, Any] = {
            "poses": np.stack(poses),
            "screws": np.stack(screws),
            "inertias": np.stack(rows),
            "gravity": vector_of(self.gravity, x),
            "armature": np.stack([number_of(entry, x) for entry in self.armature]),
        }
        return Robot(s, Parameters(**{**self.robot.parameters._asdict(), **changes}))

    def place(self, frame: str) -> Place:
        """Where a frame is on its link, whose own frame is on the joint's axis: new letters only for lengths that have none."""
        s, p = self.robot.structure, self.robot.parameters
        found = s.frame(frame)
        pose = np.eye(4) if found.pose_row is None else p.frame_poses[found.pose_row]
        pose = _tidy(pose if found.link < 0 else pose_from(-self.shifts[found.link]) @ pose)
        offset: list[Entry | None] = []
        for k, value in enumerate(pose[:3, 3]):
            taken = {letter.number for letter in self.letters if (letter.stem, letter.suffix) == ("L", _AXES[k])}
            sibling = ""
            while f"{found.link + 1}{sibling}" in taken:
                sibling += "b"
            offset.append(self._length(found.link, k, value, "L", sibling))
        return Place(found.link, pose[:3, :3], offset)

    def _offsets(self) -> list[list[Entry | None]]:
        """Where each joint's axis is on its parent link."""
        parents = self.robot.structure.parents
        self.lengths: dict[tuple[int, int, float], int] = {}  # (link, axis, value rounded) → letter
        offsets = []
        for i, parent in enumerate(parents):
            sibling = "".join("b" for j in range(i) if parents[j] == parent)
            offsets.append([self._length(parent, k, x, "L", sibling) for k, x in enumerate(self.poses[i][:3, 3])])
        return offsets

    def _length(self, link: int, axis: int, value: float, stem: str, sibling: str = "") -> Entry | None:
        if abs(value) <= ROUNDING:
            return None
        key = link, axis, float(f"{abs(value):.11g}")
        if key not in self.lengths:
            self.lengths[key] = len(self.letters)
            self.letters.append(Letter(stem, f"{link + 1}{sibling}", _AXES[axis], abs(value), "m"))
        return Entry(self.lengths[key], float(np.sign(value)))

    def _bodies(self, shifts: list[Array]) -> tuple[list[Any], list[Any], list[Any]]:
        """Mass, centre of mass and rotational inertia of every link, as letters."""
        s, p = self.robot.structure, self.robot.parameters
        masses, coms, moments = [], [], []
        refuse_unphysical("equations", self.robot)
        for i in range(s.n):
            body = Inertia.from_row(p.inertias[i])
            masses.append(self._letter("m", i, "", float(body.mass), "kg"))
            com = body.com - shifts[i] if body.mass else np.zeros(3)
            frames = [
                p.frame_poses[f.pose_row][:3, 3] - shifts[i] for f in s.frames if f.link == i and f.pose_row is not None
            ]
            coms.append([self._com(i, k, float(x), frames) for k, x in enumerate(com)])
            scale = ROUNDING * 1e3 * np.abs(p.inertias[i][4:]).max()
            I = np.where(np.abs(body.rotational) > scale, body.rotational, 0.0)
            rows: list[list[Entry | None]] = [[None] * 3 for _ in range(3)]
            for j in range(3):
                for k in range(j, 3):
                    signed = abs(I[j, k]) if j == k else I[j, k]
                    rows[j][k] = rows[k][j] = self._letter("I", i, _AXES[j] + _AXES[k], float(signed), "kg·m²", sign=1)
            moments.append(rows)
        return masses, coms, moments

    def _com(self, link: int, axis: int, value: float, frames: list[Array]) -> Entry | None:
        at_frame = any(abs(value - frame[axis]) <= ROUNDING for frame in frames)
        taken = any(place[:2] == (link, axis) for place in self.lengths)
        return self._length(link, axis, value, "L" if at_frame and not taken else "r")

    def _letter(self, stem: str, link: int | None, suffix: str, value: float, unit: str, sign: int = 0) -> Entry | None:
        """A letter for a number that is not zero: its size, unless the number's own ``sign`` is to stay in it."""
        if value == 0.0:
            return None
        size = value if sign else abs(value)
        self.letters.append(Letter(stem, "" if link is None else str(link + 1), suffix, float(size), unit))
        return Entry(len(self.letters) - 1, 1.0 if sign else float(np.sign(value)))


def names_of(letters: list[Letter], used: set[int]) -> dict[int, str]:
    """A name for each letter that is used, by its number; suffixes only where they are needed."""
    groups: dict[tuple[str, str], set[str]] = {}
    for k in used:
        groups.setdefault((letters[k].stem, letters[k].number), set()).add(letters[k].suffix)
    return {k: letters[k].name(alone=len(groups[letters[k].stem, letters[k].number]) == 1) for k in sorted(used)}


def sliding(robot: Robot) -> list[bool]:
    """Of each coordinate, whether it is a distance."""
    return [kind.q_units == ("m",) for _, kind in robot.structure.blocks]


def force_letters(robot: Robot) -> list[Letter]:
    """Viscous and Coulomb friction of the joints that have any; stiffness and rest of their springs."""
    p, found = robot.parameters, []
    for k, slides in enumerate(sliding(robot)):
        viscous, coulomb = float(p.viscous_friction[k]), float(p.coulomb_friction[k])
        found.append(Letter("b", str(k + 1), "", viscous, "N·s/m" if slides else "N·m·s"))
        found.append(Letter("f", str(k + 1), "", coulomb, "N" if slides else "N·m"))
        stiffness, rest = float(p.stiffness[k]), float(p.rest[k])
        found.append(Letter("k", str(k + 1), "", stiffness, "N/m" if slides else "N·m/rad"))
        found.append(Letter("s", str(k + 1), "", rest if stiffness else 0.0, "m" if slides else "rad"))
    return [letter for letter in found if letter.value]


def unsuitable(robot: Robot) -> list[str]:
    """Joints whose velocities are not the rates of their coordinates."""
    kinds = zip(robot.joints, robot.structure.kinds, strict=True)
    return [f"{name} ({kind})" for name, kind in kinds if not KINDS[kind].has_screw]


def _axis_point(S: Array, kind: str) -> Array:
    """The point of the joint's axis nearest to the origin of the link's frame."""
    return np.cross(S[:3], S[3:]) if KINDS[kind].turns_about_axis else np.zeros(3)


def _tidy(array: Array) -> Array:
    """Numbers that are 0, 1 or −1 up to rounding, exactly so."""
    nearest = np.clip(np.round(array), -1.0, 1.0) + 0.0
    return np.where(np.abs(array - nearest) <= ROUNDING, nearest, array)


def number_of(entry: Entry | None, x: Any) -> Any:
    """A number of the robot for the values ``x`` of the letters."""
    return 0.0 * x[0] if entry is None else entry.sign * x[entry.letter]


def vector_of(entries: Sequence[Entry | None], x: Any) -> Any:
    """Numbers of the robot for the values ``x`` of the letters."""
    return np.stack([number_of(entry, x) for entry in entries])
