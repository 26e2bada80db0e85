"""Terms of functions of q, v, a and τ: traced, with exact first and second derivatives as programs.

A function of the user's has as many numbers as it returns. Derivatives by q are along the axes of v, both of them: with E_i the
direction of v_i, the second ones are E_j E_i f, of joints on groups not symmetric in i and j.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from torsor._once import once
from torsor.arrays import concat, stack
from torsor.arrays.typing import Array
from torsor.compiler.differentiate import Wanted, derivatives
from torsor.compiler.graph import Program
from torsor.compiler.kernel import Kernel
from torsor.compiler.simplify import Level
from torsor.compiler.trace import inline, trace
from torsor.errors import ArgumentError
from torsor.functions.derivative import tangent_map
from torsor.model import Robot
from torsor.motion.optimal_motions.nodes import TAU, States
from torsor.motion.optimal_motions.terms import Term

Function = Callable[..., Any]
SLOTS = {"q": 0, "v": 1, "a": 2, "tau": TAU}


def traced_term(
    robot: Robot,
    function: Function,
    kind: str,
    names: tuple[str, ...],
    lower: Array,
    upper: Array,
    scale: Array,
    units: tuple[str, ...] | None = None,
    places: Array | None = None,
) -> TracedTerm:
    """The term of a function (q, v, a, tau) → numbers, one for each name."""
    return TracedTerm(Programs(robot, function, len(names)), kind, names, lower, upper, scale, units, places)


class Programs:
    """A function (q, v, a, tau) → (m,) of a robot, its gradient and its Hessian with weights."""

    def __init__(self, robot: Robot, function: Function, size: int) -> None:
        self.robot, self.function, self.size = robot, function, size
        self.inputs: dict[str, tuple[int, ...]] = {
            "q": (robot.nq,),
            "v": (robot.nv,),
            "a": (robot.nv,),
            "tau": (robot.nv,),
        }

    @once
    def value(self) -> Kernel:
        """(m,)."""
        return Kernel("values", self._program)

    @once
    def used(self) -> tuple[str, ...]:
        """The inputs that the function depends on."""
        found = self._slopes
        return tuple(name for name in self.inputs if not _is_zero(found, f"y_by_{name}"))

    @once
    def gradient(self) -> Kernel:
        """Derivatives (m, k n) by the inputs that are used."""
        names = self.used

        def run(**given: Any) -> dict[str, Any]:
            found = inline(self._slopes, given)
            return {"g": concat([found[f"y_by_{name}"] for name in names], axis=-1)}

        return Kernel("gradients", trace(run, self.inputs, Level.FULL))

    @once
    def hessian(self) -> Kernel:
        """Second derivatives (k n, k n) of the sum with weights."""
        names, weights = self.used, (self.size,)

        def first(weights: Any, **given: Any) -> dict[str, Any]:
            found = inline(self._slopes, given)
            along = concat([found[f"y_by_{name}"] for name in names], axis=-1)
            summed = [sum(weights[i] * along[i, k] for i in range(self.size)) for k in range(along.shape[-1])]
            return {"p": stack(summed), "directions": tangent_map(self.robot, given["q"])}

        inputs = {**self.inputs, "weights": weights}
        along = {"q": "directions"} if "q" in names else {}
        program = derivatives(trace(first, inputs, Level.FULL), Wanted(("p",), names, along))

        def joined(**given: Any) -> dict[str, Any]:
            found = inline(program, given)
            return {"H": concat([found[f"p_by_{name}"] for name in names], axis=-1)}

        return Kernel("Hessians", trace(joined, inputs, Level.FULL))

    @once
    def _program(self) -> Program:
        return trace(lambda **given: {"y": self._evaluated(given)}, self.inputs, Level.FULL)

    @once
    def _slopes(self) -> Program:
        def run(**given: Any) -> dict[str, Any]:
            return {"y": self._evaluated(given), "directions": tangent_map(self.robot, given["q"])}

        program = trace(run, self.inputs, Level.FULL)
        return derivatives(program, Wanted(("y",), tuple(self.inputs), {"q": "directions"}))

    def _evaluated(self, given: dict[str, Any]) -> Any:
        found = self.function(given["q"], given["v"], given["a"], given["tau"])
        shape = np.shape(found)
        if self.size == 1 and shape == ():
            return stack([found])
        if shape != (self.size,):
            what = "one number" if self.size == 1 else f"{self.size} numbers"
            raise ArgumentError(f"a function of (q, v, a, tau) must return {what} for one state, got shape {shape}.")
        return found


def _is_zero(program: Program, output: str) -> bool:
    kernel = Kernel("zero", program)
    rng = np.random.default_rng(0)
    given = {port.name: rng.normal(size=(5, *port.shape)) for port in program.graph.inputs}
    found = kernel(**given)[output]
    return not np.any(found)


class TracedTerm(Term):
    """A function of q, v, a and τ."""

    def __init__(
        self,
        programs: Programs,
        kind: str,
        names: tuple[str, ...],
        lower: Array,
        upper: Array,
        scale: Array,
        units: tuple[str, ...] | None = None,
        places: Array | None = None,
    ) -> None:
        self.programs, self.kind, self.names = programs, kind, names
        self.lower, self.upper, self.scale = lower, upper, scale
        self.units, self.places = ("",) * len(names) if units is None else units, places

    def values(self, x: States) -> Array:
        """(N, m)."""
        return self.programs.value(x.q, x.v, x.a, x.tau)

    def changes(self, x: States, dx: Array) -> Array:
        """By the gradients."""
        g = self._gradients(x)
        moved = np.concatenate([dx[:, SLOTS[name]] for name in self.programs.used], axis=1)
        return np.matmul(g, moved[..., None])[..., 0]

    def rows(self, x: States, node: Array, which: Array) -> Array:
        """The gradients."""
        g, n = self._gradients(x)[node, which], x.robot.nv
        found = np.zeros((len(node), x.orders + 1, n))
        for k, name in enumerate(self.programs.used):
            found[:, SLOTS[name]] = g[:, k * n : (k + 1) * n]
        return found

    def add(self, x: States, weights: Array, G: Array, H: Array | None) -> None:
        """By both programs."""
        n = x.robot.nv
        pulled = np.matmul(weights[:, None], self._gradients(x))[:, 0]
        places = [SLOTS[name] % (x.orders + 1) for name in self.programs.used]
        for k, place in enumerate(places):
            G[:, place] += pulled[:, k * n : (k + 1) * n]
        if H is None or not places:
            return
        found = self.programs.hessian(x.q, x.v, x.a, x.tau, weights)
        index = np.concatenate([place * n + np.arange(n) for place in places])
        H[:, index[:, None], index] += found

    def _gradients(self, x: States) -> Array:
        kept = x.__dict__.setdefault("gradients", {})
        if id(self) not in kept:
            kept[id(self)] = self.programs.gradient(x.q, x.v, x.a, x.tau)
        return kept[id(self)]
