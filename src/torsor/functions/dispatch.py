"""Where mechanics and compiler meet: a public function runs as machine code made for its robot.

Called with NumPy arrays, a function is traced once for that robot (and precision, frames and optional inputs), simplified,
compiled and kept: in memory for the next call, on disk for the next process. With JAX arrays on the CPU, XLA calls the same
machine code. Arrays of torch, dask and xarray cross a bridge (`torsor.bridges`). With anything else (traced arrays, a robot
whose numbers are being differentiated), the algorithm itself runs.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from importlib import import_module
from operator import attrgetter
from typing import Any, ParamSpec, TypeVar

import numpy as np

from torsor.arrays import exact_constants, matvec
from torsor.arrays.primitives import as_numbers, is_foreign, namespace
from torsor.border import checked
from torsor.border.arguments import wrong_names
from torsor.border.arrays import prepare, signature_of
from torsor.bridges import Crossing, Template, across, alone, evaluated_by, foreign_among, in_a_tuple, taken_apart
from torsor.compiler.backend import compiles
from torsor.compiler.kernel import Kernel
from torsor.compiler.run import jax_call, native
from torsor.compiler.run.fast_entry import FastEntry, Numbers
from torsor.compiler.trace import called
from torsor.compiler.traced_array import TracedArray
from torsor.errors import ArgumentTypeError, ShapeError, TorsorError
from torsor.functions import varied_in_jax
from torsor.functions.batched_arrays import ArrayForm, InArrays
from torsor.functions.describe import (
    Algorithm,
    Derivatives,
    GraphRival,
    Loops,
    Outputs,
    Public,
    Request,
    Rivals,
    help_text,
    request_of,
)
from torsor.functions.kept import Kept
from torsor.functions.variants import shared
from torsor.model import Robot
from torsor.model.aligned import aligned
from torsor.model.remembered import own, remembered

P = ParamSpec("P")
R = TypeVar("R")
KEPT = 512  # functions as JAX calls them
KERNELS: Kept[native.Codes] = Kept(256 * 2**20, attrgetter("bytes"))  # in memory, of all functions
JACOBIAN_MOST = 250_000  # rows or columns times operations; beyond, JAX differentiates the algorithm itself


IN_LOOPS: ContextVar[bool] = ContextVar("in_loops", default=False)  # whether small code is asked for
PUBLIC: dict[str, Algorithm] = {}  # torsor's public functions by name; `about_of` has the record of each


def about_of(function: Algorithm) -> Public | None:
    """What is known of one of torsor's public functions, or of a step of one; None for any other, whatever its name."""
    about = function.about if isinstance(function, FastEntry) else None
    return about if isinstance(about, Public) else None


def public(
    algorithm: Callable[P, R],
    result: str | type[R],
    *,
    joint_space: bool = False,
    rivals: Rivals | None = None,
    arrays: ArrayForm | None = None,
    graph: GraphRival | None = None,
    derivatives: Derivatives | None = None,
    same_as: str | None = None,
    loops: Loops | None = None,
    likely: Rivals | None = None,
    registered: bool = True,
    module: str | None = None,
) -> Callable[P, R]:
    """The public form of an algorithm of `mechanics`: checked, compiled, with ``out=``, and a fast entry for one state.

    ``result`` names its output in a kernel, or is the class of named tuple that it returns. ``joint_space``: the result does
    not depend on where link frames are, so that aligned ones may be used. ``rivals`` gives, for a robot, algorithms for the
    same numbers (or refuses the robot); the one with the fewest operations is compiled. ``arrays`` is used instead for
    robots whose tensors have too many entries; ``graph`` makes the program in another way for small robots.
    ``derivatives`` says which public function JAX is to differentiate it by. ``same_as`` names another public function that
    gives the same numbers by other algorithms; tests compare all that are known here with each other. ``loops``: the algorithm
    of a robot that runs as loops, if there is one (`torsor.compile` with ``small=True``). ``likely``: the rivals that are tried,
    where the structure of a robot tells that others are longer. ``registered``: it is in `PUBLIC`, and no step of another.
    """
    gives = Outputs.of(result)
    about = Public(algorithm, gives, joint_space, rivals, arrays, graph, derivatives, same_as, loops, likely)
    function = Dispatcher(about).entry
    place = module or sys._getframe(1).f_globals["__name__"]
    function.describe(algorithm, place, help_text(algorithm, about.outputs))
    if registered:
        PUBLIC[algorithm.__name__] = function
    return function


class Dispatcher:
    """Answers the calls of a public function: by its kernel for the robot, by whole arrays, in JAX, or by the algorithm itself.

    Its ``entry`` has the public object, whose calls come here unless they repeat one for which a kernel is remembered.
    """

    def __init__(self, about: Public) -> None:
        algorithm = about.algorithm
        self.about, self.plain = about, checked(algorithm)
        self._called_by_jax: Kept[Callable[..., Any]] = Kept(KEPT)
        self._pullbacks: Kept[Kernel] = Kept(KEPT)
        parameters = inspect.signature(algorithm).parameters
        self._by_position = sum(p.kind is not p.KEYWORD_ONLY for p in parameters.values())
        self.entry = FastEntry(self.__call__, algorithm.__name__, list(parameters), self._by_position, about)

    def __call__(self, /, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """Any call; errors say the name of the function."""
        try:
            return self._answer(args, out, kwargs)
        except TorsorError as error:
            raise error.told_by(self.about.algorithm.__name__, (*args, *kwargs.values()))  # noqa: B904 the same error

    def _answer(self, args: tuple[Any, ...], out: Any, kwargs: dict[str, Any]) -> Any:
        robot = args[0] if args else kwargs.get("robot")
        if not isinstance(robot, Robot):
            got = "nothing" if robot is None else f"{type(robot).__name__} {robot!r:.60}"
            raise ArgumentTypeError(f"the first argument must be a torsor.Robot, got {got}.")
        if len(args) > self._by_position and (wrong := wrong_names(self.entry, args, kwargs)) is not None:
            raise wrong  # here, so that it names out= as well
        if foreign_among(*args[1:], *kwargs.values()):
            crossing = self._crossing(robot, args, out, kwargs)
            if foreign_among(*crossing.arrays.values()):
                return across(crossing)
        args, kwargs = tuple(map(_joined, args)), {name: _joined(value) for name, value in kwargs.items()}
        library = _library(args, kwargs)
        if library is None or not compiles():
            found = _uncompiled(self.about, self.plain, robot, args, kwargs)
        elif not robot.is_concrete:
            found = self._varied(robot, args, kwargs)
        elif library is np:
            return self._by_kernel(robot, args, out, kwargs)
        else:
            found = self._in_jax(robot, args, kwargs)
        return _into(self.about.outputs, out, found)

    def _by_kernel(self, robot: Robot, args: tuple[Any, ...], out: Any, kwargs: dict[str, Any]) -> Any:
        """With NumPy arrays: by machine code, or by whole arrays. The next call like this one is answered sooner."""
        about = self.about
        values = prepare(about.algorithm, args, kwargs)[0]
        request, arrays = request_of(about.algorithm, values)
        if (form := self._array_form(robot)) is not None:
            return about.outputs.gather(_in_arrays(about, form, request)(arrays, about.outputs.parts(out)))
        request, numbers, is_first = shared(about, request)
        codes = KERNELS.get((about, request.identity()), lambda: about.codes(request))
        codes.on_growth = KERNELS.trim
        kernel = native.NativeFunction(codes, lambda: about.program(request))
        result = about.outputs.gather(kernel([*arrays, *numbers], about.outputs.parts(out)))
        if not is_first:
            self._remember(values, request, kernel, numbers)  # now that it is known which of its codes is needed
        return result

    def _in_jax(self, robot: Robot, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """With JAX arrays: XLA calls the machine code, or NumPy for whole arrays."""
        about = self.about
        request, arrays = request_of(about.algorithm, prepare(about.algorithm, args, kwargs)[0])
        if (form := self._array_form(robot)) is not None:
            return about.outputs.gather(_in_arrays(about, form, request).in_jax(self.plain, arrays))
        made = self._called_by_jax.get(request.identity(), lambda: InJax(about, request, self.plain).function)
        return about.outputs.gather(made(*arrays))

    def _crossing(self, robot: Robot, args: tuple[Any, ...], out: Any, kwargs: dict[str, Any]) -> Crossing:
        """With arrays that a bridge takes: this very function with NumPy arrays, and its program pulled back for gradients."""
        about, signature = self.about, signature_of(self.about.algorithm)
        if not robot.is_concrete:
            raise ArgumentTypeError(
                "the robot's numbers are JAX's, and the arguments another library's: pass JAX arrays."
            )
        # Where a velocity is the rate of a configuration, both are counted by the same joints
        same = {"nq": "nv"} if robot.structure.has_plain_velocities else {}
        words = {name: tuple(same.get(x, x) for x in argument.axes) for name, argument in signature.arrays.items()}
        given = dict(zip(signature.names, args, strict=False)) | kwargs
        if len(given) < len(args) + len(kwargs) and (wrong := wrong_names(self.entry, args, kwargs)) is not None:
            raise wrong
        arrays, axes, template = taken_apart(words, given)
        results = (tuple(same.get(x, x) for x in axes) for axes in about.outputs.axes(about.algorithm))
        kind = about.outputs.kind
        parts = in_a_tuple if kind is None else tuple
        gather: Callable[..., Any] = alone if kind is None else kind._make  # type: ignore[attr-defined]
        evaluate = evaluated_by(self.entry, template, parts, gather)
        pullback = partial(self._pulled_back, template) if about.is_differentiated_for(robot) else None
        outputs = dict(zip(about.outputs.names, results, strict=True))
        return Crossing(arrays, axes, outputs, evaluate, gather, pullback, about.outputs.parts(out))

    def _pulled_back(self, template: Template, names: Sequence[str], arrays: Sequence[Any]) -> Kernel:
        """The kernel of the function's derivatives by some arrays, times weights of its results."""
        about = self.about
        request, _ = request_of(about.algorithm, prepare(about.algorithm, (), template.filled(arrays))[0])
        name = about.algorithm.__name__
        made = self._pullbacks.get(request.identity(), lambda: Kernel(name, about.program(request)))
        return made.pullback(*names)

    def _varied(self, robot: Robot, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """For a robot whose numbers JAX varies: a kernel of these where that is shorter, else the algorithm itself."""
        about = self.about
        by_arrays = about.arrays is not None and about.arrays.is_better_for(robot)
        if by_arrays or not varied_in_jax.varied_groups(robot) or jax_call.why_missing() is not None:
            return _uncompiled(about, self.plain, robot, args, kwargs)
        request, arrays = request_of(about.algorithm, prepare(about.algorithm, args, kwargs)[0])
        evaluated = partial(_evaluated, about, self.plain)
        return about.outputs.gather(varied_in_jax.evaluate(about, evaluated, request, arrays))

    def _array_form(self, robot: Robot) -> ArrayForm | None:
        """The form by whole arrays, if that is how the function is evaluated for a robot, which may be refused."""
        if (form := self.about.arrays_for(robot)) is not None:
            self.about.algorithms(robot)
        return form

    def _remember(
        self, values: dict[str, Any], request: Request, kernel: native.NativeFunction, numbers: list[Any]
    ) -> None:
        """Let the next call with the same robot, frame and kinds of numbers go straight to the kernel."""
        arrays = [Numbers(port.shape) for port in kernel.inputs]
        pattern = {**values, **request.arguments(arrays[: len(arrays) - len(numbers)])}
        if all(_is_remembered(name, x, request) for name, x in pattern.items()):
            self.entry.remember(pattern, kernel.target(self.about.outputs.kind, constants=numbers))


def _evaluated(about: Public, plain: Algorithm, robot: Robot, given: dict[str, Any]) -> Any:
    return _uncompiled(about, plain, robot, (robot,), given)


def _uncompiled(about: Public, plain: Algorithm, robot: Robot, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The algorithm itself; while tracing, the cheapest one in aligned frames, as when it is compiled alone, or a call of it."""
    if robot.is_concrete and _is_traced(args, kwargs):
        if IN_LOOPS.get() and (in_loops := _in_loops(about, robot, args, kwargs)) is not None:
            return checked(in_loops, called=about.algorithm)(*args, **kwargs)
        if (made := _called(about, robot, args, kwargs)) is not None:
            return made
    if about.rivals is not None:
        candidates = about.algorithms(robot)  # may refuse the robot
        if robot.is_concrete and _is_traced(args, kwargs):
            plain = checked(_cheapest(about, robot), called=about.algorithm)
        else:
            plain = plain if about.algorithm in candidates else checked(candidates[0], called=about.algorithm)
    if about.joint_space and robot.is_concrete and _is_traced(args, kwargs):
        robot = aligned(robot)
        args, kwargs = ((robot, *args[1:]), kwargs) if args else (args, {**kwargs, "robot": robot})
    # Plain numbers given to it are a state, not constants. What is not finite is answered with NaN, not with warnings.
    with exact_constants(_is_traced(args, kwargs)), np.errstate(all="ignore"):
        return plain(*args, **kwargs)


def _in_loops(about: Public, robot: Robot, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Algorithm | None:
    """The algorithm of a robot that runs as loops, if there is one that takes such arguments: of one state, its first ones."""
    algorithm = None if about.loops is None else about.loops(robot)
    if algorithm is None:
        return None
    values, batch = prepare(about.algorithm, args, kwargs)
    taken = inspect.signature(algorithm).parameters
    return algorithm if not batch and all(name in taken for name, x in values.items() if x is not None) else None


def _called(about: Public, robot: Robot, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """A long function of traced arrays as a call of its own program, which is compiled once; None where it is not one."""
    if about.arrays_for(robot) is not None:
        return None
    request, arrays = request_of(about.algorithm, prepare(about.algorithm, args, kwargs)[0])
    found = called(about.program(request), arrays)
    return None if found is None else about.outputs.gather(found)


@remembered(256)
def _cheapest(about: Public, robot: Robot) -> Algorithm:
    """The rival with the fewest operations for a robot, optional inputs apart."""
    candidates = about.likely_algorithms(robot)
    if len(candidates) == 1:
        return candidates[0]
    hints = inspect.signature(about.algorithm).parameters
    required = [n for n in signature_of(about.algorithm).arrays if hints[n].default is inspect.Parameter.empty]
    request = Request(robot, "float64", (), tuple((name, None) for name in required))
    return about.shortest(request)[0]


def _is_remembered(name: str, x: Any, request: Request) -> bool:
    """Whether a call is told from others by this argument: numbers, the robot, a name (of a frame), a task, None, True, False."""
    known = name in dict(request.layout) or x is None or type(x) in (str, bool)
    return known or isinstance(x, Robot) or hasattr(x, "key_for")


def _in_arrays(about: Public, form: ArrayForm, request: Request) -> InArrays:
    return InArrays(form, about.algorithm, about.outputs, request)


class InJax:
    """A public function for one request, as JAX calls it: its machine code, and the Jacobian that differentiates it."""

    def __init__(self, about: Public, request: Request, plain: Algorithm) -> None:
        self._about, self._request, self._plain = about, request._replace(robot=own(request.robot)), plain
        self._natives: dict[str, native.NativeFunction] = {}
        some = self.native(np.dtype(request.dtype))
        self.inputs = {port.name: port.shape for port in some.inputs}
        self.outputs = {port.name: port.shape for port in some.outputs}
        columns = min(sum(port.size for port in some.inputs), sum(port.size for port in some.outputs))
        too_large = columns * some.operations > JACOBIAN_MOST
        self.function = jax_call.jax_outputs(self, self._in_jax_numpy if too_large else None, self._push)

    def native(self, dtype: np.dtype[Any]) -> native.NativeFunction:
        """The machine code for one precision."""
        if dtype.name not in self._natives:
            request = self._request._replace(dtype=dtype.name)
            self._natives[dtype.name] = native.NativeFunction(
                self._about.codes(request), lambda: self._about.program(request)
            )
        return self._natives[dtype.name]

    def jacobian(self, output: str, *inputs: str) -> Kernel:
        """The derivatives of the result by inputs."""
        program = self._about.shortest(self._request)[1]
        return Kernel(self._about.algorithm.__name__, program).jacobian(output, *inputs)

    def _push(self, arrays: tuple[Any, ...], moving: dict[str, Any]) -> tuple[Any, ...] | None:
        """By the function's own derivatives, if the configuration moves: they are shorter than those of its program."""
        known, robot = self._about.derivatives, self._request.robot
        if known is None or known.inputs[0] not in moving or not set(moving) <= set(known.inputs):
            return None
        given = self._request.arguments(arrays)
        if not set(given) <= set(signature_of(_algorithm(known.name)).names):
            return None
        q = known.inputs[0]
        plain = robot.structure.has_plain_velocities
        changes = moving if plain else {**moving, q: _algorithm("velocity_of_rate")(robot, given[q], moving[q])}
        slopes = zip(known.inputs, _public(known.name)(robot, **given), strict=True)
        return (sum(matvec(slope, changes[name]) for name, slope in slopes if name in changes),)

    def _in_jax_numpy(self, *arrays: Any) -> tuple[Any, ...]:
        robot = self._request.robot
        result = _uncompiled(self._about, self._plain, robot, (robot,), self._request.arguments(arrays))
        return tuple(self._about.outputs.named(result).values())


def _public(name: str) -> Algorithm:
    """A public function by name: what differentiates another one may not have been used yet, and so not be imported."""
    if name not in PUBLIC:
        for place in ("kinematics", "derivatives"):
            import_module(f"torsor.functions.public.{place}")
    return PUBLIC[name]


def _algorithm(name: str) -> Algorithm:
    """The algorithm of a public function by name."""
    about = about_of(_public(name))
    assert about is not None
    return about.algorithm


def _library(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """NumPy, or ``jax.numpy`` where JAX can call kernels, if all arrays of a call are theirs; else None."""
    found: Any = np
    for value in (*args[1:], *kwargs.values()):
        inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple) else (value,)
        for part in inner:
            if type(part) is not np.ndarray and (own := namespace(part)) is not np:
                if own.__name__ != "jax.numpy":
                    return None
                found = own
    return found if found is np or jax_call.why_missing() is None else None


def _joined(value: Any) -> Any:
    """A list, or an array of objects, of numbers that are traced or JAX's as one array: np.array([q[0], q[1]]) of a traced q."""
    return as_numbers(value) if isinstance(value, (list, np.ndarray)) and is_foreign(value) else value


def _is_traced(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    return any(isinstance(value, TracedArray) for value in (*args, *kwargs.values()))


def _into(outputs: Outputs, out: Any, result: Any) -> Any:
    targets = outputs.parts(out)
    if targets is None:
        return result
    for (name, value), target in zip(outputs.named(result).items(), targets, strict=True):
        if target.shape != value.shape:
            raise ShapeError(f"out: `{name}` must have shape {value.shape}, got {target.shape}.")
        target[...] = value
    return outputs.gather(targets)
