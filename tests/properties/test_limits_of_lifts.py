"""Joint limits in lifted curves and closed paths: where they are passed is always said, and nothing passes them if so asked."""

import warnings

import numpy as np
import pytest

import torsor
from torsor.redundancy import circle
from torsor.redundancy.configurations import leaves_limits

pytestmark = pytest.mark.compiled  # thousands of calls for one state each
FREE = torsor.robots.planar_chain([0.5, 0.4, 0.3], [1.0, 0.8, 0.5])
XY = torsor.position_task("tip", ["vx", "vy"])
Q = np.array([0.2, 0.7, 0.6])
CORNERS = np.array([[0.0, 0.0], [-0.3, 0.0], [-0.3, 0.2]])


def limited(upper):
    return FREE.with_limits({"joint_2": (-np.inf, upper)})


def highest_second_joint(lifted):
    return float(lifted.q[:, 1].max())


def test_a_lifted_curve_ends_at_the_limit_that_it_comes_to():
    free = torsor.redundancy.lift_curve(FREE, Q, XY, CORNERS, samples=401)
    assert free.limit is None
    assert free.finished
    upper = 0.5 * (Q[1] + highest_second_joint(free))
    lifted = torsor.redundancy.lift_curve(limited(upper), Q, XY, CORNERS, within_limits=True)
    assert not lifted.finished
    assert lifted.q[-1, 1] == pytest.approx(upper, abs=1e-9)
    assert highest_second_joint(lifted) < upper + 1e-9
    assert lifted.limit.startswith(f"the upper limit of 'joint_2', {upper:.6g}, at t = {lifted.t[-1]:.6g}")
    assert "it ends at the upper limit of 'joint_2'" in str(lifted)
    # It is the beginning of the same motion.
    order = np.argsort(free.t)
    for k in range(3):
        expected = np.interp(lifted.t, free.t[order], free.q[order, k])
        np.testing.assert_allclose(lifted.q[:, k], expected, atol=1e-4)
    assert len(lifted.t) == len(lifted.q) == len(lifted.v) == len(lifted.fibre)


def test_going_beyond_limits_is_said():
    upper = Q[1] + 1e-3
    lifted = torsor.redundancy.lift_curve(limited(upper), Q, XY, CORNERS, samples=3)
    np.testing.assert_allclose(lifted.q, torsor.redundancy.lift_curve(FREE, Q, XY, CORNERS, samples=3).q, atol=1e-12)
    assert lifted.finished
    assert "it goes beyond the upper limit of 'joint_2'" in str(lifted)
    drift = torsor.redundancy.closed_path_drift(limited(upper), Q, XY, CORNERS, rounds=1)
    assert drift.finished
    assert "joints go beyond the upper limit of 'joint_2'" in str(drift)
    assert ", in round 1 at t = " in drift.limit


def test_a_limit_between_two_samples_is_seen():
    """A curve that goes there and back within a leg: its ends, the only samples, are inside."""

    def there_and_back(t):
        return np.array([-0.2 * np.pi * np.sin(2 * np.pi * t), 0.0])

    free = torsor.redundancy.lift_curve(FREE, Q, XY, there_and_back, samples=101)
    upper = highest_second_joint(free) - 1e-6
    ends = torsor.redundancy.lift_curve(limited(upper), Q, XY, there_and_back, samples=2)
    assert highest_second_joint(ends) < upper
    assert ends.limit is not None
    stopped = torsor.redundancy.lift_curve(limited(upper), Q, XY, there_and_back, samples=2, within_limits=True)
    assert stopped.q[-1, 1] == pytest.approx(upper, abs=1e-9)


@pytest.mark.parametrize("place", [0.03, 0.47, 0.97])
def test_a_limit_that_is_passed_for_a_moment_is_seen_wherever_that_is(place):
    """A joint that goes 1e-6 beyond its limit and back, near either end of what is looked at too."""
    robot, times = FREE.with_limits({"joint_2": (-np.inf, 1.0)}), np.linspace(0.0, 1.0, 9)

    def curve(t):
        t = np.asarray(t)
        return np.stack([0.3 * t, 1.0 + 1e-6 - 2.0 * (t - place) ** 2, 0.0 * t], axis=-1)

    when = leaves_limits(robot, curve, times)
    assert when == pytest.approx(place - np.sqrt(0.5e-6), abs=1e-9)
    assert leaves_limits(FREE.with_limits({"joint_2": (-np.inf, 1.0 + 2e-6)}), curve, times) is None


def test_without_limits_there_is_nothing_to_warn_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torsor.redundancy.self_motion(FREE, Q, XY, spacing=0.2, within_limits=True).closed


def test_closed_paths_go_round_as_often_as_limits_let_them():
    path = circle(XY, -0.1)
    free = torsor.redundancy.closed_path_drift(FREE, Q, XY, path, rounds=4, lift="pseudoinverse")
    joint = int(np.argmax(np.abs(free.drift[-1])))
    way = torsor.redundancy.lift_curve(FREE, Q, XY, path, lift="pseudoinverse", samples=201)
    side = 1.0 if free.drift[-1, joint] > 0 else -1.0
    # As far as it goes in the first round, and one and a half times the drift of a round beyond.
    reach = np.max(side * way.q[:, joint]) + 1.5 * abs(free.drift[1, joint])
    bounds = (-np.inf, side * reach) if side > 0 else (side * reach, np.inf)
    robot = FREE.with_limits({f"joint_{joint + 1}": bounds})
    found = torsor.redundancy.closed_path_drift(robot, Q, XY, path, rounds=4, lift="pseudoinverse", within_limits=True)
    assert 1 <= found.rounds < 4
    assert not found.finished
    np.testing.assert_allclose(found.q, free.q[: found.rounds + 1], atol=1e-9)
    assert f"in round {found.rounds + 1} at t = " in found.limit
    assert "it cannot go on within the limits" in str(found)


@pytest.mark.parametrize(
    "call",
    [
        lambda robot: torsor.redundancy.lift_curve(robot, Q, XY, CORNERS, within_limits=True),
        lambda robot: torsor.redundancy.closed_path_drift(robot, Q, XY, CORNERS, within_limits=True),
        lambda robot: torsor.redundancy.self_motion(robot, Q, XY, within_limits=True),
        lambda robot: torsor.redundancy.self_motion_components(robot, Q, XY, within_limits=True),
    ],
)
def test_starts_outside_the_limits_are_refused(call):
    with pytest.raises(torsor.TorsorError, match=r"outside the limits.*beyond the upper limit of 'joint_2', 0.5"):
        call(limited(0.5))


def test_no_motion_within_limits_is_said_in_words():
    with pytest.raises(torsor.TorsorError, match="cannot go round once within its limits: it comes to the upper limit"):
        torsor.redundancy.closed_path_drift(limited(Q[1] + 1e-3), Q, XY, CORNERS, within_limits=True)
    rates = torsor.redundancy.lift_curve(FREE, Q, XY, CORNERS, samples=2).v[0]
    joint = int(np.argmax(rates))
    robot = FREE.with_limits({f"joint_{joint + 1}": (-np.inf, Q[joint])})
    with pytest.raises(
        torsor.TorsorError, match="would leave its limits at once: it begins at the upper limit of 'joint_"
    ):
        torsor.redundancy.lift_curve(robot, Q, XY, CORNERS, within_limits=True)


def test_pieces_within_limits_are_those_of_the_curves_between_them():
    """A closed curve on which the first joint swings between two ends: limits within them cut it into two."""
    q = np.array([0.3, 0.9, 0.5])
    whole = torsor.redundancy.self_motion(FREE, q, XY)
    assert whole.closed
    low, high = whole.q[:, 0].min(), whole.q[:, 0].max()
    bounds = (0.5 * (q[0] + low), 0.5 * (q[0] + high))
    robot = FREE.with_limits({"joint_1": bounds})
    found = torsor.redundancy.self_motion_components(robot, q, XY, starts=30, within_limits=True)
    inside = (whole.q[:, 0] > bounds[0]) & (whole.q[:, 0] < bounds[1])
    assert len(found) == np.sum(np.diff(np.concatenate([inside[-1:], inside]).astype(int)) == 1) == 2
    for curve in found.components:
        assert all("limit of 'joint_1'" in end for end in curve.ends)
        assert np.all((curve.q[:, 0] > bounds[0] - 1e-9) & (curve.q[:, 0] < bounds[1] + 1e-9))
    assert len(torsor.redundancy.self_motion_components(robot, q, XY, starts=10)) == 1


def test_surfaces_within_limits_are_cut_by_them():
    """Of a planar 4R the last joint is kept off zero: bent one way and bent the other way are two pieces."""
    chain = torsor.robots.planar_chain([1.0, 0.5, 0.5, 0.5], [1.0] * 4)
    start = torsor.inverse_kinematics(chain, torsor.position_task("tip"), [1.0, 0, 0]).q
    assert len(torsor.redundancy.self_motion_components(chain, start, XY, starts=8)) == 1
    side = np.sign(start[3])
    robot = chain.with_limits({"joint_4": (0.0, np.inf) if side > 0 else (-np.inf, 0.0)})
    found = torsor.redundancy.self_motion_components(robot, start, XY, starts=8, within_limits=True)
    assert all(np.all(side * piece[:, 3] >= 0.0) for piece in found.solutions)
