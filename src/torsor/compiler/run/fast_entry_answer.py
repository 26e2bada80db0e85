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

from torsor.compiler.print.words import Function, Word
from torsor.compiler.run import fast_entry_arguments as layout
from torsor.compiler.run.crew import Crew, Job
from torsor.compiler.run.fast_entry_arguments import ArrayObject, Call, Entry, Frame, Leaf, Result, Thing
from torsor.compiler.run.result_memory import array_of


def _accepted(f: Function, entry: Entry, call: Call, frame: Frame) -> None:
    """Whether ``out`` is what results can be written to, each then among the frame's objects."""
    python, out, count = entry.python, Thing.at(f.load(frame.slots, entry.parameters)), call.outputs
    fresh = (out == 0) | (out == python.none)
    frame.set(fresh=f.choose(fresh, 1, 0), given=0)
    with f.when(fresh):
        f.give(1)
    kind, own, results = call.container, out.type, call.results
    by_key, several = kind == python.dict, (kind != 0) | (count != 1)
    with f.when(several):
        f.refuse_if((own != kind) & ((own != python.tuple) | by_key))
        size = f.variable(out.size)
        with f.when(by_key):
            size.set(f.call(python.dict_size, out))
        f.refuse_if(size.get() != count)
        with f.when(own == kind):
            frame.set(given=out)
    with f.loop(count) as k:
        thing = f.variable(out)
        with f.when(several):
            with f.when(by_key):
                thing.set(f.call(python.dict_get, out, f.load(call.keys, k)))
            with f.when(~by_key):
                thing.set(f.load(out.items, k))
        f.refuse_if(thing.get() == 0)
        f.refuse_if(f.call(_writable, entry, call, frame, Result.at(results, k), thing.get(), k) == 0)
        f.store(frame.objects, thing.get(), k)
    f.give(1)


def _writable(
    f: Function, entry: Entry, call: Call, frame: Frame, wanted: Result, array: ArrayObject, place: Word
) -> None:
    """Whether a thing is an array that a result can be written to.

    An input that overlaps it is copied if it is of one state; with a batch, or with another result, that is refused.
    """
    f.refuse_if(array.type != entry.python.array)
    lead, rank, all_flags, dims = frame.lead, wanted.rank, layout.C_ORDER | layout.WRITEABLE, array.dims
    f.refuse_if((array.descr != call.descr) | ((array.flags & all_flags) != all_flags) | (array.rank != lead + rank))
    layout.refuse_other(f, lead, dims, frame.lead_dims)
    layout.refuse_other(f, rank, dims + lead * 8, wanted.dims + 8 * layout.LEADS)
    states, data, results = f.choose(frame.states == 0, 1, frame.states), array.data, call.results
    end = data + wanted.bytes * states
    with f.loop(frame.inputs) as k:
        start, leaf = f.load(frame.operands, k), Leaf.at(f.load(frame.leaves, k))
        last = f.load(frame.ends, k)
        backwards = last < start
        low, high = f.choose(backwards, last, start), f.choose(backwards, start, last) + leaf.bytes
        with f.when((low < end) & (data < high)):
            f.refuse_if(states > 1)
            f.copy(leaf.place, start, leaf.bytes)
            f.store(frame.operands, leaf.place, k)
            f.store(frame.ends, leaf.place, k)
    with f.loop(place) as k:
        written = ArrayObject.at(f.load(frame.objects, k)).data
        f.refuse_if((written < end) & (data < written + Result.at(results, k).bytes * states))
    f.give(1)


def _spare(f: Function, call: Call, wanted: Result) -> None:
    """An array of the call's own for a result of one state, if nobody else has one any more; else 0.

    Making an array and giving it back takes as long as the dynamics of a small robot. Whoever has an array, a view of it or its
    memory holds a reference; where only the call's own is left, and the array is as it was made, it is a new result. Weak
    references and changes of shape, type or flags leave it to those who made them.
    """
    spare, rank, descr = wanted.spare, wanted.rank, call.descr
    with f.loop(f.choose(spare == 0, 0, layout.SPARES)) as k:
        array, is_same = ArrayObject.at(f.load(spare + 8, k)), f.variable(1)
        weak = f.load(array + np.ndarray.__weakrefoffset__)
        same = (array.descr == descr) & (array.rank == rank) & (array.flags == f.load(spare)) & (weak == 0)
        with f.when((array.references == 1) & same):
            with f.loop(rank) as axis, f.when(f.load(array.dims, axis) != f.load(wanted.dims + 8 * layout.LEADS, axis)):
                is_same.set(0)
            with f.when(is_same.get() != 0):
                array.set(references=2)
                f.give(array)
    f.give(0)


def _made(f: Function, entry: Entry, call: Call, frame: Frame) -> None:
    """New arrays for the results, among the frame's objects; whether there was memory."""
    lead, results, python = frame.lead, call.results, entry.python
    states = f.choose(frame.states == 0, 1, frame.states)
    with f.loop(call.outputs) as k:
        wanted = Result.at(results, k)
        dims = wanted.dims + (f.word(layout.LEADS) - lead) * 8  # the axes of the batch stand before its own
        with f.loop(lead) as axis:
            f.store(dims, f.load(frame.lead_dims, axis), axis)
        size = wanted.bytes * states
        array = f.variable(0)
        with f.when(lead == 0):
            array.set(f.call(_spare, call, wanted))
        with f.when(array.get() == 0):
            array.set(f.call(array_of, python, lead + wanted.rank, dims, call.number, size))
        with f.when(array.get() == 0):
            f.call(_drop, entry, frame, k)
            f.give(0)
        f.store(frame.objects, array.get(), k)
    f.give(1)


def _drop(f: Function, entry: Entry, frame: Frame, count: Word) -> None:
    """Give up the first of the frame's objects."""
    with f.loop(count) as k:
        f.call(entry.python.release, f.load(frame.objects, k), gives="void")
    f.give(1)


def _run(f: Function, entry: Entry, call: Call, frame: Frame) -> None:
    """Call the kernel; whether nothing was raised."""
    python, operands, steps = entry.python, frame.operands, frame.steps
    given, constants, outputs, results = frame.inputs, call.constants, call.outputs, call.results
    with f.loop(constants) as k:
        f.store(operands, f.load(call.constant, k), given + k)
        f.store(steps, 0, given + k)
    before = given + constants
    with f.loop(outputs) as k:
        f.store(operands, ArrayObject.at(f.load(frame.objects, k)).data, before + k)
        f.store(steps, Result.at(results, k).bytes, before + k)
    end = before + outputs
    f.store(operands, call.scratch, end)
    states, kernel, many = frame.states, call.kernel, call.many
    with f.when((states < 2) & (kernel != 0)):
        f.call(kernel, operands, gives="void")
        f.give(1)
    f.store(operands, kernel, end + 1)
    extra, crew = (call.first_extra, call.second_extra), Crew.at(python.crew)
    sharing = (states > 1) & (states > call.sharing) & (crew.wanted != 0)
    is_ready = (crew.helpers != 0) & (crew.helpers >= crew.wanted)
    with f.when(sharing & is_ready & (states <= call.most)):
        job = Job.at(frame.job)
        job.set(kernel=many, states=states, operands=operands, steps=steps, ports=end, scratch=call.scratch_bytes)
        job.set(first_extra=extra[0], second_extra=extra[1])
        with f.when(f.call(crew.shared, crew, job) != 0):
            f.give(1)
    in_python = (states > call.most) | (sharing & ~is_ready)
    with f.when((states < 2) | (call.threaded == 0) | ~in_python):
        f.call(many, f.choose(states == 0, 1, states), operands, steps, *extra, gives="void")
        f.give(1)
    argument = f.block(1)
    f.store(argument, f.call(python.from_integer, frame))
    f.refuse_if(f.load(argument) == 0)
    done = f.call(python.vectorcall, call.threaded, argument, 1, 0)
    f.call(python.release, f.load(argument), gives="void")
    f.refuse_if(done == 0)
    f.call(python.release, done, gives="void")
    f.give(1)


def _wrapped(f: Function, entry: Entry, call: Call, frame: Frame) -> None:
    """What the caller is given; the frame's objects, of which a reference is held, are in it."""
    python, count, kind, objects = entry.python, call.outputs, call.container, frame.objects
    with f.when((kind == 0) & (count == 1)):
        f.give(f.load(objects))
    made, by_key = f.variable(0), kind == python.dict
    with f.when(kind == 0):
        made.set(f.call(python.tuple_new, count))
    with f.when(by_key):
        made.set(f.call(python.dict_new))
    with f.when((kind != 0) & ~by_key):
        made.set(f.call(python.alloc, kind, count))
    with f.when(made.get() == 0):
        f.call(_drop, entry, frame, count)
        f.give(0)
    with f.loop(count) as k:
        thing = f.load(objects, k)
        with f.when(by_key):
            f.call(python.dict_set, made.get(), f.load(call.keys, k), thing, gives="i32")
            f.call(python.release, thing, gives="void")
        with f.when(~by_key):
            f.call(python.tuple_set, made.get(), k, thing, gives="i32")
    f.give(made.get())


def _answered(f: Function, entry: Entry, call: Call, frame: Frame) -> None:
    """The result of a call that fits, or null with an exception."""
    python, count = entry.python, call.outputs
    with f.when(frame.fresh != 0):
        f.refuse_if(f.call(_made, entry, call, frame) == 0)
    with f.when(frame.fresh == 0), f.loop(count) as k:
        f.call(python.hold, f.load(frame.objects, k), gives="void")
    with f.when(f.call(_run, entry, call, frame) == 0):
        f.call(_drop, entry, frame, count)
        f.give(0)
    with f.when(frame.given != 0):
        f.call(_drop, entry, frame, count)
        f.call(python.hold, frame.given, gives="void")
        f.give(frame.given)
    f.give(f.call(_wrapped, entry, call, frame))


def fast_entry(f: Function, own: Word, args: Word, nargs: Word, keywords: Word) -> None:
    """What Python calls. The highest bit of nargs says that the place before args may be used."""
    given = nargs & (2**63 - 1)
    entry = Entry.at(f.load(f.load(own, 2), 1))  # ctypes' pointer to the two words of a `FastEntry`
    python, frame = entry.python, Frame.at(f.block(layout.FRAME_WORDS))
    places = frame.slots
    with f.when(f.load(python.suspended) == 0), f.when(f.call(layout.slots, entry, places, args, given, keywords) != 0):
        chain = f.variable(f.load(entry.table, (f.load(places) * entry.multiplier) >> 56))
        with f.while_(chain) as now:
            call = Call.at(now)
            with (
                f.when(f.call(layout.fits, entry, call, frame) != 0),
                f.when(f.call(_accepted, entry, call, frame) != 0),
            ):
                itself = Thing.at(call.object)  # held: who is called meanwhile may forget this call
                itself.set(references=itself.references + 1)
                answer = f.call(_answered, entry, call, frame)
                with f.when(itself.references == 1):
                    f.call(python.release, itself, gives="void")
                    f.give(answer)
                itself.set(references=itself.references - 1)
                f.give(answer)
            chain.set(call.next)
    f.give(f.call(python.vectorcall, entry.general, args, nargs, keywords))
