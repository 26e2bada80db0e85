"""What makes a shell complete torsor's commands and options."""

from __future__ import annotations

import argparse
import sys

from torsor.cli.main import COMMANDS, parser_of
from torsor.errors import needed

EXAMPLES = """\
  torsor completion bash > ~/.local/share/bash-completion/completions/torsor
  torsor completion zsh > ~/.zsh/completions/_torsor     (a directory of your $fpath)
  torsor completion tcsh > ~/.torsor.tcsh                (and source it in ~/.tcshrc)
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The shell."""
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"))


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    shtab = needed("shtab", "completion needs shtab: pip install 'torsor[completion]'.")
    sys.stdout.write(shtab.complete(parser_of(list(COMMANDS)), options.shell) + "\n")
    return 0
