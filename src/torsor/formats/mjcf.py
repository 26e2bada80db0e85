"""MJCF, read by MuJoCo itself: its defaults, classes, units and inertias of geoms are what MuJoCo makes of them.

    file ─► safe_xml ─► mjcf_source: the rigid part ─► MjSpec, without meshes ─► MjModel ─► mjcf_model: a description

MuJoCo comes with ``pip install "torsor[mjcf]"``. Meshes are never opened, and neither is any other file. What differs from
MuJoCo's numbers: quaternions are (x, y, z, w) here, and the velocity of a free joint is its twist in the body
(`torsor.adapters.MuJoCo` converts both). Everything else is the same: q of a hinge or slide is its qpos (its ``ref`` goes
into the home pose), q of a free joint is the pose of its body in the world.

A body with several joints becomes a chain of joints with massless links between, named ``body__joint``. A joint that an
equality constraint ties to another by a straight line becomes a mimic joint, which has no number in q.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from torsor.formats import mjcf_model, safe_xml
from torsor.formats.description import Description
from torsor.formats.findings import Report, unreadable
from torsor.formats.mjcf_source import rigid_part
from torsor.formats.xml_fields import is_blank

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


def read(content: bytes, report: Report) -> Description | None:
    """The description of an MJCF file; None if it is refused (the report says why)."""
    try:
        import mujoco
    except ImportError:
        raise unreadable(report.file, "reading MJCF takes MuJoCo", 'Install it: pip install "torsor[mjcf]".') from None
    root = safe_xml.parse(content, report)
    text = None if root is None else rigid_part(root, report)
    if root is None or text is None:
        return None
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            spec = mujoco.MjSpec.from_string(text)
            notes = _prepare(mujoco, spec, report)
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


def _report_refusal(message: str, report: Report) -> None:
    line = re.search(r"line (\d+)", message)
    element = re.search(r"Element (?:name )?('[^']*')", message)
    said = message.split("\nElement")[0]
    said = " ".join(re.sub(r"^((XML )?Error: ?)+", "", said).split()).rstrip(".")
    rule = next((rule for words, rule in RULES_OF_MESSAGES if words in message), "mjcf-invalid")
    where = "" if element is None else element[1]
    report.add(rule, None if line is None else int(line[1]), where, f"MuJoCo says: {said[:300]}")


def _prepare(mujoco: Any, spec: Any, report: Report) -> mjcf_model.Notes:
    """Name what has no name, take out what uses meshes, and note what compiling forgets."""
    notes = mjcf_model.Notes(fused=bool(spec.compiler.fusestatic))
    bodies = list(_bodies(spec.worldbody, moves=False))
    taken = {place.body.name for place in bodies}
    joint_names = {joint.name for joint in spec.joints}
    for k, place in enumerate(bodies):
        body = place.body
        if not body.name:
            body.name = mjcf_model.unused(f"body_{k}", taken)
            taken.add(body.name)
        notes.lines["body", body.name] = _line(body)
        joints = list(body.joints)
        for number, joint in enumerate(joints, 1):
            if not joint.name:
                joint.name = mjcf_model.unused(f"{body.name}_joint{number if len(joints) > 1 else ''}", joint_names)
                joint_names.add(joint.name)
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


def _take_out_meshes(mujoco: Any, spec: Any, place: _Place, notes: mjcf_model.Notes, report: Report) -> None:
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
