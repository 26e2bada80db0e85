"""Draw the headline figure from a saved run: ``python benchmarks/plot.py results.json figure.svg`` (needs matplotlib)."""

from __future__ import annotations

import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLOURS = {"torsor": "#1b6ca8", "pinocchio": "#c8553d", "mujoco": "#8a8a8a"}


def main(source: str, target: str) -> None:
    with open(source) as file:
        report = json.load(file)
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), constrained_layout=True)
    more = {
        task: times
        for task, times in report.get("derivatives", {}).get("panda7", {}).items()
        if "pinocchio" in times["one"]
    }
    one = report["single"]["panda7"] | {task: times["one"] for task, times in more.items()}
    batch = report["batch"]["panda7"]["65536"] | {task: times["batch"] for task, times in more.items()}
    bars(axes[0], one, "Panda, one state from Python", "ns per call")
    bars(axes[1], batch, "Panda, a batch on one core", "ns per state")
    about = report["machine"]
    figure.suptitle(
        f"lower is better · {about['cpu']}, {about['vector bits']}-bit vectors, {about['date']}", fontsize=9
    )
    figure.savefig(target)


def bars(axis, table, title: str, unit: str) -> None:
    tasks = list(table)
    who = [name for name in COLOURS if any(name in table[task] for task in tasks)]
    width = 0.8 / len(who)
    for k, name in enumerate(who):
        values = [table[task].get(name) for task in tasks]
        places = [j + k * width for j, value in enumerate(values) if value is not None]
        heights = [value for value in values if value is not None]
        drawn = axis.bar(places, heights, width, label=name, color=COLOURS[name])
        labels = []
        for task, value in zip(tasks, values, strict=True):
            if value is not None:
                ratio = value / table[task]["torsor"]
                labels.append(
                    f"{value:,.0f}" if name == "torsor" else f"{ratio:.0f}×" if ratio >= 10 else f"{ratio:.1f}×"
                )
        axis.bar_label(drawn, labels, fontsize=7)
    axis.set_yscale("log")
    everything = [value for times in table.values() for name, value in times.items() if name in COLOURS]
    axis.set_ylim(min(everything) / 2, max(everything) * 4)
    axis.set_xticks(
        [j + 0.4 - width / 2 for j in range(len(tasks))], [task.replace(" ", "\n") for task in tasks], fontsize=8
    )
    axis.set_title(title, fontsize=10)
    axis.set_ylabel(unit)
    axis.legend(fontsize=8, frameon=False, loc="upper left", ncols=3)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


if __name__ == "__main__":
    main(*sys.argv[1:])
