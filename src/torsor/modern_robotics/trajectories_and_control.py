"""Chapters 9 and 11 of the book: time scalings, paths from rest to rest in joint space and in SE(3), and computed torque.

Same names, arguments and results as the book's library, but nothing is drawn. First and last point of a path are met exactly.
A ``method`` other than 3 (cubic) or 5 (quintic) is refused: the book's library takes every other one for 5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.arrays.typing import Array, Pose, Vector3
from torsor.border import explained
from torsor.errors import ModelError, ShapeError
from torsor.functions.public.dynamics import inverse_dynamics
from torsor.lie.unchecked import se3, so3
from torsor.model import Robot
from torsor.modern_robotics.book_arguments import as_floats, joint_vector, numbers, pose, positive, robot_of, whole
from torsor.modern_robotics.dynamics import euler, tip_wrenches, trajectory

_ROUNDING = 1e-9  # by this part of Tf may a time computed as k · dt lie outside 0 … Tf


@explained
def CubicTimeScaling(Tf: float, t: float) -> float:
    """The path parameter s(t) = 3 (t/T)² − 2 (t/T)³, T = ``Tf``: at rest at both ends [LP, published §9.2.2].

    Parameters
    ----------
    Tf : float
        The duration, s.
    t : float
        The time, 0 ≤ t ≤ Tf, s. One outside is refused: the polynomial does not stay at 1 there.

    Returns
    -------
    float
        From 0 to 1, no unit.
    """
    return _cubic(_fraction(Tf, t))


@explained
def QuinticTimeScaling(Tf: float, t: float) -> float:
    """The path parameter s(t) = 10 (t/T)³ − 15 (t/T)⁴ + 6 (t/T)⁵: no acceleration at the ends [LP, published §9.2.2].

    Parameters
    ----------
    Tf : float
        The duration, s.
    t : float
        The time, 0 ≤ t ≤ Tf, s. One outside is refused: the polynomial does not stay at 1 there.

    Returns
    -------
    float
        From 0 to 1, no unit.
    """
    return _quintic(_fraction(Tf, t))


@explained
def JointTrajectory(thetastart: Array, thetaend: Array, Tf: float, N: int, method: int) -> Array:
    """A straight line in joint space, θ(s) = θ_start + s (θ_end − θ_start) [LP, published §9.2.1].

    Parameters
    ----------
    thetastart, thetaend : (n,) arrays
        Joint variables at both ends, rad or m.
    Tf : float
        The duration, s.
    N : int
        The number of points, at least 2; point k is at the time k Tf/(N − 1).
    method : int
        3 (cubic) or 5 (quintic time scaling).

    Returns
    -------
    (N, n) array
        rad or m.
    """
    start = as_floats("thetastart", thetastart, "one number per joint")
    end = numbers("thetaend", thetaend, start.shape, "one number per joint, as many as `thetastart`")
    return np.array([(1.0 - s) * start + s * end for s in _scaled(Tf, N, method)])


@explained
def ScrewTrajectory(Xstart: Pose, Xend: Pose, Tf: float, N: int, method: int) -> list[Pose]:
    """A constant screw motion, X(s) = X_start exp(log(X_start⁻¹ X_end) s) [LP, published §9.2.1].

    Parameters
    ----------
    Xstart, Xend : (4, 4) arrays
        The first and the last pose, m.
    Tf : float
        The duration, s.
    N : int
        The number of points, at least 2; point k is at the time k Tf/(N − 1).
    method : int
        3 (cubic) or 5 (quintic time scaling).

    Returns
    -------
    list of N (4, 4) arrays
        Poses, m.
    """
    start, end = pose("Xstart", Xstart), pose("Xend", Xend)
    S = se3.log(se3.inverse(start) @ end)
    inner = [start @ se3.exp(S * s) for s in _scaled(Tf, N, method)[1:-1]]
    return [start.copy(), *inner, end.copy()]


@explained
def CartesianTrajectory(Xstart: Pose, Xend: Pose, Tf: float, N: int, method: int) -> list[Pose]:
    """Poses with the origin on a straight line and the rotation by itself [LP, published §9.2.1].

    R(s) = R_start exp(log(R_startᵀ R_end) s), p(s) = p_start + s (p_end − p_start).

    Parameters
    ----------
    Xstart, Xend : (4, 4) arrays
        The first and the last pose, m.
    Tf : float
        The duration, s.
    N : int
        The number of points, at least 2; point k is at the time k Tf/(N − 1).
    method : int
        3 (cubic) or 5 (quintic time scaling).

    Returns
    -------
    list of N (4, 4) arrays
        Poses, m.
    """
    start, end = pose("Xstart", Xstart), pose("Xend", Xend)
    w = so3.log(start[:3, :3].T @ end[:3, :3])
    inner = [
        se3.pose(start[:3, :3] @ so3.exp(w * s), (1.0 - s) * start[:3, 3] + s * end[:3, 3])
        for s in _scaled(Tf, N, method)[1:-1]
    ]
    return [start.copy(), *inner, end.copy()]


def _cubic(x: float) -> float:
    return x * x * (3.0 - 2.0 * x)


def _quintic(x: float) -> float:
    return x * x * x * (10.0 - x * (15.0 - 6.0 * x))


def _fraction(Tf: Any, t: Any) -> float:
    duration = positive("Tf", Tf, "the duration, s")
    x = float(numbers("t", t, (), "a time, s")) / duration
    if not -_ROUNDING <= x <= 1.0 + _ROUNDING:
        raise ModelError(f"`t` must lie between 0 and Tf = {duration:g} s; got {x * duration:g} s.")
    return min(max(x, 0.0), 1.0)


def _scaled(Tf: Any, N: Any, method: Any) -> list[float]:
    """s at the N times."""
    positive("Tf", Tf, "the duration, s")
    N = whole("N", N, 2, "the number of points")
    if method not in (3, 5):
        raise ModelError(f"`method` must be 3 (cubic) or 5 (quintic); got {method!r}.")
    scaling = _cubic if method == 3 else _quintic
    return [scaling(k / (N - 1)) for k in range(N)]


@explained
def ComputedTorque(
    thetalist: Array,
    dthetalist: Array,
    eint: Array,
    g: Vector3,
    Mlist: Array,
    Glist: Array,
    Slist: Array,
    thetalistd: Array,
    dthetalistd: Array,
    ddthetalistd: Array,
    Kp: float,
    Ki: float,
    Kd: float,
) -> Array:
    """Joint forces τ = M(θ)(θ̈_d + K_p θ_e + K_i (∫θ_e + θ_e) + K_d θ̇_e) + c(θ, θ̇) + g(θ), θ_e = θ_d − θ [LP, published §11.4].

    The computed-torque controller (inverse dynamics control): one inverse dynamics, no mass matrix.

    Parameters
    ----------
    thetalist : (n,) array
        Joint variables θ, rad or m.
    dthetalist : (n,) array
        Joint rates θ̇, rad/s or m/s.
    eint : (n,) array
        The sum of past errors, to which the present one is added, as in the book's library; rad or m.
    g : (3,) array
        Acceleration of gravity in the space frame, m/s².
    Mlist, Glist, Slist : arrays
        The lists of the chain, (n + 1, 4, 4), m, (n, 6, 6), kg, kg·m², and (6, n), m: see `chain`.
    thetalistd, dthetalistd, ddthetalistd : (n,) arrays
        The reference, rad or m and s.
    Kp, Ki, Kd : float or (n,) array
        Gains, 1/s² (Kp, Ki) and 1/s (Kd).

    Returns
    -------
    (n,) array
        N·m or N.
    """
    robot = robot_of(Mlist, Glist, Slist, g)
    q = joint_vector("thetalist", thetalist, robot)
    v = joint_vector("dthetalist", dthetalist, robot)
    integral = joint_vector("eint", eint, robot)
    reference = (
        joint_vector("thetalistd", thetalistd, robot),
        joint_vector("dthetalistd", dthetalistd, robot),
        joint_vector("ddthetalistd", ddthetalistd, robot),
    )
    return _computed_torque(robot, q, v, integral, reference, _gains(robot, Kp=Kp, Ki=Ki, Kd=Kd))


@explained
def SimulateControl(
    thetalist: Array,
    dthetalist: Array,
    g: Vector3,
    Ftipmat: Array,
    Mlist: Array,
    Glist: Array,
    Slist: Array,
    thetamatd: Array,
    dthetamatd: Array,
    ddthetamatd: Array,
    gtilde: Vector3,
    Mtildelist: Array,
    Gtildelist: Array,
    Kp: float,
    Ki: float,
    Kd: float,
    dt: float,
    intRes: int,
) -> tuple[Array, Array]:
    """Forces and joint variables of a robot under computed torque whose model is not quite right [LP, published §11.4].

    At row k the controller, which believes in the model, sees the state and asks for row k of the forces; they act for ``dt``,
    together with row k of ``Ftipmat``, on the robot of ``g``, ``Mlist``, ``Glist`` and ``Slist``. Nothing is drawn.

    Parameters
    ----------
    thetalist, dthetalist : (n,) arrays
        The state at the start, rad or m and s.
    g : (3,) array
        Acceleration of gravity in the space frame, m/s².
    Ftipmat : (N, 6) array, or 0 for none
        One ``Ftip`` per row of the trajectory; N·m, N.
    Mlist, Glist, Slist : arrays
        The lists of the chain, (n + 1, 4, 4), m, (n, 6, 6), kg, kg·m², and (6, n), m: see `chain`.
    thetamatd, dthetamatd, ddthetamatd : (N, n) arrays
        The reference, rad or m and s.
    gtilde, Mtildelist, Gtildelist : arrays
        The model: like ``g``, ``Mlist`` and ``Glist``.
    Kp, Ki, Kd : float or (n,) array
        Gains, as in `ComputedTorque`.
    dt : float
        The time between rows, s.
    intRes : int
        Euler steps between rows.

    Returns
    -------
    taumat : (N, n) array
        N·m or N.
    thetamat : (N, n) array
        Joint variables at the *end* of each step, as in the book's library; rad or m.
    """
    robot = robot_of(Mlist, Glist, Slist, g)
    try:
        model = robot_of(Mtildelist, Gtildelist, Slist, gtilde)
    except (ModelError, ShapeError) as error:
        raise type(error)(f"in the model (gtilde, Mtildelist, Gtildelist), {error}") from None
    q = joint_vector("thetalist", thetalist, robot)
    v = joint_vector("dthetalist", dthetalist, robot)
    qd = trajectory("thetamatd", thetamatd, robot)
    vd = trajectory("dthetamatd", dthetamatd, robot, len(qd))
    ad = trajectory("ddthetamatd", ddthetamatd, robot, len(qd))
    F = tip_wrenches(Ftipmat, len(qd))
    gains = _gains(robot, Kp=Kp, Ki=Ki, Kd=Kd)
    dt = positive("dt", dt, "the time between rows, s")
    steps = whole("intRes", intRes, 1, "the number of Euler steps between rows")
    integral = np.zeros(robot.nv)
    taus, thetas = [], []
    for k in range(len(qd)):
        tau = _computed_torque(model, q, v, integral, (qd[k], vd[k], ad[k]), gains)
        q, v = euler(robot, q, v, tau, F[k], dt, steps)
        integral = integral + dt * (qd[k] - q)
        taus.append(tau)
        thetas.append(q)
    return np.array(taus), np.array(thetas)


def _computed_torque(
    robot: Robot,
    q: Array,
    v: Array,
    integral: Array,
    reference: tuple[Array, Array, Array],
    gains: tuple[Array, Array, Array],
) -> Array:
    qd, vd, ad = reference
    Kp, Ki, Kd = gains
    error = qd - q
    return inverse_dynamics(robot, q, v, ad + Kp * error + Ki * (integral + error) + Kd * (vd - v))


def _gains(robot: Robot, **gains: Any) -> tuple[Array, Array, Array]:
    arrays = []
    for name, gain in gains.items():
        array = as_floats(name, gain, "a gain, a number or one per joint")
        if array.shape not in ((), (robot.nv,)):
            raise ShapeError(
                f"`{name}` must be a gain, one number or one per joint ({robot.nv},); got shape {array.shape}."
            )
        arrays.append(array)
    return arrays[0], arrays[1], arrays[2]
