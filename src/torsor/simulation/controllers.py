"""Which functions of a user may be compiled into a simulation: those that tracing shows to be the same at every call.

A compiled function is run once, on traced arrays, so it must not keep anything between calls, write to anything outside, or draw
numbers. What a function is made of is looked at first (`fingerprint`): its code, and the numbers, robots, motions and functions
that it refers to. Anything else, such as a list, an object of a class of the user's or a random generator, may change, and the
function is called from Python. The rest is traced twice and compared with a call.
"""

from __future__ import annotations

import builtins
import dataclasses
import dis
import functools
import hashlib
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.compiler.graph import Program
from torsor.compiler.kernel import Kernel
from torsor.compiler.print import numpy as emit_numpy
from torsor.compiler.run.fast_entry import FastEntry
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.errors import ShapeError
from torsor.model import Robot
from torsor.simulation.looks import (
    Looked,
    known_before,
    looking,
    note,
    note_function,
    note_mapping,
    remember_look,
)

WRITES = {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "IMPORT_NAME", "DELETE_SUBSCR"}
# The functions of Python's own that give the same for the same arguments, and the same for traced arrays as for numbers
STEADY = {
    "abs",
    "all",
    "any",
    "bool",
    "complex",
    "dict",
    "divmod",
    "enumerate",
    "filter",
    "float",
    "frozenset",
    "int",
    "len",
}
STEADY |= {
    "list",
    "map",
    "max",
    "min",
    "pow",
    "range",
    "reversed",
    "round",
    "set",
    "slice",
    "sorted",
    "sum",
    "tuple",
    "zip",
}
STEADY |= {name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, Exception)}
DEEPEST = 16  # a law along motions in sequence, each scaled, is nested 11 deep
# Names that draw numbers, read or write files, write into arrays, or look at what an array is made of
UNSTEADY = {"random", "fill", "put", "itemset", "sort", "partition", "resize", "setfield", "copyto", "place", "putmask"}
UNSTEADY |= {
    "put_along_axis",
    "fill_diagonal",
    "load",
    "loads",
    "loadtxt",
    "genfromtxt",
    "fromfile",
    "fromregex",
    "memmap",
}
UNSTEADY |= {
    "save",
    "savez",
    "savez_compressed",
    "savetxt",
    "tofile",
    "dump",
    "dumps",
    "empty",
    "empty_like",
    "datetime64",
}
UNSTEADY |= {"dtype", "base", "flags", "strides", "isscalar", "__class__", "__dict__", "__array_interface__", "ctypes"}
SHORT = 512  # bytes of an array that are compared themselves, which is faster
ARRAY, STORES, NUMBER = "an array", "assigns items", "a number by its name"
LIBRARIES = ("numpy", "torsor", "math", "builtins", "operator")
MODULES = {"numpy", "numpy.linalg", "numpy.fft", "math", "operator"}  # and those of torsor


def fingerprint(function: Any, beside: Sequence[Any] = ()) -> str | None:
    """A text that is the same for functions that compute the same; None if that cannot be known.

    ``beside``: all functions that are called during the same run. Where one of them may write to things outside, what the
    function refers to may change meanwhile.
    """
    known = known_before(function)
    if known is None:
        found: list[str] = []
        with looking() as references:
            steady = _looked_at(function, found, 0)
        if not steady or (STORES in found and ARRAY in found):
            return None  # items are assigned, perhaps to an array that is not the function's own
        text = hashlib.sha256("\n".join(found).encode()).hexdigest()
        known = Looked(text, ARRAY in found, NUMBER in found)
        remember_look(function, known, references)
    unsteady = [other for other in beside if other is not function and fingerprint(other) is None]
    if unsteady and (known.has_arrays or (known.has_numbers and any(map(_binds_names, unsteady)))):
        return None
    return known.text


def _binds_names(function: Any) -> bool:
    """Whether a function gives names outside other values. Objects have names of their own for that."""
    code = getattr(function, "__code__", None)
    return code is not None and _code(code).binds


def _looked_at(value: Any, found: list[str], depth: int) -> bool:
    """Add to ``found`` what a value is; False if it may change."""
    if depth > DEEPEST:
        return False
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
        found.append(repr(value))
        return True
    if isinstance(value, np.ndarray):
        found.append(ARRAY)
        content = value.tobytes()
        note(value, content)
        text = content.hex() if len(content) <= SHORT else hashlib.sha256(content).hexdigest()
        found.append(f"{value.dtype.str} {value.shape} {text}")
        return value.dtype.kind in "biufc"
    if isinstance(value, Robot):
        found.append(value.digest if value.is_concrete else "")
        return value.is_concrete
    if isinstance(value, Kernel):
        found.append(value.program.digest())
        return True
    if isinstance(value, tuple):
        found.append(f"{type(value).__name__} {len(value)}")
        return all(_looked_at(item, found, depth + 1) for item in value)
    if isinstance(value, types.ModuleType):
        found.append(value.__name__)
        return value.__name__ in MODULES or value.__name__.partition(".")[0] == "torsor"
    if isinstance(value, functools.partial):
        found.append("partial")
        note_mapping(value.keywords)
        named = tuple(sorted(value.keywords.items()))
        return all(_looked_at(item, found, depth + 1) for item in (value.func, value.args, named))
    if getattr(value, "__name__", "") in UNSTEADY:
        return False
    if isinstance(value, FastEntry) or _is_of_library(value):
        found.append(f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', repr(value))}")
        return True
    if dataclasses.is_dataclass(value) and type(value).__module__.startswith("torsor."):
        found.append(type(value).__qualname__)  # motions, tasks, controllers that follow a motion: all of them frozen
        parts = tuple(_as_tuple(getattr(value, field.name)) for field in dataclasses.fields(value))
        return _looked_at(parts, found, depth + 1)
    if isinstance(value, types.FunctionType):
        return _function_looked_at(value, found, depth)
    return False


def _is_of_library(value: Any) -> bool:
    """A function or class of NumPy's, torsor's or Python's own, which its name tells from all others.

    A function that is made within another, such as one that wraps a function of the user's, may have the name of a library and is
    not what the library has under that name.
    """
    if isinstance(value, np.ufunc):
        return True
    module, name = getattr(value, "__module__", None) or "", getattr(value, "__qualname__", "")
    if not isinstance(value, (types.FunctionType, types.BuiltinFunctionType, type)) or not name:
        return False
    if module.partition(".")[0] not in LIBRARIES or module not in sys.modules:
        return False
    found: Any = sys.modules[module]
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is value


def _as_tuple(value: Any) -> Any:
    """A mapping in a frozen object, as a tuple that can be looked at."""
    if not isinstance(value, Mapping):
        return value
    note_mapping(value)
    return tuple(sorted(value.items()))


def _function_looked_at(function: types.FunctionType, found: list[str], depth: int) -> bool:
    code, known = _code(function.__code__), function.__globals__
    if code.writes or any(hasattr(builtins, x) and x not in known and x not in STEADY for x in code.names):
        return False
    found.append(code.text)
    values = [*code.constants, *(function.__defaults__ or ()), *sorted((function.__kwdefaults__ or {}).items())]
    try:
        named = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # not assigned yet
        return False
    note_function(function, code.names)
    # A name may also be that of an attribute, and then means nothing here
    named += [known[name] for name in code.names if name in known]
    found += [STORES] if code.stores else []
    found += [NUMBER] if any(isinstance(x, (bool, int, float, complex, np.generic)) for x in named) else []
    return all(_looked_at(value, found, depth + 1) for value in (*values, *named))


class _Code(NamedTuple):
    """What is to be known of a function's code, and that of functions in it: ``stores`` says whether items are assigned,
    ``binds`` whether names outside are.
    """

    text: str
    names: tuple[str, ...]
    constants: tuple[Any, ...]
    writes: bool
    stores: bool
    binds: bool


@functools.lru_cache(maxsize=256)
def _code(code: types.CodeType) -> _Code:
    steps = list(dis.get_instructions(code))
    done = {i.opname for i in steps}
    binds = "STORE_GLOBAL" in done or any(i.opname == "STORE_DEREF" and i.argval in code.co_freevars for i in steps)
    writes = binds or not WRITES.isdisjoint(done)
    # What fails for traced arrays must not be caught: the function would go another way than with numbers
    writes |= "CHECK_EXC_MATCH" in done or {"PUSH_EXC_INFO", "WITH_EXCEPT_START"} & done == {"PUSH_EXC_INFO"}
    writes |= any(name.startswith("random_") for name in code.co_names)
    writes |= not UNSTEADY.isdisjoint(code.co_names) or any(
        x == "out" or (isinstance(x, tuple) and "out" in x) for x in code.co_consts
    )
    inner = [_code(x) for x in code.co_consts if isinstance(x, types.CodeType)]
    own = f"{code.co_code.hex()} {code.co_varnames} {code.co_freevars} {code.co_names}"
    return _Code(
        hashlib.sha256(" ".join([own, *(x.text for x in inner)]).encode()).hexdigest(),
        (*code.co_names, *(name for x in inner for name in x.names)),
        (
            *(x for x in code.co_consts if not isinstance(x, types.CodeType)),
            *(constant for x in inner for constant in x.constants),
        ),
        writes or any(x.writes for x in inner),
        "STORE_SUBSCR" in done or any(x.stores for x in inner),
        binds or any(x.binds for x in inner),
    )


def _apart(value: Any, copies: list[tuple[Array, Array]]) -> Any:
    """The same function, or what it refers to, with copies of its arrays, so that nobody sees what it writes there."""
    if isinstance(value, np.ndarray):
        copies.append((value, value.copy()))
        return copies[-1][1]
    if isinstance(value, tuple):
        items = [_apart(item, copies) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, functools.partial):
        named = {name: _apart(x, copies) for name, x in value.keywords.items()}
        return functools.partial(_apart(value.func, copies), *_apart(value.args, copies), **named)
    if not isinstance(value, types.FunctionType) or _is_of_library(value):
        return value
    known = value.__globals__
    names = {name: _apart(known[name], copies) for name in _code(value.__code__).names if name in known}
    cells = tuple(types.CellType(_apart(cell.cell_contents, copies)) for cell in value.__closure__ or ())
    made = types.FunctionType(
        value.__code__, known | names, value.__name__, _apart(value.__defaults__, copies), cells or None
    )
    made.__kwdefaults__ = {name: _apart(x, copies) for name, x in (value.__kwdefaults__ or {}).items()}
    return made


def traced(
    called: Callable[[Callable[..., Any]], Callable[..., Mapping[str, Any]]],
    user: Callable[..., Any],
    inputs: Mapping[str, tuple[int, ...]],
    sample: Mapping[str, Any],
) -> Program | str:
    """The program of ``called(user)(**inputs)``, a dict of arrays, if it is the same traced twice and gives what a call does.

    Else the reason why it is not to be trusted, in words. ``sample`` has numbers for the inputs, at which both are compared.
    """
    copies: list[tuple[Array, Array]] = []
    function = called(_apart(user, copies) if fingerprint(user) is not None else user)
    try:
        program, again = (trace(function, dict(inputs), Level.FULL) for _ in range(2))
    except Exception as error:  # whatever it is: a call from Python will tell, if it is wrong there too
        return f"it cannot be traced: {error}"
    if program.digest() != again.digest():
        return "traced twice, it gave two different programs"
    with np.errstate(all="ignore"):
        found, said = emit_numpy.build(program)(*map(np.asarray, sample.values())), function(**sample)
    if not all(np.array_equal(before, after, equal_nan=before.dtype.kind in "fc") for before, after in copies):
        return "it writes into arrays that are not its own"
    for name, value in said.items():
        if not np.allclose(found[name], value, rtol=1e-9, atol=1e-12, equal_nan=True):
            return f"traced, it gives another {name} than when it is called"
    return program


def refuse_wrong_forces(robot: Robot, tau: Any, batch: tuple[int, ...], who: str) -> Array:
    """What a controller gave, as joint forces (*batch, nv)."""
    shape = None if tau is None else tuple(np.shape(tau))
    if batch and shape == (robot.nv,):  # of one trajectory: for which of them?
        raise ShapeError(
            f"the {who} is called from Python for all trajectories together, with q of shape {(*batch, robot.nq)}, and must "
            f"return joint forces of shape {(*batch, robot.nv)}, got {shape}. Joints are the last axis: q[..., 0] is the first."
        )
    if shape is None or shape[-1:] != (robot.nv,):
        got = "None" if shape is None else f"shape {shape}"
        hint = " Does it end with `return tau`?" if shape is None else ""
        raise ShapeError(f"the {who} must return joint forces of shape (..., {robot.nv}), got {got}.{hint}")
    try:
        return np.broadcast_to(np.asarray(tau, float), (*batch, robot.nv))
    except (TypeError, ValueError) as error:
        raise ShapeError(
            f"the {who} must return joint forces of shape {(*batch, robot.nv)}, got shape {shape}."
        ) from error
