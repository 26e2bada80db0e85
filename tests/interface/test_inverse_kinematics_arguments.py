"""What inverse kinematics accepts, and how it refuses the rest."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import torsor
from torsor.tasks._inverse_kinematics.search import reach_of
from torsor.tasks.targets import nearest_rotation

EYE = np.eye(4)
ARM = torsor.robots.panda()


def poses(count: int) -> np.ndarray:
    return torsor.frame_pose(ARM, torsor.random_configuration(ARM, seed=5, batch=(count,)), "hand_tcp")


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["pose", "position", "orientation"])
def test_single_precision_targets_are_accepted(kind):
    """The nearest rotation is meant, and errors are to that one."""
    T = poses(200)
    targets = {"pose": T, "position": T[:, :3, 3], "orientation": T[:, :3, :3]}[kind].astype(np.float32)
    make = {"pose": torsor.pose_task, "position": torsor.position_task, "orientation": torsor.orientation_task}[kind]
    found = torsor.inverse_kinematics(ARM, make("hand_tcp"), targets)
    assert found, found
    now = torsor.frame_pose(ARM, found.q, "hand_tcp")
    if kind != "orientation":
        assert np.abs(now[:, :3, 3] - T.astype(np.float32)[:, :3, 3]).max() < 1.01e-8
    if kind != "position":
        U, _, V = np.linalg.svd(targets[:, :3, :3].astype(float))
        turn = torsor.lie.so3.log(np.swapaxes(now[:, :3, :3], -1, -2) @ (U @ V))
        assert np.linalg.norm(turn, axis=-1).max() < 1.01e-8
    assert torsor.inverse_kinematics(ARM, make("hand_tcp"), targets[0])


@pytest.mark.compiled
def test_arrays_of_jax_in_its_usual_precision(jax_in_singles):
    T = jax_in_singles.numpy.asarray(poses(5))
    assert T.dtype == np.float32
    assert torsor.inverse_kinematics(ARM, "hand_tcp", T, start=jax_in_singles.numpy.asarray(ARM.neutral))


@pytest.mark.compiled
def test_one_rough_target_among_exact_ones_changes_no_other():
    T = poses(3)
    rough = np.array(T)
    rough[1, :3, :3] *= 1.0 + 2e-7
    one, two = (torsor.inverse_kinematics(ARM, "hand_tcp", x) for x in (T, rough))
    assert np.array_equal(one.q[[0, 2]], two.q[[0, 2]])
    assert two
    rough[1, :3, :3] = T[1, :3, :3] * (1.0 + 1e-6)
    with pytest.raises(torsor.ModelError, match=r"target \[1\].*not a rotation: R Rᵀ differs from 1 by up to 2e-06"):
        torsor.inverse_kinematics(ARM, "hand_tcp", rough)


def test_the_nearest_rotation_is_the_polar_factor():
    rng = np.random.default_rng(0)
    rough = poses(50)[:, :3, :3] + 2e-7 * rng.uniform(-1, 1, size=(50, 3, 3))
    U, _, V = np.linalg.svd(rough)
    assert np.abs(nearest_rotation(rough) - U @ V).max() < 2e-14  # rounding of the singular vectors


@pytest.mark.parametrize(
    "options, kind, words",
    [
        ({"targets": "abc"}, torsor.ShapeError, r"'hand_tcp' is a pose with shape \(\.\.\., 4, 4\), got 'abc'"),
        ({"targets": [[1.0, 2.0], [3.0]]}, torsor.ShapeError, "is a pose"),
        ({"targets": None}, torsor.ShapeError, "is a pose"),
        ({"targets": EYE + 0j}, torsor.ShapeError, "is a pose"),
        ({"targets": 3.0}, torsor.ShapeError, r"is a pose with shape \(\.\.\., 4, 4\), got \(\)"),
        (
            {"start": "abc"},
            torsor.ShapeError,
            r"`start` must be an array of numbers with shape \(\.\.\., 7\), got 'abc'",
        ),
        ({"start": [[0.0] * 7, [0.0] * 6]}, torsor.ShapeError, "`start` must be an array of numbers"),
        ({"start": np.zeros(7, complex)}, torsor.ShapeError, "`start` must be an array of numbers"),
        ({"start": 1.0}, torsor.ShapeError, r"`start` must have shape \(\.\.\., 7\)"),
        ({"seed": "a"}, torsor.TorsorError, r"`seed` must be a whole number of at least 0 or a numpy.*, got 'a'"),
        ({"seed": -1}, torsor.TorsorError, "`seed` must be .*, got -1"),
        ({"seed": 1.5}, torsor.TorsorError, "`seed`"),
        ({"tolerance": np.nan}, torsor.TorsorError, "tolerance"),
        ({"tolerance": "small"}, torsor.TorsorError, "tolerance"),
        ({"starts": 1.5}, torsor.TorsorError, "starts"),
        ({"task": 5}, torsor.TorsorError, "`task` must be a task or the name of a frame, got int"),
        ({"task": ["hand_tcp"]}, torsor.TorsorError, "`task` must be a task or the name of a frame"),
    ],
)
def test_what_is_no_answer_to_the_question_is_refused_in_words(options, kind, words):
    arguments = {"task": "hand_tcp", "targets": EYE} | options
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(kind, match=words):
            torsor.inverse_kinematics(ARM, **arguments)


@pytest.mark.compiled
def test_seeds_and_numbers_of_numpy():
    T = poses(3)
    for seed in (np.int64(3), np.random.default_rng(3), 3):
        assert torsor.inverse_kinematics(ARM, "hand_tcp", T, seed=seed, starts=np.int32(51), tolerance=np.float32(1e-7))


def test_a_joint_that_follows_by_nothing_has_a_reach():
    slide = torsor.Joint(name="slide", kind="prismatic", axis=[1, 0, 0])
    follower = torsor.Joint(
        name="stays", kind="prismatic", parent="slide_link", axis=[0, 1, 0], mimic=torsor.Mimic("slide", 0.0, 0.25)
    )
    robot = torsor.assemble([slide, follower], name="follower")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reach = reach_of(robot, "stays_link", True)
    assert reach.radius == np.inf
    assert reach.size == 1.25
