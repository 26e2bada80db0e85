"""Libraries that users bring along."""

import importlib
import os

import pytest


def library(name):
    """The library. `make test-bridges` has all of them, and there a missing one is an error; elsewhere its tests are skipped."""
    if os.environ.get("TORSOR_TEST_BRIDGES"):
        return importlib.import_module(name)
    return pytest.importorskip(name, reason=f"{name} is not installed: make test-bridges")
