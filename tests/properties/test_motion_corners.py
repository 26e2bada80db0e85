"""Motions at the edges of what one can ask for, closed forms, and what is refused with which words."""

from __future__ import annotations

import numpy as np
import pytest

import torsor
from torsor import motion

ARM = torsor.robots.panda()
ONE = torsor.robots.pendulum()
BODY = torsor.robots.random_tree(1, seed=5, kinds=("free",))
MAKERS = {
    "polynomial": {"duration": 1.0},
    "trapezoidal": {"acceleration": 5.0},
    "s_curve": {"acceleration": 5.0, "jerk": 40.0},
    "jerk_limited": {"acceleration": 5.0, "jerk": 40.0},
}
each = pytest.mark.parametrize("name", MAKERS)


def make(name, robot, q0, q1, **more):
    if name == "jerk_limited":
        pytest.importorskip("ruckig")
    return getattr(motion, name)(robot, q0, q1, **{**MAKERS[name], **more})


def test_a_trapezoid_is_the_time_optimal_motion_of_a_double_integrator():
    """Distance x with |a| ≤ A, |v| ≤ V takes x/V + V/A, or 2 √(x/A) where V is not reached."""
    for x, V, A in ((3.0, 1.0, 2.0), (0.3, 1.0, 2.0), (0.5, 1.0, 2.0), (1e-9, 1.0, 2.0), (1e6, 1.0, 2.0)):
        m = motion.trapezoidal(ONE, [0.2], [0.2 + x], acceleration=A, velocity=V)
        want = x / V + V / A if x >= V * V / A else 2.0 * np.sqrt(x / A)
        assert m.duration == pytest.approx(want, rel=1e-6)  # 0.2 + 1e-9 is rounded
        assert np.abs(m.at(np.linspace(0.0, m.duration, 99)).v).max() == pytest.approx(min(V, np.sqrt(x * A)), rel=0.03)
        middle = m.at(0.5 * m.duration)
        assert middle.q[0] == pytest.approx(0.2 + x / 2)


def test_an_s_curve_takes_the_closed_form_times():
    """x/V + V/A + A/J if velocity and acceleration are reached; 4 (x/2J)^(1/3) if only the jerk is."""
    m = motion.s_curve(ONE, [0.0], [5.0], velocity=1.0, acceleration=2.0, jerk=10.0)
    assert m.duration == pytest.approx(5.0 + 0.5 + 0.2, rel=1e-12)
    m = motion.s_curve(ONE, [0.0], [0.01], velocity=1.0, acceleration=2.0, jerk=10.0)
    assert m.duration == pytest.approx(4.0 * (0.01 / 20.0) ** (1 / 3), rel=1e-12)
    without = motion.s_curve(ONE, [0.0], [5.0], velocity=1.0, acceleration=2.0, jerk=1e9)
    assert without.duration == pytest.approx(5.5, rel=1e-6)


def test_ruckig_and_the_s_curve_take_the_same_time_for_one_joint():
    pytest.importorskip("ruckig")
    for x in (1e-3, 0.1, 0.4, 1.0, 7.0):
        bounds = {"velocity": 1.0, "acceleration": 2.0, "jerk": 10.0}
        ours, theirs = (make(name, ONE, [0.1], [0.1 + x], **bounds) for name in ("s_curve", "jerk_limited"))
        assert ours.duration == pytest.approx(theirs.duration, rel=1e-9)


def test_jerk_limited_motions_are_what_ruckig_itself_says():
    ruckig = pytest.importorskip("ruckig")
    rng = np.random.default_rng(3)
    q0, q1 = rng.uniform(-1.0, 1.0, (2, 5, 7))
    v0, v1 = rng.uniform(-2.0, 2.0, (2, 5, 7))  # some of them beyond the bounds: those are braked first
    a0, a1 = rng.uniform(-1.0, 1.0, (2, 5, 7))
    v1 *= 0.2
    m = make("jerk_limited", ARM, q0, q1, v0=v0, v1=v1, a0=a0, a1=a1, velocity=1.5)
    for k in range(5):
        task, wanted = ruckig.InputParameter(7), ruckig.Trajectory(7)
        for part, value in (("current", (q0, v0, a0)), ("target", (q1, v1, a1))):
            for rate, x in zip(("position", "velocity", "acceleration"), value, strict=True):
                setattr(task, f"{part}_{rate}", x[k].tolist())
        limit = np.minimum(1.5, ARM.structure.limits.velocity).tolist()
        task.max_velocity, task.max_acceleration, task.max_jerk = limit, [5.0] * 7, [40.0] * 7
        assert int(ruckig.Ruckig(7).calculate(task, wanted)) >= 0
        for t in np.linspace(0.0, wanted.duration, 7):
            state = m.at(t)
            for got, want in zip(state[:3], wanted.at_time(t), strict=True):
                np.testing.assert_allclose(got[k], want, atol=1e-9)


@each
def test_a_motion_over_no_distance_rests(name):
    for robot in (ARM, BODY):
        q = torsor.random_configuration(robot, seed=1)
        m = make(name, robot, q, q)
        state = m.at(np.array([0.0, m.duration, 1.0]))
        np.testing.assert_allclose(torsor.difference(robot, state.q, q), 0.0, atol=1e-15)
        assert np.abs(state.v).max() == 0.0
        assert m.duration == (1.0 if name == "polynomial" else 0.0)


@each
def test_a_batch_of_none_and_one_that_rests_in_part(name):
    q = np.zeros((0, 7))
    m = make(name, ARM, q, q)
    assert m.at(np.linspace(0.0, 1.0, 4)).q.shape == (0, 4, 7)
    assert m.at(0.5).jerk.shape == (0, 7)
    q0, q1 = np.zeros((3, 7)), np.zeros((3, 7))
    q1[1], q1[2] = 0.1, 0.8
    part = make(name, ARM, q0, q1)
    end = part.at(part.duration)
    np.testing.assert_allclose(end.q, q1, atol=1e-14)
    np.testing.assert_allclose(end.v, 0.0, atol=1e-12)
    if name != "polynomial":
        alone = make(name, ARM, q0[1], q1[1])
        np.testing.assert_allclose(part.at(0.5 * alone.duration).q[1], alone.at(0.5 * alone.duration).q, atol=1e-14)
        assert alone.duration < part.duration


@each
def test_sixty_joints(name):
    chain = torsor.robots.random_tree(60, seed=2, kinds=("revolute",), serial=True)
    q0, q1 = np.random.default_rng(0).uniform(-1.0, 1.0, (2, 60))
    m = make(name, chain, q0, q1, **({} if name == "polynomial" else {"velocity": 1.0}))
    np.testing.assert_allclose(m.at(m.duration).q, q1, atol=1e-12)
    waypoints = np.linspace(q0, q1, 5) ** 2
    np.testing.assert_allclose(
        motion.spline(chain, np.arange(5.0), waypoints).at(np.arange(5.0)).q, waypoints, atol=1e-13
    )


@each
def test_a_longer_duration_slows_it_down(name):
    if name == "polynomial":
        return
    q0, q1 = np.zeros(7), np.full(7, 0.5)
    fast = make(name, ARM, q0, q1)
    slow = make(name, ARM, q0, q1, duration=2.0 * fast.duration)
    assert slow.duration == pytest.approx(2.0 * fast.duration)
    np.testing.assert_allclose(slow.at(slow.duration).q, q1, atol=1e-14)
    if name != "jerk_limited":
        np.testing.assert_allclose(slow.at(0.6).v, 0.5 * fast.at(0.3).v, atol=1e-12)
        with pytest.raises(torsor.ArgumentError, match=r"`duration` must be at least 0\.\d+ s, which the bounds allow"):
            make(name, ARM, q0, q1, duration=0.5 * fast.duration)


def test_the_robot_s_velocity_limits_hold_unless_told_otherwise():
    q0, q1 = np.zeros(7), np.full(7, 2.0)
    limits = np.array(ARM.structure.limits.velocity)
    m = motion.trapezoidal(ARM, q0, q1, acceleration=100.0)
    assert (np.abs(m.at(m.duration / 2).v) / limits).max() == pytest.approx(1.0)
    faster = motion.trapezoidal(ARM, q0, q1, acceleration=100.0, within_limits=False)
    assert faster.duration == pytest.approx(2.0 * np.sqrt(2.0 / 100.0))  # nothing bounds the velocity: a triangle
    assert motion.trapezoidal(ARM, q0, q1, acceleration=100.0, velocity=0.5).duration > m.duration


def test_splines_with_few_waypoints():
    rng = np.random.default_rng(4)
    q = rng.normal(size=(3, 7))
    one = motion.spline(ARM, [0.0], q[:1])
    assert one.duration == 0.0
    np.testing.assert_array_equal(one.at(np.array([-1.0, 0.0, 2.0])).q, np.repeat(q[:1], 3, axis=0))
    two = motion.spline(ARM, [0.0, 1.5], q[:2])
    cubic = motion.polynomial(ARM, q[0], q[1], duration=1.5, degree=3)
    t = np.linspace(0.0, 1.5, 7)
    for x, y in zip(two.at(t), cubic.at(t), strict=True):
        np.testing.assert_allclose(x, y, atol=1e-11)
    line = motion.spline(ARM, [0.0, 1.5], q[:2], ends="natural")
    np.testing.assert_allclose(line.at(t).v, np.tile((q[1] - q[0]) / 1.5, (7, 1)), atol=1e-13)
    still = motion.spline(ARM, [0.0, 1.5], q[[0, 0]], ends="periodic")
    np.testing.assert_allclose(still.at(t).q, np.tile(q[0], (7, 1)), atol=1e-15)


@pytest.mark.parametrize("ends", ["clamped", "natural", "periodic"])
@pytest.mark.parametrize("count", [3, 4, 5, 30])
def test_splines_of_numbers_are_scipy_s(ends, count):
    interpolate = pytest.importorskip("scipy.interpolate")
    rng = np.random.default_rng(count)
    times, q = np.cumsum(rng.uniform(0.2, 1.0, count)), rng.normal(size=(count, 7))
    times -= times[0]
    if ends == "periodic":
        q[-1] = q[0]
    theirs, ours = interpolate.CubicSpline(times, q, bc_type=ends), motion.spline(ARM, times, q, ends=ends)
    t = np.linspace(0.0, times[-1], 41)
    for k, x in enumerate(ours.at(t)[:3]):
        np.testing.assert_allclose(x, theirs(t, k), atol=1e-10)


def test_a_scaled_motion_is_the_same_path():
    q = np.random.default_rng(1).normal(size=(4, 7))
    m = motion.spline(ARM, [0.0, 1.0, 1.5, 2.0], q)
    twice = motion.scaled(m, factor=2.0)
    assert twice.duration == 1.0
    for power, (x, y) in enumerate(zip(twice.at(0.3), m.at(0.6), strict=True)):
        np.testing.assert_allclose(x, 2.0**power * y, rtol=1e-12)
    gentle = motion.scaled(m, duration=3.0, law="septic")
    for state in (gentle.at(0.0), gentle.at(3.0)):
        np.testing.assert_allclose(np.concatenate(state[1:]), 0.0, atol=1e-9)
    own = motion.scaled(m, duration=2.0, law=lambda t: (2.0 - t, 0.0 * t - 1.0, 0.0 * t, 0.0 * t))  # backwards
    np.testing.assert_allclose(own.at(0.5).q, m.at(1.5).q)
    np.testing.assert_allclose(own.at(0.5).v, -m.at(1.5).v)


def test_a_fourier_series_is_its_sum():
    s, c = np.random.default_rng(2).normal(size=(2, 2, 1))
    m = motion.fourier(ONE, [0.5], s, cosines=c, period=3.0)
    w, t = 2 * np.pi / 3.0, 0.7
    terms = [s[k, 0] * np.sin((k + 1) * w * t) + c[k, 0] * np.cos((k + 1) * w * t) for k in range(2)]
    assert m.at(t).q[0] == pytest.approx(0.5 + sum(terms), rel=1e-14)
    assert m.at(t).a[0] == pytest.approx(-sum((k + 1) ** 2 * w * w * x for k, x in enumerate(terms)), rel=1e-13)


REFUSED = [
    (
        lambda: motion.polynomial(ARM, np.zeros(7), np.ones(7), duration=-1.0),
        "`duration` must be finite and not negative",
    ),
    (
        lambda: motion.polynomial(ARM, np.zeros(7), np.ones(7), duration=0.0),
        "`duration` must be positive with q0 and q1",
    ),
    (lambda: motion.polynomial(ARM, np.zeros(7), np.ones(7), duration=1.0, degree=4), "`degree` must be 3"),
    (
        lambda: motion.polynomial(ARM, np.zeros(7), np.ones(7), duration=1.0, degree=3, a0=np.ones(7)),
        "`a0` cannot be chosen with degree 3: pass degree=5",
    ),
    (lambda: motion.polynomial(ARM, np.zeros(6), np.ones(7), duration=1.0), r"`q0` must have shape \(\.\.\., 7\)"),
    (lambda: motion.polynomial(ARM, np.zeros((2, 7)), np.ones((3, 7)), duration=1.0), "do not broadcast"),
    (lambda: motion.polynomial(BODY, np.zeros(7), np.zeros(7), duration=1.0), "length zero, which is no rotation"),
    (lambda: motion.trapezoidal(ARM, np.zeros(7), np.ones(7)), "`acceleration` is missing: the robot has no limits"),
    (lambda: motion.trapezoidal(ARM, np.zeros(7), np.ones(7), acceleration=-1.0), "`acceleration` must be positive"),
    (lambda: motion.s_curve(ARM, np.zeros(7), np.ones(7), acceleration=1.0), "`jerk` is missing"),
    (
        lambda: motion.s_curve(ARM, np.zeros(7), np.ones(7), acceleration=np.ones(3), jerk=1.0),
        "`acceleration` must be a number",
    ),
    (lambda: motion.spline(ARM, [0.0, 0.0], np.zeros((2, 7))), "`times` must increase from 0"),
    (lambda: motion.spline(ARM, [1.0, 2.0], np.zeros((2, 7))), "Pass `times - times"),
    (lambda: motion.spline(ARM, [0.0, 2.0], np.zeros((3, 7))), "`times` must have shape"),
    (lambda: motion.spline(ARM, [0.0, 2.0], np.zeros(7)), "`waypoints` must have shape"),
    (lambda: motion.spline(ARM, [0.0, 2.0], np.eye(2, 7), ends="periodic"), "must be the first again"),
    (lambda: motion.spline(ARM, [0.0, 2.0], np.eye(2, 7), ends="clampd"), "did you mean 'clamped'"),
    (lambda: motion.spline(ARM, [0.0, 2.0], np.eye(2, 7), ends="natural", v0=np.ones(7)), "`v0` belongs to ends="),
    (lambda: motion.fourier(ARM, np.zeros(7), np.zeros(7), period=1.0), "`sines` must have shape"),
    (lambda: motion.fourier(ARM, np.zeros(7), np.zeros((1, 7)), period=0.0), "`period` must be finite and positive"),
    (lambda: motion.scaled(motion.spline(ARM, [0.0], np.zeros((1, 7)))), "either `duration`, s, or `factor`"),
    (lambda: motion.scaled("fast", factor=2.0), "`motion` must be a motion"),
    (lambda: motion.in_sequence([]), "at least one"),
    (
        lambda: motion.scaled(motion.spline(ARM, [0.0], np.zeros((1, 7))), duration=1.0, law=lambda t: t),
        "`law` must return four numbers at a time",
    ),
    (lambda: motion.trapezoidal(ARM, np.zeros(7), np.ones(7), acceleration=np.inf), "`acceleration` must be finite"),
    (
        lambda: motion.s_curve(ARM, np.zeros(7), np.ones(7), acceleration=1.0, jerk=np.inf),
        "`jerk` must be finite: without a bound of jerk the motion is `trapezoidal`",
    ),
    (lambda: motion.fourier(ARM, np.zeros((2, 7)), np.zeros((3, 1, 7)), period=1.0), "do not broadcast"),
    (
        lambda: motion.smooth_pose([0.0, 1.0], np.tile(np.eye(4), (2, 2, 1, 1)), v0=np.zeros((3, 6))),
        "do not broadcast",
    ),
    (lambda: motion.spline(ARM, [0.0], np.zeros((1, 7))).at("noon"), "`t` must be one time"),
    (lambda: motion.spline(ARM, [0.0, 1.0], np.zeros((2, 7))).sample(1e-300), "pass a larger one"),
    (lambda: motion.spline(ARM, [0.0, 1.0], np.zeros((2, 7))).sample(times=["noon"]), "`times` must be finite times"),
    (lambda: torsor.Trajectory(ARM, [0.0, 1.0, 0.5], np.zeros((3, 7)), np.zeros((3, 7))), "0.5 s comes after 1 s"),
    (lambda: torsor.Trajectory(ARM, [], np.zeros((0, 7)), np.zeros((0, 7))), "one time or more"),
    (lambda: torsor.Trajectory(ARM, [0.0, np.nan], np.zeros((2, 7)), np.zeros((2, 7))), "time 1 is not"),
    (lambda: torsor.Trajectory(ARM, "now", np.zeros((2, 7)), np.zeros((2, 7))), "`time` must be an array of numbers"),
    (lambda: torsor.Trajectory(ARM, [0.0], np.zeros(7), np.zeros(7)), r"`q` must have shape \(\.\.\., 1, 7\)"),
    (
        lambda: torsor.Trajectory(ARM, [0.0], np.zeros((1, 7)), np.zeros((1, 7)), wrenches={"nose": np.zeros((1, 6))}),
        "has no frame 'nose'",
    ),
    (
        lambda: torsor.Trajectory(ARM, [0.0], np.zeros((1, 7)), np.zeros((1, 7)), work=motion.Work(*np.zeros((4, 3)))),
        r"`work.drives` must have shape \(1,\)",
    ),
    (lambda: motion.spline(ARM, [0.0], np.zeros((1, 7))).at(np.zeros((2, 2))), "`t` must be one time"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED, ids=lambda x: x if isinstance(x, str) else "")
def test_what_is_refused_says_what_to_pass(call, words):
    with pytest.raises(torsor.TorsorError, match=words):
        call()


def test_without_ruckig_it_says_what_to_type(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ruckig", None)
    with pytest.raises(torsor.MissingDependency, match=r"jerk_limited: .* pip install 'torsor\[ruckig\]'"):
        motion.jerk_limited(ARM, np.zeros(7), np.ones(7), acceleration=1.0, jerk=1.0)


def test_a_joint_of_several_numbers_goes_from_rest_to_rest_by_ruckig():
    pytest.importorskip("ruckig")
    q = torsor.random_configuration(BODY, seed=1)
    with pytest.raises(torsor.ArgumentError, match="a free joint moves along one screw"):
        motion.jerk_limited(BODY, q, q, acceleration=1.0, jerk=1.0, v0=np.ones(6))
