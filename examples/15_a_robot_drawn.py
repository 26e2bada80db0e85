"""Where the frames of a Panda are, and the robot drawn as a mechanism: links, joints and their axes, centres of mass, frames.

Needs torsor alone; its picture torsor[plot].

python examples/15_a_robot_drawn.py [directory for the picture]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import torsor

Q = np.array([0.3, -0.5, 0.2, -2.0, 0.1, 1.8, 0.7])


def main() -> None:
    arm = torsor.robots.panda()
    print("frame        x (m)   y (m)   z (m)")
    for frame in arm.frames:
        x, y, z = torsor.frame_pose(arm, Q, frame)[:3, 3]
        print(f"{frame:10} {x:7.3f} {y:7.3f} {z:7.3f}")
    draw(arm, Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))


def draw(arm: torsor.Robot, folder: Path) -> None:
    try:
        from matplotlib import pyplot
    except ImportError:
        print("\nno picture: it needs matplotlib, pip install 'torsor[plot]'")
        return
    figure = pyplot.figure(figsize=(6.4, 5.6))
    ax = figure.add_axes((-0.02, 0.01, 1.0, 1.0), projection="3d")
    torsor.plot.mechanism(arm, Q, ax=ax)
    figure.savefig(folder / "robot.png", dpi=100)
    pyplot.close(figure)
    print(f"\npicture: {folder / 'robot.png'}")


if __name__ == "__main__":
    main()
