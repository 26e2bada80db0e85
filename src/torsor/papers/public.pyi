# Written by tools/write_stubs.py.
# Arrays of JAX, torch, dask and xarray are numbers, too, and give their own: the first of two overloads is meant for them.
# mypy: disable-error-code="overload-overlap"

from collections.abc import Mapping
from typing import overload

from torsor.arrays.typing import Numbers, Result, TheirNumbers
from torsor.functions.describe import Algorithm
from torsor.model import Robot
from torsor.papers.accelerations import AltafiniEquationReport

def _only_factorised(robot: Robot) -> list[Algorithm]: ...
def _only_articulated(robot: Robot) -> list[Algorithm]: ...
@overload
def factorised_acceleration(
    robot: Robot,
    q: TheirNumbers,
    v: Numbers,
    tau: Numbers,
    *,
    wrenches: Mapping[str, Numbers] | None = ...,
    base_motion: tuple[Numbers, Numbers] | None = ...,
) -> TheirNumbers: ...
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
    q: TheirNumbers,
    v: Numbers,
    tau: Numbers,
    *,
    wrenches: Mapping[str, Numbers] | None = ...,
    base_motion: tuple[Numbers, Numbers] | None = ...,
) -> TheirNumbers: ...
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
def christoffel_symbols_by_brackets(robot: Robot, q: TheirNumbers) -> TheirNumbers: ...
@overload
def christoffel_symbols_by_brackets(robot: Robot, q: Numbers, *, out: Result | None = ...) -> Result: ...
@overload
def altafini_workspace_acceleration(
    robot: Robot, q: TheirNumbers, v: Numbers, frame: str, tau: Numbers
) -> TheirNumbers: ...
@overload
def altafini_workspace_acceleration(
    robot: Robot, q: Numbers, v: Numbers, frame: str, tau: Numbers, *, out: Result | None = ...
) -> Result: ...
def altafini_equation_report(
    robot: Robot, q: Numbers, frame: str, *, tolerance: float = ...
) -> AltafiniEquationReport: ...
