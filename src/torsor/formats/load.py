"""`torsor.load` and `torsor.check`: a robot file in; a robot, or all that is wrong with it, out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from torsor.arrays.typing import Array, Vector3
from torsor.errors import FileError, ModelError, ModelWarning, TorsorError
from torsor.formats import check_inertia, check_joints, check_suspicious, check_tree, safe_xml, urdf
from torsor.formats.build import FLOATING, build
from torsor.formats.description import Description
from torsor.formats.findings import Finding, Report
from torsor.formats.rules import Severity
from torsor.model import Robot
from torsor.model.source import Source

MOST_LINKS = 5000
BASES = ("fixed", FLOATING)
FORMATS = ("urdf", "mjcf", "json", "yaml")


def load(
    source: str | os.PathLike[str],
    *,
    format: str | None = None,
    base: str = "fixed",
    gravity: Vector3 | None = None,
    lock: Mapping[str, Array] | None = None,
    joint_order: Sequence[str] | None = None,
    repair: Collection[str] = (),
    ignore: Collection[str] = (),
) -> Robot:
    """The robot that a file describes (URDF, MJCF, torsor JSON or YAML); refused, with all reasons, if it makes no sense.

    ``source`` is a path, or the text itself. ``base``: "fixed", or "floating" to let the root link move freely.
    ``gravity`` (3,), m/s²; ``lock`` holds joints at positions (rad, m); ``joint_order`` names the joints in the order of
    q. Each rule named in ``repair`` (see docs/rules.md) is mended instead of refused, and ``robot.source.findings`` says
    how; warnings named in ``ignore`` are not given. Meshes are never opened.
    """
    _check_base(base)
    if lock is not None and not isinstance(lock, Mapping):
        raise ModelError(f"load: `lock` takes positions by joint, like {{'elbow': 0.3}}, got {lock!r:.60}.")
    if isinstance(joint_order, str):
        raise ModelError(f"load: `joint_order` takes a list of joint names, got {joint_order!r:.60}.")
    if gravity is not None and np.shape(gravity) != (3,):
        raise ModelError(f"load: `gravity` takes three numbers, m/s², got {gravity!r:.60}.")
    content, file, kind = _read(source, format)
    report = Report(file, _listed(repair), _listed(ignore))
    described = _describe(content, kind, report, floating=base == FLOATING)
    report.raise_errors()
    assert described is not None
    try:
        robot = build(described, base=base, gravity=gravity)
    except FileError:
        raise
    except TorsorError as error:  # something no rule has foreseen: still with the file's name
        raise FileError(f"{file}: {error}") from error
    for finding in report.of(Severity.WARNING):
        warnings.warn(str(finding), ModelWarning, stacklevel=2)
    reductions = {joint.name: joint.reduction for joint in described.joints if joint.reduction is not None}
    robot = robot.with_source(Source(file, kind, tuple(report.findings), content, robot.digest, reductions))
    if lock:
        robot = robot.lock(lock)
    return robot if joint_order is None else robot.reorder(joint_order)


def check(
    source: str | os.PathLike[str], *, format: str | None = None, base: str = "fixed", ignore: Collection[str] = ()
) -> tuple[Finding, ...]:
    """All that is wrong or suspicious in a robot file, errors first, each with file, line, rule and advice (docs/rules.md).

    Nothing is raised for what the file contains; a file without findings gives an empty tuple. ``base``: how the root link
    is to be held, "fixed" or "floating".
    """
    _check_base(base)
    report = Report(str(source)[:200], ignore=_listed(ignore))
    try:
        content, report.file, kind = _read(source, format)
        described = _describe(content, kind, report, floating=base == FLOATING)
    except FileError as error:  # not there, not to be opened, or what reads the format is not installed
        report.add("file-unreadable", None, "", str(error).rstrip(".").removeprefix(f"{report.file}: "))
        described = None
    if described is not None:
        check_suspicious.check(described, report)
        if not report.failed:
            try:
                build(described, base=base)
            except TorsorError as error:
                report.add("not-a-robot", None, "", str(error).rstrip("."))
    rank = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}
    return tuple(sorted(report.findings, key=lambda finding: (rank[finding.severity], finding.line or 0)))


def _check_base(base: str) -> None:
    if base not in BASES:
        raise ModelError(f"load: `base` must be 'fixed' or 'floating', got {base!r}.")


def _listed(names: Collection[str]) -> Collection[str]:
    """Names of rules; one may be given by itself."""
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, Collection):
        raise ModelError(f"load: `repair` and `ignore` take names of rules (docs/rules.md), got {names!r:.60}.")
    return names


def read_again(source: Source, like: Robot) -> tuple[Robot, Description] | None:
    """The robot of a source as it was read, if it has the structure of another (joints locked or renamed since change it)."""
    repaired = {finding.rule for finding in source.findings if finding.repaired}
    for base in BASES:
        report = Report(source.file, repair=repaired)
        described = _describe(source.content, source.format, report, floating=base == FLOATING)
        if described is not None and not report.failed:
            robot = build(described, base=base, gravity=like.gravity)
            if robot.structure == like.structure:
                return robot, described
    return None


def _describe(content: bytes, kind: str, report: Report, *, floating: bool = False) -> Description | None:
    """What a file says, read and checked; None if it cannot be read at all."""
    described = READERS[kind](content, report)
    if described is None:
        return None
    if max(len(described.links), len(described.joints)) > MOST_LINKS:
        report.add("file-too-large", None, "", f"more than {MOST_LINKS:,} links or joints")
        return None
    before = sum(1 for _ in report.of(Severity.ERROR))
    check_tree.check(described, report, floating=floating)
    is_tree = before == sum(1 for _ in report.of(Severity.ERROR))
    check_joints.check(described, report)
    check_inertia.check(described, report, is_tree=is_tree, floating=floating)
    return described


def _read_xml(content: bytes, report: Report) -> Description | None:
    root = safe_xml.parse(content, report)
    if root is None:
        return None
    if root.tag != "robot":
        report.add("not-a-robot", root.line, "", f"the outermost element is <{root.tag[:40]}>, a URDF has <robot>")
        return None
    return urdf.read(root, report)


def _read_mjcf(content: bytes, report: Report) -> Description | None:
    from torsor.formats import mjcf

    return mjcf.read(content, report)


def _read_json(content: bytes, report: Report) -> Description | None:
    from torsor.formats import screw_list

    return screw_list.read_json(content, report)


def _read_yaml(content: bytes, report: Report) -> Description | None:
    from torsor.formats import screw_list

    return screw_list.read_yaml(content, report)


READERS: dict[str, Callable[[bytes, Report], Description | None]] = {
    "urdf": _read_xml,
    "mjcf": _read_mjcf,
    "json": _read_json,
    "yaml": _read_yaml,
}


def _read(source: str | os.PathLike[str], format: str | None) -> tuple[bytes, str, str]:
    """The bytes of a file or text, what to call it in messages, and its format."""
    if format is not None and format not in FORMATS:
        raise ModelError(f"load: unknown format {format!r}. Formats: {', '.join(FORMATS)}.")
    if isinstance(source, str) and (source.lstrip()[:1] in ("<", "{") or "\n" in source):
        return source.encode(), "<text>", format or _format_of(source.encode(), "")
    if not isinstance(source, (str, os.PathLike)) or not str(source):
        got = "an empty one" if source == "" else f"{type(source).__name__} {source!r:.60}"
        raise ModelError(f"load: takes a path, or the text of a robot file, got {got}.")
    path = Path(source)
    try:
        if not path.is_file():
            found = (
                "is a directory" if path.is_dir() else "is not a file" if path.exists() else "No such file or directory"
            )
            raise FileError(f"{path}: cannot be read: {found}.")
        with path.open("rb") as file:
            content = file.read(safe_xml.MOST_BYTES + 1)
        if len(content) > safe_xml.MOST_BYTES:
            raise FileError(f"{path}: the file is larger than {safe_xml.MOST_BYTES:,} bytes, which no robot needs.")
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror or error}.") from None
    except ValueError as error:  # a path with a null character
        raise FileError(f"load: {str(source)[:80]!r} is not a path: {error}.") from None
    return content, str(path), format or _format_of(content, path.suffix.lower())


def _format_of(content: bytes, suffix: str) -> str:
    if suffix in (".json", ".yaml", ".yml"):
        return "json" if suffix == ".json" else "yaml"
    start = content.lstrip()[:4096]
    if start.startswith(b"{"):
        return "json"
    if b"<mujoco" in start and b"<robot" not in start:
        return "mjcf"
    return "urdf" if start.startswith((b"<", b"\xef\xbb\xbf<")) or suffix in (".urdf", ".xml", ".xacro") else "yaml"
