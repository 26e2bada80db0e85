"""A traced function computes what NumPy does: each function of NumPy's, on hypothesis' numbers, in machine code and in source.

What cannot be traced is answered with what to write instead.
"""

import functools
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from hypothesis.extra.numpy import arrays

import torsor
from torsor.arrays import written_out
from torsor.compiler import differentiate
from torsor.compiler.print import numpy as emit_numpy
from torsor.compiler.simplify import Level, evaluate
from torsor.compiler.trace import trace
from torsor.compiler.traced_array import FUNCTIONS, MAKERS, REFUSED

pytestmark = [
    pytest.mark.compiled,
    # Of newer libraries: NumPy 2.5, SciPy 1.18
    pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Calling expm with arguments of dtype=object:DeprecationWarning"),
]
ROBOT = torsor.robots.pendulum()
W = np.array([1.0, -2.0, 0.5])
FAST = settings(max_examples=12, deadline=None, derandomize=True)
EDGES = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-300, 5e-324, 1e300, -1e300, math.inf, -math.inf, math.nan])
ANY = st.one_of(EDGES, st.floats(-5.0, 5.0), st.floats(-800.0, 800.0), st.floats())


def same(got, want, ulps=8):
    """Equal up to some units in the last place (NumPy's own differ by 4 between processors); NaN and ∞ where NumPy has them."""
    got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    assert got.shape == want.shape, (got.shape, want.shape)
    with np.errstate(all="ignore"):
        fine = (
            (got == want) | (np.isnan(got) & np.isnan(want)) | (np.abs(got - want) <= ulps * np.spacing(np.abs(want)))
        )
    assert fine.all(), (got, want)


# Number by number

ONE = """exp expm1 exp2 log log1p log2 log10 sqrt cbrt square reciprocal sin cos tan arcsin arccos arctan sinh cosh tanh
    arcsinh arccosh arctanh abs fabs absolute sign negative positive floor ceil trunc fix rint round around radians deg2rad
    degrees rad2deg isnan isinf isfinite logical_not nan_to_num sinc conjugate"""
TWO = """add subtract multiply divide power float_power arctan2 hypot maximum minimum fmax fmin mod remainder fmod floor_divide
    greater greater_equal less less_equal equal not_equal logical_and logical_or logical_xor heaviside"""


@functools.cache
def kernel_of(name, inputs):
    function = getattr(np, name)
    given = ("x", "y")[:inputs]
    return torsor.compile(
        lambda robot, **arrays: function(*(arrays[k] for k in given)), ROBOT, dict.fromkeys(given, ())
    )


@pytest.mark.parametrize("name", ONE.split())
@FAST
@given(st.lists(ANY, min_size=1, max_size=9))
@example([1.5, 2.5, -0.5, 0.49999999999999994, -2.5, 4503599627370497.5, 1e-9, 710.2, -745.0, 0.9999999999999999])
def test_functions_of_one_number(name, numbers):
    x = np.array(numbers)
    for numbers in (x, x[0]):  # vectors, and one state
        with np.errstate(all="ignore"):
            want = getattr(np, name)(numbers)
        same(kernel_of(name, 1)(numbers), want)


@pytest.mark.parametrize("name", TWO.split())
@FAST
@given(st.lists(st.tuples(ANY, ANY), min_size=1, max_size=9))
@example([(7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (0.3, 0.1), (1e300, 3.0), (-1.0, math.inf), (-8.0, 1 / 3), (-2.0, 3.0)])
def test_functions_of_two_numbers(name, pairs):
    x, y = np.array(pairs).T
    if name == "floor_divide":  # of which NumPy itself keeps no more digits than 1 in the last place
        x, y = np.clip(x, -1e9, 1e9), np.where(np.abs(y) < 1e-3, 0.0, y)
    with np.errstate(all="ignore"):
        same(kernel_of(name, 2)(x, y), getattr(np, name)(x, y))


@pytest.mark.parametrize("exponent", [-8, -2, -1, -0.5, 0, 0.5, 1, 2, 3, 8, 9, 2.5, 1 / 3])
def test_powers(exponent):
    kernel = torsor.compile(lambda robot, x: x**exponent, ROBOT, {"x": ()})
    x = np.array([0.0, 1.0, 2.0, -2.0, 0.1, 1e30, -1e-30, math.inf, math.nan])
    with np.errstate(all="ignore"):
        same(kernel(x), x**exponent, ulps=8)
        same(torsor.compile(lambda robot, x: 1.7**x, ROBOT, {"x": ()})(x), 1.7**x)


@pytest.mark.parametrize("name", [*ONE.split(), *TWO.split()])
def test_the_same_in_single_precision_in_numpy_source_and_in_jax(name):
    import jax

    inputs = 1 if name in ONE.split() else 2
    given = [np.array([0.3, 0.7, 1.2, 2.4])[:, None], np.array([0.5, 1.7, 2.0, 0.7])[:, None]][:inputs]
    kernel = kernel_of(name, inputs)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(*given)
        np.testing.assert_allclose(kernel(*(x.astype(np.float32) for x in given)), want, rtol=2e-6, atol=1e-6)
        (source,) = emit_numpy.build(kernel.program)(*given).values()
        np.testing.assert_allclose(source, want, rtol=1e-14)
        (in_jax,) = emit_numpy.build(kernel.program, "jax.numpy")(*map(jax.numpy.asarray, given)).values()
    np.testing.assert_allclose(in_jax, want, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(evaluate(kernel.program, [x[1] for x in given])[0], want[1, 0], rtol=1e-14)


# Arrays

FLOATS = st.one_of(st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0]), st.floats(-3.0, 3.0))
STATES = st.tuples(arrays(float, 3, elements=FLOATS), arrays(float, (3, 3), elements=FLOATS), FLOATS)


def assigned(q, A, s):
    """Written into fresh arrays: entries, rows, through a view, by a mask."""
    M = np.zeros_like(q, shape=(3, 3))
    M[0, 1] = q[0]
    M[1] = q
    M[2, :2] += A[0, :2]
    row = M[1]
    row *= 2.0
    M.T[2] -= s
    M[M > 1.0] = 7.0
    return M


def filled(q, A, s):
    """Made like an input, copies, results, and numbers, which are not shared."""
    M = np.zeros((3, 3), like=q)
    np.fill_diagonal(M, s)
    x, y = q.copy(), 2.0 * q
    x[1:] -= 2.0
    y[[0, 2]] = x[:2]
    number = other = y[0]
    number += 5.0
    halves = np.split(y, [1])
    halves[1][...] = s
    np.add(x, 1.0, out=x)
    return np.concatenate([M @ x + y, np.stack([number, other]), halves[0]])


def wrapped(q, A, s):
    return (q + np.pi) % (2.0 * np.pi) - np.pi


def each(words, call, module=np, named="{}"):
    """Of each function of some names, what ``call`` makes of it."""
    return {named.format(name): functools.partial(call, getattr(module, name)) for name in words.split()}


OF_A_MATRIX = """sum prod max amax min amin mean var std ptp all any cumsum cumprod diff ediff1d ravel copy transpose
    matrix_transpose flip fliplr flipud rot90 tril triu diag diagflat diagonal trace squeeze atleast_1d atleast_2d atleast_3d
    zeros_like ones_like count_nonzero shape ndim size broadcast_arrays"""
OVER_AXIS = "sum prod max min mean var std all any cumsum cumprod diff ptp count_nonzero average"
OVER_AXES = "sum prod max min mean var std all any"
OF_TWO = "outer inner dot vdot vecdot kron cross append convolve polyval linspace isclose"
JOINED = "stack concatenate hstack vstack dstack column_stack block"
ARRAYS = {
    **each(OF_A_MATRIX, lambda f, q, A, s: f(A)),
    **each(OVER_AXIS, lambda f, q, A, s: f(A, axis=0), named="{} over axis 0"),
    **each(OVER_AXES, lambda f, q, A, s: f(A, axis=(0, -1), keepdims=True), named="{} over axes"),
    **each(OF_TWO, lambda f, q, A, s: f(q, W)),
    **each(JOINED, lambda f, q, A, s: f([A, q[:, None] * W])),
    **each("norm trace diagonal matrix_transpose", lambda f, q, A, s: f(A), np.linalg, "linalg.{}"),
    **{f"linalg.norm {k}": lambda q, A, s, k=k: np.linalg.norm(q, k) for k in (0, 1, 2, 3, 2.5, np.inf, -np.inf)},
    **{f"linalg.norm of a matrix {k}": lambda q, A, s, k=k: np.linalg.norm(A, k) for k in ("fro", 1, -1, np.inf, -np.inf)},
    "linalg.norm of rows": lambda q, A, s: np.linalg.norm(A, axis=1, keepdims=True),
    "linalg.outer, cross": lambda q, A, s: np.linalg.outer(np.linalg.cross(q, W), q),
    "linalg.multi_dot": lambda q, A, s: np.linalg.multi_dot([A, A, q]),
    "linalg.matrix_power": lambda q, A, s: np.linalg.matrix_power(A, 3),
    "matmul": lambda q, A, s: A @ q + q @ A + W @ A @ A.T @ np.stack([q, W], axis=1)[:, 0],
    "matvec": lambda q, A, s: np.matvec(A, q),
    "dot of stacks": lambda q, A, s: np.dot(np.stack([A, A]), A),
    "dot with a number": lambda q, A, s: np.dot(q, s),
    "einsum": lambda q, A, s: np.einsum("ij,j,i->", A, q, W),
    "einsum, an implicit diagonal": lambda q, A, s: np.einsum("ii,j", A, q),
    "tensordot": lambda q, A, s: np.tensordot(A, A, axes=([0], [1])),
    "multiply.outer": lambda q, A, s: np.multiply.outer(q, W),
    "reduce": lambda q, A, s: np.add.reduce(A) + np.maximum.reduce(A) - np.minimum.reduce(A, axis=1) + np.multiply.reduce(A),
    "var of a sample": lambda q, A, s: np.var(A, axis=1, ddof=1) + np.std(A, ddof=1),
    "average": lambda q, A, s: np.average(q, weights=[1.0, 2.0, 0.5]),
    "trapezoid": lambda q, A, s: np.trapezoid(q, dx=0.1) + np.trapezoid(A, W),
    "vander": lambda q, A, s: np.vander(q, 3),
    "new shapes": lambda q, A, s: np.swapaxes(np.moveaxis(np.reshape(A, (1, 3, 3)), 0, 2), 0, 1) + np.expand_dims(A, -1),
    "repeated": lambda q, A, s: np.tile(q, (2, 1)) + np.repeat(s, 3) + np.broadcast_to(q, (2, 3)) + np.resize(A, (2, 3)),
    "rolled": lambda q, A, s: np.roll(A, 1, axis=0) + np.rollaxis(A, 1) + np.take(A, [2, 0, 1], axis=1),
    "in parts": lambda q, A, s: np.split(A, 3)[1] + np.array_split(q, 1)[0] + np.hsplit(A, 3)[0].T + np.vsplit(A, 3)[2],
    "dsplit": lambda q, A, s: np.dsplit(A[None], 3)[2],
    "unstack": lambda q, A, s: np.unstack(A, axis=1)[2],
    "inserted": lambda q, A, s: np.pad(np.delete(np.insert(q, 1, s), 0), 1),
    "block matrix": lambda q, A, s: np.block([[A, q[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]]),
    "meshgrid": lambda q, A, s: np.meshgrid(q, W)[0],
    "full": lambda q, A, s: np.full(3, s) + np.full_like(q, s) + np.full(3, 2.0, like=q) + np.empty_like(q) * 0.0,
    "made like": lambda q, A, s: np.eye(3, like=q) * s + np.ones((3, 3), like=A) + np.array([[s] * 3] * 3, like=q),
    "made like, too": lambda q, A, s: np.identity(3, like=q) + np.tri(3, like=q) + np.arange(3, like=q) + np.asarray(A, like=q),
    "array of numbers": lambda q, A, s: np.array([[np.cos(s), -np.sin(s)], [np.sin(s), np.cos(s)]]) @ np.array([q[0], 1.0]),
    "functions of an array of numbers": lambda q, A, s: np.exp(np.sin(np.array([q[0], s]))) + np.sum([q[0], s]),
    "methods": lambda q, A, s: q.max() + q.dot(W) + A.mean(axis=0).min() + A.T.trace() + A.reshape(9).std() + A.clip(max=0.5),
    "more methods": lambda q, A, s: A.flatten(order="F")[1] + A.transpose(1, 0)[0, 2] + A.ravel()[3] + q.round(1) + q.conj(),
    "astype": lambda q, A, s: (7.3 * q).astype(int) + (q > 0.0).astype(float) + 2.0 * q.astype(bool),
    "a copied mask": lambda q, A, s: [x := q.copy(), mask := (q > 0.5).copy(), x.__setitem__(mask, 9.0), x][3],
    "truth as numbers": lambda q, A, s: (q > 0.0) * q + (q > 0.0) + np.sum(q == 0.5) + np.where(q, 1.0, 2.0),
    "logic": lambda q, A, s: ((q > 0.0) | (q < -1.0)) & ~(q > 1.5) ^ (q != 0.0),
    "bits": lambda q, A, s: np.bitwise_xor(np.bitwise_and(q > 0.0, q < 1.0), np.bitwise_or(np.invert(q > 0.5), q > 1.5)),
    "allclose": lambda q, A, s: np.allclose(q, W, atol=1.0),
    "where": lambda q, A, s: np.where(A > 0.0, q, 0.0),
    "select": lambda q, A, s: np.select([q < 0.0, q < 0.2], [q, 2.0 * q], 3.0),
    "clip": lambda q, A, s: np.clip(q, -0.1, [0.1, 0.2, 0.3]) + np.clip(q, None, 1.0) + np.clip(A, min=0.0),
    "interp": lambda q, A, s: np.interp(2.0 * q, [-1.0, 0.5, 4.0], [1.0, 2.0, 0.0]),
    "interp with ends": lambda q, A, s: np.interp(q, [-1.0, 0.5, 1.0], q, left=-7.0, right=7.0),
    "round": lambda q, A, s: np.round(q, 2) + np.round(100.0 * q, -1),
    "divmod": lambda q, A, s: np.stack(divmod(q, 0.7)) + q // 0.3,
    "wrapped": wrapped,
    "assigned": assigned,
    "filled": filled,
    "fill": lambda q, A, s: [M := np.empty_like(A), M.fill(s), M][2],
}  # fmt: skip


@functools.cache
def array_kernel(name):
    return torsor.compile(lambda robot, q, A, s: {"y": ARRAYS[name](q, A, s)}, ROBOT, {"q": 3, "A": (3, 3), "s": ()})


@pytest.mark.parametrize("name", ARRAYS)
@FAST
@given(STATES)
def test_functions_of_arrays(name, state):
    want = ARRAYS[name](*(np.array(x) for x in state))
    got = array_kernel(name)(*state)
    assert got.shape == np.shape(want)
    np.testing.assert_allclose(got, np.asarray(want, dtype=float), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "name", ["solve", "solve for a matrix", "inv", "det", "det of 4", "inv of 4", "cholesky", "cholesky, upper"]
)
@FAST
@given(arrays(float, (2, 4, 4), elements=FLOATS), arrays(float, (4,), elements=FLOATS))
@example(np.stack([np.eye(4)[[1, 0, 3, 2]], np.zeros((4, 4))]), np.ones(4))
def test_small_matrices(name, stack, b):
    functions = {
        "solve": lambda A, b: np.linalg.solve(A, b),
        "solve for a matrix": lambda A, b: np.linalg.solve(A[None], np.stack([b, W @ A[:3]], axis=1)),
        "inv": lambda A, b: np.linalg.inv(A[:3, :3] + np.diag(b[:3])),
        "det": lambda A, b: np.linalg.det(A[:3, :3]) + np.linalg.det(A[:2, 1:3]) + np.linalg.det(A[:1, :1]),
        "det of 4": lambda A, b: np.linalg.det(A),
        "inv of 4": lambda A, b: np.linalg.inv(A),
        "cholesky": lambda A, b: np.linalg.cholesky(A @ A.T + np.eye(4)),
        "cholesky, upper": lambda A, b: np.linalg.cholesky(A @ A.T + np.eye(4), upper=True),
    }
    function = functions[name]
    kernel = _matrix_kernel(name, function)
    for A in stack:
        regular = A[:3, :3] + np.diag(b[:3]) if name == "inv" else A
        if name.startswith(("solve", "inv")) and np.linalg.cond(regular) > 1e6:
            continue
        want = function(A, b)
        np.testing.assert_allclose(kernel(A, b), want, rtol=1e-9, atol=1e-9)


_KERNELS = {}


def test_constant_matrices_cost_no_elimination():
    A = np.array([[2.0, 0.5, 0.0], [0.5, 3.0, 0.1], [0.0, 0.1, 1.0]])

    def function(robot, q):
        made = np.array(A, like=q)
        return np.linalg.solve(A, q) + np.linalg.inv(made) @ q + np.linalg.det(made) * q + np.linalg.cholesky(made) @ q

    kernel = torsor.compile(function, ROBOT, {"q": 3})
    assert not kernel.count().keys() & {"select", "sqrt", "abs", "greater"}
    np.testing.assert_allclose(kernel(W), function(None, W), rtol=1e-13)


def _matrix_kernel(name, function):
    if name not in _KERNELS:
        _KERNELS[name] = torsor.compile(lambda robot, A, b: function(A, b), ROBOT, {"A": (4, 4), "b": 4})
    return _KERNELS[name]


@FAST
@given(arrays(float, (4, 4), elements=FLOATS), arrays(float, (4,), elements=FLOATS))
def test_what_is_written_out_is_the_same_on_plain_arrays(A, b):
    for name in ("rint", "trunc", "arcsin", "arccos", "sinc", "nan_to_num", "mean", "var", "std", "average"):
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(getattr(written_out, name)(A), getattr(np, name)(A), rtol=1e-13, atol=1e-13)
    for name in ("remainder", "floor_divide", "fmax", "fmin", "heaviside", "isclose", "linspace"):
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(
                getattr(written_out, name)(A, b), getattr(np, name)(A, b), rtol=1e-13, atol=1e-13
            )
    positive = A @ A.T + np.eye(4)
    for name in ("inv", "det", "cholesky", "norm"):
        found = getattr(written_out, name)(positive)
        np.testing.assert_allclose(found, getattr(np.linalg, name)(positive), rtol=1e-10, atol=1e-10)
    stack = np.stack([positive, positive + np.diag(np.abs(b))])
    np.testing.assert_allclose(written_out.solve(stack, A), np.linalg.solve(stack, A), rtol=1e-9, atol=1e-9)


# Derivatives

SMOOTH_ONE = """exp expm1 exp2 log log1p log2 log10 sqrt cbrt square reciprocal sin cos tan arcsin arccos arctan sinh cosh tanh
    arcsinh arctanh abs sinc radians degrees nan_to_num"""
SMOOTH_TWO = "power arctan2 hypot maximum minimum fmax fmin mod fmod outer kron inner"
SMOOTH = {
    **each(SMOOTH_ONE, lambda f, x, y: f(x)),
    **each(SMOOTH_TWO, lambda f, x, y: f(x, y)),
    "arccosh": lambda x, y: np.arccosh(1.5 + x),
    "floor": lambda x, y: x * np.floor(3.0 * x) + np.round(y, 1) * x,
    "norm": lambda x, y: np.linalg.norm(x) + np.linalg.norm(x, 3) + np.linalg.norm(x, np.inf) + np.std(y),
    "prod": lambda x, y: np.prod(x) + np.cumprod(y) + np.max(x) - np.min(y),
    "solve": lambda x, y: np.linalg.solve(np.outer(x, y) + np.diag([0.0, 1.0, 0.0]) + np.eye(3)[::-1], x),
    "inv": lambda x, y: np.linalg.inv(np.outer(x, y) + np.diag(x)),
    "det": lambda x, y: np.linalg.det(np.outer(x, y) + np.diag(x)) + np.linalg.det(np.kron(np.diag(y), np.eye(2)) + x[0]),
    "cholesky": lambda x, y: np.linalg.cholesky(np.outer(x, x) + np.diag(y)),
    "interp": lambda x, y: np.interp(x, [0.0, 0.31, 0.9], [1.0, 2.0, 0.0]) * np.interp(0.5, [0.0, 1.0], np.stack([y[0], y[1]])),
    "a table of its own": lambda x, y: np.interp(0.5 * x, np.linspace(0.0, 1.0, 4), np.append(y, 0.2)),
    "written into": lambda x, y: assigned(x, np.outer(x, y), y[0]),
    "einsum": lambda x, y: np.einsum("i,j,k->k", x, y, np.exp(x)),
    "wrapped": lambda x, y: np.where(x > 0.4, wrapped(9.0 * x, None, None), y) ** 2,
}  # fmt: skip


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives_forward_and_back_are_those_of_differences(name):
    function = SMOOTH[name]
    program = trace(lambda **given: {"z": function(given["x"], given["y"])}, {"x": (3,), "y": (3,)}, Level.FULL)
    x, y = np.array([0.23, 0.61, 0.87]), np.array([0.92, 0.38, 0.53])
    modes = (differentiate.forward, differentiate.reverse)
    one, other = (evaluate(mode(program, differentiate.Wanted(["z"], ["x", "y"])), [x, y]) for mode in modes)
    h = 1e-6
    for k in range(3):
        step = h * np.eye(3)[k]
        by_x = (function(x + step, y) - function(x - step, y)) / (2.0 * h)
        by_y = (function(x, y + step) - function(x, y - step)) / (2.0 * h)
        for found, want in ((one[0], by_x), (one[1], by_y), (other[0], by_x), (other[1], by_y)):
            np.testing.assert_allclose(found[..., k], want, rtol=1e-6, atol=2e-8)  # of central differences


def test_derivatives_at_the_edges():
    def slope(function, x):
        program = trace(lambda x: {"z": function(x)}, {"x": ()}, Level.FULL)
        return evaluate(differentiate.jacobian(program, "z", "x"), [np.asarray(x)])[0]

    assert slope(np.sinc, 0.0) == 0.0
    assert slope(np.expm1, 0.0) == slope(np.log1p, 0.0) == slope(np.arcsinh, 0.0) == slope(np.arctan, 0.0) == 1.0
    assert slope(np.arcsin, 1.0) == slope(np.cbrt, 0.0) == slope(np.sqrt, 0.0) == math.inf
    assert slope(lambda x: x**2.5, 0.0) == slope(lambda x: x**3, 0.0) == slope(lambda x: np.power(0.0, x), 2.0) == 0.0
    assert slope(np.floor, 1.3) == slope(np.sign, 1.3) == slope(np.round, 1.3) == 0.0
    assert (
        slope(lambda x: np.maximum(x, 1.0), 1.0) + slope(lambda x: np.maximum(1.0, x), 1.0) == 1.0
    )  # a tie is the second's
    np.testing.assert_allclose(slope(np.sinc, 1e-9), -(np.pi**2) / 3.0 * 1e-9, rtol=1e-14)
    twice = trace(lambda x: {"z": np.sinc(x)}, {"x": ()}, Level.FULL)
    for _ in range(2):
        twice = differentiate.jacobian(twice.renamed(["z"]), "z", "x")
    np.testing.assert_allclose(evaluate(twice, [np.asarray(0.0)])[0], -(np.pi**2) / 3.0, rtol=1e-14)


# What cannot be traced is answered with what to write instead


def _into(q, A, s):
    M = np.zeros((3, 3))
    M[0, 1] = q[0]
    return M


def _all_into(q, A, s):
    M = np.zeros(3)
    M[:] = q
    return M


def _added(q, A, s):
    total = np.zeros(3)
    total += q
    return total


def _into_input(q, A, s):
    A.T[0] = 1.0
    return A


def _input_plus(q, A, s):
    q += 1.0
    return q


def _at_a_traced_place(q, A, s):
    x = q.copy()
    x[s] = 1.0
    return x


def _from_a_mask(q, A, s):
    x = q.copy()
    x[q > 0.0] = q[:2]
    return x


REFUSED_ONE = "sort argsort median argmax argmin nonzero flatnonzero argwhere unique signbit"
REFUSED_LINALG = "svd eig eigh eigvals eigvalsh qr pinv matrix_rank cond slogdet"
MISTAKES = {
    "entry of np.zeros": (_into, r"into a NumPy array; .* np.zeros_like\(q, shape=\(3, 3\)\), np.zeros\(\(3, 3\), like=q\)"),
    "all of np.zeros": (_all_into, r"no place in a NumPy array of float64; .* np.zeros\(\(3, 3\), like=q\)"),
    "added to np.zeros": (_added, r"np.add on traced numbers cannot be written .* write x = x \+ y for x \+= y; or .* like=q"),
    "a view of an input": (_into_input, r"an input of a traced function cannot be written into.* q = q.copy\(\)"),
    "input += 1": (_input_plus, r"an input of a traced function .* q = q \+ 1.0 for q \+= 1.0"),
    "x[k] = 1": (_at_a_traced_place, r"takes a mask of the shape of x, such as x > 0.0, .* np.where\(mask, y, x\)"),
    "x[mask] = array": (_from_a_mask, r"a number for y; else write x = np.where\(mask, y, x\)"),
    "x[mask]": (lambda q, A, s: q[q > 0.0], r"neither x\[mask\] nor x\[k\] .* np.where\(mask, x, 0.0\)"),
    "x[0, k]": (lambda q, A, s: A[0, s], r"np.interp\(k, np.arange\(len\(x\)\), x\)"),
    "table[k]": (lambda q, A, s: W[s], r"only integers.* if it is traced, np.interp"),
    "a slice": (lambda q, A, s: q[:s], r"no index or count can be; np.where"),
    "take": (lambda q, A, s: np.take(W, s), r"no index or count can be; .* np.interp"),
    "tile": (lambda q, A, s: np.tile(q, s), r"no index or count can be"),
    "roll": (lambda q, A, s: np.roll(q, shift=s), r"no index or count can be"),
    "range": (lambda q, A, s: list(range(s)), r"no index or count can be"),
    "if": (lambda q, A, s: q if s > 0.0 else -q, r"`if`, .* use np.where\(condition, yes, no\)"),
    "and": (lambda q, A, s: s > 0.0 and s < 1.0, r"`and`, .* `&` and `\|`"),
    "max of Python's": (lambda q, A, s: max(q), r"max\(\) cannot .* np.minimum and np.maximum"),
    "np.maximum of objects": (lambda q, A, s: np.maximum(np.array([q[0], s]), 0.0), r"np.array\(\[q\[0\], q\[1\]\], like=q\)"),
    "np.linalg of objects": (lambda q, A, s: np.linalg.inv(np.array([[s, 0.0], [0.0, 1.0]])), r"of Python objects; .* like=q"),
    "float": (lambda q, A, s: float(s), r"float\(\) and math need numbers. Write np.sin\(x\) for math.sin\(x\)"),
    "math": (lambda q, A, s: math.atan2(s, 1.0), r"float\(\) and math need numbers"),
    "int": (lambda q, A, s: int(s), r"int\(\) needs a number; np.floor\(x\) rounds"),
    "asarray": (lambda q, A, s: np.asarray(q, float), r"no place in a NumPy array of float64"),
    "random": (lambda q, A, s: np.random.default_rng(0).normal(q), r"SciPy and np.random do, is to be called outside"),
    "a function of SciPy": (lambda q, A, s: __import__("scipy.special").special.erf(q), r"erf cannot be traced; .* outside"),
    "SciPy": (lambda q, A, s: __import__("scipy.linalg").linalg.expm(A), r"traced numbers"),
    "vectorize": (lambda q, A, s: np.vectorize(lambda x: 1.0 if x > 0.0 else 0.0)(q), r"use np.where"),
    "np.where(c)": (lambda q, A, s: np.where(q > 0.0), r"np.where\(condition\) cannot be traced; a shape cannot depend"),
    "norm 2": (lambda q, A, s: np.linalg.norm(A, 2), r"of order 2 cannot be traced; np.linalg.norm\(A\)"),
    "where=": (lambda q, A, s: np.sum(q, where=q > 0.0), r"np.sum of traced arrays: .*argument 'where'. Write it without"),
    "fft": (lambda q, A, s: np.fft.fft(q), r"np.fft.fft cannot be traced; write it .* \(docs/compiling.md\)"),
    "accumulate": (lambda q, A, s: np.maximum.accumulate(q), r"np.maximum.accumulate cannot be traced"),
    "complex": (lambda q, A, s: q * 1j, r"cannot trace 1j: neither a number nor a traced array"),
    "shapes": (lambda q, A, s: A @ np.ones(4), r"shapes \(3, 3\) and \(4,\) do not fit"),
    "cross of planes": (lambda q, A, s: np.cross(q[:2], W[:2]), r"np.cross can be traced for vectors \(..., 3\)"),
    "no square": (lambda q, A, s: np.linalg.inv(A[:2]), r"np.linalg.inv: a square matrix is needed, got shape \(2, 3\)"),
    "max of nothing": (lambda q, A, s: np.max(q[:0]), r"of no numbers"),
    **{name: (call, rf"np.{name} cannot be traced; ") for name, call in each(REFUSED_ONE, lambda f, q, A, s: f(q)).items()},
    **{
        f"linalg.{name}": (call, rf"np.linalg.{name} cannot be traced; .*np.linalg")
        for name, call in each(REFUSED_LINALG, lambda f, q, A, s: f(A), np.linalg).items()
    },
    "lstsq": (lambda q, A, s: np.linalg.lstsq(A, q), r"np.linalg.solve\(A.T @ A, A.T @ b\) solves least squares"),
    "percentile": (lambda q, A, s: np.percentile(q, 50.0), r"np.max\(x\) and np.min\(x\) find the extremes"),
    "copysign": (lambda q, A, s: np.copysign(q, s), r"np.where\(y < 0.0, -np.abs\(x\), np.abs\(x\)\)"),
    "piecewise": (lambda q, A, s: np.piecewise(q, [q < 0.0], [1.0, 2.0]), r"np.select\("),
    "item": (lambda q, A, s: s.item(), r"x.item\(\) cannot be traced; .* leave it out"),
    "sort()": (lambda q, A, s: q.sort(), r"x.sort\(\) cannot be traced; .* np.minimum\(a, b\)"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_what_cannot_be_traced_is_answered_with_what_to_write(name):
    function, words = MISTAKES[name]
    with pytest.raises(torsor.TorsorError, match=words):
        torsor.compile(lambda robot, q, A, s: function(q, A, s), ROBOT, {"q": 3, "A": (3, 3), "s": ()})


def test_what_the_answers_say_to_write_works():
    def written(robot, q, A, s):
        M = np.zeros_like(q, shape=(3, 3))
        M[0] = np.array([q[0], q[1], s], like=q)
        pseudo_inverse = A[:2].T @ np.linalg.inv(A[:2] @ A[:2].T)
        fit = np.linalg.solve(A.T @ A, A.T @ q)
        at_largest = np.max(np.where(q == np.max(q), W, -np.inf))
        return {"M": M, "inverse": pseudo_inverse, "fit": fit, "at_largest": at_largest}

    q, A, s = np.array([0.3, 0.8, -0.1]), np.array([[1.0, 0.2, 0.0], [0.1, -2.0, 0.4], [0.5, 0.0, 1.5]]), 0.7
    got = torsor.compile(written, ROBOT, {"q": 3, "A": (3, 3), "s": ()})(q, A, s)
    np.testing.assert_array_equal(got["M"], [[0.3, 0.8, 0.7], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(got["inverse"], np.linalg.pinv(A[:2]), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(got["fit"], np.linalg.lstsq(A, q)[0], rtol=1e-12)
    assert got["at_largest"] == W[np.argmax(q)]


def test_numbers_in_lists_and_arrays_go_into_functions_of_torsor():
    arm = torsor.robots.planar2r()
    for function in (
        lambda robot, q: torsor.mass_matrix(robot, np.array([q[0], 0.5 + q[1]])),
        lambda robot, q: torsor.mass_matrix(robot, [q[0], 0.5 + q[1]]),
        lambda robot, q: torsor.mass_matrix(robot, q=np.asarray(q) + np.array([0.0, 0.5])),
    ):
        q = np.array([0.3, -0.8])
        np.testing.assert_allclose(
            torsor.compile(function, arm, {"q": 2})(q), torsor.mass_matrix(arm, q + np.array([0.0, 0.5]))
        )


def test_scans_derivatives_and_tasks_take_the_same_functions():
    arm, q, v = torsor.robots.planar2r(), np.array([0.3, -0.8]), np.array([0.5, 2.0])

    def step(robot, q, v):
        faster = np.zeros_like(v)
        faster[0] = np.expm1(-q[0])
        faster[q < -1.0] = 7.0
        return {"q": q + 0.1 * np.tanh(v), "v": v + 0.1 * faster}

    path = torsor.scan(step, arm, {"q": 2, "v": 2})(steps=4, q=q, v=v)
    state = {"q": q, "v": v}
    for k in range(4):
        state = step(arm, **state)
        np.testing.assert_allclose(path["q"][k], state["q"], rtol=1e-13)
        np.testing.assert_allclose(path["v"][k], state["v"], rtol=1e-13)

    def angle(robot, q):
        x = torsor.frame_pose(robot, q, "tip")[:2, 3]
        return np.array([np.arctan2(x[1], x[0]), np.linalg.norm(x)])

    h = 1e-6
    differences = np.stack([(angle(arm, q + d) - angle(arm, q - d)) / (2 * h) for d in h * np.eye(2)], axis=1)
    np.testing.assert_allclose(torsor.tasks.function_task(angle, 2).jacobian(arm, q), differences, rtol=1e-8, atol=1e-9)
    slope = torsor.derivative(angle, arm, {"q": 2}, wrt="q")(q)
    np.testing.assert_allclose(slope, differences, rtol=1e-8, atol=1e-9)


def test_a_traced_array_can_be_printed():
    seen = []
    torsor.compile(lambda robot, q: [seen.append(f"{q[0]:.3f} {q}"), q][1], ROBOT, {"q": 3})
    assert seen == ["<traced array ()> <traced array (3,)>"]


def test_every_function_of_the_table_is_tested_and_none_is_refused_too():
    words = set(re.findall(r"\w+", Path(__file__).read_text(encoding="utf-8")))
    assert not [name for name in FUNCTIONS if not words.issuperset(name.split("."))]
    assert not REFUSED.keys() & FUNCTIONS.keys()
    assert not MAKERS & FUNCTIONS.keys()
