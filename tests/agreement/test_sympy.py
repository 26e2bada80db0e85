"""A kernel's SymPy expressions have the kernel's numbers, for all that goes through the inverse of the mass matrix as well."""

import math

import numpy as np
import pytest

import torsor
from torsor.compiler.graph import Op
from torsor.compiler.print import numpy as emit_numpy
from torsor.compiler.print.sympy import _number
from torsor.functions.dispatch import PUBLIC

sympy = pytest.importorskip("sympy")


def has_nan(program):
    """Whether a program answers with NaN somewhere: it has a guarded division."""
    graph = program.graph
    return any(graph.ops[node] is Op.CONSTANT and math.isnan(graph.values[node]) for node in program.live())


def assert_same_numbers(kernel, seed=0):
    generator = np.random.default_rng(seed)
    state = {name: generator.uniform(-1.0, 1.0, shape) for name, shape in kernel.inputs.items()}
    if "energy" in state:  # formulas are those of where a motion of this energy comes
        state["energy"] = np.array(1e3)
    flat = {
        sympy.Symbol(f"{name}_{k}" if x.shape else name, real=True): number
        for name, x in state.items()
        for k, number in enumerate(x.ravel())
    }
    wanted = emit_numpy.build(kernel.program)(*state.values())
    expressions = kernel.to_sympy()
    entries = [e for x in expressions.values() for e in (sympy.flatten(x) if hasattr(x, "shape") else [x])]
    found = sympy.lambdify(list(flat), entries, "numpy", cse=True)(*flat.values())
    # SymPy collects terms, so that numbers differ in their last digits
    np.testing.assert_allclose(found, np.concatenate([np.ravel(x) for x in wanted.values()]), rtol=1e-9, atol=1e-9)


PLANAR = torsor.robots.planar2r()
INVERTING = ["forward_dynamics", "inverse_mass_matrix", "geodesic_acceleration", "forward_dynamics_derivatives"]


def test_every_function_with_a_guarded_pivot_has_the_kernels_numbers():
    tried = []
    for name in PUBLIC:
        try:
            kernel = torsor.compile(PUBLIC[name], PLANAR)
        except torsor.TorsorError:  # a frame or a task is to be named
            continue
        if has_nan(kernel.program):
            assert_same_numbers(kernel)
            tried.append(name)
    assert set(INVERTING) <= set(tried)


@pytest.mark.parametrize(
    ("robot", "name"),
    [
        (torsor.robots.cart_pole(), "forward_dynamics"),
        (torsor.robots.cart_pole(), "inverse_mass_matrix"),
        (torsor.robots.planar_chain((1.0, 0.5, 0.5), (1.0, 2.0, 1.0)), "inverse_mass_matrix"),
    ],
)
def test_other_small_robots_have_the_kernels_numbers_and_no_branches(robot, name):
    kernel = torsor.compile(PUBLIC[name], robot)
    assert has_nan(kernel.program)
    assert_same_numbers(kernel)
    assert not any(entry.has(sympy.Piecewise) for x in kernel.to_sympy().values() for entry in sympy.flatten(x))


def test_the_inverse_of_the_mass_matrix_is_its_inverse():
    M = sympy.Matrix(torsor.compile(torsor.mass_matrix, PLANAR).to_sympy()["M"])
    inverse = sympy.Matrix(torsor.compile(torsor.dynamics.inverse_mass_matrix, PLANAR).to_sympy()["M_inverse"])
    assert sympy.simplify(M * inverse) == sympy.eye(2)


@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_mass_matrix"])
def test_latex_is_written_too(name):
    (text,) = torsor.compile(PUBLIC[name], PLANAR).to_latex().values()
    assert "\\cos" in text and "nan" not in text.lower() and "cases" not in text


def test_simple_numbers_are_exact_and_others_the_decimals_they_are():
    exact = {0.5: "1/2", -0.375: "-3/8", 3.0: "3", 0.0: "0", 1e-3: "0.00100000000000000", 9.81: "9.81000000000000"}
    assert {value: str(_number(sympy, value)) for value in exact} == exact
    assert _number(sympy, 1e300) == sympy.Float(1e300)
    assert _number(sympy, 2.0**-1074) == sympy.Float(2.0**-1074)
    assert [_number(sympy, x) for x in (math.inf, -math.inf)] == [sympy.oo, -sympy.oo]
    assert _number(sympy, math.nan) is sympy.nan
    kernel = torsor.compile(lambda robot, q: {"y": 0.5 * q}, PLANAR, {"q": 2})
    assert [str(e) for e in kernel.to_sympy()["y"]] == ["q_0/2", "q_1/2"]


# The curvature of a planar 2R, whose mass matrix is (a + 2 b cos q₂, c + b cos q₂; ·, c)


def closed_form(a, b, c):
    """R_1212 and K = R_1212 / det M of the planar 2R."""
    cosine = sympy.cos(sympy.Symbol("q_1", real=True))
    det, above = a * c - c**2 - b**2 * cosine**2, b * cosine * (a * c - b**2 - c**2)
    return above / det, above / det**2


def curvatures(robot):
    found = {name: torsor.compile(PUBLIC[name], robot).to_sympy() for name in CURVATURES}
    R, K = found["riemann_curvature"]["R"], found["sectional_curvature"]["K"]
    u, w = ([sympy.Symbol(f"{letter}_{k}", real=True) for k in (0, 1)] for letter in "uw")
    plane = dict(zip([*u, *w], (2, 1, -1, 3), strict=True))  # two joints have one plane, whatever spans it
    return R, K.subs(plane), found["scalar_curvature"]["scalar"]


CURVATURES = ("riemann_curvature", "sectional_curvature", "scalar_curvature")


def test_the_curvature_of_a_planar_2r_with_simple_numbers_is_its_closed_form():
    R, K, scalar = curvatures(torsor.robots.planar2r(masses=(1.5, 0.5), lengths=(1.0, 0.5)))
    b, c = sympy.Rational(1, 4), sympy.Rational(1, 8)  # m₂ L₁ L₂, m₂ L₂²
    R_1212, wanted = closed_form(2 + c, b, c)
    assert sympy.simplify(R[0, 1, 0, 1] - R_1212) == 0 and sympy.simplify(R[0, 1, 1, 0] + R_1212) == 0
    assert sympy.simplify(K - wanted) == 0 and sympy.simplify(scalar - 2 * wanted) == 0
    assert not any(x.atoms(sympy.Float) for x in (K, scalar, *sympy.flatten(R)))


def test_the_curvature_of_a_planar_2r_with_decimals_is_its_closed_form():
    m1, m2, L1, L2 = 1.0, 0.8, 0.5, 0.4
    R, K, scalar = curvatures(torsor.robots.planar_chain([L1, L2], [m1, m2]))
    R_1212, wanted = closed_form(m1 * L1**2 + m2 * (L1**2 + L2**2), m2 * L1 * L2, m2 * L2**2)
    differences = [R[0, 1, 0, 1] - R_1212, K - wanted, scalar - 2 * wanted]
    q = np.linspace(-3.0, 3.0, 25)
    found = sympy.lambdify(sympy.Symbol("q_1", real=True), differences, "numpy")(q)
    np.testing.assert_allclose(found, np.zeros((3, 25)), atol=1e-11)  # of numbers up to 30, by M⁻¹ of condition 100
