"""What a controller keeps from one call to the next: a number, an array, or a tuple or dict of these."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from torsor.arrays.typing import Array


class Memory:
    """The memory of a controller: ``value`` as the user has it, ``leaves`` its arrays by name, None if it has other things
    too.
    """

    def __init__(self, value: Any, leaves: dict[str, Array] | None) -> None:
        self.value, self.leaves = value, leaves

    @classmethod
    def of(cls, value: Any) -> Memory:
        """The memory that begins with a value."""
        try:
            parts = _flat(value)
            leaves = {f"memory_{k}": np.asarray(part, float) for k, part in enumerate(parts)}
        except (TypeError, ValueError):
            return cls(value, None)
        return cls(value, leaves)

    def copied(self) -> Any:
        """The value for one run: numbers as they are now, even if a controller writes into its arrays; other things as they
        are.
        """
        return self.value if self.leaves is None else copy.deepcopy(self.value)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each array."""
        return {name: leaf.shape for name, leaf in (self.leaves or {}).items()}

    def rebuilt(self, leaves: Mapping[str, Array]) -> Any:
        """Arrays put together as the user has them."""
        return _rebuilt(self.value, iter(leaves.values()))

    def leaves_of(self, value: Any) -> dict[str, Array]:
        """The arrays of another value of the same form, by name."""
        parts = _flat(value)
        if len(parts) != len(self.leaves or {}):
            raise ValueError("the state of the controller changes its form")
        return {f"memory_{k}": part for k, part in enumerate(parts)}


def _flat(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [leaf for key in value for leaf in _flat(value[key])]
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in _flat(part)]
    if value is None or isinstance(value, (str, bytes, list)):
        raise TypeError("no numbers")
    return [value]


def _rebuilt(like: Any, leaves: Any) -> Any:
    if isinstance(like, Mapping):
        return {key: _rebuilt(like[key], leaves) for key in like}
    if isinstance(like, tuple):
        parts = [_rebuilt(part, leaves) for part in like]
        return type(like)(*parts) if hasattr(like, "_fields") else tuple(parts)
    return next(leaves)
