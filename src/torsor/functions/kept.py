"""What is kept in memory between calls, the least recently used given up first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from torsor.compiler.run.apart import new_lock

T = TypeVar("T")


class Kept(Generic[T]):
    """Things by key, shared between threads, of together at most so many, or so much by their ``size``."""

    def __init__(self, most: int, size: Callable[[T], int] | None = None) -> None:
        self._kept: OrderedDict[Hashable, T] = OrderedDict()
        self._most, self._size, self._lock = most, size, new_lock()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._kept

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def total(self) -> int:
        """How much all of them are."""
        with self._lock:
            return len(self) if self._size is None else sum(map(self._size, self._kept.values()))

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What is kept under a key, or what ``make`` gives, which is then kept."""
        with self._lock:
            if (found := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return found
        made = make()
        with self._lock:
            made = self._kept.setdefault(key, made)  # another thread may have been first
        self.trim()
        return made

    def trim(self) -> None:
        """Give up what is beyond the limit: something may have grown. The one in use stays, however large."""
        with self._lock:
            while len(self) > 1 and self.total > self._most:
                self._kept.popitem(last=False)
