"""Exercises on Altafini [Alt04]."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.papers.exercises.checking import Draw, Problem, recipe


def _lift(M: np.ndarray, J: np.ndarray) -> np.ndarray:
    minimal = np.linalg.solve(M, J.T)
    return minimal @ np.linalg.inv(J @ minimal)


def _mass_matrix(draw: Draw, n: int) -> Any:
    factor = draw.numbers(n * n, -1, 1).reshape(n, n)
    return factor @ factor.T + np.diag(np.arange(1.0, n + 1) ** 2)  # far from a multiple of 1, for which J⁺ is the lift


@recipe(
    "altafini/slides",
    "the cheapest way to move two carts in line",
    expected="an array (2,), m/s",
    hints=(
        "Write the kinetic energy with v_2 = 1 − v_1 and look for its least value.",
        "(14): M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ with J = (1, 1) and M = ((m1 + m2, m2), (m2, m2)).",
    ),
)
def _ask_slides(draw: Draw) -> Problem:
    m1, m2, motor = draw.number(1, 4), draw.number(0.6, 2), draw.number(0.2, 0.5)
    M, J = np.array([[m1 + m2, m2], [m2, m2 + motor]]), np.array([[1.0, 1.0]])
    return Problem(
        f"Cart 1 ({m1:g} kg) slides on the ground, cart 2 ({m2:g} kg) on cart 1, both along x; the motor of joint 2 adds "
        f"{motor:g} kg of armature to m_22. Cart 2 must move with 1 m/s. Which joint velocities cost the least kinetic energy?",
        {"m1": m1, "m2": m2, "armature": motor},
        lambda: _lift(M, J)[:, 0],
        {
            "This is the pseudoinverse J⁺, of least v_1² + v_2², as Theorem III.2 has it (E004-12).": lambda: [
                0.5,
                0.5,
            ],
            "The armature is missing in m_22.": lambda: [0.0, 1.0],
            "The carts were taken as independent: cart 1 carries cart 2.": lambda: _lift(np.diag([m1, m2]), J)[:, 0],
        },
    )


@recipe(
    "altafini/lift",
    "the horizontal lift, implemented",
    expected="an array (n, m)",
    signature="lift(M, J)",
    tolerance=1e-8,
    hints=(
        "(14): ρ*ʰ = M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹.",
        "Two tests of your own: J @ lift is the identity, and lift.T @ M @ Z is zero for every Z with J Z = 0.",
    ),
)
def _ask_lift(draw: Draw) -> Problem:
    return Problem(
        "Write a function lift(M, J) for the horizontal lift (14) of a mass matrix (n, n) and a Jacobian (m, n).",
        {},
        _lift,
        {
            "This is the pseudoinverse; Theorem III.2 is not true in general (E004-12).": lambda M, J: np.linalg.pinv(
                J
            ),
            "This is the lift for M⁻¹ in place of M.": lambda M, J: _lift(np.linalg.inv(M), J),
        },
        [(_mass_matrix(draw, 4), draw.numbers(8, -2, 2).reshape(2, 4)) for _ in range(4)],
    )


@recipe(
    "altafini/extra_energy",
    "what the pseudoinverse costs",
    expected="one number, J",
    hints=(
        "Compute ½ vᵀ M v for v = J⁺ X and for the horizontal lift of X, and subtract.",
        "The difference is the energy of the vertical part of J⁺ X, so it is never negative.",
    ),
)
def _ask_extra_energy(draw: Draw) -> Problem:
    M, J, X = _mass_matrix(draw, 3), draw.numbers(6, -2, 2).reshape(2, 3), draw.numbers(2, -2, 2)

    def energy(K: np.ndarray) -> Any:
        return 0.5 * X @ K.T @ M @ K @ X

    return Problem(
        "`given` has M (3, 3), J (2, 3) and a task velocity X (2,). How much more kinetic energy has J⁺ X than the horizontal "
        "lift of X?",
        {"M": M, "J": J, "X": X},
        lambda: energy(np.linalg.pinv(J)) - energy(_lift(M, J)),
        {
            "This is the energy of J⁺ X itself.": lambda: energy(np.linalg.pinv(J)),
            "This is the energy of the lift.": lambda: energy(_lift(M, J)),
        },
    )
