"""Targets out of reach become the nearest within reach, all others stay as they are to the last bit."""

import sys

import numpy as np
import pytest
from hypothesis import given
from property_strategies import cases, robots

import torsor
from torsor import control as controllers

pytestmark = pytest.mark.compiled


def all_of(task, robot, q):
    """Where a task is, as a target."""
    if isinstance(task, torsor.tasks.StackedTask):
        return tuple(all_of(one, robot, q) for one in task.tasks)
    if isinstance(task, torsor.tasks.SelectedTask):
        return all_of(task.task, robot, q)
    if isinstance(task, torsor.tasks.FunctionTask):
        return task.value(robot, q)
    T = torsor.frame_pose(robot, q, task.frame)
    return {"pose": T, "orientation": T[..., :3, :3], "position": T[..., :3, 3]}[task.kind]


ARM = torsor.robots.planar_chain([0.5, 0.4, 0.3], [1.0, 0.8, 0.5])
TIP = ARM.frames[-1]
TASKS = {
    "position": torsor.position_task(TIP),
    "two rows": torsor.position_task(TIP).select(["vx", "vy"]),
    "pose": torsor.pose_task(TIP),
    "stacked": torsor.stack_tasks(torsor.position_task(TIP).select(["vx"]), torsor.orientation_task(TIP)),
    "function": torsor.function_task(lambda robot, q: torsor.frame_pose(robot, q, TIP)[:2, 3], 2),
}


@pytest.mark.parametrize("kind", TASKS)
def test_what_a_robot_can_reach_stays_as_it_is(kind):
    task = TASKS[kind]
    for q in torsor.random_configuration(ARM, seed=1, batch=(20,)):
        target = all_of(task, ARM, q)
        found = controllers.nearest_target(ARM, task, target)
        pairs = zip(found, target, strict=True) if isinstance(target, tuple) else [(found, target)]
        for got, want in pairs:
            np.testing.assert_array_equal(got, want)


@given(case=cases(robots(most=4), ((),)))
def test_so_it_is_for_every_kind_of_joint(case):
    robot, frame = case.robot, case.robot.links[-1]
    target = torsor.frame_pose(robot, case.q, frame)[:3, 3]
    np.testing.assert_array_equal(controllers.nearest_target(robot, torsor.position_task(frame), target), target)


def test_rows_of_a_function_are_weighed_by_how_much_joints_move_each():
    found = controllers.nearest_target(ARM, TASKS["function"], np.array([0.9, -1.2]))
    np.testing.assert_allclose(found, [0.72, -0.96], atol=0.03)
    assert np.linalg.norm(found) == pytest.approx(1.2, abs=1e-6)


@pytest.mark.parametrize("kind", ["position", "two rows"])
def test_the_nearest_of_a_point_out_of_reach_is_on_the_way_to_it(kind):
    task, direction = TASKS[kind], np.array([0.6, -0.8, 0.0])
    found = controllers.nearest_target(ARM, task, 1.5 * direction)
    np.testing.assert_allclose(found[:2], 1.2 * direction[:2], atol=1e-6)  # the arm is 1.2 m long
    np.testing.assert_allclose(controllers.nearest_target(ARM, task, found)[:2], found[:2], atol=1e-6)


def test_of_a_pose_an_angle_and_a_distance_are_weighed():
    """The nearest is a pose of the robot, and no configuration nearby is nearer."""
    target = np.eye(4)
    target[:3, 3] = 0.0, 1.5, 0.0
    T = controllers.nearest_target(ARM, TIP, target)
    q = torsor.inverse_kinematics(ARM, TIP, T, within_limits=False)
    assert q.residual < 1e-6

    def measured(T):
        angle = np.linalg.norm(torsor.lie.so3.log(T[:3, :3].T @ target[:3, :3]))
        J = np.asarray(torsor.body_jacobian(ARM, torsor.random_configuration(ARM, seed=0, batch=(64,)), TIP))
        unit_w, unit_v = (np.sqrt(np.mean(np.sum(J[:, rows] ** 2, axis=-1))) for rows in (slice(0, 3), slice(3, 6)))
        return (angle / unit_w) ** 2 + (np.linalg.norm(T[:3, 3] - target[:3, 3]) / unit_v) ** 2

    least = measured(T)
    for step in 1e-2 * np.random.default_rng(0).normal(size=(50, 3)):
        assert measured(torsor.frame_pose(ARM, q.q + step, TIP)) > least - 1e-9


def test_a_batch_of_targets_is_each_of_them():
    targets = np.array([[0.5, 0.2, 0.0], [1.0, 1.0, 0.0], [0.3, -0.1, 0.0], [0.0, -3.0, 0.0]])
    q, v = np.tile([0.3, 0.5, 0.4], (4, 1)), np.full((4, 3), 0.2)
    task = TASKS["two rows"]
    together = controllers.operational_space(ARM, q, v, task, targets, 10.0, 6.0, velocity=np.full((4, 2), 0.3))
    for k in range(4):
        one = controllers.operational_space(ARM, q[k], v[k], task, targets[k], 10.0, 6.0, velocity=np.full(2, 0.3))
        np.testing.assert_allclose(together[k], one, rtol=1e-9, atol=1e-9)
    assert controllers.operational_space(ARM, q[:0], v[:0], task, targets[:0], 10.0, 6.0).shape == (0, 3)
    found = controllers.nearest_target(ARM, task, targets)
    np.testing.assert_array_equal(found[[0, 2]], targets[[0, 2]])
    np.testing.assert_allclose(np.linalg.norm(found[[1, 3]], axis=-1), 1.2, atol=1e-6)


def test_a_target_that_moves_out_of_reach_leads_along_the_edge():
    """Of its velocity only what runs along the edge is followed."""
    q, v, task = np.array([0.2, 0.4, 0.5]), np.zeros(3), TASKS["two rows"]
    outward, along = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    target = np.array([0.0, 1.4, 0.0])

    def led(velocity):
        return controllers.operational_space(ARM, q, v, task, target, 10.0, 6.0, velocity=velocity)

    np.testing.assert_allclose(led(0.5 * outward), led(0.0 * outward), atol=1e-3)
    edge = controllers.nearest_target(ARM, task, target)
    want = controllers.operational_space(ARM, q, v, task, edge, 10.0, 6.0, velocity=0.5 * along, nearest=False)
    np.testing.assert_allclose(led(0.5 * (along + outward)), want, atol=1e-3)


def test_a_target_that_wanders_out_of_reach_is_found_again_step_by_step():
    task = TASKS["position"]
    for angle in np.linspace(0.0, 6.0, 60):
        u = np.array([np.cos(angle), np.sin(angle), 0.0])
        np.testing.assert_allclose(controllers.nearest_target(ARM, task, 1.5 * u), 1.2 * u, atol=1e-6)


def test_targets_are_taken_as_they_are_if_that_is_asked_for_or_nothing_can_be_searched():
    q, v, task = np.array([0.2, 0.4, 0.5]), np.zeros(3), TASKS["two rows"]
    target = np.array([0.0, 1.4, 0.0])
    plain = controllers.operational_space(ARM, q, v, task, target, 10.0, 6.0, nearest=False)
    kernel = torsor.compile(
        controllers.operational_space, ARM, {"q": 3, "v": 3, "target": 3}, task=task, kp=10.0, kd=6.0
    )
    np.testing.assert_allclose(kernel(q, v, target), plain, rtol=1e-12)
    led = controllers.operational_space(ARM, q, v, task, target, 10.0, 6.0)
    assert np.abs(led - plain).max() > 0.1
    edge = controllers.nearest_target(ARM, task, target)
    np.testing.assert_allclose(kernel(q, v, edge), led, rtol=1e-12)


def test_a_target_that_is_no_number_gives_none():
    task = TASKS["two rows"]
    tau = controllers.operational_space(ARM, np.full(3, 0.3), np.zeros(3), task, np.array([np.nan, 0.0, 0.0]), 1.0, 1.0)
    assert np.isnan(tau).any()


def test_what_is_no_number_in_a_batch_changes_nothing_of_the_others():
    task = TASKS["two rows"]
    targets = np.array([[0.5, 0.2, 0.0], [2.0, 0.0, 0.0], [np.nan, 0.0, 0.0], [0.0, -2.0, 0.0]])
    found = controllers.nearest_target(ARM, task, targets)
    np.testing.assert_allclose(found[[1, 3], :2], [[1.2, 0.0], [0.0, -1.2]], atol=1e-6)
    q = np.tile([0.3, 0.5, 0.4], (4, 1))
    q[3] = np.nan
    tau = controllers.operational_space(ARM, q, np.zeros((4, 3)), task, targets, 10.0, 6.0)
    for k in range(2):
        alone = controllers.operational_space(ARM, q[k], np.zeros(3), task, targets[k], 10.0, 6.0)
        np.testing.assert_allclose(tau[k], alone, rtol=1e-9)
    assert np.isnan(tau[2:]).all()


def test_what_is_found_is_the_callers_own():
    task, target = TASKS["position"], np.array([1.7, 0.0, 0.0])
    found = controllers.nearest_target(ARM, task, target)
    found[:] = 7.0
    np.testing.assert_allclose(controllers.nearest_target(ARM, task, target), [1.2, 0.0, 0.0], atol=1e-6)
    within = np.array([0.7, 0.1, 0.0])
    controllers.nearest_target(ARM, task, within)[:] = 7.0
    np.testing.assert_array_equal(within, [0.7, 0.1, 0.0])
    single = controllers.nearest_target(ARM, task, target.astype(np.float32))
    assert single.dtype == np.float32


def test_states_may_have_batch_axes_that_targets_have_not():
    q, targets = np.full((2, 3, 3), 0.3), np.array([[0.5, 0.2, 0.0], [2.0, 0.0, 0.0], [0.0, -2.0, 0.0]])
    velocity = np.linspace(0.0, 1.0, 12).reshape(2, 3, 2)
    tau = controllers.operational_space(ARM, q, 0 * q, TASKS["two rows"], targets, 10.0, 6.0, velocity=velocity)
    for i, k in np.ndindex(2, 3):
        one = controllers.operational_space(
            ARM, q[i, k], 0 * q[i, k], TASKS["two rows"], targets[k], 10.0, 6.0, velocity=velocity[i, k]
        )
        np.testing.assert_allclose(tau[i, k], one, rtol=1e-9, atol=1e-9)


def test_each_target_of_a_batch_is_searched_for_once(monkeypatch):
    """More of them than are remembered, or the same for many states."""
    module = sys.modules["torsor.control._nearest_target"]
    searched = []
    search = module.Known._searched
    monkeypatch.setattr(module, "REMEMBERED", 8)
    monkeypatch.setattr(module.Known, "_searched", lambda known, goal: (searched.append(goal), search(known, goal))[1])
    angles = np.linspace(0.0, 6.0, 12)
    far = 1.31 * np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=-1)
    found = controllers.nearest_target(ARM, TASKS["position"], np.concatenate([far, far]))
    np.testing.assert_allclose(found, np.tile(far * (1.2 / 1.31), (2, 1)), atol=1e-6)
    assert len(searched) == 12
