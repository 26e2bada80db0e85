"""What a robot can do with a frame's origin: the ellipsoid of its velocities or accelerations, on the mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.border import explained
from torsor.errors import ArgumentError
from torsor.functions.public.kinematics import frame_pose
from torsor.model import Robot
from torsor.plot.inertia_ellipsoids import Ellipsoid, draw_at_frame
from torsor.plot.skeleton import one_configuration, tip_frame
from torsor.redundancy.report_text import units_of_freedoms
from torsor.tasks import FrameTask, SelectedTask, Task, position_task
from torsor.tasks.public import manipulability_ellipsoid as ellipsoid_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_UNITS = {"velocity": "m/s", "energy": "m/s", "force": "m/s²"}
_SAID = {
    "velocity": r"velocities of {} for $|\dot q| \leq 1$ {}",
    "energy": r"velocities of {} for $\dot q^T M \dot q \leq 1$ J",
    "force": r"accelerations of {} for $|\tau| \leq 1$ {}",
}
_JOINT_UNITS = {"velocity": {"rad": "rad/s", "m": "m/s"}, "force": {"rad": "N m", "m": "N"}}


@explained
def manipulability_ellipsoid(
    robot: Robot,
    q: ConfigurationVector | None = None,
    frame: str | Task | None = None,
    *,
    bounded: str = "velocity",
    ax: Axes | None = None,
) -> Axes:
    """The manipulability ellipsoid of a frame's origin, on the mechanism: long where the robot moves it easily [Yos85].

    ``q`` (nq,), rad or m (neutral if None); ``frame`` is the last named frame of the last link if None, and may be a task of one
    to three linear rows of a frame: `position_task` with some rows is drawn as an ellipse or line along these. ``bounded`` as for
    `torsor.tasks.manipulability_ellipsoid`: "velocity", "energy" or "force". At each axis stands its half length, m/s or m/s².
    Scaled to be seen. Returns the Axes, in m.
    """
    q = one_configuration("manipulability_ellipsoid", robot, q)
    frame = tip_frame(robot) if frame is None else frame
    task = position_task(frame) if isinstance(frame, str) else frame
    name, rows = _linear_rows(robot, q, task)
    found = ellipsoid_of(robot, q, task, bounded=bounded)
    lengths, directions = np.zeros(3), np.zeros((3, 3))
    lengths[: task.size], directions[:, : task.size] = np.nan_to_num(found.lengths), rows @ found.axes
    texts = [f"{length:.3g} {_UNITS[bounded]}" for length in lengths]
    said = _SAID[bounded].format(name, _joint_units(robot, bounded))
    drawn = Ellipsoid(lengths, directions)
    return draw_at_frame("manipulability_ellipsoid", robot, q, name, drawn, texts, said, ax)


def _linear_rows(robot: Robot, q: ConfigurationVector, task: Task) -> tuple[str, Array]:
    """The frame of a task of linear rows, and the directions of these (3, m) in base axes."""
    whole, rows = (task.task, task.rows) if isinstance(task, SelectedTask) else (task, tuple(range(task.size)))
    if isinstance(whole, FrameTask) and all(whole.labels[row].startswith("v") for row in rows):
        axes = np.eye(3) if whole.kind == "position" else np.asarray(frame_pose(robot, q, whole.frame))[:3, :3]
        return whole.frame, axes[:, ["xyz".index(whole.labels[row][1]) for row in rows]]
    raise ArgumentError(
        f"manipulability_ellipsoid: drawn are velocities of a point, one to three linear rows (vx, vy, vz) of one frame; "
        f"this task has {', '.join(task.labels)}. torsor.tasks.manipulability_ellipsoid has the numbers of every task."
    )


def _joint_units(robot: Robot, bounded: str) -> str:
    """Of what is bounded, if all joints have the same."""
    units = (
        {_JOINT_UNITS[bounded][unit] for unit in units_of_freedoms(robot.structure)} if bounded != "energy" else set()
    )
    return units.pop() if len(units) == 1 else "in the unit of each joint"
