"""Run a function once on arrays that record what is done to them, and its program is left behind."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor.arrays.exact import exact_constants
from torsor.compiler import numpy_functions as numpy_functions  # makes them known
from torsor.compiler.graph import Calls, Graph, Port, Program, replayed
from torsor.compiler.simplify import Level, Rewriter, compact
from torsor.compiler.traced_array import (
    FRESH,
    NAMESPACE,
    NUMBERS,
    Recorder,
    TracedArray,
    graph_of,
    looped_matmul,
    numbers,
)
from torsor.errors import ArgumentError, TorsorError


@dataclass
class Budget:
    """How many nodes a trace may record. Rivals are traced with one budget between them."""

    most: float = math.inf


CALLED = 64  # rows, from which on a function of each is called instead of written out
PATIENCE = 1.5  # times the nodes of another: some are not needed in the end, in all of them alike


def trace(
    function: Callable[..., Any],
    inputs: Mapping[str, tuple[int, ...]],
    level: Level = Level.OFF,
    budget: Budget | None = None,
) -> Program:
    """The program of ``function``, called once with a traced array per named input of the given shape.

    Outputs are named by the keys of a returned dict or the fields of a named tuple; one array is named "result", a plain
    tuple "result_0", "result_1", … Simplifying while tracing gives what `simplify` would make of the literal trace, sooner:
    most operations of a robot's algorithms are on its zeros, and are never recorded. With a ``budget``, which the shortest of
    several rivals sets, a much longer one is given up (`TooLong`).
    """
    ports = [Port(name, tuple(shape)) for name, shape in inputs.items()]
    nodes = Graph(ports)
    graph: Recorder = nodes if level is Level.OFF else Rewriter(nodes, level)
    if budget is not None and isinstance(graph, Rewriter):
        graph.most = budget.most
    arrays, start = {}, 0
    for port in ports:
        ids = np.array(nodes.input_nodes[start : start + port.size], dtype=np.int64).reshape(port.shape)
        ids.setflags(write=False)  # whoever calls the function keeps its inputs
        arrays[port.name] = TracedArray(graph, ids)
        start += port.size
    try:
        with exact_constants():  # all plain numbers are constants of the program here
            named = named_outputs(function(**arrays))
    except TorsorError:
        raise
    except (TypeError, ValueError, IndexError) as error:
        if (words := _explanation(error)) is not None:
            raise ArgumentError(words) from error
        raise
    outputs = {name: numbers(graph, value) for name, value in named.items()}
    if budget is not None:
        budget.most = min(budget.most, PATIENCE * len(nodes))
    program = Program(
        nodes,
        tuple(Port(name, ids.shape) for name, ids in outputs.items()),
        tuple(tuple(ids.ravel().tolist()) for ids in outputs.values()),
    )
    return program if level is Level.OFF else compact(program)


def _explanation(error: Exception) -> str | None:
    """What NumPy means by an error of its own, if that is because of traced numbers."""
    said = str(error)
    if isinstance(error.__cause__, TorsorError):  # NumPy asked a traced number for its value, for an array
        return f"traced numbers cannot be written into a NumPy array; {FRESH}"
    if "dtype('O')" in said or f"type {TracedArray.__name__} which has no callable" in said:
        return f"np.array makes no traced array of traced numbers, but one of Python objects; {FRESH} {NUMBERS}"
    if isinstance(error, IndexError) and "only integers" in said:
        return f"{said}; if it is traced, np.interp(k, np.arange(len(table)), table) looks it up"
    return None


def named_outputs(result: Any) -> dict[str, Any]:
    """What a function returns, by name."""
    if isinstance(result, Mapping):
        return dict(result)
    if hasattr(result, "_asdict"):
        return dict(result._asdict())
    if isinstance(result, (tuple, list)):
        return {f"result_{k}": value for k, value in enumerate(result)}
    return {"result": result}


def by_rows(function: Callable[..., Any], *arrays: Any) -> Any:
    """What `arrays.by_rows` does with traced arrays: beyond some rows a block, whose program is the function of one row."""
    graph, count = graph_of(arrays), arrays[0].shape[0]
    if count < CALLED:
        return function(*arrays)
    rows = [numbers(graph, array) for array in arrays]
    shapes = {f"x{k}": row.shape[1:] for k, row in enumerate(rows)}
    program = trace(lambda **given: function(*given.values()), shapes, Level.FULL)
    given = np.concatenate([row.reshape(count, -1) for row in rows], axis=1)
    made = graph.block(Calls(program, count), given.ravel().tolist())
    return TracedArray(graph, np.array(made, dtype=np.int64).reshape((count, *program.outputs[0].shape)))


NAMESPACE.by_rows = by_rows
NAMESPACE.looped_matmul = looped_matmul


def inline(program: Program, arrays: Mapping[str, Any]) -> dict[str, TracedArray]:
    """The outputs of a program for traced arrays (or numbers) as its inputs, by name; batch axes come first and broadcast."""
    graph = next(array.graph for array in arrays.values() if isinstance(array, TracedArray))
    ports = program.graph.inputs
    nodes = [numbers(graph, arrays[port.name]) for port in ports]
    batches = [x.shape[: x.ndim - len(port.shape)] for x, port in zip(nodes, ports, strict=True)]
    batch = np.broadcast_shapes(*batches)
    flat = [
        np.broadcast_to(x, (*batch, *port.shape)).reshape(-1, port.size) for x, port in zip(nodes, ports, strict=True)
    ]
    states = [replayed(program, graph, state) for state in np.concatenate(flat, axis=-1).tolist()]
    found, start = {}, 0
    for port in program.outputs:
        ids = np.array([state[start : start + port.size] for state in states], dtype=np.int64)
        found[port.name] = TracedArray(graph, ids.reshape((*batch, *port.shape)))
        start += port.size
    return found
