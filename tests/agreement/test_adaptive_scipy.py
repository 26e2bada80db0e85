"""Adaptive integration against SciPy's: coefficients, evaluations, states and dense output."""

import numpy as np
import pytest

import torsor
from torsor.simulation.adaptive import AdaptiveFlow
from torsor.simulation.adaptive_run import ARRIVED
from torsor.simulation.dormand_prince_54 import DORMAND_PRINCE_54
from torsor.simulation.dormand_prince_853 import DORMAND_PRINCE_853

integrate = pytest.importorskip("scipy.integrate")
pytestmark = pytest.mark.compiled


def freely(robot, t, q, v, c):
    """The robot left to itself, with the power of gravity."""
    return torsor.forward_dynamics(robot, q, v, 0.0 * v), np.stack([-np.sum(torsor.gravity_forces(robot, q) * v)])


ROBOTS = {
    "pendulum": torsor.robots.pendulum,
    "2R": torsor.robots.planar2r,
    "UR5": torsor.robots.ur5,
    "Panda": torsor.robots.panda,
}


def test_the_coefficients_are_scipys():
    """Of the pair 8(5,3) to the last digit, c but for rounding of its closed forms; of 5(4) exactly, the error's sign apart."""
    tables = pytest.importorskip("scipy.integrate._ivp.dop853_coefficients")
    pair = DORMAND_PRINCE_853
    assert np.abs(pair.c - tables.C[:12]).max() < 1e-16
    for own, theirs in (
        (pair.A, tables.A[:12, :12]),
        (pair.b, tables.B),
        (pair.errors, [tables.E5, tables.E3]),
        (pair.c_extra, tables.C[13:]),
        (pair.A_extra, tables.A[13:]),
        (pair.D, tables.D),
    ):
        np.testing.assert_array_equal(own, theirs)
    rk45, pair = integrate.RK45, DORMAND_PRINCE_54
    np.testing.assert_array_equal(pair.A[:, :5], rk45.A)
    np.testing.assert_array_equal(pair.b, rk45.B)
    np.testing.assert_allclose(-pair.errors[0], rk45.E, rtol=1e-15)
    x = np.linspace(0.0, 1.0, 5)
    K = np.random.default_rng(0).normal(size=(7, 3))
    own = pair.between(np.repeat(pair.polynomial(np.ones(1), K[None]), 5, axis=0), x)
    np.testing.assert_allclose(own, (K.T @ rk45.P @ x ** np.arange(1, 5)[:, None]).T, atol=1e-13)  # rounding


@pytest.mark.parametrize("name", ROBOTS)
def test_as_many_evaluations_and_the_same_states_as_scipys_dop853(name):
    """At most a tenth more evaluations at every tolerance; the states differ by what rounding is amplified to."""
    robot = ROBOTS[name]()
    n, flow = robot.nv, AdaptiveFlow(robot, freely, powers=1)
    q0, v0 = np.full(n, 0.3), np.full(n, 0.1)

    def fun(t, y):
        return np.concatenate([y[n:], torsor.forward_dynamics(robot, y[:n], y[n:], np.zeros(n))])

    for rtol in (1e-6, 1e-8, 1e-10, 1e-12):
        run = flow.run(0.0, 1.0, q0, v0, rtol=rtol, atol=0.01 * rtol)
        times = np.linspace(0.05, 0.95, 7)
        y0 = np.concatenate([q0, v0])
        plain = integrate.solve_ivp(fun, (0.0, 1.0), y0, "DOP853", rtol=rtol, atol=0.01 * rtol)
        theirs = integrate.solve_ivp(fun, (0.0, 1.0), y0, "DOP853", rtol=rtol, atol=0.01 * rtol, dense_output=True)
        assert run.status == ARRIVED
        assert run.evaluations <= 1.1 * plain.nfev
        np.testing.assert_allclose(np.concatenate([run.q, run.v]), plain.y[:, -1], rtol=0, atol=1e-7)
        sample = run.sample(times)
        np.testing.assert_allclose(np.concatenate([sample.q, sample.v], axis=1), theirs.sol(times).T, rtol=0, atol=1e-6)
        assert run.dense_evaluations <= 3 * run.accepted
