"""Which parameters stand for all: the columns of the regressor that are kept, and how the others join them.

If the rows of A span all that joint forces depend on, Y = C A, then for columns K with A_K invertible Y = Y_K A_K⁻¹ A: the
parameters β = A_K⁻¹ A π have the regressor Y_K, and contain the kept parameters with coefficient 1.

Kept are the first independent columns from the base outwards, in each link moments of inertia before first moments before mass:
what a joint cannot tell from a part of the link before it joins that link, as in the textbooks [GK90; Gau91]. Of a link behind
a joint about its z axis, Iyy, m c_z and m go.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.identification.row_spaces import RowSpace, scales

IN_LINK = (4, 5, 6, 7, 8, 9, 1, 2, 3, 0)
CLEAR = (1e-2, 1e-4, 1e-6, 1e-9)  # how far from the span of those before: clearly independent columns go first
SMALL = 0.1  # of orthonormal rows, shorter columns must stand out as if they were so long: they may be almost none
ROUNDING = 1e-11  # of a coefficient in the robot's units: what should have been zero


class Regrouping(NamedTuple):
    """``columns`` (count,) that are kept, in order, and ``matrix`` (count, 10 n) with β = matrix π, in SI units."""

    columns: Array
    matrix: Array


def regrouped(space: RowSpace) -> Regrouping:
    """The kept columns of a row space, and the base parameters that go with them."""
    A = space.rows
    n = A.shape[1] // 10
    columns = np.sort(_independent(A, [10 * link + k for link in range(n) for k in IN_LINK]))
    matrix = np.linalg.solve(A[:, columns], A)
    matrix = np.where(np.abs(matrix) > ROUNDING, matrix, 0.0)
    matrix[:, columns] = np.eye(len(columns))
    per = scales(n, space.unit)
    return Regrouping(columns, matrix * per / per[columns][:, None])


def _independent(A: Array, order: list[int]) -> Array:
    """Columns of A (r, k), r of them and independent: the first in this order that are so clearly."""
    basis = np.zeros((0, len(A)))
    kept: list[int] = []
    for clear in CLEAR:
        for j in order:
            size = float(np.linalg.norm(A[:, j]))
            if len(kept) == len(A) or j in kept or size < CLEAR[-1]:
                continue
            left = A[:, j] - basis.T @ (basis @ A[:, j])
            left = left - basis.T @ (basis @ left)
            if np.linalg.norm(left) > clear * max(size, SMALL):
                kept.append(j)
                basis = np.concatenate([basis, left[None] / np.linalg.norm(left)])
    return np.array(kept, dtype=int)
