"""Plain data as JSON and as YAML that people like to read: what fits on a line stands on one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

WIDTH = 100
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*\Z")
# Words that one YAML or another takes for something else than a text.
_NOT_TEXT = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


def json_text(document: dict[str, Any]) -> str:
    """A mapping as JSON; each of its own entries starts a line."""
    return "\n".join(_json(document, "", "", broken=True)) + "\n"


def yaml_text(document: dict[str, Any]) -> str:
    """A mapping as YAML, in blocks."""
    return "\n".join(_yaml_members(document, "")) + "\n"


def number_text(number: float) -> str:
    """A number that is read again as the same bits (and as a number by every YAML: with a point)."""
    digits, e, exponent = repr(float(number)).partition("e")
    return digits + ("" if "." in digits or not e else ".0") + e + exponent


def _json(value: Any, indent: str, lead: str, broken: bool = False) -> Iterator[str]:
    """Lines of a value that starts after ``lead`` (a key, or nothing); inner lines are indented further."""
    line = _flow(value, json.dumps)
    broken = broken or (isinstance(value, list) and any(isinstance(item, dict) for item in value))
    if not isinstance(value, (dict, list)) or (not broken and len(indent + lead + line) < WIDTH):
        yield indent + lead + line
        return
    ends, inner = ("{}" if isinstance(value, dict) else "[]"), indent + "  "
    yield indent + lead + ends[0]
    if isinstance(value, dict):
        parts = [list(_json(item, inner, f"{json.dumps(key)}: ")) for key, item in value.items()]
    elif all(isinstance(item, (float, type(None))) for item in value):
        parts = [[line] for line in _filled(value, inner)]
    else:
        parts = [list(_json(item, inner, "")) for item in value]
    for k, lines in enumerate(parts):
        yield from lines[:-1]
        yield lines[-1] + ("," if k < len(parts) - 1 else "")
    yield indent + ends[1]


def _yaml_members(value: dict[str, Any], indent: str) -> Iterator[str]:
    for key, item in value.items():
        yield from _yaml_member(f"{indent}{_yaml_word(key)}:", item, indent)


def _yaml_member(lead: str, item: Any, indent: str) -> Iterator[str]:
    line = f"{lead} {_flow(item, _yaml_word)}"
    blocks = isinstance(item, list) and any(isinstance(part, dict) for part in item)
    if not isinstance(item, (dict, list)) or (not blocks and len(line) < WIDTH):
        yield line
    elif isinstance(item, dict):
        yield lead
        yield from _yaml_members(item, indent + "  ")
    elif all(isinstance(part, (float, type(None))) for part in item):
        yield f"{lead} ["
        lines = list(_filled(item, indent + "  "))
        yield from (line + "," for line in lines[:-1])
        yield lines[-1] + "]"
    else:
        yield lead
        for part in item:
            if isinstance(part, dict):
                first, *others = _yaml_members(part, indent + "    ")
                yield f"{indent}  - {first.strip()}"
                yield from others
            else:
                yield f"{indent}  - {_flow(part, _yaml_word)}"


def _filled(numbers: list[float | None], indent: str) -> Iterator[str]:
    """Numbers, three on a line (vectors, and the rows of an inertia after its mass); no comma ends a line."""
    words = ["null" if number is None else number_text(number) for number in numbers]
    first = len(words) % 3
    for start in ([0] if first else []) + list(range(first, len(words), 3)):
        yield indent + ", ".join(words[start : first if start < first else start + 3])


def _flow(value: Any, word: Any) -> str:
    """A value on one line; ``word`` writes texts."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{word(key)}: {_flow(item, word)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item, word) for item in value) + "]"
    if isinstance(value, float):
        return number_text(value)
    return str(word(value)) if isinstance(value, str) else json.dumps(value)


def _yaml_word(text: str) -> str:
    if _PLAIN.match(text) and text.lower() not in _NOT_TEXT:
        return text
    return '"' + "".join(map(_yaml_letter, text)) + '"'


def _yaml_letter(letter: str) -> str:
    if letter in '"\\':
        return "\\" + letter
    if letter.isprintable():
        return letter
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
