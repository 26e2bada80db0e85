"""A double pendulum on a cart swings up and balances: iLQR and LQR from `torsor.linearise`, one call per iteration.

Needs torsor alone; its picture torsor[plot].

python examples/12_swing_up.py [directory for the picture]
"""

import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

import torsor

STEP = 0.02  # s: the computer of the robot sets a new force 50 times a second and holds it
STEPS = 150  # of the swing-up
UP = np.array([0.0, np.pi, 0.0])
DRIVEN = [0]  # only the cart has a motor
# What is to be small: x = (δq, δv) from upright on the way, the force, and x at the end of the swing-up.
RUNNING = STEP * np.diag([0.5, 0.5, 0.5, 0.05, 0.05, 0.05])
FORCE = STEP * 0.01 * np.eye(1)
END = 100.0 * np.eye(6)
PUSH = 0.5  # N
MOST_FORCE = 40.0  # N: so a trial that goes wrong does not run away
LENGTHS = 0.5 ** np.arange(10)  # of the line search


class Motion(NamedTuple):
    """q, v (K + 1, 3) and the force on the cart (K, 1), N, of K steps."""

    q: np.ndarray
    v: np.ndarray
    force: np.ndarray


def main() -> None:
    robot, rest = double_pendulum_on_cart(), np.zeros(3)
    falling = np.linalg.eigvals(torsor.linearise(robot, UP, rest, rest).A).real.max()
    print(f"{robot.name}, one motor for three freedoms: upright, an error grows by e every {1 / falling:.2f} s")

    plan, gains, costs = swing_up(robot)
    print(f"iLQR swings up in {STEP * STEPS:g} s: cost {costs[0]:.0f} → {costs[-1]:.2f} in {len(costs) - 1} iterations")
    print(f"  each linearises all {STEPS} steps in one call, and simulates {len(LENGTHS)} trials in another")
    print(f"  the force is {np.abs(plan.force).max():.1f} N at most, the cart needs {np.ptp(plan.q[:, 0]):.2f} m")

    hold, poles = balance(robot)
    print(f"LQR balances: |λ| of the closed loop {np.round(poles, 3)}{'' if poles.max() < 1 else '  BAD'}")

    played, pushed = play(robot, plan, gains, hold)
    x, begin = np.abs(from_upright(played.q, played.v)), pushed.start  # rad, m, rad/s, m/s
    lean, way = np.degrees(x[begin:, 1].max()), x[begin:, 0].max()
    print(f"played in steps of {1e3 * STEP / 4:g} ms: {x[begin].max():.1e} from upright after {STEP * begin:g} s;")
    print(f"  pushed by {PUSH:g} N for 0.1 s, it leans by {lean:.1f}° and the cart moves {way:.2f} m;")
    print(f"  {x[-1].max():.1e} from upright after {STEP * (len(x) - 1):g} s{'' if x[-1].max() < 0.02 else '  BAD'}")
    draw(robot, played, pushed)


def double_pendulum_on_cart() -> torsor.Robot:
    """A cart of 1 kg along x, two rods of 0.5 m with 0.3 kg at their ends; gravity along −y, q = 0 hangs."""
    end = torsor.pose_from((0.0, -0.5, 0.0))
    bob = torsor.Inertia.point(0.3, (0.0, -0.5, 0.0))
    x, z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    joints = [
        torsor.Joint(name="slide", kind="prismatic", link="cart", axis=x, inertia=torsor.Inertia.point(1.0)),
        torsor.Joint(name="hinge", kind="revolute", parent="cart", link="rod", axis=z, inertia=bob),
        torsor.Joint(name="elbow", kind="revolute", parent="rod", link="second_rod", pose=end, axis=z, inertia=bob),
    ]
    frames = {"tip": ("second_rod", end)}
    robot = torsor.assemble(joints, name="cart with two rods", gravity=(0.0, -9.81, 0.0), frames=frames)
    return robot.with_limits(effort={"slide": MOST_FORCE})


def rollout(
    robot: torsor.Robot,
    plan: Motion,
    gains: np.ndarray,
    *,
    change: np.ndarray | None = None,
    length: np.ndarray | None = None,
    pushed: range = range(0),
    substeps: int = 1,
) -> Motion:
    """Motions from rest under δforce = length · change + gain x, set anew in each step: one for each length (L, 1)."""
    length = np.zeros((1, 1)) if length is None else length
    rest, change = np.zeros((len(length), 3)), 0.0 * plan.force if change is None else change
    begin, end = STEP * (pushed.start - 0.01), STEP * (pushed.stop - 0.01)  # not at a step, where rounding would decide

    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        k = round(t / STEP)
        x = np.concatenate([q - plan.q[k], v - plan.v[k]], axis=-1)
        force: np.ndarray = plan.force[k] + length * change[k] + x @ gains[k].T
        return force * [1.0, 0.0, 0.0]

    def push(t, q, v):
        acts = (t > begin) & (t < end)
        return np.where(acts, PUSH, 0.0) * np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])

    run = torsor.simulate(
        robot,
        rest,
        rest,
        duration=STEP * len(plan.force),
        dt=STEP / substeps,
        controller=control,
        control_dt=STEP,  # held over all substeps
        wrenches={"tip": push},
        every=substeps,
    )
    return Motion(run.q, run.v, run.tau[:, :-1, DRIVEN])


def swing_up(robot: torsor.Robot, most: int = 200) -> tuple[Motion, np.ndarray, list[float]]:
    """iLQR: linearise along the motion, go backwards for better forces, try them; until hardly anything is gained.

    Returns the motion, the gains (K, 1, 6) that keep the robot on it, and the costs on the way.
    """
    plan = Motion(np.zeros((STEPS + 1, 3)), np.zeros((STEPS + 1, 3)), np.zeros((STEPS, 1)))  # hanging
    costs = [float(cost_of(plan))]
    while True:
        tau = plan.force * [1.0, 0.0, 0.0]
        near = torsor.linearise(robot, plan.q[:-1], plan.v[:-1], tau, dt=STEP, method="rk4")
        change, gains = backwards(near, plan)
        trials = rollout(robot, plan, gains, change=change, length=LENGTHS[:, None])
        with np.errstate(all="ignore"):  # a trial may run away
            found = np.nan_to_num(cost_of(trials), nan=np.inf)
        best = int(found.argmin())
        if found[best] > 0.9999 * costs[-1] or len(costs) > most:
            return plan, gains, costs
        plan = Motion(*(values[best] for values in trials))
        costs.append(float(found[best]))


def backwards(near: torsor.derivatives.StateSpace, plan: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Changes of the force (K, 1) and gains (K, 1, 6): the best for the linear equations and the quadratic cost."""
    x = from_upright(plan.q, plan.v)
    change, gains = [], []
    p, P = END @ x[-1], END  # from here on a deviation y costs pᵀ y + ½ yᵀ P y
    for k in reversed(range(STEPS)):
        A, B = near.A[k], near.B[k][:, DRIVEN]
        H = np.linalg.inv(FORCE + B.T @ P @ B)
        change.append(-H @ (FORCE @ plan.force[k] + B.T @ p))
        gains.append(-H @ (B.T @ P @ A))
        p = RUNNING @ x[k] + A.T @ (p + P @ B @ change[-1])
        P = RUNNING + A.T @ P @ (A + B @ gains[-1])
    return np.array(change[::-1]), np.array(gains[::-1])


def balance(robot: torsor.Robot) -> tuple[np.ndarray, np.ndarray]:
    """LQR: the gains (1, 6) at which the same recursion arrives for the upright state, and |λ| (6,) of the closed loop."""
    near = torsor.linearise(robot, UP, np.zeros(3), np.zeros(3), dt=STEP)
    A, B, P, K = near.A, near.B[:, DRIVEN], RUNNING, np.zeros((1, 6))
    for _ in range(2000):
        K = -np.linalg.solve(FORCE + B.T @ P @ B, B.T @ P @ A)
        P = RUNNING + A.T @ P @ (A + B @ K)
    return K, np.sort(np.abs(np.linalg.eigvals(A + B @ K)))


def play(robot: torsor.Robot, plan: Motion, gains: np.ndarray, hold: np.ndarray) -> tuple[Motion, range]:
    """Swing up, balance, be pushed across the second rod; in finer steps than planned. Returns the steps of the push too."""
    after, pushed = 250, range(225, 230)
    q = np.concatenate([plan.q[:-1], np.tile(UP, (after + 1, 1))])
    v = np.concatenate([plan.v[:-1], np.zeros((after + 1, 3))])
    force = np.concatenate([plan.force, np.zeros((after, 1))])
    gains = np.concatenate([gains, np.tile(hold, (after, 1, 1))])
    motions = rollout(robot, Motion(q, v, force), gains, pushed=pushed, substeps=4)
    return Motion(*(values[0] for values in motions)), pushed


def from_upright(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """x (..., 6) from the upright state."""
    return np.concatenate([q - UP, v], axis=-1)


def cost_of(motion: Motion) -> np.ndarray:
    x, u = from_upright(motion.q, motion.v), motion.force
    running = square(x[..., :-1, :], RUNNING).sum(-1) + square(u, FORCE).sum(-1)
    cost: np.ndarray = 0.5 * (running + square(x[..., -1, :], END))
    return cost


def square(x: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """xᵀ Q x over batches."""
    squares: np.ndarray = ((x @ Q) * x).sum(-1)
    return squares


def draw(robot: torsor.Robot, played: Motion, pushed: range) -> None:
    given = sys.argv[1:]
    folder = Path(given[0] if len(given) == 1 and Path(given[0]).is_dir() else tempfile.mkdtemp())
    try:
        import matplotlib.pyplot as plt
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError:
        print("\nno picture: it needs matplotlib, pip install 'torsor[plot]'")
        return
    figure = plt.figure(figsize=(13, 6.4), layout=ConstrainedLayoutEngine(h_pad=0.12, w_pad=0.1))
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=(1, 1.1))[0]
    draw_poses(left, robot, played.q[: STEPS + 1])
    draw_curves(right, played, pushed)
    figure.savefig(folder / "swing_up.png", dpi=120)
    plt.close(figure)
    print(f"\npicture: {folder / 'swing_up.png'}")


def draw_poses(figure, robot: torsor.Robot, q: np.ndarray) -> None:
    """The swing-up as a camera with a flash sees it, ten times a second, and the path of the tip."""
    import matplotlib.pyplot as plt
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import LineCollection
    from matplotlib.colors import ListedColormap, Normalize

    ax = figure.subplots()
    links, tip = torsor.link_poses(robot, q), torsor.frame_pose(robot, q, "tip")
    points = np.stack([links[:, 0, :2, 3], links[:, 2, :2, 3], tip[:, :2, 3]], axis=1)  # cart, elbow, tip
    time = STEP * np.arange(len(q))
    colour = plt.get_cmap("viridis_r")(0.08 + 0.92 * time / time[-1])
    ax.axhline(0.0, color="0.75", linewidth=5, zorder=0)
    way = np.stack([points[:-1, 2], points[1:, 2]], axis=1)
    ax.add_collection(
        LineCollection(list(way), colors=colour[:-1], linewidths=1.0, linestyles="-", alpha=0.6, zorder=1)
    )
    for k in range(0, len(q), 5):
        last = k == len(q) - 1
        style = {"color": colour[k], "linewidth": 3.5 if last else 1.6, "zorder": 2 + k, "solid_capstyle": "round"}
        ax.plot(*points[k].T, alpha=1.0 if last else 0.8, **style)
        ax.plot(*points[k, 1:].T, "o", color=colour[k], markersize=9 if last else 5, zorder=2 + k)
        ax.plot(*points[k, 0], "s", color=colour[k], markersize=14 if last else 7, zorder=2 + k)
    ax.set(aspect="equal", xlabel="x, m", ylabel="y, m", title="ten pictures a second, and the path of the tip")
    ax.set_ylim(-1.15, 1.15)
    shades = ScalarMappable(Normalize(0.0, time[-1]), ListedColormap(colour))
    figure.colorbar(shades, ax=ax, label="time, s", orientation="horizontal", shrink=0.7, aspect=40, pad=0.02)


def draw_curves(figure, played: Motion, pushed: range) -> None:
    """Angles, cart and force over time."""
    time = STEP * np.arange(len(played.q))
    curves = {
        "angle from\nupright, rad": {"hinge": played.q[:, 1] - UP[1], "elbow": played.q[:, 2]},
        "cart, m": {"cart": played.q[:, 0]},
        "force, N": {"force": np.append(played.force[:, 0], np.nan)},
    }
    rows = figure.subplots(3, 1, sharex=True)
    for ax, (label, lines) in zip(rows, curves.items(), strict=True):
        ax.axvspan(0.0, STEP * STEPS, color="0.94", zorder=0)
        ax.axvspan(STEP * pushed.start, STEP * pushed.stop, color="tab:red", alpha=0.35, linewidth=0, zorder=0)
        ax.axhline(0.0, color="0.6", linewidth=0.8)
        for (name, values), colour in zip(lines.items(), ("tab:blue", "tab:orange"), strict=False):
            ax.plot(time, values, color=colour, label=name, drawstyle="steps-post" if name == "force" else "default")
        ax.set_ylabel(label)
        ax.spines[["top", "right"]].set_visible(False)
    rows[0].legend(frameon=False, loc="lower right")
    height = rows[0].get_xaxis_transform()
    for x, text in ((0.5 * STEP * STEPS, "swing-up (iLQR)"), (STEP * pushed.start, "push"), (6.3, "balance (LQR)")):
        rows[0].text(x, 1.02, text, transform=height, ha="center", va="bottom")
    rows[-1].set(xlabel="time, s", xlim=(0.0, time[-1]))
    figure.align_ylabels(rows)


if __name__ == "__main__":
    main()
