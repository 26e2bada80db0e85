"""Linearisation: how a robot moves near a motion, as matrices of a state space.

A displacement of the state is x = (δq, δv), with q ⊕ δq on the body side. With a = FD(q, v, τ)::

    δq̇ = δv − ad(v) δq                              ad(v) of the groups of planar, spherical and free joints, 0 for others
    δv̇ = ∂a/∂q δq + ∂a/∂v δv + ∂a/∂τ δτ

The first line is the derivative of q̇ = v on a group: links that turn carry the axes of δq with them. From step to step the
matrices are those of the linear equations with τ held, or the derivatives of an integrator's step.

Derivatives of one step of time, the same steps as `torsor.simulate` takes, by the chain rule through their stages.

Displacements of a configuration are body-side, q ⊕ δ. The velocities of planar, spherical and free joints span a subalgebra of
the twists, with screws S as basis; on it the maps of SE(3) act, X restricted as S X Sᵀ. For all other joints they are 1, or 0
where said::

    (q ⊕ δ) ⊕ (u + δu) = (q ⊕ u) ⊕ (Ad(e^−u) δ + J_r(u) δu)      to first order [Bar17, (7.87)]
    δ̇ = δv − ad(v) δ                                             for q ⊕ δ with the velocity v + δv

A value x has beside it its derivative dx (..., nv, 3 nv) by (δq, δv, δτ) at the start of the step; configurations in the
tangent coordinates of where they are. Each function below has the lines of its namesake in `torsor.simulation`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from torsor._reports import in_one_line
from torsor.arrays import matvec
from torsor.arrays.typing import Array, GivenConfiguration, GivenJointVector, JointMatrix, JointVector
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.border.arrays import prepare
from torsor.border.numbers import refuse_no_robot
from torsor.compiler.kernel import Kernel
from torsor.errors import ArgumentError, TorsorError, unknown_name
from torsor.functions.derivative import derivative
from torsor.functions.public.derivatives import body_twist_derivatives, forward_dynamics_derivatives
from torsor.functions.public.dynamics import forward_dynamics
from torsor.functions.public.kinematics import integrate
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.mechanics.kinematics.manifold import increment_rate
from torsor.mechanics.recursions.newton_euler import BaseMotion, Wrenches
from torsor.model import Inertia, Joint, Robot, assemble


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
    q, v, tau = (np.broadcast_to(_plain(values[x]), (*batch, n)) for x, n in _sizes(robot))
    external = None if wrenches is None else {name: _plain(F) for name, F in values["wrenches"].items()}
    moving = None if base_motion is None else (_plain(values["base_motion"][0]), _plain(values["base_motion"][1]))
    drive = Drive(robot, tau, external, moving)
    h = None if dt is None else float(dt)
    if h is None:
        A, B = _continuous(drive, q, v)
    else:
        A, B = (_held if method is None else _METHODS[method])(drive, q, v, h)
    C = None if frame is None else _seen_at(drive, q, v, frame)
    return StateSpace(A, B, C, drive.accelerate(q, v), h, robot.structure.freedoms)


def _continuous(drive: Drive, q: Array, v: Array) -> tuple[Array, Array]:
    by_q, by_v, by_tau = drive.by_state(q, v)
    one, turning = np.broadcast_to(np.eye(drive.robot.nv), by_q.shape), drift_of_displacement(drive.robot, v)
    return np.block([[turning, one], [by_q, by_v]]), np.concatenate([np.zeros_like(by_tau), by_tau], axis=-2)


def _held(drive: Drive, q: Array, v: Array, h: float) -> tuple[Array, Array]:
    """The equations of continuous time over a step. Velocities are taken per step: that keeps the norm of A h small."""
    A, B = _continuous(drive, q, v)
    per_step = np.repeat([1.0, h], drive.robot.nv)
    E, F = exponential_and_integral(h * A * (per_step[:, None] / per_step), h * B * per_step[:, None])
    return E * (per_step / per_step[:, None]), F / per_step[:, None]


def _by_step(derivatives: StepDerivatives) -> StepDerivatives:
    """Matrices A and B from the derivatives of q and v after a step."""

    def matrices(drive: Drive, q: Array, v: Array, h: float) -> tuple[Array, Array]:
        dx = np.concatenate(derivatives(drive, q, v, h), axis=-2)
        A, B = np.split(dx, [2 * drive.robot.nv], axis=-1)
        return np.ascontiguousarray(A), np.ascontiguousarray(B)

    return matrices


def _seen_at(drive: Drive, q: Array, v: Array, frame: str) -> Array:
    by_q, J = body_twist_derivatives(drive.robot, q, v, frame, base_motion=drive.base_motion)
    return np.block([[J, np.zeros_like(J)], [by_q, J]])


def _sizes(robot: Robot) -> tuple[tuple[str, int], ...]:
    return ("q", robot.nq), ("v", robot.nv), ("tau", robot.nv)


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
        refuse_unknown_word("method", method, _METHODS)
    if method is not None and dt is None:
        raise ArgumentError(
            f"method {method!r} goes from step to step: give its length in seconds, dt=0.01 say, or no method "
            "for continuous time."
        )
    if dt is not None and not (_is_number(dt) and 0.0 < float(dt) < np.inf):
        raise ArgumentError(f"`dt` must be a positive number of seconds, got {dt!r:.60}.")
    if frame is not None and frame not in robot.frames:
        raise unknown_name(f"robot {robot.name!r}", "frame", frame, robot.frames, "robot.frames")


REACH = 5.371920351148152  # θ₁₃ of the source, table 2.3, for doubles
_B = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0, 10559470521600.0,
    670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip


def exponential_and_integral(X: Array, Y: Array) -> tuple[Array, Array]:
    """eˣ and φ(X) Y: where ẋ = X x + Y u leads in unit time from x, and from a u that is held.

    ``X`` (..., n, n), ``Y`` (..., n, m), no unit. Returns shapes as given; NaN where X is not finite.
    """
    norm = np.abs(X).sum(axis=-2).max(axis=-1, initial=0.0)
    finite = np.isfinite(norm)
    halvings = np.ceil(np.log2(np.where(finite & (norm > REACH), norm / REACH, 1.0))).astype(int)
    scale = np.where(finite, np.ldexp(1.0, -halvings), np.nan)[..., None, None]
    E, F = _approximants(scale * X, scale * Y)
    for k in range(int(halvings.max(initial=0))):
        more = halvings > k
        E_k, F_k = E[more], F[more]
        E[more], F[more] = E_k @ E_k, E_k @ F_k + F_k
    return E, F


def _approximants(X: Array, Y: Array) -> tuple[Array, Array]:
    """Both for a small X, in six products and one solution, as the source's (2.8)–(2.10) order them."""
    b, one = _B, np.eye(X.shape[-1])
    X2 = X @ X
    X4 = X2 @ X2
    X6 = X2 @ X4
    W = X6 @ (b[13] * X6 + b[11] * X4 + b[9] * X2) + b[7] * X6 + b[5] * X4 + b[3] * X2 + b[1] * one
    V = X6 @ (b[12] * X6 + b[10] * X4 + b[8] * X2) + b[6] * X6 + b[4] * X4 + b[2] * X2 + b[0] * one
    U = X @ W
    both = np.linalg.solve(V - U, np.concatenate([V + U, 2.0 * W @ Y], axis=-1))
    return both[..., : X.shape[-1]], both[..., X.shape[-1] :]


class Drive(NamedTuple):
    """A robot under torques (..., nv), N·m or N, wrenches and a motion of its base that are held over the step."""

    robot: Robot
    tau: JointVector
    wrenches: Wrenches | None = None
    base_motion: BaseMotion | None = None

    @property
    def start(self) -> tuple[Array, Array, Array]:
        """The derivatives of q, v and tau by themselves: (1, 0, 0), (0, 1, 0) and (0, 0, 1)."""
        nv = self.robot.nv
        return tuple(np.eye(3 * nv).reshape(3, nv, 3 * nv))  # type: ignore[return-value]

    def accelerate(self, q: Array, v: Array) -> Array:
        """The acceleration a (..., nv)."""
        return forward_dynamics(self.robot, q, v, self.tau, **self._external)

    def by_state(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """∂a/∂q, ∂a/∂v and ∂a/∂τ (..., nv, nv)."""
        return forward_dynamics_derivatives(self.robot, q, v, self.tau, **self._external)

    def along(self, q: Array, v: Array, dq: Array, dv: Array) -> Array:
        """da where q and v change by dq and dv."""
        by_q, by_v, by_tau = self.by_state(q, v)
        return by_q @ dq + by_v @ dv + by_tau @ self.start[2]

    @property
    def _external(self) -> dict[str, Any]:
        given = {"wrenches": self.wrenches, "base_motion": self.base_motion}
        return {name: value for name, value in given.items() if value is not None}


StepDerivatives = Callable[[Drive, Array, JointVector, float], tuple[Array, Array]]


def euler(drive: Drive, q: Array, v: JointVector, h: float) -> tuple[Array, Array]:
    """Derivatives of q ⊕ h v and v + h a(q, v)."""
    dq, dv, _ = drive.start
    return _moved(drive.robot, h * v, dq, h * dv), dv + h * drive.along(q, v, dq, dv)


def semi_implicit_euler(drive: Drive, q: Array, v: JointVector, h: float) -> tuple[Array, Array]:
    """Derivatives of v⁺ = v + h a(q, v) and q ⊕ h v⁺."""
    dq, dv, _ = drive.start
    v_new = v + h * drive.accelerate(q, v)
    dv_new = dv + h * drive.along(q, v, dq, dv)
    return _moved(drive.robot, h * v_new, dq, h * dv_new), dv_new


def rk4(drive: Drive, q: Array, v: JointVector, h: float) -> tuple[Array, Array]:
    """Derivatives of the classical Runge–Kutta step on the increment u of q ⊕ u [MK99]."""
    robot, (dq, dv, _) = drive.robot, drive.start
    k, a = v, drive.accelerate(q, v)
    dk, da = dv, drive.along(q, v, dq, dv)
    u, du, dv_new = h / 6.0 * k, h / 6.0 * dk, dv + h / 6.0 * da
    for reach, weight in ((0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
        u_i, du_i = reach * h * k, reach * h * dk
        v_i, dv_i = v + reach * h * a, dv + reach * h * da
        q_i, dq_i = integrate(robot, q, u_i), _moved(robot, u_i, dq, du_i)
        k, dk = increment_rate(robot, u_i, v_i), _rate(robot, u_i, v_i, du_i, dv_i)
        a, da = drive.accelerate(q_i, v_i), drive.along(q_i, v_i, dq_i, dv_i)
        u, du, dv_new = u + weight * h / 6.0 * k, du + weight * h / 6.0 * dk, dv_new + weight * h / 6.0 * da
    return _moved(robot, u, dq, du), dv_new


DERIVATIVES: dict[str, StepDerivatives] = {"semi_implicit_euler": semi_implicit_euler, "euler": euler, "rk4": rk4}


def _moved(robot: Robot, u: Array, dq: Array, du: Array) -> Array:
    """The derivative of q ⊕ u, in the tangent coordinates there."""
    return _transport(robot, u) @ dq + _increment_jacobian(robot, u) @ du


def _rate(robot: Robot, u: Array, v: Array, du: Array, dv: Array) -> Array:
    """The derivative of J_r(u)⁻¹ v."""
    return _increment_rate_by_increment(robot, u, v) @ du + _increment_jacobian_inverse(robot, u) @ dv


def drift_of_displacement(robot: Robot, v: JointVector) -> JointMatrix:
    """−ad(v), how a displacement that moves along turns in the axes of the moving links; 0 for joints with one number.

    ``v`` (..., nv), rad/s or m/s. Returns (..., nv, nv), 1/s.
    """
    return _joint_by_joint(robot, np.zeros((robot.nv, robot.nv)), lambda V: -lie.ad(V), v)


def _transport(robot: Robot, u: JointVector) -> JointMatrix:
    """Ad(e^−u), ∂(q ⊕ u)/∂q. ``u`` (..., nv), rad or m. Returns (..., nv, nv)."""
    return _joint_by_joint(robot, np.eye(robot.nv), lambda U: lie.Ad(se3.exp(-U)), u)


def _increment_jacobian(robot: Robot, u: JointVector) -> JointMatrix:
    """J_r(u), ∂(q ⊕ u)/∂u. ``u`` (..., nv), rad or m. Returns (..., nv, nv)."""
    return _joint_by_joint(robot, np.eye(robot.nv), se3.right_jacobian, u)


def _increment_jacobian_inverse(robot: Robot, u: JointVector) -> JointMatrix:
    """J_r(u)⁻¹, ∂/∂v of `increment_rate`. ``u`` (..., nv), rad or m. Returns (..., nv, nv)."""
    return _joint_by_joint(robot, np.eye(robot.nv), se3.right_jacobian_inverse, u)


def _increment_rate_by_increment(robot: Robot, u: JointVector, v: JointVector) -> JointMatrix:
    """∂(J_r(u)⁻¹ v)/∂u, 0 for joints with one number.

    ``u`` (..., nv), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., nv, nv), 1/s.
    """
    zero = np.zeros((robot.nv, robot.nv))
    return _joint_by_joint(robot, zero, lambda U, V: _rate_by_increment()(U, V), u, v)


def _joint_by_joint(robot: Robot, others: Array, on_twists: Callable[..., Array], *vectors: JointVector) -> JointMatrix:
    """Block diagonal S X Sᵀ with X = on_twists(Sᵀ u, …); ``others`` (nv, nv) where joints have one number."""
    result = np.array(np.broadcast_to(others, (*np.broadcast_shapes(*(x.shape for x in vectors)), robot.nv)))
    for c, kind in robot.structure.blocks:
        if (S := kind.rows) is not None:
            at = c.v
            result[..., at, at] = S @ on_twists(*(x[..., at] @ S for x in vectors)) @ S.T
    return result


@lru_cache(maxsize=1)
def _rate_by_increment() -> Kernel:
    """The kernel of ∂(J_r(U)⁻¹ V)/∂U on twists, which knows every smaller group too."""
    body = assemble([Joint(name="float", kind="free", inertia=Inertia.sphere(1.0, mass=1.0))], name="one body")
    return derivative(_twist_rate, body, {"U": (6,), "V": (6,)}, wrt="U")


def _twist_rate(robot: Robot, U: Array, V: Array) -> Array:
    return matvec(se3.right_jacobian_inverse(U), V)


_METHODS: dict[str, StepDerivatives] = {"exact": _held} | {name: _by_step(of) for name, of in DERIVATIVES.items()}
