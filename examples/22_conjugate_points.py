"""Where neighbours meet again: stones below the parabola of safety, and free motions of a planar 2R up to their conjugate points.

Needs torsor[motion]; its picture torsor[plot].

python examples/22_conjugate_points.py [directory for the picture]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import torsor
from torsor import motion

SPEED, GRAVITY = 7.0, 9.81


def main() -> None:
    stone = torsor.assemble(
        [
            torsor.Joint(name="x", kind="prismatic", axis=(1, 0, 0)),
            torsor.Joint(
                name="z",
                kind="prismatic",
                axis=(0, 0, 1),
                parent="x_link",
                inertia=torsor.Inertia.point(2.0, (0, 0, 0)),
            ),
        ],
        name="stone",
    )
    energy = 0.5 * 2.0 * SPEED**2
    angles = np.radians(np.arange(15.0, 166.0, 10.0))
    thrown = [
        motion.natural_motion(
            stone,
            [0.0, 0.0],
            [np.cos(angle), np.sin(angle)],
            energy=energy,
            duration=SPEED / (GRAVITY * np.sin(angle)) + 0.4,
        )
        for angle in angles
    ]
    touched = [motion.conjugate_points(stone, throw, fixed="energy") for throw in thrown]
    print("stones thrown at one speed: motions at one energy, geodesics of Jacobi's metric 2 (E − V) M\n")
    print(touched[5])
    x, z = np.concatenate([points.q for points in touched]).T
    safe = SPEED**2 / (2 * GRAVITY) - GRAVITY * x**2 / (2 * SPEED**2)
    off = np.abs(z - safe).max()
    print(f"\nall conjugate points are on the parabola of safety, to {off:.0e} m{'' if off < 1e-8 else '  BAD'}")
    print(thrown[5].certificate(fixed="energy"))
    try:
        motion.natural_motion(stone, [0.0, 3.0], [1.0, 0.0], energy=energy, duration=1.0)
    except torsor.TorsorError as forbidden:
        print(f"\nhigher than this energy reaches: {forbidden}")

    arm = torsor.robots.planar_chain([1.0, 0.8], [1.0, 0.6])
    q0 = np.array([0.0, 1.2])
    factor = np.linalg.cholesky(torsor.mass_matrix(arm, q0))
    way = np.radians(np.arange(0.0, 360.0, 9.0))
    velocities = np.linalg.solve(factor.T, np.stack([np.cos(way), np.sin(way)])).T  # speed 1 in the metric of inertia
    fan = [motion.geodesic(arm, q0, v, 6.0) for v in velocities]
    points = [motion.conjugate_points(arm, curve) for curve in fan]
    print(f"\nfree motions of a {arm.name}, all from one configuration with the same energy")
    print(f"{sum(map(bool, points))} of {len(fan)} meet a neighbour again within their length of 6 m·√kg")
    most = max(range(len(fan)), key=lambda k: points[k].inside)
    print(fan[most].certificate())
    field = motion.jacobi_field(arm, fan[most], np.zeros(2), points[most][0].directions[0])
    print(field)
    draw(thrown, x, z, arm, fan, points)


def draw(
    thrown: list[motion.NaturalMotion],
    x: np.ndarray,
    z: np.ndarray,
    arm: torsor.Robot,
    fan: list[motion.Geodesic],
    points: list[motion.ConjugatePoints],
) -> None:
    given = sys.argv[1:]
    folder = Path(given[0] if len(given) == 1 and Path(given[0]).is_dir() else tempfile.mkdtemp())
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("\nno picture: it needs matplotlib, pip install 'torsor[plot]'")
        return
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 5.2), layout="constrained")
    for throw in thrown:
        left.plot(*throw.q.T, color="#0072B2", linewidth=0.9)
    reach = np.linspace(-5.2, 5.2, 201)
    left.plot(
        reach,
        SPEED**2 / (2 * GRAVITY) - GRAVITY * reach**2 / (2 * SPEED**2),
        "--",
        color="black",
        label="parabola of safety",
    )
    left.plot(x, z, "o", color="#D55E00", markersize=5, label="conjugate points of the start")
    left.set(xlabel="x (m)", ylabel="z (m)", xlim=(-5.2, 5.2), ylim=(-2.8, 3.0), title="stones of one energy")
    left.set_aspect("equal")
    left.legend(loc="lower center", fontsize=8)
    torsor.plot.curvature_map(arm, arm.coordinates, ax=right)
    focused = [(curve, found[0].time) for curve, found in zip(fan, points, strict=True) if found]
    cut = [curve(np.linspace(0.0, end, 101))[0] for curve, end in focused]
    torsor.plot.paths(arm, cut, arm.coordinates, ax=right, linewidth=0.7)
    first = np.array([path[-1] for path in cut])
    right.plot(*((first + np.pi) % (2 * np.pi) - np.pi).T, "o", color="#D55E00", markersize=6, zorder=20)
    right.set_title("planar 2R: free motions up to their first conjugate point")
    figure.savefig(folder / "conjugate_points.png", dpi=120)
    plt.close(figure)
    print(f"\npicture: {folder / 'conjugate_points.png'}")


if __name__ == "__main__":
    try:
        main()
    except torsor.TorsorError as hint:  # SciPy is missing
        sys.exit(str(hint))
