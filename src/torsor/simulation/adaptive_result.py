"""The trajectory of an adaptive simulation, and the times it is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import ArgumentError
from torsor.motion.trajectory import Trajectory
from torsor.simulation.adaptive_motion import AdaptiveMotion, Samples
from torsor.simulation.events import Occurrence
from torsor.simulation.given import Setup
from torsor.simulation.notes import Happened, notes_of
from torsor.simulation.plant import Mode
from torsor.simulation.steppings import work_of


def tolerances_of(rtol: float, atol: float) -> None:
    """Refuse tolerances that cannot be."""
    if not (0.0 < rtol < 1.0 and atol > 0.0 and np.isfinite(atol)) or rtol < 1e-14:
        raise ArgumentError(f"`rtol` must be from 1e-14 to 1 and `atol` positive, got {rtol} and {atol}.")


def times_of(times: Any, duration: float, batch: tuple[int, ...]) -> Array | None:
    """The times of the samples (K,); None for the steps that are taken."""
    if not (duration >= 0.0 and np.isfinite(duration)):
        raise ArgumentError(f"`duration` must be finite and not negative, got {duration} s.")
    if times is None:
        if batch:
            raise ArgumentError(
                "each trajectory of a batch has steps of its own; say which `times` to save, such as "
                "times=np.linspace(0, duration, 101)."
            )
        return None
    given = np.asarray(times, float)
    if given.ndim != 1 or not len(given) or np.any(np.diff(given) <= 0.0):
        raise ArgumentError("`times` must be a list of times that grow.")
    if not (given[0] >= 0.0 and given[-1] <= duration * (1.0 + 1e-12)):
        raise ArgumentError(
            f"`times` must lie from 0 to the duration of {duration} s, got {given[0]} to {given[-1]} s."
        )
    return np.minimum(given, duration)


def adaptive_trajectory(
    setup: Setup, works: tuple[int, ...], motions: list[AdaptiveMotion], times: Array | None, cut: bool
) -> Trajectory:
    """All trajectories as one: where one of a batch ended before the others, NaN."""
    found = [motion.samples for motion in motions]
    if not found:
        nq, nv = setup.robot.nq, setup.robot.nv
        grid = times if times is not None else np.zeros(1)
        shape = (0, len(grid))
        sizes = {"q": nq, "v": nv, "a": nv, "force": nv, "work": len(works)}
        arrays = {name: np.zeros((*shape, size)) for name, size in sizes.items()}
        time = grid
    elif setup.batch:
        time = times if times is not None else found[0].t
        arrays = _padded(found, time, len(setup.q))
    else:
        time = found[0].t
        arrays = {name: getattr(found[0], name)[None] for name in ("q", "v", "a", "force", "work")}
    batch = setup.batch

    def shaped(x: Array) -> Array:
        return x.reshape(*batch, *x.shape[1:])

    moments = tuple(m for motion in motions for m in motion.moments)
    if len(motions) == 1:
        first = motions[0].first_mode
    else:
        own = zip(*(m.first_mode for m in motions), strict=True)
        first = Mode(*(np.concatenate(x) for x in own)) if motions else setup.mode
    pushes = {}
    for k, (frame, asked) in enumerate(setup.acts.wrenches):
        if asked is None:
            constant = setup.acts.constants[f"wrench_{k}"]
            pushes[frame] = shaped(np.broadcast_to(constant[:, None], (len(constant), len(time), 6)))
        else:
            rows = [
                np.broadcast_to(asked(t=time, q=q, v=v)["out"], (len(time), 6))
                for q, v in zip(arrays["q"], arrays["v"], strict=True)
            ]
            pushes[frame] = shaped(np.array(rows).reshape(len(arrays["q"]), len(time), 6))
    events = tuple(
        Occurrence(m.event.title, m.time, _place(m.which, batch), m.q, m.v) for m in moments if m.event is not None
    )
    happened = Happened(setup.acts.plant, moments, first)
    return Trajectory.of_simulation(
        robot=setup.robot,
        time=time,
        q=shaped(arrays["q"]),
        v=shaped(arrays["v"]),
        a=shaped(arrays["a"]),
        tau=shaped(arrays["force"]),
        wrenches=pushes,
        work=work_of(arrays["work"], works, batch),
        notes=(*setup.beyond, *notes_of(happened, time, arrays, batch, False)),
        interrupted=cut,
        events=events,
        steps=None,
    )


def _padded(found: list[Samples], time: Array, many: int) -> dict[str, Array]:
    """Samples (B, K, …) at common times."""
    arrays = {}
    for name in ("q", "v", "a", "force", "work"):
        width = getattr(found[0], name).shape[-1]
        whole = np.full((many, len(time), width), np.nan)
        for k, one in enumerate(found):
            rows = getattr(one, name)[np.isin(one.t, time)]
            whole[k, : len(rows)] = rows
        arrays[name] = whole
    return arrays


def _place(which: int, batch: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(x) for x in np.unravel_index(which, batch)) if batch else ()
