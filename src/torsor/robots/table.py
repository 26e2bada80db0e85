"""Serial arms as data: one row per joint, in the way robot files give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Pose, Vector3
from torsor.model import Inertia, Joint, Robot, assemble, pose_from

PI = float(np.pi)


class Row(NamedTuple):
    """A revolute joint (its origin in the parent link's frame, axis, limits) and the link it moves. SI units."""

    joint: str
    xyz: Vector3
    rpy: Vector3
    axis: Vector3
    range: tuple[float, float]
    velocity: float
    effort: float
    mass: float
    com: Vector3
    inertia: tuple[float, float, float, float, float, float]  # Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the centre of mass


def serial_arm(name: str, rows: Sequence[Row], frames: dict[str, Pose]) -> Robot:
    """The arm of a table; ``frames`` are fixed to its last link."""
    joints, parent = [], "base"
    for k, row in enumerate(rows, 1):
        xx, xy, xz, yy, yz, zz = row.inertia
        joints.append(
            Joint(
                name=row.joint,
                kind="revolute",
                parent=parent,
                link=f"link_{k}",
                pose=pose_from(row.xyz, row.rpy),
                axis=row.axis,
                inertia=Inertia(row.mass, row.com, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
                lower=row.range[0],
                upper=row.range[1],
                velocity_limit=row.velocity,
                effort_limit=row.effort,
            )
        )
        parent = f"link_{k}"
    return assemble(joints, name=name, frames={frame: (parent, pose) for frame, pose in frames.items()})
