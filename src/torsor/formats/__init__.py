"""Robot files: read strictly, explained, repaired when asked, written back."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from torsor.formats.findings import Finding as Finding
from torsor.formats.load import check as check, load as load
from torsor.formats.rules import RULES as RULES, Severity as Severity
from torsor.model.robot import WRITERS, Robot


def _writer(module: str, function: str) -> Any:
    """A writer whose module is imported when it is first used."""

    def write(robot: Robot, *args: Any, **kwargs: Any) -> str:
        return str(getattr(import_module(f"torsor.formats.{module}"), function)(robot, *args, **kwargs))

    return write


WRITERS |= {
    "urdf": _writer("write_urdf", "to_urdf"),
    "mjcf": _writer("write_mjcf", "to_mjcf"),
    "json": _writer("write_screw_list", "to_json"),
    "yaml": _writer("write_screw_list", "to_yaml"),
}
