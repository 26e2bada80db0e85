"""Exercises on Brockett, Stokes and Park [BSP93]."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.lie import Ad, se3, so3
from torsor.papers.exercises.checking import Draw, Problem, recipe


@recipe(
    "1993/adjoint",
    "a twist seen from another frame",
    expected="an array (6,), (angular, linear)",
    hints=(
        "(1): Ad_T η = T η T⁻¹, with η = ([ω], v; 0, 0).",
        "As vectors: (R ω, p × R ω + R v).",
    ),
)
def _ask_adjoint(draw: Draw) -> Problem:
    angle, p, twist = draw.number(0.3, 2.5), draw.numbers(3, -1, 1), draw.numbers(6, -2, 2)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = so3.exp([0, 0, angle]), p
    w, v = T[:3, :3] @ twist[:3], T[:3, :3] @ twist[3:]
    return Problem(
        f"Frame b is turned by {angle:g} rad about z of frame a, and its origin is at {p.tolist()} m in a. A body has the twist "
        f"(ω, v) = {twist.tolist()} in frame b. What is it in frame a? The pose is `given.T`.",
        {"T": T, "twist": twist},
        lambda: Ad(T) @ twist,
        {
            "This is Ad of the inverse, from a to b.": lambda: Ad(se3.inverse(T)) @ twist,
            "Both vectors were only rotated: the term p × R ω is missing.": lambda: np.concatenate([w, v]),
            "The order of the cross product is wrong: it is p × R ω.": lambda: np.concatenate([w, v - np.cross(p, w)]),
            "The twist was read as (linear, angular).": lambda: np.concatenate(
                [T[:3, :3] @ twist[:3] + np.cross(p, T[:3, :3] @ twist[3:]), T[:3, :3] @ twist[3:]]
            ),
        },
    )


@recipe(
    "1993/trace_form",
    "kinetic energy by traces, implemented",
    expected="one number, J",
    signature="energy(mass, moments, V)",
    tolerance=1e-8,
    hints=(
        "(2) has 4×4 matrices: V = ([ω], v; 0, 0), M = diag(0, 0, 0, m) and J = √(det(I)/2) diag(I⁻¹, 0).",
        "The paper prints J without the ½ under the root. Compare with ½ ωᵀ I ω + ½ m |v|² (E000-1).",
    ),
)
def _ask_trace_form(draw: Draw) -> Problem:
    def energy(mass: float, moments: np.ndarray, V: np.ndarray, rotation: float = 0.5, linear: float = 0.5) -> Any:
        return rotation * V[:3] @ (moments * V[:3]) + linear * mass * V[3:] @ V[3:]

    return Problem(
        "Write a function energy(mass, moments, V) that returns the kinetic energy (2) of a body with the principal moments "
        "given (3,), as ½ (tr(V M Vᵀ) + tr(J V J Vᵀ)) with 4×4 matrices; V (6,) is (ω, v).",
        {},
        energy,
        {
            "The energy of rotation is doubled, as in the paper: J needs √(det(I)/2) (E000-1).": lambda m, I, V: energy(
                m, I, V, 1.0
            ),
            "V was read as (linear, angular).": lambda m, I, V: energy(m, I, np.roll(V, 3)),
        },
        [(draw.number(1, 3), draw.numbers(3, 1, 1.6), draw.numbers(6, -2, 2)) for _ in range(4)],
    )


@recipe(
    "1993/balance",
    "a planar 3R chain with a constant mass matrix",
    expected="an array (2,), m",
    hints=(
        "M is constant if every moment Σ m_k |p_ik|² is. Start at the tip: where must the centre of link 3 be?",
        "Link 3 has its centre on joint 3, so link 2 carries m3 at its end: m2 p_2 + m3 L2 = 0.",
        "The paper prints m2 p_2 = m3 L2. The two must be on opposite sides of the joint (E000-13).",
    ),
)
def _ask_balance(draw: Draw) -> Problem:
    m2, m3, l2 = draw.number(2.1, 3), draw.number(0.5, 2), draw.number(0.3, 1)
    return Problem(
        f"Link 2 of a planar 3R chain has {m2:g} kg, its joints are L2 = {l2:g} m apart, and link 3 has {m3:g} kg. Where along "
        "their links, counted from joint 2 and from joint 3, must the centres of mass of links 2 and 3 be, so that the mass "
        "matrix is constant? Answer (p_2, p_3).",
        {"m2": m2, "m3": m3, "L2": l2},
        lambda: [-m3 * l2 / m2, 0.0],
        {
            "The sign is the one the paper prints; masses on the same side do not balance (E000-13).": lambda: [
                m3 * l2 / m2,
                0.0,
            ],
            "The masses have changed places: m2 p_2 + m3 L2 = 0.": lambda: [-m2 * l2 / m3, 0.0],
        },
    )
