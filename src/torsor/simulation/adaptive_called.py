"""Adaptive steps under functions that are called from Python: those of the machine code, one evaluation after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.model import Robot
from torsor.simulation.adaptive import AdaptiveFlow
from torsor.simulation.adaptive_run import RUNNING


class CalledFlow(AdaptiveFlow):
    """A flow of one trajectory whose right-hand side cannot be traced; it takes states (m, …) and loops over them itself."""

    def _looped(self, state: Mapping[str, Any], constants: Mapping[str, Any]) -> Any:
        return _Loop(self, state)

    def _pointed(self, inputs: Mapping[str, Any]) -> Any:
        def point(**given: Array) -> dict[str, Array]:
            with np.errstate(all="ignore"):  # what is not finite is reported
                return self._evaluate(self.robot, **given)

        return point

    def _evaluate(self, robot: Robot, t: Array, q: Array, u: Array, v: Array, **held: Array) -> dict[str, Array]:
        if np.ndim(t):
            return super()._evaluate(robot, t, q, u, v, **held)
        one = {name: np.asarray(x)[None] for name, x in held.items()}
        found = super()._evaluate(robot, np.asarray(t)[None], q[None], u[None], v[None], **one)
        return {name: x[0] for name, x in found.items()}


class _Loop:
    """Takes the place of a compiled loop; it ends when the steps do, so that nothing is asked of states that are not needed."""

    def __init__(self, flow: CalledFlow, state: Mapping[str, Any]) -> None:
        self._flow = flow
        self.state = {name: (shape,) if isinstance(shape, int) else tuple(shape) for name, shape in state.items()}

    def __call__(self, *, steps: int, every: int, row: Array, **given: Array) -> dict[str, Array]:
        """What is there after every so many evaluations, (attempts, …) each."""
        now, saved = given, list[dict[str, Array]]()
        for k in range(steps):
            with np.errstate(all="ignore"):
                now = now | self._flow._attempt(self._flow.robot, row=row[k], **now)
            if k % every == every - 1:
                saved.append(now)
                if now["status"] != RUNNING:
                    break
        return {name: np.stack([np.asarray(one[name], float) for one in saved]) for name in self.state}
