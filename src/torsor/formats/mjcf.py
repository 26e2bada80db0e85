"""MJCF, read by MuJoCo itself: its defaults, classes, units and inertias of geoms are what MuJoCo makes of them.

    file ─► safe_xml ─► the rigid part ─► MjSpec, without meshes ─► MjModel ─► mjcf_model: a description

MuJoCo comes with ``pip install "torsor[mjcf]"``. Meshes are never opened, and neither is any other file. What differs from
MuJoCo's numbers: quaternions are (x, y, z, w) here, and the velocity of a free joint is its twist in the body
(`torsor.adapters.MuJoCo` converts both). Everything else is the same: q of a hinge or slide is its qpos (its ``ref`` goes
into the home pose), q of a free joint is the pose of its body in the world.

A body with several joints becomes a chain of joints with massless links between, named ``body__joint``. A joint that an
equality constraint ties to another by a straight line becomes a mimic joint, which has no number in q.
"""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import numpy as np

from torsor.formats import mjcf_model, safe_xml
from torsor.formats.description import Description, unused
from torsor.formats.findings import Findings, unreadable
from torsor.formats.safe_xml import Element, as_number, is_blank, quoted

# MuJoCo's own words for what torsor has a rule for.
RULES_OF_MESSAGES = (
    ("bad format in attribute", "number-malformed"),
    ("number is too large", "number-malformed"),
    ("not have enough data", "number-malformed"),
    ("has too much data", "number-malformed"),
    ("A + B >= C", "inertia-triangle"),
    ("positive eigenvalues", "inertia-not-positive"),
    ("mass and inertia of moving bodies", "massless-body"),
    ("axis too small", "axis-zero"),
)
MOST_ELEMENTS = 25_000  # MuJoCo's parser takes a second for so many, and a minute for five times as many
MOST_COPYING = 4_000_000  # elements times copies of <replicate>: the same second
ACTUATORS = {
    "general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion", "dcmotor", "pid",
}  # fmt: skip
SECTIONS = {"compiler", "option", "default", "worldbody", "equality", "actuator"}
DEFAULTS = {"default", "joint", "geom", "site", "camera", "equality"}
# Elements of the world that are no part of a tree of rigid bodies, and the rule that says so.
REFUSED = {
    "include": "external-file",
    "attach": "external-file",
    "plugin": "plugin",
    "composite": "deformable",
    "flexcomp": "deformable",
    "flex": "deformable",
}
LEFT_OUT = {"light"}
# Attributes that name what is not passed on: no geometry but that of primitives, and no looks.
ATTRIBUTES_LEFT_OUT = {"geom": {"material"}, "site": {"material", "mesh"}}
# Attributes that hold names, in which "nan" is a word like any other.
NAMES = re.compile(r"(name|.*class|model|mesh|hfield|target|.*(joint|body|site|geom|tendon).*)\Z")
NOT_FINITE = re.compile(r"[+-]?(nan|inf)", re.IGNORECASE)


def read(content: bytes, report: Findings) -> Description | None:
    """The description of an MJCF file; None if it is refused (the report says why)."""
    try:
        import mujoco
    except ImportError:
        raise unreadable(report.file, "reading MJCF takes MuJoCo", 'Install it: pip install "torsor[mjcf]".') from None
    root = safe_xml.parse(content, report)
    text = None if root is None else _rigid_part(root, report)
    if root is None or text is None:
        return None
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            spec = mujoco.MjSpec.from_string(text)
            notes = _prepare(mujoco, spec, report, _mesh_files(root))
            if report.failed:
                return None
            model = spec.compile()
    except (ValueError, RuntimeError, MemoryError, mujoco.FatalError) as error:
        _report_refusal(str(error), report)
        return None
    for message in dict.fromkeys(str(warning.message) for warning in told):
        report.add("mjcf-warning", None, "", " ".join(message.split()).rstrip("."))
    name = root.attributes.get("model", "")
    return mjcf_model.describe(mujoco, model, "robot" if is_blank(name) else name, notes, report)


def _report_refusal(message: str, report: Findings) -> None:
    line = re.search(r"line (\d+)", message)
    element = re.search(r"Element (?:name )?('[^']*')", message)
    said = message.split("\nElement")[0]
    said = " ".join(re.sub(r"^((XML )?Error: ?)+", "", said).split()).rstrip(".")
    rule = next((rule for words, rule in RULES_OF_MESSAGES if words in message), "mjcf-invalid")
    where = "" if element is None else element[1]
    advice = "MuJoCo itself refuses it, so that it cannot be accepted: correct it." if rule in report.accept else ""
    place = None if line is None else int(line[1])
    report.add(rule, place, where, f"MuJoCo says: {said[:300]}", advice=advice, final=True)


def _mesh_files(root: Element) -> dict[str, mjcf_model.MeshFile]:
    """The files of meshes by name, as written, with their scales."""
    files = {}
    for mesh in (mesh for asset in root.all("asset") for mesh in asset.all("mesh")):
        file = mesh.attributes.get("file", "")
        scale = [as_number(word) for word in mesh.attributes.get("scale", "1 1 1").split()]
        name = mesh.attributes.get("name", PurePosixPath(file.replace("\\", "/")).stem)
        files[name] = mjcf_model.MeshFile(file, tuple(x for x in scale if x is not None))
    return files


def _prepare(mujoco: Any, spec: Any, report: Findings, files: Mapping[str, mjcf_model.MeshFile]) -> mjcf_model.Notes:
    """Name what has no name, take out what uses meshes, and note what compiling forgets."""
    notes = mjcf_model.Notes(fused=bool(spec.compiler.fusestatic), mesh_files=files)
    bodies = list(_bodies(spec.worldbody, moves=False))
    taken = {place.body.name for place in bodies}
    joint_names = {joint.name for joint in spec.joints}
    for k, place in enumerate(bodies):
        body = place.body
        if not body.name:
            body.name = unused(f"body_{k}", taken)
        notes.lines["body", body.name] = _line(body)
        joints = list(body.joints)
        for number, joint in enumerate(joints, 1):
            if not joint.name:
                joint.name = unused(f"{body.name}_joint{number if len(joints) > 1 else ''}", joint_names)
            notes.lines["joint", joint.name] = _line(joint)
            if joint.limited == mujoco.mjtLimited.mjLIMITED_AUTO and joint.range[0] > joint.range[1]:
                degrees = spec.compiler.degree and joint.type == mujoco.mjtJoint.mjJNT_HINGE
                low, high = np.deg2rad(joint.range) if degrees else joint.range
                notes.inverted[joint.name] = (float(low), float(high))  # which MuJoCo takes for no limits
        if (
            place.body.explicitinertial
            and spec.compiler.inertiafromgeom != mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
        ):
            notes.written[body.name] = _written(body)
        _take_out_meshes(mujoco, spec, place, notes, report)
    for kind, parts in (("site", spec.sites), ("camera", spec.cameras)):
        notes.lines.update({(kind, part.name): _line(part) for part in parts if part.name})
    return notes


class _Place(NamedTuple):
    """A body of the spec, and whether it or something it hangs on has a joint."""

    body: Any
    moves: bool


def _bodies(parent: Any, moves: bool) -> Iterator[_Place]:
    """The bodies from ``parent`` outwards, in MuJoCo's own order."""
    moves = moves or len(list(parent.joints)) > 0
    yield _Place(parent, moves)
    for child in parent.bodies:
        yield from _bodies(child, moves)


def _take_out_meshes(mujoco: Any, spec: Any, place: _Place, notes: mjcf_model.Notes, report: Findings) -> None:
    """Delete the geoms of meshes and height fields; an error, where the inertia of a moving body is to come from them."""
    kinds = mujoco.mjtGeom
    formless = (kinds.mjGEOM_MESH, kinds.mjGEOM_HFIELD, kinds.mjGEOM_SDF)
    body, compiler, choice = place.body, spec.compiler, mujoco.mjtInertiaFromGeom
    from_geoms = compiler.inertiafromgeom == choice.mjINERTIAFROMGEOM_TRUE or (
        compiler.inertiafromgeom == choice.mjINERTIAFROMGEOM_AUTO and not body.explicitinertial
    )
    low, high = compiler.inertiagrouprange
    for geom in [geom for geom in body.geoms if geom.type in formless or geom.meshname or geom.hfieldname]:
        massless = geom.mass == 0 or (np.isnan(geom.mass) and geom.density == 0)
        counts = from_geoms and low <= geom.group <= high and not massless and geom.type != kinds.mjGEOM_HFIELD
        if counts and body.name != "world":
            rule = "mesh-inertia" if place.moves else "mesh-inertia-of-base"
            notes.without_inertia.add(body.name)
            line, shape = _line(geom), geom.meshname or geom.name
            report.add(rule, line, f"body {body.name!r}", f"its inertia would come from the mesh {shape!r}")
        notes.add_mesh(mujoco, body.name, geom)
        if hasattr(spec, "delete"):
            spec.delete(geom)
        else:
            geom.delete()


def _written(body: Any) -> mjcf_model.Written:
    xx, yy, zz, xy, xz, yz = np.array(body.fullinertia, float)
    full = not np.isnan(xx)
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) if full else np.diag(np.array(body.inertia, float))
    return mjcf_model.Written(float(body.mass), np.array(body.ipos, float), matrix, full)


def _line(element: Any) -> int | None:
    found = re.search(r"line (\d+)", element.info)
    return None if found is None else int(found[1])


def _rigid_part(root: Element, report: Findings) -> str | None:
    """The MJCF text of what torsor reads of a file, each element on its own line; None if the file is refused."""
    if root.tag != "mujoco":
        report.add("not-a-robot", root.line, "", f"the outermost element is <{root.tag[:40]}>, an MJCF has <mujoco>")
        return None
    _refuse(root, report)
    if report.failed:
        return None
    _report_left_out(root, report)
    _check_paths(root, report)
    writer = _Writer(report, _actuators_count(root))
    writer.write(root, ())
    return None if report.failed else "".join(writer.parts)


def _refuse(root: Element, report: Findings) -> None:
    for section in root.children:
        refused = ("include",) if section.tag in ("extension", "sensor", "actuator", "asset") else tuple(REFUSED)
        for element in (element for element in section.walk() if element.tag in refused):
            name = element.attributes.get("file", element.attributes.get("name", element.attributes.get("model", "")))
            shown = f"<{element.tag}> {name[:80]!r}" if name else f"<{element.tag}>"
            report.add(REFUSED[element.tag], element.line, f"<{section.tag}>", f"{shown} is not read")
    sizes = [_expanded(section) for section in root.children if section.tag in SECTIONS]
    elements_made, copies = sum(size.elements for size in sizes), sum(size.copies for size in sizes)
    if elements_made > MOST_ELEMENTS or elements_made * copies > MOST_COPYING:
        count, of_copies = _rounded(elements_made), f", by {_rounded(copies)} copies" if copies else ""
        message = f"it makes {count} elements{of_copies}; MuJoCo's parser takes more than linear time in both"
        report.add("file-too-large", root.line, "", message)


class _Size(NamedTuple):
    """How many elements there are when every <replicate> has been carried out, and how many copies were made for that."""

    elements: int
    copies: int


def _expanded(element: Element) -> _Size:
    inner = [_expanded(child) for child in element.children]
    elements_made, copies = 1 + sum(size.elements for size in inner), sum(size.copies for size in inner)
    if element.tag != "replicate":
        return _Size(elements_made, copies)
    try:
        count = max(math.ceil(float(element.attributes.get("count", "1"))), 1)
    except (ValueError, OverflowError):  # no finite number, which MuJoCo refuses
        count = 1
    return _Size(count * elements_made, count * (1 + copies))


def _rounded(count: int) -> str:
    return f"{count:,}" if count < 10**9 else "more than 1,000,000,000"


def _report_left_out(root: Element, report: Findings) -> None:
    """What changes the motion in MuJoCo but not here, each kind once; what does not (sensors, looks) in silence."""
    groups: dict[tuple[str, str], list[Element]] = {}
    for section in root.children:
        for child in section.children:
            if section.tag == "tendon":
                groups.setdefault(("unsupported", "tendon"), []).append(child)
            elif section.tag == "contact" and child.tag == "pair":
                groups.setdefault(("unsupported", "contact pair"), []).append(child)
            elif section.tag == "equality" and child.tag != "joint":
                groups.setdefault(("unsupported", f"{child.tag[:40]} constraint"), []).append(child)
            elif section.tag == "actuator":
                groups.setdefault(("actuators", "actuator"), []).append(child)
    for (rule, what), found in groups.items():
        names = [element.attributes["name"] for element in found if element.attributes.get("name")]
        listed = f" ({', '.join(map(repr, names[:4]))}{', …' * (len(names) > 4)})" if names else ""
        count = (
            f"{len(found)} {what}s are"
            if len(found) > 1
            else f"a {what} is"
            if what[0] not in "aeiou"
            else f"an {what} is"
        )
        report.add(rule, found[0].line, "<mujoco>", f"{count} left out{listed}")


def _check_paths(root: Element, report: Findings) -> None:
    """Files are named, never opened; a name that leads elsewhere is worth saying, for MuJoCo follows it."""
    for asset in root.all("asset"):
        for element in asset.children:
            name = element.attributes.get("file", "")
            path = PurePosixPath(name.replace("\\", "/"))
            if path.is_absolute() or ".." in path.parts:
                where = f"<{element.tag[:40]}>"
                report.add("path-outside", element.line, where, f"{name[:80]!r} lies outside the robot's files")


def _actuators_count(root: Element) -> bool:
    """Whether some actuator, or a default of actuators, adds armature or damping to a joint."""
    tags = Counter(
        element.tag
        for section in root.children
        if section.tag in ("actuator", "default")
        for element in section.walk()
        if "armature" in element.attributes or "damping" in element.attributes
    )
    return any(tag in ACTUATORS for tag in tags)


class _Writer:
    """Writes elements so that MuJoCo's parser cannot read them in another way than ours has, and finds them on their lines."""

    def __init__(self, report: Findings, with_actuators: bool) -> None:
        self.parts: list[str] = []
        self._report, self._with_actuators = report, with_actuators
        self._line = 1

    def write(self, element: Element, path: tuple[str, ...]) -> None:
        """One element, its attributes and those of its children that are passed on."""
        if not self._is_passed_on(element, path):
            return
        if element.line > self._line:
            self.parts.append("\n" * (element.line - self._line))
            self._line = element.line
        self.parts.append(f"<{element.tag}")
        for key, value in self._attributes(element):
            self.parts.append(f" {key}={quoted(value)}")
        self.parts.append(">")
        if not path and self._with_actuators:  # MuJoCo would simulate to find out how long its muscles get
            self.parts.append('<compiler><lengthrange mode="none"/></compiler>')
        for child in element.children:
            self.write(child, (*path, element.tag))
        self.parts.append(f"</{element.tag}>")

    def _is_passed_on(self, element: Element, path: tuple[str, ...]) -> bool:
        if len(path) < 2:
            return not path or (element.tag in SECTIONS and (element.tag != "actuator" or self._with_actuators))
        section = path[1]
        if section == "default":
            return element.tag in DEFAULTS or (element.tag in ACTUATORS and self._with_actuators)
        if section == "equality":
            return element.tag == "joint"
        if section == "actuator":
            return element.tag in ACTUATORS and not element.attributes.keys().isdisjoint(("joint", "jointinparent"))
        return element.tag not in LEFT_OUT and element.tag != "lengthrange"

    def _attributes(self, element: Element) -> Iterator[tuple[str, str]]:
        left_out = ATTRIBUTES_LEFT_OUT.get(element.tag, set())
        for key, value in element.attributes.items():
            if key in left_out or (element.tag == "site" and key == "type" and value == "mesh"):
                continue
            if not NAMES.match(key):
                bad = [word for word in value.split() if NOT_FINITE.match(word)]
                if bad and not (key.endswith("range") and "nan" not in bad[0].lower()):
                    shown = value if len(value) <= 60 else value[:60] + "…"
                    where = f"{element.tag} {element.attributes['name']!r}" if "name" in element.attributes else ""
                    message = f"{key}= of <{element.tag[:40]}> must be finite, found {bad[0][:40]!r} in {shown!r}"
                    self._report.add("number-malformed", element.line, where, message)
            yield key, value
