"""Numbers that users pass, refused in words: no robot, no number, no count, not finite, or not known yet."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from torsor.arrays import is_concrete
from torsor.arrays.typing import Array
from torsor.errors import ArgumentError, ArgumentTypeError, ModelError, ShapeError

_PLAIN = frozenset({type(None), float, int, str, np.ndarray})  # most arguments, of which nothing more is asked


def refuse_strangers(robot: Any, *values: Any, instead: str = "") -> None:
    """Raise unless the first argument is a robot of plain numbers, and none of the others is traced.

    ``instead``: what to take inside jit or a kernel, a sentence.
    """
    refuse_no_robot(robot)
    if not robot.is_concrete or any(is_traced(value) for value in values):
        raise ArgumentError(
            "works with plain numbers, and cannot run inside jit, grad, vmap or torsor.compile: call it outside, and "
            f"pass its result in.{' ' if instead else ''}{instead}"
        )


def refuse_no_robot(robot: Any) -> None:
    """Raise unless the first argument is a robot."""
    if not is_robot(robot):
        got = "nothing" if robot is None else f"{type(robot).__name__} {robot!r:.60}"
        raise ArgumentTypeError(f"the first argument must be a torsor.Robot, got {got}.")


def is_traced(value: Any) -> bool:
    """Whether JAX or torsor's compiler stands in for numbers not known yet; asked by name, for JAX is not imported here."""
    if type(value) in _PLAIN or is_concrete(value):
        return False
    return any(kind.__name__ in ("Tracer", "TracedArray") for kind in type(value).__mro__)


def is_robot(value: Any) -> bool:
    """Whether this is a `torsor.Robot`, which the border, below the model, knows by its parts."""
    return hasattr(type(value), "is_concrete") and hasattr(value, "structure")


def refuse_bad_numbers(**numbers: float) -> None:
    """Raise unless all are numbers, finite and positive."""
    for name, value in numbers.items():
        if not isinstance(value, Real) and not (isinstance(value, np.ndarray) and value.shape == ()):
            raise ArgumentError(f"`{name}` must be one number, finite and positive, got {value!r:.60}.")
        if not (np.isfinite(value) and value > 0):
            raise ArgumentError(f"`{name}` must be finite and positive, got {value}.")


def refuse_bad_count(name: str, value: int, least: int, meaning: str) -> None:
    """Raise unless ``value`` is a whole number of ``least`` or more."""
    if not isinstance(value, Integral):
        raise ArgumentError(f"`{name}` must be a whole number, got {value!r:.60}.")
    if value < least:
        raise ArgumentError(f"{meaning}, got {value}.")


def refuse_unknown(values: Array, what: str = "configurations") -> None:
    """Raise if there is NaN or infinity."""
    if not np.all(np.isfinite(values)):
        raise ArgumentError(f"{what} must be finite numbers, got NaN or infinity.")


def refuse_zero_quaternions(robot: Any, q: Array, where: str = "") -> None:
    """Raise if a quaternion in q (..., nq) has length zero: it is no rotation. ``where`` it was found, with a colon."""
    for joint, place in robot.structure.quaternions:
        if np.any(np.all(q[..., place] == 0.0, axis=-1)):
            raise ModelError(
                f"{where}the quaternion of joint {joint!r} has length zero, which is no rotation; (0, 0, 0, 1) is no turn."
            )


def numbers_of(name: str, value: Any, trailing: tuple[int, ...], where: str = "") -> Array:
    """``value`` as an array (..., *trailing), finite. ``where`` it came from, with a colon, if it is not the argument itself."""
    shape = f"(..., {', '.join(map(str, trailing))})"
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{where}`{name}` must be an array of numbers {shape}, got {value!r:.60}.") from error
    if array.shape[array.ndim - len(trailing) :] != trailing or array.ndim < len(trailing):
        raise ShapeError(f"{where}`{name}` must have shape {shape}, got {array.shape}.")
    refuse_unknown(array, f"{where}`{name}`")
    return array
