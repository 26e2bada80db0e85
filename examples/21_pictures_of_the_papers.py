"""The pictures of the pages on the papers of 1993, 1995 and on chapter 9 of the book: what each of them is about.

Needs torsor[motion]; its pictures torsor[plot].

python examples/21_pictures_of_the_papers.py [directory for the pictures]
"""

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import torsor

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LENGTHS = (0.5, 0.4, 0.3)


def main() -> None:
    plain = torsor.robots.planar_chain(LENGTHS, [1.0, 0.8, 0.5]).with_gravity((0, 0, 0))
    balanced = torsor.balancing.planar_counterweights(plain, distances=0.25).robot
    push, start = np.array([1.0, -2.0, 3.0]), np.array([0.2, 0.9, -0.7])
    runs = [torsor.simulate(robot, start, push, duration=3.0, dt=1e-3, method="rk4") for robot in (plain, balanced)]
    for name, run in zip(("without", "with"), runs, strict=True):
        print(f"{name:>8} counterweights: speeds of the joints change by up to {np.ptp(run.v, axis=0).max():.2e} rad/s")

    two = torsor.robots.planar2r(masses=(0.5, 2.0), lengths=(1.0, 1.0))
    best = torsor.motion.minimum_energy_path(two, [0.0, 0.3], [2.6, 0.3], duration=1.0, samples=31)
    print(f"\nleast energy {best.energy:.2f} J·s, on the straight path {best.straight_energy:.2f} J·s")

    swing = torsor.simulate(two, [1.2, 0.5], [0.0, 0.0], duration=1.5, dt=1e-3, method="rk4")
    parts = {
        "M a": np.einsum("kij,kj->ki", torsor.mass_matrix(two, swing.q), swing.a),
        "C v": torsor.dynamics.coriolis_forces(two, swing.q, swing.v),
        "g": torsor.gravity_forces(two, swing.q),
    }
    rest = np.abs(sum(parts.values())).max()
    print(f"\na free swing: M a + C v + g = 0 to {rest:.0e} N·m{'' if rest < 1e-9 else '  BAD'}")

    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("\nno pictures: they need matplotlib, pip install 'torsor[plot]'")
        return
    given = sys.argv[1:]
    folder = Path(given[0] if len(given) == 1 and Path(given[0]).is_dir() else tempfile.mkdtemp())
    for name, figure in {
        "balanced_arm": balanced_arm(runs),
        "closed_form": closed_form(two, best),
        "chapter_9": chapter_9(swing, parts),
    }.items():
        figure.savefig(folder / f"{name}.png", dpi=100)
        plt.close(figure)
        print(f"picture: {folder / name}.png")


def balanced_arm(runs: list[torsor.Trajectory]) -> "Figure":
    """Above the two arms at seven moments, below the speeds of their joints."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(9, 6.4), layout="constrained", height_ratios=(3, 2), sharey="row")
    titles = ("without counterweights", "with counterweights")
    for above, below, run, title in zip(*axes, runs, titles, strict=True):
        for k, shade in zip(range(0, 1201, 200), np.linspace(0.15, 1.0, 7), strict=True):
            above.plot(*joints_of(run.q[k], LENGTHS), "o-", color="C0", alpha=shade, markersize=4)
        above.set(title=title, xlabel="x (m)", aspect="equal")
        below.plot(run.time, run.v, label=[f"joint {i}" for i in (1, 2, 3)])
        below.set(xlabel="time (s)")
    axes[0, 0].set_ylabel("y (m)")
    axes[1, 0].set_ylabel("speed (rad/s)")
    axes[1, 1].legend(loc="center right")
    return figure


def closed_form(two: torsor.Robot, best: torsor.motion.PathResult) -> "Figure":
    """Where the factors of the mass matrix of a Puma are not zero, and the cheapest way beside the straight one."""
    import matplotlib.pyplot as plt

    puma = torsor.robots.puma560()
    form = torsor.papers.closed_form(puma, torsor.random_configuration(puma, seed=0))
    A, L, D = form.space_screws, form.space_propagation, form.space_inertia
    figure = plt.figure(figsize=(9, 5.6), layout="constrained")
    halves: Any = figure.subfigures(2, 1, height_ratios=(2, 3))
    factors, paths = halves
    shown = {"Aᵀ": A.T, "Lᵀ(q)": L.T, "D": D, "L(q)": L, "A": A}
    for ax, (name, matrix) in zip(factors.subplots(1, 5, width_ratios=(6, 6, 6, 6, 1)), shown.items(), strict=True):
        ax.imshow(np.abs(matrix) > 1e-12, cmap="Blues", vmax=1.6, interpolation="nearest", aspect="equal")
        ax.set(title=name, xticks=[], yticks=[])
    factors.suptitle("M = Aᵀ Lᵀ D L A of a Puma: where the factors are not zero")
    ways = {"straight": np.linspace(best.q[0], best.q[-1], len(best.q)), "least energy": best.q}
    left, right = paths.subplots(1, 2)
    for number, (name, q) in enumerate(ways.items()):
        moving = np.diff(q, axis=0) / np.diff(best.time)[:, None]
        middle = (q[1:] + q[:-1]) / 2, (best.time[1:] + best.time[:-1]) / 2
        left.plot(middle[1], torsor.kinetic_energy(two, middle[0], moving), color=f"C{number}", label=name)
        for k in range(0, len(q), 6):
            right.plot(*joints_of(q[k], (1.0, 1.0)), "o-", color=f"C{number}", alpha=0.75, markersize=4)
    left.set(xlabel="time (s)", ylabel="kinetic energy (J)", ylim=(0, None))
    left.legend(loc="lower right")
    right.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")
    return figure


def chapter_9(swing: torsor.Trajectory, parts: dict[str, np.ndarray]) -> "Figure":
    """What the torque of the first joint is made of in a free swing, and the ellipses of Λ⁻¹ at the hand."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for name, part in parts.items():
        left.plot(swing.time, part[:, 0], label=name)
    left.plot(swing.time, np.sum(list(parts.values()), axis=0)[:, 0], color="0.4", linestyle="--", label="sum")
    left.set(xlabel="time (s)", ylabel="torque of joint 1 (N·m)", title="a free swing")
    left.legend()
    slim = torsor.robots.planar2r(masses=(2.0, 0.5), lengths=(1.0, 1.0))
    for elbow in (0.35, 1.1, 1.9):
        draw_mobility(slim, np.array([1.4 - 1.1 * elbow, elbow]), right)
    right.set(xlabel="x (m)", ylabel="y (m)", aspect="equal", title="what 1 N does to the hand, in every direction")
    return figure


def draw_mobility(two: torsor.Robot, q: np.ndarray, ax: "Axes") -> None:
    """The arm, and at its hand what a force of 1 N in each direction does: Λ⁻¹ F, drawn with 0.2 m for 1 m/s²."""
    lines = ax.plot(*joints_of(q, (1.0, 1.0)), "o-", markersize=4)
    J = torsor.mixed_jacobian(two, q, "tip")[3:5]
    angle = np.linspace(0, 2 * np.pi, 100)
    moved = J @ np.linalg.solve(torsor.mass_matrix(two, q), J.T) @ np.stack([np.cos(angle), np.sin(angle)])
    hand = torsor.frame_pose(two, q, "tip")[:2, 3]
    ax.plot(*(hand[:, None] + 0.2 * moved), color=lines[0].get_color())


def joints_of(q: np.ndarray, lengths: tuple[float, ...]) -> np.ndarray:
    """Positions of base, joints and tip of a planar chain, (2, n + 1)."""
    angles = np.cumsum(q)
    steps = np.array(lengths) * np.stack([np.cos(angles), np.sin(angles)])
    return np.concatenate([np.zeros((2, 1)), np.cumsum(steps, axis=1)], axis=1)


if __name__ == "__main__":
    try:
        main()
    except torsor.TorsorError as hint:  # SciPy is missing
        sys.exit(str(hint))
