"""What motions refuse at their border, in words: things that are no robot, no number, no count, or not known yet."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import ModelError, ShapeError, TorsorError
from torsor.model import Robot


def refuse_strangers(who: str, robot: Any, *values: Any) -> None:
    """Raise unless the first argument is a robot of plain numbers, and none of the others is traced by JAX."""
    if not isinstance(robot, Robot):
        got = "nothing" if robot is None else f"{type(robot).__name__} {robot!r:.60}"
        raise TorsorError(f"{who}: the first argument must be a torsor.Robot, got {got}.")
    if not robot.is_concrete or any(_is_traced(value) for value in values):
        raise TorsorError(
            f"{who} works with plain numbers in NumPy and SciPy, and cannot run inside jit, grad or vmap: call it outside, and "
            "pass its result in. torsor.geodesic_acceleration, torsor.covariant_derivative and torsor.path_energy run inside."
        )


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


def _is_traced(value: Any) -> bool:
    """Whether JAX stands in for numbers not known yet; asked of its classes by name, for JAX is not imported here."""
    return any(kind.__name__ == "Tracer" and kind.__module__.startswith("jax") for kind in type(value).__mro__)
