"""Mass, first and second moments of a density that depends on the place, by Gauss points in boxes that are cut where needed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torsor.arrays.typing import Array, Matrix3, Vector3
from torsor.errors import ArgumentError

POINTS = 5  # in each direction of a box: exact for polynomials of degree 9, the density times two coordinates
MOST = 300_000  # boxes; each is POINTS³ calls
AT_ONCE = 4096  # boxes
_UPPER = np.triu_indices(3)
_CORNERS = np.array(np.meshgrid((0.0, 0.5), (0.0, 0.5), (0.0, 0.5), indexing="ij")).reshape(3, 8).T


def moments_of_density(
    density: Callable[..., Array], lower: Vector3, upper: Vector3, rtol: float
) -> tuple[float, Vector3, Matrix3]:
    """∫ ρ dV, ∫ ρ r dV (3,) and ∫ ρ r rᵀ dV (3, 3) over a box.

    A box is cut into eight as long as these give something else than it does, by more than its share of the tolerance.
    """
    low, high = _corner("lower", lower), _corner("upper", upper)
    if not np.all(low < high):
        raise ArgumentError(
            f"`lower` must be less than `upper` in all three, got {low.tolist()} and {high.tolist()} m."
        )
    if not 0.0 < rtol < 1.0:
        raise ArgumentError(f"`rtol` must be between 0 and 1, got {rtol!r:.40}.")
    size = high - low
    starts, edge = low[None], size
    values = _integrals(density, starts, edge, low, size)
    found, total, boxes = np.zeros(10), values[0], 1
    while len(starts):
        edge = 0.5 * edge
        parts = (starts[:, None] + 2.0 * edge * _CORNERS).reshape(-1, 3)
        finer = _integrals(density, parts, edge, low, size)
        sums = finer.reshape(-1, 8, 10).sum(axis=1)
        boxes += len(parts)
        apart = np.abs(sums - values).max(axis=1)
        total = found + sums.sum(axis=0)
        share = np.prod(edge) * 8.0 / np.prod(size)
        # Errors of boxes add up like the square root of their number where they are of either sign, and linearly at worst
        good = (apart <= rtol * abs(total[0]) * share) | (apart.sum() <= rtol * abs(total[0]))
        found = found + sums[good].sum(axis=0)
        starts = parts.reshape(-1, 8, 3)[~good].reshape(-1, 3)
        values = finer.reshape(-1, 8, 10)[~good].reshape(-1, 10)
        if boxes + 8 * len(starts) > MOST and len(starts):
            raise ArgumentError(
                f"the integrals of the density are known to {apart.sum() / abs(total[0]):.1e} after {boxes} boxes, and rtol is "
                f"{rtol:g}. Pass a larger rtol=, or add up bodies whose densities do not jump within their boxes."
            )
    if not total[0] > 0.0:
        raise ArgumentError(f"`density` has a mass of {total[0]:g} kg within the box; it must be positive (kg/m³).")
    return _about_origin(total, low, size)


def _corner(name: str, value: Vector3) -> Vector3:
    corner = np.asarray(value, float)
    if corner.shape != (3,) or not np.all(np.isfinite(corner)):
        raise ArgumentError(f"`{name}` must be a corner (3,) of a box, m, got {value!r:.60}.")
    return corner


def _integrals(density: Callable[..., Array], starts: Array, edge: Vector3, low: Vector3, size: Vector3) -> Array:
    """Moments (m, 10) of boxes: of ρ, ρ u and ρ u uᵀ, with u = (r − low) / size, which is between 0 and 1."""
    nodes, weights = np.polynomial.legendre.leggauss(POINTS)
    x, w = 0.5 * (nodes + 1.0), 0.5 * weights
    places = np.array(np.meshgrid(x, x, x, indexing="ij")).reshape(3, -1).T
    weight = np.einsum("i,j,k->ijk", w, w, w).ravel() * np.prod(edge)
    rows = []
    for k in range(0, len(starts), AT_ONCE):
        r = starts[k : k + AT_ONCE, None] + edge * places
        flat = r.reshape(-1, 3)
        rho = np.asarray(density(flat[:, 0], flat[:, 1], flat[:, 2]), float)
        if rho.shape not in ((), (len(flat),)):
            raise ArgumentError(
                f"`density` must give one number for each point, ({len(flat)},), got shape {rho.shape}."
            )
        if not np.all(np.isfinite(rho)) or np.any(rho < 0.0):
            raise ArgumentError("`density` must be finite and not negative (kg/m³) everywhere in the box.")
        dm = np.broadcast_to(rho, (len(flat),)).reshape(r.shape[:2]) * weight
        u = (r - low) / size
        products = (u[..., :, None] * u[..., None, :])[..., _UPPER[0], _UPPER[1]]
        ones = np.ones((*u.shape[:2], 1))
        rows.append(np.einsum("mp,mpk->mk", dm, np.concatenate([ones, u, products], axis=-1)))
    return np.concatenate(rows)


def _about_origin(total: Array, low: Vector3, size: Vector3) -> tuple[float, Vector3, Matrix3]:
    """From moments of u to moments of r = low + size u."""
    mass, first, second = float(total[0]), total[1:4], np.zeros((3, 3))
    second[_UPPER] = total[4:]
    second = second + np.triu(second, 1).T
    across = np.outer(low, size * first)
    return (
        mass,
        mass * low + size * first,
        mass * np.outer(low, low) + across + across.T + np.outer(size, size) * second,
    )
