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

from torsor._reports import in_one_line
from torsor.arrays.typing import Array, ConfigurationVector, GivenConfiguration, JointMatrix
from torsor.border import explained
from torsor.border.numbers import numbers_of, refuse_bad_numbers, refuse_strangers
from torsor.errors import ArgumentError, ModelError, ShapeError
from torsor.functions.public.dynamics import mass_matrix
from torsor.functions.public.geometry import christoffel_symbols_second_kind
from torsor.model import Robot
from torsor.motion.curvature import scaled_condition
from torsor.motion.integration import RUN_INSIDE, has_plain_velocities, held, integrated

DRIFT = 1e-8  # of NᵀN from M, with unit diagonal: more is refused
NEAR = 1e8  # condition number of M, with unit diagonal: more is too close to a singular configuration
STEEPEST = 1e6  # log det N per path: more means that the path runs into a singular configuration
TOGETHER = 256  # paths integrated in common steps
GROWTH = 100  # of the tolerance of a step along the way: if NᵀN leaves M by more, steps are made finer


@in_one_line
class CarriedFactor(NamedTuple):
    """Ends of paths: ``q`` (..., n), rad or m; ``phi`` = ∫ N dq (..., n), √kg·m; ``N`` (..., n, n), the factor carried there."""

    q: Array
    phi: Array
    N: Array


class Advice(NamedTuple):
    """What to do about a path that cannot be followed: which function takes a tolerance, and how to avoid singular M."""

    function: str
    words: str

    def singular(self, robot: Robot, q: Array, how: str = "runs into") -> ModelError:
        """The error for paths that meet a singular mass matrix at the first of q (..., n)."""
        at = np.array2string(q.reshape(-1, robot.nq)[0], precision=4, separator=", ", suppress_small=True)
        return ModelError(
            f"robot {robot.name!r}: the path {how} a configuration at which the mass matrix is singular, near q = {at}; "
            f"torsor.dynamics.mass_matrix_report(robot, q) tells why. {self.words}"
        )


CORNERS = Advice("transport_factor", "Keep to one side of it, or go around it, corner by corner.")


def factor_of(M: JointMatrix) -> JointMatrix:
    """The upper triangular N (..., n, n) with NᵀN = M and a positive diagonal, Cholesky's."""
    return np.swapaxes(np.linalg.cholesky(M), -1, -2)


@explained
def transport_factor(
    robot: Robot, path: GivenConfiguration, *, factor: JointMatrix | None = None, tolerance: float = 1e-10
) -> CarriedFactor:
    """Factors N and φ = ∫ N dq at the corners of a polyline, dN_aj = Σ N_ar Γ^r_kj dq_k [Alt04, §II.A, E004-3].

    The rows of N are carried by parallel transport.

    NᵀN = M at all corners. At the end of a closed path N is the N of its start if the robot is flat; on a curved robot the
    orthogonal matrix between them is the holonomy of the path. The path must keep away from configurations with singular M.

    Parameters
    ----------
    robot : Robot
        Its joints have one number each.
    path : (..., K, n) array
        Corners, K ≥ 1, rad or m.
    factor : (..., n, n) array, optional
        N at the first corner, kg·m² or kg to the power ½; by default upper triangular (Cholesky).
    tolerance : float
        Of the integration, no unit.

    Returns
    -------
    CarriedFactor
        ``q`` and ``phi`` (..., K, n), zero at the first corner, and ``N`` (..., K, n, n).
    """
    refuse_strangers(robot, path, factor, instead=RUN_INSIDE)
    refuse_bad_numbers(tolerance=tolerance)
    corners = _corners(robot, path)
    M = mass_matrix(robot, corners[..., 0, :])
    N = _first_factor(robot, corners[..., 0, :], M, factor)
    here = CarriedFactor(corners[..., 0, :], np.zeros_like(corners[..., 0, :]), N)
    passed = [here]
    for k in range(1, corners.shape[-2]):
        here = carry_straight(robot, here, corners[..., k, :], tolerance, CORNERS)
        passed.append(here)
    q, phi, N = zip(*passed, strict=True)
    return CarriedFactor(np.stack(q, axis=-2), np.stack(phi, axis=-2), np.stack(N, axis=-3))


def carry_straight(
    robot: Robot, start: CarriedFactor, q: ConfigurationVector, tolerance: float, advice: Advice
) -> CarriedFactor:
    """``start`` carried along the straight lines to q (..., n), with ``advice`` for those that meet a singular configuration."""
    return _carry(robot, start, lambda step, N: step, q - start.q, tolerance, advice)


def carry_to_phi(robot: Robot, start: CarriedFactor, phi: Array, tolerance: float, advice: Advice) -> CarriedFactor:
    """``start`` carried along the lines on which φ goes straight to ``phi`` (..., n): the geodesics of a flat robot."""
    return _carry(
        robot, start, lambda step, N: np.linalg.solve(N, step[..., None])[..., 0], phi - start.phi, tolerance, advice
    )


def require_plain_velocities(robot: Robot) -> None:
    """Refuse robots whose velocities are not the rates of their coordinates."""
    if not has_plain_velocities(robot):
        s = robot.structure
        name, kind = next(
            (n, k) for i, (n, k) in enumerate(zip(s.joints, s.kinds, strict=True)) if not s.kind_of(i).has_screw
        )
        advice = (
            "; write it as two prismatic joints and a revolute one"
            if kind == "planar"
            else ", and its rotations are curved"
        )
        raise ModelError(
            f"joint {name!r} of robot {robot.name!r} is {kind}: its velocities are body twists, not rates of coordinates"
            f"{advice}. Robots whose joints have one number each are served."
        )


def _corners(robot: Robot, path: Array) -> Array:
    require_plain_velocities(robot)
    corners = numbers_of("path", path, (robot.nq,))
    if corners.ndim < 2 or not corners.shape[-2]:
        raise ShapeError(f"`path` must have shape (..., K, {robot.nq}) for robot {robot.name!r}, got {corners.shape}.")
    return corners


def _first_factor(robot: Robot, q: Array, M: Array, factor: Array | None) -> Array:
    if factor is None:
        try:
            return factor_of(M)
        except np.linalg.LinAlgError:
            raise CORNERS.singular(robot, q) from None
    N = numbers_of("factor", factor, (robot.nv, robot.nv))
    try:
        N = np.broadcast_to(N, M.shape)
    except ValueError:
        raise ShapeError(f"`factor` must have shape {M.shape}, one for each path, got {N.shape}.") from None
    if _drift(N, M) > DRIFT:
        raise ArgumentError("`factor` must be N with NᵀN = M at the first corner of the path.")
    return N


def _carry(
    robot: Robot,
    start: CarriedFactor,
    velocity: Callable[[Array, Array], Array],
    step: Array,
    tolerance: float,
    advice: Advice,
) -> CarriedFactor:
    """q̇ = velocity(step, N), φ̇ = N q̇ and Ṅ = N Γ q̇ over unit time, many paths in common steps."""
    n, batch = robot.nv, step.shape[:-1]
    flat = [
        np.broadcast_to(x, (*batch, *x.shape[x.ndim - r :])) for x, r in zip((*start, step), (1, 1, 2, 1), strict=True)
    ]
    q, phi, N, step = (x.reshape(-1, *x.shape[len(batch) :]) for x in flat)
    ends = []
    for first in range(0, len(q), TOGETHER):
        some = slice(first, first + TOGETHER)
        y = np.concatenate([q[some], phi[some], N[some].reshape(-1, n * n)], axis=-1)
        ends.append(_carried(Paths(robot, y, partial(velocity, step[some]), advice), tolerance))
    y = np.concatenate(ends) if ends else np.zeros((0, 2 * n + n * n))
    q, phi, N = _parts(n, y)
    return CarriedFactor(q.reshape(*batch, n), phi.reshape(*batch, n), N.reshape(*batch, n, n))


class Paths(NamedTuple):
    """P paths over unit time: their starts y = (q, φ, N) (P, 2n + n²), and their velocities by N (P, n, n)."""

    robot: Robot
    start: Array
    velocity: Callable[[Array], Array]
    advice: Advice

    def at(self, instants: Array, tolerance: float) -> Array:
        """y (T, P, 2n + n²) at ``instants`` (T,), or at the end if there is one only."""
        n, robot = self.robot.nv, self.robot

        def rate(_: float, y: Array) -> Array:
            q, _phi, N = _parts(n, y.reshape(self.start.shape))
            v = self.velocity(N)
            change = np.einsum("pk,pkjr->prj", v, christoffel_symbols_second_kind(robot, np.ascontiguousarray(q)))
            steep = ~(np.abs(np.trace(change, axis1=1, axis2=2)) < STEEPEST)  # d log det N/ds; NaN where M is singular
            if np.any(steep):
                raise self.advice.singular(robot, q[steep])
            return np.concatenate([v, np.einsum("paj,pj->pa", N, v), (N @ change).reshape(-1, n * n)], axis=-1).ravel()

        # SciPy's error is a root mean square over all paths: divided by √size, the largest is within the tolerance too.
        finest, size = tolerance / np.sqrt(self.start.size), np.abs(self.start[:, 2 * n :]).max()
        sizes = np.tile(np.concatenate([np.ones(n), np.full(n + n * n, size)]), len(self.start))
        dense = len(instants) > 1
        run = integrated(rate, (0.0, 1.0), self.start.ravel(), finest, sizes, dense=dense)
        if not run.finished:
            raise self.advice.singular(robot, _parts(n, run.y.reshape(self.start.shape))[0])
        y = run.y[:, None] if run.curve is None else run.curve(instants)
        return np.moveaxis(y, -1, 0).reshape(len(instants), *self.start.shape)


def _carried(paths: Paths, tolerance: float) -> Array:
    """The ends y (P, 2n + n²), integrated ever finer until NᵀN = M there; raises if that cannot be had."""
    n, robot = paths.robot.nv, paths.robot
    side = np.sign(np.linalg.det(_parts(n, paths.start)[2]))

    def attempt(finest: float) -> tuple[Array, float]:
        y = paths.at(np.ones(1), finest)[0]
        q, _, N = _parts(n, y)
        if np.any(crossed := np.sign(np.linalg.det(N)) != side):  # det N changes its sign where M is singular
            raise paths.advice.singular(robot, q[crossed], "passes through")
        return y, _drift(N, mass_matrix(robot, q)) / GROWTH

    y, drift = held(tolerance, attempt)
    if GROWTH * drift <= max(DRIFT, GROWTH * tolerance):
        return y
    q, _, _ = _parts(n, paths.at(np.linspace(0.0, 1.0, 101), tolerance).reshape(-1, paths.start.shape[1]))
    condition = scaled_condition(mass_matrix(robot, np.ascontiguousarray(q)))
    if (worst := condition.max()) > NEAR:
        how = f"comes close (condition number {worst:.1g}) to"
        raise paths.advice.singular(robot, q[[condition.argmax()]], how)
    raise ArgumentError(
        f"on this path of robot {robot.name!r} NᵀN drifts from M by {GROWTH * drift:.1g}, however fine the steps: "
        f"it is too long. M is nowhere near singular on it. Pass tolerance={2 * drift:.1g} to "
        f"{paths.advice.function}, or a start nearer to its end."
    )


def _parts(n: int, y: Array) -> tuple[Array, Array, Array]:
    """q (P, n), φ (P, n) and N (P, n, n) of y (P, 2n + n²)."""
    return y[:, :n], y[:, n : 2 * n], y[:, 2 * n :].reshape(-1, n, n)


def _drift(N: Array, M: Array) -> float:
    """The largest entry of NᵀN − M, in coordinates in which the diagonal of M is 1."""
    size = np.sqrt(np.einsum("...ii->...i", M))
    difference = np.swapaxes(N, -1, -2) @ N - M
    return float(np.abs(difference / (size[..., :, None] * size[..., None, :])).max(initial=0.0))
