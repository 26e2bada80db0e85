"""Second variation of the energy of a path, and of the action of a motion: does any path near it have less?

The integral is the sum of `path_energy`, weighed by c and lessened by a potential, with Δ_k and the middle of step k as there::

    S = Σ_k c_k Δ_kᵀ M_k Δ_k / h − 2 h U_k

    energy of a geodesic                             c = 1              U = 0
    Hamilton's action 2 ∫ (T − V) dt                 c = 1              U = V
    energy in Jacobi's metric                        c = 2 (E − V)      U = 0

Its Hessian H is measured against that of a flat space, P = 2/h Σ |y_{k+1} − y_k|², where y_k are the components of a variation
in axes
E_k that are carried along parallel and stay orthonormal for c M: H x = λ P x. The number of negative λ is the index of the motion
[Mil63, §§14, 15], no coordinates matter to them, and on a surface of constant curvature K those of a geodesic of length L are
1 − K L²/(kπ)², k = 1, 2, …, beside ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.functions.public.dynamics import gravity_forces, mass_matrix, potential_energy, spring_forces
from torsor.functions.public.geometry import covariant_derivative, mass_matrix_derivative
from torsor.model import Robot
from torsor.motion._path_energy import Blocks, ends_of, hessian_of, steps_of
from torsor.motion.integration import scipy_module


class Integral(NamedTuple):
    """What is varied, over unit time: with the energy E of Jacobi's metric, or the duration of Hamilton's action."""

    energy: float | None = None
    duration: float | None = None


def eigenvalues(robot: Robot, path: Array, free: Array, integral: Integral) -> Array:
    """All λ (m,), growing, of variations of a stationary path (K + 1, nq) by what is free to move (K + 1, nv)."""
    loose = free.ravel()
    if not loose.any():
        return np.ones(1)
    linalg: Any = scipy_module("linalg")
    H = _dense(hessian_of(robot, path, np.zeros(free.shape), gradient_of(robot, integral)))
    E = _parallel_axes(robot, path, integral)
    inverses, h = np.linalg.inv(E), 1.0 / (len(path) - 1)
    own = 2.0 / h * np.swapaxes(inverses, 1, 2) @ inverses
    own[1:-1] *= 2.0
    P = _dense(Blocks(own, -2.0 / h * np.swapaxes(inverses[:-1], 1, 2) @ inverses[1:]))
    some = np.ix_(loose, loose)
    return np.asarray(linalg.eigh(H[some], P[some], eigvals_only=True))


def _parallel_axes(robot: Robot, path: Array, integral: Integral) -> Array:
    """Axes E (K + 1, nv, nv), as columns, with E_kᵀ c M E_k = 1, carried by (1 + ½N) E_{k+1} = (1 − ½N) E_k, N w = Γ(Δ, w).

    The connection is that of c M, with c = e^2φ: Γ̂(Δ, w) = Γ(Δ, w) + dφ(Δ) w + dφ(w) Δ − ⟨Δ, w⟩ grad φ [Bes87, 1.159].
    """
    delta, middle, M = steps_of(robot, path)
    one = np.eye(robot.nv)
    N = np.swapaxes(covariant_derivative(robot, middle[:, None], delta[:, None], one, 0.0 * one), 1, 2)
    metric = mass_matrix(robot, path)
    if integral.energy is not None:
        slope = -_slope(robot, middle) / (2.0 * (integral.energy - potential_energy(robot, middle)))[:, None]  # dφ
        grad = np.linalg.solve(M, slope[..., None])[..., 0]
        lowered = (M @ delta[..., None])[..., 0]
        along = np.sum(slope * delta, axis=-1)[:, None, None]
        N = N + along * one + delta[:, :, None] * slope[:, None] - grad[:, :, None] * lowered[:, None]
        metric = 2.0 * (integral.energy - potential_energy(robot, path))[:, None, None] * metric
    steps = np.linalg.solve(one + 0.5 * N, one - 0.5 * N)
    L = np.linalg.cholesky(metric)
    axes = [np.linalg.inv(L[0]).T]
    for step, L_next in zip(steps, L[1:], strict=True):
        u, _, vh = np.linalg.svd(L_next.T @ step @ axes[-1])  # the nearest orthonormal axes
        axes.append(np.linalg.solve(L_next.T, u @ vh))
    return np.array(axes)


def gradient_of(robot: Robot, integral: Integral) -> Callable[[Array], Array]:
    """∂S/∂q_k (..., K + 1, nv) as a function of the path, exact."""

    def gradient(path: Array) -> Array:
        h = 1.0 / (path.shape[-2] - 1)
        delta, middle, M = steps_of(robot, path)
        moved = (M @ delta[..., None])[..., 0]
        g = 2.0 * moved / h
        f = np.einsum("...ijk,...i,...j->...k", mass_matrix_derivative(robot, middle), delta, delta) / h
        if integral.energy is not None:
            c = 2.0 * (integral.energy - potential_energy(robot, middle))[..., None]
            f = c * f - 2.0 * _slope(robot, middle) * np.sum(delta * moved, axis=-1, keepdims=True) / h
            g = c * g
        if integral.duration is not None:
            f = f - 2.0 * h * integral.duration**2 * _slope(robot, middle)
        at_start, at_end = ends_of(robot, delta, f, g)
        none = np.zeros_like(at_start[..., :1, :])
        return np.concatenate([at_start, none], axis=-2) + np.concatenate([none, at_end], axis=-2)

    return gradient


def _slope(robot: Robot, q: Array) -> Array:
    return gravity_forces(robot, q) + spring_forces(robot, q)


def _dense(blocks: Blocks) -> Array:
    count, n = blocks.diagonal.shape[:2]
    A = np.zeros((count, n, count, n))
    k = np.arange(count)
    A[k, :, k] = blocks.diagonal
    A[k[:-1], :, k[1:]] = blocks.right
    A[k[1:], :, k[:-1]] = np.swapaxes(blocks.right, 1, 2)
    return A.reshape(count * n, count * n)
