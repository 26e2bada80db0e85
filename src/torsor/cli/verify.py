"""The identities of the theory on one robot, and Pinocchio's and MuJoCo's numbers beside ours: a table of residuals."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Callable

from torsor.cli.main import add_robot, robot_of
from torsor.errors import TorsorError
from torsor.verification import _verify as verification
from torsor.verification._verify import Residual


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The robot, and how many states."""
    add_robot(parser)
    parser.add_argument("--states", type=_counting_from(1), default=20, help="random states to try (default 20)")
    parser.add_argument("--seed", type=_counting_from(0), default=0, help="of the random states")


def run(options: argparse.Namespace) -> int:
    """Print the table; 0 if every identity holds, else 1."""
    robot = robot_of(options)
    sys.stdout.write(f"{robot!r}\n{options.states} random states, seed {options.seed}\n\n")
    rows = list(verification.verify(robot, states=options.states, seed=options.seed))
    remarks = []
    for library in verification.PEERS:
        if importlib.util.find_spec(library) is None:
            remarks.append(f"{library}: not installed, not compared")
            continue
        try:
            rows += verification.compare(robot, library, states=options.states, seed=options.seed)
        except TorsorError as error:
            remarks.append(f"{library}: not compared: {error}")
    sys.stdout.write(_table(rows))
    for remark in remarks:
        sys.stdout.write(f"{remark}\n")
    bad = sum(not row.holds for row in rows)
    sys.stdout.write(f"\n{'all ' + str(len(rows)) + ' hold' if not bad else f'{bad} of {len(rows)} do not hold'}\n")
    return int(bad > 0)


def _counting_from(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, got {value}")
        return value

    return number


def _table(rows: list[Residual]) -> str:
    width = max(len(row.name) for row in rows)
    lines = [f"{'identity':<{width}}  residual  allowed"]
    for row in rows:
        lines.append(
            f"{row.name:<{width}}  {row.residual:8.1e}  {row.allowed:7.0e}  {'' if row.holds else 'DOES NOT HOLD'}"
        )
    return "\n".join(line.rstrip() for line in lines) + "\n"
