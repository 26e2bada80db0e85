"""An attempted step of adaptive integration, with all its evaluations: a turn of a loop in machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from torsor.arrays import absolute, concat, dot, sqrt, stack, where
from torsor.arrays.typing import Array, ConfigurationVector, JointVector
from torsor.model import Robot
from torsor.simulation.adaptive_run import ARRIVED, FIRED, NOT_FINITE, RUNNING, STEP_TOO_SMALL
from torsor.simulation.embedded_pair import EmbeddedPair

SAFETY, LEAST, MOST = 0.9, 0.2, 10.0  # factors from one step's length to the next [HNW93, (II.4.13)]
ROUNDING, TINY, HUGE = 10.0 * float(np.finfo(float).eps), 1e-300, 1e300
STATE = ("t", "h", "q", "v", "w", "a", "p", "retried", "status", "taken", "refused")

Evaluate = Callable[[Array, Array, Array, Array], dict[str, Array]]  # of t, q, u, v


class Tried(NamedTuple):
    """The step that is tried: its length and end, whether that is the end of all, and K_1, the rate at its start."""

    step: Array
    end: Array
    reaches: Array
    tried: Array
    shortest: Array
    K1: Array


def tried_step(given: dict[str, Array]) -> Tried:
    """What is tried from a state."""
    t, h, t1 = (given[name] for name in ("t", "h", "t1"))
    shortest = ROUNDING * absolute(t) + TINY
    tried = where(given["retried"] > 0.5, h, np.maximum(h, shortest))
    reaches = t + tried >= t1
    end = where(reaches, t1, t + tried)
    return Tried(
        end - t, end, reaches, tried, shortest, concat([given[name] for name in ("v", "a", "p") if name in given])
    )


def attempt(robot: Robot, pair: EmbeddedPair, evaluate: Evaluate, given: dict[str, Array]) -> dict[str, Array]:
    """A step with all its evaluations, which is accepted or refused [HNW93, §II.4]: the state after it, and its stages."""
    nv, s = robot.nv, pair.stages
    now = tried_step(given)
    K = [now.K1]
    for i in range(1, s + 1):
        weights, c = (pair.A[i], pair.c[i]) if i < s else (pair.b, 1.0)
        rise = now.step * _weighted(weights, K)
        v_new = given["v"] + rise[nv : 2 * nv]
        at = evaluate(given["t"] + float(c) * now.step, given["q"], rise[:nv], v_new)
        K.append(at["rate"])
    errors = [_weighted(weights, [k[: 2 * nv] for k in K]) for weights in pair.errors]
    state = judged(robot, pair, given, now, at, v_new, rise[2 * nv :], errors)
    return state | {"stages": np.stack(K[:0:-1])}


def _weighted(weights: Array, K: list[Array]) -> Array:
    """Σ_j weights_j K_j of those that have a weight."""
    terms = [float(weights[j]) * K[j] for j in range(len(K)) if weights[j]]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def judged(
    robot: Robot,
    pair: EmbeddedPair,
    given: dict[str, Array],
    now: Tried,
    at: dict[str, Array],
    v_new: Array,
    w_rise: Array,
    errors: list[Array],
) -> dict[str, Array]:
    """The state after a step that was tried, or the same where all has ended; ``errors`` of NaN: nothing finite was reached."""
    nv, q, v, goes_on = robot.nv, given["q"], given["v"], given["status"] < 0.5
    sizes = np.maximum(
        concat([magnitudes(robot, q), absolute(v)]), concat([magnitudes(robot, at["q"]), absolute(v_new)])
    )
    error = now.step * _error_norm(errors, given["atol"] + given["rtol"] * sizes)
    good, finite, retried = error < 1.0, error < HUGE, given["retried"] > 0.5
    best = SAFETY * _inverse_root(error, pair.estimator_order + 1)
    grown = where(error > 0.0, np.minimum(MOST, best), MOST)
    grown = now.step * where(retried, np.minimum(1.0, grown), grown)
    grown = where(now.reaches, np.maximum(grown, now.tried), grown)  # the end says nothing of the accuracy
    shrunk = now.step * where(finite, np.maximum(LEAST, best), LEAST)
    ended = where(at["guard"] >= 0.0, where(now.reaches, ARRIVED, RUNNING), FIRED)
    failed = where(shrunk < now.shortest, where(finite, STEP_TOO_SMALL, NOT_FINITE), RUNNING)
    yes = goes_on & good
    no = where(goes_on, where(good, 0.0, 1.0), 0.0)
    state = {
        "t": where(yes, now.end, given["t"]),
        "h": where(goes_on, where(good, grown, shrunk), given["h"]),
        "q": where(yes, at["q"], q),
        "v": where(yes, v_new, v),
        "a": where(yes, at["rate"][nv : 2 * nv], given["a"]),
        "retried": where(goes_on, no, given["retried"]),
        "status": where(goes_on, where(good, ended, failed), given["status"]),
        "taken": given["taken"] + where(yes, 1.0, 0.0),
        "refused": given["refused"] + no,
    }
    if "w" in given:
        state |= {
            "w": where(yes, given["w"] + w_rise, given["w"]),
            "p": where(yes, at["rate"][2 * nv :], given["p"]),
        }
    return state


def first_step(
    robot: Robot,
    pair: EmbeddedPair,
    evaluate: Evaluate,
    t: Array,
    t1: Array,
    q: Array,
    v: Array,
    rate: Array,
    rtol: Array,
    atol: Array,
) -> Array:
    """Length (...) of the first step, from the sizes of the state, its rate and the rate a little later [HNW93, §II.4]."""
    nv, way = robot.nv, t1 - t
    sizes, slopes = concat([magnitudes(robot, q), absolute(v)]), rate[..., : 2 * nv]
    scale = atol[..., None] + rtol[..., None] * sizes
    d0, d1 = _mean_size(sizes / scale), _mean_size(slopes / scale)
    near = where((d0 < 1e-5) | (d1 < 1e-5), 1e-6, 0.01 * d0 / where(d1 > 0.0, d1, 1.0))
    near = where(near < way, near, way)
    step = near[..., None]
    later = evaluate(t + near, q, step * v, v + step * rate[..., nv : 2 * nv])["rate"][..., : 2 * nv]
    d2 = _mean_size((later - slopes) / scale) / where(near > 0.0, near, 1.0)
    largest = where(d2 > d1, d2, d1)
    flat, curved = (
        where(1e-3 * near > 1e-6, 1e-3 * near, 1e-6),
        _inverse_root(100.0 * largest, pair.estimator_order + 1),
    )
    h = where(largest > 1e-15, curved, flat)
    h = where(h < 100.0 * near, h, 100.0 * near)
    h = where(h < way, h, way)
    return where(h > 0.0, h, where(way < 1e-6, way, 1e-6))


def _mean_size(x: Array) -> Array:
    """Root mean square (...) of numbers (..., n)."""
    return sqrt(dot(x, x) / float(x.shape[-1]))


def magnitudes(robot: Robot, q: ConfigurationVector) -> JointVector:
    """Sizes (..., nv) of what increments of q add to: of the number itself, of a position's distance; 1 for rotations."""
    parts = []
    if all(kind.moved_by == ((0,),) for _, kind in robot.structure.blocks):
        return absolute(q)
    for c, kind in robot.structure.blocks:
        own = q[..., c.q]
        for j in range(kind.nv):
            moved = [i for i, by in enumerate(kind.moved_by) if j in by]
            if not moved:
                parts.append(1.0 + 0.0 * own[..., 0])
            else:
                parts.append(
                    absolute(own[..., moved[0]]) if len(moved) == 1 else sqrt(dot(own[..., moved], own[..., moved]))
                )
    return stack(parts)


def _error_norm(errors: list[Array], scale: Array) -> Array:
    """Root mean square of an error in its scale; of two estimates |e₅|² / √(|e₅|² + 0.01 |e₃|²) [HNW93, (II.10.17)]."""
    inverse = 1.0 / scale
    squares = [dot(e * inverse, e * inverse) for e in errors]
    size = float(scale.shape[-1])
    if len(squares) == 1:
        return sqrt(squares[0] / size)
    total = squares[0] + 0.01 * squares[1]
    return where(total > 0.0, squares[0] / sqrt(where(total > 0.0, total, 1.0) * size), total)


def _inverse_root(x: Array, n: int) -> Array:
    """x^(−1/n), and 1 where x is not positive."""
    x = where(x > 0.0, x, 1.0)
    return 1.0 / sqrt(sqrt(sqrt(x))) if n == 8 else x ** (-1.0 / n)
