"""`with_parameters` refuses screws that their joints cannot have, and what is no pose; what only looks so passes."""

import numpy as np
import pytest

import torsor
from torsor import lie

ARM = torsor.robots.planar2r()
SCREWS = np.array(ARM.parameters.screws)
TREE = torsor.robots.random_tree(6, seed=55, armature=True, friction=True, fixed=True)
KIND = {kind: i for i, kind in enumerate(TREE.structure.kinds)}
REBUILD = r"built anew: torsor\.Joint\(\.\.\., kind='helical', screw=\.\.\.\)"


def refused(**changes):
    with pytest.raises(torsor.ModelError) as caught:
        (TREE if len(next(iter(changes.values()))) == TREE.n else ARM).with_parameters(**changes)
    return str(caught.value)


def changed(i, values):
    screws = np.array(TREE.parameters.screws)
    screws[i] = values
    return screws


def test_a_screw_of_another_length():
    text = refused(screws=2 * SCREWS)
    assert text.startswith("with_parameters: screws[0] = (0, 0, 2, 0, 0, 0) is no unit screw of joint 'joint_1'")
    assert "which is revolute: |ω| of its first three numbers must be 1, and is 2." in text
    assert "torsor.Joint(..., kind='helical', screw=...)" in text


def test_an_axis_that_is_no_unit_vector():
    screws = SCREWS.copy()
    screws[1, :3] = [0, 1, 1]
    assert "|ω| of its first three numbers must be 1, and is 1.41421356" in refused(screws=screws)


def test_a_pitch_on_a_revolute_joint():
    screws = SCREWS.copy()
    screws[1, 3:] += 0.1 * screws[1, :3]
    text = refused(screws=screws)
    assert "ω·v must be 0, and is 0.1 m per rad. Take it out, v − (ω·v) ω, or make the joint helical." in text


def test_a_prismatic_joint_slides():
    i = KIND["prismatic"]
    S = TREE.parameters.screws[i]
    assert "it slides and does not turn, so that the first three numbers must be 0" in refused(
        screws=changed(i, [1e-6, 0, 0, *S[3:]])
    )
    assert "|v| must be 1, and is 0.5." in refused(screws=changed(i, 0.5 * S))


def test_a_helical_joint_turns_at_unit_rate_and_may_have_any_pitch():
    i = KIND["helical"]
    S = TREE.parameters.screws[i]
    assert "|ω| of its first three numbers must be 1, and is 3" in refused(screws=changed(i, 3 * S))
    without = S - np.concatenate([np.zeros(3), (S[:3] @ S[3:]) * S[:3]])
    assert TREE.with_parameters(screws=changed(i, without)).structure.kinds[i] == "helical"


@pytest.mark.parametrize("kind", ["planar", "spherical", "free"])
def test_joints_with_several_freedoms_have_no_screw(kind):
    text = refused(screws=changed(KIND[kind], [0, 0, 1.0, 0, 0, 0]))
    assert f"which is {kind}: it has none, and the row must be zero; turn its pose instead." in text


def test_what_is_no_pose():
    assert "poses[0], of joint 'joint_1': bottom row must be (0, 0, 0, 1)" in refused(poses=2 * ARM.parameters.poses)
    sheared = np.array(TREE.parameters.poses)
    sheared[1, 0, 0] += 0.1
    assert f"poses[1], of joint {TREE.joints[1]!r}: its 3×3 block is not a rotation" in refused(poses=sheared)
    frames = np.array(ARM.parameters.frame_poses)
    frames[0, :3, :3] *= -1.0
    with pytest.raises(torsor.ModelError, match=r"frame_poses\[0\], of frame 'tip': its 3×3 block is a reflection"):
        ARM.with_parameters(frame_poses=frames)


def test_what_is_a_screw_but_for_rounding_passes_as_it_is():
    rng = np.random.default_rng(0)
    for _ in range(20):
        T = lie.se3.exp(rng.normal(size=(TREE.n, 6)) * 10.0 ** rng.uniform(-3, 3))
        there = lie.transform_twist(T, TREE.parameters.screws)
        back = lie.transform_twist_inverse(T, there)
        for screws in (there, back):
            assert np.array_equal(TREE.with_parameters(screws=screws).parameters.screws, screws)
        assert np.array_equal(TREE.with_parameters(poses=T).parameters.poses, T)


def test_units_of_length_make_no_difference():
    for metres in (1e-9, 1e-3, 1e9):
        p = TREE.parameters
        poses, frames, screws = (np.array(x) for x in (p.poses, p.frame_poses, p.screws))
        poses[:, :3, 3] *= metres
        frames[:, :3, 3] *= metres
        turning = [i for i, kind in enumerate(TREE.structure.kinds) if kind in ("revolute", "helical")]
        screws[turning, 3:] *= metres
        small = TREE.with_parameters(poses=poses, frame_poses=frames, screws=screws)
        screws[KIND["revolute"], 3:] += 1e-4 * metres * screws[KIND["revolute"], :3]
        with pytest.raises(torsor.ModelError, match="it has no pitch"):
            small.with_parameters(screws=screws)


def test_the_other_groups_are_not_held_to_it():
    """A robot that a tree map has filled with anything can still be given other masses."""
    odd = torsor.Robot(ARM.structure, ARM.parameters._replace(screws=2 * SCREWS))
    assert odd.with_parameters(gravity=np.zeros(3)).gravity.tolist() == [0, 0, 0]


def test_single_precision_is_precise_enough():
    """What comes from float32 is off by its rounding, and belongs to the same mechanism; ten times that does not."""
    for group in ("screws", "poses", "frame_poses"):
        numbers = np.asarray(getattr(TREE.parameters, group), np.float32)
        given = getattr(TREE.with_parameters(**{group: numbers}).parameters, group)
        assert given.dtype == np.float64 and np.array_equal(given, numbers)
        with pytest.raises(torsor.ModelError):
            TREE.with_parameters(**{group: numbers * np.float32(1 + 2e-6)})
        with pytest.raises(torsor.ModelError):  # the same numbers, said to be doubles
            TREE.with_parameters(**{group: numbers.astype(float)})


@pytest.mark.parametrize("pitch", [None, [0.1, 0.2], np.nan, np.inf])
def test_a_pitch_is_one_finite_number(pitch):
    with pytest.raises(torsor.ModelError, match=r"joint 'a': `pitch` must be one finite number, m per rad, got "):
        torsor.assemble([torsor.Joint(name="a", kind="helical", axis=(0, 0, 1), pitch=pitch)])
