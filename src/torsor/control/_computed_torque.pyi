# Written by tools/write_stubs.py.
# An array of JAX can be given where numbers are expected, too: the first of two overloads is meant for it.
# mypy: disable-error-code="overload-overlap"

from typing import overload

from torsor.arrays.typing import JaxNumbers, Numbers, Result
from torsor.model.robot import Robot

@overload
def computed_torque(
    robot: Robot, q: JaxNumbers, v: Numbers, q_ref: Numbers, v_ref: Numbers, a_ref: Numbers, kp: Numbers, kd: Numbers
) -> JaxNumbers: ...
@overload
def computed_torque(
    robot: Robot, q: Numbers, v: Numbers, q_ref: Numbers, v_ref: Numbers, a_ref: Numbers, kp: Numbers, kd: Numbers
) -> Result: ...
