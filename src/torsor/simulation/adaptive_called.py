"""Adaptive steps under functions that are called from Python: those of the machine code, one evaluation after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.simulation.adaptive import AdaptiveFlow, Constants
from torsor.simulation.adaptive_attempt import Evaluate
from torsor.simulation.adaptive_run import RUNNING


class CalledFlow(AdaptiveFlow):
    """A flow of one trajectory whose right-hand side cannot be traced; it takes states (m, …) and loops over them itself."""

    def _looped(self, state: Mapping[str, Any], constants: Mapping[str, Any], dense: bool) -> Any:
        return _Loop(self, state)

    def _begin(self, **given: Array) -> dict[str, Array]:
        with np.errstate(all="ignore"):
            one = self._begun(self.robot, **{name: np.asarray(x)[0] for name, x in given.items()})
        return {name: np.asarray(x)[None] for name, x in one.items()}

    def _at_stage(self, held: Constants) -> Evaluate:
        def evaluate(t: Array, q: Array, u: Array, v: Array) -> dict[str, Array]:
            one = {name: np.asarray(x)[None] for name, x in held.items()}
            found = self._evaluate(self.robot, np.asarray(t)[None], q[None], u[None], v[None], **one)
            return {name: x[0] for name, x in found.items()}

        return evaluate

    def _pointed(self, inputs: Mapping[str, Any]) -> Any:
        def point(**given: Array) -> dict[str, Array]:
            with np.errstate(all="ignore"):  # what is not finite is reported
                return self._evaluate(self.robot, **given)

        return point


class _Loop:
    """Takes the place of a compiled loop; it ends when the steps do, so that nothing is asked of states that are not needed."""

    def __init__(self, flow: CalledFlow, state: Mapping[str, Any]) -> None:
        self._flow = flow
        self.state = {name: (shape,) if isinstance(shape, int) else tuple(shape) for name, shape in state.items()}
        stages = (flow.pair.stages, 2 * flow.robot.nv + flow.powers)
        self.outputs = {**self.state, "stages": stages}

    def __call__(self, *, steps: int, **given: Array) -> dict[str, Array]:
        """What is there after each attempted step, (attempts, …) each."""
        now, saved = given, list[dict[str, Array]]()
        for _ in range(steps):
            with np.errstate(all="ignore"):
                now = now | self._flow._attempt(self._flow.robot, True, **now)
            saved.append(now)
            if now["status"] != RUNNING:
                break
        return {name: np.stack([np.asarray(one[name], float) for one in saved]) for name in self.outputs}
