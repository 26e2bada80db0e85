"""The ``torsor`` entry point: finds the command and runs it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from torsor.cli import doctor

COMMANDS = {"doctor": doctor}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``torsor COMMAND …``; returns the exit code."""
    parser = argparse.ArgumentParser(prog="torsor", description="Robot dynamics on Lie groups.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        summary = (module.__doc__ or "").splitlines()[0]
        module.add_arguments(commands.add_parser(name, help=summary, description=summary))
    options = parser.parse_args(arguments)
    return int(COMMANDS[options.command].run(options))


if __name__ == "__main__":
    sys.exit(main())
