"""Links that have no inertia in some direction: legal, but the mass matrix of their robot can become singular."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from torsor.lie import inertia_matrix
from torsor.model.robot import Robot

ROUNDING = 64 * float(np.finfo(float).eps)


def has_degenerate_links(robot: Robot) -> bool:
    """Whether some link has no inertia in some direction (massless, point mass, rod).

    With every link's 6×6 inertia positive definite, the mass matrix is positive definite at every configuration. Not
    known, hence False, while the inertias are being traced.
    """
    return robot.parameters.is_concrete and _has_degenerate_links(robot)


def may_be_singular(robot: Robot) -> bool:
    """Whether the mass matrix could be singular somewhere: True unless every link is known to have inertia all ways."""
    if robot.structure.known_regular:
        return False
    return not robot.parameters.is_concrete or _has_degenerate_links(robot)


@lru_cache(maxsize=1024)
def _has_degenerate_links(robot: Robot) -> bool:
    moments = np.linalg.eigvalsh(inertia_matrix(robot.parameters.inertias))
    return bool(np.any(moments[:, 0] <= ROUNDING * moments[:, -1]))
