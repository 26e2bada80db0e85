"""What must be true of the energy of paths: its gradient, its minima, and the geodesics these come near."""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from property_checks import assert_close, dot, largest, times
from property_strategies import ALL_KINDS, ONE_NUMBER, any_robots, robots, seeds
from scipy.optimize import minimize

import torsor
from torsor.motion import (
    curvature_along,
    geodesic,
    geodesic_between,
    minimum_energy_path,
    path_energy,
    path_energy_gradient,
    path_length,
)

# Eighth-order central differences of step 0.006: the truncation error is h⁸/630 of a ninth derivative, 1e-18 or so, and
# rounding 1e-16/0.006 of the energy: 6e-11 of the gradient leaves room for gradients smaller than the energy.
STEP, WEIGHTS = 0.006, ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
EXACT = 6e-11


def wander(robot, rng, steps, size=0.3):
    """A random path (steps + 1, nq)."""
    path = [torsor.random_configuration(robot, seed=rng)]
    for _ in range(steps):
        path.append(torsor.integrate(robot, path[-1], size * rng.normal(size=robot.nv)))
    return np.array(path)


def differenced(robot, path, k, i, duration):
    """∂E along the velocity i of point k."""
    moves = STEP * np.array([s * m for m, _ in WEIGHTS for s in (1, -1)])
    paths = np.broadcast_to(path, (len(moves), *path.shape)).copy()
    paths[:, k] = torsor.integrate(robot, path[k], moves[:, None] * np.eye(robot.nv)[i])
    energies = path_energy(robot, paths, duration=duration).reshape(-1, 2)
    return sum(w * (a - b) for (_, w), (a, b) in zip(WEIGHTS, energies, strict=True)) / STEP


# Energy, length, gradient


@given(any_robots, seeds)
@settings(max_examples=10)
def test_the_gradient_is_the_derivative_of_the_energy_for_every_joint_kind(robot, seed):
    path = wander(robot, np.random.default_rng(seed), 2)
    gradient = path_energy_gradient(robot, path, duration=0.7)
    expected = [[differenced(robot, path, k, i, 0.7) for i in range(robot.nv)] for k in range(3)]
    assert gradient.shape == (3, robot.nv)
    assert_close(gradient, expected, EXACT, scale=path_energy(robot, path, duration=0.7))


@given(robots(most=3), seeds)
@settings(max_examples=8)
def test_energy_and_length_are_those_of_the_steps(robot, seed):
    path = wander(robot, np.random.default_rng(seed), 4)
    squares = []
    for q, following in pairwise(path):
        step = torsor.difference(robot, q, following)
        squares.append(2 * torsor.kinetic_energy(robot, torsor.integrate(robot, q, 0.5 * step), step))
    assert_close(path_energy(robot, path), 4 * np.sum(squares))
    assert_close(path_length(robot, path), np.sum(np.sqrt(squares)))
    # Cauchy and Schwarz: equal for constant speed only
    assert path_energy(robot, path, duration=3.0) >= path_length(robot, path) ** 2 / 3.0 * (1 - 1e-12)


@given(robots(most=2), seeds)
@settings(max_examples=6)
def test_paths_come_in_batches_and_any_direction(robot, seed):
    rng = np.random.default_rng(seed)
    paths = np.array([[wander(robot, rng, 3)], [wander(robot, rng, 3)]])
    for f in (path_energy, path_length, path_energy_gradient):
        together = f(robot, paths)
        assert_close(together[1, 0], f(robot, paths[1, 0]))
    assert_close(path_energy(robot, paths[..., ::-1, :]), path_energy(robot, paths))
    assert_close(
        path_energy_gradient(robot, paths[..., ::-1, :]), path_energy_gradient(robot, paths)[..., ::-1, :], 1e-11
    )
    assert_close(path_energy_gradient(robot, paths, duration=0.5), 2 * path_energy_gradient(robot, paths))


@pytest.mark.parametrize("seed", range(3))
def test_on_a_geodesic_energy_and_length_are_known_and_come_at_second_order(seed):
    robot = torsor.robots.random_tree(2, seed=seed, kinds=ALL_KINDS)
    q, v, _ = torsor.random_state(robot, seed=seed)
    curve = geodesic(robot, q, v, 0.8)
    errors = []
    for K in (10, 20):
        path, _ = curve(np.linspace(0.0, 0.8, K + 1))
        errors.append(
            (path_energy(robot, path, duration=0.8) - 1.6 * curve.energy[0], path_length(robot, path) - curve.length)
        )
        inside = path_energy_gradient(robot, path, duration=0.8)[1:-1]
        errors[-1] += (K * largest(inside),)  # stationary: the gradient's density is of second order too
    coarse, fine = np.abs(errors)
    # second differences of samples good to 1e-10 limit the gradient's density to 1e-10 K² and a factor
    assert np.all(coarse < 0.3) and np.all((fine < coarse / 3) | (fine < 1e-7))


# Minima


@pytest.mark.compiled
@pytest.mark.parametrize("kinds", [ONE_NUMBER, ("planar",), ("spherical", "revolute"), ("free",)], ids=str)
def test_without_limits_it_is_the_geodesic_to_second_order(kinds):
    robot = torsor.robots.random_tree(2 if len(kinds) > 1 else 1, seed=3, kinds=kinds, serial=True)
    q0, v, _ = torsor.random_state(robot, seed=2)
    q1 = geodesic(robot, q0, v, 1.0, samples=2).q[-1]
    curve = geodesic_between(robot, q0, q1)
    errors = []
    for points in (15, 30):
        found = minimum_energy_path(robot, q0, q1, samples=points + 1)
        assert found.converged and found.iterations < 10 and not found.active_limits
        assert found.energy < found.straight_energy
        assert found.gradient_norm < 1e-9 * found.energy * points
        errors.append(largest(torsor.difference(robot, found.path, curve(found.time)[0])))
    # of second order; a free body alone moves straight and turns, which steps along twists nearly are
    assert 3.5 < errors[0] / errors[1] < 4.6 or errors[0] < 1e-9
    assert errors[0] < 0.02


@pytest.mark.compiled
def test_panda_saves_energy_within_its_limits():
    robot = torsor.robots.panda()
    q0, q1 = torsor.random_configuration(robot, seed=0), torsor.random_configuration(robot, seed=100)
    found = minimum_energy_path(robot, q0, q1, duration=2.0, samples=41)
    assert found.converged and found.iterations <= 20
    assert found.energy < 0.9 * found.straight_energy
    lower, upper = np.array(robot.limits.lower), np.array(robot.limits.upper)
    assert np.all((found.path >= lower) & (found.path <= upper))
    assert "panda_joint4" in found.active_limits
    # What is free feels no force; what is held is pushed against its limit.
    g = path_energy_gradient(robot, found.path, duration=2.0)[1:-1]
    low, high = found.path[1:-1] <= lower, found.path[1:-1] >= upper
    assert largest(g[~(low | high)]) <= found.gradient_norm < 1e-9
    assert np.all(g[low] >= 0) and np.all(g[high] <= 0)
    at = found.active_limits["panda_joint4"]
    assert np.all((low | high)[np.array(at) - 1, 3])
    free = minimum_energy_path(robot, q0, q1, duration=2.0, samples=41, within_limits=False)
    assert free.energy < found.energy and not free.active_limits


@pytest.mark.compiled
def test_another_optimiser_finds_the_same_minimum():
    robot = torsor.robots.random_tree(3, seed=2, kinds=ONE_NUMBER, serial=True)
    q0, q1 = torsor.random_configuration(robot, seed=1, batch=(2,))
    found = minimum_energy_path(robot, q0, q1, samples=9)

    def energy(x):
        path = np.concatenate([q0[None], x.reshape(7, 3), q1[None]])
        return path_energy(robot, path), path_energy_gradient(robot, path)[1:-1].ravel()

    start = np.linspace(q0, q1, 9)[1:-1].ravel()
    other = minimize(energy, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-9})
    assert_close(found.energy, other.fun, 1e-10)
    assert found.iterations < other.nit / 3


def pan_and_tilt(ring):
    axes = [[0, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0]]
    return torsor.serial_chain(axes, [np.eye(4)] * 2, [ring, torsor.Inertia.point(1.0, (1, 0, 0))])


@pytest.mark.compiled
@pytest.mark.parametrize("turn", [3.5, 4.0, 5.0])
def test_a_saddle_is_left(turn):
    """The equator is a geodesic, but no longer the least way once it is longer than half the circle: over the pole is less."""
    robot = pan_and_tilt(torsor.Inertia.box((0.2, 0.2, 0.2), mass=5.0))
    assert largest(path_energy_gradient(robot, np.linspace([0, 0], [turn, 0], 31))[1:-1]) < 1e-12
    found = minimum_energy_path(robot, [0, 0], [turn, 0], samples=31)
    assert found.converged and found.energy < 0.95 * found.straight_energy
    assert np.abs(found.path[:, 1]).max() > 0.5
    rng = np.random.default_rng(0)
    for _ in range(20):  # a minimum: nothing nearby has less
        near = found.path.copy()
        near[1:-1] += 1e-3 * rng.normal(size=(29, 2))
        assert path_energy(robot, near) > found.energy


@pytest.mark.compiled
def test_a_massless_ring_lets_the_path_go_over_the_pole():
    found = minimum_energy_path(pan_and_tilt(torsor.Inertia.zero()), [0, 0], [4.0, 0])
    assert_close(found.energy, np.pi**2, 0.03)  # up to the pole, where the ring turns freely, and down again
    assert minimum_energy_path(pan_and_tilt(torsor.Inertia.zero()), [0, 0], [3.0, 0]).energy == pytest.approx(9.0)


@pytest.mark.compiled
@pytest.mark.parametrize("kinds", [ONE_NUMBER, ("spherical", "revolute")], ids=str)
def test_a_path_is_a_motion_that_other_functions_take(kinds):
    robot = torsor.robots.random_tree(2, seed=3, kinds=kinds, serial=True)
    q0, v, _ = torsor.random_state(robot, seed=2)
    curve = geodesic(robot, q0, v, 0.8, samples=2)
    found = minimum_energy_path(robot, q0, curve.q[-1], duration=0.8, samples=101)
    exact = geodesic_between(robot, q0, curve.q[-1], duration=0.8)
    assert found.q is found.path and found.v.shape == (101, robot.nv)
    assert_close(found.v, exact(found.time)[1], 5e-3)  # O(1/points²)
    assert_close(curvature_along(robot, found).scalar, curvature_along(robot, found.path).scalar)
    assert minimum_energy_path(robot, q0, curve.q[-1], samples=2).v.shape == (2, robot.nv)
    assert f"robot {robot.name!r}" in str(found) and " converged after" in str(found) and "\n" not in str(found)


def test_the_gradient_runs_inside_jit(jax_in_doubles):
    jax = jax_in_doubles
    robot = torsor.robots.random_tree(2, seed=3, kinds=("spherical", "revolute"), serial=True)
    path = torsor.random_configuration(robot, seed=1, batch=(4,))
    traced = jax.jit(lambda path: path_energy_gradient(robot, path))(path)
    assert_close(traced, path_energy_gradient(robot, path))
    with pytest.raises(torsor.TorsorError, match="cannot run inside jit"):
        jax.jit(lambda q: minimum_energy_path(robot, q, path[1]))(path[0])


@pytest.mark.compiled
def test_the_path_does_not_depend_on_the_duration():
    robot = torsor.robots.planar2r()
    one, other = (minimum_energy_path(robot, [0.0, 1.0], [2.0, -1.0], duration=T) for T in (1.0, 4.0))
    assert_close(one.path, other.path)
    assert_close(one.energy, 4 * other.energy)
    assert_close(other.time, np.linspace(0.0, 4.0, 51))
    assert_close(other.energy, path_energy(robot, other.path, duration=4.0))
    assert_close(other.length, path_length(robot, other.path))
    assert_close(other.energy, other.length**2 / 4.0, 1e-3)  # nearly constant speed


@pytest.mark.compiled
def test_waypoints_are_passed():
    robot = torsor.robots.planar2r()
    q0, q1, on_the_way = np.array([0.0, 1.0]), np.array([2.0, -1.0]), np.array([1.5, 1.5])
    free = minimum_energy_path(robot, q0, q1, samples=21)
    held = minimum_energy_path(robot, q0, q1, samples=21, through={10: on_the_way})
    assert_close(held.path[10], on_the_way)
    assert held.converged and held.energy > free.energy
    for part in (slice(0, 11), slice(10, 21)):  # each part is a path of least energy of its own
        ends = held.path[part][[0, -1]]
        assert_close(minimum_energy_path(robot, *ends, samples=11).path, held.path[part], 1e-8)
    assert_close(minimum_energy_path(robot, q0, q1, samples=21, through=[on_the_way]).path, held.path, 1e-12)
    already = minimum_energy_path(robot, q0, q1, samples=21, through={5: free.path[5], 12: free.path[12]})
    assert_close(already.path, free.path, 1e-8)


def test_one_step_and_no_way_are_paths_too():
    robot = torsor.robots.planar2r()
    one = minimum_energy_path(robot, [0.0, 1.0], [2.0, -1.0], samples=2)
    assert one.converged and one.path.shape == (2, 2) and one.energy == one.straight_energy
    none = minimum_energy_path(robot, [0.0, 1.0], [0.0, 1.0], samples=5)
    assert none.converged and none.energy == none.gradient_norm == 0.0
    assert_close(none.path, np.broadcast_to([0.0, 1.0], (5, 2)))


def test_too_few_iterations_are_reported():
    found = minimum_energy_path(torsor.robots.planar2r(), [0.0, 1.0], [2.0, -1.0], samples=11, iterations=1)
    assert not found.converged and found.iterations == 1


def limited(kind="revolute", **limits):
    body = torsor.Inertia.box((0.3, 0.2, 0.1), mass=1.0)
    axis = {"axis": (0, 0, 1)} if kind == "revolute" else {}
    return torsor.assemble([torsor.Joint(name="elbow", kind=kind, inertia=body, **axis, **limits)], name="limited")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda r: path_energy(r, [[0.0, 1.0]]), torsor.ShapeError, "at least two configurations"),
        (lambda r: path_energy(r, np.zeros((3, 3))), torsor.ShapeError, r"`path` must have shape \(..., any, 2\)"),
        (
            lambda r: path_energy(r, np.zeros((3, 2)), duration=0.0),
            torsor.TorsorError,
            "`duration` must be finite and positive",
        ),
        (
            lambda r: minimum_energy_path(r, [0, 0], [1, 1], samples=1),
            torsor.TorsorError,
            "at least 2 samples.*got 1",
        ),
        (lambda r: minimum_energy_path(r, [0, 0], [1, 1], samples=6.5), torsor.TorsorError, "must be a whole number"),
        (
            lambda r: minimum_energy_path(limited("spherical"), np.zeros(4), np.ones(4)),
            torsor.TorsorError,
            "quaternion of joint 'elbow' has length zero",
        ),
        (lambda r: minimum_energy_path(r, [0, 0], [[1, 1]]), torsor.ShapeError, r"point 50 must be one finite"),
        (lambda r: minimum_energy_path(r, [0, 0], [1, np.inf]), torsor.ShapeError, "point 50 must be one finite"),
        (lambda r: minimum_energy_path(r, [0, 0], [1, 1], through={0: [0, 0]}), torsor.TorsorError, "leave them out"),
        (
            lambda r: minimum_energy_path(r, [0, 0], [1, 1], through={60: [0, 0]}),
            torsor.TorsorError,
            r"numbered 1 … 49",
        ),
        (
            lambda r: minimum_energy_path(r, [0, 0], [1, 1], samples=3, through=[[0, 0]] * 3),
            torsor.TorsorError,
            "3 configurations to pass need more than 2 points",
        ),
        (
            lambda r: minimum_energy_path(limited(lower=-1, upper=1), [0.0], [1.5]),
            torsor.TorsorError,
            r"joint 'elbow' is at 1.5 in point 50, beyond its limits -1 … 1; .*within_limits=False",
        ),
        (
            lambda r: minimum_energy_path(limited("planar", lower=-1, upper=1), np.zeros(3), np.ones(3)),
            torsor.ModelError,
            r"the limits of joint 'elbow', which has 3 numbers, cannot be kept",
        ),
    ],
)
def test_what_is_no_path_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call(torsor.robots.planar2r())


def test_without_scipy_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.linalg", None)
    with pytest.raises(torsor.TorsorError, match=r"minimum_energy_path: needs SciPy: pip install 'torsor\[motion\]'"):
        minimum_energy_path(torsor.robots.planar2r(), [0.0, 1.0], [2.0, -1.0])


def test_the_energy_needs_no_scipy(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    robot = torsor.robots.planar2r()
    path = np.linspace([0.0, 1.0], [2.0, -1.0], 5)
    step, middle = path[1] - path[0], 0.5 * (path[1:] + path[:-1])
    M = torsor.mass_matrix(robot, middle)
    assert_close(path_energy(robot, path), 4 * dot(step, times(M, step)).sum())
