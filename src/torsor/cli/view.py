"""A robot, and a motion of it, in three dimensions: in the browser, as a page, or as a picture."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torsor.cli.messages import say
from torsor.cli.robot_argument import add_robot, robot_of
from torsor.cli.typed_numbers import configuration
from torsor.errors import ArgumentError

if TYPE_CHECKING:
    from torsor.model import Robot
    from torsor.motion.trajectory import Trajectory

EXAMPLES = """\
  torsor view arm.urdf --open
  torsor view panda run.npz --ghost planned.npz
  torsor view panda run.csv --html run.html
  torsor view arm.urdf --meshes ~/ros/src --image arm.png
"""
ENDINGS = (".npz", ".csv", ".parquet")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The robot, a motion, and where to show it."""
    add_robot(parser)
    parser.add_argument(
        "motion", nargs="?", metavar="RUN", help=f"a trajectory: {', '.join(ENDINGS)} of torsor simulate"
    )
    parser.add_argument("--ghost", metavar="RUN", help="a second motion, which is seen through")
    parser.add_argument("--start", metavar="Q", help="where the robot stands at first; see torsor simulate --help")
    parser.add_argument("--meshes", action="append", default=[], metavar="DIR", help="where meshes of the file may be")
    parser.add_argument("--html", metavar="PATH", help="write a page that plays anywhere, instead of serving one")
    parser.add_argument("--image", metavar="PATH", help="write a picture, instead of serving a page")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0 lets everyone who reaches this computer look")
    parser.add_argument("--port", type=int, help="default: the first free one from 8080 on")


def run(options: argparse.Namespace) -> int:
    """Show it until Ctrl-C, or write it."""
    import torsor

    robot = robot_of(options)
    motion, ghost = (None if path is None else _trajectory(robot, path) for path in (options.motion, options.ghost))
    more: dict[str, Any] = {} if options.start is None else {"q": configuration(robot, options.start, "--start")}
    if serve := options.html is None and options.image is None:
        more |= {"host": options.host, "port": options.port, "open_browser": options.open}
    viewer = torsor.view(robot, motion, ghost=ghost, mesh_roots=options.meshes, serve=serve, **more)
    try:
        if options.html is not None:
            say(f"page: {viewer.html(options.html)}")
        if options.image is not None:
            say(f"picture: {viewer.image(options.image)}")
        if serve:
            _wait(viewer)
    finally:
        viewer.close()
    return 0


def _wait(viewer: Any) -> None:
    """Until Ctrl-C, which is how a viewer is meant to end. The viewer says its address; a program is given it alone."""
    if not sys.stdout.isatty():
        sys.stdout.write(f"{viewer.url}\n")
        sys.stdout.flush()
    say("Ctrl-C ends it.")
    try:
        viewer.wait()
    except KeyboardInterrupt:
        say("")


def _trajectory(robot: Robot, path: str) -> Trajectory:
    import torsor

    if Path(path).suffix.lower() not in ENDINGS:
        raise ArgumentError(f"view: a motion is a file that ends in .npz, .csv or .parquet, got {path!r:.80}.")
    return torsor.Trajectory.load(robot, path)
