"""What is not a result: messages, on standard error, so that results can be piped."""

from __future__ import annotations

import sys

from torsor.errors import printable


def say(text: str) -> None:
    """One message, a line for each of its lines, with nothing that a terminal would obey."""
    sys.stderr.write("".join(f"{printable(line)}\n" for line in text.split("\n")))
