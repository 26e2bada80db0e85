"""Many optimal motions in one call, on all cores: problems are dealt out to processes, which take the next when they are done.

Most of the time goes to small matrices, for which threads of one Python wait for each other. A process is a Python of its own,
which reads problems from a pipe and writes reports into another; it runs nothing of the program that called.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import IO, Any

import numpy as np

from torsor._once import once
from torsor._progress import progress
from torsor._reports import Report
from torsor.arrays.typing import Array
from torsor.compiler.run.threads import get_threads
from torsor.model import Robot
from torsor.motion.optimal_motions.report import OptimalMotion
from torsor.motion.segments import Segments
from torsor.motion.tangent_motion import TangentMotion

FEW = 8  # problems for one more process: it takes a second to start
LISTED = 10  # problems without an optimum that a report names
Solve = Callable[[Any, Array | None, Array | None], OptimalMotion]


@dataclass(frozen=True, eq=False, repr=False)
class OptimalMotions(Report):
    """Optimal motions of a batch of problems; true if all converged. ``motions[k]`` is the report on one of them.

    Attributes
    ----------
    robot : Robot
    batch : tuple of int
        The batch axes of the problems.
    reports : tuple of OptimalMotion
        One for each problem, in order.
    """

    robot: Robot
    batch: tuple[int, ...]
    reports: tuple[OptimalMotion, ...]

    def __bool__(self) -> bool:
        return all(self.reports)

    def __len__(self) -> int:
        return self.batch[0]

    def __getitem__(self, which: int | tuple[int, ...]) -> OptimalMotion:
        places = np.arange(len(self.reports)).reshape(self.batch)[which]
        return self.reports[int(places)]

    @once
    def motion(self) -> TangentMotion:
        """All motions as one, with batch axes in front."""
        segments = [report.motion.segments for report in self.reports]
        knots, c, anchors = (
            np.stack([getattr(x, name) for x in segments]) for name in ("knots", "coefficients", "anchors")
        )
        knots = knots[0] if np.all(knots == knots[0]) else knots.reshape(*self.batch, -1)
        c, anchors = (x.reshape(*self.batch, *x.shape[1:]) for x in (c, anchors))
        return TangentMotion(self.robot, "optimal", Segments(knots, c, anchors))

    @property
    def cost(self) -> Array:
        """The cost of each problem, with the batch axes."""
        return self._numbers("cost")

    @property
    def duration(self) -> Array:
        """The duration of each motion, s, with the batch axes."""
        return self._numbers("duration")

    @property
    def converged(self) -> Array:
        """Whether each search did."""
        return self._numbers("converged")

    @property
    def infeasible(self) -> Array:
        """Whether limits contradict each other, for each problem."""
        return self._numbers("infeasible")

    def _numbers(self, name: str) -> Array:
        return np.array([getattr(report, name) for report in self.reports]).reshape(self.batch)

    def __str__(self) -> str:
        done = int(self.converged.sum())
        lines = [
            f"{len(self.reports)} optimal motions of robot {self.robot.name!r}: {done} converged, "
            f"{int(self.infeasible.sum())} infeasible"
        ]
        open_ones = [k for k, report in enumerate(self.reports) if not report]
        for k in open_ones[:LISTED]:
            report, where = self.reports[k], ", ".join(map(str, np.unravel_index(k, self.batch)))
            if report.infeasible:
                lines.append(f"  problem {where} is infeasible: {report.relax[0] if report.relax else ''}")
            else:
                why = "was interrupted" if report.interrupted else "did not converge"
                lines.append(
                    f"  problem {where} {why} in {report.iterations} iterations: residual {report.residual:.1e}, limits "
                    f"passed by {report.violation:.1e} of them"
                )
        if len(open_ones) > LISTED:
            lines.append(f"  and {len(open_ones) - LISTED} more")
        return "\n".join(lines)


def solve_many(task: Any, solve: Solve, robot: Robot, begins: Array | None, ends: Array | None) -> OptimalMotions:
    """The reports on problems from ``begins`` (..., nq) to ``ends`` (..., nq); ``solve`` is given the task and one of each."""
    batch = np.broadcast_shapes(*(q.shape[:-1] for q in (begins, ends) if q is not None))
    count = int(np.prod(batch))
    sides = [
        [None] * count if q is None else np.broadcast_to(q, (*batch, robot.nq)).reshape(-1, robot.nq)
        for q in (begins, ends)
    ]
    problems = list(zip(*sides, strict=True))
    found: list[OptimalMotion | None] = [None] * len(problems)
    workers = min(get_threads(), len(problems) // FEW)
    message = _message((task, solve)) if workers > 1 else None
    with progress(len(problems), "optimal motions", "motion") as advance:
        try:
            if message is None:
                for k, (q0, q1) in enumerate(problems):
                    found[k] = solve(task, q0, q1)
                    advance(1)
                    if found[k].interrupted:  # type: ignore[union-attr]
                        break
            else:
                _in_processes(workers, message, problems, found, advance)
        except KeyboardInterrupt:
            pass
    for k, (q0, q1) in enumerate(problems):
        if found[k] is None:
            found[k] = replace(solve(task.ended, q0, q1), interrupted=True)
    reports = tuple(
        _of(robot, report, (task, *problem))
        for report, problem in zip(found, problems, strict=True)
        if report is not None
    )
    return OptimalMotions(robot, batch, reports)


def _of(robot: Robot, report: OptimalMotion, asked: tuple[Any, ...]) -> OptimalMotion:
    """The report with the caller's own robot and problem: those of another process are equal, and other objects."""
    return replace(report, robot=robot, motion=replace(report.motion, robot=robot), asked=asked)


def _message(what: Any) -> bytes | None:
    """What processes are told first; None where it cannot be written, as functions of a script cannot."""
    try:
        return pickle.dumps(what)
    except Exception:
        return None


def _in_processes(
    workers: int,
    message: bytes,
    problems: list[Any],
    found: list[OptimalMotion | None],
    advance: Callable[[float], Any],
) -> None:
    waiting: SimpleQueue[int] = SimpleQueue()
    for k in range(len(problems)):
        waiting.put(k)
    with _processes(workers) as started, ThreadPoolExecutor(workers) as threads:

        def serve(process: subprocess.Popen[bytes]) -> None:
            assert process.stdin is not None and process.stdout is not None
            _send(process.stdin, pickle.loads(message))
            while True:
                try:
                    k = waiting.get_nowait()
                except Empty:
                    return
                _send(process.stdin, problems[k])
                answer = pickle.load(process.stdout)
                if isinstance(answer, BaseException):
                    raise answer
                found[k] = answer
                advance(1)

        try:
            for one in [threads.submit(serve, process) for process in started]:
                one.result()
        except BaseException:
            while not waiting.empty():
                waiting.get_nowait()
            for process in started:
                process.kill()
            raise


@contextmanager
def _processes(count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Pythons that run `serve_problems`, with one thread each; Ctrl-C is the caller's alone."""
    place = os.path.dirname(os.path.dirname(sys.modules["torsor"].__file__ or ""))
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    paths = os.pathsep.join([place, *filter(None, [os.environ.get("PYTHONPATH")])])
    code = "from torsor.motion.optimal_motions.many import serve_problems; serve_problems()"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **single, "PYTHONPATH": paths},
            start_new_session=True,
        )
        for _ in range(count)
    ]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()


def _send(pipe: IO[bytes], what: Any) -> None:
    pickle.dump(what, pipe)
    pipe.flush()


def serve_problems() -> None:
    """What a process does: solve what comes in, and give the reports out, until the pipe is closed."""
    from torsor.compiler.run.threads import set_threads

    set_threads(1)
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what functions print is no report
    try:
        task, solve = pickle.load(source)
        while True:
            q0, q1 = pickle.load(source)
            try:
                answer: Any = solve(task, q0, q1)
            except Exception as error:
                answer = error
            _send(sink, answer)
    except EOFError:
        return
