"""The robot that most commands take: a file, standard input, one of torsor's own, or one of robot_descriptions."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torsor
from torsor.errors import ArgumentError

if TYPE_CHECKING:
    from torsor.model import Robot

STANDARD_INPUT = "-"
MOST_BYTES = 2**26  # more than `torsor.load` takes


def add_robot(parser: argparse.ArgumentParser, **more: Any) -> None:
    """The robot, and how to load it."""
    parser.add_argument(
        "robot",
        help="a robot file (URDF, MJCF, torsor's JSON or YAML), - for standard input, one of torsor's own "
        f"({', '.join(sorted(OWN))}), or a name of robot_descriptions (panda_description)",
        **more,
    )
    group = parser.add_argument_group("how the robot is loaded")
    group.add_argument("--base", choices=("fixed", "floating"), default="fixed", help="how the root link is held")
    group.add_argument("--lock", action="append", default=[], metavar="JOINT=VALUE", help="hold a joint, rad or m")
    group.add_argument("--repair", default="", metavar="RULES", help='rules to repair instead of refusing, or "all"')
    group.add_argument("--accept", default="", metavar="RULES", help="errors to accept, with the file's own numbers")


def robot_of(options: argparse.Namespace) -> Robot:
    """The robot that the options name. Warnings are left to ``torsor check``."""
    lock = dict(_locked(pair) for pair in options.lock)
    given = source_of(options.robot)
    if callable(given):
        if options.base == "floating":
            raise ArgumentError(f"--base floating is for robot files; {options.robot!r:.60} is one of torsor's own.")
        robot: Robot = given()
        return robot.lock(lock) if lock else robot
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", torsor.ModelWarning)
        return torsor.load(
            given, base=options.base, lock=lock, repair=words(options.repair), accept=words(options.accept)
        )


def source_of(name: str) -> str | Path | Callable[[], Robot]:
    """What ``torsor.load`` takes for what was typed, or a function that makes one of torsor's own robots."""
    if name == STANDARD_INPUT:
        return text_of_standard_input()
    if os.path.lexists(name):
        return Path(name)
    if name in OWN:
        return OWN[name]
    if name.isidentifier() and not name.endswith("_description"):
        near = get_close_matches(name, OWN, n=1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        raise ArgumentError(
            f"{name}: there is no such file, nor a robot of that name: {', '.join(sorted(OWN))}.{meant}"
        )
    return name if name.isidentifier() else Path(name)


def text_of_standard_input() -> str:
    """A robot file that is piped in: always a text, never the name of another file."""
    stream = getattr(sys.stdin, "buffer", None)
    content = stream.read(MOST_BYTES) if stream is not None else sys.stdin.read(MOST_BYTES).encode()
    try:
        return str(content.decode("utf-8-sig")) + "\n"
    except UnicodeDecodeError:
        raise ArgumentError("standard input must be a robot file in UTF-8; pass others by their path.") from None


def words(text: str) -> list[str]:
    """Words separated by commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def _locked(pair: str) -> tuple[str, float]:
    name, _, value = pair.rpartition("=")
    try:
        return name, float(value if name else "")
    except ValueError:
        raise ArgumentError(f"--lock takes JOINT=VALUE, as in --lock elbow=0.3, got {pair!r:.60}.") from None


def _polar() -> Robot:
    """A link that turns about z, and a point mass that slides along it, in a vertical plane."""
    turning = torsor.Inertia(1.0, (0.2, 0.0, 0.0), ((0.0, 0.0, 0.0), (0.0, 0.02, 0.0), (0.0, 0.0, 0.02)))
    joints = [
        torsor.Joint(name="turn", kind="revolute", axis=(0, 0, 1), inertia=turning),
        torsor.Joint(
            name="slide", kind="prismatic", axis=(1, 0, 0), parent="turn_link", inertia=torsor.Inertia.point(1.0)
        ),
    ]
    return torsor.assemble(joints, name="polar_arm", gravity=(0.0, -9.81, 0.0))


def _spatial3r() -> Robot:
    """An elbow arm: a vertical axis, two horizontal ones, point masses at the ends of its links."""
    table = [(0.0, 1.5707963267948966, 0.4, 0.0), (0.5, 0.0, 0.0, 0.0), (0.4, 0.0, 0.0, 0.0)]
    bodies = [torsor.Inertia.point(m) for m in (1.0, 1.0, 1.0)]
    return torsor.dh_chain(table, bodies, convention="standard", name="spatial3r")


OWN: dict[str, Callable[[], Robot]] = {
    "cart_pole": lambda: torsor.robots.cart_pole(),
    "iiwa": lambda: torsor.robots.iiwa(),
    "panda": lambda: torsor.robots.panda(),
    "pendulum": lambda: torsor.robots.pendulum(),
    "planar2r": lambda: torsor.robots.planar2r(),
    "planar3r": lambda: torsor.robots.planar_chain([1.0, 1.0, 1.0], [1.0, 1.0, 1.0], name="planar3r"),
    "polar_arm": _polar,
    "puma560": lambda: torsor.robots.puma560(),
    "spatial3r": _spatial3r,
    "ur5": lambda: torsor.robots.ur5(),
}
