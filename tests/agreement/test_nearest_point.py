"""The active-set method of optimal motions: conditions of an optimum, machine code against NumPy, and the corners."""

import numpy as np
import pytest

import torsor
from torsor.motion.optimal_motions.nearest_point import FIRST, NearestPoint

pytestmark = pytest.mark.compiled
ENOUGH = 1000  # changes


def half_spaces(n, m, equations, seed):
    """Rows that leave some room about one point, but for the first, which are equations; and a point outside."""
    rng = np.random.default_rng(seed)
    Y, start = rng.normal(size=(m, n)), rng.normal(size=n)
    middle = Y @ (0.3 * rng.normal(size=n))
    below, above = middle - rng.uniform(0.0, 1.0, m), middle + rng.uniform(0.0, 1.0, m)
    above[m // 2 :: 3] = np.inf
    equal = np.arange(m) < equations
    below[equal] = above[equal] = middle[equal]
    return start, Y, below, above, equal


def solved(start, Y, below, above, equal, guess=(), sides=()):
    found = NearestPoint(start)
    found.add(Y, below, above, equal)
    found.begin_with(np.array(guess, int), np.array(sides, float))
    return found, found.approach(ENOUGH)


def require_nearest(found, start, Y, below, above, equal):
    """The conditions of Karush, Kuhn and Tucker, which are sufficient here."""
    point, multipliers = found.point[: len(start)], np.zeros(len(Y))
    multipliers[found.active] = found.prices
    np.testing.assert_allclose(point + multipliers @ Y, start, atol=1e-12)
    moved = Y @ point
    assert np.maximum(moved - above, below - moved).max(initial=0.0) <= 1e-9  # what the method lets pass
    up, down = (multipliers > 0.0) & ~equal, (multipliers < 0.0) & ~equal
    np.testing.assert_allclose(moved[up], above[up], atol=1e-12)
    np.testing.assert_allclose(moved[down], below[down], atol=1e-12)


@pytest.mark.parametrize(("n", "m", "equations"), [(1, 3, 0), (5, 20, 1), (30, 90, 4), (40, FIRST + 40, 0), (7, 0, 0)])
def test_the_point_meets_the_conditions_of_an_optimum_in_machine_code_and_in_numpy(n, m, equations):
    for seed in range(3):
        problem = half_spaces(n, m, equations, seed)
        guess = np.arange(min(m, n + 3))  # more than there can be, on sides some of which are wrong
        points = []
        for backend in ("compiled", "numpy"):
            with torsor.backend(backend):
                found, arrived = solved(*problem, guess, np.where(guess % 2, 1.0, -1.0))
            assert arrived
            require_nearest(found, *problem)
            points.append(found.point)
        np.testing.assert_allclose(points[0], points[1], atol=1e-11)


@pytest.mark.parametrize("backend", ["compiled", "numpy"])
def test_limits_that_contradict_each_other_are_told(backend):
    row = np.array([[1.0, 2.0, 0.5]])
    with torsor.backend(backend):
        _, arrived = solved(
            np.zeros(3), np.vstack([row, row]), np.array([1.0, -np.inf]), np.array([np.inf, 0.5]), [0, 0]
        )
        assert not arrived
        _, arrived = solved(np.zeros(3), np.vstack([row, row]), np.array([1.0, 2.0]), np.array([1.0, 2.0]), [1, 1])
        assert not arrived


@pytest.mark.parametrize("backend", ["compiled", "numpy"])
def test_rows_that_depend_on_others_and_rows_that_come_later(backend):
    start, Y, below, above, equal = half_spaces(12, 40, 0, seed=5)
    twice = [np.concatenate([x, x]) for x in (Y, below, above, equal)]
    with torsor.backend(backend):
        found, arrived = solved(start, *twice, np.arange(80), np.ones(80))
        assert arrived
        require_nearest(found, start, *twice)
        later = NearestPoint(start)
        for part in (slice(0, 9), slice(9, 40)):
            later.add(Y[part], below[part], above[part], equal[part])
            assert later.approach(ENOUGH)
    np.testing.assert_allclose(later.point, found.point, atol=1e-11)
