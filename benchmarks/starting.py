"""Importing torsor and calling a function for the first time, each in a new process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import torsor  # noqa: F401 its names are looked up below
from torsor._lazy import everywhere


def starting() -> dict[str, float]:
    """Seconds to import, to compile cold, and to load from the disk cache, each in a new process."""
    importing = "import time, sys; t = time.process_time(); import numpy; n = time.process_time(); import torsor; "
    importing += "print(n - t, time.process_time() - n)"
    times = [list(map(float, run_python(importing).split())) for _ in range(3)]
    result = {"import numpy": min(t[0] for t in times), "import torsor beyond numpy": min(t[1] for t in times)}
    tasks = {"inverse dynamics": "inverse_dynamics", "forward dynamics": "forward_dynamics"}
    robots = {"Panda": "panda7", "Talos": "talos38_floating", **{f"chain of {n}": f"chain{n}" for n in (8, 16, 32, 64)}}
    for label, robot in robots.items():
        for task, name in tasks.items():
            cold, cached = zip(*(first_call(robot, name) for _ in range(3)), strict=True)
            result[f"{label} {task}, cold"], result[f"{label} {task}, cached"] = min(cold), min(cached)
    return result


def first_call(robot: str, function: str) -> tuple[float, float]:
    """Seconds of a first call in a new process: with an empty cache, and with a full one."""
    code = (
        f"import sys, time; sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
        f"import torsor\nfrom robots import path_of, torsor_robot\nr = torsor_robot({robot!r})\n"
        "q, v, a = torsor.random_state(r, seed=0)\n"
        "torsor.inverse_dynamics(torsor.robots.pendulum(), [0.], [0.], [0.])\n"  # LLVM itself starts here
        f"f = {everywhere()[function][0]}; t = time.process_time(); f(r, q, v, a); print(time.process_time() - t)"
    )
    with tempfile.TemporaryDirectory() as place:
        return float(run_python(code, place)), float(run_python(code, place))


def show_start(report: dict) -> None:
    print("\nseconds of processor time")
    for what, seconds in report["start"].items():
        print(f"  {what:<34}{seconds:.4f}")


def run_python(code: str, cache: str | None = None) -> str:
    environment = {**os.environ, "TORSOR_COMPILE": "soon", **({"TORSOR_CACHE_DIR": cache} if cache else {})}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    ).stdout
