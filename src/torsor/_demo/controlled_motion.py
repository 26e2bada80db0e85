"""A motion, followed by a controller that does not know the load in the hand."""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

import numpy as np

import torsor
from torsor import control, motion

START = np.array([0.0, -0.6, 0.0, -2.2, 0.0, 1.7, 0.8])
END = np.array([1.3, 0.3, -0.5, -1.2, 0.6, 2.2, -0.4])
VELOCITY, ACCELERATION, JERK = 1.9, 8.0, 80.0  # rad/s, rad/s², rad/s³
LOAD = 0.5  # kg


class Followed(NamedTuple):
    """What was planned, what the robot did, and that in words."""

    planned: motion.Motion
    run: torsor.Trajectory
    text: str


def follow_a_motion(arm: torsor.Robot) -> Followed:
    """There and back within the limits; computed torque at 1 kHz on an arm that carries half a kilogram."""
    there, back = (
        motion.s_curve(arm, q0, q1, velocity=VELOCITY, acceleration=ACCELERATION, jerk=JERK)
        for q0, q1 in ((START, END), (END, START))
    )
    planned = motion.in_sequence([there, back])
    keeps = planned.check()
    track = control.follow(control.computed_torque, planned, kp=400.0, kd=40.0)
    loaded = arm.with_payload(arm.frames[-1], torsor.Inertia.box((0.08, 0.08, 0.08), mass=LOAD))
    duration = float(np.ceil(1e3 * planned.duration) / 1e3)

    def simulate() -> torsor.Trajectory:
        return torsor.simulate(loaded, START, np.zeros(arm.nv), duration=duration, dt=1e-3, controller=track)

    run, took = simulate(), np.inf
    for _ in range(5):  # the best of five: other programs run, too
        begin = perf_counter()
        simulate()
        took = min(took, perf_counter() - begin)
    off = np.degrees(np.max(np.abs(run.q - planned.at(run.time).q)))
    used = 100.0 * np.max(np.abs(run.tau) / np.array(arm.limits.effort))
    text = (
        f"A CONTROLLED MOTION: {duration:.2f} s there and back by s-curves, "
        f"which {'keep' if keeps else 'break'} the limits of the robot.\n"
        f"  Computed torque at 1 kHz follows it; the arm carries {LOAD:g} kg that the controller does not know of.\n"
        f"  Largest error {off:.2f}°; largest torque {used:.0f} % of its limit.\n"
        f"  {len(run) - 1} steps with the controller took {1e3 * took:.3g} ms once compiled: "
        f"{duration / took:.0f} times as fast as the robot moves.\n"
        f"  Work and energy agree to {run.audit().residual:.0e} of the energy exchanged."
    )
    return Followed(planned, run, text)
