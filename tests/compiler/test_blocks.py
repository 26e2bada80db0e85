"""Blocks, products of matrices and programs called for rows, compute what they do written out, in any width, batch and cut."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from random_programs import block_programs, evaluate
from test_emitters import STATES, assert_same, native, stable

import torsor
from torsor.arrays import along, by_rows
from torsor.compiler import trace as trace_module, traced_array
from torsor.compiler.graph import Op, count
from torsor.compiler.kernel import Kernel
from torsor.compiler.print import c, llvm, numpy as emit_numpy
from torsor.compiler.print.plan import PIECE, plan
from torsor.compiler.run import engine
from torsor.compiler.simplify import Level, simplify
from torsor.compiler.trace import trace

FEW = settings(max_examples=15, deadline=None, derandomize=True)  # each compiles several times
pytestmark = pytest.mark.compiled


@FEW
@given(block_programs(), STATES)
def test_machine_code_of_blocks_computes_the_program(program, states):
    results = native(program)([np.array(states)])[0]
    for numbers, result in zip(states, results, strict=True):
        if stable(program.written_out(), numbers):
            assert_same(result, evaluate(program, numbers))


@FEW
@given(block_programs(), STATES)
def test_blocks_have_the_same_bits_at_every_width_batch_and_cut(program, states):
    states = np.array(states)
    expected = native(program)([states])[0]
    variants = [native(program, target=engine.host_target()._replace(bits=bits)) for bits in (256, 512)]
    for variant in (*variants, native(program, whole=0, piece=2)):
        np.testing.assert_array_equal(variant([states])[0], expected)
        np.testing.assert_array_equal(variant([states[0]])[0], expected[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(llvm, "MADE_MOST", 0)  # state by state
        np.testing.assert_array_equal(native(program)([states])[0], expected)


@FEW
@given(block_programs(), STATES)
def test_numpy_source_has_loops_and_the_same_bits(program, states):
    states = np.array(states)
    with np.errstate(all="ignore"):
        found, expected = (emit_numpy.build(x)(states)["y"] for x in (program, program.written_out()))
    np.testing.assert_array_equal(found, expected)


def test_a_program_that_calls_another_row_by_row_is_short_in_numpy():
    """Functions within functions, each once."""

    def inner(x, y):
        return along(lambda z, w: z + np.sin(w), x, np.stack([y, 2.0 * y, 3.0 * y]))[-1]

    program = trace(lambda x, y: along(inner, x, y), {"x": (2,), "y": (40, 2)}, Level.FULL)
    sines = [emit_numpy.emit(x).count("np.sin") for x in (program, program.written_out())]
    assert sines == [2, 2 * 3 * 40]
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(3, 2)), rng.normal(size=(3, 40, 2))
    found = emit_numpy.build(program)(x, y)["result"]
    expected = x[:, None] + np.cumsum(np.sin(y) + np.sin(2.0 * y) + np.sin(3.0 * y), axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@FEW
@given(block_programs())
def test_simplifying_and_counting_see_through_blocks(program):
    assert simplify(program, Level.ZEROS_AND_ONES).digest()
    assert sum(count(program).values()) == sum(count(_literal(program)).values())
    assert count(program.written_out().written_out()) == count(program.written_out())


def _literal(program):
    """Written out without sharing: `Graph.apply` makes a new node for each operation."""
    out = program.written_out()
    return out._replace(
        results=(tuple(range(len(out.graph))),), outputs=(out.outputs[0]._replace(shape=(len(out.graph),)),)
    )


def turned(x, y):
    return np.stack([x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0], np.sin(x[..., 0]) + y[..., 0]], axis=-1)


def test_long_products_and_rows_of_a_traced_function_become_blocks(monkeypatch):
    """As long as they are not long, they are written out; with and without, in every export, the numbers are the same."""

    def f(A, B):
        rows = by_rows(turned, A[:, :2], B.T[:, :2])
        return {"C": A @ B, "rows": rows}

    monkeypatch.setattr(trace_module, "CALLED", {16: 70})
    rng = np.random.default_rng(3)
    A, B = rng.normal(size=(9, 70, 20)), rng.normal(size=(9, 20, 70))
    program = trace(f, {"A": (70, 20), "B": (20, 70)}, Level.FULL)
    blocks = [program.graph.values[n] for n in program.live() if program.graph.ops[n] is Op.BLOCK]
    assert sorted(type(block).__name__ for block in blocks) == ["Calls", "Product"]
    kernel = Kernel("f", program)
    got = kernel(A, B)
    np.testing.assert_allclose(got["C"], A @ B, rtol=0, atol=1e-13)
    np.testing.assert_allclose(got["rows"], turned(A[..., :2], np.swapaxes(B, -1, -2)[..., :2]), rtol=0, atol=1e-14)
    one = kernel(A[4], B[4])
    assert all((one[name] == got[name][4]).all() for name in one)
    small = trace(lambda A: A @ A, {"A": (4, 4)}, Level.FULL)
    assert not any(op is Op.BLOCK for op in small.graph.ops)


def test_known_zeros_of_a_product_stay_zero_and_are_not_multiplied():
    """Infinite numbers beside known zeros: as in the product written out, nothing is NaN."""
    mask = np.kron(np.eye(2), np.ones((16, 16)))
    program = trace(lambda A: {"C": A @ (mask * A.T)}, {"A": (32, 32)}, Level.FULL)
    assert any(op is Op.BLOCK for op in program.graph.ops)
    A = np.random.default_rng(0).normal(size=(32, 32))
    np.testing.assert_allclose(Kernel("f", program)(A), A @ (mask * A.T), rtol=0, atol=1e-13)
    A[:, 0] = np.inf
    C = Kernel("f", program)(A)
    assert np.isfinite(C[:, 16:]).all()
    assert not np.isfinite(C[:, :16]).any()


@settings(FEW, max_examples=8)
@given(block_programs(), st.lists(st.tuples(*[st.floats(-3.0, 3.0)] * 3), min_size=2, max_size=2))
def test_c_has_blocks_as_loops_and_computes_the_program(tmp_path_factory, program, states):
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler here")
    place = tmp_path_factory.mktemp("c")
    c.write(c.emit(program, "f", "double", *c.example_of(program)), place / "f.c")
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-unused-variable", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, str(place / "f.c"), "-lm", "-o", str(place / "f.so")], check=True)
    function = ctypes.CDLL(str(place / "f.so")).f
    for numbers in states:
        given, made = np.array(numbers), np.empty(program.outputs[0].size)
        function(*(ctypes.c_void_p(x.ctypes.data) for x in (given, made)))
        if stable(program.written_out(), numbers):
            assert_same(made, evaluate(program, numbers))


def test_other_exports_and_derivatives_write_blocks_out(tmp_path, monkeypatch):
    monkeypatch.setattr(traced_array, "LOOPED", 8)
    program = trace(lambda A: {"C": A @ A}, {"A": (3, 3)}, Level.FULL)
    assert any(op is Op.BLOCK for op in program.graph.ops)
    kernel = Kernel("square", program)
    A = np.random.default_rng(1).normal(size=(3, 3))
    dC = kernel.jacobian("C", "A")(A)
    unit = np.eye(3)
    expected = np.einsum("ik,lj->ijkl", unit, A) + np.einsum("ik,lj->ijkl", A, unit)
    np.testing.assert_allclose(dC, expected, rtol=0, atol=1e-14)
    weights = np.ones((3, 3))
    np.testing.assert_allclose(kernel.pullback("A")(A, weights), weights @ A.T + A.T @ weights, atol=1e-14)
    assert kernel.to_c(tmp_path / "square")
    with torsor.backend("numpy"):
        np.testing.assert_allclose(kernel(A), A @ A, rtol=0, atol=1e-14)


def test_a_long_function_called_for_several_states_is_compiled_once(monkeypatch):
    """The stages of a Runge–Kutta step call it; what is called for one state alone is written out, and shares its work."""
    arm = torsor.robots.ur5()

    def step(robot, q, v, tau, h):
        a1 = torsor.forward_dynamics(robot, q, v, tau)
        a2 = torsor.forward_dynamics(robot, q + 0.5 * h * v, v + 0.5 * h * a1, tau)
        again = torsor.forward_dynamics(robot, q, v, tau)  # the very same call
        return {"q": q + h * v + 0.5 * h * h * again, "v": v + h * a2, "M": torsor.mass_matrix(robot, q)}

    shapes = {"q": 6, "v": 6, "tau": 6, "h": ()}
    kernel = torsor.compile(step, arm, shapes)
    graph = kernel.program.graph
    calls = [node for node in kernel.program.live() if graph.ops[node] is Op.BLOCK]
    assert len(calls) == 2
    assert len({graph.values[node] for node in calls}) == 1
    assert (
        len(list(plan(kernel.program, llvm.WHOLE, PIECE, True, 1, 8).plans())) == 2
    )  # the step's, and one of what it calls
    monkeypatch.setattr(trace_module, "LONG", 10**9)
    written_out = torsor.compile(step, arm, shapes)
    assert not any(op is Op.BLOCK for op in written_out.program.graph.ops)
    q, v, tau = torsor.random_state(arm, seed=0, batch=(11,))
    found, expected = (k(q, v, tau, np.full(11, 1e-2)) for k in (kernel, written_out))
    for name, x in expected.items():
        np.testing.assert_allclose(found[name], x, rtol=0, atol=1e-11 * np.abs(x).max())
    one = kernel(q[3], v[3], tau[3], 1e-2)
    assert all((one[name] == found[name][3]).all() for name in one)


def test_rows_one_after_the_other_become_a_loop_that_knows_what_all_rows_share():
    """A recursion: its function is compiled once, constants of all rows are in it, equal and negated columns are given once."""
    rng = np.random.default_rng(5)
    gains = np.stack([np.zeros(6), rng.normal(size=6), np.full(6, 2.0)], axis=1)
    gains = np.concatenate([gains, -gains[:, 1:2], gains[:, 1:2]], axis=1)

    def row(state, x, gain):
        new = np.sin(state * gain[..., 1:3] + x) + gain[..., 3:5] * x[..., ::-1] + gain[..., :1]
        return np.concatenate([new, new[..., :1] * x[..., 1:]], axis=-1)

    def f(start, x):
        return along(
            row, start, x, np.broadcast_to(gains, (*x.shape[:-2], 6, 5)) if isinstance(x, np.ndarray) else gains
        )

    program = trace(f, {"start": (2,), "x": (6, 2)}, Level.FULL)
    (block,) = (program.graph.values[n] for n in program.live() if program.graph.ops[n] is Op.BLOCK)
    assert (block.times, block.carried, block.taken) == (6, 2, 3)  # x and one column of numbers
    start, x = rng.normal(size=(9, 2)), rng.normal(size=(9, 6, 2))
    kernel = Kernel("f", program)
    found = kernel(start, x)
    np.testing.assert_allclose(found, f(start, x), rtol=0, atol=1e-13)
    assert (kernel(start[2], x[2]) == found[2]).all()
