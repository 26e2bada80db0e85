"""Paths in least time: known switching times, toppra, other parameters and frames, paths that cannot be followed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import torsor
from torsor.errors import ArgumentError, ShapeError
from torsor.motion import polynomial, spline, time_optimal

pytestmark = pytest.mark.compiled
GRAVITY = 9.81  # of the pendulum, whose point mass and rod are 1


@pytest.fixture(scope="module")
def pendulum():
    return torsor.robots.pendulum()


@pytest.fixture(scope="module")
def panda():
    """With room for any spline: limits of position have a test of their own."""
    return torsor.robots.panda().with_limits(position=(np.full(7, -9.0), np.full(7, 9.0)))


def waypoints_of(seed, count=5):
    return np.random.default_rng(seed).uniform(-1.5, 1.5, (count, 7))


def beyond_limits(robot, found, acceleration=np.inf):
    """The largest part of a limit by which a motion leaves it, on a grid ten times as fine."""
    knots = found.motion.knots
    times = (knots[:-1, None] + np.diff(knots)[:, None] * (np.arange(10) + 0.5) / 10.0).ravel()
    q, v, a, _ = found.motion.at(times)
    tau = torsor.inverse_dynamics(robot, q, v, a)
    effort, velocity = np.array(robot.limits.effort), np.array(robot.limits.velocity)
    return max(np.max(np.abs(x) / y) for x, y in ((tau, effort), (v, velocity), (a, acceleration))) - 1.0


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({}, 2.0),  # half a second² · 1 m/s² to the middle
        ({"velocity": 0.5}, 2.5),  # 0.5 s to speed, and to rest; 0.75 m at 0.5 m/s
        ({"s_rate0": 1.0}, 2.0 * np.sqrt(1.5) - 1.0),
        ({"s_rate1": 0.5}, 2.0 * np.sqrt(1.125) - 0.5),
    ],
)
def test_a_double_integrator_switches_where_it_is_known_to(pendulum, bounds, expected):
    """The rest is the discretisation: one interval in which s̈ changes."""
    found = time_optimal(pendulum, [[0.0], [1.0]], acceleration=1.0, **bounds)
    assert_allclose(found.duration, expected, atol=1e-6)


def time_from_rest(begin, end, square):
    """∫ dq/q̇ for q̇² = ``square``(q), which is 0 at ``begin``: with q = begin + (end − begin) w² nothing is singular."""
    w, weights = np.polynomial.legendre.leggauss(60)
    w = 0.5 * (w + 1.0)
    return np.sum(weights * w * abs(end - begin) / np.sqrt(square(begin + (end - begin) * w**2)))


def test_a_pendulum_is_lifted_by_full_force_then_braked(pendulum):
    """The work of ±τ up to the switch is the energy gained: τ (q_s − q_0) − τ (q_1 − q_s) = m g l (sin q_1 − sin q_0).

    With s̈ constant in an interval a force that grows with s is reached at its end alone: what is lost is a part of an interval.
    """
    q0, q1, tau = -1.2, 0.9, 1.1 * GRAVITY
    switch = 0.5 * (q0 + q1 + GRAVITY * (np.sin(q1) - np.sin(q0)) / tau)
    expected = time_from_rest(q0, switch, lambda q: 2.0 * (tau * (q - q0) - GRAVITY * (np.sin(q) - np.sin(q0))))
    expected += time_from_rest(q1, switch, lambda q: 2.0 * (tau * (q1 - q) + GRAVITY * (np.sin(q1) - np.sin(q))))
    found = time_optimal(pendulum, [[q0], [q1]], effort=tau)
    up, down = (one for one in found.active if one.s[1] - one.s[0] > 0.1)
    assert (up.side, down.side, up.limit, up.joint) == (1, -1, "effort", "joint_1")
    assert_allclose([up.s[1], down.s[0]], (switch - q0) / (q1 - q0), atol=2e-3)
    lost = [
        time_optimal(pendulum, [[q0], [q1]], effort=tau, intervals=n).duration / expected - 1.0 for n in (1000, 4000)
    ]
    assert 0.0 < lost[0] < 1e-3
    assert lost[1] < 0.3 * lost[0]


def test_viscous_and_coulomb_friction_are_met_exactly(pendulum):
    """q̈ = τ − d q̇ − f from rest to rest: closed forms for both halves; the switch where they meet."""
    d, f, tau = 0.7, 0.4, 2.0
    weightless = pendulum.with_gravity((0.0, 0.0, 0.0)).with_parameters(viscous_friction=d, coulomb_friction=f)

    low, high = 0.0, (tau - f) / d * (1.0 - 1e-12)
    for _ in range(200):
        v = 0.5 * (low + high)
        (far, time), (near, more) = from_rest(tau - f, -d, v), from_rest(tau + f, d, v)
        low, high = (v, high) if far + near < 1.0 else (low, v)
    expected = time + more
    found = [time_optimal(weightless, [[0.0], [1.0]], effort=tau, intervals=n) for n in (1000, 4000)]
    lost = [one.duration / expected - 1.0 for one in found]
    assert 0.0 < lost[0] < 2e-3
    assert lost[1] < 0.4 * lost[0]
    assert max(one.excess for one in found) < 1e-4


def test_a_path_through_thick_oil_can_be_followed(pendulum, panda):
    """Viscous friction that takes nearly all of the force: the motion goes at the speed where it does."""
    f, tau = 0.4, 2.0
    weightless = pendulum.with_gravity((0.0, 0.0, 0.0))
    for d in (5.0, 50.0, 5000.0):
        sticky = weightless.with_parameters(viscous_friction=d, coulomb_friction=f)
        found = time_optimal(sticky, [[0.0], [1.0]], effort=tau)
        last = (tau - f) / d
        # From rest v = last (1 − exp(−d t)): 1/d of time is lost; braking by τ + f takes less than last/(τ + f)
        assert_allclose(found.duration, 1.0 / last + 1.0 / d, rtol=4e-3, atol=last / (tau + f))
        assert found.excess < 1e-4
    stiff = panda.with_parameters(viscous_friction=60.0)
    found = time_optimal(stiff, spline(panda, np.linspace(0.0, 1.0, 5), waypoints_of(0), ends="natural"), intervals=200)
    assert found and beyond_limits(stiff, found) < 1e-3


def test_friction_does_not_hide_a_swing(pendulum):
    """Where the pendulum cannot be held it swings through, with friction that takes some of the speed, and ends at some speed."""
    for viscous, path, share, ends in (
        (0.5, [[-1.13], [0.31]], 0.99, (1.0, 0.0)),
        (0.1, [[-0.77], [1.25]], 0.89, (3.0, 1.0)),
    ):
        rough = pendulum.with_parameters(viscous_friction=viscous, coulomb_friction=0.3)
        found = time_optimal(rough, path, effort=share * GRAVITY, s_rate0=ends[0], s_rate1=ends[1], intervals=200)
        assert found and found.settled and found.excess < 1e-3
        assert_allclose(found.s_rate[[0, -1]], ends)


def test_friction_that_sets_in_suddenly_is_met(pendulum):
    """Coulomb friction that takes nearly all of the force within a millimetre a second: about as if it did at once."""
    weightless = pendulum.with_gravity((0.0, 0.0, 0.0))
    f, tau = 3.9, 4.0
    expected = np.sqrt(2.0 * (1.0 / (tau - f) + 1.0 / (tau + f)))  # v² = 2 (τ − f) x = 2 (τ + f) (1 − x)
    for width in (0.0, 1e-3):
        rough = weightless.with_parameters(coulomb_friction=f).with_coulomb_width(width)
        for intervals in (20, 400):
            found = time_optimal(rough, [[0.0], [1.0]], effort=tau, intervals=intervals)
            assert_allclose(found.duration, expected, rtol=2.0 / intervals)
            assert found.settled and found.excess < 1e-3


def from_rest(force, d, v):
    """How far and how long from rest to speed v under force + d v."""
    time = np.log1p(d * v / force) / d
    return (v - force * time) / d, time


@pytest.mark.parametrize(
    "law",
    [
        [0.0, 0.0, 1.0],  # q' = 0 at the beginning
        [0.0, 0.0, 0.0, 10.0, -15.0, 6.0],  # q' = q'' = 0 at both ends
        [0.0, 0.5, 0.5],
    ],
)
def test_the_parameter_of_a_path_makes_no_difference(panda, law):
    """The same spline by other polynomials of s."""
    motion = spline(panda, np.linspace(0.0, 1.0, 5), waypoints_of(3), ends="natural")
    sigma = np.polynomial.Polynomial(law)

    def other(s):
        rate, second = sigma.deriv(1)(s)[:, None], sigma.deriv(2)(s)[:, None]
        q, v, a, jerk = motion.at(np.clip(sigma(s), 0.0, 1.0))
        third = sigma.deriv(3)(s)[:, None] if len(law) > 3 else 0.0
        return q, v * rate, a * rate**2 + v * second, jerk * rate**3 + 3.0 * a * rate * second + v * third

    # Grids differ: intervals are even in another parameter
    assert_allclose(time_optimal(panda, other).duration, time_optimal(panda, motion).duration, rtol=1e-3)


def test_a_rest_to_rest_motion_is_a_path_by_its_length(panda):
    """The quintic and the two points it joins are the same path; the motion found has the quintic's configurations."""
    begin, end = waypoints_of(1, 2)
    straight = time_optimal(panda, [begin, begin, end, end])
    found = time_optimal(panda, polynomial(panda, begin, end, duration=3.0))
    assert_allclose(found.duration, straight.duration, rtol=1e-8)
    t = np.linspace(0.0, found.motion.duration, 301)
    q, v, a, _ = found.motion.at(t)
    share = (q - begin) / (end - begin)
    assert_allclose(share, share[:, :1] * np.ones(7), atol=1e-9)
    middle = t[1:] - 0.5 * t[1]
    change = np.diff(q, axis=0) / np.diff(t)[:, None]
    # Velocity is the derivative of the configuration, to the second order in the time between samples
    assert_allclose(found.motion.at(middle).v, change, atol=0.5 * np.abs(a).max() * t[1])
    assert np.abs(v[[0, -1]]).max() == 0.0


def test_a_corner_is_a_halt(pendulum):
    """There and back: two motions from rest to rest."""

    def path(s):
        return np.abs(s - 0.37)[:, None], np.sign(s - 0.37)[:, None], np.zeros((len(s), 1))

    found = time_optimal(pendulum, path, acceleration=1.0)
    assert_allclose(found.duration, 2.0 * np.sqrt(0.37) + 2.0 * np.sqrt(0.63), atol=1e-6)
    t = found.motion.knots[np.argmin(np.abs(found.s - 0.37))]
    assert_allclose(found.motion.at(t).q, 0.0, atol=1e-8)


def rounded_corner(s, width, at=0.43):
    """Two straight lines and a round corner: q' turns as tanh over some width."""
    x, begin = (s - at)[:, None] / width, np.array([0.0, -0.4, 0.0, -1.9, 0.0, 1.6, 0.3])
    along, across = np.array([1.0, 0.3, -0.5, 0.2, 0.4, 0.3, 0.1]), np.array([0.4, -0.3, 0.5, 0.6, -0.8, 0.2, 0.9])
    rise = width * (np.logaddexp(x, -x) - np.log(2.0))
    turn = np.tanh(x)
    return begin + along * s[:, None] + across * rise, along + across * turn, across * (1.0 - turn**2) / width


def test_sharp_turns_get_more_intervals(panda):
    """Turns that take a hundredth of an interval to three: limits hold within them, and the time is that of a fine grid."""
    for intervals, width in ((20, 0.05), (20, 0.0005), (50, 0.02), (50, 0.005), (200, 0.005)):
        found = time_optimal(panda, lambda s, w=width: rounded_corner(s, w), acceleration=15.0, intervals=intervals)
        assert beyond_limits(panda, found, 15.0) < 1e-3
        fine = time_optimal(panda, lambda s, w=width: rounded_corner(s, w), acceleration=15.0, intervals=2000)
        assert_allclose(found.duration, fine.duration, rtol=0.1 / np.sqrt(intervals))
        assert intervals < len(found.s) < 20 * intervals + 1000
    few = time_optimal(panda, spline(panda, np.linspace(0.0, 1.0, 5), waypoints_of(0), ends="natural"), intervals=2)
    assert beyond_limits(panda, few) < 1e-3


def test_what_cannot_be_seen_is_told(panda):
    """A curvature that is noise: the report measures by how much limits are left, and says what to do."""

    def noisy(s):
        q, first, second = rounded_corner(s, 0.05)
        return q, first, second * (1.0 + 0.3 * np.sin(1e6 * s) * (np.abs(s - 0.43) < 0.05))[:, None]

    found = time_optimal(panda, noisy, acceleration=15.0, intervals=50)
    assert found.excess > 0.05
    assert found.excess > 0.8 * beyond_limits(panda, found, 15.0)
    assert "turns more sharply" in str(found)


def test_durations_are_those_of_toppra_and_limits_hold_between_points(panda):
    """Forces, velocities and accelerations, 200 intervals; toppra asks for limits at points alone and leaves them between."""
    toppra = pytest.importorskip("toppra")
    import logging

    logging.getLogger("toppra").setLevel(logging.ERROR)
    effort, velocity, rate = np.array(panda.limits.effort), np.array(panda.limits.velocity), np.full(7, 15.0)
    algorithm, constraint = toppra.algorithm, toppra.constraint
    for seed in range(2):
        motion = spline(panda, np.linspace(0.0, 1.0, 5), waypoints_of(seed), ends="natural")
        own = {} if seed else {"acceleration": rate}
        limits = [
            constraint.JointVelocityConstraint(np.stack([-velocity, velocity], axis=-1)),
            constraint.JointTorqueConstraint(
                lambda q, v, a: torsor.inverse_dynamics(panda, q, v, a),
                np.stack([-effort, effort], axis=-1),
                np.zeros(7),
                discretization_scheme=constraint.DiscretizationType.Interpolation,
            ),
        ]
        if own:
            limits.append(constraint.JointAccelerationConstraint(np.stack([-rate, rate], axis=-1)))
        way = toppra.SplineInterpolator(motion.knots, waypoints_of(seed), bc_type="natural")
        solver = algorithm.TOPPRA(
            limits, way, gridpoints=np.linspace(0.0, 1.0, 201), parametrizer="ParametrizeConstAccel"
        )
        expected = solver.compute_trajectory(0.0, 0.0).duration
        found = time_optimal(panda, motion, intervals=200, **own)
        assert -2e-3 < found.duration / expected - 1.0 < 1e-2
        assert beyond_limits(panda, found, rate if own else np.inf) < 1e-3


def test_controllable_sets_are_those_of_a_linear_program(panda):
    """The largest ṡ² at each point by SciPy's solver, interval by interval, also where the robot cannot be held."""
    optimize = pytest.importorskip("scipy.optimize")
    from torsor.motion.time_optimality.ceiling import ceiling, floor
    from torsor.motion.time_optimality.controllable import controllable, controllable_from_rest
    from torsor.motion.time_optimality.intervals import Limits, bounds_of_intervals, grid_of

    rng = np.random.default_rng(0)
    grid = grid_of(12, np.zeros(0))
    for held in (True, False):
        a, b = rng.normal(size=(2, 1, 25, 3))
        a[0, 5, 1] = 0.0  # a zero-inertia point
        low, high = -rng.uniform(0.1, 1.0, (1, 25, 3)), rng.uniform(0.1, 1.0, (1, 25, 3))
        if not held:
            low[0, 6, 0], a[0, 6, 0], b[0, 6, 0] = 0.05, 0.02, 1.0  # takes speed
        start, end = np.full((1, 12), 1e3), np.array([0.0 if held else 0.02])
        bounds, room, can_rest = bounds_of_intervals(Limits.of(a, b, low, high), grid, start)
        assert can_rest == held
        tops = ceiling(bounds, start, room)
        if held:
            sets = controllable_from_rest(bounds, grid, tops, end)
        else:
            sets = controllable(bounds, grid, floor(bounds), tops, end)
        least, most = sets.least[0], sets.most[0]
        for i in range(11, -1, -1):
            if most[i + 1] < 0.0:
                break
            p, P, r = (x[0, i] for x in bounds)
            one = np.ones_like(r)
            A = np.concatenate([np.stack([r, -one], 1), np.stack([-r, one], 1), [[1.0, 2.0 / 12], [-1.0, -2.0 / 12]]])
            right = np.concatenate([-p, P, [most[i + 1], -least[i + 1]]])
            answers = [optimize.linprog([c, 0.0], A, right, bounds=[(0.0, 1e3), (None, None)]) for c in (-1.0, 1.0)]
            if answers[0].status == 2:
                assert most[i] < 0.0
            else:
                assert_allclose([most[i], least[i]], [answers[0].x[0], answers[1].x[0]], rtol=1e-6, atol=1e-8)


def test_spherical_and_free_joints_follow_paths_on_their_groups():
    """Bounds hold and velocities are those of the configurations, quaternions included."""
    body = torsor.robots.random_tree(3, seed=3)
    assert body.nq > body.nv
    q = torsor.random_configuration(body, seed=2, batch=(4,))
    with torsor.backend("numpy"):  # the robot is of no other test, and its kernels would take long to compile
        found = time_optimal(body, q, effort=300.0, velocity=4.0, acceleration=20.0, within_limits=False, intervals=100)
    assert found, str(found)
    t = np.linspace(0.0, found.motion.duration, 4001)
    q, v, a, _ = found.motion.at(t)
    # To the second order in the time between samples, the first where the acceleration jumps
    assert_allclose(torsor.difference(body, q[:-1], q[1:]) / t[1], 0.5 * (v[1:] + v[:-1]), atol=30.0 * t[1])
    for x, bound in ((torsor.inverse_dynamics(body, q, v, a), 300.0), (v, 4.0), (a, 20.0)):
        assert np.abs(x).max() <= 1.003 * bound


def test_frames_of_links_and_a_path_turned_round_make_no_difference(panda):
    """Without gravity the way back takes as long as the way there."""
    weightless = panda.with_gravity((0.0, 0.0, 0.0))
    way = waypoints_of(7)
    there, back = (time_optimal(weightless, x, intervals=400).duration for x in (way, way[::-1]))
    assert_allclose(there, back, rtol=1e-4)


def test_a_batch_is_its_paths_one_by_one(panda):
    """Whatever number of paths; those that cannot be followed are told, and disturb no other."""
    ways = np.stack([waypoints_of(seed) for seed in range(3)])
    ways[1, 2:4, 3] += 40.0
    ways[1, 2:4, 3] -= 40.0
    path = spline(panda, np.linspace(0.0, 1.0, 5), ways, ends="natural")
    weak = panda.with_limits(effort=np.array([87.0, 31.0, 87.0, 30.0, 12.0, 12.0, 12.0]))
    found = time_optimal(weak, path, intervals=200)
    alone = [
        time_optimal(weak, spline(panda, np.linspace(0.0, 1.0, 5), way, ends="natural"), intervals=200) for way in ways
    ]
    assert_allclose(found.duration, [float(one.duration) for one in alone], rtol=1e-9)
    assert [bool(one) for one in alone] == [k not in found.obstacles for k in range(3)]
    fine = time_optimal(panda, path, intervals=200)
    t = np.linspace(0.0, fine.motion.duration, 21)
    one = time_optimal(panda, spline(panda, np.linspace(0.0, 1.0, 5), ways[2], ends="natural"), intervals=200)
    for x, y in zip(fine.motion.at(t)[:3], one.motion.at(t)[:3], strict=True):
        assert_allclose(x[2], y, atol=1e-7)
    none = time_optimal(panda, np.zeros((0, 5, 7)) + waypoints_of(0), intervals=20)
    assert none.duration.shape == (0,) and none.s_rate.shape == (0, len(none.s)) and none


def test_what_gravity_forbids_is_told_with_place_joint_and_way_out(pendulum):
    """Where holding takes too much, a swing leads through if it is fast enough at the beginning."""
    path = [[-0.5], [0.5]]
    found = time_optimal(pendulum, path, effort=0.95 * GRAVITY)
    assert not found and np.isnan(found.duration)
    reason = found.obstacles[0]
    assert (reason.joint, reason.limit) == ("joint_1", "effort")
    assert_allclose(np.cos(reason.s - 0.5), 0.95, atol=2e-3)  # the first place that is too much
    assert "9.81" in str(found) and "`s_rate0` = 0 is too slow" in str(found)
    with pytest.raises(ArgumentError, match="no motion along the path"):
        found.motion
    least = float(str(reason).split("pass ")[1].split(" to ")[0])
    assert not time_optimal(pendulum, path, effort=0.95 * GRAVITY, s_rate0=0.99 * least)
    swing = time_optimal(pendulum, path, effort=0.95 * GRAVITY, s_rate0=1.01 * least)
    assert swing and swing.excess < 1e-3 and float(swing.motion.at(0.0).v[0]) == pytest.approx(1.01 * least)


@pytest.mark.parametrize(
    ("path", "options", "words"),
    [
        ([[0.0]], {}, "two waypoints that are apart"),
        ([[0.3], [0.3]], {}, "two waypoints that are apart"),
        ([[0.0], [np.nan]], {}, "finite"),
        (lambda s: s[:, None], {}, "must return q, q' and q''"),
        (lambda s: (s[:, None], 2.0 + 0.0 * s[:, None], 0.0 * s[:, None]), {}, "its q' is not the derivative"),
        (lambda s: (s[:, None], 1.0 + 0.0 * s[:, None], 1.0 + 0.0 * s[:, None]), {}, "its q'' is not the derivative"),
        ([[0.0], [3.0]], {}, "leaves the limits of position: joint_1"),
        ([[0.0], [1.0]], {"acceleration": None}, "no limits of effort"),
        ([[0.0], [1.0]], {"s_rate0": -1.0}, "`s_rate0` must be finite and not negative"),
        ([[0.0], [1.0]], {"intervals": 1}, "`intervals` must be 2 or more"),
    ],
)
def test_what_is_no_path_is_refused_in_words(pendulum, path, options, words):
    limited = pendulum.with_limits(position=(-2.0, 2.0))
    with pytest.raises((ArgumentError, ShapeError), match=words.replace("'", "['′]")):
        time_optimal(limited, path, **{"acceleration": 1.0, **options})


def test_a_path_that_no_speed_leads_through_is_told_without_warnings(pendulum):
    """Where even a swing is out of reach: a wall of gravity for a drive that can do nearly nothing, with a limit of velocity."""
    found = time_optimal(pendulum, [[-0.5], [0.5]], effort=0.1, velocity=0.2, intervals=50)
    assert not found
    assert "gravity alone takes more of joint_1" in str(found)
