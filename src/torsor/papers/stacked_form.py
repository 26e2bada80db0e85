"""Matrices with one block row per link: put together from blocks, taken apart, and drawn [PBP95, (41)–(50); LP, (9.62)–(9.71)].

Block row i, rows 6i … 6i + 5, belongs to link i (links count from 0 here, from 1 in the papers). For a tree, "link j comes
before link i" of the papers' chains reads "link j supports link i": it lies on the way from the base to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from torsor.arrays import block, concat, matmul, stack_matrices, stack_vectors, transpose, zeros
from torsor.arrays.typing import Array, Matrix6, Pose, Twist
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.mechanics.recursions.joint_motion import gather_columns
from torsor.model import Robot, Structure

Stack = Annotated[Array, "... 6n"]  # one twist or wrench per link, each in its link's frame
StackedSquare = Annotated[Array, "... 6n 6n"]
StackedColumns = Annotated[Array, "... 6n nv"]
StackedBase = Annotated[Array, "... 6n 6"]
Pair = tuple[int, int]  # link i, and a link j that supports it (−1: the base)


def relative_poses(robot: Robot, T_pi: Sequence[Pose]) -> dict[Pair, Pose]:
    """T_ij of every link i and every link j ≠ i that supports it, the base (j = −1) only for the links mounted on it."""
    T: dict[Pair, Pose] = {}
    for i, p in enumerate(robot.structure.parents):
        T[i, p] = se3.inverse(T_pi[i])
        for j in robot.structure.path_from_base(p)[:-1]:
            T[i, j] = matmul(T[i, p], T[p, j])
    return T


def adjoints(T: Mapping[Pair, Pose]) -> dict[Pair, Matrix6]:
    """Ad(T_ij) of every pair, all in one operation."""
    if not T:
        return {}
    stacked = lie.Ad(stack_matrices(list(T.values())))
    return {pair: stacked[..., k, :, :] for k, pair in enumerate(T)}


def square(blocks: Mapping[Pair, Matrix6], n: int) -> Array:
    """A matrix (..., 6n, 6n) from its blocks, zero where there is none."""
    return block([[blocks.get((i, j), zeros(6, 6)) for j in range(n)] for i in range(n)])


def diagonal(blocks: Array) -> Array:
    """Diag[B_1, …, B_n] (..., 6n, 6n) from blocks (..., n, 6, 6)."""
    n = blocks.shape[-3]
    return square({(i, i): blocks[..., i, :, :] for i in range(n)}, n)


def screw_columns(robot: Robot, screws: Sequence[Twist]) -> Array:
    """Screws (k, 6) of each joint as Diag[S_1, …, S_n] (6n, nv); joints that share a coordinate share its columns."""
    return concat([gather_columns(robot, {i: transpose(S)}, 6) for i, S in enumerate(screws)], axis=-2)


def base_column(blocks: Mapping[Pair, Matrix6], n: int) -> Array:
    """The blocks (i, −1) as a matrix (..., 6n, 6), zero for links that are not mounted on the base."""
    return concat([blocks.get((i, -1), zeros(6, 6)) for i in range(n)], axis=-2)


def brackets(V: Array) -> Array:
    """Diag[ad(V_1), …, ad(V_n)] (..., 6n, 6n) of stacked twists (..., 6n)."""
    return diagonal(lie.ad(stack_vectors([V[..., k : k + 6] for k in range(0, V.shape[-1], 6)])))


# Which blocks there are

MATRICES = (  # of a closed form, with their letters; those with the same blocks together
    {
        "link_screws": "S, PBP95 (47); A, LP (9.64); columns by coordinate; constant",
        "space_screws": "A, PBP95 (41); columns by coordinate; constant",
    },
    {
        "link_inertia": "J, PBP95 (48); G, LP (9.65); constant",
        "space_inertia": "D, PBP95 (45); constant",
        "home_adjoints": "Q, PBP95 (50); constant",
    },
    {
        "link_propagation": "G, PBP95 (49); L, LP (9.76); depends on q",
        "space_propagation": "L, PBP95 (43); depends on q",
    },
    {"parent_propagation": "Γ, LP (9.68); depends on q"},
    {"base_propagation": "B with V_base = B V_0, LP (9.69); depends on q"},
)


def supporting_pairs(structure: Structure) -> list[Pair]:
    """(i, j) for every link j ≠ i that supports link i: where L is neither zero nor the identity."""
    return [(i, j) for i in range(structure.n) for j in structure.path_from_base(i)[:-1]]


def parent_pairs(structure: Structure) -> list[Pair]:
    """(i, parent of i) for every link that is not mounted on the base: where Γ is not zero."""
    return [(i, p) for i, p in enumerate(structure.parents) if p >= 0]


def drawing(structure: Structure, shapes: Mapping[str, tuple[int, ...]]) -> list[str]:
    """Lines of text that show the blocks of `MATRICES`, given their shapes."""
    n, links = structure.n, range(structure.n)
    diagonal_pairs = [(i, i) for i in links]
    pictures = [
        _picture([(i, structure.couplings[i].coordinate) for i in links], [], n, len(structure.coordinates)),
        _picture(diagonal_pairs, [], n, n),
        _picture(supporting_pairs(structure), diagonal_pairs, n, n),
        _picture(parent_pairs(structure), [], n, n),
        _picture([(i, 0) for i, p in enumerate(structure.parents) if p < 0], [], n, 1),
    ]
    width = max(map(len, structure.links))
    lines = ["M = SᵀGᵀJGS = AᵀLᵀDLA (PBP95) = AᵀLᵀGLA (LP), plus diag(armature).   ■ full   1 identity   · zero"]
    for group, picture in zip(MATRICES, pictures, strict=True):
        heads = [f"{name:<18}  {shapes[name]!s:<14}  {letters}" for name, letters in group.items()]
        lines += [
            "",
            *heads,
            *(f"    {link:<{width}}  {row}" for link, row in zip(structure.links, picture, strict=True)),
        ]
    return lines


def _picture(full: Sequence[Pair], ones: Sequence[Pair], rows: int, columns: int) -> list[str]:
    marks = dict.fromkeys(full, "■") | dict.fromkeys(ones, "1")
    return [" ".join(marks.get((i, j), "·") for j in range(columns)) for i in range(rows)]
