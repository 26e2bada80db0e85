"""Which way the public functions, kernels and scans run: compiled for the robot, or evaluated with NumPy as written."""

from __future__ import annotations

from contextlib import AbstractContextManager

from torsor.compiler.choice import BACKENDS, chosen, compiles as compiles
from torsor.errors import ArgumentError


def backend(name: str) -> AbstractContextManager[None]:
    """``with torsor.backend("numpy"):`` evaluates without compiling (many robots, few calls each); "compiled" is the default.

    It holds for the thread (or asyncio task) that says so, for public functions, kernels and scans alike. While one thread is in
    such a block, the others' calls are compiled as before, but take the general path, which is slower by microseconds.
    """
    if name not in BACKENDS:
        raise ArgumentError(f"backend: unknown backend {name!r}. Backends: {', '.join(BACKENDS)}.")
    return chosen(name)
