"""Arrays that torsor does not take are refused in words, wherever numbers are read: they are never silently made NumPy's."""

import numpy as np
import pytest
from libraries import library

import torsor

ARM = torsor.robots.planar2r()
KERNEL = torsor.compile(torsor.gravity_forces, ARM)
SCAN = torsor.scan(lambda robot, q: {"q": q}, ARM, state={"q": 2})


class Tensor:
    """An array of a library that nobody knows: it hands over its memory, and could be made NumPy's."""

    def __init__(self, numbers):
        self._numbers = np.asarray(numbers, float)

    def __array__(self, dtype=None, copy=None):
        return self._numbers

    def __dlpack__(self, **_):
        return self._numbers.__dlpack__()


def masked(numbers):
    """Refused whether something is masked or not: what depends on the numbers would fail long after it was written."""
    return np.ma.array(numbers)


def pint(numbers):
    return np.asarray(numbers, float) * library("pint").UnitRegistry().rad


def unyt(numbers):
    return library("unyt").unyt_array(numbers, "rad")


KINDS = {
    "masked": (masked, r"this is a masked array.*x.filled\(0.0\)"),
    "masked in part": (lambda x: np.ma.masked_equal(x, np.ravel(x)[0]), "this is a masked array"),
    "pint": (pint, r"this is a pint Quantity.*x.to\('rad'\).magnitude"),
    "pint in a list": (lambda x: list(pint(x)) if np.ndim(x) else [pint(x)], "in a list there is a pint Quantity"),
    "unyt": (unyt, r"this is a unyt array.*x.to_value\('rad'\)"),
    "unknown": (Tensor, r"this is a .*Tensor, an array of another library.*numpy.from_dlpack\(x\)"),
}
PLACES = {
    "gravity_forces: `q`": lambda x: torsor.gravity_forces(ARM, x([0.1, 0.2])),
    "inverse_dynamics: `a`": lambda x: torsor.inverse_dynamics(ARM, [0, 0], [0, 0], x([0.1, 0.2])),
    "kernel 'gravity_forces of planar2r': `q`": lambda x: KERNEL(x([0.1, 0.2])),
    "scan '<lambda> of planar2r': `q`": lambda x: SCAN(q=x([0.1, 0.2]), steps=2),
    "exp: `w`": lambda x: torsor.lie.so3.exp(x([0.1, 0.2, 0.3])),
    "simulate: `q0`": lambda x: torsor.simulate(ARM, x([0.1, 0.2]), [0, 0], duration=0.1, dt=0.01),
    "with_parameters: `gravity`": lambda x: ARM.with_parameters(gravity=x([0.0, 0.0, -9.81])),
    "with_gravity: `gravity`": lambda x: ARM.with_gravity(x([0.0, 0.0, -9.81])),
    "Inertia: `com`": lambda x: torsor.Inertia(1.0, x([0.0, 0.0, 0.0]), np.eye(3)),
    "VecTose3: `V`": lambda x: torsor.modern_robotics.VecTose3(x(np.ones(6))),
    "inverse_kinematics": lambda x: torsor.inverse_kinematics(ARM, ARM.links[-1], x(np.eye(4))),
}


@pytest.mark.compiled
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_arrays_that_are_not_taken_are_refused_in_words(kind, place):
    make, words = KINDS[kind]
    for _ in range(2):  # the second time, a call like it may be remembered
        with pytest.raises(torsor.TorsorError, match=f"{place}.*{words}"):
            PLACES[place](make)


@pytest.mark.compiled
def test_a_call_that_is_remembered_for_arrays_is_not_taken_for_their_subclasses():
    for call in (lambda q: torsor.gravity_forces(ARM, q), KERNEL):
        for _ in range(3):
            call(np.array([0.1, 0.2]))
        with pytest.raises(torsor.TorsorError, match="this is a masked array"):
            call(np.ma.array([0.1, 0.2]))


def test_other_classes_of_numpy_and_tables_are_numbers():
    want = torsor.gravity_forces(ARM, np.ones((1, 2)))
    np.testing.assert_array_equal(
        torsor.gravity_forces(ARM, np.ones((1, 2)).view(type("Own", (np.ndarray,), {}))), want
    )
    pandas = library("pandas")
    np.testing.assert_array_equal(torsor.gravity_forces(ARM, pandas.DataFrame(np.ones((1, 2)))), want)
    with pytest.raises(torsor.TorsorError, match="gravity_forces: `q` must be an array of numbers"):
        torsor.gravity_forces(ARM, pandas.DataFrame({"a": ["x"], "b": [1.0]}))


def test_a_function_that_is_being_compiled_takes_no_dask_array():
    v = library("dask.array").zeros(2)
    with pytest.raises(
        torsor.TorsorError, match="`v` is a dask array and `q` is an input of a function that is being compiled"
    ):
        torsor.compile(lambda robot, q: torsor.bias_forces(robot, q, v), ARM)


def test_a_tensor_in_place_of_a_frame_is_no_array_of_the_call():
    xarray = library("xarray")
    with pytest.raises(torsor.TorsorError, match=r"frame_pose: .* has no frame"):
        torsor.frame_pose(ARM, xarray.DataArray(np.zeros(2)), xarray.DataArray(np.zeros(2)))


def test_arrays_of_two_libraries_are_refused():
    da, xarray = library("dask.array"), library("xarray")
    with pytest.raises(
        torsor.TorsorError, match="inverse_dynamics: `q` is a dask array and `a` is an xarray DataArray"
    ):
        torsor.inverse_dynamics(ARM, da.zeros(2), [0, 0], xarray.DataArray(np.zeros(2)))
    jax = library("jax")
    with pytest.raises(torsor.TorsorError, match="inverse_dynamics: `v` is a dask array and `q` is an array of JAX"):
        torsor.inverse_dynamics(ARM, jax.numpy.zeros(2), da.zeros(2), [0, 0])
    with pytest.raises(
        torsor.TorsorError, match=r"kernel 'bias_forces.*`v` is a dask array and `q` is an array of JAX"
    ):
        torsor.compile(torsor.bias_forces, ARM)(jax.numpy.zeros(2), da.zeros(2))
