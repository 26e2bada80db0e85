"""Many variational steps in machine code, for robots of any length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays import where
from torsor.arrays.typing import Array, ConfigurationVector, JointVector
from torsor.compiler.backend import compiles
from torsor.compiler.scan import Scan
from torsor.errors import ArgumentError, SimulationDiverged
from torsor.functions.compile import scan
from torsor.mechanics.dynamics.friction import coulomb_direction
from torsor.mechanics.kinematics.manifold import increment_rate, integrate
from torsor.mechanics.recursions.joint_motion import joint_poses
from torsor.model import Robot
from torsor.model.remembered import remembered
from torsor.motion.trajectory import Trajectory
from torsor.simulation.given import Setup
from torsor.simulation.stepping import CONSTANT, NOT_CONVERGED
from torsor.simulation.steps.discrete_momentum import displacement
from torsor.simulation.steps.momentum_slope import solved
from torsor.simulation.steps.variational import (
    CONVERGED,
    Force,
    arrived,
    begun,
    ended,
    largest,
    left_over,
    slope,
    variational_start,
    variational_step,
)

WHOLE_STEP = 12  # joints: a step with all its iterations written out takes some seconds to compile
AT_ONCE = 1000  # steps of longer robots, after which Ctrl-C leaves what there is
ITERATIONS = 4  # of longer robots, with a slope of its own for each


class VariationalRun(NamedTuple):
    """``time`` (N,), s; ``q`` (..., N, nq) and ``v`` (..., N, nv) at the samples, the first is the start; of the step that led
    to each the ``residual`` (..., N), the correction that another iteration would make, rad or m, and how many ``iterations``.
    """

    time: Array
    q: ConfigurationVector
    v: JointVector
    residual: Array
    iterations: Array


def run_variational(
    robot: Robot,
    q0: ConfigurationVector,
    v0: JointVector,
    *,
    dt: float,
    steps: int,
    tau: JointVector | None = None,
    every: int = 1,
    progress: Callable[[int], Any] = lambda steps: None,
) -> VariationalRun:
    """Variational steps under gravity, springs, friction and constant drives: the motion in O(n) a step.

    Parameters
    ----------
    robot : Robot
    q0 : (..., nq) array
        Configuration at the start, rad or m.
    v0 : (..., nv) array
        Velocity at the start, rad/s or m/s.
    dt : float
        Length of a step, s.
    steps : int
        How many.
    tau : (..., nv) array, optional
        Joint forces, N·m or N.
    every : int
        Each so many steps a sample is kept.
    progress : function
        Is told of the steps that are done, a few thousand at once.

    Returns
    -------
    VariationalRun
        One trajectory or a batch of them. A run of more joints than `WHOLE_STEP` that Ctrl-C interrupts has what there is.
    """
    q0, v0 = np.asarray(q0, float), np.asarray(v0, float)
    tau = np.zeros(robot.nv) if tau is None else np.asarray(tau, float)
    batch = np.broadcast_shapes(q0.shape[:-1], v0.shape[:-1], tau.shape[:-1])
    q0, v0 = np.broadcast_to(q0, (*batch, robot.nq)), np.broadcast_to(v0, (*batch, robot.nv))
    h = np.asarray(float(dt))
    memory, constants = variational_start(robot, q0, v0), {"h": h, "tau": tau}
    if robot.n <= WHOLE_STEP:
        found = _whole_steps(robot)(steps=steps, every=every, q=q0, v=v0, **memory, **constants)
    else:
        found = _one_by_one(robot, q0, v0, memory, constants, steps, every, progress)
    samples = {name: np.concatenate([x[..., None, :], found[name]], axis=-2) for name, x in (("q", q0), ("v", v0))}
    nothing = np.zeros((*batch, 1))
    of_steps = (np.concatenate([nothing, found[name]], axis=-1) for name in ("residual", "iterations"))
    time = h * every * np.arange(samples["q"].shape[-2])
    return VariationalRun(time, samples["q"], samples["v"], *of_steps)


def variational_motion(
    setup: Setup, dt: float, steps: int, every: int, progress: Callable[[int], Any]
) -> Trajectory | None:
    """The motion of a long robot under constant forces; None where steps are to be taken one by one, with all that may happen."""
    if setup.acts.base_motion is not None or "base_twist" in setup.acts.constants:
        raise ArgumentError(
            'variational steps are for a base that rests or floats; with `base_motion` take method="rk4".'
        )
    robot, plant, drive = setup.robot, setup.acts.plant, setup.acts.drive
    free = not plant.has_modes and plant.effort is None and not setup.acts.wrenches and not setup.acts.events
    constant = drive.kind == CONSTANT and drive.python is None
    if robot.n <= WHOLE_STEP or not (
        free and constant and len(setup.q) and steps and steps % every == 0 and compiles()
    ):
        return None
    found = run_variational(robot, setup.q, setup.v, dt=dt, steps=steps, tau=drive.tau, every=every, progress=progress)
    shapes = {"q": found.q, "v": found.v, "tau": np.broadcast_to(drive.tau[:, None], found.v.shape)}
    good = np.all((found.residual <= NOT_CONVERGED) & np.isfinite(found.v).all(-1), axis=0)
    samples = len(good) if good.all() else max(1, int(np.argmin(good)))
    cut = {name: x[:, :samples].reshape(*setup.batch, samples, -1) for name, x in shapes.items()}
    trajectory = Trajectory(robot, found.time[:samples], **cut, interrupted=samples < steps // every + 1)
    if samples < len(good):
        raise SimulationDiverged(
            f"variational steps of robot {robot.name!r} do not converge after {found.time[samples - 1]:.6g} s. "
            f"Try a smaller `dt` (it is {dt:g} s). What there is until then is in the error's `trajectory`.",
            trajectory,
        )
    return trajectory


def _force(robot: Robot, tau: Array) -> Force:
    """Constant drives and Coulomb friction."""
    coulomb = robot.parameters.coulomb_friction
    if not coulomb.any():
        return lambda t, q, v: tau
    return lambda t, q, v: tau - coulomb * coulomb_direction(robot, v)


@remembered(64)
def _whole_steps(robot: Robot) -> Scan:
    """A loop over steps."""

    def step(robot: Robot, q: Array, v: Array, p: Array, mean: Array, mean_before: Array, h: Array, tau: Array) -> Any:
        memory = {"p": p, "mean": mean, "mean_before": mean_before}
        made = variational_step(robot, _force(robot, tau), 0.0 * h, q, v, memory, h)
        state = {"q": made.q, "v": made.v, **made.memory}
        return state | {"residual": made.residual, "iterations": made.iterations}

    state = {"q": robot.nq, **dict.fromkeys(("v", "p", "mean", "mean_before"), robot.nv)}
    return scan(step, robot, state, constants={"h": (), "tau": robot.nv})


def _one_by_one(
    robot: Robot,
    q: Array,
    v: Array,
    memory: dict[str, Array],
    constants: dict[str, Array],
    steps: int,
    every: int,
    progress: Callable[[int], Any],
) -> dict[str, Array]:
    """The same by a loop over Newton's iterations, of which the last of each step ends it and begins the next."""
    h, rounds = constants["h"], ITERATIONS + 1
    p = begun(robot, _force(robot, constants["tau"])(0.0 * h, q, v), q, memory["p"], h)
    longest, parts = max(AT_ONCE // every, 1) * every, list[dict[str, Array]]()
    first = np.tile(np.arange(rounds) == 0, min(longest, steps)).astype(float)
    last = np.tile(np.arange(rounds) == ITERATIONS, min(longest, steps)).astype(float)
    state = {"q": q, "v": v, "p": p, "u": h * v, "u_before": h * v, "count": np.zeros(q.shape[:-1])}
    try:
        for done in range(0, steps, longest):
            count = rounds * min(longest, steps - done)
            given = {"first": first[:count], "last": last[:count], **constants}
            parts.append(_iterations(robot)(steps=count, every=rounds * every, **state, **given))
            state = {
                name: parts[-1][name][..., -1] if name == "count" else parts[-1][name][..., -1, :] for name in state
            }
            progress(count // rounds)
    except KeyboardInterrupt:
        pass  # what there is, is given
    if not parts:
        none = {"first": first[:0], "last": last[:0], **constants}
        parts.append(_iterations(robot)(steps=0, every=1, **state, **none))
    axis = q.ndim - 1
    found = {name: np.concatenate([part[name] for part in parts], axis=axis) for name in parts[0]}
    return found | {"iterations": found["count"]}


@remembered(64)
def _iterations(robot: Robot) -> Scan:
    """A loop over iterations. The state: where the step began, the momentum p with which it moves, the motion u so far."""

    def iteration(
        robot: Robot,
        q: Array,
        v: Array,
        p: Array,
        u: Array,
        u_before: Array,
        count: Array,
        first: Array,
        last: Array,
        h: Array,
        tau: Array,
    ) -> dict[str, Array]:
        starts, force = joint_poses(robot, q), _force(robot, tau)
        moved = displacement(robot, starts, u, h)
        left = left_over(robot, starts, moved, u, p, h)
        eta = solved(robot, slope(robot, starts, moved, h), h[..., None] * left)
        q_end, end = integrate(robot, q, u), arrived(robot, moved, u, left, h)
        v_end, p_end = ended(robot, force, 0.0 * h, q_end, force(0.0 * h, q, v), end, h)
        p_next = begun(robot, force(0.0 * h, q_end, v_end), q_end, p_end, h)
        is_last, size = last > 0.5, largest(eta)
        count = where(first > 0.5, 0.0, count) + where((size > CONVERGED) & ~is_last, 1.0, 0.0)
        choose = _chooser(is_last)
        return {
            "q": choose(q_end, q),
            "v": choose(v_end, v),
            "p": choose(p_next, p),
            "u": choose(2.0 * u - u_before, u - increment_rate(robot, u, eta)),
            "u_before": choose(u, u_before),
            "count": count,
            "residual": size,
        }

    state = {"q": (robot.nq,), **dict.fromkeys(("v", "p", "u", "u_before"), (robot.nv,)), "count": ()}
    constants = {"h": (), "tau": (robot.nv,)}
    return scan(iteration, robot, state, inputs={"first": (), "last": ()}, constants=constants)


def _chooser(condition: Array) -> Callable[[Array, Array], Array]:
    return lambda x, y: where(condition[..., None], x, y)
