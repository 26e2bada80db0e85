"""`torsor.compile` and `torsor.scan`: any function built from ours, as one kernel, or as a loop over time."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import index
from typing import Any, NamedTuple

from torsor._lazy import everywhere
from torsor.border import explained
from torsor.border.arrays import signature_of
from torsor.compiler.graph import Op
from torsor.compiler.kernel import Kernel
from torsor.compiler.print.scan import Roles
from torsor.compiler.scan import Scan
from torsor.compiler.simplify import Level
from torsor.compiler.trace import named_outputs, trace
from torsor.errors import ArgumentError, ArgumentTypeError, unknown_name
from torsor.functions.argument_names import check_inputs, check_outputs
from torsor.functions.describe import Public
from torsor.functions.dispatch import IN_LOOPS, PUBLIC, about_of
from torsor.model import Parameters, Robot
from torsor.model.parameters import unknown_group


@explained
def compile(
    function: Callable[..., Any],
    robot: Robot,
    inputs: Mapping[str, tuple[int, ...] | int] | None = None,
    *,
    parameters: Sequence[str] = (),
    small: bool = False,
    **fixed: Any,
) -> Kernel:
    """The kernel of ``function(robot, **inputs, **fixed)``: traced once, compiled for this machine, differentiable, exportable.

    Parameters
    ----------
    function : function
        One of torsor's, or any of yours built from them and NumPy functions (a controller, say). It may return one array,
        several, a dict or a named tuple, whose keys name the outputs.
    robot : Robot
    inputs : mapping of names to shapes, optional
        The array arguments of the function. Those that say themselves what they are may be left out: arguments of torsor's
        functions and control laws, annotated ones, and others by their name: q, q_ref, … are configurations, v, a, tau, v_ref,
        … one number for each degree of freedom. What has a default keeps it.
    parameters : sequence of str
        Groups of the robot's numbers (inertias, gravity, screws, …: `torsor.model.Parameters`) that become inputs of the kernel
        instead of constants.
    small : bool
        Little code, which takes two to three times as long, for C on a micro-controller: loops over the links instead of
        operations one by one, where there are such forms. Inverse dynamics of a chain of revolute joints has one; long chains
        whose axes are skew to each other take it in any case, for there it is the faster.
    **fixed
        Arguments that are no arrays, such as ``frame="tool"``.

    Returns
    -------
    Kernel
        Called with the inputs in order or by name, for one state or a batch.
    """
    call = TracedCall.of("compile", function, robot, inputs, parameters, fixed)
    in_loops = IN_LOOPS.set(small)
    try:
        program = trace(lambda **given: call.evaluate(given).outputs, call.inputs, Level.FULL)
    finally:
        IN_LOOPS.reset(in_loops)
    if small and not any(op is Op.BLOCK for op in program.graph.ops):
        raise ArgumentError(
            f"nothing in {call.name} has a small form for robot {robot.name!r}; inverse_dynamics of a chain of revolute "
            "joints has. Leave small=True out."
        )
    return Kernel(f"{call.name} of {robot.name}", program)


class Evaluated(NamedTuple):
    """One evaluation of a traced call: the robot and the inputs it was made with, and its outputs by name."""

    robot: Robot
    given: dict[str, Any]
    outputs: dict[str, Any]


class TracedCall(NamedTuple):
    """A function to be traced for a robot: the shapes of its inputs, and of the groups of the robot's numbers that are inputs."""

    function: Callable[..., Any]
    robot: Robot
    about: Public | None
    shapes: dict[str, tuple[int, ...]]
    groups: dict[str, tuple[int, ...]]
    fixed: dict[str, Any]

    @classmethod
    def of(
        cls,
        where: str,
        function: Callable[..., Any],
        robot: Robot,
        inputs: Mapping[str, tuple[int, ...] | int] | None,
        parameters: Iterable[str],
        fixed: dict[str, Any],
    ) -> TracedCall:
        """What is asked for, checked."""
        if not isinstance(robot, Robot):
            raise ArgumentTypeError(
                f"the second argument must be a torsor.Robot, got {type(robot).__name__} {robot!r:.60}."
            )
        if not callable(function):
            hint = (
                f": {everywhere()[function][0]}, without quotes"
                if isinstance(function, str) and function in PUBLIC
                else ""
            )
            raise ArgumentTypeError(
                f"the first argument must be a function{hint}, got {type(function).__name__} {function!r:.60}."
            )
        about = about_of(function)
        shapes = _shapes(function, about, robot, inputs, fixed)
        check_inputs(shapes, taken=("out",))
        for name in shapes.keys() & fixed.keys():
            raise ArgumentError(f"{name!r} is given twice, as an input and as {name}={fixed[name]!r:.40}.")
        groups: dict[str, tuple[int, ...]] = {}
        for group in [parameters] if isinstance(parameters, str) else parameters:
            if group not in Parameters._fields:
                raise unknown_group("a robot", group)
            if group in shapes:
                raise ArgumentError(f"{group!r} is both an input and a group of parameters.")
            groups[group] = tuple(getattr(robot.parameters, group).shape)
        if about is not None:
            _refuse_wrong_arguments(where, about.algorithm, robot, {**shapes, **fixed})
        else:
            _refuse_wrong_signature(function, [*shapes, *fixed])
        return cls(function, robot, about, shapes, groups, fixed)

    @property
    def name(self) -> str:
        """The name of the function."""
        return _name(self.function)

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Shapes of all inputs of the program."""
        return {**self.shapes, **self.groups}

    def evaluate(self, given: dict[str, Any]) -> Evaluated:
        """The function of traced arrays."""
        own = {group: given.pop(group) for group in self.groups}
        varied = Robot(self.robot.structure, self.robot.parameters._replace(**own)) if own else self.robot
        result = self.function(varied, **given, **self.fixed)
        if self.about is not None:
            return Evaluated(varied, given, self.about.outputs.named(result))
        outputs = named_outputs(result)
        check_outputs(outputs)
        return Evaluated(varied, given, outputs)


@explained
def scan(
    step: Callable[..., Any],
    robot: Robot,
    state: Mapping[str, tuple[int, ...] | int],
    *,
    inputs: Mapping[str, tuple[int, ...] | int] | None = None,
    constants: Mapping[str, tuple[int, ...] | int] | None = None,
) -> Scan:
    """A loop over time in machine code: ``step(robot, **state, **inputs, **constants)`` gives the next state, N times.

    Parameters
    ----------
    step : function
        It returns a dict: first the state, by the same names, then whatever else is to be saved.
    robot : Robot
    state : mapping of names to shapes
        What a step takes and gives.
    inputs : mapping of names to shapes, optional
        What changes with every step.
    constants : mapping of names to shapes, optional
        What is the same in all steps.

    Returns
    -------
    Scan
        The loop, which is run as in ::

            rollout = torsor.scan(step, arm, {"q": arm.nq, "v": arm.nv}, constants={"target": arm.nq})
            path = rollout(steps=1000, every=10, q=q0, v=v0, target=goals)   # path["q"]: (..., 100, nq)
    """
    if not isinstance(robot, Robot):
        raise ArgumentTypeError(
            f"the second argument must be a torsor.Robot, got {type(robot).__name__} {robot!r:.60}."
        )
    if not callable(step):
        raise ArgumentTypeError(f"the first argument must be a function, got {type(step).__name__} {step!r:.60}.")
    groups = [_tuples({} if group is None else group) for group in (state, inputs, constants)]
    shapes: dict[str, tuple[int, ...]] = {}
    for group in groups:
        check_inputs(group, taken=("steps", "every", "out"))
        for name in shapes.keys() & group.keys():
            raise ArgumentError(f"{name!r} is given twice; a name is of the state, of the inputs or of the constants.")
        shapes |= group
    _refuse_wrong_signature(step, list(shapes))

    def run(**given: Any) -> dict[str, Any]:
        outputs = named_outputs(step(robot, **given))
        check_outputs(outputs)
        return outputs

    program = trace(run, shapes, Level.FULL)
    roles = Roles(len(groups[0]), len(groups[1]), len(groups[2]))
    return Scan(f"{_name(step)} of {robot.name}", program, roles)


def _tuples(shapes: Mapping[str, tuple[int, ...] | int]) -> dict[str, tuple[int, ...]]:
    try:
        return {key: (shape,) if isinstance(shape, int) else tuple(map(index, shape)) for key, shape in shapes.items()}
    except (AttributeError, TypeError) as error:
        raise ArgumentError(
            f"inputs must be a dict of names and shapes, such as {{'q': 7, 'T': (4, 4), 'gain': ()}}, got {shapes!r:.80}."
        ) from error


def _refuse_wrong_arguments(where: str, algorithm: Callable[..., Any], robot: Robot, given: Mapping[str, Any]) -> None:
    """One of torsor's functions takes what is given to it, and is given what it takes."""
    takes = list(inspect.signature(algorithm).parameters.values())[1:]
    for name in given:
        if name not in (known := [parameter.name for parameter in takes]):
            raise unknown_name(algorithm.__name__, "argument", name, known, ", ".join(known))
    missing = [p.name for p in takes if p.default is inspect.Parameter.empty and p.name not in given]
    if missing:
        example = f"{missing[0]}={robot.frames[-1]!r}" if missing[0] == "frame" else f"{missing[0]}=…"
        raise ArgumentError(
            f"{algorithm.__name__} also needs {', '.join(missing)}; say which, as in "
            f"torsor.{where}({everywhere()[algorithm.__name__][0]}, robot, …, {example})."
        )


def _refuse_wrong_signature(function: Callable[..., Any], names: Sequence[str]) -> None:
    """A function of the user's can be called with a robot and what is given to it."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of some builtin functions nothing is known
        return
    own, first = _name(function), next(iter(signature.parameters), "robot")
    forgotten = first in ("q", "v", "tau")  # such an argument would get the robot, perhaps without ever being looked at
    listed = ", ".join(dict.fromkeys([first, *names] if forgotten else names))
    right = f"lambda robot, {listed}: …" if own == "<lambda>" else f"def {own}(robot, {listed})"
    if forgotten:
        raise ArgumentTypeError(
            f"{own}{signature} gets the robot as its first argument, which here is called `{first}`. Write {right}."
        )
    try:
        signature.bind(None, **dict.fromkeys(names))
    except TypeError as error:
        raise ArgumentTypeError(
            f"{own}{signature} cannot be called with the robot first and then {', '.join(names) or 'nothing'} by name "
            f"({error}). Write {right}."
        ) from None


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _shapes(
    function: Callable[..., Any],
    about: Public | None,
    robot: Robot,
    inputs: Mapping[str, tuple[int, ...] | int] | None,
    fixed: Mapping[str, Any],
) -> dict[str, tuple[int, ...]]:
    """Shapes of the inputs: as they are given, or what a function says of its arguments."""
    given = {} if inputs is None else _tuples(inputs)
    if about is not None:
        return given if inputs is not None else _required_shapes(about.algorithm, robot)
    shapes, unknown, required = {}, [], _required_names(function)
    if inputs is None and not required:
        example = {"q": (robot.nq,), "v": (robot.nv,)}
        raise ArgumentError(
            f"say what {_name(function)} takes, as inputs={{name: shape}}; for instance inputs={example}."
        )
    for name in required:
        if name in given or name in fixed:
            continue
        if (shape := _shape_of_argument(function, name, robot)) is None:
            unknown.append(name)
        else:
            shapes[name] = shape
    if unknown:
        example = {name: (robot.nv,) for name in unknown}
        raise ArgumentError(
            f"say of what shape {', '.join(f'`{name}`' for name in unknown)} of {_name(function)} "
            f"{'is' if len(unknown) == 1 else 'are'}, as inputs={{name: shape}}; for instance inputs={example}."
        )
    known = {**shapes, **given}
    return {name: known[name] for name in [*required, *(x for x in given if x not in required)] if name in known}


def _required_names(function: Callable[..., Any]) -> list[str]:
    """The arguments after the robot that a function of the user's cannot do without; none if it does not say."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[1:]
    except (TypeError, ValueError):  # of some builtin functions nothing is known
        return []
    some = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is inspect.Parameter.empty and p.kind not in some]


def _shape_of_argument(function: Callable[..., Any], name: str, robot: Robot) -> tuple[int, ...] | None:
    """What an argument's annotation says, or its name: q… is a configuration, v…, a… and tau… belong to the freedoms."""
    try:
        argument = signature_of(function).arrays.get(name)
    except (NameError, TypeError, AttributeError):  # annotations that cannot be read
        argument = None
    if argument is not None and argument.container is None and "*" not in argument.axes:
        return tuple(int(axis) if axis.isdigit() else int(getattr(robot, axis)) for axis in argument.axes)
    size = {"q": robot.nq, "v": robot.nv, "a": robot.nv, "tau": robot.nv}.get(name.rstrip("0123456789").split("_")[0])
    return None if size is None else (size,)


def _required_shapes(algorithm: Callable[..., Any], robot: Robot) -> dict[str, tuple[int, ...]]:
    """Shapes, for a robot, of the array arguments that an algorithm cannot do without."""
    required = {name: argument for name, argument in signature_of(algorithm).arrays.items() if argument.required}
    for name in (name for name, argument in required.items() if argument.container is not None):
        own, frame = algorithm.__name__, robot.frames[-1]
        raise ArgumentError(
            f"`{name}` of {own} maps frames to arrays; say which frames, by a function of your own, for instance "
            f"lambda robot, q, F: {everywhere()[own][0]}(robot, q, {{{frame!r}: F}}) with inputs={{'q': {robot.nq}, 'F': 6}}."
        )
    for name in (name for name, argument in required.items() if "*" in argument.axes):
        raise ArgumentError(
            f"{algorithm.__name__} takes `{name}` of any size; say of which, as inputs={{name: shape}}."
        )
    return {
        name: tuple(int(axis) if axis.isdigit() else getattr(robot, axis) for axis in argument.axes)
        for name, argument in required.items()
    }
