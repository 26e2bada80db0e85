"""Per-link parts: what each link contributes to energies and Christoffel symbols."""

import numpy as np
import pytest
from by_hand import assert_close, assert_differs

import torsor
from torsor.papers import (
    christoffel_symbols_by_brackets,
    link_christoffel_symbols,
    link_kinetic_energies,
    link_potential_energies,
)


def test_energies_of_the_links(chain, state):
    """LP §9.1, BSP93 §4 (T_i): of each link's particles; they add up to those of the robot."""
    q, v, _ = state
    T_dot = np.einsum("ikab,k->iab", chain.rates(q)[0], v)
    kinetic = [0.5 * body.pairing(X, X) for body, X in zip(chain.bodies, T_dot, strict=True)]
    potential = [-b.mass * chain.gravity @ c for b, c in zip(chain.bodies, chain.centres(q), strict=True)]
    assert_close(link_kinetic_energies(chain.robot, q, v), kinetic)
    assert_close(link_potential_energies(chain.robot, q), potential)
    assert_close(link_kinetic_energies(chain.robot, q, v).sum(), torsor.kinetic_energy(chain.robot, q, v))
    assert_close(link_potential_energies(chain.robot, q).sum(), torsor.potential_energy(chain.robot, q))


def test_christoffel_symbols_of_the_links(chain, state):
    """BSP93 Proposition, E000-9: Γ_ijk = Σ_p γ^p_ijk over p ≥ max(i, j, k), symmetric in i and j."""
    gamma = link_christoffel_symbols(chain.robot, state.q)
    dT, ddT = chain.rates(state.q)
    for p, body in enumerate(chain.bodies):
        assert_close(gamma[p], np.einsum("ijab,bc,kac->ijk", ddT[p], body.moments, dT[p]))
        assert not gamma[p, p + 1 :].any() and not gamma[p, :, :, p + 1 :].any()
    assert_close(gamma, np.swapaxes(gamma, 1, 2))
    assert_close(gamma.sum(axis=0), chain.christoffel(state.q))
    assert_differs(gamma[:-1].sum(axis=0), chain.christoffel(state.q))


@pytest.mark.parametrize("batch", [(), (3,), (0,), (2, 3)])
def test_trees_of_all_joints_in_batches(batch):
    robot = torsor.robots.random_tree(5, seed=4)
    q, v, _ = torsor.random_state(robot, seed=1, batch=batch)
    kinetic, potential = link_kinetic_energies(robot, q, v), link_potential_energies(robot, q)
    assert kinetic.shape == potential.shape == (*batch, robot.n)
    bare = robot.with_parameters(armature=np.zeros(robot.nv), stiffness=np.zeros(robot.nv))
    assert_close(kinetic.sum(axis=-1), torsor.kinetic_energy(bare, q, v))
    assert_close(potential.sum(axis=-1), torsor.potential_energy(bare, q))
    gamma = link_christoffel_symbols(robot, q)
    assert gamma.shape == (*batch, robot.n, *(robot.nv,) * 3)
    assert_close(gamma.sum(axis=-4), christoffel_symbols_by_brackets(bare, q))
