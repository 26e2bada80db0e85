# Written by tools/write_stubs.py.
# An array of JAX can be given where numbers are expected, too: the first of two overloads is meant for it.
# mypy: disable-error-code="overload-overlap"

from collections.abc import Mapping
from typing import overload

from torsor.arrays.typing import JaxNumbers, Numbers, Result
from torsor.functions.describe import Algorithm
from torsor.model import Robot
from torsor.papers.accelerations import AltafiniEquationReport

def _only_factorised(robot: Robot) -> list[Algorithm]: ...
def _only_articulated(robot: Robot) -> list[Algorithm]: ...
@overload
def factorised_acceleration(
    robot: Robot,
    q: JaxNumbers,
    v: Numbers,
    tau: Numbers,
    *,
    wrenches: Mapping[str, Numbers] | None = ...,
    base_motion: tuple[Numbers, Numbers] | None = ...,
) -> JaxNumbers: ...
@overload
def factorised_acceleration(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    tau: Numbers,
    *,
    wrenches: Mapping[str, Numbers] | None = ...,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: Result | None = ...,
) -> Result: ...
@overload
def articulated_body_acceleration(
    robot: Robot,
    q: JaxNumbers,
    v: Numbers,
    tau: Numbers,
    *,
    wrenches: Mapping[str, Numbers] | None = ...,
    base_motion: tuple[Numbers, Numbers] | None = ...,
) -> JaxNumbers: ...
@overload
def articulated_body_acceleration(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    tau: Numbers,
    *,
    wrenches: Mapping[str, Numbers] | None = ...,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: Result | None = ...,
) -> Result: ...
@overload
def christoffel_symbols_by_brackets(robot: Robot, q: JaxNumbers) -> JaxNumbers: ...
@overload
def christoffel_symbols_by_brackets(robot: Robot, q: Numbers, *, out: Result | None = ...) -> Result: ...
@overload
def altafini_workspace_acceleration(
    robot: Robot, q: JaxNumbers, v: Numbers, frame: str, tau: Numbers
) -> JaxNumbers: ...
@overload
def altafini_workspace_acceleration(
    robot: Robot, q: Numbers, v: Numbers, frame: str, tau: Numbers, *, out: Result | None = ...
) -> Result: ...
def altafini_equation_report(
    robot: Robot, q: Numbers, frame: str, *, tolerance: float = ...
) -> AltafiniEquationReport: ...
