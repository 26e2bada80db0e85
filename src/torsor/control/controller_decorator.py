"""The border of controllers: gains are checked and made one for each, then NumPy arrays go to machine code.

JAX and traced arrays, in `torsor.compile` and `torsor.scan`, go to the algorithm itself: there a controller is a pure function.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, ParamSpec, TypeVar

import numpy as np

from torsor.arrays import as_numbers, concat, is_concrete, namespace
from torsor.arrays.typing import Array
from torsor.border import checked, explained
from torsor.border.arguments import wrong_names
from torsor.border.arrays import Call, prepare, signature_of
from torsor.border.numbers import refuse_no_robot
from torsor.bridges import foreign_among
from torsor.errors import ArgumentError, ShapeError
from torsor.functions.dispatch import public
from torsor.model import Robot

P = ParamSpec("P")
R = TypeVar("R")
Labels = Callable[[Robot], Sequence[str]]
FEW = 64
Batch = tuple[int, ...]
Names = Callable[[], Sequence[str]]  # asked for where there is something to say of them


def freedoms(robot: Robot) -> tuple[str, ...]:
    """Names of the entries of v."""
    return robot.structure.freedoms


def law(algorithm: Callable[..., R], result: str | type[R]) -> Callable[..., R]:
    """An algorithm of checked arguments, given by position: vectors (..., n), or tasks. ``result`` as for `public`."""
    compiled = public(algorithm, result, registered=False, module=algorithm.__module__)
    plain = checked(algorithm)

    def evaluate(*args: Any) -> R:
        return (compiled if namespace(*args[1:]) is np else plain)(*args)

    return evaluate


def checked_vectors(algorithm: Callable[..., Any], given: dict[str, Any]) -> Call:
    """The arguments that an algorithm says the shapes of, gains left out, and the batch they have in common."""
    robot = given["robot"]
    refuse_no_robot(robot)
    known = signature_of(algorithm).arrays
    vectors = {name: x for name, x in given.items() if name in known and (x is not None or known[name].required)}
    if all(_is_one_state(x, known[name].axes[0], robot) for name, x in vectors.items()):
        return Call(given, ())
    return prepare(algorithm, (), given, whole=False)


def _is_one_state(x: Any, axis: str, robot: Robot) -> bool:
    """Whether a vector is as it should be and has no batch axes: then there is no more to be found out about it."""
    if type(x) is not np.ndarray or x.dtype != np.float64 or x.ndim != 1:
        return False
    return axis == "*" or len(x) == getattr(robot, axis)


def _bound(
    signature: inspect.Signature, algorithm: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """The arguments in order, or an error that names what is missing or unknown."""
    if (wrong := wrong_names(algorithm, args, kwargs)) is not None:
        raise wrong
    return signature.bind(*args, **kwargs).args


def controller(result: str | type[Any], **labels: Labels) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a controller of an algorithm; ``labels`` says of its gains what they are one for each of."""

    def made(algorithm: Callable[P, R]) -> Callable[P, R]:
        evaluate: Callable[..., R] = law(algorithm, result)
        signature = inspect.signature(algorithm)
        names = tuple(signature.parameters)

        @explained
        @functools.wraps(algorithm)
        def border(*args: P.args, **kwargs: P.kwargs) -> R:
            bound = args if len(args) == len(names) and not kwargs else _bound(signature, algorithm, args, kwargs)
            given: dict[str, Any] = dict(zip(names, bound, strict=True))
            own = {name: given.pop(name) for name in labels}
            robot = given["robot"]
            # Arrays that cross a bridge are looked at behind it
            vectors, batch = (given, ()) if foreign_among(*bound[1:]) else checked_vectors(algorithm, given)
            for name, of in labels.items():
                if foreign_among(own[name]):
                    vectors[name] = own[name]
                    continue
                size = getattr(robot, signature_of(algorithm).arrays[name].axes[0])
                vectors[name] = gains(name, own[name], size, functools.partial(of, robot), batch)
            return evaluate(*(vectors[name] for name in names))

        return border

    return made


def gains(name: str, value: Array, size: int, labels: Names, batch: Batch) -> Array:
    """``value`` as (..., size), one for each of the labels, with no batch axes but those of the states.

    Numbers that are known must be finite and not negative; those of a kernel, or of JAX, are not looked at.
    """
    if type(value) is float and 0.0 <= value < math.inf:
        return _repeated(value, size)
    try:
        k = as_numbers(value)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"`{name}` must be a number or {size} numbers, got {value!r:.60}.") from error
    shape = tuple(np.shape(k))
    if (shape and shape[-1] not in (1, size)) or not _fits(shape[:-1], batch):
        raise ShapeError(f"`{name}` must be {_accepted(labels(), batch)}, got shape {shape}.{_advice(shape)}")
    if is_concrete(k) and not _are_sound(k):
        _refuse(name, k, labels())
    return _one_for_each(k, size)


def _fits(own: Batch, batch: Batch) -> bool:
    """Whether the batch axes of gains are among those of the states."""
    if not own:
        return True
    try:
        return np.broadcast_shapes(own, batch) == batch
    except ValueError:
        return False


def _accepted(labels: Sequence[str], batch: Batch) -> str:
    size, few = len(labels), ", ".join((*labels[:3], "…") if len(labels) > 4 else labels)
    own = f", or have shape {(*batch, size)}, for each state of the batch" if batch else ""
    return f"a number or have shape ({size},), one for each of {few}{own}"


def _advice(shape: Batch) -> str:
    if len(shape) < 2:
        return ""
    if shape[-1] == shape[-2]:
        return " A diagonal matrix K is given by its diagonal, np.diag(K)."
    return " Gains have no batch axes of their own: for one state under many gains, repeat the state."


def _are_sound(k: Array) -> bool:
    """Whether all are finite and not negative; a few are faster looked at one by one."""
    if k.size <= FEW:
        return all(0.0 <= x < math.inf for x in k.ravel().tolist())
    return bool(k.min() >= 0.0 and k.max() < math.inf)  # neither, if one is NaN


def _refuse(name: str, k: Array, labels: Sequence[str]) -> None:
    place = next(place for place in np.ndindex(k.shape) if not 0.0 <= k[place] < math.inf)
    own = f" for {labels[place[-1]]}" if place and k.shape[-1] == len(labels) else ""
    state = f" in state {', '.join(map(str, place[:-1]))}" if len(place) > 1 else ""
    raise ArgumentError(f"`{name}` must be finite and not negative, got {float(k[place])}{own}{state}.")


def _one_for_each(k: Array, size: int) -> Array:
    if not np.shape(k):
        k = k[..., None]
    return k if k.shape[-1] == size else concat([k] * size)


@lru_cache(maxsize=1024)
def _repeated(value: float, size: int) -> Array:
    """The same array for the same number: most gains are the same in every call of a loop."""
    k = np.full(size, value)
    k.flags.writeable = False
    return k
