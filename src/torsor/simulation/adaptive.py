"""Adaptive integration in machine code: Dormand and Prince's pairs on the configuration manifold.

The unknowns of a step are the increment u with q = q_n ⊕ u, the velocity v and integrals w that go along (works): u̇ is
`increment_rate` of u and v, so that the order of the pair holds on every joint kind [MK99].
For joints with one number u is q − q_n.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from torsor._once import once
from torsor.arrays import concat
from torsor.arrays.typing import Array
from torsor.compiler.trace import called, inline
from torsor.functions.compile import compile, scan
from torsor.mechanics.kinematics.manifold import increment_rate, integrate
from torsor.model import Robot
from torsor.simulation.adaptive_attempt import STATE, Evaluate, attempt, first_step
from torsor.simulation.adaptive_run import (
    ARRIVED,
    INTERRUPTED,
    NOT_FINITE,
    RUNNING,
    TOO_MANY_STEPS,
    AdaptiveRun,
    Chunk,
)
from torsor.simulation.dormand_prince_54 import DORMAND_PRINCE_54
from torsor.simulation.dormand_prince_853 import DORMAND_PRINCE_853

Constants = dict[str, Array]
Rhs = Callable[[Robot, Array, Array, Array, Constants], tuple[Array, Array]]
Guard = Callable[[Robot, Array, Array, Array, Array, Constants], Array]

PAIRS = {"853": DORMAND_PRINCE_853, "54": DORMAND_PRINCE_54}
FIRST_CHUNK = 16  # attempted steps, until they have their length
LONGEST_CHUNK = 256  # attempted steps between two looks at what has finished
CHUNK_NUMBERS = 8_000_000  # that a chunk may save, 64 MB


class AdaptiveFlow:
    """A smooth flow v̇ = a(t, q, v) of a robot, integrated with steps of chosen accuracy until a time or until a guard fires.

    Parameters
    ----------
    robot : Robot
    rhs : function (robot, t, q, v, c) → a (nv,), power (k,)
        Acceleration and the rates of k integrals that go along. It can be traced; ``c`` has the constants by name.
    guard : function (robot, t, q, v, a, c) → scalar, or None
        Not negative as long as the equations hold. A step at whose end it is negative or NaN is the last one.
    constants : mapping of names to shapes
    powers : int
        k.
    pair : str
        "853" or "54".
    """

    def __init__(
        self,
        robot: Robot,
        rhs: Rhs,
        guard: Guard | None = None,
        constants: Mapping[str, tuple[int, ...]] | None = None,
        powers: int = 0,
        pair: str = "853",
    ) -> None:
        self.robot, self.rhs, self.powers, self.pair = robot, rhs, powers, PAIRS[pair]
        self.guard: Guard = guard if guard is not None else lambda robot, t, q, v, a, c: 1.0
        self.constants = {name: tuple(shape) for name, shape in (constants or {}).items()}
        nq, nv, k = robot.nq, robot.nv, powers
        shapes: tuple[Any, ...] = ((), (), nq, nv, k, nv, k, (), (), (), ())
        state = {name: x for name, x in zip(STATE, shapes, strict=True) if x != 0}
        held = {_prefixed(name): shape for name, shape in self.constants.items()}
        self._point = self._pointed({"t": (), "q": nq, "u": nv, "v": nv, **held})
        self._state, self._held = state, held
        self._loops: dict[bool, Any] = {}
        own = (1, 1, *map(len, self.constants.values()))
        self._ranks = (0, 0, 0, *own), (0, 0, *own)  # of what `run` is given, with the length of a step and without

    def _loop(self, dense: bool) -> Any:
        """The loop over attempted steps; ``dense``: it saves their stages, too."""
        if dense not in self._loops:
            self._loops[dense] = self._looped(self._state, {"t1": (), "rtol": (), "atol": (), **self._held}, dense)
        return self._loops[dense]

    def _looped(self, state: Mapping[str, Any], constants: Mapping[str, Any], dense: bool) -> Any:
        """The loop as machine code."""

        def turn(robot: Robot, **given: Array) -> dict[str, Array]:
            return self._attempt(robot, dense, **given)

        return scan(turn, self.robot, state, constants=constants)

    @once
    def _begin(self) -> Any:
        """The first evaluation and the length of the first step, as machine code."""
        inputs: dict[str, Any] = {
            "t": (),
            "t1": (),
            "q": self.robot.nq,
            "v": self.robot.nv,
            "rtol": (),
            "atol": (),
            **self._held,
        }
        return compile(self._begun, self.robot, inputs)

    def _begun(
        self, robot: Robot, t: Array, t1: Array, q: Array, v: Array, rtol: Array, atol: Array, **held: Array
    ) -> dict[str, Array]:
        """Acceleration and rate at the start, and how long a step to try."""
        evaluate = self._at_stage(held)
        at = evaluate(t, q, 0.0 * v, v)
        h = first_step(robot, self.pair, evaluate, t, t1, q, v, at["rate"], rtol, atol)
        return {"a": at["a"], "rate": at["rate"], "h": h}

    def _pointed(self, inputs: Mapping[str, Any]) -> Any:
        """One evaluation, as machine code."""
        return compile(self._evaluate, self.robot, inputs)

    def point(self, t: Array, q: Array, u: Array, v: Array, constants: Constants) -> dict[str, Array]:
        """At q ⊕ u with v: q (..., nq), a (..., nv), guard (...), and the rate of (u, v, w) (..., 2 nv + k)."""
        return self._point(t=t, q=q, u=u, v=v, **constants)  # type: ignore[no-any-return]

    def run(
        self,
        t0: Array,
        t1: Array,
        q0: Array,
        v0: Array,
        w0: Array | None = None,
        constants: Mapping[str, Array] | None = None,
        rtol: float = 1e-8,
        atol: float = 1e-10,
        h0: Array | None = None,
        max_steps: int = 100_000,
        dense: bool = True,
    ) -> AdaptiveRun:
        """Integrate from t0 to t1, or until the guard fires; one trajectory or a batch, each with its own steps.

        Parameters
        ----------
        t0, t1 : (...) arrays
            Start and end, s; t1 ≥ t0.
        q0, v0, w0 : (..., nq), (..., nv), (..., k) arrays
            State at the start, and the integrals there (zero).
        constants : mapping of names to (..., *shape) arrays
        rtol, atol : float
            A step's estimated error, root mean square over u and v, is at most 1 in units of atol + rtol · size; the size of an
            increment is that of the number of q it adds to, the distance from the origin for positions, 1 for rotations.
        h0 : (...) array, optional
            Length of the first step, s; it is chosen otherwise, with one evaluation more [HNW93, §II.4].
        max_steps : int
            How many steps may be attempted.
        dense : bool
            Whether states between the ends of steps may be asked for.
        """
        robot, k = self.robot, self.powers
        held = {_prefixed(name): np.asarray((constants or {})[name], float) for name in self.constants}
        batch = _batch_of((t0, t1, *(() if h0 is None else (h0,)), q0, v0, *held.values()), self._ranks[h0 is None])

        def flat(value: Any, *shape: int) -> Array:
            if np.shape(value) == shape and not batch:  # the usual case
                return np.array(value, float)[None]
            filled = np.broadcast_to(np.asarray(value, float), (*batch, *shape))
            return np.array(filled).reshape((math.prod(batch), *shape))  # a copy: nobody else writes into it

        held = {_prefixed(n): flat(held[_prefixed(n)], *shape) for n, shape in self.constants.items()}
        start, end = flat(t0), flat(t1)
        q, v, w = flat(q0, robot.nq), flat(v0, robot.nv), flat(0.0 if w0 is None else w0, k)
        n, s = len(start), self.pair.stages
        tolerances = {"t1": end, "rtol": np.array([float(rtol)] * n), "atol": np.array([float(atol)] * n)}
        evaluations = np.array([1] * n)
        if h0 is None:
            at = self._begin(t=start, q=q, v=v, **tolerances, **held)
            h = at["h"]
            evaluations += end > start
        else:
            at, h = self.point(start, q, np.zeros_like(v), v, held), flat(h0)
        rate = at["rate"]
        begun = np.isfinite(rate).all(-1)
        status = np.where(begun, np.where(end > start, RUNNING, ARRIVED), NOT_FINITE).astype(float)
        known = {
            "t": start,
            "h": h,
            "q": q,
            "v": v,
            "w": w,
            "a": at["a"],
            "p": rate[:, 2 * robot.nv :],
            "status": status,
        }
        state = {n_: known[n_] if n_ in known else np.zeros((n, *_sized(x))) for n_, x in self._state.items()}
        chunks, interrupted = list[Chunk](), False
        try:
            self._attempts(chunks, state, {**tolerances, **held}, max_steps, self._loop(dense))
        except KeyboardInterrupt:
            interrupted = True
            for chunk in chunks:  # it may have come while the last was written to the state
                chunk.write_last(state)
            state["status"][state["status"] == RUNNING] = INTERRUPTED
        state["status"][state["status"] == RUNNING] = TOO_MANY_STEPS
        evaluations = evaluations + s * (state["taken"] + state["refused"]).astype(int)
        return AdaptiveRun(self, batch, state, held, chunks, evaluations, interrupted)

    def _attempts(
        self, chunks: list[Chunk], state: dict[str, Array], held: dict[str, Array], max_steps: int, loop: Any
    ) -> None:
        """Attempt steps until all have ended, and add them to ``chunks``; ``state`` becomes the last one."""
        if len(state["t"]) == 1:
            self._attempts_of_one(chunks, state, held, max_steps, loop)
            return
        left = max_steps
        numbers = sum(math.prod(shape) for shape in loop.outputs.values())
        active = np.flatnonzero(state["status"] == RUNNING)
        whole = len(active) == len(state["t"])
        while len(active) and left > 0:
            pick: Any = active[0] if len(active) == 1 else (slice(None) if whole else active)
            now = {name: x[pick].copy() for name, x in state.items()}  # ``state`` is written to below
            fixed = {name: x[pick] for name, x in held.items()}
            expected = float(np.mean((fixed["t1"] - now["t"]) / now["h"]))
            most = max(1, min(LONGEST_CHUNK, left, CHUNK_NUMBERS // (numbers * len(active))))
            length = (
                _chunk_length(expected, most) if chunks else min(most, FIRST_CHUNK)
            )  # until steps have their length
            saved = loop(steps=length, **now, **fixed)
            chunks.append(Chunk(active, now, saved))
            chunks[-1].write_last(state)
            left -= length
            active = active[state["status"][active] == RUNNING]
            whole = whole and len(active) == len(state["t"])

    def _attempts_of_one(
        self, chunks: list[Chunk], state: dict[str, Array], held: dict[str, Array], max_steps: int, loop: Any
    ) -> None:
        """The same for one trajectory: each chunk begins with what the last one left, where it is."""
        left, one = max_steps, np.zeros(1, int)
        now = {name: x[0].copy() for name, x in state.items()}  # ``state`` is written to below
        fixed = {name: x[0] for name, x in held.items()}
        end = float(fixed["t1"])
        while left > 0 and now["status"] == RUNNING:
            length = min(left, _chunk_length((end - float(now["t"])) / float(now["h"]), LONGEST_CHUNK))
            length = length if chunks else min(length, FIRST_CHUNK)
            saved = loop(steps=length, **now, **fixed)
            chunks.append(Chunk(one, now, saved))
            now = {name: saved[name][-1] for name in now}
            left -= length
        for name, x in state.items():
            x[0] = now[name]

    def _evaluate(self, robot: Robot, t: Array, q: Array, u: Array, v: Array, **held: Array) -> dict[str, Array]:
        c = {name: held[_prefixed(name)] for name in self.constants}
        there = integrate(robot, q, u)
        a, power = self.rhs(robot, t, there, v, c)
        rate = concat([increment_rate(robot, u, v), a, *([power] if self.powers else [])])
        guard = self.guard(robot, t, there, v, a, c) + 0.0 * t
        return {"q": there, "a": a + 0.0 * v, "rate": rate, "guard": guard}

    def _attempt(self, robot: Robot, dense: bool, /, **given: Array) -> dict[str, Array]:
        """A turn of the loop: the state after it, and the stages of the step if they are asked for."""
        held = {name: given[name] for name in map(_prefixed, self.constants)}

        found = attempt(robot, self.pair, self._at_stage(held), given)
        return {name: found[name] for name in (*STATE, *(["stages"] if dense else [])) if name in found}

    def _at_stage(self, held: Constants) -> Evaluate:
        """One evaluation, for traced arrays."""

        def evaluate(t: Array, q: Array, u: Array, v: Array) -> dict[str, Array]:
            program, given = self._point.program, {"t": t, "q": q, "u": u, "v": v, **held}
            found = called(program, [given[port.name] for port in program.graph.inputs])  # compiled once for all stages
            return inline(program, given) if found is None else dict(zip(self._point.outputs, found, strict=True))

        return evaluate


def _batch_of(given: tuple[Any, ...], ranks: tuple[int, ...]) -> tuple[int, ...]:
    """The batch axes that numbers of these ranks have together."""
    if all(np.ndim(x) == rank for x, rank in zip(given, ranks, strict=True)):
        return ()
    return np.broadcast_shapes(*(np.shape(x)[: np.ndim(x) - rank] for x, rank in zip(given, ranks, strict=True)))


def _sized(shape: Any) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def _chunk_length(expected: float, most: int) -> int:
    """How many steps to attempt at once where so many are expected; calls of few lengths are remembered."""
    if expected >= most:
        return most
    likely = max(8, int(0.8 * expected))  # steps become longer, and those behind the end are in vain
    return min(most, likely // 8 * 8)


def _prefixed(name: str) -> str:
    """A constant's name among those of the state; the very string that fast calls know it by."""
    return sys.intern(f"c_{name}")
