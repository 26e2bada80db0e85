"""What the fast entry's generated code takes for granted about CPython and NumPy: addresses, and a test of the layout."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any
from weakref import ref

import numpy as np

from torsor.compiler.run.fast_entry_arguments import C_ORDER, HEADER, ArrayObject

_NEWEST_PYTHON = (3, 13)  # run and seen; 3.14 has other reference counts, and a tuple's hash after its length
_NUMPY_C_INTERFACE = 2  # major version
# Of a class: PyTypeObject
_BASIC_SIZE, _VECTORCALL_OFFSET, _FLAGS = 32, 56, 168
_HAVE_VECTORCALL = 1 << 11


def address_of_function(function: Any) -> int:
    """Where a function of C is."""
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)


@cache
def addresses() -> dict[str, int]:
    """Where CPython and NumPy keep what the generated code calls and compares with."""
    api, table = ctypes.pythonapi, numpy_functions()
    types = {"array": np.ndarray, "float": float, "double": np.float64, "int": int}
    types |= {"list": list, "tuple": tuple, "dict": dict, "string": str}
    functions = {"vectorcall": api.PyObject_Vectorcall, "alloc": api.PyType_GenericAlloc}
    functions |= {"compare": api.PyUnicode_Compare}
    functions |= {"tuple_new": api.PyTuple_New, "tuple_set": api.PyTuple_SetItem}
    functions |= {"dict_new": api.PyDict_New, "dict_size": api.PyDict_Size}
    functions |= {"dict_get": api.PyDict_GetItem, "dict_set": api.PyDict_SetItem}
    functions |= {"hold": api.Py_IncRef, "release": api.Py_DecRef}
    functions |= {"to_integer": api.PyLong_AsLongLongAndOverflow, "from_integer": api.PyLong_FromLongLong}
    return {
        "none": id(None),
        "array_new": int(table[93] or 0),  # PyArray_New
        "set_handler": int(table[304] or 0),  # PyDataMem_SetHandler
        **{name: id(kind) for name, kind in types.items()},
        **{name: address_of_function(function) for name, function in functions.items()},
    }


def numpy_functions() -> Any:
    """Give the table of functions that NumPy offers to C."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    return ctypes.cast(pointer_in(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))


def pointer_in(capsule: object, name: bytes | None) -> int:
    """The address that a capsule of this name holds."""
    kinds = (ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    return int(ctypes.PYFUNCTYPE(*kinds)(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, name))


def capsule_of(address: int, name: bytes | None = None) -> object:
    """A capsule that holds an address; the name is to live as long."""
    kinds = (ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return ctypes.PYFUNCTYPE(*kinds)(("PyCapsule_New", ctypes.pythonapi))(address, name, None)


def call_by_pointer(kind: type, offset: int) -> None:
    """Let CPython call instances of a class through the pointer at this offset, where it is not null."""
    ctypes.c_int64.from_address(id(kind) + _VECTORCALL_OFFSET).value = offset
    ctypes.c_ulong.from_address(id(kind) + _FLAGS).value |= _HAVE_VECTORCALL
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def why_unknown() -> str | None:
    """What is not as expected in this Python or NumPy, or None if all is."""
    if sys.implementation.name != "cpython":
        return f"needs CPython, this is {sys.implementation.name}"
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return "free-threaded Python has another object header"
    if HEADER != 16 or ctypes.sizeof(ctypes.c_void_p) != 8:
        return f"unknown object header of {HEADER} bytes"
    if sys.version_info[:2] > _NEWEST_PYTHON:
        newest = ".".join(str(part) for part in _NEWEST_PYTHON)
        return f"not tried on Python {sys.version_info[0]}.{sys.version_info[1]} yet, {newest} is the newest"
    return _of_arrays() or _of_numbers_and_sequences() or _of_ctypes_and_weak_references() or _of_classes()


def _of_arrays() -> str | None:
    """Read arrays as the generated code does, and compare with what NumPy says of them."""
    version = ctypes.PYFUNCTYPE(ctypes.c_uint)(numpy_functions()[0] or 0)() >> 24  # PyArray_GetNDArrayCVersion
    if version != _NUMPY_C_INTERFACE:
        return f"NumPy's C interface has version {version}, not {_NUMPY_C_INTERFACE}"
    if not all(addresses().values()):
        return "a function of Python or NumPy is missing"
    block = np.zeros((2, 3, 4))
    single = np.ones(3, np.float32)
    for array in (np.arange(5.0), block[1, 0], np.ones(7)[2:5], block, block[:, 1:], block.T, np.array(1.5), single):
        seen = ArrayObject.structure().from_address(id(array))
        if (seen.data, seen._rank % 2**32, seen.descr) != (array.ctypes.data, array.ndim, id(array.dtype)):
            return "NumPy's array object is not laid out as expected"
        if array.ndim and _words(seen.dims, array.ndim) != array.shape:
            return "NumPy's array object keeps its shape elsewhere"
        if array.ndim and tuple((ctypes.c_int64 * array.ndim).from_address(seen.strides)) != array.strides:
            return "NumPy's array object keeps its strides elsewhere"
        if (seen._flags & C_ORDER == C_ORDER) != array.flags.c_contiguous:
            return "NumPy's array object keeps its flags elsewhere"
    return None


def _of_numbers_and_sequences() -> str | None:
    for number in (1.5, np.float64(2.5)):
        if ctypes.c_double.from_address(id(number) + HEADER).value != number:
            return f"{type(number).__name__} keeps its number elsewhere"
    pair, both = (1.5, 2.5), [3.5, 4.5]
    if tuple.__basicsize__ != HEADER + 8 or _words(id(pair) + HEADER, 3) != (2, id(pair[0]), id(pair[1])):
        return "Python's tuple is not laid out as expected"
    size, items = _words(id(both) + HEADER, 2)
    if size != 2 or _words(items, 2) != (id(both[0]), id(both[1])):
        return "Python's list is not laid out as expected"
    return None


class _Something(ctypes.Structure):
    _fields_ = [("word", ctypes.c_void_p), ("other", ctypes.c_void_p)]


def _of_ctypes_and_weak_references() -> str | None:
    kept = _Something()
    if _words(id(kept) + HEADER, 1) != (ctypes.addressof(kept),):
        return "ctypes keeps its buffers elsewhere"
    weak, place = ref(kept), id(kept)
    before = _words(id(weak) + HEADER, 1)
    del kept
    after = _words(id(weak) + HEADER, 1)
    return None if (before, after) == ((place,), (id(None),)) else "weak references are not laid out as expected"


def _of_classes() -> str | None:
    for kind in (_Something, dict, type(len)):
        size, flags = (_words(id(kind) + place, 1)[0] for place in (_BASIC_SIZE, _FLAGS))
        if (size, flags) != (kind.__basicsize__, kind.__flags__):
            return "Python's classes are not laid out as expected"
    (offset,) = _words(id(type(len)) + _VECTORCALL_OFFSET, 1)
    if not (type(len).__flags__ & _HAVE_VECTORCALL and HEADER <= offset < type(len).__basicsize__):
        return "Python's builtin functions are called in another way"
    some = _Something()
    inside = 0 < ctypes.addressof(some) - id(some) < _Something.__basicsize__
    return None if inside else "ctypes keeps small structures elsewhere"


def _words(address: int, count: int) -> tuple[int, ...]:
    return tuple((ctypes.c_uint64 * count).from_address(address))
