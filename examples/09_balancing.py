"""A planar arm gets counterweights: its mass matrix becomes constant, and what is left of the dynamics is M q̈ = τ.

Needs torsor[motion]; its picture torsor[plot].

python examples/09_balancing.py [directory for the picture]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import torsor
from torsor import balancing


def main() -> None:
    arm = torsor.robots.planar_chain([0.5, 0.4, 0.3], [1.0, 0.8, 0.5])
    print(balancing.is_balanced(arm), "\n")

    print("Counterweights 0.25 m behind each joint, the first one against gravity [BSP93, §5]:\n")
    found = balancing.gravity_counterweights(arm, distances=0.25)
    print(found, "\n")
    print(balancing.is_balanced(found.robot), "\n")

    q, v, _ = torsor.random_state(arm, seed=1)
    for name, robot in (("before", arm), ("after", found.robot)):
        coriolis, gravity = torsor.dynamics.coriolis_forces(robot, q, v), torsor.gravity_forces(robot, q)
        print(f"{name:<7} Coriolis forces {np.round(coriolis, 3) + 0.0}, gravity forces {np.round(gravity, 3) + 0.0}")

    print("\nAs much as 1 kg within 0.3 m of the link frames can do for the same arm:\n")
    print(balancing.least_change_balancing(arm, added_mass=1.0, reach=0.3), "\n")

    print("Where should the elbow of an arm of 1 m be? Its curvature, as a number without unit, for upper arms of\n")
    print(balancing.design_scan(lambda x: torsor.robots.planar_chain([x, 1 - x], [1, 1]), np.linspace(0.2, 0.8, 7)))

    draw(found, np.array([0.4, 0.9, -0.7]))


def draw(found: balancing.Balancing, q: np.ndarray) -> None:
    given = sys.argv[1:]
    folder = Path(given[0] if len(given) == 1 and Path(given[0]).is_dir() else tempfile.mkdtemp())
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("\nno picture: it needs matplotlib, pip install 'torsor[plot]'")
        return
    figure, ax = plt.subplots(layout="constrained")
    torsor.plot.planar_mechanism(found.robot, q, ax=ax, counterweights=found.counterweights)
    figure.savefig(folder / "balancing.png", dpi=120)
    plt.close(figure)
    print(f"\npicture: {folder / 'balancing.png'}")


if __name__ == "__main__":
    try:
        main()
    except torsor.TorsorError as hint:  # SciPy is missing
        sys.exit(str(hint))
