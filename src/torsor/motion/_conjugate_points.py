"""Conjugate points: where neighbours that start at the same place meet a motion again.

Let J(t) be the displacements of the neighbours that start at the same place, one for each change of the velocity there, and
J′ their covariant rates, both in axes that are orthonormal for M. They span a Lagrangian plane, and the eigenvalues of the
unitary matrix [RS93, §4; Lid55]::

    W = (J′ + iωJ) (J′ − iωJ)⁻¹,        e^2iθ_1, …, e^2iθ_n

turn forwards wherever one of them is 1, which is where J is singular. So conjugate points are where an angle θ passes a multiple
of π, several angles at once where several neighbours meet, and none is missed that determinants would miss. J and J′ are made
orthonormal together first: angles are then as good as J and J′ themselves, however much neighbours have come apart.

With ``fixed="energy"`` only neighbours of the same energy count, and they may arrive earlier or later: J and J′ are projected
across the motion, after what a shift of time does, (v, Dv/dt), has been taken out of them. That is the same for Jacobi's metric
[Arn89, §45].
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from torsor._reports import Report, in_one_line
from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.border.numbers import refuse_bad_numbers, refuse_strangers
from torsor.errors import ArgumentError
from torsor.functions.public.dynamics import kinetic_energy, mass_matrix
from torsor.functions.public.geometry import covariant_derivative
from torsor.model import Robot
from torsor.motion._geodesic import Geodesic
from torsor.motion._natural_motion import NaturalMotion, natural_acceleration
from torsor.motion.integration import RUN_INSIDE, has_plain_velocities, scipy_module, sign_change
from torsor.motion.linear_flow import LinearFlow, covariant_rates, linear_flow, refuse_no_motion_of
from torsor.motion.motions import Motion

NEAR = 0.3  # rad: angles that move by less from one time to the next are followed without doubt
FINEST = 1e-13  # of the duration: times closer than this are not parted further
SAME = 1e-8  # of the duration: conjugate points closer than this are one, of a higher multiplicity
MOST_LOST = 1e-4  # of the planes' symmetry
SLOWEST = 1e-8  # of the largest kinetic energy: a motion this slow is at rest


@in_one_line
class ConjugatePoint(NamedTuple):
    """Where neighbours meet the motion again.

    Attributes
    ----------
    time : float
        s.
    q : (nq,) array
        Configuration, rad or m.
    multiplicity : int
        How many independent neighbours meet there.
    directions : (multiplicity, nv) array
        By what the velocities of these neighbours differ at the start, each of length one in the inertia metric.
    """

    time: float
    q: Array
    multiplicity: int
    directions: Array


@dataclass(frozen=True, eq=False, repr=False)
class ConjugatePoints(Report):
    """The conjugate points of a motion's start; a sequence of them.

    Attributes
    ----------
    robot : Robot
    motion : Motion
    fixed : str
        What neighbours share with it: "duration" or "energy".
    points : tuple of ConjugatePoint
        In order; the last may be the end itself.
    inside : int
        How many there are before the end, each as often as its multiplicity says: the index of the motion [Mil63, §15].
    end_is_conjugate : bool
        Whether the end is one, as far as can be told.
    margin : float
        How far the end is from being one, as an angle of `_conjugate_points`, rad.
    accuracy : float
        What angles are known to, rad: by how much planes that must stay Lagrangian have not. Times are known to
        ``accuracy`` · duration / π.
    """

    robot: Robot
    motion: Motion
    fixed: str
    points: tuple[ConjugatePoint, ...]
    inside: int
    end_is_conjugate: bool
    margin: float
    accuracy: float

    def __len__(self) -> int:
        """How many points there are."""
        return len(self.points)

    def __getitem__(self, k: int) -> ConjugatePoint:
        """The point with number k, the first is 0."""
        return self.points[k]

    @property
    def time(self) -> Array:
        """When (m,), s."""
        return np.array([point.time for point in self.points])

    @property
    def q(self) -> Array:
        """Where (m, nq), rad or m."""
        return np.array([point.q for point in self.points]).reshape(-1, self.robot.nq)

    def __str__(self) -> str:
        kind = "geodesic" if isinstance(self.motion, Geodesic) else "motion"
        head = f"{kind} of robot {self.robot.name!r}, {self.motion.duration:g} s"
        among = "neighbours of the same energy" if self.fixed == "energy" else "neighbours"
        known = f"(times to {self.accuracy * self.motion.duration / np.pi:.0e} s)"
        if not self.points:
            return f"{head}: no conjugate point, no {among} that start with it meet it again {known}."
        lines = [f"{head}: {among} that start with it meet it again {known}"]
        for point in self.points:
            q = np.array2string(point.q, precision=4, separator=", ", suppress_small=True)
            last = ", the end itself" if self.end_is_conjugate and point is self.points[-1] else ""
            many = "" if point.multiplicity == 1 else f", in {point.multiplicity} independent directions"
            lines.append(f"  at t = {point.time:.9g} s, q = {q}{many}{last}")
        if self.inside:
            lines.append(
                f"up to t = {self.points[0].time:.6g} s it is a minimum among paths near it, afterwards not: its index is "
                f"{self.inside}."
            )
        return "\n".join(lines)


@explained
def conjugate_points(
    robot: Robot, motion: Motion, *, fixed: str = "duration", tolerance: float = 1e-11
) -> ConjugatePoints:
    """Where neighbours that start with one motion meet it again, to first order [PBP95, §5; Mil63, §14; dC92, ch. 5].

    A geodesic is shorter than all curves near it as far as the first conjugate point of its start, and never beyond. Likewise
    motions under gravity and springs: ∫ (T − V) dt is least among neighbours of the same duration, ∫ 2 T dt among neighbours of
    the same energy. One motion at a time.

    Parameters
    ----------
    robot : Robot
        Any joint kind.
    motion : Motion
        A Geodesic, a NaturalMotion, or another motion of a robot without friction whose joints have one number each: then its
        neighbours are under the same joint forces, and ``fixed`` must be "duration".
    fixed : str
        What neighbours share: "duration", or "energy", as thrown stones do that start with one speed. For geodesics that is the
        same.
    tolerance : float
        Relative, of each step of integration.

    Returns
    -------
    ConjugatePoints
    """
    refuse_strangers(robot, motion, instead=RUN_INSIDE)
    refuse_bad_numbers(tolerance=tolerance)
    refuse_unknown_word("fixed", fixed, ("duration", "energy"))
    refuse_no_motion_of(robot, motion)
    _refuse_no_principle(robot, motion, fixed)
    if isinstance(motion, Geodesic) and not np.any(motion.v[0]):
        raise ArgumentError("`motion` is at rest: it is no curve whose neighbours could meet it.")
    flow = linear_flow(robot, motion, tolerance)
    planes = _Planes(robot, motion, flow, across=fixed == "energy" and not isinstance(motion, Geodesic))
    if planes.size == 0:
        return ConjugatePoints(robot, motion, fixed, (), 0, False, np.pi, 0.0)
    times, angles, counts, lost = _followed(planes)
    if not lost < MOST_LOST:
        raise ArgumentError(
            f"neighbours come apart so far within {motion.duration:g} s that rounding hides where they meet (error "
            f"{lost:.0e}). Take a shorter motion."
        )
    near_end = max(SAME * np.pi, 10.0 * lost)
    found = [_crossing(planes, times, angles, counts, j) for j in range(1, counts[-1] + 1)]
    margin = float(min(angles[-1].min(), np.pi - angles[-1].max()))
    beyond = int(np.sum(np.pi - angles[-1] <= near_end))  # at the end, which rounding has put behind it
    found += [float(times[-1])] * beyond
    before = [t for t in found if times[-1] - t > near_end / np.pi * motion.duration]
    points = tuple(planes.point(t, count) for t, count in _merged(found, motion.duration, lost))
    at_end = len(found) > len(before)
    return ConjugatePoints(robot, motion, fixed, points, len(before), at_end, 0.0 if at_end else margin, lost)


def _refuse_no_principle(robot: Robot, motion: Motion, fixed: str) -> None:
    if np.asarray(motion.at(0.0).q).ndim > 1:
        raise ArgumentError(
            f"`motion` must be one motion, got a batch of shape {np.shape(motion.at(0.0).q)[:-1]}. Take them one by one."
        )
    if isinstance(motion, (Geodesic, NaturalMotion)):
        return
    rubs = np.any(robot.parameters.viscous_friction) or np.any(robot.parameters.coulomb_friction)
    if rubs or not has_plain_velocities(robot) or fixed == "energy":
        why = (
            "has friction, so that its motions make no integral stationary"
            if rubs
            else "is driven by joint forces that may do work: neighbours of one energy are those of natural motions"
            if fixed == "energy"
            else "has joints with several numbers, whose constant forces have no potential"
        )
        raise ArgumentError(
            f"robot {robot.name!r} {why}. Take torsor.motion.natural_motion or torsor.motion.geodesic"
            + (' , or fixed="duration".' if fixed == "energy" and not rubs else ".")
        )


class _Angles(NamedTuple):
    """Angles θ (K, m) from 0 to π, growing, and by how much the planes have lost their symmetry."""

    theta: Array
    lost: float


class _Planes:
    """The planes of J and J′ at any time, and their angles."""

    def __init__(self, robot: Robot, motion: Motion, flow: LinearFlow, *, across: bool) -> None:
        self.robot, self.motion, self.flow, self.across = robot, motion, flow, across
        self.rate = np.pi / flow.duration
        first = flow(np.array([flow.start]))
        L = np.linalg.cholesky(mass_matrix(robot, first.q[0]))
        if across:
            self._refuse_rest(flow)
            L_v = L.T @ first.v[0]
            basis = _complement(L_v / np.linalg.norm(L_v))
        else:
            basis = np.eye(robot.nv)
        self.starts = np.linalg.solve(L.T, basis)  # (nv, m): the changes of the velocity, orthonormal for M
        self.size = basis.shape[1]

    def fields(self, times: Array) -> tuple[Array, Array]:
        """ωJ and J′ (K, m, m), in orthonormal axes."""
        n, (q, v, Phi) = self.robot.nv, self.flow(times)
        X, Y = (Phi[:, part, n:] @ self.starts for part in (slice(None, n), slice(n, None)))
        rates = covariant_rates(
            self.robot, q[:, None], v[:, None], np.swapaxes(X, 1, 2), np.ascontiguousarray(np.swapaxes(Y, 1, 2))
        )
        D = np.swapaxes(rates, 1, 2)
        LT = np.swapaxes(np.linalg.cholesky(mass_matrix(self.robot, q)), 1, 2)
        J, D = LT @ X, LT @ D
        if self.across:
            a = natural_acceleration(self.robot, q, v)
            bending = (LT @ covariant_derivative(self.robot, q, v, v, a)[..., None])[..., 0]  # Dv/dt
            way = (LT @ v[..., None])[..., 0]
            shift = np.einsum("ki,kij->kj", way, J) / np.sum(way**2, axis=-1)[:, None]
            J, D = J - way[:, :, None] * shift[:, None], D - bending[:, :, None] * shift[:, None]
            B = np.stack([_complement(x / np.linalg.norm(x)) for x in way])
            J, D = np.swapaxes(B, 1, 2) @ J, np.swapaxes(B, 1, 2) @ D
        return self.rate * J, D

    def angles(self, times: Array) -> _Angles:
        """The angles at times (K,)."""
        J, D = self.fields(np.asarray(times, float))
        m = self.size
        together = np.linalg.qr(np.concatenate([J, D], axis=1))[0]
        J, D = together[:, :m], together[:, m:]
        less = D - 1j * J  # unitary, for a Lagrangian plane
        adjoint = np.conj(np.swapaxes(less, 1, 2))
        lost = float(np.abs(adjoint @ less - np.eye(m)).max(initial=0.0))
        eigenvalues = np.linalg.eigvals((D + 1j * J) @ adjoint)
        theta = np.mod(0.5 * np.angle(eigenvalues), np.pi)
        return _Angles(np.sort(np.where(theta >= np.pi, 0.0, theta), axis=-1), lost)

    def point(self, t: float, count: int) -> ConjugatePoint:
        """What there is to know of a conjugate point."""
        J, _ = self.fields(np.array([t]))
        _, _, right = np.linalg.svd(J[0])
        q = self.flow(np.array([t])).q[0]
        return ConjugatePoint(t, q, count, (self.starts @ right[self.size - count :][::-1].T).T)

    def _refuse_rest(self, flow: LinearFlow) -> None:
        times = np.linspace(flow.start, flow.start + flow.duration, 4 * len(flow.steps))

        def kinetic(t: Array) -> Array:
            q, v, _ = flow(np.atleast_1d(t))
            return kinetic_energy(self.robot, q, v)

        T, optimisers = kinetic(times), scipy_module("optimize")
        least = float(T.min())
        for k in np.flatnonzero((T[1:-1] <= T[:-2]) & (T[1:-1] <= T[2:])):
            found = optimisers.minimize_scalar(
                lambda t: float(kinetic(t)[0]), bounds=(times[k], times[k + 2]), method="bounded"
            )
            least = min(least, float(found.fun))
        if least <= SLOWEST * T.max():
            raise ArgumentError(
                "the motion comes to rest on its way, where Jacobi's metric vanishes and no energy is left for "
                'neighbours. Take a part of it, or fixed="duration".'
            )


def _complement(unit: Array) -> Array:
    """An orthonormal basis (n, n − 1) of what is orthogonal to a unit vector (n,)."""
    return np.linalg.qr(np.concatenate([unit[:, None], np.eye(len(unit))], axis=1))[0][:, 1:]


def _followed(planes: _Planes) -> tuple[Array, Array, Array, float]:
    """Times (K,) so close that angles can be followed, angles (K, m), how many have passed π until then, and what was lost."""
    steps = planes.flow.steps
    times = np.union1d(np.linspace(steps[0], steps[-1], 33), np.concatenate([steps, 0.5 * (steps[:-1] + steps[1:])]))
    theta, lost = planes.angles(times)
    theta[0] = 0.0
    shortest = FINEST * planes.flow.duration
    while True:
        moves = np.array([_passed(a, b) for a, b in pairwise(theta)], float).reshape(-1, 2)
        wide = (moves[:, 1] > NEAR) & (np.diff(times) > shortest)
        if not wide.any():
            break
        more = 0.5 * (times[:-1] + times[1:])[wide]
        between, lost_there = planes.angles(more)
        order = np.argsort(np.concatenate([times, more]), kind="stable")
        times, theta = np.concatenate([times, more])[order], np.concatenate([theta, between])[order]
        lost = max(lost, lost_there)
    counts = np.concatenate([[0], np.cumsum(moves[:, 0]).astype(int)])
    return times, theta, counts, lost


def _passed(a: Array, b: Array) -> tuple[int, float]:
    """How many of the angles a (m,) have passed π to become b (m,), and the largest way that one of them has gone."""
    m = len(a)
    x = np.concatenate([b - np.pi, b, b + np.pi])  # b, and what it is again
    ways = [float(np.abs(x[m + s : 2 * m + s] - a).max()) for s in range(-m, m + 1)]
    s = int(np.argmin(ways)) - m
    return s, ways[s + m]


def _crossing(planes: _Planes, times: Array, angles: Array, counts: Array, j: int) -> float:
    """When the j-th angle passes a multiple of π."""
    k = int(np.flatnonzero(counts >= j)[0]) - 1
    start, count = angles[k], int(counts[k])

    def ahead(t: float) -> float:
        """By how much it is beyond, rad."""
        now = planes.angles(np.array([t])).theta[0]
        passed = count + _passed(start, now)[0]
        x = np.concatenate([now - np.pi, now, now + np.pi])
        return float(x[planes.size + passed - j])

    return sign_change(ahead, float(times[k]), float(times[k + 1]))


def _merged(found: list[float], duration: float, lost: float) -> list[tuple[float, int]]:
    """Times that cannot be told apart as one, and how many there are."""
    merged: list[list[float]] = []
    for t in sorted(found):
        if merged and t - merged[-1][-1] <= max(SAME, 10.0 * lost) * duration:
            merged[-1].append(t)
        else:
            merged.append([t])
    return [(float(np.mean(group)), len(group)) for group in merged]
