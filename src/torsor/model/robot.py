"""A robot: structure + parameters, frozen. Every change gives a new robot; algorithms only read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor._html import shown_by
from torsor._lazy import no_such_attribute
from torsor._once import once
from torsor._text_files import write_text
from torsor.arrays import as_numbers, reshape, stack_matrices, stack_vectors
from torsor.arrays.foreign import refuse_foreign
from torsor.arrays.typing import Array, GivenNumbers, GivenVector3, InertialVector, Pose, Vector3
from torsor.border import explained
from torsor.border.arguments import explained_when_made
from torsor.errors import ArgumentError, ModelError, ShapeError
from torsor.model.inertia import Inertia, refuse_no_inertia, refuse_unphysical
from torsor.model.parameters import Parameters, refuse_impossible_geometry, refuse_impossible_springs
from torsor.model.poses import check_pose, composed
from torsor.model.structure import Frame, Limits, Source, Structure, from_dict, to_dict

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from os import PathLike

    from torsor.model.visuals import Visual


@explained_when_made(" A file becomes a robot by torsor.load(path).")
@dataclass(frozen=True, eq=False)
class Robot:
    """A tree of links and joints, ready to compute with; build one with `torsor.assemble` or `torsor.serial_chain`.

    Frozen, hashable, picklable and safe to share between threads; a JAX pytree whose leaves are `parameters`
    (SI units: kg, m, rad, s).
    """

    structure: Structure
    parameters: Parameters
    source: Source | None = None  # the file it was read from, if it was; not part of what makes robots equal
    visuals: tuple[Visual, ...] = ()  # what it looks like, neither
    _repr_html_ = shown_by("torsor.model.notebook", "robot_html")

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self.structure.name

    @property
    def nq(self) -> int:
        """Numbers in a configuration q."""
        return self.structure.nq

    @property
    def nv(self) -> int:
        """Degrees of freedom: numbers in v, a and tau."""
        return self.structure.nv

    @property
    def n(self) -> int:
        """Number of moving links."""
        return self.structure.n

    @property
    def n_inertial_parameters(self) -> int:
        """Numbers in `torsor.identification.inertial_parameters`: ten per moving link."""
        return 10 * self.n

    @property
    def n_joint_parameters(self) -> int:
        """Numbers of armature, viscous and Coulomb friction and springs together: five per degree of freedom."""
        return 5 * self.nv

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the moving joints, parents first; joint i moves link i."""
        return self.structure.joints

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the joints that own a block of q and v, in the order of q (a mimic joint owns none)."""
        return tuple(c.name for c in self.structure.coordinates)

    @property
    def links(self) -> tuple[str, ...]:
        """Names of the moving links, parents first."""
        return self.structure.links

    @property
    def frames(self) -> tuple[str, ...]:
        """Names of all frames: the base, the links, and the named frames on them."""
        return tuple(frame.name for frame in self.structure.frames)

    @property
    def n_frames(self) -> int:
        """How many `frames` there are."""
        return len(self.structure.frames)

    @property
    def gravity(self) -> Vector3:
        """Acceleration of gravity (3,) in the base frame, m/s²; (0, 0, −9.81) by default."""
        return self.parameters.gravity

    @property
    def limits(self) -> Limits:
        """Bounds of q (rad, m), |v| (rad/s, m/s) and |tau| (N·m, N)."""
        return self.structure.limits

    @property
    def effects(self) -> tuple[str, ...]:
        """Which effects the equations of motion of this robot contain beside its links' inertia."""
        p = self.parameters
        leaves = {"gravity": p.gravity, "armature": p.armature, "viscous friction": p.viscous_friction}
        leaves |= {"coulomb friction": p.coulomb_friction, "springs": p.stiffness}
        return tuple(name for name, leaf in leaves.items() if not isinstance(leaf, np.ndarray) or np.any(leaf != 0))

    @once
    def is_concrete(self) -> bool:
        """Whether all parameters are plain numbers (none is being traced or differentiated)."""
        return self.parameters.is_concrete

    @explained
    def inertia(self, link: str) -> Inertia:
        """Inertia of a link, in its frame: also one that no body has, as a fit may; its `Inertia.violations` tell."""
        return Inertia.unchecked(self.parameters.inertias[self._moving_link(link)])

    @explained
    def q_slice(self, joint: str) -> slice:
        """Where a joint's numbers are in q."""
        return self.structure.coordinate_of(self.structure.joint_index(joint)).q

    @explained
    def v_slice(self, joint: str) -> slice:
        """Where a joint's numbers are in v, a and tau."""
        return self.structure.coordinate_of(self.structure.joint_index(joint)).v

    # States by name

    @explained
    def q_to_dict(self, q: GivenNumbers) -> dict[str, Array]:
        """Configuration (..., nq) as joint name → its numbers (a plain number's axis is dropped)."""
        return to_dict(self.structure, q, "nq")

    @explained
    def v_to_dict(self, v: GivenNumbers) -> dict[str, Array]:
        """Velocity, acceleration or force (..., nv) as joint name → its numbers."""
        return to_dict(self.structure, v, "nv")

    @explained
    def q_from_dict(self, values: Mapping[str, GivenNumbers], default: GivenNumbers | None = None) -> Array:
        """Configuration (..., nq) from joint name → numbers; joints not named keep ``default`` (neutral if None)."""
        return from_dict(self.structure, values, "nq", self.neutral if default is None else default)

    @explained
    def v_from_dict(self, values: Mapping[str, GivenNumbers], default: GivenNumbers | None = None) -> Array:
        """Velocity, acceleration or force (..., nv) from joint name → numbers; others keep ``default`` (zero)."""
        return from_dict(self.structure, values, "nv", np.zeros(self.nv) if default is None else default)

    @property
    def neutral(self) -> Array:
        """The configuration (nq,) at which every joint sits in its home pose."""
        return np.concatenate([np.zeros(0), *(kind.home for _, kind in self.structure.blocks)])

    # Variants

    @explained
    def with_parameters(self, **changes: Array) -> Robot:
        """A robot with some of `parameters` replaced (screws, inertias, gravity, …); JAX values are welcome.

        Armature and friction may be one number for all degrees of freedom. Plain screws must be unit screws of their joints'
        kinds, poses rigid motions. Of JAX values nobody knows: joints then move by exp(screw · q), whatever the screw.
        """
        parameters = self.parameters.replaced(changes, self.name)
        parameters.refuse_non_finite(self.name)
        refuse_impossible_geometry(self.structure, parameters, changes)
        refuse_impossible_springs(self.structure, parameters)
        return replace(self, parameters=parameters)

    @explained
    def with_gravity(self, gravity: GivenVector3) -> Robot:
        """The same robot under another gravity (3,), m/s²."""
        refuse_foreign(gravity, "gravity")
        vector = gravity if hasattr(gravity, "shape") else np.asarray(gravity, float)
        if np.shape(vector) != (3,):
            raise ShapeError(f"`gravity` must have shape (3,), such as (0, 0, -9.81) m/s², got {np.shape(vector)}.")
        return self.with_parameters(gravity=vector)

    @explained
    def with_inertia(self, link: str, inertia: Inertia) -> Robot:
        """The same robot with another inertia on one link (its mass may be a JAX value)."""
        refuse_no_inertia("with_inertia", inertia)
        return self._with_row(self._moving_link(link), inertia.row)

    @explained
    def with_inertial_parameters(self, pi: InertialVector) -> Robot:
        """The same robot with the inertias of all links from π (10 n,) or (n, 10), kg, m, as `inertial_parameters`.

        π may be JAX values, and may come from an identification, so it need not be what a real body has: only that it is
        finite is checked. ``robot.inertia(link).violations()`` tells what is wrong; what no body has is written to no file.
        """
        try:
            pi = as_numbers(pi)
        except (TypeError, ValueError) as error:
            raise ShapeError(f"with_inertial_parameters: `pi` must be real numbers, got {pi!r:.60}.") from error
        if tuple(pi.shape) not in ((self.n_inertial_parameters,), (self.n, 10)):
            raise ShapeError(
                f"with_inertial_parameters: `pi` must have shape ({self.n_inertial_parameters},) or ({self.n}, 10), ten numbers "
                f"for each of the {self.n} moving links of robot {self.name!r}, got {tuple(pi.shape)}."
            )
        return self.with_parameters(inertias=reshape(pi, pi.ndim, self.n, 10))

    @explained
    def with_payload(self, frame: str, inertia: Inertia) -> Robot:
        """The same robot carrying a body, given in the frame it is attached to (a tool, a payload)."""
        refuse_no_inertia("with_payload", inertia)
        place = self.structure.frame(frame)
        if place.link < 0:
            raise ModelError(f"with_payload: frame {frame!r} is fixed to the base, a payload there moves with nothing.")
        carried = inertia if place.pose_row is None else inertia.moved(self.parameters.frame_poses[place.pose_row])
        return self._with_row(place.link, self.parameters.inertias[place.link] + carried.row)

    @explained
    def with_frame(self, name: str, parent: str, pose: Pose) -> Robot:
        """The same robot with a named frame at ``pose`` (4, 4), m, of the frame ``parent``."""
        if name in self.frames:
            raise ModelError(f"with_frame: robot {self.name!r} already has a frame {name!r}.")
        place = self.structure.frame(parent)
        pose = check_pose(f"with_frame: pose of {name!r}", pose)
        if place.pose_row is not None:
            pose = composed(self.parameters.frame_poses[place.pose_row], pose)
        frames = (*self.structure.frames, Frame(name, place.link, len(self.parameters.frame_poses)))
        structure = replace(self.structure, frames=frames)
        poses = stack_matrices([*self.parameters.frame_poses, pose])
        return replace(self, structure=structure, parameters=self.parameters._replace(frame_poses=poses).frozen())

    @explained
    def with_coulomb_width(self, width: float) -> Robot:
        """The same robot with Coulomb friction smoothed as tanh(v/width), rad/s or m/s; 0 means sign(v)."""
        if not width >= 0:
            raise ModelError(f"with_coulomb_width: width must not be negative, got {width}.")
        return replace(self, structure=replace(self.structure, coulomb_width=float(width)))

    @explained
    def with_limits(self, position: Any = None, *, velocity: Any = None, effort: Any = None) -> Robot:
        """The same robot with other limits of some joints, or of all.

        Parameters
        ----------
        position : mapping or pair
            Joint name → (lower, upper), or one such pair for all joints: numbers, rad or m, or (nq,).
        velocity : mapping, number or (nv,)
            Joint name → largest |v|, or that of all joints, rad/s or m/s.
        effort : mapping, number or (nv,)
            Joint name → largest |tau|, or that of all joints, N·m or N.

        Returns
        -------
        Robot
            Limits that are not given stay. None as the limit of a joint, or infinity, removes it. One pair alone bounds x, y
            and z of a free joint, not its quaternion. Limits of a `Mimic` joint bind its leader: the narrowest counts.
        """
        from torsor.model import edits

        return edits.with_limits(self, position, velocity, effort)

    def with_visuals(self, visuals: Iterable[Visual]) -> Robot:
        """The same robot, with another look: of shapes on links and frames that it does not have, nothing is kept."""
        return replace(self, visuals=tuple(visual for visual in visuals if visual.link in self.frames))

    def with_source(self, source: Source | None) -> Robot:
        """The same robot, said to come from a file."""
        return replace(self, source=source)

    @explained
    def lock(self, positions: Mapping[str, GivenNumbers]) -> Robot:
        """The same robot with joints held at given positions (rad, m): their links become part of the parent's.

        A `Mimic` joint is held where its leader is: holding one of them by name holds both, and all that follows. A spring that
        is held has no more effect, and its energy is no longer counted.
        """
        from torsor.model import edits

        return edits.lock(self, positions)

    @explained
    def subtree(self, joint: str) -> Robot:
        """The part of the robot from ``joint`` outwards, on a base held where the joint's parent link is at neutral."""
        from torsor.model import edits

        return edits.subtree(self, joint)

    @explained
    def rename(self, names: Mapping[str, str], *, robot: str | None = None) -> Robot:
        """The same robot with joints, links, frames (old name → new name) or itself renamed."""
        from torsor.model import edits

        return edits.rename(self, names, robot)

    @explained
    def reorder(self, coordinates: Sequence[str]) -> Robot:
        """The same robot with q, v and tau in the order of these joint names."""
        from torsor.model import edits

        return edits.reorder(self, coordinates)

    # Files

    def to_urdf(self, path: str | PathLike[str] | None = None, *, drop: Collection[str] = ()) -> str:
        """The robot as URDF text, also written to ``path``; its own file, where only inertias changed since it was read.

        What URDF cannot say is refused unless named in ``drop``: "gravity", "armature", "springs", "coulomb width",
        "joint order", and the "friction" and "limits" of joints with several degrees of freedom.
        """
        return _written(self, "write_urdf.to_urdf", path, drop=drop)

    def to_mjcf(self, path: str | PathLike[str] | None = None) -> str:
        """The robot as MJCF text, MuJoCo's format, also written to ``path``.

        Velocity limits, limits of spherical and free joints and the width of Coulomb friction have no place in it; what
        else it cannot say is refused. Planar joints become three of MuJoCo's.
        """
        return _written(self, "write_mjcf.to_mjcf", path)

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """The robot as torsor's own JSON (docs/format.md), also written to ``path``; read again, it is the same to the bit."""
        return _written(self, "write_screw_list.to_json", path)

    def to_yaml(self, path: str | PathLike[str] | None = None) -> str:
        """The robot as torsor's own YAML (docs/format.md), also written to ``path``; read again, it is the same to the bit."""
        return _written(self, "write_screw_list.to_yaml", path)

    @once
    def digest(self) -> str:
        """What tells this robot from every other: a hash of its structure and numbers."""
        if not self.is_concrete:
            raise ArgumentError(
                f"robot {self.name!r} holds traced parameters and cannot be hashed or compared; "
                "pass it as an argument of the traced function instead of a static one."
            )
        sha = hashlib.sha256(repr(self.structure).encode())
        for leaf in self.parameters:
            sha.update(np.ascontiguousarray(leaf, dtype=np.float64).tobytes())
        return sha.hexdigest()

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Robot) and (self is other or self.digest == other.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.structure, tuple(self.parameters), self.source, self.visuals)

    def __repr__(self) -> str:
        effects = ", ".join(self.effects) or "none"
        return f"<Robot {self.name!r}: {self.n} moving links, nq {self.nq}, nv {self.nv}; effects: {effects}>"

    if not TYPE_CHECKING:  # which would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            raise no_such_attribute(name, [known for known in dir(self) if not known.startswith("_")])

    # Helpers

    def _moving_link(self, link: str) -> int:
        index = self.structure.link_index(link)
        if index < 0:
            raise ModelError(
                f"robot {self.name!r}: {link!r} is the base, which does not move. Moving links: robot.links."
            )
        return index

    def _with_row(self, link: int, row: Array) -> Robot:
        rows = [row if i == link else self.parameters.inertias[i] for i in range(self.n)]
        return self.with_parameters(inertias=stack_vectors(rows))


def _restore(structure: Structure, leaves: tuple[Array, ...], *others: Any) -> Robot:
    return Robot(structure, Parameters(*leaves).frozen(), *others)


def _written(robot: Robot, writer: str, path: str | PathLike[str] | None, **options: Any) -> str:
    """A robot as text, by a writer of `torsor.formats`, which is loaded when first needed; also written to ``path``."""
    module, _, name = writer.partition(".")
    refuse_unphysical(name, robot)
    text: str = getattr(import_module(f"torsor.formats.{module}"), name)(robot, **options)
    if path is not None:
        write_text(name, path, text)
    return text
