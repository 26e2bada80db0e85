"""The generated entry of `front_door` as LLVM IR; a C function with the flags METH_FASTCALL | METH_KEYWORDS.

It reads `FrontDoor` (through ctypes' pointer after the object header), walks over the arguments and, if all are what the
door was opened for, one state or (if there is code for ``many``) a batch of up to ``most``, makes the result arrays and calls
the kernel. Several results are returned as a tuple,
or as the named tuple the door was opened for: a subclass of tuple without fields of its own, allocated as CPython does.
"""

from __future__ import annotations

HEADER = object.__basicsize__  # reference count and type
FIELDS = (
    "arguments", "fixed", "sizes", "kernel", "scratch", "outputs", "kind", "ranks", "shapes",
    "many", "most", "strides", "shapes_many",
    "array_type", "descr", "array_new", "vectorcall", "tuple_new", "alloc", "tuple_set", "release",
)  # fmt: skip
_LOADS = "".join(
    f"  %{name}_at = getelementptr ptr, ptr %door, i64 {k}\n  %{name} = load ptr, ptr %{name}_at\n"
    for k, name in enumerate(FIELDS)
)
_KEEPS_HASH = tuple.__basicsize__ > HEADER + 8  # Python 3.14 keeps a tuple's hash after its length; −1: not known yet
_NAMED = "[%tuple_2, %set_hash], [null, %unhash]" if _KEEPS_HASH else "[%tuple_2, %named_tuple]"
_UNHASH = (
    f"""  br label %unhash
unhash:
  %nothing = icmp eq ptr %tuple_2, null
  br i1 %nothing, label %begin, label %set_hash
set_hash:
  %hash_at = getelementptr i8, ptr %tuple_2, i64 {HEADER + 8}
  store i64 -1, ptr %hash_at
  br label %begin"""
    if _KEEPS_HASH
    else "  br label %begin"
)
IR = f"""
define ptr @front_door(ptr %self, ptr %args, i64 %nargs, ptr %names) {{
entry:
  %door_at = getelementptr i8, ptr %self, i64 {HEADER}
  %door = load ptr, ptr %door_at
{_LOADS}
  %wanted = ptrtoint ptr %arguments to i64
  %operands = alloca ptr, i64 32
  %objects = alloca ptr, i64 16
  %plain = icmp eq ptr %names, null
  %enough = icmp eq i64 %nargs, %wanted
  %start = and i1 %plain, %enough
  br i1 %start, label %next, label %forward
next:
  %k = phi i64 [0, %entry], [%k1, %same], [%k1, %good]
  %n = phi i64 [0, %entry], [%n, %same], [%n1, %good]
  %states = phi i64 [-1, %entry], [%states, %same], [%found, %good]
  %k1 = add i64 %k, 1
  %n1 = add i64 %n, 1
  %more = icmp ult i64 %k, %wanted
  br i1 %more, label %which, label %choose
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
  %two = icmp eq i32 %rank_of, 2
  %ranked = or i1 %one, %two
  %double = icmp eq ptr %descr_of, %descr
  %aligned_bit = and i32 %flags, 256
  %aligned = icmp ne i32 %aligned_bit, 0
  %ok1 = and i1 %ranked, %double
  %ok2 = and i1 %ok1, %aligned
  br i1 %ok2, label %shape_test, label %forward
shape_test:
  %dims = load ptr, ptr %dims_at
  %steps = load ptr, ptr %steps_at
  %last = select i1 %two, i64 1, i64 0
  %length_at = getelementptr i64, ptr %dims, i64 %last
  %step_at = getelementptr i64, ptr %steps, i64 %last
  %length = load i64, ptr %length_at
  %step = load i64, ptr %step_at
  %size_at = getelementptr i64, ptr %sizes, i64 %k
  %size = load i64, ptr %size_at
  %right = icmp eq i64 %length, %size
  %packed = icmp eq i64 %step, 8
  %ok3 = and i1 %right, %packed
  br i1 %ok3, label %batch_test, label %forward
batch_test:
  %first_length = load i64, ptr %dims
  %first_step = load i64, ptr %steps
  %row_bytes = shl i64 %size, 3
  %dense = icmp eq i64 %first_step, %row_bytes
  %found = select i1 %two, i64 %first_length, i64 0
  %new_count = icmp eq i64 %states, -1
  %same_count = icmp eq i64 %states, %found
  %agrees = or i1 %new_count, %same_count
  %some_states = icmp ne i64 %first_length, 0
  %good_batch = and i1 %dense, %some_states
  %tight = or i1 %one, %good_batch
  %ok4 = and i1 %agrees, %tight
  br i1 %ok4, label %good, label %forward
good:
  %data = load ptr, ptr %data_at
  %slot = getelementptr ptr, ptr %operands, i64 %n
  store ptr %data, ptr %slot
  br label %next
choose:
  %made = ptrtoint ptr %outputs to i64
  %batched = icmp sgt i64 %states, 0
  br i1 %batched, label %batch, label %make
batch:
  %ready = icmp ne ptr %many, null
  %limit = ptrtoint ptr %most to i64
  %few = icmp ule i64 %states, %limit
  %allowed = and i1 %ready, %few
  %lone = icmp eq i64 %states, 1
  %go = or i1 %allowed, %lone
  br i1 %go, label %make, label %forward
make:
  %table = select i1 %batched, ptr %shapes_many, ptr %shapes
  %more_rank = zext i1 %batched to i64
  br label %next_out
next_out:
  %o = phi i64 [0, %make], [%o1, %keep]
  %o1 = add i64 %o, 1
  %more_out = icmp ult i64 %o, %made
  br i1 %more_out, label %new, label %run
new:
  %rank_at = getelementptr i64, ptr %ranks, i64 %o
  %own_rank = load i64, ptr %rank_at
  %rank = add i64 %own_rank, %more_rank
  %rank32 = trunc i64 %rank to i32
  %shape_at = getelementptr ptr, ptr %table, i64 %o
  %shape = load ptr, ptr %shape_at
  br i1 %batched, label %set_count, label %create
set_count:
  store i64 %states, ptr %shape
  br label %create
create:
  %result = call ptr %array_new(ptr %array_type, i32 %rank32, ptr %shape, i32 12, ptr null, ptr null, i32 0, i32 0, ptr null)
  %object_at = getelementptr ptr, ptr %objects, i64 %o
  store ptr %result, ptr %object_at
  %failed = icmp eq ptr %result, null
  br i1 %failed, label %undo, label %keep
keep:
  %result_data_at = getelementptr i8, ptr %result, i64 {HEADER}
  %result_data = load ptr, ptr %result_data_at
  %place = add i64 %n, %o
  %operand_at = getelementptr ptr, ptr %operands, i64 %place
  store ptr %result_data, ptr %operand_at
  br label %next_out
undo:
  %u = phi i64 [%o, %create], [%u1, %drop]
  %some = icmp ugt i64 %u, 0
  br i1 %some, label %drop, label %none
drop:
  %u1 = sub i64 %u, 1
  %dropped_at = getelementptr ptr, ptr %objects, i64 %u1
  %dropped = load ptr, ptr %dropped_at
  call void %release(ptr %dropped)
  br label %undo
none:
  ret ptr null
run:
  %all = add i64 %n, %made
  %beyond = getelementptr ptr, ptr %operands, i64 %all
  store ptr %scratch, ptr %beyond
  %crowd = icmp sgt i64 %states, 1
  br i1 %crowd, label %run_many, label %run_one
run_many:
  %single_at = getelementptr ptr, ptr %beyond, i64 1
  store ptr %kernel, ptr %single_at
  call void %many(i64 %states, ptr %operands, ptr %strides)
  br label %wrap
run_one:
  call void %kernel(ptr %operands)
  br label %wrap
wrap:
  %first = load ptr, ptr %objects
  %single = icmp eq i64 %made, 1
  br i1 %single, label %give, label %several
give:
  ret ptr %first
several:
  %nameless = icmp eq ptr %kind, null
  br i1 %nameless, label %plain_tuple, label %named_tuple
plain_tuple:
  %tuple_1 = call ptr %tuple_new(i64 %made)
  br label %begin
named_tuple:
  %tuple_2 = call ptr %alloc(ptr %kind, i64 %made)
{_UNHASH}
begin:
  %tuple = phi ptr [%tuple_1, %plain_tuple], {_NAMED}
  %empty = icmp eq ptr %tuple, null
  br i1 %empty, label %none, label %fill
fill:
  %f = phi i64 [0, %begin], [%f1, %put]
  %f1 = add i64 %f, 1
  %more_fill = icmp ult i64 %f, %made
  br i1 %more_fill, label %put, label %full
put:
  %item_at = getelementptr ptr, ptr %objects, i64 %f
  %item = load ptr, ptr %item_at
  %ignored = call i32 %tuple_set(ptr %tuple, i64 %f, ptr %item)
  br label %fill
full:
  ret ptr %tuple
forward:
  %answer = call ptr %vectorcall(ptr %self, ptr %args, i64 %nargs, ptr %names)
  ret ptr %answer
}}
"""
