"""A progress bar for long loops, if tqdm is installed and someone is looking."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def progress(items: Iterable[T], label: str) -> Iterator[T]:
    """``items``, with a bar on a terminal once a second has passed."""
    if sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None:
        from tqdm import tqdm

        return iter(tqdm(items, desc=label, delay=1.0, leave=False))
    return iter(items)
