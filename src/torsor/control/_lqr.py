"""Linear feedback of least quadratic cost: at an equilibrium, and along a motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor._reports import Report
from torsor.arrays.typing import Array, GivenConfiguration, GivenJointVector
from torsor.border import explained
from torsor.border.arrays import prepare
from torsor.border.numbers import refuse_bad_numbers, refuse_no_robot
from torsor.control.optimal_feedback import algebraic_riccati
from torsor.control.optimal_feedback.models_of_any_step import riccati_of, start_of_riccati
from torsor.errors import ArgumentError, ShapeError
from torsor.functions.public.dynamics import forward_dynamics, gravity_forces
from torsor.functions.public.kinematics import difference
from torsor.linearisation import linearise
from torsor.model import Robot

AT_REST = 1e-6  # of the largest acceleration that the forces and gravity make


@dataclass(frozen=True, eq=False, repr=False)
class LinearFeedback(Report):
    """A feedback τ = τ₀ + K (q ⊖ q₀, v), what it costs, and how fast it is; made by `lqr`.

    Attributes
    ----------
    robot : Robot
    q : (..., nq) array
        The equilibrium, rad or m.
    tau : (..., nv) array
        Forces that hold it, N·m or N.
    gains : (..., nv, 2 nv) array
        K; rows of joints without a drive are zero.
    cost_to_go : (..., 2 nv, 2 nv) array
        V: the whole cost from a displacement x on is xᵀ V x.
    eigenvalues : (..., 2 nv) array of complex
        Of the motion under the feedback: 1/s, or per step if there is a ``dt``.
    is_stable : (...) array of bool
    dt : float or None
        Length of a step, s, over which forces are held.
    """

    robot: Robot
    q: Array
    tau: Array
    gains: Array
    cost_to_go: Array
    eigenvalues: Array
    is_stable: Array
    dt: float | None

    def controller(self, t: Any, q: Any, v: Any) -> Array:
        """Joint forces (..., nv) for a state q (..., nq), v (..., nv): a controller for `torsor.simulate`."""
        return _fed_back(self.robot, self.q, 0.0 * self.tau, self.tau, self.gains, q, v)

    def __str__(self) -> str:
        kind = "held for a step of time" if self.dt else "in continuous time"
        if not np.all(self.is_stable):
            return f"no feedback of {self.robot.name!r} is stable there: a motion that no drive reaches, or that nothing weighs."
        if self.dt:
            slowest = -np.log(np.abs(self.eigenvalues).max()) / self.dt
        else:
            slowest = -self.eigenvalues.real.max()
        return f"feedback of {self.robot.name!r}, {kind}: the slowest motion dies out at {slowest:.3g} per second"


@explained
def lqr(
    robot: Robot,
    q: GivenConfiguration,
    *,
    tau: GivenJointVector | None = None,
    state_weights: Any,
    force_weights: Any,
    dt: float | None = None,
) -> LinearFeedback:
    """Linear feedback at an equilibrium that minimises ∫ xᵀ W x + δτᵀ R δτ dt (LQR) [AM90], x = (q ⊖ q₀, v).

    Parameters
    ----------
    robot : Robot
        A joint with the effort limit 0 has no drive.
    q : (..., nq) array
        The equilibrium, rad or m.
    tau : (..., nv) array, optional
        Forces that hold it, N·m or N; by default those against the weight.
    state_weights : number, (2 nv,) or (2 nv, 2 nv) array
        W: of the displacements, then of the velocities.
    force_weights : number, (nv,) or (nv, nv) array
        R, positive definite.
    dt : float, optional
        Length of a step, s, over which forces are held. Without it the feedback acts in continuous time.

    Returns
    -------
    LinearFeedback
    """
    refuse_no_robot(robot)
    given = {"q": q, "state_weights": state_weights, "force_weights": force_weights}
    values, _ = prepare(lqr, (robot,), given if tau is None else {**given, "tau": tau})
    q = np.asarray(values["q"], float)
    tau = np.asarray(gravity_forces(robot, q) if tau is None else values["tau"], float)
    q, tau = np.broadcast_to(q, (*tau.shape[:-1], robot.nq)), np.broadcast_to(tau, (*q.shape[:-1], robot.nv))
    W, R = _weights(robot, state_weights, force_weights)
    if dt is not None:
        refuse_bad_numbers(dt=dt)
    still = np.zeros(tau.shape)
    _refuse_motion(robot, q, tau)
    near = linearise(robot, q, still, tau, dt=dt)
    B = near.B * _driven(robot)
    h = 1.0 if dt is None else float(dt)
    R_B = np.linalg.solve(h * R, np.swapaxes(B, -1, -2))  # R⁻¹ Bᵀ
    solved = algebraic_riccati.continuous if dt is None else algebraic_riccati.discrete
    V = solved(near.A, B @ R_B, h * W)
    gains = -R_B @ V if dt is None else -_discrete_gains(near.A, B, h * R, V)
    eigenvalues = _eigenvalues(near.A + B @ gains)
    stable = np.isfinite(V).all(axis=(-2, -1))
    return LinearFeedback(robot, q, tau, gains, V, eigenvalues, stable, None if dt is None else h)


@dataclass(frozen=True, eq=False, repr=False)
class FeedbackAlong(Report):
    """A feedback τ = τ_k + K_k (q ⊖ q_k, v − v_k) along a motion; made by `lqr_along`.

    Attributes
    ----------
    robot : Robot
    q, v : (..., N + 1, nq) and (..., N + 1, nv) arrays
        The motion, rad or m and their rates.
    tau : (..., N, nv) array
        Its forces, each held for a step, N·m or N.
    gains : (..., N, nv, 2 nv) array
        K; rows of joints without a drive are zero.
    cost_to_go : (..., N, 2 nv, 2 nv) array
        V: the whole cost from a displacement x at the start of a step on is xᵀ V x.
    dt : float
        Length of a step, s.
    """

    robot: Robot
    q: Array
    v: Array
    tau: Array
    gains: Array
    cost_to_go: Array
    dt: float

    def controller(self, t: Any, q: Any, v: Any) -> Array:
        """Joint forces (..., nv) at time t, s, for a state q (..., nq), v (..., nv): a controller for `torsor.simulate`."""
        k = min(max(int(float(t) / self.dt + 1e-6), 0), self.tau.shape[-2] - 1)
        return _fed_back(
            self.robot, self.q[..., k, :], self.v[..., k, :], self.tau[..., k, :], self.gains[..., k, :, :], q, v
        )

    def __str__(self) -> str:
        worst = np.linalg.eigvalsh(self.cost_to_go[..., 0, :, :]).max()
        return (
            f"feedback of {self.robot.name!r} along {self.tau.shape[-2]} steps of {self.dt:g} s; a displacement of length 1 "
            f"at the start costs at most {worst:.3g}"
        )


@explained
def lqr_along(
    robot: Robot,
    q: Any,
    v: Any,
    tau: Any,
    *,
    dt: float,
    state_weights: Any,
    force_weights: Any,
    final_weights: Any = 0.0,
    method: str = "rk4",
) -> FeedbackAlong:
    """Linear feedback along a motion that minimises Σ (xᵀ W x + δτᵀ R δτ) dt + xᵀ W_N x [AM90]: time-varying LQR.

    Parameters
    ----------
    robot : Robot
        A joint with the effort limit 0 has no drive.
    q : (..., N + 1, nq) array
        Configurations at the times of the steps, rad or m.
    v : (..., N + 1, nv) array
        Velocities, rad/s or m/s.
    tau : (..., N, nv) array
        Joint forces of each step, N·m or N.
    dt : float
        Length of a step, s.
    state_weights : number, (2 nv,) or (2 nv, 2 nv) array
        W: of the displacements, then of the velocities.
    force_weights : number, (nv,) or (nv, nv) array
        R, positive definite.
    final_weights : number, (2 nv,) or (2 nv, 2 nv) array
        W_N, of the displacement at the end.
    method : str
        How `torsor.linearise` steps: "rk4", "semi_implicit_euler", "euler" or "exact".

    Returns
    -------
    FeedbackAlong
    """
    refuse_no_robot(robot)
    refuse_bad_numbers(dt=dt)
    nv, h = robot.nv, float(dt)
    q, v, tau = _motion(robot, q, v, tau)
    W, R = _weights(robot, state_weights, force_weights)
    ends = _square("final_weights", final_weights, 2 * nv)
    near = linearise(robot, q[..., :-1, :], v[..., :-1, :], tau, dt=h, method=method)
    F = np.concatenate([near.A, near.B * _driven(robot)], axis=-1)
    L = np.zeros((3 * nv, 3 * nv))
    L[: 2 * nv, : 2 * nv], L[2 * nv :, 2 * nv :] = 2.0 * h * W, 2.0 * h * R
    steps = tau.shape[-2]
    found = riccati_of(nv)(
        steps=steps, F=F, L=np.broadcast_to(L, (steps, *L.shape)), l=np.zeros((steps, 3 * nv)), gap=np.zeros((steps, 2 * nv)),
        tau=np.zeros((steps, nv)), lower=np.zeros(nv), upper=np.zeros(nv), mu=0.0, h=h,
        **start_of_riccati(np.zeros(2 * nv), 2.0 * ends),
    )  # fmt: skip
    return FeedbackAlong(robot, q, v, tau, found["gains"], 0.5 * found["V"], h)


def _fed_back(robot: Robot, q0: Array, v0: Array, tau: Array, K: Array, q: Any, v: Any) -> Array:
    x = np.concatenate([difference(robot, q0, q), v - v0], axis=-1)
    return tau + (K @ x[..., None])[..., 0]


def _driven(robot: Robot) -> Array:
    """1 for freedoms with a drive, else 0."""
    return (np.array(robot.structure.limits.effort) > 0.0).astype(float)


def _discrete_gains(A: Array, B: Array, R: Array, V: Array) -> Array:
    B_V = np.swapaxes(B, -1, -2) @ V
    return np.linalg.solve(R + B_V @ B, B_V @ A)


def _eigenvalues(A: Array) -> Array:
    sound = np.isfinite(A).all(axis=(-2, -1), keepdims=True)
    return np.where(sound[..., 0], np.linalg.eigvals(np.where(sound, A, 0.0)), np.nan)


def _weights(robot: Robot, state_weights: Any, force_weights: Any) -> tuple[Array, Array]:
    W, R = _square("state_weights", state_weights, 2 * robot.nv), _square("force_weights", force_weights, robot.nv)
    if np.linalg.eigvalsh(R).min() <= 0.0:
        raise ArgumentError("`force_weights` must be positive definite: each force must cost something.")
    if np.linalg.eigvalsh(W).min() < -1e-12 * np.abs(W).max():
        raise ArgumentError("`state_weights` must not be negative: a displacement must not earn anything.")
    return W, R


def _square(name: str, value: Any, size: int) -> Array:
    """A symmetric matrix from a number, a diagonal or a matrix."""
    try:
        x = np.asarray(value, float)
    except (TypeError, ValueError):
        x = np.full(0, np.nan)
    if x.shape == ():
        x = np.full(size, float(x))
    x = np.diag(x) if x.shape == (size,) else x
    if x.shape != (size, size) or not np.isfinite(x).all():
        raise ShapeError(
            f"`{name}` must be a number, {size} numbers or a matrix ({size}, {size}), all finite, got {np.shape(value)}."
        )
    if not np.allclose(x, x.T, rtol=1e-10, atol=0.0):
        raise ArgumentError(f"`{name}` must be symmetric.")
    return 0.5 * (x + x.T)


def _refuse_motion(robot: Robot, q: Array, tau: Array) -> None:
    a = np.abs(forward_dynamics(robot, q, np.zeros(tau.shape), tau)).max(initial=0.0)
    free = np.abs(forward_dynamics(robot, q, np.zeros(tau.shape), np.zeros(tau.shape))).max(initial=0.0)
    if a > AT_REST * (1.0 + free):
        raise ArgumentError(
            f"this is no equilibrium: the robot accelerates by {a:.3g}. Leave `tau` out, for forces against the weight; or use "
            "torsor.control.lqr_along for a motion."
        )


def _motion(robot: Robot, q: Any, v: Any, tau: Any) -> tuple[Array, Array, Array]:
    try:
        q, v, tau = (np.asarray(x, float) for x in (q, v, tau))
    except (TypeError, ValueError):
        raise ShapeError("`q`, `v` and `tau` must be arrays of numbers.") from None
    if q.ndim < 2 or q.shape[-1] != robot.nq:
        raise ShapeError(f"`q` must have shape (..., N + 1, {robot.nq}), got {q.shape}.")
    steps = q.shape[-2] - 1
    for name, x, count in (("v", v, steps + 1), ("tau", tau, steps)):
        if x.shape[-2:] != (count, robot.nv):
            raise ShapeError(
                f"`{name}` must have shape (..., {count}, {robot.nv}) beside `q` {q.shape}, got {x.shape}."
            )
    batch = np.broadcast_shapes(q.shape[:-2], v.shape[:-2], tau.shape[:-2])
    return tuple(np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (q, v, tau))  # type: ignore[return-value]
