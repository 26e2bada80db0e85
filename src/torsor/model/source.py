"""Where a robot came from: its file, what was found in it, and its text, from which it can be written again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Source:
    """``digest`` is that of the robot as it was read; ``findings`` are those of loading, repairs among them.

    ``reductions``: motor turns per joint turn, by joint, where the file gives transmissions.
    """

    file: str
    format: str
    findings: tuple[Any, ...]
    content: bytes = field(repr=False)
    digest: str = field(repr=False)
    reductions: Mapping[str, float] = field(default_factory=dict)

    @property
    def text(self) -> str | None:
        """The file as it was read; None if it is not written in UTF-8."""
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None
