"""Chapter 8 of the book: dynamics of open chains from the lists Mlist, Glist and Slist.

Same names, arguments and results as the book's library. ``Ftip`` is the book's: the wrench (moment, force) that the tip
applies *to the environment*, in the end frame {n+1}; the external wrenches of torsor have the opposite sign [LP, E002-10].

In every function: ``thetalist``, ``dthetalist``, ``ddthetalist`` (n,), rad or m and s; ``taulist`` (n,), N·m or N; ``g``
(3,), m/s²; ``Ftip`` (6,), N·m and N; ``Mlist`` (n + 1, 4, 4), m; ``Glist`` (n, 6, 6), kg, kg·m²; ``Slist`` (6, n), m. The
robot of the lists is made and compiled on the first call and found again by its numbers.
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
from torsor.modern_robotics.book_arguments import TIP, as_floats, joint_vector, numbers, positive, robot_of, whole

_TIP_WRENCH = "the wrench (moment, force) that the tip applies to the environment, in the end frame {n+1}"
_TIP_WRENCHES = f"one row for each row of the trajectory, {_TIP_WRENCH}; or 0 if there is none"


@explained
def ad(V: Twist) -> Matrix6:
    """[ad_V] = ([ω], 0; [v], [ω]), (6, 6), of a twist V = (ω, v) (6,), rad/s, m/s [LP, (9.29)]."""
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
    """τ = M(θ) θ̈ + c(θ, θ̇) + g(θ) + J_bᵀ(θ) F_tip, (n,), N·m or N, by Newton–Euler recursion [LP, (9.53)–(9.57), E002-7].

    ``thetalist``, ``dthetalist``, ``ddthetalist`` (n,), rad or m and s; the other arguments as in this module's head.
    """
    robot = robot_of(Mlist, Glist, Slist, g)
    q = joint_vector("thetalist", thetalist, robot)
    v = joint_vector("dthetalist", dthetalist, robot)
    a = joint_vector("ddthetalist", ddthetalist, robot)
    return _torques(robot, q, v, a, _tip_wrench(Ftip))


@explained
def MassMatrix(thetalist: Array, Mlist: Array, Glist: Array, Slist: Array) -> Array:
    """M(θ), (n, n), kg·m², kg·m or kg, symmetric, by composite bodies (the book: n inverse dynamics) [LP, (9.61)].

    ``thetalist`` (n,), rad or m; lists as in this module's head.
    """
    robot = robot_of(Mlist, Glist, Slist)
    return mass_matrix(robot, joint_vector("thetalist", thetalist, robot))


@explained
def VelQuadraticForces(thetalist: Array, dthetalist: Array, Mlist: Array, Glist: Array, Slist: Array) -> Array:
    """c(θ, θ̇), (n,), N·m or N: Coriolis and centripetal forces [LP, (9.83), E002-9].

    ``thetalist`` (n,), rad or m; ``dthetalist`` (n,), rad/s or m/s; lists as in this module's head.
    """
    robot = robot_of(Mlist, Glist, Slist)
    v = joint_vector("dthetalist", dthetalist, robot)
    return coriolis_forces(robot, joint_vector("thetalist", thetalist, robot), v)


@explained
def GravityForces(thetalist: Array, g: Vector3, Mlist: Array, Glist: Array, Slist: Array) -> Array:
    """g(θ), (n,), N·m or N: the joint forces that hold the chain against gravity g (3,), m/s² [LP, (9.84), E002-7].

    ``thetalist`` (n,), rad or m; lists as in this module's head.
    """
    robot = robot_of(Mlist, Glist, Slist, g)
    return gravity_forces(robot, joint_vector("thetalist", thetalist, robot))


@explained
def EndEffectorForces(thetalist: Array, Ftip: Wrench, Mlist: Array, Glist: Array, Slist: Array) -> Array:
    """J_bᵀ(θ) F_tip, (n,), N·m or N: the joint forces with which the tip applies ``Ftip`` (6,), N·m, N [LP, E002-10].

    ``thetalist`` (n,), rad or m; lists as in this module's head.
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
    """θ̈ (n,), rad/s² or m/s², from M(θ) θ̈ = τ − c(θ, θ̇) − g(θ) − J_bᵀ(θ) F_tip [LP, §9.5, (9.89)].

    ``thetalist``, ``dthetalist`` (n,), rad or m and s; ``taulist`` (n,), N·m or N; the other arguments as in this module's
    head. Where M is singular: NaN, or an error that names the joint that moves no inertia.
    """
    robot = robot_of(Mlist, Glist, Slist, g)
    q = joint_vector("thetalist", thetalist, robot)
    v = joint_vector("dthetalist", dthetalist, robot)
    tau = joint_vector("taulist", taulist, robot)
    return accelerations(robot, q, v, tau, _tip_wrench(Ftip))


@explained
def EulerStep(thetalist: Array, dthetalist: Array, ddthetalist: Array, dt: float) -> tuple[Array, Array]:
    """θ + θ̇ dt and θ̇ + θ̈ dt, both (n,), rad or m and s: one step of ``dt`` s of Euler's method [LP, §9.5, E002-12]."""
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
    """τ (N, n), N·m or N, for each row of a trajectory: `InverseDynamics` of all rows as one batch [LP, (9.53)–(9.57), E002-7].

    ``thetamat``, ``dthetamat``, ``ddthetamat`` (N, n), rad or m and s; ``Ftipmat`` (N, 6), N·m and N, or 0 for none; the
    other arguments as in this module's head.
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
    """θ and θ̇, (N, n) each, rad or m and s, under the forces ``taumat`` (N, n), N·m or N [LP, §9.5, E002-12].

    Row 0 is the given state; row k + 1 follows row k after ``dt`` s under row k of ``taumat`` and of ``Ftipmat`` (N, 6), N·m
    and N (or 0 for none), in ``intRes`` steps of Euler's method. The other arguments as in this module's head.
    """
    robot = robot_of(Mlist, Glist, Slist, g)
    q = joint_vector("thetalist", thetalist, robot)
    v = joint_vector("dthetalist", dthetalist, robot)
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
