"""Constants are the same on every machine: sums of products and functions of numbers are rounded once, as exact values say."""

import math
import threading
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

import torsor
from torsor import arrays
from torsor.arrays import correctly_rounded, exact, exact_constants
from torsor.arrays.symmetric_eigen import symmetric_eigen
from torsor.compiler.graph import ARITY, LIBRARY
from torsor.compiler.simplify import compute, evaluate
from torsor.lie import so3
from torsor.model.poses import composed, rotation_x, rotation_y, rotation_z

numbers = st.floats(allow_nan=False, allow_infinity=False)
moderate = st.floats(-1e3, 1e3, allow_subnormal=False)
angles = st.one_of(numbers, st.floats(-7, 7), st.integers(-99, 99).map(lambda k: k * math.pi / 12))


def nearest(function, *given):
    """The double nearest to a function's value, computed with far more digits than could matter."""
    with mpmath.workprec(2600):  # a double may be as large as 2^1024, and sines need all digits behind its point
        return float(function(*map(mpmath.mpf, given)))


@settings(max_examples=150)
@given(angles)
@example(6381956970095103 * 2.0**797)  # the double that comes closest to a multiple of π/2
@example(5e-324)
@example(-0.0)
def test_sines_cosines_and_hyperbolic_tangents_are_the_nearest_doubles(x):
    assert correctly_rounded.sin(x) == nearest(mpmath.sin, x)
    assert correctly_rounded.cos(x) == nearest(mpmath.cos, x)
    y = math.remainder(x, 25.0)  # beyond, the exact tangent is too close to 1 for any working precision
    assert correctly_rounded.tanh(y) == nearest(mpmath.tanh, y)


@settings(max_examples=150)
@given(numbers, numbers)
@example(1.0, 1.0)
@example(5e-324, -1.0)
@example(5e-324, 1e308)
@example(-3.0, 1e-310)
def test_arc_tangents_are_the_nearest_doubles(y, x):
    want = math.atan2(y, x) if x == 0.0 or y == 0.0 else nearest(mpmath.atan2, y, x)
    assert correctly_rounded.atan2(y, x) == want


@settings(max_examples=60, deadline=None)
@given(st.one_of(numbers, st.floats(-700, 700), st.floats(-2, 2)), st.floats(-50, 50))
@example(1e-300, 0.5)
@example(5e-324, -0.5)
@example(709.9, 2.0)
@example(-746.0, 3.0)
@example(-27.0, 1 / 3)
@example(134217727.0, 2.0)  # its square lies halfway between two doubles
def test_exponentials_logarithms_and_powers_are_the_nearest_doubles(x, y):
    near = math.fmod(x, 800.0)
    for name in ("exp", "expm1", "sinh", "cosh"):
        assert getattr(correctly_rounded, name)(near) == nearest(getattr(mpmath, name), near)
    assert correctly_rounded.asinh(x) == math.copysign(nearest(mpmath.asinh, abs(x)), x)
    assert correctly_rounded.cbrt(x) == math.copysign(nearest(mpmath.cbrt, abs(x)), x)
    within = math.fmod(x, 1.0)
    assert correctly_rounded.atanh(within) == nearest(mpmath.atanh, within)
    assert correctly_rounded.log1p(within) == nearest(mpmath.log1p, within)
    assert correctly_rounded.acosh(1.0 + abs(x)) == nearest(mpmath.acosh, 1.0 + abs(x))
    if x:
        assert correctly_rounded.log(abs(x)) == nearest(mpmath.log, abs(x))
        assert correctly_rounded.power(abs(x), y) == nearest(mpmath.power, abs(x), y)
    with np.errstate(all="ignore"):
        assert correctly_rounded.power(x, y) == pytest.approx(float(np.power(x, y)), rel=1e-15, nan_ok=True)
        assert correctly_rounded.hypot(x, y) == pytest.approx(float(np.hypot(x, y)), rel=1e-15)
        assert correctly_rounded.fmod(x, y) == pytest.approx(float(np.fmod(x, y)), rel=0, nan_ok=True)
    assert correctly_rounded.floor(x) == np.floor(x)


@pytest.mark.parametrize("x", [0.0, -0.0, 1.0, -1.0, -2.0, math.nan, math.inf, -math.inf])
def test_at_the_edges_all_functions_are_what_ieee_says(x):
    with np.errstate(all="ignore"):
        for op, (_, name) in LIBRARY.items():
            others = (
                [()]
                if ARITY[op] == 1
                else [(y,) for y in (0.0, -0.0, 1.0, -1.0, 2.0, -2.5, math.nan, math.inf, -math.inf)]
            )
            for other in others:
                np.testing.assert_array_equal(
                    compute(op, x, *other), getattr(np, name)(x, *other), err_msg=f"{name} {other}"
                )
    assert math.copysign(1.0, correctly_rounded.sinh(-0.0)) == -1.0


@pytest.mark.parametrize("x", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_gives_what_ieee_says(x):
    assert math.isnan(correctly_rounded.sin(x)) and math.isnan(correctly_rounded.cos(x))
    assert math.isnan(correctly_rounded.sqrt(-1.0)) and math.isnan(correctly_rounded.atan2(x, math.nan))
    assert correctly_rounded.tanh(x) == pytest.approx(math.tanh(x), nan_ok=True)
    assert correctly_rounded.atan2(1.0, x) == pytest.approx(math.atan2(1.0, x), nan_ok=True)


@given(st.lists(numbers, min_size=1, max_size=6))
@example([1e160, 1e160])
@example([5e-324, 5e-324])
@example([3.0, 4.0])
def test_norms_are_the_nearest_doubles_and_never_overflow_on_the_way(x):
    assert exact.norm(x) == nearest(lambda *v: mpmath.sqrt(mpmath.fsum(a * a for a in v)), *x)
    if any(x):
        e = exact.unit(x)
        assert abs(float(np.sum(e * e)) - 1.0) < 1e-15
        assert all(math.copysign(1.0, a) == math.copysign(1.0, b) for a, b in zip(e, x, strict=True))


@settings(max_examples=150)
@given(st.lists(st.tuples(numbers, numbers), max_size=6))
@example([(1e200, 1e200), (-1e200, 1e200)])
@example([(0.1, 3.0), (-0.3, 1.0)])
@example([(1e-300, 1e-300), (1.0, 0.0)])
def test_a_sum_of_products_is_rounded_once_and_zero_where_it_is_rounding(pairs):
    terms = [Fraction(x) * Fraction(y) for x, y in pairs]
    total, size = sum(terms, Fraction(0)), sum(map(abs, terms), Fraction(0))
    got = exact.sum_of_products([x for x, _ in pairs], [y for _, y in pairs])
    if abs(total) <= Fraction(exact.ROUNDING) * size * (1 - Fraction(1, 10**9)) and sum(map(bool, terms)) > 1:
        assert got == 0.0
    elif abs(total) > Fraction(exact.ROUNDING) * size * (1 + Fraction(1, 10**9)):
        assert got == correctly_rounded.rounded(total)


def test_products_of_arrays_broadcast_as_those_of_numpy():
    rng = np.random.default_rng(0)
    for a, b in (((4, 3, 2), (2, 5)), ((3, 2), (4, 2, 5)), ((0, 3, 2), (2, 5)), ((2, 0), (0, 3)), ((1, 1), (1, 1))):
        A, B = rng.normal(size=a), rng.normal(size=b)
        np.testing.assert_allclose(exact.matmul(A, B), A @ B, rtol=1e-13, atol=1e-14)
        assert exact.matmul(A, B).shape == (A @ B).shape
    x, y = rng.normal(size=(2, 5, 3))
    np.testing.assert_allclose(exact.cross(x, y), np.cross(x, y), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(exact.vecdot(x, y), np.sum(x * y, axis=-1), rtol=1e-13, atol=1e-14)


def test_primitives_are_exact_inside_the_context_alone_and_in_this_thread():
    x = np.full(3, 0.1)
    y = np.array([10.0, -5.0, -5.0000000000000009])  # a sum that is all rounding
    assert arrays.dot(x, y) != 0.0
    seen = []
    with exact_constants():
        assert arrays.dot(x, y) == 0.0
        thread = threading.Thread(target=lambda: seen.append(float(arrays.dot(x, y))))
        thread.start()
        thread.join()
        with exact_constants(False):
            assert arrays.dot(x, y) != 0.0
        assert arrays.dot(x, y) == 0.0
    assert seen[0] != 0.0
    assert arrays.dot(x, y) != 0.0


@given(st.lists(moderate, min_size=6, max_size=6))
def test_eigenvalues_of_constants_are_those_of_lapack(x):
    A = np.array([[x[0], x[1], x[2]], [x[1], x[3], x[4]], [x[2], x[4], x[5]]])
    with exact_constants():
        values, vectors = symmetric_eigen(A)
    size = 1e-13 * (np.abs(A).max() + 1e-300)
    np.testing.assert_allclose(values[::-1], np.linalg.eigvalsh(A), rtol=0, atol=10 * size)
    np.testing.assert_allclose(vectors * values @ vectors.T, A, rtol=0, atol=10 * size)


@given(st.lists(st.integers(-8, 8), min_size=3, max_size=3))
def test_poses_by_right_angles_hold_zeros_and_ones_alone(quarters):
    T = torsor.pose_from((0.1, 0.2, 0.3), [k * math.pi / 2 for k in quarters])
    assert set(np.abs(T[:3, :3]).ravel()) <= {0.0, 1.0}
    back = composed(T, torsor.lie.se3.inverse(T))
    np.testing.assert_array_equal(back, np.eye(4))


def test_a_general_rotation_is_untouched():
    R = so3.exp(np.array([0.3, -0.2, 1e-9]))
    np.testing.assert_array_equal(exact.settled_rotation(R), R)


def test_a_program_is_evaluated_in_plain_numbers_as_its_machine_code_does():
    arm = torsor.robots.ur5()
    q, v, a = torsor.random_state(arm, seed=0)
    kernel = torsor.compile(torsor.inverse_dynamics, arm)
    with torsor.backend("numpy"):
        want = torsor.inverse_dynamics(arm, q, v, a)
    np.testing.assert_allclose(evaluate(kernel.program, [q, v, a])[0], want, rtol=0, atol=1e-12)


@settings(max_examples=80)
@given(st.lists(angles.filter(lambda x: abs(x) < 1e9), min_size=3, max_size=3))
@example([0.0, -0.0, 0.0])
@example([0.5 * math.pi, 0.0, -math.pi])
@example([0.7, -0.3, 0.0])
@example([math.pi, 0.5 * math.pi, -0.0])
def test_roll_pitch_and_yaw_are_the_product_of_three_rotations_to_the_bit(rpy):
    roll, pitch, yaw = rpy
    with exact_constants():
        product = arrays.matmul(rotation_z(yaw), arrays.matmul(rotation_y(pitch), rotation_x(roll)))
    assert torsor.pose_from(rpy=rpy)[:3, :3].tobytes() == exact.settled_rotation(product[None])[0].tobytes()


@settings(max_examples=80)
@given(st.lists(moderate, min_size=12, max_size=12), st.floats(0, 1e3))
@example([0.0] * 12, 1.0)
@example([-0.0, 1.0, 0.0, *([0.0] * 9)], 0.0)
def test_an_inertia_seen_from_the_frame_is_that_of_the_general_formula_to_the_bit(numbers, mass):
    com, A = np.array(numbers[:3]), np.array(numbers[3:]).reshape(3, 3)
    body = torsor.Inertia(mass, com, A @ A.T)
    with exact_constants():
        at_com = torsor.lie.inertia_row(body.mass, 0.0 * com, body.rotational)
        general = torsor.lie.transform_inertia(torsor.pose_from(com), at_com)
    assert body.row.tobytes() == general.tobytes()


@pytest.mark.parametrize("axis", [(0, 0, 2.5), (-0.0, -1e-300, 0), (1e300, 0, -0.0)])
def test_an_axis_along_a_coordinate_is_one_without_rounding(axis):
    made = exact.unit(np.array(axis, float))
    assert made.tobytes() == np.copysign(np.array(axis) != 0, axis).astype(float).tobytes()
