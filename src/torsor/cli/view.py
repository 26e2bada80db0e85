"""A robot, and a motion of it, in three dimensions: in the browser, as a page, or as a picture."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from torsor.cli.messages import say
from torsor.cli.robot_argument import add_robot, robot_of
from torsor.errors import ArgumentError, MissingDependency

EXAMPLES = """\
  torsor view arm.urdf
  torsor view panda run.npz
  torsor view panda run.csv --html run.html
  torsor view panda --image panda.png
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The robot, a motion, and where to show it."""
    add_robot(parser)
    parser.add_argument(
        "motion", nargs="?", metavar="RUN", help="a trajectory: .npz, .csv or .parquet of torsor simulate -o"
    )
    parser.add_argument("--html", metavar="PATH", help="write a page that plays without torsor, instead of opening one")
    parser.add_argument("--image", metavar="PATH", help="write a picture, instead of opening a page")


def run(options: argparse.Namespace) -> int:
    """Show it until Ctrl-C, or write it."""
    import torsor

    robot = robot_of(options)
    motion = None if options.motion is None else _trajectory(robot, options.motion)
    show: Any = getattr(torsor, "view", None)
    if show is None:
        raise MissingDependency("view: this version of torsor has no viewer.")
    viewer = show(robot, motion)
    try:
        if options.html is not None:
            viewer.html(options.html)
            say(f"page: {options.html}")
        if options.image is not None:
            viewer.image(options.image)
            say(f"picture: {options.image}")
        if options.html is None and options.image is None:
            sys.stdout.write(f"{viewer.url}\n")  # the result: a script may want it
            sys.stdout.flush()
            say("Ctrl-C ends it.")
            _wait()
    finally:
        viewer.close()
    return 0


def _wait() -> None:
    """Until Ctrl-C, which is how a viewer is meant to end."""
    try:
        while True:
            time.sleep(3600.0)
    except KeyboardInterrupt:
        say("")


def _trajectory(robot: Any, path: str) -> Any:
    import torsor

    if Path(path).suffix.lower() not in (".npz", ".csv", ".parquet"):
        raise ArgumentError(f"view: a motion is a file that ends in .npz, .csv or .parquet, got {path!r:.80}.")
    return torsor.Trajectory.load(robot, path)
