"""C of a public function or control law for one robot: one file with a self-test, and a header."""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torsor.cli.messages import say
from torsor.cli.robot_argument import add_robot, robot_of, words
from torsor.cli.torques import written
from torsor.cli.typed_numbers import typed
from torsor.errors import ArgumentError, unknown_name

if TYPE_CHECKING:
    from torsor.compiler.kernel import Kernel
    from torsor.model import Robot

EXAMPLES = """\
  torsor codegen panda inverse_dynamics -o arm_torques.c
  torsor codegen arm.urdf control.computed_torque --clamp -o controller.c
  torsor codegen arm.urdf control.pd_gravity --scalar kp,kd --float -o hold.c
  torsor codegen panda body_jacobian --frame hand_tcp
then:
  cc -std=c99 -DCONTROLLER_TEST controller.c -lm && ./a.out
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The robot, the function, what of it is fixed, and where to write."""
    add_robot(parser)
    parser.add_argument(
        "function", help="inverse_dynamics, control.computed_torque, … (torsor.dynamics, torsor.control, …)"
    )
    parser.add_argument(
        "-o", "--output", default="-", metavar="NAME.c", help="names the function, and its header NAME.h"
    )
    parser.add_argument("--frame", help="for functions of a frame")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="an input that is constant: kp=40"
    )
    parser.add_argument("--scalar", default="", metavar="NAMES", help="gains that are one number for all joints: kp,kd")
    parser.add_argument(
        "--clamp",
        nargs="?",
        const="limits",
        metavar="TAU",
        help="keep tau within the robot's effort limits, or within these numbers",
    )
    parser.add_argument("--float", action="store_true", help="float instead of double")


def run(options: argparse.Namespace) -> int:
    """Write the C."""
    from torsor.compiler.print import c
    from torsor.compiler.print.names import c_function, c_function_of

    robot, function = robot_of(options), _function(options.function)
    kernel = _kernel(robot, function, options)
    name = c_function(function.__name__) if options.output == "-" else c_function_of(Path(options.output))
    real, program = "float" if options.float else "double", kernel.program
    sources = c.emit_alone(program, name, real, *c.example_of(program), _about(robot, function, kernel, options))
    if options.output == "-":
        sys.stdout.write(sources.source)
        return 0
    paths = [Path(options.output).with_suffix(ending) for ending in (".c", ".h")]
    for path, text in zip(paths, (sources.source, sources.header), strict=True):
        with written(str(path)) as out:
            out.write(text)
    say(f"{paths[0]}, {paths[1].name}: {sum(kernel.count().values())} operations.")
    say(f"Self-test: cc -std=c99 -D{name.upper()}_TEST {paths[0]} -lm && ./a.out")
    return 0


def _function(typed_name: str) -> Callable[..., Any]:
    """A public function of a robot, by its name with or without its namespace."""
    import torsor
    from torsor._lazy import everywhere
    from torsor.functions.dispatch import about_of

    places = everywhere()
    bare = typed_name.removeprefix("torsor.")
    name = bare.rpartition(".")[2]
    known = {place.removeprefix("torsor.") for place in places.get(name, ())} | {name}
    found = attrgetter(places[name][0].removeprefix("torsor."))(torsor) if name in places and bare in known else None
    if found is None:
        raise _no_function(typed_name, bare.rpartition(".")[0], places)
    if about_of(found) is None and not getattr(found, "__module__", "").startswith("torsor.control._"):
        raise ArgumentError(
            f"codegen: {typed_name} is neither a function of a robot's state, such as inverse_dynamics, nor a control law, such "
            "as control.computed_torque."
        )
    return found  # type: ignore[no-any-return]


def _no_function(typed_name: str, namespace: str, places: dict[str, list[str]]) -> Exception:
    """The error for a name that is none of torsor's: those of its namespace, if that exists, or how to do it in Python."""
    listed = "torsor.kinematics, torsor.dynamics, torsor.control"
    if (name := typed_name.rpartition(".")[2]) in places:
        meant = [place.removeprefix("torsor.") for place in places[name]]
        return unknown_name("codegen", "function", typed_name, places, listed, meant=meant)
    inside = [name for name, where in places.items() if f"torsor.{namespace}.{name}" in where and name.islower()]
    if namespace and inside:
        return unknown_name(f"codegen: torsor.{namespace}", "function", typed_name, inside, ", ".join(sorted(inside)))
    if "/" in typed_name or ":" in typed_name or typed_name.endswith(".py"):
        return ArgumentError(
            f"codegen takes functions of torsor, got {typed_name!r:.60}. One of your own becomes C in Python: "
            "torsor.compile(function, robot, inputs).to_c(path)."
        )
    return unknown_name("codegen", "function", typed_name, filter(str.islower, places), listed)


def _kernel(robot: Robot, function: Callable[..., Any], options: argparse.Namespace) -> Kernel:
    """The function with constants in place, gains as numbers, and forces clamped."""
    import numpy as np

    import torsor
    from torsor.functions.compile import TracedCall

    fixed = {} if options.frame is None else {"frame": options.frame}
    try:
        call = TracedCall.of("compile", function, robot, None, (), fixed)
    except ArgumentError as error:
        if "inputs=" not in str(error):
            raise
        raise ArgumentError(
            f"codegen: {function.__name__} takes more than vectors of known size; in Python, wrap it in a function of your own "
            "and write torsor.compile(function, robot, inputs).to_c(path)."
        ) from None
    shapes = dict(call.shapes)
    for name in words(options.scalar):
        if name not in shapes:
            raise unknown_name(f"codegen: {function.__name__}", "input", name, shapes, ", ".join(shapes))
        shapes[name] = ()
    constants = {}
    for pair in options.set:
        name, _, value = (part.strip() for part in pair.partition("="))
        if name not in shapes:
            raise unknown_name(f"codegen: {function.__name__}", "input", name, shapes, ", ".join(shapes))
        constants[name] = np.squeeze(np.array(typed(value, f"--set {name}"), dtype=float))
        del shapes[name]
    most = None if options.clamp is None else _limits(robot, options.clamp)

    def generated(robot: Robot, **given: Any) -> dict[str, Any]:
        made = call.evaluate({**given, **constants}).outputs
        if list(made) == ["result"] and _described(function).get("", "").startswith("Joint forces"):
            made = {"tau": made["result"]}
        if most is not None:
            if "tau" not in made:
                raise ArgumentError(
                    f"codegen: --clamp is for joint forces; {function.__name__} gives {', '.join(made)}."
                )
            tau = made["tau"]
            made["tau"] = np.stack(
                [np.minimum(np.maximum(tau[k], -x), x) if np.isfinite(x) else tau[k] for k, x in enumerate(most)]
            )
        return made

    generated.__name__ = function.__name__
    return torsor.compile(generated, robot, shapes)


def _limits(robot: Robot, text: str) -> Any:
    import numpy as np

    if text == "limits":
        most = np.array(robot.limits.effort, dtype=float)
        if not np.any(np.isfinite(most)):
            raise ArgumentError(f"codegen: robot {robot.name!r} has no effort limits; type them: --clamp 87,87,12.")
        return most
    most = np.abs(np.array(typed(text, "--clamp"), dtype=float))
    return np.full(robot.nv, most[0]) if most.shape == (1,) else _as_many(robot, most)


def _as_many(robot: Robot, most: Any) -> Any:
    if most.shape != (robot.nv,):
        raise ArgumentError(f"codegen: --clamp takes one number or {robot.nv}, got {most.size}.")
    return most


# What the comment says


def _about(robot: Robot, function: Callable[..., Any], kernel: Kernel, options: argparse.Namespace) -> list[str]:
    """Where the code comes from, what the numbers are, and in which order."""
    import torsor

    said = _described(function)
    lines = [
        f"Made by torsor {torsor.__version__}: {_place(function)} of robot {robot.name}, digest {robot.digest[:16]}.",
        f"{(inspect.getdoc(function) or '').partition(chr(10))[0]}",
        f"Joints, in the order of all vectors: {', '.join(robot.structure.freedoms)}.",
        "Units: m, kg, s, rad, N, N m.",
    ]
    if options.frame is not None:
        lines.append(f"Frame: {options.frame}.")
    for name in kernel.inputs:
        if name in said:
            lines.append(f"{name}: {said[name]}")
    if "" in said:
        lines.append(f"{', '.join(kernel.outputs)}: {said['']}")
    lines += [f"{pair.strip()} is constant." for pair in options.set]
    if options.clamp is not None:
        most = ", ".join(f"{x:g}" for x in _limits(robot, options.clamp))
        lines.append(f"tau is kept within plus or minus ({most}).")
    return lines


def _place(function: Callable[..., Any]) -> str:
    from torsor._lazy import everywhere

    return everywhere()[function.__name__][0]


def _described(function: Callable[..., Any]) -> dict[str, str]:
    """What the docstring says of each parameter, and of the result (under the name "")."""
    sections = re.split(r"\n(\w+)\n-{4,}\n", inspect.getdoc(function) or "")
    bodies = dict(zip(sections[1::2], sections[2::2], strict=False))
    said: dict[str, str] = {}
    for names, text in re.findall(r"^(\S[^\n]*)\n((?:    [^\n]*\n?)+)", bodies.get("Parameters", ""), re.MULTILINE):
        for name in names.partition(" : ")[0].split(","):
            said[name.strip()] = " ".join(text.split())
    if (result := re.match(r"[^\n]*\n((?:    [^\n]*\n?)+)", bodies.get("Returns", ""))) is not None:
        said[""] = " ".join(result[1].split())
    return said
