"""Text IR to machine code, and machine code into memory: the only file that talks to LLVM, always `apart`."""

from __future__ import annotations

import ctypes
import sys
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from torsor.compiler.print.printer import Target
from torsor.compiler.run.apart import LLVM, WITHIN, NotWanted, Wanted, apart

AROUND = 72 * 1024  # bytes that LLVM needs for an object in memory, whatever its size: measured


class Unusable(RuntimeError):
    """Machine code without the functions that are asked of it."""


class Native:
    """Machine code in memory. Function addresses stay valid for as long as this object lives.

    Functions of a first tier (`tiers.passing_on`) call what ``cells`` point to, by name: at first themselves.
    """

    def __init__(self, addresses: dict[str, int], cells: dict[str, int], size: int) -> None:
        self._addresses, self._cells, self.size = addresses, cells, size
        self._final: Native | None = None
        self.about: dict[str, Any] = {}  # what is known of it

    def address(self, name: str) -> int:
        """Address of a function by name; never 0."""
        return self._addresses[name]

    def pass_on_to(self, final: Native) -> None:
        """From now on, calls of the functions of a first tier are answered by those of another machine code."""
        self._final = final  # lives as long as this
        for name, cell in self._cells.items():
            ctypes.c_uint64.from_address(cell).value = final.address(name)  # one word, aligned: old or new, never half


class _Remains(weakref.ref[Native]):
    """The engines that hold the machine code of a `Native`. When that dies, they wait for the next step with LLVM.

    Nobody is called who could wait for LLVM in a finaliser, or lose a Ctrl-C there: the callback is a method of C's.
    """

    __slots__ = ("engines",)
    engines: list[Any]


_LIVING: dict[int, _Remains] = {}
_DEAD: deque[_Remains] = deque()


@cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    lock: Any = getattr(llvm.ffi.lib, "_lock", None)  # of llvmlite's own, around each call of LLVM
    if hasattr(lock, "__enter__"):
        WITHIN.append(lock)
    return llvm


@cache
def why_missing() -> str | None:
    """Why there is no compiler here, or None if there is one; said once as a warning."""
    try:
        import llvmlite.binding  # noqa: F401
    except ImportError as error:
        if sys.is_finalizing():
            return "Python is ending, and nothing can be imported any more"
        reason = f"llvmlite cannot be imported ({error}); pip install llvmlite"
        warnings.warn(f"torsor runs uncompiled, hundreds of times slower: {reason}", RuntimeWarning, stacklevel=4)
        return reason
    return None


@cache
def version() -> str:
    """Of llvmlite, which machine code on disk belongs to."""
    import llvmlite

    return str(llvmlite.__version__)


@cache
def host() -> tuple[str, str]:
    """Name and features of this machine's processor, as LLVM has them."""

    def ask(_: Wanted) -> tuple[str, str]:
        with LLVM:
            llvm = _llvm()
            return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()

    return apart(ask)


@cache
def host_target() -> Target:
    """Vector width and fused multiply-add of this machine."""
    features = set(host()[1].split(","))
    bits = 512 if "+avx512f" in features else 256 if "+avx2" in features else 128
    return Target(max(bits, 256), "+fma" in features or "+neon" in features)


def _machine(level: int = 2) -> Any:
    cpu, features = host()
    target = _llvm().Target.from_default_triple()
    return target.create_target_machine(cpu=cpu, features=features, opt=level, reloc="pic")


def objects_of(texts: Sequence[str], wanted: Wanted, *, optimised: bool = False, level: int = 2) -> list[bytes]:
    """Machine code of modules that belong together, one after the other, for as long as it is wanted. To be called apart."""
    objects = []
    for text in texts:
        if not wanted():
            raise NotWanted
        objects.append(_object_of(text, optimised, level))
    return objects


def _object_of(text: str, optimised: bool, level: int) -> bytes:
    with LLVM:
        llvm = _llvm()
        # A context of its own, and the module freed at once: an engine would keep both, a megabyte for ten kilobytes.
        with llvm.create_context() as own, llvm.parse_assembly(text, own) as module, _machine(level) as machine:
            if optimised:
                options = llvm.create_pipeline_tuning_options(speed_level=2)
                options.loop_vectorization = options.loop_unrolling = False  # loops over a few things each
                passes = llvm.create_pass_builder(machine, options)
                passes.getModulePassManager().run(module, passes)
            code = bytes(machine.emit_object(module))
    if not code:
        raise Unusable("LLVM gave no machine code")
    return code


def loaded(
    objects: Sequence[bytes],
    names: Sequence[str],
    functions: Sequence[Sequence[str]] = (),
    *,
    is_first_tier: bool = False,
) -> Native:
    """Machine code that was compiled before, in memory, with the addresses of some of its functions. To be called apart.

    ``functions`` are those of the objects after the first, which has their addresses in a table: that of name7 is the
    eighth in name_table.
    """
    if not objects or not all(objects) or len(functions) != len(objects) - 1:
        raise Unusable("there is no machine code, or not all of it")
    engines: list[Any] = []
    with LLVM:
        _free_the_dead()
        for code in objects:
            engines.append(_engine_of(code))
        addresses = {name: _address(engines[0].get_function_address, name) for name in names}
        replaced = names if is_first_tier else ()
        cells = {name: _address(engines[0].get_global_value_address, f"{name}_code") for name in replaced}
        for engine, group in zip(engines[1:], functions, strict=True):
            for name in group:
                table = name.rstrip("0123456789")
                start = _address(engines[0].get_global_value_address, f"{table}_table")
                place = ctypes.c_uint64.from_address(start + 8 * int(name.removeprefix(table)))
                place.value = _address(engine.get_function_address, name)
    size = sum(map(len, objects)) + AROUND * len(objects)
    native = Native(addresses, cells, 2 * size if is_first_tier else size)  # with what will replace it
    remains = _Remains(native, _DEAD.append)
    remains.engines = engines
    _LIVING[id(remains)] = remains
    return native


def _engine_of(code: bytes) -> Any:
    """One for each object: LLVM mixes up the tables of outside functions if an engine has several."""
    llvm = _llvm()
    compiled = llvm.object_file.ObjectFileRef.from_data(code)
    if not compiled._ptr:  # a null pointer, which LLVM would follow
        raise Unusable("what is no machine code")
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    engine.add_object_file(compiled)
    engine.finalize_object()
    return engine


def _address(find: Callable[[str], int], name: str) -> int:
    address = int(find(name))
    if address == 0:
        raise Unusable(f"machine code without {name}")
    return address


def _free_the_dead() -> None:
    while _DEAD:
        remains = _DEAD.popleft()
        for engine in remains.engines:
            engine.close()
        del _LIVING[id(remains)]


def compile_ir(text: str, *names: str) -> Native:
    """Machine code of a module, with the addresses of some of its functions; not kept on disk."""
    return apart(lambda wanted: loaded(objects_of([text], wanted), names))
