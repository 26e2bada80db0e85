"""Model predictive control: at every call some turns of `ddp` from where the robot is, begun from the plan of the call before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.border.numbers import refuse_bad_count, refuse_bad_numbers, refuse_no_robot
from torsor.control._ddp import programs_for
from torsor.control.optimal_feedback.programs import Programs
from torsor.control.optimal_feedback.solver import STUCK, Solver
from torsor.control.optimal_feedback.steps import METHODS
from torsor.errors import ArgumentError, ShapeError
from torsor.functions.public.dynamics import gravity_forces
from torsor.model import Robot


class PredictiveController:
    """A controller t, q, v, state → τ, state that looks ahead; made by `mpc`.

    Its state is the plan: a dict of the time ``t`` it begins at, s, and of its forces ``tau`` (..., N, nv), each held for a step.
    Nothing else is kept from call to call, so that one controller serves several robots of a kind.
    """

    def __init__(self, robot: Robot, programs: Programs, dt: float, steps: int, iterations: int, limit: Array) -> None:
        self.robot, self.dt, self.steps, self.iterations = robot, dt, steps, iterations
        self._limit, self._ahead = limit, dt * np.arange(steps + 1)
        self._solver = Solver(robot, programs, dt, self._ahead, -limit, limit, False, 1e-9)

    def start(self, q: Any, tau: Any = None) -> dict[str, Array]:
        """The state to begin with at time 0: a plan of forces (nv,) or (..., N, nv); by default they hold the weight at q."""
        nv, q = self.robot.nv, np.asarray(q, float)
        tau = np.asarray(gravity_forces(self.robot, q) if tau is None else tau, float)
        if tau.shape[-2:] != (self.steps, nv):
            if tau.shape[-1:] != (nv,):
                raise ShapeError(f"`tau` must have shape ({nv},) or (..., {self.steps}, {nv}), got {tau.shape}.")
            tau = tau[..., None, :] * np.ones((self.steps, 1))
        tau = np.broadcast_to(tau, (*q.shape[:-1], self.steps, nv))
        return {"t": np.zeros(q.shape[:-1]), "tau": np.clip(tau, -self._limit, self._limit)}

    def __call__(self, t: Any, q: Any, v: Any, state: dict[str, Array]) -> tuple[Array, dict[str, Array]]:
        """Forces (..., nv), N·m or N, for a state at time t, s, and the plan that they begin."""
        t, q, v = float(t), np.asarray(q, float), np.asarray(v, float)
        batch, nv = q.shape[:-1], self.robot.nv
        plan = _moved_on(np.asarray(state["tau"], float), (t - np.asarray(state["t"], float)) / self.dt)
        self._solver.time = t + self._ahead
        many = q.size // q.shape[-1]
        before = plan.reshape(many, self.steps, nv)
        motions = self._solver.begin(q.reshape(many, -1), v.reshape(many, -1), before)
        lost = ~np.isfinite(motions.cost)  # where nothing can be said of what follows, what is planned is done
        motions.status[lost] = STUCK
        self._solver.descend(motions, self.iterations, lambda turn: None)
        plan = np.where(lost[:, None, None], before, motions.tau).reshape(*batch, self.steps, nv)
        return plan[..., 0, :].copy(), {"t": np.full(batch, t), "tau": plan}

    def __repr__(self) -> str:
        return (
            f"<PredictiveController of {self.robot.name!r}: {self.steps} steps of {self.dt:g} s ahead, {self.iterations} "
            f"{'turn' if self.iterations == 1 else 'turns'} a call>"
        )


@explained
def mpc(
    robot: Robot,
    *,
    running: Callable[..., Any],
    final: Callable[..., Any],
    dt: float,
    steps: int,
    iterations: int = 1,
    within_limits: bool = True,
    method: str = "semi_implicit_euler",
) -> PredictiveController:
    """Controller that minimises a cost over the next ``steps`` steps, again at every call: model predictive (MPC) [TET12].

    Each call takes some turns of iLQR from the state that the robot is in, begun from the plan of the call before, moved on by
    the time between. Everything is compiled when the controller is made.

    Parameters
    ----------
    robot : Robot
        The model that is looked ahead with.
    running : function (robot, q, v, tau, t) → number
        What a second of the motion costs, as for `ddp`.
    final : function (robot, q, v) → number
        What the state at the end of what is looked at costs.
    dt : float
        Length of a step that is looked ahead, s; calls may come more often.
    steps : int
        How many.
    iterations : int
        Turns in a call: 1 is usual where calls come often.
    within_limits : bool
        Whether forces stay within the effort limits of the robot.
    method : str
        "semi_implicit_euler", "euler" or "rk4".

    Returns
    -------
    PredictiveController
        Of (t, q, v, state), for `torsor.simulate` or a loop of your own.

    Examples
    --------
    ::

        hold = torsor.control.mpc(arm, running=running, final=final, dt=0.01, steps=20)
        torsor.simulate(
            arm, q0, v0, duration=1.0, dt=0.001, controller=hold, controller_state=hold.start(q0), method="semi_implicit_euler"
        )
    """
    refuse_no_robot(robot)
    refuse_bad_numbers(dt=dt)
    refuse_bad_count("steps", steps, 1, "`steps` must be at least 1")
    refuse_bad_count("iterations", iterations, 1, "`iterations` must be at least 1")
    refuse_unknown_word("method", method, METHODS)
    if not robot.is_concrete:
        raise ArgumentError("`robot` has traced numbers, and a controller is compiled for plain ones.")
    limit = np.array(robot.structure.limits.effort) if within_limits else np.full(robot.nv, np.inf)
    programs = programs_for(robot, running, final, method, False, bool(np.isfinite(limit).any()))
    made = PredictiveController(robot, programs, float(dt), int(steps), int(iterations), limit)
    q = robot.neutral
    made(0.0, q, np.zeros(robot.nv), made.start(q))  # so that the first call in a loop takes no longer than any other
    return made


def _moved_on(tau: Array, steps: Array) -> Array:
    """A plan (..., N, nv) as it is some steps (...) later, between two of them in proportion; its last forces go on."""
    N = tau.shape[-2]
    at = np.clip(np.arange(N) + steps[..., None], 0.0, N - 1.0)
    low = at.astype(int)
    part = (at - low)[..., None]
    first = np.take_along_axis(tau, low[..., None], axis=-2)
    return first + part * (np.take_along_axis(tau, np.minimum(low + 1, N - 1)[..., None], axis=-2) - first)
