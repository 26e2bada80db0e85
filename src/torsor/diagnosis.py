"""Why is a mass matrix singular? Joints that move no inertia, and motions that meet none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.errors import ModelError, ShapeError
from torsor.lie import inertia_matrix
from torsor.mechanics.mass_matrix import mass_matrix
from torsor.model import Robot, random_configuration
from torsor.model.degenerate import ROUNDING, has_degenerate_links


def refuse_idle_joints(robot: Robot, what: str = "forward dynamics", undefined: str = "its acceleration is") -> None:
    """Raise, naming the joint, if some joint moves no inertia at all, or a negative one, wherever the robot is.

    Not known while parameters are being traced.
    """
    if not has_degenerate_links(robot):
        return
    if negative := negative_joints(robot):
        raise ModelError(
            f"{what} of robot {robot.name!r}: joint {negative[0]!r} moves a negative inertia, so {undefined} not that of any "
            f"body: {_negative_links(robot)}. `Inertia.violations` tells what is wrong with one."
        )
    if idle := idle_joints(robot):
        raise ModelError(
            f"{what} of robot {robot.name!r}: joint {idle[0]!r} moves no inertia, so {undefined} undefined. "
            f"Give a link beyond it a mass (robot.with_inertia), the joint an armature, or hold it: "
            f"robot.lock({{{idle[0]!r}: 0.0}})."
        )


@lru_cache(maxsize=1024)
def idle_joints(robot: Robot) -> tuple[str, ...]:
    """Names of the coordinates whose diagonal entry of M vanishes at every configuration."""
    return _with_inertia(robot, lambda diagonal, rounding: np.abs(diagonal) <= rounding)


@lru_cache(maxsize=1024)
def negative_joints(robot: Robot) -> tuple[str, ...]:
    """Names of the coordinates whose diagonal entry of M is negative at every configuration."""
    return _with_inertia(robot, lambda diagonal, rounding: diagonal < -rounding)


def _with_inertia(robot: Robot, test: Callable[[Array, float], Array]) -> tuple[str, ...]:
    """Names of the coordinates of which an entry of the diagonal of M, ± rounding, passes a test at random configurations."""
    q = random_configuration(robot, seed=0, batch=(4,))
    M = mass_matrix(robot, q)
    diagonal = np.einsum("...ii->...i", np.broadcast_to(M, (4, robot.nv, robot.nv)))
    scale = max(float(np.abs(robot.parameters.inertias).max()), float(robot.parameters.armature.max()))
    passed = np.all(test(diagonal, ROUNDING * scale), axis=0)
    return tuple(c.name for c in robot.structure.coordinates if np.any(passed[c.v]))


def _negative_links(robot: Robot) -> str:
    """Which links have a negative inertia in some direction, in words."""
    moments = np.linalg.eigvalsh(inertia_matrix(robot.parameters.inertias))
    wrong = [link for link, m in zip(robot.links, moments, strict=True) if m[0] < -ROUNDING * np.abs(m).max()]
    if not wrong:
        return "its armature is negative"
    return f"the inertia of {', '.join(map(repr, wrong))} is negative in some direction (mass or moments)"


@dataclass(frozen=True)
class MassMatrixReport:
    """How far the mass matrix at one configuration is from singular, and along which motion.

    ``always_singular``: the mass matrix is singular at random configurations too.
    """

    rank: int
    condition: float
    weakest_motion: dict[str, float]
    idle_joints: tuple[str, ...]
    always_singular: bool = False

    def __str__(self) -> str:
        motion = ", ".join(f"{name} {value:+.3g}" for name, value in self.weakest_motion.items())
        full = self.rank == len(self.weakest_motion)
        lines = [
            f"mass matrix: rank {self.rank} of {len(self.weakest_motion)}, condition number {self.condition:.3g}",
            f"the motion that meets the least inertia: {motion}",
        ]
        if self.idle_joints:
            lines.append(f"joints that move no inertia at any configuration: {', '.join(self.idle_joints)}")
        elif not full and self.always_singular:
            lines.append(
                "singular at every configuration tried: some joints move the same inertia alone in the same way, such as "
                "two axes that coincide with no mass between"
            )
        elif not full:
            lines.append("singular here, though not everywhere: links that are point masses or massless line up")
        return "\n".join(lines)


def mass_matrix_report(robot: Robot, q: ConfigurationVector) -> MassMatrixReport:
    """Why forward dynamics is singular or ill-conditioned at ``q``: rank, condition and weakest motion of M [LP, (9.1)].

    ``q`` (nq,), rad or m, one configuration. The weakest motion is the unit vector v (per degree of freedom) with the
    least kinetic energy ½ vᵀ M v, in rad/s or m/s.
    """
    if np.ndim(q) != 1:
        raise ShapeError(f"mass_matrix_report: takes one configuration of shape ({robot.nq},), got {np.shape(q)}.")
    M = np.asarray(mass_matrix(robot, q))
    values, vectors = np.linalg.eigh(M)
    rank = _rank(values)
    weakest = dict(zip(robot.structure.freedoms, map(float, vectors[:, 0]), strict=True))
    condition = float(values[-1] / values[0]) if values[0] > 0 else float("inf")
    return MassMatrixReport(rank, condition, weakest, idle_joints(robot), rank < robot.nv and _always_singular(robot))


def _rank(values: Array) -> int:
    """How many eigenvalues (nv,), ascending, are not rounding."""
    return int(np.sum(values > ROUNDING * values[-1]))


@lru_cache(maxsize=1024)
def _always_singular(robot: Robot) -> bool:
    """Whether M is singular at each of several random configurations."""
    q = random_configuration(robot, seed=1, batch=(8,))
    M = np.broadcast_to(mass_matrix(robot, q), (8, robot.nv, robot.nv))
    return all(_rank(values) < robot.nv for values in np.linalg.eigvalsh(M))
