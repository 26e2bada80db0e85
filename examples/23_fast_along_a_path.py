"""The motion of least torque between two postures, and the same path in the least time: what the hurry costs.

Needs torsor alone; its pictures torsor[plot].

python examples/23_fast_along_a_path.py [directory for the pictures]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import torsor
from torsor import motion

START = np.array([0.0, -0.6, 0.0, -2.2, 0.0, 1.7, 0.8])
END = np.array([1.3, 0.3, -0.5, -1.4, 0.6, 2.3, -0.4])


def main() -> None:
    arm = torsor.robots.panda()
    calm = motion.optimal(arm, START, END, duration=3.0).motion
    fast = motion.time_optimal(arm, calm)
    print(str(fast).splitlines()[0])
    for name, move in (("least torque", calm), ("least time on its path", fast.motion)):
        run = move.sample(dt=0.001)
        used = np.max(np.abs(run.tau) / np.array(arm.limits.effort))
        effort = np.trapezoid(np.sum(run.tau**2, axis=-1), run.time)
        print(
            f"{name}: {move.duration:.3f} s, ∫ τ² dt = {effort:.0f} (N·m)² s, at most {100 * used:.1f} % of a torque limit"
        )
    draw(fast, calm)


def draw(fast: motion.TimeOptimalMotion, calm: motion.Motion) -> None:
    given = sys.argv[1:]
    folder = Path(given[0] if len(given) == 1 and Path(given[0]).is_dir() else tempfile.mkdtemp())
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("\nno picture: it needs matplotlib, pip install 'torsor[plot]'")
        return
    plane, ax = plt.subplots(figsize=(8.0, 5.0))
    torsor.plot.phase_plane(fast, ax=ax)
    plane.savefig(folder / "phase_plane.png", dpi=110, bbox_inches="tight")
    figure, axes = plt.subplots(2, 1, figsize=(8.0, 7.0), layout="constrained")
    for ax, move in zip(axes, (calm, fast.motion), strict=True):
        torsor.plot.torque_limits(move, ax=ax)
    axes[0].set_title("least torque", fontsize=10)
    axes[1].set_title("the same path in the least time", fontsize=10)
    figure.savefig(folder / "torques.png", dpi=110)
    plt.close("all")
    print(f"\nphase_plane.png and torques.png are in {folder}")


if __name__ == "__main__":
    main()
