"""The ``torsor`` entry point: finds the command and runs it; and the robot that most commands take."""

from __future__ import annotations

import argparse
import io
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import torsor
from torsor.errors import TorsorError, printable

COMMANDS = ("doctor", "check", "info", "verify", "compare", "equations")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``torsor COMMAND …``; returns the exit code: 2 if torsor refuses what it was given."""
    parser = _Parser(prog="torsor", description="Robot dynamics on Lie groups.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    modules = {name: import_module(f"torsor.cli.{name}") for name in COMMANDS}
    for name, module in modules.items():
        summary = (module.__doc__ or "").splitlines()[0]
        module.add_arguments(commands.add_parser(name, help=summary, description=summary))
    parser.add_argument("--version", action="version", version=f"torsor {torsor.__version__}")
    options = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):  # a terminal that has no "²" prints something else, and no traceback
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if options.command is None:
        parser.print_help()
        return 0
    try:
        return int(modules[options.command].run(options))
    except TorsorError as error:
        sys.stderr.write(f"{error}\n")
        return 2


def add_robot(parser: argparse.ArgumentParser, name: str = "robot", own: str = "panda, ur5, …", **more: Any) -> None:
    """The robot, and how to load it."""
    parser.add_argument(name, help=f"a robot file, or one of torsor's own robots by name ({own})", **more)
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


class _Parser(argparse.ArgumentParser):
    """Shows what it does not understand without letting the terminal obey it."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


if __name__ == "__main__":
    sys.exit(main())
