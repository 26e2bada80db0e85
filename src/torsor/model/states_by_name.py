"""Configurations, velocities and forces as joint name → numbers, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import ShapeError, unknown_name

if TYPE_CHECKING:
    from torsor.model.robot import Robot


def to_dict(robot: Robot, values: Array, size: str) -> dict[str, Array]:
    """Joint name → its numbers of ``values`` (..., nq) or (..., nv), as ``size`` says; a plain number's axis is dropped."""
    values = values if hasattr(values, "shape") else np.asarray(values, float)
    _check_last(robot, values, size)
    result = {}
    for c in robot.structure.coordinates:
        block = values[..., c.q if size == "nq" else c.v]
        result[c.name] = block[..., 0] if block.shape[-1] == 1 else block
    return result


def from_dict(robot: Robot, values: Mapping[str, Array], size: str, default: Array) -> Array:
    """(..., nq) or (..., nv), as ``size`` says, from joint name → numbers; joints not named keep ``default``."""
    default = np.asarray(default, float)
    _check_last(robot, default, size)
    blocks = {c.name: (c.q if size == "nq" else c.v) for c in robot.structure.coordinates}
    parts = {}
    for name, value in values.items():
        if name not in blocks:
            raise unknown_name(f"robot {robot.name!r}", "coordinate", name, blocks, "robot.coordinates")
        width = blocks[name].stop - blocks[name].start
        part = np.asarray(value, float)
        part = part[..., None] if width == 1 else part
        if part.shape[-1:] != (width,):
            raise ShapeError(f"robot {robot.name!r}: joint {name!r} takes {width} numbers, got shape {part.shape}.")
        parts[name] = part
    batch = np.broadcast_shapes(default.shape[:-1], *(part.shape[:-1] for part in parts.values()))
    result = np.array(np.broadcast_to(default, (*batch, default.shape[-1])))
    for name, part in parts.items():
        result[..., blocks[name]] = part
    return result


def _check_last(robot: Robot, values: Array, size: str) -> None:
    want = getattr(robot, size)
    if not values.shape or values.shape[-1] != want:
        raise ShapeError(f"robot {robot.name!r}: expected shape (..., {want}), got {tuple(values.shape)}.")
