"""Arrays that record what is done to them.

A `TracedArray` has a shape and a node for each entry, without batch. It answers to the primitives of `torsor.arrays`
through ``__array_namespace__`` and to NumPy's functions through NumPy's own protocols, so that ``np.sin`` in a user's
controller works; `numpy_functions` has the table of them. The trace records operations as executed, or simplifies each as it
comes. Entries can be written: an array of nodes shares memory with its views just as NumPy's array would. Inputs cannot.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from numbers import Real
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from torsor.compiler.graph import Graph, Op, Product
from torsor.compiler.simplify import Rewriter
from torsor.errors import ArgumentError, ArgumentTypeError

Recorder = Graph | Rewriter  # what operations are told to
LOOPED = 4096  # products of a matrix product, from which on it becomes a loop
FEW = 128  # the same, where the program says that it is made of such products
DENSE = 0.25  # of all products, if fewer are not known to be zero it is written out, but for
SPARSE_MOST = 20_000  # of these
FRESH = (
    "make the array like an input of the function, as in np.zeros_like(q, shape=(3, 3)), np.zeros((3, 3), like=q) or "
    "np.array([q[0], q[1]], like=q)."
)
NUMBERS = "What needs numbers, as SciPy and np.random do, is to be called outside, and its result passed as an input."
NOT_KNOWN = "the value of a traced array is not known while tracing"
PLACES = (
    f"{NOT_KNOWN}, and so no index or count can be; np.where(mask, x, y) chooses, and np.interp(k, ks, table) looks up."
)
FUNCTIONS: dict[str, Callable[..., Any]] = {}  # what NumPy's functions do here, by name ("linalg.solve")
MAKERS = frozenset({"zeros", "ones", "empty", "full", "eye", "identity", "tri", "array", "asarray", "arange"})
OUTSIDE = "write it with functions that can (docs/compiling.md), or compute it outside and pass it as an input."
REFUSED: dict[str, str] = {}  # what to write instead of those that cannot be traced


def elementwise(op: Op, *, takes_truths: bool = False) -> Callable[..., TracedArray]:
    """One operation on arrays of numbers, or of truth values, number by number."""

    def apply(*values: Any) -> TracedArray:
        graph, take = graph_of(values), truths if takes_truths else numbers
        return TracedArray(graph, each(graph, op, [take(graph, value) for value in values]))

    return apply


def each(graph: Recorder, op: Op, ids: Sequence[np.ndarray]) -> np.ndarray:
    """The nodes of one operation on arrays of nodes, which broadcast."""
    shape = ids[0].shape
    if any(x.shape != shape for x in ids):
        shape = np.broadcast(*ids).shape
        ids = [x if x.shape == shape else np.zeros(shape, np.int64) + x for x in ids]  # sooner than `np.broadcast_to`
    entries = [x.ravel().tolist() for x in ids]
    if len(entries) == 2:
        flat = graph.each(op, *entries)
    else:
        flat = [graph.apply(op, *arguments) for arguments in zip(*entries, strict=True)]
    return np.array(flat, dtype=np.int64).reshape(shape)


def _swapped(function: Callable[..., TracedArray]) -> Callable[..., TracedArray]:
    return lambda x, y: function(y, x)


ADD, SUB, MUL, DIV, NEG = (elementwise(op) for op in (Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG))
GREATER, GREATER_EQUAL, EQUAL = (elementwise(op) for op in (Op.GREATER, Op.GREATER_EQUAL, Op.EQUAL))


def matmul(A: Any, B: Any) -> TracedArray:
    """A @ B as NumPy's matmul; products are summed from left to right."""
    return _matmul(A, B, LOOPED)


def looped_matmul(A: Any, B: Any) -> TracedArray:
    """The same, as a loop already if it is short: for programs that are made of products of full matrices."""
    return _matmul(A, B, FEW)


def _matmul(A: Any, B: Any, least: int) -> TracedArray:
    graph = graph_of((A, B))
    a, b = numbers(graph, A), numbers(graph, B)
    if not a.ndim or not b.ndim or a.shape[-1] != b.shape[-2 if b.ndim > 1 else -1]:
        raise ArgumentError(f"np.matmul: shapes {a.shape} and {b.shape} do not fit: rows of one, columns of the other.")
    left, right = (a[None, :] if a.ndim == 1 else a), (b[:, None] if b.ndim == 1 else b)
    batch, rows, columns = left.shape[:-2], left.shape[-2], right.shape[-1]
    if batch != right.shape[:-2]:
        batch = np.broadcast_shapes(batch, right.shape[:-2])
        left = np.broadcast_to(left, (*batch, *left.shape[-2:]))
        right = np.broadcast_to(right, (*batch, *right.shape[-2:]))
    left, right = (x.reshape(prod(batch), *x.shape[-2:]) for x in (left, right))  # not −1: some have no columns
    flat: list[int] = []
    for one, other in zip(left, right, strict=True):
        flat += _looped(graph, one, other, least) or _summed(graph, one.tolist(), other.T.tolist())
    ids = np.array(flat, dtype=np.int64).reshape((*batch, rows, columns))
    ids = ids[..., 0, :] if a.ndim == 1 else ids
    return TracedArray(graph, ids[..., 0] if b.ndim == 1 else ids)


def _summed(graph: Recorder, rows: list[list[int]], columns: list[list[int]]) -> list[int]:
    node, flat = graph.apply, []
    if not isinstance(graph, Rewriter):
        for row in rows:
            flat += [folded(graph, Op.ADD, graph.each(Op.MUL, row, column), 0.0) for column in columns]
        return flat
    zero = graph.zero  # products with it would be left out one by one
    for row in rows:
        places = [(k, x) for k, x in enumerate(row) if x != zero]
        for column in columns:
            products = [node(Op.MUL, x, column[k]) for k, x in places if column[k] != zero]
            flat.append(folded(graph, Op.ADD, products, 0.0))
    return flat


def _looped(graph: Recorder, A: np.ndarray, B: np.ndarray, least: int) -> list[int] | None:
    """A product as a block, if it is long; what is known to be zero stays so."""
    if A.size * B.shape[1] < least:
        return None
    zero = graph.constant(0.0)
    terms = np.not_equal(A, zero).astype(int) @ np.not_equal(B, zero).astype(int)
    if terms.sum() < max(least, min(DENSE * A.size * B.shape[1], SPARSE_MOST)):
        return None
    made = graph.block(Product(len(A), len(B), B.shape[1]), [*A.ravel().tolist(), *B.ravel().tolist()])
    return [x if known else zero for x, known in zip(made, terms.ravel().tolist(), strict=True)]


class TracedArray(NDArrayOperatorsMixin):
    """An array of graph nodes (or of truth values, after a comparison)."""

    __slots__ = ("graph", "ids")
    __array_priority__ = 100.0

    def __init__(self, graph: Recorder, ids: np.ndarray) -> None:
        self.graph, self.ids = graph, ids

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape, as NumPy's."""
        return self.ids.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.ids.ndim

    @property
    def size(self) -> int:
        """Number of entries."""
        return self.ids.size

    @property
    def T(self) -> TracedArray:
        """The transpose."""
        return TracedArray(self.graph, self.ids.T)

    @property
    def dtype(self) -> np.dtype[Any]:
        """What the entries will be when the graph is evaluated."""
        return np.dtype(np.float64)

    def __getattr__(self, name: str) -> Any:
        """NumPy's methods; and, for arrays of objects, its functions of one number: np.sin asks each entry for its sin."""
        if hasattr(np.ndarray, name) or isinstance(getattr(np, name, None), np.ufunc):
            if name in REFUSED:
                return lambda *args, **kwargs: _call(f"x.{name}()", name, args, kwargs)
            if name in FUNCTIONS:
                return functools.partial(FUNCTIONS[name], self)
        raise AttributeError(f"a traced array has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"<traced array {self.shape}>"

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[TracedArray]:
        return (self[k] for k in range(len(self.ids)))

    def __getitem__(self, index: Any) -> TracedArray:
        try:
            return TracedArray(self.graph, np.asarray(self.ids[index]))
        except (IndexError, ArgumentError):
            if not any(isinstance(part, TracedArray) for part in (index if isinstance(index, tuple) else (index,))):
                raise
        raise ArgumentError(
            f"{NOT_KNOWN}, and so neither x[mask] nor x[k] with a traced mask or k; write np.where(mask, x, 0.0), which keeps "
            "the shape, or np.interp(k, np.arange(len(x)), x)."
        )

    def __setitem__(self, index: Any, value: Any) -> None:
        if not self.ids.flags.writeable:
            raise ArgumentError(
                "an input of a traced function cannot be written into, since its caller keeps it, nor a view of one or what "
                "np.broadcast_to gives. "
                "Write q = q.copy() first; or q = q + 1.0 for q += 1.0."
            )
        if not isinstance(index, TracedArray):
            self.ids[index] = numbers(self.graph, value)
            return
        known = {node for node in index.ids.ravel().tolist() if self.graph.ops[node] is not Op.CONSTANT}
        fits = index.shape == self.shape[: index.ndim] and np.ndim(value) <= self.ndim - index.ndim
        if not fits or not known <= self.graph.truths:
            raise ArgumentError(
                f"{NOT_KNOWN}: x[mask] = y takes a mask of the shape of x, such as x > 0.0, and a number for y; else write "
                "x = np.where(mask, y, x)."
            )
        mask = index.ids.reshape(index.shape + (1,) * (self.ndim - index.ndim))
        self.ids[...] = FUNCTIONS["where"](TracedArray(self.graph, mask), value, self).ids

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """An array of objects, each a traced number: what ``np.array([q[0], q[1]])`` makes, and `nodes` takes."""
        if dtype is not None and np.dtype(dtype).kind != "O":
            words = f"traced numbers have no place in a NumPy array of {np.dtype(dtype)}; {FRESH} {NUMBERS}"
            raise ArgumentTypeError(PLACES if np.dtype(dtype).kind in "iu" else words)
        objects = np.empty(self.shape, dtype=object)
        for place in np.ndindex(self.shape):
            objects[place] = TracedArray(self.graph, np.asarray(self.ids[place]))
        return objects

    def __bool__(self) -> bool:
        raise ArgumentError(
            f"{NOT_KNOWN}, so `if`, `while`, `and`, `or`, min() and max() cannot depend on it; use np.where(condition, yes, no), "
            "`&` and `|`, np.minimum and np.maximum; the latter with np.array([q[0], q[1]], like=q), if numbers are in an array."
        )

    def __float__(self) -> float:
        raise ArgumentError(
            f"{NOT_KNOWN}: float() and math need numbers. Write np.sin(x) for math.sin(x), and leave float() out. {NUMBERS}"
        )

    def __int__(self) -> int:
        raise ArgumentError(
            f"{NOT_KNOWN}: int() needs a number; np.floor(x) rounds, np.where(condition, yes, no) chooses."
        )

    def __index__(self) -> int:
        raise ArgumentError(PLACES)

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return NAMESPACE

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", (None,))[0]
        if out is not None and not isinstance(out, TracedArray):  # as in x += traced
            raise ArgumentError(
                f"the result of np.{ufunc.__name__} on traced numbers cannot be written into a NumPy array; write x = x + y "
                f"for x += y; or {FRESH}"
            )
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        result = _call(f"np.{name}" if hasattr(np, ufunc.__name__) else name, name, inputs, kwargs)
        if out is None or not out.ndim:  # a number has no place: x += y makes another
            return result
        out[...] = result
        return out

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        name, own = function.__name__, f"linalg.{function.__name__}"
        if name not in MAKERS:
            words = f"{function.__module__}.{name}".replace("numpy", "np")
            return _call(words, own if words == f"np.{own}" and own in FUNCTIONS else name, args, kwargs)
        if name == "asarray" and isinstance(args[0], TracedArray):
            return args[0]
        make, kwargs = (np.zeros if name == "empty" else function), {k: x for k, x in kwargs.items() if k != "dtype"}
        return TracedArray(self.graph, numbers(self.graph, make(*args, **kwargs)).copy())

    # The operators that algorithms consist of, without NumPy in between; all others are its mixin's
    __add__, __radd__ = ADD, _swapped(ADD)
    __sub__, __rsub__ = SUB, _swapped(SUB)
    __mul__, __rmul__ = MUL, _swapped(MUL)
    __truediv__, __rtruediv__ = DIV, _swapped(DIV)
    __matmul__, __rmatmul__ = matmul, _swapped(matmul)
    __gt__, __lt__ = GREATER, _swapped(GREATER)
    __ge__, __le__ = GREATER_EQUAL, _swapped(GREATER_EQUAL)
    __neg__, __eq__ = NEG, EQUAL
    __hash__ = None  # type: ignore[assignment]


def _call(words: str, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    function = FUNCTIONS.get(name)
    if function is None or name in REFUSED:
        raise ArgumentError(f"{words} cannot be traced; {REFUSED.get(name, OUTSIDE)}")
    try:
        return function(*args, **kwargs)
    except TypeError:
        try:
            inspect.signature(function).bind(*args, **kwargs)
        except TypeError as error:
            raise ArgumentError(f"{words} of traced arrays: {error}. Write it without.") from None
        raise


def graph_of(values: Iterable[Any]) -> Recorder:
    """The graph of the traced arrays among values, and in lists among them."""
    for value in values:
        if isinstance(value, TracedArray):
            return value.graph
        if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.dtype.hasobject):
            try:
                return graph_of(value if isinstance(value, (list, tuple)) else value.ravel().tolist())
            except ArgumentError:
                continue
    raise ArgumentError("no traced array among the arguments")


def nodes(graph: Recorder, value: Any) -> np.ndarray:
    """Nodes of a traced array, or of numbers taken as constants."""
    if isinstance(value, TracedArray):
        if value.graph is not graph:
            raise ArgumentError("arrays of two different traces cannot be combined")
        return value.ids
    array = np.asarray(value)
    entries = array.ravel().tolist()
    if array.dtype.kind == "f":
        return np.array(list(map(graph.constant, entries)), dtype=np.int64).reshape(array.shape)
    if array.dtype.kind not in "iub" and not all(isinstance(x, (TracedArray, Real, np.bool_)) for x in entries):
        raise ArgumentError(f"cannot trace {value!r:.60}: neither a number nor a traced array")
    flat = [int(nodes(graph, x)) if isinstance(x, TracedArray) else graph.constant(float(x)) for x in entries]
    return np.array(flat, dtype=np.int64).reshape(array.shape)


def numbers(graph: Recorder, value: Any) -> np.ndarray:
    """Nodes of numbers: truth values become 1 and 0."""
    ids, known = nodes(graph, value), graph.truths
    if not known or known.isdisjoint(flat := ids.ravel().tolist()):
        return ids
    one, zero = graph.constant(1.0), graph.constant(0.0)
    flat = [graph.apply(Op.SELECT, x, one, zero) if x in known else x for x in flat]
    return np.array(flat, dtype=np.int64).reshape(ids.shape)


def truths(graph: Recorder, value: Any) -> np.ndarray:
    """Nodes of truth values: a number is true unless it is 0."""
    ids, known, zero, node = nodes(graph, value), graph.truths, graph.constant(0.0), graph.apply
    flat = [x if x in known else node(Op.NOT, node(Op.EQUAL, x, zero)) for x in ids.ravel().tolist()]
    return np.array(flat, dtype=np.int64).reshape(ids.shape)


def folded(graph: Recorder, op: Op, nodes: Sequence[int], empty: float) -> int:
    """One operation from the first node to the last."""
    if not nodes:
        return graph.constant(empty)
    total = nodes[0]
    for node in nodes[1:]:
        total = graph.apply(op, total, node)
    return total


NAMESPACE = SimpleNamespace(__name__="torsor.compiler.traced_array")  # as `numpy_functions` fills it
