"""Smoothed logs: what passes, what does not, and how exact the derivatives are, on every joint kind."""

import numpy as np
import pytest

import torsor
from torsor.motion import from_samples
from torsor.motion.sample_windows import Measured, SampleWindows, Sampling

ARM = torsor.robots.pendulum()
EVERY = torsor.robots.random_tree(5, seed=3, kinds=("free", "spherical", "planar", "revolute", "prismatic"))


def sine(frequency, *, dt=0.002, seconds=6.0):
    time = dt * np.arange(round(seconds / dt) + 1)
    return time, np.sin(2 * np.pi * frequency * time)[:, None]


def on_the_manifold(robot, time):
    """A smooth motion q ⊕ u(t) with u(t) = s sin t + c t², and its exact velocity, by differences of order eight."""
    q0 = torsor.random_configuration(robot, seed=4)
    rng = np.random.default_rng(5)
    s, c = rng.normal(size=(2, robot.nv)) * 0.4
    return torsor.integrate(robot, q0, np.outer(np.sin(time), s) + np.outer(time**2, 0.1 * c))


@pytest.mark.parametrize("frequency", [1.0, 5.0, 10.0, 15.0])
@pytest.mark.parametrize("derivative", [0, 1, 2, 3])
def test_the_transfer_function_is_what_sines_show(frequency, derivative):
    time, q = sine(frequency)
    log = from_samples(time, q, robot=ARM, cutoff=10.0)
    run = log.trajectory
    found = (run.q, run.v, run.a, log.jerk)[derivative][:, 0]
    omega = 2 * np.pi * frequency
    wave = omega**derivative * np.sin(omega * time + 0.5 * np.pi * derivative)
    middle = slice(200, -200)  # further than a half width, 0.13 s, from the ends
    # Sums of some hundred samples, with weights that grow by 1/H for each derivative: eleven digits of the third.
    expected = log.gain(frequency, derivative) * wave[middle]
    np.testing.assert_allclose(found[middle], expected, atol=1e-10 * (1.0 / log.half_width + omega) ** derivative)


def test_half_the_amplitude_passes_at_the_cutoff():
    time, q = sine(1.0)
    log = from_samples(time, q, robot=ARM, cutoff=10.0)
    assert abs(log.gain(10.0) - 0.5) < 1e-3  # the constant is that of many samples, here 130
    assert log.gain(0.0) == 1.0 and np.all(np.abs(log.gain(np.linspace(25.0, 120.0, 50))) < 0.06)


def test_a_motion_of_fifth_degree_passes_unchanged_also_at_uneven_times_and_at_the_ends():
    rng = np.random.default_rng(0)
    time = np.sort(rng.uniform(0.0, 2.0, 600))
    p = np.polynomial.Polynomial([0.3, -1.0, 0.5, 0.7, -0.4, 0.1])
    log = from_samples(time, p(time)[:, None], robot=ARM, cutoff=5.0)
    run = log.trajectory
    for k, found in enumerate((run.q, run.v, run.a, log.jerk)):
        exact = p.deriv(k)(time) if k else p(time)
        # One-sided windows lose digits with each derivative, by 1/H ≈ 4/s and a condition number of 1e4.
        np.testing.assert_allclose(found[:, 0], exact, atol=1e-11 * 40.0**k)


@pytest.mark.parametrize("uneven", [False, True])
def test_velocities_on_every_joint_kind_are_those_of_the_motion(uneven):
    time = np.linspace(0.0, 3.0, 1501)
    if uneven:
        time = time + 0.0005 * np.sin(7.0 * time)
    q = on_the_manifold(EVERY, time)
    step = 1e-4
    later, earlier = on_the_manifold(EVERY, time + step), on_the_manifold(EVERY, time - step)
    v = torsor.difference(EVERY, earlier, later) / (2 * step)
    run = from_samples(time, q, robot=EVERY, cutoff=5.0).trajectory
    # The difference is of second order, 1e-8 of accelerations of a few units; the fit of sixth, (ω H)⁶ / 6! in the middle.
    middle = slice(150, -150)
    assert np.max(np.abs(torsor.difference(EVERY, q, run.q)[middle])) < 1e-6
    forward = torsor.difference(EVERY, q, later) / step
    assert np.max(np.abs(v - forward)) < 1e-2  # the two differences agree: the reference is sound
    assert np.max(np.abs(run.v[middle] - v[middle])) < 1e-4


def test_noise_is_left_as_stated():
    rng = np.random.default_rng(1)
    time = 0.001 * np.arange(40_001)
    log = from_samples(time, 1e-3 * rng.normal(size=(4, len(time), 1)), robot=ARM, cutoff=20.0)
    run = log.trajectory
    found = [np.std(x[..., 200:-200, 0]) for x in (run.q, run.v, run.a, log.jerk)]
    np.testing.assert_allclose(found, 1e-3 * log.noise, rtol=0.05)  # some 160 000 values, in windows of 130
    short = from_samples(time[:200], 1e-3 * rng.normal(size=(2000, 200, 1)), robot=ARM, cutoff=20.0)
    ends = [np.std(x[:, 0, 0]) for x in (short.trajectory.q, short.trajectory.v, short.trajectory.a, short.jerk)]
    np.testing.assert_allclose(ends, 1e-3 * short.noise_at_ends, rtol=0.08)  # 2000 values: 1.6 % is one deviation


def test_between_the_samples_noise_is_left_as_stated_too():
    """Not what a polynomial through q, v and a of neighbouring samples makes of it: thousands of times as much jerk."""
    rng = np.random.default_rng(2)
    time = 0.001 * np.arange(2001)
    log = from_samples(time, 1e-3 * rng.normal(size=(30, len(time), 1)), robot=ARM, cutoff=20.0)
    state = log.at(np.linspace(0.2037, 1.8, 101))
    np.testing.assert_allclose([np.std(x) for x in state], 1e-3 * log.noise, rtol=0.1)  # 3000 values, in windows of 130


@pytest.mark.parametrize("derivative", [0, 1, 2, 3])
def test_between_the_samples_the_transfer_function_is_the_same(derivative):
    time, q = sine(8.0)
    log = from_samples(time, q, robot=ARM, cutoff=10.0)
    omega, t = 2 * np.pi * 8.0, np.linspace(1.0003, 4.0, 300)
    wave = omega**derivative * np.sin(omega * t + 0.5 * np.pi * derivative)
    # Between samples the weights are others; 130 samples in a window leave 1e-5 of that
    np.testing.assert_allclose(
        log.at(t)[derivative][:, 0], log.gain(8.0, derivative) * wave, atol=1e-4 * omega**derivative
    )


def test_a_smoothed_log_is_its_samples_at_their_times_on_every_joint_kind():
    time = np.sort(np.random.default_rng(3).uniform(0.0, 2.0, 300))
    log = from_samples(time, on_the_manifold(EVERY, time), robot=EVERY, cutoff=6.0)
    run = log.trajectory
    found = log.at(run.time)
    np.testing.assert_allclose(torsor.difference(EVERY, run.q, found.q), 0.0, atol=1e-12)
    for x, y, digits in zip(found[1:], (run.v, run.a, log.jerk), (1e-10, 1e-9, 1e-7), strict=True):
        np.testing.assert_allclose(x, y, atol=digits)
    step, t = 1e-4, np.linspace(0.5, 1.5, 7)
    before, here, after = log.at(t - step), log.at(t), log.at(t + step)
    np.testing.assert_allclose(torsor.difference(EVERY, before.q, after.q) / (2 * step), here.v, atol=1e-5)
    for outside, k in ((-1.0, 0), (log.duration + 1e-9, -1)):
        state = log.at(outside)
        np.testing.assert_allclose(torsor.difference(EVERY, state.q, run.q[k]), 0.0, atol=1e-12)
        assert not any(np.any(x) for x in state[1:])
    with pytest.raises(torsor.ArgumentError, match=r"a smoothed log cannot be traced.*motion\.spline"):
        torsor.compile(lambda robot, t: {"q": log.at(t).q}, EVERY, {"t": ()})


def test_no_window_between_samples_is_too_small():
    """A gap of nearly half a window: at its middle there are samples enough, or the log is refused."""
    H = from_samples(*sine(1.0, dt=0.01), robot=ARM, cutoff=8.0).half_width
    p = np.polynomial.Polynomial([0.3, -1.0, 0.5, 0.7, -0.4, 0.1])
    time = np.concatenate([np.arange(0.0, 1.0, 0.02), 0.98 + 0.97 * H + np.arange(0.0, 1.0, 0.02)])
    log = from_samples(time, p(time)[:, None], robot=ARM, cutoff=8.0)
    t = np.linspace(0.0, log.duration, 500)
    np.testing.assert_allclose(log.at(t).q[:, 0], p(t), atol=1e-9)
    np.testing.assert_allclose(log.at(t).a[:, 0], p.deriv(2)(t), atol=1e-5)


def test_whole_turns_and_signs_of_quaternions_do_not_matter():
    wheel = torsor.assemble(
        [
            torsor.Joint(
                name="wheel",
                kind="continuous",
                axis=(0, 0, 1),
                parent="base",
                inertia=torsor.Inertia.sphere(0.1, mass=1.0),
            )
        ]
    )
    time = np.linspace(0.0, 4.0, 2001)
    angle = (5.0 * time)[:, None]
    log = from_samples(time, (angle + np.pi) % (2 * np.pi) - np.pi, robot=wheel, cutoff=10.0)
    np.testing.assert_allclose(log.trajectory.v, 5.0, atol=1e-8)
    q = on_the_manifold(EVERY, time[:1000])
    flipped = q.copy()
    for _, part in EVERY.structure.quaternions:
        flipped[1::3, part] *= -1.0
    one, other = (from_samples(time[:1000], x, robot=EVERY, cutoff=10.0).trajectory for x in (q, flipped))
    np.testing.assert_allclose(other.q, one.q, atol=1e-12)
    np.testing.assert_allclose(other.v, one.v, atol=1e-9)


def test_a_batch_is_each_log_alone_and_the_log_is_a_motion():
    time = 100.0 + 0.01 * np.arange(200)
    q = np.stack([np.sin(time), np.cos(2 * time)])[..., None]
    both = from_samples(time, q, robot=ARM, cutoff=8.0)
    for k in range(2):
        alone = from_samples(time, q[k], robot=ARM, cutoff=8.0)
        np.testing.assert_allclose(both.trajectory.a[k], alone.trajectory.a, atol=1e-12)
    assert both.start == 100.0 and both.trajectory.time[0] == 0.0
    assert isinstance(both, torsor.motion.Motion) and abs(both.duration - 1.99) < 1e-12
    np.testing.assert_allclose(both.at(0.5).q, both.trajectory.q[:, 50], atol=1e-12)
    assert "\n" not in repr(both) and "passes" in str(both)


def test_what_cannot_be_smoothed_is_refused_in_words():
    time, q = sine(1.0, dt=0.01)
    holes = q.copy()
    holes[5] = np.nan
    doubled = time.copy()
    doubled[7] = doubled[6]
    gap = np.where(time > 2.0, time + 1.0, time)
    for given, words in (
        ((time, holes), "1 of 601 samples are not"),
        ((doubled, q), "sample 7"),
        ((gap, q), "gap of 1.01 s"),
        ((time[:5], q[:5]), "pass a longer log"),
        ((time[:-1], q), "shape"),
    ):
        with pytest.raises(torsor.ArgumentError, match=words):
            from_samples(*given, robot=ARM, cutoff=10.0)
    with pytest.raises(torsor.ArgumentError, match="Hz or less"):
        from_samples(time, q, robot=ARM, cutoff=45.0)
    with pytest.raises(torsor.ArgumentError, match="cutoff"):
        from_samples(time, q, robot=ARM, cutoff=-1.0)


# Logs in pieces


@pytest.mark.parametrize("robot", [ARM, EVERY], ids=lambda robot: robot.name)
@pytest.mark.parametrize("jitter", [0.0, 1e-9, 0.2])
@pytest.mark.parametrize("piece", [7, 150, 399])
def test_a_log_in_pieces_gives_the_numbers_of_the_whole(robot, jitter, piece):
    """Whatever the pieces: even times, times that are even but for rounding, and others; angles that jump by whole turns."""
    rng = np.random.default_rng(5)
    time = 5.0 + 1e-3 * (np.arange(400) + jitter * rng.uniform(-1.0, 1.0, 400))
    u = np.stack([k * np.sin(3.0 * time + k) + 40.0 * time * (k == 0) for k in range(robot.nv)], axis=-1)
    q = torsor.integrate(robot, np.broadcast_to(robot.neutral, (400, robot.nq)), u) + 1e-4 * rng.normal(
        size=(400, robot.nq)
    )
    whole = from_samples(time, q, robot=robot, cutoff=40.0)
    sampling = Sampling(40.0)
    for k in range(0, 400, piece):
        sampling.add(time[k : k + piece])
    sampling.refuse_unfit()
    windows = SampleWindows(robot, sampling)
    parts = [windows.add(time[k : k + piece], q[k : k + piece]) for k in range(0, 400, piece)]
    got = [np.concatenate(part) for part in zip(*parts, strict=True)]
    run = whole.trajectory
    for mine, theirs in zip(got, (time, run.q, run.v, run.a, whole.jerk, -whole.residual), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=1e-12 * max(1.0, np.abs(theirs).max()))


def test_velocities_that_are_measured_are_smoothed_and_differentiated_once():
    time = 1e-2 * np.arange(200)
    robot = torsor.robots.planar2r()
    q = np.stack([np.sin(time), np.cos(2.0 * time)], axis=-1)
    v, a = np.cos(time)[:, None], (-4.0 * np.cos(2.0 * time))[:, None]
    sampling = Sampling(5.0)
    sampling.add(time)
    got = SampleWindows(robot, sampling, Measured(v=(0,), a=(1,))).add(
        time, q, 2.0 * v, 3.0 * a
    )  # as if q were not there
    plain = from_samples(time, q, robot=robot, cutoff=5.0).trajectory
    np.testing.assert_allclose(got.v, np.stack([2.0 * v[:, 0], plain.v[:, 1]], axis=-1), atol=1e-4)
    np.testing.assert_allclose(got.a, np.stack([-2.0 * np.sin(time), 3.0 * a[:, 0]], axis=-1), atol=1e-3)
    np.testing.assert_array_equal(got.q, plain.q)
