"""Sums of harmonics as products of sines and cosines: ½ + ½ cos 2q is cos² q."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

from torsor.symbolic.fourier import Harmonic

Product = tuple[tuple[Harmonic, ...], float]
_EQUAL = 1e-12  # relative: amplitudes that are equal up to rounding


def multiplied(parts: dict[Harmonic, float]) -> list[Product]:
    """The same sum as products of functions, each with its coefficient: one product of functions of single coordinates
    if it is that, else with cos A ± cos B and sin A ± sin B as products where that is possible.
    """
    single = _single(parts) if len(parts) > 2 else None
    return list(_paired(parts)) if single is None else [single]


def _paired(parts: dict[Harmonic, float]) -> Iterator[Product]:
    """The same sum with cos A ± cos B and sin A ± sin B as products, simplest first."""
    left = dict(parts)
    pairs = []
    names = list(parts)
    for i, A in enumerate(names):
        for B in names[:i]:
            if A.kind == B.kind and abs(abs(parts[A]) - abs(parts[B])) <= _EQUAL * abs(parts[A]):
                P = tuple((x + y) / 2 for x, y in zip(A.argument, B.argument, strict=True))
                Q = tuple((x - y) / 2 for x, y in zip(A.argument, B.argument, strict=True))
                if all(x == int(x) for x in P):
                    pairs.append((sum(map(abs, P + Q)), A, B, P, Q))
    for _, A, B, P, Q in sorted(pairs, key=lambda pair: pair[0]):
        if A in left and B in left:
            a, same = left.pop(A), parts[A] * parts[B] > 0
            left.pop(B)
            if A.kind == "cos":
                kinds, sign = (("cos", "cos"), 1) if same else (("sin", "sin"), -1)
            else:
                kinds, sign = (("sin", "cos"), 1) if same else (("cos", "sin"), 1)
            yield (Harmonic(kinds[0], P), Harmonic(kinds[1], Q)), 2 * a * sign
    for h, a in left.items():
        if h.kind == "sin" and all(x % 2 == 0 for x in h.argument):
            half = tuple(x / 2 for x in h.argument)
            yield (Harmonic("sin", half), Harmonic("cos", half)), 2 * a
        else:
            yield (h,), a


def _single(parts: dict[Harmonic, float]) -> Product | None:
    """The sum as one product of functions of single coordinates, such as sin² q_2 cos² q_3, if it is one."""
    tensor = _tensor(parts)
    largest = max(tensor, key=lambda key: abs(tensor[key]))
    n = len(largest)
    factors: list[dict[Harmonic, float]] = []
    for j in range(n):
        fibre = {
            key[j]: c for key, c in tensor.items() if all(key[i] == largest[i] for i in range(n) if i != j)
        }  # what the sum is along q_j
        factors.append({_harmonic(h, j, n): c / tensor[largest] for h, c in fibre.items()})
    sizes = prod(len(f) for f in factors)
    if sizes != len(tensor):
        return None
    for combination in product(*(f.items() for f in factors)):
        key = tuple((h.kind, h.argument[j]) for j, (h, _) in enumerate(combination))
        expected = tensor[largest] * prod(c for _, c in combination)
        if abs(tensor.get(key, 0.0) - expected) > _EQUAL * abs(tensor[largest]):
            return None
    functions: list[Harmonic] = []
    total = tensor[largest]
    for factor in factors:
        short = list(_paired(factor))
        if len(short) != 1:
            return None
        functions += short[0][0]
        total *= short[0][1]
    return tuple(functions), total


def _tensor(parts: dict[Harmonic, float]) -> dict[tuple[tuple[str, float], ...], float]:
    """Products of cos or sin of single coordinates: cos(A + B) = cos A cos B − sin A sin B, and so on."""
    total: dict[tuple[tuple[str, float], ...], float] = {}
    for h, c in parts.items():
        choices = [[("cos", 0.0)] if x == 0 else [("cos", abs(x)), ("sin", abs(x))] for x in h.argument]
        for key in product(*choices):
            turns = sum(kind == "sin" for kind, _ in key)  # e^{iΣ} = Π (cos + i sin): i to this power
            if turns % 2 == (h.kind == "sin"):
                sign = prod(-1 if kind == "sin" and x < 0 else 1 for (kind, _), x in zip(key, h.argument, strict=True))
                sign *= -1 if turns % 4 > 1 else 1
                total[key] = total.get(key, 0.0) + sign * c
    scale = max(map(abs, parts.values()))
    return {key: c for key, c in total.items() if abs(c) > _EQUAL * scale}


def _harmonic(h: tuple[str, float], j: int, n: int) -> Harmonic:
    return Harmonic(h[0], tuple(h[1] if i == j else 0.0 for i in range(n)))
