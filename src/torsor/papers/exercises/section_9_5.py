"""Exercises on forward dynamics [LP, §9.5]."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.functions.public import dynamics, kinematics
from torsor.papers.accelerations import euler_trajectory
from torsor.papers.exercises import two_links
from torsor.papers.exercises.checking import Draw, Problem, recipe


@recipe(
    "9.5/acceleration",
    "acceleration when a motor is switched on",
    expected="an array (2,), rad/s²",
    hints=(
        "M θ̈ = τ − b, (9.89). Get b from the inverse dynamics with θ̈ = 0.",
        "Solve the linear system; do not invert M. At rest b is gravity alone.",
    ),
)
def _ask_acceleration(draw: Draw) -> Problem:
    given = two_links.draw_two_links(draw)
    robot, theta, tau = given["robot"], draw.numbers(2, 0.3, 1.3), draw.numbers(2, 2, 20)
    rest = np.zeros(2)
    return Problem(
        two_links.in_words(given)
        + f"It is held at rest at θ = {theta.tolist()} rad, then the torques τ = {tau.tolist()} N·m act. What is θ̈?",
        given | {"theta": theta, "tau": tau},
        lambda: dynamics.forward_dynamics(robot, theta, rest, tau),
        {
            "Gravity is missing.": lambda: np.linalg.solve(dynamics.mass_matrix(robot, theta), tau),
            "The bias has the wrong sign: it is τ − b.": lambda: np.linalg.solve(
                dynamics.mass_matrix(robot, theta), tau + dynamics.gravity_forces(robot, theta)
            ),
            "The torques were divided by the diagonal of M; M couples the joints.": lambda: (
                (tau - dynamics.gravity_forces(robot, theta)) / np.diag(dynamics.mass_matrix(robot, theta))
            ),
        },
    )


@recipe(
    "9.5/euler_steps",
    "four steps of Euler's method",
    expected="an array (2,), rad",
    tolerance=1e-6,
    hints=(
        "θ[k+1] = θ[k] + h θ̇[k] and θ̇[k+1] = θ̇[k] + h θ̈[k]: both use the state before the step.",
        "Start with k = 0 (E002-12). Four steps give θ[4].",
    ),
)
def _ask_euler_steps(draw: Draw) -> Problem:
    given = two_links.draw_two_links(draw)
    robot, theta, rate, h = given["robot"], draw.numbers(2, -1, 1), draw.numbers(2, -1, 1), 0.05

    def steps(n: int, semi_implicit: bool = False) -> Any:
        if not semi_implicit:
            return euler_trajectory(robot, theta, rate, np.zeros((n, 2)), h)[0][-1]
        q, v = theta, rate
        for _ in range(n):
            v = v + h * dynamics.forward_dynamics(robot, q, v, np.zeros(2))
            q = q + h * v
        return q

    return Problem(
        two_links.in_words(given) + f"It falls freely from θ = {theta.tolist()} rad, θ̇ = {rate.tolist()} rad/s. "
        "What is θ after 4 Euler steps of h = 0.05 s?",
        given | {"theta": theta, "dtheta": rate, "h": h},
        lambda: steps(4),
        {
            "The positions were moved with the new velocities; the book uses those before the step.": lambda: steps(
                4, True
            ),
            "This is after 3 steps.": lambda: steps(3),
            "This is after 5 steps.": lambda: steps(5),
        },
    )


@recipe(
    "9.5/get_joint_accel",
    "your own GetJointAccel",
    expected="an array (2,), rad/s²",
    signature="accel(theta, dtheta, tau, F_tip)",
    tolerance=1e-7,
    hints=(
        "c = τ − γ − J_bᵀ F_tip, with γ the inverse dynamics at θ̈ = 0; then solve M θ̈ = c.",
        "F_tip (6,) is what the tip does to the environment, in the frame “tip”: torsor.body_jacobian(robot, theta, 'tip').",
    ),
)
def _ask_get_joint_accel(draw: Draw) -> Problem:
    given = two_links.draw_two_links(draw)
    robot = given["robot"]

    def changed(
        theta: Any,
        rate: Any,
        tau: Any,
        F_tip: Any,
        *,
        tip: float = -1.0,
        bias: float = -1.0,
        jacobian: Any = kinematics.body_jacobian,
    ) -> Any:
        forces = tau + bias * dynamics.bias_forces(robot, theta, rate) + tip * jacobian(robot, theta, "tip").T @ F_tip
        return np.linalg.solve(dynamics.mass_matrix(robot, theta), forces)

    return Problem(
        two_links.in_words(given)
        + "Write GetJointAccel of §9.5 as accel(theta, dtheta, tau, F_tip), with F_tip in the tip frame.",
        given,
        changed,
        {
            "F_tip has the wrong sign: it is what the tip does to the environment (E002-10).": lambda *s: changed(
                *s, tip=1
            ),
            "F_tip is not used.": lambda *s: changed(*s, tip=0),
            "The bias is missing.": lambda *s: changed(*s, bias=0),
            "The bias has the wrong sign.": lambda *s: changed(*s, bias=1),
            "F_tip is in the tip frame, so the body Jacobian belongs to it.": lambda *s: changed(
                *s, jacobian=kinematics.space_jacobian
            ),
        },
        draw.states(4, 2, 2, 2, 6),
    )
