"""A robot on the command line: a file, or the name of one that comes with torsor."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import torsor


def add_robot(parser: argparse.ArgumentParser) -> None:
    """The robot, and how to load it."""
    parser.add_argument("robot", help="a robot file, or one of torsor's own robots by name (panda, ur5, …)")
    parser.add_argument("--base", choices=("fixed", "floating"), default="fixed", help="how the root link is held")
    parser.add_argument("--repair", default="", metavar="RULES", help="rules to repair instead of refusing")


def robot_of(options: argparse.Namespace) -> torsor.Robot:
    """The robot that the options name."""
    builder = getattr(torsor.robots, options.robot, None)
    if callable(builder) and not Path(options.robot).exists():
        return builder()  # type: ignore[no-any-return]
    repair = [rule.strip() for rule in options.repair.split(",") if rule.strip()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", torsor.ModelWarning)  # `torsor check` is for these
        return torsor.load(Path(options.robot), base=options.base, repair=repair)
