"""How a simulation of fixed steps came about, kept with its `Trajectory`: what a step was, and the mode of each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from torsor._once import once
from torsor.arrays.typing import Array
from torsor.simulation.drives import Batch
from torsor.simulation.plant import Mode
from torsor.simulation.stepping import Stepping


class Part(NamedTuple):
    """A part of a step with changes in it: from t for h in one mode, to where a margin was passed if ``located``.

    ``acted``: an action of the user's changed the state after it. Arrays of one trajectory.
    """

    t: float
    h: float
    q: Array
    v: Array
    mode: Mode
    q_end: Array
    v_end: Array
    located: bool
    acted: bool = False


class CarefulStepTaken(NamedTuple):
    """A step that was not taken in the loop: of which trajectory, its number, its parts, and the mode after it."""

    which: int
    number: int
    parts: Sequence[Part]
    after: Mode


@dataclass(frozen=True, eq=False, repr=False)
class StepsTaken:
    """The steps between the samples of a trajectory, in words "rk4, 1000 steps of 0.001 s".

    ``times`` (N,) of the samples, s. ``constants`` (B, …): inputs of all steps. ``first``: the modes (B, nv) at the start.
    ``careful``: all steps in which the mode may have changed.
    """

    method: str
    dt: float
    stepping: Stepping
    batch: Batch
    times: Array
    constants: Mapping[str, Array]
    first: Mode
    careful: Sequence[CarefulStepTaken]

    @classmethod
    def of_rollout(cls, rollout: Any, method: str, batch: Batch, time: Array) -> StepsTaken:
        """Those of a `rollout.Rollout` with samples at times (N,)."""
        constants, careful = rollout.setup.acts.constants, tuple(rollout.careful)
        return cls(method, rollout.dt, rollout.stepping, batch, time, constants, rollout.first_mode, careful)

    @once
    def numbers(self) -> Array:
        """The number (N,) of the step that begins at each sample; −1 where none does: where an event ended the motion."""
        numbers = np.rint(self.times / self.dt).astype(int)
        numbers[numbers * self.dt != self.times] = -1
        return numbers

    def __repr__(self) -> str:
        """How many steps there are, how long, and by which method."""
        return f"<{len(self.times) - 1} steps of {self.dt:g} s by {self.method!r}>"

    def cut(self, which: slice) -> StepsTaken:
        """Those of some of the samples."""
        return replace(self, times=self.times[which])

    def of(self, which: tuple[int, ...]) -> StepsTaken:
        """Those of one trajectory of a batch."""
        k = int(np.ravel_multi_index(which, self.batch, mode="wrap"))
        return replace(
            self,
            batch=(),
            constants={name: x[k : k + 1] for name, x in self.constants.items()},
            first=Mode(*(x[k : k + 1] for x in self.first)),
            careful=[step._replace(which=0) for step in self.careful if step.which == k],
        )

    def modes(self) -> Mode:
        """The mode (B, N − 1, nv) at the start of each step between samples."""
        numbers = self.numbers[:-1]
        fields = [np.repeat(x[:, None], len(numbers), axis=1) for x in self.first]
        for step in self.careful:
            later = numbers > step.number
            for mine, its in zip(fields, step.after, strict=True):
                mine[step.which, later] = its
        return Mode(*fields)

    def careful_steps(self) -> list[tuple[int, CarefulStepTaken]]:
        """The careful steps between samples, each with its place among them."""
        place = {int(number): k for k, number in enumerate(self.numbers[:-1])}
        return [(place[step.number], step) for step in self.careful if step.number in place]


def copied(mode: Mode, k: Any) -> Mode:
    """The mode of one of several trajectories."""
    return Mode(*(x[k].copy() for x in mode))
