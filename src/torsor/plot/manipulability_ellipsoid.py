"""What a robot can do with a frame's origin: the ellipsoid of its velocities or accelerations, on the mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from torsor.arrays.typing import ConfigurationVector
from torsor.model import Robot
from torsor.plot.inertia_ellipsoids import Ellipsoid, draw_at_frame
from torsor.plot.skeleton import one_configuration, tip_frame
from torsor.task_functions import manipulability_ellipsoid as ellipsoid_of
from torsor.tasks import position_task

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_UNITS = {"velocity": "m/s", "energy": "m/s", "force": "m/s²"}
_SAID = {
    "velocity": r"velocities of {} for $|\dot q| \leq 1$",
    "energy": r"velocities of {} for $\dot q^T M \dot q \leq 1$ J",
    "force": r"accelerations of {} for $|\tau| \leq 1$",
}


def manipulability_ellipsoid(
    robot: Robot,
    q: ConfigurationVector | None = None,
    frame: str | None = None,
    *,
    bounded: str = "velocity",
    ax: Axes | None = None,
) -> Axes:
    """The manipulability ellipsoid of a frame's origin, on the mechanism: long where the robot moves it easily [Yos85].

    ``q`` (nq,), rad or m (neutral if None); ``frame`` is the last named frame of the last link if None. ``bounded`` as for
    `torsor.manipulability_ellipsoid`: "velocity", "energy" or "force". At each axis stands its half length, m/s or m/s².
    Scaled to be seen. Returns the Axes, in m.
    """
    q = one_configuration("manipulability_ellipsoid", robot, q)
    frame = tip_frame(robot) if frame is None else frame
    found = ellipsoid_of(robot, q, position_task(frame), bounded)
    lengths = np.nan_to_num(found.lengths)
    texts = [f"{length:.3g} {_UNITS[bounded]}" for length in lengths]
    said = _SAID[bounded].format(frame)
    drawn = Ellipsoid(lengths, found.axes)
    return draw_at_frame("manipulability_ellipsoid", robot, q, frame, drawn, texts, said, ax)
