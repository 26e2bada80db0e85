"""XML as a tree that knows its lines, read so that no file can do harm: no DTD, no entities, bounded size and depth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from torsor.formats.findings import Report

MOST_BYTES = 16 * 2**20
MOST_ELEMENTS = 100_000
MOST_DEPTH = 300
MOST_ATTRIBUTES = 100
LONGEST_ATTRIBUTE = 1_000_000


@dataclass
class Element:
    """A tag with its attributes and children; ``start`` and ``end`` are its place in the file, in bytes."""

    tag: str
    attributes: dict[str, str]
    line: int
    start: int
    end: int = -1
    children: list[Element] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What stands between its tags, children apart."""
        return "".join(self.parts)

    def all(self, tag: str) -> Iterator[Element]:
        """The children of one tag."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        """The first child of one tag, if there is one."""
        return next(self.all(tag), None)


class _Stop(Exception):
    """Reading ends here, for a reason that has been reported."""


def parse(content: bytes, report: Report) -> Element | None:
    """The root element, or None if the file is refused (the report says why)."""
    if len(content) > MOST_BYTES:
        report.add("file-too-large", None, "", f"the file has {len(content):,} bytes, at most {MOST_BYTES:,} are read")
        return None
    if not content.strip():
        report.add("not-a-robot", None, "", "the file is empty")
        return None
    builder = _Builder(content, report)
    try:
        builder.parser.Parse(content, True)
    except _Stop:
        return None
    except expat.ExpatError as error:
        reason = expat.errors.messages[error.code]
        report.add("xml-malformed", error.lineno, "", f"not well-formed XML: {reason}, column {error.offset + 1}")
        return None
    except (UnicodeError, LookupError, ValueError) as error:  # an encoding that does not exist, or does not fit
        report.add("xml-malformed", None, "", f"the file's encoding cannot be read: {error}")
        return None
    return builder.root


class _Builder:
    def __init__(self, content: bytes, report: Report) -> None:
        self.content, self.report = content, report
        self.root: Element | None = None
        self._open: list[Element] = []
        self._count = 0
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._doctype

    def _stop(self, rule: str, message: str) -> None:
        self.report.add(rule, self.parser.CurrentLineNumber, "", message)
        raise _Stop

    def _doctype(self, *_: object) -> None:
        self._stop("xml-doctype", "the file has a document type declaration, which is refused")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > MOST_ELEMENTS:
            self._stop("file-too-large", f"more than {MOST_ELEMENTS:,} elements")
        if len(self._open) >= MOST_DEPTH:
            self._stop("file-too-large", f"elements nested deeper than {MOST_DEPTH}")
        if len(attributes) > MOST_ATTRIBUTES or any(len(value) > LONGEST_ATTRIBUTE for value in attributes.values()):
            self._stop("file-too-large", f"<{tag[:40]}> has too many or too long attributes")
        element = Element(tag, attributes, self.parser.CurrentLineNumber, self.parser.CurrentByteIndex)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def _end(self, tag: str) -> None:
        element = self._open.pop()
        element.end = self.content.find(b">", self.parser.CurrentByteIndex) + 1

    def _characters(self, text: str) -> None:
        if self._open:
            self._open[-1].parts.append(text)
