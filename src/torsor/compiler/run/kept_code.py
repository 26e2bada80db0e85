"""Machine code by key: loaded from disk, or compiled and kept there, whole or not at all, with a word if it takes long."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from torsor.compiler.print.llvm import Module
from torsor.compiler.run import cache, engine
from torsor.compiler.run.apart import Wanted, apart

PATIENCE = 1.0  # s, before a word on the terminal says that something is being compiled


class Source(NamedTuple):
    """What is compiled, how many operations it has, and what is to be known of it later."""

    module: Module
    about: dict[str, Any]
    operations: int = 0


class Found(NamedTuple):
    """Machine code in memory, and what is known about it."""

    native: engine.Native
    about: dict[str, Any]


def machine_code(key: str, names: Sequence[str], make: Callable[[], Source]) -> Found:
    """The functions ``names`` of what is kept under a key for this kind of machine, or of what ``make`` gives."""
    full_key = "|".join([key, *engine.host(), engine.version()])
    if (entry := cache.load(full_key)) is not None:
        try:
            return Found(apart(lambda _: engine.loaded(entry.objects, names, entry.about["functions"])), entry.about)
        except engine.Unusable:
            pass  # as if it were not there
    module, about, operations = make()
    about = {**about, "scratch": module.scratch, "functions": module.functions}

    def work(wanted: Wanted) -> Found:
        objects = engine.objects_of(module.texts, wanted, optimised=module.optimised)
        native = engine.loaded(objects, names, module.functions)
        cache.store(full_key, cache.Entry(about, tuple(objects)))
        return Found(native, about)

    with notice(f"torsor: compiling {operations:,} operations, once for this robot"):
        return apart(work)


def about_kept(key: str) -> dict[str, Any] | None:
    """What is known about the machine code that is kept under a key, if there is some."""
    entry = cache.load("|".join([key, *engine.host(), engine.version()]))
    return None if entry is None else entry.about


@contextlib.contextmanager
def notice(text: str) -> Iterator[None]:
    """Write ``text`` to the terminal if what follows is not done within a second, and wipe it out afterwards."""
    if not sys.stderr.isatty():
        yield
        return
    shown = threading.Event()

    def show() -> None:
        shown.set()
        sys.stderr.write(f"{text} …")
        sys.stderr.flush()

    timer = threading.Timer(PATIENCE, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if shown.is_set():
            sys.stderr.write("\r" + " " * (len(text) + 2) + "\r")
            sys.stderr.flush()
