"""A first look: the terms of one state, the theory checked, a motion, how fast it all is, and a page with it."""

from __future__ import annotations

import argparse

EXAMPLES = """\
  torsor demo
  torsor demo --folder first_look
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where the page goes."""
    parser.add_argument("--folder", default="demo", metavar="DIR", help="where report.html is written (default demo)")


def run(options: argparse.Namespace) -> int:
    """Run what `make demo` runs; 1 if an identity does not hold."""
    from torsor import _demo

    return _demo.run(options.folder)
