"""A fast entry from Python to machine code for one state, without a compiled extension.

The public object is a builtin function. Until something is compiled, its C function *is* ``PyObject_Vectorcall``, which has
the same signature, so that a call goes to ``self``: a `FrontDoor`, whose ``__call__`` is the general path. When the general
path has a kernel for a robot, it writes it into the door, and the C function becomes generated code: if the first argument
is that very robot and the others are plain 1-d float64 arrays of the right length (or 2-d ones, a batch too small for
threads), it makes the result array and calls the kernel; anything else is forwarded as before.

The generated code reads the layout of NumPy's array object and of CPython's object header. Both are checked by a self-test
when the door is first used; where it fails, and on builds of Python with another object header, the door stays shut and
every call takes the general path.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from torsor.compiler import cache as disk, engine
from torsor.compiler.front_door_ir import FIELDS, HEADER, IR

_METH_FASTCALL_KEYWORDS = 0x80 | 0x02
_SHUT = 2**62  # a number of arguments that no call has


class Many(NamedTuple):
    """Code for a batch, the scratch it needs, and up to how many states it is to be called without asking for threads."""

    address: int
    scratch: int
    most: int


class FrontDoor(ctypes.Structure):
    """What the generated code reads (as machine words), and the general path it forwards to."""

    _fields_ = [(name, ctypes.c_void_p) for name in FIELDS]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The general path."""
        return self.general(*args, **kwargs)

    def open_for(
        self,
        arguments: Sequence[object | int],
        shapes: Sequence[tuple[int, ...]],
        kernel: int,
        scratch: int,
        keep: object,
        kind: type | None = None,
        many: Many | None = None,
    ) -> None:
        """Let calls with these positional arguments go straight to a kernel's address.

        An argument is the length of a 1-d float64 array, or the very object (robot, frame name) that must be passed.
        ``shapes`` are those of the results (several are returned as a tuple, or as a named tuple of class ``kind``);
        ``scratch`` the bytes the kernel needs; ``keep`` lives as long as the door is open. With ``many``, also calls with
        batches: C-contiguous 2-d arrays of the same number of states.
        """
        code = _generated()
        if code is None or len(arguments) > 12 or len(shapes) > 12:
            return
        self.arguments = _SHUT  # while the parts change: another thread may be calling
        fixed = (ctypes.c_void_p * len(arguments))(*(None if isinstance(x, int) else id(x) for x in arguments))
        sizes = (ctypes.c_int64 * len(arguments))(*[x if isinstance(x, int) else 0 for x in arguments])
        ranks = (ctypes.c_int64 * len(shapes))(*[len(shape) for shape in shapes])
        # One of each is enough, also of the scratch area: the interpreter lock is held throughout.
        dims = [(ctypes.c_int64 * (1 + len(shape)))(0, *shape) for shape in shapes]  # the first is a batch's
        batched = (ctypes.c_void_p * len(shapes))(*[ctypes.addressof(part) for part in dims])
        table = (ctypes.c_void_p * len(shapes))(*[ctypes.addressof(part) + 8 for part in dims])
        area = ctypes.create_string_buffer(max(scratch, 0 if many is None else many.scratch) + 64)
        widths = [x for x in arguments if isinstance(x, int)] + [math.prod(shape) for shape in shapes]
        strides = (ctypes.c_int64 * len(widths))(*[8 * width for width in widths])
        self.kept = (tuple(arguments), keep, kind, fixed, sizes, ranks, dims, table, batched, strides, area)
        self.fixed, self.sizes = ctypes.addressof(fixed), ctypes.addressof(sizes)
        self.ranks, self.shapes = ctypes.addressof(ranks), ctypes.addressof(table)
        self.kernel, self.outputs = kernel, len(shapes)
        self.many = None if many is None else many.address
        self.most = 0 if many is None else many.most
        self.strides, self.shapes_many = ctypes.addressof(strides), ctypes.addressof(batched)
        self.kind = None if kind is None else id(kind)
        self.scratch = -(-ctypes.addressof(area) // 64) * 64
        for name, address in _python_addresses().items():
            setattr(self, name, address)
        self.method.function = code
        self.arguments = len(arguments)

    def shut(self) -> None:
        """Send every call to the general path again."""
        self.arguments = _SHUT

    def __getattr__(self, name: str) -> Any:
        """The public function by its name: what unpickling a builtin function asks of its ``__self__``."""
        if name == self.__dict__.get("name"):
            return self.__dict__["public"]
        raise AttributeError(name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _door_of, (self.module, self.name)


def _door_of(module: str, name: str) -> FrontDoor:
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


DOORS: list[FrontDoor] = []  # of the public functions
_FOREVER: list[object] = []  # generated code lives as long as the process


def fast_function(
    general: Callable[..., Any], name: str, module: str, signature: str, doc: str
) -> tuple[Any, FrontDoor]:
    """A builtin function, found as ``module.name``, that calls ``general``; and the door that can make it faster."""
    door = FrontDoor()
    door.general, door.name, door.module = general, name, module
    text = f"{name}{signature}\n--\n\n{doc}".encode()
    door.method = _Method(name.encode(), _address(ctypes.pythonapi.PyObject_Vectorcall), _METH_FASTCALL_KEYWORDS, text)
    # CPython reads the definition even while it takes the function apart, when the process ends after this module's own
    # end: it is never freed.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(door.method))
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)(
        ("PyCFunction_NewEx", ctypes.pythonapi)
    )
    door.public = new(ctypes.addressof(door.method), door, module)
    return door.public, door


def _address(function: Any) -> int:
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)


@cache
def _python_addresses() -> dict[str, int]:
    """Where CPython and NumPy keep what the generated code calls and compares with."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    api = ctypes.pythonapi
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", api))
    table = ctypes.cast(pointer(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    return {
        "array_type": id(np.ndarray),
        "descr": id(np.dtype(np.float64)),
        "array_new": int(table[93] or 0),  # PyArray_New
        "vectorcall": _address(api.PyObject_Vectorcall),
        "tuple_new": _address(api.PyTuple_New),
        "alloc": _address(api.PyType_GenericAlloc),
        "tuple_set": _address(api.PyTuple_SetItem),
        "release": _address(api.Py_DecRef),
    }


@cache
def _generated() -> int | None:
    """Address of the generated entry, or None where it cannot be trusted."""
    if why_shut() is not None:
        return None
    key = "front door|" + "|".join((IR, *engine.host()))
    found = disk.load(key)
    native = engine.compile_ir(IR) if found is None else engine.load_object(found.code)
    if found is None:
        disk.store(key, disk.Entry({}, native.object_code))
    _FOREVER.append(native)
    return native.address("front_door")


@cache
def why_shut() -> str | None:
    """Why the door is not used on this Python, or None if it is."""
    if sys.implementation.name != "cpython":
        return f"needs CPython, this is {sys.implementation.name}"
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return "free-threaded Python has another object header"
    if HEADER != 16 or ctypes.sizeof(ctypes.c_void_p) != 8:
        return f"unknown object header of {HEADER} bytes"
    return _self_test()


def _self_test() -> str | None:
    """Read arrays as the generated code does, and compare with what NumPy says of them."""
    for array in (np.arange(5.0), np.zeros((2, 3))[1], np.ones(7)[2:5]):
        start = id(array) + HEADER
        words = (ctypes.c_void_p * 6).from_address(start)
        rank = ctypes.c_int.from_address(start + 8).value
        if (words[0] or 0) != array.ctypes.data or rank != array.ndim:
            return "NumPy's array object is not laid out as expected"
        if ctypes.c_int64.from_address(words[2] or 0).value != array.shape[0]:
            return "NumPy's array object keeps its shape elsewhere"
        if ctypes.c_int64.from_address(words[3] or 0).value != array.strides[0]:
            return "NumPy's array object keeps its strides elsewhere"
        if words[5] != id(array.dtype) or not ctypes.c_int.from_address(start + 48).value & 0x100:
            return "NumPy's array object keeps its type elsewhere"
    if tuple.__basicsize__ not in (HEADER + 8, HEADER + 16):
        return "Python's tuple is not laid out as expected"
    if ctypes.c_void_p.from_address(id(FrontDoor()) + HEADER).value is None:
        return "ctypes keeps its buffers elsewhere"
    return None
