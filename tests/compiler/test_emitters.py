"""Every emitter computes what plain evaluation does: on random programs, non-finite numbers, huge angles, any size."""

import math
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from random_programs import ORDINARY, describe, evaluate, programs

from torsor.compiler import differentiate
from torsor.compiler.graph import ARITY, Graph, Op, Port, Program, count
from torsor.compiler.kernel import Kernel
from torsor.compiler.print import numpy as emit_numpy, sympy as emit_sympy
from torsor.compiler.print.llvm import emit
from torsor.compiler.run import engine
from torsor.compiler.run.apart import apart
from torsor.compiler.run.native import Code, Codes, NativeFunction, describe as about

NUMBERS = st.one_of(st.floats(-1e3, 1e3), st.sampled_from([0.0, -0.0, 1e300, -1e17, math.inf, -math.inf, math.nan]))
STATES = st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=11)
SMOOTH = [op for op in ORDINARY if op not in (Op.SIGN, Op.ABS, Op.MIN, Op.MAX, Op.FLOOR, Op.FMOD)]
FAST = settings(max_examples=40, deadline=None, derandomize=True)


def native(program, element="double", target=None, **cut):
    target = target or engine.host_target()

    def get(part, _):
        name, module = f"kernel_{part}", emit(program, part, element, target, **cut)
        made = apart(lambda wanted: engine.loaded(engine.objects_of(module.texts, wanted), [name], module.functions))
        return Code(made.address(name), module.scratch, made)

    return NativeFunction(Codes(about(program, np.float64 if element == "double" else np.float32), get), None)


def assert_same(got, want, scale=1e-9):
    """Equal, or both NaN, or close relative to the largest finite value: FMA and the sine differ in the last digits, and a
    difference of nearly equal numbers magnifies that."""
    for x, y in zip(got, want, strict=True):
        if math.isnan(y) or math.isinf(y):
            assert not math.isfinite(x) or abs(x) > 1e290, (x, y)
        else:
            assert x == y or abs(x - y) <= scale * max(1.0, abs(y)) or not math.isfinite(x), (x, y)


def stable(program, numbers):
    """Whether no intermediate value is so large or so sensitive that the last digits of another decide the result."""
    everything = program._replace(results=(tuple(program.live()),), outputs=(Port("all", (len(program.live()),)),))
    values = evaluate(everything, numbers)
    nudged = evaluate(everything, [x * (1 + 1e-13) for x in numbers])
    pairs = zip(values, nudged, strict=True)
    return all(
        x == y or (math.isfinite(x) and abs(x) < 1e6 and abs(x - y) <= 1e-11 * max(1e-2, abs(x))) for x, y in pairs
    )


@FAST
@given(programs(), STATES)
def test_machine_code_computes_the_program(program, states):
    results = native(program)([np.array(states)])[0]
    for numbers, result in zip(states, results, strict=True):
        if stable(program, numbers):
            assert_same(result, evaluate(program, numbers))


@settings(FAST, max_examples=15)  # six compilations each
@given(programs(), STATES)
def test_results_do_not_depend_on_width_batch_lane_or_cuts(program, states):
    states = np.array(states)
    expected = native(program)([states])[0]
    host = engine.host_target()
    variants = [native(program, target=host._replace(bits=bits)) for bits in (256, 512)]
    variants += [native(program, whole=0, piece=piece) for piece in (1, 3, 1000)]
    for variant in variants:
        np.testing.assert_array_equal(variant([states])[0], expected)
        for k, state in enumerate(states):
            np.testing.assert_array_equal(variant([state])[0], expected[k])


@FAST
@given(programs(ops=[op for op in ORDINARY if op is not Op.TANH]), STATES)
def test_without_fused_multiply_add_the_result_is_close(program, states):
    separate = native(program, target=engine.host_target()._replace(fma=False))
    for numbers in states:
        if stable(program, numbers):
            assert_same(separate([np.array(numbers)])[0], evaluate(program, numbers))


@FAST
@given(programs(), STATES)
def test_numpy_source_computes_the_program(program, states):
    with np.errstate(all="ignore"):
        results = emit_numpy.build(program)(np.array(states))["y"]
    for numbers, result in zip(states, results, strict=True):
        if stable(program, numbers):
            assert_same(result, evaluate(program, numbers))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(programs(max_nodes=8), st.lists(st.floats(0.1, 3.0), min_size=3, max_size=3))
def test_sympy_expressions_have_the_same_value(program, numbers):
    import sympy

    symbols = {sympy.Symbol(f"x_{k}", real=True): sympy.Float(value, 30) for k, value in enumerate(numbers)}
    wanted = evaluate(program, numbers)
    if stable(program, numbers):
        for expression, value in zip(emit_sympy.emit(program)["y"], wanted, strict=True):
            got = complex(sympy.N(sympy.sympify(expression).subs(symbols)))
            assert abs(got - value) <= 1e-9 * max(1.0, abs(value))


@pytest.mark.parametrize("real", ["double", "float"])
def test_exported_c_compiles_without_a_warning_and_passes_its_own_test(tmp_path, real):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler on this machine; torsor itself needs none")
    graph = Graph([Port("x", (3,)), Port("gain", ())])
    x, y, z, k = graph.input_nodes
    f = graph.apply
    roots = [f(op, x) for op in ORDINARY if ARITY[op] == 1] + [f(op, y, z) for op in ORDINARY if ARITY[op] == 2]
    truth = f(Op.AND, f(Op.GREATER, x, y), f(Op.NOT, f(Op.OR, f(Op.EQUAL, x, z), f(Op.GREATER_EQUAL, y, z))))
    roots += [f(Op.SELECT, truth, k, graph.constant(-2.0)), graph.constant(math.inf), graph.constant(1e-40)]
    kernel = Kernel("all", Program(graph, (Port("y", (len(roots),)),), (tuple(roots),)))
    paths = kernel.to_c(tmp_path / "every_operation.c", real=real)
    assert [path.name for path in paths] == ["every_operation.h", "every_operation.c", "every_operation_test.c"]
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    sources = [str(paths[1]), str(paths[2])]
    subprocess.run(["cc", *flags, *sources, "-lm", "-o", str(tmp_path / "test")], check=True)
    done = subprocess.run([str(tmp_path / "test")], capture_output=True, text=True, check=False)
    assert done.stdout == "every_operation: 0 wrong\n"
    assert "#include <math.h>" in paths[1].read_text()
    assert paths[1].read_text().count("#include") == 2


def test_a_program_of_one_node():
    graph = Graph([Port("x", ())])
    same = Program(graph, (Port("y", ()),), ((graph.input_nodes[0],),))
    constant = Program(graph, (Port("y", ()),), ((graph.constant(4.5),),))
    assert native(same)([np.array([1.5, np.nan])])[0].tolist()[0] == 1.5
    assert native(constant)([np.zeros(5)])[0].tolist() == [4.5] * 5


def test_a_program_of_fifty_thousand_nodes():
    graph = Graph([Port("x", (4,))])
    nodes, half = list(graph.input_nodes), graph.constant(0.5)
    while len(graph) < 50_000:  # means of earlier values, some bent: nothing grows, nothing cancels
        other = nodes[-1 - (len(nodes) * 7919) % min(len(nodes), 60)]
        mean = graph.apply(Op.MUL, half, graph.apply(Op.ADD, nodes[-1], other))
        nodes.append(graph.apply(Op.COS, mean) if len(nodes) % 500 == 0 else mean)
    program = Program(graph, (Port("y", (3,)),), (tuple(nodes[-3:]),))
    numbers = np.array([0.1, -0.2, 0.3, 0.4])
    got = native(program)([np.stack([numbers] * 5)])[0]
    assert (got == got[0]).all()
    np.testing.assert_allclose(got[0], evaluate(program, numbers), rtol=1e-12)


@FAST
@given(programs(ops=SMOOTH, max_nodes=12, branches=False), st.lists(st.floats(0.2, 2.0), min_size=3, max_size=3))
def test_forward_and_reverse_derivatives_agree_with_each_other_and_with_differences(program, numbers):
    if not stable(program, numbers):
        return
    both = [
        mode(program, differentiate.Wanted(["y"], ["x"])) for mode in (differentiate.forward, differentiate.reverse)
    ]
    one, other = (np.array(evaluate(derivative, numbers)).reshape(3, 3) for derivative in both)
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    h = 1e-5
    for k in range(3):
        up, down = (np.array(evaluate(program, [x + s * h * (j == k) for j, x in enumerate(numbers)])) for s in (1, -1))
        if not (np.isfinite(up).all() and np.isfinite(down).all()):
            continue
        numeric = (up - down) / (2 * h)
        # where values are steep or curved, differences say nothing
        if np.isfinite(numeric).all() and np.abs(numeric).max() < 1e2 and np.abs(one).max() < 1e2:
            second = np.abs(up - 2 * np.array(evaluate(program, numbers)) + down).max() / h**2
            if second < 1e2:
                np.testing.assert_allclose(one[:, k], numeric, rtol=1e-4, atol=1e-5, err_msg=describe(program))


def test_the_cheaper_mode_is_kept():
    graph = Graph([Port("x", (6,))])
    total = graph.input_nodes[0]
    for node in graph.input_nodes[1:]:
        total = graph.apply(Op.MUL, total, graph.apply(Op.SIN, node))
    program = Program(graph, (Port("y", ()),), ((total,),))
    kept = differentiate.jacobian(program, "y", "x")
    modes = (differentiate.forward, differentiate.reverse)
    costs = [sum(count(mode(program, differentiate.Wanted(["y"], ["x"]))).values()) for mode in modes]
    assert sum(count(kept).values()) == min(costs) < max(costs)
