"""The identities between ω, Ẇ, I and the joint rates that make the Lagrangian in ω work.

Ẇ ↔ ω are `lie.so3.rotation_rate` and `lie.so3.angular_velocity`, I ↔ J are `lie.second_moment` and
`lie.rotational_from_second_moment`, the two kinetic energies are in `torsor.papers.rigid_body`; here is the rest of
[Sil81, §2.2, §3.1 and the appendix].
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from torsor.arrays import constant, cross, dot, matmul, matvec, stack_matrices
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, Matrix3, Scalar, Vector3
from torsor.border import checked
from torsor.lie.unchecked import so3
from torsor.mechanics.recursions.joint_motion import gather_columns
from torsor.model import Robot
from torsor.papers.formulations._silver import Place, link_places, velocity_columns as columns_of_link
from torsor.papers.formulations.formulation import joint_rates, refuse_other_joints
from torsor.papers.formulations.links import Model, along, lagrangian_model, total, trace_of_product

LinkColumns = Annotated[Array, "... n 3 nv"]

_PERMUTATIONS = [
    [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]],
    [[0.0, 0.0, -1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
    [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
]


class VelocityColumns(NamedTuple):
    """∂v_i/∂q̇_j and ∂ω_i/∂q̇_j of the links' centres of mass, (..., n, 3, nv) each, in base axes; or their rates."""

    linear: LinkColumns
    angular: LinkColumns


def permutation_tensor() -> Array:
    """P_ijk (3, 3, 3), no unit: 1, −1 or 0, with (a × b)_i = P_ijk a_j b_k [Sil81, §2.2, (2.3), (2.4)]."""
    return constant(_PERMUTATIONS)


@checked
def inertia_tensor_rate(I: Matrix3, w: Vector3) -> Matrix3:
    """İ = ω × I − I × ω, the rate of an inertia tensor in fixed axes of a body that turns [Sil81, appendix, (3.5), E003-4].

    With ω = ∂ω/∂q̇_j it is ∂I/∂q_j, as (3.10) needs it. ``I`` (..., 3, 3), kg·m²; ``w`` (..., 3), rad/s; returns (..., 3, 3).
    """
    W = so3.hat(w)
    return matmul(W, I) - matmul(I, W)


@checked
def gyroscopic_moment(I: Matrix3, w: Vector3) -> Vector3:
    """ω × (I·ω), what the changing tensor leaves of all rotational terms: for every u [Sil81, (3.5), (3.7), (3.10), E003-1]::

        ω·İ·u = ω × (I·ω)·u,    ω·I·(ω × u) = −ω × (I·ω)·u,    ½ ω·∂I/∂q_j·ω = −ω × (I·ω)·∂ω/∂q̇_j

    ``I`` (..., 3, 3), kg·m²; ``w`` (..., 3), rad/s; returns (..., 3), N·m.
    """
    return cross(w, matvec(I, w))


@checked
def generalised_force(I: Matrix3, w: Vector3, w_dot: Vector3, dw: Vector3) -> Scalar:
    """Generalised force of a turning body in ω, [ω̇·I + ω × (I·ω)]·∂ω/∂q̇ [Sil81, §2.4, table].

    Parameters
    ----------
    I : (..., 3, 3) array
        Inertia tensor about the centre of mass, in fixed axes, kg·m².
    w, w_dot : (..., 3) arrays
        Angular velocity and its rate, rad/s, rad/s².
    dw : (..., 3) array
        ∂ω/∂q̇ of the coordinate, rad per unit.

    Returns
    -------
    (...) array
        N·m or N.
    """
    return dot(matvec(I, w_dot) + cross(w, matvec(I, w)), dw)


@checked
def generalised_force_by_rotation_matrix(J: Matrix3, W_ddot: Matrix3, dW: Matrix3) -> Scalar:
    """The same generalised force in W, tr(∂W/∂q J Ẅᵀ) [Sil81, §2.4, table, E003-2].

    Parameters
    ----------
    J : (..., 3, 3) array
        Second moment about the centre of mass, in body axes, kg·m² (`Inertia.second_moment`).
    W_ddot : (..., 3, 3) array
        Second time derivative of the body's rotation matrix, 1/s²; printed with Ẇ.
    dW : (..., 3, 3) array
        ∂W/∂q of the coordinate, 1 per unit.

    Returns
    -------
    (...) array
        N·m or N.
    """
    return trace_of_product(matmul(dW, J), W_ddot)


@checked
def velocity_columns(robot: Robot, q: ConfigurationVector) -> VelocityColumns:
    """Columns ∂v_i/∂q̇_j = z_j × p_ji + h z_j and ∂ω_i/∂q̇_j = z_j; z_j and 0 if prismatic [Sil81, (3.15), (3.16), E003-6].

    Times v they are the velocities (3.13), (3.14).

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    VelocityColumns
        Linear and angular part, (..., n, 3, nv) each, m and no unit.
    """
    refuse_other_joints(robot)
    model = lagrangian_model(robot, q)
    places = link_places(model)
    pairs = [{j: columns_of_link(model, places, i, j) for j in model.path(i)} for i in range(robot.n)]
    return _stacked(robot, pairs)


@checked
def velocity_column_rates(robot: Robot, q: ConfigurationVector, v: JointVector) -> VelocityColumns:
    """Rates d/dt(∂v_i/∂q̇_j) = ∂v_i/∂q_j and d/dt(∂ω_i/∂q̇_j) of the velocity columns [Sil81, (3.4), (3.6), (A.2)].

    d/dt(∂ω_i/∂q̇_j) = ∂ω_i/∂q_j + ω_i × ∂ω_i/∂q̇_j = ω_j × z_j.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    VelocityColumns
        Linear and angular part, (..., n, 3, nv) each, m/s and 1/s per unit of q.
    """
    refuse_other_joints(robot)
    model, rates = lagrangian_model(robot, q), joint_rates(robot, v)
    places = link_places(model)
    w: list[Vector3] = []
    for i, p in enumerate(model.parents):
        own = along(rates[i], places[i].z) * (1.0 if model.links[i].turns else 0.0)
        w.append(own if p < 0 else w[p] + own)
    pairs = []
    for i in range(robot.n):
        found = {}
        for j in model.path(i):
            link, z, z_dot = model.links[j], places[j].z, cross(w[j], places[j].z)  # (A.2)
            moving = _point_velocity(model, places, rates, i, places[i].r) - _joint_velocity(model, places, rates, j)
            turning = cross(z_dot, places[i].r - places[j].x) + cross(z, moving)
            sliding = None if link.slide is None else along(link.slide, z_dot)
            if not link.turns:
                found[j] = sliding, None
            else:
                found[j] = turning if sliding is None else turning + sliding, z_dot
        pairs.append(found)
    return _stacked(robot, pairs)


def _point_velocity(model: Model, places: list[Place], rates: list[Array], i: int, x: Vector3) -> Vector3:
    """Velocity of the point x of link i, by (3.13)."""
    parts = []
    for k in model.path(i):
        link, place = model.links[k], places[k]
        if link.turns:
            parts.append(along(rates[k], cross(place.z, x - place.x)))
        if link.slide is not None:
            parts.append(along(link.slide * rates[k], place.z))
    return total(parts)


def _joint_velocity(model: Model, places: list[Place], rates: list[Array], j: int) -> Vector3:
    """Velocity of joint j, a point of its parent."""
    p, x = model.parents[j], places[j].x
    return 0.0 * x if p < 0 else _point_velocity(model, places, rates, p, x)


def _stacked(robot: Robot, pairs: list[dict[int, tuple[Vector3, Vector3 | None]]]) -> VelocityColumns:
    """Columns by link and joint as two arrays (..., n, 3, nv)."""
    linear, angular = [], []
    for found in pairs:
        ratios = {j: robot.structure.couplings[j].ratio for j in found}
        linear.append(gather_columns(robot, {j: r * found[j][0][..., None] for j, r in ratios.items()}, 3))
        turning = {j: r * dw[..., None] for j, r in ratios.items() if (dw := found[j][1]) is not None}
        angular.append(gather_columns(robot, turning, 3))
    return VelocityColumns(stack_matrices(linear), stack_matrices(angular))
