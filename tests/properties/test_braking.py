"""One number between two limits: whatever is chosen within the bounds of `braking`, there is something left to choose."""

import numpy as np
import pytest

from torsor.control.priorities.joint_limit_rows import acceleration_towards, velocity_towards

MANY, STEPS = 200, 200
RECOVERY = 0.1
ROUNDED = 1e-12  # of positions up to 10 and accelerations of which (b dt)² is up to 1e3


def numbers(seed):
    """Ranges, speed limits and accelerations over many orders, at rest somewhere within."""
    rng = np.random.default_rng(seed)
    width, speed, most = (10.0 ** rng.uniform(*ends, MANY) for ends in ((-4, 1), (-2, 1.5), (-1, 2.5)))
    return rng, width, speed, most, width * rng.uniform(size=MANY)


def chosen(rng, k, lower, upper):
    """Long on one bound or the other, at random between them, or as near to nothing as they allow."""
    if k % 40 == 0:
        chosen.how = rng.integers(0, 4, MANY)
    some = lower + (upper - lower) * rng.uniform(size=MANY)
    return np.choose(chosen.how, [lower, upper, some, np.clip(0.0, lower, upper)])


@pytest.mark.parametrize("dt", [0.1, 0.01, 0.001])
def test_velocities_within_bounds_never_run_out_of_choices(dt):
    """From rest, |r − previous| ≤ b dt, |r| ≤ r_max and both position limits always hold together, and positions are kept."""
    rng, width, speed, most, x = numbers(1)
    r = np.zeros(MANY)
    for k in range(STEPS):
        upper = np.minimum(velocity_towards(width - x, dt, RECOVERY, most, r), np.minimum(speed, r + most * dt))
        lower = np.maximum(-velocity_towards(x, dt, RECOVERY, most, -r), np.maximum(-speed, r - most * dt))
        assert np.all(lower <= upper + ROUNDED)
        r = chosen(rng, k, np.minimum(lower, upper), upper)
        x = x + r * dt
        assert np.all((x >= -ROUNDED) & (x <= width + ROUNDED))


def test_the_bound_of_velocities_is_all_that_can_be_had():
    """A little more than the bound, and full braking from there passes the limit; the bound itself stops within it."""
    rng = np.random.default_rng(2)
    dt, b, gap = 0.01, 10.0 ** rng.uniform(-1, 2, MANY), 10.0 ** rng.uniform(-5, 0, MANY)
    most = velocity_towards(gap, dt, RECOVERY, b, np.zeros(MANY))

    def travelled(r):
        steps = np.arange(20_000)[:, None]
        return dt * np.maximum(r - steps * b * dt, 0.0).sum(axis=0)

    assert np.all(travelled(most) <= gap * (1 + 1e-9))
    assert np.all(travelled(1.001 * most) > gap)


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize(
    "share", [0.5, 1.0]
)  # of a dt² in the position: constant accelerations, or velocities after the step
@pytest.mark.parametrize("dt", [0.1, 0.01, 0.001])
def test_accelerations_within_bounds_never_run_out_of_choices(dt, share, bounded):
    """From rest |a| ≤ b, |r + a dt| ≤ r_max and both position limits always hold together; positions are kept on the way too."""
    rng, width, speed, most, x = numbers(3)
    gentlest = np.minimum(most, np.minimum(speed / dt, 2.0 / 3.0 * width / dt**2))
    b = gentlest if bounded else np.full(MANY, np.inf)
    r = np.zeros(MANY)
    for k in range(STEPS):
        upper = np.minimum(acceleration_towards(width - x, r, dt, RECOVERY, b), (speed - r) / dt)
        lower = np.maximum(-acceleration_towards(x, -r, dt, RECOVERY, b), (-speed - r) / dt)
        if bounded:
            lower, upper = np.maximum(lower, -most), np.minimum(upper, most)
        assert np.all(lower <= upper + 1e-9 * np.maximum(1.0, np.abs(upper)))
        a = chosen(rng, k, np.minimum(lower, upper), upper)
        turn = -r / np.where(a == 0.0, np.inf, a)
        on_the_way = np.where((share == 0.5) & (turn > 0.0) & (turn < dt), x + 0.5 * r * turn, x)
        x, r = x + r * dt + share * a * dt**2, r + a * dt
        for place in (on_the_way, x):
            # 1e-9 rad/s is what does not count as too fast: over a step, and where it must turn within the step
            assert np.all((place >= -1e-8) & (place <= width + 1e-8))
        assert np.all(np.abs(r) <= speed + ROUNDED)


def test_what_is_too_fast_is_asked_for_what_it_needs():
    """1 rad/s, 0.01 rad before the limit: 50 rad/s² stop it there, whatever it can do."""
    gap, rate = np.array([0.01]), np.array([1.0])
    asked = acceleration_towards(gap, rate, 1e-4, RECOVERY, np.array([10.0]))
    assert asked == pytest.approx(-50.0)
    assert acceleration_towards(gap, rate, 1e-4, RECOVERY, np.array([np.inf])) == pytest.approx(-50.0)


@pytest.mark.parametrize("b", [5.0, np.inf])
def test_the_way_back_is_critically_damped(b):
    """From 0.1 rad beyond at rest: (1 + t/T) e^(−t/T) of it is left, if b allows that; never more than b, and no swing."""
    dt, gap, rate, most = 1e-3, np.array([-0.1]), np.zeros(1), np.array([b])
    for k in range(800):
        a = acceleration_towards(gap, rate, dt, RECOVERY, most)
        assert a >= -b
        gap, rate = gap - rate * dt - 0.5 * a * dt**2, rate + a * dt
        if np.isinf(b):
            t = (k + 1) * dt / RECOVERY
            assert gap == pytest.approx(-0.1 * (1 + t) * np.exp(-t), abs=5e-4)  # first order in the step
    assert -1e-3 < gap < 1e-2


def test_no_limit_is_no_bound():
    far, fast = np.full(2, np.inf), np.array([-3.0, 3.0])
    for b in (np.full(2, 5.0), far):
        assert np.all(np.isinf(acceleration_towards(far, fast, 0.01, RECOVERY, b)))
        assert np.all(np.isinf(velocity_towards(far, 0.01, RECOVERY, b, fast)))
