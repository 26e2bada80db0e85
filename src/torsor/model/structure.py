"""The static half of a robot: names, tree, joint kinds, which numbers of q and v drive which joint. Hashable.

Also q, v and forces as joint name → numbers, and back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from torsor._once import once
from torsor.arrays.foreign import refuse_foreign
from torsor.arrays.typing import Array
from torsor.errors import ShapeError, unknown_name
from torsor.model.joint_kinds import KINDS, JointKind
from torsor.model.joints import check_name


@dataclass(frozen=True)
class Source:
    """``digest`` is that of the robot as it was read; ``findings`` are those of loading, repairs among them.

    ``reductions``: motor turns per joint turn, by joint, where the file gives transmissions.
    """

    file: str
    format: str
    findings: tuple[Any, ...]
    content: bytes = field(repr=False)
    digest: str = field(repr=False)
    reductions: Mapping[str, float] = field(default_factory=dict)

    @property
    def text(self) -> str | None:
        """The file as it was read; None if it is not written in UTF-8."""
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None


class Coupling(NamedTuple):
    """Joint i moves by ratio · q_c + offset: one table for plain joints, mimic joints and non-unit screws."""

    coordinate: int
    ratio: float = 1.0
    offset: float = 0.0


class Coordinate(NamedTuple):
    """A block of q and v, named after the joint that owns it."""

    name: str
    q_start: int
    nq: int
    v_start: int
    nv: int

    @property
    def q(self) -> slice:
        """Where this block is in q."""
        return slice(self.q_start, self.q_start + self.nq)

    @property
    def v(self) -> slice:
        """Where this block is in v."""
        return slice(self.v_start, self.v_start + self.nv)


class Frame(NamedTuple):
    """A named frame fixed to a link (−1: the base). Links are frames too, with no pose of their own."""

    name: str
    link: int
    pose_row: int | None = None


class Limits(NamedTuple):
    """Bounds of q (nq,), |v| and |tau| (nv,), as tuples; infinite where there is none. A `Mimic` joint's are in its leader's."""

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    velocity: tuple[float, ...]
    effort: tuple[float, ...]


@dataclass(frozen=True)
class Structure:
    """Everything about a robot that is not a number to differentiate by. Links are numbered so that parents come first."""

    name: str
    base: str
    joints: tuple[str, ...]
    links: tuple[str, ...]
    parents: tuple[int, ...]
    kinds: tuple[str, ...]
    couplings: tuple[Coupling, ...]
    coordinates: tuple[Coordinate, ...]
    frames: tuple[Frame, ...]
    limits: Limits
    coulomb_width: float = 0.0
    known_regular: bool = False  # M is positive definite everywhere, though regrouped inertias no longer show it

    def __post_init__(self) -> None:
        check_name("robot", self.name)
        for joint in self.joints:
            check_name("joint", joint)
        for frame in self.frames:
            check_name("link or frame", frame.name)

    @property
    def n(self) -> int:
        """Number of moving links, which is the number of joints."""
        return len(self.links)

    @once
    def nq(self) -> int:
        """Numbers in a configuration."""
        return sum(c.nq for c in self.coordinates)

    @once
    def nv(self) -> int:
        """Degrees of freedom."""
        return sum(c.nv for c in self.coordinates)

    @property
    def freedoms(self) -> tuple[str, ...]:
        """A name for each number of v: the joint's, with a number in brackets where it has several."""
        names: list[str] = []
        for c in self.coordinates:
            names += [c.name] if c.nv == 1 else [f"{c.name}[{k}]" for k in range(c.nv)]
        return tuple(names)

    @property
    def has_couplings(self) -> bool:
        """Whether some joint follows another's coordinate."""
        return len(self.coordinates) < self.n

    def coordinate_of(self, i: int) -> Coordinate:
        """The block of q and v that drives joint i."""
        return self.coordinates[self.couplings[i].coordinate]

    @once
    def coordinate_kinds(self) -> tuple[str, ...]:
        """The kind of joint of each block of q and v: that of the joint it is named after, not of those that follow it."""
        kinds = {
            self.couplings[i].coordinate: self.kinds[i]
            for i in range(self.n)
            if self.coordinate_of(i).name == self.joints[i]
        }
        return tuple(kinds[k] for k in range(len(self.coordinates)))

    def kind_of(self, i: int) -> JointKind:
        """What the kind of joint i is."""
        return KINDS[self.kinds[i]]

    @once
    def blocks(self) -> tuple[tuple[Coordinate, JointKind], ...]:
        """Each block of q and v, with the kind of the joint that it is named after."""
        return tuple(zip(self.coordinates, (KINDS[kind] for kind in self.coordinate_kinds), strict=True))

    @once
    def quaternions(self) -> tuple[tuple[str, slice], ...]:
        """The quaternions in q: the joint of each, and where it is."""
        return tuple((c.name, slice(c.q.stop - 4, c.q.stop)) for c, kind in self.blocks if kind.quaternion is not None)

    @once
    def has_plain_velocities(self) -> bool:
        """Whether v = q̇ and q ⊕ v = q + v: every joint has one number."""
        return all(KINDS[kind].has_screw for kind in self.kinds)

    def path_from_base(self, link: int) -> list[int]:
        """The links from the base (excluded) out to ``link`` (included)."""
        return self.path_to_base(link)[::-1]

    def path_to_base(self, link: int) -> list[int]:
        """The links from ``link`` (included) in to the base (excluded)."""
        path = []
        while link >= 0:
            path.append(link)
            link = self.parents[link]
        return path

    def joint_index(self, name: str) -> int:
        """Position of a joint by name."""
        if not isinstance(name, str) or name not in self.joints:
            raise unknown_name(f"robot {self.name!r}", "joint", name, self.joints, "robot.joints")
        return self.joints.index(name)

    def link_index(self, name: str) -> int:
        """Position of a link by name; −1 for the base."""
        if not isinstance(name, str):
            raise unknown_name(f"robot {self.name!r}", "link", name, (), "robot.links")
        if name == self.base:
            return -1
        if name not in self.links:
            known = (self.base, *self.links)
            raise unknown_name(f"robot {self.name!r}", "link", name, known, "robot.links", meant=self._moved_by(name))
        return self.links.index(name)

    def frame(self, name: str) -> Frame:
        """A frame by name: the base, a link, or a named frame on one of them."""
        if isinstance(name, str):
            for frame in self.frames:
                if frame.name == name:
                    return frame
        known = [frame.name for frame in self.frames]
        raise unknown_name(f"robot {self.name!r}", "frame", name, known, "robot.frames", meant=self._moved_by(name))

    def _moved_by(self, name: object) -> tuple[str, ...]:
        """The link that a joint of this name moves: who names the joint where a link or frame is asked for may mean that."""
        return (self.links[self.joints.index(name)],) if isinstance(name, str) and name in self.joints else ()


def coordinates_in_order(named_kinds: list[tuple[str, str]]) -> tuple[Coordinate, ...]:
    """Consecutive blocks of q and v for joints given as (name, kind)."""
    blocks, q_start, v_start = [], 0, 0
    for name, kind in named_kinds:
        size = KINDS[kind]
        blocks.append(Coordinate(name, q_start, size.nq, v_start, size.nv))
        q_start, v_start = q_start + size.nq, v_start + size.nv
    return tuple(blocks)


def to_dict(structure: Structure, values: Array, size: str) -> dict[str, Array]:
    """Joint name → its numbers of ``values`` (..., nq) or (..., nv), as ``size`` says; a plain number's axis is dropped."""
    values = values if hasattr(values, "shape") else np.asarray(values, float)
    _check_last(structure, values, size)
    result = {}
    for c in structure.coordinates:
        block = values[..., c.q if size == "nq" else c.v]
        result[c.name] = block[..., 0] if block.shape[-1] == 1 else block
    return result


def from_dict(structure: Structure, values: Mapping[str, Array], size: str, default: Array) -> Array:
    """(..., nq) or (..., nv), as ``size`` says, from joint name → numbers; joints not named keep ``default``."""
    default = np.asarray(default, float)
    _check_last(structure, default, size)
    blocks = {c.name: (c.q if size == "nq" else c.v) for c in structure.coordinates}
    parts = {}
    for name, value in values.items():
        if name not in blocks:
            raise unknown_name(f"robot {structure.name!r}", "coordinate", name, blocks, "robot.coordinates")
        width = blocks[name].stop - blocks[name].start
        refuse_foreign(value, name)
        part = np.asarray(value, float)
        part = part[..., None] if width == 1 else part
        if part.shape[-1:] != (width,):
            raise ShapeError(f"robot {structure.name!r}: joint {name!r} takes {width} numbers, got shape {part.shape}.")
        parts[name] = part
    batch = np.broadcast_shapes(default.shape[:-1], *(part.shape[:-1] for part in parts.values()))
    result = np.array(np.broadcast_to(default, (*batch, default.shape[-1])))
    for name, part in parts.items():
        result[..., blocks[name]] = part
    return result


def _check_last(structure: Structure, values: Array, size: str) -> None:
    want = getattr(structure, size)
    if not values.shape or values.shape[-1] != want:
        raise ShapeError(f"robot {structure.name!r}: expected shape (..., {want}), got {tuple(values.shape)}.")
