"""Paths in least time: `torsor.motion.time_optimal` beside toppra on the same splines, grids and limits."""

from __future__ import annotations

import logging

import numpy as np

import torsor
from measure import best
from robots import path_of, torsor_robot
from torsor.motion import time_optimal

INTERVALS = 1000
MANY = 100  # paths of a batch
PATHS = 20  # random ones that durations and forces are compared on
FINER = 10  # places between two points of the grid where forces are looked at
JERK = 500.0  # rad/s³
LOW = np.array([-2.0, -1.2, -2.0, -2.5, -2.0, 0.5, -2.0])
HIGH = np.array([2.0, 1.2, 2.0, -0.6, 2.0, 3.0, 2.0])


def measure(rounds: int) -> dict[str, float]:
    """Milliseconds a path, ratios, differences of durations and forces beyond limits."""
    torsor.set_threads(1)
    arm = torsor_robot("panda7")
    effort, velocity = np.array(arm.limits.effort), np.array(arm.limits.velocity)
    waypoints = np.random.default_rng(0).uniform(LOW, HIGH, (PATHS, 5, 7))
    table: dict[str, float] = {}
    peer = Peer(effort, velocity)
    ours = {"one path": lambda: time_optimal(arm, splines[0], within_limits=False, effort=effort, velocity=velocity)}
    splines = [torsor.motion.spline(arm, np.linspace(0.0, 1.0, 5), way, ends="natural") for way in waypoints]
    calls = dict(ours)
    if peer.is_there:
        calls["toppra, one path"] = lambda: peer.solve(splines[0])
    times = best(calls, rounds=rounds, burst=0.2)
    table["one path, 1,000 intervals: milliseconds"] = 1e3 * times["one path"]
    if peer.is_there:
        table[f"toppra with {peer.dynamics}: milliseconds"] = 1e3 * times["toppra, one path"]
        table["toppra / torsor (goal: at least 20)"] = times["toppra, one path"] / times["one path"]
    table |= many(arm, waypoints, rounds)
    table |= smooth(arm, splines[0], rounds)
    table |= compared(arm, splines, peer)
    print("\nPanda along splines through five waypoints in least time, limits of force and velocity")
    for name, value in table.items():
        print(f"  {name:<72}{value:12,.3f}")
    return table


def many(arm: torsor.Robot, waypoints: np.ndarray, rounds: int) -> dict[str, float]:
    """Paths a second of a batch, on one core."""
    ways = np.tile(waypoints, (MANY // PATHS, 1, 1))
    path = torsor.motion.spline(arm, np.linspace(0.0, 1.0, 5), ways, ends="natural")
    found = {}
    for intervals in (100, INTERVALS):
        seconds = best(
            {"x": lambda n=intervals: time_optimal(arm, path, intervals=n, within_limits=False, **bounds(arm))},
            rounds=rounds,
        )
        found[f"a batch of {MANY}, {intervals:,} intervals: paths a second (goal: 1,000)"] = MANY / seconds["x"]
    return found


def smooth(arm: torsor.Robot, path: torsor.motion.TangentMotion, rounds: int) -> dict[str, float]:
    """With a limit of jerk: milliseconds, and how much longer the motion takes."""
    calls = {
        f"one path with jerk, {n:,} intervals: milliseconds": lambda n=n: time_optimal(
            arm, path, intervals=n, within_limits=False, jerk=JERK, **bounds(arm)
        )
        for n in (100, INTERVALS)
    }
    found = {name: 1e3 * seconds for name, seconds in best(calls, rounds=rounds).items()}
    long, short = (time_optimal(arm, path, within_limits=False, **more, **bounds(arm)) for more in ({"jerk": JERK}, {}))
    return found | {
        f"with {JERK:.0f} rad/s³ it takes longer by, %": 100.0 * float(long.duration / short.duration - 1.0)
    }


def bounds(arm: torsor.Robot) -> dict[str, np.ndarray]:
    return {"effort": np.array(arm.limits.effort), "velocity": np.array(arm.limits.velocity)}


def compared(arm: torsor.Robot, splines: list, peer: Peer) -> dict[str, float]:
    """Durations and largest forces on random paths, in percent."""
    effort = np.array(arm.limits.effort)
    differences, own, others = [], [], []
    for path in splines:
        found = time_optimal(arm, path, within_limits=False, **bounds(arm))
        knots = found.motion.knots
        times = (knots[:-1, None] + np.diff(knots)[:, None] * (np.arange(FINER) + 0.5) / FINER).ravel()
        q, v, a, _ = found.motion.at(times)
        own.append(beyond(arm, q, v, a, effort))
        if peer.is_there:
            other = peer.solve(path)
            times = np.linspace(0.0, other.duration, FINER * INTERVALS)
            others.append(beyond(arm, other(times), other(times, 1), other(times, 2), effort))
            differences.append(100.0 * (float(found.duration) / other.duration - 1.0))
    found = {f"force beyond its limit between points, {PATHS} paths, at most, % (goal: 0.1)": max(own)}
    if peer.is_there:
        found["the same of toppra, at most, %"] = max(others)
        found["duration beside toppra's, least, % (goal: −0.2)"] = min(differences)
        found["duration beside toppra's, most, % (goal: 1)"] = max(differences)
    return found


def beyond(arm: torsor.Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray, effort: np.ndarray) -> float:
    """By how many percent of its limit a force is beyond it."""
    return 100.0 * max(0.0, float((np.abs(torsor.inverse_dynamics(arm, q, v, a)) / effort).max()) - 1.0)


class Peer:
    """toppra with Pinocchio's inverse dynamics where that is installed, else with torsor's."""

    def __init__(self, effort: np.ndarray, velocity: np.ndarray) -> None:
        try:
            import toppra
        except ImportError:
            self.is_there = False
            print("  (toppra is not installed)")
            return
        logging.getLogger("toppra").setLevel(logging.ERROR)
        self.is_there, self._toppra = True, toppra
        self._limits = np.stack([-effort, effort], axis=-1), np.stack([-velocity, velocity], axis=-1)
        try:
            import pinocchio

            model = pinocchio.buildModelFromUrdf(str(path_of("panda7")))
            data = model.createData()
            self.dynamics, self._inverse = "Pinocchio's dynamics", lambda q, v, a: pinocchio.rnea(model, data, q, v, a)
        except ImportError:
            arm = torsor_robot("panda7")
            self.dynamics, self._inverse = "torsor's dynamics", lambda q, v, a: torsor.inverse_dynamics(arm, q, v, a)

    def solve(self, path: torsor.motion.TangentMotion) -> object:
        """toppra's motion along a path."""
        algorithm, constraint = self._toppra.algorithm, self._toppra.constraint
        forces = constraint.JointTorqueConstraint(self._inverse, self._limits[0], np.zeros(7))
        points = path.at(path.knots).q
        way = self._toppra.SplineInterpolator(path.knots, points, bc_type="natural")
        limits = [constraint.JointVelocityConstraint(self._limits[1]), forces]
        solver = algorithm.TOPPRA(
            limits, way, gridpoints=np.linspace(0.0, 1.0, INTERVALS + 1), parametrizer="ParametrizeConstAccel"
        )
        return solver.compute_trajectory(0.0, 0.0)
