"""Exercises on the equations in closed form [LP, §9.4]."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.functions.public import dynamics, geometry
from torsor.papers._closed_form import closed_form
from torsor.papers.exercises import two_links
from torsor.papers.exercises.checking import Draw, Problem, recipe
from torsor.robots.zoo import planar_chain


@recipe(
    "9.4/christoffel_symbol",
    "one Christoffel symbol",
    expected="one number, kg·m²",
    hints=(
        "(9.13) with i = 2, j = k = 1: three derivatives, of which only ∂m_11/∂θ2 is not zero.",
        "In this book the lowered index comes first; torsor has it last: its Gamma[j, k, i] is the book's Γ_ijk.",
    ),
)
def _ask_christoffel_symbol(draw: Draw) -> Problem:
    given = two_links.draw_two_links(draw)
    theta = draw.numbers(2, 0.4, 1.4)

    def symbol(i: int, j: int, k: int) -> Any:
        return float(geometry.christoffel_symbols(given["robot"], theta)[j, k, i])

    return Problem(
        two_links.in_words(given) + f"What is Γ_211 of (9.13) at θ = {theta.tolist()} rad?",
        given | {"theta": theta},
        lambda: symbol(1, 0, 0),
        {
            "This is −Γ_211, or Γ_112: the lowered index comes first in the book, and ∂m_jk/∂θ_i has a minus.": lambda: (
                symbol(0, 0, 1)
            ),
            "This is the derivative ∂m_11/∂θ2 alone; (9.13) has a factor −½.": lambda: -2 * symbol(1, 0, 0),
        },
    )


@recipe(
    "9.4/coriolis_matrix",
    "the Coriolis matrix that is passive, implemented",
    expected="an array (2, 2), N·m·s/rad",
    signature="C(theta, dtheta)",
    tolerance=1e-8,
    hints=(
        "c_ij = Σ_k Γ_ijk θ̇_k, (9.87). With h = m2 L1 L2 sin θ2 every symbol is h, −h or 0.",
        "Check yourself: Ṁ − 2C must be skew-symmetric (Proposition 9.1).",
    ),
)
def _ask_coriolis_matrix(draw: Draw) -> Problem:
    given = two_links.draw_two_links(draw)

    def h(theta: np.ndarray) -> Any:
        return given["masses"][1] * np.prod(given["lengths"]) * np.sin(theta[1])

    return Problem(
        two_links.in_words(given) + "Write a function C(theta, dtheta) that returns the Coriolis matrix of (9.87).",
        given,
        lambda theta, rate: dynamics.coriolis_matrix(given["robot"], theta, rate),
        {
            "C θ̇ is right, Ṁ − 2C is not skew-symmetric: this C is read off the forces. Use (9.87).": lambda theta, rate: (
                h(theta) * np.array([[-2 * rate[1], -rate[1]], [rate[0], 0]])
            ),
            "C θ̇ is right, Ṁ − 2C is not skew-symmetric: 2 θ̇1 θ̇2 goes half to c_11 and half to c_12.": lambda theta, rate: (
                h(theta) * np.array([[0, -2 * rate[0] - rate[1]], [rate[0], 0]])
            ),
            "The sign of c_21 is wrong.": lambda theta, rate: (
                h(theta) * np.array([[-rate[1], -rate[0] - rate[1]], [-rate[0], 0]])
            ),
        },
        draw.states(4, 2, 2),
    )


@recipe(
    "9.4/factored_mass_matrix",
    "the mass matrix from its factors",
    expected="an array (3, 3), kg·m²",
    tolerance=1e-6,
    hints=(
        "(9.76): L = (I − Γ)⁻¹ = I + Γ + Γ² for three links, since Γ³ = 0.",
        "(9.82): M = Aᵀ Lᵀ G L A.",
    ),
)
def _ask_factored_mass_matrix(draw: Draw) -> Problem:
    robot = planar_chain(list(draw.numbers(3, 0.3, 1)), list(draw.numbers(3, 0.5, 2)))
    form = closed_form(robot, draw.numbers(3, -1.5, 1.5))
    A, Gamma, G = (np.asarray(x) for x in (form.link_screws, form.parent_propagation, form.link_inertia))

    def with_propagation(L: np.ndarray) -> Any:
        return A.T @ L.T @ G @ L @ A

    return Problem(
        "`given` has the factors of a planar chain of three links: A (18, 3) of (9.64), G (18, 18) of (9.65) and Gamma (18, 18) "
        "of (9.68). What is its mass matrix?",
        {"A": A, "G": G, "Gamma": Gamma},
        lambda: with_propagation(np.linalg.inv(np.eye(18) - Gamma)),
        {
            "L is I + Γ + Γ², not I + Γ: link 3 feels joint 1 too.": lambda: with_propagation(np.eye(18) + Gamma),
            "The propagation is missing: this is Aᵀ G A.": lambda: with_propagation(np.eye(18)),
            "Γ is not L: L = (I − Γ)⁻¹.": lambda: with_propagation(Gamma),
            "L and Lᵀ have changed places.": lambda: with_propagation(np.linalg.inv(np.eye(18) - Gamma).T),
        },
    )
