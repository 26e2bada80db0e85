"""YAML as nodes that know their lines: one document, no anchors, no aliases, no tags, bounded depth.

Only the events of the parser are used: nothing is constructed but texts, numbers, true, false and null, read as YAML 1.2
does (so that 1e-5 is a number and `no` a text).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from torsor.formats.findings import Report, unreadable
from torsor.formats.plain_data import MALFORMED, Builder, Node, Stop, decoded

MOST_BYTES = 4 * 2**20
_NUMBER = re.compile(r"[-+]?+(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?\Z")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|nan)\Z", re.IGNORECASE)
_CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}


def parse(content: bytes, report: Report) -> Node | None:
    """The outermost value, or None if the file is refused (the report says why)."""
    text = decoded(content, report, MOST_BYTES)
    if text is None:
        return None
    try:
        import yaml
    except ImportError:
        raise unreadable(report.file, "reading YAML takes PyYAML", 'Install it: pip install "torsor[yaml]".') from None
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Parser(yaml, yaml.parse(text, Loader=loader), report).document()
    except Stop as stop:
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


class _Parser:
    def __init__(self, yaml: Any, events: Iterator[Any], report: Report) -> None:
        self.yaml, self.events, self.builder = yaml, events, Builder(report)

    def document(self) -> Node:
        event = self._next()
        while isinstance(event, (self.yaml.StreamStartEvent, self.yaml.DocumentStartEvent)):
            event = self._next()
        if isinstance(event, self.yaml.StreamEndEvent):
            raise Stop("not-a-robot", "the file is empty", None)
        node = self._value(event, 1)
        self._next()
        event = self._next()
        if not isinstance(event, self.yaml.StreamEndEvent):
            raise Stop(MALFORMED, "the file holds more than one document", _line(event), "Keep one.")
        return node

    def _next(self) -> Any:
        event = next(self.events)
        line = _line(event)
        if isinstance(event, self.yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise Stop(MALFORMED, "anchors and aliases (&name, *name) are refused", line, "Write the value out.")
        if getattr(event, "tag", None) is not None:
            raise Stop(
                MALFORMED, f"the tag {str(event.tag)[:60]!r} is refused", line, "Leave it out: no value needs one."
            )
        return event

    def _value(self, event: Any, depth: int) -> Node:
        line = _line(event)
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
                raise Stop(MALFORMED, "a key must be a word", _line(event))
            if event.value == "<<" and not event.style:
                raise Stop(MALFORMED, "the merge key << is refused", _line(event), "Write the values out.")
            value = self._value(self._next(), depth + 1)
            self.builder.enter(entries, event.value, value, _line(event))

    def _plain(self, word: str, line: int) -> object:
        if word in _CONSTANTS:
            return _CONSTANTS[word]
        if _NUMBER.match(word):
            return self.builder.number(word, line)
        if _NOT_FINITE.match(word):
            return self.builder.unusable(f"{word} is not a finite number (leave out what has no limit)", line)
        return word


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
