"""The steps of a motion as linear maps of displacements, applied forward and backward: loops over stretches of one kind.

Trajectories take most steps in loops, with or without held joints; those with changes in them are matrices (`changed_steps.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from torsor._once import once
from torsor.arrays.typing import Array
from torsor.errors import ArgumentError
from torsor.functions.public.kinematics import difference
from torsor.linearisation.step_derivatives import Drive
from torsor.linearisation.step_matrices import STEP_MATRICES
from torsor.motion.trajectory import Trajectory
from torsor.simulation.changed_steps import ChangedSteps, Through
from torsor.simulation.step_derivatives import StepDerivatives, derivatives_of
from torsor.simulation.stepping import CONTINUOUS
from torsor.simulation.steps.euler import euler, semi_implicit_euler
from torsor.simulation.steps.rate import Rate
from torsor.simulation.steps.rk4 import rk4

SAME = 1e-9  # how far a step taken again may lead elsewhere by rounding, rad or m
SAME_BY_ITERATIONS = 1e-6  # if it is found by iterations
BLOCK = 64  # steps
FREE, HOLDING, CHANGED = 0, 1, 2


class Stretch(NamedTuple):
    """Steps ``first`` ≤ k < ``end`` of the trajectories ``which``, all of one ``kind``."""

    first: int
    end: int
    which: Array
    kind: int


class LinearSteps:
    """The N − 1 steps of B trajectories. ``groups``: of which numbers of the robot there are derivatives."""

    def __init__(self, run: Trajectory, groups: tuple[str, ...]) -> None:
        self.run, self.groups, robot, steps = run, groups, run.robot, run.steps
        self.B, self.N = int(np.prod(run.batch)), len(run) - 1
        self._steps = steps
        q, v, tau = (x.reshape(self.B, self.N + 1, x.shape[-1]) for x in (run.q, run.v, run.tau))
        modes = steps.modes()
        self._inputs: dict[str, Array] = modes._asdict()
        self._inputs |= {"t": np.broadcast_to(steps.numbers[:-1] * steps.dt, (self.B, self.N))}
        self._inputs |= {"q": q[:, :-1], "v": v[:, :-1], "q_next": q[:, 1:], "v_next": v[:, 1:]}
        self._inputs["tau"] = tau[:, :-1]
        self._constants = {**steps.constants, "h": np.full(self.B, steps.dt)}
        effort = steps.stepping.plant.effort
        clamps = effort is not None and steps.stepping.drive != CONTINUOUS  # a law's clamps are in the step
        self._given = np.abs(self._inputs["tau"]) < effort if clamps else np.ones((self.B, self.N, robot.nv), bool)
        self._kinds = np.where(modes.held.any(axis=-1), HOLDING, FREE)
        self._careful = {(step.which, k): step for k, step in steps.careful_steps()}
        for which, k in self._careful:
            self._kinds[which, k] = CHANGED

    @once
    def words(self) -> tuple[str, ...]:
        """What is to be said about steps with changes."""
        return tuple(word for through in self._through.values() for word in through.words)

    def pushed(self, start: Array, tau: Array, groups: Mapping[str, Array]) -> Array:
        """Displacements (R, B, N, 2 nv) of all samples for (R, B, 2 nv), (R, B, N − 1, nv) and (R, B, …) of groups."""
        nv, tau = self.run.robot.nv, tau * self._given
        x = np.empty((len(start), self.B, self.N + 1, 2 * nv))
        x[:, :, 0] = start
        for s in self._stretches():
            of, steps, now = s.which, slice(s.first, s.end), x[:, s.which, s.first]
            if s.kind == CHANGED:
                for k in of.tolist():
                    moves = {"q": now[:, 0, :nv], "v": now[:, 0, nv:], "tau": tau[:, k, s.first]}
                    moves |= {group: groups[group][:, k] for group in self.groups}
                    rows = np.concatenate([y.reshape(len(y), -1) for y in moves.values()], axis=-1)
                    x[:, k, s.end] = rows @ self._through[k, s.first].matrix.T
                continue
            given = {"move_q": now[..., :nv], "move_v": now[..., nv:], "move_tau": tau[:, of, steps]}
            given |= {f"move_{group}": groups[group][:, of] for group in self.groups}
            derivatives = self._derivatives(s.kind)
            found = derivatives.pushing(steps=s.end - s.first, **given, **self._stretch(s, derivatives))
            self._check(s, found["apart"][0])
            x[:, of, s.first + 1 : s.end + 1] = np.concatenate([found["move_q"], found["move_v"]], axis=-1)
        return x

    def pulled(self, weights: Array) -> tuple[Array, Array, dict[str, Array]]:
        """Gradients (R, B, 2 nv) by the start, (R, B, N − 1, nv) by forces, and by groups, for weights (R, B, N, 2 nv)."""
        nv, R = self.run.robot.nv, len(weights)
        tau = np.zeros((R, self.B, self.N, nv))
        shapes = self._derivatives(FREE).moves
        by = {group: np.zeros((R, self.B, *shapes[group])) for group in self.groups}
        at = weights[:, :, -1].copy()
        for s in reversed(list(self._stretches())):
            of, steps = s.which, slice(s.first, s.end)
            if s.kind == CHANGED:
                for k in of.tolist():
                    row = at[:, k] @ self._through[k, s.first].matrix
                    places = self._changed.places
                    tau[:, k, s.first] = row[:, places["tau"]]
                    for group in self.groups:
                        by[group][:, k] += row[:, places[group]].reshape(R, *shapes[group])
                    at[:, k] = row[:, : 2 * nv] + weights[:, k, s.first]
                continue
            more = weights[:, of, steps][:, :, ::-1]
            given = {"weight_q": at[:, of, :nv], "weight_v": at[:, of, nv:]}
            given |= {"more_q": more[..., :nv], "more_v": more[..., nv:]}
            given |= {f"by_{group}": x[:, of] for group, x in by.items()}
            derivatives = self._derivatives(s.kind)
            along = self._stretch(s, derivatives)
            along = {name: x[:, ::-1] if name in self._changing(derivatives) else x for name, x in along.items()}
            found = derivatives.pulling(steps=s.end - s.first, **given, **along)
            self._check(s, found["apart"][0][:, ::-1])
            tau[:, of, steps] = found["by_tau"][:, :, ::-1]
            at[:, of] = np.concatenate([found["weight_q"][:, :, -1], found["weight_v"][:, :, -1]], axis=-1)
            for group in self.groups:
                by[group][:, of] = found[f"by_{group}"][:, :, -1]
        return at, tau * self._given, by

    @once
    def matrices(self) -> Array:
        """(B, N − 1, 2 nv, 3 nv): each step's state after by that before and by its forces."""
        nv = self.run.robot.nv
        found = np.empty((self.B, self.N, 2 * nv, 3 * nv))
        for s in self._stretches():
            for k in s.which.tolist():
                if s.kind == CHANGED:
                    found[k, s.first] = self._through[k, s.first].matrix[:, : 3 * nv]
                elif s.kind == FREE and (method := self._linearised) is not None:
                    self._by_linearisation(method, k, s, found[k, s.first : s.end])
                else:
                    found[k, s.first : s.end] = self._by_directions(k, s)
        found[..., 2 * nv :] *= self._given[:, :, None]
        return found

    @property
    def _linearised(self) -> str | None:
        """The name of the method if its derivatives can be put together from those of forward dynamics, which is far faster."""
        stepping = self._steps.stepping
        plant, names = stepping.plant, {rk4: "rk4", semi_implicit_euler: "semi_implicit_euler", euler: "euler"}
        smooth = not plant.sticks and (plant.stops is None or plant.stops.are_hard or not len(plant.stopped))
        held = stepping.drive != CONTINUOUS and stepping.base_motion is None
        held = held and all(asked is None for _, asked in stepping.wrenches)
        return names.get(stepping.method) if smooth and held else None

    def _by_linearisation(self, method: str, k: int, s: Stretch, found: Array) -> None:
        """Write the matrices of a stretch of one trajectory, some steps at a time: those fit the processor's cache."""
        run, h, nv, none = self.run, self._steps.dt, self.run.robot.nv, np.zeros(0)
        constants = {name: x[k] for name, x in self._constants.items()}
        around = self._steps.stepping.around(np.zeros(()), run.q, run.v, constants)
        for first in range(s.first, s.end, BLOCK):
            steps = slice(first, min(first + BLOCK, s.end))
            q, v, tau = (self._inputs[name][k, steps] for name in ("q", "v", "tau"))
            drive = Drive(run.robot, tau, around.wrenches or None, around.base_motion)
            at = slice(first - s.first, steps.stop - s.first)
            external = {"wrenches": around.wrenches or None, "base_motion": around.base_motion}
            near = STEP_MATRICES[method](run.robot, q, v, tau, h, **external)
            found[at, :, : 2 * nv], found[at, :, 2 * nv :] = near.A, near.B
            rate = _rate_of(drive, none)
            new = self._steps.stepping.method(run.robot, rate, self._inputs["t"][k, steps], q, v, np.asarray(h))
            apart = [difference(run.robot, self._inputs["q_next"][k, steps], new.q)]
            apart.append(h * (new.v - self._inputs["v_next"][k, steps]))
            some = Stretch(first, steps.stop, np.array([k]), s.kind)
            self._check(some, np.concatenate(apart, axis=-1)[None])

    def _by_directions(self, k: int, s: Stretch) -> Array:
        """The matrices (steps, 2 nv, 3 nv) of a stretch of one trajectory, by all directions."""
        nv, d = self.run.robot.nv, derivatives_of(self._steps.stepping, s.kind == HOLDING, (), False)
        one, alone = np.eye(3 * nv)[:, None], s._replace(which=np.array([k]))
        given = {name: x[0] for name, x in self._stretch(alone, d).items()}
        inverse = given.pop("inverse", None)
        given |= {"move_q": one[..., :nv], "move_v": one[..., nv : 2 * nv], "move_tau": one[..., 2 * nv :]}
        given |= {"move_u": np.zeros(nv)} if d.is_implicit else {}
        made = d.kernel(**given)
        if inverse is not None:
            given["move_u"] = -np.einsum("kij,rkj->rki", inverse, made["equation"])
            made = d.kernel(**given)
        self._check(alone, made["apart"][0][None])
        return np.moveaxis(np.concatenate([made["q"], made["v"]], axis=-1), 0, -1)

    def _derivatives(self, kind: int) -> StepDerivatives:
        return derivatives_of(self._steps.stepping, kind == HOLDING, self.groups, False)

    @once
    def _changed(self) -> ChangedSteps:
        return ChangedSteps(derivatives_of(self._steps.stepping, True, self.groups, True))

    @once
    def _through(self) -> dict[tuple[int, int], Through]:
        """The matrices of the steps with changes in them."""
        found = {}
        for (which, k), step in self._careful.items():
            end = (self._inputs["q_next"][which, k], self._inputs["v_next"][which, k])
            constants = {name: x[which] for name, x in self._constants.items()}
            through = self._changed.through(step, end, self._inputs["tau"][which, k], constants)
            if not through.apart <= self._tolerance(k, (which,)):
                self._refuse(np.array([k]))
            found[which, k] = through
        return found

    def _stretches(self) -> Iterator[Stretch]:
        """The steps in order of time: as many as are of one kind in each trajectory."""
        kinds = self._kinds
        if not self.B:
            return
        alike = np.all(kinds[:, 1:] == kinds[:, :-1], axis=0) & np.all(kinds[:, 1:] != CHANGED, axis=0)
        bounds = [0, *(1 + np.flatnonzero(~alike)).tolist(), self.N]
        for first, end in pairwise(bounds):
            for kind in (FREE, HOLDING, CHANGED):
                if len(which := np.flatnonzero(kinds[:, first] == kind)):
                    yield Stretch(first, end, which, kind)

    def _changing(self, derivatives: StepDerivatives) -> tuple[str, ...]:
        return (*derivatives.step_inputs, "inverse")

    def _stretch(self, s: Stretch, derivatives: StepDerivatives) -> dict[str, Array]:
        """The inputs (b, steps, …) and constants (b, …) of the loops over a stretch."""
        everyone = len(s.which) == self.B
        of: Any = slice(None) if everyone else s.which
        given = {name: self._inputs[name][of, s.first : s.end] for name in derivatives.step_inputs if name != "u"}
        constants = {name: self._constants[name][of] for name in derivatives.constants}
        if not derivatives.is_implicit:
            return given | constants
        robot, nv = self.run.robot, self.run.robot.nv
        u = difference(robot, given["q"], given["q_next"])
        given["u"] = u if derivatives.stepping.is_variational else u / self._steps.dt
        moves = {f"move_{name}": np.zeros(shape) for name, shape in derivatives.moves.items()}
        moves["move_u"] = np.eye(nv)[:, None, None]
        made = derivatives.kernel(**given, **{name: x[:, None] for name, x in constants.items()}, **moves)
        by_u = np.moveaxis(made["equation"], 0, -1)  # (b, steps, nv, nv)
        return given | constants | {"inverse": np.linalg.inv(by_u)}

    def _tolerance(self, k: Any, which: Any) -> Array:
        """How far steps may lead elsewhere, rad or m."""
        fast = np.abs(self._inputs["v"][which][..., k, :]).max(axis=-1, initial=0.0)
        by_iterations = derivatives_of(self._steps.stepping, False, self.groups, False).is_implicit
        return (SAME_BY_ITERATIONS if by_iterations else SAME) * (1.0 + self._steps.dt * fast)

    def _check(self, s: Stretch, apart: Array, which: Any = None) -> None:
        """Raise if steps (b, steps, 2 nv) taken again did not lead to the next samples."""
        of = s.which if which is None else list(which)
        far = np.abs(apart).max(axis=-1, initial=0.0)
        limit = self._tolerance(slice(s.first, s.end), of)
        other = ~(far <= limit)
        if np.any(other):
            self._refuse(s.first + np.flatnonzero(other.any(axis=0)))

    def _refuse(self, steps: Array) -> None:
        times = self.run.time[:-1][steps]
        listed = ", ".join(f"{t:.6g}" for t in times[:5]) + (" …" if len(times) > 5 else "")
        raise ArgumentError(
            f"sensitivities: {len(times)} steps of `run` taken again do not lead to its next samples: those at {listed} s. "
            "Its samples were changed; pass what torsor.simulate gave."
        )


def _rate_of(drive: Drive, power: Array) -> Any:
    def rate(t: Array, q: Array, v: Array) -> Rate:
        return Rate(drive.accelerate(q, v), power)

    return rate
