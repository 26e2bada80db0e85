"""torsor's own format, version 1 (docs/format.md): a list of screws in JSON or YAML, into a description."""

from __future__ import annotations

from collections import Counter

import numpy as np

from torsor.formats.check_mechanism import ONE_FREEDOM
from torsor.formats.description import MOTION, Description, Exact, ExactJoint, FramePart, JointPart, LinkPart
from torsor.formats.findings import Findings
from torsor.formats.mapping_fields import NodeFields, shown
from torsor.formats.plain_data import REPORTED, Node, parse_json, parse_yaml
from torsor.formats.rules import ACCEPTABLE, Severity
from torsor.formats.screw_list_parts import SCREW, read_inertia, read_motion, read_screw, read_table
from torsor.model import Mimic, Visual
from torsor.model.joint_kinds import DESCRIBED_KINDS
from torsor.model.visuals import SIZES

VERSION = 1
BASE = "base"
ROBOT_KEYS = {
    "torsor", "name", "base", "gravity", "coulomb_width", "order", "frame_order", "base_inertia", "joints", "dh", "frames",
    "accept", "visuals",
}  # fmt: skip
JOINT_KEYS = {"name", "kind", "parent", "link", "pose", "inertia", "mimic", *SCREW, *MOTION}


def read_json(content: bytes, report: Findings) -> Description | None:
    """What a JSON file says of a robot; None if it cannot be read at all (the report says why)."""
    return _read(parse_json(content, report), report)


def read_yaml(content: bytes, report: Findings) -> Description | None:
    """What a YAML file says of a robot; None if it cannot be read at all (the report says why)."""
    return _read(parse_yaml(content, report), report)


def _read(root: Node | None, report: Findings) -> Description | None:
    if root is None:
        return None
    if not isinstance(root.value, dict) or not {"torsor", "joints", "dh"} & root.value.keys():
        report.add(
            "not-a-robot", root.line, "", "the outermost value is not a mapping with `torsor: 1` and `joints` or `dh`"
        )
        return None
    fields = NodeFields(root, report, "")
    if not _check_version(fields):
        return None
    name = fields.text("name") or "robot"
    fields.where = f"robot {name!r}"
    fields.known(ROBOT_KEYS)
    described = Description(name, exact=Exact(), base=fields.text("base") or BASE)
    described.gravity = fields.vector("gravity", 3)
    described.coulomb_width = _not_negative(fields, "coulomb_width")
    base = LinkPart(described.base, fields.line_of("base"))
    if fields.given("base_inertia") is not None:
        read_inertia(fields.inner("base_inertia"), base, described)
    described.links.append(base)
    report.on_purpose = _accepted(fields)
    if fields.given("joints") is not None and fields.given("dh") is not None:
        fields.add("repeated-tag", fields.line_of("dh"), "both 'joints' and 'dh' are given")
    elif fields.given("dh") is not None:
        read_table(fields, described)
    elif fields.given("joints") is not None:
        _read_joints(fields, described)
    else:
        fields.missing("joints", "a list of joints, or 'dh' with a table")
    _read_frames(fields, described)
    _read_order(fields, described)
    _read_visuals(fields, described)
    return described


def _check_version(fields: NodeFields) -> bool:
    node = fields.given("torsor")
    if node is None:
        fields.missing("torsor", f"write `torsor: {VERSION}`, the version of the format")
        return True
    if node.value is not REPORTED and (isinstance(node.value, bool) or node.value != VERSION):
        message = f"version {shown(node)} of torsor's format; this torsor reads version {VERSION}"
        fields.add("not-a-robot", node.line, message)
        return False
    return True


def _accepted(fields: NodeFields) -> list[str]:
    """The rules that the file says it breaks on purpose."""
    names = fields.texts("accept") or []
    for name in names:
        if name not in ACCEPTABLE:
            message = f"'accept' takes {', '.join(ACCEPTABLE)}; found {name[:40]!r}"
            fields.add("unknown-key", fields.line_of("accept"), message)
    return [name for name in names if name in ACCEPTABLE]


def _not_negative(fields: NodeFields, key: str) -> float:
    number = fields.number(key, 0.0)
    if number is not None and number < 0:
        fields.add("value-malformed", fields.line_of(key), f"{key!r} must not be negative, found {number:g}")
    return 0.0 if number is None else number


def _read_joints(fields: NodeFields, described: Description) -> None:
    names = {described.base}
    for path, item in fields.items("joints"):
        inner = fields.fields_of(item, path)
        part = None if inner is None else _joint(inner, described)
        if part is None:
            continue
        described.joints.append(part)
        if part.child not in names:  # a link with two parents is told by the check of the tree
            names.add(part.child)
            link = LinkPart(part.child, part.line)
            described.links.append(link)
            if inner is not None and inner.given("inertia") is not None:
                read_inertia(inner.inner("inertia"), link, described)


def _joint(fields: NodeFields, described: Description) -> JointPart | None:
    """One joint. What cannot be used is replaced, so that one mistake is told once; only a joint without a name is none."""
    name = fields.name("name")
    if name is None:
        return None
    fields.where, fields.path = f"joint {name!r}", ""
    fields.line = fields.line_of("name")
    fields.known(JOINT_KEYS)
    kind = fields.name("kind")
    if kind is not None and kind not in DESCRIBED_KINDS:
        message = f"unknown kind {kind[:40]!r}{fields.report.did_you_mean(kind, DESCRIBED_KINDS)}"
        fields.add("unknown-joint-type", fields.line_of("kind"), message, f"Kinds: {', '.join(DESCRIBED_KINDS)}.")
        kind = None
    pose = fields.pose("pose")
    joint = JointPart(
        name,
        kind or "revolute",
        fields.text("parent") or described.base,
        fields.text("link") or f"{name}_link",
        fields.line,
        np.eye(4) if pose is None else pose,
        axis=np.array([0.0, 0.0, 1.0]) if kind is None else None,
        armature=1.0 if kind is None else 0.0,
    )
    if kind is not None:
        _read_kind(fields, joint, described)
    return joint


def _read_kind(fields: NodeFields, joint: JointPart, described: Description) -> None:
    """What a joint of a known kind has beside its place: its screw, limits, friction and leader."""
    if joint.kind == "fixed":
        fields.means_nothing((*SCREW, "mimic", *MOTION), "a fixed joint")
        return
    read_motion(fields, joint)
    screw, ratio = read_screw(fields, joint)
    offset = 0.0
    joint.mimic = _mimic(fields, joint)
    if joint.mimic is not None:
        ratio, offset = ratio * joint.mimic.ratio, ratio * joint.mimic.offset
    assert described.exact is not None
    described.exact.joints[joint.name] = ExactJoint(joint.pose, screw, ratio, offset)


def _mimic(fields: NodeFields, joint: JointPart) -> Mimic | None:
    follow = fields.inner("mimic")
    if follow is None:
        return None
    follow.known({"joint", "ratio", "offset"})
    leader = follow.name("joint")
    ratio, offset = follow.number("ratio", 1.0), follow.number("offset", 0.0)
    if joint.kind not in ONE_FREEDOM:
        fields.add("mimic-unknown", follow.line, f"a {joint.kind} joint cannot follow another")
        return None
    return None if leader is None or ratio is None or offset is None else Mimic(leader, ratio, offset)


def _read_frames(fields: NodeFields, described: Description) -> None:
    links = {link.name for link in described.links}
    taken: dict[str, int | None] = {link.name: link.line for link in described.links}
    taken |= {frame.name: frame.line for frame in described.frames}
    for path, item in fields.items("frames"):
        inner = fields.fields_of(item, path)
        if inner is None:
            continue
        name, link = inner.name("name"), inner.name("link")
        inner.where, inner.path = f"frame {name!r}" if name is not None else inner.where, ""
        inner.known({"name", "link", "pose"})
        pose, line = inner.pose("pose"), inner.line_of("name")
        if link is not None and link not in links:
            inner.add("missing-link", inner.line_of("link"), f"its link {link!r} does not exist")
        if name is not None and name in taken:
            inner.add("duplicate-link", line, f"the name is that of another frame or link (line {taken[name]})")
        elif name is not None:
            taken[name] = line
            if link is not None and pose is not None:
                described.frames.append(FramePart(name, link, pose, line))


def _read_visuals(fields: NodeFields, described: Description) -> None:
    places = {*(link.name for link in described.links), *(frame.name for frame in described.frames)}
    for path, item in fields.items("visuals"):
        inner = fields.fields_of(item, path)
        if inner is None:
            continue
        inner.known({"link", "kind", "size", "pose", "colour", "file"})
        link, kind, pose, colour = inner.name("link"), inner.name("kind"), inner.pose("pose"), inner.vector("colour", 4)
        if link is not None and link not in places:
            inner.add("missing-link", inner.line_of("link"), f"its link {link!r} does not exist")
        if kind is not None and kind not in SIZES:
            message = f"unknown kind {kind[:40]!r}{inner.report.did_you_mean(kind, SIZES)}"
            inner.add("value-malformed", inner.line_of("kind"), message, f"Kinds: {', '.join(SIZES)}.")
            continue
        size = None if kind is None else inner.vector("size", SIZES[kind])
        if kind is not None and inner.given("size") is None:
            inner.missing("size", f"{SIZES[kind]} of them")
        if colour is not None and (colour.min() < 0 or colour.max() > 1):
            message = f"{path + '.colour'!r} must be four numbers from 0 to 1"
            inner.add("value-malformed", inner.line_of("colour"), message)
        if link is None or kind is None or size is None or pose is None:
            continue
        paint = None if colour is None else (float(colour[0]), float(colour[1]), float(colour[2]), float(colour[3]))
        described.visuals.append(Visual(link, kind, tuple(size.tolist()), pose, paint, inner.text("file") or ""))


def _read_order(fields: NodeFields, described: Description) -> None:
    """The order of q, and that of `robot.frames`: lists that must name everything once."""
    told = {finding.element for finding in fields.report.of(Severity.ERROR)}  # these may be other than they seem
    free = [joint.name for joint in described.joints if joint.kind != "fixed" and joint.mimic is None]
    uncertain = {joint.name for joint in described.joints if joint.where in told}
    described.order = _permutation(fields, "order", free, "joint that moves on its own", uncertain)
    frames = [described.base, *(link.name for link in described.links[1:]), *(frame.name for frame in described.frames)]
    assert described.exact is not None
    described.exact.frame_order = _permutation(fields, "frame_order", frames, "link or frame", set())


def _permutation(fields: NodeFields, key: str, names: list[str], what: str, uncertain: set[str]) -> list[str] | None:
    """A list of exactly these names (of the ``uncertain``, with or without) in another order."""
    listed = fields.texts(key)
    if listed is None:
        return None
    line = fields.line_of(key)
    count = Counter(listed)
    known = {*names, *uncertain}
    wrong = [f"{name!r} is no {what}" for name in count if name not in known]
    wrong += [f"{name!r} stands {times} times" for name, times in count.items() if times > 1]
    wrong += [f"{name!r} is left out" for name in names if name not in count and name not in uncertain]
    if wrong:
        more = f" (and {len(wrong) - 3} more)" if len(wrong) > 3 else ""
        fields.add("value-malformed", line, f"{key!r} must name every {what} once: {'; '.join(wrong[:3])}{more}")
        return None
    return listed
