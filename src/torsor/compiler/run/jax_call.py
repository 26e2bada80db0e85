"""Kernels inside JAX on the CPU: the same machine code, called by XLA through its typed foreign-function interface."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Protocol

import numpy as np

from torsor.compiler.print.words import Function, Word, module
from torsor.compiler.run import engine
from torsor.compiler.run.native import NativeFunction
from torsor.compiler.run.python_layout import capsule_of
from torsor.compiler.run.threads import ALIGNMENT
from torsor.compiler.trace import trace

Array = Any
_ALIVE: list[object] = []  # XLA keeps the addresses for as long as the process lives
_names = itertools.count()
# Offsets in XLA_FFI_CallFrame and what it points to
_EXTENSION, _ARGS, _RETS = 8, 72, 112
_BUFFER_DATA, _BUFFER_RANK, _BUFFER_DIMS = 24, 32, 40
_EXTENSION_TYPE, _METADATA = 8, 24
_MAJOR_AT, _MINOR_AT, _TRAITS_AT = 24, 28, 32
_IS_METADATA, _MAJOR, _MINOR = 1, 0, 1


# How inputs that move move the outputs
Push = Callable[[tuple[Array, ...], dict[str, Array]], tuple[Array, ...] | None]


class Callee(Protocol):
    """What is called: a `Kernel`, or what has the same parts of it."""

    @property
    def inputs(self) -> Mapping[str, tuple[int, ...]]:
        """Shape of each input, by name, in order."""

    @property
    def outputs(self) -> Mapping[str, tuple[int, ...]]:
        """Shape of each output, by name, in order."""

    def native(self, dtype: np.dtype[Any]) -> NativeFunction:
        """The machine code for one precision."""

    def jacobian(self, output: str, *inputs: str) -> Callee:
        """The derivatives of an output by inputs, in the order of ``inputs``."""


def jax_function(kernel: Callee) -> Callable[..., Any]:
    """A JAX function of the kernel's inputs, for `jit`, `vmap` (a batch) and derivatives (the kernel's own Jacobian).

    One output is returned as an array, several as a dict; leading batch axes broadcast as in the kernel.
    """
    call = jax_outputs(kernel)
    names = list(kernel.outputs)

    def function(*arrays: Array) -> Any:
        results = call(*arrays)
        return results[0] if len(names) == 1 else dict(zip(names, results, strict=True))

    return function


@cache
def why_missing() -> str | None:
    """Why JAX cannot call kernels here, or None: a first call is made to see."""
    import jax

    from torsor.compiler.kernel import Kernel

    if jax.default_backend() != "cpu":
        return f"JAX computes on {jax.default_backend()}, kernels on the CPU"
    kernel = Kernel("self-test", trace(lambda x: 2.0 * x + 1.0, {"x": (3,)}))
    numbers = np.arange(6, dtype=np.float32).reshape(2, 3)
    try:
        name = _register(kernel.native(numbers.dtype))
        call = jax.ffi.ffi_call(name, jax.ShapeDtypeStruct(numbers.shape, numbers.dtype))
        with jax.ensure_compile_time_eval():  # the caller may be tracing
            is_right = np.array_equal(call(numbers), 2.0 * numbers + 1.0)
        reason = None if is_right else "called a kernel and got wrong numbers"
    except Exception as error:  # whatever another version of JAX answers
        reason = f"did not take a kernel: {type(error).__name__}: {error}"
    if reason is None:
        return None
    reason = f"JAX {jax.__version__} {reason}"
    warnings.warn(f"torsor runs as jax.numpy inside JAX, slower: {reason}", RuntimeWarning, stacklevel=4)
    return reason


def jax_outputs(
    kernel: Callee, plain: Callable[..., Any] | None = None, push: Push | None = None, *, one_by_one: bool = False
) -> Callable[..., tuple[Array, ...]]:
    """The kernel as a differentiable function from arrays to a tuple of outputs.

    ``plain``, a JAX function of the same arrays to the same tuple, is differentiated instead of the kernel, where that would
    be too large. ``push`` is asked first how the outputs change. ``one_by_one``: a batch is a loop over states, without the code
    for several at once, which takes longer to compile than the rest.
    """
    import jax
    import jax.numpy as jnp
    from jax.custom_derivatives import SymbolicZero

    shapes = kernel.inputs

    @cache
    def slopes(output: str, moving: tuple[str, ...]) -> Callable[..., tuple[Array, ...]]:
        return jax_outputs(kernel.jacobian(output, *moving), one_by_one=one_by_one)  # itself differentiable, when asked

    def evaluate(*arrays: Array) -> tuple[Array, ...]:
        arrays = tuple(jnp.asarray(array) for array in arrays)
        dtype = np.dtype(jnp.result_type(*arrays, jnp.float32))
        each = list(zip(arrays, shapes.values(), strict=True))
        batch = np.broadcast_shapes(*(array.shape[: array.ndim - len(shape)] for array, shape in each))
        full = [jnp.broadcast_to(array, (*batch, *shape)).astype(dtype) for array, shape in each]
        results = [jax.ShapeDtypeStruct((*batch, *shape), dtype) for shape in kernel.outputs.values()]
        return tuple(jax.ffi.ffi_call(_target(kernel, dtype, one_by_one), results, vmap_method="broadcast_all")(*full))

    call = jax.custom_jvp(evaluate)

    def tangents(primals: tuple[Array, ...], changes: tuple[Array, ...]) -> tuple[Any, Any]:
        values = call(*primals)
        moving = {name: x for name, x in zip(shapes, changes, strict=True) if not isinstance(x, SymbolicZero)}
        known = None if push is None or not moving else push(primals, moving)
        if known is not None:
            changed = zip(known, values, strict=True)
            return values, tuple(jnp.broadcast_to(x, value.shape).astype(value.dtype) for x, value in changed)
        if plain is not None:
            return values, _pushed(plain, dict(zip(shapes, primals, strict=True)), moving)
        moved = []
        for (name, shape), value in zip(kernel.outputs.items(), values, strict=True):
            batch = value.shape[: value.ndim - len(shape)]
            size = int(np.prod(shape))
            total = jnp.zeros_like(value)
            if moving:
                for J, (other, change) in zip(slopes(name, tuple(moving))(*primals), moving.items(), strict=True):
                    inner = shapes[other]
                    width = int(np.prod(inner))
                    flat = J.reshape(*J.shape[: J.ndim - len(shape) - len(inner)], size, width)
                    step = change.reshape(*change.shape[: change.ndim - len(inner)], width)
                    product = jnp.einsum("...oi,...i->...o", flat, step)
                    total = total + jnp.broadcast_to(product, (*batch, size)).reshape(value.shape)
            moved.append(total)
        return values, tuple(moved)

    call.defjvp(tangents, symbolic_zeros=True)
    return call  # type: ignore[no-any-return]


def _pushed(plain: Callable[..., Any], at: dict[str, Array], moving: dict[str, Array]) -> tuple[Array, ...]:
    """The change of ``plain`` for changes of some of its arrays."""
    import jax

    def of_moving(*arrays: Array) -> tuple[Array, ...]:
        return tuple(plain(*{**at, **dict(zip(moving, arrays, strict=True))}.values()))

    return tuple(jax.jvp(of_moving, tuple(at[name] for name in moving), tuple(moving.values()))[1])


def _target(kernel: Callee, dtype: np.dtype[Any], one_by_one: bool) -> str:
    """Name under which XLA knows the kernel in one precision; registered on first use."""
    known: dict[str, str] = kernel.__dict__.setdefault("_jax_targets", {})
    if dtype.name not in known:
        known[dtype.name] = _register(kernel.native(dtype), one_by_one=one_by_one)
    return known[dtype.name]


def _register(code: NativeFunction, *, one_by_one: bool = False) -> str:
    import jax

    handler = engine.compile_ir(handler_ir(code, one_by_one=one_by_one), "handler")
    _ALIVE.extend((code.codes, handler))
    name = f"torsor_kernel_{next(_names)}"
    jax.ffi.register_ffi_target(name, capsule_of(handler.address("handler")), platform="cpu")
    return name


def handler_ir(code: NativeFunction, *, one_by_one: bool = False) -> str:
    """The handler that XLA calls, generated like the kernel: answer a request for metadata, else gather addresses and call it.

    It reads XLA's call frame and calls ``kernel_many``, or ``kernel_one`` for one state after the other. The layout of the frame
    belongs to the version of XLA's foreign-function interface. What is read here is the same in versions 0.1 (JAX 0.5) to 0.3
    (JAX 0.10). XLA asks for the version at registration, takes an older one than its own, and refuses a newer one: so the answer
    is the oldest.
    """
    ports, inputs = [*code.inputs, *code.outputs], len(code.inputs)

    def handler(f: Function, frame: Word) -> None:
        extension = f.load(frame + _EXTENSION)
        with f.when(extension != 0), f.when(f.load_32(extension + _EXTENSION_TYPE) == _IS_METADATA):
            metadata = f.load(extension + _METADATA)
            for place, value in ((_MAJOR_AT, _MAJOR), (_MINOR_AT, _MINOR), (_TRAITS_AT, 0)):
                f.store_32(metadata + place, value)
            f.give(0)
        args, rets = f.load(frame + _ARGS), f.load(frame + _RETS)
        operands, strides = f.block(len(ports) + 2), f.block(len(ports))
        for k, port in enumerate(ports):
            buffer = f.load(args, k) if k < inputs else f.load(rets, k - inputs)
            f.store(operands, f.load(buffer + _BUFFER_DATA), k)
            f.store(strides, port.size * code.dtype.itemsize, k)
        size = code.one.scratch if one_by_one else max(code.many.scratch, code.one.scratch)
        room = f.call("malloc", size + ALIGNMENT)
        f.store(operands, (room + (ALIGNMENT - 1)) & -ALIGNMENT, len(ports))
        f.store(operands, code.one.address, len(ports) + 1)
        first, count = f.load(rets), f.variable(1)  # the first output tells the batch
        dims = f.load(first + _BUFFER_DIMS)
        with f.loop(f.load(first + _BUFFER_RANK) - len(code.outputs[0].shape)) as axis:
            count.set(count.get() * f.load(dims, axis))
        if one_by_one:
            with f.loop(count.get()):
                f.call(f.word(code.one.address), operands, gives="void")
                for k in range(len(ports)):
                    f.store(operands, f.load(operands, k) + f.load(strides, k), k)
        else:
            f.call(f.word(code.many.address), count.get(), operands, strides, gives="void")
        f.call("free", room, gives="void")
        f.give(0)

    return module([handler], "declare i64 @malloc(i64)", "declare void @free(i64)")
