"""How Jacobians change along a motion. A joint's axis is fixed in its link, so in base axes it turns with it: J̇ = [V, J]."""

from __future__ import annotations

from torsor import lie
from torsor.arrays import concat, cross, matvec, transpose, zeros
from torsor.arrays.typing import ConfigurationVector, Jacobian, JointScrews, JointVector, Twist
from torsor.mechanics.joint_motion import joint_screws
from torsor.mechanics.kinematics import poses_in_base
from torsor.mechanics.supporting_chain import jacobian_of, refer_to, rows, space_twists, supporting_chain
from torsor.model import Robot


def space_jacobian_rate(robot: Robot, q: ConfigurationVector, v: JointVector, frame: str) -> Jacobian:
    """J̇_s: J̇_s,j = [V_j, J_s,j] with V_j the space twist of link j [Kool04, after (10), EK-2].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., 6, nv), per s.
    """
    chain = supporting_chain(robot, q, frame)
    V = space_twists(robot, chain, v)
    return jacobian_of(robot, {j: lie.bracket(V[j][..., None, :], J) for j, J in chain.screws.items()})


def body_jacobian_rate(robot: Robot, q: ConfigurationVector, v: JointVector, frame: str) -> Jacobian:
    """J̇_b: J̇_b,j = [J_b,j, V_f − V_j], all in the frame's own axes [PBP95, (53)].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., 6, nv), per s.
    """
    chain = supporting_chain(robot, q, frame)
    V = space_twists(robot, chain, v)
    columns = {}
    for j, J in chain.screws.items():
        ahead = (V[chain.last] - V[j])[..., None, :]
        columns[j] = lie.transform_twist_inverse(rows(chain.T_0f), lie.bracket(J, ahead))
    return jacobian_of(robot, columns)


def mixed_jacobian_rate(robot: Robot, q: ConfigurationVector, v: JointVector, frame: str) -> Jacobian:
    """J̇_m: columns (z, v + z × p) change with the axis and with the point: J̇_m,j = Ad(1, −p) [V_j, J_j] + (0, z_j × ṗ).

    [Sil81, (A.2), (A.3)]. ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., 6, nv), per s.
    """
    chain = supporting_chain(robot, q, frame)
    V = space_twists(robot, chain, v)
    p_dot = refer_to(chain.point, V[chain.last][..., None, :])[..., 3:]
    columns = {}
    for j, J in chain.screws.items():
        turned = refer_to(chain.point, lie.bracket(V[j][..., None, :], J))
        columns[j] = turned + concat([zeros(3), cross(J[..., :3], p_dot)])
    return jacobian_of(robot, columns)


def joint_axes_rate(robot: Robot, q: ConfigurationVector, v: JointVector) -> JointScrews:
    """L̇ = ad(T) L: rate of the axes' line coordinates, T the twist of the link they are fixed to [Kool04, EK-2].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., nv, 6), per s.
    """
    rates: dict[int, Twist] = {}
    twists: dict[int, Twist] = {-1: zeros(6)}
    for i, T_0i in enumerate(poses_in_base(robot, q)):
        L = lie.transform_twist(rows(T_0i), joint_screws(robot, i))
        own = matvec(transpose(L), v[..., robot.structure.coordinate_of(i).v])
        twists[i] = twists[robot.structure.parents[i]] + own
        rates[i] = lie.bracket(twists[i][..., None, :], L)
    return transpose(jacobian_of(robot, rates))
