"""Robots that differ in numbers only: from the third on their numbers are inputs of one kernel, and nothing is compiled again.

A kernel made for one robot has its numbers as constants, which makes it short; that pays if the robot is used for long. Who
sweeps over payloads, calibrates, or has another robot in every environment would compile for ever. So the first `OWN` robots of
a structure get a kernel each, and all others share one, in which those groups of numbers are inputs that have differed so far.
What was decided for a robot stays: its results do not change by a bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.compiler.run.apart import new_lock
from torsor.functions.describe import Public, Request
from torsor.functions.kept import Kept
from torsor.mechanics.dynamics.springs import has_springs
from torsor.model import Parameters, Robot
from torsor.model.remembered import own

OWN = 2  # robots of one structure that get a kernel of their own
_FAMILIES, _ROBOTS = 256, 4096  # remembered; of those forgotten it is decided anew


class _Family:
    """The robots of one structure that a function was called with."""

    def __init__(self) -> None:
        self.first: Robot | None = None  # whose numbers are those of the shared kernel that do not differ
        self._varied: tuple[str, ...] = ()
        self._decided: Kept[tuple[str, ...]] = Kept(_ROBOTS)
        self._own, self._lock = 0, new_lock()

    def groups(self, robot: Robot) -> tuple[str, ...]:
        """Those that are inputs of the kernel for a robot; none if it has a kernel of its own."""
        with self._lock:  # two threads with one robot get one answer
            return self._decided.get(robot.digest, lambda: self._decide(robot))

    def knows(self, robot: Robot) -> bool:
        """Whether it was decided for a robot before."""
        return robot.digest in self._decided

    def _decide(self, robot: Robot) -> tuple[str, ...]:
        if self.first is None:
            self.first = own(robot)
        if self._own < OWN:
            self._own += 1
            return ()
        differing = _differing(self.first.parameters, robot.parameters)
        self._varied = tuple(x for x in Parameters._fields if x in {*self._varied, *differing})
        return self._varied


_families: Kept[_Family] = Kept(_FAMILIES)


class Shared(NamedTuple):
    """A request for the kernel that robots share, and the numbers of the robot at hand, the kernel's last inputs.

    ``is_first``: the robot comes for the first time, and nobody knows whether it comes again.
    """

    request: Request
    numbers: list[np.ndarray]
    is_first: bool


def shared(about: Public, request: Request) -> Shared:
    """A request as it is, or for the kernel of all robots of its structure, if this one is the third of them or later."""
    robot = request.robot
    family = _families.get((about, robot.structure, has_springs(robot)), _Family)  # without springs, no term for them
    is_first, groups = not family.knows(robot), family.groups(robot)
    first = family.first
    if not groups or first is None or list(about.algorithms(robot)) != list(about.algorithms(first)):
        return Shared(request, [], False)
    numbers = [np.ascontiguousarray(getattr(robot.parameters, group), request.dtype) for group in groups]
    return Shared(request._replace(robot=first, groups=groups), numbers, is_first)


def _differing(one: Parameters, other: Parameters) -> list[str]:
    return [name for name, a, b in zip(one._fields, one, other, strict=True) if not np.array_equal(a, b)]
