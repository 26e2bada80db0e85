"""Links as rotations and vectors: the data of Luh, Walker and Paul, of Hollerbach's second recursion and of Silver.

Joint i turns link i about its axis and shifts it along the axis by ``slide`` per unit of q: none for a revolute joint, 1
for a prismatic one (which does not turn), the pitch for a helical one [Sil81, (3.13)–(3.16), E003-6].
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import cross, dot, identity, matmul, matvec, transpose, where, zeros
from torsor.arrays.typing import Array, ConfigurationVector, InertiaRow, Matrix3, Rotation, Scalar, Vector3
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import inertias, se3, so3
from torsor.mechanics.recursions.joint_motion import joint_pose
from torsor.model import Robot
from torsor.papers.formulations.model import Model


class VectorLink(NamedTuple):
    """One link; "joint" is a point on the joint's axis, m, and vectors are in the link's axes unless said otherwise.

    ``R`` (..., 3, 3): link axes in the parent's, with first and second derivative ``R1``, ``R2`` by the joint's variable.
    ``turns``, ``slide``: how the joint moves it. ``z`` (3,): the axis, in the parent's axes; ``axis``: in the link's.
    ``b``: from the parent's origin to the joint, in the parent's axes (zero in Denavit–Hartenberg frames). ``p``: from the
    joint to the link's origin. ``s``, ``r``: centre of mass from origin and joint. ``m``: mass, kg; ``beyond``: mass of this
    link and all beyond. ``I``: about the centre of mass, kg·m². ``h``, ``J``: first and second moment about the origin.
    """

    R: Rotation
    R1: Matrix3
    R2: Matrix3
    turns: bool
    slide: Scalar | None
    z: Vector3
    axis: Vector3
    b: Vector3
    p: Vector3
    s: Vector3
    r: Vector3
    m: Scalar
    beyond: Scalar
    I: Matrix3
    h: Vector3
    J: Matrix3


def lagrangian_model(robot: Robot, q: ConfigurationVector) -> Model:
    """The robot in vectors; base: the acceleration of gravity (3,)."""
    return Model(robot.structure.parents, _links(robot, q), (robot.parameters.gravity,))


def newton_euler_model(robot: Robot, q: ConfigurationVector) -> Model:
    """The robot in vectors; base: its ω, ω̇ and acceleration, which is minus gravity [Sil81, §3.2, E003-3]."""
    return Model(robot.structure.parents, _links(robot, q), (zeros(3), zeros(3), -robot.parameters.gravity))


def centre_of_mass(G: InertiaRow) -> Vector3:
    """C = h/m (..., 3), m; the origin for a link without mass, where it makes no difference."""
    m = G[..., :1]
    return G[..., 1:4] / where(m == 0.0, 1.0, m)


def _links(robot: Robot, q: ConfigurationVector) -> list[VectorLink]:
    s = robot.structure
    beyond = [G[..., 0] for G in robot.parameters.inertias]
    for i in range(robot.n - 1, -1, -1):
        if (p := s.parents[i]) >= 0:
            beyond[p] = beyond[p] + beyond[i]
    return [_link(robot, i, q, beyond[i]) for i in range(robot.n)]


def _link(robot: Robot, i: int, q: ConfigurationVector, beyond: Scalar) -> VectorLink:
    M, S, G = robot.parameters.poses[i], robot.parameters.screws[i], robot.parameters.inertias[i]
    kind, (_, ratio, offset) = robot.structure.kinds[i], robot.structure.couplings[i]
    R, R_0, p_0 = se3.rotation(joint_pose(robot, i, q)), se3.rotation(M), se3.translation(M)
    turns, slide = kind != "prismatic", _slide(kind, S)
    axis = S[:3] if turns else S[3:]
    # The axis's point nearest to the parent's origin: that origin itself in Denavit–Hartenberg frames.
    b = _nearest(lie.transform_twist(M, S)) if turns else zeros(3)
    p = matvec(transpose(R_0), p_0 - b)  # the joint's motion turns about b, so that p changes only by sliding
    if slide is not None:
        angle = ratio * q[..., robot.structure.coordinate_of(i).q][..., 0] + offset
        p = p + (slide * angle)[..., None] * axis
    turning = so3.hat(axis) if turns else zeros(3, 3)
    R1 = matmul(R, turning)
    com = centre_of_mass(G)
    about = lie.transform_inertia(se3.pose(identity(3), -com), G)
    return VectorLink(
        R=R,
        R1=R1,
        R2=matmul(R1, turning),
        turns=turns,
        slide=slide,
        z=matvec(R_0, axis),
        axis=axis,
        b=b,
        p=p,
        s=com,
        r=p + com,
        m=G[..., 0],
        beyond=beyond,
        I=inertias.rotational(about),
        h=G[..., 1:4],
        J=lie.second_moment(inertias.rotational(G)),
    )


def _slide(kind: str, S: Array) -> Scalar | None:
    if kind == "revolute":
        return None
    return identity(1)[0, 0] if kind == "prismatic" else dot(S[:3], S[3:])


def _nearest(S: Array) -> Vector3:
    return cross(S[..., :3], S[..., 3:])
