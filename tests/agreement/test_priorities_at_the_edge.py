"""Prioritised velocities and accelerations at targets that cannot be reached, in closed loop: the robot comes to rest.

Velocities are integrated by hand; torques of accelerations drive Pinocchio's dynamics, four stages of Runge and Kutta a step.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_model import Twin
from test_edge_of_reach import arm_of, edge

import torsor

pytestmark = pytest.mark.compiled

AT_REST = 0.05  # rad/s
HOME = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.5])


def led_by_velocities(name, start, target, gain, dt, seconds, **options):
    """The fastest joint of the last half second, the fastest of all, and where it ends; ``target`` a point or a pose."""
    robot, frame, starts, _ = arm_of(name)
    task = torsor.position_task(frame) if np.ndim(target) == 1 else torsor.pose_task(frame)
    q, speeds = np.array(starts[start]), []
    for _ in range(round(seconds / dt)):
        v = torsor.control.prioritised_velocities(
            robot, q, [(task, gain * error(robot, q, frame, target))], dt, **options_at(options, q)
        ).v
        q = q + dt * v
        speeds.append(np.abs(v).max())
    return max(speeds[-round(0.5 / dt) :]), max(speeds), q


def error(robot, q, frame, target):
    T = torsor.frame_pose(robot, q, frame)
    return target - T[:3, 3] if np.ndim(target) == 1 else torsor.lie.se3.log(np.linalg.inv(T) @ target)


def options_at(options, q):
    return {name: x(q) if callable(x) else x for name, x in options.items()}


FREE = {"within_limits": False}


@pytest.mark.parametrize(
    ("name", "start", "direction", "beyond", "gain", "dt", "options"),
    [
        ("panda", "inside", (1, 0, 0.2), 0.5, 4.0, 0.004, {}),
        ("panda", "inside", (1, 0, 0.2), 0.5, 10.0, 0.002, {}),
        ("panda", "inside", (1, 0, 0.2), 0.05, 4.0, 0.004, {"null": lambda q: 2.0 * (HOME - q)}),
        ("panda", "inside", (0, 1, 0.5), 0.5, 4.0, 0.004, FREE | {"null": lambda q: 4.0 * (HOME - q)}),
        ("ur5", "straight", (0, 1, 0.3), 0.3, 10.0, 0.004, {}),
        ("ur5", "wrist", (-1, 0, 0.3), 0.7, 4.0, 0.008, FREE),
        ("planar2r", "inside", (1, 1, 0), 0.7, 4.0, 0.004, FREE),
        ("planar2r", "straight", (-1, 1, 0), 0.05, 10.0, 0.01, FREE),
    ],
)
def test_velocities_lead_to_rest_at_points_out_of_reach(name, start, direction, beyond, gain, dt, options):
    robot, frame, *_ = arm_of(name)
    point, u = edge(name, direction)
    last, fastest, q = led_by_velocities(name, start, point + beyond * u, gain, dt, 3.0, **options)
    assert last < AT_REST
    assert fastest < (100.0 if options else 3.3)
    if options or name != "panda":  # its elbow has a limit before it is straight
        assert np.linalg.norm(torsor.frame_pose(robot, q, frame)[:3, 3] - point) < 2e-3


@pytest.mark.parametrize(("name", "start"), [("ur5", "wrist"), ("panda", "inside")])
def test_velocities_lead_to_rest_at_poses_out_of_reach(name, start):
    robot, frame, starts, _ = arm_of(name)
    target = torsor.frame_pose(robot, np.array(starts["inside"]), frame)
    point, u = edge(name, (1, 0.4, 0.3))
    target[:3, 3] = point + 0.3 * u
    last, _, _ = led_by_velocities(name, start, target, 4.0, 0.006, 3.0)
    assert last < AT_REST


@pytest.mark.parametrize(("name", "most"), [("panda", 3.0), ("ur5", 10.0)])
def test_velocities_that_may_change_slowly_alone_come_to_rest_too(name, most):
    """|v − previous| ≤ a_max dt: what can hardly brake must slow down in time, or it goes to and fro."""
    robot, frame, starts, _ = arm_of(name)
    point, u = edge(name, (1, 0.3, 0.2))
    task, q, v, dt, speeds = torsor.position_task(frame), np.array(starts["inside"]), np.zeros(robot.nv), 0.008, []
    for _ in range(500):
        y = 4.0 * error(robot, q, frame, point + 0.3 * u)
        found = torsor.control.prioritised_velocities(robot, q, [(task, y)], dt, previous=v, acceleration_limits=most)
        assert found.feasible
        v = found.v
        q = q + dt * v
        speeds.append(np.abs(v).max())
    assert max(speeds[-60:]) < AT_REST


def after_step(twin, q, v, tau, dt):
    """q and v after a step of four stages with torques held, by the dynamics of Pinocchio."""
    data, K_inverse = twin.model.createData(), np.linalg.inv(twin.K)

    def accelerated(q, v):
        return K_inverse @ pin.aba(twin.model, data, twin.q(q), twin.K @ v, K_inverse.T @ tau)

    a_1 = accelerated(q, v)
    v_2, q_2 = v + 0.5 * dt * a_1, q + 0.5 * dt * v
    a_2 = accelerated(q_2, v_2)
    v_3, q_3 = v + 0.5 * dt * a_2, q + 0.5 * dt * v_2
    a_3 = accelerated(q_3, v_3)
    v_4, q_4 = v + dt * a_3, q + dt * v_3
    q = q + dt / 6.0 * (v + 2.0 * v_2 + 2.0 * v_3 + v_4)
    return q, v + dt / 6.0 * (a_1 + 2.0 * a_2 + 2.0 * a_3 + accelerated(q_4, v_4))


def led_by_torques(name, start, target, kp, dt, seconds, **options):
    """The same by accelerations, whose torques are held for a step dt; the plant is Pinocchio's."""
    robot, frame, starts, twin = arm_of(name)
    task = torsor.position_task(frame) if np.ndim(target) == 1 else torsor.pose_task(frame)
    q, v, kd, speeds = np.array(starts[start]), np.zeros(robot.nv), 2.0 * np.sqrt(kp), []
    for _ in range(round(seconds / dt)):
        wanted = kp * error(robot, q, frame, target) - kd * task.jacobian(robot, q) @ v
        tau = torsor.control.prioritised_accelerations(robot, q, v, [(task, wanted)], dt, null=-kd * v, **options).tau
        q, v = after_step(twin, q, v, tau, dt)
        speeds.append(np.abs(v).max())
    return max(speeds[-round(0.3 / dt) :]), max(speeds), q


@pytest.mark.parametrize(
    ("name", "start", "direction", "beyond", "kp", "dt", "free"),
    [
        ("panda", "inside", (1, 0, 0.2), 0.5, 100.0, 0.004, False),
        ("panda", "inside", (1, 0, 0.2), 0.05, 400.0, 0.002, True),
        ("ur5", "straight", (0, 1, 0.3), 0.3, 25.0, 0.004, False),
        ("planar2r", "inside", (1, 1, 0), 0.7, 100.0, 0.004, True),
        ("planar2r", "straight", (-1, 1, 0), 0.3, 25.0, 0.004, True),
    ],
)
def test_accelerations_lead_to_rest_at_points_out_of_reach(name, start, direction, beyond, kp, dt, free):
    point, u = edge(name, direction)
    options = FREE if free else {}
    last, fastest, _ = led_by_torques(name, start, point + beyond * u, kp, dt, 10.0 / np.sqrt(kp) + 1.0, **options)
    assert last < AT_REST
    assert fastest < (60.0 if free else 3.3)


def test_accelerations_lead_to_rest_at_a_pose_out_of_reach():
    robot, frame, starts, _ = arm_of("ur5")
    target = torsor.frame_pose(robot, np.array(starts["inside"]), frame)
    point, u = edge("ur5", (1, 0, 0.3))
    target[:3, 3] = point + 0.3 * u
    last, _, _ = led_by_torques("ur5", "wrist", target, 25.0, 0.006, 3.0)
    assert last < AT_REST


def test_a_second_task_out_of_reach_of_what_the_first_leaves_comes_to_rest():
    """The tip holds its place, the elbow is to rise higher than that allows: both levels rest, and the first is not touched."""
    robot = torsor.robots.panda()
    hand, elbow = torsor.position_task("hand_tcp"), torsor.position_task("link_4", ["vy"])
    q, dt, speeds = HOME.copy(), 0.004, []
    place = torsor.frame_pose(robot, q, "hand_tcp")[:3, 3]
    for step in range(600):
        first = (hand, 4.0 * (place - torsor.frame_pose(robot, q, "hand_tcp")[:3, 3]))
        second = (elbow, 4.0 * (np.array([2.0]) - torsor.frame_pose(robot, q, "link_4")[1:2, 3]))
        found = torsor.control.prioritised_velocities(robot, q, [first, second], dt)
        if step % 20 == 0:
            alone = torsor.control.prioritised_velocities(robot, q, [first], dt)
            np.testing.assert_allclose(found.residuals[0], alone.residuals[0], atol=1e-9)
        q = q + dt * found.v
        speeds.append(np.abs(found.v).max())
    assert max(speeds[-50:]) < AT_REST
    assert np.linalg.norm(torsor.frame_pose(robot, q, "hand_tcp")[:3, 3] - place) < 2e-3
    assert not found.tasks[1].done


def _itself(robot, q):
    return q


def coordinates(robot, frame, named, target):
    """A task of some of a point's coordinates, and what is left of the way to a target as a function of q."""
    at = ["xyz".index(name) for name in named]
    task = torsor.position_task(frame, [f"v{name}" for name in named])
    return task, lambda q: np.array(target) - torsor.frame_pose(robot, q, frame)[at, 3]


def two_configurations(robot, rng):
    """Well within limits, or within ±3 rad."""
    lower, upper = np.maximum(robot.limits.lower, -3.0), np.minimum(robot.limits.upper, 3.0)
    return lower + (upper - lower) * rng.uniform(0.25, 0.75, (2, robot.nq))


def led_by_levels(robot, levels, home, q, gain, dt, seconds, checked=None, **options):
    """The fastest joint of the last half second, the fastest of all, and where it ends; ``home`` is the posture below the levels.

    Every ``checked`` steps the levels are given what they have without those after them.
    """
    tasks = [coordinates(robot, *level) for level in levels]
    tasks.append((torsor.function_task(_itself, robot.nq), lambda q: home - q))
    speeds = []
    for step in range(round(seconds / dt)):
        pairs = [(task, gain * left(q)) for task, left in tasks]
        found = torsor.control.prioritised_velocities(robot, q, pairs, dt, **options)
        for k in (1, 2) if checked and step % checked == 0 else ():
            alone = torsor.control.prioritised_velocities(robot, q, pairs[:k], dt, **options)
            for mine, own in zip(found.residuals, alone.residuals, strict=False):
                # Directions that fade may be released up to 1e-7 of what is usual, at some rad/s.
                np.testing.assert_allclose(mine, own, atol=1e-6)
        q = torsor.integrate(robot, q, dt * found.v)
        speeds.append(np.abs(found.v).max())
    return max(speeds[-round(0.5 / dt) :]), max(speeds), q


@pytest.mark.parametrize(
    ("name", "levels", "seed", "gain", "dt", "seconds", "options"),
    [
        ("panda", [("link_6", "y", [2.0]), ("link_4", "y", [2.0])], None, 4.0, 0.004, 5.0, FREE),
        ("panda", [("link_6", "y", [2.0]), ("link_4", "y", [2.0])], None, 4.0, 0.004, 4.0, {}),
        ("panda", [("hand_tcp", "x", [1.0]), ("flange", "x", [-0.5])], 45, 2.0, 0.004, 7.0, {}),
        ("panda", [("link_5", "z", [-2.0]), ("link_3", "xz", [0.31, -0.39])], 87, 10.0, 0.002, 4.0, {}),
        ("iiwa", [("link_7", "xy", [-0.74, -0.67]), ("link_4", "y", [0.5])], 8, 4.0, 0.004, 7.0, {}),
        ("ur5", [("link_6", "xz", [1.5, 0.5]), ("link_3", "z", [-2.0])], 1, 4.0, 0.004, 4.0, {}),
        # 0.2 rad/s in bursts once, and 1e5 rad/s about axes that are nearly in line
        (
            "panda",
            [("link_6", "yz", [-0.57, 1.19]), ("hand_tcp", "xz", [-0.83, 0.03])],
            (2024, 18),
            4.0,
            0.002,
            3.0,
            FREE,
        ),
        ("iiwa", [("link_7", "x", [-1.64]), ("link_3", "yz", [0.25, -0.92])], (2024, 109), 4.0, 0.004, 8.0, FREE),
        # 0.3 rad/s in bursts where the second level is at its best, and its motion turns back by what it cannot have at all
        ("ur5", [("link_4", "xy", [-1.38, -0.02]), ("link_6", "yz", [-0.24, 0.9])], (77, 20), 4.0, 0.002, 2.5, {}),
        # to and fro at the velocity limit of 3.2 rad/s: a small slope beside a large one that no joint can follow
        ("ur5", [("tool0", "xy", [-0.53, 0.49]), ("link_3", "xz", [0.64, 0.66])], (77, 32), 10.0, 0.002, 3.0, {}),
    ],
)
def test_a_posture_below_two_levels_out_of_reach_comes_to_rest(name, levels, seed, gain, dt, seconds, options):
    """What is left to it fades as the levels above come to their edges, and must not come and go: no bursts."""
    robot = getattr(torsor.robots, name)()
    home, q = HOME, HOME
    if seed is not None:
        home, q = two_configurations(robot, np.random.default_rng([0, seed] if np.ndim(seed) == 0 else seed))
    assert led_by_levels(robot, levels, home, q, gain, dt, seconds, checked=50, **options)[0] < AT_REST


def led_by_levels_and_torques(robot, levels, home, q, gain, dt, seconds, given=1e-5, **options):
    """As `led_by_levels` by accelerations, whose torques are held for a step dt; poles of all levels are at −gain.

    Now and then the levels are ``given`` what they have without those after them, to so many m/s², and what is said below.
    """
    twin = Twin(robot)
    tasks = [coordinates(robot, *level) for level in levels]
    tasks.append((torsor.function_task(_itself, robot.nq), lambda q: home - q))
    kp, kd = gain**2, 2.0 * gain
    v, speeds = np.zeros(robot.nv), []
    for step in range(round(seconds / dt)):
        pairs = [(task, kp * left(q) - kd * task.jacobian(robot, q) @ v) for task, left in tasks]
        found = torsor.control.prioritised_accelerations(robot, q, v, pairs, dt, null=-kd * v, **options)
        for k in (1, 2) if step % 50 == 0 else ():
            alone = torsor.control.prioritised_accelerations(robot, q, v, pairs[:k], dt, null=-kd * v, **options)
            for mine, own in zip(found.residuals, alone.residuals, strict=False):
                # At its edge a level leaves to others what moves it by 1e-4 of what is usual, about a metre.
                np.testing.assert_allclose(mine, own, rtol=0.0, atol=given + 2e-4 * np.linalg.norm(found.a - alone.a))
        q, v = after_step(twin, q, v, found.tau, dt)
        speeds.append(np.abs(v).max())
    return max(speeds[-round(0.3 / dt) :]), max(speeds), q


# At the edge of the first level to rounding errors: joint 5 is at its limit, and nothing but the posture needs joint 7.
HELD = [1.4009182539585965, -1.7627583040596824, -0.6858145010181314, -0.46175459118158735]
HELD += [-2.8973116646060237, 2.542246846039433, -0.855350095383762]
HELD_HOME = [1.303, -0.475, -0.251, -0.962, -1.061, 2.225, -0.886]
HELD_LEVELS = [("hand_tcp", "y", [-1.04]), ("link_4", "yz", [-0.55, 0.31])]


# Beside the edge of the first level, whose joints 1 and 3 turn back there, with joint 2 at its limit.
BESIDE = [7e-5, 1.7628, 2.7e-4, -1.7068, 1.57075, 3.14146, 1.44823]
BESIDE_HOME = [0.612, -0.418, -1.263, -1.706, 1.293, 1.175, 1.448]
BESIDE_LEVELS = [("link_4", "xz", [1.56, -1.66]), ("link_7", "y", [-0.46])]


@pytest.mark.parametrize(
    ("name", "levels", "start", "gain", "seconds"),
    [
        # 2 rad/s of joint 4 once, for ever: the first level was led away from its edge, and the second had slopes from it
        ("panda", BESIDE_LEVELS, (BESIDE_HOME, BESIDE), 10.0, 0.6),
        # 2 rad/s of joint 7 once, to and fro for ever
        ("panda", HELD_LEVELS, (HELD_HOME, HELD), 10.0, 1.2),
        # 3.2 rad/s once, and at rest after 8 s: the posture was led along what the levels do not bend a hundred times too slowly
        ("ur5", [("link_4", "xy", [-1.38, -0.02]), ("link_6", "yz", [-0.24, 0.9])], (77, 20), 4.0, 4.0),
        # 1.5 rad/s once, for the same reason
        ("ur5", [("link_4", "z", [1.88]), ("link_3", "x", [-0.2])], (77, 11), 4.0, 4.0),
    ],
)
def test_accelerations_lead_a_posture_below_two_levels_out_of_reach_to_rest(name, levels, start, gain, seconds):
    robot = getattr(torsor.robots, name)()
    if np.ndim(start[0]) == 0:
        start = two_configurations(robot, np.random.default_rng(start))
    home, q = np.array(start)
    assert led_by_levels_and_torques(robot, levels, home, q, gain, 0.004, seconds)[0] < AT_REST


@pytest.mark.parametrize("off", [7e-5, 2e-4, 1e-3])
def test_a_level_with_a_joint_at_its_limit_is_led_to_its_edge_by_the_others(off):
    """However faint the slope is that they have beside all that the joint could do. The sign was the wrong one once."""
    robot, q = torsor.robots.panda(), np.array(BESIDE)
    q[:3] = off, robot.limits.upper[1], off
    task, left = coordinates(robot, *BESIDE_LEVELS[0])
    wanted = 100.0 * left(q)
    a = torsor.control.prioritised_accelerations(robot, q, np.zeros(7), [(task, wanted)], 0.004).a
    v = torsor.control.prioritised_velocities(robot, q, [(task, 0.04 * wanted)], 0.004).v
    for moved in (a, v):
        assert wanted @ task.jacobian(robot, q) @ moved > 0.0


@pytest.mark.parametrize(
    ("levels", "home", "q", "gain", "seconds", "options"),
    [
        # Bursts of 2.5 rad/s once: the posture turns an axis that the first level leads the second onto, by a whole turn.
        (
            [("link_3", "z", [0.74]), ("link_4", "xy", [1.84, -1.5])],
            [-0.566, -0.803, 0.814, 0.928, 0.762, -0.303, 0.347],
            [-6.549, 0.001, 0.814, 0.928, 0.762, -0.303, 0.347],
            10.0,
            1.0,
            FREE,
        ),
        # 2.4 rad/s once, for ever: with its elbow at a limit the second level has slopes of 1e-6 left.
        (
            [("link_3", "y", [-1.22]), ("link_6", "y", [0.38])],
            [-0.783, 0.853, -0.404, 0.629, 0.603, 0.43, 0.281],
            [-1.57, 1.57, -0.244, 2.09, 1.627, 1.196, 0.398],
            4.0,
            2.5,
            {},
        ),
    ],
)
def test_what_held_torques_disturb_is_not_taken_for_a_direction(levels, home, q, gain, seconds, options):
    """A level at its edge holds no joint by a slope of 1e-8 to 1e-5 that each step brings and takes away: others move it."""
    robot, home, q = torsor.robots.iiwa(), np.array(home), np.array(q)
    assert led_by_levels_and_torques(robot, levels, home, q, gain, 0.004, seconds, **options)[0] < AT_REST


@pytest.mark.parametrize("turned", [0.0, 0.4])
def test_a_level_that_wants_what_one_before_it_has_holds_no_posture(turned):
    """It bends nothing that the first does not hold: the posture goes on as it would without. It was 100 times as slow once."""
    robot, home = torsor.robots.iiwa(), np.array([0.9, -0.5, 0.3, 0.7, -0.4, 0.6, 0.2])
    q = home + np.array([-1.2, 0.3, 0.8, -0.5, 0.7, 0.4, -0.9])
    task = torsor.position_task("link_7", ["vx", "vy"])
    rows = np.array([[np.cos(turned), -np.sin(turned)], [np.sin(turned), np.cos(turned)]])
    same = torsor.function_task(lambda robot, q: rows @ torsor.frame_pose(robot, q, "link_7")[:2, 3], 2)
    first, second = (task, np.array([0.1, -0.2])), (same, np.array([4.0, 7.0]))
    posture = (torsor.function_task(_itself, robot.nq), 16.0 * (home - q))

    def accelerations(levels):
        return torsor.control.prioritised_accelerations(robot, q, np.zeros(7), levels, 0.004, **FREE).a

    def velocities(levels):
        return torsor.control.prioritised_velocities(robot, q, levels, 0.004, **FREE).v

    for moved in (accelerations, velocities):
        np.testing.assert_allclose(moved([first, second, posture]), moved([first, posture]), atol=1e-6)


@pytest.mark.parametrize("bent", [1e-7, 1e-4])
def test_a_nearly_straight_arm_folds_to_what_is_within_reach(bent):
    """What bends towards its target is not out of reach, however small its slope is: nothing is released there."""
    robot, frame, *_ = arm_of("planar2r")
    task = torsor.position_task(frame, ["vx", "vy"])
    q, v = np.array([0.3, bent]), np.zeros(2)
    target = 0.6 * torsor.frame_pose(robot, np.array([0.3, 0.0]), frame)[:2, 3]
    for _ in range(800):
        left = target - torsor.frame_pose(robot, q, frame)[:2, 3]
        wanted = 25.0 * left - 10.0 * task.jacobian(robot, q) @ v
        v = v + 0.004 * torsor.control.prioritised_accelerations(robot, q, v, [(task, wanted)], 0.004, null=-10.0 * v).a
        q = q + 0.004 * v
    assert np.linalg.norm(left) < 1e-4


@pytest.mark.parametrize("v_7", [-2.0, -0.1, 0.3, 1.5])
def test_a_joint_that_no_level_needs_is_left_to_the_posture(v_7):
    """At the edge its entries of J are rounding errors, and others hardly more: they are no direction to hold."""
    robot, q = torsor.robots.panda(), np.array(HELD)
    v = np.array([1.5e-4, -1.3e-4, 7.6e-4, 1.5e-5, 4e-5, 1.2e-4, v_7])
    pairs = []
    for level in HELD_LEVELS:
        task, left = coordinates(robot, *level)
        pairs.append((task, 100.0 * left(q) - 20.0 * task.jacobian(robot, q) @ v))
    wanted = 100.0 * (np.array(HELD_HOME) - q) - 20.0 * v
    pairs.append((torsor.function_task(_itself, 7), wanted))
    a = torsor.control.prioritised_accelerations(robot, q, v, pairs, 0.004, null=-20.0 * v).a
    assert abs(a[6] - wanted[6]) < 1e-3


def test_at_the_edge_lower_levels_take_nothing_and_the_report_says_so():
    """Along a way to a point out of reach: the first task is given the same, with a posture task and a second aim or without."""
    robot, frame, starts, _ = arm_of("panda")
    point, u = edge("panda", (1, 0, 0.2))
    hand = torsor.position_task(frame)
    posture = torsor.function_task(lambda robot, q: q, 7)
    q, edges = np.array(starts["inside"]), 0
    for _ in range(400):
        first = (hand, 4.0 * error(robot, q, frame, point + 0.3 * u))
        alone = torsor.control.prioritised_velocities(robot, q, [first], 0.004, **FREE)
        both = torsor.control.prioritised_velocities(
            robot, q, [first, (posture, 4.0 * (HOME - q))], 0.004, null=HOME, **FREE
        )
        np.testing.assert_allclose(both.residuals[0], alone.residuals[0], atol=1e-9)
        edges += both.tasks[0].at_edge
        q = q + 0.004 * both.v
    assert edges > 100
    assert np.abs(both.v).max() < AT_REST
    assert "at the edge of what it can reach" in str(both.tasks[0])
