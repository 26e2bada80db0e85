"""Altafini, Redundant robotic chains on Riemannian submersions (2004): equations (2) to (5)."""

import by_hand
import numpy as np
import pytest
from by_hand import DIFFERENCED, Ad, assert_close, assert_differs, motion, product, vee

import torsor

inv = np.linalg.inv


@pytest.fixture
def end_screws(chain):
    """V_i: all generators in the end-effector frame at home."""
    return np.array([Ad(inv(chain.tip)) @ A for A in chain.screws])


def test_1_2_forward_kinematics(chain, state, end_screws):
    """Alt04 (1), (2): g(q) = g(0) e^{V_1 q¹} ⋯ e^{V_n qⁿ}."""
    g = chain.tip @ product(motion(V, x) for V, x in zip(end_screws, state.q, strict=True))
    assert_close(torsor.BodyForm(end_screws, chain.tip).pose(state.q), g)
    assert_close(torsor.frame_pose(chain.robot, state.q, "tip"), g)
    assert_close(torsor.link_form(chain.robot, "tip").to_space().to_body().screws, end_screws)


def test_3_differential_forward_kinematics(chain, state):
    """Alt04 (3): X = J^b(q) q̇ is g⁻¹ ġ, and column i of J^b is g⁻¹ ∂g/∂q^i."""
    q, v, _ = state
    g = chain.between(q, 0, chain.n - 1) @ chain.tip
    rates, _ = by_hand.product_rates(chain.screws, q)
    columns = [vee(inv(g) @ rate @ chain.tip) for rate in rates]
    assert_close(torsor.body_jacobian(chain.robot, q, "tip"), np.transpose(columns))
    assert_close(torsor.body_twist(chain.robot, q, v, "tip"), np.transpose(columns) @ v)


def test_4_columns_of_the_jacobian(chain, state, end_screws):
    """Alt04 (4), E004-1: Ad⁻¹ of g(0) e^{V_i q} ⋯ e^{V_n q} on ξ_i = Ad_{g(0)} V_i; with ξ_i = V_i only if g(0) = 1."""
    J = torsor.body_jacobian(chain.robot, state.q, "tip")
    E = [motion(V, x) for V, x in zip(end_screws, state.q, strict=True)]
    for i, V in enumerate(end_screws):
        back = Ad(inv(chain.tip @ product(E[i:])))
        assert_close(J[:, i], back @ Ad(chain.tip) @ V)
        assert_close(J[:, i], Ad(inv(product(E[i + 1 :]))) @ V)
        assert_differs(back @ V, J[:, i])


def test_5_lagrange_equations(chain, state):
    """Alt04 (5), E004-2: M q̈ + C q̇ + dV = τ with C_ij = M_ki Γ^k_jl q̇^l; the printed ½ halves it."""
    q, v, a = state
    M = torsor.mass_matrix(chain.robot, q)
    dM = by_hand.gradient(lambda q: torsor.mass_matrix(chain.robot, q), q)  # [i, j, k] = ∂M_ij/∂q^k
    lowered = 0.5 * (dM + np.einsum("ilj->ijl", dM) - np.einsum("jli->ijl", dM))  # [i, j, l], lowered index first
    second_kind = np.einsum("km,mjl->kjl", inv(M), lowered)  # Γ^k_jl
    C = np.einsum("ki,kjl,l->ij", M, second_kind, v)
    assert_close(torsor.coriolis_matrix(chain.robot, q, v), C, DIFFERENCED)
    dV = by_hand.gradient(lambda q: torsor.potential_energy(chain.robot, q), q)
    tau = torsor.inverse_dynamics(chain.robot, q, v, a)
    assert_close(tau, M @ a + C @ v + dV, DIFFERENCED)
    assert_differs(M @ a + 0.5 * C @ v + dV, tau)
