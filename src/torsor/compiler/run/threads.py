"""Batches on several threads, in parts so short that Ctrl-C acts soon; nothing that a thread works on is freed under it.

The caller works too, and helpers (`crew`), which wait in machine code, take slices as long as there are some: where no thread can
be started (Python is about to end), the caller does all of them. A call of `share` ends when no helper is at work on its arrays,
and Ctrl-C is heard between calls. A forked child has no helpers, and starts its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import platform
import sys
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from numbers import Real
from typing import Any

from torsor.compiler.run import crew
from torsor.compiler.run.apart import apart, new_lock
from torsor.compiler.run.cache import code_of_words
from torsor.compiler.run.crew import LANES, MOST_HELPERS, Crew, Helper, Job
from torsor.compiler.run.python_layout import address_of_function
from torsor.errors import ArgumentError

WORTH_SHARING = 300_000  # operations, some ten microseconds: what waking another thread costs
WORTH_A_THREAD = 6_000_000  # operations, some tenths of a millisecond: no look at Ctrl-C, and Python's lock is held
AT_ONCE = 50_000_000  # operations of a thread without a look whether to go on, some hundredths of a second
Ints = Sequence[int]
_OF_CREW = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
_MANY = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
_ONE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
ALIGNMENT = 64  # bytes: of the widest vector


class _Words(ctypes.Structure):
    _fields_ = (("crew", Crew.structure()), ("helpers", Helper.structure() * MOST_HELPERS))


class _Crew:
    """The words that all threads share, and the threads, started when first needed; they end with the process."""

    def __init__(self) -> None:
        self.count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self.words = _Words()
        self.address = ctypes.addressof(self.words)
        self._lock = new_lock()
        self.forget()

    def forget(self) -> None:
        """In a forked child there are no helpers, and nobody is helped."""
        self._locks: list[int] = []
        ctypes.memset(self.address, 0, ctypes.sizeof(self.words))
        self.words.crew.wanted = self.count - 1

    def want(self, count: int) -> None:
        """Let so many threads take part, callers included."""
        self.count = count
        self.words.crew.wanted = min(count - 1, MOST_HELPERS)

    def start(self) -> bool:
        """Whether there are as many helpers as are wanted, or could be started, and at least one."""
        wanted = min(self.count - 1, MOST_HELPERS)
        if len(self._locks) >= wanted:
            return wanted > 0
        if not sys.is_finalizing():  # when a thread that is started never runs
            apart(lambda _: self._add_helpers(wanted))
        return bool(self._locks)

    def _add_helpers(self, wanted: int) -> None:
        """Where Ctrl-C cannot come in between, which would leave two threads with the place of one."""
        with self._lock, contextlib.suppress(RuntimeError):  # Python is about to end, or there are too many threads
            for name, address in _functions().items():
                setattr(self.words.crew, name, address)
            while len(self._locks) < wanted:
                self._add()

    def _add(self) -> None:
        k = len(self._locks)
        lock = _new_lock()
        self.words.helpers[k].lock = lock
        work = _OF_CREW(_generated()["helped"])
        threading.Thread(target=work, args=(self.address, k), name="torsor", daemon=True).start()
        self._locks.append(lock)
        self.words.crew.helpers = k + 1


def _new_lock() -> int:
    """One of Python's own for C, closed."""
    api = ctypes.pythonapi
    make, close = api.PyThread_allocate_lock, api.PyThread_acquire_lock
    make.restype, close.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_int)
    lock = int(make() or 0)
    if not lock:
        raise RuntimeError("no more locks")
    close(lock, 1)
    return lock


@cache
def _generated() -> dict[str, int]:
    """Addresses of the machine code."""
    names = ("shared", "helped")
    native = code_of_words("crew", crew.text(platform.machine()), names)
    for thing in (native, _CREW.words):  # helpers are in the one and look at the other until the process ends
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
    return {name: native.address(name) for name in names}


@cache
def _functions() -> dict[str, int]:
    """What the machine code calls, and the one that others call."""
    api = ctypes.pythonapi
    functions = {"acquire": api.PyThread_acquire_lock, "release": api.PyThread_release_lock}
    functions |= {"allocate": api.PyMem_RawMalloc, "free": api.PyMem_RawFree}
    on_windows = sys.platform == "win32"
    system: Any = ctypes.CDLL("kernel32" if on_windows else None)
    functions["give_way"] = system.SwitchToThread if on_windows else system.sched_yield
    return {name: address_of_function(function) for name, function in functions.items()} | {
        "shared": _generated()["shared"]
    }


_CREW = _Crew()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_CREW.forget)


def set_threads(count: int) -> None:
    """Set how many threads a batch may use; results do not depend on it.

    Parameters
    ----------
    count : int
        At least 1. The default is one thread per processor.
    """
    if not isinstance(count, Real) or not 1 <= count < math.inf or int(count) != count:
        raise ArgumentError(
            f"set_threads: count must be a whole number of at least 1, got {count!r:.60}. For one per processor: "
            "torsor.set_threads(os.cpu_count())."
        )
    _CREW.want(int(count))


def get_threads() -> int:
    """How many threads a batch may use.

    Returns
    -------
    int
        At least 1.
    """
    return _CREW.count


def crew_address() -> int:
    """Where the words of `crew` are, as long as the process lives."""
    return _CREW.address


def least_to_share(operations: int) -> int:
    """How many states, at least, are worth several threads, if each takes so many operations."""
    return max(2 * LANES, -(-WORTH_SHARING // max(1, operations)))


def share(
    kernel: int,
    states: int,
    operations: int,
    operands: Ints,
    steps: Ints,
    scratch: int,
    one: int = 0,
    extra: Ints = (0, 0),
) -> None:
    """A kernel of machine code over all states, on several threads if that is worth it.

    ``operands`` are addresses, ``steps`` the bytes between states. ``scratch``: the bytes that the kernel needs; ``one``: the
    address of ``kernel_one``, which answers for a single state. ``extra`` is passed behind everything else.
    """
    area = ctypes.create_string_buffer(scratch + ALIGNMENT)
    aligned = -(-ctypes.addressof(area) // ALIGNMENT) * ALIGNMENT
    pointers = (ctypes.c_void_p * (len(operands) + 2))(*operands, aligned, one)
    if states == 1 and one:
        _ONE(one)(pointers)
        return
    gaps = (ctypes.c_int64 * len(steps))(*steps)
    if states >= least_to_share(operations) and _CREW.start():
        places = ctypes.addressof(pointers), ctypes.addressof(gaps)
        job = Job.structure()(kernel, states, *places, len(operands), scratch, *extra)
        if _OF_CREW(_generated()["shared"])(_CREW.address, ctypes.addressof(job)):
            return
    _MANY(kernel)(states, pointers, gaps, *extra)


def parts(states: int, operations: int, numbers: int = 0) -> Iterator[tuple[int, int]]:
    """Start and length of parts of all states, each `AT_ONCE` for all threads, between which Ctrl-C is heard.

    A state takes this many operations, and this many numbers are read or written.
    """
    most = AT_ONCE * _CREW.count // max(1, operations, numbers)
    length = -(-states // max(1, -(-states // max(LANES, most))))
    length += -length % LANES
    for start in range(0, states, length):
        yield start, min(length, states - start)
