"""Chapter 3 of the book: rotations and their exponential coordinates.

Same names, arguments and results as the book's library. What differs: exp and log are exact at every angle (the
book's library takes angles below 1e-6 rad for zero and loses half of its digits near π), and a matrix that cannot be
what is asked for is refused. Rounded rotations (two printed digits) pass.
"""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array, Matrix3, Rotation, Vector3
from torsor.border import explained
from torsor.lie.unchecked import so3
from torsor.modern_robotics.book_arguments import as_floats, numbers, rotation, so3_matrix

NEAR_ZERO = 1e-6
NEAR_GROUP = 1e-3  # distance below which TestIfSO3 and TestIfSE3 say yes
FAR = 1e9  # the distance of a matrix without positive determinant


@explained
def NearZero(z: float) -> bool:
    """Whether |z| < 1e-6 [LP, published ch. 3].

    Parameters
    ----------
    z : float
        A number of any unit.

    Returns
    -------
    bool
    """
    return bool(abs(float(numbers("z", z, (), "a number"))) < NEAR_ZERO)


@explained
def Normalize(V: Array) -> Array:
    """The unit vector V / |V| [LP, published ch. 3].

    Parameters
    ----------
    V : (n,) array
        A vector of any unit.

    Returns
    -------
    (n,) array
        No unit. The zero vector has no direction and is returned as it is (the book's library: NaN and a warning).
    """
    V = as_floats("V", V, "a vector")
    length = np.linalg.norm(V)
    return V / length if length != 0.0 else V.copy()


@explained
def RotInv(R: Rotation) -> Rotation:
    """The inverse rotation R⁻¹ = Rᵀ [LP, published §3.2.1].

    Parameters
    ----------
    R : (3, 3) array
        A rotation matrix, no unit.

    Returns
    -------
    (3, 3) array
    """
    return rotation("R", R).T.copy()


@explained
def VecToso3(omg: Vector3) -> Matrix3:
    """The skew-symmetric matrix [ω] of a vector [LP, published §3.2.2].

    Parameters
    ----------
    omg : (3,) array
        ω, rad or rad/s.

    Returns
    -------
    (3, 3) array
        In so(3), in the unit of ω.
    """
    return so3.hat(numbers("omg", omg, (3,), "a 3-vector"))


@explained
def so3ToVec(so3mat: Matrix3) -> Vector3:
    """The vector ω of a skew-symmetric matrix [ω] [LP, published §3.2.2].

    Parameters
    ----------
    so3mat : (3, 3) array
        [ω], rad or rad/s. A matrix that is not skew-symmetric is refused: a rotation must go through `MatrixLog3`
        first.

    Returns
    -------
    (3,) array
        ω, in the same unit.
    """
    return so3.vee(so3_matrix("so3mat", so3mat))


@explained
def AxisAng3(expc3: Vector3) -> tuple[Vector3, float]:
    """Axis ω̂ and angle θ of exponential coordinates ω̂θ [LP, published §3.2.3].

    Parameters
    ----------
    expc3 : (3,) array
        ω̂θ, rad.

    Returns
    -------
    omghat : (3,) array
        The axis, a unit vector. No rotation has no axis: zeros (the book's library: NaN and a warning), so that ω̂θ
        is right.
    theta : float
        The angle, θ ≥ 0, rad.
    """
    expc3 = numbers("expc3", expc3, (3,), "a 3-vector of exponential coordinates")
    return Normalize(expc3), float(np.linalg.norm(expc3))


@explained
def MatrixExp3(so3mat: Matrix3) -> Rotation:
    """The rotation exp [ω̂]θ, by Rodrigues' formula [LP, published §3.2.3].

    Parameters
    ----------
    so3mat : (3, 3) array
        [ω̂]θ in so(3), rad.

    Returns
    -------
    (3, 3) array
        A rotation matrix, exact at every angle; the book's library gives the identity below 1e-6 rad.
    """
    return so3.exp(so3.vee(so3_matrix("so3mat", so3mat)))


@explained
def MatrixLog3(R: Rotation) -> Matrix3:
    """The matrix logarithm [ω̂]θ of a rotation, with exp [ω̂]θ = R and 0 ≤ θ ≤ π [LP, published §3.2.3].

    Accurate at 0 and near π, where the book's library, which takes θ from the trace of R, has eight digits or fewer and may
    take half a turn for none. At θ = π the axes ω̂ and −ω̂ are both right, and the two libraries may choose differently.

    Parameters
    ----------
    R : (3, 3) array
        A rotation matrix.

    Returns
    -------
    (3, 3) array
        [ω̂]θ in so(3), rad.
    """
    return so3.hat(so3.log(rotation("R", R)))


@explained
def DistanceToSO3(mat: Matrix3) -> float:
    """The distance |matᵀ mat − 1| (Frobenius) of a matrix from the rotations [LP, published ch. 3].

    Parameters
    ----------
    mat : (3, 3) array

    Returns
    -------
    float
        1e9 if the determinant is not positive.
    """
    mat = numbers("mat", mat, (3, 3), "a 3×3 matrix")
    if np.linalg.det(mat) <= 0.0:
        return FAR
    return float(np.linalg.norm(mat.T @ mat - np.eye(3)))


@explained
def TestIfSO3(mat: Matrix3) -> bool:
    """Whether a matrix is within 1e-3 of a rotation, as `DistanceToSO3` measures it [LP, published ch. 3].

    Parameters
    ----------
    mat : (3, 3) array

    Returns
    -------
    bool
    """
    return DistanceToSO3(mat) < NEAR_GROUP


@explained
def ProjectToSO3(mat: Matrix3) -> Rotation:
    """The rotation nearest to a matrix, U diag(1, 1, det U Vᵀ) Vᵀ of its singular values [LP, published ch. 3].

    Nearest for every matrix; the book's library flips the third column instead, if the determinant is negative.

    Parameters
    ----------
    mat : (3, 3) array

    Returns
    -------
    (3, 3) array
        A rotation matrix.
    """
    U, _, Vt = np.linalg.svd(numbers("mat", mat, (3, 3), "a 3×3 matrix"))
    return (U * (1.0, 1.0, np.sign(np.linalg.det(U @ Vt)))) @ Vt
