"""What a user gives to a simulation, checked: start, forces, wrenches, motion of the base, stops, events."""

from __future__ import annotations

import contextlib
import inspect
import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays import as_numbers
from torsor.arrays.foreign import refuse_foreign
from torsor.arrays.typing import Array
from torsor.errors import ArgumentError, ArgumentTypeError, ShapeError
from torsor.functions.public.dynamics import mass_matrix
from torsor.model import Robot
from torsor.model.remembered import remembered
from torsor.model.states import random_configuration
from torsor.simulation.drives import (
    Batch,
    Drive,
    asked_forces,
    asked_of_state,
    asked_of_time,
    given_forces,
    takes,
    whole_multiple,
)
from torsor.simulation.events import Event
from torsor.simulation.looks import known_before
from torsor.simulation.plant import Mode, Plant, wrench_name
from torsor.simulation.stepping import CONSTANT, Asked, Stepping
from torsor.simulation.stops import Stops

MOST_KNOWN = 32  # simulations whose drives and steps are kept
SOME = 15  # configurations at which that is looked at
STIFF = 1.4  # dt times the fastest rate of viscous friction beyond which an explicit step may not be stable


class Acting(NamedTuple):
    """What acts on a robot in a simulation, for starts with the same batch axes: ``constants`` (B, …) are inputs of its steps.

    ``is_stiff``: whether friction is too fast for explicit steps; ``steppings``: the steps that were asked for so far, by method.
    """

    plant: Plant
    drive: Drive
    control_every: int
    is_controlled: bool
    wrenches: tuple[tuple[str, Asked | None], ...]
    base_motion: Asked | None
    constants: dict[str, Array]
    events: tuple[Event, ...]
    is_stiff: bool
    steppings: dict[Any, Stepping]


class Setup(NamedTuple):
    """A simulation as it was asked for: the start, which is its own, with notes on it (``beyond``), and what acts.

    ``may_hold``: whether friction or stops may act at the start.
    """

    robot: Robot
    q: Array
    v: Array
    batch: Batch
    mode: Mode
    may_hold: bool
    beyond: tuple[str, ...]
    acts: Acting


_ACTING: OrderedDict[Any, Acting] = OrderedDict()  # of controllers that are known to be what they were


def set_up(
    robot: Robot,
    q0: Any,
    v0: Any,
    *,
    dt: float | None,
    steps: int | None,
    tau: Any,
    controller: Any,
    control_dt: float | None,
    controller_state: Any,
    wrenches: Any,
    base_motion: Any,
    stops: Stops | None,
    events: Any,
    compile_controller: bool | None,
) -> Setup:
    """What is given to `torsor.simulate`, checked. ``stops``: None if limits do not hold."""
    q, v, batch = start_of(robot, q0, v0)
    stops = None if stops is None else checked_stops(stops)
    alone = tau is controller_state is wrenches is base_motion is None and type(events) is tuple and not events
    key = known_key(robot, controller, control_dt, (dt, steps, stops, batch, compile_controller)) if alone else None
    acts = None if key is None else known(key)
    if acts is None:
        moments = checked_events(events)
        given = [tau, controller, base_motion, *(wrenches.values() if isinstance(wrenches, Mapping) else ())]
        given += [function for event in moments for function in (event.function, event.action)]
        beside = [x for x in given if callable(x)]
        drive, every = drive_of(
            robot, tau, controller, control_dt, controller_state, batch, (q, v), dt, steps, compile_controller, beside
        )
        if alone and drive.python is not None:  # the steps are those of constant forces
            plain = (None, robot.digest, None, (dt, steps, stops, batch, None))
            acts = known(plain) or remember(plain, under_nothing(robot, dt, stops, len(q)))
            acts = acts._replace(drive=drive, control_every=every, is_controlled=True)
        else:
            pushes, numbers = wrenches_of(robot, wrenches, batch, (q, v), beside)
            base, base_numbers = base_motion_of(base_motion, batch, beside)
            acts = under_nothing(robot, dt, stops, len(q))._replace(
                drive=drive,
                control_every=every,
                is_controlled=controller is not None,
                wrenches=pushes,
                base_motion=base,
                constants=numbers | base_numbers,
                events=moments,
            )
            if key is not None and (drive.asked is None or drive.asked.program is not None):
                remember(key, acts)
    at_stops = acts.plant.reaches_stops(q)
    mode, beyond = first_mode(acts.plant, q) if at_stops else (acts.plant.free_mode((len(q),)), ())
    return Setup(robot, q, v, batch, mode, at_stops or len(acts.plant.rubbing) > 0, tuple(beyond), acts)


def under_nothing(robot: Robot, dt: float | None, stops: Stops | None, B: int) -> Acting:
    """A robot that is left to itself, in so many trajectories."""
    drive, stiff = Drive(CONSTANT, np.zeros((B, robot.nv))), dt is not None and is_stiff(robot, dt)
    return Acting(plant_of(robot, stops), drive, 1, False, (), None, {}, (), stiff, {})


def known(key: Any) -> Acting | None:
    """What acted in a simulation before, if it is kept; the longest unused goes first."""
    acts = _ACTING.pop(key, None)
    return None if acts is None else remember(key, acts)


def remember(key: Any, acts: Acting) -> Acting:
    """Keep what acts for the next simulation. Each of these is one step for Python: other threads may simulate, too."""
    _ACTING[key] = acts
    while len(_ACTING) > MOST_KNOWN:
        _ACTING.popitem(last=False)
    return acts


def known_key(robot: Robot, controller: Any, control_dt: Any, options: tuple[Any, ...]) -> Any:
    """What tells a simulation under a controller alone, or under nothing, from others; None where it is to be looked at."""
    if control_dt is not None and type(control_dt) not in (float, int):
        return None
    if controller is None:
        return (None, robot.digest, control_dt, options)
    looked = known_before(controller)
    return None if looked is None or not takes(controller, 3) else (looked.text, robot.digest, control_dt, options)


@remembered(64)
def plant_of(robot: Robot, stops: Stops | None) -> Plant:
    """The robot with its limits, and what follows from them."""
    return Plant(robot, stops, stops is not None)


def number_of_steps(duration: float, dt: float) -> int:
    """How many steps a duration takes."""
    if not (0 < dt < math.inf and 0 <= duration < math.inf):
        raise ArgumentError(
            f"`dt` must be positive and finite and `duration` finite and not negative, got {dt} s and {duration} s."
        )
    steps = round(duration / dt)
    if abs(steps * dt - duration) > 1e-6 * dt:
        more = max(1, math.ceil(duration / dt))
        raise ArgumentError(
            f"a duration of {duration} s is not a whole number of steps of {dt} s; nearest is {max(1, steps) * dt:g} s. "
            f"With dt = duration / {more} = {duration / more:g} s it is, and without `dt` every duration will do."
        )
    return steps


def start_of(robot: Robot, q: Any, v: Any) -> tuple[Array, Array, Batch]:
    """The first states (B, nq), (B, nv), and the batch axes they have."""
    q, v = _start("q0", q, robot, robot.nq), _start("v0", v, robot, robot.nv)
    if q.ndim == v.ndim == 1:
        return q[None].copy(), v[None].copy(), ()
    try:
        batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    except ValueError:
        raise ShapeError(f"the batch axes of `q0` {q.shape[:-1]} and `v0` {v.shape[:-1]} do not broadcast.") from None
    B = math.prod(batch)
    return (
        np.broadcast_to(q, (*batch, robot.nq)).reshape(B, robot.nq).copy(),
        np.broadcast_to(v, (*batch, robot.nv)).reshape(B, robot.nv).copy(),
        batch,
    )


def _start(name: str, given: Any, robot: Robot, size: int) -> Array:
    """Numbers (..., size) of the first state."""
    if type(given) is not np.ndarray or given.dtype != np.float64:
        refuse_foreign(given, name)
        given = np.asarray(as_numbers(given), float)
    if given.shape[-1:] != (size,):
        raise ShapeError(f"`{name}` must have shape (..., {size}) for robot {robot.name!r}, got {given.shape}.")
    if not np.isfinite(given).all():
        raise ArgumentError(f"`{name}` must be finite numbers, got {given.tolist()!r:.80}.")
    return given


def checked_stops(stops: Any) -> Stops:
    """What happens at the limits."""
    if not isinstance(stops, Stops):
        raise ArgumentTypeError(
            f"`stops` must be a torsor.simulation.Stops, such as Stops(restitution=0.5), got {type(stops).__name__} "
            f"{stops!r:.60}."
        )
    return stops


def checked_events(events: Any) -> tuple[Event, ...]:
    """The events, one or several."""
    given = (events,) if isinstance(events, Event) else tuple(events)
    for event in given:
        if not isinstance(event, Event):
            raise ArgumentTypeError(
                f"`events` must be torsor.simulation.Event objects, such as Event(lambda t, q, v: q[0]), got {event!r:.60}."
            )
    return given


def drive_of(
    robot: Robot,
    tau: Any,
    controller: Any,
    control_dt: float | None,
    state: Any,
    batch: Batch,
    start: tuple[Array, Array],
    dt: float | None,
    steps: int | None,
    compile_it: bool | None,
    beside: Sequence[Any],
) -> tuple[Drive, int]:
    """What drives the robot, and every how many steps a controller is asked."""
    if tau is not None and controller is not None:
        raise ArgumentError("give `tau` or a `controller`, not both.")
    if controller is None:
        for name, value in (("control_dt", control_dt), ("controller_state", state)):
            if value is not None:
                raise ArgumentError(f"`{name}` belongs to a `controller`, and there is none.")
    sample = (start[0][0], start[1][0]) if len(start[0]) else (robot.neutral, np.zeros(robot.nv))
    if callable(tau) and not hasattr(tau, "__array__"):
        of_time = tau
        with contextlib.suppress(ValueError):  # of some builtin functions nothing is known
            try:
                (signature := inspect.signature(tau)).bind(0.0)
            except TypeError:
                raise ArgumentTypeError(
                    f"`tau` is called as tau(t), which {signature} does not take. A function of t, q and v is a `controller`."
                ) from None

        def open_loop(t: Any, q: Any, v: Any) -> Any:
            said = of_time(t)
            fits = said is not None and tuple(np.shape(said))[-1:] == (robot.nv,)
            return said + 0.0 * v if fits else said  # else it is refused in words

        drive = asked_forces(
            robot, open_loop, None, batch, sample, continuous=True, compile_it=None, beside=beside, who="function `tau`"
        )
        return drive, 1
    if controller is None:
        return given_forces(robot, np.zeros(robot.nv) if tau is None else tau, batch, steps), 1
    continuous = control_dt == 0
    if continuous and state is not None:
        raise ArgumentError(
            "a controller with memory is asked once per `control_dt`; `control_dt=0` is for laws without memory."
        )
    drive = asked_forces(
        robot, controller, state, batch, sample, continuous=continuous, compile_it=compile_it, beside=beside
    )
    if continuous or control_dt is None or dt is None:
        return drive, 1
    return drive, whole_multiple("control_dt", control_dt, dt)


def wrenches_of(
    robot: Robot, wrenches: Any, batch: Batch, start: tuple[Array, Array], beside: Sequence[Any]
) -> tuple[tuple[tuple[str, Asked | None], ...], dict[str, Array]]:
    """The wrenches by frame, functions among them, and the numbers (B, 6) of the others."""
    if wrenches is None:
        return (), {}
    if not isinstance(wrenches, Mapping):
        raise ArgumentTypeError(
            f"`wrenches` must be a mapping of frame names to wrenches, such as {{{robot.frames[-1]!r}: F}}, got {wrenches!r:.60}."
        )
    found, numbers, B = list[tuple[str, Asked | None]](), {}, math.prod(batch)
    for k, (frame, wrench) in enumerate(wrenches.items()):
        robot.structure.frame(frame)
        if callable(wrench) and not hasattr(wrench, "__array__"):
            sample = (start[0][0], start[1][0]) if B else (robot.neutral, np.zeros(robot.nv))
            found.append((frame, asked_of_state(robot, wrench, sample, beside, f"the wrench on {frame!r}")))
            continue
        refuse_foreign(wrench, "wrenches")
        value = np.asarray(as_numbers(wrench), float)
        if value.shape[-1:] != (6,) or value.shape[:-1] not in ((), batch):
            ambiguous = value.ndim == 2 and value.shape[-1:] == (6,)
            hint = (
                f" For a batch of {len(value)} motions give `q0` of shape ({len(value)}, {robot.nq}); for a wrench that "
                f"changes with "
                "time a function, such as lambda t, q, v: W[int(t / dt)]."
                if ambiguous
                else " Or give a function of (t, q, v)."
            )
            shape = f"(6,) or {(*batch, 6)}" if batch else "(6,)"
            raise ShapeError(f"`wrenches[{frame!r}]` must have shape {shape}, got {value.shape}.{hint}")
        found.append((frame, None))
        numbers[wrench_name(k)] = np.broadcast_to(value, (*batch, 6)).reshape(B, 6).copy()
    return tuple(found), numbers


def base_motion_of(base_motion: Any, batch: Batch, beside: Sequence[Any]) -> tuple[Asked | None, dict[str, Array]]:
    """A function of time, or the numbers of a base that moves alike all the time."""
    if base_motion is None:
        return None, {}
    if callable(base_motion):
        return asked_of_time(base_motion, beside), {}
    try:
        twist, acceleration = (np.asarray(as_numbers(x), float) for x in base_motion)
    except (TypeError, ValueError) as error:
        raise ShapeError(
            "`base_motion` must be a pair of (6,) arrays, twist and acceleration of the base, or a function of time that "
            "gives one."
        ) from error
    if twist.shape != (6,) or acceleration.shape != (6,):
        raise ShapeError(f"`base_motion` must be a pair of (6,) arrays, got {twist.shape} and {acceleration.shape}.")
    B = math.prod(batch)
    return None, {name: np.tile(x, (B, 1)) for name, x in (("base_twist", twist), ("base_acceleration", acceleration))}


def first_mode(plant: Plant, q: Array) -> tuple[Mode, list[str]]:
    """The stops of each trajectory: where it starts beyond one, the stop is there. With notes on that."""
    free, notes, i = plant.free_mode((len(q),)), list[str](), plant.stopped
    x = q[:, plant.places[i]]
    if not np.any((x < free.lower[:, i]) | (x > free.upper[:, i])):
        return free, notes
    mode = plant.anew(q, free)
    for i in plant.stopped.tolist():
        for side, stop, now in (("lower", free.lower, mode.lower), ("upper", free.upper, mode.upper)):
            if np.any(moved := stop[:, i] != now[:, i]):
                far = np.max(np.abs(now[moved, i] - stop[moved, i]))
                notes.append(
                    f"{plant.robot.structure.freedoms[i]} starts beyond its {side} stop, by up to {far:.3g}; it is kept from "
                    f"going further."
                )
    return mode, notes


def is_stiff(robot: Robot, dt: float) -> bool:
    """Whether viscous friction slows a joint within a step: dt times the rate at which it does, doubled."""
    return not 2.0 * dt * rate_of_friction(robot) < STIFF


@remembered(64)
def rate_of_friction(robot: Robot) -> float:
    """How fast viscous friction takes a velocity away, λ_max(M⁻¹ D) at the worst of some configurations, 1/s.

    They are the same for all starts, so that each trajectory of a batch is what it is alone.
    """
    root = np.sqrt(np.asarray(robot.parameters.viscous_friction))
    if not np.any(root):
        return 0.0
    with np.errstate(all="ignore"):
        q = np.concatenate([robot.neutral[None], random_configuration(robot, seed=0, batch=(SOME,))])
        try:
            return float(np.linalg.eigvalsh(root[:, None] * np.linalg.inv(mass_matrix(robot, q)) * root)[:, -1].max())
        except np.linalg.LinAlgError:
            return math.inf
