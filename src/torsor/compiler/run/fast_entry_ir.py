"""The generated code of `fast_entry`: from the arguments of a call in Python to a kernel, and from its results back.

``fast_entry`` is a C function with the flags METH_FASTCALL | METH_KEYWORDS. Its steps:

1. `_slots`: the arguments by parameter, whether given by position or by name, ``out`` last.
2. The remembered calls of this first argument (a robot) are tried in turn; `_fits` compares the arguments with one of them and
   writes down where the kernel finds each input: in the array itself, or copied where it is a list, or lies in strides.
3. `_results`: new arrays, or those given as ``out``; `_run`: the kernel; `_wrapped`: one array, a named tuple, or a dict.

What fits none is forwarded to the general path, and so is everything while somebody has chosen NumPy (``suspended`` points
to their number). A batch that is worth several threads is run by a function in Python (``threaded``).

An argument is the very object of a leaf's ``fixed`` (robot, task, None; of a name also an equal one; of a whole number one of
the same value), or numbers (``fixed`` is null). A remembered call does not keep its robot alive, and another object may come to
lie where it was: ``alive`` points to where a weak reference to it has its address, and no longer has it when it is gone. Arrays
have the axes of one state, or up to `LEADS` more before them, for states; one without these, or with one state, belongs to all
states of the others (0 bytes from state to state). Contiguous is what NumPy's flags say, which it keeps with every change of
shape, strides or type.
"""

from __future__ import annotations

from typing import Any

from torsor.compiler.print.words import Function, Word, module

HEADER = object.__basicsize__  # reference count and type
MOST = 48  # arguments, and inputs and outputs of a kernel together
LEADS = 4  # axes of a batch
BUCKETS = 256  # of remembered calls, by the address of the first argument
CONTIGUOUS, ALIGNED, WRITEABLE = 1, 256, 1024  # NumPy's flags
C_ORDER = CONTIGUOUS | ALIGNED

PYTHON = (
    "suspended", "none",
    "array", "float", "double", "int", "list", "tuple", "dict", "text",
    "array_new", "vectorcall", "tuple_new", "tuple_set", "alloc", "dict_new", "dict_set", "dict_get", "dict_size",
    "compare", "hold", "release", "to_integer", "from_integer",
)  # fmt: skip
ENTRY = ("python", "table", "multiplier", "parameters", "positional", "names")
CALL = (
    "next", "object", "slots", "descr", "number", "item", "inputs", "outputs", "results", "constants", "constant",
    "kernel", "many", "most", "scratch", "threaded", "first_extra", "second_extra", "kind", "keys",
)  # fmt: skip
SLOT = ("container", "count", "leaves", "keys")
ABSENT, ONE, BY_KEY, IN_ORDER = range(4)  # containers
LEAF = ("fixed", "alive", "compared", "rank", "bytes", "place", "lengths")
ITSELF, AS_TEXT, AS_NUMBER = range(3)  # how what is fixed is compared
RESULT = ("rank", "bytes", "dims")
FRAME = ("inputs", "states", "lead", "lead_dims", "copied", "fresh", "given")
_SLOTS = len(FRAME)
_OPERANDS = _SLOTS + MOST + 1
_STEPS = _OPERANDS + MOST + 2
_ENDS = _STEPS + MOST
_LEAVES = _ENDS + MOST
_OBJECTS = _LEAVES + MOST
_FRAME_WORDS = _OBJECTS + MOST
OPERANDS, STEPS = _OPERANDS, _STEPS  # where `threaded` finds them


class _Fields:
    """Words of a structure in memory, read where they are needed."""

    def __init__(self, function: Function, address: Word, names: tuple[str, ...]) -> None:
        self._function, self.address, self._names = function, address, names

    def __getattr__(self, name: str) -> Word:
        return self._function.load(self.address, self._names.index(name))

    def set(self, name: str, value: Word | int) -> None:
        """Write one."""
        self._function.store(self.address, value, self._names.index(name))


def _python(f: Function, entry: Word) -> _Fields:
    return _Fields(f, _Fields(f, entry, ENTRY).python, PYTHON)


def _type(f: Function, thing: Word) -> Word:
    return f.load(thing, 1)


def _size(f: Function, thing: Word) -> Word:
    """Of a tuple or list."""
    return f.load(thing, 2)


class _Array:
    """What NumPy has in an array object."""

    def __init__(self, f: Function, thing: Word) -> None:
        self.data, self.dims, self.strides = f.load(thing, 2), f.load(thing, 4), f.load(thing, 5)
        self.rank, self.descr, self.flags = (
            f.load_32(thing + HEADER + 8),
            f.load(thing, 7),
            f.load_32(thing + HEADER + 48),
        )


def _slots() -> Function:
    """(entry, slots, args, nargs, names): the arguments by parameter, null where there is none; whether all have a place."""
    f = Function("slots", ["entry", "slots", "args", "nargs", "names"])
    entry, slots, args, nargs, names = f.parameters
    about = _Fields(f, entry, ENTRY)
    parameters = about.parameters
    with f.loop(parameters + 1) as k:
        f.store(slots, 0, k)
    with f.when(nargs > about.positional):
        f.give(0)
    with f.loop(nargs) as k:
        f.store(slots, f.load(args, k), k)
    with f.when(names != 0):
        known = about.names
        with f.loop(_size(f, names)) as i:
            name, place = f.load(names + HEADER + 8, i), f.variable(-1)
            with f.loop(parameters + 1) as j, f.when(f.load(known, j) == name):
                place.set(j)
            with f.when(place.get() == -1):
                f.give(0)
            with f.when(f.load(slots, place.get()) != 0):
                f.give(0)
            f.store(slots, f.load(args, nargs + i), place.get())
    f.give(1)
    return f


def _number() -> Function:
    """(entry, thing, place): a float, or a whole number, put at a place as a double; whether it is one."""
    f = Function("number", ["entry", "thing", "place"])
    entry, thing, place = f.parameters
    python, kind = _python(f, entry), _type(f, thing)
    with f.when((kind == python.float) | (kind == python.double)):
        f.store(place, f.load(thing, 2))
        f.give(1)
    with f.when(kind != python.int):
        f.give(0)
    beyond = f.block(1)
    f.store(beyond, 0)
    f.store(place, f.double_of(f.call(python.to_integer, thing, beyond)))
    f.give(f.choose(f.load_32(beyond) == 0, 1, 0))
    return f


def _same() -> Function:
    """(entry, leaf, thing): whether a thing is the one that a leaf wants."""
    f = Function("same", ["entry", "leaf", "thing"])
    entry, leaf, thing = f.parameters
    about, python = _Fields(f, leaf, LEAF), _python(f, entry)
    fixed, compared = about.fixed, about.compared
    with f.when(thing == fixed):
        f.give(f.choose(f.load(about.alive) == fixed, 1, 0))
    with f.when((compared == AS_TEXT) & (_type(f, thing) == python.text)):
        f.give(f.choose(f.call(python.compare, thing, fixed, gives="i32") == 0, 1, 0))
    with f.when((compared == AS_NUMBER) & (_type(f, thing) == python.int)):
        beyond = f.block(1)
        f.store(beyond, 0)
        same = f.call(python.to_integer, thing, beyond) == f.call(python.to_integer, fixed, beyond)
        f.give(f.choose(same & (f.load_32(beyond) == 0), 1, 0))
    f.give(0)
    return f


def _taken() -> Function:
    """(entry, call, frame, leaf, thing): whether a thing is as a leaf wants; the frame then has where the kernel finds it."""
    f = Function("taken", ["entry", "call", "frame", "leaf", "thing"])
    entry, call, frame, leaf, thing = f.parameters
    about, python = _Fields(f, leaf, LEAF), _python(f, entry)
    with f.when(about.fixed != 0):
        f.give(f.call("same", entry, leaf, thing))
    kind, rank = _type(f, thing), about.rank
    with f.when(kind == python.array):
        _take_array(f, _Fields(f, call, CALL), _Fields(f, frame, FRAME), about, thing)
        f.give(1)
    place = about.place
    with f.when(_Fields(f, call, CALL).item != 8):  # other numbers would make it a call in doubles
        f.give(0)
    with f.when(rank == 0):
        with f.when(f.call("number", entry, thing, place) == 0):
            f.give(0)
        f.call("add", frame, leaf, place, 0, place)
        f.give(1)
    is_list = kind == python.list
    with f.when(((is_list | (kind == python.tuple)) & (rank == 1)) == Word(f, "false", "i1")):
        f.give(0)
    length = f.load(about.lengths)
    with f.when(_size(f, thing) != length):
        f.give(0)
    items = f.variable(thing + HEADER + 8)
    with f.when(is_list):
        items.set(f.load(thing, 3))
    with f.loop(length) as k, f.when(f.call("number", entry, f.load(items.get(), k), place + k * 8) == 0):
        f.give(0)
    _Fields(f, frame, FRAME).set("copied", 1)
    f.call("add", frame, leaf, place, 0, place)
    f.give(1)
    return f


def _take_array(f: Function, call: _Fields, frame: _Fields, leaf: _Fields, thing: Word) -> None:
    array, rank, size, item = _Array(f, thing), leaf.rank, leaf.bytes, call.item
    extra = array.rank - rank
    with f.when((array.descr != call.descr) | ((array.flags & ALIGNED) == 0) | (extra > LEADS)):
        f.give(0)
    lengths = leaf.lengths
    with f.loop(rank) as k, f.when(f.load(array.dims + extra * 8, k) != f.load(lengths, k)):
        f.give(0)
    step, data = f.variable(size), f.variable(array.data)
    with f.when((array.flags & CONTIGUOUS) == 0):
        with f.when(rank > 1):
            f.give(0)
        inner = f.variable(item)
        with f.when(rank == 1):
            inner.set(f.load(array.strides, extra))
        with f.when(extra == 0):
            _copy_strided(f, leaf.place, array.data, inner.get(), item, f.load(lengths))
            data.set(leaf.place)
            frame.set("copied", 1)
        with f.when(extra != 0):
            with f.when((extra > 1) | (inner.get() != item)):
                f.give(0)
            step.set(f.load(array.strides))
    with f.when(extra == 0):
        f.call("add", frame.address, leaf.address, data.get(), 0, data.get())
        f.give(1)
    states = f.variable(1)
    with f.loop(extra) as k:
        states.set(states.get() * f.load(array.dims, k))
    _join_batch(f, frame, states.get(), extra, array.dims)
    alone = (extra == 1) & (states.get() == 1)
    on = f.choose(alone, 0, step.get())
    f.call("add", frame.address, leaf.address, data.get(), on, data.get() + on * (states.get() - 1))


def _copy_strided(f: Function, place: Word, data: Word, step: Word, item: Word, length: Word) -> None:
    """Numbers of 4 or 8 bytes, side by side at a place."""
    with f.loop(length) as k:
        with f.when(item == 8):
            f.store(place + k * 8, f.load(data + k * step))
        with f.when(item != 8):
            f.copy(place + k * 4, data + k * step, 4)


def _join_batch(f: Function, frame: _Fields, states: Word, extra: Word, dims: Word) -> None:
    """All arrays of a batch have the same states, or one, or none; 0 is given where they do not."""
    with f.when(states == 0):
        f.give(0)
    lead, before = frame.lead, frame.states
    alone = (extra == 1) & (states == 1)
    first = (lead == 0) | ((lead == 1) & (before == 1))
    with f.when(first):
        frame.set("lead", extra)
        frame.set("lead_dims", dims)
        frame.set("states", states)
    with f.when((first | alone) == Word(f, "false", "i1")):
        with f.when(lead != extra):
            f.give(0)
        with f.loop(extra) as k, f.when(f.load(frame.lead_dims, k) != f.load(dims, k)):
            f.give(0)


def _add() -> Function:
    """(frame, leaf, data, step, last): an input of the kernel, and where its last state begins."""
    f = Function("add", ["frame", "leaf", "data", "step", "last"])
    frame, leaf, data, step, last = f.parameters
    about = _Fields(f, frame, FRAME)
    n = about.inputs
    f.store(frame + 8 * _OPERANDS, data, n)
    f.store(frame + 8 * _STEPS, step, n)
    f.store(frame + 8 * _ENDS, last, n)
    f.store(frame + 8 * _LEAVES, leaf, n)
    about.set("inputs", n + 1)
    f.give(1)
    return f


def _fits() -> Function:
    """(entry, call, frame): whether the arguments are those of a remembered call."""
    f = Function("fits", ["entry", "call", "frame"])
    entry, call, frame = f.parameters
    about, state, python = _Fields(f, call, CALL), _Fields(f, frame, FRAME), _python(f, entry)
    for name in ("inputs", "states", "lead", "copied"):
        state.set(name, 0)
    slot = f.variable(about.slots)
    with f.loop(_Fields(f, entry, ENTRY).parameters) as k:
        thing, now = f.load(frame + 8 * _SLOTS, k), _Fields(f, slot.get(), SLOT)
        container, count, leaf = now.container, now.count, f.variable(now.leaves)
        with f.when(f.choose(thing == 0, 0, 1) != f.choose(container == ABSENT, 0, 1)):
            f.give(0)
        with f.when((container == BY_KEY) | (container == IN_ORDER)):
            with f.when(_type(f, thing) != f.choose(container == BY_KEY, python.dict, python.tuple)):
                f.give(0)
            size = f.variable(_size(f, thing))
            with f.when(container == BY_KEY):
                size.set(f.call(python.dict_size, thing))
            with f.when(size.get() != count):
                f.give(0)
        with f.loop(count) as i:
            part = f.variable(thing)
            with f.when(container == BY_KEY):
                part.set(f.call(python.dict_get, thing, f.load(now.keys, i)))
            with f.when(container == IN_ORDER):
                part.set(f.load(thing + HEADER + 8, i))
            with f.when(part.get() == 0):
                f.give(0)
            with f.when(f.call("taken", entry, call, frame, leaf.get(), part.get()) == 0):
                f.give(0)
            leaf.set(leaf.get() + 8 * len(LEAF))
        slot.set(slot.get() + 8 * len(SLOT))
    crowd = (state.states > 1) & (state.states > about.most)
    with f.when(crowd & ((about.threaded == 0) | (state.copied != 0))):
        f.give(0)
    f.give(1)
    return f


def _accepted() -> Function:
    """(entry, call, frame): whether ``out`` is what results can be written to, each then among the frame's objects."""
    f = Function("accepted", ["entry", "call", "frame"])
    entry, call, frame = f.parameters
    about, state, python = _Fields(f, call, CALL), _Fields(f, frame, FRAME), _python(f, entry)
    out, count = f.load(frame + 8 * _SLOTS, _Fields(f, entry, ENTRY).parameters), about.outputs
    fresh = (out == 0) | (out == python.none)
    state.set("fresh", f.choose(fresh, 1, 0))
    state.set("given", 0)
    with f.when(fresh):
        f.give(1)
    kind, own, result = about.kind, _type(f, out), f.variable(about.results)
    by_key = kind == python.dict
    with f.when(count > 1):
        with f.when((own != kind) & ((own != python.tuple) | by_key)):
            f.give(0)
        size = f.variable(0)
        with f.when(by_key):
            size.set(f.call(python.dict_size, out))
        with f.when(by_key == Word(f, "false", "i1")):
            size.set(_size(f, out))
        with f.when(size.get() != count):
            f.give(0)
        with f.when(own == kind):
            state.set("given", out)
    with f.loop(count) as k:
        thing = f.variable(out)
        with f.when(count > 1):
            with f.when(by_key):
                thing.set(f.call(python.dict_get, out, f.load(about.keys, k)))
            with f.when(by_key == Word(f, "false", "i1")):
                thing.set(f.load(out + HEADER + 8, k))
        with f.when(thing.get() == 0):
            f.give(0)
        with f.when(f.call("writable", entry, call, frame, result.get(), thing.get(), k) == 0):
            f.give(0)
        f.store(frame + 8 * _OBJECTS, thing.get(), k)
        result.set(result.get() + 8 * len(RESULT))
    f.give(1)
    return f


def _writable() -> Function:
    """(entry, call, frame, result, thing, place): whether a thing is an array that a result can be written to.

    An input that overlaps it is copied if it is of one state; with a batch, or with another result, that is refused.
    """
    f = Function("writable", ["entry", "call", "frame", "result", "thing", "place"])
    entry, call, frame, result, thing, place = f.parameters
    about, state, wanted = _Fields(f, call, CALL), _Fields(f, frame, FRAME), _Fields(f, result, RESULT)
    with f.when(_type(f, thing) != _python(f, entry).array):
        f.give(0)
    array, lead, rank, all_flags = _Array(f, thing), state.lead, wanted.rank, C_ORDER | WRITEABLE
    with f.when((array.descr != about.descr) | ((array.flags & all_flags) != all_flags) | (array.rank != lead + rank)):
        f.give(0)
    with f.loop(lead) as k, f.when(f.load(array.dims, k) != f.load(state.lead_dims, k)):
        f.give(0)
    with f.loop(rank) as k, f.when(f.load(array.dims, lead + k) != f.load(wanted.dims + 8 * LEADS, k)):
        f.give(0)
    states = f.choose(state.states == 0, 1, state.states)
    end = array.data + wanted.bytes * states
    with f.loop(state.inputs) as k:
        start, leaf = f.load(frame + 8 * _OPERANDS, k), _Fields(f, f.load(frame + 8 * _LEAVES, k), LEAF)
        last = f.load(frame + 8 * _ENDS, k)
        backwards = last < start
        low, high = f.choose(backwards, last, start), f.choose(backwards, start, last) + leaf.bytes
        with f.when((low < end) & (array.data < high)):
            with f.when(states > 1):
                f.give(0)
            f.copy(leaf.place, start, leaf.bytes)
            f.store(frame + 8 * _OPERANDS, leaf.place, k)
            f.store(frame + 8 * _ENDS, leaf.place, k)
    other = f.variable(about.results)
    with f.loop(place) as k:
        written = _Array(f, f.load(frame + 8 * _OBJECTS, k)).data
        with f.when((written < end) & (array.data < written + _Fields(f, other.get(), RESULT).bytes * states)):
            f.give(0)
        other.set(other.get() + 8 * len(RESULT))
    f.give(1)
    return f


def _made() -> Function:
    """(entry, call, frame): new arrays for the results, among the frame's objects; whether there was memory."""
    f = Function("made", ["entry", "call", "frame"])
    entry, call, frame = f.parameters
    about, state, python = _Fields(f, call, CALL), _Fields(f, frame, FRAME), _python(f, entry)
    lead, result = state.lead, f.variable(about.results)
    with f.loop(about.outputs) as k:
        wanted = _Fields(f, result.get(), RESULT)
        dims = wanted.dims + (Word(f, str(LEADS)) - lead) * 8  # the axes of the batch stand before its own
        with f.loop(lead) as axis:
            f.store(dims, f.load(state.lead_dims, axis), axis)
        sizes: list[Any] = [("i32", lead + wanted.rank), dims, ("i32", about.number)]
        array = f.call(python.array_new, python.array, *sizes, 0, 0, ("i32", 0), ("i32", 0), 0)
        with f.when(array == 0):
            f.call("drop", entry, frame, k)
            f.give(0)
        f.store(frame + 8 * _OBJECTS, array, k)
        result.set(result.get() + 8 * len(RESULT))
    f.give(1)
    return f


def _drop() -> Function:
    """(entry, frame, count): give up the first of the frame's objects."""
    f = Function("drop", ["entry", "frame", "count"])
    entry, frame, count = f.parameters
    with f.loop(count) as k:
        f.call(_python(f, entry).release, f.load(frame + 8 * _OBJECTS, k), gives="void")
    f.give(1)
    return f


def _run() -> Function:
    """(entry, call, frame): call the kernel; whether nothing was raised."""
    f = Function("run", ["entry", "call", "frame"])
    entry, call, frame = f.parameters
    about, state, python = _Fields(f, call, CALL), _Fields(f, frame, FRAME), _python(f, entry)
    operands, steps = frame + 8 * _OPERANDS, frame + 8 * _STEPS
    given, constants, outputs = state.inputs, about.constants, about.outputs
    with f.loop(constants) as k:
        f.store(operands, f.load(about.constant, k), given + k)
        f.store(steps, 0, given + k)
    before, result = given + constants, f.variable(about.results)
    with f.loop(outputs) as k:
        f.store(operands, _Array(f, f.load(frame + 8 * _OBJECTS, k)).data, before + k)
        f.store(steps, _Fields(f, result.get(), RESULT).bytes, before + k)
        result.set(result.get() + 8 * len(RESULT))
    end = before + outputs
    f.store(operands, about.scratch, end)
    states, kernel, many = state.states, about.kernel, about.many
    with f.when((states < 2) & (kernel != 0)):
        f.call(kernel, operands, gives="void")
        f.give(1)
    f.store(operands, kernel, end + 1)
    with f.when((states < 2) | ((states > about.most) == Word(f, "false", "i1"))):
        extra = about.first_extra, about.second_extra
        f.call(many, f.choose(states == 0, 1, states), operands, steps, *extra, gives="void")
        f.give(1)
    argument = f.block(1)
    f.store(argument, f.call(python.from_integer, frame))
    with f.when(f.load(argument) == 0):
        f.give(0)
    done = f.call(python.vectorcall, about.threaded, argument, 1, 0)
    f.call(python.release, f.load(argument), gives="void")
    with f.when(done == 0):
        f.give(0)
    f.call(python.release, done, gives="void")
    f.give(1)
    return f


def _wrapped() -> Function:
    """(entry, call, frame): what the caller is given; the frame's objects, of which a reference is held, are in it."""
    f = Function("wrapped", ["entry", "call", "frame"])
    entry, call, frame = f.parameters
    about, python = _Fields(f, call, CALL), _python(f, entry)
    count, kind, objects = about.outputs, about.kind, frame + 8 * _OBJECTS
    with f.when(count == 1):
        f.give(f.load(objects))
    made = f.variable(0)
    with f.when(kind == 0):
        made.set(f.call(python.tuple_new, count))
    with f.when(kind == python.dict):
        made.set(f.call(python.dict_new))
    with f.when((kind != 0) & (kind != python.dict)):
        made.set(f.call(python.alloc, kind, count))
    with f.when(made.get() == 0):
        f.call("drop", entry, frame, count)
        f.give(0)
    with f.loop(count) as k:
        thing = f.load(objects, k)
        with f.when(kind == python.dict):
            f.call(python.dict_set, made.get(), f.load(about.keys, k), thing, gives="i32")
            f.call(python.release, thing, gives="void")
        with f.when(kind != python.dict):
            f.call(python.tuple_set, made.get(), k, thing, gives="i32")
    f.give(made.get())
    return f


def _answered() -> Function:
    """(entry, call, frame): the result of a call that fits, or null with an exception."""
    f = Function("answered", ["entry", "call", "frame"])
    entry, call, frame = f.parameters
    about, state, python = _Fields(f, call, CALL), _Fields(f, frame, FRAME), _python(f, entry)
    count = about.outputs
    with f.when(state.fresh != 0), f.when(f.call("made", entry, call, frame) == 0):
        f.give(0)
    with f.when(state.fresh == 0), f.loop(count) as k:
        f.call(python.hold, f.load(frame + 8 * _OBJECTS, k), gives="void")
    with f.when(f.call("run", entry, call, frame) == 0):
        f.call("drop", entry, frame, count)
        f.give(0)
    with f.when(state.given != 0):
        f.call("drop", entry, frame, count)
        f.call(python.hold, state.given, gives="void")
        f.give(state.given)
    f.give(f.call("wrapped", entry, call, frame))
    return f


def _entry() -> Function:
    """(self, args, nargs, names): what Python calls."""
    f = Function("fast_entry", ["self", "args", "nargs", "names"], internal=False)
    owner, args, nargs, names = f.parameters
    entry = f.load(owner, 2)
    about, python = _Fields(f, entry, ENTRY), _python(f, entry)
    frame = f.block(_FRAME_WORDS)
    slots = frame + 8 * _SLOTS
    with f.when(f.load(python.suspended) == 0), f.when(f.call("slots", entry, slots, args, nargs, names) != 0):
        call = f.variable(f.load(about.table, (f.load(slots) * about.multiplier) >> 56))
        with f.while_(call) as now:
            with f.when(f.call("fits", entry, now, frame) != 0), f.when(f.call("accepted", entry, now, frame) != 0):
                itself = _Fields(f, now, CALL).object  # held: who is called meanwhile may forget this call
                f.call(python.hold, itself, gives="void")
                answer = f.call("answered", entry, now, frame)
                f.call(python.release, itself, gives="void")
                f.give(answer)
            call.set(_Fields(f, now, CALL).next)
    f.give(f.call(python.vectorcall, owner, args, nargs, names))
    return f


def text() -> str:
    """The module of the fast entry."""
    parts = (_slots, _number, _same, _add, _taken, _fits, _writable, _accepted, _drop, _made, _run, _wrapped, _answered)
    return module([*(part() for part in parts), _entry()])
