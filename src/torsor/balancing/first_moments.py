"""Counterweights that bring centres of mass onto joint axes: against gravity, or for mechanisms whose axes are all parallel."""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array
from torsor.balancing.conditions import PARALLEL, Axes, all_parallel, axes_of, needs_of, not_parallel
from torsor.balancing.counterweights import (
    Amounts,
    Balancing,
    Composites,
    bring_onto_axis,
    check_limits,
    refuse_idle_names,
)
from torsor.balancing.reports import is_balanced, is_gravity_balanced
from torsor.border import explained
from torsor.errors import ModelError, ShapeError
from torsor.model import Robot


@explained
def gravity_counterweights(
    robot: Robot, *, masses: Amounts | None = None, distances: Amounts | None = None
) -> Balancing:
    """Robot with counterweights that stays where it is left: gravity forces vanish everywhere [LP, (9.84); BSP93, §5].

    The first moment of everything beyond a joint that turns comes to lie on its axis (at the centre of a spherical joint):
    the condition of [BSP93, §5, E000-13] with the first joints included, for axes of any direction. Joints that always turn
    about the vertical, or slide horizontally, need nothing. One that slides against gravity is refused: no mass on its link
    can hold it. From the tips inwards, each link gets one point mass.

    Parameters
    ----------
    robot : Robot
    masses : float or mapping from str to float, optional
        Masses of the counterweights, kg: a number for all links, or by link name. Where they sit follows.
    distances : float or mapping from str to float, optional
        Their distances from the joint's axis, m, instead. Their masses follow.

    Returns
    -------
    Balancing
        The new robot, the counterweights with positions (3,), m, in their links' frames, and the reports before and after.
    """
    check_limits(robot, masses, distances)
    axes = axes_of(robot)
    chosen = [i for i in range(robot.n) if _turned_by_gravity(robot, axes, i)]
    refuse_idle_names(robot, chosen, masses, distances, why="gravity does not move its joint")
    parts = Composites(robot)
    for i in reversed(range(robot.n)):
        if parts.rows[i][0] > 0 and (trouble := _beyond_help(robot, axes, i)):
            raise ModelError(
                f"joint {robot.joints[i]!r} of robot {robot.name!r} {trouble}: no mass on its link can hold it. Give it a "
                "spring or a brake, or hold it with robot.lock."
            )
        if i in chosen:
            bring_onto_axis(parts, i, masses, distances)
        parts.pass_inwards(i)
    return parts.balancing(is_gravity_balanced)


def _turned_by_gravity(robot: Robot, axes: Axes, i: int) -> bool:
    if "m" in robot.structure.kind_of(i).v_units:
        return False
    down = _down(robot)
    return down is not None and not all_parallel(axes.turning[i], down)


def _beyond_help(robot: Robot, axes: Axes, i: int) -> str:
    """Why gravity moves joint i whatever its link carries; empty if it need not."""
    down, kind = _down(robot), robot.structure.kind_of(i)
    if down is None or kind.has_fixed_point:
        return ""
    along = axes.turning[i] if kind.turns_about_axis else axes.sliding[i]
    return "moves its link up and down" if np.any(np.abs(np.sum(along * down, axis=-1)) > PARALLEL) else ""


def _down(robot: Robot) -> Array | None:
    """The direction of gravity (1, 1, 3); None without gravity."""
    g = np.asarray(robot.gravity)
    size = float(np.linalg.norm(g))
    return (g / size)[None, None] if size > 0 else None


@explained
def planar_centres_of_mass(masses: Array, joint_vectors: Array, *, first: Array | None = None) -> Array:
    """Centres of mass that make the mass matrix of a planar chain constant: p_nn = 0, m_k p_kk + (Σ_{j>k} m_j) d_k = 0, k ≥ 2.

    [BSP93, §5] prints the condition without the sign (E000-13) and with the centre of mass of link k + 1 where joint k + 1
    stands here (E000-14).

    Parameters
    ----------
    masses : (n,) array
        Masses of the links, kg, from the base out.
    joint_vectors : (n − 1, 2) or (n − 1, 3) array
        d_k from joint k to joint k + 1, m, in axes of link k.
    first : (2,) or (3,) array, optional
        Centre of mass of link 1, m, which is free; zero by default.

    Returns
    -------
    (n, 2) or (n, 3) array
        p_kk from joint k to the centre of mass of link k, m, in axes of link k.
    """
    m, d = _numbers("masses", masses), _numbers("joint_vectors", joint_vectors)
    n = m.size
    d = d.reshape(0, 2) if n == 1 and d.size == 0 else d
    if m.ndim != 1 or n < 1 or d.ndim != 2 or len(d) != n - 1 or d.shape[1] not in (2, 3):
        raise ShapeError(f"takes masses (n,) and joint_vectors (n − 1, 2) or (n − 1, 3); got {m.shape}, {d.shape}.")
    if not (np.all(np.isfinite(m)) and np.all(m >= 0) and np.all(np.isfinite(d))):
        raise ModelError("masses must not be negative, and all numbers finite.")
    p = np.zeros((n, d.shape[1]))
    p[0] = _numbers("first", np.zeros(d.shape[1]) if first is None else first, (d.shape[1],))
    for k in range(1, n - 1):
        moment = m[k + 1 :].sum() * d[k]
        if m[k] == 0 and np.any(moment != 0):
            raise ModelError(f"link {k + 1} must hold a moment of {np.linalg.norm(moment):.4g} kg·m and has no mass.")
        p[k] = -moment / m[k] if m[k] > 0 else 0.0
    return p


def _numbers(name: str, value: Array, shape: tuple[int, ...] | None = None) -> Array:
    try:
        found = np.asarray(value, float)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"`{name}` must be numbers, got {value!r}.") from error
    if shape is not None and found.shape != shape:
        raise ShapeError(f"`{name}` must have shape {shape}, as long as a joint vector, got {found.shape}.")
    return found


@explained
def planar_counterweights(
    robot: Robot, *, masses: Amounts | None = None, distances: Amounts | None = None
) -> Balancing:
    """Robot with counterweights whose mass matrix is constant, for parallel axes [BSP93, §5, E000-13, E000-14].

    For every joint k but the first of each chain, the centre of mass of everything beyond comes to lie on its axis:
    m_k p_kk + (Σ_{j>k} m_j) d_k = 0, necessary and sufficient. From the tips inwards, each link gets one point mass.
    First joints, which only gravity across the axes would need, are left alone:
    `gravity_counterweights` balances them too, and a robot with parallel axes and gravity across them altogether.

    Trees and every direction of the axes are fine; helical joints, and prismatic ones along the axes or before all joints that
    turn, as well. A robot with axes that are not parallel is refused: see `axisymmetric_counterweights`. Axes 1e-5 rad apart
    still count as parallel (files print π/2 as 1.5708); what that leaves, the report after says.

    Parameters
    ----------
    robot : Robot
    masses : float or mapping from str to float, optional
        Masses of the counterweights, kg: a number for all links, or by link name. Where they sit follows.
    distances : float or mapping from str to float, optional
        Their distances from the joint's axis, m, instead. Their masses follow.

    Returns
    -------
    Balancing
        The new robot, the counterweights with positions (3,), m, in their links' frames, and the reports before and after.
    """
    check_limits(robot, masses, distances)
    axes = axes_of(robot)
    needs = needs_of(robot, axes)
    if "revolution" in needs:
        i = needs.index("revolution")
        raise ModelError(
            f"the axes of joints {not_parallel(robot, axes, i)!r} and {robot.joints[i]!r} of robot {robot.name!r} are not "
            "parallel: centres of mass alone cannot make its mass matrix constant. Use axisymmetric_counterweights."
        )
    chosen = [i for i in range(robot.n) if needs[i] == "first moment"]
    why = "the mass matrix does not depend on it; gravity_counterweights balances first joints as well"
    refuse_idle_names(robot, chosen, masses, distances, why=why)
    parts = Composites(robot)
    for i in reversed(range(robot.n)):
        if i in chosen:
            bring_onto_axis(parts, i, masses, distances)
        parts.pass_inwards(i)
    return parts.balancing(is_balanced)
