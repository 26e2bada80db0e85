"""Ctrl-C, threads, fork and the end of the process: nothing is lost, freed in use, left locked or kept half."""

import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import torsor
from torsor.compiler import scan
from torsor.compiler.print.llvm import Module
from torsor.compiler.print.words import Function, Word, module
from torsor.compiler.run import apart, cache, engine, threads
from torsor.compiler.run.cache import machine_code
from torsor.compiler.run.engine import compile_ir

pytestmark = [pytest.mark.compiled, pytest.mark.tier("soon")]
ANSWER = Module(("define i64 @answer() {\n  ret i64 42\n}\n",), 0)
PATIENCE = 30.0  # s until a thread that waits for what never comes gives up, so that a test fails instead of hanging


@pytest.fixture(autouse=True)
def ctrl_c_is_heard():
    """Also where the tests run in the background, whose processes ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("TORSOR_CACHE_DIR", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


@pytest.fixture
def three_threads():
    count = torsor.get_threads()
    torsor.set_threads(3)
    yield
    torsor.set_threads(count)


def answer():
    return machine_code("answer", ["answer"], lambda: (ANSWER, {}))


def press_ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def until(condition):
    """Wait for what another thread does."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)


# Machine code is whole or not there


def test_an_entry_without_code_is_never_kept(place):
    for objects in ((), (b"",), (b"code", b"")):
        with pytest.raises(ValueError, match="without machine code must not be kept"):
            cache.store("key", cache.Entry({}, objects))
    assert cache.size() == (0, 0)


@pytest.mark.parametrize("objects", [(), (b"",), (b"code", b"")])
def test_an_entry_without_code_is_never_accepted(place, monkeypatch, objects):
    with monkeypatch.context() as patch:
        patch.setattr(cache.Entry, "is_whole", True)
        cache.store("key", cache.Entry({}, objects))
        assert cache.load("key") is not None
    assert cache.load("key") is None


def test_code_without_the_function_asked_for_is_compiled_anew(place, monkeypatch):
    other = Module((ANSWER.texts[0].replace("@answer", "@other"),), 0)
    machine_code("answer", ["other"], lambda: (other, {}))
    assert answer().address("answer") != 0


def test_no_function_has_the_address_0():
    objects = apart.apart(lambda wanted: engine.objects_of(ANSWER.texts, wanted))
    for code, name in ((objects, "other"), ([b""], "answer"), ([b"no machine code at all"], "answer")):
        with pytest.raises(engine.Unusable):
            apart.apart(lambda _, code=code, name=name: engine.loaded(code, [name]))


# Ctrl-C while compiling


def test_ctrl_c_reaches_the_caller_while_llvm_works_and_nothing_is_kept(place, monkeypatch):
    ended, real = threading.Event(), engine.objects_of

    def interrupted(texts, wanted, **how):
        press_ctrl_c()
        until(lambda: not wanted())
        try:
            return real(texts, wanted, **how)
        finally:
            ended.set()

    with monkeypatch.context() as patch:
        patch.setattr(engine, "objects_of", interrupted)
        with pytest.raises(KeyboardInterrupt):
            answer()
        assert ended.wait(PATIENCE)  # the thread takes no further step
    assert cache.size() == (0, 0)
    assert answer().address("answer") != 0
    assert cache.size()[0] == 1


def test_what_is_compiled_when_ctrl_c_comes_is_kept_whole(place, monkeypatch):
    ended, real = threading.Event(), cache.store

    def interrupted(key, entry):
        press_ctrl_c()
        time.sleep(0.05)
        real(key, entry)
        ended.set()

    monkeypatch.setattr(cache, "store", interrupted)
    with pytest.raises(KeyboardInterrupt):
        answer()
    assert ended.wait(PATIENCE)
    until(lambda: cache.size()[0] == 1)
    assert not list(place.glob(".new-*"))
    assert answer().address("answer") != 0


def test_what_llvm_raises_reaches_the_caller(place):
    with pytest.raises(RuntimeError, match="parsing error"):
        machine_code("nonsense", ["f"], lambda: (Module(("nonsense",), 0), {}))


def test_machine_code_is_freed_by_the_next_step_with_llvm(place):
    native = answer()
    seen = weakref.ref(native)
    alive = len(engine._LIVING)
    del native
    assert seen() is None
    again = answer()
    assert len(engine._LIVING) <= alive
    assert not engine._DEAD
    assert again.address("answer") != 0


def test_a_process_that_was_interrupted_while_compiling_leaves_nothing_bad(place):
    code = (
        "import os, signal, sys, threading, numpy as np, torsor\n"
        "arm = torsor.robots.planar2r()\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "if len(sys.argv) > 1: threading.Timer(float(sys.argv[1]), os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "while True:\n"
        "    try: print(float(torsor.inverse_dynamics(arm, *np.ones((3, 2))).sum())); break\n"
        "    except KeyboardInterrupt: pass\n"
    )
    with torsor.backend("numpy"):
        expected = float(torsor.inverse_dynamics(torsor.robots.planar2r(), *np.ones((3, 2))).sum())
    environment = {**os.environ, "TORSOR_CACHE_DIR": str(place)}
    for moment in (["0.02"], []):
        done = subprocess.run(
            [sys.executable, "-c", code, *moment],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        assert float(done.stdout) == pytest.approx(expected, rel=1e-12)


def test_llvm_works_in_one_thread_whoever_calls_and_whatever_threads_come_and_go():
    """Memory that was freed serves the thread that had it: a new thread for each kernel would take more and more."""
    seen, done = [apart.apart(lambda _: threading.current_thread())], threading.Event()

    def elsewhere():
        seen.append(apart.apart(lambda _: threading.current_thread()))
        done.wait(PATIENCE)  # so that this thread's own memory is not free

    others = [threading.Thread(target=elsewhere) for _ in range(3)]
    for other in others:
        other.start()
        seen.append(apart.apart(lambda _: threading.current_thread()))
    until(lambda: len(seen) == 7)
    done.set()
    for other in others:
        other.join()
    with pytest.raises(KeyboardInterrupt):
        apart.apart(lambda wanted: press_ctrl_c() or until(lambda: not wanted()))
    seen.append(apart.apart(lambda _: threading.current_thread()))
    assert set(seen) == {seen[0]}
    assert seen[0] is not threading.current_thread()


def test_a_process_ends_after_the_step_that_was_begun():
    code = (
        "import os, signal, time\nfrom torsor.compiler.run.apart import apart\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def step(wanted):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    while wanted(): time.sleep(0.002)\n"
        "    time.sleep(0.5)\n"
        "    print('whole', flush=True)\n"
        "try: apart(step)\n"
        "except KeyboardInterrupt: print('left', flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["left", "whole"]


# Batches


def kernel(body):
    """A function of machine code as `threads.share` calls them, of (count, operands, steps, first_extra, second_extra)."""

    def kernel(f: Function, count: Word, operands: Word, steps: Word, first: Word, second: Word):
        body(f, count, operands, steps, first, second)
        f.give(0)

    pause = "define internal void @pause() {\n  ret void\n}"
    native = compile_ir(module([kernel], pause), "kernel")
    return native, native.address("kernel")


def counting(f, count, operands, steps, first, second):
    """One more in the word of each state."""
    with f.loop(count) as k:
        place = f.load(operands) + k * f.load(steps)
        f.store(place, f.load(place) + 1)


def meeting(f, count, operands, steps, first, second):
    """Come to a place that all states share, and wait there until two have come, or very long."""
    place, patience = f.load(operands), f.variable(first)
    f.atomic_add(place, 1)
    with f.while_(patience):
        patience.set(patience.get() - 1)
        with f.when(f.load_atom(place) > 1):
            patience.set(0)


def shared(address, seen, scratch=0):
    threads.share(address, len(seen), threads.WORTH_SHARING, [seen.ctypes.data], [8], scratch)


def test_every_state_is_worked_on_once_by_whoever_has_time(three_threads):
    native, address = kernel(counting)
    for states in (1, 31, 32, 33, 500, 4001):
        for scratch in (0, 100, 100_000):
            seen = np.zeros(states, np.int64)
            shared(address, seen, scratch)
            assert (seen == 1).all()
    assert native


def test_several_callers_at_once_and_changing_numbers_of_threads(three_threads):
    native, address = kernel(counting)

    def call():
        for k in range(200):
            seen = np.zeros(3000 + k, np.int64)
            shared(address, seen)
            torsor.set_threads(1 + k % 4)
            wrong.append(not (seen == 1).all())

    wrong = []
    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(wrong) == 800 and not any(wrong) and native


@pytest.mark.parametrize("pause", [0.0, 0.05])
def test_helpers_come_also_when_they_have_slept(three_threads, pause):
    native, address = kernel(meeting)
    for _ in range(3):
        time.sleep(pause)
        place = np.zeros(1, np.int64)
        threads.share(address, 64, threads.WORTH_SHARING, [place.ctypes.data], [0], 0, extra=(4 * 10**9, 0))
        assert place[0] > 1
    assert native


def test_ctrl_c_is_heard_between_parts_of_a_batch(three_threads):
    done = []

    with pytest.raises(KeyboardInterrupt):
        for start, _ in threads.parts(16 * 10_000, threads.AT_ONCE):
            done.append(start)
            if len(done) == 3:
                press_ctrl_c()
            time.sleep(0.001)
    assert len(done) < 100


def test_batches_in_threads_that_outlive_the_main_one_and_at_exit():
    code = (
        "import atexit, threading, time, numpy as np, torsor\n"
        "torsor.set_threads(3)\narm = torsor.robots.planar2r()\nq = np.ones((60_000, 2))\n"
        "def work(): print(round(float(torsor.inverse_dynamics(arm, q, q, q).sum()), 3), flush=True)\n"
        "class Late:\n    def __init__(self, work=work): self.work = work\n    def __del__(self): self.work()\n"
        "late = Late()\natexit.register(work)\nwork()\n"
        "threading.Thread(target=lambda: (time.sleep(0.3), work())).start()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stderr == ""
    assert len(done.stdout.split()) == 4
    assert len(set(done.stdout.split())) == 1


# Scans


@pytest.mark.parametrize(("steps", "every"), [(37, 1), (37, 5), (36, 12), (37, 37), (37, 40)])
def test_a_scan_in_stretches_has_the_same_bits(monkeypatch, steps, every):
    def step(robot, x, u, k):
        return {"x": np.sin(x) + k * u, "y": x[:1] * u[1:]}

    loop = torsor.scan(step, torsor.robots.planar2r(), {"x": 2}, inputs={"u": 2}, constants={"k": ()})
    generator = np.random.default_rng(0)
    given = {
        "x": generator.normal(size=(19, 2)),
        "u": generator.normal(size=(19, steps, 2)),
        "k": np.linspace(0, 1, 19),
    }
    whole = loop(steps=steps, every=every, **given)
    for most in (1, 3, 7):
        monkeypatch.setattr(scan, "AT_ONCE", most * 19 * loop._operations)
        for name, saved in loop(steps=steps, every=every, **given).items():
            np.testing.assert_array_equal(saved, whole[name])


# Fork


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_forked_beside_busy_threads_computes():
    code = (
        "import faulthandler, os, signal, sys, threading, warnings, numpy as np, torsor\n"
        "warnings.simplefilter('ignore')\n"
        "arm = torsor.robots.planar2r()\nq = np.ones((60_000, 2))\ntorsor.set_threads(2)\nwant = torsor.mass_matrix(arm, q)\n"
        "stop = []\n"
        "def compile_and_compute():\n"
        "    k = 0\n"
        "    while not stop:\n"
        "        k += 1\n"
        "        torsor.inverse_dynamics(arm.with_gravity((0, 0, -k)), q[0], q[0], q[0]); torsor.mass_matrix(arm, q)\n"
        "busy = [threading.Thread(target=compile_and_compute) for _ in range(2)]\n"
        "for thread in busy: thread.start()\n"
        "codes = []\n"
        "for k in range(6):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        signal.alarm(60)\n"
        "        faulthandler.dump_traceback_later(50)  # where it waits, if it does\n"
        "        same = np.array_equal(torsor.mass_matrix(arm, q), want)\n"
        "        other = torsor.gravity_forces(arm.with_gravity((0, k, -9)), q[0])\n"
        "        os._exit(0 if same and np.isfinite(other).all() else 3)\n"
        "    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        "stop.append(True)\n"
        "for thread in busy: thread.join()\n"
        "print(codes)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=500, check=True)
    assert done.stdout.strip() == str([0] * 6), done.stderr


# Homeless users


def test_a_user_without_a_home_has_no_cache_and_no_directory_called_tilde(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    for variable in ("XDG_CACHE_HOME", "TORSOR_CACHE_DIR"):
        monkeypatch.delenv(variable, raising=False)
    assert cache.directory() is None
    monkeypatch.setenv("TORSOR_CACHE_DIR", "~/kernels")
    assert cache.directory() is None
    assert list(tmp_path.iterdir()) == []


def test_a_tilde_in_the_settings_is_the_users_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TORSOR_CACHE_DIR", "~/kernels")
    assert cache.directory() == tmp_path / "kernels"


@pytest.mark.parametrize("compiled_before", [False, True])
def test_a_first_call_while_python_ends_is_answered_or_says_why_not(compiled_before, tmp_path):
    """Nothing can be imported any more then. A function that was called before answers; atexit comes sooner."""
    script = (
        "import atexit, os, numpy as np, torsor\n"
        "class Late:\n"
        "    def __init__(self):\n"
        "        self.arm, self.q, self.say = torsor.robots.planar2r(), np.zeros(2), os.write\n"
        "        self.calls = torsor.mass_matrix, torsor.compile(torsor.gravity_forces, self.arm)\n"
        "        self.clear = torsor.MissingDependency\n"
        "    def call(self):\n"
        "        M, g = self.calls\n"
        "        return M(self.arm, self.q).tolist(), g(self.q).tolist()\n"
        "    def __del__(self):\n"
        "        try:\n"
        "            text = str(self.call())\n"
        "        except self.clear as error:\n"
        "            text = str(error)\n"
        "        self.say(1, text.encode() + b'\\n')\n"
        "late = Late()\n"
    )
    script += "print(late.call(), flush=True)\n" if compiled_before else ""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TORSOR_CACHE_DIR": str(tmp_path)},
    )
    if compiled_before:
        first, last = done.stdout.splitlines()
        assert first == last
    else:
        assert "Python is ending, and nothing can be imported or compiled any more" in done.stdout
        assert "atexit.register" in done.stdout
    assert "pip install" not in done.stderr and "Traceback" not in done.stderr
