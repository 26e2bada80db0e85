"""Work that Ctrl-C must not cut in two, done in a thread that no signal reaches; and locks that are open in a forked child.

Python raises KeyboardInterrupt in the main thread, between any two of its instructions: also after a lock was taken and
before it is given back, in a finaliser or a callback, where it is lost, or half way through writing a file. So whatever talks
to LLVM, or stores what LLVM made, runs `apart`: the caller waits, and can leave at once; the thread finishes the step it is
at, takes no other, and is joined before the process ends.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Generic, TypeVar
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
        _here.inside = True
        try:
            self.results.append(self.work(lambda: self.wanted))
        except BaseException as error:
            self.error = error
        finally:
            self.done.set()


def apart(work: Callable[[Wanted], T]) -> T:
    """The result of ``work(wanted)`` in a thread of its own; ``wanted()`` turns false if the caller is interrupted meanwhile."""
    if is_apart() or sys.is_finalizing():  # a thread that is started while Python ends never runs
        return work(lambda: True)
    job = _Job(work)
    try:
        try:
            threading.Thread(target=job.run, name="torsor-compiler", daemon=False).start()
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


if hasattr(os, "register_at_fork"):
    # A child that is made while LLVM works would find it half way: forking waits for the end of the step.
    os.register_at_fork(before=LLVM.acquire, after_in_parent=LLVM.release, after_in_child=LLVM.release)
    os.register_at_fork(after_in_child=_renew)
