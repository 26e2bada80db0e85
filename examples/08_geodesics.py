"""How a robot moves when nothing pushes it, and paths of least energy: geodesics of a planar 2R and of a Panda.

Needs torsor[motion]; its picture torsor[plot].

python examples/08_geodesics.py [directory for the picture]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import torsor
from torsor import motion

START = np.array([0.0, 0.6])


def main() -> None:
    arm = torsor.robots.planar2r(masses=(2.0, 1.0), lengths=(1.0, 0.6))
    fan = geodesics_from(arm, START, 24, duration=1.4)
    print("24 free motions of a planar 2R from one configuration, of the same energy, 1.4 s long")
    print(f"  their energy drifts by {fan.energy_drift.max():.0e} of itself; each is {fan.length.max():.3f} m·√kg long")
    back = motion.geodesic(arm, fan.q[:, -1], -fan.v[:, -1], 1.4)
    report("turned back at the end, they return to the start", back.q[:, -1], np.broadcast_to(START, (24, 2)))
    carried = motion.parallel_transport(arm, fan, fan.v[:, 0])
    report("a geodesic carries its own velocity along", carried, fan.v)

    panda = torsor.robots.panda()
    q0 = np.array([-1.6, 1.0, 0.2, -0.8, 0.0, 1.8, 0.0])  # stretched to one side
    q1 = np.array([1.7, 1.3, 0.0, -0.5, 0.3, 1.6, 0.5])  # and to the other
    least = motion.minimum_energy_path(panda, q0, q1, duration=2.0)
    print(f"\npanda moves in 2 s: ∫ vᵀ M v dt is {least.straight_energy:.3f} J·s with constant joint velocities,")
    print(
        f"  {least.energy:.3f} J·s on the best path of 50 steps, found in {least.iterations} steps of Newton's method"
    )
    held = ", ".join(least.active_limits) or "no joint"
    print(f"  on the way {held} is at a limit")
    free = motion.geodesic_between(panda, q0, q1, duration=2.0)
    print(
        f"  the geodesic has {2 * free.duration * free.energy[0]:.3f} J·s and v = {np.round(free.v[0], 3)} at the start"
    )
    away = np.abs(free.q[-1] - q1).max()
    print(f"  it arrives within {away:.0e} rad{'' if away < 1e-8 else '  BAD'}; limits do not concern it")
    for points in (25, 50, 100):
        path = motion.minimum_energy_path(panda, q0, q1, duration=2.0, samples=points + 1, within_limits=False)
        off = np.abs(path.path - free(path.time)[0]).max()
        print(f"  a path of {points:>3} steps, without limits, is {off:.1e} rad away from it")
    draw(arm, fan, panda, least, free)


def geodesics_from(robot: torsor.Robot, q: np.ndarray, count: int, duration: float) -> motion.Geodesic:
    """In all directions, as the inertia measures angles, with unit speed."""
    angles = 2 * np.pi * np.arange(count) / count
    factor = np.linalg.cholesky(torsor.mass_matrix(robot, q))
    v = np.linalg.solve(factor.T, np.stack([np.cos(angles), np.sin(angles)])).T
    return motion.geodesic(robot, np.broadcast_to(q, v.shape), v, duration)


def report(what: str, x: np.ndarray, y: np.ndarray) -> None:
    off = np.max(np.abs(x - y))
    print(f"  {what}: to {off:.0e}{'' if off < 1e-7 else '  BAD'}")


def draw(
    arm: torsor.Robot, fan: motion.Geodesic, panda: torsor.Robot, least: motion.PathResult, free: motion.Geodesic
) -> None:
    given = sys.argv[1:]
    folder = Path(given[0] if len(given) == 1 and Path(given[0]).is_dir() else tempfile.mkdtemp())
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("\nno picture: it needs matplotlib, pip install 'torsor[plot]'")
        return
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 5.2), layout="constrained")
    torsor.plot.curvature_map(arm, arm.coordinates, ax=left)
    torsor.plot.paths(arm, fan, arm.coordinates, ax=left, linewidth=1.0)
    left.set_title("planar 2R: free motions from one configuration")
    joints = ("panda_joint2", "panda_joint4")
    torsor.plot.curvature_map(panda, joints, q=least.path[len(least.path) // 2], resolution=61, ax=right)
    curves = [np.linspace(least.path[0], least.path[-1], 2), least.path, free.q]
    labels = ["constant joint velocities", "least energy, within limits", "geodesic"]
    torsor.plot.paths(panda, curves, joints, ax=right, labels=labels, colours=["#56B4E9", "black", "#009E73"])
    right.set_title("panda: three paths from one configuration to another")
    figure.savefig(folder / "geodesics.png", dpi=120)
    plt.close(figure)
    print(f"\npicture: {folder / 'geodesics.png'}")


if __name__ == "__main__":
    try:
        main()
    except torsor.TorsorError as hint:  # SciPy is missing
        sys.exit(str(hint))
