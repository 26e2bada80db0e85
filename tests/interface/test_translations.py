"""Tables of translation: both sides of each row of calls are evaluated, and are the same numbers."""

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import torsor

PAGES = Path(__file__).parents[2] / "docs" / "translations"
NEEDS = {"pinocchio": "pinocchio", "mujoco": "mujoco", "drake": "pydrake", "modern_robotics": "modern_robotics"}
ALL = sorted(path.stem for path in PAGES.glob("*.md") if path.stem != "index")


@pytest.mark.parametrize("page", ALL)
def test_both_sides_of_each_row_are_the_same(page):
    """Peers sum in another order: 1e-9 of O(1) numbers. The Toolbox is compared by its definitions, where it is absent."""
    if page in NEEDS:
        pytest.importorskip(NEEDS[page])
    text = (PAGES / f"{page}.md").read_text()
    names, absent = {}, page == "robotics_toolbox" and not find_spec("roboticstoolbox")
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        if not (absent and "import roboticstoolbox" in block):
            exec(compile(block, f"{page}.md", "exec"), names)
    calls = text.split("## Calls")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([^`]*)` \| `([^`]*)` \|(?: `([^`]*)` \|)?", calls, re.MULTILINE)
    assert len(rows) == calls.count("\n| `") >= 10
    pairs = [(theirs, ours) for theirs, ours, _ in rows if not absent]
    pairs += [(definition, ours) for _, ours, definition in rows if definition]
    assert len(pairs) >= 10
    for theirs, ours in pairs:
        found, want = eval(ours, names), np.asarray(eval(theirs, names))
        assert np.shape(found) == want.shape, (theirs, ours)
        if "quaternion" in theirs and want @ found < 0:
            want = -want  # the same rotation
        # differences of definitions with h = 1e-6 leave about 1e-9
        np.testing.assert_allclose(found, want, rtol=1e-7, atol=1e-8, err_msg=f"{theirs} | {ours}")


@pytest.mark.parametrize("page", ALL)
def test_names_of_ours_in_a_page_exist(page):
    for dotted in re.findall(r"`-?torsor\.([\w.]*\w)", (PAGES / f"{page}.md").read_text()):
        found = torsor
        for part in dotted.split("."):
            found = getattr(found, part)
