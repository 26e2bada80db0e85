"""A planned motion of a Panda in pictures: each joint within its limits, torques as parts of theirs, energies, phase.

Needs torsor alone; its pictures torsor[plot].

python examples/20_pictures_of_a_motion.py [directory for the pictures]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import torsor
from torsor import motion

START = np.array([0.0, -0.6, 0.0, -2.2, 0.0, 1.7, 0.8])
END = np.array([1.3, 0.3, -0.5, -0.4, 0.6, 3.3, -0.4])


def main() -> None:
    arm = torsor.robots.panda()
    move = motion.s_curve(arm, START, END, acceleration=10.0, jerk=100.0)
    print(f"{move.duration:.2f} s from rest to rest by an s-curve. {move.check()}")
    run = move.sample(dt=0.005)
    used = np.max(np.abs(run.tau) / np.array(arm.limits.effort), axis=0)
    for joint, part in zip(arm.joints, used, strict=True):
        print(f"  {joint}: at most {100 * part:.0f} % of its torque")
    loaded = arm.with_payload("hand_tcp", torsor.Inertia.sphere(0.06, mass=3.0))
    print(f"With 3 kg in the hand: {move.check(robot=loaded)}")
    draw(move)


def draw(move: motion.Motion) -> None:
    given = sys.argv[1:]
    folder = Path(given[0] if len(given) == 1 and Path(given[0]).is_dir() else tempfile.mkdtemp())
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("\nno picture: it needs matplotlib, pip install 'torsor[plot]'")
        return
    joints = torsor.plot.joints(move)
    joints.savefig(folder / "joints.png", dpi=90)
    figure, (top, middle, bottom) = plt.subplots(3, 1, figsize=(8.0, 9.0), layout="constrained")
    torsor.plot.torque_limits(move, ax=top)
    torsor.plot.energies(move, ax=middle)
    torsor.plot.phase(move, ax=bottom)
    figure.savefig(folder / "motion.png", dpi=90)
    for one in (joints, figure):
        plt.close(one)
    print(f"\npictures: {folder / 'joints.png'}, motion.png")


if __name__ == "__main__":
    main()
