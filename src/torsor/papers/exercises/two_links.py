"""The book's planar 2R chain of point masses in closed form, with switches for what people, and the draft, get wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.papers.exercises.checking import Draw
from torsor.robots.zoo import planar2r

GRAVITY = 9.81


def draw_two_links(draw: Draw) -> dict[str, Any]:
    """Masses, lengths and the robot of them."""
    masses, lengths = (
        draw.numbers(2, 1.2, 3),
        draw.numbers(2, 0.3, 1.2),
    )  # no mass is 1: it would hide where it is missing
    return {"masses": masses, "lengths": lengths, "robot": planar2r(masses=list(masses), lengths=list(lengths))}


def in_words(given: dict[str, Any]) -> str:
    """The chain in one sentence."""
    (m1, m2), (l1, l2) = given["masses"], given["lengths"]
    return (
        f"A planar 2R chain has point masses m1 = {m1:g} kg and m2 = {m2:g} kg at the ends of its links, "
        f"L1 = {l1:g} m and L2 = {l2:g} m; gravity is 9.81 m/s² along −y. "
    )


def mass_matrix(given: dict[str, Any], theta: np.ndarray, *, printed: bool = False) -> np.ndarray:
    """M(θ); ``printed`` has the draft's cos θ1 in place of cos θ2 beside θ̈2 of τ1 (E002-2)."""
    (m1, m2), (l1, l2) = given["masses"], given["lengths"]
    m12 = m2 * (l1 * l2 * np.cos(theta[1]) + l2**2)
    wrong = m2 * (l1 * l2 * np.cos(theta[0]) + l2**2) if printed else m12
    m11 = m1 * l1**2 + m2 * (l1**2 + 2 * l1 * l2 * np.cos(theta[1]) + l2**2)
    return np.array([[m11, wrong], [m12, m2 * l2**2]])


def velocity_forces(given: dict[str, Any], theta: np.ndarray, rate: np.ndarray, *, printed: bool = False) -> np.ndarray:
    """c(θ, θ̇); ``printed`` has the draft's −θ̇1 θ̇2 in place of +θ̇1² in τ2 (E002-3)."""
    m2, (l1, l2) = given["masses"][1], given["lengths"]
    h = m2 * l1 * l2 * np.sin(theta[1])
    second = -h * rate[0] * rate[1] if printed else h * rate[0] ** 2
    return np.array([-h * (2 * rate[0] * rate[1] + rate[1] ** 2), second])


def gravity_forces(given: dict[str, Any], theta: np.ndarray, *, second: float = 1.0) -> np.ndarray:
    """g(θ); ``second = -1`` has the draft's sign in τ2 (E002-3)."""
    (m1, m2), (l1, l2) = given["masses"], given["lengths"]
    end = m2 * GRAVITY * l2 * np.cos(theta[0] + theta[1])
    return np.array([(m1 + m2) * GRAVITY * l1 * np.cos(theta[0]) + end, second * end])


def jacobian(given: dict[str, Any], theta: np.ndarray) -> np.ndarray:
    """Velocity of the tip in base axes, by θ̇: (2, 2)."""
    l1, l2 = given["lengths"]
    one, both = theta[0], theta[0] + theta[1]
    return np.array(
        [
            [-l1 * np.sin(one) - l2 * np.sin(both), -l2 * np.sin(both)],
            [l1 * np.cos(one) + l2 * np.cos(both), l2 * np.cos(both)],
        ]
    )


def jacobian_rate(given: dict[str, Any], theta: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Rate of `jacobian` along θ̇: (2, 2)."""
    l1, l2 = given["lengths"]
    one, both, turn = theta[0], theta[0] + theta[1], rate[0] + rate[1]
    return np.array(
        [
            [-l1 * np.cos(one) * rate[0] - l2 * np.cos(both) * turn, -l2 * np.cos(both) * turn],
            [-l1 * np.sin(one) * rate[0] - l2 * np.sin(both) * turn, -l2 * np.sin(both) * turn],
        ]
    )
