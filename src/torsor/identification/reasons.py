"""Why a parameter cannot be identified, in words."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from textwrap import wrap
from typing import NamedTuple

import numpy as np

from torsor._reports import table as text_table
from torsor.arrays.typing import Array
from torsor.identification.groupings import Grouping, Length, relative_matrix, symbols
from torsor.identification.row_spaces import Regrouping, annihilated, length_unit, links_of
from torsor.model import Robot, inertial_parameter_names

NO_EFFECT, COMBINED = "no effect", "only in combination"
SHOWN = 3  # base parameters that a reason names
_AXES = ("x axis", "y axis", "z axis")


class Unidentifiable(NamedTuple):
    """A parameter that joint forces do not tell: its ``name``, ``effect`` and ``reason``, and the base parameters it is in.

    ``effect`` is "no effect" or "only in combination"; ``within`` the numbers (from 0) of those base parameters.
    """

    name: str
    effect: str
    reason: str
    within: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name}: {self.effect}: {self.reason}"


def unidentifiable(
    robot: Robot, found: Regrouping, groupings: tuple[Grouping, ...], negligible: float, tolerance: float
) -> tuple[Unidentifiable, ...]:
    """All parameters that are not base parameters by themselves, in the order of π; ``negligible`` as for groupings."""
    seen = np.abs(relative_matrix(robot, found)) > negligible
    motions = _motions(robot, tolerance)
    unknown = []
    for j, name in enumerate(inertial_parameter_names(robot)):
        within = tuple(int(k) for k in np.flatnonzero(seen[:, j]))
        if not within:
            unknown.append(Unidentifiable(name, NO_EFFECT, motions[j // 10].without_effect(j % 10), within))
        elif len(within) > 1 or np.sum(seen[within[0]]) > 1:
            sums = "; ".join(str(groupings[k]) for k in within[:SHOWN])
            more = f"; and {len(within) - SHOWN} more" if len(within) > SHOWN else ""
            unknown.append(Unidentifiable(name, COMBINED, f"it counts only in {sums}{more}", within))
    return tuple(unknown)


class Motion(NamedTuple):
    """How a link can move: the span W (r, 6) of its twists in its frame, and W_g together with the pull of gravity."""

    link: str
    W: Array
    W_g: Array
    tolerance: float

    def without_effect(self, parameter: int) -> str:
        """Why one of the ten parameters has no effect, which it is known not to have."""
        _, sizes, directions = np.linalg.svd(self.W[:, :3])
        rank = int(np.sum(sizes > self.tolerance))
        if rank == 0 and len(self.W):
            return f"{self.link} slides and never turns: only its mass can do work"
        if rank == 1:
            return self._about_one_direction(directions[0])
        if rank == 3 and np.all(np.abs(self.W[:, 3:]) <= self.tolerance) and parameter < 4:
            fixed = f"{self.link} turns about the origin of its frame, which stays where it is"
            if parameter == 0:
                return f"{fixed}: its mass does no work there"
            if len(self.W_g) == len(self.W):
                return f"{fixed}: without gravity, its first moments do no work"
            return f"{fixed}: it counts by the moment of gravity alone, which is about no joint's axis"
        return f"it does no work in any motion of {self.link}"

    def _about_one_direction(self, direction: Array) -> str:
        axis = _axis(direction, self.tolerance)
        if len(self.W) > 1 or abs(self.W[0, :3] @ self.W[0, 3:]) > self.tolerance:
            return (
                f"{self.link} turns about one direction only ({axis}): no more than its mass, its first moments across that "
                "direction and its inertia about it can do work"
            )
        turns = f"{self.link} only turns about a fixed axis ({axis})"
        if len(self.W_g) == len(self.W):
            return f"{turns}, without gravity: only its inertia about that axis does work"
        if self._gravity_is_along(direction):
            return f"{turns}, along which gravity pulls: only its inertia about that axis does work"
        return f"{turns}: only its inertia about that axis and the moment of gravity about it do work"

    def _gravity_is_along(self, axis: Array) -> bool:
        """Whether the turn about the axis and the pull of gravity span the same as the turn and a push along the axis."""
        push = np.concatenate([np.zeros(3), axis])
        return len(self.W_g) == 2 and float(np.linalg.norm(push - (self.W_g @ push) @ self.W_g)) <= self.tolerance


def _motions(robot: Robot, tolerance: float) -> list[Motion]:
    """How each link can move; nothing is said of the links of a robot with mimic joints, whose motions depend on each other."""
    if robot.structure.has_couplings:
        return [Motion(link, np.zeros((0, 6)), np.zeros((0, 6)), tolerance) for link in robot.links]
    links, gravity = links_of(robot, length_unit(robot)), np.asarray(robot.parameters.gravity)
    W, W_g = (annihilated(links, g, tolerance).W for g in (np.zeros(3), gravity))
    return [Motion(*one, tolerance) for one in zip(robot.links, W, W_g, strict=True)]


def _axis(direction: Array, tolerance: float) -> str:
    """A direction in words: "its z axis", or its coordinates."""
    for k, name in enumerate(_AXES):
        if abs(direction[k]) >= 1.0 - tolerance:
            return f"its {name}"
    signed = direction * np.sign(direction[np.argmax(np.abs(direction))])
    return f"along ({', '.join(f'{x + 0.0:.4g}' for x in signed)}) in its frame"


WIDTH = 120
LINES = 4  # of one sum


def table(
    robot: Robot,
    names: Sequence[str],
    values: Array,
    groupings: Sequence[Grouping],
    unknown: Sequence[Unidentifiable],
    heading: str,
) -> str:
    """The whole of it as text."""
    rows = [("", f"{'name':<8}{'value':>12}", "sum of")]
    for k, (name, value, grouping) in enumerate(zip(names, values, groupings, strict=True), start=1):
        first, *more = _shortened(grouping.terms, WIDTH - 30)
        rows += [(str(k), f"{name:<8}{value:>12.5g}", first), *(("", "", f"  {line}") for line in more)]
    lines = [*wrap(heading, WIDTH), "", *text_table(rows, "><", least=(4,))]
    return "\n".join([*lines, "", *_legend(robot, groupings), *_without_effect(robot, unknown)])


def _shortened(terms: Sequence[str], width: int) -> list[str]:
    """Terms of a sum on at most `LINES` lines: as many as there is room for, and how many more there are."""
    if len(lines := _broken(terms, width)) <= LINES:
        return lines

    def first(shown: int) -> list[str]:
        return _broken([*terms[:shown], f"… and {len(terms) - shown} more"], width)

    return first(max(1, bisect_left(range(len(terms)), True, key=lambda shown: len(first(shown)) > LINES) - 1))


def _broken(terms: Sequence[str], width: int) -> list[str]:
    """Terms of a sum on lines of at most ``width``."""
    lines = [terms[0]]
    for term in terms[1:]:
        if len(lines[-1]) + 1 + len(term) <= width:
            lines[-1] += f" {term}"
        else:
            lines += wrap(term, width, subsequent_indent="  ", break_on_hyphens=False)
    return lines


def _legend(robot: Robot, groupings: Sequence[Grouping]) -> list[str]:
    links = ", ".join(f"{k} {name}" for k, name in enumerate(robot.links, start=1))
    lines = wrap(f"Links: {links}. m in kg, mcx, mcy, mcz in kg·m, Ixx … Izz in kg·m² about the link frame.", WIDTH)
    lengths: dict[Length, None] = {}
    for grouping in groupings:
        lengths |= dict.fromkeys(grouping.lengths)
    if lengths:
        ordered = sorted(lengths, key=lambda length: (int(length.name[2:]), length.name))
        values = ", ".join(f"{length.name} = {length.value:.6g}" for length in ordered)
        lines += wrap(f"Places of link frames in their parents', m, at home: {values}.", WIDTH)
    return lines


def _without_effect(robot: Robot, unknown: Sequence[Unidentifiable]) -> list[str]:
    """The parameters without any effect, those with the same reason in one sentence."""
    short = dict(zip(inertial_parameter_names(robot), symbols(robot.n), strict=True))
    reasons: dict[str, list[str]] = {}
    for one in unknown:
        if one.effect == NO_EFFECT:
            reasons.setdefault(one.reason, []).append(short[one.name])
    lines: list[str] = []
    for reason, who in reasons.items():
        lines += wrap(f"No effect of {', '.join(who)}: {reason}.", WIDTH, break_on_hyphens=False)
    return lines
