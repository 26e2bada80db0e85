"""Random programs for hypothesis, and their plain evaluation: one number at a time, as the operations are defined."""

import math

from hypothesis import strategies as st

from torsor.compiler.graph import ARITY, BLOCKS, TRUTH_VALUED, Calls, Graph, Op, Port, Product, Program
from torsor.compiler.simplify import compute

CONSTANTS = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -0.25, 3.7, 1e-3, -41.0]
ORDINARY = [op for op in Op if op not in TRUTH_VALUED | BLOCKS and op not in (Op.CONSTANT, Op.INPUT, Op.SELECT)]


@st.composite
def programs(draw, max_nodes=25, ops=ORDINARY, inputs=3, branches=True):
    """A program of up to ``max_nodes`` random operations, comparisons and selections among them, with 3 outputs."""
    graph = Graph([Port("x", (inputs,))])
    numbers = list(graph.input_nodes)
    numbers += [graph.constant(value) for value in draw(st.lists(st.sampled_from(CONSTANTS), max_size=4))]
    truths = []
    for _ in range(draw(st.integers(1, max_nodes))):
        kind = draw(st.integers(0 if branches else 3, 9))
        pick = st.sampled_from(numbers)
        if kind == 0:
            op = draw(st.sampled_from([Op.GREATER, Op.GREATER_EQUAL, Op.EQUAL]))
            truths.append(graph.apply(op, draw(pick), draw(pick)))
        elif kind == 1 and truths:
            truth = st.sampled_from(truths)
            if draw(st.booleans()):
                op = draw(st.sampled_from([Op.AND, Op.OR]))
                truths.append(graph.apply(op, draw(truth), draw(truth)))
            else:
                truths.append(graph.apply(Op.NOT, draw(truth)))
        elif kind == 2 and truths:
            numbers.append(graph.apply(Op.SELECT, draw(st.sampled_from(truths)), draw(pick), draw(pick)))
        else:
            op = draw(st.sampled_from(ops))
            numbers.append(graph.apply(op, *(draw(pick) for _ in range(ARITY[op]))))
    results = tuple(draw(st.sampled_from(numbers)) for _ in range(3))
    return Program(graph, (Port("y", (3,)),), (results,))


@st.composite
def block_programs(draw):
    """A program with products of matrices and programs called for rows between its operations, some called within others."""
    called = draw(programs(max_nodes=6))
    program = draw(programs(max_nodes=6))
    graph, numbers = program.graph, program.live()
    numbers, made = [node for node in numbers if node not in graph.truths], list(graph.input_nodes)
    for _ in range(draw(st.integers(1, 3))):
        pick = st.sampled_from(numbers)
        if draw(st.booleans()):
            n, k, m = draw(st.integers(1, 10)), draw(st.integers(1, 4)), draw(st.integers(1, 11))
            block, size = Product(n, k, m), k * (n + m)
        else:
            block = Calls(called, times := draw(st.sampled_from([1, 2, 3, 9, 19])), carried := draw(st.integers(0, 3)))
            size = carried + times * block.taken
        args = draw(st.lists(pick, min_size=size, max_size=size))
        if isinstance(block, Calls):
            _in_order(draw, graph, block, args, made)
        made = graph.block(block, args)
        numbers += [graph.apply(Op.MUL, graph.constant(0.1), made[0]), *made]
    inner = Program(graph, (Port("y", (5,)),), (tuple(draw(st.sampled_from(numbers)) for _ in range(5)),))
    if draw(st.booleans()):
        return inner
    outer = Graph([Port("x", (3,))])
    return Program(
        outer, (Port("y", (10,)),), (tuple(outer.block(Calls(inner, 2), [*outer.input_nodes, *outer.input_nodes])),)
    )


def _in_order(draw, graph, block, args, before):
    """Make some columns of arguments constants, and all others, perhaps, numbers of the block before at even distances."""
    fixed = draw(st.sets(st.integers(0, block.taken - 1))) if block.taken else set()
    step = draw(st.sampled_from([0, 0, 1, -1, 2]))
    room = len(before) - abs(step) * (block.times - 1)
    for column in range(block.taken):
        start = draw(st.integers(0, max(0, room - 1))) - min(0, step) * (block.times - 1)
        for row in range(block.times):
            place = block.carried + row * block.taken + column
            if column in fixed:
                args[place] = graph.constant(draw(st.sampled_from([-1.5, 0.0, 0.25, 1.0, 3.0])))
            elif step and room > 0:
                args[place] = before[start + row * step]


def describe(program):
    """The program as text, for reading a failing example."""
    graph = program.graph
    lines = [f"{n}: {graph.ops[n].name} {graph.args[n]} {graph.values[n] or ''}" for n in program.live()]
    return "\n".join([*lines, f"results {program.results}"])


def evaluate(program, numbers):
    """Values of all outputs, in order, for the input numbers."""
    program = program.written_out()
    graph, values = program.graph, {}
    for node in program.live():
        op = graph.ops[node]
        if op is Op.CONSTANT:
            values[node] = graph.values[node]
        elif op is Op.INPUT:
            values[node] = float(numbers[graph.values[node]])
        else:
            values[node] = _robust(op, [values[x] for x in graph.args[node]])
    return [values[node] for node in program.roots()]


def _robust(op, args):
    try:
        return compute(op, *args)
    except OverflowError:
        return math.inf if op is not Op.SUB else math.nan
