"""Kernels inside JAX on the CPU: the same machine code, called by XLA through its typed foreign-function interface.

The handler is generated like the kernel itself. It reads XLA's call frame, whose layout belongs to the interface's version
(0.3 here); XLA asks for the version at registration and refuses one it does not support.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.compiler import engine
from torsor.compiler.native import ALIGNMENT, NativeFunction

if TYPE_CHECKING:
    from torsor.compiler.kernel import Kernel

Array = Any
_ALIVE: list[object] = []  # XLA keeps the addresses for as long as the process lives
_names = itertools.count()

# Offsets in XLA_FFI_CallFrame and what it points to, version 0.3 of the interface
_EXTENSION, _ARGS, _RETS = 8, 72, 112
_BUFFER_DATA, _BUFFER_RANK, _BUFFER_DIMS = 24, 32, 40
_EXTENSION_TYPE, _METADATA = 8, 24
_MAJOR_AT, _MINOR_AT, _TRAITS_AT = 24, 28, 32
_IS_METADATA, _MAJOR, _MINOR = 1, 0, 3


def jax_function(kernel: Kernel) -> Callable[..., Any]:
    """A JAX function of the kernel's inputs, for `jit`, `vmap` (a batch) and derivatives (the kernel's own Jacobian).

    One output is returned as an array, several as a dict; leading batch axes broadcast as in the kernel.
    """
    call = _outputs(kernel)
    names = list(kernel.outputs)

    def function(*arrays: Array) -> Any:
        results = call(*arrays)
        return results[0] if len(names) == 1 else dict(zip(names, results, strict=True))

    return function


def _outputs(kernel: Kernel) -> Callable[..., tuple[Array, ...]]:
    """The kernel as a differentiable function from arrays to a tuple of outputs."""
    import jax
    import jax.numpy as jnp

    shapes = list(kernel.inputs.values())

    @cache
    def slopes(output: str) -> Callable[..., tuple[Array, ...]]:
        return _outputs(kernel.jacobian(output, *kernel.inputs))  # itself differentiable, when asked

    def evaluate(*arrays: Array) -> tuple[Array, ...]:
        arrays = tuple(jnp.asarray(array) for array in arrays)
        dtype = np.dtype(jnp.result_type(*arrays, jnp.float32))
        leads = [array.shape[: array.ndim - len(shape)] for array, shape in zip(arrays, shapes, strict=True)]
        batch = np.broadcast_shapes(*leads)
        full = [
            jnp.broadcast_to(array, (*batch, *shape)).astype(dtype) for array, shape in zip(arrays, shapes, strict=True)
        ]
        results = [jax.ShapeDtypeStruct((*batch, *shape), dtype) for shape in kernel.outputs.values()]
        return tuple(jax.ffi.ffi_call(_target(kernel, dtype.name), results, vmap_method="broadcast_all")(*full))

    call = jax.custom_jvp(evaluate)

    def tangents(primals: tuple[Array, ...], changes: tuple[Array, ...]) -> tuple[Any, Any]:
        values = call(*primals)
        moved = []
        for (name, shape), value in zip(kernel.outputs.items(), values, strict=True):
            batch = value.shape[: value.ndim - len(shape)]
            total = jnp.zeros_like(value)
            for J, change, inner in zip(slopes(name)(*primals), changes, shapes, strict=True):
                flat = J.reshape(*J.shape[: J.ndim - len(shape) - len(inner)], int(np.prod(shape)), int(np.prod(inner)))
                lead = change.shape[: change.ndim - len(inner)]
                step = change.reshape(*lead, int(np.prod(inner)))
                product = jnp.einsum("...oi,...i->...o", flat, step)
                total = total + jnp.broadcast_to(product, (*batch, int(np.prod(shape)))).reshape(value.shape)
            moved.append(total)
        return values, tuple(moved)

    call.defjvp(tangents)
    return call  # type: ignore[no-any-return]


def _target(kernel: Kernel, dtype: str) -> str:
    """Name under which XLA knows the kernel in one precision; registered on first use."""
    known: dict[str, str] = kernel.__dict__.setdefault("_jax_targets", {})
    if dtype not in known:
        import jax

        code = kernel.native(np.dtype(dtype))
        handler = engine.compile_ir(_ir(code))
        _ALIVE.extend((code, handler))
        capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
            ("PyCapsule_New", ctypes.pythonapi)
        )
        name = f"torsor_kernel_{next(_names)}"
        jax.ffi.register_ffi_target(name, capsule(handler.address("handler"), None, None), platform="cpu")
        known[dtype] = name
    return known[dtype]


def _ir(code: NativeFunction) -> str:
    """The handler: answer a request for metadata, else gather addresses and call ``kernel_many``."""
    ports, inputs = [*code.inputs, *code.outputs], len(code.inputs)
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
            f"  store i64 {ports[k].size * code.dtype.itemsize}, ptr %s{k}",
        ]
    size = max(code.many.scratch, code.one.scratch, 8)
    first = inputs  # the first output tells the batch
    return f"""
define ptr @handler(ptr %frame) {{
entry:
  %operands = alloca ptr, i64 {len(ports) + 2}
  %strides = alloca i64, i64 {len(ports)}
  %scratch = alloca i8, i64 {size}, align {ALIGNMENT}
  %extension_at = getelementptr i8, ptr %frame, i64 {_EXTENSION}
  %extension = load ptr, ptr %extension_at
  %asked = icmp ne ptr %extension, null
  br i1 %asked, label %kind, label %run
kind:
  %type_at = getelementptr i8, ptr %extension, i64 {_EXTENSION_TYPE}
  %type = load i32, ptr %type_at
  %metadata_wanted = icmp eq i32 %type, {_IS_METADATA}
  br i1 %metadata_wanted, label %answer, label %run
answer:
  %metadata_at = getelementptr i8, ptr %extension, i64 {_METADATA}
  %metadata = load ptr, ptr %metadata_at
  %major = getelementptr i8, ptr %metadata, i64 {_MAJOR_AT}
  store i32 {_MAJOR}, ptr %major
  %minor = getelementptr i8, ptr %metadata, i64 {_MINOR_AT}
  store i32 {_MINOR}, ptr %minor
  %traits = getelementptr i8, ptr %metadata, i64 {_TRAITS_AT}
  store i32 0, ptr %traits
  ret ptr null
run:
  %args_at = getelementptr i8, ptr %frame, i64 {_ARGS}
  %args = load ptr, ptr %args_at
  %rets_at = getelementptr i8, ptr %frame, i64 {_RETS}
  %rets = load ptr, ptr %rets_at
{chr(10).join(lines)}
  %scratch_slot = getelementptr ptr, ptr %operands, i64 {len(ports)}
  store ptr %scratch, ptr %scratch_slot
  %one_slot = getelementptr ptr, ptr %operands, i64 {len(ports) + 1}
  store ptr inttoptr (i64 {code.one.address} to ptr), ptr %one_slot
  %rank_at = getelementptr i8, ptr %b{first}, i64 {_BUFFER_RANK}
  %rank = load i64, ptr %rank_at
  %lead = sub i64 %rank, {len(ports[first].shape)}
  %dims_at = getelementptr i8, ptr %b{first}, i64 {_BUFFER_DIMS}
  %dims = load ptr, ptr %dims_at
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
  call void inttoptr (i64 {code.many.address} to ptr)(i64 %count, ptr %operands, ptr %strides)
  ret ptr null
}}
"""
