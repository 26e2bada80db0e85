"""A million calls of every kind from several threads: each gets its own numbers, and no reference is lost or kept."""

from __future__ import annotations

import argparse
import gc
import random
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import torsor

CALLS, THREADS = 1_000_000, 4


def run(options: argparse.Namespace) -> list[str]:
    """What was wrong."""
    calls = options.times or CALLS
    arm = torsor.robots.ur5()
    robots = [arm.with_gravity((0.0, 0.01 * k, -9.81)) for k in range(100)]
    states = [torsor.random_state(robot, seed=k) for k, robot in enumerate(robots)]
    frames, wrench = arm.frames, {"tool0": np.arange(6.0)}
    expected = [
        (
            torsor.inverse_dynamics(robot, q, v, a),
            torsor.inverse_dynamics(robot, *(x.astype(np.float32) for x in (q, v, a))),
            torsor.inverse_dynamics(robot, q, v, a, wrenches=wrench),
            torsor.frame_poses(robot, q),
        )
        for robot, (q, v, a) in zip(robots, states, strict=True)
    ]
    # Names of frames are not watched: they are held by as many calls as are remembered.
    watched = [arm, *robots, *(x for s in states for x in s), wrench, wrench["tool0"]]

    def work(seed: int) -> int:
        rng, wrong, out = random.Random(seed), 0, np.empty(6)
        for _ in range(calls // (2 * THREADS)):
            k = rng.randrange(len(robots))
            robot, (q, v, a), (tau, single, loaded, poses) = robots[k], states[k], expected[k]
            way = rng.randrange(9)
            if way == 0:
                good = np.array_equal(torsor.inverse_dynamics(robot, q, v, a), tau)
            elif way == 1:
                good = np.array_equal(torsor.inverse_dynamics(robot, a=a, v=v, q=q), tau)
            elif way == 2:
                good = torsor.inverse_dynamics(robot, q, v, a, out=out) is out and np.array_equal(out, tau)
            elif way == 3:
                given = (x.astype(np.float32) for x in (q, v, a))
                good = np.array_equal(torsor.inverse_dynamics(robot, *given), single)
            elif way == 4:
                good = np.array_equal(torsor.inverse_dynamics(robot, q.tolist(), tuple(v.tolist()), a), tau)
            elif way == 5:
                good = np.array_equal(torsor.inverse_dynamics(robot, q, np.repeat(v, 2)[::2], a), tau)
            elif way == 6:
                good = np.array_equal(torsor.inverse_dynamics(robot, q, v, a, wrenches=wrench), loaded)
            elif way == 7:
                batch = torsor.inverse_dynamics(robot, np.stack([q, q, q]), v, a)
                good = batch.shape == (3, 6) and all(np.array_equal(x, tau) for x in batch)
            else:
                frame = rng.randrange(len(frames))
                good = np.allclose(torsor.frame_pose(robot, q, frames[frame]), poses[frame], atol=1e-14)
            wrong += not good
        return wrong

    with ThreadPoolExecutor(THREADS) as pool:
        wrong = sum(pool.map(work, range(THREADS)))  # until everything is remembered
        gc.collect()
        before = [sys.getrefcount(x) for x in watched]
        wrong += sum(pool.map(work, range(options.seed, options.seed + THREADS)))
        gc.collect()
    changed = sum(x != y for x, y in zip(before, [sys.getrefcount(x) for x in watched], strict=True))
    print(f"{calls:,} calls by {THREADS} threads: {wrong} wrong, {changed} of {len(watched)} reference counts changed")
    return [f"{wrong} calls gave wrong numbers"] * (wrong > 0) + [f"{changed} reference counts changed"] * (changed > 0)
