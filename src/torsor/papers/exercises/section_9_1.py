"""Exercises on the Lagrangian formulation [LP, §9.1]."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.functions.public import dynamics
from torsor.papers.exercises import two_links
from torsor.papers.exercises.checking import Draw, Problem, recipe


@recipe(
    "9.1/energy",
    "kinetic energy of a 2R chain",
    expected="one number, J",
    hints=(
        "The angles are given in degrees. NumPy's sine and cosine take radians.",
        "Write the velocity of each mass first: (9.7) is a sum of ½ m |velocity|².",
        "The mass m2 multiplies all three terms of K_2; the draft prints it in front of the first alone (E002-1).",
    ),
)
def _ask_energy(draw: Draw) -> Problem:
    given = two_links.draw_two_links(draw)
    degrees, rate = draw.numbers(2, 20, 160, 1), draw.numbers(2, 0.5, 3)
    theta = np.radians(degrees)

    def as_printed() -> Any:
        (m1, m2), (l1, l2), c = given["masses"], given["lengths"], np.cos(theta[1])
        first = m2 * (l1**2 + 2 * l1 * l2 * c + l2**2) * rate[0] ** 2
        rest = 2 * (l2**2 + l1 * l2 * c) * rate[0] * rate[1] + l2**2 * rate[1] ** 2
        return 0.5 * m1 * l1**2 * rate[0] ** 2 + 0.5 * (first + rest)

    return Problem(
        two_links.in_words(given)
        + f"What is its kinetic energy at θ = ({degrees[0]:g}°, {degrees[1]:g}°) with θ̇ = ({rate[0]:g}, {rate[1]:g}) rad/s?",
        given | {"theta_in_degrees": degrees, "dtheta": rate},
        lambda: dynamics.kinetic_energy(given["robot"], theta, rate),
        {
            "The angles were taken as radians; they are given in degrees.": lambda: dynamics.kinetic_energy(
                given["robot"], degrees, rate
            ),
            "This is K_2 as the draft prints it, with m2 before the first term alone (E002-1).": as_printed,
            "This is θ̇ᵀ M θ̇, without the ½.": lambda: 2 * dynamics.kinetic_energy(given["robot"], theta, rate),
        },
    )


@recipe(
    "9.1/mass_matrix",
    "mass matrix of a 2R chain, derived",
    expected="an array (2, 2), kg·m²",
    signature="M(theta)",
    tolerance=1e-8,
    hints=(
        "Collect the terms of ½ θ̇ᵀ M θ̇ = K_1 + K_2: m_11 is what multiplies θ̇1²/2, m_12 what multiplies θ̇1 θ̇2.",
        "M depends on θ2 alone: turning the whole chain changes no distance.",
    ),
)
def _ask_mass_matrix(draw: Draw) -> Problem:
    given = two_links.draw_two_links(draw)
    return Problem(
        two_links.in_words(given) + "Write a function M(theta) that returns the mass matrix of (9.10).",
        given,
        lambda theta: dynamics.mass_matrix(given["robot"], theta),
        {
            "m_12 has cos θ1, as the draft prints τ1 (E002-2); it must be cos θ2.": lambda theta: two_links.mass_matrix(
                given, theta, printed=True
            ),
            "m_11 lacks the first mass.": lambda theta: (
                two_links.mass_matrix(given, theta) - np.diag([given["masses"][0] * given["lengths"][0] ** 2, 0])
            ),
            "Check the term with cos θ2 in m_11: it has a factor 2.": lambda theta: (
                two_links.mass_matrix(given, theta)
                - np.diag([given["masses"][1] * np.prod(given["lengths"]) * np.cos(theta[1]), 0])
            ),
        },
        draw.states(4, 2),
    )


@recipe(
    "9.1/torques",
    "equations of motion of a 2R chain, derived",
    expected="an array (2,), N·m",
    signature="tau(theta, dtheta, ddtheta)",
    tolerance=1e-8,
    hints=(
        "Use (9.8) on the Lagrangian, or (9.12) with the Christoffel symbols (9.13).",
        "Only ∂M/∂θ2 is not zero, so c = (−h (2 θ̇1 θ̇2 + θ̇2²), h θ̇1²) with h = m2 L1 L2 sin θ2.",
        "Gravity: differentiate the potential energies P_1 and P_2. Both entries have a plus before the cosines.",
    ),
)
def _ask_torques(draw: Draw) -> Problem:
    given = two_links.draw_two_links(draw)
    robot = given["robot"]

    def changed(
        theta: Any,
        rate: Any,
        acceleration: Any,
        *,
        printed: bool = False,
        velocity: float = 1.0,
        gravity: float = 1.0,
        second: float = 1.0,
    ) -> Any:
        return (
            two_links.mass_matrix(given, theta) @ acceleration
            + velocity * two_links.velocity_forces(given, theta, rate, printed=printed)
            + gravity * two_links.gravity_forces(given, theta, second=second)
        )

    return Problem(
        two_links.in_words(given) + "Write a function tau(theta, dtheta, ddtheta) that returns both joint torques.",
        given,
        lambda theta, rate, acceleration: dynamics.inverse_dynamics(robot, theta, rate, acceleration),
        {
            "Gravity has the wrong sign: at rest the joints must push up.": lambda *state: changed(*state, gravity=-1),
            "Gravity is missing.": lambda *state: changed(*state, gravity=0),
            "The velocity terms are missing.": lambda *state: changed(*state, velocity=0),
            "The velocity terms have the wrong sign.": lambda *state: changed(*state, velocity=-1),
            "This is τ_2 as the draft prints it; it has two wrong signs (E002-3).": lambda *state: changed(
                *state, printed=True, second=-1
            ),
        },
        draw.states(4, 2, 2, 2),
    )
