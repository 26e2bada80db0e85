"""Loops over time inside a kernel: N steps of a traced step function without Python in between."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import math
from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from torsor.arrays import as_numbers
from torsor.arrays.typing import Numbers as Given, Out
from torsor.bridges import Crossing, across, by_name, evaluated_by, foreign_among, taken_apart, values_of
from torsor.compiler.backend import compiles
from torsor.compiler.graph import Port, Program, count
from torsor.compiler.print import numpy as emit_numpy, scan as emit_scan
from torsor.compiler.print.scan import Roles
from torsor.compiler.run import engine
from torsor.compiler.run.apart import new_lock
from torsor.compiler.run.cache import Source, machine_code
from torsor.compiler.run.fast_entry import FastEntry, Numbers, Target, new_arrays
from torsor.compiler.run.native import ALIGNMENT, ELEMENTS, address_of, refuse_overlap, regular
from torsor.compiler.run.threads import AT_ONCE, WORTH_A_THREAD, get_threads, in_parts, least_to_share, share
from torsor.errors import ArgumentError, ShapeError, TorsorError, unknown_name

Array = Any
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


class Scan:
    """A step function compiled into a loop over time; trajectories of a batch run side by side in vector lanes.

    `torsor.scan` makes it. Call it with ``steps``, how many; and by name the initial state (*batch, *shape), per-step inputs
    (*batch, steps, *shape) and constants (*batch, *shape). ``every=k`` saves each k-th step; ``out=``: the dict of arrays to
    write to. It gives a dict of arrays (*batch, steps // every, *shape), first the state: entry j is what is there after
    (j + 1) · every steps. One whose roles say backward begins with the last of its per-step inputs, and entry j of its results is
    what is there after the step with entry j of these.
    """

    if TYPE_CHECKING:

        def __call__(  # noqa: D102
            self, /, *, steps: int, every: Given = 1, out: Out = None, **given: Given
        ) -> dict[str, Array]: ...

    else:  # what is called is the scan's own entry, without a method of Python's in between
        __slots__ = ("__call__", "__dict__", "__weakref__")

    def __init__(self, name: str, program: Program, roles: Roles) -> None:
        self.name, self.program, self.roles = name, program, roles
        for given, made in zip(program.graph.inputs[: roles.state], program.outputs, strict=False):
            if given != made:
                raise ArgumentError(
                    f"scan: the step must return its state first, in the same order and shape: expected {given.name!r} "
                    f"{given.shape}, got {made.name!r} {made.shape}."
                )
        self._names = {port.name for port in program.graph.inputs}
        self._natives: dict[np.dtype[Any], tuple[int, int, Any]] = {}
        self._source = functools.cache(lambda: emit_numpy.build(program))
        self._lock = new_lock()
        self._operations = max(1, sum(count(program).values()))
        names = [*(port.name for port in program.graph.inputs), "steps", "every"]
        self._entry = FastEntry(self._general, "scan", names, 0, by_first=False)
        setattr(self, "__call__", self._entry)  # noqa: B010 for type checkers, it stays a method

    def __reduce__(self) -> tuple[Any, ...]:
        return Scan, (self.name, self.program, self.roles)

    @property
    def state(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the state, by name."""
        return {port.name: port.shape for port in self.program.graph.inputs[: self.roles.state]}

    @property
    def outputs(self) -> dict[str, tuple[int, ...]]:
        """Shapes of what is saved, by name."""
        return {port.name: port.shape for port in self.program.outputs}

    def count(self) -> dict[str, int]:
        """How many operations of each kind one step takes."""
        return count(self.program)

    def _general(self, /, *, steps: int, every: int = 1, out: Any = None, **given: Array) -> dict[str, Array]:
        """Any call; the next one like it goes straight to the machine code."""
        if not (isinstance(steps, Integral) and isinstance(every, Integral)) or steps < 0 or every < 1:
            raise ArgumentError(
                f"scan {self.name!r}: steps must be a whole number, not negative, and every one of at least 1, got "
                f"{steps!r:.40}, {every!r:.40}."
            )
        if self.roles.backward and every != 1:
            raise ArgumentError(f"scan {self.name!r} goes backward, and saves every step: leave out every={every}.")
        ports = self._ports(steps)
        if given.keys() != self._names:
            self._refuse_names(given)
        if foreign_among(*given.values()):
            return self._in_another_library(ports, given, {"steps": steps, "every": every}, out)
        raw = [_numbers(self.name, port.name, given[port.name]) for port in ports]
        dtype = SINGLE if all(array.dtype == SINGLE for array in raw) else DOUBLE
        arrays = [np.asarray(array, dtype) for array in raw]
        leads = [_lead(self.name, array, port) for array, port in zip(arrays, ports, strict=True)]
        batch = leads[0] if leads.count(leads[0]) == len(leads) else _common(self.name, ports, leads)
        saved = steps // every
        results = self._results((*batch, saved), dtype, out, arrays)
        states = math.prod(batch)
        if states and steps and not compiles():
            return self._uncompiled(arrays, batch, steps, every, results)
        if states and steps:
            pairs = [regular(a, port, lead, batch, dtype) for a, port, lead in zip(arrays, ports, leads, strict=True)]
            strides = [stride for _, stride in pairs]
            strides += [
                array.strides[0] if len(batch) == 1 else saved * port.size * dtype.itemsize
                for array, port in zip(results.values(), self.program.outputs, strict=True)
            ]
            operands = [array for array, _ in pairs] + list(results.values())
            self._run(dtype, states, steps, every, operands, strides)
            self._remember(dtype, ports, steps, every)
        return results if out is None else out

    def _in_another_library(
        self, ports: Sequence[Port], given: dict[str, Array], times: dict[str, int], out: Any
    ) -> dict[str, Array]:
        """For arrays that a bridge takes: the axis of time is one of each result, before its own."""
        if out is not None:
            raise ArgumentError(
                f"scan {self.name!r}: out= takes NumPy arrays, with arguments that are none: leave it out."
            )
        shapes = {port.name: tuple(map(str, port.shape)) for port in ports}
        arrays, axes, template = taken_apart(shapes, given | times)
        outputs = {name: ("step", *map(str, shape)) for name, shape in self.outputs.items()}
        gather = functools.partial(by_name, tuple(outputs))
        try:
            found = across(Crossing(arrays, axes, outputs, evaluated_by(self, template, values_of, gather), gather))
        except TorsorError as error:
            raise error if str(error).startswith("scan ") else error.at(f"scan {self.name!r}")  # noqa: B904 the same error
        return found  # type: ignore[no-any-return]

    def _results(
        self, lead: tuple[int, ...], dtype: np.dtype[Any], out: Any, arrays: Sequence[Array]
    ) -> dict[str, Array]:
        """New arrays for what is saved, or those given."""
        shapes = {port.name: (*lead, *port.shape) for port in self.program.outputs}
        if out is None:
            if not compiles():
                return {name: np.empty(shape, dtype) for name, shape in shapes.items()}
            return dict(zip(shapes, new_arrays(list(shapes.values()), dtype), strict=True))
        if not isinstance(out, dict) or out.keys() != shapes.keys():
            raise ShapeError(f"scan {self.name!r}: out must be a dict of arrays {', '.join(shapes)}, got {out!r:.60}.")
        refuse_overlap(list(out), list(out.values()))
        for name, shape in shapes.items():
            array = out[name]
            if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype != dtype:
                found = f"{getattr(array, 'shape', None)} of {getattr(array, 'dtype', type(array).__name__)}"
                raise ShapeError(
                    f"scan {self.name!r}: out: `{name}` must be an array of shape {shape} of {dtype}, got {found}."
                )
            # Trajectories may lie apart, each in one piece: a part of a longer record
            whole = array.flags.carray or (len(lead) == 2 and len(array) > 0 and array[0].flags.carray)
            if not whole or any(np.may_share_memory(array, x) for x in arrays):
                raise ShapeError(
                    f"scan {self.name!r}: out: `{name}` must be contiguous, writeable, and no part of an input."
                )
        return {name: out[name] for name in shapes}

    def _remember(self, dtype: np.dtype[Any], ports: Sequence[Port], steps: int, every: int) -> None:
        """Let the next call of as many steps go straight to the machine code, if it is done before anybody would press Ctrl-C."""
        one = steps * self._operations
        if one > AT_ONCE:
            return
        address, scratch, code = self._native(dtype)
        shapes = [(steps // every, *port.shape) for port in self.program.outputs]
        most = max(1, WORTH_A_THREAD // one)
        names, extra = list(self.outputs), (steps // every * every, every)
        sharing = least_to_share(one)
        target = Target(shapes, dtype, 0, address, most, scratch, ref(code), dict, names, extra=extra, sharing=sharing)
        pattern = {port.name: Numbers(port.shape) for port in ports}
        self._entry.remember({**pattern, "steps": int(steps), "every": int(every)}, target)
        if every == 1:
            self._entry.remember({**pattern, "steps": int(steps)}, target)

    def _refuse_names(self, given: dict[str, Array]) -> None:
        names = [port.name for port in self.program.graph.inputs]
        for name in given:
            if name not in self._names:
                raise unknown_name(f"scan {self.name!r}", "input", name, names, "its state and inputs")
        raise ShapeError(f"scan {self.name!r}: missing {', '.join(name for name in names if name not in given)}.")

    def _uncompiled(
        self, arrays: list[Array], batch: tuple[int, ...], steps: int, every: int, results: dict[str, Array]
    ) -> dict[str, Array]:
        """The same loop as Python over the step's NumPy source."""
        step, ports = self._source(), self.program.graph.inputs
        first, last = self.roles.state, self.roles.state + self.roles.inputs
        state = list(arrays[:first])
        for t in reversed(range(steps)) if self.roles.backward else range(steps):
            now = [
                np.take(a, t, axis=a.ndim - len(p.shape) - 1)
                for a, p in zip(arrays[first:last], ports[first:last], strict=True)
            ]
            with np.errstate(all="ignore"):
                values = list(step(*state, *now, *arrays[last:]).values())
            state = values[:first]
            if (t + 1) % every == 0:
                for target, value, port in zip(results.values(), values, self.program.outputs, strict=True):
                    np.moveaxis(target, len(batch), 0)[(t + 1) // every - 1] = np.broadcast_to(
                        value, (*batch, *port.shape)
                    )
        return results

    def _ports(self, steps: int) -> Sequence[Port]:
        if not self.roles.inputs:
            return self.program.graph.inputs
        first, last = self.roles.state, self.roles.state + self.roles.inputs
        return [
            Port(port.name, (steps, *port.shape)) if first <= k < last else port
            for k, port in enumerate(self.program.graph.inputs)
        ]

    def _run(
        self, dtype: np.dtype[Any], states: int, steps: int, every: int, operands: list[Array], strides: list[int]
    ) -> None:
        address, scratch, code = self._native(dtype)
        sizes = [port.size * dtype.itemsize for port in (*self.program.graph.inputs, *self.program.outputs)]
        addresses = [(array, address_of(array)) for array in operands]  # the arrays live as long as the work does

        def work(start: int, length: int) -> Iterator[None]:
            area = ctypes.create_string_buffer(scratch + ALIGNMENT)
            last = -(-ctypes.addressof(area) // ALIGNMENT) * ALIGNMENT
            given = [(at + start * stride, stride) for (_, at), stride in zip(addresses, strides, strict=True)]
            between = _Between(self.roles, sizes, given, length, steps)
            most = max(1, AT_ONCE * get_threads() // (self._operations * length))
            for done, now, apart in _stretches(steps // every * every, every, most):
                places, gaps = zip(*between.operands(done, now, every), strict=True)
                share(address, length, now * self._operations, places, gaps, scratch, (last, 0), (now, apart))
                yield
            assert code  # in memory until the last step

        in_parts(states, steps * self._operations, work)

    def _native(self, dtype: np.dtype[Any]) -> tuple[int, int, Any]:
        with self._lock:
            if dtype not in self._natives:
                module = emit_scan.emit(self.program, self.roles, ELEMENTS[dtype], engine.host_target())
                key = hashlib.sha256("".join(module.texts).encode()).hexdigest()
                source = Source(module, {}, self._operations)
                native = machine_code(f"scan|{key}", ["scan_many"], lambda: source).native
                self._natives[dtype] = (native.address("scan_many"), module.scratch, native)
            return self._natives[dtype]

    def __repr__(self) -> str:
        cost = f"{self._operations} operations a step"
        return f"<Scan {self.name!r}: state {self.state}, saves {list(self.outputs)}; {cost}>"


def _stretches(steps: int, every: int, most: int) -> Iterator[tuple[int, int, int]]:
    """(steps done before, steps, steps from one that is saved to the next): at most ``most`` steps without a look at Ctrl-C."""
    if every <= most:
        length = most // every * every
        yield from ((done, min(length, steps - done), every) for done in range(0, steps, length))
        return
    for start in range(0, steps, every):
        for k in range(0, every, most):
            count = min(most, every - k)
            yield start + k, count, count


class _Between:
    """Where the states of some trajectories are between stretches of steps: with the results, or in a place of its own.

    ``given`` has the address and stride of every operand, ``sizes`` the bytes of one step of each, ``steps`` of them in all.
    """

    def __init__(
        self, roles: Roles, sizes: Sequence[int], given: Sequence[tuple[int, int]], length: int, steps: int
    ) -> None:
        self._roles, self._sizes, self._given, self._steps = roles, sizes, given, steps
        self._inputs = roles.state + roles.inputs + roles.constants
        self._length, self._own, self._parity = length, list[Any](), 0

    def operands(self, done: int, count: int, every: int) -> Iterator[tuple[int, int]]:
        """Address and stride of every operand of the ``count`` steps after ``done``."""
        roles, saved, self._parity = self._roles, done // every, 1 - self._parity
        first = self._steps - done - count if roles.backward else done
        for k in range(self._inputs):
            at, stride = self._given[k]
            if k < roles.state and done and roles.backward:
                yield self._result(k, first + count)
            elif k < roles.state and done:
                yield self._result(k, saved - 1) if done % every == 0 else self._kept(k, 1 - self._parity)
            elif roles.state <= k < roles.state + roles.inputs:
                yield at + first * self._sizes[k], stride
            else:
                yield at, stride
        for k in range(len(self._given) - self._inputs):
            if roles.backward:
                yield self._result(k, first)
                continue
            yield (
                self._result(k, saved) if (done + count) % every == 0 or count >= every else self._kept(k, self._parity)
            )

    def _result(self, k: int, index: int) -> tuple[int, int]:
        at, stride = self._given[self._inputs + k]
        return at + index * self._sizes[self._inputs + k], stride

    def _kept(self, k: int, parity: int) -> tuple[int, int]:
        """One of two places in turn: what is read is not written to at the same time."""
        sizes = self._sizes[self._inputs :]
        if not self._own:
            self._own = [[ctypes.create_string_buffer(self._length * size) for size in sizes] for _ in range(2)]
        return ctypes.addressof(self._own[parity][k]), sizes[k]


def _lead(name: str, array: Array, port: Port) -> tuple[int, ...]:
    rank = len(port.shape)
    if array.ndim < rank or array.shape[array.ndim - rank :] != port.shape:
        shape = ", ".join(map(str, ("...", *port.shape)))
        raise ShapeError(f"scan {name!r}: `{port.name}` must have shape ({shape}), got {array.shape}.")
    return tuple(array.shape[: array.ndim - rank])


def _numbers(name: str, port: str, value: Array) -> Array:
    try:
        return np.asarray(as_numbers(value))
    except ShapeError as error:  # an array of another library
        raise ShapeError(f"scan {name!r}: `{port}`: {error}") from None
    except (TypeError, ValueError) as error:
        raise ShapeError(f"scan {name!r}: `{port}` must be an array of numbers, got {value!r:.60}.") from error


def _common(name: str, ports: Sequence[Port], leads: list[tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*leads)
    except ValueError:
        found = ", ".join(f"`{port.name}` {lead}" for port, lead in zip(ports, leads, strict=True))
        raise ShapeError(f"scan {name!r}: the batch axes do not broadcast: {found}.") from None
