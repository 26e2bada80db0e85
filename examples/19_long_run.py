"""Half an hour of a double pendulum: variational steps keep its energy, Runge–Kutta steps of the same length lose it.

Needs torsor alone; its picture torsor[plot].

python examples/19_long_run.py [directory for the picture]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import torsor

START = np.array([0.3, 0.8])
MINUTES, DT = 30, 0.02


def main() -> None:
    pendulum = torsor.robots.planar2r()
    runs = {
        name: torsor.simulate(
            pendulum, START, np.zeros(2), duration=60.0 * MINUTES, dt=DT, method=name, within_limits=False, every=10
        )
        for name in ("variational", "rk4")
    }
    first = runs["rk4"]
    moving = first.kinetic.max()
    print(f"{round(60 * MINUTES / DT)} steps of {1e3 * DT:g} ms; up to {moving:.1f} J go back and forth\n")
    drift = {}
    for name, run in runs.items():
        part = len(run.time) // 10
        drift[name] = run.energy[-part:].mean() - run.energy[:part].mean()
        print(f"{name:<12} mean energy of the last tenth against the first: {drift[name]:+9.2e} J")
    print("" if abs(drift["variational"]) < 0.1 * abs(drift["rk4"]) else "  BAD")
    # One step of RK4 is the more exact one; what matters in a long run is that the errors of variational steps do not add up
    exact = torsor.simulate(pendulum, START, np.zeros(2), duration=2.0, times=[0.0, 2.0], within_limits=False)
    for name, run in runs.items():
        print(f"{name:<12} after 2 s {np.abs(run.q[10] - exact.q[-1]).max():.1e} rad from the exact motion")
    draw(runs)


def draw(runs: dict[str, torsor.Trajectory]) -> None:
    given = sys.argv[1:]
    folder = Path(given[0] if len(given) == 1 and Path(given[0]).is_dir() else tempfile.mkdtemp())
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("\nno picture: it needs matplotlib, pip install 'torsor[plot]'")
        return
    figure, axes = plt.subplots(figsize=(8, 3.5), layout="constrained")
    for (name, run), colour in zip(runs.items(), ("#0072B2", "#D55E00"), strict=True):
        axes.plot(run.time / 60.0, run.energy - run.energy[0], color=colour, linewidth=0.8, label=name)
    axes.set(xlabel="time (min)", ylabel="energy − energy at the start (J)")
    axes.set_title(f"a double pendulum, steps of {1e3 * DT:g} ms")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(folder / "long_run.png", dpi=100)
    plt.close(figure)
    print(f"\npicture: {folder / 'long_run.png'}")


if __name__ == "__main__":
    main()
