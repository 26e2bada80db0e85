"""Integrating motions to a stated accuracy by Dormand and Prince's method of order 8, from SciPy; unit quaternions along them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.errors import needed
from torsor.model import Robot

FINEST = 2.5e-14  # the smallest relative tolerance that rounding lets an integrator keep
ROUNDING = 4.0 * float(np.finfo(float).eps)  # relative: no root is known better
SHORTEST = 1e-9  # step, as a fraction of the whole: where steps get shorter than this, something runs away
ATTEMPTS = 6
RUN_INSIDE = (  # of what does not itself
    "torsor.geometry.geodesic_acceleration, torsor.geometry.covariant_derivative and torsor.motion.path_energy run inside."
)
T = TypeVar("T")


@dataclass
class Effort:
    """How many steps are left to take, in all integrations that share it: a bound on the time a search may cost."""

    left: int


class Run(NamedTuple):
    """An integrated motion: when and where (n,) it ended, whether that is the end, and t (K,) → y (n, K) up to there if dense."""

    t: float
    y: Array
    finished: bool
    curve: Callable[[Array], Array] | None


def integrated(
    rate: Callable[[float, Array], Array],
    span: tuple[float, float],
    y: Array,
    tolerance: float,
    sizes: Array,
    *,
    dense: bool = True,
    shortest: float = SHORTEST,
    effort: Effort | None = None,
    stop: Callable[[Any], float | None] | None = None,
) -> Run:
    """ẏ = rate(t, y) over a ``span`` from y (n,); each step to ``tolerance`` of |y| + ``sizes`` (n,).

    It does not finish where a step gets shorter than the fraction ``shortest`` of the span, when the ``effort`` is spent, or if
    the rate is not finite where it starts. ``stop`` is given each step as a function t → y (n,), from its t_old to its t, and
    tells when within it to end, if at all; then there is a curve up to there, if dense.
    """
    integrators: Any = scipy_module("integrate")
    finest, (start, end) = max(tolerance, FINEST), span
    times = [start]
    pieces: list[Any] = []

    def run(t: float, y: Array, *, finished: bool) -> Run:
        return Run(t, y, finished, integrators.OdeSolution(times, pieces) if dense and pieces else None)

    with np.errstate(all="ignore"):  # what is not finite makes a step fail
        if not np.isfinite(rate(start, y)).all():  # else there is no first step, and no end to the search for it
            return run(start, y, finished=False)
        solver = integrators.DOP853(rate, start, y, end, rtol=finest, atol=finest * sizes)
        while solver.status == "running":
            if effort is not None:
                effort.left -= 1
                if effort.left < 0:
                    return run(solver.t, solver.y, finished=False)
            if np.isnan(solver.h_abs):
                return run(solver.t, solver.y, finished=False)
            last = solver.t, solver.y
            solver.step()
            if solver.status == "failed" or solver.step_size < shortest * (end - start) < end - solver.t:
                return run(*last, finished=False)
            times.append(solver.t)
            if dense or stop is not None:
                pieces.append(solver.dense_output())
            if stop is not None and (when := stop(pieces[-1])) is not None:
                return run(when, pieces[-1](when), finished=False)
    return run(solver.t, solver.y, finished=True)


def held(tolerance: float, attempt: Callable[[float], tuple[T, float]]) -> tuple[T, float]:
    """A result and its drift: integrated ever finer until what should not change drifts by ``tolerance`` at most.

    ``attempt`` takes the tolerance of the steps and gives both; the drift is larger than asked for if rounding makes it so.
    """
    finest = tolerance
    for _ in range(ATTEMPTS):
        result, drift = attempt(finest)
        if drift <= tolerance or finest <= FINEST:
            break
        finest = max(FINEST, 0.3 * finest * max(tolerance / drift, 1e-3))
    return result, drift


def sign_change(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function with a change of sign between low and high is zero (Brent); high if rounding hides the change."""
    if (function(low) < 0.0) == (function(high) < 0.0):
        return high
    optimisers: Any = scipy_module("optimize")
    return float(optimisers.brentq(function, low, high, xtol=FINEST * (high - low), rtol=ROUNDING, maxiter=200))


def scipy_module(name: str) -> Any:
    """The module ``scipy.name``, imported when it is first needed: `import torsor` does not need it."""
    return needed(f"scipy.{name}", "needs SciPy: pip install 'torsor[motion]'.")


def has_plain_velocities(robot: Robot) -> bool:
    """Whether v = q̇ and q ⊕ v = q + v: every joint has one number."""
    return robot.structure.has_plain_velocities


def with_unit_quaternions(robot: Robot, q: ConfigurationVector) -> ConfigurationVector:
    """Configurations (..., nq) with quaternions of length one."""
    parts = [place for _, place in robot.structure.quaternions]
    q = np.array(q) if parts else q
    for part in parts:
        q[..., part] /= np.linalg.norm(q[..., part], axis=-1, keepdims=True)
    return q


def with_nearby_quaternions(robot: Robot, path: Array) -> Array:
    """Configurations (..., K, nq), each quaternion with the length one and the sign nearest to the one before."""
    path = with_unit_quaternions(robot, path)
    for _, part in robot.structure.quaternions:
        quats = path[..., part]
        flips = np.where(np.sum(quats[..., 1:, :] * quats[..., :-1, :], axis=-1) < 0.0, -1.0, 1.0)
        quats[..., 1:, :] *= np.cumprod(flips, axis=-1)[..., None]
    return path
