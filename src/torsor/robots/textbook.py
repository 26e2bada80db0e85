"""The mechanisms of textbooks and papers, with their sizes as arguments. Gravity along −y for the planar ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from torsor.border import explained
from torsor.errors import ModelError
from torsor.lie import screw
from torsor.model import Inertia, Robot, pose_from, serial_chain

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
