"""Symmetric positive definite systems with two bands beside the diagonal, by A = L D Lᵀ, one of a batch for each lane."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from torsor.arrays.typing import Array
from torsor.compiler.print.scan import Roles
from torsor.compiler.scan import Scan
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace


def solved(diagonal: Array, beside: Array, farther: Array, right: Array) -> Array:
    """x (B, n) with A x = ``right``: A has the diagonal, and one and two places beside it (B, n) each, zeros at their ends."""
    batch, count = right.shape
    none = np.zeros(batch)
    rows = {"diagonal": diagonal, "beside": beside, "farther": farther, "right": right}
    state = dict.fromkeys(("d", "e", "f", "z", "d2", "f2", "z2"), none) | {"d": none + 1.0, "d2": none + 1.0}
    down = _downwards()(steps=count, **state, **rows)
    given = {name: np.ascontiguousarray(down[name][:, ::-1]) for name in ("d", "e", "f", "z")}
    found: Array = _upwards()(steps=count, x=none, x2=none, **given)["x"][:, ::-1]
    return found


@lru_cache(maxsize=1)
def _downwards() -> Scan:
    """Row by row: the pivot d, the factors e and f below it, and L z = right."""

    def step(
        d: Array,
        e: Array,
        f: Array,
        z: Array,
        d2: Array,
        f2: Array,
        z2: Array,
        diagonal: Array,
        beside: Array,
        farther: Array,
        right: Array,
    ) -> dict[str, Array]:
        pivot = diagonal - d * e * e - d2 * f2 * f2
        found = {"d": pivot, "e": (beside - d * f * e) / pivot, "f": farther / pivot, "z": right - e * z - f2 * z2}
        return {**found, "d2": d, "f2": f, "z2": z}

    names = ("d", "e", "f", "z", "d2", "f2", "z2", "diagonal", "beside", "farther", "right")
    return Scan("banded, downwards", trace(step, dict.fromkeys(names, ()), Level.FULL), Roles(7, 4, 0))


@lru_cache(maxsize=1)
def _upwards() -> Scan:
    """Lᵀ x = z/d from the last row on."""

    def step(x: Array, x2: Array, d: Array, e: Array, f: Array, z: Array) -> dict[str, Array]:
        return {"x": z / d - e * x - f * x2, "x2": x}

    return Scan(
        "banded, upwards", trace(step, dict.fromkeys(("x", "x2", "d", "e", "f", "z"), ()), Level.FULL), Roles(2, 4, 0)
    )
