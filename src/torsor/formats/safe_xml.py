"""XML as a tree that knows its lines, read so that no file can do harm: no DTD, no entities, bounded size and depth."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from xml.parsers import expat

from torsor.formats.findings import Findings

MOST_BYTES = 16 * 2**20
MOST_ELEMENTS = 100_000
MOST_DEPTH = 300
MOST_ATTRIBUTES = 100
LONGEST_ATTRIBUTE = 1_000_000
_PIECE = 1024

SAVE_AS_UTF_8 = 'Save the file as UTF-8, with encoding="utf-8" in its first line or none.'
_CODES = expat.errors.codes
# What to do about an error of the parser's, by its number.
ADVICE = {
    _CODES[expat.errors.XML_ERROR_SYNTAX]: "Nothing but comments may stand before the outermost tag.",
    _CODES[expat.errors.XML_ERROR_NO_ELEMENTS]: "The file ends early, or a tag is not closed.",
    _CODES[expat.errors.XML_ERROR_UNCLOSED_TOKEN]: "The file ends within a tag or comment, or one is not closed.",
    _CODES[expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION]: "The file ends early, or a <![CDATA[ is not closed by ]]>.",
    _CODES[expat.errors.XML_ERROR_INVALID_TOKEN]: "XML allows no such character there. Values stand in quotes, < is "
    "written &lt; and & is written &amp;, comments hold no --, and a file that declares no encoding is in UTF-8.",
    _CODES[
        expat.errors.XML_ERROR_PARTIAL_CHAR
    ]: "The file ends within a character, or is in another encoding than it says.",
    _CODES[expat.errors.XML_ERROR_TAG_MISMATCH]: "A tag that was opened inside another is closed inside it.",
    _CODES[
        expat.errors.XML_ERROR_DUPLICATE_ATTRIBUTE
    ]: "Keep one of the two; which one was meant is not ours to guess.",
    _CODES[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]: "A file has one outermost tag: remove what follows its end.",
    _CODES[
        expat.errors.XML_ERROR_UNDEFINED_ENTITY
    ]: "Write the character itself. XML knows &lt; &gt; &amp; &quot; &apos; alone.",
    _CODES[expat.errors.XML_ERROR_BAD_CHAR_REF]: "No character of XML has this number: remove it.",
    _CODES[expat.errors.XML_ERROR_MISPLACED_XML_PI]: "<?xml …?> stands at the very beginning of a file: remove what is "
    "before it, empty lines too.",
    _CODES[expat.errors.XML_ERROR_XML_DECL]: 'Begin the file with <?xml version="1.0"?>, or without such a line.',
    _CODES[expat.errors.XML_ERROR_UNKNOWN_ENCODING]: SAVE_AS_UTF_8,
    _CODES[expat.errors.XML_ERROR_INCORRECT_ENCODING]: SAVE_AS_UTF_8,
}
_UNFINISHED = (_CODES[expat.errors.XML_ERROR_NO_ELEMENTS], _CODES[expat.errors.XML_ERROR_TAG_MISMATCH])


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


def parse(content: bytes, report: Findings) -> Element | None:
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
        message = f"not well-formed XML: {reason}, column {error.offset + 1}{builder.still_open(error.code)}"
        report.add("xml-malformed", error.lineno, "", message, advice=ADVICE.get(error.code, ""))
        return None
    except (UnicodeError, LookupError, ValueError) as error:  # an encoding that does not exist, or does not fit
        report.add("xml-malformed", None, "", f"the file's encoding cannot be read: {error}", advice=SAVE_AS_UTF_8)
        return None
    return builder.root


def root_tag(content: bytes) -> str:
    """The tag of the outermost element, whatever stands before it; "" if nothing that could be read as one is found."""
    found: list[str] = []

    def stop(tag: str = "", *_: object) -> None:
        found.append(tag)
        raise _Stop

    parser = expat.ParserCreate()
    parser.StartElementHandler = stop
    parser.StartDoctypeDeclHandler = lambda *_: stop()
    with suppress(_Stop, expat.ExpatError, UnicodeError, LookupError, ValueError):
        for start in range(0, len(content), _PIECE):  # expat reads to the end of what it has, also after the answer
            parser.Parse(content[start : start + _PIECE], start + _PIECE >= len(content))
    return found[0] if found else ""


class _Builder:
    def __init__(self, content: bytes, report: Findings) -> None:
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

    def still_open(self, code: int) -> str:
        """Which tag is to be closed next, where an error comes from that."""
        if code not in _UNFINISHED or not self._open:
            return ""
        element = self._open[-1]
        return f"; <{element.tag[:40]}> of line {element.line} is still open"

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
