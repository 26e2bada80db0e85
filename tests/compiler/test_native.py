"""Calling machine code: batches, strides, broadcasting, out=, precision, threads. Always the same bits."""

import os
import subprocess
import sys

import numpy as np
import pytest

import torsor
from torsor import ShapeError, TorsorError
from torsor.compiler.run import threads

pytestmark = [pytest.mark.compiled, pytest.mark.tier("final")]
ARM = torsor.robots.ur5()
Q, V, A = torsor.random_state(ARM, seed=0, batch=(203,))
TAU = torsor.inverse_dynamics(ARM, Q, V, A)


@pytest.fixture(autouse=True)
def default_threads():
    count = torsor.get_threads()
    yield
    torsor.set_threads(count)


def test_every_batch_size_gives_the_same_bits():
    for size in (0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 100):
        np.testing.assert_array_equal(torsor.inverse_dynamics(ARM, Q[:size], V[:size], A[:size]), TAU[:size])
    for k in (0, 1, 50, 202):
        np.testing.assert_array_equal(torsor.inverse_dynamics(ARM, Q[k], V[k], A[k]), TAU[k])


@pytest.mark.parametrize("size", range(1, 20))
def test_a_far_angle_anywhere_in_a_batch_changes_no_other_state(size):
    q, v, a = Q[:size].copy(), V[:size], A[:size]
    for far in range(size):
        q[:], q[far, 1] = Q[:size], 1e17
        tau, alone = torsor.inverse_dynamics(ARM, q, v, a), torsor.inverse_dynamics(ARM, q[far], v[far], a[far])
        np.testing.assert_array_equal(np.delete(tau, far, axis=0), np.delete(TAU[:size], far, axis=0))
        np.testing.assert_array_equal(tau[far], alone)


@pytest.mark.parametrize("size", [2, 5, 8, 11, 16, 21])
def test_a_batch_may_be_written_where_it_was_read(size):
    for shift in (0, 1, 2):
        numbers = np.zeros((size + 2) * 6)
        q = numbers[: size * 6].reshape(size, 6)
        q[:] = Q[:size]
        out = numbers[6 * shift : 6 * (size + shift)].reshape(size, 6)
        assert torsor.inverse_dynamics(ARM, q, V[:size], A[:size], out=out) is out
        np.testing.assert_array_equal(out, TAU[:size])


def test_every_number_of_threads_gives_the_same_bits():
    q, v, a = torsor.random_state(ARM, seed=1, batch=(20_000,))
    torsor.set_threads(1)
    expected = torsor.inverse_dynamics(ARM, q, v, a)
    for count in (2, 3, 8):
        torsor.set_threads(count)
        assert torsor.get_threads() == count
        np.testing.assert_array_equal(torsor.inverse_dynamics(ARM, q, v, a), expected)
    with pytest.raises(TorsorError, match="at least 1, got 0"):
        torsor.set_threads(0)


@pytest.mark.parametrize("states", [1, 16, 47, 1000, 4097])
@pytest.mark.parametrize("count", [1, 3])
def test_parts_cover_a_batch_once_and_are_cut_between_vectors(states, count):
    torsor.set_threads(count)
    done = list(threads.parts(states, threads.WORTH_A_THREAD))
    assert [start for start, _ in done] == [sum(length for _, length in done[:k]) for k in range(len(done))]
    assert sum(length for _, length in done) == states
    assert all(start % threads.LANES == 0 for start, _ in done)


def test_any_strides():
    wide = np.zeros((203, 2, 12))
    wide[:, 1, ::2] = Q
    reversed_rows = np.ascontiguousarray(V[::-1])[::-1]
    fortran = np.asfortranarray(A)
    np.testing.assert_array_equal(torsor.inverse_dynamics(ARM, wide[:, 1, ::2], reversed_rows, fortran), TAU)
    padded = np.zeros((203, 10))
    padded[:, :6] = Q
    np.testing.assert_array_equal(torsor.inverse_dynamics(ARM, padded[:, :6], V, A), TAU)
    one = torsor.inverse_dynamics(ARM, wide[3, 1, ::2], reversed_rows[3], fortran[3])
    np.testing.assert_array_equal(one, TAU[3])


def test_misaligned_arrays():
    raw = np.zeros(203 * 6 * 8 + 1, np.uint8)
    shifted = raw[1:].view(np.float64).reshape(203, 6)
    shifted[...] = Q
    np.testing.assert_array_equal(torsor.inverse_dynamics(ARM, shifted, V, A), TAU)
    np.testing.assert_array_equal(torsor.inverse_dynamics(ARM, shifted[5], V[5], A[5]), TAU[5])


def test_arguments_broadcast_over_any_batch_shape():
    grid = torsor.inverse_dynamics(ARM, Q[:6].reshape(2, 3, 6), V[:3], A[0])
    assert grid.shape == (2, 3, 6)
    np.testing.assert_array_equal(grid[1, 2], torsor.inverse_dynamics(ARM, Q[5], V[2], A[0]))
    crossed = torsor.inverse_dynamics(ARM, Q[:4, None], V[None, :5], A[0])
    np.testing.assert_array_equal(crossed[3, 4], torsor.inverse_dynamics(ARM, Q[3], V[4], A[0]))


def test_out_is_filled_and_returned():
    out = np.full((203, 6), np.nan)
    assert torsor.inverse_dynamics(ARM, Q, V, A, out=out) is out
    np.testing.assert_array_equal(out, TAU)
    strided = np.full((203, 12), np.nan)
    torsor.inverse_dynamics(ARM, Q, V, A, out=strided[:, ::2])
    np.testing.assert_array_equal(strided[:, ::2], TAU)
    assert np.isnan(strided[:, 1::2]).all()


def test_out_may_be_an_input():
    q = Q.copy()
    torsor.inverse_dynamics(ARM, q, V, A, out=q)
    np.testing.assert_array_equal(q, TAU)
    both = np.concatenate([Q, np.zeros((1, 6))])
    torsor.inverse_dynamics(ARM, both[:-1], V, A, out=both[1:])  # shifted by one state
    np.testing.assert_array_equal(both[1:], TAU)


def test_a_wrong_out_is_refused():
    with pytest.raises(ShapeError, match=r"out: `tau` must be an array of shape \(203, 6\) of float64, got \(203, 7\)"):
        torsor.inverse_dynamics(ARM, Q, V, A, out=np.zeros((203, 7)))
    with pytest.raises(ShapeError, match=r"of float64, got .* of float32"):
        torsor.inverse_dynamics(ARM, Q, V, A, out=np.zeros((203, 6), np.float32))
    frozen = np.zeros((203, 6))
    frozen.flags.writeable = False
    with pytest.raises(ShapeError, match="read-only"):
        torsor.inverse_dynamics(ARM, Q, V, A, out=frozen)


def test_single_precision_is_single_precision():
    q, v, a = (x.astype(np.float32) for x in (Q, V, A))
    tau = torsor.inverse_dynamics(ARM, q, v, a)
    assert tau.dtype == np.float32
    np.testing.assert_allclose(tau, TAU, rtol=0, atol=2e-5 * np.abs(TAU).max())  # float32 has seven digits
    np.testing.assert_array_equal(torsor.inverse_dynamics(ARM, q[7], v[7], a[7]), tau[7])
    assert torsor.inverse_dynamics(ARM, q, V, a).dtype == np.float64  # mixed: the wider one


def test_a_batch_of_zero():
    empty = np.zeros((4, 0, 6))
    assert torsor.inverse_dynamics(ARM, empty, empty, empty).shape == (4, 0, 6)
    assert torsor.mass_matrix(ARM, empty).shape == (4, 0, 6, 6)


def test_non_finite_numbers_stay_in_their_own_state():
    q = Q.copy()
    q[10], q[11, 3], q[12, 0] = np.nan, np.inf, 1e300
    tau = torsor.inverse_dynamics(ARM, q, V, A)
    assert not np.isfinite(tau[10]).any()
    assert not np.isfinite(tau[11, :3]).any()
    assert np.isfinite(tau[12]).all()
    rest = np.r_[0:10, 13:203]
    np.testing.assert_array_equal(tau[rest], TAU[rest])


def test_a_forked_child_makes_its_own_threads():
    q, v, a = torsor.random_state(ARM, seed=1, batch=(20_000,))
    torsor.set_threads(2)
    expected = torsor.inverse_dynamics(ARM, q, v, a)  # the pool exists now
    code = (
        "import os, sys, numpy as np, torsor\n"
        "arm = torsor.robots.ur5()\nq, v, a = torsor.random_state(arm, seed=1, batch=(20_000,))\ntorsor.set_threads(2)\n"
        "one = torsor.inverse_dynamics(arm, q, v, a)\nchild = os.fork()\n"
        "if child == 0:\n    os._exit(0 if np.array_equal(torsor.inverse_dynamics(arm, q, v, a), one) else 3)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), float(one.sum()))"
    )
    if not hasattr(os, "fork"):
        pytest.skip("this system does not fork")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    status, total = done.stdout.split()
    assert status == "0"
    assert float(total) == expected.sum()
