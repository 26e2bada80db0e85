"""Exercises that check themselves: numbers by seed, hints, and a check that knows common mistakes and never tells the answer."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from textwrap import fill
from types import SimpleNamespace
from typing import Any

import numpy as np

from torsor._html import block
from torsor._reports import Report
from torsor.border.arguments import explained, refuse_unknown_word
from torsor.compiler.backend import backend
from torsor.errors import ArgumentError, ArgumentTypeError

BOOK: dict[str, Recipe] = {}  # by name, in the order of the notebooks; the modules of the exercises fill it


class Draw:
    """Numbers of few digits from a seed, the same on every machine: whole multiples of a step, chosen by integers alone."""

    def __init__(self, name: str, seed: int | str) -> None:
        self._integers = random.Random(f"{name}/{seed}")

    def number(self, low: float, high: float, step: int = 100) -> float:
        """One number from ``low`` to ``high``, a multiple of 1/``step``, never 0."""
        return (self._integers.randint(round(low * step), round(high * step)) or 1) / step

    def numbers(self, n: int, low: float, high: float, step: int = 100) -> np.ndarray:
        """An array (n,) of such numbers."""
        return np.array([self.number(low, high, step) for _ in range(n)])

    def states(self, n: int, *lengths: int) -> list[tuple[np.ndarray, ...]]:
        """``n`` tuples of arrays with these lengths, numbers from −2 to 2: states at which a function is tried."""
        return [tuple(self.numbers(length, -2, 2) for length in lengths) for _ in range(n)]


@dataclass(frozen=True)
class Problem:
    """An exercise with its numbers: what is given, and how right and wrong answers are computed.

    ``right`` and the ``mistakes``, by what to say of them, are functions of a case; an exercise that asks for numbers has the one
    case ``()``, one that asks for a function has the states at which it is tried.
    """

    question: str
    given: Mapping[str, Any]
    right: Callable[..., Any]
    mistakes: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    cases: Sequence[tuple[Any, ...]] = ((),)


@dataclass(frozen=True)
class Recipe:
    """What an exercise is for every seed; ``make`` draws the numbers."""

    name: str
    title: str
    expected: str
    hints: tuple[str, ...]
    signature: str
    tolerance: float
    make: Callable[[Draw], Problem]


def recipe(
    name: str, title: str, *, expected: str, hints: Sequence[str], signature: str = "", tolerance: float = 1e-3
) -> Callable[[Callable[[Draw], Problem]], Callable[[Draw], Problem]]:
    """Enter an exercise into the book. ``expected`` says shape and unit; with a ``signature`` the answer is a function."""

    def enter(make: Callable[[Draw], Problem]) -> Callable[[Draw], Problem]:
        BOOK[name] = Recipe(name, title, expected, tuple(hints), signature, tolerance, make)
        return make

    return enter


@dataclass(frozen=True, repr=False)
class Verdict(Report):
    """What `Exercise.check` says of an answer. It is true if the answer is right, and never contains the right numbers."""

    right: bool
    words: str

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        return block(f"<p>{_in_html(self.words)}</p>")


@dataclass(frozen=True, repr=False)
class Exercise(Report):
    """One student's exercise: ``given`` has the numbers, ``question`` says what is asked; `exercise` makes it.

    Attributes
    ----------
    name, seed, title, question
    given : the numbers of this seed by name, as attributes
    expected : shape and unit of the answer
    """

    name: str
    seed: int | str
    title: str
    question: str
    given: SimpleNamespace = field(repr=False)
    expected: str
    _recipe: Recipe = field(repr=False)
    _problem: Problem = field(repr=False)

    def __str__(self) -> str:
        return f"Exercise {self.name}, seed {self.seed}: {self.title}\n\n{self.question}\n\nExpected: {self._kind()}."

    def _repr_html_(self) -> str:
        """The question as a paragraph, for notebooks: words of a report are set as they are, and these lines are long."""
        head = f"<strong>Exercise {escape(self.name)}</strong>, seed {escape(str(self.seed))}: {escape(self.title)}"
        return block(f"<p>{head}</p><p>{_in_html(self.question)}</p><p>Expected: {_in_html(self._kind())}.</p>")

    @explained
    def hint(self, k: int = 1) -> str:
        """Hint number ``k``, from 1 on, in lines of 80 letters to print; each says more than the one before."""
        hints = self._recipe.hints
        if not 1 <= k <= len(hints):
            raise ArgumentError(
                f"`k` must be from 1 to {len(hints)}: exercise {self.name!r} has {len(hints)} hints, got {k}."
            )
        return fill(f"Hint {k} of {len(hints)}: {hints[k - 1]}", 80)

    @explained
    def check(self, answer: Any) -> Verdict:
        """Whether ``answer`` is right. A wrong one is compared with those of common mistakes, and the mistake is named.

        Parameters
        ----------
        answer : numbers of the expected shape and unit, or the function that is asked for

        Returns
        -------
        Verdict, which is true or false, and says in words what was expected in kind. It has no numbers of the answer.
        """
        cases = self._problem.cases
        if self._recipe.signature and not callable(answer):
            raise ArgumentTypeError(
                f"`answer` must be the function itself, {self._recipe.signature}, got {type(answer).__name__}. "
                "Pass its name without parentheses."
            )
        with backend("numpy"):  # a few states of ever new robots: compiling would take longer
            want = [np.asarray(self._problem.right(*case), float) for case in cases]
        values = []
        for case, expected in zip(cases, want, strict=True):
            try:
                value = answer(*(np.copy(x) for x in case)) if self._recipe.signature else answer
                values.append(_numbers(value))
            except Exception as error:  # whatever a student's function does is theirs to read, not ours to pass on
                what = f"{self._recipe.signature} raised" if self._recipe.signature else "these are no numbers:"
                return Verdict(False, f"Not yet: {what} {type(error).__name__}: {error}. Expected: {self._kind()}.")
            if values[-1].shape != expected.shape:
                return Verdict(
                    False, f"Not yet: the answer has the shape {values[-1].shape}. Expected: {self._kind()}."
                )
            if not np.isfinite(values[-1]).all():
                return Verdict(False, f"Not yet: the answer has numbers that are not finite. Expected: {self._kind()}.")
        scale = _largest(want)
        if self._same(values, want, scale):
            return Verdict(True, f"Right: exercise {self.name}, seed {self.seed}.")
        return Verdict(False, f"Not yet. {self._advice(values, want)}Expected: {self._kind()}.")

    def _kind(self) -> str:
        """Shape, unit and tolerance of the answer, in words."""
        tolerance = self._recipe.tolerance
        if self._recipe.signature:
            return (
                f"a function `{self._recipe.signature}` that returns {self.expected}; it is tried at {len(self._problem.cases)} "
                f"states and must be right to {tolerance:g} of the largest number"
            )
        size = "" if self.expected.startswith("one number") else " of the largest number"
        return f"{self.expected}; right to {100 * tolerance:g} %{size} is good enough"

    def _same(self, values: Sequence[np.ndarray], others: Sequence[np.ndarray], scale: float) -> bool:
        return all(np.abs(x - y).max() <= self._recipe.tolerance * scale for x, y in zip(values, others, strict=True))

    def _advice(self, values: Sequence[np.ndarray], want: Sequence[np.ndarray]) -> str:
        scale = _largest(want)
        with backend("numpy"):
            for words, wrong in self._problem.mistakes.items():
                if self._same(values, [np.asarray(wrong(*case), float) for case in self._problem.cases], scale):
                    return f"{words} "
        for words, change in GENERAL_MISTAKES.items():
            if all(change(x) is not None for x in want) and self._same(values, [change(x) for x in want], scale):  # type: ignore[misc]
                return f"{words} "
        return _which_agree(values, want, self._recipe.tolerance)


def _numbers(answer: Any) -> np.ndarray:
    if answer is None:
        raise TypeError("None. Is a return missing?")
    if np.iscomplexobj(answer):
        raise TypeError("complex numbers; real ones are asked for")
    return np.asarray(answer, float)


def _in_html(words: str) -> str:
    """Words with names in backquotes as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(words))


def _largest(values: Sequence[np.ndarray]) -> float:
    return max(float(np.abs(x).max()) for x in values)


def _exchanged(x: np.ndarray) -> np.ndarray | None:
    return np.concatenate([x[3:], x[:3]]) if x.shape == (6,) else None


def _transposed(x: np.ndarray) -> np.ndarray | None:
    return x.T if x.ndim == 2 and x.shape[0] == x.shape[1] else None


GENERAL_MISTAKES: dict[str, Callable[[np.ndarray], np.ndarray | None]] = {
    "Every number has the opposite sign.": lambda x: -x,
    "The two halves are exchanged: the order here is (angular, linear), and (moment, force).": _exchanged,
    "This is the transpose.": _transposed,
    "Every number is twice what it should be.": lambda x: 2 * x,
    "Every number is half of what it should be.": lambda x: x / 2,
    "This is in degrees; angles here are in radians.": lambda x: np.degrees(x),
}


def _which_agree(values: Sequence[np.ndarray], want: Sequence[np.ndarray], tolerance: float) -> str:
    """How many numbers agree, and which entries do not."""
    if want[0].ndim == 0:
        return ""
    scale = _largest(want)
    wrong = sum(np.abs(x - y) > tolerance * scale for x, y in zip(values, want, strict=True)) > 0
    if wrong.all():
        return "No entry is right at all states. " if len(want) > 1 else "No entry is right. "
    places = ", ".join(str(list(map(int, place))) for place in np.argwhere(wrong)[:4])
    right = int((~wrong).sum())
    return f"{right} of {wrong.size} entries {'is' if right == 1 else 'are'} right; look at {places} (counted from 0). "


@explained
def exercise(name: str, seed: int | str) -> Exercise:
    """An exercise with the numbers of one student.

    Parameters
    ----------
    name : str, one of `names`, for instance ``"9.1/energy"``
    seed : int or str, for instance a student's number; the same seed gives the same numbers on every machine

    Returns
    -------
    Exercise, with ``given``, ``check(answer)`` and ``hint(k)``.
    """
    refuse_unknown_word("name", name, names())
    if isinstance(seed, bool) or not isinstance(seed, int | str):
        raise ArgumentTypeError(f"`seed` must be an int or a str, got {type(seed).__name__}.")
    asked = BOOK[name]
    problem = asked.make(Draw(name, seed))
    return Exercise(
        name, seed, asked.title, problem.question, SimpleNamespace(**problem.given), asked.expected, asked, problem
    )


@explained
def names(section: str | None = None) -> list[str]:
    """Names of all exercises, or of those of one section, as ``"9.1"`` or ``"1993"``.

    Parameters
    ----------
    section : str or None

    Returns
    -------
    list of str
    """
    sections = list(dict.fromkeys(name.partition("/")[0] for name in BOOK))
    if section is not None:
        refuse_unknown_word("section", section, sections)
    return [name for name in BOOK if section in (None, name.partition("/")[0])]


@explained
def solves(name: str, solution: Callable[[SimpleNamespace], Any], *, seeds: int = 5) -> bool:
    """Whether a solution, a function of what is given, passes the check for the seeds 0, 1, …

    Parameters
    ----------
    name : str, one of `names`
    solution : function of ``exercise.given`` that returns the answer
    seeds : int, how many

    Returns
    -------
    bool
    """
    return all(task.check(solution(task.given)) for task in (exercise(name, seed) for seed in range(seeds)))
