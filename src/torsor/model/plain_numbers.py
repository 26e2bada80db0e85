"""What works with numbers, and not with what stands for numbers, says so at its border."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.arrays import is_concrete
from torsor.errors import TorsorError
from torsor.model.robot import Robot

_PLAIN = frozenset({type(None), float, int, str, np.ndarray})  # most arguments, of which nothing more is asked


def refuse_strangers(who: str, robot: Any, *values: Any, instead: str = "") -> None:
    """Raise unless the first argument is a robot of plain numbers, and none of the others is traced.

    ``instead``: what to take inside jit or a kernel, a sentence.
    """
    if not isinstance(robot, Robot):
        got = "nothing" if robot is None else f"{type(robot).__name__} {robot!r:.60}"
        raise TorsorError(f"{who}: the first argument must be a torsor.Robot, got {got}.")
    if not robot.is_concrete or any(is_traced(value) for value in values):
        raise TorsorError(
            f"{who} works with plain numbers, and cannot run inside jit, grad, vmap or torsor.compile: call it outside, and "
            f"pass its result in.{' ' if instead else ''}{instead}"
        )


def is_traced(value: Any) -> bool:
    """Whether JAX or torsor's compiler stands in for numbers not known yet; asked by name, for JAX is not imported here."""
    if type(value) in _PLAIN or is_concrete(value):
        return False
    return any(kind.__name__ in ("Tracer", "TracedArray") for kind in type(value).__mro__)
