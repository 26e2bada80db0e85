"""Franka Emika Panda, 7 joints, with its hand (fingers closed) as part of the last link."""

from __future__ import annotations

from torsor.model import Robot, pose_from
from torsor.model.poses import composed
from torsor.robots.table import PI, Row, serial_arm

# Kinematics and limits: the maker's robot description (DH data sheet, hand and fingers included in link 7).
# Inertias: C. Gaz, M. Cognetti, A. Oliva, P. Robuffo Giordano, A. De Luca, "Dynamic identification of the Franka Emika
# Panda robot with retrieval of feasible parameters using penalty-based optimization", IEEE RA-L 4(4), 2019.
_ROWS = (
    Row("panda_joint1", (0, 0, 0.333), (0, 0, 0), (0, 0, 1), (-2.8973, 2.8973), 2.175, 87,
        4.970684, (0.003875, 0.002081, -0.04762), (0.70337, -0.000139, 0.006772, 0.70661, 0.019169, 0.009117)),
    Row("panda_joint2", (0, 0, 0), (-PI / 2, 0, 0), (0, 0, 1), (-1.7628, 1.7628), 2.175, 87,
        0.646926, (-0.003141, -0.02872, 0.003495), (0.007962, -0.003925, 0.010254, 0.02811, 0.000704, 0.025995)),
    Row("panda_joint3", (0, -0.316, 0), (PI / 2, 0, 0), (0, 0, 1), (-2.8973, 2.8973), 2.175, 87,
        3.228604, (0.027518, 0.039252, -0.066502), (0.037242, -0.004761, -0.011396, 0.036155, -0.012805, 0.01083)),
    Row("panda_joint4", (0.0825, 0, 0), (PI / 2, 0, 0), (0, 0, 1), (-3.0718, -0.0698), 2.175, 87,
        3.587895, (-0.05317, 0.104419, 0.027454), (0.025853, 0.007796, -0.001332, 0.019552, 0.008641, 0.028323)),
    Row("panda_joint5", (-0.0825, 0.384, 0), (-PI / 2, 0, 0), (0, 0, 1), (-2.8973, 2.8973), 2.61, 12,
        1.225946, (-0.011953, 0.041065, -0.038437), (0.035549, -0.002117, -0.004037, 0.029474, 0.000229, 0.008627)),
    Row("panda_joint6", (0, 0, 0), (PI / 2, 0, 0), (0, 0, 1), (-0.0175, 3.7525), 2.61, 12,
        1.666555, (0.060149, -0.014117, -0.010517), (0.001964, 0.000109, -0.001158, 0.004354, 0.000341, 0.005433)),
    Row("panda_joint7", (0.088, 0, 0), (PI / 2, 0, 0), (0, 0, 1), (-2.8973, 2.8973), 2.61, 12,
        1.495522, (0.00172087429763, 0.00136035441716, 0.100485281149),
        (0.0165298537126, 0.000394892297119, -0.000706695710615, 0.0141072486422, -0.00105110532705, 0.00667695555664)),
)  # fmt: skip


def panda() -> Robot:
    """Franka Emika Panda with hand: 7 revolute joints, 16.8 kg moving (kg, m, rad, N·m).

    Frames "flange" (the mounting face) and "hand_tcp" (between the finger tips) are on the last link.
    """
    flange = pose_from((0, 0, 0.107))
    return serial_arm(
        "panda", _ROWS, {"flange": flange, "hand_tcp": composed(flange, pose_from((0, 0, 0.1034), (0, 0, -PI / 4)))}
    )
