"""The stubs of the compiled functions say what the functions take and give: they are what tools/write_stubs.py writes."""

import ast
import runpy
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "write_stubs.py"
STUBS = runpy.run_path(str(TOOL))["stubs"]()


def content(text):
    """A stub without its layout and the order of its imports."""
    body = ast.parse(text).body
    imports = sorted(
        (node.module, alias.name, alias.asname)
        for node in body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    )
    return imports, [ast.dump(node) for node in body if not isinstance(node, ast.ImportFrom)]


@pytest.mark.parametrize("path", STUBS, ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_stubs_are_up_to_date(path):
    assert content(path.read_text(encoding="utf-8")) == content(STUBS[path]), "run: python tools/write_stubs.py"
