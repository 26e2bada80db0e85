"""Robots that differ in numbers only: from the third on nothing is compiled, and each gets its own numbers."""

import numpy as np
import pytest

import torsor
from torsor.compiler.run import engine

pytestmark = pytest.mark.compiled


@pytest.fixture
def compilations(monkeypatch):
    """What is given to LLVM, or taken from disk."""
    seen, real = [], engine.loaded
    monkeypatch.setattr(engine, "loaded", lambda objects, *rest, **tier: seen.append(1) or real(objects, *rest, **tier))
    return seen


def heavier(count, group="inertias"):
    arm = torsor.robots.ur5()
    numbers = getattr(arm.parameters, group)
    return [arm.with_parameters(**{group: numbers * (1.0 + 0.01 * k)}) for k in range(count)]


def expected(function, *args):
    with torsor.backend("numpy"):
        return function(*args)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_from_the_third_robot_on_nothing_is_compiled(name, compilations):
    function, robots = getattr(torsor, name), heavier(7)
    counts = []
    for k, robot in enumerate(robots):
        q, v, a = torsor.random_state(robot, seed=k)
        np.testing.assert_allclose(function(robot, q, v, a), expected(function, robot, q, v, a), rtol=1e-10, atol=1e-10)
        counts.append(len(compilations))
    assert counts[3:] == [counts[2]] * 4


def test_a_robot_that_comes_again_is_answered_by_the_fast_entry_with_its_own_numbers():
    robots = heavier(6)
    q, v, a = torsor.random_state(robots[0], seed=0)
    first = [torsor.inverse_dynamics(robot, q, v, a) for robot in robots]
    for _ in range(3):
        for robot, tau in zip(robots, first, strict=True):
            np.testing.assert_array_equal(torsor.inverse_dynamics(robot, q, v, a), tau)
            np.testing.assert_array_equal(torsor.inverse_dynamics(robot, a=a, v=v.tolist(), q=q), tau)
            batch = torsor.inverse_dynamics(robot, np.stack([q] * 5), v, a)
            np.testing.assert_array_equal(batch, np.stack([tau] * 5))
    assert len({tau.tobytes() for tau in first}) == len(robots)


def test_groups_that_begin_to_differ_become_inputs_too():
    arm = torsor.robots.ur5()
    robots = [*heavier(4), arm.with_gravity((0.0, 1.0, -9.0)), arm.with_parameters(armature=np.arange(1.0, 7.0))]
    for k, robot in enumerate(robots * 2):
        q, v, a = torsor.random_state(robot, seed=k)
        want = expected(torsor.inverse_dynamics, robot, q, v, a)
        np.testing.assert_allclose(torsor.inverse_dynamics(robot, q, v, a), want, rtol=1e-11, atol=1e-11)


def test_single_precision_and_several_results():
    for k, robot in enumerate(heavier(5)):
        q, v, a = (x.astype(np.float32) for x in torsor.random_state(robot, seed=k))
        found = torsor.inverse_dynamics_derivatives(robot, q, v, a)
        again = torsor.inverse_dynamics_derivatives(robot, q, v, a)
        for x, y, z in zip(found, again, expected(torsor.inverse_dynamics_derivatives, robot, q, v, a), strict=True):
            assert x.dtype == np.float32
            np.testing.assert_array_equal(x, y)
            np.testing.assert_allclose(x, z, rtol=1e-3, atol=1e-3)


def test_a_large_batch_of_a_shared_kernel_runs_on_threads():
    for k, robot in enumerate(heavier(4)):
        q, v, a = np.random.default_rng(k).normal(size=(3, 20_000, 6))
        tau = torsor.inverse_dynamics(robot, q, v, a)
        np.testing.assert_array_equal(tau[::999], torsor.inverse_dynamics(robot, q[::999], v[::999], a[::999]))
        np.testing.assert_array_equal(torsor.inverse_dynamics(robot, q, v, a), tau)


def test_a_robot_without_mass_is_refused_as_ever():
    arm = torsor.robots.planar2r()
    robot = arm.with_parameters(inertias=np.zeros((2, 10)))
    for k in range(3):
        some = arm.with_parameters(inertias=arm.parameters.inertias * (1.0 + k))
        torsor.forward_dynamics(some, [0.1, 0.2], [0, 0], [1, 1])
    with torsor.backend("numpy"), pytest.raises(torsor.TorsorError) as plain:
        torsor.forward_dynamics(robot, [0.1, 0.2], [0, 0], [1, 1])
    with pytest.raises(torsor.TorsorError) as compiled:
        torsor.forward_dynamics(robot, [0.1, 0.2], [0, 0], [1, 1])
    assert str(compiled.value) == str(plain.value)
