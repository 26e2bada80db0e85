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
SINGULAR = {"planar2r": {"straight": 1}, "ur5": {"straight": 2, "wrist": 4}, "panda": {"straight": 3, "wrist": 5}}
BEYOND = (0.05, 0.3, 0.7)  # m
GAINS = (4.0, 25.0, 100.0, 400.0)
TIMES = 3  # random loops for each robot, gain and way of the plant


def run(options: argparse.Namespace) -> list[str]:
    failures = []
    for name, kp, clamped in itertools.product(DIRECTIONS, GAINS, (False, True)):
        failures += _from_known_starts(name, kp, clamped)
        failures += _from_random_starts(name, kp, clamped, options)
    return failures


def _from_known_starts(name: str, kp: float, clamped: bool) -> list[str]:
    import test_edge_of_reach as edges

    import torsor

    failures = []
    _, frame, starts, _ = edges.arm_of(name)
    task = torsor.position_task(frame)
    for start, direction in itertools.product(starts, DIRECTIONS[name]):
        point, u = edges.edge(name, direction)
        fastest = None
        for beyond in (0.0, BEYOND[0], BEYOND[-1]):
            case = f"{name} {start} {direction} {beyond} m, kp {kp:g}{', clamped' if clamped else ''}"
            try:
                found = edges.led(
                    name, start, task, point + beyond * u, kp, clamped=clamped, posture_kd=2.0 * np.sqrt(kp)
                )
            except AssertionError:
                failures.append(f"{case}: not finite")
                continue
            fastest = found.fastest if fastest is None else fastest
            at_rest = np.abs(found.v).max() < 1e-2 or not beyond  # a point on the edge is within reach, and crept up to
            if not at_rest or _too_fast(found.fastest, fastest, kp):
                failures.append(f"{case}: {found.fastest:.3g} rad/s, at the end {np.abs(found.v).max():.2g}")
        print(
            f"{name} {start} {direction}, kp {kp:g}{', clamped' if clamped else ''}: {fastest:.3g} rad/s",
            flush=True,
        )
    return failures


def _too_fast(fastest: float, usual: float, kp: float) -> bool:
    """Faster than twice what is usual, the law to the nearest; soft gains may lead to 10 rad/s whatever is usual."""
    return fastest > 2.0 * usual and (kp > 25.0 or fastest > 10.0)


def _from_random_starts(name: str, kp: float, clamped: bool, options: argparse.Namespace) -> list[str]:
    """Starts at random, with a straight arm, at the singularity of the wrist; targets at random, behind the robot too.

    One in some thousand arrives late, and has half as much time again, or rests a few centimetres away.
    """
    import test_edge_of_reach as edges

    import torsor
    from torsor import control as controllers

    rng = np.random.default_rng([options.seed, round(kp), clamped, len(name)])
    robot, frame, *_ = edges.arm_of(name)
    task, kd = torsor.position_task(frame), 2.0 * np.sqrt(kp)
    kinds, failures, speeds, farthest = ["inside", *SINGULAR[name]], [], [], 0.0
    for k in range(options.times or TIMES):
        kind, q = kinds[k % len(kinds)], rng.uniform(-np.pi, np.pi, robot.nv)
        if kind in SINGULAR[name]:
            q[SINGULAR[name][kind]] = 0.0
        u = rng.normal(size=3) * ([1, 1, 0] if name == "planar2r" else 1)
        point, u = edges.edge(name, tuple(u))
        target = point + rng.choice(BEYOND) * u
        case = f"{name} {kind} q = {q.tolist()} to {target.tolist()}, kp {kp:g}{', clamped' if clamped else ''}"
        try:
            found = edges.led(name, q, task, target, kp, clamped=clamped)
            if np.abs(found.v).max() >= 1e-2:
                print(f"late: {case}")
                found = edges.led(
                    name, q, task, target, kp, clamped=clamped, seconds=1.5 * max(5.0, 20.0 / np.sqrt(kp))
                )
        except AssertionError:
            failures.append(f"{case}: not finite")
            continue
        nearest = controllers.nearest_target(robot, task, target)
        off = np.linalg.norm(torsor.frame_pose(robot, found.q, frame)[:3, 3] - nearest)
        speeds, farthest = [*speeds, found.fastest], max(farthest, off)
        try:
            usual = edges.led(name, q, task, nearest, kp, clamped=clamped, seconds=2.0, posture_kd=kd).fastest
        except AssertionError:  # as fast as can be
            usual = np.inf
        if np.abs(found.v).max() >= 1e-2 or _too_fast(found.fastest, usual, kp) or off > 0.05:
            failures.append(
                f"{case}: {found.fastest:.3g} rad/s, at the end {np.abs(found.v).max():.2g}, {1e3 * off:.2g} mm from the nearest"
            )
    print(
        f"{name} at random, kp {kp:g}{', clamped' if clamped else ''}: at most {max(speeds, default=0.0):.3g} rad/s, "
        f"{1e3 * farthest:.2g} mm from the nearest",
        flush=True,
    )
    return failures
