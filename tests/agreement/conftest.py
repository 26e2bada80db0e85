"""What the agreement tests share: how to compare two numbers that should be the same one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

Same = Callable[..., None]


@pytest.fixture(scope="session")
def same() -> Same:
    """``same(got, want, within, scale=None)``: equal shapes, and entries that differ by at most within · scale.

    ``scale`` is the largest entry of ``want``, unless its terms cancel and the caller knows how large they were.
    """

    def check(got: object, want: object, within: float, scale: float | None = None) -> None:
        got, want = np.asarray(got), np.asarray(want)
        assert got.shape == want.shape
        assert np.all(np.isfinite(want))
        size = np.abs(want).max(initial=0.0) if scale is None else float(scale)
        off = np.abs(got - want).max(initial=0.0)
        assert off <= within * size, f"off by {off:.3g}, which is {off / size if size else np.inf:.3g} of {size:.3g}"

    return check
