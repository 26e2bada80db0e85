"""What all adapters do: go through the peer's joints in the peer's order, each in the peer's form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

import numpy

from torsor.adapters.forms import Block, Form, Orders, divided, scaled, with_runs_joined
from torsor.arrays import concat, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointVector
from torsor.border import explained
from torsor.border.arrays import check, spread
from torsor.errors import ModelError, ShapeError, unknown_name
from torsor.model import Robot


class Adapter(Orders, ABC):
    """One robot between torsor and a peer library; the peer's own class says what it writes differently.

    The peer's joint frames are the robot's, and its joints turn and slide along unit axes, as all peers' do: a joint whose
    screw has another length is scaled. Every method takes any batch shape. All its arguments but the last are torsor's; the last
    one is converted.

    Parameters
    ----------
    robot : Robot
    order : iterable of str, optional
        The joints in the order of the peer's vectors; by default `robot.coordinates`. A mimic joint that the peer
        moves independently is named here too; one that the peer couples itself is not.
    """

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
        self._theirs: Final = with_runs_joined(blocks)
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
        """Where a joint's numbers are in the peer's configuration.

        Parameters
        ----------
        joint : str

        Returns
        -------
        slice
        """
        return self._place(joint).q

    def v_slice(self, joint: str) -> slice:
        """Where a joint's numbers are in the peer's velocities, accelerations and forces.

        Parameters
        ----------
        joint : str

        Returns
        -------
        slice
        """
        return self._place(joint).v

    def __repr__(self) -> str:
        return f"<{self.peer} adapter of robot {self.robot.name!r}: nq {self.nq}, nv {self.nv}>"

    # States and forces

    def to_q(self, q: ConfigurationVector) -> Array:
        """The peer's configuration of ours.

        Parameters
        ----------
        q : (..., nq) array
            torsor's configuration, rad or m.

        Returns
        -------
        (..., peer's nq) array
            rad or m; its quaternions have length 1.
        """
        (q,), batch = self._arguments("to_q", self.robot, q=q)
        return _joined(
            [block.form.to_q(scaled(block, q[..., block.ours.q], block.offset)) for block in self._theirs], batch
        )

    def from_q(self, q: Array) -> ConfigurationVector:
        """Our configuration of the peer's.

        Parameters
        ----------
        q : (..., peer's nq) array
            The peer's configuration, rad or m.

        Returns
        -------
        (..., nq) array
            rad or m; angles that the peer keeps as sine and cosine are in (−π, π].
        """
        try:
            (q,), batch = self._arguments("from_q", self, q=q)
        except ShapeError as error:
            raise ShapeError(f"{error}{self._hint}") from None
        return _joined([divided(block, block.form.from_q(q[..., block.q])) for block in self._ours], batch)

    def to_v(self, q: ConfigurationVector, v: JointVector) -> Array:
        """The peer's velocity of ours.

        Parameters
        ----------
        q : (..., nq) array
            torsor's configuration, rad or m.
        v : (..., nv) array
            torsor's velocity, rad/s or m/s.

        Returns
        -------
        (..., peer's nv) array
            rad/s or m/s.
        """
        (q, v), batch = self._arguments("to_v", self.robot, q=q, v=v)
        return _joined(self._turned(q, v), batch)

    def from_v(self, q: ConfigurationVector, v: Array) -> JointVector:
        """Our velocity of the peer's. A follower's is not read.

        Parameters
        ----------
        q : (..., nq) array
            torsor's configuration, rad or m.
        v : (..., peer's nv) array
            The peer's velocity, rad/s or m/s.

        Returns
        -------
        (..., nv) array
            rad/s or m/s.
        """
        (q, v), batch = self._arguments("from_v", self, q=q, v=v)
        return _joined(self._turned_back(q, v), batch)

    def to_a(self, q: ConfigurationVector, v: JointVector, a: JointVector) -> Array:
        """The rate of the peer's velocity, of our acceleration.

        Parameters
        ----------
        q : (..., nq) array
            torsor's configuration, rad or m.
        v : (..., nv) array
            torsor's velocity, rad/s or m/s.
        a : (..., nv) array
            torsor's acceleration, rad/s² or m/s².

        Returns
        -------
        (..., peer's nv) array
            rad/s² or m/s².
        """
        (q, v, a), batch = self._arguments("to_a", self.robot, q=q, v=v, a=a)
        if self._drifts:
            parts = [a[..., block.ours.v] for block in self._ours]
            a = concat([x if d is None else x + d for x, d in zip(parts, self._drift(v), strict=True)])
        return _joined(self._turned(q, a), batch)

    def from_a(self, q: ConfigurationVector, v: JointVector, a: Array) -> JointVector:
        """Our acceleration of the rate of the peer's velocity.

        Parameters
        ----------
        q : (..., nq) array
            torsor's configuration, rad or m.
        v : (..., nv) array
            torsor's velocity, rad/s or m/s.
        a : (..., peer's nv) array
            The peer's acceleration, the rate of its velocity, rad/s² or m/s².

        Returns
        -------
        (..., nv) array
            rad/s² or m/s².
        """
        (q, v, a), batch = self._arguments("from_a", self, q=q, v=v, a=a)
        parts = self._turned_back(q, a)
        if self._drifts:
            parts = [x if d is None else x - d for x, d in zip(parts, self._drift(v), strict=True)]
        return _joined(parts, batch)

    def to_tau(self, q: ConfigurationVector, tau: JointVector) -> Array:
        """The peer's joint forces with the power of ours.

        Parameters
        ----------
        q : (..., nq) array
            torsor's configuration, rad or m.
        tau : (..., nv) array
            torsor's joint forces, N·m or N.

        Returns
        -------
        (..., peer's nv) array
            N·m or N. A follower gets none: its leader carries both.
        """
        (q, tau), batch = self._arguments("to_tau", self.robot, q=q, tau=tau)
        parts = [
            block.form.to_v(q[..., block.ours.q], divided(block, tau[..., block.ours.v]))
            if block.leads
            else zeros(block.form.nv)
            for block in self._theirs
        ]
        return _joined(parts, batch)

    def from_tau(self, q: ConfigurationVector, tau: Array) -> JointVector:
        """Our joint forces with the power of the peer's.

        Parameters
        ----------
        q : (..., nq) array
            torsor's configuration, rad or m.
        tau : (..., peer's nv) array
            The peer's joint forces, N·m or N.

        Returns
        -------
        (..., nv) array
            N·m or N. What acts on a follower acts, times its ratio, on its leader.
        """
        (q, tau), batch = self._arguments("from_tau", self, q=q, tau=tau)
        totals: dict[str, Array] = {}
        for block in self._theirs:
            name, part = block.ours.name, scaled(block, block.form.from_v(q[..., block.ours.q], tau[..., block.v]))
            totals[name] = totals[name] + part if name in totals else part
        return _joined([totals[block.ours.name] for block in self._ours], batch)

    # Helpers

    def _turned(self, q: Array, v: Array) -> list[Array]:
        return [block.form.to_v(q[..., block.ours.q], scaled(block, v[..., block.ours.v])) for block in self._theirs]

    def _turned_back(self, q: Array, v: Array) -> list[Array]:
        return [divided(block, block.form.from_v(q[..., block.ours.q], v[..., block.v])) for block in self._ours]

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


def _joined(parts: Sequence[Array], batch: tuple[int, ...]) -> Array:
    # A single part may be a view of the argument, which must not change when the result does.
    return spread(concat(parts) if len(parts) > 1 else 1.0 * parts[0], batch, 1)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
