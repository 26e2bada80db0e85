"""The operations on arrays that ``lie``, ``mechanics`` and ``geometry`` are written with, and no others.

Each is one small-array operation in NumPy and JAX and a handful of scalar nodes in a traced array. All of them
broadcast over leading batch axes. Comparisons (``a > b``), ``+ - * /`` and static indexing are the arrays' own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy

from torsor.arrays import exact
from torsor.arrays.foreign import refuse_foreign
from torsor.arrays.typing import Array


def namespace(*values: Any) -> Any:
    """The module whose functions work on all of ``values``: numpy, unless one of them belongs elsewhere."""
    for value in values:
        if type(value) is not numpy.ndarray and type(value) is not float:
            ask = getattr(value, "__array_namespace__", None)
            if ask is not None and (xp := ask()) is not numpy:
                return xp
    return numpy


def is_concrete(*values: Any) -> bool:
    """True when every value is plain numbers (NumPy or Python), so that its content may be inspected."""
    for value in values:  # a loop, for this is asked of every number of a file
        if not isinstance(value, (numpy.ndarray, numpy.generic, int, float)) and namespace(value) is not numpy:
            return False
    return True


_YZX, _ZXY = numpy.array([1, 2, 0]), numpy.array([2, 0, 1])


def _arithmetic(*values: Array) -> Any:
    """Whose rounding applies: that of the array library, or exact arithmetic for plain numbers that are constants."""
    xp = namespace(*values)
    return exact.PRIMITIVES if xp is numpy and exact.is_exact() else xp


def sin(x: Array) -> Array:
    """Sine, elementwise."""
    return _arithmetic(x).sin(x)


def cos(x: Array) -> Array:
    """Cosine, elementwise."""
    return _arithmetic(x).cos(x)


def sqrt(x: Array) -> Array:
    """Square root, elementwise."""
    return namespace(x).sqrt(x)


def atan2(y: Array, x: Array) -> Array:
    """Angle of the point (x, y), elementwise, in (−π, π]."""
    return _arithmetic(y, x).arctan2(y, x)


def absolute(x: Array) -> Array:
    """Absolute value, elementwise."""
    return namespace(x).abs(x)


def sign(x: Array) -> Array:
    """−1, 0 or 1, elementwise."""
    return namespace(x).sign(x)


def tanh(x: Array) -> Array:
    """Hyperbolic tangent, elementwise."""
    return _arithmetic(x).tanh(x)


def where(condition: Array, yes: Array, no: Array) -> Array:
    """``yes`` where the condition holds, else ``no``; the only way to branch on a value."""
    return namespace(condition, yes, no).where(condition, yes, no)


def transpose(A: Array) -> Array:
    """Matrix transpose of the last two axes."""
    return namespace(A).swapaxes(A, -1, -2)


def permute(x: Array, order: Sequence[int]) -> Array:
    """The last axes in another order: axis k of the result is axis ``order[k]`` of them."""
    first = len(x.shape) - len(order)
    return namespace(x).transpose(x, (*range(first), *(first + k for k in order)))


def reshape(x: Array, rank: int, *shape: int) -> Array:
    """The last ``rank`` axes as axes of these sizes."""
    return namespace(x).reshape(x, (*x.shape[: len(x.shape) - rank], *shape))


def matvec(A: Array, x: Array) -> Array:
    """A x, (..., m, n) times (..., n)."""
    return _arithmetic(A, x).matvec(A, x)


def matmul(A: Array, B: Array) -> Array:
    """A B, (..., m, k) times (..., k, n)."""
    return _arithmetic(A, B).matmul(A, B)


def looped_matmul(A: Array, B: Array) -> Array:
    """A B. Where that is traced, a loop of its program as soon as there are some hundred products.

    Machine code written out waits for memory where a program is made of products of full matrices, and takes minutes to compile.
    """
    own = getattr(namespace(A, B), "looped_matmul", None)
    return matmul(A, B) if own is None else own(A, B)


def dot(x: Array, y: Array) -> Array:
    """xᵀ y over the last axis."""
    return _arithmetic(x, y).vecdot(x, y)


def outer(x: Array, y: Array) -> Array:
    """x yᵀ, (..., m) and (..., n) to (..., m, n)."""
    return x[..., :, None] * y[..., None, :]


def take(x: Array, indices: Any) -> Array:
    """Entries of the last axis by constant indices; an index matrix makes a matrix of entries."""
    if type(x) is numpy.ndarray:  # its own method: numpy.take costs several times the work
        return x.take(indices, axis=-1)
    # In 32 bits whatever the precision: JAX keeps constants of 64 as it first met them, with the precision of then
    return namespace(x).take(x, numpy.asarray(indices, numpy.int32), axis=-1)


def cross(x: Array, y: Array) -> Array:
    """x × y of 3-vectors."""
    if (xp := _arithmetic(x, y)) is exact.PRIMITIVES:
        return xp.cross(x, y)
    if type(x) is type(y) is numpy.ndarray:  # the same products in the same differences, with one permutation less
        return (x * y.take(_YZX, axis=-1) - x.take(_YZX, axis=-1) * y).take(_YZX, axis=-1)
    return take(x, _YZX) * take(y, _ZXY) - take(x, _ZXY) * take(y, _YZX)


def parts(*sizes: int) -> list[slice]:
    """The places of vectors of these sizes that lie one after the other."""
    ends = list(accumulate(sizes))
    return [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]


def by_rows(function: Callable[..., Array], *arrays: Array) -> Array:
    """``function`` of vectors (..., m), which gives one, for all rows of arrays (..., K, m).

    Where that is traced and the rows are many, it is compiled once and called for each.
    """
    own = getattr(namespace(*arrays), "by_rows", None)
    return function(*arrays) if own is None else own(function, *arrays)


def along(function: Callable[..., Array], state: Array, *arrays: Array) -> Array:
    """Rows (..., K, r) that ``function(state, *rows)`` gives one after the other; the first numbers of each are the next state.

    For instance the positions that some steps lead to: ``along(lambda x, step: x + step, start, steps)``. Where that is
    traced, the function is compiled once, and a loop runs over the rows of ``arrays`` (..., K, m). Numbers that are the same
    in all rows, zeros above all, are constants in it.
    """
    own = getattr(namespace(state, *arrays), "along", None)
    if own is not None:
        return own(function, state, *arrays)
    size, rows = numpy.shape(state)[-1], []
    for k in range(numpy.shape(arrays[0])[-2]):
        rows.append(function(state, *(x[..., k, :] for x in arrays)))
        state = rows[-1][..., :size]
    return stack_vectors(rows)


def stack(parts: Sequence[Array]) -> Array:
    """Parts of any common batch shape as entries of a new last axis."""
    xp = namespace(*parts)
    shapes = {numpy.shape(part) for part in parts}
    if len(shapes) > 1:
        common = numpy.broadcast_shapes(*shapes)
        if xp is numpy:
            return _written([(k, part) for k, part in enumerate(parts)], (*common, len(parts)))
        parts = [xp.broadcast_to(part, common) for part in parts]
    if xp is numpy:  # several times faster than numpy.stack for the handful of numbers that is usual here
        return numpy.moveaxis(numpy.asarray(parts), 0, -1) if numpy.ndim(parts[0]) else numpy.asarray(parts)
    return xp.stack(parts, axis=-1)


def concat(parts: Sequence[Array], axis: int = -1) -> Array:
    """Join along the last axis (or ``axis=-2``), broadcasting all others."""
    if len(parts) == 1:
        return parts[0]
    xp = namespace(*parts)
    rest = [part.shape[:-1] for part in parts] if axis == -1 else [_without(part.shape, axis) for part in parts]
    if rest.count(rest[0]) != len(rest):
        common = numpy.broadcast_shapes(*rest)
        if xp is numpy and axis == -1:
            ends = list(accumulate(part.shape[-1] for part in parts))
            places = [slice(end - part.shape[-1], end) for end, part in zip(ends, parts, strict=True)]
            return _written(list(zip(places, parts, strict=True)), (*common, ends[-1]))
        parts = [xp.broadcast_to(part, _with(common, axis, part.shape[axis])) for part in parts]
    return xp.concatenate(parts, axis=axis)


def _written(parts: Sequence[tuple[int | slice, Array]], shape: tuple[int, ...]) -> Array:
    """A plain array with parts of fewer batch axes at places of its last one: NumPy broadcasts several times faster so."""
    found = numpy.empty(shape, numpy.result_type(*(numpy.asarray(part) for _, part in parts)))
    for place, part in parts:
        found[..., place] = part
    return found


def block(rows: Sequence[Sequence[Array]]) -> Array:
    """A matrix from rows of blocks, each (..., m_i, n_j)."""
    return concat([concat(row) for row in rows], axis=-2)


def stack_matrices(parts: Sequence[Array]) -> Array:
    """Matrices (..., m, n) as entries of a new axis in front of the last two: (..., k, m, n)."""
    xp = namespace(*parts)
    if xp is numpy and {part.shape for part in parts} == {parts[0].shape[-2:]}:
        return numpy.array(parts)  # several times faster than numpy.stack
    common = numpy.broadcast_shapes(*(part.shape for part in parts))
    return xp.stack([xp.broadcast_to(part, common) for part in parts], axis=-3)


def stack_vectors(parts: Sequence[Array]) -> Array:
    """Vectors (..., m) as entries of a new axis in front of the last: (..., k, m)."""
    if namespace(*parts) is numpy and {part.shape for part in parts} == {parts[0].shape[-1:]}:
        return numpy.array(parts)
    return concat([part[..., None, :] for part in parts], axis=-2)


def matrix(rows: Sequence[Sequence[Array]]) -> Array:
    """A small matrix from its entries."""
    return stack_vectors([stack(row) for row in rows])


def constant(values: Any) -> Array:
    """A table of numbers or indices that never changes."""
    return numpy.array(values)


def identity(n: int) -> Array:
    """The n × n unit matrix, a constant."""
    return numpy.eye(n)


def zeros(*shape: int) -> Array:
    """Zeros, a constant; broadcasts against any batch."""
    return numpy.zeros(shape)


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    position = len(shape) + axis
    return shape[:position] + shape[position + 1 :]


def _with(shape: tuple[int, ...], axis: int, size: int) -> tuple[int, ...]:
    position = len(shape) + 1 + axis
    return (*shape[:position], size, *shape[position:])


def as_numbers(value: Any) -> Array:
    """``value`` as an array of floating-point numbers; JAX's and traced ones pass unchanged, other libraries' are refused.

    Lists and arrays of objects that hold numbers of other libraries (a length that is differentiated, say) become one array
    of that library.
    """
    if namespace(value) is not numpy:
        return value
    if type(value) is not numpy.ndarray:
        refuse_foreign(value)
    try:
        array = numpy.asarray(value)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"not real numbers: {array.dtype}")
    except TypeError:
        if not is_foreign(parts := value.tolist() if isinstance(value, numpy.ndarray) else value):
            raise
        return _joined([as_numbers(part) for part in parts]) if isinstance(parts, (list, tuple)) else parts
    return array if array.dtype.kind == "f" else array.astype(numpy.float64)


def known_numbers(value: Any) -> Array:
    """``value`` as a NumPy array of float64 wherever its numbers are known, also if it is JAX's; else as `as_numbers`."""
    numbers = as_numbers(value)
    try:
        known = numpy.asarray(numbers)
    except TypeError:  # JAX's word for numbers that it is differentiating, or has not yet
        return numbers
    return known.astype(numpy.float64) if known.dtype.kind in "fiub" else numbers


def is_foreign(value: Any) -> bool:
    """Whether this is an array of another library, or such numbers are somewhere in nested lists or an array of objects."""
    if isinstance(value, (list, tuple)):
        return any(map(is_foreign, value))
    if isinstance(value, numpy.ndarray):
        return value.dtype.hasobject and any(map(is_foreign, value.ravel().tolist()))
    return namespace(value) is not numpy


def _joined(parts: list[Array]) -> Array:
    """Numbers, vectors or matrices of equal shape as the rows of one array."""
    join = {0: stack, 1: stack_vectors, 2: stack_matrices}.get(len(parts[0].shape))
    if join is None or len({tuple(part.shape) for part in parts}) > 1:
        raise TypeError("not an array of numbers: its parts differ in shape")
    return join(parts)
