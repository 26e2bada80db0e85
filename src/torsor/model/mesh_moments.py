"""Volume and moments of the solid within a closed surface of triangles, as a sum over tetrahedra [Ton05].

A triangle (a, b, c) and the origin make a tetrahedron with six times the signed volume det = a · (b × c), and::

    ∫ dV = det/6,   ∫ r dV = det/24 (a + b + c),   ∫ r rᵀ dV = det/120 ((a + b + c)(a + b + c)ᵀ + a aᵀ + b bᵀ + c cᵀ)
"""

from __future__ import annotations

import importlib.util
import os
from typing import Any

import numpy as np

from torsor.arrays.typing import Array, Matrix3, Vector3
from torsor.errors import ArgumentTypeError, MissingDependency, ModelError


def moments_of_mesh(mesh: Any, scale: float | Vector3) -> tuple[float, Vector3, Matrix3]:
    """∫ dV (m³), ∫ r dV (3,) and ∫ r rᵀ dV (3, 3) of what a mesh encloses, about its origin."""
    corners, triangles = _arrays(mesh)
    factor = np.asarray(scale, float)
    if factor.shape not in ((), (3,)) or not np.all(np.isfinite(factor)) or np.any(factor == 0.0):
        raise ModelError(f"`scale` must be one or three numbers that are not zero, got {scale!r:.60}.")
    corners = corners * factor
    _refuse_open(triangles)
    middle = corners[triangles].mean(axis=(0, 1)) if len(triangles) else np.zeros(3)
    a, b, c = (corners[triangles[:, k]] - middle for k in range(3))  # about its middle, so that little cancels
    det = np.einsum("ki,ki->k", a, np.cross(b, c))
    total = a + b + c
    volume = det.sum() / 6.0
    first = np.einsum("k,ki->i", det, total) / 24.0
    second = sum(np.einsum("k,ki,kj->ij", det, x, x) for x in (total, a, b, c)) / 120.0
    if volume < 0.0:  # the triangles are seen from inside, or the scale mirrors them
        volume, first, second = -volume, -first, -second
    size = float(np.abs(np.concatenate([a, b, c])).max(initial=0.0))
    if not volume > 1e-12 * size**3:
        raise ModelError(
            f"the mesh encloses {volume:.3g} m³, which is nothing: it is flat, or its triangles face either way."
        )
    across = np.outer(middle, first)
    return float(volume), first + volume * middle, second + across + across.T + volume * np.outer(middle, middle)


def _arrays(mesh: Any) -> tuple[Array, Array]:
    """Corners (k, 3) and triangles (m, 3) of whatever was given."""
    if isinstance(mesh, (str, os.PathLike)):
        if importlib.util.find_spec("trimesh") is None:
            raise MissingDependency("reading a mesh takes trimesh: pip install 'torsor[view]'.")
        import trimesh

        mesh = trimesh.load_mesh(os.fspath(mesh))
    if hasattr(mesh, "vertices") and hasattr(mesh, "faces"):
        mesh = (mesh.vertices, mesh.faces)
    if not isinstance(mesh, (tuple, list)) or len(mesh) != 2:
        raise ArgumentTypeError(
            "`mesh` must be a path, a trimesh.Trimesh, or a pair of corners (k, 3) and triangles (m, 3), got "
            f"{type(mesh).__name__}."
        )
    corners, triangles = np.asarray(mesh[0], float), np.asarray(mesh[1])
    if corners.ndim != 2 or corners.shape[1] != 3 or triangles.ndim != 2 or triangles.shape[1] != 3:
        raise ModelError(f"a mesh has corners (k, 3) and triangles (m, 3), got {corners.shape} and {triangles.shape}.")
    if not np.all(np.isfinite(corners)):
        raise ModelError("the corners of a mesh must be finite (m).")
    whole = np.issubdtype(triangles.dtype, np.integer)
    if not whole or triangles.min(initial=0) < 0 or triangles.max(initial=-1) >= len(corners):
        raise ModelError(f"the triangles of a mesh must be indices of its {len(corners)} corners.")
    same, place = np.unique(corners, axis=0, return_inverse=True)  # files like STL repeat the corners of each triangle
    return same, place.reshape(-1)[triangles]


def _refuse_open(triangles: Array) -> None:
    """Raise unless every edge is passed as often in one direction as in the other: the surface is closed, seen from one side."""
    edges = np.concatenate([triangles[:, [i, j]] for i, j in ((0, 1), (1, 2), (2, 0))])
    edges = edges[edges[:, 0] != edges[:, 1]]
    there, many = np.unique(edges, axis=0, return_counts=True)
    back, as_many = np.unique(edges[:, ::-1], axis=0, return_counts=True)
    if len(there) and np.array_equal(there, back) and np.array_equal(many, as_many):
        return
    alone = {tuple(e) for e in there.tolist()} ^ {tuple(e) for e in back.tolist()}
    raise ModelError(
        "the mesh is not a closed surface of triangles that all face outwards: "
        f"{max(1, len(alone) // 2)} of its edges do not have one triangle on each side that passes them the other way. Mend it, "
        "say with trimesh.repair, or give the inertia of a box or cylinder like it."
    )
