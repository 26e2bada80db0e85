"""Our sine and cosine: within two units in the last place for every finite angle, NaN for what is not finite."""

import mpmath
import numpy as np
import pytest
from test_emitters import native

from torsor.compiler.graph import Graph, Op, Port, Program

ANGLES = np.concatenate(
    [
        np.random.default_rng(0).uniform(-20, 20, 4000),
        np.random.default_rng(1).uniform(-1e6, 1e6, 4000),
        10.0 ** np.random.default_rng(2).uniform(-300, 300, 500),
        np.arange(-200, 200) * (np.pi / 2),  # where one of the two is nearly zero
        np.arange(-200, 200) * (np.pi / 4),
        [0.0, -0.0, 5e-324, 1e-160, 1e6, 1e6 + 0.5, 1e300, -1.7e308],
    ]
)


def sine_and_cosine(dtype):
    graph = Graph([Port("x", ())])
    roots = tuple(graph.apply(op, graph.input_nodes[0]) for op in (Op.SIN, Op.COS))
    return native(Program(graph, (Port("y", (2,)),), (roots,)), "double" if dtype is np.float64 else "float")


@pytest.mark.parametrize(("dtype", "units"), [(np.float64, 2.0), (np.float32, 2.5)])
def test_every_finite_angle(dtype, units):
    angles = ANGLES.astype(dtype) if dtype is np.float64 else ANGLES[np.abs(ANGLES) < 3e38].astype(np.float32)
    got = sine_and_cosine(dtype)([angles])[0]
    with mpmath.workdps(350):
        for angle, (sine, cosine) in zip(angles.tolist(), got.tolist(), strict=True):
            for value, exact in ((sine, mpmath.sin(mpmath.mpf(angle))), (cosine, mpmath.cos(mpmath.mpf(angle)))):
                unit = float(np.spacing(dtype(max(abs(float(exact)), np.finfo(dtype).tiny))))
                assert abs(mpmath.mpf(value) - exact) <= units * unit, (angle, value)


def test_what_is_not_finite_has_no_sine():
    got = sine_and_cosine(np.float64)([np.array([np.inf, 1.0, -np.inf, np.nan, 1e9])])[0]
    assert np.isnan(got[[0, 2, 3]]).all()
    np.testing.assert_allclose(got[[1, 4]], [[np.sin(1), np.cos(1)], [np.sin(1e9), np.cos(1e9)]], rtol=1e-14)


def test_a_group_with_one_angle_beyond_the_limit_is_right_in_place():
    """The guard of a group looks at all its sines before anything is written: inputs that are outputs too are still there."""
    graph = Graph([Port("x", (2,))])
    x, y = graph.input_nodes
    sine, cosine = graph.apply(Op.SIN, x), graph.apply(Op.COS, graph.apply(Op.MUL, x, y))
    roots = (graph.apply(Op.ADD, sine, y), graph.apply(Op.MUL, cosine, sine))
    function = native(Program(graph, (Port("y", (2,)),), (roots,)))
    given = np.random.default_rng(0).normal(size=(37, 2))
    given[5, 0], given[11], given[12, 1], given[36, 0] = 3e7, np.inf, 1e200, np.nan
    expected = np.array([function([row])[0] for row in given])
    np.testing.assert_array_equal(function([given])[0], expected)
    np.testing.assert_allclose(
        expected[5], [np.sin(3e7) + given[5, 1], np.cos(3e7 * given[5, 1]) * np.sin(3e7)], rtol=1e-13
    )
    function([given], [given])
    np.testing.assert_array_equal(given, expected)
