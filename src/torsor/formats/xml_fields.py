"""Names and numbers in XML attributes, each problem reported at its line; and names that XML can hold."""

from __future__ import annotations

import math
import re

import numpy as np

from torsor.arrays.typing import Array, Pose
from torsor.errors import ModelError
from torsor.formats.description import LARGEST
from torsor.formats.findings import Findings
from torsor.formats.safe_xml import Element
from torsor.model import Robot, pose_from

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")
_SPACE = " \t\r\n"  # all that XML takes for space: others are told apart from nothing by few people
_SPACES = re.compile(f"[{_SPACE}]+")
_SHOWN = 60
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_number(word: str) -> float | None:
    """A finite number as files write them (no "nan", no "1_000", no "0x1f"), or None."""
    value = float(word) if _NUMBER.match(word) else math.inf
    return value if math.isfinite(value) else None


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
        if key not in element.attributes and default is not None:
            return default
        if self.word(element, key) is None:
            return None
        numbers = self._numbers(element, key, 1, largest)
        return None if numbers is None else numbers[0]

    def vector(
        self, element: Element, key: str, size: int, default: tuple[float, ...] | None, *, largest: float = LARGEST
    ) -> Array | None:
        """Several finite numbers; ``default`` if the attribute is not there (None: it must be)."""
        if key not in element.attributes and default is not None:
            return np.array(default)
        if self.word(element, key) is None:
            return None
        numbers = self._numbers(element, key, size, largest)
        return None if numbers is None else np.array(numbers)

    def pose(self, parent: Element, tag: str = "origin") -> Pose | None:
        """The pose (4, 4) of a child <origin xyz= rpy=>, the identity without one; None if it cannot be read."""
        origin = self.only(parent, tag)
        if origin is None:
            return np.eye(4)
        xyz = self.vector(origin, "xyz", 3, (0.0, 0.0, 0.0))
        rpy = self.vector(origin, "rpy", 3, (0.0, 0.0, 0.0))
        return None if xyz is None or rpy is None else pose_from(xyz, rpy)

    def only(self, parent: Element, tag: str) -> Element | None:
        """The child of a tag that may stand there once."""
        found = list(parent.all(tag))
        if len(found) > 1:
            lines = " and ".join(str(element.line) for element in found[:3])
            self.report.add(
                "repeated-tag", found[1].line, self.where, f"<{tag}> stands {len(found)} times (lines {lines})"
            )
        return found[0] if found else None

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
