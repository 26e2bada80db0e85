"""Names, numbers and poses out of the mappings of plain data, each problem reported at its line."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import get_close_matches

import numpy as np

from torsor.arrays.typing import Array, Pose
from torsor.errors import ModelError
from torsor.formats.description import LARGEST
from torsor.formats.findings import Findings
from torsor.formats.plain_data import REPORTED, Node
from torsor.model import pose_from
from torsor.model.poses import check_pose

MOST_PARTS = 5000
MOST_TOLD = 20
_POSE_FORMS = ({"xyz", "rpy"}, {"rotation", "translation"})
_POSE = "A pose is {xyz, rpy}, {rotation, translation} or four rows of 4: docs/format.md."
NEAR = 0.65  # how alike a key and a misspelling of it are, of 1
# What others call our keys.
OTHER_NAMES = {
    "type": "kind", "child": "link", "origin": "pose", "position": "xyz", "orientation": "rotation", "quaternion": "rotation",
    "matrix": "rotation", "centre": "com", "center": "com", "inertia": "rotational", "moments": "rotational",
    "multiplier": "ratio", "damping": "viscous_friction", "friction": "coulomb_friction", "effort": "effort_limit",
    "velocity": "velocity_limit", "limits": "lower", "limit": "lower", "range": "lower",
    "spring": "stiffness", "springref": "rest",
}  # fmt: skip


class NodeFields:
    """The entries of one mapping that belongs to a robot, link or joint, named ``where`` in messages.

    A value of null is a value not given. ``path`` is what stands before the keys in messages.
    """

    def __init__(self, node: Node, report: Findings, where: str, path: str = "") -> None:
        assert isinstance(node.value, dict)
        self.entries: dict[str, Node] = node.value
        self.line, self.report, self.where, self.path = node.line, report, where, path

    def line_of(self, *keys: str) -> int:
        """The line of the first of these keys that is given, or that of the mapping."""
        return next((self.entries[key].line for key in keys if key in self.entries), self.line)

    def given(self, key: str) -> Node | None:
        """The value of a key, if there is one."""
        node = self.entries.get(key)
        return None if node is None or node.value is None else node

    def known(self, keys: Collection[str], advice: str = "") -> None:
        """Findings all keys but these: an error where one of these was meant, for then something would be lost."""
        unknown = [key for key in self.entries if key not in keys]
        for key in unknown[:MOST_TOLD]:
            near = [OTHER_NAMES[key]] if OTHER_NAMES.get(key) in keys else []
            near = near or get_close_matches(key[:60], sorted(keys), n=1, cutoff=NEAR)
            meant = near[0] if near and near[0] not in self.entries else ""
            hint = f" (did you mean {meant!r}?)" if meant else ""
            message = f"unknown key {self.path + key[:60]!r}{hint}"
            self.add("misspelt-key" if meant else "unknown-key", self.entries[key].line, message, advice)
        if len(unknown) > MOST_TOLD:
            self.add("unknown-key", self.line, f"{len(unknown) - MOST_TOLD:,} more unknown keys")

    def means_nothing(self, keys: Collection[str], what: str) -> None:
        """Findings those of these keys that are given: they do not matter for ``what``."""
        for key in keys:
            if (node := self.given(key)) is not None:
                self.add("unknown-key", node.line, f"{self.path + key!r} means nothing for {what}")

    def add(self, rule: str, line: int, message: str, advice: str = "") -> None:
        """Findings a problem of this mapping."""
        self.report.add(rule, line, self.where, message, advice=advice)

    def missing(self, key: str, what: str = "") -> None:
        """Findings that a key is not there."""
        self.add("missing-attribute", self.line, f"{self.path + key!r} is missing{what and f': {what}'}")

    def text(self, key: str) -> str | None:
        """A text that is not empty; None if the key is not given, or its value cannot be used."""
        node = self.given(key)
        if node is None or node.value is REPORTED:
            return None
        if not isinstance(node.value, str) or not node.value:
            self.add("value-malformed", node.line, f"{self.path + key!r} must be a text, found {shown(node)}")
            return None
        return node.value

    def name(self, key: str) -> str | None:
        """A text that must be there; None, and a finding, if it is not."""
        if self.given(key) is None:
            self.missing(key)
        return self.text(key)

    def texts(self, key: str) -> list[str] | None:
        """A list of texts; None if the key is not given, or its value cannot be used."""
        node = self.given(key)
        if node is None or node.value is REPORTED:
            return None
        words = node.value if isinstance(node.value, list) else []
        if not isinstance(node.value, list) or not all(isinstance(word.value, str) and word.value for word in words):
            self.add("value-malformed", node.line, f"{self.path + key!r} must be a list of names")
            return None
        return [word.value for word in words]

    def flag(self, key: str) -> bool:
        """True or false, false if not given."""
        node = self.given(key)
        if node is None or node.value is REPORTED or isinstance(node.value, bool):
            return node is not None and node.value is True
        self.add("value-malformed", node.line, f"{self.path + key!r} must be true or false, found {shown(node)}")
        return False

    def number(self, key: str, default: float | None = None) -> float | None:
        """One number; ``default`` if it is not given (None: it must be); None if it cannot be used."""
        node = self.given(key)
        if node is None:
            if default is None:
                self.missing(key)
            return default
        numbers = self._array(key, node, ())
        return None if numbers is None else float(numbers)

    def vector(self, key: str, size: int, largest: float = LARGEST) -> Array | None:
        """Several numbers (size,); None if they are not given, or cannot be used."""
        node = self.given(key)
        return None if node is None else self._array(key, node, (size,), largest)

    def array(self, key: str, shape: tuple[int, ...]) -> Array | None:
        """Numbers in nested lists; None if they are not given, or cannot be used."""
        node = self.given(key)
        return None if node is None else self._array(key, node, shape)

    def spread(self, key: str, size: int, empty: float, *, bounded: bool = True) -> Array | float | None:
        """A number, or ``size`` of them with ``empty`` for null; None if not given or unusable."""
        node = self.given(key)
        if node is None:
            return None
        if isinstance(node.value, list) and size >= 1:
            filled = [Node(empty, item.line) if item.value is None else item for item in node.value]
            limit = LARGEST if bounded else np.inf
            return self._array(key, Node(filled, node.line), (size,), limit, f"a number or {_wanted((size,))}")
        return self._scalar(key, node, bounded, size)

    def pose(self, key: str) -> Pose | None:
        """A pose (4, 4), as written, the identity if none is given; None if it cannot be used."""
        node = self.given(key)
        if node is None:
            return np.eye(4)
        if node.value is REPORTED:
            return None
        pose = self._pose(key, node)
        if pose is not None:
            try:
                check_pose(self.path + key, pose)
            except ModelError as error:
                self.add("value-malformed", node.line, str(error).rstrip("."), _POSE)
                return None
        return pose

    def inner(self, key: str) -> NodeFields | None:
        """The fields of a mapping; None if it is not given, or is none."""
        node = self.given(key)
        if node is None or node.value is REPORTED:
            return None
        return self.fields_of(node, self.path + key)

    def fields_of(self, node: Node, path: str, where: str | None = None) -> NodeFields | None:
        """The fields of a mapping somewhere inside; None, and a finding, if it is none."""
        if isinstance(node.value, dict):
            return NodeFields(node, self.report, self.where if where is None else where, path + ".")
        if node.value is not REPORTED:
            self.add("value-malformed", node.line, f"{path!r} must be a mapping, found {shown(node)}")
        return None

    def items(self, key: str) -> Iterator[tuple[str, Node]]:
        """The items of a list, each with its path; none if it is not given or no list (which is reported)."""
        node = self.given(key)
        if node is None or node.value is REPORTED:
            return
        if not isinstance(node.value, list):
            self.add("value-malformed", node.line, f"{self.path + key!r} must be a list, found {shown(node)}")
            return
        if len(node.value) > MOST_PARTS:
            self.add("file-too-large", node.line, f"{self.path + key!r} has more than {MOST_PARTS:,} items")
            return
        for k, item in enumerate(node.value):
            yield f"{self.path}{key}[{k}]", item

    def _pose(self, key: str, node: Node) -> Pose | None:
        if isinstance(node.value, list):
            return self._array(key, node, (4, 4))
        inner = self.fields_of(node, self.path + key)
        if inner is None:
            return None
        inner.known(set.union(*_POSE_FORMS), _POSE)
        forms = [form for form in _POSE_FORMS if form & inner.entries.keys()]
        if len(forms) > 1:
            self.add("repeated-tag", node.line, f"{self.path + key!r} mixes xyz and rpy with rotation and translation")
            return None
        angles, turn = inner.vector("rpy", 3), inner.array("rotation", (3, 3))
        place = inner.vector("translation" if inner.given("translation") is not None else "xyz", 3)
        if any(
            inner.given(name) is not None and got is None
            for name, got in (("rpy", angles), ("rotation", turn), ("xyz", place), ("translation", place))
        ):
            return None
        pose = np.eye(4) if angles is None else pose_from((0.0, 0.0, 0.0), angles)
        if turn is not None:
            pose[:3, :3] = turn
        if place is not None:
            pose[:3, 3] = place
        return pose

    def _scalar(self, key: str, node: Node, bounded: bool, size: int) -> float | None:
        wanted = "a number" if size == 1 else f"a number or {_wanted((size,))}"
        numbers = self._array(key, node, (), LARGEST if bounded else np.inf, wanted)
        return None if numbers is None else float(numbers)

    def _array(
        self, key: str, node: Node, shape: tuple[int, ...], largest: float = LARGEST, wanted: str = ""
    ) -> Array | None:
        """Numbers in nested lists of a shape; None, and a finding, if they are anything else."""
        level = [node]
        for size in shape:
            for part in level:
                if not isinstance(part.value, list) or len(part.value) != size:
                    if part.value is not REPORTED:
                        self._malformed(key, part, wanted or _wanted(shape))
                    return None
            level = [item for part in level for item in part.value]
        if any(item.value is REPORTED for item in level):
            return None
        for item in level:
            if not isinstance(item.value, float):
                self._malformed(key, item, wanted or _wanted(shape))
                return None
            if abs(item.value) > largest and np.isfinite(item.value):
                message = f"{self.path + key!r} holds {item.value:g}; nothing in SI units exceeds {LARGEST:g}"
                self.add("number-malformed", item.line, message)
                return None
        return np.array([item.value for item in level]).reshape(shape)

    def _malformed(self, key: str, node: Node, wanted: str) -> None:
        self.add("number-malformed", node.line, f"{self.path + key!r} must be {wanted}, found {shown(node)}")


def shown(node: Node) -> str:
    """A value as messages show it."""
    value = node.value
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:60] + "…")
    if isinstance(value, float):
        return f"{value:g}"
    return {None: "null", True: "true", False: "false"}.get(value, "nothing usable")


def _wanted(shape: tuple[int, ...]) -> str:
    if not shape:
        return "a number"
    if len(shape) == 1:
        return "a list of one number" if shape[0] == 1 else f"a list of {shape[0]} numbers"
    return f"{shape[0]} rows of {shape[1]} numbers"
