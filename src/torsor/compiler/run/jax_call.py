"""Kernels inside JAX on the CPU: the same machine code, called by XLA through its typed foreign-function interface."""

from __future__ import annotations

import ctypes
import itertools
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np

from torsor.compiler.graph import Port
from torsor.compiler.run import engine
from torsor.compiler.run.native import ALIGNMENT, Codes, NativeFunction, compile_part
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


Push = Callable[
    [tuple[Array, ...], dict[str, Array]], tuple[Array, ...] | None
]  # how inputs that move move the outputs


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

    if jax.default_backend() != "cpu":
        return f"JAX computes on {jax.default_backend()}, kernels on the CPU"
    program = trace(lambda x: 2.0 * x + 1.0, {"x": (3,)})
    about = {"inputs": [["x", (3,)]], "outputs": [["result", (3,)]], "dtype": "float32", "operations": 6}
    numbers = np.arange(6, dtype=np.float32).reshape(2, 3)
    try:
        codes = Codes(about, lambda part, make: compile_part(make(), part, np.dtype(np.float32)))
        handler = NativeFunction(codes, lambda: program)
        call = jax.ffi.ffi_call(_register(handler), jax.ShapeDtypeStruct((2, 3), np.float32))
        with jax.ensure_compile_time_eval():  # the caller may be tracing
            reason = (
                None if np.array_equal(call(numbers), 2.0 * numbers + 1.0) else "called a kernel and got wrong numbers"
            )
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
    capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi)
    )
    name = f"torsor_kernel_{next(_names)}"
    jax.ffi.register_ffi_target(name, capsule(handler.address("handler"), None, None), platform="cpu")
    return name


def handler_ir(code: NativeFunction, *, one_by_one: bool = False) -> str:
    """The handler that XLA calls, generated like the kernel: answer a request for metadata, else gather addresses and call it.

    It reads XLA's call frame and calls ``kernel_many``, or ``kernel_one`` for one state after the other. The layout of the frame
    belongs to the version of XLA's foreign-function interface. What is read here is the same in versions 0.1 (JAX 0.5) to 0.3
    (JAX 0.10). XLA asks for the version at registration, takes an older one than its own, and refuses a newer one: so the answer
    is the oldest.
    """
    ports, inputs = [*code.inputs, *code.outputs], len(code.inputs)
    lines = _addresses(ports, inputs, code.dtype.itemsize)
    if one_by_one:
        size, calls = code.one.scratch + ALIGNMENT, _each(code, len(ports))
    else:
        size, many = max(code.many.scratch, code.one.scratch) + ALIGNMENT, code.many.address
        calls = [f"  call void inttoptr (i64 {many} to ptr)(i64 %count, ptr %operands, ptr %strides)"]
    first = inputs  # the first output tells the batch
    return f"""
declare ptr @malloc(i64)
declare void @free(ptr)
define ptr @handler(ptr %frame) {{
entry:
  %operands = alloca ptr, i64 {len(ports) + 2}
  %strides = alloca i64, i64 {len(ports)}
{_read("extension", "ptr", "%frame", _EXTENSION)}
  %asked = icmp ne ptr %extension, null
  br i1 %asked, label %kind, label %run
kind:
{_read("type", "i32", "%extension", _EXTENSION_TYPE)}
  %metadata_wanted = icmp eq i32 %type, {_IS_METADATA}
  br i1 %metadata_wanted, label %answer, label %run
answer:
{_read("metadata", "ptr", "%extension", _METADATA)}
{_write("major", "%metadata", _MAJOR_AT, _MAJOR)}
{_write("minor", "%metadata", _MINOR_AT, _MINOR)}
{_write("traits", "%metadata", _TRAITS_AT, 0)}
  ret ptr null
run:
{_read("args", "ptr", "%frame", _ARGS)}
{_read("rets", "ptr", "%frame", _RETS)}
{chr(10).join(lines)}
  %room = call ptr @malloc(i64 {size})
  %start = ptrtoint ptr %room to i64
  %beyond = add i64 %start, {ALIGNMENT - 1}
  %aligned = and i64 %beyond, -{ALIGNMENT}
  %scratch = inttoptr i64 %aligned to ptr
  %scratch_slot = getelementptr ptr, ptr %operands, i64 {len(ports)}
  store ptr %scratch, ptr %scratch_slot
  %one_slot = getelementptr ptr, ptr %operands, i64 {len(ports) + 1}
  store ptr inttoptr (i64 {code.one.address} to ptr), ptr %one_slot
{_read("rank", "i64", f"%b{first}", _BUFFER_RANK)}
  %lead = sub i64 %rank, {len(ports[first].shape)}
{_read("dims", "ptr", f"%b{first}", _BUFFER_DIMS)}
  br label %next
next:
  %axis = phi i64 [0, %run], [%axis1, %factor]
  %count = phi i64 [1, %run], [%count1, %factor]
  %more = icmp ult i64 %axis, %lead
  br i1 %more, label %factor, label %go
factor:
  %dim_at = getelementptr i64, ptr %dims, i64 %axis
  %dim = load i64, ptr %dim_at
  %count1 = mul i64 %count, %dim
  %axis1 = add i64 %axis, 1
  br label %next
go:
{chr(10).join(calls)}
  call void @free(ptr %room)
  ret ptr null
}}
"""


def _read(name: str, kind: str, base: str, offset: int) -> str:
    """Lines for the field ``name`` of a struct, so many bytes from its start."""
    return f"  %{name}_at = getelementptr i8, ptr {base}, i64 {offset}\n  %{name} = load {kind}, ptr %{name}_at"


def _write(name: str, base: str, offset: int, value: int) -> str:
    """Lines that give a field of a struct, an i32, its value."""
    return f"  %{name} = getelementptr i8, ptr {base}, i64 {offset}\n  store i32 {value}, ptr %{name}"


def _each(code: NativeFunction, ports: int) -> list[str]:
    """Lines that call ``kernel_one`` for each state, and then move all operands on to the next."""
    lines = [
        "  br label %state",
        "state:",
        "  %done = phi i64 [0, %go], [%done1, %step]",
        "  %left = icmp ult i64 %done, %count",
        "  br i1 %left, label %step, label %end",
        "step:",
        f"  call void inttoptr (i64 {code.one.address} to ptr)(ptr %operands)",
    ]
    for k in range(ports):
        lines += [
            f"  %at{k} = load ptr, ptr %o{k}",
            f"  %by{k} = load i64, ptr %s{k}",
            f"  %to{k} = getelementptr i8, ptr %at{k}, i64 %by{k}",
            f"  store ptr %to{k}, ptr %o{k}",
        ]
    return [*lines, "  %done1 = add i64 %done, 1", "  br label %state", "end:"]


def _addresses(ports: Sequence[Port], inputs: int, itemsize: int) -> list[str]:
    """Lines that fill the operands with the addresses of the buffers, and the strides with the bytes of one state."""
    lines: list[str] = []
    for k in range(len(ports)):
        source, place = ("%args", k) if k < inputs else ("%rets", k - inputs)
        lines += [
            f"  %b{k}_at = getelementptr ptr, ptr {source}, i64 {place}",
            f"  %b{k} = load ptr, ptr %b{k}_at",
            f"  %d{k}_at = getelementptr i8, ptr %b{k}, i64 {_BUFFER_DATA}",
            f"  %d{k} = load ptr, ptr %d{k}_at",
            f"  %o{k} = getelementptr ptr, ptr %operands, i64 {k}",
            f"  store ptr %d{k}, ptr %o{k}",
            f"  %s{k} = getelementptr i64, ptr %strides, i64 {k}",
            f"  store i64 {ports[k].size * itemsize}, ptr %s{k}",
        ]
    return lines
