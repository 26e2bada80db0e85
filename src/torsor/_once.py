"""An attribute that is computed when first asked for, and then kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class once(Generic[T]):  # noqa: N801
    """As ``functools.cached_property``, without the lock that Python 3.11 shares among all objects of a class.

    One object's first call would wait there for another's, and in a process that was forked meanwhile for ever. Two threads may
    compute the same value; either will do.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> once[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> once[T] | T:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self._name, self._function(instance))  # type: ignore[no-any-return]
