"""What makes a shell complete torsor's commands and options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from torsor.cli.main import COMMANDS, parser_of
from torsor.errors import needed

EXAMPLES = """\
  torsor completion bash > ~/.local/share/bash-completion/completions/torsor
  torsor completion zsh > ~/.zsh/completions/_torsor     (a directory of your $fpath)
  torsor completion tcsh > ~/.torsor.tcsh                (and source it in ~/.tcshrc)
"""
FILES = ("robot", "files", "motion", "output", "html", "image", "png", "plot")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The shell that the script is for."""
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"))


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    shtab = needed("shtab", "completion needs shtab: pip install 'torsor[completion]'.")
    parser = parser_of(list(COMMANDS))
    for action in _actions(parser):
        if action.dest in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    sys.stdout.write(shtab.complete(parser, options.shell) + "\n")
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The actions of the parsers of all commands."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                yield from _actions(one)
        else:
            yield action
