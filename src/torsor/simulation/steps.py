"""One step of time: q, v and the force law to q, v a little later. One integrator per function.

``accelerate(t, q, v)`` gives the acceleration; the configuration moves on its manifold (`integrate`), so quaternions
stay quaternions.
"""

from __future__ import annotations

from collections.abc import Callable

from torsor.arrays.typing import Array, ConfigurationVector, JointVector
from torsor.functions.public.kinematics import integrate
from torsor.mechanics.kinematics.manifold import increment_rate
from torsor.model import Robot

Accelerate = Callable[[float, ConfigurationVector, JointVector], JointVector]
Step = Callable[[Robot, Accelerate, float, ConfigurationVector, JointVector, float], tuple[Array, Array]]


def euler(robot: Robot, accelerate: Accelerate, t: float, q: Array, v: Array, h: float) -> tuple[Array, Array]:
    """q ⊕ h v, v + h a(q, v): first order, gains energy [LP, §9.5, E002-12]."""
    return integrate(robot, q, h * v), v + h * accelerate(t, q, v)


def semi_implicit_euler(
    robot: Robot, accelerate: Accelerate, t: float, q: Array, v: Array, h: float
) -> tuple[Array, Array]:
    """v first, then q with the new v: first order, keeps the energy of an oscillation bounded [HLW06, §I.1.2]."""
    v_new = v + h * accelerate(t, q, v)
    return integrate(robot, q, h * v_new), v_new


def rk4(robot: Robot, accelerate: Accelerate, t: float, q: Array, v: Array, h: float) -> tuple[Array, Array]:
    """The classical fourth-order Runge–Kutta step, on the manifold by Munthe-Kaas' method [MK99].

    The unknown is the increment u with q(t + s) = q ⊕ u(s), a vector that can be averaged; its rate is `increment_rate`.
    """
    half = 0.5 * h
    a1 = accelerate(t, q, v)
    k1 = v
    v2 = v + half * a1
    u2 = half * k1
    a2 = accelerate(t + half, integrate(robot, q, u2), v2)
    k2 = increment_rate(robot, u2, v2)
    v3 = v + half * a2
    u3 = half * k2
    a3 = accelerate(t + half, integrate(robot, q, u3), v3)
    k3 = increment_rate(robot, u3, v3)
    v4 = v + h * a3
    u4 = h * k3
    a4 = accelerate(t + h, integrate(robot, q, u4), v4)
    k4 = increment_rate(robot, u4, v4)
    u = h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return integrate(robot, q, u), v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
