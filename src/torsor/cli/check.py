"""What is wrong or suspicious in robot files; exit code 1 if there is an error, for use in CI."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from torsor.cli.main import LEFT_UNREAD
from torsor.cli.robot_argument import source_of, words
from torsor.cli.shell_words import in_shell_words
from torsor.errors import ArgumentError

EXAMPLES = """\
  torsor check arm.urdf gripper.urdf
  torsor check --strict --ignore mass-ratio arm.urdf
  xacro arm.urdf.xacro | torsor check -
  torsor check --json arm.urdf | jq '.[].rule'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The files, and how to report."""
    parser.add_argument(
        "files",
        nargs="+",
        help="URDF, MJCF, or torsor JSON or YAML files, - for standard input, or names of robot_descriptions",
    )
    parser.add_argument("--base", choices=("fixed", "floating"), default="fixed", help="how the root link is held")
    parser.add_argument("--json", action="store_true", help="findings as JSON")
    parser.add_argument("--accept", default="", metavar="RULES", help="errors that are warnings, separated by commas")
    parser.add_argument("--ignore", default="", metavar="RULES", help="rules not to report, separated by commas")
    parser.add_argument("--strict", action="store_true", help="warnings count as errors for the exit code")


def run(options: argparse.Namespace) -> int:
    """Print the findings of all files; 0 if none is an error (with --strict: nor a warning), else 1; 2 if one is not there."""
    import torsor

    accept, ignore = words(options.accept), words(options.ignore)
    findings = list[Any]()
    for file in options.files:
        source = source_of(file)
        if callable(source):
            raise ArgumentError(f"check: {file!r} is one of torsor's own robots; check takes files.")
        findings += torsor.check(source, base=options.base, accept=accept, ignore=ignore)
    if options.json:
        sys.stdout.write(json.dumps([finding.as_dict() for finding in findings], indent=1) + "\n")
    else:
        for finding in findings:
            sys.stdout.write(f"{in_shell_words(finding)}\n")
        counts = {kind: sum(finding.severity == kind for finding in findings) for kind in ("error", "warning", "note")}
        summary = ", ".join(f"{number} {kind}{'s' * (number != 1)}" for kind, number in counts.items() if number)
        files = f"{len(options.files)} file{'s' * (len(options.files) != 1)}"
        sys.stdout.write(f"{files}: {summary or 'nothing to report'}\n")
    if any(finding.rule in LEFT_UNREAD for finding in findings):
        return 2
    bad = ("error", "warning") if options.strict else ("error",)
    return int(any(finding.severity in bad for finding in findings))
