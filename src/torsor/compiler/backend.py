"""Which way public functions, kernels and scans run: compiled, or evaluated with NumPy. Each thread chooses for itself."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar

from torsor.border.arguments import explained, refuse_unknown_word
from torsor.compiler.run import engine, fast_entry

COMPILED, NUMPY = BACKENDS = ("compiled", "numpy")
_chosen: ContextVar[str] = ContextVar("torsor_backend", default=COMPILED)


@explained
def backend(name: str) -> AbstractContextManager[None]:
    """A context in which calls are compiled, or evaluated with NumPy: ``with torsor.backend("numpy"):``.

    Parameters
    ----------
    name : str
        "compiled", which is the default everywhere, or "numpy", which is sooner done for many robots with few calls each.

    Returns
    -------
    context manager
        It holds for the thread (or asyncio task) that enters it, for public functions, kernels and scans alike. While one thread
        is in a "numpy" block, the others' calls are compiled as before, but take the general path, which is slower by
        microseconds.
    """
    refuse_unknown_word("name", name, BACKENDS)
    return _held(name)


def compiles() -> bool:
    """Whether calls are to be compiled now."""
    return _chosen.get() == COMPILED and engine.why_missing() is None


@contextlib.contextmanager
def _held(name: str) -> Iterator[None]:
    """One of `BACKENDS` for what this thread, or task, calls meanwhile."""
    more = (name == NUMPY) - (_chosen.get() == NUMPY)
    token = _chosen.set(name)
    try:
        fast_entry.suspend(more)  # the fast entries serve all threads and do not ask
        yield
    finally:
        fast_entry.suspend(-more)
        _chosen.reset(token)
