"""Adapters against ROS messages: poses and twists as nav_msgs/Odometry defines them, with SciPy reading quaternions.

nav_msgs/Odometry: "The pose in this message should be specified in the coordinate frame given by header.frame_id. The
twist in this message should be specified in the coordinate frame given by the child_frame_id."
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from test_robot_files import read

import torsor
from torsor.adapters import ROS

ROUNDING = 1e-14


def vector(values: np.ndarray) -> SimpleNamespace:
    return SimpleNamespace(**dict(zip("xyz", values, strict=True)))


def odometry(q: np.ndarray, v: np.ndarray) -> SimpleNamespace:
    """The numbers put into fields in the order in which the message definitions list them."""
    orientation = SimpleNamespace(**dict(zip("xyzw", q[3:], strict=True)))
    pose = SimpleNamespace(position=vector(q[:3]), orientation=orientation)
    return SimpleNamespace(pose=pose, twist=SimpleNamespace(linear=vector(v[:3]), angular=vector(v[3:])))


@pytest.mark.parametrize("kind", ["free", "planar", "spherical"])
def test_a_joint_with_more_numbers_is_an_odometry(kind, same):
    """Pose of the child in the parent's frame, and how it changes, seen from the child."""
    robot = torsor.robots.random_tree(1, seed=3, kinds=(kind,))
    T_home, there, h = robot.parameters.poses[0], ROS(robot), 1e-6
    for seed in range(5):
        q, v, _ = torsor.random_state(robot, seed=seed)
        msg = odometry(there.to_q(q), there.to_v(q, v))
        T = np.linalg.inv(T_home) @ torsor.frame_pose(robot, q, "link_0")
        o = msg.pose.orientation
        R = Rotation.from_quat([o.x, o.y, o.z, o.w]).as_matrix()
        same(R, T[:3, :3], ROUNDING)
        same([msg.pose.position.x, msg.pose.position.y, msg.pose.position.z], T[:3, 3], ROUNDING, 1.0)
        ends = [torsor.frame_pose(robot, torsor.integrate(robot, q, v, t), "link_0") for t in (h, -h)]
        rate = np.linalg.inv(T_home) @ (ends[0] - ends[1]) / (2 * h)
        w, u = msg.twist.angular, msg.twist.linear
        # A central difference: h² of its third derivative, and rounding over h, both below 1e-9.
        same(R.T @ rate[:3, 3], [u.x, u.y, u.z], 1e-8, 10.0)
        same(R.T @ rate[:3, :3], [[0, -w.z, w.y], [w.z, 0, -w.x], [-w.y, w.x, 0]], 1e-8, 10.0)


def test_a_joint_state_may_come_in_any_order(same):
    robot = read("panda7")
    q, v, tau = torsor.random_state(robot, seed=0)
    names = [robot.joints[k] for k in (3, 0, 6, 1, 5, 2, 4)]
    state = dict(zip(robot.joints, zip(q, v, tau, strict=True), strict=True))
    position, velocity, effort = zip(*(state[name] for name in names), strict=True)
    there = ROS(robot, order=names)
    same(there.from_q(position), q, 0.0)
    same(there.from_v(q, velocity), v, 0.0)
    same(there.from_tau(q, effort), tau, 0.0)
    same(there.to_q(q), position, 0.0)
    same(there.to_v(q, v), velocity, 0.0)
    same(there.to_tau(q, tau), effort, 0.0)


def test_a_wrench_does_the_power_of_its_twist_on_a_floating_robot(same):
    robot = read("talos38_floating")
    q, v, a = torsor.random_state(robot, seed=1)
    there = ROS(robot)
    tau = torsor.inverse_dynamics(robot, q, v, a)
    base = there.v_slice("root_joint")
    F = torsor.dynamics.joint_wrenches(robot, q, v, a)[0]  # (moment, force) through the free joint, in the child frame
    same(there.to_tau(q, tau)[base], np.concatenate([F[3:], F[:3]]), 1e-12)
    V = torsor.kinematics.body_twist(robot, q, v, robot.links[0])
    same(there.to_v(q, v)[base], np.concatenate([V[3:], V[:3]]), 1e-12)
    A = torsor.kinematics.body_acceleration(robot, q, v, a, robot.links[0])
    same(there.to_a(q, v, a)[base], np.concatenate([A[3:], A[:3]]), 1e-12)


def test_numbers_that_a_planar_joint_does_not_have_are_zero_and_not_read(same):
    robot = torsor.robots.random_tree(1, seed=3, kinds=("planar",))
    there = ROS(robot)
    q, v, _ = torsor.random_state(robot, seed=0)
    assert there.to_q(q)[[2, 3, 4]].tolist() == [0.0, 0.0, 0.0]
    assert there.to_v(q, v)[[2, 3, 4]].tolist() == [0.0, 0.0, 0.0]
    x, u = there.to_q(q), there.to_v(q, v)
    x[2], u[[2, 3, 4]] = 0.7, (5.0, 6.0, 7.0)  # a floor that is not at height 0, a base that rocks
    same(there.from_q(x), q, ROUNDING)
    same(there.from_v(q, u), v, 0.0)
