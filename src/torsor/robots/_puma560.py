"""Unimation Puma 560, 6 joints: the arm of the classic papers, with its motors."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Vector3
from torsor.model import DHRow, Inertia, Robot, assemble, dh_chain
from torsor.model._assemble import disassemble, frames_of
from torsor.robots.serial_arms import PI


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
