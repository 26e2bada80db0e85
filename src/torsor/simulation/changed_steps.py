"""The derivative of a step in which the mode changes: through its parts, the moments between them, and impacts.

A part goes on until a margin m of its mode is zero. With the start of a part moved by δx the moment moves, too::

    δs = −(∂m/∂x δx) / (∂m/∂s),   δx_end = ∂x_end/∂x δx + ∂x_end/∂s δs

and what is left of the step is shorter by δs. So the derivative is that of the step as it was taken, with the jump at each change
(the saltation matrix of hybrid systems [KPZJ24]). A moment that is only touched has no such derivative; then δs = 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.compiler.kernel import Kernel
from torsor.functions.derivative import derivative
from torsor.functions.public.dynamics import mass_matrix
from torsor.functions.public.kinematics import difference
from torsor.simulation.plant import Mode
from torsor.simulation.step_derivatives import StepDerivatives
from torsor.simulation.step_relation import after_impact
from torsor.simulation.steps_taken import CarefulStepTaken, Part

SLOWEST = 1e-12  # of a margin's change with the state: one that goes to zero more slowly is only touched


class Through(NamedTuple):
    """The derivative (2 nv, directions) of a step by its directions, and what is to be said about it."""

    matrix: Array
    apart: float
    words: tuple[str, ...]


class ChangedSteps:
    """Derivatives of steps with changes, by start (2 nv), joint forces (nv) and groups of the robot's numbers, as columns."""

    def __init__(self, derivatives: StepDerivatives) -> None:
        self._of, self._robot = derivatives, derivatives.stepping.robot
        sizes = {name: int(np.prod(x)) for name, x in derivatives.moves.items() if name not in ("u", "h", "t")}
        ends = np.cumsum([0, *sizes.values()]).tolist()
        self.places = {name: slice(*ends[k : k + 2]) for k, name in enumerate(sizes)}
        self.size = ends[-1]
        self._impact: Kernel | None = None

    def through(
        self, step: CarefulStepTaken, end: tuple[Array, Array], tau: Array, constants: dict[str, Array]
    ) -> Through:
        """One step to the state ``end``, by all its parts."""
        nv, words = self._robot.nv, list[str]()
        x = np.zeros((2 * nv, self.size))  # what the state has moved by
        x[:nv, self.places["q"]] = x[nv:, self.places["v"]] = np.eye(nv)
        late, apart = np.zeros(self.size), 0.0  # by how much the moment of the part's start has moved
        for k, part in enumerate(step.parts):
            last = k == len(step.parts) - 1
            found = self._part(part, tau, constants)
            apart = max(apart, found.apart)
            moved = found.by_start @ x + found.by_rest + np.outer(found.by_time, late)
            if last:
                x = moved - np.outer(found.by_length, late)
                continue
            shift = np.zeros(self.size)
            if part.located and found.margin > 0.0:
                words.append(f"an event at {part.t + part.h:.6g} s divides its step; its time is held")
            elif part.located and part.h > 0.0:
                change = found.margin_by_start @ x + found.margin_by_rest + found.margin_by_time * late
                rate = found.margin_by_length
                if rate < -SLOWEST * (1.0 + np.abs(found.margin_by_start).max(initial=0.0)):
                    shift = -change / rate
                else:
                    words.append(f"a change at {part.t + part.h:.6g} s is only touched; its time is held")
            x, late = moved + np.outer(found.by_length, shift), late + shift
            after = step.parts[k + 1]
            x = self._after(part, (after.q, after.v, after.mode), x)
        return Through(x, apart, tuple(words))

    def _part(self, part: Part, tau: Array, constants: dict[str, Array]) -> _PartDerivative:
        """The derivatives of a part by everything, by one call for all directions."""
        nv, d = self._robot.nv, self._of
        names = [name for name in d.moves if name not in self.places]
        sizes = {"start": self.size} | {name: max(1, int(np.prod(d.moves[name]))) for name in names}
        ends = np.cumsum([0, *sizes.values()]).tolist()
        rows = {name: slice(*ends[k : k + 2]) for k, name in enumerate(sizes)}
        given: dict[str, Any] = {"t": part.t, "q": part.q, "v": part.v, "q_next": part.q_end, "v_next": part.v_end}
        given |= {name: getattr(part.mode, name) for name in Mode._fields} | constants | {"h": part.h, "tau": tau}
        if d.is_implicit:
            given["u"] = difference(self._robot, part.q, part.q_end) / part.h if part.h else part.v
        for name, shape in d.moves.items():
            block = np.zeros((ends[-1], max(1, int(np.prod(shape)))))
            at = self.places.get(name, rows.get(name))
            block[at] = np.eye(block.shape[1])
            given[f"move_{name}"] = block.reshape(ends[-1], *shape)
        with np.errstate(all="ignore"):
            found = d.kernel(**{name: given[name] for name in d.kernel.inputs})
        x = np.concatenate([found["q"], found["v"], found["least"][:, None]], axis=-1)
        if d.is_implicit:
            by_u = found["equation"][rows["u"]].T
            x = x - (np.linalg.solve(by_u, found["equation"].T).T) @ x[rows["u"]]
        x = x.T
        first, apart = x[:, : self.size], float(np.abs(found["apart"][0]).max(initial=0.0))
        start = np.zeros((2 * nv, self.size))
        start[:nv, self.places["q"]] = start[nv:, self.places["v"]] = np.eye(nv)
        rest = first - first @ start.T @ start
        h, t = x[:, rows["h"]][:, 0], x[:, rows["t"]][:, 0]
        by_start = first @ start.T
        return _PartDerivative(
            by_start[:-1], rest[:-1], h[:-1], t[:-1], by_start[-1], rest[-1], h[-1], t[-1], found["margin"][0], apart
        )

    def _after(self, part: Part, after: tuple[Array, Array, Mode], x: Array) -> Array:
        """The changes just after a change of mode: impacts, joints that came to rest, joints at their stops."""
        nv, plant = self._robot.nv, self._of.stepping.plant
        (q, v, mode), x = after, x.copy()
        stopped = np.zeros(nv, bool)
        if plant.stops is not None and plant.stops.are_hard:
            for i in plant.stopped.tolist():
                at = q[plant.places[i]]
                stopped[i] = at in (mode.lower[i], mode.upper[i])
        x[:nv][stopped] = 0.0
        jump = v - part.v_end
        if np.any(stopped & (jump != 0.0)):
            x[nv:] = self._impacted(part, q, v, stopped, x)
        x[nv:][(v == 0.0) & (part.v_end != 0.0)] = 0.0  # at rest from here on
        return x

    def _impacted(self, part: Part, q: Array, v: Array, stopped: Array, x: Array) -> Array:
        """The changes of the velocities after impacts at stops."""
        nv, before = self._robot.nv, part.v_end
        M = mass_matrix(self._robot, q)
        impulse = M @ (v - before)
        pushed = stopped & (np.abs(impulse) > 1e-9 * (np.abs(M) @ (np.abs(v) + np.abs(before))))
        moving = pushed & (before != 0.0)
        back = np.where(moving, -v / np.where(moving, before, 1.0), 0.0)
        if self._impact is None:
            inputs = {"q": (self._robot.nq,), **dict.fromkeys(("v", "pushed", "back"), (nv,))}
            self._impact = derivative(after_impact, self._robot, inputs, wrt=("q", "v", *self._of.groups))
        slopes = self._impact(q, before, pushed.astype(float), back)
        by = {name.removeprefix("result_by_"): J.reshape(nv, -1) for name, J in slopes.items()}
        moved = by["q"] @ x[:nv] + by["v"] @ x[nv:]
        for group in self._of.groups:
            moved[:, self.places[group]] += by[group]
        return moved


class _PartDerivative(NamedTuple):
    """Derivatives of the end of a part and of its margin: by its start, all else, its length and its time."""

    by_start: Array
    by_rest: Array
    by_length: Array
    by_time: Array
    margin_by_start: Array
    margin_by_rest: Array
    margin_by_length: float
    margin_by_time: float
    margin: float
    apart: float
