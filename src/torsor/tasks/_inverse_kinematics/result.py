"""What inverse kinematics gives: configurations, whether and how well they reach, and why not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector

SHOWN = 5  # targets that were not reached, in a printed result


@dataclass(frozen=True, eq=False)
class InverseKinematics:
    """The answer of `inverse_kinematics`, batch axes first; true if every target is reached.

    ``q`` (..., nq), rad or m: the configuration that reaches the target or, where none was found, that comes nearest.
    ``success`` (...); ``angle_error`` (...), rad, and ``position_error`` (...), m: what is left, zero for what was not asked
    for; ``reason`` (...): in words; ``iterations`` (...) of Newton's method over all starts, and ``starts`` (...) used.
    """

    robot: str
    frame: str
    q: ConfigurationVector
    success: Array
    angle_error: Array
    position_error: Array
    reason: Array
    iterations: Array
    starts: Array

    @property
    def residual(self) -> Array:
        """The larger of the two errors (...), rad or m: at most the tolerance where the target is reached."""
        larger: Array = np.maximum(self.angle_error, self.position_error)
        return larger

    def __bool__(self) -> bool:
        return bool(np.all(self.success))

    def __str__(self) -> str:
        count, reached = self.success.size, int(np.sum(self.success))
        what = f"frame {self.frame!r} of robot {self.robot!r}"
        if self.success.ndim == 0:
            return f"{what}: {self.reason}"
        if not count:
            return f"{what}: no targets"
        head = f"{what}: {reached} of {count} targets reached ({100 * reached / count:.2f} %)"
        if reached:
            angle, position = self.angle_error[self.success].max(), self.position_error[self.success].max()
            head += f", to {angle:.1e} rad and {position:.1e} m"
        head += f"; {np.median(self.iterations):.0f} iterations over all starts (median), at most {self.starts.max()} starts"
        lost = np.argwhere(~self.success)
        lines = [f"  {list(map(int, k))}: {self.reason[tuple(k)]}" for k in lost[:SHOWN]]
        more = [f"  and {len(lost) - SHOWN} more"] if len(lost) > SHOWN else []
        return "\n".join([head, *lines, *more])

    def __repr__(self) -> str:
        return f"<InverseKinematics: {str(self).splitlines()[0]}>"
