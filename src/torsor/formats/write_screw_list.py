"""A robot in torsor's own format (docs/format.md), with the model's own numbers: read again, it is the same to the bit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from torsor.arrays.typing import Array, Pose
from torsor.border import explained
from torsor.errors import ModelError, TorsorError, warn_of_model
from torsor.formats._load import check
from torsor.formats.build import build
from torsor.formats.findings import Findings
from torsor.formats.rules import ACCEPTABLE, Severity
from torsor.formats.screw_list import VERSION, read_json
from torsor.formats.screw_list_parts import screw_along
from torsor.model import Robot, Visual
from torsor.model.joint_kinds import KINDS

_WIDTH = 100
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*\Z")
# Words that one YAML or another takes for something else than a text.
_NOT_TEXT = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


@explained
def to_json(robot: Robot) -> str:
    """The robot as JSON text; `torsor.load` gives the same robot back, bit for bit."""
    return _checked(robot, _document(robot))


@explained
def to_yaml(robot: Robot) -> str:
    """The robot as YAML text; `torsor.load` gives the same robot back, bit for bit."""
    document = _document(robot)
    _checked(robot, document)
    return _yaml_text(document)


def _document(robot: Robot) -> dict[str, Any]:
    """The robot as plain data."""
    s, p = robot.structure, robot.parameters
    if not p.is_concrete:
        raise ModelError(f"robot {robot.name!r} holds traced parameters, which have no numbers to write.")
    document: dict[str, Any] = {"torsor": VERSION, "name": s.name, "base": s.base, "gravity": _numbers(p.gravity)}
    if _bits(s.coulomb_width) != _bits(0.0):
        document["coulomb_width"] = float(s.coulomb_width)
    owners = {c.name for c in s.coordinates}
    if [c.name for c in s.coordinates] != [name for name in s.joints if name in owners]:
        document["order"] = [c.name for c in s.coordinates]
    if np.any(p.base_inertia) or np.any(np.signbit(p.base_inertia)):
        document["base_inertia"] = {"parameters": _numbers(p.base_inertia)}
    document["joints"] = [_joint(robot, i) for i in range(s.n)]
    named = [frame for frame in s.frames if frame.pose_row is not None]
    if named:
        document["frames"] = [
            {"name": frame.name, "link": _link(robot, frame.link), **_pose(p.frame_poses[frame.pose_row])}
            for frame in sorted(named, key=lambda frame: frame.pose_row or 0)
        ]
    if [frame.name for frame in s.frames] != [s.base, *s.links, *(frame.name for frame in named)]:
        document["frame_order"] = [frame.name for frame in s.frames]
    if robot.visuals:
        document["visuals"] = [_visual(visual) for visual in robot.visuals]
    return document


def _visual(visual: Visual) -> dict[str, Any]:
    look: dict[str, Any] = {"link": visual.link, "kind": visual.kind, "size": [float(x) for x in visual.size]}
    look |= _pose(visual.pose)
    look |= {} if visual.colour is None else {"colour": [float(x) for x in visual.colour]}
    return look | ({"file": visual.file} if visual.kind == "mesh" else {})


def _joint(robot: Robot, i: int) -> dict[str, Any]:
    s, p = robot.structure, robot.parameters
    c, coupling = s.coordinate_of(i), s.couplings[i]
    owner = c.name == s.joints[i]
    joint: dict[str, Any] = {"name": s.joints[i], "kind": s.kinds[i]}
    joint |= {"parent": _link(robot, s.parents[i]), "link": s.links[i]}
    joint |= _pose(p.poses[i])
    ratio = float(coupling.ratio) if owner else 1.0
    if s.kind_of(i).has_screw:
        joint |= _screw(s.kinds[i], p.screws[i], ratio)
    if np.any(p.inertias[i]) or np.any(np.signbit(p.inertias[i])):
        joint["inertia"] = {"parameters": _numbers(p.inertias[i])}
    if not owner:
        joint["mimic"] = {"joint": c.name, "ratio": float(coupling.ratio), "offset": float(coupling.offset)}
        return joint
    limits = s.limits
    for key, values, absent in (
        ("lower", limits.lower[c.q], -np.inf),
        ("upper", limits.upper[c.q], np.inf),
        ("velocity_limit", limits.velocity[c.v], np.inf),
        ("effort_limit", limits.effort[c.v], np.inf),
        ("armature", p.armature[c.v], 0.0),
        ("viscous_friction", p.viscous_friction[c.v], 0.0),
        ("coulomb_friction", p.coulomb_friction[c.v], 0.0),
        ("stiffness", p.stiffness[c.v], 0.0),
        ("rest", p.rest[c.v], 0.0),
    ):
        value = _spread(values, absent)
        if value is not None:
            joint[key] = value
    return joint


def _link(robot: Robot, index: int) -> str:
    return robot.structure.base if index < 0 else robot.structure.links[index]


def _pose(pose: Pose) -> dict[str, Any]:
    """The shortest form that gives these bits back; nothing for the identity."""
    if _bits(pose) == _bits(np.eye(4)):
        return {}
    if _bits(pose[3]) != _bits(np.eye(4)[3]):
        return {"pose": [_numbers(row) for row in pose]}
    if _bits(pose[:3, :3]) == _bits(np.eye(3)):
        return {"pose": {"xyz": _numbers(pose[:3, 3])}}
    place = {} if _bits(pose[:3, 3]) == _bits(np.zeros(3)) else {"translation": _numbers(pose[:3, 3])}
    return {"pose": {"rotation": [_numbers(row) for row in pose[:3, :3]], **place}}


def _screw(kind: str, screw: Array, ratio: float) -> dict[str, Any]:
    axis = KINDS[kind].axis_of(screw)
    if ratio == 1.0 and kind != "helical" and _bits(screw_along(kind, axis)) == _bits(screw):
        return {"axis": _numbers(axis)}
    return {"screw": _numbers(screw)} | ({} if ratio == 1.0 else {"ratio": ratio})


def _spread(values: Array, absent: float) -> float | list[float | None] | None:
    """One number if all are the same, else a list; what is ``absent`` is not written, or null in a list."""
    numbers: list[float | None] = [None if _bits(x) == _bits(absent) else float(x) for x in values]
    if len({_bits(x) for x in values}) == 1:
        return numbers[0]
    return numbers


def _numbers(values: Array) -> list[float]:
    return [float(x) for x in values]


def _bits(values: Any) -> bytes:
    return np.ascontiguousarray(values, dtype=np.float64).tobytes()


def _checked(robot: Robot, document: dict[str, Any]) -> str:
    """The JSON text, read again: a robot that would not come back is refused, by what the format cannot say.

    A robot that no body of the real world can be says so in its file (``accept``).
    """
    report, reason, text = Findings(robot.name), "", _json_text(document)
    described = read_json(text.encode("utf-8", "surrogatepass"), report)
    if described is None or report.failed:
        reason = "; ".join(
            f"{finding.element}: {finding.message}".removeprefix(": ") for finding in report.findings[:3]
        )
    else:
        try:
            reason = _difference(robot, build(described))
        except TorsorError as error:
            reason = str(error).rstrip(".")
    if reason:
        raise ModelError(f"robot {robot.name!r} cannot be written so that it comes back the same: {reason}.")
    rules = {finding.rule for finding in check(text, format="json") if finding.severity is Severity.ERROR}
    if rules and rules <= set(ACCEPTABLE):
        document["accept"] = sorted(rules)  # the file says itself that no real body is so
        return _json_text(document)
    if rules:
        message = f"robot {robot.name!r} is written, but torsor.load will refuse it: {', '.join(sorted(rules))}."
        warn_of_model(message)
    return text


def _difference(one: Robot, other: Robot) -> str:
    """What differs between two robots, in the model's own words; nothing if they are the same."""
    for part in ("structure", "parameters"):
        mine, theirs = getattr(one, part), getattr(other, part)
        fields = mine._fields if part == "parameters" else mine.__dataclass_fields__
        for field in fields:
            a, b = getattr(mine, field), getattr(theirs, field)
            if (a != b) if part == "structure" else (_bits(a) != _bits(b)):
                return f"`{part}.{field}` differs"
    return ""


def _json_text(document: dict[str, Any]) -> str:
    """A mapping as JSON; each of its own entries starts a line."""
    return "\n".join(_json(document, "", "", broken=True)) + "\n"


def _yaml_text(document: dict[str, Any]) -> str:
    """A mapping as YAML, in blocks."""
    return "\n".join(_yaml_members(document, "")) + "\n"


def _number_text(number: float) -> str:
    """A number that is read again as the same bits (and as a number by every YAML: with a point)."""
    digits, e, exponent = repr(float(number)).partition("e")
    return digits + ("" if "." in digits or not e else ".0") + e + exponent


def _json(value: Any, indent: str, lead: str, broken: bool = False) -> Iterator[str]:
    """Lines of a value that starts after ``lead`` (a key, or nothing); inner lines are indented further."""
    line = _flow(value, json.dumps)
    broken = broken or (isinstance(value, list) and any(isinstance(item, dict) for item in value))
    if not isinstance(value, (dict, list)) or (not broken and len(indent + lead + line) < _WIDTH):
        yield indent + lead + line
        return
    ends, inner = ("{}" if isinstance(value, dict) else "[]"), indent + "  "
    yield indent + lead + ends[0]
    if isinstance(value, dict):
        parts = [list(_json(item, inner, f"{json.dumps(key)}: ")) for key, item in value.items()]
    elif all(isinstance(item, (float, type(None))) for item in value):
        parts = [[line] for line in _filled(value, inner)]
    else:
        parts = [list(_json(item, inner, "")) for item in value]
    for k, lines in enumerate(parts):
        yield from lines[:-1]
        yield lines[-1] + ("," if k < len(parts) - 1 else "")
    yield indent + ends[1]


def _yaml_members(value: dict[str, Any], indent: str) -> Iterator[str]:
    for key, item in value.items():
        yield from _yaml_member(f"{indent}{_yaml_word(key)}:", item, indent)


def _yaml_member(lead: str, item: Any, indent: str) -> Iterator[str]:
    line = f"{lead} {_flow(item, _yaml_word)}"
    blocks = isinstance(item, list) and any(isinstance(part, dict) for part in item)
    if not isinstance(item, (dict, list)) or (not blocks and len(line) < _WIDTH):
        yield line
    elif isinstance(item, dict):
        yield lead
        yield from _yaml_members(item, indent + "  ")
    elif all(isinstance(part, (float, type(None))) for part in item):
        yield f"{lead} ["
        lines = list(_filled(item, indent + "  "))
        yield from (line + "," for line in lines[:-1])
        yield lines[-1] + "]"
    else:
        yield lead
        for part in item:
            if isinstance(part, dict):
                first, *others = _yaml_members(part, indent + "    ")
                yield f"{indent}  - {first.strip()}"
                yield from others
            else:
                yield f"{indent}  - {_flow(part, _yaml_word)}"


def _filled(numbers: list[float | None], indent: str) -> Iterator[str]:
    """Numbers, three on a line (vectors, and the rows of an inertia after its mass); no comma ends a line."""
    words = ["null" if number is None else _number_text(number) for number in numbers]
    first = len(words) % 3
    for start in ([0] if first else []) + list(range(first, len(words), 3)):
        yield indent + ", ".join(words[start : first if start < first else start + 3])


def _flow(value: Any, word: Any) -> str:
    """A value on one line; ``word`` writes texts."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{word(key)}: {_flow(item, word)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item, word) for item in value) + "]"
    if isinstance(value, float):
        return _number_text(value)
    return str(word(value)) if isinstance(value, str) else json.dumps(value)


def _yaml_word(text: str) -> str:
    if _PLAIN.match(text) and text.lower() not in _NOT_TEXT:
        return text
    return '"' + "".join(map(_yaml_letter, text)) + '"'


def _yaml_letter(letter: str) -> str:
    if letter in '"\\':
        return "\\" + letter
    if letter.isprintable():
        return letter
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
