"""Batches on several threads, in slices so short that Ctrl-C acts soon; nothing that a thread works on is freed under it.

The caller works too, and helpers take slices as long as there are some: where no thread can be started (Python is about to
end, the process was forked), the caller does all of them. Whatever happens, the caller leaves when no helper is at work on
its arrays, which the work itself keeps alive.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable, Iterable
from numbers import Real
from queue import Empty, SimpleQueue

from torsor.compiler.run.apart import LOOK, new_lock
from torsor.errors import ArgumentError

WORTH_A_THREAD = 6_000_000  # operations in a slice, some tenths of a millisecond: what waking another thread costs
AT_ONCE = 50_000_000  # operations without a look whether to go on, some hundredths of a second
LANES = 16  # slices are cut at multiples of the widest vector

Work = Callable[
    [int, int], Iterable[None] | None
]  # (start, length); steps, if it takes several, between which it may end


class _Batch:
    """Slices of a batch that nobody has taken yet, and who is at work on the others."""

    def __init__(self, states: int, length: int, work: Work) -> None:
        self._work: Work | None = work
        self._next, self._states, self._length = 0, states, length
        self._entered = self._left = 0  # helpers
        self._lock, self._leaving = threading.Lock(), SimpleQueue[None]()
        self._closed = self._given_up = False  # nobody may enter; nobody's work is wanted any more
        self._error: BaseException | None = None

    def help(self) -> None:
        """In a helper: take slices until there are no more."""
        with self._lock:
            if self._closed:
                return
            self._entered += 1
        try:
            self.do_slices()
        except BaseException as error:
            self._error, self._given_up = error, True
        finally:
            with self._lock:
                self._left += 1
            self._leaving.put(None)

    def do_slices(self) -> None:
        """Take slices until there are no more."""
        work = self._work
        while work is not None and (start := self._taken()) is not None:
            for _ in work(start, min(self._length, self._states - start)) or ():
                if self._given_up:
                    return

    def _taken(self) -> int | None:
        with self._lock:
            if self._given_up or self._next >= self._states:
                return None
            start, self._next = self._next, self._next + self._length
            return start

    def give_up(self) -> None:
        """Slices that are at work end at their next step, unfinished."""
        self._given_up = True

    def end(self) -> None:
        """In the caller: wait until no helper is at work, however impatient the user is, and raise what one has raised."""
        interrupted: KeyboardInterrupt | None = None
        while True:
            try:
                with self._lock:
                    self._closed = True
                while self._left < self._entered:
                    self._wait()
                break
            except KeyboardInterrupt as error:  # a step of a slice is short
                interrupted, self._given_up = error, True
        self._work = None
        if interrupted is not None:
            raise interrupted
        if self._error is not None:
            raise self._error

    def _wait(self) -> None:
        try:
            self._leaving.get(timeout=LOOK)
        except Empty:
            return


class _Helpers:
    """Threads that help with batches, made when first needed; they end with the process."""

    def __init__(self) -> None:
        self.count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._lock = new_lock()
        self.forget()

    def forget(self) -> None:
        """In a forked child there are no helpers."""
        self._waiting, self._made = SimpleQueue[_Batch](), 0

    def call(self, batch: _Batch, count: int) -> None:
        """Let ``count`` helpers take part, or as many as there can be."""
        if sys.is_finalizing():  # a thread that is started now never runs
            return
        with self._lock:
            while self._made < count:
                try:
                    threading.Thread(target=_help, args=(self._waiting,), name="torsor", daemon=True).start()
                except RuntimeError:  # Python is about to end
                    break
                self._made += 1
        for _ in range(min(count, self._made)):
            self._waiting.put(batch)


def _help(waiting: SimpleQueue[_Batch]) -> None:
    while True:
        waiting.get().help()


_HELPERS = _Helpers()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_HELPERS.forget)


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
    _HELPERS.count = int(count)


def get_threads() -> int:
    """How many threads a batch may use.

    Returns
    -------
    int
        At least 1.
    """
    return _HELPERS.count


def in_slices(states: int, operations: int, work: Work, numbers: int = 0) -> None:
    """``work(start, length)`` over all states, on several threads if each gets enough to do; it must hold its arrays.

    A state takes this many operations, and this many numbers are read or written.
    """
    threads = min(_HELPERS.count, max(1, states * operations // WORTH_A_THREAD))
    rounds = max(1, -(-states * max(operations, numbers) // (AT_ONCE * threads)))
    length = -(-states // (threads * rounds))
    length += -length % LANES
    if length >= states:
        for _ in work(0, states) or ():
            pass
        return
    batch = _Batch(states, length, work)
    try:
        if threads > 1:
            _HELPERS.call(batch, threads - 1)
        batch.do_slices()
    except BaseException:
        batch.give_up()
        raise
    finally:
        batch.end()
