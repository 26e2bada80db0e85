"""Ctrl-C at many moments of a compilation, a batch and a scan: the caller gets it soon, and what comes next is right.

Each process is interrupted once, goes on with the same work where it can, and is followed by a second process that uses the
same cache. Both must give the numbers of an undisturbed process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

MOMENTS = 50
SOON = 0.3  # s from the signal to the exception
LATE = 2.0  # s: a busy machine may be slow, but never so slow

CHILD = """
import json, os, signal, sys, threading, time
import numpy as np, torsor
moment = float(sys.argv[1])
signal.signal(signal.SIGINT, signal.default_int_handler)  # processes in the background ignore it
{setup}
sent = []
def interrupt():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
timer = threading.Timer(moment, interrupt)
late = -1.0
begin = time.perf_counter()
try:
    if moment >= 0:
        timer.start()
    work()
    took = time.perf_counter() - begin
    if moment >= 0:
        timer.cancel()
        timer.join()
        time.sleep(0.05)
except KeyboardInterrupt:
    late = time.perf_counter() - sent[0]
    took = 0.0
try:
    again = work()
except KeyboardInterrupt:  # sent at the very end of the first call
    again = work()
print(json.dumps([took, late, float(np.sum(again))]))
"""
COMPILATION = """
arm = torsor.robots.panda()
q, v, a = torsor.random_state(arm, seed=0, batch=(9,))
def work():
    return torsor.forward_dynamics_derivatives(arm, q, v, a).q
"""
BATCH = """
torsor.set_threads(3)
arm = torsor.robots.panda()
q, v, a = torsor.random_state(arm, seed=0, batch=(1000,))
torsor.forward_dynamics(arm, q, v, a)
def work():
    return torsor.forward_dynamics(arm, *(np.tile(x, (2500, 1)) for x in (q, v, a)))[-1000:]
"""
SCAN = """
arm = torsor.robots.planar2r()
def step(robot, q, v):
    v = v + 1e-4 * torsor.forward_dynamics(robot, q, v, -0.1 * v)
    return {"q": q + 1e-4 * v, "v": v}
loop = torsor.scan(step, arm, {"q": 2, "v": 2})
loop(steps=1, q=np.ones(2), v=np.zeros(2))
def work():
    return loop(steps=6_000_000, every=6_000_000, q=np.ones(2), v=np.zeros(2))["q"]
"""


def child(setup: str, moment: float, cache: str) -> tuple[float, float, float]:
    """Seconds an undisturbed call took, seconds from Ctrl-C to the exception (−1: it came too late), the sum of the result."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD.replace("{setup}", setup), str(moment)],
        env={**os.environ, "TORSOR_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        raise AssertionError(f"exit code {done.returncode}: {done.stderr[-300:]}")
    took, late, total = json.loads(done.stdout)
    return took, late, total


def attack(what: str, setup: str, moments: int, fresh: bool, random: np.random.Generator) -> list[str]:
    """Interrupt one kind of work at moments all over it. ``fresh``: with an empty cache each time."""
    failures, delays, missed = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        took, _, expected = child(setup, -1.0, str(Path(folder, "first")))
        for k in range(moments):
            cache = str(Path(folder, f"cache{k}" if fresh else "first"))
            moment = took * (k + random.random()) / moments
            try:
                _, late, total = child(setup, moment, cache)
                after = child(setup, -1.0, cache)[2]
            except (AssertionError, subprocess.TimeoutExpired) as error:
                failures.append(f"{what}, {moment:.3f} s: {error}")
                continue
            if not total == after == expected:
                failures.append(f"{what}, {moment:.3f} s: {total} and {after} instead of {expected}")
            missed += late < 0
            delays += [late] if late >= 0 else []
            if late > LATE:
                failures.append(f"{what}, {moment:.3f} s: Ctrl-C took {late:.2f} s")
            if left := [path.name for path in Path(cache).glob(".new-*")]:
                failures.append(f"{what}, {moment:.3f} s: left {left}")
    slow = sum(late > SOON for late in delays)
    delays = delays or [float("nan")]
    print(
        f"{what} of {took:.2f} s: {moments} moments, {len(delays)} interrupted, {missed} just after its end; Ctrl-C after "
        f"{1e3 * np.median(delays):.0f} ms (median), {1e3 * max(delays):.0f} ms (longest), {slow} over {SOON} s; "
        f"{len(failures)} failed",
        flush=True,
    )
    return failures


def run(options: argparse.Namespace) -> list[str]:
    moments, random = options.times or MOMENTS, np.random.default_rng(options.seed)
    failures = attack("compilation", COMPILATION, moments, True, random)
    failures += attack("batch", BATCH, moments, False, random)
    return failures + attack("scan", SCAN, max(1, moments // 5), False, random)
