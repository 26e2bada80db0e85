"""What each formulation of the dynamics costs: operations counted, growth, published numbers, nanoseconds, and a plot."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from torsor.errors import ArgumentError, printable

EXAMPLES = """\
  torsor compare
  torsor compare --links 3 --counts-only
  torsor compare --plot costs.png
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How many links, whether to measure, and where to draw."""
    parser.add_argument("--links", type=int, default=6, help="joints of the chain (default 6)")
    parser.add_argument("--counts-only", action="store_true", help="do not measure time")
    parser.add_argument("--plot", metavar="FILE", help="draw cost over the number of links (needs torsor[plot])")


def run(options: argparse.Namespace) -> int:
    """Print the table."""
    if options.plot and not Path(options.plot).absolute().parent.is_dir():
        raise ArgumentError(
            f"compare: there is no directory {Path(options.plot).absolute().parent} to put the picture in."
        )
    from torsor.papers.formulation_comparison import compare_formulations

    sys.stdout.write(str(compare_formulations(options.links, timings=not options.counts_only)))
    if options.plot:
        from torsor import plot

        if (figure := plot.operation_counts().get_figure(root=True)) is not None:
            try:
                figure.savefig(options.plot, bbox_inches="tight")
            except (OSError, ValueError) as error:
                raise ArgumentError(f"compare: the picture cannot be written: {error}") from error
        sys.stdout.write(f"\npicture: {printable(options.plot)}\n")
    return 0
