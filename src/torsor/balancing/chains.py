"""Balanced mechanisms to start from: "examples are readily constructed"."""

from __future__ import annotations

import numpy as np

from torsor.balancing.axisymmetric import axisymmetric_counterweights
from torsor.balancing.conditions import is_number
from torsor.balancing.first_moments import gravity_counterweights
from torsor.border import explained
from torsor.errors import ModelError
from torsor.lie.unchecked import screw
from torsor.model import Inertia, Robot, pose_from, serial_chain

_THICKNESS = 0.1  # of a bar, as a share of its length


@explained
def balanced_planar_chain(n: int, *, mass: float = 1.0, length: float = 0.5, distance: float = 0.25) -> Robot:
    """Robot of n bars in a row with joints about z, with constant mass matrix and without gravity forces [BSP93, §5].

    Gravity (3,) is along −y. Each link must hold up all beyond it: with the default sizes masses grow threefold from link to
    link.

    Parameters
    ----------
    n : int
        Number of bars.
    mass : float
        Mass of each bar, kg.
    length : float
        Length of each bar, m.
    distance : float
        How far each counterweight sits behind its joint, m.

    Returns
    -------
    Robot
        With its counterweights.
    """
    _refuse_no_count(n)
    bars = _bars("balanced_planar_chain", np.tile([0.0, 0.0, 1.0], (n, 1)), mass, length, (0.0, -9.81, 0.0))
    # Gravity is across all axes: its condition is that of M, and more
    return gravity_counterweights(bars, distances=distance).robot


@explained
def balanced_spatial_chain(n: int, *, mass: float = 1.0, length: float = 0.5, counterweight: float = 2.0) -> Robot:
    """Robot with a first joint about z and n − 1 parallel ones about y, as many arms, with constant mass matrix [BSP93, §5].

    Bars along x. The counterweights of each link but the first make everything beyond its joint an inertial solid of
    revolution. Gravity (3,) is along −z.

    Parameters
    ----------
    n : int
        Number of bars.
    mass : float
        Mass of each bar, kg.
    length : float
        Length of each bar, m.
    counterweight : float
        Mass of all counterweights on a link together, kg.

    Returns
    -------
    Robot
        With its counterweights.
    """
    _refuse_no_count(n)
    axes = np.array([[0.0, 0.0, 1.0]] + [[0.0, 1.0, 0.0]] * (n - 1))
    bars = _bars("balanced_spatial_chain", axes, mass, length, (0.0, 0.0, -9.81))
    return axisymmetric_counterweights(bars, masses=counterweight).robot


def _bars(name: str, axes: np.ndarray, mass: float, length: float, gravity: tuple[float, float, float]) -> Robot:
    thick, joints = _THICKNESS * length, np.array([[k * length, 0.0, 0.0] for k in range(len(axes))])
    bar = Inertia.box((length, thick, thick), mass=mass, com=(length / 2, 0.0, 0.0))
    screws = np.array([screw(axis, joint) for axis, joint in zip(axes, joints, strict=True)])
    homes = np.array([pose_from(joint) for joint in joints])
    tip = pose_from(joints[-1] + [length, 0.0, 0.0])
    return serial_chain(screws, homes, [bar] * len(joints), tip=tip, gravity=gravity, name=name)


def _refuse_no_count(n: int) -> None:
    if not is_number(n) or int(n) != n or n < 1:
        raise ModelError(f"takes at least 1 link, and a whole number of them, got {n!r}.")
