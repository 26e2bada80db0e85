"""JSON as nodes that know their lines. Strict: no repeated keys, no NaN, nothing after the end, bounded depth."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import NoReturn

from torsor.formats.findings import Report
from torsor.formats.plain_data import MALFORMED, Builder, Node, Stop, decoded

_SPACE = re.compile(r"[ \t\r\n]*+")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_WORD = re.compile(r"[^\s,:\[\]{}\"]++")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?\Z")
_CONSTANTS = {"true": True, "false": False, "null": None}
_NOT_JSON = ("NaN", "Infinity", "-Infinity")


def parse(content: bytes, report: Report) -> Node | None:
    """The outermost value, or None if the file is refused (the report says why)."""
    text = decoded(content, report)
    if text is None:
        return None
    try:
        return _Parser(text, report).document()
    except Stop as stop:
        stop.tell(report)
        return None


class _Parser:
    def __init__(self, text: str, report: Report) -> None:
        self.text, self.place, self.builder = text, 0, Builder(report)
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
        found = _STRING.match(self.text, self.place)
        if found is None:
            quoted = self.text[self.place : self.place + 1] == '"'
            self._malformed("a text that does not end, or holds an unknown escape" if quoted else 'expected "')
        self.place = found.end()
        token = found[0]
        return str(json.loads(token)) if "\\" in token else token[1:-1]

    def _word(self, line: int) -> object:
        found = _WORD.match(self.text, self.place)
        if found is None:
            self._malformed("expected a value")
        word = found[0]
        if word in _NOT_JSON:
            value = self.builder.unusable(f"{word} is not a number (leave out what has no limit)", line)
        elif word in _CONSTANTS:
            value = _CONSTANTS[word]
        elif _NUMBER.match(word):
            value = self.builder.number(word, line)
        else:
            self._malformed(f"unexpected {word[:40]!r}")
        self.place = found.end()
        return value

    def _skip(self) -> None:
        found = _SPACE.match(self.text, self.place)
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
        raise Stop(MALFORMED, f"not well-formed JSON: {message}, column {column}", line)
