"""Point masses on links: the robot that carries them, how heavy or how far out they may be, and those that balance an axis."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from torsor._reports import Report, in_one_line
from torsor.arrays.typing import InertiaRow, Vector3
from torsor.balancing.conditions import ROUNDING, check_robot, is_real
from torsor.balancing.reports import BalanceReport, GravityReport
from torsor.errors import ArgumentError, ModelError
from torsor.lie import unchecked as lie
from torsor.mechanics.recursions.joint_motion import joint_pose
from torsor.model import Inertia, Robot

Amounts = Mapping[str, float] | float  # for each link by name, or one number for all


@in_one_line
class Counterweight(NamedTuple):
    """A point mass, kg, fixed to a link at ``position`` (3,), m, in the link's frame."""

    link: str
    mass: float
    position: Vector3


@dataclass(frozen=True, eq=False, repr=False)
class Balancing(Report):
    """A robot with counterweights, which ones, and what `is_balanced` (or `is_gravity_balanced`) says before and after.

    True if the robot is balanced after; printed, a table.
    """

    robot: Robot
    counterweights: tuple[Counterweight, ...]
    before: BalanceReport | GravityReport
    after: BalanceReport | GravityReport

    @property
    def added_mass(self) -> float:
        """Mass of all counterweights, kg."""
        return float(sum(weight.mass for weight in self.counterweights))

    def __bool__(self) -> bool:
        return bool(self.after)

    def __str__(self) -> str:
        width = max([len("link"), *(len(weight.link) for weight in self.counterweights)])
        lines = [f"{'link':<{width}}  {'mass, kg':>10}  position in the link's frame, m"]
        for link, mass, position in self.counterweights:
            place = ", ".join(f"{x:9.4f}" for x in position)
            lines.append(f"{link:<{width}}  {mass:>10.4g}  ({place})")
        if not self.counterweights:
            lines = ["no counterweights are needed"]
        change = f"largest {_change(self.before.largest, self.after.largest)}"
        what = "forces of gravity, as a share of what all weights would give one way"
        if isinstance(self.before, BalanceReport) and isinstance(self.after, BalanceReport):
            what = "change of the mass matrix per rad or m, over √(M_ii M_jj)"
            change += f", root mean square {_change(self.before.rms, self.after.rms)}"
        return "\n".join([*lines, f"added mass {self.added_mass:.4g} kg; {what}: {change}", str(self.after)])


def _change(before: float, after: float) -> str:
    share = f" ({100 * (after / before - 1):+.3g} %)" if before > 0 else ""
    return f"{before:.3g} → {after:.3g}{share}"


def carrying(robot: Robot, counterweights: Iterable[Counterweight]) -> Robot:
    """The robot with point masses added to its links."""
    for link, mass, position in counterweights:
        robot = robot.with_payload(link, Inertia.point(mass, position))
    return robot


def check_amounts(robot: Robot, what: str, amounts: Amounts | None, *, positive: bool) -> None:
    """Refuse what is no robot, unknown links, and numbers that no mass (``positive`` False) or distance can be."""
    check_robot(robot)
    if amounts is None:
        return
    for link, value in (amounts if isinstance(amounts, Mapping) else {"": amounts}).items():
        if link and robot.structure.link_index(link) < 0:
            raise ModelError(f"`{what}` names {link!r}, the base, which does not move. Moving links: robot.links.")
        if not is_real(value):
            raise ArgumentError(
                f"`{what}` must be one number for all links, or a dict with a number for each link by name, such as "
                f"{{{robot.links[-1]!r}: 1.0}}; got {amounts!r}."
            )
        if not (np.isfinite(value) and (value > 0 or (value == 0 and not positive))):
            bound = "be positive" if positive else "not be negative"
            of = f" of link {link!r}" if link else ""
            raise ModelError(f"`{what}`{of} must {bound}, and be finite, got {value:g}.")


def amount(amounts: Amounts | None, link: str) -> float | None:
    """The number for a link, or None if there is none."""
    if isinstance(amounts, Mapping):
        return None if link not in amounts else float(amounts[link])
    return None if amounts is None else float(amounts)


# Counterweights that bring the centre of mass of everything beyond a joint onto its axis, from the tips inwards.


class Axis(NamedTuple):
    """A line in a link's frame: a ``point`` (3,), m, on it and its unit ``direction`` (3,); zero for a joint about a point."""

    point: Vector3
    direction: Vector3


def axis_of(robot: Robot, i: int) -> Axis:
    """The axis of joint i in its link frame, with the point of it nearest to the frame's origin."""
    S = robot.parameters.screws[i]
    return Axis(np.cross(S[:3], S[3:]), S[:3])


class Composites:
    """The inertia of everything at and beyond each link, in the link's frame, gathered from the tips inwards.

    At the neutral configuration; what is asked of it (moments about axes that outer joints no longer move) is the same at
    every other one.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.rows: list[InertiaRow] = [np.array(row) for row in robot.parameters.inertias]
        self.weights: list[Counterweight] = []

    def add(self, i: int, mass: float, position: Vector3) -> None:
        """Put a counterweight on link i."""
        self.weights.append(Counterweight(self.robot.links[i], float(mass), np.asarray(position, float)))
        self.rows[i] = self.rows[i] + Inertia.point(mass, position).row

    def pass_inwards(self, i: int) -> None:
        """Add all that lies at and beyond link i to its parent."""
        if (p := self.robot.structure.parents[i]) >= 0:
            T_pi = joint_pose(self.robot, i, self.robot.neutral)
            self.rows[p] = self.rows[p] + lie.transform_inertia(T_pi, self.rows[i])

    def balancing(self, judged: Callable[[Robot], BalanceReport | GravityReport]) -> Balancing:
        """The robot with all counterweights that were put on, judged before and after."""
        weights = tuple(self.weights)
        after = carrying(self.robot, weights)
        return Balancing(after, weights, judged(self.robot), judged(after))

    def moment(self, i: int, axis: Axis) -> Vector3:
        """First moment across an axis (3,), kg·m, of everything at and beyond link i; zero if rounding can explain it."""
        m, h, (p, a) = self.rows[i][0], self.rows[i][1:4], axis
        about = h - m * p
        across = about - (about @ a) * a
        size = np.linalg.norm(h) + m * np.linalg.norm(p) + np.sqrt(m * np.abs(self.rows[i][4:]).max())
        return across if np.linalg.norm(across) > ROUNDING * size else np.zeros(3)


def check_limits(robot: Robot, masses: Amounts | None, distances: Amounts | None) -> None:
    """Refuse masses and distances that are none, or of unknown links, or both of one link, or neither."""
    check_robot(robot)
    if masses is None and distances is None:
        raise ArgumentError(
            "say how heavy the counterweights are (masses=, kg) or how far from the joint's axis they sit "
            "(distances=, m): one number for all links, or a dict by link name."
        )
    check_amounts(robot, "masses", masses, positive=False)
    check_amounts(robot, "distances", distances, positive=True)
    for link in robot.links:
        if amount(masses, link) is not None and amount(distances, link) is not None:
            raise ArgumentError(f"link {link!r} is given both a mass and a distance; one follows from the other.")


def bring_onto_axis(
    parts: Composites, i: int, masses: Amounts | None, distances: Amounts | None = None, *, by_distance: bool = True
) -> None:
    """One counterweight on link i, so that the first moment across its joint's axis vanishes: μ r = −h.

    It sits at the height along the axis of the link's own centre of mass (of its frame, if the link has no mass).
    """
    robot = parts.robot
    axis = axis_of(robot, i)
    h = parts.moment(i, axis)
    needed = float(np.linalg.norm(h))
    if needed == 0.0:
        return
    link, own = robot.links[i], robot.parameters.inertias[i]
    mass, distance = amount(masses, link), amount(distances, link)
    if mass is None and distance is not None:
        mass = needed / distance
    if not mass:
        none = "" if mass is None else "; one of no mass has none"
        other = f", or its distance from the axis, distances={{{link!r}: …}} (m)" if by_distance else ""
        raise ModelError(
            f"link {link!r} needs a counterweight with a moment of {needed:.4g} kg·m about its joint's axis{none}. "
            f"Give its mass, masses={{{link!r}: …}} (kg){other}."
        )
    com = own[1:4] / own[0] if own[0] > 0 else np.zeros(3)
    height = (com - axis.point) @ axis.direction
    parts.add(i, mass, axis.point + height * axis.direction - h / mass)


def refuse_idle_names(robot: Robot, used: Collection[int], *named: Amounts | None, why: str) -> None:
    """Refuse a link named in a dict whose joint needs nothing: it would be left out without a word."""
    for amounts in named:
        for link in amounts if isinstance(amounts, Mapping) else ():
            if robot.links.index(link) not in used:
                raise ModelError(f"link {link!r} needs no counterweight: {why}.")
