"""What motions refuse at their border, in words: things that are no robot, no number, no count, or not known yet."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import ModelError, ShapeError, TorsorError
from torsor.model import Robot, plain_numbers


def refuse_strangers(who: str, robot: Any, *values: Any) -> None:
    """Raise unless the first argument is a robot of plain numbers, and none of the others is traced."""
    inside = "torsor.geometry.geodesic_acceleration, torsor.geometry.covariant_derivative and torsor.motion.path_energy run inside."
    plain_numbers.refuse_strangers(who, robot, *values, instead=inside)


def refuse_bad_numbers(who: str, **numbers: float) -> None:
    """Raise unless all are numbers, finite and positive."""
    for name, value in numbers.items():
        if not isinstance(value, Real) and not (isinstance(value, np.ndarray) and value.shape == ()):
            raise TorsorError(f"{who}: `{name}` must be one number, finite and positive, got {value!r:.60}.")
        if not (np.isfinite(value) and value > 0):
            raise TorsorError(f"{who}: `{name}` must be finite and positive, got {value}.")


def refuse_bad_count(who: str, name: str, value: int, least: int, meaning: str) -> None:
    """Raise unless ``value`` is a whole number of ``least`` or more."""
    if not isinstance(value, Integral):
        raise TorsorError(f"{who}: `{name}` must be a whole number, got {value!r:.60}.")
    if value < least:
        raise TorsorError(f"{who}: {meaning}, got {value}.")


def refuse_unknown(who: str, values: Array, what: str = "configurations") -> None:
    """Raise if there is NaN or infinity."""
    if not np.all(np.isfinite(values)):
        raise TorsorError(f"{who}: {what} must be finite numbers, got NaN or infinity.")


def refuse_zero_quaternions(who: str, robot: Robot, q: Array) -> None:
    """Raise if a quaternion in q (..., nq) has length zero: it is no rotation."""
    s = robot.structure
    for i, kind in enumerate(s.kinds):
        if kind in ("spherical", "free"):
            last = s.coordinate_of(i).q.stop
            if np.any(np.all(q[..., last - 4 : last] == 0.0, axis=-1)):
                raise ModelError(
                    f"{who}: the quaternion of joint {s.joints[i]!r} has length zero, which is no rotation; (0, 0, 0, 1) is no "
                    "turn."
                )


def numbers_of(who: str, name: str, value: Any, trailing: tuple[int, ...]) -> Array:
    """``value`` as an array (..., *trailing), finite."""
    shape = f"(..., {', '.join(map(str, trailing))})"
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{who}: `{name}` must be an array of numbers {shape}, got {value!r:.60}.") from error
    if array.shape[array.ndim - len(trailing) :] != trailing or array.ndim < len(trailing):
        raise ShapeError(f"{who}: `{name}` must have shape {shape}, got {array.shape}.")
    refuse_unknown(who, array, f"`{name}`")
    return array
