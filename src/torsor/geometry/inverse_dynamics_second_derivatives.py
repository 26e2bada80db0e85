"""Second derivatives of inverse dynamics, in O(n d²) for a tree of depth d.

In the quantities of `acceleration_tree`, and for freedoms a ≤ b ≤ c on one way outwards (≤: the same joint or
one further out), with
B the body-level Coriolis matrix of a composite body, the first derivatives are products of a row of c and a column of a,
or of a screw and a wrench [SRW22, (22)–(25)]::

    ∂τ_c/∂q_a = r_c · ξ_a,    ∂τ_c/∂v_a = r_c · η_a,    r_c = (2 B_cᵀ J_c, G_c J_c),    ξ_a = (Ψ̇_a, Ψ̈_a),    η_a = (J_a, Φ_a)
    ∂τ_a/∂q_c = J_a · Y_c,    Y_c = ∂_c F_c = 2 B_c Ψ̇_c + G_c Ψ̈_c − ad(J_c)ᵀ F_c                                     a < c
    ∂τ_a/∂v_c = J_a · D_c,    D_c = ∂F_c/∂v_c = 2 B_c J_c + G_c Φ_c                                                  a < c

If everything beyond b is left in place and what lies before it moves instead, a change of q_b gives all links beyond one
uniform twist Ψ̇_b. So with B(x) the Coriolis matrix of the composite body of c when it moves with one twist x as a whole::

    ∂_b r_c = (2 B(Ψ̇_b)ᵀ J_c − ad(J_b)ᵀ 2 B_cᵀ J_c, −ad(J_b)ᵀ G_c J_c)                                             b ≤ c
    ∂_c r_b = (2 B'ᵀ J_b, G' J_b),    B' = ∂_c B_c,    G' = ∂_c G_c                                                 b < c

and with these rows, by Y and D as they turn with q_b, and by the changes of B_c with v_c, for a < b where b = c is possible::

    ∂_a ∂_b τ_c = ∂_b r_c · ξ_a       ∂_a ∂_c τ_b = ∂_c r_b · ξ_a       ∂_b ∂_c τ_a = ∂_c r_a · ξ_b − J_a · ad(J_b)ᵀ Y_c
    ∂_b ∂τ_c/∂v_a = ∂_b r_c · η_a     ∂_c ∂τ_b/∂v_a = ∂_c r_b · η_a     ∂_b ∂τ_a/∂v_c = ρ_ac · Ψ̇_b − J_a · ad(J_b)ᵀ D_c
    ∂_c ∂τ_a/∂v_b = ∂_c r_a · η_b     ∂_a ∂τ_b/∂v_c = ρ_bc · Ψ̇_a = −∂_a ∂τ_c/∂v_b,   ρ_bc = 2 B(J_c)ᵀ J_b = −2 B(J_b)ᵀ J_c

B acts on, and Bᵀ gives, angular parts alone: of the first six numbers of a row, and of a column, three suffice. Within one
joint of several freedoms, ∂_a (∂τ_c/∂q_b) follows the first line with a as the last index, whichever of the two is a.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from torsor._reports import in_one_line
from torsor.arrays import (
    by_rows,
    concat,
    cross,
    dot,
    identity,
    matmul,
    parts,
    permute,
    reshape,
    stack_vectors,
    transpose,
)
from torsor.arrays.typing import Array, ConfigurationVector, JointTensor3, JointVector, Twist, Vector3, Wrench
from torsor.geometry.freedoms import (
    by_q_and_q_places,
    by_q_and_v_places,
    first_derivative_places,
    freedoms_of,
    matrix_places,
    pairs_of,
    structure_constants,
)
from torsor.geometry.inertia_metric import spread
from torsor.lie import unchecked as lie
from torsor.mechanics.dynamics.friction import friction_curvatures
from torsor.mechanics.recursions.acceleration_tree import acceleration_tree
from torsor.mechanics.recursions.newton_euler import BaseMotion, Wrenches
from torsor.mechanics.recursions.velocity_tree import CoriolisAction, coriolis_action, coriolis_action_moved
from torsor.model import Robot

DrivenRows = Annotated[Array, "... * 52"]
MANY = 64  # pairs of freedoms, beyond which to gather numbers for each product takes longer than to multiply them all


@in_one_line
class InverseDynamicsSecondDerivatives(NamedTuple):
    """∂_k (∂τ_i/∂q_j), ∂²τ_i/∂q_j∂v_k, ∂²τ_i/∂v_j∂v_k and ∂_k (∂τ_i/∂a_j), each [i, j, k] (..., nv, nv, nv)."""

    qq: JointTensor3
    qv: JointTensor3
    vv: JointTensor3
    aq: JointTensor3


def inverse_dynamics_second_derivatives(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    a: JointVector,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> InverseDynamicsSecondDerivatives:
    """All second derivatives of inverse dynamics τ(q, v, a) that do not vanish, exact, in O(n d²) [PBP95, §5; SRW22].

    qq[i, j, k] = ∂_k (∂τ_i/∂q_j), qv[i, j, k] = ∂²τ_i/∂q_j∂v_k, vv[i, j, k] = ∂²τ_i/∂v_j∂v_k and aq[i, j, k] = ∂_k M_ij, with
    ∂/∂q along the tangent coordinates v on the body side. For joints of one degree of freedom qq is symmetric in j and k. For
    planar, spherical and free joints it is the derivative of the function ∂τ_i/∂q_j, and within a joint the order matters:
    qq[i, j, k] − qq[i, k, j] = Σ_r s_kj^r ∂τ_i/∂q_r with [e_k, e_j] = Σ_r s_kj^r e_r. Friction enters vv if it has a Coulomb
    width; external wrenches are held constant in their frames.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    a : (..., nv) array
        Acceleration, rad/s² or m/s².
    wrenches : mapping, optional
        Frame name → (..., 6) wrench of the environment on the robot, N·m and N, in the axes of that frame.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    four tensors (..., nv, nv, nv)
        N·m or N per two of rad, m and their rates.
    """
    return second_derivatives_of(robot, driven_rows(robot, q, v, a, wrenches=wrenches, base_motion=base_motion), v)


def driven_rows(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    a: JointVector,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> DrivenRows:
    """Of each freedom J, Ψ̇, Ψ̈, Φ, F and G, 2 B of what it moves, (..., f, 52): all that second derivatives need."""
    tree, f = acceleration_tree(robot, q, v, a, wrenches, base_motion), freedoms_of(robot.structure)
    rows = []
    for i, k in zip(f.joints, f.rows, strict=True):
        G, B = tree.bodies[i]
        twists = [x[i][..., k, :] for x in (tree.J, tree.Psi, tree.Psi_dot, tree.Phi)]
        rows.append(concat([*twists, tree.F[i], G, B.p, reshape(B.E, 2, 9)]))
    return stack_vectors(rows)


def second_derivatives_of(robot: Robot, rows: DrivenRows, v: JointVector) -> InverseDynamicsSecondDerivatives:
    """From `driven_rows`, and v for friction."""
    terms = _terms(robot, rows)
    dM = _mass_matrix_derivative(terms)
    return InverseDynamicsSecondDerivatives(
        _by_q_and_q(terms), _by_q_and_v(terms), _by_v_and_v(terms, dM, v), permute(dM, (1, 2, 0))
    )


class _Terms(NamedTuple):
    """Of each freedom: J and Ψ̇ (..., f, 6), columns ξ and η (..., f, 9), momenta p = G J (..., f, 6).

    Of each pair (b, c): rows ∂_b r_c and ∂_c r_b (..., K, 9), moments ρ (..., K, 3), wrenches −ad(J_b)ᵀ Y_c and −ad(J_b)ᵀ D_c.
    """

    robot: Robot
    J: Twist
    Psi: Twist
    xi: Array
    eta: Array
    p: Wrench
    row_turned: Array
    row_swept: Array
    rho: Vector3
    Y_turned: Wrench
    D_turned: Wrench


def _terms(robot: Robot, rows: DrivenRows) -> _Terms:
    b, c, _ = pairs_of(robot.structure)
    J, Psi, Psi_dot, Phi, _ = _screws(rows)
    far = by_rows(_of_freedoms, rows)
    pairs = by_rows(_of_pairs, concat([J, Psi])[..., b, :], far[..., c, :])
    turned, swept, rho, Y_turned, D_turned = (pairs[..., x] for x in parts(9, 9, 3, 6, 6))
    xi, eta = concat([Psi[..., :3], Psi_dot]), concat([J[..., :3], Phi])
    return _Terms(robot, J, Psi, xi, eta, far[..., :6], turned, swept, rho, Y_turned, D_turned)


def _screws(rows: DrivenRows) -> tuple[Twist, ...]:
    """J, Ψ̇, Ψ̈, Φ and F."""
    return tuple(rows[..., x] for x in parts(6, 6, 6, 6, 6))


def _of_freedoms(rows: DrivenRows) -> Array:
    """Of each freedom c what pairs (b, c) need: p, Y and D, β = 2 Bᵀ J, the rate of G, and 2 B(J) and 2 B' as rows (..., 55)."""
    J, Psi, Psi_dot, Phi, F = _screws(rows)
    G = rows[..., 30:40]
    B = CoriolisAction(reshape(rows[..., 43:52], 1, 3, 3), rows[..., 40:43])
    Y = B.on(Psi) + lie.apply_inertia(G, Psi_dot) - lie.bracket_dual(J, F)
    D = B.on(J) + lie.apply_inertia(G, Phi)
    moving = [coriolis_action(G, 2.0 * J), coriolis_action_moved(G, B, J, 2.0 * Psi)]
    actions = [x for action in moving for x in (reshape(action.E, 2, 9), action.p)]
    return concat([lie.apply_inertia(G, J), Y, D, B.transposed_on(J), lie.inertia_rate(G, J), *actions])


def _of_pairs(near: Array, far: Array) -> Array:
    """Of a pair (b, c), from J and Ψ̇ of b and what c has: ∂_b r_c, ∂_c r_b, ρ, −ad(J_b)ᵀ Y_c and −ad(J_b)ᵀ D_c (..., 33)."""
    J, Psi = (near[..., x] for x in parts(6, 6))
    p, Y, D, beta, rate, *actions = (far[..., x] for x in parts(6, 6, 6, 3, 10, 9, 3, 9, 3))
    own, moved = (CoriolisAction(reshape(E, 1, 3, 3), b) for E, b in (actions[:2], actions[2:]))
    turned = [cross(J[..., :3], beta) - own.transposed_on(Psi), -lie.bracket_dual(J, p)]
    swept = [moved.transposed_on(J), lie.apply_inertia(rate, J)]
    wrenches = [-lie.bracket_dual(J, Y), -lie.bracket_dual(J, D)]
    return concat([*turned, *swept, own.transposed_on(J), *wrenches])


def _by_q_and_q(t: _Terms) -> JointTensor3:
    places, number = by_q_and_q_places(t.robot.structure), pairs_of(t.robot.structure).number
    a, b, c = places.sorts[0]
    at_c = _products(t.row_turned, t.xi, number[b, c], a)
    a, b, c = places.sorts[1]
    at_b = _products(t.row_swept, t.xi, number[b, c], a)
    a, b, c = places.sorts[2]
    at_a = _products(t.row_swept, t.xi, number[a, c], b) + _products(t.Y_turned, t.J, number[b, c], a)
    return spread(t.robot, places, [at_c, at_b, at_a])


def _by_q_and_v(t: _Terms) -> JointTensor3:
    places, number = by_q_and_v_places(t.robot.structure), pairs_of(t.robot.structure).number
    a, b, c = places.sorts[0]
    turned = _products(t.row_turned, t.eta, number[b, c], a)
    i, k, c = places.sorts[1]
    swept = _products(t.row_swept, t.eta, number[i, c], k)
    a, b, c = places.sorts[2]
    moved = _products(t.rho, t.Psi[..., :3], number[a, c], b)
    moved = moved + _products(t.D_turned, t.J, number[b, c], a)
    a, b, c = places.sorts[3]
    before = _products(t.rho, t.Psi[..., :3], number[b, c], a)
    return spread(t.robot, places, [turned, swept, moved, before, -before])


def _mass_matrix_derivative(t: _Terms) -> JointTensor3:
    """dM[k, i, j] = ∂_k M_ij: J_a · ∂_c p_b for a ≤ b < c, and J_a · ∂_b p_c for a < b ≤ c."""
    places, number = first_derivative_places(t.robot.structure), pairs_of(t.robot.structure).number
    a, b, c = places.sorts[0]
    inner = _products(t.row_swept[..., 3:], t.J, number[b, c], a)
    a, b, c = places.sorts[1]
    outer = _products(t.row_turned[..., 3:], t.J, number[b, c], a)
    return spread(t.robot, places, [inner, outer])


def _by_v_and_v(t: _Terms, dM: JointTensor3, v: JointVector) -> JointTensor3:
    """∂_j M_ik + ∂_k M_ij − ∂_i M_jk − ⟨[e_j, e_i], e_k⟩ − ⟨[e_k, e_i], e_j⟩ by Koszul's formula, and friction."""
    vv = permute(dM, (1, 0, 2)) + permute(dM, (1, 2, 0)) - dM
    if (s := structure_constants(t.robot.structure)) is not None:
        places = matrix_places(t.robot.structure)
        a, b = places.sorts[0]
        M = spread(t.robot, places, [dot(t.J[..., a, :], t.p[..., b, :])])  # armature has no Coriolis forces
        turning = matmul(s, M[..., None, :, :])
        vv = vv - permute(turning, (1, 0, 2)) - permute(turning, (1, 2, 0))
    if not t.robot.structure.coulomb_width > 0.0:
        return vv
    unit = identity(t.robot.nv)
    return vv + unit[:, :, None] * unit[:, None, :] * friction_curvatures(t.robot, v)[..., :, None, None]


def _products(rows: Array, columns: Array, row: Array, column: Array) -> Array:
    """rows[row] · columns[column] for lists of numbers of both; where there are many, picked from all products."""
    if rows.shape[-2] > MANY:
        return matmul(rows, transpose(columns))[..., row, column]
    return dot(rows[..., row, :], columns[..., column, :])
