"""Factors N of the mass matrix, NᵀN = M, carried along paths so that their rows stay parallel.

The rows of N are covectors; carried parallel, they change as the connection says [Alt04, (10), E004-3]::

    dN_aj = Σ N_ar Γ^r_kj dq_k,     dφ_a = Σ N_aj dq_j

NᵀN = M then holds all along the path, whatever the robot. Whether N and φ depend on the path alone or on its end only is
what curvature decides: around a closed path N comes back as it was if and only if the robot is flat.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix
from torsor.errors import ModelError, ShapeError, TorsorError
from torsor.functions import christoffel_symbols_second_kind, mass_matrix
from torsor.model import Robot
from torsor.motion.configuration_rate import has_plain_velocities
from torsor.motion.optional_scipy import scipy_module

FINEST = 3e-14  # SciPy's integrators take no smaller relative tolerance
DRIFT = 1e-8  # of NᵀN from M, with unit diagonal: more means that the path came too close to a singular configuration
STEEPEST = 1e6  # log det N per path: more means that the path runs into a singular configuration
TOGETHER = 256  # paths integrated in common steps


class CarriedFactor(NamedTuple):
    """Ends of paths: ``q`` (..., n), rad or m; ``phi`` = ∫ N dq (..., n), √kg·m; ``N`` (..., n, n), the factor carried there."""

    q: Array
    phi: Array
    N: Array


def factor_of(M: JointMatrix) -> JointMatrix:
    """The upper triangular N (..., n, n) with NᵀN = M and a positive diagonal, Cholesky's."""
    return np.swapaxes(np.linalg.cholesky(M), -1, -2)


def transport_factor(
    robot: Robot, path: ConfigurationVector, *, factor: JointMatrix | None = None, tolerance: float = 1e-10
) -> CarriedFactor:
    """N and φ = ∫ N dq at the corners of a polyline, dN_aj = Σ N_ar Γ^r_kj dq_k: parallel transport [Alt04, §II.A, E004-3].

    ``path`` (..., K, n), rad or m, K ≥ 1 corners, joints with one number each; ``factor`` (..., n, n), kg·m² or kg to the
    power ½, is N at the first corner, by default upper triangular (Cholesky); ``tolerance`` of the integration, no unit.
    NᵀN = M at all corners. At the end of a closed path N is the N of its start if the robot is flat; on a curved robot the
    orthogonal matrix between them is the holonomy of the path. The path must keep away from configurations with singular M.

    Returns ``q`` and ``phi`` (..., K, n), zero at the first corner, and ``N`` (..., K, n, n).
    """
    corners = _corners("transport_factor", robot, path)
    M = mass_matrix(robot, corners[..., 0, :])
    N = _first_factor(robot, corners[..., 0, :], M, factor)
    here = CarriedFactor(corners[..., 0, :], np.zeros_like(corners[..., 0, :]), N)
    passed = [here]
    for k in range(1, corners.shape[-2]):
        here = carry_straight(robot, here, corners[..., k, :], tolerance)
        passed.append(here)
    q, phi, N = zip(*passed, strict=True)
    return CarriedFactor(np.stack(q, axis=-2), np.stack(phi, axis=-2), np.stack(N, axis=-3))


def carry_straight(robot: Robot, start: CarriedFactor, q: ConfigurationVector, tolerance: float) -> CarriedFactor:
    """``start`` carried along the straight lines to q (..., n)."""
    step = q - start.q
    return _carry(robot, start, lambda step, N: step, step, tolerance)


def carry_to_phi(robot: Robot, start: CarriedFactor, phi: Array, tolerance: float) -> CarriedFactor:
    """``start`` carried along the lines on which φ goes straight to ``phi`` (..., n): the geodesics of a flat robot."""
    return _carry(robot, start, lambda step, N: np.linalg.solve(N, step[..., None])[..., 0], phi - start.phi, tolerance)


def require_plain_velocities(who: str, robot: Robot) -> None:
    """Refuse robots whose velocities are not the rates of their coordinates."""
    if not has_plain_velocities(robot):
        s = robot.structure
        name, kind = next(
            (n, k) for n, k in zip(s.joints, s.kinds, strict=True) if k in ("planar", "spherical", "free")
        )
        advice = (
            "; write it as two prismatic joints and a revolute one"
            if kind == "planar"
            else ", and its rotations are curved"
        )
        raise ModelError(
            f"{who}: joint {name!r} of robot {robot.name!r} is {kind}: its velocities are body twists, not rates of coordinates"
            f"{advice}. Robots whose joints have one number each are served."
        )


def _corners(who: str, robot: Robot, path: Array) -> Array:
    require_plain_velocities(who, robot)
    corners = np.asarray(path, float)
    if corners.ndim < 2 or corners.shape[-1] != robot.nq or not corners.shape[-2]:
        raise ShapeError(
            f"{who}: `path` must have shape (..., K, {robot.nq}) for robot {robot.name!r}, got {corners.shape}."
        )
    refuse_unknown(who, corners)
    return corners


def refuse_unknown(who: str, q: Array) -> None:
    """Refuse configurations with NaN or infinities."""
    if not np.all(np.isfinite(q)):
        raise TorsorError(f"{who}: configurations must be finite numbers, got NaN or infinity.")


def _first_factor(robot: Robot, q: Array, M: Array, factor: Array | None) -> Array:
    if factor is None:
        try:
            return factor_of(M)
        except np.linalg.LinAlgError:
            raise _singular(robot, q) from None
    N = np.broadcast_to(np.asarray(factor, float), M.shape)
    if _drift(N, M) > DRIFT:
        raise TorsorError("transport_factor: `factor` must be N with NᵀN = M at the first corner of the path.")
    return N


def _carry(
    robot: Robot, start: CarriedFactor, velocity: Callable[[Array, Array], Array], step: Array, tolerance: float
) -> CarriedFactor:
    """q̇ = velocity(step, N), φ̇ = N q̇ and Ṅ = N Γ q̇ over unit time, many paths in common steps (DOP853)."""
    n, batch = robot.nv, step.shape[:-1]
    flat = [
        np.broadcast_to(x, (*batch, *x.shape[x.ndim - r :])) for x, r in zip((*start, step), (1, 1, 2, 1), strict=True)
    ]
    q, phi, N, step = (x.reshape(-1, *x.shape[len(batch) :]) for x in flat)
    ends = []
    for first in range(0, len(q), TOGETHER):
        some = slice(first, first + TOGETHER)
        y = np.concatenate([q[some], phi[some], N[some].reshape(-1, n * n)], axis=-1)
        ends.append(_integrated(robot, y, partial(velocity, step[some]), tolerance))
    y = np.concatenate(ends) if ends else np.zeros((0, 2 * n + n * n))
    q, phi, N = y[:, :n], y[:, n : 2 * n], y[:, 2 * n :].reshape(-1, n, n)
    _refuse_crossings(robot, start.N, q, N, tolerance)
    return CarriedFactor(q.reshape(*batch, n), phi.reshape(*batch, n), N.reshape(*batch, n, n))


def _integrated(robot: Robot, y: Array, velocity: Callable[[Array], Array], tolerance: float) -> Array:
    """y = (q, φ, N) (P, 2n + n²) of P paths after unit time."""
    n = robot.nv

    def rate(_: float, y: Array) -> Array:
        q, _phi, N = np.split(y.reshape(-1, 2 * n + n * n), [n, 2 * n], axis=-1)
        N = N.reshape(-1, n, n)
        v = velocity(N)
        change = np.einsum("pk,pkjr->prj", v, christoffel_symbols_second_kind(robot, np.ascontiguousarray(q)))
        steep = ~(np.abs(np.trace(change, axis1=1, axis2=2)) < STEEPEST)  # d log det N/ds; NaN where M is singular
        if np.any(steep):
            raise _singular(robot, q[steep])
        return np.concatenate([v, np.einsum("paj,pj->pa", N, v), (N @ change).reshape(-1, n * n)], axis=-1).ravel()

    # SciPy's error is a root mean square over all paths: divided by √size, the largest is within the tolerance too.
    finest = max(tolerance / np.sqrt(y.size), FINEST)
    scale = np.concatenate([np.ones(n), *(np.full(k, np.abs(y[:, 2 * n :]).max()) for k in (n, n * n))])
    integrate = scipy_module("integrate", "transport of a factor")
    done = integrate.solve_ivp(
        rate, (0.0, 1.0), y.ravel(), method="DOP853", rtol=finest, atol=finest * np.tile(scale, len(y))
    )
    reached: Array = done.y[:, -1].reshape(y.shape)
    if not done.success:
        raise _singular(robot, reached[:, :n])
    return reached


def _refuse_crossings(robot: Robot, N_start: Array, q: Array, N: Array, tolerance: float) -> None:
    """Raise if a path went through, or too near to, a singular configuration, where det N changes sign and NᵀN leaves M."""
    if not len(q):
        return
    drift = _drift(N, mass_matrix(robot, q))
    if drift > max(DRIFT, 100 * tolerance) or np.any(
        np.sign(np.linalg.det(N)) != np.sign(np.linalg.det(N_start)).ravel()
    ):
        raise ModelError(
            f"robot {robot.name!r}: the path passes through, or close to, a configuration at which the mass matrix is singular "
            f"(NᵀN has drifted from M by {drift:.1g}). Keep to one side of it, or go around it, corner by corner."
        )


def _drift(N: Array, M: Array) -> float:
    """The largest entry of NᵀN − M, in coordinates in which the diagonal of M is 1."""
    size = np.sqrt(np.einsum("...ii->...i", M))
    difference = np.swapaxes(N, -1, -2) @ N - M
    return float(np.abs(difference / (size[..., :, None] * size[..., None, :])).max(initial=0.0))


def _singular(robot: Robot, q: Array) -> ModelError:
    at = np.array2string(q.reshape(-1, robot.nq)[0], precision=4, separator=", ", suppress_small=True)
    return ModelError(
        f"robot {robot.name!r}: the mass matrix is singular on the way, near q = {at}; torsor.mass_matrix_report(robot, q) tells "
        "why. Choose a path that keeps away from it."
    )
