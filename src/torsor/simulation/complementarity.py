"""Motion under forces that hold only so much: Gauss's principle with friction and stops, by principal pivoting."""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array

ROUNDING = 64 * float(np.finfo(float).eps)


def motion_under_holding_forces(
    M: Array, f: Array, least: Array, most: Array, size: Array | float = 0.0
) -> tuple[Array, Array]:
    """x and its directions s (±1, or 0 where held) with M x = f + λ, least ≤ λ ≤ most, and each λ_i at a bound where x_i ≠ 0.

    λ_i is at its lower bound where x_i > 0, and at its upper one where x_i < 0: Coulomb friction has the bounds ±c, a lower stop
    0 and ∞. This is Gauss's principle: x is the only minimum of ½ xᵀ M x − fᵀ x + Σ max(−least_i x_i, −most_i x_i), and exists
    since M is positive definite. Joints whose bounds are both 0 are free.

    Guesses of who is held are exchanged for those the signs ask for, all at once; when that goes round in circles, one at a time
    from the last, which ends for every positive definite M [Mur74].

    Parameters
    ----------
    M : (n, n) array
        Mass matrix.
    f : (n,) array
        Forces, or momenta.
    least, most : (n,) array
        What holds; ``least`` ≤ ``most``, which may be infinite.
    size : (n,) array, optional
        How large the numbers are whose sum is f, if they are larger: joints are held up to the rounding of these.

    Returns
    -------
    x, s : (n,) array
        Accelerations or velocities, and their directions.
    """
    n = len(f)
    free = (least == 0.0) & (most == 0.0)
    s = np.zeros(n)  # 0: held
    fewest, patience = n + 1, 10
    for _ in range(1000 + 50 * n):
        moving = free | (s != 0.0)
        push = f + np.where(s > 0.0, least, np.where(s < 0.0, most, 0.0))
        x = np.zeros(n)
        if np.any(moving):
            x[moving] = np.linalg.solve(M[np.ix_(moving, moving)], push[moving])
        force = M @ x - f
        scale = ROUNDING * (np.abs(M) @ np.abs(x) + np.abs(f) + size)
        wrong = np.where(s != 0.0, s * x < 0.0, 0.0 * x != 0.0)
        ups, downs = (s == 0.0) & ~free & (force < least - scale), (s == 0.0) & ~free & (force > most + scale)
        wrong = (wrong & ~free) | ups | downs
        if not np.any(wrong):
            return x, np.where(free, np.sign(x), s)
        count = int(np.sum(wrong))
        fewest, patience = (count, 10) if count < fewest else (fewest, patience - 1)
        exchanged = wrong if patience > 0 else np.arange(n) == np.flatnonzero(wrong)[-1]
        s = np.where(exchanged, np.where(s != 0.0, 0.0, np.where(ups, 1.0, -1.0)), s)
    return x, np.where(free, np.sign(x), s)
