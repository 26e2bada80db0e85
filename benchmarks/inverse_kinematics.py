"""Inverse kinematics of random reachable poses: torsor beside the Robotics Toolbox, where it is installed.

`python benchmarks/inverse_kinematics.py`. Both are given the same robot, limits, targets (poses of random configurations within
limits), tolerance and number of random starts; success is judged for both by torsor's forward kinematics and the limits. The
toolbox solves one target a call, in C++ (``ETS.ik_LM``, its default method). One at a time is processor time, all at once
is time by the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import torsor

ROBOTS = {"panda": "hand_tcp", "ur5": "tool0", "iiwa": "ee"}
TARGETS, TARGETS_OF_PEERS = 10_000, 1_000
TOLERANCE = 1e-6  # rad and m
STARTS = 100


def measure(rounds: int = 5) -> dict[str, dict]:
    """Microseconds a target and share of targets reached, for many targets in one call and for one; seconds of a first call."""
    table = {}
    for name, frame in ROBOTS.items():
        robot = getattr(torsor.robots, name)()
        T = torsor.frame_pose(robot, torsor.random_configuration(robot, seed=1, batch=(TARGETS,)), frame)
        start = time.perf_counter()
        torsor.inverse_kinematics(robot, frame, T[0])
        row = {"first call, s": time.perf_counter() - start}
        for threads in sorted({1, torsor.get_threads()}):
            row[f"torsor, {threads} thread{'s' if threads > 1 else ''}"] = many(robot, frame, T, threads, rounds)
        few = T[:TARGETS_OF_PEERS]
        near = nearby(robot, frame, few)
        ways = {
            "torsor, one at a time": alone(robot, frame),
            "torsor, one at a time, from nearby": following(robot, frame, near),
        }
        try:
            ways["Robotics Toolbox, one at a time"] = toolbox(robot, frame)
            ways["Robotics Toolbox, one at a time, from nearby"] = toolbox(robot, frame, near)
        except ImportError as error:
            print(f"  (the Robotics Toolbox is not measured: {error})")
        row |= one_by_one(robot, frame, few, ways, rounds)
        table[name] = row
        show(name, row)
    return table


def ours(robot: torsor.Robot, frame: str, T: np.ndarray) -> torsor.tasks.InverseKinematics:
    return torsor.inverse_kinematics(robot, frame, T, tolerance=TOLERANCE, starts=STARTS)


def alone(robot: torsor.Robot, frame: str) -> Callable[[np.ndarray], np.ndarray]:
    return lambda pose: ours(robot, frame, pose).q


def nearby(robot: torsor.Robot, frame: str, T: np.ndarray) -> dict[bytes, np.ndarray]:
    """For each target, by its bytes, a start some hundredths of a radian away from a solution."""
    q = ours(robot, frame, T).q + 0.02 * np.random.default_rng(0).normal(size=(len(T), robot.nq))
    return {pose.tobytes(): start for pose, start in zip(T, q, strict=True)}


def following(robot: torsor.Robot, frame: str, starts: dict[bytes, np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """As a control loop calls it."""

    def solve(pose: np.ndarray) -> np.ndarray:
        start = starts[pose.tobytes()]
        return torsor.inverse_kinematics(robot, frame, pose, start=start, tolerance=TOLERANCE, starts=STARTS).q

    return solve


def many(robot: torsor.Robot, frame: str, T: np.ndarray, threads: int, rounds: int) -> dict[str, float]:
    usual = torsor.get_threads()
    torsor.set_threads(threads)
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        found = ours(robot, frame, T)
        times.append(time.perf_counter() - start)
    torsor.set_threads(usual)
    return {"us": 1e6 * min(times) / len(T), "reached": reached(robot, frame, T, found.q)}


def one_by_one(
    robot: torsor.Robot,
    frame: str,
    T: np.ndarray,
    ways: dict[str, Callable[[np.ndarray], np.ndarray]],
    rounds: int,
) -> dict[str, dict[str, float]]:
    """All ways in turn, several times: what slows the machine for a while slows all of them."""
    best = dict.fromkeys(ways, np.inf)
    share: dict[str, float] = {}
    for _ in range(min(rounds, 3)):
        for name, solve in ways.items():
            solve(T[0])
            start = time.process_time()
            q = [solve(pose) for pose in T]
            best[name] = min(best[name], time.process_time() - start)
            share[name] = reached(robot, frame, T, np.array(q))
    return {name: {"us": 1e6 * best[name] / len(T), "reached": share[name]} for name in ways}


def toolbox(
    robot: torsor.Robot, frame: str, starts: dict[bytes, np.ndarray] | None = None
) -> Callable[[np.ndarray], np.ndarray]:
    """The same chain as elementary transforms: each joint turns about the z axis of a frame that is turned to its axis.

    From random starts or, if they are given, from these.
    """
    from roboticstoolbox import ET, ETS

    parts, after = [], np.eye(4)
    for i in robot.structure.path_from_base(robot.structure.frame(frame).link):
        axis = robot.parameters.screws[i][:3]
        turned = np.eye(4)
        turned[:3, :3] = _towards(axis / np.linalg.norm(axis))
        limits = [robot.limits.lower[i], robot.limits.upper[i]]
        parts += [ET.SE3(after @ robot.parameters.poses[i] @ turned), ET.Rz(jindex=i, qlim=limits)]
        after = turned.T
    chain = ETS([*parts, ET.SE3(after @ robot.parameters.frame_poses[robot.structure.frame(frame).pose_row])])
    q = torsor.random_configuration(robot, seed=0)
    difference = np.abs(np.asarray(chain.eval(q)) - torsor.frame_pose(robot, q, frame)).max()
    if difference > 1e-12:
        raise RuntimeError(f"the robots differ by {difference:.1e}")
    residual = 0.5 * TOLERANCE**2  # theirs is half the square of the error
    if starts is not None:
        return lambda pose: np.asarray(chain.ik_LM(pose, q0=starts[pose.tobytes()], slimit=STARTS, tol=residual)[0])
    return lambda pose: np.asarray(chain.ik_LM(pose, slimit=STARTS, tol=residual)[0])


def _towards(axis: np.ndarray) -> np.ndarray:
    """A rotation whose z axis is ``axis``."""
    other = np.eye(3)[np.argmin(np.abs(axis))]
    x = np.cross(other, axis)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x), axis], axis=-1)


def reached(robot: torsor.Robot, frame: str, T: np.ndarray, q: np.ndarray) -> float:
    """The share of targets that are reached, to twice the tolerance, within the limits."""
    E = np.linalg.inv(torsor.frame_pose(robot, q, frame)) @ T
    near = np.abs(torsor.lie.se3.log(E)).max(axis=-1) <= 2 * TOLERANCE
    legal = np.all((q >= np.array(robot.limits.lower)) & (q <= np.array(robot.limits.upper)), axis=-1)
    return float(np.mean(near & legal))


def show(name: str, row: dict) -> None:
    print(f"\n{name}: inverse kinematics, tolerance {TOLERANCE:g} rad and m; first call {row['first call, s']:.2f} s")
    for who, numbers in row.items():
        if isinstance(numbers, dict):
            print(f"  {who:<46}{numbers['us']:>10,.1f} µs a target{100 * numbers['reached']:>9.2f} % reached")


if __name__ == "__main__":
    measure()
