"""What must be true of every task, one's own too: value, error and J agree, and all functions take it."""

from __future__ import annotations

import functools
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from property_checks import DIFFERENTIATED, assert_close, derivative, derivative_along, times
from property_strategies import cases, robots

import torsor
from torsor.arrays import dot, transpose
from torsor.tasks import Task
from torsor.tasks.task import leaves

few = settings(max_examples=10)


@dataclass(frozen=True)
class Gap(Task):
    """The distance between the origins of two frames: numbers, of which a value is all that needs to be said."""

    one: str
    other: str
    labels = ("gap",)

    def value(self, robot, q):
        between = (
            torsor.frame_pose(robot, q, self.one)[..., :3, 3] - torsor.frame_pose(robot, q, self.other)[..., :3, 3]
        )
        return (dot(between, between) + 1e-2)[..., None] ** 0.5


@dataclass(frozen=True)
class Turned(Task):
    """The rotation of a frame, with an error of its own: an orientation task by definition alone."""

    frame: str
    labels = ("x", "y", "z")
    target_shape = (3, 3)

    def value(self, robot, q):
        return torsor.frame_pose(robot, q, self.frame)[..., :3, :3]

    def error(self, value, target):
        return torsor.lie.so3.log(transpose(value) @ target)


@dataclass(frozen=True)
class Heading(Task):
    """The angle of a frame's x axis, seen from above: whole turns do not matter."""

    frame: str
    labels = ("yaw",)
    units = ("rad",)

    def value(self, robot, q):
        R = torsor.frame_pose(robot, q, self.frame)[..., :3, :3]
        return np.arctan2(R[..., 1, 0], R[..., 0, 0])[..., None]

    def error(self, value, target):
        return np.arctan2(np.sin(target - value), np.cos(target - value))


def centre(robot, q):
    """The centre of mass."""
    return torsor.dynamics.centre_of_mass(robot, q)


def tasks_of(robot, frame):
    """One of every kind."""
    weight = torsor.function_task(centre, 3)
    return [
        torsor.pose_task(frame),
        torsor.position_task(frame),
        torsor.orientation_task(frame),
        weight,
        torsor.pose_task(frame, ["vz", "wx"]),
        torsor.position_task(frame, "vy"),
        Gap(frame, robot.frames[0]),
        Turned(frame),
        torsor.stack_tasks(weight.select(["y2", "y0"]), torsor.stack_tasks(frame, Turned(frame)), Gap(frame, "base")),
        torsor.stack_tasks(torsor.pose_task(frame), weight).select([7, 2, 3]),
    ]


@functools.cache
def two_arms():
    """A torso that turns, and an arm of six joints on each side."""
    body = torsor.Inertia(1.0, [0.0, 0.0, 0.1], 0.02 * np.eye(3))
    limits = {"lower": -2.5, "upper": 2.5, "inertia": body, "kind": "revolute"}
    joints = [torsor.Joint(name="torso", axis=(0, 0, 1), link="chest", **limits)]
    for side, y in (("left", 0.2), ("right", -0.2)):
        parent = "chest"
        for k, axis in enumerate([(0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0)]):
            xyz = (0.0, y, 0.3) if k == 0 else (0.0, 0.0, 0.25 if k in (2, 3) else 0.08)
            link = f"{side}_hand" if k == 5 else f"{side}_link_{k}"
            pose = torsor.pose_from(xyz)
            joints.append(torsor.Joint(name=f"{side}_{k}", axis=axis, parent=parent, pose=pose, link=link, **limits))
            parent = link
    return torsor.assemble(joints, name="two arms")


BOTH = torsor.stack_tasks("left_hand", "right_hand")
MANY = {
    "two hands": BOTH,
    "two points and the weight": torsor.stack_tasks(
        torsor.position_task("left_hand"),
        torsor.position_task("right_hand"),
        torsor.function_task(centre, 3).select([0, 1]),
    ),
    "centre of mass": torsor.function_task(centre, 3),
    "rows": torsor.stack_tasks(torsor.position_task("left_hand", ["vz"]), torsor.pose_task("right_hand", ["wx", "wy"])),
    "one's own": torsor.stack_tasks(Gap("left_hand", "right_hand"), Heading("left_hand"), Turned("right_hand")),
}


# Value, error, J


@few
@given(cases(robots(most=4), ((), (3,))))
def test_an_error_is_zero_where_it_should_be_and_changes_as_the_jacobian_says(case):
    robot, q, v = case.robot, case.q, case.v
    for task in tasks_of(robot, case.frame()):
        here = task.value(robot, q)
        for part, leaf in zip(task.parts, leaves(here), strict=True):
            assert leaf.shape == (*case.batch, *part.task.target_shape)
        zero = np.broadcast_to(task.error(here, here), (*case.batch, task.size))
        assert_close(zero, np.zeros((*case.batch, task.size)))
        rate = np.broadcast_to(times(task.jacobian(robot, q), v), (*case.batch, task.size))
        leaving = derivative(lambda t: task.error(here, task.value(robot, torsor.integrate(robot, q, v, t))))  # noqa: B023
        coming = derivative(lambda t: task.error(task.value(robot, torsor.integrate(robot, q, v, t)), here))  # noqa: B023
        assert_close(np.broadcast_to(leaving, rate.shape), rate, DIFFERENTIATED)
        assert_close(np.broadcast_to(coming, rate.shape), -rate, DIFFERENTIATED)


@few
@given(cases(robots(most=4), ((), (3,))))
def test_what_a_search_makes_small_falls_along_its_gradient(case):
    """d/dt ½ eᵀe = −eᵀ A v, also far from the target."""
    robot, q, v = case.robot, case.q, case.v
    there = torsor.integrate(robot, q, 0.3 * case.a / (1.0 + np.abs(case.a).max(initial=0.0)))
    for task in tasks_of(robot, case.frame()):
        target = task.value(robot, there)
        e, A = task.residual(robot, q, target)

        def merit(robot, q, task=task, target=target):
            now = task.residual(robot, q, target).error
            return np.broadcast_to(0.5 * dot(now, now), case.batch)

        expected = np.broadcast_to(-dot(e, times(A, v)), case.batch)
        assert_close(derivative_along(merit, robot, q, v), expected, DIFFERENTIATED)


@few
@given(cases(robots(most=4), ((), (3,))))
def test_a_class_that_says_where_it_is_has_the_jacobians_of_that(case):
    robot, q, v, frame = case.robot, case.q, case.v, case.frame()
    own, known = Turned(frame), torsor.orientation_task(frame)
    assert_close(np.broadcast_to(own.jacobian(robot, q), (*case.batch, 3, robot.nv)), known.jacobian(robot, q), 1e-11)
    assert_close(np.broadcast_to(own.drift(robot, q, v), (*case.batch, 3)), known.drift(robot, q, v), 1e-11)
    shape = (*case.batch, 3, robot.nv, robot.nv)
    assert_close(np.broadcast_to(own.derivative(robot, q), shape), known.derivative(robot, q), 1e-11)


def test_tasks_of_ones_own_are_values_like_all_others():
    robot = torsor.robots.ur5()
    q, v, _ = torsor.random_state(robot, seed=0)
    task = Gap("tool0", "link_2")
    assert pickle.loads(pickle.dumps(task)) == task
    assert task.key_for(robot) != Gap("tool0", "link_3").key_for(robot)
    assert Turned("tool0").key_for(robot) != Heading("tool0").key_for(robot)
    lift = torsor.redundancy.horizontal_lift(robot, q, task)
    assert_close(task.jacobian(robot, q) @ lift, np.eye(1))
    kernel = torsor.compile(lambda robot, q, goal: task.error(task.value(robot, q), goal), robot, {"q": 6, "goal": 1})
    assert_close(kernel(q, np.array([0.3])), 0.3 - task.value(robot, q))
    y = torsor.tasks.task_space_dynamics(robot, q, v, Heading("tool0"))
    assert np.isfinite(y.inertia).all()


@pytest.mark.compiled
def test_values_and_errors_in_jax(jax_in_doubles):
    jax, robot = jax_in_doubles, torsor.robots.panda()
    q = torsor.random_configuration(robot, seed=0, batch=(2, 3))
    for task in tasks_of(robot, "hand_tcp"):
        there = task.value(robot, q[0])
        error = jax.jit(lambda q, task=task, there=there: task.error(task.value(robot, q), there))(q[1])
        assert_close(error, task.error(task.value(robot, q[1]), there), 1e-11)


# All that takes a task


@pytest.mark.compiled
@pytest.mark.parametrize("name", MANY)
def test_inverse_kinematics_of_any_task(name):
    robot, task = two_arms(), MANY[name]
    q = torsor.random_configuration(robot, seed=1, batch=(20,))
    targets = task.value(robot, q)
    found = torsor.inverse_kinematics(robot, task, targets)
    assert found, found
    assert np.all((found.q >= robot.limits.lower) & (found.q <= robot.limits.upper))
    assert np.abs(task.error(task.value(robot, found.q), targets)).max() < 2e-8
    assert found.error.shape == (20, task.size) and found.residual.max() <= 1e-8
    one = torsor.inverse_kinematics(robot, task, task.value(robot, q[0]), start=q[0] + 0.01, starts=1)
    assert one and one.q.shape == (13,) and np.abs(one.q - q[0]).max() < 0.5


@pytest.mark.compiled
def test_rows_ask_for_nothing_else():
    robot, height = torsor.robots.panda(), torsor.position_task("hand_tcp", ["vz"])
    found = torsor.inverse_kinematics(robot, height, [np.nan, np.nan, 0.4])
    assert found and abs(torsor.frame_pose(robot, found.q, "hand_tcp")[2, 3] - 0.4) < 1e-8
    with pytest.raises(torsor.ModelError, match="finite"):
        torsor.inverse_kinematics(robot, height, [0.0, 0.0, np.nan])


@pytest.mark.compiled
def test_what_is_out_of_reach_of_one_hand_is_named():
    targets = (torsor.pose_from((0.2, 3.0, 0.5)), torsor.pose_from((0.3, -0.2, 0.5)))
    found = torsor.inverse_kinematics(two_arms(), BOTH, targets, starts=2)
    assert not found and str(found.reason).startswith("target of 'left_hand' out of reach: ")
    one = torsor.inverse_kinematics(two_arms(), Gap("left_hand", "right_hand"), [50.0], starts=2)
    assert not one and "in its own unit" in str(one.reason)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["two hands", "centre of mass", "one's own"])
def test_a_controller_leads_any_task_to_its_target(name):
    """A second and a half of operational-space control."""
    robot, task = two_arms(), MANY[name]
    q, v, dt = torsor.random_configuration(robot, seed=4), np.zeros(13), 5e-3
    goal = task.value(robot, q + 0.1)
    before = np.linalg.norm(task.error(task.value(robot, q), goal))
    for _ in range(300):
        tau = torsor.control.operational_space(robot, q, v, task, goal, 100.0, 20.0, posture_kd=10.0, nearest=False)
        v = v + dt * torsor.forward_dynamics(robot, q, v, tau)
        q = q + dt * v
    assert np.linalg.norm(task.error(task.value(robot, q), goal)) < 1e-3 * before
    assert_close(task.jacobian(robot, q) @ v, np.zeros(task.size), 1e-3)


@pytest.mark.compiled
def test_the_nearest_target_of_two_hands_is_one_that_they_can_reach():
    robot, points = (
        two_arms(),
        torsor.stack_tasks(torsor.position_task("left_hand"), torsor.position_task("right_hand")),
    )
    left, right = torsor.control.nearest_target(robot, points, ([0.0, 5.0, 0.5], [0.3, -0.3, 0.6]))
    assert np.linalg.norm(left) < 2.0 and left.shape == right.shape == (3,)
    assert torsor.inverse_kinematics(robot, points, (left, right), within_limits=False, tolerance=1e-4)


def test_lifts_follow_any_task_and_feedback_brings_it_back():
    robot = two_arms()
    q = torsor.random_configuration(robot, seed=4)
    y = np.zeros((2, 12))
    y[1, [2, 4, 9, 10]] = 0.05, 0.03, -0.04, 0.02
    curve = torsor.redundancy.lift_curve(robot, q, BOTH, y, feedback=5.0)
    moved = BOTH.error(BOTH.value(robot, q), BOTH.value(robot, curve.q[-1]))
    assert_close(moved, y[1], 1e-6)
    own = torsor.stack_tasks(Gap("left_hand", "right_hand"), torsor.function_task(centre, 3))
    gap = torsor.redundancy.lift_curve(robot, q, own, [[0.0] * 4, [0.02, 0.0, 0.01, 0.0]], feedback=5.0)
    assert_close(own.error(own.value(robot, q), own.value(robot, gap.q[-1])), [0.02, 0.0, 0.01, 0.0], 1e-6)
    with pytest.raises(torsor.TorsorError, match="feedback is known of whole poses"):
        torsor.redundancy.lift_curve(robot, q, Turned("left_hand"), np.zeros((2, 3)), feedback=1.0)


@pytest.mark.compiled
def test_self_motions_leave_any_task_where_it_is():
    body = torsor.Inertia(1.0, [0.1, 0.0, 0.0], 0.02 * np.eye(3))
    more = {"kind": "revolute", "axis": (0, 0, 1), "inertia": body}
    joints = [torsor.Joint(name="torso", link="chest", **more)]
    for side, y in (("left", 0.3), ("right", -0.3)):
        joints.append(
            torsor.Joint(name=f"{side}_0", parent="chest", pose=torsor.pose_from((0, y, 0)), link=f"{side}_arm", **more)
        )
        hand = {"parent": f"{side}_arm", "pose": torsor.pose_from((0.5, 0, 0)), "link": f"{side}_wrist"}
        joints.append(torsor.Joint(name=f"{side}_1", **hand, **more))
    robot = torsor.assemble(joints, name="planar pair").with_frame("left", "left_wrist", torsor.pose_from((0.4, 0, 0)))
    robot = robot.with_frame("right", "right_wrist", torsor.pose_from((0.4, 0, 0)))
    q = np.array([0.1, 0.6, 0.7, -0.4, -0.9])
    left, right = (torsor.position_task(side, ["vx", "vy"]) for side in ("left", "right"))
    for task in (
        torsor.stack_tasks(left, right),
        torsor.stack_tasks(Gap("left", "right"), Turned("right").select("z"), left),
    ):
        motion = torsor.redundancy.self_motion(robot, q, task)
        off = task.error(task.value(robot, q), task.value(robot, motion.q))
        assert len(motion.q) > 10 and np.abs(off).max() < 1e-8


def test_priorities_and_limits_of_any_task():
    """Errors as velocities, in strict order: a loop of differential inverse kinematics."""
    pytest.importorskip("scipy")
    robot = two_arms()
    q = torsor.random_configuration(robot, seed=4)
    first, second = BOTH, Gap("left_link_3", "right_link_3")
    goals = [task.value(robot, q + 0.02) for task in (first, second)]
    wide = torsor.control.task_limit(second, lower=0.0, upper=3.0)
    for _ in range(60):
        wanted = [
            (task, 10.0 * task.error(task.value(robot, q), goal))
            for task, goal in zip((first, second), goals, strict=True)
        ]
        q = q + 0.02 * torsor.control.prioritised_velocities(robot, q, wanted, dt=0.02, limits=[wide]).v
    assert np.abs(first.error(first.value(robot, q), goals[0])).max() < 1e-4
    assert np.abs(second.error(second.value(robot, q), goals[1])).max() < 1e-4
    with pytest.raises(torsor.TorsorError, match="says how fast it moves"):
        torsor.control.task_limit(Turned("left_hand"), lower=0.0)


# In words


def test_what_a_task_lacks_is_said():
    robot, velocity = torsor.robots.panda(), torsor.pose_task("hand_tcp", axes="mixed")
    assert not velocity.has_value
    with pytest.raises(
        torsor.ArgumentError, match=r"inverse_kinematics: .*'hand_tcp in mixed axes' says how fast it moves"
    ):
        torsor.inverse_kinematics(robot, velocity, np.eye(4))
    both = torsor.stack_tasks("hand_tcp", torsor.position_task("flange"))
    with pytest.raises(
        torsor.ShapeError, match=r"a tuple of 2, .* of shapes \(\.\.\., 4, 4\), \(\.\.\., 3\); got \(4, 4\)"
    ):
        torsor.inverse_kinematics(robot, both, np.eye(4))

    @dataclass(frozen=True)
    class Wrong(Heading):
        def value(self, robot, q):
            return torsor.frame_pose(robot, q, self.frame)[..., :3, :3]

    with pytest.raises(torsor.ShapeError, match=r"'Wrong': value\(robot, q\) must have shape \(1,\) .* got \(3, 3\)"):
        Wrong("hand_tcp").jacobian(robot, robot.neutral)
