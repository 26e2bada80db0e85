"""Trajectories as notebooks show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from torsor._html import block, heading, items, number, plain, table

if TYPE_CHECKING:
    from torsor.model import Robot
    from torsor.motion.trajectory import Trajectory


def trajectory_html(run: Trajectory) -> str:
    """How long it is, what range each joint goes through beside its limits, and what happened."""
    robot = run.robot
    facts = [f"of {robot.name}"]
    if run.batch:
        facts.append(f"batch {run.batch}")
    facts += [f"{len(run)} samples", f"{run.duration:.6g} s"]
    if run.interrupted:
        facts.append("interrupted")
    parts = [heading("Trajectory", facts)]
    if run.q.size:
        head = ["joint", "position", "largest velocity", "largest force"]
        parts.append(
            table(head, _ranges(robot, run), fold=f"ranges of {len(robot.coordinates)} joints", more="run.check()")
        )
    parts.append(items(list(run.notes)))
    return block(*parts)


def _ranges(robot: Robot, run: Trajectory) -> list[list[str]]:
    """A row for each coordinate; what is beyond a limit is marked."""
    limits, rows = robot.structure.limits, []
    for c in robot.structure.coordinates:
        units = robot.structure.kind_of(robot.joints.index(c.name)).v_units
        single = len(units) == 1
        q, v, tau = (np.asarray(x) for x in (run.q[..., c.q], run.v[..., c.v], run.tau[..., c.v]))
        where = ""
        if single:
            low, high = _least_and_most(q)
            broken = low < limits.lower[c.q_start] - 1e-9 or high > limits.upper[c.q_start] + 1e-9
            where = f"{number(low)} … {number(high)} {'rad' if units == ('rad',) else 'm'}{_mark(broken)}"
        largest = []
        for values, bounds, names in (
            (v, limits.velocity[c.v], {"rad": "rad/s", "m": "m/s"}),
            (tau, limits.effort[c.v], {"rad": "N·m", "m": "N"}),
        ):
            most = float(np.max(np.abs(values), initial=0.0))
            bound = float(min(bounds))
            of = f" of {number(bound)}" if single and np.isfinite(bound) and bound > 0 else ""
            beyond = bool(of) and most > bound * (1 + 1e-9)
            largest.append(f"{number(most)}{of}{f' {names[units[0]]}' if single else ''}{_mark(beyond)}")
        rows.append([plain(c.name), where, *largest])
    return rows


def _least_and_most(x: np.ndarray) -> tuple[float, float]:
    known = x[np.isfinite(x)]
    return (float(known.min()), float(known.max())) if known.size else (float("nan"), float("nan"))


def _mark(beyond: bool) -> str:
    return " <strong>beyond its limit</strong>" if beyond else ""
