"""Plain data (mappings, lists, texts, numbers) out of JSON and YAML files, every value with its line, sizes bounded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from torsor.formats.findings import Report
from torsor.formats.safe_xml import MOST_BYTES

MALFORMED = "text-malformed"
MOST_DEPTH = 50
MOST_VALUES = 500_000
MOST_COMPLAINTS = 100
LONGEST_TEXT = 10_000
LONGEST_NUMBER = 400

REPORTED: Final = object()  # a value that cannot be used, for a reason that has been reported


@dataclass(slots=True)
class Node:
    """A value and the line it starts on: a dict or list of nodes, a str, float, bool or None, or `REPORTED`."""

    value: Any
    line: int


class Stop(Exception):
    """Reading ends here: a rule, a message, the line, and what to do where the rule's own advice does not fit."""

    def __init__(self, rule: str, message: str, line: int | None, advice: str = "") -> None:
        super().__init__(message)
        self.rule, self.message, self.line, self.advice = rule, message, line, advice

    def tell(self, report: Report) -> None:
        """Put it into a report."""
        report.add(self.rule, self.line, "", self.message, advice=self.advice)


class Builder:
    """Makes nodes and keeps count: what every reader of plain data must not forget."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self._values = 0
        self._complaints = 0

    def node(self, value: Any, line: int, depth: int) -> Node:
        """A new value."""
        self._values += 1
        if self._values > MOST_VALUES:
            raise Stop("file-too-large", f"more than {MOST_VALUES:,} values", line)
        if depth > MOST_DEPTH:
            raise Stop("file-too-large", f"values nested deeper than {MOST_DEPTH}", line)
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
        """Report a number that is none."""
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
            raise Stop("file-too-large", f"more than {MOST_COMPLAINTS} unusable numbers and repeated keys", line)
        self.report.add(rule, line, "", message)

    def _check_text(self, text: str, line: int) -> None:
        if len(text) > LONGEST_TEXT:
            raise Stop("file-too-large", f"a text of {len(text):,} characters", line)
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise Stop(MALFORMED, "a text holds half of a character (a lone surrogate)", line, "Write the whole one.")


def decoded(content: bytes, report: Report, most: int = MOST_BYTES) -> str | None:
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
