"""The generated code of `fast_entry` as LLVM IR; a C function with the flags METH_FASTCALL | METH_KEYWORDS.

It reads `FastEntry` (through ctypes' pointer after the object header) and walks over its remembered calls, a chain, and over
the arguments. If all are as in one of these calls, for one state or (if there is code for ``many``) a batch of up to ``most``,
it makes the result arrays and calls the kernel. Several results are returned as a tuple, or as the named tuple of that call: a
subclass of tuple without fields of its own, allocated as CPython does.

While somebody has chosen NumPy (``suspended`` points to their number) every call is forwarded.

Each argument is the very object of ``fixed``, or (null there) numbers. A remembered call does not keep its robot alive, and
another object may come to lie where it was: ``alive`` points to where a weak reference to it has its address, and no longer has
it when it is gone. Of numbers, ``inputs`` has three things in a row: rank, bytes, lengths. An array has these axes, or one more
before them, for states; one without that, or with one state, belongs to all states of the others (0 bytes from state to state).
Contiguous is what NumPy's flags say, which it keeps with every change of shape, strides or type. Where the rank is 0, a float,
NumPy's or Python's, is read where it lies in its object, and an int is converted.
"""

from __future__ import annotations

HEADER = object.__basicsize__  # reference count and type
MOST = 16  # arguments, and results
CONTIGUOUS = 1 | 256  # NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_ALIGNED
ENTRY = (
    "first", "suspended",
    "array_type", "descr", "float_type", "double_type", "int_type",
    "array_new", "vectorcall", "tuple_new", "alloc", "tuple_set", "release", "to_integer",
)  # fmt: skip
CALL = (
    "next", "arguments", "fixed", "alive", "inputs",
    "kernel", "scratch", "outputs", "kind", "ranks", "shapes", "many", "most", "strides", "shapes_many",
)  # fmt: skip


def _of_entry(*names: str) -> str:
    return _loads("words", ENTRY, names)


def _of_call(*names: str) -> str:
    return _loads("call", CALL, names)


def _loads(structure: str, fields: tuple[str, ...], names: tuple[str, ...]) -> str:
    """Words of a structure, each where it is needed first: there are not registers enough for all."""
    return "\n".join(
        f"  %{name}_at = getelementptr ptr, ptr %{structure}, i64 {fields.index(name)}\n  %{name} = load ptr, ptr %{name}_at"
        for name in names
    )


IR = f"""
define ptr @fast_entry(ptr %self, ptr %args, i64 %nargs, ptr %names) {{
entry:
  %words_at = getelementptr i8, ptr %self, i64 {HEADER}
  %words = load ptr, ptr %words_at
{_of_entry("first", "suspended", "array_type", "descr")}
  %operands = alloca ptr, i64 {2 * MOST + 2}
  %steps = alloca i64, i64 {2 * MOST}
  %objects = alloca ptr, i64 {MOST}
  %integers = alloca double, i64 {MOST}
  %overflow = alloca i32
  %times_suspended = load i64, ptr %suspended
  %open = icmp eq i64 %times_suspended, 0
  %positional = icmp eq ptr %names, null
  %plain = and i1 %positional, %open
  br i1 %plain, label %try, label %forward
try:
  %call = phi ptr [%first, %entry], [%next, %other]
  %beyond_last = icmp eq ptr %call, null
  br i1 %beyond_last, label %forward, label %begin
begin:
{_of_call("next", "arguments", "fixed", "alive", "inputs")}
  %wanted = ptrtoint ptr %arguments to i64
  %enough = icmp eq i64 %nargs, %wanted
  br i1 %enough, label %next_argument, label %other
other:
  br label %try
next_argument:
  %k = phi i64 [0, %begin], [%k1, %same], [%k1, %take]
  %n = phi i64 [0, %begin], [%n, %same], [%n1, %take]
  %states = phi i64 [0, %begin], [%states, %same], [%states1, %take]
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
  %alive_k_at = getelementptr ptr, ptr %alive, i64 %k
  %alive_k = load ptr, ptr %alive_k_at
  %living = load ptr, ptr %alive_k
  %at_its_place = icmp eq ptr %arg, %fixed_k
  %lives = icmp eq ptr %living, %fixed_k
  %identical = and i1 %at_its_place, %lives
  br i1 %identical, label %same, label %other
same:
  br label %next_argument
look:
  %input_at = getelementptr ptr, ptr %inputs, i64 %k
  %input = load ptr, ptr %input_at
  %axes = load i64, ptr %input
  %bytes_at = getelementptr i64, ptr %input, i64 1
  %bytes = load i64, ptr %bytes_at
  %type_at = getelementptr i8, ptr %arg, i64 8
  %type = load ptr, ptr %type_at
  %is_array = icmp eq ptr %type, %array_type
  br i1 %is_array, label %inside, label %no_array
inside:
  %data_at = getelementptr i8, ptr %arg, i64 {HEADER}
  %arg_rank_at = getelementptr i8, ptr %arg, i64 {HEADER + 8}
  %dims_at = getelementptr i8, ptr %arg, i64 {HEADER + 16}
  %descr_of_at = getelementptr i8, ptr %arg, i64 {HEADER + 40}
  %flags_at = getelementptr i8, ptr %arg, i64 {HEADER + 48}
  %data = load ptr, ptr %data_at
  %rank_of = load i32, ptr %arg_rank_at
  %dims = load ptr, ptr %dims_at
  %descr_of = load ptr, ptr %descr_of_at
  %flags = load i32, ptr %flags_at
  %all_axes = sext i32 %rank_of to i64
  %extra = sub i64 %all_axes, %axes
  %ranked = icmp ule i64 %extra, 1
  %double = icmp eq ptr %descr_of, %descr
  %order = and i32 %flags, {CONTIGUOUS}
  %contiguous = icmp eq i32 %order, {CONTIGUOUS}
  %ok1 = and i1 %ranked, %double
  %ok2 = and i1 %ok1, %contiguous
  br i1 %ok2, label %lengths, label %other
lengths:
  %own_dims = getelementptr i64, ptr %dims, i64 %extra
  %own_lengths = getelementptr i64, ptr %input, i64 2
  br label %next_axis
next_axis:
  %axis = phi i64 [0, %lengths], [%axis1, %compare_axis]
  %axis1 = add i64 %axis, 1
  %more_axes = icmp ult i64 %axis, %axes
  br i1 %more_axes, label %compare_axis, label %batch_test
compare_axis:
  %dim_at = getelementptr i64, ptr %own_dims, i64 %axis
  %length_at = getelementptr i64, ptr %own_lengths, i64 %axis
  %dim = load i64, ptr %dim_at
  %length = load i64, ptr %length_at
  %right = icmp eq i64 %dim, %length
  br i1 %right, label %next_axis, label %other
batch_test:
  %for_all = icmp eq i64 %extra, 0
  br i1 %for_all, label %good, label %count_states
count_states:
  %count = load i64, ptr %dims
  %no_states = icmp eq i64 %count, 0
  br i1 %no_states, label %other, label %good
no_array:
  %scalar = icmp eq i64 %axes, 0
  br i1 %scalar, label %float_test, label %other
float_test:
{_of_entry("float_type", "double_type")}
  %number = getelementptr i8, ptr %arg, i64 {HEADER}
  %is_float = icmp eq ptr %type, %float_type
  %is_double = icmp eq ptr %type, %double_type
  %is_real = or i1 %is_float, %is_double
  br i1 %is_real, label %good, label %int_test
int_test:
{_of_entry("int_type")}
  %is_int = icmp eq ptr %type, %int_type
  br i1 %is_int, label %convert, label %other
convert:
{_of_entry("to_integer")}
  %integer = call i64 %to_integer(ptr %arg, ptr %overflow)
  %beyond_64 = load i32, ptr %overflow
  %rounded = sitofp i64 %integer to double
  %integer_at = getelementptr double, ptr %integers, i64 %k
  store double %rounded, ptr %integer_at
  %fits = icmp eq i32 %beyond_64, 0
  br i1 %fits, label %good, label %other
good:
  %at = phi ptr [%data, %batch_test], [%data, %count_states], [%number, %float_test], [%integer_at, %convert]
  %found = phi i64 [0, %batch_test], [%count, %count_states], [0, %float_test], [0, %convert]
  %alone = icmp ule i64 %found, 1
  %first_batch = icmp ule i64 %states, 1
  %same_count = icmp eq i64 %states, %found
  %ok3 = or i1 %alone, %first_batch
  %ok4 = or i1 %ok3, %same_count
  br i1 %ok4, label %take, label %other
take:
  %larger = icmp ugt i64 %found, %states
  %states1 = select i1 %larger, i64 %found, i64 %states
  %bytes_on = select i1 %alone, i64 0, i64 %bytes
  %slot = getelementptr ptr, ptr %operands, i64 %n
  %step_at = getelementptr i64, ptr %steps, i64 %n
  store ptr %at, ptr %slot
  store i64 %bytes_on, ptr %step_at
  br label %next_argument
choose:
{_of_call("outputs", "many")}
  %made = ptrtoint ptr %outputs to i64
  %batched = icmp sgt i64 %states, 0
  br i1 %batched, label %batch, label %make
batch:
{_of_call("most")}
  %ready = icmp ne ptr %many, null
  %limit = ptrtoint ptr %most to i64
  %few = icmp ule i64 %states, %limit
  %allowed = and i1 %ready, %few
  %lone = icmp eq i64 %states, 1
  %go = or i1 %allowed, %lone
  br i1 %go, label %make, label %other
make:
{_of_call("shapes", "shapes_many", "ranks", "strides")}
{_of_entry("array_new")}
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
  %stride_at = getelementptr i64, ptr %strides, i64 %o
  %stride = load i64, ptr %stride_at
  %result_step_at = getelementptr i64, ptr %steps, i64 %place
  store i64 %stride, ptr %result_step_at
  br label %next_out
undo:
  %u = phi i64 [%o, %create], [%u1, %drop]
  %some = icmp ugt i64 %u, 0
  br i1 %some, label %drop, label %none
drop:
{_of_entry("release")}
  %u1 = sub i64 %u, 1
  %dropped_at = getelementptr ptr, ptr %objects, i64 %u1
  %dropped = load ptr, ptr %dropped_at
  call void %release(ptr %dropped)
  br label %undo
none:
  ret ptr null
run:
{_of_call("kernel", "scratch", "kind")}
  %all = add i64 %n, %made
  %beyond = getelementptr ptr, ptr %operands, i64 %all
  store ptr %scratch, ptr %beyond
  %crowd = icmp sgt i64 %states, 1
  br i1 %crowd, label %run_many, label %run_one
run_many:
  %single_at = getelementptr ptr, ptr %beyond, i64 1
  store ptr %kernel, ptr %single_at
  call void %many(i64 %states, ptr %operands, ptr %steps)
  br label %wrap
run_one:
  call void %kernel(ptr %operands)
  br label %wrap
wrap:
  %result_1 = load ptr, ptr %objects
  %single = icmp eq i64 %made, 1
  br i1 %single, label %give, label %several
give:
  ret ptr %result_1
several:
  %nameless = icmp eq ptr %kind, null
  br i1 %nameless, label %plain_tuple, label %named_tuple
plain_tuple:
{_of_entry("tuple_new")}
  %tuple_1 = call ptr %tuple_new(i64 %made)
  br label %filled
named_tuple:
{_of_entry("alloc")}
  %tuple_2 = call ptr %alloc(ptr %kind, i64 %made)
  br label %filled
filled:
  %tuple = phi ptr [%tuple_1, %plain_tuple], [%tuple_2, %named_tuple]
{_of_entry("tuple_set")}
  %empty = icmp eq ptr %tuple, null
  br i1 %empty, label %none, label %fill
fill:
  %f = phi i64 [0, %filled], [%f1, %put]
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
{_of_entry("vectorcall")}
  %answer = call ptr %vectorcall(ptr %self, ptr %args, i64 %nargs, ptr %names)
  ret ptr %answer
}}
"""
