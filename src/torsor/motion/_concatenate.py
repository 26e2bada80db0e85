"""Trajectories one after another, as one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.errors import ArgumentError, ArgumentTypeError
from torsor.functions.public.kinematics import difference
from torsor.motion.trajectory import Trajectory, Work


@explained
def concatenate(trajectories: Sequence[Trajectory]) -> Trajectory:
    """One trajectory after another: times go on from the end of the one before.

    Parameters
    ----------
    trajectories : sequence of Trajectory
        Of one robot and batch, each beginning in the state in which the one before ends, to 1e-6.

    Returns
    -------
    Trajectory
        At each seam the later one's sample is kept, for its forces act from there on.
    """
    runs = list(trajectories)
    if not runs or not all(isinstance(run, Trajectory) for run in runs):
        raise ArgumentTypeError("`trajectories` must be a sequence of torsor.Trajectory objects, at least one.")
    for k, (one, other) in enumerate(pairwise(runs), start=1):
        _refuse_misfit(k, one, other)
    if len(runs) == 1:
        return runs[0]
    ends = np.cumsum([run.duration for run in runs]) + runs[0]._start
    shifts = [0.0, *(end - run._start for end, run in zip(ends[:-1], runs[1:], strict=True))]
    frames = list(dict.fromkeys(frame for run in runs for frame in run.wrenches))
    return Trajectory(
        runs[0].robot,
        _joined([run.time + shift for run, shift in zip(runs, shifts, strict=True)], -1),
        **{name: _joined([getattr(run, name) for run in runs], -2) for name in ("q", "v", "a", "tau")},
        wrenches={
            frame: _joined([run.wrenches.get(frame, np.zeros((*run.batch, len(run), 6))) for run in runs], -2)
            for frame in frames
        },
        work=_joined_work(runs),
        # Two slices of one run have the same notes
        notes=tuple(
            dict.fromkeys(_later(x, shift) for run, shift in zip(runs, shifts, strict=True) for x in run.notes)
        ),
        interrupted=any(run.interrupted for run in runs),
        events=tuple(
            e._replace(time=e.time + shift) for run, shift in zip(runs, shifts, strict=True) for e in run.events
        ),
    )


def _refuse_misfit(k: int, one: Trajectory, other: Trajectory) -> None:
    if other.robot != one.robot or other.batch != one.batch:
        raise ArgumentError(f"trajectory {k} is of another robot or batch than those before.")
    for name in ("q", "v"):
        ends = getattr(one, name)[..., -1, :], getattr(other, name)[..., 0, :]
        apart = difference(other.robot, *ends) if name == "q" else ends[1] - ends[0]
        gap = float(np.max(np.abs(apart), initial=0.0))
        if not gap <= 1e-6:
            raise ArgumentError(
                f"trajectory {k} does not begin where the one before ends: `{name}` differs by {gap:.3g}."
            )


def _joined(parts: list[Array], axis: int) -> Array:
    """One after another, without the last sample of each but the last."""
    cut = [np.delete(part, -1, axis) for part in parts[:-1]]
    return np.concatenate([*cut, parts[-1]], axis=axis)


def _joined_work(runs: list[Trajectory]) -> Work | None:
    """The works, each going on from the end of the one before; None if some are not known."""
    if any(run.work is None for run in runs):
        return None
    joined = []
    for parts in zip(*(run.work for run in runs if run.work is not None), strict=True):
        before: Array = np.zeros_like(parts[0][..., :1])
        summed = []
        for part in parts:
            summed.append(before + part)
            before = before + part[..., -1:]
        joined.append(_joined(summed, -1))
    return Work(*joined)


def _later(note: str, shift: float) -> str:
    """A note, whose times are those of its own trajectory."""
    return f"{note} (Times from {shift:.4g} s on.)" if abs(shift) > 1e-12 else note
