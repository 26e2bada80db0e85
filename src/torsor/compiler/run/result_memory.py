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
from typing import Any

from torsor.compiler.print.words import Fields, Function, Word
from torsor.compiler.run.fast_entry_arguments import Python
from torsor.compiler.run.python_layout import capsule_of, numpy_functions, pointer_in

LEAST = 32 * 1024  # bytes: below, the C library gives memory back and takes it again in the same place
MOST_BYTES = 64 * 1024**2
MOST_BLOCKS = 64
_LINE = 64  # bytes of a cache line; before each block one with its size, and where it was taken from the system
VERSION = 1  # of NumPy's protocol
_AROUND = 2 * _LINE
_NAME = b"mem_handler"  # of NumPy's capsules


class Pool(Fields):
    """What the generated code keeps: how many blocks wait, their bytes, how often one of them served and none did; NumPy's own
    handler; then the blocks that wait, the oldest first.
    """

    names = ("blocks", "bytes", "served", "taken", "context", "allocate", "release")


class Block(Fields):
    """A block that waits."""

    names = ("address", "bytes")


_BLOCKS = 8 * len(Pool.names)


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


class _Words(ctypes.Structure):
    _fields_ = (("pool", Pool.structure()), ("blocks", Block.structure() * MOST_BLOCKS))


_words = _Words()


def waiting() -> Any:
    """What waits now: a copy of the words of `Pool`."""
    return Pool.structure().from_buffer_copy(_words)


def begin(addresses: Sequence[int]) -> int:
    """NumPy's capsule of the handler whose functions are at these addresses, which lives as long as the process.

    It is 0, and no memory waits, where NumPy has another protocol.
    """
    current = ctypes.PYFUNCTYPE(ctypes.py_object)(int(numpy_functions()[305] or 0))  # PyDataMem_GetHandler
    usual = _Handler.from_address(pointer_in(current(), _NAME))
    if usual.version != VERSION:
        return 0
    pool = _words.pool
    pool.context, pool.allocate, pool.release = usual.context or 0, usual.allocate, usual.release
    handler = _Handler(b"torsor results", VERSION, ctypes.addressof(_words), *addresses)
    capsule = capsule_of(ctypes.addressof(handler), _NAME)
    for thing in (_words, handler, _NAME, capsule):  # arrays may be collected when modules are gone
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
    return id(capsule)


def pool_take(f: Function, pool: Pool, size: Word) -> None:
    """The youngest block that waits and fits, not an eighth larger, or a new one; 0 where there is no memory."""
    needed = (size + (_LINE - 1)) & -_LINE
    k, most = f.variable(pool.blocks), needed + (needed >> 3) + _LINE
    with f.while_(k):
        k.set(k.get() - 1)
        waiting = Block.at(pool + _BLOCKS, k.get())
        block, found = waiting.address, waiting.bytes
        with f.when((found >= needed) & (found <= most)):
            f.call(_close_gap, pool, k.get())
            pool.set(served=pool.served + 1)
            f.give(block)
    raw = f.call(pool.allocate, pool.context, needed + _AROUND)
    f.refuse_if(raw == 0)
    pool.set(taken=pool.taken + 1)
    block = (raw + _AROUND) & -_LINE
    f.store(block - _LINE, needed)
    f.store(block - _LINE, raw, 1)
    f.give(block)


def _close_gap(f: Function, pool: Pool, place: Word) -> None:
    """A block waits no longer; those that came after it move up."""
    last, k, blocks = pool.blocks - 1, f.variable(place), pool + _BLOCKS
    pool.set(bytes=pool.bytes - Block.at(blocks, place).bytes)
    with f.while_(k, last) as now:
        after = Block.at(blocks, now + 1)
        Block.at(blocks, now).set(address=after.address, bytes=after.bytes)
        k.set(now + 1)
    pool.set(blocks=last)
    f.give(0)


def _give_back(f: Function, pool: Pool, block: Word) -> None:
    """Give a block back to the system."""
    size, raw = f.load(block - _LINE), f.load(block - _LINE, 1)
    f.call(pool.release, pool.context, raw, size + _AROUND, gives="void")
    f.give(0)


def pool_return(f: Function, pool: Pool, block: Word, _size: Word) -> None:
    """The block of a collected array waits for the next, and those that have waited longest make room."""
    f.refuse_if(block == 0)
    size, is_over = f.load(block - _LINE), f.variable(1)
    with f.when(size > MOST_BYTES):
        f.call(_give_back, pool, block)
        f.give(0)
    with f.while_(is_over):
        too_many = (pool.blocks == MOST_BLOCKS) | (pool.bytes + size > MOST_BYTES)
        is_over.set(f.choose(too_many, 1, 0))
        with f.when(too_many):
            oldest = f.load(pool + _BLOCKS)
            f.call(_close_gap, pool, 0)
            f.call(_give_back, pool, oldest)
    Block.at(pool + _BLOCKS, pool.blocks).set(address=block, bytes=size)
    pool.set(bytes=pool.bytes + size, blocks=pool.blocks + 1)
    f.give(0)


def pool_take_zeros(f: Function, pool: Pool, count: Word, size: Word) -> None:
    """A block of zeros, as calloc gives it."""
    block = f.call(pool_take, pool, count * size)
    with f.when(block != 0):
        f.clear(block, count * size)
    f.give(block)


def pool_change(f: Function, pool: Pool, block: Word, size: Word) -> None:
    """A block of another size with the same numbers, as realloc gives it."""
    made = f.call(pool_take, pool, size)
    with f.when((made != 0) & (block != 0)):
        before = f.load(block - _LINE)
        f.copy(made, block, f.choose(before < size, before, size))
        f.call(pool_return, pool, block, before)
    f.give(made)


HANDLER = (pool_take, pool_take_zeros, pool_change, pool_return)  # what NumPy calls, in its order


def array_of(f: Function, python: Python, rank: Word, dims: Word, number: Word, size: Word) -> None:
    """A new array of so many bytes, from the pool where it is large."""
    wanted: list[Any] = [("i32", rank), dims, ("i32", number), 0, 0, ("i32", 0), ("i32", 0), 0]
    with f.when((size < LEAST) | (python.handler == 0)):
        f.give(f.call(python.array_new, python.array, *wanted))
    before = f.call(python.set_handler, python.handler)
    f.refuse_if(before == 0)
    made = f.call(python.array_new, python.array, *wanted)
    f.call(python.release, f.call(python.set_handler, before), gives="void")
    f.call(python.release, before, gives="void")
    f.give(made)


def new_array(f: Function, python: Python, rank: Word, dims: Word, number: Word, size: Word) -> None:
    """The same, to be called from Python."""
    f.give(f.call(array_of, python, rank, dims, number, size))
