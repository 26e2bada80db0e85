"""Is a mechanism balanced against gravity: does it stay where it is left, at all configurations?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.balancing.variation import ROUNDING, printed, sampled
from torsor.border import explained
from torsor.lie import unchecked as lie
from torsor.mechanics.dynamics.energy import potential_energy
from torsor.mechanics.dynamics.inverse_dynamics import gravity_forces
from torsor.mechanics.kinematics.poses import poses_in_base
from torsor.mechanics.recursions.joint_motion import gather_vector, joint_screws
from torsor.model import Robot


class HeldJoint(NamedTuple):
    """A degree of freedom that gravity moves: the largest ``force`` (N·m or N) that holds it, and its share of all weights."""

    joint: str
    force: float
    relative: float

    def __str__(self) -> str:
        return (
            f"{self.joint}: {self.force:.3g} N·m or N, {self.relative:.2g} of what its weights would give all one way"
        )


@dataclass(frozen=True, eq=False)
class GravityReport:
    """The answer of `is_gravity_balanced`, true if gravity moves no joint, and what it rests on.

    ``largest`` is the largest relative force; ``entries`` the joints above ``tolerance``, largest first; ``where`` (nq,),
    rad or m, the configuration of the largest; ``potential`` the range of the potential energy, J.
    """

    robot: str
    balanced: bool
    largest: float
    tolerance: float
    entries: tuple[HeldJoint, ...]
    where: Array
    potential: float
    configurations: int

    def __bool__(self) -> bool:
        return self.balanced

    def __str__(self) -> str:
        if self.balanced:
            return (
                f"robot {self.robot!r} is balanced against gravity: at {self.configurations} configurations its potential energy "
                f"is the same to {self.potential:.1g} J (tolerance {self.tolerance:.0e} of the weights' moments)."
            )
        return "\n".join(
            [
                f"robot {self.robot!r} is not balanced against gravity: over {self.configurations} configurations its potential "
                f"energy changes by {self.potential:.3g} J, and joints need holding, most at q = {printed(self.where)}:",
                *(f"  {entry}" for entry in self.entries),
            ]
        )


@explained
def is_gravity_balanced(
    robot: Robot, *, tolerance: float = 1e-9, configurations: int = 8, seed: int = 0
) -> GravityReport:
    """Whether gravity forces vanish at all configurations: the potential energy is constant [LP, (9.84); BSP93, §5].

    Asked at the neutral and at random configurations within the limits. Each force is divided by |g| Σ_j m_j |∂c_j/∂q_i|
    (its largest over the configurations), c_j the centres of mass: what it would be if all weights pulled one way. That
    ratio, no unit and at most 1, must not exceed ``tolerance``. What rounding can explain counts as zero.

    Returns a report that is true or false, says why when printed, and holds the configuration (nq,), rad or m.
    """
    q = sampled("is_gravity_balanced", robot, configurations, seed, tolerance)
    forces = np.array(np.broadcast_to(gravity_forces(robot, q), (len(q), robot.nv)))
    moments, noise = _moments(robot, q)
    g = float(np.linalg.norm(robot.gravity))
    forces[np.abs(forces) <= ROUNDING * g * noise] = 0.0
    scale = np.broadcast_to(g * moments.max(axis=0), forces.shape)
    with np.errstate(divide="ignore"):
        relative = np.divide(np.abs(forces), scale, out=np.zeros_like(forces), where=forces != 0)
    at = relative.argmax(axis=0)
    entries = [
        HeldJoint(name, float(forces[at[i], i]), float(relative[at[i], i]))
        for i, name in enumerate(robot.structure.freedoms)
        if relative[at[i], i] > tolerance
    ]
    largest = float(relative.max())
    return GravityReport(
        robot=robot.name,
        balanced=largest <= tolerance,
        largest=largest,
        tolerance=tolerance,
        entries=tuple(sorted(entries, key=lambda entry: -entry.relative)),
        where=q[int(relative.max(axis=1).argmax())],
        potential=float(np.ptp(np.broadcast_to(potential_energy(robot, q), (len(q),)))),
        configurations=len(q),
    )


def _moments(robot: Robot, q: ConfigurationVector) -> tuple[Array, Array]:
    """Σ_j m_j |∂c_j/∂q_i| over all links j that freedom i moves (c, nv); and a bound of the numbers it is made of."""
    s, rows = robot.structure, robot.parameters.inertias
    poses = [np.broadcast_to(T, (len(q), 4, 4)) for T in poses_in_base(robot, q)]
    moments, noise = [], []
    for i in range(robot.n):
        screws = lie.transform_twist(poses[i][:, None], joint_screws(robot, i))  # (c, k, 6), in base axes
        w, v = screws[..., :3], screws[..., 3:]
        moved, bound = np.zeros(v.shape[:-1]), np.zeros(v.shape[:-1])
        for j in range(i, robot.n):
            if i in s.path_from_base(j):
                m, T = rows[j, 0], poses[j]
                h = (m * T[:, :3, 3] + T[:, :3, :3] @ rows[j, 1:4])[:, None]  # m c
                moved += np.linalg.norm(m * v + np.cross(w, h), axis=-1)
                reach = m * np.linalg.norm(T[:, :3, 3], axis=-1) + np.linalg.norm(rows[j, 1:4])
                bound += m * np.linalg.norm(v, axis=-1) + np.linalg.norm(w, axis=-1) * reach[:, None]
        moments.append(moved)
        noise.append(bound)
    return gather_vector(robot, moments), gather_vector(robot, noise)
