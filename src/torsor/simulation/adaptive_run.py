"""What an adaptive integration has found: where it ended and why, and the motion between the ends of its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from torsor._once import once
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
        for name, x in state.items():
            x[self.trajectories] = self.after[name][-1] if one else self.after[name][:, -1]


class Steps(NamedTuple):
    """S accepted steps, those of each trajectory one after the other.

    ``trajectory`` (S,) numbers; ``t`` (S,) and ``h`` (S,) start and length, s; at the start ``q`` (S, nq), ``v`` (S, nv), ``a``
    (S, nv), ``w`` (S, k) and its rate ``p`` (S, k).
    """

    trajectory: Array
    t: Array
    h: Array
    q: Array
    v: Array
    a: Array
    w: Array
    p: Array


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
        self._flow, self._batch, self._held = flow, batch, held
        self._chunks = chunks
        self._last = {"w": np.zeros((len(evaluations), 0)), **state}
        self.dense_evaluations = 0
        self.t, self.q, self.v, self.a, self.w, self.h = (
            self._last[name].reshape((*batch, *self._last[name].shape[1:])) for name in ("t", "q", "v", "a", "w", "h")
        )
        counts = (self._last[name].astype(int).reshape(batch) for name in ("status", "taken", "refused"))
        self.status, self.accepted, self.rejected = counts
        self.evaluations = evaluations.reshape(batch)

    @once
    def steps(self) -> Steps:
        """The accepted steps."""
        if len(self._last["t"]) == 1 and self._chunks:
            return self._steps_of_one
        which = np.concatenate([which for which, _ in self._taken]) if self._taken else np.zeros(0, int)
        t, q, v, a = (self._of_steps(name) for name in ("t", "q", "v", "a"))
        none = np.zeros((len(t), 0))
        w, p = (self._of_steps("w"), self._of_steps("p")) if self._flow.powers else (none, none)
        made = Steps(which, t, self._of_steps("t", after=True) - t, q, v, a, w, p)
        return made if self._order is None else Steps(*(column[self._order] for column in made))

    @property
    def _steps_of_one(self) -> Steps:
        """The same of one trajectory: a step that is refused changes no state, so each begins where the last one ended."""

        def states(name: str) -> Array:
            before = np.asarray(self._chunks[0].before[name])
            return np.concatenate([before[None], *(chunk.after[name] for chunk in self._chunks)])

        counts, names = states("taken"), ("t", "q", "v", "a", *(("w", "p") if self._flow.powers else ()))
        kept = np.append(0, 1 + (counts[1:] > counts[:-1]).nonzero()[0])
        rows, count = {name: states(name)[kept] for name in names}, len(kept) - 1
        none, t = np.zeros((count, 0)), rows["t"]
        q, v, a = (rows[name][:-1] for name in ("q", "v", "a"))
        w, p = (rows[name][:-1] if name in rows else none for name in ("w", "p"))
        return Steps(np.zeros(count, int), t[:-1], t[1:] - t[:-1], q, v, a, w, p)

    def _of_steps(self, name: str, after: bool = False) -> Array:
        """A field of the state before or after each accepted step, in the order of the chunks."""
        parts = []
        for chunk, (_, places) in zip(self._chunks, self._taken, strict=True):
            given = chunk.after[name]
            size = given.shape[(1 if len(chunk.trajectories) == 1 else 2) :]
            rows = given.reshape(len(chunk.trajectories), -1, *size)
            if not after:
                before = np.asarray(chunk.before[name]).reshape(len(rows), 1, *size)
                rows = np.concatenate([before, rows[:, :-1]], axis=1)
            parts.append(rows.reshape(-1, *size)[places])
        return np.concatenate(parts) if parts else self._last[name][:0]

    @once
    def _taken(self) -> list[tuple[Array, Array]]:
        """Of each chunk the accepted attempts: whose they are, and their places among all attempts, one trajectory after the
        other.
        """
        found = []
        for chunk in self._chunks:
            n = len(chunk.trajectories)
            counts = chunk.after["taken"].reshape(n, -1)
            more = np.empty(counts.shape, bool)
            more[:, 0] = counts[:, 0] > chunk.before["taken"]
            more[:, 1:] = counts[:, 1:] > counts[:, :-1]
            places = more.reshape(-1).nonzero()[0]
            found.append((chunk.trajectories[places // counts.shape[1]], places))
        return found

    @once
    def _order(self) -> Array | None:
        """What puts the accepted steps of the chunks in order; None if they are."""
        if len(self._last["t"]) == 1 or not self._taken:
            return None
        return np.argsort(np.concatenate([which for which, _ in self._taken]), kind="stable")

    @once
    def _stages(self) -> Array:
        """Rates (S, s + 1, 2 nv + k) of (u, v, w) at the stages of each accepted step, for states between its ends."""
        steps, rest = self.steps, self._of_steps("stages", after=True)[:, ::-1]
        first = np.concatenate([steps.v, steps.a, steps.p], axis=-1)[:, None]
        return np.concatenate([first, rest if self._order is None else rest[self._order]], axis=1)

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

    @once
    def _first(self) -> Array:
        return np.searchsorted(self.steps.trajectory, np.arange(len(self._last["t"]) + 1))

    def _polynomials(self, index: Array) -> Array:
        """Coefficients (K, d, m) of the polynomials of steps (K,); each is computed once."""
        known, coefficients = self._known
        if (missing := np.unique(index[~known[index]])).size:
            pair, steps = self._flow.pair, self.steps
            h, nv = steps.h[missing], self._flow.robot.nv
            K, held = self._stages[missing], {name: x[steps.trajectory[missing]] for name, x in self._held.items()}
            for c, row in zip(pair.c_extra, pair.A_extra, strict=True):
                rise = h[:, None] * weighted(row[: K.shape[1]], K)
                v = steps.v[missing] + rise[:, nv : 2 * nv]
                new = self._flow.point(steps.t[missing] + c * h, steps.q[missing], rise[:, :nv], v, held)["rate"]
                K = np.concatenate([K, new[:, None]], axis=1)
                self.dense_evaluations += len(missing)
            coefficients[missing] = pair.polynomial(h, K)
            known[missing] = True
        return coefficients[index]

    @once
    def _known(self) -> tuple[Array, Array]:
        steps, pair = self.steps, self._flow.pair
        return np.zeros(len(steps.t), bool), np.empty(
            (len(steps.t), 3 + len(pair.D), 2 * self._flow.robot.nv + self._flow.powers)
        )
