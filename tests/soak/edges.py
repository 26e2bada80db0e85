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
        failures += _to_random_points(name, kp, clamped, options)
        failures += _to_random_poses(name, kp, clamped, options)
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


def _to_random_points(name: str, kp: float, clamped: bool, options: argparse.Namespace) -> list[str]:
    """Starts at random, with a straight arm, at the singularity of the wrist; targets at random, behind the robot too.

    One in some thousand arrives late, and has half as much time again, or rests a few centimetres away.
    """
    import test_edge_of_reach as edges

    import torsor
    from torsor import control as controllers

    robot, frame, *_ = edges.arm_of(name)
    task, kd = torsor.position_task(frame), 2.0 * np.sqrt(kp)
    failures, speeds, farthest = [], [], 0.0
    for kind, q, target, _ in _drawn(name, [options.seed, round(kp), clamped, len(name)], options.times or TIMES):
        case = f"{name} {kind} q = {q.tolist()} to {target.tolist()}, kp {kp:g}{', clamped' if clamped else ''}"
        found = _led(edges, case, name, q, task, target, kp, clamped)
        if found is None:
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


def _to_random_poses(name: str, kp: float, clamped: bool, options: argparse.Namespace) -> list[str]:
    """The same to whole poses, which may rest at an edge that their way leads along: at rest in time, and slow enough."""
    import test_edge_of_reach as edges

    from torsor import control as controllers

    robot, frame, *_ = edges.arm_of(name)
    failures, speeds = [], []
    for kind, q, place, R in _drawn(name, [options.seed, round(kp), clamped, len(name), 6], options.times or TIMES):
        target = np.eye(4)
        target[:3, :3], target[:3, 3] = R, place
        case = f"{name} {kind} q = {q.tolist()} to pose {target.tolist()}, kp {kp:g}{', clamped' if clamped else ''}"
        found = _led(edges, case, name, q, frame, target, kp, clamped)
        if found is None:
            failures.append(f"{case}: not finite")
            continue
        speeds.append(found.fastest)
        usual = np.inf
        if found.fastest > 10.0 or kp > 25.0:
            nearest, kd = controllers.nearest_target(robot, frame, target), 2.0 * np.sqrt(kp)
            usual = edges.led(
                name, q, frame, nearest, kp, clamped=clamped, seconds=2.0, posture_kd=kd, nearest=False
            ).fastest
        if np.abs(found.v).max() >= 1e-2 or _too_fast(found.fastest, usual, kp):
            failures.append(f"{case}: {found.fastest:.3g} rad/s, at the end {np.abs(found.v).max():.2g}")
    print(
        f"{name} to poses at random, kp {kp:g}{', clamped' if clamped else ''}: at most {max(speeds, default=0.0):.3g} rad/s",
        flush=True,
    )
    return failures


def _drawn(name: str, seed: list[int], times: int):
    """Starts of all kinds in turn, and where to: a point out of reach and an orientation."""
    import test_edge_of_reach as edges

    import torsor

    rng = np.random.default_rng(seed)
    kinds, flat = ["inside", *SINGULAR[name]], [1, 1, 0] if name == "planar2r" else [1, 1, 1]
    for k in range(times):
        kind, q = kinds[k % len(kinds)], rng.uniform(-np.pi, np.pi, edges.arm_of(name)[0].nv)
        if kind in SINGULAR[name]:
            q[SINGULAR[name][kind]] = 0.0
        point, u = edges.edge(name, tuple(rng.normal(size=3) * flat))
        beyond, turn = rng.choice(BEYOND), rng.uniform(-np.pi, np.pi, 3) * (1 - np.array(flat) if 0 in flat else 0.6)
        yield kind, q, point + beyond * u, torsor.lie.so3.exp(turn)


def _led(edges, case, name, q, task, target, kp, clamped):
    """The loop, with half as much time again if it is not at rest; None if it is not finite."""
    try:
        found = edges.led(name, q, task, target, kp, clamped=clamped)
        if np.abs(found.v).max() >= 1e-2:
            print(f"late: {case}: {np.abs(found.v).max():.2g} rad/s")
            found = edges.led(name, q, task, target, kp, clamped=clamped, seconds=1.5 * max(5.0, 20.0 / np.sqrt(kp)))
    except AssertionError:
        return None
    return found
