"""Which array library do these values belong to?

Each value is asked through the Array API protocol (``__array_namespace__``), so JAX arrays, JAX tracers and our own
traced arrays answer for themselves and no optional library is ever imported here. Every primitive asks its own
arguments: what depends on NumPy constants alone stays NumPy and is computed once, at tracing time, and what touches a
JAX value (the state, or a robot parameter that is being differentiated) runs under ``jax.numpy``.
"""

from __future__ import annotations

from typing import Any

import numpy


def namespace(*values: Any) -> Any:
    """The module whose functions work on all of ``values``: numpy, unless one of them belongs elsewhere."""
    for value in values:
        if type(value) is not numpy.ndarray and type(value) is not float:
            ask = getattr(value, "__array_namespace__", None)
            if ask is not None and (xp := ask()) is not numpy:
                return xp
    return numpy


def is_concrete(*values: Any) -> bool:
    """True when every value is plain numbers (NumPy or Python), so that its content may be inspected."""
    return all(
        isinstance(value, (numpy.ndarray, numpy.generic, int, float)) or namespace(value) is numpy for value in values
    )
