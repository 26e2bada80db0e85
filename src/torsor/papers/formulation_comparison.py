"""Silver's question with today's answer: what each formulation of the dynamics costs, counted and measured on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from torsor._reports import Report, table
from torsor.border import explained
from torsor.compiler.backend import backend
from torsor.errors import ArgumentError, unknown_name
from torsor.functions.compile import compile
from torsor.functions.public.dynamics import inverse_dynamics
from torsor.model import Robot, random_state
from torsor.papers.formulations import FORMULATIONS, Formulation
from torsor.papers.operation_counts import OperationCount, Polynomial, count_operations, count_polynomial, general_chain

FITTED = range(2, 9)  # numbers of links that polynomials are fitted through: the first link is special in some
BURST = 0.05  # s of repeated calls; the best of a few counts


class FormulationCost(NamedTuple):
    """One formulation: operations for so many links at each level, their growth, and nanoseconds a state (None: not asked)."""

    name: str
    about: Formulation
    literal: OperationCount
    structural: OperationCount
    simplified: OperationCount
    growth: tuple[Polynomial, Polynomial]
    interpreted: float | None
    compiled: float | None


class CompilerCost(NamedTuple):
    """`torsor.inverse_dynamics` of the same chain: operations of its machine code, and nanoseconds a state (None: not asked)."""

    operations: OperationCount
    interpreted: float | None
    compiled: float | None


@dataclass(frozen=True, eq=False, repr=False)
class FormulationComparison(Report):
    """All formulations for a general chain of ``links`` revolute joints, and torsor's own; ``str`` is the table."""

    links: int
    rows: tuple[FormulationCost, ...]
    own: CompilerCost

    def ratio(self, one: str, other: str) -> float:
        """How many times the operations of another a formulation takes as written, multiplications and additions together."""
        totals = {row.name: sum(row.literal[:2]) for row in self.rows}
        for name in (one, other):
            if name not in totals:
                where = "torsor.papers.formulations.FORMULATIONS"
                raise unknown_name("compare_formulations: torsor", "formulation", name, totals, where)
        return totals[one] / totals[other]

    def __str__(self) -> str:
        return "\n\n".join([_costs(self), _growth(self), _ratios(self)]) + "\n"


@explained
def compare_formulations(links: int = 6, *, timings: bool = True) -> FormulationComparison:
    """Counts, growth and time of every formulation of inverse dynamics, for a general chain [Sil81, §1.2–§1.4].

    Parameters
    ----------
    links : int
        Number of revolute joints of the chain.
    timings : bool
        Whether time is measured. Interpreted: a call of the function with NumPy, for one state of shape (n,), rad, s. Compiled:
        one state of a batch of 1,024 in machine code on one thread.

    Returns
    -------
    FormulationComparison
        Its ``str`` is the table; ``ratio`` divides the operations of two formulations.
    """
    if not (isinstance(links, int) and links >= 1):
        raise ArgumentError(f"a chain has at least one link, and a whole number of them, got {links!r}.")
    own = CompilerCost(
        count_operations(inverse_dynamics, links, level="simplified"),
        *(_timings(inverse_dynamics, general_chain(links, "modified"), links) if timings else (None, None)),
    )
    return FormulationComparison(links, tuple(_cost(name, links, timings) for name in FORMULATIONS), own)


def _cost(name: str, links: int, timings: bool) -> FormulationCost:
    about = FORMULATIONS[name]
    literal, structural, simplified = (
        count_operations(name, links, level=level) for level in ("literal", "structural", "simplified")
    )
    counts = {n: count_operations(name, n) for n in FITTED}
    growth = tuple(count_polynomial({n: count[k] for n, count in counts.items()}) for k in range(2))
    robot = general_chain(links, about.frames)
    measured = _timings(about.function, robot, links) if timings else (None, None)
    return FormulationCost(name, about, literal, structural, simplified, (growth[0], growth[1]), *measured)


def _timings(function: Callable[..., Any], robot: Robot, links: int) -> tuple[float, float]:
    """Nanoseconds a state, interpreted and compiled."""
    q, v, a = random_state(robot, seed=0)
    with backend("numpy"):
        interpreted = _best(lambda: function(robot, q, v, a))
    kernel = compile(function, robot, {"q": links, "v": links, "a": links})
    many = random_state(robot, seed=0, batch=(1024,))
    with backend("compiled"):
        out = kernel(*many)
        return 1e9 * interpreted, 1e9 * _best(lambda: kernel(*many, out=out)) / 1024


def _best(call: Callable[[], Any]) -> float:
    """Processor seconds of a call, the best of several bursts."""
    call()
    best = float("inf")
    for _ in range(3):
        start, count = time.process_time(), 0
        while (passed := time.process_time() - start) < BURST:
            call()
            count += 1
        best = min(best, passed / count)
    return best


# As text


def _pair(count: tuple[int, ...] | None) -> str:
    return "–" if count is None else f"{count[0]:,} / {count[1]:,}"


def _costs(comparison: FormulationComparison) -> str:
    head = ["formulation", "as written", "zeros, ones skipped", "simplified", "published (n = 6)"]
    timed = any(row.compiled is not None for row in comparison.rows)
    if timed:
        head += ["NumPy, µs", "compiled, ns"]
    rows = []
    for row in comparison.rows:
        published = row.about.published.six_links if row.about.published else None
        cells = [row.about.title, *(_pair(count) for count in (row.literal, row.structural, row.simplified, published))]
        if timed:
            cells += [f"{(row.interpreted or 0.0) / 1e3:,.0f}", f"{row.compiled or 0.0:,.0f}"]
        rows.append(cells)
    own = comparison.own
    rows.append(["What the compiler makes of it", "–", "–", _pair(own.operations), "–"])
    if timed:
        rows[-1] += [f"{(own.interpreted or 0.0) / 1e3:,.0f}", f"{own.compiled or 0.0:,.0f}"]
    title = f"Inverse dynamics of a general chain of {comparison.links} revolute joints: multiplications / additions"
    note = "Simplified counts contain the joint transforms with their sines, which the others are given."
    return f"{title}\n\n{_lines([head, *rows])}\n\n{note}"


def _growth(comparison: FormulationComparison) -> str:
    rows = [[row.about.title, *(str(p) for p in row.growth)] for row in comparison.rows]
    head = ["formulation", "multiplications", "additions"]
    return "Growth with the number of links n, as written\n\n" + _lines([head, *rows])


def _ratios(comparison: FormulationComparison) -> str:
    quoted = [
        ("4×4 recursion over Newton–Euler", "hollerbach_4x4", "luh_walker_paul", "about 5"),
        ("4×4 recursion over 3×3", "hollerbach_4x4", "hollerbach_3x3", "a factor of 2"),
        ("3×3 recursion over Newton–Euler", "hollerbach_3x3", "luh_walker_paul", "roughly 2½"),
        ("(1.2) as written over 4×4 recursion", "uicker_kahn", "hollerbach_4x4", "about 15"),
        ("(1.2) with shared products over it", "uicker_kahn_shared", "hollerbach_4x4", "about 15"),
    ]
    counted = f"counted, {comparison.links} links"
    rows = [[what, f"{comparison.ratio(one, other):.2f}", said] for what, one, other, said in quoted]
    return "Ratios of all operations as written\n\n" + _lines([["ratio", counted, "Silver, 6 links"], *rows])


def _lines(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(table(rows, "<>"))
