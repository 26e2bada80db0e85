"""What every historical formulation starts from and ends with: per-link data, joint rates, and loads at the end.

A formulation is a *core* on per-link data (transforms, inertias and axes are given, as in the sources; this is what
`torsor.papers.count_operations` counts) between two thin steps: making that data from a robot, and adding what the sources leave
out, namely loads on frames, armature and friction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from torsor.arrays import zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointVector
from torsor.errors import ModelError
from torsor.mechanics.dynamics.friction import friction_forces
from torsor.mechanics.recursions.joint_motion import gather_vector, joint_poses, project_on_joint
from torsor.mechanics.recursions.newton_euler import Wrenches, accumulate, wrenches_on_links
from torsor.model import Robot
from torsor.model.joint_kinds import KINDS


class Model(NamedTuple):
    """Links in the order of the robot, parents first, and what the base contributes (gravity, or its motion)."""

    parents: tuple[int, ...]
    links: list[Any]  # one record of a formulation's own kind per link
    base: tuple[Array, ...]

    def path(self, i: int) -> list[int]:
        """The links from the base (excluded) out to link i (included)."""
        found: list[int] = []
        while i >= 0:
            found.append(i)
            i = self.parents[i]
        return found[::-1]

    def beyond(self, i: int) -> list[int]:
        """Link i and all links that joint i moves."""
        moved = [i]
        for j in range(i + 1, len(self.parents)):
            if self.parents[j] in moved:
                moved.append(j)
        return moved

    def children(self, i: int) -> list[int]:
        """The links whose parent is link i."""
        return [j for j, p in enumerate(self.parents) if p == i]


Core = Callable[[Model, Sequence[Array], Sequence[Array]], list[Array]]  # of v_i and a_i, the τ_i, each (...)
MakeModel = Callable[[Robot, ConfigurationVector], Model]


def joint_forces(
    core: Core,
    make_model: MakeModel,
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    a: JointVector,
    wrenches: Wrenches | None,
) -> JointVector:
    """τ (..., nv), N·m or N, by a core for what it models, plus what no source does: loads, armature, friction [Sil81, §3.2].

    A joint that follows another's coordinate moves by ratio · q + offset and hands on ratio · τ_i.
    """
    refuse_other_joints(core.__name__.removesuffix("_core"), robot)
    tau = core(make_model(robot, q), joint_rates(robot, v), joint_rates(robot, a))
    ratios = [coupling.ratio for coupling in robot.structure.couplings]
    total = gather_vector(robot, [_times(r, tau_i)[..., None] for r, tau_i in zip(ratios, tau, strict=True)])
    if wrenches:
        total = total - _loads(robot, q, wrenches)
    return total + robot.parameters.armature * a + friction_forces(robot, v)


def refuse_other_joints(name: str, robot: Robot) -> None:
    """Raise for joints that are no screws: the sources know joints with one freedom only."""
    for joint, kind in zip(robot.joints, robot.structure.kinds, strict=True):
        if not KINDS[kind].has_screw:
            raise ModelError(
                f"{name}: joint {joint!r} of robot {robot.name!r} is {kind}; this formulation knows revolute, prismatic and "
                "helical joints. Use torsor.inverse_dynamics, which takes every joint."
            )


def joint_rates(robot: Robot, x: JointVector) -> list[Array]:
    """Of a velocity or acceleration (..., nv), the part (...) of each joint along its own unit screw."""
    s = robot.structure
    return [_times(s.couplings[i].ratio, x[..., s.coordinate_of(i).v][..., 0]) for i in range(robot.n)]


def total(terms: Sequence[Array]) -> Array:
    """The sum of one or more terms."""
    result = terms[0]
    for term in terms[1:]:
        result = result + term
    return result


def scaled(factor: Array, matrix: Array) -> Array:
    """Factor (...) times matrix (..., m, n)."""
    return factor[..., None, None] * matrix


def along(factor: Array, vector: Array) -> Array:
    """Factor (...) times vector (..., m)."""
    return factor[..., None] * vector


def _times(ratio: float, x: Array) -> Array:
    return x if ratio == 1.0 else ratio * x


def _loads(robot: Robot, q: ConfigurationVector, wrenches: Wrenches) -> JointVector:
    """Σ JᵀF over the loaded frames: each load is carried down to the base, and every joint on its way takes its part."""
    on_links = wrenches_on_links(robot, wrenches)
    F = accumulate(robot, joint_poses(robot, q), [on_links.get(i, zeros(6)) for i in range(robot.n)])
    return gather_vector(robot, [project_on_joint(robot, i, F_i) for i, F_i in enumerate(F)])
