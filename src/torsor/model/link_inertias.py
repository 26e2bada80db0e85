"""The inertias of all links of a robot: as one vector with a name for each number, and whether links have inertia all ways.

Links without inertia in some direction are legal, but the mass matrix of their robot can become singular.
"""

from __future__ import annotations

import numpy as np

from torsor.arrays import concat, reshape
from torsor.arrays.typing import Array, InertialVector, InertiaRow, JointParameterVector
from torsor.border import explained
from torsor.model.inertia import TEN_NUMBERS
from torsor.model.remembered import remembered
from torsor.model.robot import Robot

ROUNDING = 64 * float(np.finfo(float).eps)
_SHIFT = 46  # ROUNDING is 2⁻⁴⁶


def has_degenerate_links(robot: Robot) -> bool:
    """Whether some link has no inertia in some direction (massless, point mass, rod).

    With every link's 6×6 inertia positive definite, the mass matrix is positive definite at every configuration. Not
    known, hence False, while the inertias are being traced.
    """
    return robot.parameters.is_concrete and _has_degenerate_links(robot)


def may_be_singular(robot: Robot) -> bool:
    """Whether the mass matrix could be singular somewhere: True unless every link is known to have inertia all ways."""
    if robot.structure.known_regular:
        return False
    return not robot.parameters.is_concrete or _has_degenerate_links(robot)


@remembered(1024)
def _has_degenerate_links(robot: Robot) -> bool:
    return any(definiteness(row) <= 0 for row in robot.parameters.inertias)


def definiteness(row: InertiaRow) -> int:
    """1 for ten numbers (10,) whose 6×6 inertia is positive in every direction, 0 for none in some, −1 for negative in some.

    Positive is the inertia if the mass m and the rotational inertia about the centre of mass are, which is N/m with
    N = m I − |h|² 1 + h hᵀ. A moment below its own rounding error, measured by the largest entry of I, counts as none.
    Units of length and mass make no difference, and neither does the processor: the numbers are compared as integers.
    """
    if not np.all(np.isfinite(row)):
        return 0
    m, *rest = _as_integers(row)
    h, (xx, xy, xz, yy, yz, zz) = rest[:3], rest[3:]
    largest = max(map(abs, rest[3:]))
    if m < 0 or (m == 0 and any(h)):
        return -1
    if m == 0:
        six, noise = [x << _SHIFT for x in (xx, xy, xz, yy, yz, zz)], largest
    else:
        x, y, z = h
        of_com = (
            m * xx - y * y - z * z,
            m * xy + x * y,
            m * xz + x * z,
            m * yy - x * x - z * z,
            m * yz + y * z,
            m * zz - x * x - y * y,
        )
        six, noise = [entry << _SHIFT for entry in of_com], m * largest
        if _is_positive(six, -noise):
            return 1
    nothing = largest == 0 and not any(h)  # massless, or a point mass at the origin
    return 0 if nothing or _is_positive(six, noise) else -1


def _as_integers(numbers: Array) -> list[int]:
    """Numbers times the same power of two, exactly."""
    fractions = [float(x).as_integer_ratio() for x in numbers]
    common = max(denominator for _, denominator in fractions)
    return [numerator * (common // denominator) for numerator, denominator in fractions]


def _is_positive(six: list[int], shift: int) -> bool:
    """Whether the symmetric matrix of xx, xy, xz, yy, yz, zz, plus ``shift`` times 1, is positive definite (Sylvester)."""
    xx, xy, xz, yy, yz, zz = six
    xx, yy, zz = xx + shift, yy + shift, zz + shift
    of_two = xx * yy - xy * xy
    return xx > 0 and of_two > 0 and zz * of_two + xz * (xy * yz - yy * xz) - yz * (xx * yz - xy * xz) > 0


OF_JOINT = ("armature", "viscous friction", "Coulomb friction", "stiffness", "stiffness · rest")


@explained
def inertial_parameters(robot: Robot) -> InertialVector:
    """Inertial parameters π of all moving links: m, m c, Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the link frame [AAH86; PBP95, (21)].

    Parameters
    ----------
    robot : Robot

    Returns
    -------
    (10 n,) array
        Ten numbers for each link in the order of ``robot.links``, kg, kg·m, kg·m².
        `Robot.with_inertial_parameters` is the way back.
    """
    return reshape(robot.parameters.inertias, 2, robot.n_inertial_parameters)


@explained
def inertial_parameter_names(robot: Robot) -> tuple[str, ...]:
    """Names of the numbers in `inertial_parameters`, which are the names of the columns of regressors.

    Parameters
    ----------
    robot : Robot

    Returns
    -------
    tuple of str
        10 n names: "link_3 m", "link_3 m c_x", …, "link_3 Izz".
    """
    return tuple(f"{link} {what}" for link in robot.links for what in TEN_NUMBERS)


@explained
def joint_parameters(robot: Robot) -> JointParameterVector:
    """Armature, friction and springs of all degrees of freedom: what `joint_regressor` is to be multiplied with.

    Parameters
    ----------
    robot : Robot

    Returns
    -------
    (5 nv,) array
        First all armatures, kg·m² or kg, then viscous, N·m·s or N·s/m, then Coulomb friction, N·m or N, then stiffness k, N·m/rad
        or N/m, and k · rest, N·m or N: forces are linear in these two, and not in ``rest``, which is their quotient.
    """
    p = robot.parameters
    return concat([p.armature, p.viscous_friction, p.coulomb_friction, p.stiffness, p.stiffness * p.rest])


@explained
def joint_parameter_names(robot: Robot) -> tuple[str, ...]:
    """Names of the numbers in `joint_parameters`, which are the names of the columns of `joint_regressor`.

    Parameters
    ----------
    robot : Robot

    Returns
    -------
    tuple of str
        5 nv names: "joint_1 armature", …; "ball[0] armature" where a joint has several degrees of freedom.
    """
    return tuple(f"{freedom} {what}" for what in OF_JOINT for freedom in robot.structure.freedoms)
