"""How fast a number may move towards its limit, and speed up towards it, so that it never has to pass it.

With the gap g ≥ 0 to a limit and the rate r towards it, both over steps dt. Bounds towards a lower limit are those of −r.

**Velocities**, constant over a step, that change by at most b dt from one step to the next, stop after n steps within the gap if
n r dt − ½ n (n − 1) b dt² ≤ g. Of that the left side is largest at the n that it takes, so that ::

    r ≤ g / (n dt) + ½ (n − 1) b dt      for all n = 1, 2, …                                     (1)

is all that is needed; the least is that of ½ n (n − 1) ≤ g / (b dt²) ≤ ½ n (n + 1). If r satisfies (1) for n + 1 then r − b dt
satisfies it for n after the step, and if for n = 1, then so does 0. So it is never in conflict with the bound of the change,
whatever r was chosen, nor with limits |r| ≤ r_max.

**Accelerations**, constant over a step and at most b. A number that brakes by b stops within g if r² ≤ 2 b g; the largest
acceleration after which the same holds, and no position on the way is beyond the limit, is [Del18]::

    r + a dt ≤ −b dt/2 + √(b² dt²/4 + b (2 g − r dt))            where r dt ≤ 2 g               (2)
    a ≤ −r²/2g                                                   elsewhere: it turns at the limit, within the step

and a = −b satisfies both whenever r² ≤ 2 b g. For those who integrate the position by r + a dt instead of r + a dt/2,
r + a dt ≤ −b dt + √(b² dt² + 2 b g) gives the same; both are asked, so that either way of integrating keeps the limit. After a
turn r ≥ −b dt: with b ≤ r_max/dt and b ≤ ⅔ (upper − lower)/dt² that is neither too fast nor too near to the other limit, so
that (2), the same for the other side, |a| ≤ b and |r + a dt| ≤ r_max hold together. A number with r² > 2 b g is too fast, and
asked for a ≤ −r²/2g, which stops it at the limit.

**Accelerations without a bound** need no such square root, but a time T ≥ dt in which to come to rest: with h = g/T − r,
the condition h(t + dt) ≥ (1 − dt/T) h(t) is ::

    a (1 + dt/2T) ≤ g/T² − 2 r/T                                                               (3)

(1 + dt/T for the other way of integrating). h ≥ 0 remains so, and keeps g ≥ 0; it always allows to stop, r + a dt = 0. More is
allowed where r ≤ g/2T after the step, which is h ≥ 0 too and has no need to brake yet. Where h < 0 the number is too fast for
(3), and a ≤ −r²/2g stops it at the limit. Beyond a limit, (3) is a critically damped way back.
"""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array

ROUNDING = 1e-9  # rad or m, rad/s or m/s: what is no more than this beyond a limit, or too fast, is not


def velocity_towards(gap: Array, dt: float, recovery: float, braking: Array | None, previous: Array) -> Array:
    """The most velocity towards limits at ``gap`` (c,), negative beyond them: from there the way back takes ``recovery``.

    ``braking`` b and ``previous`` rates towards the limits (c,): (1), and no way back starts faster than b allows. None: no
    bound, and what is left of the gap may be used up in one step.
    """
    beyond = gap < -ROUNDING
    room = np.maximum(gap, 0.0)
    back = gap / max(dt, recovery)
    if braking is None:
        return np.asarray(np.where(beyond, back, room / dt))
    slowest = previous - braking * dt
    bounded = np.isfinite(braking) & np.isfinite(room)
    b, g = np.where(bounded, braking, 1.0), np.where(bounded, room, 0.0)
    n = np.maximum(1.0, np.ceil(0.5 * np.sqrt(1.0 + 8.0 * g / (b * dt**2)) - 0.5))
    within = np.where(bounded, g / (n * dt) + 0.5 * (n - 1.0) * b * dt, room / dt)
    within = np.where(slowest <= within + ROUNDING, np.maximum(within, slowest), within)
    return np.asarray(np.where(beyond, np.maximum(back, slowest), within))


def acceleration_towards(gap: Array, rate: Array, dt: float, recovery: float, braking: Array) -> Array:
    """The most acceleration towards limits at ``gap`` (c,), negative beyond them, that leaves room to stop: (2) or (3).

    ``rate`` towards the limits (c,); ``braking`` b (c,), infinite where there is no bound. Beyond a limit it is (3) with
    T = ``recovery``, no more than b; a number within that is too fast to stop is asked for what it would need.
    """
    T, room = max(dt, recovery), np.maximum(gap, 0.0)
    spring = gap / T**2 - 2.0 * rate / T
    spring = spring / np.where(spring > 0.0, 1.0 + dt / T, 1.0 + 0.5 * dt / T)
    bounded = np.isfinite(braking)
    b = np.where(bounded, braking, 1.0)
    turns = rate * dt > 2.0 * room
    with np.errstate(invalid="ignore", divide="ignore"):
        stop = -0.5 * rate**2 / room
        left = np.maximum(2.0 * room - rate * dt, 0.0)
        exact = 2.0 * b * left / (b * dt + np.sqrt((b * dt) ** 2 + 4.0 * b * left))
        other = 2.0 * b * room / (b * dt + np.sqrt((b * dt) ** 2 + 2.0 * b * room))
    by_root = (np.fmax(np.minimum(exact, other), 0.0) - rate) / dt
    # To turn within the step may take any acceleration; the end of the step at the limit is all that is asked of the too fast.
    back = 2.0 * (room - rate * dt) / dt**2
    too_fast = rate > np.sqrt(2.0 * b * room) + ROUNDING
    limited = np.where(too_fast, np.where(turns, back, stop), np.fmax(np.where(turns, stop, by_root), -b))
    easy = (0.5 * room / T - rate * (1.0 + 0.5 * dt / T)) / (dt * (1.0 + 0.5 * dt / T))
    gentle = np.maximum(spring, easy)
    gentle = np.where(rate < 0.0, np.maximum(gentle, -rate / dt), gentle)  # what moves away may always stop
    unlimited = np.minimum(gentle, np.where(turns, back, np.where(rate * T > room, stop, np.inf)))
    within = np.where(np.isinf(gap), np.inf, np.where(bounded, limited, unlimited))
    return np.asarray(np.where(gap < -ROUNDING, np.where(bounded, np.maximum(spring, -b), spring), within))
