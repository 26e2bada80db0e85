"""What all adapters do: go through the peer's joints in the peer's order, each in the peer's form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final, NamedTuple

import numpy

from torsor.adapters.joint_forms import IN_ORDER, ONE_NUMBER, XYZW, Form
from torsor.arrays import concat, take, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, Pose, Quaternion, Twist, Wrench
from torsor.border import explained
from torsor.border.arrays import check, spread
from torsor.errors import ModelError, ShapeError, unknown_name
from torsor.lie import quaternion, se3
from torsor.model import Robot
from torsor.model.structure import Coordinate


class Block(NamedTuple):
    """One joint of the peer, or a run of plain ones: ratio · ours + offset, in its form. A mimic joint does not lead."""

    joint: str
    ours: Coordinate
    form: Form
    ratio: float
    offset: float
    leads: bool
    q: slice  # in the peer's vectors
    v: slice


class Adapter(ABC):
    """One robot between torsor and a peer library; the peer's own class says what it writes differently.

    ``order`` names the joints in the order of the peer's vectors (None: `robot.coordinates`). The peer's joint frames are
    the robot's, and its joints turn and slide along unit axes, as all peers' do: a joint whose screw has another length
    is scaled. A mimic joint that the peer moves independently is named in ``order`` too; one that the peer couples itself
    is not.

    Every method takes any batch shape. All its arguments but the last are torsor's; the last one is converted.
    """

    peer: ClassVar[str]
    # Where the peer's numbers come from in ours: (angular, linear), (x, y, z, w), (position, quaternion).
    _six: ClassVar[Array] = IN_ORDER
    _quaternion: ClassVar[Array] = XYZW
    _position_first: ClassVar[bool] = True
    _hint: ClassVar[str] = ""  # what may be forgotten if the peer's configuration has another size

    @explained
    def __init__(self, robot: Robot, *, order: Iterable[str] | None = None) -> None:
        self.robot: Final = robot
        self.order: Final = robot.coordinates if order is None else self._checked_order(tuple(order))
        s, blocks, nq, nv = robot.structure, [], 0, 0
        for name in self.order:
            i = s.joint_index(name)
            form, ours, (_, ratio, offset) = self._form(i), s.coordinate_of(i), s.couplings[i]
            q, v = slice(nq, nq + form.nq), slice(nv, nv + form.nv)
            blocks.append(Block(name, ours, form, ratio, offset, leads=ours.name == name, q=q, v=v))
            nq, nv = q.stop, v.stop
        self.nq: Final = nq
        self.nv: Final = nv
        self._places: Final = {block.joint: block for block in blocks}
        self._theirs: Final = _with_runs_joined(blocks)
        self._ours: Final = sorted(
            (block for block in self._theirs if block.leads), key=lambda block: block.ours.q_start
        )
        self._drifts: Final = any(block.form.drift is not None for block in blocks)

    @abstractmethod
    def _form(self, i: int) -> Form:
        """How the peer writes joint i."""

    @property
    def name(self) -> str:
        """The robot's name, and where it is."""
        return f"{self.robot.name} in {self.peer}"

    def q_slice(self, joint: str) -> slice:
        """Where a joint's numbers are in the peer's configuration."""
        return self._place(joint).q

    def v_slice(self, joint: str) -> slice:
        """Where a joint's numbers are in the peer's velocities, accelerations and forces."""
        return self._place(joint).v

    def __repr__(self) -> str:
        return f"<{self.peer} adapter of robot {self.robot.name!r}: nq {self.nq}, nv {self.nv}>"

    # States and forces

    def to_q(self, q: ConfigurationVector) -> Array:
        """The peer's configuration (..., peer's nq) of our ``q`` (..., nq), rad or m; its quaternions have length 1."""
        (q,), batch = self._arguments("to_q", self.robot, q=q)
        return _joined(
            [block.form.to_q(_scaled(block, q[..., block.ours.q], block.offset)) for block in self._theirs], batch
        )

    def from_q(self, q: Array) -> ConfigurationVector:
        """Our configuration (..., nq) of the peer's ``q``, rad or m; angles that it keeps as sine and cosine in (−π, π]."""
        try:
            (q,), batch = self._arguments("from_q", self, q=q)
        except ShapeError as error:
            raise ShapeError(f"{error}{self._hint}") from None
        return _joined([_divided(block, block.form.from_q(q[..., block.q])) for block in self._ours], batch)

    def to_v(self, q: ConfigurationVector, v: JointVector) -> Array:
        """The peer's velocity (..., peer's nv) of our ``v`` (..., nv) at our ``q`` (..., nq), rad, m, s."""
        (q, v), batch = self._arguments("to_v", self.robot, q=q, v=v)
        return _joined(self._turned(q, v), batch)

    def from_v(self, q: ConfigurationVector, v: Array) -> JointVector:
        """Our velocity (..., nv) of the peer's ``v`` at our ``q`` (..., nq), rad, m, s. A follower's is not read."""
        (q, v), batch = self._arguments("from_v", self, q=q, v=v)
        return _joined(self._turned_back(q, v), batch)

    def to_a(self, q: ConfigurationVector, v: JointVector, a: JointVector) -> Array:
        """The rate of the peer's velocity (..., peer's nv), of our ``a`` (..., nv) at our ``q`` and ``v``, rad, m, s."""
        (q, v, a), batch = self._arguments("to_a", self.robot, q=q, v=v, a=a)
        if self._drifts:
            parts = [a[..., block.ours.v] for block in self._ours]
            a = concat([x if d is None else x + d for x, d in zip(parts, self._drift(v), strict=True)])
        return _joined(self._turned(q, a), batch)

    def from_a(self, q: ConfigurationVector, v: JointVector, a: Array) -> JointVector:
        """Our acceleration (..., nv) of the rate ``a`` of the peer's velocity, at our ``q`` and ``v``, rad, m, s."""
        (q, v, a), batch = self._arguments("from_a", self, q=q, v=v, a=a)
        parts = self._turned_back(q, a)
        if self._drifts:
            parts = [x if d is None else x - d for x, d in zip(parts, self._drift(v), strict=True)]
        return _joined(parts, batch)

    def to_tau(self, q: ConfigurationVector, tau: JointVector) -> Array:
        """The peer's forces (..., peer's nv) with the power of our ``tau`` (..., nv) at our ``q``, N·m or N.

        A follower gets none: its leader carries both.
        """
        (q, tau), batch = self._arguments("to_tau", self.robot, q=q, tau=tau)
        parts = [
            block.form.to_v(q[..., block.ours.q], _divided(block, tau[..., block.ours.v]))
            if block.leads
            else zeros(block.form.nv)
            for block in self._theirs
        ]
        return _joined(parts, batch)

    def from_tau(self, q: ConfigurationVector, tau: Array) -> JointVector:
        """Our forces (..., nv) with the power of the peer's ``tau`` at our ``q`` (..., nq), N·m or N.

        What acts on a follower acts, times its ratio, on its leader.
        """
        (q, tau), batch = self._arguments("from_tau", self, q=q, tau=tau)
        totals: dict[str, Array] = {}
        for block in self._theirs:
            name, part = block.ours.name, _scaled(block, block.form.from_v(q[..., block.ours.q], tau[..., block.v]))
            totals[name] = totals[name] + part if name in totals else part
        return _joined([totals[block.ours.name] for block in self._ours], batch)

    # Six, four or seven numbers: no robot is needed

    @classmethod
    def to_twist(cls, V: Twist) -> Array:
        """The peer's order of a twist (..., 6), rad/s, m/s; axes and origin stay what they are."""
        return take(check(f"{cls.peer}.to_twist", "V", V, ("6",), None), cls._six)

    @classmethod
    def from_twist(cls, V: Array) -> Twist:
        """(angular, linear) (..., 6) of a twist in the peer's order, rad/s, m/s."""
        return take(check(f"{cls.peer}.from_twist", "V", V, ("6",), None), cls._six)

    @classmethod
    def to_wrench(cls, F: Wrench) -> Array:
        """The peer's order of a wrench (..., 6), N·m, N; axes and origin stay what they are."""
        return take(check(f"{cls.peer}.to_wrench", "F", F, ("6",), None), cls._six)

    @classmethod
    def from_wrench(cls, F: Array) -> Wrench:
        """(moment, force) (..., 6) of a wrench in the peer's order, N·m, N."""
        return take(check(f"{cls.peer}.from_wrench", "F", F, ("6",), None), cls._six)

    @classmethod
    def to_quaternion(cls, quat: Quaternion) -> Array:
        """The peer's order of a quaternion (..., 4) (x, y, z, w), no unit."""
        return take(check(f"{cls.peer}.to_quaternion", "quat", quat, ("4",), None), cls._quaternion)

    @classmethod
    def from_quaternion(cls, quat: Array) -> Quaternion:
        """(x, y, z, w) (..., 4) of a quaternion in the peer's order, no unit."""
        return take(check(f"{cls.peer}.from_quaternion", "quat", quat, ("4",), None), numpy.argsort(cls._quaternion))

    @classmethod
    def to_pose(cls, T: Pose) -> Array:
        """The peer's seven numbers (..., 7) of a pose (..., 4, 4), m: position and quaternion, in the peer's order."""
        T = check(f"{cls.peer}.to_pose", "T", T, ("4", "4"), None)
        parts = [T[..., :3, 3], cls.to_quaternion(quaternion.from_rotation(T[..., :3, :3]))]
        return concat(parts if cls._position_first else parts[::-1])

    @classmethod
    def from_pose(cls, x: Array) -> Pose:
        """The pose (..., 4, 4), m, of the peer's seven numbers (..., 7)."""
        x = check(f"{cls.peer}.from_pose", "x", x, ("7",), None)
        position, quat = (x[..., :3], x[..., 3:]) if cls._position_first else (x[..., 4:], x[..., :4])
        return se3.pose(quaternion.to_rotation(cls.from_quaternion(quat)), position)

    # Helpers

    def _turned(self, q: Array, v: Array) -> list[Array]:
        return [block.form.to_v(q[..., block.ours.q], _scaled(block, v[..., block.ours.v])) for block in self._theirs]

    def _turned_back(self, q: Array, v: Array) -> list[Array]:
        return [_divided(block, block.form.from_v(q[..., block.ours.q], v[..., block.v])) for block in self._ours]

    def _drift(self, v: Array) -> list[Array | None]:
        return [block.form.drift and block.form.drift(v[..., block.ours.v]) for block in self._ours]

    def _arguments(self, function: str, last: object, **arrays: Array) -> tuple[list[Array], tuple[int, ...]]:
        """All arrays checked, the last one as one of ``last`` (robot or peer), and their common batch shape."""
        where, names = f"{self.peer}.{function}", list(arrays)
        checked = []
        for name, value in arrays.items():
            owner = last if name == names[-1] else self.robot
            checked.append(check(where, name, value, ("nq" if name == "q" else "nv",), owner))
        batches = [x.shape[:-1] for x in checked]
        if all(batch == batches[0] for batch in batches):
            return checked, batches[0]
        try:
            return checked, numpy.broadcast_shapes(*batches)
        except ValueError:
            found = ", ".join(f"`{name}` {batch}" for name, batch in zip(names, batches, strict=True))
            raise ShapeError(
                f"{where}: the batch axes of the arguments do not broadcast: {found}. "
                "Pass the same number of states in each, or one state."
            ) from None

    def _checked_order(self, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            _joint_index(self.robot, "order", name)
        doubled = sorted({name for name in names if names.count(name) > 1})
        missing = [name for name in self.robot.coordinates if name not in names]
        if doubled or missing:
            what = f"repeats {_listed(doubled)}" if doubled else f"lacks {_listed(missing)}"
            raise ModelError(
                f"`order` must name every joint of robot {self.robot.name!r} once, but {what}. "
                f"Pass the names of robot.coordinates in the order of {self.peer}'s vectors."
            )
        return names

    def _place(self, joint: str) -> Block:
        if joint not in self._places:
            raise unknown_name(f"robot {self.name!r}", "joint", joint, self.order, "adapter.order")
        return self._places[joint]


def joints_of_kind(robot: Robot, option: str, names: Iterable[str], kind: str, meaning: str) -> tuple[str, ...]:
    """The names given for an ``option`` that joints of one kind alone have, or an error that says whose it is."""
    names = (names,) if isinstance(names, str) else tuple(names)
    for name in names:
        found = robot.structure.kinds[_joint_index(robot, option, name)]
        if found != kind:
            raise ModelError(f"`{option}` names {name!r}, which is {found}; {meaning}. Leave it out.")
    return names


def _joint_index(robot: Robot, option: str, name: str) -> int:
    if name not in robot.joints:
        where = f"`{option}` is wrong, robot {robot.name!r}"
        raise unknown_name(where, "joint", name, robot.joints, "robot.joints")
    return robot.structure.joint_index(name)


def _with_runs_joined(blocks: Sequence[Block]) -> list[Block]:
    """The same blocks, with plain joints that are neighbours on both sides taken as one: an arm is a single copy."""
    drivers = Counter(block.ours.name for block in blocks)  # more than one: a mimic joint follows
    runs: list[Block] = []
    extends = False
    for block in blocks:
        plain = block.form is ONE_NUMBER and block.ratio == 1.0 and drivers[block.ours.name] == 1
        if extends and plain and runs[-1].ours.v.stop == block.ours.v_start:
            runs[-1] = _longer(runs[-1], block)
        else:
            runs.append(block)
        extends = plain
    return runs


def _longer(run: Block, block: Block) -> Block:
    nq, nv = run.form.nq + 1, run.form.nv + 1
    ours, form = run.ours._replace(nq=nq, nv=nv), run.form._replace(nq=nq, nv=nv)
    return run._replace(ours=ours, form=form, q=slice(run.q.start, block.q.stop), v=slice(run.v.start, block.v.stop))


def _joined(parts: Sequence[Array], batch: tuple[int, ...]) -> Array:
    # A single part may be a view of the argument, which must not change when the result does.
    return spread(concat(parts) if len(parts) > 1 else 1.0 * parts[0], batch, 1)


def _scaled(block: Block, x: Array, offset: float = 0.0) -> Array:
    return x if block.ratio == 1.0 and offset == 0.0 else block.ratio * x + offset


def _divided(block: Block, x: Array) -> Array:
    return x if block.ratio == 1.0 else x / block.ratio


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
