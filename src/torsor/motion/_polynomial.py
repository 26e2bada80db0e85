"""Polynomials in time from one configuration to another, with velocities, accelerations and jerks at both ends."""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import GivenConfiguration, GivenJointVector
from torsor.border import explained
from torsor.errors import ArgumentError
from torsor.mechanics.kinematics.manifold import difference
from torsor.model import Robot
from torsor.motion.body_rates import Rates, coordinate_rates
from torsor.motion.segments import Segments, hermite
from torsor.motion.tangent_motion import TangentMotion, common_batch, configurations_of, vectors_of

DEGREES = {3: "cubic", 5: "quintic", 7: "septic"}


@explained
def polynomial(
    robot: Robot,
    q0: GivenConfiguration,
    q1: GivenConfiguration,
    *,
    duration: float,
    degree: int = 5,
    v0: GivenJointVector | None = None,
    v1: GivenJointVector | None = None,
    a0: GivenJointVector | None = None,
    a1: GivenJointVector | None = None,
    jerk0: GivenJointVector | None = None,
    jerk1: GivenJointVector | None = None,
) -> TangentMotion:
    """Motion from q0 to q1 by a polynomial in time: cubic (degree 3), quintic (5) or septic (7) [LP17, §9.2].

    The coordinates u of q0 ⊕ u(t) are the polynomial, from 0 to q1 ⊖ q0; of joints with one number that is q itself. Velocities,
    and so on, at the ends are met exactly on every kind of joint. What is not given is zero.

    Parameters
    ----------
    robot : Robot
    q0, q1 : (..., nq) array
        Where it begins and ends, rad or m. Rotations go the short way.
    duration : float
        s. It may be 0 if q0 and q1 are the same.
    degree : int
        3, 5 or 7.
    v0, v1 : (..., nv) array, optional
        Velocities at both ends, rad/s or m/s.
    a0, a1 : (..., nv) array, optional
        Accelerations there, rad/s² or m/s², from degree 5 on.
    jerk0, jerk1 : (..., nv) array, optional
        Jerks there, rad/s³ or m/s³, with degree 7.

    Returns
    -------
    TangentMotion
    """
    if degree not in DEGREES:
        raise ArgumentError(f"`degree` must be 3 (cubic), 5 (quintic) or 7 (septic), got {degree!r:.60}.")
    ends = {"v0": v0, "v1": v1, "a0": a0, "a1": a1, "jerk0": jerk0, "jerk1": jerk1}
    orders = (degree + 1) // 2
    extra = [name for k, name in enumerate(ends) if k // 2 + 1 >= orders and ends[name] is not None]
    if extra:
        raise ArgumentError(
            f"`{extra[0]}` cannot be chosen with degree {degree}: pass degree={5 if extra[0][0] == 'a' else 7}."
        )
    begin, end = configurations_of(robot, q0=q0, q1=q1)
    rates = dict(zip(ends, vectors_of(robot, **ends), strict=True))
    batch = common_batch({"q0": begin, "q1": end, **rates})
    length = _length(robot, duration, begin, end, [name for name in ends if np.any(rates[name])])
    d = np.broadcast_to(difference(robot, begin, end), (*batch, robot.nv))
    none = np.zeros_like(d)
    first = coordinate_rates(robot, none, Rates(rates["v0"] + none, rates["a0"] + none, rates["jerk0"] + none))
    last = coordinate_rates(robot, d, Rates(rates["v1"] + none, rates["a1"] + none, rates["jerk1"] + none))
    c = hermite(np.array(length), [none, *first][:orders], [d, *last][:orders])
    anchors = np.broadcast_to(begin, (*batch, robot.nq))[..., None, :]
    return TangentMotion(robot, DEGREES[degree], Segments(np.array([0.0, length]), c[..., None, :, :], anchors))


def _length(robot: Robot, duration: float, q0: object, q1: object, moving: list[str]) -> float:
    if not isinstance(duration, (int, float, np.integer, np.floating)) or not 0.0 <= duration < np.inf:
        raise ArgumentError(f"`duration` must be finite and not negative, s, got {duration!r:.60}.")
    if duration == 0.0 and (moving or np.any(np.abs(difference(robot, q0, q1)) > 1e-12)):
        what = f"`{moving[0]}`" if moving else "q0 and q1 that differ"
        raise ArgumentError(f"`duration` must be positive with {what}, got 0.")
    return float(duration)
