"""Robots as data: those of textbooks, and arms that are built and sold, with the numbers their makers or others publish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Pose, Vector3
from torsor.border import explained
from torsor.errors import ModelError
from torsor.lie import screw
from torsor.model import DHRow, Inertia, Joint, Robot, assemble, dh_chain, pose_from, serial_chain
from torsor.model._assemble import disassemble, frames_of
from torsor.model.poses import composed

_Z = np.array([0.0, 0.0, 1.0])
_DOWN_THE_PAGE = (0.0, -9.81, 0.0)


@explained
def pendulum(*, mass: float = 1.0, length: float = 1.0) -> Robot:
    """A point mass on a rod that turns about z, with gravity along −y; q = 0 points along x [LP, §9.1.1].

    Parameters
    ----------
    mass : float
        kg.
    length : float
        m.

    Returns
    -------
    Robot
        One revolute joint, rad.
    """
    return planar_chain([length], [mass], name="pendulum")


@explained
def planar2r(*, masses: Sequence[float] = (1.0, 1.0), lengths: Sequence[float] = (1.0, 1.0)) -> Robot:
    """The book's planar 2R chain: point masses at the ends of two links, gravity along −y [LP, §9.1.1].

    Parameters
    ----------
    masses : sequence of float
        kg.
    lengths : sequence of float
        m.

    Returns
    -------
    Robot
        Two revolute joints, rad.
    """
    return planar_chain(lengths, masses, name="planar2r")


@explained
def planar_chain(lengths: Sequence[float], masses: Sequence[float], *, name: str = "planar_chain") -> Robot:
    """Links along x with point masses at their ends, revolute joints about z, gravity along −y [LP, §9.1.1].

    Parameters
    ----------
    lengths : sequence of float
        One for each link, m.
    masses : sequence of float
        One for each link, kg.
    name : str

    Returns
    -------
    Robot
        As many revolute joints as links, rad.
    """
    if len(lengths) != len(masses) or not len(lengths):
        raise ModelError(
            f"{name}: as many lengths as masses, one for each link, got {len(lengths)} lengths and {len(masses)} masses."
        )
    *starts, end = accumulate(lengths, initial=0.0)
    screws = [screw(_Z, [x, 0.0, 0.0]) for x in starts]
    homes = [pose_from((x, 0.0, 0.0)) for x in starts]
    inertias = [Inertia.point(m, (length, 0.0, 0.0)) for m, length in zip(masses, lengths, strict=True)]
    tip, kinds = pose_from((end, 0.0, 0.0)), ["revolute"] * len(starts)
    return serial_chain(screws, homes, inertias, tip=tip, gravity=_DOWN_THE_PAGE, name=name, kinds=kinds)


@explained
def cart_pole(*, cart: float = 1.0, pole: float = 0.1, length: float = 0.5) -> Robot:
    """A cart that slides along x, and a pole about z with a point mass; gravity along −y, q2 = 0 hangs down.

    Parameters
    ----------
    cart : float
        Mass of the cart, kg.
    pole : float
        Mass at the end of the pole, kg.
    length : float
        Of the pole, m.

    Returns
    -------
    Robot
        Joints "slide", m, and "swing", rad.
    """
    screws = np.array([[0, 0, 0, 1.0, 0, 0], [0, 0, 1.0, 0, 0, 0]])
    homes = np.array([np.eye(4), np.eye(4)])
    inertias = [Inertia.point(cart), Inertia.point(pole, (0.0, -length, 0.0))]
    tip = pose_from((0.0, -length, 0.0))
    return serial_chain(
        screws, homes, inertias, tip=tip, gravity=_DOWN_THE_PAGE, names=["slide", "swing"], name="cart_pole"
    )


@explained
def chain(n: int, *, mass: float = 1.0, length: float = 0.3, radius: float = 0.05) -> Robot:
    """Links in a row, cylinders along z with revolute joints about z, y, z, y, …; gravity along −z.

    Parameters
    ----------
    n : int
        How many links.
    mass : float
        Of each link, kg.
    length, radius : float
        Of each link, m.

    Returns
    -------
    Robot
        n revolute joints, rad.
    """
    heights = [length * float(k) for k in range(n)]
    axes = [np.array([0.0, 0.0, 1.0]) if k % 2 == 0 else np.array([0.0, 1.0, 0.0]) for k in range(n)]
    screws = [screw(axis, [0.0, 0.0, z]) for axis, z in zip(axes, heights, strict=True)]
    link = Inertia.cylinder(radius, length, mass=mass, com=(0.0, 0.0, length / 2))
    homes = [pose_from((0.0, 0.0, z)) for z in heights]
    tip = pose_from((0.0, 0.0, n * length))
    return serial_chain(screws, homes, [link] * n, tip=tip, name=f"chain{n}", kinds=["revolute"] * n)


PI = float(np.pi)


class _Row(NamedTuple):
    """A revolute joint (its origin in the parent link's frame, axis, limits) and the link it moves. SI units."""

    joint: str
    xyz: Vector3
    rpy: Vector3
    axis: Vector3
    range: tuple[float, float]
    velocity: float
    effort: float
    mass: float
    com: Vector3
    inertia: tuple[float, float, float, float, float, float]  # Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the centre of mass


def _serial_arm(name: str, rows: Sequence[_Row], frames: dict[str, Pose]) -> Robot:
    """The arm of a table; ``frames`` are fixed to its last link."""
    joints, parent = [], "base"
    for k, row in enumerate(rows, 1):
        xx, xy, xz, yy, yz, zz = row.inertia
        joints.append(
            Joint(
                name=row.joint,
                kind="revolute",
                parent=parent,
                link=f"link_{k}",
                pose=pose_from(row.xyz, row.rpy),
                axis=row.axis,
                inertia=Inertia(row.mass, row.com, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
                lower=row.range[0],
                upper=row.range[1],
                velocity_limit=row.velocity,
                effort_limit=row.effort,
            )
        )
        parent = f"link_{k}"
    return assemble(joints, name=name, frames={frame: (parent, pose) for frame, pose in frames.items()})


_WIDE, _NARROW, _WRIST = 170 * PI / 180, 120 * PI / 180, 175 * PI / 180

# C. Hennersperger et al., "Towards MRI-based autonomous robotic US acquisitions", IEEE Trans. Med. Imaging 36(2), 2017:
# the iiwa_stack description of the iiwa 14; velocity limits from the maker's data sheet.
_IIWA = (
    _Row("joint_a1", (0, 0, 0.1575), (0, 0, 0), (0, 0, 1), (-_WIDE, _WIDE), 1.4835, 320,
        4, (0, -0.03, 0.12), (0.1, 0, 0, 0.09, 0, 0.02)),
    _Row("joint_a2", (0, 0, 0.2025), (PI / 2, 0, PI), (0, 0, 1), (-_NARROW, _NARROW), 1.4835, 320,
        4, (0.0003, 0.059, 0.042), (0.05, 0, 0, 0.018, 0, 0.044)),
    _Row("joint_a3", (0, 0.2045, 0), (PI / 2, 0, PI), (0, 0, 1), (-_WIDE, _WIDE), 1.7453, 176,
        3, (0, 0.03, 0.13), (0.08, 0, 0, 0.075, 0, 0.01)),
    _Row("joint_a4", (0, 0, 0.2155), (PI / 2, 0, 0), (0, 0, 1), (-_NARROW, _NARROW), 1.3090, 176,
        2.7, (0, 0.067, 0.034), (0.03, 0, 0, 0.01, 0, 0.029)),
    _Row("joint_a5", (0, 0.1845, 0), (-PI / 2, PI, 0), (0, 0, 1), (-_WIDE, _WIDE), 2.2689, 110,
        1.7, (0.0001, 0.021, 0.076), (0.02, 0, 0, 0.018, 0, 0.005)),
    _Row("joint_a6", (0, 0, 0.2155), (PI / 2, 0, 0), (0, 0, 1), (-_NARROW, _NARROW), 2.3562, 40,
        1.8, (0, 0.0006, 0.0004), (0.005, 0, 0, 0.0036, 0, 0.0047)),
    _Row("joint_a7", (0, 0.081, 0), (-PI / 2, PI, 0), (0, 0, 1), (-_WRIST, _WRIST), 2.3562, 40,
        0.3, (0, 0, 0.02), (0.001, 0, 0, 0.001, 0, 0.001)),
)  # fmt: skip


def iiwa() -> Robot:
    """KUKA LBR iiwa 14 R820: 7 revolute joints. Frame "ee" is the mounting face.

    Returns
    -------
    Robot
        kg, m, rad, N·m.
    """
    return _serial_arm("iiwa", _IIWA, {"ee": pose_from((0, 0, 0.045))})


# Kinematics and limits: the maker's robot description (DH data sheet, hand and fingers included in link 7).
# Inertias: C. Gaz, M. Cognetti, A. Oliva, P. Robuffo Giordano, A. De Luca, "Dynamic identification of the Franka Emika
# Panda robot with retrieval of feasible parameters using penalty-based optimization", IEEE RA-L 4(4), 2019.
_PANDA = (
    _Row("panda_joint1", (0, 0, 0.333), (0, 0, 0), (0, 0, 1), (-2.8973, 2.8973), 2.175, 87,
        4.970684, (0.003875, 0.002081, -0.04762), (0.70337, -0.000139, 0.006772, 0.70661, 0.019169, 0.009117)),
    _Row("panda_joint2", (0, 0, 0), (-PI / 2, 0, 0), (0, 0, 1), (-1.7628, 1.7628), 2.175, 87,
        0.646926, (-0.003141, -0.02872, 0.003495), (0.007962, -0.003925, 0.010254, 0.02811, 0.000704, 0.025995)),
    _Row("panda_joint3", (0, -0.316, 0), (PI / 2, 0, 0), (0, 0, 1), (-2.8973, 2.8973), 2.175, 87,
        3.228604, (0.027518, 0.039252, -0.066502), (0.037242, -0.004761, -0.011396, 0.036155, -0.012805, 0.01083)),
    _Row("panda_joint4", (0.0825, 0, 0), (PI / 2, 0, 0), (0, 0, 1), (-3.0718, -0.0698), 2.175, 87,
        3.587895, (-0.05317, 0.104419, 0.027454), (0.025853, 0.007796, -0.001332, 0.019552, 0.008641, 0.028323)),
    _Row("panda_joint5", (-0.0825, 0.384, 0), (-PI / 2, 0, 0), (0, 0, 1), (-2.8973, 2.8973), 2.61, 12,
        1.225946, (-0.011953, 0.041065, -0.038437), (0.035549, -0.002117, -0.004037, 0.029474, 0.000229, 0.008627)),
    _Row("panda_joint6", (0, 0, 0), (PI / 2, 0, 0), (0, 0, 1), (-0.0175, 3.7525), 2.61, 12,
        1.666555, (0.060149, -0.014117, -0.010517), (0.001964, 0.000109, -0.001158, 0.004354, 0.000341, 0.005433)),
    _Row("panda_joint7", (0.088, 0, 0), (PI / 2, 0, 0), (0, 0, 1), (-2.8973, 2.8973), 2.61, 12,
        1.495522, (0.00172087429763, 0.00136035441716, 0.100485281149),
        (0.0165298537126, 0.000394892297119, -0.000706695710615, 0.0141072486422, -0.00105110532705, 0.00667695555664)),
)  # fmt: skip


def panda() -> Robot:
    """Franka Emika Panda with its hand, fingers closed: 7 revolute joints, 16.8 kg moving.

    Frames "flange" (the mounting face) and "hand_tcp" (between the finger tips) are on the last link.

    Returns
    -------
    Robot
        kg, m, rad, N·m.
    """
    flange = pose_from((0, 0, 0.107))
    return _serial_arm(
        "panda", _PANDA, {"flange": flange, "hand_tcp": composed(flange, pose_from((0, 0, 0.1034), (0, 0, -PI / 4)))}
    )


# Universal Robots' ROS description of the UR5 (ur_description, first generation): the maker's masses and lengths, links
# taken as cylinders.
_UR5 = (
    _Row("shoulder_pan_joint", (0, 0, 0.089159), (0, 0, 0), (0, 0, 1), (-2 * PI, 2 * PI), 3.15, 150,
        3.7, (0, 0, 0), (0.010267495893, 0, 0, 0.010267495893, 0, 0.00666)),
    _Row("shoulder_lift_joint", (0, 0.13585, 0), (0, PI / 2, 0), (0, 1, 0), (-2 * PI, 2 * PI), 3.15, 150,
        8.393, (0, 0, 0.28), (0.22689067591, 0, 0, 0.22689067591, 0, 0.0151074)),
    _Row("elbow_joint", (0, -0.1197, 0.425), (0, 0, 0), (0, 1, 0), (-PI, PI), 3.15, 150,
        2.275, (0, 0, 0.25), (0.049443313556, 0, 0, 0.049443313556, 0, 0.004095)),
    _Row("wrist_1_joint", (0, 0, 0.39225), (0, PI / 2, 0), (0, 1, 0), (-2 * PI, 2 * PI), 3.2, 28,
        1.219, (0, 0, 0), (0.111172755531, 0, 0, 0.111172755531, 0, 0.21942)),
    _Row("wrist_2_joint", (0, 0.093, 0), (0, 0, 0), (0, 0, 1), (-2 * PI, 2 * PI), 3.2, 28,
        1.219, (0, 0, 0), (0.111172755531, 0, 0, 0.111172755531, 0, 0.21942)),
    _Row("wrist_3_joint", (0, 0, 0.09465), (0, 0, 0), (0, 1, 0), (-2 * PI, 2 * PI), 3.2, 28,
        0.1879, (0, 0, 0), (0.0171364731454, 0, 0, 0.0171364731454, 0, 0.033822)),
)  # fmt: skip


def ur5() -> Robot:
    """Universal Robots UR5: 6 revolute joints, 17 kg moving. Frame "tool0" is the mounting face.

    Returns
    -------
    Robot
        kg, m, rad, N·m.
    """
    return _serial_arm("ur5", _UR5, {"tool0": pose_from((0, 0.0823, 0), (-PI / 2, 0, 0))})


class _Link(NamedTuple):
    dh: DHRow
    mass: float
    com: Vector3
    moments: Vector3
    motor_inertia: float
    gear: float
    motor_damping: float
    motor_friction: tuple[float, float]  # Coulomb friction of the motor turning forwards and backwards
    range: tuple[float, float]  # degrees


# P. Corke, B. Armstrong-Hélouvry, "A search for consensus among model parameters reported for the PUMA 560 robot",
# IEEE ICRA 1994 (standard Denavit–Hartenberg). Link 1 is known by its moment about the axis alone: m1 = 0.
_LINKS = (
    _Link(DHRow(0, PI / 2, 0), 0, (0, 0, 0), (0, 0.35, 0), 200e-6, -62.6111, 1.48e-3, (0.395, -0.435), (-160, 160)),
    _Link(DHRow(0.4318, 0, 0), 17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539),
          200e-6, 107.815, 0.817e-3, (0.126, -0.071), (-45, 225)),
    _Link(DHRow(0.0203, -PI / 2, 0.15005), 4.8, (-0.0203, -0.0141, 0.070), (0.066, 0.086, 0.0125),
          200e-6, -53.7063, 1.38e-3, (0.132, -0.105), (-225, 45)),
    _Link(DHRow(0, PI / 2, 0.4318), 0.82, (0, 0.019, 0), (1.8e-3, 1.3e-3, 1.8e-3),
          33e-6, 76.0364, 71.2e-6, (11.2e-3, -16.9e-3), (-110, 170)),
    _Link(DHRow(0, -PI / 2, 0), 0.34, (0, 0, 0), (0.3e-3, 0.4e-3, 0.3e-3),
          33e-6, 71.923, 82.6e-6, (9.26e-3, -14.5e-3), (-100, 100)),
    _Link(DHRow(0, 0, 0), 0.09, (0, 0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3),
          33e-6, 76.686, 36.7e-6, (3.96e-3, -10.5e-3), (-266, 266)),
)  # fmt: skip


def puma560(*, friction: bool = False) -> Robot:
    """Unimation Puma 560: 6 revolute joints, with motor inertias as armature.

    Parameters
    ----------
    friction : bool
        Whether the joints have the motors' viscous and Coulomb friction, referred to the joints; forward and
        backward Coulomb values, which differ, are averaged.

    Returns
    -------
    Robot
        kg, m, rad, N·m.
    """
    chain = dh_chain(
        [link.dh for link in _LINKS],
        [Inertia(link.mass, link.com, np.diag(link.moments)) for link in _LINKS],
        convention="standard",
        name="puma560",
    )
    joints = [
        replace(
            joint,
            lower=np.radians(link.range[0]),
            upper=np.radians(link.range[1]),
            armature=link.gear**2 * link.motor_inertia,
            viscous_friction=link.gear**2 * link.motor_damping if friction else 0.0,
            coulomb_friction=abs(link.gear) * (link.motor_friction[0] - link.motor_friction[1]) / 2
            if friction
            else 0.0,
        )
        for joint, link in zip(disassemble(chain), _LINKS, strict=True)
    ]
    return assemble(joints, name="puma560", frames=frames_of(chain))
