"""XML as a tree that knows its lines, read so that no file can do harm: no DTD, no entities, bounded size and depth.

Names and numbers in XML attributes, each problem reported at its line; and names that XML can hold.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from xml.parsers import expat

import numpy as np

from torsor.arrays.typing import Array, Pose
from torsor.errors import ModelError
from torsor.formats.description import LARGEST
from torsor.formats.findings import Findings
from torsor.model import Robot
from torsor.model.poses import AT_REST, plain_pose

MOST_BYTES = 16 * 2**20
MOST_ELEMENTS = 100_000
MOST_DEPTH = 300
MOST_ATTRIBUTES = 100
LONGEST_ATTRIBUTE = 1_000_000
LEAST_DEGREES = 10.0  # whole numbers from here on are no angles in radians
_PIECE = 1024
WITH_TEXT = ("mechanicalReduction",)  # the only tag of robot files whose text is read

SAVE_AS_UTF_8 = 'Save the file as UTF-8, with encoding="utf-8" in its first line or none.'
_CODES = {
    name.removeprefix("XML_ERROR_"): expat.errors.codes[text]
    for name, text in vars(expat.errors).items()
    if name.isupper()
}
_ADVICE = {
    "SYNTAX": "Nothing but comments may stand before the outermost tag.",
    "NO_ELEMENTS": "The file ends early, or a tag is not closed.",
    "UNCLOSED_TOKEN": "The file ends within a tag or comment, or one is not closed.",
    "UNCLOSED_CDATA_SECTION": "The file ends early, or a <![CDATA[ is not closed by ]]>.",
    "INVALID_TOKEN": "XML allows no such character there. Values stand in quotes, < is written &lt; and & "
    "is written &amp;, comments hold no --, and a file that declares no encoding is in UTF-8.",
    "PARTIAL_CHAR": "The file ends within a character, or is in another encoding than it says.",
    "TAG_MISMATCH": "A tag that was opened inside another is closed inside it.",
    "DUPLICATE_ATTRIBUTE": "Keep one of the two; which one was meant is not ours to guess.",
    "JUNK_AFTER_DOC_ELEMENT": "A file has one outermost tag: remove what follows its end.",
    "UNDEFINED_ENTITY": "Write the character itself. XML knows &lt; &gt; &amp; &quot; &apos; alone.",
    "BAD_CHAR_REF": "No character of XML has this number: remove it.",
    "MISPLACED_XML_PI": "<?xml …?> stands at the very beginning of a file: remove what is before it, empty lines too.",
    "XML_DECL": 'Begin the file with <?xml version="1.0"?>, or without such a line.',
    "UNKNOWN_ENCODING": SAVE_AS_UTF_8,
    "INCORRECT_ENCODING": SAVE_AS_UTF_8,
}
_IN_QUOTES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)
ADVICE = {_CODES[name]: advice for name, advice in _ADVICE.items()}
_UNFINISHED = (_CODES["NO_ELEMENTS"], _CODES["TAG_MISMATCH"])


@dataclass(slots=True)
class Element:
    """A tag with its attributes and children; ``start`` and ``close``: where its tags begin in the file, in bytes."""

    tag: str
    attributes: dict[str, str]
    line: int
    start: int
    children: list[Element] = field(default_factory=list)
    close: int = -1
    parts: list[str] | None = None

    @property
    def text(self) -> str:
        """What stands between its tags, children apart; kept of tags in `WITH_TEXT` alone."""
        return "".join(self.parts or ())

    def walk(self) -> Iterator[Element]:
        """This element and all below it, in the order of the file."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.children))

    def all(self, tag: str) -> list[Element]:
        """The children of one tag."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        """The first child of one tag, if there is one."""
        for child in self.children:
            if child.tag == tag:
                return child
        return None


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
    """Handlers of expat that make the tree. They are called for each tag, so what is rare is looked at elsewhere."""

    def __init__(self, content: bytes, report: Findings) -> None:
        self.report = report
        self._file = Element("", {}, 0, 0)
        self._open = [self._file]
        self._count = 0
        # Only a file that is long or has many signs "<" can have values too long or elements too many.
        self._is_large = len(content) > LONGEST_ATTRIBUTE or content.count(b"<") > MOST_ELEMENTS
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._doctype

    @property
    def root(self) -> Element | None:
        """The outermost element."""
        return self._file.children[0] if self._file.children else None

    def still_open(self, code: int) -> str:
        """Which tag is to be closed next, where an error comes from that."""
        element = self._open[-1]
        if code not in _UNFINISHED or element is self._file:
            return ""
        return f"; <{element.tag[:40]}> of line {element.line} is still open"

    def _stop(self, rule: str, message: str) -> None:
        self.report.add(rule, self.parser.CurrentLineNumber, "", message)
        raise _Stop

    def _doctype(self, *_: object) -> None:
        self._stop("xml-doctype", "the file has a document type declaration, which is refused")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        opened, parser = self._open, self.parser
        if self._is_large or len(opened) > MOST_DEPTH or len(attributes) > MOST_ATTRIBUTES:
            self._refuse_too_large(tag, attributes)
        element = Element(tag, attributes, parser.CurrentLineNumber, parser.CurrentByteIndex, [])
        opened[-1].children.append(element)
        opened.append(element)
        if tag in WITH_TEXT:
            element.parts = []
            parser.CharacterDataHandler = self._characters

    def _refuse_too_large(self, tag: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > MOST_ELEMENTS:
            self._stop("file-too-large", f"more than {MOST_ELEMENTS:,} elements")
        if len(self._open) > MOST_DEPTH:
            self._stop("file-too-large", f"elements nested deeper than {MOST_DEPTH}")
        longest = max(map(len, attributes.values()), default=0)
        if len(attributes) > MOST_ATTRIBUTES or longest > LONGEST_ATTRIBUTE:
            self._stop("file-too-large", f"<{tag[:40]}> has too many or too long attributes")

    def _end(self, tag: str) -> None:
        self._open.pop().close = self.parser.CurrentByteIndex

    def _characters(self, text: str) -> None:
        """From the first tag on whose text is kept: between most tags stands nothing but space."""
        if (parts := self._open[-1].parts) is not None:
            parts.append(text)


_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")
_SPACE = " \t\r\n"  # all that XML takes for space: others are told apart from nothing by few people
_SHOWN = 60
_SPACES = re.compile(f"[{_SPACE}]+")
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_number(word: str) -> float | None:
    """A finite number as files write them (no "nan", no "1_000", no "0x1f"), or None."""
    value = float(word) if _NUMBER.match(word) else math.inf
    return value if math.isfinite(value) else None


def _plain_numbers(text: str, words: Sequence[str], largest: float) -> list[float] | None:
    """The numbers of the words of a text, if there is no doubt about any of them; None if one needs a closer look.

    In ASCII XML has no other space than its own. There, and without "_", Python takes for finite numbers what
    `as_number` does.
    """
    if not text.isascii() or "_" in text:
        return None
    try:
        numbers = list(map(float, words))
    except ValueError:
        return None
    return numbers if math.isfinite(sum(numbers)) and max(numbers) <= largest and min(numbers) >= -largest else None


def is_blank(text: str) -> bool:
    """Whether a text holds nothing but XML's white space."""
    return not text.strip(_SPACE)


class Fields:
    """Reads attributes of elements that belong to one link or joint, named ``where`` in messages."""

    def __init__(self, report: Findings, where: str) -> None:
        self.report, self.where = report, where

    def word(self, element: Element, key: str) -> str | None:
        """An attribute that must be there and not be empty."""
        value = element.attributes.get(key)
        if value is None or is_blank(value):
            what = "is empty" if value is not None else "is missing"
            self.report.add("missing-attribute", element.line, self.where, f"{key}= of <{element.tag}> {what}")
            return None
        return value

    def number(
        self, element: Element, key: str, default: float | None = None, *, largest: float = LARGEST
    ) -> float | None:
        """One finite number; ``default`` if the attribute is not there (None: it must be)."""
        if (text := element.attributes.get(key)) is not None:
            if (plain := _plain_numbers(text, (text,), largest)) is not None:
                return plain[0]
        elif default is not None:
            return default
        numbers = None if self.word(element, key) is None else self._numbers(element, key, 1, largest)
        return None if numbers is None else numbers[0]

    def numbers(
        self, element: Element, defaults: Mapping[str, float | None], *, largest: float = LARGEST
    ) -> Sequence[float | None]:
        """What `number` gives of several attributes, each with its default."""
        words = [element.attributes.get(key, "") for key in defaults]
        if (plain := _plain_numbers("".join(words), words, largest)) is not None:
            return plain
        return [self.number(element, key, default, largest=largest) for key, default in defaults.items()]

    def vector(
        self, element: Element, key: str, size: int, default: tuple[float, ...] | None, *, largest: float = LARGEST
    ) -> Array | None:
        """Several finite numbers; ``default`` if the attribute is not there (None: it must be)."""
        numbers = self._several(element, key, size, default, largest)
        return None if numbers is None else np.array(numbers)

    def pose(self, parent: Element, tag: str = "origin") -> Pose | None:
        """The pose (4, 4) of a child <origin xyz= rpy=>, the identity without one; None if it cannot be read."""
        origin = self.only(parent, tag)
        if origin is None:
            return AT_REST.copy()
        xyz = self._several(origin, "xyz", 3, (0.0, 0.0, 0.0))
        rpy = self._several(origin, "rpy", 3, (0.0, 0.0, 0.0))
        if xyz is None or rpy is None:
            return None
        if max(map(abs, rpy)) >= LEAST_DEGREES and all(angle == round(angle) for angle in rpy):
            angles = " ".join(f"{angle:g}" for angle in rpy)
            self.report.add("rotation-in-degrees", origin.line, self.where, f"rpy= of <{tag}> is {angles} rad")
        return plain_pose(xyz, rpy)

    def only(self, parent: Element, tag: str) -> Element | None:
        """The child of a tag that may stand there once."""
        found = None
        for child in parent.children:
            if child.tag == tag:
                if found is not None:
                    self._tell_repeated(parent.all(tag))
                    break
                found = child
        return found

    def _tell_repeated(self, found: list[Element]) -> None:
        lines = " and ".join(str(element.line) for element in found[:3])
        message = f"<{found[0].tag}> stands {len(found)} times (lines {lines})"
        self.report.add("repeated-tag", found[1].line, self.where, message)

    def _several(
        self, element: Element, key: str, size: int, default: tuple[float, ...] | None, largest: float = LARGEST
    ) -> Sequence[float] | None:
        if (text := element.attributes.get(key)) is not None:
            words = text.split()
            if len(words) == size and (plain := _plain_numbers(text, words, largest)) is not None:
                return plain
        elif default is not None:
            return default
        return None if self.word(element, key) is None else self._numbers(element, key, size, largest)

    def _numbers(self, element: Element, key: str, size: int, largest: float) -> list[float] | None:
        text = element.attributes[key]
        words = [word for word in _SPACES.split(text) if word]
        numbers = [as_number(word) for word in words]
        good = [number for number in numbers if number is not None and abs(number) <= largest]
        if len(good) == len(words) == size:
            return good
        shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
        place = f"{key}= of <{element.tag}>"
        wanted = "a number" if size == 1 else f"{size} numbers"
        if len(words) != size:
            message = f"{place} must be {wanted}, found {len(words)}: {shown!r}"
        elif None in numbers:
            message = f"{place} must be {wanted}, found {words[numbers.index(None)][:_SHOWN]!r} in {shown!r}"
        else:
            large = next(number for number in numbers if number is not None and abs(number) > largest)
            message = f"{place} holds {large:g}; nothing in SI units exceeds {largest:g}"
        self.report.add("number-malformed", element.line, self.where, message)
        return None


def check_names(robot: Robot) -> None:
    """Refuse a robot with a name that XML has no way to write, or that readers take for none."""
    names = [("robot", robot.name), *(("joint", name) for name in robot.joints)]
    for what, name in [*names, *(("link or frame", name) for name in robot.frames)]:
        if is_blank(name) or _NOT_IN_XML.search(name):
            change = 'robot.rename({}, robot="…")' if what == "robot" else f'robot.rename({{{name!r}: "…"}})'
            raise ModelError(f"a {what} is called {name!r}, which XML cannot hold. Use {change}.")
    for visual in robot.visuals:
        if _NOT_IN_XML.search(visual.file):
            raise ModelError(f"a mesh of {visual.link!r} is called {visual.file!r}, which XML cannot hold.")


def quoted(value: str) -> str:
    """A value as XML has it behind ``name=``. (Python's own function for that imports clients of the network.)"""
    return f'"{value.translate(_IN_QUOTES)}"'
