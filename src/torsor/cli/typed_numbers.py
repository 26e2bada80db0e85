"""Numbers that people type: "0,0.3,-1", "elbow=0.3,wrist=90deg", JSON, or a word such as "neutral"."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torsor.errors import ArgumentError, TorsorError

if TYPE_CHECKING:
    from torsor.model import Robot


def configuration(robot: Robot, text: str, option: str) -> Any:
    """A configuration (nq,): by numbers, by joint, ``neutral``, ``middle`` of the limits, or ``random`` (``random:7``)."""
    import numpy as np

    import torsor

    word, _, seed = text.partition(":")
    if word == "random" and (not seed or seed.isdigit()):
        return torsor.random_configuration(robot, seed=int(seed or 0))
    if text == "neutral":
        return robot.neutral
    if text == "middle":
        lower, upper = np.array(robot.limits.lower), np.array(robot.limits.upper)
        bounded = np.isfinite(lower) & np.isfinite(upper)
        with np.errstate(invalid="ignore"):
            return np.where(bounded, 0.5 * (lower + upper), robot.neutral)
    given = typed(text, option)
    if isinstance(given, dict):
        return _by_name(robot.q_from_dict, given, option)
    return _counted(given, robot.nq, robot.coordinates, option)


def freedoms(robot: Robot, text: str, option: str) -> Any:
    """Velocities or forces (nv,): by numbers, or by joint, the others zero."""
    given = typed(text, option)
    if isinstance(given, dict):
        return _by_name(robot.v_from_dict, given, option)
    return _counted(given, robot.nv, robot.structure.freedoms, option)


def numbers(text: str, count: int, option: str, what: str) -> Any:
    """So many numbers; ``what`` they are, for messages."""
    given = typed(text, option)
    if isinstance(given, dict) or len(given) != count:
        raise ArgumentError(f"{option} takes {count} numbers, {what}, got {text!r:.80}.")
    return given


def typed(text: str, option: str) -> Any:
    """A list of numbers, or a dict of numbers by name."""
    text = text.strip()
    if text[:1] in ("[", "{"):
        try:
            given = json.loads(text)
        except ValueError as error:
            raise ArgumentError(f"{option}: {text!r:.60} is no JSON: {error}.") from None
        return given
    parts = [part.strip() for part in text.split(",")]
    if not all("=" in part for part in parts):
        return [_number(part, option) for part in parts]
    pairs = [part.rpartition("=") for part in parts]
    return {name.strip(): _number(value.strip(), option) for name, _, value in pairs}


def _number(text: str, option: str) -> float:
    digits, scale = (text.removesuffix("deg"), math.pi / 180.0) if text.endswith("deg") else (text, 1.0)
    try:
        value = float(digits) * scale
    except ValueError:
        raise ArgumentError(
            f"{option}: {text!r:.60} is no number. Type 0,0.3,-1 or elbow=0.3,wrist=90deg or JSON."
        ) from None
    if not math.isfinite(value):
        raise ArgumentError(f"{option} must be finite, got {text!r:.60}.")
    return value


def _by_name(vector: Callable[[dict[str, Any]], Any], given: dict[str, Any], option: str) -> Any:
    try:
        return vector(given)
    except TorsorError as error:
        raise ArgumentError(f"{option}: {str(error).removeprefix(f'{error.where}: ')}") from None


def _counted(given: Any, count: int, names: tuple[str, ...], option: str) -> Any:
    import numpy as np

    try:
        array = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(f"{option} takes numbers, got {given!r:.80}.") from None
    if array.shape != (count,) or not np.all(np.isfinite(array)):
        few = ", ".join((*names[:3], "…") if len(names) > 4 else names)
        got = f"{array.size}" if array.shape != (count,) else "some that are not finite"
        raise ArgumentError(f"{option} takes {count} numbers ({few}), or some by name (elbow=0.3), got {got}.")
    return array
