"""A bar that shows how far long work has come, on a terminal."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from torsor.errors import printable


def progress(total: float, label: str, unit: str) -> AbstractContextManager[Callable[[float], Any]]:
    """Counts, with a bar on a terminal once a second has passed, if tqdm is installed."""
    if sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None:
        return _bar(total, label, unit)
    return _UNSEEN


_UNSEEN = nullcontext(lambda n: None)  # for who counts where nobody looks


@contextmanager
def _bar(total: float, label: str, unit: str) -> Iterator[Callable[[float], Any]]:
    from tqdm import tqdm

    with tqdm(total=total, desc=printable(label), unit=unit, unit_scale=True, delay=1.0, leave=False) as bar:
        yield bar.update
