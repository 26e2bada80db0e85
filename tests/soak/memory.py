"""Thousands of robots, five functions each: memory stays bounded, and robots go with their last reference."""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import tempfile
import time
import warnings
import weakref
from pathlib import Path

import numpy as np

import torsor

VARIANTS = 2000
MOST = 600  # MB
FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias_forces", "gravity_forces")


def resident() -> float:
    """MB of memory in use."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


def evaluate(name: str, robot: torsor.Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    given = {"mass_matrix": (q,), "gravity_forces": (q,), "bias_forces": (q, v)}.get(name, (q, v, a))
    return getattr(torsor, name)(robot, *given)


def measure(variants: int, seed: int) -> int:
    """In a process of its own: 0 if memory stayed within the bound and all numbers were right."""
    warnings.simplefilter("ignore")
    from torsor.functions.dispatch import KERNELS

    generator, arm = np.random.default_rng(seed), torsor.robots.ur5()
    state = torsor.random_state(arm, seed=seed)
    alive: list[weakref.ref[torsor.Robot]] = []
    wrong, most, start = 0, 0.0, time.perf_counter()
    for k in range(variants):
        robot = arm.with_gravity(generator.normal(size=3))
        found = {name: evaluate(name, robot, *state) for name in FUNCTIONS}
        if k % 100 == 0:
            with torsor.backend("numpy"):
                wrong += sum(
                    not np.allclose(evaluate(name, robot, *state), found[name], rtol=1e-9, atol=1e-9)
                    for name in FUNCTIONS
                )
        alive.append(weakref.ref(robot))
        del robot
        most = max(most, resident())
        if (k + 1) % max(1, variants // 10) == 0:
            gc.collect()
            living = sum(robot() is not None for robot in alive)
            print(
                f"{k + 1} variants x {len(FUNCTIONS)} functions: {resident():.0f} MB resident, {len(KERNELS)} kernels of "
                f"{KERNELS.total / 1e6:.0f} MB counted, {living} robots alive, {time.perf_counter() - start:.0f} s",
                flush=True,
            )
    gc.collect()
    living = sum(robot() is not None for robot in alive)
    print(f"most {most:.0f} MB (at most {MOST}), {wrong} wrong, {living} robots alive", flush=True)
    return int(most > MOST or wrong > 0 or living > 0)


def run(options: argparse.Namespace) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, __file__, str(options.times or VARIANTS), str(options.seed)],
            env={**os.environ, "TORSOR_CACHE_DIR": str(Path(folder, "kernels"))},
            check=False,
        )
    return ["memory, numbers or robots alive: see above"] if done.returncode else []


if __name__ == "__main__":
    sys.exit(measure(*map(int, sys.argv[1:])))
