"""Forward dynamics by the articulated-body recursion, O(n) [Fea08, §7.3]. Not for mimic joints, which share a coordinate."""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import (
    Factors,
    absolute,
    concat,
    constant,
    dot,
    factor,
    identity,
    is_concrete,
    matmul,
    matvec,
    outer,
    solve,
    solve_columns,
    transpose,
    zeros,
)
from torsor.arrays.typing import Array, ConfigurationVector, InertiaRow, JointVector, Matrix3, Pose, Twist, Wrench
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import so3
from torsor.lie.unchecked.inertias import first_moment, mass, rotational
from torsor.lie.unchecked.se3 import rotation, translation
from torsor.mechanics.dynamics.friction import friction_forces
from torsor.mechanics.dynamics.springs import plus_springs
from torsor.mechanics.recursions.joint_motion import (
    gather_vector,
    joint_poses,
    joint_screws,
    joint_twist,
    project_on_joint,
)
from torsor.mechanics.recursions.newton_euler import BaseMotion, Wrenches, wrenches_on_links
from torsor.model import Robot


class ArticulatedInertia(NamedTuple):
    """Symmetric 6×6 matrix (A, B; Bᵀ, C) by its 3×3 blocks: what a link resists with the joints beyond it let loose."""

    A: Matrix3
    B: Matrix3
    C: Matrix3

    def apply(self, V: Twist) -> Wrench:
        """(A ω + B v, Bᵀ ω + C v)."""
        w, v = V[..., :3], V[..., 3:]
        return concat([matvec(self.A, w) + matvec(self.B, v), matvec(transpose(self.B), w) + matvec(self.C, v)])

    def plus(self, other: ArticulatedInertia) -> ArticulatedInertia:
        """Sum of two, in the same frame."""
        return ArticulatedInertia(self.A + other.A, self.B + other.B, self.C + other.C)

    def less(self, U: Wrench, W: Wrench) -> ArticulatedInertia:
        """This minus Uᵀ W, for rows U and W (..., k, 6) whose product is symmetric."""
        Um, Uf, Wm, Wf = transpose(U[..., :3]), transpose(U[..., 3:]), W[..., :3], W[..., 3:]
        return ArticulatedInertia(self.A - matmul(Um, Wm), self.B - matmul(Um, Wf), self.C - matmul(Uf, Wf))

    def along(self, kept: Twist) -> ArticulatedInertia:
        """Rows and columns of the directions ``kept`` (6,), ones; the others, zeros there, made zero."""
        w, v = kept[:3], kept[3:]
        return ArticulatedInertia(self.A * outer(w, w), self.B * outer(w, v), self.C * outer(v, v))

    def moved(self, T_ab: Pose) -> ArticulatedInertia:
        """Ad(T_ba)ᵀ (·) Ad(T_ba): given in frame b, as seen from frame a."""
        R, P = rotation(T_ab), so3.hat(translation(T_ab))
        A, B, C = (matmul(matmul(R, X), transpose(R)) for X in self)
        B_a = B + matmul(P, C)
        return ArticulatedInertia(A + matmul(P, transpose(B)) - matmul(B_a, P), B_a, C)


def articulated_body_acceleration(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    tau: JointVector,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> JointVector:
    """Joint accelerations by the articulated-body recursion (ABA) [Fea08, §7.3, (7.41)–(7.48)].

    With V_i and c_i = [V_i, S_i v_i] from the root outwards, then from the leaves inwards::

        U_i = I_i S_i,  D_i = S_iᵀ U_i + armature,  u_i = τ_i − friction − springs − S_iᵀ p_i
        I_p += Ad(T_ip)ᵀ (I_i − U_i D_i⁻¹ U_iᵀ) Ad(T_ip)
        p_p += Ad(T_ip)ᵀ (p_i + (I_i − U_i D_i⁻¹ U_iᵀ) c_i + U_i D_i⁻¹ u_i)

    and from the root outwards again, a_i = D_i⁻¹ (u_i − U_iᵀ (Ad(T_ip) A_p + c_i)).

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v, tau : (..., nv) arrays
        Velocity, rad/s or m/s, and joint forces, N·m or N.
    wrenches, base_motion : optional
        As in `forward_dynamics`.

    Returns
    -------
    (..., nv) array
        rad/s² or m/s².
    """
    parents = robot.structure.parents
    T_pi = joint_poses(robot, q)
    V_0, A_0 = base_motion if base_motion is not None else (zeros(6), zeros(6))
    external = wrenches_on_links(robot, wrenches)
    drive = tau - plus_springs(robot, q, friction_forces(robot, v))

    V: list[Twist] = []
    c: list[Twist] = []
    I: list[ArticulatedInertia] = []
    p: list[Wrench] = []
    for i in range(robot.n):
        S_v = joint_twist(robot, i, v)
        V_p = V_0 if parents[i] < 0 else V[parents[i]]
        V.append(lie.transform_twist_inverse(T_pi[i], V_p) + S_v)
        c.append(lie.bracket(V[i], S_v))
        G = robot.parameters.inertias[i]
        bias = -lie.bracket_dual(V[i], lie.apply_inertia(G, V[i]))
        p.append(bias - external[i] if i in external else bias)
        I.append(_rigid(G))

    U: list[Wrench] = [None] * robot.n
    D: list[JointInertia] = [None] * robot.n  # type: ignore[list-item]
    u: list[Array] = [None] * robot.n
    for i in range(robot.n - 1, -1, -1):
        place = robot.structure.coordinate_of(i).v
        S = joint_screws(robot, i)
        U[i] = _apply_rows(I[i], S)
        D[i] = JointInertia.of(matmul(S, transpose(U[i])), robot.parameters.armature[place])
        u[i] = drive[..., place] - project_on_joint(robot, i, p[i])
        if parents[i] >= 0:
            loose = I[i].less(U[i], D[i].solve_rows(U[i])).along(_resisted(S, robot.parameters.armature[place]))
            pushed = p[i] + loose.apply(c[i]) + matvec(transpose(U[i]), D[i].solve(u[i]))
            parent = parents[i]
            I[parent] = I[parent].plus(loose.moved(T_pi[i]))
            p[parent] = p[parent] + lie.transform_wrench_inverse(T_pi[i], pushed)

    A: list[Twist] = []
    a: list[Array] = []
    lifted = A_0 + concat([zeros(3), -robot.parameters.gravity])
    for i in range(robot.n):
        A_p = lifted if parents[i] < 0 else A[parents[i]]
        carried = lie.transform_twist_inverse(T_pi[i], A_p) + c[i]
        a.append(D[i].solve(u[i] - matvec(U[i], carried)))
        A.append(carried + matvec(transpose(joint_screws(robot, i)), a[i]))
    return gather_vector(robot, a)


def _resisted(S: Twist, armature: Array) -> Twist:
    """1 for each direction (6,) in which a joint holds its link at all: a link resists no motion along the coordinate axes that
    the joint leaves free, (I − U D⁻¹ Uᵀ) S = 0, unless there is armature. Known beforehand, these zeros need not be computed.
    """
    if not is_concrete(S, armature):
        return constant([1.0] * 6)
    on_axis = (absolute(S) == 1.0) & (dot(S, S) == 1.0)[:, None] & (armature == 0.0)[:, None]
    return 1.0 - 1.0 * on_axis.any(axis=0)


class JointInertia(NamedTuple):
    """D = SᵀIS of one joint, ready to solve with: its inverse for one freedom, factors for several."""

    inverse: Array
    factors: Factors | None

    @classmethod
    def of(cls, D: Array, armature: Array) -> JointInertia:
        """From the k × k matrix SᵀIS and the armature (k,) of the joint."""
        D = D + identity(D.shape[-1]) * armature
        return cls(1.0 / D[..., 0, 0], None) if D.shape[-1] == 1 else cls(None, factor(D, guarded=False))

    def solve(self, b: Array) -> Array:
        """D⁻¹ b for b (..., k)."""
        return b * self.inverse[..., None] if self.factors is None else solve(self.factors, b)

    def solve_rows(self, B: Array) -> Array:
        """D⁻¹ B for B (..., k, 6)."""
        return B * self.inverse[..., None, None] if self.factors is None else solve_columns(self.factors, B)


def _rigid(G: InertiaRow) -> ArticulatedInertia:
    return ArticulatedInertia(rotational(G), so3.hat(first_moment(G)), mass(G)[..., None, None] * identity(3))


def _apply_rows(I: ArticulatedInertia, S: Twist) -> Wrench:
    rows = ArticulatedInertia(I.A[..., None, :, :], I.B[..., None, :, :], I.C[..., None, :, :])
    return rows.apply(S)
