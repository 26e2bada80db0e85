"""KUKA LBR iiwa 14 R820, 7 joints."""

from __future__ import annotations

from torsor.model import Robot, pose_from
from torsor.robots.table import PI, Row, serial_arm

_WIDE, _NARROW, _WRIST = 170 * PI / 180, 120 * PI / 180, 175 * PI / 180

# C. Hennersperger et al., "Towards MRI-based autonomous robotic US acquisitions", IEEE Trans. Med. Imaging 36(2), 2017:
# the iiwa_stack description of the iiwa 14; velocity limits from the maker's data sheet.
_ROWS = (
    Row("joint_a1", (0, 0, 0.1575), (0, 0, 0), (0, 0, 1), (-_WIDE, _WIDE), 1.4835, 320,
        4, (0, -0.03, 0.12), (0.1, 0, 0, 0.09, 0, 0.02)),
    Row("joint_a2", (0, 0, 0.2025), (PI / 2, 0, PI), (0, 0, 1), (-_NARROW, _NARROW), 1.4835, 320,
        4, (0.0003, 0.059, 0.042), (0.05, 0, 0, 0.018, 0, 0.044)),
    Row("joint_a3", (0, 0.2045, 0), (PI / 2, 0, PI), (0, 0, 1), (-_WIDE, _WIDE), 1.7453, 176,
        3, (0, 0.03, 0.13), (0.08, 0, 0, 0.075, 0, 0.01)),
    Row("joint_a4", (0, 0, 0.2155), (PI / 2, 0, 0), (0, 0, 1), (-_NARROW, _NARROW), 1.3090, 176,
        2.7, (0, 0.067, 0.034), (0.03, 0, 0, 0.01, 0, 0.029)),
    Row("joint_a5", (0, 0.1845, 0), (-PI / 2, PI, 0), (0, 0, 1), (-_WIDE, _WIDE), 2.2689, 110,
        1.7, (0.0001, 0.021, 0.076), (0.02, 0, 0, 0.018, 0, 0.005)),
    Row("joint_a6", (0, 0, 0.2155), (PI / 2, 0, 0), (0, 0, 1), (-_NARROW, _NARROW), 2.3562, 40,
        1.8, (0, 0.0006, 0.0004), (0.005, 0, 0, 0.0036, 0, 0.0047)),
    Row("joint_a7", (0, 0.081, 0), (-PI / 2, PI, 0), (0, 0, 1), (-_WRIST, _WRIST), 2.3562, 40,
        0.3, (0, 0, 0.02), (0.001, 0, 0, 0.001, 0, 0.001)),
)  # fmt: skip


def iiwa() -> Robot:
    """KUKA LBR iiwa 14 R820: 7 revolute joints (kg, m, rad, N·m). Frame "ee" is the mounting face."""
    return serial_arm("iiwa", _ROWS, {"ee": pose_from((0, 0, 0.045))})
