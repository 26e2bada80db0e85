"""The generated entry of `front_door` as LLVM IR; a C function with the flags METH_FASTCALL | METH_KEYWORDS.

It reads `FrontDoor` (through ctypes' pointer after the object header), walks over the arguments and, if all are what the
door was opened for, makes the result array and calls the kernel.
"""

from __future__ import annotations

HEADER = object.__basicsize__  # reference count and type
FIELDS = (
    "arguments", "fixed", "sizes", "kernel", "scratch", "array_type", "descr", "rank", "shape", "array_new", "vectorcall",
)  # fmt: skip
_LOADS = "".join(
    f"  %{name}_at = getelementptr ptr, ptr %door, i64 {k}\n  %{name} = load ptr, ptr %{name}_at\n"
    for k, name in enumerate(FIELDS)
)
IR = f"""
define ptr @front_door(ptr %self, ptr %args, i64 %nargs, ptr %names) {{
entry:
  %door_at = getelementptr i8, ptr %self, i64 {HEADER}
  %door = load ptr, ptr %door_at
{_LOADS}
  %wanted = ptrtoint ptr %arguments to i64
  %operands = alloca ptr, i64 16
  %plain = icmp eq ptr %names, null
  %enough = icmp eq i64 %nargs, %wanted
  %start = and i1 %plain, %enough
  br i1 %start, label %next, label %forward
next:
  %k = phi i64 [0, %entry], [%k1, %same], [%k1, %good]
  %n = phi i64 [0, %entry], [%n, %same], [%n1, %good]
  %k1 = add i64 %k, 1
  %n1 = add i64 %n, 1
  %more = icmp ult i64 %k, %wanted
  br i1 %more, label %which, label %make
which:
  %arg_at = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg_at
  %fixed_k_at = getelementptr ptr, ptr %fixed, i64 %k
  %fixed_k = load ptr, ptr %fixed_k_at
  %is_number = icmp eq ptr %fixed_k, null
  br i1 %is_number, label %look, label %compare
compare:
  %identical = icmp eq ptr %arg, %fixed_k
  br i1 %identical, label %same, label %forward
same:
  br label %next
look:
  %type_at = getelementptr i8, ptr %arg, i64 8
  %type = load ptr, ptr %type_at
  %is_array = icmp eq ptr %type, %array_type
  br i1 %is_array, label %inside, label %forward
inside:
  %data_at = getelementptr i8, ptr %arg, i64 {HEADER}
  %arg_rank_at = getelementptr i8, ptr %arg, i64 {HEADER + 8}
  %dims_at = getelementptr i8, ptr %arg, i64 {HEADER + 16}
  %steps_at = getelementptr i8, ptr %arg, i64 {HEADER + 24}
  %descr_of_at = getelementptr i8, ptr %arg, i64 {HEADER + 40}
  %flags_at = getelementptr i8, ptr %arg, i64 {HEADER + 48}
  %rank_of = load i32, ptr %arg_rank_at
  %descr_of = load ptr, ptr %descr_of_at
  %flags = load i32, ptr %flags_at
  %one = icmp eq i32 %rank_of, 1
  %double = icmp eq ptr %descr_of, %descr
  %aligned_bit = and i32 %flags, 256
  %aligned = icmp ne i32 %aligned_bit, 0
  %ok1 = and i1 %one, %double
  %ok2 = and i1 %ok1, %aligned
  br i1 %ok2, label %shape_test, label %forward
shape_test:
  %dims = load ptr, ptr %dims_at
  %steps = load ptr, ptr %steps_at
  %length = load i64, ptr %dims
  %step = load i64, ptr %steps
  %size_at = getelementptr i64, ptr %sizes, i64 %k
  %size = load i64, ptr %size_at
  %right = icmp eq i64 %length, %size
  %packed = icmp eq i64 %step, 8
  %ok3 = and i1 %right, %packed
  br i1 %ok3, label %good, label %forward
good:
  %data = load ptr, ptr %data_at
  %slot = getelementptr ptr, ptr %operands, i64 %n
  store ptr %data, ptr %slot
  br label %next
make:
  %rank64 = ptrtoint ptr %rank to i64
  %rank32 = trunc i64 %rank64 to i32
  %result = call ptr %array_new(ptr %array_type, i32 %rank32, ptr %shape, i32 12, ptr null, ptr null, i32 0, i32 0, ptr null)
  %failed = icmp eq ptr %result, null
  br i1 %failed, label %end, label %run
run:
  %result_data_at = getelementptr i8, ptr %result, i64 {HEADER}
  %result_data = load ptr, ptr %result_data_at
  %last = getelementptr ptr, ptr %operands, i64 %n
  store ptr %result_data, ptr %last
  %beyond = getelementptr ptr, ptr %operands, i64 %n1
  store ptr %scratch, ptr %beyond
  call void %kernel(ptr %operands)
  br label %end
end:
  ret ptr %result
forward:
  %answer = call ptr %vectorcall(ptr %self, ptr %args, i64 %nargs, ptr %names)
  ret ptr %answer
}}
"""
