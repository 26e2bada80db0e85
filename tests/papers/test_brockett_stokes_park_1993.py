"""Brockett, Stokes & Park, A geometrical formulation of the dynamical equations describing kinematic chains (1993)."""

import by_hand
import numpy as np
import pytest
from by_hand import Ad, assert_close, assert_differs, bracket, commutator, hat, motion, pose, product, vee

import torsor
from torsor import balancing, lie
from torsor.lie import se3
from torsor.papers import rigid_body, second_kind


@pytest.fixture(params=["RPHR", "HRRPRH"])
def chain(request):
    """The paper's link frames sit at the centres of mass, along the principal axes."""
    return by_hand.random_chain(request.param, seed=93, frames="principal axes")


def screws_ahead(chain, q, p):
    """Ad_pk A_k = P_{k,p}⁻¹ A_k P_{k,p}, k ≤ p, with P_{k,p} = e^{A_{k+1} q_{k+1}} ⋯ e^{A_p q_p}; zero for k > p."""
    P = [chain.between(q, k + 1, p) for k in range(p + 1)]
    moved = [vee(np.linalg.inv(P[k]) @ hat(chain.screws[k]) @ P[k]) for k in range(p + 1)]
    return np.array(moved + [np.zeros(6)] * (chain.n - 1 - p))


# §2.1 Background


def test_composition_of_transformations(rng):
    """BSP93 §2.1: T_ab T_bc = T_ac, and T moves the point x to R x + p."""
    T_ab, T_bc, x = by_hand.random_pose(rng), by_hand.random_pose(rng), rng.normal(size=3)
    T_ac = se3.compose(T_ab, T_bc)
    in_b = T_bc[:3, :3] @ x + T_bc[:3, 3]
    assert_close(se3.rotation(T_ac) @ x + se3.translation(T_ac), T_ab[:3, :3] @ in_b + T_ab[:3, 3])


def test_bracket_is_the_commutator_antisymmetric_and_jacobi(rng):
    """BSP93 §2.1: [A, B] = AB − BA, [x, y] = −[y, x], and the Jacobi identity."""
    x, y, z = rng.normal(size=(3, 6))
    assert_close(hat(lie.bracket(x, y)), commutator(hat(x), hat(y)))
    assert_close(lie.bracket(x, y), -lie.bracket(y, x))
    jacobi = lie.bracket(lie.bracket(x, y), z) + lie.bracket(lie.bracket(y, z), x) + lie.bracket(lie.bracket(z, x), y)
    assert_close(jacobi, np.zeros(6))


def test_1_adjoint_map(rng):
    """BSP93 (1): Ad_g η = g η g⁻¹, as an action and as a matrix."""
    g, eta = by_hand.random_pose(rng), rng.normal(size=6)
    expected = vee(g @ hat(eta) @ np.linalg.inv(g))
    assert_close(lie.transform_twist(g, eta), expected)
    assert_close(lie.Ad(g) @ eta, expected)


def test_ad_is_the_bracket(rng):
    """BSP93 §2.1: ad_η ν = [η, ν]."""
    eta, nu = rng.normal(size=(2, 6))
    assert_close(lie.ad(eta) @ nu, vee(commutator(hat(eta), hat(nu))))


def test_adjoint_of_a_product(rng):
    """BSP93 §2.1: Ad_a Ad_b = Ad_ab."""
    a, b = by_hand.random_pose(rng), by_hand.random_pose(rng)
    assert_close(lie.Ad(a) @ lie.Ad(b), Ad(a @ b))


def test_adjoint_carries_brackets_to_brackets(rng):
    """BSP93 §2.1: Ad_a(ad_η ν) = ad_{Ad_a η}(Ad_a ν)."""
    a, eta, nu = by_hand.random_pose(rng), *rng.normal(size=(2, 6))
    left = lie.transform_twist(a, lie.bracket(eta, nu))
    assert_close(left, bracket(Ad(a) @ eta, Ad(a) @ nu))


def test_exponential_is_the_power_series(rng):
    """BSP93 §2.1: exp(A) = 1 + A + A²/2 + …"""
    S = rng.normal(size=6)
    term, total = np.eye(4), np.eye(4)
    for k in range(1, 40):  # |A| ~ 3: the fortieth term is below 1e-25
        term = term @ hat(S) / k
        total = total + term
    assert_close(se3.exp(S), total)


def test_body_and_spatial_velocity_of_a_path(rng):
    """BSP93 §2.1: T⁻¹ Ṫ, which does not depend on the fixed frame, and Ṫ T⁻¹."""
    A, B = rng.normal(size=(2, 6))
    T = motion(A, 1.0) @ motion(B, 1.0)  # e^{At} e^{Bt} at t = 1
    T_dot = hat(A) @ T + T @ hat(B)
    body = Ad(motion(B, -1.0)) @ A + B
    assert_close(se3.body_velocity(T, T_dot), body)
    assert_close(se3.spatial_velocity(T, T_dot), A + Ad(motion(A, 1.0)) @ B)
    T_ca = by_hand.random_pose(rng)
    assert_close(se3.body_velocity(T_ca @ T, T_ca @ T_dot), body)


def test_body_and_spatial_velocity_of_a_link(chain, state):
    """BSP93 §2.1: the same two velocities of a robot's link."""
    q, v, _ = state
    T, T_dot = chain.poses(q)[-1], np.einsum("kab,k->ab", chain.rates(q)[0][-1], v)
    assert_close(torsor.kinematics.body_twist(chain.robot, q, v, chain.links[-1]), vee(np.linalg.inv(T) @ T_dot))
    assert_close(torsor.kinematics.space_twist(chain.robot, q, v, chain.links[-1]), vee(T_dot @ np.linalg.inv(T)))


# §3.1 Kinetic energy


def test_2_kinetic_energy_by_traces(body, rng):
    """BSP93 (2), E000-1: J needs √(det I / 2); the printed √(det I) doubles the energy of rotation."""
    V = rng.normal(size=6)
    form = rigid_body.trace_form(body.mass, body.rotational, np.eye(4))
    centred = body.moved(pose(p=-body.com))
    assert_close(0.5 * rigid_body.trace_inner_product(form, V, V), centred.energy(V))
    turning = np.concatenate([V[:3], np.zeros(3)])
    J = np.zeros((4, 4))
    J[:3, :3] = np.sqrt(np.linalg.det(body.rotational)) * np.linalg.inv(body.rotational)
    printed = 0.5 * np.trace(J @ hat(turning) @ J @ hat(turning).T)
    assert_close(printed, 2.0 * centred.energy(turning))


def test_2_kinetic_energy_of_a_rod(rng):
    """BSP93 (2), E000-1b: ½ tr(V Ĵ Vᵀ) also serves a rod, whose I has no inverse."""
    rod = by_hand.Body(np.array([1.0, 2.0, 0.5]), np.outer([-1.0, 0.2, 0.9], rng.normal(size=3)))
    V = rng.normal(size=6)
    assert np.linalg.det(rod.rotational) == pytest.approx(0.0, abs=1e-12)
    assert_close(rigid_body.kinetic_energy_by_pseudo_inertia(rod.row, V), rod.energy(V))


def test_kinetic_energy_about_another_frame(body, rng):
    """BSP93 §3.1: ½ (tr(G_p V_p M_p V_pᵀ) + tr(J_p V_p J_p V_pᵀ)) with V_p = Ad_{T_pc} V is the energy of V."""
    T_pc, V = by_hand.random_pose(rng), rng.normal(size=6)
    form = rigid_body.trace_form(body.mass, body.rotational, T_pc)
    V_p = Ad(T_pc) @ V
    centred = body.moved(pose(p=-body.com))
    assert_close(0.5 * rigid_body.trace_inner_product(form, V_p, V_p), centred.energy(V))


def test_inner_product_of_two_velocities(body, rng):
    """BSP93 §3.1: ⟨V, W⟩ = tr(G V M Wᵀ) + tr(J V J Wᵀ) is Σ m ẋ·ẏ over the particles."""
    V, W = rng.normal(size=(2, 6))
    form = rigid_body.trace_form(body.mass, body.rotational, pose(p=body.com))
    assert_close(rigid_body.trace_inner_product(form, V, W), body.pairing(hat(V), hat(W)))


# §3.2 Equations of motion


def test_3_weak_form(body, rng):
    """BSP93 (3), E000-2: ⟨V̇, W⟩ − ⟨V, [V, W]⟩ is the power of the forces in W; the printed [W, V] is not."""
    V, V_dot, W = rng.normal(size=(3, 6))
    power = body.wrench(V, V_dot) @ W
    assert_close(rigid_body.weak_residual(body.row, V, V_dot, W), power)
    printed = body.pairing(hat(V_dot), hat(W)) - body.pairing(hat(V), hat(bracket(W, V)))
    assert_differs(printed, power)


def test_3_free_motion_needs_no_force(body, rng):
    """BSP93 (3), E000-2: the acceleration that solves it takes no force and no moment on the particles."""
    V = rng.normal(size=6)
    assert_close(body.wrench(V, rigid_body.free_acceleration(body.row, V)), np.zeros(6))


def test_matrix_form_of_the_equations_of_motion(body, rng):
    """BSP93 §3.2, E000-3: P(G V̇ M + J V̇ J) = P([Vᵀ, G V M + J V J]); the printed right side is not it."""
    V, V_dot, W = rng.normal(size=(3, 6))
    form = rigid_body.trace_form(body.mass, body.rotational, pose(p=body.com))
    # For any motion the residual, paired with W by a trace, is the power of the forces in W.
    residual = rigid_body.matrix_residual(form, V, V_dot)
    assert_close(np.trace(residual @ hat(W).T), body.wrench(V, V_dot) @ W)
    free = rigid_body.free_acceleration(body.row, V)
    assert_close(rigid_body.matrix_residual(form, V, free), np.zeros((4, 4)))
    G, M, J = form
    left = G @ hat(free) @ M + J @ hat(free) @ J
    printed = (np.diag([1.0, 1.0, 1.0, 0.0]) @ G).T @ commutator(J @ hat(V) @ J, hat(V).T)
    assert_differs(printed, left)


def test_matrix_form_at_the_centre_of_mass(body, rng):
    """BSP93 §3.2, E000-3: there V̇ M + J V̇ J = Ī([Vᵀ, J V J] + Vᵀ V M)."""
    centred = body.moved(pose(p=-body.com))
    V = rng.normal(size=6)
    X, X_dot = hat(V), hat(rigid_body.free_acceleration(centred.row, V))
    _, M, J = rigid_body.trace_form(body.mass, body.rotational, np.eye(4))
    right = np.diag([1.0, 1.0, 1.0, 0.0]) @ (commutator(X.T, J @ X @ J) + X.T @ X @ M)
    assert_close(X_dot @ M + J @ X_dot @ J, right)


# §3.2 Coordinates of the second kind


@pytest.fixture
def coordinates(rng):
    """Six screws, a point x, its velocity and its acceleration."""
    return rng.normal(size=(6, 6)), *rng.normal(size=(3, 6))


def test_second_kind_pose(coordinates):
    """BSP93 §3.2: T_0p = exp(A_1 x_1) exp(A_2 x_2) … exp(A_6 x_6)."""
    screws, x, _, _ = coordinates
    assert_close(second_kind.pose(screws, x), product(motion(S, t) for S, t in zip(screws, x, strict=True)))


def test_second_kind_twist(coordinates):
    """BSP93 §3.2, E000-4: V_p = Σ Ad(T_6i) A_i ẋ_i, T_k6 = exp(A_k x_k) exp(A_{k+1} x_{k+1}) …, not exp(A_2 x_2) …"""
    screws, x, x_dot, _ = coordinates
    E = [motion(S, t) for S, t in zip(screws, x, strict=True)]
    rates, _ = by_hand.product_rates(screws, x)
    true = vee(np.linalg.inv(product(E)) @ np.einsum("kab,k->ab", rates, x_dot))
    assert_close(second_kind.twist(screws, x, x_dot), true)
    printed = sum(Ad(np.linalg.inv(E[k] @ product(E[1:]))) @ screws[k] * x_dot[k] for k in range(6))
    assert_differs(printed, true)


def test_second_kind_twist_rate(coordinates):
    """BSP93 §3.2: V̇_p = Σ Ad A_i ẍ_i + Σ_{i<j} [Ad A_i, Ad A_j] ẋ_i ẋ_j."""
    screws, x, x_dot, x_ddot = coordinates
    T_inv = np.linalg.inv(product(motion(S, t) for S, t in zip(screws, x, strict=True)))
    first, second = by_hand.product_rates(screws, x)
    V = T_inv @ np.einsum("kab,k->ab", first, x_dot)
    T_ddot = np.einsum("kab,k->ab", first, x_ddot) + np.einsum("klab,k,l->ab", second, x_dot, x_dot)
    assert_close(second_kind.twist_rate(screws, x, x_dot, x_ddot), vee(T_inv @ T_ddot - V @ V))


def test_second_kind_metric(coordinates, body):
    """BSP93 §3.2: g_ki = ⟨Ad A_i, Ad A_k⟩ is Σ m ∂x/∂x_i · ∂x/∂x_k."""
    screws, x, _, _ = coordinates
    first, _ = by_hand.product_rates(screws, x)
    expected = np.einsum("iab,bc,kac->ki", first, body.moments, first)
    assert_close(second_kind.metric(screws, x, body.row), expected)


def test_second_kind_christoffel_symbols(coordinates, body):
    """BSP93 §3.2, E000-5: the third term of γ_ijk is ⟨[C_n, C_m], C_k⟩; with the printed [C_k, C_m] it is not γ."""
    screws, x, _, _ = coordinates
    first, second = by_hand.product_rates(screws, x)
    true = np.einsum("ijab,bc,kac->ijk", second, body.moments, first)
    assert_close(second_kind.christoffel(screws, x, body.row), true)
    C = second_kind.columns(screws, x)
    printed = np.empty((6, 6, 6))
    for i, j, k in np.ndindex(6, 6, 6):
        terms = (bracket(C[k], C[j]) @ body.matrix @ C[i], bracket(C[k], C[i]) @ body.matrix @ C[j])
        printed[i, j, k] = 0.5 * (sum(terms) + bracket(C[k], C[max(i, j)]) @ body.matrix @ C[k])
    assert_differs(printed, true)


def test_second_kind_equations_of_motion(coordinates, body):
    """BSP93 §3.2: Σ g_ki ẍ_i + Σ γ_ijk ẋ_i ẋ_j = 0 is motion without any force on the particles."""
    screws, x, x_dot, _ = coordinates
    g, gamma = second_kind.metric(screws, x, body.row), second_kind.christoffel(screws, x, body.row)
    x_ddot = np.linalg.solve(g, -np.einsum("ijk,i,j->k", gamma, x_dot, x_dot))
    first, second = by_hand.product_rates(screws, x)
    T_ddot = np.einsum("kab,k->ab", first, x_ddot) + np.einsum("klab,k,l->ab", second, x_dot, x_dot)
    T = product(motion(S, t) for S, t in zip(screws, x, strict=True))
    forces = [body.pairing(T_ddot, hat(W) @ T) for W in np.eye(6)]
    assert_close(forces, np.zeros(6), 1e-10)  # through the inverse of a metric with condition number ~ 1e4


# §4 Serial linkages


def test_4_product_of_exponentials(chain, state):
    """BSP93 (4): T_0k = exp(q_1 A_1) … exp(q_k A_k) N_k."""
    assert_close(torsor.link_poses(chain.robot, state.q), chain.poses(state.q))


def test_5_velocity_of_a_link(chain, state):
    """BSP93 (5): T⁻¹ Ṫ = N_i⁻¹ (Σ P_{k,i}⁻¹ A_k P_{k,i} q̇_k) N_i."""
    q, v, _ = state
    for i, N in enumerate(chain.homes):
        inner = sum(hat(C) * rate for C, rate in zip(screws_ahead(chain, q, i), v, strict=True))
        assert_close(torsor.kinematics.body_twist(chain.robot, q, v, chain.links[i]), vee(np.linalg.inv(N) @ inner @ N))


def test_6_jacobian_of_a_link(chain, state):
    """BSP93 (6), E000-6: V_0i = Ad(N_i⁻¹) Σ Ad_ik A_k q̇_k with P_ik = P_ki⁻¹, not P_ki."""
    q = state.q
    for i, N in enumerate(chain.homes):
        columns = Ad(np.linalg.inv(N)) @ screws_ahead(chain, q, i).T
        assert_close(torsor.body_jacobian(chain.robot, q, chain.links[i]), columns)
    forward = [Ad(chain.between(q, k + 1, chain.n - 1)) @ chain.screws[k] for k in range(chain.n)]
    assert_differs(Ad(np.linalg.inv(chain.homes[-1])) @ np.transpose(forward), columns)


def test_7_kinetic_energy_of_the_chain(chain, state):
    """BSP93 (7), E000-1: T = Σ ½ (tr(V M V ᵀ) + tr(J V J Vᵀ)) over the links."""
    q, v, _ = state
    by_traces = 0.0
    for i, body in enumerate(chain.bodies):
        form = rigid_body.trace_form(body.mass, body.rotational, np.eye(4))
        V = torsor.kinematics.body_twist(chain.robot, q, v, chain.links[i])
        by_traces += 0.5 * rigid_body.trace_inner_product(form, V, V)
    assert_close(by_traces, chain.kinetic_energy(q, v))
    assert_close(torsor.kinetic_energy(chain.robot, q, v), by_traces)


def test_inner_product_of_a_link_about_the_base(chain, rng):
    """BSP93 §4, E000-8: ⟨·,·⟩_p with M̄ = N M Nᵀ, J̄ = N J Nᵀ, Ḡ = N⁻ᵀ N⁻¹ is link p's energy seen from the base."""
    V, W = rng.normal(size=(2, 6))
    for body, N in zip(chain.bodies, chain.homes, strict=True):
        form = rigid_body.trace_form(body.mass, body.rotational, N)
        assert_close(form.G, np.linalg.inv(N).T @ np.linalg.inv(N))
        assert_close(rigid_body.trace_inner_product(form, V, W), body.moved(N).pairing(hat(V), hat(W)))


def test_8_mass_matrix_as_a_sum(chain, state):
    """BSP93 (8), E000-7: g_ij = Σ_{p ≥ max(i,j)} ⟨Ad_pi A_i, Ad_pj A_j⟩_p, T = ½ Σ g_ij q̇_i q̇_j, not twice that."""
    q, v, _ = state
    g = np.zeros((chain.n, chain.n))
    for p, (body, N) in enumerate(zip(chain.bodies, chain.homes, strict=True)):
        C, seen = screws_ahead(chain, q, p), body.moved(N)
        g += [[seen.pairing(hat(x), hat(y)) for y in C] for x in C]
    assert_close(torsor.mass_matrix(chain.robot, q), g)
    energy = torsor.kinetic_energy(chain.robot, q, v)
    assert_close(energy, 0.5 * v @ g @ v)
    assert_differs(v @ g @ v, energy)


def test_coriolis_term(chain, state):
    """BSP93 §4: ½ (∂g_ik/∂q_j + ∂g_kj/∂q_i − ∂g_ij/∂q_k) q̇_i q̇_j, the velocity terms of the equations of motion."""
    q, v, _ = state
    dg = by_hand.gradient(lambda x: torsor.mass_matrix(chain.robot, x), q)  # [i, j, k] = ∂g_ij/∂q_k
    gamma = 0.5 * (np.einsum("ikj->ijk", dg) + np.einsum("kji->ijk", dg) - dg)
    expected = np.einsum("ijk,i,j->k", gamma, v, v)
    assert_close(torsor.dynamics.coriolis_forces(chain.robot, q, v), expected, by_hand.DIFFERENCED)


def test_proposition_christoffel_symbols_by_brackets(chain, state):
    """BSP93 Proposition, E000-9: Γ_ijk = Σ_p γ^p_ijk, one half of three brackets; column i of C at unit velocity."""
    q, n = state.q, chain.n
    gamma = np.zeros((n, n, n))
    for p, (body, N) in enumerate(zip(chain.bodies, chain.homes, strict=True)):
        C, G = screws_ahead(chain, q, p), body.moved(N).matrix  # zero screws keep p ≥ max(i, j, k)
        for i, j, k in np.ndindex(n, n, n):
            low, high = min(i, j), max(i, j)
            twice = bracket(C[k], C[j]) @ G @ C[i] + bracket(C[k], C[i]) @ G @ C[j]
            gamma[i, j, k] += 0.5 * (twice + bracket(C[low], C[high]) @ G @ C[k])
    assert_close(torsor.papers.christoffel_symbols_by_brackets(chain.robot, q), gamma)
    assert_close(torsor.geometry.christoffel_symbols(chain.robot, q), gamma)
    for i, unit in enumerate(np.eye(n)):
        assert_close(torsor.coriolis_matrix(chain.robot, q, unit), gamma[i].T)


def test_derivative_of_the_moved_screws(chain, state):
    """BSP93 §4, E000-10: d/dq_k Ad_pj A_j = [Ad_pj A_j, Ad_pk A_k] for j < k ≤ p; k = p is not zero, as printed."""
    q, p = state.q, chain.n - 1
    Ad_N = Ad(chain.homes[p])
    derivative = torsor.derivatives.body_jacobian_derivative(chain.robot, q, chain.links[p])
    C = screws_ahead(chain, q, p)
    for j, k in np.ndindex(chain.n, chain.n):
        expected = bracket(C[j], C[k]) if j < k <= p else np.zeros(6)
        assert_close(Ad_N @ derivative[:, j, k], expected)
    differenced = by_hand.gradient(lambda x: screws_ahead(chain, x, p).T, q)
    assert_close(np.einsum("ab,bjk->ajk", Ad_N, derivative), differenced, by_hand.DIFFERENCED)
    assert_differs(derivative[:, 0, p], np.zeros(6))


def test_equations_of_motion_of_the_chain(chain, state):
    """BSP93 §4, E000-11: g_kj q̈_j + Γ_ijk q̇_i q̇_j = 0 without gravity; printed g q̈ = Γ q q."""
    q, v, _ = state
    a = torsor.forward_dynamics(chain.robot.with_gravity(np.zeros(3)), q, v, np.zeros(chain.n))
    gamma = chain.christoffel(q)
    assert_close(chain.mass_matrix(q) @ a, -np.einsum("ijk,i,j->k", gamma, v, v), 1e-11)  # solves with M: cond < 1e2
    assert_close(torsor.geometry.geodesic_acceleration(chain.robot, q, v), a, 1e-11)
    assert_differs(np.einsum("ijk,i,j->k", gamma, q, q), chain.mass_matrix(q) @ a)


# §5 Dynamically balanced mechanisms


def test_diagonal_of_a_planar_mass_matrix(rng):
    """BSP93 §5, E000-12: g_ii = Σ tr(X M Xᵀ) + tr(J X J Xᵀ), X = T⁻¹ET, J = √(I/2) diag(1, 1, 0), printed I."""
    arm, q = by_hand.PlanarChain(rng.normal(scale=0.3, size=(4, 2))), rng.normal(size=4)
    E = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    true, printed = np.zeros(4), np.zeros(4)
    for i in range(4):
        for k in range(i, 4):
            T = arm.centre(q, i, k)
            X, M = np.linalg.inv(T) @ E @ T, np.diag([0.0, 0.0, arm.masses[k]])
            for total, j in ((true, np.sqrt(arm.moments[k] / 2)), (printed, arm.moments[k])):
                J = np.diag([j, j, 0.0])
                total[i] += np.trace(X @ M @ X.T) + np.trace(J @ X @ J @ X.T)
    diagonal = np.diag(torsor.mass_matrix(arm.robot, q))
    assert_close(diagonal, true)
    assert_differs(printed, diagonal)


def test_what_of_the_diagonal_depends_on_the_configuration(rng):
    """BSP93 §5: d_i = Σ_{k ≥ i} m_k |p_ik|² is g_ii less the moments of the links."""
    arm, q = by_hand.PlanarChain(rng.normal(scale=0.3, size=(4, 2))), rng.normal(size=4)
    d = [sum(arm.masses[k] * np.sum(arm.centre(q, i, k)[:2, 2] ** 2) for k in range(i, 4)) for i in range(4)]
    assert_close(np.diag(torsor.mass_matrix(arm.robot, q)) - np.cumsum(arm.moments[::-1])[::-1], d)


def test_balanced_mechanism_has_a_constant_mass_matrix(rng):
    """BSP93 §5, E000-13, E000-14: m_k p_kk = −(Σ_{j>k} m_j) d_k, with the minus, and d_k to *joint* k + 1."""
    m, d = by_hand.PlanarChain.masses, by_hand.PlanarChain.d
    beyond = np.array([m[k + 1 :].sum() for k in range(4)])
    balanced = -(beyond / m)[:, None] * d
    balanced[0] = rng.normal(size=2)  # no condition on the first link
    assert by_hand.PlanarChain(balanced).spread(rng) < 1e-13
    assert by_hand.PlanarChain(np.concatenate([balanced[:1], -balanced[1:]])).spread(rng) > 0.1
    to_centre = balanced.copy()
    to_centre[1] = -beyond[1] / m[1] * (d[1] + balanced[2])  # p_{k,k+1} read as the centre of mass of link k + 1
    assert by_hand.PlanarChain(to_centre).spread(rng) > 0.1


def test_centres_of_mass_of_a_balanced_mechanism(rng):
    """BSP93 §5, E000-13, E000-14, E000-15: the design by `planar_centres_of_mass`; both printed readings are not balanced."""
    m, d = by_hand.PlanarChain.masses, by_hand.PlanarChain.d[:-1]
    p = balancing.planar_centres_of_mass(m, d, first=rng.normal(size=2))
    assert_close(p[3], np.zeros(2))
    assert_close(m[2] * p[2], -m[3] * d[2])
    assert_close(m[1] * p[1], -(m[2] + m[3]) * d[1])
    assert balancing.is_balanced(by_hand.PlanarChain(p).robot)
    printed = np.concatenate([p[:1], -p[1:]])  # m_k p_kk = (Σ m_j) p_k,k+1, without the minus
    to_centre = p.copy()
    to_centre[1] = -(m[2] + m[3]) / m[1] * (d[1] + p[2])  # p_k,k+1 read as the centre of mass of link k + 1
    for wrong in (printed, to_centre):
        assert_differs(wrong, p)
        assert not balancing.is_balanced(by_hand.PlanarChain(wrong).robot)


def test_counterweights_satisfy_the_condition(rng):
    """BSP93 §5, E000-13: with counterweights as part of the links, m_k p_kk + (Σ_{j>k} m_j) d_k = 0 for k ≥ 2."""
    arm = by_hand.PlanarChain(rng.normal(scale=0.3, size=(4, 2)))
    found = balancing.planar_counterweights(arm.robot, masses=0.8)
    m = found.robot.parameters.inertias[:, 0]
    first_moments = found.robot.parameters.inertias[:, 1:3]
    for k in (1, 2, 3):
        assert_close(first_moments[k] + m[k + 1 :].sum() * arm.d[k], np.zeros(2))
    assert not found.before
    assert found.after
    q = rng.normal(size=(2, 4))
    assert_close(torsor.mass_matrix(found.robot, q[0]), torsor.mass_matrix(found.robot, q[1]))


def test_constant_diagonal_is_necessary_and_sufficient(rng):
    """BSP93 §5: a planar mass matrix with constant diagonal is constant; one centre of mass off its place moves both."""
    m, d = by_hand.PlanarChain.masses, by_hand.PlanarChain.d[:-1]
    p = balancing.planar_centres_of_mass(m, d)
    for k in range(4):
        moved = p + 0.05 * np.eye(4)[:, [k]]
        robot = by_hand.PlanarChain(moved).robot
        dM = np.moveaxis(torsor.geometry.mass_matrix_derivative(robot, rng.normal(size=(20, 4))), -1, -3)
        diagonal = np.abs(np.einsum("ckii->cki", dM)).max()
        assert (diagonal > 1e-3) == (np.abs(dM).max() > 1e-3) == (k > 0) == (not balancing.is_balanced(robot))


def test_dynamics_of_a_balanced_mechanism_take_a_simple_form(rng):
    """BSP93 §5: M q̈ = 0 without forces: no Coriolis forces, for planar and for spatial examples "readily constructed"."""
    for robot in (balancing.balanced_planar_chain(4), balancing.balanced_spatial_chain(4)):
        q, v = rng.normal(size=(2, 4))
        M = torsor.mass_matrix(robot, q)
        assert_close(torsor.dynamics.coriolis_forces(robot, q, v) / np.abs(M).max(), np.zeros(4))
