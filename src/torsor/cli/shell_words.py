"""Messages of the library, with what to type in a shell where they say what to type in Python."""

from __future__ import annotations

import re
from collections.abc import Callable


def in_shell_words(said: object) -> str:
    """A message of the library, with what to type in a shell instead of what to type in Python."""
    text = str(said)
    for python, shell in IN_PYTHON:
        text = re.sub(python, shell, text)
    return text


def _locks(found: re.Match[str]) -> str:
    return " ".join(f"--lock {name}={value}" for name, value in re.findall(r"'([^']*)': ([-\d.]+)", found[1]))


# What messages of the library say of Python, and what is typed in a shell instead.
IN_PYTHON: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"All (\w+): robot\.\w+\.", r"`torsor info` lists all \1."),
    (r"load it with\s+repair=\['([\w-]+)'\]", r"load it with --repair \1"),
    (
        r"with robot\.to_urdf\(path, drop=\['([\w ]+)'\]\), or write robot\.to_json\(path\)",
        r"with --drop '\1', or write JSON",
    ),
    (r"write robot\.to_json\(\)", "write JSON"),
    (r"; say which, as in torsor\.compile\([^)]*frame='([^']*)'\)", r": --frame \1"),
    (r"instance to_c\('(\w+\.c)'\)", r"instance -o \1"),
    (r" What there is until then is in the error's `trajectory`\.", ""),
    (r"smaller `dt` (.*?), or leave it out for", r"smaller --dt \1, or --adaptive for"),
    ("`mesh_roots`", "--meshes"),
    ("<text>", "standard input"),
    (r"robot\.lock\(\{(.*?)\}\)", _locks),
    (r"or pass force=True; `torsor\.compile`", "or pass --force; `torsor codegen`"),
    (r"use robot\.to_json\(\)", "write JSON"),
)
