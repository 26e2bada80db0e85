"""Steps of Newton's method towards the targets of any task, damped and within the limits, and the loop that drops what is done.

With e the error of a task, each row in units of what is usual for it (angles in rad, lengths of a frame in units of l, half of
how far it reaches), what is to vanish is ::

    E = ½ eᵀ e        and for a pose        e = (log(R* Rᵀ), (p* − p)/l)

in base axes. A step u changes e by −J u, but for what no gradient of E has: `Task.residual` says which J that is. Newton's
equation J u = e is solved by damped least squares [Mar63; Sug11] ::

    u = argmin ½ |e − J u|² + ½ λ |u|²        λ = μ E

where λ falls with the error, so that convergence is quadratic where J has full rank, and μ follows success and failure of
steps. Where slides are long, E may be of any size, and λ = μ min(E, E_far): a thousand metres away, λ = μE would be so large
that steps crawl. Limits are a box, x_min ≤ x + u ≤ x_max. Entries at a bound that the gradient pushes outwards are held;
entries that the first solution would take over a bound go to the bound, and the others are solved for again (projected
Newton [Ber82]). A step that does not lower E is not taken.

**Slides** lead to the nearest to a given configuration, of those that reach a target, along the self-motion of a redundant robot.
With w = start ⊖ q in box coordinates, the distance |w| among configurations with e = 0 is least, to first order, where w has
no part that leaves the task where it is: none along the null space of J, the entries held at a limit left out. A step that
goes there projects the way to the start (gradient projection) ::

    u = argmin ½ |u − α w|²     with J u = e,  x_min ≤ x + u ≤ x_max

which is u = α w + z, with z Newton's step for what α w leaves of the error, J z = e − α J w. Another Newton step brings the
task back from where the curvature of the self-motion took it. What comes no nearer is not taken, and α follows success and
failure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np

from torsor._once import once
from torsor.arrays import constant, dot, factor, identity, matmul, matvec, solve, sqrt, stack, transpose, where
from torsor.arrays.typing import Array, ConfigurationVector, Scalar
from torsor.compiler.scan import Scan
from torsor.functions.compile import scan
from torsor.model import Robot, random_configuration
from torsor.model.remembered import remembered
from torsor.tasks._inverse_kinematics.box_coordinates import Box, columns, moved, numbers, towards
from torsor.tasks.targets import flat_value, leaves_of, target_size
from torsor.tasks.task import Residual, Task, residual

FLOOR = 1e-13  # of λ, so that the system has a solution at singularities
START, LEAST, MOST = 0.1, 0.03, 1e12  # of μ; smaller ones overshoot far from the target, and help no more next to it
EASIER, HARDER = 0.25, 5.0  # factors of μ after a step as good as foreseen, and after one that was not
GOOD, POOR = 0.5, 0.1  # how much of the foreseen decrease makes it so
FAR = 10.0  # E_far: about the largest E of a frame without long slides, half a turn and four l away
FIRST_LOOK = 10  # steps to the first look at what is done: from nearby, three to eight are enough
LOOKS_AT_ONE = (4, 8, 12)  # where there is but one state: steps after which it is looked at
FARTHEST = np.pi**2  # of |q − start|²: what has come no farther cannot be unwound
BETWEEN, BETWEEN_FEW = 5, 10  # from each look to the next; of few states a look takes longer than a step
FEW = 64
SLOW, STUCK = 0.5, 0.999  # a state of whose E more is left from look to look is slow, or does not move at all
Advance = Callable[[Array, Array, Array, int], tuple[Array, ...]]  # (q, μ, target, steps) → (q, μ, e, what is left)
LITTLE = 1e-11  # damping, so that the system has a solution where J loses rank
CLOSE = 1e-3  # |e| that a later step makes good
MOST_RATE, LEAST_RATE = 8.0, 1e-3  # of α
ROUNDS = 3  # one is not enough: where entries are held at a limit, others that make up for them go over theirs
FASTER, SLOWER = 1.5, 0.3  # factors of α after a step that came nearer, and after one that did not
Slide = Callable[[Array, Array, Array, Array, int], tuple[Array, ...]]  # (q, α, target, start, steps) → (q, α)


class Norm(NamedTuple):
    """Rows of an error whose length is one number: an angle, "rad", a distance, "m", or that of a function, ""."""

    unit: str
    rows: tuple[int, ...]

    @property
    def span(self) -> slice | None:
        """The rows as a slice, if they stand together."""
        first, last = self.rows[0], self.rows[-1] + 1
        return slice(first, last) if self.rows == tuple(range(first, last)) else None

    def length(self, e: Array) -> Scalar:
        """The length (...) of these rows of an error (..., m)."""
        own = e[..., constant(self.rows) if self.span is None else self.span]
        return sqrt(dot(own, own))


@dataclass(frozen=True, eq=False)
class Aim:
    """What is asked of which task: fixed while a kernel is made."""

    task: Task
    unit: Array  # (m,): what rows are measured by
    norms: tuple[Norm, ...]
    box: Box
    far: bool = False  # whether targets may be many units away


def measured(robot: Robot, q: ConfigurationVector, target: Array, aim: Aim) -> Residual:
    """The error e (..., m) and its J (..., m, k) by steps in box coordinates, both in the units of the rows."""
    e, J = residual(aim.task, robot, q, leaves_of(aim.task, target))
    return Residual(e / aim.unit, columns(aim.box, q, J / aim.unit[:, None]))


def newton_step(robot: Robot, q: ConfigurationVector, damping: Scalar, target: Array, *, aim: Aim) -> dict[str, Array]:
    """The next q and damping μ, with the error after the step, and the largest of its angles and distances.

    ``q`` (..., nq), rad or m; ``damping`` (...); ``target`` (..., k), as of `flat_target`.
    """
    e, J = measured(robot, q, target, aim)
    E = 0.5 * dot(e, e)
    scale = where(E < FAR, E, FAR) if aim.far else E
    u = constrained_step(aim.box, numbers(aim.box, q), J, e, damping * scale + FLOOR)
    q_next = moved(robot, aim.box, q, u)
    e_next = measured(robot, q_next, target, aim).error
    E_next = 0.5 * dot(e_next, e_next)
    foreseen = e - matvec(J, u)
    gain = (E - E_next) / (E - 0.5 * dot(foreseen, foreseen) + 1e-300)
    better = (E_next < E)[..., None]  # not if it is NaN
    mu = next_damping(damping, gain)
    e_now = where(better, e_next, e)
    left = reduce(lambda a, b: where(a > b, a, b), [norm.length(e_now * aim.unit) for norm in aim.norms])
    return {"q": where(better, q_next, q), "damping": mu, "error": e_now, "left": left}


def next_damping(damping: Scalar, gain: Scalar) -> Scalar:
    """μ (...) after a step with which E fell by ``gain`` (...) times what was foreseen."""
    mu = where(gain > GOOD, EASIER * damping, where(gain > POOR, damping, HARDER * damping))
    return where(mu < LEAST, LEAST, where(mu > MOST, MOST, mu))


def constrained_step(box: Box, x: Array, J: Array, e: Array, damping: Array, rounds: int = 1) -> Array:
    """The step u (..., k) from the numbers x (..., k), which it leaves within the limits or brings there.

    Entries that would cross a bound are held at it for as many ``rounds``; what crosses one in the last is left to `moved`.
    """
    sides = [(k, high, 1.0) for k, high in enumerate(box.upper) if high < np.inf]
    sides += [(k, low, -1.0) for k, low in enumerate(box.lower) if low > -np.inf]
    if not sides:
        return least_squares(J, e, damping)
    none, all_of_it = 0.0 * e[..., 0], 0.0 * e[..., 0] + 1.0
    free, held = [all_of_it] * box.size, [none] * box.size
    room = [side * (bound - x[..., k]) for k, bound, side in sides]
    g = matvec(transpose(J), e)
    for (k, _, side), rest in zip(sides, room, strict=True):
        free[k] = where((rest <= 0.0) & (side * g[..., k] > 0.0), 0.0, free[k])
    u = least_squares(_masked(J, free), e, damping)
    for _ in range(rounds):
        for (k, _, side), rest in zip(sides, room, strict=True):
            over = side * u[..., k] > rest
            free[k], held[k] = where(over, 0.0, free[k]), where(over, side * rest, held[k])
        to_bounds = stack(held)
        u = to_bounds + least_squares(_masked(J, free), e - matvec(J, to_bounds), damping)
    return u


def _masked(J: Array, free: list[Array]) -> Array:
    return J * stack(free)[..., None, :]


def least_squares(J: Array, e: Array, damping: Array) -> Array:
    """(JᵀJ + λ)⁻¹ Jᵀ e = Jᵀ (J Jᵀ + λ)⁻¹ e, by the smaller of the two systems."""
    m, k = J.shape[-2:]
    shift = damping[..., None, None]
    if m <= k:
        A = matmul(J, transpose(J)) + shift * identity(m)
        return matvec(transpose(J), solve(factor(A, guarded=False), e))
    A = matmul(transpose(J), J) + shift * identity(k)
    return solve(factor(A, guarded=False), matvec(transpose(J), e))


class Descent(NamedTuple):
    """Where states came to: ``q`` (K, nq), error ``e`` (K, m), whether it is ``within`` the tolerance, steps taken."""

    q: Array
    e: Array
    within: Array
    steps: Array

    @property
    def merit(self) -> Array:
        """E (K,)."""
        return _merit(self.e)


def _merit(e: Array) -> Array:
    E: Array = 0.5 * np.vecdot(e, e)
    return E


def descend(
    robot: Robot,
    aim: Aim,
    q: Array,
    targets: Array,
    tolerance: float,
    most: int,
    *,
    owners: Array | None = None,
    enough: float = SLOW,
) -> Descent:
    """At most ``most`` steps from each q (K, nq) towards its target.

    States stop of whose E more than ``enough`` is left from look to look; so do those of whose owner, ``owners`` (K,),
    another has arrived.
    """
    advance = _stepper(robot, aim)
    taken = min(FIRST_LOOK, most)
    q, mu, e, left = advance(q, np.full(len(q), START), targets, taken)
    within, steps = left <= tolerance, np.full(len(q), taken)
    if within.all():
        return Descent(q, e, within, steps)
    active, E = np.flatnonzero(_unfinished(within, owners)), _merit(e)
    while active.size and taken < most:
        count = min(BETWEEN_FEW if len(q) <= FEW else BETWEEN, most - taken)
        q[active], mu[active], e[active], left = advance(q[active], mu[active], targets[active], count)
        taken += count
        steps[active] = taken
        now, before = _merit(e[active]), E[active]
        within[active], E[active] = left <= tolerance, now
        going = _unfinished(left <= tolerance, None if owners is None else owners[active])
        active = active[going & (now < enough * before)]
    return Descent(q, e, within, steps)


def _unfinished(arrived: Array, owners: Array | None) -> Array:
    """Which states have not arrived, and no other of their owner's has."""
    if owners is None or not arrived.any():
        return ~arrived
    done = np.zeros(owners.max() + 1, bool)
    done[owners[arrived]] = True
    unfinished: Array = ~done[owners]
    return unfinished


@remembered(64)
def _loop(robot: Robot, aim: Aim) -> Scan:
    def newton_steps(robot: Robot, q: Array, damping: Array, target: Array) -> dict[str, Array]:
        return newton_step(robot, q, damping, target, aim=aim)

    return scan(newton_steps, robot, {"q": robot.nq, "damping": ()}, constants={"target": target_size(aim.task)})


@remembered(64)
def _stepper(robot: Robot, aim: Aim) -> Advance:
    """Several steps of many states."""
    loop = _loop(robot, aim)

    def advance(q: Array, damping: Array, targets: Array, steps: int) -> tuple[Array, ...]:
        end = loop(steps=steps, every=steps, q=q, damping=damping, target=targets)
        return tuple(x[:, 0] for x in end.values())

    return advance


class FromNearby:
    """The first steps from one configuration to one target, with next to no Python: the call of a control loop."""

    def __init__(self, robot: Robot, aim: Aim) -> None:
        self._robot, self._aim, self._damping = robot, aim, np.array(START)
        limits, nowhere = aim.box.limits, np.full(robot.nq, np.inf)
        bounds: Array = (-nowhere, nowhere) if limits is None else limits
        self._lower, self._upper = bounds

    @once
    def _steps(self) -> Scan:
        return _loop(self._robot, self._aim)

    def __call__(self, start: Array, target: Array, tolerance: float) -> tuple[Array, Array, int] | None:
        """q (nq,), its error (m,) in rad and m, and the steps taken from ``start`` (nq,) to the target (k,).

        None if the first steps do not reach it, or numbers are not finite.
        """
        here, damping = np.minimum(np.maximum(start, self._lower), self._upper), self._damping
        for taken in LOOKS_AT_ONE:
            end = self._steps(steps=LOOKS_AT_ONE[0], every=LOOKS_AT_ONE[0], q=here, damping=damping, target=target)
            (here,), damping, (e,), left = end.values()
            if left[0] <= tolerance:
                away = here - start
                return (here, e * self._aim.unit, taken) if away.dot(away) < FARTHEST else None
            damping = damping.reshape(())
        return None


def pressed(robot: Robot, aim: Aim, q: Array, targets: Array) -> Array:
    """Which bounds the way to the target would cross: −1 lower, 1 upper, 0 none, for each entry of a step (K, k)."""
    e, J = measured(robot, q, targets, aim)
    x, g = numbers(aim.box, q), np.einsum("...mk,...m->...k", J, e)
    above = (x >= np.array(aim.box.upper)) & (g > 0.0)
    below = (x <= np.array(aim.box.lower)) & (g < 0.0)
    return above.astype(int) - below.astype(int)


def slide_step(
    robot: Robot, q: ConfigurationVector, rate: Scalar, target: Array, start: ConfigurationVector, *, aim: Aim
) -> dict[str, Array]:
    """The next q, nearer to ``start`` and still at the target, and α.

    ``q``, ``start`` (..., nq), rad or m, within the limits; ``rate`` α (...); ``target`` as for `newton_step`.
    """
    w = towards(aim.box, q, start)
    e, J = measured(robot, q, target, aim)
    along = rate[..., None] * w
    rest = e - matvec(J, along)
    damping = LITTLE + 0.0 * rate
    u = along + constrained_step(aim.box, numbers(aim.box, q) + along, J, rest, damping, ROUNDS)
    q_aside = moved(robot, aim.box, q, u)
    e, J = measured(robot, q_aside, target, aim)
    back = constrained_step(aim.box, numbers(aim.box, q_aside), J, e, damping)
    q_next = moved(robot, aim.box, q_aside, back)
    e, w_next = measured(robot, q_next, target, aim).error, towards(aim.box, q_next, start)
    better = (dot(w_next, w_next) < dot(w, w)) & (dot(e, e) < CLOSE * CLOSE)
    alpha = where(better, FASTER * rate, SLOWER * rate)
    alpha = where(alpha > MOST_RATE, MOST_RATE, where(alpha < LEAST_RATE, LEAST_RATE, alpha))
    return {"q": where(better[..., None], q_next, q), "rate": alpha}


def slid(robot: Robot, aim: Aim, q: Array, targets: Array, start: Array, steps: int) -> Array:
    """The configurations (K, nq) after some steps towards ``start`` (K, nq), all next to their targets."""
    end: Array = _slider(robot, aim)(q, np.ones(len(q)), targets, start, steps)[0]
    return end


@remembered(64)
def _slider(robot: Robot, aim: Aim) -> Slide:
    def slides(robot: Robot, q: Array, rate: Array, target: Array, start: Array) -> dict[str, Array]:
        return slide_step(robot, q, rate, target, start, aim=aim)

    fixed = {"target": target_size(aim.task), "start": robot.nq}
    loop = scan(slides, robot, {"q": robot.nq, "rate": ()}, constants=fixed)

    def slide(q: Array, rate: Array, targets: Array, start: Array, steps: int) -> tuple[Array, ...]:
        end = loop(steps=steps, every=steps, q=q, rate=rate, target=targets, start=start)
        return tuple(x[:, 0] for x in end.values())

    return slide


@remembered(256)
def is_redundant(robot: Robot, aim: Aim) -> bool:
    """Whether there is a self-motion: more entries of a step than the rank of J, the largest at some configurations."""
    q = random_configuration(robot, seed=0, batch=(4,))
    targets = flat_value(aim.task.value(robot, q), aim.task)
    return bool(np.linalg.matrix_rank(measured(robot, q, targets, aim).rate, rtol=1e-9).max() < aim.box.size)
