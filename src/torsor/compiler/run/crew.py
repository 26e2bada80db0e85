"""Machine code by which threads share the states of one call: helpers that wait in machine code, and need no Python.

A *crew* is one block of words. Whoever wants help (`shared`, the caller) writes down the job, opens it, and takes slices of
states itself until there are none left; a helper (`helped`, each in a thread of its own, for ever) enters an open job, takes
slices, and leaves. The caller closes the job when nothing is left to take, waits until nobody is inside, and goes on: its arrays
are in use no longer, and whether it holds Python's lock makes no difference.

A helper that has nothing to do looks for work for some ten microseconds, since calls often follow each other, and then sleeps
on a lock of its own, which the next caller releases. It counts itself in before it looks whether the job is open, and the caller
closes the job before it counts: one of the two sees the other. There is one job at a time; a second caller does its work alone.
"""

from __future__ import annotations

from torsor.compiler.print.words import Fields, Function, Word, module

MOST_HELPERS = 255
MOST_PORTS = 120  # inputs and outputs of a kernel that is shared
LANES = 16  # slices are cut at multiples of the widest vector
_SLICES = 4  # for each thread: one that starts late takes fewer
_LOOKS = 2_000  # for work, before a helper sleeps
_PATIENCE = 500  # looks of the caller whether all have left, before it gives the processor away each time
_LINE = 64


class Crew(Fields):
    """Addresses of functions of C (locks as Python has them on every system, memory, giving the processor away), and how far
    the crew and its job are. The words of all helpers come behind.
    """

    names = (
        "shared", "acquire", "release", "allocate", "free", "give_way",
        "wanted", "helpers", "busy", "open", "number", "inside", "next", "job",
    )  # fmt: skip


class Job(Fields):
    """A kernel over all states, in memory of the caller's.

    ``operands`` are those of the kernel, the caller's own scratch and the address of ``kernel_one`` behind its ``ports``;
    ``scratch``: its bytes; ``length``: the states of a slice.
    """

    names = ("kernel", "states", "operands", "steps", "ports", "scratch", "first_extra", "second_extra", "length")


class Helper(Fields):
    """A thread: the lock on which it sleeps, whether it does, and memory of its own."""

    names = ("lock", "asleep", "area", "size")


def _helper_at(crew: Crew, k: Word) -> Helper:
    return Helper.at(crew + 8 * len(Crew.names), k)


def _slices(f: Function, crew: Crew, scratch: Word) -> None:
    """Take slices of the open job until there are no more, with a scratch area of one's own."""
    job = Job.at(crew.job)
    ports, states, length = job.ports, job.states, job.length
    moved = f.block(MOST_PORTS + 2)
    f.store(moved, scratch, ports)
    f.store(moved, f.load(job.operands, ports + 1), ports + 1)
    more = f.variable(1)
    with f.while_(more):
        start = f.atomic_add(crew.where("next"), length)
        f.refuse_if(start >= states)
        with f.loop(ports) as k:
            f.store(moved, f.load(job.operands, k) + start * f.load(job.steps, k), k)
        left = states - start
        count = f.choose(left < length, left, length)
        f.call(job.kernel, count, moved, job.steps, job.first_extra, job.second_extra, gives="void")
    f.give(0)


def shared(f: Function, crew: Crew, job: Job) -> None:
    """A job, done by whoever has time; 0 if somebody else is being helped, or nobody can help."""
    present, wanted, states, ports = crew.helpers, crew.wanted, job.states, job.ports
    helpers = f.choose(present < wanted, present, wanted)
    each = (helpers + 1) * _SLICES
    length = ((states + each - 1) // each + (LANES - 1)) & -LANES
    f.refuse_if((helpers == 0) | (length >= states) | (ports > MOST_PORTS))
    f.refuse_if(f.exchanged(crew.where("busy"), 0, 1) == 0)
    job.set(length=length)
    crew.set(job=job)
    f.store_atom(crew.where("next"), 0)
    f.store_atom(crew.where("open"), 1)
    f.atomic_add(crew.where("number"), 1)
    with f.loop(helpers) as k:
        helper = _helper_at(crew, k)
        with f.when(f.exchanged(helper.where("asleep"), 1, 0) != 0):
            f.call(crew.release, helper.lock, gives="void")
    f.call(_slices, crew, f.load(job.operands, ports))
    f.store_atom(crew.where("open"), 0)
    looks, inside = f.variable(0), f.variable(f.load_atom(crew.where("inside")))
    with f.while_(inside):
        looks.set(looks.get() + 1)
        f.pause()
        with f.when((looks.get() > _PATIENCE) & (crew.give_way != 0)):
            f.call(crew.give_way, gives="i32")
        inside.set(f.load_atom(crew.where("inside")))
    f.store_atom(crew.where("busy"), 0)
    f.give(1)


def _waited(f: Function, crew: Crew, helper: Helper, seen: Word) -> None:
    """The number of a job that is another than was seen before, when there is one."""
    asleep, looks = helper.where("asleep"), f.variable(0)
    with f.while_(looks, _LOOKS):
        number = f.load_atom(crew.where("number"))
        with f.when(number != seen):
            f.give(number)
        f.pause()
        looks.set(looks.get() + 1)
    f.store_atom(asleep, 1)
    # A caller that came just before this has seen nobody asleep; one that comes now releases the lock
    number = f.load_atom(crew.where("number"))
    with f.when(number != seen), f.when(f.exchanged(asleep, 1, 0) != 0):
        f.give(number)
    f.call(crew.acquire, helper.lock, ("i32", 1), gives="i32")
    f.give(f.load_atom(crew.where("number")))


def _scratch_of(f: Function, crew: Crew, helper: Helper, size: Word) -> None:
    """An area of so many bytes that is the helper's own; 0 where there is no memory."""
    with f.when(size > helper.size):
        f.call(crew.free, helper.area, gives="void")
        helper.set(size=0, area=f.call(crew.allocate, size + _LINE))
        f.refuse_if(helper.area == 0)
        helper.set(size=size)
    f.give((helper.area + (_LINE - 1)) & -_LINE)


def helped(f: Function, crew: Crew, k: Word) -> None:
    """What the thread of helper k does, for ever."""
    helper, seen, always = _helper_at(crew, k), f.variable(0), f.variable(1)
    with f.while_(always):
        seen.set(f.call(_waited, crew, helper, seen.get()))
        f.atomic_add(crew.where("inside"), 1)
        with f.when((f.load_atom(crew.where("open")) != 0) & (k < crew.wanted)):
            scratch = Job.at(crew.job).scratch
            area = f.call(_scratch_of, crew, helper, scratch)
            with f.when((area != 0) | (scratch == 0)):
                f.call(_slices, crew, area)
        f.atomic_add(crew.where("inside"), -1)
    f.give(0)


_X86, _ARM = ("llvm.x86.sse2.pause", ""), ("llvm.aarch64.hint", "i32 1")
# How a processor is told that a thread is looking for something: a function of LLVM's, and its argument
_PAUSES = {"x86_64": _X86, "AMD64": _X86, "aarch64": _ARM, "arm64": _ARM}


def text(processor: str) -> str:
    """The module, for a kind of processor as `platform.machine` calls it."""
    declared, done = [], ""
    if processor in _PAUSES:
        name, argument = _PAUSES[processor]
        declared, done = [f"declare void @{name}({argument[:3]})"], f"  call void @{name}({argument})\n"
    return module((shared, helped), *declared, f"define internal void @pause() alwaysinline {{\n{done}  ret void\n}}")
