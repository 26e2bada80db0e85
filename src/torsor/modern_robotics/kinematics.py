"""Chapters 4, 5 and 6 of the book: forward kinematics, Jacobians, numerical inverse kinematics of open chains.

Same names, arguments and results as the book's library; screws of any length and pitch. The functions are compiled for
the given screws and home pose on first use and found again by their numbers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torsor.arrays.typing import Array, Pose, Twist
from torsor.border import explained
from torsor.functions.public.kinematics import body_jacobian, frame_pose, space_jacobian
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.model import Robot
from torsor.modern_robotics.book_arguments import TIP, arm_of, joint_vector, pose, positive, whole

ITERATIONS = 20
_LOST = 1e-12  # singular values of a Jacobian below this part of the largest are none


@explained
def FKinBody(M: Pose, Blist: Array, thetalist: Array) -> Pose:
    """The pose of the end frame, T = M e^{[B₁]θ₁} ⋯ e^{[Bₙ]θₙ} [LP, published §4.1.3; PBP95, (14)].

    Parameters
    ----------
    M : (4, 4) array
        The end frame at home, m.
    Blist : (6, n) array
        Screw axes (ω, v) in the end frame at home, one per column; m.
    thetalist : (n,) array
        Joint variables θ, rad or m.

    Returns
    -------
    (4, 4) array
        m.
    """
    arm = arm_of("Blist", Blist, M)
    return frame_pose(arm, joint_vector("thetalist", thetalist, arm), TIP)


@explained
def FKinSpace(M: Pose, Slist: Array, thetalist: Array) -> Pose:
    """The pose of the end frame, T = e^{[S₁]θ₁} ⋯ e^{[Sₙ]θₙ} M [LP, published §4.1.1; PBP95, (13)].

    Parameters
    ----------
    M : (4, 4) array
        The end frame at home, m.
    Slist : (6, n) array
        Screw axes (ω, v) in the space frame at home, one per column; m.
    thetalist : (n,) array
        Joint variables θ, rad or m.

    Returns
    -------
    (4, 4) array
        m.
    """
    arm = arm_of("Slist", Slist, M)
    return frame_pose(arm, joint_vector("thetalist", thetalist, arm), TIP)


@explained
def JacobianBody(Blist: Array, thetalist: Array) -> Array:
    """The body Jacobian J_b, with V_b = J_b θ̇ [LP, published §5.1.2].

    Parameters
    ----------
    Blist : (6, n) array
        Screw axes (ω, v) in the end frame at home, one per column; m.
    thetalist : (n,) array
        Joint variables θ, rad or m.

    Returns
    -------
    (6, n) array
        rad and m per unit of θ.
    """
    arm = arm_of("Blist", Blist)
    return body_jacobian(arm, joint_vector("thetalist", thetalist, arm), TIP)


@explained
def JacobianSpace(Slist: Array, thetalist: Array) -> Array:
    """The space Jacobian J_s, with V_s = J_s θ̇ [LP, published §5.1.1].

    Parameters
    ----------
    Slist : (6, n) array
        Screw axes (ω, v) in the space frame at home, one per column; m.
    thetalist : (n,) array
        Joint variables θ, rad or m.

    Returns
    -------
    (6, n) array
        rad and m per unit of θ.
    """
    arm = arm_of("Slist", Slist)
    return space_jacobian(arm, joint_vector("thetalist", thetalist, arm), TIP)


@explained
def IKinBody(
    Blist: Array, M: Pose, T: Pose, thetalist0: Array, eomg: float, ev: float, *, maxiterations: int = ITERATIONS
) -> tuple[Array, bool]:
    """Joint variables that bring the end frame to a pose, and whether they were found [LP, published §6.2.2].

    Newton–Raphson: θ ← θ + J_b⁺ V_b with [V_b] = log(T_sb⁻¹ T), until both tolerances are met. J_b⁺ leaves out directions in
    which the arm cannot move, to 1e-12: where the book's library keeps them (to 1e-15), a guess next to a singularity is
    thrown by millions of turns.

    Parameters
    ----------
    Blist : (6, n) array
        Screw axes (ω, v) in the end frame at home, one per column; m.
    M : (4, 4) array
        The end frame at home, m.
    T : (4, 4) array
        The pose to reach, m. One with rounded entries stands for the pose nearest to it.
    thetalist0 : (n,) array
        Where the search starts, rad or m.
    eomg, ev : float
        Tolerances on |ω_b|, rad, and |v_b|, m.
    maxiterations : int
        The largest number of steps.

    Returns
    -------
    thetalist : (n,) array
        Joint variables, rad or m.
    success : bool
        Whether they were found.
    """
    arm = arm_of("Blist", Blist, M)

    def step(theta: Array, T_sb: Pose, V_b: Twist) -> tuple[Twist, Array]:
        return V_b, body_jacobian(arm, theta, TIP)

    return _newton_raphson(arm, step, T, thetalist0, (eomg, ev), maxiterations)


@explained
def IKinSpace(
    Slist: Array, M: Pose, T: Pose, thetalist0: Array, eomg: float, ev: float, *, maxiterations: int = ITERATIONS
) -> tuple[Array, bool]:
    """Joint variables that bring the end frame to a pose, and whether they were found [LP, published §6.2.2].

    As `IKinBody`, in the space frame: θ ← θ + J_s⁺ V_s with V_s = Ad(T_sb) V_b. The tolerances are on V_s, as in the book's
    library: v_s is the velocity of the point at the origin of the *space* frame, so that a far end frame may be further from
    ``T`` than ``ev``.

    Parameters
    ----------
    Slist : (6, n) array
        Screw axes (ω, v) in the space frame at home, one per column; m.
    M : (4, 4) array
        The end frame at home, m.
    T : (4, 4) array
        The pose to reach, m. One with rounded entries stands for the pose nearest to it.
    thetalist0 : (n,) array
        Where the search starts, rad or m.
    eomg, ev : float
        Tolerances on |ω_s|, rad, and |v_s|, m.
    maxiterations : int
        The largest number of steps.

    Returns
    -------
    thetalist : (n,) array
        Joint variables, rad or m.
    success : bool
        Whether they were found.
    """
    arm = arm_of("Slist", Slist, M)

    def step(theta: Array, T_sb: Pose, V_b: Twist) -> tuple[Twist, Array]:
        return lie.transform_twist(T_sb, V_b), space_jacobian(arm, theta, TIP)

    return _newton_raphson(arm, step, T, thetalist0, (eomg, ev), maxiterations)


def _newton_raphson(
    arm: Robot,
    step: Callable[[Array, Pose, Twist], tuple[Twist, Array]],
    T: Pose,
    thetalist0: Array,
    tolerances: tuple[float, float],
    maxiterations: int,
) -> tuple[Array, bool]:
    T_sd = pose("T", T)  # if rounded: the log vanishes at the nearest rotation, whose Rᵀ R_sd is symmetric
    theta = joint_vector("thetalist0", thetalist0, arm).copy()
    eomg = positive("eomg", tolerances[0], "the tolerance on the orientation, rad")
    ev = positive("ev", tolerances[1], "the tolerance on the position, m")
    for left in range(whole("maxiterations", maxiterations, 0, "the largest number of steps"), -1, -1):
        T_sb = frame_pose(arm, theta, TIP)
        V, J = step(theta, T_sb, se3.log(se3.inverse(T_sb) @ T_sd))
        if np.linalg.norm(V[:3]) <= eomg and np.linalg.norm(V[3:]) <= ev:
            return theta, True
        if left == 0 or not (np.all(np.isfinite(V)) and np.all(np.isfinite(J))):
            break
        theta = theta + np.linalg.pinv(J, _LOST) @ V
    return theta, False
