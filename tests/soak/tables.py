"""Ten million rows through `torsor torques` in bounded memory: the last ones are as right as the first."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import deque
from pathlib import Path

import numpy as np

import torsor
from torsor.motion import from_samples

ROWS = 10_000_000
PIECE = 100_000
MOST = 400  # MB; the table alone has more
CUTOFF = 60.0
# The most memory that the process has had, kB: what the system counts for a child may be its parent's
MEASURED = """import re, sys
from torsor.cli.main import main
code = main(sys.argv[1:])
print(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
sys.exit(code)"""


def motion(first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """Times and angles as the table has them."""
    time = np.round(1e-3 * np.arange(first, last), 3)
    return time, np.round(np.sin(time)[:, None] * [1.0, 0.5] + 0.1 * np.sin(40.0 * time)[:, None] * [0.3, 1.0], 6)


def write(path: Path, rows: int) -> None:
    with open(path, "w") as file:
        file.write("time,joint_1,joint_2\n")
        for first in range(0, rows, PIECE):
            time, q = motion(first, min(rows, first + PIECE))
            lines = zip(time.tolist(), q.tolist(), strict=True)
            file.write("".join(f"{t:.3f},{x:.6f},{y:.6f}\n" for t, (x, y) in lines))


def last_rows(path: Path, rows: int) -> tuple[int, np.ndarray]:
    """How many rows of numbers a table has, and its last ones."""
    count, tail = -1, deque[str](maxlen=rows)
    with open(path, encoding="utf-8") as file:
        for line in file:
            count += 1
            tail.append(line)
    return count, np.loadtxt(list(tail), delimiter=",")


def run(options: argparse.Namespace) -> list[str]:
    """The failures."""
    rows, failures, robot = options.times or ROWS, [], torsor.robots.planar2r()
    with tempfile.TemporaryDirectory() as folder:
        log, out = Path(folder) / "log.csv", Path(folder) / "out.csv"
        write(log, rows)
        arguments = ["torques", "planar2r", str(log), "--cutoff", str(CUTOFF), "-o", str(out)]
        done = subprocess.run([sys.executable, "-c", MEASURED, *arguments], capture_output=True, text=True, check=False)
        most = int(done.stdout or 0) / 1024
        print(f"{rows} rows, {log.stat().st_size / 1e6:.0f} MB: {most:.0f} MB of memory\n{done.stderr}")
        if done.returncode:
            return [f"exit code {done.returncode}"]
        if most > MOST:
            failures.append(f"{most:.0f} MB of memory")
        count, found = last_rows(out, 500)
        if count != rows:
            failures.append(f"{count} rows instead of {rows}")
        near = from_samples(*motion(rows - 5000, rows), robot=robot, cutoff=CUTOFF).trajectory.tau[-500:]
        error = float(np.abs(found[:, 1:] - near).max() / np.abs(near).max())
        print(f"the last rows differ from those of a short log by {error:.1e}")
        if not error < 1e-6:  # weights of even times are made of the mean step, which differs in its last digits
            failures.append(f"the last rows differ by {error:.1e}")
    return failures
