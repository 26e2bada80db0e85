"""Screws: the axis, point and pitch of a one-parameter motion, and that motion in closed form."""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import as_numbers, concat, cos, cross, dot, identity, sin, sqrt, where, zeros
from torsor.arrays.typing import Pose, Scalar, Twist, Vector3
from torsor.lie.unchecked import se3, so3


def screw(axis: Vector3, point: Vector3, pitch: Scalar = 0.0) -> Twist:
    """S = (a, −a × p + h a): the unit screw about ``axis`` through ``point`` [Kool04, (6)].

    ``axis`` (..., 3), a unit vector; ``point`` (..., 3), m; ``pitch`` (...), m per rad; returns (..., 6).
    """
    return concat([axis, cross(point, axis) + as_numbers(pitch)[..., None] * axis])


def revolute_motion(S: Twist, sine: Scalar, cosine: Scalar) -> Pose:
    """exp(S φ) for a unit screw without pitch (|ω| = 1, ω·v = 0), from sin φ and cos φ [PBP95, (15)–(17)].

    There [ω]² v = −v, so that b = sin φ v + (1 − cos φ) ω × v: the angle itself does not occur.
    ``S`` (..., 6), m; ``sine``, ``cosine`` (...); returns (..., 4, 4).
    """
    w, v = S[..., :3], S[..., 3:]
    p = sine[..., None] * v + (1.0 - cosine)[..., None] * cross(w, v)
    return se3.pose(so3.rotation_about(w, sine, cosine), p)


def helical_motion(S: Twist, sine: Scalar, cosine: Scalar, angle: Scalar) -> Pose:
    """exp(S φ) for a unit screw with pitch h = ω·v: b = sin φ (v − h ω) + (1 − cos φ) ω × v + φ h ω [PBP95, (17)].

    ``S`` (..., 6), m; ``sine``, ``cosine``, ``angle`` (...), rad; returns (..., 4, 4).
    """
    w, v = S[..., :3], S[..., 3:]
    along = dot(w, v)[..., None] * w
    p = sine[..., None] * (v - along) + (1.0 - cosine)[..., None] * cross(w, v) + angle[..., None] * along
    return se3.pose(so3.rotation_about(w, sine, cosine), p)


def prismatic_motion(S: Twist, distance: Scalar) -> Pose:
    """exp(S x) for ω = 0: the translation x v [PBP95, (15), E001-13].

    ``S`` (..., 6); ``distance`` (...), m; returns (..., 4, 4).
    """
    return se3.pose(identity(3), distance[..., None] * S[..., 3:])


def turning_motion(S: Twist, x: Scalar) -> Pose:
    """exp(S x) for a screw of any length and pitch that turns, ω ≠ 0: that of the unit screw S/|ω| by |ω| x [PBP95, (15)–(17)].

    The same as `se3.exp`, without its series for small rotations. ``S`` (..., 6), m; ``x`` (...), rad; returns (..., 4, 4).
    """
    rate = sqrt(dot(S[..., :3], S[..., :3]))
    angle = rate * x
    return helical_motion(S / rate[..., None], sin(angle), cos(angle), angle)


class Line(NamedTuple):
    """Plücker coordinates of a screw axis: unit direction, moment about the origin, pitch, and the screw's length."""

    direction: Vector3
    moment: Vector3
    pitch: Scalar
    magnitude: Scalar


def line_coordinates(S: Twist) -> Line:
    """Direction e, moment m, pitch h and length of a screw S = |S| (e, m + h e) [Kool04, (6), (7)].

    A screw without rotation is a line at infinity: e its direction, m = 0, h = ∞. ``S`` (..., 6), rad, m;
    returns direction (..., 3), moment (..., 3), m, pitch (...), m per rad, and length (...).
    """
    w, v = S[..., :3], S[..., 3:]
    turning = sqrt(dot(w, w))
    sliding = turning == 0.0
    length = where(sliding, sqrt(dot(v, v)), turning)
    direction = where(sliding[..., None], v, w) / length[..., None]
    pitch = dot(w, v) / where(sliding, 1.0, turning * turning)
    moment = where(sliding[..., None], zeros(3), v / length[..., None] - pitch[..., None] * direction)
    return Line(direction, moment, where(sliding, float("inf"), pitch), length)
