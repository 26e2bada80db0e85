"""`torsor.load` and `torsor.check`: a robot file in; a robot, or all that is wrong with it, out."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np

from torsor.arrays.typing import Array, GivenVector3, Vector3
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.errors import FileError, ModelError, TorsorError, printable, warn_of_model
from torsor.formats import check_inertia, check_suspicious, mjcf, safe_xml, screw_list, urdf
from torsor.formats.build import FLOATING, build
from torsor.formats.check_mechanism import check_joints, check_tree
from torsor.formats.description import Description
from torsor.formats.findings import ALL, Finding, Findings
from torsor.formats.rules import Severity
from torsor.formats.source_text import UNKNOWN, read_source, report_unknown
from torsor.model import Robot
from torsor.model.structure import Source

MOST_LINKS = 5000
BASES = ("fixed", FLOATING)


@explained
def load(
    source: str | os.PathLike[str],
    *,
    format: str | None = None,
    base: str = "fixed",
    gravity: GivenVector3 | None = None,
    lock: Mapping[str, Array] | None = None,
    joint_order: Sequence[str] | None = None,
    repair: Collection[str] = (),
    accept: Collection[str] = (),
    ignore: Collection[str] = (),
) -> Robot:
    """The robot that a file describes (URDF, MJCF, torsor JSON or YAML). Meshes are never opened.

    Parameters
    ----------
    source : path or str
        The file, or its text; or, where there is no such file, the name of a robot of the package robot_descriptions, like
        "panda_description" (that package clones the robot's repository on first use, and says so).
    format : {"urdf", "mjcf", "json", "yaml"}, optional
        By default it is judged by the content.
    base : {"fixed", "floating"}
        "floating" lets the root link move freely.
    gravity : (3,) array, optional
        m/s²; by default the file's, or (0, 0, −9.81).
    lock : mapping, optional
        Positions by joint, rad or m: these joints are held there.
    joint_order : sequence of str, optional
        The joints in the order of q.
    repair : names of rules, or "all"
        Each rule named here (docs/rules.md) is mended instead of refused, and ``robot.source.findings`` says how. With
        "all" one warning per rule says so too.
    accept : names of rules
        What breaks these is loaded with the file's own numbers, and one warning per rule says where.
    ignore : names of rules
        Warnings that are not given.

    Returns
    -------
    Robot

    Raises
    ------
    FileError
        If the file makes no sense: with all reasons, each with file, line, rule and advice, in ``findings``.
    """
    _check_base(base)
    gravity = None if gravity is None else _gravity(gravity)
    lock = {} if lock is None else _positions(lock)
    order = None if joint_order is None else _order(joint_order)
    content, file, kind = read_source(source, format)
    report = Findings(file, _repairs(repair), _rules("ignore", ignore), _rules("accept", accept))
    described = _describe(content, kind, report, floating=base == FLOATING)
    report.raise_errors()
    assert described is not None
    try:
        robot = _built(described, base, gravity)
    except TorsorError as error:  # something no rule has foreseen: still with the file's name
        finding = Finding("not-a-robot", Severity.ERROR, file, None, "", str(error).rstrip("."))
        raise FileError(f"{printable(file)}: {error}", (finding,)) from error
    for warning in report.told():
        warn_of_model(warning)
    reductions = {joint.name: joint.reduction for joint in described.joints if joint.reduction is not None}
    robot = robot.with_source(Source(file, kind, tuple(report.complete()), content, robot.digest, reductions))
    if lock:
        robot = robot.lock(lock)
    return robot if order is None else robot.reorder(order)


@explained
def check(
    source: str | os.PathLike[str],
    *,
    format: str | None = None,
    base: str = "fixed",
    accept: Collection[str] = (),
    ignore: Collection[str] = (),
) -> tuple[Finding, ...]:
    """All that is wrong or suspicious in a robot file, errors first. Nothing is raised for what the file contains.

    Parameters
    ----------
    source : path or str
        The file, its text, or a name, as `load` takes them.
    format : {"urdf", "mjcf", "json", "yaml"}, optional
        By default it is judged by the content.
    base : {"fixed", "floating"}
        How the root link is to be held.
    accept : names of rules
        Errors that are warnings, as `load` takes them.
    ignore : names of rules
        Warnings that are not given.

    Returns
    -------
    tuple of Finding
        Each with file, line, rule and advice (docs/rules.md); empty if there is nothing to report.
    """
    _check_base(base)
    report = Findings("", ignore=_rules("ignore", ignore), accept=_rules("accept", accept))
    try:
        content, report.file, kind = read_source(source, format)
        described = _describe(content, kind, report, floating=base == FLOATING)
    except FileError as error:  # not there, not to be opened, or what reads the format is not installed
        return tuple(error.findings)
    if described is not None:
        check_suspicious.check(described, report)
        if not report.failed:
            try:
                _built(described, base, None)
            except TorsorError as error:
                report.add("not-a-robot", None, "", str(error).rstrip("."))
    rank = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}
    return tuple(sorted(report.complete(), key=lambda finding: (rank[finding.severity], finding.place)))


def _check_base(base: str) -> None:
    refuse_unknown_word("base", base, BASES)


def _rules(argument: str, names: Collection[str]) -> list[str]:
    """Names of rules; one may be given by itself."""
    listed = [names] if isinstance(names, str) else list(names) if isinstance(names, Iterable) else [names]
    if not all(isinstance(name, str) for name in listed):
        example = "'all' or names of rules (docs/rules.md), like ['limits-inverted']"
        wanted = example if argument == "repair" else "names of rules (docs/rules.md), like ['mass-ratio']"
        raise ModelError(f"`{argument}` takes {wanted}, got {names!r:.60}.")
    return listed


def _repairs(repair: Collection[str]) -> Collection[str]:
    """Names of rules, or `ALL`."""
    names = _rules("repair", repair)
    return ALL if names == [ALL] else names


def _gravity(gravity: Vector3) -> Vector3:
    numbers = _numbers(gravity)
    if numbers is None or numbers.shape != (3,):
        raise ModelError(f"`gravity` takes three numbers, m/s², like (0, 0, -9.81), got {gravity!r:.60}.")
    return numbers


def _positions(lock: Mapping[str, Array]) -> dict[str, Array]:
    if not isinstance(lock, Mapping):
        raise ModelError(f"`lock` takes positions by joint, like {{'elbow': 0.3}}, got {lock!r:.60}.")
    positions = {name: _numbers(value) for name, value in lock.items()}
    for name, value in positions.items():
        if value is None:
            message = f"`lock` takes numbers, rad or m, like {{{name!r}: 0.3}}, got {lock[name]!r:.60} for {name!r}."
            raise ModelError(message)
    return positions


def _numbers(value: Array) -> Array | None:
    """Finite numbers as an array, or None."""
    try:
        array = np.asarray(value)
        numbers = array.astype(float) if array.dtype.kind in "iufO" else None
    except (TypeError, ValueError):  # lists of several lengths, or no numbers
        return None
    return numbers if numbers is not None and np.all(np.isfinite(numbers)) else None


def _order(joint_order: Sequence[str]) -> list[str]:
    names = [] if isinstance(joint_order, str) or not isinstance(joint_order, Iterable) else list(joint_order)
    if not names or not all(isinstance(name, str) for name in names):
        raise ModelError(
            f"`joint_order` takes a list of joint names, like ['elbow', 'wrist'], got {joint_order!r:.60}."
        )
    return names


def _built(described: Description, base: str, gravity: Vector3 | None) -> Robot:
    with np.errstate(all="ignore"):  # what overflows is refused by name, and a limit that does is none
        return build(described, base=base, gravity=gravity)


def read_again(source: Source, like: Robot) -> tuple[Robot, Description] | None:
    """The robot of a source as it was read, if it has the structure of another (joints locked or renamed since change it)."""
    repaired = {finding.rule for finding in source.findings if finding.repaired}
    accepted = {finding.rule for finding in source.findings if finding.accepted}
    for base in BASES:
        report = Findings(source.file, repair=repaired, accept=accepted)
        described = _describe(source.content, source.format, report, floating=base == FLOATING)
        if described is not None and not report.failed:
            robot = _built(described, base, like.gravity)
            if robot.structure == like.structure:
                return robot, described
    return None


def _describe(content: bytes, kind: str, report: Findings, *, floating: bool = False) -> Description | None:
    """What a file says, read and checked; None if it cannot be read at all."""
    described = READERS[kind](content, report)
    if described is None:
        return None
    if max(len(described.links), len(described.joints)) > MOST_LINKS:
        report.add("file-too-large", None, "", f"more than {MOST_LINKS:,} links or joints")
        return None
    before = report.errors
    check_tree(described, report, floating=floating)
    is_tree = before == report.errors
    check_joints(described, report)
    check_inertia.check(described, report, is_tree=is_tree, floating=floating)
    return described


def _read_urdf(content: bytes, report: Findings) -> Description | None:
    root = safe_xml.parse(content, report)
    if root is None:
        return None
    if root.tag != "robot":
        message = f"the outermost element is <{root.tag[:40]}>, a URDF has <robot> and an MJCF <mujoco>"
        report.add("not-a-robot", root.line, "", message)
        return None
    return urdf.read(root, report, content)


READERS: dict[str, Callable[[bytes, Findings], Description | None]] = {
    "urdf": _read_urdf,
    "mjcf": mjcf.read,
    "json": screw_list.read_json,
    "yaml": screw_list.read_yaml,
    UNKNOWN: report_unknown,
}
