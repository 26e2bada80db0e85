"""The derivative of a step, along a direction and back, as programs and as loops over time in machine code.

Both contain the step itself, so that each of their results says how far the step taken again leads from the sample that was to be
reached: ``apart`` (2 nv,), in rad or m.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor._once import once
from torsor.arrays import concat, dot, matvec, transpose, zeros
from torsor.arrays.typing import Array
from torsor.compiler.differentiate import Wanted, forward, reverse
from torsor.compiler.graph import Program
from torsor.compiler.kernel import Kernel
from torsor.compiler.print.scan import Roles
from torsor.compiler.scan import Scan
from torsor.compiler.simplify import Level
from torsor.compiler.trace import inline, trace
from torsor.functions.public.kinematics import difference
from torsor.simulation.step_relation import Related, group_shape, is_implicit, related
from torsor.simulation.stepping import CONTINUOUS, Stepping

Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class StepDerivatives:
    """Derivatives of the steps of a simulation by state, joint forces and ``groups`` of the robot's numbers.

    ``holds``: some joints may be held. ``margins``: the derivative of the least margin, of the step's length and of its time is
    wanted too, for parts of steps.
    """

    stepping: Stepping
    holds: bool
    groups: tuple[str, ...]
    margins: bool = False

    @property
    def step_inputs(self) -> Shapes:
        """Shapes of what is different in each step."""
        robot = self.stepping.robot
        shapes: Shapes = {"t": (), "q": (robot.nq,), "v": (robot.nv,), "q_next": (robot.nq,), "v_next": (robot.nv,)}
        if self.stepping.drive != CONTINUOUS:
            shapes["tau"] = (robot.nv,)
        if self.is_implicit:
            shapes["u"] = (robot.nv,)
        return shapes | {name: (robot.nv,) for name in self.stepping.mode_inputs(self.holds)}

    @property
    def constants(self) -> Shapes:
        """Shapes of what is the same in all steps."""
        modes = self.stepping.mode_inputs(self.holds)
        return {
            name: x for name, x in self.stepping.constants(self.holds).items() if name != "tau" and name not in modes
        }

    @property
    def is_implicit(self) -> bool:
        """Whether a step has an equation of its own."""
        return is_implicit(self.stepping, self.holds)

    @property
    def moves(self) -> Shapes:
        """Shapes of what is moved."""
        nv = self.stepping.robot.nv
        moves: Shapes = {"q": (nv,), "v": (nv,), "tau": (nv,)}
        moves |= {group: group_shape(self.stepping.robot, group) for group in self.groups}
        moves |= {"u": (nv,)} if self.is_implicit else {}
        return moves | ({"h": (), "t": ()} if self.margins else {})

    @once
    def along(self) -> Program:
        """Changes ``q``, ``v``, ``equation``, ``least`` of the results for changes ``move_…`` of what is moved.

        And ``apart`` and ``margin``, the numbers themselves.
        """

        def run(s: Array, **given: Array) -> dict[str, Array]:
            moves = {name: s * given.pop(f"move_{name}") for name in self.moves}
            found, results = self._evaluated(given, moves)
            numbers = {"apart": s * results["apart"]} | ({} if found.least is None else {"margin": s * found.least})
            return {name: x for name, x in results.items() if name != "apart"} | numbers

        shapes = self.step_inputs | self.constants | {f"move_{name}": x for name, x in self.moves.items()}
        program = trace(run, {"s": (), **shapes}, Level.FULL)
        names = [port.name for port in program.outputs]
        found = forward(program, Wanted(names, ("s",), at={"s": 0.0}))
        assert found is not None  # nothing limits it
        return found.renamed(names)

    @once
    def back(self) -> Program:
        """Gradients ``by_…`` of Σ weight · result for weights ``weight_q``, ``weight_v``, ``weight_equation``; and ``apart``."""
        nv = self.stepping.robot.nv
        names = ("q", "v", "equation") if self.is_implicit else ("q", "v")
        weights = {f"weight_{name}": (nv,) for name in names}
        moves: Shapes = {f"move_{name}": x for name, x in self.moves.items()} | {"look": (2 * nv,)}

        def run(**given: Array) -> dict[str, Array]:
            look = given.pop("look")  # the derivative by it is `apart`
            at = {name: given.pop(name) for name in weights}
            _, results = self._evaluated(given, {name: given.pop(f"move_{name}") for name in self.moves})
            return {"sum": sum((dot(at[f"weight_{x}"], results[x]) for x in names), dot(look, results["apart"]))}

        program = trace(run, self.step_inputs | self.constants | weights | moves, Level.FULL)
        at = {name: np.zeros(shape) for name, shape in moves.items()}
        found = reverse(program, Wanted(("sum",), tuple(moves), at=at))
        assert found is not None
        return found.renamed([*(f"by_{name}" for name in self.moves), "apart"])

    def _evaluated(self, given: Mapping[str, Array], moves: Mapping[str, Any]) -> tuple[Related, dict[str, Array]]:
        found = related(self.stepping, given, moves, holds=self.holds, margins=self.margins)
        q = difference(self.stepping.robot, given["q_next"], found.q)
        results = {"q": q, "v": found.v}
        results |= {} if found.equation is None else {"equation": found.equation}
        results |= {} if found.least is None else {"least": found.least}
        return found, results | {"apart": concat([q, given["h"][..., None] * (found.v - given["v_next"])])}

    @once
    def kernel(self) -> Kernel:
        """`along` for any number of steps and directions at once."""
        return Kernel(f"derivatives of steps of {self.stepping.robot.name}", self.along)

    @once
    def pushing(self) -> Scan:
        """The loop forward: state ``move_q``, ``move_v``; each step also gives ``apart``."""
        nv = self.stepping.robot.nv
        state: Shapes = {"move_q": (nv,), "move_v": (nv,)}
        inputs = self.step_inputs | {"move_tau": (nv,)} | ({"inverse": (nv, nv)} if self.is_implicit else {})
        constants = self.constants | {f"move_{group}": self.moves[group] for group in self.groups}

        def step(**given: Array) -> dict[str, Array]:
            if self.is_implicit:
                inverse = given.pop("inverse")
                first = inline(self.along, given | {"move_u": zeros(nv)})
                given["move_u"] = -matvec(inverse, first["equation"])
            found = inline(self.along, given)
            return {"move_q": found["q"], "move_v": found["v"], "apart": found["apart"]}

        return self._loop("pushforward", step, state, inputs, constants)

    @once
    def pulling(self) -> Scan:
        """The loop backward, of reversed inputs: state ``weight_q``, ``weight_v`` and the gradients ``by_…`` of groups.

        Each step takes ``more_q``, ``more_v``, what weighs the state at its start, and gives ``by_tau`` and ``apart``.
        """
        nv = self.stepping.robot.nv
        state: Shapes = {"weight_q": (nv,), "weight_v": (nv,)} | {f"by_{x}": self.moves[x] for x in self.groups}
        inputs = self.step_inputs | {"more_q": (nv,), "more_v": (nv,)}
        inputs |= {"inverse": (nv, nv)} if self.is_implicit else {}

        def step(**given: Array) -> dict[str, Array]:
            before = {group: given.pop(f"by_{group}") for group in self.groups}
            more = {name: given.pop(f"more_{name}") for name in ("q", "v")}
            if self.is_implicit:
                inverse = given.pop("inverse")
                first = inline(self.back, given | {"weight_equation": zeros(nv)})
                given["weight_equation"] = -matvec(transpose(inverse), first["by_u"])
            found = inline(self.back, given)
            weights = {f"weight_{name}": found[f"by_{name}"] + more[name] for name in ("q", "v")}
            sums = {f"by_{group}": before[group] + found[f"by_{group}"] for group in self.groups}
            return weights | sums | {"by_tau": found["by_tau"], "apart": found["apart"]}

        return self._loop("pullback", step, state, inputs, self.constants)

    def _loop(self, what: str, step: Any, state: Shapes, inputs: Shapes, constants: Shapes) -> Scan:
        program = trace(step, state | inputs | constants, Level.FULL)
        name = f"{what} of {self.stepping.robot.name}"
        return Scan(name, program, Roles(len(state), len(inputs), len(constants)))


def derivatives_of(stepping: Stepping, holds: bool, groups: tuple[str, ...], margins: bool) -> StepDerivatives:
    """Those of a step, with their machine code if they were asked for before."""
    kept: dict[Any, StepDerivatives] = stepping.__dict__.setdefault("_derivatives", {})
    key = (holds, groups, margins)
    if key not in kept:
        kept[key] = StepDerivatives(stepping, holds, groups, margins)
    return kept[key]
