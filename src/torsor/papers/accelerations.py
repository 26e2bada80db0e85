"""Accelerations as their sources print them: Lynch and Park's algorithms [LP, §9.5], and Altafini's workspace equation.

The book's signs: F_tip is what the tip does to the environment [LP, E002-10].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from torsor._reports import Report
from torsor.arrays import as_numbers, factor, matmul, matvec, solve, stack_vectors, transpose
from torsor.arrays.typing import (
    Array,
    ConfigurationVector,
    GivenConfiguration,
    GivenJointVector,
    JointVector,
    Twist,
    Wrench,
)
from torsor.border import checked, explained
from torsor.errors import ArgumentError, ModelError, ShapeError
from torsor.functions.public import dynamics, kinematics
from torsor.lie import unchecked as lie
from torsor.mechanics.dynamics.inverse_dynamics import inverse_dynamics
from torsor.mechanics.dynamics.mass_matrix import mass_matrix
from torsor.mechanics.dynamics.springs import has_springs
from torsor.mechanics.kinematics.jacobians import body_jacobian
from torsor.model import Robot
from torsor.model.link_inertias import may_be_singular
from torsor.tasks.singular_directions import root_of


@checked
def joint_acceleration(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    tau: JointVector,
    *,
    F_tip: Wrench | None = None,
    frame: str = "tip",
) -> JointVector:
    """Joint acceleration by the book's GetJointAccel: solve M a = τ − γ − JᵀF_tip [LP, §9.5, (9.89)].

    γ is the inverse dynamics with a = 0. `torsor.forward_dynamics` is faster, and takes wrenches with torsor's sign.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    tau : (..., nv) array
        Joint forces, N·m or N.
    F_tip : (..., 6) array, optional
        Wrench exerted *by* the tip on the environment, in the axes of ``frame``, N·m and N.
    frame : str
        The frame that the book calls the tip.

    Returns
    -------
    (..., nv) array
        Acceleration, rad/s² or m/s².
    """
    rhs = tau - inverse_dynamics(robot, q, v, 0.0 * v)
    if F_tip is not None:
        rhs = rhs - matvec(transpose(body_jacobian(robot, q, frame)), F_tip)
    return solve(factor(mass_matrix(robot, q), guarded=may_be_singular(robot)), rhs)


@explained
def euler_trajectory(
    robot: Robot,
    q0: GivenConfiguration,
    v0: GivenJointVector,
    tau: Array,
    dt: float,
    *,
    tip_wrenches: Array | None = None,
    frame: str = "tip",
) -> tuple[Array, Array]:
    """Motion by the book's Euler integration, of one start only: θ[k+1] = θ[k] + h θ̇[k], θ̇[k+1] = θ̇[k] + h θ̈[k].

    k = 0 … N − 1 [LP, §9.5, E002-12]. For robots whose joints have one number each.

    Parameters
    ----------
    robot : Robot
    q0 : (nq,) array
        Configuration at the start, rad or m.
    v0 : (nv,) array
        Velocity at the start, rad/s or m/s.
    tau : (N, nv) array
        Joint forces of each step, N·m or N.
    dt : float
        Time step h, s.
    tip_wrenches : (N, 6) array, optional
        Wrenches exerted *by* the tip, in the axes of ``frame``, N·m and N.
    frame : str
        The frame that the book calls the tip.

    Returns
    -------
    q : (N + 1, nq) array
        Configurations, rad or m.
    v : (N + 1, nv) array
        Velocities, rad/s or m/s.
    """
    if robot.nq != robot.nv:
        raise ModelError(f"robot {robot.name!r} has joints with quaternions; use simulate.")
    tau = as_numbers(tau)
    if tau.ndim != 2 or tau.shape[-1] != robot.nv:
        raise ShapeError(f"`tau` must have shape (N, {robot.nv}), got {tuple(tau.shape)}.")
    if isinstance(dt, (int, float)) and not 0.0 < dt < math.inf:
        raise ArgumentError(f"`dt` must be a positive and finite time, s, got {dt!r:.40}.")
    wrenches = None if tip_wrenches is None else as_numbers(tip_wrenches)
    if wrenches is not None and tuple(wrenches.shape) != (len(tau), 6):
        raise ShapeError(
            f"`tip_wrenches` must have shape ({len(tau)}, 6), one for each row of `tau`, got {tuple(wrenches.shape)}."
        )
    qs, vs = [as_numbers(q0)], [as_numbers(v0)]
    for k in range(len(tau)):
        F_tip = None if wrenches is None else wrenches[k]
        a = joint_acceleration(robot, qs[k], vs[k], tau[k], F_tip=F_tip, frame=frame)
        qs.append(qs[k] + dt * vs[k])
        vs.append(vs[k] + dt * a)
    return stack_vectors(qs), stack_vectors(vs)


# Altafini's workspace equation Ẋ = ad*_X X + J M⁻¹ τ [Alt04, (18)], and when it holds: it is a special case [E004-9].
#
# The exact equation of the body twist X = J v is Ẋ = J M⁻¹ (τ − C v − g) + J̇ v (`workspace_acceleration`). Both agree for all
# velocities where J M⁻¹ (C v + g) − J̇ v = −ad*_X X; for one, on a Riemannian submersion onto SE(3) with the identity metric
# (J M⁻¹ Jᵀ = 1) and for horizontal velocities, without gravity and friction. No chain with a flat metric is one if it has fewer
# than three redundant freedoms, or integrable horizontals [E004-6].


def altafini_workspace_acceleration(
    robot: Robot, q: ConfigurationVector, v: JointVector, frame: str, tau: JointVector
) -> Twist:
    """Rate Ẋ = ad*_X X + J M⁻¹ τ of a frame's body twist X, as printed [Alt04, (18), E004-9]: true in special cases only.

    See `altafini_equation_report` for when it is right, and `torsor.tasks.workspace_acceleration` for what always is.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    frame : str
        Name of the frame.
    tau : (..., nv) array
        Joint forces, N·m or N.

    Returns
    -------
    (..., 6) array
        Rate of the body twist, rad/s² and m/s².
    """
    J = kinematics.body_jacobian(robot, q, frame)
    X = matvec(J, v)
    return lie.bracket_dual(X, X) + matvec(matmul(J, dynamics.inverse_mass_matrix(robot, q)), tau)


@dataclass(frozen=True, repr=False)
class AltafiniEquationReport(Report):
    """Whether Altafini's (18) holds at a configuration for a frame of a robot, and what it leaves out there [Alt04, (18)]."""

    robot: Robot
    frame: str
    applies: bool
    """It holds at this configuration for all velocities and joint forces."""
    velocity_defect: float
    """Largest error of Ẋ, a quadratic form of v, for pairs from one basis with vᵀ M v = 1; rad/s², m/s². It is 0 if and only if
    there is none for any velocity; over all with vᵀ M v = 1 the error is nv times this at most."""
    gravity_defect: float
    """|J M⁻¹ g|, which (18) has no term for; rad/s², m/s²."""
    friction: bool
    """The robot has joint friction, which (18) has no term for."""
    springs: bool
    """The robot has joint springs, which (18) has no term for."""
    submersion_defect: float
    """|J M⁻¹ Jᵀ − 1|: 0 for a Riemannian submersion onto SE(3) with the identity metric [E004-6]."""

    def __str__(self) -> str:
        others = "".join(f", and {x}" for x, has in (("friction", self.friction), ("springs", self.springs)) if has)
        said = "holds" if self.applies else "does not hold"
        return (
            f"Altafini's equation (18) {said} for {self.frame!r} of robot {self.robot.name!r} at this configuration: it leaves "
            f"out up to {self.velocity_defect:.2g} rad/s² or m/s² by velocities of unit energy and {self.gravity_defect:.2g} by "
            f"gravity{others}; J M⁻¹ Jᵀ differs from 1 by {self.submersion_defect:.2g}."
        )


def altafini_equation_report(
    robot: Robot, q: GivenConfiguration, frame: str, *, tolerance: float = 1e-9
) -> AltafiniEquationReport:
    """Report on whether Altafini's workspace equation holds for all velocities, of one state only [Alt04, (18), E004-9].

    The error of (18) does not depend on τ and is a quadratic form of v, so that n (n + 1)/2 velocities decide.

    Parameters
    ----------
    robot : Robot
    q : (nq,) array
        Configuration, rad or m.
    frame : str
        Name of the frame.
    tolerance : float
        Largest error that counts as none, in rad/s² and m/s², for a basis of velocities with vᵀ M v = 1.

    Returns
    -------
    AltafiniEquationReport
        What the equation leaves out, in words when printed.
    """
    q = np.asarray(q, dtype=float)
    if q.ndim != 1:
        raise ShapeError(f"one report is of one configuration ({robot.nq},), got {q.shape}.")
    J, M_inverse = kinematics.body_jacobian(robot, q, frame), dynamics.inverse_mass_matrix(robot, q)
    weightless = robot.with_gravity((0.0, 0.0, 0.0))

    def error(v: JointVector) -> Twist:
        X = v @ J.T
        drift = kinematics.body_acceleration(robot, q, v, np.zeros(robot.nv), frame)
        return drift - dynamics.bias_forces(weightless, q, v) @ (J @ M_inverse).T - lie.bracket_dual(X, X)

    units = root_of(M_inverse)[0].T  # rows of unit energy
    own = error(units)
    pairs = 0.5 * (error(units[:, None] + units[None, :]) - own[:, None] - own[None, :])
    velocity = float(np.linalg.norm(pairs, axis=-1).max())
    gravity = float(np.linalg.norm(J @ M_inverse @ dynamics.gravity_forces(robot, q)))
    p = robot.parameters
    friction = bool(np.any(p.viscous_friction) or np.any(p.coulomb_friction))
    submersion = float(np.abs(J @ M_inverse @ J.T - np.eye(6)).max())
    springs = has_springs(robot)
    applies = velocity <= tolerance and gravity <= tolerance and not friction and not springs
    return AltafiniEquationReport(robot, frame, applies, velocity, gravity, friction, springs, submersion)
