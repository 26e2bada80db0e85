"""A first look: the terms of one state with their checks, and how fast they are."""

from __future__ import annotations

import argparse

EXAMPLES = """\
  torsor demo
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None yet."""


def run(options: argparse.Namespace) -> int:
    """Run it."""
    return 0
