"""The architecture as rules: who may import whom, and what is never imported."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import torsor

ROOT = Path(torsor.__file__).parent
ALLOWED = {
    "errors": set(),
    "text_files": {"errors"},
    "once": set(),
    "arrays": {"errors"},
    "lie": {"arrays", "errors"},
    "model": {"lie", "arrays", "errors", "once"},
    "mechanics": {"model", "lie", "arrays", "errors"},
    "geometry": {"mechanics", "model", "lie", "arrays", "errors"},
    "formulations": {"mechanics", "model", "lie", "arrays", "errors"},
    "operation_counts": {"formulations", "compiler", "model", "arrays", "errors"},
    "formulation_comparison": {
        "backend",
        "compile_function",
        "formulations",
        "operation_counts",
        "model",
        "arrays",
        "errors",
    },
    "symbolic": {
        "text_files",
        "once",
        "functions",
        "compiled",
        "compile_function",
        "compiler",
        "geometry",
        "mechanics",
        "model",
        "lie",
        "arrays",
        "errors",
    },
    "motion": {"functions", "geometry", "mechanics", "model", "lie", "arrays", "errors"},
    "reaching": {"compile_function", "functions", "mechanics", "model", "lie", "arrays", "errors", "once"},
    "redundancy": {
        "task_functions",
        "tasks",
        "compiled",
        "motion",
        "functions",
        "geometry",
        "model",
        "lie",
        "arrays",
        "errors",
    },
    "controllers": {
        "reaching",
        "tasks",
        "compile_function",
        "compiled",
        "compiler",
        "functions",
        "model",
        "lie",
        "arrays",
        "errors",
    },
    "resolution": {"controllers", "tasks", "compiled", "compiler", "functions", "model", "arrays", "errors", "once"},
    "identification": {"compiled", "mechanics", "model", "lie", "arrays", "errors", "once"},
    "balancing": {
        "backend",
        "compile_function",
        "functions",
        "geometry",
        "mechanics",
        "model",
        "lie",
        "arrays",
        "errors",
    },
    "plot": {
        "functions",
        "formulations",
        "operation_counts",
        "balancing",
        "redundancy",
        "task_functions",
        "tasks",
        "motion",
        "geometry",
        "mechanics",
        "model",
        "lie",
        "arrays",
        "errors",
    },
    "diagnosis": {"mechanics", "model", "lie", "arrays", "errors"},
    "tasks": {
        "once",
        "functions",
        "compiled",
        "derivative_function",
        "backend",
        "compiler",
        "mechanics",
        "model",
        "lie",
        "arrays",
        "errors",
    },
    "task_functions": {"tasks", "functions", "compiled", "arrays"},
    "later": set(),
    "simulation": {"functions", "mechanics", "model", "lie", "arrays", "errors"},
    "linearisation": {
        "dynamics_derivative_functions",
        "functions",
        "derivative_function",
        "compiler",
        "mechanics",
        "model",
        "lie",
        "arrays",
        "errors",
    },
    "formats": {"text_files", "model", "lie", "arrays", "errors"},
    "robots": {"model", "lie", "arrays", "errors"},
    "adapters": {"model", "lie", "arrays", "errors"},
    "modern_robotics": {"functions", "model", "lie", "arrays", "errors"},
    "compiler": {"text_files", "arrays", "errors", "once"},  # it knows no robots
    "backend": {"compiler", "errors"},
    "request": {"compiler", "model", "arrays", "errors"},
    "array_form": {"request", "model", "arrays", "errors"},
    "varied_in_jax": {"request", "compiler", "model", "arrays"},
    "compiled": {
        "varied_in_jax",
        "request",
        "array_form",
        "backend",
        "compiler",
        "model",
        "lie",
        "arrays",
        "errors",
    },  # mechanics never meets the compiler but here
    "derivative_function": {
        "compile_function",
        "compiled",
        "request",
        "compiler",
        "mechanics",
        "model",
        "lie",
        "arrays",
        "errors",
    },
    "compile_function": {"compiled", "compiler", "model", "arrays", "errors"},
    "peers": {"adapters", "model", "arrays"},
    "verification": {"functions", "peers", "model", "arrays"},
    "__main__": {"cli"},
    "cli": {
        "compiler",
        "formulation_comparison",
        "symbolic",
        "plot",
        "verification",
        "errors",
        "__version__",
        "get_threads",
    },
    "dynamics_derivative_functions": {
        "array_form",
        "compiled",
        "compiler",
        "derivative_function",
        "functions",
        "geometry",
        "mechanics",
        "model",
        "arrays",
    },
    "functions": {
        "array_form",
        "request",
        "compiled",
        "diagnosis",
        "geometry",
        "mechanics",
        "model",
        "lie",
        "arrays",
        "errors",
    },
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
    "path", [p for p in MODULES if layer_of(p) in ("lie", "mechanics", "formulations")], ids=lambda path: path.name
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
    optional = "jax scipy sympy matplotlib tqdm llvmlite pinocchio piqp torsor.motion torsor.balancing torsor.plot"
    code = f"import sys, torsor; print([name for name in {optional!r}.split() if name in sys.modules])"
    assert run(code) == "[]"


@pytest.mark.parametrize("order", ["import jax, torsor", "import torsor, jax"])
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
                assert node.end_lineno - node.lineno < 80, (path, node.name)
