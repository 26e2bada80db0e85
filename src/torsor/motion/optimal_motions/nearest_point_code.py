"""Machine code of `nearest_point`: the same algorithm, line by line, in the small language of the compiler.

A *workspace* is a block of words, of which `Work` has the names: counts, and addresses of arrays. Rows of Y, Q and R are
padded with zeros to whole groups of eight.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from torsor.compiler.print.words import Fields, Word, module
from torsor.compiler.run import engine
from torsor.compiler.run.cache import code_of_words
from torsor.motion.optimal_motions.reals_in_code import LANES, Numeric, Real, declared

DONE, CONTRADICTION, UNFINISHED = 0, 1, 2
DEPENDENT = 1e-7  # part of a row that others do not have, below which it depends on them
KEPT = (
    1e-11  # by so much, in units of the scales, a row may be passed: less than the merit of the last steps can notice
)
DEAREST = 1e8  # a limit that costs more contradicts others
LEAST_SHARE = 1e-12
_WIDTH = 8 * LANES  # bytes of a group


class Work(Fields):
    """The workspace as a function sees it."""

    function: Numeric
    names = (
        "unknowns", "known", "groups", "room", "Y", "above", "below", "equal", "taken", "start", "point", "guess", "sides",
        "guessed", "Q", "R", "way", "parts", "shares", "multipliers", "rows", "signs", "count", "changes", "most",
    )  # fmt: skip

    @property
    def long(self) -> Word:
        """Groups in a row of R, and in what there is one of for each active limit."""
        return self.room >> 3

    def y(self, row: Word) -> Word:
        """Where a known row is."""
        return self.Y + row * (self.groups * _WIDTH)

    def q(self, j: Word) -> Word:
        """Where a row of Q is."""
        return self.Q + j * (self.groups * _WIDTH)

    def r(self, j: Word) -> Word:
        """Where a row of R is."""
        return self.R + j * (self.room * 8)


def _split(f: Numeric, w: Work) -> None:
    """What of the row in ``way`` the active ones do not have, there, and in ``parts`` what they have, along Q."""
    f.clear(w.parts, w.room * 8)
    with f.loop(2), f.loop(w.count) as j:  # twice, for what rounding leaves after the first time
        part = f.dot(w.q(j), w.way, w.groups)
        f.add_multiple(w.way, -part, w.q(j), w.groups)
        f.write(w.parts, f.read(w.parts, j) + part, j)
    f.give(0)


def _solve_upper(f: Numeric, w: Work) -> None:
    """R shares = parts."""
    f.clear(w.shares, w.room * 8)
    left = f.variable(w.count)
    with f.while_(left):
        left.set(left.get() - 1)
        j = left.get()
        row = w.r(j)
        rest = f.read(w.parts, j) - f.dot(row, w.shares, w.long, j >> 3)
        f.write(w.shares, rest / f.read(row, j), j)
    f.give(0)


def _settle(f: Numeric, w: Work) -> None:
    """From the point to the nearest one where the active limits are met, and the multipliers of that way."""
    f.clear(w.parts, w.room * 8)
    with f.loop(w.count) as j:
        i, sign = f.load(w.rows, j), f.read(w.signs, j)
        f.write(w.parts, sign * f.dot(w.y(i), w.point, w.groups) - _bound(w, i, sign), j)
    with f.loop(w.count) as j:  # Rᵀ c = parts, and c goes on along Q
        row = w.r(j)
        c = f.read(w.parts, j) / f.read(row, j)
        f.add_multiple(w.parts, -c, row, w.long, j >> 3)
        f.write(w.parts, c, j)
        f.add_multiple(w.point, -c, w.q(j), w.groups)
    f.call(_solve_upper, w)
    with f.groups(w.long) as k:
        f.write_group(w.multipliers, f.read_group(w.multipliers, k) + f.read_group(w.shares, k), k)
    f.give(0)


def _append(f: Numeric, w: Work, i: Word, sign: Word, bits: Word) -> None:
    """One more active limit, which was split; its sign and size as bits."""
    size, k = f.root(_real(f, bits)), w.count
    f.clear(w.q(k), w.groups * _WIDTH)
    f.add_multiple(w.q(k), f.number(1.0) / size, w.way, w.groups)
    with f.loop(k) as j:
        f.write(w.r(j), f.read(w.parts, j), k)
    f.clear(w.r(k), w.room * 8)
    f.write(w.r(k), size, k)
    f.store(w.rows, i, k)
    f.store(w.signs, sign, k)
    f.store(w.taken, 1, i)
    w.set(count=k + 1)
    f.give(0)


def _drop(f: Numeric, w: Work, gone: Word) -> None:
    """An active limit goes; rotations of neighbouring rows keep R triangular."""
    last = w.count - 1
    f.store(w.taken, 0, f.load(w.rows, gone))
    with f.groups(last, gone) as j:
        for array in (w.rows, w.signs, w.multipliers):
            f.store(array, f.load(array, j + 1), j)
    f.store(w.multipliers, 0, last)
    with f.loop(w.count) as i:
        row = w.r(i)
        with f.groups(last, gone) as j:
            f.store(row, f.load(row, j + 1), j)
        f.store(row, 0, last)
    with f.groups(last, gone) as j:
        upper, lower = w.r(j), w.r(j + 1)
        a, b = f.read(upper, j), f.read(lower, j)
        length = f.root(a * a + b * b)
        cosine, sine = a / length, b / length
        _rotate(f, upper, lower, cosine, sine, w.long, j >> 3)
        f.write(lower, f.number(0.0), j)
        _rotate(f, w.q(j), w.q(j + 1), cosine, sine, w.groups, 0)
    w.set(count=last)
    f.give(0)


def _enter(f: Numeric, w: Work, i: Word, bits: Word) -> None:
    """Move until a limit, its sign as bits, is kept, letting others go whose multipliers become zero; 0 if that cannot be."""
    sign, zero, infinite = _real(f, bits), f.number(0.0), f.number(float("inf"))
    bound, own, more = _bound(w, i, sign), f.real_variable(zero), f.variable(1)
    whole = f.dot(w.y(i), w.y(i), w.groups) * f.number(DEPENDENT**2)
    with f.while_(more):
        _take(f, w, i, sign)
        f.call(_split, w)
        f.call(_solve_upper, w)
        size = f.dot(w.way, w.way, w.groups)
        first, until = f.variable(0), f.real_variable(infinite)
        with f.loop(w.count) as j:
            share = f.read(w.shares, j)
            with f.when((share > f.number(LEAST_SHARE)) & (f.load(w.equal, f.load(w.rows, j)) == 0)):
                ratio = f.read(w.multipliers, j) / share
                with f.when(ratio < until.get()):
                    until.set(ratio)
                    first.set(j)
        excess = sign * f.dot(w.y(i), w.point, w.groups) - bound
        moves = (size > whole) & (w.count < w.unknowns)
        reach = f.either(moves, excess / size, infinite)
        arrives = ~(until.get() < reach)
        length = f.either(arrives, reach, until.get())
        f.refuse_if(~(length < infinite))
        with f.when(moves):
            f.add_multiple(w.point, -length, w.way, w.groups)
        f.add_multiple(w.multipliers, -length, w.shares, w.long)
        own.set(own.get() + length)
        f.refuse_if(own.get() > f.number(DEAREST))
        with f.when(arrives):
            f.write(w.multipliers, own.get(), w.count)
            f.call(_append, w, i, bits, _bits_of(f, size))
            f.give(1)
        f.call(_drop, w, first.get())
    f.give(0)


def _begin(f: Numeric, w: Work) -> None:
    """The guessed limits become active, but for those that depend on others or would have multipliers below zero."""
    with f.loop(w.guessed) as k:
        i = f.load(w.guess, k)
        bits = f.load(w.sides, k)
        _take(f, w, i, _real(f, bits))
        whole = f.dot(w.way, w.way, w.groups) * f.number(DEPENDENT**2)
        f.call(_split, w)
        size = f.dot(w.way, w.way, w.groups)
        with f.when((size > whole) & (w.count < w.unknowns)):
            f.call(_append, w, i, bits, _bits_of(f, size))
    more = f.variable(1)
    with f.while_(more):
        f.copy(w.point, w.start, w.groups * _WIDTH)
        f.clear(w.multipliers, w.room * 8)
        f.call(_settle, w)
        least, worst = f.real_variable(f.number(0.0)), f.variable(0)
        more.set(0)
        with f.loop(w.count) as j:
            own = f.read(w.multipliers, j)
            with f.when((own < least.get()) & (f.load(w.equal, f.load(w.rows, j)) == 0)):
                least.set(own)
                worst.set(j)
                more.set(1)
        with f.when(more.get() != 0):
            f.call(_drop, w, worst.get())
    f.give(0)


def approach(f: Numeric, w: Work) -> None:
    """The nearest point within all known limits. `DONE`, `CONTRADICTION`, or `UNFINISHED` after ``most`` changes."""
    with f.when(w.guessed != 0):
        f.call(_begin, w)
        w.set(guessed=0)
    w.set(changes=0)
    more = f.variable(1)
    with f.while_(more):
        most, row, side = f.real_variable(f.number(KEPT)), f.variable(0), f.real_variable(f.number(1.0))
        more.set(0)
        with f.loop(w.known) as i, f.when(f.load(w.taken, i) == 0):
            moved = f.dot(w.y(i), w.point, w.groups)
            for excess, sign in (
                (moved - f.read(w.above, i), 1.0),
                (f.read(w.below, i) - moved, -1.0),
            ):
                with f.when(excess > most.get()):
                    most.set(excess)
                    row.set(i)
                    side.set(f.number(sign))
                    more.set(1)
        with f.when(more.get() != 0):
            with f.when(w.changes == w.most):
                f.give(UNFINISHED)
            w.set(changes=w.changes + 1)
            with f.when(f.call(_enter, w, row.get(), _bits_of(f, side.get())) == 0):
                f.give(CONTRADICTION)
    with f.loop(2):
        f.call(_settle, w)
    f.give(DONE)


def _bound(w: Work, i: Word, sign: Real) -> Real:
    """What sign · y is to be at most."""
    f = w.function
    return f.either(sign > f.number(0.0), f.read(w.above, i), -f.read(w.below, i))


def _take(f: Numeric, w: Work, i: Word, sign: Real) -> None:
    """A row with its sign into ``way``."""
    f.clear(w.way, w.groups * _WIDTH)
    f.add_multiple(w.way, sign, w.y(i), w.groups)


def _rotate(f: Numeric, a: Word, b: Word, cosine: Real, sine: Real, groups: Word, start: Word | int) -> None:
    """(a, b) → (cos a + sin b, cos b − sin a)."""
    c, s = f.spread(cosine), f.spread(sine)
    with f.groups(groups, start) as k:
        x, y = f.read_group(a, k), f.read_group(b, k)
        f.write_group(a, c * x + s * y, k)
        f.write_group(b, c * y - s * x, k)


def _real(f: Numeric, bits: Word) -> Real:
    return f.real(f"bitcast i64 {bits.text} to double")


def _bits_of(f: Numeric, x: Real) -> Word:
    return f.value(f"bitcast double {x.text} to i64")


@cache
def compiled_approach() -> Any:
    """The compiled function, of the address of a workspace."""
    text = module([approach], *declared(engine.host_target().fma), kind=Numeric)
    native = code_of_words("nearest point", text, ["approach"])
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(native.address("approach"))
    call.native = native  # type: ignore[attr-defined]  # lives as long as the function
    return call
