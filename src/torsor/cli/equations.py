"""A small robot's equations of motion in closed form, as a textbook prints them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torsor
from torsor.cli.main import add_robot, robot_of
from torsor.errors import printable
from torsor.symbolic import Equations, equations
from torsor.symbolic.naming import parsed, sympy_module
from torsor.symbolic.printed import Printed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The robot, how to write its equations, and where."""
    add_robot(parser, "--robot", ", ".join(sorted(SMALL)), required=True)
    parser.add_argument("--coordinates", default="q", metavar="NAMES", help='"theta", or a name for each: x,theta')
    parser.add_argument(
        "--symbol",
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="another name for a symbol, or an expression: r_2=l_c2, r_1=L_1/2",
    )
    parser.add_argument("--numbers", action="store_true", help="keep the robot's numbers instead of symbols")
    parser.add_argument("--force", action="store_true", help="also for robots whose equations nobody can read")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--geometry",
        action="store_true",
        help="the Christoffel symbols and the curvature of the mass matrix, instead of the equations of motion",
    )
    instead.add_argument(
        "--steps",
        action="store_true",
        help="step by step: kinematics, energies, Lagrangian, its slopes, M, C, g, forces",
    )
    instead.add_argument(
        "--task", metavar="ROWS", help="inertia and bias of a task, of wx,wy,wz,vx,vy,vz as many rows as joints: vx,vy"
    )
    parser.add_argument("--frame", metavar="NAME", help="with --steps or --task: of which frame (the tip)")
    parser.add_argument("--latex", action="store_true", help="print LaTeX instead of plain text")
    parser.add_argument("--html", metavar="PATH", help="write a page")
    parser.add_argument("--png", metavar="PATH", help="write a picture (needs matplotlib)")


def run(options: argparse.Namespace) -> int:
    """Print the equations, and write them where asked."""
    builder = SMALL.get(options.robot)
    if builder is None and options.robot not in LARGER and not Path(options.robot).exists():
        raise torsor.ArgumentError(
            f"{options.robot}: there is no such file, nor a robot of that name: {', '.join(sorted([*SMALL, *LARGER]))}."
        )
    robot = robot_of(options) if builder is None else builder()
    names = options.coordinates.split(",")
    written = equations(
        robot,
        symbols=dict(_renaming(pair) for pair in options.symbol),
        coordinates=names[0] if len(names) == 1 else names,
        numbers=options.numbers,
        force=options.force,
    )
    found = _chosen(written, options)
    sys.stdout.write((found.latex() if options.latex else str(found)) + "\n")
    if options.html:
        sys.stdout.write(f"page: {printable(str(found.to_html(options.html)))}\n")
    if options.png:
        sys.stdout.write(f"picture: {printable(str(found.to_png(options.png)))}\n")
    return 0


def _chosen(written: Equations, options: argparse.Namespace) -> Printed:
    """What of the equations is asked for."""
    if not options.steps and options.task is None:
        if options.frame is not None:
            raise torsor.ArgumentError(
                "--frame says whose kinematics the steps have: use it with --steps or --task vx,vy."
            )
        return written.geometry if options.geometry else written
    steps = written.derivation if options.frame is None else written.derivation.at(options.frame)
    return steps if options.task is None else steps.task(*options.task.split(","))


def _renaming(pair: str) -> tuple[str, Any]:
    old, sign, new = pair.partition("=")
    if not sign:
        raise torsor.ArgumentError(f"--symbol takes OLD=NEW, got {pair!r}.")
    new = new.strip()
    return old.strip(), new if new.isidentifier() or not new else parsed(sympy_module(), new)


def _polar() -> torsor.Robot:
    """A link that turns about z, and a point mass that slides along it, in a vertical plane."""
    turning = torsor.Inertia(1.0, (0.2, 0.0, 0.0), ((0.0, 0.0, 0.0), (0.0, 0.02, 0.0), (0.0, 0.0, 0.02)))
    joints = [
        torsor.Joint(name="turn", kind="revolute", axis=(0, 0, 1), inertia=turning),
        torsor.Joint(
            name="slide", kind="prismatic", axis=(1, 0, 0), parent="turn_link", inertia=torsor.Inertia.point(1.0)
        ),
    ]
    return torsor.assemble(joints, name="polar_arm", gravity=(0.0, -9.81, 0.0))


def _spatial3r() -> torsor.Robot:
    """An elbow arm: a vertical axis, two horizontal ones, point masses at the ends of its links."""
    table = [(0.0, 1.5707963267948966, 0.4, 0.0), (0.5, 0.0, 0.0, 0.0), (0.4, 0.0, 0.0, 0.0)]
    bodies = [torsor.Inertia.point(m) for m in (1.0, 1.0, 1.0)]
    return torsor.dh_chain(table, bodies, convention="standard", name="spatial3r")


SMALL: dict[str, Callable[[], torsor.Robot]] = {
    "pendulum": torsor.robots.pendulum,
    "planar2r": torsor.robots.planar2r,
    "planar3r": lambda: torsor.robots.planar_chain([1.0, 1.0, 1.0], [1.0, 1.0, 1.0], name="planar3r"),
    "cart_pole": torsor.robots.cart_pole,
    "polar_arm": _polar,
    "spatial3r": _spatial3r,
}
LARGER = ("iiwa", "panda", "puma560", "ur5")
