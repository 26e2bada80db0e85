"""Motions of JAX arrays: a loop over time within XLA, for `jit`, `vmap` and derivatives through the very steps taken.

The loop is `jax.lax.scan` over one step, the same as elsewhere (`torsor.simulation.steps`). Within it XLA calls the machine code
of the forward dynamics, whose derivative is the machine code of `torsor.forward_dynamics_derivatives`. So a program for XLA has
a few operations for each stage of a step, however large the robot is and however many steps there are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from torsor._reports import in_one_line
from torsor.arrays import as_numbers, is_concrete
from torsor.arrays.primitives import is_foreign, namespace
from torsor.arrays.typing import Array
from torsor.border.arguments import refuse_unknown_word
from torsor.compiler.backend import compiles
from torsor.errors import ArgumentError, ArgumentTypeError, ShapeError
from torsor.functions.public.dynamics import forward_dynamics
from torsor.model import Robot
from torsor.model.remembered import remembered
from torsor.simulation.drives import Batch, given_forces, whole_multiple
from torsor.simulation.given import checked_stops, is_stiff, number_of_steps, start_of
from torsor.simulation.jax_modes import motion_with_modes, simulated_by
from torsor.simulation.plant import Plant
from torsor.simulation.stepping import SCHEDULED, Method
from torsor.simulation.steps.rate import Rate
from torsor.simulation.stops import Stops

Law = Callable[..., Any]


@in_one_line
class JaxRollout(NamedTuple):
    """A motion of JAX arrays: samples, batch axes first.

    Attributes
    ----------
    time : (N,) array
        s.
    q : (..., N, nq) array
        Configurations, rad or m.
    v : (..., N, nv) array
        Velocities, rad/s or m/s.
    tau : (..., N, nv) array
        Joint forces that act from each sample on, N·m or N.
    changed : (..., N) array
        1 where, between this sample and the next, a joint began or ended to be held, to slide or to touch a stop; else 0.
    """

    time: Array
    q: Array
    v: Array
    tau: Array
    changed: Array


class Forces(NamedTuple):
    """What acts: ``held`` over a step (..., nv), ``rows`` one per step (N, ..., nv), or a law.

    ``law`` is (t, q, v[, memory]) → tau[, memory]; it is asked at every stage if ``every`` is 0, else every that many steps.
    """

    held: Array
    rows: Array | None = None
    law: Law | None = None
    every: int = 1
    memory: Any = None


class Around(NamedTuple):
    """What acts beside the drives: wrenches (..., 6) or functions of (t, q, v), and a pair (6,) or a function of time."""

    wrenches: dict[str, Any]
    base_motion: Any

    @property
    def has_functions(self) -> bool:
        """Whether any of it is a function."""
        return any(map(_is_function, (*self.wrenches.values(), self.base_motion)))

    def at(self, t: Array, q: Array, v: Array) -> dict[str, Any]:
        """The arguments of forward dynamics at one time and state."""
        found: dict[str, Any] = {}
        if self.wrenches:
            found["wrenches"] = {name: W(t, q, v) if _is_function(W) else W for name, W in self.wrenches.items()}
        if self.base_motion is not None:
            moving = self.base_motion
            found["base_motion"] = tuple(moving(t)) if _is_function(moving) else moving
        return found


def has_jax_arrays(robot: Any, *given: Any) -> bool:
    """Whether arrays of JAX are among what is given, in lists and mappings too, or among the robot's numbers."""
    if "jax" not in sys.modules:
        return False
    leaves = [robot.parameters] if isinstance(robot, Robot) and not robot.is_concrete else []
    return any(map(_is_jax, [*leaves, *given]))


def _is_jax(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_is_jax, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_is_jax, value))
    if isinstance(value, np.ndarray):
        return is_foreign(value) and any(map(_is_jax, value.ravel().tolist()))
    return getattr(namespace(value), "__name__", "") == "jax.numpy"


def rollout_in_jax(
    robot: Robot,
    q0: Any,
    v0: Any,
    methods: Mapping[str, Method],
    stiff_methods: Mapping[str, Method],
    *,
    duration: float,
    dt: float | None,
    method: str | None,
    tau: Any,
    controller: Any,
    control_dt: float | None,
    controller_state: Any,
    wrenches: Any,
    base_motion: Any,
    within_limits: bool,
    stops: Stops,
    events: Any,
    every: int,
    times: Any,
) -> JaxRollout:
    """`torsor.simulate` for JAX arrays. ``methods``: steps by name, and those to take where friction is stiff."""
    import jax.numpy as jnp

    dt, steps = _checked_time(duration, dt, times, events)
    name = "rk4" if method is None else method
    refuse_unknown_word("method", name, methods)
    if not isinstance(every, (int, np.integer)) or every < 1:
        raise ArgumentError(f"`every` must be a whole number of at least 1, got {every!r:.40}.")
    plant = _plant(robot, stops, within_limits)
    q, v = jnp.asarray(as_numbers(q0)), jnp.asarray(as_numbers(v0))
    batch = start_of(robot, np.zeros(q.shape), np.zeros(v.shape))[2]
    numbers = [] if tau is None or _is_function(tau) else [jnp.asarray(as_numbers(tau))]
    dtype = jnp.result_type(q, v, *numbers, jnp.float32)
    q, v = (jnp.broadcast_to(x, (*batch, n)).astype(dtype) for x, n in ((q, robot.nq), (v, robot.nv)))
    around = Around(_wrenches(robot, wrenches, batch, dtype), _base_motion(base_motion, dtype))
    forces = _forces(robot, tau, controller, control_dt, controller_state, batch, dt, steps, dtype)
    kept = np.unique(np.append(np.arange(0, steps + 1, int(every)), steps))
    times = jnp.asarray(dt * kept, dtype)
    if plant.has_modes:
        options = {"duration": duration, "dt": dt, "method": name, "stops": stops, "within_limits": within_limits}
        run = _with_modes(plant, options, q, v, forces, wrenches, base_motion, steps)
        return JaxRollout(times, run[0][..., kept, :], run[1][..., kept, :], run[2][..., kept, :], run[3][..., kept])
    stiff = robot.is_concrete and is_stiff(robot, dt)
    step = (stiff_methods if stiff else methods)[name]
    effort = None if plant.effort is None else tuple(plant.effort.tolist())
    if robot.is_concrete and forces.law is None and not around.has_functions:
        run = _compiled(robot, step, effort, dt, steps, compiles())(q, v, forces.held, forces.rows, around)
    else:
        run = _loop(robot, step, effort, dt, steps, q, v, forces, around)
    qs, vs, taus = (jnp.moveaxis(x[kept], 0, -2) for x in run)
    return JaxRollout(times, qs, vs, taus, jnp.zeros((*batch, len(kept)), dtype))


def _with_modes(
    plant: Plant,
    options: dict[str, Any],
    q: Array,
    v: Array,
    forces: Forces,
    wrenches: Any,
    base_motion: Any,
    steps: int,
) -> tuple[Array, ...]:
    """All q, v, tau and changes of a motion with stops or friction that sticks."""
    import jax.numpy as jnp

    robot = plant.robot
    why = "has joint stops" if len(plant.stopped) else "has Coulomb friction that holds joints at rest"
    smooth = "within_limits=False" if len(plant.stopped) else "robot.with_coulomb_width(1e-3)"
    if not robot.is_concrete or forces.law is not None or _is_jax([wrenches, base_motion]):
        raise ArgumentError(
            f"robot {robot.name!r} {why}, and then JAX differentiates by `q0`, `v0` and `tau` as arrays alone: a controller, a "
            f"function `tau`, wrenches or numbers of the robot that are JAX arrays need a smooth motion. Pass {smooth}."
        )
    rows = jnp.broadcast_to(forces.held, (steps, *forces.held.shape)) if forces.rows is None else forces.rows
    simulated = simulated_by(robot, options | {"wrenches": wrenches, "base_motion": base_motion})
    return motion_with_modes(robot, simulated, steps)(q, v, jnp.moveaxis(rows, 0, -2))


@remembered(32)
def _compiled(
    robot: Robot, step: Method, effort: tuple[float, ...] | None, dt: float, steps: int, compiled: bool
) -> Callable[..., tuple[Array, ...]]:
    """The loop for one robot as XLA's program, kept for the next call: without it, each call outside of `jit` compiles."""
    import jax

    del compiled  # another key, another program

    def run(q: Array, v: Array, held: Array, rows: Array | None, around: Around) -> tuple[Array, ...]:
        return _loop(robot, step, effort, dt, steps, q, v, Forces(held, rows), around)

    return jax.jit(run)  # type: ignore[no-any-return]


def _loop(
    robot: Robot,
    step: Method,
    effort: tuple[float, ...] | None,
    dt: float,
    steps: int,
    q: Array,
    v: Array,
    forces: Forces,
    around: Around,
) -> tuple[Array, ...]:
    """All q, v and tau, (N + 1, ..., nq) and (N + 1, ..., nv). Drives give no more than their ``effort`` (nv,)."""
    import jax
    import jax.numpy as jnp

    h, no_power = jnp.asarray(dt, q.dtype), jnp.zeros(0, q.dtype)
    law, continuous = forces.law, forces.law is not None and forces.every == 0

    def shown(t: Array, q: Array, v: Array, held: Array) -> Array:
        tau = _answer(law, t, q, v, None)[0] if continuous else held
        if effort is None:
            return tau
        most = jnp.asarray(effort, q.dtype)
        return jnp.where(tau > most, most, jnp.where(tau < -most, -most, tau))

    def ask(t: Array, q: Array, v: Array, held: Array, memory: Any) -> tuple[Array, Any]:
        return _answer(law, t, q, v, memory)

    def keep(t: Array, q: Array, v: Array, held: Array, memory: Any) -> tuple[Array, Any]:
        return held, memory

    def one(carry: tuple[Any, ...], now: tuple[Any, ...]) -> tuple[Any, Any]:
        (q, v, held, memory), (k, row) = carry, now
        t = k * h
        if forces.rows is not None:
            held = row
        elif law is not None and forces.every == 1:
            held, memory = ask(t, q, v, held, memory)
        elif law is not None and not continuous:
            held, memory = jax.lax.cond(k % forces.every == 0, ask, keep, t, q, v, held, memory)

        def rate(t: Array, q: Array, v: Array) -> Rate:
            return Rate(forward_dynamics(robot, q, v, shown(t, q, v, held), **around.at(t, q, v)), no_power)

        new = step(robot, rate, t, q, v, h)
        return (new.q, new.v, held, memory), (q, v, shown(t, q, v, held))

    start = (q, v, forces.held, forces.memory)
    (q, v, held, _), (qs, vs, taus) = jax.lax.scan(one, start, (jnp.arange(steps), forces.rows))
    ends = (q, v, shown(steps * h, q, v, held))
    return tuple(jnp.concatenate([all_before, x[None]]) for all_before, x in zip((qs, vs, taus), ends, strict=True))


def _answer(law: Law | None, t: Array, q: Array, v: Array, memory: Any) -> tuple[Array, Any]:
    """What a law says, in the shape of v, and what it remembers, in the form in which it was given."""
    import jax
    import jax.numpy as jnp

    assert law is not None
    if memory is None:
        tau, after = law(t, q, v), None
    else:
        tau, after = law(t, q, v, memory)
        if jax.tree.structure(after) != jax.tree.structure(memory):
            raise ArgumentError("the state that the controller returns must have the form of `controller_state`.")
        after = jax.tree.map(lambda x, old: jnp.broadcast_to(jnp.asarray(x, old.dtype), old.shape), after, memory)
    tau = jnp.asarray(as_numbers(tau), v.dtype)
    if tau.shape not in (v.shape, v.shape[-1:]):
        raise ShapeError(f"the controller must return joint forces of shape {v.shape}, got {tau.shape}.")
    return jnp.broadcast_to(tau, v.shape), after


def _forces(
    robot: Robot,
    tau: Any,
    controller: Any,
    control_dt: Any,
    state: Any,
    batch: Batch,
    dt: float,
    steps: int,
    dtype: Any,
) -> Forces:
    """What drives the robot, checked as for NumPy arrays."""
    import jax
    import jax.numpy as jnp

    shape = (*batch, robot.nv)
    none = jnp.zeros(shape, dtype)
    if tau is not None and controller is not None:
        raise ArgumentError("give `tau` or a `controller`, not both.")
    if controller is not None:
        if control_dt == 0 and state is not None:
            raise ArgumentError(
                "a controller with memory is asked once per `control_dt`; `control_dt=0` is for laws without memory."
            )
        every = 1 if control_dt is None else 0 if control_dt == 0 else whole_multiple("control_dt", control_dt, dt)
        memory = None if state is None else jax.tree.map(lambda x: jnp.asarray(as_numbers(x)), state)
        return Forces(none, law=controller, every=every, memory=memory)
    for name, value in (("control_dt", control_dt), ("controller_state", state)):
        if value is not None:
            raise ArgumentError(f"`{name}` belongs to a `controller`, and there is none.")
    if tau is None:
        return Forces(none)
    if _is_function(tau):
        return Forces(none, law=lambda t, q, v: tau(t), every=0)
    tau = jnp.asarray(as_numbers(tau), dtype)
    if given_forces(robot, np.zeros(tau.shape), batch, steps).kind == SCHEDULED:  # refuses shapes in words
        return Forces(none, rows=jnp.moveaxis(jnp.broadcast_to(tau, (*batch, steps, robot.nv)), -2, 0))
    constant = tau[..., 0, :] if tau.ndim == len(batch) + 2 else tau
    return Forces(jnp.broadcast_to(constant, shape))


def _wrenches(robot: Robot, wrenches: Any, batch: Batch, dtype: Any) -> dict[str, Any]:
    """Wrenches by frame: functions as they are, numbers (..., 6) as arrays."""
    import jax.numpy as jnp

    if wrenches is not None and not isinstance(wrenches, Mapping):
        raise ArgumentTypeError(f"`wrenches` must be a mapping of frame names to wrenches, got {wrenches!r:.60}.")
    found: dict[str, Any] = {}
    for frame, wrench in (wrenches or {}).items():
        robot.structure.frame(frame)
        found[frame] = wrench if _is_function(wrench) else jnp.asarray(as_numbers(wrench), dtype)
        if not _is_function(wrench) and found[frame].shape not in ((6,), (*batch, 6)):
            wanted = f"(6,) or {(*batch, 6)}" if batch else "(6,)"
            raise ShapeError(f"`wrenches[{frame!r}]` must have shape {wanted}, got {found[frame].shape}.")
    return found


def _base_motion(base_motion: Any, dtype: Any) -> Any:
    """A function of time, a pair of arrays (6,), or None."""
    import jax.numpy as jnp

    if base_motion is None or _is_function(base_motion):
        return base_motion
    pair = tuple(jnp.asarray(as_numbers(x), dtype) for x in base_motion)
    if [x.shape for x in pair] != [(6,), (6,)]:
        raise ShapeError("`base_motion` must be a pair of (6,) arrays, twist and acceleration of the base.")
    return pair


def _checked_time(duration: Any, dt: Any, times: Any, events: Any) -> tuple[float, int]:
    """Step and number of steps."""
    if dt is None or times is not None:
        raise ArgumentError("with JAX arrays, steps are of one length: pass `dt`, dt=1e-3 say, and no `times`.")
    if events != ():
        raise ArgumentError("with JAX arrays, `events` are not looked for: call it with NumPy arrays, outside of JAX.")
    if not is_concrete(dt, duration):
        raise ArgumentError("`dt` and `duration` must be plain numbers: JAX must know how many steps there are.")
    return float(dt), number_of_steps(duration, dt)


def _plant(robot: Robot, stops: Any, within_limits: bool) -> Plant:
    """The robot as a plant. Friction of traced numbers must be smooth: nobody knows whether it is there."""
    if not robot.structure.coulomb_width > 0.0 and not is_concrete(robot.parameters.coulomb_friction):
        raise ArgumentError(
            f"Coulomb friction of robot {robot.name!r} is a JAX array, and would hold joints at rest: pass "
            "robot.with_coulomb_width(1e-3), which smooths it as tanh(v / width)."
        )
    return Plant(robot, checked_stops(stops) if within_limits else None, within_limits)


def _is_function(value: Any) -> bool:
    return callable(value) and not hasattr(value, "__array__")
