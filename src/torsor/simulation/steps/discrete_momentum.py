"""Discrete momenta of a motion from q to q ⊕ u in a time h: what the variational step conserves.

Link i moves by ΔT_i = e^{[ξ_i]}, as if with the constant twist V_i = ξ_i / h. The action of that, Σ h/2 V_iᵀ G_i V_i, has two
derivatives, the momenta at the start and at the end of the step, by the discrete Legendre transforms [MW01]. Of one
link, as wrenches in its frame at the start and at the end, with the left and right Jacobians of ξ_i::

    μ_i = J_l(ξ_i)⁻ᵀ G_i V_i,     μ'_i = J_r(ξ_i)⁻ᵀ G_i V_i = Ad(ΔT_i)ᵀ μ_i

and of the robot, by the discrete Newton–Euler recursion [LLPS16]: root to leaves ΔT_i = T_pi⁻¹ ΔT_p T_pi e^{[S_i u_i]}, leaves to
root the sums of wrenches, p_i = S_iᵀ (μ_i + Σ_c Ad(T_ci)ᵀ …), with the poses at the start and those at the end.
Motors add armature · u/h at both ends, for their rotors turn with the joint's velocity as with a number (`inverse_dynamics`).
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import concat, matmul, matvec, transpose
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, Pose, Twist, Wrench
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.mechanics.recursions.joint_motion import gather_vector, joint_poses, joint_twist, project_on_joint
from torsor.mechanics.recursions.newton_euler import accumulate
from torsor.model import Robot


class Displacement(NamedTuple):
    """Of each link: its pose in its parent at the end, its displacement ΔT and its screw ξ, and the momentum μ at the start."""

    ends: list[Pose]
    moves: list[Pose]
    screws: list[Twist]
    momenta: list[Wrench]


def displacement(robot: Robot, starts: list[Pose], u: JointVector, h: Array) -> Displacement:
    """The motion u (..., nv) of all links in a time h (...), from the poses ``starts`` in their parents."""
    ends: list[Pose] = []
    moves: list[Pose] = []
    screws: list[Twist] = []
    momenta: list[Wrench] = []
    for i, p in enumerate(robot.structure.parents):
        own, kind = joint_twist(robot, i, u), robot.structure.kind_of(i)
        if kind.has_screw:
            E = kind.motion(
                robot.parameters.screws[i],
                robot.structure.couplings[i].ratio * u[..., robot.structure.coordinate_of(i).v],
            )
        else:
            E = se3.exp(own)
        ends.append(matmul(starts[i], E))
        carried = matmul(se3.inverse(starts[i]), matmul(moves[p], ends[i])) if p >= 0 else E
        moves.append(carried)
        screws.append(se3.log(carried) if p >= 0 else own)
        V = screws[i] / h[..., None]
        weighed = lie.apply_inertia(robot.parameters.inertias[i], V)
        momenta.append(matvec(transpose(se3.left_jacobian_inverse(screws[i])), weighed))
    return Displacement(ends, moves, screws, momenta)


def momentum_at_start(robot: Robot, starts: list[Pose], moved: Displacement, u: JointVector, h: Array) -> JointVector:
    """The discrete momentum (..., nv) with which the motion begins."""
    F = accumulate(robot, starts, moved.momenta)
    return _projected(robot, F) + robot.parameters.armature * u / h[..., None]


def momentum_at_end(robot: Robot, moved: Displacement, u: JointVector, h: Array) -> JointVector:
    """The discrete momentum (..., nv) with which the motion ends."""
    there = [lie.transform_wrench(T, mu) for T, mu in zip(moved.moves, moved.momenta, strict=True)]
    return _projected(robot, accumulate(robot, moved.ends, there)) + robot.parameters.armature * u / h[..., None]


def momentum(robot: Robot, q: ConfigurationVector, v: JointVector) -> JointVector:
    """M(q) v (..., nv), in O(n)."""
    T_pi, V, F = joint_poses(robot, q), list[Twist](), list[Wrench]()
    for i, p in enumerate(robot.structure.parents):
        own = joint_twist(robot, i, v)
        V.append(own if p < 0 else own + lie.transform_twist_inverse(T_pi[i], V[p]))
        F.append(lie.apply_inertia(robot.parameters.inertias[i], V[i]))
    return _projected(robot, accumulate(robot, T_pi, F)) + robot.parameters.armature * v


def carried_along(robot: Robot, u: JointVector, p: JointVector) -> JointVector:
    """A momentum p (..., nv) that nothing changes, seen from the end of the motion u: Ad(e^{[u]})ᵀ p of joints on groups."""
    parts = []
    for c, kind in robot.structure.blocks:
        part = p[..., c.v]
        if kind.nv > 1:
            assert kind.rows is not None
            wrench = lie.transform_wrench(
                se3.exp(matvec(transpose(kind.rows), u[..., c.v])), matvec(transpose(kind.rows), part)
            )
            part = matvec(kind.rows, wrench)
        parts.append(part)
    return concat(parts)


def _projected(robot: Robot, F: list[Wrench]) -> JointVector:
    return gather_vector(robot, [project_on_joint(robot, i, F_i) for i, F_i in enumerate(F)])
