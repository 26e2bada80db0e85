"""What acted in a simulation beside the equations, in words: stops, friction that held, drives at their limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.simulation.careful import MOST as MOST_CHANGES, Moment, PassedAtRest
from torsor.simulation.plant import Mode, Plant

MOST = 40  # notes
SIDE_BY_SIDE = 32  # samples that are looked at as one
FEW = 3  # times at a stop that are told one by one


class Happened(NamedTuple):
    """What a simulation remembers: its plant, the moments at which something changed, its first mode, and steps given up."""

    plant: Plant
    moments: Sequence[Moment]
    first_mode: Mode
    unfinished: Sequence[PassedAtRest] = ()


def notes_of(
    happened: Happened, time: Array, arrays: dict[str, Array], batch: tuple[int, ...], stiff: bool
) -> tuple[str, ...]:
    """Sentences, in order of time."""
    notes = list[tuple[float, str]]()
    if stiff:
        why = "viscous friction is faster than a step of `dt`; steps are implicit in it (RK4's then of third order)."
        notes.append((0.0, why))
    first = happened.first_mode
    if happened.moments or (happened.plant.has_modes and (first.held.any() or first.touch.any())):
        notes += _of_stops(happened, batch)
        notes += _of_actions(happened, batch)
        notes += _of_friction(happened, time, batch)
    notes += _of_drives(happened, time, arrays["force"], batch)
    notes += _of_velocities(happened, time, arrays["v"], batch)
    if not notes and not happened.unfinished:
        return ()
    notes.sort(key=lambda note: note[0])
    words = [*_of_unfinished(happened, batch), *(text for _, text in notes)]
    return (*words[:MOST], f"and {len(words) - MOST} more.") if len(words) > MOST else tuple(words)


def _who(which: int, batch: tuple[int, ...]) -> str:
    if not batch:
        return ""
    return f"trajectory {', '.join(str(int(k)) for k in np.unravel_index(which, batch))}: "


def _of_stops(happened: Happened, batch: tuple[int, ...]) -> list[tuple[float, str]]:
    """Impacts, and from when until when a joint was at its stop."""
    notes, names, since = (
        list[tuple[float, str]](),
        happened.plant.robot.structure.freedoms,
        dict[tuple[int, int, str], float](),
    )
    bounces = dict[tuple[int, int, str], list[float]]()
    spans = dict[tuple[int, int, str], list[tuple[float, float]]]()
    started = {m.which for m in happened.moments if m.time == 0.0}
    begun = happened.first_mode
    at_rest = begun.held * ~(np.isfinite(begun.least) & np.isfinite(begun.most)) + np.abs(begun.touch)
    for k, i in zip(*np.nonzero(at_rest), strict=True):
        if int(k) not in started:
            low = begun.touch[k, i] < 0.0 or (begun.held[k, i] and not np.isfinite(begun.most[k, i]))
            since[int(k), int(i), "lower" if low else "upper"] = 0.0
    for m in happened.moments:
        for i, name in enumerate(names):
            del name
            side = "lower" if m.v[i] < 0.0 else "upper"
            for mode, word in ((m.before, 0), (m.after, 1)):
                del word
                if mode.held[i] and not (np.isfinite(mode.least[i]) and np.isfinite(mode.most[i])):
                    side = "lower" if np.isfinite(mode.least[i]) else "upper"
                elif mode.touch[i]:
                    side = "lower" if mode.touch[i] < 0.0 else "upper"
            was, is_now = _at_stop(m.before, i), _at_stop(m.after, i)
            key = (m.which, i, side)
            if m.impacts[i] and not is_now:
                bounces.setdefault(key, []).append(m.time)
            if is_now and not was:
                since[key] = m.time
            elif was and not is_now and key in since:
                spans.setdefault(key, []).append((since.pop(key), m.time))
    notes += [
        (t, f"{_who(k, batch)}{names[i]} at its {side} stop from {t:.4g} s.") for (k, i, side), t in since.items()
    ]
    for (k, i, side), times in spans.items():
        who = f"{_who(k, batch)}{names[i]} at its {side} stop"
        if len(times) > FEW:
            total = sum(end - start for start, end in times)
            notes.append(
                (times[0][0], f"{who} {len(times)} times, first from {times[0][0]:.4g} s, for {total:.4g} s in all.")
            )
        else:
            notes += [(start, f"{who} from {start:.4g} s to {end:.4g} s.") for start, end in times]
    for (k, i, side), when in bounces.items():
        often = f" {len(when)} times, first" if len(when) > 1 else ""
        notes.append(
            (when[0], f"{_who(k, batch)}{names[i]} hit its {side} stop and left it{often} at {when[0]:.4g} s.")
        )
    return notes


def _of_unfinished(happened: Happened, batch: tuple[int, ...]) -> list[str]:
    """Steps of which a part passed at rest: the first of each trajectory, how many, and for how long in all."""
    words = list[str]()
    for k in sorted({rest.which for rest in happened.unfinished}):
        own = [rest for rest in happened.unfinished if rest.which == k]
        often = f" in {len(own)} steps, first" if len(own) > 1 else ""
        told = f"stops and friction changed more than {MOST_CHANGES} times within one step{often}"
        lost = f"in all the robot stood still for {sum(rest.length for rest in own):.3g} s"
        words.append(
            f"{_who(k, batch)}{told} at {own[0].time:.4g} s; {lost}: the motion is wrong there. Try a smaller `dt`."
        )
    return words


def _of_actions(happened: Happened, batch: tuple[int, ...]) -> list[tuple[float, str]]:
    """Joints that the action of an event has put beyond their stops."""
    notes, names = list[tuple[float, str]](), happened.plant.robot.structure.freedoms
    for m in happened.moments:
        if m.event is None or m.event.action is None:
            continue
        for side, by in (("lower", m.before.lower > m.after.lower), ("upper", m.after.upper > m.before.upper)):
            for i in np.flatnonzero(by).tolist():
                who = f"{_who(m.which, batch)}event {m.event.title!r} put {names[i]}"
                notes.append(
                    (m.time, f"{who} beyond its {side} stop at {m.time:.4g} s; it is kept from going further.")
                )
    return notes


def _at_stop(mode: object, i: int) -> bool:
    held, least, most, touch = (getattr(mode, name)[i] for name in ("held", "least", "most", "touch"))
    return bool(touch) or bool(held and not (np.isfinite(least) and np.isfinite(most)))


def _of_friction(happened: Happened, time: Array, batch: tuple[int, ...]) -> list[tuple[float, str]]:
    """For how long friction held a joint."""
    names, since = happened.plant.robot.structure.freedoms, dict[tuple[int, int], float]()
    total, first = dict[tuple[int, int], list[float]](), dict[tuple[int, int], float]()
    start = happened.first_mode
    for k, i in zip(*np.nonzero(start.held * np.isfinite(start.least) * np.isfinite(start.most)), strict=True):
        since[int(k), int(i)] = first[int(k), int(i)] = 0.0
    for m in happened.moments:
        for i in range(len(names)):
            was, is_now = (bool(x.held[i]) and not _at_stop(x, i) for x in (m.before, m.after))
            if is_now and not was:
                since[m.which, i] = m.time
                first.setdefault((m.which, i), m.time)
            elif was and not is_now and (m.which, i) in since:
                total.setdefault((m.which, i), []).append(m.time - since.pop((m.which, i)))
    for key, begun in since.items():
        total.setdefault(key, []).append(float(time[-1]) - begun)
    return [
        (
            first[k, i],
            f"{_who(k, batch)}friction held {names[i]} for {sum(spans):.4g} s in all, first at {first[k, i]:.4g} s.",
        )
        for (k, i), spans in total.items()
    ]


def _of_drives(happened: Happened, time: Array, force: Array, batch: tuple[int, ...]) -> list[tuple[float, str]]:
    """Drives that could not give what they were asked for."""
    effort, names = happened.plant.effort, happened.plant.robot.structure.freedoms
    if effort is None:
        return []
    notes = []
    for i in _beyond(force, effort * (1.0 - 1e-15)):
        at_limit = np.abs(force[:, :, i]) >= effort[i]
        which = np.flatnonzero(at_limit.any(axis=1))
        first = float(time[np.argmax(at_limit[which[0]])])
        many = f" in {len(which)} of {len(force)} trajectories" if batch else ""
        notes.append(
            (first, f"the drive of {names[i]} at its effort limit of {effort[i]:g}{many}, first at {first:.4g} s.")
        )
    return notes


def _of_velocities(happened: Happened, time: Array, v: Array, batch: tuple[int, ...]) -> list[tuple[float, str]]:
    """Joints that were faster than their velocity limit, which nothing keeps."""
    plant = happened.plant
    if plant.stops is None:
        return []
    limit, names, notes = plant.velocity_limit, plant.robot.structure.freedoms, []
    for i in _beyond(v, limit * (1.0 + 1e-9)):
        over = np.abs(v[:, :, i]) > limit[i] * (1.0 + 1e-9)
        which = int(np.flatnonzero(over.any(axis=1))[0])
        first, most = float(time[np.argmax(over[which])]), float(np.nanmax(np.abs(v[:, :, i])))
        notes.append(
            (
                first,
                f"{names[i]} faster than its velocity limit of {limit[i]:g}, up to {most:.4g}, first at {first:.4g} "
                f"s{' in a trajectory' if batch else ''}.",
            )
        )
    return notes


def _beyond(x: Array, limit: Array) -> list[int]:
    """The numbers of x (B, K, n) that are somewhere larger than a limit (n,), up or down; NaN is not."""
    if not x.size:
        return []
    if x.flags.c_contiguous:  # the usual case: all numbers are within all limits, seen in a tenth of the time
        every, least = x.reshape(-1), limit.min()
        if every.max() <= least and every.min() >= -least:
            return []
    most, least = _reduced(np.maximum, x), _reduced(np.minimum, x)
    if np.isnan(most).any():  # of trajectories that have ended; to leave these out takes longer
        most, least = _reduced(np.fmax, x), _reduced(np.fmin, x)
    return ((most > limit) | (least < -limit)).nonzero()[0].tolist()  # type: ignore[no-any-return]


def _reduced(which: np.ufunc, x: Array) -> Array:
    """The largest or the least (n,) of numbers (B, K, n).

    NumPy takes ten times as long to reduce the long axis of a narrow array as that of a wide one, so rows are put side by side.
    """
    rows = x.reshape(-1, x.shape[-1])
    whole = len(rows) // SIDE_BY_SIDE * SIDE_BY_SIDE
    found = which.reduce(rows[whole:]) if whole < len(rows) else None
    if whole:
        wide = which.reduce(rows[:whole].reshape(-1, SIDE_BY_SIDE * x.shape[-1])).reshape(SIDE_BY_SIDE, -1)
        found = which.reduce(wide) if found is None else which(found, which.reduce(wide))
    return found
