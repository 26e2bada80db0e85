"""Simulation: integrate the forward dynamics under given forces or a controller, within what the robot can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from torsor._progress import progress
from torsor.arrays.typing import Array, GivenConfiguration, GivenJointVector
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.errors import ArgumentError, SimulationDiverged
from torsor.model import Robot
from torsor.motion.trajectory import Trajectory
from torsor.simulation.adaptive_motion import MOST_STEPS, AdaptiveMotion, TooManySteps
from torsor.simulation.adaptive_result import adaptive_trajectory, times_of, tolerances_of
from torsor.simulation.drives import Batch
from torsor.simulation.events import Event, Occurrence
from torsor.simulation.given import Setup, number_of_steps, rate_of_friction, set_up
from torsor.simulation.jax_rollout import has_jax_arrays, rollout_in_jax
from torsor.simulation.notes import Happened, notes_of
from torsor.simulation.rollout import Diverged, Rollout
from torsor.simulation.stepping import Asked, Method
from torsor.simulation.steppings import stepping_of, work_of
from torsor.simulation.steps.euler import damped_semi_implicit_euler, euler, semi_implicit_euler
from torsor.simulation.steps.extrapolated_euler import extrapolated_euler
from torsor.simulation.steps.implicit_midpoint import damped_implicit_midpoint, implicit_midpoint
from torsor.simulation.steps.rk4 import rk4
from torsor.simulation.steps_taken import StepsTaken
from torsor.simulation.stops import Stops
from torsor.simulation.variational_method import damped_variational, variational
from torsor.simulation.variational_run import variational_motion

Controller = Callable[..., Any]  # (time s, q (..., nq), v (..., nv)[, state]) → tau (..., nv)[, state]
Wrench = Any  # (..., 6) numbers, or a function of (t, q, v)
LONGEST_STABLE = 6.0  # adaptive step times the rate of a motion that dies out, where it is still stable
PAIRS = {"dop853": "853", "dopri5": "54"}
METHODS: dict[str, Method] = {
    "rk4": rk4,
    "implicit_midpoint": implicit_midpoint,
    "variational": variational,
    "semi_implicit_euler": semi_implicit_euler,
    "euler": euler,
}
IN_JAX = {name: step for name, step in METHODS.items() if name != "variational"}
STIFF_METHODS: dict[str, Method] = METHODS | {
    "rk4": extrapolated_euler,
    "variational": damped_variational,
    "implicit_midpoint": damped_implicit_midpoint,
    "semi_implicit_euler": damped_semi_implicit_euler,
}


@explained
def simulate(
    robot: Robot,
    q0: GivenConfiguration,
    v0: GivenJointVector,
    *,
    duration: float,
    dt: float | None = None,
    method: str | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    tau: GivenJointVector | Callable[[float], Any] | None = None,
    controller: Controller | None = None,
    control_dt: float | None = None,
    controller_state: Any = None,
    wrenches: Mapping[str, Wrench] | None = None,
    base_motion: Any = None,
    within_limits: bool = True,
    stops: Stops = Stops(),  # noqa: B008 it is frozen
    events: Sequence[Event] | Event = (),
    every: int = 1,
    times: Any = None,
    compile_controller: bool | None = None,
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
        How long the motion lasts, s; with ``dt`` a whole number N of steps.
    dt : float, optional
        Time step, s. Without it steps are chosen so that the errors stay within ``rtol`` and ``atol``.
    method : str, optional
        With ``dt``: "rk4" (the default), "implicit_midpoint", "variational" (its energy does not drift in long runs),
        "semi_implicit_euler" or "euler" (the book's). Without: "dop853" (the default up to rtol 1e-4) or "dopri5".
    rtol, atol : float
        Relative and absolute tolerance of a step, where ``dt`` is not given.
    tau : (..., nv) or (..., N, nv) array, or function of time, optional
        Joint forces, N·m or N: constant, one per step (with all batch axes), or what a function gives at every stage.
    controller : function (t, q, v) → tau, optional
        Gives the joint forces (..., nv) in place of ``tau``; with memory (t, q, v, state) → tau, state.
    control_dt : float, optional
        How long a controller's answer is held, s: a multiple of ``dt``, which is the default, or 0 for a law that is asked at
        every stage of a step, as if it were continuous. Without ``dt`` it must be given.
    controller_state : optional
        What a controller with memory has in the beginning: a number, an array, or a tuple or dict of these.
    wrenches : mapping of frame names to (..., 6) arrays or functions (t, q, v) → (6,), optional
        External wrenches, in the axes of their frames, N·m and N.
    base_motion : pair of (6,) arrays, or function of time that gives one, optional
        Twist and acceleration of the base in base axes, if it moves.
    within_limits : bool
        Whether joints end at their stops and drives give no more than their effort limits. Without, the bare equations move.
    stops : Stops
        What happens at a joint's limit.
    events : sequence of Event
        Moments to be located, to act at, or to end at.
    every : int
        Saves every k-th step, and the last.
    times : (K,) array, optional
        Without ``dt``: the times of the samples, s. Default: the steps that were taken.
    compile_controller : bool, optional
        Whether the controller becomes part of the machine code. By default it does if it is found to be the same function at
        every call. That changes the speed, and no digit beyond rounding.

    Returns
    -------
    Trajectory
        Samples of time, configurations, velocities, accelerations and joint forces, the works, and notes on what happened. A
        motion that is interrupted by Ctrl-C ends there, and says so (``interrupted``).
    JaxRollout
        For JAX arrays, also within `jit`, `grad` and `vmap`: time, q, v, tau and changed, a pytree. ``dt`` must be given, and a
        controller is traced. Where there are stops or friction that sticks, gradients are by q0, v0 and tau, backward. A
        motion that diverges is NaN.
    """
    if has_jax_arrays(robot, q0, v0, tau, wrenches, base_motion, controller_state):
        return rollout_in_jax(  # type: ignore[return-value]
            robot, q0, v0, IN_JAX, STIFF_METHODS, duration=duration, dt=dt, method=method, tau=tau, controller=controller,
            control_dt=control_dt, controller_state=controller_state, wrenches=wrenches, base_motion=base_motion,
            within_limits=within_limits, stops=stops, events=events, every=every, times=times,
        )  # fmt: skip
    if dt is None:
        if every != 1:
            raise ArgumentError("`every` counts steps of `dt`; without `dt`, say which `times` to save.")
        if controller is not None and control_dt is None:
            raise ArgumentError(
                "`control_dt` is missing: without `dt` nothing says how long a controller's answer is held. Pass "
                "control_dt=1e-3, or control_dt=0 for a continuous law."
            )
        steps, sampled = None, controller is not None and control_dt != 0
        if sampled and compile_controller:
            raise ArgumentError(
                "`compile_controller`: adaptive steps stop where a controller is asked, and call it from Python. Give `dt`, or "
                "control_dt=0 for a continuous law, to have it compiled."
            )
    elif times is not None:
        raise ArgumentError("`times` chooses the samples of adaptive steps; with `dt`, `every` does.")
    else:
        steps, sampled = number_of_steps(duration, dt), False
    setup = set_up(
        robot,
        q0,
        v0,
        dt=dt,
        steps=steps,
        tau=tau,
        controller=controller,
        control_dt=control_dt,
        controller_state=controller_state,
        wrenches=wrenches,
        base_motion=base_motion,
        stops=stops if within_limits else None,
        events=events,
        compile_controller=False if sampled else compile_controller,  # asked between stretches
    )
    if dt is None or steps is None:
        return _with_adaptive_steps(setup, method, duration, control_dt, rtol, atol, times)
    return _with_fixed_steps(setup, "rk4" if method is None else method, dt, steps, every)


def _with_adaptive_steps(
    setup: Setup, method: str | None, duration: float, control_dt: float | None, rtol: float, atol: float, times: Any
) -> Trajectory:
    """The motion by steps of chosen accuracy."""
    pair = ("dop853" if rtol < 1e-4 else "dopri5") if method is None else method
    refuse_unknown_word("method", pair, PAIRS, also="with `dt` one of " + ", ".join(map(repr, METHODS)))
    tolerances_of(rtol, atol)
    when = times_of(times, duration, setup.batch)
    fastest = rate_of_friction(setup.robot)
    if np.isfinite(fastest) and duration * fastest > MOST_STEPS * LONGEST_STABLE:
        raise ArgumentError(
            f"viscous friction of robot {setup.robot.name!r} is too fast for adaptive steps, which would be "
            f"{LONGEST_STABLE / fastest:.1e} s long: give `dt`, with which it may be of any size."
        )
    stepping = stepping_of(setup, rk4)
    motions, interrupted, error = list[AdaptiveMotion](), False, None
    with progress(duration * max(1, len(setup.q)), f"simulating {setup.robot.name}", "s") as tell:
        for k in range(len(setup.q)):
            motion = AdaptiveMotion(
                stepping,
                setup,
                k,
                duration=duration,
                control_dt=control_dt or None,
                pair=PAIRS[pair],
                rtol=rtol,
                atol=atol,
                times=when,
            )
            motions.append(motion)
            try:
                motion.run(tell)
            except KeyboardInterrupt:
                interrupted = True
            except (Diverged, TooManySteps) as problem:
                error = problem
            if interrupted or error is not None:
                break
    cut = interrupted or error is not None
    try:
        trajectory = adaptive_trajectory(setup, stepping.works, motions, when, cut)
    except KeyboardInterrupt:  # all steps are taken: what they gave is not lost for that
        trajectory = adaptive_trajectory(setup, stepping.works, motions, when, True)
    if isinstance(error, Diverged):
        raise _divergence(setup, error, None, trajectory)
    if error is not None:
        raise SimulationDiverged(
            f"the motion of robot {setup.robot.name!r} did not get beyond {error.time:.6g} s: {error.word}. "
            "Loosen `rtol` and `atol`, or give `dt`. What there is until then is in the error's `trajectory`.",
            trajectory,
        )
    return trajectory


def _with_fixed_steps(setup: Setup, method: str, dt: float, steps: int, every: int) -> Trajectory:
    """The motion by steps of one length."""
    refuse_unknown_word("method", method, METHODS)
    if not isinstance(every, (int, np.integer)) or every < 1:
        raise ArgumentError(f"`every` must be a whole number of at least 1, got {every!r:.40}.")
    if method == "variational":
        with progress(steps, f"simulating {setup.robot.name}", " steps") as tell:
            if (long := variational_motion(setup, dt, steps, int(every), tell)) is not None:
                return long
    stiff = setup.acts.is_stiff
    stepping = stepping_of(setup, (STIFF_METHODS if stiff else METHODS)[method])
    rollout = Rollout(stepping, setup, dt=dt, steps=steps, every=int(every))
    interrupted, diverged = _run(rollout, setup)
    cut = interrupted or diverged is not None
    is_implicit = stiff and method != "euler"
    try:
        trajectory = _trajectory(rollout, setup, cut, method, is_implicit, diverged is not None)
    except KeyboardInterrupt:  # all steps are taken: what they gave is not lost for that
        trajectory = _trajectory(rollout, setup, True, method, is_implicit, diverged is not None)
    if diverged is not None:
        raise _divergence(setup, diverged, dt, trajectory)
    return trajectory


def _run(rollout: Rollout, setup: Setup) -> tuple[bool, Diverged | None]:
    """Take all steps; whether Ctrl-C ended them, and what diverged."""
    with progress(rollout.steps, f"simulating {setup.robot.name}", " steps") as tell:
        try:
            if setup.acts.drive.python is None:
                rollout.run(rollout.steps, tell)
            else:
                rollout.run_asking(tell)
        except KeyboardInterrupt:
            return True, None
        except Diverged as error:
            return False, error
    return False, None


def _trajectory(rollout: Rollout, setup: Setup, cut: bool, method: str, stiff: bool, diverged: bool) -> Trajectory:
    """The result, up to where all trajectories have come, and where all their numbers are finite."""
    done, batch = rollout.completed, setup.batch
    samples = done // rollout.every + 1 + (done == rollout.steps and done % rollout.every > 0)
    rollout.finish(samples)
    if diverged:
        samples = _finite_samples(rollout, samples)
    time, arrays = rollout.record.time, rollout.record.arrays
    if samples < len(time):
        time, arrays = time[:samples], {name: x[:, :samples] for name, x in arrays.items()}
    if rollout.ended:
        time, arrays = _ended(rollout, time, arrays, batch)

    def shaped(x: Array) -> Array:
        return x.reshape(*batch, *x.shape[1:])

    pushes = {}
    for k, (frame, asked) in enumerate(setup.acts.wrenches):
        if asked is None:
            constant = setup.acts.constants[f"wrench_{k}"]
            pushes[frame] = shaped(np.broadcast_to(constant[:, None], (len(constant), len(time), 6)))
        else:
            pushes[frame] = shaped(_asked_along(asked, time, arrays["q"], arrays["v"]))
    occurrences = tuple(
        Occurrence(m.event.title, m.time, _place(m.which, batch), m.q, m.v)
        for m in rollout.moments
        if m.event is not None
    )
    happened = Happened(setup.acts.plant, rollout.moments, rollout.first_mode, rollout.unfinished)
    return Trajectory.of_simulation(
        robot=setup.robot,
        time=time,
        q=shaped(arrays["q"]),
        v=shaped(arrays["v"]),
        a=shaped(arrays["a"]),
        tau=shaped(arrays["force"]),
        wrenches=pushes,
        work=work_of(arrays["work"], rollout.stepping.works, batch),
        notes=(*setup.beyond, *notes_of(happened, time, arrays, batch, stiff)),
        interrupted=cut,
        events=occurrences,
        steps=StepsTaken.of_rollout(rollout, method, batch, time),
    )


def _finite_samples(rollout: Rollout, samples: int) -> int:
    """How many of the samples, at least 1: from the last ones, which are finite yet, accelerations may already be beyond."""
    going = np.setdiff1d(np.arange(len(rollout.done)), list(rollout.ended))
    arrays = rollout.record.arrays.values()
    while samples > 1 and not all(np.all(np.isfinite(x[going, samples - 1])) for x in arrays):
        samples -= 1
    return samples


def _asked_along(asked: Asked, time: Array, q: Array, v: Array) -> Array:
    """A wrench (B, N, 6) at all samples of motions (B, N, …); NaN where they have ended."""
    wrench = np.full((*q.shape[:2], 6), np.nan)
    if asked.program is not None:  # all of them in one go
        going = np.isfinite(v).all(axis=-1)
        wrench[going] = asked(t=np.broadcast_to(time, going.shape)[going], q=q[going], v=v[going])["out"]
        return wrench
    for n, t in enumerate(time):
        going = np.isfinite(v[:, n]).all(axis=-1)
        if np.any(going):
            wrench[going, n] = asked(t=np.full(int(going.sum()), t), q=q[going, n], v=v[going, n])["out"]
    return wrench


def _ended(rollout: Rollout, time: Array, arrays: dict[str, Array], batch: Batch) -> tuple[Array, dict[str, Array]]:
    """Samples until terminal events: one trajectory ends there, those of a batch are NaN from there on."""
    arrays = {name: x.copy() for name, x in arrays.items()}
    for k, (t, q, v) in rollout.ended.items():
        last = min(int(np.searchsorted(time, t, side="left")), len(time) - 1)  # the very last may be passed by rounding
        if not batch:
            time = np.append(time[:last], t)
            arrays = {name: x[:, : last + 1] for name, x in arrays.items()}
            arrays["q"][0, last], arrays["v"][0, last] = q, v
            arrays["work"][0, last] = rollout.states.work[0]
            arrays["a"][:, last], arrays["force"][:, last] = rollout.rate_at(
                np.array([0]), t, q[None], v[None], rollout.states.tau
            )
        else:
            for x in arrays.values():
                x[k, last:] = np.nan
    return time, arrays


def _place(which: int, batch: Batch) -> tuple[int, ...]:
    return tuple(int(x) for x in np.unravel_index(which, batch)) if batch else ()


def _divergence(setup: Setup, what: Diverged, dt: float | None, trajectory: Trajectory) -> SimulationDiverged:
    """The error for a motion that became infinite."""
    robot, batch = setup.robot, setup.batch
    which = f", trajectory {', '.join(map(str, _place(what.which, batch)))}" if batch else ""
    advice = (
        "Its equations may be too stiff for adaptive steps, or its forces have no bounds: try a fixed `dt`"
        if dt is None
        else f"Try a smaller `dt` (it is {dt:g} s), or leave it out for steps that are chosen by their error"
    )
    if setup.acts.is_controlled:
        advice += "; look at the gains of the controller, too: a law that is sampled can be unstable"
    kept = "What there is until then is in the error's `trajectory`."
    if what.pushed:
        return SimulationDiverged(
            f"the joint forces of robot {robot.name!r}{which} that were asked for at {what.time:.6g} s are not finite, first in "
            f"joint {robot.structure.freedoms[what.joint]!r}. {kept}",
            trajectory,
        )
    return SimulationDiverged(
        f"the motion of robot {robot.name!r}{which} grew beyond all bounds after {what.time:.6g} s, first in joint "
        f"{robot.structure.freedoms[what.joint]!r}. {advice}. {kept}",
        trajectory,
    )
