"""What drives a simulation, as its user gives it: joint forces, controllers, wrenches and base motions, checked and made one
thing.
"""

from __future__ import annotations

import contextlib
import inspect
import math
import types
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays import as_numbers
from torsor.arrays.foreign import refuse_foreign
from torsor.arrays.typing import Array
from torsor.errors import ArgumentError, ArgumentTypeError, ShapeError
from torsor.model import Robot
from torsor.simulation.controllers import fingerprint, refuse_wrong_forces, traced
from torsor.simulation.memory import Memory
from torsor.simulation.stepping import CONSTANT, CONTINUOUS, SAMPLED, SCHEDULED, Asked

A_TIME = 0.0137  # s: at which functions are tried
Batch = tuple[int, ...]


class Asking(NamedTuple):
    """A controller in Python for states (*batch, …): ``ask`` (t, q, v), and what it said ``checked``, as forces (*batch, nv)."""

    ask: Callable[[float, Array, Array], Any]
    checked: Callable[[Any], Array]


_TRACED: OrderedDict[Any, Asked | str] = (
    OrderedDict()
)  # what is known of functions that were looked at before, by fingerprint


class Drive(NamedTuple):
    """How the drives are told what to do.

    ``kind`` as in `Stepping`; ``tau`` (B, nv) to begin with; ``schedule`` (B, N, nv) or None; ``asked``: the controller;
    ``python``: one that is asked between steps, from Python; it begins anew for all trajectories (*batch, …) together, or for
    one of them, ().
    """

    kind: str
    tau: Array
    schedule: Array | None = None
    asked: Asked | None = None
    memory: Memory | None = None
    python: Callable[[Batch], Asking] | None = None


def whole_multiple(name: str, value: float, dt: float) -> int:
    """How many steps of ``dt`` a time takes."""
    number = round(value / dt) if np.isfinite(value) else 0
    if number < 1 or abs(number * dt - value) > 1e-6 * dt:
        raise ArgumentError(
            f"`{name}` must be a whole number of steps of {dt:g} s (`dt`), or 0 for a law that is asked at every stage, got "
            f"{value} s."
        )
    return number


def given_forces(robot: Robot, tau: Any, batch: Batch, steps: int | None) -> Drive:
    """Joint forces as numbers: (..., nv) constant, or one for each step."""
    refuse_foreign(tau, "tau")
    try:
        given = np.asarray(as_numbers(tau), float)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"`tau` must be numbers (..., {robot.nv}) or a function of time, got {tau!r:.60}.") from error
    nv, B = robot.nv, math.prod(batch)
    constant, each = _shape(*batch, nv), f"{_shape(nv)}"
    if given.shape[-1:] != (nv,):
        raise ShapeError(f"`tau` must have shape {each}, or one row of {nv} for each step, got {given.shape}.")
    if given.ndim == 1:
        return Drive(CONSTANT, np.broadcast_to(given, (B, nv)).copy())
    rank = len(batch)
    one = "" if steps is None else f", {_shape(*batch, steps, nv)} for one per step"
    either = each if each == constant else f"{each} or {constant}"
    wrong = ShapeError(f"`tau` has shape {given.shape}; pass {either} for a constant force{one}.")
    if given.ndim == rank + 1 and steps is not None and rank == 1 and batch == (steps,):
        raise ShapeError(
            f"`tau` of shape {given.shape} could be a constant force for each of {B} trajectories or one for each of {steps} "
            f"steps. Pass tau[:, None] {_shape(B, 1, nv)} for the former, tau[None] {_shape(1, steps, nv)} for the latter."
        )
    if rank and given.ndim == rank + 1:
        return Drive(CONSTANT, _broadcast(given, (*batch, nv), wrong).reshape(B, nv).copy())
    if given.ndim != rank + 2 and not (rank == 0 and given.ndim == 2):
        raise wrong
    if given.shape[-2] == 1 and steps != 1:
        return Drive(CONSTANT, _broadcast(given[..., 0, :], (*batch, nv), wrong).reshape(B, nv).copy())
    if steps is None:
        raise ShapeError(
            f"`tau` of shape {given.shape} has one row per step, and adaptive steps are not known beforehand; give `dt`, or "
            f"`tau` "
            "as a function of time."
        )
    if given.shape[-2] != steps:
        more = (
            " A trajectory has one sample more than steps: pass tau[..., :-1, :]."
            if given.shape[-2] == steps + 1
            else ""
        )
        raise ShapeError(f"`tau` of shape {given.shape} has {given.shape[-2]} rows for {steps} steps; {wrong}{more}")
    rows = _broadcast(given, (*batch, steps, nv), wrong).reshape(B, steps, nv)
    return Drive(SCHEDULED, np.zeros((B, nv)), schedule=rows)


def asked_forces(
    robot: Robot,
    controller: Callable[..., Any],
    state: Any,
    batch: Batch,
    sample: tuple[Array, Array],
    *,
    continuous: bool,
    compile_it: bool | None,
    beside: Sequence[Any] = (),
    who: str = "controller",
) -> Drive:
    """A controller; compiled into the step if it may be. ``sample``: q and v of a state, at which it is tried; ``beside``: all
    functions that are called in the run.
    """
    has_memory = state is not None
    _refuse_other_arguments(controller, has_memory, who)
    memory = Memory.of(state) if has_memory else None
    B, nv = math.prod(batch), robot.nv
    zero = np.zeros((B, nv))
    identity = None if compile_it is False else fingerprint(controller, beside)
    reason = "it refers to things that may change from call to call, or changes them" if identity is None else ""
    if identity is not None or compile_it:
        shapes: dict[str, tuple[int, ...]] = {"t": (), "q": (robot.nq,), "v": (nv,)}
        numbers: dict[str, Any] = {"t": A_TIME, "q": sample[0], "v": sample[1]}
        if memory is not None and memory.leaves is not None:
            shapes |= memory.shapes
            numbers |= memory.leaves
        elif memory is not None:
            shapes, reason = {}, "its state is not made of numbers and arrays"
        if shapes:
            key = (identity, tuple(shapes.items()), continuous) if identity is not None else None
            asked = _TRACED.get(key) if key is not None else None
            if asked is None:
                asked = _traced_controller(robot, controller, memory, shapes, numbers, who)
                _remember(key, asked)
            if isinstance(asked, Asked) and asked.program is not None:
                kind = CONTINUOUS if continuous else SAMPLED
                return Drive(kind, zero, None, asked, memory)
            reason = str(asked)
    if compile_it:
        raise ArgumentError(f"`compile_controller`: this {who} cannot be compiled, for {reason}.")

    def asking(batch: Batch) -> Asking:
        expected, kept = (*batch, nv), None if memory is None else memory.copied()

        def remembering(t: float, q: Array, v: Array) -> Any:
            nonlocal kept
            tau, kept = _pair(controller(t, q, v, kept))
            return tau

        def checked(tau: Any) -> Array:
            if type(tau) is np.ndarray and tau.shape == expected and tau.dtype == np.float64:
                return tau
            refuse_foreign(tau, "controller")
            return refuse_wrong_forces(robot, tau, batch, who)

        return Asking(controller if memory is None else remembering, checked)

    if continuous:
        ask, checked = asking(batch)

        def at_stage(t: Array, q: Array, v: Array) -> dict[str, Array]:
            if not len(q):
                return {"out": np.zeros((0, nv))}
            if len(q) == B and np.all(t == t.flat[0]):
                shaped = q.reshape(*batch, robot.nq), v.reshape(*batch, nv)
                return {"out": checked(ask(float(t.flat[0]), *shaped)).reshape(B, nv)}
            rows = [
                refuse_wrong_forces(robot, controller(float(x), a, b), (), who) for x, a, b in zip(t, q, v, strict=True)
            ]
            return {"out": np.stack(rows)}

        return Drive(CONTINUOUS, zero, None, Asked(at_stage, None))
    return Drive(CONSTANT, zero, python=asking, memory=memory)


def _remember(key: Any, asked: Asked | str) -> None:
    if key is None:
        return
    _TRACED[key] = asked
    while len(_TRACED) > 64:
        _TRACED.popitem(last=False)


def _traced_controller(
    robot: Robot,
    controller: Callable[..., Any],
    memory: Memory | None,
    shapes: Mapping[str, tuple[int, ...]],
    numbers: Mapping[str, Array],
    who: str,
) -> Asked | str:
    """The controller as a program, or why it is none."""

    def called(controller: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
        def call(t: Array, q: Array, v: Array, **kept: Array) -> dict[str, Array]:
            if memory is None:
                tau, after = controller(t, q, v), {}
            else:
                tau, value = _pair(controller(t, q, v, memory.rebuilt(kept)))
                after = memory.leaves_of(value)
            if tau is None or tuple(np.shape(tau))[-1:] != (robot.nv,):
                refuse_wrong_forces(robot, tau, (), who)
            return {"out": tau, **after}

        return call

    program = traced(called, controller, shapes, numbers)
    if isinstance(program, str):
        return program
    shapes_out = {port.name: port.shape for port in program.outputs}
    if shapes_out["out"] != (robot.nv,):
        return f"it gives forces of shape {shapes_out['out']}"
    if memory is not None and any(shapes_out[name] != shape for name, shape in memory.shapes.items()):
        return "its state changes its shape"
    return Asked(called(controller), program)


def asked_of_state(
    robot: Robot,
    function: Callable[..., Any],
    sample: tuple[Array, Array],
    beside: Sequence[Any],
    what: str,
) -> Asked:
    """A wrench as a function of (t, q, v)."""

    def called(function: Callable[..., Any]) -> Callable[..., dict[str, Array]]:
        def call(t: Array, q: Array, v: Array) -> dict[str, Array]:
            value = function(t, q, v)
            if np.shape(value)[-1:] != (6,):
                raise ShapeError(f"{what} must give 6 numbers, got shape {np.shape(value)}.")
            return {"out": value}

        return call

    numbers = {"t": A_TIME, "q": sample[0], "v": sample[1]}
    return _asked_one_by_one(called, function, fingerprint(function, beside), numbers, ("out",))


def asked_of_time(function: Callable[[Any], Any], beside: Sequence[Any]) -> Asked:
    """A motion of the base as a function of time."""

    def called(function: Callable[..., Any]) -> Callable[..., dict[str, Array]]:
        def call(t: Array) -> dict[str, Array]:
            pair = function(t)
            if not isinstance(pair, (tuple, list, np.ndarray)) or [np.shape(x) for x in pair] != [(6,), (6,)]:
                raise ShapeError(
                    "`base_motion` must give a pair of (6,) arrays, twist and acceleration of the base, got "
                    f"{[np.shape(x) for x in pair] if isinstance(pair, (tuple, list)) else pair!r:.60}."
                )
            return {"twist": pair[0], "acceleration": pair[1]}

        return call

    names = ("twist", "acceleration")
    return _asked_one_by_one(called, function, fingerprint(function, beside), {"t": A_TIME}, names)


def _asked_one_by_one(
    called: Callable[[Callable[..., Any]], Callable[..., dict[str, Array]]],
    function: Callable[..., Any],
    identity: str | None,
    sample: dict[str, Any],
    names: tuple[str, ...],
) -> Asked:
    """A function of one state that gives six numbers under each of some names: as a program if it may be, else it is called from
    Python, for one state after the other.
    """
    call, shapes = called(function), {name: np.shape(x) for name, x in sample.items()}
    if identity is not None:
        key = (identity, tuple(shapes.items()), names)
        known = _TRACED.get(key)
        if known is None:
            program = traced(called, function, shapes, sample)
            sound = not isinstance(program, str) and all(port.shape == (6,) for port in program.outputs)
            known = Asked(call, program) if sound else "it cannot be traced"  # type: ignore[arg-type]
            _remember(key, known)
        if isinstance(known, Asked):
            return known

    def for_each(**given: Array) -> dict[str, Array]:
        t, *state = (np.asarray(given[name]) for name in shapes)
        rows = [call(float(x), *(s[k] for s in state)) for k, x in enumerate(t)]
        if not rows:
            return {name: np.zeros((0, 6)) for name in names}
        return {name: np.stack([np.asarray(row[name], float) for row in rows]) for name in names}

    return Asked(for_each, None)


def _pair(said: Any) -> tuple[Any, Any]:
    """What a controller with memory gives."""
    if not isinstance(said, (tuple, list)) or len(said) != 2:
        raise ShapeError(
            f"a controller with `controller_state` must return two things, (tau, state), got {type(said).__name__} {said!r:.60}."
        )
    return said[0], said[1]


def _refuse_other_arguments(controller: Callable[..., Any], has_memory: bool, who: str) -> None:
    """A controller is a function that can be called with t, q and v, and its memory if it has one."""
    names = "t, q, v, state" if has_memory else "t, q, v"
    if not callable(controller):
        raise ArgumentTypeError(f"`{who}` must be a function ({names}) → tau, got {controller!r:.60}.")
    if takes(controller, 4 if has_memory else 3):
        return
    with contextlib.suppress(ValueError):  # of some builtin functions nothing is known
        signature = inspect.signature(controller)
        try:
            signature.bind(0.0, None, None, *([None] if has_memory else []))
        except TypeError as error:
            hint = "For a law with other arguments pass a function of these three, such as "
            own = (
                "lambda t, q, v: torsor.control.pd_gravity(robot, q, v, q_ref, kp, kd); torsor.control.follow makes one of a law "
                "and a motion."
            )
            if not has_memory and "missing a required argument" in str(error):
                hint, own = "A controller with memory needs `controller_state`, its first state. " + hint, own
            raise ArgumentTypeError(
                f"`{who}` is called as controller({names}), which ({', '.join(signature.parameters)}) does not take: {error}. "
                f"{hint}{own}"
            ) from None


def takes(controller: Any, count: int) -> bool:
    """Whether this is a plain function of so many arguments: the usual case, seen at once."""
    code, defaults = getattr(controller, "__code__", None), getattr(controller, "__defaults__", None)
    if type(controller) is not types.FunctionType or code is None or code.co_kwonlyargcount:
        return False
    return bool(code.co_argcount - len(defaults or ()) <= count <= code.co_argcount)


def _broadcast(given: Array, shape: tuple[int, ...], error: ShapeError) -> Array:
    try:
        return np.broadcast_to(given, shape)
    except ValueError:
        raise error from None


def _shape(*sizes: int) -> str:
    return f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})"
