"""The second derivatives of a weighted sum of joint forces, in O(n d) for a tree of depth d.

The weights λ move the robot virtually: link l has the virtual twist W_l = Σ J_i λ_i over the joints that carry it, and
λᵀτ = Σ_l W_l · F_l over the wrenches F_l of single links. In the quantities of `acceleration_tree`, with W_p the virtual twist of
joint b's parent and sums over all links l that b moves::

    Ω_b = [W_p, J_b],     P_b = Σ G_l W_l,     β_b = Σ 2 B_lᵀ W_l,     B^W_b = Σ B of link l, if it moves with W_l
    ∂/∂q_b = β_b · Ψ̇_b + P_b · Ψ̈_b + Ω_b · F_b,     ∂/∂v_b = β_b · J_b + P_b · Φ_b,     ∂/∂a_b = P_b · J_b

A change of q_b moves what lies beyond b, and gives it, as seen from there, the twist Ψ̇_b and the virtual twist Ω_b::

    X_b = ∂_b β_b = 2 B_bᵀ Ω_b − 2 B^W_bᵀ Ψ̇_b − ad(J_b)ᵀ β_b,     R_b = ∂β_b/∂v_b = −2 B^W_bᵀ J_b
    U_b = ∂_b P_b = G_b Ω_b − ad(J_b)ᵀ P_b
    Y_b = ∂_b F_b = 2 B_b Ψ̇_b + G_b Ψ̈_b − ad(J_b)ᵀ F_b,             D_b = ∂F_b/∂v_b = 2 B_b J_b + G_b Φ_b

So for joints a that carry b, or are b (where it is said: a < b, a only carries b)::

    ∂_a (∂/∂q_b) = X_b · Ψ̇_a + U_b · Ψ̈_a + Y_b · Ω_a               and the same in the other order for a < b
    ∂_b (∂/∂v_a) = X_b · J_a + U_b · Φ_a   (a < b),                 ∂_a (∂/∂v_b) = R_b · Ψ̇_a + D_b · Ω_a
    ∂_b (∂/∂a_a) = U_b · J_a   (a < b),                             ∂_a (∂/∂a_b) = G_b J_b · Ω_a
    ∂²/∂v_a∂v_b = R_b · J_a,   and P_b · [J_b, J_a] more within one joint

β, X and R are moments: of the twists they multiply, the angular parts count.

Times a direction it takes O(n). Every second derivative by two joints a ≤ b is a product of a factor of a and a factor of b, so
that sums over all joints that carry b, and over all that a carries, are each one pass over the tree::

    x_b = Σ_{a<b} Ψ̇_a δq_a + J_a δv_a          X⁺_a = Σ_{b>a} X_b δq_b + R_b δv_b
    y_b = Σ_{a<b} Ψ̈_a δq_a + Φ_a δv_a + J_a δa_a   U⁺_a = Σ_{b>a} U_b δq_b
    z_b = Σ_{a<b} Ω_a δq_a                      Y⁺_a = Σ_{b>a} Y_b δq_b + D_b δv_b + p_b δa_b

    .q = X · x + U · y + Y · z + X⁺ · Ψ̇ + U⁺ · Ψ̈ + Y⁺ · Ω
    .v = R · x + D · z + X⁺ · J + U⁺ · Φ
    .a = p · z + U⁺ · J

and what the freedoms of one joint do to each other is added.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor._reports import one_line
from torsor.arrays import concat, cross, identity, matmul, matvec, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix, JointVector, Twist, Vector3, Wrench
from torsor.lie import unchecked as lie
from torsor.mechanics.dynamics.friction import friction_curvatures
from torsor.mechanics.recursions.acceleration_tree import AccelerationTree, acceleration_tree
from torsor.mechanics.recursions.joint_motion import gather_matrix, gather_vector
from torsor.mechanics.recursions.newton_euler import BaseMotion, Wrenches
from torsor.mechanics.recursions.velocity_tree import CoriolisAction, coriolis_action
from torsor.model import Robot


class InverseDynamicsHessian(NamedTuple):
    """Σ_i weights_i ∂_k (∂τ_i/∂q_j), ∂²τ_i/∂q_j∂v_k, ∂²τ_i/∂v_j∂v_k and ∂_k (∂τ_i/∂a_j), each [j, k] (..., nv, nv)."""

    qq: JointMatrix
    qv: JointMatrix
    vv: JointMatrix
    aq: JointMatrix

    def __repr__(self) -> str:
        return one_line(self)


def inverse_dynamics_hessian(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    a: JointVector,
    weights: JointVector,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> InverseDynamicsHessian:
    """Second derivatives of Σ_i weights_i τ_i for inverse dynamics τ(q, v, a), exact, in O(n d) [PBP95, §5; SRW22].

    The tensors of `inverse_dynamics_second_derivatives`, contracted with ``weights`` over their first index, without forming
    them: what Newton steps on constraints τ = … need. qq is symmetric for joints of one degree of freedom; vv always is.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    a : (..., nv) array
        Acceleration, rad/s² or m/s².
    weights : (..., nv) array
        What each component is multiplied with, in any unit.
    wrenches : mapping, optional
        Frame name → (..., 6) wrench of the environment on the robot, N·m and N, in the axes of that frame.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    four matrices (..., nv, nv)
    """
    tree, s = acceleration_tree(robot, q, v, a, wrenches, base_motion), robot.structure
    virtual = virtual_rates(robot, tree, weights)
    qq: dict[tuple[int, int], Array] = {}
    qv: dict[tuple[int, int], Array] = {}
    vv: dict[tuple[int, int], Array] = {}
    aq: dict[tuple[int, int], Array] = {}
    for b, x in enumerate(virtual):
        outer_q, outer_v = concat([x.X, x.U, x.Y]), concat([x.R, x.D])
        i = b
        while i >= 0:
            J, Psi, Omega = tree.J[i], tree.Psi[i], virtual[i].Omega
            w = J[..., :3]
            qq[b, i] = _products(outer_q, concat([Psi[..., :3], tree.Psi_dot[i], Omega]))
            qv[i, b] = transpose(_products(outer_v, concat([Psi[..., :3], Omega])))
            aq[b, i] = _products(x.p, Omega)
            vv[b, i] = _products(x.R, w)
            if i == b:
                vv[b, b] = vv[b, b] + x.twist
            else:
                qq[i, b], vv[i, b] = transpose(qq[b, i]), transpose(vv[b, i])
                qv[b, i] = _products(concat([x.X, x.U]), concat([w, tree.Phi[i]]))
                aq[i, b] = transpose(_products(x.U, J))
            i = s.parents[i]
    friction = identity(robot.nv) * (weights * friction_curvatures(robot, v))[..., None, :]
    return InverseDynamicsHessian(
        gather_matrix(robot, qq),
        gather_matrix(robot, qv),
        gather_matrix(robot, vv) + friction,
        gather_matrix(robot, aq),
    )


class VirtualRates(NamedTuple):
    """Of one joint b: Ω, p = G J, U, Y, D (..., k, 6); X and R (..., k, 3); P_b · [J_b, J_a] within the joint (..., k, k)."""

    Omega: Twist
    p: Wrench
    X: Vector3
    R: Vector3
    U: Wrench
    Y: Wrench
    D: Wrench
    twist: Array


def virtual_rates(robot: Robot, tree: AccelerationTree, weights: JointVector) -> list[VirtualRates]:
    """What the second derivatives of a weighted sum are made of, for every joint."""
    parents = robot.structure.parents
    W: list[Twist] = []
    P: list[Wrench] = []
    beta: list[Vector3] = []
    virtual: list[CoriolisAction] = []
    for i, parent in enumerate(parents):
        own = matvec(transpose(tree.J[i]), weights[..., robot.structure.coordinate_of(i).v])
        W.append(own if parent < 0 else W[parent] + own)
        P.append(lie.apply_inertia(tree.links[i].G, W[i]))
        beta.append(tree.links[i].B.transposed_on(W[i]))
        virtual.append(coriolis_action(tree.links[i].G, 2.0 * W[i]))
    for i in range(robot.n - 1, -1, -1):
        if (parent := parents[i]) >= 0:
            P[parent], beta[parent] = P[parent] + P[i], beta[parent] + beta[i]
            virtual[parent] = virtual[parent].plus(virtual[i])
    return [
        _rates(tree, i, zeros(6) if parent < 0 else W[parent], P[i], beta[i], virtual[i])
        for i, parent in enumerate(parents)
    ]


def _rates(
    tree: AccelerationTree, i: int, W_p: Twist, P: Wrench, beta: Vector3, virtual: CoriolisAction
) -> VirtualRates:
    J, Psi, G = tree.J[i], tree.Psi[i], tree.bodies[i].G[..., None, :]
    B, B_W = tree.bodies[i].B.rows(None), virtual.rows(None)
    P, Omega = P[..., None, :], lie.bracket(W_p[..., None, :], J)
    X = B.transposed_on(Omega) - B_W.transposed_on(Psi) + cross(J[..., :3], beta[..., None, :])
    if J.shape[-2] == 1:
        twist = zeros(1, 1)
    else:
        twist = matvec(lie.bracket(J[..., :, None, :], J[..., None, :, :]), P)  # P_b · [J_b, J_a]
    return VirtualRates(
        Omega,
        lie.apply_inertia(G, J),
        X,
        -B_W.transposed_on(J),
        lie.apply_inertia(G, Omega) - lie.bracket_dual(J, P),
        B.on(Psi) + lie.apply_inertia(G, tree.Psi_dot[i]) - lie.bracket_dual(J, tree.F[i][..., None, :]),
        B.on(J) + lie.apply_inertia(G, tree.Phi[i]),
        twist,
    )


def _products(A: Array, B: Array) -> Array:
    """A Bᵀ: of rows (..., k, m) and rows (..., l, m), all products (..., k, l)."""
    return matmul(A, transpose(B))


class InverseDynamicsHessianProduct(NamedTuple):
    """The changes of Σ_i weights_i ∂τ_i/∂q, ∂τ_i/∂v and ∂τ_i/∂a along a direction, each (..., nv)."""

    q: JointVector
    v: JointVector
    a: JointVector

    def __repr__(self) -> str:
        return one_line(self)


def inverse_dynamics_hessian_product(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    a: JointVector,
    weights: JointVector,
    dq: JointVector,
    dv: JointVector,
    da: JointVector,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> InverseDynamicsHessianProduct:
    """The Hessian of Σ_i weights_i τ_i of inverse dynamics times (dq, dv, da), exact, in O(n) [PBP95, §5; SRW22].

    With the matrices of `inverse_dynamics_hessian`: .q = qq dq + qv dv + aqᵀ da, .v = qvᵀ dq + vv dv, .a = aq dq.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    a : (..., nv) array
        Acceleration, rad/s² or m/s².
    weights : (..., nv) array
        What each component is multiplied with, in any unit.
    dq : (..., nv) array
        Direction along q, rad or m.
    dv : (..., nv) array
        Direction along v, rad/s or m/s.
    da : (..., nv) array
        Direction along a, rad/s² or m/s².
    wrenches : mapping, optional
        Frame name → (..., 6) wrench of the environment on the robot, N·m and N, in the axes of that frame.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    three vectors (..., nv)
    """
    tree, s = acceleration_tree(robot, q, v, a, wrenches, base_motion), robot.structure
    rates = virtual_rates(robot, tree, weights)
    steps = [tuple(x[..., s.coordinate_of(i).v] for x in (dq, dv, da)) for i in range(robot.n)]
    beyond = _beyond(robot, rates, steps)
    before: list[_Before] = []
    by_q: list[Array] = []
    by_v: list[Array] = []
    by_a: list[Array] = []
    for i, (parent, r, (dq_i, dv_i, da_i)) in enumerate(zip(s.parents, rates, steps, strict=True)):
        w, J, Psi, Psi_dot, Phi = tree.J[i][..., :3], tree.J[i], tree.Psi[i][..., :3], tree.Psi_dot[i], tree.Phi[i]
        x, y, z = (zeros(3), zeros(6), zeros(6)) if parent < 0 else before[parent]
        x, y, z = x + _sum(Psi, dq_i), y + _sum(Psi_dot, dq_i), z + _sum(r.Omega, dq_i)
        X, U, Y = beyond[i]
        X_own, Y_own = X + _sum(r.R, dv_i), Y + _sum(r.D, dv_i) + _sum(r.p, da_i)
        inner = matvec(r.X, x) + matvec(r.U, y) + matvec(r.Y, z)
        by_q.append(inner + matvec(Psi, X_own) + matvec(Psi_dot, U) + matvec(r.Omega, Y_own))
        x = x + _sum(w, dv_i)
        before.append(_Before(x, y + _sum(Phi, dv_i) + _sum(J, da_i), z))
        by_v.append(matvec(r.R, x) + matvec(r.D, z) + matvec(r.twist, dv_i) + matvec(w, X) + matvec(Phi, U))
        by_a.append(matvec(r.p, z) + matvec(J, U))
    friction = weights * friction_curvatures(robot, v) * dv
    return InverseDynamicsHessianProduct(
        gather_vector(robot, by_q), gather_vector(robot, by_v) + friction, gather_vector(robot, by_a)
    )


class _Before(NamedTuple):
    """x (..., 3), y and z (..., 6), summed over a joint and all that carry it."""

    x: Vector3
    y: Twist
    z: Twist


class _Beyond(NamedTuple):
    """X⁺ (..., 3), U⁺ and Y⁺ (..., 6), summed over all joints that a joint carries."""

    X: Vector3
    U: Wrench
    Y: Wrench


def _beyond(robot: Robot, rates: list[VirtualRates], steps: list[tuple[Array, ...]]) -> list[_Beyond]:
    total = [_Beyond(zeros(3), zeros(6), zeros(6))] * robot.n
    for i in range(robot.n - 1, -1, -1):
        if (p := robot.structure.parents[i]) >= 0:
            r, (X, U, Y), (X_p, U_p, Y_p), (dq, dv, da) = rates[i], total[i], total[p], steps[i]
            Y = Y + _sum(r.Y, dq) + _sum(r.D, dv) + _sum(r.p, da)
            total[p] = _Beyond(X_p + X + _sum(r.X, dq) + _sum(r.R, dv), U_p + U + _sum(r.U, dq), Y_p + Y)
    return total


def _sum(rows: Array, x: Array) -> Array:
    """Σ_k x_k rows_k: of rows (..., k, m), by x (..., k)."""
    return matvec(transpose(rows), x)
