"""Energy and length of sampled paths in the inertia metric, and the gradient of the energy.

A path is K + 1 configurations at equal times, h = duration/K apart. Step k goes from q_k to q_{k+1} with Δ_k = q_{k+1} ⊖ q_k,
and meets the inertia half way, so that both sums below are exact to O(h²)::

    E = Σ_k Δ_kᵀ M(q_k ⊕ ½ Δ_k) Δ_k / h        L = Σ_k √(Δ_kᵀ M(q_k ⊕ ½ Δ_k) Δ_k)

Newton's method for the energy of a path: one configuration only meets its two neighbours, so steps cost O(K nv³).

The Hessian is block-tridiagonal. Its blocks are differences of the exact gradient, three paths at a time: moving every third
configuration tells the columns of all of them at once. Damping adds a multiple of its leading part, 2/h Σ dΔᵀ M dΔ (what is
left where M is constant), which is positive definite wherever M is. Limits are kept by Bertsekas' projection: what is pushed
against its limit is held there, the rest moves freely and is cut off at its limits.

Where the gradient vanishes though the Hessian is not positive definite, the path is a saddle: a geodesic beyond a conjugate
point, no path of least energy. It is left along the lowest eigenvector, whose curvature is negative.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np

from torsor.arrays import concat, dot, matvec, namespace, permute, sqrt
from torsor.arrays.typing import Array, JointMatrix, JointVector, Scalar
from torsor.border import checked
from torsor.border.numbers import refuse_bad_numbers
from torsor.errors import ShapeError
from torsor.functions.public.dynamics import mass_matrix
from torsor.functions.public.geometry import christoffel_symbols_second_kind, mass_matrix_derivative
from torsor.functions.public.kinematics import difference, integrate
from torsor.mechanics.kinematics.manifold import increment_rate
from torsor.model import Robot
from torsor.motion.integration import has_plain_velocities, scipy_module

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
    at_start, at_end = ends_of(robot, delta, f, g)
    none = 0.0 * at_start[..., :1, :]
    return concat([at_start, none], axis=-2) + concat([none, at_end], axis=-2)


def ends_of(robot: Robot, delta: JointVector, f: JointVector, g: JointVector) -> tuple[Array, Array]:
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


STEP = 1e-5  # rad or m; differences of the gradient are then good to 1e-10
LEAST_DAMPING, MOST_DAMPING = 1e-3, 1e12
NEGATIVE = 1e-6  # xᵀ H x over its leading part: less than minus this is a direction in which energy falls
KICKS = (0.3, 0.1, 0.03, 0.01)  # lengths of the step away from a saddle, as fractions of that of the path
ENERGY_ROUNDING = 1e-13  # a change of the energy by this fraction of it says nothing


class PathProblem(NamedTuple):
    """What is minimised: which numbers of the path may change (K + 1, nv), and within which bounds (K + 1, nv)."""

    robot: Robot
    free: Array
    lower: Array
    upper: Array


class Solution(NamedTuple):
    """A path (K + 1, nq), the projected gradient of its energy (duration 1), and how it was found."""

    path: Array
    gradient: Array
    iterations: int
    converged: bool


class Blocks(NamedTuple):
    """A symmetric block-tridiagonal matrix: diagonal (K + 1, nv, nv), and the blocks right of it (K, nv, nv)."""

    diagonal: Array
    right: Array

    def plus(self, factor: float, other: Blocks) -> Blocks:
        """The sum with a multiple of another."""
        return Blocks(self.diagonal + factor * other.diagonal, self.right + factor * other.right)

    def square(self, x: Array) -> float:
        """xᵀ H x for x (K + 1, nv)."""
        inner = np.einsum("ki,kij,kj->", x, self.diagonal, x)
        return float(inner + 2.0 * np.einsum("ki,kij,kj->", x[:-1], self.right, x[1:]))


def minimise(problem: PathProblem, path: Array, tolerance: float, most: int, *, leave_saddles: bool = True) -> Solution:
    """The path of least energy near ``path`` (K + 1, nq), in at most ``most`` steps.

    Until a step changes it by ``tolerance`` of its length (one that is damped by λ counts 1 + λ times), or until steps no
    longer get smaller and save nothing, which is what rounding makes of them in the end. A saddle is such a path too, if they
    need not be left.
    """
    robot, damping, iterations, previous = problem.robot, 0.0, 0, np.inf
    energy, gradient = path_energy(robot, path), path_energy_gradient(robot, path)
    while iterations < most and energy > 0.0:
        iterations += 1
        loose = problem.free & ~_held(problem, path, gradient)
        hessian = hessian_of(robot, path, np.where(loose, gradient, 0.0), partial(path_energy_gradient, robot))
        leading = _leading(robot, path)
        arrived = False
        while damping < MOST_DAMPING:
            step = _solve(hessian.plus(damping, leading), -gradient, loose)
            if step is not None:
                new, change = _moved(problem, path, step)
                new_energy = path_energy(robot, new)
                relative = (1.0 + damping) * np.sqrt(max(leading.square(change), 0.0) / energy)
                arrived = relative <= tolerance
                if arrived or new_energy <= energy * (1.0 + ENERGY_ROUNDING):
                    break
            damping = max(4.0 * damping, LEAST_DAMPING)
        else:
            break
        if new_energy <= energy * (1.0 + ENERGY_ROUNDING):
            saved, foreseen = energy - new_energy, -np.sum(gradient * change) - 0.5 * hessian.square(change)
            nothing = max(saved, foreseen) <= ENERGY_ROUNDING * energy and np.array_equal(change, step)
            arrived |= nothing and relative > 0.5 * previous
            damping = _relaxed(damping, saved, foreseen)
            path, energy, gradient, previous = new, new_energy, path_energy_gradient(robot, new), relative
        if arrived:
            lower = _below_saddle(problem, path, energy, hessian, leading, loose) if leave_saddles else None
            if lower is None:
                return Solution(path, _projected(problem, path, gradient), iterations, True)
            path, previous = lower, np.inf
            energy, gradient = path_energy(robot, path), path_energy_gradient(robot, path)
    return Solution(path, _projected(problem, path, gradient), iterations, not energy > 0.0)


def _below_saddle(
    problem: PathProblem, path: Array, energy: float, hessian: Blocks, leading: Blocks, loose: Array
) -> Array | None:
    """A path with less energy next to one that is a saddle; None if it is a minimum."""
    if _solve(hessian, np.zeros(loose.shape), loose) is not None:
        return None
    linalg: Any = scipy_module("linalg")
    band = _banded(hessian, loose)
    if not np.isfinite(band).all():
        return None
    _, vectors = linalg.eig_banded(band, lower=True, select="i", select_range=(0, 0))
    x = np.where(loose, vectors[:, 0].reshape(loose.shape), 0.0)
    size = leading.square(x)
    if not (size > 0.0 and hessian.square(x) < -NEGATIVE * size):
        return None
    for kick in KICKS:
        for sign in (1.0, -1.0):
            new, _ = _moved(problem, path, sign * kick * np.sqrt(energy / size) * x)
            if path_energy(problem.robot, new) < energy * (1.0 - ENERGY_ROUNDING):
                return new
    return None


def _relaxed(damping: float, saved: float, foreseen: float) -> float:
    """Damping for the next step: less where the energy saved by the last one was what its quadratic model foresaw."""
    factor = 0.1 if saved > 0.75 * foreseen else 0.5 if saved > 0.25 * foreseen else 1.0
    return factor * damping if factor * damping > 0.1 * LEAST_DAMPING else 0.0


def _held(problem: PathProblem, path: Array, gradient: Array) -> Array:
    """Which numbers (K + 1, nv) are at a limit and pushed against it."""
    q = _bounded(problem, path)
    return ((q <= problem.lower) & (gradient > 0.0)) | ((q >= problem.upper) & (gradient < 0.0))


def _projected(problem: PathProblem, path: Array, gradient: Array) -> Array:
    return np.where(problem.free & ~_held(problem, path, gradient), gradient, 0.0)


def _moved(problem: PathProblem, path: Array, step: Array) -> tuple[Array, Array]:
    """The path after a step (K + 1, nv), cut off at the limits, and the step that was left."""
    q = _bounded(problem, path)
    change = np.clip(step, problem.lower - q, problem.upper - q)
    new = integrate(problem.robot, path, change)
    for low, high, v in _one_number(problem.robot):  # exactly at the limit, where rounding would miss it
        new[:, low:high] = np.clip(new[:, low:high], problem.lower[:, v], problem.upper[:, v])
    return new, change


def _bounded(problem: PathProblem, path: Array) -> Array:
    """The numbers of q that limits apply to, where v has its own (K + 1, nv); zero for other joints."""
    q = np.zeros(problem.free.shape)
    for low, high, v in _one_number(problem.robot):
        q[:, v] = path[:, low:high]
    return q


def _one_number(robot: Robot) -> list[tuple[int, int, slice]]:
    return [(c.q.start, c.q.stop, c.v) for c in robot.structure.coordinates if c.nq == 1]


def _leading(robot: Robot, path: Array) -> Blocks:
    """2/h Σ dΔᵀ M dΔ, the Hessian for a constant M."""
    M = 2.0 * (len(path) - 1) * steps_of(robot, path).M
    diagonal = np.zeros((len(path), robot.nv, robot.nv))
    diagonal[:-1] += M
    diagonal[1:] += M
    return Blocks(diagonal, -M)


def hessian_of(robot: Robot, path: Array, gradient: Array, gradient_of: Callable[[Array], Array]) -> Blocks:
    """Second derivatives along geodesics, ∂_i ∂_j E − Σ Γ^k_ij ∂_k E, by central differences of the gradient.

    ``gradient`` is that by what is free to move: at a minimum the second term is nothing. Away from it, it takes out what is
    due to the coordinates only, which would make the Hessian indefinite and steps short. ``gradient_of`` is the function of
    paths (..., K + 1, nq) that is differentiated.
    """
    count, n = len(path), robot.nv
    diagonal, right, left = np.zeros((count, n, n)), np.zeros((count - 1, n, n)), np.zeros((count - 1, n, n))
    moving = np.zeros((3, count, 1))
    for colour in range(3):
        moving[colour, colour::3] = STEP
    nodes = np.arange(count)
    for i in range(n):  # one direction at a time: derivatives of M fill memory
        u = moving * np.eye(n)[i]
        ends = [gradient_of(integrate(robot, path, sign * u)) for sign in (1.0, -1.0)]
        columns = (ends[0] - ends[1]) / (2.0 * STEP)  # (3, K + 1, nv): of the neighbour of each colour
        diagonal[:, :, i] = columns[nodes % 3, nodes]
        right[:, :, i] = columns[nodes[1:] % 3, nodes[:-1]]
        left[:, :, i] = columns[nodes[:-1] % 3, nodes[1:]]
    Gamma2 = christoffel_symbols_second_kind(robot, path)
    diagonal -= np.einsum("kijl,kl->kij", np.where(np.isfinite(Gamma2), Gamma2, 0.0), gradient)
    # Symmetric but for body velocities, whose derivatives do not commute.
    return Blocks(0.5 * (diagonal + np.swapaxes(diagonal, 1, 2)), 0.5 * (right + np.swapaxes(left, 1, 2)))


def _solve(H: Blocks, force: Array, free: Array) -> Array | None:
    """x (K + 1, nv) with H x = force over the free numbers, zero elsewhere; None if H is not positive definite there."""
    linalg: Any = scipy_module("linalg")
    band = _banded(H, free)
    if not np.isfinite(band).all():
        return None
    try:
        x = linalg.solveh_banded(band, np.where(free, force, 0.0).ravel(), lower=True)
    except np.linalg.LinAlgError:
        return None
    return np.asarray(x).reshape(force.shape)


def _banded(H: Blocks, free: Array) -> Array:
    """The lower half of H over the free numbers (K + 1, nv), as SciPy stores bands; the rest is held by a one."""
    count, n = free.shape
    loose = free.ravel()
    band = np.zeros((2 * n, count * n))  # band[r − c, c] = H[r, c], the lower half
    row, column = np.tril_indices(n)
    for k in range(count):
        band[row - column, k * n + column] = H.diagonal[k, row, column]
    row, column = np.indices((n, n)).reshape(2, -1)
    for k in range(count - 1):
        band[n + row - column, k * n + column] = H.right[k, column, row]
    for offset in range(2 * n):
        band[offset, : count * n - offset] *= loose[offset:] & loose[: count * n - offset]
    band[0, ~loose] = 1.0
    return band
