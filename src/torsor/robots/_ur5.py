"""Universal Robots UR5, 6 joints."""

from __future__ import annotations

from torsor.model import Robot, pose_from
from torsor.robots.table import PI, Row, serial_arm

# Universal Robots' ROS description of the UR5 (ur_description, first generation): the maker's masses and lengths, links
# taken as cylinders.
_ROWS = (
    Row("shoulder_pan_joint", (0, 0, 0.089159), (0, 0, 0), (0, 0, 1), (-2 * PI, 2 * PI), 3.15, 150,
        3.7, (0, 0, 0), (0.010267495893, 0, 0, 0.010267495893, 0, 0.00666)),
    Row("shoulder_lift_joint", (0, 0.13585, 0), (0, PI / 2, 0), (0, 1, 0), (-2 * PI, 2 * PI), 3.15, 150,
        8.393, (0, 0, 0.28), (0.22689067591, 0, 0, 0.22689067591, 0, 0.0151074)),
    Row("elbow_joint", (0, -0.1197, 0.425), (0, 0, 0), (0, 1, 0), (-PI, PI), 3.15, 150,
        2.275, (0, 0, 0.25), (0.049443313556, 0, 0, 0.049443313556, 0, 0.004095)),
    Row("wrist_1_joint", (0, 0, 0.39225), (0, PI / 2, 0), (0, 1, 0), (-2 * PI, 2 * PI), 3.2, 28,
        1.219, (0, 0, 0), (0.111172755531, 0, 0, 0.111172755531, 0, 0.21942)),
    Row("wrist_2_joint", (0, 0.093, 0), (0, 0, 0), (0, 0, 1), (-2 * PI, 2 * PI), 3.2, 28,
        1.219, (0, 0, 0), (0.111172755531, 0, 0, 0.111172755531, 0, 0.21942)),
    Row("wrist_3_joint", (0, 0, 0.09465), (0, 0, 0), (0, 1, 0), (-2 * PI, 2 * PI), 3.2, 28,
        0.1879, (0, 0, 0), (0.0171364731454, 0, 0, 0.0171364731454, 0, 0.033822)),
)  # fmt: skip


def ur5() -> Robot:
    """Universal Robots UR5: 6 revolute joints, 17 kg moving (kg, m, rad, N·m). Frame "tool0" is the mounting face."""
    return serial_arm("ur5", _ROWS, {"tool0": pose_from((0, 0.0823, 0), (-PI / 2, 0, 0))})
