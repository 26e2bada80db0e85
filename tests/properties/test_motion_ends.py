"""Motions at their ends, outside of them and at their seams; trajectories as motions; which limits are broken."""

from __future__ import annotations

import numpy as np
import pytest

import torsor
from torsor import motion

ARM = torsor.robots.panda()
START = np.array([0.0, -0.4, 0.0, -1.9, 0.0, 1.6, 0.3])
BODY = torsor.robots.random_tree(2, seed=5, kinds=("free", "spherical"))
EVERY = torsor.robots.random_tree(7, seed=11)
THIRD = motion.spline(ARM, [0.0, 0.3], [START, START + 0.3], ends="natural")  # moves with 1 rad/s at both ends


def wave(robot, count=41, start=0.0):
    """A trajectory with exact velocities and accelerations, of a Fourier series."""
    s, c = np.random.default_rng(3).uniform(-0.3, 0.3, (2, 2, robot.nv))
    series = motion.fourier(robot, torsor.random_configuration(robot, seed=1), s, cosines=c, period=2.0)
    times = np.linspace(0.0, 1.0, count)
    q, v, a, _ = series.at(times)
    return torsor.Trajectory(robot, times + start, q, v, a)


def test_rounding_of_times_does_not_stop_a_motion_that_moves_at_its_end():
    """0.1 · 3 is more than 0.3, where a motion is at rest."""
    np.testing.assert_allclose(THIRD.sample(0.1).v, 1.0, rtol=1e-12)
    assert THIRD.sample(0.1).time[-1] == 0.3
    later = motion.spline(ARM, [0.0, 0.1], [START + 0.3, START + 0.4], ends="natural")
    for parts in (
        (THIRD, later),
        (THIRD, later, motion.spline(ARM, [0.0, 0.2], [START + 0.4, START + 0.6], ends="natural")),
    ):
        joined = motion.in_sequence(parts)
        np.testing.assert_allclose(joined.at(joined.duration).v, 1.0, rtol=1e-12)
        np.testing.assert_allclose(joined.sample(0.05).v, 1.0, rtol=1e-12)
    for factor in np.linspace(0.3, 3.0, 50):
        fast = motion.scaled(THIRD, factor=factor)
        np.testing.assert_allclose(fast.at(fast.duration).v, factor, rtol=1e-12)
    for duration in np.linspace(0.1, 1.0, 20):  # the law ends at rest, but the jerk of a quintic law is not zero there
        slow = motion.scaled(THIRD, duration=duration, law="quintic")
        np.testing.assert_allclose(slow.at(duration).jerk, 0.3 * 60.0 / duration**3, rtol=1e-9)
    run = THIRD.sample(0.1)[1:]
    np.testing.assert_allclose(run.sample(0.1).v, 1.0, rtol=1e-12)


def test_periodic_motions_in_a_sequence_do_not_go_on_after_it():
    turn = motion.fourier(ARM, START, 0.1 * np.eye(2, 7), period=2.0)
    twice = motion.in_sequence([turn, turn])
    for outside in (-0.3, 4.3, 100.0):
        state = twice.at(outside)
        np.testing.assert_allclose(state.q, START, atol=1e-15)
        assert not any(np.any(x) for x in state[1:])
    np.testing.assert_allclose(twice.at(2.5).v, turn.at(0.5).v, atol=1e-15)


def test_a_sequence_does_not_jump():
    with pytest.raises(
        torsor.ArgumentError,
        match=r"motions\[1\] does not begin where motions\[0\] ends: panda_joint. would",
    ):
        motion.in_sequence([THIRD, THIRD])
    flipped = wave(BODY)
    q = np.array(flipped.q)
    for _, part in BODY.structure.quaternions:
        q[:, part] *= -1.0  # the same configurations
    other = torsor.Trajectory(BODY, flipped.time, q[::-1], -flipped.v[::-1], flipped.a[::-1])
    assert motion.in_sequence([flipped, other]).duration == 2.0


@pytest.mark.parametrize("robot", [ARM, BODY, EVERY], ids=["panda", "body", "every"])
def test_a_trajectory_is_a_motion_whose_derivatives_are_exact(robot):
    run, h = wave(robot), 1e-4
    t = np.array([0.11, 0.26, 0.512, 0.93])
    before, here, after = run.at(t - h), run.at(t), run.at(t + h)
    for got, want in (
        (here.v, torsor.difference(robot, before.q, after.q)),
        (here.a, after.v - before.v),
        (here.jerk, after.a - before.a),
    ):
        np.testing.assert_allclose(got, want / (2 * h), atol=1e-5 * max(1.0, np.abs(here.jerk).max()))


@pytest.mark.parametrize("start", [0.0, 0.7, -2.0])
def test_a_trajectory_is_its_samples_at_their_times_and_at_rest_outside(start):
    run = wave(EVERY, 21, start)
    found = run.at(run.time)
    for x, y in zip(found[:3], (run.q, run.v, run.a), strict=True):
        np.testing.assert_array_equal(x, y)
    for outside, k in ((start - 1e-9, 0), (start - 9.0, 0), (start + 1.0 + 1e-9, -1), (start + 9.0, -1)):
        for state in (run.at(outside), run.at(np.array([outside]))):
            np.testing.assert_array_equal(state.q.ravel(), run.q[k])
            assert not any(np.any(x) for x in state[1:])
    one = run[4:5]
    state = one.at(one.time[0])
    for x, y in zip(state[:3], (one.q, one.v, one.a), strict=True):
        np.testing.assert_array_equal(x, y[0])
    assert not np.any(one.at(one.time[0] + 1e-9).v)
    batch = torsor.Trajectory(EVERY, run.time, *(np.stack([x, x]) for x in (run.q, run.v, run.a)))
    np.testing.assert_array_equal(batch.at(run.time[3:5]).a, np.stack([run.a[3:5]] * 2))


@pytest.mark.compiled
@pytest.mark.parametrize("count", [1, 2, 21])
def test_a_trajectory_may_be_traced(count):
    run = wave(EVERY, 21, 0.5)[:count]
    kernel = torsor.compile(lambda robot, t: run.at(t)._asdict(), EVERY, {"t": ()})
    t = np.concatenate([run.time, np.linspace(0.3, 1.8, 17)])
    found, want = kernel(t), run.at(t)
    for part in want._fields:
        x = getattr(want, part)
        np.testing.assert_allclose(found[part], x, rtol=0, atol=1e-9 * max(1.0, np.abs(x).max()), err_msg=part)


def test_one_of_too_many_samples_says_how_to_trace_it():
    run = wave(torsor.robots.pendulum(), 1001)
    with pytest.raises(torsor.ArgumentError, match=r"1001 samples is too long to be traced.*run\[::3\]"):
        torsor.compile(lambda robot, t: {"q": run.at(t).q}, run.robot, {"t": ()})


def test_a_part_of_a_trajectory_in_other_motions_begins_with_its_first_sample():
    part = wave(ARM)[20:]
    fast = motion.scaled(part, factor=2.0)
    for t in (0.0, 0.1, 0.25):
        np.testing.assert_allclose(fast.at(t).q, part.at(0.5 + 2.0 * t).q, atol=1e-14)
        np.testing.assert_allclose(fast.at(t).v, 2.0 * part.at(0.5 + 2.0 * t).v, atol=1e-14)
    back = motion.polynomial(ARM, part.q[-1], START, duration=1.0)
    joined = motion.in_sequence([part, back])
    np.testing.assert_array_equal(joined.at(0.0).q, part.q[0])
    np.testing.assert_allclose(joined.at(0.2).a, part.at(0.7).a, atol=1e-12)
    np.testing.assert_allclose(joined.at(1.5).q, START, atol=1e-14)


def test_wrenches_stay_when_a_trajectory_is_sampled_again():
    run = wave(ARM, 11)
    frame, wrench = ARM.frames[-1], np.random.default_rng(0).normal(size=(11, 6))
    pushed = torsor.Trajectory(ARM, run.time, run.q, run.v, run.a, wrenches={frame: wrench})
    again = pushed.sample(times=run.time)
    np.testing.assert_allclose(again.tau, pushed.tau, atol=1e-12)
    assert np.abs(pushed.tau - run.tau).max() > 0.1
    between = pushed.sample(times=[-1.0, 0.05, 0.15, 2.0])
    np.testing.assert_array_equal(between.wrenches[frame], [0 * wrench[0], wrench[0], wrench[1], 0 * wrench[0]])


@pytest.mark.parametrize(
    ("name", "smooth", "jumps"), [("trapezoidal", 2, "a"), ("s_curve", 3, "jerk"), ("jerk_limited", 3, "jerk")]
)
def test_profiles_are_as_smooth_at_their_seams_as_documented_and_no_smoother(name, smooth, jumps):
    if name == "jerk_limited":
        pytest.importorskip("ruckig")
    bounds = {"velocity": 0.7, "acceleration": 2.0} | ({} if name == "trapezoidal" else {"jerk": 15.0})
    q0 = torsor.random_configuration(EVERY, seed=3)
    m = getattr(motion, name)(EVERY, q0, torsor.integrate(EVERY, q0, np.linspace(-1.0, 1.0, EVERY.nv)), **bounds)
    inner = np.unique(m.knots)[1:-1]
    inner = inner[(inner > 1e-6) & (inner < m.duration - 1e-6)]
    before, after = m.at(inner - 1e-10), m.at(inner + 1e-10)
    np.testing.assert_allclose(torsor.difference(EVERY, before.q, after.q), 0.0, atol=1e-8)
    for x, y in zip(before[1:smooth], after[1:smooth], strict=True):
        np.testing.assert_allclose(x, y, atol=1e-7)
    assert np.abs(getattr(before, jumps) - getattr(after, jumps)).max() > 0.1


@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_half_a_turn_is_not_too_far(kind):
    """Where the short way is none: one of the two is taken, and derivatives stay exact."""
    robot = torsor.robots.random_tree(1, seed=1, kinds=(kind,))
    q0 = robot.neutral
    turn = np.zeros(robot.nv)
    turn[0] = np.pi
    q1, h = torsor.integrate(robot, q0, turn), 1e-4
    ends = {"v0": np.ones(robot.nv), "v1": -np.ones(robot.nv)}
    for m in (
        motion.polynomial(robot, q0, q1, duration=1.0, **ends),
        motion.trapezoidal(robot, q0, q1, acceleration=20.0),
        motion.spline(robot, [0.0, 1.0, 2.0], [q0, q1, q0], ends="periodic"),
        motion.spline(robot, [0.0, 0.3, 1.0], [q0, q0, q1]),  # two waypoints at one place
    ):
        t = m.duration * np.array([0.2, 0.77, 0.95])
        moved = torsor.difference(robot, m.at(t - h).q, m.at(t + h).q) / (2 * h)
        np.testing.assert_allclose(m.at(t).v, moved, atol=1e-5 * max(1.0, np.abs(m.at(t).jerk).max()))
        last = q0 if m.periodic else q1
        np.testing.assert_allclose(torsor.difference(robot, m.at(m.duration).q, last), 0.0, atol=1e-12)


# Limits


def test_a_check_names_joint_limit_time_and_by_how_much():
    robot = ARM.with_limits(velocity=0.9)
    fast = motion.polynomial(robot, START, START + np.eye(7)[2] * 3.2, duration=2.0)
    found = fast.check()
    assert not found
    position, velocity = found.broken
    assert (position.joint, position.limit, position.which) == ("panda_joint3", "position", ())
    assert position.bound == pytest.approx(2.8973) and position.value == pytest.approx(3.2)
    assert position.excess == pytest.approx(3.2 - 2.8973) and position.time == 2.0
    assert fast.at(position.first).q[2] == pytest.approx(2.8973, abs=0.01)
    assert (velocity.joint, velocity.limit, velocity.time) == ("panda_joint3", "velocity", 1.0)
    assert velocity.value == pytest.approx(3.2 * 15.0 / 8.0 / 2.0)  # the peak of the quintic from rest to rest
    assert str(velocity) == (f"panda_joint3: velocity 3 is beyond 0.9 by 2.1 at 1 s, first at {velocity.first:.4g} s.")
    assert str(found).startswith(
        "The motion breaks limits of robot 'panda':\n  panda_joint3: position 3.2 is beyond 2.8973"
    )
    assert motion.polynomial(ARM, START, START + 0.1, duration=2.0).check(ARM)


def test_a_check_of_efforts_takes_the_robot_that_is_given():
    weak = ARM.with_limits(effort=1e-3)
    still = motion.spline(ARM, [0.0], START[None])
    assert still.check() and still.sample(0.1).check()
    for found in (still.check(weak), still.sample(0.1).check(weak), still.sample(0.1).check(robot=weak)):
        assert {limit.limit for limit in found.broken} == {"effort"}
        (second,) = [limit for limit in found.broken if limit.joint == "panda_joint2"]
        assert second.value == pytest.approx(torsor.gravity_forces(ARM, START)[1])
    assert still.check(ARM.with_limits(effort=0.0))  # zero is no limit, as everywhere
    with pytest.raises(torsor.ArgumentError, match="has other joints"):
        still.check(torsor.robots.ur5())
    with pytest.raises(torsor.ArgumentTypeError, match=r"`robot` must be a torsor\.Robot"):
        still.check("panda")


def test_what_is_no_number_keeps_no_limit():
    run = motion.polynomial(ARM, START, START + 0.1, duration=1.0).sample(0.25)
    q = np.array(run.q)
    q[2:, 3] = np.nan
    found = torsor.Trajectory(ARM, run.time, q, run.v, run.a, run.tau).check()
    assert not found
    assert str(found.broken[0]) == "panda_joint4: position is not a number from 0.5 s."


def test_a_check_of_a_batch_says_which():
    ends = START + 4.0 * np.array([[0.0], [1.0], [0.5]]) * np.eye(7)[0]
    found = motion.polynomial(ARM, np.tile(START, (3, 1)), ends, duration=4.0).check()
    assert [limit.which for limit in found.broken] == [(1,)]
    assert str(found.broken[0]).startswith("motion 1: panda_joint1: position 4 ")
    assert motion.polynomial(ARM, np.zeros((0, 7)), np.zeros((0, 7)), duration=1.0).check()


def test_a_short_excursion_at_a_knot_is_seen():
    """Of a spline with many waypoints, at every one of which it is looked at."""
    count = 3001
    q = np.zeros((count, 1))
    q[1501] = 0.2
    pole = torsor.robots.pendulum().with_limits((-0.1, 0.1))
    assert not motion.spline(pole, np.linspace(0.0, 30.0, count), q).check()


# Joined


def test_events_notes_and_works_of_joined_trajectories_keep_their_meaning():
    pole = torsor.robots.pendulum()
    event = torsor.simulation.Event(lambda t, q, v: (q[0] + 0.1) * (q[0] + 2.0), name="passing")
    one = torsor.simulate(pole, [0.0], [1.0], duration=0.5, dt=0.01, events=[event])
    other = torsor.simulate(pole, one.q[-1], one.v[-1], duration=0.5, dt=0.01, events=[event])
    both = motion.concatenate([one, other, other[-1:]])
    whole = torsor.simulate(pole, [0.0], [1.0], duration=1.0, dt=0.01, events=[event])
    np.testing.assert_allclose(both.q, whole.q, atol=1e-12)
    for x, y in zip(both.work, whole.work, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-12)
    assert len(whole.events) == 2
    np.testing.assert_allclose([e.time for e in both.events], [e.time for e in whole.events], atol=1e-9)
    np.testing.assert_allclose([e.time for e in both[60:].events], [whole.events[1].time], atol=1e-9)
    stopped = torsor.Trajectory(pole, other.time, other.q, other.v, other.a, notes=("hinge at its stop from 0.1 s.",))
    assert motion.concatenate([one, stopped]).notes[-1] == "hinge at its stop from 0.1 s. (Times from 0.5 s on.)"
