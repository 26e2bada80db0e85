"""How the centre of mass of the moving links moves: its Jacobian, velocity and acceleration, and how the Jacobian changes.

With p_k the momentum that a unit of v_k gives to all links beyond joint k and m the mass of the robot, J_k = p_k / m. Along a
motion, Ω_k the angular velocity of link k and P_k = Σ p_j v_j over the joints j that joint k carries (see `first_moments`)::

    m J̇_k = Ω_k × p_k + ω_k × P_k

Velocity and acceleration need no Jacobian. With m and h the mass and first moment of all links beyond joint i, h' and h'' the
rates of h relative to link i, all in its axes, (ω, v) = S v and (α, v̇) = S a: the joint adds e = m v + ω × h to h', and to h''
m v̇ + α × h + ω × (2 h' + e); turned, both add to those of the parent (compare `frame_motion`).
"""

from __future__ import annotations

from torsor.arrays import cross, matvec, stack_matrices, transpose, zeros
from torsor.arrays.typing import (
    Array,
    ConfigurationVector,
    JointVector,
    PointJacobian,
    PointJacobianDerivative,
    Vector3,
)
from torsor.lie.unchecked.se3 import rotation
from torsor.mechanics.recursions.first_moments import FirstMoments, beyond, first_moments, rotations_in_base, total_mass
from torsor.mechanics.recursions.joint_motion import gather_columns, gather_matrix, joint_poses, joint_twist
from torsor.model import Robot


def centre_of_mass_jacobian(robot: Robot, q: ConfigurationVector) -> PointJacobian:
    """J with ċ = J v, c the centre of mass of the moving links in the base frame: columns p_k / m [LP, §9.2.1; Fea08, §6.2].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., 3, nv) array
        m or no unit; NaN for a robot without mass. It is also ∂c/∂q.
    """
    p = _moments(robot, q).p
    return _columns(robot, p) / total_mass(robot)


def centre_of_mass_velocity(robot: Robot, q: ConfigurationVector, v: JointVector) -> Vector3:
    """ċ = J v of the centre of mass of the moving links, in base axes [LP, §9.2.1; Kool04, (8)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    (..., 3) array
        m/s; NaN for a robot without mass.
    """
    return _rates(robot, q, v, zeros(robot.nv))[0] / total_mass(robot)


def centre_of_mass_acceleration(robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector) -> Vector3:
    """c̈ of the centre of mass of the moving links, in base axes: J a + J̇ v, gravity apart [LP, §9.2.1; Kool04, (8)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    a : (..., nv) array
        Acceleration, rad/s² or m/s².

    Returns
    -------
    (..., 3) array
        m/s²; NaN for a robot without mass.
    """
    return _rates(robot, q, v, a)[1] / total_mass(robot)


def centre_of_mass_jacobian_rate(robot: Robot, q: ConfigurationVector, v: JointVector) -> PointJacobian:
    """J̇ of the centre of mass, m J̇_k = Ω_k × p_k + ω_k × P_k, so that c̈ = J a + J̇ v [LP, §9.2.1; Kool04, (8)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    (..., 3, nv) array
        Per s; NaN for a robot without mass.
    """
    moments = _moments(robot, q)
    turning, carried = _flow(robot, moments, v)
    rates = []
    for i, (w, p) in enumerate(zip(*moments, strict=True)):
        rates.append(cross(turning[i][..., None, :], p) + cross(w, carried[i][..., None, :]))
    return _columns(robot, rates) / total_mass(robot)


def centre_of_mass_jacobian_derivative(robot: Robot, q: ConfigurationVector) -> PointJacobianDerivative:
    """H[..., :, j, k] = ∂_k J_j of the centre of mass: ω_k × p_j / m if joint k carries j or is it, ω_j × p_k / m if j carries k.

    ∂_k is along the tangent coordinate v_k (body side) [Fea08, §6.2].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., 3, nv, nv) array
        Per unit of v, derivative index last; zero between branches, NaN for a robot without mass.
    """
    w, p = _moments(robot, q)
    blocks: dict[tuple[int, int], Array] = {}  # (..., k_j, k_k, 3)
    for j in range(robot.n):
        for k in robot.structure.path_to_base(j):
            blocks[j, k] = cross(w[k][..., None, :, :], p[j][..., :, None, :])
            if k != j:
                blocks[k, j] = cross(w[k][..., :, None, :], p[j][..., None, :, :])
    parts = [gather_matrix(robot, {key: part[..., row] for key, part in blocks.items()}) for row in range(3)]
    return stack_matrices(parts) / total_mass(robot)


def _rates(robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector) -> tuple[Vector3, Vector3]:
    """First and second rate of the first moment of all moving links in base axes, (..., 3) each: leaves to root."""
    poses = joint_poses(robot, q)
    masses, h = beyond(robot, poses)
    first: list[Vector3] = [zeros(3)] * (robot.n + 1)  # the last is that of the base, the parent −1
    second: list[Vector3] = [zeros(3)] * (robot.n + 1)
    for i in range(robot.n - 1, -1, -1):
        s, s_dot = joint_twist(robot, i, v), joint_twist(robot, i, a)
        R, parent = rotation(poses[i]), robot.structure.parents[i]
        own = masses[i] * s[..., 3:] + cross(s[..., :3], h[i])
        own_dot = masses[i] * s_dot[..., 3:] + cross(s_dot[..., :3], h[i]) + cross(s[..., :3], 2.0 * first[i] + own)
        first[parent] = first[parent] + matvec(R, first[i] + own)
        second[parent] = second[parent] + matvec(R, second[i] + own_dot)
    return first[-1], second[-1]


def _flow(robot: Robot, moments: FirstMoments, v: JointVector) -> tuple[list[Vector3], list[Vector3]]:
    """Per link, (..., 3): angular velocity Ω; Σ p v of the joints it carries."""
    turning: list[Vector3] = []
    for i, parent in enumerate(robot.structure.parents):
        w = _times(robot, i, moments.w[i], v)
        turning.append(w if parent < 0 else turning[parent] + w)
    carried: list[Vector3] = [zeros(3)] * robot.n
    for i in range(robot.n - 1, -1, -1):
        if (parent := robot.structure.parents[i]) >= 0:
            carried[parent] = carried[parent] + carried[i] + _times(robot, i, moments.p[i], v)
    return turning, carried


def _moments(robot: Robot, q: ConfigurationVector) -> FirstMoments:
    poses = joint_poses(robot, q)
    return first_moments(robot, poses, rotations_in_base(robot, poses))


def _times(robot: Robot, i: int, rows: Array, v: JointVector) -> Vector3:
    """Rows (..., k, 3) of joint i, times its velocities."""
    return matvec(transpose(rows), v[..., robot.structure.coordinate_of(i).v])


def _columns(robot: Robot, parts: list[Array]) -> PointJacobian:
    return gather_columns(robot, {i: transpose(part) for i, part in enumerate(parts)}, 3)
