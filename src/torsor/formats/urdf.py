"""URDF, as ROS 1 and ROS 2 write it, into a description: what is written, with its lines, and nothing guessed."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

import numpy as np

from torsor.formats.description import INFINITE, Description, JointPart, LinkPart, Shape
from torsor.formats.findings import Findings
from torsor.formats.safe_xml import Element, Fields, as_number, is_blank
from torsor.model import Mimic, Visual

Colour = tuple[float, float, float, float]
KINDS = {name: name for name in ("revolute", "continuous", "prismatic", "fixed", "planar")} | {"floating": "free"}
_BALL = "URDF has no such joint: use three continuous ones, or kind spherical of torsor's own format (docs/format.md)."
_SCREW = (
    "URDF has no such joint: let a prismatic joint mimic a revolute one, or use kind helical of torsor's own format."
)
NOT_IN_URDF = {"ball": _BALL, "spherical": _BALL, "screw": _SCREW, "helical": _SCREW}
# Which attributes and children a tag may have; of tags without an entry (material, gazebo, …) nothing is read.
ATTRIBUTES = {
    "robot": {"name", "version", "xmlns:xacro", "xmlns:drake"},
    "link": {"name", "type"},
    "inertial": set(),
    "mass": {"value"},
    "inertia": {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"},
    "origin": {"xyz", "rpy"},
    "joint": {"name", "type"},
    "parent": {"link"},
    "child": {"link"},
    "axis": {"xyz"},
    "limit": {"lower", "upper", "effort", "velocity", "acceleration", "jerk"},
    "dynamics": {"damping", "friction"},
    "mimic": {"joint", "multiplier", "offset"},
}
CHILDREN = {
    "robot": {"link", "joint", "material", "transmission", "gazebo", "sensor", "ros2_control", "group", "mujoco"},
    "link": {"inertial", "visual", "collision", "contact", "self_collision_checking", "verbose", "sensor"},
    "inertial": {"origin", "mass", "inertia"},
    "joint": {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller"},
}
# Attributes that are numbers, with what they are where they are not given; None if they must be.
MOMENTS = dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
RATES = {"velocity": INFINITE, "effort": INFINITE}
LIMITS = {"lower": 0.0, "upper": 0.0} | RATES
LARGEST_LIMIT = sys.float_info.max  # stands for no limit at all, which URDF cannot say


def read(root: Element, report: Findings, content: bytes) -> Description | None:
    """The description of a <robot> element, read from ``content``; None if it is a template of one."""
    # Without these there is no template: expat knows encodings that extend ASCII, and UTF-16, which has zeros.
    suspicious = any(sign in content for sign in (b"$", b"xacro:", b"&", b"\0"))
    if suspicious and (template := _template(root)) is not None:
        report.add("xacro", template.line, "", "the file is a xacro template, not a URDF")
        return None
    _report_unknown(root, report)
    name = root.attributes.get("name", "")
    if is_blank(name):
        report.add("missing-attribute", root.line, "<robot>", "name= is missing or empty")
    description = Description("robot" if is_blank(name) else name, requires_limits=True, rigid=True)
    colours = {material.attributes.get("name"): _colour(material) for material in root.all("material")}
    for element in root.children:
        if element.tag == "link" and (link := _link(element, report)) is not None:
            description.links.append(link)
            if link.shapes:
                description.visuals += _visuals(element, link.name, colours)
        elif element.tag == "joint" and (joint := _joint(element, report)) is not None:
            description.joints.append(joint)
    _read_transmissions(root, description, report)
    return description


def _link(element: Element, report: Findings) -> LinkPart | None:
    name = Fields(report, "<link>").word(element, "name")
    if name is None:
        return None
    link = LinkPart(name, element.line)
    fields = Fields(report, link.where)
    inertial = fields.only(element, "inertial")
    if inertial is not None:
        _read_inertial(inertial, link, fields)
    for role in ("visual", "collision"):
        for part in element.all(role):
            shape = _shape(part, fields)
            if shape is not None:
                link.shapes.append(shape)
    return link


def _read_inertial(inertial: Element, link: LinkPart, fields: Fields) -> None:
    link.inertial_line = inertial.line
    pose = fields.pose(inertial)
    mass, inertia = fields.only(inertial, "mass"), fields.only(inertial, "inertia")
    for tag, found in (("mass", mass), ("inertia", inertia)):
        if found is None:
            fields.report.add("missing-tag", inertial.line, fields.where, f"<inertial> has no <{tag}>")
    value = None if mass is None else fields.number(mass, "value")
    link.mass = 1.0 if value is None else value  # what could not be read has been reported: nothing else is blamed
    if inertia is not None:
        numbers = fields.numbers(inertia, MOMENTS)
        if None not in numbers:  # else a point mass, which breaks no other rule
            link.moments = np.array(numbers)
            link.written = tuple(map(inertia.attributes.__getitem__, MOMENTS))
        link.inertial_line = inertia.line
    if pose is not None:
        link.com, link.turn = pose[:3, 3], pose[:3, :3]


def _shape(part: Element, fields: Fields) -> Shape | None:
    geometry = part.first("geometry")
    body = geometry.children[0] if geometry is not None and geometry.children else None
    if body is None:
        return None
    if body.tag == "mesh":
        _check_path(body, fields)
        return Shape("mesh", (), np.eye(4), body.line)  # meshes are never opened
    pose = fields.pose(part)
    sizes: list[float | None]
    if body.tag == "box":
        box = fields.vector(body, "size", 3, None)
        sizes = [None] if box is None else [float(x) for x in box]
    elif body.tag in ("cylinder", "capsule"):
        sizes = [fields.number(body, "radius"), fields.number(body, "length")]
    elif body.tag == "sphere":
        sizes = [fields.number(body, "radius")]
    else:
        return None
    if pose is None or any(size is None for size in sizes):
        return None
    return Shape(body.tag, tuple(size for size in sizes if size is not None), pose, body.line)


def _visuals(element: Element, link: str, colours: Mapping[str | None, Colour | None]) -> Iterator[Visual]:
    """What a link looks like. What cannot be read is left out: shapes are told of above, and looks change no equation."""
    silent = Fields(Findings(""), "")
    for part in element.all("visual"):
        shape, pose, material = _shape(part, silent), silent.pose(part), part.first("material")
        if shape is None or pose is None:
            continue
        colour = None if material is None else _colour(material) or colours.get(material.attributes.get("name"))
        if shape.kind != "mesh":
            yield Visual(link, shape.kind, shape.size, pose, colour)
            continue
        mesh = next(body for geometry in part.all("geometry") for body in geometry.all("mesh"))
        scale = silent.vector(mesh, "scale", 3, (1.0, 1.0, 1.0))
        if scale is not None:
            yield Visual(link, "mesh", tuple(scale.tolist()), pose, colour, mesh.attributes.get("filename", ""))


def _colour(material: Element) -> Colour | None:
    colour = material.first("color")
    numbers = [] if colour is None else [as_number(word) for word in colour.attributes.get("rgba", "").split()]
    good = [number for number in numbers if number is not None and 0.0 <= number <= 1.0]
    return (good[0], good[1], good[2], good[3]) if len(good) == len(numbers) == 4 else None


def _check_path(mesh: Element, fields: Fields) -> None:
    """Files are named, never opened; a name that leads elsewhere is worth saying, for other programs follow it."""
    name = mesh.attributes.get("filename", "")
    scheme, found, rest = name.partition("://")
    path = PurePosixPath((rest if found else name).replace("\\", "/"))
    outside = ".." in path.parts or (found and scheme == "file") or (not found and path.is_absolute())
    if outside:
        fields.report.add(
            "path-outside", mesh.line, fields.where, f"the mesh {name[:80]!r} lies outside the robot's files"
        )


def _joint(element: Element, report: Findings) -> JointPart | None:
    name = Fields(report, "<joint>").word(element, "name")
    if name is None:
        return None
    fields = Fields(report, f"joint {name!r}")
    kind = _kind(element, fields)
    ends = [_end(element, tag, fields) for tag in ("parent", "child")]
    pose = fields.pose(element)
    if ends[0] is None or ends[1] is None:
        return None
    # What could not be read has been reported: the joint still holds its links together, so that nothing else is blamed.
    joint = JointPart(name, kind or "fixed", ends[0], ends[1], element.line, np.eye(4) if pose is None else pose)
    if joint.kind != "fixed":
        _read_axis(element, joint, fields)
        _read_limits(element, joint, fields)
        dynamics = fields.only(element, "dynamics")
        if dynamics is not None:
            damping, friction = fields.numbers(dynamics, {"damping": 0.0, "friction": 0.0})
            joint.damping, joint.friction = damping or 0.0, friction or 0.0
        mimic = fields.only(element, "mimic")
        if mimic is not None:
            leader = fields.word(mimic, "joint")
            ratio, offset = fields.number(mimic, "multiplier", 1.0), fields.number(mimic, "offset", 0.0)
            if leader is not None and ratio is not None and offset is not None:
                joint.mimic = Mimic(leader, ratio, offset)
    return joint


def _kind(element: Element, fields: Fields) -> str | None:
    written = fields.word(element, "type")
    if written is None:
        return None
    if written not in KINDS:
        hint = fields.report.did_you_mean(written.strip().lower(), KINDS)
        message = f"unknown joint type {written[:40]!r}{hint}"
        advice = NOT_IN_URDF.get(written.strip().lower(), "")
        fields.report.add("unknown-joint-type", element.line, fields.where, message, advice=advice)
        return None
    return KINDS[written]


def _end(element: Element, tag: str, fields: Fields) -> str | None:
    end = fields.only(element, tag)
    if end is None:
        fields.report.add("missing-tag", element.line, fields.where, f"<{tag} link=…/> is missing")
        return None
    return fields.word(end, "link")


def _read_axis(element: Element, joint: JointPart, fields: Fields) -> None:
    if joint.kind == "free":
        return
    axis = fields.only(element, "axis")
    if axis is None:
        fields.report.add("axis-missing", element.line, fields.where, "no <axis> is given")
        joint.axis = np.array([1.0, 0.0, 0.0])
    else:
        numbers = fields.vector(axis, "xyz", 3, None, largest=INFINITE)  # a direction, of any length
        joint.axis = np.array([1.0, 0.0, 0.0]) if numbers is None else numbers


def _read_limits(element: Element, joint: JointPart, fields: Fields) -> None:
    limit = fields.only(element, "limit")
    if limit is None:
        return
    joint.limit_line = limit.line
    given = "lower" in limit.attributes or "upper" in limit.attributes
    if joint.kind in ("revolute", "prismatic") and given:  # for the others, lower and upper mean nothing
        lower, upper, velocity, effort = fields.numbers(limit, LIMITS, largest=INFINITE)
        readable = lower is not None and upper is not None  # else it has been reported: nothing else is blamed
        joint.lower = -INFINITE if lower is None or not readable else _or_unbounded(lower)
        joint.upper = INFINITE if upper is None or not readable else _or_unbounded(upper)
    else:
        velocity, effort = fields.numbers(limit, RATES, largest=INFINITE)
    joint.velocity = INFINITE if velocity is None else _or_unbounded(velocity)
    joint.effort = INFINITE if effort is None else _or_unbounded(effort)


def _or_unbounded(value: float) -> float:
    return value if abs(value) < LARGEST_LIMIT else math.copysign(INFINITE, value)


def _read_transmissions(root: Element, description: Description, report: Findings) -> None:
    joints = {joint.name: joint for joint in description.joints}
    for transmission in root.all("transmission"):
        where = f"transmission {transmission.attributes.get('name', '')!r}"
        parts = [transmission, *transmission.all("joint"), *transmission.all("actuator")]
        for written in (child for part in parts for child in part.all("mechanicalReduction")):
            value = as_number(written.text.strip())
            if value is None:
                message = f"<mechanicalReduction> must be a number, found {written.text.strip()[:40]!r}"
                report.add("transmission-malformed", written.line, where, message)
                continue
            for part in transmission.all("joint"):
                if (joint := joints.get(part.attributes.get("name", ""))) is not None:
                    joint.reduction = value


def _template(root: Element) -> Element | None:
    """The first element that only xacro understands."""
    for element in root.walk():
        if element.tag.startswith("xacro:"):
            return element
        for value in element.attributes.values():
            if "${" in value or "$(" in value:
                return element
    return None


def _report_unknown(root: Element, report: Findings) -> None:
    """Each unknown tag and attribute once, with how often it stands there."""
    tags: dict[tuple[str, str], list[int]] = {}
    attributes: dict[tuple[str, str], list[Element]] = {}
    waiting = [root]
    while waiting:
        element = waiting.pop()
        known, readable = CHILDREN.get(element.tag), ATTRIBUTES[element.tag]
        if not readable.issuperset(element.attributes):
            for key in element.attributes:
                if key not in readable and ":" not in key:
                    attributes.setdefault((element.tag, key), []).append(element)
        for child in element.children:
            if known is not None and child.tag not in known and ":" not in child.tag:
                tags.setdefault((element.tag, child.tag), []).append(child.line)
            elif child.tag in ATTRIBUTES:
                waiting.append(child)
    for (tag, found), lines in tags.items():
        report.add("unknown-tag", min(lines), f"<{tag}>", f"unknown tag <{found[:40]}>{_times(lines)}")
    for (tag, found), elements in attributes.items():
        near, lines = report.nearest(found, ATTRIBUTES[tag]), [element.line for element in elements]
        meant = f" (did you mean {near!r}?)" if near and near not in elements[0].attributes else ""
        message = f"unknown attribute {found[:40]!r}{meant}{_times(lines)}"
        report.add("misspelt-attribute" if meant else "unknown-attribute", min(lines), f"<{tag}>", message)


def _times(lines: list[int]) -> str:
    return f" ({len(lines)} times)" if len(lines) > 1 else ""
