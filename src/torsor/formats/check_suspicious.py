"""What a file may say but a human would doubt: asked by `torsor.check`, never by loading."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from torsor.arrays.typing import Array
from torsor.formats.check_inertia import outwards, resting
from torsor.formats.description import Description, JointPart, LinkPart, Shape
from torsor.formats.findings import Findings
from torsor.model import shapes

TURN = 2 * math.pi
MOST_MASS_RATIO = 1e4
HUGE = 50.0  # m: no link is so long
DEFAULTS = (1.0, 0.1, 0.01, 0.001, 1e-6)  # what exporters write on the diagonal when they do not know


def check(robot: Description, report: Findings) -> None:
    """Limits, lengths, masses, inertias and names that are probably mistakes."""
    for joint in robot.joints:
        if joint.kind != "fixed":
            _limits(joint, report)
    for link in robot.links:
        if link.mass and link.mass > 0:
            _inertia(link, report)
            _position(link, report)
    if not report.failed:
        _masses(robot, report)
    _lengths(robot, report)
    _names(robot, report)


def _limits(joint: JointPart, report: Findings) -> None:
    line = joint.line if joint.limit_line is None else joint.limit_line
    for name, value in (("velocity", joint.velocity), ("effort", joint.effort)):
        if np.any(np.asarray(value) <= 0):
            report.add("limit-not-positive", line, joint.where, f"its {name} limit is {np.min(value):.6g}")
    if joint.kind not in ("revolute", "prismatic") or joint.lower is None or joint.upper is None:
        return
    lower, upper = float(np.max(joint.lower)), float(np.min(joint.upper))
    if lower == upper:
        report.add("limits-empty", line, joint.where, f"lower and upper are both {lower:.6g}")
    if joint.kind == "prismatic":
        return
    whole = [abs(x) for x in (lower, upper) if x != 0 and math.isfinite(x)]
    if whole and 2 * TURN < max(whole) < 1e4 and all(abs(x - round(x)) < 1e-9 for x in whole):
        report.add("angles-in-degrees", line, joint.where, f"its range is {lower:.6g} … {upper:.6g} rad")
    elif 2 * TURN * (1 + 1e-3) < upper - lower < math.inf:
        turns = (upper - lower) / TURN
        report.add("limits-wider-than-turn", line, joint.where, f"its range is {turns:.3g} turns")


def _inertia(link: LinkPart, report: Findings) -> None:
    assert link.mass is not None
    if not np.any(link.moments):
        report.add("inertia-zero", link.at, link.where, f"{link.mass:.6g} kg without rotational inertia")
        return
    diagonal, products = link.moments[[0, 3, 5]], link.moments[[1, 2, 4]]
    if not np.any(products) and np.all(diagonal == diagonal[0]) and diagonal[0] in DEFAULTS and not _is_ball(link):
        report.add(
            "inertia-default",
            link.at,
            link.where,
            f"its inertia is {diagonal[0]:g} times the identity, a typical default",
        )
        return  # what is not known fits nothing
    box = _bounds(link)
    if box is None:
        return
    half = 0.5 * (box[1] - box[0])
    reach = float(np.linalg.norm(half))
    radius = math.sqrt(max(np.trace(link.matrix), 0.0) / (2 * link.mass))
    if reach > 0 and radius > 1.5 * reach:
        message = f"its radius of gyration is {radius:.3g} m, its shapes reach {reach:.3g} m from their middle"
        report.add("inertia-inconsistent", link.at, link.where, message)
    elif reach > 0 and radius < 0.02 * reach:
        message = f"its radius of gyration is {radius:.3g} m, though its shapes reach {reach:.3g} m"
        report.add("inertia-inconsistent", link.at, link.where, message)


def _is_ball(link: LinkPart) -> bool:
    """A ball or cube may well have such an inertia."""
    for shape in link.shapes:
        if shape.kind == "sphere" or (shape.kind == "box" and len(set(shape.size)) == 1):
            solid = shapes.sphere(shape.size[0]) if shape.kind == "sphere" else shapes.box(np.array(shape.size))
            if link.mass and abs(link.mass * solid.moments[0] - link.moments[0]) < 0.01 * link.moments[0]:
                return True
    return False


def _position(link: LinkPart, report: Findings) -> None:
    box = _bounds(link)
    if box is None:
        return
    room = 0.05 * (box[1] - box[0]).max() + 1e-6
    beyond = np.maximum(box[0] - link.com, link.com - box[1])
    if beyond.max() > room:
        axis = "xyz"[int(np.argmax(beyond))]
        report.add(
            "com-outside", link.at, link.where,
            f"its centre of mass {_listed(link.com)} lies {beyond.max():.3g} m outside its shapes, along {axis}",
        )  # fmt: skip


def _masses(robot: Description, report: Findings) -> None:
    """Bodies that move, each with all that is fixed to it."""
    masses = {link.name: max(link.mass or 0.0, 0.0) for link in robot.links}
    moving = {joint.child for joint in robot.joints if joint.kind != "fixed"}
    for joint in reversed(outwards(robot)):
        if joint.kind == "fixed":
            masses[joint.parent] += masses[joint.child]
    massive = [link for link in robot.links if link.name in moving and masses[link.name] > 0]
    if len(massive) < 2:
        return
    light, heavy = (pick(massive, key=lambda link: masses[link.name]) for pick in (min, max))
    ratio = masses[heavy.name] / masses[light.name]
    if ratio > MOST_MASS_RATIO:
        report.add(
            "mass-ratio", light.at, light.where,
            f"its mass is {masses[light.name]:.3g} kg, that of {heavy.name!r} {masses[heavy.name]:.3g} kg: "
            f"a ratio of {ratio:.2g}",
        )  # fmt: skip


def _lengths(robot: Description, report: Findings) -> None:
    for joint in robot.joints:
        length = float(np.linalg.norm(joint.pose[:3, 3]))
        if length > HUGE:
            report.add("millimetres", joint.line, joint.where, f"its origin is {length:.6g} m from its parent's")
    still = set() if report.failed else resting(robot)
    for link in robot.links:
        if link.name in still:
            continue  # the ground may be as large as it likes
        length = float(np.linalg.norm(link.com)) if link.mass else 0.0
        large = max((max(shape.size) for shape in link.shapes if shape.size), default=0.0)
        if max(length, large) > HUGE:
            what = "its centre of mass is" if length >= large else "its shapes are as large as"
            report.add("millimetres", link.at, link.where, f"{what} {max(length, large):.6g} m")


def _names(robot: Description, report: Findings) -> None:
    links, joints = [link.name for link in robot.links], [joint.name for joint in robot.joints]
    for kind, parts in (("link", robot.links), ("joint", robot.joints)):
        folded = Counter(part.name.casefold() for part in parts)
        told: set[str] = set()
        for part in parts:
            key = part.name.casefold()
            twins = {other.name for other in parts if other.name.casefold() == key} if folded[key] > 1 else set()
            if len(twins) > 1 and key not in told:
                told.add(key)
                report.add(
                    "names-collide", part.line, part.where, f"{kind} names differ in case alone: {sorted(twins)}"
                )
    both = sorted(set(links) & set(joints))
    for name in both:
        line = next(joint.line for joint in robot.joints if joint.name == name)
        report.add("names-collide", line, f"joint {name!r}", "a link has the same name")


def _bounds(link: LinkPart) -> Array | None:
    """Least and largest corner (2, 3) of a link's shapes, in its frame; None if it has none, or a mesh."""
    if any(shape.kind == "mesh" for shape in link.shapes):
        return None
    corners = [corner for shape in link.shapes for corner in _corners(shape)]
    return None if not corners else np.array([np.min(corners, axis=0), np.max(corners, axis=0)])


def _corners(shape: Shape) -> list[Array]:
    if shape.kind == "box":
        half = 0.5 * np.array(shape.size)
    elif shape.kind == "sphere":
        half = np.full(3, shape.size[0])
    else:
        radius, length = shape.size
        half = np.array([radius, radius, 0.5 * length + (radius if shape.kind == "capsule" else 0.0)])
    if shape.kind == "sphere":
        return [shape.pose[:3, 3] - half, shape.pose[:3, 3] + half]
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    return [shape.pose[:3, :3] @ (sign * half) + shape.pose[:3, 3] for sign in signs]


def _listed(vector: Array) -> str:
    return "(" + ", ".join(f"{x:.3g}" for x in vector) + ")"
