"""How many pieces does a self-motion manifold have? Configurations for one task that no self-motion leads from one to another.

With several dimensions, the null-space flow q' = (1 − J⁺J) (q_other − q) is followed from each solution towards each other
one, in steps that Newton's method takes back to the fibre. It gets there or stops where the rest of the way is orthogonal to the
fibre; then another one may help.

The number of pieces found from random starts is a lower bound. Pieces that were met once or twice tell of others that were not
met at all. With f₁ pieces met by one start and f₂ by two, of n starts::

    f₁ / n                       probability that one more start meets a new piece [Good53]
    f₁ (f₁ − 1) / (2 (f₂ + 1))   how many pieces at least were not met, on average [Chao84], in its form without bias
    (1 − p)ⁿ                     probability that none of n starts meets a piece to which a share p of them leads
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor._reports import Report
from torsor.arrays.typing import Array, GivenConfiguration
from torsor.border import explained
from torsor.border.numbers import refuse_bad_count, refuse_bad_numbers
from torsor.errors import ArgumentError
from torsor.functions.public.kinematics import integrate
from torsor.model import Robot
from torsor.redundancy._self_motion import SelfMotion
from torsor.redundancy.configurations import (
    LOST,
    angle_difference,
    jacobian_at,
    refuse_outside,
    room,
    single_configuration,
)
from torsor.redundancy.fibre_arcs import FibreArcs
from torsor.redundancy.fibres import SingularConfiguration, singular_nearby, solutions
from torsor.redundancy.task_places import WHY, displacement, has_value, place
from torsor.tasks import Task, as_task
from torsor.tasks.public import pseudoinverse_lift, task_rank

STEPS = 120
LARGEST = 0.15  # step, rad or m
THERE = 1e-4  # rad or m
MISSED = 0.05  # probability with which a piece may be missed by all starts
FIRST = 10  # starts after which the pieces are counted first; then after twice as many, and so on


@dataclass(frozen=True, eq=False, repr=False)
class SelfMotionComponents(Report):
    """The pieces that were found. Their number, len(…), is a lower bound: ``met`` tells how it grew.

    A piece is several curves if these meet in singular configurations, and no curve if it is one such configuration.

    Attributes
    ----------
    robot : Robot
    components : tuple of SelfMotion
        All curves where ``dimension`` is 1, else none.
    found : (len,) array
        How many configurations led to each piece, of ``starts`` in all.
    dimension : int
        nv − m.
    solutions : tuple of (k, nq) arrays
        Of each piece the configurations that led to it, rad or m, the first piece that of q0.
    piece : (len(components),) array
        Of each curve the number of its piece.
    singular : tuple of SingularConfiguration
    piece_of_singular : (len(singular),) array
        The number of the piece of each.
    met : PiecesMet
        What random starts tell of the number of pieces.
    """

    robot: Robot
    components: tuple[SelfMotion, ...]
    found: Array
    starts: int
    dimension: int
    solutions: tuple[Array, ...]
    piece: Array
    singular: tuple[SingularConfiguration, ...]
    piece_of_singular: Array
    met: PiecesMet

    def __len__(self) -> int:
        return len(self.solutions)

    def __str__(self) -> str:
        pieces = f"{len(self)} component{'' if len(self) == 1 else 's'}"
        head = f"self-motion of robot {self.robot.name!r}: at least {pieces}, found from "
        head += f"{self.starts} solution{'' if self.starts == 1 else 's'}"
        if self.dimension > 1:
            counts = ", ".join(str(int(n)) for n in self.found)
            return f"{head}, of {self.dimension} dimensions, with {counts} of them\n  {self.met}"
        lines = [line for number in range(len(self)) for line in self._lines(number)]
        return "\n".join([head, *lines, f"  {self.met}"])

    def _lines(self, number: int) -> list[str]:
        curves = [str(self.components[k]).partition(": ")[2] for k in np.flatnonzero(self.piece == number)]
        count = int(self.found[number])
        if len(curves) == 1:
            return [f"  {count} on {curves[0]}"]
        if not curves:
            return [f"  {count} at {self.singular[int(np.flatnonzero(self.piece_of_singular == number)[0])]}"]
        return [
            f"  {count} on {len(curves)} curves that meet in singular configurations",
            *(f"    {c}" for c in curves),
        ]


@explained
def self_motion_components(
    robot: Robot,
    q0: GivenConfiguration,
    task: Task | str,
    *,
    spacing: float = 0.05,
    starts: int = 40,
    seed: int | np.random.Generator = 0,
    longest: float = 100.0,
    within_limits: bool = False,
) -> SelfMotionComponents:
    """Pieces of ρ⁻¹(ρ(q0)), sampled: self-motions that never meet, modulo whole turns of joints [Alt04, §II.B]. One start only.

    Random configurations are led to where the task is at q0 by Newton's method. Where nv − m = 1, each that
    lies on no curve known so far starts a new one; curves that meet in a singular configuration, which may be q0, are one piece.
    Where it is more, those between which a self-motion is found are one piece: from each the null-space flow towards each other
    one, q' = (1 − J⁺J) (q_other − q), is followed.

    Parameters
    ----------
    robot : Robot
        With more degrees of freedom than the task has rows.
    q0 : (nq,) array
        A configuration, rad or m.
    task : Task or str
        A `Task`, or the name of a frame for its body twist.
    spacing : float
        Distance between samples of a curve in joint coordinates, √Σ dq², rad or m as in `self_motion`; not m·√kg.
    starts : int
        How many random configurations, within the limits.
    seed : int or numpy.random.Generator
        Of the random configurations.
    longest : float
        Where to give up a curve each way, in the unit of ``spacing``.
    within_limits : bool
        Pieces of what lies within the limits of positions: a curve that leaves them ends there, and counts as several if it
        comes back. Otherwise limits are not looked at.

    Returns
    -------
    SelfMotionComponents
        A piece that no start was led to is not found: the number is a lower bound, and ``met`` estimates what is missing. With
        more dimensions, two pieces may be one, if all flows between them got stuck (or left the limits).
    """
    q = single_configuration(robot, q0)
    found = as_task(robot, task)
    refuse_bad_numbers(spacing=spacing, longest=longest)
    refuse_bad_count("starts", starts, 1, "`starts` must be positive")
    dimension = robot.nv - found.size
    if dimension < 1:
        raise ArgumentError(
            f"robot {robot.name!r} has {robot.nv} degrees of freedom for {found.size} rows, and no self-motion."
        )
    if not has_value(robot, found):
        raise ArgumentError(f"which configurations do the same is not known of this task, for {WHY}.")
    if within_limits:
        refuse_outside(robot, q)
    led = solutions(robot, q, found, starts, seed, within_limits=within_limits)
    arcs = FibreArcs(robot, q, found, spacing, longest=longest, within_limits=within_limits)
    number = _pieces_of_curves(arcs, led) if dimension == 1 else _pieces_of_flows(robot, found, led, within_limits)
    pieces = tuple(led[number == piece] for piece in range(int(number.max()) + 1))
    counts, met = np.array([len(piece) for piece in pieces]), pieces_met(number[1:])
    curves, singular = tuple(arcs.curves), tuple(arcs.singular)
    of_curves, of_singular = np.array(arcs.piece, int), np.array(arcs.piece_of_singular, int)
    return SelfMotionComponents(
        robot, curves, counts, len(led), dimension, pieces, of_curves, singular, of_singular, met
    )


def _pieces_of_curves(arcs: FibreArcs, led: Array) -> Array:
    """The number of the piece of each configuration (k, nq), and all its curves in ``arcs``; the first may be singular."""
    if task_rank(arcs.robot, led[0], arcs.task, tolerance=LOST).is_onto:
        first = arcs.piece_of(led[0])
    else:
        first = arcs.piece_around(_singular_start(arcs.robot, led[0], arcs.task))
    return np.array([first, *(arcs.piece_of(solution) for solution in led[1:])])


def _pieces_of_flows(robot: Robot, task: Task, led: Array, within_limits: bool) -> Array:
    """The number of the piece of each configuration (k, nq), by flows between them; the first must be regular."""
    rank = task_rank(robot, led[0], task, tolerance=LOST)
    if not rank.is_onto:
        raise ArgumentError(f"robot {robot.name!r} is at a singular configuration: J has {rank}.")
    number = np.empty(len(led), int)
    for piece, members in enumerate(joined_groups(robot, task, led, within_limits=within_limits)):
        number[members] = piece
    return number


def _singular_start(robot: Robot, q: Array, task: Task) -> SingularConfiguration:
    found = singular_nearby(robot, q, task, place(robot, q, task))
    if found is None or not found.known:
        raise ArgumentError(
            f"robot {robot.name!r} is at a singular configuration, and which curves of the self-motion leave it is not "
            f"known to second order: J has {task_rank(robot, q, task, tolerance=LOST)}. Start elsewhere on the self-motion."
        )
    return found


def joined_groups(robot: Robot, task: Task, qs: Array, *, within_limits: bool = False) -> list[list[int]]:
    """Numbers of configurations (k, nq) in groups that self-motions join, within the limits if asked; the first one's first."""
    k = len(qs)
    group = list(range(k))
    pairs = [(i, j) for i in range(k) for j in range(k) if i != j]
    if pairs:
        first, second = np.array(pairs).T
        arrives = _arrives(robot, task, qs[first], qs[second], within_limits)
        for (i, j), there in zip(pairs, arrives, strict=True):
            if there and group[i] != group[j]:
                low, high = sorted((group[i], group[j]))
                group = [low if name == high else name for name in group]
    return [[i for i in range(k) if group[i] == name] for name in sorted(set(group))]


def _arrives(robot: Robot, task: Task, q: Array, goal: Array, within_limits: bool) -> Array:
    """Whether the flows from q (B, nq) towards goal (B, nq) get there (B,), and never leave the limits on the way if asked."""
    target, inside = place(robot, q, task), np.full(len(q), True)
    for _ in range(STEPS):
        to_goal = angle_difference(robot, q, goal)
        J = jacobian_at(robot, q, task)
        K = np.nan_to_num(pseudoinverse_lift(robot, q, task))
        along = to_goal - np.einsum("bia,baj,bj->bi", K, J, to_goal)
        back = np.einsum("bia,ba->bi", K, displacement(task, place(robot, q, task), target))
        q = integrate(robot, q, _shortened(along) + _shortened(back))
        if within_limits:
            inside &= room(robot, q) >= -THERE
    close = np.linalg.norm(angle_difference(robot, q, goal), axis=-1) < THERE
    return np.asarray(
        inside & close & (np.linalg.norm(displacement(task, place(robot, q, task), target), axis=-1) < THERE)
    )


def _shortened(step: Array) -> Array:
    size = np.linalg.norm(step, axis=-1, keepdims=True)
    return np.asarray(step * np.minimum(1.0, LARGEST / np.maximum(size, 1e-300)))


@dataclass(frozen=True, repr=False)
class PiecesMet(Report):
    """What random starts tell of the number of pieces.

    Attributes
    ----------
    growth : tuple of pairs
        Starts, and pieces met by them, in the order of the starts, doubling, the last with all of them.
    once, twice : int
        How many pieces were met by one start, and by two.
    """

    growth: tuple[tuple[int, int], ...]
    once: int
    twice: int

    @property
    def chance_of_new(self) -> float:
        """About how probable it is that one more start meets a new piece [Good53]; 1 if there was no start."""
        starts = self.growth[-1][0]
        return self.once / starts if starts else 1.0

    @property
    def expected_more(self) -> float:
        """About how many pieces, at least, no start has met [Chao84]."""
        return self.once * (self.once - 1) / (2 * (self.twice + 1))

    @property
    def hidden_share(self) -> float:
        """Pieces to which a smaller share of the starts leads than this are missed with a probability above 5 %."""
        starts = self.growth[-1][0]
        return 1.0 - MISSED ** (1.0 / starts) if starts else 1.0

    def __str__(self) -> str:
        if not self.growth[-1][0]:
            return "no random start was led to where the task is, so nothing is known of others"
        counts = ", ".join(f"{pieces} by {count}" for count, pieces in self.growth)
        more = (
            f"{self.once} by one start only, which tells of {self.expected_more:.2g} more or above, and one more start meets a "
            f"new one with a probability of about {self.chance_of_new:.1g}"
        )
        return (
            f"a lower bound; met by random starts: {counts}; {more if self.once else 'none by one start only'}; a piece to which "
            f"fewer than {100 * self.hidden_share:.2g} % of the starts lead may be missing"
        )


def pieces_met(piece_of_start: Array) -> PiecesMet:
    """From the number of the piece that each random start met (n,), in their order."""
    n = len(piece_of_start)
    counts = np.unique(piece_of_start, return_counts=True)[1]
    marks = [FIRST * 2**k for k in range(32) if FIRST * 2**k < n] + [n]
    growth = tuple((mark, len(set(piece_of_start[:mark].tolist()))) for mark in marks)
    return PiecesMet(growth, int(np.sum(counts == 1)), int(np.sum(counts == 2)))
