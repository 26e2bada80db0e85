"""One step of a simulation as a pure function, and as machine code: a loop over time, and single steps of any length.

Inputs have one name wherever they stand. The state: ``q``, ``v``, ``work``; ``left``, the number of steps that may still be
taken, negative once a margin of the mode has been passed, where a trajectory waits for `careful`; ``held_tau`` and the
controller's memory, where it is asked in machine code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from torsor._once import once
from torsor.arrays import namespace, stack, where
from torsor.arrays.typing import Array
from torsor.compiler.backend import compiles
from torsor.compiler.graph import Program
from torsor.compiler.kernel import Kernel
from torsor.compiler.print import numpy as emit_numpy
from torsor.compiler.scan import Scan
from torsor.compiler.trace import inline
from torsor.compiler.traced_array import TracedArray
from torsor.functions.compile import compile as compiled, scan
from torsor.mechanics.dynamics.wrench_forces import body_wrench_forces
from torsor.model import Robot
from torsor.simulation.plant import WORKS, Mode, Plant, Surroundings, smallest, wrench_name
from torsor.simulation.plant_kernels import margin_of_numbers, rate_of_numbers
from torsor.simulation.steps.rate import Rate, Stepped
from torsor.simulation.variational_method import THROUGH_CHANGES

Method = Callable[..., Any]
NOT_CONVERGED = 1e-7  # rad or m: the correction that a variational step may still need
CONSTANT, SCHEDULED, SAMPLED, CONTINUOUS = "constant", "scheduled", "sampled", "continuous"


@dataclass(frozen=True, eq=False)
class Asked:
    """A function of (t, q, v) of the user's: ``program`` if it may be compiled, ``call`` from Python.

    The program gives ``out`` (its numbers), and the memory after it, if it has any.
    """

    call: Callable[..., Mapping[str, Array]]
    program: Program | None

    def __call__(self, **given: Array) -> Mapping[str, Array]:
        """What it gives, by name, for traced arrays or for states (m, …)."""
        if self.program is None:
            return self.call(**given)
        inputs = [given[port.name] for port in self.program.graph.inputs]
        if all(type(x) is np.ndarray for x in inputs) and compiles():
            found = self._kernel(*inputs)
            return found if isinstance(found, dict) else {"out": found}
        if any(isinstance(x, TracedArray) for x in inputs):
            return inline(self.program, given)
        with np.errstate(all="ignore"):
            return self._by_numbers(*inputs)

    @once
    def digest(self) -> str | None:
        """What tells its program from others; None if it is called from Python."""
        return None if self.program is None else self.program.digest()

    @once
    def _kernel(self) -> Kernel:
        """The program by itself, in machine code."""
        assert self.program is not None
        return Kernel("function of a simulation", self.program)

    @once
    def _by_numbers(self) -> Callable[..., Mapping[str, Array]]:
        """The program over NumPy."""
        assert self.program is not None
        return emit_numpy.build(self.program)


class Taken(NamedTuple):
    """A step: the new state, the forces of the drives at its start, the least margin (...), and what the method carries on."""

    new: Stepped
    force: Array
    least: Array
    memory: dict[str, Array]


@dataclass(frozen=True, eq=False)
class Stepping:
    """What a step of a simulation is: the plant, the method, how the drives are asked, and what acts beside them.

    ``drive``: "constant" (for a stretch of steps), "scheduled" (one for each), "sampled" (a controller asked at some steps and
    held), "continuous" (at every stage). ``memory``: shapes of what the controller keeps. ``wrenches`` by frame, and
    ``base_motion``: None for numbers that are inputs of the step, else functions of the time and the state. ``works``: those of
    `WORKS` that can be other than zero, which alone are kept.
    """

    plant: Plant
    method: Method
    drive: str
    controller: Asked | None
    memory: tuple[tuple[str, tuple[int, ...]], ...]
    held_longer: bool
    wrenches: tuple[tuple[str, Asked | None], ...]
    base_motion: Asked | None
    has_base_motion: bool
    works: tuple[int, ...] = tuple(range(len(WORKS)))

    @property
    def robot(self) -> Robot:
        """The robot that moves."""
        return self.plant.robot

    def state(self, sparse: bool = False) -> dict[str, tuple[int, ...]]:
        """Shapes of what goes from one step to the next. ``sparse``: as in `loop`."""
        return self._states[sparse]

    @once
    def _states(self) -> tuple[dict[str, tuple[int, ...]], dict[str, tuple[int, ...]]]:
        """Shapes of the state of loops that are not sparse, and of those that are."""
        return self._state(False), self._state(True)

    def _state(self, sparse: bool) -> dict[str, tuple[int, ...]]:
        robot = self.robot
        state: dict[str, tuple[int, ...]] = {"q": (robot.nq,), "v": (robot.nv,), "work": (len(self.works),), "left": ()}
        if self.drive == SAMPLED:
            state |= {"held_tau": (robot.nv,)} if self.held_longer or sparse else {}
            state |= dict(self.memory)
        state |= {name: (robot.nv,) for name in self.step_memory}
        return state | ({"a": (robot.nv,), "force": (robot.nv,)} if sparse else {})

    @property
    def is_variational(self) -> bool:
        """Whether steps in which no joint is held are variational."""
        return self.method in THROUGH_CHANGES

    @once
    def step_memory(self) -> tuple[str, ...]:
        """What the method itself carries from step to step."""
        return ("momentum", "mean", "mean_before") if self.is_variational else ()

    def inputs(self, sparse: bool = False) -> dict[str, tuple[int, ...]]:
        """Shapes of what changes with every step. ``sparse``: as in `loop`."""
        inputs: dict[str, tuple[int, ...]] = {"t": (), "due": ()} if sparse else {"t": ()}
        if self.drive == SCHEDULED:
            inputs["tau"] = (self.robot.nv,)
        if self.held_longer:
            inputs["asks"] = ()
        return inputs

    def constants(self, holds: bool) -> dict[str, tuple[int, ...]]:
        """Shapes of what is the same in all steps of a stretch."""
        nv = self.robot.nv
        constants: dict[str, tuple[int, ...]] = {"h": ()}
        if self.drive == CONSTANT:
            constants["tau"] = (nv,)
        constants |= {name: (nv,) for name in self.mode_inputs(holds)}
        constants |= {wrench_name(k): (6,) for k, (_, asked) in enumerate(self.wrenches) if asked is None}
        if self.has_base_motion and self.base_motion is None:
            constants |= {"base_twist": (6,), "base_acceleration": (6,)}
        return constants

    def mode_inputs(self, holds: bool) -> tuple[str, ...]:
        """The fields of the mode that a step needs."""
        return self._mode_inputs[holds]

    @once
    def _mode_inputs(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Those where no joint is held, and where some may be."""
        plant, names = self.plant, list[str]()
        names += ["slip"] if plant.sticks else []
        names += ["lower", "upper"] if len(plant.stopped) else []
        names += ["touch"] if plant.stops is not None and not plant.stops.are_hard and len(plant.stopped) else []
        return tuple(names), (*names, "held", "least", "most")

    # One step

    def around(self, t: Array, q: Array, v: Array, given: Mapping[str, Array]) -> Surroundings:
        """Wrenches and base motion at a time and state."""
        wrenches = {
            frame: given[wrench_name(k)] if asked is None else asked(t=t, q=q, v=v)["out"]
            for k, (frame, asked) in enumerate(self.wrenches)
        }
        base = None
        if self.base_motion is not None:
            found = self.base_motion(t=t)
            base = (found["twist"], found["acceleration"])
        elif self.has_base_motion:
            base = (given["base_twist"], given["base_acceleration"])
        return Surroundings(wrenches, base)

    def mode(self, given: Mapping[str, Array]) -> Mode:
        """The mode, of which only what a step needs is given."""
        nothing = np.zeros(self.robot.nv)
        return Mode(*(given.get(name, nothing) for name in Mode._fields))

    def asked(self, t: Array, q: Array, v: Array, tau: Array) -> Array:
        """What the drives are asked for: ``tau``, or what a continuous law says."""
        if self.drive != CONTINUOUS:
            return tau
        assert self.controller is not None
        return self.controller(t=t, q=q, v=v)["out"]

    def force(self, t: Array, q: Array, v: Array, tau: Array, given: Mapping[str, Array]) -> Array:
        """What the drives give at a stage, as far as they can."""
        tau = self.asked(t, q, v, tau)
        if self.drive == CONTINUOUS and "added" in given:  # to see what a change of the forces does
            tau = tau + given["added"]
        return self.plant.clamped(tau)

    def stepped(self, given: Mapping[str, Array], tau: Array, *, holds: bool) -> Taken:
        """The state after ``h``, the forces of the drives at the start, and the least margin of the mode at the end.

        Variational steps are for modes in which no joint is held; for the others, and for steps with changes in them, there is
        another method.
        """
        t, q, v, h = (given[name] for name in ("t", "q", "v", "h"))
        mode, plant = self.mode(given), self.plant

        by_kernels = type(q) is np.ndarray and compiles()  # around functions that are called from Python

        def rate(t: Array, q: Array, v: Array) -> Rate:
            around, force = self.around(t, q, v, given), self.force(t, q, v, tau, given)
            if by_kernels:
                return self.kept(
                    rate_of_numbers(plant, self.mode_inputs(holds), q, v, force, around, mode, holds=holds)
                )
            return self.kept(plant.rate(q, v, force, around, mode, holds=holds))

        memory: dict[str, Array] = {}
        margins: list[Array] = []
        another = THROUGH_CHANGES.get(self.method)
        if another is None or holds:
            new = (another or self.method)(plant.gliding, rate, t, q, v, h)
        else:

            def load(t: Array, q: Array, v: Array) -> Array:
                pushed = plant.load(q, v, self.force(t, q, v, tau, given), mode) - plant.smooth_friction(v)
                wrenches = self.around(t, q, v, given).wrenches
                return pushed + body_wrench_forces(plant.gliding, q, wrenches) if wrenches else pushed

            new, memory, residual = self.method(plant.gliding, load, rate, t, q, v, h, given)
            margins.append(NOT_CONVERGED - residual)
        if holds:
            margins += self.holding_margins(t + h, new.q, new.v, tau, given)
        if by_kernels:
            margins.append(margin_of_numbers(plant, self.mode_inputs(holds), new.q, new.v, mode, holds=holds))
        else:
            margins += plant.margins(new.q, new.v, mode, holds=holds)
        return Taken(new, self.force(t, q, v, tau, given), smallest(margins, new.v), memory)

    def kept(self, rate: Rate) -> Rate:
        """Of the powers those whose works are kept."""
        if len(self.works) == len(WORKS):
            return rate
        return Rate(rate.a, stack([rate.power[..., k] for k in self.works]))

    def holding_margins(self, t: Array, q: Array, v: Array, tau: Array, given: Mapping[str, Array]) -> list[Array]:
        """The margins of the forces that hold joints."""
        mode, plant = self.mode(given), self.plant
        load = plant.load(q, v, self.force(t, q, v, tau, given), mode)
        held = plant.held_dynamics(q, v, load, self.around(t, q, v, given), mode)
        return plant.holding_margins(held, mode)

    def ask(self, given: Mapping[str, Array]) -> tuple[Array, dict[str, Array]]:
        """The joint forces of this step, and the controller's memory after it."""
        if self.drive != SAMPLED:
            return given.get("tau", 0.0 * given["v"]), {}
        assert self.controller is not None
        names = [name for name, _ in self.memory]
        said = self.controller(t=given["t"], q=given["q"], v=given["v"], **{name: given[name] for name in names})
        tau, memory = said["out"], {name: said[name] for name in names}
        if self.held_longer:
            now = given["asks"] > 0.0
            tau = where(now[..., None], tau, given["held_tau"])
            memory = {name: _where(now, memory[name], given[name]) for name in names}
        return tau, memory

    def loop_step(self, robot: Robot, *, holds: bool, sparse: bool = False, **given: Array) -> dict[str, Array]:
        """A step in the loop: it is taken if there are steps left and no margin is passed in it. ``sparse``: as in `loop`."""
        del robot
        left = given["left"]
        alive = left > 0.0
        tau, memory = self.ask(given)
        new, force, least, carried = self.stepped(given, tau, holds=holds)
        good = alive & (least >= 0.0)
        results = {
            "q": where(good[..., None], new.q, given["q"]),
            "v": where(good[..., None], new.v, given["v"]),
            "work": where(good[..., None], given["work"] + new.work, given["work"]),
            "left": where(good, left - 1.0, where(alive, -left, left)),
        }
        if self.drive == SAMPLED:
            kept = {"held_tau": tau} if self.held_longer or sparse else {}
            results |= {name: _where(alive, x, given[name]) for name, x in (kept | memory).items()}
        for name in self.step_memory:
            results[name] = where(good[..., None], carried[name], given[name]) if carried else given[name]
        start = {"a": new.start.a, "force": force}
        if sparse:
            due = alive & (given["due"] > 0.0)
            start = {name: where(due[..., None], x, given[name]) for name, x in start.items()}
        return results | start

    def single_step(self, robot: Robot, *, holds: bool, **given: Array) -> dict[str, Array]:
        """A step of its own length, with the forces that are given; whether it stays in its mode is for the caller to judge."""
        del robot
        new, force, least, _ = self.stepped(given, given.get("tau", 0.0 * given["v"]), holds=holds)
        return {
            "q": new.q,
            "v": new.v,
            "work": given["work"] + new.work,
            "a": new.start.a,
            "force": force,
            "least": least,
        }

    # In machine code

    def loop(self, holds: bool, sparse: bool) -> Scan:
        """The loop for modes in which some joints may be held, or none is.

        ``sparse``: not every step is saved, and accelerations and forces are those at the last step that was ``due``.
        """
        made = self._loops
        if (holds, sparse) not in made:

            def step(robot: Robot, **given: Array) -> dict[str, Array]:
                return self.loop_step(robot, holds=holds, sparse=sparse, **given)

            made[holds, sparse] = scan(
                step, self.robot, self.state(sparse), inputs=self.inputs(sparse), constants=self.constants(holds)
            )
        return made[holds, sparse]

    @once
    def _loops(self) -> dict[tuple[bool, bool], Scan]:
        return {}

    @property
    def single_inputs(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the inputs of `single`."""
        nv = self.robot.nv
        inputs: dict[str, tuple[int, ...]] = {"q": (self.robot.nq,), "v": (nv,), "work": (len(self.works),), "t": ()}
        inputs |= {} if self.drive == CONTINUOUS else {"tau": (nv,)}
        return inputs | {k: shape for k, shape in self.constants(True).items() if k != "tau"}

    @once
    def single(self) -> Kernel:
        """One step of any length in any mode."""

        def step(robot: Robot, **given: Array) -> dict[str, Array]:
            return self.single_step(robot, holds=True, **given)

        return compiled(step, self.robot, self.single_inputs)

    @once
    def asked_loop(self) -> Any:
        """The loop around a controller that is called from Python."""
        from torsor.simulation.asked_loop import AskedLoop

        return AskedLoop(self)

    @once
    def is_traceable(self) -> bool:
        """Whether all functions of the user's that a step calls may be compiled."""
        asked: list[Any] = [self.controller if self.drive in (SAMPLED, CONTINUOUS) else None, self.base_motion]
        asked += [function for _, function in self.wrenches]
        return all(function is None or function.program is not None for function in asked)


def _where(condition: Array, yes: Array, no: Array) -> Array:
    """``where`` for arrays with more axes than the condition, at the end."""
    rank = len(yes.shape) - len(condition.shape)
    return where(condition[(..., *[None] * rank)] if rank else condition, yes, no)


def is_traced(*values: Any) -> bool:
    """Whether these are arrays of JAX or of the tracer."""
    return any(isinstance(x, TracedArray) for x in values) or namespace(*values) is not np
