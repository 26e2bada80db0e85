"""The regressor of base parameters: some columns of the torque regressor, and no work for the others."""

from __future__ import annotations

from typing import Annotated

from torsor.arrays import constant, take
from torsor.arrays.typing import Array, ConfigurationVector, JointVector
from torsor.functions.dispatch import public
from torsor.mechanics.regressors.torque_regressors import torque_regressor
from torsor.model import Robot

Columns = Annotated[Array, "... nv count"]


def regressor(robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector, columns: str) -> Columns:
    """Columns of `torsor.identification.torque_regressor`, (..., nv, count), N·m or N per kg, kg·m and kg·m².

    ``columns`` are their numbers as text, "9 11 12": what a kernel is made for is known by names. The others are not computed.
    """
    return take(torque_regressor(robot, q, v, a), constant([int(k) for k in columns.split()]))


reduced_regressor = public(regressor, "Y", registered=False)
