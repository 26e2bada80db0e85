"""A PID at 1 kHz holds a Panda with a payload it does not know: the integral, the controller's memory, takes the error away.

Needs torsor alone; its picture torsor[plot].

python examples/17_pid_at_1khz.py [directory for the picture]
"""

import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

import torsor

STEP = 1e-3  # s
START = np.array([0.0, -0.4, 0.0, -2.2, 0.0, 1.9, 0.8])
TARGET = START + np.array([0.3, 0.2, -0.2, 0.3, 0.2, -0.2, 0.3])
KP = np.array([120.0, 120.0, 120.0, 120.0, 30.0, 30.0, 10.0])
KI = 1.5 * KP
KD = np.array([25.0, 25.0, 25.0, 25.0, 4.0, 4.0, 1.0])
COLOURS = [
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#E69F00",
    "#CC79A7",
    "#56B4E9",
    "#222222",
]  # told apart with any colour vision


def main() -> None:
    arm = torsor.robots.panda()
    loaded = arm.with_payload("hand_tcp", torsor.Inertia.sphere(0.05, mass=1.5))

    def pd(t, q, v):
        return torsor.gravity_forces(arm, q) + KP * (TARGET - q) - KD * v

    def pid(t, q, v, integral):
        integral = integral + STEP * (TARGET - q)
        return pd(t, q, v) + KI * integral, integral

    def compiled() -> torsor.Trajectory:
        return torsor.simulate(
            loaded, START, np.zeros(7), duration=4.0, dt=STEP, controller=pid, controller_state=np.zeros(7)
        )

    def from_python() -> torsor.Trajectory:
        return torsor.simulate(
            loaded,
            START,
            np.zeros(7),
            duration=4.0,
            dt=STEP,
            controller=pid,
            controller_state=np.zeros(7),
            compile_controller=False,
        )

    without = torsor.simulate(loaded, START, np.zeros(7), duration=4.0, dt=STEP, controller=pd)
    run = compiled()
    for name, x in (("PD", without), ("PID", run)):
        print(f"{name + ':':<4} {np.degrees(np.abs(x.q[-1] - TARGET).max()):.3f}° off in the end")

    called = from_python()
    begin = perf_counter()
    compiled()
    middle = perf_counter()
    from_python()
    end = perf_counter()
    off = np.abs(called.q - run.q).max()
    print(
        f"4 s take {1e3 * (middle - begin):.0f} ms; with the controller called from Python {1e3 * (end - middle):.0f} ms"
    )
    print(f"the two differ by {off:.0e} rad{'' if off < 1e-9 else '  BAD'}")
    draw(without, run)


def draw(without: torsor.Trajectory, run: torsor.Trajectory) -> None:
    given = sys.argv[1:]
    folder = Path(given[0] if len(given) == 1 and Path(given[0]).is_dir() else tempfile.mkdtemp())
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("\nno picture: it needs matplotlib, pip install 'torsor[plot]'")
        return
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), sharey=True, layout="constrained")
    for ax, name, x in zip(axes, ("PD", "PID"), (without, run), strict=True):
        ax.set_prop_cycle(color=COLOURS)
        ax.semilogy(x.time, np.degrees(np.abs(x.q - TARGET)), label=[f"joint {i + 1}" for i in range(7)])
        ax.set(xlabel="time (s)", title=f"{name} with gravity of the empty arm, 1.5 kg in the hand", ylim=(1e-4, 40))
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("error (degrees)")
    axes[1].legend(frameon=False, ncol=2)
    figure.savefig(folder / "pid.png", dpi=100)
    plt.close(figure)
    print(f"\npicture: {folder / 'pid.png'}")


if __name__ == "__main__":
    main()
