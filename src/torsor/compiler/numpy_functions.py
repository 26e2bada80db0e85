"""NumPy's functions of traced arrays: a table of what each does, and what to write instead of those that cannot be traced.

Functions that only move entries are NumPy's own, on the nodes, so that views stay views. Those that are sums of products, or fill
up with zeros, are NumPy's own too, on arrays of objects, each a traced number. Others are `written_out` with simpler ones.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from torsor.arrays import written_out
from torsor.compiler.graph import LIBRARY, Op
from torsor.compiler.traced_array import (
    FUNCTIONS,
    NAMESPACE,
    PLACES,
    REFUSED,
    Recorder,
    TracedArray,
    each,
    elementwise,
    folded,
    graph_of,
    matmul,
    nodes,
    numbers,
    truths,
)
from torsor.errors import ArgumentError

NOT, AND, OR = (elementwise(op, takes_truths=True) for op in (Op.NOT, Op.AND, Op.OR))
SQRT, ABS, FLOOR, POW = map(elementwise, (Op.SQRT, Op.ABS, Op.FLOOR, Op.POW))


def where(condition: Any, yes: Any = None, no: Any = None) -> TracedArray:
    """``yes`` where the condition holds, else ``no``."""
    if yes is None or no is None:
        raise ArgumentError(f"np.where(condition) cannot be traced; {REFUSED['nonzero']}")
    graph = graph_of((condition, yes, no))
    ids = [truths(graph, condition), numbers(graph, yes), numbers(graph, no)]
    return TracedArray(graph, each(graph, Op.SELECT, ids))


def _power(x: Any, exponent: Any) -> TracedArray:
    """Small whole exponents as products, which is what people mean by x**2."""
    if isinstance(exponent, TracedArray) or np.ndim(exponent) or np.asarray(exponent).dtype.hasobject:
        return POW(x, exponent)
    e = float(exponent)
    if abs(e) == 0.5:
        return SQRT(x) if e > 0.0 else 1.0 / SQRT(x)
    if not e.is_integer() or abs(e) > 8.0:
        return POW(x, e)
    product = _copy(x) if e else _full_like(x, 1.0)
    for _ in range(int(abs(e)) - 1):
        product = product * x
    return product if e >= 0.0 else 1.0 / product


def _astype(x: TracedArray, dtype: Any, copy: bool = True) -> TracedArray:
    """As whole numbers or truth values they are rounded or compared, and stay floating-point numbers."""
    kind = np.dtype(dtype).kind
    if kind not in "fiub":
        raise ArgumentError(f"a traced array holds real numbers, and none of type {np.dtype(dtype)}.")
    return _copy(x) if kind == "f" else written_out.trunc(x) if kind in "iu" else NOT(x == 0.0)


def _reduced(op: Op, empty: float | None) -> Callable[..., TracedArray]:
    """One operation over some axes, or all; ``empty``: of no numbers."""

    def apply(x: Any, axis: Any = None, *, keepdims: bool = False) -> TracedArray:
        ids = (truths if op in (Op.AND, Op.OR) else numbers)(x.graph, x)
        axes = tuple(range(ids.ndim)) if axis is None else normalize_axis_tuple(axis, ids.ndim)
        last = np.moveaxis(ids, axes, range(ids.ndim - len(axes), ids.ndim))
        shape, length = last.shape[: ids.ndim - len(axes)], math.prod(ids.shape[k] for k in axes)
        if empty is None and not length:
            raise ArgumentError("the largest and the smallest of no numbers are not defined.")
        rows = last.reshape(math.prod(shape), length).tolist()
        flat = np.array([folded(x.graph, op, row, empty or 0.0) for row in rows], dtype=np.int64).reshape(shape)
        return TracedArray(x.graph, np.expand_dims(flat, axes) if keepdims else flat)

    return apply


def _dot(A: Any, B: Any) -> TracedArray:
    if not np.ndim(A) or not np.ndim(B):
        return TracedArray.__mul__(A, B)
    return matmul(A, B) if np.ndim(A) <= 2 >= np.ndim(B) else _by_numbers(np.dot)(A, B)


def _copy(x: Any, *args: Any, **kwargs: Any) -> TracedArray:
    graph = graph_of((x,))
    return TracedArray(graph, nodes(graph, x).copy())


def _full_like(x: Any, value: Any, *args: Any, shape: Any = None, **kwargs: Any) -> TracedArray:
    graph = graph_of((x, value))
    return TracedArray(graph, np.broadcast_to(numbers(graph, value), np.shape(x) if shape is None else shape).copy())


def _reshape(x: TracedArray, *sizes: Any, shape: Any = None, order: Any = "C") -> TracedArray:
    return TracedArray(x.graph, x.ids.reshape(*(sizes if shape is None else (shape,)), order=order))


def _moved(function: Callable[..., Any]) -> Callable[..., Any]:
    """A NumPy function of one array that only moves entries about."""

    def apply(x: Any, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(place, TracedArray) for place in (*args, *kwargs.values())):
            raise ArgumentError(PLACES)
        if not isinstance(x, TracedArray):  # a constant among traced arrays
            return function(x, *args, **kwargs)
        found = function(x.ids, *args, **kwargs)
        if isinstance(found, (list, tuple)):
            return type(found)(TracedArray(x.graph, part) for part in found)
        return TracedArray(x.graph, found)

    return apply


def _joined(function: Callable[..., np.ndarray]) -> Callable[..., TracedArray]:
    """A NumPy function of several arrays that only moves entries about."""

    def apply(parts: Iterable[Any], *args: Any, **kwargs: Any) -> TracedArray:
        graph = graph_of(parts := list(parts))
        return TracedArray(graph, function([numbers(graph, part) for part in parts], *args, **kwargs))

    return apply


def _by_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """A NumPy function that adds, multiplies and fills up, on arrays of traced numbers."""

    def objects(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(map(objects, value))
        return np.asarray(value) if isinstance(value, TracedArray) else value

    def traced(graph: Recorder, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(traced(graph, part) for part in value)
        return TracedArray(graph, nodes(graph, value))

    def apply(*args: Any, **kwargs: Any) -> Any:
        graph = graph_of((*args, *kwargs.values()))
        return traced(graph, function(*map(objects, args), **{key: objects(x) for key, x in kwargs.items()}))

    return apply


def _written(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `written_out`, which takes arrays and no lists."""

    def array(graph: Recorder, value: Any) -> Any:
        if isinstance(value, (list, tuple, np.ndarray)):
            value = np.asarray(value)
            return TracedArray(graph, nodes(graph, value)) if value.dtype.hasobject else value
        return value

    @functools.wraps(function)  # with its signature
    def apply(*args: Any, **kwargs: Any) -> Any:
        graph = graph_of((*args, *kwargs.values()))
        given = [array(graph, x) for x in args]
        return function(*given, **{key: array(graph, x) if key != "axis" else x for key, x in kwargs.items()})

    return apply


FUNCTIONS |= {
    "add": TracedArray.__add__,
    "subtract": TracedArray.__sub__,
    "multiply": TracedArray.__mul__,
    "divide": TracedArray.__truediv__,
    "negative": TracedArray.__neg__,
    "sin": elementwise(Op.SIN),
    "cos": elementwise(Op.COS),
    "sqrt": SQRT,
    "absolute": ABS,
    "fabs": ABS,
    "sign": elementwise(Op.SIGN),
    "floor": FLOOR,
    "minimum": elementwise(Op.MIN),
    "maximum": elementwise(Op.MAX),
    **{name: elementwise(op) for op, (_, name) in LIBRARY.items()},
    "power": _power,
    "float_power": _power,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x,
    "exp2": lambda x: POW(2.0, x),
    "log2": lambda x: np.log(x) / math.log(2.0),
    "log10": lambda x: np.log(x) / math.log(10.0),
    "tan": lambda x: np.sin(x) / np.cos(x),
    "arctan": lambda x: np.arctan2(x, 1.0),
    "ceil": lambda x: -FLOOR(-x),
    "divmod": lambda x, y: (np.floor_divide(x, y), np.remainder(x, y)),
    **dict.fromkeys(("radians", "deg2rad"), lambda x: x * (math.pi / 180.0)),
    **dict.fromkeys(("degrees", "rad2deg"), lambda x: x * (180.0 / math.pi)),
    # Comparisons and choices
    "greater": TracedArray.__gt__,
    "greater_equal": TracedArray.__ge__,
    "less": lambda x, y: np.greater(y, x),
    "less_equal": lambda x, y: np.greater_equal(y, x),
    "equal": TracedArray.__eq__,
    "not_equal": lambda x, y: NOT(np.equal(x, y)),
    **dict.fromkeys(("logical_not", "invert"), NOT),
    **dict.fromkeys(("logical_and", "bitwise_and"), AND),
    **dict.fromkeys(("logical_or", "bitwise_or"), OR),
    **dict.fromkeys(("logical_xor", "bitwise_xor"), lambda x, y: AND(OR(x, y), NOT(AND(x, y)))),
    "isnan": lambda x: x != x,
    "isinf": lambda x: ABS(x) == math.inf,
    "isfinite": lambda x: ABS(x) < math.inf,
    "where": where,
    "select": written_out.select,
    "allclose": lambda a, b, **kwargs: np.all(np.isclose(a, b, **kwargs)),
    # Over axes
    "sum": (_sum := _reduced(Op.ADD, 0.0)),
    "prod": (_prod := _reduced(Op.MUL, 1.0)),
    **dict.fromkeys(("max", "amax"), _max := _reduced(Op.MAX, None)),
    **dict.fromkeys(("min", "amin"), _min := _reduced(Op.MIN, None)),
    "all": _reduced(Op.AND, 1.0),
    "any": _reduced(Op.OR, 0.0),
    **{
        f"{name}.reduce": lambda x, axis=0, function=function, **kwargs: function(x, axis, **kwargs)
        for name, function in {"add": _sum, "multiply": _prod, "maximum": _max, "minimum": _min}.items()
    },
    "count_nonzero": lambda x, axis=None, **kwargs: _sum(x != 0.0, axis, **kwargs),
    "ptp": lambda x, axis=None, **kwargs: _max(x, axis, **kwargs) - _min(x, axis, **kwargs),
    # Products
    "matmul": matmul,
    "dot": _dot,
    "matvec": lambda A, x: matmul(A, x[..., None])[..., 0],
    "vecdot": lambda x, y: matmul(x[..., None, :], y[..., :, None])[..., 0, 0],
    "multiply.outer": lambda x, y: _by_numbers(np.multiply.outer)(x, y),
    # New arrays, and those that hold the same entries
    **dict.fromkeys(("copy", "positive", "conjugate", "conj"), _copy),
    "flatten": lambda x, order="C": TracedArray(x.graph, x.ids.flatten(order)),
    "zeros_like": lambda x, *args, **kwargs: _full_like(x, 0.0, **kwargs),
    "empty_like": lambda x, *args, **kwargs: _full_like(x, 0.0, **kwargs),
    "ones_like": lambda x, *args, **kwargs: _full_like(x, 1.0, **kwargs),
    "full_like": _full_like,
    "astype": _astype,
    "reshape": _reshape,
    "transpose": lambda x, *axes, **kwargs: TracedArray(x.graph, x.ids.transpose(*axes, *kwargs.values())),
    "shape": lambda x: x.shape,
    "ndim": lambda x: x.ndim,
    "size": lambda x, axis=None: x.size if axis is None else x.shape[axis],
    "fill": lambda x, value: x.__setitem__(..., value),
    "fill_diagonal": lambda A, value: A.__setitem__(np.diag_indices(min(A.shape), A.ndim), value),
    "linalg.diagonal": lambda x, *, offset=0: _moved(np.linalg.diagonal)(x, offset=offset),
    "linalg.trace": lambda x, *, offset=0: _by_numbers(np.linalg.trace)(x, offset=offset),
}
_OWN = """rint round trunc remainder floor_divide clip fmax fmin arcsin arccos heaviside sinc interp linspace isclose nan_to_num
    mean var std average norm solve inv det cholesky cross"""
FUNCTIONS |= {name: _written(getattr(written_out, name)) for name in _OWN.split()}
FUNCTIONS |= {"around": FUNCTIONS["round"], "fix": FUNCTIONS["trunc"]}
_MOVED = """swapaxes moveaxis rollaxis matrix_transpose ravel squeeze expand_dims broadcast_to flip fliplr flipud rot90 roll tile
    repeat resize take delete diagonal split array_split hsplit vsplit dsplit unstack atleast_1d atleast_2d atleast_3d"""
FUNCTIONS |= {name: _moved(getattr(np, name)) for name in _MOVED.split()}
_JOINED = "concatenate stack hstack vstack dstack column_stack"
FUNCTIONS |= {name: _joined(getattr(np, name)) for name in _JOINED.split()}
_BY_NUMBERS = """append insert block pad tril triu diag diagflat broadcast_arrays meshgrid cumsum cumprod diff ediff1d trapezoid
    polyval convolve trace inner outer vdot tensordot kron einsum vander"""
FUNCTIONS |= {name: _by_numbers(getattr(np, name)) for name in _BY_NUMBERS.split()}
FUNCTIONS |= {name: _by_numbers(getattr(np.linalg, name)) for name in ("matrix_power", "multi_dot")}
NAMESPACE.__dict__.update({name: function for name, function in FUNCTIONS.items() if "." not in name})
NAMESPACE.abs, NAMESPACE.asarray = ABS, lambda x: x

REFUSED |= {
    name: words
    for names, words in {
        "sort argsort partition median percentile quantile searchsorted": "which of the numbers is larger is not known; "
        "np.minimum(a, b) and np.maximum(a, b) order two of them, np.max(x) and np.min(x) find the extremes.",
        "argmax argmin": "np.max(x) is the value; np.max(np.where(x == np.max(x), y, -np.inf)) is y where x is largest.",
        "nonzero flatnonzero argwhere unique extract compress": "a shape cannot depend on values; np.where(condition, yes, no) "
        "keeps the shape.",
        "svd svdvals eig eigh eigvals eigvalsh qr pinv lstsq matrix_rank cond": "how many steps it takes depends on the values. "
        "For full rank, A.T @ np.linalg.inv(A @ A.T) is the pseudo-inverse, np.linalg.solve(A.T @ A, A.T @ b) solves least "
        "squares, np.linalg.cholesky(A) is a factor; else compute it outside and pass it as an input.",
        "slogdet": "np.linalg.det(A) can be, and np.log(np.abs(np.linalg.det(A))).",
        "item tolist": "its value is not known while tracing; leave it out, a traced number is used like any other.",
        "copysign signbit": "np.where(y < 0.0, -np.abs(x), np.abs(x)) is x with the sign of y.",
        "piecewise": "np.select([x < 0.0, x < 1.0], [f(x), g(x)], h(x)) chooses.",
        "apply_along_axis apply_over_axes": "write a loop, as in np.stack([f(row) for row in A]).",
    }.items()
    for name in names.split()
}
