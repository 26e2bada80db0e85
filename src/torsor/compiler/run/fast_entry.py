"""A fast entry from Python to machine code, without a compiled extension: one way in for every way of calling.

A public function is a `FastEntry`. CPython calls an object whose class has the flag HAVE_VECTORCALL through a function pointer in
the object. It is null until something is compiled, and then ``__call__`` is called: the general path. When the general path has a
kernel, the call is remembered (`RememberedCall`), and the pointer becomes that of generated code (`fast_entry_answer`): it finds
the call by its robot in one table, compares the arguments, makes the result arrays and calls the kernel. Arguments may come by
position or by name, as arrays of the call's precision, one state or a batch, also in strides, as lists or tuples of numbers, in a
dict or a pair, with ``out=`` or without. What fits no remembered call is forwarded to the general path.

The generated code reads the layout of NumPy's array object and of CPython's objects. They are checked by a self-test
(`python_layout`) when the entry is first used; where it fails, on free-threaded builds of Python, and on versions of Python that
it has not been run on, every call takes the general path.
"""

from __future__ import annotations

import ctypes
import inspect
import math
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from torsor.compiler.print.words import module
from torsor.compiler.run import fast_entry_arguments as layout, result_memory
from torsor.compiler.run.apart import new_lock
from torsor.compiler.run.cache import code_of_words
from torsor.compiler.run.engine import Native
from torsor.compiler.run.fast_entry_answer import fast_entry
from torsor.compiler.run.fast_entry_arguments import HEADER, Call, Entry, Frame, Python
from torsor.compiler.run.python_layout import addresses, call_by_pointer, why_unknown
from torsor.compiler.run.threads import crew_address
from torsor.errors import MissingDependency, TorsorError

_REMEMBERED = 512  # calls of one function
_ALIGNMENT = 64  # bytes, of scratch
_SPARE_BYTES = 16 * 1024  # of a result: what is larger takes longer to compute than to make room for
_MIXING = 0x9E3779B97F4A7C15  # 2⁶⁴ over the golden ratio: neighbouring addresses go to buckets far apart
_TYPE_NUMBERS = {np.dtype(np.float32): 11, np.dtype(np.float64): 12}  # NumPy's, in C


class Numbers(NamedTuple):
    """An argument that is an array of this shape, or of more axes before it; or numbers in a list, or one number."""

    shape: tuple[int, ...]


class Absent:
    """An argument that is not given."""


class Target(NamedTuple):
    """What answers a remembered call: machine code and what it needs.

    ``one`` and ``many`` are the addresses of ``kernel_one`` and ``kernel_many``, 0 if there is none; of a batch of more than
    ``most`` states ``threaded`` takes care, which is called with the address of the frame. Results of these ``shapes`` are
    returned as a tuple if there are several, as a named tuple of class ``kind``, or (``kind`` is dict) by these ``keys``.
    ``constants`` are inputs after those of the call, the same for all states. ``code`` has the machine code: when it is gone,
    so is the call. ``extra`` is passed to ``many`` behind everything else.
    From ``sharing`` states on, other threads help.
    """

    shapes: Sequence[tuple[int, ...]]
    dtype: np.dtype[Any]
    one: int
    many: int
    most: int
    scratch: int
    code: ref[Any]
    kind: type | None = None
    keys: Sequence[str] = ()
    constants: Sequence[np.ndarray] = ()
    threaded: Callable[[int], None] | None = None
    extra: tuple[int, int] = (0, 0)
    sharing: int = 0


# For each parameter `Numbers`, a dict or tuple of these, `Absent`, or the very object (robot, name)
Pattern = Sequence[Any]


class RememberedCall(ctypes.Structure):
    """One kind of call and the kernel for it, as machine words; never changed but for the link to the next one."""

    _fields_ = Call.structure()._fields_

    def __init__(self, pattern: Pattern, target: Target, bucket: int) -> None:
        super().__init__()
        self.target, self.bucket, self.is_linked = target, bucket, False
        self.kept: list[Any] = [target]  # what the words point to; the interpreter lock is held while it is used
        self.weak: list[ref[Any]] = [target.code]
        self.code, self.code_alive = id(target.code()), id(target.code) + HEADER
        self.object, self.slots = id(self), self._words([word for x in pattern for word in self._slot(x)])
        item = target.dtype.itemsize
        self.descr, self.number, self.item = id(target.dtype), _TYPE_NUMBERS[target.dtype], item
        self.outputs = len(target.shapes)
        results = [self._result(shape) for shape in target.shapes]
        self.results = self._words([word for result in results for word in result])
        self.constants = len(target.constants)
        self.constant = self._words([array.ctypes.data for array in target.constants])
        self.kernel, self.many, self.most = target.one, target.many, target.most
        self.scratch = -(-self._area(target.scratch + _ALIGNMENT) // _ALIGNMENT) * _ALIGNMENT
        self.threaded = 0 if target.threaded is None else id(target.threaded)
        self.first_extra, self.second_extra = target.extra
        self.sharing, self.scratch_bytes = target.sharing, target.scratch
        self.container = 0 if target.kind is None else id(target.kind)
        self.keys = self._references(target.keys)

    @property
    def is_alive(self) -> bool:
        """Whether it can still be called: nobody has an object that is gone."""
        return all(x() is not None for x in self.weak)

    def _slot(self, x: Any) -> tuple[int, int, int, int]:
        if x is Absent:
            return layout.ABSENT, 0, 0, 0
        if isinstance(x, dict):
            return layout.BY_KEY, len(x), self._leaves(x.values()), self._references(list(x))
        if isinstance(x, tuple) and not isinstance(x, Numbers):
            return layout.IN_ORDER, len(x), self._leaves(x), 0
        return layout.ONE, 1, self._leaves([x]), 0

    def _result(self, shape: tuple[int, ...]) -> tuple[int, int, int, int]:
        size = self.target.dtype.itemsize * math.prod(shape)
        return len(shape), size, self._words([0] * layout.LEADS + [*shape]), self._spares(shape, size)

    def _leaves(self, leaves: Any) -> int:
        return self._words([word for leaf in leaves for word in self._leaf(leaf)])

    def _leaf(self, x: Any) -> tuple[int, ...]:
        if isinstance(x, Numbers):
            size = self.target.dtype.itemsize * math.prod(x.shape)
            return 0, 0, 0, len(x.shape), size, self._area(max(size, 8)), self._words(x.shape)
        kinds = {str: layout.AS_TEXT, int: layout.AS_NUMBER}
        compared = kinds.get(type(x), layout.ITSELF)
        if type(x).__weakrefoffset__ == 0:
            self.kept.append(x)
            return id(x), self._words([id(x)]), compared, 0, 0, 0, 0
        weak = ref(x)  # robots and tasks go with their last reference elsewhere
        self.weak.append(weak)
        return id(x), id(weak) + HEADER, compared, 0, 0, 0, 0

    def _spares(self, shape: tuple[int, ...], size: int) -> int:
        """Arrays for a result of one state, which nobody else has yet, after their flags; none for large ones."""
        if size > _SPARE_BYTES:
            return 0
        self.kept.append(spares := [np.empty(shape, self.target.dtype) for _ in range(layout.SPARES)])
        return self._words([spares[0].flags.num, *map(id, spares)])

    def _words(self, words: Sequence[int]) -> int:
        block = (ctypes.c_uint64 * len(words))(*words)
        self.kept.append(block)
        return ctypes.addressof(block)

    def _references(self, things: Sequence[object]) -> int:
        self.kept.append(list(things))
        return self._words([id(thing) for thing in things])

    def _area(self, size: int) -> int:
        block = ctypes.create_string_buffer(size)
        self.kept.append(block)
        return ctypes.addressof(block)


def _identity(x: Any) -> Any:
    """What tells a pattern's argument from others."""
    if isinstance(x, Numbers) or x is Absent or type(x) in (str, int):
        return x
    if isinstance(x, dict):
        return frozenset((key, _identity(part)) for key, part in x.items())
    return tuple(map(_identity, x)) if isinstance(x, tuple) else (id(x),)


class FastEntry(ctypes.Structure):
    """A function that goes straight to machine code where it can; to Python it is a routine with source, hints and signature."""

    _fields_ = [("vectorcall", ctypes.c_void_p), ("words", ctypes.c_void_p)]

    def __init__(
        self, general: Callable[..., Any], name: str, names: Sequence[str], positional: int, about: object = None
    ) -> None:
        """What answers as ``general`` does, which takes ``names``, the first ``positional`` also by position, and ``out``.

        ``about`` is the record of a function of robots: its calls are found by the first argument.
        """
        super().__init__()
        self.general, self.about = general, about
        self.__name__ = self.__qualname__ = name
        self.remembered: OrderedDict[Any, RememberedCall] = OrderedDict()
        self.lock = new_lock()
        self._names = [sys.intern(x) for x in [*names, "out"]]
        self._keywords = (ctypes.c_uint64 * len(self._names))(*map(id, self._names))
        self._table = (ctypes.c_uint64 * layout.BUCKETS)()
        self._mixing, self._forwarded = _MIXING * (about is not None), self.__call__
        table, keywords = ctypes.addressof(self._table), ctypes.addressof(self._keywords)
        found = {"table": table, "multiplier": self._mixing, "keywords": keywords, "general": id(self._forwarded)}
        self._entry = Entry.structure()(parameters=len(names), positional=positional, **found)
        self.words = ctypes.addressof(self._entry)

    def describe(self, algorithm: Callable[..., Any], module: str, doc: str) -> None:
        """Let Python's tools see an algorithm where they look at this: its source, hints, signature with ``out``, and text."""
        array = inspect.signature(algorithm).return_annotation
        out = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=f"{array} | None")
        signature = inspect.signature(algorithm)
        self.__signature__ = signature.replace(parameters=[*signature.parameters.values(), out])
        self.__annotations__ = {**algorithm.__annotations__, "out": out.annotation}
        self.__wrapped__, self.__module__, self.__doc__ = algorithm, module, doc

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Answer by the general path, until something is compiled, and whatever fits no remembered call."""
        try:
            return self.general(*args, **kwargs)
        except Exception as error:
            if isinstance(error, TorsorError) or not sys.is_finalizing():
                raise
            raise MissingDependency(
                f"{self.__name__}: Python is ending, and nothing can be imported or compiled any more, as a first call "
                "in a finaliser needs. Make one such call before, or call it from atexit.register, which comes sooner."
            ) from error

    def __get__(self, instance: object, owner: type | None = None) -> FastEntry:
        """As a builtin function, it does not become a method; and so it is a routine to `help`."""
        return self

    def __repr__(self) -> str:
        return f"<function {self.__module__}.{self.__name__}>"

    __hash__ = object.__hash__  # as functions have it; structures of ctypes have none

    def __reduce__(self) -> str:
        return self.__name__  # found in its module

    def remember(self, given: Mapping[str, Any], target: Target) -> None:
        """Let calls with these arguments, by the names of parameters, go straight to machine code."""
        code, pattern = _generated(), [given.get(name, Absent) for name in self._names[:-1]]
        inputs = sum(len(x) if isinstance(x, (dict, tuple)) and not isinstance(x, Numbers) else 1 for x in pattern)
        if code is None or max(inputs, len(pattern)) + len(target.shapes) + len(target.constants) > layout.MOST:
            return
        key = (target.dtype, *map(_identity, pattern))
        with self.lock:
            old = self.remembered.get(key)
            if old is not None and old.is_linked and old.is_alive and old.target[1:5] == target[1:5]:
                return
            self._entry.known = _python_words()
            if old is not None:
                self._forget(key)
            if len(self.remembered) >= _REMEMBERED:
                self._make_room()
            call = RememberedCall(pattern, target, self._bucket(pattern))
            call.next = self._table[call.bucket]
            self.remembered[key] = call  # held before it is in the chain, whenever Ctrl-C comes
            self._table[call.bucket] = ctypes.addressof(call)
            call.is_linked = True
        self.vectorcall = code

    def _bucket(self, pattern: Pattern) -> int:
        first = id(pattern[0]) if self._mixing and pattern[0] is not Absent else 0
        return (first * self._mixing & (2**64 - 1)) >> 56

    def _make_room(self) -> None:
        """Forget the calls that nobody can make any more, or the oldest ones."""
        gone = [key for key, call in self.remembered.items() if not call.is_alive]
        for key in gone or list(self.remembered)[: _REMEMBERED // 4]:
            self._forget(key)

    def _forget(self, key: Any) -> None:
        """Take a call out of its chain. At each step there is a whole chain of calls that live: another thread may be walking."""
        gone = self.remembered[key]
        gone.is_linked, here = False, ctypes.addressof(gone)
        if self._table[gone.bucket] == here:
            self._table[gone.bucket] = gone.next
        for call in self.remembered.values():
            if call.next == here:
                call.next = gone.next
        del self.remembered[key]


_FOREVER: list[object] = []  # generated code, and what all entries read, live as long as the process
_SUSPENDED, _SUSPENDED_LOCK = ctypes.c_int64(0), new_lock()


def operands_of_frame(frame: int, count: int) -> tuple[int, list[int], list[int]]:
    """How many states a call has, and the addresses and strides of the kernel's operands: what `Target.threaded` is given."""
    words, first = (ctypes.c_int64 * layout.FRAME_WORDS).from_address(frame), layout.TABLES
    operands, steps = (words[first[name] : first[name] + count] for name in ("operands", "steps"))
    return words[Frame.names.index("states")], operands, steps


def suspend(times: int) -> None:
    """Send every call of every fast entry to the general path, until as many times are taken back."""
    with _SUSPENDED_LOCK:
        _SUSPENDED.value += times


def new_arrays(shapes: Sequence[tuple[int, ...]], dtype: np.dtype[Any]) -> list[np.ndarray]:
    """Arrays for results, whose numbers are whatever was there; large ones in `result_memory`."""
    sizes = [dtype.itemsize * math.prod(shape) for shape in shapes]
    if max(sizes, default=0) < result_memory.LEAST or _generated() is None:
        return [np.empty(shape, dtype) for shape in shapes]
    (make, words), number = _maker(), _TYPE_NUMBERS[dtype]
    return [make(words, len(x), _row(len(x))(*x), number, n) for x, n in zip(shapes, sizes, strict=True)]


@cache
def _row(length: int) -> Any:
    """So many integers in a row; ctypes makes a class for each length anew, and what is in a cycle waits for the collector."""
    return ctypes.c_int64 * length


@cache
def _maker() -> tuple[Any, int]:
    kinds = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, *kinds)(_generated_code().address("new_array"))
    return make, _python_words()


@cache
def _python_words() -> int:
    """Address of what all entries know of CPython and NumPy."""
    native = _generated_code()
    handler = result_memory.begin([native.address(function.__name__) for function in result_memory.HANDLER])
    known = {**addresses(), "suspended": ctypes.addressof(_SUSPENDED), "handler": handler, "crew": crew_address()}
    assert known.keys() == set(Python.names)
    words = Python.structure()(**known)
    _FOREVER.append(words)
    return ctypes.addressof(words)


@cache
def _generated() -> int | None:
    """Address of the generated entry, or None where it cannot be trusted."""
    if why_unused() is not None:
        return None
    native = _generated_code()
    some = FastEntry(len, "some", [], 0)
    call_by_pointer(FastEntry, ctypes.addressof(some) - id(some))
    return native.address("fast_entry")


@cache
def _generated_code() -> Native:
    functions = (fast_entry, result_memory.new_array, *result_memory.HANDLER)
    native = code_of_words("fast entry", module(functions), [function.__name__ for function in functions])
    _FOREVER.append(native)
    return native


@cache
def why_unused() -> str | None:
    """Why the fast entry is not used on this Python, or None if it is."""
    try:
        return why_unknown()
    except Exception as error:  # whatever another version of NumPy or Python answers
        return f"the self-test failed: {type(error).__name__}: {error}"
