"""What a plant does at given numbers, in machine code: for steps around functions that are called from Python."""

from __future__ import annotations

from typing import Any

from torsor.arrays.typing import Array
from torsor.compiler.kernel import Kernel
from torsor.functions.compile import compile as compiled
from torsor.model import Robot
from torsor.simulation.plant import Mode, Plant, Surroundings, smallest, wrench_name
from torsor.simulation.steps.rate import Rate

BASE = ("base_twist", "base_acceleration")


def rate_of_numbers(
    plant: Plant,
    names: tuple[str, ...],
    q: Array,
    v: Array,
    tau: Array,
    around: Surroundings,
    mode: Mode,
    *,
    holds: bool,
) -> Rate:
    """`Plant.rate` of states (m, …); ``names``: the fields of the mode that matter."""
    frames, moves = tuple(around.wrenches), around.base_motion is not None
    key = ("rate", names, frames, moves, holds)
    kernel = _kept(plant).get(key)
    if kernel is None:
        kernel = _kept(plant)[key] = _rate_kernel(plant, names, frames, moves, holds)
    found = kernel(q=q, v=v, tau=tau, **_given(names, frames, around, mode))
    return Rate(found["a"], found["power"])


def start_of_numbers(
    plant: Plant, names: tuple[str, ...], q: Array, v: Array, tau: Array, around: Surroundings, mode: Mode
) -> tuple[Array, Array]:
    """Acceleration and forces of states (m, …) in modes that hold no joint, if the drives are asked for ``tau``."""
    frames, moves = tuple(around.wrenches), around.base_motion is not None
    key = ("start", names, frames, moves)
    kernel = _kept(plant).get(key)
    if kernel is None:

        def start(robot: Robot, q: Array, v: Array, tau: Array, **given: Array) -> dict[str, Array]:
            force = plant.clamped(tau)
            found = plant.acceleration(q, v, force, _around(frames, moves, given), _mode(given, v), holds=False)
            return {"a": found, "force": force}

        kernel = _kept(plant)[key] = compiled(start, plant.robot, _shapes(plant, names, frames, moves))
    found = kernel(q=q, v=v, tau=tau, **_given(names, frames, around, mode))
    return found["a"], found["force"]


def margin_of_numbers(plant: Plant, names: tuple[str, ...], q: Array, v: Array, mode: Mode, *, holds: bool) -> Array:
    """The least of `Plant.margins` of states (m, …)."""
    key = ("margin", names, holds)
    kernel = _kept(plant).get(key)
    if kernel is None:

        def margin(robot: Robot, q: Array, v: Array, **given: Array) -> Array:
            return smallest(plant.margins(q, v, _mode(given, v), holds=holds), v)

        kernel = _kept(plant)[key] = compiled(margin, plant.robot, _state(plant) | _fields(plant, names))
    return kernel(q=q, v=v, **{name: getattr(mode, name) for name in names})


def _rate_kernel(plant: Plant, names: tuple[str, ...], frames: tuple[str, ...], moves: bool, holds: bool) -> Kernel:
    def rate(robot: Robot, q: Array, v: Array, tau: Array, **given: Array) -> dict[str, Array]:
        found = plant.rate(q, v, tau, _around(frames, moves, given), _mode(given, v), holds=holds)
        return {"a": found.a, "power": found.power}

    return compiled(rate, plant.robot, _shapes(plant, names, frames, moves))


def _shapes(plant: Plant, names: tuple[str, ...], frames: tuple[str, ...], moves: bool) -> dict[str, tuple[int, ...]]:
    """Shapes of all that acts at a state."""
    shapes = _state(plant) | {"tau": (plant.robot.nv,)} | _fields(plant, names)
    shapes |= {wrench_name(k): (6,) for k in range(len(frames))}
    return shapes | (dict.fromkeys(BASE, (6,)) if moves else {})


def _given(names: tuple[str, ...], frames: tuple[str, ...], around: Surroundings, mode: Mode) -> dict[str, Array]:
    """The numbers for these shapes, but state and forces."""
    given = {name: getattr(mode, name) for name in names}
    given |= {wrench_name(k): around.wrenches[frame] for k, frame in enumerate(frames)}
    return given | (dict(zip(BASE, around.base_motion, strict=True)) if around.base_motion is not None else {})


def _around(frames: tuple[str, ...], moves: bool, given: dict[str, Array]) -> Surroundings:
    """What acts beside the drives, from inputs of a kernel."""
    wrenches = {frame: given[wrench_name(k)] for k, frame in enumerate(frames)}
    return Surroundings(wrenches, (given[BASE[0]], given[BASE[1]]) if moves else None)


def _kept(plant: Plant) -> dict[Any, Kernel]:
    """The kernels of a plant, which lives as long as its robot is remembered."""
    return plant.__dict__.setdefault("_kernels", {})  # type: ignore[no-any-return]


def _state(plant: Plant) -> dict[str, tuple[int, ...]]:
    return {"q": (plant.robot.nq,), "v": (plant.robot.nv,)}


def _fields(plant: Plant, names: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    return {name: (plant.robot.nv,) for name in names}


def _mode(given: dict[str, Array], v: Array) -> Mode:
    return Mode(*(given.get(name, 0.0 * v) for name in Mode._fields))
