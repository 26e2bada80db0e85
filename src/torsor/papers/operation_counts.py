"""What a formulation of the dynamics costs: its operations, counted by running it on scalars that record them.

Three levels. *literal*: as written, with the given data (transforms, inertias, base motion) opaque, so that a 4×4 product
is 64 multiplications and 48 additions; only the zeros and ones that place the joint's axis are known, for every source
puts its frames on the axes. *structural*: zeros and ones of the data are skipped as well, such as the last rows of 4×4
matrices. *simplified*: what our compiler leaves of the whole function for the actual robot, transforms and sines included.
The first two count every operation carried out, whether its result is used or not, as a stopwatch would.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.exact import coarse
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.compiler.graph import Graph, Op, Port, Program
from torsor.compiler.simplify import Level, Rewriter
from torsor.compiler.trace import trace
from torsor.compiler.traced_array import TracedArray
from torsor.errors import ArgumentError, unknown_name
from torsor.model import Inertia, Parameters, Robot, dh_chain, random_configuration
from torsor.model.remembered import remembered
from torsor.papers.formulations import FORMULATIONS, Formulation
from torsor.papers.formulations.formulation import refuse_other_joints
from torsor.papers.formulations.links import Model

LEVELS = ("literal", "structural", "simplified")
_ON_THE_AXIS = ("z", "b", "S", "slide")  # data that is 0 or 1 because the source's frames sit on the joint axes
_SAMPLES = 3  # configurations that tell an entry which is always 0 or ±1 from one that varies
_ROUNDING = 1e-12


class OperationCount(NamedTuple):
    """How many: additions include subtractions; others are negations, divisions, sines and so on."""

    multiplications: int
    additions: int
    others: int


@explained
def count_operations(
    formulation: str | Callable[..., Any], robot: Robot | int, *, level: str = "literal"
) -> OperationCount:
    """Number of operations of a formulation for one state of a robot, or of a general chain of revolute joints.

    Loads, armature, friction and springs are the same for all formulations and only counted in the last level [Sil81, §1.2–§1.4].

    Parameters
    ----------
    formulation : str or callable
        A name in `torsor.papers.formulations.FORMULATIONS`, one of its functions, or any function of (robot, q, v, a), whose
        data are then the robot's parameters.
    robot : Robot or int
        A robot, or the number of links of a general chain.
    level : str
        "literal": as written; "structural": zeros and ones of the data are skipped; "simplified": what the compiler leaves.

    Returns
    -------
    OperationCount
        Multiplications, additions and others.
    """
    refuse_unknown_word("level", level, LEVELS)
    known = _known(formulation)
    if not isinstance(robot, Robot):
        if isinstance(robot, bool) or not isinstance(robot, (int, np.integer)) or robot < 1:
            raise ArgumentError(f"pass a torsor.Robot or a number of links, 1 or more, got {robot!r:.60}.")
        robot = general_chain(int(robot), "modified" if known is None else known.frames)
    if known is not None and level != "simplified":
        return _count_core(known, robot, level)
    function: Any = formulation if known is None else known.function
    return _count_function(function, robot, level)


@explained
def count_table(
    names: str | Iterable[str] = tuple(FORMULATIONS), *, links: Iterable[int] = range(1, 11), level: str = "literal"
) -> dict[str, dict[int, OperationCount]]:
    """Counts of formulations by name and number of links [Sil81, §1.4].

    Parameters
    ----------
    names : str or iterable of str
        Names in `torsor.papers.formulations.FORMULATIONS`; all of them by default.
    links : iterable of int
        Numbers of links of the general chains.
    level : str
        "literal", "structural" or "simplified", as in `count_operations`.

    Returns
    -------
    dict
        For each name a dict from the number of links to the `OperationCount`.
    """
    links, names = tuple(links), (names,) if isinstance(names, str) else tuple(names)
    return {name: {n: count_operations(name, n, level=level) for n in links} for name in names}


class Polynomial(NamedTuple):
    """A polynomial in n with rational coefficients, the lowest first; the last is not zero unless it is the only one."""

    coefficients: tuple[Fraction, ...]

    @property
    def degree(self) -> int:
        """The highest power of n."""
        return len(self.coefficients) - 1

    @property
    def leading(self) -> Fraction:
        """The coefficient of that power."""
        return self.coefficients[-1]

    def __call__(self, n: int | Fraction) -> Fraction:
        """Value at n."""
        return sum((c * Fraction(n) ** k for k, c in enumerate(self.coefficients)), Fraction(0))

    def __str__(self) -> str:
        """The polynomial as it is printed: "125n − 24"."""
        terms = [(k, c) for k, c in reversed(list(enumerate(self.coefficients))) if c != 0]
        text = ""
        for k, c in terms:
            sign = ("−" if c < 0 else "") if not text else (" − " if c < 0 else " + ")
            text += sign + _term(abs(c), k)
        return text or "0"


@explained
def count_polynomial(counts: Mapping[int, int]) -> Polynomial:
    """Polynomial of lowest degree that goes through all counts, exactly.

    Parameters
    ----------
    counts : mapping from int to int
        For each number of links the count. At least one must be left over to confirm the polynomial.

    Returns
    -------
    Polynomial
        With rational coefficients; ``str`` writes it as "125n − 24".

    Raises
    ------
    ArgumentError
        If the counts follow no polynomial (the first links may be special: leave them out) or are too few.
    """
    points = [(Fraction(n), Fraction(count)) for n, count in counts.items()]
    for size in range(1, len(points)):
        found = _interpolate(points[:size])
        if all(found(n) == count for n, count in points[size:]):
            return found
    raise ArgumentError(
        f"no polynomial of degree below {max(len(points) - 1, 0)} goes through all {len(points)} counts; "
        "give more counts, or leave out the first, where base and tip coincide."
    )


@lru_cache(maxsize=64)
def general_chain(n: int, convention: str) -> Robot:
    """A chain of n revolute joints without any special dimension, in Denavit–Hartenberg frames (m, kg) [Sil81, §1.2]."""
    rng = np.random.default_rng(n)
    table = [(*rng.uniform(0.2, 0.6, 2), rng.uniform(0.2, 0.6), 0.0) for _ in range(n)]
    bodies = [Inertia.particles(rng.uniform(0.1, 1.0, 6), 0.3 * coarse(rng.normal(size=(6, 3)))) for _ in range(n)]
    gravity = rng.uniform(1.0, 5.0, 3)
    return dh_chain(table, bodies, convention=convention, gravity=gravity, name=f"general {n}R")


# Counting


def _known(formulation: str | Callable[..., Any]) -> Formulation | None:
    if isinstance(formulation, str):
        if formulation not in FORMULATIONS:
            where = "torsor.papers.formulations.FORMULATIONS"
            raise unknown_name("torsor", "formulation", formulation, FORMULATIONS, where)
        return FORMULATIONS[formulation]
    if not callable(formulation):
        raise ArgumentError(
            f"pass the name of a formulation or a function of (robot, q, v, a), got {formulation!r:.60}."
        )
    return next((known for known in FORMULATIONS.values() if known.function is formulation), None)


@remembered(1024)
def _count_core(known: Formulation, robot: Robot, level: str) -> OperationCount:
    """The core of a formulation, run on data of which nothing is known but (what the level shows of) its zeros and ones."""
    refuse_other_joints(robot)
    samples = [known.make_model(robot, random_configuration(robot, seed=k)) for k in range(_SAMPLES)]
    links = range(robot.n)
    leaves = [_leaves(sample) for sample in samples]
    values = {key: np.array([np.asarray(leaf[key], float) for leaf in leaves]) for key in leaves[0]}
    graph = Graph([Port("data", (sum(x[0].size for x in values.values()) + 2 * robot.n,))])
    recorder = Rewriter(graph, Level.ZEROS_AND_ONES)
    free = iter(graph.input_nodes)
    given: dict[tuple[int | None, int | str], TracedArray] = {}
    for (link, field), x in values.items():
        shown = level == "structural" or field in _ON_THE_AXIS
        nodes = [next(free) if (c := _constant(entry, shown)) is None else graph.constant(c) for entry in _entries(x)]
        given[link, field] = TracedArray(recorder, np.array(nodes, dtype=np.int64).reshape(x.shape[1:]))
    v, a = ([TracedArray(recorder, np.array(next(free))) for _ in links] for _ in range(2))
    model = samples[0]
    records = [
        record._replace(**{field: given[i, field] for field in record._fields if (i, field) in given})
        for i, record in enumerate(model.links)
    ]
    base = tuple(given[None, k] for k in range(len(model.base)))
    known.core(Model(model.parents, records, base), v, a)
    return _count(graph.ops)


def _count_function(function: Callable[..., Any], robot: Robot, level: str) -> OperationCount:
    """A function of (robot, q, v, a): with opaque parameters, with the robot's zeros and ones, or simplified."""
    shapes = {"q": (robot.nq,), "v": (robot.nv,), "a": (robot.nv,)}
    groups = {name: tuple(np.shape(leaf)) for name, leaf in zip(Parameters._fields, robot.parameters, strict=True)}

    def on_opaque(**given: Any) -> Any:
        own = Parameters(*(given.pop(name) for name in groups))
        return function(Robot(robot.structure, own), *given.values())

    def on_robot(**given: Any) -> Any:
        return function(robot, *given.values())

    if level == "literal":
        program = trace(on_opaque, {**shapes, **groups}, Level.OFF)
    else:
        program = trace(on_robot, shapes, Level.ZEROS_AND_ONES if level == "structural" else Level.FULL)
    return _count_program(program)


def _count_program(program: Program) -> OperationCount:
    program = program.written_out()
    return _count([program.graph.ops[node] for node in program.live()])


def _count(ops: Iterable[Op]) -> OperationCount:
    counts = Counter(ops)
    multiplications, additions = counts[Op.MUL], counts[Op.ADD] + counts[Op.SUB]
    silent = counts[Op.CONSTANT] + counts[Op.INPUT]
    return OperationCount(multiplications, additions, counts.total() - multiplications - additions - silent)


def _leaves(model: Model) -> dict[tuple[int | None, int | str], Any]:
    """All arrays of a model by link and field; those of the base under None."""
    found: dict[tuple[int | None, int | str], Any] = {(None, k): x for k, x in enumerate(model.base)}
    for i, record in enumerate(model.links):
        for field, x in record._asdict().items():
            if x is not None and not isinstance(x, bool):
                found[i, field] = x
    return found


def _entries(x: np.ndarray) -> np.ndarray:
    """The entries of an array, as rows of their samples."""
    return np.moveaxis(x, 0, -1).reshape(-1, len(x))


def _constant(samples: np.ndarray, shown: bool) -> float | None:
    """0, 1 or −1 if an entry is that in all samples and may be known to be."""
    for value in (0.0, 1.0, -1.0):
        if shown and np.all(np.abs(samples - value) <= _ROUNDING):
            return value
    return None


# Polynomials


def _interpolate(points: list[tuple[Fraction, Fraction]]) -> Polynomial:
    """Newton's divided differences, multiplied out."""
    xs, c = [x for x, _ in points], [y for _, y in points]
    for order in range(1, len(points)):
        for i in range(len(points) - 1, order - 1, -1):
            c[i] = (c[i] - c[i - 1]) / (xs[i] - xs[i - order])
    result = [Fraction(0)]
    for x, top in zip(reversed(xs), reversed(c), strict=True):
        shifted = [Fraction(0), *result]
        result = [s - x * r for s, r in zip(shifted, [*result, Fraction(0)], strict=True)]
        result[0] += top
    while len(result) > 1 and result[-1] == 0:
        result.pop()
    return Polynomial(tuple(result))


def _term(c: Fraction, power: int) -> str:
    if power == 0:
        return str(c)
    factor = "" if c == 1 else str(c) if c.denominator == 1 else f"{c} "
    return f"{factor}n{str(power).translate(_SUPERSCRIPTS) if power > 1 else ''}"


_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
