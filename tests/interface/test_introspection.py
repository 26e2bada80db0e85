"""Python's own tools work on every public function: help, its signature, its type hints, its source."""

import inspect
import pydoc
import typing
from operator import attrgetter

import pytest

import torsor
from torsor._lazy import everywhere
from torsor.functions.dispatch import PUBLIC


def functions():
    """Every public function by its place, those of modules within namespaces too."""
    found = {}
    for place, *_ in everywhere().values():
        value = attrgetter(place.removeprefix("torsor."))(torsor)
        if inspect.isroutine(value):
            found[place] = value
        elif inspect.ismodule(value):
            inner = {name: getattr(value, name) for name in dir(value) if not name.startswith("_")}
            for name, part in inner.items():
                if inspect.isroutine(part) and part.__module__.startswith("torsor."):
                    found[f"{place}.{name}"] = part
    return found


FUNCTIONS = functions()


def test_the_walk_finds_them_all():
    assert set(map(id, PUBLIC.values())) <= set(map(id, FUNCTIONS.values()))
    assert {"torsor.simulate", "torsor.lie.se3.exp", "torsor.plot.mechanism"} <= set(FUNCTIONS)


@pytest.mark.parametrize("place", FUNCTIONS)
def test_its_hints_are_of_its_parameters(place):
    function = FUNCTIONS[place]
    parameters, hints = inspect.signature(function).parameters, typing.get_type_hints(function)
    assert set(hints) == {*(name for name, p in parameters.items() if p.annotation is not p.empty), "return"}
    assert all(p.annotation is not p.empty for p in parameters.values())
    assert ("out" in parameters) == any(function is public for public in PUBLIC.values())


@pytest.mark.parametrize("place", FUNCTIONS)
def test_its_source_and_its_help_are_its_own(place):
    function = FUNCTIONS[place]
    name = inspect.unwrap(function).__name__
    assert f"def {name}(" in inspect.getsource(function)
    shown = pydoc.plain(pydoc.render_doc(function))
    assert f"{name}(" in shown
    assert inspect.getdoc(function).splitlines()[0] in shown


@pytest.mark.parametrize("kind", [torsor.Kernel, torsor.Scan, torsor.Robot])
def test_classes_have_a_signature(kind):
    assert next(iter(inspect.signature(kind).parameters)) in ("name", "structure")
