"""What a kernel is made for, and what it gives: everything of a call of a public function that is not numbers."""

from __future__ import annotations

import functools
import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from torsor.border.arrays import axes_of_fields, signature_of
from torsor.compiler.graph import Program
from torsor.compiler.run.code_store import Kept
from torsor.compiler.run.native import refuse_overlap
from torsor.compiler.simplify import Level
from torsor.compiler.trace import Budget, trace
from torsor.errors import ShapeError
from torsor.model import Robot

Algorithm = Callable[..., Any]


class Outputs(NamedTuple):
    """What a function gives: one array, named for its kernel, or several, the fields of a named tuple."""

    names: tuple[str, ...]
    kind: type | None = None

    @classmethod
    def of(cls, result: str | type) -> Outputs:
        """From the name of the one result, or the class of several."""
        return cls((result,)) if isinstance(result, str) else cls(result._fields, result)  # type: ignore[attr-defined]

    def named(self, result: Any) -> dict[str, Any]:
        """The results by name."""
        return dict(zip(self.names, (result,) if self.kind is None else result, strict=True))

    def gather(self, arrays: Sequence[Any]) -> Any:
        """What the caller is given."""
        return arrays[0] if self.kind is None else self.kind(*arrays)

    def parts(self, out: Any) -> list[Any] | None:
        """The arrays to write to: ``out`` itself, or the fields of a named tuple (or of a dict of the same names)."""
        if out is None:
            return None
        if self.kind is None:
            return [out]
        if isinstance(out, Mapping) and set(out) == set(self.names):
            out = [out[name] for name in self.names]
        if not isinstance(out, (tuple, list)) or len(out) != len(self.names):
            fields = ", ".join(self.names)
            raise ShapeError(f"out: must be the arrays of {self.kind.__name__} ({fields}), got {type(out).__name__}.")
        refuse_overlap(self.names, out)
        return list(out)

    def axes(self, algorithm: Algorithm) -> list[tuple[str, ...]]:
        """The trailing axes of each result."""
        if self.kind is None:
            return [signature_of(algorithm).returned or ()]
        return [axes or () for axes in axes_of_fields(self.kind)]


class Request(NamedTuple):
    """What a kernel is made for: everything of a call that is not numbers."""

    robot: Robot
    dtype: str
    statics: tuple[tuple[str, Any], ...]
    layout: tuple[
        tuple[str, tuple[str, ...] | int | None], ...
    ]  # array arguments; keys of a mapping, length of a tuple
    sizes: tuple[tuple[str, tuple[int, ...]], ...] = ()  # shapes of array arguments with axes of any size

    def identity(self) -> tuple[Any, ...]:
        """What tells the request from others in memory, without the robot itself."""
        return self.robot.digest, *self[1:]

    def key(self) -> str:
        """What identifies the request on disk, robot and precision apart: nothing that is an address in memory."""
        statics = [(name, x.key_for(self.robot) if hasattr(x, "key_for") else repr(x)) for name, x in self.statics]
        return repr((statics, self.layout, self.sizes))

    def keys(self) -> dict[str, list[str]]:
        """Names of a kernel's inputs, for each array argument."""
        names = {}
        for name, inner in self.layout:
            parts = range(inner) if isinstance(inner, int) else inner
            names[name] = [name] if parts is None else [f"{name}.{key}" for key in parts]
        return names

    def arguments(self, arrays: Sequence[Any]) -> dict[str, Any]:
        """The arguments of a call after the robot, put together from a kernel's inputs in order."""
        given: dict[str, Any] = dict(self.statics)
        left = iter(arrays)
        for name, inner in self.layout:
            if inner is None:
                given[name] = next(left)
            elif isinstance(inner, int):
                given[name] = tuple(next(left) for _ in range(inner))
            else:
                given[name] = {key: next(left) for key in inner}
        return given


def request_of(algorithm: Algorithm, values: dict[str, Any]) -> tuple[Request, list[Any]]:
    """The request of a call with checked arguments, and its arrays in the order of the kernel's inputs."""
    names, expected, *_ = signature_of(algorithm)
    arrays: list[Any] = []
    layout: list[tuple[str, tuple[str, ...] | int | None]] = []
    for name in expected:
        value = values.get(name)
        if value is None:
            continue
        if isinstance(value, dict):
            layout.append((name, tuple(value)))
            arrays.extend(value.values())
        elif isinstance(value, tuple):
            layout.append((name, len(value)))
            arrays.extend(value)
        else:
            layout.append((name, None))
            arrays.append(value)
    statics = tuple((name, values[name]) for name in names[1:] if name not in expected and name in values)
    sizes = tuple(
        (name, tuple(values[name].shape[-len(expected[name].axes) :]))
        for name, inner in layout
        if inner is None and "*" in expected[name].axes
    )
    single = all(array.dtype == np.float32 for array in arrays)
    return Request(values[names[0]], "float32" if single else "float64", statics, tuple(layout), sizes), arrays


def program_of(algorithm: Algorithm, robot: Robot, request: Request, outputs: Outputs, budget: Budget) -> Program:
    """The simplified program of an algorithm for a robot."""
    return traced(algorithm, robot, request, lambda given: outputs.named(algorithm(robot, **given)), budget)


def traced(
    algorithm: Algorithm,
    robot: Robot,
    request: Request,
    run: Callable[[dict[str, Any]], dict[str, Any]],
    budget: Budget | None = None,
) -> Program:
    """The simplified program of what ``run`` makes of the arguments of an algorithm after the robot."""
    shapes = shapes_of(algorithm, robot, request)
    return trace(lambda **inputs: run(request.arguments(list(inputs.values()))), shapes, Level.FULL, budget)


def shapes_of(algorithm: Algorithm, robot: Robot, request: Request) -> dict[str, tuple[int, ...]]:
    """The shapes of a kernel's inputs, by name."""
    expected, known = signature_of(algorithm).arrays, dict(request.sizes)
    return {
        key: known[name]
        if name in known
        else tuple(int(axis) if axis.isdigit() else getattr(robot, axis) for axis in expected[name].axes)
        for name, keys in request.keys().items()
        for key in keys
    }


@functools.cache
def sources() -> str:
    """A digest of the library's own code: kernels on disk are as old as the code that made them."""
    sha = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        sha.update(path.read_bytes())
    return sha.hexdigest()


MANY_VARIANTS = 32
_VARIANTS: Kept[set[str]] = Kept(256)


def note_variant(robot: Robot) -> None:
    """After many robots that differ in numbers only, say once that numbers can be inputs."""
    variants = _VARIANTS.get(robot.structure, set)
    if len(variants) > MANY_VARIANTS:
        return
    variants.add(robot.digest)
    if len(variants) == MANY_VARIANTS + 1:
        warnings.warn(
            f"{MANY_VARIANTS} variants of robot {robot.name!r} have been compiled, each anew. If only its numbers change, make "
            "them inputs of one kernel: torsor.compile(function, robot, parameters=('inertias', ...)).",
            RuntimeWarning,
            stacklevel=4,
        )
