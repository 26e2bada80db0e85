"""How curved the inertia of a robot is: a 2R against its closed form, a motion, and a map of a Panda over two joints.

Needs torsor alone; its picture torsor[plot].

python examples/06_curvature.py [directory for the picture]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import torsor
from torsor import motion


def main() -> None:
    masses, lengths = (2.0, 1.0), (1.0, 0.6)
    arm = torsor.robots.planar2r(masses=masses, lengths=lengths)
    c, b = masses[1] * lengths[1] ** 2, masses[1] * lengths[0] * lengths[1]
    a = sum(masses) * lengths[0] ** 2 + c  # M = ((a + 2 b cos q2, c + b cos q2), (c + b cos q2, c))
    elbow = np.linspace(-np.pi, np.pi, 9)
    q = np.stack([np.zeros_like(elbow), elbow], axis=-1)
    closed = b * np.cos(elbow) * (a * c - b**2 - c**2) / np.linalg.det(torsor.mass_matrix(arm, q))
    R = torsor.geometry.riemann_curvature(arm, q)[:, 0, 1, 0, 1]
    K = torsor.geometry.sectional_curvature(arm, q, [1.0, 0.0], [0.0, 1.0])
    print("a planar 2R: R_1212 = b cos q2 (ac − b² − c²)/det M, and the curvature K of its one plane of motion\n")
    print("     q2 (rad)   R_1212 (kg·m²)   K (1/(kg·m²))")
    for row in zip(elbow, R, K, strict=True):
        print("{:>13.4f}{:>z17.4f}{:>z16.4f}".format(*row))
    off = np.max(np.abs(R - closed))
    print(f"\ndiffers from the closed form by {off:.0e}{'' if off < 1e-12 else '  BAD'}")
    print("K > 0: motions that start side by side draw together; K < 0: they part\n")

    run = torsor.simulate(arm, [0.5, 2.0], [0.0, 0.0], duration=4.0, dt=2e-3, method="rk4")
    along = motion.curvature_along(arm, run)
    print(
        f"falling from rest it meets scalar curvatures from {along.scalar.min():.3f} to {along.scalar.max():.3f} 1/(kg·m²)"
    )
    off = np.nanmax(np.abs(along.ricci - along.scalar / 2))
    print(f"with two joints Ricci is half of scalar in every direction, to {off:.0e}{'' if off < 1e-9 else '  BAD'}")

    panda = torsor.robots.panda()
    some = torsor.random_configuration(panda, seed=0)
    e = np.eye(panda.nv)
    print(f"\n{panda.name} at a random configuration: curvature of the planes of two joints, 1/(kg·m²)\n")
    for i in range(1, panda.nv):
        print("".join(f"{torsor.geometry.sectional_curvature(panda, some, e[i], e[j]):>z9.3f}" for j in range(i)))
    draw(run, along, panda)


def draw(run: torsor.Trajectory, along: motion.CurvatureAlong, panda: torsor.Robot) -> None:
    given = sys.argv[1:]
    folder = Path(given[0] if len(given) == 1 and Path(given[0]).is_dir() else tempfile.mkdtemp())
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("\nno picture: it needs matplotlib, pip install 'torsor[plot]'")
        return
    figure, (left, right) = plt.subplots(1, 2, figsize=(12.5, 5), layout="constrained")
    ready = np.array([0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8])
    torsor.plot.curvature_map(panda, ("panda_joint4", "panda_joint6"), q=ready, resolution=61, ax=left)
    left.set_title("panda: curvature of the plane of joints 4 and 6")
    right.plot(run.time, along.scalar, color="#0072B2")
    right.set(xlabel="time (s)", ylabel="scalar curvature (1/(kg·m²))", title="planar 2R, falling from rest")
    right.tick_params(labelsize=8)  # as the map
    figure.savefig(folder / "curvature.png", dpi=120)
    plt.close(figure)
    print(f"\npicture: {folder / 'curvature.png'}")


if __name__ == "__main__":
    main()
