"""The properties of `tests/properties` with many more and ever new examples, file after file, for as long as asked.

Each round runs them with a seed of its own, which is printed: the same round again with
``TORSOR_SOAK=1 python -m pytest tests/properties --hypothesis-seed=<seed>``.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE, PROPERTIES = Path(__file__).parent, Path(__file__).parents[1] / "properties"
MINUTES = 10.0


def run(options: argparse.Namespace) -> list[str]:
    """Rounds until the time is up, or as many as asked for; the properties that failed, with the seeds they failed for."""
    until = time.time() + 60.0 * (MINUTES if options.minutes is None else options.minutes)
    failures: list[str] = []
    rounds = 0
    while time.time() < until and (options.times is None or rounds < options.times):
        seed = options.seed + rounds
        rounds += 1
        print(f"round {rounds}: TORSOR_SOAK=1 python -m pytest tests/properties --hypothesis-seed={seed}", flush=True)
        failures += [f"{line} (seed {seed})" for line in one_round(seed, until)]
    return failures


def one_round(seed: int, until: float) -> list[str]:
    """What failed in one round, as pytest says it."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "properties", "-p", "no:cacheprovider"]
    paths = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [*command, f"--hypothesis-seed={seed}", str(PROPERTIES)],
        env={**os.environ, "PYTHONPATH": paths, "TORSOR_SOAK": "1", "TORSOR_SOAK_UNTIL": repr(until)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    found = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    if found or done.returncode not in (0, 2):  # 2: the time was up
        print(done.stdout, flush=True)
        return found or [f"pytest ended with {done.returncode}"]
    print(lines[-1] if lines else "", flush=True)
    return []


# What pytest is told in a round: this module is its plugin


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files in an order of the seed's own, so that a short soak does not always see the same ones."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    order = list(files)
    random.Random(str(config.getoption("hypothesis_seed"))).shuffle(order)
    items[:] = [item for path in order for item in files[path]]


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """No further test when the time is up."""
    if time.time() > float(os.environ["TORSOR_SOAK_UNTIL"]):
        item.session.shouldstop = "the time is up"
