"""Reports on mechanisms: is the mass matrix the same at all configurations, and does gravity move no joint?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from torsor._reports import Report
from torsor.arrays.typing import Array, ConfigurationVector
from torsor.balancing.conditions import ROUNDING, Variation, printed, sampled, sizes, variation
from torsor.border import explained
from torsor.geometry.freedoms import structure_constants
from torsor.geometry.inertia_metric import inertia_metric
from torsor.lie import unchecked as lie
from torsor.mechanics.dynamics.energy import gravity_energy
from torsor.mechanics.dynamics.inverse_dynamics import gravity_forces
from torsor.mechanics.kinematics.poses import poses_in_base
from torsor.mechanics.recursions.joint_motion import gather_vector, joint_screws
from torsor.model import Robot

SHOWN = 5  # entries in a printed report


class VaryingEntry(NamedTuple):
    """∂M_ij/∂q_k by the names of its three freedoms; its ``value`` where it is largest, and that over √(D_i D_j)."""

    k: str
    i: str
    j: str
    value: float
    relative: float

    def __str__(self) -> str:
        share = f"{self.relative:.2g} of √(M_ii M_jj)"
        return f"∂M({self.i}, {self.j}) / ∂({self.k}) = {self.value:.3g}, {share}"


@dataclass(frozen=True, eq=False, repr=False)
class BalanceReport(Report):
    """The answer of `is_balanced`, true if the mass matrix is constant and makes no Coriolis forces, and what it rests on.

    ``largest`` and ``rms`` are the largest and the root mean square of all relative derivatives found, per rad or m;
    ``entries`` those above ``tolerance``, largest first; ``where`` (nq,), rad or m, the configuration of the largest;
    ``configurations`` how many were tried. ``gyroscopic`` are the forces that remain though M is constant, largest first.
    """

    robot: Robot
    balanced: bool
    largest: float
    rms: float
    tolerance: float
    entries: tuple[VaryingEntry, ...]
    where: Array
    configurations: int
    gyroscopic: tuple[GyroscopicTerm, ...] = ()

    def __bool__(self) -> bool:
        return self.balanced

    def __str__(self) -> str:
        if self.balanced:
            size = (
                f"more than {self.largest:.1g} of √(M_ii M_jj) per rad or m" if self.largest else "more than rounding"
            )
            return (
                f"robot {self.robot.name!r} is balanced: at {self.configurations} configurations no entry of its mass matrix "
                f"changes by {size} (tolerance {self.tolerance:.0e})."
            )
        if self.gyroscopic:
            return "\n".join(
                [
                    f"robot {self.robot.name!r} is not balanced: M is constant in the frame of body velocities, but these do not "
                    "commute, and forces quadratic in them are left; the largest:",
                    *_shown(self.gyroscopic),
                ]
            )
        lines = [
            f"robot {self.robot.name!r} is not balanced: of {self.configurations} configurations, its mass matrix changes most "
            f"at q = {printed(self.where)}; the largest derivatives, per rad or m:",
            *_shown(self.entries),
        ]
        return "\n".join(lines)


def _shown(entries: Sequence[VaryingEntry | GyroscopicTerm]) -> list[str]:
    """The first few entries, on a line each, and how many more there are."""
    left = len(entries) - SHOWN
    return [f"  {entry}" for entry in entries[:SHOWN]] + ([f"  and {left} more"] if left > 0 else [])


@explained
def is_balanced(
    robot: Robot, *, tolerance: float = 1e-9, configurations: int = 8, seed: int | np.random.Generator = 0
) -> BalanceReport:
    """Report on whether a robot is dynamically balanced: its mass matrix is constant, M q̈ = τ without gravity [BSP93, §5].

    Asked of the exact ∂M_ij/∂q_k at the neutral and at random configurations within the limits, for at one of them a
    derivative may vanish by chance. Each is divided by √(D_i D_j), D_i the mean of M_ii over these configurations: joints
    that turn and joints that slide, light and heavy links are then alike, and what is left is a change per rad or m of q_k.
    What the rounding of the numbers it is made of can explain counts as zero, and so does every entry of a joint that moves no
    inertia. For planar, spherical and free joints M is that of body velocities and ∂_k the derivative along the body velocity
    v_k. Since body velocities do not commute, a constant M may still make forces there: a robot counts as balanced only if
    Γ_ijk + Γ_jik vanish as well. Joints that share a coordinate (mimic) count together.

    Parameters
    ----------
    robot : Robot
    tolerance : float
        Largest relative change of the mass matrix, per rad or m, that counts as none.
    configurations : int
        Number of random configurations.
    seed : int or numpy.random.Generator
        For the random configurations.

    Returns
    -------
    BalanceReport
        True or false; it says why when printed, and holds the configuration (nq,), rad or m, of the largest change.
    """
    q = sampled(robot, configurations, seed, tolerance)
    return report_of(robot, variation(robot, q), tolerance)


def report_of(robot: Robot, found: Variation, tolerance: float) -> BalanceReport:
    """The report that says what a variation means for a robot."""
    size = np.abs(found.relative)
    largest = float(size.max())
    worst = np.unravel_index(np.argmax(size), size.shape)[0]
    constant = largest <= tolerance
    left = gyroscopic_terms(robot, found.q[0], found.diagonal, tolerance) if constant else ()
    return BalanceReport(
        robot=robot,
        balanced=constant and not left,
        largest=largest,
        rms=float(np.sqrt(np.mean(size**2))),
        tolerance=tolerance,
        entries=_entries(robot, found, tolerance),
        where=found.q[worst],
        configurations=len(found.q),
        gyroscopic=left,
    )


def _entries(robot: Robot, found: Variation, tolerance: float) -> tuple[VaryingEntry, ...]:
    """The entries above the tolerance, each where it is largest, with i up to j."""
    names, size = robot.structure.freedoms, np.abs(found.relative)
    at = size.argmax(axis=0)  # for each (k, i, j), the configuration of its largest value
    entries = []
    for k, i, j in np.argwhere(size.max(axis=0) > tolerance):
        if i <= j:
            c = at[k, i, j]
            entries.append(
                VaryingEntry(names[k], names[i], names[j], float(found.derivative[c, k, i, j]), float(size[c, k, i, j]))
            )
    return tuple(sorted(entries, key=lambda entry: -entry.relative))


# Forces that are left when the mass matrix is constant: those of body velocities that do not commute.
#
# In coordinates M is constant if and only if Γ = 0. In the frame of body velocities (planar, spherical and free joints) it is
# not so: with M constant, Koszul's formula leaves 2 Γ_ijk = c_ijk − c_ikj − c_jki, c_ijk = ⟨[e_i, e_j], e_k⟩. Its part that is
# antisymmetric in i and j makes no force; the rest does: a box on a spherical joint wobbles, a sphere does not.


class GyroscopicTerm(NamedTuple):
    """A force ``value`` v_i v_j in the equation of k, by the names of the freedoms, and its share of the largest √(D D)."""

    i: str
    j: str
    k: str
    value: float
    relative: float

    def __str__(self) -> str:
        return f"{self.value:.3g} v({self.i}) v({self.j}) acts on {self.k}, {self.relative:.2g} of the largest √(M_ii M_jj)"


def gyroscopic_terms(
    robot: Robot, q: ConfigurationVector, diagonal: Array, tolerance: float
) -> tuple[GyroscopicTerm, ...]:
    """Γ_ijk + Γ_jik (Γ_iik for i = j) of a robot with constant M, at ``q`` (nq,), largest first [BSP93, (3); PBP95, (52)].

    Each over the largest of √(D_i D_j), √(D_j D_k) and √(D_k D_i), D the ``diagonal`` (nv,); those above ``tolerance``, and
    above what rounding explains.
    """
    s = structure_constants(robot.structure)
    if s is None:
        return ()
    metric = inertia_metric(robot, q)
    size = sizes(metric)[1]
    forces = _symmetric(s @ metric.mass_matrix())
    forces[np.abs(forces) <= ROUNDING * np.abs(_symmetric(-np.abs(s) @ np.outer(size, size)))] = 0.0
    root = np.sqrt(np.multiply.outer(diagonal, diagonal))
    scale = np.maximum(np.maximum(root[:, :, None], root[None]), root[:, None])
    relative = np.divide(np.abs(forces), scale, out=np.zeros_like(forces), where=scale > 0)
    names = robot.structure.freedoms
    found = [
        GyroscopicTerm(names[i], names[j], names[k], float(forces[i, j, k]), float(relative[i, j, k]))
        for i, j, k in np.argwhere(relative > tolerance)
        if i <= j
    ]
    return tuple(sorted(found, key=lambda term: -term.relative))


def _symmetric(c: Array) -> Array:
    """−c_ikj − c_jki, what multiplies v_i v_j in equation k; half of it for i = j."""
    both = -np.transpose(c, (0, 2, 1)) - np.transpose(c, (2, 0, 1))
    return np.where(np.eye(len(c), dtype=bool)[:, :, None], 0.5 * both, both)


# Is a mechanism balanced against gravity: does it stay where it is left, at all configurations?


class HeldJoint(NamedTuple):
    """A degree of freedom that gravity moves: the largest ``force`` (N·m or N) that holds it, and its share of all weights."""

    joint: str
    force: float
    relative: float

    def __str__(self) -> str:
        return (
            f"{self.joint}: {self.force:.3g} N·m or N, {self.relative:.2g} of what its weights would give all one way"
        )


@dataclass(frozen=True, eq=False, repr=False)
class GravityReport(Report):
    """The answer of `is_gravity_balanced`, true if gravity moves no joint, and what it rests on.

    ``largest`` is the largest relative force; ``entries`` the joints above ``tolerance``, largest first; ``where`` (nq,),
    rad or m, the configuration of the largest; ``potential`` the range of gravity's potential energy, J, springs
    not counted.
    """

    robot: Robot
    balanced: bool
    largest: float
    tolerance: float
    entries: tuple[HeldJoint, ...]
    where: Array
    potential: float
    configurations: int

    def __bool__(self) -> bool:
        return self.balanced

    def __str__(self) -> str:
        if self.balanced:
            return (
                f"robot {self.robot.name!r} is balanced against gravity: at {self.configurations} configurations its potential "
                f"energy is the same to {self.potential:.1g} J (tolerance {self.tolerance:.0e} of the weights' moments)."
            )
        return "\n".join(
            [
                f"robot {self.robot.name!r} is not balanced against gravity: over {self.configurations} configurations its "
                f"potential energy changes by {self.potential:.3g} J, and joints need holding, most at "
                f"q = {printed(self.where)}:",
                *(f"  {entry}" for entry in self.entries),
            ]
        )


@explained
def is_gravity_balanced(
    robot: Robot, *, tolerance: float = 1e-9, configurations: int = 8, seed: int | np.random.Generator = 0
) -> GravityReport:
    """Report on whether gravity forces vanish everywhere: the potential energy is constant [LP, (9.84); BSP93, §5].

    Asked at the neutral and at random configurations within the limits. Each force is divided by |g| Σ_j m_j |∂c_j/∂q_i|
    (its largest over the configurations), c_j the centres of mass: what it would be if all weights pulled one way.
    What rounding can explain counts as zero.

    Parameters
    ----------
    robot : Robot
    tolerance : float
        Largest share of these forces that counts as none, no unit.
    configurations : int
        Number of random configurations.
    seed : int or numpy.random.Generator
        For the random configurations.

    Returns
    -------
    GravityReport
        True or false; it says why when printed, and holds the configuration (nq,), rad or m, of the largest force.
    """
    q = sampled(robot, configurations, seed, tolerance)
    forces = np.array(np.broadcast_to(gravity_forces(robot, q), (len(q), robot.nv)))
    moments, noise = _moments(robot, q)
    g = float(np.linalg.norm(robot.gravity))
    forces[np.abs(forces) <= ROUNDING * g * noise] = 0.0
    scale = np.broadcast_to(g * moments.max(axis=0), forces.shape)
    with np.errstate(divide="ignore"):
        relative = np.divide(np.abs(forces), scale, out=np.zeros_like(forces), where=forces != 0)
    at = relative.argmax(axis=0)
    entries = [
        HeldJoint(name, float(forces[at[i], i]), float(relative[at[i], i]))
        for i, name in enumerate(robot.structure.freedoms)
        if relative[at[i], i] > tolerance
    ]
    largest = float(relative.max())
    return GravityReport(
        robot=robot,
        balanced=largest <= tolerance,
        largest=largest,
        tolerance=tolerance,
        entries=tuple(sorted(entries, key=lambda entry: -entry.relative)),
        where=q[int(relative.max(axis=1).argmax())],
        potential=float(np.ptp(np.broadcast_to(gravity_energy(robot, q), (len(q),)))),
        configurations=len(q),
    )


def _moments(robot: Robot, q: ConfigurationVector) -> tuple[Array, Array]:
    """Σ_j m_j |∂c_j/∂q_i| over all links j that freedom i moves (c, nv); and a bound of the numbers it is made of."""
    s, rows = robot.structure, robot.parameters.inertias
    poses = [np.broadcast_to(T, (len(q), 4, 4)) for T in poses_in_base(robot, q)]
    moments, noise = [], []
    for i in range(robot.n):
        screws = lie.transform_twist(poses[i][:, None], joint_screws(robot, i))  # (c, k, 6), in base axes
        w, v = screws[..., :3], screws[..., 3:]
        moved, bound = np.zeros(v.shape[:-1]), np.zeros(v.shape[:-1])
        for j in range(i, robot.n):
            if i in s.path_from_base(j):
                m, T = rows[j, 0], poses[j]
                h = (m * T[:, :3, 3] + T[:, :3, :3] @ rows[j, 1:4])[:, None]  # m c
                moved += np.linalg.norm(m * v + np.cross(w, h), axis=-1)
                reach = m * np.linalg.norm(T[:, :3, 3], axis=-1) + np.linalg.norm(rows[j, 1:4])
                bound += m * np.linalg.norm(v, axis=-1) + np.linalg.norm(w, axis=-1) * reach[:, None]
        moments.append(moved)
        noise.append(bound)
    return gather_vector(robot, moments), gather_vector(robot, noise)
