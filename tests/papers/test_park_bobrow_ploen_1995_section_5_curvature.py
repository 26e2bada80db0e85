"""Park, Bobrow & Ploen, A Lie group formulation of robot dynamics (1995): §5, curvature of the inertia matrix."""

import by_hand
import numpy as np
import pytest
from by_hand import DIFFERENCED, assert_close, assert_differs

import torsor


@pytest.fixture
def tensor(chain, state):
    """(66) term by term, from the particles' Christoffel symbols and their differences."""
    x, M = state.q, chain.mass_matrix(state.q)
    G = chain.christoffel(x)
    dG = np.moveaxis(by_hand.gradient(chain.christoffel, x), -1, 0)  # [l, i, j, k] = ∂Γ_ijk/∂x_l
    raised = np.einsum("ijh,hk->ijk", G, np.linalg.inv(M))
    R = np.einsum("kjli->ijkl", dG) - np.einsum("ljki->ijkl", dG)
    return R + np.einsum("ilr,jkr->ijkl", G, raised) - np.einsum("ikr,jlr->ijkl", G, raised)


def test_66_curvature_tensor(chain, state, tensor):
    """PBP95 (66): R_ijkl from Γ, its derivatives and the inverse inertia matrix."""
    assert_close(torsor.geometry.riemann_curvature(chain.robot, state.q), tensor, DIFFERENCED)


def test_66_raised_symbols(chain, state):
    """PBP95, below (66): Γ^k_ij = Σ m^kh Γ_ijh."""
    raised = np.einsum("ijh,hk->ijk", chain.christoffel(state.q), np.linalg.inv(chain.mass_matrix(state.q)))
    assert_close(torsor.geometry.christoffel_symbols_second_kind(chain.robot, state.q), raised, 1e-11)  # cond(M) < 1e2


def test_66_contractions(chain, state, tensor):
    """What (66) leads to: Ricci m^ik R_ijkl, scalar m^jl Ric_jl, √(R_ijkl R^ijkl), and the curvature of a plane."""
    q, u, w = state
    inverse, M = np.linalg.inv(chain.mass_matrix(q)), chain.mass_matrix(q)
    ricci = np.einsum("ik,ijkl->jl", inverse, tensor)
    raised = np.einsum("ijkl,ia,jb,kc,ld->abcd", tensor, inverse, inverse, inverse, inverse, optimize=True)
    assert_close(torsor.geometry.ricci_curvature(chain.robot, q), ricci, 1e-8)  # differenced, and cond(M) up to 1e2
    assert_close(torsor.geometry.scalar_curvature(chain.robot, q), np.einsum("jl,jl->", inverse, ricci), 1e-8)
    assert_close(torsor.geometry.curvature_norm(chain.robot, q), np.sqrt(np.sum(tensor * raised)), 1e-8)
    area = (u @ M @ u) * (w @ M @ w) - (u @ M @ w) ** 2
    K = np.einsum("ijkl,i,j,k,l->", tensor, u, w, u, w) / area
    assert_close(torsor.geometry.sectional_curvature(chain.robot, q, u, w), K, 1e-8)


def test_66_is_positive_on_a_sphere():
    """The sign of (66): two crossed axes that carry a particle at r move it on a sphere, R_1212 = + det(m) / (m r²)."""
    m, r = 2.0, 0.7
    axes = [[0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]]
    links = [torsor.Inertia.zero(), torsor.Inertia.point(m, (r, 0.0, 0.0))]
    robot = torsor.serial_chain(axes, [np.eye(4), np.eye(4)], links)
    q = np.array([0.4, 0.3])
    det = np.linalg.det(torsor.mass_matrix(robot, q))
    assert_close(torsor.geometry.riemann_curvature(robot, q)[0, 1, 0, 1], det / (m * r**2))
    assert_close(torsor.geometry.sectional_curvature(robot, q, [1.0, 0.0], [0.0, 1.0]), 1 / (m * r**2))


def test_66_vanishing_curvature_gives_simple_coordinates(chain, state):
    """PBP95 §5, after Spong: with vanishing curvature coordinates exist in which the equations are simple; here there is some."""
    assert not torsor.motion.is_flat(chain.robot)
    assert_differs(torsor.geometry.riemann_curvature(chain.robot, state.q), np.zeros((chain.n,) * 4))
    assert torsor.motion.is_flat(torsor.robots.cart_pole())
