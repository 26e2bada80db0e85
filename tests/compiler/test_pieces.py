"""Long programs are compiled in pieces, in time that follows their length: counted in what is printed, never in seconds."""

import re
import sys

import numpy as np
import pytest

import torsor
from torsor.compiler.graph import Graph, Op, Port, Program
from torsor.compiler.print.llvm import emit
from torsor.compiler.print.printer import Printer
from torsor.compiler.run import engine


def rows(n):
    """y_k = c_k sin(x_k) + x_k², with constants of their own."""
    graph = Graph([Port("x", (n,))])
    f, roots = graph.apply, []
    for k, x in enumerate(graph.input_nodes):
        roots.append(f(Op.ADD, f(Op.MUL, graph.constant(1.5 + k), f(Op.SIN, x)), f(Op.MUL, x, x)))
    return Program(graph, (Port("y", (n,)),), (tuple(roots),))


def printed(program, piece=100):
    return "\n".join(texts(program, piece))


def texts(program, piece=100):
    """Each is compiled alone: the first holds the kernel, the others some pieces each."""
    return emit(program, "one", "double", engine.host_target(), whole=0, piece=piece).texts


def most_alive(text):
    """In any piece, how many numbers are at once computed or loaded and still needed."""
    most = 0
    for body in re.findall(r"define void @one_piece[^{]*\{\n(.*?)\n\}", text, re.S):
        lines = body.split("\n")
        made = {name: k for k, line in enumerate(lines) for name in re.findall(r"^  (%t\d+) = (?!getelementptr)", line)}
        last = {name: k for k, line in enumerate(lines) for name in re.findall(r"%t\d+", line) if name in made}
        alive = np.zeros(len(lines) + 1, dtype=int)
        for name, k in made.items():
            alive[k] += 1
            alive[last[name]] -= 1
        most = max(most, int(np.cumsum(alive).max()))
    return most


pytestmark = [pytest.mark.compiled, pytest.mark.tier("final")]


@pytest.mark.parametrize("piece", [50, 400])
def test_few_values_are_alive_at_a_time_however_long_a_piece_is(piece):
    """What is alive at once needs a register or a place of its own; assigning them takes more than linear time."""
    assert most_alive(printed(rows(300), piece)) <= 5


def test_a_piece_prints_the_constants_it_needs_and_no_others(monkeypatch):
    calls, number = [], Printer.number
    monkeypatch.setattr(Printer, "number", lambda self, value: calls.append(value) or number(self, value))
    printed(rows(400))
    assert len([value for value in calls if value >= 1.5 and value % 1 == 0.5]) <= 400 + 20


def test_what_is_printed_grows_with_the_program():
    short, long = (printed(rows(n)) for n in (300, 1200))
    assert long.count("\n") <= 4.1 * short.count("\n")
    assert len(long) <= 4.3 * len(short)  # names and slots have more digits


def test_sine_and_cosine_are_printed_once_for_all_pieces_of_a_text():
    kernel, *pieces = texts(rows(300))
    assert "sine_and_cosine" not in kernel and len(pieces) > 1
    for text in pieces:
        assert len(re.findall(r"define internal .*sine_and_cosine", text)) == 1
        assert len(re.findall(r"call .* @sin\(", text)) == 1


def calls_of(work):
    """How many functions are called, Python's own included: a measure of time that is the same on every machine."""
    calls = 0

    def count(_frame, event, _argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


def test_a_longer_chain_takes_work_in_proportion_to_its_links():
    """From the robot to the text for LLVM: building, aligned frames, tracing, simplifying, cutting, printing."""

    def work(n):
        kernel = torsor.compile(torsor.inverse_dynamics, torsor.robots.chain(n))
        printed(kernel.program)

    work(3)  # what is done once in a process
    short, long = calls_of(lambda: work(8)), calls_of(lambda: work(32))
    assert long <= 4.4 * short, (short, long)
