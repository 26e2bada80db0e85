"""Parts of torsor's own format: inertias, screws, limits, friction and springs of joints, and Denavit–Hartenberg tables."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from torsor import lie
from torsor.arrays.typing import InertiaRow, Pose, Twist, Vector3
from torsor.errors import ModelError
from torsor.formats.check_mechanism import ONE_FREEDOM
from torsor.formats.description import (
    INFINITE,
    LARGEST,
    MOTION,
    Description,
    ExactBody,
    ExactJoint,
    FramePart,
    JointPart,
    LinkPart,
)
from torsor.formats.mapping_fields import NodeFields
from torsor.lie import se3
from torsor.lie.unchecked.inertias import rotational
from torsor.model import DHRow, Inertia, Joint, dh_chain
from torsor.model.joint_kinds import KINDS
from torsor.model.joints import unit_screw

SCREW = ("axis", "pitch", "screw", "ratio")
_UNBOUNDED = {"lower": -INFINITE, "upper": INFINITE, "velocity_limit": INFINITE, "effort_limit": INFINITE}
_Z = (0.0, 0.0, 1.0)
_STAND_IN = (1.0, np.array([0.4, 0.0, 0.0, 0.4, 0.0, 0.4]))
CONVENTIONS = ("standard", "modified")
TABLE_KEYS = {"convention", "rows", "inertias", "names", "tip"}
ROW_KEYS = {"a", "alpha", "d", "theta", "prismatic", *MOTION}


def read_motion(fields: NodeFields, joint: JointPart) -> None:
    """Limits, armature, friction and springs: numbers, or one per number of q (limits of q) or v (all others)."""
    kind = KINDS.get(joint.kind, KINDS["revolute"])
    for key, attribute in MOTION.items():
        size = kind.nq if key in ("lower", "upper") else kind.nv
        value = fields.spread(key, size, _UNBOUNDED.get(key, 0.0), bounded=key not in _UNBOUNDED)
        if joint.kind == "continuous" and key in ("lower", "upper"):
            fields.means_nothing((key,), "a continuous joint")
        elif not kind.has_screw and key in ("stiffness", "rest"):
            if fields.given(key) is not None:
                message = f"{key!r} is for joints with one number, and this one is {joint.kind}"
                fields.add("value-malformed", fields.line_of(key), message)
        elif value is not None:
            setattr(joint, attribute, value)
    if fields.given("lower") is not None or fields.given("upper") is not None:
        joint.limit_line = fields.line_of("lower", "upper")


def read_screw(fields: NodeFields, joint: JointPart) -> tuple[Twist | None, float]:
    """Give the joint its axis or screw; returns the screw as written (6,), if that is its motion, and its ratio."""
    if joint.kind not in ONE_FREEDOM:
        fields.means_nothing(SCREW, f"a {joint.kind} joint: turn its pose")
        return None, 1.0
    axis, screw = fields.vector("axis", 3, INFINITE), fields.vector("screw", 6)  # an axis is a direction, of any length
    with_axis, with_screw = fields.given("axis") is not None, fields.given("screw") is not None
    if with_axis and with_screw:
        fields.add("repeated-tag", fields.line_of("screw"), "both 'axis' and 'screw' are given")
    elif not with_axis and not with_screw:
        fields.missing("axis", "give 'axis' or 'screw'")
    if with_screw or joint.kind != "helical":
        fields.means_nothing(("pitch",), "a screw" if with_screw else f"a {joint.kind} joint")
    elif with_axis:
        joint.pitch = fields.number("pitch") or 0.0
    if with_axis or not with_screw:
        fields.means_nothing(("ratio",), "an axis: give a screw")
        joint.axis = np.array(_Z) if axis is None else axis
        return screw_along(joint.kind, joint.axis, joint.pitch), 1.0
    ratio = _ratio(fields)
    if screw is None or not _is_screw(fields, joint, screw, ratio):
        joint.axis = np.array(_Z)  # reported; what follows can be checked
        return None, 1.0
    joint.screw = ratio * screw
    return screw, ratio


def screw_along(kind: str, axis: Vector3, pitch: float = 0.0) -> Twist:
    """The screw (6,) that `axis` and `pitch` mean; not a finite one, if the axis is too long."""
    with np.errstate(over="ignore"):
        return KINDS["revolute" if kind == "continuous" else kind].screw_along(axis, pitch)


def _ratio(fields: NodeFields) -> float:
    ratio = fields.number("ratio", 1.0)
    if ratio is not None and not ratio > 0:
        fields.add("value-malformed", fields.line_of("ratio"), f"'ratio' must be positive, found {ratio:g}")
        return 1.0
    return 1.0 if ratio is None else ratio


def _is_screw(fields: NodeFields, joint: JointPart, screw: Twist, ratio: float) -> bool:
    """Whether it is a screw of this joint's kind; reported if not."""
    if not np.any(screw):
        fields.add("axis-zero", fields.line_of("screw"), "the screw is zero")
        return False
    length = ratio * float(np.abs(screw[:3] if np.any(screw[:3]) else screw[3:]).max())
    if not 1 / LARGEST <= length <= LARGEST:
        message = f"its ratio times the {'rotation' if np.any(screw[:3]) else 'translation'} of its screw is {length:g}"
        advice = f"Let it move by more than {1 / LARGEST:g}, and less than {LARGEST:g}, when q is 1."
        fields.add("value-malformed", fields.line_of("screw"), message, advice)
        return False
    try:
        unit_screw(Joint(name=joint.name, kind=joint.kind, screw=screw))
    except ModelError as error:
        message = str(error).rstrip(".").removeprefix(f"joint {joint.name!r} ")
        advice = "Give it that kind, or another screw; helical joints take every screw."
        fields.add("unknown-joint-type", fields.line_of("screw"), f"it {message}", advice)
        return False
    return True


def read_inertia(fields: NodeFields | None, link: LinkPart, described: Description) -> None:
    """Give the link its inertia: mass, com and rotational, or the ten numbers of the model.

    One that cannot be used (``fields`` None: it is no mapping) has been reported; a ball stands in for it.
    """
    link.mass, link.moments = _STAND_IN
    if fields is None:
        return
    fields.where = link.where
    link.inertial_line = fields.line
    fields.known({"mass", "com", "rotational", "parameters"})
    if fields.given("parameters") is not None:
        if any(fields.given(name) is not None for name in ("mass", "com", "rotational")):
            fields.add("repeated-tag", fields.line, "both 'parameters' and 'mass', 'com' or 'rotational' are given")
        row = fields.vector("parameters", 10)
        if row is not None:
            _take_row(fields, row, link, described)
        return
    mass, com, moments = fields.number("mass"), fields.vector("com", 3), fields.vector("rotational", 6)
    if mass is None or any(
        fields.given(key) is not None and got is None for key, got in (("com", com), ("rotational", moments))
    ):
        return
    link.mass = mass
    link.com = np.zeros(3) if com is None else com
    link.moments = np.zeros(6) if moments is None else moments


def _take_row(fields: NodeFields, row: InertiaRow, link: LinkPart, described: Description) -> None:
    mass = float(row[0])
    if mass == 0.0 and np.any(row[1:4]):
        moment = float(np.abs(row[1:4]).max())
        fields.add("massless-with-inertia", fields.line_of("parameters"), f"no mass, but a moment of {moment:.6g} kg·m")
        return
    with np.errstate(all="ignore"):
        com = row[1:4] / mass if mass else np.zeros(3)
        about = rotational(lie.transform_inertia(se3.pose(np.eye(3), -com), row)) if mass else rotational(row)
    if not np.all(np.abs(com) <= LARGEST) or not np.all(np.isfinite(about)):
        message = f"a mass of {mass:g} kg and these moments have no centre of mass"
        fields.add("number-malformed", fields.line_of("parameters"), message)
        return
    with suppress(ModelError):  # no body: the check of inertias says why
        about = Inertia.from_row(row).rotational  # without what is but rounding
    link.mass, link.com = mass, com
    link.set_matrix(about)
    assert described.exact is not None
    described.exact.bodies[link.name] = ExactBody(row, link.moments)


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
