"""Twists, wrenches and screws: how they move between frames, how they act on each other, and the motion along a screw.

Two forms of the adjoint maps: an *action*, structured and cheap (what the recursions use), and a 6×6 *matrix* (what the closed
forms need). Twists are (angular, linear), wrenches (moment, force); the power FᵀV is the same in every frame. A screw has an
axis, a point on it and a pitch; its one-parameter motion is here in closed form.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor._reports import in_one_line
from torsor.arrays import (
    as_numbers,
    block,
    concat,
    cos,
    cross,
    dot,
    identity,
    matmul,
    matvec,
    sin,
    sqrt,
    transpose,
    where,
    zeros,
)
from torsor.arrays.typing import Matrix6, Pose, Scalar, Twist, Vector3, Wrench
from torsor.lie.unchecked import se3, so3
from torsor.lie.unchecked.se3 import rotation, translation


def transform_twist(T_ab: Pose, V_b: Twist) -> Twist:
    """V_a = Ad(T_ab) V_b = (R ω, p × R ω + R v) [PBP95, (2)].

    Parameters
    ----------
    T_ab : (..., 4, 4) array
        The pose of b seen from a, m.
    V_b : (..., 6) array
        A twist in frame b, rad/s and m/s.

    Returns
    -------
    (..., 6) array
        The twist in frame a, rad/s and m/s.
    """
    R = rotation(T_ab)
    w = matvec(R, V_b[..., :3])
    return concat([w, cross(translation(T_ab), w) + matvec(R, V_b[..., 3:])])


def transform_twist_inverse(T_ab: Pose, V_a: Twist) -> Twist:
    """V_b = Ad(T_ab)⁻¹ V_a = (Rᵀ ω, Rᵀ (v − p × ω)), without forming the inverse pose [PBP95, (2)].

    Parameters
    ----------
    T_ab : (..., 4, 4) array
        The pose of b seen from a, m.
    V_a : (..., 6) array
        A twist in frame a, rad/s and m/s.

    Returns
    -------
    (..., 6) array
        The twist in frame b, rad/s and m/s.
    """
    R_ba = transpose(rotation(T_ab))
    w = V_a[..., :3]
    return concat([matvec(R_ba, w), matvec(R_ba, V_a[..., 3:] - cross(translation(T_ab), w))])


def transform_wrench(T_ab: Pose, F_a: Wrench) -> Wrench:
    """F_b = Ad(T_ab)ᵀ F_a = (Rᵀ (m − p × f), Rᵀ f) [PBP95, (4), (11)].

    Parameters
    ----------
    T_ab : (..., 4, 4) array
        The pose of b seen from a, m.
    F_a : (..., 6) array
        A wrench in frame a, N·m and N.

    Returns
    -------
    (..., 6) array
        The wrench in frame b, N·m and N.
    """
    R_ba = transpose(rotation(T_ab))
    f = F_a[..., 3:]
    return concat([matvec(R_ba, F_a[..., :3] - cross(translation(T_ab), f)), matvec(R_ba, f)])


def transform_wrench_inverse(T_ab: Pose, F_b: Wrench) -> Wrench:
    """F_a = Ad(T_ab)⁻ᵀ F_b = (R m + p × R f, R f), without forming the inverse pose [PBP95, (11)].

    Parameters
    ----------
    T_ab : (..., 4, 4) array
        The pose of b seen from a, m.
    F_b : (..., 6) array
        A wrench in frame b, N·m and N.

    Returns
    -------
    (..., 6) array
        The wrench in frame a, N·m and N.
    """
    R = rotation(T_ab)
    f = matvec(R, F_b[..., 3:])
    return concat([matvec(R, F_b[..., :3]) + cross(translation(T_ab), f), f])


def bracket(V: Twist, W: Twist) -> Twist:
    """[V, W] = ad(V) W = (ω₁ × ω₂, ω₁ × v₂ − ω₂ × v₁) [PBP95, (1), (5)].

    Parameters
    ----------
    V : (..., 6) array
        A twist, rad/s and m/s.
    W : (..., 6) array
        Another twist of the same frame.

    Returns
    -------
    (..., 6) array
        Their Lie bracket, rad/s² and m/s².
    """
    w1, v1, w2, v2 = V[..., :3], V[..., 3:], W[..., :3], W[..., 3:]
    return concat([cross(w1, w2), cross(w1, v2) + cross(v1, w2)])


def bracket_dual(V: Twist, F: Wrench) -> Wrench:
    """ad(V)ᵀ F = (−ω × m − v × f, −ω × f) [PBP95, (7); LP, (9.31)].

    Parameters
    ----------
    V : (..., 6) array
        A twist, rad/s and m/s.
    F : (..., 6) array
        A wrench, N·m and N.

    Returns
    -------
    (..., 6) array
        N·m/s and N/s.
    """
    w, v, m, f = V[..., :3], V[..., 3:], F[..., :3], F[..., 3:]
    return concat([cross(m, w) + cross(f, v), cross(f, w)])


def Ad(T: Pose) -> Matrix6:
    """The 6×6 matrix (R, 0; [p] R, R) of the adjoint map [PBP95, (3)].

    Parameters
    ----------
    T : (..., 4, 4) array
        A pose, m.

    Returns
    -------
    (..., 6, 6) array
        No unit, and m in its lower left block.
    """
    R = rotation(T)
    return block([[R, zeros(3, 3)], [matmul(so3.hat(translation(T)), R), R]])


def ad(V: Twist) -> Matrix6:
    """The 6×6 matrix ([ω], 0; [v], [ω]) of the bracket [PBP95, (6); LP, (9.29)].

    Parameters
    ----------
    V : (..., 6) array
        A twist, rad/s and m/s.

    Returns
    -------
    (..., 6, 6) array
        1/s, and m/s in its lower left block.
    """
    W = so3.hat(V[..., :3])
    return block([[W, zeros(3, 3)], [so3.hat(V[..., 3:]), W]])


def screw(axis: Vector3, point: Vector3, pitch: Scalar = 0.0) -> Twist:
    """S = (a, −a × p + h a): the unit screw about ``axis`` through ``point`` [Kool04, (6)].

    Parameters
    ----------
    axis : (..., 3) array
        A unit vector.
    point : (..., 3) array
        A point on the axis, m.
    pitch : (...) array, optional
        m per rad.

    Returns
    -------
    (..., 6) array
        The screw (angular, linear), no unit and m.
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


@in_one_line
class Line(NamedTuple):
    """Plücker coordinates of a screw axis.

    Attributes
    ----------
    direction : (..., 3) array
        A unit vector.
    moment : (..., 3) array
        About the origin, m.
    pitch : (...) array
        m per rad.
    magnitude : (...) array
        The length of the screw.
    """

    direction: Vector3
    moment: Vector3
    pitch: Scalar
    magnitude: Scalar


def line_coordinates(S: Twist) -> Line:
    """Direction e, moment m, pitch h and length of a screw S = |S| (e, m + h e) [Kool04, (6), (7)].

    A screw without rotation is a line at infinity: e its direction, m = 0, h = ∞.

    Parameters
    ----------
    S : (..., 6) array
        A screw (angular, linear), rad and m.

    Returns
    -------
    Line
        direction (..., 3); moment (..., 3), m; pitch (...), m per rad; magnitude (...).
    """
    w, v = S[..., :3], S[..., 3:]
    turning = sqrt(dot(w, w))
    sliding = turning == 0.0
    length = where(sliding, sqrt(dot(v, v)), turning)
    direction = where(sliding[..., None], v, w) / length[..., None]
    pitch = dot(w, v) / where(sliding, 1.0, turning * turning)
    moment = where(sliding[..., None], zeros(3), v / length[..., None] - pitch[..., None] * direction)
    return Line(direction, moment, where(sliding, float("inf"), pitch), length)
