"""Exercises on Kool [Kool04]."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.papers.exercises.checking import Draw, Problem, recipe


def _skew(r: np.ndarray) -> np.ndarray:
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


def _inertia(
    mass: float, centre: np.ndarray, about_centre: np.ndarray, *, sign: float = 1.0, shift: float = 1.0
) -> np.ndarray:
    r = _skew(centre)
    return np.block([[about_centre - shift * mass * r @ r, sign * mass * r], [-sign * mass * r, mass * np.eye(3)]])


@recipe(
    "kool/line_vector",
    "line vector of a screw joint",
    expected="an array (6,), (angular, linear)",
    hints=(
        "(6): L = (e, m + h e) with the moment m = p × e of the line about the origin.",
        "The pitch h is per radian. It is the velocity along e while the joint turns with 1 rad/s.",
    ),
)
def _ask_line_vector(draw: Draw) -> Problem:
    p, h = draw.numbers(3, -1, 1), draw.number(0.05, 0.4)
    e = np.array([0.6, 0.0, 0.8]) if draw.number(-1, 1) > 0 else np.array([0.0, -0.6, 0.8])
    return Problem(
        f"A helical joint has the axis e = {e.tolist()} through the point p = {p.tolist()} m and the pitch {h:g} m/rad. What is "
        "its line vector L?",
        {"e": e, "p": p, "h": h},
        lambda: np.concatenate([e, np.cross(p, e) + h * e]),
        {
            "The moment has the wrong sign: it is p × e.": lambda: np.concatenate([e, np.cross(e, p) + h * e]),
            "The pitch is missing.": lambda: np.concatenate([e, np.cross(p, e)]),
            "The pitch is per radian, not per turn.": lambda: np.concatenate([e, np.cross(p, e) + h / (2 * np.pi) * e]),
        },
    )


@recipe(
    "kool/inertia",
    "inertia of a link in the absolute frame, implemented",
    expected="an array (6, 6)",
    signature="N(mass, centre, about_centre)",
    tolerance=1e-8,
    hints=(
        "(3): the blocks are I, m [r_g], −m [r_g], m E, with I about the origin of the absolute frame.",
        "Steiner: I = I_c − m [r_g]². Check ½ Tᵀ N T with a pure translation and with a rotation about the origin.",
    ),
)
def _ask_inertia(draw: Draw) -> Problem:
    cases: list[tuple[Any, ...]] = []
    for _ in range(4):
        factor = draw.numbers(9, -0.5, 0.5).reshape(3, 3)
        second = factor @ factor.T
        cases.append((draw.number(1, 4), draw.numbers(3, -1, 1), np.trace(second) * np.eye(3) - second))
    return Problem(
        "Write a function N(mass, centre, about_centre) that returns N_j of (3): centre (3,) is the centre of mass r_g in the "
        "absolute frame, about_centre (3, 3) the inertia about it, in absolute axes.",
        {},
        _inertia,
        {
            "The blocks m [r_g] have the wrong signs.": lambda m, r, I: _inertia(m, r, I, sign=-1),
            "I must be about the origin: add Steiner's term −m [r_g]².": lambda m, r, I: _inertia(m, r, I, shift=0),
            "Steiner's term has the wrong sign: −m [r_g]² is positive.": lambda m, r, I: _inertia(m, r, I, shift=-1),
        },
        cases,
    )


@recipe(
    "kool/momentum",
    "generalised momenta of a chain of three joints",
    expected="an array (3,), kg·m²/s",
    hints=(
        "(5): T_k = Σ_{j ≤ k} L_j q̇_j, the twist of each link.",
        "(8): M_i = Σ_{j ≥ i} N_j T_j, summed from the tip, and p_i = L_iᵀ M_i.",
    ),
)
def _ask_momentum(draw: Draw) -> Problem:
    L = np.array([np.concatenate([e, np.cross(draw.numbers(3, -1, 1), e)]) for e in np.eye(3)])
    N = np.array([_inertia(draw.number(1, 3), draw.numbers(3, -1, 1), 0.1 * np.eye(3)) for _ in range(3)])
    rate = draw.numbers(3, -2, 2)
    T = np.cumsum(L * rate[:, None], axis=0)
    P = np.einsum("jab,jb->ja", N, T)

    def along_axes(M: np.ndarray) -> Any:
        return np.einsum("ia,ia->i", L, M)

    return Problem(
        f"`given` has the line vectors L (3, 6), a row for each joint, the inertias N (3, 6, 6) in the absolute frame, and q̇ = "
        f"{rate.tolist()}. What are the generalised momenta p_i of (8)?",
        {"L": L, "N": N, "dq": rate},
        lambda: along_axes(np.cumsum(P[::-1], axis=0)[::-1]),
        {
            "Only the link itself was counted: M_i sums over link i and all beyond it.": lambda: along_axes(P),
            "The sum goes to the wrong side: M_i has the links beyond joint i, not those before it.": lambda: (
                along_axes(np.cumsum(P, axis=0))
            ),
            "T_k sums over all joints up to k; these are the twists L_k q̇_k alone.": lambda: along_axes(
                np.cumsum(np.einsum("jab,jb->ja", N, L * rate[:, None])[::-1], axis=0)[::-1]
            ),
        },
    )
