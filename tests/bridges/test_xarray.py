"""DataArrays in, DataArrays out: dimensions and coordinates stay."""

import numpy as np
import pytest
from libraries import library

import torsor

xarray = library("xarray")
pytestmark = pytest.mark.compiled


@pytest.fixture
def labelled(states):
    """q, v, a over time, with the names of the joints."""
    labels = {"time": np.arange(7) * 0.1, "joint": ["shoulder", "elbow"], "run": ("time", list("aaabbbb"))}
    return [xarray.DataArray(x, dims=("time", "joint"), coords=labels) for x in states]


def test_batch_dimensions_and_coordinates_stay(arm, states, labelled):
    tau = torsor.inverse_dynamics(arm, *labelled)
    assert (tau.name, tau.dims) == ("tau", ("time", "joint"))
    np.testing.assert_array_equal(tau.values, torsor.inverse_dynamics(arm, *states))
    for name, coordinate in labelled[0].coords.items():
        assert tau.coords[name].equals(coordinate)


def test_the_axes_of_results_are_named(arm, ball, states, labelled):
    M = torsor.mass_matrix(arm, labelled[0])
    assert M.dims == ("time", "joint", "joint_2")
    assert list(M.coords["joint_2"].values) == ["shoulder", "elbow"]
    np.testing.assert_array_equal(M.values, torsor.mass_matrix(arm, states[0]))
    q = xarray.DataArray(np.tile(ball.neutral, (3, 1)), dims=("sample", "number"))
    assert torsor.mass_matrix(ball, q).dims == ("sample", "nv", "nv_2")  # q is not counted as v is
    T = torsor.frame_pose(ball, q, "tool")
    assert T.dims == ("sample", "T_0", "T_1")


def test_dimensions_are_matched_by_name(arm, states, labelled):
    loads = xarray.DataArray([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]], dims=("load", "joint"), coords={"load": [5, 6, 7]})
    tau = torsor.inverse_dynamics(arm, labelled[0], labelled[1], loads)
    assert tau.dims == ("time", "load", "joint")
    want = torsor.inverse_dynamics(arm, states[0][:, None], states[1][:, None], loads.values)
    np.testing.assert_array_equal(tau.values, want)
    assert list(tau.coords["load"].values) == [5, 6, 7]


def test_arrays_and_lists_go_along(arm, states, labelled):
    tau = torsor.inverse_dynamics(arm, labelled[0], states[1][0], [0.0, 1.0])
    np.testing.assert_array_equal(tau.values, torsor.inverse_dynamics(arm, states[0], states[1][0], [0.0, 1.0]))


def test_several_results_kernels_and_lie(arm, states, labelled):
    found = torsor.inverse_dynamics_derivatives(arm, *labelled)
    for one, other in zip(found, torsor.inverse_dynamics_derivatives(arm, *states), strict=True):
        assert one.dims == ("time", "joint", "joint_2")
        np.testing.assert_array_equal(one.values, other)
    kernel = torsor.compile(lambda robot, q: {"twice": 2.0 * q, "half": 0.5 * q}, arm)
    half = kernel(labelled[0])["half"]
    assert (half.name, half.dims) == ("half", ("time", "half_0"))
    np.testing.assert_array_equal(half.values, 0.5 * states[0])
    R = torsor.lie.so3.exp(xarray.DataArray(np.ones((2, 3)), dims=("sample", "axis")))
    assert R.dims == ("sample", "result_0", "result_1")


def test_steps_of_a_scan_are_a_dimension(arm, labelled):
    rollout = torsor.scan(lambda robot, q: {"q": 2.0 * q}, arm, state={"q": 2})
    assert rollout(q=labelled[0], steps=3)["q"].dims == ("time", "step", "q_1")


def test_dask_behind_it_stays_lazy(arm, states, labelled):
    library("dask")
    M = torsor.mass_matrix(arm, labelled[0].chunk({"time": 3}))
    assert M.chunks[0] == (3, 3, 1)
    np.testing.assert_array_equal(M.compute().values, torsor.mass_matrix(arm, states[0]))
    with pytest.raises(torsor.ShapeError, match=r"mass_matrix: xarray cannot match the arguments.*joint"):
        torsor.mass_matrix(arm, labelled[0].chunk({"joint": 1}))


def test_what_is_refused(arm, ball, labelled):
    q, v, a = labelled
    with pytest.raises(torsor.TorsorError, match=r"gravity_forces: `q`: this is an xarray Dataset.*as in x\['q'\]"):
        torsor.gravity_forces(arm, q.to_dataset(name="q"))
    with pytest.raises(
        torsor.TorsorError, match=r"gravity_forces: `q`: this is an xarray Variable: pass xarray.DataArray\(x\)"
    ):
        torsor.gravity_forces(arm, q.variable)
    with pytest.raises(torsor.ShapeError, match="inverse_dynamics: xarray cannot match the arguments"):
        torsor.inverse_dynamics(arm, q, v.assign_coords(joint=["elbow", "shoulder"]), a)
    with pytest.raises(torsor.ShapeError, match=r"gravity_forces: `q` must have shape \(..., 2\).*pass `q.T`"):
        torsor.gravity_forces(arm, q.T)
    with pytest.raises(torsor.ShapeError, match=r"gravity_forces: `q` must have shape \(..., 2\)"):
        torsor.gravity_forces(arm, xarray.DataArray(1.0))
    with pytest.raises(
        torsor.ShapeError, match="kinetic_energy: `v` has 2 batch axes without names, and the DataArrays"
    ):
        torsor.kinetic_energy(arm, q, np.zeros((5, 7, 2)))
    with pytest.raises(torsor.TorsorError, match="gravity_forces: out= takes NumPy arrays"):
        torsor.gravity_forces(arm, q, out=np.empty((7, 2)))
    numbers = xarray.DataArray(ball.neutral, dims="joint")
    with pytest.raises(
        torsor.ShapeError, match="coriolis_forces: the dimension 'joint' has size 8 in `q` and 6 in `v`"
    ):
        torsor.dynamics.coriolis_forces(ball, numbers, xarray.DataArray(np.zeros(6), dims="joint"))
