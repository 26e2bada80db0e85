"""Without an extra: what needs it says what to type, and examples end with it, without a traceback."""

import ast
import re
import runpy
import sys
from pathlib import Path

import pytest

import torsor

pytestmark = pytest.mark.compiled  # as users run them
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
LIBRARY = {"casadi": "casadi", "jax": "jax", "motion": "scipy", "plot": "matplotlib", "qp": "piqp", "sympy": "sympy"}


@pytest.fixture
def without(monkeypatch):
    """Make the library of an extra impossible to import."""

    def hide(extra):
        library = LIBRARY[extra]
        for name in [library, *(name for name in sys.modules if name.startswith(f"{library}."))]:
            monkeypatch.setitem(sys.modules, name, None)

    return hide


def needs(path):
    """Extras that the header of an example says it needs, and those of its pictures."""
    header = ast.get_docstring(ast.parse(path.read_text()))
    line = re.search(
        r"^Needs (?:torsor alone|torsor\[(\w+)\])(?:; its pictures? torsor\[(plot)\])?\.$", header, re.MULTILINE
    )
    assert line, f"{path.name}: its header has no line such as 'Needs torsor[motion]; its picture torsor[plot].'"
    return line[1], line[2]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_header_of_an_example_says_what_it_imports(path):
    extra, of_picture = needs(path)
    text = path.read_text()
    assert (of_picture == "plot") == ("matplotlib" in text or "torsor.plot" in text or "to_png" in text)
    assert (extra == "jax") == bool(re.search(r"import jax\b", text))
    for name in ("scipy", "sympy", "piqp", "mujoco", "yaml"):
        assert not re.search(rf"^ *(import|from) {name}\b", text, re.MULTILINE)


@pytest.mark.parametrize("path", [path for path in EXAMPLES if needs(path)[0]], ids=lambda path: path.name)
def test_an_example_whose_extra_is_missing_ends_with_what_to_type(path, without, monkeypatch, tmp_path):
    extra, _ = needs(path)
    without(extra)
    without("plot")
    monkeypatch.setattr("sys.argv", [str(path), str(tmp_path)])
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(path), run_name="__main__")
    assert f"pip install 'torsor[{extra}]'" in end.value.code


@pytest.mark.parametrize(
    ("method", "extra"),
    [("to_sympy", "sympy"), ("to_latex", "sympy"), ("to_jax", "jax"), ("to_casadi", "casadi")],
    ids=lambda x: x,
)
def test_a_kernel_says_which_extra_its_exports_need(method, extra, without):
    kernel = torsor.compile(torsor.gravity_forces, torsor.robots.planar2r())
    without(extra)
    with pytest.raises(torsor.TorsorError) as caught:
        getattr(kernel, method)()
    assert str(caught.value) == f"kernel.{method} needs {extra}: pip install 'torsor[{extra}]'."
