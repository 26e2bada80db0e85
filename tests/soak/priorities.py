"""Priorities at what cannot be reached, in closed loop: many gains, steps, starts, directions, distances, limits or none.

And two levels at random, that may contradict each other, with a posture below them.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "agreement"))

DIRECTIONS = {
    "planar2r": [(1, 0, 0), (-1, 1, 0)],
    "ur5": [(1, 0, 0.3), (0, 1, 0.3)],
    "panda": [(1, 0, 0.3), (0, 1, 0.5)],
}
FREE = {"within_limits": False}
FRAMES = {*(f"link_{k}" for k in range(3, 9)), "hand_tcp", "flange", "tool0"}
STEPS = ((4.0, 0.004), (2.0, 0.004), (10.0, 0.002), (4.0, 0.002))  # gains and s
TIMES = 60  # random levels
# Of directions between 1e-4 and 1e-2 of what is usual levels out of reach share σ (1 − φ), at most 1e-4 of what is usual, times
# what the levels below would have there alone. Of 176 such loops one came to 1.4e-3 m/s² more than is said there, at 52 rad/s.
SHARED = 2e-3
# Seeds and numbers of such levels that once were not at rest by torques, or diverged
ONCE_FAILED = ((5, 25), (5, 28), (5, 40), (6, 6), (6, 15), (6, 34), (6, 46), (6, 54), (101, 10))


def run(options: argparse.Namespace) -> list[str]:
    return _one_level() + _random_levels(options) + _random_levels_by_torques(options)


def _one_level() -> list[str]:
    import test_edge_of_reach as edges
    import test_priorities_at_the_edge as loops

    failures = []

    def tried(case, led, *given, **options):
        try:
            last, fastest, _ = led(*given, **options)
        except Exception as error:
            failures.append(f"{case}: {error!r:.100}")
            return
        print(f"{case}: at the end {last:.2g} rad/s, fastest {fastest:.3g}", flush=True)
        if last > loops.AT_REST:
            failures.append(f"{case}: {last:.2g} rad/s at the end")

    for name, beyond, free in itertools.product(DIRECTIONS, (0.01, 0.05, 0.3, 1.0), (False, True)):
        _, _, starts, _ = edges.arm_of(name)
        for start, direction in itertools.product(starts, DIRECTIONS[name]):
            point, u = edges.edge(name, direction)
            target = point + beyond * u
            case = f"{name} {start} {direction} {beyond} m{', no limits' if free else ''}"
            options = FREE if free else {}
            for gain, dt in ((1.0, 0.004), (4.0, 0.001), (4.0, 0.004), (10.0, 0.01)):
                seconds = 3.0 + 6.0 / gain
                tried(
                    f"{case}, gain {gain:g}, {dt} s",
                    loops.led_by_velocities,
                    name,
                    start,
                    target,
                    gain,
                    dt,
                    seconds,
                    **options,
                )
            for kp, dt in ((4.0, 0.004), (25.0, 0.002), (100.0, 0.004), (400.0, 0.001)):
                seconds = max(3.0, 20.0 / np.sqrt(kp))
                tried(
                    f"{case}, kp {kp:g}, {dt} s", loops.led_by_torques, name, start, target, kp, dt, seconds, **options
                )
    return failures


def _cases(options: argparse.Namespace):
    """Random levels by what to call them: robot, levels, posture, start, gain, step, options."""
    import test_priorities_at_the_edge as loops

    import torsor

    for seed, k in (*ONCE_FAILED, *((options.seed, k) for k in range(options.times or TIMES))):
        rng = np.random.default_rng([seed, k])
        name = ("panda", "iiwa", "ur5")[k % 3]
        robot = getattr(torsor.robots, name)()
        home, q = loops.two_configurations(robot, rng)
        frames = [frame for frame in robot.frames if frame in FRAMES]
        levels = [_random_level(rng, frames) for _ in range(2)]
        gain, dt = STEPS[rng.integers(len(STEPS))]
        given = FREE if rng.random() < 0.5 else {}
        case = f"{seed}, {k}: {name} {levels}, gain {gain:g}, {dt} s{', no limits' if given else ''}"
        yield case, robot, levels, home, q, gain, dt, given


def _random_levels(options: argparse.Namespace) -> list[str]:
    """At rest after 5 s; those that are merely slow have 8 s more."""
    import test_priorities_at_the_edge as loops

    failures = []
    for case, robot, levels, home, q, gain, dt, given in _cases(options):
        last, fastest, q = loops.led_by_levels(robot, levels, home, q, gain, dt, 5.0, **given)
        if last > loops.AT_REST:
            print(f"late: {case}: {last:.2g} rad/s")
            last, _, _ = loops.led_by_levels(robot, levels, home, q, gain, dt, 8.0, **given)
        print(f"{case}: at the end {last:.2g} rad/s, fastest {fastest:.3g}", flush=True)
        if last > loops.AT_REST:
            failures.append(f"{case}: {last:.2g} rad/s at the end")
    return failures


def _random_levels_by_torques(options: argparse.Namespace) -> list[str]:
    """The same by accelerations, with gains of 4 at least and steps of 4 ms."""
    import test_priorities_at_the_edge as loops

    failures = []
    for case, robot, levels, home, q, gain, _, given in _cases(options):
        gain = max(gain, 4.0)
        last, fastest, q = loops.led_by_levels_and_torques(robot, levels, home, q, gain, 0.004, 5.0, SHARED, **given)
        if last > loops.AT_REST:
            print(f"late by torques: {case}: {last:.2g} rad/s")
            last, _, _ = loops.led_by_levels_and_torques(robot, levels, home, q, gain, 0.004, 12.0, SHARED, **given)
        print(f"{case}, by torques: at the end {last:.2g} rad/s, fastest {fastest:.3g}", flush=True)
        if last > loops.AT_REST:
            failures.append(f"{case}, by torques: {last:.2g} rad/s at the end")
    return failures


def _random_level(rng: np.random.Generator, frames: list[str]) -> tuple[str, str, list[float]]:
    """One or two coordinates of a frame, and where they should be, m."""
    frame = frames[rng.integers(len(frames))]
    named = "".join(sorted(rng.choice(list("xyz"), rng.integers(1, 3), replace=False)))
    place = rng.uniform(-1.0, 1.0, len(named)).round(2) * (1 if rng.random() < 0.5 else 2)
    return frame, named, place.tolist()
