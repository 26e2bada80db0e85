"""Model predictive control: at every call some turns of `ddp` from where the robot is, begun from the plan of the call before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor._once import once
from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.border.numbers import refuse_bad_count, refuse_bad_numbers, refuse_no_robot
from torsor.compiler.kernel import Kernel
from torsor.compiler.traced_array import TracedArray
from torsor.control.optimal_feedback.look_ahead import in_a_row, look_ahead
from torsor.control.optimal_feedback.steps import METHODS
from torsor.errors import ArgumentError, ShapeError
from torsor.functions.public.dynamics import gravity_forces
from torsor.model import Robot


@dataclass(frozen=True, eq=False, repr=False)
class PredictiveController:
    """A controller t, q, v, state → τ, state that looks ahead; made by `mpc`.

    A call is one program, without a branch: `torsor.simulate` compiles it with its steps, and every call takes the same time. Its
    state is the plan: a dict of the time ``t`` it begins at, s, of its forces ``tau`` (..., N, nv), each held for a step, and of
    ``caution``, the regularisation of its next model. Nothing else is kept from call to call, so that one controller serves
    several robots of a kind.
    """

    robot: Robot
    running: Callable[..., Any]
    final: Callable[..., Any]
    dt: float
    steps: int
    iterations: int
    within_limits: bool
    method: str

    @property
    def _limit(self) -> Array:
        return np.array(self.robot.structure.limits.effort) if self.within_limits else np.full(self.robot.nv, np.inf)

    @once
    def _call(self) -> Kernel:
        program = look_ahead(
            self.robot, self.running, self.final, self.method, self.dt, self.steps, self.iterations, self._limit
        )
        return Kernel(f"prediction for {self.robot.name}", program)

    def start(self, q: Any, tau: Any = None) -> dict[str, Array]:
        """The state to begin with at time 0: a plan of forces (nv,) or (..., N, nv); by default they hold the weight at q."""
        nv, q = self.robot.nv, np.asarray(q, float)
        tau = np.asarray(gravity_forces(self.robot, q) if tau is None else tau, float)
        if tau.shape[-2:] != (self.steps, nv):
            if tau.shape[-1:] != (nv,):
                raise ShapeError(f"`tau` must have shape ({nv},) or (..., {self.steps}, {nv}), got {tau.shape}.")
            tau = tau[..., None, :] * np.ones((self.steps, 1))
        tau = np.broadcast_to(tau, (*q.shape[:-1], self.steps, nv))
        zero = np.zeros(q.shape[:-1])
        return {"t": zero, "tau": np.clip(tau, -self._limit, self._limit), "caution": zero.copy()}

    def __call__(self, t: Any, q: Any, v: Any, state: dict[str, Array]) -> tuple[Array, dict[str, Array]]:
        """Forces (..., nv), N·m or N, for a state at time t, s, and the plan that they begin."""
        given = {"t": t, "q": q, "v": v, "since": state["t"], "plan": state["tau"], "caution": state["caution"]}
        if any(isinstance(x, TracedArray) for x in given.values()):
            rows = {name: np.expand_dims(x, 0) for name, x in given.items()}
            found = {name: x[0] for name, x in in_a_row(self._call.program, {}, rows).items()}
        else:
            found = self._call(**given)
            t = np.full(found["tau"].shape[:-1], float(t))
        return found["tau"], {"t": t, "tau": found["new_plan"], "caution": found["new_caution"]}

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
    made = PredictiveController(
        robot, running, final, float(dt), int(steps), int(iterations), bool(within_limits), method
    )
    q = robot.neutral
    made(0.0, q, np.zeros(robot.nv), made.start(q))  # so that the first call in a loop takes no longer than any other
    return made
