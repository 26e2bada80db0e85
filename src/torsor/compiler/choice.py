"""Whether calls are compiled or evaluated with NumPy: a choice of each thread, and what it means for the fast entries."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from torsor.compiler.run import engine, fast_entry as front_door

COMPILED, NUMPY = BACKENDS = ("compiled", "numpy")
_chosen: ContextVar[str] = ContextVar("torsor_backend", default=COMPILED)


def compiles() -> bool:
    """Whether calls are to be compiled now."""
    return _chosen.get() == COMPILED and engine.why_missing() is None


@contextlib.contextmanager
def chosen(name: str) -> Iterator[None]:
    """One of `BACKENDS` for what this thread, or task, calls meanwhile."""
    shut = (name == NUMPY) - (_chosen.get() == NUMPY)
    token = _chosen.set(name)
    try:
        front_door.shut(shut)  # the fast entries serve all threads and do not ask
        yield
    finally:
        front_door.shut(-shut)
        _chosen.reset(token)
