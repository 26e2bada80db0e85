"""Where the parts of a robot are at one configuration, as numbers to draw: joints, axes, centres of mass, frames."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector, JointVector, Pose, Vector3
from torsor.border.arrays import as_array
from torsor.errors import ArgumentError, ShapeError
from torsor.functions.public.kinematics import link_poses
from torsor.model import Robot
from torsor.model.joint_kinds import KINDS

FLOATING = tuple(
    name for name, kind in KINDS.items() if not kind.has_screw and not kind.has_fixed_point
)  # nothing holds the link: no bar joins it to its parent


class JointPlace(NamedTuple):
    """A joint in base axes: ``near`` (3,) is its point on the parent, ``far`` (3,) the same point on its link, m.

    The two differ by what the joint has slid. ``axis`` (3,) is a unit vector, None for joints without one; for a planar
    joint it is the plane's normal.
    """

    name: str
    kind: str
    near: Vector3
    far: Vector3
    axis: Vector3 | None


class Skeleton(NamedTuple):
    """A robot at one configuration, in base axes, m and kg.

    ``poses`` (n, 4, 4) of the links; ``joints``; ``coms`` (n, 3) and ``masses`` (n,); ``tips``: frame name → pose (4, 4) of
    the named frames on moving links; ``parents`` (n,), −1 for the base; ``origin`` (3,) of the base.
    """

    poses: Pose
    joints: tuple[JointPlace, ...]
    coms: Array
    masses: Array
    tips: dict[str, Pose]
    tip_links: dict[str, int]
    parents: tuple[int, ...]

    def children(self, link: int) -> list[int]:
        """Links that hang on ``link`` (−1: the base)."""
        return [i for i, parent in enumerate(self.parents) if parent == link]

    def points(self) -> Array:
        """All points (k, 3), m, that a picture must show."""
        joints = [point for joint in self.joints for point in (joint.near, joint.far)]
        tips = [pose[:3, 3] for pose in self.tips.values()]
        held = self.coms[self.masses > 0]
        return np.array([np.zeros(3), *joints, *held, *tips])

    def bars(self, link: int) -> list[tuple[Vector3, Vector3]]:
        """The straight pieces of a link (−1: the base): from its joint to those of its children and to its frames.

        A link that ends nowhere ends at its centre of mass.
        """
        start = np.zeros(3) if link < 0 else self.joints[link].far
        ends = [self.joints[c].near for c in self.children(link) if self.joints[c].kind not in FLOATING]
        ends += [self.tips[name][:3, 3] for name, on in self.tip_links.items() if on == link]
        if link >= 0 and not ends and self.masses[link] > 0:
            ends = [self.coms[link]]
        return [(start, end) for end in ends]

    @property
    def extent(self) -> float:
        """Largest side of the box around everything, m; 1 if everything is in one point."""
        largest = float(np.ptp(self.points(), axis=0).max())
        return largest if largest > 1e-9 else 1.0

    @property
    def symbol(self) -> float:
        """A radius for joint symbols, m, that suits both the whole and the typical link."""
        lengths = [float(np.linalg.norm(b - a)) for i in range(-1, len(self.parents)) for a, b in self.bars(i)]
        lengths = [length for length in lengths if length > 0.02 * self.extent]
        typical = float(np.median(lengths)) if lengths else self.extent
        crowd = min(1.0, float(np.sqrt(8 / max(len(self.parents), 1))))
        return max(min(0.035 * self.extent * crowd, 0.2 * typical), 0.008 * self.extent)


def one_configuration(robot: Robot, q: ConfigurationVector | None) -> Array:
    """``q`` (nq,) checked, as NumPy numbers; the neutral configuration if None."""
    return np.asarray(robot.neutral) if q is None else _one("q", q, "nq", robot)


def one_velocity(name: str, robot: Robot, v: JointVector | None) -> Array:
    """``v`` or another joint vector (nv,) checked, as NumPy numbers; zero if None."""
    return np.zeros(robot.nv) if v is None else _one(name, v, "nv", robot)


def _one(name: str, value: Array, axis: str, robot: Robot) -> Array:
    value = np.asarray(as_array(name, value, (axis,), robot), float)
    if value.ndim != 1:
        raise ShapeError(
            f"a picture shows one state, but `{name}` has shape {value.shape}; pass one of them, "
            f"for example `{name}[{', '.join('0' * (value.ndim - 1))}]`."
        )
    if not np.all(np.isfinite(value)):
        raise ArgumentError(f"`{name}` must be finite, got {np.array2string(value, precision=4)}.")
    return value


def skeleton_of(robot: Robot, q: Array) -> Skeleton:
    """The skeleton of a robot at ``q`` (nq,), rad or m."""
    s, p = robot.structure, robot.parameters
    T = np.asarray(link_poses(robot, q))
    masses = np.asarray(p.inertias[:, 0])
    local = np.asarray(p.inertias[:, 1:4]) / np.where(masses > 0, masses, 1.0)[:, None]
    coms = np.einsum("nij,nj->ni", T[:, :3, :3], local) + T[:, :3, 3]
    frames = [frame for frame in s.frames if frame.pose_row is not None and frame.link >= 0]
    return Skeleton(
        poses=T,
        joints=tuple(_joint_place(robot, T, i) for i in range(robot.n)),
        coms=coms,
        masses=masses,
        tips={frame.name: T[frame.link] @ p.frame_poses[frame.pose_row] for frame in frames},
        tip_links={frame.name: frame.link for frame in frames},
        parents=s.parents,
    )


def _joint_place(robot: Robot, T: Pose, i: int) -> JointPlace:
    kind, parent, S = robot.structure.kind_of(i), robot.structure.parents[i], np.asarray(robot.parameters.screws[i])
    home = np.asarray(robot.parameters.poses[i]) if parent < 0 else T[parent] @ robot.parameters.poses[i]
    point = np.cross(
        S[:3], S[3:]
    )  # of the axis, nearest to the link frame; for |ω| = 1, and zero where there is no axis
    direction = kind.axis_of(S) if kind.has_screw else np.array([0.0, 0.0, 1.0]) if kind.name == "planar" else None
    return JointPlace(
        name=robot.joints[i],
        kind=kind.name,
        near=home[:3, :3] @ point + home[:3, 3],
        far=T[i, :3, :3] @ point + T[i, :3, 3],
        axis=None if direction is None else T[i, :3, :3] @ direction,
    )


def tip_frame(robot: Robot) -> str:
    """The frame people mean by the end of a robot: the last named frame on the last link, else that link."""
    named = [frame.name for frame in robot.structure.frames if frame.pose_row is not None and frame.link == robot.n - 1]
    return named[-1] if named else robot.links[-1]
