"""The Lagrange equation (1.1), differentiated directly: from M(q), its derivatives, and the potential energy.

K = ½ q̇ᵀ M(q) q̇ with M = Σ_j J_jᵀ G_j J_j, J_j the body Jacobian of link j, and U = −Σ_j m_j g·r_j [Sil81, (1.1); LP, (9.8)]::

    τ_i = d/dt(∂K/∂q̇_i) − ∂K/∂q_i + ∂U/∂q_i = Σ_l M_il q̈_l + Σ_kl (∂M_il/∂q_k − ½ ∂M_kl/∂q_i) q̇_k q̇_l + ∂U/∂q_i

Column l of J_j is Ad(T_jl) S_l, and ∂J_jl/∂q_k = [J_jl, J_jk] for a joint k after l, else 0 [PBP95, (5)]. Nothing is
cancelled by hand and no force is balanced: this is a road of its own, and the longest.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from torsor.arrays import cross, dot, matmul, matvec, transpose
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, Pose, Scalar, Twist
from torsor.border import checked
from torsor.lie import unchecked as lie
from torsor.mechanics.recursions.newton_euler import Wrenches
from torsor.model import Robot
from torsor.papers.formulations.links import Model, joint_forces, screw_model, total

Columns = dict[int, Twist]  # joint → column of a link's body Jacobian


@checked
def euler_lagrange(
    robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector, *, wrenches: Wrenches | None = None
) -> JointVector:
    """Joint forces τ = M a + Σ_k ∂M/∂q_k v_k v − ½ ∂(vᵀMv)/∂q + ∂U/∂q, O(n⁴) as written [Sil81, (1.1); LP, (9.8), (9.11)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    a : (..., nv) array
        Acceleration, rad/s² or m/s².
    wrenches : mapping from str to (..., 6) array, optional
        For frames by name what the environment does to the robot there, in that frame, N·m, N.

    Returns
    -------
    (..., nv) array
        Joint forces, N·m or N, as `torsor.inverse_dynamics`.
    """
    return joint_forces(euler_lagrange_core, screw_model, robot, q, v, a, wrenches)


def euler_lagrange_core(model: Model, v: Sequence[Array], a: Sequence[Array]) -> list[Scalar]:
    """(1.1) on given poses, screws and inertias."""
    tau: list[Scalar] = [None] * len(model.links)
    for j in range(len(model.links)):
        path, J = model.path(j), _columns(model, j)
        GJ = {l: lie.apply_inertia(model.links[j].G, J[l]) for l in path}
        M = {(i, l): dot(J[i], GJ[l]) for i in path for l in path}
        dM = {key: d for key in product(path, repeat=3) if (d := _mass_derivative(J, GJ, *key)) is not None}
        dU = _potential_gradient(model, j, J)
        for i in path:
            terms = [M[i, l] * a[l] for l in path]
            terms += [dM[i, l, k] * v[k] * v[l] for k, l in product(path, repeat=2) if (i, l, k) in dM]
            terms += [-0.5 * dM[k, l, i] * v[k] * v[l] for k, l in product(path, repeat=2) if (k, l, i) in dM]
            for term in (*terms, dU[i]):
                tau[i] = term if tau[i] is None else tau[i] + term
    return tau


def _columns(model: Model, j: int) -> Columns:
    """J_jl = Ad(T_jl) S_l, by carrying the columns of the parent over to link j."""
    J: Columns = {}
    for i in model.path(j):
        link = model.links[i]
        J = {l: lie.transform_twist_inverse(link.T, J_l) for l, J_l in J.items()} | {i: link.S}
    return J


def _mass_derivative(J: Columns, GJ: Columns, i: int, l: int, k: int) -> Scalar | None:
    """Link j's part of ∂M_il/∂q_k: (∂J_i/∂q_k)ᵀ G J_l + J_iᵀ G (∂J_l/∂q_k); None: zero, k being after neither."""
    parts = []
    if k > i:
        parts.append(dot(lie.bracket(J[i], J[k]), GJ[l]))
    if k > l:
        parts.append(dot(lie.bracket(J[l], J[k]), GJ[i]))
    return total(parts) if parts else None


def _potential_gradient(model: Model, j: int, J: Columns) -> dict[int, Scalar]:
    """∂U_j/∂q_i = −g·∂(m r)/∂q_i, where m r moves by R (m v − h × ω) for the twist (ω, v) of column i."""
    (g,) = model.base
    G = model.links[j].G
    T: Pose = None
    for i in model.path(j):
        T = model.links[i].T if T is None else matmul(T, model.links[i].T)
    g_j = matvec(transpose(T[..., :3, :3]), g)
    return {i: -dot(g_j, G[..., :1] * J_i[..., 3:] - cross(G[..., 1:4], J_i[..., :3])) for i, J_i in J.items()}
