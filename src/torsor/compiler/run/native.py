"""A compiled program: called with NumPy arrays, for one state or a batch, on several threads."""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
from numpy.exceptions import TooHardError

from torsor.compiler.graph import Port, Program, Shape, count
from torsor.compiler.print.llvm import PARTS, emit
from torsor.compiler.run import engine
from torsor.compiler.run.apart import is_apart, new_lock
from torsor.compiler.run.cache import Source, about_kept, machine_code
from torsor.compiler.run.fast_entry import Target, new_arrays, operands_of_frame
from torsor.compiler.run.threads import WORTH_A_THREAD, least_to_share, parts, share
from torsor.errors import ShapeError

Array = Any
Make = Callable[[], Program]
ELEMENTS = {np.dtype(np.float64): "double", np.dtype(np.float32): "float"}
OVERHEAD = 16 * 1024  # bytes of Python objects that go with a kernel: measured
OVERLAP_WORK = 10_000  # candidates tried, to tell whether views of one array overlap


class Code(NamedTuple):
    """One part of a compiled program: a function's address, the scratch it needs, and what keeps it in memory."""

    address: int
    scratch: int
    native: engine.Native


class Codes:
    """The machine code of one program in one precision: for one state, and for many, each made when first needed.

    It keeps neither the program nor what that was traced from: whoever needs a part that is not there yet says how to make it.
    """

    def __init__(self, about: dict[str, Any], get: Callable[[str, Make], Code]) -> None:
        self.inputs = tuple(Port(name, tuple(shape)) for name, shape in about["inputs"])
        self.outputs = tuple(Port(name, tuple(shape)) for name, shape in about["outputs"])
        self.dtype = np.dtype(about["dtype"])
        self.operations = int(about["operations"])
        self.bytes = OVERHEAD  # in memory, about
        self.on_growth: Callable[[], None] | None = None
        self._get, self._parts, self._lock = get, dict[str, Code](), new_lock()

    @classmethod
    def kept(cls, key: str, make: Make, dtype: np.dtype[Any]) -> Codes:
        """Those kept on disk under a key, or to be compiled."""
        dtype = np.dtype(dtype)
        known = next((about for part in PARTS if (about := about_kept(f"{key}|{dtype.name}|{part}"))), None)
        return cls(known or describe(make(), dtype), lambda part, make: _kept_part(key, make, part, dtype))

    def part(self, name: str, make: Make) -> Code:
        """One of `PARTS`; ``make`` gives the program, should it not be there yet."""
        if (found := self._parts.get(name)) is not None:
            return found
        if is_apart():  # within a finaliser: whoever holds the lock may be waiting for this thread
            return self._get(name, make)
        with self._lock:
            if (found := self._parts.get(name)) is not None:
                return found
            code = self._parts[name] = self._get(name, make)
            self.bytes += code.native.size
        if self.on_growth is not None:
            self.on_growth()
        return code

    def has(self, name: str) -> bool:
        """Whether a part is there."""
        return name in self._parts


class NativeFunction:
    """Machine code that can be called. Inputs and outputs are arrays (*batch, *shape), one per port.

    ``make`` gives its program, should a part of the code be needed that was not compiled so far.
    """

    def __init__(self, codes: Codes, make: Make) -> None:
        self.codes, self._make = codes, make
        self.inputs, self.outputs = codes.inputs, codes.outputs
        self.dtype, self.operations = codes.dtype, codes.operations

    @property
    def one(self) -> Code:
        """``kernel_one``, which answers for one state."""
        return self.codes.part("one", self._make)

    @property
    def many(self) -> Code:
        """``kernel_many``, which answers for a batch."""
        return self.codes.part("many", self._make)

    def target(self, kind: type | None = None, keys: Sequence[str] = (), constants: Sequence[Array] = ()) -> Target:
        """What the fast entry is to call, with the code for many if it has been needed so far; see `Target`."""
        one, code, operations = self.one, ref(self.codes), self.operations
        many = self.many if self.codes.has("many") else Code(0, 0, one.native)
        operands = len(self.inputs) + len(self.outputs)

        def threaded(frame: int) -> None:
            codes = code()
            assert codes is not None  # the entry has just seen it
            _run(codes, _already_there, *operands_of_frame(frame, operands))

        return Target(
            [port.shape for port in self.outputs],
            self.dtype,
            one.address,
            many.address,
            max(1, WORTH_A_THREAD // max(1, operations)) if many.address else 0,
            max(one.scratch, many.scratch),
            code,
            kind,
            keys,
            constants,
            threaded if many.address else None,
            sharing=least_to_share(operations),
        )

    def __call__(self, arrays: Sequence[Array], out: Sequence[Array] | None = None) -> list[Array]:
        """Evaluate for all states of the batch; ``out`` arrays are filled and returned, and may overlap inputs."""
        arrays = [np.asarray(array, self.dtype) for array in arrays]
        leads, batch = batch_of(self.inputs, arrays)
        results = results_of(self.outputs, batch, self.dtype, out)
        targets = [self._target(result, arrays) for result in results]
        states = math.prod(batch)
        if states:
            each = zip(arrays, self.inputs, leads, strict=True)
            given = [regular(array, port, lead, batch, self.dtype) for array, port, lead in each]
            item = self.dtype.itemsize
            made = [(target, port.size * item) for target, port in zip(targets, self.outputs, strict=True)]
            operands, strides = zip(*given, *made, strict=True)  # the arrays live as long as the work does
            _run(self.codes, self._make, states, [*map(address_of, operands)], strides)
        for result, target in zip(results, targets, strict=True):
            if target is not result:
                result[...] = target
        return results

    def _target(self, result: Array, arrays: Sequence[Array]) -> Array:
        """Where the machine code writes: the result itself, unless it is not contiguous or overlaps an input."""
        if result.flags.c_contiguous and not any(np.may_share_memory(result, array) for array in arrays):
            return result
        return np.empty(result.shape, self.dtype)


def _already_there() -> Program:
    raise AssertionError("the code is there")


def _run(codes: Codes, make: Make, states: int, addresses: Sequence[int], strides: Sequence[int]) -> None:
    """Machine code over all states, on several threads where that is worth it."""
    one, many = codes.part("one", make), None if states == 1 else codes.part("many", make)
    kernel, scratch = (0, one.scratch) if many is None else (many.address, max(many.scratch, one.scratch))
    for start, length in parts(states, codes.operations, sum(map(abs, strides)) // codes.dtype.itemsize):
        moved = [address + start * stride for address, stride in zip(addresses, strides, strict=True)]
        share(kernel, length, codes.operations, moved, strides, scratch, one.address)


def _kept_part(key: str, make: Make, part: str, dtype: np.dtype[Any]) -> Code:
    """The machine code of one of `PARTS`, from the cache or compiled and kept there."""

    def source() -> Source:
        program = make()
        return emit(program, part, ELEMENTS[dtype], engine.host_target()), describe(program, dtype)

    native = machine_code(f"{key}|{dtype.name}|{part}", [f"kernel_{part}"], source)
    return Code(native.address(f"kernel_{part}"), int(native.about["scratch"]), native)


def batch_of(ports: Sequence[Port], arrays: Sequence[Array]) -> tuple[list[Shape], Shape]:
    """The axes of states of each array, and those of all together."""
    leads = [array.shape[: array.ndim - len(port.shape)] for array, port in zip(arrays, ports, strict=True)]
    if len(set(leads)) == 1:
        return leads, leads[0]
    try:
        return leads, np.broadcast_shapes(*leads)
    except ValueError:
        found = ", ".join(f"`{port.name}` {lead}" for port, lead in zip(ports, leads, strict=True))
        raise ShapeError(f"the batch axes do not broadcast: {found}.") from None


def results_of(ports: Sequence[Port], lead: Shape, dtype: np.dtype[Any], out: Sequence[Array] | None) -> list[Array]:
    """New arrays for results, or those given."""
    shapes = [(*lead, *port.shape) for port in ports]
    if out is None:
        return new_arrays(shapes, dtype)
    for array, shape, port in zip(out, shapes, ports, strict=True):
        if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype != dtype:
            found = f"{getattr(array, 'shape', None)} of {getattr(array, 'dtype', type(array).__name__)}"
            raise ShapeError(f"out: `{port.name}` must be an array of shape {shape} of {dtype}, got {found}.")
        if not array.flags.writeable:
            raise ShapeError(f"out: `{port.name}` is read-only.")
    return list(out)


def refuse_overlap(names: Sequence[str], out: Sequence[Array]) -> None:
    """Raise if two arrays that results are to be written to share memory: one of the results would be lost."""
    for (one, a), (other, b) in combinations(zip(names, out, strict=False), 2):
        if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.may_share_memory(a, b)):
            continue
        try:
            shared = np.shares_memory(a, b, max_work=OVERLAP_WORK)  # type: ignore[arg-type]  # any number will do
        except TooHardError:
            shared = True
        if shared:
            raise ShapeError(f"out: `{one}` and `{other}` share memory; each result needs an array of its own.")


def regular(array: Array, port: Port, lead: Shape, batch: Shape, dtype: np.dtype[Any]) -> tuple[Array, int]:
    """The array and the bytes from one state to the next; copied only if its strides are not regular."""
    if math.prod(lead) == 1:
        return np.ascontiguousarray(array), 0
    if lead != batch:
        array = np.broadcast_to(array, (*batch, *port.shape))
    if len(batch) == 1 and array[0].flags.c_contiguous:
        return array, array.strides[0]
    return np.ascontiguousarray(array), port.size * dtype.itemsize


def address_of(array: Array) -> int:
    """Where the numbers of an array are; ``array.ctypes`` makes several objects to find out."""
    if array.flags.carray and array.size:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    return int(array.ctypes.data)


def build(key: str, make: Make, dtype: np.dtype[Any]) -> NativeFunction:
    """The machine code kept under ``key`` for this kind of machine, or of the program that ``make`` gives."""
    make = functools.cache(make)
    return NativeFunction(Codes.kept(key, make, dtype), make)


def describe(program: Program, dtype: np.dtype[Any]) -> dict[str, Any]:
    """What a caller needs to know of a program, as it is kept on disk."""
    return {
        "inputs": [[port.name, port.shape] for port in program.graph.inputs],
        "outputs": [[port.name, port.shape] for port in program.outputs],
        "dtype": np.dtype(dtype).name,
        "operations": sum(count(program).values()),
    }
