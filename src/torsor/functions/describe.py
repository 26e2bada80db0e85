"""What is known of a public function, and of a call of it but for the numbers: what its kernel is made of and for."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torsor.border.arrays import axes_of_fields, signature_of
from torsor.compiler.graph import Program, count
from torsor.compiler.run import native
from torsor.compiler.simplify import Level, TooLong
from torsor.compiler.trace import Budget, trace
from torsor.errors import ShapeError
from torsor.functions.kept import Kept
from torsor.model import Robot
from torsor.model.aligned import aligned

if TYPE_CHECKING:
    from torsor.functions.batched_arrays import ArrayForm

Algorithm = Callable[..., Any]
GRAPH_MOST = 600  # operations of a recursion; beyond, differentiating a program has never been shorter


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
        native.refuse_overlap(self.names, out)
        return list(out)

    def axes(self, algorithm: Algorithm) -> list[tuple[str, ...]]:
        """The trailing axes of each result."""
        if self.kind is None:
            return [signature_of(algorithm).returned or ()]
        return [axes or () for axes in axes_of_fields(self.kind)]


_BATCHES = """
Notes
-----
``...`` are batch axes, which come first: q (nq,) is one state, q (1000, nq) are a thousand, and the result has the same axes
before its own. Batch axes of several arguments broadcast, so one state may go with many. Lists are taken for arrays; the result
is float32 where all arrays are, else float64. Arrays of JAX, torch, dask and xarray give arrays of these."""


def help_text(algorithm: Algorithm, outputs: Outputs) -> str:
    """The docstring of an algorithm, and what every public function takes besides: ``out``, and batches."""
    text = inspect.getdoc(algorithm) or ""
    if outputs.kind is None:
        out = (
            "out : array, optional\n    Where the result is written to, an array of its shape and type; it is returned."
        )
    else:
        fields = ", ".join(f"``{name}``" for name in outputs.names)
        out = (
            f"out : {outputs.kind.__name__}, optional\n    Arrays that the results are written to, of their shapes and types: "
            f"a named tuple, a list,\n    or a dict with {fields}; it holds the results that are returned."
        )
    return text.replace("\n\nReturns\n-------\n", f"\n{out}\n\nReturns\n-------\n", 1) + f"\n{_BATCHES}"


class Request(NamedTuple):
    """What a kernel is made for: everything of a call that is not numbers."""

    robot: Robot
    dtype: str
    statics: tuple[tuple[str, Any], ...]
    layout: tuple[
        tuple[str, tuple[str, ...] | int | None], ...
    ]  # array arguments; keys of a mapping, length of a tuple
    sizes: tuple[tuple[str, tuple[int, ...]], ...] = ()  # shapes of array arguments with axes of any size
    groups: tuple[str, ...] = ()  # of the robot's numbers that are inputs of the kernel, after the others (`variants`)

    def identity(self) -> tuple[Any, ...]:
        """What tells the request from others in memory, without the robot itself."""
        return self.robot.digest, *self[1:]

    def key(self) -> str:
        """What identifies the request on disk, robot and precision apart: nothing that is an address in memory."""
        statics = [(name, x.key_for(self.robot) if hasattr(x, "key_for") else repr(x)) for name, x in self.statics]
        return repr((statics, self.layout, self.sizes, self.groups))

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


Rivals = Callable[[Robot], Sequence[Algorithm]]
Loops = Callable[[Robot], Algorithm | None]
GraphRival = Callable[[Robot, Request, Outputs], Program]


class Derivatives(NamedTuple):
    """The public function of a function's derivatives by some of its inputs, the first a configuration, in the same order."""

    name: str
    inputs: tuple[str, ...]


class Public(NamedTuple):
    """What is known of a public function: its algorithm, whether aligned frames may be used, every rival for its numbers.

    The fields are those of `torsor.functions.dispatch.public`.
    """

    algorithm: Algorithm
    outputs: Outputs
    joint_space: bool
    rivals: Rivals | None
    arrays: ArrayForm | None = None
    graph: GraphRival | None = None
    derivatives: Derivatives | None = None
    same_as: str | None = None
    loops: Loops | None = None
    likely: Rivals | None = None

    def robot_for(self, robot: Robot) -> Robot:
        """The robot to trace with."""
        return aligned(robot) if self.joint_space else robot

    def algorithms(self, robot: Robot) -> Sequence[Algorithm]:
        """All algorithms that give the result for a robot."""
        return [self.algorithm] if self.rivals is None else self.rivals(robot)

    def likely_algorithms(self, robot: Robot) -> Sequence[Algorithm]:
        """Those among which the shortest is, as far as the structure of the robot tells: tracing takes most of a first call."""
        return self.algorithms(robot) if self.likely is None else self.likely(robot)

    def arrays_for(self, robot: Robot) -> ArrayForm | None:
        """The form by whole arrays, if that is how it is evaluated for a robot whose numbers are known."""
        if self.arrays is None or not robot.is_concrete:
            return None
        return self.arrays if self.arrays.is_better_for(robot) else None

    def is_differentiated_for(self, robot: Robot) -> bool:
        """Whether its program is short enough to be differentiated."""
        return self.arrays is None or self.arrays.is_differentiated_for(robot)

    def codes(self, request: Request) -> native.Codes:
        """The machine code for a request: from the disk, or to be compiled when it is needed."""
        self.algorithms(request.robot)  # may refuse the robot, also one whose kernel is on disk
        where = f"{self.algorithm.__module__}.{self.algorithm.__qualname__}"
        key = "|".join([sources(), where, request.robot.digest, request.key()])
        return native.Codes.kept(key, lambda: self.program(request), np.dtype(request.dtype))

    def program(self, request: Request) -> Program:
        """The program to be compiled; one for a batch after one for a state need not be traced again."""
        return PROGRAMS.get((self, request.robot.digest, *request[2:]), lambda: self.shortest(request)[1])

    def shortest(self, request: Request) -> tuple[Algorithm, Program]:
        """Of the likely algorithms for the same numbers, the one with the fewest operations, and its program."""
        robot, budget = request.robot if request.groups else self.robot_for(request.robot), Budget()
        found = []
        for algorithm in self.likely_algorithms(request.robot):
            with contextlib.suppress(TooLong):
                found.append((algorithm, program_of(algorithm, robot, request, self.outputs, budget)))
        shortest = min(found, key=lambda pair: sum(count(pair[1]).values()))
        if self.graph is not None and not request.groups and sum(count(shortest[1]).values()) < GRAPH_MOST:
            other = self.graph(robot, request, self.outputs)
            shortest = min(shortest, (shortest[0], other), key=lambda pair: sum(count(pair[1]).values()))
        return shortest


PROGRAMS: Kept[Program] = Kept(4)


def request_of(algorithm: Algorithm, values: dict[str, Any]) -> tuple[Request, list[Any]]:
    """The request of a call with checked arguments, and its arrays in the order of the kernel's inputs."""
    names, expected, *_ = signature_of(algorithm)
    arrays: list[Any] = []
    layout: list[tuple[str, tuple[str, ...] | int | None]] = []
    for name in expected:
        value = values.get(name)
        if value is None:
            continue
        if isinstance(value, dict):  # in whatever order: one kernel, whose sums have one order
            layout.append((name, tuple(sorted(value))))
            arrays.extend(value[key] for key in sorted(value))
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
    return traced(algorithm, robot, request, lambda robot, given: outputs.named(algorithm(robot, **given)), budget)


def traced(
    algorithm: Algorithm,
    robot: Robot,
    request: Request,
    run: Callable[[Robot, dict[str, Any]], dict[str, Any]],
    budget: Budget | None = None,
) -> Program:
    """The simplified program of what ``run`` makes of the robot and the other arguments of an algorithm."""

    def evaluated(**inputs: Any) -> dict[str, Any]:
        own = {group: inputs.pop(group) for group in request.groups}
        varied = Robot(robot.structure, robot.parameters._replace(**own)) if own else robot
        return run(varied, request.arguments(list(inputs.values())))

    shapes = shapes_of(algorithm, robot, request)
    groups = {group: tuple(getattr(robot.parameters, group).shape) for group in request.groups}
    return trace(evaluated, {**shapes, **groups}, Level.FULL, budget)


def shapes_of(algorithm: Algorithm, robot: Robot, request: Request) -> dict[str, tuple[int, ...]]:
    """The shapes of a kernel's inputs that are arguments of the algorithm, by name."""
    expected, known = signature_of(algorithm).arrays, dict(request.sizes)
    return {
        key: known[name]
        if name in known
        else tuple(int(axis) if axis.isdigit() else getattr(robot, axis) for axis in expected[name].axes)
        for name, keys in request.keys().items()
        for key in keys
    }


def source_files() -> list[Path]:
    """All of the library's own modules."""
    return sorted(Path(__file__).parents[1].rglob("*.py"))


@functools.cache
def sources() -> str:
    """A digest of the library's own code: kernels on disk are as old as the code that made them."""
    sha = hashlib.sha256()
    for path in source_files():
        sha.update(path.read_bytes())
    return sha.hexdigest()
