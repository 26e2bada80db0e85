"""Optimal control: a turn of DDP beside derivatives of forward dynamics, steps of linearisation, prediction, tasks."""

from __future__ import annotations

import numpy as np

import torsor
from measure import best

REST = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
KNOTS, AHEAD, TASKS = 100, 20, 100


def measure(rounds: int) -> dict[str, float]:
    """Ratios of times in one run, and how many tasks of a fixed list converge."""
    torsor.set_threads(1)
    table = turns(rounds) | prediction(rounds) | tasks(TASKS if rounds > 3 else 10)
    print("\noptimal control")
    for name, value in table.items():
        print(f"  {name:<78}{value:14,.4g}")
    return table


def problem(goal, force=1e-4):
    """Costs of coming to rest at a configuration."""

    def running(robot, q, v, tau, t):
        return force * (tau @ tau) + 1e-2 * (v @ v)

    def final(robot, q, v):
        return 100.0 * ((q - goal) @ (q - goal)) + 10.0 * (v @ v)

    return {"running": running, "final": final}


def turns(rounds: int) -> dict[str, float]:
    """A Panda along 100 steps: one turn, and the matrices of its steps, in the time of the derivatives there."""
    arm, given = torsor.robots.panda(), problem(REST + 0.3)
    given |= {"dt": 0.01, "steps": KNOTS}
    start = torsor.control.ddp(arm, REST, np.zeros(7), **given)
    q, v, tau = start.motion.q[:-1] + 0.0, start.motion.v[:-1] + 0.0, start.tau

    near = tau * (1.0 + 1e-3 * np.sin(np.arange(KNOTS))[:, None])  # where whole steps pay

    def ddp(iterations, second_order=True):
        return lambda: torsor.control.ddp(
            arm, REST, np.zeros(7), **given, tau=near, iterations=iterations, second_order=second_order, tolerance=1e-12
        )

    contenders = {
        "derivatives": lambda: torsor.forward_dynamics_derivatives(arm, q, v, tau),
        "none": ddp(0),
        "a turn": ddp(1),
        "none of iLQR": ddp(0, False),
        "a turn of iLQR": ddp(1, False),
        **{
            method: (lambda method=method: torsor.linearise(arm, q, v, tau, dt=0.01, method=method))
            for method in ("exact", "semi_implicit_euler", "rk4")
        },
    }
    times = best(contenders, rounds=rounds, burst=0.01)
    one = times["derivatives"]
    return {
        "a turn of ddp, in derivatives of forward dynamics at its 100 steps": (times["a turn"] - times["none"]) / one,
        "a turn of iLQR": (times["a turn of iLQR"] - times["none of iLQR"]) / one,
        **{f"linearise by {method}": times[method] / one for method in ("exact", "semi_implicit_euler", "rk4")},
    }


def prediction(rounds: int) -> dict[str, float]:
    """A Panda 20 steps ahead: a call of the controller, µs."""
    arm = torsor.robots.panda()
    look = torsor.control.mpc(arm, **problem(REST + 0.1), dt=0.01, steps=AHEAD)
    state = look.start(REST)
    for _ in range(5):
        _, state = look(0.0, REST, np.zeros(7), state)
    times = best({"call": lambda: look(0.0, REST, np.zeros(7), state)}, rounds=rounds, burst=0.01)
    return {"prediction 20 steps ahead, µs a call": 1e6 * times["call"]}


def tasks(many: int) -> dict[str, float]:
    """Of a list of swings and reaches, how many converge, each begun from forces that hold the weight or push a little."""
    solved, rng = 0, np.random.default_rng(0)
    for k in range(many):
        if k % 4 == 0:
            robot, q0 = torsor.robots.pendulum(), np.zeros(1)
            given = problem_up(rng) | {"tau": np.array([rng.uniform(0.3, 1.0)]), "dt": 0.02, "steps": 100}
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
        if not found.converged:
            print(f"  task {k}: {found}")
    return {f"tasks that converge, of {many}": float(solved)}


def problem_up(rng):
    """Costs of swinging up."""
    force = float(rng.uniform(3e-3, 3e-2))

    def running(robot, q, v, tau, t):
        return force * (tau @ tau)

    def final(robot, q, v):
        return 100.0 * (1.0 + np.cos(q[0])) + 10.0 * (v @ v)

    return {"running": running, "final": final}
