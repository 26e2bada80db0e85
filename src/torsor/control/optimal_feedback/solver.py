"""Differential dynamic programming for a batch of problems: a descent to a motion from which no small change is cheaper.

Each turn looks at all steps of the motions at once, goes backward through their quadratic models (`riccati`), and forward along
the feedback found, with the whole change of the forces or less of it [JM70; TMT14]::

    1  F, l at all steps;  the gradient p by each state, backward           `Programs.first`, `Programs.costate`
    2  L at all steps, with the second derivatives of the dynamics weighted by p [Pan88; DB89]
    3  k and K, backward; where a model has no minimum, without the second derivatives of the dynamics, then with a
       regularisation that grows tenfold
    4  τ + α k + K x, forward, with the largest α = 1, ½, ¼, … that pays: at least 10⁻⁴ of what the model promises

Weighted by p the second derivatives are those of Newton's method for all forces at once, and are known at all steps before the
recursion begins. Where a motion is begun with gaps between its steps, α of each is closed in a turn [GNSFB18], and what is left
open counts, times a weight that grows with p, beside the cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.control.optimal_feedback.programs import Programs, start_of_riccati
from torsor.functions.public.kinematics import difference
from torsor.model import Robot

ENOUGH = 1e-4  # of the decrease that the model promises
SHORTER = 2.0 ** -np.arange(1, 17)  # lengths that are tried together when the whole step does not pay
SMALLEST, LARGEST = 1e-6, 1e16  # regularisation, in the scale of a problem's own Q_uu
GROWTH, FASTEST = 4.0, 64.0  # of the factor by which it changes, as long as it goes on in one direction [TET12]

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
    (P,) the cost, the size of the gradient by the forces (per second of time), turns taken, and why it ended.
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
    history: list[Array] = field(default_factory=list)
    interrupted: bool = False


@dataclass(eq=False)
class Trust:
    """How far the models are believed: regularisations ``mu``, by what the next one grows, and what of the dynamics' second
    derivatives counts, 1 or 0; each (P,).
    """

    mu: Array
    growth: Array
    curved: Array

    def lower(self, which: Array) -> Array:
        """Believe some less: without the second derivatives, then with μ that grows faster each time. Gives those given up."""
        plain = which[self.curved[which] == 0.0]
        self.curved[which] = 0.0
        self.growth[plain] = np.minimum(np.maximum(1.0, self.growth[plain]) * GROWTH, FASTEST)
        self.mu[plain] = np.maximum(self.growth[plain] * self.mu[plain], SMALLEST)
        return plain[self.mu[plain] > LARGEST]

    def higher(self, which: Array, second_order: bool) -> None:
        """Believe some more."""
        self.growth[which] = np.maximum(np.minimum(1.0, self.growth[which]) / GROWTH, 1.0 / FASTEST)
        self.mu[which] *= self.growth[which]
        self.mu[which[self.mu[which] < SMALLEST]] = 0.0
        self.curved[which] = float(second_order)


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

    def begin(self, q0: Array, v0: Array, tau: Array) -> Motions:
        """The motions (P, …) of forces (P, N, nv) from states, without gaps."""
        P, N, nv = tau.shape
        gap, gains = np.zeros((P, N, 2 * nv)), np.zeros((P, N, nv, 2 * nv))
        q_bar, v_bar = np.repeat(q0[:, None], N, axis=1), np.repeat(v0[:, None], N, axis=1)
        q, v, tau, cost = self._rollout(q0, v0, q_bar, v_bar, tau, np.zeros_like(tau), gains, gap, 1.0)
        return self._motions(q, v, tau, cost, gap, gains)

    def begin_at(self, q: Array, v: Array, tau: Array) -> Motions:
        """Motions through given states (P, N + 1, …), with gaps where the forces do not lead from one to the next."""
        P, N, nv = tau.shape
        given = {"q": q[:, :-1], "v": v[:, :-1], "cost": np.zeros((P, N))}
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
        cost = one["cost"][..., 0].sum(axis=-1) + self.programs.final(q[:, -1], v[:, -1])["value"]
        return self._motions(q, v, one["tau"][:, :, 0], cost, gap, np.zeros((P, N, nv, 2 * nv)))

    def _motions(self, q: Array, v: Array, tau: Array, cost: Array, gap: Array, gains: Array) -> Motions:
        P = len(q)
        zero = np.zeros(P, int)
        return Motions(q, v, tau, gap, cost, gains, np.full(P, np.nan), zero, zero.copy(), [cost.copy()])

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
            motions.interrupted = True

    def _turn(self, m: Motions, which: Array, trust: Trust) -> None:
        found = self.models(m, which, trust)
        first, second = found["first"][:, -1], found["second"][:, -1]
        open_gaps = np.abs(m.gap[which]).sum(axis=(-2, -1))
        m.gradient[which] = found["gradient"]
        m.gains[which] = found["gains"][:, ::-1]
        sound = found["sound"]
        m.status[which[~sound]] = STUCK
        promised = -(first + 0.5 * second)
        size = np.abs(m.cost[which])
        done = sound & (promised <= self.tolerance**2 * size + 1e-300) & (open_gaps <= 1e-9)
        m.status[which[done]] = CONVERGED
        more = np.flatnonzero(sound & ~done)
        if not len(more):
            return
        weight = 2.0 * np.abs(found["p"]).max(axis=(-2, -1)) if open_gaps.any() else np.zeros(len(which))
        feed = found["feed"][:, ::-1]
        todo, run = more, None
        for lengths in (np.ones(1), SHORTER):
            run = self._tried(m, which[todo], feed[todo], lengths)
            merit = run["cost"] + weight[todo, None] * (1.0 - lengths) * open_gaps[todo, None]
            before = m.cost[which[todo]] + weight[todo] * open_gaps[todo]
            model = lengths * first[todo, None] + 0.5 * lengths**2 * second[todo, None]
            model = model - lengths * (weight * open_gaps)[todo, None]
            rounding = 4.0 * np.finfo(float).eps * np.abs(before)[:, None]
            pays = merit - before[:, None] <= ENOUGH * np.minimum(model, 0.0) + rounding * (
                open_gaps[todo, None] == 0.0
            )
            best = np.argmax(pays, axis=-1)
            taken = pays[np.arange(len(todo)), best]
            self._take(m, which[todo[taken]], run, np.flatnonzero(taken), best[taken], lengths, trust)
            todo = todo[~taken]
            if not len(todo):
                return
        # No length pays: the model is no good this far
        left = which[todo]
        rounded = promised[todo] <= 1e-12 * (1.0 + size[todo])
        m.status[left[rounded]] = ROUNDED
        m.status[trust.lower(left[~rounded])] = STUCK

    def _take(
        self, m: Motions, which: Array, run: dict[str, Array], rows: Array, best: Array, lengths: Array, trust: Trust
    ) -> None:
        """Go where the trials ``rows`` with lengths ``best`` lead; trust the model more if the whole step was good."""
        m.q[which, 1:], m.v[which, 1:] = run["q"][rows, best], run["v"][rows, best]
        m.tau[which], m.cost[which] = run["tau"][rows, best], run["cost"][rows, best]
        m.gap[which] *= (1.0 - lengths[best])[:, None, None]
        m.turns[which] += 1
        trust.higher(which[lengths[best] > 0.4], self.second_order)
        trust.lower(which[lengths[best] < 0.2])

    def models(self, m: Motions, which: Array, trust: Trust) -> dict[str, Array]:
        """The feedback of quadratic models that have a minimum, with their steps backward in time."""
        programs, N = self.programs, m.tau.shape[1]
        q, v, tau, gap = (np.ascontiguousarray(x[which, :N][:, ::-1]) for x in (m.q, m.v, m.tau, m.gap))
        # As many of each as there are steps: calls of equal shapes go straight to the machine code
        t, h = np.tile(self.time[N - 1 :: -1], (len(which), 1)), np.full(tau.shape[:2], self.h)
        F, l = programs.first(q, v, tau, t, h).values()
        end = programs.final(m.q[which, N], m.v[which, N])
        costate = programs.costate(steps=N, p=end["gradient"], F=F, l=l)
        p = np.concatenate([end["gradient"][:, None], costate["p"][:, :-1]], axis=1)
        start = start_of_riccati(**end)
        found: dict[str, Array] = {}
        todo = np.arange(len(which))
        while len(todo):
            on = which[todo]
            some = slice(None) if len(todo) == len(which) else todo  # no copies where all are meant
            curved = np.repeat(trust.curved[on][:, None], N, axis=1)
            L = programs.second(q[some], v[some], tau[some], t[some], h[some], p[some], curved)
            scale = trust.mu[on] * self._scale(L, F[some])
            made = programs.riccati(
                steps=N, F=F[some], L=L, l=l[some], gap=gap[some], tau=tau[some], mu=scale,
                **{name: x[some] for name, x in start.items()}, **self._held,
            )  # fmt: skip
            sound = (made["least"][:, -1] > 0.0) & np.isfinite(made["first"][:, -1])
            if not found:
                found = made | {"sound": sound}
            else:
                for name, x in made.items():
                    found[name][todo] = x
                found["sound"][todo] = sound
            todo = todo[~sound]
            todo = todo[~np.isin(which[todo], trust.lower(which[todo]))]
        slope = costate["by_tau"]
        outwards = ((tau <= self.lower) & (slope > 0.0)) | ((tau >= self.upper) & (slope < 0.0))
        found["gradient"] = np.abs(np.where(outwards, 0.0, slope)).max(axis=(-2, -1), initial=0.0) / self.h
        return found

    def _scale(self, L: Array, F: Array) -> Array:
        """How large the costs' own Hessian by forces is, in the unit of the regularisation; (P,)."""
        n = L.shape[-1] // 3
        own = np.abs(np.trace(L[..., 2 * n :, 2 * n :], axis1=-2, axis2=-1)).max(axis=-1)
        inverse_mass = np.trace(F[..., n:, 2 * n :], axis1=-2, axis2=-1).max(axis=-1) / self.h
        return np.where(own > 0.0, own, self.h) / np.maximum(inverse_mass, 1e-300)

    @property
    def _held(self) -> dict[str, Any]:
        return {"lower": self.lower, "upper": self.upper, "h": self.h}

    def _tried(self, m: Motions, which: Array, feed: Array, lengths: Array) -> dict[str, Array]:
        """The motions (P, lengths, …) and their costs (P, lengths)."""
        N = m.tau.shape[1]
        q, v = m.q[which], m.v[which]
        bars = (
            q[:, None, :N],
            v[:, None, :N],
            m.tau[which, None],
            feed[:, None],
            m.gains[which, None],
            m.gap[which, None],
        )
        run = self._rollout(q[:, None, 0], v[:, None, 0], *bars, lengths)
        return {"q": run[0][:, :, 1:], "v": run[1][:, :, 1:], "tau": run[2], "cost": run[3]}

    def _rollout(
        self, q0: Array, v0: Array, q: Array, v: Array, tau: Array, feed: Array, gains: Array, gap: Array, length: Any
    ) -> Any:
        """q and v at all N + 1 times, the forces and the cost of motions along the feedback."""
        N = tau.shape[-2]
        run = self.programs.rollout(
            steps=N, q=q0, v=v0, cost=0.0, q_bar=q, v_bar=v, tau_bar=tau, feed=feed, gains=gains, gap=gap, t=self.time[:N],
            length=length, **self._held,
        )  # fmt: skip
        batch = run["q"].shape[:-2]
        cost = run["cost"][..., -1] + self.programs.final(run["q"][..., -1, :], run["v"][..., -1, :])["value"]
        q_all = np.concatenate([np.broadcast_to(q0, (*batch, q0.shape[-1]))[..., None, :], run["q"]], axis=-2)
        v_all = np.concatenate([np.broadcast_to(v0, (*batch, v0.shape[-1]))[..., None, :], run["v"]], axis=-2)
        return q_all, v_all, run["tau"], np.where(np.isfinite(cost), cost, np.inf)
