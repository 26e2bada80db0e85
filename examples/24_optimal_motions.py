"""Optimal motions: a Panda lifts by swinging what it cannot hold on the way, and a floating body turns itself by its arms.

Needs torsor[qp]; its pictures torsor[plot].

python examples/24_optimal_motions.py [directory for the pictures]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import torsor

LOW = np.array([0.0, 1.07, 0.0, -2.33, 0.0, 3.37, 0.8])
HIGH = np.array([0.0, -0.54, 0.0, -0.47, 0.0, 2.3, 0.8])


def main() -> None:
    arm = torsor.robots.panda().with_payload("hand_tcp", torsor.Inertia.sphere(0.06, mass=9.0))
    lift = torsor.motion.optimal(arm, LOW, HIGH, duration=1.6)
    print(lift)
    effort = np.array(arm.limits.effort)
    on_the_way = np.abs(torsor.gravity_forces(arm, lift.motion.at(np.linspace(0.0, 1.6, 200)).q)) / effort
    print(f"\nto hold the load still on the way would take {100 * on_the_way.max():.0f} % of what a drive has;")
    print(f"the motion takes {100 * np.abs(lift.trajectory.tau / effort).max():.1f} %")

    body = floating_body()
    turn = torsor.motion.optimal(
        body, np.array([0.0, 0.0, 0.0, 1.2, -1.2]), None, duration=1.0, through={1.0: {heading(): [0.3]}}
    )
    print(f"\n{turn}")
    push = np.abs(turn.trajectory.tau[:, :3]).max()
    print(
        f"\nthe body has turned by {turn.motion.at(1.0).q[2]:.3f} rad, with no more than {push:.4f} N·m or N on it from outside"
    )

    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("\nno pictures: they need matplotlib, pip install 'torsor[plot]'")
        return
    given = sys.argv[1:]
    folder = Path(given[0] if len(given) == 1 and Path(given[0]).is_dir() else tempfile.mkdtemp())
    for name, ax in {"swing": lift.plot(), "turn": turns(turn)}.items():
        ax.figure.savefig(folder / f"{name}.png", dpi=100, bbox_inches="tight")
        plt.close(ax.figure)
        print(f"picture: {folder / name}.png")


def floating_body() -> torsor.Robot:
    """A plate that floats in a plane, with two arms; what pushes it from outside may be a thousandth of a N·m or N at most."""
    plate = torsor.Joint(
        name="float", kind="planar", link="plate", inertia=torsor.Inertia.box((0.4, 0.4, 0.1), mass=4.0)
    )
    arms = [
        torsor.Joint(
            name=name,
            kind="revolute",
            parent="plate",
            link=f"{name}_link",
            axis=(0.0, 0.0, 1.0),
            pose=torsor.lie.se3.exp([0.0, 0.0, 0.0, 0.0, y, 0.0]),
            inertia=torsor.Inertia.box((0.6, 0.05, 0.05), mass=1.5, com=(0.3, 0.0, 0.0)),
        )
        for name, y in (("left", 0.2), ("right", -0.2))
    ]
    robot = torsor.assemble([plate, *arms], name="floating", gravity=(0.0, 0.0, 0.0))
    return robot.with_limits(effort=[1e-3, 1e-3, 1e-3, 20.0, 20.0], velocity=[np.inf] * 3 + [6.0] * 2)


def heading() -> torsor.tasks.Task:
    """The angle of the plate."""
    return torsor.function_task(lambda robot, q: q[..., 2:3], 1)


def turns(turn: torsor.motion.OptimalMotion):
    """The angles over time."""
    import matplotlib.pyplot as plt

    t = np.linspace(0.0, turn.duration, 200)
    _, ax = plt.subplots(figsize=(6.0, 3.6))
    for place, name in ((2, "plate"), (3, "left arm"), (4, "right arm")):
        ax.plot(t, turn.motion.at(t).q[:, place], label=name)
    ax.set(xlabel="time (s)", ylabel="angle (rad)", title="a floating body turns itself by its arms")
    ax.legend(frameon=False, fontsize=8)
    return ax


if __name__ == "__main__":
    try:
        main()
    except torsor.TorsorError as hint:  # PIQP is missing
        sys.exit(str(hint))
