"""What redundancy refuses or answers at its borders: open paths, rows that are no function, metrics, limits, singular starts."""

import html
import itertools

import numpy as np
import pytest

import torsor
from torsor.motion.integration import integrated
from torsor.redundancy import circle
from torsor.redundancy.task_places import has_value, kernel_brackets

pytestmark = pytest.mark.compiled
PANDA, PANDA_Q = torsor.robots.panda(), np.array([0.3, -0.4, 0.2, -2.1, 0.1, 1.9, 0.6])
ARM, ARM_Q = torsor.robots.planar_chain([0.5, 0.4, 0.3], [1.0, 0.8, 0.5]), np.array([0.3, 0.9, -1.2])
XY, PLACE = torsor.position_task("tip", ["vx", "vy"]), torsor.position_task("hand_tcp")
TURN = torsor.orientation_task("hand_tcp")
SQUARE = 0.02 * np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])


def lopsided(n):
    metric = np.eye(n)
    metric[0, 1] = 0.5
    return metric


def indefinite(n):
    return np.diag([1.0, *[-1.0] * (n - 1)])


# Motions that cannot begin


def test_a_rate_that_is_not_finite_ends_an_integration_at_its_start():
    run = integrated(lambda t, y: np.full(2, np.nan), (0.0, 1.0), np.ones(2), 1e-9, np.ones(2))
    assert not run.finished
    assert run.t == 0.0
    later = integrated(lambda t, y: np.full(1, np.nan if t > 0.5 else 1.0), (0, 1), np.zeros(1), 1e-9, np.ones(1))
    assert not later.finished
    assert later.t == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: torsor.redundancy.lift_curve(ARM, [0.3, 0, 0], XY, SQUARE), r"after t = 0 of this leg.*rank 1 of 2"),
        (
            lambda: torsor.redundancy.lift_curve(ARM, ARM_Q, "tip", np.eye(2, 6)),
            "3 degrees of freedom, fewer than the 6 rows",
        ),
        (lambda: torsor.redundancy.lift_curve(ARM, ARM_Q, XY, SQUARE, feedback=np.nan), "`feedback` must be"),
        (lambda: torsor.redundancy.lift_curve(ARM, ARM_Q, XY, SQUARE, feedback=-1.0), "not negative"),
        (
            lambda: torsor.redundancy.lift_curve(ARM, ARM_Q, XY, lambda t: [np.nan, 0]),
            "velocities, here at t = 0 of a leg, must be finite",
        ),
        (
            lambda: torsor.redundancy.closed_path_drift(ARM, ARM_Q, XY, lambda t: [np.nan if t > 0.3 else 0.1, 0]),
            r"here at t = 0\.[3-9]",
        ),
        (
            lambda: torsor.redundancy.lift_curve(ARM, ARM_Q, XY, [[0, 0], [np.nan, 0], [1, 1]]),
            "finite numbers, got NaN",
        ),
        (lambda: torsor.redundancy.lift_curve(ARM, ARM_Q, XY, [[0, 0.0]]), "two points or more, got 1"),
        (lambda: torsor.redundancy.self_motion(None, ARM_Q, XY), "must be a torsor.Robot"),
    ],
)
def test_what_cannot_be_followed_is_refused(call, message):
    with pytest.raises(torsor.TorsorError, match=message):
        call()


# Loops that close, and those that do not


@pytest.mark.parametrize("task", [TURN, torsor.pose_task("hand_tcp"), torsor.stack_tasks(TURN, PLACE)])
def test_circles_of_rotations_close_and_drift_as_predicted(task):
    found = torsor.redundancy.closed_path_drift(
        PANDA, PANDA_Q, task, circle(task, 0.02), rounds=2, lift="pseudoinverse"
    )
    assert found.task_error.max() < 1e-9
    assert abs(found.area[0, 1]) == pytest.approx(np.pi * 0.02**2, rel=1e-4)
    np.testing.assert_allclose(found.drift[1], found.predicted, atol=0.06 * np.abs(found.predicted).max())


def test_points_of_a_pose_are_exponential_coordinates_about_its_start():
    points = np.array([np.zeros(6), [0.2, 0, 0, 0.05, 0, 0], [0.1, 0.3, 0, 0, 0.05, 0.02]])
    found = torsor.redundancy.lift_curve(PANDA, PANDA_Q, "hand_tcp", points + 1.0, samples=3)  # only differences count
    began = torsor.frame_pose(PANDA, PANDA_Q, "hand_tcp")
    y = np.array([points[0], points[1] / 2, points[1], (points[1] + points[2]) / 2, points[2]])
    np.testing.assert_allclose(torsor.frame_pose(PANDA, found.q, "hand_tcp"), began @ torsor.lie.se3.exp(y), atol=1e-8)
    drift = torsor.redundancy.closed_path_drift(PANDA, PANDA_Q, "hand_tcp", points, rounds=1)
    assert drift.task_error[-1] < 1e-8


@pytest.mark.parametrize(
    ("task", "path"),
    [
        (torsor.orientation_task("hand_tcp", ["wx", "wy"]), None),
        (torsor.pose_task("hand_tcp", ["wx", "vy"]), None),
        (TURN, lambda t: circle(TURN, 0.1)(t)),  # body twists of a closed curve of numbers
        (PLACE, lambda t: [0.05, 0, 0]),
    ],
)
def test_open_loops_are_called_open(task, path):
    with pytest.raises(torsor.TorsorError, match=r"the path is open: after one round the task is 0\.0"):
        torsor.redundancy.closed_path_drift(PANDA, PANDA_Q, task, circle(task, 0.1) if path is None else path)


def test_a_lift_that_does_not_do_the_task_is_not_blamed_on_the_path():
    def slow(robot, q):
        return torsor.redundancy.pseudoinverse_lift(robot, q, XY) @ np.array([[1.0, 0.3 * np.sin(q[0])], [0.0, 1.0]])

    found = torsor.redundancy.closed_path_drift(ARM, ARM_Q, XY, SQUARE, rounds=1, lift=slow)
    assert found.task_error[-1] > 1e-6
    assert "J K ≠ 1" in str(found)


def test_poses_begin_where_the_hand_is():
    moves = torsor.lie.se3.exp([np.zeros(6), [0, 0, 0, 0.05, 0, 0]])
    with pytest.raises(torsor.TorsorError, match=r"rad and 0\.\d+ m away.*Poses are absolute"):
        torsor.redundancy.lift_curve(PANDA, PANDA_Q, "hand_tcp", moves)
    began = torsor.frame_pose(PANDA, PANDA_Q, "hand_tcp")
    found = torsor.redundancy.lift_curve(PANDA, PANDA_Q, "hand_tcp", began @ moves, samples=2)
    np.testing.assert_allclose(torsor.frame_pose(PANDA, found.q[-1], "hand_tcp"), began @ moves[1], atol=1e-8)
    with pytest.raises(torsor.TorsorError, match="off by 3"):
        torsor.redundancy.lift_curve(PANDA, PANDA_Q, "hand_tcp", 2 * began * np.ones((2, 1, 1)))


def test_circles_know_their_rows():
    assert circle("hand_tcp", 0.1, rows=("vx", "vy")) == circle(torsor.pose_task("hand_tcp"), 0.1, rows=(3, 4))
    for wrong in ((0, 0), ("vx", "vx"), (0, 7), "vx"):
        with pytest.raises(torsor.TorsorError, match="rows"):
            circle("hand_tcp", 0.1, rows=wrong)
    for radius in (0.0, np.nan, [0.1, 0.2]):
        with pytest.raises(torsor.TorsorError, match="radius"):
            circle(XY, radius)
    with pytest.raises(torsor.ShapeError, match="for a task of 6 rows"):
        torsor.redundancy.closed_path_drift(ARM, ARM_Q, XY, circle("tip", 0.1))


# Rows that are the velocity of nothing


def test_rows_have_a_value_if_and_only_if_their_kernel_is_integrable():
    """By groups, and by derivatives of J: all rows of a twist that leave the Panda at least two dimensions.

    Of rows left out, those that are a group: any one; a screw or two translations; all three of a kind, or a turn and the two
    translations across it; a turn and all translations. 6 + 6 + 5 + 3.
    """
    whole, several = torsor.pose_task("hand_tcp"), 0
    for count in range(1, 6):
        for rows in itertools.combinations(range(6), count):
            task = whole.select(rows)
            off = kernel_brackets(PANDA, task, PANDA_Q[None])[0]
            valued = has_value(PANDA, task)
            assert (off < 1e-9) == valued, (rows, off)
            several += valued
    assert several == 20
    turns = {rows: has_value(PANDA, TURN.select(rows)) for rows in [(0,), (0, 1), (0, 1, 2)]}
    assert turns == {(0,): False, (0, 1): True, (0, 1, 2): True}


def test_a_planar_arm_has_values_where_its_plane_gives_them():
    """Its twists are (wz, vx, vy) alone: of these all rows are a pose, and vx is that of nothing, for the frame turns."""
    chain = torsor.robots.planar_chain([0.5] * 4, [1.0] * 4)
    for rows, valued in (
        (["wz", "vx", "vy"], True),
        (["wz"], True),
        (["vx", "vy"], True),
        (["vx"], False),
        (["wz", "vx"], True),
    ):
        task = torsor.pose_task("tip", rows)
        assert has_value(chain, task) == valued
        assert (kernel_brackets(chain, task, np.full((1, 4), 0.4))[0] < 1e-9) == valued
    stacked = torsor.stack_tasks(torsor.pose_task("tip"), torsor.position_task("tip"))
    assert not has_value(chain, stacked.select([3, 6]))
    assert has_value(chain, stacked.select([6]))


def test_a_ball_joint_has_kernels_whose_frames_do_not_commute():
    ball = torsor.Joint(name="ball", kind="spherical", inertia=torsor.Inertia(1.0, (0, 0, 0.1), np.eye(3)))
    robot = torsor.assemble([ball], name="ball", frames={"tip": ("ball_link", torsor.pose_from((0, 0, 0.3)))})
    q = torsor.random_configuration(robot, seed=1, batch=(3,))
    assert kernel_brackets(robot, torsor.position_task("tip", "vx"), q).max() < 1e-12
    assert kernel_brackets(robot, torsor.orientation_task("tip", "wx"), q).min() > 0.1


def test_no_self_motion_manifold_is_made_up():
    task = torsor.pose_task("hand_tcp", ["wz", "vx", "vy", "vz"])
    with pytest.raises(torsor.TorsorError, match=r"no self-motion manifold.*ker J is not integrable"):
        torsor.redundancy.self_motion(PANDA, PANDA_Q, task)
    with pytest.raises(torsor.TorsorError, match="not known of this task"):
        torsor.redundancy.self_motion_components(PANDA, PANDA_Q, task)
    report = torsor.redundancy.is_repeatable(PANDA, task, configurations=2)
    assert not report.has_value
    assert "no end to come back to" in str(report)
    assert torsor.redundancy.is_repeatable(PANDA, PLACE, configurations=2).has_value
    held = torsor.redundancy.self_motion(
        PANDA, PANDA_Q, torsor.pose_task("hand_tcp", ["vx", "vy", "vz"]), flows=2
    )  # a position, in other axes
    assert held.task_error < 1e-8


# Self-motions of several dimensions, and small ones


def test_flows_stay_within_limits_and_end_where_they_are_told():
    lower, upper = (np.array(bound) for bound in PANDA.limits[:2])

    def room(motion):
        return np.minimum(motion.q - lower, upper - motion.q).min(axis=-1)

    free = torsor.redundancy.self_motion(PANDA, PANDA_Q, PLACE, spacing=0.2, flows=12)
    assert room(free).min() < 0.0
    motion = torsor.redundancy.self_motion(PANDA, PANDA_Q, PLACE, spacing=0.2, flows=12, within_limits=True)
    assert room(motion).min() > -1e-9
    stopped = np.array(["limit of" in end for end in motion.ends])
    np.testing.assert_array_equal(stopped, room(free).min(axis=-1) < 0.0)
    np.testing.assert_allclose(room(motion)[stopped, -1], 0.0, atol=1e-9)
    np.testing.assert_allclose(motion.q[~stopped], free.q[~stopped])
    assert np.all(motion.length[stopped] < free.length[stopped])
    assert f"{stopped.sum()} of them to a limit" in str(motion)
    short = torsor.redundancy.self_motion(PANDA, PANDA_Q, PLACE, spacing=0.2, flows=4, longest=0.5)
    ways = np.linalg.norm(np.diff(short.q, axis=1), axis=-1).sum(axis=-1)
    np.testing.assert_allclose(ways, 0.5, rtol=1e-2)
    with pytest.raises(torsor.TorsorError, match="outside the limits"):
        torsor.redundancy.self_motion(PANDA, PANDA_Q + 4.0 * np.eye(7)[3], PLACE, within_limits=True)


def test_tiny_fibres_are_traced():
    """Nearly stretched, an arm's fibre is an ellipse that shrinks with the bend."""
    chain = torsor.robots.planar_chain([0.5, 0.4, 0.3], [1.0] * 3)
    lengths = []
    for bend in (1e-2, 1e-4):
        motion = torsor.redundancy.self_motion(chain, [0.3, bend, bend], XY)
        assert motion.closed
        assert 8 <= len(motion.q) < 200
        lengths.append(float(motion.length) / bend)
    assert lengths[0] == pytest.approx(lengths[1], rel=1e-3)


@pytest.mark.parametrize(("lengths", "far", "pieces"), [((1, 1, 1, 0.2), 0.2, 2), ((1, 0.5, 0.5, 0.5), 1.0, 1)])
def test_pieces_of_a_polygon_linkage_are_counted(lengths, far, pieces):
    """Surfaces of a planar 4R, with its base a pentagon: two pieces iff any two of its three longest sides exceed half of all
    (Kapovich and Millson)."""
    longest, half = sorted([*lengths, far])[-3:], (sum(lengths) + far) / 2
    assert (longest[0] + longest[1] > half) == (pieces == 2)
    chain = torsor.robots.planar_chain(lengths, [1.0] * 4)
    start = torsor.inverse_kinematics(chain, torsor.position_task("tip"), [far, 0, 0]).q
    found = torsor.redundancy.self_motion_components(chain, start, XY, starts=10)
    assert len(found) == pieces
    assert found.dimension == 2
    assert found.found.sum() == found.starts == sum(map(len, found.solutions))
    for piece in found.solutions:
        np.testing.assert_allclose(torsor.frame_pose(chain, piece, "tip")[:, :2, 3], [[far, 0]] * len(piece), atol=1e-8)
    assert "of 2 dimensions" in str(found)


# Metrics


@pytest.mark.parametrize(
    ("metric", "message"),
    [(lopsided, "symmetric"), (indefinite, "positive definite"), (lambda n: np.full((n, n), np.nan), "NaN")],
)
def test_what_is_no_metric_is_refused(metric, message):
    for call in (
        lambda m: torsor.redundancy.vertical_brackets(ARM, ARM_Q, XY, lift=m),
        lambda m: torsor.redundancy.is_repeatable(ARM, XY, lift=m),
        lambda m: torsor.redundancy.lift_curve(ARM, ARM_Q, XY, SQUARE, lift=m),
        lambda m: torsor.redundancy.vertical_brackets(ARM, ARM_Q, XY, lift=lambda robot, q: m),
    ):
        with pytest.raises(torsor.TorsorError, match=message):
            call(metric(3))


def in_plain_numbers(robot, q):
    """The mass matrix, in a way that cannot be traced."""
    values, axes = np.linalg.eigh(torsor.mass_matrix(robot, q))
    return (axes * values[..., None, :]) @ np.swapaxes(axes, -1, -2)


def own_lift(robot, q):
    return torsor.redundancy.horizontal_lift(robot, q, XY)


@pytest.mark.parametrize(("lift", "near"), [(torsor.mass_matrix, 1e-12), (in_plain_numbers, 1e-8), (own_lift, 1e-12)])
def test_metrics_and_lifts_may_be_functions(lift, near):
    q = ARM_Q + np.linspace(0, 0.3, 6).reshape(2, 3)
    expected = torsor.redundancy.vertical_brackets(ARM, q, XY)
    np.testing.assert_allclose(
        torsor.redundancy.vertical_brackets(ARM, q, XY, lift=lift), expected, atol=near * np.abs(expected).max()
    )
    report, known = (
        torsor.redundancy.is_repeatable(ARM, XY, lift=lift, q=q),
        torsor.redundancy.is_repeatable(ARM, XY, q=q),
    )
    assert not report
    np.testing.assert_allclose(report.drift, known.drift, atol=1e-8 * np.abs(known.drift).max())
    drift = torsor.redundancy.closed_path_drift(ARM, ARM_Q, XY, SQUARE, rounds=1, lift=lift)
    np.testing.assert_allclose(
        drift.q, torsor.redundancy.closed_path_drift(ARM, ARM_Q, XY, SQUARE, rounds=1).q, atol=1e-8
    )
    assert lift.__name__ in str(drift)


def test_a_square_matrix_is_a_metric_unless_it_does_the_task():
    """With as many rows as joints, metrics and lifts have one shape; every metric has the lift J⁻¹."""
    two, q = torsor.robots.planar_chain([0.5, 0.4], [1.0, 0.8]), np.array([0.3, 0.9])
    known = torsor.redundancy.lift_curve(two, q, XY, SQUARE, samples=2).q[-1]
    for lift in (torsor.mass_matrix, lambda robot, q: np.linalg.inv(XY.jacobian(robot, q))):
        np.testing.assert_allclose(
            torsor.redundancy.lift_curve(two, q, XY, SQUARE, samples=2, lift=lift).q[-1], known, atol=1e-8
        )


def nowhere(robot, q):
    return np.full((3, 2), np.nan)


def test_a_repeatable_lift_of_ones_own_is_found_to_be_one():
    """It holds the first joint, and is no horizontal lift of the inertia metric."""

    def holding_the_first_joint(robot, q):
        return np.linalg.inv(np.vstack([XY.jacobian(robot, q), [1.0, 0.0, 0.0]]))[:, :2]

    assert torsor.redundancy.is_repeatable(ARM, XY, lift=holding_the_first_joint)
    assert not torsor.redundancy.is_repeatable(ARM, XY, lift="pseudoinverse")
    with pytest.raises(torsor.TorsorError, match="the nowhere lift is singular at all 12 configurations"):
        torsor.redundancy.is_repeatable(ARM, XY, lift=nowhere)
    with pytest.raises(torsor.ShapeError, match=r"K \(3, 2\), or a metric \(3, 3\)"):
        torsor.redundancy.is_repeatable(ARM, XY, lift=lambda robot, q: np.eye(2))


@pytest.mark.parametrize("lift", ["inertia", "pseudoinverse", np.diag([1.0, 2.0, 3.0, 4.0])])
def test_compiled_brackets_are_those_of_the_algorithm(lift):
    """With freedoms that do not commute, for batches, and for tasks with one, two and three rows."""
    body = torsor.Inertia(1.0, (0.1, 0.2, 0.3), np.diag([0.5, 0.6, 0.7]))
    joints = [
        torsor.Joint(name="ball", kind="spherical", parent="base", link="a", inertia=body),
        torsor.Joint(
            name="hinge",
            kind="revolute",
            parent="a",
            link="b",
            axis=(1, 0, 0),
            pose=torsor.pose_from((0.3, 0.1, 0.2)),
            inertia=body,
        ),
    ]
    robot = torsor.assemble(joints, name="ball", frames={"tip": ("b", torsor.pose_from((0.4, -0.2, 0.3)))})
    q = torsor.random_configuration(robot, seed=3, batch=(2, 3))
    for task in (
        torsor.position_task("tip", ["vx", "vy"]),
        torsor.position_task("tip"),
        torsor.position_task("tip", "vx"),
    ):
        found = torsor.redundancy.vertical_brackets(robot, q, task, lift=lift)
        with torsor.backend("numpy"):
            expected = torsor.redundancy.vertical_brackets(robot, q, task, lift=lift)
        assert found.shape == (2, 3, 4, task.size, task.size)
        np.testing.assert_allclose(found, expected, atol=1e-10 * max(1.0, np.abs(expected).max()))
        np.testing.assert_array_equal(found, -np.swapaxes(found, -1, -2))


def test_brackets_run_inside_jax_and_kernels(jax_in_doubles):
    jax = jax_in_doubles
    expected = torsor.redundancy.vertical_brackets(ARM, ARM_Q, XY)
    found = jax.jit(lambda q: torsor.redundancy.vertical_brackets(ARM, q, XY))(jax.numpy.asarray(ARM_Q))
    with pytest.raises(torsor.TorsorError, match="horizontal_lift, split_velocity"):
        jax.jit(lambda q: torsor.redundancy.lifts_agree(ARM, q, XY).commutator)(jax.numpy.asarray(ARM_Q))
    np.testing.assert_allclose(found, expected, atol=1e-10)
    kernel = torsor.compile(lambda robot, q: torsor.redundancy.oneill_tensor(robot, q, XY), ARM, {"q": (3,)})
    np.testing.assert_allclose(kernel(q=ARM_Q), expected / 2, atol=1e-10)
    with pytest.raises(torsor.TorsorError, match="decides by numbers"):
        torsor.compile(lambda robot, q: torsor.redundancy.is_repeatable(robot, XY, q=q).drift, ARM, {"q": (3,)})


# Submersions


def test_elbow_up_and_down_are_submersions_onto_different_metrics():
    two = torsor.robots.planar_chain([0.5, 0.4], [1.0, 0.8])
    report = torsor.redundancy.is_riemannian_submersion(two, XY)
    assert report.constant_along_fibres
    assert not report.same_on_components
    assert "locally, near each configuration" in str(report)
    assert "onto one metric for all it is none" in str(report)
    tips = torsor.frame_pose(two, report.apart, "tip")[:, :2, 3]
    np.testing.assert_allclose(tips[0], tips[1], atol=1e-8)


def test_a_point_mass_submerges_onto_polar_coordinates():
    """x and y slides that carry 1 kg: in (r, φ) the metric is diag(1, r²)."""
    joints = [
        torsor.Joint(name="x", kind="prismatic", parent="base", link="a", axis=(1, 0, 0)),
        torsor.Joint(
            name="y",
            kind="prismatic",
            parent="a",
            link="b",
            axis=(0, 1, 0),
            inertia=torsor.Inertia.point(1.0, (0, 0, 0)),
        ),
    ]
    slides = torsor.assemble(joints, name="slides", frames={"tip": ("b", torsor.pose_from((0, 0, 0)))})
    q = np.array([[1.0, 0.3], [-0.4, 0.8]])
    polar = torsor.function_task(lambda robot, q: np.stack([np.sqrt(q[0] ** 2 + q[1] ** 2), np.arctan2(q[1], q[0])]), 2)
    report = torsor.redundancy.is_riemannian_submersion(slides, polar, target=lambda y: np.diag([1.0, y[0] ** 2]), q=q)
    assert report
    assert report.same_on_components
    assert not torsor.redundancy.is_riemannian_submersion(slides, polar, q=q)
    assert torsor.redundancy.is_riemannian_submersion(slides, XY, target=lambda y: np.eye(2) * (1.0 + 0.0 * y[1]), q=q)
    with pytest.raises(torsor.TorsorError, match="differs from its transpose by 2"):
        torsor.redundancy.is_riemannian_submersion(slides, XY, target=[[1.0, 2.0], [0.0, 1.0]])


# Batches and nothing at all


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: torsor.papers.altafini_equation_report(PANDA, np.stack([PANDA_Q] * 2), "hand_tcp"),
            r"\(7,\), got \(2, 7\)",
        ),
        (
            lambda: torsor.redundancy.lift_function(ARM, np.zeros((2, 3)), XY, np.zeros((3, 2))),
            r"\(2,\) and `eta` \(3,\)",
        ),
        (lambda: torsor.redundancy.is_repeatable(ARM, XY, q=ARM_Q * np.nan), "finite numbers, got NaN"),
        (lambda: torsor.redundancy.is_repeatable(ARM, XY, q=np.zeros((0, 3))), "holds no configuration"),
        (lambda: torsor.redundancy.lifts_agree(ARM, np.zeros((0, 3)), XY), "no configurations"),
        (lambda: torsor.redundancy.lifts_agree(ARM, ARM_Q * np.nan, XY), "finite numbers, got NaN"),
    ],
)
def test_batches_and_nothing_are_refused_in_words(call, message):
    with pytest.raises(torsor.TorsorError, match=message):
        call()


def test_altafinis_equation_takes_the_frame_before_the_forces():
    v, tau = np.ones(7), np.ones(7)
    assert torsor.papers.altafini_workspace_acceleration(PANDA, PANDA_Q, v, "hand_tcp", tau).shape == (6,)
    with pytest.raises(torsor.TorsorError, match=r"altafini_workspace_acceleration"):
        torsor.papers.altafini_workspace_acceleration(PANDA, PANDA_Q, v, tau, "hand_tcp")


def test_the_report_on_altafinis_equation_says_what_it_leaves_out():
    report = torsor.papers.altafini_equation_report(PANDA, PANDA_Q, "hand_tcp")
    assert report.robot is PANDA and not report.applies
    assert str(report).startswith("Altafini's equation (18) does not hold for 'hand_tcp' of robot 'panda'")
    assert "\n" not in repr(report) and report._repr_html_() == f"<pre>{html.escape(str(report))}</pre>"


def test_the_defect_of_altafinis_equation_bounds_all_its_errors():
    """Its error is a quadratic form of v: over all of unit energy at most nv times that of the pairs of a basis."""
    arm = PANDA.with_gravity((0.0, 0.0, 0.0))
    defect = torsor.papers.altafini_equation_report(arm, PANDA_Q, "hand_tcp").velocity_defect
    v = np.random.default_rng(0).normal(size=(200, 7))
    v /= np.sqrt(2 * torsor.kinetic_energy(arm, PANDA_Q, v))[:, None]
    none = np.zeros((200, 7))
    printed = torsor.papers.altafini_workspace_acceleration(arm, PANDA_Q, v, "hand_tcp", none)
    friction = torsor.tasks.workspace_acceleration(arm, PANDA_Q, v, "hand_tcp", none + torsor.friction_forces(arm, v))
    errors = np.linalg.norm(friction - printed, axis=-1)
    assert 0.1 * defect < errors.max() < 7 * defect
