"""Exercises on Park, Bobrow and Ploen [PBP95]."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.functions.public import geometry
from torsor.lie import bracket, se3
from torsor.papers.brackets import adjoint_between, adjoint_between_derivative
from torsor.papers.exercises import two_links
from torsor.papers.exercises.checking import Draw, Problem, recipe


@recipe(
    "1995/exponential",
    "where a screw motion goes",
    expected="an array (3,), m",
    hints=(
        "(15)–(17) need |ω| = 1. Divide the screw by |ω| and multiply the angle by it (E001-13).",
        "b = (φ 1 + (1 − cos φ) [ω] + (φ − sin φ) [ω]²) v, with the unit ω and its v.",
    ),
)
def _ask_exponential(draw: Draw) -> Problem:
    w, v, x = draw.numbers(3, 0.8, 2), draw.numbers(3, -1, 1), draw.number(0.4, 1.2)

    def place(w: np.ndarray, v: np.ndarray, angle: float) -> Any:
        """(17) with ω as it comes."""
        turn = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return angle * v + (1 - np.cos(angle)) * turn @ v + (angle - np.sin(angle)) * turn @ turn @ v

    length = float(np.linalg.norm(w))
    return Problem(
        f"The screw A = (ω, v) = ({w.tolist()}, {v.tolist()}) has |ω| ≠ 1. What is the position b of e^(A x) for x = {x:g}?",
        {"w": w, "v": v, "x": x},
        lambda: se3.exp(np.concatenate([w, v]) * x)[:3, 3],
        {
            "(17) was used with an ω that is no unit vector (E001-13).": lambda: place(w, v, x),
            "ω was made a unit vector, but v was not divided by |ω|.": lambda: place(w / length, v, x * length),
            "The screw was divided by |ω|, but the angle was not multiplied by it.": lambda: place(
                w / length, v / length, x
            ),
            "This is v x, as if the screw had no rotation.": lambda: v * x,
        },
    )


@recipe(
    "1995/derivative_is_a_bracket",
    "derivative of an adjoint map, implemented",
    expected="an array (6,)",
    signature="derivative(A1, A2, x)",
    tolerance=1e-8,
    hints=(
        "(53) with i = j = k = 2: ∂/∂x Ad²₂(A_1) = Ad²₂([A_1, A_2]).",
        "Ad²₂(H) = e^(−A_2 x) H e^(A_2 x): note the signs. Try a difference quotient to find yours.",
    ),
)
def _ask_derivative_is_a_bracket(draw: Draw) -> Problem:
    def right(A1: np.ndarray, A2: np.ndarray, x: np.ndarray) -> Any:
        return adjoint_between_derivative(np.array([A1, A2]), np.array([0, x[0]]), 2, 2, 2, A1)

    def without(A1: np.ndarray, A2: np.ndarray, x: np.ndarray, sign: float = 1.0) -> Any:
        return adjoint_between(np.array([A1, A2]), np.array([0, sign * x[0]]), 2, 2) @ bracket(A1, A2)

    return Problem(
        "Write a function derivative(A1, A2, x) for ∂/∂x of Ad²₂(A_1) = e^(−A_2 x) A_1 e^(A_2 x), without differences. "
        "A1 and A2 are twists (6,), x is an array (1,).",
        {},
        right,
        {
            "The bracket has the wrong order: it is [A_1, A_2].": lambda *s: -right(*s),
            "This is Ad(e^(+A_2 x)); the exponent has a minus.": lambda A1, A2, x: without(A1, A2, x, -1.0),
            "This is the bracket alone; Ad²₂ must be applied to it.": lambda A1, A2, x: bracket(A1, A2),
        },
        draw.states(4, 6, 6, 1),
    )


@recipe(
    "1995/curvature",
    "curvature of the 2R chain, derived",
    expected="one number, 1/(kg·m²)",
    signature="K(theta)",
    tolerance=1e-7,
    hints=(
        "(66) for n = 2: K = R_1212/det M. M depends on θ2 alone, so few Christoffel symbols are left.",
        "With m_11 = a + 2 b cos θ2, m_12 = d + b cos θ2, m_22 = d: "
        "R_1212 = −½ ∂²m_11/∂θ2² + Σ (Γ_12r Γ^r_12 − Γ_11r Γ^r_22).",
        "Check yours at θ2 = π/2, where it is 0, and beside it, where it changes its sign.",
    ),
)
def _ask_curvature(draw: Draw) -> Problem:
    given = two_links.draw_two_links(draw)

    def right(theta: np.ndarray) -> Any:
        return float(geometry.riemann_curvature(given["robot"], theta)[0, 1, 0, 1]) / _determinant(given, theta)

    return Problem(
        two_links.in_words(given)
        + "Write a function K(theta) that returns the Gaussian curvature of its inertia metric.",
        given,
        right,
        {
            "This is R_1212; divide it by det M.": lambda theta: right(theta) * _determinant(given, theta),
            "The sign is wrong: here R_1212 is positive on a sphere.": lambda theta: -right(theta),
            "This is the scalar curvature, twice the Gaussian one.": lambda theta: 2 * right(theta),
            "Only the second derivative is here; the products of Christoffel symbols are missing.": lambda theta: (
                given["masses"][1] * np.prod(given["lengths"]) * np.cos(theta[1]) / _determinant(given, theta)
            ),
        },
        draw.states(4, 2),
    )


def _determinant(given: dict[str, object], theta: np.ndarray) -> float:
    return float(np.linalg.det(two_links.mass_matrix(given, theta)))
