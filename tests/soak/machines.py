"""Every public function of every robot of the zoo has the same program under every setting that this processor can execute."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "agreement"))

from test_other_machines import SETTINGS, programs


def run(options: argparse.Namespace) -> list[str]:
    """One script as each of the other machines rounds, compared with this one."""
    here = programs("everything", {})
    print(f"{len(here)} robots, programs and files here", flush=True)
    failures = []
    for name, setting in SETTINGS.items():
        there = programs("everything", setting)
        print(f"{name}: {'the same' if there == here else 'different'}", flush=True)
        if there != here:
            failures.append(f"{name}: {next(line for line in set(there) ^ set(here))}")
    return failures
