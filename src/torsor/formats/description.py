"""A robot as a file describes it, before anything is believed: links and joints with their lines, in SI units.

Every reader gives one, every check reads it (and a repair changes it), and a robot is built from it last.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array, InertiaRow, Pose, Twist, Vector3
from torsor.model import Mimic, Visual

INFINITE = float("inf")
_ZERO, _NOT_TURNED = np.zeros(6), np.eye(3)
LARGEST = 1e50  # of what is multiplied with other numbers: products of a few stay finite
MOTION = {  # of limits, armature, friction and springs: the model's words, and those of a `JointPart`
    "lower": "lower",
    "upper": "upper",
    "velocity_limit": "velocity",
    "effort_limit": "effort",
    "armature": "armature",
    "viscous_friction": "damping",
    "coulomb_friction": "friction",
    "stiffness": "stiffness",
    "rest": "rest",
}


@dataclass
class Shape:
    """A primitive that a link looks like or collides with: "box" (x, y, z), "cylinder" and "capsule" (radius, length),
    "sphere" (radius), m; or a "mesh", of which nothing is known.
    """

    kind: str
    size: tuple[float, ...]
    pose: Pose
    line: int | None = None


@dataclass
class LinkPart:
    """A link: its inertia about the centre of mass, in the link's axes; ``mass`` None if the file gives none.

    ``moments`` are the numbers as written (ixx, ixy, ixz, iyy, iyz, izz) in axes turned by ``turn`` (3, 3); kg·m².
    ``written``: their words, in files that have them. An ``unchecked`` inertia is one that no body has, and was accepted.
    A ``sound`` one has been checked, and is that of a body beyond doubt.
    A ``virtual`` link stands between two joints of one body and has no mass for that reason.
    """

    name: str
    line: int | None = None
    mass: float | None = None
    com: Vector3 = field(default_factory=_ZERO[:3].copy)
    moments: Array = field(default_factory=_ZERO.copy)
    turn: Array = field(default_factory=_NOT_TURNED.copy)
    written: tuple[str, ...] = ()
    inertial_line: int | None = None
    unchecked: bool = False
    sound: bool = False
    shapes: list[Shape] = field(default_factory=list)
    virtual: bool = False

    @property
    def where(self) -> str:
        """How messages call it."""
        return f"link {self.name!r}"

    @property
    def at(self) -> int | None:
        """The line of its inertia, or its own."""
        return self.line if self.inertial_line is None else self.inertial_line

    @property
    def matrix(self) -> Array:
        """Rotational inertia (3, 3), in the axes the numbers are written in; kg·m²."""
        xx, xy, xz, yy, yz, zz = self.moments.tolist()
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    def set_matrix(self, matrix: Array) -> None:
        """Write a repaired inertia, in the same axes."""
        self.moments = matrix[np.triu_indices(3)]


@dataclass
class JointPart:
    """A joint: kinds are those of torsor, with "continuous" and "fixed"; a limit is None where the file gives none."""

    name: str
    kind: str
    parent: str
    child: str
    line: int | None = None
    pose: Pose = field(default_factory=lambda: np.eye(4))
    axis: Vector3 | None = None
    pitch: float = 0.0
    screw: Array | None = None
    lower: Array | float | None = None
    upper: Array | float | None = None
    velocity: Array | float = INFINITE
    effort: Array | float = INFINITE
    armature: Array | float = 0.0
    damping: Array | float = 0.0
    friction: Array | float = 0.0
    stiffness: Array | float = 0.0
    rest: Array | float = 0.0
    mimic: Mimic | None = None
    limit_line: int | None = None
    reduction: float | None = None  # motor turns per joint turn

    @property
    def where(self) -> str:
        """How messages call it."""
        return f"joint {self.name!r}"


@dataclass
class FramePart:
    """A named frame on a link, which carries nothing."""

    name: str
    link: str
    pose: Pose
    line: int | None = None


class ExactJoint(NamedTuple):
    """Home pose (4, 4), screw (6,), and q = ratio · (leader's q) + offset, as a file gives them."""

    pose: Pose
    screw: Twist | None
    ratio: float
    offset: float


class ExactBody(NamedTuple):
    """The ten numbers of an inertia as a file gives them, and the `LinkPart.moments` made of them."""

    row: InertiaRow
    moments: Array


@dataclass
class Exact:
    """Numbers as the model keeps them, in files that have those: by name of the joint, link and frame.

    Building a robot rounds (screws are made units, inertias moved to the centre of mass and back); where the result is
    the same number up to rounding, the file's is kept. ``frame_order``: the order of `robot.frames`, if it matters.
    """

    joints: dict[str, ExactJoint] = field(default_factory=dict)
    bodies: dict[str, ExactBody] = field(default_factory=dict)
    frame_order: list[str] | None = None


@dataclass
class Description:
    """All that a file says of a robot. ``base``: the root link, once the tree has been checked.

    ``rigid``: the poses of its joints were made of angles, and are rigid motions beyond doubt.
    """

    name: str
    links: list[LinkPart] = field(default_factory=list)
    joints: list[JointPart] = field(default_factory=list)
    frames: list[FramePart] = field(default_factory=list)
    visuals: list[Visual] = field(default_factory=list)
    gravity: Vector3 | None = None
    base: str = ""
    coulomb_width: float = 0.0
    order: list[str] | None = None
    requires_limits: bool = False  # the format wants limits on revolute and prismatic joints
    exact: Exact | None = None
    rigid: bool = False

    def link(self, name: str) -> LinkPart | None:
        """A link by name."""
        return next((link for link in self.links if link.name == name), None)


def unused(name: str, taken: set[str]) -> str:
    """A name like this one that is not taken; taken from now on."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
