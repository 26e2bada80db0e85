"""Sine and cosine as straight-line IR for vectors and scalars: one reduction, both results, about 1.5 units in the last place.

k = round(2x/π) by adding and subtracting 1.5·2ᵐ; r = x − k π/2 in three steps, each exact but for its own rounding
[Cody & Waite]; minimax polynomials on [−π/4, π/4]; quadrant by the low bits of k. Good up to the stated limit; beyond it,
and for what is not finite, every lane is handed to the C library.
"""

from __future__ import annotations

from typing import NamedTuple


class Tables(NamedTuple):
    """Constants of one precision."""

    limit: float
    shift: float  # 1.5 · 2^(mantissa bits): adding it rounds to an integer, whose low bits are then the result's own
    half_pi: tuple[float, float, float]
    sine: tuple[float, ...]  # r + r z (s0 + z (s1 + …)), z = r²
    cosine: tuple[float, ...]  # 1 − z/2 + z² (c0 + z (c1 + …))


DOUBLE = Tables(
    limit=1.0e6,
    shift=6755399441055744.0,
    half_pi=(1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33),
    sine=(
        -1.66666666666666324348e-01,
        8.33333333332248946124e-03,
        -1.98412698298579493134e-04,
        2.75573137070700676789e-06,
        -2.50507602534068634195e-08,
        1.58969099521155010221e-10,
    ),
    cosine=(
        4.16666666666666019037e-02,
        -1.38888888888741095749e-03,
        2.48015872894767294178e-05,
        -2.75573143513906633035e-07,
        2.08757232129817482790e-09,
        -1.13596475577881948265e-11,
    ),
)
SINGLE = Tables(
    limit=1.0e4,
    shift=12582912.0,
    half_pi=(1.5707963705062866, -4.3711388286737929e-08, -1.7151245100058990e-15),
    sine=(-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4),
    cosine=(4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5),
)
