"""A program inside another: its operations are recorded again, on arrays of the trace that is going on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from torsor.compiler.graph import Op, Program
from torsor.compiler.traced_array import Recorder, TracedArray, numbers


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
    states = [_replay(program, graph, state) for state in np.concatenate(flat, axis=-1).tolist()]
    found, start = {}, 0
    for port in program.outputs:
        ids = np.array([state[start : start + port.size] for state in states], dtype=np.int64)
        found[port.name] = TracedArray(graph, ids.reshape(*batch, *port.shape))
        start += port.size
    return found


def _replay(program: Program, graph: Recorder, inputs: list[int]) -> list[int]:
    """The nodes of all outputs, in order, for nodes of all inputs."""
    source = program.graph
    new = dict(zip(source.input_nodes, inputs, strict=True))
    for node in program.live():
        op = source.ops[node]
        if op is Op.CONSTANT:
            new[node] = graph.constant(source.values[node])  # type: ignore[arg-type]
        elif op is not Op.INPUT:
            new[node] = graph.apply(op, *[new[x] for x in source.args[node]])
    return [new[node] for node in program.roots()]
