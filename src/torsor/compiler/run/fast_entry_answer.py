"""The generated code of `fast_entry`: from the arguments of a call in Python to a kernel, and from its results back.

``fast_entry`` is what CPython calls a vectorcallfunc. Its steps:

1. `fast_entry_arguments`: the arguments by parameter, whether given by position or by name, ``out`` last. The remembered calls of
   the first one (a robot) are tried in turn, until the arguments fit one of them.
2. `_accepted`: ``out`` is what results can be written to; else `_made`: new arrays, or `_spare` ones.
3. `_run`: the kernel. A batch that is worth several threads is run by a function in Python (``threaded``).
4. `_wrapped`: what the caller is given: one array, a tuple, a named tuple, or a dict.

What fits no remembered call is forwarded to the general path, and so is everything while somebody has chosen NumPy
(``suspended`` points to their number).
"""

from __future__ import annotations

import numpy as np

from torsor.compiler.print.words import Function, Word, module
from torsor.compiler.run import result_memory
from torsor.compiler.run.crew import CREW
from torsor.compiler.run.fast_entry_arguments import (
    C_ORDER,
    CALL,
    ENDS,
    ENTRY,
    FRAME,
    FRAME_WORDS,
    HEADER,
    LEADS,
    LEAF,
    LEAVES,
    OBJECTS,
    OPERANDS,
    RESULT,
    SLOTS,
    SPARES,
    STEPS,
    WRITEABLE,
    ArrayObject,
    Fields,
    argument_functions,
    python_of,
    size_of,
    type_of,
)


def _accepted() -> Function:
    """(entry, call, frame): whether ``out`` is what results can be written to, each then among the frame's objects."""
    f = Function("accepted", ["entry", "call", "frame"])
    entry, call, frame = f.parameters
    about, state, python = Fields(f, call, CALL), Fields(f, frame, FRAME), python_of(f, entry)
    out, count = f.load(frame + 8 * SLOTS, Fields(f, entry, ENTRY).parameters), about.outputs
    fresh = (out == 0) | (out == python.none)
    state.set("fresh", f.choose(fresh, 1, 0))
    state.set("given", 0)
    with f.when(fresh):
        f.give(1)
    kind, own, result = about.kind, type_of(f, out), f.variable(about.results)
    by_key, alone = kind == python.dict, (kind == 0) & (count == 1)
    several = alone == Word(f, "false", "i1")
    with f.when(several):
        with f.when((own != kind) & ((own != python.tuple) | by_key)):
            f.give(0)
        size = f.variable(0)
        with f.when(by_key):
            size.set(f.call(python.dict_size, out))
        with f.when(by_key == Word(f, "false", "i1")):
            size.set(size_of(f, out))
        with f.when(size.get() != count):
            f.give(0)
        with f.when(own == kind):
            state.set("given", out)
    with f.loop(count) as k:
        thing = f.variable(out)
        with f.when(several):
            with f.when(by_key):
                thing.set(f.call(python.dict_get, out, f.load(about.keys, k)))
            with f.when(by_key == Word(f, "false", "i1")):
                thing.set(f.load(out + HEADER + 8, k))
        with f.when(thing.get() == 0):
            f.give(0)
        with f.when(f.call("writable", entry, call, frame, result.get(), thing.get(), k) == 0):
            f.give(0)
        f.store(frame + 8 * OBJECTS, thing.get(), k)
        result.set(result.get() + 8 * len(RESULT))
    f.give(1)
    return f


def _writable() -> Function:
    """(entry, call, frame, result, thing, place): whether a thing is an array that a result can be written to.

    An input that overlaps it is copied if it is of one state; with a batch, or with another result, that is refused.
    """
    f = Function("writable", ["entry", "call", "frame", "result", "thing", "place"])
    entry, call, frame, result, thing, place = f.parameters
    about, state, wanted = Fields(f, call, CALL), Fields(f, frame, FRAME), Fields(f, result, RESULT)
    with f.when(type_of(f, thing) != python_of(f, entry).array):
        f.give(0)
    array, lead, rank, all_flags = ArrayObject(f, thing), state.lead, wanted.rank, C_ORDER | WRITEABLE
    with f.when((array.descr != about.descr) | ((array.flags & all_flags) != all_flags) | (array.rank != lead + rank)):
        f.give(0)
    with f.loop(lead) as k, f.when(f.load(array.dims, k) != f.load(state.lead_dims, k)):
        f.give(0)
    with f.loop(rank) as k, f.when(f.load(array.dims, lead + k) != f.load(wanted.dims + 8 * LEADS, k)):
        f.give(0)
    states = f.choose(state.states == 0, 1, state.states)
    end = array.data + wanted.bytes * states
    with f.loop(state.inputs) as k:
        start, leaf = f.load(frame + 8 * OPERANDS, k), Fields(f, f.load(frame + 8 * LEAVES, k), LEAF)
        last = f.load(frame + 8 * ENDS, k)
        backwards = last < start
        low, high = f.choose(backwards, last, start), f.choose(backwards, start, last) + leaf.bytes
        with f.when((low < end) & (array.data < high)):
            with f.when(states > 1):
                f.give(0)
            f.copy(leaf.place, start, leaf.bytes)
            f.store(frame + 8 * OPERANDS, leaf.place, k)
            f.store(frame + 8 * ENDS, leaf.place, k)
    other = f.variable(about.results)
    with f.loop(place) as k:
        written = ArrayObject(f, f.load(frame + 8 * OBJECTS, k)).data
        with f.when((written < end) & (array.data < written + Fields(f, other.get(), RESULT).bytes * states)):
            f.give(0)
        other.set(other.get() + 8 * len(RESULT))
    f.give(1)
    return f


def _spare() -> Function:
    """(call, result): an array of the call's own for a result of one state, if nobody else has one any more; else 0.

    Making an array and giving it back takes as long as the dynamics of a small robot. Whoever has an array, a view of it or its
    memory holds a reference; where only the call's own is left, and the array is as it was made, it is a new result. Weak
    references and changes of shape, type or flags leave it to those who made them.
    """
    f = Function("spare", ["call", "result"])
    call, result = f.parameters
    wanted, descr = Fields(f, result, RESULT), Fields(f, call, CALL).descr
    spare, rank = wanted.spare, wanted.rank
    with f.loop(f.choose(spare == 0, 0, SPARES)) as k:
        thing, is_same = f.load(spare + 8, k), f.variable(1)
        array, weak = ArrayObject(f, thing), f.load(thing + np.ndarray.__weakrefoffset__)
        same = (array.descr == descr) & (array.rank == rank) & (array.flags == f.load(spare)) & (weak == 0)
        with f.when((f.load(thing) == 1) & same):
            with f.loop(rank) as axis, f.when(f.load(array.dims, axis) != f.load(wanted.dims + 8 * LEADS, axis)):
                is_same.set(0)
            with f.when(is_same.get() != 0):
                f.store(thing, 2)
                f.give(thing)
    f.give(0)
    return f


def _made() -> Function:
    """(entry, call, frame): new arrays for the results, among the frame's objects; whether there was memory."""
    f = Function("made", ["entry", "call", "frame"])
    entry, call, frame = f.parameters
    about, state, python = Fields(f, call, CALL), Fields(f, frame, FRAME), python_of(f, entry)
    lead, result = state.lead, f.variable(about.results)
    states = f.choose(state.states == 0, 1, state.states)
    with f.loop(about.outputs) as k:
        wanted = Fields(f, result.get(), RESULT)
        dims = wanted.dims + (Word(f, str(LEADS)) - lead) * 8  # the axes of the batch stand before its own
        with f.loop(lead) as axis:
            f.store(dims, f.load(state.lead_dims, axis), axis)
        size = wanted.bytes * states
        array = f.variable(0)
        with f.when(lead == 0):
            array.set(f.call("spare", call, result.get()))
        with f.when(array.get() == 0):
            array.set(f.call("array_of", python.address, lead + wanted.rank, dims, about.number, size))
        with f.when(array.get() == 0):
            f.call("drop", entry, frame, k)
            f.give(0)
        f.store(frame + 8 * OBJECTS, array.get(), k)
        result.set(result.get() + 8 * len(RESULT))
    f.give(1)
    return f


def _drop() -> Function:
    """(entry, frame, count): give up the first of the frame's objects."""
    f = Function("drop", ["entry", "frame", "count"])
    entry, frame, count = f.parameters
    with f.loop(count) as k:
        f.call(python_of(f, entry).release, f.load(frame + 8 * OBJECTS, k), gives="void")
    f.give(1)
    return f


def _run() -> Function:
    """(entry, call, frame): call the kernel; whether nothing was raised."""
    f = Function("run", ["entry", "call", "frame"])
    entry, call, frame = f.parameters
    about, state, python = Fields(f, call, CALL), Fields(f, frame, FRAME), python_of(f, entry)
    operands, steps = frame + 8 * OPERANDS, frame + 8 * STEPS
    given, constants, outputs = state.inputs, about.constants, about.outputs
    with f.loop(constants) as k:
        f.store(operands, f.load(about.constant, k), given + k)
        f.store(steps, 0, given + k)
    before, result = given + constants, f.variable(about.results)
    with f.loop(outputs) as k:
        f.store(operands, ArrayObject(f, f.load(frame + 8 * OBJECTS, k)).data, before + k)
        f.store(steps, Fields(f, result.get(), RESULT).bytes, before + k)
        result.set(result.get() + 8 * len(RESULT))
    end = before + outputs
    f.store(operands, about.scratch, end)
    states, kernel, many = state.states, about.kernel, about.many
    with f.when((states < 2) & (kernel != 0)):
        f.call(kernel, operands, gives="void")
        f.give(1)
    f.store(operands, kernel, end + 1)
    extra, crew = (about.first_extra, about.second_extra), Fields(f, python.crew, CREW)
    sharing = (states > 1) & (states > about.sharing) & (crew.wanted != 0)
    is_ready = (crew.helpers != 0) & ((crew.helpers < crew.wanted) == Word(f, "false", "i1"))
    with f.when(sharing & is_ready & ((states > about.most) == Word(f, "false", "i1"))):
        job = [python.crew, many, states, operands, steps, end, about.scratch_bytes, *extra]
        with f.when(f.call(crew.shared, *job) != 0):
            f.give(1)
    in_python = (states > about.most) | (sharing & (is_ready == Word(f, "false", "i1")))
    with f.when((states < 2) | (about.threaded == 0) | (in_python == Word(f, "false", "i1"))):
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
    about, python = Fields(f, call, CALL), python_of(f, entry)
    count, kind, objects = about.outputs, about.kind, frame + 8 * OBJECTS
    with f.when((kind == 0) & (count == 1)):
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
    about, state, python = Fields(f, call, CALL), Fields(f, frame, FRAME), python_of(f, entry)
    count = about.outputs
    with f.when(state.fresh != 0), f.when(f.call("made", entry, call, frame) == 0):
        f.give(0)
    with f.when(state.fresh == 0), f.loop(count) as k:
        f.call(python.hold, f.load(frame + 8 * OBJECTS, k), gives="void")
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
    """(self, args, nargs, names): what Python calls. The highest bit of nargs says that the place before args may be used."""
    f = Function("fast_entry", ["self", "args", "nargs", "names"], internal=False)
    owner, args, flagged, names = f.parameters
    nargs = flagged & (2**63 - 1)
    entry = f.load(f.load(owner, 2), 1)  # ctypes' pointer to the two words of a `FastEntry`
    about, python = Fields(f, entry, ENTRY), python_of(f, entry)
    frame = f.block(FRAME_WORDS)
    slots = frame + 8 * SLOTS
    with f.when(f.load(python.suspended) == 0), f.when(f.call("slots", entry, slots, args, nargs, names) != 0):
        call = f.variable(f.load(about.table, (f.load(slots) * about.multiplier) >> 56))
        with f.while_(call) as now:
            with f.when(f.call("fits", entry, now, frame) != 0), f.when(f.call("accepted", entry, now, frame) != 0):
                itself = Fields(f, now, CALL).object  # held: who is called meanwhile may forget this call
                f.store(itself, f.load(itself) + 1)
                answer = f.call("answered", entry, now, frame)
                with f.when(f.load(itself) == 1):
                    f.call(python.release, itself, gives="void")
                    f.give(answer)
                f.store(itself, f.load(itself) - 1)
                f.give(answer)
            call.set(Fields(f, now, CALL).next)
    f.give(f.call(python.vectorcall, about.general, args, nargs, names))
    return f


def text() -> str:
    """The module of the fast entry."""
    parts = (_writable, _accepted, _drop, _spare, _made, _run, _wrapped, _answered, _entry)
    return module([*argument_functions(), *result_memory.functions(), *(part() for part in parts)])
