"""Linearisation: how a robot moves near a motion, as matrices of a state space.

A displacement of the state is x = (δq, δv), with q ⊕ δq on the body side. With a = FD(q, v, τ)::

    δq̇ = δv − ad(v) δq                              ad(v) of the groups of planar, spherical and free joints, 0 for others
    δv̇ = ∂a/∂q δq + ∂a/∂v δv + ∂a/∂τ δτ

The first line is the derivative of q̇ = v on a group: links that turn carry the axes of δq with them. From step to step the
matrices are those of the linear equations with τ held, or the derivatives of an integrator's step.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from torsor._reports import in_one_line
from torsor.arrays.typing import Array, GivenConfiguration, GivenJointVector, JointVector
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.border.arrays import prepare
from torsor.border.numbers import refuse_no_robot
from torsor.errors import ArgumentError, TorsorError, unknown_name
from torsor.functions.public.derivatives import body_twist_derivatives
from torsor.linearisation.held_forces import held_matrices
from torsor.linearisation.step_derivatives import Drive, drift_of_displacement
from torsor.linearisation.step_matrices import STEP_MATRICES, StepMatrices
from torsor.mechanics.recursions.newton_euler import BaseMotion, Wrenches
from torsor.model import Robot

METHODS: dict[str, Callable[..., StepMatrices]] = {"exact": held_matrices} | STEP_MATRICES


@in_one_line
class StateSpace(NamedTuple):
    """A robot near a motion: ẋ = A x + B δτ, or x⁺ = A x + B δτ from step to step, and y = C x; x = (δq, δv).

    Attributes
    ----------
    A : (..., 2 nv, 2 nv) array
    B : (..., 2 nv, nv) array
    C : (..., 12, 2 nv) array or None
        If a frame was named: y is the frame's displacement as a body twist, rad and m, over the change of its body twist, rad/s
        and m/s.
    acceleration : (..., nv) array
        a at the state itself, rad/s² or m/s²; zero at an equilibrium.
    dt : float or None
        Time step, s; None in continuous time.
    freedoms : tuple of str
        The names of the numbers of v.
    """

    A: Array
    B: Array
    C: Array | None
    acceleration: JointVector
    dt: float | None
    freedoms: tuple[str, ...]

    @property
    def states(self) -> tuple[str, ...]:
        """A name for each number of x: "q …" for displacements, "v …" for velocities."""
        return tuple(f"{symbol} {name}" for symbol in "qv" for name in self.freedoms)

    @property
    def inputs(self) -> tuple[str, ...]:
        """A name for each number of δτ."""
        return tuple(f"tau {name}" for name in self.freedoms)


@explained
def linearise(
    robot: Robot,
    q: GivenConfiguration,
    v: GivenJointVector,
    tau: GivenJointVector,
    *,
    frame: str | None = None,
    dt: float | None = None,
    method: str | None = None,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> StateSpace:
    """Matrices A and B of the motion near states under forces, exact, for every joint kind [CM18; MK99].

    Without ``dt``: continuous time, ẋ = A x + B δτ. With it: x⁺ = A x + B δτ. NaN where the mass matrix is singular.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    tau : (..., nv) array
        Joint forces, N·m or N.
    frame : str, optional
        A frame; adds C = (J_b, 0; ∂V_b/∂q, J_b), what the frame shows of the motion.
    dt : float, optional
        Time step, s.
    method : str, optional
        With ``dt``: "exact" (if None), A and B of continuous time over a step with δτ held, by the matrix exponential, at an
        equilibrium the derivative of the motion itself; or "semi_implicit_euler", "euler", "rk4", the derivative of that
        step of `torsor.simulate` with joint forces held, in tangent coordinates of its start and its end.
    wrenches : mapping of frame names to (..., 6) arrays, optional
        As in `torsor.forward_dynamics`, held in their frames.
    base_motion : pair of (..., 6) arrays, optional
        As in `torsor.forward_dynamics`, held in the axes of the base.

    Returns
    -------
    StateSpace
        A, B and C, the acceleration at the state, and names of states and inputs.

    Notes
    -----
    Batch axes come first: a whole motion takes one call. ::

        run = torsor.simulate(arm, q, v, duration=2.0, dt=0.01, tau=tau)
        near = torsor.linearise(arm, run.q[:-1], run.v[:-1], run.tau[:-1], dt=0.01, method="rk4")  # near.A[k], near.B[k]

    It works with plain numbers; within JAX, `torsor.forward_dynamics_derivatives` gives the blocks of continuous time.
    """
    _refuse_bad_settings(robot, frame, dt, method)
    given = {"q": q, "v": v, "tau": tau, "wrenches": wrenches, "base_motion": base_motion}
    values, batch = prepare(linearise, (robot,), given)
    q, v, tau = (_spread(_plain(values[x]), (*batch, n)) for x, n in _sizes(robot))
    external: dict[str, Any] = {}
    if wrenches is not None:
        external["wrenches"] = {name: _plain(F) for name, F in values["wrenches"].items()}
    if base_motion is not None:
        external["base_motion"] = (_plain(values["base_motion"][0]), _plain(values["base_motion"][1]))
    h = None if dt is None else float(dt)
    if h is None:
        found = _continuous(Drive(robot, tau, **external), q, v)
    else:
        found = METHODS["exact" if method is None else method](robot, q, v, tau, h, **external)
    C = None if frame is None else _seen_at(robot, q, v, frame, external.get("base_motion"))
    return StateSpace(found.A, found.B, C, found.acceleration, h, robot.structure.freedoms)


def _continuous(drive: Drive, q: Array, v: Array) -> StepMatrices:
    at = drive.rates(q, v)
    turning = np.broadcast_to(drift_of_displacement(drive.robot, v), at.by_q.shape)
    one = np.broadcast_to(np.eye(drive.robot.nv), at.by_q.shape)
    B = np.concatenate([np.zeros_like(at.by_tau), at.by_tau], axis=-2)
    return StepMatrices(np.block([[turning, one], [at.by_q, at.by_v]]), B, at.a)


def _seen_at(robot: Robot, q: Array, v: Array, frame: str, base_motion: BaseMotion | None) -> Array:
    by_q, J = body_twist_derivatives(robot, q, v, frame, base_motion=base_motion)
    return np.block([[J, np.zeros_like(J)], [by_q, J]])


def _sizes(robot: Robot) -> tuple[tuple[str, int], ...]:
    return ("q", robot.nq), ("v", robot.nv), ("tau", robot.nv)


def _spread(x: Array, shape: tuple[int, ...]) -> Array:
    return x if x.shape == shape else np.broadcast_to(x, shape)


def _plain(x: Array) -> Array:
    try:
        return np.asarray(x, float)
    except (TypeError, ValueError) as error:  # JAX, or a trace, stands in for numbers not known yet
        raise _only_plain_numbers() from error


def _only_plain_numbers() -> TorsorError:
    return ArgumentError(
        "works with plain numbers, and cannot run inside jit, grad or vmap, nor be compiled or differentiated: "
        "call it outside, or use torsor.forward_dynamics_derivatives, which runs inside."
    )


def _is_number(x: Any) -> bool:
    """Whether it is one real number; an array of no axes is, a truth value is not."""
    if isinstance(x, np.ndarray):
        return x.ndim == 0 and x.dtype.kind in "fiu"
    return isinstance(x, Real) and not isinstance(x, (bool, np.bool_))


def _refuse_bad_settings(robot: Any, frame: Any, dt: Any, method: Any) -> None:
    refuse_no_robot(robot)
    if not robot.is_concrete:
        raise _only_plain_numbers()
    if method is not None:
        refuse_unknown_word("method", method, METHODS)
    if method is not None and dt is None:
        raise ArgumentError(
            f"method {method!r} goes from step to step: give its length in seconds, dt=0.01 say, or no method "
            "for continuous time."
        )
    if dt is not None and not (_is_number(dt) and 0.0 < float(dt) < np.inf):
        raise ArgumentError(f"`dt` must be a positive number of seconds, got {dt!r:.60}.")
    if frame is not None and frame not in robot.frames:
        raise unknown_name(f"robot {robot.name!r}", "frame", frame, robot.frames, "robot.frames")
