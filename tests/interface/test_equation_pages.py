"""Every numbered equation of the papers has a page entry with a call and a test, and every citation is of one of them."""

import re
import runpy
from operator import attrgetter
from pathlib import Path

import pytest

import torsor

ROOT = Path(__file__).parents[2]
TOOL = runpy.run_path(str(ROOT / "tools" / "write_equation_pages.py"))
CITED, PROVED = TOOL["citations"](), TOOL["proofs"]()
PAPERS = TOOL["PUBLISHED"]


def upto(last, prefix=""):
    return [f"{prefix}{k}" for k in range(1, last + 1)]


NUMBERED = {  # what the papers number
    "BSP93": upto(8),
    "PBP95": upto(83),
    "LP": upto(99, "9."),
    "Sil81": [*upto(3, "1."), *upto(11, "2."), *upto(16, "3."), *upto(3, "A.")],
    "Alt04": upto(24),
    "Kool04": upto(10),
}


@pytest.fixture(params=NUMBERED)
def key(request):
    return request.param


def errata():
    """Name and place of every erratum on the page of errata."""
    text = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    return re.findall(r'^\| <a id=".*?"></a>(E00\d-\d+b?|EK-\d+) \| (.*?) \|', text, re.MULTILINE)


def sections(page):
    """The text of each equation's entry, by its anchor."""
    parts = re.split(r'<a id="(.*?)"></a>', page.read_text(encoding="utf-8"))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_numbered_equation_has_an_entry(key):
    assert set(PAPERS) == set(NUMBERED)
    assert list(TOOL["equations"](key)) == NUMBERED[key]


def test_every_entry_has_a_call_or_says_why_not(key):
    calls = TOOL["calls_of"](key)
    for number, equation in TOOL["equations"](key).items():
        assert equation.what and equation.tex
        assert any(place.is_public for place in calls[number]) != bool(equation.because), number


def test_every_entry_has_a_test(key):
    assert [number for number, tests in TOOL["tests_of"](key).items() if not tests] == []


def test_calls_of_entries_are_public_and_have_their_shortest_names(key):
    known = set(TOOL["public_places"]().values())
    for equation in TOOL["equations"](key).values():
        for name in equation.calls:
            assert attrgetter(name.removeprefix("torsor."))(torsor) is not None
            assert name in known, name


def test_citations_are_of_equations_that_exist():
    assert len(CITED) > 500 and len(PROVED) > 250
    wrong = [cited for cited in [*CITED, *PROVED] if cited[1] not in NUMBERED[cited[0]]]
    assert wrong == []
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.py")]:
        cited = TOOL["cited_in"](path.read_text(encoding="utf-8"))
        assert [(key, number) for key, number, _ in cited if number not in NUMBERED[key]] == [], path


def test_citations_are_read_in_full():
    text = "[EW21, §4; PBP95, (52)], S, PBP95 (47)–(48), (50); A, LP (9.64), [LP17, (9.3)], (7) of [LP], [LP, §9.1]"
    found = [(key, number) for key, number, _ in TOOL["cited_in"](text)]
    assert found == [("PBP95", "52"), ("PBP95", "47"), ("PBP95", "48"), ("PBP95", "50"), ("LP", "9.64")]
    numbers = TOOL["numbers_in"]
    assert list(numbers("PBP95, (22)–(25), E001-1…3", "PBP95")) == ["22", "23", "24", "25"]
    assert list(numbers("Sil81, (3.16)–(A.2), (1.1)", "Sil81")) == ["3.16", "A.1", "A.2", "1.1"]
    assert list(numbers("after (13), (14)", "PBP95")) == ["13", "14"]
    assert list(numbers("after (13), (14)", "PBP95", nearby=False)) == ["14"]
    assert list(numbers("(83)–(84)", "PBP95")) == ["83", "84"]  # of which one does not exist


def test_no_citation_is_missing_from_the_pages():
    pages = {key: sections(paper.path) for key, paper in PAPERS.items()}
    for key, number, place in CITED:
        assert place.shown in pages[key][TOOL["anchor"](number)], (key, number, place)
    index = (ROOT / "docs" / "papers" / "index_by_function.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (.*?) \| (.*) \|$", index, re.MULTILINE))
    assert all(key in rows[place.shown] for key, _, place in CITED)


def test_errata_of_numbered_equations_are_in_their_entries():
    known = dict(errata())
    keys = {"E000": "BSP93", "E001": "PBP95", "E002": "LP", "E003": "Sil81", "E004": "Alt04", "EK": "Kool04"}
    for name, where in known.items():
        key = keys[name.split("-")[0]]
        for number in TOOL["numbers_in"](where, key, nearby=False):
            assert name in TOOL["equations"](key)[number].errata, (name, number)
    for key in NUMBERED:
        for equation in TOOL["equations"](key).values():
            assert set(equation.errata) <= set(known), equation.number
            assert bool(equation.errata) >= bool(equation.printed), equation.number
            assert equation.printed != equation.tex


def test_links_of_the_pages_lead_somewhere():
    anchors = {paper.path.name: set(sections(paper.path)) for paper in PAPERS.values()}
    text = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    places = re.findall(r'^\| <a id="(.*?)"></a>(\S+) \|', text, re.MULTILINE)
    assert (
        [place for place, _ in places] == [name.lower() for name, _ in errata()] == [name.lower() for _, name in places]
    )
    anchors["../errata.md"] = {place for place, _ in places}
    for page in TOOL["pages"]():
        for file, anchor in set(re.findall(r"\]\(([^()#]*)(?:#([^()]*))?\)", page.read_text(encoding="utf-8"))):
            assert (page.parent / file).exists(), (page, file)
            assert not anchor or anchor in anchors[file or page.name], (page, file, anchor)


def test_pages_are_up_to_date():
    for path, text in TOOL["pages"]().items():
        assert path.read_text(encoding="utf-8") == text, "run: python tools/write_equation_pages.py"
