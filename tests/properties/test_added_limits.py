"""Limits that a user adds to priorities: of places and velocities of tasks, and linear ones of the user's own."""

from dataclasses import dataclass

import numpy as np
import pytest

import torsor

DT = 0.01
PANDA = torsor.robots.panda()
HOME = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.5])
HAND, HEIGHT = torsor.position_task("hand_tcp"), torsor.position_task("hand_tcp", ["vz"])
FLOOR = torsor.control.task_limit(HEIGHT, lower=0.4)


def height(q):
    return torsor.frame_pose(PANDA, q, "hand_tcp")[..., 2, 3]


@dataclass(frozen=True)
class Together(torsor.control.Limit):
    """|v_1 + v_3| at most, and of accelerations the same."""

    most: float

    names = ("joints 1 and 3",)
    unit = "rad/s"

    def velocities(self, robot, q, dt):
        return np.eye(7)[:1] + np.eye(7)[2:3], [-self.most], [self.most]


@pytest.mark.compiled
@pytest.mark.parametrize("by", ["velocities", "accelerations"])
def test_a_floor_is_kept_whatever_is_asked(by):
    """Pulled down at first, then released: the hand slides along the floor, above it but for the second order of a step."""
    q, v, lowest = HOME.copy(), np.zeros(7), np.inf
    for k in range(150):
        down = np.array([0.3, 0.0, -1.0 if k < 120 else 1.0])
        if by == "velocities":
            found = torsor.control.prioritised_velocities(PANDA, q, [(HAND, down)], DT, limits=[FLOOR])
            q = q + DT * found.v
        else:
            y = 20.0 * (down - HAND.jacobian(PANDA, q) @ v)
            found = torsor.control.prioritised_accelerations(
                PANDA, q, v, [(HAND, y)], DT, null=-5.0 * v, limits=[FLOOR]
            )
            q, v = q + DT * v + 0.5 * DT**2 * found.a, v + DT * found.a
        lowest = min(lowest, float(height(q)))
        if k == 119:
            assert "hand_tcp vz" in {limit.joint for limit in found.active_limits}
            assert "its lower position limit 0.4 m" in str(found)
            assert not found.tasks[0].done
    assert 0.4 - 1e-3 < lowest < 0.41
    assert height(q) > 0.41


def test_a_floor_in_the_way_is_named_and_costs_no_more_than_it_must():
    q = HOME.copy()
    floor = torsor.control.task_limit(HEIGHT, lower=float(height(q)))
    found = torsor.control.prioritised_velocities(PANDA, q, [(HAND, [0.1, 0.0, -0.2])], DT, limits=[floor])
    np.testing.assert_allclose(found.residuals[0], [0.0, 0.0, -0.2], atol=1e-9)
    assert [limit.joint for limit in found.tasks[0].limits] == ["hand_tcp vz"]
    assert found.tasks[0].limits[0].kind == "position" and found.feasible


def test_a_robot_below_its_floor_comes_up_over_the_time_of_recovery():
    q = HOME.copy()
    floor = torsor.control.task_limit(HEIGHT, lower=float(height(q)) + 0.02)
    found = torsor.control.prioritised_velocities(PANDA, q, [(HAND, np.zeros(3))], DT, limits=[floor], recovery=0.2)
    assert HEIGHT.jacobian(PANDA, q) @ found.v == pytest.approx(0.1)
    assert "hand_tcp vz 0.02 m beyond its lower position limit" in str(found)


@pytest.mark.parametrize("task", [HAND, torsor.orientation_task("hand_tcp"), torsor.pose_task("hand_tcp")])
def test_velocities_of_tasks_are_limited(task):
    limit = torsor.control.task_limit(task, velocity=0.1)
    rng = np.random.default_rng(0)
    y = 3.0 * rng.normal(size=task.size)
    found = torsor.control.prioritised_velocities(PANDA, HOME, [(task, y)], DT, limits=[limit])
    rates = task.jacobian(PANDA, HOME) @ found.v
    assert np.abs(rates).max() == pytest.approx(0.1) and np.abs(rates).max() <= 0.1 + 1e-9
    assert f"hand_tcp {task.labels[0]}" in {limit.joint for limit in found.active_limits}
    v = 0.01 * rng.normal(size=7)
    pushed = torsor.control.prioritised_accelerations(PANDA, HOME, v, [(task, 50.0 * y)], DT, limits=[limit])
    rates = task.jacobian(PANDA, HOME) @ (v + DT * pushed.a) + DT * task.drift(PANDA, HOME, v)
    assert np.abs(rates).max() <= 0.1 + 1e-8


def test_limits_of_your_own_are_kept_and_named():
    y = torsor.body_jacobian(PANDA, HOME, "hand_tcp") @ np.array([1.0, 0, 1.0, 0, 0, 0, 0])
    free = torsor.control.prioritised_velocities(PANDA, HOME, [("hand_tcp", y)], DT)
    assert free.v[0] + free.v[2] > 0.5
    found = torsor.control.prioritised_velocities(PANDA, HOME, [("hand_tcp", y)], DT, limits=[Together(0.5)])
    assert found.v[0] + found.v[2] == pytest.approx(0.5)
    assert "limits in its way: " in str(found.tasks[0])
    assert "joints 1 and 3 at its upper limit" in str(found.tasks[0])
    with pytest.raises(torsor.TorsorError, match=r"Together: it has no `accelerations\(robot, q, v, dt\)`"):
        torsor.control.prioritised_accelerations(PANDA, HOME, np.zeros(7), [], DT, limits=[Together(0.5)])


def test_a_batch_has_the_limits_of_each_state():
    rng = np.random.default_rng(3)
    q = HOME + 0.3 * rng.uniform(-1, 1, (4, 7))
    limits = [
        torsor.control.task_limit(HEIGHT, lower=0.45),
        torsor.control.task_limit(HAND, velocity=0.5),
        Together(0.2),
    ]
    y = np.array([0.5, 0.2, -2.0])
    found = torsor.control.prioritised_velocities(PANDA, q, [(HAND, y)], DT, limits=limits)
    for k in range(4):
        alone = torsor.control.prioritised_velocities(PANDA, q[k], [(HAND, y)], DT, limits=limits)
        np.testing.assert_allclose(found.v[k], alone.v, atol=1e-9)
        assert str(found[k]) == str(alone)


def test_limits_that_contradict_each_other_are_said_to():
    low, high = torsor.control.task_limit(HEIGHT, upper=0.2), torsor.control.task_limit(HEIGHT, lower=0.9)
    found = torsor.control.prioritised_velocities(PANDA, HOME, [], DT, limits=[low, high])
    assert not found.feasible
    assert {conflict.limit.joint for conflict in found.conflicts} == {"hand_tcp vz"}
    assert "it should come back at" in str(found)


def test_limits_of_functions_and_stacks():
    def reach(robot, q):
        return q[:1] + q[2:3]

    task = torsor.function_task(reach, 1)
    stack = torsor.control.task_limit(torsor.stack_tasks(task, HEIGHT), lower=[-1.0, 0.3], upper=[0.01, np.inf])
    found = torsor.control.prioritised_velocities(PANDA, HOME, [(task, [5.0])], DT, limits=[stack])
    assert found.v[0] + found.v[2] == pytest.approx(1.0)  # 0.01 in a step
    assert [limit.joint for limit in found.tasks[0].limits] == ["reach + hand_tcp reach.y0"]


def test_what_cannot_be_meant_is_refused():
    for match, call in (
        ("`task` is made by position_task", lambda: torsor.control.task_limit("hand_tcp", lower=0.0)),
        ("nothing to limit", lambda: torsor.control.task_limit(HAND)),
        ("`lower` must be a number, or 3", lambda: torsor.control.task_limit(HAND, lower=[0.0, 1.0])),
        ("`lower` must be a number, or 3", lambda: torsor.control.task_limit(HAND, lower=np.nan)),
        ("`upper` must be numbers", lambda: torsor.control.task_limit(HAND, upper="high")),
        ("`lower` must not be above `upper`", lambda: torsor.control.task_limit(HAND, lower=1.0, upper=0.0)),
        ("no place is within lower=inf", lambda: torsor.control.task_limit(HAND, lower=np.inf)),
        ("must not be negative", lambda: torsor.control.task_limit(HAND, velocity=-1.0)),
        (
            "only its `velocity` can be limited",
            lambda: torsor.control.task_limit(torsor.pose_task("hand_tcp"), lower=0.0),
        ),
        ("`limits` are a list", lambda: torsor.control.prioritised_velocities(PANDA, HOME, [], DT, limits=FLOOR)),
        (
            "made by task_limit, or of a class",
            lambda: torsor.control.prioritised_velocities(PANDA, HOME, [], DT, limits=[3]),
        ),
    ):
        with pytest.raises(torsor.TorsorError, match=match):
            call()


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ((np.eye(7), [0.0], [1.0]), r"for 1 names, C must have shape \(\.\.\., 1, 7\)"),
        ((np.eye(7)[:1], [np.nan], [1.0]), "bounds numbers or infinite"),
        ((np.full((1, 7), np.inf), [0.0], [1.0]), "C must be finite"),
        ((np.eye(7)[:1], [2.0], [1.0]), "lower bounds must not be above upper ones"),
        (3.0, "must give C, lower and upper"),
    ],
)
def test_limits_of_your_own_that_are_wrong_are_refused(given, match):
    class Wrong(torsor.control.Limit):
        names = ("wrong",)

        def velocities(self, robot, q, dt):
            return given

    with pytest.raises(torsor.TorsorError, match=f"limit Wrong: .*{match}"):
        torsor.control.prioritised_velocities(PANDA, HOME, [], DT, limits=[Wrong()])
