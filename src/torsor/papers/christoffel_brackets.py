"""Christoffel symbols as the papers write them: brackets of the joints' twists, link by link. The slow road, to check by.

Ad_pi A_i is the twist of joint i per unit velocity, seen from link p; ⟨·,·⟩_p the inertia of link p alone. [PBP95, (55)–(57)]
are the same three brackets sorted by the order of i, j, k.
"""

from __future__ import annotations

from torsor.arrays import constant, identity, matmul, permute, stack_vectors, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointTensor3
from torsor.geometry.christoffel import twisted
from torsor.geometry.freedoms import structure_constants
from torsor.lie import unchecked as lie
from torsor.mechanics.recursions.joint_motion import joint_poses, joint_screws
from torsor.model import Robot


def christoffel_symbols_by_brackets(robot: Robot, q: ConfigurationVector) -> JointTensor3:
    """Γ[i, j, k] = Σ_p γ^p_ijk over the links p beyond joints i, j and k, in O(n d³) [BSP93, §4, E000-9; PBP95, (55)–(57)].

    With n the inner and m the outer of i and j (i and j themselves within one joint), and all twists seen from link p::

        γ^p_ijk = ½ (⟨[A_k, A_j], A_i⟩_p + ⟨[A_k, A_i], A_j⟩_p + ⟨[A_n, A_m], A_k⟩_p)

    The same numbers as `christoffel_symbols`, by another road.
    ``q`` (..., nq), rad or m. Returns (..., nv, nv, nv), kg·m², kg·m or kg.
    """
    poses = joint_poses(robot, q)
    total = zeros(*(robot.nv,) * 3)
    for p, G_p in enumerate(robot.parameters.inertias):
        A: list[Array] = []
        columns: list[int] = []
        depths: list[int] = []
        for depth, i in enumerate(robot.structure.path_from_base(p)):
            own, v = joint_screws(robot, i), robot.structure.coordinate_of(i).v
            A = [lie.transform_twist_inverse(poses[i], twist) for twist in A] + [own[k] for k in range(own.shape[0])]
            columns += range(v.start, v.stop)
            depths += [depth] * own.shape[0]
        total = total + _onto(_of_link(stack_vectors(A), G_p, depths), identity(robot.nv)[columns])
    s = structure_constants(robot.structure)
    return total if s is None else total + 0.5 * twisted(s * robot.parameters.armature)


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
