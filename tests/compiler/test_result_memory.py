"""Memory of large results: from the pool when it has some, back to it on collection, never two results in one place."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

import torsor
from torsor.compiler.run import fast_entry, result_memory
from torsor.compiler.run.result_memory import LEAST, MOST_BLOCKS, MOST_BYTES, waiting

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(fast_entry.why_unused() is not None, reason="without the fast entry, NumPy's memory serves"),
]
DOUBLE = np.dtype(np.float64)


@pytest.fixture(autouse=True)
def nothing_else_is_collected():
    """Results of other tests that the collector finds in between would be the youngest blocks that wait."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def new(size: int) -> np.ndarray:
    """An array of so many bytes."""
    return fast_entry.new_arrays([(size // 8,)], DOUBLE)[0]


def on_a_new_block(size: int) -> np.ndarray:
    """An array whose block was made for it: one that waited from other tests may be larger, so that less would not fit it."""
    held, before = [], waiting().taken
    while waiting().taken == before:
        held.append(new(size))
    return held[-1]


def test_a_block_serves_again_after_collection_and_not_before():
    first = on_a_new_block(10 * LEAST)
    first[:], place = 1.0, first.ctypes.data
    assert place % 64 == 0 and first.flags.owndata and first.flags.carray and first.base is None
    part, other = first[5:9], new(10 * LEAST)
    other[:] = 2.0
    assert other.ctypes.data != place and np.all(first == 1)
    del first
    assert new(10 * LEAST).ctypes.data != place and np.all(part == 1)  # a view keeps it
    del part
    before = waiting()
    again = new(10 * LEAST - 64)
    assert again.ctypes.data == place
    assert waiting().served == before.served + 1 and waiting().blocks == before.blocks - 1
    assert new(5 * LEAST).ctypes.data != new(LEAST).ctypes.data  # what is far too large serves nobody


def test_what_waits_is_bounded_and_the_oldest_goes_first():
    large = [new(MOST_BYTES // 4) for _ in range(6)]
    places = [array.ctypes.data for array in large]
    del large[:]
    assert waiting().bytes <= MOST_BYTES and waiting().blocks <= MOST_BLOCKS
    assert new(MOST_BYTES // 4).ctypes.data in places
    many = [new(LEAST + 4096 * k) for k in range(2 * MOST_BLOCKS)]
    many.clear()
    assert waiting().blocks == MOST_BLOCKS and waiting().bytes <= MOST_BYTES
    before = waiting()
    beyond = new(MOST_BYTES + 2**20)
    del beyond
    assert (waiting().blocks, waiting().bytes) == (before.blocks, before.bytes)  # never waits


def test_arrays_of_the_pool_are_numpys_own_in_every_respect():
    array = new(4 * LEAST)
    array[:] = np.arange(len(array))
    array.resize(9 * len(array), refcheck=False)
    assert np.array_equal(array[: len(array) // 9], np.arange(len(array) // 9)) and not array[len(array) // 9 :].any()
    array.resize(10, refcheck=False)
    assert np.array_equal(array, np.arange(10.0)) and np.array_equal(array.copy(), array)
    seen, ring = weakref.ref(array), [array]
    ring.append(ring)
    del array, ring
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize("states", [1, 3, 700])
def test_results_are_the_same_in_used_memory(states):
    """Numbers of a collected result must not be seen in the next one: kernels write all of it."""
    robot = torsor.robots.panda()
    q = np.random.default_rng(0).normal(size=(states, 7))
    expected = np.array(torsor.mass_matrix(robot, q))
    for _ in range(3):
        spoiled = torsor.mass_matrix(robot, q)
        spoiled.fill(np.nan)
        del spoiled
        assert np.array_equal(torsor.mass_matrix(robot, q), expected)


def test_threads_get_blocks_of_their_own():
    def work(mark: float) -> None:
        for _ in range(300):
            arrays = [new(LEAST + 8192 * k) for k in range(3)]
            for array in arrays:
                array.fill(mark)
            wrong.extend(array for array in arrays if not (array[0] == array[-1] == mark))

    wrong: list[np.ndarray] = []
    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_where_numpy_has_another_protocol_results_are_made_as_usual(monkeypatch):
    monkeypatch.setattr(result_memory, "VERSION", 2)
    assert result_memory.begin([0] * 4) == 0
