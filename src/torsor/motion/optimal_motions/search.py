"""One problem: searches from one start or several, and the report on the best of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from torsor.arrays.small_matrices import one_thread
from torsor.arrays.typing import Array
from torsor.motion.integration import scipy_module
from torsor.motion.optimal_motions.findings import report_of
from torsor.motion.optimal_motions.report import OptimalMotion
from torsor.motion.optimal_motions.setting import Setting, problem_of, starts_of
from torsor.motion.optimal_motions.sqp import Progress, improve

OVERSHOOT = 5e-4  # of a limit, between nodes


@dataclass(frozen=True)
class Search:
    """How to search."""

    setting: Setting
    starts: int
    seed: int | np.random.Generator
    iterations: int
    tolerance: float
    solver: str = "sqp"

    @property
    def ended(self) -> Search:
        """One that goes nowhere: where it would begin."""
        return replace(self, iterations=0, starts=1, solver="sqp")


def search(task: Search, q0: Array | None, q1: Array | None) -> OptimalMotion:
    """The best motion from q0 (nq,) to q1 (nq,)."""
    scipy_module("linalg")  # its BLAS is there before it is asked for one thread
    with one_thread():
        return _searched(task, q0, q1)


def _searched(task: Search, q0: Array | None, q1: Array | None) -> OptimalMotion:
    setting = task.setting
    problem = problem_of(setting, q0, q1)
    best: Progress | None = None
    for y in starts_of(problem, setting, q0, q1, task.starts, task.seed):
        if task.solver == "ipopt":
            from torsor.motion.optimal_motions.ipopt import improve_by_ipopt

            found = improve_by_ipopt(problem, y, task.iterations, task.tolerance, OVERSHOOT)
        else:
            found = improve(problem, y, iterations=task.iterations, tolerance=task.tolerance, overshoot=OVERSHOOT)
        if best is None or _better(found, best):
            best = found
        if found.interrupted:
            best.interrupted = True
            break
    assert best is not None
    return report_of(setting.robot, best, setting.notes)


def _better(one: Progress, other: Progress) -> bool:
    if one.converged != other.converged:
        return one.converged
    return one.point.cost < other.point.cost if one.converged else one.point.violation < other.point.violation
