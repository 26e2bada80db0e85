"""Kernels in memory, of all functions together, bounded by what they take."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from torsor.compiler.run.apart import new_lock
from torsor.compiler.run.native import Codes

K = TypeVar("K")
OVERHEAD = 16 * 1024  # bytes of Python objects that go with a kernel: measured


class Kept(Generic[K]):
    """At most so many things by key, shared between threads; the least recently used go first."""

    def __init__(self, most: int) -> None:
        self._kept: OrderedDict[Hashable, K] = OrderedDict()
        self._most, self._lock = most, new_lock()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._kept

    def get(self, key: Hashable, make: Callable[[], K]) -> K:
        """What is kept under a key, or what ``make`` gives, which is then kept."""
        with self._lock:
            if (found := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return found
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made


class CodeStore:
    """Machine code by key, shared between threads; beyond ``limit`` bytes the least recently used goes first."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._kept: OrderedDict[Hashable, Codes] = OrderedDict()
        self._counted: dict[Hashable, int] = {}
        self._bytes, self._lock = 0, new_lock()

    def get(self, key: Hashable, make: Callable[[], Codes]) -> Codes:
        """What is kept under a key, or what ``make`` gives, which is then kept."""
        with self._lock:
            if (found := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return found
        made = make()
        made.on_growth = lambda: self._count(key)
        with self._lock:
            made = self._kept.setdefault(key, made)  # another thread may have been first
        self._count(key)
        return made

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def bytes(self) -> int:
        """How many bytes the kernels take in memory, about."""
        return self._bytes

    def _count(self, key: Hashable) -> None:
        with self._lock:
            if key not in self._kept:
                return  # given up meanwhile
            now = OVERHEAD + self._kept[key].bytes
            self._bytes += now - self._counted.get(key, 0)
            self._counted[key] = now
            while self._bytes > self.limit and len(self._kept) > 1:
                oldest, _ = self._kept.popitem(last=False)
                self._bytes -= self._counted.pop(oldest, 0)
