"""Motion by steps of chosen accuracy: smooth stretches in machine code, from one change of the plant to the next.

A stretch ends at the end of the motion, where a controller is asked again, where a margin of the mode is passed, or at an event.
Moments in between are found on the polynomials that the steps leave behind, so that they are as exact as the tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.compiler.backend import compiles
from torsor.model import Robot
from torsor.simulation.adaptive import AdaptiveFlow
from torsor.simulation.adaptive_called import CalledFlow
from torsor.simulation.adaptive_run import FIRED, STATUS, TOO_MANY_STEPS, AdaptiveRun
from torsor.simulation.careful import CarefulStep, Moment, States
from torsor.simulation.given import Setup
from torsor.simulation.plant import Mode, smallest
from torsor.simulation.rollout import Diverged
from torsor.simulation.stepping import Stepping

MOST_STEPS = 1_000_000
MOST_MOMENTS = 10_000  # changes of mode without time going on
QUICK = 1e-6  # of the motion: impacts that follow each other as soon as that come to an end
FEW = 4  # of these, after which time is made to go on


class Samples(NamedTuple):
    """What is saved: times (K,), and (K, …) each."""

    t: Array
    q: Array
    v: Array
    a: Array
    force: Array
    work: Array


class TooManySteps(Exception):
    """An adaptive run did not come to its end."""

    def __init__(self, time: float, word: str) -> None:
        super().__init__(time, word)
        self.time, self.word = time, word


def flow_of(stepping: Stepping, holds: bool, pair: str) -> AdaptiveFlow:
    """The equations of a kind of mode as a flow; made once for each step that is remembered."""
    made: dict[Any, AdaptiveFlow] = stepping.__dict__.setdefault("_flows", {})
    kind = AdaptiveFlow if stepping.is_traceable and compiles() else CalledFlow
    if (holds, pair, kind) not in made:
        plant = stepping.plant

        def rhs(robot: Robot, t: Array, q: Array, v: Array, c: dict[str, Array]) -> tuple[Array, Array]:
            force = stepping.force(t, q, v, c.get("tau", 0.0 * v), c)
            found = stepping.kept(plant.rate(q, v, force, stepping.around(t, q, v, c), stepping.mode(c), holds=holds))
            return found.a, found.power

        def guard(robot: Robot, t: Array, q: Array, v: Array, a: Array, c: dict[str, Array]) -> Array:
            margins = plant.margins(q, v, stepping.mode(c), holds=holds)
            if holds:
                margins += stepping.holding_margins(t, q, v, c.get("tau", 0.0 * v), c)
            return smallest(margins, v)

        shapes = {name: shape for name, shape in stepping.constants(holds).items() if name != "h"}
        made[holds, pair, kind] = kind(stepping.robot, rhs, guard, shapes, len(stepping.works), pair)
    return made[holds, pair, kind]


class AdaptiveMotion:
    """One trajectory of a simulation. ``control_dt``: how long what a controller said is held; None if there is none to ask."""

    def __init__(
        self,
        stepping: Stepping,
        setup: Setup,
        which: int,
        *,
        duration: float,
        control_dt: float | None,
        pair: str,
        rtol: float,
        atol: float,
        times: Array | None,
    ) -> None:
        self.stepping, self.setup, self.which = stepping, setup, which
        self._duration, self._control_dt, self._pair, self._times = duration, control_dt, pair, times
        self._rtol, self._atol = rtol, atol
        self._constants = {name: x[which : which + 1] for name, x in setup.acts.constants.items()}
        work = np.zeros((1, len(stepping.works)))
        one = slice(which, which + 1)
        mode = setup.mode if len(setup.q) == 1 else Mode(*(x[one] for x in setup.mode))
        mode = Mode(*np.array(mode)) if stepping.plant.has_modes else mode  # else nothing changes it
        self.states = States(
            np.zeros(1), setup.q[one].copy(), setup.v[one].copy(), work, setup.acts.drive.tau[one].copy(), mode
        )
        self.moments: list[Moment] = []
        self.ended = False
        self._a: Array | None = None  # acceleration at the state that was reached, if it is known
        self._careful = CarefulStep(stepping, self._constants, setup.acts.events)
        self._saved: list[Samples] = []
        self._h: float | None = None
        self._stuck, self._quick, self._moment = 0, 0, -math.inf
        self.first_mode = mode
        self._dense = times is not None or bool(setup.acts.events) or stepping.plant.has_modes

    def run(self, progress: Callable[[float], Any]) -> None:
        """Integrate to the end; raises `Diverged` or `TooManySteps`."""
        python = None if self.setup.acts.drive.python is None else self.setup.acts.drive.python(())
        s = self.states
        if python is None:
            s = self._settled()
        self.first_mode = Mode(*np.array(s.mode)) if self.stepping.plant.has_modes else s.mode
        asked = 0
        while not self.ended and float(s.t[0]) < self._duration:
            now, until = float(s.t[0]), self._duration
            if python is not None:
                assert self._control_dt is not None
                tau = python.checked(python.ask(now, s.q[0].copy(), s.v[0].copy()))
                if not np.all(np.isfinite(tau)):
                    raise Diverged(self.which, now, int(np.argmin(np.isfinite(tau))), pushed=True)
                s.tau[0] = tau
                asked += 1
                until = min(self._duration, asked * self._control_dt)
                if self._duration - until < 1e-9 * self._control_dt:
                    until = self._duration
                s = self._settled()
                if asked == 1:
                    self.first_mode = Mode(*(x.copy() for x in s.mode))
            while not self.ended and float(s.t[0]) < until:
                before = float(s.t[0])
                self._stretch(until)
                s = self.states
                progress(float(s.t[0]) - before)

    def _settled(self) -> States:
        """The state in the mode that it goes on in."""
        if self.stepping.plant.has_modes:
            self.states = self._careful.settled(self.states)
            self._keep_moments()
        return self.states

    def _keep_moments(self) -> None:
        self.moments += [m._replace(which=self.which) for m in self._careful.moments]
        self._careful.moments.clear()

    def _stretch(self, until: float) -> None:
        """Go on in one mode, at most to ``until``."""
        s = self.states
        holds = bool(s.mode.held.any())
        flow = flow_of(self.stepping, holds, self._pair)
        c = {name: getattr(s.mode, name)[0] for name in self.stepping.mode_inputs(holds)}
        c |= {name: x[0] for name, x in self._constants.items()}
        if "tau" in flow.constants:
            c["tau"] = s.tau[0]
        given = (s.t[0], until, s.q[0], s.v[0], s.work[0], c, self._rtol, self._atol, self._h, MOST_STEPS)
        found = flow.run(*given, dense=self._dense)
        if not self._dense and int(found.status) == FIRED:  # it grows beyond all bounds: look where
            found = flow.run(*given, dense=True)
        start, end = float(s.t[0]), float(found.t)
        moment = self._first_event(found, start, end)
        status = int(found.status)
        if status == FIRED:
            last = found.steps
            passed = self._passed(found, float(last.t[-1]), end)
            if (
                passed <= start and self._stuck > FEW
            ):  # margins that are zero to rounding: go on a little, more each time
                passed = start + min(1.0, 1e-9 * 8.0 ** (self._stuck - FEW)) * (end - start)
            moment = min(moment, passed)
        happens = moment <= end
        stop = min(moment, end)
        self._save(found, start, stop)
        self._a = None if happens else found.a[None]
        if happens:
            there = found.sample(np.array([stop]))
            self.states = s._replace(t=np.array([stop]), q=there.q, v=there.v, work=there.w)
            self._h = None
            self._happen(found, start, stop)
        else:
            self.states = s._replace(t=np.array([end]), q=found.q[None], v=found.v[None], work=found.w[None])
            self._h = float(found.h) if until >= self._duration else None
        if found.interrupted:
            raise KeyboardInterrupt
        if happens or status <= FIRED:
            return
        if status == TOO_MANY_STEPS:
            raise TooManySteps(end, STATUS[status])
        size = np.abs(found.v)
        raise Diverged(self.which, end, int(np.argmax(np.where(np.isfinite(size), size, np.inf))))

    def _happen(self, found: AdaptiveRun, start: float, stop: float) -> None:
        """Events and changes of mode at the moment that was reached."""
        signs = self._signs(found, start, stop)
        left = np.ones(1)
        self._stuck = self._stuck + 1 if stop <= start else 0
        self._quick = self._quick + 1 if stop - self._moment <= QUICK * self._duration else 0
        self._moment = stop
        if self._stuck > MOST_MOMENTS:
            raise TooManySteps(stop, "modes that change without end")
        self._careful.go_through(self.states, np.zeros(1, int), signs, np.full(1, float(self._quick)), left)
        self._keep_moments()
        self.ended = 0 in self._careful.ended

    def _signs(self, found: AdaptiveRun, start: float, stop: float) -> Array:
        """What each event's function was before the moment."""
        if not self.setup.acts.events:
            return np.zeros((1, 0))
        before = found.sample(np.array([start + (stop - start) * (1.0 - 1e-9)]))
        t = start + (stop - start) * (1.0 - 1e-9)
        return np.array([[event.value(t, before.q[0].copy(), before.v[0].copy()) for event in self.setup.acts.events]])

    def _first_event(self, found: AdaptiveRun, start: float, end: float) -> float:
        """When the first event takes place; infinite if none does."""
        events, steps = self.setup.acts.events, found.steps
        if not events or not len(steps.t):
            return math.inf
        times = np.unique(np.concatenate([steps.t, steps.t + 0.5 * steps.h, [end]]))
        rows = found.sample(times)
        first = math.inf
        for event in events:
            values = [event.value(float(t), q.copy(), v.copy()) for t, q, v in zip(times, rows.q, rows.v, strict=True)]
            for k in range(len(times) - 1):
                if times[k] >= first:
                    break
                if event.crosses(values[k], values[k + 1]):

                    def value(t: float, event: Any = event, sign: float = math.copysign(1.0, values[k])) -> float:
                        there = found.sample(np.array([t]))
                        return sign * float(event.value(t, there.q[0], there.v[0]))

                    first = min(first, _root(value, float(times[k]), float(times[k + 1])))
                    break
        return first

    def _passed(self, found: AdaptiveRun, start: float, end: float) -> float:
        """When the least margin is passed in the last step."""

        def margin(t: float) -> float:
            value = float(found.sample(np.array([t])).guard[0])
            return value if math.isfinite(value) else -math.inf

        near = start
        if not margin(start) > 0.0:  # zero at the very beginning: look for where it is positive, if anywhere
            part = end - start
            for _ in range(46):
                part *= 0.5
                if margin(start + part) >= 0.0:
                    near = start + part
                    break
                end = start + part
            else:
                return start
        return _root(margin, near, end)

    def _save(self, found: AdaptiveRun, start: float, stop: float) -> None:
        """Samples of a stretch from ``start`` on, the end left out: it is the start of the next one."""
        steps = found.steps
        if self._times is None:
            keep = slice(0, int(np.searchsorted(steps.t, stop)))
            t, q, v, a, w = steps.t[keep], steps.q[keep], steps.v[keep], steps.a[keep], steps.w[keep]
        else:
            t = self._times[(self._times >= start) & (self._times < stop)]
            if not len(t):
                return
            q, v, a, w, _ = found.sample(t)
        if not len(t):
            return
        self._saved.append(Samples(t, q, v, a, np.repeat(self.states.tau, len(t), axis=0), w))

    def _force(self, t: Array, q: Array, v: Array, tau: Array) -> Array:
        force = self.stepping.force(t, q, v, tau, self._repeated(len(t)))
        return force if force.shape == v.shape else np.array(np.broadcast_to(force, v.shape))

    def _repeated(self, n: int) -> dict[str, Array]:
        return {name: np.broadcast_to(x, (n, *x.shape[1:])) for name, x in self._constants.items()}

    @property
    def samples(self) -> Samples:
        """All that was saved, and the state at the end."""
        s, a = self.states, self._a
        if a is None:
            force = self._force(s.t, s.q, s.v, s.tau)
            with np.errstate(all="ignore"):
                around = self.stepping.around(s.t, s.q, s.v, self._constants)
                holds = bool(s.mode.held.any())
                a = self.stepping.plant.acceleration(s.q, s.v, force, around, s.mode, holds=holds)
        last = Samples(s.t, s.q, s.v, a, s.tau, s.work)
        already = bool(self._saved) and s.t[0] <= self._saved[-1].t[-1]  # Ctrl-C came just after that was saved
        unasked = self._times is not None and not self.ended and not np.any(self._times == s.t[0])
        saved = self._saved if already or unasked else [*self._saved, last]
        if not saved:
            saved = [last]
        t, q, v, a, tau, w = (np.concatenate(column) for column in zip(*saved, strict=True))
        return Samples(t, q, v, a, self._force(t, q, v, tau), w)


def _root(value: Callable[[float], float], near: float, far: float) -> float:
    """Just behind where a function that is positive at ``near`` becomes negative on the way to ``far``, by the Illinois
    method [DJ71].
    """
    at_near, at_far, last = value(near), value(far), 0
    for k in range(200):
        if far - near <= 4e-16 * max(abs(far), abs(near)) + 1e-15 * abs(far - near) or far <= near:
            break
        guess = (
            near + (far - near) * at_near / (at_near - at_far)
            if math.isfinite(at_far) and at_near > at_far
            else math.nan
        )
        if not near < guess < far or k % 8 == 7:
            guess = 0.5 * (near + far)
            if not near < guess < far:
                break
        found = value(guess)
        if found >= 0.0:
            near, at_near = guess, found
            at_far *= 0.5 if last > 0 else 1.0
            last = 1
        else:
            far, at_far = guess, found
            at_near *= 0.5 if last < 0 else 1.0
            last = -1
    return far
