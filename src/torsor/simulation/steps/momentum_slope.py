"""How the discrete momentum at the start changes with the motion, and the solve with it, in O(n).

If the end of the motion is displaced by η (..., nv), as velocities displace, the momentum at the start changes by K η/h, ::

    K = Σ_i J_i(q)ᵀ A_i J_i(q ⊕ u) + armature,     A_i = G_i + O(ξ_i)

with A_i the derivative of J_l(ξ)⁻ᵀ G ξ by the end of the motion, here up to terms of third order in ξ. It has the shape of a mass
matrix with links whose inertia A_i is not symmetric and which are seen from two configurations, so that the articulated-body
recursion [Fea08, §7.3] solves with it. The approximate inverse in [LLPS16] is its limit ξ → 0, the inverse of the mass matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torsor.arrays import block, concat, identity, matmul, matvec, outer, stack, stack_vectors, transpose, zeros
from torsor.arrays.typing import Array, JointVector, Matrix3, Pose, Twist, Wrench
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import so3
from torsor.lie.unchecked.se3 import rotation, translation
from torsor.mechanics.recursions.joint_motion import gather_matrix, gather_vector, joint_screws, project_on_joint
from torsor.model import Robot
from torsor.model.link_inertias import has_degenerate_links

Pivots = list[
    tuple[Array, Array]
]  # per row of a small matrix: multipliers above the pivot; the row left of it and 1/pivot


class Slope(NamedTuple):
    """A 6×6 matrix (A, B; C, D) by its 3×3 blocks, twists at the end to wrenches at the start."""

    A: Matrix3
    B: Matrix3
    C: Matrix3
    D: Matrix3

    def plus(self, other: Slope) -> Slope:
        """Sum of two, in the same frames."""
        return Slope(*(x + y for x, y in zip(self, other, strict=True)))

    def less(self, U: Array, W: Array) -> Slope:
        """This minus Uᵀ W, for rows U and W (..., k, 6)."""
        m, f = transpose(U[..., :3]), transpose(U[..., 3:])
        products = (matmul(m, W[..., :3]), matmul(m, W[..., 3:]), matmul(f, W[..., :3]), matmul(f, W[..., 3:]))
        return Slope(*(x - y for x, y in zip(self, products, strict=True)))

    def moved(self, start: Pose, end: Pose) -> Slope:
        """Ad(T⁻¹)ᵀ (·) Ad(T'⁻¹): as seen from the parent, in which the link is at T at the start and at T' at the end."""
        R, P, Q = rotation(start), so3.hat(translation(start)), so3.hat(translation(end))
        turned = transpose(rotation(end))
        A, B, C, D = (matmul(matmul(R, x), turned) for x in self)
        beside, below = B + matmul(P, D), C - matmul(D, Q)
        return Slope(A + matmul(P, C) - matmul(beside, Q), beside, below, D)

    def of_rows(self, S: Twist) -> tuple[Array, Array]:
        """Rows (..., k, 6) of (· Sᵀ)ᵀ and of S ·, for screws S (k, 6)."""
        w, v = S[..., :3], S[..., 3:]
        A, B, C, D = (transpose(x) for x in self)
        U = concat([matmul(w, A) + matmul(v, B), matmul(w, C) + matmul(v, D)])
        W = concat([matmul(w, self.A) + matmul(v, self.C), matmul(w, self.B) + matmul(v, self.D)])
        return U, W


class Factored(NamedTuple):
    """K ready to solve with: by the recursion (per joint the rows U and W, D⁻¹), or as a whole matrix."""

    starts: list[Pose]
    ends: list[Pose]
    U: list[Array]
    W: list[Array]
    pivots: list[Pivots]
    whole: Pivots | None


def factored(
    robot: Robot, starts: list[Pose], ends: list[Pose], screws: Sequence[Twist], diagonal: JointVector
) -> Factored:
    """K of a motion, with ``diagonal`` (..., nv) for the armature. Mimic joints, and links without inertia of their own, take it
    as a whole matrix, in O(n³).
    """
    slopes = [_slope(G, xi) for G, xi in zip(robot.parameters.inertias, screws, strict=True)]
    if robot.structure.has_couplings or has_degenerate_links(robot):
        K = _whole(robot, starts, ends, slopes) + identity(robot.nv) * diagonal[..., None, :]
        return Factored(starts, ends, [], [], [], _eliminated(K))
    U: list[Array] = [None] * robot.n
    W: list[Array] = [None] * robot.n
    pivots: list[Pivots] = [[]] * robot.n
    for i in range(robot.n - 1, -1, -1):
        S, own = joint_screws(robot, i), diagonal[..., None, robot.structure.coordinate_of(i).v]
        U[i], W[i] = slopes[i].of_rows(S)
        pivots[i] = _eliminated(matmul(S, transpose(U[i])) + identity(S.shape[0]) * own)
        if (p := robot.structure.parents[i]) >= 0:
            loose = slopes[i].less(U[i], _solved_columns(pivots[i], W[i]))
            slopes[p] = slopes[p].plus(loose.moved(starts[i], ends[i]))
    return Factored(starts, ends, U, W, pivots, None)


def solved(robot: Robot, K: Factored, b: JointVector) -> JointVector:
    """K⁻¹ b (..., nv)."""
    if K.whole is not None:
        return _solved(K.whole, b)
    parents, bias = robot.structure.parents, list[Wrench | None]([None] * robot.n)
    x: list[Array] = [None] * robot.n
    for i in range(robot.n - 1, -1, -1):
        b_i, F = b[..., robot.structure.coordinate_of(i).v], bias[i]
        x[i] = _solved(K.pivots[i], b_i if F is None else b_i - project_on_joint(robot, i, F))
        if (p := parents[i]) >= 0:
            pushed = matvec(transpose(K.U[i]), x[i])
            seen = lie.transform_wrench_inverse(K.starts[i], pushed if F is None else F + pushed)
            bias[p] = seen if bias[p] is None else bias[p] + seen
    Y: list[Twist] = []
    for i, p in enumerate(parents):
        own = transpose(joint_screws(robot, i))
        if p < 0:
            Y.append(matvec(own, x[i]))
            continue
        carried = lie.transform_twist_inverse(K.ends[i], Y[p])
        x[i] = x[i] - _solved(K.pivots[i], matvec(K.W[i], carried))
        Y.append(carried + matvec(own, x[i]))
    return gather_vector(robot, x)


def _slope(G: Array, xi: Twist) -> Slope:
    """A_i of a link: the slope of (1 − ½ a + a²/12) G ξ, a = (ad ξ)ᵀ, times that of ξ, 1 + ½ ad ξ + (ad ξ)²/12."""
    X, F = lie.ad(xi), lie.apply_inertia(G, xi)
    one = matmul(transpose(X), lie.inertia_matrix(G)) + _dual(F)
    two = matmul(transpose(X), one) + _dual(lie.bracket_dual(xi, F))
    B = lie.inertia_matrix(G) - 0.5 * one + two / 12.0
    BX = matmul(B, X)
    A = B + 0.5 * BX + matmul(BX, X) / 12.0
    return Slope(A[..., :3, :3], A[..., :3, 3:], A[..., 3:, :3], A[..., 3:, 3:])


def _dual(F: Wrench) -> Array:
    """The matrix (..., 6, 6) of η ↦ (ad η)ᵀ F."""
    turning, pushing = so3.hat(F[..., :3]), so3.hat(F[..., 3:])
    return block([[turning, pushing], [pushing, zeros(3, 3)]])


def _whole(robot: Robot, starts: list[Pose], ends: list[Pose], slopes: list[Slope]) -> Array:
    """K as a matrix: the composite-rigid-body recursion [Fea08, §6.2] over A_i."""
    blocks: dict[tuple[int, int], Array] = {}
    for i in range(robot.n - 1, -1, -1):
        S = joint_screws(robot, i)
        U, W = slopes[i].of_rows(S)
        blocks[i, i] = matmul(S, transpose(U))
        child, p = i, robot.structure.parents[i]
        if p >= 0:
            slopes[p] = slopes[p].plus(slopes[i].moved(starts[i], ends[i]))
        while p >= 0:
            U = lie.transform_wrench_inverse(starts[child][..., None, :, :], U)
            W = lie.transform_wrench_inverse(ends[child][..., None, :, :], W)
            over = joint_screws(robot, p)
            blocks[p, i], blocks[i, p] = matmul(over, transpose(U)), matmul(W, transpose(over))
            child, p = p, robot.structure.parents[p]
    return gather_matrix(robot, blocks)


def _eliminated(M: Array) -> Pivots:
    """Factors of a matrix (..., k, k) whose symmetric part is positive: Gauss's elimination, from the last row to the first."""
    k, rest, columns = M.shape[-1], M, list[Array]()
    rows: list[Array] = []
    for j in range(k - 1, -1, -1):
        inverse = 1.0 / rest[..., j, j]
        columns.insert(0, rest[..., :j, j] * inverse[..., None])
        rows.insert(0, concat([rest[..., j, :j], inverse[..., None]]))
        rest = rest[..., :j, :j] - outer(columns[0], rest[..., j, :j])
    return [*zip(columns, rows, strict=True)]


def _solved(factors: Pivots, b: Array) -> Array:
    """The solution (..., k) for b (..., k)."""
    values = [b[..., j] for j in range(len(factors))]
    for j in range(len(factors) - 1, -1, -1):
        values[:j] = [values[i] - factors[j][0][..., i] * values[j] for i in range(j)]
    x: list[Array] = []
    for j, (_, row) in enumerate(factors):
        total = values[j]
        for i in range(j):
            total = total - row[..., i] * x[i]
        x.append(total * row[..., j])
    return stack(x)


def _solved_columns(factors: Pivots, B: Array) -> Array:
    """The solution (..., k, m) for B (..., k, m)."""
    if len(factors) == 1:
        return B * factors[0][1][..., None]
    return transpose(stack_vectors([_solved(factors, B[..., j]) for j in range(B.shape[-1])]))
