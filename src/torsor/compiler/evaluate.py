"""The values of a program for one set of inputs, in plain numbers: slow, and the same to the last digit on every machine."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from torsor.compiler.graph import Op, Program
from torsor.compiler.simplify import compute


def evaluate(program: Program, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs by name, each of its shape; operations are rounded once, sines and arc functions included."""
    graph = program.graph
    given = [x for port in graph.inputs for x in np.asarray(inputs[port.name], dtype=float).ravel().tolist()]
    values: dict[int, float] = {}
    for node in program.live():
        op, value = graph.ops[node], graph.values[node]
        if op is Op.INPUT:
            values[node] = given[value]  # type: ignore[index]
        elif op is Op.CONSTANT:
            values[node] = value  # type: ignore[assignment]
        else:
            values[node] = compute(op, *(values[x] for x in graph.args[node]))
    return {
        port.name: np.array([values[node] for node in nodes]).reshape(port.shape)
        for port, nodes in zip(program.outputs, program.results, strict=True)
    }
