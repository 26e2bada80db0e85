"""A cart-pole is flat: in suitable coordinates it moves like a free particle; a planar 2R is curved, and has none.

Needs torsor[motion]; its picture torsor[plot].

python examples/07_flatness.py [directory for the picture]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import torsor
from torsor import motion

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9")  # told apart with any colour vision


def main() -> None:
    cart_pole = torsor.robots.cart_pole(cart=1.0, pole=0.8, length=0.6)
    print(motion.is_flat(cart_pole), "\n")
    print(motion.is_flat(torsor.robots.planar2r()), "\n")

    flat = motion.flat_coordinates(cart_pole, [0.0, 0.0])
    q, v, tau = np.array([0.4, 1.1]), np.array([0.5, -0.3]), np.array([1.0, 0.2])
    N, M = flat.jacobian(q), torsor.mass_matrix(cart_pole, q)
    print("cart-pole: φ(q) =", np.round(flat.phi(q), 4), "√kg·m at q =", q)
    check("N = ∂φ/∂q is a factor of the mass matrix, NᵀN = M", N.T @ N, M)
    check("φ has an inverse", flat.inverse(flat.phi(q)), q)
    a = torsor.forward_dynamics(cart_pole, q, v, tau)
    N_rate = np.einsum("ar,kjr,k->aj", N, torsor.geometry.christoffel_symbols_second_kind(cart_pole, q), v)
    check(
        "the acceleration of φ is the force N⁻ᵀ (τ − g), nothing else",
        N @ a + N_rate @ v,
        flat.linearised_force(q, v, tau),
    )

    weightless = cart_pole.with_gravity([0.0, 0.0, 0.0])
    angles = np.linspace(-np.pi, np.pi, 13)[:-1]
    q0 = np.zeros((len(angles), 2))
    v0 = np.linalg.solve(flat.factor, np.stack([np.cos(angles), np.sin(angles)]))  # of unit length, 30° apart
    runs = torsor.simulate(weightless, q0, v0.T, duration=1.5, dt=5e-3, method="rk4")
    phi = flat.phi(runs.q)
    straight = phi[:, -1:] * (runs.time / runs.time[-1])[:, None]
    check("without gravity, motion is a straight line in φ", phi, straight)

    corners = np.array([[0.0, 0.3], [0.5, 0.3], [0.5, 1.3], [0.0, 1.3], [0.0, 0.3]])
    print("\nN carried around a square of configurations, by dN = N Γ dq, comes back different by")
    for robot in (cart_pole, torsor.robots.planar2r()):
        N = motion.transport_factor(robot, corners).N
        print(f"  {np.abs(N[-1] - N[0]).max():.0e} on the {robot.name}")
    draw(flat, runs.q, phi)


def check(what: str, x: np.ndarray, y: np.ndarray) -> None:
    off = np.max(np.abs(x - y))
    print(f"  {what}: to {off:.0e}{'' if off < 1e-7 else '  BAD'}")


def draw(flat: motion.FlatCoordinates, q: np.ndarray, phi: np.ndarray) -> None:
    given = sys.argv[1:]
    folder = Path(given[0] if len(given) == 1 and Path(given[0]).is_dir() else tempfile.mkdtemp())
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("\nno picture: it needs matplotlib, pip install 'torsor[plot]'")
        return
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    grid = np.stack(np.meshgrid(np.linspace(-1.2, 1.2, 13), np.linspace(-2.8, 2.8, 29), indexing="ij"), axis=-1)
    for ax, lines, paths in ((left, grid, q), (right, flat.phi(grid), phi)):
        ax.plot(*np.moveaxis(lines, -1, 0), color="0.85", linewidth=0.8)
        ax.plot(*np.moveaxis(np.swapaxes(lines, 0, 1), -1, 0), color="0.85", linewidth=0.8)
        for k, path in enumerate(paths):
            style = ("-", "--")[k // len(COLOURS)]
            ax.plot(*path.T, color=COLOURS[k % len(COLOURS)], linestyle=style, linewidth=1.8)
    left.set(xlabel="slide (m)", ylabel="swing (rad)", title="motions of a cart-pole without gravity, in q")
    right.set(xlabel="φ₁ (√kg·m)", ylabel="φ₂ (√kg·m)", title="the same, and the grid of q, in flat coordinates")
    right.set_aspect("equal")
    figure.savefig(folder / "flatness.png", dpi=120)
    plt.close(figure)
    print(f"\npicture: {folder / 'flatness.png'}")


if __name__ == "__main__":
    try:
        main()
    except torsor.TorsorError as hint:  # SciPy is missing
        sys.exit(str(hint))
