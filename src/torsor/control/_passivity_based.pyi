# Written by tools/write_stubs.py.
# Arrays of JAX, torch, dask and xarray are numbers, too, and give their own: the first of two overloads is meant for them.
# mypy: disable-error-code="overload-overlap"

from typing import overload

from torsor.arrays.typing import Numbers, Result, TheirNumbers
from torsor.model.robot import Robot

@overload
def passivity_based(
    robot: Robot,
    q: TheirNumbers,
    v: Numbers,
    q_ref: Numbers,
    v_ref: Numbers,
    a_ref: Numbers,
    rate: Numbers,
    kd: Numbers,
) -> TheirNumbers: ...
@overload
def passivity_based(
    robot: Robot, q: Numbers, v: Numbers, q_ref: Numbers, v_ref: Numbers, a_ref: Numbers, rate: Numbers, kd: Numbers
) -> Result: ...
