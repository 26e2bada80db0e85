"""Fixed steps of one trajectory or many: loops in machine code as far as modes last, careful steps where they change.

Trajectories are at steps of their own: each loop advances all those of one kind, and who meets a margin waits for a careful step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.compiler.backend import compiles
from torsor.functions.public.dynamics import mass_matrix
from torsor.simulation.asked_loop import ROWS
from torsor.simulation.careful import CarefulStep, Moment, PassedAtRest, States
from torsor.simulation.drives import Asking
from torsor.simulation.given import Setup
from torsor.simulation.plant import Mode
from torsor.simulation.plant_kernels import start_of_numbers
from torsor.simulation.record import STATES, Record
from torsor.simulation.stepping import CONSTANT, CONTINUOUS, SAMPLED, SCHEDULED, Stepping
from torsor.simulation.steps_taken import CarefulStepTaken, copied

FIRST, LONGEST = 2048, 4096  # steps of the first loop, and of any
AT_ONCE = 1 << 19  # numbers that one loop may save apart
MANY = 0.1  # of the trajectories: where more meet a margin, loops become shorter
WITH_EVENTS = 64  # steps of a loop whose states are looked at one by one


class Diverged(Exception):
    """A trajectory became infinite or NaN, or ``pushed`` by forces that are; for the border to tell."""

    def __init__(self, which: int, time: float, joint: int, pushed: bool = False) -> None:
        super().__init__(which, time, joint, pushed)
        self.which, self.time, self.joint, self.pushed = which, time, joint, pushed


class Rollout:
    """B trajectories over N steps of dt, and what is saved of them: every k-th step, first and last.

    All trajectories go side by side. `Setup` says what they start from and what acts on them.
    """

    def __init__(self, stepping: Stepping, setup: Setup, *, dt: float, steps: int, every: int) -> None:
        self.stepping, self.setup, self.dt, self.steps, self.every = stepping, setup, dt, steps, every
        self.events, drive = setup.acts.events, setup.acts.drive
        self._schedule, self._constants, self._control_every = (
            drive.schedule,
            setup.acts.constants,
            setup.acts.control_every,
        )
        self._h = np.array(dt)
        B = len(setup.q)
        work = np.zeros((B, len(stepping.works)))
        self.states = States(np.zeros(B), setup.q, setup.v, work, drive.tau.copy(), setup.mode)
        self.memory: dict[str, Array] = {}
        if drive.kind == SAMPLED and drive.memory is not None:
            leaves = drive.memory.leaves or {}
            self.memory = {name: np.array(np.broadcast_to(x, (B, *x.shape))) for name, x in leaves.items()}
        self.carried: dict[str, Array] = {}
        self.done, self._everyone = np.zeros(B, int), np.arange(B)
        self._together = 0 if B else None  # the step at which all are, if it is one
        self.record = Record(stepping.robot, B, works=len(stepping.works), dt=dt, steps=steps, every=every)
        self.moments: list[Moment] = []
        self.unfinished: list[PassedAtRest] = []
        self.careful: list[CarefulStepTaken] = []
        self.ended: dict[int, tuple[float, Array, Array]] = {}
        self._chunk = FIRST
        self._compiles = compiles() and stepping.is_traceable
        if setup.may_hold:
            careful = CarefulStep(stepping, setup.acts.constants, ())
            self.states = careful.settled(self.states)
            self.moments += careful.moments
        if stepping.step_memory:
            self._begin(np.arange(B))
        self.first_mode = self.states.mode  # which the first careful step leaves alone
        for name in STATES:
            self.record.arrays[name][:, 0] = getattr(self.states, name)

    @property
    def completed(self) -> int:
        """How many steps all trajectories have taken."""
        return int(self.done.min(initial=self.steps)) if self._together is None else self._together

    def run(self, until: int, progress: Callable[[int], Any] = lambda n: None) -> None:
        """Go on to step ``until``."""
        before = self.completed
        while before < until:
            holds = self.stepping.plant.has_modes and self.states.mode.held.any()
            if not holds and self._together is not None:
                self._advance(self._everyone, False, until)
                now = self.completed
                progress(now - before)
                before = now
                continue
            waiting = (self.done < until).nonzero()[0]
            # Who was left behind by a careful step catches up with the others first, so that all go together again
            done = self.done[waiting]
            front = int(done.max())
            target, waiting = (until, waiting) if front == before else (front, waiting[done < front])
            if holds:
                holding = self.states.mode.held[waiting].any(axis=-1)
                groups = {True: waiting[holding], False: waiting[~holding]}
            else:
                groups = {False: waiting}
            for some, group in groups.items():
                if len(group):
                    self._advance(group, some, target)
            now = self.completed
            progress(now - before)
            before = now

    def run_asking(self, progress: Callable[[int], Any] = lambda n: None) -> None:
        """Go to the end under a controller that is called from Python and held for a number of steps."""
        dt, every = self.dt, self._control_every
        assert self.setup.acts.drive.python is not None
        asking = self.setup.acts.drive.python(self.setup.batch)
        while (now := self.completed) < self.steps:
            if every == 1 and self._compiles and self._has_quick_steps and not self.states.mode.held.any():
                self._run_quickly(asking, now, min(ROWS, self.steps - now))
            else:
                shaped = (x.reshape(*self.setup.batch, -1).copy() for x in (self.states.q, self.states.v))
                self.states.tau[:] = asking.checked(asking.ask(now * dt, *shaped)).reshape(self.states.tau.shape)
                self.run(min(now + every, self.steps))
            progress(self.completed - now)

    @property
    def _has_quick_steps(self) -> bool:
        return not self.events and not self.stepping.step_memory

    def _run_quickly(self, asking: Asking, now: int, steps: int) -> None:
        """Some steps with nothing but the controller and the compiled step; a step that changes the mode is taken with care."""
        s, loop, dt = self.states, self.stepping.asked_loop, self.dt
        given = {name: getattr(s.mode, name) for name in self.stepping.mode_inputs(False)} | self._constants
        constants = loop.packed(given | {"h": np.full(len(s.t), dt)}, len(s.t))
        start = {"q": s.q, "v": s.v, "work": s.work, "t": np.full(len(s.t), now * dt)}
        times = (dt * np.arange(now, now + steps)).tolist()
        rows, asked, interrupted = loop.run(start, constants, asking.ask, asking.checked, times, self.setup.batch)
        taken = len(rows) - 1
        # A row has the state after a step, and acceleration and force at its start
        of_each = rows[1:].transpose(1, 0, 2)
        saved = {name: of_each[:, :, loop.parts[name]] for name in ("q", "v", "work", "a", "force")}
        self.record.save(slice(None), now, taken, saved)
        s.q[:], s.v[:], s.work[:] = (rows[-1, :, loop.parts[name]] for name in ("q", "v", "work"))
        self.done[:], s.t[:], self._together = now + taken, (now + taken) * dt, now + taken
        if taken:
            s.tau[:] = rows[-1, :, loop.parts["force"]]
        if interrupted:
            raise KeyboardInterrupt
        if asked is not None:
            s.tau[:] = asked.reshape(s.tau.shape)
            self.run(now + taken + 1)

    def _advance(self, group: Array, holds: bool, until: int) -> None:
        """One loop over some trajectories, and a careful step for those that stop in it."""
        which: Any = slice(None) if len(group) == len(self.done) else group
        done, every = self.done[which], self.every
        together = self._together is not None or int(done.min()) == int(done.max())
        first = int(done.min()) if self._together is None else self._together
        sparse = every > 1 and together and self._skips and first % every == 0 and until - first >= every
        length = self._length(len(group), first, until, sparse, direct=isinstance(which, slice) and together)
        left = np.full(len(done), float(length)) if together else np.minimum(float(length), until - done)
        rows, final, written = self._loop(which, done, left, length, holds, together, sparse)
        waits = final["left"] < 0.0
        completed = (left - np.abs(final["left"])).astype(int)
        if self.events:
            completed, waits, final = self._before_events(group, done, rows, completed, waits)
        if not written:
            self._save(which, group, done, rows, completed, sparse)
        s = self.states
        stops = bool(waits.any())
        self._together = None
        if self.stepping.drive == SAMPLED and (stops or self.every > 1 or "held_tau" in final):
            s.tau[which] = self._said(rows, final, completed, waits)
        s.q[which], s.v[which], s.work[which] = final["q"], final["v"], final["work"]
        for kept in (self.memory, self.carried):
            for name, x in kept.items():
                x[which] = final[name]
        self.done[which] = done + completed
        s.t[which] = self.done[which] * self.dt
        if stops:
            self._chunk = max(8, self._chunk // 4) if waits.mean() > MANY else self._chunk
            self._careful(group[waits])
        else:
            self._chunk = min(4 * self._chunk, LONGEST)
        if isinstance(which, slice) and together and not stops:
            self._together = first + length
        elif (least := int(self.done.min())) == int(self.done.max()):
            self._together = least

    @property
    def _skips(self) -> bool:
        """Whether a loop may leave out steps that are not saved."""
        return self._compiles and not self.events

    def _length(self, count: int, first: int, until: int, sparse: bool, direct: bool) -> int:
        """Of the next loop of so many trajectories."""
        every = self.every
        most = self._chunk if direct and every == 1 else min(self._chunk, AT_ONCE // ((self.record.width + 2) * count))
        if sparse:
            most = max(self._chunk // every, 1)
            most = most if direct else max(1, min(most, AT_ONCE // ((self.record.width + 2) * count)))
            return min(most, (until - first) // every) * every
        most = max(1, min(most, WITH_EVENTS) if self.events else most)
        if every > 1 and self._skips and first % every:
            most = min(most, every - first % every)  # from there on steps can be left out
        return min(most, until - first)

    def _said(self, rows: dict[str, Array], final: dict[str, Array], completed: Array, waits: Array) -> Array:
        """What a compiled controller gave (m, nv) at the last step that was tried, also if it could not be taken."""
        if "held_tau" in final:
            return final["held_tau"]
        return rows["force"][np.arange(len(completed)), completed - 1 + waits]

    def _loop(
        self, which: Any, done: Array, left: Array, length: int, holds: bool, together: bool, sparse: bool
    ) -> tuple[dict[str, Array], dict[str, Array], bool]:
        """What is saved of the steps (m, samples, …), the state after the last, and whether it is in the record already."""
        stepping, s, first = self.stepping, self.states, int(done[0])
        given: dict[str, Array] = {"q": s.q[which], "v": s.v[which], "work": s.work[which], "left": left}
        each = together and self.every == 1  # then the times are those of the samples
        if not each or stepping.held_longer or stepping.drive == SCHEDULED:
            numbers = np.arange(first, first + length) if together else done[:, None] + np.arange(length)
        given["t"] = self.record.time[first : first + length] if each else numbers * self.dt
        if sparse:
            given["due"] = (numbers % self.every == 0).astype(float)
            given |= {name: np.zeros((len(done), stepping.robot.nv)) for name in ("a", "force")}
        if stepping.drive == SAMPLED:
            given |= {name: x[which] for name, x in self.memory.items()}
            if stepping.held_longer or sparse:
                given["held_tau"] = s.tau[which]
            if stepping.held_longer:
                given["asks"] = (numbers % self._control_every == 0).astype(float)
        elif stepping.drive == SCHEDULED:
            assert self._schedule is not None
            rows: Any = np.arange(len(self.done))[which]
            given["tau"] = self._schedule[rows[:, None], np.minimum(numbers, self.steps - 1)]
        elif stepping.drive == CONSTANT:
            given["tau"] = s.tau[which]
        for name, x in (*self.carried.items(), *self._constants.items()):
            given[name] = x[which]
        for name in stepping.mode_inputs(holds):
            given[name] = getattr(s.mode, name)[which]
        written = False
        if not self._compiles:
            shapes = stepping.inputs()
            many = {name: np.broadcast_to(given[name], (len(done), length, *x)) for name, x in shapes.items()}
            found = self._called(given | many | {"h": np.full(len(done), self.dt)}, length, holds)
        else:
            loop, every = stepping.loop(holds, sparse), self.every if sparse else 1
            out = None
            if together and isinstance(which, slice) and every == self.every:
                out, lead = self.record.places(first, length // every), (len(done), length // every)
                out |= {name: np.empty((*lead, *x)) for name, x in stepping.state(sparse).items() if name not in out}
                written = True
            found = loop(steps=length, every=every, **given, h=self._h, out=out)
        return found, {name: found[name][:, -1] for name in stepping.state(sparse)}, written

    def _called(self, given: dict[str, Array], length: int, holds: bool) -> dict[str, Array]:
        """The same loop in Python."""
        stepping, saved = self.stepping, list[dict[str, Array]]()
        changing = stepping.inputs()
        for k in range(length):
            now = given | {name: given[name][:, k] for name in changing}
            with np.errstate(all="ignore"):
                found = stepping.loop_step(stepping.robot, holds=holds, **now)
            saved.append(found)
            given = given | {name: found[name] for name in stepping.state()}
        return {name: np.stack([row[name] for row in saved], axis=1) for name in saved[0]}

    def _save(
        self, which: Any, group: Array, done: Array, rows: dict[str, Array], completed: Array, sparse: bool
    ) -> None:
        """Write the samples among the completed steps."""
        save = self.record.save_sparse if sparse else self.record.save
        if isinstance(which, slice) and np.all(done == done[0]) and np.all(completed == completed[0]):
            save(which, int(done[0]), int(completed[0]), rows)
            return
        for place, k in enumerate(group.tolist()):
            one = {name: x[place : place + 1] for name, x in rows.items()}
            save(k, int(done[place]), int(completed[place]), one)

    def _begin(self, group: Array) -> None:
        """What the method carries on, where some trajectories were moved by something else."""
        names = self.stepping.step_memory
        if not names or not len(group):
            return
        if not self.carried:
            self.carried = {name: np.zeros_like(self.states.v) for name in names}
        q, v = self.states.q[group], self.states.v[group]
        self.carried["momentum"][group] = np.einsum("...ij,...j->...i", mass_matrix(self.stepping.robot, q), v)
        self.carried["mean"][group] = self.carried["mean_before"][group] = v

    def _before_events(
        self, group: Array, done: Array, rows: dict[str, Array], completed: Array, waits: Array
    ) -> tuple[Array, Array, dict[str, Array]]:
        """How many steps are completed before the first event of each trajectory, who waits for a careful step, and the state
        after those: q, v and so on of the last completed step, what the controller keeps of the last that was tried.
        """
        completed, waits = completed.copy(), waits.copy()
        for place, k in enumerate(group.tolist()):
            t, q, v = float(done[place]) * self.dt, self.states.q[k], self.states.v[k]
            before = [event.value(t, q.copy(), v.copy()) for event in self.events]
            for r in range(int(completed[place])):
                t, q, v = (int(done[place]) + r + 1) * self.dt, rows["q"][place, r], rows["v"][place, r]
                after = [event.value(t, q.copy(), v.copy()) for event in self.events]
                if any(e.crosses(x, y) for e, x, y in zip(self.events, before, after, strict=True)):
                    completed[place], waits[place] = r, True
                    break
                before = after
        some, s = np.arange(len(group)), self.states
        now = {"q": s.q, "v": s.v, "work": s.work, **self.carried}
        none = (completed == 0)[:, None]
        final = {name: np.where(none, x[group], rows[name][some, completed - 1]) for name, x in now.items()}
        kept = [name for name in (*self.memory, "held_tau") if name in rows]
        return completed, waits, final | {name: rows[name][some, completed - 1 + waits] for name in kept}

    def _careful(self, group: Array) -> None:
        """One step of each through what happens in it."""
        stepping = self.stepping
        now = self.states.of(group)
        if stepping.drive == SCHEDULED:
            assert self._schedule is not None
            now = now._replace(tau=self._schedule[group, self.done[group]])
        careful = CarefulStep(stepping, {name: x[group] for name, x in self._constants.items()}, self.events)
        if self.states.mode is self.first_mode:
            self.states = self.states._replace(mode=Mode(*np.array(self.first_mode)))
        new, a, force = careful.take(now, self.dt)
        lost = ~np.all(np.isfinite(new.v) & (np.abs(new.v) < np.inf), axis=-1)
        if np.any(lost):
            k = int(np.flatnonzero(lost)[0])
            asked = now.tau[k]
            size = np.abs(now.v[k] if np.all(np.isfinite(asked)) else asked)
            worst = int(np.argmax(np.where(np.isfinite(size), size, np.inf)))
            raise Diverged(int(group[k]), float(now.t[k]), worst, not np.all(np.isfinite(asked)))
        for moment in careful.moments:
            self.moments.append(moment._replace(which=int(group[moment.which])))
        for rest in careful.unfinished:
            self.unfinished.append(rest._replace(which=int(group[rest.which])))
        if stepping.drive == CONTINUOUS:
            new = new._replace(tau=self.states.tau[group])
        self.states.put(group, new)
        self._begin(group)
        for place, k in enumerate(group.tolist()):
            step = int(self.done[k])
            rows = {"q": new.q, "v": new.v, "work": new.work, "a": a, "force": force}
            self.record.save(k, step, 1, {name: x[place : place + 1, None] for name, x in rows.items()})
            self.careful.append(CarefulStepTaken(k, step, careful.parts[place], copied(new.mode, place)))
            self.done[k] = step + 1
            self.states.t[k] = (step + 1) * self.dt
            if place in careful.ended:
                self.ended[k] = careful.ended[place]
                self.done[k] = self.steps

    def finish(self, samples: int) -> None:
        """Acceleration and forces at the last of so many samples, where no step begins, of motions that come so far."""
        stepping, saved, time = self.stepping, self.record.arrays, float(self.record.time[samples - 1])
        which: Any = slice(None)
        step = round(time / self.dt)
        if self.ended or self._together != step:  # those that have come farther have them
            farther = np.flatnonzero(self.done > step)
            which = np.setdiff1d(np.arange(len(self.done)), [*self.ended, *farther.tolist()])
        q, v, tau = saved["q"][which, samples - 1], saved["v"][which, samples - 1], self.states.tau[which]
        if stepping.drive == SCHEDULED:
            assert self._schedule is not None
            tau = self._schedule[which, min(step, self.steps - 1)] if self.steps else np.zeros_like(v)
        elif stepping.drive == SAMPLED and not stepping.held_longer and self.every == 1:
            tau = saved["force"][which, samples - 2] if samples > 1 else np.zeros_like(v)
        found = self.rate_at(which, time, q, v, tau)
        saved["a"][which, samples - 1], saved["force"][which, samples - 1] = found

    def rate_at(self, which: Any, time: float, q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
        """Acceleration and forces of some trajectories (m, nv) in the modes in which they are, if ``tau`` is asked for."""
        if not len(v):
            return np.zeros_like(v), np.zeros_like(v)
        stepping, t = self.stepping, np.full(len(v), time)
        given, mode = {name: x[which] for name, x in self._constants.items()}, self.states.mode
        if not isinstance(which, slice):
            mode = Mode(*(x[which] for x in mode))
        holds = stepping.plant.has_modes and bool(mode.held.any())
        if self._compiles and not holds:
            tau, around = stepping.asked(t, q, v, tau), stepping.around(t, q, v, given)
            return start_of_numbers(stepping.plant, stepping.mode_inputs(False), q, v, tau, around, mode)
        with np.errstate(all="ignore"):
            force, around = stepping.force(t, q, v, tau, given), stepping.around(t, q, v, given)
            return stepping.plant.acceleration(q, v, force, around, mode, holds=holds), force
