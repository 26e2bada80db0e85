"""A robot as URDF: its own file with other inertias where only those changed, else written anew."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from torsor.arrays import atan2, cross, exact_constants, matmul
from torsor.arrays.exact import norm
from torsor.arrays.typing import Array, Pose
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.errors import ModelError, printable, warn_of_model
from torsor.formats.build import inertia_of
from torsor.formats.check_inertia import WRITTEN_DIGITS
from torsor.formats.description import unused
from torsor.formats.findings import Findings
from torsor.formats.safe_xml import Element, check_names, parse, quoted
from torsor.lie import so3
from torsor.model import Inertia, Robot, Visual
from torsor.model._assemble import EARTH
from torsor.model.poses import composed
from torsor.model.visuals import solid_parts

LARGEST = 1.7976931348623157e308  # what stands for "no limit", which URDF cannot say
TYPES = {"revolute": "revolute", "prismatic": "prismatic", "free": "floating", "planar": "planar"}
DECORATION = (b"<visual", b"<collision", b"<!--", b"<gazebo", b"<\x00")  # what is lost when a file is written anew
CANNOT_SAY = ("gravity", "armature", "springs", "coulomb width", "joint order", "friction", "limits")

_ARTICLES = {"armature": "an ", "springs": "", "friction": "", "limits": ""}
INERTIA_RULES = {"massless-with-inertia", "inertia-not-positive", "inertia-triangle", "inertia-rows-swapped"}


@explained
@exact_constants()
def to_urdf(robot: Robot, *, drop: Collection[str] = ()) -> str:
    """The robot as URDF text.

    A robot that was read from a URDF and has other inertias at most keeps its file: visuals, comments, and every number
    as it was written (how its root link is held is said when loading, and not written). Else the file is written anew,
    with the shapes of `Robot.visuals` (a capsule becomes a cylinder and two spheres, ellipsoids are left out), and a
    `ModelWarning` says what is lost. What URDF cannot say is refused, unless it is
    named in ``drop``: "gravity" (other than 9.81 m/s² along −z), "armature", "springs", "coulomb width", "joint order", and the
    "friction" and "limits" of joints with several degrees of freedom.
    """
    drop = (drop,) if isinstance(drop, str) else drop
    for name in drop:
        refuse_unknown_word("drop", name, CANNOT_SAY)
    _refuse(robot, drop)
    text = _with_inertias(robot)
    if text is None:
        text = "\n".join(_lines(robot)) + "\n"
        source = robot.source
        if source is not None and source.format == "urdf" and any(part in source.content for part in DECORATION):
            told = f"to_urdf: {printable(source.file)} is written anew (more than inertias changed, or it is not in UTF-8): "
            warn_of_model(f"{told}its collisions, textures and comments are left out.")
    return text


def _refuse(robot: Robot, drop: Collection[str]) -> None:
    s, p = robot.structure, robot.parameters
    if not p.is_concrete:
        raise ModelError(f"robot {robot.name!r} holds traced parameters, which have no numbers to write.")
    check_names(robot)
    if robot.source is None or robot.source.format != "urdf" or robot.digest != robot.source.digest:
        _refuse_massless(robot)  # its own file can say it
    for i, kind in enumerate(s.kinds):
        own = s.coordinate_of(i).name == s.joints[i]
        if kind not in TYPES or (own and s.couplings[i].ratio != 1.0):
            what = f"is {kind}" if kind not in TYPES else f"moves by {s.couplings[i].ratio:g} q"
            raise ModelError(f"joint {s.joints[i]!r} {what}, which URDF cannot say; use robot.to_json().")
    natural = [name for name in s.joints if any(c.name == name for c in s.coordinates)]
    several = [c for c in s.coordinates if c.nv > 1]
    bounds = [x for c in several for x in (*s.limits.lower[c.q], *s.limits.upper[c.q])]
    bounds += [x for c in several for x in (*s.limits.velocity[c.v], *s.limits.effort[c.v])]
    found = {
        "friction": any(np.any(p.viscous_friction[c.v]) or np.any(p.coulomb_friction[c.v]) for c in several),
        "limits": bool(np.any(np.isfinite(bounds))),
        "gravity": tuple(p.gravity) != EARTH,
        "armature": bool(np.any(p.armature != 0)),
        "springs": bool(np.any(p.stiffness != 0)),
        "coulomb width": s.coulomb_width != 0,
        "joint order": [c.name for c in s.coordinates] != natural,
    }
    for name, present in found.items():
        if present and name not in drop:
            raise ModelError(
                f"robot {robot.name!r} has {_ARTICLES.get(name, 'a ')}{name} that URDF cannot say. Leave it out with "
                f"robot.to_urdf(path, drop=[{name!r}]), or write robot.to_json(path)."
            )


def _refuse_massless(robot: Robot) -> None:
    """A rotational inertia without mass would be lost: readers of URDF take a link without mass for one without inertia."""
    s, p = robot.structure, robot.parameters
    for link, row in zip((s.base, *s.links), (p.base_inertia, *p.inertias), strict=True):
        if row[0] == 0 and np.any(row):
            raise ModelError(
                f"link {link!r} of robot {robot.name!r} has a rotational inertia of {np.abs(row[4:]).max():.6g} kg·m² "
                f"and no mass, which URDF cannot say. Give it a mass, or write robot.to_json()."
            )
        low, middle, high = np.linalg.eigvalsh(Inertia.from_row(row).rotational)
        if high - low - middle > WRITTEN_DIGITS * high:
            warn_of_model(
                f"to_urdf: the principal moments of link {link!r} are those of no body, so that torsor.load refuses the file: "
                f"{high:.6g} exceeds {low:.6g} + {middle:.6g} kg·m²."
            )


def _lines(robot: Robot) -> Iterator[str]:
    s, p = robot.structure, robot.parameters
    yield '<?xml version="1.0"?>'
    yield f"<robot name={quoted(robot.name)}>"
    fixed = [frame for frame in s.frames if frame.pose_row is not None]
    bodies = {s.base: Inertia.from_row(p.base_inertia)}
    bodies |= {link: Inertia.from_row(row) for link, row in zip(s.links, p.inertias, strict=True)}
    for name, inertia in {**bodies, **{frame.name: Inertia.zero() for frame in fixed}}.items():
        yield from link_lines(name, inertia, [visual for visual in robot.visuals if visual.link == name])
    for i in range(s.n):
        yield from _joint(robot, i)
    taken = set(s.joints)
    for frame in fixed:
        name = unused(f"{frame.name}_joint", taken)
        parent = s.base if frame.link < 0 else s.links[frame.link]
        yield from _element(name, "fixed", parent, frame.name, p.frame_poses[frame.pose_row])
    yield "</robot>"


def link_lines(name: str, inertia: Inertia, visuals: Sequence[Visual] = ()) -> list[str]:
    """A <link> with its inertia and looks, if it has any."""
    inner = [] if inertia.mass == 0 else inertial_lines(inertia)
    inner += [line for visual in visuals for part in solid_parts(visual) for line in _visual_lines(part)]
    if not inner:
        return [f"  <link name={quoted(name)}/>"]
    return [f"  <link name={quoted(name)}>", *(f"    {line}" for line in inner), "  </link>"]


def _visual_lines(visual: Visual) -> list[str]:
    """A <visual>; nothing of an ellipsoid, which URDF does not have."""
    size = [repr(float(x)) for x in visual.size]
    if visual.kind == "box":
        shape = f'<box size="{" ".join(size)}"/>'
    elif visual.kind == "cylinder":
        shape = f'<cylinder radius="{size[0]}" length="{size[1]}"/>'
    elif visual.kind == "sphere":
        shape = f'<sphere radius="{size[0]}"/>'
    elif visual.kind == "mesh":
        shape = f'<mesh filename={quoted(visual.file)} scale="{" ".join(size)}"/>'
    else:
        return []
    lines = ["<visual>", f"  {_origin(visual.pose)}", f"  <geometry>{shape}</geometry>"]
    if visual.colour is not None:
        rgba = _listed(np.array(visual.colour))
        lines.append(f'  <material name="rgba {rgba}"><color rgba="{rgba}"/></material>')
    return [*lines, "</visual>"]


def inertial_lines(inertia: Inertia) -> list[str]:
    """An <inertial>, in the axes of the link."""
    I = inertia.rotational
    entries = {"ixx": I[0, 0], "ixy": I[0, 1], "ixz": I[0, 2], "iyy": I[1, 1], "iyz": I[1, 2], "izz": I[2, 2]}
    return [
        "<inertial>",
        f'  <origin xyz="{_listed(inertia.com)}" rpy="0 0 0"/>',
        f'  <mass value="{float(inertia.mass)!r}"/>',
        "  <inertia " + " ".join(f'{key}="{float(value)!r}"' for key, value in entries.items()) + "/>",
        "</inertial>",
    ]


def _joint(robot: Robot, i: int) -> Iterator[str]:
    """A joint; if its axis does not pass through the link's frame, by way of a frame that lies on the axis."""
    s, p = robot.structure, robot.parameters
    name, link, kind = s.joints[i], s.links[i], s.kinds[i]
    parent = s.base if s.parents[i] < 0 else s.links[s.parents[i]]
    pose, axis = p.poses[i], np.array([0.0, 0.0, 1.0])
    child = link
    if kind in ("revolute", "prismatic"):
        turning, sliding = p.screws[i][:3], p.screws[i][3:]
        axis = turning if kind == "revolute" else sliding
        if kind == "revolute" and np.any(sliding != 0):
            child = unused(f"{link}_on_axis", {*robot.frames})
            on_axis = np.eye(4)
            on_axis[:3, 3] = cross(turning, sliding)
            pose = composed(pose, on_axis)
            yield f"  <link name={quoted(child)}/>"
            on_axis[:3, 3] *= -1
            yield from _element(unused(f"{name}_to_link", set(s.joints)), "fixed", child, link, on_axis)
    c = s.coordinate_of(i)
    own = c.name == name
    lower, upper = s.limits.lower[c.q_start], s.limits.upper[c.q_start]
    unbounded = not own or (lower == -np.inf and upper == np.inf)
    written = "continuous" if kind == "revolute" and unbounded else TYPES[kind]
    more = [] if kind == "free" else [f'    <axis xyz="{_listed(axis)}"/>']
    more += _limits_and_friction(robot, i, own, written) if kind in ("revolute", "prismatic") else []
    yield from _element(name, written, parent, child, pose, more)


def _limits_and_friction(robot: Robot, i: int, own: bool, written: str) -> Iterator[str]:
    s, p = robot.structure, robot.parameters
    c, coupling = s.coordinate_of(i), s.couplings[i]
    bounds = {"effort": s.limits.effort[c.v_start], "velocity": s.limits.velocity[c.v_start]}
    if not own:
        bounds = {"effort": np.inf, "velocity": np.inf}
    if written != "continuous":
        ends = (s.limits.lower[c.q_start], s.limits.upper[c.q_start]) if own else (-np.inf, np.inf)
        bounds = {"lower": ends[0], "upper": ends[1], **bounds}
    if written != "continuous" or any(np.isfinite(value) for value in bounds.values()):
        clipped = {key: float(np.clip(value, -LARGEST, LARGEST)) for key, value in bounds.items()}
        yield "    <limit " + " ".join(f'{key}="{value!r}"' for key, value in clipped.items()) + "/>"
    if not own:
        multiplier, offset = float(coupling.ratio), float(coupling.offset)
        yield f'    <mimic joint={quoted(c.name)} multiplier="{multiplier!r}" offset="{offset!r}"/>'
        return
    damping, friction = float(p.viscous_friction[c.v_start]), float(p.coulomb_friction[c.v_start])
    if damping or friction:
        yield f'    <dynamics damping="{damping!r}" friction="{friction!r}"/>'


def _element(name: str, kind: str, parent: str, child: str, pose: Pose, more: Iterable[str] = ()) -> Iterator[str]:
    """A <joint>, with what else it holds."""
    yield f'  <joint name={quoted(name)} type="{kind}">'
    yield f"    {_origin(pose)}"
    yield f"    <parent link={quoted(parent)}/>"
    yield f"    <child link={quoted(child)}/>"
    yield from more
    yield "  </joint>"


def _origin(pose: Pose) -> str:
    return f'<origin xyz="{_listed(pose[:3, 3])}" rpy="{_listed(roll_pitch_yaw(pose[:3, :3]) + 0.0)}"/>'


@exact_constants()
def roll_pitch_yaw(R: Array) -> Array:
    """Fixed-axis angles (3,), rad, with R = R_z(yaw) R_y(pitch) R_x(roll); accurate at pitch ±90° too, where yaw is 0."""
    level = norm(R[:2, 0])
    yaw = atan2(R[1, 0], R[0, 0]) if level > 1e-12 else 0.0
    pitch = atan2(-R[2, 0], level)
    turned = matmul(so3.exp(np.array([0.0, 0.0, -yaw])), R)  # R_y(pitch) R_x(roll)
    return np.array([atan2(-turned[1, 2], turned[1, 1]), pitch, yaw])


def _listed(vector: Array) -> str:
    return " ".join(repr(float(x)) for x in vector)


def _with_inertias(robot: Robot) -> str | None:
    """The text of the robot's own file with its inertias; None if it came from elsewhere or more than inertias changed."""
    from torsor.formats._load import read_again

    source = robot.source
    if source is None or source.format != "urdf" or source.text is None:
        return None
    repaired = [finding for finding in source.findings if finding.repaired]
    if robot.digest == source.digest and not repaired:
        return source.text
    again = read_again(source, robot) if all(finding.rule in INERTIA_RULES for finding in repaired) else None
    if again is None:
        return None
    original, described = again
    changed = [i for i in range(robot.n) if np.any(robot.parameters.inertias[i] != original.parameters.inertias[i])]
    mended = {finding.element for finding in repaired}
    changed += [frame.link for frame in robot.structure.frames if f"link {frame.name!r}" in mended and frame.link >= 0]
    others = robot.parameters._replace(inertias=original.parameters.inertias)
    if any(np.any(mine != its) for mine, its in zip(others, original.parameters, strict=True)):
        return None
    root = parse(source.content, Findings(source.file))
    assert root is not None
    links = {element.attributes.get("name", ""): element for element in root.all("link")}
    if any(robot.links[i] not in links for i in changed):
        return None  # a plane of motion that is not x-y has a link of its own, which the file does not have
    edits: list[tuple[int, int, bytes]] = []
    for i in dict.fromkeys(changed):
        name = robot.links[i]
        edits += _exchange(source.content, links[name], robot.inertia(name))
        for frame in robot.structure.frames:  # what is fixed to it is part of its inertia now
            if frame.link == i and frame.name != name and frame.name in links:
                edits += _exchange(source.content, links[frame.name], Inertia.zero())
    for frame in robot.structure.frames:  # what was mended on the base, each link for itself
        part = described.link(frame.name)
        if frame.link < 0 and part is not None and part.where in mended:
            edits += _exchange(source.content, links[frame.name], inertia_of(part))
    content = source.content
    for start, end, text in sorted(edits, reverse=True):
        content = content[:start] + text + content[end:]
    return content.decode("utf-8-sig")


def _exchange(content: bytes, link: Element, inertia: Inertia) -> list[tuple[int, int, bytes]]:
    """The edit (first byte, byte beyond, new text) that gives a link another inertia."""
    old = link.first("inertial")
    end = -1 if old is None else content.find(b">", old.close) + 1
    if inertia.mass == 0:
        return [] if old is None else [(old.start, end, b"")]
    lines = inertial_lines(inertia)
    if old is not None:
        column = old.start - (content.rfind(b"\n", 0, old.start) + 1)
        return [(old.start, end, ("\n" + " " * column).join(lines).encode())]
    opening = _end_of_start_tag(content, link)
    body = ("\n    ".join(["", *lines]) + "\n  ").encode()
    if content[opening - 2 : opening] == b"/>":
        return [(opening - 2, opening, b">" + body + b"</link>")]
    return [(opening, opening, body)]


def _end_of_start_tag(content: bytes, link: Element) -> int:
    """The byte beyond ``<link …>``; attribute values may contain ">"."""
    at, quote = link.start, b""
    while True:
        here = content[at : at + 1]
        if quote:
            quote = b"" if here == quote else quote
        elif here in (b'"', b"'"):
            quote = here
        elif here == b">":
            return at + 1
        at += 1
