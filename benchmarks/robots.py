"""The robots that are measured: one description, read by torsor and by the peers."""

from __future__ import annotations

from pathlib import Path

import torsor

FOLDER = Path(__file__).parents[1] / "tests" / "data" / "robots"


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.urdf"


def is_floating(name: str) -> bool:
    return name.endswith("floating")


def torsor_robot(name: str) -> torsor.Robot:
    return torsor.load(path_of(name), base="floating" if is_floating(name) else "fixed")
