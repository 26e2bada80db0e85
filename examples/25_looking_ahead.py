"""Model predictive control: a Panda holds its hand in place while it is pushed, by looking 0.2 s ahead, beside a PD law.

Needs torsor alone; its picture torsor[plot].

python examples/25_looking_ahead.py [directory for the picture]
"""

import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

import torsor

ARM = torsor.robots.panda()
HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
HAND = torsor.frame_pose(ARM, HOME, "hand_tcp")[:3, 3]
WEIGHT = torsor.gravity_forces(ARM, HOME)
ASKED = 0.01  # s: both controllers are asked 100 times a second, and their forces are held
KP = np.array([120.0, 120.0, 120.0, 120.0, 30.0, 30.0, 10.0])
KD = np.array([25.0, 25.0, 25.0, 25.0, 4.0, 4.0, 1.0])
# At the hand, in its own axes: an angular part of zero, then N. Not at a step, where rounding would decide.
SHORT = (0.195, 0.295, np.array([0.0, 0.0, 0.0, 0.0, 45.0, 0.0]))
LONG = (1.195, 1.895, np.array([0.0, 0.0, 0.0, 15.0, 0.0, 0.0]))


def running(robot, q, v, tau, t):
    """What a second costs: above all the way of the hand from its place."""
    away = torsor.frame_pose(robot, q, "hand_tcp")[:3, 3] - HAND
    return (
        2e4 * (away @ away)
        + 100.0 * ((q - HOME) @ (q - HOME))
        + 10.0 * (v @ v)
        + 0.01 * ((tau - WEIGHT) @ (tau - WEIGHT))
    )


def final(robot, q, v):
    """What the state at the end of what is looked at costs: as much as a tenth of a second there."""
    return 0.1 * running(robot, q, v, WEIGHT, 0.0)


def push(t, q, v):
    return sum(np.where((t > begin) & (t < end), 1.0, 0.0) * wrench for begin, end, wrench in (SHORT, LONG))


def pd(gain):
    def law(t, q, v):
        return torsor.gravity_forces(ARM, q) + gain * KP * (HOME - q) - np.sqrt(gain) * KD * v

    return law


def main() -> None:
    look, took = torsor.control.mpc(ARM, running=running, final=final, dt=ASKED, steps=20), []

    def ahead(t, q, v, state):
        begin = perf_counter()
        found = look(t, q, v, state)
        took.append(perf_counter() - begin)
        return found

    runs = {
        "looking ahead": simulate(ahead, controller_state=look.start(HOME), compile_controller=False),
        "PD": simulate(pd(1.0)),
        "PD, gains × 1.5": simulate(pd(1.5)),
    }
    print("the hand, mm from its place:        pushed briefly   pushed for long   in the end")
    for name, run in runs.items():
        off, first = way(run), run.time < LONG[0]
        print(f"  {name:<34}{off[first].max():14.1f}{off[~first].max():18.1f}{off[-1]:13.2f}")
    print(f"\n{look}")
    print(f"a call takes {1e3 * np.median(took):.1f} ms in the middle; between calls there are {1e3 * ASKED:g}")
    calm = way(runs["looking ahead"])[-1] < 0.1
    print(f"after the pushes the hand is back{'' if calm else '  BAD'}; with larger gains, held for 10 ms, PD trembles")
    draw(runs)


def simulate(controller, **more) -> torsor.Trajectory:
    return torsor.simulate(
        ARM,
        HOME,
        np.zeros(7),
        duration=2.8,
        dt=0.002,
        controller=controller,
        control_dt=ASKED,
        wrenches={"hand_tcp": push},
        **more,
    )


def way(run: torsor.Trajectory) -> np.ndarray:
    """How far the hand is from its place, mm."""
    return np.asarray(1e3 * np.linalg.norm(torsor.frame_pose(ARM, run.q, "hand_tcp")[:, :3, 3] - HAND, axis=-1))


def draw(runs: dict[str, torsor.Trajectory]) -> None:
    given = sys.argv[1:]
    folder = Path(given[0] if len(given) == 1 and Path(given[0]).is_dir() else tempfile.mkdtemp())
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("\nno picture: it needs matplotlib, pip install 'torsor[plot]'")
        return
    figure, axes = plt.subplots(2, 1, figsize=(8.0, 6.0), sharex=True, layout="constrained")
    colours = ("#0072B2", "#D55E00", "#BBBBBB")  # told apart with any colour vision
    for order, ((name, run), colour) in enumerate(zip(runs.items(), colours, strict=True)):
        style = {"color": colour, "zorder": 3 - order, "linewidth": 1.0 if order == 2 else 1.6}
        axes[0].plot(run.time, way(run), label=name, **style)
        share = np.abs(run.tau[:-1] / np.array(ARM.limits.effort)).max(axis=-1)
        axes[1].step(run.time[:-1], 100.0 * share, where="post", **style)
    for ax in axes:
        for begin, end, wrench in (SHORT, LONG):
            ax.axvspan(begin, end, color="0.92", zorder=0)
            text = f"{np.abs(wrench).max():g} N"
            axes[0].text(0.5 * (begin + end), 1.02, text, transform=axes[0].get_xaxis_transform(), ha="center")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("hand from its place (mm)")
    axes[0].legend(frameon=False)
    axes[1].set(
        xlabel="time (s)", ylabel="largest joint force\n(% of what its drive has)", xlim=(0.0, 2.8), ylim=(0.0, 105.0)
    )
    figure.savefig(folder / "looking_ahead.png", dpi=100)
    plt.close(figure)
    print(f"\npicture: {folder / 'looking_ahead.png'}")


if __name__ == "__main__":
    main()
