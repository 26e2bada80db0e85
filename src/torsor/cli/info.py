"""A robot as tables: its tree, joints with limits, masses, frames, effects and degrees of freedom."""

from __future__ import annotations

import argparse
import json
import sys

from torsor.cli.robot_argument import add_robot, robot_of

EXAMPLES = """\
  torsor info arm.urdf
  torsor info panda --json | jq '.joints[].name'
  cat arm.urdf | torsor info -
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The robot, and whether as JSON."""
    add_robot(parser)
    parser.add_argument("--json", action="store_true", help="names, limits and masses as JSON")


def run(options: argparse.Namespace) -> int:
    """Print the tables."""
    from torsor.cli.robot_tables import as_dict, describe

    robot = robot_of(options)
    sys.stdout.write(json.dumps(as_dict(robot), indent=1) + "\n" if options.json else describe(robot))
    return 0
