"""Memory of results, kept for the next ones: large arrays without the time in which the system makes new pages for them.

Memory that a process has freed goes back to the system when there is much of it, and what is then asked for comes as new pages,
each made when it is first written to: this takes longer than many kernels that write there. So arrays of results from `LEAST`
bytes on get their memory from a *pool*, by NumPy's own protocol for that (a data-memory handler, NEP 49): when such an array
is collected, its block waits for the next array that it fits. Blocks begin at multiples of 64 bytes, as cache
lines and the widest vectors do. At most `MOST_BYTES` wait, and at most `MOST_BLOCKS` blocks; what has waited longest is given
back to the system first. Only results are made so: the handler is set for as long as one array is being made.

NumPy makes and collects arrays while it holds the interpreter lock, and so does the generated code here, which needs no other.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

from torsor.compiler.print.words import Function, Word
from torsor.compiler.run.fast_entry_arguments import PYTHON, Fields
from torsor.compiler.run.python_layout import numpy_functions

LEAST = 32 * 1024  # bytes: below, the C library gives memory back and takes it again in the same place
MOST_BYTES = 64 * 1024**2
MOST_BLOCKS = 64
HANDLER = ("pool_take", "pool_take_zeros", "pool_change", "pool_return")  # functions that NumPy calls
_LINE = 64  # bytes of a cache line; before each block one with its size, and where it was taken from the system
VERSION = 1  # of NumPy's protocol
_AROUND = 2 * _LINE
_NAME = b"mem_handler"  # of NumPy's capsules

# What the generated code keeps, in words: numbers of blocks that wait, their bytes, how often one of them served and none
# did; NumPy's own handler; then the blocks that wait, as addresses and sizes, the oldest first.
POOL = ("waiting", "bytes", "served", "taken", "context", "allocate", "release")
_BLOCKS = 8 * len(POOL)


class _Handler(ctypes.Structure):
    """NumPy's PyDataMem_Handler, version 1."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("zeros", ctypes.c_void_p),
        ("change", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
    )


class Waiting(NamedTuple):
    """The memory that waits for results: blocks and their bytes; how many results one of them served, and how many none."""

    blocks: int
    bytes: int
    served: int
    taken: int


_words = (ctypes.c_uint64 * (len(POOL) + 2 * MOST_BLOCKS))()


def waiting() -> Waiting:
    """What waits now."""
    now = dict(zip(POOL, _words, strict=False))
    return Waiting(now["waiting"], now["bytes"], now["served"], now["taken"])


def begin(addresses: Sequence[int]) -> int:
    """NumPy's capsule of the handler whose functions are at these addresses, which lives as long as the process.

    It is 0, and no memory waits, where NumPy has another protocol.
    """
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    capsule_of = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi)
    )
    current = ctypes.PYFUNCTYPE(ctypes.py_object)(int(numpy_functions()[305] or 0))  # PyDataMem_GetHandler
    usual = _Handler.from_address(pointer_of(current(), _NAME))
    if usual.version != VERSION:
        return 0
    for name, value in (("context", usual.context), ("allocate", usual.allocate), ("release", usual.release)):
        _words[POOL.index(name)] = value or 0
    handler = _Handler(b"torsor results", VERSION, ctypes.addressof(_words), *addresses)
    title = ctypes.create_string_buffer(_NAME)
    capsule = capsule_of(ctypes.addressof(handler), ctypes.addressof(title), None)
    for thing in (_words, handler, title, capsule):  # arrays may be collected when modules are gone
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
    return id(capsule)


def _take() -> Function:
    """(pool, size): the youngest block that waits and fits, not an eighth larger, or a new one; 0 where there is no memory."""
    f = Function("pool_take", ["pool", "size"], internal=False)
    pool, size = f.parameters
    about = Fields(f, pool, POOL)
    needed = (size + (_LINE - 1)) & -_LINE
    k, most = f.variable(about.waiting), needed + (needed >> 3) + _LINE
    with f.while_(k):
        k.set(k.get() - 1)
        place = pool + _BLOCKS + k.get() * 16
        block, found = f.load(place), f.load(place, 1)
        fits = ((found < needed) | (found > most)) == Word(f, "false", "i1")
        with f.when(fits):
            f.call("pool_close_gap", pool, k.get())
            about.set("served", about.served + 1)
            f.give(block)
    raw = f.call(about.allocate, about.context, needed + _AROUND)
    with f.when(raw == 0):
        f.give(0)
    about.set("taken", about.taken + 1)
    block = (raw + _AROUND) & -_LINE
    f.store(block - _LINE, needed)
    f.store(block - _LINE, raw, 1)
    f.give(block)
    return f


def _close_gap() -> Function:
    """(pool, place): a block waits no longer; those that came after it move up."""
    f = Function("pool_close_gap", ["pool", "place"])
    pool, place = f.parameters
    about = Fields(f, pool, POOL)
    last, k = about.waiting - 1, f.variable(place)
    about.set("bytes", about.bytes - f.load(pool + _BLOCKS + place * 16, 1))
    with f.while_(k, last) as now:
        at = pool + _BLOCKS + now * 16
        f.store(at, f.load(at, 2))
        f.store(at, f.load(at, 3), 1)
        k.set(now + 1)
    about.set("waiting", last)
    f.give(0)
    return f


def _give_back() -> Function:
    """(pool, block): to the system."""
    f = Function("pool_give_back", ["pool", "block"])
    pool, block = f.parameters
    about = Fields(f, pool, POOL)
    size, raw = f.load(block - _LINE), f.load(block - _LINE, 1)
    f.call(about.release, about.context, raw, size + _AROUND, gives="void")
    f.give(0)
    return f


def _return() -> Function:
    """(pool, block, size): the block of a collected array waits for the next, and those that have waited longest make room."""
    f = Function("pool_return", ["pool", "block", "size"], internal=False)
    pool, block, _ = f.parameters
    about = Fields(f, pool, POOL)
    with f.when(block == 0):
        f.give(0)
    size, is_over = f.load(block - _LINE), f.variable(1)
    with f.when(size > MOST_BYTES):
        f.call("pool_give_back", pool, block)
        f.give(0)
    with f.while_(is_over):
        too_many = (about.waiting == MOST_BLOCKS) | (about.bytes + size > MOST_BYTES)
        is_over.set(f.choose(too_many, 1, 0))
        with f.when(too_many):
            oldest = f.load(pool + _BLOCKS)
            f.call("pool_close_gap", pool, 0)
            f.call("pool_give_back", pool, oldest)
    place = pool + _BLOCKS + about.waiting * 16
    f.store(place, block)
    f.store(place, size, 1)
    about.set("bytes", about.bytes + size)
    about.set("waiting", about.waiting + 1)
    f.give(0)
    return f


def _take_zeros() -> Function:
    """(pool, count, size): as calloc."""
    f = Function("pool_take_zeros", ["pool", "count", "size"], internal=False)
    pool, count, size = f.parameters
    block = f.call("pool_take", pool, count * size)
    with f.when(block != 0):
        f.clear(block, count * size)
    f.give(block)
    return f


def _change() -> Function:
    """(pool, block, size): as realloc."""
    f = Function("pool_change", ["pool", "block", "size"], internal=False)
    pool, block, size = f.parameters
    made = f.call("pool_take", pool, size)
    with f.when((made != 0) & (block != 0)):
        before = f.load(block - _LINE)
        f.copy(made, block, f.choose(before < size, before, size))
        f.call("pool_return", pool, block, before)
    f.give(made)
    return f


def _array_of() -> Function:
    """(python, rank, dims, number, size): a new array of so many bytes, from the pool where it is large."""
    f = Function("array_of", ["python", "rank", "dims", "number", "size"])
    words, rank, dims, number, size = f.parameters
    python = Fields(f, words, PYTHON)
    wanted: list[Any] = [("i32", rank), dims, ("i32", number), 0, 0, ("i32", 0), ("i32", 0), 0]
    with f.when((size < LEAST) | (python.handler == 0)):
        f.give(f.call(python.array_new, python.array, *wanted))
    before = f.call(python.set_handler, python.handler)
    with f.when(before == 0):
        f.give(0)
    made = f.call(python.array_new, python.array, *wanted)
    f.call(python.release, f.call(python.set_handler, before), gives="void")
    f.call(python.release, before, gives="void")
    f.give(made)
    return f


def _for_python() -> Function:
    """(python, rank, dims, number, size): the same, to be called from Python."""
    f = Function("new_array", ["python", "rank", "dims", "number", "size"], internal=False)
    f.give(f.call("array_of", *f.parameters))
    return f


def functions() -> list[Function]:
    """All of them: ``array_of`` is for others to call."""
    parts = (_close_gap, _give_back, _take, _return, _take_zeros, _change, _array_of, _for_python)
    return [part() for part in parts]
