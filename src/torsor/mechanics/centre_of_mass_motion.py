"""How the centre of mass of the moving links moves: its Jacobian, velocity and acceleration, and how the Jacobian changes.

With p_k the momentum that a unit of v_k gives to all links beyond joint k and m the mass of the robot, J_k = p_k / m. Along a
motion, Ω_k the angular velocity of link k and P_k = Σ p_j v_j over the joints j that joint k carries (see `first_moments`)::

    m J̇_k = Ω_k × p_k + ω_k × P_k
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import cross, matvec, stack_matrices, transpose, zeros
from torsor.arrays.typing import (
    Array,
    ConfigurationVector,
    JointVector,
    PointJacobian,
    PointJacobianDerivative,
    Vector3,
)
from torsor.mechanics.first_moments import FirstMoments, first_moments, rotations_in_base, total_mass
from torsor.mechanics.joint_motion import gather_columns, gather_matrix, joint_poses
from torsor.model import Robot


def centre_of_mass_jacobian(robot: Robot, q: ConfigurationVector) -> PointJacobian:
    """J with ċ = J v, c the centre of mass of the moving links in the base frame: columns p_k / m [LP, §9.2.1; Fea08, §6.2].

    ``q`` (..., nq), rad or m. Returns (..., 3, nv), m or no unit; NaN for a robot without mass. It is also ∂c/∂q.
    """
    p = _moments(robot, q).p
    return _columns(robot, p) / total_mass(robot)


def centre_of_mass_velocity(robot: Robot, q: ConfigurationVector, v: JointVector) -> Vector3:
    """ċ of the centre of mass of the moving links, in base axes: Σ p_k v_k / m [LP, §9.2.1; Kool04, (8)].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., 3), m/s; NaN for a robot without mass.
    """
    total = zeros(3)
    for i, p in enumerate(_moments(robot, q).p):
        total = total + _times(robot, i, p, v)
    return total / total_mass(robot)


def centre_of_mass_acceleration(robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector) -> Vector3:
    """c̈ of the centre of mass of the moving links, in base axes: J a + J̇ v, gravity apart [LP, §9.2.1; Kool04, (8)].

    ``q`` (..., nq), rad or m; ``v``, ``a`` (..., nv), rad, m, s. Returns (..., 3), m/s²; NaN for a robot without mass.
    """
    moments = _moments(robot, q)
    flow = _flow(robot, moments, v)
    total = zeros(3)
    for i, p in enumerate(moments.p):
        turned = cross(flow.turning[i], flow.own[i]) + cross(_times(robot, i, moments.w[i], v), flow.carried[i])
        total = total + _times(robot, i, p, a) + turned
    return total / total_mass(robot)


def centre_of_mass_jacobian_rate(robot: Robot, q: ConfigurationVector, v: JointVector) -> PointJacobian:
    """J̇ of the centre of mass, m J̇_k = Ω_k × p_k + ω_k × P_k, so that c̈ = J a + J̇ v [LP, §9.2.1; Kool04, (8)].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., 3, nv), per s; NaN for a robot without mass.
    """
    moments = _moments(robot, q)
    flow = _flow(robot, moments, v)
    rates = []
    for i, (w, p) in enumerate(zip(*moments, strict=True)):
        rates.append(cross(flow.turning[i][..., None, :], p) + cross(w, flow.carried[i][..., None, :]))
    return _columns(robot, rates) / total_mass(robot)


def centre_of_mass_jacobian_derivative(robot: Robot, q: ConfigurationVector) -> PointJacobianDerivative:
    """H[..., :, j, k] = ∂_k J_j of the centre of mass: ω_k × p_j / m if joint k carries j or is it, ω_j × p_k / m if j carries k.

    ∂_k is along the tangent coordinate v_k (body side) [Fea08, §6.2]. ``q`` (..., nq), rad or m. Returns (..., 3, nv, nv), per
    unit of v, derivative index last; zero between branches, NaN for a robot without mass.
    """
    w, p = _moments(robot, q)
    blocks: dict[tuple[int, int], Array] = {}  # (..., k_j, k_k, 3)
    for j in range(robot.n):
        k = j
        while k >= 0:
            blocks[j, k] = cross(w[k][..., None, :, :], p[j][..., :, None, :])
            if k != j:
                blocks[k, j] = cross(w[k][..., :, None, :], p[j][..., None, :, :])
            k = robot.structure.parents[k]
    parts = [gather_matrix(robot, {key: part[..., row] for key, part in blocks.items()}) for row in range(3)]
    return stack_matrices(parts) / total_mass(robot)


class _Flow(NamedTuple):
    """Per link, (..., 3): angular velocity Ω; momentum p v due to its own joint, and Σ p v of the joints it carries."""

    turning: list[Vector3]
    own: list[Vector3]
    carried: list[Vector3]


def _flow(robot: Robot, moments: FirstMoments, v: JointVector) -> _Flow:
    turning: list[Vector3] = []
    for i, parent in enumerate(robot.structure.parents):
        w = _times(robot, i, moments.w[i], v)
        turning.append(w if parent < 0 else turning[parent] + w)
    own = [_times(robot, i, p, v) for i, p in enumerate(moments.p)]
    carried: list[Vector3] = [zeros(3)] * robot.n
    for i in range(robot.n - 1, -1, -1):
        if (parent := robot.structure.parents[i]) >= 0:
            carried[parent] = carried[parent] + carried[i] + own[i]
    return _Flow(turning, own, carried)


def _moments(robot: Robot, q: ConfigurationVector) -> FirstMoments:
    poses = joint_poses(robot, q)
    return first_moments(robot, poses, rotations_in_base(robot, poses))


def _times(robot: Robot, i: int, rows: Array, v: JointVector) -> Vector3:
    """Rows (..., k, 3) of joint i, times its velocities."""
    return matvec(transpose(rows), v[..., robot.structure.coordinate_of(i).v])


def _columns(robot: Robot, parts: list[Array]) -> PointJacobian:
    return gather_columns(robot, {i: transpose(part) for i, part in enumerate(parts)}, 3)
