"""Differential dynamic programming for a batch of problems: a descent to a motion from which no small change is cheaper.

Each turn looks at all steps of the motions at once, goes backward through their quadratic models (`riccati`), and forward along
the feedback found, with the whole change of the forces or less of it [JM70; TMT14]::

    1  first derivatives at all steps; the gradient p by each state, backward        `Models.expanded`
    2  second derivatives at all steps, those of the dynamics weighted by p          `Models.curved` [Pan88; DB89]
    3  k and K, backward; where a model has no minimum, without the second           `Models.feedback`
       derivatives of the dynamics, then with a regularisation that grows
    4  τ + α k + K x, forward, with the largest α = 1, ½, ¼, … that pays: at least 10⁻⁴ of what the model promises

Weighted by p the second derivatives are those of Newton's method for all forces at once, and are known at all steps before the
recursion begins. Where a motion is begun with gaps between its steps, α of each is closed in a turn [GNSFB18], and what is left
open counts, times a weight that grows with p, beside the cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.control.optimal_feedback.models import every, some
from torsor.control.optimal_feedback.programs import Programs
from torsor.functions.public.kinematics import difference
from torsor.model import Robot

ENOUGH = 1e-4  # of the decrease that the model promises
SHORTER = 2.0 ** -np.arange(1, 17)  # lengths that are tried together when the whole step does not pay
SMALLEST, LARGEST = 1e-6, 1e16  # regularisation, in the scale of a problem's own Q_uu
GROWTH, FASTEST = 4.0, 64.0  # of the factor by which it changes, as long as it goes on in one direction [TET12]

ROUNDING = 4.0 * np.finfo(float).eps  # of a cost
NONE = np.zeros(1)  # gaps of motions that have none
RESULTS = ("feed", "gains", "p", "first", "second", "held")  # of a model

WAITING, CONVERGED, ROUNDED, STUCK = range(4)
WORDS = {
    WAITING: "all iterations were taken",
    CONVERGED: "converged",
    ROUNDED: "converged as far as rounding lets the cost be compared",
    STUCK: "no step pays, however short",
}


@dataclass(eq=False)
class Motions:
    """The motions of P problems, and what is known of each.

    ``q`` (P, N + 1, nq), ``v`` (P, N + 1, nv), ``tau`` (P, N, nv), ``gap`` (P, N, 2 nv), ``gains`` (P, N, nv, 2 nv); by problem
    (P,) the cost, the size of the gradient by the forces (per second of time), turns taken, why it ended, and whether limits hold
    forces in its last model. ``end`` has value and derivatives of the final cost.
    """

    q: Array
    v: Array
    tau: Array
    gap: Array
    cost: Array
    gains: Array
    gradient: Array
    turns: Array
    status: Array
    held: Array
    end: dict[str, Array]
    history: list[Array] = field(default_factory=list)
    interrupted: bool = False
    has_gaps: bool = False
    going_to: Going | None = None

    def arrive(self) -> None:
        """Be where `going_to` says, also if Ctrl-C has cut that off halfway."""
        if self.going_to is None:
            return
        on, run, gap, turns = self.going_to
        self.q[on, 1:], self.v[on, 1:] = run.q, run.v
        if isinstance(on, slice):
            self.tau, self.cost, self.end = run.tau, run.cost, run.end
        else:
            self.tau[on], self.cost[on] = run.tau, run.cost
            for name, x in run.end.items():
                self.end[name][on] = x
        self.gap[on], self.turns[on] = gap, turns
        self.going_to = None


class Going(NamedTuple):
    """Some problems (an index), the motions that they go to, and their gaps and turns then."""

    on: Any
    run: Rolled
    gap: Array
    turns: Array


@dataclass(eq=False)
class Trust:
    """How far the models are believed: regularisations ``mu``, by what the next one grows, and what of the dynamics' second
    derivatives counts, 1 or 0; each (P,).
    """

    mu: Array
    growth: Array
    curved: Array
    is_whole: bool = True  # nothing was lowered yet, or all of it is believed again

    def lower(self, which: Array) -> Array:
        """Believe some less: without the second derivatives, then with μ that grows faster each time. Gives those given up."""
        self.is_whole = False
        plain = which[self.curved[which] == 0.0]
        self.curved[which] = 0.0
        self.growth[plain] = np.minimum(np.maximum(1.0, self.growth[plain]) * GROWTH, FASTEST)
        self.mu[plain] = np.maximum(self.growth[plain] * self.mu[plain], SMALLEST)
        return plain[self.mu[plain] > LARGEST]

    def higher(self, which: Array, second_order: bool) -> None:
        """For problems whose last step paid: less regularisation, and second derivatives again if they are asked for."""
        if self.is_whole:
            return
        self.growth[which] = np.maximum(np.minimum(1.0, self.growth[which]) / GROWTH, 1.0 / FASTEST)
        self.mu[which] *= self.growth[which]
        self.mu[self.mu < SMALLEST] = 0.0
        self.curved[which] = float(second_order)
        self.is_whole = not self.mu.any() and bool((self.curved == float(second_order)).all())


class Rolled(NamedTuple):
    """Motions (K, …) along a feedback: q, v after each step, forces, costs (K,), and the final cost with its derivatives."""

    q: Array
    v: Array
    tau: Array
    cost: Array
    end: dict[str, Array]

    def of(self, which: Any) -> Rolled:
        """The motions of some of the problems."""
        q, v, tau, cost = (x[which] for x in (self.q, self.v, self.tau, self.cost))
        return Rolled(q, v, tau, cost, _of(self.end, which))


class Judge(NamedTuple):
    """Which steps pay; by problem the cost before, the sum of open gaps with its weight, and what the model promises."""

    cost: Array
    gaps: Array
    weight: Array
    first: Array
    second: Array

    def of(self, which: Any) -> Judge:
        """That of some problems, or of one."""
        return Judge(*(x if x is NONE else x[which] for x in self))

    def pays(self, cost: Array, length: Any) -> Array:
        """Whether steps of some lengths, which lead to these costs, are at least `ENOUGH` of what the model promises."""
        model, change = self.first + (0.5 * length) * self.second, cost - self.cost
        rounding = ROUNDING * np.abs(self.cost)
        if self.gaps is not NONE:
            closed = self.weight * self.gaps
            model, change, rounding = model - closed, change - length * closed, (self.gaps == 0.0) * rounding
        enough = change <= (ENOUGH * length) * np.minimum(model, 0.0) + rounding
        return enough & (cost > -np.inf)


@dataclass(eq=False)
class Solver:
    """The descent. ``lower`` and ``upper`` (nv,) are limits of the forces, infinite where there are none."""

    robot: Robot
    programs: Programs
    h: float
    time: Array
    lower: Array
    upper: Array
    second_order: bool
    tolerance: float
    _tiled: Array = field(default_factory=lambda: np.zeros((0, 1)))

    def begin(self, q0: Array, v0: Array, tau: Array) -> Motions:
        """The motions (P, …) of forces (P, N, nv) from states, without gaps."""
        P, N, nv = tau.shape
        gap, gains = np.zeros((P, N, 2 * nv)), np.zeros((P, N, nv, 2 * nv))
        q_bar, v_bar = np.repeat(q0[:, None], N, axis=1), np.repeat(v0[:, None], N, axis=1)
        run = self._rolled(q0, v0, q_bar, v_bar, tau, np.zeros_like(tau), gains, gap, 1.0)
        q = np.concatenate([q0[:, None], run.q], axis=1)
        v = np.concatenate([v0[:, None], run.v], axis=1)
        return self._motions(q, v, run.tau, run.cost, gap, gains, run.end)

    def begin_at(self, q: Array, v: Array, tau: Array) -> Motions:
        """The motions through states (P, N + 1, …), with a gap after each step."""
        P, N, nv = tau.shape
        given = {"q": q[:, :-1], "v": v[:, :-1], "cost": 0.0}
        bars = {
            "q_bar": q[:, :-1, None],
            "v_bar": v[:, :-1, None],
            "tau_bar": tau[:, :, None],
            "t": self.time[:N, None],
        }
        none = {"feed": np.zeros((1, nv)), "gains": np.zeros((1, nv, 2 * nv)), "gap": np.zeros((1, 2 * nv))}
        one = self.programs.rollout(steps=1, length=1.0, **given, **bars, **none, **self._held)
        q_gap = difference(self.robot, q[:, 1:], one["q"][:, :, 0])
        gap = np.concatenate([q_gap, one["v"][:, :, 0] - v[:, 1:]], axis=-1)
        end = self.programs.final(q[:, -1], v[:, -1])
        cost = one["cost"][..., 0].sum(axis=-1) + end["value"]
        motions = self._motions(q, v, one["tau"][:, :, 0], cost, gap, np.zeros((P, N, nv, 2 * nv)), end)
        motions.has_gaps = bool(gap.any())
        return motions

    def _motions(
        self, q: Array, v: Array, tau: Array, cost: Array, gap: Array, gains: Array, end: dict[str, Array]
    ) -> Motions:
        P = len(q)
        zero = np.zeros(P, int)
        return Motions(
            q, v, tau, gap, cost, gains, np.full(P, np.nan), zero, zero.copy(), np.zeros(P, bool), end, [cost.copy()]
        )

    def descend(self, motions: Motions, most: int, tell: Callable[[int], Any]) -> None:
        """At most ``most`` turns; Ctrl-C ends it where it is."""
        P = len(motions.q)
        trust = Trust(np.zeros(P), np.ones(P), np.full(P, float(self.second_order)))
        try:
            for turn in range(most):
                going = np.flatnonzero(motions.status == WAITING)
                if not len(going):
                    break
                self._turn(motions, going, trust)
                motions.history.append(motions.cost.copy())
                tell(turn + 1)
        except KeyboardInterrupt:
            motions.arrive()
            motions.interrupted = True

    def _turn(self, m: Motions, which: Array, trust: Trust) -> None:
        found = self.models(m, which, trust)
        on = _all_or(which, len(m.q))  # no copies where all are meant
        first, second, sound = found["first"][:, 0], found["second"][:, 0], found["sound"]
        m.gradient[on] = found["gradient"]
        if isinstance(on, slice):
            m.gains = found["gains"]
        else:
            m.gains[on] = found["gains"]
        open_gaps = np.abs(m.gap[on]).sum(axis=(-2, -1)) if m.has_gaps else NONE
        promised, cost = -(first + 0.5 * second), m.cost[on]
        ready = promised <= self.tolerance**2 * np.abs(cost) + 1e-300
        todo = np.arange(len(which))
        if not every(sound) or some(ready):
            done = sound & ready & (open_gaps <= 1e-9)
            m.status[which[~sound]] = STUCK
            m.status[which[done]] = CONVERGED
            todo = np.flatnonzero(sound & ~done)
        weight = 2.0 * np.abs(found["p"]).max(axis=(-2, -1)) if m.has_gaps else NONE
        judge = Judge(cost, open_gaps, weight, first, second)
        todo = self._whole_steps(m, which, todo, found["feed"], judge, trust) if len(todo) else todo
        left = [k for k in todo if not self._shorter_step(m, int(which[k]), found["feed"][k], judge.of(k), trust)]
        if left:  # no length pays: the model is no good this far
            rounded = promised[left] <= 1e-12 * (1.0 + np.abs(cost[left]))
            m.status[which[left][rounded]] = ROUNDED
            m.status[trust.lower(which[left][~rounded])] = STUCK

    def _whole_steps(self, m: Motions, which: Array, todo: Array, feed: Array, judge: Judge, trust: Trust) -> Array:
        """Take the whole change where it pays; the problems where it does not."""
        here = which[todo]
        on, rows = _all_or(here, len(m.q)), _all_or(todo, len(which))
        q, v, N = m.q[on], m.v[on], m.tau.shape[1]
        run = self._rolled(q[:, 0], v[:, 0], q[:, :N], v[:, :N], m.tau[on], feed[rows], m.gains[on], m.gap[on], 1.0)
        pays = (judge if len(todo) == len(which) else judge.of(rows)).pays(run.cost, 1.0)
        if every(pays):
            self._take(m, here, run, 1.0)
            trust.higher(here, self.second_order)
            return todo[:0]
        self._take(m, here[pays], run.of(pays), 1.0)
        trust.higher(here[pays], self.second_order)
        return todo[~pays]

    def _shorter_step(self, m: Motions, k: int, feed: Array, judge: Judge, trust: Trust) -> bool:
        """Take the longest part of the change that pays, if any does."""
        N = m.tau.shape[1]
        run = self._rolled(m.q[k, 0], m.v[k, 0], m.q[k, :N], m.v[k, :N], m.tau[k], feed, m.gains[k], m.gap[k], SHORTER)
        pays = judge.pays(run.cost, SHORTER)
        if not pays.any():
            return False
        best, one = int(np.argmax(pays)), np.array([k])
        self._take(m, one, run.of(slice(best, best + 1)), SHORTER[best])
        if SHORTER[best] > 0.4:
            trust.higher(one, self.second_order)
        elif SHORTER[best] < 0.2:
            trust.lower(one)
        return True

    def _take(self, m: Motions, which: Array, run: Rolled, length: float) -> None:
        """Go where trials lead, with one length for all of them."""
        on = _all_or(which, len(m.q))
        gap = m.gap[on] * (1.0 - length) if m.has_gaps else m.gap[on]
        m.going_to = Going(on, run, gap, m.turns[on] + 1)
        m.arrive()

    def models(self, m: Motions, which: Array, trust: Trust) -> dict[str, Array]:
        """The feedback of quadratic models that have a minimum."""
        models, P, N = self.programs.models, len(which), m.tau.shape[1]
        on = _all_or(which, len(m.q))
        x = {"q": m.q[on, :N], "v": m.v[on, :N], "tau": m.tau[on], "t": self._times(P), "h": self.h}
        end, held = (m.end if len(which) == len(m.q) else _of(m.end, on)), m.held[on]
        gaps, limits = m.gap[on] if m.has_gaps else None, (self.lower, self.upper)
        near = models.expanded(x, end, self.lower, self.upper)
        found, todo = dict[str, Array](), np.arange(P)
        while len(todo):
            all_of_them, now = len(todo) == P, which[todo]
            x_now, near_now, end_now = (x, near, end) if all_of_them else (_of(group, todo) for group in (x, near, end))
            near_now = near_now | models.curved(x_now, near_now, _common(trust.curved[now], N))
            mu = trust.mu[now]
            if some(mu):
                mu = mu * models.scale(near_now, self.h)
            part = _all_or(todo, P)
            made = models.feedback(
                x_now, near_now, end_now, gaps if gaps is None else gaps[part], mu, held[part], limits
            )
            sound = (made["least"][:, 0] > 0.0) & (np.abs(made["first"][:, 0]) < np.inf)
            if not found:
                found = {name: made[name] for name in RESULTS} | {"sound": sound}
            else:
                for name in RESULTS:
                    found[name][todo] = made[name]
                found["sound"][todo] = sound
            if every(sound):
                break
            todo = todo[~sound]
            given_up = trust.lower(which[todo])
            todo = todo[~np.isin(which[todo], given_up)] if len(given_up) else todo
        m.held[on] = found["held"]
        found["gradient"] = near["steepest"][:, 0] / self.h
        return found

    def _times(self, many: int) -> Array:
        """The times at which steps begin, as often as there are problems: calls of equal shapes go straight to machine code."""
        if len(self._tiled) != many:
            self._tiled = np.repeat(self.time[None, :-1], many, axis=0)
        return self._tiled

    @property
    def _held(self) -> dict[str, Any]:
        return {"lower": self.lower, "upper": self.upper, "h": self.h}

    def _rolled(
        self, q0: Array, v0: Array, q: Array, v: Array, tau: Array, feed: Array, gains: Array, gap: Array, length: Any
    ) -> Rolled:
        """The motions along the feedback: of several problems by one length, or of one by several."""
        N = tau.shape[-2]
        t = self.time[:N] if tau.ndim == 2 else self._times(len(tau))
        run = self.programs.rollout(
            steps=N, q=q0, v=v0, cost=0.0, q_bar=q, v_bar=v, tau_bar=tau, feed=feed, gains=gains, gap=gap, t=t, length=length,
            **self._held,
        )  # fmt: skip
        end = self.programs.final(run["q"][:, -1], run["v"][:, -1])
        return Rolled(run["q"], run["v"], run["tau"], run["cost"][:, -1] + end["value"], end)


def _all_or(which: Array, many: int) -> Any:
    """These of so many problems, as an index; without a copy if they are all."""
    return slice(None) if len(which) == many else which


def _of(group: dict[str, Any], which: Any) -> dict[str, Any]:
    """Of arrays with an axis of problems, those of some problems; numbers are for all."""
    return {name: x[which] if isinstance(x, np.ndarray) else x for name, x in group.items()}


def _common(x: Array, steps: int) -> Any:
    """A number for each problem (P,), as one for all of them or one for each step."""
    return float(x[0]) if len(x) == 1 or (x == x[0]).all() else np.repeat(x[:, None], steps, axis=1)
