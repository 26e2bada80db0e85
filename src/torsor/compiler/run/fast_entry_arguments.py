"""The arguments of a call in generated code: which remembered call they fit, and where its kernel finds each input.

An argument is the very object of a leaf's ``fixed`` (robot, task, None; of a name also an equal one; of a whole number one of
the same value), or numbers (``fixed`` is null). A remembered call does not keep its robot alive, and another object may come to
lie where it was: ``alive`` points to where a weak reference to it has its address, and no longer has it when it is gone. Arrays
have the axes of one state, or up to `LEADS` more before them, for states; one without these, or with one state, belongs to all
states of the others (0 bytes from state to state). Contiguous is what NumPy's flags say, which it keeps with every change of
shape, strides or type. Lists, single numbers, and what lies in strides are copied to the ``place`` of their leaf.
"""

from __future__ import annotations

from itertools import accumulate

from torsor.compiler.print.words import Fields, Function, Word
from torsor.compiler.run.crew import Job

HEADER = object.__basicsize__  # reference count and type
MOST = 48  # arguments, and inputs and outputs of a kernel together
LEADS = 4  # axes of a batch
BUCKETS = 256  # of remembered calls, by the address of the first argument
CONTIGUOUS, ALIGNED, WRITEABLE = 1, 256, 1024  # NumPy's flags
C_ORDER = CONTIGUOUS | ALIGNED
ABSENT, ONE, BY_KEY, IN_ORDER = range(4)  # containers of arguments
ITSELF, AS_TEXT, AS_NUMBER = range(3)  # how what is fixed is compared
SPARES = 2  # arrays for a result of one state: one that the caller has, and one for the next


class Python(Fields):
    """What all entries know of CPython and NumPy: addresses of objects and functions."""

    names = (
        "suspended", "none",
        "array", "float", "double", "int", "list", "tuple", "dict", "string",
        "array_new", "vectorcall", "tuple_new", "tuple_set", "alloc", "dict_new", "dict_set", "dict_get", "dict_size",
        "compare", "hold", "release", "to_integer", "from_integer", "set_handler", "handler", "crew",
    )  # fmt: skip


class Entry(Fields):
    """What is called, and the table of its remembered calls."""

    names = ("known", "table", "multiplier", "parameters", "positional", "keywords", "general")

    @property
    def python(self) -> Python:
        """What all entries know."""
        return Python.at(self.known)


class Call(Fields):
    """A `RememberedCall`."""

    names = (
        "next", "object", "code", "code_alive", "slots", "descr", "number", "item", "outputs", "results", "constants", "constant",
        "kernel", "many", "most", "scratch", "threaded", "first_extra", "second_extra", "container", "keys",
        "sharing", "scratch_bytes",
    )  # fmt: skip


class Slot(Fields):
    """What a remembered call has for a parameter: leaves, alone, by key or in order."""

    names = ("container", "count", "leaves", "keys")


class Leaf(Fields):
    """What a remembered call has for an argument, or a part of one."""

    names = ("fixed", "alive", "compared", "rank", "bytes", "place", "lengths")


class Result(Fields):
    """What a remembered call has for a result."""

    names = ("rank", "bytes", "dims", "spare")


class Frame(Fields):
    """What is found out about one call: some words, and `TABLES` behind them, whose addresses are attributes too."""

    names = ("inputs", "states", "lead", "lead_dims", "copied", "fresh", "given")

    def __getattr__(self, name: str) -> Word:
        return self + 8 * TABLES[name] if name in TABLES else super().__getattr__(name)


# Arguments by parameter; of each input and output of the kernel where it is, and the bytes between its states; where the last
# state of an input begins, and its leaf; the results' arrays; the job of the crew
_SIZES = {"slots": MOST + 1, "operands": MOST + 2, **dict.fromkeys(("steps", "ends", "leaves", "objects"), MOST)}
_SIZES["job"] = len(Job.names)
TABLES = dict(zip(_SIZES, accumulate(_SIZES.values(), initial=len(Frame.names)), strict=False))
FRAME_WORDS = TABLES["job"] + len(Job.names)


class Thing(Fields):
    """An object of Python, a tuple say."""

    names = ("references", "type", "size")

    @property
    def items(self) -> Word:
        """Where a tuple has its items."""
        return self + (HEADER + 8)


class ArrayObject(Fields):
    """An array of NumPy."""

    names = ("references", "type", "data", "_rank", "dims", "strides", "base", "descr", "_flags")

    @property
    def rank(self) -> Word:
        """How many axes it has."""
        return self.function.load_32(self.where("_rank"))

    @property
    def flags(self) -> Word:
        """What NumPy says of its memory, as a bit for each."""
        return self.function.load_32(self.where("_flags"))


def slots(f: Function, entry: Entry, places: Word, args: Word, nargs: Word, keywords: Thing) -> None:
    """The arguments by parameter, null where there is none; whether all have a place."""
    parameters = entry.parameters
    f.refuse_if(nargs > entry.positional)
    with f.loop(nargs) as k:
        f.store(places, f.load(args, k), k)
    with f.loop(parameters + 1 - nargs) as k:
        f.store(places, 0, nargs + k)
    with f.when(keywords != 0):
        known = entry.keywords
        with f.loop(keywords.size) as i:
            name, place = f.load(keywords.items, i), f.variable(-1)
            with f.loop(parameters + 1) as j, f.when(f.load(known, j) == name):
                place.set(j)
            f.refuse_if(place.get() == -1)
            f.refuse_if(f.load(places, place.get()) != 0)
            f.store(places, f.load(args, nargs + i), place.get())
    f.give(1)


def _number(f: Function, entry: Entry, thing: Thing, place: Word) -> None:
    """A float, or a whole number, put at a place as a double; whether it is one."""
    python, kind = entry.python, thing.type
    with f.when((kind == python.float) | (kind == python.double)):
        f.store(place, f.load(thing, 2))
        f.give(1)
    f.refuse_if(kind != python.int)
    beyond = f.block(1)
    f.store(beyond, 0)
    f.store(place, f.double_of(f.call(python.to_integer, thing, beyond)))
    f.give(f.choose(f.load_32(beyond) == 0, 1, 0))


def _same(f: Function, entry: Entry, leaf: Leaf, thing: Thing) -> None:
    """Whether a thing is the one that a leaf wants."""
    python, fixed, compared = entry.python, leaf.fixed, leaf.compared
    with f.when(thing == fixed):
        f.give(f.choose(f.load(leaf.alive) == fixed, 1, 0))
    with f.when((compared == AS_TEXT) & (thing.type == python.string)):
        f.give(f.choose(f.call(python.compare, thing, fixed, gives="i32") == 0, 1, 0))
    with f.when((compared == AS_NUMBER) & (thing.type == python.int)):
        beyond = f.block(1)
        f.store(beyond, 0)
        same = f.call(python.to_integer, thing, beyond) == f.call(python.to_integer, fixed, beyond)
        f.give(f.choose(same & (f.load_32(beyond) == 0), 1, 0))
    f.give(0)


def _taken(f: Function, entry: Entry, call: Call, frame: Frame, leaf: Leaf, thing: Thing) -> None:
    """Whether a thing is as a leaf wants; the frame then has where the kernel finds it."""
    with f.when(leaf.fixed != 0):
        f.give(f.call(_same, entry, leaf, thing))
    python, kind, rank = entry.python, thing.type, leaf.rank
    with f.when(kind == python.array):
        _take_array(f, call, frame, leaf, ArrayObject.at(thing))
        f.give(1)
    place = leaf.place
    f.refuse_if(call.item != 8)  # other numbers would make it a call in doubles
    with f.when(rank == 0):
        f.refuse_if(f.call(_number, entry, thing, place) == 0)
        f.call(_add, frame, leaf, place, 0, place)
        f.give(1)
    is_list = kind == python.list
    f.refuse_if(~((is_list | (kind == python.tuple)) & (rank == 1)))
    length = f.load(leaf.lengths)
    f.refuse_if(thing.size != length)
    items = f.variable(thing.items)
    with f.when(is_list):
        items.set(f.load(thing, 3))
    with f.loop(length) as k:
        f.refuse_if(f.call(_number, entry, f.load(items.get(), k), place + k * 8) == 0)
    frame.set(copied=1)
    f.call(_add, frame, leaf, place, 0, place)
    f.give(1)


def _take_array(f: Function, call: Call, frame: Frame, leaf: Leaf, array: ArrayObject) -> None:
    rank, size, item, data, dims = leaf.rank, leaf.bytes, call.item, f.variable(array.data), array.dims
    extra = array.rank - rank
    f.refuse_if((array.descr != call.descr) | ((array.flags & ALIGNED) == 0) | (extra > LEADS))
    lengths, step = leaf.lengths, f.variable(size)
    refuse_other(f, rank, dims + extra * 8, lengths)
    with f.when((array.flags & CONTIGUOUS) == 0):
        f.refuse_if(rank > 1)
        inner = f.variable(item)
        with f.when(rank == 1):
            inner.set(f.load(array.strides, extra))
        with f.when(extra == 0):
            _copy_strided(f, leaf.place, array.data, inner.get(), item, f.load(lengths))
            data.set(leaf.place)
            frame.set(copied=1)
        with f.when(extra != 0):
            f.refuse_if((extra > 1) | (inner.get() != item))
            step.set(f.load(array.strides))
    with f.when(extra == 0):
        f.call(_add, frame, leaf, data.get(), 0, data.get())
        f.give(1)
    states = f.variable(1)
    with f.loop(extra) as k:
        states.set(states.get() * f.load(dims, k))
    _join_batch(f, frame, states.get(), extra, dims)
    alone = (extra == 1) & (states.get() == 1)
    on = f.choose(alone, 0, step.get())
    f.call(_add, frame, leaf, data.get(), on, data.get() + on * (states.get() - 1))


def refuse_other(f: Function, count: Word, some: Word, others: Word) -> None:
    """End the call with 0 if so many words in one place are not those in another."""
    with f.loop(count) as k:
        f.refuse_if(f.load(some, k) != f.load(others, k))


def _copy_strided(f: Function, place: Word, data: Word, step: Word, item: Word, length: Word) -> None:
    """Numbers of 4 or 8 bytes, side by side at a place."""
    with f.loop(length) as k:
        with f.when(item == 8):
            f.store(place + k * 8, f.load(data + k * step))
        with f.when(item != 8):
            f.copy(place + k * 4, data + k * step, 4)


def _join_batch(f: Function, frame: Frame, states: Word, extra: Word, dims: Word) -> None:
    """All arrays of a batch have the same states, or one, or none; 0 is given where they do not."""
    f.refuse_if(states == 0)
    lead, before = frame.lead, frame.states
    alone = (extra == 1) & (states == 1)
    first = (lead == 0) | ((lead == 1) & (before == 1))
    with f.when(first):
        frame.set(lead=extra, lead_dims=dims, states=states)
    with f.when(~(first | alone)):
        f.refuse_if(lead != extra)
        refuse_other(f, extra, frame.lead_dims, dims)


def _add(f: Function, frame: Frame, leaf: Word, data: Word, step: Word, last: Word) -> None:
    """An input of the kernel, and where its last state begins."""
    n = frame.inputs
    for table, word in ((frame.operands, data), (frame.steps, step), (frame.ends, last), (frame.leaves, leaf)):
        f.store(table, word, n)
    frame.set(inputs=n + 1)
    f.give(1)


def _unpacked(f: Function, entry: Entry, call: Call, frame: Frame, slot: Slot, thing: Thing) -> None:
    """Whether a thing is a dict, or a tuple, with what the leaves of a slot want."""
    python, by_key, count, leaves = entry.python, slot.container == BY_KEY, slot.count, slot.leaves
    f.refuse_if(thing.type != f.choose(by_key, python.dict, python.tuple))
    size = f.variable(thing.size)
    with f.when(by_key):
        size.set(f.call(python.dict_size, thing))
    f.refuse_if(size.get() != count)
    with f.loop(count) as k:
        part = f.variable(f.load(thing.items, k))
        with f.when(by_key):
            part.set(f.call(python.dict_get, thing, f.load(slot.keys, k)))
        f.refuse_if(part.get() == 0)
        f.refuse_if(f.call(_taken, entry, call, frame, Leaf.at(leaves, k), part.get()) == 0)
    f.give(1)


def fits(f: Function, entry: Entry, call: Call, frame: Frame) -> None:
    """Whether the arguments are those of a remembered call."""
    f.refuse_if(f.load(call.code_alive) != call.code)
    frame.set(inputs=0, states=0, lead=0, copied=0)
    first = call.slots
    with f.loop(entry.parameters) as k:
        thing, slot = f.load(frame.slots, k), Slot.at(first, k)
        container = slot.container
        f.refuse_if(f.choose(thing == 0, 0, 1) != f.choose(container == ABSENT, 0, 1))
        with f.when(container == ONE):
            f.refuse_if(f.call(_taken, entry, call, frame, slot.leaves, thing) == 0)
        with f.when(container > ONE):
            f.refuse_if(f.call(_unpacked, entry, call, frame, slot, thing) == 0)
    crowd = (frame.states > 1) & (frame.states > call.most)
    f.refuse_if(crowd & ((call.threaded == 0) | (frame.copied != 0)))
    f.give(1)
