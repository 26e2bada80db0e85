"""Do the links form one tree, and can the joints move as they say?"""

from __future__ import annotations

import math
from collections import Counter
from operator import attrgetter

import numpy as np

from torsor.formats.description import INFINITE, LARGEST, Description, JointPart
from torsor.formats.findings import Findings
from torsor.model import Mimic
from torsor.model.joint_kinds import SCREW_KINDS

NEARLY_ONE = 1e-6  # files give unit axes with six digits
ROUNDING = 1e-12
ONE_FREEDOM = (*SCREW_KINDS, "continuous")
_effects_of = attrgetter("damping", "friction", "armature", "stiffness")
MOST_POWER = 300  # of 2: squares of numbers between 2**-300 and 2**300 lose nothing


def check_tree(robot: Description, report: Findings, *, floating: bool) -> None:
    """Find duplicates, missing links, second parents, cycles and further roots; set ``robot.base`` if there is one root.

    A robot whose base is ``floating`` moves without joints.
    """
    _duplicates(robot, report)
    if not robot.links:
        report.add("no-links", None, f"robot {robot.name!r}", "the file describes no link")
        return
    known = {link.name for link in robot.links}
    for joint in robot.joints:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in known:
                near = report.did_you_mean(name, known)
                report.add("missing-link", joint.line, joint.where, f"its {role} link {name!r} does not exist{near}")
    parent_joints: dict[str, list[JointPart]] = {}
    for joint in robot.joints:
        parent_joints.setdefault(joint.child, []).append(joint)
    for child, joints in parent_joints.items():
        if len(joints) > 1:
            names = ", ".join(repr(joint.name) for joint in joints)
            report.add(
                "two-parents", joints[1].line, f"link {child!r}", f"it is the child of {len(joints)} joints: {names}"
            )
    _cycles(robot, parent_joints, report)
    _roots(robot, set(parent_joints), report)
    if not floating and not report.failed and all(joint.kind == "fixed" for joint in robot.joints):
        report.add("no-moving-joint", None, f"robot {robot.name!r}", "no joint moves")


def _duplicates(robot: Description, report: Findings) -> None:
    for rule, parts in (("duplicate-link", robot.links), ("duplicate-joint", robot.joints)):
        counts = Counter(part.name for part in parts)
        for name, times in counts.items():
            if times > 1:
                same = [part for part in parts if part.name == name]
                lines = ", ".join(str(part.line) for part in same[:5])
                report.add(rule, same[1].line, same[1].where, f"described {times} times (lines {lines})")


def _cycles(robot: Description, parent_joints: dict[str, list[JointPart]], report: Findings) -> None:
    """Follow first parents from every link; a link met again on the same walk closes a cycle, reported once."""
    state: dict[str, int] = {}  # 1: on this walk, 2: done
    for start in parent_joints:
        walk: list[str] = []
        link = start
        while link in parent_joints and state.get(link, 0) == 0:
            state[link] = 1
            walk.append(link)
            link = parent_joints[link][0].parent
        if state.get(link) == 1:
            ring = walk[walk.index(link) :]
            joint = parent_joints[link][0]
            report.add("cycle", joint.line, joint.where, f"links form a cycle: {' ← '.join([*ring[:6], link])}")
        for name in walk:
            state[name] = 2


def _roots(robot: Description, children: set[str], report: Findings) -> None:
    roots = [link for link in robot.links if link.name not in children]
    parents = {joint.parent for joint in robot.joints}
    alone = [link for link in roots if link.name not in parents]
    if robot.joints:
        for link in alone:
            report.add(
                "unused-link", link.line, link.where, "no joint attaches it",
                lambda link=link: robot.links.remove(link),  # type: ignore[misc]
            )  # fmt: skip
        roots = [link for link in roots if link not in alone]
    if len(roots) > 1:
        names = ", ".join(repr(link.name) for link in roots[:5])
        report.add("two-roots", roots[1].line, f"robot {robot.name!r}", f"{len(roots)} links have no parent: {names}")
    if roots:
        robot.base = roots[0].name


def check_joints(robot: Description, report: Findings) -> None:
    """Axes, limits, friction, springs, and who follows whom."""
    for joint in robot.joints:
        if joint.kind == "fixed":
            continue
        _axis(joint, report)
        _limits(robot, joint, report)
        effects = _effects_of(joint)
        if set(map(type, effects)) == {float} and min(effects) >= 0.0:
            continue
        for name in ("damping", "friction", "armature"):
            value = getattr(joint, name)
            if (value < 0) if type(value) is float else np.any(np.asarray(value) < 0):
                report.add(
                    "friction-negative", joint.line, joint.where, f"{name} is {_shown(value)}",
                    lambda joint=joint, name=name: setattr(joint, name, np.abs(getattr(joint, name))),  # type: ignore[misc]
                )  # fmt: skip
        if (joint.stiffness < 0) if type(joint.stiffness) is float else np.any(np.asarray(joint.stiffness) < 0):
            report.add("stiffness-negative", joint.line, joint.where, f"stiffness is {_shown(joint.stiffness)}")
    _followers(robot, report)


def _axis(joint: JointPart, report: Findings) -> None:
    if joint.axis is None:
        return
    numbers = joint.axis.tolist()
    largest = max(map(abs, numbers))
    if largest == 0.0:
        report.add("axis-zero", joint.line, joint.where, "the axis is zero")
        joint.axis = np.array([0.0, 0.0, 1.0])  # so that what follows can be checked
        return
    off = abs((length := math.hypot(*numbers)) - 1.0)
    if off > NEARLY_ONE:
        report.add("axis-not-unit", joint.line, joint.where, f"the axis {_shown(joint.axis)} has length {length:.6g}")
    elif off > ROUNDING:
        message = f"the axis {_shown(joint.axis)} has length {length:.12g}, by the rounding of its digits"
        report.add("axis-not-unit", joint.line, joint.where, message)
    _, power = math.frexp(largest)
    if abs(power) > MOST_POWER:  # an axis is a direction, of whatever length: this one in numbers that can be squared
        joint.axis = np.ldexp(joint.axis, -power)


def _limits(robot: Description, joint: JointPart, report: Findings) -> None:
    line = joint.line if joint.limit_line is None else joint.limit_line
    if joint.lower is None or joint.upper is None:
        if robot.requires_limits and joint.kind in ("revolute", "prismatic"):
            missing = "no <limit>" if joint.limit_line is None else "a <limit> without lower= and upper="
            report.add(
                "limits-missing", line, joint.where, f"a {joint.kind} joint has {missing}", lambda: None
            )  # no limit is what None means
        return
    if type(joint.lower) is type(joint.upper) is float and joint.lower <= joint.upper:
        return
    lower, upper = np.asarray(joint.lower, float), np.asarray(joint.upper, float)
    if np.any(lower > upper):

        def exchange() -> None:
            joint.lower, joint.upper = np.minimum(lower, upper), np.maximum(lower, upper)

        report.add(
            "limits-inverted", line, joint.where, f"lower {_shown(lower)} exceeds upper {_shown(upper)}", exchange
        )


def _followers(robot: Description, report: Findings) -> None:
    """Check mimic joints, and make each follow a joint that moves on its own. A mistake is told where it is, once."""
    if all(joint.mimic is None for joint in robot.joints):
        return
    joints = {joint.name: joint for joint in robot.joints}
    settled: dict[str, Mimic | None] = {}  # whom a joint follows in the end; None if nobody can say
    for joint in robot.joints:
        walk: list[JointPart] = []
        here: JointPart | None = joint
        while here is not None and here.mimic is not None and here.name not in settled:
            walk.append(here)
            settled[here.name] = None
            here = _leader(here, here.mimic.joint, joints, report)
        following = None if here is None else settled[here.name] if here.mimic is not None else Mimic(here.name)
        ring = [part.name for part in walk].index(here.name) if here in walk and here is not None else len(walk)
        for part, leader in zip(walk[ring:], [*walk[ring + 1 :], *walk[ring:]], strict=False):
            report.add("mimic-cycle", part.line, part.where, f"it follows {leader.name!r}, which follows it")
        for part in reversed(walk):
            following = None if following is None else _joined(part, following, report)
            settled[part.name] = following
    for joint in robot.joints:
        joint.mimic = settled.get(joint.name) or joint.mimic
    if not report.failed:
        _shared_ranges(robot, report)


def _leader(joint: JointPart, name: str, joints: dict[str, JointPart], report: Findings) -> JointPart | None:
    leader = joints.get(name)
    if joint.kind not in ONE_FREEDOM:
        report.add("mimic-unknown", joint.line, joint.where, f"a {joint.kind} joint cannot follow another")
        return None
    if leader is None or leader.kind not in ONE_FREEDOM:
        what = f"does not exist{report.did_you_mean(name, joints)}" if leader is None else f"is {leader.kind}"
        report.add("mimic-unknown", joint.line, joint.where, f"it mimics {name!r}, which {what}")
        return None
    return leader


def _joined(joint: JointPart, following: Mimic, report: Findings) -> Mimic | None:
    """Whom a joint follows in the end, if its own leader follows so; None, and a finding, if that is not a number."""
    assert joint.mimic is not None
    own = joint.mimic
    ratio, offset = own.ratio * following.ratio, own.offset + own.ratio * following.offset
    if own.ratio == 0.0:
        report.add("mimic-zero", joint.line, joint.where, "its multiplier is zero, so that it follows nothing")
    elif not 1 / LARGEST <= abs(ratio) <= LARGEST or not abs(offset) <= LARGEST:
        message = f"it moves by {ratio:g} times {following.joint!r}, with an offset of {offset:g}"
        advice = f"Give multipliers and offsets that do not grow to {LARGEST:g}, nor shrink to {1 / LARGEST:g}."
        report.add("number-malformed", joint.line, joint.where, message, advice=advice)
    else:
        return Mimic(following.joint, ratio, offset)
    return None


def _shared_ranges(robot: Description, report: Findings) -> None:
    ranges = {joint.name: _range(joint) for joint in robot.joints if joint.mimic is None}
    for joint in robot.joints:
        if joint.mimic is None:
            continue
        ends = sorted((end - joint.mimic.offset) / joint.mimic.ratio for end in _range(joint))
        lower, upper = ranges[joint.mimic.joint]
        ranges[joint.mimic.joint] = (max(lower, ends[0]), min(upper, ends[1]))
        if ranges[joint.mimic.joint][0] == ranges[joint.mimic.joint][1] and lower < upper:
            message = f"it leaves its leader {joint.mimic.joint!r} only {ranges[joint.mimic.joint][0] + 0.0:.6g}"
            report.add("mimic-empty", joint.line, joint.where, message)
        if ranges[joint.mimic.joint][0] > ranges[joint.mimic.joint][1]:
            report.add(
                "mimic-limits", joint.line, joint.where,
                f"it allows its leader {joint.mimic.joint!r} {ends[0]:.6g} … {ends[1]:.6g}, others {lower:.6g} … {upper:.6g}",
            )  # fmt: skip


def _range(joint: JointPart) -> tuple[float, float]:
    lower = -INFINITE if joint.lower is None else float(np.max(joint.lower))
    upper = INFINITE if joint.upper is None else float(np.min(joint.upper))
    return lower, upper


def _shown(value: object) -> str:
    numbers = [f"{x:.6g}" for x in np.atleast_1d(np.asarray(value, float))]
    return numbers[0] if len(numbers) == 1 else f"({', '.join(numbers)})"
