"""Public names that are imported when they are first asked for. The stub beside a namespace is its one list of names.

`attach` reads the list from the stub (``__init__.pyi``, or ``kinematics.pyi`` beside ``kinematics.py``), which type checkers and
editors read too [scientific-python SPEC 1]. So ``dir``, completion and ``from torsor.x import *`` show public names and nothing
else, and importing torsor imports next to nothing.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from typing import Any


def attach(namespace: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a namespace, from the stub beside it."""
    places = names_in(namespace)

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name not in places:
            raise AttributeError(f"module {namespace!r} has no attribute {name!r}{_advice(namespace, name)}")
        module, original = places[name]
        found = (
            import_module(f"{module}.{original}") if module == namespace else getattr(import_module(module), original)
        )
        vars(sys.modules[namespace])[name] = found
        return found

    def __dir__() -> list[str]:  # noqa: N807
        return sorted(places)

    return __getattr__, __dir__, sorted(places)


def names_in(namespace: str) -> dict[str, tuple[str, str]]:
    """The names of a namespace: the module each is in, and its name there; for modules, the namespace itself."""
    spec = sys.modules[namespace].__spec__
    assert spec is not None and spec.origin is not None
    stub = spec.loader.get_data(spec.origin.removesuffix(".py") + ".pyi")  # type: ignore[union-attr]
    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def everywhere() -> dict[str, list[str]]:
    """Every public name, and all places where it is: at the top first, if it is there."""
    top = names_in("torsor")
    places = {name: [f"torsor.{name}"] for name in top}
    for namespace in (name for name, (module, _) in top.items() if module == "torsor"):
        for name in dir(import_module(f"torsor.{namespace}")):
            places.setdefault(name, []).append(f"torsor.{namespace}.{name}")
    return places


def load_everything() -> None:
    """Import every public name, so that the registry of public functions (`torsor.functions.dispatch.PUBLIC`) has all of them."""
    for place, *_ in everywhere().values():
        attrgetter(place.removeprefix("torsor."))(sys.modules["torsor"])


def _advice(namespace: str, name: str) -> str:
    if name.startswith("_"):  # what Python and its tools look for
        return ""
    from torsor._unknown_names import advice

    return advice(namespace, name, everywhere())


def no_such_attribute(name: str, known: list[str]) -> AttributeError:
    """The error for an attribute that robots do not have; ``known`` are those that they have."""
    if name.startswith("_"):
        return AttributeError(f"a Robot has no attribute {name!r}")
    from torsor._unknown_names import advice_on_robots

    return AttributeError(f"a Robot has no attribute {name!r}{advice_on_robots(name, known, everywhere())}")


def no_such_quantity(kind: str, name: str, *, sampled: bool) -> AttributeError:
    """The error for an attribute that a motion of a kind does not have; ``sampled``: whether it is a trajectory."""
    if name.startswith("_"):
        return AttributeError(f"a {kind} has no attribute {name!r}")
    from torsor._unknown_names import advice_on_motions

    return AttributeError(f"a {kind} has no attribute {name!r}{advice_on_motions(name, sampled=sampled)}")
