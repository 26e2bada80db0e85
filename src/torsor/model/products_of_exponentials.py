"""The forms of the product of exponentials of a serial chain, each convertible into the others.

    local   f = e^{P_1 x_1} M_1 e^{P_2 x_2} M_2 ⋯ e^{P_n x_n} M_n          [PBP95, (12)]
    space   f = e^{A_1 x_1} e^{A_2 x_2} ⋯ e^{A_n x_n} M                    [PBP95, (13); LP, (9.36)]
    body    f = M e^{B_1 x_1} e^{B_2 x_2} ⋯ e^{B_n x_n}                    [PBP95, (14); Alt04, (2)]
    link    f = M_1 e^{S_1 x_1} M_2 e^{S_2 x_2} ⋯ M_n e^{S_n x_n} M_tip    [PBP95, (23); LP, (9.35)]

Screws are (n, 6), (angular, linear), of any length; poses (n, 4, 4); lengths in m, angles in rad.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from torsor._reports import in_one_line
from torsor.arrays import as_numbers, identity, matmul, stack_matrices, stack_vectors
from torsor.arrays.typing import Array, Pose, Twist
from torsor.border import explained
from torsor.border.rigid_motions import one_for_each, one_pose, poses_for_each, screw_list
from torsor.errors import ModelError
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.model.chains import serial_chain
from torsor.model.inertia import Inertia
from torsor.model.robot import Robot


@in_one_line
class SpaceForm(NamedTuple):
    """f = e^{A_1 x_1} ⋯ e^{A_n x_n} M, screws A (n, 6) in the base frame, home pose M (4, 4), m [PBP95, (13)]."""

    screws: Twist
    home: Pose

    @explained
    def pose(self, q: Array) -> Pose:
        """End pose (..., 4, 4) at q (..., n), rad or m."""
        return matmul(_product(self.screws, q), one_pose("home", self.home))

    @explained
    def to_body(self) -> BodyForm:
        """B_i = Ad(M⁻¹) A_i [PBP95, after (14)]."""
        home = one_pose("home", self.home)
        return BodyForm(lie.transform_twist_inverse(home, screw_list(self.screws)), home)

    @explained
    def to_local(self, steps: Pose) -> LocalForm:
        """P_i = Ad((M_1 ⋯ M_{i−1})⁻¹) A_i for chosen steps M_i (n, 4, 4) whose product is M [PBP95, after (13)]."""
        given, steps = poses_for_each(self.screws, "steps", steps)
        screws, T = [], identity(4)
        for A, M in zip(given, steps, strict=True):
            screws.append(lie.transform_twist_inverse(T, A))
            T = matmul(T, M)
        if abs(T - one_pose("home", self.home)).max() > 1e-9:
            raise ModelError("the product of `steps` must be the home pose.")
        return LocalForm(stack_vectors(screws), steps)

    @explained
    def to_link(self, homes: Pose) -> LinkForm:
        """S_i = Ad(M_i⁻¹) A_i with M_i (n, 4, 4) the link frames at home [LP, (9.39), (9.40), E002-4]."""
        screws, homes = poses_for_each(self.screws, "homes", homes)
        steps, T = [], identity(4)
        for M in homes:
            steps.append(matmul(se3.inverse(T), M))
            T = M
        tip = matmul(se3.inverse(T), one_pose("home", self.home))
        return LinkForm(lie.transform_twist_inverse(homes, screws), stack_matrices(steps), tip)

    def robot(self, homes: Pose, inertias: Sequence[Inertia], **options: Any) -> Robot:
        """The serial chain with link frames ``homes`` (n, 4, 4), m, at home; options as in `serial_chain`."""
        return serial_chain(self.screws, homes, inertias, tip=self.home, **options)


@in_one_line
class BodyForm(NamedTuple):
    """f = M e^{B_1 x_1} ⋯ e^{B_n x_n}, screws B (n, 6) in the end frame at home, home pose M (4, 4), m [PBP95, (14)]."""

    screws: Twist
    home: Pose

    @explained
    def pose(self, q: Array) -> Pose:
        """End pose (..., 4, 4) at q (..., n), rad or m."""
        return matmul(one_pose("home", self.home), _product(self.screws, q))

    @explained
    def to_space(self) -> SpaceForm:
        """A_i = Ad(M) B_i [PBP95, after (14)]."""
        home = one_pose("home", self.home)
        return SpaceForm(lie.transform_twist(home, screw_list(self.screws)), home)

    def robot(self, homes: Pose, inertias: Sequence[Inertia], **options: Any) -> Robot:
        """The serial chain with link frames ``homes`` (n, 4, 4), m, at home; options as in `serial_chain`."""
        return self.to_space().robot(homes, inertias, **options)


@in_one_line
class LocalForm(NamedTuple):
    """f = Π e^{P_i x_i} M_i, screws P (n, 6) in frame i − 1, steps M (n, 4, 4), m [PBP95, (12)]."""

    screws: Twist
    steps: Pose

    @explained
    def pose(self, q: Array) -> Pose:
        """End pose (..., 4, 4) at q (..., n), rad or m."""
        screws, steps = poses_for_each(self.screws, "steps", self.steps)
        (q,), T = one_for_each(screws, q=q), identity(4)
        for i, (P, M) in enumerate(zip(screws, steps, strict=True)):
            T = matmul(matmul(T, se3.exp(P * q[..., i, None])), M)
        return T

    @explained
    def to_space(self) -> SpaceForm:
        """A_1 = P_1, A_2 = Ad(M_1) P_2, A_3 = Ad(M_1 M_2) P_3, … [PBP95, after (13)]."""
        given, steps = poses_for_each(self.screws, "steps", self.steps)
        screws, T = [], identity(4)
        for P, M in zip(given, steps, strict=True):
            screws.append(lie.transform_twist(T, P))
            T = matmul(T, M)
        return SpaceForm(stack_vectors(screws), T)

    def robot(self, inertias: Sequence[Inertia], **options: Any) -> Robot:
        """The serial chain whose link frames are the M_1 ⋯ M_i at home; options as in `serial_chain`."""
        return self.to_space().robot(_accumulated(self.steps), inertias, **options)


@in_one_line
class LinkForm(NamedTuple):
    """f = Π M_i e^{S_i x_i} · M_tip, screws S (n, 6) in link frame i, steps (n, 4, 4) and tip (4, 4), m [PBP95, (23)]."""

    screws: Twist
    steps: Pose
    tip: Pose

    @explained
    def pose(self, q: Array) -> Pose:
        """End pose (..., 4, 4) at q (..., n), rad or m."""
        screws, steps = poses_for_each(self.screws, "steps", self.steps)
        (q,), T = one_for_each(screws, q=q), identity(4)
        for i, (S, M) in enumerate(zip(screws, steps, strict=True)):
            T = matmul(matmul(T, M), se3.exp(S * q[..., i, None]))
        return matmul(T, one_pose("tip", self.tip))

    @explained
    def to_space(self) -> SpaceForm:
        """A_i = Ad(M_1 ⋯ M_i) S_i [PBP95, (50), E001-6]."""
        given, steps = poses_for_each(self.screws, "steps", self.steps)
        screws, T = [], identity(4)
        for S, M in zip(given, steps, strict=True):
            T = matmul(T, M)
            screws.append(lie.transform_twist(T, S))
        return SpaceForm(stack_vectors(screws), matmul(T, one_pose("tip", self.tip)))

    def robot(self, inertias: Sequence[Inertia], **options: Any) -> Robot:
        """The serial chain whose link frames are the M_1 ⋯ M_i at home; options as in `serial_chain`."""
        return self.to_space().robot(_accumulated(self.steps), inertias, **options)


@explained
def link_form(robot: Robot, frame: str) -> LinkForm:
    """The product of exponentials of one frame of a robot, in link form: the joints from the base to it [PBP95, (23)].

    Parameters
    ----------
    robot : Robot
    frame : str
        Name of a frame: a link, a tool.

    Returns
    -------
    LinkForm
        Screws (k, 6), rad, m, of the k joints on the way, scaled so that the joint's own coordinate is the variable.
    """
    s, p = robot.structure, robot.parameters
    place = s.frame(frame)
    path = s.path_from_base(place.link)
    if not path:
        raise ModelError(f"frame {frame!r} is fixed to the base: no joint moves it.")
    for i in path:
        if not s.kind_of(i).has_screw or s.coordinate_of(i).name != s.joints[i]:
            raise ModelError(
                f"joint {s.joints[i]!r} ({s.kinds[i]}) has no coordinate of its own with one screw; "
                "a product of exponentials needs revolute, prismatic or helical joints."
            )
    screws = stack_vectors([s.couplings[i].ratio * p.screws[i] for i in path])
    tip = identity(4) if place.pose_row is None else p.frame_poses[place.pose_row]
    return LinkForm(screws, stack_matrices([p.poses[i] for i in path]), tip)


def _product(screws: Twist, q: Array) -> Pose:
    (q,), T = one_for_each(screws, q=q), identity(4)
    for i, S in enumerate(as_numbers(screws)):
        T = matmul(T, se3.exp(S * q[..., i, None]))
    return T


def _accumulated(steps: Pose) -> Pose:
    """M_1, M_1 M_2, …"""
    first, *others = as_numbers(steps)
    homes = [first]
    for step in others:
        homes.append(matmul(homes[-1], step))
    return stack_matrices(homes)
