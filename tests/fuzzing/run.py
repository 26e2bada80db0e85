"""`make fuzz`: feed mutated robot files to the readers; every one must load or be refused with a TorsorError, quickly.

    python tests/fuzzing/run.py --inputs 200000 --processes 2

Reports how many loaded, how many were refused by which rule, the slowest, and stops at the first that does neither, or takes too
long; that file is kept. Time is that of the processor, so that a busy machine changes nothing.
"""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from mutations import inputs, seeds

import torsor

MEMORY = 4 * 2**30
SLOW = 5.0  # seconds of processor time that no file may take: a busy machine makes no file slow


def judge(content: bytes, path: Path) -> str:
    """ "loaded", or the first rule that refused the file; anything else is raised."""
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of NumPy above all: what overflows is refused before it does
        warnings.simplefilter("ignore", torsor.ModelWarning)
        try:
            torsor.load(path)
        except torsor.TorsorError as error:
            findings = getattr(error, "findings", ())
            result = findings[0].rule if findings else "refused otherwise"
        else:
            result = "loaded"
        torsor.check(path)
    return result


def work(task: tuple[int, int]) -> tuple[collections.Counter, float]:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    return examine(*task, Path(tempfile.gettempdir()))


def examine(seed: int, count: int, keep: Path) -> tuple[collections.Counter, float]:
    """What became of so many files of a seed, and the seconds of the slowest; a culprit is kept in the folder ``keep``."""
    good, results, slowest = seeds(), collections.Counter(), 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot"
        for content, _ in zip(inputs(seed, good), range(count), strict=False):
            start = time.process_time()
            try:
                results[judge(content, path)] += 1
                took = time.process_time() - start
                assert took < SLOW, f"it took {took:.1f} s"
            except BaseException as error:
                kept = keep / f"torsor_fuzz_{seed}.robot"
                kept.write_bytes(content)
                raise AssertionError(
                    f"seed {seed}: {type(error).__name__}: {error}; the file is kept as {kept}"
                ) from error
            slowest = max(slowest, took)
    return results, slowest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=200_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    piece = 1000
    tasks = [(options.seed + k, piece) for k in range(-(-options.inputs // piece))]
    total, slowest, start = collections.Counter(), 0.0, time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        for done, (results, slow) in enumerate(pool.imap_unordered(work, tasks), 1):
            total += results
            slowest = max(slowest, slow)
            rate = sum(total.values()) / (time.perf_counter() - start)
            sys.stderr.write(f"\r{done * piece:,} of {len(tasks) * piece:,} files, {rate:,.0f} a second ")
    sys.stderr.write("\n")
    sys.stdout.write(f"{sum(total.values()):,} files; the slowest took {slowest:.2f} s\n")
    for result, count in total.most_common():
        sys.stdout.write(f"  {count:8,}  {result}\n")


if __name__ == "__main__":
    main()
