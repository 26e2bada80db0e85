"""Loops over time inside a kernel: N steps of a traced step function without Python in between."""

from __future__ import annotations

import ctypes
import hashlib
import math
from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from torsor.arrays.typing import Numbers as Given, Out
from torsor.bridges import foreign_among
from torsor.compiler.backend import compiles
from torsor.compiler.compiled import Compiled
from torsor.compiler.graph import Port, Program, Shape
from torsor.compiler.print import scan as emit_scan
from torsor.compiler.print.scan import Roles
from torsor.compiler.run import engine
from torsor.compiler.run.apart import new_lock
from torsor.compiler.run.cache import machine_code
from torsor.compiler.run.fast_entry import Numbers, Target
from torsor.compiler.run.native import ELEMENTS, Code, address_of, batch_of, regular, results_of
from torsor.compiler.run.threads import AT_ONCE, WORTH_A_THREAD, get_threads, least_to_share, parts, share
from torsor.errors import ArgumentError, ArgumentTypeError, ShapeError

Array = Any


class Scan(Compiled):
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

    else:
        __slots__ = ("__call__",)

    listed = "its state and inputs"
    needs_numbers = "A scan takes numbers."

    def __init__(self, name: str, program: Program, roles: Roles) -> None:
        for given, made in zip(program.graph.inputs[: roles.state], program.outputs, strict=False):
            if given != made:
                raise ArgumentError(
                    f"scan: the step must return its state first, in the same order and shape: expected {given.name!r} "
                    f"{given.shape}, got {made.name!r} {made.shape}."
                )
        arguments = [*(port.name for port in program.graph.inputs), "steps", "every"]
        super().__init__("scan", name, program, arguments, 0)
        self.roles, self._lock = roles, new_lock()
        self._operations = max(1, sum(self.count().values()))

    def __reduce__(self) -> tuple[Any, ...]:
        return Scan, (self.name, self.program, self.roles)

    @property
    def state(self) -> dict[str, Shape]:
        """Shapes of the state, by name."""
        return {port.name: port.shape for port in self.program.graph.inputs[: self.roles.state]}

    def _answer(
        self, /, *args: Any, steps: int | None = None, every: int = 1, out: Any = None, **named: Array
    ) -> dict[str, Array]:
        if args or steps is None:
            names = ", ".join(f"{name}={name}" for name in self._order)
            got = f"got {len(args)} by position" if args else "`steps` is missing"
            raise ArgumentTypeError(f"all arguments are passed by name, {got}. Type loop(steps=1000, {names}).")
        if not (isinstance(steps, Integral) and isinstance(every, Integral)) or steps < 0 or every < 1:
            raise ArgumentError(
                f"steps must be a whole number, not negative, and every one of at least 1, got {steps!r:.40}, {every!r:.40}."
            )
        if self.roles.backward and every != 1:
            raise ArgumentError(f"{self._where} goes backward, and saves every step: leave out every={every}.")
        ports, given = self._ports(steps), self._in_order(named)
        if foreign_among(*given):
            if out is not None:
                raise ArgumentError("out= takes NumPy arrays, with arguments that are none: leave it out.")
            # The axis of time is one of each result, before its own
            found = self._in_another_library(ports, named | {"steps": steps, "every": every}, ("step",))
            return found
        arrays, dtype = self._arrays(ports, given)
        leads, batch = batch_of(ports, arrays)
        saved, states = steps // every, math.prod(batch)
        results = self._results((*batch, saved), dtype, self._parts(out), arrays)
        if states and steps and not compiles():
            self._uncompiled(arrays, batch, steps, every, results)
        elif states and steps:
            pairs = [regular(a, port, lead, batch, dtype) for a, port, lead in zip(arrays, ports, leads, strict=True)]
            strides = [stride for _, stride in pairs]
            for array, port in zip(results, self.program.outputs, strict=True):
                strides.append(array.strides[0] if len(batch) == 1 else saved * port.size * dtype.itemsize)
            self._run(dtype, states, steps, every, [*(array for array, _ in pairs), *results], strides)
            self._remember(dtype, ports, steps, every)
        return self._gathered(results, out)

    def _results(
        self, lead: Shape, dtype: np.dtype[Any], out: list[Array] | None, arrays: Sequence[Array]
    ) -> list[Array]:
        """New arrays for what is saved, or those given."""
        if out is None and not compiles():
            return [np.empty((*lead, *port.shape), dtype) for port in self.program.outputs]
        results = results_of(self.program.outputs, lead, dtype, out)
        for name, array in zip(self._names, out or [], strict=False):
            # Trajectories may lie apart, each in one piece: a part of a longer record
            whole = array.flags.carray or (len(lead) == 2 and len(array) > 0 and array[0].flags.carray)
            if not whole or any(np.may_share_memory(array, x) for x in arrays):
                raise ShapeError(f"out: `{name}` must be contiguous, writeable, and no part of an input.")
        return results

    def _remember(self, dtype: np.dtype[Any], ports: Sequence[Port], steps: int, every: int) -> None:
        """Let the next call of as many steps go straight to the machine code, if it is done before anybody would press Ctrl-C."""
        one = steps * self._operations
        if one > AT_ONCE:
            return
        address, scratch, native = self._native(dtype)
        shapes = [(steps // every, *port.shape) for port in self.program.outputs]
        most, sharing, extra = max(1, WORTH_A_THREAD // one), least_to_share(one), (steps // every * every, every)
        found = shapes, dtype, 0, address, most, scratch, ref(native), dict, self._names
        target = Target(*found, extra=extra, sharing=sharing)
        pattern = {port.name: Numbers(port.shape) for port in ports}
        self._entry.remember({**pattern, "steps": int(steps), "every": int(every)}, target)
        if every == 1:
            self._entry.remember({**pattern, "steps": int(steps)}, target)

    def _uncompiled(self, arrays: list[Array], batch: Shape, steps: int, every: int, results: list[Array]) -> None:
        """The same loop as Python over the step's NumPy source."""
        step, ports = self._source(), self.program.graph.inputs
        first, last = self.roles.state, self.roles.state + self.roles.inputs
        state = list(arrays[:first])
        for t in reversed(range(steps)) if self.roles.backward else range(steps):
            moving = zip(arrays[first:last], ports[first:last], strict=True)
            now = [np.take(a, t, axis=a.ndim - len(port.shape) - 1) for a, port in moving]
            with np.errstate(all="ignore"):
                values = list(step(*state, *now, *arrays[last:]).values())
            state = values[:first]
            if (t + 1) % every == 0:
                for target, value, port in zip(results, values, self.program.outputs, strict=True):
                    saved = np.moveaxis(target, len(batch), 0)
                    saved[(t + 1) // every - 1] = np.broadcast_to(value, (*batch, *port.shape))

    def _ports(self, steps: int) -> Sequence[Port]:
        ports, first, last = self.program.graph.inputs, self.roles.state, self.roles.state + self.roles.inputs
        along = [Port(port.name, (steps, *port.shape)) for port in ports[first:last]]
        return [*ports[:first], *along, *ports[last:]]

    def _run(
        self, dtype: np.dtype[Any], states: int, steps: int, every: int, operands: list[Array], strides: list[int]
    ) -> None:
        code = self._native(dtype)
        sizes = [port.size * dtype.itemsize for port in (*self.program.graph.inputs, *self.program.outputs)]
        given = [(address_of(array), stride) for array, stride in zip(operands, strides, strict=True)]
        for start, length in parts(states, steps * self._operations):
            moved = [(at + start * stride, stride) for at, stride in given]
            between = _Between(self.roles, sizes, moved, length, steps)
            most = max(1, AT_ONCE * get_threads() // (self._operations * length))
            for done, now, apart in _stretches(steps // every * every, every, most):
                places, gaps = zip(*between.operands(done, now, every), strict=True)
                share(code.address, length, now * self._operations, places, gaps, code.scratch, extra=(now, apart))

    def _native(self, dtype: np.dtype[Any]) -> Code:
        with self._lock:
            if dtype not in self._natives:
                module = emit_scan.emit(self.program, self.roles, ELEMENTS[dtype], engine.host_target())
                key = hashlib.sha256("".join(module.texts).encode()).hexdigest()
                about = {"operations": self._operations}
                native = machine_code(f"scan|{key}", ["scan_many"], lambda: (module, about))
                self._natives[dtype] = Code(native.address("scan_many"), module.scratch, native)
            return self._natives[dtype]  # type: ignore[no-any-return]

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
            is_saved = (done + count) % every == 0 or count >= every
            yield self._result(k, saved) if is_saved else self._kept(k, self._parity)

    def _result(self, k: int, index: int) -> tuple[int, int]:
        at, stride = self._given[self._inputs + k]
        return at + index * self._sizes[self._inputs + k], stride

    def _kept(self, k: int, parity: int) -> tuple[int, int]:
        """One of two places in turn: what is read is not written to at the same time."""
        sizes = self._sizes[self._inputs :]
        if not self._own:
            self._own = [[ctypes.create_string_buffer(self._length * size) for size in sizes] for _ in range(2)]
        return ctypes.addressof(self._own[parity][k]), sizes[k]
