"""The architecture as rules: who may import whom, and what is never imported."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import torsor

ROOT = Path(torsor.__file__).parent
BASE = {
    "errors",
    "arrays",
    "bridges",
    "border",
    "lie",
    "model",
    "_once",
    "_text_files",
    "_lazy",
    "_reports",
    "_html",
    "_progress",
}  # what every layer above them may use
EQUATIONS = BASE | {"mechanics", "geometry"}
FUNCTIONS = EQUATIONS | {"compiler", "functions"}
ALLOWED = {
    "errors": set(),
    "_once": set(),
    "_unknown_names": set(),
    "_reports": {"_html", "errors"},
    "_html": {"errors"},
    "_progress": {"errors"},
    "_lazy": {"_unknown_names"},
    "_text_files": {"errors"},
    "arrays": {"errors"},
    "bridges": {"arrays", "errors"},
    "border": {"bridges", "arrays", "errors"},
    "lie": {"_reports", "border", "arrays", "errors", "_lazy"},
    "model": {"_html", "_reports", "_text_files", "border", "lie", "arrays", "errors", "_once", "_lazy"},
    # The equations are pure: they never meet the compiler, which knows no robots
    "mechanics": {"_reports", "border", "model", "lie", "arrays", "errors"},
    "geometry": {"border", "_lazy", "_reports", "mechanics", "model", "lie", "arrays", "errors"},
    "compiler": {"_html", "border", "bridges", "_text_files", "_once", "arrays", "errors"},
    # Where equations and compiler meet
    "functions": FUNCTIONS | {"_reports"},
    "kinematics": {"_lazy"},
    "dynamics": {"_lazy"},
    "derivatives": {"_lazy"},
    # What comes in
    "formats": BASE,
    "adapters": BASE,
    "robots": BASE,
    "modern_robotics": BASE | {"functions"},
    # What people do with the equations
    "tasks": FUNCTIONS,
    "control": FUNCTIONS | {"tasks", "motion", "simulation", "linearisation"},
    "motion": FUNCTIONS | {"tasks"},
    "redundancy": FUNCTIONS | {"tasks", "motion"},
    "simulation": FUNCTIONS | {"motion", "linearisation"},
    "linearisation": FUNCTIONS,
    "identification": FUNCTIONS,
    "balancing": FUNCTIONS,
    "symbolic": EQUATIONS | {"compiler"},
    "papers": FUNCTIONS
    | {"tasks", "robots", "modern_robotics"},  # exercises are about robots of the zoo and of the book
    # What people look at and type
    "plot": FUNCTIONS | {"tasks", "motion", "redundancy", "balancing", "papers"},
    "viewer": FUNCTIONS | {"tasks", "motion", "plot"},
    "verification": BASE | {"functions", "adapters"},
    "cli": BASE
    | {
        "_demo",
        "compiler",
        "functions",
        "motion",
        "papers",
        "plot",
        "symbolic",
        "verification",
        "viewer",
        "__version__",
        "get_threads",
    },
    "_demo": {"_html", "_text_files", "errors", "arrays", "compiler", "plot", "control", "motion"},
    "__main__": {"cli"},
}
MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def layer_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Dotted names of everything a module imports, at its top or inside functions."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_its_own_layer_and_those_below(path):
    layer = layer_of(path)
    inner = {name.split(".")[1] for name in imported(path) if name.startswith("torsor.")}
    assert inner - {layer} <= ALLOWED[layer]


@pytest.mark.parametrize(
    "path",
    [p for p in MODULES if layer_of(p) in ("lie", "mechanics") or "formulations" in p.parts],
    ids=lambda path: path.name,
)
def test_lie_mechanics_and_formulations_know_no_array_library(path):
    libraries = {name.split(".")[0] for name in imported(path)}
    assert not libraries & {"numpy", "jax", "scipy", "sympy"}


def test_the_layer_rule_notices_a_wrong_import(tmp_path):
    """A test of the test: a lie module that imported mechanics would be caught."""
    wrong = tmp_path / "wrong.py"
    wrong.write_text("def f():\n    from torsor.mechanics.energy import kinetic_energy\n")
    inner = {name.split(".")[1] for name in imported(wrong) if name.startswith("torsor.")}
    assert not inner <= ALLOWED["lie"]


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_torsor_imports_no_optional_library_and_prints_nothing():
    optional = (
        "jax scipy sympy matplotlib tqdm llvmlite pinocchio piqp ruckig torch dask xarray casadi viser trimesh PIL"
    )
    optional += " torsor.motion torsor.balancing torsor.plot torsor.viewer"
    code = f"import sys, torsor; print([name for name in {optional!r}.split() if name in sys.modules])"
    assert run(code) == "[]"


ASKED_FIRST = "import torsor, importlib.util\ntorsor.Robot\nimportlib.util.find_spec('jax')\nimport jax"


@pytest.mark.parametrize("order", ["import jax, torsor", "import torsor, jax", ASKED_FIRST])
def test_a_robot_is_a_pytree_whichever_library_is_imported_first(order):
    code = (
        f"{order}\nrobot = torsor.robots.pendulum()\nleaves = jax.tree_util.tree_leaves(robot)\n"
        "print(len(leaves) == len(robot.parameters))"
    )
    assert run(code) == "True"


def test_waiting_for_jax_leaves_no_trace_in_it():
    code = (
        "import sys, torsor, jax\n"
        "print(type(jax.__spec__.loader).__module__, any('torsor' in type(f).__module__ for f in sys.meta_path))"
    )
    assert run(code) == "_frozen_importlib_external False"


def test_no_module_and_no_function_is_too_long():
    for path in MODULES:
        text = path.read_text()
        assert text.count("\n") <= 400, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                words = ast.get_docstring(node, clean=False) or ""
                assert node.end_lineno - node.lineno - words.count("\n") < 80, (path, node.name)
