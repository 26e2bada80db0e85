"""The border of controllers: gains are checked and made one for each, then NumPy arrays go to machine code.

JAX and traced arrays, in `torsor.compile` and `torsor.scan`, go to the algorithm itself: there a controller is a pure function.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from torsor.arrays import namespace
from torsor.border import checked
from torsor.border.arguments import wrong_names
from torsor.border.arrays import Call, prepare, signature_of
from torsor.control.laws.gains import gains
from torsor.errors import ArgumentTypeError
from torsor.functions.dispatch import public
from torsor.model import Robot

P = ParamSpec("P")
R = TypeVar("R")
Labels = Callable[[Robot], Sequence[str]]


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
    if not isinstance(robot, Robot):
        got = f"{type(robot).__name__} {robot!r:.60}"
        raise ArgumentTypeError(f"{algorithm.__name__}: the first argument must be a torsor.Robot, got {got}.")
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
        signature, where = inspect.signature(algorithm), algorithm.__name__
        names = tuple(signature.parameters)

        @functools.wraps(algorithm)
        def border(*args: P.args, **kwargs: P.kwargs) -> R:
            bound = args if len(args) == len(names) and not kwargs else _bound(signature, algorithm, args, kwargs)
            given: dict[str, Any] = dict(zip(names, bound, strict=True))
            own = {name: given.pop(name) for name in labels}
            robot, (vectors, batch) = given["robot"], checked_vectors(algorithm, given)
            for name, of in labels.items():
                size = getattr(robot, signature_of(algorithm).arrays[name].axes[0])
                vectors[name] = gains(where, name, own[name], size, functools.partial(of, robot), batch)
            return evaluate(*(vectors[name] for name in names))

        return border

    return made
