"""Chapter 3 of the book: poses, twists and screws, and their exponential coordinates.

Same names, arguments and results as the book's library. What differs is said in `torsor.modern_robotics.rotations`.
"""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Algebra, Matrix6, Pose, Rotation, Twist, Vector3
from torsor.border import explained
from torsor.errors import ModelError
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.modern_robotics.book_arguments import numbers, pose, rotation, se3_matrix
from torsor.modern_robotics.rotations import FAR, NEAR_GROUP, NearZero, Normalize, ProjectToSO3


@explained
def RpToTrans(R: Rotation, p: Vector3) -> Pose:
    """The pose T = (R, p; 0, 1) of a rotation and a position [LP, published §3.3.1].

    Parameters
    ----------
    R : (3, 3) array
        A rotation matrix.
    p : (3,) array
        The position, m.

    Returns
    -------
    (4, 4) array
        A pose, m.
    """
    return se3.pose(rotation("R", R), numbers("p", p, (3,), "a 3-vector, m"))


@explained
def TransToRp(T: Pose) -> tuple[Rotation, Vector3]:
    """Rotation R and position p of a pose [LP, published §3.3.1].

    Parameters
    ----------
    T : (4, 4) array
        A pose, m.

    Returns
    -------
    R : (3, 3) array
        A rotation matrix.
    p : (3,) array
        The position, m.
    """
    T = pose("T", T)
    return T[:3, :3].copy(), T[:3, 3].copy()


@explained
def TransInv(T: Pose) -> Pose:
    """The inverse pose T⁻¹ = (Rᵀ, −Rᵀ p; 0, 1) [LP, published §3.3.1].

    Parameters
    ----------
    T : (4, 4) array
        A pose, m.

    Returns
    -------
    (4, 4) array
        A pose, m.
    """
    return se3.inverse(pose("T", T))


@explained
def VecTose3(V: Twist) -> Algebra:
    """The matrix [V] = ([ω], v; 0, 0) of a twist [LP, published §3.3.2].

    Parameters
    ----------
    V : (6,) array
        A twist (ω, v), rad/s, m/s.

    Returns
    -------
    (4, 4) array
        In se(3).
    """
    return se3.hat(numbers("V", V, (6,), "a twist (ω, v)"))


@explained
def se3ToVec(se3mat: Algebra) -> Twist:
    """The twist (ω, v) of a matrix [V] of se(3) [LP, published §3.3.2].

    Parameters
    ----------
    se3mat : (4, 4) array
        ([ω], v; 0, 0), rad/s, m/s. What is not of se(3) is refused.

    Returns
    -------
    (6,) array
        (ω, v), rad/s, m/s.
    """
    return se3.vee(se3_matrix("se3mat", se3mat))


@explained
def Adjoint(T: Pose) -> Matrix6:
    """The adjoint matrix [Ad_T] = (R, 0; [p] R, R) of a pose [LP, published §3.3.2].

    Parameters
    ----------
    T : (4, 4) array
        A pose, m.

    Returns
    -------
    (6, 6) array
        It takes twists (ω, v) from the frame of T to the frame T is seen from; m.
    """
    return lie.Ad(pose("T", T))


@explained
def ScrewToAxis(q: Vector3, s: Vector3, h: float) -> Twist:
    """The screw axis S = (ŝ, −ŝ × q + h ŝ) through a point along a direction [LP, published §3.3.2].

    Parameters
    ----------
    q : (3,) array
        A point on the axis, m.
    s : (3,) array
        The direction of the axis; it is made a unit vector (the book's library takes it as it is).
    h : float
        The pitch, m/rad; ∞ gives the translation (0, ŝ).

    Returns
    -------
    (6,) array
        (ω, v), per rad or, for a translation, per m.
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
    """Screw axis S and distance θ of exponential coordinates Sθ [LP, published §3.3.3].

    Parameters
    ----------
    expc6 : (6,) array
        Sθ, rad, m.

    Returns
    -------
    S : (6,) array
        The screw axis. No motion has no axis: zeros (the book's library: NaN and a warning).
    theta : float
        |ω| in rad, or |v| in m where |ω| < 1e-6, as in the book's library; Sθ is ``expc6`` in both cases.
    """
    expc6 = numbers("expc6", expc6, (6,), "a 6-vector of exponential coordinates")
    theta = float(np.linalg.norm(expc6[:3]))
    if NearZero(theta):
        theta = float(np.linalg.norm(expc6[3:]))
    return (expc6 / theta, theta) if theta != 0.0 else (expc6.copy(), 0.0)


@explained
def MatrixExp6(se3mat: Algebra) -> Pose:
    """The pose exp [S]θ of a matrix of se(3) [LP, published §3.3.3].

    Parameters
    ----------
    se3mat : (4, 4) array
        [S]θ in se(3), rad, m.

    Returns
    -------
    (4, 4) array
        A pose, m, exact at every angle; the book's library drops rotations below 1e-6 rad.
    """
    return se3.exp(se3.vee(se3_matrix("se3mat", se3mat)))


@explained
def MatrixLog6(T: Pose) -> Algebra:
    """The matrix logarithm [S]θ of a pose, with exp [S]θ = T and |ω|θ ≤ π [LP, published §3.3.3]; see `MatrixLog3`.

    Parameters
    ----------
    T : (4, 4) array
        A pose, m.

    Returns
    -------
    (4, 4) array
        [S]θ in se(3), rad, m.
    """
    return se3.hat(se3.log(pose("T", T)))


@explained
def DistanceToSE3(mat: Pose) -> float:
    """The distance |(RᵀR, 0; bottom row) − 1| (Frobenius) of a matrix from the poses [LP, published ch. 3].

    Parameters
    ----------
    mat : (4, 4) array
        R is its upper left block. The position, m, does not count.

    Returns
    -------
    float
        1e9 if the determinant of R is not positive.
    """
    mat = numbers("mat", mat, (4, 4), "a 4×4 matrix")
    R = mat[:3, :3]
    if np.linalg.det(R) <= 0.0:
        return FAR
    bottom = mat[3] - (0.0, 0.0, 0.0, 1.0)
    return float(np.hypot(np.linalg.norm(R.T @ R - np.eye(3)), np.linalg.norm(bottom)))


@explained
def TestIfSE3(mat: Pose) -> bool:
    """Whether a matrix is within 1e-3 of a pose, as `DistanceToSE3` measures it [LP, published ch. 3].

    Parameters
    ----------
    mat : (4, 4) array
        m.

    Returns
    -------
    bool
    """
    return DistanceToSE3(mat) < NEAR_GROUP


@explained
def ProjectToSE3(mat: Pose) -> Pose:
    """The pose with the rotation nearest to the block R of a matrix, and its position [LP, published ch. 3].

    Parameters
    ----------
    mat : (4, 4) array
        m.

    Returns
    -------
    (4, 4) array
        A pose, m.
    """
    mat = numbers("mat", mat, (4, 4), "a 4×4 matrix")
    return se3.pose(ProjectToSO3(mat[:3, :3]), mat[:3, 3])
