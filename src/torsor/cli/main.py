"""The ``torsor`` entry point: finds the command, runs it, and gives every outcome the same exit code in all commands."""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import NoReturn

import torsor
from torsor.cli.shell_words import in_shell_words
from torsor.errors import FileError, TorsorError, printable

COMMANDS = {
    "demo": "a first look: the terms of one state, a motion, and pictures",
    "info": "a robot as tables: tree, joints with limits, masses, frames",
    "check": "what is wrong or suspicious in robot files",
    "verify": "the identities of the theory on one robot, and other libraries' numbers beside ours",
    "view": "a robot, and a motion, in three dimensions in the browser",
    "torques": "joint forces of a motion that was measured or planned, from table to table",
    "simulate": "a motion from a state, under forces or to a target",
    "ik": "joint positions that bring a frame to a target (inverse kinematics)",
    "convert": "a robot file in another format: URDF, MJCF, JSON, YAML",
    "codegen": "C of a function or control law for one robot, with a self-test",
    "equations": "a small robot's equations of motion as a textbook prints them",
    "compare": "what the formulations of the dynamics cost: operations and nanoseconds",
    "bench": "how fast torsor is with one robot on this machine",
    "doctor": "what torsor finds on this machine, and what is missing",
    "completion": "what makes a shell complete commands and options",
}

DONE, NO, REFUSED, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141
EXIT_CODES = """\
exit codes of every command:
  0    done, and the answer is yes
  1    the answer is no: the robot file has errors, an identity does not hold,
       the target is not reached, the motion diverged
  2    not done: a wrong call, no such file, a missing library
  130  interrupted by Ctrl-C
  141  the program that reads the output has closed it (as `| head` does)
"""
FOOT = "`-` as a file is standard input. Results go to standard output, messages to standard error."

LEFT_UNREAD = ("file-unreadable", "file-too-large")  # rules of files of which nothing was read


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``torsor COMMAND …``; returns the exit code (`EXIT_CODES`)."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if sys.stdout is None:  # closed by who started us
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 until the end of the program
    for stream in (sys.stdout, sys.stderr):  # a terminal that has no "²" prints something else, and no traceback
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            return _run(given)
        finally:  # also after argparse has printed and raised SystemExit: what cannot be written is told here
            sys.stdout.flush()
    except BrokenPipeError:
        _close_standard_output()
        return PIPE_CLOSED
    except OSError as error:  # of the last words on standard output: a full disk
        sys.stderr.write(f"torsor: standard output: {error.strerror or error}.\n")
        _close_standard_output()
        return REFUSED
    except KeyboardInterrupt:
        sys.stderr.write("torsor: interrupted\n")
        return INTERRUPTED


def _run(given: list[str]) -> int:
    command = next((word for word in given if not word.startswith("-")), None)
    parser = parser_of([command] if command in COMMANDS else [])
    if command is not None and command not in COMMANDS:
        near = get_close_matches(command, COMMANDS, n=1)
        parser.error(f"there is no command {command!r:.60}{f'; did you mean {near[0]!r}?' if near else ''}")
    options = parser.parse_args(given)
    if options.command is None:
        parser.print_help()
        return DONE
    try:
        return int(import_module(f"torsor.cli.{options.command}").run(options))
    except FileError as error:
        sys.stderr.write(f"{in_shell_words(error)}\n")
        read = error.findings and not any(finding.rule in LEFT_UNREAD for finding in error.findings)
        return NO if read else REFUSED
    except TorsorError as error:
        sys.stderr.write(f"{in_shell_words(error)}\n")
        return REFUSED
    except MemoryError as error:
        sys.stderr.write(f"torsor {options.command}: this takes more memory than there is. {printable(str(error))}\n")
        return REFUSED
    except BrokenPipeError:
        raise
    except OSError as error:
        what = f"{error.filename}: " if error.filename is not None else ""
        sys.stderr.write(f"torsor {options.command}: {printable(f'{what}{error.strerror or error}')}.\n")
        return REFUSED


def parser_of(commands: Sequence[str]) -> argparse.ArgumentParser:
    """The parser, with the options of these commands; of the others it knows the names alone."""
    parser = _Parser(
        prog="torsor",
        description="Robot dynamics on Lie groups.",
        epilog=f"{EXIT_CODES}\n{FOOT}\n`torsor COMMAND --help` has examples; docs/command_line.md says more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"torsor {torsor.__version__}")
    group = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, summary in COMMANDS.items():
        module = import_module(f"torsor.cli.{name}") if name in commands else None
        one = group.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=None if module is None else f"examples:\n{module.EXAMPLES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if module is not None:
            module.add_arguments(one)
    return parser


def _close_standard_output() -> None:
    """So that Python does not complain, when it ends, of what could not be written."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):  # a stream that is no file
        pass


class _Parser(argparse.ArgumentParser):
    """Takes "-0.3,1" for a value, and shows what it does not understand without letting the terminal obey it."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self._negative_number_matcher = re.compile(r"-[.\d]")

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(REFUSED, f"{self.prog}: {printable(message)}\n{self.prog} --help shows examples.\n")


if __name__ == "__main__":
    sys.exit(main())
