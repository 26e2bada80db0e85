"""Energy and length of sampled paths in the inertia metric, and the gradient of the energy.

A path is K + 1 configurations at equal times, h = duration/K apart. Step k goes from q_k to q_{k+1} with Δ_k = q_{k+1} ⊖ q_k,
and meets the inertia half way, so that both sums below are exact to O(h²)::

    E = Σ_k Δ_kᵀ M(q_k ⊕ ½ Δ_k) Δ_k / h        L = Σ_k √(Δ_kᵀ M(q_k ⊕ ½ Δ_k) Δ_k)
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from torsor.arrays import concat, dot, matvec, namespace, permute, sqrt
from torsor.arrays.typing import Array, JointMatrix, JointVector, Scalar
from torsor.border import checked
from torsor.border.numbers import refuse_bad_numbers
from torsor.errors import ShapeError
from torsor.functions.public.dynamics import mass_matrix
from torsor.functions.public.geometry import mass_matrix_derivative
from torsor.functions.public.kinematics import difference, integrate
from torsor.mechanics.kinematics.manifold import increment_rate
from torsor.model import Robot
from torsor.motion.integration import has_plain_velocities

Path = Annotated[Array, "... * nq"]  # configurations at equal times


class Steps(NamedTuple):
    """Steps of a path: Δ (..., K, nv), the configuration half way (..., K, nq), and the inertia there."""

    delta: JointVector
    middle: Array
    M: JointMatrix


@checked
def path_energy(robot: Robot, path: Path, *, duration: float = 1.0) -> Scalar:
    """Energy ∫ Σ m_ij ẋ_i ẋ_j dt of a path passed through at even times, by the midpoint rule [PBP95, §5].

    Twice the mean kinetic energy times the duration: at least (length)²/duration, which it is for constant speed.

    Parameters
    ----------
    robot : Robot
        Any joint kind.
    path : (..., K + 1, nq) array
        Configurations, rad or m.
    duration : float
        How long it takes, s.

    Returns
    -------
    (...) array
        J·s.
    """
    steps = steps_of(robot, path)
    return step_squares(steps).sum(-1) * (_count(path) / _positive(duration))


@checked
def path_length(robot: Robot, path: Path) -> Scalar:
    """Length ∫ √(Σ m_ij ẋ_i ẋ_j) dt of a path, which no duration changes, by the midpoint rule [PBP95, §5].

    Parameters
    ----------
    robot : Robot
        Any joint kind.
    path : (..., K + 1, nq) array
        Configurations, rad or m.

    Returns
    -------
    (...) array
        m·√kg.
    """
    return sqrt(step_squares(steps_of(robot, path))).sum(-1)


@checked
def path_energy_gradient(robot: Robot, path: Path, *, duration: float = 1.0) -> Array:
    """Gradient ∂E/∂q_k of `path_energy` by every configuration of the path, exact, from the derivatives of M [PBP95, §5, (53)].

    For joints with one number, with Δ = q_{k+1} − q_k, step k contributes ∓ 2 M Δ/h + ½ Σ_ij ∂M_ij Δ_i Δ_j/h to its ends.
    For planar, spherical and free joints ∂_i is the derivative along the body velocity v_i, as in `mass_matrix_derivative`:
    E changes by Σ gradient · u when every q_k moves to q_k ⊕ u_k.

    Parameters
    ----------
    robot : Robot
        Any joint kind.
    path : (..., K + 1, nq) array
        Configurations, rad or m.
    duration : float
        How long it takes, s.

    Returns
    -------
    (..., K + 1, nv) array
        J·s per rad or m.
    """
    h = _positive(duration) / _count(path)
    delta, middle, M = steps_of(robot, path)
    g = 2.0 * matvec(M, delta) / h
    dM = permute(mass_matrix_derivative(robot, middle), (2, 0, 1))
    f = matvec(matvec(dM, delta[..., None, :]), delta) / h
    at_start, at_end = _ends(robot, delta, f, g)
    none = 0.0 * at_start[..., :1, :]
    return concat([at_start, none], axis=-2) + concat([none, at_end], axis=-2)


def _ends(robot: Robot, delta: JointVector, f: JointVector, g: JointVector) -> tuple[Array, Array]:
    """What dE = g · dΔ + f · μ is at the two ends of a step, where μ is how the middle moves.

    Ends that move by α and β turn half a step X = ½ Δ by dX = A β − B μ = A μ − B α, with A, B = J_r(±X)⁻¹, so that
    μ = (A + B)⁻¹ (A β + B α) and dΔ = 2 (A β − B μ). A = B = 1 for joints with one number.
    """
    if has_plain_velocities(robot):
        return 0.5 * f - g, 0.5 * f + g
    X, unit = 0.5 * delta[..., None, :], np.eye(robot.nv)
    A_T, B_T = increment_rate(robot, X, unit + 0.0 * X), increment_rate(robot, -X, unit + 0.0 * X)  # rows: J_r⁻¹ e_i
    c = namespace(A_T, f, g).linalg.solve(A_T + B_T, (f - 2.0 * matvec(B_T, g))[..., None])[..., 0]
    return matvec(B_T, c), matvec(A_T, c + 2.0 * g)


def steps_of(robot: Robot, path: Path) -> Steps:
    """Steps of a path, with the inertia half way; raises if the path has one configuration only."""
    _count(path)
    start = path[..., :-1, :]
    delta = difference(robot, start, path[..., 1:, :])
    middle = integrate(robot, start, 0.5 * delta)
    return Steps(delta, middle, mass_matrix(robot, middle))


def step_squares(steps: Steps) -> Array:
    """Δᵀ M Δ of each step (..., K), the squares of their lengths."""
    return dot(steps.delta, matvec(steps.M, steps.delta))


def _count(path: Path) -> int:
    if path.shape[-2] < 2:
        raise ShapeError(f"a path has at least two configurations (..., K + 1, nq), got shape {tuple(path.shape)}.")
    return int(path.shape[-2]) - 1


def _positive(duration: float) -> float:
    refuse_bad_numbers(duration=duration)
    return duration
