"""Chapter 8 of the book: dynamics of open chains from the lists Mlist, Glist and Slist.

Same names, arguments and results as the book's library. ``Ftip`` is the book's: the wrench (moment, force) that the tip
applies *to the environment*, in the end frame {n+1}; the external wrenches of torsor have the opposite sign [LP, E002-10].

The robot of the lists is made and compiled on the first call and found again by its numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.arrays.typing import Array, Matrix6, Twist, Vector3, Wrench
from torsor.border import explained
from torsor.functions.public.dynamics import (
    coriolis_forces,
    forward_dynamics,
    gravity_forces,
    inverse_dynamics,
    mass_matrix,
)
from torsor.functions.public.kinematics import body_jacobian
from torsor.lie import unchecked as lie
from torsor.model import Robot
from torsor.modern_robotics.book_arguments import (
    TIP,
    as_floats,
    joint_vector,
    joint_vectors,
    numbers,
    positive,
    robot_of,
    whole,
)

_TIP_WRENCH = "the wrench (moment, force) that the tip applies to the environment, in the end frame {n+1}"
_TIP_WRENCHES = f"one row for each row of the trajectory, {_TIP_WRENCH}; or 0 if there is none"


@explained
def ad(V: Twist) -> Matrix6:
    """The matrix [ad_V] = ([ω], 0; [v], [ω]) of a twist: the Lie bracket with V [LP, (9.29)].

    Parameters
    ----------
    V : (6,) array
        A twist (ω, v), rad/s, m/s.

    Returns
    -------
    (6, 6) array
    """
    return lie.ad(numbers("V", V, (6,), "a twist (ω, v)"))


@explained
def InverseDynamics(
    thetalist: Array,
    dthetalist: Array,
    ddthetalist: Array,
    g: Vector3,
    Ftip: Wrench,
    Mlist: Array,
    Glist: Array,
    Slist: Array,
) -> Array:
    """Joint forces τ = M(θ) θ̈ + c(θ, θ̇) + g(θ) + J_bᵀ(θ) F_tip, by Newton–Euler recursion [LP, (9.53)–(9.57), E002-7].

    Parameters
    ----------
    thetalist : (n,) array
        Joint variables θ, rad or m.
    dthetalist : (n,) array
        Joint rates θ̇, rad/s or m/s.
    ddthetalist : (n,) array
        Joint accelerations θ̈, rad/s² or m/s².
    g : (3,) array
        Acceleration of gravity in the space frame, m/s².
    Ftip : (6,) array
        Moment and force that the tip applies to the environment, in the end frame; N·m, N.
    Mlist, Glist, Slist : arrays
        The lists of the chain, (n + 1, 4, 4), m, (n, 6, 6), kg, kg·m², and (6, n), m: see `chain`.

    Returns
    -------
    (n,) array
        N·m or N.
    """
    robot = robot_of(Mlist, Glist, Slist, g)
    q, v, a = joint_vectors(robot, thetalist=thetalist, dthetalist=dthetalist, ddthetalist=ddthetalist)
    return _torques(robot, q, v, a, _tip_wrench(Ftip))


@explained
def MassMatrix(thetalist: Array, Mlist: Array, Glist: Array, Slist: Array) -> Array:
    """The mass matrix M(θ), by composite bodies (the book: n inverse dynamics) [LP, (9.61)].

    Parameters
    ----------
    thetalist : (n,) array
        Joint variables θ, rad or m.
    Mlist, Glist, Slist : arrays
        The lists of the chain, (n + 1, 4, 4), m, (n, 6, 6), kg, kg·m², and (6, n), m: see `chain`.

    Returns
    -------
    (n, n) array
        Symmetric; kg·m², kg·m or kg.
    """
    robot = robot_of(Mlist, Glist, Slist)
    return mass_matrix(robot, joint_vector("thetalist", thetalist, robot))


@explained
def VelQuadraticForces(thetalist: Array, dthetalist: Array, Mlist: Array, Glist: Array, Slist: Array) -> Array:
    """Coriolis and centripetal forces c(θ, θ̇) [LP, (9.83), E002-9].

    Parameters
    ----------
    thetalist : (n,) array
        Joint variables θ, rad or m.
    dthetalist : (n,) array
        Joint rates θ̇, rad/s or m/s.
    Mlist, Glist, Slist : arrays
        The lists of the chain, (n + 1, 4, 4), m, (n, 6, 6), kg, kg·m², and (6, n), m: see `chain`.

    Returns
    -------
    (n,) array
        N·m or N.
    """
    robot = robot_of(Mlist, Glist, Slist)
    return coriolis_forces(robot, *joint_vectors(robot, thetalist=thetalist, dthetalist=dthetalist))


@explained
def GravityForces(thetalist: Array, g: Vector3, Mlist: Array, Glist: Array, Slist: Array) -> Array:
    """The joint forces g(θ) that hold the chain against gravity [LP, (9.84), E002-7].

    Parameters
    ----------
    thetalist : (n,) array
        Joint variables θ, rad or m.
    g : (3,) array
        Acceleration of gravity in the space frame, m/s².
    Mlist, Glist, Slist : arrays
        The lists of the chain, (n + 1, 4, 4), m, (n, 6, 6), kg, kg·m², and (6, n), m: see `chain`.

    Returns
    -------
    (n,) array
        N·m or N.
    """
    robot = robot_of(Mlist, Glist, Slist, g)
    return gravity_forces(robot, joint_vector("thetalist", thetalist, robot))


@explained
def EndEffectorForces(thetalist: Array, Ftip: Wrench, Mlist: Array, Glist: Array, Slist: Array) -> Array:
    """The joint forces J_bᵀ(θ) F_tip with which the tip applies ``Ftip`` [LP, E002-10].

    Parameters
    ----------
    thetalist : (n,) array
        Joint variables θ, rad or m.
    Ftip : (6,) array
        Moment and force that the tip applies to the environment, in the end frame; N·m, N.
    Mlist, Glist, Slist : arrays
        The lists of the chain, (n + 1, 4, 4), m, (n, 6, 6), kg, kg·m², and (6, n), m: see `chain`.

    Returns
    -------
    (n,) array
        N·m or N.
    """
    robot = robot_of(Mlist, Glist, Slist)
    q = joint_vector("thetalist", thetalist, robot)
    return _tip_forces(robot, q, _tip_wrench(Ftip))


@explained
def ForwardDynamics(
    thetalist: Array,
    dthetalist: Array,
    taulist: Array,
    g: Vector3,
    Ftip: Wrench,
    Mlist: Array,
    Glist: Array,
    Slist: Array,
) -> Array:
    """Joint accelerations θ̈ from M(θ) θ̈ = τ − c(θ, θ̇) − g(θ) − J_bᵀ(θ) F_tip [LP, §9.5, (9.89)].

    Parameters
    ----------
    thetalist : (n,) array
        Joint variables θ, rad or m.
    dthetalist : (n,) array
        Joint rates θ̇, rad/s or m/s.
    taulist : (n,) array
        Joint forces τ, N·m or N.
    g : (3,) array
        Acceleration of gravity in the space frame, m/s².
    Ftip : (6,) array
        Moment and force that the tip applies to the environment, in the end frame; N·m, N.
    Mlist, Glist, Slist : arrays
        The lists of the chain, (n + 1, 4, 4), m, (n, 6, 6), kg, kg·m², and (6, n), m: see `chain`.

    Returns
    -------
    (n,) array
        rad/s² or m/s². Where M is singular: NaN, or an error that names the joint that moves no inertia.
    """
    robot = robot_of(Mlist, Glist, Slist, g)
    q, v, tau = joint_vectors(robot, thetalist=thetalist, dthetalist=dthetalist, taulist=taulist)
    return accelerations(robot, q, v, tau, _tip_wrench(Ftip))


@explained
def EulerStep(thetalist: Array, dthetalist: Array, ddthetalist: Array, dt: float) -> tuple[Array, Array]:
    """The state after one step of Euler's method: θ + θ̇ dt and θ̇ + θ̈ dt [LP, §9.5, E002-12].

    Parameters
    ----------
    thetalist : (n,) array
        Joint variables θ, rad or m.
    dthetalist : (n,) array
        Joint rates θ̇, rad/s or m/s.
    ddthetalist : (n,) array
        Joint accelerations θ̈, rad/s² or m/s².
    dt : float
        The time step, s.

    Returns
    -------
    thetalistNext : (n,) array
        rad or m.
    dthetalistNext : (n,) array
        rad/s or m/s.
    """
    theta = as_floats("thetalist", thetalist, "one number per joint")
    meaning = "one number per joint, as many as `thetalist`"
    rates = numbers("dthetalist", dthetalist, theta.shape, meaning)
    second = numbers("ddthetalist", ddthetalist, theta.shape, meaning)
    h = float(numbers("dt", dt, (), "the time step, s"))
    return theta + h * rates, rates + h * second


@explained
def InverseDynamicsTrajectory(
    thetamat: Array,
    dthetamat: Array,
    ddthetamat: Array,
    g: Vector3,
    Ftipmat: Array,
    Mlist: Array,
    Glist: Array,
    Slist: Array,
) -> Array:
    """Joint forces for each row of a trajectory: `InverseDynamics` of all rows as one batch [LP, (9.53)–(9.57), E002-7].

    Parameters
    ----------
    thetamat, dthetamat, ddthetamat : (N, n) arrays
        One row per point in time, rad or m and s.
    g : (3,) array
        Acceleration of gravity in the space frame, m/s².
    Ftipmat : (N, 6) array, or 0 for none
        One ``Ftip`` per row of the trajectory; N·m, N.
    Mlist, Glist, Slist : arrays
        The lists of the chain, (n + 1, 4, 4), m, (n, 6, 6), kg, kg·m², and (6, n), m: see `chain`.

    Returns
    -------
    (N, n) array
        N·m or N.
    """
    robot = robot_of(Mlist, Glist, Slist, g)
    q = trajectory("thetamat", thetamat, robot)
    v = trajectory("dthetamat", dthetamat, robot, len(q))
    a = trajectory("ddthetamat", ddthetamat, robot, len(q))
    return _torques(robot, q, v, a, tip_wrenches(Ftipmat, len(q)))


@explained
def ForwardDynamicsTrajectory(
    thetalist: Array,
    dthetalist: Array,
    taumat: Array,
    g: Vector3,
    Ftipmat: Array,
    Mlist: Array,
    Glist: Array,
    Slist: Array,
    dt: float,
    intRes: int,
) -> tuple[Array, Array]:
    """Joint variables and rates under given joint forces, by Euler's method [LP, §9.5, E002-12].

    Row 0 is the given state; row k + 1 follows row k after ``dt`` under row k of ``taumat`` and of ``Ftipmat``.

    Parameters
    ----------
    thetalist : (n,) array
        Joint variables θ, rad or m.
    dthetalist : (n,) array
        Joint rates θ̇, rad/s or m/s.
    taumat : (N, n) array
        Joint forces, N·m or N.
    g : (3,) array
        Acceleration of gravity in the space frame, m/s².
    Ftipmat : (N, 6) array, or 0 for none
        One ``Ftip`` per row of the trajectory; N·m, N.
    Mlist, Glist, Slist : arrays
        The lists of the chain, (n + 1, 4, 4), m, (n, 6, 6), kg, kg·m², and (6, n), m: see `chain`.
    dt : float
        The time between rows, s.
    intRes : int
        Euler steps between rows.

    Returns
    -------
    thetamat : (N, n) array
        rad or m.
    dthetamat : (N, n) array
        rad/s or m/s.
    """
    robot = robot_of(Mlist, Glist, Slist, g)
    q, v = joint_vectors(robot, thetalist=thetalist, dthetalist=dthetalist)
    tau = trajectory("taumat", taumat, robot)
    F = tip_wrenches(Ftipmat, len(tau))
    dt = positive("dt", dt, "the time between rows, s")
    steps = whole("intRes", intRes, 1, "the number of Euler steps between rows")
    thetas, rates = [q], [v]
    for k in range(len(tau) - 1):
        q, v = euler(robot, q, v, tau[k], F[k], dt, steps)
        thetas.append(q)
        rates.append(v)
    return np.array(thetas), np.array(rates)


def euler(robot: Robot, q: Array, v: Array, tau: Array, F_tip: Wrench, dt: float, steps: int) -> tuple[Array, Array]:
    """The state ``dt`` s later under constant forces, in ``steps`` Euler steps."""
    h = dt / steps
    for _ in range(steps):
        a = accelerations(robot, q, v, tau, F_tip)
        q, v = q + h * v, v + h * a
    return q, v


def accelerations(robot: Robot, q: Array, v: Array, tau: Array, F_tip: Wrench) -> Array:
    """Forward dynamics with the book's tip force, on which J_bᵀ F_tip of the joint forces is spent."""
    return forward_dynamics(robot, q, v, tau - _tip_forces(robot, q, F_tip) if np.any(F_tip) else tau)


def trajectory(name: str, value: Any, robot: Robot, rows: int | None = None) -> Array:
    """One row per point in time, one column per joint (N, n)."""
    meaning = "N×n, one row per point in time, one column per joint"
    matrix = as_floats(name, value, meaning)
    rows = (len(matrix) if matrix.ndim == 2 else 1) if rows is None else rows
    return numbers(name, matrix, (rows, robot.nv), meaning)


def tip_wrenches(Ftipmat: Any, rows: int) -> Array:
    """``Ftipmat`` (N, 6); the book's 0 means none."""
    if np.ndim(Ftipmat) == 0 and Ftipmat == 0:
        return np.zeros((rows, 6))
    return numbers("Ftipmat", Ftipmat, (rows, 6), _TIP_WRENCHES)


def _tip_wrench(Ftip: Any) -> Wrench:
    return numbers("Ftip", Ftip, (6,), _TIP_WRENCH)


def _torques(robot: Robot, q: Array, v: Array, a: Array, F_tip: Wrench) -> Array:
    tau = inverse_dynamics(robot, q, v, a)
    return tau + _tip_forces(robot, q, F_tip) if np.any(F_tip) else tau


def _tip_forces(robot: Robot, q: Array, F_tip: Wrench) -> Array:
    """J_bᵀ F_tip (..., n)."""
    return np.einsum("...ij,...i->...j", body_jacobian(robot, q, TIP), F_tip)
