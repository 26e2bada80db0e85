"""Which inertial parameters of a real arm matter: the base parameters of a KUKA iiwa, fitted to noisy joint torques.

Needs torsor alone; its picture torsor[plot].

python examples/11_identification.py [directory for the picture]
"""

import sys
import tempfile
from pathlib import Path
from textwrap import fill

import numpy as np

import torsor

DURATION, RATE, HARMONICS = 10.0, 50.0, 5  # s, 1/s
NOISE = 0.02, 0.01  # N·m at rest, and as a part of the root mean square of each joint's torque
ESSENTIAL = 3.0  # standard deviations that a parameter is away from zero


def main() -> None:
    arm = torsor.robots.iiwa()
    base = torsor.identification.base_parameters(arm)
    print(base, "\n")
    for name in ("link_1 m", "link_7 m"):
        print(fill(str(next(one for one in base.unidentifiable if one.name == name)), 120), "\n")

    rng = np.random.default_rng(0)
    tried = [fourier(arm, rng) for _ in range(20)]
    conditions = [np.linalg.cond(scaled(stacked(base, *motion))) for motion in tried]
    best = int(np.argmin(conditions))
    print(
        f"Of 20 random Fourier series the best conditioned is number {best + 1}: condition {conditions[best]:.0f}, the worst"
    )
    print(f"{max(conditions):.0f}. It is run for {DURATION:g} s, and torques are measured with noise.\n")

    measured, sigma = measure(arm, tried[best], rng)
    beta, deviation = fit(base, tried[best], measured, sigma)
    sure = np.abs(beta) / deviation
    report(base, beta, deviation, sure)
    repeated(arm, base, tried[best], rng)

    essential = sure > ESSENTIAL
    fewer = np.zeros(base.count)
    fewer[essential] = fit(base, tried[best], measured, sigma, essential)[0]
    print(
        f"\nTorques of another motion, which was not fitted, from all and from the {essential.sum()} essential ones:\n"
    )
    check(arm, base, {"all": beta, "essential": fewer}, rng)
    draw(base, beta, deviation, essential)


def fourier(arm: torsor.Robot, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A periodic motion q, v, a (N, nv), each joint a random Fourier series within its limits of angle and speed."""
    t = np.arange(0.0, DURATION, 1.0 / RATE)[:, None, None]
    w = 2 * np.pi / DURATION * np.arange(1, HARMONICS + 1)
    s, c = rng.normal(size=(2, arm.nv, HARMONICS)) / w
    q = np.sum(s * np.sin(w * t) + c * np.cos(w * t), axis=-1)
    v = np.sum(w * (s * np.cos(w * t) - c * np.sin(w * t)), axis=-1)
    a = np.sum(-(w**2) * (s * np.sin(w * t) + c * np.cos(w * t)), axis=-1)
    angle, speed = (np.minimum(bound, most) for bound, most in ((arm.limits.upper, np.pi), (arm.limits.velocity, 2.0)))
    size = np.minimum(angle / np.abs(q).max(axis=0), speed / np.abs(v).max(axis=0))
    return size * q, size * v, size * a


def stacked(base: torsor.identification.BaseParameters, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """The reduced regressor at all samples, one below the other: (N nv, count)."""
    Y: np.ndarray = base.regressor(q, v, a).reshape(-1, base.count)
    return Y


def scaled(Y: np.ndarray) -> np.ndarray:
    columns: np.ndarray = Y / np.linalg.norm(Y, axis=0)
    return columns


def measure(arm, motion, rng):
    """Joint torques (N, nv), N·m, with noise, and its standard deviation (nv,)."""
    tau = torsor.inverse_dynamics(arm, *motion)
    sigma = NOISE[0] + NOISE[1] * np.sqrt(np.mean(tau**2, axis=0))
    return tau + sigma * rng.normal(size=tau.shape), sigma


def fit(base, motion, measured, sigma, some=slice(None)):
    """Weighted least squares for some of the base parameters: their values and standard deviations."""
    weights = np.tile(1.0 / sigma, len(measured))
    Y, tau = weights[:, None] * stacked(base, *motion)[:, some], weights * measured.reshape(-1)
    lengths = np.linalg.norm(Y, axis=0)  # kilograms and kilogram metres squared together: the fit is better scaled
    Q, R = np.linalg.qr(Y / lengths)
    beta = np.linalg.solve(R, Q.T @ tau) / lengths
    return beta, np.linalg.norm(np.linalg.inv(R), axis=1) / lengths


def report(base, beta, deviation, sure):
    order = np.argsort(-sure)
    print(f"{'':>4}  {'name':<7}{'true':>12}{'fitted':>12}{'±':>12}   away from zero by so many standard deviations")
    for place in [*range(8), None, *range(base.count - 4, base.count)]:
        if place is None:
            print(f"{'…':>4}")
            continue
        k = order[place]
        numbers = f"{base.values[k]:>12.4g}{beta[k]:>12.4g}{deviation[k]:>12.2g}{sure[k]:>10.1f}"
        print(f"{place + 1:>4}  {base.symbols[k]:<7}{numbers}")
    print(f"\n{np.sum(sure > ESSENTIAL)} of {base.count} stand out of the noise by {ESSENTIAL:g} standard deviations.")


def repeated(arm, base, motion, rng, times=20):
    """How often a fitted value is within two of its standard deviations of the truth, over repeated experiments."""
    within = []
    for _ in range(times):
        beta, deviation = fit(base, motion, *measure(arm, motion, rng))
        within.append(np.abs(beta - base.values) < 2 * deviation)
    print(f"In {times} repetitions {np.mean(within):.0%} of all fitted values are true to within two of theirs.")


def check(arm, base, fits, rng):
    """Errors of torques on another motion; the values are written back to a robot, as those of a real arm would be."""
    q, v, a = fourier(arm, rng)
    tau = torsor.inverse_dynamics(arm, q, v, a)
    rms = np.sqrt(np.mean(tau**2, axis=0))
    print(f"{'joint':<12}{'torque':>9}" + "".join(f"{name:>12}" for name in fits) + "   (root mean squares, N·m)")
    errors = []
    for beta in fits.values():
        identified = arm.with_inertial_parameters(base.parameters_for(beta))
        errors.append(np.sqrt(np.mean((torsor.inverse_dynamics(identified, q, v, a) - tau) ** 2, axis=0)))
    for i, name in enumerate(arm.joints):
        print(f"{name:<12}{rms[i]:>9.3f}" + "".join(f"{error[i]:>12.4f}" for error in errors))


def draw(base, beta, deviation, essential):
    given = sys.argv[1:]
    folder = Path(given[0] if len(given) == 1 and Path(given[0]).is_dir() else tempfile.mkdtemp())
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("\nno picture: it needs matplotlib, pip install 'torsor[plot]'")
        return
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(12, 8), layout="constrained")
    sure = np.abs(beta) / deviation
    order = np.argsort(-sure)
    colours = np.where(essential[order], "#0072b2", "0.75")
    top.bar(range(base.count), sure[order], color=colours)
    top.axhline(ESSENTIAL, color="#d55e00", linewidth=1)
    top.text(base.count - 0.5, ESSENTIAL * 1.15, f"{ESSENTIAL:g} standard deviations", ha="right", color="#d55e00")
    top.set(yscale="log", xlim=(-1, base.count), ylabel="|fitted value| / its standard deviation")
    top.set_title(f"{base.robot.name}: {essential.sum()} of {base.count} base parameters stand out of the noise")
    top.set_xticks(range(base.count), [base.symbols[k] for k in order], rotation=90, fontsize=8)

    shown = [k for k in order if essential[k]]
    ratio, bars = beta[shown] / base.values[shown], 2 * deviation[shown] / np.abs(base.values[shown])
    bottom.axhline(1.0, color="0.5", linewidth=1)
    bottom.bar(range(len(shown)), ratio, yerr=bars, color="#56b4e9", ecolor="0.15", capsize=3)
    bottom.set(xlim=(-1, len(shown)), ylabel="fitted / true value, ± 2 standard deviations")
    bottom.set_title("those that matter, and how well they are known")
    bottom.set_xticks(range(len(shown)), [base.symbols[k] for k in shown], rotation=90, fontsize=8)
    for ax in (top, bottom):
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(folder / "identification.png", dpi=120)
    print(f"\npicture: {folder / 'identification.png'}")


if __name__ == "__main__":
    main()
