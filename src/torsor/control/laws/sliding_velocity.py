"""What Slotine and Li track instead of the reference: a velocity that also leads back to it."""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays.typing import Array, ConfigurationVector, JointVector
from torsor.control.laws.tracking_error import error_rate, tracking_error
from torsor.model import Robot


class Sliding(NamedTuple):
    """v_s = v_r + Λ e, its rate v̇_s = a_r + Λ ė, and s = v − v_s, all (..., nv), rad, m, s."""

    velocity: JointVector
    acceleration: JointVector
    s: JointVector


def sliding_velocity(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    q_ref: ConfigurationVector,
    v_ref: JointVector,
    a_ref: JointVector,
    rate: Array,
) -> Sliding:
    """v_s, v̇_s and s; where s = 0, and one rate λ belongs to each joint, ė = −λ e, whatever its kind [SL87]."""
    error = tracking_error(robot, q, v, q_ref, v_ref, a_ref)
    e_rate = error_rate(robot, error.error, error.velocity - v)
    velocity = error.velocity + rate * error.error
    return Sliding(velocity, error.acceleration + rate * e_rate, v - velocity)
