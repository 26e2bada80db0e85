"""The menu: few names at the top, everything in namespaces, no name hidden by another, and help for names that are not there."""

import copy
import importlib
import inspect
import pickle
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest

import torsor
from torsor._lazy import everywhere
from torsor._unknown_names import ELSEWHERE, OF_ROBOTS

ROOT = Path(torsor.__file__).parent
NAMESPACES = [name for name in dir(torsor) if inspect.ismodule(getattr(torsor, name))]
ARM = torsor.robots.panda()
MOVE = torsor.motion.polynomial(ARM, np.zeros(ARM.nq), np.full(ARM.nq, 0.1), duration=1.0)


def test_the_top_has_at_most_85_names():
    assert len(dir(torsor)) <= 85
    assert not [name for name in dir(torsor) if name.startswith("_")]
    assert sorted(torsor.__all__) == dir(torsor)


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_a_namespace_shows_public_names_alone_and_says_what_it_is(namespace):
    module = getattr(torsor, namespace)
    assert module.__doc__
    assert dir(module)
    for name in dir(module):
        assert not name.startswith("_")
        value = getattr(module, name)
        if inspect.ismodule(value):
            assert value.__name__ == f"torsor.{namespace}.{name}"
        else:
            assert inspect.getdoc(value), name


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_the_help_of_a_namespace_has_one_line_for_each_function(namespace):
    module = getattr(torsor, namespace)
    _, _, functions = module.__doc__.partition("\nFunctions\n---------\n")
    names = [line.split()[0] for line in functions.partition("\n\n")[0].splitlines()]
    assert names == [name for name in dir(module) if inspect.isroutine(getattr(module, name))]
    for name in dir(module):
        assert name in module.__doc__, name


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_no_function_hides_a_module(namespace):
    """``import torsor.motion.geodesic`` would give a module, and the attribute a function, or the other way round."""
    folder = ROOT / namespace
    modules = (
        {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()} if folder.is_dir() else set()
    )
    for name in modules & set(dir(getattr(torsor, namespace))):
        assert inspect.ismodule(getattr(getattr(torsor, namespace), name)), name


def test_a_name_at_the_top_is_the_object_of_its_namespace():
    for name, places in everywhere().items():
        found = {place.rpartition(".")[0]: attrgetter(place.removeprefix("torsor."))(torsor) for place in places}
        if "torsor" in found:
            top = found.pop("torsor")
            assert all(
                value is top for place, value in found.items() if place not in ("torsor.plot", "torsor.modern_robotics")
            ), name


def test_every_name_of_other_libraries_leads_somewhere():
    for name, here in ELSEWHERE.items():
        assert name not in dir(torsor), name
        assert attrgetter(here)(torsor) is not None, name
    for name, here in OF_ROBOTS.items():
        assert not hasattr(type(ARM), name), name
        assert eval(f"robot.{here}", {"robot": ARM}) is not None, name


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("torsor.rnea", "what others call rnea is torsor.inverse_dynamics here"),
        ("torsor.christoffel_symbols", "it is torsor.geometry.christoffel_symbols"),
        ("torsor.self_motion", "it is torsor.plot.self_motion or torsor.redundancy.self_motion"),
        ("torsor.motion.mass_matrix", "it is torsor.mass_matrix$"),
        ("torsor.motion.scalar_curvature", "it is torsor.geometry.scalar_curvature"),
        ("torsor.inverse_dinamics", "Did you mean torsor.inverse_dynamics"),
        ("torsor.kinematics.nothing_like_it", r"All names: dir\(torsor.kinematics\)"),
        ("torsor.control.pid", "takes a law with memory, such as a PID"),
        ("torsor.motion.min_jerk", "what others call min_jerk is torsor.motion.polynomial here"),
        ("torsor.robots.ur10", "there are .*panda.*ur5. Others come from files: torsor.load"),
        ("arm.plot", r"torsor.view\(robot\) shows it, torsor.plot.mechanism\(robot, q\) draws it"),
        ("arm.control", "functions of a robot are in torsor.control"),
        ("run.t", "a Trajectory has no attribute 't': it is run.time"),
        ("run.to_csv", r'it is run.save\("run.csv"\)'),
        ("run.nothing_like_it", r"All attributes: dir\(run\)"),
        ("move.q", r"it is motion.at\(t\).q, or motion.sample\(dt=0.01\).q for many times"),
        ("move.torque", r"samples have it, motion.sample\(dt=0.01\).tau"),
        ("arm.dof", "what others call dof is robot.nv here"),
        ("arm.joint_names", "what others call joint_names is robot.joints here"),
        ("arm.mass_matrix", r"it is a function here, torsor.mass_matrix\(robot, ...\)"),
        ("arm.jonts", "Did you mean robot.joints"),
    ],
)
def test_a_name_that_is_not_there_is_answered(code, answer):
    with pytest.raises(AttributeError, match=answer):
        eval(code, {"torsor": torsor, "arm": ARM, "move": MOVE, "run": MOVE.sample(dt=0.5)})


def test_what_python_asks_for_by_itself_is_no_mistake():
    assert not hasattr(torsor, "__wrapped__")
    assert not hasattr(ARM, "__array__")
    for thing in (ARM, MOVE, MOVE.sample(dt=0.5)):
        assert not hasattr(thing, "__array__") and not hasattr(thing, "_nothing")
        assert repr(copy.deepcopy(thing)) == repr(pickle.loads(pickle.dumps(thing))) == repr(thing)


def test_importing_torsor_loads_no_namespace():
    code = "import sys, torsor; print(sorted(name for name in sys.modules if name.startswith('torsor.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['torsor._lazy']"


def test_reading_a_file_brings_no_clients_of_the_network_along():
    file = Path(__file__).parents[1] / "data" / "robots" / "chain2.urdf"
    code = f"import sys, torsor; torsor.load({str(file)!r}); print({{'http.client', 'ssl', 'urllib.request'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_everything_of_a_namespace_can_be_imported_with_a_star(namespace):
    found = {}
    exec(f"from torsor.{namespace} import *", found)
    assert set(dir(importlib.import_module(f"torsor.{namespace}"))) <= set(found)


RESULTS = {
    place: kind
    for places in everywhere().values()
    for place in places[:1]
    if inspect.isclass(kind := attrgetter(place.removeprefix("torsor."))(torsor)) and issubclass(kind, tuple)
}


@pytest.mark.parametrize("place", sorted(RESULTS))
def test_no_repr_prints_a_whole_array(place):
    kind = RESULTS[place]
    plain = ("str", "int", "float", "bool", "tuple")
    hints = {name: getattr(hint, "__forward_arg__", str(hint)) for name, hint in kind.__annotations__.items()}
    values = ("a" if any(word in hints[name] for word in plain) else np.zeros((30, 30)) for name in kind._fields)
    shown = repr(kind(*values))
    assert "\n" not in shown
    assert len(shown) < 400


def test_arrays_of_other_libraries_are_shown_by_their_shape():
    jnp = pytest.importorskip("jax.numpy")
    by = torsor.inverse_dynamics_derivatives(torsor.robots.planar2r(), *(jnp.zeros((3, 2)) for _ in range(3)))
    assert "q=<array (3, 2, 2) of jax>" in repr(by)
