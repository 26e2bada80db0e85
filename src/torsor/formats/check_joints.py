"""Can the joints move as they say?"""

from __future__ import annotations

import numpy as np

from torsor.formats.description import INFINITE, Description, JointPart
from torsor.formats.findings import Report
from torsor.model import Mimic

NEARLY_ONE = 1e-6  # files give unit axes with six digits


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
    length = float(np.linalg.norm(joint.axis))
    if length < 1e-12:
        report.add("axis-zero", joint.line, joint.where, "the axis is zero")
        joint.axis = np.array([0.0, 0.0, 1.0])  # so that what follows can be checked
    elif abs(length - 1.0) > NEARLY_ONE:
        report.add("axis-not-unit", joint.line, joint.where, f"the axis {_shown(joint.axis)} has length {length:.6g}")


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
    """Check mimic joints, and make each follow a joint that moves on its own."""
    joints = {joint.name: joint for joint in robot.joints}
    for joint in robot.joints:
        if joint.mimic is None:
            continue
        ratio, offset, leader, met = 1.0, 0.0, joint, {joint.name}
        while leader.mimic is not None:
            offset += ratio * leader.mimic.offset
            ratio *= leader.mimic.ratio
            following = joints.get(leader.mimic.joint)
            if following is None or following.kind not in ("revolute", "continuous", "prismatic", "helical"):
                what = "does not exist" if following is None else f"is {following.kind}"
                report.add("mimic-unknown", joint.line, joint.where, f"it mimics {leader.mimic.joint!r}, which {what}")
                break
            if following.name in met:
                report.add("mimic-cycle", joint.line, joint.where, f"it follows {following.name!r}, which follows it")
                break
            met.add(following.name)
            leader = following
        else:
            if ratio == 0.0:
                report.add("mimic-zero", joint.line, joint.where, "its multiplier is zero, so that it follows nothing")
                continue
            joint.mimic = Mimic(leader.name, ratio, offset)
    if not report.failed:
        _shared_ranges(robot, report)


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
