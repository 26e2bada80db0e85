"""Chapter 9 of the book: time scalings, and paths from rest to rest in joint space and in SE(3).

Same names, arguments and results as the book's library; first and last point are met exactly. ``Tf`` s is the duration,
``N`` ≥ 2 the number of points, ``method`` 3 (cubic) or 5 (quintic); anything else is refused (the book's library takes every
other method for 5).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.arrays.typing import Array, Pose
from torsor.border import explained
from torsor.errors import ModelError
from torsor.lie.unchecked import se3, so3
from torsor.modern_robotics.book_arguments import as_floats, numbers, pose, positive, whole

_ROUNDING = 1e-9  # by this part of Tf may a time computed as k · dt lie outside 0 … Tf


@explained
def CubicTimeScaling(Tf: float, t: float) -> float:
    """s(t) = 3 (t/T)² − 2 (t/T)³ for 0 ≤ t ≤ T = ``Tf``, s: at rest at both ends [LP, published §9.2.2].

    A time outside is refused: the polynomial does not stay at 1 there.
    """
    return _cubic(_fraction(Tf, t))


@explained
def QuinticTimeScaling(Tf: float, t: float) -> float:
    """s(t) = 10 (t/T)³ − 15 (t/T)⁴ + 6 (t/T)⁵ for 0 ≤ t ≤ T = ``Tf``, s: no acceleration at the ends [LP, published §9.2.2].

    A time outside is refused: the polynomial does not stay at 1 there.
    """
    return _quintic(_fraction(Tf, t))


@explained
def JointTrajectory(thetastart: Array, thetaend: Array, Tf: float, N: int, method: int) -> Array:
    """A straight line in joint space (N, n), rad or m: θ(s) = θ_start + s (θ_end − θ_start) [LP, published §9.2.1].

    ``thetastart``, ``thetaend`` (n,); row k is at the time k Tf/(N − 1), s.
    """
    start = as_floats("thetastart", thetastart, "one number per joint")
    end = numbers("thetaend", thetaend, start.shape, "one number per joint, as many as `thetastart`")
    return np.array([(1.0 - s) * start + s * end for s in _scaled(Tf, N, method)])


@explained
def ScrewTrajectory(Xstart: Pose, Xend: Pose, Tf: float, N: int, method: int) -> list[Pose]:
    """Constant screw motion X(s) = X_start exp(log(X_start⁻¹ X_end) s) [LP, published §9.2.1].

    ``Xstart``, ``Xend`` (4, 4), m. Returns a list of N poses (4, 4); pose k is at the time k Tf/(N − 1), s.
    """
    start, end = pose("Xstart", Xstart), pose("Xend", Xend)
    S = se3.log(se3.inverse(start) @ end)
    inner = [start @ se3.exp(S * s) for s in _scaled(Tf, N, method)[1:-1]]
    return [start.copy(), *inner, end.copy()]


@explained
def CartesianTrajectory(Xstart: Pose, Xend: Pose, Tf: float, N: int, method: int) -> list[Pose]:
    """The origin on a straight line, the rotation by itself: R(s) = R_start exp(log(R_startᵀ R_end) s) [LP, published §9.2.1].

    ``Xstart``, ``Xend`` (4, 4), m. Returns a list of N poses (4, 4); pose k is at the time k Tf/(N − 1), s.
    """
    start, end = pose("Xstart", Xstart), pose("Xend", Xend)
    w = so3.log(start[:3, :3].T @ end[:3, :3])
    inner = [
        se3.pose(start[:3, :3] @ so3.exp(w * s), (1.0 - s) * start[:3, 3] + s * end[:3, 3])
        for s in _scaled(Tf, N, method)[1:-1]
    ]
    return [start.copy(), *inner, end.copy()]


def _cubic(x: float) -> float:
    return x * x * (3.0 - 2.0 * x)


def _quintic(x: float) -> float:
    return x * x * x * (10.0 - x * (15.0 - 6.0 * x))


def _fraction(Tf: Any, t: Any) -> float:
    duration = positive("Tf", Tf, "the duration, s")
    x = float(numbers("t", t, (), "a time, s")) / duration
    if not -_ROUNDING <= x <= 1.0 + _ROUNDING:
        raise ModelError(f"`t` must lie between 0 and Tf = {duration:g} s; got {x * duration:g} s.")
    return min(max(x, 0.0), 1.0)


def _scaled(Tf: Any, N: Any, method: Any) -> list[float]:
    """s at the N times."""
    positive("Tf", Tf, "the duration, s")
    N = whole("N", N, 2, "the number of points")
    if method not in (3, 5):
        raise ModelError(f"`method` must be 3 (cubic) or 5 (quintic); got {method!r}.")
    scaling = _cubic if method == 3 else _quintic
    return [scaling(k / (N - 1)) for k in range(N)]
