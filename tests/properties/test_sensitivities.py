"""Derivatives of motions through the steps taken agree with differences of simulations."""

import numpy as np
import pytest

import torsor
from torsor.errors import ArgumentError, ShapeError
from torsor.simulation import sensitivities

TIME = {"duration": 0.2, "dt": 0.02}
ROBOTS = {
    "arm": torsor.robots.planar2r,
    "body": lambda: torsor.assemble(
        [torsor.Joint(name="float", kind="free", inertia=torsor.Inertia.box((0.1, 0.2, 0.4), mass=1.0))], name="body"
    ),
}


@pytest.fixture(params=ROBOTS)
def robot(request):
    return ROBOTS[request.param]()


def displacements(robot, run, other):
    """(N, 2 nv): from the states of one motion to those of another."""
    return np.concatenate([torsor.difference(robot, run.q, other.q), other.v - run.v], axis=-1)


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler", "euler"])
def test_states_move_as_differences_say(robot, method):
    rng, nv = np.random.default_rng(7), robot.nv
    q, v, tau = torsor.random_configuration(robot, seed=1), rng.normal(size=nv), rng.normal(size=(10, nv))
    x, force, h = rng.normal(size=2 * nv), rng.normal(size=(10, nv)), 1e-6

    def moved(s):
        start = torsor.integrate(robot, q, s * h * x[:nv])
        return torsor.simulate(robot, start, v + s * h * x[nv:], tau=tau + s * h * force, method=method, **TIME)

    run = moved(0)
    found = sensitivities(run, method=method)
    expected = (displacements(robot, run, moved(1)) - displacements(robot, run, moved(-1))) / (2 * h)
    along = found.pushforward(x, force)
    np.testing.assert_allclose(along, expected, rtol=1e-6, atol=1e-7)  # of differences with steps of 1e-6
    np.testing.assert_allclose(found.pushforward(x), found.by_start() @ x, atol=1e-11)
    alike = found.pushforward(tau=force[0])
    np.testing.assert_allclose(alike, found.by_constant_force() @ force[0], atol=1e-11)
    end = np.einsum("kij,kj->i", found.of_end_by_forces(), force)
    np.testing.assert_allclose(end, found.pushforward(tau=force)[-1], atol=1e-11)


def test_the_pullback_is_the_adjoint(robot):
    """w · (derivative along x, τ) is (pullback of w) · (x, τ), with batches."""
    rng, nv = np.random.default_rng(8), robot.nv
    q = torsor.random_configuration(robot, seed=2)
    run = torsor.simulate(robot, q, rng.normal(size=(3, nv)), tau=rng.normal(size=(3, 10, nv)), **TIME)
    found = sensitivities(run)
    w, x, force = (rng.normal(size=(3, *s)) for s in ((11, 2 * nv), (2 * nv,), (10, nv)))
    along, back = found.pushforward(x, force), found.pullback(w)
    np.testing.assert_allclose((w * along).sum(), (back.start * x).sum() + (back.tau * force).sum(), rtol=1e-11)
    last = found.pullback(w[:, -1:])
    np.testing.assert_allclose(
        (w[:, -1] * along[:, -1]).sum(), (last.start * x).sum() + (last.tau * force).sum(), rtol=1e-11
    )
    with pytest.raises(ShapeError, match="weights"):
        found.pullback(np.ones(3))


def test_other_steps_and_jumps_are_refused_with_their_times():
    arm = torsor.robots.planar2r()
    q, v = np.array([0.1, 0.2]), np.array([1.0, 0.0])
    run = torsor.simulate(arm, q, v, **TIME)
    with pytest.raises(ArgumentError, match="are not smooth steps of 'euler'"):
        sensitivities(run, method="euler")
    with pytest.raises(ArgumentError, match="every=1"):
        sensitivities(torsor.simulate(arm, q, v, every=3, **TIME))
    with pytest.raises(ArgumentError, match=r"It says: .* stop"):
        sensitivities(torsor.simulate(arm.with_limits((-0.15, 0.25)), q, v, **TIME))
