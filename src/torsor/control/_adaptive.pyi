# Written by tools/write_stubs.py.
# Arrays of JAX, torch, dask and xarray are numbers, too, and give their own: the first of two overloads is meant for them.
# mypy: disable-error-code="overload-overlap"

from typing import NamedTuple

from torsor._reports import in_one_line
from torsor.arrays.typing import InertialVector, JointVector, Numbers
from torsor.model.robot import Robot

@in_one_line
class AdaptiveControl(NamedTuple):
    tau: JointVector
    parameter_rate: InertialVector

def adaptive(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    q_ref: Numbers,
    v_ref: Numbers,
    a_ref: Numbers,
    parameters: Numbers,
    rate: Numbers,
    kd: Numbers,
    adaptation: Numbers,
) -> AdaptiveControl: ...
