"""A program one can call, count, differentiate and print: what `torsor.compile` gives."""

from __future__ import annotations

import hashlib
import importlib
import inspect
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor._html import block, heading, plain, table
from torsor._once import once
from torsor._text_files import path_to_write
from torsor.arrays.typing import Numbers as Given, Out
from torsor.border import explained
from torsor.bridges import foreign_among
from torsor.compiler import differentiate
from torsor.compiler.backend import compiles
from torsor.compiler.compiled import Compiled, is_jax, of_shape
from torsor.compiler.graph import Program, Shape
from torsor.compiler.print import c as emit_c, casadi as emit_casadi, numpy as emit_numpy, sympy as emit_sympy
from torsor.compiler.print.llvm import emit
from torsor.compiler.print.names import c_function_of
from torsor.compiler.run import engine, native
from torsor.compiler.run.fast_entry import Numbers
from torsor.errors import ArgumentError, MissingDependency, ShapeError, unknown_name

Array = Any


class Kernel(Compiled):
    """A function compiled for this machine, with named inputs and outputs of any shape; batch axes come first.

    Call it with its inputs (..., *shape) in order or by name: one output is returned as an array, several as a dict by name, in
    float32 if every input is, else in float64. ``out=``: the array, or dict of arrays, that outputs are written to. JAX arrays,
    also within `jit`, `vmap` and derivatives, give JAX arrays (`to_jax`). It can be pickled and copied.
    """

    if TYPE_CHECKING:

        def __call__(self, /, *args: Given, out: Out = None, **named: Given) -> Any: ...  # noqa: D102

    else:
        __slots__ = ("__call__",)

    listed = "kernel.inputs"
    needs_numbers = "That needs a call without out=, and JAX on the CPU with the compiler (torsor doctor)."

    def __init__(self, name: str, program: Program) -> None:
        order = [port.name for port in program.graph.inputs]
        super().__init__("kernel", name, program, order, len(order))
        self._called_by_jax: Callable[..., tuple[Any, ...]] | None = None
        self._pullbacks: dict[tuple[str, ...], Kernel] = {}
        self._single = len(self._names) == 1
        kind = inspect.Parameter
        inputs = [kind(word, kind.POSITIONAL_OR_KEYWORD) for word in order if word.isidentifier()]
        self.__signature__ = inspect.Signature([*inputs, kind("out", kind.KEYWORD_ONLY, default=None)])
        if len(set(self._names)) < len(self._names):
            among = ", ".join(self._names)
            raise ArgumentError(f"kernel {name!r}: two outputs have one name, among {among}; rename one.")

    def __reduce__(self) -> tuple[Any, ...]:
        return Kernel, (self.name, self.program)

    @property
    def inputs(self) -> dict[str, Shape]:
        """Shape of each input, by name, in order."""
        return {port.name: port.shape for port in self.program.graph.inputs}

    def _answer(self, /, *args: Array, out: Any = None, **named: Array) -> Any:
        ports, given, parts = self.program.graph.inputs, self._given(args, named), self._parts(out)
        if foreign_among(*given):
            inputs = dict(zip(self._order, given, strict=True))
            return self._in_another_library(ports, inputs, (), lambda names, _: self.pullback(*names), parts)
        if out is None and any(map(is_jax, given)) and (run := self._in_jax()) is not None:
            return self._gathered(run(*map(of_shape, ports, given)))
        arrays, dtype = self._arrays(ports, given)
        if not compiles():
            return self._gathered(self._uncompiled(arrays, parts), out)
        code = self.native(dtype)
        results = code(arrays, parts)
        pattern = {port.name: Numbers(port.shape) for port in code.inputs}
        self._entry.remember(pattern, code.target(None if self._single else dict, self._names))
        return self._gathered(results, out)

    def _uncompiled(self, arrays: list[Any], out: list[Array] | None) -> list[Any]:
        """The same function as NumPy source."""
        with np.errstate(all="ignore"):
            results = list(self._source()(*arrays).values())
        for k, target in enumerate(out or []):
            target[...] = results[k]
            results[k] = target
        return results

    def _in_jax(self) -> Callable[..., Sequence[Any]] | None:
        """What JAX arrays are given to: the machine code, the source if that is chosen, or None if JAX cannot take either."""
        from torsor.compiler.run.jax_call import jax_outputs, why_missing

        if not compiles():
            return lambda *arrays: list(self._source("jax.numpy")(*arrays).values())
        if why_missing() is not None:
            return None
        if self._called_by_jax is None:
            self._called_by_jax = jax_outputs(self)
        return self._called_by_jax

    @explained
    def jacobian(self, output: str, *inputs: str) -> Kernel:
        """The kernel of the derivatives of an output by inputs.

        Parameters
        ----------
        output : str
            One of `outputs`.
        *inputs : str
            Some of `inputs`.

        Returns
        -------
        Kernel
            Its outputs are "output_by_input", shape of the output + shape of the input.
        """
        for kind, name, known in (("output", output, self.outputs), *(("input", x, self.inputs) for x in inputs)):
            if name not in known:
                raise unknown_name(self._where, kind, name, known, f"kernel.{kind}s")
        return Kernel(f"{self.name} ∂{output}", differentiate.jacobian(self.program, output, *inputs))

    @explained
    def pullback(self, *inputs: str) -> Kernel:
        """The kernel of Σ weights · ∂outputs/∂input by one sweep back, a few times as long as this one: gradients, adjoints.

        Parameters
        ----------
        *inputs : str
            Some of `inputs`.

        Returns
        -------
        Kernel
            Of the inputs and then the weights of each output, "weights_of_x" in the shape of the output x; its outputs are
            "pulled_to_y" in the shape of the input y.
        """
        for name in inputs:
            if name not in self.inputs:
                raise unknown_name(self._where, "input", name, self.inputs, "kernel.inputs")
        if inputs not in self._pullbacks:
            self._pullbacks[inputs] = Kernel(f"{self.name} pulled back", differentiate.pullback(self.program, *inputs))
        return self._pullbacks[inputs]

    @explained
    def to_c(self, path: str | PathLike[str], *, real: str = "double") -> list[Path]:
        """Write C99 (path.c, path.h) and a self-test with expected numbers (path_test.c); the file name names the function.

        An input or output whose name C has taken, or that another has, gets a longer one there, said in the header's comment.
        ``cc -std=c99 path.c path_test.c -lm && ./a.out`` runs the self-test.
        Straight-line, ``math.h`` only, no allocation. An input that is one number comes as such, not as an array.

        Parameters
        ----------
        path : str or path
        real : str
            "double" or "float".

        Returns
        -------
        list of paths
            The files written.
        """
        place = path_to_write("to_c", path)
        name = c_function_of(place)
        return emit_c.write(emit_c.emit(self.program, name, real, *emit_c.example_of(self.program)), place)

    def to_numpy(self) -> str:
        """Python source of the same function, ``kernel``, over numbers and NumPy arrays: readable, slow, without torsor."""
        return emit_numpy.emit(self.program)

    def to_sympy(self) -> dict[str, Any]:
        """The outputs as SymPy expressions of real symbols q_0, q_1, … (needs sympy; for small robots).

        They are the expressions for where the outputs are defined: the kernel gives NaN where M is singular, say.
        """
        _library("sympy", "kernel.to_sympy")
        return emit_sympy.emit(self.program)

    def to_latex(self) -> dict[str, str]:
        """The outputs as LaTeX (needs sympy; for small robots)."""
        sympy = _library("sympy", "kernel.to_latex")
        return {name: sympy.latex(expression) for name, expression in self.to_sympy().items()}

    def to_casadi(self) -> Any:
        """The kernel as a `casadi.Function` (needs casadi): the same operations one by one, for its derivatives and solvers.

        Its inputs and outputs have the kernel's names. A vector is a column, a matrix a matrix, a number 1 × 1. An array of more
        axes is a matrix of its first axis and all others, the last of these counted fastest, as ``reshape(m, -1)`` is in NumPy.
        A batch is ``function.map(n)``.
        """
        casadi = _library("casadi", "kernel.to_casadi")
        return emit_casadi.emit(casadi, self.name, self.program)

    def to_jax(self) -> Callable[..., Any]:
        """The kernel as a JAX function on the CPU (needs jax): the same machine code inside `jit`, `vmap` a batch, and
        derivatives of any order by the kernel's own Jacobians.
        """
        from torsor.compiler.run.jax_call import jax_function

        _library("jax", "kernel.to_jax")
        return jax_function(self)

    def native(self, dtype: np.dtype[Any]) -> native.NativeFunction:
        """The machine code for one precision, compiled or loaded when first asked for."""
        if dtype not in self._natives:
            self._natives[dtype] = native.build(f"program|{self._digest}", lambda: self.program, dtype)
        return self._natives[dtype]  # type: ignore[no-any-return]

    @once
    def _digest(self) -> str:
        texts = emit(self.program, "one", "double", engine.host_target()).texts
        ports = repr((self.program.graph.inputs, self.program.outputs))
        return hashlib.sha256("".join([*texts, ports]).encode()).hexdigest()

    def _given(self, args: tuple[Array, ...], named: dict[str, Array]) -> list[Any]:
        """The inputs in order."""
        if len(args) > len(self._order):
            raise ShapeError(f"{self._where} takes {len(self._order)} inputs, got {len(args)}.")
        by_position = dict(zip(self._order, args, strict=False))
        if twice := [name for name in by_position if name in named]:
            raise ShapeError(f"{', '.join(twice)} given twice, by position and by name.")
        return self._in_order(by_position | named)

    def __repr__(self) -> str:
        def ports(shapes: dict[str, Shape]) -> str:
            return ", ".join(f"{name} {shape}" for name, shape in shapes.items())

        return f"<Kernel {self.name!r}: {ports(self.inputs)} → {ports(self.outputs)}; {sum(self.count().values())} operations>"

    def _repr_html_(self) -> str:
        """Inputs, outputs and operations, for notebooks."""
        both = (("inputs", self.inputs), ("outputs", self.outputs))
        ports = [
            [title if k == 0 else "", plain(name), plain(shape or "()")]
            for title, shapes in both
            for k, (name, shape) in enumerate(shapes.items())
        ]
        counted = self.count()
        costs = ", ".join(f"{number} {kind}" for kind, number in counted.items()) or "none"
        return block(
            heading(f"Kernel {self.name}", [f"{sum(counted.values())} operations"]),
            table(["", "name", "shape"], ports, left=3, fold="ports"),
            f"<div>operations: {plain(costs, 400)}</div>",
        )


def _library(name: str, who: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingDependency(f"{who} needs {name}: pip install 'torsor[{name}]'.") from error
