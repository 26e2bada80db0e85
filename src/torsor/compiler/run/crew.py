"""Machine code by which threads share the states of one call: helpers that wait in machine code, and need no Python.

A *crew* is one block of words. Whoever wants help (`_shared`, the caller) writes down the job, opens it, and takes slices of
states itself until there are none left; a helper (`_helped`, each in a thread of its own, for ever) enters an open job, takes
slices, and leaves. The caller closes the job when nothing is left to take, waits until nobody is inside, and goes on: its arrays
are in use no longer, and whether it holds Python's lock makes no difference.

A helper that has nothing to do looks for work for some ten microseconds, since calls often follow each other, and then sleeps
on a lock of its own, which the next caller releases. It counts itself in before it looks whether the job is open, and the caller
closes the job before it counts: one of the two sees the other. There is one job at a time; a second caller does its work alone.
"""

from __future__ import annotations

from torsor.compiler.print.words import Function, Word, module
from torsor.compiler.run.fast_entry_arguments import Fields

# Addresses of functions of C: locks as Python has them on every system, memory, and giving the processor away
CREW = (
    "shared", "acquire", "release", "allocate", "free", "give_way",
    "wanted", "helpers", "busy", "open", "number", "inside", "next",
    "states", "length", "kernel", "operands", "steps", "ports", "scratch", "first_extra", "second_extra",
)  # fmt: skip
HELPER = ("lock", "asleep", "area", "size")
MOST_HELPERS = 255
MOST_PORTS = 120  # inputs and outputs of a kernel that is shared
LANES = 16  # slices are cut at multiples of the widest vector
NAMES = ("shared", "helped")
CREW_WORDS = len(CREW) + MOST_HELPERS * len(HELPER)
_SLICES = 4  # for each thread: one that starts late takes fewer
_LOOKS = 2_000  # for work, before a helper sleeps
_PATIENCE = 500  # looks of the caller whether all have left, before it gives the processor away each time
_LINE = 64


def _helper_at(f: Function, crew: Word, k: Word) -> Fields:
    return Fields(f, crew + 8 * len(CREW) + k * (8 * len(HELPER)), HELPER)


def _at(crew: Word, name: str) -> Word:
    return crew + 8 * CREW.index(name)


def _slices() -> Function:
    """(crew, scratch): take slices of the open job until there are no more, with a scratch area of one's own."""
    f = Function("slices", ["crew", "scratch"])
    crew, scratch = f.parameters
    job = Fields(f, crew, CREW)
    ports, states, length = job.ports, job.states, job.length
    moved = f.block(MOST_PORTS + 2)
    f.store(moved, scratch, ports)
    f.store(moved, f.load(job.operands, ports + 1), ports + 1)
    more = f.variable(1)
    with f.while_(more):
        start = f.atomic_add(_at(crew, "next"), length)
        with f.when((start < states) == Word(f, "false", "i1")):
            f.give(0)
        with f.loop(ports) as k:
            f.store(moved, f.load(job.operands, k) + start * f.load(job.steps, k), k)
        left = states - start
        count = f.choose(left < length, left, length)
        f.call(job.kernel, count, moved, job.steps, job.first_extra, job.second_extra, gives="void")
    f.give(0)
    return f


def _shared() -> Function:
    """(crew, kernel, states, operands, steps, ports, scratch, first, second): a kernel over all states, by whoever has time.

    ``operands`` are those of the kernel, the caller's own scratch and the address of ``kernel_one`` behind its ``ports``;
    ``scratch``: its bytes. 0 if somebody else is being helped, or nobody can help.
    """
    names = ["crew", "kernel", "states", "operands", "steps", "ports", "scratch", "first_extra", "second_extra"]
    f = Function("shared", names, internal=False)
    crew, job = f.parameters[0], Fields(f, f.parameters[0], CREW)
    states, ports = f.parameters[2], f.parameters[5]
    present, wanted = job.helpers, job.wanted
    helpers = f.choose(present < wanted, present, wanted)
    each = (helpers + 1) * _SLICES
    length = ((states + each - 1).divided(each) + (LANES - 1)) & -LANES
    with f.when((helpers == 0) | (length > states) | (length == states) | (ports > MOST_PORTS)):
        f.give(0)
    with f.when(f.exchanged(_at(crew, "busy"), 0, 1) == 0):
        f.give(0)
    for name, value in zip(names[1:], f.parameters[1:], strict=True):
        job.set(name, value)
    job.set("length", length)
    f.store_atom(_at(crew, "next"), 0)
    f.store_atom(_at(crew, "open"), 1)
    f.atomic_add(_at(crew, "number"), 1)
    with f.loop(helpers) as k:
        helper = _helper_at(f, crew, k)
        with f.when(f.exchanged(helper.address + 8 * HELPER.index("asleep"), 1, 0) != 0):
            f.call(job.release, helper.lock, gives="void")
    f.call("slices", crew, f.load(f.parameters[3], ports))
    f.store_atom(_at(crew, "open"), 0)
    looks, inside = f.variable(0), f.variable(f.load_atom(_at(crew, "inside")))
    with f.while_(inside):
        looks.set(looks.get() + 1)
        f.pause()
        with f.when((looks.get() > _PATIENCE) & (job.give_way != 0)):
            f.call(job.give_way, gives="i32")
        inside.set(f.load_atom(_at(crew, "inside")))
    f.store_atom(_at(crew, "busy"), 0)
    f.give(1)
    return f


def _waited() -> Function:
    """(crew, helper, seen): the number of a job that is another than was seen before, when there is one."""
    f = Function("waited", ["crew", "helper", "seen"])
    crew, address, seen = f.parameters
    helper, job = Fields(f, address, HELPER), Fields(f, crew, CREW)
    asleep, looks = address + 8 * HELPER.index("asleep"), f.variable(0)
    with f.while_(looks, _LOOKS):
        number = f.load_atom(_at(crew, "number"))
        with f.when(number != seen):
            f.give(number)
        f.pause()
        looks.set(looks.get() + 1)
    f.store_atom(asleep, 1)
    # A caller that came just before this has seen nobody asleep; one that comes now releases the lock
    number = f.load_atom(_at(crew, "number"))
    with f.when(number != seen), f.when(f.exchanged(asleep, 1, 0) != 0):
        f.give(number)
    f.call(job.acquire, helper.lock, ("i32", 1), gives="i32")
    f.give(f.load_atom(_at(crew, "number")))
    return f


def _scratch_of() -> Function:
    """(crew, helper, size): an area of so many bytes that is the helper's own; 0 where there is no memory."""
    f = Function("scratch_of", ["crew", "helper", "size"])
    crew, address, size = f.parameters
    helper, job = Fields(f, address, HELPER), Fields(f, crew, CREW)
    with f.when(size > helper.size):
        f.call(job.free, helper.area, gives="void")
        helper.set("size", 0)
        area = f.call(job.allocate, size + _LINE)
        helper.set("area", area)
        with f.when(area == 0):
            f.give(0)
        helper.set("size", size)
    f.give((helper.area + (_LINE - 1)) & -_LINE)
    return f


def _helped() -> Function:
    """(crew, k): what the thread of helper k does, for ever."""
    f = Function("helped", ["crew", "k"], internal=False)
    crew, k = f.parameters
    job, address = Fields(f, crew, CREW), _helper_at(f, crew, k).address
    seen, always = f.variable(0), f.variable(1)
    with f.while_(always):
        seen.set(f.call("waited", crew, address, seen.get()))
        f.atomic_add(_at(crew, "inside"), 1)
        with f.when((f.load_atom(_at(crew, "open")) != 0) & (k < job.wanted)):
            area = f.call("scratch_of", crew, address, job.scratch)
            with f.when((area != 0) | (job.scratch == 0)):
                f.call("slices", crew, area)
        f.atomic_add(_at(crew, "inside"), -1)
    f.give(0)
    return f


_PAUSES = {  # how a processor is told that a thread is looking for something: a function of LLVM's, and its argument
    "x86_64": ("llvm.x86.sse2.pause", ""),
    "AMD64": ("llvm.x86.sse2.pause", ""),
    "aarch64": ("llvm.aarch64.hint", "i32 1"),
    "arm64": ("llvm.aarch64.hint", "i32 1"),
}


def text(processor: str) -> str:
    """The module, for a kind of processor as `platform.machine` calls it."""
    functions = [part() for part in (_slices, _shared, _waited, _scratch_of, _helped)]
    declared, done = [], ""
    if processor in _PAUSES:
        name, argument = _PAUSES[processor]
        declared, done = [f"declare void @{name}({argument[:3]})"], f"  call void @{name}({argument})\n"
    return module(functions, *declared, f"define internal void @pause() alwaysinline {{\n{done}  ret void\n}}")
