"""One page of reference per namespace, written before the build from the stubs' lists of public names.

Each name is described once: at `torsor`, where it is there, and else in its namespace; other pages link to it. The texts are the
docstrings. Functions here are compiled objects, so they are asked for their signature and docstring by name.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, NumpyDocstring

from torsor._lazy import everywhere

LITERAL = re.compile(r"``.+?``|:\w+:`.+?`")
# Types are words here ("(..., 6) array"), so they are shown as they are and not looked for.
SECTIONS = Config(
    napoleon_use_param=False, napoleon_use_rtype=False, napoleon_custom_sections=[("Attributes", "params_style")]
)
HOMES: dict[str, str] = {}  # the short name of each public object → where it is described


def namespaces() -> dict[str, dict[str, Any]]:
    """Every namespace with its public objects by name, namespaces in it among them."""
    found: dict[str, dict[str, Any]] = {}
    waiting = ["torsor"]
    while waiting:
        name = waiting.pop(0)
        found[name] = public(import_module(name))
        waiting += [f"{name}.{member}" for member, thing in found[name].items() if isinstance(thing, ModuleType)]
    return found


def public(module: ModuleType) -> dict[str, Any]:
    """The names that a module lists; of a module without a list, those that it defines."""
    if hasattr(module, "__all__"):
        return {name: getattr(module, name) for name in sorted(module.__all__)}
    things = {name: thing for name, thing in sorted(vars(module).items()) if not name.startswith("_")}
    return {name: thing for name, thing in things.items() if getattr(thing, "__module__", "") == module.__name__}


def write_pages(app: Sphinx) -> None:
    """Called by Sphinx before it looks for pages."""
    folder = Path(app.srcdir) / "reference" / "api"
    folder.mkdir(parents=True, exist_ok=True)
    found = namespaces()
    HOMES.update({name: places[0] for name, places in everywhere().items()})
    for name, members in found.items():
        written = page(name, members, found)
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != written:
            path.write_text(written, encoding="utf-8")
    for path in folder.glob("*.rst"):
        if path.stem not in found:
            path.unlink()


def page(namespace: str, members: dict[str, Any], found: dict[str, dict[str, Any]]) -> str:
    """A namespace: its docstring, its namespaces, the names that are described elsewhere, its own names."""
    words = re.split(r"\n(?:Functions|Classes)\n-+\n", inspect.getdoc(import_module(namespace)) or "")[
        0
    ]  # the lists come below
    lines = [namespace, "=" * len(namespace), "", f".. py:module:: {namespace}", ""]
    words = re.sub(r"(?<!:)\n\n(?=    \S)", "\n\n::\n\n", words)  # what is indented is code
    lines += [*text(words.splitlines()), ""]
    inner = [name for name in members if f"{namespace}.{name}" in found]
    if inner:
        lines += [".. toctree::", "   :maxdepth: 1", "", *(f"   {namespace}.{name}" for name in inner), ""]
    own, elsewhere = [], []
    for name in (name for name in members if name not in inner):
        home = HOMES.get(name, f"{namespace}.{name}")
        same = namespace == home.rpartition(".")[0] or members[name] is not found[home.rpartition(".")[0]].get(name)
        (own if same else elsewhere).append(name)
    if elsewhere:
        links = ", ".join(f":py:obj:`{name} <{HOMES[name]}>`" for name in elsewhere)
        lines += [f"Also here, described at ``torsor``: {links}.", ""]
    if own:
        lines += [".. list-table::", "   :widths: auto", "   :class: names", ""]
    for name in own:
        first = (inspect.getdoc(members[name]) or "").split("\n\n")[0] if callable(members[name]) else ""
        lines += [
            f"   * - :py:obj:`{name} <{namespace}.{name}>`",
            "     - " + " ".join(text(first.splitlines())).removesuffix(" ::"),
        ]
    lines.append("")
    for name in own:
        thing = members[name]
        if inspect.isclass(thing):
            lines += [f".. autoclass:: {namespace}.{name}", "   :members:", ""]
        elif callable(thing):
            lines += [f".. autofunction:: {namespace}.{name}", ""]
        else:
            lines += [f".. py:data:: {namespace}.{name}", "", f"   ``{thing!r}``" if len(repr(thing)) < 100 else "", ""]
    return "\n".join(lines)


def as_text(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are written to be read at a prompt: signs that reStructuredText would take for its own stay signs."""
    lines[:] = text(lines)
    of = "function" if what in ("attribute", "property", "data") else what  # "Names: …" there is a sentence, not a type
    lines[:] = NumpyDocstring("\n".join(lines), SECTIONS, app, of, name, thing, options).lines()


def text(given: list[str]) -> list[str]:
    """The same lines, without signs that mean something in reStructuredText alone; literal blocks stay as they are."""
    lines = list(given)
    literal_at: int | None = None  # indentation of the paragraph that began a literal block
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if literal_at is not None:
            if not line.strip() or indent > literal_at:
                continue
            literal_at = None
        parts = []
        last = 0
        for found in LITERAL.finditer(line):
            parts += [escaped(line[last : found.start()]), found[0]]
            last = found.end()
        lines[i] = "".join([*parts, escaped(line[last:])])
        if line.rstrip().endswith("::") and not line.lstrip().startswith(".."):
            literal_at = indent
    return lines


def is_dull(app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Fields of named tuples, of which Python says their number alone: the class's docstring has them."""
    return True if (getattr(thing, "__doc__", None) or "").startswith("Alias for field number") else None


def escaped(words: str) -> str:
    """Bars and asterisks as they are, but for those of lists; names in backquotes as links to where they are described."""
    words = re.sub(r"(\||\*(?=\S)|(?<=\S)\*)", r"\\\1", words)
    words = re.sub(r"(?<=\w)_(?=\W|$)", r"\\_", words)
    return re.sub(r"`([^`]+)`", link, words)


def link(found: re.Match[str]) -> str:
    """A name in backquotes."""
    name = found[1].removesuffix("()")
    home = HOMES.get(name.rpartition(".")[2])
    if home and (name == home or "." not in name or home.endswith("." + name)):
        return f":py:obj:`{name} <{home}>`"
    return "``" + found[1].replace("\\", "") + "``"


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-docstring", as_text)
    app.connect("autodoc-skip-member", is_dull)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
