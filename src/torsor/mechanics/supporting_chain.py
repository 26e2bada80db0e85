"""The joints that carry a frame, with their screws where they are now. What all Jacobians are made of."""

from __future__ import annotations

from typing import NamedTuple

from torsor import lie
from torsor.arrays import concat, cross, identity, matmul, matvec, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector, Jacobian, JointVector, Pose, Twist, Vector3
from torsor.lie.se3 import translation
from torsor.mechanics.joint_motion import gather_columns, joint_pose, joint_screws
from torsor.model import Robot


class SupportingChain(NamedTuple):
    """``screws[i]``: rows (..., k, 6) of joint i in base axes about the base origin; ``T_0f``: the frame's pose;
    ``last``: the link it is fixed to (−1: the base).
    """

    screws: dict[int, Twist]
    T_0f: Pose
    last: int

    @property
    def point(self) -> Vector3:
        """Origin of the frame in base axes, with an axis for the rows of a joint's screws: (..., 1, 3)."""
        return translation(self.T_0f)[..., None, :]

    def in_frame(self) -> dict[int, Twist]:
        """The screws in the frame's own axes about its own origin."""
        return {i: lie.transform_twist_inverse(rows(self.T_0f), J) for i, J in self.screws.items()}

    def at_point(self) -> dict[int, Twist]:
        """The screws in base axes about the frame's origin."""
        return {i: refer_to(self.point, J) for i, J in self.screws.items()}


def supporting_chain(robot: Robot, q: ConfigurationVector, frame: str) -> SupportingChain:
    """Screws Ad(T_0i) S_i of the joints between the base and a frame."""
    place = robot.structure.frame(frame)
    T, screws = identity(4), {}
    for i in robot.structure.path_from_base(place.link):
        T = matmul(T, joint_pose(robot, i, q))
        screws[i] = lie.transform_twist(rows(T), joint_screws(robot, i))
    if place.pose_row is not None:
        T = matmul(T, robot.parameters.frame_poses[place.pose_row])
    return SupportingChain(screws, T, place.link)


def space_twists(robot: Robot, chain: SupportingChain, v: JointVector) -> dict[int, Twist]:
    """Space twist V_i = V_p + J_i v_i of every link of the chain; that of the base, −1, is zero."""
    V: dict[int, Twist] = {-1: zeros(6)}
    for i, J in chain.screws.items():
        V[i] = V[robot.structure.parents[i]] + matvec(transpose(J), v[..., robot.structure.coordinate_of(i).v])
    return V


def refer_to(point: Vector3, V: Twist) -> Twist:
    """(ω, v + ω × p): a twist in base axes, referred to the point p instead of the base origin."""
    return concat([V[..., :3], V[..., 3:] + cross(V[..., :3], point)])


def jacobian_of(robot: Robot, parts: dict[int, Array]) -> Jacobian:
    """Per-joint rows (..., k, 6) as the columns of a Jacobian (..., 6, nv)."""
    return gather_columns(robot, {i: transpose(part) for i, part in parts.items()}, 6)


def rows(T: Pose) -> Pose:
    """A pose with an axis for the rows of a joint's screws."""
    return T[..., None, :, :]
