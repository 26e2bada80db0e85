"""Fixed steps of one trajectory or many: loops in machine code as far as modes last, careful steps where they change.

Trajectories are at steps of their own: each loop advances all those of one kind, and who meets a margin waits for a careful step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from torsor._once import once
from torsor.arrays.typing import Array
from torsor.compiler.backend import compiles
from torsor.compiler.scan import Scan
from torsor.functions.public.dynamics import mass_matrix
from torsor.simulation.asked_loop import ROWS
from torsor.simulation.careful import CarefulStep, Moment, States
from torsor.simulation.given import Setup
from torsor.simulation.plant import WORKS, Mode
from torsor.simulation.stepping import CONSTANT, CONTINUOUS, SAMPLED, SCHEDULED, Stepping

FIRST, LONGEST, AT_ONCE = (
    128,
    4096,
    1 << 19,
)  # steps of the first loop, and of any; numbers that one loop may save apart
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
        self.events, drive = setup.events, setup.drive
        self._schedule, self._constants, self._control_every = drive.schedule, setup.constants, setup.control_every
        B, robot = len(setup.q), stepping.robot
        work = np.zeros((B, len(WORKS)))
        self.states = States(np.zeros(B), setup.q.copy(), setup.v.copy(), work, np.array(drive.tau), setup.mode)
        self.memory: dict[str, Array] = {}
        if drive.kind == SAMPLED and drive.memory is not None:
            leaves = drive.memory.leaves or {}
            self.memory = {name: np.array(np.broadcast_to(x, (B, *x.shape))) for name, x in leaves.items()}
        self.carried: dict[str, Array] = {}
        self.done = np.zeros(B, int)
        saved = steps // every + 1 + (steps % every > 0)
        self.q, self.v = np.empty((B, saved, robot.nq)), np.empty((B, saved, robot.nv))
        self.a, self.force = np.empty((B, saved, robot.nv)), np.empty((B, saved, robot.nv))
        self.work = np.empty((B, saved, len(WORKS)))
        self.moments: list[Moment] = []
        self.ended: dict[int, tuple[float, Array, Array]] = {}
        self._chunk = FIRST
        self._compiles = compiles() and stepping.is_traceable
        if stepping.plant.may_hold(self.states.q, self.states.mode):
            careful = CarefulStep(stepping, setup.constants, ())
            self.states = careful.settled(self.states)
            self.moments += careful.moments
        self._begin(np.arange(B))
        self.first_mode = Mode(*(np.array(x) for x in self.states.mode))
        self.q[:, 0], self.v[:, 0], self.work[:, 0] = self.states.q, self.states.v, self.states.work

    @once
    def time(self) -> Array:
        """Times of what is saved, s."""
        numbers = np.arange(0, self.steps + 1, self.every)
        return self.dt * np.append(numbers, [self.steps] if self.steps % self.every else []).astype(float)

    @property
    def completed(self) -> int:
        """How many steps all trajectories have taken."""
        return int(self.done.min(initial=self.steps))

    def run(self, until: int, progress: Callable[[int], Any] = lambda n: None) -> None:
        """Go on to step ``until``."""
        before = self.completed
        while len(waiting := np.flatnonzero(self.done < until)):
            holding = self.states.mode.held[waiting].any(axis=-1)
            for holds in (False, True):
                if len(group := waiting[holding == holds]):
                    self._advance(group, holds, until)
            now = self.completed
            progress(now - before)
            before = now

    def run_asking(
        self, ask: Callable[[float, Array, Array], Array], progress: Callable[[int], Any] = lambda n: None
    ) -> None:
        """Go to the end under a controller that is called from Python and held for a number of steps."""
        dt, every = self.dt, self._control_every
        while (now := self.completed) < self.steps:
            if every == 1 and self._compiles and self._has_quick_steps and not self.states.mode.held.any():
                self._run_quickly(ask, now, min(ROWS, self.steps - now))
            else:
                shaped = (x.reshape(*self.setup.batch, -1).copy() for x in (self.states.q, self.states.v))
                self.states.tau[:] = ask(now * dt, *shaped).reshape(self.states.tau.shape)
                self.run(min(now + every, self.steps))
            progress(self.completed - now)

    @property
    def _has_quick_steps(self) -> bool:
        return not self.events and not self.stepping.step_memory

    def _run_quickly(self, ask: Callable[[float, Array, Array], Array], now: int, steps: int) -> None:
        """Some steps with nothing but the controller and the compiled step; a step that changes the mode is taken with care."""
        s, loop, dt = self.states, self.stepping.asked_loop, self.dt
        given = {name: getattr(s.mode, name) for name in self.stepping.mode_inputs(False)} | self._constants
        constants = loop.packed(given | {"h": np.full(len(s.t), dt)}, len(s.t))
        start = {"q": s.q, "v": s.v, "work": s.work, "t": np.full(len(s.t), now * dt)}
        times = (dt * np.arange(now, now + steps)).tolist()
        rows, asked, interrupted = loop.run(start, constants, ask, times, self.setup.batch)
        taken = len(rows) - 1
        # A row has the state after a step, and acceleration and force at its start
        saved = {name: np.moveaxis(rows[1:, :, loop.parts[name]], 0, 1) for name in ("q", "v", "work", "a", "force")}
        self._save_alike(slice(None), now, taken, saved)
        s.q[:], s.v[:], s.work[:] = (rows[-1, :, loop.parts[name]] for name in ("q", "v", "work"))
        self.done[:], s.t[:] = now + taken, (now + taken) * dt
        if taken:
            s.tau[:] = rows[-1, :, loop.parts["force"]]
        if interrupted:
            raise KeyboardInterrupt
        if asked is not None:
            s.tau[:] = asked.reshape(s.tau.shape)
            self.run(now + taken + 1)

    def _advance(self, group: Array, holds: bool, until: int) -> None:
        """One loop over some trajectories, and a careful step for those that stop in it."""
        everyone = len(group) == len(self.done)
        which: Any = slice(None) if everyone else group
        done = self.done[which]
        width = sum(x.shape[-1] for x in (self.q, self.v, self.a, self.force, self.work)) + 2
        most = max(
            1, self._chunk if everyone and self.every == 1 else min(self._chunk, AT_ONCE // (width * len(group)))
        )
        if self.events:
            most = min(most, WITH_EVENTS)
        length = int(min(most, until - done.min()))
        left = np.minimum(length, until - done).astype(float)
        rows, final = self._loop(which, done, left, length, holds)
        waits = final["left"] < 0.0
        completed = (left - np.abs(final["left"])).astype(int)
        if self.events:
            completed, waits = self._before_events(group, done, rows, completed, waits)
        self._save(which, group, done, rows, completed)
        self._take_over(which, group, rows, final, completed, waits)
        self.done[which] = done + completed
        if np.any(waits):
            self._chunk = max(8, self._chunk // 4)
            self._careful(group[waits], {name: x[waits] for name, x in rows.items()}, completed[waits])
        else:
            self._chunk = min(4 * self._chunk, LONGEST)

    def _loop(
        self, which: Any, done: Array, left: Array, length: int, holds: bool
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        """What is saved of each step (m, length, …), and the state after the last."""
        stepping, s = self.stepping, self.states
        together = isinstance(which, slice) and bool(np.all(done == done[0]))
        numbers = done[0] + np.arange(length) if together else done[:, None] + np.arange(length)
        given: dict[str, Array] = {"q": s.q[which], "v": s.v[which], "work": s.work[which], "left": left}
        given["t"] = numbers * self.dt
        if stepping.drive == SAMPLED:
            given |= {name: x[which] for name, x in self.memory.items()}
            if stepping.held_longer:
                given["held_tau"] = s.tau[which]
                given["asks"] = (numbers % self._control_every == 0).astype(float)
        elif stepping.drive == SCHEDULED:
            assert self._schedule is not None
            rows: Any = np.arange(len(self.done))[which]
            given["tau"] = self._schedule[rows[:, None], np.minimum(numbers, self.steps - 1)]
        elif stepping.drive == CONSTANT:
            given["tau"] = s.tau[which]
        given |= {name: x[which] for name, x in self.carried.items()}
        given |= {name: getattr(s.mode, name)[which] for name in stepping.mode_inputs(holds)}
        given |= {name: x[which] for name, x in self._constants.items()} | {"h": np.array(self.dt)}
        if not self._compiles:
            many = {name: np.broadcast_to(given[name], (len(done), length, *x)) for name, x in stepping.inputs.items()}
            found = self._called(given | many | {"h": np.full(len(done), self.dt)}, length, holds)
        else:
            loop = stepping.holding_loop if holds else stepping.free_loop
            out = self._places(loop, int(done[0]), length) if together and self.every == 1 else None
            found = loop(steps=length, **given, out=out)
        return found, {name: found[name][:, -1] for name in stepping.state}

    def _places(self, loop: Scan, done: int, length: int) -> dict[str, Array]:
        """Where the loop writes what it saves: into the record itself, as far as that is kept."""
        after, during = slice(done + 1, done + 1 + length), slice(done, done + length)
        kept = {name: getattr(self, name)[:, after] for name in ("q", "v", "work")}
        kept |= {name: getattr(self, name)[:, during] for name in ("a", "force")}
        B = len(self.done)
        return {name: kept[name] if name in kept else np.empty((B, length, *x)) for name, x in loop.outputs.items()}

    def _called(self, given: dict[str, Array], length: int, holds: bool) -> dict[str, Array]:
        """The same loop in Python."""
        stepping, saved = self.stepping, list[dict[str, Array]]()
        changing = stepping.inputs
        for k in range(length):
            now = given | {name: given[name][:, k] for name in changing}
            with np.errstate(all="ignore"):
                found = stepping.loop_step(stepping.robot, holds=holds, **now)
            saved.append(found)
            given = given | {name: found[name] for name in stepping.state}
        return {name: np.stack([row[name] for row in saved], axis=1) for name in saved[0]}

    def _save(self, which: Any, group: Array, done: Array, rows: dict[str, Array], completed: Array) -> None:
        """Write the samples among the completed steps."""
        if np.may_share_memory(rows["q"], self.q):
            return  # written there by the loop
        if isinstance(which, slice) and np.all(done == done[0]) and np.all(completed == completed[0]):
            self._save_alike(which, int(done[0]), int(completed[0]), rows)
            return
        for place, k in enumerate(group.tolist()):
            self._save_alike(k, int(done[place]), int(completed[place]), {name: x[place] for name, x in rows.items()})

    def _save_alike(self, which: Any, done: int, completed: int, rows: dict[str, Array]) -> None:
        """Samples of trajectories that are at the same step; one of them, or all."""
        N, every = self.steps, self.every
        ends = np.arange(done + 1, done + completed + 1)
        due = (ends % every == 0) | (ends == N)
        places = -(-ends[due] // every)
        if every == 1:
            taken: Any = slice(0, completed)
            to: Any = slice(done + 1, done + completed + 1)
            starts: Any = slice(done, done + completed)
            begun: Any = taken
        else:
            taken, to = np.flatnonzero(due), places
            begun = np.flatnonzero((ends - 1) % every == 0)
            starts = (ends[begun] - 1) // every
        one = not isinstance(which, slice)
        for target, name in ((self.q, "q"), (self.v, "v"), (self.work, "work")):
            if one:
                target[which, to] = rows[name][taken]
            else:
                target[:, to] = rows[name][:, taken]
        for target, name in ((self.a, "a"), (self.force, "force")):
            if one:
                target[which, starts] = rows[name][begun]
            else:
                target[:, starts] = rows[name][:, begun]

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

    def _take_over(
        self,
        which: Any,
        group: Array,
        rows: dict[str, Array],
        final: dict[str, Array],
        completed: Array,
        waits: Array,
    ) -> None:
        """The states after the completed steps; the controller's memory and forces also of the step that waits."""
        s = self.states
        length = rows["left"].shape[1]
        if np.all(completed == length):
            s.q[which], s.v[which], s.work[which] = final["q"], final["v"], final["work"]
            for name, x in self.carried.items():
                x[which] = final[name]
            last = final
        else:
            for name, target in (("q", s.q), ("v", s.v), ("work", s.work), *self.carried.items()):
                some = np.flatnonzero(completed > 0)
                target[group[some]] = rows[name][some, completed[some] - 1]
            at = np.clip(np.where(waits, completed, completed - 1), 0, length - 1)
            last = {name: rows[name][np.arange(len(group)), at] for name in (*self.memory, "held_tau") if name in rows}
        for name, x in self.memory.items():
            x[which] = last[name]
        if "held_tau" in last:
            s.tau[which] = last["held_tau"]
        s.t[which] = (self.done[which] + completed) * self.dt

    def _before_events(
        self, group: Array, done: Array, rows: dict[str, Array], completed: Array, waits: Array
    ) -> tuple[Array, Array]:
        """How many steps are completed before the first event of each trajectory, and who waits for a careful step."""
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
        return completed, waits

    def _careful(self, group: Array, rows: dict[str, Array], at: Array) -> None:
        """One step of each through what happens in it. ``rows`` are those of the loop, ``at`` the one that could not be taken."""
        stepping = self.stepping
        now = self.states.of(group)
        if stepping.drive == SAMPLED:
            asked = rows["held_tau"] if stepping.held_longer else rows["force"]
            now = now._replace(tau=asked[np.arange(len(group)), at])
        elif stepping.drive == SCHEDULED:
            assert self._schedule is not None
            now = now._replace(tau=self._schedule[group, self.done[group]])
        careful = CarefulStep(stepping, {name: x[group] for name, x in self._constants.items()}, self.events)
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
        if stepping.drive == CONTINUOUS:
            new = new._replace(tau=self.states.tau[group])
        self.states.put(group, new)
        self._begin(group)
        for place, k in enumerate(group.tolist()):
            step = int(self.done[k])
            rows_of_one = {"q": new.q, "v": new.v, "work": new.work, "a": a, "force": force}
            self._save_alike(k, step, 1, {name: x[place : place + 1] for name, x in rows_of_one.items()})
            self.done[k] = step + 1
            self.states.t[k] = (step + 1) * self.dt
            if place in careful.ended:
                self.ended[k] = careful.ended[place]
                self.done[k] = self.steps

    def finish(self, samples: int) -> None:
        """Acceleration and forces at the last of so many samples, where no step begins, of motions that come so far."""
        stepping = self.stepping
        step = round(float(self.time[samples - 1]) / self.dt)
        which = np.array([k for k, done in enumerate(self.done.tolist()) if k not in self.ended and done <= step], int)
        q, v, tau = self.q[which, samples - 1], self.v[which, samples - 1], self.states.tau[which]
        if stepping.drive == SCHEDULED:
            assert self._schedule is not None
            tau = self._schedule[which, min(step, self.steps - 1)] if self.steps else np.zeros_like(v)
        elif stepping.drive == SAMPLED and not stepping.held_longer:
            tau = self.force[which, samples - 2] if samples > 1 else np.zeros_like(v)
        found = self.rate_at(which, float(self.time[samples - 1]), q, v, tau)
        self.a[which, samples - 1], self.force[which, samples - 1] = found

    def rate_at(self, which: Array, time: float, q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
        """Acceleration and forces of some trajectories (m, nv) in the modes in which they are, if ``tau`` is asked for."""
        stepping, t = self.stepping, np.full(len(which), time)
        given, mode = (
            {name: x[which] for name, x in self._constants.items()},
            Mode(*(x[which] for x in self.states.mode)),
        )
        if not len(which):
            return np.zeros_like(v), np.zeros_like(v)
        with np.errstate(all="ignore"):
            force = stepping.force(t, q, v, tau, given)
            around, holds = stepping.around(t, q, v, given), bool(mode.held.any())
            return stepping.plant.rate(q, v, force, around, mode, holds=holds).a, force
