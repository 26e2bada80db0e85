"""Small matrices in one thread of OpenBLAS, which comes with the wheels of NumPy and SciPy.

It shares matrices of fifty rows among all cores, and its threads wait for each other at work: where a core is busy with something
else, that takes twenty times as long as one thread alone. Who has many small products and factors asks for one thread meanwhile.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

NAMES = ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads")
USERS = ("numpy.linalg._umath_linalg", "scipy.linalg._flapack")  # modules that are linked to a library each

Control = tuple[Callable[[], int], Callable[[int], None]]


@contextmanager
def one_thread() -> Iterator[None]:
    """A context, or a decorator, within which matrices are not shared among threads; for all threads of the process.

    Only who has lowered the number raises it again, to what it was: of two threads that are within, the second may go on with
    several, and none is left behind.
    """
    lowered: list[tuple[Callable[[int], None], int]] = []
    try:
        for get, change in controls():
            before = get()
            if before > 1:
                lowered.append((change, before))
                change(1)
        yield
    finally:
        for change, before in lowered:
            change(before)


def controls() -> list[Control]:
    """How to ask each library for its number of threads, and to change it; none where BLAS is another one."""
    found = (_control(name) for name in USERS if name in sys.modules)
    return [control for control in found if control is not None]


@cache
def _control(name: str) -> Control | None:
    try:
        library = ctypes.CDLL(sys.modules[name].__file__)  # its symbols are those of what it is linked to, too
    except (OSError, TypeError):
        return None
    for pattern in NAMES:
        get, change = (getattr(library, pattern.format(verb), None) for verb in ("get", "set"))
        if get is not None and change is not None:
            get.restype, get.argtypes = ctypes.c_int, ()
            change.restype, change.argtypes = None, (ctypes.c_int,)
            return get, change
    return None
