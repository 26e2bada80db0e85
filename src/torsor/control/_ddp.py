"""Differential dynamic programming: a motion of least cost, and the feedback that keeps to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from torsor._progress import progress
from torsor._reports import Report
from torsor.arrays.typing import Array, GivenConfiguration, GivenJointVector
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.border.arrays import prepare
from torsor.border.numbers import numbers_of, refuse_bad_count, refuse_bad_numbers, refuse_no_robot, refuse_unknown
from torsor.control.optimal_feedback.programs import Programs, programs_of
from torsor.control.optimal_feedback.solver import CONVERGED, ROUNDED, WORDS, Motions, Solver
from torsor.control.optimal_feedback.steps import METHODS
from torsor.errors import ArgumentError
from torsor.functions.public.dynamics import forward_dynamics, gravity_forces
from torsor.functions.public.kinematics import difference
from torsor.model import Robot
from torsor.model.remembered import remembered
from torsor.motion.trajectory import Trajectory
from torsor.simulation.controllers import fingerprint


@dataclass(frozen=True, eq=False, repr=False)
class OptimalFeedback(Report):
    """What `ddp` found: a motion, the feedback around it, and how good it is.

    Attributes
    ----------
    motion : Trajectory
        The motion at the N + 1 times of its steps; the forces at the last time are zero, for none act beyond.
    tau : (..., N, nv) array
        Joint forces, each held for a step, N·m or N.
    gains : (..., N, nv, 2 nv) array
        K, with τ = τ_k + K (q ⊖ q_k, v − v_k); rows of forces at a limit are zero.
    cost : (...) array
        Of the whole motion.
    cost_history : (turns + 1, ...) array
        The cost in the beginning and after each turn.
    gradient : (...) array
        The largest derivative of the cost by a force, per second that it acts, where it is not held at a limit.
    iterations : (...) array
        How many steps of the descent were taken.
    converged : (...) array of bool
    reasons : tuple of str
        Why the descent ended, for each problem in order.
    at_limit : (..., N, nv) array of bool
        Which forces are at their limits, and when.
    dt : float
        Length of a step, s.
    method : str
        The steps of `torsor.simulate` that the motion is made of.
    interrupted : bool
        Whether Ctrl-C ended the descent.
    """

    motion: Trajectory
    tau: Array
    gains: Array
    cost: Array
    cost_history: Array
    gradient: Array
    iterations: Array
    converged: Array
    reasons: tuple[str, ...]
    at_limit: Array
    dt: float
    method: str
    interrupted: bool = field(default=False)

    def controller(self, t: Any, q: Any, v: Any) -> Array:
        """Joint forces (..., nv) at time t, s, for a state q (..., nq), v (..., nv): a controller for `torsor.simulate`.

        The forces of a step are held until the next one begins: simulate with ``control_dt`` equal to ``dt``. Beyond the last
        step those of the last one act. They are not cut to the limits, which is up to the drives.
        """
        robot, last = self.motion.robot, self.tau.shape[-2] - 1
        k = min(max(int(float(t) / self.dt + 1e-6), 0), last)
        x = np.concatenate([difference(robot, self.motion.q[..., k, :], q), v - self.motion.v[..., k, :]], axis=-1)
        return self.tau[..., k, :] + (self.gains[..., k, :, :] @ x[..., None])[..., 0]

    def __str__(self) -> str:
        count, steps = int(np.size(self.cost)), self.tau.shape[-2]
        head = f"{steps} steps of {self.dt:g} s of {self.motion.robot.name!r}"
        if count != 1:
            lines = [f"{count} motions in {head}: {int(np.sum(self.converged))} converged"]
            kinds = {reason: self.reasons.count(reason) for reason in dict.fromkeys(self.reasons)}
            lines += [f"  {number} × {reason}" for reason, number in kinds.items()]
        else:
            cost, start = float(np.ravel(self.cost)[0]), float(np.ravel(self.cost_history[0])[0])
            lines = [
                f"{head}: {self.reasons[0]} after {int(np.ravel(self.iterations)[0])} iterations",
                f"  cost {cost:.6g}, {start:.6g} in the beginning",
                f"  largest gradient by a force {float(np.ravel(self.gradient)[0]):.2g} per second",
            ]
        lines += self._limits_in_words()
        return "\n".join(lines + ["  interrupted: this is the best so far"] * self.interrupted)

    def _limits_in_words(self) -> list[str]:
        structure, lines = self.motion.robot.structure, []
        share = self.at_limit.reshape(-1, self.at_limit.shape[-1]).mean(axis=0) if self.at_limit.size else ()
        for name, limit, part in zip(structure.freedoms, structure.limits.effort, share, strict=False):
            if part > 0.0 and limit > 0.0:  # 0 is no drive
                lines.append(f"  the force of {name} is at its limit in {100 * part:.0f} % of the steps")
        return lines


@explained
def ddp(
    robot: Robot,
    q0: GivenConfiguration,
    v0: GivenJointVector,
    *,
    running: Callable[..., Any],
    final: Callable[..., Any],
    dt: float,
    steps: int,
    tau: Any = None,
    states: tuple[Any, Any] | None = None,
    within_limits: bool = True,
    second_order: bool = True,
    method: str = "semi_implicit_euler",
    iterations: int = 300,
    tolerance: float = 1e-6,
) -> OptimalFeedback:
    """Motion of least cost from a state, and the feedback around it: differential dynamic programming (DDP) [JM70; TMT14].

    The cost is Σ running(robot, q_k, v_k, tau_k, t_k) · dt + final(robot, q_N, v_N), over the steps that `torsor.simulate`
    takes. Batch axes of the state are problems of their own, which are solved together.

    Parameters
    ----------
    robot : Robot
    q0 : (..., nq) array
        Configuration at the start, rad or m.
    v0 : (..., nv) array
        Velocity at the start, rad/s or m/s.
    running : function (robot, q, v, tau, t) → number
        What a second of the motion costs. It is traced and differentiated twice, exactly, and must be smooth.
    final : function (robot, q, v) → number
        What the end costs.
    dt : float
        Length of a step, s.
    steps : int
        How many, N.
    tau : (nv,) or (..., N, nv) array, optional
        Forces to begin with, N·m or N. By default those that hold the weight at ``q0``.
    states : pair of (..., N + 1, nq) and (..., N + 1, nv) arrays, optional
        Configurations and velocities to begin with, which the forces need not lead through: multiple shooting [GNSFB18]. The
        first ones must be ``q0`` and ``v0``.
    within_limits : bool
        Whether forces stay within the effort limits of the robot. A joint without a drive has the limit 0. Stops are not seen:
        put what keeps away from them into ``running``.
    second_order : bool
        With the second derivatives of the dynamics: Newton's method. Without: iLQR (Gauss–Newton) [LT04], whose turns are shorter
        and more.
    method : str
        "semi_implicit_euler", "euler" or "rk4": the step of `torsor.simulate`.
    iterations : int
        How many turns at most.
    tolerance : float
        The descent ends where the model promises a decrease of less than tolerance² of the cost: near a minimum the motion is
        then about ``tolerance`` of itself away.

    Returns
    -------
    OptimalFeedback
        Motion, forces, gains, the history of the cost, and whether it converged. Ctrl-C ends the descent with the best so far.

    Examples
    --------
    ::

        def running(robot, q, v, tau, t):
            return 1e-3 * (tau @ tau)

        def final(robot, q, v):
            return 1e3 * ((q - goal) @ (q - goal)) + 10.0 * (v @ v)

        plan = torsor.control.ddp(arm, q0, v0, running=running, final=final, dt=0.01, steps=100)
        torsor.simulate(arm, q0, v0, duration=1.0, dt=0.01, method=plan.method, controller=plan.controller)
    """
    refuse_no_robot(robot)
    refuse_bad_numbers(dt=dt, tolerance=tolerance)
    refuse_bad_count("steps", steps, 1, "`steps` must be at least 1")
    refuse_bad_count("iterations", iterations, 0, "`iterations` must not be negative")
    refuse_unknown_word("method", method, METHODS)
    values, batch = prepare(
        ddp, (robot,), {"q0": q0, "v0": v0, "running": running, "final": final, "dt": dt, "steps": steps}
    )
    q0, v0 = (np.asarray(values[name], float) for name in ("q0", "v0"))
    tau = _forces(robot, q0, tau, steps)
    batch = np.broadcast_shapes(batch, tau.shape[:-2])
    many = int(np.prod(batch))
    q0, v0 = (np.broadcast_to(x, (*batch, x.shape[-1])).reshape(many, -1) for x in (q0, v0))
    refuse_unknown(np.concatenate([q0, v0], axis=-1), "`q0` and `v0`")
    limit = np.array(robot.structure.limits.effort) if within_limits else np.full(robot.nv, np.inf)
    tau = np.clip(np.broadcast_to(tau, (*batch, steps, robot.nv)).reshape(many, steps, robot.nv), -limit, limit)
    programs = programs_for(robot, running, final, method, second_order, bool(np.isfinite(limit).any()))
    time = float(dt) * np.arange(steps + 1)
    solver = Solver(robot, programs, float(dt), time, -limit, limit, second_order, float(tolerance))
    if states is None:
        motions = solver.begin(q0, v0, tau)
        _refuse_divergence(motions)
    else:
        motions = solver.begin_at(*_states(robot, states, q0, v0, batch, steps), tau)
    with progress(iterations, f"optimising {robot.name}", " turns") as tell:
        solver.descend(motions, int(iterations), lambda turn: tell(1))
    return _report(robot, motions, solver, batch, method)


def programs_for(robot: Robot, running: Any, final: Any, method: str, second_order: bool, limited: bool) -> Programs:
    """The programs of a problem, kept for the next call with functions that are known to be the same."""
    known = fingerprint(running), fingerprint(final)
    if None in known or not robot.is_concrete:
        return programs_of(robot, running, final, method, second_order, limited)
    return _known_programs(robot, _Same(running, final, known), method, second_order, limited)


class _Same:
    """Two functions, equal to others that compute the same."""

    def __init__(self, running: Any, final: Any, known: Any) -> None:
        self.running, self.final, self.known = running, final, known

    def __hash__(self) -> int:
        return hash(self.known)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.known == other.known


@remembered(32)
def _known_programs(robot: Robot, functions: _Same, method: str, second_order: bool, limited: bool) -> Programs:
    return programs_of(robot, functions.running, functions.final, method, second_order, limited)


def _forces(robot: Robot, q0: Array, tau: Any, steps: int) -> Array:
    """Forces to begin with (..., N, nv)."""
    if tau is None:
        return np.asarray(gravity_forces(robot, q0))[..., None, :] * np.ones((steps, 1))
    try:
        found = np.asarray(tau, float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape == (robot.nv,):
        found = np.broadcast_to(found, (steps, robot.nv))
    if found.shape[-2:] != (steps, robot.nv):
        raise ArgumentError(
            f"`tau` must have shape ({robot.nv},), or (..., {steps}, {robot.nv}) for each step, got {np.shape(tau)}."
        )
    refuse_unknown(found, "`tau`")
    return found


def _states(robot: Robot, states: Any, q0: Array, v0: Array, batch: tuple[int, ...], steps: int) -> tuple[Array, Array]:
    if not isinstance(states, (tuple, list)) or len(states) != 2:
        raise ArgumentError("`states` must be a pair (q, v) of the configurations and velocities at all times.")
    found = []
    for name, given, size, first in (("q", states[0], robot.nq, q0), ("v", states[1], robot.nv, v0)):
        x = numbers_of(f"states: {name}", given, (steps + 1, size))
        refuse_unknown(x, f"`states`: {name}")
        x = np.array(np.broadcast_to(x, (*batch, steps + 1, size)).reshape(-1, steps + 1, size))
        if not np.allclose(x[:, 0], first, rtol=1e-9, atol=1e-9):
            raise ArgumentError(f"`states` must begin at the start: its first {name} is not `{name}0`.")
        found.append(x)
    return found[0], found[1]


def _refuse_divergence(motions: Motions) -> None:
    if not len(bad := np.flatnonzero(~np.isfinite(motions.cost))):
        return
    at = np.flatnonzero(~np.isfinite(motions.v[bad[0]]).all(axis=-1))
    where = f"from step {at[0]} on" if len(at) else "in its cost"
    raise ArgumentError(
        f"the motion to begin with is not finite {where}: the forces `tau` drive it apart, or `dt` is too long for it. Pass "
        "other forces, or `states` to begin with."
    )


def _report(robot: Robot, m: Motions, solver: Solver, batch: tuple[int, ...], method: str) -> OptimalFeedback:
    def shaped(x: Array) -> Array:
        return x.reshape((*batch, *x.shape[1:]))

    forces = np.concatenate([m.tau, np.zeros_like(m.tau[:, :1])], axis=1)
    a = forward_dynamics(robot, m.q, m.v, forces)
    motion = Trajectory(
        robot, solver.time, shaped(m.q), shaped(m.v), shaped(np.asarray(a)), shaped(forces), interrupted=m.interrupted
    )
    at_limit = (m.tau <= solver.lower) | (m.tau >= solver.upper)
    return OptimalFeedback(
        motion=motion,
        tau=shaped(m.tau),
        gains=shaped(m.gains),
        cost=shaped(m.cost),
        cost_history=np.stack([shaped(x) for x in m.history]),
        gradient=shaped(m.gradient),
        iterations=shaped(m.turns),
        converged=shaped((m.status == CONVERGED) | (m.status == ROUNDED)),
        reasons=tuple(WORDS[int(x)] for x in m.status),
        at_limit=shaped(at_limit),
        dt=solver.h,
        method=method,
        interrupted=m.interrupted,
    )
