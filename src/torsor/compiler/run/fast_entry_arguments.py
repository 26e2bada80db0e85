"""The arguments of a call in generated code: which remembered call they fit, and where its kernel finds each input.

An argument is the very object of a leaf's ``fixed`` (robot, task, None; of a name also an equal one; of a whole number one of
the same value), or numbers (``fixed`` is null). A remembered call does not keep its robot alive, and another object may come to
lie where it was: ``alive`` points to where a weak reference to it has its address, and no longer has it when it is gone. Arrays
have the axes of one state, or up to `LEADS` more before them, for states; one without these, or with one state, belongs to all
states of the others (0 bytes from state to state). Contiguous is what NumPy's flags say, which it keeps with every change of
shape, strides or type. Lists, single numbers, and what lies in strides are copied to the ``place`` of their leaf.
"""

from __future__ import annotations

from torsor.compiler.print.words import Function, Word

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
    "compare", "hold", "release", "to_integer", "from_integer", "set_handler", "handler", "crew",
)  # fmt: skip
ENTRY = ("python", "table", "multiplier", "parameters", "positional", "names", "general")
CALL = (
    "next", "object", "code", "code_alive", "slots", "descr", "number", "item", "outputs", "results", "constants", "constant",
    "kernel", "many", "most", "scratch", "threaded", "first_extra", "second_extra", "kind", "keys",
    "sharing", "scratch_bytes",
)  # fmt: skip
SLOT = ("container", "count", "leaves", "keys")
ABSENT, ONE, BY_KEY, IN_ORDER = range(4)  # containers
LEAF = ("fixed", "alive", "compared", "rank", "bytes", "place", "lengths")
ITSELF, AS_TEXT, AS_NUMBER = range(3)  # how what is fixed is compared
RESULT = ("rank", "bytes", "dims", "spare")
SPARES = 2  # arrays for a result of one state: one that the caller has, and one for the next
FRAME = ("inputs", "states", "lead", "lead_dims", "copied", "fresh", "given")
SLOTS = len(FRAME)
OPERANDS = SLOTS + MOST + 1
STEPS = OPERANDS + MOST + 2
ENDS = STEPS + MOST
LEAVES = ENDS + MOST
OBJECTS = LEAVES + MOST
FRAME_WORDS = OBJECTS + MOST


class Fields:
    """Words of a structure in memory, read where they are needed."""

    def __init__(self, function: Function, address: Word, names: tuple[str, ...]) -> None:
        self._function, self.address, self._names = function, address, names

    def __getattr__(self, name: str) -> Word:
        return self._function.load(self.address, self._names.index(name))

    def set(self, name: str, value: Word | int) -> None:
        """Write a word of the structure."""
        self._function.store(self.address, value, self._names.index(name))


def python_of(f: Function, entry: Word) -> Fields:
    """What all entries know of CPython and NumPy."""
    return Fields(f, Fields(f, entry, ENTRY).python, PYTHON)


def type_of(f: Function, thing: Word) -> Word:
    """The class of an object."""
    return f.load(thing, 1)


def size_of(f: Function, thing: Word) -> Word:
    """Of a tuple or list."""
    return f.load(thing, 2)


class ArrayObject:
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
    about = Fields(f, entry, ENTRY)
    parameters = about.parameters
    with f.when(nargs > about.positional):
        f.give(0)
    with f.loop(nargs) as k:
        f.store(slots, f.load(args, k), k)
    with f.loop(parameters + 1 - nargs) as k:
        f.store(slots, 0, nargs + k)
    with f.when(names != 0):
        known = about.names
        with f.loop(size_of(f, names)) as i:
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
    python, kind = python_of(f, entry), type_of(f, thing)
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
    about, python = Fields(f, leaf, LEAF), python_of(f, entry)
    fixed, compared = about.fixed, about.compared
    with f.when(thing == fixed):
        f.give(f.choose(f.load(about.alive) == fixed, 1, 0))
    with f.when((compared == AS_TEXT) & (type_of(f, thing) == python.text)):
        f.give(f.choose(f.call(python.compare, thing, fixed, gives="i32") == 0, 1, 0))
    with f.when((compared == AS_NUMBER) & (type_of(f, thing) == python.int)):
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
    about, python = Fields(f, leaf, LEAF), python_of(f, entry)
    with f.when(about.fixed != 0):
        f.give(f.call("same", entry, leaf, thing))
    kind, rank = type_of(f, thing), about.rank
    with f.when(kind == python.array):
        _take_array(f, Fields(f, call, CALL), Fields(f, frame, FRAME), about, thing)
        f.give(1)
    place = about.place
    with f.when(Fields(f, call, CALL).item != 8):  # other numbers would make it a call in doubles
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
    with f.when(size_of(f, thing) != length):
        f.give(0)
    items = f.variable(thing + HEADER + 8)
    with f.when(is_list):
        items.set(f.load(thing, 3))
    with f.loop(length) as k, f.when(f.call("number", entry, f.load(items.get(), k), place + k * 8) == 0):
        f.give(0)
    Fields(f, frame, FRAME).set("copied", 1)
    f.call("add", frame, leaf, place, 0, place)
    f.give(1)
    return f


def _take_array(f: Function, call: Fields, frame: Fields, leaf: Fields, thing: Word) -> None:
    array, rank, size, item = ArrayObject(f, thing), leaf.rank, leaf.bytes, call.item
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


def _join_batch(f: Function, frame: Fields, states: Word, extra: Word, dims: Word) -> None:
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
    about = Fields(f, frame, FRAME)
    n = about.inputs
    f.store(frame + 8 * OPERANDS, data, n)
    f.store(frame + 8 * STEPS, step, n)
    f.store(frame + 8 * ENDS, last, n)
    f.store(frame + 8 * LEAVES, leaf, n)
    about.set("inputs", n + 1)
    f.give(1)
    return f


def _unpacked() -> Function:
    """(entry, call, frame, slot, thing): whether a thing is a dict, or a tuple, with what the leaves of a slot want."""
    f = Function("unpacked", ["entry", "call", "frame", "slot", "thing"])
    entry, call, frame, slot, thing = f.parameters
    about, python = Fields(f, slot, SLOT), python_of(f, entry)
    by_key, count, leaf = about.container == BY_KEY, about.count, f.variable(about.leaves)
    with f.when(type_of(f, thing) != f.choose(by_key, python.dict, python.tuple)):
        f.give(0)
    size = f.variable(size_of(f, thing))
    with f.when(by_key):
        size.set(f.call(python.dict_size, thing))
    with f.when(size.get() != count):
        f.give(0)
    with f.loop(count) as k:
        part = f.variable(f.load(thing + HEADER + 8, k))
        with f.when(by_key):
            part.set(f.call(python.dict_get, thing, f.load(about.keys, k)))
        with f.when(part.get() == 0):
            f.give(0)
        with f.when(f.call("taken", entry, call, frame, leaf.get(), part.get()) == 0):
            f.give(0)
        leaf.set(leaf.get() + 8 * len(LEAF))
    f.give(1)
    return f


def _fits() -> Function:
    """(entry, call, frame): whether the arguments are those of a remembered call."""
    f = Function("fits", ["entry", "call", "frame"])
    entry, call, frame = f.parameters
    about, state = Fields(f, call, CALL), Fields(f, frame, FRAME)
    with f.when(f.load(about.code_alive) != about.code):
        f.give(0)
    for name in ("inputs", "states", "lead", "copied"):
        state.set(name, 0)
    slot = f.variable(about.slots)
    with f.loop(Fields(f, entry, ENTRY).parameters) as k:
        thing, now = f.load(frame + 8 * SLOTS, k), Fields(f, slot.get(), SLOT)
        container = now.container
        with f.when(f.choose(thing == 0, 0, 1) != f.choose(container == ABSENT, 0, 1)):
            f.give(0)
        with f.when(container == ONE), f.when(f.call("taken", entry, call, frame, now.leaves, thing) == 0):
            f.give(0)
        with f.when(container > ONE), f.when(f.call("unpacked", entry, call, frame, slot.get(), thing) == 0):
            f.give(0)
        slot.set(slot.get() + 8 * len(SLOT))
    crowd = (state.states > 1) & (state.states > about.most)
    with f.when(crowd & ((about.threaded == 0) | (state.copied != 0))):
        f.give(0)
    f.give(1)
    return f


def argument_functions() -> list[Function]:
    """All of them: ``slots`` and ``fits`` are for others to call."""
    return [_slots(), _number(), _same(), _add(), _taken(), _unpacked(), _fits()]
