"""Operational-space control at the edge of what a robot can reach, in closed loop: sampled at 1 kHz, the plant is Pinocchio's.

Nothing of the plant is ours: accelerations by Pinocchio, four stages of Runge and Kutta between samples, torques held.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_model import Twin

import torsor
from torsor import control as controllers

pytestmark = pytest.mark.compiled

STEP = 1e-3  # s


class Run(NamedTuple):
    fastest: float  # rad/s, of all joints at all times
    largest: float  # N·m or N
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray


@cache
def arm_of(name):
    """A robot, the frame it is led by, and where it starts: away from singularities, straight, or in its wrist's singularity."""
    if name == "planar2r":
        robot = torsor.robots.planar2r()
        starts = {"inside": [0.3, 1.2], "straight": [0.3, 0.0]}
    elif name == "ur5":
        robot = torsor.robots.ur5()
        starts = {"inside": [0.2, -1.1, 1.3, -0.4, 0.6, 0.5], "straight": [0.2, -1.1, 0.0, 0.0, 0.6, 0.5]}
        starts["wrist"] = [0.2, -1.1, 1.3, -0.4, 0.0, 0.5]
    else:
        robot = torsor.robots.panda()
        starts = {"inside": [0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.5, 0.02][: robot.nq]}
    return (
        robot,
        robot.frames[-1] if name == "planar2r" else {"ur5": "tool0", "panda": "hand_tcp"}[name],
        starts,
        Twin(robot),
    )


@cache
def edge(name, direction):
    """The farthest point of a frame in a direction, and the direction."""
    robot, frame, *_ = arm_of(name)
    u = np.array(direction) / np.linalg.norm(direction)
    q = torsor.inverse_kinematics(robot, torsor.position_task(frame), 100.0 * u, within_limits=False).q
    return torsor.frame_pose(robot, q, frame)[:3, 3], u


def led(name, start, task, target, kp, *, seconds=None, clamped=False, **options):
    """The closed loop from rest; what the task leaves free is braked as the law does by itself, unless options say otherwise."""
    robot, _, starts, twin = arm_of(name)
    data, effort = twin.model.createData(), np.asarray(robot.structure.limits.effort)
    q, v = np.array(starts[start] if isinstance(start, str) else start), np.zeros(robot.nv)
    kd, fastest, largest = 2.0 * np.sqrt(kp), 0.0, 0.0
    K_inverse = np.linalg.inv(twin.K)

    def accelerated(q, v, tau):
        return K_inverse @ pin.aba(twin.model, data, twin.q(q), twin.K @ v, K_inverse.T @ tau)

    for _ in range(round((seconds or max(5.0, 20.0 / np.sqrt(kp))) / STEP)):
        tau = controllers.operational_space(robot, q, v, task, target, kp, kd, **options)
        applied = np.clip(tau, -effort, effort) if clamped else tau
        a_1 = accelerated(q, v, applied)
        v_2, q_2 = v + 0.5 * STEP * a_1, q + 0.5 * STEP * v
        a_2 = accelerated(q_2, v_2, applied)
        v_3, q_3 = v + 0.5 * STEP * a_2, q + 0.5 * STEP * v_2
        a_3 = accelerated(q_3, v_3, applied)
        v_4, q_4 = v + STEP * a_3, q + STEP * v_3
        q = q + STEP / 6.0 * (v + 2.0 * v_2 + 2.0 * v_3 + v_4)
        v = v + STEP / 6.0 * (a_1 + 2.0 * a_2 + 2.0 * a_3 + accelerated(q_4, v_4, applied))
        fastest, largest = max(fastest, np.abs(v).max()), max(largest, np.abs(tau).max())
        assert np.isfinite(fastest) and np.isfinite(largest)
    return Run(fastest, largest, q, v, tau)


@pytest.mark.parametrize(
    ("name", "start", "direction", "beyond", "kp", "clamped"),
    [
        ("planar2r", "inside", (1, 1, 0), 0.7, 400.0, False),
        ("ur5", "straight", (0, 1, 0.3), 0.7, 25.0, False),
        ("panda", "inside", (1, 0, 0.3), 0.05, 100.0, True),
    ],
)
def test_a_point_out_of_reach_is_approached_as_the_nearest_within_reach_is(name, start, direction, beyond, kp, clamped):
    robot, frame, *_ = arm_of(name)
    point, u = edge(name, direction)
    task = torsor.position_task(frame)
    run = led(name, start, task, point + beyond * u, kp, clamped=clamped)
    assert np.abs(run.v).max() < 1e-2  # rad/s: at rest
    assert np.linalg.norm(torsor.frame_pose(robot, run.q, frame)[:3, 3] - point) < 2e-3  # m, at the edge
    # Long enough for what is fastest; the same brake, which targets within reach do not have by themselves.
    short = led(name, start, task, point, kp, clamped=clamped, seconds=1.0, posture_kd=2.0 * np.sqrt(kp))
    assert run.fastest <= 1.01 * short.fastest + 1e-3
    assert run.fastest < 10.0 or kp > 25.0


@pytest.mark.parametrize(
    ("name", "start", "target", "kp", "clamped"),
    [
        ("ur5", [0.0] * 6, (0.632, -1.478, 0.461), 25.0, False),  # straight; 15 rad/s once
        ("panda", [0.0] * 7, (0.467, 0.614, -0.647), 25.0, False),  # 16 rad/s, and crept on at 0.04 rad/s
        ("panda", [-0.172, -0.251, 0.453, -2.362, 0.33, 2.033, 0.966], (-1.161, -0.915, 1.057), 400.0, False),  # NaN
        ("panda", [0.316, -1.536, 1.196, 0.0, 0.075, 1.706, 2.465], (-0.273, 0.234, 1.94), 25.0, True),  # 50 rad/s
    ],
)
def test_joints_stay_slow_on_the_way_to_a_point_behind_the_robot(name, start, target, kp, clamped):
    robot, frame, *_ = arm_of(name)
    task = torsor.position_task(frame)
    run = led(name, start, task, target, kp, clamped=clamped)
    assert np.abs(run.v).max() < 1e-2  # rad/s: at rest
    assert run.fastest < 1.01 * np.pi * np.sqrt(kp) / 2.0  # rad/s, π kp/kd; sampled
    off = torsor.frame_pose(robot, run.q, frame)[:3, 3] - controllers.nearest_target(robot, task, target)
    assert np.linalg.norm(off) < 5e-3  # m, at the edge


@pytest.mark.parametrize(
    ("start", "target", "kp"),
    [
        ([-1.766, 0.625, 0.188, -0.346, 0.505, 1.974, -1.775], (1.364, -0.15, -0.579), 100.0),  # 26 rad/s once
        ([-0.443, 1.164, -2.159, -0.718, -3.017, -2.627, -1.782], (0.78, 0.612, 0.443), 400.0),  # 57 rad/s
    ],
)
def test_motors_that_cannot_brake_as_the_gains_ask_for_brake_as_hard_as_they_can(start, target, kp):
    """Joints of a Panda that are clamped are no faster than twice their velocity limits."""
    robot, frame, *_ = arm_of("panda")
    run = led("panda", start, torsor.position_task(frame), target, kp, clamped=True)
    assert np.abs(run.v).max() < 1e-2
    assert run.fastest < 1.01 * 2.0 * max(robot.structure.limits.velocity)
    assert run.largest < 1.02 * max(robot.structure.limits.effort)  # the law asks for no more, or hardly


def test_a_point_behind_other_singularities_is_reached_in_time():
    start = [2.811, -0.739, 0.0, -2.024, -1.73, 0.872]  # a tenth of a second late once
    run = led("ur5", start, torsor.position_task("tool0"), (1.41, -0.309, -0.711), 4.0)
    assert np.abs(run.v).max() < 1e-2 and run.fastest < 1.01 * np.pi


@pytest.mark.parametrize(
    ("name", "start", "turn", "place", "kp"),
    [  # moved at 0.04, 0.5, 0.012 and 0.8 rad/s once when they should have been at rest
        ("ur5", [-1.33, -2.528, 1.514, 0.947, 0.0, -2.928], (1.4, 1.388, 1.058), (0.681, -1.447, -0.317), 25.0),
        ("ur5", [-0.072, -0.281, 0.285, -0.872, -2.775, 0.431], (-0.414, 1.379, -0.391), (0.142, 1.24, 0.15), 25.0),
        (
            "panda",
            [-0.82, -2.324, -0.272, 3.061, 0.597, 0.481, 3.08],
            (0.125, -1.104, 0.358),
            (-0.034, 0.794, -0.628),
            25.0,
        ),
        ("planar2r", [-0.843, -2.775], (0.0, 0.0, 2.897), (0.269, 2.687, 0.0), 25.0),
        # crept on where they nearly rested, and went on late: 0.025, 0.5 and 0.3 rad/s
        ("planar2r", [1.958, 0.26], (0.0, 0.0, -0.031), (0.405, 2.669, 0.0), 25.0),
        ("planar2r", [1.958, 0.26], (0.0, 0.0, -0.031), (0.405, 2.669, 0.0), 4.0),
        (
            "panda",
            [-1.547, -1.615, 0.953, 0.0, 2.509, 0.472, -1.291],
            (-0.486, -0.129, 0.92),
            (1.355, -0.465, 1.144),
            4.0,
        ),
    ],
)
def test_a_pose_out_of_reach_whose_way_leads_along_an_edge_ends_at_rest_in_time(name, start, turn, place, kp):
    target = np.eye(4)
    target[:3, :3], target[:3, 3] = torsor.lie.so3.exp(np.array(turn)), place
    run = led(name, start, arm_of(name)[1], target, kp)
    assert np.abs(run.v).max() < 1e-2 and run.fastest < 10.0


@pytest.mark.parametrize(
    ("start", "turn", "place", "kp"),
    [  # 4.0 and 4.2 times as fast once
        ([-2.484, -1.527], -1.883, (-0.212, 2.307, 0.0), 100.0),
        ([1.926, -1.681], 2.502, (2.236, -0.225, 0.0), 400.0),
    ],
)
def test_two_joints_that_can_follow_hardly_any_of_a_pose_are_not_thrown_by_all_of_it(start, turn, place, kp):
    robot, frame, *_ = arm_of("planar2r")
    target = np.eye(4)
    target[:3, :3], target[:3, 3] = torsor.lie.so3.exp(np.array([0.0, 0.0, turn])), place
    run = led("planar2r", start, frame, target, kp)
    nearest = controllers.nearest_target(robot, frame, target)
    usual = led("planar2r", start, frame, nearest, kp, seconds=2.0, posture_kd=2.0 * np.sqrt(kp), nearest=False)
    assert np.abs(run.v).max() < 1e-2 and 1e-2 < run.fastest < 2.0 * usual.fastest


def test_a_pose_out_of_reach_ends_at_rest_across_the_singularity_of_a_wrist():
    robot, frame, starts, _ = arm_of("ur5")
    target = torsor.frame_pose(robot, np.array(starts["inside"]), frame)
    point, u = edge("ur5", (1, 0, 0.3))
    target[:3, 3] = point + 0.3 * u
    run = led("ur5", "wrist", frame, target, 25.0)
    assert np.abs(run.v).max() < 1e-2 and run.fastest < 10.0 and run.largest < 200.0
    nearest = controllers.nearest_target(robot, frame, target)
    off = torsor.lie.se3.log(np.linalg.inv(torsor.frame_pose(robot, run.q, frame)) @ nearest)
    assert np.abs(off).max() < 0.02


def test_torques_within_effort_lead_the_task_in_the_same_direction():
    """A UR5 with gains that its motors cannot follow, from rest: the hand starts as it should, more slowly, and arrives."""
    robot, frame, starts, _ = arm_of("ur5")
    effort = np.asarray(robot.structure.limits.effort)
    q, v = np.array(starts["inside"]), np.zeros(6)
    target = torsor.frame_pose(robot, q + 0.6, frame)
    free, bound = (
        controllers.operational_space(robot, q, v, frame, target, 150.0, 24.0, within_effort=x) for x in (False, True)
    )
    assert np.abs(free / effort).max() > 1.5 and np.abs(bound / effort).max() == pytest.approx(1.0, abs=1e-12)
    J = torsor.body_jacobian(robot, q, frame)
    M = torsor.mass_matrix(robot, q)
    wanted, given = (J @ np.linalg.solve(M, tau - torsor.gravity_forces(robot, q)) for tau in (free, bound))
    factor = given @ wanted / (wanted @ wanted)
    assert 0.1 < factor < 0.7
    np.testing.assert_allclose(given, factor * wanted, atol=1e-8 * np.abs(wanted).max())
    run = led("ur5", "inside", frame, target, 150.0, seconds=3.0, within_effort=True)
    assert (np.abs(run.tau) <= effort).all() and run.largest <= effort.max()
    np.testing.assert_allclose(torsor.frame_pose(robot, run.q, frame), target, atol=1e-4)


def test_weak_motors_hold_what_they_can():
    """Where not even the weight is within the limits, torques are cut off there."""
    robot = torsor.robots.ur5()
    q, v = np.array(arm_of("ur5")[2]["inside"]), np.zeros(6)
    heavy = robot.with_payload("tool0", torsor.Inertia.sphere(0.1, mass=60.0))
    tau = controllers.operational_space(
        heavy, q, v, "tool0", torsor.frame_pose(robot, q, "tool0"), 1.0, 1.0, within_effort=True
    )
    effort = np.asarray(heavy.structure.limits.effort)
    weight = torsor.gravity_forces(heavy, q)
    assert (np.abs(weight) > effort).any() and (np.abs(tau) <= effort).all()
    over = np.abs(weight) > effort
    np.testing.assert_allclose(tau[over], np.sign(weight[over]) * effort[over])
