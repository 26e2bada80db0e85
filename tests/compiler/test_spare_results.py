"""Arrays that a remembered call has of its own for its results: used again only when nobody else can see them."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import torsor

pytestmark = pytest.mark.compiled
ARM = torsor.robots.ur5()
STATES = [torsor.random_state(ARM, seed=k) for k in range(4)]
EXPECTED = torsor.inverse_dynamics(ARM, *(np.stack(x) for x in zip(*STATES, strict=True)))
HOLDERS = {
    "the array": lambda x: x,
    "a view": lambda x: x[1:],
    "another shape": lambda x: x.reshape(2, 3),
    "a memoryview": memoryview,
    "a buffer": lambda x: np.frombuffer(x),
    "C's pointer": lambda x: x.ctypes.data_as(np.ctypeslib.ctypes.c_void_p),
    "DLPack": np.from_dlpack,
    "an iterator": lambda x: np.nditer(x),
}


def call(k):
    return torsor.inverse_dynamics(ARM, *STATES[k])


def settle():
    """The call is remembered, and its arrays are free."""
    gc.collect()
    for k in range(3):
        call(k)


def same_calls():
    """Results of the next calls, all held."""
    return [call(k % 4) for k in range(8)]


def are_right(results):
    return all(np.array_equal(x, EXPECTED[k % 4]) for k, x in enumerate(results))


def test_arrays_are_used_again():
    settle()
    places = {call(k % 4).ctypes.data for k in range(20)}
    assert len(places) <= 2


@pytest.mark.parametrize("holder", HOLDERS)
def test_what_somebody_has_is_never_written_again(holder):
    settle()
    held = [HOLDERS[holder](call(0)) for _ in range(3)]
    results = same_calls()
    assert are_right(results)
    assert len({x.ctypes.data for x in results}) == 8
    if holder in ("the array", "a buffer", "DLPack"):
        assert all(np.array_equal(x, EXPECTED[0]) for x in held)
    if holder == "a view":
        assert all(np.array_equal(x, EXPECTED[0][1:]) for x in held)


CHANGES = {
    "shape": lambda x: setattr(x, "shape", (3, 2)),
    "type": lambda x: setattr(x, "dtype", np.int64),
    "flags": lambda x: x.setflags(write=False),
    "size": lambda x: x.resize((2, 6), refcheck=False),
    "numbers": lambda x: x.fill(np.nan),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_does_not_come_back(change):
    settle()
    for _ in range(3):
        mine = call(1)
        CHANGES[change](mine)
        del mine
        for result in (call(2), call(2)):
            assert result.shape == (6,)
            assert result.dtype == np.float64
            assert result.flags.writeable
            assert result.flags.owndata
            np.testing.assert_array_equal(result, EXPECTED[2])


def test_who_is_referred_to_weakly_is_left_alone():
    settle()
    mine = call(0)
    seen = weakref.ref(mine)
    del mine
    for k in range(4):
        result = call(k)
        assert result is not seen()
        np.testing.assert_array_equal(result, EXPECTED[k])


def test_results_outlive_their_robot():
    arm = torsor.robots.puma560()
    q, v, a = torsor.random_state(arm, seed=0)
    held = [torsor.inverse_dynamics(arm, q, v, a) for _ in range(4)]
    del arm
    for k in range(3):
        other = torsor.robots.puma560().with_gravity((0.0, 0.0, float(k)))
        torsor.inverse_dynamics(other, q, v, a)
        gc.collect()
    for x in held[1:]:
        np.testing.assert_array_equal(x, held[0])


def test_several_results_and_matrices():
    q, v, a = STATES[0]
    expected = [x.copy() for x in torsor.inverse_dynamics_derivatives(ARM, q, v, a)]
    for k in range(6):
        torsor.inverse_dynamics_derivatives(ARM, *STATES[k % 4])
        one = torsor.inverse_dynamics_derivatives(ARM, q, v, a).q
        two = torsor.inverse_dynamics_derivatives(ARM, q, v, a)
        torsor.inverse_dynamics_derivatives(ARM, *STATES[1])
        np.testing.assert_array_equal(one, expected[0])
        for x, y in zip(two, expected, strict=True):
            np.testing.assert_array_equal(x, y)


def test_threads():
    settle()

    def work(k):
        held = []
        for _ in range(300):
            held = [*held[-3:], call(k)]
            if not all(np.array_equal(x, EXPECTED[k]) for x in held):
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
