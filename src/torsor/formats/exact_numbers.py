"""Numbers that a file gives as the model keeps them are kept to the last bit, though building a robot rounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torsor.arrays.typing import Array, Twist
from torsor.formats.description import Description, Exact
from torsor.model import Robot
from torsor.model.structure import Coupling

# What making a screw a unit may change, of 1 in its direction and of its largest number in its moment.
ROUNDING = 32 * float(np.finfo(float).eps)


def with_exact_numbers(robot: Robot, described: Description, exact: Exact) -> Robot:
    """``robot`` with the numbers of the file wherever building gave the same up to rounding; repaired ones stay."""
    s, p = robot.structure, robot.parameters
    poses, screws, couplings = p.poses.copy(), p.screws.copy(), list(s.couplings)
    for i, name in enumerate(s.joints):
        given = exact.joints.get(name)
        if given is None:
            continue
        if np.array_equal(poses[i], given.pose):  # the sign of a zero is all that can differ
            poses[i] = given.pose
        if given.screw is not None and _same_screw(screws[i], given.screw):
            screws[i] = given.screw
            coordinate, ratio, offset = couplings[i]
            if _same(ratio, given.ratio) and _same(offset, given.offset):
                couplings[i] = Coupling(coordinate, given.ratio, given.offset)
    frame_poses = p.frame_poses.copy()
    given_frames = {frame.name: frame.pose for frame in described.frames}
    for frame in s.frames:
        if frame.name in given_frames and np.array_equal(frame_poses[frame.pose_row], given_frames[frame.name]):
            frame_poses[frame.pose_row] = given_frames[frame.name]
    rank = {name: k for k, name in enumerate(exact.frame_order or ())}
    inertias, base_inertia = _inertias(robot, described, exact)
    changed = robot.with_parameters(
        poses=poses, screws=screws, inertias=inertias, base_inertia=base_inertia, frame_poses=frame_poses
    )
    frames = tuple(sorted(s.frames, key=lambda frame: rank.get(frame.name, -1)))
    return replace(changed, structure=replace(s, couplings=tuple(couplings), frames=frames))


def _inertias(robot: Robot, described: Description, exact: Exact) -> tuple[Array, Array]:
    """Inertia rows (n, 10) and that of the base (10,), as given for links that carry nothing fixed and were not repaired."""
    s = robot.structure
    rows, base_row = robot.parameters.inertias.copy(), robot.parameters.base_inertia
    index = {name: i for i, name in enumerate(s.links)}
    carrying = {joint.parent for joint in described.joints if joint.kind == "fixed"}
    for link in described.links:
        given = exact.bodies.get(link.name)
        if given is None or link.moments is not given.moments or link.name in carrying:
            continue
        if link.name == s.base:
            base_row = given.row
        elif link.name in index:
            rows[index[link.name]] = given.row
    return rows, base_row


def _same_screw(made: Twist, given: Twist) -> bool:
    change = np.abs(made - given)
    return bool(
        np.all(change[:3] <= ROUNDING) and np.all(change[3:] <= ROUNDING * max(1.0, float(np.abs(given[3:]).max())))
    )


def _same(made: float, given: float) -> bool:
    return abs(made - given) <= ROUNDING * abs(given)
