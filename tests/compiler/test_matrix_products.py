"""Products of many small matrices: NumPy's numbers, for all sizes, layouts and known zeros."""

import numpy as np
import pytest

import torsor
from torsor.compiler.run.matrix_products import products, ranges_of

pytestmark = pytest.mark.compiled
SIZES = [(4, 1, 8), (4, 3, 8), (5, 9, 9), (38, 38, 38), (7, 12, 23), (3, 4, 8), (8, 8, 7), (6, 0, 9)]


def matrices(n, k, m, batch):
    rng = np.random.default_rng(n + 10 * k + 100 * m)
    return rng.normal(size=(*batch, n, k)), rng.normal(size=(*batch, k, m))


@pytest.mark.parametrize("batch", [(), (1,), (5,), (2, 3), (0,)], ids=str)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_they_are_numpys(size, batch):
    A, B = matrices(*size, batch)
    want = A @ B
    np.testing.assert_allclose(products(A, B), want, rtol=0, atol=1e-13)
    out = np.full(want.shape, np.nan)
    assert products(A, B, out) is out
    np.testing.assert_allclose(out, want, rtol=0, atol=1e-13)


@pytest.mark.parametrize("density", [0.0, 0.1, 0.5])
def test_sums_run_over_what_may_not_be_zero(density):
    A, B = matrices(9, 14, 21, (7,))
    where = np.random.default_rng(1).random((14, 21)) < density
    np.testing.assert_allclose(products(A, B * where, ranges=ranges_of(where)), A @ (B * where), rtol=0, atol=1e-13)


def test_ranges_follow_the_blocks_of_columns():
    where = np.zeros((6, 12), bool)
    where[[0, 1, 4], 3] = True
    where[5, 11] = True
    assert ranges_of(where) == (((0, 2), (4, 5)), ((5, 6),))


def test_views_overlaps_and_threads():
    A, B = matrices(8, 8, 8, (3000,))
    want = A @ B
    np.testing.assert_allclose(products(np.asfortranarray(A), B[::1]), want, rtol=0, atol=1e-13)
    wide = np.zeros((3000, 8, 10))
    np.testing.assert_allclose(products(A, B, wide[..., 1:9]), want, rtol=0, atol=1e-13)
    before = torsor.get_threads()
    torsor.set_threads(2)
    np.testing.assert_array_equal(products(A, B), products(A, B.copy()))
    torsor.set_threads(before)
    np.testing.assert_allclose(products(A, B, B), want, rtol=0, atol=1e-13)
