"""What must be true of motions of a pose."""

from __future__ import annotations

import numpy as np
import pytest

import torsor
from torsor import lie, motion

TIMES = np.array([0.0, 0.7, 1.0, 2.0])


def poses(count, seed=0, batch=(), far=1.0):
    rng = np.random.default_rng(seed)
    found = [lie.se3.exp(rng.normal(size=(*batch, 6)))]
    for _ in range(count - 1):
        found.append(found[-1] @ lie.se3.exp(far * rng.uniform(-1.0, 1.0, (*batch, 6))))
    return np.stack(found, axis=-3)


def made(name, batch=()):
    T = poses(4, batch=batch)
    if name == "screw":
        return motion.screw(T[..., 0, :, :], T[..., 1, :, :], duration=1.5)
    if name == "periodic":
        T[..., -1, :, :] = T[..., 0, :, :]
    return motion.smooth_pose(TIMES, T, ends=name)


each = pytest.mark.parametrize("name", ["screw", "clamped", "natural", "periodic"])


@each
def test_twist_acceleration_and_jerk_are_derivatives(name):
    m, t, h = made(name), np.array([0.2, 0.5, 0.85, 1.4]), 1e-4
    before, here, after = m.at(t - h), m.at(t), m.at(t + h)
    moved = lie.se3.log(lie.se3.inverse(before.pose) @ after.pose) / (2 * h)
    np.testing.assert_allclose(here.twist, moved, atol=1e-5)
    np.testing.assert_allclose(here.acceleration, (after.twist - before.twist) / (2 * h), atol=1e-5)
    np.testing.assert_allclose(here.jerk, (after.acceleration - before.acceleration) / (2 * h), atol=1e-4)


@each
def test_a_batch_is_its_members_and_a_traced_time_gives_the_same(name):
    m = made(name, batch=(3,))
    t = np.array([-0.1, 0.0, 0.4, 1.9, 2.5])
    many = m.at(t)
    assert many.pose.shape == (3, 5, 4, 4)
    assert many.twist.shape == (3, 5, 6)
    for k in range(5):
        for x, y in zip(many, m.at(t[k]), strict=True):
            np.testing.assert_array_equal(np.moveaxis(x, 1, 0)[k], y)


@pytest.mark.compiled
@each
def test_a_traced_time_gives_the_same_numbers(name):
    m = made(name)
    kernel = torsor.compile(lambda robot, t: m.at(t)._asdict(), torsor.robots.pendulum(), {"t": ()})
    t = np.linspace(-0.3, 2.3, 21)
    found, want = kernel(t), m.at(t)
    for part in want._fields:
        np.testing.assert_allclose(found[part], getattr(want, part), rtol=0, atol=1e-11)


def test_a_screw_is_the_exponential():
    T0, T1 = poses(2, seed=3)
    m = motion.screw(T0, T1, duration=2.0, law="linear")
    S = lie.se3.log(lie.se3.inverse(T0) @ T1)
    for s in (0.0, 0.3, 1.0):
        state = m.at(2.0 * s)
        np.testing.assert_allclose(state.pose, T0 @ lie.se3.exp(s * S), atol=1e-14)
        np.testing.assert_allclose(state.twist, S / 2.0, atol=1e-14)
        np.testing.assert_allclose(state.acceleration, 0.0, atol=1e-13)
    for law, order in (("cubic", 1), ("quintic", 2), ("septic", 3)):
        rest = motion.screw(T0, T1, duration=2.0, law=law)
        for t, T in ((0.0, T0), (2.0, T1)):
            state = rest.at(t)
            np.testing.assert_allclose(state.pose, T, atol=1e-13)
            for x in state[1 : 1 + order]:
                np.testing.assert_allclose(x, 0.0, atol=1e-11)


def test_it_passes_all_poses_and_does_not_depend_on_the_fixed_frame():
    T, (G,) = poses(4), poses(1, seed=9)
    m, moved = motion.smooth_pose(TIMES, T), motion.smooth_pose(TIMES, G @ T)
    np.testing.assert_allclose(m.at(TIMES).pose, T, atol=1e-13)
    t = np.linspace(0.0, 2.0, 9)
    np.testing.assert_allclose(moved.at(t).pose, G @ m.at(t).pose, atol=1e-11)
    np.testing.assert_allclose(moved.at(t).acceleration, m.at(t).acceleration, atol=1e-10)


def test_a_free_joint_moves_as_the_pose_does():
    body = torsor.robots.random_tree(1, seed=5, kinds=("free",))
    q = np.stack([torsor.random_configuration(body, seed=k) for k in range(4)])
    joint = motion.spline(body, TIMES, q)
    T = np.zeros((4, 4, 4))
    T[:, :3, :3], T[:, :3, 3], T[:, 3, 3] = lie.quaternion.to_rotation(q[:, 3:]), q[:, :3], 1.0
    pose = motion.smooth_pose(TIMES, T)
    t = np.linspace(0.0, 2.0, 9)
    np.testing.assert_allclose(joint.at(t).q[:, :3], pose.at(t).pose[:, :3, 3], atol=1e-10)
    np.testing.assert_allclose(joint.at(t).a, pose.at(t).acceleration, atol=1e-8)


def test_samples_end_at_the_end():
    m = made("clamped")
    samples = m.sample(0.3)
    np.testing.assert_allclose(samples.time, [0.0, 0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 2.0])
    np.testing.assert_array_equal(samples.pose, m.at(samples.time).pose)
    assert m.sample(times=[0.1]).twist.shape == (1, 6)
    with pytest.raises(torsor.ArgumentError, match="give `dt`"):
        m.sample()


def test_corners():
    T = poses(1)
    assert motion.smooth_pose([0.0], T).duration == 0.0
    np.testing.assert_array_equal(motion.smooth_pose([0.0], T).at(3.0).pose, T[0])
    still = motion.screw(T[0], T[0], duration=0.0)
    np.testing.assert_allclose(still.at(0.0).pose, T[0], atol=1e-15)
    with pytest.raises(torsor.ArgumentError, match="`duration`"):
        motion.screw(*poses(2), duration=0.0)
    with pytest.raises(torsor.ModelError, match="must be a pose"):
        motion.screw(np.ones((4, 4)), T[0], duration=1.0)
    with pytest.raises(torsor.ArgumentError, match="must be the first again"):
        motion.smooth_pose([0.0, 1.0], poses(2), ends="periodic")
