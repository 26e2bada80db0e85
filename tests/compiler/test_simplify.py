"""Simplification changes no value: rule by rule, and on random programs."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from random_programs import evaluate, programs

import torsor
from torsor.compiler.graph import ARITY, LIBRARY, Graph, Op, Port, Program, count
from torsor.compiler.simplify import RULES, Level, Rewriter, TooLong, simplify
from torsor.compiler.trace import Budget, trace
from torsor.mechanics.dynamics.inverse_dynamics import inverse_dynamics

FINITE = st.floats(-1e3, 1e3, allow_nan=False)


def one(build):
    """Program of one output built from x, y, z and numbers by ``build(apply, x, y, z, number)``."""
    graph = Graph([Port("x", (3,))])
    root = build(graph.apply, *graph.input_nodes, graph.constant)
    return Program(graph, (Port("y", ()),), ((root,),))


EXAMPLES = {
    "x + 0 = x": lambda f, x, y, z, c: f(Op.ADD, x, c(0.0)),
    "0 + x = x": lambda f, x, y, z, c: f(Op.ADD, c(0.0), x),
    "add of constants": lambda f, x, y, z, c: f(Op.ADD, c(2.0), c(3.0)),
    "x + (−y) = x − y, (−x) + y = y − x": lambda f, x, y, z, c: f(Op.ADD, f(Op.NEG, x), y),
    "x − 0 = x": lambda f, x, y, z, c: f(Op.SUB, x, c(0.0)),
    "0 − x = −x": lambda f, x, y, z, c: f(Op.SUB, c(0.0), x),
    "sub of constants": lambda f, x, y, z, c: f(Op.SUB, c(2.0), c(3.0)),
    "x − x = 0": lambda f, x, y, z, c: f(Op.SUB, x, x),
    "x − (−y) = x + y, (−x) − y = −(x + y)": lambda f, x, y, z, c: f(Op.SUB, x, f(Op.NEG, y)),
    "x · 0 = 0": lambda f, x, y, z, c: f(Op.MUL, x, c(0.0)),
    "x · 1 = x": lambda f, x, y, z, c: f(Op.MUL, x, c(1.0)),
    "1 · x = x": lambda f, x, y, z, c: f(Op.MUL, c(1.0), x),
    "x · (−1) = −x": lambda f, x, y, z, c: f(Op.MUL, x, c(-1.0)),
    "(−1) · x = −x": lambda f, x, y, z, c: f(Op.MUL, c(-1.0), x),
    "mul of constants": lambda f, x, y, z, c: f(Op.MUL, c(2.0), c(3.0)),
    "(−x) · y = −(x · y)": lambda f, x, y, z, c: f(Op.MUL, f(Op.NEG, x), c(3.0)),
    "x / 1 = x": lambda f, x, y, z, c: f(Op.DIV, x, c(1.0)),
    "x / (−1) = −x": lambda f, x, y, z, c: f(Op.DIV, x, c(-1.0)),
    "div of constants": lambda f, x, y, z, c: f(Op.DIV, c(2.0), c(3.0)),
    "0 / x = 0": lambda f, x, y, z, c: f(Op.DIV, c(0.0), x),
    "(−x) / y = x / (−y) = −(x / y)": lambda f, x, y, z, c: f(Op.DIV, f(Op.NEG, x), f(Op.NEG, y)),
    "x / 2ᵏ = x · 2⁻ᵏ": lambda f, x, y, z, c: f(Op.DIV, x, c(8.0)),
    "−0 = 0": lambda f, x, y, z, c: f(Op.NEG, c(0.0)),
    "neg of constants": lambda f, x, y, z, c: f(Op.NEG, c(3.0)),
    "−(−x) = x": lambda f, x, y, z, c: f(Op.NEG, f(Op.NEG, x)),
    "−(x − y) = y − x": lambda f, x, y, z, c: f(Op.NEG, f(Op.SUB, x, y)),
    "sin(−x) = −sin(x)": lambda f, x, y, z, c: f(Op.SUB, x, f(Op.SIN, f(Op.NEG, y))),
    "cos(−x) = cos(x)": lambda f, x, y, z, c: f(Op.COS, f(Op.NEG, x)),
    "cosh(−x) = cosh(x)": lambda f, x, y, z, c: f(Op.COSH, f(Op.NEG, x)),
    **{
        f"{op.name.lower()}(−x) = −{op.name.lower()}(x)": lambda f, x, y, z, c, op=op: f(Op.SUB, x, f(op, f(Op.NEG, y)))
        for op in (Op.TANH, Op.SINH, Op.ASINH, Op.CBRT)
    },
    "atanh(−x) = −atanh(x)": lambda f, x, y, z, c: f(Op.SUB, x, f(Op.ATANH, f(Op.NEG, f(Op.SIN, y)))),
    "0 > |x| is false": lambda f, x, y, z, c: f(Op.SELECT, f(Op.GREATER, c(0.0), f(Op.ABS, x)), y, z),
    "sign(−x) = −sign(x)": lambda f, x, y, z, c: f(Op.SUB, x, f(Op.SIGN, f(Op.NEG, y))),
    "abs(−x) = abs(x)": lambda f, x, y, z, c: f(Op.ABS, f(Op.NEG, x)),
    "min(x, x) = x": lambda f, x, y, z, c: f(Op.MIN, x, x),
    "max(x, x) = x": lambda f, x, y, z, c: f(Op.MAX, x, x),
    "select(constant, x, y)": lambda f, x, y, z, c: f(Op.SELECT, c(1.0), x, f(Op.SIN, y)),
    "select(c, x, x) = x": lambda f, x, y, z, c: f(Op.SELECT, f(Op.GREATER, x, y), z, z),
    "select(not c, x, y) = select(c, y, x)": lambda f, x, y, z, c: f(Op.SELECT, f(Op.NOT, f(Op.GREATER, x, y)), x, z),
    **{
        f"{op.name.lower()} of constants": lambda f, x, y, z, c, op=op: f(op, c(0.5 if op is not Op.ACOSH else 1.5))
        for op in (Op.SQRT, Op.SIN, Op.COS, Op.SIGN, Op.ABS, Op.FLOOR, *(op for op in LIBRARY if ARITY[op] == 1))
    },
    **{
        f"{op.name.lower()} of constants": lambda f, x, y, z, c, op=op: f(op, c(0.5), c(2.0))
        for op in (Op.MIN, Op.MAX, *(op for op in LIBRARY if ARITY[op] == 2))
    },
    **{
        f"{op.name.lower()} of constants": lambda f, x, y, z, c, op=op: f(Op.SELECT, f(op, c(1.0), c(2.0)), x, y)
        for op in (Op.GREATER, Op.GREATER_EQUAL, Op.EQUAL)
    },
    **{
        f"x {op.name.lower()} constant": lambda f, x, y, z, c, op=op: f(
            Op.SELECT, f(op, c(float(op is Op.AND)), f(Op.GREATER, x, y)), x, z
        )
        for op in (Op.AND, Op.OR)
    },
    **{
        f"x {op.name.lower()} x = x": lambda f, x, y, z, c, op=op: f(
            Op.SELECT, f(op, f(Op.GREATER, x, y), f(Op.GREATER, x, y)), x, z
        )
        for op in (Op.AND, Op.OR)
    },
    "not of constants": lambda f, x, y, z, c: f(Op.SELECT, f(Op.NOT, c(1.0)), x, y),
}


@pytest.mark.parametrize("rule", sorted({rule.name for rules in RULES.values() for rule in rules}))
def test_every_rule_saves_an_operation_and_keeps_the_value(rule):
    program = one(EXAMPLES[rule])
    smaller = simplify(program)
    assert sum(count(smaller).values()) <= sum(count(program).values())
    assert count(smaller) != count(program)
    for numbers in ((0.3, -1.7, 2.9), (-2.0, 0.125, -0.5)):
        assert evaluate(smaller, numbers) == evaluate(program, numbers)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(programs(), st.lists(FINITE, min_size=3, max_size=3), st.sampled_from([Level.FULL, Level.ZEROS_AND_ONES]))
def test_finite_values_are_kept_up_to_the_sign_of_zero(program, numbers, level):
    before, after = evaluate(program, numbers), evaluate(simplify(program, level), numbers)
    if all(math.isfinite(value) for value in _all_values(program, numbers)):
        assert before == after  # 0.0 == −0.0


@settings(max_examples=200, deadline=None, derandomize=True)
@given(programs())
def test_simplifying_again_changes_nothing(program):
    once = simplify(program)
    assert count(simplify(once)) == count(once)


def test_off_keeps_operations_as_they_were_executed():
    program = one(lambda f, x, y, z, c: f(Op.ADD, f(Op.MUL, x, c(1.0)), f(Op.MUL, x, c(1.0))))
    assert count(simplify(program, Level.OFF)) == {"mul": 2, "add": 1}
    assert count(simplify(program, Level.ZEROS_AND_ONES)) == {"add": 1}


def test_equal_operations_are_shared_only_when_fully_simplified():
    program = one(lambda f, x, y, z, c: f(Op.ADD, f(Op.MUL, x, y), f(Op.MUL, y, x)))
    assert count(simplify(program, Level.ZEROS_AND_ONES)) == {"mul": 2, "add": 1}
    assert count(simplify(program)) == {"mul": 1, "add": 1}


def _all_values(program, numbers):
    everything = program._replace(results=(tuple(program.live()),), outputs=(Port("all", (len(program.live()),)),))
    return evaluate(everything, numbers)


def test_tracing_into_the_simplifier_gives_what_simplifying_the_trace_gives():
    arm = torsor.robots.ur5()

    def torque(q, v, a):
        return {"tau": inverse_dynamics(arm, q, v, a)}

    shapes = {"q": (6,), "v": (6,), "a": (6,)}
    for level in (Level.ZEROS_AND_ONES, Level.FULL):
        at_once, later = trace(torque, shapes, level), simplify(trace(torque, shapes), level)
        assert count(at_once) == count(later)
        numbers = list(np.random.default_rng(0).normal(size=18))
        np.testing.assert_allclose(evaluate(at_once, numbers), evaluate(later, numbers), rtol=1e-12)


@pytest.mark.parametrize("level", [Level.ZEROS_AND_ONES, Level.FULL])
@pytest.mark.parametrize("op", [Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.MIN])
def test_pairs_are_simplified_as_one_by_one(op, level):
    rewriter = Rewriter(Graph([Port("x", (2,))]), level)
    x, y = rewriter.graph.input_nodes
    nodes = [x, y, rewriter.apply(Op.NEG, x), *map(rewriter.constant, (0.0, -0.0, 1.0, -1.0, 2.5, np.inf))]
    pairs = list(itertools.product(nodes, nodes))

    def kind(node):
        graph = rewriter.graph
        return graph.ops[node], graph.args[node], str(graph.values[node])

    together = rewriter.each(op, *zip(*pairs, strict=True))
    assert [kind(node) for node in together] == [kind(rewriter.apply(op, *pair)) for pair in pairs]


def test_a_much_longer_rival_is_given_up():
    budget = Budget()
    trace(lambda x: x + 1.0, {"x": (100,)}, Level.FULL, budget)
    assert 200 < budget.most < 400
    with pytest.raises(TooLong):
        trace(lambda x: x[:, None] * x[None, :], {"x": (100,)}, Level.FULL, budget)
    again = trace(lambda x: 2.0 * x, {"x": (100,)}, Level.FULL, budget)
    assert count(again) == {"mul": 100}
