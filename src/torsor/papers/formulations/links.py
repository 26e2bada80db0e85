"""What every historical formulation starts from and ends with: per-link data, joint rates, and loads at the end.

A formulation is a *core* on per-link data (transforms, inertias and axes are given, as in the sources; this is what
`torsor.papers.count_operations` counts) between two thin steps: making that data from a robot, and adding what the sources leave
out, namely loads on frames, armature, friction and springs (`formulation`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from torsor.arrays import concat, cross, dot, identity, matmul, matvec, reshape, transpose, where, zeros
from torsor.arrays.typing import (
    Algebra,
    Array,
    ConfigurationVector,
    InertiaRow,
    Matrix3,
    Matrix6,
    Pose,
    Rotation,
    Scalar,
    Twist,
    Vector3,
)
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import inertias, se3, so3
from torsor.mechanics.recursions.joint_motion import joint_pose
from torsor.model import Robot


class Model(NamedTuple):
    """Links in the order of the robot, parents first, and what the base contributes (gravity, or its motion)."""

    parents: tuple[int, ...]
    links: list[Any]  # one record of a formulation's own kind per link
    base: tuple[Array, ...]

    def path(self, i: int) -> list[int]:
        """The links from the base (excluded) out to link i (included)."""
        found: list[int] = []
        while i >= 0:
            found.append(i)
            i = self.parents[i]
        return found[::-1]

    def beyond(self, i: int) -> list[int]:
        """Link i and all links that joint i moves."""
        moved = [i]
        for j in range(i + 1, len(self.parents)):
            if self.parents[j] in moved:
                moved.append(j)
        return moved

    def children(self, i: int) -> list[int]:
        """The links whose parent is link i."""
        return [j for j, p in enumerate(self.parents) if p == i]


def total(terms: Sequence[Array]) -> Array:
    """The sum of one or more terms."""
    result = terms[0]
    for term in terms[1:]:
        result = result + term
    return result


def scaled(factor: Array, matrix: Array) -> Array:
    """Factor (...) times matrix (..., m, n)."""
    return factor[..., None, None] * matrix


def along(factor: Array, vector: Array) -> Array:
    """Factor (...) times vector (..., m)."""
    return factor[..., None] * vector


# Links as 4×4 matrices: the data of Uicker, Kahn and of Hollerbach's first recursion.


class MatrixLink(NamedTuple):
    """One link: its joint's transform with derivatives, and its inertia.

    ``A`` (..., 4, 4): T_pi, m. ``A1`` and ``A2``: first and second derivative by the joint's variable. ``J`` (4, 4): the
    pseudo-inertia, kg, kg·m, kg·m². ``m``: mass, kg. ``r`` (4,): the centre of mass (x, y, z, 1), m.
    """

    A: Pose
    A1: Algebra
    A2: Algebra
    J: Array
    m: Scalar
    r: Array


def matrix_model(robot: Robot, q: ConfigurationVector) -> Model:
    """The robot in matrices: A = M e^{Sq}, ∂A/∂q = A [S], ∂²A/∂q² = A [S]², for every screw S; base: (g, 0) (4,)."""
    p = robot.parameters
    links = []
    for i in range(robot.n):
        A, S, G = joint_pose(robot, i, q), se3.hat(p.screws[i]), p.inertias[i]
        A1 = matmul(A, S)
        r = concat([centre_of_mass(G), identity(1)[0]])
        links.append(MatrixLink(A, A1, matmul(A1, S), lie.pseudo_inertia(G), G[..., 0], r))
    return Model(robot.structure.parents, links, (concat([p.gravity, zeros(1)]),))


# How link matrices W_i = W_p A_i change with time: Hollerbach's forward recursion, for 4×4 poses and 3×3 rotations alike.


class MatrixRates(NamedTuple):
    """W, Ẇ, Ẅ and ∂W_i/∂q_i of every link, in base axes."""

    W: list[Array]
    W_d: list[Array]
    W_dd: list[Array]
    by_own_joint: list[Array]


def matrix_rates(model: Model, v: Sequence[Array], a: Sequence[Array]) -> MatrixRates:
    """Ẇ_i = Ẇ_p A_i + W_p A′_i q̇_i and Ẅ_i = Ẅ_p A_i + 2 Ẇ_p A′_i q̇_i + W_p A″_i q̇_i² + W_p A′_i q̈_i [Hol80; Sil81, §1.4].

    A link's record starts with A, A′, A″: its matrix in the parent's axes and the derivatives by the joint's variable.
    """
    W, W_d, W_dd, by_own_joint = rates = MatrixRates([], [], [], [])
    for i, p in enumerate(model.parents):
        A, A1, A2 = model.links[i][:3]
        if p < 0:
            W.append(A)
            by_own_joint.append(A1)
            W_d.append(scaled(v[i], A1))
            W_dd.append(scaled(v[i] * v[i], A2) + scaled(a[i], A1))
            continue
        dW, ddW = matmul(W[p], A1), matmul(W[p], A2)
        W.append(matmul(W[p], A))
        by_own_joint.append(dW)
        W_d.append(matmul(W_d[p], A) + scaled(v[i], dW))
        W_dd.append(
            matmul(W_dd[p], A) + scaled(2.0 * v[i], matmul(W_d[p], A1)) + scaled(v[i] * v[i], ddW) + scaled(a[i], dW)
        )
    return rates


def derivative_by_own_joint(model: Model, rates: MatrixRates, i: int) -> Array:
    """∂W_i/∂q_i = W_p A′_i, formed anew as the sources write it; `MatrixRates` has it from the way out."""
    A1, p = model.links[i][1], model.parents[i]
    return A1 if p < 0 else matmul(rates.W[p], A1)


def trace_of_product(X: Array, Y: Array) -> Scalar:
    """tr(X Yᵀ) of square matrices, without forming the product."""
    size = X.shape[-1] * X.shape[-1]
    return dot(reshape(X, 2, size), reshape(Y, 2, size))


# Links as poses and screws: the data of Park's recursion, of Kool and of the Lagrange equation by Jacobians.


class ScrewLink(NamedTuple):
    """One link: ``T`` (..., 4, 4): T_pi, m; ``S`` (6,): its joint's screw, in its frame; ``G`` (10,): its inertia row, kg, m."""

    T: Pose
    S: Twist
    G: InertiaRow


class DenseLink(NamedTuple):
    """One link: ``X`` (..., 6, 6): Ad(T_pi)⁻¹, m; ``S`` (6,): its joint's screw; ``G`` (6, 6): its inertia matrix, kg, m."""

    X: Matrix6
    S: Twist
    G: Matrix6


def screw_model(robot: Robot, q: ConfigurationVector) -> Model:
    """The robot in screws; base: the acceleration of gravity (3,)."""
    return Model(robot.structure.parents, _screw_links(robot, q), (robot.parameters.gravity,))


def moving_screw_model(robot: Robot, q: ConfigurationVector) -> Model:
    """The robot in screws; base: its twist and acceleration (0, −g), (6,) each [LP, E002-7]."""
    return Model(robot.structure.parents, _screw_links(robot, q), _lift(robot))


def dense_model(robot: Robot, q: ConfigurationVector) -> Model:
    """The robot in 6×6 matrices; base as above."""
    links = [DenseLink(lie.Ad(se3.inverse(T)), S, lie.inertia_matrix(G)) for T, S, G in _screw_links(robot, q)]
    return Model(robot.structure.parents, links, _lift(robot))


def _screw_links(robot: Robot, q: ConfigurationVector) -> list[ScrewLink]:
    p = robot.parameters
    return [ScrewLink(joint_pose(robot, i, q), p.screws[i], p.inertias[i]) for i in range(robot.n)]


def _lift(robot: Robot) -> tuple[Twist, Twist]:
    return zeros(6), concat([zeros(3), -robot.parameters.gravity])


# Links as rotations and vectors: the data of Luh, Walker and Paul, of Hollerbach's second recursion and of Silver.
#
# Joint i turns link i about its axis and shifts it along the axis by ``slide`` per unit of q: none for a revolute joint, 1
# for a prismatic one (which does not turn), the pitch for a helical one [Sil81, (3.13)–(3.16), E003-6].


class VectorLink(NamedTuple):
    """One link; "joint" is a point on the joint's axis, m, and vectors are in the link's axes unless said otherwise.

    ``R`` (..., 3, 3): link axes in the parent's, with first and second derivative ``R1``, ``R2`` by the joint's variable.
    ``turns``, ``slide``: how the joint moves it. ``z`` (3,): the axis, in the parent's axes; ``axis``: in the link's.
    ``b``: from the parent's origin to the joint, in the parent's axes (zero in Denavit–Hartenberg frames). ``p``: from the
    joint to the link's origin. ``s``, ``r``: centre of mass from origin and joint. ``m``: mass, kg; ``beyond``: mass of this
    link and all beyond. ``I``: about the centre of mass, kg·m². ``h``, ``J``: first and second moment about the origin.
    """

    R: Rotation
    R1: Matrix3
    R2: Matrix3
    turns: bool
    slide: Scalar | None
    z: Vector3
    axis: Vector3
    b: Vector3
    p: Vector3
    s: Vector3
    r: Vector3
    m: Scalar
    beyond: Scalar
    I: Matrix3
    h: Vector3
    J: Matrix3


def lagrangian_model(robot: Robot, q: ConfigurationVector) -> Model:
    """The robot in vectors; base: the acceleration of gravity (3,)."""
    return Model(robot.structure.parents, _vector_links(robot, q), (robot.parameters.gravity,))


def newton_euler_model(robot: Robot, q: ConfigurationVector) -> Model:
    """The robot in vectors; base: its ω, ω̇ and acceleration, which is minus gravity [Sil81, §3.2, E003-3]."""
    return Model(robot.structure.parents, _vector_links(robot, q), (zeros(3), zeros(3), -robot.parameters.gravity))


def centre_of_mass(G: InertiaRow) -> Vector3:
    """C = h/m (..., 3), m; the origin for a link without mass, where it makes no difference."""
    m = G[..., :1]
    return G[..., 1:4] / where(m == 0.0, 1.0, m)


def _vector_links(robot: Robot, q: ConfigurationVector) -> list[VectorLink]:
    s = robot.structure
    beyond = [G[..., 0] for G in robot.parameters.inertias]
    for i in range(robot.n - 1, -1, -1):
        if (p := s.parents[i]) >= 0:
            beyond[p] = beyond[p] + beyond[i]
    return [_vector_link(robot, i, q, beyond[i]) for i in range(robot.n)]


def _vector_link(robot: Robot, i: int, q: ConfigurationVector, beyond: Scalar) -> VectorLink:
    M, S, G = robot.parameters.poses[i], robot.parameters.screws[i], robot.parameters.inertias[i]
    kind, (_, ratio, offset) = robot.structure.kind_of(i), robot.structure.couplings[i]
    R, R_0, p_0 = se3.rotation(joint_pose(robot, i, q)), se3.rotation(M), se3.translation(M)
    turns, axis, slide = kind.turns_about_axis, kind.axis_of(S), None
    if not kind.has_fixed_point:
        slide = dot(S[:3], S[3:]) if turns else identity(1)[0, 0]
    # The axis's point nearest to the parent's origin: that origin itself in Denavit–Hartenberg frames.
    b = _nearest(lie.transform_twist(M, S)) if turns else zeros(3)
    p = matvec(transpose(R_0), p_0 - b)  # the joint's motion turns about b, so that p changes only by sliding
    if slide is not None:
        angle = ratio * q[..., robot.structure.coordinate_of(i).q][..., 0] + offset
        p = p + (slide * angle)[..., None] * axis
    turning = so3.hat(axis) if turns else zeros(3, 3)
    R1 = matmul(R, turning)
    com = centre_of_mass(G)
    about = lie.transform_inertia(se3.pose(identity(3), -com), G)
    return VectorLink(
        R=R,
        R1=R1,
        R2=matmul(R1, turning),
        turns=turns,
        slide=slide,
        z=matvec(R_0, axis),
        axis=axis,
        b=b,
        p=p,
        s=com,
        r=p + com,
        m=G[..., 0],
        beyond=beyond,
        I=inertias.rotational(about),
        h=G[..., 1:4],
        J=lie.second_moment(inertias.rotational(G)),
    )


def _nearest(S: Array) -> Vector3:
    return cross(S[..., :3], S[..., 3:])
