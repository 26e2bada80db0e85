"""A small robot's equations of motion in closed form, as a textbook prints them."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from torsor.cli.robot_argument import add_robot, robot_of
from torsor.errors import ArgumentError, printable

if TYPE_CHECKING:
    from torsor.symbolic import Equations
    from torsor.symbolic.printed import Printed

EXAMPLES = """\
  torsor equations planar2r
  torsor equations cart_pole --coordinates x,theta --latex
  torsor equations planar2r --symbol r_1=L_1/2 --html equations.html
  torsor equations planar2r --steps
  torsor equations planar2r --task vx,vy
  cat arm.urdf | torsor equations - --numbers
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The robot, how to write its equations, and where."""
    add_robot(parser)
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
    from torsor.symbolic import equations

    names = options.coordinates.split(",")
    written = equations(
        robot_of(options),
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
            raise ArgumentError("--frame says whose kinematics the steps have: use it with --steps or --task vx,vy.")
        return written.geometry if options.geometry else written
    steps = written.derivation if options.frame is None else written.derivation.at(options.frame)
    return steps if options.task is None else steps.task(*options.task.split(","))


def _renaming(pair: str) -> tuple[str, Any]:
    from torsor.symbolic.naming import parsed, sympy_module

    old, sign, new = pair.partition("=")
    if not sign:
        raise ArgumentError(f"--symbol takes OLD=NEW, got {pair!r}.")
    new = new.strip()
    return old.strip(), new if new.isidentifier() or not new else parsed(sympy_module(), new)
