"""The cache of machine code on disk: what does not verify is never run, what others can write is never trusted."""

import inspect
import os
import subprocess
import sys
import time
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest

import torsor
from torsor.compiler.graph import Graph, Op, Port, Program
from torsor.compiler.run import cache, native

ABOUT = {"kind": "test"}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("TORSOR_CACHE_DIR", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


def doubling(built=None):
    def make():
        if built is not None:
            built.append(True)
        graph = Graph([Port("x", ())])
        root = graph.apply(Op.MUL, graph.constant(2.0), graph.input_nodes[0])
        return Program(graph, (Port("y", ()),), ((root,),))

    return make


def call(key="k", built=None):
    return native.build(key, doubling(built), np.float64)([np.array(2.5)])[0].tolist()


def test_what_is_stored_comes_back(place):
    cache.store("key", cache.Entry(ABOUT, (b"code",)))
    assert cache.load("key") == cache.Entry(ABOUT, (b"code",))
    assert cache.load("other") is None
    assert cache.size() == (1, next(place.glob("*.kernel")).stat().st_size)


def test_a_kernel_is_compiled_once(place):
    built = []
    assert call(built=built) == call(built=built) == 5.0
    assert built == [True]


def damage_cut(path):
    path.write_bytes(path.read_bytes()[:-7])


def damage_changed(path):
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(bytes(content))


def damage_foreign(path):
    path.write_bytes(b"\x7fELF" + b"\0" * 500)


def damage_empty(path):
    path.write_bytes(b"")


def damage_swapped(path):
    """Another kernel's file, whole and well signed, under this one's name."""
    cache.store("another", cache.Entry(ABOUT, (b"code of another kernel",)))
    (other,) = [file for file in path.parent.glob("*.kernel") if file != path]
    path.write_bytes(other.read_bytes())


def damage_linked(path):
    elsewhere = path.parent.parent / "elsewhere"
    elsewhere.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(elsewhere)


@pytest.mark.parametrize(
    "damage", [damage_cut, damage_changed, damage_foreign, damage_empty, damage_swapped, damage_linked]
)
def test_a_damaged_file_is_noticed_and_compiled_anew(place, damage):
    built = []
    call(built=built)
    (path,) = place.glob("*.kernel")
    damage(path)
    assert call(built=built) == 5.0
    assert len(built) == 2


def test_the_directory_is_private(place):
    call()
    assert place.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of this kind are POSIX's")
def test_a_directory_that_others_can_write_is_refused(place):
    place.mkdir(mode=0o777)
    place.chmod(0o777)
    assert "can be written by others: chmod go-w" in cache.why_refused(place)
    assert call() == 5.0
    assert list(place.glob("*")) == []


def test_a_link_to_a_directory_is_refused(place, tmp_path):
    (tmp_path / "real").mkdir(mode=0o700)
    place.symlink_to(tmp_path / "real")
    assert "is not a directory" in cache.why_refused(place)
    assert call() == 5.0


def test_without_any_place_everything_still_works(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("TORSOR_CACHE_DIR", str(tmp_path / "file" / "kernels"))
    assert cache.directory() is None
    assert call() == 5.0


def test_the_size_is_bounded_and_the_longest_unused_go_first(place, monkeypatch):
    monkeypatch.setattr(cache, "LIMIT", 3000)
    monkeypatch.setattr(cache, "BETWEEN_TRIMS", 1)
    for k in range(6):
        cache.store(f"key{k}", cache.Entry(ABOUT, (bytes(800),)))
        path = cache._path(f"key{k}")
        os.utime(path, (time.time() - 100 + k, time.time() - 100 + k))
    assert cache.load("key0") is None
    assert cache.load("key5") is not None
    assert cache.size()[1] <= 3000


def test_two_processes_may_fill_it_at_once(place):
    code = (
        "import torsor, numpy as np\narm = torsor.robots.ur5()\n"
        "print(float(np.sum(torsor.inverse_dynamics(arm, *np.ones((3, 6))))))"
    )
    environment = {**os.environ, "TORSOR_CACHE_DIR": str(place)}
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment, text=True)
        for _ in range(3)
    ]
    outputs = {process.communicate()[0] for process in running}
    with torsor.backend("numpy"):
        expected = float(np.sum(torsor.inverse_dynamics(torsor.robots.ur5(), *np.ones((3, 6)))))
    assert len(outputs) == 1
    assert float(outputs.pop()) == pytest.approx(expected, rel=1e-12)
    assert not list(place.glob(".new-*"))


def test_other_code_makes_other_kernels(place, monkeypatch):
    """A kernel on disk is keyed by the library's own source, so that an update never runs old code."""
    from torsor.functions import describe, dispatch
    from torsor.functions.kept import Kept

    def files_after_a_call():
        monkeypatch.setattr(dispatch, "KERNELS", Kept(2**20, attrgetter("bytes")))  # nothing is in memory
        torsor.potential_energy(torsor.robots.pendulum(), [0.1])
        return cache.size()[0]

    with torsor.backend("compiled"):
        files = files_after_a_call()
        assert files_after_a_call() == files
        monkeypatch.setattr(describe, "sources", lambda: "another version")
        assert files_after_a_call() > files


def test_the_code_that_kernels_are_keyed_by_is_all_of_it():
    """The algorithms, what they are written with, and the compiler; not only the modules beside the one that reads them."""
    from torsor.arrays import primitives
    from torsor.compiler import simplify
    from torsor.functions.describe import source_files
    from torsor.functions.dispatch import about_of
    from torsor.lie import unchecked

    found = set(source_files())
    for part in (primitives, simplify, unchecked, about_of(torsor.inverse_dynamics).algorithm):
        assert Path(inspect.getfile(part)) in found
