"""A joint as people describe it: how a link is held by its parent, and what it carries."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from torsor.arrays import dot, exact_constants, is_concrete, known_numbers, sqrt
from torsor.arrays.exact import norm, unit, unit_of
from torsor.arrays.typing import Array, Pose, Twist, Vector3
from torsor.border.arguments import explained_when_made, refuse_unknown_word
from torsor.errors import ModelError
from torsor.model.inertia import Inertia
from torsor.model.joint_kinds import DESCRIBED_KINDS, KINDS, SCREW_KINDS


def check_name(what: str, name: object) -> None:
    """Refuse what is no name: files and messages have no way to write it."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"a {what} needs a name, which is a text and not empty, got {name!r:.60}.")


class Mimic(NamedTuple):
    """q = ratio · q[joint] + offset: this joint follows another.

    Its limits bind the leader, whose coordinate it shares, and the narrowest of all counts: ranges of position; velocities
    divided by |ratio|; efforts times |ratio|, so that no follower bears more than its own limit even where the whole force
    of the coordinate passes through it. A velocity or effort limit of zero is none: files give it to joints without a motor.
    """

    joint: str
    ratio: float = 1.0
    offset: float = 0.0


@explained_when_made()
@dataclass(frozen=True, eq=False, kw_only=True)
class Joint:
    """A joint and the link it moves, as `torsor.assemble` takes them (lengths m, angles rad, masses kg) [PBP95, (23)].

    ``pose`` (4, 4) is where the link's frame sits in the parent link's frame at q = 0. The joint moves the link along
    ``axis`` (3,) through the origin of the link's frame (with ``pitch``, m per rad, if helical), or along any
    ``screw`` (6,) (angular, linear) written in the link's frame (kind "helical" takes every screw; of numbers that JAX traces,
    every one that turns, for the kind is then what the joint says). Planar joints move in
    the x-y plane of the pose. ``inertia`` is in the link's frame. Limits, armature (kg·m² or kg), viscous (N·m·s or N·s/m)
    and Coulomb friction (N·m or N) are numbers, or one per degree of freedom; ``lower`` and ``upper`` one per number of q.
    One number alone bounds x, y and z of a free joint, not its quaternion, and no spherical joint. A spring of ``stiffness``
    (N·m/rad or N/m) pulls the joint to ``rest`` (rad or m, anywhere, also beyond limits) with the force −stiffness · (q − rest);
    only joints with one number have springs.
    """

    name: str
    kind: str
    parent: str = "base"
    link: str = ""
    pose: Pose = field(default_factory=lambda: np.eye(4))
    axis: Vector3 | None = None
    pitch: float = 0.0
    screw: Twist | None = None
    inertia: Inertia = field(default_factory=Inertia.zero)
    lower: Array = -np.inf
    upper: Array = np.inf
    velocity_limit: Array = np.inf
    effort_limit: Array = np.inf
    armature: Array = 0.0
    viscous_friction: Array = 0.0
    coulomb_friction: Array = 0.0
    stiffness: Array = 0.0
    rest: Array = 0.0
    mimic: Mimic | None = None

    def __post_init__(self) -> None:
        check_name("joint", self.name)
        if type(self.kind) is not str or self.kind not in DESCRIBED_KINDS:
            refuse_unknown_word("kind", self.kind, DESCRIBED_KINDS, of=f"joint {self.name!r}")
        if self.kind != "helical" and not (is_concrete(self.pitch) and not self.pitch):
            raise ModelError(f"joint {self.name!r}: only helical joints have a pitch; this one is {self.kind}.")
        if self.kind not in (*SCREW_KINDS, "continuous") and (self.axis is not None or self.screw is not None):
            raise ModelError(
                f"joint {self.name!r}: {self.kind} joints take no axis and no screw, turn their `pose` instead."
            )
        if not self.link:
            object.__setattr__(self, "link", f"{self.name}_link")


class UnitScrew(NamedTuple):
    """A screw as the model keeps it: its kind, scaled to |ω| = 1 (or |v| = 1), and the scale that was taken out."""

    kind: str
    screw: Twist
    ratio: float


@exact_constants()
def unit_screw(joint: Joint) -> UnitScrew:
    """Kind and unit screw of a one-degree-of-freedom joint: normalised, never assumed [PBP95, E001-13].

    A screw with |ω·v| ≤ 8 ε |ω| |v| is revolute; its rounding error along the axis is taken out. The numbers of a screw that is
    traced are not known: its kind is what the joint says, and its length stays in it.
    """
    if joint.screw is None and type(joint.axis) is np.ndarray and joint.kind in ("revolute", "continuous"):
        numbers = joint.axis.tolist() if joint.axis.shape == (3,) and joint.axis.dtype == np.float64 else []
        if any(numbers) and math.isfinite(sum(numbers)):  # as nearly every file gives it
            x, y, z = unit_of(numbers)
            return UnitScrew("revolute", np.array([x, y, z, 0.0 * x, 0.0 * y, 0.0 * z]), 1.0)
    fields = ("screw", "axis", "pitch")
    given: list[Array] = [None if getattr(joint, x) is None else field_numbers(joint, x) for x in fields]
    screw, axis, pitch = given
    if not all(x is None or is_concrete(x) for x in (screw, axis, pitch)):
        return _traced_screw(joint, screw, axis, pitch)
    if screw is not None:
        S = screw
        if S.shape != (6,) or not np.all(np.isfinite(S)) or not np.any(S):
            raise ModelError(f"joint {joint.name!r}: `screw` must be 6 finite numbers, not all zero, got {S.tolist()}.")
        found = _classify(S)
        if joint.kind != "helical" and found.kind != ("revolute" if joint.kind == "continuous" else joint.kind):
            raise ModelError(f"joint {joint.name!r} is {joint.kind}, but its screw {S.tolist()} is {found.kind}.")
        return found
    if axis is None:
        raise ModelError(
            f"joint {joint.name!r} ({joint.kind}): give `axis=(x, y, z)` or `screw=(wx, wy, wz, vx, vy, vz)`."
        )
    if axis.shape != (3,) or not np.all(np.isfinite(axis)) or not np.any(axis):
        raise ModelError(f"joint {joint.name!r}: `axis` must be 3 finite numbers, not all zero, got {axis.tolist()}.")
    axis = unit(axis)
    if joint.kind == "prismatic":
        return UnitScrew("prismatic", KINDS["prismatic"].screw_along(axis), 1.0)
    if joint.kind == "helical" and (pitch is None or pitch.shape or not np.isfinite(pitch)):
        raise ModelError(
            f"joint {joint.name!r}: `pitch` must be one finite number, m per rad, got {joint.pitch!r:.60}."
        )
    pitch = pitch if joint.kind == "helical" else 0.0
    return UnitScrew("helical" if pitch else "revolute", KINDS["helical"].screw_along(axis, pitch), 1.0)


def field_numbers(joint: Joint, field: str, wanted: str = "real numbers", more: str = "") -> Array:
    """A field of a joint as numbers, NumPy's where they are known."""
    value = getattr(joint, field)
    try:
        return known_numbers(value)
    except (TypeError, ValueError) as error:
        raise ModelError(f"joint {joint.name!r}: `{field}` must be {wanted}, got {value!r:.60}{more}.") from error


def spread(joint: Joint, field: str, size: int) -> Array:
    """A field of a joint as an array (size,): one number is that of all its degrees of freedom."""
    if type(given := getattr(joint, field)) is float:
        return np.full(size, given)
    value = field_numbers(joint, field, f"a number or {size} numbers")
    if tuple(value.shape) not in ((), (1,), (size,)):
        raise ModelError(
            f"joint {joint.name!r}: `{field}` must be a number or {size} numbers, got shape {value.shape}."
        )
    return np.broadcast_to(value, (size,)) if is_concrete(value) else value * np.ones(size)


def _traced_screw(joint: Joint, screw: Twist | None, axis: Vector3 | None, pitch: Array) -> UnitScrew:
    kind = "revolute" if joint.kind == "continuous" else joint.kind
    wanted, numbers = ("axis", axis) if screw is None else ("screw", screw)
    if numbers is None or tuple(numbers.shape) != ((3,) if screw is None else (6,)):
        size = 3 if screw is None else 6
        got = "nothing" if numbers is None else f"shape {tuple(numbers.shape)}"
        raise ModelError(f"joint {joint.name!r}: `{wanted}` must be {size} numbers, got {got}.")
    if screw is None:
        direction = axis / sqrt(dot(axis, axis))
        screw = KINDS[kind].screw_along(direction, pitch)
    return UnitScrew(kind, screw, 1.0)


def _classify(S: Twist) -> UnitScrew:
    w, v = S[:3], S[3:]
    turning, sliding = norm(w), norm(v)
    if turning == 0.0:
        return UnitScrew("prismatic", np.concatenate([np.zeros(3), unit(v)]), sliding)
    axis = unit(w)
    if abs(dot(w, v)) <= 8 * np.finfo(float).eps * turning * sliding:
        return UnitScrew("revolute", np.concatenate([axis, v / turning - dot(axis, v) / turning * axis]), turning)
    return UnitScrew("helical", np.concatenate([axis, v / turning]), turning)
