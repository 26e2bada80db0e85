"""Balanced mechanisms to start from: "examples are readily constructed"."""

from __future__ import annotations

import numpy as np

from torsor.balancing.axisymmetric import axisymmetric_counterweights
from torsor.balancing.conditions import is_number
from torsor.balancing.gravity import gravity_counterweights
from torsor.border import explained
from torsor.errors import ModelError
from torsor.lie.unchecked import screw
from torsor.model import Inertia, Robot, pose_from, serial_chain

_THICKNESS = 0.1  # of a bar, as a share of its length


@explained
def balanced_planar_chain(n: int, *, mass: float = 1.0, length: float = 0.5, distance: float = 0.25) -> Robot:
    """N bars in a row with joints about z, each with a counterweight: constant mass matrix, no gravity forces [BSP93, §5].

    Each bar has ``mass`` (kg) and ``length`` (m), its counterweight sits ``distance`` (m) behind its joint. Gravity (3,) is
    along −y. Each link must hold up all beyond it: with the default sizes masses grow threefold from link to link.
    """
    _check(n, 1)
    axes = np.tile([0.0, 0.0, 1.0], (n, 1))
    joints = np.array([[k * length, 0.0, 0.0] for k in range(n)])
    bars = _bars("balanced_planar_chain", axes, joints, mass, length, (0.0, -9.81, 0.0))
    return gravity_counterweights(
        bars, distances=distance
    ).robot  # across all axes: its condition is that of M, and more


@explained
def balanced_spatial_chain(n: int, *, mass: float = 1.0, length: float = 0.5, counterweight: float = 2.0) -> Robot:
    """A first joint about z and n − 1 parallel ones about y, as in many arms, with constant mass matrix [BSP93, §5].

    Bars of ``mass`` (kg) and ``length`` (m) along x. The counterweights of each link but the first weigh ``counterweight``
    (kg) together and make everything beyond its joint an inertial solid of revolution. Gravity (3,) is along −z.
    """
    _check(n, 1)
    axes = np.array([[0.0, 0.0, 1.0]] + [[0.0, 1.0, 0.0]] * (n - 1))
    joints = np.array([[k * length, 0.0, 0.0] for k in range(n)])
    bars = _bars("balanced_spatial_chain", axes, joints, mass, length, (0.0, 0.0, -9.81))
    return axisymmetric_counterweights(bars, masses=counterweight).robot


def _bars(
    name: str, axes: np.ndarray, joints: np.ndarray, mass: float, length: float, gravity: tuple[float, float, float]
) -> Robot:
    thick = _THICKNESS * length
    bar = Inertia.box((length, thick, thick), mass=mass, com=(length / 2, 0.0, 0.0))
    screws = np.array([screw(axis, joint) for axis, joint in zip(axes, joints, strict=True)])
    homes = np.array([pose_from(joint) for joint in joints])
    tip = pose_from(joints[-1] + [length, 0.0, 0.0])
    return serial_chain(screws, homes, [bar] * len(joints), tip=tip, gravity=gravity, name=name)


def _check(n: int, least: int) -> None:
    if not is_number(n) or int(n) != n or n < least:
        raise ModelError(f"takes at least {least} link, and a whole number of them, got {n!r}.")
