"""Joint forces of a motion in a table: smoothed and differentiated as far as it takes, then inverse dynamics, row by row.

Tables of any length go through in bounded memory: a table is read twice, once for its times, once in windows.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from torsor._progress import progress
from torsor.cli.messages import say
from torsor.cli.robot_argument import STANDARD_INPUT, add_robot, robot_of
from torsor.errors import ArgumentError

if TYPE_CHECKING:
    from torsor.cli.motion_table import MotionTable
    from torsor.model import Robot
    from torsor.motion.sample_windows import Sampling

EXAMPLES = """\
  torsor torques arm.urdf log.csv --cutoff 10 -o torques.csv
  torsor torques panda log.csv --cutoff 10 --states -o smooth.csv
  cat log.csv | torsor torques panda - --cutoff 10 | head
  torsor simulate panda --duration 2 --dt 1e-3 -o - | torsor torques panda -
the table:
  A line of names, then numbers: time (s), a column for each joint by its name
  (rad or m), and where they are measured name.v and name.a. A unit may follow
  the name: "elbow [rad]", "elbow.v [rad/s]". Other columns are not used.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The robot, the table, how to smooth it, and where to write."""
    add_robot(parser)
    parser.add_argument("motion", metavar="MOTION.csv", help="the table, or - for standard input")
    parser.add_argument(
        "--cutoff",
        type=float,
        metavar="HZ",
        help="smooth what is measured: of a sine of this frequency half the amplitude passes; needed unless the table has "
        "velocities and accelerations of all joints",
    )
    parser.add_argument("-o", "--output", default=STANDARD_INPUT, metavar="OUT.csv", help="default: standard output")
    parser.add_argument("--states", action="store_true", help="write q, v and a as well, as they entered the equations")
    parser.add_argument("--quiet", action="store_true", help="do not say how the numbers were made")


def run(options: argparse.Namespace) -> int:
    """Write the table of joint forces."""
    if options.robot == options.motion == STANDARD_INPUT:
        raise ArgumentError("torques: only one of robot and motion can be standard input (-).")
    from torsor.cli.motion_table import opened

    robot = robot_of(options)
    peaks = Peaks(robot)
    with opened(options.motion, robot) as table:
        sampling = _sampling(table, options)
        with written(options.output) as out:
            _write(table, sampling, out, options.states, peaks)
    if not options.quiet:
        say(_account(table, sampling, peaks))
    return 0


def _sampling(table: MotionTable, options: argparse.Namespace) -> Sampling | None:
    """What smoothing must know of the times; None if nothing is to be smoothed."""
    from torsor.motion.sample_windows import Sampling

    complete = all(len(places) == table.robot.nv for places in table.measured)
    if options.cutoff is None:
        if complete:
            return None
        raise ArgumentError(
            f"torques: the table has no {'accelerations' if table.measured.v else 'velocities and accelerations'} of all joints, "
            "so q is differentiated, which takes --cutoff HZ: above what the motion holds, below what is noise, for instance "
            "--cutoff 10."
        )
    if not 0.0 < options.cutoff < float("inf"):
        raise ArgumentError(f"torques: --cutoff must be a positive frequency, Hz, got {options.cutoff:g}.")
    sampling = Sampling(options.cutoff)
    with progress(table.size, "reading times", "B") as read:
        for times in table.times(read):
            sampling.add(times)
    try:
        sampling.refuse_unfit()
    except ArgumentError as error:
        raise ArgumentError(f"{table.name}: {_as_options(str(error))}") from None
    return sampling


def _as_options(message: str) -> str:
    """What `torsor.motion.from_samples` says, in the words of the command line."""
    return message.replace("`cutoff`", "--cutoff").replace("`time`", "time").replace("pass cutoff=", "pass --cutoff ")


def _write(table: MotionTable, sampling: Sampling | None, out: IO[str], states: bool, peaks: Peaks) -> None:
    import csv

    import numpy as np

    import torsor
    from torsor.motion.sample_windows import SampleWindows, Smoothed
    from torsor.motion.trajectory_files import column_title, columns_of

    robot = table.robot
    names = columns_of(robot)
    shown = ("q", "v", "a", "tau") if states else ("tau",)
    titles = [column_title(name) for name in ["time [s]", *(name for key in shown for name in names[key])]]
    windows = None if sampling is None else SampleWindows(robot, sampling, table.measured)
    with progress(table.size, "joint forces", "B") as read:
        for piece in table.pieces(read):
            if windows is None:
                smooth = Smoothed(piece.time, piece.q, piece.v, piece.a, None, None)
            else:
                try:
                    smooth = windows.add(*piece)
                except ArgumentError as error:
                    raise ArgumentError(f"{table.name}: {_as_options(str(error))}") from None
            tau = torsor.inverse_dynamics(robot, smooth.q, smooth.v, smooth.a)
            peaks.add(smooth.time, tau)
            if titles:  # once something can be written at all
                csv.writer(out, lineterminator="\n").writerow(titles)
                titles = []
            columns = [smooth.time[:, None], *((smooth.q, smooth.v, smooth.a) if states else ()), tau]
            for row in np.concatenate(columns, axis=-1).tolist():
                out.write(",".join(map(repr, row)) + "\n")


class Peaks:
    """The largest forces, and how often they are beyond what the drives can give."""

    def __init__(self, robot: Robot) -> None:
        import numpy as np

        self.robot, self.limit = robot, np.array(robot.limits.effort)
        self.largest, self.beyond = np.zeros(robot.nv), np.zeros(robot.nv, int)
        self.count, self.first, self.last = 0, 0.0, 0.0

    def add(self, time: Any, tau: Any) -> None:
        """The next forces (N, nv)."""
        import numpy as np

        if len(time):
            self.first = self.first if self.count else float(time[0])
            self.count, self.last = self.count + len(time), float(time[-1])
            self.largest = np.maximum(self.largest, np.abs(tau).max(axis=0))
            self.beyond += np.sum(np.abs(tau) > self.limit, axis=0)

    def lines(self) -> list[str]:
        """A line for each joint that is asked too much."""
        return [
            f"{name}: up to {self.largest[k]:.4g}, beyond its limit of {self.limit[k]:.4g} in {self.beyond[k]} samples."
            for k, name in enumerate(self.robot.structure.freedoms)
            if self.beyond[k]
        ]


def _account(table: MotionTable, sampling: Sampling | None, peaks: Peaks) -> str:
    """How the numbers were made, in words."""
    robot, v, a = table.robot, len(table.measured.v), len(table.measured.a)
    lines = [f"{peaks.count} samples of {robot.name!r} over {peaks.last - peaks.first:.6g} s."]
    if sampling is None:
        lines.append("q, v and a are those of the table; nothing was smoothed.")
    else:
        even = "even times" if sampling.is_even else "times that are not even"
        lines += [
            f"Smoothed by polynomials of degree 5 over ±{sampling.H:.4g} s around each sample ({even}, about "
            f"{sampling.step:.4g} s apart).",
            f"Of a sine of {sampling.cutoff:.4g} Hz half the amplitude passes; no phase is lost.",
            "v and a are the derivatives of these polynomials"
            + (f"; v of {v} joints is measured and smoothed, its derivative is their a" if v else "")
            + (f"; a of {a} is measured and smoothed" if a else "")
            + ".",
        ]
    lines.append(f"Joint forces: inverse dynamics, N·m or N; gravity {_vector(robot.gravity)} m/s²{_effects(robot)}.")
    if table.unused:
        names = ", ".join(repr(name)[:40] for name in table.unused[:8]) + (", …" if len(table.unused) > 8 else "")
        lines.append(f"Columns that were not used: {names}.")
    return "\n".join(lines + peaks.lines())


def _vector(numbers: Any) -> str:
    return f"({', '.join(f'{x:g}' for x in numbers)})"


def _effects(robot: Robot) -> str:
    others = [effect for effect in robot.effects if effect != "gravity"]
    return f"; with {', '.join(others)}" if others else ""


@contextmanager
def written(path: str) -> Iterator[IO[str]]:
    """A file to write a result to, or standard output. A file gets its name when it is complete: there is never half of one."""
    if path == STANDARD_INPUT:
        yield sys.stdout
        return
    plain = os.path.isfile(path) or not os.path.lexists(path)  # a device or a pipe is written to as it is
    place = f"{path}.part" if plain else path
    try:
        with open(place, "w", encoding="utf-8", newline="") as file:
            yield file
        if plain:
            os.replace(place, path)
    except FileNotFoundError as error:
        raise FileNotFoundError(error.errno, error.strerror, path) from None
    except BaseException:
        if plain and os.path.exists(place):
            os.remove(place)
        raise
