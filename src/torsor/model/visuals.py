"""What a robot looks like: boxes, cylinders and balls on its links, and names of meshes. No equation reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from torsor.arrays.typing import Pose

# Sizes of each kind, m: edges; radius and length (between the caps, of a capsule); radius; semi-axes. Of a mesh, its scale.
SIZES = {"box": 3, "cylinder": 2, "capsule": 2, "sphere": 1, "ellipsoid": 3, "mesh": 3}

LARGEST = 1e10  # of a number in MuJoCo


@dataclass(frozen=True, eq=False)
class Visual:
    """A shape fixed to a link or frame of a robot, for pictures; cylinders and capsules are along their z axis.

    Attributes
    ----------
    link : str
        The link or frame it is fixed to.
    kind : {"box", "cylinder", "capsule", "sphere", "ellipsoid", "mesh"}
    size : tuple of float
        Edges (x, y, z) of a box, (radius, length) of a cylinder and of a capsule without its caps, the radius of a sphere, the
        semi-axes of an ellipsoid, m; the scale (x, y, z) of a mesh.
    pose : (4, 4) array
        Where it is in that frame, m.
    colour : tuple of float or None
        Red, green, blue and opacity, 0 to 1, if the file gives them.
    file : str
        The file of a mesh, as written: `torsor.view` alone opens it, in folders that are declared.
    """

    link: str
    kind: str
    size: tuple[float, ...]
    pose: Pose = field(default_factory=lambda: np.eye(4))
    colour: tuple[float, float, float, float] | None = None
    file: str = ""

    @property
    def is_bounded(self) -> bool:
        """Whether all its numbers are ones that every program can draw."""
        return all(abs(x) <= LARGEST for x in (*self.size, *np.ravel(self.pose)))

    @property
    def is_solid(self) -> bool:
        """Whether it can be drawn from its numbers: it is no mesh, and has a volume."""
        return self.kind != "mesh" and min(self.size) > 0 and self.is_bounded


def renamed(visuals: tuple[Visual, ...], names: Mapping[str, str]) -> tuple[Visual, ...]:
    """Visuals on links that have other names now (old → new)."""
    return tuple(replace(visual, link=names.get(visual.link, visual.link)) for visual in visuals)


def solid_parts(visual: Visual) -> list[Visual]:
    """A solid in words that every format has: a capsule is a cylinder and two spheres."""
    if visual.kind != "capsule":
        return [visual]
    radius, length = visual.size
    ends = []
    for side in (-0.5, 0.5):
        pose = np.array(visual.pose)
        pose[:3, 3] += side * length * pose[:3, 2]
        ends.append(replace(visual, kind="sphere", size=(radius,), pose=pose))
    return [replace(visual, kind="cylinder"), *ends]
