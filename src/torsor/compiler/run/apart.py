"""Work that Ctrl-C must not cut in two, done in a thread that no signal reaches; and locks that are open in a forked child.

Python raises KeyboardInterrupt in the main thread, between any two of its instructions: also after a lock was taken and
before it is given back, in a finaliser or a callback, where it is lost, or half way through writing a file. So whatever talks
to LLVM, or stores what LLVM made, runs `apart`: the caller waits, and can leave at once; the thread finishes the step it is
at, takes no other, and the process ends after it.

It is one thread for all work, as long as the process lives. The C library gives each thread an area of memory of its own, and
memory that is given back serves that area alone: with a thread for each compilation, what kernels that are gone have left in
one area would be of no use to new kernels in another, and the process would grow, area by area.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Generic, TypeVar
from weakref import WeakSet

T = TypeVar("T")
Wanted = Callable[[], bool]
LOOK = 0.1  # s: how often a waiting caller looks for signals where waiting does not end with one (Windows)
_here = threading.local()
_locks: WeakSet[threading.RLock] = WeakSet()
LLVM = threading.RLock()  # held for each step with LLVM, by one thread at a time


class NotWanted(Exception):
    """Whoever asked for some work has left."""


class _Job(Generic[T]):
    """One piece of work, its result or what it raised, and whether somebody still waits for it."""

    def __init__(self, work: Callable[[Wanted], T]) -> None:
        self.work, self.wanted, self.done = work, True, threading.Event()
        self.results: list[T] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.results.append(self.work(lambda: self.wanted))
        except BaseException as error:
            self.error = error
        finally:
            self.done.set()


class _Worker:
    """The thread that all work is done in, made when first needed. It is idle when the process ends: others wait for it."""

    def __init__(self) -> None:
        self._lock = new_lock()
        self.forget()

    def forget(self) -> None:
        """In a forked child there is no such thread."""
        self._waiting, self._is_there = SimpleQueue[_Job[Any]](), False

    def see_to(self, job: _Job[Any]) -> None:
        """In a thread that Python waits for before it ends: have a job done, and wait for that."""
        _here.inside = True  # a finaliser may run in this thread too
        with self._lock:
            if not self._is_there:
                try:
                    threading.Thread(target=_work, args=(self._waiting,), name="torsor-compiler", daemon=True).start()
                    self._is_there = True
                except RuntimeError:  # Python is about to end, or there are too many threads
                    job.run()
                    return
            self._waiting.put(job)
        job.done.wait()


def _work(waiting: SimpleQueue[_Job[Any]]) -> None:
    _here.inside = True
    while True:
        waiting.get().run()


def apart(work: Callable[[Wanted], T]) -> T:
    """The result of ``work(wanted)`` in another thread; ``wanted()`` turns false if the caller is interrupted meanwhile."""
    if is_apart() or sys.is_finalizing():  # a thread that is started while Python ends never runs
        return work(lambda: True)
    job = _Job(work)
    try:
        try:
            threading.Thread(target=_WORKER.see_to, args=(job,), name="torsor-waiting", daemon=False).start()
        except RuntimeError:  # Python is about to end
            return work(lambda: True)
        while not job.done.wait(LOOK):
            pass
    except BaseException:
        job.wanted = False
        raise
    if job.error is not None:
        raise job.error
    return job.results.pop()


def is_apart() -> bool:
    """Whether this is a thread of `apart`: what it calls (a finaliser may) must not wait for one who waits for it."""
    return getattr(_here, "inside", False)


def new_lock() -> threading.RLock:
    """A lock, for one thread several times over, that is open in a forked child whatever the parent's threads were doing."""
    made = threading.RLock()
    _locks.add(made)
    return made


def _renew() -> None:
    for lock in list(_locks):
        lock._at_fork_reinit()  # type: ignore[attr-defined]
    _WORKER.forget()


_WORKER = _Worker()

if hasattr(os, "register_at_fork"):
    # A child that is made while LLVM works would find it half way: forking waits for the end of the step.
    os.register_at_fork(before=LLVM.acquire, after_in_parent=LLVM.release, after_in_child=LLVM.release)
    os.register_at_fork(after_in_child=_renew)
