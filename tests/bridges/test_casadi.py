"""`kernel.to_casadi()`: the same operations, as an expression that CasADi differentiates and optimises."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, note, settings, strategies as st
from libraries import library

import torsor
from torsor.compiler.graph import TRUTH_VALUED, Port, Program
from torsor.compiler.kernel import Kernel
from torsor.compiler.trace import trace

sys.path.append(str(Path(__file__).parents[1] / "compiler"))
from random_programs import describe, evaluate, programs

casadi = library("casadi")
pytestmark = pytest.mark.compiled


def test_a_kernel_is_the_same_function_in_casadi():
    robot = torsor.robots.random_tree(4, seed=7, friction=True, armature=True)
    kernel = torsor.compile(torsor.inverse_dynamics, robot)
    function = kernel.to_casadi()
    assert (function.name_in(), function.name_out()) == (["q", "v", "a"], ["tau"])
    rng = np.random.default_rng(0)
    for _ in range(5):
        given = [rng.normal(size=shape) for shape in kernel.inputs.values()]
        want = kernel(*given)
        np.testing.assert_allclose(
            np.ravel(np.array(function(*given))), want, rtol=1e-11, atol=1e-11 * np.abs(want).max()
        )


def test_derivatives_in_casadi_are_those_of_the_kernel(arm, states):
    kernel = torsor.compile(torsor.forward_dynamics, arm)
    function, slopes = kernel.to_casadi(), kernel.jacobian("a", "q", "tau")
    symbols = [casadi.SX.sym(name, *shape) for name, shape in kernel.inputs.items()]
    result = function(*symbols)
    for k, name in ((0, "q"), (2, "tau")):
        found = casadi.Function("slope", symbols, [casadi.jacobian(result, symbols[k])])
        want = slopes(*states[:, 0])[f"a_by_{name}"]
        np.testing.assert_allclose(np.array(found(*states[:, 0])), want, rtol=1e-10, atol=1e-10)


def test_matrices_numbers_and_arrays_of_three_axes_keep_their_order():
    def shuffled(A, s):
        return {"twice": 2.0 * A, "turned": A.T, "number": s * A[0, 1], "three": np.stack([A, s * A], axis=0)}

    kernel = Kernel("shuffled", trace(shuffled, {"A": (2, 3), "s": ()}))
    function = kernel.to_casadi()
    assert [function.size_out(k) for k in range(4)] == [(2, 3), (3, 2), (1, 1), (2, 6)]
    A = np.arange(6.0).reshape(2, 3)
    want = kernel(A, 10.0)
    for name, found in zip(kernel.outputs, function(A, 10.0), strict=True):
        np.testing.assert_array_equal(np.array(found), np.reshape(want[name], found.shape))


def test_entries_that_are_always_zero_are_there(arm):
    kernel = torsor.compile(torsor.frame_pose, arm, frame=arm.links[-1])
    function = kernel.to_casadi()
    assert function.nnz_out(0) == 16
    np.testing.assert_allclose(np.array(function([0.1, 0.2])), kernel([0.1, 0.2]), rtol=1e-15, atol=1e-15)


def test_names_that_casadi_has_not_free(arm):
    kernel = torsor.compile(lambda robot, q, null: {"q": q + null, "β": q}, arm, {"q": 2, "null": 2})
    function = kernel.to_casadi()
    assert (function.name_in(), function.name_out()) == (["q", "null_in"], ["q_out", "beta_out"])


@settings(max_examples=60, deadline=None)
@given(programs(), st.lists(st.floats(-3, 3), min_size=3, max_size=3))
def test_every_operation_means_the_same(program, numbers):
    """Where all numbers on the way are finite: CasADi takes x / x for 1, also where x is 0."""
    note(describe(program))
    nodes = tuple(node for node in program.live() if program.graph.ops[node] not in TRUTH_VALUED)
    assume(np.all(np.abs(evaluate(Program(program.graph, (Port("y", (len(nodes),)),), (nodes,)), numbers)) < 1e100))
    found = np.ravel(np.array(Kernel("random", program).to_casadi()(numbers)))
    np.testing.assert_allclose(found, evaluate(program, numbers), rtol=1e-9, atol=1e-9)


def test_the_lesser_of_a_number_and_nan_is_nan():
    kernel = Kernel(
        "lesser", trace(lambda x: {"low": np.minimum(x, np.sqrt(x)), "high": np.maximum(np.sqrt(x), x)}, {"x": ()})
    )
    assert np.isnan([float(found) for found in kernel.to_casadi()(-1.0)]).all()
    assert [float(found) for found in kernel.to_casadi()(4.0)] == [2.0, 4.0]


def test_a_solver_finds_the_configuration_in_which_gravity_is_balanced(arm):
    q = casadi.SX.sym("q", 2)
    tau = torsor.compile(torsor.gravity_forces, arm).to_casadi()(q)
    root = casadi.rootfinder("root", "newton", {"x": q, "g": tau})
    np.testing.assert_allclose(torsor.gravity_forces(arm, np.ravel(np.array(root([1.3, 0.1], [])))), 0.0, atol=1e-9)
