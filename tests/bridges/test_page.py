"""docs/arrays.md shows what happens."""

import re
from pathlib import Path

import numpy as np
import pytest
from libraries import library

import torsor

for name in ("torch", "dask", "xarray", "pint", "casadi"):
    library(name)
pytestmark = pytest.mark.compiled
PAGE = (Path(__file__).parents[2] / "docs" / "arrays.md").read_text(encoding="utf-8")


def test_every_line_of_the_page_runs(capsys):
    seen = {}
    exec(compile("\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)), "arrays.md", "exec"), seen)
    arm, Q = seen["arm"], seen["Q"]
    assert "pass numbers, as in x.to('rad').magnitude" in capsys.readouterr().out
    np.testing.assert_allclose(
        seen["slopes"], torsor.derivatives.gravity_forces_derivative(arm, Q), rtol=1e-10, atol=1e-10
    )
    M = torsor.mass_matrix(arm, Q)
    np.testing.assert_array_equal(seen["M"].values, M)
    np.testing.assert_array_equal(seen["elbow"].values, M[:, 3, 3])
    assert seen["largest"] == pytest.approx(np.linalg.norm(M, axis=(1, 2)).max())
    assert seen["slope"].shape == (7, 7)
