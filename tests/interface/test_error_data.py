"""Errors say who refused which argument, in words and as data, and are the built-in kinds that people catch."""

import ast
import pickle
from pathlib import Path

import numpy as np
import pytest

import torsor

ARM = torsor.robots.ur5()


def test_errors_are_the_built_in_kinds():
    assert issubclass(torsor.ArgumentError, ValueError)
    assert issubclass(torsor.FileError, ValueError)
    assert issubclass(torsor.ArgumentTypeError, TypeError)
    assert issubclass(torsor.MissingDependency, ImportError)
    assert issubclass(torsor.UnknownName, KeyError)
    for kind in (torsor.ShapeError, torsor.UnknownName, torsor.ModelError):
        assert issubclass(kind, torsor.ArgumentError)


@pytest.mark.parametrize(
    ("call", "where", "argument"),
    [
        (lambda: torsor.mass_matrix(ARM, np.zeros(5)), "mass_matrix", "q"),
        (lambda: torsor.inverse_dynamics(ARM, np.zeros(6), np.zeros(7), np.zeros(6)), "inverse_dynamics", "v"),
        (lambda: torsor.frame_pose(ARM, np.zeros(6), "no such frame"), "frame_pose", None),
        (lambda: ARM.with_frame("x", "no such frame", np.eye(4)), "Robot.with_frame", None),
        (lambda: torsor.mass_matrix("ur5", np.zeros(6)), "mass_matrix", None),
    ],
)
def test_an_error_knows_who_refused_and_what(call, where, argument):
    with pytest.raises(torsor.TorsorError) as raised:
        call()
    error = raised.value
    assert error.where == where
    assert error.argument == argument
    assert str(error).startswith(f"{where}: ")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.where, again.argument) == (type(error), str(error), where, argument)


def test_an_unknown_name_is_kept():
    with pytest.raises(torsor.UnknownName) as raised:
        torsor.frame_pose(ARM, np.zeros(6), "no such frame")
    assert raised.value.value == "no such frame"


def test_an_error_says_who_refused_once():
    error = torsor.ArgumentError("`dt` must be positive, got -1.0.", value=-1.0)
    assert str(error.at("simulate")) == "simulate: `dt` must be positive, got -1.0."
    assert str(error.at("outer")) == "simulate: `dt` must be positive, got -1.0."
    assert (error.where, error.argument, error.value) == ("simulate", "dt", -1.0)


def test_the_base_class_is_never_raised():
    for path in Path(torsor.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                assert getattr(node.func, "id", getattr(node.func, "attr", None)) != "TorsorError", (path, node.lineno)


def test_the_error_of_a_file_begins_with_the_file_and_knows_who_read_it(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text("<robot/>")
    with pytest.raises(torsor.FileError) as raised:
        torsor.load(path)
    assert raised.value.where == "load"
    assert str(raised.value).startswith(f"{path}: 2 errors")
    with pytest.raises(torsor.FileError, match=r"^to_json: cannot write ") as raised:
        ARM.to_json(tmp_path / "nowhere" / "arm.json")
    assert raised.value.where == "to_json"
