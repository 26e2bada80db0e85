"""What happens where a joint meets its limit."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torsor.errors import ArgumentError


@dataclass(frozen=True)
class Stops:
    """Joint stops at the position limits of a robot: hard ones that take or return speed, or springs with dampers.

    Parameters
    ----------
    restitution : float
        Speed after an impact divided by the speed before it, from 0 (the joint stays at its stop) to 1 (it comes back as fast).
    stiffness : float, optional
        N·m/rad or N/m: the stop is a spring that begins at the limit and only pushes, in place of a hard one.
    damping : float, optional
        N·m·s/rad or N·s/m, beside ``stiffness``.
    """

    restitution: float = 0.0
    stiffness: float | None = None
    damping: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.restitution <= 1.0:
            raise ArgumentError(f"Stops: `restitution` must be from 0 to 1, got {self.restitution}.")
        if self.stiffness is None:
            if self.damping != 0.0:
                raise ArgumentError(
                    f"Stops: `damping` {self.damping} belongs to a spring; give its `stiffness` too, "
                    "or `restitution` for a hard stop."
                )
            return
        if self.restitution:
            raise ArgumentError("Stops: give `restitution` for a hard stop or `stiffness` for a spring, not both.")
        for name, value in (("stiffness", self.stiffness), ("damping", self.damping)):
            if not (math.isfinite(value) and value >= 0.0) or (name == "stiffness" and value == 0.0):
                raise ArgumentError(f"Stops: `{name}` must be finite and positive, got {value}.")

    @property
    def are_hard(self) -> bool:
        """Whether a joint cannot go beyond its limit."""
        return self.stiffness is None
