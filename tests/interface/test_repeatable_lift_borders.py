"""Repeatable lifts, sections and coordinates as users meet them: what they say, what they refuse, where they fail in words."""

import pickle

import numpy as np
import pytest

import torsor

ARM = torsor.robots.planar_chain([0.5, 0.4, 0.3], [1.0, 0.8, 0.5])
XY, Q = torsor.position_task("tip", ["vx", "vy"]), np.array([0.4, 0.7, 1.4])
YX = torsor.position_task("tip", ["vy", "vx"])
PANDA, PANDA_Q = torsor.robots.panda(), np.array([0.3, -0.4, 0.2, -2.1, 0.1, 1.9, 0.6])


def first(robot, q):
    return q[:1]


def third(robot, q):
    return q[2:3]


def branching(robot, q):
    return q[:1] if q[0] > 0 else q[1:2]


def sectioned(robot, y):
    return np.array([0.4, 0.7, 1.4]) + 0.0 * y[0]


FOUR = torsor.robots.planar_chain([0.5, 0.4, 0.3, 0.2], [1.0, 0.8, 0.5, 0.3])
LIFT = torsor.redundancy.extended_jacobian_lift(ARM, XY, first)
CHART = torsor.redundancy.local_trivialisation(ARM, Q, XY, LIFT)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: torsor.redundancy.extended_jacobian_lift(ARM, XY, lambda robot, q: q[:2]),
            r"must return 1 numbers.*got \(2,\)",
        ),
        (lambda: torsor.redundancy.extended_jacobian_lift(ARM, XY, lambda robot, q: q[0]), r"shape \(1,\), got \(\)"),
        (
            lambda: torsor.redundancy.extended_jacobian_lift(ARM, XY, torsor.position_task("tip")),
            "needs 1 rows, and 'tip position' has 3",
        ),
        (
            lambda: torsor.redundancy.extended_jacobian_lift(ARM, XY, 3.0),
            r"`constraint` is a function \(robot, q\) → \(1,\), or a task",
        ),
        (lambda: torsor.redundancy.extended_jacobian_lift(ARM, XY, branching), "cannot be traced|np.where"),
        (lambda: torsor.redundancy.extended_jacobian_lift(ARM, XY, lambda q: q[:1]), r"must take \(robot, q\)"),
        (lambda: torsor.redundancy.extended_jacobian_lift("arm", XY, first), "Robot"),
        (
            lambda: torsor.redundancy.extended_jacobian_lift(
                ARM, torsor.stack_tasks(XY, torsor.function_task(first, 1)), first
            ),
            "J⁻¹ is its only lift, and there is nothing to choose",
        ),
        (lambda: torsor.redundancy.extended_jacobian_lift(ARM, "tip", first), "it has no lift"),
        (
            lambda: torsor.redundancy.is_repeatable(ARM, YX, lift=LIFT),
            "is one of the task .*vx, vy.*not of.*vy, vx",
        ),
        (
            lambda: torsor.redundancy.is_repeatable(FOUR, XY, lift=LIFT),
            "for 3 degrees of freedom, and robot .* has 4",
        ),
        (lambda: torsor.redundancy.section_lift(ARM, Q + 0.1, XY, sectioned), "is not on the section, which gives"),
        (
            lambda: torsor.redundancy.section_lift(ARM, Q, XY, lambda robot, y: y),
            r"gives one configuration \(3,\), got shape \(2,\)",
        ),
        (lambda: torsor.redundancy.section_lift(ARM, Q, XY, 3), "`section` is a function"),
        (
            lambda: torsor.redundancy.section_lift(ARM, Q, XY, lambda y: y),
            r"`section` must take \(robot, value of the task\)",
        ),
        (lambda: LIFT(ARM, Q[:2]), r"extended_inverse: `q` must have shape \(\.\.\., 3\)"),
        (
            lambda: torsor.redundancy.local_trivialisation(PANDA, PANDA_Q, "hand_tcp", third).configuration(
                [3.5, 0, 0, 0, 0, 0]
            ),
            "below π",
        ),
        (
            lambda: torsor.redundancy.section_lift(
                PANDA, PANDA_Q, torsor.pose_task("hand_tcp", ["wx", "vx"]), sectioned
            ),
            "has no value that a section could take",
        ),
        (
            lambda: torsor.redundancy.stationary_constraint(ARM, [0.0, 0.0, 0.0], XY, lambda robot, q: q[0]),
            "is singular at q0",
        ),
        (
            lambda: torsor.redundancy.local_trivialisation(ARM, [0.4, 0.7, 0.0], XY, first),
            "singular at q0.*algorithmic singularity",
        ),
        (lambda: torsor.redundancy.local_trivialisation(ARM, np.zeros(3), XY, first), "singular at q0.*J loses rank"),
        (
            lambda: torsor.redundancy.local_trivialisation(
                PANDA, PANDA_Q, torsor.pose_task("hand_tcp", range(5)), lambda robot, q: q[:2]
            ),
            "some rows of a twist have no coordinates",
        ),
        (
            lambda: torsor.redundancy.local_trivialisation(ARM, Q, YX, LIFT),
            "and the task is another",
        ),
        (lambda: CHART.configuration([0.1]), r"`y`.*\(\.\.\., 2\)"),
        (lambda: CHART.configuration([0.1, np.nan]), "NaN|finite"),
        (
            lambda: CHART.configuration(np.zeros((2, 2)), np.zeros((3, 1))),
            "do not go together",
        ),
        (
            lambda: torsor.redundancy.lift_acceleration(ARM, Q, np.zeros(3), XY, np.zeros(3)),
            r"acceleration.*\(\.\.\., 2\)",
        ),
        (
            lambda: torsor.redundancy.lift_acceleration(ARM, Q, np.zeros(3), XY, np.zeros(2), damping=-1.0),
            "`damping` must be one number",
        ),
        (
            lambda: torsor.redundancy.lift_acceleration(ARM, np.zeros((2, 3)), np.zeros((3, 3)), XY, np.zeros(2)),
            "do not go together",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_words(call, message):
    with pytest.raises(torsor.TorsorError, match=message):
        call()


@pytest.mark.compiled
def test_an_algorithmic_singularity_is_called_one():
    """Straight from the second joint on, J has full rank; but with the first joint held the hand is at its farthest."""
    message = r"algorithmic singularity: J has full rank, but .* leaves the functions h of 'first'"
    farther = [[0.0, 0.0], 0.5 * np.array([np.cos(1.0), np.sin(1.0)])]
    for call in (
        lambda: torsor.redundancy.lift_curve(ARM, Q, XY, farther, lift=LIFT),
        lambda: torsor.redundancy.local_trivialisation(ARM, Q, XY, LIFT).configuration(farther[1]),
        lambda: torsor.redundancy.is_repeatable(ARM, XY, lift=LIFT, q=[0.3, 0.8, 0.0]),
    ):
        with pytest.raises(
            torsor.TorsorError,
            match=message,
        ):
            call()
    straight = np.array([0.3, 0.8, 0.0])
    assert np.isnan(LIFT(ARM, straight)).all()
    assert LIFT.transversality(ARM, straight) == pytest.approx(0.0, abs=1e-12)
    assert 0.1 < LIFT.transversality(ARM, Q) <= 1.0


@pytest.mark.compiled
def test_a_singularity_of_the_robot_is_not_blamed_on_the_choice():
    out = 2.0 * torsor.frame_pose(ARM, [0.4, 0.3, 0.2], "tip")[:2, 3]
    with pytest.raises(torsor.TorsorError, match="cannot go on") as error:
        torsor.redundancy.lift_curve(ARM, [0.4, 0.3, 0.2], XY, [np.zeros(2), out], lift="pseudoinverse")
    assert "algorithmic" not in str(error.value)


def test_what_depends_on_the_task_alone_is_no_constraint():
    """h of the position of the hand: (J; ∂h) is singular everywhere, and that is said."""
    with pytest.raises(torsor.TorsorError, match=r"singular at 8 random configurations.*algorithmic"):
        torsor.redundancy.extended_jacobian_lift(
            ARM, XY, lambda robot, q: torsor.frame_pose(robot, q, "tip")[:1, 3] ** 2
        )
    with pytest.raises(torsor.TorsorError, match="singular at 8 random configurations"):
        torsor.redundancy.extended_jacobian_lift(ARM, XY, lambda robot, q: 0.0 * q[:1])


def test_functions_without_a_derivative_are_called_that():
    """Where h is not a number at all."""
    lift = torsor.redundancy.extended_jacobian_lift(ARM, XY, lambda robot, q: np.sqrt(q[:1] - 5.0))
    assert np.isnan(lift(ARM, Q)).all()
    for call in (
        lambda: torsor.redundancy.is_repeatable(ARM, XY, lift=lift, q=Q),
        lambda: torsor.redundancy.lift_curve(ARM, Q, XY, [[0, 0], [0.1, 0]], lift=lift),
        lambda: torsor.redundancy.local_trivialisation(ARM, Q, XY, lift),
    ):
        with pytest.raises(torsor.TorsorError, match="have no derivative there"):
            call()


def test_random_configurations_near_algorithmic_singularities_are_skipped():
    bad = np.array([0.3, 0.8, 1e-6])
    report = torsor.redundancy.is_repeatable(ARM, XY, lift=LIFT, q=[bad, Q])
    assert report
    assert report.skipped == 1


def test_lifts_can_be_pickled_and_compared():
    again = pickle.loads(pickle.dumps(LIFT))
    assert again == LIFT
    assert hash(again) == hash(LIFT)
    assert "ExtendedJacobianLift" in repr(LIFT)
    np.testing.assert_array_equal(again(ARM, Q), LIFT(ARM, Q))
    chart = torsor.redundancy.local_trivialisation(ARM, Q, XY, first)
    assert "2 coordinates y of the task, 1 of the fibre" in str(chart)


@pytest.mark.compiled
def test_lifts_run_inside_kernels_and_jax(jax_in_doubles):
    import jax

    expected = LIFT(ARM, Q)
    kernel = torsor.compile(LIFT, ARM, {"q": 3})
    np.testing.assert_allclose(kernel(Q), expected, atol=1e-14)
    np.testing.assert_allclose(jax.jit(lambda q: LIFT(ARM, q))(Q), expected, atol=1e-14)
    slopes = jax.jacfwd(lambda q: LIFT(ARM, q))(Q)
    np.testing.assert_allclose(slopes, LIFT.derivative(ARM, Q), atol=1e-12)


def test_many_joints_and_two():
    """Sixty joints with all but two held; two joints and one row."""
    long = torsor.robots.planar_chain([0.05] * 60, [0.1] * 60)
    lift = torsor.redundancy.extended_jacobian_lift(long, XY, lambda robot, q: q[:58])
    q = np.full(60, 0.03)
    K = lift(long, q)
    assert np.abs(K[:58]).max() < 1e-12
    np.testing.assert_allclose(XY.jacobian(long, q) @ K, np.eye(2), atol=1e-11)
    short, x = torsor.robots.planar_chain([0.5, 0.4], [1.0, 0.8]), torsor.position_task("tip", "vx")
    lift = torsor.redundancy.extended_jacobian_lift(short, x, first)
    assert lift(short, [0.3, 0.9]).shape == (2, 1)
    assert torsor.redundancy.is_repeatable(short, x, lift=lift)


def test_constraints_may_be_tasks_of_frames():
    """The place of a link in the middle beside the hand's, both in the plane."""
    elbow = torsor.position_task(FOUR.links[2], ["vx", "vy"])
    lift, q = torsor.redundancy.extended_jacobian_lift(FOUR, XY, elbow), np.array([0.4, 0.7, 0.9, 0.6])
    assert torsor.redundancy.is_repeatable(FOUR, XY, lift=lift)
    np.testing.assert_allclose(elbow.jacobian(FOUR, q) @ lift(FOUR, q), np.zeros((2, 2)), atol=1e-13)
    chart = torsor.redundancy.local_trivialisation(FOUR, q, XY, elbow)
    there = chart.configuration([0.02, 0.01])
    here = torsor.frame_pose(FOUR, q, FOUR.links[2])[:3, 3]
    np.testing.assert_allclose(torsor.frame_pose(FOUR, there, FOUR.links[2])[:3, 3], here, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        # The configuration at q0 for every value, and one that comes back only half the way
        (
            lambda: torsor.redundancy.section_lift(ARM, Q, XY, sectioned),
            r"`section` is none: .* off by 1 of the difference",
        ),
        (
            lambda: torsor.redundancy.section_lift(ARM, Q, XY, lambda robot, y: halfway(y)),
            r"`section` is none: .* off by 0\.5 of the difference",
        ),
        (
            lambda: torsor.redundancy.section_lift(ARM, Q, XY, lambda robot, y: "q"),
            "what the section gives` must be real numbers",
        ),
        (
            lambda: torsor.redundancy.stationary_constraint(ARM, Q, XY, lambda q: q[0]),
            r"stationary_constraint: `objective` must take \(robot, q\)",
        ),
        (
            lambda: LIFT(FOUR, np.ones(4)),
            "this extended Jacobian lift is one for 3 degrees of freedom, and robot .* has 4",
        ),
        (lambda: LIFT.metric(FOUR, np.ones(4)), "is one for 3 degrees of freedom, and robot .* has 4"),
        (
            lambda: torsor.redundancy.local_trivialisation(FOUR, np.ones(4), XY, LIFT),
            "local_trivialisation: this extended Jacobian lift is one for 3 degrees of freedom, and robot .* has 4",
        ),
    ],
)
def test_what_only_looks_like_a_section_or_a_lift_is_refused(call, message):
    with pytest.raises(torsor.TorsorError, match=message):
        call()


def halfway(y):
    """Configurations to first order, of half the way from the tip of Q to a point."""
    start = torsor.frame_pose(ARM, Q, "tip")[:2, 3]
    half = np.linalg.pinv(XY.jacobian(ARM, Q)) * 0.5
    return Q + np.stack([row[0] * (y[0] - start[0]) + row[1] * (y[1] - start[1]) for row in half])


def test_an_objective_that_is_a_plain_number_is_stationary_everywhere():
    constant = torsor.redundancy.stationary_constraint(ARM, Q, XY, lambda robot, q: 2.0)
    assert constant.value(ARM, Q).tolist() == [0.0]
    with pytest.raises(torsor.TorsorError, match="It is an algorithmic singularity"):
        torsor.redundancy.extended_jacobian_lift(ARM, XY, constant)


def test_nothing_is_wrong_with_the_choice_where_the_configuration_is_not_known():
    assert LIFT.why_singular(ARM, Q * np.nan) == ""
