"""Which way the public functions run: compiled for the robot, or evaluated with NumPy as written."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from torsor.compiler import engine
from torsor.compiler.front_door import DOORS
from torsor.errors import TorsorError

BACKENDS = ("compiled", "numpy")
_chosen: ContextVar[str] = ContextVar("torsor_backend", default="compiled")


@contextlib.contextmanager
def backend(name: str) -> Iterator[None]:
    """``with torsor.backend("numpy"):`` evaluates without compiling (many robots, few calls each); "compiled" is the default."""
    if name not in BACKENDS:
        raise TorsorError(f"backend: unknown backend {name!r}. Backends: {', '.join(BACKENDS)}.")
    token = _chosen.set(name)
    for door in DOORS:  # the fast entries do not ask
        door.shut()
    try:
        yield
    finally:
        _chosen.reset(token)


def compiles() -> bool:
    """Whether calls are to be compiled now."""
    return _chosen.get() == "compiled" and engine.why_missing() is None
