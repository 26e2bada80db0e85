"""Some turns of iLQR from a state, begun from a plan, as one program without a branch: loops over the steps of a horizon.

A turn is that of `solver`, with what a program can do in its place: models with two regularisations are made, several lengths of
a step are tried with each, and the longest is taken that pays, of the model with less regularisation if one does. How much that
is, is up to what paid before: it goes on from turn to turn, and from call to call.
What is traced for one step (its expansion, Riccati's recursion, the motion under the feedback, the cost of the end) is compiled
once and called for each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from torsor.arrays import concat, where
from torsor.arrays.typing import Array
from torsor.compiler.graph import Calls, Program
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.compiler.traced_array import TracedArray, graph_of, numbers
from torsor.control.optimal_feedback.costs import final_cost, running_cost
from torsor.control.optimal_feedback.models import Arrays, Shapes, at_a_step
from torsor.control.optimal_feedback.models_by_velocity import before_by_velocity, expansion_by_velocity
from torsor.control.optimal_feedback.models_of_any_step import before_any_step, expansion_of_any_step
from torsor.control.optimal_feedback.programs import follower, is_by_velocity
from torsor.control.optimal_feedback.solver import ENOUGH, LARGEST, ROUNDING
from torsor.model import Robot

LENGTHS = (0.125, 0.5, 1.0)  # of a step that are tried, the longest last
AT_REST = 1e-9  # of the cost: a promise of less is no reason to believe a model less
LEAST, FACTOR = 1e-3, 32.0  # regularisation that is tried first, and by what it changes


def look_ahead(
    robot: Robot, running: Callable[..., Any], final: Callable[..., Any], method: str, dt: float, steps: int, turns: int,
    limit: Array,
) -> Program:  # fmt: skip
    """The program of (t, q, v, since, plan (steps, n), caution) → the first forces ``tau``, ``new_plan`` and ``new_caution``.

    ``since`` is the time at which the plan begins, ``caution`` the regularisation, in the scale of the problem.
    """
    parts = _Parts(robot, running, final, method, limit)
    n = robot.nv

    def look(t: Array, q: Array, v: Array, since: Array, plan: Array, caution: Array) -> Arrays:
        before = moved_on(plan, (t - since) / dt)
        times = t + dt * np.arange(steps)
        run = parts.rolled(q, v, before, times, dt)
        is_known = abs(run["cost"]) < np.inf  # else what is planned is done: nothing can be said of what follows
        for _ in range(turns):
            run, caution = _turn(parts, run, times, dt, caution)
        tau = where(is_known, run["tau"], before)
        return {"tau": tau[0], "new_plan": tau, "new_caution": caution}

    shapes: Shapes = {"t": (), "q": (robot.nq,), "v": (n,), "since": (), "plan": (steps, n), "caution": ()}
    return trace(look, shapes, Level.FULL)


def _turn(parts: _Parts, run: Arrays, times: Array, h: float, mu: Array) -> tuple[Arrays, Array]:
    """The motion after a turn, and the regularisation of the next one."""
    near = parts.expanded(run, times, h)
    own, inverse_mass = largest(abs(near.pop("own"))), largest(near.pop("inverse_mass"))
    scale = where(own > 0.0, own, h) / where(inverse_mass > 1e-300, inverse_mass, 1e-300)
    stronger = where(mu > LEAST, FACTOR * mu, LEAST)
    best, taken = run, 0.0 * mu - 1.0
    is_at_rest = taken > 0.0
    for weight in (stronger, mu):
        made = parts.feedback(near, run, weight * scale, h)
        first, second = made["first"][0], made["second"][0]
        is_sound = made["least"][0] > 0.0
        is_at_rest = is_at_rest | (is_sound & (-(first + 0.5 * second) <= AT_REST * abs(run["cost"])))
        for length in LENGTHS:
            tried = parts.followed(run, made, length, times, h)
            model = length * (first + 0.5 * length * second)
            change, rounding = tried["cost"] - run["cost"], ROUNDING * abs(run["cost"])
            pays = is_sound & (change <= ENOUGH * where(model < 0.0, model, 0.0) + rounding) & (tried["cost"] > -np.inf)
            best = {name: where(pays, x, best[name]) for name, x in tried.items()}
            taken = where(pays, weight, taken)
    more = where(stronger < LARGEST, FACTOR * stronger, LARGEST)
    less = where(mu > LEAST, mu / FACTOR, 0.0)
    return best, where(taken < 0.0, where(is_at_rest, mu, more), where(taken == mu, less, taken))


class _Parts:
    """What a turn is made of, each traced for one step."""

    def __init__(
        self, robot: Robot, running: Callable[..., Any], final: Callable[..., Any], method: str, limit: Array
    ) -> None:
        self.robot, self.limit = robot, limit
        n, costs, ends = robot.nv, running_cost(robot, running), final_cost(robot, final)
        limited = bool(np.isfinite(limit).any())
        by_velocity = is_by_velocity(robot, method)
        expansion = expansion_by_velocity(robot, costs) if by_velocity else expansion_of_any_step(robot, costs, method)
        self._expand = trace(expansion, at_a_step(robot), Level.FULL)
        of_step = {port.name: port.shape for port in self._expand.outputs if port.name not in ("own", "inverse_mass")}
        before = before_by_velocity(limited) if by_velocity else before_any_step(limited)
        state: Shapes = {"V": (2 * n, 2 * n), "p": (2 * n,), "first": (), "second": (), "least": ()}
        bounds: Shapes = {"tau": (n,), "lower": (n,), "upper": (n,), "mu": (), "h": ()}
        self._before = trace(before, state | of_step | bounds, Level.FULL)
        follow = follower(robot, costs, method, limited)
        state = {"q": (robot.nq,), "v": (n,), "cost": ()}
        bars: Shapes = {"q_bar": (robot.nq,), "v_bar": (n,), "tau_bar": (n,), "feed": (n,), "gains": (n, 2 * n)}
        self._follow = trace(
            lambda **given: follow(**given, gap=np.zeros(2 * n), lower=-limit, upper=limit),
            state | bars | {"t": (), "length": (), "h": ()},
            Level.FULL,
        )
        self._end = trace(
            lambda q, v: {which: ends.at(which, q=q, v=v) for which in ends._fields},
            {"q": (robot.nq,), "v": (n,)},
            Level.FULL,
        )

    def rolled(self, q: Array, v: Array, tau: Array, times: Array, h: float) -> Arrays:
        """The motion under forces: states at its steps, the state at the end, the forces within limits, and the cost."""
        n, steps = self.robot.nv, len(tau)
        none = {"q": np.zeros((steps, self.robot.nq)), "v": np.zeros((steps, n)), "tau": tau, "q0": q, "v0": v}
        return self.followed(none, {"feed": np.zeros((steps, n)), "gains": np.zeros((steps, n, 2 * n))}, 0.0, times, h)

    def followed(self, bar: Arrays, fed: Arrays, length: float, times: Array, h: float) -> Arrays:
        """The motion along another with a feedback."""
        rows = {"q_bar": bar["q"], "v_bar": bar["v"], "tau_bar": bar["tau"], "feed": fed["feed"], "gains": fed["gains"]}
        start = {"q": bar["q0"], "v": bar["v0"], "cost": 0.0}
        run = in_a_row(self._follow, start, rows | {"t": times, "length": length, "h": h})
        q, v = run["q"][-1], run["v"][-1]
        (value,) = in_a_row(self._end, {}, {"q": q[None], "v": v[None]}, ("value",)).values()
        return {
            "q": concat([bar["q0"][None], run["q"][:-1]], axis=-2),
            "v": concat([bar["v0"][None], run["v"][:-1]], axis=-2),
            "q0": bar["q0"],
            "v0": bar["v0"],
            "q_end": q,
            "v_end": v,
            "tau": run["tau"],
            "cost": run["cost"][-1] + value[0],
        }

    def expanded(self, run: Arrays, times: Array, h: float) -> Arrays:
        """The derivatives of all steps."""
        return in_a_row(self._expand, {}, {"q": run["q"], "v": run["v"], "tau": run["tau"], "t": times, "h": h})

    def feedback(self, near: Arrays, run: Arrays, mu: Array, h: float) -> Arrays:
        """Feedback of all steps, from the last one back, in the order of time."""
        end = in_a_row(self._end, {}, {"q": run["q_end"][None], "v": run["v_end"][None]})
        start = {"V": end["hessian"][0], "p": end["gradient"][0], "first": 0.0, "second": 0.0, "least": np.inf}
        rows = {name: x[::-1] for name, x in near.items()} | {"tau": run["tau"][::-1]}
        rows |= {"lower": -self.limit, "upper": self.limit, "mu": mu, "h": h}
        found = in_a_row(self._before, start, rows, ("first", "second", "least", "feed", "gains"))
        return {name: x[::-1] for name, x in found.items()}


def in_a_row(
    program: Program, state: Mapping[str, Any], rows: Mapping[str, Any], wanted: Sequence[str] | None = None
) -> Arrays:
    """The outputs (steps, …) of a program called for one row after the other, by name: of ``wanted`` alone, or of all.

    ``state`` has the first inputs, which are the first outputs of the row before; of ``rows``, what has no axis of rows is the
    same in all.
    """
    graph, ports = graph_of((*state.values(), *rows.values())), program.graph.inputs
    first = [numbers(graph, state[port.name]) for port in ports[: len(state)]]
    own = [(numbers(graph, rows[port.name]), port) for port in ports[len(state) :]]
    steps = next(len(x) for x, port in own if x.ndim > len(port.shape))
    table = [np.broadcast_to(x, (steps, *port.shape)).reshape(steps, port.size) for x, port in own]
    carried = sum(x.size for x in first)
    args = [node for x in first for node in x.ravel().tolist()] + np.concatenate(table, axis=1).ravel().tolist()
    made = np.array(graph.block(Calls(program, steps, carried), args), np.int64).reshape(steps, -1)
    found, start = dict[str, Array](), 0
    for port in program.outputs:
        if wanted is None or port.name in wanted:
            found[port.name] = TracedArray(graph, made[:, start : start + port.size].reshape(steps, *port.shape))
        start += port.size
    return found


def largest(x: Array) -> Array:
    """Of some numbers (k,)."""
    most = x[0]
    for k in range(1, x.shape[0]):
        most = where(x[k] > most, x[k], most)
    return most


def moved_on(tau: Array, later: Array) -> Array:
    """A plan (N, n) as it is some steps later, between two of them in proportion; its last forces go on.

    Whole steps are a sum of powers of two, by each of which it is moved or not.
    """
    N = tau.shape[0]
    later = where(later > 0.0, where(later < N, later, N), 0.0)
    left = np.floor(later)
    part = later - left
    size = 1 << max(0, N.bit_length() - 1)
    while size:
        goes = left >= size
        tau, left = where(goes, _shifted(tau, min(size, N)), tau), where(goes, left - size, left)
        size //= 2
    return tau + part * (_shifted(tau, 1) - tau)


def _shifted(tau: Array, count: int) -> Array:
    """Forces of some steps later."""
    return concat([tau[count:], *[tau[-1:]] * count], axis=-2)
