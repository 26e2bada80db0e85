"""Simulation: integrate the forward dynamics under given torques or a controller, with the energy along the way."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np

from torsor._reports import in_one_line
from torsor.arrays import as_numbers, is_concrete, stack_vectors
from torsor.arrays.foreign import refuse_foreign
from torsor.arrays.typing import Array, ConfigurationVector, GivenConfiguration, GivenJointVector, JointVector
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.errors import ArgumentError, ArgumentTypeError, ShapeError
from torsor.functions.public.dynamics import forward_dynamics, kinetic_energy, potential_energy
from torsor.functions.public.kinematics import integrate
from torsor.mechanics.kinematics.manifold import increment_rate
from torsor.mechanics.recursions.newton_euler import Wrenches
from torsor.model import Robot

T = TypeVar("T")
Controller = Callable[[float, Array, Array], Array]  # (time s, q (..., nq), v (..., nv)) → tau (..., nv)


Accelerate = Callable[[float, ConfigurationVector, JointVector], JointVector]
Step = Callable[[Robot, Accelerate, float, ConfigurationVector, JointVector, float], tuple[Array, Array]]


def euler(robot: Robot, accelerate: Accelerate, t: float, q: Array, v: Array, h: float) -> tuple[Array, Array]:
    """q ⊕ h v, v + h a(q, v): first order, gains energy [LP, §9.5, E002-12]."""
    return integrate(robot, q, h * v), v + h * accelerate(t, q, v)


def semi_implicit_euler(
    robot: Robot, accelerate: Accelerate, t: float, q: Array, v: Array, h: float
) -> tuple[Array, Array]:
    """v first, then q with the new v: first order, keeps the energy of an oscillation bounded [HLW06, §I.1.2]."""
    v_new = v + h * accelerate(t, q, v)
    return integrate(robot, q, h * v_new), v_new


def rk4(robot: Robot, accelerate: Accelerate, t: float, q: Array, v: Array, h: float) -> tuple[Array, Array]:
    """The classical fourth-order Runge–Kutta step, on the manifold by Munthe-Kaas' method [MK99].

    The unknown is the increment u with q(t + s) = q ⊕ u(s), a vector that can be averaged; its rate is `increment_rate`.
    """
    half = 0.5 * h
    a1 = accelerate(t, q, v)
    k1 = v
    v2 = v + half * a1
    u2 = half * k1
    a2 = accelerate(t + half, integrate(robot, q, u2), v2)
    k2 = increment_rate(robot, u2, v2)
    v3 = v + half * a2
    u3 = half * k2
    a3 = accelerate(t + half, integrate(robot, q, u3), v3)
    k3 = increment_rate(robot, u3, v3)
    v4 = v + h * a3
    u4 = h * k3
    a4 = accelerate(t + h, integrate(robot, q, u4), v4)
    k4 = increment_rate(robot, u4, v4)
    u = h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return integrate(robot, q, u), v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)


METHODS: dict[str, Step] = {"semi_implicit_euler": semi_implicit_euler, "euler": euler, "rk4": rk4}


@in_one_line
class Trajectory(NamedTuple):
    """A simulated motion: N + 1 samples, batch axes first.

    Attributes
    ----------
    time : (N + 1,) array
        s.
    q : (..., N + 1, nq) array
        Configurations, rad or m.
    v : (..., N + 1, nv) array
        Velocities, rad/s or m/s.
    tau : (..., N, nv) array
        Joint forces at the start of each step, N·m or N.
    kinetic, potential : (..., N + 1) array
        Energies, J.
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
    q0: GivenConfiguration,
    v0: GivenJointVector,
    *,
    duration: float,
    dt: float,
    tau: GivenJointVector | None = None,
    controller: Controller | None = None,
    method: str = "semi_implicit_euler",
    wrenches: Wrenches | None = None,
) -> Trajectory:
    """Motion from a state under joint forces, under a controller, or left to itself [LP, §9.5, (9.89)].

    Parameters
    ----------
    robot : Robot
    q0 : (..., nq) array
        Configuration at the start, rad or m.
    v0 : (..., nv) array
        Velocity at the start, rad/s or m/s.
    duration : float
        How long the motion lasts, s; a whole number N of steps.
    dt : float
        Time step, s.
    tau : (..., nv) or (..., N, nv) array, optional
        Joint forces, N·m or N: constant, or one per step (then with all batch axes).
    controller : function (t, q, v) → tau, optional
        Gives the joint forces (..., nv) in place of ``tau``.
    method : str
        "semi_implicit_euler", "euler" (the book's) or "rk4", which holds the given ``tau`` over a step and asks a controller
        at every stage.
    wrenches : mapping of frame names to (..., 6) arrays, optional
        External wrenches, in the axes of their frames, N·m and N. They act throughout.

    Returns
    -------
    Trajectory
        Time, configurations, velocities, joint forces and energies of all samples.
    """
    refuse_unknown_word("method", method, METHODS)
    if not (dt > 0 and duration >= 0 and np.isfinite(duration)):
        raise ArgumentError(
            f"`dt` must be positive and `duration` finite and not negative, got {dt} s and {duration} s."
        )
    if tau is not None and controller is not None:
        raise ArgumentError("give `tau` or a `controller`, not both.")
    steps = round(duration / dt)
    if abs(steps * dt - duration) > 1e-6 * dt:
        raise ArgumentError(
            f"a duration of {duration} s is not a whole number of steps of {dt} s; nearest is {steps * dt:g} s."
        )
    q, v = _start(robot, q0, v0)
    force = _force(robot, tau, controller, steps, len(v.shape) - 1)

    qs, vs, taus = [q], [v], []
    for k in _progress(range(steps), f"simulating {robot.name}"):
        taus.append(force(k, k * dt, q, v) + 0.0 * v)

        def accelerate(t: float, q: Array, v: Array, k: int = k) -> Array:
            tau = force(k, t, q, v)
            return (
                forward_dynamics(robot, q, v, tau)
                if wrenches is None
                else forward_dynamics(robot, q, v, tau, wrenches=wrenches)
            )

        q, v = METHODS[method](robot, accelerate, k * dt, q, v, dt)
        qs.append(q)
        vs.append(v)
    q_all, v_all = stack_vectors(qs), stack_vectors(vs)
    tau_all = stack_vectors(taus) if taus else np.zeros((*v.shape[:-1], 0, robot.nv))
    time = dt * np.arange(steps + 1)
    kinetic, potential = kinetic_energy(robot, q_all, v_all), potential_energy(robot, q_all)
    return Trajectory(time, q_all, v_all, tau_all, kinetic, potential)


def _start(robot: Robot, q: Array, v: Array) -> tuple[Array, Array]:
    """The first state as arrays of one batch shape."""
    refuse_foreign(q, "q0")
    refuse_foreign(v, "v0")
    q, v = as_numbers(q), as_numbers(v)
    for name, value, size in (("q0", q, robot.nq), ("v0", v, robot.nv)):
        if not value.shape or value.shape[-1] != size:
            raise ShapeError(f"`{name}` must have shape (..., {size}) for robot {robot.name!r}, got {value.shape}.")
    if is_concrete(q, v):
        try:
            batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
        except ValueError:
            raise ShapeError(
                f"the batch axes of `q0` {q.shape[:-1]} and `v0` {v.shape[:-1]} do not broadcast."
            ) from None
        q, v = np.broadcast_to(q, (*batch, robot.nq)), np.broadcast_to(v, (*batch, robot.nv))
    return q, v


def _force(
    robot: Robot, tau: Array | None, controller: Controller | None, steps: int, batch_rank: int
) -> Callable[[int, float, Array, Array], Array]:
    """The joint forces as a function of the number of the step, the time and the state."""
    if controller is not None:
        return _asked(robot, controller)
    if tau is None:
        return lambda k, t, q, v: 0.0 * v
    refuse_foreign(tau, "tau")
    given = as_numbers(tau)
    if given.shape[-1:] != (robot.nv,):
        raise ShapeError(f"`tau` must have shape (..., {robot.nv}) or (..., {steps}, {robot.nv}), got {given.shape}.")
    if given.ndim <= batch_rank + 1:
        return lambda k, t, q, v: given
    if given.shape[-2] == steps and given.ndim == batch_rank + 2:
        return lambda k, t, q, v: given[..., k, :]
    raise ShapeError(
        f"`tau` of shape {given.shape} has {given.shape[-2]} rows for {steps} steps; "
        f"pass (..., {robot.nv}) for a constant force or (..., {steps}, {robot.nv}), with all batch axes, for one per step."
    )


def _asked(robot: Robot, controller: Controller) -> Callable[[int, float, Array, Array], Array]:
    _refuse_other_arguments(controller)

    def ask(k: int, t: float, q: Array, v: Array) -> Array:
        tau = controller(t, q, v)
        if tau is None or np.shape(tau)[-1:] != (robot.nv,):
            got = "None" if tau is None else f"shape {np.shape(tau)}"
            raise ShapeError(f"the controller must return joint forces of shape (..., {robot.nv}), got {got}.")
        refuse_foreign(tau, "controller")
        return as_numbers(tau)

    return ask


def _refuse_other_arguments(controller: Controller) -> None:
    """A controller is a function that can be called with t, q and v."""
    if not callable(controller):
        raise ArgumentTypeError(f"`controller` must be a function (t, q, v) → tau, got {controller!r:.60}.")
    with contextlib.suppress(ValueError):  # of some builtin functions nothing is known
        signature = inspect.signature(controller)
        try:
            signature.bind(0.0, None, None)
        except TypeError as error:
            raise ArgumentTypeError(
                f"`controller` is called as controller(t, q, v), which {signature} does not take: {error}. For a law with "
                "other arguments pass a function of these three, such as "
                "lambda t, q, v: torsor.control.pd_gravity(robot, q, v, q_ref, kp, kd)."
            ) from None


def _progress(items: Iterable[T], label: str) -> Iterator[T]:
    """``items``, with a bar on a terminal once a second has passed, if tqdm is installed."""
    if sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None:
        from tqdm import tqdm

        return iter(tqdm(items, desc=label, delay=1.0, leave=False))
    return iter(items)
