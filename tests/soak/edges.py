"""Operational-space control at the edge of what robots can reach, in closed loop: many gains, starts, directions, distances."""

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


def run(_: argparse.Namespace) -> list[str]:
    import test_edge_of_reach as edges

    import torsor

    failures = []
    for name, kp, clamped in itertools.product(DIRECTIONS, (4.0, 25.0, 100.0, 400.0), (False, True)):
        _, frame, starts, _ = edges.arm_of(name)
        task = torsor.position_task(frame)
        for start, direction in itertools.product(starts, DIRECTIONS[name]):
            point, u = edges.edge(name, direction)
            fastest = None
            for beyond in (0.0, 0.05, 0.3, 0.7):
                case = f"{name} {start} {direction} {beyond} m, kp {kp:g}{', clamped' if clamped else ''}"
                try:
                    found = edges.led(
                        name, start, task, point + beyond * u, kp, clamped=clamped, posture_kd=2.0 * np.sqrt(kp)
                    )
                except AssertionError:
                    failures.append(f"{case}: not finite")
                    continue
                fastest = found.fastest if fastest is None else fastest
                at_rest = np.abs(found.v).max() < 1e-2
                if not at_rest or found.fastest > 2.0 * fastest or (kp <= 25.0 and found.fastest > 10.0):
                    failures.append(f"{case}: {found.fastest:.3g} rad/s, at the end {np.abs(found.v).max():.2g}")
            print(
                f"{name} {start} {direction}, kp {kp:g}{', clamped' if clamped else ''}: {fastest:.3g} rad/s",
                flush=True,
            )
    return failures
