"""Machine code of `nearest_point`: the same algorithm, line by line, in the small language of the compiler.

A *workspace* is a block of words, of which `WORKSPACE` has the names: counts, and addresses of arrays. Rows of Y, Q and R are
padded with zeros to whole groups of eight.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from torsor.compiler.print.llvm import Module
from torsor.compiler.print.words import Word, module
from torsor.compiler.run import engine
from torsor.compiler.run.cache import Source, machine_code
from torsor.compiler.run.fast_entry_arguments import Fields
from torsor.motion.optimal_motions.reals_in_code import LANES, Numeric, Real, declared

WORKSPACE = (
    "unknowns", "known", "groups", "room", "Y", "above", "below", "equal", "taken", "start", "point", "guess", "sides", "guessed",
    "Q", "R", "way", "parts", "shares", "multipliers", "rows", "signs", "count", "changes", "most",
)  # fmt: skip
DONE, CONTRADICTION, UNFINISHED = 0, 1, 2
DEPENDENT = 1e-7  # part of a row that others do not have, below which it depends on them
KEPT = (
    1e-11  # by so much, in units of the scales, a row may be passed: less than the merit of the last steps can notice
)
DEAREST = 1e8  # a limit that costs more contradicts others
LEAST_SHARE = 1e-12
_WIDTH = 8 * LANES  # bytes of a group


class _Work:
    """The workspace as a function sees it."""

    def __init__(self, f: Numeric) -> None:
        self.f, self.fields = f, Fields(f, f.parameters[0], WORKSPACE)

    def __getattr__(self, name: str) -> Word:
        return getattr(self.fields, name)  # type: ignore[no-any-return]

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


def _split() -> Numeric:
    """(work): what of the row in ``way`` the active ones do not have, there, and in ``parts`` what they have, along Q."""
    f = Numeric("split", ["work"])
    w = _Work(f)
    f.clear(w.parts, w.room * 8)
    with f.loop(2), f.loop(w.count) as j:  # twice, for what rounding leaves after the first time
        part = f.dot(w.q(j), w.way, w.groups)
        f.add_multiple(w.way, -part, w.q(j), w.groups)
        f.write(w.parts, f.read(w.parts, j) + part, j)
    f.give(0)
    return f


def _solve_upper() -> Numeric:
    """(work): R shares = parts."""
    f = Numeric("solve_upper", ["work"])
    w = _Work(f)
    f.clear(w.shares, w.room * 8)
    left = f.variable(w.count)
    with f.while_(left):
        left.set(left.get() - 1)
        j = left.get()
        row = w.r(j)
        rest = f.read(w.parts, j) - f.dot(row, w.shares, w.long, j >> 3)
        f.write(w.shares, rest / f.read(row, j), j)
    f.give(0)
    return f


def _settle() -> Numeric:
    """(work): from the point to the nearest one where the active limits are met, and the multipliers of that way."""
    f = Numeric("settle", ["work"])
    w = _Work(f)
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
    f.call("solve_upper", f.parameters[0])
    with f.groups(w.long) as k:
        f.write_group(w.multipliers, f.read_group(w.multipliers, k) + f.read_group(w.shares, k), k)
    f.give(0)
    return f


def _append() -> Numeric:
    """(work, row, sign, size): one more active limit, which was split; the sign as bits."""
    f = Numeric("append", ["work", "row", "sign", "size"])
    w = _Work(f)
    _, i, sign, bits = f.parameters
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
    w.fields.set("count", k + 1)
    f.give(0)
    return f


def _drop() -> Numeric:
    """(work, j): the active limit j goes; rotations of neighbouring rows keep R triangular."""
    f = Numeric("drop", ["work", "j"])
    w = _Work(f)
    _, gone = f.parameters
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
    w.fields.set("count", last)
    f.give(0)
    return f


def _enter() -> Numeric:
    """(work, row, sign): move until a limit is kept, letting others go whose multipliers become zero; 0 if that cannot be."""
    f = Numeric("enter", ["work", "row", "sign"])
    w = _Work(f)
    work, i, bits = f.parameters
    sign, zero, infinite = _real(f, bits), f.number(0.0), f.number(float("inf"))
    bound, own, more = _bound(w, i, sign), f.real_variable(zero), f.variable(1)
    whole = f.dot(w.y(i), w.y(i), w.groups) * f.number(DEPENDENT**2)
    with f.while_(more):
        _take(f, w, i, sign)
        f.call("split", work)
        f.call("solve_upper", work)
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
        arrives = (until.get() < reach) == Word(f, "false", "i1")
        length = f.either(arrives, reach, until.get())
        with f.when((length < infinite) == Word(f, "false", "i1")):
            f.give(0)
        with f.when(moves):
            f.add_multiple(w.point, -length, w.way, w.groups)
        f.add_multiple(w.multipliers, -length, w.shares, w.long)
        own.set(own.get() + length)
        with f.when(own.get() > f.number(DEAREST)):
            f.give(0)
        with f.when(arrives):
            f.write(w.multipliers, own.get(), w.count)
            f.call("append", work, i, bits, _bits_of(f, size))
            f.give(1)
        f.call("drop", work, first.get())
    f.give(0)
    return f


def _begin() -> Numeric:
    """(work): the guessed limits become active, but for those that depend on others or would have multipliers below zero."""
    f = Numeric("begin", ["work"])
    w = _Work(f)
    work = f.parameters[0]
    with f.loop(w.guessed) as k:
        i = f.load(w.guess, k)
        bits = f.load(w.sides, k)
        _take(f, w, i, _real(f, bits))
        whole = f.dot(w.way, w.way, w.groups) * f.number(DEPENDENT**2)
        f.call("split", work)
        size = f.dot(w.way, w.way, w.groups)
        with f.when((size > whole) & (w.count < w.unknowns)):
            f.call("append", work, i, bits, _bits_of(f, size))
    more = f.variable(1)
    with f.while_(more):
        f.copy(w.point, w.start, w.groups * _WIDTH)
        f.clear(w.multipliers, w.room * 8)
        f.call("settle", work)
        least, worst = f.real_variable(f.number(0.0)), f.variable(0)
        more.set(0)
        with f.loop(w.count) as j:
            own = f.read(w.multipliers, j)
            with f.when((own < least.get()) & (f.load(w.equal, f.load(w.rows, j)) == 0)):
                least.set(own)
                worst.set(j)
                more.set(1)
        with f.when(more.get() != 0):
            f.call("drop", work, worst.get())
    f.give(0)
    return f


def _approach() -> Numeric:
    """(work): the nearest point within all known limits. `DONE`, `CONTRADICTION`, or `UNFINISHED` after ``most`` changes."""
    f = Numeric("approach", ["work"], internal=False)
    w = _Work(f)
    work = f.parameters[0]
    with f.when(w.guessed != 0):
        f.call("begin", work)
        w.fields.set("guessed", 0)
    w.fields.set("changes", 0)
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
            w.fields.set("changes", w.changes + 1)
            with f.when(f.call("enter", work, row.get(), _bits_of(f, side.get())) == 0):
                f.give(CONTRADICTION)
    with f.loop(2):
        f.call("settle", work)
    f.give(DONE)
    return f


def _bound(w: _Work, i: Word, sign: Real) -> Real:
    """What sign · y is to be at most."""
    f = w.f
    return f.either(sign > f.number(0.0), f.read(w.above, i), -f.read(w.below, i))


def _take(f: Numeric, w: _Work, i: Word, sign: Real) -> None:
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


def _text(fma: bool) -> str:
    parts = (_split, _solve_upper, _settle, _append, _drop, _enter, _begin, _approach)
    return module([part() for part in parts], *declared(fma))


@cache
def approach() -> Any:
    """The compiled function, of the address of a workspace."""
    text = _text(engine.host_target().fma)
    source = Source(Module((text,), 0, optimised=True), {})
    native = machine_code(f"nearest point|{text}", ["approach"], lambda: source).native
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(native.address("approach"))
    call.native = native  # type: ignore[attr-defined]  # lives as long as the function
    return call
