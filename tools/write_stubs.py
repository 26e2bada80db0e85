"""Write the stubs of functions of numbers: numbers in, NumPy or JAX arrays out, and ``out=`` of the compiled ones.

Run it after changing one of them, or a control law, or a function of `torsor.lie`.

    python tools/write_stubs.py

A test compares what it would write with what is there.
"""

from __future__ import annotations

import ast
import inspect
import sys
import types
import typing
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from torsor import control
from torsor._lazy import load_everything
from torsor.border.arrays import axes_of
from torsor.functions.describe import Algorithm, Outputs
from torsor.functions.dispatch import PUBLIC, about_of

HEADING = """\
# Written by tools/write_stubs.py.
# Arrays of JAX, torch, dask and xarray are numbers, too, and give their own: the first of two overloads is meant for them.
# mypy: disable-error-code="overload-overlap"
"""
NONE = type(None)
MADE_BY = {"checked", "controller"}  # functions of numbers that are no kernels of their own
LIE = ("torsor.lie._checked", "torsor.lie.quaternion", "torsor.lie.se3", "torsor.lie.so3")


class Stub:
    """The stub of one module: functions of numbers with overloads, everything else as its source says."""

    def __init__(self, module: types.ModuleType) -> None:
        self.module = module
        self.imports: dict[str, set[str]] = {"torsor.arrays.typing": {"Numbers"}, "typing": set()}

    def text(self) -> str:
        """All of it."""
        tree = ast.parse(inspect.getsource(self.module))
        parts = []
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                parts.append(self._class(node))
            names = [node.name] if isinstance(node, ast.FunctionDef) else _assigned(node)
            for name in names:
                value = getattr(self.module, name, None)
                if PUBLIC.get(name) is value and (about := about_of(value)) is not None:
                    parts.append(self._function(name, about.algorithm, about.outputs))
                elif _maker(node) in MADE_BY and not name.startswith("_"):
                    parts.append(self._function(name, inspect.unwrap(value), None))
                elif isinstance(node, ast.FunctionDef):
                    parts.append(self._plain(node))
                else:
                    parts.append(self._other(name))
        lines = [
            f"from {place} import {', '.join(sorted(names))}" for place, names in sorted(self.imports.items()) if names
        ]
        return "\n".join([HEADING, *lines, "", *filter(None, parts), ""])

    def _function(self, name: str, algorithm: Algorithm, outputs: Outputs | None) -> str:
        """A function of numbers, once as JAX calls it (if it takes and gives arrays), once as everybody else does."""
        hints = typing.get_type_hints(algorithm, include_extras=True)
        first = next((key for key, hint in hints.items() if key != "return" and axes_of(hint) is not None), None)
        back = hints["return"]
        usual = f"def {name}({self._parameters(algorithm, hints, outputs)}) -> {self._type(back, 'Result')}: ..."
        if first is None or axes_of(back) is None:
            return usual
        self._typing("overload")
        jax = (
            f"def {name}({self._parameters(algorithm, hints, None, first)}) -> {self._type(back, 'TheirNumbers')}: ..."
        )
        return f"@overload\n{jax}\n@overload\n{usual}"

    def _parameters(
        self, algorithm: Algorithm, hints: dict[str, typing.Any], outputs: Outputs | None, jax: str | None = None
    ) -> str:
        """What a function takes, with ``out=`` if it has outputs; ``jax`` is the argument that must be JAX's."""
        given, starred = [], False
        for parameter in inspect.signature(algorithm).parameters.values():
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
                given.append("*")
                starred = True
            kind = self._array("TheirNumbers") if parameter.name == jax else self._type(hints[parameter.name])
            given.append(f"{parameter.name}: {kind}{'' if parameter.default is parameter.empty else ' = ...'}")
        if outputs is not None:
            given += ([] if starred else ["*"]) + [f"out: {self._out(outputs)} | None = ..."]
        return ", ".join(given)

    def _array(self, word: str) -> str:
        self.imports["torsor.arrays.typing"].add(word)
        return word

    def _out(self, outputs: Outputs) -> str:
        self._array("Result")
        if outputs.kind is None:
            return "Result"
        self.imports.setdefault("collections.abc", set()).add("Mapping")
        return f"{self._named(outputs.kind)} | tuple[Result, ...] | Mapping[str, Result]"

    def _type(self, hint: typing.Any, array: str = "Numbers") -> str:
        """A type hint in the words of the stub, with this one for arrays."""
        if typing.get_origin(hint) is typing.Annotated:
            return self._array(array)
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if origin in (typing.Union, types.UnionType):
            return " | ".join(dict.fromkeys(self._type(x, array) for x in args))
        if origin is Mapping:
            self.imports.setdefault("collections.abc", set()).add("Mapping")
            return f"Mapping[{', '.join(self._type(x, array) for x in args)}]"
        if origin is typing.Literal:
            return f"{self._typing('Literal')}[{', '.join(map(repr, args))}]"
        if origin is not None:
            return f"{self._named(origin)}[{', '.join('...' if x is ... else self._type(x, array) for x in args)}]"
        return "None" if hint is NONE else self._typing("Any") if hint is typing.Any else self._named(hint)

    def _typing(self, name: str) -> str:
        self.imports["typing"].add(name)
        return name

    def _named(self, kind: typing.Any) -> str:
        if kind.__module__ not in ("builtins", self.module.__name__):
            self._import(kind.__module__, kind.__name__)
        return str(kind.__name__)

    def _import(self, module: str, name: str) -> None:
        if not any(name in names for names in self.imports.values()):  # once, from whichever place comes first
            self.imports.setdefault(module, set()).add(name)

    def _plain(self, node: ast.FunctionDef) -> str:
        """A function as its source has it, with what its annotations name."""
        node = ast.FunctionDef(node.name, node.args, [ast.Expr(ast.Constant(...))], [], node.returns, None, lineno=0)
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and (found := self._origin(part.id)) is not None:
                self._import(*found)
        return ast.unparse(ast.fix_missing_locations(node)).replace(":\n    ...", ": ...")

    def _class(self, node: ast.ClassDef) -> str:
        """A class as its source has it, without text and bodies."""
        node.body = [part for part in node.body if not isinstance(part, ast.Expr)]
        for method in node.body:
            if isinstance(method, ast.FunctionDef):
                method.body = [ast.Expr(ast.Constant(...))]
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and (found := self._origin(part.id)) is not None:
                self._import(*found)
        return ast.unparse(ast.fix_missing_locations(node))

    def _other(self, name: str) -> str:
        """A constant, a type variable, or a function that is checked and not compiled."""
        value = getattr(self.module, name)
        if isinstance(value, (typing.ParamSpec, typing.TypeVar)):
            self._typing(type(value).__name__)
            return f'{name} = {type(value).__name__}("{name}")'
        if name.startswith("_"):
            return ""
        if callable(value) and hasattr(value, "__wrapped__"):
            origin = value.__wrapped__
            self.imports.setdefault(origin.__module__, set()).add(f"{origin.__name__} as {name}")
            return ""
        return f"{name}: {self._typing('Any')}"

    def _origin(self, name: str) -> tuple[str, str] | None:
        """The module that a name of this module's source is imported from, and what it says there."""
        for node in ast.parse(inspect.getsource(self.module)).body:
            for alias in node.names if isinstance(node, ast.ImportFrom) and node.module else ():
                if name == (alias.asname or alias.name):
                    return str(node.module), ast.unparse(alias)
        return None


def _assigned(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


def _maker(node: ast.stmt) -> str | None:
    """What a function is made by: the name that is called in its decorator, or of which it is the value."""
    calls = node.decorator_list if isinstance(node, ast.FunctionDef) else [getattr(node, "value", None)]
    names = [call.func.id for call in calls if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)]
    return names[0] if names else None


def _control_laws() -> set[str]:
    """The modules of functions that are made by the decorator of controllers."""
    folder = Path(control.__file__).parent
    return {
        f"{control.__name__}.{path.stem}"
        for path in folder.glob("*.py")
        if any(_maker(node) == "controller" for node in ast.parse(path.read_text(encoding="utf-8")).body)
    }


def stubs() -> dict[Path, str]:
    """The text of every stub, by its place."""
    load_everything()
    modules = sorted({str(function.__module__) for function in PUBLIC.values()} | _control_laws() | set(LIE))
    return {
        Path(str(sys.modules[name].__file__)).with_suffix(".pyi"): Stub(import_module(name)).text() for name in modules
    }


if __name__ == "__main__":
    written = stubs()
    source = Path(__file__).parents[1] / "src"
    if not all(path.is_relative_to(source) for path in written):
        sys.exit(f"write_stubs: the torsor that Python finds is not the one in {source}. Set PYTHONPATH={source}.")
    for path, text in written.items():
        path.write_text(text, encoding="utf-8")
