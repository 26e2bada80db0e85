"""How many operations the tensors of a robot take when written out entry by entry, estimated from its structure alone."""

from __future__ import annotations

from collections.abc import Callable

from torsor.geometry.freedoms import count_of_ways, freedoms_of
from torsor.model import Robot

PRODUCTS = {3: 25, 4: 40}  # operations for each way outwards, by the rank of the tensor


def for_rank(rank: int) -> Callable[[Robot], int]:
    """Derivatives of the mass matrix with ``rank`` indices: a few products of six numbers for each way outwards, storing the
    result, and where joints share coordinates the sums over whole tensors.
    """

    def operations(robot: Robot) -> int:
        sums = freedoms_of(robot.structure).size ** rank if robot.structure.has_couplings else 0
        return int(PRODUCTS[rank] * count_of_ways(robot.structure, rank) + robot.nv**rank // 8 + sums)

    return operations


def for_brackets(robot: Robot) -> int:
    """Christoffel symbols by brackets: for each link, a product of six numbers for each triple of joints that carry it."""
    return 60 * count_of_ways(robot.structure, 4)


def for_second_kind(robot: Robot) -> int:
    """Christoffel symbols, and the product of each pair's with the inverse of M."""
    return for_rank(3)(robot) + robot.nv**4 // 2


def for_curvature(robot: Robot) -> int:
    """The curvature tensor: second derivatives, and for each of about n⁴/8 entries two products of n numbers."""
    n = robot.nv
    return for_rank(4)(robot) + n**4 // 8 * (2 * n + 8)


def for_curvature_norm(robot: Robot) -> int:
    """The norm of curvature: beside the tensor, a product of matrices over n²/2 planes."""
    return for_curvature(robot) + (robot.nv * (robot.nv - 1) // 2) ** 3


def for_forward_derivatives(robot: Robot) -> int:
    """Derivatives of forward dynamics: for each pair of freedoms on one way outwards those of inverse dynamics, and their
    products with M⁻¹, which has no zeros between freedoms with a common root.
    """
    reaches = freedoms_of(robot.structure).reaches.astype(float)
    together = (reaches.T @ reaches > 0).sum(axis=1)  # of each freedom, how many share its root
    return int(80 * reaches.sum() + 8 * (reaches @ together).sum())


def for_inverse_second_derivatives(robot: Robot) -> int:
    """Second derivatives of inverse dynamics: nine products for each triple of freedoms on one way, rows for each pair."""
    return 90 * count_of_ways(robot.structure, 3) + 400 * count_of_ways(robot.structure, 2)


def for_forward_second_derivatives(robot: Robot) -> int:
    """Second derivatives of forward dynamics: those of inverse dynamics, and six products of a matrix with a tensor."""
    return for_inverse_second_derivatives(robot) + for_forward_derivatives(robot) + 12 * robot.nv**4
