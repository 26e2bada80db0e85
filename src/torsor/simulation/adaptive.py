"""Adaptive integration in machine code: Dormand and Prince's pairs on the configuration manifold, one stage per loop iteration.

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

from torsor.arrays import absolute, concat, dot, sqrt, stack, where
from torsor.arrays.typing import Array, ConfigurationVector, JointVector
from torsor.functions.compile import compile, scan
from torsor.mechanics.kinematics.manifold import increment_rate, integrate
from torsor.model import Robot
from torsor.simulation.adaptive_run import (
    ARRIVED,
    FIRED,
    INTERRUPTED,
    NOT_FINITE,
    RUNNING,
    STEP_TOO_SMALL,
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
SAFETY, LEAST, MOST = 0.9, 0.2, 10.0  # factors from one step's length to the next [HNW93, (II.4.13)]
ROUNDING, TINY, HUGE = 10.0 * float(np.finfo(float).eps), 1e-300, 1e300
# Evaluations in one iteration of the loop, for robots of few freedoms: they share what is decided, and the code is longer.
AT_ONCE, SMALL = 3, 8
# Attempted steps between two looks at what has finished. Two lengths, for so many calls of a loop are remembered.
SHORT_CHUNK, LONGEST_CHUNK = 6, 32
CHUNK_NUMBERS = 8_000_000  # that a chunk may save, 64 MB
STATE = ("t", "h", "q", "v", "w", "a", "p", "stages", "errors", "retried", "broken", "status", "taken", "refused")


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
        nq, nv, s, k = robot.nq, robot.nv, self.pair.stages, powers
        self.at_once = AT_ONCE if nv <= SMALL else 1
        self._rounds = s // self.at_once
        shapes: tuple[Any, ...] = (
            *((),) * 2,
            nq,
            nv,
            k,
            nv,
            k,
            (s, 2 * nv + k),
            (len(self.pair.errors), 2 * nv),
            *((),) * 5,
        )
        state = {n: x for n, x in zip(STATE, shapes, strict=True) if x != 0}
        held = {_prefixed(name): shape for name, shape in self.constants.items()}
        self._loop = self._looped(state, {"t1": (), "rtol": (), "atol": (), **held})
        self._point = self._pointed({"t": (), "q": nq, "u": nv, "v": nv, **held})
        self._rows = np.tile(self.pair.rows, (LONGEST_CHUNK, 1)).reshape(LONGEST_CHUNK * self._rounds, -1)

    def _looped(self, state: Mapping[str, Any], constants: Mapping[str, Any]) -> Any:
        """The loop over evaluations, as machine code."""
        inputs = {"row": self.at_once * self.pair.rows.shape[1]}
        return scan(self._attempt, self.robot, state, inputs=inputs, constants=constants)

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
        """
        robot, k = self.robot, self.powers
        held = {_prefixed(name): np.asarray((constants or {})[name], float) for name in self.constants}
        leads = [
            np.shape(x)[: np.ndim(x) - len(s)] for x, s in zip(held.values(), self.constants.values(), strict=True)
        ]
        given = [np.shape(t0), np.shape(t1), np.shape(q0)[:-1], np.shape(v0)[:-1], *leads]
        batch = np.broadcast_shapes(*given, () if h0 is None else np.shape(h0))

        def flat(value: Any, *shape: int) -> Array:
            filled = np.broadcast_to(np.asarray(value, float), (*batch, *shape))
            return np.array(filled).reshape((math.prod(batch), *shape))  # a copy: nobody else writes into it

        held = {_prefixed(n): flat(held[_prefixed(n)], *shape) for n, shape in self.constants.items()}
        start, end = flat(t0), flat(t1)
        q, v, w = flat(q0, robot.nq), flat(v0, robot.nv), flat(0.0 if w0 is None else w0, k)
        at = self.point(start, q, np.zeros_like(v), v, held)
        rate = at["rate"]
        evaluations = np.ones(len(start), int)
        if h0 is None:
            h = self._first_step(start, end, q, v, at, held, rtol, atol)
            evaluations += end > start
        else:
            h = flat(h0)
        n, s = len(start), self.pair.stages
        begun = np.isfinite(rate).all(-1)
        status = np.where(begun, np.where(end > start, RUNNING, ARRIVED), NOT_FINITE).astype(float)
        values = (start, h, q, v, w, at["a"], rate[:, 2 * robot.nv :], np.zeros((n, s, rate.shape[1])))
        zeros = (np.zeros((n, *self._loop.state["errors"])), *np.zeros((2, n)), status, *np.zeros((2, n)))
        state = {name: x for name, x in zip(STATE, (*values, *zeros), strict=True) if name in self._loop.state}
        tolerances = {"t1": end, "rtol": np.full(n, float(rtol)), "atol": np.full(n, float(atol))}
        chunks, interrupted = list[Chunk](), False
        try:
            self._attempts(chunks, state, {**tolerances, **held}, max_steps)
        except KeyboardInterrupt:
            interrupted = True
            for chunk in chunks:  # it may have come while the last was written to the state
                chunk.write_last(state)
            state["status"][state["status"] == RUNNING] = INTERRUPTED
        state["status"][state["status"] == RUNNING] = TOO_MANY_STEPS
        evaluations = evaluations + s * (state["taken"] + state["refused"]).astype(int)
        return AdaptiveRun(self, batch, state, held, chunks, evaluations, interrupted)

    def _attempts(self, chunks: list[Chunk], state: dict[str, Array], held: dict[str, Array], max_steps: int) -> None:
        """Attempt steps until all have ended, and add them to ``chunks``; ``state`` becomes the last one."""
        left, s = max_steps, self._rounds
        numbers = sum(x[0].size for x in state.values())
        active = np.flatnonzero(state["status"] == RUNNING)
        whole = len(active) == len(state["t"])
        while len(active) and left > 0:
            one = len(active) == 1
            pick: Any = active[0] if one else (slice(None) if whole else active)
            now = {name: x[pick].copy() for name, x in state.items()}  # ``state`` is written to below
            fixed = {name: x[pick] for name, x in held.items()}
            expected = float(np.mean((fixed["t1"] - now["t"]) / now["h"]))
            most = max(1, min(LONGEST_CHUNK, left, CHUNK_NUMBERS // (numbers * len(active))))
            length = _chunk_length(expected, most)
            saved = self._loop(steps=s * length, every=s, row=self._rows[: s * length], **now, **fixed)
            chunks.append(Chunk(active, now, saved))
            chunks[-1].write_last(state)
            left -= length
            active = active[state["status"][active] == RUNNING]
            whole = whole and len(active) == len(state["t"])

    def _first_step(
        self,
        t: Array,
        t1: Array,
        q: Array,
        v: Array,
        at: dict[str, Array],
        held: Constants,
        rtol: float,
        atol: float,
    ) -> Array:
        """Length (N,) of the first step, from the sizes of the state, its rate and the rate a little later [HNW93, §II.4]."""
        nv = self.robot.nv
        y = np.concatenate([magnitudes(self.robot, q), np.abs(v)], axis=-1)
        scale, rate = atol + rtol * y, at["rate"][:, : 2 * nv]
        with np.errstate(all="ignore"):  # what is not finite is reported
            d0, d1 = _rms(y / scale), _rms(rate / scale)
            h = np.minimum(np.where((d0 < 1e-5) | (d1 < 1e-5), 1e-6, 0.01 * d0 / d1), t1 - t)
            step = h[:, None]
            later = self.point(t + h, q, step * v, v + step * rate[:, nv:], held)["rate"][:, : 2 * nv]
            d2 = _rms((later - rate) / scale) / h
            largest = np.maximum(d1, d2)
            flat = np.maximum(1e-6, 1e-3 * h)
            curved = (0.01 / largest) ** (1.0 / (self.pair.estimator_order + 1))
            h = np.minimum(np.minimum(100.0 * h, np.where(largest <= 1e-15, flat, curved)), t1 - t)
            return np.where(h > 0.0, h, np.where(t1 > t, np.minimum(1e-6, t1 - t), 0.0))

    def _evaluate(self, robot: Robot, t: Array, q: Array, u: Array, v: Array, **held: Array) -> dict[str, Array]:
        c = {name: held[_prefixed(name)] for name in self.constants}
        there = integrate(robot, q, u)
        a, power = self.rhs(robot, t, there, v, c)
        rate = concat([increment_rate(robot, u, v), a, *([power] if self.powers else [])])
        guard = self.guard(robot, t, there, v, a, c) + 0.0 * t
        return {"q": there, "a": a + 0.0 * v, "rate": rate, "guard": guard}

    def _attempt(self, robot: Robot, **given: Array) -> dict[str, Array]:
        """The next evaluations of an attempted step; with the last one the step is accepted or refused [HNW93, §II.4]."""
        nv, s = robot.nv, self.pair.stages
        t, h, q, v, t1, row = (given[name] for name in ("t", "h", "q", "v", "t1", "row"))
        w, p = ([given[name]] if self.powers else [] for name in ("w", "p"))
        first, last = row[self.pair.rows.shape[1] - 2] > 0.5, row[-1] > 0.5
        K1 = concat([v, given["a"], *p])
        shortest = ROUNDING * absolute(t) + TINY
        tried = where(given["retried"] > 0.5, h, np.maximum(h, shortest))
        reaches = t + tried >= t1
        end = where(reaches, t1, t + tried)
        step = end - t
        held = {name: given[name] for name in map(_prefixed, self.constants)}
        broken, stages, count = where(first, 0.0, given["broken"]), list(given["stages"]), len(self.pair.errors)
        errors = [where(first, 0.0, error) for error in given["errors"]]
        for now in np.split(given["row"], self.at_once):
            total = now[1] * K1
            for weight, stage in zip(now[2 : s + 1], stages, strict=False):
                total = total + weight * stage
            rise = step * total
            v_new, w_new = v + rise[nv : 2 * nv], [x + rise[2 * nv :] for x in w]
            at = self._evaluate(robot, t + now[0] * step, q, rise[:nv], v_new, **held)
            fine = np.sum(np.abs(at["rate"])) < HUGE
            k = where(fine, at["rate"], 0.0)  # a NaN would stay among the stages, for zero times NaN is NaN
            broken = where(fine, broken, 1.0)
            stages = [k, *stages[:-1]]
            for i in range(count):
                own, new = now[s + 1 + i], now[s + 1 + count + i]
                errors[i] = errors[i] + own * K1[: 2 * nv] + new * k[: 2 * nv]
        sizes = np.maximum(
            concat([magnitudes(robot, q), absolute(v)]), concat([magnitudes(robot, at["q"]), absolute(v_new)])
        )
        error = step * _error_norm(errors, given["atol"] + given["rtol"] * sizes)
        good = (error < 1.0) & (broken < 0.5)
        best = SAFETY * _inverse_root(error, self.pair.estimator_order + 1)
        grown = where(error > 0.0, np.minimum(MOST, best), MOST)
        grown = step * where(given["retried"] > 0.5, np.minimum(1.0, grown), grown)
        grown = where(reaches, np.maximum(grown, tried), grown)  # the end of the interval says nothing of the accuracy
        shrunk = step * where((error >= 1.0) & (broken < 0.5), np.maximum(LEAST, best), LEAST)
        ended = where(at["guard"] >= 0.0, where(reaches, ARRIVED, RUNNING), FIRED)
        failed = where(shrunk < shortest, where(broken > 0.5, NOT_FINITE, STEP_TOO_SMALL), RUNNING)
        at_end = last & (given["status"] < 0.5)
        yes = at_end & good
        no = where(at_end, where(good, 0.0, 1.0), 0.0)
        state = {
            "t": where(yes, end, t),
            "h": where(at_end, where(good, grown, shrunk), h),
            "q": where(yes, at["q"], q),
            "v": where(yes, v_new, v),
            "a": where(yes, k[nv : 2 * nv], given["a"]),
            "stages": np.stack(stages),
            "errors": np.stack(errors),
            "retried": where(at_end, no, given["retried"]),
            "broken": broken,
            "status": where(at_end, where(good, ended, failed), given["status"]),
            "taken": given["taken"] + where(yes, 1.0, 0.0),
            "refused": given["refused"] + no,
        }
        if self.powers:
            state |= {"w": where(yes, w_new[0], w[0]), "p": where(yes, k[2 * nv :], p[0])}
        return {name: state[name] for name in STATE if name in state}


def magnitudes(robot: Robot, q: ConfigurationVector) -> JointVector:
    """Sizes (..., nv) of what increments of q add to: of the number itself, of a position's distance; 1 for rotations."""
    parts = []
    for c, kind in robot.structure.blocks:
        own = q[..., c.q]
        for j in range(kind.nv):
            moved = [i for i, by in enumerate(kind.moved_by) if j in by]
            if not moved:
                parts.append(1.0 + 0.0 * own[..., 0])
            else:
                parts.append(
                    absolute(own[..., moved[0]]) if len(moved) == 1 else sqrt(dot(own[..., moved], own[..., moved]))
                )
    return stack(parts)


def _error_norm(errors: list[Array], scale: Array) -> Array:
    """Root mean square of an error in its scale; of two estimates |e₅|² / √(|e₅|² + 0.01 |e₃|²) [HNW93, (II.10.17)]."""
    inverse = 1.0 / scale
    squares = [dot(e * inverse, e * inverse) for e in errors]
    size = float(scale.shape[-1])
    if len(squares) == 1:
        return sqrt(squares[0] / size)
    total = squares[0] + 0.01 * squares[1]
    return where(total > 0.0, squares[0] / sqrt(where(total > 0.0, total, 1.0) * size), total)


def _inverse_root(x: Array, n: int) -> Array:
    """x^(−1/n), and 1 where x is not positive."""
    x = where(x > 0.0, x, 1.0)
    return 1.0 / sqrt(sqrt(sqrt(x))) if n == 8 else x ** (-1.0 / n)


def _rms(x: Array) -> Array:
    return np.sqrt(np.mean(np.square(x), axis=-1))


def _chunk_length(expected: float, most: int) -> int:
    """How many steps to attempt at once where so many are expected: one of two lengths unless ``most`` is less."""
    return min(most, LONGEST_CHUNK if expected > LONGEST_CHUNK else SHORT_CHUNK)


def _prefixed(name: str) -> str:
    """A constant's name among those of the state; the very string that fast calls know it by."""
    return sys.intern(f"c_{name}")
