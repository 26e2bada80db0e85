"""Which cells of a run are less than twice as fast as the faster peer: what `make bench` ends with."""

from __future__ import annotations

from collections.abc import Iterator

PEERS = ("pinocchio", "mujoco")
ENOUGH = 2.0


def slow_cells(report: dict) -> list[tuple[str, float]]:
    """Names of cells and ratios to the faster peer, the slowest first."""
    found = [(name, min(peers) / own) for name, own, peers in _cells(report) if peers]
    return sorted(((name, ratio) for name, ratio in found if ratio < ENOUGH), key=lambda cell: cell[1])


def show_slow_cells(report: dict) -> None:
    cells = slow_cells(report)
    print(f"\ncells below {ENOUGH:g}× the faster peer: " + ("none" if not cells else ""))
    for name, ratio in cells:
        print(f"  {name:<60}{ratio:.2f}×")


def _cells(report: dict) -> Iterator[tuple[str, float, list[float]]]:
    """Name, torsor's time and those of its peers, for everything that peers do too."""
    for robot, tasks in report.get("single", {}).items():
        for task, times in tasks.items():
            yield _cell(f"{robot}, {task}, one state", times)
    for robot, sizes in report.get("batch", {}).items():
        for size, tasks in sizes.items():
            for task, times in tasks.items():
                yield _cell(f"{robot}, {task}, batch of {int(size):,}", times)
    for robot, tasks in report.get("derivatives", {}).items():
        for task, times in tasks.items():
            for how in ("one", "batch"):
                yield _cell(f"{robot}, {task}, {how}", times[how])
    for file, times in report.get("loading", {}).items():
        yield _cell(f"loading {file}", times)
    for robot, tasks in report.get("geometry", {}).items():
        for task, times in tasks.items():
            peers = [times["pinocchio, one"]] if "pinocchio, one" in times else []
            yield f"{robot}, {task}, one state", times["one"], peers
    rollout = report.get("rollout", {})
    if "pinocchio, Python loop" in rollout:
        yield "rollout of one trajectory", rollout["torsor, one trajectory"], [rollout["pinocchio, Python loop"]]


def _cell(name: str, times: dict[str, float]) -> tuple[str, float, list[float]]:
    return name, times["torsor"], [times[peer] for peer in PEERS if peer in times]
