"""Optimal control: turns of DDP beside derivatives of forward dynamics, steps of linearisation, prediction, tasks.

`python benchmarks/optimal_control.py` runs the list of tasks alone, and says of each how it ended.
"""

from __future__ import annotations

from time import process_time

import numpy as np

import torsor
from measure import best

REST = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
KNOTS, AHEAD, TASKS = 100, 20, 100
RATE, FLIGHT = 1e-3, 0.5  # s: between calls of a prediction, and of a motion under it


def measure(rounds: int) -> dict[str, float]:
    """Ratios of times in one run, and how many tasks of a fixed list converge."""
    torsor.set_threads(1)
    table = turns(rounds) | linearisation(rounds) | prediction(rounds) | tasks()
    print("\noptimal control")
    for name, value in table.items():
        print(f"  {name:<78}{value:14,.4g}")
    return table


def problem(goal, force=1e-4, on_the_way=1e-2, end=100.0):
    """Costs of coming to rest at a configuration."""

    def running(robot, q, v, tau, t):
        return force * (tau @ tau) + on_the_way * (v @ v)

    def final(robot, q, v):
        return end * ((q - goal) @ (q - goal)) + 0.1 * end * (v @ v)

    return {"running": running, "final": final}


def turns(rounds: int) -> dict[str, float]:
    """A Panda along 100 steps: turns with whole steps, begun beside the solution, and those of a whole solution on average."""
    arm, still, given = torsor.robots.panda(), np.zeros(7), {"dt": 0.01, "steps": KNOTS}
    wanted, beside = problem(REST + 0.3, 1e-2), problem(REST + 0.3 - 1e-5, 1e-2)
    plan = torsor.control.ddp(arm, REST, still, **given, **beside, tolerance=1e-9)
    q, v, tau = plan.motion.q[:-1] + 0.0, plan.motion.v[:-1] + 0.0, plan.tau

    def ddp(iterations, second_order=True):
        return lambda: torsor.control.ddp(
            arm,
            REST,
            still,
            **given,
            **wanted,
            tau=tau,
            iterations=iterations,
            second_order=second_order,
            tolerance=1e-16,
        )

    contenders = {
        "derivatives": lambda: torsor.forward_dynamics_derivatives(arm, q, v, tau),
        "none": ddp(0),
        "three": ddp(3),
        "none of iLQR": ddp(0, False),
        "one of iLQR": ddp(1, False),
        "whole": lambda: torsor.control.ddp(arm, REST, still, **given, **wanted),
    }
    times = best(
        contenders, rounds=10 * rounds, burst=0.001
    )  # often and briefly: their ratio is told apart from other work
    one = times["derivatives"]
    count = len(contenders["whole"]().cost_history) - 1
    return {
        "a turn of ddp, in derivatives of forward dynamics at its 100 steps": (times["three"] - times["none"])
        / 3
        / one,
        "a turn of iLQR": (times["one of iLQR"] - times["none of iLQR"]) / one,
        f"a turn of a whole solution in {count}, on average": (times["whole"] - times["none"]) / count / one,
    }


def linearisation(rounds: int) -> dict[str, float]:
    """The matrices of a Panda's steps at 100 states, in the time of the derivatives there."""
    arm = torsor.robots.panda()
    q, v, tau = (np.ascontiguousarray(x) for x in torsor.random_state(arm, seed=0, batch=KNOTS))
    methods = ("exact", "semi_implicit_euler", "rk4")
    contenders = {
        method: (lambda method=method: torsor.linearise(arm, q, v, tau, dt=0.01, method=method)) for method in methods
    }
    derivatives = {"derivatives": lambda: torsor.forward_dynamics_derivatives(arm, q, v, tau)}
    times = best(derivatives | contenders, rounds=rounds, burst=0.01)
    return {f"linearise by {method}, in these": times[method] / times["derivatives"] for method in methods}


def prediction(rounds: int) -> dict[str, float]:
    """A Panda 20 steps ahead: a call of the controller, and a step of a simulation that asks it every millisecond, µs."""
    arm, still = torsor.robots.panda(), np.zeros(7)
    look = torsor.control.mpc(arm, **problem(REST + 0.1), dt=0.01, steps=AHEAD)
    state = look.start(REST)

    def run():
        torsor.simulate(
            arm,
            REST,
            still,
            duration=FLIGHT,
            dt=RATE,
            controller=look,
            controller_state=state,
            method="semi_implicit_euler",
        )

    times = best({"call": lambda: look(0.0, REST, still, state), "run": run}, rounds=rounds, burst=0.01)
    return {
        "prediction 20 steps ahead, µs a call from Python": 1e6 * times["call"],
        "… in a simulation that asks it every ms, µs a step": 1e6 * times["run"] * RATE / FLIGHT,
    }


def tasks(*, told: bool = False) -> dict[str, float]:
    """Of a list of 100 swings and reaches, how many converge, each begun from forces that hold the weight or push a little."""
    solved, turns, rng, start = 0, [], np.random.default_rng(0), process_time()
    for k in range(TASKS):
        if k % 4 == 0:
            robot, q0 = torsor.robots.pendulum(), np.zeros(1)
            given = upright(rng) | {"tau": np.array([rng.uniform(0.3, 1.0)]), "dt": 0.02, "steps": 100}
        elif k % 4 == 1:
            robot = torsor.robots.planar2r()
            q0, goal = rng.uniform(-1.0, 1.0, 2), rng.uniform(-2.0, 2.0, 2)
            given = problem(goal, 1e-3) | {"dt": 0.01, "steps": 60}
        else:
            robot = torsor.robots.panda() if k % 4 == 2 else torsor.robots.ur5()
            q0 = torsor.random_configuration(robot, seed=k) * 0.6
            given = problem(q0 + rng.uniform(-0.8, 0.8, robot.nq)) | {"dt": 0.02, "steps": 50}
        found = torsor.control.ddp(robot, q0, np.zeros(robot.nv), **given)
        solved += bool(found.converged)
        turns.append(len(found.cost_history) - 1)
        if told or not found.converged:
            print(f"  task {k}, {robot.name}: {found.reasons[0]} after {turns[-1]} turns, cost {float(found.cost):.4g}")
    return {
        f"tasks that converge to 1e-6, of {TASKS}": float(solved),
        "turns of a task in the middle": float(np.median(turns)),
        "… at most": float(max(turns)),
        "… processor time of all, s": process_time() - start,
    }


def upright(rng):
    """Costs of swinging up."""
    force = float(rng.uniform(3e-3, 3e-2))

    def running(robot, q, v, tau, t):
        return force * (tau @ tau)

    def final(robot, q, v):
        return 100.0 * (1.0 + np.cos(q[0])) + 10.0 * (v @ v)

    return {"running": running, "final": final}


if __name__ == "__main__":
    for name, value in tasks(told=True).items():
        print(f"{name:<60}{value:10.4g}")
