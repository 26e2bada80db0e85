"""Every way of calling inverse dynamics of the Panda for one state, as a ratio to arrays by position: there is no cliff."""

from __future__ import annotations

import numpy as np

import torsor
from measure import best
from robots import torsor_robot

ROBOTS = 100


def measure(rounds: int) -> dict[str, float]:
    """Nanoseconds a call."""
    calls = ways(torsor_robot("panda7"))
    for call, _ in calls.values():  # until everything is compiled and remembered
        for _ in range(3):
            call()
    times = best({name: call for name, (call, _) in calls.items()}, rounds=rounds)
    table = {name: 1e9 * seconds / calls[name][1] for name, seconds in times.items()}
    print("\nPanda, inverse dynamics, one state: nanoseconds a call (ratio to positional)")
    for name, time in table.items():
        print(f"  {name:<34}{time:9.0f}  {time / table['positional']:6.2f}")
    return table


def ways(arm: torsor.Robot) -> dict[str, tuple[object, int]]:
    """What is called, and how many calls that is."""
    f, frames = torsor.inverse_dynamics, arm.frames
    q, v, a = torsor.random_state(arm, seed=0)
    q32, v32, a32 = (x.astype(np.float32) for x in (q, v, a))
    lists, out = [x.tolist() for x in (q, v, a)], np.empty(arm.nv)
    columns = tuple(np.stack([q, v, a], axis=1).T)  # each lies in strides
    wrench, given = {frames[-1]: np.arange(6.0)}, {"q": q, "v": v, "a": a}
    # One kernel for all of these: as many different ones would be measured for the caches they do not fit.
    robots = [arm.with_gravity((0.0, 0.0, -9.0 - 0.001 * k)) for k in range(ROBOTS)]
    kernel, several = torsor.compile(f, arm), torsor.compile(torsor.inverse_dynamics_derivatives, arm)
    derivatives, kept = torsor.inverse_dynamics_derivatives(arm, q, v, a), several(q, v, a)

    def step(robot, q, v, tau):
        v = v + 1e-3 * torsor.forward_dynamics(robot, q, v, tau)
        return {"q": q + 1e-3 * v, "v": v}

    loop = torsor.scan(step, arm, {"q": arm.nq, "v": arm.nv}, constants={"tau": arm.nv})

    def in_turn():
        for robot in robots:
            f(robot, q, v, a)

    def all_frames():
        for frame in frames:
            torsor.frame_pose(arm, q, frame)

    return {
        "positional": (lambda: f(arm, q, v, a), 1),
        "keywords": (lambda: f(arm, a=a, v=v, q=q), 1),
        "robot by keyword": (lambda: f(a=a, v=v, q=q, robot=arm), 1),
        "**mapping": (lambda: f(arm, **given), 1),
        "out=": (lambda: f(arm, q, v, a, out=out), 1),
        "out= an input": (lambda: f(arm, q, v, out, out=out), 1),
        "float32": (lambda: f(arm, q32, v32, a32), 1),
        "lists": (lambda: f(arm, *lists), 1),
        "strided": (lambda: f(arm, *columns), 1),
        "a wrench": (lambda: f(arm, q, v, a, wrenches=wrench), 1),
        f"{ROBOTS} robots in turn": (in_turn, ROBOTS),
        "frame_pose, all frames in turn": (all_frames, len(frames)),
        "kernel, positional": (lambda: kernel(q, v, a), 1),
        "kernel, keywords": (lambda: kernel(a=a, v=v, q=q), 1),
        "kernel, out=": (lambda: kernel(q, v, a, out=out), 1),
        "derivatives, positional": (lambda: torsor.inverse_dynamics_derivatives(arm, q, v, a), 1),
        "derivatives, out=": (lambda: torsor.inverse_dynamics_derivatives(arm, q, v, a, out=derivatives), 1),
        "kernel of derivatives, out=": (lambda: several(q, v, a, out=kept), 1),
        "forward_dynamics, positional": (lambda: torsor.forward_dynamics(arm, q, v, a), 1),
        "scan of one step of it": (lambda: loop(steps=1, q=q, v=v, tau=a), 1),
    }
