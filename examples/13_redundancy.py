"""More joints than the task needs: self-motions, and what becomes of the joints while the hand goes round and round.

Needs torsor[motion]; its picture torsor[plot].

python examples/13_redundancy.py [directory for the picture]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import torsor
from torsor.redundancy import circle


def main() -> None:
    panda, q = torsor.robots.panda(), np.array([0.3, -0.4, 0.2, -2.1, 0.1, 1.9, 0.6])
    v = np.random.default_rng(0).normal(size=7)
    split = torsor.redundancy.split_velocity(panda, q, v, "hand_tcp")
    energies = [torsor.kinetic_energy(panda, q, part) for part in (v, split.horizontal, split.vertical)]
    print("A velocity of the Panda is one that moves the hand, and one that does not; their energies add up:")
    print(
        f"  {energies[0]:.6f} J = {energies[1]:.6f} J + {energies[2]:.6f} J{bad(float(energies[0] - sum(energies[1:])), 1e-9)}"
    )
    around = torsor.redundancy.self_motion(panda, q, "hand_tcp")
    print(f"\nHand held still, the elbow goes round:\n  {around}{bad(around.task_error, 1e-8)}")
    print(f"  {torsor.redundancy.self_motion(panda, q, 'hand_tcp', within_limits=True)}")

    print(
        "\nIs the motion of least kinetic energy that of the pseudoinverse? Two slides in line say no [Alt04, E004-12]:"
    )
    slides, along = two_slides(), torsor.position_task("tip", "vx")
    horizontal, plus = (
        f(slides, np.zeros(2), along)[:, 0]
        for f in (torsor.redundancy.horizontal_lift, torsor.redundancy.pseudoinverse_lift)
    )
    print(f"  horizontal lift {horizontal + 0.0}, pseudoinverse {plus}")
    print(f"  {torsor.redundancy.lifts_agree(slides, np.zeros(2), along)}")

    print("\nA planar arm with its mass in two points, which is flat, and a circle of 10 cm drawn twenty times:")
    arm, start, tip = two_point_masses(), np.array([0.5, 0.6, 1.6]), torsor.position_task("tip", ["vx", "vy"])
    held = torsor.redundancy.extended_jacobian_lift(arm, tip, first_and_a_fifth_of_the_second)
    lifts = (*LIFTS, held)
    drifts = [torsor.redundancy.closed_path_drift(arm, start, tip, circle(tip, -0.1), lift=lift) for lift in lifts]
    for lift, drift in zip(lifts, drifts, strict=True):
        print(f"  {torsor.redundancy.is_repeatable(arm, tip, lift=lift)}")
        print(f"  {drift}{bad(drift.task_error[-1], 1e-7)}")
    print(
        f"  {'' if np.abs(drifts[1].drift[-1]).max() < 1e-7 else 'BAD '}the horizontal lift holds the first joint still"
    )
    print(
        f"  what a lift of one's own choice holds comes back, and so do the joints{bad(np.abs(drifts[2].drift).max(), 1e-7)}"
    )
    draw(panda, around, drifts)


LIFTS = ("pseudoinverse", "inertia")


def first_and_a_fifth_of_the_second(robot: torsor.Robot, q: np.ndarray) -> np.ndarray:
    """A function of the configuration for an extended Jacobian to hold."""
    return q[0:1] + 0.2 * q[1:2]


def bad(off: float, limit: float) -> str:
    return "" if abs(off) < limit else "  BAD"


def two_slides() -> torsor.Robot:
    """Two prismatic joints along x, 2 kg on the first and 1 kg on the second, and a tip on the latter."""
    joints = [
        torsor.Joint(
            name=f"slide_{k}",
            kind="prismatic",
            parent="base" if k == 1 else "link_1",
            link=f"link_{k}",
            axis=(1, 0, 0),
            inertia=torsor.Inertia(mass, (0, 0, 0), np.zeros((3, 3))),
        )
        for k, mass in ((1, 2.0), (2, 1.0))
    ]
    return torsor.assemble(joints, name="two_slides", frames={"tip": ("link_2", torsor.pose_from((0, 0, 0)))})


def two_point_masses() -> torsor.Robot:
    """Three revolute joints in a plane, 1 kg at the end of the first link and 1 kg at the tip, no other mass."""
    lengths, joints = (0.5, 0.45, 0.45), []
    for k, length in enumerate(lengths, 1):
        mass = 0.0 if k == 2 else 1.0
        joints.append(
            torsor.Joint(
                name=f"joint_{k}",
                kind="revolute",
                parent="base" if k == 1 else f"link_{k - 1}",
                link=f"link_{k}",
                pose=torsor.pose_from((0 if k == 1 else lengths[k - 2], 0, 0)),
                axis=(0, 0, 1),
                inertia=torsor.Inertia(mass, (length if mass else 0.0, 0, 0), np.zeros((3, 3))),
            )
        )
    return torsor.assemble(
        joints, name="two_point_masses", frames={"tip": ("link_3", torsor.pose_from((lengths[2], 0, 0)))}
    )


def draw(robot: torsor.Robot, motion: torsor.redundancy.SelfMotion, drifts: list[torsor.redundancy.PathDrift]) -> None:
    given = sys.argv[1:]
    folder = Path(given[0] if len(given) == 1 and Path(given[0]).is_dir() else tempfile.mkdtemp())
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("\nno picture: it needs matplotlib, pip install 'torsor[plot]'")
        return
    figure = plt.figure(figsize=(12.5, 5.6), layout="constrained")
    left = figure.add_subplot(1, 2, 1, projection="3d")
    torsor.plot.self_motion(robot, motion, ax=left)
    left.set_title(f"{robot.name}: the hand holds still, {float(motion.length):.2f} m·√kg round")
    right = figure.add_subplot(1, 2, 2)
    labels = ["pseudoinverse", "horizontal lift of the inertia metric", "extended Jacobian"]
    torsor.plot.path_drift(drifts, labels=labels, ax=right)
    right.set_title("planar 3R, two point masses: a circle drawn twenty times")
    figure.savefig(folder / "redundancy.png", dpi=120)
    plt.close(figure)
    print(f"\npicture: {folder / 'redundancy.png'}")


if __name__ == "__main__":
    try:
        main()
    except torsor.TorsorError as hint:  # SciPy is missing
        sys.exit(str(hint))
