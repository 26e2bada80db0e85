"""Derivatives of forward dynamics: against differences, as the inverse of inverse dynamics', and in both forms."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from property_checks import DIFFERENTIATED, assert_close, derivative, largest
from property_strategies import any_robots, cases

import torsor
from torsor.compiler import traced_array

DATA = Path(__file__).parents[1] / "data" / "robots"
PARTS = ("q", "v", "tau")


@given(cases(any_robots.map(lambda robot: robot.with_coulomb_width(0.5)), batches=((), (3,))))
def test_they_undo_those_of_inverse_dynamics(case):
    """Every joint kind, trees, mimic joints, armature, friction, wrenches: M ∂a + ∂ID = ∂τ, to the condition of M."""
    robot, wrenches = case.robot, case.wrenches()
    tau = torsor.inverse_dynamics(robot, case.q, case.v, case.a, wrenches=wrenches)
    found = torsor.forward_dynamics_derivatives(robot, case.q, case.v, tau, wrenches=wrenches)
    inverse = torsor.inverse_dynamics_derivatives(robot, case.q, case.v, case.a, wrenches=wrenches)
    error = 1e-13 * np.linalg.cond(inverse.a).max() ** 2  # of the acceleration, and again of the products
    for got, by_inverse in ((found.q, inverse.q), (found.v, inverse.v), (found.tau, -np.eye(robot.nv))):
        want = -np.broadcast_to(by_inverse, got.shape)
        assert_close(inverse.a @ got, want, error, scale=1 + largest(by_inverse) + largest(inverse.a))


def test_they_are_the_derivatives():
    robot = torsor.robots.random_tree(6, seed=13, armature=True, friction=True).with_coulomb_width(0.5)
    q, v, tau = torsor.random_state(robot, seed=4)
    wrenches = {robot.links[-1]: np.linspace(-1, 1, 6)}
    found = torsor.forward_dynamics_derivatives(robot, q, v, tau, wrenches=wrenches)

    def a(q, v, tau):
        return torsor.forward_dynamics(robot, q, v, tau, wrenches=wrenches)

    for k, unit in enumerate(np.eye(robot.nv)):
        by_q = derivative(lambda t, e=unit: a(torsor.integrate(robot, q, e, t), v, tau))
        by_v = derivative(lambda t, e=unit: a(q, v + t * e, tau))
        assert_close(found.q[:, k], by_q, DIFFERENTIATED, scale=largest(found.q))
        assert_close(found.v[:, k], by_v, DIFFERENTIATED, scale=largest(found.v))
        assert_close(found.tau[:, k], a(q, v, tau + unit) - a(q, v, tau), 1e-9, scale=largest(found.tau))


@pytest.mark.compiled
@pytest.mark.parametrize("batch", [(), (1,), (7,), (2, 3), (0,)], ids=str)
@pytest.mark.parametrize("pushed", [False, True])
def test_in_blocks_they_are_the_same(batch, pushed, monkeypatch):
    robot = torsor.robots.random_tree(5, seed=3, armature=True, friction=True, mimic=True)
    q, v, tau = torsor.random_state(robot, seed=4, batch=batch)
    wrenches = {robot.links[-1]: np.linspace(-1, 1, 6)} if pushed else None
    want = torsor.forward_dynamics_derivatives(robot, q, v, tau, wrenches=wrenches)
    monkeypatch.setattr(traced_array, "LOOPED", 1)  # as the products of large robots are
    other = robot.rename({}, robot="in blocks")  # calls that repeat are not asked again
    for out in (None, type(want)(*(np.empty_like(x) for x in want))):
        found = torsor.forward_dynamics_derivatives(other, q, v, tau, wrenches=wrenches, out=out)
        assert type(found) is type(want)
        for name in PARTS:
            x, y = getattr(found, name), getattr(want, name)
            assert x.shape == y.shape
            assert_close(x, y, 1e-11, scale=largest(y))


@pytest.mark.compiled
def test_a_humanoid_has_blocks_and_says_what_is_missing():
    robot = torsor.load(DATA / "talos38_floating.urdf", base="floating")
    q, v, a = torsor.random_state(robot, seed=4)
    tau = torsor.inverse_dynamics(robot, q, v, a)
    found, inverse = (
        torsor.forward_dynamics_derivatives(robot, q, v, tau),
        torsor.inverse_dynamics_derivatives(robot, q, v, a),
    )
    assert_close(inverse.a @ found.q, -inverse.q, 1e-9, scale=largest(inverse.q))
    with pytest.raises(TypeError, match="forward_dynamics_derivatives: `tau` is missing"):
        torsor.forward_dynamics_derivatives(robot, q, v)
