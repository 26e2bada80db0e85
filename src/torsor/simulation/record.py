"""What is saved of a simulation with fixed steps: every k-th step, the first state and the last."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor._once import once
from torsor.arrays.typing import Array
from torsor.compiler.backend import compiles
from torsor.compiler.run.fast_entry import new_arrays
from torsor.model import Robot

STATES, STARTS = ("q", "v", "work"), ("a", "force")  # known after a step, and at its start


class Record:
    """Samples of B trajectories over N steps of dt: q, v, a, force, work (B, samples, …)."""

    def __init__(self, robot: Robot, B: int, *, works: int, dt: float, steps: int, every: int) -> None:
        self.dt, self.steps, self.every = dt, steps, every
        saved = steps // every + 1 + (steps % every > 0)
        sizes = {"q": robot.nq, "v": robot.nv, "a": robot.nv, "force": robot.nv, "work": works}
        self.width = sum(sizes.values())
        # One piece of memory: of several, each has ends that are in no large page, and new pages are a tenth of a long run
        length, end, self.arrays = B * saved * self.width, 0, dict[str, Array]()
        block = new_arrays([(length,)], np.dtype(np.float64))[0] if compiles() else np.empty(length)
        for name, size in sizes.items():
            start, end = end, end + B * saved * size
            self.arrays[name] = block[start:end].reshape(B, saved, size)

    @once
    def time(self) -> Array:
        """Times of the samples, s."""
        numbers = np.arange(0.0, self.steps + 1, self.every)
        return self.dt * (np.append(numbers, self.steps) if self.steps % self.every else numbers)

    def places(self, done: int, samples: int) -> dict[str, Array]:
        """Where the steps from ``done`` on write so many samples: states into the next ones, what is at their start here."""
        first = done // self.every
        after, during = slice(first + 1, first + 1 + samples), slice(first, first + samples)
        places = {name: self.arrays[name][:, after] for name in STATES}
        return places | {name: self.arrays[name][:, during] for name in STARTS}

    def save(self, which: Any, done: int, completed: int, rows: dict[str, Array]) -> None:
        """The samples among completed steps, of which ``rows`` (m, completed, …) has all: of some trajectories alike."""
        if self.every == 1:  # whole pieces are faster
            self._put(which, slice(done + 1, done + completed + 1), STATES, rows, slice(0, completed))
            self._put(which, slice(done, done + completed), STARTS, rows, slice(0, completed))
            return
        ends = np.arange(done + 1, done + completed + 1)
        due = (ends % self.every == 0) | (ends == self.steps)
        taken, begun = np.flatnonzero(due), np.flatnonzero((ends - 1) % self.every == 0)
        self._put(which, -(-ends[taken] // self.every), STATES, rows, taken)
        self._put(which, (ends[begun] - 1) // self.every, STARTS, rows, begun)

    def save_sparse(self, which: Any, done: int, completed: int, rows: dict[str, Array]) -> None:
        """The same where ``rows`` (m, samples, …) has every k-th step alone, beginning with a sample."""
        first, whole = done // self.every, completed // self.every
        self._put(which, slice(first + 1, first + 1 + whole), STATES, rows, slice(0, whole))
        begun = min(whole + 1, rows["a"].shape[1])  # the last may be one that has begun and is not there yet
        self._put(which, slice(first, first + begun), STARTS, rows, slice(0, begun))

    def _put(self, which: Any, to: Any, names: tuple[str, ...], rows: dict[str, Array], taken: Any) -> None:
        for name in names:
            target, row = self.arrays[name], rows[name]
            if isinstance(which, slice):
                target[:, to] = row[:, taken]
            else:
                target[which, to] = row[0, taken]
