"""Optimal motions: a Panda with least torque beside an SQP written by hand, and random problems from the straight line.

``python benchmarks/optimal_motion.py 200`` solves so many random problems, and names each that was not solved.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter

import numpy as np

import torsor
from measure import best

START = np.array([0.0, -0.8, 0.0, -2.3, 0.0, 1.6, 0.8])
GOAL = np.array([1.2, 0.3, -0.6, -1.5, 0.5, 2.2, -0.4])
EACH = 67  # random problems of each robot, of about 200
SLOWER = 1.5  # times the duration that velocity limits alone allow


def measure(rounds: int) -> dict[str, float]:
    """Iterations, residuals and ratios of one problem; success and time of random ones."""
    torsor.set_threads(1)
    full = rounds > 3
    table = one_problem(rounds) | random_problems(EACH if full else 10) | one_batch(200 if full else 40)
    print("\noptimal motions")
    for name, value in table.items():
        print(f"  {name:<78}{value:14,.4g}")
    return table


def one_problem(rounds: int) -> dict[str, float]:
    """The Panda in 1 s between two rests, 70 unknowns, all limits, at rest with zero acceleration at both ends."""
    arm = torsor.robots.panda()
    options = {"duration": 1.0, "a0": np.zeros(7), "a1": np.zeros(7)}

    def own() -> torsor.motion.OptimalMotion:
        return torsor.motion.optimal(arm, START, GOAL, **options)

    found, peer = own(), by_hand(arm)
    if not found or abs(found.cost / peer() - 1.0) > 1e-3:
        raise AssertionError(f"they do not solve the same problem: {found.cost} and {peer()}")
    times = best({"optimal": own, "by hand": peer}, rounds=min(rounds, 5), burst=0.01)
    return {
        "Panda, 70 unknowns, all limits: iterations (goal: at most 15)": found.iterations,
        "violation at nodes (goal: at most 1e-9)": found.violation,
        "overshoot between nodes (goal: at most 1e-3)": found.overshoot,
        "residual (goal: at most 1e-8)": found.residual,
        "ms of processor time": 1e3 * times["optimal"],
        "time of an SQP by hand, of it (goal: at least 3)": times["by hand"] / times["optimal"],
    }


def random_problems(each: int) -> dict[str, float]:
    """From the straight line, of each robot as many; those that are not solved are printed."""
    count, seconds, table = 0, 0.0, {}
    outcome: Counter[str] = Counter()
    for robot, ends in problems_of(each):
        speed = np.array(robot.limits.velocity)
        torsor.motion.optimal(robot, *ends[0], duration=5.0, iterations=1)  # compiles what the robot needs
        steps = []
        for q0, q1 in ends:
            duration = SLOWER * float((np.abs(q1 - q0) / speed).max())
            start = time.process_time()
            found = torsor.motion.optimal(robot, q0, q1, duration=duration)
            seconds += time.process_time() - start
            count += 1
            steps.append(found.iterations)
            outcome["solved" if found else "infeasible" if found.infeasible else "not converged"] += 1
            if not found:
                print(f"  {robot.name}, {q0.round(2)} to {q1.round(2)} in {duration:.2f} s: {found}")
        table[f"random problems of {robot.name}: median of iterations"] = float(np.median(steps))
    for name in ("solved", "infeasible", "not converged"):
        table[f"random problems {name}, percent"] = 100.0 * outcome[name] / count
    table["random problems a minute of processor time (goal: 1,000)"] = 60.0 * count / seconds
    return table


def one_batch(count: int) -> dict[str, float]:
    """Random problems of the Panda with one duration in one call, by two processes; processor time of all of them."""
    ((robot, ends), *_) = problems_of(count)
    speed = np.array(robot.limits.velocity)
    duration = SLOWER * float((np.abs(ends[:, 1] - ends[:, 0]) / speed).max())
    torsor.set_threads(2)
    before = sum(os.times()[:4])
    found = torsor.motion.optimal(robot, ends[:, 0], ends[:, 1], duration=duration)
    seconds = sum(os.times()[:4]) - before
    torsor.set_threads(1)
    return {
        f"{count} of the Panda in one call, two processes: problems a minute and core": 60.0 * count / seconds,
        "of these solved, percent": 100.0 * float(found.converged.mean()),
    }


def problems_of(each: int) -> list[tuple[torsor.Robot, np.ndarray]]:
    """Robots, and for each end points (each, 2, nq) uniform in the middle 80 % of its joint ranges."""
    rng, found = np.random.default_rng(7), []
    for robot in (torsor.robots.panda(), torsor.robots.ur5(), torsor.robots.iiwa()):
        low, high = (np.array(x) for x in (robot.limits.lower, robot.limits.upper))
        found.append((robot, 0.5 * (low + high) + 0.4 * (high - low) * rng.uniform(-1.0, 1.0, (each, 2, robot.nv))))
    return found


def by_hand(arm: torsor.Robot):
    """An SQP as one writes it first: the same Hessian, all limits at 101 times in one dense quadratic program by PIQP."""
    import piqp
    from scipy.interpolate import BSpline

    n, K, p, N = 7, 16, 5, 101
    knots = np.r_[[0.0] * p, np.linspace(0.0, 1.0, K - p + 1), [1.0] * p]
    curve = BSpline(knots, np.eye(K), p)
    times = np.linspace(0.0, 1.0, N)
    B = [curve(times), curve.derivative(1)(times), curve.derivative(2)(times)]
    inner = [b[:, 3 : K - 3] for b in B]
    nx = n * (K - 6)
    w = np.full(N, 1.0 / (N - 1))
    w[[0, -1]] *= 0.5
    limits = arm.limits
    low, high, speed, effort = (np.array(x) for x in (limits.lower, limits.upper, limits.velocity, limits.effort))
    fixed = [np.einsum("tk,ij->tikj", b, np.eye(n)).reshape(N * n, nx) for b in inner]

    def evaluated(x):
        P = np.empty((K, n))
        P[:3], P[-3:], P[3 : K - 3] = START, GOAL, x.reshape(-1, n)
        q, v, a = (b @ P for b in B)
        return q, v, a, torsor.inverse_dynamics(arm, q, v, a)

    def merit(x, price):
        q, v, _, tau = evaluated(x)
        beyond = [low - q, q - high, np.abs(v) - speed, np.abs(tau) - effort]
        return (w[:, None] * tau**2).sum() + price * sum(np.maximum(one, 0.0).sum() for one in beyond)

    def run():
        s = np.linspace(0.0, 1.0, K)
        x = (START + np.clip((s - s[2]) / (s[-3] - s[2]), 0, 1)[:, None] * (GOAL - START))[3 : K - 3].ravel()
        multipliers, price = np.zeros((N, n)), 200.0
        for _ in range(100):
            q, v, a, tau = evaluated(x)
            d = torsor.inverse_dynamics_derivatives(arm, q, v, a)
            J = sum(np.einsum("tij,tk->tikj", D, b) for D, b in zip(d, inner, strict=True)).reshape(N * n, nx)
            W = np.repeat(w, n)
            g, H = 2.0 * J.T @ (W * tau.ravel()), 2.0 * (J.T * W) @ J
            h = torsor.derivatives.inverse_dynamics_hessian(arm, q, v, a, 2.0 * tau * w[:, None] + multipliers)
            by = {"q": inner[0], "v": inner[1], "a": inner[2]}
            for name, block in h._asdict().items():
                S = np.einsum("tk,tij,tl->kilj", by[name[0]], block, by[name[1]], optimize=True).reshape(nx, nx)
                H = H + (S if name[0] == name[1] else S + S.T)
            values, vectors = np.linalg.eigh(0.5 * (H + H.T))
            H = (vectors * np.maximum(np.abs(values), 1e-3)) @ vectors.T
            lower = np.concatenate([(low - q).ravel(), (-speed - v).ravel(), (-effort - tau).ravel()])
            upper = np.concatenate([(high - q).ravel(), (speed - v).ravel(), (effort - tau).ravel()])
            solver = piqp.DenseSolver()
            solver.settings.eps_abs = solver.settings.eps_rel = 1e-7
            solver.setup(H, g, None, None, np.vstack([fixed[0], fixed[1], J]), lower, upper)
            solver.solve()
            step, before, part = solver.result.x, merit(x, price), 1.0
            while merit(x + part * step, price) > before - 1e-6 * part * abs(g @ step) and part > 1e-4:
                part *= 0.5
            x = x + part * step
            found = (solver.result.z_u - solver.result.z_l)[2 * N * n :].reshape(N, n)
            multipliers = multipliers + part * (found - multipliers)
            if np.abs(step).max() < 1e-7:
                break
        return merit(x, price)

    return run


if __name__ == "__main__":
    torsor.set_threads(1)
    for what, value in random_problems(-(-int(sys.argv[1]) // 3)).items():
        print(f"{what:<78}{value:14,.4g}")
