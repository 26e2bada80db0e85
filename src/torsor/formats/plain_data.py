"""Plain data (mappings, lists, texts, numbers) out of JSON and YAML files, every value with its line, sizes bounded."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from torsor.formats.findings import Findings, unreadable
from torsor.formats.safe_xml import MOST_BYTES

MALFORMED = "text-malformed"
MOST_DEPTH = 50
MOST_VALUES = 500_000
MOST_COMPLAINTS = 100
LONGEST_TEXT = 10_000
LONGEST_NUMBER = 400

REPORTED: Final = object()  # a value that cannot be used, for a reason that has been reported
_JSON_SPACE = re.compile(r"[ \t\r\n]*+")
_JSON_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_JSON_WORD = re.compile(r"[^\s,:\[\]{}\"]++")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?\Z")
_JSON_CONSTANTS = {"true": True, "false": False, "null": None}
_NOT_JSON = ("NaN", "Infinity", "-Infinity")
MOST_BYTES_OF_YAML = 4 * 2**20
_YAML_NUMBER = re.compile(r"[-+]?+(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?\Z")
_YAML_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|nan)\Z", re.IGNORECASE)
_YAML_CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}


@dataclass(slots=True)
class Node:
    """A value and the line it starts on: a dict or list of nodes, a str, float, bool or None, or `REPORTED`."""

    value: Any
    line: int


class _Stop(Exception):
    """Reading ends here: a rule, a message, the line, and what to do where the rule's own advice does not fit."""

    def __init__(self, rule: str, message: str, line: int | None, advice: str = "") -> None:
        super().__init__(message)
        self.rule, self.message, self.line, self.advice = rule, message, line, advice

    def tell(self, report: Findings) -> None:
        """Put it into a report."""
        report.add(self.rule, self.line, "", self.message, advice=self.advice)


class _Builder:
    """Makes nodes and keeps count: what every reader of plain data must not forget."""

    def __init__(self, report: Findings) -> None:
        self.report = report
        self._values = 0
        self._complaints = 0

    def node(self, value: Any, line: int, depth: int) -> Node:
        """A new value."""
        self._values += 1
        if self._values > MOST_VALUES:
            raise _Stop("file-too-large", f"more than {MOST_VALUES:,} values", line)
        if depth > MOST_DEPTH:
            raise _Stop("file-too-large", f"values nested deeper than {MOST_DEPTH}", line)
        if isinstance(value, str):
            self._check_text(value, line)
        return Node(value, line)

    def number(self, word: str, line: int) -> object:
        """The number that a word of digits means; `REPORTED` if it is too large or too long."""
        if len(word) > LONGEST_NUMBER:
            return self.unusable(f"a number of {len(word):,} characters", line)
        number = float(word)
        return number if math.isfinite(number) else self.unusable(f"{word[:60]} is too large for a number", line)

    def unusable(self, message: str, line: int) -> object:
        """Findings a number that is none."""
        self._complain("number-malformed", line, message)
        return REPORTED

    def enter(self, entries: dict[str, Node], key: str, value: Node, key_line: int) -> None:
        """Put an entry into a mapping; a key that stands there twice is reported, and its first value kept."""
        self._check_text(key, key_line)
        if key in entries:
            first = entries[key].line
            self._complain("repeated-tag", key_line, f"the key {key[:60]!r} stands twice (first on line {first})")
        else:
            entries[key] = value

    def _complain(self, rule: str, line: int, message: str) -> None:
        self._complaints += 1
        if self._complaints > MOST_COMPLAINTS:
            raise _Stop("file-too-large", f"more than {MOST_COMPLAINTS} unusable numbers and repeated keys", line)
        self.report.add(rule, line, "", message)

    def _check_text(self, text: str, line: int) -> None:
        if len(text) > LONGEST_TEXT:
            raise _Stop("file-too-large", f"a text of {len(text):,} characters", line)
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise _Stop(MALFORMED, "a text holds half of a character (a lone surrogate)", line, "Write the whole one.")


def _decoded(content: bytes, report: Findings, most: int = MOST_BYTES) -> str | None:
    """The text of a file; None, and a finding, if it is too long or not UTF-8."""
    if len(content) > most:
        report.add("file-too-large", None, "", f"the file has {len(content):,} bytes, at most {most:,} are read")
        return None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8 text: byte {content[error.start]:#04x}"
        report.add("file-unreadable", line, "", message, advice="Save the file as UTF-8.")
        return None
    if not text.strip():
        report.add("not-a-robot", None, "", "the file is empty")
        return None
    return text


def parse_json(content: bytes, report: Findings) -> Node | None:
    """The outermost value, or None if the file is refused (the report says why)."""
    text = _decoded(content, report)
    if text is None:
        return None
    try:
        return _Json(text, report).document()
    except _Stop as stop:
        stop.tell(report)
        return None


class _Json:
    def __init__(self, text: str, report: Findings) -> None:
        self.text, self.place, self.builder = text, 0, _Builder(report)
        self._breaks = [found.start() for found in re.finditer("\n", text)]

    def document(self) -> Node:
        self._skip()
        node = self._value(1)
        self._skip()
        if self.place < len(self.text):
            self._malformed("something follows after the end")
        return node

    def _value(self, depth: int) -> Node:
        line = self._line()
        first = self.text[self.place : self.place + 1]
        if first == "{":
            node = self.builder.node({}, line, depth)
            self._members(node.value, depth)
            return node
        if first == "[":
            node = self.builder.node([], line, depth)
            self._items(node.value, depth)
            return node
        if first == '"':
            return self.builder.node(self._string(), line, depth)
        return self.builder.node(self._word(line), line, depth)

    def _members(self, entries: dict[str, Node], depth: int) -> None:
        self.place += 1
        self._skip()
        while not self._take("}"):
            if entries:
                self._expect(",", "'}'")
            key_line, key = self._line(), self._string()
            self._skip()
            self._expect(":", None)
            self.builder.enter(entries, key, self._value(depth + 1), key_line)
            self._skip()

    def _items(self, items: list[Node], depth: int) -> None:
        self.place += 1
        self._skip()
        while not self._take("]"):
            if items:
                self._expect(",", "']'")
            items.append(self._value(depth + 1))
            self._skip()

    def _string(self) -> str:
        found = _JSON_STRING.match(self.text, self.place)
        if found is None:
            quoted = self.text[self.place : self.place + 1] == '"'
            self._malformed("a text that does not end, or holds an unknown escape" if quoted else 'expected "')
        self.place = found.end()
        token = found[0]
        return str(json.loads(token)) if "\\" in token else token[1:-1]

    def _word(self, line: int) -> object:
        found = _JSON_WORD.match(self.text, self.place)
        if found is None:
            self._malformed("expected a value")
        word = found[0]
        if word in _NOT_JSON:
            value = self.builder.unusable(f"{word} is not a number (leave out what has no limit)", line)
        elif word in _JSON_CONSTANTS:
            value = _JSON_CONSTANTS[word]
        elif _JSON_NUMBER.match(word):
            value = self.builder.number(word, line)
        else:
            self._malformed(f"unexpected {word[:40]!r}")
        self.place = found.end()
        return value

    def _skip(self) -> None:
        found = _JSON_SPACE.match(self.text, self.place)
        assert found is not None
        self.place = found.end()

    def _take(self, letter: str) -> bool:
        if self.text[self.place : self.place + 1] != letter:
            return False
        self.place += 1
        return True

    def _expect(self, letter: str, other: str | None) -> None:
        if not self._take(letter):
            self._malformed(f"expected {letter!r}" + (f" or {other}" if other else ""))
        self._skip()

    def _line(self, place: int | None = None) -> int:
        return bisect_right(self._breaks, (self.place if place is None else place) - 1) + 1

    def _malformed(self, message: str) -> NoReturn:
        if self.place >= len(self.text):
            message += ", but the file ends"
        line = self._line()
        column = self.place - (self._breaks[line - 2] if line > 1 else -1)
        raise _Stop(MALFORMED, f"not well-formed JSON: {message}, column {column}", line)


def parse_yaml(content: bytes, report: Findings) -> Node | None:
    """The outermost value, or None if the file is refused (the report says why)."""
    text = _decoded(content, report, MOST_BYTES_OF_YAML)
    if text is None:
        return None
    try:
        import yaml
    except ImportError:
        raise unreadable(report.file, "reading YAML takes PyYAML", 'Install it: pip install "torsor[yaml]".') from None
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Yaml(yaml, yaml.parse(text, Loader=loader), report).document()
    except _Stop as stop:
        stop.tell(report)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
        column = "" if mark is None else f", column {mark.column + 1}"
        message = f"not well-formed YAML: {str(reason)[:120]}{column}"
        report.add(MALFORMED, None if mark is None else mark.line + 1, "", message)
    except (ValueError, OverflowError) as error:  # an escape or a directive with a number that is too large
        report.add(MALFORMED, None, "", f"not well-formed YAML: {str(error)[:120]}")
    return None


class _Yaml:
    """Only the events of the parser are used: nothing is constructed but texts, numbers, true, false and null, as in YAML 1.2."""

    def __init__(self, yaml: Any, events: Iterator[Any], report: Findings) -> None:
        self.yaml, self.events, self.builder = yaml, events, _Builder(report)

    def document(self) -> Node:
        event = self._next()
        while isinstance(event, (self.yaml.StreamStartEvent, self.yaml.DocumentStartEvent)):
            event = self._next()
        if isinstance(event, self.yaml.StreamEndEvent):
            raise _Stop("not-a-robot", "the file is empty", None)
        node = self._value(event, 1)
        self._next()
        event = self._next()
        if not isinstance(event, self.yaml.StreamEndEvent):
            raise _Stop(MALFORMED, "the file holds more than one document", _line_of(event), "Keep one.")
        return node

    def _next(self) -> Any:
        event = next(self.events)
        line = _line_of(event)
        if isinstance(event, self.yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _Stop(MALFORMED, "anchors and aliases (&name, *name) are refused", line, "Write the value out.")
        if getattr(event, "tag", None) is not None:
            raise _Stop(
                MALFORMED, f"the tag {str(event.tag)[:60]!r} is refused", line, "Leave it out: no value needs one."
            )
        return event

    def _value(self, event: Any, depth: int) -> Node:
        line = _line_of(event)
        if isinstance(event, self.yaml.MappingStartEvent):
            node = self.builder.node({}, line, depth)
            self._members(node.value, depth)
            return node
        if isinstance(event, self.yaml.SequenceStartEvent):
            node = self.builder.node([], line, depth)
            while not isinstance(event := self._next(), self.yaml.SequenceEndEvent):
                node.value.append(self._value(event, depth + 1))
            return node
        return self.builder.node(event.value if event.style else self._plain(event.value, line), line, depth)

    def _members(self, entries: dict[str, Node], depth: int) -> None:
        while not isinstance(event := self._next(), self.yaml.MappingEndEvent):
            if not isinstance(event, self.yaml.ScalarEvent):
                raise _Stop(MALFORMED, "a key must be a word", _line_of(event))
            if event.value == "<<" and not event.style:
                raise _Stop(MALFORMED, "the merge key << is refused", _line_of(event), "Write the values out.")
            value = self._value(self._next(), depth + 1)
            self.builder.enter(entries, event.value, value, _line_of(event))

    def _plain(self, word: str, line: int) -> object:
        if word in _YAML_CONSTANTS:
            return _YAML_CONSTANTS[word]
        if _YAML_NUMBER.match(word):
            return self.builder.number(word, line)
        if _YAML_NOT_FINITE.match(word):
            return self.builder.unusable(f"{word} is not a finite number (leave out what has no limit)", line)
        return word


def _line_of(event: Any) -> int:
    return int(event.start_mark.line) + 1
