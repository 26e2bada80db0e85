"""Park, Bobrow & Ploen, A Lie group formulation of robot dynamics (1995): §4, the Lagrangian formulation.

Joints and links count from 1 in the operator Ad_j^i, as there.
"""

import by_hand
import numpy as np
import pytest
from by_hand import DIFFERENCED, Ad, assert_close, assert_differs, bracket, hat, pose, product, skew, vee
from scipy.linalg import block_diag

import torsor
from torsor.papers import closed_form, rodriguez_form

inv = np.linalg.inv


def between(chain, x, i, j):
    """Ad_j^i by definition (37), as a 6×6 matrix."""
    return Ad(inv(chain.between(x, i - 1, j - 1)))


def forms(chain):
    """⟨·,·⟩_i: the 6×6 inertia of each link at home, about the inertial frame, as a sum over its particles."""
    return [body.moved(home).matrix for body, home in zip(chain.bodies, chain.homes, strict=True)]


@pytest.fixture
def form(chain, state):
    """The factors that the library gives."""
    return closed_form(chain.robot, state.q)


@pytest.fixture
def ahead(chain, state):
    """Ad_k^{i+1}(A_i) at [k − 1, i − 1], zero for i > k."""
    columns = np.zeros((chain.n, chain.n, 6))
    for k in range(chain.n):
        for i in range(k + 1):
            columns[k, i] = between(chain, state.q, i + 2, k + 1) @ chain.screws[i]
    return columns


def test_29_equations_of_motion(chain, state):
    """PBP95 (29): τ_k = Σ m_kj ẍ_j + Σ Γ_ijk ẋ_i ẋ_j + φ_k, Γ and φ by differentiating inertia and potential."""
    x, x_dot, x_ddot = state
    dm = by_hand.gradient(lambda x: torsor.mass_matrix(chain.robot, x), x)  # [i, j, k] = ∂m_ij/∂x_k
    gamma = 0.5 * (np.einsum("kji->ijk", dm) + np.einsum("kij->ijk", dm) - dm)
    phi = by_hand.gradient(lambda x: torsor.potential_energy(chain.robot, x), x)
    tau = torsor.mass_matrix(chain.robot, x) @ x_ddot + np.einsum("ijk,i,j->k", gamma, x_dot, x_dot) + phi
    assert_close(torsor.inverse_dynamics(chain.robot, *state), tau, DIFFERENCED)


def test_30_31_pose_of_a_centre_of_mass(chain, state):
    """PBP95 (30), (31), E001-14: f_i = e^{A_1 x_1} ⋯ e^{A_i x_i} M_i, M_i the centre-of-mass frame at home."""
    for i, body in enumerate(chain.bodies):
        robot = chain.robot.with_frame("centre", chain.links[i], pose(p=body.com))
        M = chain.homes[i] @ pose(p=body.com)
        assert_close(torsor.frame_pose(robot, state.q, "centre"), chain.between(state.q, 0, i) @ M)


def test_32_kinetic_energy(chain, state):
    """PBP95 (32), E001-4: T = ½ Σ m_ij ẋ_i ẋ_j; the ½ is missing in print."""
    x, x_dot, _ = state
    energy = torsor.kinetic_energy(chain.robot, x, x_dot)
    assert_close(energy, 0.5 * x_dot @ chain.mass_matrix(x) @ x_dot)
    assert_differs(x_dot @ chain.mass_matrix(x) @ x_dot, energy)


def test_33_34_38_velocity_of_a_centre_of_mass(chain, state, ahead):
    """PBP95 (33), (34), (38), E001-5: f_i⁻¹ḟ_i = Ad(M_i⁻¹)(ω_i, v_i), = Σ Ad_i^{j+1}(A_j) ẋ_j, with the ẋ_j."""
    x, x_dot, _ = state
    for i, body in enumerate(chain.bodies):
        robot = chain.robot.with_frame("centre", chain.links[i], pose(p=body.com))
        V = torsor.kinematics.body_twist(robot, x, x_dot, "centre")
        M = chain.homes[i] @ pose(p=body.com)
        Theta, b = M[:3, :3], M[:3, 3]
        printed_34 = np.block([[Theta.T, np.zeros((3, 3))], [-skew(Theta.T @ b) @ Theta.T, Theta.T]])
        assert_close(printed_34, Ad(inv(M)))
        assert_close(V, printed_34 @ (ahead[i].T @ x_dot))
        assert_differs(printed_34 @ ahead[i].sum(axis=0), V)


def test_38_velocities_of_all_links(form, state, ahead):
    """PBP95 (38), E001-5: all (ω_i, v_i) = Σ Ad_i^{j+1}(A_j) ẋ_j at once are L A ẋ."""
    assert_close(form.pullback_jacobian @ state.v, np.concatenate([columns.T @ state.v for columns in ahead]))


def test_35_36_44_inertia_about_the_inertial_frame(chain):
    """PBP95 (35), (36), (44): (I, m[b]; m[b]ᵀ, m 1) with I = Θ Ī Θᵀ − m[b]²."""
    for body, home, expected in zip(chain.bodies, chain.homes, forms(chain), strict=True):
        M = home @ pose(p=body.com)
        m, b, Theta = body.mass, skew(M[:3, 3]), M[:3, :3]
        I = Theta @ body.rotational @ Theta.T - m * b @ b
        assert_close(I, body.moved(home).about(np.zeros(3)))
        assert_close(np.block([[I, m * b], [m * b.T, m * np.eye(3)]]), expected)
        assert_close(body.inertia.moved(home).matrix, expected)


def test_37_42_adjoint_operator(chain, state):
    """PBP95 (37), (42): Ad_j^i, the identity for i > j, so that Ad_j^{j+1}(A_j) = A_j."""
    for i, j in np.ndindex(chain.n, chain.n):
        operator = torsor.papers.adjoint_between(chain.screws, state.q, i + 1, j + 1)
        assert_close(operator, between(chain, state.q, i + 1, j + 1))
        if i > j:
            assert_close(operator, np.eye(6))
    for i, j in ((chain.n + 1, chain.n), (1, 0)):
        assert_close(torsor.papers.adjoint_between(chain.screws, state.q, i, j), np.eye(6))


def test_37_53_54_indices_count_from_one(chain, state):
    """PBP95 §4: there is no A_0, and none beyond A_n."""
    screws, q, n, B = chain.screws, state.q, chain.n, np.ones(6)
    for i, j, wrong in (
        (0, 2, "`i` .* from 1 to"),
        (1, n + 1, "`j` .* from 0 to"),
        (-1, 1, "got -1"),
        (1.5, 2, "got 1.5"),
    ):
        with pytest.raises(torsor.TorsorError, match=f"adjoint_between: .*{wrong}|{wrong}"):
            torsor.papers.adjoint_between(screws, q, i, j)
        with pytest.raises(torsor.TorsorError, match=wrong):
            torsor.papers.adjoint_between_derivative(screws, q, i, j, 1, B)
        with pytest.raises(torsor.TorsorError, match=wrong):
            torsor.papers.adjoint_between_second_derivative(screws, q, i, j, 1, 1, B)
    with pytest.raises(torsor.TorsorError, match=f"`k` .* from 1 to {n} for {n} screws, .*got 0"):
        torsor.papers.adjoint_between_derivative(screws, q, 1, n, 0, B)
    with pytest.raises(torsor.TorsorError, match=f"`l` .* got {n + 1}"):
        torsor.papers.adjoint_between_second_derivative(screws, q, 1, n, 1, n + 1, B)


def test_39_kinetic_energy_of_a_link(chain, state):
    """PBP95 (39), E001-4: T_i = ½ ⟨Σ Ad_i^{j+1}(A_j ẋ_j), Σ Ad_i^{j+1}(A_j ẋ_j)⟩_i."""
    x, x_dot, _ = state
    T_dot = np.einsum("ikab,k->iab", chain.rates(x)[0], x_dot)
    for i, (body, D) in enumerate(zip(chain.bodies, forms(chain), strict=True)):
        parts = [
            torsor.papers.adjoint_between(chain.screws, x, j + 2, i + 1) @ chain.screws[j] * x_dot[j]
            for j in range(i + 1)
        ]
        assert_close(0.5 * sum(parts) @ D @ sum(parts), 0.5 * body.pairing(T_dot[i], T_dot[i]))


def test_40_mass_matrix_as_a_sum(chain, state, ahead):
    """PBP95 (40): m_ij = Σ_{k ≥ j} ⟨Ad_k^{i+1}(A_i), Ad_k^{j+1}(A_j)⟩_k."""
    m = sum(columns @ D @ columns.T for columns, D in zip(ahead, forms(chain), strict=True))
    assert_close(torsor.mass_matrix(chain.robot, state.q), m)


def test_41_screws_of_the_joints(form, chain):
    """PBP95 (41): A = Diag[A_1, …, A_n], constant, in the inertial frame."""
    assert_close(form.space_screws, block_diag(*chain.screws[:, :, None]))
    assert_close(
        form.space_screws, block_diag(*torsor.kinematics.link_form(chain.robot, "tip").to_space().screws[:, :, None])
    )


def test_42_43_propagation(form, chain, state):
    """PBP95 (42), (43): block (i, j) of L is (Ad_i^{j+1}) for j < i, 1 for j = i, 0 for j > i."""
    n, x = chain.n, state.q
    blocks = [[between(chain, x, j + 2, i + 1) if j <= i else np.zeros((6, 6)) for j in range(n)] for i in range(n)]
    assert_close(form.space_propagation, np.block(blocks))
    for i in range(n):
        for j in range(i + 1):
            block = form.space_propagation[6 * i : 6 * i + 6, 6 * j : 6 * j + 6]
            assert_close(block, torsor.papers.adjoint_between(chain.screws, x, j + 2, i + 1))


def test_44_45_inertia_of_the_links(form, chain):
    """PBP95 (44), (45): D = Diag[D_1, …, D_n], constant, each about the inertial frame at home."""
    assert_close(form.space_inertia, block_diag(*forms(chain)))


def test_46_factorisation_of_the_mass_matrix(form, chain, state):
    """PBP95 (46): M = AᵀLᵀDLA; A and D are the same at every x."""
    A, L, D = form.space_screws, form.space_propagation, form.space_inertia
    assert_close(A.T @ L.T @ D @ L @ A, chain.mass_matrix(state.q))
    assert_close(form.mass_matrix, chain.mass_matrix(state.q))
    assert_close(torsor.mass_matrix(chain.robot, state.q), chain.mass_matrix(state.q))
    elsewhere = closed_form(chain.robot, -2.0 * state.q)
    assert_close(elsewhere.space_screws, A, 0.0)
    assert_close(elsewhere.space_inertia, D, 0.0)
    assert_differs(elsewhere.space_propagation, L)


def test_47_screws_in_link_frames(form, chain):
    """PBP95 (47): S = Diag[S_1, …, S_n], each in its link's frame."""
    assert_close(form.link_screws, block_diag(*chain.link_screws[:, :, None]))
    assert_close(torsor.kinematics.link_form(chain.robot, "tip").screws, chain.link_screws)


def test_48_inertia_in_link_frames(form, chain):
    """PBP95 (48): J = Diag[J_1, …, J_n], each about its link's frame."""
    assert_close(form.link_inertia, block_diag(*(body.matrix for body in chain.bodies)))


def test_49_propagation_between_link_frames(form, chain, state):
    """PBP95 (49): block (i, j) of G is Ad of f_{j,i}⁻¹ for j < i, 1 for j = i, 0 for j > i."""
    n, T = chain.n, chain.poses(state.q)
    blocks = [[Ad(inv(T[i]) @ T[j]) if j <= i else np.zeros((6, 6)) for j in range(n)] for i in range(n)]
    assert_close(form.link_propagation, np.block(blocks))


def test_50_from_link_frames_to_the_inertial_frame(form, chain):
    """PBP95 (50), E001-6: A = QS, L = QGQ⁻¹, D = Q⁻ᵀJQ⁻¹ with Q of homes in the *inertial* frame, not of the steps."""
    Q = form.home_adjoints
    assert_close(Q, block_diag(*(Ad(home) for home in chain.homes)))
    assert_close(Q @ form.link_screws, form.space_screws)
    assert_close(Q @ form.link_propagation @ inv(Q), form.space_propagation)
    assert_close(inv(Q).T @ form.link_inertia @ inv(Q), form.space_inertia)
    steps = torsor.kinematics.link_form(chain.robot, "tip").steps
    assert_differs(block_diag(*(Ad(step) for step in steps)) @ form.link_screws, form.space_screws)


def test_51_factorisation_in_link_frames(form, chain, state):
    """PBP95 (51): M = SᵀGᵀJGS."""
    S, G, J = form.link_screws, form.link_propagation, form.link_inertia
    assert_close(S.T @ G.T @ J @ G @ S, chain.mass_matrix(state.q))


def test_52_christoffel_symbols(chain, state):
    """PBP95 (52): Γ_ijk = ½ (∂m_kj/∂x_i + ∂m_ki/∂x_j − ∂m_ij/∂x_k): Cᵀ at unit velocity i."""
    dm = by_hand.gradient(chain.mass_matrix, state.q)
    gamma = 0.5 * (np.einsum("kji->ijk", dm) + np.einsum("kij->ijk", dm) - dm)
    units = np.eye(chain.n)
    actual = np.array([torsor.coriolis_matrix(chain.robot, state.q, unit).T for unit in units])
    assert_close(actual, gamma, DIFFERENCED)
    assert_close(actual, np.swapaxes(actual, 0, 1))
    assert_close(torsor.geometry.christoffel_symbols(chain.robot, state.q), actual)
    assert_close(torsor.geometry.mass_matrix_derivative(chain.robot, state.q), dm, DIFFERENCED)


def test_40_53_54_derivatives_of_the_mass_matrix(chain, state, ahead):
    """PBP95 (40) differentiated by (53) and (54): ∂m_ij/∂x_k and ∂²m_ij/∂x_l ∂x_k as sums over the links."""
    x, n, D = state.q, chain.n, forms(chain)
    joints = range(n)

    def moved(k, i, *by):
        """Derivative of Ad_k^{i+1}(A_i) by up to two joints."""
        if i > k:
            return np.zeros(6)
        if not by:
            return ahead[k, i]
        derivatives = {1: torsor.papers.adjoint_between_derivative, 2: torsor.papers.adjoint_between_second_derivative}
        return derivatives[len(by)](chain.screws, x, i + 2, k + 1, *(b + 1 for b in by), chain.screws[i])

    once = {(k, i, b): moved(k, i, b) for k in joints for i in joints for b in joints}
    dm, ddm = np.zeros((n, n, n)), np.zeros((n, n, n, n))
    for k, i, j, b in np.ndindex(n, n, n, n):
        dm[b, i, j] += once[k, i, b] @ D[k] @ ahead[k, j] + ahead[k, i] @ D[k] @ once[k, j, b]
        for c in joints:
            ddm[c, b, i, j] += moved(k, i, b, c) @ D[k] @ ahead[k, j] + ahead[k, i] @ D[k] @ moved(k, j, b, c)
            ddm[c, b, i, j] += once[k, i, b] @ D[k] @ once[k, j, c] + once[k, i, c] @ D[k] @ once[k, j, b]
    assert_close(np.moveaxis(torsor.geometry.mass_matrix_derivative(chain.robot, x), -1, -3), dm)
    assert_close(np.moveaxis(torsor.geometry.mass_matrix_second_derivative(chain.robot, x), (-1, -2), (-4, -3)), ddm)
    gamma = 0.5 * (np.einsum("lijk->lijk", ddm) + np.einsum("ljik->lijk", ddm) - np.einsum("lkij->lijk", ddm))
    assert_close(np.moveaxis(torsor.geometry.christoffel_symbols_derivative(chain.robot, x), -1, -4), gamma)


def moved_rates(chain, x, i, j, B):
    """First and second derivatives of Ad_j^i(B) by x_i … x_j, by the product rule on both sides of B."""
    S, x, B = chain.screws[i - 1 : j], x[i - 1 : j], hat(B)
    right = product(by_hand.motion(A, t) for A, t in zip(S, x, strict=True))
    d_right, dd_right = by_hand.product_rates(S, x)
    d_left, dd_left = by_hand.product_rates(-S[::-1], x[::-1])
    left, d_left, dd_left = inv(right), d_left[::-1], dd_left[::-1, ::-1]
    first = d_left @ B @ right + left @ B @ d_right
    mixed = d_left[:, None] @ B @ d_right[None, :]
    second = dd_left @ B @ right + mixed + np.swapaxes(mixed, 0, 1) + left @ B @ dd_right
    return first, second


def test_53_derivative_of_the_operator(chain, state, rng):
    """PBP95 (53): ∂/∂x_k Ad_j^i(B) = Ad_j^k([Ad_{k−1}^i(B), A_k]) for i ≤ k ≤ j, else 0."""
    B, i, j = rng.normal(size=6), 2, chain.n - 1
    first, _ = moved_rates(chain, state.q, i, j, B)
    for k in range(1, chain.n + 1):
        expected = vee(first[k - i]) if i <= k <= j else np.zeros(6)
        assert_close(torsor.papers.adjoint_between_derivative(chain.screws, state.q, i, j, k, B), expected)


def test_53_derivative_of_the_propagation(chain, state):
    """PBP95 (53): the columns of ∂L/∂x_k are the brackets of the proposition."""
    dL = by_hand.gradient(lambda x: closed_form(chain.robot, x).space_propagation, state.q)
    i, j = chain.n - 1, 0  # the block with every joint but the first in it
    for k, unit in np.ndindex(chain.n, 6):
        B = np.eye(6)[unit]
        column = torsor.papers.adjoint_between_derivative(chain.screws, state.q, j + 2, i + 1, k + 1, B)
        assert_close(dL[6 * i : 6 * i + 6, 6 * j + unit, k], column, DIFFERENCED)


def test_54_second_derivative_of_the_operator(chain, state, rng):
    """PBP95 (54), E001-7: the smaller index goes inside; the printed conditions are exchanged."""
    B, i, j, x = rng.normal(size=6), 1, chain.n, state.q
    _, second = moved_rates(chain, x, i, j, B)
    for k, l in np.ndindex(chain.n, chain.n):
        actual = torsor.papers.adjoint_between_second_derivative(chain.screws, x, i, j, k + 1, l + 1, B)
        assert_close(actual, vee(second[k, l]))
    outside = torsor.papers.adjoint_between_second_derivative(chain.screws, x, 2, j, 1, 2, B)
    assert_close(outside, np.zeros(6))
    k, l = 3, 1  # i ≤ l ≤ k ≤ j, where the paper prints its first line
    inner = bracket(between(chain, x, i, k - 1) @ B, chain.screws[k - 1])
    printed = between(chain, x, l, j) @ bracket(between(chain, x, k, l - 1) @ inner, chain.screws[l - 1])
    assert_differs(printed, vee(second[k - 1, l - 1]))


def test_55_56_57_christoffel_symbols_by_brackets(chain, state):
    """PBP95 (55)–(57): Γ_ijk in the cases k ≤ i ≤ j, i < k ≤ j and i ≤ j < k, against the Coriolis matrix."""
    n, x, D = chain.n, state.q, forms(chain)
    op = {(i, j): between(chain, x, i, j) for i in range(1, n + 2) for j in range(n + 1)}
    A = [None, *chain.screws]

    def term(l, inner, outer, other):
        """⟨Ad_l^o([Ad_{o−1}^{i+1}(A_i), A_o]), Ad_l^{m+1}(A_m)⟩_l for inner i, outer o and other m."""
        twisted = op[outer, l] @ bracket(op[inner + 1, outer - 1] @ A[inner], A[outer])
        return twisted @ D[l - 1] @ op[other + 1, l] @ A[other]

    def gamma(i, j, k):
        if k <= i:
            return 0.5 * sum(term(l, k, i, j) + term(l, k, j, i) + term(l, i, j, k) for l in range(j, n + 1))
        if k <= j:
            return 0.5 * sum(term(l, k, j, i) + term(l, i, j, k) - term(l, i, k, j) for l in range(j, n + 1))
        return 0.5 * sum(term(l, i, j, k) - term(l, i, k, j) - term(l, j, k, i) for l in range(k, n + 1))

    joints = range(1, n + 1)
    expected = [[[gamma(min(i, j), max(i, j), k) for k in joints] for j in joints] for i in joints]
    assert_close(torsor.papers.christoffel_symbols_by_brackets(chain.robot, x), expected)
    assert_close(torsor.geometry.christoffel_symbols(chain.robot, x), expected)
    for i in joints:
        assert_close(torsor.coriolis_matrix(chain.robot, x, np.eye(n)[i - 1]).T, expected[i - 1])


def test_58_potential_energy(chain, state):
    """PBP95 (58), E001-8: U = −Σ m_i g·p_i with g the acceleration of gravity; printed without the minus."""
    printed = sum(b.mass * chain.gravity @ c for b, c in zip(chain.bodies, chain.centres(state.q), strict=True))
    energy = torsor.potential_energy(chain.robot, state.q)
    assert_close(energy, -printed)
    assert_differs(printed, energy)


def test_59_gravity_forces(form, chain, state, ahead):
    """PBP95 (59), E001-8: φ_k = −Σ_{i ≥ k} ⟨m_i g, f_i M_i⁻¹ Ad_i^{k+1}(A_k) M_i r⟩ printed without the minus."""
    phi, g = np.zeros(chain.n), np.append(chain.gravity, 0.0)
    for i, body in enumerate(chain.bodies):
        M, f = chain.homes[i] @ pose(p=body.com), chain.between(state.q, 0, i)  # f_i M_i⁻¹
        phi -= [body.mass * g @ f @ hat(column) @ M[:, 3] for column in ahead[i]]
    forces = torsor.gravity_forces(chain.robot, state.q)
    assert_close(forces, phi)
    assert_close(form.gravity_forces, phi)
    assert_close(forces, by_hand.gradient(chain.potential_energy, state.q), DIFFERENCED)
    assert_differs(-phi, forces)


def test_60_to_64_general_2r_manipulator(rng):
    """PBP95 (60)–(64), E001-9: c11 = u ẋ2, c12 = u ẋ1 + w ẋ2, c21 = −u ẋ1, c22 = 0; printed with more ẋ and a +."""
    arm = by_hand.random_chain("RR", seed=2)
    x, (v1, v2) = rng.normal(size=(2, 2))
    D1, D2 = forms(arm)
    A1, A2 = arm.screws
    ahead, both = between(arm, x, 2, 2) @ A1, between(arm, x, 2, 2) @ bracket(A1, A2)
    M = [[A1 @ D1 @ A1 + ahead @ D2 @ ahead, ahead @ D2 @ A2], [ahead @ D2 @ A2, A2 @ D2 @ A2]]
    assert_close(torsor.mass_matrix(arm.robot, x), M)
    assert_close(closed_form(arm.robot, x).mass_matrix, M)
    u, w = both @ D2 @ ahead, both @ D2 @ A2
    C = torsor.coriolis_matrix(arm.robot, x, [v1, v2])
    assert_close(C, [[u * v2, u * v1 + w * v2], [-u * v1, 0.0]])
    assert_close(closed_form(arm.robot, x).coriolis_forces([v1, v2]), C @ [v1, v2])
    printed = np.array([[u * v1 * v2, u * v1 * v2 + w * v2**2], [u * v1**2, 0.0]])
    assert_differs(printed, C)
    assert_differs(printed.sum(axis=1), C @ [v1, v2])  # nor are they the torques


def test_65_inertia_matrix_as_a_pullback(form, chain, state):
    """PBP95 (65), E001-12: f*g = JᵀGJ, J of the map f to all links at once, G the direct sum of their metrics; J = L A."""
    J = np.vstack([torsor.body_jacobian(chain.robot, state.q, link) for link in chain.links])
    G = block_diag(*(body.matrix for body in chain.bodies))
    assert_close(form.link_jacobian, J)
    assert_close(torsor.mass_matrix(chain.robot, state.q), J.T @ G @ J)
    # The same map with each link's frame where the inertial frame is at home: T_i M_i⁻¹ = e^{A_1 x_1} ⋯ e^{A_i x_i}.
    dT, T = chain.rates(state.q)[0], chain.poses(state.q)
    rows = [
        np.transpose([vee(home @ inv(T[i]) @ rate @ inv(home)) for rate in dT[i]]) for i, home in enumerate(chain.homes)
    ]
    J, D = form.pullback_jacobian, form.space_inertia
    assert_close(J, np.vstack(rows))
    assert_close(J, form.space_propagation @ form.space_screws)
    assert_close(J.T @ D @ J, chain.mass_matrix(state.q))


def test_4_1_the_factorisation_of_rodriguez(chain, state):
    """PBP95 §4.1: L_ij = (1, 0; [p_ij], 1), p_ij from the origin of link frame i to that of link frame j; the same M."""
    form, T = rodriguez_form(chain.robot, state.q), chain.poses(state.q)
    n = chain.n
    for i in range(n):
        for j in range(n):
            p_ij = T[j][:3, 3] - T[i][:3, 3]
            expected = (
                np.block([[np.eye(3), np.zeros((3, 3))], [skew(p_ij), np.eye(3)]]) if j <= i else np.zeros((6, 6))
            )
            assert_close(form.propagation[6 * i : 6 * i + 6, 6 * j : 6 * j + 6], expected)
    V, _ = chain.link_motion(*state)
    twists = (form.propagation @ form.screws @ state.v).reshape(n, 6)
    for i in range(n):
        assert_close(twists[i], np.concatenate([T[i][:3, :3] @ V[i][:3], T[i][:3, :3] @ V[i][3:]]))
    assert_close(form.mass_matrix, chain.mass_matrix(state.q))
    both = rodriguez_form(chain.robot, np.stack([state.q, 0.0 * state.q]))
    assert_close(both.mass_matrix, torsor.mass_matrix(chain.robot, np.stack([state.q, 0.0 * state.q])))
