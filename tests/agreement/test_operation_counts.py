"""Operation counts against the golden tables, the growth with n as exact polynomials, and the ratios Silver quotes."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import torsor
from torsor import TorsorError, UnknownName
from torsor.papers.formulations import FORMULATIONS
from torsor.papers.operation_counts import count_operations, count_polynomial, count_table

DATA = Path(__file__).parents[1] / "data"
GOLDEN = json.loads((DATA / "opcounts.json").read_text())
GOLDEN["uicker_kahn_literal"] = json.loads((DATA / "opcounts_literal.json").read_text())
DENSE = {
    "uicker_kahn": "uicker_kahn_literal",
    "uicker_kahn_shared": "uicker_kahn_dense",
    "uicker_kahn_accelerations": "uk_wdd_dense",
    "hollerbach_4x4": "hollerbach4_dense",
    "hollerbach_3x3": "hollerbach3_dense",
    "luh_walker_paul": "luh_dense",
}
SPARSE = {
    "uicker_kahn_shared": "uicker_kahn_sparse",
    "uicker_kahn_accelerations": "uk_wdd_sparse",
    "hollerbach_4x4": "hollerbach4_sparse",
    "hollerbach_3x3": "hollerbach3_sparse",
    "luh_walker_paul": "luh_sparse",
}


def golden(key):
    table = GOLDEN[key]
    return dict(zip(table["n"], zip(table["mult"], table["add"], strict=True), strict=True))


def counted(name, links, level="literal"):
    return {n: count_operations(name, n, level=level)[:2] for n in links}


@pytest.mark.parametrize("name", DENSE)
def test_literal_counts_are_the_golden_ones(name):
    """Every entry of the given matrices opaque: each 4×4 product costs 64 multiplications and 48 additions, and so on."""
    expected = {n: count for n, count in golden(DENSE[name]).items() if n <= 8 or name[:6] != "uicker"}
    assert counted(name, expected) == expected


@pytest.mark.parametrize("name", SPARSE)
def test_structural_counts_are_the_golden_ones(name):
    """Zeros and ones of the Denavit–Hartenberg matrices skipped.

    One difference, in (1.2): in −m gᵀ ∂W_j/∂q_i r the golden count multiplies by the last entry of r = (x, y, z, 1), we skip
    that 1 as every other: one product less in each row of ∂W_j/∂q_i that is not zero, which are two for i = 1 and three
    beyond it: Σ_j (3j − 1) = (3n² + n)/2.
    """
    expected = {n: count for n, count in golden(SPARSE[name]).items() if n <= 7 or name[:6] != "uicker"}
    if name.startswith("uicker_kahn"):
        expected = {n: (m - (3 * n * n + n) // 2, a) for n, (m, a) in expected.items()}
    assert counted(name, expected, "structural") == expected


def test_structural_count_of_the_literal_form():
    """42,958 and 32,646 for six links in the catalogue of counts, less the same (3n² + n)/2 = 57."""
    assert count_operations("uicker_kahn", 6, level="structural")[:2] == (42_958 - 57, 32_646)


POLYNOMIALS = {
    "uicker_kahn": ("65/2 n⁴ + 356/3 n³ + 343/2 n² + 448/3 n − 192", "25n⁴ + 274/3 n³ + 131n² + 335/3 n − 144"),
    "uicker_kahn_shared": ("25/2 n⁴ + 52n³ + 95/2 n² + 8n", "10n⁴ + 124/3 n³ + 38n² + 17/3 n"),
    "uicker_kahn_accelerations": ("8n⁴ + 121/3 n³ + 27n² + 176/3 n", "6n⁴ + 92/3 n³ + 26n² + 97/3 n"),
    "hollerbach_4x4": ("694n − 545", "559n − 464"),
    "hollerbach_4x4_shared": (
        "630n − 481",
        "511n − 416",
    ),  # 64 and 48, a product of 4×4 matrices, less for each further link
    "hollerbach_3x3": ("353n − 235", "275n − 195"),
    "hollerbach_3x3_shared": ("326n − 208", "257n − 177"),  # 27 and 18, one of 3×3 matrices
    "silver_recursive": ("189n − 64", "158n − 70"),  # 1,070 and 878 for six links, as counted independently
    "luh_walker_paul": ("125n − 24", "102n − 24"),
    "park_dense": ("202n − 36", "180n − 36"),
    "park_structured": ("142n − 24", "120n − 24"),
}


@pytest.mark.parametrize("name", FORMULATIONS)
def test_growth_with_the_number_of_links_is_an_exact_polynomial(name):
    # Silver in base axes: joint 1 sits in the base's origin, so that one link alone has no lever between joints.
    counts = counted(name, range(2, 8) if name.startswith("silver") else range(1, 8))
    multiplications, additions = (count_polynomial({n: c[k] for n, c in counts.items()}) for k in range(2))
    if name in POLYNOMIALS:
        assert (str(multiplications), str(additions)) == POLYNOMIALS[name]
    degree = {
        "uicker_kahn": 4,
        "uicker_kahn_shared": 4,
        "uicker_kahn_accelerations": 4,
        "euler_lagrange": 4,
        "silver": 2,
    }
    assert multiplications.degree == additions.degree == degree.get(name, 1)


def test_leading_coefficients_of_the_literal_form():
    """32.5 n⁴ and 25 n⁴, the published ones: 130 multiplications and 100 additions for each of Σ j³ ~ n⁴/4 traces."""
    counts = counted("uicker_kahn", range(1, 7))
    assert count_polynomial({n: c[0] for n, c in counts.items()}).leading == Fraction(65, 2)
    assert count_polynomial({n: c[1] for n, c in counts.items()}).leading == 25


def test_what_silver_says_of_six_links():
    """Sil81 §1.2, §1.4: well over 100,000; 4×4 about 5 times Newton–Euler, 3×3 a factor 2 less, within about 2½ of it."""
    total = {name: sum(count_operations(name, 6)[:2]) for name in DENSE}
    assert total["uicker_kahn"] == 132_000
    newton_euler = total["luh_walker_paul"]
    assert total["hollerbach_4x4"] / newton_euler == pytest.approx(4.95, abs=0.01)
    assert total["hollerbach_4x4"] / total["hollerbach_3x3"] == pytest.approx(1.95, abs=0.01)
    assert total["hollerbach_3x3"] / newton_euler == pytest.approx(2.54, abs=0.01)


@pytest.mark.parametrize("name", FORMULATIONS)
def test_each_level_shows_more_zeros(name):
    """Structural never above literal. The simplified count includes making the transforms, so it stands apart."""
    literal, structural = count_operations(name, 3), count_operations(name, 3, level="structural")
    assert structural.multiplications <= literal.multiplications
    assert structural.additions <= literal.additions
    assert min(count_operations(name, 3, level="simplified")) > 0


@pytest.mark.parametrize("name", ["hollerbach_4x4", "luh_walker_paul", "silver", "kool"])
def test_trees_with_all_screws_can_be_counted(name):
    robot = torsor.robots.random_tree(5, seed=2, kinds=("revolute", "prismatic", "helical"))
    for level in ("literal", "structural", "simplified"):
        assert count_operations(FORMULATIONS[name].function, robot, level=level).multiplications > 0


def test_any_function_can_be_counted():
    """A function that is no formulation: literal with its robot's numbers opaque, then with its zeros, then simplified."""

    def weight(robot, q, v, a):
        return torsor.inverse_dynamics(robot, q, 0.0 * v, 0.0 * a)

    robot = torsor.robots.ur5()
    counts = [count_operations(weight, robot, level=level) for level in ("literal", "structural", "simplified")]
    assert counts[0].multiplications > counts[1].multiplications >= counts[2].multiplications > 0


def test_a_table_by_name_and_links():
    table = count_table(["luh_walker_paul", "park_structured"], links=(2, 6))
    assert table["luh_walker_paul"][6][:2] == (726, 588)
    assert table["park_structured"][6][:2] == (828, 696)


def test_polynomials_are_exact_and_print_as_in_a_paper():
    cubic = count_polynomial({n: n * (n - 1) * (n + 1) // 6 for n in range(1, 7)})
    assert str(cubic) == "1/6 n³ − 1/6 n"
    assert (cubic.degree, cubic.leading, cubic(10)) == (3, Fraction(1, 6), 165)
    assert str(count_polynomial({1: 7, 2: 7})) == "7"
    assert str(count_polynomial({1: -1, 2: -2, 3: -3})) == "−n"
    assert str(count_polynomial({1: 0, 2: 0})) == "0"
    with pytest.raises(TorsorError, match="leave out the first"):
        count_polynomial({n: 2**n for n in range(6)})
    with pytest.raises(TorsorError, match="more counts"):
        count_polynomial({})


def test_unknown_names_are_refused():
    with pytest.raises(UnknownName, match="nearest: 'luh_walker_paul'"):
        count_operations("luh_walker", 6)
    with pytest.raises(UnknownName, match="'literal', 'structural' or 'simplified'"):
        count_operations("silver", 6, level="dense")
    with pytest.raises(torsor.ModelError, match=r"torsor\.inverse_dynamics"):
        count_operations("silver", torsor.robots.random_tree(2, seed=0, kinds=("free",)))


def test_published_polynomials_give_the_published_numbers():
    for formulation in FORMULATIONS.values():
        if formulation.published is not None and formulation.published.polynomials is not None:
            for text, number in zip(formulation.published.polynomials, formulation.published.six_links, strict=True):
                slope, constant = text.split("n − ")
                assert np.int64(slope) * 6 - np.int64(constant) == number
