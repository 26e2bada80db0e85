"""Simulation: integrate the forward dynamics under given torques or a controller, with the energy along the way."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from torsor.arrays import as_numbers, is_concrete, stack_vectors
from torsor.arrays.typing import Array, ConfigurationVector, JointVector
from torsor.border import explained
from torsor.errors import ArgumentError, ArgumentTypeError, ShapeError
from torsor.functions.public.dynamics import forward_dynamics, kinetic_energy, potential_energy
from torsor.mechanics.recursions.newton_euler import Wrenches
from torsor.model import Robot
from torsor.simulation.progress import progress
from torsor.simulation.steps import Step, euler, rk4, semi_implicit_euler

Controller = Callable[[float, Array, Array], Array]  # (time s, q (..., nq), v (..., nv)) → tau (..., nv)
METHODS: dict[str, Step] = {"semi_implicit_euler": semi_implicit_euler, "euler": euler, "rk4": rk4}


class Trajectory(NamedTuple):
    """A simulated motion: N + 1 samples, batch axes first.

    ``time`` (N + 1,), s; ``q`` (..., N + 1, nq), rad or m; ``v`` (..., N + 1, nv); ``tau`` (..., N, nv), N·m or N, the
    force at the start of each step; ``kinetic`` and ``potential`` (..., N + 1), J.
    """

    time: Array
    q: Array
    v: Array
    tau: Array
    kinetic: Array
    potential: Array

    @property
    def energy(self) -> Array:
        """Kinetic plus potential energy (..., N + 1), J."""
        return self.kinetic + self.potential


@explained
def simulate(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    *,
    duration: float,
    step: float,
    torques: JointVector | None = None,
    controller: Controller | None = None,
    method: str = "semi_implicit_euler",
    wrenches: Wrenches | None = None,
) -> Trajectory:
    """Motion from the state q (..., nq), v (..., nv) for ``duration`` s in steps of ``step`` s [LP, §9.5, (9.89)].

    Driven by ``torques``: (..., nv) constant or (..., N, nv) one per step (with all batch axes), N·m or N; or by
    ``controller``, a function (t, q, v) → tau; or by nothing. ``method`` is "semi_implicit_euler", "euler" (the book's) or
    "rk4", which holds the given torques over a step and asks a controller at every stage. ``wrenches`` act throughout, in
    their frames.
    """
    if method not in METHODS:
        raise ArgumentError(f"simulate: unknown method {method!r}. Methods: {', '.join(METHODS)}.")
    if not (step > 0 and duration >= 0 and np.isfinite(duration)):
        raise ArgumentError(
            f"simulate: step must be positive and duration finite and not negative, got {step} s, {duration} s."
        )
    if torques is not None and controller is not None:
        raise ArgumentError("simulate: give `torques` or a `controller`, not both.")
    steps = round(duration / step)
    if abs(steps * step - duration) > 1e-6 * step:
        raise ArgumentError(
            f"simulate: a duration of {duration} s is not a whole number of steps of {step} s; nearest is {steps * step:g} s."
        )
    q, v = _start(robot, q, v)
    force = _force(robot, torques, controller, steps, len(v.shape) - 1)

    qs, vs, taus = [q], [v], []
    for k in progress(range(steps), f"simulating {robot.name}"):
        taus.append(force(k, k * step, q, v) + 0.0 * v)

        def accelerate(t: float, q: Array, v: Array, k: int = k) -> Array:
            tau = force(k, t, q, v)
            return (
                forward_dynamics(robot, q, v, tau) if wrenches is None else forward_dynamics(robot, q, v, tau, wrenches)
            )

        q, v = METHODS[method](robot, accelerate, k * step, q, v, step)
        qs.append(q)
        vs.append(v)
    q_all, v_all = stack_vectors(qs), stack_vectors(vs)
    tau_all = stack_vectors(taus) if taus else np.zeros((*v.shape[:-1], 0, robot.nv))
    time = step * np.arange(steps + 1)
    kinetic, potential = kinetic_energy(robot, q_all, v_all), potential_energy(robot, q_all)
    return Trajectory(time, q_all, v_all, tau_all, kinetic, potential)


def _start(robot: Robot, q: Array, v: Array) -> tuple[Array, Array]:
    q, v = as_numbers(q), as_numbers(v)
    for name, value, size in (("q", q, robot.nq), ("v", v, robot.nv)):
        if not value.shape or value.shape[-1] != size:
            raise ShapeError(
                f"simulate: `{name}` must have shape (..., {size}) for robot {robot.name!r}, got {value.shape}."
            )
    if is_concrete(q, v):
        try:
            batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
        except ValueError:
            raise ShapeError(
                f"simulate: the batch axes of q {q.shape[:-1]} and v {v.shape[:-1]} do not broadcast."
            ) from None
        q, v = np.broadcast_to(q, (*batch, robot.nq)), np.broadcast_to(v, (*batch, robot.nv))
    return q, v


def _force(
    robot: Robot, torques: Array | None, controller: Controller | None, steps: int, batch_rank: int
) -> Callable[[int, float, Array, Array], Array]:
    if controller is not None:
        return _asked(robot, controller)
    if torques is None:
        return lambda k, t, q, v: 0.0 * v
    given = as_numbers(torques)
    if given.shape[-1:] != (robot.nv,):
        raise ShapeError(
            f"simulate: `torques` must have shape (..., {robot.nv}) or (..., {steps}, {robot.nv}), got {given.shape}."
        )
    if given.ndim <= batch_rank + 1:
        return lambda k, t, q, v: given
    if given.shape[-2] == steps and given.ndim == batch_rank + 2:
        return lambda k, t, q, v: given[..., k, :]
    raise ShapeError(
        f"simulate: `torques` of shape {given.shape} has {given.shape[-2]} rows for {steps} steps; "
        f"pass (..., {robot.nv}) for a constant force or (..., {steps}, {robot.nv}), with all batch axes, for one per step."
    )


def _asked(robot: Robot, controller: Controller) -> Callable[[int, float, Array, Array], Array]:
    _refuse_other_arguments(controller)

    def ask(k: int, t: float, q: Array, v: Array) -> Array:
        tau = controller(t, q, v)
        if tau is None or np.shape(tau)[-1:] != (robot.nv,):
            got = "None" if tau is None else f"shape {np.shape(tau)}"
            raise ShapeError(
                f"simulate: the controller must return joint forces of shape (..., {robot.nv}), got {got}."
            )
        return as_numbers(tau)

    return ask


def _refuse_other_arguments(controller: Controller) -> None:
    """A controller is a function that can be called with t, q and v."""
    if not callable(controller):
        raise ArgumentTypeError(f"simulate: `controller` must be a function (t, q, v) → tau, got {controller!r:.60}.")
    with contextlib.suppress(ValueError):  # of some builtin functions nothing is known
        signature = inspect.signature(controller)
        try:
            signature.bind(0.0, None, None)
        except TypeError as error:
            raise ArgumentTypeError(
                f"simulate: `controller` is called as controller(t, q, v), which {signature} does not take: {error}."
            ) from None
