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
