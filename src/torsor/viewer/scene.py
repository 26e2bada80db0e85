"""What is seen of a robot: parts fixed to bodies (its base, its links, and markers), and where the bodies are.

The live page, the written page and the pictures draw the same parts. A part belongs to a layer, which is shown or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from torsor.arrays.typing import Array, Vector3
from torsor.functions.public.kinematics import link_poses, mixed_jacobian
from torsor.model import Robot
from torsor.plot.canvas import triad_of
from torsor.plot.palette import SKY
from torsor.plot.skeleton import skeleton_of, tip_frame
from torsor.viewer.looks import Meshes, plain_links, visual_parts
from torsor.viewer.parts import (
    BODY,
    GHOST,
    LAYERS,
    Part,
    axis_parts,
    frame_parts,
    inertia_parts,
    marker_parts,
    mass_parts,
    on_link,
    rgb,
)
from torsor.viewer.shapes import Shape, unit_shape

SECONDS = 0.25  # a manipulability ellipsoid shows how far its frame gets in this time, joints at 1 rad/s or 1 m/s


@dataclass(eq=False)
class Figure:
    """One robot of a scene.

    Bodies are numbered: 0 is the base, then the links, then markers: the centre of mass, the manipulability ellipsoid, and two
    arrows (force and torque) for each frame that a wrench may act on.
    """

    robot: Robot
    parts: list[Part]
    shapes: dict[str, Shape]
    tip: str
    pushed: tuple[str, ...]
    size: float
    ghost: bool = False
    offset: Vector3 = field(default_factory=lambda: np.zeros(3))
    newtons: float = 1.0  # of the largest force or torque that is to be shown
    missing: tuple[str, ...] = ()

    @property
    def n_bodies(self) -> int:
        """How many bodies there are, markers included."""
        return self.robot.n + 3 + 2 * len(self.pushed)

    def placed(
        self, q: Array, wrenches: Mapping[str, Array] | None = None, shown: Mapping[str, bool] = LAYERS
    ) -> tuple[Array, Array]:
        """Poses (N, bodies, 4, 4) and scales (N, bodies, 3) at configurations (N, nq); wrenches are (N, 6) by frame.

        The manipulability ellipsoid, which needs a Jacobian, is only placed if it is shown.
        """
        N, n = len(q), self.robot.n
        poses, scales = np.tile(np.eye(4), (N, self.n_bodies, 1, 1)), np.ones((N, self.n_bodies, 3))
        poses[:, 1 : n + 1] = link_poses(self.robot, q)
        poses[:, n + 1, :3, 3] = self._centre_of_mass(poses[:, 1 : n + 1])
        poses[:, n + 2] = self._frame(poses, self.tip)
        if shown.get("manipulability", False) and not self.ghost:
            poses[:, n + 2, :3, :3], scales[:, n + 2] = self._manipulability(q)
        for k, frame in enumerate(self.pushed):
            at = self._frame(poses, frame)
            wrench = np.zeros((N, 6)) if wrenches is None or frame not in wrenches else np.asarray(wrenches[frame])
            for half in (0, 1):  # torque, then force, in the axes of the frame
                body, vector = n + 3 + 2 * k + half, at[:, :3, :3] @ wrench[:, 3 * half : 3 * half + 3, None]
                poses[:, body, :3, 3] = at[:, :3, 3]
                poses[:, body, :3, :3], scales[:, body] = self._arrows(vector[..., 0])
        poses[:, :, :3, 3] += self.offset
        return poses, scales

    def _frame(self, poses: Array, frame: str) -> Array:
        body, pose = on_link(self.robot, frame)
        return np.asarray(poses[:, body] @ pose)

    def _centre_of_mass(self, links: Array) -> Array:
        """That of the robot (N, 3), from the poses of its links (N, n, 4, 4); the origin if nothing has a mass."""
        rows = np.asarray(self.robot.parameters.inertias)
        total = float(rows[:, 0].sum())
        moments = links[:, :, :3, :3] @ rows[:, 1:4, None]
        whole = (moments[..., 0] + rows[:, :1] * links[:, :, :3, 3]).sum(axis=1)
        return np.asarray(whole / total if total > 0 else 0.0 * whole)

    def _manipulability(self, q: Array) -> tuple[Array, Array]:
        J = np.asarray(mixed_jacobian(self.robot, q, self.tip))[..., 3:, :]
        squares, axes = np.linalg.eigh(J @ np.swapaxes(J, -1, -2))
        axes[..., 0] *= np.linalg.det(axes)[..., None]  # a rotation
        return _without_jumps(axes, np.maximum(SECONDS * np.sqrt(np.maximum(squares, 0.0)), 2e-3 * self.size))

    def _arrows(self, vectors: Array) -> tuple[Array, Array]:
        lengths = np.linalg.norm(vectors, axis=-1) * (0.35 * self.size / self.newtons)
        rotations = np.array([triad_of(v) if np.any(v) else np.eye(3) for v in vectors])
        radius = np.where(lengths > 0, 0.016 * self.size, 0.0)
        return rotations, np.maximum(np.stack([radius, radius, lengths], axis=-1), 1e-9)


def _without_jumps(axes: Array, lengths: Array) -> tuple[Array, Array]:
    """The same ellipsoids, axes (N, 3, 3) and lengths (N, 3), each in the order and with the signs nearest to the one before.

    The eigenvectors of neighbours may point either way and change places: a page that turns one into the other would spin them.
    """
    for k in range(1, len(axes)):
        near = axes[k - 1].T @ axes[k]
        order = [int(np.argmax(np.abs(row))) for row in near]
        if sorted(order) != [0, 1, 2]:
            order = [0, 1, 2]
        axes[k], lengths[k] = axes[k][:, order], lengths[k][order]
        near = near[:, order]
        axes[k] *= np.where(np.diag(near) < 0, -1.0, 1.0)
        if np.linalg.det(axes[k]) < 0:
            axes[k][:, int(np.argmin(np.abs(np.diag(near))))] *= -1.0
    return axes, lengths


def figure_of(robot: Robot, *, roots: Sequence[Path] = (), pushed: Sequence[str] = (), ghost: bool = False) -> Figure:
    """What is seen of a robot; meshes are looked for in the folders ``roots``."""
    skeleton = skeleton_of(robot, np.asarray(robot.neutral))
    meshes = Meshes(roots)
    layer = GHOST if ghost else BODY
    size = max(skeleton.extent, 1e-6)
    seen = [part for visual in robot.visuals for part in visual_parts(robot, visual, layer, meshes)]
    dressed = {part.body for part in seen}
    parts = [*seen, *plain_links(robot, skeleton, layer, dressed)]
    if ghost:
        # A little smaller, so that a ghost that coincides with its robot is inside it
        parts = [part._replace(colour=rgb(SKY), opacity=0.35, scale=0.985 * part.scale) for part in parts]
    else:
        parts += [
            *frame_parts(robot, size),
            *axis_parts(robot, skeleton),
            *mass_parts(robot, size),
            *inertia_parts(robot),
        ]
        parts += marker_parts(robot, size, len(pushed))
    return Figure(
        robot=robot,
        parts=parts,
        shapes={
            **{part.shape: unit_shape(part.shape) for part in parts if part.shape not in meshes.shapes},
            **meshes.shapes,
        },
        tip=tip_frame(robot) if robot.n else robot.frames[0],
        pushed=() if ghost else tuple(pushed),
        size=size,
        ghost=ghost,
        missing=tuple(meshes.missing),
    )
