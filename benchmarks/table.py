"""A saved run as Markdown: ``python benchmarks/table.py results.json``; what benchmarks/README.md records."""

from __future__ import annotations

import json
import sys


def main(source: str) -> None:
    with open(source) as file:
        report = json.load(file)
    print(", ".join(f"{key} {value}" for key, value in report["machine"].items()) + "\n")
    print("| processor time | s |\n|---|---|")
    for what, seconds in report["start"].items():
        print(f"| {what} | {seconds:.4f} |")
    print(
        "\nOne state from Python, ns a call:\n\n| robot | task | torsor | Pinocchio | MuJoCo |\n|---|---|---|---|---|"
    )
    for robot, tasks in report["single"].items():
        for task, times in tasks.items():
            print(
                f"| {robot} | {task} | {times['torsor']:,.0f} | {peer(times, 'pinocchio')} | {peer(times, 'mujoco')} |"
            )
    heads = "| robot | task | torsor | float32 | 2 threads (wall) | Pinocchio |\n|---|---|---|---|---|---|"
    print(f"\nA batch of 65,536 states, one thread, ns a state:\n\n{heads}")
    for robot, sizes in report["batch"].items():
        for task, times in sizes["65536"].items():
            own = [f"{times[who]:,.0f}" for who in ("torsor", "torsor float32", "torsor 2 threads")]
            print(f"| {robot} | {task} | {' | '.join(own)} | {peer(times, 'pinocchio')} |")
    print("\nPanda rollout, ns a step: " + ", ".join(f"{who} {t:,.0f}" for who, t in report["rollout"].items()))
    print("\nFloors, ns a state: " + ", ".join(f"{who} {t:,.1f}" for who, t in report["floor"].items()))


def peer(times: dict[str, float], who: str) -> str:
    return f"{times[who]:,.0f} ({times[who] / times['torsor']:.1f}×)" if who in times else "–"


if __name__ == "__main__":
    main(sys.argv[1])
