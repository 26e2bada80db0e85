"""Arrays that record what is done to them.

A `TracedArray` has a shape and a node for each entry, without batch. It answers to the primitives of `torsor.arrays`
through ``__array_namespace__`` and to the same functions of NumPy through NumPy's own protocols, so that ``np.sin`` in a
user's controller works. The trace records operations as executed, or simplifies each as it comes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np

from torsor.compiler.graph import TRUTH_VALUED, Graph, Op
from torsor.compiler.simplify import Rewriter
from torsor.errors import ArgumentError, ArgumentTypeError

Recorder = Graph | Rewriter  # what operations are told to
INSTEAD = "collect entries in a list and join them: np.stack([q[0], q[1]]) for numbers, np.concatenate for arrays."


class TracedArray:
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

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self.ids)))

    def __getitem__(self, index: Any) -> TracedArray:
        return TracedArray(self.graph, np.asarray(self.ids[index]))

    def __setitem__(self, index: Any, value: Any) -> None:
        raise ArgumentError(f"a traced array cannot be written into; {INSTEAD}")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """An array of objects, each a traced number: what ``np.array([q[0], q[1]])`` makes, and `_ids` takes."""
        if dtype is not None and np.dtype(dtype).kind != "O":
            raise ArgumentTypeError(f"traced numbers have no place in a NumPy array of {np.dtype(dtype)}; {INSTEAD}")
        objects = np.empty(self.shape, dtype=object)
        for place in np.ndindex(self.shape):
            objects[place] = TracedArray(self.graph, np.asarray(self.ids[place]))
        return objects

    def __bool__(self) -> bool:
        raise ArgumentError(
            "the value of a traced array is not known while tracing, so `if`, `while`, `and`, `or` cannot depend on it; "
            "use np.where(condition, yes, no)"
        )

    def __float__(self) -> float:
        raise ArgumentError("the value of a traced array is not known while tracing: float() and math need numbers")

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return NAMESPACE

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if kwargs.get("out") is not None:  # as in x += traced
            raise ArgumentError(
                f"the result of np.{ufunc.__name__} on traced numbers cannot be written into an array; {INSTEAD}"
            )
        handler = _HANDLERS.get(ufunc.__name__)
        if handler is None or method != "__call__" or kwargs:
            raise _unsupported(f"np.{ufunc.__name__}")
        return handler(*inputs)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        handler = _HANDLERS.get(function.__name__)
        if handler is None:
            raise _unsupported(f"np.{function.__name__}")
        return handler(*args, **kwargs)

    def sum(self, axis: int | None = None) -> TracedArray:
        """Sum over one axis, or all."""
        return _sum(self, axis)

    def reshape(self, *shape: Any) -> TracedArray:
        """The same entries in another shape."""
        return TracedArray(self.graph, self.ids.reshape(*shape))

    def __add__(self, other: Any) -> TracedArray:
        return _ADD(self, other)

    def __radd__(self, other: Any) -> TracedArray:
        return _ADD(other, self)

    def __sub__(self, other: Any) -> TracedArray:
        return _SUB(self, other)

    def __rsub__(self, other: Any) -> TracedArray:
        return _SUB(other, self)

    def __mul__(self, other: Any) -> TracedArray:
        return _MUL(self, other)

    def __rmul__(self, other: Any) -> TracedArray:
        return _MUL(other, self)

    def __truediv__(self, other: Any) -> TracedArray:
        return _DIV(self, other)

    def __rtruediv__(self, other: Any) -> TracedArray:
        return _DIV(other, self)

    def __neg__(self) -> TracedArray:
        return _NEG(self)

    def __pos__(self) -> TracedArray:
        return self

    def __abs__(self) -> TracedArray:
        return _HANDLERS["absolute"](self)

    def __pow__(self, exponent: Any) -> TracedArray:
        return _power(self, exponent)

    def __matmul__(self, other: Any) -> TracedArray:
        return _matmul(self, other)

    def __rmatmul__(self, other: Any) -> TracedArray:
        return _matmul(other, self)

    def __gt__(self, other: Any) -> TracedArray:
        return _GREATER(self, other)

    def __lt__(self, other: Any) -> TracedArray:
        return _GREATER(other, self)

    def __ge__(self, other: Any) -> TracedArray:
        return _GREATER_EQUAL(self, other)

    def __le__(self, other: Any) -> TracedArray:
        return _GREATER_EQUAL(other, self)

    def __eq__(self, other: Any) -> TracedArray:  # type: ignore[override]
        return _EQUAL(self, other)

    def __ne__(self, other: Any) -> TracedArray:  # type: ignore[override]
        return _NOT(_EQUAL(self, other))

    def __invert__(self) -> TracedArray:
        return _NOT(self)

    def __and__(self, other: Any) -> TracedArray:
        return _AND(self, other)

    def __or__(self, other: Any) -> TracedArray:
        return _OR(self, other)

    __hash__ = None  # type: ignore[assignment]


def numbers(graph: Recorder, value: Any) -> np.ndarray:
    """Nodes of an output; truth values become 1 and 0."""
    ids = _ids(graph, value)
    if any(graph.ops[node] in TRUTH_VALUED for node in ids.ravel().tolist()):
        ids = _SELECT(TracedArray(graph, ids), 1.0, 0.0).ids
    return ids


def _unsupported(name: str) -> ArgumentError:
    known = ", ".join(sorted(set(_HANDLERS)))
    return ArgumentError(f"{name} cannot be traced. What can be: + - * / @ [] comparisons, and {known}.")


def _graph_of(values: Sequence[Any]) -> Recorder:
    for value in values:
        if isinstance(value, TracedArray):
            return value.graph
    raise ArgumentError("no traced array among the arguments")


def _ids(graph: Recorder, value: Any) -> np.ndarray:
    """Nodes of a traced array, or of numbers taken as constants."""
    if isinstance(value, TracedArray):
        if value.graph is not graph:
            raise ArgumentError("arrays of two different traces cannot be combined")
        return value.ids
    numbers = np.asarray(value)
    entries = numbers.ravel().tolist()
    if numbers.dtype.kind not in "fiub" and not all(isinstance(x, (TracedArray, float, int)) for x in entries):
        raise ArgumentError(f"cannot trace {value!r:.60}: neither a number nor a traced array")
    flat = [int(_ids(graph, x)) if isinstance(x, TracedArray) else graph.constant(float(x)) for x in entries]
    return np.array(flat, dtype=np.int64).reshape(numbers.shape)


def _elementwise(op: Op) -> Callable[..., TracedArray]:
    def apply(*values: Any) -> TracedArray:
        graph = _graph_of(values)
        ids: Sequence[np.ndarray] = [_ids(graph, value) for value in values]
        shape = ids[0].shape
        for x in ids:
            if x.shape != shape:
                ids = np.broadcast_arrays(*ids)
                shape = ids[0].shape
                break
        node = graph.apply
        flat = [node(op, *arguments) for arguments in zip(*[x.ravel().tolist() for x in ids], strict=True)]
        return TracedArray(graph, np.array(flat, dtype=np.int64).reshape(shape))

    return apply


_ADD, _SUB, _MUL, _DIV, _NEG = (_elementwise(op) for op in (Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG))
_GREATER, _GREATER_EQUAL, _EQUAL = (_elementwise(op) for op in (Op.GREATER, Op.GREATER_EQUAL, Op.EQUAL))
_NOT, _AND, _OR, _SELECT = (_elementwise(op) for op in (Op.NOT, Op.AND, Op.OR, Op.SELECT))


def _power(x: Any, exponent: Any) -> TracedArray:
    if exponent == 2:
        return _MUL(x, x)
    if exponent == 0.5:
        return _HANDLERS["sqrt"](x)
    if isinstance(exponent, int) and exponent > 2:
        return _MUL(_power(x, exponent - 1), x)
    if exponent == 1:
        return x  # type: ignore[no-any-return]
    if exponent == -1:
        return _DIV(1.0, x)
    raise ArgumentError(f"x ** {exponent!r} cannot be traced; exponents 2, 3, …, 0.5, 1 and −1 can")


def _matmul(A: Any, B: Any) -> TracedArray:
    """A @ B as NumPy's matmul; products are summed from left to right."""
    graph = _graph_of((A, B))
    a, b = _ids(graph, A), _ids(graph, B)
    left, right = (a[None, :] if a.ndim == 1 else a), (b[:, None] if b.ndim == 1 else b)
    batch, rows, columns = left.shape[:-2], left.shape[-2], right.shape[-1]
    if batch != right.shape[:-2]:
        batch = np.broadcast_shapes(batch, right.shape[:-2])
        left = np.broadcast_to(left, (*batch, *left.shape[-2:]))
        right = np.broadcast_to(right, (*batch, *right.shape[-2:]))
    left, right = (x.reshape(prod(batch), *x.shape[-2:]) for x in (left, right))  # not −1: some have no columns
    node, flat = graph.apply, []
    for one, other in zip(left.tolist(), np.swapaxes(right, -1, -2).tolist(), strict=True):
        for row in one:
            for column in other:
                products = [node(Op.MUL, x, y) for x, y in zip(row, column, strict=True)]
                flat.append(_total(graph, products))
    ids = np.array(flat, dtype=np.int64).reshape((*batch, rows, columns))
    ids = ids[..., 0, :] if a.ndim == 1 else ids
    return TracedArray(graph, ids[..., 0] if b.ndim == 1 else ids)


def _total(graph: Recorder, nodes: list[int]) -> int:
    if not nodes:
        return graph.constant(0.0)
    total = nodes[0]
    for node in nodes[1:]:
        total = graph.apply(Op.ADD, total, node)
    return total


def _matvec(A: Any, x: Any) -> TracedArray:
    return _matmul(A, x[..., None])[..., 0]


def _vecdot(x: Any, y: Any) -> TracedArray:
    return _matmul(x[..., None, :], y[..., :, None])[..., 0, 0]


def _sum(x: TracedArray, axis: int | None = None) -> TracedArray:
    ids = x.ids.reshape(-1) if axis is None else np.moveaxis(x.ids, axis, -1)
    flat = [_total(x.graph, row) for row in ids.reshape(prod(ids.shape[:-1]), ids.shape[-1]).tolist()]
    return TracedArray(x.graph, np.array(flat, dtype=np.int64).reshape(ids.shape[:-1]))


def _mean(x: TracedArray, axis: int | None = None) -> TracedArray:
    total = _sum(x, axis)
    return _DIV(total, float(x.ids.size // max(1, total.ids.size)))


def _norm(x: TracedArray, ord: Any = None, axis: int | None = None) -> TracedArray:
    if ord not in (None, 2, "fro") or (ord == 2 and axis is None and x.ndim > 1):
        raise ArgumentError(f"np.linalg.norm of order {ord!r} cannot be traced; the root of a sum of squares can.")
    return _HANDLERS["sqrt"](_sum(_MUL(x, x), axis))


def _cross(x: Any, y: Any) -> TracedArray:
    """The cross product of vectors (..., 3)."""
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ArgumentError(f"np.cross can be traced for vectors (..., 3), got {x.shape} and {y.shape}.")
    after, before = [1, 2, 0], [2, 0, 1]
    return _SUB(_MUL(x[..., after], y[..., before]), _MUL(x[..., before], y[..., after]))


def _rearranged(function: Callable[..., np.ndarray]) -> Callable[..., Any]:
    """A NumPy function of one array that only moves entries about."""

    def apply(x: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(x, TracedArray):  # a constant among traced arrays
            return function(x, *args, **kwargs)
        return TracedArray(x.graph, function(x.ids, *args, **kwargs))

    return apply


def _joined(function: Callable[..., np.ndarray]) -> Callable[..., TracedArray]:
    """A NumPy function of several arrays that only moves entries about."""

    def apply(parts: Sequence[Any], *args: Any, **kwargs: Any) -> TracedArray:
        graph = _graph_of(parts)
        return TracedArray(graph, function([_ids(graph, part) for part in parts], *args, **kwargs))

    return apply


def _clip(x: Any, low: Any, high: Any) -> TracedArray:
    return _HANDLERS["minimum"](_HANDLERS["maximum"](x, low), high)


_HANDLERS: dict[str, Callable[..., TracedArray]] = {
    "add": _ADD,
    "subtract": _SUB,
    "multiply": _MUL,
    "divide": _DIV,
    "negative": _NEG,
    "positive": lambda x: x,
    "square": lambda x: _MUL(x, x),
    "power": _power,
    "sqrt": _elementwise(Op.SQRT),
    "sin": _elementwise(Op.SIN),
    "cos": _elementwise(Op.COS),
    "arctan2": _elementwise(Op.ATAN2),
    "absolute": _elementwise(Op.ABS),
    "minimum": _elementwise(Op.MIN),
    "maximum": _elementwise(Op.MAX),
    "sign": _elementwise(Op.SIGN),
    "tanh": _elementwise(Op.TANH),
    "clip": _clip,
    "greater": _GREATER,
    "greater_equal": _GREATER_EQUAL,
    "less": lambda x, y: _GREATER(y, x),
    "less_equal": lambda x, y: _GREATER_EQUAL(y, x),
    "equal": _EQUAL,
    "not_equal": lambda x, y: _NOT(_EQUAL(x, y)),
    "logical_not": _NOT,
    "logical_and": _AND,
    "logical_or": _OR,
    "where": _SELECT,
    "matmul": _matmul,
    "dot": _matmul,
    "matvec": _matvec,
    "vecdot": _vecdot,
    "sum": _sum,
    "mean": _mean,
    "norm": _norm,
    "cross": _cross,
    "hypot": lambda x, y: _HANDLERS["sqrt"](_ADD(_MUL(x, x), _MUL(y, y))),
    "swapaxes": _rearranged(np.swapaxes),
    "transpose": _rearranged(np.transpose),
    "moveaxis": _rearranged(np.moveaxis),
    "reshape": _rearranged(np.reshape),
    "ravel": _rearranged(np.ravel),
    "take": _rearranged(np.take),
    "broadcast_to": _rearranged(np.broadcast_to),
    "expand_dims": _rearranged(np.expand_dims),
    "squeeze": _rearranged(np.squeeze),
    "concatenate": _joined(np.concatenate),
    "stack": _joined(np.stack),
    "shape": lambda x: x.shape,
}
NAMESPACE = SimpleNamespace(
    **_HANDLERS, abs=_HANDLERS["absolute"], asarray=lambda x: x, __name__="torsor.compiler.traced_array"
)
