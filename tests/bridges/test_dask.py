"""Dask arrays in, dask arrays out: nothing is computed before it is asked for."""

import pickle

import numpy as np
import pytest
from libraries import library

import torsor

library("dask")
da = library("dask.array")
pytestmark = pytest.mark.compiled


@pytest.fixture
def blocks(states):
    """The states in blocks of three, and the last of one."""
    return [da.from_array(x, chunks=(3, 2)) for x in states]


def test_results_are_lazy_have_the_blocks_of_the_batch_and_the_numbers_of_arrays(arm, states, blocks):
    M = torsor.mass_matrix(arm, blocks[0])
    assert isinstance(M, da.Array)
    assert (M.shape, M.dtype, M.chunks[0]) == ((7, 2, 2), np.float64, (3, 3, 1))
    np.testing.assert_array_equal(M.compute(scheduler="synchronous"), torsor.mass_matrix(arm, states[0]))
    tau = torsor.inverse_dynamics(arm, *blocks)
    np.testing.assert_array_equal(tau.compute(scheduler="threads"), torsor.inverse_dynamics(arm, *states))


def test_nothing_is_computed_by_the_call(arm):
    def never(_):
        raise AssertionError("computed")

    q = da.zeros((6, 2), chunks=(2, 2)).map_blocks(never, dtype=float, meta=np.empty((0, 0)))
    assert torsor.gravity_forces(arm, q).shape == (6, 2)


def test_arrays_and_lists_go_along_and_broadcast(arm, states, blocks):
    tau = torsor.inverse_dynamics(arm, blocks[0], states[1], blocks[2].rechunk((2, 2)))
    np.testing.assert_array_equal(tau.compute(), torsor.inverse_dynamics(arm, *states))
    tau = torsor.inverse_dynamics(arm, blocks[0], states[1][0], [0.0, 1.0])
    np.testing.assert_array_equal(tau.compute(), torsor.inverse_dynamics(arm, states[0], states[1][0], [0.0, 1.0]))


def test_several_results_kernels_and_lie(arm, states, blocks):
    found = torsor.inverse_dynamics_derivatives(arm, *blocks)
    want = torsor.inverse_dynamics_derivatives(arm, *states)
    assert type(found) is type(want)
    for one, other in zip(found, want, strict=True):
        np.testing.assert_array_equal(one.compute(), other)
    kernel = torsor.compile(lambda robot, q, v: {"twice": 2.0 * q, "sum": q + v}, arm)
    np.testing.assert_array_equal(kernel(*blocks[:2])["sum"].compute(), states[0] + states[1])
    turned = torsor.lie.so3.exp(da.ones((4, 3), chunks=(2, 3)))
    np.testing.assert_array_equal(turned.compute(), torsor.lie.so3.exp(np.ones((4, 3))))


def test_single_precision_stays(arm, blocks):
    assert torsor.gravity_forces(arm, blocks[0].astype(np.float32)).dtype == np.float32


def test_a_batch_whose_size_dask_does_not_know(arm, states, blocks):
    chosen = blocks[0][blocks[0][:, 0] > 0.0]
    tau = torsor.gravity_forces(arm, chosen)
    np.testing.assert_array_equal(tau.compute(), torsor.gravity_forces(arm, states[0][states[0][:, 0] > 0.0]))


def test_scans(arm, states, blocks):
    rollout = torsor.scan(lambda robot, q, v: {"q": q + 0.1 * v, "v": v}, arm, state={"q": 2, "v": 2})
    found = rollout(q=blocks[0], v=states[1], steps=3)["q"]
    np.testing.assert_array_equal(found.compute(), rollout(q=states[0], v=states[1], steps=3)["q"])


def test_one_state(arm, states):
    np.testing.assert_array_equal(
        torsor.gravity_forces(arm, da.from_array(states[0][0])).compute(), torsor.gravity_forces(arm, states[0][0])
    )


def test_the_work_can_be_sent_to_other_processes(arm, blocks):
    cloudpickle = library("cloudpickle")
    kernel = torsor.compile(torsor.inverse_dynamics, arm)
    for result in (torsor.inverse_dynamics(arm, *blocks), kernel(*blocks), torsor.lie.so3.exp(da.ones((4, 3)))):
        sent = pickle.loads(cloudpickle.dumps(result))
        np.testing.assert_array_equal(sent.compute(), result.compute())


def test_what_is_refused_is_refused_at_once(arm, states, blocks):
    with pytest.raises(torsor.ShapeError, match=r"gravity_forces: `q` is cut along axis -1.*q.rechunk\(\{-1: -1\}\)"):
        torsor.gravity_forces(arm, da.from_array(states[0], chunks=(7, 1)))
    with pytest.raises(torsor.ShapeError, match=r"gravity_forces: `q` must have shape \(..., 2\).*got \(7, 3\)"):
        torsor.gravity_forces(arm, da.zeros((7, 3)))
    with pytest.raises(
        torsor.ShapeError, match="gravity_forces: `q` must be real numbers, got a dask array of complex128"
    ):
        torsor.gravity_forces(arm, blocks[0].astype(complex))
    with pytest.raises(
        torsor.ShapeError, match=r"kinetic_energy: the batch axes .* do not broadcast: `q` \(7,\), `v` \(5,\)"
    ):
        torsor.kinetic_energy(arm, blocks[0], np.zeros((5, 2)))
    with pytest.raises(torsor.TorsorError, match="gravity_forces: out= is for results that are computed now"):
        torsor.gravity_forces(arm, blocks[0], out=np.empty((7, 2)))
