"""A law of the workspace pulled back to the joints, in closed loop: errors as of the workspace alone [Alt04, §IV].

Nothing of plant and integration is ours: accelerations by Pinocchio, steps by SciPy's DOP853, the law by Pinocchio's logarithm.
"""

from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_model import Twin
from scipy.integrate import solve_ivp

import torsor

pytestmark = pytest.mark.compiled

FINE = {"method": "DOP853", "rtol": 1e-10, "atol": 1e-11, "dense_output": True}
SAME = 1e-8  # integrated twice at 1e-10, along motions of some rad: 1e-9 was seen


def held_elbow(robot, q):
    return q[2:3]


@cache
def arm(name):
    if name == "3R":
        robot = torsor.robots.planar_chain([0.5, 0.4, 0.3], [1.0, 0.8, 0.5])
        return robot, torsor.position_task("tip", ["vx", "vy"]), np.array([0.4, 0.7, 1.4]), Twin(robot)
    robot = torsor.robots.iiwa()
    return robot, torsor.pose_task(robot.frames[-1]), np.array([0.3, 0.5, 0.4, -1.2, 0.2, 0.9, 0.6]), Twin(robot)


@cache
def lift_of(name, lift):
    robot, task = arm(name)[:2]
    if lift == "held elbow":
        return torsor.redundancy.extended_jacobian_lift(robot, task, held_elbow)
    return lift


def robot_alone(name, lift, law, v, seconds, damping=0.0):
    """q and v (2, K, n) of the robot under τ = M a + C v + g with the lifted a, at times (K,); the plant is Pinocchio's."""
    robot, task, q, twin = arm(name)

    def rate(t, x):
        q, v = np.split(x, 2)
        a = torsor.redundancy.lift_acceleration(
            robot, q, v, task, law(t, *sensed(name, q, v)), lift=lift_of(name, lift), damping=damping
        )
        return np.concatenate([v, twin.forward_dynamics(q, v, torsor.inverse_dynamics(robot, q, v, a))])

    times = np.linspace(0.0, seconds, 21)
    run = solve_ivp(rate, (0.0, seconds), np.concatenate([q, v]), t_eval=times, **FINE)
    assert run.success
    return times, np.split(run.y.T, 2, axis=1)


def sensed(name, q, v):
    """Where the hand is and how it moves, by Pinocchio."""
    _, task, _, twin = arm(name)
    if name == "3R":
        return twin.frame_pose(q, "tip")[:2, 3], twin.jacobian(q, "tip", "mixed")[3:5] @ v
    return twin.frame_pose(q, task.name), twin.twist(q, v, task.name, "body")


# Planar: a law that is not linear, following a circle


def following(t, y, ydot):
    """Feedback that saturates, with the acceleration of the reference."""
    w, r = 2.0 * np.pi, 0.04
    start = np.array(sensed("3R", arm("3R")[2], np.zeros(3))[0])
    y_r = start + r * np.array([np.cos(w * t) - 1.0, np.sin(w * t)])
    v_r = r * w * np.array([-np.sin(w * t), np.cos(w * t)])
    a_r = -r * w**2 * np.array([np.cos(w * t), np.sin(w * t)])
    return a_r + 10.0 * (v_r - ydot) + 3.0 * np.tanh(10.0 * (y_r - y))


@pytest.fixture(scope="module")
def planar_alone():
    """The workspace alone, ÿ = u(t, y, ẏ), from rest while the reference moves: t → (y, ẏ)."""
    y, _ = sensed("3R", arm("3R")[2], np.zeros(3))

    def rate(t, x):
        return np.concatenate([x[2:], following(t, x[:2], x[2:])])

    return solve_ivp(rate, (0.0, 1.0), np.concatenate([y, np.zeros(2)]), **FINE).sol


@pytest.mark.parametrize("lift", ["inertia", "pseudoinverse", "held elbow"])
def test_the_error_of_a_lifted_law_is_that_of_the_workspace(planar_alone, lift):
    """y(t) of the robot is y(t) of the law alone, and its joints are on the lift of that curve, for every lift."""
    robot, task, q, _ = arm("3R")
    times, (qs, vs) = robot_alone("3R", lift, following, np.zeros(3), 1.0)
    found = np.array([np.concatenate(sensed("3R", q, v)) for q, v in zip(qs, vs, strict=True)])
    np.testing.assert_allclose(found, planar_alone(times).T, atol=SAME)
    own = lift_of("3R", lift)
    curve = torsor.redundancy.lift_curve(robot, q, task, lambda t: planar_alone(t)[2:], lift=own, samples=21)
    np.testing.assert_allclose(qs, curve.q, atol=SAME)


def test_without_the_rate_of_the_lift_the_joints_leave_it(planar_alone):
    """`resolved_acceleration` in the inertia metric, which operational-space control is: the same task, other joints."""
    robot, task, q, _ = arm("3R")

    def rate(t, x):
        q, v = np.split(x, 2)
        u, M = following(t, *sensed("3R", q, v)), torsor.mass_matrix(robot, q)
        return np.concatenate([v, torsor.control.resolved_acceleration(robot, q, v, task, u, metric=M)])

    end = solve_ivp(rate, (0.0, 1.0), np.concatenate([q, np.zeros(3)]), **FINE).y[:, -1]
    np.testing.assert_allclose(sensed("3R", end[:3], end[3:])[0], planar_alone(1.0)[:2], atol=SAME)
    curve = torsor.redundancy.lift_curve(robot, q, task, lambda t: planar_alone(t)[2:], samples=2)
    assert np.abs(end[:3] - curve.q[-1]).max() > 1e-2


def test_self_motion_does_not_disturb_the_task_and_is_braked(planar_alone):
    """From a start with ẏ = 0 and v ≠ 0; what is left of the self-motion falls like e^(−kt)."""
    robot, task, q, _ = arm("3R")
    z = np.linalg.svd(task.jacobian(robot, q))[2][-1]
    times, (qs, vs) = robot_alone("3R", "inertia", following, 0.5 * z, 1.0, damping=8.0)
    found = np.array([np.concatenate(sensed("3R", q, v)) for q, v in zip(qs, vs, strict=True)])
    np.testing.assert_allclose(found, planar_alone(times).T, atol=SAME)
    left = torsor.redundancy.split_velocity(robot, qs, vs, task).vertical
    assert np.linalg.norm(left[-1]) < 5.0 * np.exp(-8.0) * np.linalg.norm(left[0])


@pytest.mark.parametrize(("lift", "returns"), [("held elbow", True), ("inertia", False), ("pseudoinverse", False)])
def test_after_a_closed_path_the_joints_are_back_if_the_lift_is_repeatable(lift, returns):
    """Two circles, on the reference and moving with it from the start."""
    robot, task, q, twin = arm("3R")
    speed = np.array([0.0, 0.04 * 2.0 * np.pi])
    v = (
        1e3
        * torsor.redundancy.lift_curve(robot, q, task, lambda t: 1e-3 * speed, lift=lift_of("3R", lift), samples=2).v[0]
    )
    _, (qs, _) = robot_alone("3R", lift, following, v, 2.0)
    away = np.abs(qs[-1] - q).max()
    assert (away < SAME) if returns else (away > 1e-4)
    np.testing.assert_allclose(twin.frame_pose(qs[-1], "tip")[:3, 3], twin.frame_pose(q, "tip")[:3, 3], atol=SAME)


# In space: a law on SE(3)


def goal():
    _, task, q, twin = arm("7R")
    return twin.frame_pose(q, task.name) @ pin.exp6(np.array([0.06, -0.05, 0.08, 0.3, -0.2, 0.25])).homogeneous


def attracted(t, T, V):
    """V̇ = K_p log(T⁻¹ T_goal) − K_d V, twists (angular, linear)."""
    e = np.array(pin.log6(pin.SE3(np.linalg.inv(T) @ goal())))
    return 30.0 * np.concatenate([e[3:], e[:3]]) - 8.0 * V


@pytest.fixture(scope="module")
def pose_alone():
    """Ṫ = T V, V̇ = u(T, V) with no robot: t → (T, V)."""
    _, _, q, _ = arm("7R")
    T, V = sensed("7R", q, np.zeros(7))

    def rate(t, x):
        T, V = x[:16].reshape(4, 4), x[16:]
        turning = np.zeros((4, 4))
        turning[:3, :3], turning[:3, 3] = pin.skew(V[:3]), V[3:]
        return np.concatenate([(T @ turning).ravel(), attracted(t, T, V)])

    return solve_ivp(rate, (0.0, 0.5), np.concatenate([T.ravel(), V]), **FINE).sol


@pytest.mark.parametrize("lift", ["inertia", "held elbow"])
def test_a_law_on_se3_is_the_same_for_seven_joints(pose_alone, lift):
    times, (qs, vs) = robot_alone("7R", lift, attracted, np.zeros(7), 0.5)
    for t, q, v in zip(times, qs, vs, strict=True):
        T, V = sensed("7R", q, v)
        np.testing.assert_allclose(np.concatenate([T.ravel(), V]), pose_alone(t), atol=SAME)
    if lift == "held elbow":
        np.testing.assert_allclose(qs[:, 2], qs[0, 2], atol=SAME)
    else:
        assert np.ptp(qs[:, 2]) > 1e-3
