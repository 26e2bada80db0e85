"""Force before moment, as much of the kinematics literature writes wrenches, and Featherstone's arrangement of inertias.

Everywhere else a wrench is (m, f), moment first, as the paper recommends [PBP95, §2.2]. A wrench in the other order, (f, m),
moves like a twist, and Featherstone's inertia makes such a wrench of a twist.
"""

from __future__ import annotations

from torsor.arrays import concat, dot
from torsor.arrays.typing import Algebra, Array, InertiaRow, Matrix3, Matrix6, Pose, Scalar, Twist, Vector3
from torsor.border import checked
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import so3

ForceFirst = Twist  # (..., 6) force, moment: of the same shape as a twist, and moved as one


@checked
def moment_matrix(m: Vector3) -> Matrix3:
    """The moment of a moment-force pair as a skew-symmetric matrix [m], beside the force as a vector [PBP95, (8)].

    Parameters
    ----------
    m : (..., 3) array
        Moment, N·m.

    Returns
    -------
    (..., 3, 3) array
        N·m.
    """
    return so3.hat(m)


@checked
def exchanged(F: Array) -> Array:
    """A wrench (m, f) as (f, m), or the other way round [PBP95, §2.2].

    Parameters
    ----------
    F : (..., 6) array
        N·m, N.

    Returns
    -------
    (..., 6) array
        The halves exchanged.
    """
    return concat([F[..., 3:], F[..., :3]])


@checked
def transform(T: Pose, F: ForceFirst) -> ForceFirst:
    """A wrench (f, m) about another frame: (f', m') = Ad_T⁻¹ (f, m) [PBP95, (9)].

    Parameters
    ----------
    T : (..., 4, 4) array
        Pose of the new frame in the old one, m.
    F : (..., 6) array
        Force and moment about the old frame, in its axes, N, N·m.

    Returns
    -------
    (..., 6) array
        Force and moment about the new frame, in its axes. `torsor.lie.transform_wrench` gives the same, moment first.
    """
    return lie.transform_twist_inverse(T, F)


@checked
def matrix(F: ForceFirst) -> Algebra:
    """A wrench (f, m) as a matrix ([f], m; 0, 0), which a change of frame takes to T⁻¹ ([f], m; 0, 0) T [PBP95, (10)].

    Parameters
    ----------
    F : (..., 6) array
        Force and moment, N, N·m.

    Returns
    -------
    (..., 4, 4) array
        N, N·m.
    """
    return lie.se3.hat(F)


@checked
def inertia(G: InertiaRow) -> Matrix6:
    """Featherstone's arrangement (−m [r], m 1; I − m [r]², m [r]): a twist becomes a momentum, linear part first [PBP95, (28)].

    Parameters
    ----------
    G : (..., 10) array
        Inertia row of the body about the frame in use, kg, m (`Inertia.row`).

    Returns
    -------
    (..., 6, 6) array
        kg, kg·m, kg·m².
    """
    whole = lie.inertia_matrix(G)
    return concat([whole[..., 3:, :], whole[..., :3, :]], axis=-2)


@checked
def inner_product(x: Twist, F: ForceFirst) -> Scalar:
    """Featherstone's spatial product (a, b) · (c, d) = aᵀd + bᵀc, the power of a wrench (f, m) on a twist [PBP95, §3].

    Parameters
    ----------
    x : (..., 6) array
        Twist, rad/s, m/s.
    F : (..., 6) array
        Force and moment, N, N·m.

    Returns
    -------
    (...) array
        W.
    """
    return dot(x[..., :3], F[..., 3:]) + dot(x[..., 3:], F[..., :3])
