"""Which way the public functions run: compiled for the robot, or evaluated with NumPy as written."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from functools import cache

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
    return _chosen.get() == "compiled" and why_not_compiled() is None


@cache
def why_not_compiled() -> str | None:
    """Why this machine cannot compile, or None if it can; said once as a warning."""
    try:
        import llvmlite.binding  # noqa: F401
    except ImportError as error:
        reason = f"llvmlite cannot be imported ({error}); pip install llvmlite"
        warnings.warn(f"torsor runs uncompiled, hundreds of times slower: {reason}", RuntimeWarning, stacklevel=4)
        return reason
    return None
