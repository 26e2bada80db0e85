"""Chapter 3 of the book: rotations, poses, twists and their exponential coordinates.

Same names, arguments and results as the book's library. What differs: exp and log are exact at every angle (the
book's library takes angles below 1e-6 rad for zero and loses half of its digits near π), and a matrix that cannot be
what is asked for is refused. Rounded rotations (two printed digits) pass.
"""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Algebra, Array, Matrix3, Matrix6, Pose, Rotation, Twist, Vector3
from torsor.border import explained
from torsor.errors import ModelError
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3, so3
from torsor.modern_robotics.book_arguments import as_floats, numbers, pose, rotation, se3_matrix, so3_matrix

NEAR_ZERO = 1e-6
NEAR_GROUP = 1e-3  # distance below which TestIfSO3 and TestIfSE3 say yes
FAR = 1e9  # the distance of a matrix without positive determinant


@explained
def NearZero(z: float) -> bool:
    """Whether |z| < 1e-6, for a number of any unit [LP, published ch. 3]."""
    return bool(abs(float(numbers("z", z, (), "a number"))) < NEAR_ZERO)


@explained
def Normalize(V: Array) -> Array:
    """V / |V|, for a vector (n,) of any unit; returns (n,) [LP, published ch. 3].

    The zero vector has no direction and is returned as it is (the book's library: NaN and a warning).
    """
    V = as_floats("V", V, "a vector")
    length = np.linalg.norm(V)
    return V / length if length != 0.0 else V.copy()


# Rotations


@explained
def RotInv(R: Rotation) -> Rotation:
    """R⁻¹ = Rᵀ, (3, 3), no unit [LP, published §3.2.1]."""
    return rotation("R", R).T.copy()


@explained
def VecToso3(omg: Vector3) -> Matrix3:
    """[ω], the skew-symmetric matrix (3, 3) of ω (3,), rad or rad/s [LP, published §3.2.2]."""
    return so3.hat(numbers("omg", omg, (3,), "a 3-vector"))


@explained
def so3ToVec(so3mat: Matrix3) -> Vector3:
    """ω (3,) of a skew-symmetric matrix [ω] (3, 3), rad or rad/s [LP, published §3.2.2].

    A matrix that is not skew-symmetric is refused: a rotation must go through `MatrixLog3` first.
    """
    return so3.vee(so3_matrix("so3mat", so3mat))


@explained
def AxisAng3(expc3: Vector3) -> tuple[Vector3, float]:
    """Axis ω̂ (3,) and angle θ ≥ 0, rad, of exponential coordinates ω̂θ (3,), rad [LP, published §3.2.3].

    No rotation has no axis: zeros and θ = 0 (the book's library: NaN and a warning), so that ω̂θ is right.
    """
    expc3 = numbers("expc3", expc3, (3,), "a 3-vector of exponential coordinates")
    return Normalize(expc3), float(np.linalg.norm(expc3))


@explained
def MatrixExp3(so3mat: Matrix3) -> Rotation:
    """exp [ω̂]θ, the rotation (3, 3) of a matrix [ω̂]θ of so(3) (3, 3), rad: Rodrigues' formula [LP, published §3.2.3].

    Exact at every angle; the book's library gives the identity below 1e-6 rad.
    """
    return so3.exp(so3.vee(so3_matrix("so3mat", so3mat)))


@explained
def MatrixLog3(R: Rotation) -> Matrix3:
    """[ω̂]θ (3, 3), rad, with exp [ω̂]θ = R (3, 3) and 0 ≤ θ ≤ π [LP, published §3.2.3].

    Accurate at 0 and near π, where the book's library, which takes θ from the trace of R, has eight digits or fewer and may
    take half a turn for none. At θ = π the axes ω̂ and −ω̂ are both right, and the two libraries may choose differently.
    """
    return so3.hat(so3.log(rotation("R", R)))


@explained
def DistanceToSO3(mat: Matrix3) -> float:
    """|matᵀ mat − 1| (Frobenius) of a matrix (3, 3); 1e9 if its determinant is not positive [LP, published ch. 3]."""
    mat = numbers("mat", mat, (3, 3), "a 3×3 matrix")
    if np.linalg.det(mat) <= 0.0:
        return FAR
    return float(np.linalg.norm(mat.T @ mat - np.eye(3)))


@explained
def TestIfSO3(mat: Matrix3) -> bool:
    """Whether a matrix (3, 3) is within 1e-3 of a rotation, as `DistanceToSO3` measures it [LP, published ch. 3]."""
    return DistanceToSO3(mat) < NEAR_GROUP


@explained
def ProjectToSO3(mat: Matrix3) -> Rotation:
    """The rotation (3, 3) nearest to a matrix (3, 3), U diag(1, 1, det U Vᵀ) Vᵀ of its singular values [LP, published ch. 3].

    Nearest for every matrix; the book's library flips the third column instead, if the determinant is negative.
    """
    U, _, Vt = np.linalg.svd(numbers("mat", mat, (3, 3), "a 3×3 matrix"))
    return (U * (1.0, 1.0, np.sign(np.linalg.det(U @ Vt)))) @ Vt


# Poses and twists


@explained
def RpToTrans(R: Rotation, p: Vector3) -> Pose:
    """T = (R, p; 0, 1), (4, 4), of a rotation (3, 3) and a position (3,), m [LP, published §3.3.1]."""
    return se3.pose(rotation("R", R), numbers("p", p, (3,), "a 3-vector, m"))


@explained
def TransToRp(T: Pose) -> tuple[Rotation, Vector3]:
    """R (3, 3) and p (3,), m, of T (4, 4) [LP, published §3.3.1]."""
    T = pose("T", T)
    return T[:3, :3].copy(), T[:3, 3].copy()


@explained
def TransInv(T: Pose) -> Pose:
    """T⁻¹ = (Rᵀ, −Rᵀ p; 0, 1), (4, 4), m [LP, published §3.3.1]."""
    return se3.inverse(pose("T", T))


@explained
def VecTose3(V: Twist) -> Algebra:
    """[V] = ([ω], v; 0, 0), (4, 4), of a twist (ω, v) (6,), rad/s, m/s [LP, published §3.3.2]."""
    return se3.hat(numbers("V", V, (6,), "a twist (ω, v)"))


@explained
def se3ToVec(se3mat: Algebra) -> Twist:
    """The twist (ω, v) (6,) of [V] (4, 4), rad/s, m/s; refuses what is not of se(3) [LP, published §3.3.2]."""
    return se3.vee(se3_matrix("se3mat", se3mat))


@explained
def Adjoint(T: Pose) -> Matrix6:
    """[Ad_T] = (R, 0; [p] R, R), (6, 6), of T (4, 4), m [LP, published §3.3.2]."""
    return lie.Ad(pose("T", T))


@explained
def ScrewToAxis(q: Vector3, s: Vector3, h: float) -> Twist:
    """The screw axis S = (ŝ, −ŝ × q + h ŝ) (6,) through q (3,), m, along s (3,) with pitch h, m/rad [LP, published §3.3.2].

    ``s`` is made a unit vector (the book's library takes it as it is); h = ∞ gives the translation (0, ŝ).
    """
    q = numbers("q", q, (3,), "a point on the axis, m")
    s = numbers("s", s, (3,), "the direction of the axis")
    h = float(numbers("h", h, (), "the pitch, m/rad"))
    if not np.any(s):
        raise ModelError("`s` must be the direction of the axis, a unit vector; got (0, 0, 0).")
    s = Normalize(s)
    return np.concatenate([np.zeros(3), s]) if np.isinf(h) else lie.screw(s, q, h)


@explained
def AxisAng6(expc6: Twist) -> tuple[Twist, float]:
    """Screw axis S (6,) and distance θ of exponential coordinates Sθ (6,), rad, m [LP, published §3.3.3].

    θ = |ω| in rad, or |v| in m where |ω| < 1e-6, as in the book's library; Sθ is ``expc6`` in both cases. No motion has no
    axis: zeros and θ = 0 (the book's library: NaN and a warning).
    """
    expc6 = numbers("expc6", expc6, (6,), "a 6-vector of exponential coordinates")
    theta = float(np.linalg.norm(expc6[:3]))
    if NearZero(theta):
        theta = float(np.linalg.norm(expc6[3:]))
    return (expc6 / theta, theta) if theta != 0.0 else (expc6.copy(), 0.0)


@explained
def MatrixExp6(se3mat: Algebra) -> Pose:
    """exp [S]θ, the pose (4, 4), m, of a matrix [S]θ of se(3) (4, 4), rad, m [LP, published §3.3.3].

    Exact at every angle; the book's library drops rotations below 1e-6 rad.
    """
    return se3.exp(se3.vee(se3_matrix("se3mat", se3mat)))


@explained
def MatrixLog6(T: Pose) -> Algebra:
    """[S]θ (4, 4), rad, m, with exp [S]θ = T (4, 4) and |ω|θ ≤ π [LP, published §3.3.3]; see `MatrixLog3`."""
    return se3.hat(se3.log(pose("T", T)))


@explained
def DistanceToSE3(mat: Pose) -> float:
    """|(RᵀR, 0; bottom row) − 1| (Frobenius) of a matrix (4, 4), whose R is its upper left block [LP, published ch. 3].

    1e9 if the determinant of R is not positive. The position, m, does not count.
    """
    mat = numbers("mat", mat, (4, 4), "a 4×4 matrix")
    R = mat[:3, :3]
    if np.linalg.det(R) <= 0.0:
        return FAR
    bottom = mat[3] - (0.0, 0.0, 0.0, 1.0)
    return float(np.hypot(np.linalg.norm(R.T @ R - np.eye(3)), np.linalg.norm(bottom)))


@explained
def TestIfSE3(mat: Pose) -> bool:
    """Whether a matrix (4, 4), m, is within 1e-3 of a pose, as `DistanceToSE3` measures it [LP, published ch. 3]."""
    return DistanceToSE3(mat) < NEAR_GROUP


@explained
def ProjectToSE3(mat: Pose) -> Pose:
    """The pose (4, 4), m, with the rotation nearest to the block R of a matrix (4, 4), and its p [LP, published ch. 3]."""
    mat = numbers("mat", mat, (4, 4), "a 4×4 matrix")
    return se3.pose(ProjectToSO3(mat[:3, :3]), mat[:3, 3])
