"""A logged motion turned into torques: noisy joint angles smoothed and differentiated, beside what was really applied.

Needs torsor alone; its picture torsor[plot].

python examples/18_log_to_torques.py [directory for the picture]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import torsor
from torsor import control, motion

RATE = 1000.0  # Hz
NOISE = 2e-5  # rad: an encoder of 18 bits or so
CUTOFF = 12.0  # Hz: above what the motion holds


def main() -> None:
    arm = torsor.robots.panda()
    q0 = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.7, 0.3])
    q1, q2 = q0 + 0.4, q0 + np.array([-0.3, 0.2, 0.3, -0.3, 0.2, 0.2, -0.4])
    plan = motion.spline(arm, [0.0, 0.8, 1.6, 2.4], [q0, q1, q2, q0])
    law = control.follow(control.computed_torque, plan, kp=400.0, kd=40.0)
    real = torsor.simulate(arm, q0, np.zeros(7), duration=2.4, dt=1 / RATE, controller=law)  # stands for a robot
    measured = real.q + np.random.default_rng(0).normal(scale=NOISE, size=real.q.shape)

    log = motion.from_samples(real.time, measured, robot=arm, cutoff=CUTOFF)
    naive = np.gradient(np.gradient(measured, real.time, axis=0), real.time, axis=0)
    by_differences = torsor.inverse_dynamics(arm, measured, np.gradient(measured, real.time, axis=0), naive)
    inner = slice(100, -100)  # without the ends, where there is a window on one side only
    size = np.sqrt(np.mean(real.tau[inner] ** 2))
    print(
        f"{len(real)} samples with {1e6 * NOISE:.0f} µrad of noise; torques of {size:.1f} N·m (root mean square), off by"
    )
    errors = {}
    for name, tau in (("differences of samples", by_differences), ("from_samples", log.trajectory.tau)):
        errors[name] = np.sqrt(np.mean((tau - real.tau)[inner] ** 2))
        print(f"  {name:<24}{errors[name]:9.3f} N·m")
    print(f"  {errors['differences of samples'] / errors['from_samples']:.0f} times less", end="")
    print("" if errors["from_samples"] < 0.02 * size else "  BAD")
    draw(real, log.trajectory, by_differences)


def draw(real: torsor.Trajectory, smooth: torsor.Trajectory, by_differences: np.ndarray) -> None:
    given = sys.argv[1:]
    folder = Path(given[0] if len(given) == 1 and Path(given[0]).is_dir() else tempfile.mkdtemp())
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("\nno picture: it needs matplotlib, pip install 'torsor[plot]'")
        return
    figure, axes = plt.subplots(2, 1, figsize=(9, 6), sharex=True, layout="constrained")
    for ax, joint in zip(axes, (1, 3), strict=True):
        ax.plot(real.time, by_differences[:, joint], color="0.9", linewidth=0.7, label="differences of samples")
        ax.plot(real.time, real.tau[:, joint], color="black", linewidth=2.2, label="applied")
        ax.plot(real.time, smooth.tau[:, joint], "--", color="tab:orange", linewidth=1.6, label="from_samples")
        low, high = real.tau[:, joint].min(), real.tau[:, joint].max()
        ax.set(ylabel=f"torque of joint {joint + 1} (N·m)", ylim=(low - 0.4 * (high - low), high + 0.4 * (high - low)))
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].legend(ncol=3, framealpha=1.0, loc="upper center")
    axes[1].set_xlabel("time (s)")
    figure.savefig(folder / "log_to_torques.png", dpi=100)
    plt.close(figure)
    print(f"\npicture: {folder / 'log_to_torques.png'}")


if __name__ == "__main__":
    main()
