"""Park, Bobrow & Ploen, A Lie group formulation of robot dynamics (1995): §5, minimum energy paths.

"Minimum energy paths, for example, have the objective function J(x) = ∫ Σ m_ij(x) ẋ_i ẋ_j dt, and solutions can be found much
more robustly and efficiently if the gradient of J(x) (which involves derivatives of m_ij(x)) is available."
"""

import by_hand
import numpy as np
import pytest
from by_hand import DIFFERENCED, assert_close
from scipy.optimize import minimize

from torsor.motion import minimum_energy_path, path_energy, path_energy_gradient

DURATION = 0.8


class Path:
    """x(t) = a + b t + c sin(3t), with its derivatives."""

    def __init__(self, n):
        self.a, self.b, self.c = np.random.default_rng(5).normal(scale=0.5, size=(3, n))

    def __call__(self, t):
        return self.a + self.b * t + self.c * np.sin(3 * t)

    def rate(self, t):
        return self.b + 3 * self.c * np.cos(3 * t)

    def second_rate(self, t):
        return -9 * self.c * np.sin(3 * t)

    def sampled(self, K):
        return np.array([self(t) for t in np.linspace(0.0, DURATION, K + 1)])


@pytest.fixture
def path(chain):
    return Path(chain.n)


def test_the_objective_function(chain, path):
    """PBP95 §5: J(x) = ∫ Σ m_ij(x) ẋ_i ẋ_j dt over all particles, by Gauss' rule, is what the sum comes to at O(h²)."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    times = 0.5 * DURATION * (1 + nodes)
    J = 0.5 * DURATION * weights @ [2 * chain.kinetic_energy(path(t), path.rate(t)) for t in times]
    errors = [path_energy(chain.robot, path.sampled(K), duration=DURATION) - J for K in (20, 40, 80)]
    assert abs(errors[0]) < 0.02 * J
    assert 3.8 < errors[0] / errors[1] < 4.2 and 3.95 < errors[1] / errors[2] < 4.05
    assert_close((4 * errors[2] - errors[1]) / 3, 0.0, 1e-5 * J)  # Richardson: what is left is of fourth order


def test_the_gradient_involves_derivatives_of_the_inertia(chain, path):
    """PBP95 §5: ∂J/∂x_k of the sum, from ∂m_ij/∂x_k by differencing the particles' mass matrix."""
    x, h = path.sampled(4), DURATION / 4
    expected = np.zeros_like(x)
    for k in range(4):
        step, middle = x[k + 1] - x[k], 0.5 * (x[k + 1] + x[k])
        push = 2 * chain.mass_matrix(middle) @ step / h
        bend = 0.5 * np.einsum("ijk,i,j->k", by_hand.gradient(chain.mass_matrix, middle), step, step) / h
        expected[k] += bend - push
        expected[k + 1] += bend + push
    assert_close(path_energy_gradient(chain.robot, x, duration=DURATION), expected, DIFFERENCED)


def test_the_gradient_is_the_equation_of_a_geodesic(chain, path):
    """δJ = −2 ∫ Σ (m_kj ẍ_j + Γ_ijk ẋ_i ẋ_j) δx_k dt: the gradient per unit of time, inside, at O(h²)."""
    t = 0.5 * DURATION
    x, x_dot, x_ddot = path(t), path.rate(t), path.second_rate(t)
    bending = np.einsum("ijk,i,j->k", chain.christoffel(x), x_dot, x_dot)
    expected = -2 * (chain.mass_matrix(x) @ x_ddot + bending)
    errors = []
    for K in (20, 40):
        density = path_energy_gradient(chain.robot, path.sampled(K), duration=DURATION)[K // 2] * K / DURATION
        errors.append(np.abs(density - expected).max())
    assert errors[0] < 0.05 * np.abs(expected).max()
    assert 3.7 < errors[0] / errors[1] < 4.3


@pytest.mark.compiled
def test_the_gradient_makes_it_more_efficient(path, chain):
    """The same quasi-Newton method with and without it, and Newton's method made of it."""
    ends, K = path.sampled(1), 6
    inside = np.linspace(*ends, K + 1)[1:-1]

    def whole(y):
        return np.concatenate([ends[:1], y.reshape(inside.shape), ends[1:]])

    def J(y):
        return path_energy(chain.robot, whole(y), duration=DURATION)

    def dJ(y):
        return path_energy_gradient(chain.robot, whole(y), duration=DURATION)[1:-1].ravel()

    without = minimize(J, inside.ravel(), method="L-BFGS-B")
    with_it = minimize(J, inside.ravel(), jac=dJ, method="L-BFGS-B")
    assert without.nfev > 10 * with_it.nfev
    best = minimum_energy_path(chain.robot, *ends, duration=DURATION, samples=K + 1, within_limits=False)
    assert best.energy <= min(with_it.fun, without.fun) * (1 + 1e-9)
    assert best.converged and best.iterations < with_it.nit
    assert best.gradient_norm < 1e-3 * np.abs(dJ(without.x)).max()
