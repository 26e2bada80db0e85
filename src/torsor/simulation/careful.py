"""A step in which the plant changes its mode, or an event takes place: up to that moment, through it, and on.

Moments are located by steps of other lengths from the same start, so that they are as exact as the method.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.compiler.backend import compiles
from torsor.functions.public.dynamics import kinetic_energy, potential_energy
from torsor.model import Robot
from torsor.simulation.events import Event
from torsor.simulation.modes import settle
from torsor.simulation.plant import WORKS, Mode
from torsor.simulation.stepping import CONTINUOUS, Stepping
from torsor.simulation.steps_taken import Part, copied

CLOSE = 1e-14  # of a step: moments nearer than that are one
MOST = 100  # changes of mode within one step; what is left after them passes at rest, which is told
SHORTER, TIMES = 0.125, 16  # parts of a step at which margins are looked for that hold, down to rounding


class States(NamedTuple):
    """Some trajectories: time (m,), q, v, work (m, …), the joint forces asked for (m, nv), and the mode."""

    t: Array
    q: Array
    v: Array
    work: Array
    tau: Array
    mode: Mode

    def of(self, which: Array) -> States:
        """Those of some of the trajectories, copied."""
        t, q, v, work, tau = (x[which] for x in self[:-1])
        return States(t, q, v, work, tau, Mode(*(x[which] for x in self.mode)))

    def seen(self, which: Array) -> States:
        """Those of some, in order, only to be looked at: themselves if that is all."""
        return self if len(which) == len(self.t) else self.of(which)

    def put(self, which: Array, other: States) -> None:
        """Write others in place of some."""
        if len(which) == 0:
            return
        for mine, its in zip((*self[:-1], *self.mode), (*other[:-1], *other.mode), strict=True):
            if mine is not its:
                mine[which] = its


class Moment(NamedTuple):
    """What happened: to which of the trajectories, when, and in which states before and after."""

    which: int
    time: float
    before: Mode
    after: Mode
    impacts: Array
    event: Event | None
    q: Array
    v: Array


class PassedAtRest(NamedTuple):
    """A step whose modes changed without end: of which trajectory, from when, and how long it stood still."""

    which: int
    time: float
    length: float


def energy(robot: Robot, q: Array, v: Array) -> float:
    """Kinetic and potential energy, J."""
    return float(kinetic_energy(robot, q, v) + potential_energy(robot, q))


class CarefulStep:
    """Takes steps of trajectories through changes of mode. ``constants`` (m, …) are the other inputs of the step."""

    def __init__(self, stepping: Stepping, constants: dict[str, Array], events: Sequence[Event]) -> None:
        self._stepping, self._constants, self._events = stepping, constants, events
        self.moments: list[Moment] = []
        self.unfinished: list[PassedAtRest] = []
        self.ended: dict[int, tuple[float, Array, Array]] = {}
        self.parts: dict[int, list[Part]] = {}
        self._compiles = compiles() and stepping.is_traceable

    def take(self, states: States, h: float) -> tuple[States, Array, Array]:
        """The states after ``h``, and acceleration and forces at the start; NaN states where a motion diverged."""
        m = len(states.t)
        states = states.of(np.arange(m))  # a copy
        left, bounces, stuck, forced_before = np.full(m, float(h)), np.zeros(m), np.zeros(m, int), np.zeros(m, int)
        first: tuple[Array, Array] | None = None
        for count in range(MOST + 1):
            go = np.flatnonzero(left > CLOSE * h)
            if not len(go):
                break
            now = states.of(go)
            signs = self._signs(now)
            new, a, force, least = self._step(now, left[go], go, signs)
            if first is None:
                first = (a, force)
            good = least >= 0.0
            if count == MOST:  # modes that change without end: what is left of the step passes at rest
                for k in np.flatnonzero(~good).tolist():
                    self.unfinished.append(PassedAtRest(int(go[k]), float(now.t[k]), float(left[go[k]])))
                left[go[~good]] = 0.0
            self._keep(now, left[go], new, go, np.flatnonzero(good), located=good & False)
            states.put(go[good], new.of(good))
            left[go[good]] = 0.0
            bad = np.flatnonzero(~good) if count < MOST else np.zeros(0, int)
            if not len(bad):
                continue
            some = go[bad]
            part, passed, forced = self._located(
                now.of(bad),
                left[some],
                some,
                signs[bad],
                np.where(stuck[some] > 3, 1e-3 * 8.0 ** forced_before[some], 0.0),
            )
            stuck[some] = np.where(part <= CLOSE * h, stuck[some] + 1, 0)
            forced_before[some] += forced
            left[some] -= part
            lost = ~np.all(np.isfinite(passed.v), axis=-1)
            self._keep(now.of(bad), part, passed, some, np.flatnonzero(~lost), located=~forced)
            left[some[lost]] = 0.0
            states.put(some, passed)
            ok = np.flatnonzero(~lost & ~forced)
            self.go_through(states, some[ok], signs[bad][ok], bounces, left)
        assert first is not None
        return states, first[0], first[1]

    def _keep(self, start: States, h: Array, end: States, which: Array, some: Array, located: Array) -> None:
        """Keep the parts of the step that were taken by ``some``, the trajectories ``which`` of all."""
        for k in some.tolist():
            mode, ends = copied(start.mode, k), (end.q[k].copy(), end.v[k].copy())
            part = Part(
                float(start.t[k]), float(h[k]), start.q[k].copy(), start.v[k].copy(), mode, *ends, bool(located[k])
            )
            self.parts.setdefault(int(which[k]), []).append(part)

    def settled(self, states: States) -> States:
        """The states in the modes they start in, after impacts if they start into a stop: their energies count from there.

        Later than at the start, what this changes is a moment, too.
        """
        everything = np.arange(len(states.t))
        found = self._settle(states, everything, np.zeros(len(states.t)))
        turned = [~np.all(x == y, axis=-1) & (states.t > 0.0) for x, y in zip(states.mode, found.mode, strict=True)]
        for k in np.flatnonzero(found.impacts.any(axis=-1) | np.any(turned, axis=0)).tolist():
            before, after = (Mode(*(x[k].copy() for x in mode)) for mode in (states.mode, found.mode))
            time = float(states.t[k])
            self.moments.append(Moment(k, time, before, after, found.impacts[k], None, states.q[k], states.v[k]))
        return states._replace(q=found.q, v=found.v, mode=found.mode)

    def _settle(self, states: States, which: Array, bounces: Array) -> Any:
        given = self._given(which) | {"t": states.t, "q": states.q, "v": states.v}
        stepping = self._stepping
        tau = stepping.force(states.t, states.q, states.v, states.tau, given)
        around = stepping.around(states.t, states.q, states.v, given)
        return settle(stepping.plant, states.q, states.v, tau, around, states.mode, bounces)

    def go_through(self, states: States, which: Array, signs: Array, bounces: Array, left: Array) -> None:
        """Events and changes of mode at the moment that trajectories have reached."""
        if not len(which):
            return
        for place, k in enumerate(which.tolist()):
            for number, event in enumerate(self._events):
                value = event.value(float(states.t[k]), states.q[k].copy(), states.v[k].copy())
                if signs[place, number] and event.crosses(signs[place, number], value):
                    self._happen(event, states, k, left)
        going = np.array([k for k in which.tolist() if k not in self.ended], int)
        if not len(going) or not self._stepping.plant.has_modes:
            return
        now = states.of(going)
        found = self._settle(now, going, bounces[going])
        bounces[going] += found.impacts.any(axis=-1)
        work = now.work.copy()
        work[:, self._stepping.works.index(WORKS.index("stops"))] += found.energy
        for place, k in enumerate(going.tolist()):
            before, after = (Mode(*(x[place].copy() for x in mode)) for mode in (now.mode, found.mode))
            changed = any(not np.array_equal(x, y) for x, y in zip(before, after, strict=True))
            if changed or found.impacts[place].any():
                time, impacts = float(now.t[place]), found.impacts[place]
                self.moments.append(Moment(k, time, before, after, impacts, None, now.q[place], now.v[place]))
        states.put(going, now._replace(q=found.q, v=found.v, work=work, mode=found.mode))

    def _happen(self, event: Event, states: States, k: int, left: Array) -> None:
        t, q, v = float(states.t[k]), states.q[k].copy(), states.v[k].copy()
        plant, before = self._stepping.plant, Mode(*(x[k].copy() for x in states.mode))
        if event.action is not None:
            if k in self.parts:
                self.parts[k][-1] = self.parts[k][-1]._replace(acted=True)
            states.q[k], states.v[k] = event.acted(t, q.copy(), v.copy())
            outside = self._stepping.works.index(WORKS.index("wrenches"))
            states.work[k, outside] += energy(plant.robot, states.q[k], states.v[k]) - energy(plant.robot, q, v)
            anew = plant.anew(states.q[k], before)  # friction and stops
            for mine, its in zip(states.mode, anew, strict=True):
                mine[k] = its
        after = Mode(*(x[k].copy() for x in states.mode))
        self.moments.append(Moment(k, t, before, after, np.zeros(len(v), bool), event, q, v))
        if event.terminal:
            self.ended[k] = (t, states.q[k].copy(), states.v[k].copy())
            left[k] = 0.0

    def _given(self, which: Array) -> dict[str, Array]:
        return {name: value[which] for name, value in self._constants.items()}

    def _signs(self, states: States) -> Array:
        """The value of each event's function at the start (m, events)."""
        rows = [
            [event.value(float(t), q.copy(), v.copy()) for event in self._events]
            for t, q, v in zip(states.t, states.q, states.v, strict=True)
        ]
        return np.array(rows).reshape(len(states.t), len(self._events))

    def _step(self, states: States, h: Array, which: Array, signs: Array) -> tuple[States, Array, Array, Array]:
        """States after ``h`` (m,), acceleration and forces at the start, and the least of margins and events, NaN made −∞."""
        stepping = self._stepping
        given = {name: getattr(states.mode, name) for name in stepping.mode_inputs(True)} | self._given(which)
        given |= {"q": states.q, "v": states.v, "work": states.work, "t": states.t, "h": h}
        if stepping.drive != CONTINUOUS:
            given["tau"] = states.tau
        with np.errstate(all="ignore"):
            if self._compiles:
                found = stepping.single(**given)
            else:
                found = stepping.single_step(stepping.robot, holds=True, **given)
        new = states._replace(t=states.t + h, q=found["q"], v=found["v"], work=found["work"])
        least = np.where(np.isnan(found["least"]), -np.inf, found["least"])
        least = np.where(np.all(np.isfinite(new.v), axis=-1), least, -np.inf)
        for k in np.flatnonzero(np.isfinite(least)) if self._events else ():
            for number, event in enumerate(self._events):
                value = event.value(float(new.t[k]), new.q[k].copy(), new.v[k].copy())
                if signs[k, number] and event.crosses(signs[k, number], value):
                    least[k] = min(least[k], -abs(value), -1e-300)
                elif signs[k, number] and event.crosses(signs[k, number], -signs[k, number]):
                    least[k] = min(least[k], abs(value))
        return new, found["a"], found["force"], least

    def _located(
        self, states: States, h: Array, which: Array, signs: Array, forced: Array
    ) -> tuple[Array, States, Array]:
        """How far (m,) each goes until the least margin is passed, the states just behind that, and which went on regardless.

        Where no progress was made for several changes, ``forced`` (m,) of the step is taken regardless of margins that are zero
        to rounding, more each time.
        """
        m = len(h)
        near, far = np.zeros(m), h.copy()
        passed, _, _, value_far = self._step(states, far, which, signs)
        value_near = np.full(m, np.nan)
        part = h.copy()
        for _ in range(TIMES):  # where all margins hold: they may be zero at the very beginning
            look = np.flatnonzero(np.isnan(value_near))
            if not len(look):
                break
            part[look] *= SHORTER
            new, _, _, least = self._step(states.seen(look), part[look], which[look], signs[look])
            inside = least >= 0.0
            near[look[inside]], value_near[look[inside]] = part[look[inside]], least[inside]
            beyond = look[~inside]
            far[beyond], value_far[beyond] = part[beyond], least[~inside]
            passed.put(beyond, new.seen(np.flatnonzero(~inside)))
        none = np.isnan(value_near)  # no way is left at all: the moment is now
        far[none] = 0.0
        passed.put(np.flatnonzero(none), states.seen(np.flatnonzero(none)))
        self._narrowed(states, which, signs, (near, far), (value_near, value_far), passed)
        go_on = (forced > 0.0) & none
        if np.any(go_on):
            regardless = np.flatnonzero(go_on)
            far[regardless] = np.minimum(forced[regardless], 1.0) * h[regardless]
            passed.put(
                regardless, self._step(states.of(regardless), far[regardless], which[regardless], signs[regardless])[0]
            )
        return far, passed, go_on

    def _narrowed(
        self,
        states: States,
        which: Array,
        signs: Array,
        interval: tuple[Array, Array],
        values: tuple[Array, Array],
        passed: States,
    ) -> None:
        """Narrow the intervals in which margins become negative, by the Illinois method [DJ71], in place."""
        (near, far), (value_near, value_far) = interval, values
        last, at_end = np.zeros(len(near), int), np.zeros(len(near), bool)
        slow = at_end.copy()  # the last guess left more than half of the interval: the next one is its middle
        for _ in range(100):
            close = np.maximum(CLOSE * far, 4e-16 * np.abs(states.t))
            look = np.flatnonzero((far > 0.0) & (far - near > close))
            if not len(look):
                return
            a, b, fa, fb = near[look], far[look], value_near[look], value_far[look]
            with np.errstate(all="ignore"):
                x = a + (b - a) * fa / (fa - fb)
            # A guess that is one of the ends to rounding: then the moment is as close to it as is asked for, as a rule
            next_to = np.where(x >= b, b - 0.9 * close[look], a + 0.9 * close[look])
            ends = ((x >= b) | (x <= a)) & (next_to > a) & (next_to < b) & ~at_end[look]
            within = np.isfinite(x) & (x > a) & (x < b) & ~slow[look]
            x = np.where(within, x, np.where(ends, next_to, 0.5 * (a + b)))
            at_end[look] = ends
            new, _, _, least = self._step(states.seen(look), x, which[look], signs[look])
            inside = least >= 0.0
            yes, no = look[inside], look[~inside]
            near[yes], value_near[yes] = x[inside], least[inside]
            far[no], value_far[no] = x[~inside], least[~inside]
            passed.put(no, new.seen(np.flatnonzero(~inside)))
            value_far[yes] *= np.where(last[yes] > 0, 0.5, 1.0)
            value_near[no] *= np.where(last[no] < 0, 0.5, 1.0)
            last[yes], last[no] = 1, -1
            slow[look] = within & (far[look] - near[look] > 0.5 * (b - a))
