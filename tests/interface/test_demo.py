"""The demonstration: what it prints fits two screens, its page is one file that needs no network, and it works without extras."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

import torsor
from torsor import _demo
from torsor._demo import controlled_motion, race, report, terms

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The folder, the printed text and the page of one run; figures of speed are taken in no time, for nobody reads them here."""
    folder, printed = tmp_path_factory.mktemp("demo") / "new", []
    with pytest.MonkeyPatch.context() as patch, torsor.backend("compiled"):
        patch.setattr(race, "PATIENCE", 1e-4)
        assert _demo.run(folder, printed.append) == 0
    return folder, "".join(printed), (folder / "report.html").read_text()


class Page(HTMLParser):
    """Addresses that a page names, and its text."""

    def __init__(self, page):
        super().__init__()
        self.addresses, self.text, self.titles, self.tags = [], "", [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href", "action", "data", "poster")]

    def handle_data(self, data):
        self.text += data
        if self.tags[-1:] == ["h2"]:
            self.titles.append(data)


@pytest.mark.compiled
def test_the_printed_text_fits_two_screens_and_says_what_to_do_next(demo):
    folder, text, _ = demo
    lines = text.splitlines()
    assert len(lines) < 70
    assert max(len(line.replace(str(folder), "demo")) for line in lines) <= 125
    assert "BAD" not in text
    assert text.count("  ok ") == len(torsor.verify(torsor.robots.pendulum(), configurations=1).rows)
    assert "WHAT TO TYPE NEXT" in text
    assert str(folder / "report.html") in text
    assert "keep the limits" in text
    for name in ("inverse dynamics", "forward dynamics", "mass matrix"):
        assert re.search(rf"{name} .*[µm]s .*×", text)


@pytest.mark.compiled
def test_the_page_is_one_file_that_needs_no_network(demo):
    folder, _, page = demo
    assert [path.name for path in folder.iterdir()] == ["report.html"]
    read = Page(page)
    assert len(read.titles) == 7
    assert read.tags.count("img") >= 5 or "iframe" in read.tags
    assert all(address.startswith("data:") for address in read.addresses)
    assert not re.search(r"@import|url\(", page.split("</style>")[0])
    assert "panda_joint7" in read.text
    assert len(page) < 4_000_000


def test_without_matplotlib_the_page_has_words_instead(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.delattr(torsor, "view", raising=False)
    robot = torsor.robots.pendulum().with_limits(effort=1.0)
    run = torsor.Trajectory(robot, np.linspace(0, 1, 9), np.zeros((9, 1)), np.zeros((9, 1)))
    followed = controlled_motion.Followed(run, run, "A MOTION: none")
    for words in report.pictures(followed):
        assert "pip install" in words
        assert "<img" not in words


def test_the_replay_is_the_viewers_where_there_is_one(monkeypatch):
    seen = []

    class Viewer:
        def _repr_html_(self):
            return "<iframe srcdoc='all of it'></iframe>"

    def view(robot, motion, *, ghost, serve):
        seen.append((robot, motion, ghost, serve))
        return Viewer()

    monkeypatch.setitem(torsor.__dict__, "view", view)
    run = torsor.Trajectory(torsor.robots.pendulum(), [0.0, 1.0], np.zeros((2, 1)), np.zeros((2, 1)))
    planned = run[:1]
    assert report.replay(controlled_motion.Followed(planned, run, "")).startswith(
        "<iframe srcdoc='all of it'></iframe>"
    )
    assert seen == [(run.robot, run, planned, False)]


def test_the_terms_add_up():
    found = terms.terms_of_one_state(torsor.robots.ur5())
    parts = [found.columns[name] for name in ("M a", "C v", "g", "−JᵀF")]
    np.testing.assert_allclose(np.sum(parts, axis=0), found.columns["τ"], atol=1e-9)
    assert found.html().count("<tr>") == 7


def test_without_a_compiler_there_is_no_race(monkeypatch):
    from torsor.compiler.run import engine

    monkeypatch.setattr(engine, "why_missing", lambda: "no llvmlite")
    found = race.race(torsor.robots.pendulum())
    assert "no llvmlite" in found.text
    assert "no llvmlite" in found.html()


def test_times_are_printed_with_three_digits_and_their_unit():
    assert [race._time(x) for x in (2.5, 1.234e-3, 5.6e-6, 4.2e-8)] == ["2.5 s", "1.23 ms", "5.6 µs", "42 ns"]


def test_a_folder_that_cannot_be_made_is_said_before_the_work(tmp_path):
    (tmp_path / "file").write_text("")
    done = subprocess.run(
        [sys.executable, "-m", "torsor._demo", str(tmp_path / "file" / "x\n")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert not done.stdout
    assert re.fullmatch(r"demo: cannot make the folder .*x\\n: .*\n", done.stderr)


def test_make_demo_runs_it_and_git_leaves_its_folder_alone():
    assert "python -m torsor._demo demo" in (ROOT / "Makefile").read_text()
    assert "demo/" in (ROOT / ".gitignore").read_text().splitlines()
