"""Names that XML can hold."""

from __future__ import annotations

import re

from torsor.errors import ModelError
from torsor.formats.xml_fields import is_blank
from torsor.model import Robot

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def check_names(where: str, robot: Robot) -> None:
    """Refuse a robot with a name that XML has no way to write, or that readers take for none."""
    names = [("robot", robot.name), *(("joint", name) for name in robot.joints)]
    for what, name in [*names, *(("link or frame", name) for name in robot.frames)]:
        if is_blank(name) or _NOT_IN_XML.search(name):
            change = 'robot.rename({}, robot="…")' if what == "robot" else f'robot.rename({{{name!r}: "…"}})'
            raise ModelError(f"{where}: a {what} is called {name!r}, which XML cannot hold. Use {change}.")
