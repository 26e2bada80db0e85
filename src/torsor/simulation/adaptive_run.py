"""What an adaptive integration has found: where it ended and why, and the motion between the ends of its steps."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.simulation.embedded_pair import weighted

if TYPE_CHECKING:
    from torsor.simulation.adaptive import AdaptiveFlow

RUNNING, ARRIVED, FIRED, STEP_TOO_SMALL, NOT_FINITE, TOO_MANY_STEPS, INTERRUPTED = map(float, range(7))
STATUS = ("running", "arrived", "fired", "step too small", "not finite", "too many steps", "interrupted")
"""Words for the numbers of `AdaptiveRun.status`."""


class Chunk(NamedTuple):
    """Some attempted steps: of which trajectories (n,), the states before, and after each ([n,] attempts, ...)."""

    trajectories: Array
    before: dict[str, Array]
    after: dict[str, Array]

    def write_last(self, state: dict[str, Array]) -> None:
        """Write the states after the last attempt into those of all trajectories."""
        one = len(self.trajectories) == 1
        for name, x in self.after.items():
            state[name][self.trajectories] = x[-1] if one else x[:, -1]


class Steps(NamedTuple):
    """S accepted steps, those of each trajectory one after the other.

    ``trajectory`` (S,) numbers; ``t`` (S,) and ``h`` (S,) start and length, s; at the start ``q`` (S, nq), ``v`` (S, nv) and
    ``w`` (S, k); ``stages`` (S, s + 1, 2 nv + k) rates of (u, v, w).
    """

    trajectory: Array
    t: Array
    h: Array
    q: Array
    v: Array
    w: Array
    stages: Array


class Sample(NamedTuple):
    """State at K times: q (K, nq), v (K, nv), a (K, nv), w (K, k), and the guard (K,)."""

    q: Array
    v: Array
    a: Array
    w: Array
    guard: Array


class AdaptiveRun:
    """Result of `AdaptiveFlow.run`. Arrays have the batch axes of the call first.

    Attributes
    ----------
    t, q, v, a, w : arrays
        Where it ended.
    h : (...) array
        Length of the step to go on with, s.
    status : (...) array of int
        ARRIVED, FIRED, STEP_TOO_SMALL (stiff, or singular), NOT_FINITE, TOO_MANY_STEPS, or INTERRUPTED by Ctrl-C: `STATUS`
        has the words.
    interrupted : bool
        Whether Ctrl-C ended it, or came just when it ended.
    evaluations, accepted, rejected : (...) arrays of int
        Evaluations of the right-hand side, without those for states between the ends of steps; steps accepted and refused.
    """

    def __init__(
        self,
        flow: AdaptiveFlow,
        batch: tuple[int, ...],
        state: dict[str, Array],
        held: dict[str, Array],
        chunks: list[Chunk],
        evaluations: Array,
        interrupted: bool = False,
    ) -> None:
        self.interrupted = interrupted
        self._flow, self._batch, self._held, self._chunks = flow, batch, held, chunks
        self._last = {"w": np.zeros((len(evaluations), 0)), **state}
        self.dense_evaluations = 0
        self.t, self.q, self.v, self.a, self.w, self.h = (
            self._last[name].reshape((*batch, *self._last[name].shape[1:])) for name in ("t", "q", "v", "a", "w", "h")
        )
        counts = (self._last[name].astype(int).reshape(batch) for name in ("status", "taken", "refused"))
        self.status, self.accepted, self.rejected = counts
        self.evaluations = evaluations.reshape(batch)

    @cached_property
    def steps(self) -> Steps:
        """The accepted steps."""
        flow, parts = self._flow, []
        for chunk in self._chunks:
            one = len(chunk.trajectories) == 1
            before = {name: np.asarray(x)[None] if one else x for name, x in chunk.before.items()}
            after = {name: x[None] if one else x for name, x in chunk.after.items()}
            taken = np.diff(after["taken"], axis=1, prepend=before["taken"][:, None]) > 0.5

            def starts(name: str, before: Any = before, after: Any = after, taken: Any = taken) -> Array:
                return np.concatenate([before[name][:, None], after[name][:, :-1]], axis=1)[taken]

            k = np.zeros((int(taken.sum()), 0))
            w, p = (starts("w"), starts("p")) if flow.powers else (k, k)
            first = np.concatenate([starts("v"), starts("a"), p], axis=-1)[:, None]
            stages = np.concatenate([first, after["stages"][taken][:, ::-1]], axis=1)
            t = starts("t")
            which = np.broadcast_to(chunk.trajectories[:, None], taken.shape)[taken]
            parts.append(Steps(which, t, after["t"][taken] - t, starts("q"), starts("v"), w, stages))
        if not parts:
            nq, nv, m = flow.robot.nq, flow.robot.nv, 2 * flow.robot.nv + flow.powers
            shapes = ((), (), (), (nq,), (nv,), (flow.powers,), (flow.pair.stages + 1, m))
            return Steps(*(np.zeros((0, *shape), int if i == 0 else float) for i, shape in enumerate(shapes)))
        joined = Steps(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        order = np.argsort(joined.trajectory, kind="stable")
        return Steps(*(column[order] for column in joined))

    def sample(self, times: Array, trajectory: Array = 0) -> Sample:
        """The state at ``times`` (K,) within what was integrated.

        ``trajectory`` is the number of one in the flattened batch, or has one for each time. Steps met for the first time
        take three evaluations more with the pair "853" and none with "54"; each time takes one, of the acceleration.
        """
        times = np.atleast_1d(np.asarray(times, float))
        which = np.broadcast_to(np.asarray(trajectory, int), times.shape)
        nv, steps = self._flow.robot.nv, self.steps
        index = self._step_at(which, times)
        rise = np.zeros((len(times), 2 * nv + self._flow.powers))
        q, v, w = self._last["q"][which], self._last["v"][which], self._last["w"][which]
        there = index >= 0  # not of trajectories without a step
        if there.any():
            found = index[there]
            q[there], v[there], w[there] = steps.q[found], steps.v[found], steps.w[found]
            x = (times[there] - steps.t[found]) / steps.h[found]
            rise[there] = self._flow.pair.between(self._polynomials(found), x)
        v = v + rise[:, nv : 2 * nv]
        held = {name: x[which] for name, x in self._held.items()}
        at = self._flow.point(times, q, rise[:, :nv], v, held)
        return Sample(at["q"], v, at["a"], w + rise[:, 2 * nv :], at["guard"])

    def _step_at(self, which: Array, times: Array) -> Array:
        """The step (K,) that each time lies in; −1 where there is none."""
        starts = self._first
        index = np.full(times.shape, -1)
        for b in np.unique(which):
            first, last = starts[b], starts[b + 1]
            if last > first:
                mine = which == b
                place = first - 1 + np.searchsorted(self.steps.t[first:last], times[mine], side="right")
                index[mine] = np.clip(place, first, last - 1)
        return index

    @cached_property
    def _first(self) -> Array:
        return np.searchsorted(self.steps.trajectory, np.arange(len(self._last["t"]) + 1))

    def _polynomials(self, index: Array) -> Array:
        """Coefficients (K, d, m) of the polynomials of steps (K,); each is computed once."""
        known, coefficients = self._known
        if (missing := np.unique(index[~known[index]])).size:
            pair, steps = self._flow.pair, self.steps
            h, nv = steps.h[missing], self._flow.robot.nv
            K, held = steps.stages[missing], {name: x[steps.trajectory[missing]] for name, x in self._held.items()}
            for c, row in zip(pair.c_extra, pair.A_extra, strict=True):
                rise = h[:, None] * weighted(row[: K.shape[1]], K)
                v = steps.v[missing] + rise[:, nv : 2 * nv]
                new = self._flow.point(steps.t[missing] + c * h, steps.q[missing], rise[:, :nv], v, held)["rate"]
                K = np.concatenate([K, new[:, None]], axis=1)
                self.dense_evaluations += len(missing)
            coefficients[missing] = pair.polynomial(h, K)
            known[missing] = True
        return coefficients[index]

    @cached_property
    def _known(self) -> tuple[Array, Array]:
        steps, pair = self.steps, self._flow.pair
        return np.zeros(len(steps.t), bool), np.empty((len(steps.t), 3 + len(pair.D), steps.stages.shape[2]))
