"""Steps under a controller that is called from Python: one array in, one array out, and nothing else in between.

What a step costs beside the controller is then the step itself. The whole state of all trajectories is one row of numbers, the
input of one step and the output of the one before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from torsor._once import once
from torsor.arrays import concat
from torsor.arrays.typing import Array
from torsor.compiler.kernel import Kernel
from torsor.compiler.run.fast_entry import new_arrays
from torsor.compiler.run.native import address_of
from torsor.functions.compile import compile as compiled
from torsor.model import Robot
from torsor.simulation.stepping import Stepping

ROWS = 1024  # steps for which memory is taken at once: little enough for it to be used again


class AskedLoop:
    """A loop in Python around a compiled step, for modes in which no joint is held."""

    def __init__(self, stepping: Stepping) -> None:
        self._stepping = stepping
        robot = stepping.robot
        sizes = {
            "q": robot.nq,
            "v": robot.nv,
            "work": len(stepping.works),
            "a": robot.nv,
            "force": robot.nv,
            "left": 1,
            "t": 1,
        }
        ends = np.cumsum(list(sizes.values())).tolist()
        self.parts = {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)}
        self.width = ends[-1]
        self._constants = {name: shape for name, shape in stepping.constants(False).items() if name != "tau"}

    @once
    def kernel(self) -> Kernel:
        """(row, tau, constants) → the row after the step."""

        def step(robot: Robot, row: Array, tau: Array, constants: Array) -> Array:
            given = {name: row[..., self.parts[name]] for name in ("q", "v", "work")}
            given |= {name: row[..., self.parts[name].start] for name in ("left", "t")}
            start = 0
            for name, shape in self._constants.items():
                size = shape[0] if shape else 1
                given[name] = constants[..., start : start + size] if shape else constants[..., start]
                start += size
            new = self._stepping.loop_step(robot, holds=False, tau=tau, **given)
            t = given["t"] + given["h"]
            ones = [new["left"][..., None], t[..., None]]
            return concat([new["q"], new["v"], new["work"], new["a"], new["force"], *ones])

        shapes = {"row": self.width, "tau": self._stepping.robot.nv, "constants": self.packed_size}
        return compiled(step, self._stepping.robot, shapes)

    @property
    def packed_size(self) -> int:
        """How many numbers the constants are."""
        return sum(shape[0] if shape else 1 for shape in self._constants.values())

    def packed(self, given: dict[str, Array], B: int) -> Array:
        """The constants of all trajectories as one array (B, k)."""
        packed, end = np.empty((B, self.packed_size)), 0
        for name, shape in self._constants.items():
            start, end = end, end + (shape[0] if shape else 1)
            packed[:, start:end] = given[name] if shape else given[name][:, None]
        return packed

    def run(
        self,
        start: dict[str, Array],
        constants: Array,
        controller: Callable[[float, Array, Array], Any],
        checked: Callable[[Any], Array],
        times: list[float],
        batch: tuple[int, ...],
    ) -> tuple[Array, Array | None, bool]:
        """Rows (n + 1, B, width) of steps that begin at ``times``, and, if the last could not be taken, what was asked for.

        Then whether Ctrl-C ended them. ``controller`` gives forces (*batch, nv), or what ``checked`` makes of them or refuses.
        """
        B, steps = len(constants), len(times)
        rows = new_arrays([(steps + 1, B, self.width)], np.dtype(np.float64))[0]
        rows[0, :, :] = 0.0
        for name, x in start.items():
            rows[0, :, self.parts[name]] = x.reshape(B, -1)
        rows[0, :, self.parts["left"]] = np.inf
        shaped = rows.reshape(steps + 1, *batch, self.width)
        seen = shaped[...]
        seen.flags.writeable = False  # a controller looks at the state, and does not write into it
        qs, vs, now = seen[..., self.parts["q"]], seen[..., self.parts["v"]], shaped[0]
        place, step, fixed = self.parts["left"].start, self.kernel, constants.reshape(*batch, -1)
        # Whether the steps so far were taken: as floats where there is one trajectory, for they are faster to look at
        lefts: Any = shaped[..., place] if batch else memoryview(rows[:, 0, place])  # type: ignore[arg-type]
        tau = np.zeros(0)
        # Nothing is done here that is not done at every step: what a controller gives is looked at where it does not fit
        try:
            for t, q, v, after, left in zip(times, qs, vs, shaped[1:], lefts, strict=False):
                if (left.min() if batch else left) < 0.0:  # of the step before: this one is not asked for yet
                    break
                tau = checked(controller(t, q, v)) if batch else controller(t, q, v)  # one row would do for all
                try:
                    step(now, tau, fixed, out=after)
                except Exception:
                    tau = checked(tau)
                    step(now, tau, fixed, out=after)
                now = after
        except KeyboardInterrupt:
            return self._taken(rows, now), None, True
        taken = self._taken(rows, now)
        return taken, checked(tau) if len(taken) <= _number(rows, now) else None, False

    def _taken(self, rows: Array, last: Array) -> Array:
        """The rows until the ``last`` one that a step has written, without that if the step was not taken."""
        number = _number(rows, last)
        return rows[: number + bool(rows[number, :, self.parts["left"]].min() >= 0.0)]


def _number(rows: Array, row: Array) -> int:
    """Which of the rows one is: nobody counts while steps are taken."""
    return int((address_of(row) - address_of(rows)) // rows.strides[0])
