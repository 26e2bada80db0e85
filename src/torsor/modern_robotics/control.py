"""Chapter 11 of the book: the computed-torque controller, and its simulation on a robot that is not quite the model.

Same names, arguments and results as the book's library, but nothing is drawn: the results are arrays to plot.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.arrays.typing import Array, Vector3
from torsor.border import explained
from torsor.errors import ModelError, ShapeError
from torsor.functions.public.dynamics import inverse_dynamics
from torsor.model import Robot
from torsor.modern_robotics.book_arguments import as_floats, joint_vector, positive, robot_of, whole
from torsor.modern_robotics.dynamics import euler, tip_wrenches, trajectory


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
    """τ = M(θ)(θ̈_d + K_p θ_e + K_i (∫θ_e + θ_e) + K_d θ̇_e) + c(θ, θ̇) + g(θ), (n,), N·m or N [LP, published §11.4].

    θ_e = θ_d − θ. ``eint`` is the sum of past errors, to which the present one is added, as in the book's library.
    ``thetalist``, ``dthetalist``, ``eint`` and the reference ``thetalistd``, ``dthetalistd``, ``ddthetalistd`` (n,), rad or m
    and s; ``g`` (3,), m/s²; ``Mlist`` (n + 1, 4, 4), ``Glist`` (n, 6, 6), ``Slist`` (6, n), kg, m; gains ``Kp``, ``Ki`` and
    ``Kd``, 1/s² and 1/s, a number or one per joint. One inverse dynamics, no mass matrix.
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
    """Forces (N, n), N·m or N, and joint variables (N, n), rad or m, of a robot under computed torque [LP, published §11.4].

    At row k the controller, which believes in ``gtilde``, ``Mtildelist`` and ``Gtildelist``, sees the state and asks for row k
    of the forces; they act for ``dt`` s, together with row k of ``Ftipmat`` (N, 6), N·m and N (or 0 for none), on the robot of
    ``g``, ``Mlist``, ``Glist`` and ``Slist``, in ``intRes`` Euler steps. Row k of the joint variables is where that leads, at
    the *end* of the step, as in the book's library. Reference ``thetamatd``, ``dthetamatd``, ``ddthetamatd`` (N, n), rad or m
    and s; start ``thetalist``, ``dthetalist`` (n,); gains as in `ComputedTorque`. Draws nothing: plot the results.
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
