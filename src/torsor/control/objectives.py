"""What a redundant robot may care for besides its task: functions of the configuration, by their slopes along v."""

from __future__ import annotations

import numpy as np

from torsor.arrays import constant, identity, matvec, take
from torsor.arrays.typing import ConfigurationVector, JointMatrix, JointVector
from torsor.control.laws.tracking_error import spring_force
from torsor.control.priorities.joint_limit import named_limits
from torsor.functions.public.kinematics import configuration_rate, difference
from torsor.model import Robot


def limit_gradient(robot: Robot, q: ConfigurationVector) -> JointVector:
    """∂H of H = ½ Σ ((q_j − middle) / (half the range))², over all numbers of q with two limits, quaternions apart [Lie77].

    H is 0 in the middle of all ranges, and a number at a limit adds ½. Along tangent coordinates: −∂H leads a robot away from
    its limits. ``q`` (..., nq), rad or m. Returns (..., nv), per rad or per m.
    """
    lower, upper = np.array(robot.limits.lower), np.array(robot.limits.upper)
    limited = named_limits(robot).q
    bounded = limited[(np.isfinite(lower) & np.isfinite(upper) & (upper > lower))[limited]]
    if not len(bounded):
        return 0.0 * difference(robot, q, q)
    lower, upper = lower[bounded], upper[bounded]
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    slope = (take(q, bounded) - constant(middle)) / constant(half**2)
    return matvec(take(rate_columns(robot, q), bounded), slope)


def posture_gradient(
    robot: Robot, q: ConfigurationVector, posture: ConfigurationVector, *, weights: JointVector | None = None
) -> JointVector:
    """∂H of H = ½ eᵀ W e with e = posture ⊖ q, along tangent coordinates: −∂H leads a robot to a posture [Lie77; BL05, §11].

    Exact for every kind of joint. ``q``, ``posture`` (..., nq), rad or m; ``weights`` (..., nv), the diagonal of W, 1 if not
    given. Returns (..., nv), rad or m.
    """
    e = difference(robot, q, posture)
    return -spring_force(robot, e, constant(1.0) if weights is None else weights)


def rate_columns(robot: Robot, q: ConfigurationVector) -> JointMatrix:
    """Gᵀ (..., nv, nq) of q̇ = G v: how each entry of v changes the numbers of q."""
    return configuration_rate(robot, q[..., None, :], identity(robot.nv))
