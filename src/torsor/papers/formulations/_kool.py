"""Kool's Lagrange equations in line coordinates, everything in the absolute frame.

L_{i−1} is the line vector of the axis that moves link i, T_i the twist of link i, N_i its inertia, p its parent, and
M_i = Σ_{j ≥ i} N_j T_j the momentum from link i to the end [Kool04, (1)–(10), completed in EK-2]::

    T_i = T_p + L_{i−1} q̇_i,     L̇_{i−1} = ad(T_i) L_{i−1}               (5)–(7)
    Ṫ_i = Ṫ_p + L_{i−1} q̈_i + L̇_{i−1} q̇_i
    dM_i/dt = Σ_{j ≥ i} N_j Ṫ_j − ad(T_j)ᵀ N_j T_j
    τ_i = L_{i−1}ᵀ dM_i/dt,     ∂E/∂q_i = L̇_{i−1}ᵀ M_i                   (10)

Gravity, which the source leaves out, is an acceleration (0, −g) of the absolute frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torsor._reports import in_one_line
from torsor.arrays import dot, matmul, stack_vectors
from torsor.arrays.typing import Array, ConfigurationVector, InertiaRow, JointVector, Pose, Scalar, Twist, Wrench
from torsor.border import checked
from torsor.lie import unchecked as lie
from torsor.mechanics.recursions.joint_motion import gather_vector
from torsor.model import Robot
from torsor.papers.formulations.formulation import formulation, joint_rates, refuse_other_joints
from torsor.papers.formulations.links import Model, ScrewLink, along, moving_screw_model


@in_one_line
class Line(NamedTuple):
    """Of one link: line vector of its axis and its rate, twist, and inertia, all in the absolute frame."""

    L: Twist
    L_dot: Twist
    T: Twist
    N: InertiaRow


@checked
def kool_energy_gradient(robot: Robot, q: ConfigurationVector, v: JointVector) -> JointVector:
    """Gradient ∂E/∂q_i = L̇_{i−1}ᵀ M_i of the kinetic energy by the configuration [Kool04, (10), EK-2].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    (..., nv) array
        Gradient, N·m or N.
    """
    refuse_other_joints(robot)
    model = moving_screw_model(robot, q)
    lines = _lines(model, joint_rates(robot, v))
    M = _sums_beyond(model, [lie.apply_inertia(line.N, line.T) for line in lines])
    ratios = [coupling.ratio for coupling in robot.structure.couplings]
    parts = [r * dot(line.L_dot, M_i)[..., None] for r, line, M_i in zip(ratios, lines, M, strict=True)]
    return gather_vector(robot, parts)


@checked
def kool_partial_momenta(robot: Robot, q: ConfigurationVector, v: JointVector) -> Array:
    """Partial momenta M_i = Σ_{j ≥ i} N_j T_j, of link i and all beyond it, in the absolute frame [Kool04, (9)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    (..., n, 6) array
        Angular and linear momentum about the origin of the base, kg·m²/s, kg·m/s; links in the order of ``robot.links``.
    """
    refuse_other_joints(robot)
    model = moving_screw_model(robot, q)
    momenta = [lie.apply_inertia(line.N, line.T) for line in _lines(model, joint_rates(robot, v))]
    return stack_vectors(_sums_beyond(model, momenta))


@formulation(moving_screw_model, "Line coordinates, absolute frame", "[Kool04, (5)–(10), EK-2]", frames="modified")
def kool(model: Model, v: Sequence[Array], a: Sequence[Array]) -> list[Scalar]:
    """Joint forces τ_i = L_{i−1}ᵀ dM_i/dt, by line vectors in the absolute frame, O(n) [Kool04, (5)–(10), EK-2].

    τ_i = L_{i−1}ᵀ dM_i/dt on given poses, screws and inertias.
    """
    lines = _lines(model, v)
    T_dot: list[Twist] = []
    each = []
    for i, (p, line) in enumerate(zip(model.parents, lines, strict=True)):
        before = T_dot[p] if p >= 0 else model.base[1]
        T_dot.append(before + along(a[i], line.L) + along(v[i], line.L_dot))
        momentum = lie.apply_inertia(line.N, line.T)
        each.append(lie.apply_inertia(line.N, T_dot[i]) - lie.bracket_dual(line.T, momentum))
    M_dot = _sums_beyond(model, each)
    return [dot(line.L, M_dot_i) for line, M_dot_i in zip(lines, M_dot, strict=True)]


def _lines(model: Model, v: Sequence[Array]) -> list[Line]:
    poses: list[Pose] = []
    lines: list[Line] = []
    for i, p in enumerate(model.parents):
        link: ScrewLink = model.links[i]
        T_0i = link.T if p < 0 else matmul(poses[p], link.T)
        poses.append(T_0i)
        L = lie.transform_twist(T_0i, link.S)  # (6), (7)
        T = (lines[p].T if p >= 0 else model.base[0]) + along(v[i], L)  # (5)
        lines.append(Line(L, lie.bracket(T, L), T, lie.transform_inertia(T_0i, link.G)))  # (3)
    return lines


def _sums_beyond(model: Model, each: Sequence[Wrench]) -> list[Wrench]:
    """Σ_{j ≥ i} over link i and all beyond it."""
    sums = list(each)
    for i in range(len(sums) - 1, -1, -1):
        if (p := model.parents[i]) >= 0:
            sums[p] = sums[p] + sums[i]
    return sums
