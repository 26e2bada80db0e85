"""Adapters against Pinocchio: the same robot on both sides, states handed over by torsor.adapters.Pinocchio.

Tolerance as in test_pinocchio.py: ROUNDING of the largest entry; a solved mass matrix multiplies some units of
rounding by its condition: INVERSE.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_model import Twin
from test_pinocchio import random_robot
from test_robot_files import ROBOTS, read

import torsor
from torsor import Inertia, Joint, Robot
from torsor.adapters import Pinocchio

ROUNDING = 1e-12
INVERSE = 1e-11
KINDS = ("revolute", "prismatic", "helical", "planar", "spherical", "free")
TREES = ["7", "11", "13", "14", "19", "24", *KINDS, "mimic 1", "mimic 2", "mimic 5"]
FILES = ["panda7", "talos32", "talos38_floating"]
URDF = """
<robot name="cart">
  <link name="ground"/>
  <link name="cart"><inertial><origin xyz="0.1 0.2 0.3"/><mass value="3"/>
    <inertia ixx="0.3" ixy="0.01" ixz="0.02" iyy="0.4" iyz="0.03" izz="0.5"/></inertial></link>
  <link name="wheel"><inertial><origin xyz="0 0.1 0"/><mass value="1"/>
    <inertia ixx="0.2" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.2"/></inertial></link>
  <link name="mast"><inertial><origin xyz="0 0 0.5"/><mass value="2"/>
    <inertia ixx="0.2" ixy="0" ixz="0.01" iyy="0.3" iyz="0" izz="0.1"/></inertial></link>
  <link name="bird"><inertial><origin xyz="0.1 0 0"/><mass value="0.5"/>
    <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0.001" izz="0.04"/></inertial></link>
  <joint name="ride" type="planar"><origin xyz="0.3 0 0.1" rpy="0.1 0.2 0.3"/>
    <parent link="ground"/><child link="cart"/><axis xyz="0 0 1"/></joint>
  <joint name="turn" type="continuous"><origin xyz="0 0.4 0" rpy="0.3 0 0"/>
    <parent link="cart"/><child link="wheel"/><axis xyz="0.6 0 0.8"/></joint>
  <joint name="lift" type="prismatic"><origin xyz="0 0 0.2"/>
    <parent link="cart"/><child link="mast"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="fly" type="floating"><origin xyz="0 1 0.2" rpy="1 0 0"/><parent link="mast"/><child link="bird"/></joint>
</robot>
"""


def cart() -> Robot:
    """The robot of URDF, by hand."""

    def body(mass, com, xx, xy, xz, yy, yz, zz):
        return Inertia(mass, com, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    joints = [
        Joint(
            name="ride",
            kind="planar",
            parent="ground",
            link="cart",
            pose=torsor.pose_from((0.3, 0, 0.1), (0.1, 0.2, 0.3)),
            inertia=body(3, (0.1, 0.2, 0.3), 0.3, 0.01, 0.02, 0.4, 0.03, 0.5),
        ),
        Joint(
            name="turn",
            kind="continuous",
            parent="cart",
            link="wheel",
            pose=torsor.pose_from((0, 0.4, 0), (0.3, 0, 0)),
            axis=(0.6, 0, 0.8),
            inertia=body(1, (0, 0.1, 0), 0.2, 0, 0, 0.1, 0, 0.2),
        ),
        Joint(
            name="lift",
            kind="prismatic",
            parent="cart",
            link="mast",
            pose=torsor.pose_from((0, 0, 0.2)),
            axis=(0, 0, 1),
            inertia=body(2, (0, 0, 0.5), 0.2, 0, 0.01, 0.3, 0, 0.1),
        ),
        Joint(
            name="fly",
            kind="free",
            parent="mast",
            link="bird",
            pose=torsor.pose_from((0, 1, 0.2), (1, 0, 0)),
            inertia=body(0.5, (0.1, 0, 0), 0.02, 0, 0, 0.03, 0.001, 0.04),
        ),
    ]
    return torsor.assemble(joints, name="cart", base="ground")


class Both:
    """A robot, its Pinocchio model, the adapter between them, and random states."""

    def __init__(self, case: str) -> None:
        continuous, self.frame = (), "tool"
        if case in FILES:
            self.robot = read(case)
            root = [pin.JointModelFreeFlyer()] if "floating" in case else []
            self.model = pin.buildModelFromUrdf(str(ROBOTS / f"{case}.urdf"), *root)
            self.frame = self.robot.links[-1]
        elif case == "cart":
            self.robot, self.frame, continuous = cart(), "bird", ["turn"]
            self.model = pin.buildModelFromXML(URDF)
        else:
            drawn = random_robot(case)
            self.robot = drawn.with_parameters(armature=np.zeros(drawn.nv))  # followers' armature is a model's matter
            self.model = Twin(self.robot).model
        self.data = self.model.createData()
        self.peer = Pinocchio(self.robot, order=self.model.names, continuous=continuous)
        self.states = [torsor.random_state(self.robot, seed=seed) for seed in range(3)]
        self.coupled = self.robot.structure.has_couplings


@cache
def both(case: str) -> Both:
    return Both(case)


@pytest.fixture(params=[*TREES, *FILES, "cart"], scope="module")
def pair(request: pytest.FixtureRequest) -> Both:
    return both(request.param)


@pytest.fixture(params=[case for case in [*TREES, *FILES, "cart"] if "mimic" not in case], scope="module")
def uncoupled(request: pytest.FixtureRequest) -> Both:
    """A robot without mimic joints, which Pinocchio would move by themselves."""
    return both(request.param)


def test_the_cases_hold_every_kind_another_order_followers_and_screws_of_any_length():
    pairs = [both(case) for case in [*TREES, *FILES, "cart"]]
    assert {kind for p in pairs for kind in p.robot.structure.kinds} == set(KINDS)
    assert sum(p.peer.order != p.robot.coordinates and not p.coupled for p in pairs) >= 3
    assert sum(len(p.peer.order) > len(p.robot.coordinates) for p in pairs) == 3
    assert any(block.ratio != 1.0 for p in pairs if not p.coupled for block in p.robot.structure.couplings)


def test_sizes_and_places_are_the_models(pair):
    assert (pair.peer.nq, pair.peer.nv) == (pair.model.nq, pair.model.nv)
    for name in pair.peer.order:
        k = pair.model.getJointId(name)
        assert pair.peer.q_slice(name) == slice(pair.model.idx_qs[k], pair.model.idx_qs[k] + pair.model.nqs[k])
        assert pair.peer.v_slice(name) == slice(pair.model.idx_vs[k], pair.model.idx_vs[k] + pair.model.nvs[k])


def test_frames_are_in_the_same_places(pair, same):
    for q, _, _ in pair.states:
        pin.framesForwardKinematics(pair.model, pair.data, pair.peer.to_q(q))
        found = pair.data.oMf[pair.model.getFrameId(pair.frame)]
        same(found.homogeneous, torsor.frame_pose(pair.robot, q, pair.frame), ROUNDING)
        same(pin.SE3ToXYZQUAT(found)[:3], pair.peer.to_pose(found.homogeneous)[:3], 1e-15)
        quat = pin.SE3ToXYZQUAT(found)[3:]
        same(pair.peer.to_pose(found.homogeneous)[3:], quat * np.sign(quat[3]), ROUNDING)
        same(pair.peer.from_pose(pin.SE3ToXYZQUAT(found)), found.homogeneous, ROUNDING)


def test_frames_move_alike(pair, same):
    for q, v, a in pair.states:
        peer, k = pair.peer, pair.model.getFrameId(pair.frame)
        pin.forwardKinematics(pair.model, pair.data, peer.to_q(q), peer.to_v(q, v), peer.to_a(q, v, a))
        V = pin.getFrameVelocity(pair.model, pair.data, k, pin.ReferenceFrame.LOCAL)
        A = pin.getFrameAcceleration(pair.model, pair.data, k, pin.ReferenceFrame.LOCAL)
        same(peer.from_twist(V.vector), torsor.kinematics.body_twist(pair.robot, q, v, pair.frame), ROUNDING)
        same(peer.to_twist(torsor.kinematics.body_twist(pair.robot, q, v, pair.frame)), V.vector, ROUNDING)
        same(peer.from_twist(A.vector), torsor.kinematics.body_acceleration(pair.robot, q, v, a, pair.frame), ROUNDING)


def test_inverse_dynamics_agrees(pair, same):
    for q, v, a in pair.states:
        peer = pair.peer
        tau = pin.rnea(pair.model, pair.data, peer.to_q(q), peer.to_v(q, v), peer.to_a(q, v, a))
        want = torsor.inverse_dynamics(pair.robot, q, v, a)
        same(peer.from_tau(q, tau), want, ROUNDING)
        if not pair.coupled:
            same(peer.to_tau(q, want), tau, ROUNDING)


def test_forward_dynamics_agrees(uncoupled, same):
    pair = uncoupled
    for q, v, tau in pair.states:
        peer = pair.peer
        a = pin.aba(pair.model, pair.data, peer.to_q(q), peer.to_v(q, v), peer.to_tau(q, tau))
        same(peer.from_a(q, v, a), torsor.forward_dynamics(pair.robot, q, v, tau), INVERSE)


def test_a_matrix_of_velocities_gives_mass_matrix_and_jacobian(pair, same):
    """K, the adapter's own map of velocities, is to_v of the unit vectors: M = Kᵀ M_pin K and J = J_pin K."""
    for q, _, _ in pair.states:
        K = pair.peer.to_v(q, np.eye(pair.robot.nv)).T
        M = np.triu(pin.crba(pair.model, pair.data, pair.peer.to_q(q)))
        same(K.T @ (M + np.triu(M, 1).T) @ K, torsor.mass_matrix(pair.robot, q), ROUNDING)
        k = pair.model.getFrameId(pair.frame)
        J = pin.computeFrameJacobian(pair.model, pair.data, pair.peer.to_q(q), k, pin.ReferenceFrame.LOCAL)
        same(
            pair.peer.from_twist((J.reshape(6, -1) @ K).T).T, torsor.body_jacobian(pair.robot, q, pair.frame), ROUNDING
        )


@pytest.mark.parametrize("case", FILES)
def test_a_wrench_on_a_link_is_a_force_on_its_joint(case, same):
    pair, F = both(case), np.array([0.1, -0.2, 0.3, 4.0, 5.0, -6.0])
    for q, v, a in pair.states:
        peer, forces = pair.peer, [pin.Force.Zero() for _ in range(pair.model.njoints)]
        forces[pair.model.getJointId(pair.robot.joints[-1])] = pin.Force(peer.to_wrench(F))
        tau = pin.rnea(pair.model, pair.data, peer.to_q(q), peer.to_v(q, v), peer.to_a(q, v, a), forces)
        want = torsor.inverse_dynamics(pair.robot, q, v, a, wrenches={pair.frame: F})
        same(peer.from_tau(q, tau), want, ROUNDING)
        same(peer.from_wrench(pin.Force(peer.to_wrench(F)).vector), F, 0.0)


def test_states_from_pinocchio_come_back_to_it(uncoupled, same):
    """The other direction first: a state that Pinocchio made."""
    pair = uncoupled
    rng = np.random.default_rng(5)
    low, high = -np.ones(pair.model.nq), np.ones(pair.model.nq)
    q_pin = pin.randomConfiguration(pair.model, low, high)
    v_pin, a_pin = rng.normal(size=(2, pair.model.nv))
    peer = pair.peer
    q = peer.from_q(q_pin)
    v, a = peer.from_v(q, v_pin), peer.from_a(q, peer.from_v(q, v_pin), a_pin)
    same(peer.to_q(q), q_pin, ROUNDING)
    tau = pin.rnea(pair.model, pair.data, q_pin, v_pin, a_pin)
    same(peer.from_tau(q, tau), torsor.inverse_dynamics(pair.robot, q, v, a), ROUNDING)


def test_quaternions_of_any_length_arrive_with_length_one(same):
    pair = both("talos38_floating")
    q, v, a = pair.states[0]
    long = np.concatenate([q[:3], -7.0 * q[3:7], q[7:]])
    peer = pair.peer
    tau = pin.rnea(pair.model, pair.data, peer.to_q(long), peer.to_v(long, v), peer.to_a(long, v, a))
    same(peer.from_tau(long, tau), torsor.inverse_dynamics(pair.robot, long, v, a), ROUNDING)
    same(pin.Quaternion(peer.to_quaternion(q[3:7])).matrix(), torsor.lie.quaternion.to_rotation(q[3:7]), ROUNDING)
