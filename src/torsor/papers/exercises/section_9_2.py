"""Exercises on the dynamics of one rigid body [LP, §9.2]."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.lie import ad
from torsor.papers.exercises.checking import Draw, Problem, recipe


def _box(draw: Draw) -> dict[str, Any]:
    return {"mass": draw.number(1, 5), "sides": np.array([draw.number(low, low + 0.3) for low in (0.7, 0.2, 1.2)])}


def _inertia(given: dict[str, Any], part: float = 12) -> np.ndarray:
    m, (a, b, c) = given["mass"], given["sides"]
    return np.diag([*(m / part * np.array([b * b + c * c, a * a + c * c, a * a + b * b])), m, m, m])


def _in_words(given: dict[str, Any]) -> str:
    a, b, c = given["sides"]
    return f"A solid box of {given['mass']:g} kg has the sides {a:g}, {b:g}, {c:g} m along x, y, z of a frame at its centre. "


@recipe(
    "9.2/momentum",
    "momentum of a box",
    expected="an array (6,), (angular, linear), kg·m²/s and kg·m/s",
    hints=(
        "I_xx = ∫ (y² + z²) ρ dV. For a box about its centre it is m (b² + c²)/12.",
        "P = G V with G = diag(I_xx, I_yy, I_zz, m, m, m), (9.23) and (9.25).",
    ),
)
def _ask_momentum(draw: Draw) -> Problem:
    given = _box(draw)
    V = draw.numbers(6, -2, 2)
    return Problem(
        _in_words(given) + f"What is its momentum P at the twist V = (ω, v) = {V.tolist()}, rad/s and m/s?",
        given | {"V": V},
        lambda: _inertia(given) @ V,
        {
            "The moments are those about an edge, m (b² + c²)/3; the frame is at the centre.": lambda: (
                _inertia(given, 3) @ V
            ),
            "V was read as (linear, angular); here it is (angular, linear).": lambda: (
                np.roll(_inertia(given), 3, (0, 1)) @ V
            ),
            "I_xx has the sides b and c, not a.": lambda: np.concatenate(
                [given["mass"] / 12 * given["sides"] ** 2 * V[:3], given["mass"] * V[3:]]
            ),
        },
    )


@recipe(
    "9.2/wrench",
    "wrench that moves a box",
    expected="an array (6,), (moment, force), N·m and N",
    hints=(
        "Use (9.17) and (9.20), or both at once, (9.33).",
        "v̇ is the rate of the numbers of v in the moving frame. The acceleration of the centre is v̇ + ω × v.",
    ),
)
def _ask_wrench(draw: Draw) -> Problem:
    given = _box(draw)
    V, V_dot = draw.numbers(6, -2, 2), draw.numbers(6, -3, 3)
    G = _inertia(given)
    without_force = np.concatenate([np.cross(V[:3], G[:3, :3] @ V[:3]), np.zeros(3)])
    return Problem(
        _in_words(given)
        + f"Which wrench F gives it the rate V̇ = {V_dot.tolist()} at the twist V = {V.tolist()}? No gravity.",
        given | {"V": V, "V_dot": V_dot},
        lambda: G @ V_dot - ad(V).T @ G @ V,
        {
            "The term ω × v is missing in the force: v̇ is not the acceleration of the centre.": lambda: (
                G @ V_dot + without_force
            ),
            "The velocity terms have the wrong sign: it is minus ad_Vᵀ.": lambda: G @ V_dot + ad(V).T @ G @ V,
            "ad_V must be transposed in (9.33).": lambda: G @ V_dot - ad(V) @ G @ V,
            "The velocity terms are missing.": lambda: G @ V_dot,
        },
    )


@recipe(
    "9.2/equations_of_motion",
    "Newton and Euler's equations about any frame, implemented",
    expected="an array (6,), (moment, force)",
    signature="wrench(G, V, V_dot)",
    tolerance=1e-8,
    hints=(
        "Form the 6×6 matrix [ad_V] of (9.29) by blocks: ([ω], 0; [v], [ω]).",
        "(9.33) is true for every frame, also where G is not block-diagonal. (9.17) and (9.20) are not.",
    ),
)
def _ask_equations_of_motion(draw: Draw) -> Problem:
    cases = []
    for _ in range(4):
        given = _box(draw)
        shift = np.eye(6)
        x, y, z = draw.numbers(3, -1, 1)
        shift[3:, :3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
        cases.append((shift.T @ _inertia(given) @ shift, *draw.states(1, 6, 6)[0]))
    return Problem(
        "Write a function wrench(G, V, V_dot) that returns the wrench of (9.33), for any 6×6 spatial inertia G. It is tried "
        "with frames that are not at the centre of mass.",
        {},
        lambda G, V, V_dot: G @ V_dot - ad(V).T @ G @ V,
        {
            "ad_V must be transposed.": lambda G, V, V_dot: G @ V_dot - ad(V) @ G @ V,
            "The velocity terms have the wrong sign.": lambda G, V, V_dot: G @ V_dot + ad(V).T @ G @ V,
            "This is right at the centre of mass only: [v] is missing in ad_V.": lambda G, V, V_dot: (
                G @ V_dot - ad(np.concatenate([V[:3], np.zeros(3)])).T @ G @ V
            ),
        },
        cases,
    )
