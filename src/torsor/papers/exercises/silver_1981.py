"""Exercises on Silver [Sil81]."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.lie import so3
from torsor.papers.exercises.checking import Draw, Problem, recipe


@recipe(
    "silver/second_moment",
    "one inertia tensor by the other",
    expected="an array (3, 3), kg·m²",
    hints=(
        "(2.11): J = ½ tr(I) δ − I.",
        "J is ∫ r rᵀ dm, so J_xx is the mean of x², and I_xx = J_yy + J_zz.",
    ),
)
def _ask_second_moment(draw: Draw) -> Problem:
    points, masses = draw.numbers(12, -1, 1).reshape(4, 3), draw.numbers(4, 0.5, 2)
    J = (points.T * masses) @ points
    inertia = np.trace(J) * np.eye(3) - J
    return Problem(
        "`given.I` is the inertia tensor of a body about its centre, kg·m². What is the tensor J of second moments (2.7), which "
        "goes with the rate of W?",
        {"I": inertia},
        lambda: J,
        {
            "This is tr(I) δ − I; it needs ½ tr(I).": lambda: np.trace(inertia) * np.eye(3) - inertia,
            "This is I itself.": lambda: inertia,
            "The products of inertia need the other sign.": lambda: 2 * np.diag(np.diag(J)) - J,
        },
    )


@recipe(
    "silver/angular_velocity",
    "angular velocity from the rate of a rotation, implemented",
    expected="an array (3,), rad/s",
    signature="omega(W, W_dot)",
    tolerance=1e-8,
    hints=(
        "(2.6) says that Ẇ Wᵀ is skew-symmetric, and its three numbers are ω.",
        "W takes vectors of the body to fixed axes. Ẇ Wᵀ gives ω in fixed axes, WᵀẆ in those of the body.",
    ),
)
def _ask_angular_velocity(draw: Draw) -> Problem:
    cases = []
    for _ in range(4):
        W = so3.exp(draw.numbers(3, -1.5, 1.5))
        cases.append((W, so3.hat(draw.numbers(3, -2, 2)) @ W))
    return Problem(
        "Write a function omega(W, W_dot) that returns the angular velocity in fixed axes, (2.6), from a rotation (3, 3) and "
        "its rate.",
        {},
        lambda W, W_dot: so3.vee(W_dot @ W.T),
        {
            "This is the angular velocity in the axes of the body, from WᵀẆ.": lambda W, W_dot: so3.vee(W.T @ W_dot),
            "The sign is wrong: use Ẇ Wᵀ, not W Ẇᵀ.": lambda W, W_dot: -so3.vee(W_dot @ W.T),
        },
        cases,
    )


@recipe(
    "silver/torques",
    "joint torques from the forces on the links",
    expected="an array (3,), N·m",
    hints=(
        "(3.12) sums over all links i ≥ j: a joint carries every link beyond it.",
        "(3.15), (3.16) for revolute joints: ∂v_i/∂q̇_j = z_j × p_ji and ∂ω_i/∂q̇_j = z_j. "
        "p_ji goes from joint j to the centre of link i.",
    ),
)
def _ask_torques(draw: Draw) -> Problem:
    z = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]], float)
    joints, centres = draw.numbers(9, -1, 1).reshape(3, 3), draw.numbers(9, -1, 1).reshape(3, 3)
    F, N = draw.numbers(9, -20, 20).reshape(3, 3), draw.numbers(9, -5, 5).reshape(3, 3)

    def sums(*, last: int = 3, sign: float = 1.0, moments: float = 1.0) -> Any:
        return [
            sum(
                sign * F[i] @ np.cross(z[j], centres[i] - joints[j]) + moments * N[i] @ z[j]
                for i in range(j, min(3, j + last))
            )
            for j in range(3)
        ]

    return Problem(
        "Three links on revolute joints. `given` has, in fixed axes, the axes z (3, 3), a row for each joint, a point of each "
        "axis (joints), the centres of mass (centres), and the force F and moment N on each link. What are the torques (3.12)?",
        {"z": z, "joints": joints, "centres": centres, "F": F, "N": N},
        sums,
        {
            "Only the link itself was counted; joint j carries all links i ≥ j.": lambda: sums(last=1),
            "p_ji points from the joint to the centre, not back.": lambda: sums(sign=-1),
            "The moments N are missing.": lambda: sums(moments=0),
        },
    )
