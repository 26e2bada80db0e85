"""A Panda draws a circle with its hand: by torques, with two postures for its elbow, and by joint rates within its limits.

What the hand can do at all, before it starts, is drawn as ellipsoids.

Needs torsor[qp]; its pictures torsor[plot].

python examples/14_operational_space.py [directory for the pictures]
"""

import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

import torsor
from torsor import control as controllers

STEP = 0.005  # s: a new torque 200 times a second
PERIOD = 4.0  # s for the circle
RADIUS = 0.12  # m
HAND = "hand_tcp"
READY = np.array([0.0, -0.4, 0.0, -2.2, 0.0, 1.9, 0.8])
POSTURES = {
    "elbow to the right": READY + 1.2 * np.array([1, 0, -1, 0, 0, 0, 0]),
    "elbow to the left": READY - 1.2 * np.array([1, 0, -1, 0, 0, 0, 0]),
}
NEAR_A_LIMIT = np.array([0.0, -1.2, 0.0, -2.95, 0.0, 1.8, 0.8])  # joint 4 may go down to −3.07 rad

Runs = dict[str, torsor.Trajectory]  # of each posture


class Circle(NamedTuple):
    """Poses (N, 4, 4), twists and their rates (N, 6) in axes of the hand, which keeps its orientation."""

    pose: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


def main() -> None:
    panda = torsor.robots.panda()
    free, kept, said = by_rates(panda)  # first, since it needs torsor[qp]
    circle = circle_from(torsor.frame_pose(panda, READY, HAND), rounds=2)
    print(f"{panda.name} draws a circle of {RADIUS:g} m twice, {PERIOD:g} s each, from rest and off its path")
    runs = {name: draw_circle(panda, circle, posture) for name, posture in POSTURES.items()}
    for name, run in runs.items():
        off = np.linalg.norm(hand_positions(panda, run.q) - circle.pose[:, :3, 3], axis=-1)
        late = off[len(off) // 2 :].max()
        effort = np.abs(run.tau).max(axis=0) / panda.limits.effort
        print(f"  {name}: {1e3 * off[0]:.0f} mm off at first, {1e3 * late:.2f} mm in the second round, ", end="")
        print(f"{100 * effort.max():.0f} % of its torques{'' if late < 2e-3 else '  BAD'}")
    apart = np.linalg.norm(elbows(panda, runs, -1)[0] - elbows(panda, runs, -1)[1])
    print(f"  the elbows end {apart:.2f} m apart: one task, two postures")

    print("\nthe same circle by joint rates, beginning near a limit of joint 4:")
    lower = panda.limits.lower[3]
    print(f"  resolved rates take joint 4 down to {free[:, 3].min():.2f} rad; its limit is {lower:.4f} rad")
    print(f"  within limits it stays at {kept[:, 3].min():.4f} rad{'' if kept[:, 3].min() > lower - 1e-9 else '  BAD'}")
    print("  asked for the hand's orientation too, it explains what it cannot do:")
    for line in str(said).splitlines():
        print(f"    {line}")
    draw(panda, circle, runs, free, kept)


def circle_from(T: np.ndarray, rounds: int) -> Circle:
    """A circle through the origin of T, in the plane of y and z, from rest: the angle starts smoothly."""
    time = STEP * np.arange(round(rounds * PERIOD / STEP) + 1)
    w, ramp = 2 * np.pi / PERIOD, 0.5
    angle = w * (time - ramp * (1 - np.exp(-time / ramp)))
    rate, change = w * (1 - np.exp(-time / ramp)), w / ramp * np.exp(-time / ramp)
    c, s = np.cos(angle), np.sin(angle)
    zero, R = 0 * c, T[:3, :3]
    p = T[:3, 3] + RADIUS * np.stack([zero, s, c - 1], axis=-1)
    v = RADIUS * rate[:, None] * np.stack([zero, c, -s], axis=-1)
    a = RADIUS * np.stack([zero, change * c - rate**2 * s, -change * s - rate**2 * c], axis=-1)
    still = np.zeros((len(time), 3))
    poses = np.tile(T, (len(time), 1, 1))
    poses[:, :3, 3] = p
    return Circle(poses, np.concatenate([still, v @ R], axis=-1), np.concatenate([still, a @ R], axis=-1))


def draw_circle(robot: torsor.Robot, circle: Circle, posture: np.ndarray) -> torsor.Trajectory:
    """The circle from rest, a little off its path, under operational-space control; torques are bounded at singularities."""

    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        k = round(t / STEP)
        tau: np.ndarray = controllers.operational_space(
            robot,
            q,
            v,
            HAND,
            circle.pose[k],
            velocity=circle.velocity[k],
            acceleration=circle.acceleration[k],
            kp=100.0,
            kd=20.0,
            posture=posture,
            posture_kp=10.0,
            posture_kd=6.0,
        )
        return tau

    start = READY + 0.05 * np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    duration = STEP * (len(circle.pose) - 1)
    return torsor.simulate(robot, start, np.zeros(7), duration=duration, dt=STEP, controller=control)


def by_rates(robot: torsor.Robot) -> tuple[np.ndarray, np.ndarray, torsor.control.PrioritisedVelocities]:
    """One round by resolved rates, one within limits, and what the latter says of a task that is too much."""
    circle = circle_from(torsor.frame_pose(robot, NEAR_A_LIMIT, HAND), rounds=1)
    hand, dt = torsor.position_task(HAND), 4 * STEP
    free, kept = [NEAR_A_LIMIT], [NEAR_A_LIMIT]
    said = None
    for k in range(0, len(circle.pose) - 1, 4):
        now, goal = circle.pose[k, :3, 3], circle.pose[k + 4, :3, 3]
        wanted = [(goal - now) / dt + 5.0 * (now - hand_positions(robot, q)) for q in (free[-1], kept[-1])]
        free.append(
            torsor.integrate(robot, free[-1], torsor.control.resolved_rate(robot, free[-1], hand, wanted[0]), dt)
        )
        result = torsor.control.prioritised_velocities(robot, kept[-1], [(hand, wanted[1])], dt)
        if said is None and result.active_limits:
            turn = (torsor.orientation_task(HAND), np.zeros(3))
            said = torsor.control.prioritised_velocities(robot, kept[-1], [turn, (hand, wanted[1])], dt)
        kept.append(torsor.integrate(robot, kept[-1], result.v, dt))
    assert said is not None  # the circle comes to a limit
    return np.array(free), np.array(kept), said


def hand_positions(robot: torsor.Robot, q: np.ndarray) -> np.ndarray:
    return torsor.frame_pose(robot, q, HAND)[..., :3, 3]


def elbows(robot: torsor.Robot, runs: Runs, k: int) -> list[np.ndarray]:
    """Where link 4 begins, in each run."""
    return [torsor.frame_pose(robot, run.q[k], "link_4")[:3, 3] for run in runs.values()]


def draw(robot: torsor.Robot, circle: Circle, runs: Runs, free: np.ndarray, kept: np.ndarray) -> None:
    given = sys.argv[1:]
    folder = Path(given[0] if len(given) == 1 and Path(given[0]).is_dir() else tempfile.mkdtemp())
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("\nno picture: it needs matplotlib, pip install 'torsor[plot]'")
        return
    figure = plt.figure(figsize=(13, 6.2), layout="constrained")
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=(1, 1.15))[0]
    draw_arms(left, robot, circle, runs)
    draw_curves(right, robot, circle, runs, free, kept)
    figure.savefig(folder / "operational_space.png", dpi=120)
    plt.close(figure)
    figure, places = plt.subplots(1, 3, figsize=(15, 5.6), subplot_kw={"projection": "3d"}, layout="constrained")
    for ax, bounded in zip(places, ("velocity", "energy", "force"), strict=True):
        torsor.plot.manipulability_ellipsoid(robot, READY, HAND, bounded=bounded, ax=ax)
    figure.savefig(folder / "ellipsoids.png", dpi=120)
    plt.close(figure)
    print(f"\npictures: {folder / 'operational_space.png'}, ellipsoids.png")


def draw_arms(figure, robot: torsor.Robot, circle: Circle, runs: Runs) -> None:
    """Both arms at the end, from behind, and the paths of hands and elbows."""
    ax = figure.subplots()
    for (name, run), colour in zip(runs.items(), ("tab:blue", "tab:orange"), strict=True):
        q = run.q
        points = np.concatenate(
            [np.zeros((1, 3)), torsor.link_poses(robot, q[-1])[:, :3, 3], hand_positions(robot, q[-1:])]
        )
        ax.plot(points[:, 1], points[:, 2], "o-", color=colour, linewidth=4, markersize=7, alpha=0.75, label=name)
        elbow = torsor.frame_pose(robot, q, "link_4")[:, :3, 3]
        ax.plot(elbow[:, 1], elbow[:, 2], color=colour, linewidth=1.0)
        ax.plot(*hand_positions(robot, q)[:, 1:].T, color=colour, linewidth=1.2)
    ax.plot(*circle.pose[:, 1:3, 3].T, "k--", linewidth=1.0, label="circle asked for", zorder=5)
    ax.set(aspect="equal", xlabel="y, m", ylabel="z, m", title="one circle of the hand, two postures, from behind")
    ax.set_xlim(0.36, -0.36)
    ax.legend(frameon=False, loc="lower right")
    ax.spines[["top", "right"]].set_visible(False)


def draw_curves(figure, robot: torsor.Robot, circle: Circle, runs: Runs, free: np.ndarray, kept: np.ndarray) -> None:
    """Errors of the hand under torques, and joint 4 by rates."""
    top, bottom = figure.subplots(2, 1)
    for (name, run), colour in zip(runs.items(), ("tab:blue", "tab:orange"), strict=True):
        off = np.linalg.norm(hand_positions(robot, run.q) - circle.pose[:, :3, 3], axis=-1)
        top.semilogy(STEP * np.arange(len(off)), 1e3 * off, color=colour, label=name)
    top.set(xlabel="time, s", ylabel="hand off its circle, mm", title="operational-space control")
    time, lower = 4 * STEP * np.arange(len(free)), robot.limits.lower[3]
    bottom.axhspan(lower - 0.3, lower, color="tab:red", alpha=0.15, linewidth=0)
    bottom.plot(time, free[:, 3], color="0.5", label="resolved rates")
    bottom.plot(time, kept[:, 3], color="tab:green", label="strict priorities within limits")
    bottom.set(
        xlabel="time, s",
        ylabel="joint 4, rad",
        title="the same circle by joint rates, near a limit",
        xlim=(0, time[-1]),
    )
    bottom.set_ylim(min(free[:, 3].min(), lower) - 0.05)
    for ax in (top, bottom):
        ax.legend(frameon=False)
        ax.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    try:
        main()
    except torsor.TorsorError as hint:  # PIQP is missing
        sys.exit(str(hint))
