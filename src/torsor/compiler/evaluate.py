"""The values of a program for one set of inputs, in plain numbers: slow, and the same to the last digit on every machine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torsor.compiler.graph import Op, Program
from torsor.compiler.simplify import compute


def evaluate(program: Program, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The outputs in order, each of its shape; operations are rounded once, sines and arc functions included."""
    graph = program.graph
    given = [x for array in inputs for x in np.asarray(array, dtype=float).ravel().tolist()]
    values: dict[int, float] = {}
    for node in program.live():
        op, value = graph.ops[node], graph.values[node]
        if op is Op.INPUT:
            values[node] = given[value]  # type: ignore[index]
        elif op is Op.CONSTANT:
            values[node] = value  # type: ignore[assignment]
        else:
            values[node] = compute(op, *(values[x] for x in graph.args[node]))
    return [
        np.array([values[node] for node in nodes]).reshape(port.shape)
        for port, nodes in zip(program.outputs, program.results, strict=True)
    ]
