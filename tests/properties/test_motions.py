"""What must be true of every motion in time, on every kind of joint."""

from __future__ import annotations

import numpy as np
import pytest

import torsor
from torsor import motion

KINDS = ("revolute", "prismatic", "helical", "planar", "spherical", "free")
ROBOTS = {kind: torsor.robots.random_tree(2, seed=4, kinds=(kind,), serial=True) for kind in KINDS}
ROBOTS["followers"] = torsor.robots.random_tree(6, seed=3, kinds=("revolute", "prismatic", "helical"), mimic=True)
ROBOTS["all kinds"] = torsor.robots.random_tree(7, seed=11)
MAKERS = ("cubic", "quintic", "septic", "trapezoidal", "s_curve", "spline", "natural", "periodic", "fourier")
MAKERS += ("jerk_limited", "scaled", "law", "sequence")
TIMES = np.array([0.0, 0.4, 1.1, 1.5])
each_robot = pytest.mark.parametrize("kind", ROBOTS)


def points(robot, count, seed=0, batch=(), far=0.7):
    """Configurations (*batch, count, nq), each some way from the last."""
    rng = np.random.default_rng(seed)
    found = [torsor.random_configuration(robot, seed=seed, batch=batch)]
    for _ in range(count - 1):
        found.append(torsor.integrate(robot, found[-1], far * rng.uniform(-1.0, 1.0, (*batch, robot.nv))))
    return np.stack(found, axis=-2)


def made(name, robot, seed=0, batch=()):
    """A motion of a kind, not of a special case."""
    rng = np.random.default_rng(seed)
    q = points(robot, 4, seed, batch)
    q0, q1 = q[..., 0, :], q[..., 1, :]

    def rate():
        return rng.uniform(-0.5, 0.5, (*batch, robot.nv))

    bounds = {"acceleration": 3.0, "velocity": 0.8}
    match name:
        case "cubic":
            return motion.polynomial(robot, q0, q1, duration=1.5, degree=3, v0=rate(), v1=rate())
        case "quintic":
            return motion.polynomial(robot, q0, q1, duration=1.5, v0=rate(), v1=rate(), a0=rate(), a1=rate())
        case "septic":
            ends = {end: rate() for end in ("v0", "v1", "a0", "a1", "jerk0", "jerk1")}
            return motion.polynomial(robot, q0, q1, duration=1.5, degree=7, **ends)
        case "trapezoidal":
            return motion.trapezoidal(robot, q0, q1, **bounds)
        case "s_curve":
            return motion.s_curve(robot, q0, q1, jerk=20.0, **bounds)
        case "jerk_limited":
            pytest.importorskip("ruckig")
            return motion.jerk_limited(robot, q0, q1, jerk=20.0, **bounds)
        case "spline":
            return motion.spline(robot, TIMES, q, v0=rate(), v1=rate(), a1=rate())
        case "natural":
            return motion.spline(robot, TIMES, q, ends="natural")
        case "periodic":
            closed = np.concatenate([q[..., :-1, :], q[..., :1, :]], axis=-2)
            return motion.spline(robot, TIMES, closed, ends="periodic")
        case "fourier":
            sines, cosines = rng.uniform(-0.3, 0.3, (2, *batch, 3, robot.nv))
            return motion.fourier(robot, q0, sines, cosines=cosines, period=2.0)
        case "scaled":
            return motion.scaled(made("septic", robot, seed, batch), factor=1.3)
        case "law":
            return motion.scaled(made("spline", robot, seed, batch), duration=2.0, law="septic")
        case "sequence":
            first = made("spline", robot, seed, batch)
            ends = {end: rate() for end in ("v0", "v1", "a0", "a1")}
            return motion.in_sequence([first, motion.polynomial(robot, first.at(1.5).q, q0, duration=1.5, **ends)])
    raise AssertionError(name)


def differences(robot, f, t, h=1e-3):
    """v, a and jerk of a motion by central differences of fourth order, each of the quantity before it."""
    states = {k: f(t + k * h) for k in (-2, -1, 1, 2)}
    here = f(t).q
    q = {k: torsor.difference(robot, here, x.q) for k, x in states.items()}
    v, a = ({k: getattr(x, part) for k, x in states.items()} for part in ("v", "a"))
    return [(8.0 * (x[1] - x[-1]) - (x[2] - x[-2])) / (12.0 * h) for x in (q, v, a)]


def away_from_knots(m, count=5):
    """Times at which no piece ends nearby."""
    t = np.linspace(0.013, max(m.duration, 0.1) - 0.017, 60)
    corners = [0.4, 1.1, 1.5] if not hasattr(m, "segments") else np.unique(m.segments.knots)
    if isinstance(m, motion.ScaledMotion):
        fine = np.linspace(0.0, m.duration, 20001)
        corners = [np.interp(c, m.law(fine)[0], fine) for c in corners]
    clear = t[np.all(np.abs(t[:, None] - np.asarray(corners)) > 3e-3, axis=1)]
    return clear[np.linspace(0, len(clear) - 1, count).astype(int)]


@each_robot
@pytest.mark.parametrize("name", MAKERS)
def test_velocity_acceleration_and_jerk_are_derivatives(name, kind):
    robot = ROBOTS[kind]
    m = made(name, robot)
    t = away_from_knots(m)
    state, found = m.at(t), differences(robot, m.at, t)
    for want, got in zip(found, state[1:], strict=True):
        # the fourth derivative of the next quantity, times h⁴/30, and rounding over h
        np.testing.assert_allclose(got, want, atol=2e-7 * max(1.0, np.abs(want).max(), np.abs(state.jerk).max()))


@each_robot
@pytest.mark.parametrize("name", MAKERS)
def test_a_batch_is_its_members_and_times_are_each_time(name, kind):
    robot = ROBOTS[kind]
    m = made(name, robot, batch=(2, 3))
    t = np.array([-0.3, 0.0, 0.2, 0.9, m.duration, m.duration + 1.0])
    many = m.at(t)
    assert many.q.shape == (2, 3, 6, robot.nq)
    assert all(x.shape == (2, 3, 6, robot.nv) for x in many[1:])
    for k, one in enumerate(t):
        for x, y in zip(many, m.at(one), strict=True):
            np.testing.assert_allclose(x[..., k, :], y, rtol=1e-14, atol=1e-15 * max(1.0, np.abs(y).max()))


@pytest.mark.compiled
@pytest.mark.parametrize("name", MAKERS)
def test_a_traced_time_gives_the_same_numbers(name):
    robot = ROBOTS["all kinds"]
    m = made(name, robot)
    kernel = torsor.compile(lambda robot, t: m.at(t)._asdict(), robot, {"t": ()})
    t = np.concatenate([np.linspace(-0.5, m.duration + 0.5, 23), [0.0, m.duration]])
    found, want = kernel(t), m.at(t)
    for part in want._fields:
        x = getattr(want, part)
        np.testing.assert_allclose(found[part], x, rtol=0, atol=1e-12 * max(1.0, np.abs(x).max()), err_msg=part)


@each_robot
@pytest.mark.parametrize("name", [name for name in MAKERS if name not in ("periodic", "fourier")])
def test_outside_it_is_held_at_rest(name, kind):
    m = made(name, ROBOTS[kind])
    for outside, end in ((-0.2, 0.0), (m.duration + 0.2, m.duration)):
        state = m.at(outside)
        np.testing.assert_array_equal(state.q, m.at(end).q)
        assert not any(np.any(x) for x in state[1:])


@each_robot
@pytest.mark.parametrize("name", ["periodic", "fourier"])
def test_a_periodic_one_repeats_with_all_derivatives(name, kind):
    robot = ROBOTS[kind]
    m = made(name, robot)
    t = np.array([0.1, 0.7, 1.2])
    for later in (1, 5, -2):
        for x, y in zip(m.at(t), m.at(t + later * m.duration), strict=True):
            np.testing.assert_allclose(x, y, atol=1e-9 * max(1.0, np.abs(x).max()))
    before, after = m.at(m.duration * (1.0 - 1e-12)), m.at(0.0)
    for x, y in zip(before[1:3], after[1:3], strict=True):
        np.testing.assert_allclose(x, y, atol=1e-8)


@each_robot
@pytest.mark.parametrize("name", MAKERS)
def test_samples_are_the_motion_with_its_joint_forces(name, kind):
    robot = ROBOTS[kind]
    m = made(name, robot, batch=(2,))
    run = m.sample(dt=0.1)
    assert isinstance(run, torsor.Trajectory)
    state = m.at(run.time)
    np.testing.assert_array_equal(run.q, state.q)
    tau = torsor.inverse_dynamics(robot, state.q, state.v, state.a)
    np.testing.assert_allclose(run.tau, tau, rtol=1e-12, atol=1e-12 * np.abs(tau).max())
    assert m.check() or "beyond" in str(m.check())


def test_a_check_names_the_limit_that_is_broken():
    arm = torsor.robots.panda()
    m = motion.polynomial(arm, np.zeros(7), np.full(7, 1.0), duration=0.5)
    assert "panda_joint4: position 1 is beyond" in str(m.check())
    assert "velocity" in str(m.check())
    within = np.array([0.0, -0.4, 0.0, -1.9, 0.0, 1.6, 0.3])
    bounds = {"acceleration": 3.0, "jerk": 30.0}
    assert motion.s_curve(arm, within, within + 0.4, **bounds).check()


@each_robot
@pytest.mark.parametrize("degree", [3, 5, 7])
def test_a_polynomial_has_the_ends_it_was_given(degree, kind):
    robot = ROBOTS[kind]
    q0, q1 = np.moveaxis(points(robot, 2, far=1.5), -2, 0)
    rng = np.random.default_rng(2)
    names = ("v0", "v1", "a0", "a1", "jerk0", "jerk1")[: degree - 1]
    ends = {name: rng.normal(size=robot.nv) for name in names}
    m = motion.polynomial(robot, q0, q1, duration=0.8, degree=degree, **ends)
    for t, end, q in ((0.0, "0", q0), (0.8, "1", q1)):
        state = m.at(t)
        np.testing.assert_allclose(torsor.difference(robot, state.q, q), 0.0, atol=1e-13)
        for name, x in (("v", state.v), ("a", state.a), ("jerk", state.jerk)):
            if name + end in ends:
                np.testing.assert_allclose(x, ends[name + end], rtol=0, atol=1e-10)  # |jerk| of thousands on the way


@each_robot
@pytest.mark.parametrize("name", ["trapezoidal", "s_curve", "jerk_limited"])
def test_profiles_keep_their_bounds_reach_them_and_start_and_end_at_rest(name, kind):
    robot = ROBOTS[kind]
    q = points(robot, 2, far=2.0)
    bounds = {"velocity": np.linspace(0.6, 0.9, robot.nv), "acceleration": np.linspace(2.0, 3.0, robot.nv)}
    if name != "trapezoidal":
        bounds["jerk"] = np.linspace(15.0, 25.0, robot.nv)
    if name == "jerk_limited":
        pytest.importorskip("ruckig")
    m = getattr(motion, name)(robot, q[0], q[1], **bounds)
    state = m.at(np.linspace(0.0, m.duration, 2001))
    for part, bound in (("v", bounds["velocity"]), ("a", bounds["acceleration"]), ("jerk", bounds.get("jerk"))):
        if bound is not None:
            ratio = np.abs(getattr(state, part)) / bound
            assert ratio.max() <= 1.0 + 1e-9
            assert ratio.max() > 0.5
    for t, end in ((0.0, q[0]), (m.duration, q[1])):
        np.testing.assert_allclose(torsor.difference(robot, m.at(t).q, end), 0.0, atol=1e-12)
        np.testing.assert_allclose(m.at(t).v, 0.0, atol=1e-12)


@each_robot
@pytest.mark.parametrize("name", ["spline", "natural", "periodic"])
def test_splines_pass_their_waypoints_with_continuous_acceleration(name, kind):
    robot = ROBOTS[kind]
    q = points(robot, 4, far=1.2)
    if name == "periodic":
        q[-1] = q[0]
    m = motion.spline(robot, TIMES, q, ends="clamped" if name == "spline" else name)
    np.testing.assert_allclose(torsor.difference(robot, m.at(TIMES).q, q), 0.0, atol=1e-12)
    before, after = (m.segments.at(TIMES[1:-1] + shift) for shift in (-1e-12, 1e-12))
    states = [m.at(TIMES[1:-1] + shift) for shift in (-1e-12, 1e-12)]
    assert before.u.shape == after.u.shape
    for part in ("v", "a"):
        x, y = (getattr(state, part) for state in states)
        np.testing.assert_allclose(x, y, atol=1e-8 * max(1.0, np.abs(x).max()))
    if name == "natural":
        np.testing.assert_allclose(m.at(np.array([0.0, 1.5])).a, 0.0, atol=1e-11)
    if name == "spline":
        np.testing.assert_allclose(m.at(np.array([0.0, 1.5])).v, 0.0, atol=1e-12)


def test_a_spline_of_far_rotations_has_continuous_acceleration_too():
    """Newton's method need not end there; continuity does not depend on it."""
    robot = ROBOTS["spherical"]
    q = torsor.random_configuration(robot, seed=5, batch=(7,))
    times = np.array([0.0, 0.1, 1.1, 1.2, 2.0, 2.05, 3.0])
    m = motion.spline(robot, times, q)
    before, after = m.at(times[1:-1] - 1e-12), m.at(times[1:-1] + 1e-12)
    np.testing.assert_allclose(before.a, after.a, atol=1e-7 * np.abs(after.a).max())


def test_end_accelerations_of_a_spline_are_what_was_asked_for():
    robot = ROBOTS["all kinds"]
    q, rng = points(robot, 4), np.random.default_rng(1)
    ends = dict(zip(("v0", "v1", "a0", "a1"), rng.normal(size=(4, robot.nv)), strict=True))
    m = motion.spline(robot, TIMES, q, **ends)
    first, last = m.at(0.0), m.at(1.5)
    for got, want in ((first.v, "v0"), (last.v, "v1"), (first.a, "a0"), (last.a, "a1")):
        np.testing.assert_allclose(got, ends[want], atol=1e-11)


@pytest.mark.parametrize("name", ["sequence", "trajectory"])
def test_jax_traces_and_differentiates_a_motion_by_time(name):
    jax = pytest.importorskip("jax")
    robot = torsor.robots.random_tree(1, seed=4, kinds=("spherical",))
    m = made("spline", robot).sample(0.1) if name == "trajectory" else made(name, robot)
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        v, a = jax.jit(jax.jacfwd(lambda t: (m.at(t).v, m.at(t).a)))(0.73)
    state = m.at(0.73)
    np.testing.assert_allclose(v, state.a, atol=1e-9 * max(1.0, np.abs(state.a).max()))
    np.testing.assert_allclose(a, state.jerk, atol=1e-8 * max(1.0, np.abs(state.jerk).max()))
