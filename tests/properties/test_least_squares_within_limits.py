"""Least squares within limits satisfy the conditions of an optimum, whatever the rank and however small what limits leave."""

import numpy as np
import pytest

from torsor.control.priorities.quadratic_program import least_squares, least_squares_in_box, least_squares_within


def problems(k, seed):
    """A (m, k) of any rank, b (m,), and limits about 0 (k,), some of them infinite or 0."""
    rng = np.random.default_rng(seed)
    for _ in range(6):
        m, rank = rng.integers(1, k + 2), rng.integers(1, k + 1)
        A = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, k))
        A[:, rng.random(k) < 0.1] = 0.0
        lower, upper = -rng.uniform(0.0, 0.5, k), rng.uniform(0.0, 0.5, k)
        lower[rng.random(k) < 0.2], upper[rng.random(k) < 0.2] = -np.inf, np.inf
        lower[rng.random(k) < 0.1] = 0.0
        yield A, rng.normal(size=m), lower, upper


@pytest.mark.parametrize("k", [2, 7, 40])
def test_in_a_box_no_number_could_do_better(k):
    for A, b, lower, upper in problems(k, k):
        w, multipliers = least_squares_in_box(A, b, lower, upper, np.linalg.pinv(A) @ b)
        slope, small = A.T @ (b - A @ w), 1e-9 * max(1.0, np.abs(A.T @ b).max())
        assert (w >= lower - 1e-9).all() and (w <= upper + 1e-9).all()
        np.testing.assert_allclose(multipliers, slope, atol=small)
        assert (w[multipliers > small] >= upper[multipliers > small] - 1e-9).all()
        assert (w[multipliers < -small] <= lower[multipliers < -small] + 1e-9).all()
        other = least_squares_within(A, b, np.eye(k), lower, upper)
        np.testing.assert_allclose(A @ w, A @ other.w, atol=1e-8)


@pytest.mark.parametrize("size", [1.0, 1e-4, 1e-9])
def test_small_columns_are_solved_with_unless_they_are_rounding_error(size):
    rng = np.random.default_rng(3)
    part, b = size * rng.normal(size=(6, 2)) @ rng.normal(size=(2, 4)), rng.normal(size=6)
    noisy = part + 1e-16 * rng.normal(size=(6, 4))
    expected = np.linalg.pinv(part, rcond=1e-6) @ b
    np.testing.assert_allclose(least_squares(noisy, b, 1.0), expected, atol=1e-5 * np.abs(expected).max())
    np.testing.assert_array_equal(least_squares(1e-13 * part, b, 1.0), np.zeros(4))
