"""The inertia of a rigid body as people measure it: mass, centre of mass, rotational inertia about that centre."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from torsor._html import shown_by
from torsor.arrays import (
    as_numbers,
    cross,
    dot,
    exact_constants,
    is_concrete,
    known_numbers,
    matmul,
    matvec,
    outer,
    stack,
    transpose,
)
from torsor.arrays.foreign import ForeignArray
from torsor.arrays.symmetric_eigen import is_plainly_definite, symmetric_eigen
from torsor.arrays.typing import Array, InertiaRow, Matrix3, Matrix6, Pose, Twist, Vector3
from torsor.border import explained
from torsor.border.rigid_motions import one_pose
from torsor.errors import ArgumentTypeError, ModelError, ShapeError
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.lie.unchecked.inertias import rotational as rotational_part
from torsor.model import shapes
from torsor.model.solids import Solids

if TYPE_CHECKING:
    from torsor.model.robot import Robot


_ORIGIN = (0.0, 0.0, 0.0)
TEN_NUMBERS = ("m", "m c_x", "m c_y", "m c_z", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
# Of the inertia about the link frame: what moving to the centre of mass leaves.
_CANCELLED = 64 * float(np.finfo(float).eps)
_ROUNDING = 1e-12  # of the largest entry: what an asymmetric or indefinite inertia may owe to printed digits


class PrincipalAxes(NamedTuple):
    """Moments (3,), kg·m², ascending, and the rotation (3, 3) whose columns are the principal axes in the link frame."""

    moments: Vector3
    axes: Matrix3


@dataclass(frozen=True, eq=False)
class Inertia(Solids):
    """A rigid body's mass (kg), centre of mass (3,) (m) and rotational inertia (3, 3) (kg·m²) [PBP95, (21)].

    The centre of mass is given in the link frame; the rotational inertia is about the centre of mass, in the axes of
    the link frame. Massless bodies and point masses are legal. What no body can have (negative or non-finite mass,
    an asymmetric or indefinite inertia) is refused, except by `unchecked`. Moments that break the triangle inequality are
    accepted, for every equation is defined with them: `violations` tells, and reading a file refuses them.
    ``numbers`` is None, or the ten numbers (10,) that were not checked and that no body has.
    """

    mass: Array
    com: Vector3 = _ORIGIN
    rotational: Matrix3 = (_ORIGIN, _ORIGIN, _ORIGIN)
    numbers: InertiaRow | None = field(default=None, init=False, repr=False)
    _repr_html_ = shown_by("torsor.model.notebook", "inertia_html")

    def __post_init__(self) -> None:
        for name, shape in (("mass", ()), ("com", (3,)), ("rotational", (3, 3))):
            value = _numbers(name, getattr(self, name))
            if tuple(value.shape) != shape:
                raise ModelError(f"Inertia: `{name}` must have shape {shape}, got {tuple(value.shape)}.")
            if is_concrete(value) and not all(map(math.isfinite, value.ravel().tolist())):
                raise ModelError(f"Inertia: `{name}` must be finite, got {value.tolist()}.")
            object.__setattr__(self, name, value)
        if is_concrete(self.mass) and self.mass < 0:
            raise ModelError(f"Inertia: mass must not be negative, got {float(self.mass):g} kg.")
        if is_concrete(self.rotational):
            _check_rotational(self.rotational)

    @property
    @exact_constants()
    def row(self) -> InertiaRow:
        """The ten numbers (m, m c, I about the link frame's origin) that the equations of motion are linear in."""
        if self.numbers is not None:
            return self.numbers
        if is_concrete(self.mass, self.com, self.rotational):
            (xx, xy, xz), (_, yy, yz), (_, _, zz) = self.rotational.tolist()
            return shapes.moved_from_com(float(self.mass), self.com.tolist(), (xx, xy, xz, yy, yz, zz))
        at_com = lie.inertia_row(self.mass, 0.0 * self.com, self.rotational)
        centred = is_concrete(self.com) and not np.any(self.com)  # then no −0, as when it is moved
        return at_com + 0.0 if centred else lie.transform_inertia(se3.pose(np.eye(3), self.com), at_com)

    @property
    def matrix(self) -> Matrix6:
        """The 6×6 spatial inertia about the link frame [PBP95, (21)], (angular, linear) order, kg·m², kg·m, kg."""
        return lie.inertia_matrix(self.row)

    @property
    def pseudo(self) -> Pose:
        """The 4×4 pseudo-inertia about the link frame [Sil81, (1.2)]: positive semi-definite for every real body."""
        return lie.pseudo_inertia(self.row)

    @property
    def second_moment(self) -> Matrix3:
        """J = ½ tr(I) 1 − I about the centre of mass, kg·m² [Sil81, (2.11)]."""
        return lie.second_moment(self.rotational)

    @classmethod
    @exact_constants()
    def from_row(cls, row: InertiaRow) -> Inertia:
        """The body of ten numbers (10,): m (kg), m c (kg·m), I about the origin (kg·m²) [PBP95, (21)]."""
        row = _ten_numbers("from_row", row)
        mass = row[0]
        if is_concrete(row) and mass == 0:
            if np.any(row[1:4] != 0):
                raise ModelError(f"Inertia.from_row: zero mass with first moment {row[1:4].tolist()} is no body.")
            return cls(mass, np.zeros(3), rotational_part(row))
        com = row[1:4] / mass
        centred = is_concrete(row) and not np.any(com)
        at_com = rotational_part(row if centred else lie.transform_inertia(se3.pose(np.eye(3), -com), row))
        return cls(mass, com, _without_rounding(at_com, np.abs(row[4:]).max()) if is_concrete(row) else at_com)

    @classmethod
    def unchecked(cls, row: InertiaRow) -> Inertia:
        """Any ten numbers (10,), kg, kg·m, kg·m², as they are, say from an identification; `violations` tells what is wrong.

        Of a body, what `from_row` gives. Of no body, ``row`` is exactly what was given; centre of mass and rotational inertia
        about it are NaN if there is none, as for a first moment without mass.
        """
        row = _ten_numbers("unchecked", row)
        finite = not is_concrete(row) or bool(np.all(np.isfinite(row)))
        if finite:
            with contextlib.suppress(ModelError):
                return cls.from_row(row)
        body, com, rotational = cls.zero(), np.full(3, np.nan), np.full((3, 3), np.nan)
        if finite and (row[0] != 0 or not np.any(row[1:4])):
            com = row[1:4] / row[0] if row[0] else np.zeros(3)
            rotational = rotational_part(lie.transform_inertia(se3.pose(np.eye(3), -com), row))
        for name, value in (("mass", row[0]), ("com", com), ("rotational", rotational), ("numbers", row)):
            object.__setattr__(body, name, value)
        return body

    @classmethod
    @explained
    def from_matrix(cls, G: Matrix6) -> Inertia:
        """The body of a 6×6 spatial inertia (I, [h]; −[h], m 1) about the link frame [PBP95, (21)], kg, m."""
        G = as_numbers(G)
        if tuple(G.shape) != (6, 6):
            raise ModelError(f"`G` must be one matrix of shape (6, 6), got shape {tuple(G.shape)}.")
        rebuilt = lie.inertia_row(G[3, 3], lie.so3.vee(G[:3, 3:]), G[:3, :3])
        if is_concrete(G) and np.abs(lie.inertia_matrix(rebuilt) - G).max() > _ROUNDING * np.abs(G).max():
            raise ModelError(
                "not of the form (I, [h]; -[h], m 1) in (angular, linear) order. "
                "A (linear, angular) matrix has its 3×3 blocks swapped: pass G[[3,4,5,0,1,2]][:, [3,4,5,0,1,2]]."
            )
        return cls.from_row(rebuilt)

    @classmethod
    def zero(cls) -> Inertia:
        """No body at all: the inertia of a massless link."""
        return cls(0.0)

    @classmethod
    @explained
    def point(cls, mass: float, position: Vector3 = _ORIGIN) -> Inertia:
        """A particle of ``mass`` (kg) at ``position`` (3,), m."""
        return cls(mass, position)

    @classmethod
    @explained
    def particles(cls, masses: Array, positions: Array) -> Inertia:
        """Particles (k,), kg, held rigidly at ``positions`` (k, 3), m: I = Σ m (r² 1 − r rᵀ) [Sil81, (2.9)]."""
        masses, positions = known_numbers(masses), known_numbers(positions)
        if masses.ndim != 1 or not len(masses) or positions.shape != (len(masses), 3):
            raise ModelError(
                f"takes masses (k,) and positions (k, 3), k at least 1; got {masses.shape}, {positions.shape}."
            )
        return _welded([cls(m, p) for m, p in zip(masses, positions, strict=True)])

    @explained
    @exact_constants()
    def moved(self, T_ab: Pose) -> Inertia:
        """This body, given in frame b, as seen from frame a; ``T_ab`` (4, 4), m [PBP95, §4]."""
        T_ab = one_pose("T_ab", T_ab)
        if self.numbers is not None:
            return Inertia.unchecked(lie.transform_inertia(T_ab, self.numbers))
        R = se3.rotation(T_ab)
        com = matvec(R, self.com) + se3.translation(T_ab)
        return Inertia(self.mass, com, matmul(R, matmul(self.rotational, transpose(R))))

    @explained
    def __add__(self, other: Inertia) -> Inertia:
        """Both bodies welded together (both given in the same frame) [LP, §9.2.1]."""
        return _welded([self, other])

    @explained
    def kinetic_energy(self, V: Twist) -> Array:
        """½ Vᵀ G V for the body twist V (..., 6) of the link frame, rad/s, m/s; returns (...), J [LP, (9.24)]."""
        V = as_numbers(V)
        return 0.5 * np.sum(V * lie.apply_inertia(self.row, V), axis=-1)

    @exact_constants()
    def principal(self) -> PrincipalAxes:
        """Principal moments and axes about the centre of mass [BSP93, §3.1]; NaN if there is none."""
        if not np.all(np.isfinite(self.rotational)):
            return PrincipalAxes(np.full(3, np.nan), np.full((3, 3), np.nan))
        moments, axes = symmetric_eigen(self.rotational)
        x, y = axes[:, 2], axes[:, 1]
        return PrincipalAxes(moments[::-1], stack([x, y, cross(x, y)]))

    def violations(self) -> list[str]:
        """What a real distribution of mass cannot have, each with by how much; empty if the body can exist [Sil81, (2.7)].

        For any ten numbers: they must be finite, the mass must not be negative, without mass there is no inertia, and the moments
        of ∫ r rᵀ dm must not be negative, which is the triangle inequality of the principal moments.
        """
        row = np.asarray(self.row)
        if not np.all(np.isfinite(row)):
            wrong = (f"{name} = {x:g}" for name, x in zip(TEN_NUMBERS, row, strict=True) if not np.isfinite(x))
            return [f"numbers that are not finite: {', '.join(wrong)}"]
        mass, first = float(self.mass), float(np.linalg.norm(row[1:4]))
        found = [f"negative mass: {mass:.6g} kg"] if mass < 0 else []
        if mass == 0 and first > 0:
            found.append(f"zero mass with a first moment of {first:.6g} kg·m")
        return found + self._violations_of_moments(mass == 0, row)

    def _violations_of_moments(self, massless: bool, row: InertiaRow) -> list[str]:
        low, middle, high = np.linalg.eigvalsh(rotational_part(row) if massless else self.rotational)
        noise = _ROUNDING * abs(high) + _CANCELLED * float(np.abs(row[4:]).max())
        where, excess = "about the link frame" if massless else "about the centre of mass", high - low - middle
        found = []
        if low < -noise:
            found.append(
                f"negative principal moment {where}: {low:.6g} kg·m² (the others are {middle:.6g} and {high:.6g} kg·m²)"
            )
        elif excess > noise:
            found.append(
                f"triangle inequality: the largest principal moment {high:.6g} exceeds the sum of the other two, "
                f"{low:.6g} + {middle:.6g}, by {excess:.3g} kg·m² ({excess / high:.1%})"
            )
        if massless and high > 0:
            found.append(f"zero mass with a rotational inertia of {high:.6g} kg·m²")
        return found


@exact_constants()
def _welded(parts: list[Inertia]) -> Inertia:
    """One body of several, about their common centre of mass: nothing large is subtracted, so nothing is lost."""
    if any(part.numbers is not None for part in parts):
        return Inertia.unchecked(sum(part.row for part in parts))
    mass, moment = parts[0].mass, parts[0].mass * parts[0].com
    for part in parts[1:]:
        mass, moment = mass + part.mass, moment + part.mass * part.com
    com = moment if is_concrete(mass) and mass == 0 else moment / mass
    rotational = 0.0
    for part in parts:
        d = part.com - com
        rotational = rotational + part.rotational + part.mass * (dot(d, d) * np.eye(3) - outer(d, d))
    return Inertia(mass, com, rotational)


def _numbers(name: str, value: Array) -> Array:
    try:
        return as_numbers(value)
    except ShapeError as error:  # an array of another library
        raise ModelError(f"Inertia: `{name}`: {error}") from None
    except (TypeError, ValueError) as error:
        raise ModelError(f"Inertia: `{name}` must be real numbers, got {value!r:.60}.") from error


def _ten_numbers(where: str, row: InertiaRow) -> InertiaRow:
    try:
        numbers = as_numbers(row)
    except ForeignArray as error:
        raise ModelError(f"Inertia.{where}: `row`: {error}") from None
    except (TypeError, ValueError) as error:
        raise ModelError(f"Inertia.{where}: `row` must be ten numbers, got {row!r:.60}.") from error
    if tuple(numbers.shape) != (10,):
        raise ModelError(
            f"Inertia.{where}: `row` must be ten numbers ({', '.join(TEN_NUMBERS)}), got shape {tuple(numbers.shape)}."
        )
    return numbers


def _without_rounding(rotational: Matrix3, scale: float) -> Matrix3:
    """The inertia about the centre of mass, where it is what is left of larger numbers of size ``scale`` that cancelled:
    principal moments that are zero to their rounding become zero (a point mass stays a point mass).
    """
    if not np.any(np.abs(np.linalg.eigvalsh(rotational)) <= 2 * _ROUNDING * scale):
        return rotational
    moments, axes = symmetric_eigen(rotational)
    if not np.any(np.abs(moments) <= _ROUNDING * scale):
        return rotational
    moments = np.where(np.abs(moments) <= _ROUNDING * scale, 0.0, moments)
    return matmul(axes * moments, transpose(axes))


def _check_rotational(rotational: Matrix3) -> None:
    if is_plainly_definite(rotational) or not rotational.any():
        return
    scale = np.abs(rotational).max()
    asymmetry = np.abs(rotational - rotational.T).max()
    if asymmetry > _ROUNDING * scale:
        raise ModelError(f"Inertia: `rotational` must be symmetric; entries differ by up to {asymmetry:.3g} kg·m².")
    lowest = np.linalg.eigvalsh(rotational)[0]
    if lowest < -_ROUNDING * scale:
        raise ModelError(
            f"Inertia: `rotational` must not have negative principal moments, got {lowest:.6g} kg·m². "
            "Products of inertia are often given with the opposite sign: check Ixy, Ixz, Iyz."
        )


def refuse_unphysical(where: str, robot: Robot) -> None:
    """Raise, naming the link, if some link has numbers that are no mass, centre and rotational inertia of anything."""
    rows = (*robot.parameters.inertias, robot.parameters.base_inertia)
    for link, row in zip((*robot.links, robot.structure.base), rows, strict=True):
        if (body := Inertia.unchecked(row)).numbers is not None:
            wrong = "; ".join(body.violations())
            raise ModelError(
                f"{where}: robot {robot.name!r}: link {link!r} has an inertia that no body has: {wrong}. "
                f"Give it another: robot.with_inertia({link!r}, torsor.Inertia(mass, com, rotational))."
            )


def refuse_no_inertia(where: str, inertia: object) -> None:
    """Raise unless this is an `Inertia`: a mass alone, say, with what to write instead."""
    if isinstance(inertia, Inertia):
        return
    a_mass = f"torsor.Inertia.point({inertia!r})" if isinstance(inertia, (int, float)) else "torsor.Inertia.point(1.5)"
    raise ArgumentTypeError(
        f"{where}: `inertia` must be a torsor.Inertia, got {type(inertia).__name__} {inertia!r:.60}. A mass alone is {a_mass}, a "
        "body with moments of inertia torsor.Inertia.box((0.1, 0.1, 0.2), mass=1.5), say."
    )
