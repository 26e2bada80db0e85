"""Every public name is documented: what it takes and gives, in which shape and unit, and by which equation."""

import inspect
import re
from operator import attrgetter
from pathlib import Path

import pytest

import torsor
from torsor import lie
from torsor._lazy import everywhere
from torsor.functions.dispatch import about_of

DOCS = Path(__file__).parents[2] / "docs"
SHAPE = re.compile(r"\((\.\.\.|\*batch|n|nq|nv|k|N|N \+ 1|3|4|6|10)(, [^)]*)?[,)]|\(\.\.\.\)")
UNIT = re.compile(r"\b(rad|m|kg|s|N|J|W|1/s|per s|per unit of v|no unit|any unit|SI units)\b|m/s²|kg·m²|N·m")
CITATION = re.compile(r"\[((?:[A-Z][A-Za-z]+\d{2}|LP)(?:, [^\]]*)?(?:; (?:[A-Z][A-Za-z]+\d{2}|LP)(?:, [^\]]*)?)*)\]")
KEY = re.compile(r"\b(BSP93|PBP95|LP|Sil81|Alt04|Kool04|[A-Z][A-Za-z]+\d{2})\b(?=[,\]])")

# Namespaces whose functions are not of a robot's state
OWN_RULES = ("adapters", "lie", "modern_robotics", "plot", "robots")
EQUATIONS_AS_PRINTED = [f"torsor.papers.{name}" for name in ("_closed_form", "accelerations", "brackets")]
PUBLIC = {  # by name; a name at the top is the very object of its namespace
    name: attrgetter(place.removeprefix("torsor."))(torsor)
    for name, places in everywhere().items()
    for place in reversed(places)
    if place.split(".")[1] not in OWN_RULES
}
ALGORITHMS = {
    name: about.algorithm for name, f in PUBLIC.items() if (about := about_of(f))
}  # behind the builtin functions
FUNCTIONS = {name: ALGORITHMS.get(name, value) for name, value in PUBLIC.items() if inspect.isroutine(value)}
CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}
RETURNS_NOTHING = {"torsor.set_threads"}
ROBOT_FUNCTIONS = {
    name: value
    for name, value in FUNCTIONS.items()
    if value.__module__.startswith(("torsor.mechanics", "torsor.simulation", "torsor.geometry"))
    or value.__module__ in ("torsor.functions.singular_mass_matrix", *EQUATIONS_AS_PRINTED)
}
LIE = {
    f"{module.__name__}.{name}": value
    for module in (
        lie,
        lie.so3,
        lie.se3,
        lie.quaternion,
        torsor.papers.rigid_body,
        torsor.papers.second_kind,
        torsor.geometry.left_invariant,
    )
    for name, value in vars(module).items()
    if inspect.isfunction(value)
    and not name.startswith("_")
    and value.__module__.startswith(("torsor.lie", "torsor.papers", "torsor.geometry"))
}


@pytest.mark.parametrize("name", sorted(ROBOT_FUNCTIONS | LIE))
def test_every_algorithm_states_shapes_units_and_its_equation(name):
    text = inspect.getdoc((ROBOT_FUNCTIONS | LIE)[name]) or ""
    assert SHAPE.search(text), "no shape"
    assert UNIT.search(text), "no unit"
    assert KEY.search(text), "no source"


EVERYWHERE = {
    place: function
    for places in everywhere().values()
    for place in places
    if inspect.isroutine(function := attrgetter(place.removeprefix("torsor."))(torsor))
}


@pytest.mark.parametrize("place", sorted(EVERYWHERE))
def test_every_public_function_says_its_parameters_and_results_in_sections(place):
    text, signature = inspect.getdoc(EVERYWHERE[place]) or "", inspect.signature(EVERYWHERE[place])
    named = [name for name in signature.parameters if name not in ("args", "kwargs")]
    if named:
        assert "\nParameters\n----------\n" in text
        section = text.split("\nParameters\n----------\n")[1].split("\nReturns\n")[0]
        said = {word.lstrip("*") for line in section.splitlines() for word in line.split(" : ")[0].split(", ")}
        assert set(named) <= said, set(named) - said
    if signature.return_annotation not in (None, "None"):
        assert "\nReturns\n-------\n" in text or place in RETURNS_NOTHING


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) | set(CLASSES)))
def test_every_public_name_has_a_docstring(name):
    assert inspect.getdoc(PUBLIC[name])


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_every_public_member_has_a_docstring(name):
    for member, value in vars(CLASSES[name]).items():
        if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, (property, classmethod))):
            assert inspect.getdoc(value), f"{name}.{member}"


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_public_function_is_fully_annotated(name):
    signature = inspect.signature(FUNCTIONS[name])
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(p.annotation is not inspect.Parameter.empty for p in signature.parameters.values())


def sources():
    for path in sorted(Path(torsor.__file__).parent.rglob("*.py")):
        yield path, path.read_text()


def test_every_cited_source_is_in_the_list_of_references():
    known = set(re.findall(r"^\| (\w+) \|", (DOCS / "references.md").read_text(), re.MULTILINE))
    for path, text in sources():
        cited = {key for group in CITATION.findall(text) for key in re.findall(r"(?:^|; )([A-Za-z]+\d*)", group)}
        assert cited <= known, (path, cited - known)


def test_every_cited_erratum_is_in_the_list_of_errata():
    known = set(re.findall(r"\b(E00\d-\d+b?|EK-\d+)\b", (DOCS / "errata.md").read_text()))
    for path, text in sources():
        cited = set(re.findall(r"\b(E00\d-\d+b?|EK-\d+)\b", text))
        assert cited <= known, (path, cited - known)


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_a_compiled_function_shows_the_signature_and_text_of_its_algorithm(name):
    function = PUBLIC[name]
    parameters = [*inspect.signature(ALGORITHMS[name]).parameters, "out"]
    assert list(inspect.signature(function).parameters) == parameters
    text, shown = inspect.getdoc(ALGORITHMS[name]), function.__doc__
    begin, _, end = text.partition("\n\nReturns\n")
    assert shown.startswith(f"{begin}\nout : ") and f"\n\nReturns\n{end}\n\nNotes\n-----\n" in shown
    assert "q (nq,) is one state" in shown
    assert function.__name__ == name
