"""`torsor compare`: Silver's table, counted live; and the page that shows it."""

from functools import partial
from pathlib import Path

import pytest

import torsor
from torsor.cli.main import main
from torsor.papers.formulations import FORMULATIONS

PAGE = (Path(__file__).parents[2] / "docs" / "papers" / "silver_1981.md").read_text()


@pytest.fixture(scope="module")
def comparison():
    return torsor.papers.compare_formulations(6, timings=False)


def test_the_table_names_every_formulation_with_its_counts(comparison):
    text = str(comparison)
    for row in comparison.rows:
        assert row.about.title in text
        assert f"{row.literal.multiplications:,} / {row.literal.additions:,}" in text
        assert str(row.growth[0]) in text
    assert {row.name for row in comparison.rows} == set(FORMULATIONS)


def test_the_ratios_are_those_silver_quotes(comparison):
    assert comparison.ratio("hollerbach_4x4", "luh_walker_paul") == pytest.approx(5, rel=0.02)
    assert comparison.ratio("hollerbach_4x4", "hollerbach_3x3") == pytest.approx(2, rel=0.03)
    assert comparison.ratio("hollerbach_3x3", "luh_walker_paul") == pytest.approx(2.5, rel=0.02)


def test_the_last_row_is_what_the_compiler_makes_of_it(comparison):
    own = comparison.own.operations
    assert own.multiplications <= 92 * 6 - 127  # the best general counts that are published [Khalil & Kleinfinger 1987]
    assert own.additions <= 81 * 6 - 117
    line = f"{own.multiplications:,} / {own.additions:,}"
    for text in (str(comparison), PAGE):
        assert line in next(x for x in text.splitlines() if x.startswith("What the compiler makes of it"))


def test_growth_is_of_the_fourth_and_of_the_first_order(comparison):
    degrees = {row.name: row.growth[0].degree for row in comparison.rows}
    assert degrees["uicker_kahn"] == 4
    assert all(degrees[name] == 1 for name in ("hollerbach_4x4", "hollerbach_3x3", "luh_walker_paul", "kool"))


def test_the_page_shows_the_counts_of_today(comparison):
    for row in comparison.rows:
        counts = [f"{c.multiplications:,} / {c.additions:,}" for c in (row.literal, row.structural, row.simplified)]
        line = next(line for line in PAGE.splitlines() if line.startswith(row.about.title))
        assert all(count in line for count in counts)
        assert all(str(p) in PAGE for p in row.growth)


@pytest.mark.compiled
def test_the_command_prints_measures_and_draws(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr("torsor.papers.formulation_comparison.BURST", 0.001)
    monkeypatch.setattr(torsor.plot, "operation_counts", partial(torsor.plot.operation_counts, range(1, 4)))
    picture = tmp_path / "counts.png"
    assert main(["compare", "--links", "2", "--plot", str(picture)]) == 0
    out = capsys.readouterr().out
    assert "compiled, ns" in out and "Newton–Euler in vectors" in out
    assert picture.stat().st_size > 10_000


def test_no_links_are_refused(capsys):
    assert main(["compare", "--links", "0"]) == 2
    assert "at least one link" in capsys.readouterr().err
