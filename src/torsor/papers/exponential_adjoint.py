"""The operator Ad_j^i of a product of exponentials, and its derivatives; indices from 1, as in the paper [PBP95, §4].

``screws`` (n, 6) are the A_i of the space form, in the base frame at q = 0; ``q`` (..., n), rad or m.
"""

from __future__ import annotations

from operator import index

from torsor.arrays import identity, matmul, matvec, zeros
from torsor.arrays.typing import Coordinates, Matrix6, Screws, Twist
from torsor.border import checked
from torsor.border.rigid_motions import one_for_each
from torsor.errors import ArgumentError
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3


@checked
def adjoint_between(screws: Screws, q: Coordinates, i: int, j: int) -> Matrix6:
    """Ad_j^i = Ad(e^{−A_j q_j} ⋯ e^{−A_i q_i}) for i ≤ j, the identity for i > j [PBP95, (37), (42)].

    1 ≤ i ≤ n + 1, 0 ≤ j ≤ n. ``screws`` (n, 6), ``q`` (..., n), rad or m; returns (..., 6, 6).
    """
    _check("adjoint_between", screws, q, i, j)
    T = identity(4)
    for k in range(i, j + 1):
        T = matmul(se3.exp(-screws[k - 1] * q[..., k - 1, None]), T)
    return lie.Ad(T)


@checked
def adjoint_between_derivative(screws: Screws, q: Coordinates, i: int, j: int, k: int, B: Twist) -> Twist:
    """∂/∂q_k Ad_j^i(B) = Ad_j^k([Ad_{k−1}^i(B), A_k]) for i ≤ k ≤ j, else 0 [PBP95, (53)].

    ``B`` (..., 6), rad, m; returns (..., 6).
    """
    _check("adjoint_between_derivative", screws, q, i, j, k=k)
    if not i <= k <= j:
        return zeros(6)
    inner = matvec(adjoint_between(screws, q, i, k - 1), B)
    return matvec(adjoint_between(screws, q, k, j), lie.bracket(inner, screws[k - 1]))


@checked
def adjoint_between_second_derivative(
    screws: Screws, q: Coordinates, i: int, j: int, k: int, l: int, B: Twist
) -> Twist:
    """∂²/∂q_l ∂q_k Ad_j^i(B), nested brackets with the smaller of k, l inside, else 0 [PBP95, (54), E001-7].

    ``B`` (..., 6), rad, m; returns (..., 6).
    """
    _check("adjoint_between_second_derivative", screws, q, i, j, k=k, l=l)
    first, last = min(k, l), max(k, l)
    if not i <= first <= last <= j:
        return zeros(6)
    once = lie.bracket(matvec(adjoint_between(screws, q, i, first - 1), B), screws[first - 1])
    twice = lie.bracket(matvec(adjoint_between(screws, q, first, last - 1), once), screws[last - 1])
    return matvec(adjoint_between(screws, q, last, j), twice)


def _check(who: str, screws: Screws, q: Coordinates, i: int, j: int, **joints: int) -> None:
    """Refuse coordinates that belong to no screw, and indices that name no exponential: Python would count from the end."""
    one_for_each(who, screws, q=q)
    n = screws.shape[0]
    ranges = {"i": (i, 1, n + 1), "j": (j, 0, n), **{name: (k, 1, n) for name, k in joints.items()}}
    for name, (value, least, most) in ranges.items():
        try:
            inside = least <= index(value) <= most
        except TypeError:
            inside = False
        if not inside:
            raise ArgumentError(
                f"{who}: `{name}` must be a whole number from {least} to {most} for {n} screws, which count from 1 as in the "
                f"paper; got {value!r}."
            )
