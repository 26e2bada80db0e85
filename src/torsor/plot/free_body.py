"""The wrenches on one link of a moving robot, as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from torsor import lie
from torsor.arrays.typing import Array, Twist, Vector3, Wrench
from torsor.errors import ModelError
from torsor.functions.public.dynamics import joint_wrenches
from torsor.functions.public.kinematics import body_twist
from torsor.lie import se3
from torsor.model import Robot
from torsor.plot.canvas import BLUE, INK, ORANGE, VERMILION
from torsor.plot.skeleton import Skeleton


class Load(NamedTuple):
    """A wrench on a link: symbol, meaning, the point (3,) where it acts in base axes, m, and its value.

    ``wrench`` (6,), N·m and N, is about the origin and in the axes of the link's frame; ``colour`` is that of its arrows.
    """

    symbol: str
    meaning: str
    point: Vector3
    wrench: Wrench
    colour: str


class Motion(NamedTuple):
    """A link cut free: its twist V_i (6,), rad/s, m/s, in its frame, and every wrench on it."""

    twist: Twist
    loads: tuple[Load, ...]

    @property
    def total(self) -> Wrench:
        """The sum of all wrenches (6,), N·m and N."""
        return np.sum([load.wrench for load in self.loads], axis=0)


def link_number(where: str, robot: Robot, link: str | int) -> int:
    """Position of a link given by name or by number from 1."""
    if isinstance(link, str):
        i = robot.structure.link_index(link)
        if i < 0:
            raise ModelError(f"{where}: {link!r} is the base, which no joint moves; choose one of robot.links.")
        return i
    if not 1 <= link <= robot.n:
        raise ModelError(f"{where}: robot {robot.name!r} has links 1 to {robot.n}, got {link}.")
    return link - 1


def cut_free(
    robot: Robot, skeleton: Skeleton, i: int, state: tuple[Array, Array, Array], wrenches: Mapping[str, Wrench]
) -> Motion:
    """Link i in the state (q, v, a): F_i − Σ Ad(T_ci)ᵀ F_c + weight + wrenches from outside [LP, (9.42)]."""
    q, v, a = state
    F = np.asarray(joint_wrenches(robot, q, v, a, dict(wrenches) or None))
    T = skeleton.poses
    loads = [Load(f"$F_{{{i + 1}}}$", f"through {robot.joints[i]}", skeleton.joints[i].far, F[i], VERMILION)]
    for c in skeleton.children(i):
        T_ci = se3.inverse(T[c]) @ T[i]
        F_c = -np.asarray(lie.transform_wrench(T_ci, F[c]))
        loads.append(Load(f"$-F_{{{c + 1}}}$", f"through {robot.joints[c]}", skeleton.joints[c].near, F_c, BLUE))
    if skeleton.masses[i] > 0 and np.any(robot.gravity != 0):
        force = T[i, :3, :3].T @ (skeleton.masses[i] * np.asarray(robot.gravity))
        arm = T[i, :3, :3].T @ (skeleton.coms[i] - T[i, :3, 3])
        weight = np.concatenate([np.cross(arm, force), force])
        loads.append(Load(f"$m_{{{i + 1}}} g$", "weight", skeleton.coms[i], weight, INK))
    for name, wrench in wrenches.items():
        frame = robot.structure.frame(name)
        if frame.link == i:
            T_if = np.eye(4) if frame.pose_row is None else np.asarray(robot.parameters.frame_poses[frame.pose_row])
            outside = np.asarray(lie.transform_wrench_inverse(T_if, np.asarray(wrench, float)))
            loads.append(Load(r"$F_\mathrm{ext}$", f"at {name}", (T[i] @ T_if)[:3, 3], outside, ORANGE))
    return Motion(np.asarray(body_twist(robot, q, v, robot.links[i])), tuple(loads))
