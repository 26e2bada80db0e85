"""The variation of the mass matrix as a linear function of the inertia that is added to links.

M and its derivatives are sums over links of products that hold the link's inertia once [PBP95, (40), (53)]: row ↦ ∂_k M_ij is
linear in the ten numbers (m, m c, I) of each link. Its matrix has a row for each entry at each configuration, thousands of
them, of which only lengths and products matter: the triangular factor of its QR decomposition has them all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.geometry.freedoms import first_derivative_places
from torsor.geometry.inertia_metric import InertiaMetric, inertia_metric
from torsor.geometry.mass_matrix_derivatives import derivative_of
from torsor.model import Robot

AT_ONCE = 4_000_000  # numbers: how many configurations are evaluated together


class VariationMap(NamedTuple):
    """Residuals ``offset`` (r,) + ``slopes`` (r, L, 10) · rows (L, 10) added to L links; |residual|² = 1 with nothing added."""

    offset: Array
    slopes: Array


def variation_map(robot: Robot, q: ConfigurationVector, diagonal: Array, links: list[int]) -> VariationMap:
    """The map at ``q`` (c, nq), for derivatives over √(D_i D_j), D the ``diagonal`` (nv,), positive."""
    L = len(links)
    rows = np.zeros((10 * L + 1, robot.n, 10))
    for l, link in enumerate(links):
        rows[10 * l : 10 * l + 10, link] = np.eye(10)
    rows[-1] = robot.parameters.inertias
    # Inertias with batch axes, (n, 10 L + 1, 1, 10): one evaluation for all of them at all configurations.
    varied = Robot(robot.structure, robot.parameters._replace(inertias=np.moveaxis(rows, 1, 0)[:, :, None]))
    entry = k, i, j = _entries(robot)
    scale = np.sqrt(
        np.where(i == j, 1.0, 2.0) / (diagonal[i] * diagonal[j])
    )  # entries above the diagonal stand for two
    triangle: Array = np.zeros((0, 10 * L + 1))
    step = max(1, AT_ONCE // (len(rows) * len(k)))
    for start in range(0, len(q), step):
        some = q[start : start + step]
        dM = _upper(inertia_metric(varied, some), entry)
        entries = np.broadcast_to(scale * dM, (len(rows), len(some), len(scale))).reshape(len(rows), -1)
        entries = entries[:, np.any(entries != 0.0, axis=0)]  # joints on different branches never meet
        triangle = np.linalg.qr(np.concatenate([triangle, entries.T]), mode="r")
    size = np.linalg.norm(triangle[:, -1])
    return VariationMap(triangle[:, -1] / size, (triangle[:, :-1] / size).reshape(-1, L, 10))


def _entries(robot: Robot) -> tuple[Array, Array, Array]:
    """The k, i ≤ j of all ∂_k M_ij that can differ from zero: of a tree, a small part."""
    n = robot.nv
    if robot.structure.has_couplings:
        some = np.ones((n, n, n), bool)
    else:
        some = first_derivative_places(robot.structure).index > 0
    k, i, j = np.nonzero(some & np.triu(np.ones((n, n), bool)))
    return k, i, j


def _upper(metric: InertiaMetric, entry: tuple[Array, Array, Array]) -> Array:
    """∂_k M_ij (..., K) at these k, i, j (K,), as in `derivative_of`; without filling the whole tensor where it can be spared."""
    structure = metric.robot.structure
    if structure.has_couplings:
        return derivative_of(metric)[(..., *entry)]
    places, number = first_derivative_places(structure), metric.pairs.number
    a, b, c = places.sorts[0]
    inner = np.sum(metric.J[..., a, :] * metric.rate_momenta()[..., number[b, c], :], axis=-1)
    a, b, c = places.sorts[1]
    outer = np.sum(metric.J[..., a, :] * metric.turned_momenta()[..., number[b, c], :], axis=-1)
    shape = np.broadcast_shapes(inner.shape[:-1], outer.shape[:-1])
    values = [np.broadcast_to(x, (*shape, x.shape[-1])) for x in (inner, outer)]
    return np.concatenate(values, axis=-1)[..., places.index[entry] - 1]


def point_row(p: Array) -> Array:
    """The ten numbers (L, 10) of a unit mass at ``p`` (L, 3), m: 1, p, |p|² 1 − p pᵀ [Sil81, (2.9)]."""
    x, y, z = p.T
    return np.stack(
        [np.ones_like(x), x, y, z, y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y], axis=-1
    )


def point_row_derivatives(p: Array) -> Array:
    """∂ of `point_row` by x, y, z (L, 10, 3)."""
    x, y, z = p.T
    o, e = np.zeros_like(x), np.ones_like(x)
    by_x = [o, e, o, o, o, -y, -z, 2 * x, o, 2 * x]
    by_y = [o, o, e, o, 2 * y, -x, o, o, -z, 2 * y]
    by_z = [o, o, o, e, 2 * z, o, -x, 2 * z, -y, o]
    return np.stack([np.stack(column, axis=-1) for column in (by_x, by_y, by_z)], axis=-1)
