"""Brackets of screws as the papers write them: Christoffel symbols, and the operator Ad_j^i with its derivatives.

Of Christoffel symbols this is the slow road, link by link, to check by. Ad_pi A_i is the twist of joint i per unit velocity,
seen from link p; ⟨·,·⟩_p the inertia of link p alone. [PBP95, (55)–(57)] are the same three brackets sorted by the order of
i, j, k.
"""

from __future__ import annotations

from operator import index

from torsor.arrays import constant, identity, matmul, matvec, permute, stack_vectors, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector, Coordinates, JointTensor3, Matrix6, Screws, Twist
from torsor.border import checked
from torsor.border.rigid_motions import one_for_each
from torsor.errors import ArgumentError
from torsor.geometry.christoffel import twisted
from torsor.geometry.freedoms import structure_constants
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.mechanics.recursions.joint_motion import joint_poses, joint_screws
from torsor.model import Robot


def christoffel_symbols_by_brackets(robot: Robot, q: ConfigurationVector) -> JointTensor3:
    """Christoffel symbols Γ[i, j, k] = Σ_p γ^p_ijk of M over links p, in O(n d³) [BSP93, §4, E000-9; PBP95, (55)–(57)].

    Over the links p beyond joints i, j and k. With n the inner and m the outer of i and j (i and j themselves within one joint),
    and all twists seen from link p::

        γ^p_ijk = ½ (⟨[A_k, A_j], A_i⟩_p + ⟨[A_k, A_i], A_j⟩_p + ⟨[A_n, A_m], A_k⟩_p)

    The same numbers as `torsor.geometry.christoffel_symbols`, by another road.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., nv, nv, nv) array
        In kg·m², kg·m or kg.
    """
    total = zeros(*(robot.nv,) * 3)
    for gamma in brackets_of_links(robot, q):
        total = total + gamma
    s = structure_constants(robot.structure)
    return total if s is None else total + 0.5 * twisted(s * robot.parameters.armature)


def brackets_of_links(robot: Robot, q: ConfigurationVector) -> list[Array]:
    """γ^p_ijk (..., nv, nv, nv) of each link p."""
    poses, found = joint_poses(robot, q), list[Array]()
    for p, G_p in enumerate(robot.parameters.inertias):
        A: list[Array] = []
        columns: list[int] = []
        depths: list[int] = []
        for depth, i in enumerate(robot.structure.path_from_base(p)):
            own, v = joint_screws(robot, i), robot.structure.coordinate_of(i).v
            A = [lie.transform_twist_inverse(poses[i], twist) for twist in A] + [own[k] for k in range(own.shape[0])]
            columns += range(v.start, v.stop)
            depths += [depth] * own.shape[0]
        found.append(_onto(_of_link(stack_vectors(A), G_p, depths), identity(robot.nv)[columns]))
    return found


def _of_link(A: Array, G: Array, depths: list[int]) -> Array:
    """γ_ijk (..., m, m, m) of one link, from the twists A (..., m, 6) of its joints, base first, and its inertia."""
    brackets = lie.bracket(A[..., :, None, :], A[..., None, :, :])
    T = matmul(brackets, transpose(lie.apply_inertia(G, A))[..., None, :, :])  # T_abc = ⟨[A_a, A_b], A_c⟩
    inner = constant([[float(i <= j) for j in depths] for i in depths])[:, :, None]
    ordered = inner * T + (1.0 - inner) * permute(T, (1, 0, 2))  # ⟨[A_n, A_m], A_k⟩
    return 0.5 * (permute(T, (2, 1, 0)) + permute(T, (1, 2, 0)) + ordered)


def _onto(gamma: Array, E: Array) -> Array:
    """Entries of a link's joints where their coordinates are: Σ γ_abc E_ai E_bj E_ck."""
    for _ in range(3):  # contract the last axis and bring it to the front
        gamma = permute(matmul(gamma, E), (2, 0, 1))
    return gamma


# The operator Ad_j^i of a product of exponentials, and its derivatives; indices from 1, as in the paper [PBP95, §4].
#
# ``screws`` (n, 6) are the A_i of the space form, in the base frame at q = 0; ``q`` (..., n), rad or m.


@checked
def adjoint_between(screws: Screws, q: Coordinates, i: int, j: int) -> Matrix6:
    """Matrix of Ad_j^i = Ad(e^{−A_j q_j} ⋯ e^{−A_i q_i}) for i ≤ j, the identity for i > j [PBP95, (37), (42)].

    Parameters
    ----------
    screws : (n, 6) array
        The A_i of the space form, in the base frame at q = 0, rad, m.
    q : (..., n) array
        Coordinates, rad or m.
    i : int
        First index, from 1 to n + 1.
    j : int
        Last index, from 0 to n.

    Returns
    -------
    (..., 6, 6) array
        Adjoint matrix, m.
    """
    _check(screws, q, i, j)
    T = identity(4)
    for k in range(i, j + 1):
        T = matmul(se3.exp(-screws[k - 1] * q[..., k - 1, None]), T)
    return lie.Ad(T)


@checked
def adjoint_between_derivative(screws: Screws, q: Coordinates, i: int, j: int, k: int, B: Twist) -> Twist:
    """Derivative ∂/∂q_k Ad_j^i(B) = Ad_j^k([Ad_{k−1}^i(B), A_k]) for i ≤ k ≤ j, else 0 [PBP95, (53)].

    Parameters
    ----------
    screws : (n, 6) array
        The A_i of the space form, in the base frame at q = 0, rad, m.
    q : (..., n) array
        Coordinates, rad or m.
    i : int
        First index, from 1 to n + 1.
    j : int
        Last index, from 0 to n.
    k : int
        Coordinate, from 1 to n.
    B : (..., 6) array
        The twist that is carried, rad, m.

    Returns
    -------
    (..., 6) array
        Derivative, rad, m per unit of q_k.
    """
    _check(screws, q, i, j, k=k)
    if not i <= k <= j:
        return zeros(6)
    inner = matvec(adjoint_between(screws, q, i, k - 1), B)
    return matvec(adjoint_between(screws, q, k, j), lie.bracket(inner, screws[k - 1]))


@checked
def adjoint_between_second_derivative(
    screws: Screws, q: Coordinates, i: int, j: int, k: int, l: int, B: Twist
) -> Twist:
    """Derivative ∂²/∂q_l ∂q_k Ad_j^i(B): nested brackets, the smaller of k, l inside, else 0 [PBP95, (54), E001-7].

    Parameters
    ----------
    screws : (n, 6) array
        The A_i of the space form, in the base frame at q = 0, rad, m.
    q : (..., n) array
        Coordinates, rad or m.
    i : int
        First index, from 1 to n + 1.
    j : int
        Last index, from 0 to n.
    k : int
        Coordinate, from 1 to n.
    l : int
        Other coordinate, from 1 to n.
    B : (..., 6) array
        The twist that is carried, rad, m.

    Returns
    -------
    (..., 6) array
        Second derivative, rad, m per unit of q_k and q_l.
    """
    _check(screws, q, i, j, k=k, l=l)
    first, last = min(k, l), max(k, l)
    if not i <= first <= last <= j:
        return zeros(6)
    once = lie.bracket(matvec(adjoint_between(screws, q, i, first - 1), B), screws[first - 1])
    twice = lie.bracket(matvec(adjoint_between(screws, q, first, last - 1), once), screws[last - 1])
    return matvec(adjoint_between(screws, q, last, j), twice)


def _check(screws: Screws, q: Coordinates, i: int, j: int, **joints: int) -> None:
    """Refuse coordinates that belong to no screw, and indices that name no exponential: Python would count from the end."""
    one_for_each(screws, q=q)
    n = screws.shape[0]
    ranges = {"i": (i, 1, n + 1), "j": (j, 0, n), **{name: (k, 1, n) for name, k in joints.items()}}
    for name, (value, least, most) in ranges.items():
        try:
            inside = least <= index(value) <= most
        except TypeError:
            inside = False
        if not inside:
            raise ArgumentError(
                f"`{name}` must be a whole number from {least} to {most} for {n} screws, which count from 1 as in the "
                f"paper; got {value!r}."
            )
