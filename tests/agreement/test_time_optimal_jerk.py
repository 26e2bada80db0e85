"""Paths in least time with limits of jerk: closed forms of S-curves, limits between places, a linear program, what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import torsor
from torsor.errors import ArgumentError, ShapeError
from torsor.motion import polynomial, spline, time_optimal

pytestmark = pytest.mark.compiled
GRAVITY = 9.81  # of the pendulum, whose point mass and rod are 1
JERK = 500.0


@pytest.fixture(scope="module")
def pendulum():
    return torsor.robots.pendulum()


@pytest.fixture(scope="module")
def axis(pendulum):
    return pendulum.with_gravity((0.0, 0.0, 0.0))


@pytest.fixture(scope="module")
def panda():
    return torsor.robots.panda().with_limits(position=(np.full(7, -9.0), np.full(7, 9.0)))


def waypoints_of(seed):
    return np.random.default_rng(seed).uniform(-1.5, 1.5, (5, 7))


def spline_of(panda, seed):
    return spline(panda, np.linspace(0.0, 1.0, 5), waypoints_of(seed), ends="natural")


def shares(robot, found, **bounds):
    """The largest part of each limit that a motion takes, on a grid seven times as fine."""
    knots = found.motion.knots
    times = (knots[:-1, None] + np.diff(knots)[:, None] * (np.arange(7) + 0.5) / 7.0).ravel()
    q, v, a, jerk = found.motion.at(times)
    parts = {
        "effort": torsor.inverse_dynamics(robot, q, v, a) / robot.limits.effort,
        "velocity": v / robot.limits.velocity,
    }
    parts |= {name: {"acceleration": a, "jerk": jerk, "velocity": v}[name] / bound for name, bound in bounds.items()}
    return {name: np.nanmax(np.abs(x)) for name, x in parts.items()}


def from_rest_to_rest(length, a, J):
    """The least time of one axis without a limit of velocity, whether it reaches its limit of acceleration or not."""
    if length <= 2.0 * a**3 / J**2:
        return 4.0 * np.cbrt(length / (2.0 * J))
    return a / J + np.sqrt((a / J) ** 2 + 4.0 * length / a)


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({"velocity": 0.6, "acceleration": 2.0}, 1.0 / 0.6 + 0.6 / 2.0 + 2.0 / 10.0),
        ({"velocity": 0.1}, 1.0 / 0.1 + 2.0 * np.sqrt(0.1 / 10.0)),  # the acceleration is not limited
        ({"acceleration": 2.0}, from_rest_to_rest(1.0, 2.0, 10.0)),
        ({}, from_rest_to_rest(1.0, np.inf, 10.0)),
        ({"acceleration": 7.0}, from_rest_to_rest(1.0, 7.0, 10.0)),  # and is not reached here
    ],
)
def test_one_axis_follows_the_s_curve(axis, bounds, expected):
    """What is lost is a part of the interval in which the jerk changes."""
    few, many = (time_optimal(axis, [[0.0], [1.0]], jerk=10.0, intervals=n, **bounds) for n in (50, 400))
    assert np.all(few.settled & many.settled)
    assert -1e-6 < many.duration / expected - 1.0 < 6e-4
    assert many.duration < few.duration < 1.005 * expected


def test_a_corner_and_a_jump_of_the_curvature_are_halts(axis, panda):
    """There and back: two S-curves. A line that goes over into a parabola: the acceleration would jump at any speed."""

    def corner(s):
        zero = np.zeros((len(s), 1))
        return np.abs(s - 0.37)[:, None], np.sign(s - 0.37)[:, None], zero, zero

    found = time_optimal(axis, corner, acceleration=2.0, jerk=10.0, intervals=200)
    expected = from_rest_to_rest(0.37, 2.0, 10.0) + from_rest_to_rest(0.63, 2.0, 10.0)
    assert -1e-6 < found.duration / expected - 1.0 < 1e-3
    bend = np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    def kink(s):
        after, ahead = np.maximum(0.0, s - 0.41)[:, None], np.eye(7)[0]
        q = s[:, None] * ahead + after**2 * bend - [0.0, 0.4, 0.0, 1.9, 0.0, -1.6, 0.0]
        return q, ahead + 2.0 * after * bend, 2.0 * (after > 0.0) * bend, 0.0 * after * bend

    found = time_optimal(panda, kink, jerk=JERK, intervals=200)
    at = found.motion.at(found.motion.knots)
    slowest = 5 + np.argmin(np.abs(at.v[5:-5, 0]))
    assert_allclose([at.q[slowest, 0], at.v[slowest, 0]], [0.41, 0.0], atol=1e-6)
    assert max(shares(panda, found, jerk=JERK).values()) < 1.001


def test_all_limits_hold_between_places_with_friction(panda):
    """Forces with viscous and Coulomb friction, velocities, accelerations and jerks; positions, velocities and so on agree."""
    rough = panda.with_parameters(viscous_friction=5.0, coulomb_friction=1.0)
    path = spline_of(panda, 1)
    found = time_optimal(rough, path, acceleration=15.0, jerk=JERK, intervals=200)
    taken = shares(rough, found, acceleration=15.0, jerk=JERK)
    assert all(0.9 < x < 1.001 for x in taken.values()), taken
    assert found.settled and found.excess < 1e-6
    assert {one.limit for one in found.active} == {"effort", "velocity", "acceleration", "jerk"}
    ends = found.motion.at(np.array([0.0, found.motion.duration]))
    assert_allclose(ends.q, path.at(np.array([0.0, 1.0])).q, atol=1e-9)
    assert max(np.abs(ends.v).max(), np.abs(ends.a).max()) < 1e-9
    knots = found.motion.knots
    before, after = (knots[:-1] + share * np.diff(knots) for share in (0.3, 0.7))
    states = [found.motion.at(t) for t in (before, 0.5 * (before + after), after)]
    for k in range(3):  # each is the derivative of the one before it, between knots to the third order
        change = (states[2][k] - states[0][k]) / (after - before)[:, None]
        expected = states[1][k + 1]
        assert_allclose(change[2:-2], expected[2:-2], atol=2e-3 * np.abs(expected).max())


def test_more_jerk_takes_less_time_down_to_that_without_limit(panda):
    path = spline_of(panda, 0)
    least = time_optimal(panda, path, acceleration=15.0).duration
    times = [time_optimal(panda, path, acceleration=15.0, jerk=J, intervals=400).duration for J in (50.0, 500.0, 2e4)]
    assert times[0] > times[1] > times[2] > (1.0 - 1e-3) * least  # which loses a part of an interval, too
    assert times[2] < (1.0 + 1e-3) * least


def test_a_linear_program_finds_no_faster_motion_nearby(pendulum):
    """To the first order: the derivative of the time along all directions that keep the limits, by SciPy's solver."""
    optimize = pytest.importorskip("scipy.optimize")
    from torsor.motion.time_optimality.jerk_limited.first_law import FirstLaw
    from torsor.motion.time_optimality.jerk_limited.interior_point import least_time
    from torsor.motion.time_optimality.jerk_limited.places import places_along
    from torsor.motion.time_optimality.paths import path_of
    from torsor.motion.time_optimality.rows import JointLimits

    path, law = path_of(pendulum, [[-1.2], [0.9]]), FirstLaw.between(np.zeros(0))
    limits = JointLimits(np.array([2.5]), np.array([np.inf]), np.array([1.3 * GRAVITY]))
    places = places_along(pendulum, path, law, np.linspace(0.0, 1.0, 61), limits, np.array([60.0]))
    found = least_time(places)
    assert found.settled
    c, basis = found.coefficients[0], places.given["basis"].reshape(60, 3, 3, 3)
    A = np.zeros((60, 3, 3, 62))  # y, y' and y'' at the three places of each interval
    for k in range(60):
        A[k, :, :, k : k + 3] = basis[k]
    A = A.reshape(180, 3, 62)
    y = A[:, 0] @ c
    a, b, low, high = places.given["rows"][:, :, 0].T
    force = 0.5 * a[:, None] * A[:, 1] + b[:, None] * A[:, 0]
    jerk = np.einsum("pj,pjn->pn", places.given["jerks"][:, :, 0], A)
    fall = -0.5 * y[:, None] ** -1.5 * A[:, 0]
    by = np.concatenate([force, -force, places.given["top"][:, None] * A[:, 0], jerk - fall, -jerk - fall])
    slack = np.concatenate(
        [high - force @ c, force @ c - low, 1.0 - places.given["top"] * y, y**-0.5 - jerk @ c, y**-0.5 + jerk @ c]
    )
    assert slack.min() > 0.0
    # All limits are in the way somewhere but the lower one of force: gravity brakes
    assert [bool(np.any(slack[k : k + 180] < 1e-4)) for k in range(0, 900, 180)] == [True, False, True, True, True]
    time = np.sum(places.weight / np.sqrt(y))
    gradient = -0.5 * (places.weight * y**-1.5) @ A[:, 0]
    answer = optimize.linprog(gradient, by, slack, bounds=np.stack([-0.2 * c, 0.2 * c], axis=-1))
    assert answer.status == 0
    assert -1e-4 * time < answer.fun <= 0.0


def test_a_batch_is_its_paths_one_by_one(panda, axis):
    """With one first law for all, by their lengths, with corners of their own, and none."""
    ways = np.stack([waypoints_of(seed) for seed in range(2)])
    found = time_optimal(panda, spline(panda, np.linspace(0.0, 1.0, 5), ways, ends="natural"), jerk=JERK, intervals=100)
    alone = [time_optimal(panda, spline_of(panda, k), jerk=JERK, intervals=100) for k in range(2)]
    assert_allclose(found.duration, [one.duration for one in alone], rtol=1e-9)
    t = np.linspace(0.0, found.motion.duration, 21)
    for k, one in enumerate(alone):
        for x, y in zip(found.motion.at(t)[:3], one.motion.at(t)[:3], strict=True):
            assert_allclose(x[k], y, atol=1e-6)
    begin, end = ways[:, 0], ways[:, 1]
    found = time_optimal(panda, polynomial(panda, begin, end, duration=3.0), jerk=JERK, intervals=100)
    straight = [time_optimal(panda, x, jerk=JERK, intervals=100).duration for x in zip(begin, end, strict=True)]
    assert_allclose(found.duration, straight, rtol=1e-6)

    def corners(s):
        x = s - np.array([[0.3], [0.8]])
        return np.abs(x)[..., None], np.sign(x)[..., None], 0.0 * x[..., None], 0.0 * x[..., None]

    found = time_optimal(axis, corners, acceleration=2.0, jerk=10.0, intervals=200)
    expected = [from_rest_to_rest(x, 2.0, 10.0) + from_rest_to_rest(1.0 - x, 2.0, 10.0) for x in (0.3, 0.8)]
    assert_allclose(found.duration, expected, rtol=2e-3)
    none = time_optimal(panda, np.zeros((0, 5, 7)) + waypoints_of(0), intervals=20, jerk=JERK)
    assert none and none.duration.shape == none.settled.shape == (0,)


def test_where_the_robot_cannot_be_held_is_told(pendulum):
    """A force that is all taken by gravity leaves none for a slow motion; a little more does."""
    found = time_optimal(
        pendulum, [[-0.5], [0.5]], effort=(1.0 - 1e-9) * GRAVITY, jerk=100.0, s_rate0=0.0, intervals=50
    )
    assert not found and "gravity" in str(found)
    held = time_optimal(pendulum, [[-0.5], [0.5]], effort=1.05 * GRAVITY, jerk=100.0, intervals=50)
    assert (
        held
        and held.settled
        and shares(pendulum.with_limits(effort=1.05 * GRAVITY), held, jerk=100.0)["effort"] < 1.001
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"s_rate0": 1.0}, "`s_rate0` must be 0 where `jerk` is limited"),
        ({"s_rate1": 1.0}, "`s_rate1` must be 0 where `jerk` is limited"),
        ({"jerk": -1.0}, "`jerk` must be positive"),
        ({"jerk": np.ones(3)}, "`jerk` must be a number or have shape"),
        (
            {"path": lambda s: (s[:, None], 1.0 + 0.0 * s[:, None], 0.0 * s[:, None])},
            "must return its third derivative",
        ),
    ],
)
def test_what_cannot_be_asked_for_is_refused_in_words(pendulum, options, words):
    with pytest.raises((ArgumentError, ShapeError), match=words):
        time_optimal(pendulum, **{"path": [[0.0], [1.0]], "acceleration": 1.0, "jerk": 1.0, "intervals": 20, **options})


def test_parts_of_the_method():
    """Quadratic splines are those of SciPy, their derivatives too; banded systems are solved; a first law goes there and back."""
    interpolate = pytest.importorskip("scipy.interpolate")
    from torsor.motion.time_optimality.jerk_limited.banded import solved
    from torsor.motion.time_optimality.jerk_limited.first_law import FirstLaw
    from torsor.motion.time_optimality.jerk_limited.quadratic_splines import around, basis_at

    rng = np.random.default_rng(0)
    breaks = np.concatenate([[0.0], np.sort(rng.uniform(size=6)), [1.0]])
    c, theta = rng.normal(size=9), np.array([0.0, 0.3, 0.9])
    expected = interpolate.BSpline(np.concatenate([[0.0, 0.0], breaks, [1.0, 1.0]]), c, 2)
    found = np.einsum("nkij,nj->ink", basis_at(breaks, theta), around(c))
    places = breaks[:-1, None] + np.diff(breaks)[:, None] * theta
    for order in range(3):
        assert_allclose(
            found[order], expected.derivative(order)(places) if order else expected(places), rtol=1e-9, atol=1e-9
        )
    factors = rng.normal(size=(2, 9, 9)) * np.tri(9) * (1.0 - np.tri(9, k=-3)) + 3.0 * np.eye(9)
    A, x = factors @ np.swapaxes(factors, 1, 2), rng.normal(size=(2, 9))
    bands = [np.stack([np.append(np.diagonal(one, k), np.zeros(k)) for one in A]) for k in range(3)]
    assert_allclose(solved(*bands, np.einsum("bij,bj->bi", A, x)), x, rtol=1e-9)
    law = FirstLaw.between(np.array([0.2, 0.7]))
    w = rng.uniform(size=50)
    assert_allclose(law.back(law.at(w).s), w, atol=1e-9)
    for k in range(3):
        step = 1e-6
        assert_allclose(
            (law.at(w + step)[k] - law.at(w - step)[k]) / (2.0 * step), law.at(w)[k + 1], rtol=1e-5, atol=1e-4
        )
