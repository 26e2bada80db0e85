"""Results of functions of robots, kept for the next call without keeping the robots."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

from torsor.model.robot import Robot

P = ParamSpec("P")
R = TypeVar("R")


def own(robot: Robot) -> Robot:
    """Another object for the same robot."""
    return Robot(robot.structure, robot.parameters)


class _Key:
    """A robot as a key: equal robots are one. It has the robot only while the function runs."""

    __slots__ = ("digest", "robot")

    def __init__(self, robot: Robot) -> None:
        self.digest, self.robot = robot.digest, robot

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.digest == other.digest


def remembered(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """As ``functools.lru_cache``, but a robot among the arguments is freed with its last reference elsewhere.

    The function is given a robot of its own, equal to that of the caller, which what it returns may hold.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @lru_cache(maxsize=most)
        def kept(*keys: Any) -> R:
            return function(*(own(key.robot) if type(key) is _Key else key for key in keys))  # type: ignore[arg-type, call-arg]

        @wraps(function)
        def call(*args: Any) -> R:
            keys = [_Key(arg) if isinstance(arg, Robot) else arg for arg in args]
            try:
                return kept(*keys)
            finally:
                for key in keys:
                    if type(key) is _Key:
                        del key.robot

        return call  # type: ignore[return-value]

    return decorate
