"""The ``torsor`` entry point: finds the command and runs it."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

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


class _Parser(argparse.ArgumentParser):
    """Shows what it does not understand without letting the terminal obey it."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


if __name__ == "__main__":
    sys.exit(main())
