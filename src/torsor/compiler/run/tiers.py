"""Machine code in two tiers: one that LLVM makes soon, and behind it the final one, which takes the calls over.

LLVM without optimisation takes a fifth of the time; its code takes two to four times as long, and has the same bits, since no
operation is exchanged or contracted by LLVM at any level. Each function of the first tier passes its calls on to what a word
in memory points to: at first its own code. So whoever has the address of a function keeps it, in whatever thread it is called,
and the final code comes into use with one store.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Sequence

from torsor.errors import ArgumentError

SETTING = "TORSOR_COMPILE"
SETTINGS = {
    "soon": "a first tier answers, and is replaced by the final code behind it",
    "final": "every first call waits for the final code",
    "first": "the first tier stays",
}


def setting() -> str:
    """What is asked for by the environment; one of `SETTINGS`."""
    word = os.environ.get(SETTING) or "soon"
    if word not in SETTINGS:
        raise ArgumentError(
            f"{SETTING} must be one of {', '.join(SETTINGS)}, got {word!r:.60}. Set it to one of these, or unset it."
        )
    return word


def passing_on(text: str, names: Sequence[str]) -> str:
    """A module whose functions ``names`` call what the words ``name_code`` point to, which is at first what they did before."""
    for name in names:
        heading = re.search(rf"^define (\w+) @{name}\((.*?)\)", text, re.MULTILINE)
        if heading is None:
            continue  # LLVM will say what is wrong with the text, or nobody finds the function
        kind, parameters = heading.groups()
        text = text.replace(heading[0], f"define internal {kind} @{name}_first({parameters})", 1)
        call = f"musttail call {kind} %code({parameters})"
        end = [f"  {call}", "  ret void"] if kind == "void" else [f"  %result = {call}", f"  ret {kind} %result"]
        lines = [
            f"@{name}_code = global ptr @{name}_first",
            f"define {kind} @{name}({parameters}) {{",
            f"  %code = load atomic ptr, ptr @{name}_code acquire, align 8",
            *end,
            "}",
        ]
        text = "\n".join([text, *lines, ""])
    return text


def packed(texts: Sequence[str]) -> bytes:
    """Texts as they are kept."""
    return zlib.compress(json.dumps(texts).encode(), 1)


def unpacked(texts: bytes) -> list[str]:
    """The texts that were packed."""
    return json.loads(zlib.decompress(texts))  # type: ignore[no-any-return]
