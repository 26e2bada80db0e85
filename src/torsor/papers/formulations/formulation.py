"""A formulation as its users know it: a function of robot, q, v and a, made of a core on per-link data (`links`).

The core is what the source says and what `torsor.papers.count_operations` counts. Before it the data are made from a robot;
after it, what the sources leave out is added: loads on frames, armature, friction and springs.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Sequence
from typing import NamedTuple

from torsor.arrays import zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointVector
from torsor.border import checked
from torsor.errors import ModelError
from torsor.mechanics.dynamics.friction import friction_forces
from torsor.mechanics.dynamics.springs import plus_springs
from torsor.mechanics.recursions.joint_motion import gather_vector, joint_poses, project_on_joint
from torsor.mechanics.recursions.newton_euler import Wrenches, accumulate, wrenches_on_links
from torsor.model import Robot
from torsor.model.joint_kinds import KINDS
from torsor.papers.formulations.links import Model

Core = Callable[[Model, Sequence[Array], Sequence[Array]], list[Array]]  # of v_i and a_i, the τ_i, each (...)
MakeModel = Callable[[Robot, ConfigurationVector], Model]
_SECTIONS = """

Parameters
----------
robot : Robot
q : (..., nq) array
    Configuration, rad or m.
v : (..., nv) array
    Velocity, rad/s or m/s.
a : (..., nv) array
    Acceleration, rad/s² or m/s².
wrenches : mapping from str to (..., 6) array, optional
    For frames by name what the environment does to the robot there, in that frame, N·m, N.

Returns
-------
(..., nv) array
    Joint forces, N·m or N, as `torsor.inverse_dynamics`.
"""


class Published(NamedTuple):
    """Counts that others printed for revolute joints, multiplications and additions; quoted from memory, not verified.

    ``six_links``: the numbers for n = 6. ``polynomials``: those in n, where known.
    """

    six_links: tuple[int, int]
    polynomials: tuple[str, str] | None


class Formulation(NamedTuple):
    """A way to compute the joint forces: ``function(robot, q, v, a, *, wrenches=None)``, and what it is counted by.

    ``core`` computes τ from the ``make_model`` data; ``frames`` is the Denavit–Hartenberg convention its source puts its
    frames by, "standard" (joint i turns about z of the parent) or "modified" (about z of its own link).
    """

    function: Callable[..., JointVector]
    title: str
    source: str
    published: Published | None
    core: Core
    make_model: MakeModel
    frames: str


FOUND: dict[str, Formulation] = {}  # by name, as they are imported


def formulation(
    make_model: MakeModel, title: str, source: str, *, published: Published | None = None, frames: str = "standard"
) -> Callable[[Core], Callable[..., JointVector]]:
    """Make of a core the function of its name for users; its docstring says what is said of all of them once.

    A joint that follows another's coordinate moves by ratio · q + offset and hands on ratio · τ_i [Sil81, §3.2].
    """

    def made(core: Core) -> Callable[..., JointVector]:
        def joint_forces(
            robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector, *, wrenches: Wrenches | None = None
        ) -> JointVector:
            refuse_other_joints(robot)
            tau = core(make_model(robot, q), joint_rates(robot, v), joint_rates(robot, a))
            ratios = [coupling.ratio for coupling in robot.structure.couplings]
            total = gather_vector(robot, [_times(r, tau_i)[..., None] for r, tau_i in zip(ratios, tau, strict=True)])
            if wrenches:
                total = total - _loads(robot, q, wrenches)
            return plus_springs(robot, q, total + robot.parameters.armature * a + friction_forces(robot, v))

        joint_forces.__name__ = joint_forces.__qualname__ = core.__name__
        joint_forces.__module__, joint_forces.__doc__ = core.__module__, f"{inspect.getdoc(core)}{_SECTIONS}"
        # Whoever asks for its source wants that of the core; signature and hints are its own.
        joint_forces.__signature__ = inspect.signature(joint_forces)  # type: ignore[attr-defined]
        joint_forces.__annotations__ = typing.get_type_hints(joint_forces, include_extras=True)
        joint_forces.__wrapped__ = core  # type: ignore[attr-defined]
        function = checked(joint_forces)
        FOUND[core.__name__] = Formulation(function, title, source, published, core, make_model, frames)
        return function

    return made


def refuse_other_joints(robot: Robot) -> None:
    """Raise for joints that are no screws: the sources know joints with one freedom only."""
    for joint, kind in zip(robot.joints, robot.structure.kinds, strict=True):
        if not KINDS[kind].has_screw:
            raise ModelError(
                f"joint {joint!r} of robot {robot.name!r} is {kind}; this formulation knows revolute, prismatic and "
                "helical joints. Use torsor.inverse_dynamics, which takes every joint."
            )


def joint_rates(robot: Robot, x: JointVector) -> list[Array]:
    """Of a velocity or acceleration (..., nv), the part (...) of each joint along its own unit screw."""
    s = robot.structure
    return [_times(s.couplings[i].ratio, x[..., s.coordinate_of(i).v][..., 0]) for i in range(robot.n)]


def _times(ratio: float, x: Array) -> Array:
    return x if ratio == 1.0 else ratio * x


def _loads(robot: Robot, q: ConfigurationVector, wrenches: Wrenches) -> JointVector:
    """Σ JᵀF over the loaded frames: each load is carried down to the base, and every joint on its way takes its part."""
    on_links = wrenches_on_links(robot, wrenches)
    F = accumulate(robot, joint_poses(robot, q), [on_links.get(i, zeros(6)) for i in range(robot.n)])
    return gather_vector(robot, [project_on_joint(robot, i, F_i) for i, F_i in enumerate(F)])
