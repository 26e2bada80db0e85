"""Point masses added to a robot's links, the robot that carries them, and how much they may weigh or where they may sit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Vector3
from torsor.balancing.gravity_balance import GravityReport
from torsor.balancing.mass_matrix_balance import BalanceReport
from torsor.balancing.variation import check_robot, is_real
from torsor.errors import ArgumentError, ModelError
from torsor.model import Inertia, Robot

Amounts = Mapping[str, float] | float  # for each link by name, or one number for all


class Counterweight(NamedTuple):
    """A point mass, kg, fixed to a link at ``position`` (3,), m, in the link's frame."""

    link: str
    mass: float
    position: Vector3


@dataclass(frozen=True, eq=False)
class Balancing:
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


def check_amounts(who: str, robot: Robot, what: str, amounts: Amounts | None, *, positive: bool) -> None:
    """Refuse what is no robot, unknown links, and numbers that no mass (``positive`` False) or distance can be."""
    check_robot(who, robot)
    if amounts is None:
        return
    for link, value in (amounts if isinstance(amounts, Mapping) else {"": amounts}).items():
        if link and robot.structure.link_index(link) < 0:
            raise ModelError(
                f"{who}: `{what}` names {link!r}, the base, which does not move. Moving links: robot.links."
            )
        if not is_real(value):
            raise ArgumentError(
                f"{who}: `{what}` must be one number for all links, or a dict with a number for each link by name, such as "
                f"{{{robot.links[-1]!r}: 1.0}}; got {amounts!r}."
            )
        if not (np.isfinite(value) and (value > 0 or (value == 0 and not positive))):
            bound = "be positive" if positive else "not be negative"
            of = f" of link {link!r}" if link else ""
            raise ModelError(f"{who}: `{what}`{of} must {bound}, and be finite, got {value:g}.")


def amount(amounts: Amounts | None, link: str) -> float | None:
    """The number for a link, or None if there is none."""
    if isinstance(amounts, Mapping):
        return None if link not in amounts else float(amounts[link])
    return None if amounts is None else float(amounts)
