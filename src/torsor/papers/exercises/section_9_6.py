"""Exercises on dynamics in task space [LP, §9.6]."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.functions.public import dynamics
from torsor.papers.exercises import two_links
from torsor.papers.exercises.checking import Draw, Problem, recipe


@recipe(
    "9.6/task_inertia",
    "inertia felt at the tip",
    expected="an array (2, 2), kg",
    hints=(
        "J is the 2×2 matrix that takes θ̇ to the velocity of the tip in base axes. It stands in §9.1.1.",
        "Λ = J⁻ᵀ M J⁻¹, (9.98).",
    ),
)
def _ask_task_inertia(draw: Draw) -> Problem:
    given = two_links.draw_two_links(draw)
    theta = draw.numbers(2, 0.5, 1.5)
    J, M = two_links.jacobian(given, theta), two_links.mass_matrix(given, theta)
    c, s = np.cos(theta.sum()), np.sin(theta.sum())
    R = np.array([[c, -s], [s, c]])

    def task(J: np.ndarray) -> Any:
        return np.linalg.inv(J @ np.linalg.inv(dynamics.mass_matrix(given["robot"], theta)) @ J.T)

    return Problem(
        two_links.in_words(given)
        + f"The task is the position (x, y) of the tip in base axes. What is Λ at θ = {theta.tolist()} rad?",
        given | {"theta": theta},
        lambda: task(J),
        {
            "This is J M⁻¹ Jᵀ, the inverse of Λ.": lambda: np.linalg.inv(task(J)),
            "This is J M Jᵀ; the inverse of J is needed.": lambda: J @ M @ J.T,
            "This is Λ in the axes of the last link; the task has the axes of the base.": lambda: task(R.T @ J),
            "J and Jᵀ have changed places.": lambda: np.linalg.inv(J) @ M @ np.linalg.inv(J).T,
        },
    )


@recipe(
    "9.6/bias",
    "bias in task space, implemented",
    expected="an array (2,), N",
    signature="eta(theta, dtheta)",
    tolerance=1e-7,
    hints=(
        "(9.99): η = J⁻ᵀ b − Λ J̇ θ̇. J̇ is the rate of J along θ̇.",
        "Differentiate J by hand: every cosine and sine of θ1 brings θ̇1, those of θ1 + θ2 bring θ̇1 + θ̇2.",
        "A second way: η is the force at the tip that holds ẍ = 0, so τ = Jᵀ η gives θ̈ = −J⁻¹ J̇ θ̇.",
    ),
)
def _ask_bias(draw: Draw) -> Problem:
    given = two_links.draw_two_links(draw)

    def changed(theta: Any, rate: Any, *, drift: float = -1.0, joints: float = 1.0, as_printed: bool = False) -> Any:
        J, M = two_links.jacobian(given, theta), two_links.mass_matrix(given, theta)
        lift = np.linalg.inv(J).T
        b = dynamics.bias_forces(given["robot"], theta, rate)
        drifting = two_links.jacobian_rate(given, theta, rate) @ rate
        force = (lift @ lift if as_printed else lift) @ b
        return joints * force + drift * lift @ M @ np.linalg.inv(J) @ drifting

    return Problem(
        two_links.in_words(given)
        + "The task is the position (x, y) of the tip in base axes. Write a function eta(theta, dtheta) for the bias of (9.99).",
        given,
        changed,
        {
            "The term Λ J̇ θ̇ is missing.": lambda *s: changed(*s, drift=0),
            "The term Λ J̇ θ̇ has the wrong sign.": lambda *s: changed(*s, drift=1),
            "The bias of the joints, J⁻ᵀ b, is missing.": lambda *s: changed(*s, joints=0),
            "b has been multiplied by J⁻ᵀ twice: (9.95) is printed with one too many (E002-11).": lambda *s: changed(
                *s, as_printed=True
            ),
        },
        [(np.array([x[0], 0.6 + abs(x[1]) / 2]), v) for x, v in draw.states(4, 2, 2)],
    )


@recipe(
    "9.6/singularity",
    "how heavy the tip becomes near the stretched arm",
    expected="one number, kg",
    hints=(
        "Turn Λ into the axes of the arm: with uᵀ Λ u, u the unit vector from the base to the tip.",
        "Use the angle given. At θ2 = 0 itself J has no inverse.",
    ),
)
def _ask_singularity(draw: Draw) -> Problem:
    given = two_links.draw_two_links(draw)
    theta = np.array([0.0, draw.number(0.05, 0.2)])
    J = two_links.jacobian(given, theta)
    l1, l2 = given["lengths"]
    tip = np.array([l1 + l2 * np.cos(theta[1]), l2 * np.sin(theta[1])])
    u = tip / np.linalg.norm(tip)

    def task() -> Any:
        return np.linalg.inv(J @ np.linalg.inv(dynamics.mass_matrix(given["robot"], theta)) @ J.T)

    return Problem(
        two_links.in_words(given)
        + f"The arm is nearly stretched, θ = {theta.tolist()} rad. What mass uᵀ Λ u does the tip show along "
        "the line u from the base to the tip?",
        given | {"theta": theta},
        lambda: u @ task() @ u,
        {
            "This is 1/(uᵀ Λ⁻¹ u), the mass that a force along u feels when the tip is free across it.": lambda: (
                1 / (u @ np.linalg.inv(task()) @ u)
            ),
            "This is along x of the base; u points to the tip.": lambda: task()[0, 0],
            "u must be a unit vector.": lambda: tip @ task() @ tip,
        },
    )
