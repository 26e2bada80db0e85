"""Where a function of one number changes its sign."""

from __future__ import annotations

from collections.abc import Callable


def zero_crossing(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function with a change of sign between low and high is zero, by bisection."""
    start = function(low) < 0.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if (function(middle) < 0.0) == start else (low, middle)
    return 0.5 * (low + high)
