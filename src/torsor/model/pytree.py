"""Robot as a JAX pytree, registered when JAX is there and not before.

torsor never imports JAX. If JAX is already imported, the robot is registered at once; otherwise a finder waits for the
import of ``jax``, lets it run as usual, registers the robot afterwards and withdraws.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from torsor.model.parameters import Parameters, frozen
from torsor.model.robot import Robot
from torsor.model.structure import Structure


def register_with_jax() -> None:
    """Register `Robot` with JAX now, or as soon as JAX is imported."""
    if "jax" in sys.modules:
        _register()
    elif not any(isinstance(finder, _WaitForJax) for finder in sys.meta_path):
        sys.meta_path.insert(0, _WaitForJax())


def _register() -> None:
    from jax import tree_util

    keys = [tree_util.GetAttrKey(name) for name in Parameters._fields]

    def flatten_with_keys(robot: Robot) -> tuple[list[tuple[Any, Any]], Structure]:
        return list(zip(keys, robot.parameters, strict=True)), robot.structure

    def unflatten(structure: Structure, leaves: Sequence[Any]) -> Robot:
        # Nothing is validated, for leaves may be anything while JAX works; but what could be written into is copied.
        return Robot(structure, Parameters(*(frozen(leaf) if _is_writeable(leaf) else leaf for leaf in leaves)))

    tree_util.register_pytree_with_keys(
        Robot, flatten_with_keys, unflatten, lambda robot: (tuple(robot.parameters), robot.structure)
    )


def _is_writeable(leaf: Any) -> bool:
    return type(leaf) is np.ndarray and leaf.dtype == np.float64 and leaf.flags.writeable


class _WaitForJax(importlib.abc.MetaPathFinder):
    """Waits until JAX is really imported: many libraries only ask whether it could be."""

    def __init__(self) -> None:
        self._asks = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "jax" or self._asks:
            return None
        self._asks = True  # the other finders, and not this one again
        try:
            spec = importlib.util.find_spec("jax")
        finally:
            self._asks = False
        if spec is not None and spec.loader is not None:
            spec.loader = _RegisterAfter(spec.loader, self)
        return spec


class _RegisterAfter(importlib.abc.Loader):
    """JAX's own loader, followed by the registration."""

    def __init__(self, loader: importlib.abc.Loader, finder: _WaitForJax) -> None:
        self.loader, self._finder = loader, finder

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader  # leave no trace of us in JAX's module
        module.__loader__ = self.loader
        self.loader.exec_module(module)
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
            _register()
