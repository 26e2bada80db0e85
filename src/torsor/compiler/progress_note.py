"""A word on the terminal when compiling takes longer than a second."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

PATIENCE = 1.0  # s


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
