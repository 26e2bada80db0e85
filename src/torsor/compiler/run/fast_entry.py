"""A fast entry from Python to machine code for one state, without a compiled extension.

The public object is a builtin function. Until something is compiled, its C function *is* ``PyObject_Vectorcall``, which has
the same signature, so that a call goes to ``self``: a `FastEntry`, whose ``__call__`` is the general path. When the general
path has a kernel for a robot, the call is remembered (`RememberedCall`), and the C function becomes generated code: if the
first argument is that very robot and the others are plain contiguous float64 arrays of the right shape (or of one more axis, a
batch too small for threads; or floats and ints for single numbers), it makes the result array and calls the kernel. The
latest of these calls are tried in turn, so that two robots or frames may alternate; what fits none is forwarded as before.

The generated code reads the layout of NumPy's array object and of CPython's object header. Both are checked by a self-test
when the entry is first used; where it fails, on free-threaded builds of Python, and on versions of Python that it has not been
run on, every call takes the general path.
"""

from __future__ import annotations

import ctypes
import inspect
import math
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from torsor.compiler.print.llvm import Module
from torsor.compiler.run.apart import new_lock
from torsor.compiler.run.cache import Source, machine_code
from torsor.compiler.run.fast_entry_ir import CALL, CONTIGUOUS, ENTRY, HEADER, IR, MOST

_METH_FASTCALL_KEYWORDS = 0x80 | 0x02
_NEWEST_PYTHON = (3, 13)  # run and seen; 3.14 has other reference counts, and a tuple's hash after its length
_NUMPY_C_INTERFACE = 2  # major version
_REMEMBERED = 8  # calls, the latest first: more would make every other call wait
_ALIGNMENT = 64  # bytes, of scratch


class Many(NamedTuple):
    """Code for a batch, the scratch it needs, and up to how many states it is to be called without asking for threads."""

    address: int
    scratch: int
    most: int


class Numbers(NamedTuple):
    """An argument that is an array of this shape, or of one more axis before it."""

    shape: tuple[int, ...]


class RememberedCall(ctypes.Structure):
    """One kind of call and the kernel for it, as machine words; never changed but for the link to the next one."""

    _fields_ = [(name, ctypes.c_void_p) for name in CALL]

    def __init__(
        self,
        arguments: Sequence[object | Numbers],
        shapes: Sequence[tuple[int, ...]],
        kernel: int,
        scratch: int,
        keep: object,
        kind: type | None = None,
        many: Many | None = None,
    ) -> None:
        """For these positional arguments, each `Numbers`, or the very object (robot, frame name) that must be passed.

        ``shapes`` are those of the results (several are returned as a tuple, or as a named tuple of class ``kind``);
        ``kernel`` is an address, ``scratch`` the bytes it needs; ``keep`` lives as long as this. With ``many``, also
        for batches: arrays with one axis more, of the same number of states, or of one state for all.
        """
        super().__init__()
        self.asked, self.runs = tuple(map(_held, arguments)), (kernel, many)
        numbers = [_words(x.shape, 8 * math.prod(x.shape)) if isinstance(x, Numbers) else None for x in arguments]
        fixed = _pointers([None if isinstance(x, Numbers) else id(x) for x in arguments])
        inputs = _pointers([None if x is None else ctypes.addressof(x) for x in numbers])
        cells = [ctypes.addressof(fixed) + 8 * k for k in range(len(arguments))]
        alive = _pointers([id(x) + HEADER if type(x) is ref else at for x, at in zip(self.asked, cells, strict=True)])
        # One of each is enough, also of the scratch area: the interpreter lock is held throughout.
        dims = [(ctypes.c_int64 * (1 + len(shape)))(0, *shape) for shape in shapes]  # the first is a batch's
        batched = _pointers([ctypes.addressof(part) for part in dims])
        table = _pointers([ctypes.addressof(part) + 8 for part in dims])
        ranks = (ctypes.c_int64 * len(shapes))(*[len(shape) for shape in shapes])
        strides = (ctypes.c_int64 * len(shapes))(*[8 * math.prod(shape) for shape in shapes])
        area = ctypes.create_string_buffer(max(scratch, 0 if many is None else many.scratch) + _ALIGNMENT)
        self.kept = (keep, kind, numbers, fixed, alive, inputs, dims, batched, table, ranks, strides, area)
        self.arguments, self.outputs, self.kernel = len(arguments), len(shapes), kernel
        self.fixed, self.inputs = ctypes.addressof(fixed), ctypes.addressof(inputs)
        self.alive = ctypes.addressof(alive)
        self.ranks, self.strides = ctypes.addressof(ranks), ctypes.addressof(strides)
        self.shapes, self.shapes_many = ctypes.addressof(table), ctypes.addressof(batched)
        self.many = None if many is None else many.address
        self.most = 0 if many is None else many.most
        self.kind = None if kind is None else id(kind)
        self.scratch = -(-ctypes.addressof(area) // _ALIGNMENT) * _ALIGNMENT

    def is_for(self, arguments: Sequence[object | Numbers], equal_names: bool = False) -> bool:
        """Whether it is for these arguments; with ``equal_names``, also if names in them are equal, but other objects."""
        kinds = (Numbers, str) if equal_names else Numbers
        return len(self.asked) == len(arguments) and all(
            (x() if type(x) is ref else x) is y or (isinstance(x, kinds) and type(x) is type(y) and x == y)
            for x, y in zip(self.asked, arguments, strict=True)
        )

    @property
    def is_alive(self) -> bool:
        """Whether it can still be called: nobody has an object that is gone."""
        return all(x() is not None for x in self.asked if type(x) is ref)


def _held(argument: object | Numbers) -> object:
    """An argument as a remembered call holds it: robots and tasks weakly, so that they go with their last reference elsewhere."""
    return argument if isinstance(argument, Numbers) or type(argument).__weakrefoffset__ == 0 else ref(argument)


class FastEntry(ctypes.Structure):
    """What the generated code reads (as machine words), and the general path it forwards to."""

    _fields_ = [(name, ctypes.c_void_p) for name in ENTRY]

    def __init__(
        self,
        general: Callable[..., Any],
        name: str,
        module: str,
        signature: str,
        doc: str,
        about: object = None,
    ) -> None:
        """With ``function``, a builtin that is found as ``module.name`` and calls ``general``; ``about``: what is known of it."""
        super().__init__()
        self.general, self.name, self.module, self.about = general, name, module, about
        self.first: int | None
        self.remembered: list[RememberedCall] = []
        self.lock = new_lock()
        text = f"{name}{signature}\n--\n\n{doc}".encode()
        vectorcall = _address(ctypes.pythonapi.PyObject_Vectorcall)
        self.method = _Method(name.encode(), vectorcall, _METH_FASTCALL_KEYWORDS, text)
        # CPython reads the definition even while it takes the function apart, when the process ends after this module's own
        # end: it is never freed.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.method))
        new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)(
            ("PyCFunction_NewEx", ctypes.pythonapi)
        )
        self.function = new(ctypes.addressof(self.method), self, module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The general path."""
        return self.general(*args, **kwargs)

    def remember(
        self,
        arguments: Sequence[object | Numbers],
        shapes: Sequence[tuple[int, ...]],
        kernel: int,
        scratch: int,
        keep: object,
        kind: type | None = None,
        many: Many | None = None,
    ) -> None:
        """Let calls with these positional arguments go straight to a kernel's address: see `RememberedCall`."""
        code = _generated()
        if code is None or len(arguments) > MOST or len(shapes) > MOST:
            return
        if any(old.runs == (kernel, many) and old.is_for(arguments) for old in self.remembered):
            return
        new = RememberedCall(arguments, shapes, kernel, scratch, keep, kind, many)
        for name, address in _python_addresses().items():
            setattr(self, name, address)
        with self.lock:
            others = [old for old in self.remembered if old.is_alive and not old.is_for(arguments, equal_names=True)]
            calls = [new, *others][:_REMEMBERED]
            # Another thread may call between any two of these steps: there is a whole chain at each, of calls that live.
            for call, following in zip(calls, [*calls[1:], None], strict=True):
                call.next = None if following is None else ctypes.addressof(following)
            self.first = ctypes.addressof(new)
            self.remembered = calls
        self.method.function = code

    def __getattr__(self, name: str) -> Any:
        """The public function by its name: what unpickling a builtin function asks of its ``__self__``."""
        if name == self.__dict__.get("name"):
            return self.__dict__["function"]
        raise AttributeError(name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _entry_of, (self.module, self.name)


def _words(shape: tuple[int, ...], size: int) -> ctypes.Array[ctypes.c_int64]:
    """What the generated code compares an array with: rank, bytes of one state, lengths of its axes."""
    return (ctypes.c_int64 * (2 + len(shape)))(len(shape), size, *shape)


def _pointers(addresses: Sequence[int | None]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(addresses))(*addresses)


def _entry_of(module: str, name: str) -> FastEntry:
    import importlib

    return getattr(importlib.import_module(module), name).__self__  # type: ignore[no-any-return]


class _Method(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


_FOREVER: list[object] = []  # generated code lives as long as the process
_SUSPENDED, _SUSPENDED_LOCK = ctypes.c_int64(0), new_lock()


def suspend(times: int) -> None:
    """Send every call of every fast entry to the general path, until as many times are taken back."""
    with _SUSPENDED_LOCK:
        _SUSPENDED.value += times


def text_with_out(signature: inspect.Signature) -> str:
    """A signature with ``out=None`` behind, without annotations, which the text form of a builtin cannot carry."""
    empty = inspect.Parameter.empty
    out = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None)
    plain = [p.replace(annotation=empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=[*plain, out], return_annotation=inspect.Signature.empty))


def entry_of(function: object) -> FastEntry | None:
    """The fast entry of a builtin function that has one; None of anything else."""
    entry = getattr(function, "__self__", None)
    return entry if isinstance(entry, FastEntry) and entry.function is function else None


def _address(function: Any) -> int:
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)


@cache
def _python_addresses() -> dict[str, int]:
    """Where CPython and NumPy keep what the generated code calls and compares with."""
    api, table = ctypes.pythonapi, _numpy_functions()
    return {
        "suspended": ctypes.addressof(_SUSPENDED),
        "array_type": id(np.ndarray),
        "descr": id(np.dtype(np.float64)),
        "float_type": id(float),
        "double_type": id(np.float64),
        "int_type": id(int),
        "array_new": int(table[93] or 0),  # PyArray_New
        "vectorcall": _address(api.PyObject_Vectorcall),
        "tuple_new": _address(api.PyTuple_New),
        "alloc": _address(api.PyType_GenericAlloc),
        "tuple_set": _address(api.PyTuple_SetItem),
        "release": _address(api.Py_DecRef),
        "to_integer": _address(api.PyLong_AsLongLongAndOverflow),
    }


def _numpy_functions() -> Any:
    """The table of functions that NumPy offers to C."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    return ctypes.cast(pointer(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))


@cache
def _generated() -> int | None:
    """Address of the generated entry, or None where it cannot be trusted."""
    if why_unused() is not None:
        return None
    native = machine_code(f"fast entry|{IR}", ["fast_entry"], lambda: Source(Module((IR,), 0), {})).native
    _FOREVER.append(native)
    return native.address("fast_entry")


@cache
def why_unused() -> str | None:
    """Why the fast entry is not used on this Python, or None if it is."""
    if sys.implementation.name != "cpython":
        return f"needs CPython, this is {sys.implementation.name}"
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return "free-threaded Python has another object header"
    if HEADER != 16 or ctypes.sizeof(ctypes.c_void_p) != 8:
        return f"unknown object header of {HEADER} bytes"
    if sys.version_info[:2] > _NEWEST_PYTHON:
        newest = ".".join(str(part) for part in _NEWEST_PYTHON)
        return f"not tried on Python {sys.version_info[0]}.{sys.version_info[1]} yet, {newest} is the newest"
    try:
        return _self_test()
    except Exception as error:  # whatever another version of NumPy or Python answers
        return f"the self-test failed: {type(error).__name__}: {error}"


def _self_test() -> str | None:
    """Read arrays as the generated code does, and compare with what NumPy says of them."""
    version = ctypes.PYFUNCTYPE(ctypes.c_uint)(_numpy_functions()[0] or 0)() >> 24  # PyArray_GetNDArrayCVersion
    if version != _NUMPY_C_INTERFACE:
        return f"NumPy's C interface has version {version}, not {_NUMPY_C_INTERFACE}"
    if not all(_python_addresses().values()):
        return "a function of Python or NumPy is missing"
    block = np.zeros((2, 3, 4))
    for array in (np.arange(5.0), block[1, 0], np.ones(7)[2:5], block, block[:, 1:], block.T, np.array(1.5)):
        start = id(array) + HEADER
        words = (ctypes.c_void_p * 6).from_address(start)
        rank = ctypes.c_int.from_address(start + 8).value
        if (words[0] or 0) != array.ctypes.data or rank != array.ndim:
            return "NumPy's array object is not laid out as expected"
        if rank and tuple((ctypes.c_int64 * rank).from_address(words[2] or 0)) != array.shape:
            return "NumPy's array object keeps its shape elsewhere"
        contiguous = ctypes.c_int.from_address(start + 48).value & CONTIGUOUS == CONTIGUOUS
        if words[5] != id(array.dtype) or contiguous != array.flags.c_contiguous:
            return "NumPy's array object keeps its type elsewhere"
    for number in (1.5, np.float64(2.5)):
        if ctypes.c_double.from_address(id(number) + HEADER).value != number:
            return f"{type(number).__name__} keeps its number elsewhere"
    if tuple.__basicsize__ != HEADER + 8:
        return "Python's tuple is not laid out as expected"
    some = RememberedCall([], [], 0, 0, None)
    if ctypes.c_void_p.from_address(id(some) + HEADER).value != ctypes.addressof(some):
        return "ctypes keeps its buffers elsewhere"
    return _self_test_of_weak_references()


def _self_test_of_weak_references() -> str | None:
    kept = RememberedCall([], [], 0, 0, None)
    weak, place = ref(kept), id(kept)
    before = ctypes.c_void_p.from_address(id(weak) + HEADER).value
    del kept
    after = ctypes.c_void_p.from_address(id(weak) + HEADER).value
    return None if (before, after) == (place, id(None)) else "weak references are not laid out as expected"
