"""A saved run as Markdown: ``python benchmarks/table.py results.json``; what benchmarks/README.md records."""

from __future__ import annotations

import json
import math
import sys

MOTION = ("optimal motion", "time optimal", "optimal control")


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
    show_derivatives(report)
    show_growth(report)
    print("\nPanda rollout, ns a step: " + ", ".join(f"{who} {t:,.0f}" for who, t in report["rollout"].items()))
    shown = [
        f"{name} {times['torsor']:.1f} (Pinocchio {times.get('pinocchio', float('nan')):.1f})"
        for name, times in report["loading"].items()
    ]
    print("\nLoading a URDF, ms: " + ", ".join(shown))
    show_geometry(report)
    show_motion(report)
    print("\nFloors, ns a state: " + ", ".join(f"{who} {t:,.1f}" for who, t in report["floor"].items()))


def show_derivatives(report: dict) -> None:
    """Derivatives of the dynamics and the regressor."""
    print("\nDerivatives and regressor, ns a state, one thread, at most 64 MB of results:\n")
    heads = (
        "one state | Pinocchio | batch | Pinocchio | writing its numbers | batch ÷ writing | first call, s | cached, s"
    )
    print(f"| robot | task | {heads} |\n|---|---|---|---|---|---|---|---|---|---|")
    for robot, tasks in report.get("derivatives", {}).items():
        for task, t in tasks.items():
            one, batch = ([f"{t[k]['torsor']:,.0f}", peer(t[k], "pinocchio")] for k in ("one", "batch"))
            floor = t["batch"]["write floor"]
            rest = (
                f"{floor:,.0f} | {t['batch']['torsor'] / floor:.2f} | {t['first call, s']:.2f} | {t['cached, s']:.4f}"
            )
            print(f"| {' | '.join([robot, task, *one, *batch])} | {rest} |")


def show_geometry(report: dict) -> None:
    """Tensors of the inertia metric."""
    print("\nTensors of the inertia metric, µs a state, one thread, at most 64 MB of results:\n")
    print("| robot | tensor | one state | batch | writing its numbers | by | the other way | first call, s |")
    print("|---|---|---|---|---|---|---|---|")
    for robot, tasks in report.get("geometry", {}).items():
        for task, t in tasks.items():
            way = "machine code" if t["written out"] else "arrays"
            other = f"{t['by whole arrays']:,.1f}" if "by whole arrays" in t else "–"
            print(
                f"| {robot} | {task.replace('_', ' ')} | {t['one']:,.2f} | {t['batch']:,.3f} | {t['write floor']:,.3f} "
                f"| {way} | {other} | {t['first call, s']:.2f} |"
            )
            if "pinocchio, one" in t:
                print(
                    f"| {robot} | the same from Pinocchio's Coriolis matrices | {t['pinocchio, one']:,.2f} | | | | | |"
                )


def show_motion(report: dict) -> None:
    """Optimal motions, paths in least time and optimal control; each on the machine that it was measured on."""
    for name in MOTION:
        if name in report:
            about = report.get("machines", {}).get(name, report["machine"])
            print(f"\n{name.capitalize()} ({', '.join(about[key] for key in ('cpu', 'date'))}):\n\n| | |\n|---|---|")
            for what, value in report[name].items():
                print(f"| {what} | {value:,.4g} |")


def show_growth(report: dict) -> None:
    """How cost grows with the number of joints: the exponent p of n^p between 8 and 64."""
    if not {"chain8", "chain64"} <= set(report["batch"]):
        return
    print("\nGrowth from 8 to 64 joints, as a power of their number:\n")
    print("| task | one state | batch | operations | first call |\n|---|---|---|---|---|")
    for task in ("inverse dynamics", "forward dynamics"):
        pairs = [
            [report["single"][f"chain{n}"][task]["torsor"] for n in (8, 64)],
            [report["batch"][f"chain{n}"]["65536"][task]["torsor"] for n in (8, 64)],
            [report["operations"][f"chain{n}"][task] for n in (8, 64)],
            [report["start"][f"chain of {n} {task}, cold"] for n in (8, 64)],
        ]
        print(f"| {task} | " + " | ".join(f"{math.log(large / small, 8):.2f}" for small, large in pairs) + " |")


def peer(times: dict[str, float], who: str) -> str:
    return f"{times[who]:,.0f} ({times[who] / times['torsor']:.1f}×)" if who in times else "–"


if __name__ == "__main__":
    main(sys.argv[1])
