"""Denavit–Hartenberg tables in torsor's own format."""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Pose
from torsor.formats.description import Description, ExactJoint, FramePart, JointPart, LinkPart
from torsor.formats.mapping_fields import NodeFields
from torsor.formats.screw_list_parts import MOTION, read_inertia, read_motion
from torsor.model import DHRow, Inertia, dh_chain

CONVENTIONS = ("standard", "modified")
TABLE_KEYS = {"convention", "rows", "inertias", "names", "tip"}
ROW_KEYS = {"a", "alpha", "d", "theta", "prismatic", *MOTION}


def read_table(robot: NodeFields, described: Description) -> None:
    """Joints joint_1 … (or ``names``), links link_1 … and the frame "tip", as `torsor.dh_chain` makes them."""
    fields = robot.inner("dh")
    if fields is None:
        return
    fields.known(TABLE_KEYS)
    convention = fields.name("convention")
    if convention is not None and convention not in CONVENTIONS:
        line = fields.line_of("convention")
        fields.add("value-malformed", line, f"'dh.convention' must be standard or modified, found {convention[:40]!r}")
        convention = None
    if fields.given("rows") is None:
        fields.missing("rows")
    rows = [fields.fields_of(item, path) for path, item in fields.items("rows")]
    names = _names(fields, len(rows))
    table: list[DHRow] = []
    for k, row in enumerate(rows):
        link = described.base if k == 0 else f"link_{k}"
        joint = JointPart(names[k], "revolute", link, f"link_{k + 1}", fields.line if row is None else row.line)
        if row is not None:
            row.where, row.path = joint.where, ""
            row.known(ROW_KEYS)
            a, alpha, d, theta = (row.number(key, 0.0) or 0.0 for key in ("a", "alpha", "d", "theta"))
            table.append(DHRow(a, alpha, d, theta, row.flag("prismatic")))
            joint.kind = "prismatic" if table[-1].prismatic else "revolute"
            read_motion(row, joint)
        described.joints.append(joint)
        described.links.append(LinkPart(joint.child, joint.line))
    _read_inertias(fields, described)
    tip = fields.pose("tip")
    if table and len(table) == len(rows) and tip is not None:
        _place(described, table, convention or "standard", tip, fields.line_of("tip"))
    else:
        for joint in described.joints:
            joint.axis = np.array([0.0, 0.0, 1.0])


def _place(described: Description, table: list[DHRow], convention: str, tip: Pose, line: int) -> None:
    """Poses and screws of the joints, and the tip, from the table."""
    made = dh_chain(table, [Inertia.zero()] * len(table), convention=convention, tip=tip)
    s, p = made.structure, made.parameters
    assert described.exact is not None
    for i, joint in enumerate(described.joints):
        ratio = s.couplings[i].ratio
        joint.pose, joint.screw = p.poses[i], ratio * p.screws[i]
        described.exact.joints[joint.name] = ExactJoint(p.poses[i], p.screws[i], ratio, 0.0)
    described.frames.append(FramePart("tip", f"link_{len(table)}", p.frame_poses[-1], line))


def _names(fields: NodeFields, count: int) -> list[str]:
    names = fields.texts("names")
    if names is not None and len(names) != count:
        message = f"'dh.names' holds {len(names)} names for {count} rows"
        fields.add("value-malformed", fields.line_of("names"), message)
        names = None
    return [f"joint_{k + 1}" for k in range(count)] if names is None else names


def _read_inertias(fields: NodeFields, described: Description) -> None:
    items = list(fields.items("inertias"))
    links = described.links[1:]
    if items and len(items) != len(links):
        message = f"'dh.inertias' holds {len(items)} inertias for {len(links)} rows (null: none)"
        fields.add("value-malformed", fields.line_of("inertias"), message)
    for link, (path, item) in zip(links, items, strict=False):
        if item.value is not None:
            read_inertia(fields.fields_of(item, path), link, described)
