"""Is a mechanism dynamically balanced: is its mass matrix the same at all configurations?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.balancing.gyroscopic import GyroscopicTerm, gyroscopic_terms
from torsor.balancing.variation import Variation, printed, sampled, variation
from torsor.border import explained
from torsor.model import Robot

SHOWN = 5  # entries in a printed report


class VaryingEntry(NamedTuple):
    """∂M_ij/∂q_k by the names of its three freedoms; its ``value`` where it is largest, and that over √(D_i D_j)."""

    k: str
    i: str
    j: str
    value: float
    relative: float

    def __str__(self) -> str:
        share = f"{self.relative:.2g} of √(M_ii M_jj)"
        return f"∂M({self.i}, {self.j}) / ∂({self.k}) = {self.value:.3g}, {share}"


@dataclass(frozen=True, eq=False)
class BalanceReport:
    """The answer of `is_balanced`, true if the mass matrix is constant and makes no Coriolis forces, and what it rests on.

    ``largest`` and ``rms`` are the largest and the root mean square of all relative derivatives found, per rad or m;
    ``entries`` those above ``tolerance``, largest first; ``where`` (nq,), rad or m, the configuration of the largest;
    ``configurations`` how many were tried. ``gyroscopic`` are the forces that remain though M is constant, largest first.
    """

    robot: str
    balanced: bool
    largest: float
    rms: float
    tolerance: float
    entries: tuple[VaryingEntry, ...]
    where: Array
    configurations: int
    gyroscopic: tuple[GyroscopicTerm, ...] = ()

    def __bool__(self) -> bool:
        return self.balanced

    def __str__(self) -> str:
        if self.balanced:
            size = (
                f"more than {self.largest:.1g} of √(M_ii M_jj) per rad or m" if self.largest else "more than rounding"
            )
            return (
                f"robot {self.robot!r} is balanced: at {self.configurations} configurations no entry of its mass matrix changes "
                f"by {size} (tolerance {self.tolerance:.0e})."
            )
        if self.gyroscopic:
            return "\n".join(
                [
                    f"robot {self.robot!r} is not balanced: M is constant in the frame of body velocities, but these do not "
                    "commute, and forces quadratic in them are left; the largest:",
                    *_shown(self.gyroscopic),
                ]
            )
        lines = [
            f"robot {self.robot!r} is not balanced: of {self.configurations} configurations, its mass matrix changes most at "
            f"q = {printed(self.where)}; the largest derivatives, per rad or m:",
            *_shown(self.entries),
        ]
        return "\n".join(lines)


def _shown(entries: Sequence[VaryingEntry | GyroscopicTerm]) -> list[str]:
    """The first few, a line each."""
    left = len(entries) - SHOWN
    return [f"  {entry}" for entry in entries[:SHOWN]] + ([f"  and {left} more"] if left > 0 else [])


@explained
def is_balanced(robot: Robot, *, tolerance: float = 1e-9, configurations: int = 8, seed: int = 0) -> BalanceReport:
    """Whether the robot is dynamically balanced: its mass matrix is constant, M q̈ = τ without gravity [BSP93, §5].

    Asked of the exact ∂M_ij/∂q_k at the neutral and at random configurations within the limits, for at one of them a
    derivative may vanish by chance. Each is divided by √(D_i D_j), D_i the mean of M_ii over these configurations: joints
    that turn and joints that slide, light and heavy links are then alike, and what is left is a change per rad or m of q_k,
    which must not exceed ``tolerance``. What the rounding of the numbers it is made of can explain counts as zero, and so
    does every entry of a joint that moves no inertia. For planar, spherical and free joints M is that of body velocities and
    ∂_k the derivative along the body velocity v_k; since body velocities do not commute, a constant M may still make forces
    there, a robot counts as balanced only if Γ_ijk + Γ_jik vanish as well. Joints that share a coordinate (mimic) count
    together.

    Returns a report that is true or false, says why when printed, and holds the configuration (nq,), rad or m.
    """
    q = sampled("is_balanced", robot, configurations, seed, tolerance)
    return report_of(robot, variation(robot, q), tolerance)


def report_of(robot: Robot, found: Variation, tolerance: float) -> BalanceReport:
    """The report of a variation."""
    size = np.abs(found.relative)
    largest = float(size.max())
    worst = np.unravel_index(np.argmax(size), size.shape)[0]
    constant = largest <= tolerance
    left = gyroscopic_terms(robot, found.q[0], found.diagonal, tolerance) if constant else ()
    return BalanceReport(
        robot=robot.name,
        balanced=constant and not left,
        largest=largest,
        rms=float(np.sqrt(np.mean(size**2))),
        tolerance=tolerance,
        entries=_entries(robot, found, tolerance),
        where=found.q[worst],
        configurations=len(found.q),
        gyroscopic=left,
    )


def _entries(robot: Robot, found: Variation, tolerance: float) -> tuple[VaryingEntry, ...]:
    """The entries above the tolerance, each where it is largest, with i up to j."""
    names, size = robot.structure.freedoms, np.abs(found.relative)
    at = size.argmax(axis=0)  # for each (k, i, j), the configuration of its largest value
    entries = []
    for k, i, j in np.argwhere(size.max(axis=0) > tolerance):
        if i <= j:
            c = at[k, i, j]
            entries.append(
                VaryingEntry(names[k], names[i], names[j], float(found.derivative[c, k, i, j]), float(size[c, k, i, j]))
            )
    return tuple(sorted(entries, key=lambda entry: -entry.relative))
