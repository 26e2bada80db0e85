"""Machine code that answers soon and the final code that replaces it: the same bits, and no harm whenever the process ends."""

import os
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import torsor
from torsor.compiler.graph import Graph, Op, Port, Program
from torsor.compiler.print import llvm
from torsor.compiler.run import apart, cache, engine, native, tiers
from torsor.errors import ArgumentError

ARM = torsor.robots.planar2r()
LIMIT = 120  # s, before a test gives up waiting for what takes some hundredths of one


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A cache of its own."""
    monkeypatch.setenv("TORSOR_CACHE_DIR", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


@pytest.fixture
def tier(monkeypatch, place):
    """``tier(word)``: from now on, code is made as this setting says."""
    return lambda word: monkeypatch.setenv(tiers.SETTING, word)


def program():
    """Sines, a quotient, fused products and a selection, of two numbers."""
    graph = Graph([Port("x", (2,))])
    x, y = graph.input_nodes
    s, c = graph.apply(Op.SIN, x), graph.apply(Op.COS, y)
    total = graph.apply(Op.ADD, graph.apply(Op.MUL, s, c), y)
    quotient = graph.apply(Op.DIV, total, graph.apply(Op.SQRT, graph.apply(Op.ADD, graph.apply(Op.MUL, x, x), c)))
    larger = graph.apply(Op.SELECT, graph.apply(Op.GREATER, x, y), quotient, s)
    return Program(graph, (Port("y", (3,)),), ((quotient, larger, total),))


def states(dtype=np.float64):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(37, 2)).astype(dtype) * 3
    x[5], x[6] = (1e9, -2.0), (np.nan, np.inf)  # sines that the C library computes
    return x


def answers(function, x):
    """Of a batch, then of each state; NaN has no sign of its own, which depends on the order of a sum's operands."""
    found = np.concatenate([function([x])[0], [function([state])[0] for state in x]])
    return np.where(np.isnan(found), x.dtype.type(np.nan), found)


def is_finished(code):
    return code.native._final is not None


def wait_for(condition):
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("whole", [llvm.WHOLE, 0], ids=["whole", "in pieces"])
def test_both_tiers_have_the_same_bits(tier, monkeypatch, dtype, whole):
    real = llvm.emit
    monkeypatch.setattr(native, "emit", lambda *args: real(*args, whole=whole, piece=2))
    x, found = states(dtype), {}
    for word in ("first", "final"):
        tier(word)
        found[word] = answers(native.build(f"{word} {whole}", program, np.dtype(dtype)), x)
    assert found["first"].tobytes() == found["final"].tobytes()


def swing(_, q, v):
    return {"q": q + 0.01 * v, "v": v - 0.01 * np.sin(q)}


@pytest.mark.compiled
def test_a_scan_has_the_same_bits_in_both_tiers(tier):
    q, runs = np.random.default_rng(1).normal(size=(19, 2)), []
    for word in ("first", "final"):
        tier(word)
        step = torsor.scan(swing, ARM, {"q": 2, "v": 2})
        runs.append(step(q=q, v=q, steps=5))
    assert runs[0]["q"].tobytes() == runs[1]["q"].tobytes()


def test_the_final_code_takes_over_at_the_same_address(tier, place):
    tier("soon")
    function, x = native.build("k", program, np.dtype(np.float64)), states()
    before, addresses = answers(function, x), [function.one.address, function.many.address]
    wait_for(lambda: is_finished(function.one) and is_finished(function.many))
    assert answers(function, x).tobytes() == before.tobytes()
    assert [function.one.address, function.many.address] == addresses
    assert [cache.load(kept_key(part)).texts for part in ("one", "many")] == [b"", b""]


def kept_key(part):
    """Under which a part of the kernel "k" is kept."""
    return "|".join([f"k|float64|{part}", *engine.host(), engine.version()])


def test_a_first_tier_on_disk_answers_at_once_and_is_finished_by_the_next_process(tier):
    tier("first")
    before = answers(native.build("k", program, np.dtype(np.float64)), states())
    tier("soon")
    function = native.build("k", lambda: pytest.fail("it is on disk"), np.dtype(np.float64))
    assert answers(function, states()).tobytes() == before.tobytes()
    wait_for(lambda: is_finished(function.one) and is_finished(function.many))
    assert answers(function, states()).tobytes() == before.tobytes()


def test_who_asks_for_the_final_code_takes_no_first_tier_from_disk(tier):
    tier("first")
    native.build("k", program, np.dtype(np.float64))([states()])
    tier("final")
    function = native.build("k", program, np.dtype(np.float64))
    function([states()])
    assert function.many.native._cells == {}


def test_without_the_final_code_the_first_tier_goes_on(tier, monkeypatch):
    tier("soon")
    tried, real = [], engine.objects_of

    def failing(texts, wanted, *, optimised=False, level=2):
        if level == 2:
            tried.append(True)
            raise MemoryError
        return real(texts, wanted, optimised=optimised, level=level)

    monkeypatch.setattr(engine, "objects_of", failing)
    function = native.build("k", program, np.dtype(np.float64))
    before = answers(function, states())
    wait_for(lambda: len(tried) == 2)
    assert answers(function, states()).tobytes() == before.tobytes()
    assert not is_finished(function.one)
    assert apart.apart(lambda _: 5) == 5  # the thread lives


def test_a_first_tier_that_nobody_has_any_more_is_not_finished(place):
    texts = tiers.packed(["what LLVM would not take"])
    assert list(cache._finished("key", ["f"], {"optimised": False, "functions": ()}, texts, lambda: None)) == []


def test_what_is_no_setting_is_refused(tier):
    tier("later")
    with pytest.raises(ArgumentError, match="TORSOR_COMPILE must be one of soon, final, first, got 'later'"):
        tiers.setting()


LONG = """
import os, sys, time, numpy as np, torsor
robot = torsor.robots.panda()
x = np.linspace(-1, 1, robot.nv)
first = torsor.forward_dynamics_derivatives(robot, x, x, x)
"""


@pytest.mark.parametrize("pause", [0.0, 0.12, 0.2])
def test_a_process_ends_whatever_is_made_behind(place, pause):
    end = f"time.sleep({pause})"
    run = subprocess.run(
        [sys.executable, "-c", LONG + end], env={**os.environ, tiers.SETTING: "soon"}, capture_output=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, b"")
    assert list(place.glob(".new-*")) == []
    assert all(path.read_bytes().startswith(cache.MAGIC) for path in place.glob("*.kernel"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_computes_and_gets_the_final_code(place):
    code = LONG + textwrap.dedent(f"""
        from torsor.compiler.run import apart
        child = os.fork()
        if child == 0:
            end = time.monotonic() + {LIMIT}
            while apart._WORKER.behind and time.monotonic() < end:
                time.sleep(0.01)
            again = torsor.forward_dynamics_derivatives(robot, x, x, x)
            same = all(np.array_equal(a, b) for a, b in zip(first, again))
            os._exit(0 if same and not apart._WORKER.behind else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """)
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, tiers.SETTING: "soon"},
        capture_output=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, b"")
