"""Spatial mechanisms: balanced by making what lies beyond each joint an inertial solid of revolution about its axis.

In a frame with z along the axis, the pseudo-inertia of everything beyond a joint is, in the order (x, y | z, 1) [Sil81, (1.2)]::

    [[A,  C],      A = ∫ (x, y)ᵀ(x, y) dm                  2×2, kg·m²
     [Cᵀ, E]]      C = (c, h), c = ∫ z (x, y) dm, h = ∫ (x, y) dm

It is a solid of revolution if A = s 1 and C = 0. A body of mass μ, mean height z₀ and standard deviation σ of height that
makes it one has the pseudo-inertia [[s 1 − A, −C], [−Cᵀ, F]], F = μ [[z₀² + σ², z₀], [z₀, 1]], which belongs to a real body if
and only if it is positive semi-definite: s ≥ λ_max(A + C F⁻¹ Cᵀ) = λ_max(A + h hᵀ/μ + r rᵀ/(μσ²)), r = c − z₀ h. With the least
s it is B Bᵀ with three columns, u and λ the eigenvector and eigenvalue that are left::

    B = [[−h/√μ,   −r/(σ√μ),   √(s − λ) u],
         [ z₀ √μ,    σ √μ,      0        ],
         [ √μ,       0,         0        ]]

Turned by an orthogonal matrix until its last row is (1, 1, 1) √(μ/3), its columns are √(μ/3) times (x, y, z, 1) of three equal
point masses. Columns that vanish leave two, or one.
"""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array, Matrix3
from torsor.balancing.conditions import ROUNDING, axes_of, needs_of, skew_axes
from torsor.balancing.counterweights import (
    Amounts,
    Balancing,
    Composites,
    amount,
    axis_of,
    bring_onto_axis,
    check_amounts,
    refuse_idle_names,
)
from torsor.balancing.reports import is_balanced
from torsor.border import explained
from torsor.errors import ModelError
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.model import Robot


@explained
def axisymmetric_counterweights(robot: Robot, *, masses: Amounts, spreads: Amounts | None = None) -> Balancing:
    """Robot with counterweights whose mass matrix is constant, for axes in space where it can be [BSP93, §5; Sil81, (1.2)].

    From the tips inwards, everything beyond each joint but the first becomes an inertial solid of revolution about the joint's
    axis, so that turning it moves no inertia: up to three equal point masses on the link, in closed form. A joint before which
    all axes are parallel to its own needs only its centre of mass on the axis (as in `planar_counterweights`), one before which
    nothing moves its axis needs nothing.

    What remains are the terms ∂_b M_ac = I_c (z_a × z_b)·z_c of joints a, b, c one beyond the other. They vanish for axes that
    always share a plane's directions, such as a first axis followed by parallel ones, or prismatic joints followed by two that
    turn. Where they do not vanish, no counterweights help, and the robot is refused.

    Parameters
    ----------
    robot : Robot
    masses : float or mapping from str to float
        Mass of all counterweights on a link, kg: a number for all links, or by link name. Lighter ones sit further out.
    spreads : float or mapping from str to float, optional
        Standard deviation of their heights along the axis, m; by default such that the moment of inertia about the axis is at
        most twice what it would be with weights infinitely far apart.

    Returns
    -------
    Balancing
        The new robot, the counterweights with positions (3,), m, in their links' frames, and the reports before and after.
    """
    check_amounts(robot, "masses", masses, positive=False)
    check_amounts(robot, "spreads", spreads, positive=True)
    axes = axes_of(robot)
    needs = needs_of(robot, axes)
    chosen = [i for i, need in enumerate(needs) if need != "nothing"]
    refuse_idle_names(robot, chosen, masses, spreads, why="the mass matrix does not depend on it")
    parts = Composites(robot)
    for i in reversed(range(robot.n)):
        if needs[i] == "first moment":
            bring_onto_axis(parts, i, masses, by_distance=False)
        elif needs[i] == "revolution":
            _make_solid_of_revolution(parts, i, masses, spreads)
        parts.pass_inwards(i)
    found = parts.balancing(is_balanced)
    if not found and (skew := skew_axes(robot, axes)):
        a, b, c = skew
        raise ModelError(
            f"the axes of joints {a!r}, {b!r} and {c!r} of robot {robot.name!r} do not stay parallel to one plane: "
            f"the entry M({a}, {c}) changes with {b!r} whatever its links carry. Hold one of them (robot.lock), or make the "
            "variation small with least_change_balancing."
        )
    return found


def _make_solid_of_revolution(parts: Composites, i: int, masses: Amounts, spreads: Amounts | None) -> None:
    """Up to three counterweights on link i that make everything at and beyond it a solid of revolution about its joint."""
    axis, link = axis_of(parts.robot, i), parts.robot.links[i]
    T_la = se3.pose(_turned(axis.direction), axis.point)  # the axis frame seen from the link
    row = lie.transform_inertia(se3.inverse(T_la), parts.rows[i])
    P = lie.pseudo_inertia(row)
    A, c, h, m = P[:2, :2], P[:2, 2], P[:2, 3], float(row[0])
    noise = ROUNDING * max(float(np.trace(P[:3, :3])), float(np.abs(parts.rows[i][4:]).max()))  # kg·m²
    h = parts.moment(i, axis) @ T_la[:3, :2]
    uneven = np.linalg.eigvalsh(A) @ [-1.0, 1.0]
    if np.linalg.norm(c) <= noise and uneven <= noise and not h.any():
        return
    mass = amount(masses, link)
    if not mass:
        raise ModelError(
            f"link {link!r} needs counterweights: about its joint's axis, all beyond has a first moment of "
            f"{np.linalg.norm(h):.4g} kg·m, products of inertia of {np.linalg.norm(c):.4g} kg·m², and moments across the axis "
            f"that differ by {uneven:.4g} kg·m². Give them a mass, masses={{{link!r}: …}} (kg)."
        )
    mean = float(P[2, 3]) / m
    spread = np.sqrt(max(float(P[2, 2]) / m - mean**2, 0.0))  # of the heights of what is there
    best = float((c - mean * h) @ h / (h @ h)) if h.any() else 0.0  # least |c − z₀ h|, which a small h puts far away
    z0 = mean + float(np.clip(best, -spread, spread))
    r = c - z0 * h
    r = r if np.linalg.norm(r) > noise else np.zeros(2)
    points = _points(A, h, r, z0, mass, amount(spreads, link))
    for point in points:
        parts.add(i, mass / len(points), T_la[:3, :3] @ point + T_la[:3, 3])


def _points(A: Array, h: Array, r: Array, z0: float, mass: float, spread: float | None) -> Array:
    """Places (k, 3), m, in the axis frame, of k = 1 … 3 equal masses that add up to ``mass``."""
    root, unavoidable = np.sqrt(mass), A + np.outer(h, h) / mass
    columns = [[*(-h / root), z0 * root, root]]
    sigma = spread or float(np.linalg.norm(r) / np.sqrt(mass * np.linalg.eigvalsh(unavoidable)[1]))
    total = unavoidable
    if sigma > 0:
        columns.append([*(-r / (sigma * root)), sigma * root, 0.0])
        total = total + np.outer(r, r) / (mass * sigma**2)
    (low, s), U = np.linalg.eigh(total)
    if s - low > ROUNDING * s:
        columns.append([*(np.sqrt(s - low) * U[:, 0]), 0.0, 0.0])
    B, k = np.array(columns).T, len(columns)
    w = np.eye(k)[0] - 1.0 / np.sqrt(k)
    Q = np.eye(k) - (2.0 * np.outer(w, w) / (w @ w) if k > 1 else 0.0)  # a reflection with 1/√k all along its first row
    return (B[:3] @ Q).T / np.sqrt(mass / k)


def _turned(z: Array) -> Matrix3:
    """A rotation with ``z`` (3,), a unit vector, as its third column."""
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)
