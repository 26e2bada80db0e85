"""Text IR to machine code and back from objects: the only file that talks to LLVM."""

from __future__ import annotations

import ctypes
import warnings
from functools import cache
from typing import Any

from torsor.compiler.printer import Target


class Native:
    """Machine code in memory. Function addresses stay valid for as long as this object lives."""

    def __init__(self, engine: Any, object_code: bytes) -> None:
        self._engine = engine
        self.object_code = object_code

    def address(self, name: str) -> int:
        """Address of a function by name."""
        return int(self._engine.get_function_address(name))


@cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@cache
def why_missing() -> str | None:
    """Why there is no compiler here, or None if there is one; said once as a warning."""
    try:
        import llvmlite.binding  # noqa: F401
    except ImportError as error:
        reason = f"llvmlite cannot be imported ({error}); pip install llvmlite"
        warnings.warn(f"torsor runs uncompiled, hundreds of times slower: {reason}", RuntimeWarning, stacklevel=4)
        return reason
    return None


def version() -> str:
    """Of llvmlite, which machine code on disk belongs to."""
    import llvmlite

    return str(llvmlite.__version__)


@cache
def host() -> tuple[str, str]:
    """Name and features of this machine's processor, as LLVM has them."""
    llvm = _llvm()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def host_target() -> Target:
    """Vector width and fused multiply-add of this machine."""
    features = set(host()[1].split(","))
    bits = 512 if "+avx512f" in features else 256 if "+avx2" in features else 128
    return Target(max(bits, 256), "+fma" in features or "+neon" in features)


def _machine() -> Any:
    llvm = _llvm()
    cpu, features = host()
    return llvm.Target.from_default_triple().create_target_machine(cpu=cpu, features=features, opt=2, reloc="pic")


def compile_ir(text: str) -> Native:
    """Machine code of a module."""
    llvm = _llvm()
    module = llvm.parse_assembly(text)
    engine = llvm.create_mcjit_compiler(module, _machine())
    kept: list[bytes] = []
    engine.set_object_cache(lambda _module, code: kept.append(bytes(code)), None)
    engine.finalize_object()
    return Native(engine, kept[0] if kept else b"")


def load_object(code: bytes) -> Native:
    """Machine code that was compiled before."""
    llvm = _llvm()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return Native(engine, code)


ONE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
MANY = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
