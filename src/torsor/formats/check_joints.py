"""Can the joints move as they say?"""

from __future__ import annotations

import math

import numpy as np

from torsor.formats.description import INFINITE, LARGEST, Description, JointPart
from torsor.formats.findings import Report
from torsor.model import Mimic
from torsor.model.joint_kinds import SCREW_KINDS

NEARLY_ONE = 1e-6  # files give unit axes with six digits
ONE_FREEDOM = (*SCREW_KINDS, "continuous")
MOST_POWER = 300  # of 2: squares of numbers between 2**-300 and 2**300 lose nothing


def check(robot: Description, report: Report) -> None:
    """Axes, limits, friction, and who follows whom."""
    for joint in robot.joints:
        if joint.kind == "fixed":
            continue
        _axis(joint, report)
        _limits(robot, joint, report)
        for name in ("damping", "friction", "armature"):
            if np.any(np.asarray(getattr(joint, name)) < 0):
                report.add(
                    "friction-negative", joint.line, joint.where, f"{name} is {_shown(getattr(joint, name))}",
                    lambda joint=joint, name=name: setattr(joint, name, np.abs(getattr(joint, name))),  # type: ignore[misc]
                )  # fmt: skip
    _followers(robot, report)


def _axis(joint: JointPart, report: Report) -> None:
    if joint.axis is None:
        return
    largest = float(np.abs(joint.axis).max())
    if largest == 0.0:
        report.add("axis-zero", joint.line, joint.where, "the axis is zero")
        joint.axis = np.array([0.0, 0.0, 1.0])  # so that what follows can be checked
        return
    if abs((length := math.hypot(*joint.axis)) - 1.0) > NEARLY_ONE:
        report.add("axis-not-unit", joint.line, joint.where, f"the axis {_shown(joint.axis)} has length {length:.6g}")
    _, power = math.frexp(largest)
    if abs(power) > MOST_POWER:  # an axis is a direction, of whatever length: this one in numbers that can be squared
        joint.axis = np.ldexp(joint.axis, -power)


def _limits(robot: Description, joint: JointPart, report: Report) -> None:
    line = joint.line if joint.limit_line is None else joint.limit_line
    if joint.lower is None or joint.upper is None:
        if robot.requires_limits and joint.kind in ("revolute", "prismatic"):
            missing = "no <limit>" if joint.limit_line is None else "a <limit> without lower= and upper="
            report.add(
                "limits-missing", line, joint.where, f"a {joint.kind} joint has {missing}", lambda: None
            )  # no limit is what None means
        return
    lower, upper = np.asarray(joint.lower, float), np.asarray(joint.upper, float)
    if np.any(lower > upper):

        def exchange() -> None:
            joint.lower, joint.upper = np.minimum(lower, upper), np.maximum(lower, upper)

        report.add(
            "limits-inverted", line, joint.where, f"lower {_shown(lower)} exceeds upper {_shown(upper)}", exchange
        )


def _followers(robot: Description, report: Report) -> None:
    """Check mimic joints, and make each follow a joint that moves on its own. A mistake is told where it is, once."""
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


def _leader(joint: JointPart, name: str, joints: dict[str, JointPart], report: Report) -> JointPart | None:
    leader = joints.get(name)
    if joint.kind not in ONE_FREEDOM:
        report.add("mimic-unknown", joint.line, joint.where, f"a {joint.kind} joint cannot follow another")
        return None
    if leader is None or leader.kind not in ONE_FREEDOM:
        what = f"does not exist{report.did_you_mean(name, joints)}" if leader is None else f"is {leader.kind}"
        report.add("mimic-unknown", joint.line, joint.where, f"it mimics {name!r}, which {what}")
        return None
    return leader


def _joined(joint: JointPart, following: Mimic, report: Report) -> Mimic | None:
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


def _shared_ranges(robot: Description, report: Report) -> None:
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
