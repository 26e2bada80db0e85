"""Self-motions, curves, closed paths and their reports as users meet them: what they measure, say and refuse."""

import pickle

import numpy as np
import pytest

import torsor
from torsor.redundancy import circle

pytestmark = pytest.mark.compiled
PANDA, PANDA_Q = torsor.robots.panda(), np.array([0.3, -0.4, 0.2, -2.1, 0.1, 1.9, 0.6])
ARM = torsor.robots.planar_chain([1.0, 1.0, 1.0], [1.0, 0.8, 0.5])  # in the plane of x and y
XY = torsor.position_task("tip", ["vx", "vy"])


def reaching(distance):
    """A configuration of ARM with its tip that far from the base, on a regular part of the self-motion."""
    theta = 0.3 if distance < 2.5 else 0.0
    elbow = np.array([np.cos(theta), np.sin(theta)])
    to_tip = np.array([distance, 0.0]) - elbow
    far = np.hypot(*to_tip)
    bend = np.arccos(far / 2)
    second = np.arctan2(to_tip[1], to_tip[0]) + bend
    return np.array([theta, second - theta, -2 * bend])


def test_the_arm_is_where_it_was_put():
    for distance in (0.5, 1.7):
        p = torsor.frame_pose(ARM, reaching(distance), "tip")[:3, 3]
        np.testing.assert_allclose(np.sort(np.abs(p)), [0.0, 0.0, distance], atol=1e-12)


@pytest.mark.parametrize(("distance", "pieces"), [(1.7, 1), (0.5, 2)])
def test_the_pieces_of_a_four_bar_linkage_are_counted(distance, pieces):
    """With the base it is a four-bar linkage of sides 1, 1, 1, r: two components if and only if r < 1 (Grashof)."""
    found = torsor.redundancy.self_motion_components(ARM, reaching(distance), tip_task(), starts=20)
    assert len(found) == pieces
    assert found.found.sum() == found.starts
    assert str(pieces) in str(found)


def tip_task():
    """The two directions in which the tip moves."""
    J = torsor.position_task("tip").jacobian(ARM, np.array([0.1, 0.2, 0.3]))
    return torsor.position_task("tip", [int(row) for row in np.flatnonzero(np.abs(J).max(axis=1) > 1e-9)])


def test_a_closed_self_motion_is_traced_once_round():
    motion = torsor.redundancy.self_motion(ARM, reaching(1.7), tip_task())
    assert motion.closed
    assert motion.dimension == 1
    tips = torsor.frame_pose(ARM, motion.q, "tip")[:, :3, 3]
    np.testing.assert_allclose(tips, np.broadcast_to(tips[0], tips.shape), atol=1e-8)
    assert motion.task_error < 1e-8
    gap = motion.q[-1] - motion.q[0]
    np.testing.assert_allclose(gap, 2 * np.pi * motion.turns, atol=1e-6)
    # Evenly spaced, and as long as the samples say.
    steps = np.linalg.norm(np.diff(motion.q, axis=0), axis=-1)
    np.testing.assert_allclose(steps[:-1], 0.05, rtol=2e-3)
    # In joint coordinates its length is of the kind of the spacing, in rad; in the inertia metric it is not.
    assert motion.joint_unit == "rad"
    np.testing.assert_allclose(motion.joint_length, steps.sum(), rtol=1e-12)
    assert f"m·√kg ({float(motion.joint_length):.4g} rad in joint coordinates)" in str(motion)
    assert motion.length == pytest.approx(torsor.motion.path_length(ARM, motion.q), rel=1e-3)
    assert "closed curve" in str(motion)


def test_a_self_motion_can_turn_joints_all_the_way():
    """Of the two pieces for a near goal the first link turns all round, one way or the other (the crank)."""
    motion = torsor.redundancy.self_motion(ARM, reaching(0.5), tip_task())
    assert motion.closed
    assert np.abs(motion.turns).max() == 1
    assert "whole turns" in str(motion)


def test_the_hand_of_the_panda_stays_while_its_elbow_goes_round():
    motion = torsor.redundancy.self_motion(PANDA, PANDA_Q, "hand_tcp", spacing=0.1)
    assert motion.closed
    poses = torsor.frame_pose(PANDA, motion.q, "hand_tcp")
    np.testing.assert_allclose(poses, np.broadcast_to(poses[0], poses.shape), atol=1e-8)


def test_limits_end_a_self_motion_where_they_are():
    motion = torsor.redundancy.self_motion(PANDA, PANDA_Q, "hand_tcp", within_limits=True)
    assert not motion.closed
    lower, upper = (np.array(bound) for bound in PANDA.limits[:2])
    room = np.minimum(motion.q - lower, upper - motion.q).min(axis=-1)
    assert room[[0, -1]] == pytest.approx(0.0, abs=1e-9)
    assert room[1:-1].min() > 0
    np.testing.assert_array_equal(motion.q[motion.start], PANDA_Q)
    assert all("limit of 'panda_joint" in end for end in motion.ends)
    with pytest.raises(torsor.TorsorError, match="outside the limits"):
        torsor.redundancy.self_motion(PANDA, PANDA_Q + 4.0 * np.eye(7)[3], "hand_tcp", within_limits=True)


def test_distances_in_joint_coordinates_name_the_units_of_all_joints():
    mixed = torsor.robots.random_tree(4, seed=2, kinds=("revolute", "prismatic"), serial=True)
    q = torsor.random_configuration(mixed, seed=1)
    motion = torsor.redundancy.self_motion(mixed, q, torsor.position_task(mixed.frames[-1]), longest=1.0)
    assert motion.joint_unit == "rad and m"
    assert motion.joint_length.shape == motion.length.shape


def test_self_motions_of_more_dimensions_are_sampled():
    task = torsor.position_task("hand_tcp")
    motion = torsor.redundancy.self_motion(PANDA, PANDA_Q, task, flows=5)
    assert motion.dimension == 4
    assert motion.q.shape == (5, 21, 7)
    assert motion.length.shape == (5,)
    assert motion.task_error < 1e-8
    assert np.linalg.matrix_rank(motion.q[:, -1] - PANDA_Q, tol=1e-3) >= 4
    assert "4 dimensions" in str(motion)


def test_a_loop_of_poses_closes():
    """Screw motions between poses, the last back to the first."""
    moves = np.array([np.zeros(6), [0, 0, 0.1, 0.05, 0, 0], [0.1, 0, 0.1, 0.05, 0.05, 0]])
    poses = torsor.frame_pose(PANDA, PANDA_Q, "hand_tcp") @ torsor.lie.se3.exp(moves)
    found = torsor.redundancy.closed_path_drift(PANDA, PANDA_Q, "hand_tcp", poses, rounds=2, lift="pseudoinverse")
    assert found.task_error.max() < 1e-9
    assert found.per_round > 1e-4
    ratio = found.length[2] / found.length[1]
    assert 1.5 < ratio < 2.5
    again = torsor.redundancy.closed_path_drift(
        PANDA, PANDA_Q, "hand_tcp", poses, rounds=2, lift="pseudoinverse", feedback=5.0
    )
    np.testing.assert_allclose(again.q, found.q, atol=1e-7)


@pytest.mark.parametrize("kind", ["position", "pose", "orientation", "function"])
def test_feedback_makes_good_what_a_wrong_lift_loses(kind):
    """A lift that is a tenth too slow ends a tenth too early; with feedback g it lags behind by ẏ (1/0.9 − 1)/g."""
    task = {
        "position": torsor.position_task("hand_tcp"),
        "pose": torsor.pose_task("hand_tcp"),
        "orientation": torsor.orientation_task("hand_tcp"),
        "function": torsor.function_task(lambda robot, q: torsor.frame_pose(robot, q, "hand_tcp")[:2, 3], 2),
    }[kind]
    way = np.zeros((2, task.size))
    way[1, -1] = 0.1

    def slow(robot, q):
        return 0.9 * torsor.redundancy.pseudoinverse_lift(robot, q, task)

    open_loop, closed_loop = (
        torsor.redundancy.lift_curve(PANDA, PANDA_Q, task, way, lift=slow, samples=5, feedback=gain).task_change
        for gain in (0.0, 30.0)
    )
    np.testing.assert_allclose(open_loop, 0.9 * way[1], atol=1e-8)
    np.testing.assert_allclose(way[1, -1] - closed_loop[-1], 0.1 * (1 / 0.9 - 1) / 30.0, rtol=0.05)


def test_a_lift_of_ones_own_is_followed():
    """The extended Jacobian: it holds the first joint, and is repeatable by construction."""
    task = tip_task()

    def holding_the_first_joint(robot, q):
        return np.linalg.inv(np.vstack([task.jacobian(robot, q), [1.0, 0.0, 0.0]]))[:, :2]

    q = reaching(1.7)
    found = torsor.redundancy.closed_path_drift(
        ARM, q, task, circle(task, 0.05), rounds=3, lift=holding_the_first_joint
    )
    assert np.abs(found.drift).max() < 1e-8
    assert np.abs(found.predicted).max() < 1e-8  # differentiated by differences: np.linalg.inv cannot be traced
    assert "holding_the_first_joint" in str(found)
    metric = np.diag([1.0, 2.0, 3.0])
    weighted = torsor.redundancy.closed_path_drift(ARM, q, task, circle(task, 0.01), rounds=1, lift=metric)
    np.testing.assert_allclose(weighted.drift[1], weighted.predicted, atol=0.3 * np.abs(weighted.predicted).max())


def test_curves_stop_at_singular_configurations_with_what_is_lost():
    with pytest.raises(torsor.TorsorError, match=r"cannot go on after t = 0\.2.*lost"):
        torsor.redundancy.lift_curve(PANDA, PANDA_Q, torsor.position_task("hand_tcp"), [[0, 0, 0], [2.0, 0, 0]])


def test_legs_of_a_curve_follow_each_other():
    task = tip_task()
    lifted = torsor.redundancy.lift_curve(ARM, reaching(1.7), task, [[0, 0], [0.1, 0], [0.1, 0.2]], samples=11)
    assert lifted.t.shape == (21,)
    assert np.all(np.diff(lifted.t) > 0)
    np.testing.assert_allclose(lifted.task_change, [0.1, 0.2], atol=1e-9)
    assert np.abs(np.diff(lifted.q, axis=0)).max() < 0.1
    assert "2 legs" in str(lifted)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: torsor.redundancy.vertical_brackets(ARM, np.zeros(3), XY, lift="inertial"),
            "'inertia', 'pseudoinverse'",
        ),
        (lambda: torsor.redundancy.vertical_brackets(ARM, np.zeros(3), XY, lift=np.eye(2)), r"\(3, 3\), got \(2, 2\)"),
        (lambda: torsor.redundancy.self_motion(ARM, np.zeros((2, 3)), XY), "one start"),
        (
            lambda: torsor.redundancy.self_motion(ARM, np.zeros(3), torsor.position_task("tip")),
            "no regular self-motion",
        ),
        (lambda: torsor.redundancy.self_motion(PANDA, np.zeros(7), "hand_tcp"), "rank 5 of 6"),
        (
            lambda: torsor.redundancy.self_motion_components(ARM, np.ones(3), torsor.position_task("tip")),
            "and no self-motion",
        ),
        (lambda: torsor.redundancy.is_repeatable(ARM, "tip"), "fewer than the 6 rows"),
        (lambda: torsor.redundancy.is_riemannian_submersion(PANDA, "hand_tcp", target=np.eye(3)), r"shape \(6, 6\)"),
        (lambda: torsor.redundancy.is_riemannian_submersion(PANDA, "hand_tcp", target=-np.eye(6)), "positive definite"),
        (lambda: torsor.redundancy.lifts_agree(PANDA, np.zeros(7), "hand_tcp"), "loses rank"),
        (
            lambda: torsor.redundancy.closed_path_drift(PANDA, PANDA_Q, "hand_tcp", np.zeros((3, 2))),
            r"points \(k, 6\) or poses",
        ),
        (
            lambda: torsor.redundancy.closed_path_drift(PANDA, PANDA_Q, "hand_tcp", lambda t: np.zeros(3)),
            r"velocity \(6,\)",
        ),
        (
            lambda: torsor.redundancy.lift_curve(
                PANDA, PANDA_Q, torsor.pose_task("hand_tcp", ["wx"]), [[0.0], [0.1]], feedback=1.0
            ),
            "feedback is known",
        ),
        (lambda: circle(XY, 0.1, rows=("vx", "vz")), "`rows` must be 'vx' or 'vy', got 'vz'"),
        (lambda: torsor.redundancy.generalised_inverse_class(np.eye(2, 3), np.eye(2, 3)), r"has shape \(3, 2\)"),
        (lambda: torsor.redundancy.lift_function(PANDA, PANDA_Q, "hand_tcp", np.zeros(3)), r"\(..., 6\)"),
        (lambda: torsor.redundancy.horizontal_lift(PANDA, PANDA_Q, "hand_tpc"), "hand_tcp"),
    ],
)
def test_what_cannot_be_is_refused_in_words(call, message):
    with pytest.raises(torsor.TorsorError, match=message):
        call()


def test_lifts_are_nan_where_the_task_is_singular():
    K = torsor.redundancy.pseudoinverse_lift(PANDA, np.stack([PANDA_Q, np.zeros(7)]), "hand_tcp")
    assert np.isfinite(K[0]).all()
    assert np.isnan(K[1]).all()


def test_reports_say_what_was_found():
    assert "is not the pseudoinverse" in str(torsor.redundancy.lifts_agree(PANDA, PANDA_Q, "hand_tcp"))
    many = torsor.redundancy.lifts_agree(PANDA, np.stack([PANDA_Q, PANDA_Q + 0.1]), "hand_tcp")
    assert "at 2 configurations, worst at" in str(many)
    assert many.commutator.shape == (2,)
    lines = str(torsor.redundancy.is_riemannian_submersion(PANDA, "hand_tcp"))
    assert "is not a Riemannian submersion" in lines
    assert "onto no metric at all" in lines
    assert "a small closed path in v" in str(torsor.redundancy.is_repeatable(PANDA, "hand_tcp"))
    assert "encloses no area" in str(torsor.redundancy.is_repeatable(PANDA, torsor.position_task("hand_tcp", "vx")))
    K, J = (
        torsor.redundancy.horizontal_lift(PANDA, PANDA_Q, "hand_tcp"),
        torsor.body_jacobian(PANDA, PANDA_Q, "hand_tcp"),
    )
    assert "{I, II, III}" in str(torsor.redundancy.generalised_inverse_class(J, K))
    assert "X A symmetric is off" in str(torsor.redundancy.generalised_inverse_class(J, K))


def test_functions_and_reports_can_be_pickled():
    for function in (torsor.redundancy.horizontal_lift, torsor.redundancy.split_velocity):
        assert pickle.loads(pickle.dumps(function)) is function
    motion = pickle.loads(
        pickle.dumps(torsor.redundancy.self_motion(PANDA, PANDA_Q, torsor.position_task("hand_tcp"), flows=2))
    )
    assert motion.dimension == 4


def test_lifts_run_inside_jax_and_kernels(jax_in_doubles):
    jax = jax_in_doubles
    K = jax.jit(lambda q: torsor.redundancy.horizontal_lift(PANDA, q, "hand_tcp"))(jax.numpy.asarray(PANDA_Q))
    expected = torsor.redundancy.horizontal_lift(PANDA, PANDA_Q, "hand_tcp")
    np.testing.assert_allclose(K, expected, atol=1e-10)
    kernel = torsor.compile(
        lambda robot, q, y: torsor.redundancy.horizontal_lift(robot, q, "hand_tcp") @ y, PANDA, {"q": (7,), "y": (6,)}
    )
    y = np.arange(6.0)
    np.testing.assert_allclose(kernel(q=PANDA_Q, y=y), expected @ y, atol=1e-10)


def test_a_small_self_motion_is_gone_round_once():
    """Near the edge of what the arm reaches, the fibre is a small ellipse, whose size goes with the root of the rest."""
    motions = [torsor.redundancy.self_motion(ARM, reaching(3.0 - rest), tip_task()) for rest in (4e-4, 1e-4)]
    assert all(motion.closed and len(motion.q) >= 8 for motion in motions)
    assert motions[0].length / motions[1].length == pytest.approx(2.0, rel=1e-2)


def test_brackets_are_nan_where_the_task_is_singular():
    B = torsor.redundancy.vertical_brackets(PANDA, np.stack([PANDA_Q, np.zeros(7)]), "hand_tcp")
    assert np.isfinite(B[0]).all()
    assert np.isnan(B[1]).all()


def test_reports_hold_the_robot_and_show_themselves_in_one_line():
    q = reaching(1.7)
    reports = [
        torsor.redundancy.is_repeatable(ARM, XY, configurations=2),
        torsor.redundancy.is_riemannian_submersion(ARM, XY, configurations=2),
        torsor.redundancy.lifts_agree(ARM, q, XY),
        torsor.redundancy.self_motion(ARM, q, XY),
        torsor.redundancy.self_motion_components(ARM, q, XY, starts=2),
        torsor.redundancy.lift_curve(ARM, q, XY, [[0, 0], [0.01, 0]]),
        torsor.redundancy.closed_path_drift(ARM, q, XY, circle(XY, 0.01), rounds=1),
        torsor.redundancy.local_trivialisation(ARM, q, XY, lambda robot, q: q[2:]),
        torsor.motion.is_flat(ARM, configurations=2),
        torsor.motion.geodesic(ARM, q, np.ones(3), 0.1, samples=3),
        torsor.motion.minimum_energy_path(ARM, q, q + 0.1, samples=4),
    ]
    for report in reports:
        assert report.robot is ARM
        assert repr(report).startswith(f"{type(report).__name__}(robot=<Robot 'planar_chain'>")
        assert "\n" not in repr(report) and "[" not in repr(report)
        assert "planar_chain" in report._repr_html_()


def test_seeds_are_numbers_or_generators():
    held = torsor.position_task("hand_tcp")

    def found(make):
        return [
            torsor.redundancy.self_motion(PANDA, PANDA_Q, held, flows=2, seed=make()).q,
            torsor.redundancy.self_motion_components(ARM, reaching(0.5), XY, starts=3, seed=make()).solutions[0],
            torsor.redundancy.is_repeatable(ARM, XY, configurations=2, seed=make()).where,
            torsor.redundancy.is_riemannian_submersion(ARM, XY, configurations=2, seed=make()).where,
            torsor.motion.is_flat(ARM, configurations=2, seed=make()).where,
        ]

    for number, generator in zip(found(lambda: 3), found(lambda: np.random.default_rng(3)), strict=True):
        np.testing.assert_array_equal(number, generator)
    with pytest.raises(torsor.TorsorError, match="is_flat: `seed` must be a whole number or a numpy"):
        torsor.motion.is_flat(ARM, seed="3")
