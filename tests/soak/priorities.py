"""Priorities at what cannot be reached, in closed loop: many gains, steps, starts, directions, distances, limits or none."""

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


def run(_: argparse.Namespace) -> list[str]:
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
