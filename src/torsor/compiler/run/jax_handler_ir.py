"""What XLA calls: a handler generated like the kernel itself, which reads XLA's call frame and calls ``kernel_many``, or
``kernel_one`` for one state after the other.

The layout of the frame belongs to the version of XLA's foreign-function interface. What is read here is the same in versions
0.1 (JAX 0.5) to 0.3 (JAX 0.10). XLA asks for the version at registration, takes an older one than its own, and refuses a newer
one: so the answer is the oldest.
"""

from __future__ import annotations

from collections.abc import Sequence

from torsor.compiler.graph import Port
from torsor.compiler.run.native import ALIGNMENT, NativeFunction

# Offsets in XLA_FFI_CallFrame and what it points to
_EXTENSION, _ARGS, _RETS = 8, 72, 112
_BUFFER_DATA, _BUFFER_RANK, _BUFFER_DIMS = 24, 32, 40
_EXTENSION_TYPE, _METADATA = 8, 24
_MAJOR_AT, _MINOR_AT, _TRAITS_AT = 24, 28, 32
_IS_METADATA, _MAJOR, _MINOR = 1, 0, 1


def handler_ir(code: NativeFunction, *, one_by_one: bool = False) -> str:
    """The handler: answer a request for metadata, else gather addresses and call the kernel."""
    ports, inputs = [*code.inputs, *code.outputs], len(code.inputs)
    lines = _addresses(ports, inputs, code.dtype.itemsize)
    size = (code.one.scratch if one_by_one else max(code.many.scratch, code.one.scratch)) + ALIGNMENT
    first = inputs  # the first output tells the batch
    return f"""
declare ptr @malloc(i64)
declare void @free(ptr)
define ptr @handler(ptr %frame) {{
entry:
  %operands = alloca ptr, i64 {len(ports) + 2}
  %strides = alloca i64, i64 {len(ports)}
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
  %room = call ptr @malloc(i64 {size})
  %start = ptrtoint ptr %room to i64
  %beyond = add i64 %start, {ALIGNMENT - 1}
  %aligned = and i64 %beyond, -{ALIGNMENT}
  %scratch = inttoptr i64 %aligned to ptr
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
{chr(10).join(_each(code, len(ports)) if one_by_one else _all_at_once(code))}
  call void @free(ptr %room)
  ret ptr null
}}
"""


def _all_at_once(code: NativeFunction) -> list[str]:
    return [f"  call void inttoptr (i64 {code.many.address} to ptr)(i64 %count, ptr %operands, ptr %strides)"]


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
