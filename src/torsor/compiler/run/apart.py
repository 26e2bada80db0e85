"""Work that Ctrl-C must not cut in two, done in a thread that no signal reaches; and locks that are open in a forked child.

Python raises KeyboardInterrupt in the main thread, between any two of its instructions: also after a lock was taken and
before it is given back, in a finaliser or a callback, where it is lost, or half way through writing a file. So whatever talks
to LLVM, or stores what LLVM made, runs `apart`: the caller waits, and can leave at once; the thread finishes the step it is
at, takes no other, and the process ends after it.

It is one thread for all work, as long as the process lives. The C library gives each thread an area of memory of its own, and
memory that is given back serves that area alone: with a thread for each compilation, what kernels that are gone have left in
one area would be of no use to new kernels in another, and the process would grow, area by area.

What nobody waits for is done by the same thread `behind` that, in steps, when nothing else has been asked of it for a while. The
process ends after the step it is at; what is left then is not done.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar
from weakref import WeakSet

T = TypeVar("T")
Wanted = Callable[[], bool]
Steps = Callable[[], Iterator[None]]
QUIET = 0.1  # s without work that somebody waits for, before what nobody waits for is begun
MOST_BEHIND = 256  # pieces of work that nobody waits for; the oldest are given up
LOOK = 0.1  # s: how often a waiting caller looks for signals where waiting does not end with one (Windows)
_here = threading.local()
_locks: WeakSet[threading.RLock] = WeakSet()
LLVM = threading.RLock()  # held for each step with LLVM, by one thread at a time
WITHIN: list[AbstractContextManager[Any]] = []  # locks of the library around LLVM, which finalisers take in any thread


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
        self._lock, self._step = new_lock(), new_lock()
        self.behind: deque[Steps] = deque(maxlen=MOST_BEHIND)
        self._is_ending = False
        self.forget()

    def forget(self) -> None:
        """In a forked child there is no such thread; what nobody waits for is begun again by a new one."""
        self._waiting, self._is_there = SimpleQueue[_Job[Any]](), False
        if self.behind:
            self._is_started()

    def see_to(self, job: _Job[Any]) -> None:
        """In a thread that Python waits for before it ends: have a job done, and wait for that."""
        _here.inside = True  # a finaliser may run in this thread too
        with self._lock:
            if not self._is_started():
                job.run()
                return
            self._waiting.put(job)
        job.done.wait()

    def _is_started(self) -> bool:
        if not self._is_there:
            # False if Python is about to end, or there are too many threads
            with contextlib.suppress(RuntimeError):
                threading.Thread(target=self._work, args=(self._waiting,), name="torsor-compiler", daemon=True).start()
                self._is_there = True
        return self._is_there

    def _work(self, waiting: SimpleQueue[_Job[Any]]) -> None:
        _here.inside = True
        while True:
            try:
                job = waiting.get(timeout=QUIET if self.behind and not self._is_ending else None)
            except Empty:
                self._work_behind(waiting)
            else:
                job.run()

    def _work_behind(self, waiting: SimpleQueue[_Job[Any]]) -> None:
        """The first piece of what nobody waits for, as long as nobody waits for anything else between its steps."""
        steps = self.behind.popleft()()
        with contextlib.suppress(Exception):  # without its result everything goes on as before
            while self._is_taken(steps):
                while not waiting.empty():
                    waiting.get().run()

    def _is_taken(self, steps: Iterator[None]) -> bool:
        """Whether there was another step, and it has been taken."""
        with self._step:
            return not self._is_ending and next(steps, self) is not self

    def end(self) -> None:
        """Before Python ends: no more steps, and none half way."""
        self._is_ending = True
        while True:
            try:
                with self._step:
                    return
            except KeyboardInterrupt:  # a step is short
                continue


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


def behind(steps: Steps) -> None:
    """Take these steps, one by one, when nothing has been asked for a while. To be called apart."""
    _WORKER.behind.append(steps)


def is_apart() -> bool:
    """Whether this is a thread of `apart`: what it calls (a finaliser may) must not wait for one who waits for it."""
    return getattr(_here, "inside", False)


def new_lock() -> threading.RLock:
    """A lock, for one thread several times over, that is open in a forked child whatever the parent's threads were doing."""
    made = threading.RLock()
    _locks.add(made)
    return made


def _hold_llvm() -> None:
    """Wait for the end of the step that LLVM is at, and of what its library frees outside of steps."""
    LLVM.acquire()
    for lock in WITHIN:
        lock.__enter__()


def _let_go_of_llvm() -> None:
    for lock in WITHIN:
        lock.__exit__(None, None, None)
    LLVM.release()


def _renew() -> None:
    for lock in list(_locks):
        lock._at_fork_reinit()  # type: ignore[attr-defined]
    _WORKER.forget()


_WORKER = _Worker()
atexit.register(_WORKER.end)

if hasattr(os, "register_at_fork"):
    # A child that is made while LLVM works would find it half way, or its library's locks closed for ever
    os.register_at_fork(before=_hold_llvm, after_in_parent=_let_go_of_llvm, after_in_child=_let_go_of_llvm)
    os.register_at_fork(after_in_child=_renew)
