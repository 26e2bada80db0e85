"""What a metric must be, where its numbers are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.arrays import is_concrete
from torsor.errors import TorsorError


def refuse_asymmetric(who: str, metric: Any) -> None:
    """Raise if matrices (..., n, n) of known numbers differ from their transposes by more than rounding; NaN passes."""
    if metric is None or not is_concrete(metric):
        return
    W = np.asarray(metric)
    if W.ndim < 2 or W.shape[-1] != W.shape[-2] or W.dtype.kind not in "fiu":
        return  # refused where shapes are checked
    rounding = float(np.sqrt(np.finfo(W.dtype if W.dtype.kind == "f" else float).eps))
    off = np.abs(W - np.swapaxes(W, -1, -2))
    if np.any(off > rounding * np.abs(W).max(axis=(-2, -1), keepdims=True, initial=0.0)):
        raise TorsorError(
            f"{who}: `metric` must be symmetric, and differs from its transpose by {np.nanmax(off):.3g}. "
            "Pass 0.5 * (metric + metric.T) if that is what is meant."
        )
