"""Long results of many states are streamed past the cache: the same numbers, every one of them, and nothing beside them."""

import ctypes

import numpy as np
import pytest

import torsor
from torsor.compiler.graph import Graph, Op, Port, Program
from torsor.compiler.print import streaming
from torsor.compiler.print.llvm import emit
from torsor.compiler.run import engine
from torsor.compiler.run.apart import apart

pytestmark = [pytest.mark.compiled, pytest.mark.tier("final")]
SENTINEL = 7.25
MANY = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


def program(*sizes):
    """Results of several sizes, each entry another combination of two inputs."""
    graph = Graph([Port("x", (5,)), Port("y", (1,))])
    x, outputs, results = graph.input_nodes, [], []
    for k, size in enumerate(sizes):
        nodes = []
        for number in range(size):
            scaled = graph.apply(Op.MUL, x[number % 5], graph.constant(1.0 + number + 1000.0 * k))
            nodes.append(graph.apply(Op.ADD, scaled, x[5]))
        outputs.append(Port(f"z{k}", (size,)))
        results.append(tuple(nodes))
    return Program(graph, tuple(outputs), tuple(results))


def compiled(made, element, far):
    """The kernel for many states, cut into short pieces, that streams more than ``far`` bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "FAR", far)
        module = emit(made, "many", element, engine.host_target(), whole=0, piece=200)
    assert "nontemporal" in module.texts[0]
    native = apart(
        lambda wanted: engine.loaded(engine.objects_of(module.texts, wanted), ["kernel_many"], module.functions)
    )
    return native, module.scratch


def run(code, made, element, states, shift):
    """All results, each amid a longer array, at any address."""
    dtype = np.dtype(np.float64 if element == "double" else np.float32)
    draw = np.random.default_rng(0)
    given = [draw.normal(size=(states, port.size)).astype(dtype) for port in made.graph.inputs]
    found = [np.full(states * port.size + 64, SENTINEL, dtype) for port in made.outputs]
    addresses = [x.ctypes.data for x in given] + [x[16 + shift :].ctypes.data for x in found]
    native, scratch = code
    area = np.zeros(scratch + 64, np.uint8)
    place = -(-area.ctypes.data // 64) * 64
    operands = (ctypes.c_void_p * (len(addresses) + 2))(*addresses, place, 0)
    steps = [port.size * dtype.itemsize for port in (*made.graph.inputs, *made.outputs)]
    MANY(native.address("kernel_many"))(states, operands, (ctypes.c_int64 * len(steps))(*steps))
    return found


@pytest.mark.parametrize("element", ["double", "float"])
@pytest.mark.parametrize("sizes", [(130,), (144, 129), (7, 150, 128, 301)], ids=str)
def test_what_is_streamed_is_what_is_written_otherwise(element, sizes):
    made = program(*sizes)
    never, always = (compiled(made, element, far) for far in (1 << 60, 0))
    for states in (1, 3, 8, 16, 17, 31, 32, 50):
        for shift in range(8):
            near, far = (run(code, made, element, states, shift) for code in (never, always))
            for x, y in zip(near, far, strict=True):
                assert np.all(x[: 16 + shift] == SENTINEL) and np.all(x[-(48 - shift) :] == SENTINEL)
                assert np.array_equal(x, y)


def test_short_results_and_those_of_one_state_are_not_streamed(monkeypatch):
    monkeypatch.setattr(streaming, "FAR", 0)
    target = engine.host_target()
    assert "nontemporal" not in "".join(emit(program(100, 20), "many", "double", target, whole=0).texts)
    assert "nontemporal" not in "".join(emit(program(300), "one", "double", target, whole=0).texts)


def test_results_beyond_the_cache_have_the_bits_of_small_batches():
    """Matrices of 20 joints, 3.2 kB each, by two threads: more than `FAR` bytes at once, in slices of more than that."""
    chain = torsor.robots.random_tree(20, seed=1, kinds=("revolute",), serial=True)
    states = 4 * streaming.FAR // (20 * 20 * 8) // 3 + 5
    q = np.random.default_rng(2).normal(size=(states, 20))
    before = torsor.get_threads()
    try:
        torsor.set_threads(2)
        M = torsor.mass_matrix(chain, q)
    finally:
        torsor.set_threads(before)
    for start in (0, 4096, states - 64):
        assert np.array_equal(M[start : start + 64], torsor.mass_matrix(chain, q[start : start + 64]))
    assert np.array_equal(M, np.swapaxes(M, 1, 2))
