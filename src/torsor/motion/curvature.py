"""How curved is the inertia metric of a robot, along a motion and everywhere? If it is flat, free motion is a straight line.

Curvature is a difference of large terms, so "zero" needs a scale. Each component R_ijkl is measured against the terms that
cancel in it, and against what rounding leaves of them where they vanish themselves (balanced robots)::

    |∂_k Γ_lji|, |∂_l Γ_kji|                           derivatives of the connection
    |∇_k e_j| |∇_l e_i|, |∇_l e_j| |∇_k e_i|           bounds of Γ M⁻¹ Γ by Cauchy and Schwarz
    |Σ_r s_kl^r Γ_rji|                                 where velocities are body twists
    √M_aa √M_bb ω_c ω_d                                a, b, c, d: i, j, k, l in any order; ω_c: rad per unit of q_c

All of them change with the units of the four coordinates as R_ijkl does: the ratio is a pure number, the same as in
coordinates scaled so that the diagonal of M is 1, for prismatic and revolute joints, light and heavy links alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from torsor._reports import Report, in_one_line
from torsor.arrays.typing import Array, ConfigurationVector, JointVector
from torsor.border import explained
from torsor.border.numbers import refuse_bad_count, refuse_bad_numbers, refuse_strangers
from torsor.errors import ArgumentError, ModelError, ShapeError
from torsor.functions.public import dynamics
from torsor.functions.public.geometry import curvature_norm, ricci_curvature, scalar_curvature
from torsor.functions.public.kinematics import difference
from torsor.geometry.christoffel import connection_derivative_of, connection_of
from torsor.geometry.curvature import planes_of, riemann_curvature
from torsor.geometry.freedoms import gathering, structure_constants
from torsor.geometry.inertia_metric import InertiaMetric, inertia_metric
from torsor.mechanics.dynamics.mass_matrix import mass_matrix
from torsor.model import Robot, random_configuration
from torsor.motion.integration import RUN_INSIDE

SINGULAR = 1e5  # condition number of M with unit diagonal: the ratio's rounding was measured to be 2e-15 of it at most
DRAWS = 20  # configurations drawn for one that is not singular, before giving up
LARGE = 2_000_000  # components of curvature worked on at a time
WORST = 3  # components shown in a report


@in_one_line
class CurvatureComponent(NamedTuple):
    """R_ijkl by the names of its four freedoms; its ``value``, kg·m² of rotations; and that over the terms that cancel in it."""

    freedoms: tuple[str, str, str, str]
    value: float
    relative: float

    def __str__(self) -> str:
        return f"R({', '.join(self.freedoms)}) = {self.value:.3g}, {self.relative:.2g} of the terms that cancel in it"


@dataclass(frozen=True, eq=False, repr=False)
class FlatnessReport(Report):
    """The answer of `is_flat`, true if the robot is flat, and what it rests on.

    Attributes
    ----------
    robot : Robot
    flat : bool
    largest : float
        The largest relative curvature found, no unit, and ``tolerance``, up to which it counts as rounding.
    where : (nq,) array
        The configuration at which it was found, rad or m.
    components : tuple of CurvatureComponent
        The largest components there.
    configurations, skipped : int
        How many configurations were tried, and how many more were singular.
    """

    robot: Robot
    flat: bool
    largest: float
    tolerance: float
    where: Array
    components: tuple[CurvatureComponent, ...]
    configurations: int
    skipped: int

    def __bool__(self) -> bool:
        return self.flat

    def __str__(self) -> str:
        if not self.configurations:
            return (
                f"robot {self.robot.name!r} is flat: with one degree of freedom there is no plane that could be curved."
            )
        tried = f"{self.configurations} random configurations"
        tried += f" ({self.skipped} more were singular)" if self.skipped else ""
        if self.flat:
            return (
                f"robot {self.robot.name!r} is flat: at {tried} no component of the curvature exceeds {self.largest:.1g} of the "
                f"terms that cancel in it (tolerance {self.tolerance:.0e}). In suitable coordinates its mass matrix is the "
                "identity: torsor.motion.flat_coordinates(robot, q0)."
            )
        q = np.array2string(self.where, precision=4, separator=", ", suppress_small=True)
        lines = [
            f"robot {self.robot.name!r} is curved: of {tried}, the largest curvature is at q = {q}:",
            *(f"  {component}" for component in self.components),
            "no coordinates exist in which its mass matrix is constant.",
        ]
        return "\n".join(lines)


@explained
def is_flat(
    robot: Robot, *, tolerance: float = 1e-9, configurations: int = 12, seed: int | np.random.Generator = 0
) -> FlatnessReport:
    """Report that is true if the curvature of the inertia metric vanishes [Alt04, §II.A, (9)].

    Then an isometry to Euclidean space exists, see `flat_coordinates`.

    Asked at random configurations within the limits, for one is not enough: a curved planar 2R has none at q2 = π/2. At
    each, the largest ratio (no unit) of a component R_ijkl [PBP95, (66)] to the terms that cancel in it, as set out at the
    head of this module, must not exceed ``tolerance``: 1e-16 to 1e-10 is rounding, curved robots show 0.1 to 1. Components
    are those in the frame of v, for planar, spherical and free joints the frame of body twists. Configurations at which M
    is singular (massless links line up) are replaced by others. Evaluated with NumPy: nothing is compiled.

    Parameters
    ----------
    robot : Robot
    tolerance : float
        Of the largest ratio, no unit.
    configurations : int
        How many random configurations are tried.
    seed : int or numpy.random.Generator
        Of the random configurations.

    Returns
    -------
    FlatnessReport
        It is true or false, says why when printed, and holds the worst configuration (nq,), rad or m.
    """
    _check(robot, tolerance, configurations)
    if robot.nv == 1:
        return FlatnessReport(robot, True, 0.0, tolerance, robot.neutral, (), 0, 0)
    q, skipped = drawn_configurations(
        robot,
        configurations,
        seed,
        lambda q: _is_regular(np.broadcast_to(mass_matrix(robot, q), (len(q), robot.nv, robot.nv))),
        "the mass matrix",
        ": there is no metric to measure. torsor.dynamics.mass_matrix_report(robot, q) tells which motion meets no inertia; give "
        "the link a mass (robot.with_inertia), the joint an armature, or lock it (robot.lock).",
    )
    largest, where = -1.0, robot.neutral
    worst: tuple[CurvatureComponent, ...] = ()
    block = max(1, LARGE // robot.nv**4)
    for first in range(0, configurations, block):
        some = q[first : first + block]
        value, relative = _relative_curvature(robot, some)
        here = int(relative.max(axis=-1).argmax())
        if (found := float(relative[here].max())) > largest:
            largest, where, worst = found, some[here], _worst(robot, value[here], relative[here])
    return FlatnessReport(robot, largest <= tolerance, largest, tolerance, where, worst, configurations, skipped)


def _check(robot: Robot, tolerance: float, configurations: int) -> None:
    if isinstance(robot, Robot) and not robot.is_concrete:
        raise ArgumentError(f"robot {robot.name!r} holds traced parameters; ask it of a robot of plain numbers.")
    refuse_strangers(robot, instead=RUN_INSIDE)
    refuse_bad_count("configurations", configurations, 1, "`configurations` must be positive")
    refuse_bad_numbers(tolerance=tolerance)


class Drawn(NamedTuple):
    """Configurations (B, nq), and how many were left out because they are singular."""

    q: Array
    skipped: int


def drawn_configurations(
    robot: Robot,
    wanted: int,
    seed: int | np.random.Generator,
    regular: Callable[[Array], Array],
    what: str,
    advice: str,
) -> Drawn:
    """Random configurations (wanted, nq) within the limits that are ``regular``, a function q (B, nq) → (B,).

    Raises if hardly any is; ``what`` is then said to be singular, with ``advice``.
    """
    generator = np.random.default_rng(seed)
    q, skipped = np.zeros((0, robot.nq)), 0
    while len(q) < wanted:
        some = random_configuration(robot, seed=generator, batch=(wanted - len(q),))
        good = regular(some)
        q, skipped = np.concatenate([q, some[good]]), skipped + int(np.sum(~good))
        if skipped >= DRAWS * (1 + len(q)):
            raise ModelError(
                f"{what} of robot {robot.name!r} is singular at {skipped} of {skipped + len(q)} random configurations{advice}"
            )
    return Drawn(q, skipped)


def _is_regular(M: Array) -> Array:
    """Whether each M (B, n, n), with its diagonal scaled to 1, is far from singular."""
    return np.asarray(scaled_condition(M) < SINGULAR)


def scaled_condition(M: Array) -> Array:
    """Condition numbers (B,) of M (B, n, n), each in coordinates in which its diagonal is 1; infinite where that cannot be."""
    with np.errstate(all="ignore"):
        size = np.sqrt(np.einsum("bii->bi", M))
        scaled = M / (size[:, :, None] * size[:, None, :])
    known = np.isfinite(scaled).all(axis=(1, 2))
    return np.where(known, np.linalg.cond(np.where(known[:, None, None], scaled, 0.0)), np.inf)


def _relative_curvature(robot: Robot, q: ConfigurationVector) -> tuple[Array, Array]:
    """The entries of R over planes (B, E) at configurations q (B, nq), and the same over the terms that cancel in them."""
    i, j, k, l = planes_of(robot.nv).ijkl
    value = np.broadcast_to(riemann_curvature(robot, q)[..., i, j, k, l], (len(q), len(i)))
    terms = np.broadcast_to(_terms(inertia_metric(robot, q, 0.5)), value.shape)
    return value, np.divide(np.abs(value), terms, out=np.zeros(value.shape), where=value != 0)


def _terms(half: InertiaMetric) -> Array:
    """The largest of the terms at the head of this module, for each entry over planes (..., E)."""
    robot, M = half.robot, 2.0 * half.mass_matrix()
    i, j, k, l = indices = planes_of(robot.nv).ijkl
    Gamma, dGamma = connection_of(half), np.abs(connection_derivative_of(half))
    length = np.sqrt(np.einsum("...ijr,...rs,...ijs->...ij", Gamma, np.linalg.inv(M), Gamma))  # |∇_i e_j|
    terms = [dGamma[..., k, l, j, i], dGamma[..., l, k, j, i]]
    terms += [length[..., k, j] * length[..., l, i], length[..., l, j] * length[..., k, i]]
    if (s := structure_constants(robot.structure)) is not None:
        terms.append(np.abs(np.einsum("klr,...rji->...klji", s, Gamma)[..., k, l, j, i]))
    size, turning = np.sqrt(np.einsum("...ii->...i", M)), np.linalg.norm(half.J[..., :3], axis=-1)
    if (E := gathering(robot.structure)) is not None:
        turning = turning @ E
    for a, b in combinations(range(4), 2):
        c, d = (indices[x] for x in range(4) if x not in (a, b))
        terms.append(size[..., indices[a]] * size[..., indices[b]] * turning[..., c] * turning[..., d])
    largest = terms[0]
    for term in terms[1:]:
        largest = np.maximum(largest, term)
    return largest


def _worst(robot: Robot, value: Array, relative: Array) -> tuple[CurvatureComponent, ...]:
    names, ijkl = robot.structure.freedoms, planes_of(robot.nv).ijkl
    chosen = np.argsort(-relative, kind="stable")[:WORST]
    return tuple(
        CurvatureComponent((names[i], names[j], names[k], names[l]), float(value[e]), float(relative[e]))
        for e in chosen
        for i, j, k, l in [ijkl[:, e]]
        if relative[e] > 0
    )


@in_one_line
class CurvatureAlong(NamedTuple):
    """Curvature at the K samples of a path, each (..., K), 1/(kg·m²); NaN where M is singular.

    ``scalar`` is the scalar curvature, ``norm`` is √(R_ijkl R^ijkl), zero only where all curvature is, and ``ricci`` is
    Ric(v, v)/|v|² in the direction of motion: the sum of the curvatures of all planes through it, NaN where v = 0.
    """

    scalar: Array
    norm: Array
    ricci: Array


@runtime_checkable
class Motion(Protocol):
    """Anything with configurations ``q`` (..., K, nq) and velocities ``v`` (..., K, nv), such as `torsor.Trajectory`."""

    @property
    def q(self) -> Array:
        """Configurations (..., K, nq), rad or m."""

    @property
    def v(self) -> Array:
        """Velocities (..., K, nv), rad/s or m/s."""


@explained
def curvature_along(
    robot: Robot, path: ConfigurationVector | Motion, *, velocities: JointVector | None = None
) -> CurvatureAlong:
    """Scalar curvature, norm of the curvature and Ricci curvature in the direction of motion, along a path [PBP95, (66)].

    A positive Ricci curvature draws motions that start side by side together, a negative one drives them apart.

    Parameters
    ----------
    robot : Robot
    path : (..., K, nq) array, or a motion
        Configurations, rad or m; or a `torsor.Trajectory` or another motion with ``q`` and ``v``, whose velocities are taken.
    velocities : (..., K, nv) array, optional
        In any unit, for only their directions matter. Without them the directions are those from the sample before to the one
        after.

    Returns
    -------
    CurvatureAlong
        ``scalar``, ``norm`` and ``ricci`` (..., K), 1/(kg·m²).
    """
    if isinstance(path, Motion):
        path, velocities = path.q, path.v if velocities is None else velocities
    q = np.asarray(path, float)
    if q.ndim < 2 or q.shape[-1] != robot.nq:
        raise ShapeError(f"`path` must have shape (..., K, {robot.nq}) for robot {robot.name!r}, got {q.shape}.")
    v = _directions(robot, q) if velocities is None else np.asarray(velocities, float)
    if v.shape[-1:] != (robot.nv,) or v.shape[:-1] != q.shape[:-1]:
        raise ShapeError(
            f"`velocities` must have shape {(*q.shape[:-1], robot.nv)}, one for each sample, got {v.shape}."
        )
    bent = np.einsum("...i,...ij,...j->...", v, ricci_curvature(robot, q), v)
    with np.errstate(invalid="ignore", divide="ignore"):  # at rest there is no direction: NaN
        ricci = bent / np.einsum("...i,...ij,...j->...", v, dynamics.mass_matrix(robot, q), v)
    return CurvatureAlong(scalar_curvature(robot, q), curvature_norm(robot, q), ricci)


def _directions(robot: Robot, q: Array) -> Array:
    """From the sample before to the one after; at the ends, to or from the neighbour."""
    if q.shape[-2] < 2:
        raise ShapeError("one sample has no direction; pass `velocities`.")
    before = np.concatenate([q[..., :1, :], q[..., :-1, :]], axis=-2)
    after = np.concatenate([q[..., 1:, :], q[..., -1:, :]], axis=-2)
    return np.asarray(difference(robot, before, after))
