"""What joint forces can depend on, from the numerical rank of a regressor stacked over random states [Gau91]."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torsor.arrays.typing import Array
from torsor.identification.structural_base import RowSpace, length_unit, scales
from torsor.identification.subspaces import Gap
from torsor.mechanics.regressors.torque_regressors import torque_regressor
from torsor.model import Robot, random_state
from torsor.model.structure import Limits

LEAST = 64  # states: more than any one joint force can need for the parameters of its own link
ROWS_PER_COLUMN = 3
AT_ONCE = 2_000_000  # numbers of a regressor that are held together
SHORT = 0.3  # of the longest column: shorter ones are weighted as if they were so long


def numerical_row_space(robot: Robot, tolerance: float, seed: int) -> RowSpace:
    """The row space of the regressor at enough random states: right singular vectors with values above ``tolerance``.

    Columns are made about equally long, so that light and heavy, long and short count alike; but a column that is nearly
    zero stays so. Joint limits are not heeded: the regressor is an analytic function, and what it depends on within the
    limits it depends on everywhere.
    """
    unit = length_unit(robot)
    triangle = stacked_regressor(robot, seed) / scales(robot.n, unit)
    lengths = np.linalg.norm(triangle, axis=0)
    lengths = np.maximum(lengths, SHORT * lengths.max())
    _, sizes, directions = np.linalg.svd(triangle / lengths, full_matrices=False)
    sizes = sizes / sizes[0]
    rank = int(np.sum(sizes > tolerance))
    rows = directions[:rank] * lengths
    dropped = float(sizes[rank]) if rank < len(sizes) else 0.0
    return RowSpace(np.linalg.qr(rows.T)[0].T, unit, Gap(float(sizes[rank - 1]), dropped))


def stacked_regressor(robot: Robot, seed: int) -> Array:
    """The triangular factor (≤ 10 n, 10 n) of the regressor at random states, one below the other."""
    s, columns = robot.structure, robot.n_inertial_parameters
    free = np.full(robot.nq, np.inf)
    no_limits = Limits(tuple(-free), tuple(free), s.limits.velocity, s.limits.effort)
    states = max(LEAST, -(-ROWS_PER_COLUMN * columns // robot.nv))
    unlimited = Robot(replace(s, limits=no_limits), robot.parameters)
    q, v, a = random_state(unlimited, seed=seed, batch=(states,))
    triangle: Array = np.zeros((0, columns))
    step = max(1, AT_ONCE // (columns * robot.nv))
    for some in range(0, states, step):
        part = slice(some, some + step)
        Y = np.broadcast_to(
            torque_regressor(robot, q[part], v[part], a[part]), (len(q[part]), robot.nv, columns)
        ).reshape(-1, columns)
        triangle = np.linalg.qr(np.concatenate([triangle, Y]), mode="r")
    return triangle
