"""Robots and inertias as notebooks show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from torsor._html import block, heading, items, number, plain, table

if TYPE_CHECKING:
    from torsor.model.inertia import Inertia
    from torsor.model.robot import Robot

DEEPEST = 24  # levels of the tree that are still set in


def robot_html(robot: Robot) -> str:
    """The tree of links, each with its joint, limits and mass."""
    s = robot.structure
    masses = np.asarray(robot.parameters.inertias)[:, 0] if robot.is_concrete else np.full(s.n, np.nan)
    facts = [f"{robot.n} moving links", f"nq {robot.nq}, nv {robot.nv}"]
    if robot.is_concrete:
        facts.append(f"{float(masses.sum()):.4g} kg moving")
    facts.append(f"effects: {', '.join(robot.effects) or 'none'}")
    depth = np.zeros(s.n, int)
    rows = []
    for i, parent in enumerate(s.parents):
        depth[i] = 0 if parent < 0 else depth[parent] + 1
    for i in _depth_first(s.parents):
        inset = 1.1 * min(depth[i], DEEPEST)
        link = f'<span style="padding-left:{inset:.1f}em">└ {plain(s.links[i])}</span>'
        rows.append([link, plain(s.joints[i]), s.kinds[i], *_limits(robot, i), number(float(masses[i]))])
    head = ["link", "joint", "kind", "position", "velocity", "effort", "mass (kg)"]
    frames = [frame.name for frame in s.frames if frame.pose_row is not None]
    parts = [heading(robot.name, facts), f"<div>{plain(s.base)}</div>"]
    parts.append(table(head, rows, left=3, fold=f"tree of {robot.n} links", more="robot.joints"))
    if frames:
        more = f" and {len(frames) - 8} more" if len(frames) > 8 else ""
        parts.append(f"<div>frames: {', '.join(plain(name) for name in frames[:8])}{more}</div>")
    return block(*parts)


def _depth_first(parents: tuple[int, ...]) -> list[int]:
    """Links in the order in which a tree is written: each one followed by what it carries."""
    children: dict[int, list[int]] = {}
    for i, parent in enumerate(parents):
        children.setdefault(parent, []).append(i)
    order, waiting = [], list(reversed(children.get(-1, [])))
    while waiting:
        i = waiting.pop()
        order.append(i)
        waiting += reversed(children.get(i, []))
    return order


def _limits(robot: Robot, i: int) -> list[str]:
    """Limits of a joint: position, velocity, effort, with units; of joints with several numbers the narrowest."""
    s, limits = robot.structure, robot.structure.limits
    c, kind = s.coordinate_of(i), s.kind_of(i)
    if c.name != s.joints[i]:
        coupling = s.couplings[i]
        offset = f" + {number(coupling.offset)}" if coupling.offset else ""
        return [f"{number(coupling.ratio)} · {plain(c.name, 30)}{offset}", "", ""]
    turns = kind.v_units == ("rad",)
    several = len(kind.v_units) > 1
    units = ["", "", ""] if several else ["rad", "rad/s", "N·m"] if turns else ["m", "m/s", "N"]
    low, high = max(limits.lower[c.q]), min(limits.upper[c.q])
    bound = "–" if np.isinf(low) and np.isinf(high) else f"{number(low)} … {number(high)} {units[0]}"
    found = [bound]
    for values, unit in ((limits.velocity[c.v], units[1]), (limits.effort[c.v], units[2])):
        least = number(float(min(values)))
        found.append(least if least == "–" else f"{least} {unit}")
    return found


def inertia_html(body: Inertia) -> str:
    """Mass, centre of mass, rotational inertia, principal moments, and what no body can have."""
    try:
        mass, com, rotational = (np.asarray(x, float) for x in (body.mass, body.com, body.rotational))
    except Exception:  # each library has its own for values that are not there yet
        return block(heading("Inertia", ["its numbers are not known yet"]))
    rows = [["centre of mass (m)", *map(number, com)]]
    rows += [["about it (kg·m²)" if k == 0 else "", *map(number, row)] for k, row in enumerate(rotational)]
    wrong = body.violations()
    if not wrong:
        rows.append(["principal moments (kg·m²)", *map(number, body.principal().moments)])
    notes = [f"no body has this: {words}" for words in wrong]
    return block(heading("Inertia", [f"{float(mass):.6g} kg"]), table(["", "x", "y", "z"], rows), items(notes))
