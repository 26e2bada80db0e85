"""What kernels and scans have in common: a program that is called, with arrays by the names of its inputs and outputs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from torsor.arrays import as_numbers
from torsor.arrays.primitives import namespace
from torsor.border.arrays import MOST_BATCH_AXES
from torsor.bridges import Crossing, across, alone, by_name, evaluated_by, in_a_tuple, taken_apart, values_of
from torsor.compiler.graph import Port, Program, Shape, count
from torsor.compiler.print import numpy as emit_numpy
from torsor.compiler.run.fast_entry import FastEntry
from torsor.compiler.run.native import ELEMENTS, refuse_overlap
from torsor.errors import ArgumentError, ShapeError, TorsorError, unknown_name

Array = Any
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


class Compiled(ABC):
    """A program with a name and an entry by which it is called.

    Errors of a call say whose it was, "kernel 'arm'": those that are raised here need not.
    """

    __slots__ = ("__dict__", "__weakref__")
    listed = "its inputs"  # where people find the names of inputs
    _single = False  # whether the one output is given as it is
    needs_numbers = ""  # what to do within functions that JAX transforms

    def __init__(self, kind: str, name: str, program: Program, arguments: Sequence[str], positional: int) -> None:
        self.name, self.program, self._where = name, program, f"{kind} {name!r}"
        self._order = [port.name for port in program.graph.inputs]
        self._names = [port.name for port in program.outputs]
        self._natives: dict[np.dtype[Any], Any] = {}
        self._sources: dict[str, Callable[..., dict[str, Any]]] = {}
        self._entry = FastEntry(self._general, kind, arguments, positional)
        # What is called is the entry itself, in a slot of the object's own class, where Python finds it soonest
        setattr(self, "__call__", self._entry)  # noqa: B010 for type checkers, it stays a method

    @property
    def outputs(self) -> dict[str, Shape]:
        """Shape of each output, by name, in order."""
        return {port.name: port.shape for port in self.program.outputs}

    def count(self) -> dict[str, int]:
        """How many operations of each kind one evaluation, or one step, takes."""
        return count(self.program)

    def _general(self, /, *args: Any, **kwargs: Any) -> Any:
        """Any call; the next one like it goes straight to the machine code."""
        try:
            return self._answer(*args, **kwargs)
        except TorsorError as error:
            raise error if str(error).startswith(self._where) else error.at(self._where)  # noqa: B904 the same error

    @abstractmethod
    def _answer(self, /, *args: Any, **kwargs: Any) -> Any: ...

    def _in_order(self, given: Mapping[str, Any]) -> list[Any]:
        """The inputs, found by their names."""
        for name in given:
            if name not in self._order:
                raise unknown_name(self._where, "input", name, self._order, self.listed)
        if missing := [name for name in self._order if name not in given]:
            raise ShapeError(f"missing inputs {', '.join(missing)}.")
        return [given[name] for name in self._order]

    def _arrays(self, ports: Sequence[Port], given: Sequence[Any]) -> tuple[list[np.ndarray], np.dtype[Any]]:
        """The inputs as arrays of one precision: single if all are."""
        arrays = [self._numbers(port, value) for port, value in zip(ports, given, strict=True)]
        dtype = SINGLE if all(array.dtype == SINGLE for array in arrays) else DOUBLE
        return [np.asarray(array, dtype) for array in arrays], dtype

    def _numbers(self, port: Port, value: Any) -> np.ndarray:
        try:
            array = np.asarray(as_numbers(value))
            array = array if array.dtype in ELEMENTS else array.astype(DOUBLE)
        except ShapeError as error:  # an array of another library
            raise ShapeError(f"`{port.name}`: {error}") from None
        except (TypeError, ValueError) as error:
            if is_jax(value):
                transformed = f"`{port.name}` has no numbers yet, within a function that JAX transforms."
                raise ArgumentError(f"{transformed} {self.needs_numbers}") from error
            raise ShapeError(f"`{port.name}` must be an array of numbers, got {value!r:.60}.") from error
        return of_shape(port, array)  # type: ignore[no-any-return]

    def _parts(self, out: Any) -> list[Array] | None:
        """The arrays to write to, by the order of the outputs."""
        if out is None:
            return None
        if not isinstance(out, Mapping):
            if self._single:
                return [out]
            raise ShapeError(f"out must be a dict of arrays {', '.join(self._names)}, got {type(out).__name__}.")
        if missing := [name for name in self._names if name not in out]:
            raise ShapeError(f"out lacks {', '.join(missing)}.")
        parts = [out[name] for name in self._names]
        refuse_overlap(self._names, parts)
        return parts

    def _gathered(self, results: Sequence[Any], out: Any = None) -> Any:
        """What the caller is given."""
        if self._single:
            return results[0]
        return out if type(out) is dict and len(out) == len(results) else dict(zip(self._names, results, strict=True))

    def _source(self, library: str = "numpy") -> Callable[..., dict[str, Any]]:
        """The program as a function in Python."""
        if library not in self._sources:
            self._sources[library] = emit_numpy.build(self.program, library)
        return self._sources[library]

    def _in_another_library(
        self,
        ports: Sequence[Port],
        given: Mapping[str, Any],
        lead: tuple[str, ...] = (),
        pullback: Callable[..., Any] | None = None,
        out: list[Array] | None = None,
    ) -> Any:
        """For arrays that a bridge takes; axes that ``lead`` those of each output have these names."""
        arrays, axes, template = taken_apart({port.name: tuple(map(str, port.shape)) for port in ports}, given)
        outputs = {name: (*lead, *map(str, shape)) for name, shape in self.outputs.items()}
        gather = alone if self._single else partial(by_name, tuple(outputs))
        evaluate = evaluated_by(self, template, in_a_tuple if self._single else values_of, gather)  # type: ignore[arg-type]
        return across(Crossing(arrays, axes, outputs, evaluate, gather, pullback, out))


def is_jax(value: Any) -> bool:
    """Whether something is an array of JAX."""
    return type(value) is not np.ndarray and namespace(value).__name__ == "jax.numpy"


def of_shape(port: Port, value: Any) -> Any:
    """An array, of NumPy or JAX, that has the last axes of a port."""
    array = value if hasattr(value, "shape") else np.asarray(value)
    axes = array.ndim - len(port.shape)
    if axes < 0 or array.shape[axes:] != port.shape:
        shape = ", ".join(map(str, ("...", *port.shape)))
        raise ShapeError(f"`{port.name}` must have shape ({shape}), got {array.shape}.")
    if axes > MOST_BATCH_AXES:
        raise ShapeError(f"a batch has at most {MOST_BATCH_AXES} axes, got {axes} of `{port.name}`.")
    return array
