"""The linear equations of continuous time over a step with forces held: the matrix exponential, in a few products.

With velocities taken per step, u = h v, the equations ẋ = A x + B δτ over a step of length h are those of unit time, of matrices
without a unit (T = −ad(v), K, D and M⁻¹ of `forward_dynamics_derivatives`)::

    A = ⎡ hT    1  ⎤     B = ⎡   0   ⎤        φ₂ = Σ Aʲ/(j+2)!,     φ₁ = 1 + φ₂ A,     eᴬ = 1 + φ₁ A
        ⎣ h²K   hD ⎦         ⎣ h²M⁻¹ ⎦

and x⁺ = eᴬ x + φ₁ B δτ. The series of φ₂ is summed by Horner's rule. Where T is 0 its lower rows are enough: a product by A
from the right is one of n × n with n × 2n matrices, and the upper rows of eᴬ, and of φ₁, are the lower ones of φ₁, and of φ₂,
but for the 1.

In the scale of u in which both blocks of A are equally large, and displacements are measured by √(M⁻¹)_ii, let N be the norm of
A. What a series of m terms leaves out is less than a rounding where Nᵐ⁺¹/(m+3)! is half of one: the shortest of a few series is
taken. For a step that is longer than the robot's own motion, N > 2, the exponential is found by scaling and squaring [Hig05].
"""

from __future__ import annotations

from functools import lru_cache
from math import factorial
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays import concat, identity, looped_matmul, sqrt, where, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix, JointVector, Scalar
from torsor.compiler.kernel import Kernel
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.functions.dispatch import public
from torsor.functions.public.dynamics import with_inverse
from torsor.linearisation.exponential import exponential_and_integral
from torsor.linearisation.step_derivatives import Drive, drift_of_displacement
from torsor.linearisation.step_matrices import StepMatrices
from torsor.mechanics.recursions.newton_euler import BaseMotion, Wrenches
from torsor.model import Robot

TERMS = (6, 9, 12, 15, 20)  # of the series that there are


class UnitTime(NamedTuple):
    """The blocks hT, h²K, hD and h²M⁻¹, the norm N in the scale of the series, and the acceleration."""

    turning: JointMatrix
    by_q: JointMatrix
    by_v: JointMatrix
    by_tau: JointMatrix
    norm: Scalar
    acceleration: JointVector


def unit_time(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    tau: JointVector,
    h: Scalar,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> UnitTime:
    """The equations near a state, with h as the unit of time."""
    at = Drive(robot, tau, wrenches, base_motion).rates(q, v)
    T, K, D, M_inverse = h * drift_of_displacement(robot, v), h * h * at.by_q, h * at.by_v, h * h * at.by_tau
    # Both sides by one positive scale: a massless joint's is NaN, as its accelerations are
    scale = sqrt(at.by_tau[..., range(robot.nv), range(robot.nv)])
    ratio = scale[..., None, :] / scale[..., :, None]
    norm = sqrt(_size(K * ratio)) + where(_size(T * ratio) > _size(D * ratio), _size(T * ratio), _size(D * ratio))
    return UnitTime(T, K, D, M_inverse, norm, at.a)


def _size(X: Array) -> Array:
    """Frobenius' norm."""
    return sqrt((X * X).sum(axis=(-2, -1)))


_UNIT_TIME = public(unit_time, UnitTime, joint_space=True, rivals=with_inverse(unit_time), registered=False)


def held_matrices(robot: Robot, q: Array, v: Array, tau: Array, h: float, **external: Any) -> StepMatrices:
    """A and B of a step with forces held, for states of any batch shape."""
    at = _UNIT_TIME(robot, q, v, tau, h, **external)
    most = at.norm.max(initial=0.0)
    long = None if most <= _longest(TERMS[-1]) else ~(at.norm <= _longest(TERMS[-1]))  # NaN is long, too
    if long is not None:
        most = np.max(at.norm, where=~long, initial=0.0)
    terms = next(m for m in TERMS if most <= _longest(m))
    given = {"by_q": at.by_q, "by_v": at.by_v, "by_tau": at.by_tau, "h": h}
    given |= {} if robot.structure.has_plain_velocities else {"turning": at.turning}
    A, B = _series(robot.nv, terms, "turning" not in given)(**given).values()
    if long is not None:
        A[long], B[long] = _by_squaring(UnitTime(*(x[long] for x in at)), h)
    return StepMatrices(A, B, at.acceleration)


@lru_cache(maxsize=32)
def _longest(terms: int) -> float:
    """The norm up to which a series needs no more terms."""
    return float((2.0**-54 * factorial(terms + 3)) ** (1.0 / (terms + 1)))


@lru_cache(maxsize=32)
def _series(n: int, terms: int, is_plain: bool) -> Kernel:
    """The kernel of a series for ``n`` freedoms; ``is_plain``: T is 0."""
    inputs: dict[str, tuple[int, ...]] = {"by_q": (n, n), "by_v": (n, n), "by_tau": (n, n), "h": ()}
    inputs |= {} if is_plain else {"turning": (n, n)}
    program = trace(lambda **given: _summed(terms, **given), inputs, Level.FULL)
    return Kernel(f"exponential for {n} freedoms", program)


def _summed(
    terms: int, by_q: Array, by_v: Array, by_tau: Array, h: Array, turning: Array | None = None
) -> dict[str, Array]:
    """A and B by Horner's rule, for the lower rows alone or for all, with rates per second."""
    n, lower = by_q.shape[-1], concat([by_q, by_v])
    one = concat([zeros(n, n), identity(n)]) if turning is None else identity(2 * n)

    def times(X: Array, weight: float = 1.0) -> Array:
        """1 + weight X A."""
        first, second = weight * X[:, :n], weight * X[:, n:]
        return one + looped_matmul(second, lower) + concat([_turned(first, turning), first])

    phi_2 = one
    for j in range(terms + 2, 2, -1):
        phi_2 = times(phi_2, 1.0 / j)
    phi_2 = 0.5 * phi_2
    phi_1 = times(phi_2)
    E = times(phi_1)
    if turning is None:  # the upper rows are (1 0) and those below, one factor of A earlier
        E = concat([phi_1 + concat([identity(n), zeros(n, n)]), E], axis=-2)
        phi_1 = concat([phi_2, phi_1], axis=-2)
    F = looped_matmul(phi_1[:, n:], by_tau)
    E_q, E_v = concat([E[:n, :n], h * E[:n, n:]]), concat([E[n:, :n] / h, E[n:, n:]])
    return {"A": concat([E_q, E_v], axis=-2), "B": concat([F[:n], F[n:] / h], axis=-2)}


def _turned(X: Array, turning: Array | None) -> Array:
    return zeros(*X.shape) if turning is None else looped_matmul(X, turning)


def _by_squaring(at: UnitTime, h: float) -> tuple[Array, Array]:
    n = at.by_q.shape[-1]
    A = np.block([[at.turning, np.broadcast_to(np.eye(n), at.by_q.shape)], [at.by_q, at.by_v]])
    E, F = exponential_and_integral(A, np.concatenate([np.zeros_like(at.by_tau), at.by_tau], axis=-2))
    per_step = np.repeat([1.0, h], n)
    return E * (per_step / per_step[:, None]), F / per_step[:, None]
