"""Is a task regular at a configuration: M and J far from singular?"""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array
from torsor.functions.public.dynamics import mass_matrix
from torsor.model import Robot

LOST = 1e-7  # ratio of singular values below which a direction of the task counts as lost


def is_regular(robot: Robot, q: Array, J: Array, limit: float = 1.0 / LOST) -> Array:
    """Whether M and J N⁻¹ (NᵀN = M) are far from singular at q (..., nq), with J (..., m, nv) there: (...)."""
    M = mass_matrix(robot, q)
    with np.errstate(all="ignore"):
        values, vectors = np.linalg.eigh(np.where(np.isfinite(M), M, 0.0))
        good = values[..., 0] > values[..., -1] / limit
        roots = np.sqrt(np.where(good[..., None], values, 1.0))
        sigma = np.linalg.svd((J @ vectors) / roots[..., None, :], compute_uv=False)
    enough = J.shape[-2] <= J.shape[-1]
    return np.asarray(good & (sigma[..., -1] * limit > sigma[..., 0]) & enough)
