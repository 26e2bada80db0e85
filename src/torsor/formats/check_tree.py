"""Do the links form one tree?"""

from __future__ import annotations

from collections import Counter

from torsor.formats.description import Description, JointPart
from torsor.formats.findings import Report


def check(robot: Description, report: Report, *, floating: bool) -> None:
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


def _duplicates(robot: Description, report: Report) -> None:
    for rule, parts in (("duplicate-link", robot.links), ("duplicate-joint", robot.joints)):
        counts = Counter(part.name for part in parts)
        for name, times in counts.items():
            if times > 1:
                same = [part for part in parts if part.name == name]
                lines = ", ".join(str(part.line) for part in same[:5])
                report.add(rule, same[1].line, same[1].where, f"described {times} times (lines {lines})")


def _cycles(robot: Description, parent_joints: dict[str, list[JointPart]], report: Report) -> None:
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


def _roots(robot: Description, children: set[str], report: Report) -> None:
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
