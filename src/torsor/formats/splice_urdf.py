"""A URDF with other inertias: the file's own text, in which only <inertial> elements are exchanged."""

from __future__ import annotations

import numpy as np

from torsor.formats.build import inertia_of
from torsor.formats.findings import Report
from torsor.formats.safe_xml import Element, parse
from torsor.model import Inertia, Robot

INERTIA_RULES = {"massless-with-inertia", "inertia-not-positive", "inertia-triangle", "inertia-rows-swapped"}


def with_inertias(robot: Robot) -> str | None:
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
    root = parse(source.content, Report(source.file))
    assert root is not None
    links = {element.attributes.get("name", ""): element for element in root.all("link")}
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
    from torsor.formats.write_urdf import inertial_lines

    old = link.first("inertial")
    if inertia.mass == 0:
        return [] if old is None else [(old.start, old.end, b"")]
    lines = inertial_lines(inertia)
    if old is not None:
        column = old.start - (content.rfind(b"\n", 0, old.start) + 1)
        return [(old.start, old.end, ("\n" + " " * column).join(lines).encode())]
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
