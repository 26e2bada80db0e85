"""The same functions as machine code and under NumPy, timed on this machine."""

from __future__ import annotations

import platform
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import torsor
from torsor._html import plain, table

STATES = 1000
PATIENCE = 0.12  # s for each figure


class Lap(NamedTuple):
    """Seconds for one state and per state of a batch, under NumPy and compiled; the largest relative difference of results."""

    name: str
    one: tuple[float, float]
    many: tuple[float, float]
    difference: float


class Race(NamedTuple):
    """All laps, the machine, and both in words."""

    laps: tuple[Lap, ...]
    machine: str
    text: str

    def html(self) -> str:
        """The same as a table."""
        head = ["", "one state: NumPy", "compiled", "ratio", f"{STATES} states: NumPy", "compiled", "ratio"]
        rows = [[plain(cell) for cell in _cells(lap)] for lap in self.laps]
        return (
            table(head, rows) + f"<div>{plain(self.machine, 200)}</div>"
            if rows
            else f"<div>{plain(self.text, 400)}</div>"
        )


def race(arm: torsor.Robot) -> Race:
    """Time three functions both ways; results are compared, too."""
    from torsor.compiler.run import engine

    versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
    machine = f"{_processor()}, {torsor.get_threads()} threads for batches, {versions}"
    if (reason := engine.why_missing()) is not None:
        return Race((), machine, f"MACHINE CODE: not on this machine ({reason}); everything ran under NumPy.")
    state = torsor.random_state(arm, seed=1)
    batch = torsor.random_state(arm, seed=1, batch=(STATES,))
    functions: dict[str, tuple[Callable[..., Any], int]] = {
        "inverse dynamics": (torsor.inverse_dynamics, 3),
        "forward dynamics": (torsor.forward_dynamics, 3),
        "mass matrix": (torsor.mass_matrix, 1),
    }
    laps = []
    for name, (function, inputs) in functions.items():
        one, many = (arm, *state[:inputs]), (arm, *batch[:inputs])
        with torsor.backend("numpy"):
            slow = _seconds(function, one), _seconds(function, many) / STATES
            expected = function(*many)
        fast = _seconds(function, one), _seconds(function, many) / STATES
        off = float(np.max(np.abs(function(*many) - expected)) / np.max(np.abs(expected)))
        laps.append(Lap(name, (slow[0], fast[0]), (slow[1], fast[1]), off))
    lines = [
        "COMPILED AGAINST NUMPY: the same source, timed now on this machine",
        "",
        f"  {'':<18}{'one state':>28}{f'each of {STATES} states':>32}",
        f"  {'':<18}{'NumPy':>10}{'compiled':>10}{'ratio':>8}{'NumPy':>14}{'compiled':>10}{'ratio':>8}",
    ]
    for lap in laps:
        cells = _cells(lap)
        lines.append(
            f"  {cells[0]:<18}{cells[1]:>10}{cells[2]:>10}{cells[3]:>8}{cells[4]:>14}{cells[5]:>10}{cells[6]:>8}"
        )
    worst = max(lap.difference for lap in laps)
    lines += ["", f"  Results differ by {worst:.0e} of the largest. {machine}."]
    return Race(tuple(laps), machine, "\n".join(lines))


def _cells(lap: Lap) -> list[str]:
    cells = [lap.name]
    for slow, fast in (lap.one, lap.many):
        cells += [_time(slow), _time(fast), f"{slow / fast:,.0f}×"]
    return cells


def _time(seconds: float) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{1e9 * seconds:.3g} ns"


def _seconds(function: Callable[..., Any], arguments: tuple[Any, ...]) -> float:
    """Time of one call: the best of several rounds, each long enough for the clock."""
    function(*arguments)
    begin = perf_counter()
    function(*arguments)
    calls = max(1, int(0.2 * PATIENCE / max(perf_counter() - begin, 1e-7)))
    best, end = float("inf"), perf_counter() + PATIENCE
    while True:
        begin = perf_counter()
        for _ in range(calls):
            function(*arguments)
        now = perf_counter()
        best = min(best, (now - begin) / calls)
        if now > end:
            return best


def _processor() -> str:
    from torsor.compiler.run import engine

    return engine.host()[0] or platform.machine()
