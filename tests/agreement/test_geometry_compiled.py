"""Tensors of the metric compiled, and as products of whole arrays: two forms, one number, one manner.

Which form a robot gets depends on its size alone, so a caller must not see the difference: the same values, shapes, types
and errors. Both are forced here on robots small enough for either.

Tolerance. The same doubles in another order, where M⁻¹ magnifies: 1e-13, and 1e-15 times the condition number of M, of the
result and of |M⁻¹|, with which curvatures are contracted.
"""

from __future__ import annotations

import inspect
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import torsor
from torsor import Robot, ShapeError
from torsor.border.arrays import signature_of
from torsor.compiler import trace, traced_array
from torsor.compiler.graph import Calls, Product
from torsor.functions import batched_arrays as array_form
from torsor.functions.describe import request_of
from torsor.functions.dispatch import PUBLIC, about_of
from torsor.geometry import mass_matrix_derivatives

pytestmark = pytest.mark.compiled

RANKS = {
    name: len(signature_of(about.algorithm).returned)
    for name, function in sorted(PUBLIC.items())
    if (about := about_of(function)).arrays is not None and about.outputs.kind is None
}
BATCHES = ((), (3,), (2, 3), (0,))
FORMS = ("program", "arrays")


def tree(*kinds: str, seed: int) -> Robot:
    robot = torsor.robots.random_tree(len(kinds), seed=seed, kinds=kinds, serial=True, armature=True)
    assert set(robot.structure.kinds) == set(kinds)
    return robot


SMALL = {
    "ball and slide": tree("spherical", "prismatic", seed=2),
    "mimic joints": torsor.robots.random_tree(5, seed=21, kinds=("revolute", "prismatic", "helical"), mimic=True),
    "point masses": torsor.robots.planar_chain([1.0, 0.5], [0.4, 1.0]),  # whose mass matrix might be singular
}
LARGER = {
    "hinge, plane and screw": tree("revolute", "planar", "helical", seed=0),
    "free body": tree("free", seed=0),
    "four hinges": torsor.robots.chain(4),
}
ROBOTS = {**SMALL, **LARGER}
CASES = [(name, robot) for robot in SMALL for name in RANKS]
# Of the larger ones not all, for a second goes into compiling each.
CASES += [(name, robot) for robot in LARGER for name in ("christoffel_symbols_by_brackets", "riemann_curvature")]
CASES += [("christoffel_symbols_derivative", "hinge, plane and screw"), ("curvature_norm", "hinge, plane and screw")]
CASES += [("christoffel_symbols", "four hinges"), ("sectional_curvature", "four hinges")]


@contextmanager
def form(kind: str) -> Iterator[list[str]]:
    """One of `FORMS` for every robot; gives the list of functions that went by arrays."""
    used = []

    evaluate = array_form.InArrays.__call__

    def spied(self: array_form.InArrays, *rest: object) -> object:
        used.append(self.algorithm.__name__)
        return evaluate(self, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(array_form, "ENTRIES_MOST", 0 if kind == "arrays" else 10**12)
        patch.setattr(array_form.InArrays, "__call__", spied)
        yield used


def call(kind: str, name: str, robot: Robot, *args: object, **kwargs: object) -> np.ndarray:
    """A public function in one of its forms. Each form has a robot of its own: calls that repeat are not asked again."""
    robot = robot.rename({}, robot=f"{robot.name} {kind}")
    with form(kind) as used:
        result = PUBLIC[name](robot, *args, **kwargs)
    assert (name in used) == (kind == "arrays")
    return result


def arguments(name: str, robot: Robot, batch: tuple[int, ...]) -> dict[str, np.ndarray]:
    q, u, w = torsor.random_state(robot, seed=1, batch=batch)
    state = {"q": q, "u": u, "w": w, "v": w, "energy": np.full(batch, 1e3)}
    return {key: state[key] for key in inspect.signature(about_of(PUBLIC[name]).algorithm).parameters if key != "robot"}


def loss_of(robot: Robot, q: np.ndarray) -> float:
    """What rounding and M⁻¹ may cost."""
    with torsor.backend("numpy"):
        M = torsor.mass_matrix(robot, q)
    inverse = max(1.0, np.abs(np.linalg.inv(M)).max(initial=0.0))
    return (1e-13 + 1e-15 * float(np.linalg.cond(M).max(initial=1.0))) * inverse


def assert_same(got: np.ndarray, want: np.ndarray, within: float) -> None:
    assert type(got) is np.ndarray and type(want) is np.ndarray
    assert got.shape == want.shape and got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=0, atol=within * (1 + np.abs(want).max(initial=0.0)))


@pytest.mark.parametrize(("name", "robot"), CASES)
def test_both_forms_give_one_number_for_batches_of_every_shape(name, robot):
    robot = ROBOTS[robot]
    for batch in BATCHES:
        given = arguments(name, robot, batch)
        want, got = (call(kind, name, robot, *given.values()) for kind in FORMS)
        assert want.shape == (*batch, *(robot.nv,) * RANKS[name])
        within = loss_of(robot, given["q"])
        assert_same(got, want, within)
        with torsor.backend("numpy"):
            assert_same(got, np.asarray(PUBLIC[name](robot, **given)), within)


@pytest.mark.parametrize("name", ["riemann_curvature", "christoffel_symbols_derivative", "curvature_norm"])
@pytest.mark.parametrize("robot", ["ball and slide", "mimic joints", "hinge, plane and screw"])
def test_as_loops_they_are_the_same(name, robot, monkeypatch):
    """What programs of many joints consist of, on robots of every kind of joint: rows called, and products as loops."""
    monkeypatch.setattr(trace, "CALLED", {1: 1})
    for place in (traced_array, mass_matrix_derivatives):
        monkeypatch.setattr(place, "FEW", 1)
    robot = ROBOTS[robot].rename({}, robot=f"{robot} in loops")
    given = arguments(name, robot, (3,))
    got = call("program", name, robot, *given.values())
    program = about_of(PUBLIC[name]).program(request_of(about_of(PUBLIC[name]).algorithm, {"robot": robot, **given})[0])
    assert {type(program.graph.values[node]) for node in program.live()} >= {Product, Calls}
    with torsor.backend("numpy"):
        assert_same(got, np.asarray(PUBLIC[name](robot, **given)), loss_of(robot, given["q"]))
    one = call("program", name, robot, *(x[1] for x in given.values()))
    np.testing.assert_array_equal(one, got[1])


def test_a_long_chain_is_compiled_as_loops():
    """Twelve joints, enough for every loop: as plain arrays have it, and the same bits alone and beside others."""
    robot = torsor.robots.chain(12)
    q = torsor.random_configuration(robot, seed=0, batch=(9,))
    R = torsor.geometry.riemann_curvature(robot, q)
    with torsor.backend("numpy"):
        assert_same(R, torsor.geometry.riemann_curvature(robot, q), loss_of(robot, q))
    np.testing.assert_array_equal(torsor.geometry.riemann_curvature(robot, q[4]), R[4])


# How they are called: a tensor, a matrix's worth of numbers, and one number of three arguments

SOME = ("christoffel_symbols", "scalar_curvature", "sectional_curvature")
ROBOT = SMALL["ball and slide"]


@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize("name", SOME)
def test_arguments_may_be_named_lists_and_shared_by_the_batch(name, kind):
    given = arguments(name, ROBOT, (2, 3))
    want = call(kind, name, ROBOT, *given.values())
    assert_same(call(kind, name, ROBOT, **dict(reversed(given.items()))), want, 0.0)
    named = dict(list(given.items())[1:])
    assert_same(call(kind, name, ROBOT, given["q"], **named), want, 0.0)
    assert_same(call(kind, name, ROBOT, *(x.tolist() for x in given.values())), want, 0.0)
    assert_same(call(kind, name, ROBOT, *(x[:, ::-1] for x in given.values())), want[:, ::-1], 1e-14)
    assert_same(call(kind, name, ROBOT, *(x.astype(">f8") for x in given.values())), want, 1e-14)
    if name == "sectional_curvature":
        q, u, w = given.values()
        shared = call(kind, name, ROBOT, q, u[0], w[0, 0])
        spread = call(kind, name, ROBOT, q, np.broadcast_to(u[0], u.shape), np.broadcast_to(w[0, 0], w.shape))
        assert_same(shared, spread, 1e-14)
        one = call(kind, name, ROBOT, q[0, 0], u, w)  # one state, many planes
        assert one.shape == (2, 3)
        assert_same(np.asarray(one[0, 0]), np.asarray(want[0, 0]), loss_of(ROBOT, q))


@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("batch", BATCHES)
def test_results_may_be_written_into_an_array_of_any_layout(name, kind, batch):
    given = arguments(name, ROBOT, batch)
    want = call(kind, name, ROBOT, *given.values())
    rows = want.shape or (1,)
    layouts = [
        np.full(want.shape, np.nan),
        np.full(want.shape, np.nan, order="F"),
        np.full((2 * rows[0], *rows[1:]), np.nan)[::2].reshape(want.shape),  # a view, unless there is one number
        np.full(rows, np.nan)[..., ::-1].reshape(want.shape),
    ]
    for out in layouts:
        assert call(kind, name, ROBOT, *given.values(), out=out) is out
        assert_same(out, want, 0.0)


@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize("name", SOME)
def test_an_array_that_cannot_hold_the_result_is_refused(name, kind):
    given = arguments(name, ROBOT, (3,))
    shape = (3, *(ROBOT.nv,) * RANKS[name])
    unfit = [np.empty((2, *shape[1:])), np.empty((*shape, 1)), np.empty(shape[1:]), np.empty(shape, np.float32)]
    unfit += [np.empty(shape, int), np.empty(shape).tolist()]
    for out in unfit:
        with pytest.raises(ShapeError, match=r"must be an array of shape \(3,.*\) of float64, got "):
            call(kind, name, ROBOT, *given.values(), out=out)
    with pytest.raises(ShapeError, match="read-only"):
        call(kind, name, ROBOT, *given.values(), out=np.broadcast_to(0.0, shape))


@pytest.mark.parametrize("kind", FORMS)
def test_what_is_written_may_lie_where_the_arguments_are(kind):
    q = arguments("scalar_curvature", ROBOT, (40,))["q"]
    want = call(kind, "scalar_curvature", ROBOT, q)
    memory = q.ravel().copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(array_form, "SLICE", 1)  # one state after another
        call(kind, "scalar_curvature", ROBOT, memory.reshape(q.shape), out=memory[20:60])
    assert_same(memory[20:60], want, 1e-14)


@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize("name", SOME)
def test_single_precision_gives_single_precision(name, kind):
    given = arguments(name, ROBOT, (3,))
    want = call(kind, name, ROBOT, *given.values())
    single = {key: x.astype(np.float32) for key, x in given.items()}
    got = call(kind, name, ROBOT, *single.values())
    assert got.dtype == np.float32
    # Rounding of 6e-8, magnified by M⁻¹ and by what cancels in curvature.
    loss = 1e-5 * np.linalg.cond(torsor.mass_matrix(ROBOT, given["q"])).max()
    np.testing.assert_allclose(got, want, rtol=0, atol=loss * (1 + np.abs(want).max()))
    out = np.empty_like(got)
    assert call(kind, name, ROBOT, *single.values(), out=out) is out
    np.testing.assert_array_equal(out, got)
    with pytest.raises(ShapeError, match=r"of float32, got .* of float64"):
        call(kind, name, ROBOT, *single.values(), out=np.empty(got.shape))


@pytest.mark.parametrize("kind", FORMS)
def test_one_argument_in_doubles_makes_all_of_it_doubles(kind):
    """A configuration in single precision is then exact, not the start of a computation in single precision."""
    q, u, w = arguments("sectional_curvature", ROBOT, (3,)).values()
    q = q.astype(np.float32)
    got = call(kind, "sectional_curvature", ROBOT, q, u, w)
    want = call(kind, "sectional_curvature", ROBOT, q.astype(np.float64), u, w)
    assert got.dtype == np.float64
    assert_same(got, want, 1e-14)


@pytest.mark.parametrize("kind", FORMS)
def test_calls_that_make_no_sense_are_refused_alike(kind):
    q, u, w = arguments("sectional_curvature", ROBOT, (3,)).values()
    with pytest.raises(TypeError, match="sectional_curvature: `w` is missing"):
        call(kind, "sectional_curvature", ROBOT, q, u)
    with pytest.raises(TypeError, match="christoffel_symbols: `q` is missing"):
        call(kind, "christoffel_symbols", ROBOT)
    with pytest.raises(TypeError, match="is one argument too many"):
        call(kind, "christoffel_symbols", ROBOT, q, u)
    with pytest.raises(ShapeError, match=r"`w` must have shape \(\.\.\., 4\)"):
        call(kind, "sectional_curvature", ROBOT, q, u, w[:, :3])
    with pytest.raises(ShapeError, match="do not broadcast"):
        call(kind, "sectional_curvature", ROBOT, q, u[:2], w)


@pytest.mark.parametrize("kind", FORMS)
def test_singular_states_and_nan_are_answered_with_nan_where_they_are(kind):
    robot = torsor.robots.planar_chain([1.0, 0.5], [0.0, 1.0])  # all mass at its end: det M = 0 where it is stretched
    q = np.array([[0.3, 0.0], [0.3, 1.0], [np.nan, 1.0], [0.3, np.nan], [0.2, 2.0]])
    clean = call(kind, "scalar_curvature", robot, q[[1, 4]])
    scalar = call(kind, "scalar_curvature", robot, q)
    np.testing.assert_array_equal(np.isnan(scalar[[0, 3]]), True)
    np.testing.assert_array_equal(scalar[[1, 4]], clean)
    Gamma = call(kind, "christoffel_symbols", robot, q)
    assert np.isfinite(Gamma[[0, 1, 4]]).all()


# Slices of a batch


@pytest.mark.parametrize("name", RANKS)
def test_a_batch_cut_into_slices_is_the_batch(name):
    """Slices of one state, of a few with a rest, and all at once."""
    given = arguments(name, ROBOT, (2, 5))
    whole = call("arrays", name, ROBOT, *given.values())
    with pytest.MonkeyPatch.context() as patch:
        for size in (1, 8 * 3 * ROBOT.nv**4, 10**12):
            patch.setattr(array_form, "SLICE", size)
            out = np.full(whole.shape, np.nan)  # so that nothing is left out unseen
            assert_same(call("arrays", name, ROBOT, *given.values(), out=out), whole, loss_of(ROBOT, given["q"]))


@pytest.mark.parametrize("name", ["scalar_curvature", "ricci_curvature"])
def test_contractions_of_large_batches_do_not_hold_the_tensor_of_every_state(name):
    robot = torsor.robots.chain(12)
    q = torsor.random_configuration(robot, seed=0, batch=(300,))
    call("arrays", name, robot, q[:1])
    tracemalloc.start()
    result = call("arrays", name, robot, q)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.shape[0] == 300
    # 12⁴ numbers a state make 50 MB for all of them; a slice is 8 MB, and some of it is there twice or thrice.
    assert peak < 32e6


# Which form a robot gets


def test_chains_of_twenty_are_compiled_and_those_of_eighty_are_not():
    for name in RANKS:
        form = about_of(PUBLIC[name]).arrays
        assert not form.is_better_for(torsor.robots.panda())
        assert form.is_better_for(torsor.robots.chain(20)) == (name == "christoffel_symbols_by_brackets")
        assert form.is_better_for(torsor.robots.chain(80))
