"""Base parameters printed: a line for each, what the letters mean, and what has no effect."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from textwrap import wrap

from torsor._tables import table as text_table
from torsor.arrays.typing import Array
from torsor.identification.groupings import Grouping, Length, symbols
from torsor.identification.reasons import NO_EFFECT, Unidentifiable
from torsor.model import Robot, inertial_parameter_names

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
