"""Derivatives by the configuration of the joint forces of gravity and of external wrenches, in O(n d) for a tree of depth d.

F_i is the sum of all external wrenches beyond joint i, J = (ω, v) are screws; all in the same axes, and joint j carries
joint i::

    body     ∂τ_j/∂q_i = −J_jᵀ ad(J_i)ᵀ F_i,     ∂τ_i/∂q_j = 0  (j = i too)
    mixed    ∂τ_j/∂q_i = ω_j · y_i,              ∂τ_i/∂q_j = ω_j · (y_i + ω_i × m_i)  (j = i too)

A wrench that is constant in its frame rides with joint j, and nothing changes between them [SRW22, (25)]. A wrench (m, f) that is
constant in base axes at the point p is carried along without turning: y_i = Σ (∂_i p) × f with ∂_i p = v_i + ω_i × p, m_i = Σ m.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import cross, matmul, outer, transpose
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix, Matrix3, Pose, Twist, Vector3
from torsor.lie import unchecked as lie
from torsor.lie.unchecked.se3 import rotation, translation
from torsor.mechanics.kinematics.poses import pose_on_link
from torsor.mechanics.recursions.first_moments import first_moments
from torsor.mechanics.recursions.joint_motion import gather_matrix, joint_poses, joint_screws
from torsor.mechanics.recursions.newton_euler import Wrenches, wrenches_on_links
from torsor.mechanics.recursions.supporting_chain import rows
from torsor.mechanics.recursions.velocity_tree import poses_in_root, turned_to_root
from torsor.model import Robot


def gravity_forces_derivative(robot: Robot, q: ConfigurationVector) -> JointMatrix:
    """∂g/∂q of gravity_forces, the Hessian of gravity's energy, along the tangent coordinates v (body side) [LP, (9.84); SRW22].

    g_i = −p_i · γ, with γ the acceleration of gravity and p_i the momentum that a unit of v_i gives to all links beyond joint i.
    Where joint j carries joint i or is it, ∂_j p_i = ω_j × p_i, and ∂_i p_j is the same (`first_moments`)::

        ∂g_i/∂q_j = ∂g_j/∂q_i = p_i · (ω_j × γ)

    Symmetric but for the blocks of spherical, planar and free joints, whose tangent coordinates do not commute.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., nv, nv) array
        N·m or N per rad or m.
    """
    poses = joint_poses(robot, q)
    gravity = turned_to_root(robot, poses, robot.parameters.gravity)
    w, p = first_moments(robot, poses, [rotation(T_ri) for T_ri in poses_in_root(robot, poses)])
    pulled = [cross(w_j, gravity[j][..., None, :]) for j, w_j in enumerate(w)]
    blocks: dict[tuple[int, int], Array] = {}
    for i in range(robot.n):
        for j in robot.structure.path_to_base(i):
            blocks[i, j] = matmul(p[i], transpose(pulled[j]))
            if j != i:
                blocks[j, i] = transpose(blocks[i, j])
    return gather_matrix(robot, blocks)


def body_wrench_forces_derivative(robot: Robot, q: ConfigurationVector, wrenches: Wrenches) -> JointMatrix:
    """∂τ/∂q of τ = Σ J_bᵀ F, wrenches held constant in the axes of their frames [SRW22, (25); PBP95, §5].

    ∂/∂q is along the tangent coordinates v (body side).

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    wrenches : mapping
        Frame name → (..., 6) wrench of the environment on the robot, N·m and N, in the axes of that frame.

    Returns
    -------
    (..., nv, nv) array
        N·m or N per rad or m.
    """
    T_pi, F = joint_poses(robot, q), wrenches_on_links(robot, wrenches)
    blocks: dict[tuple[int, int], Array] = {}
    for i in range(robot.n - 1, -1, -1):
        if i not in F:
            continue
        turned = -lie.bracket_dual(joint_screws(robot, i), F[i][..., None, :])
        k, j = i, robot.structure.parents[i]
        if j >= 0:
            carried = lie.transform_wrench_inverse(T_pi[i], F[i])
            F[j] = F[j] + carried if j in F else carried
        while j >= 0:
            turned = lie.transform_wrench_inverse(rows(T_pi[k]), turned)
            blocks[j, i] = matmul(joint_screws(robot, j), transpose(turned))
            k, j = j, robot.structure.parents[j]
    return gather_matrix(robot, blocks)


def mixed_wrench_forces_derivative(robot: Robot, q: ConfigurationVector, wrenches: Wrenches) -> JointMatrix:
    """∂τ/∂q of τ = Σ J_mᵀ F, wrenches held constant in base axes about the origins of their frames [SRW22, (25); Sil81, (A.3)].

    Symmetric for pure forces on joints with one degree of freedom: it is then minus the stiffness of their potential. ∂/∂q is
    along the tangent coordinates v (body side).

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    wrenches : mapping
        Frame name → (..., 6) wrench on the robot, N·m and N, in base axes about the origin of that frame.

    Returns
    -------
    (..., nv, nv) array
        N·m or N per rad or m.
    """
    T_pi = joint_poses(robot, q)
    T_ri = poses_in_root(robot, T_pi)
    J = [lie.transform_twist(rows(T), joint_screws(robot, i)) for i, T in enumerate(T_ri)]
    loads = _loads(robot, T_pi, T_ri, wrenches)
    blocks: dict[tuple[int, int], Array] = {}
    for i in range(robot.n - 1, -1, -1):
        if i not in loads:
            continue
        y = loads[i].carried(J[i])
        both = y + cross(J[i][..., :3], loads[i].m[..., None, :])
        for j in robot.structure.path_to_base(i):
            blocks[i, j] = matmul(both, transpose(J[j][..., :3]))
            if j != i:
                blocks[j, i] = matmul(J[j][..., :3], transpose(y))
        if (j := robot.structure.parents[i]) >= 0:
            loads[j] = loads[j].plus(loads[i]) if j in loads else loads[i]
    return gather_matrix(robot, blocks)


class _Load(NamedTuple):
    """Of wrenches (m, f) at points p: sums of m (..., 3), f (..., 3) and f pᵀ (..., 3, 3); loads add."""

    m: Vector3
    f: Vector3
    N: Matrix3

    def plus(self, other: _Load) -> _Load:
        """Both sets of wrenches together."""
        return _Load(self.m + other.m, self.f + other.f, self.N + other.N)

    def carried(self, J: Twist) -> Array:
        """Σ (v + ω × p) × f = v × f + Nᵀ ω − tr(N) ω, for rows (..., k, 6)."""
        w, N = J[..., :3], self.N
        trace = (N[..., 0, 0] + N[..., 1, 1] + N[..., 2, 2])[..., None, None]
        return cross(J[..., 3:], self.f[..., None, :]) + matmul(w, N) - trace * w


def _loads(robot: Robot, T_pi: list[Pose], T_ri: list[Pose], wrenches: Wrenches) -> dict[int, _Load]:
    """The wrenches on each link, in the axes of its root; links without any are absent, the base is ignored."""
    loads: dict[int, _Load] = {}
    for name, F in wrenches.items():
        if (link := robot.structure.frame(name).link) < 0:
            continue
        T_rf = matmul(T_ri[link], pose_on_link(robot, name))
        m, f = (turned_to_root(robot, T_pi, x)[link] for x in (F[..., :3], F[..., 3:]))
        load = _Load(m, f, outer(f, translation(T_rf)))
        loads[link] = loads[link].plus(load) if link in loads else load
    return loads
