"""Jacobi's metric: motion under gravity at a given energy as a geodesic.

At the energy E a robot without friction moves along geodesics of the metric [Arn89, §45 D]::

    ĝ = 2 (E − V) M = e^2φ M,        φ = ½ log 2(E − V),      dφ = −dV / 2(E − V)

whose length ∫ 2 T dt is the action of Maupertuis and Jacobi. It is defined where V < E, the robot's speed is not zero. With the
connection and the curvature K of M [Bes87, 1.159]::

    ∇̂_u u = ∇_u u + 2 dφ(u) u − |u|² grad φ
    K̂(x, y) = e^−2φ (K(x, y) − Hφ(x, x) − Hφ(y, y) + dφ(x)² + dφ(y)² − |dφ|²)      x, y: orthonormal for M

and Hφ = −∇dV / 2(E − V) − 2 dφ ⊗ dφ.
"""

from __future__ import annotations

from torsor.arrays import dot, matvec, sqrt, where
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix, JointVector, Scalar
from torsor.geometry._covariant_derivative import covariant_derivative, geodesic_acceleration
from torsor.geometry.christoffel import inverse_of
from torsor.geometry.curvature import sectional_curvature
from torsor.mechanics.derivatives.force_derivatives import gravity_forces_derivative
from torsor.mechanics.dynamics.energy import potential_energy
from torsor.mechanics.dynamics.inverse_dynamics import gravity_forces
from torsor.mechanics.dynamics.mass_matrix import mass_matrix
from torsor.mechanics.dynamics.springs import plus_springs, plus_stiffness
from torsor.model import Robot

NAN = float("nan")


def jacobi_metric(robot: Robot, q: ConfigurationVector, energy: Scalar) -> JointMatrix:
    """Jacobi's metric 2 (E − V) M, whose geodesics are the motions under gravity and springs at the energy E [Arn89, §45 D].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    energy : (...) array
        Kinetic plus potential energy, J, as `potential_energy` counts it.

    Returns
    -------
    (..., nv, nv) array
        J·kg·m² of rotations; NaN where V > E, but for entries that are 0 everywhere: no motion of this energy comes there.
    """
    twice = _twice_kinetic(robot, q, energy)
    return where(twice < 0.0, NAN, twice)[..., None, None] * mass_matrix(robot, q)


def jacobi_geodesic_acceleration(robot: Robot, q: ConfigurationVector, u: JointVector, energy: Scalar) -> JointVector:
    """u̇ = −Γ̂(u, u) of a geodesic of Jacobi's metric, by its own parameter s, q′ = u [Arn89, §45 D; Bes87, 1.159].

    With |u| = 1 in Jacobi's metric, s is the action ∫ 2 T dt, J·s: of the motion in time v = 2 (E − V) u.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    u : (..., nv) array
        dq/ds, rad or m per unit of s.
    energy : (...) array
        Kinetic plus potential energy, J.

    Returns
    -------
    (..., nv) array
        du/ds; NaN where V ≥ E or M is singular.
    """
    M, dV = mass_matrix(robot, q), _slope(robot, q)
    twice = _positive(_twice_kinetic(robot, q, energy))
    grad = -matvec(inverse_of(robot, M), dV) / twice[..., None]  # of φ
    along = -dot(dV, u) / twice
    square = dot(u, matvec(M, u))
    return geodesic_acceleration(robot, q, u) - 2.0 * along[..., None] * u + square[..., None] * grad


def jacobi_sectional_curvature(
    robot: Robot, q: ConfigurationVector, u: JointVector, w: JointVector, energy: Scalar
) -> Scalar:
    """Curvature of the plane of u and w in Jacobi's metric: whether motions of one energy draw together there [Bes87, 1.159].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    u : (..., nv) array
        Direction that spans the plane, in any unit.
    w : (..., nv) array
        Direction that spans the plane, in any unit.
    energy : (...) array
        Kinetic plus potential energy, J.

    Returns
    -------
    (...) array
        1/(J·s)²; NaN where V ≥ E, M is singular or u and w are parallel.
    """
    return made_conformal(robot, q, u, w, energy, sectional_curvature(robot, q, u, w))


def made_conformal(
    robot: Robot, q: ConfigurationVector, u: JointVector, w: JointVector, energy: Scalar, K: Scalar
) -> Scalar:
    """The curvature in Jacobi's metric of a plane with the curvature K (...) in that of inertia."""
    M, dV = mass_matrix(robot, q), _slope(robot, q)
    twice = _positive(_twice_kinetic(robot, q, energy))
    x = u / sqrt(dot(u, matvec(M, u)))[..., None]
    y = w - dot(x, matvec(M, w))[..., None] * x
    y = y / sqrt(dot(y, matvec(M, y)))[..., None]
    Hess = plus_stiffness(robot, gravity_forces_derivative(robot, q))
    bent = 0.0 * twice  # Σ Hφ − dφ²
    for z in (x, y):
        # ∇dV(z, z) = ∂_z (dV z) − dV(∇_z z), for components z that are held
        turning = covariant_derivative(robot, q, z, z, 0.0 * z)
        bent = bent - (dot(z, matvec(Hess, z)) - dot(dV, turning)) / twice - 3.0 * (dot(dV, z) / twice) ** 2
    square = dot(dV, matvec(inverse_of(robot, M), dV)) / (twice * twice)  # |dφ|²
    return (K - bent - square) / twice


def _twice_kinetic(robot: Robot, q: ConfigurationVector, energy: Scalar) -> Scalar:
    return 2.0 * (energy - potential_energy(robot, q))


def _positive(x: Array) -> Array:
    return where(x > 0.0, x, NAN)


def _slope(robot: Robot, q: ConfigurationVector) -> JointVector:
    return plus_springs(robot, q, gravity_forces(robot, q))
