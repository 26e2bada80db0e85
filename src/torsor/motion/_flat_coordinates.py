"""Coordinates in which a flat robot is a free particle: the isometry φ of its configurations to Euclidean space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from torsor._reports import Report, in_one_line
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix, JointVector
from torsor.border import explained
from torsor.border.numbers import numbers_of, refuse_bad_numbers, refuse_strangers
from torsor.errors import ModelError, ShapeError
from torsor.functions.public.dynamics import friction_forces, gravity_forces
from torsor.mechanics.dynamics.springs import plus_springs
from torsor.model import Robot
from torsor.motion.curvature import is_flat
from torsor.motion.factor_transport import (
    Advice,
    CarriedFactor,
    carry_straight,
    carry_to_phi,
    require_plain_velocities,
    transport_factor,
)
from torsor.motion.integration import RUN_INSIDE

STRAIGHT = Advice(
    "flat_coordinates",
    "The line from q0 to q is straight: choose another q0 in flat_coordinates, from which it keeps away.",
)
BACK = Advice("flat_coordinates", "Either q̃ is out of reach, or a `start` nearer to the result will do.")
CORRECTIONS = 20  # Newton steps; one or two are usual


@in_one_line
class FlatState(NamedTuple):
    """q̃ = φ(q), ṽ = N v, τ̃ = N⁻ᵀ τ, each (..., n), in √kg·m, √kg·m/s, √kg·m/s² [Alt04, §II.A]."""

    q: Array
    v: Array
    tau: Array


@dataclass(frozen=True, eq=False, repr=False)
class FlatCoordinates(Report):
    """q̃ = φ(q) of a flat robot, with the Jacobian N = ∂φ/∂q, NᵀN = M; made by `flat_coordinates`.

    φ(q0) = 0 and N(q0) is ``factor``. q̃ has the unit √kg·m for every joint, and its kinetic energy is ½ |ṽ|². All methods take
    batches (..., n) and integrate along the straight line from ``q0`` to q, which must keep away from configurations with
    singular M (ModelError).

    Attributes
    ----------
    robot : Robot
    q0 : (n,) array
        Where φ is zero, rad or m.
    factor : (n, n) array
        N there, upper triangular, √kg·m per rad or m.
    tolerance : float
        Of the integration, no unit.
    """

    robot: Robot
    q0: Array
    factor: Array
    tolerance: float

    def __str__(self) -> str:
        q0 = np.array2string(self.q0, precision=4, separator=", ", suppress_small=True)
        return f"flat coordinates of robot {self.robot.name!r}, zero at q0 = {q0}, in which it moves as a free particle"

    @explained
    def phi(self, q: ConfigurationVector) -> Array:
        """q̃ = φ(q) = ∫ N dq from q0 [Alt04, (9), E004-3]. ``q`` (..., n), rad or m; returns (..., n), √kg·m."""
        return self._at(q).phi

    @explained
    def jacobian(self, q: ConfigurationVector) -> JointMatrix:
        """N = ∂φ/∂q with NᵀN = M(q) [Alt04, (11), E004-3]. ``q`` (..., n), rad or m; returns (..., n, n), √kg·m per rad or m."""
        return self._at(q).N

    @explained
    def velocity(self, q: ConfigurationVector, v: JointVector) -> Array:
        """ṽ = N(q) v, the rate of q̃ [Alt04, §II.A]. ``q``, ``v`` (..., n), rad, m, s; returns (..., n), √kg·m/s."""
        return _times(self._at(q).N, self._numbers("v", v))

    @explained
    def force(self, q: ConfigurationVector, tau: JointVector) -> Array:
        """τ̃ = N(q)⁻ᵀ τ, of the same power: τ̃ · ṽ = τ · v [Alt04, §II.A]. ``q``, ``tau`` (..., n); returns (..., n), √kg·m/s²."""
        return _dual(self._at(q).N, self._numbers("tau", tau))

    @explained
    def state(self, q: ConfigurationVector, v: JointVector, tau: JointVector) -> FlatState:
        """(q̃, ṽ, τ̃) = (φ(q), N v, N⁻ᵀ τ), with one integration [Alt04, §II.A]. All (..., n), in rad, m, s, N·m, N."""
        v, tau = self._numbers("v", v), self._numbers("tau", tau)
        _, phi, N = self._at(q)
        return FlatState(phi, _times(N, v), _dual(N, tau))

    @explained
    def linearised_force(self, q: ConfigurationVector, v: JointVector, tau: JointVector) -> Array:
        """q̃̈ = N⁻ᵀ (τ − g(q) − friction(v) − springs(q)), the acceleration of q̃ under joint forces τ [Alt04, (12)].

        Without gravity, friction and springs it is `force`. ``q``, ``v``, ``tau`` (..., n); returns (..., n), √kg·m/s².
        """
        v, tau = self._numbers("v", v), self._numbers("tau", tau)
        N = self._at(q).N
        opposing = plus_springs(self.robot, self._numbers("q", q), gravity_forces(self.robot, q))
        return _dual(N, tau - opposing - friction_forces(self.robot, v))

    @explained
    def inverse(self, q_tilde: Array, *, start: ConfigurationVector | None = None) -> ConfigurationVector:
        """q with φ(q) = q̃, on the branch of ``start`` [Alt04, §II.A].

        From the start (q0 by default) along the geodesic on which q̃ goes straight, then Newton's steps q + N⁻¹ (q̃ − φ(q)).
        φ need not reach all of Euclidean space: where the straight line leaves its image, M becomes singular (ModelError).
        ``q_tilde`` (..., n), √kg·m; ``start`` (..., n), rad or m; returns (..., n), rad or m.
        """
        wanted = self._numbers("q_tilde", q_tilde)
        first = self._at(self.q0 if start is None else start, BACK)
        here = carry_to_phi(self.robot, first, wanted, self.tolerance, BACK)
        scale = max(1.0, float(np.abs(wanted).max(initial=0.0)))
        for _ in range(CORRECTIONS):
            here = self._at(here.q, BACK)
            missing = wanted - here.phi
            if np.abs(missing).max(initial=0.0) <= 10 * self.tolerance * scale:
                return here.q
            here = here._replace(q=here.q + np.linalg.solve(here.N, missing[..., None])[..., 0])
        raise ModelError(
            f"φ(q) is {np.abs(missing).max():.1g} away from q̃ after {CORRECTIONS} steps: the straight lines from q0 and "
            "from the start pass on different sides of a singular configuration. Choose a start nearer to the result."
        )

    def _at(self, q: ConfigurationVector, advice: Advice = STRAIGHT) -> CarriedFactor:
        q = self._numbers("q", q)
        start = CarriedFactor(self.q0, np.zeros(self.robot.nv), self.factor)
        return carry_straight(self.robot, start, q, self.tolerance, advice)

    def _numbers(self, name: str, value: Array) -> Array:
        refuse_strangers(self.robot, value, instead=RUN_INSIDE)
        return numbers_of(name, value, (self.robot.nv,))


@explained
def flat_coordinates(robot: Robot, q0: ConfigurationVector, *, tolerance: float = 1e-10) -> FlatCoordinates:
    """Isometry φ of a flat robot to Euclidean space, in which it moves by q̃̈ = τ̃ [Alt04, (8)–(12), E004-3]. Needs SciPy.

    φ(q0) = 0 and N(q0) = Lᵀ is upper triangular, M = L Lᵀ (Cholesky); N(q) follows by dN_aj = Σ N_ar Γ^r_kj dq_k along the
    straight line from q0, and φ = ∫ N dq. The printed spectral factor D₁P also has NᵀN = M, but is no Jacobian (E004-3).
    Every other isometry is this one followed by a rigid motion of Euclidean space. Gravity enters as a force:
    `FlatCoordinates.linearised_force`.

    Parameters
    ----------
    robot : Robot
        Flat, see `is_flat`, with joints of one number each; others are refused.
    q0 : (n,) array
        One configuration, rad or m, that φ takes to zero.
    tolerance : float
        Of the integration, no unit.

    Returns
    -------
    FlatCoordinates
        With the methods ``phi``, ``jacobian``, ``velocity``, ``force``, ``state``, ``linearised_force`` and ``inverse``.
    """
    refuse_strangers(robot, q0, instead=RUN_INSIDE)
    refuse_bad_numbers(tolerance=tolerance)
    require_plain_velocities(robot)
    q0 = numbers_of("q0", q0, (robot.nq,))
    if q0.shape != (robot.nq,):
        raise ShapeError(f"`q0` must have shape ({robot.nq},) for robot {robot.name!r}, got {q0.shape}.")
    if not (report := is_flat(robot)):
        raise ModelError(
            f"{report}\nAn isometry to Euclidean space, in which motion without force is straight, exists for "
            "flat robots only: curvature is the same in all coordinates."
        )
    factor = transport_factor(robot, q0[None], tolerance=tolerance).N[0]  # refuses a singular M with the reason
    return FlatCoordinates(robot, q0, factor, tolerance)


def _times(N: Array, v: Array) -> Array:
    return np.einsum("...aj,...j->...a", N, v)


def _dual(N: Array, tau: Array) -> Array:
    """Forces N⁻ᵀ τ (..., n) in flat coordinates."""
    return np.linalg.solve(np.swapaxes(N, -1, -2), tau[..., None])[..., 0]
