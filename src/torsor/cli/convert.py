"""A robot file in another format, and what that format cannot say."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torsor.cli.messages import say
from torsor.cli.robot_argument import add_robot, robot_of, words
from torsor.cli.torques import written
from torsor.errors import ArgumentError, MissingDependency, TorsorError

if TYPE_CHECKING:
    from torsor.model import Robot

ENDINGS = {".urdf": "urdf", ".xml": "mjcf", ".mjcf": "mjcf", ".json": "json", ".yaml": "yaml", ".yml": "yaml"}
EXAMPLES = """\
  torsor convert arm.urdf arm.xml
  torsor convert arm.xml arm.urdf --drop armature,springs
  torsor convert panda - --to yaml
  cat arm.urdf | torsor convert - arm.json
"""
# What is compared after reading the new file again: the field, its name, and what a difference is measured in.
PARAMETERS = (
    ("inertias", "inertias of links"),
    ("gravity", "gravity"),
    ("armature", "armature"),
    ("viscous_friction", "viscous friction"),
    ("coulomb_friction", "Coulomb friction"),
    ("stiffness", "springs"),
    ("rest", "rest positions of springs"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The robot, the new file, and what may be left out."""
    add_robot(parser)
    parser.add_argument(
        "output", metavar="OUT", help=".urdf, .xml (MJCF), .json or .yaml; - for standard output, with --to"
    )
    parser.add_argument(
        "--to", choices=("urdf", "mjcf", "json", "yaml"), help="the format, if the name does not say it"
    )
    parser.add_argument(
        "--drop",
        default="",
        metavar="WORDS",
        help="what URDF cannot say and may be left out: gravity, armature, springs, coulomb width, joint order, friction, "
        "limits, separated by commas",
    )


def run(options: argparse.Namespace) -> int:
    """Write the file, and say what it lacks."""
    kind = options.to or ENDINGS.get(Path(options.output).suffix.lower())
    if kind is None:
        raise ArgumentError(
            f"convert: say the format, --to urdf, mjcf, json or yaml: {options.output!r:.60} ends in none of "
            f"{', '.join(ENDINGS)}."
        )
    if options.drop and kind != "urdf":
        raise ArgumentError(f"convert: --drop is for URDF; {kind} says or refuses by itself.")
    robot = robot_of(options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        text = robot.to_urdf(drop=words(options.drop)) if kind == "urdf" else getattr(robot, f"to_{kind}")()
    with written(options.output) as out:
        out.write(text)
        if out is sys.stdout and not text.endswith("\n"):
            out.write("\n")
    for warning in caught:
        say(str(warning.message))
    for line in lost(robot, text, kind, options.base):
        say(line)
    return 0


def lost(robot: Robot, text: str, kind: str, base: str) -> list[str]:
    """What the new file does not say, found by reading it again."""
    import torsor

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = torsor.load(text, format=kind, base=_base_to_read(robot, kind, base))
    except MissingDependency as error:
        return [f"The file was written, but not read again to compare: {error}"]
    except TorsorError as error:
        return [f"The file was written, but cannot be read again: {error}"]
    found = _differences(robot, again)
    if not found:
        return [f"Read again, the {kind.upper()} is the same robot."]
    return [f"The {kind.upper()} does not keep: {'; '.join(found)}."]


def _base_to_read(robot: Robot, kind: str, base: str) -> str:
    """URDF does not say how its root is held; the other formats write it as a joint."""
    return base if kind == "urdf" and robot.source is not None else "fixed"


def _differences(robot: Robot, again: Robot) -> list[str]:
    import numpy as np

    s, t = robot.structure, again.structure
    found = [] if robot.name == again.name else [f"the robot's name (now {again.name!r})"]
    if set(s.freedoms) != set(t.freedoms):
        return [*found, f"the joints (now {', '.join(t.freedoms[:8])}{', …' if len(t.freedoms) > 8 else ''})"]
    if s.freedoms != t.freedoms:
        return [*found, "the order of joints"]
    for name in ("lower", "upper", "velocity", "effort"):
        if not _equal(getattr(s.limits, name), getattr(t.limits, name)):
            found.append(f"{name} limits")
    for name, words_for in PARAMETERS:
        ours, theirs = getattr(robot.parameters, name), getattr(again.parameters, name)
        if np.shape(ours) == np.shape(theirs) and not _equal(ours, theirs):
            found.append(words_for)
    if s.coulomb_width != t.coulomb_width:
        found.append("the width of Coulomb friction")
    missing = [name for name in robot.frames if name not in again.frames]
    if missing:
        found.append(f"frames {', '.join(missing[:8])}{', …' if len(missing) > 8 else ''}")
    if len(again.visuals) < len(robot.visuals):
        found.append(f"{len(robot.visuals) - len(again.visuals)} of {len(robot.visuals)} shapes to look at")
    return found


def _equal(ours: Any, theirs: Any) -> bool:
    import numpy as np

    one, other = np.asarray(ours, float), np.asarray(theirs, float)
    size = np.abs(one[np.isfinite(one)]).max(
        initial=1.0
    )  # other formats write other numbers for it: rounding is no loss
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=1e-9, atol=1e-12 * size))
