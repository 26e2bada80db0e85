"""Write the pages that lead from an equation of the papers to its call and its test, and back.

Run it after changing an equation in docs/papers/equations, a citation in a docstring, or a test of the papers.

    python tools/write_equation_pages.py

Equations come from docs/papers/equations/*.toml; calls from citations such as ``[PBP95, (22)–(27), E001-1…3]`` anywhere in the
sources, and from ``calls`` beside an equation; tests from the docstrings in tests/papers, which begin with the numbers that they
prove. A test compares what it would write with what is there, and that no equation lacks a call and a test.
"""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import torsor
from torsor._lazy import everywhere
from torsor.functions.dispatch import about_of

ROOT = Path(__file__).parents[1]
PAPERS = ROOT / "docs" / "papers"
SOURCES = ROOT / "src" / "torsor"
TESTS = ROOT / "tests" / "papers"
REMARK = "<!-- Written by tools/write_equation_pages.py. -->"


class Paper(NamedTuple):
    """One of the sources: its key in docs/references.md, its page, its tests, how it is called."""

    key: str
    page: str
    tests: str  # how the names of its test files begin
    title: str
    notes: str = ""

    @property
    def path(self) -> Path:
        """The file of its page."""
        return PAPERS / f"equations_{self.page}.md"


IN_THE_BOOK = """\

The numbers are those of the draft, in which dynamics is chapter 9; in the published book, *Modern Robotics* (2017), it is chapter
8. The published section stands beside each equation. The published text was not at hand, so published numbers stand only where
they are sure: (8.45)–(8.49) as the library GTDynamics cites them (pages 292 and 293 of the book), (8.50)–(8.54) as open
implementations of the algorithm cite them, (8.1) and (8.2) from memory. The other numbers are left out.
"""
PUBLISHED = {
    paper.key: paper
    for paper in (
        Paper(
            "BSP93",
            "brockett_stokes_park_1993",
            "test_brockett_stokes_park_1993",
            "Brockett, Stokes and Park 1993",
            "\nThe paper numbers eight of its equations. The others are cited by section; their tests are in\n"
            "[test_brockett_stokes_park_1993.py](../../tests/papers/test_brockett_stokes_park_1993.py).\n",
        ),
        Paper("PBP95", "park_bobrow_ploen_1995", "test_park_bobrow_ploen_1995", "Park, Bobrow and Ploen 1995"),
        Paper("LP", "lynch_park_chapter_9", "test_lynch_park_chapter_9", "Lynch and Park, chapter 9", IN_THE_BOOK),
        Paper("Sil81", "silver_1981", "test_silver_1981", "Silver 1981"),
        Paper("Alt04", "altafini_2004", "test_altafini_2004", "Altafini 2004"),
        Paper("Kool04", "kool_2004", "test_kool_2004", "Kool 2004"),
    )
}
KEYS = "|".join(PUBLISHED)
NUMBER = r"\(((?:\d+|A)(?:\.\d+)?)\)"
NEARBY = r"(?:after|before|below|above)\s+"  # what stands near an equation is not the equation


class Equation(NamedTuple):
    """A numbered equation: in words, as it is here, as it is printed if that differs, and what is known of it."""

    number: str
    what: str
    tex: str
    printed: str = ""
    errata: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()  # those that have it without citing it
    because: str = ""  # why there is no call
    section: str = ""  # of the published book
    published: str = ""  # its number there


class Place(NamedTuple):
    """Where the sources cite: a public name if it has one, and else the file."""

    name: str
    is_public: bool

    @property
    def shown(self) -> str:
        """How a page names it, with a link to the file."""
        if self.is_public:
            return f"`{self.name}`"
        return f"[`{self.name.removeprefix('src/torsor/')}`](../../{self.name})"


@cache
def equations(key: str) -> Mapping[str, Equation]:
    """The numbered equations of a paper."""
    table = tomllib.loads((PAPERS / "equations" / f"{key.lower()}.toml").read_text(encoding="utf-8"))
    return {number: Equation(number, **{name: _frozen(x) for name, x in row.items()}) for number, row in table.items()}


def _frozen(x: Any) -> Any:
    return tuple(x) if isinstance(x, list) else x


def numbers_in(text: str, key: str, *, nearby: bool = True) -> Iterator[str]:
    """The equation numbers of a citation, ranges written out; without ``nearby``, not those of "after (13)".

    A range that begins or ends with a number that the paper does not have gives these two.
    """
    if not nearby:
        text = re.sub(NEARBY + NUMBER, "", text)
    known = list(equations(key))
    for match in re.finditer(rf"{NUMBER}(?:\s*[–-]\s*{NUMBER})?", text):
        first, last = match[1], match[2] or match[1]
        if first in known and last in known:
            yield from known[known.index(first) : known.index(last) + 1]
        else:
            yield from dict.fromkeys((first, last))


def cited_in(text: str) -> Iterator[tuple[str, str, int]]:
    """Key, number and place of every equation that a text cites, as ``[PBP95, (40), (53); LP, (9.61)]`` or as ``LP (9.61)``."""
    for match in re.finditer(r"\[([^\[\]]*)\]", text):
        for part in match[1].split(";"):
            key = part.split(",")[0].strip()
            for number in numbers_in(part, key) if key in PUBLISHED else ():
                yield key, number, match.start()
    for match in re.finditer(rf"\b({KEYS})\s+((?:{NUMBER}[\s,–-]*)+)", text):
        for number in numbers_in(match[2], match[1]):
            yield match[1], number, match.start()


@cache
def citations() -> list[tuple[str, str, Place]]:
    """Key, number and place of every equation that the sources cite."""
    found = []
    for path in sorted(SOURCES.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for key, number, start in cited_in(text):
            found.append((key, number, _place(path, text.count("\n", 0, start) + 1)))
    return found


@cache
def proofs() -> list[tuple[str, str, str, str]]:
    """Key and number of every equation that a test of the papers names before its first colon, file and name of the test."""
    found = []
    for path in sorted(TESTS.glob("test_*.py")):
        of_file = next((paper.key for paper in PUBLISHED.values() if path.stem.startswith(paper.tests)), "")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                parts = re.split(rf"\b({KEYS})\b", (ast.get_docstring(node) or "").split(":")[0])
                named = [(of_file, parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]
                for key, words in named:
                    for number in dict.fromkeys(numbers_in(words, key, nearby=False) if key else ()):
                        found.append((key, number, path.name, node.name))
    return found


@cache
def _owners(path: Path) -> list[tuple[int, int, str]]:
    """First line, last line and qualified name of every function and class of a file, outer ones first."""

    def walk(node: ast.AST, prefix: str) -> Iterator[tuple[int, int, str]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                yield child.lineno, child.end_lineno or child.lineno, prefix + child.name
                yield from walk(child, f"{prefix}{child.name}.")

    return list(walk(ast.parse(path.read_text(encoding="utf-8")), ""))


def _place(path: Path, line: int) -> Place:
    """Who speaks in this line: the innermost public name around it, or the file."""
    module = ".".join(("torsor", *path.relative_to(SOURCES).with_suffix("").parts)).removesuffix(".__init__")
    around = [name for first, last, name in _owners(path) if first <= line <= last]
    for name in reversed(around):
        if (module, name) in public_places():
            return Place(public_places()[module, name], True)
    if not around and (module, "") in public_places():
        return Place(module, True)
    return Place(path.relative_to(ROOT).as_posix(), False)


@cache
def public_places() -> Mapping[tuple[str, str], str]:
    """Where users find a thing, by the module and the qualified name under which the sources define it."""
    found: dict[tuple[str, str], str] = {}
    things = {place: attrgetter(place.removeprefix("torsor."))(torsor) for place, *_ in everywhere().values()}
    for place, thing in things.items():  # first of all: these places are the shortest
        if not inspect.ismodule(thing):
            _add(found, place, thing)
    for thing in things.values():
        if inspect.ismodule(thing):
            _add_module(found, thing)
    return found


def _add_module(found: dict[tuple[str, str], str], module: ModuleType) -> None:
    """A public module, with what it defines, and with what it imports if it is a package."""
    found[module.__name__, ""] = module.__name__
    tree = ast.parse(inspect.getsource(module))
    imported = {
        alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    for name in dir(module):
        thing = getattr(module, name)
        if name.startswith("_") or (name in imported and not hasattr(module, "__path__")):
            continue
        if not inspect.ismodule(thing):
            _add(found, f"{module.__name__}.{name}", thing)
        elif (thing.__name__, "") not in found and thing.__name__ == f"{module.__name__}.{name}" and name in imported:
            _add_module(found, thing)


def _add(found: dict[tuple[str, str], str], place: str, thing: Any) -> None:
    about = about_of(thing)
    thing = inspect.unwrap(about.algorithm if about is not None else thing)
    defined = getattr(thing, "__module__", None) or "", getattr(thing, "__qualname__", "")
    if not defined[0].startswith("torsor.") or not defined[1]:
        return
    found.setdefault(defined, place)
    if inspect.isclass(thing):
        for name in vars(thing):
            if not name.startswith("_"):
                found.setdefault((defined[0], f"{defined[1]}.{name}"), f"{place}.{name}")


def calls_of(key: str) -> Mapping[str, list[Place]]:
    """For each equation of a paper, who cites it, public names first, and which calls its entry names."""
    found: dict[str, set[Place]] = {number: set() for number in equations(key)}
    for cited, number, place in citations():
        if cited == key and number in found:
            found[number].add(place)
    for number, equation in equations(key).items():
        found[number] |= {Place(name, True) for name in equation.calls}
    return {number: sorted(places, key=lambda x: (not x.is_public, x.name)) for number, places in found.items()}


def tests_of(key: str) -> Mapping[str, list[tuple[str, str]]]:
    """For each equation of a paper, file and name of the tests that prove it."""
    found: dict[str, list[tuple[str, str]]] = {number: [] for number in equations(key)}
    for cited, number, file, name in proofs():
        if cited == key and number in found:
            found[number].append((file, name))
    return found


def anchor(number: str) -> str:
    """What a link to an equation ends in."""
    return f"eq-{number.lower().replace('.', '-')}"


def _entry(equation: Equation, calls: list[Place], tests: list[tuple[str, str]]) -> str:
    lines = [f'<a id="{anchor(equation.number)}"></a>', "", f"## ({equation.number}) {equation.what}", ""]
    if equation.section:
        number = f", ({equation.published})" if equation.published else ""
        lines += [f"Published: §{equation.section}{number}.", ""]
    lines += [f"$${equation.tex}$$", ""]
    errata = ", ".join(f"[{name}](../errata.md#{name.lower()})" for name in equation.errata)
    if equation.printed:
        lines += [f"Not as printed, {errata}. Printed:", "", f"$${equation.printed}$$", ""]
    elif errata:
        lines += [f"See {errata}.", ""]
    public = ", ".join(x.shown for x in calls if x.is_public)
    inside = ", ".join(x.shown for x in calls if not x.is_public)
    lines.append(f"- call: {public or f'none; {equation.because}'}")
    if inside:
        lines.append(f"- inside: {inside}")
    lines.append("- tests: " + ", ".join(f"[`{name}`](../../tests/papers/{file})" for file, name in tests))
    return "\n".join([*lines, ""])


def _page(paper: Paper) -> str:
    calls, tests = calls_of(paper.key), tests_of(paper.key)
    other = [number for number, equation in equations(paper.key).items() if equation.printed]
    wrong = ", ".join(f"[({number})](#{anchor(number)})" for number in other)
    opening = f"""\
{REMARK}

# {paper.title}: equation, call, test

Every numbered equation of [{paper.key}](../references.md), as the library has it; where the paper prints another, both, with the
[erratum](../errata.md). *Call* is what to call or read in Python, *inside* the files that cite it too, *tests* what proves it.
From a function to its equations: [index](index_by_function.md).
{paper.notes}
{len(calls)} equations; not as printed: {wrong}.
"""
    return "\n".join([opening, *(_entry(x, calls[n], tests[n]) for n, x in equations(paper.key).items())])


def _index() -> str:
    found: dict[Place, dict[str, list[str]]] = {}
    for key in PUBLISHED:
        for number, places in calls_of(key).items():
            for place in places:
                found.setdefault(place, {}).setdefault(key, []).append(number)

    def rows(is_public: bool) -> str:
        chosen = sorted((place for place in found if place.is_public == is_public), key=lambda x: x.name)
        return "\n".join(f"| {place.shown} | {_cited(found[place])} |" for place in chosen)

    pages = " · ".join(f"[{paper.title}]({paper.path.name})" for paper in PUBLISHED.values())
    return f"""\
{REMARK}

# From a function to its equations

Every call that is one of the papers' numbered equations, or is made of one. From an equation to its calls and tests: {pages}.

| call | equations |
|---|---|
{rows(True)}

## Files

The files whose inner functions cite an equation, or which do so as a whole.

| file | equations |
|---|---|
{rows(False)}
"""


def _cited(numbers: Mapping[str, list[str]]) -> str:
    """Links to equations, one for each run of them."""
    parts = []
    for key, cited in numbers.items():
        known, runs = list(equations(key)), list[list[str]]()
        for number in cited:
            if runs and known.index(number) == known.index(runs[-1][-1]) + 1:
                runs[-1].append(number)
            else:
                runs.append([number])
        parts.append(f"{key} " + ", ".join(_run(run, PUBLISHED[key].path.name) for run in runs))
    return "; ".join(parts)


def _run(run: list[str], page: str) -> str:
    return "–".join(f"[({number})]({page}#{anchor(number)})" for number in dict.fromkeys((run[0], run[-1])))


def pages() -> dict[Path, str]:
    """What is to be written, by file."""
    return {paper.path: _page(paper) for paper in PUBLISHED.values()} | {PAPERS / "index_by_function.md": _index()}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
