"""The classical fourth-order Runge–Kutta step, on the manifold."""

from __future__ import annotations

from torsor.arrays.typing import Array
from torsor.mechanics.kinematics.manifold import increment_rate
from torsor.model import Robot
from torsor.simulation.steps.moved import moved
from torsor.simulation.steps.rate import RateOf, Stepped


def rk4(robot: Robot, rate: RateOf, t: Array, q: Array, v: Array, h: Array) -> Stepped:
    """Runge–Kutta's step of fourth order by Munthe-Kaas' method [MK99].

    The unknown is the increment u with q(t + s) = q ⊕ u(s), a vector that can be averaged; its rate is `increment_rate`. The
    works are averaged like the rest, so that they are of fourth order too.
    """
    dt, half = h[..., None], 0.5 * h[..., None]
    one = rate(t, q, v)
    v2, u2 = v + half * one.a, half * v
    two = rate(t + 0.5 * h, moved(robot, q, u2), v2)
    k2 = increment_rate(robot, u2, v2)
    v3, u3 = v + half * two.a, half * k2
    three = rate(t + 0.5 * h, moved(robot, q, u3), v3)
    k3 = increment_rate(robot, u3, v3)
    v4, u4 = v + dt * three.a, dt * k3
    four = rate(t + h, moved(robot, q, u4), v4)
    k4 = increment_rate(robot, u4, v4)
    sixth = dt / 6.0
    return Stepped(
        moved(robot, q, sixth * (v + 2.0 * k2 + 2.0 * k3 + k4)),
        v + sixth * (one.a + 2.0 * two.a + 2.0 * three.a + four.a),
        sixth * (one.power + 2.0 * two.power + 2.0 * three.power + four.power),
        one,
    )
