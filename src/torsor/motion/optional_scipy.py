"""SciPy, imported when a motion is first asked for: `import torsor` does not need it."""

from __future__ import annotations

import importlib
from typing import Any

from torsor.errors import MissingDependency


def scipy_module(name: str) -> Any:
    """The module ``scipy.name``."""
    try:
        return importlib.import_module(f"scipy.{name}")
    except ImportError as error:
        raise MissingDependency("needs SciPy: pip install 'torsor[motion]'.") from error
