"""Run a function once on arrays that record what is done to them, and its program is left behind."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor.arrays.exact import exact_constants
from torsor.compiler import numpy_functions as numpy_functions  # makes them known
from torsor.compiler.graph import Calls, Graph, Op, Port, Program, count as operations, replayed
from torsor.compiler.simplify import Level, Rewriter, compact, simplify
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


CALLED = {16: 9_000, 30: 3_000}  # by rows: operations of all of them, from which on a function of each is called
LONG = 400  # nodes of a program, from which on it is called where it comes several times
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
    return program if level is Level.OFF else _settled(compact(program))


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
    """What `arrays.by_rows` does with traced arrays: where it is long, a block, whose program is the function of one row.

    Else it is written out row by row: so few numbers are needed at a time.
    """
    graph = graph_of(arrays)
    vectors = [numbers(graph, array) for array in arrays]
    lead = np.broadcast_shapes(*(x.shape[:-1] for x in vectors))
    count, program = math.prod(lead), None
    if not count:
        return function(*arrays)
    rows = [np.broadcast_to(x, (*lead, x.shape[-1])).reshape(count, x.shape[-1]) for x in vectors]
    if least := [most for rows_from, most in CALLED.items() if rows_from <= count]:
        shapes = {f"x{k}": row.shape[1:] for k, row in enumerate(rows)}
        program = trace(lambda **given: function(*given.values()), shapes, Level.FULL)
    if program is None or count * sum(operations(program).values()) < min(least):
        made = [numbers(graph, function(*(TracedArray(graph, row[k]) for row in rows))) for k in range(count)]
    else:
        if isinstance(graph, Rewriter):  # an equal one that was made before, so that equal calls are one
            program = graph.programs.setdefault(program.digest(), program)
        found = graph.block(Calls(program, count), np.concatenate(rows, axis=1).ravel().tolist())
        made = list(np.reshape(found, (count, -1)))
    return TracedArray(graph, np.array(made, dtype=np.int64).reshape((*lead, -1)))


NAMESPACE.by_rows = by_rows
NAMESPACE.looped_matmul = looped_matmul


def along(function: Callable[..., Any], state: Any, *arrays: Any) -> Any:
    """What `arrays.along` does with traced arrays: a block, whose program is the function of one row and its state.

    Columns of constants that are the same in all rows are constants of that program; one that is another's, or its negative, is
    given once.
    """
    graph = graph_of((state, *arrays))
    first, rows = numbers(graph, state), [numbers(graph, array) for array in arrays]
    if batch := np.broadcast_shapes(first.shape[:-1], *(row.shape[:-2] for row in rows)):
        every = [np.broadcast_to(first, (*batch, *first.shape[-1:]))]
        every += [np.broadcast_to(row, (*batch, *row.shape[-2:])) for row in rows]
        made = [along(function, *(TracedArray(graph, x[place]) for x in every)).ids for place in np.ndindex(batch)]
        return TracedArray(graph, np.reshape(made, (*batch, *made[0].shape)))
    table = np.concatenate([row.reshape(row.shape[0], -1) for row in rows], axis=1)
    columns, places = _different_columns(graph, table)

    def of_one(x: TracedArray) -> Any:
        given = [
            x.graph.constant(place)
            if isinstance(place, float)
            else _signed(x.graph, int(x.ids[size + place[0]]), place[1])
            for place in places
        ]
        parts, start = list[TracedArray](), 0
        for row in rows:
            width = row[0].size
            parts.append(TracedArray(x.graph, np.array(given[start : start + width], np.int64).reshape(row.shape[1:])))
            start += width
        return function(x[:size], *parts)

    size = first.size
    program = trace(of_one, {"x": (size + len(columns),)}, Level.FULL)
    args = [*first.ravel().tolist(), *table[:, columns].ravel().tolist()]
    made = graph.block(Calls(program, len(table), size), args)
    return TracedArray(graph, np.array(made, dtype=np.int64).reshape((len(table), *program.outputs[0].shape)))


def _different_columns(graph: Recorder, table: np.ndarray) -> tuple[list[int], list[float | tuple[int, bool]]]:
    """Columns of nodes that rows must be given; and of each column its number, or which of those it is and whether negated."""
    nodes = graph.graph if isinstance(graph, Rewriter) else graph
    columns: list[int] = []
    places: list[float | tuple[int, bool]] = []
    known: dict[tuple[Any, ...], tuple[int, bool]] = {}
    for k, column in enumerate(table.T.tolist()):
        values = [nodes.values[x] for x in column] if all(nodes.ops[x] is Op.CONSTANT for x in column) else None
        key = tuple(column) if values is None else tuple(x + 0.0 for x in values)
        if values is not None and len(set(key)) == 1:
            places.append(key[0])
            continue
        if key not in known:
            known[key] = len(columns), False
            if values is not None:
                known.setdefault(tuple(0.0 - x for x in key), (len(columns), True))
            columns.append(k)
        places.append(known[key])
    return columns, places


def _signed(graph: Recorder, node: int, negated: bool) -> int:
    return graph.apply(Op.NEG, node) if negated else node


NAMESPACE.along = along


def called(program: Program, arrays: Sequence[Any]) -> list[TracedArray] | None:
    """The outputs of a program as a block: machine code that is compiled once, wherever it is called in a function.

    The stages of a Runge–Kutta step call forward dynamics four times, each with another configuration ::

        a1 = torsor.forward_dynamics(arm, q, v, tau)
        a2 = torsor.forward_dynamics(arm, q + 0.5 * h * v, v + 0.5 * h * a1, tau)

    A program that is called for one value of its first input alone is written out at the end of the trace: it may share work with
    what is around it. None where it is to be written out at once: if it is short, for several states, or of constants.
    """
    graph = graph_of(arrays)
    if len(program.graph) < LONG or not isinstance(graph, Rewriter) or not graph.full:
        return None
    rows = [numbers(graph, array) for array in arrays]
    if any(row.shape != port.shape for row, port in zip(rows, program.graph.inputs, strict=True)):
        return None
    if any(all(graph.ops[x] is Op.CONSTANT for x in row.ravel().tolist()) for row in rows):
        return None
    made = iter(graph.block(Calls(program, 1), [x for row in rows for x in row.ravel().tolist()]))
    found = [np.array([next(made) for _ in range(port.size)], np.int64) for port in program.outputs]
    return [TracedArray(graph, ids.reshape(port.shape)) for ids, port in zip(found, program.outputs, strict=True)]


def _settled(program: Program) -> Program:
    """A program in which what is called for one first input alone is written out."""
    graph, states = program.graph, dict[Calls, set[tuple[int, ...]]]()
    for node in program.live():
        block = graph.values[node]
        if isinstance(block, Calls) and block.times == 1:
            first = block.program.graph.inputs[0].size
            states.setdefault(block, set()).add(graph.args[node][:first])
    alone = {block for block, found in states.items() if len(found) == 1}
    return simplify(program, Level.FULL, lambda block: block not in alone) if alone else program


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
