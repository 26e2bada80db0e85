"""Write the stubs of the compiled functions: numbers in, NumPy arrays out, with ``out=``. Run it after changing one.

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

from torsor._lazy import load_everything
from torsor.border.arrays import axes_of
from torsor.functions.describe import Outputs, Public
from torsor.functions.dispatch import PUBLIC, about_of

HEADING = """\
# Written by tools/write_stubs.py.
# Arrays of JAX, torch, dask and xarray are numbers, too, and give their own: the first of two overloads is meant for them.
# mypy: disable-error-code="overload-overlap"
"""
NONE = type(None)


class Stub:
    """The stub of one module: compiled functions with overloads, everything else as its source says."""

    def __init__(self, module: types.ModuleType) -> None:
        self.module = module
        self.imports: dict[str, set[str]] = {"torsor.arrays.typing": {"Numbers"}, "typing": set()}

    def text(self) -> str:
        """All of it."""
        tree = ast.parse(inspect.getsource(self.module))
        parts = []
        for node in tree.body:
            names = [node.name] if isinstance(node, ast.FunctionDef) else _assigned(node)
            for name in names:
                if PUBLIC.get(name) is getattr(self.module, name, None):
                    parts.append(self._compiled(name))
                elif isinstance(node, ast.FunctionDef):
                    parts.append(self._plain(node))
                else:
                    parts.append(self._other(name))
        lines = [
            f"from {place} import {', '.join(sorted(names))}" for place, names in sorted(self.imports.items()) if names
        ]
        return "\n".join([HEADING, *lines, "", *filter(None, parts), ""])

    def _compiled(self, name: str) -> str:
        """A function of numbers, once with the arrays of another library (if it takes arrays), once as everybody else does."""
        about = about_of(PUBLIC[name])
        assert about is not None
        hints = typing.get_type_hints(about.algorithm, include_extras=True)
        first = next((key for key, hint in hints.items() if key != "return" and axes_of(hint) is not None), None)
        usual = f"def {name}({self._parameters(about, hints, None)}) -> {self._result(about, 'Result')}: ..."
        if first is None:
            return usual
        self._typing("overload")
        theirs = f"def {name}({self._parameters(about, hints, first)}) -> {self._result(about, 'TheirNumbers')}: ..."
        return f"@overload\n{theirs}\n@overload\n{usual}"

    def _parameters(self, about: Public, hints: dict[str, typing.Any], theirs: str | None) -> str:
        """What a function takes; ``theirs`` is the argument that must be another library's."""
        given, starred = [], False
        for parameter in inspect.signature(about.algorithm).parameters.values():
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
                given.append("*")
                starred = True
            kind = (
                self._array("TheirNumbers")
                if parameter.name == theirs
                else self._type(hints[parameter.name], theirs is not None)
            )
            given.append(f"{parameter.name}: {kind}{'' if parameter.default is parameter.empty else ' = ...'}")
        if theirs is None:
            given += ([] if starred else ["*"]) + [f"out: {self._out(about.outputs)} | None = ..."]
        return ", ".join(given)

    def _result(self, about: Public, array: str) -> str:
        return self._array(array) if about.outputs.kind is None else self._named(about.outputs.kind)

    def _array(self, word: str) -> str:
        self.imports["torsor.arrays.typing"].add(word)
        return word

    def _out(self, outputs: Outputs) -> str:
        self._array("Result")
        if outputs.kind is None:
            return "Result"
        self.imports.setdefault("collections.abc", set()).add("Mapping")
        return f"{self._named(outputs.kind)} | tuple[Result, ...] | Mapping[str, Result]"

    def _type(self, hint: typing.Any, theirs: bool) -> str:
        """A type hint in the words of the stub."""
        if typing.get_origin(hint) is typing.Annotated:
            return "Numbers | TheirNumbers" if theirs else "Numbers"
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if origin in (typing.Union, types.UnionType):
            return " | ".join(dict.fromkeys(self._type(x, theirs) for x in args))
        if origin is Mapping:
            self.imports.setdefault("collections.abc", set()).add("Mapping")
            return f"Mapping[{', '.join(self._type(x, theirs) for x in args)}]"
        if origin is typing.Literal:
            return f"{self._typing('Literal')}[{', '.join(map(repr, args))}]"
        if origin is not None:
            return f"{self._named(origin)}[{', '.join('...' if x is ... else self._type(x, theirs) for x in args)}]"
        return "None" if hint is NONE else self._typing("Any") if hint is typing.Any else self._named(hint)

    def _typing(self, name: str) -> str:
        self.imports["typing"].add(name)
        return name

    def _named(self, kind: typing.Any) -> str:
        if kind.__module__ != "builtins":
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


def stubs() -> dict[Path, str]:
    """The text of every stub, by its place."""
    load_everything()
    modules = sorted({str(function.__module__) for function in PUBLIC.values()})
    return {
        Path(str(sys.modules[name].__file__)).with_suffix(".pyi"): Stub(import_module(name)).text() for name in modules
    }


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
