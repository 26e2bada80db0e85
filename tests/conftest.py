"""What all tests share: most evaluate with NumPy, for compiling every random robot would take longer than the test."""

import contextlib
import ctypes
import gc
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

# Threads that wait for each other beside a second process of the run only burn time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("TORSOR_COMPILE", "first")  # see `chosen_tier`


import pytest

import torsor
from torsor._lazy import load_everything
from torsor.functions import variants
from torsor.functions.kept import Kept

load_everything()  # so that tests which walk the registry of public functions see all of them

# Kernels and traced programs are kept for the whole run: the collector would look through them again and again.
gc.set_threshold(100_000, 20, 50)
MOST_MEMORY, SOME_MEMORY = 1100 * 2**20, 100 * 2**20  # bytes, shared libraries included


def jax_takes(flag):
    """Whether the JAX that is installed starts with a flag of its compiler: one that it does not know ends the process."""
    if importlib.util.find_spec("jax") is None:
        return False
    start = [sys.executable, "-c", "import jax; jax.devices()"]
    return (
        subprocess.run(start, env={**os.environ, "XLA_FLAGS": flag}, capture_output=True, check=False).returncode == 0
    )


# Most of what the tests ask of JAX it compiles for one evaluation: the way that compiles in half the time, where there is one.
# Set once, by the process that starts the others.
FASTER = "--xla_cpu_use_fusion_emitters=false"
if "XLA_FLAGS" not in os.environ:
    os.environ["XLA_FLAGS"] = FASTER if jax_takes(FASTER) else ""


# The longest first, so that no process of the run ends long after the other. JAX before anything else has taken memory: what it
# has compiled is forgotten when there is too much of it (`bounded_memory`), and compiling it again takes as long as the tests.
FIRST = (
    "test_jax.py",
    "test_other_machines.py",
    "test_documentation.py",
    "test_compiled_in_jax.py",
    "test_compiled.py",
)


def pytest_collection_modifyitems(items):
    """Files in the order of FIRST, then the others as they were."""
    items.sort(key=lambda item: FIRST.index(item.path.name) if item.path.name in FIRST else len(FIRST))


def pytest_collection_finish():
    """Modules and tests, some 700,000 objects, stay to the end: the collector need not look through them each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def chosen_backend(request):
    """NumPy as written, unless a test (or its module) is marked ``compiled``."""
    with torsor.backend("compiled" if request.node.get_closest_marker("compiled") else "numpy"):
        yield


@pytest.fixture(autouse=True)
def chosen_tier(request, monkeypatch):
    """Machine code as it is made soon, with the bits of the final code (`test_tiers.py`) in a third of LLVM's time."""
    mark = request.node.get_closest_marker("tier")
    if mark is not None:
        monkeypatch.setenv("TORSOR_COMPILE", *mark.args)


@pytest.fixture(autouse=True)
def no_variants_of_other_tests(monkeypatch):
    """Whether a robot gets a kernel of its own does not depend on the robots of tests before."""
    monkeypatch.setattr(variants, "_families", Kept(256))


@pytest.fixture(autouse=True, scope="session")
def private_cache(tmp_path_factory):
    """Kernels of the test run go to a place of their own, which all processes of the run share: each is compiled once."""
    here = tmp_path_factory.getbasetemp()
    place = (here.parent if "PYTEST_XDIST_WORKER" in os.environ else here) / "kernels"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORSOR_CACHE_DIR", str(place))
        yield


@pytest.fixture(autouse=True, scope="session")
def memory():
    """When the memory of this process is to be given back."""
    return {"most": MOST_MEMORY}


@pytest.fixture(autouse=True)
def bounded_memory(memory):
    """When there is too much of it, memory that nobody needs is given back, and if that is too little, what JAX has compiled."""
    yield
    jax = sys.modules.get("jax")
    if jax is None or memory_in_use() <= memory["most"]:
        return
    forget_texts_of_jax()
    give_back()
    if memory_in_use() > memory["most"] - SOME_MEMORY // 2:
        jax.clear_caches()
        give_back()
        memory["most"] = max(MOST_MEMORY, memory_in_use() + SOME_MEMORY)


def forget_texts_of_jax():
    """JAX keeps the text of each operation that it compiles, 1.3 MB, and never reads it again: only machine code is kept.

    Where another JAX has it elsewhere, nothing happens here.
    """
    inside = sys.modules.get("jax._src.interpreters.pxla")
    kind = getattr(inside, "MeshComputation", None)
    for computation in [x for x in gc.get_objects() if type(x) is kind]:
        if getattr(computation, "_executable", None) is not None:
            computation._hlo = None
    with contextlib.suppress(AttributeError):
        inside._cached_lowering_to_hlo.cache_clear()


def give_back():
    """Collect garbage, and give free memory back to the system."""
    gc.collect()
    with contextlib.suppress(AttributeError):  # a system whose memory is its own matter
        ctypes.CDLL(None).malloc_trim(0)


def memory_in_use():
    """Bytes of this process that are in memory; 0 where the system does not say."""
    statistics = Path("/proc/self/statm")
    return int(statistics.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statistics.exists() else 0


@contextlib.contextmanager
def jax_set(**settings):
    """JAX with some settings, and as it was afterwards."""
    jax = pytest.importorskip("jax")
    before = {name: jax.config.values[name] for name in settings}
    for name, value in settings.items():
        jax.config.update(name, value)
    try:
        yield jax
    finally:
        for name, value in before.items():
            jax.config.update(name, value)


@pytest.fixture
def jax_in_doubles():
    """JAX in doubles, and compiling fast rather than for speed."""
    with jax_set(jax_enable_x64=True, jax_disable_most_optimizations=True) as jax:
        yield jax


@pytest.fixture
def jax_in_singles():
    """JAX in its usual precision."""
    with jax_set(jax_enable_x64=False) as jax:
        yield jax


@pytest.fixture
def calls():
    """``calls(function)``: how many functions it calls in all, and what it returns: work that no busy machine makes more."""

    def measure(function):
        count = 0

        def note(_frame, event, _what):
            nonlocal count
            count += event in ("call", "c_call")

        sys.setprofile(note)
        try:
            result = function()
        finally:
            sys.setprofile(None)
        return count, result

    return measure
