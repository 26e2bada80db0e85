"""External wrenches: what the environment does to the robot, on named frames."""

from __future__ import annotations

from collections.abc import Mapping

from torsor.arrays.typing import Wrench
from torsor.lie import unchecked as lie
from torsor.model import Robot

Wrenches = Mapping[str, Wrench]  # frame name → (..., 6): moment and force in that frame's axes, about its origin


def wrenches_on_links(robot: Robot, wrenches: Wrenches | None) -> dict[int, Wrench]:
    """The external wrench on each link, in the link's frame; links without any are absent, the base is ignored."""
    on_links: dict[int, Wrench] = {}
    for name, F in (wrenches or {}).items():
        frame = robot.structure.frame(name)
        if frame.pose_row is not None:
            F = lie.transform_wrench_inverse(robot.parameters.frame_poses[frame.pose_row], F)
        if frame.link >= 0:
            on_links[frame.link] = on_links[frame.link] + F if frame.link in on_links else F
    return on_links
