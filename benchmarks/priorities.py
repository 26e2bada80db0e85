"""One step of differential inverse kinematics: torsor's strict priorities beside Pink's weighted tasks, where it is installed.

`python benchmarks/priorities.py`. Both are given the same Panda, states, error of the hand's pose and of a posture, limits of
position and velocity, and step. torsor has the hand first and the posture in what that leaves; Pink, which has no strict
order, has weights 1 and 1e-3 (`pink.solve_ik`, with the fastest QP solver that it finds). Only the step is measured, with the
configuration of Pink updated beforehand: what torsor needs of kinematics is in its time. Processor time, in turns, one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import torsor

STATES = 100
STEP = 0.01  # s
GAIN = 0.5  # of the error, in each step; Pink's is 1 by default
FRAME = "hand_tcp"


def measure(rounds: int = 7) -> dict[str, float]:
    """Microseconds a step, the least of some rounds over all states, by contender and case."""
    robot = torsor.robots.panda()
    table: dict[str, float] = {}
    for case, far in (
        ("no limit in the way", 0.02),
        ("some limits in the way", 0.1),
        ("all joints at their limits", 0.8),
    ):
        states = states_of(robot, far)
        contenders: dict[str, list[Callable[[], object]]] = {
            "torsor, posture as second aim": [lambda s=s: ours(robot, *s) for s in states],
            "torsor, posture as second task": [lambda s=s: two_tasks(robot, *s) for s in states],
        }
        try:
            contenders |= peers(robot, states)
        except ImportError as error:
            print(f"  (Pink is not measured: {error})")
        print(f"\n{case}")
        best = in_turns(contenders, rounds)
        least = min((t for who, t in best.items() if who.startswith("Pink")), default=np.nan)
        for who, t in best.items():
            table[f"{who}, {case}"] = t
            print(f"  {who:<36}{t:>8.1f} µs{t / least:>8.2f} times Pink")
    q, error, posture = (np.array(x) for x in zip(*states_of(robot, 0.02), strict=True))
    ours(robot, q, error, posture)
    start = time.process_time()
    ours(robot, q, error, posture)
    print(f"\n  torsor, a batch of {STATES}: {1e6 * (time.process_time() - start) / STATES:.1f} µs a state")
    return table


def states_of(robot: torsor.Robot, far: float) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Configurations, the errors of the hand's pose (6,) and of the posture (7,): poses about ``far`` rad in joints away."""
    rng, lower, upper = np.random.default_rng(0), np.array(robot.limits.lower), np.array(robot.limits.upper)
    q = lower + (upper - lower) * rng.uniform(0.25, 0.75, (STATES, robot.nq))
    goal = torsor.frame_pose(robot, q + far * rng.uniform(-1.0, 1.0, q.shape), FRAME)
    error = torsor.lie.se3.log(np.linalg.inv(torsor.frame_pose(robot, q, FRAME)) @ goal)
    return list(zip(q, error, 0.5 * (lower + upper) - q, strict=True))


def ours(
    robot: torsor.Robot, q: np.ndarray, error: np.ndarray, posture: np.ndarray
) -> torsor.control.PrioritisedVelocities:
    hand = (torsor.pose_task(FRAME), GAIN / STEP * error)
    return torsor.control.prioritised_velocities(robot, q, [hand], STEP, null=posture)


def two_tasks(robot: torsor.Robot, q: np.ndarray, error: np.ndarray, posture: np.ndarray) -> object:
    hand = (torsor.pose_task(FRAME), GAIN / STEP * error)
    return torsor.control.prioritised_velocities(robot, q, [hand, (POSTURE, posture)], STEP)


def _itself(robot: torsor.Robot, q: np.ndarray) -> np.ndarray:
    return q


POSTURE = torsor.function_task(_itself, 7)


def peers(robot: torsor.Robot, states: list) -> dict[str, list[Callable[[], object]]]:
    """Pink's step for each state, by QP solver."""
    import pink
    import pinocchio as pin
    import qpsolvers
    from pink.tasks import FrameTask, PostureTask

    model = pin.buildModelFromXML(robot.to_urdf())
    data, steps = model.createData(), {}
    for solver in qpsolvers.available_solvers:
        calls = []
        for q, error, posture in states:
            configuration = pink.Configuration(model, data.copy(), q)
            hand = FrameTask(FRAME, position_cost=1.0, orientation_cost=1.0, gain=GAIN)
            T = configuration.get_transform_frame_to_world(FRAME)
            hand.set_target(T * pin.exp6(np.concatenate([error[3:], error[:3]])))
            rest = PostureTask(cost=1e-3, gain=STEP)
            rest.set_target(q + posture)
            tasks = [hand, rest]
            calls.append(lambda c=configuration, t=tasks, s=solver: pink.solve_ik(c, t, STEP, solver=s))
        steps[f"Pink, {solver}"] = calls
    return steps


def in_turns(contenders: dict[str, list[Callable[[], object]]], rounds: int) -> dict[str, float]:
    best = dict.fromkeys(contenders, np.inf)
    for _ in range(rounds + 1):  # the first round compiles
        for who, calls in contenders.items():
            start = time.process_time()
            for call in calls:
                call()
            best[who] = min(best[who], 1e6 * (time.process_time() - start) / len(calls))
    return best


if __name__ == "__main__":
    measure()
