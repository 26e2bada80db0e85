"""A compiled program: called with NumPy arrays, for one state or a batch, on several threads."""

from __future__ import annotations

import ctypes
import functools
import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.exceptions import TooHardError

from torsor.compiler import cache, engine
from torsor.compiler.emit_llvm import PARTS, emit
from torsor.compiler.front_door import Many
from torsor.compiler.graph import Port, Program, count
from torsor.compiler.notice import notice
from torsor.errors import ShapeError, TorsorError

Array = Any
ELEMENTS = {np.dtype(np.float64): "double", np.dtype(np.float32): "float"}
WORTH_A_THREAD = 6_000_000  # operations in a slice, some tenths of a millisecond: what waking another thread costs
ALIGNMENT = 64  # bytes: of the widest vector
OVERLAP_WORK = 10_000  # candidates tried, to tell whether views of one array overlap
LANES = 16  # slices are cut at multiples of the widest vector


class _Threads:
    """The thread pool, made when first needed."""

    def __init__(self) -> None:
        self.count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._pool: ThreadPoolExecutor | None = None

    def pool(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.count, thread_name_prefix="torsor")
        return self._pool

    def set(self, count: int) -> None:
        self.count, self._pool = count, None

    def forget(self) -> None:
        """In a forked child the pool's threads do not exist: make new ones when needed."""
        self._pool = None


_THREADS = _Threads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_THREADS.forget)


def set_threads(count: int) -> None:
    """How many threads a batch may use (default: one per processor); results do not depend on it."""
    if int(count) != count or count < 1:
        raise TorsorError(f"set_threads: count must be a whole number of at least 1, got {count}.")
    _THREADS.set(int(count))


def get_threads() -> int:
    """How many threads a batch may use."""
    return _THREADS.count


class Code(NamedTuple):
    """One part of a compiled program: a function's address, the scratch it needs, and what keeps it in memory."""

    address: int
    scratch: int
    native: engine.Native


class NativeFunction:
    """Machine code of one program in one precision. Inputs and outputs are arrays (*batch, *shape), one per port.

    The code for one state and the code for many are compiled, or loaded from disk, when first needed.
    """

    def __init__(self, about: dict[str, Any], get: Callable[[str], Code]) -> None:
        self.inputs = tuple(Port(name, tuple(shape)) for name, shape in about["inputs"])
        self.outputs = tuple(Port(name, tuple(shape)) for name, shape in about["outputs"])
        self.dtype = np.dtype(about["dtype"])
        self.operations = int(about["operations"])
        self._get = get

    @cached_property
    def one(self) -> Code:
        """``kernel_one``: one state."""
        return self._get("one")

    @cached_property
    def many(self) -> Code:
        """``kernel_many``: a batch."""
        return self._get("many")

    def for_door(self) -> Many | None:
        """The code for many as the fast entry takes it, if it has been needed so far."""
        if "many" not in self.__dict__:
            return None
        return Many(
            self.many.address, max(self.many.scratch, self.one.scratch), WORTH_A_THREAD // max(1, self.operations)
        )

    def __call__(self, arrays: Sequence[Array], out: Sequence[Array] | None = None) -> list[Array]:
        """Evaluate for all states of the batch; ``out`` arrays are filled and returned, and may overlap inputs."""
        arrays = [np.asarray(array, self.dtype) for array in arrays]
        leads = [array.shape[: array.ndim - len(port.shape)] for array, port in zip(arrays, self.inputs, strict=True)]
        batch = np.broadcast_shapes(*leads)
        results = self._results(batch, out)
        targets = [self._target(result, arrays) for result in results]
        states = math.prod(batch)
        if states:
            operands, strides = [], []
            for array, port, lead in zip(arrays, self.inputs, leads, strict=True):
                array, stride = regular(array, port, lead, batch, self.dtype)
                operands.append(array)
                strides.append(stride)
            strides += [port.size * self.dtype.itemsize for port in self.outputs]
            self._run(states, [*operands, *targets], strides)
        for result, target in zip(results, targets, strict=True):
            if target is not result:
                result[...] = target
        return results

    def _results(self, batch: tuple[int, ...], out: Sequence[Array] | None) -> list[Array]:
        shapes = [(*batch, *port.shape) for port in self.outputs]
        if out is None:
            return [np.empty(shape, self.dtype) for shape in shapes]
        for array, shape, port in zip(out, shapes, self.outputs, strict=True):
            if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype != self.dtype:
                found = f"{getattr(array, 'shape', None)} of {getattr(array, 'dtype', type(array).__name__)}"
                raise ShapeError(f"out: `{port.name}` must be an array of shape {shape} of {self.dtype}, got {found}.")
            if not array.flags.writeable:
                raise ShapeError(f"out: `{port.name}` is read-only.")
        return list(out)

    def _target(self, result: Array, arrays: Sequence[Array]) -> Array:
        """Where the machine code writes: the result itself, unless it is not contiguous or overlaps an input."""
        if result.flags.c_contiguous and not any(np.may_share_memory(result, array) for array in arrays):
            return result
        return np.empty(result.shape, self.dtype)

    def _run(self, states: int, operands: list[Array], strides: list[int]) -> None:
        addresses = [address_of(array) for array in operands]
        steps = (ctypes.c_int64 * len(strides))(*strides)

        code = self.one if states == 1 else self.many
        size = max(code.scratch, self.one.scratch)

        def work(start: int, length: int) -> None:
            scratch = ctypes.create_string_buffer(size + ALIGNMENT) if size else None
            area = 0 if scratch is None else -(-ctypes.addressof(scratch) // ALIGNMENT) * ALIGNMENT
            moved = [address + start * stride for address, stride in zip(addresses, strides, strict=True)]
            pointers = (ctypes.c_void_p * (len(moved) + 2))(*moved, area, self.one.address)
            if states == 1:
                engine.ONE(code.address)(pointers)
            else:
                engine.MANY(code.address)(length, pointers, steps)

        slices(states, self.operations, work)


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


def regular(
    array: Array, port: Port, lead: tuple[int, ...], batch: tuple[int, ...], dtype: np.dtype[Any]
) -> tuple[Array, int]:
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


def slices(states: int, operations: int, work: Callable[[int, int], None]) -> None:
    """``work(start, length)`` over all states, on several threads if each gets enough to do."""
    parts = min(_THREADS.count, max(1, states * operations // WORTH_A_THREAD))
    length = -(-states // parts)
    length += -length % LANES
    if length >= states:
        work(0, states)
        return
    pool = _THREADS.pool()
    for done in [pool.submit(work, start, min(length, states - start)) for start in range(0, states, length)]:
        done.result()


def build(key: str, make: Callable[[], Program], dtype: np.dtype[Any]) -> NativeFunction:
    """The machine code stored under ``key`` for this kind of machine, or of the program that ``make`` gives."""
    dtype = np.dtype(dtype)
    full_key = "|".join([key, dtype.name, *engine.host(), engine.version()])
    program = functools.cache(make)

    def get(part: str) -> Code:
        found = cache.load(f"{full_key}|{part}")
        if found is not None:
            native = engine.load_object(found.code)
            return Code(native.address(f"kernel_{part}"), int(found.about["scratch"]), native)
        code = compile_part(program(), part, dtype)
        about = {**describe(program(), dtype), "scratch": code.scratch}
        cache.store(f"{full_key}|{part}", cache.Entry(about, code.native.object_code))
        return code

    known = next((entry.about for part in PARTS if (entry := cache.load(f"{full_key}|{part}")) is not None), None)
    return NativeFunction(known or describe(program(), dtype), get)


def compile_part(program: Program, part: str, dtype: np.dtype[Any]) -> Code:
    """The machine code of one of `PARTS`, without the cache."""
    module = emit(program, part, ELEMENTS[dtype], engine.host_target())
    with notice(f"torsor: compiling {sum(count(program).values()):,} operations, once for this robot"):
        native = engine.compile_ir(module.text)
    return Code(native.address(f"kernel_{part}"), module.scratch, native)


def describe(program: Program, dtype: np.dtype[Any]) -> dict[str, Any]:
    """What a caller needs to know of a program, as it is kept on disk."""
    return {
        "inputs": [[port.name, port.shape] for port in program.graph.inputs],
        "outputs": [[port.name, port.shape] for port in program.outputs],
        "dtype": np.dtype(dtype).name,
        "operations": sum(count(program).values()),
    }
