"""The identities of the theory on one robot, and Pinocchio's and MuJoCo's numbers beside ours: a table of residuals."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from torsor.cli.robot_argument import add_robot, robot_of

EXAMPLES = """\
  torsor verify arm.urdf
  torsor verify panda --states 200 --seed 7
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The robot, and how many states."""
    add_robot(parser)
    parser.add_argument("--states", type=_counting_from(1), default=20, help="random states to try (default 20)")
    parser.add_argument("--seed", type=_counting_from(0), default=0, help="of the random states")


def run(options: argparse.Namespace) -> int:
    """Print the table; 0 if every identity holds, else 1."""
    from torsor.verification import verify, with_peers

    report = with_peers(verify(robot_of(options), configurations=options.states, seed=options.seed))
    sys.stdout.write(f"{report}\n")
    return int(not report)


def _counting_from(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r:.40}") from None
        if value < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, got {value}")
        return value

    return number
