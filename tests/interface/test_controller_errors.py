"""What controllers refuse, and that they say what to pass instead: gains, targets, postures, limits."""

import numpy as np
import pytest

import torsor
from torsor import control as controllers

ARM = torsor.robots.panda()
N, HAND = ARM.nv, "hand_tcp"
Q, V, _ = torsor.random_state(ARM, seed=0)
with torsor.backend("numpy"):
    GOAL = torsor.frame_pose(ARM, Q, HAND)
PARAMETERS = torsor.identification.inertial_parameters(ARM)


def call(name, q=Q, **gains):
    """A controller at rest where it should be, with some of its gains."""
    v, point = np.zeros_like(q), (q, np.zeros_like(q), np.zeros_like(q))
    if name == "pd_gravity":
        return controllers.pd_gravity(ARM, q, v, q, **{"kp": 1.0, "kd": 1.0, **gains})
    if name == "computed_torque":
        return controllers.computed_torque(ARM, q, v, *point, **{"kp": 1.0, "kd": 1.0, **gains})
    if name == "passivity_based":
        return controllers.passivity_based(ARM, q, v, *point, **{"rate": 1.0, "kd": 1.0, **gains})
    if name == "adaptive":
        gains = {"rate": 1.0, "kd": 1.0, "adaptation": 1.0, **gains}
        return controllers.adaptive(ARM, q, v, *point, PARAMETERS, **gains).tau
    options = {"kp": 1.0, "kd": 1.0, **gains}
    target = torsor.frame_pose(ARM, q, HAND)
    return controllers.operational_space(ARM, q, v, HAND, options.pop("target", target), **options)


SIZES = {
    ("pd_gravity", "kp"): N,
    ("pd_gravity", "kd"): N,
    ("computed_torque", "kp"): N,
    ("passivity_based", "rate"): N,
    ("adaptive", "kd"): N,
    ("adaptive", "adaptation"): 10 * N,
    ("operational_space", "kp"): 6,
    ("operational_space", "posture_kd"): N,
}
each_gain = pytest.mark.parametrize(("name", "gain"), SIZES)


@each_gain
def test_a_matrix_of_gains_is_refused_and_a_batch_of_them_needs_a_batch_of_states(name, gain):
    size = SIZES[name, gain]
    words = rf"{name}: `{gain}` must be a number or have shape \({size},\), one for each of .*, got shape \({size}, {size}\)"
    with pytest.raises(torsor.ShapeError, match=rf"{words}.*np\.diag\(K\)"):
        call(name, **{gain: np.diag(np.full(size, 2.0))})
    states = np.tile(Q, (size, 1))
    assert call(name, states, **{gain: np.full((size, size), 2.0)}).shape == (size, N)
    with pytest.raises(torsor.ShapeError, match=rf"or have shape \(3, {size}\), for each state of the batch"):
        call(name, states[:3], **{gain: np.ones((2, 1))})
    with pytest.raises(torsor.ShapeError, match=r"got shape \(5, 1\)\. .* repeat the state"):
        call(name, **{gain: np.ones((5, 1))})


def test_a_matrix_of_gains_is_refused_when_a_kernel_is_made_too():
    with pytest.raises(torsor.ShapeError, match=r"`kp` must be .* got shape \(7, 7\)\. .*np\.diag"):
        torsor.compile(controllers.pd_gravity, ARM, {"q": 7, "v": 7, "q_ref": 7, "kp": (7, 7)}, kd=1.0)


@each_gain
@pytest.mark.parametrize(("wrong", "words"), [(-1.0, "-1.0"), (np.nan, "nan"), (np.inf, "inf")])
def test_gains_that_are_negative_or_no_numbers_are_refused_by_name(name, gain, wrong, words):
    size, many = SIZES[name, gain], np.ones(SIZES[name, gain])
    many[1] = wrong
    labels = {N: ARM.structure.freedoms, 10 * N: torsor.identification.inertial_parameter_names(ARM), 6: ("wx", "wy")}[
        size
    ]
    with pytest.raises(torsor.TorsorError, match=f"{name}: `{gain}` must be finite and not negative, got {words}"):
        call(name, **{gain: wrong})
    with pytest.raises(torsor.TorsorError) as found:
        call(name, **{gain: many})
    assert str(found.value).endswith(f"got {words} for {labels[1]}.")
    with pytest.raises(torsor.TorsorError) as found:
        call(name, np.tile(Q, (20, 1)), **{gain: np.where(np.arange(20)[:, None] == 3, many, 1.0)})
    assert str(found.value).endswith(f"for {labels[1]} in state 3.")


@each_gain
def test_gains_of_the_wrong_size_or_kind_are_refused(name, gain):
    size = SIZES[name, gain]
    with pytest.raises(torsor.ShapeError, match=rf"{name}: `{gain}` must be a number or have shape \({size},\)"):
        call(name, **{gain: np.ones(size - 1)})
    with pytest.raises(torsor.ShapeError, match=f"{name}: `{gain}` must be a number or {size} numbers, got 'stiff'"):
        call(name, **{gain: "stiff"})


def test_gains_of_all_accepted_forms_give_the_same():
    states, kp = np.tile(Q, (3, 1)), np.full(N, 4.0)
    point = states + 0.1
    expected = controllers.pd_gravity(ARM, states, 0 * states, point, kp, 2.0)
    for same in (4, np.float64(4.0), [4.0] * N, [4.0], np.full((3, 1), 4.0), np.full((3, N), 4.0)):
        np.testing.assert_array_equal(controllers.pd_gravity(ARM, states, 0 * states, point, same, 2), expected)


@pytest.mark.parametrize("limit", ["small", None, np.array([1e-3]), -1e-3, np.nan, np.inf, True])
def test_a_limit_is_a_plain_number_that_is_not_negative(limit):
    with pytest.raises(
        torsor.TorsorError, match=r"operational_space: `limit` must be a plain number, positive or 0\.0"
    ):
        call("operational_space", limit=limit)


@pytest.mark.parametrize("farthest", ["far", np.array([1.0]), -1.0, 0.0, np.nan, True])
def test_how_far_joints_may_be_is_a_plain_positive_number(farthest):
    with pytest.raises(torsor.TorsorError, match="operational_space: `farthest` must be a plain positive number"):
        call("operational_space", farthest=farthest)


def test_a_limit_is_no_input_of_a_kernel():
    inputs = {"q": 7, "v": 7, "target": (4, 4), "limit": ()}
    with pytest.raises(torsor.TorsorError, match="operational_space: `limit` must be a plain number"):
        torsor.compile(controllers.operational_space, ARM, inputs, task=HAND, kp=1.0, kd=1.0)


def test_a_robot_whose_numbers_are_inputs_needs_scales_or_no_limit():
    arm, (q, v) = torsor.robots.planar2r(), np.array([[0.3, 0.8], [0.1, 0.2]])
    plane, target = torsor.position_task(arm.frames[-1], ["vx", "vy"]), np.array([0.5, 0.5, 0.0])
    shapes, fixed = {"q": 2, "v": 2, "target": 3}, {"task": plane, "kp": 4.0, "kd": 2.0}

    def kernel(**options):
        made = torsor.compile(controllers.operational_space, arm, shapes, parameters=("inertias",), **fixed, **options)
        return made(q=q, v=v, target=target, inertias=arm.parameters.inertias)

    with pytest.raises(torsor.TorsorError, match=r"being traced or differentiated: pass `scales`, .* or limit=0\.0"):
        kernel()
    expected = controllers.operational_space(arm, q, v, target=target, **fixed)
    np.testing.assert_allclose(kernel(scales=[1.0, 1.0]), expected, rtol=1e-9)
    np.testing.assert_allclose(kernel(limit=0.0), expected, rtol=1e-9)


def test_a_posture_goes_with_its_gain():
    with pytest.raises(torsor.TorsorError, match="`posture_kp` pulls to a posture: pass it too, as `posture`"):
        call("operational_space", posture_kp=1.0)
    with pytest.raises(torsor.TorsorError, match="nothing pulls to `posture`: pass its gain too, as `posture_kp`"):
        call("operational_space", posture=Q, posture_kd=1.0)
    assert np.isfinite(call("operational_space", posture=Q, posture_kp=0.0)).all()


REFLECTED = GOAL * np.array([1.0, 1.0, -1.0, 1.0])
WRONG = {
    "moved by a sum": (GOAL + 0.1, r"bottom row must be \(0, 0, 0, 1\), got \[0.1, 0.1, 0.1, 1.1\]"),
    "with a scaled block": (np.diag([1.01, 1.01, 1.01, 1.0]) @ GOAL, "not a rotation: R Rᵀ differs from 1 by up to"),
    "a reflection": (REFLECTED, "is a reflection"),
    "with a NaN": (GOAL + np.diag([0.0, 0.0, np.nan, 0.0]), "NaN or infinite"),
    "with a NaN for a place": (GOAL + np.array([[0, 0, 0, np.nan]] * 3 + [[0] * 4]), "NaN or infinite"),
}


@pytest.mark.parametrize("which", WRONG)
def test_a_target_that_is_no_pose_is_refused_alone_and_in_a_batch(which):
    target, words = WRONG[which]
    with pytest.raises(torsor.TorsorError, match=f"operational_space: `target` of task 'hand_tcp': .*{words}"):
        call("operational_space", target=target)
    with pytest.raises(torsor.TorsorError, match=f"`target` of task 'hand_tcp' in state 1: .*{words}"):
        call("operational_space", np.tile(Q, (2, 1)), target=np.stack([GOAL, target]))


def test_a_target_that_is_no_rotation_is_refused_and_one_in_single_precision_is_not():
    turn = torsor.orientation_task(HAND)
    with pytest.raises(torsor.TorsorError, match="not a rotation"):
        controllers.operational_space(ARM, Q, V, turn, GOAL[:3, :3] + 0.1, 1.0, 1.0)
    rounded = controllers.operational_space(ARM, Q, V, turn, GOAL[:3, :3].astype(np.float32), 1.0, 1.0)
    np.testing.assert_allclose(
        rounded, controllers.operational_space(ARM, Q, V, turn, GOAL[:3, :3], 1.0, 1.0), atol=1e-5
    )


def test_a_target_of_the_wrong_shape_or_kind_is_refused():
    words = r"operational_space: `target` of task 'hand_tcp' is a pose with shape \(\.\.\., 4, 4\), got \(3,\)"
    with pytest.raises(torsor.ShapeError, match=words):
        call("operational_space", target=np.zeros(3))
    with pytest.raises(
        torsor.ShapeError, match=r"`target` of task 'hand_tcp' is a pose with shape \(\.\.\., 4, 4\), got 'there'"
    ):
        call("operational_space", target="there")
    both = torsor.stack_tasks(torsor.position_task(HAND), torsor.orientation_task(HAND))
    with pytest.raises(torsor.ShapeError, match="must be a tuple of 2, one for each of its parts"):
        controllers.operational_space(ARM, Q, V, both, GOAL, 1.0, 1.0)


def test_arguments_are_checked_under_the_name_of_the_controller():
    with pytest.raises(torsor.TorsorError, match=r"pd_gravity: the first argument must be a torsor\.Robot"):
        controllers.pd_gravity("panda", Q, V, Q, 1.0, 1.0)
    with pytest.raises(torsor.ShapeError, match=r"pd_gravity: `v` must have shape \(\.\.\., 7\)"):
        controllers.pd_gravity(ARM, Q, V[:6], Q, 1.0, 1.0)
    with pytest.raises(torsor.ShapeError, match="computed_torque: the batch axes of the arguments do not broadcast"):
        controllers.computed_torque(ARM, np.zeros((2, 7)), np.zeros((3, 7)), Q, V, V, 1.0, 1.0)
    with pytest.raises(torsor.ArgumentTypeError, match=r"pd_gravity: `kd` is missing. It is pd_gravity\(robot, q, v,"):
        controllers.pd_gravity(ARM, Q, V, Q, 1.0)
    with pytest.raises(torsor.ShapeError, match=r"operational_space: `posture` must have shape \(\.\.\., 7\)"):
        call("operational_space", posture=Q[:3], posture_kp=1.0)
    with pytest.raises(
        torsor.ShapeError, match=r"operational_space: `velocity` must have shape \(\.\.\., 6\) for task"
    ):
        call("operational_space", velocity=np.zeros(3))
    with pytest.raises(torsor.ShapeError, match=r"operational_space: .* do not broadcast: .*`target` \(3,\)"):
        call("operational_space", np.tile(Q, (2, 1)), target=np.stack([GOAL] * 3))
