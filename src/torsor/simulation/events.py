"""Things that happen at a time that is not known beforehand: zero crossings of functions of the time and the state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from torsor._reports import in_one_line
from torsor.arrays.typing import Array
from torsor.errors import ArgumentError, ArgumentTypeError


@dataclass(frozen=True, eq=False)
class Event:
    """A moment of a simulation: where ``function(t, q, v)`` passes through zero.

    Parameters
    ----------
    function : function (t, q, v) → float
        Of the time, s, and the state of one trajectory.
    terminal : bool
        Whether the motion ends there.
    direction : int
        +1: only where the function grows through zero; −1: only where it falls; 0: both.
    action : function (t, q, v) → (q, v), optional
        The state with which the motion goes on.
    name : str, optional
        What it is called in the result; the function's name by default.
    """

    function: Callable[[float, Array, Array], float]
    terminal: bool = False
    direction: int = 0
    action: Callable[[float, Array, Array], tuple[Array, Array]] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ArgumentTypeError(
                f"Event: `function` must be a function (t, q, v) → float, got {self.function!r:.60}."
            )
        if self.action is not None and not callable(self.action):
            raise ArgumentTypeError(f"Event: `action` must be a function (t, q, v) → (q, v), got {self.action!r:.60}.")
        if self.direction not in (-1, 0, 1):
            raise ArgumentError(f"Event: `direction` must be −1, 0 or 1, got {self.direction!r:.40}.")

    @property
    def title(self) -> str:
        """What it is called."""
        return self.name or str(getattr(self.function, "__name__", "event"))

    def value(self, t: float, q: Array, v: Array) -> float:
        """The function as a number."""
        value: Any = self.function(t, q, v)
        if np.shape(value) not in ((), (1,)):
            raise ArgumentError(
                f"the function of event {self.title!r} must give one number, got shape {np.shape(value)}."
            )
        return float(np.asarray(value).reshape(()))

    def acted(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """The state after the action."""
        assert self.action is not None
        said: Any = self.action(t, q.copy(), v.copy())
        if isinstance(said, (tuple, list)) and len(said) == 2 and all(x is not None for x in said):
            after = np.asarray(said[0], float), np.asarray(said[1], float)
            if after[0].shape == q.shape and after[1].shape == v.shape and all(np.all(np.isfinite(x)) for x in after):
                return after
        raise ArgumentError(
            f"the action of event {self.title!r} must return a state (q, v) of shapes {q.shape} and {v.shape}, of finite "
            f"numbers, got {said!r:.60}."
        )

    def crosses(self, before: float, after: float) -> bool:
        """Whether a crossing that counts is between two values."""
        up, down = before < 0.0 <= after, before > 0.0 >= after
        return (up and self.direction >= 0) or (down and self.direction <= 0)


@in_one_line
class Occurrence(NamedTuple):
    """An event that took place.

    Attributes
    ----------
    name : str
        Of the event.
    time : float
        s.
    trajectory : tuple of int
        Which one of a batch; empty for one trajectory.
    q, v : array
        The state, before the event's action.
    """

    name: str
    time: float
    trajectory: tuple[int, ...]
    q: Array
    v: Array
