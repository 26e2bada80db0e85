"""Adapters against Drake: the same robot built joint by joint, states handed over by torsor.adapters.Drake.

Tolerance as against Pinocchio: ROUNDING of the largest entry; a solved mass matrix multiplies some units of
rounding by its condition: INVERSE.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from pydrake.math import RigidTransform, RollPitchYaw
from pydrake.multibody.math import SpatialForce
from pydrake.multibody.plant import ExternallyAppliedSpatialForce, MultibodyPlant
from pydrake.multibody.tree import (
    BallRpyJoint,
    FixedOffsetFrame,
    JacobianWrtVariable,
    MultibodyForces,
    PlanarJoint,
    PrismaticJoint,
    QuaternionFloatingJoint,
    RevoluteJoint,
    RotationalInertia,
    RpyFloatingJoint,
    ScrewJoint,
    SpatialInertia,
)

import torsor
from torsor import Robot
from torsor.adapters import Drake

ROUNDING = 1e-12
INVERSE = 1e-11
KINDS = ("revolute", "prismatic", "helical", "planar", "spherical", "free")
CASES = ["tree 0", "tree 1", "tree 2", "tree 3", "tree 4", *KINDS, "free by rpy"]


def spatial_inertia(robot: Robot, link: str) -> SpatialInertia:
    inertia = robot.inertia(link)
    I = np.asarray(inertia.rotational)
    central = RotationalInertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
    return SpatialInertia.MakeFromCentralInertia(float(inertia.mass), inertia.com, central)


def drake_plant(robot: Robot, rpy: list[str]) -> MultibodyPlant:
    """A robot in Drake; bodies and joints added in reverse, so that the plant has another order."""
    s, p, plant = robot.structure, robot.parameters, MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector(p.gravity)
    bodies = {i: plant.AddRigidBody(s.links[i], spatial_inertia(robot, s.links[i])) for i in reversed(range(s.n))}
    bodies[-1] = plant.world_body()
    for i in reversed(range(s.n)):
        name, kind, S = s.joints[i], s.kinds[i], p.screws[i]
        home = RigidTransform(np.array(p.poses[i]))
        F = plant.AddFrame(FixedOffsetFrame(f"{name} F", bodies[s.parents[i]].body_frame(), home))
        M = bodies[i].body_frame()
        if kind == "revolute":
            joint = RevoluteJoint(name, F, M, S[:3])
        elif kind == "prismatic":
            joint = PrismaticJoint(name, F, M, S[3:])
        elif kind == "helical":
            joint = ScrewJoint(name, F, M, S[:3], 2 * np.pi * float(S[:3] @ S[3:]), 0.0)  # its pitch is m per turn
        elif kind == "planar":
            joint = PlanarJoint(name, F, M)
        elif kind == "spherical":
            joint = BallRpyJoint(name, F, M)
        else:
            joint = (RpyFloatingJoint if name in rpy else QuaternionFloatingJoint)(name, F, M)
        plant.AddJoint(joint)
    tool = s.frame("tool")
    pose = RigidTransform(np.array(p.frame_poses[tool.pose_row]))
    plant.AddFrame(FixedOffsetFrame("tool", bodies[tool.link].body_frame(), pose))
    plant.Finalize()
    return plant


class Both:
    """A robot, its Drake plant, the adapter between them, and random states."""

    def __init__(self, case: str) -> None:
        if case.startswith("tree"):
            seed = int(case[-1])
            self.robot = torsor.robots.random_tree(5 + seed, seed=seed)
        else:
            self.robot = torsor.robots.random_tree(3, seed=4, kinds=(case.split()[0],), serial=True)
        kinds = dict(zip(self.robot.joints, self.robot.structure.kinds, strict=True))
        free = [name for name, kind in kinds.items() if kind == "free"]
        rpy = free if "rpy" in case else free[:1] if case == "tree 4" else []
        self.plant = drake_plant(self.robot, rpy)
        self.context = self.plant.CreateDefaultContext()
        self.joints = [self.plant.get_joint(k) for k in self.plant.GetJointIndices()]
        self.joints = sorted((j for j in self.joints if j.num_velocities()), key=lambda j: j.velocity_start())
        self.peer = Drake(self.robot, order=[joint.name() for joint in self.joints], rpy=rpy)
        self.states = [torsor.random_state(self.robot, seed=seed) for seed in range(3)]

    def put(self, q: np.ndarray, v: np.ndarray) -> None:
        self.plant.SetPositions(self.context, self.peer.to_q(q))
        self.plant.SetVelocities(self.context, self.peer.to_v(q, v))

    def inverse(self, vdot: np.ndarray) -> np.ndarray:
        forces = MultibodyForces(self.plant)
        self.plant.CalcForceElementsContribution(self.context, forces)
        return self.plant.CalcInverseDynamics(self.context, vdot, forces)


@cache
def both(case: str) -> Both:
    return Both(case)


@pytest.fixture(params=CASES, scope="module")
def pair(request: pytest.FixtureRequest) -> Both:
    return both(request.param)


def test_the_cases_hold_every_kind_both_free_joints_and_another_order():
    pairs = [both(case) for case in CASES]
    assert {kind for p in pairs for kind in p.robot.structure.kinds} == set(KINDS)
    assert {type(joint).__name__ for p in pairs for joint in p.joints} >= {
        "QuaternionFloatingJoint",
        "RpyFloatingJoint",
    }
    assert sum(p.peer.order != p.robot.coordinates for p in pairs) >= 3


def test_sizes_and_places_are_the_plants(pair):
    assert (pair.peer.nq, pair.peer.nv) == (pair.plant.num_positions(), pair.plant.num_velocities())
    for joint in pair.joints:
        assert pair.peer.q_slice(joint.name()).start == joint.position_start()
        assert pair.peer.v_slice(joint.name()).start == joint.velocity_start()


def test_frames_are_in_the_same_places(pair, same):
    for q, v, _ in pair.states:
        pair.put(q, v)
        for name in ("tool", *pair.robot.links):
            X = pair.plant.GetFrameByName(name).CalcPoseInWorld(pair.context)
            T = torsor.frame_pose(pair.robot, q, name)
            same(X.GetAsMatrix4(), T, ROUNDING)
            x = np.concatenate([X.rotation().ToQuaternion().wxyz(), X.translation()])
            same(pair.peer.from_pose(x), T, ROUNDING)
            same(pair.peer.to_pose(T), x * np.where(np.arange(7) < 4, np.sign(x[0]), 1.0), ROUNDING)


def test_frames_move_alike(pair, same):
    for q, v, _ in pair.states:
        pair.put(q, v)
        for name in ("tool", *pair.robot.links):
            V = pair.plant.GetFrameByName(name).CalcSpatialVelocityInWorld(pair.context).get_coeffs()
            want = torsor.kinematics.mixed_twist(pair.robot, q, v, name)
            same(pair.peer.from_twist(V), want, ROUNDING)
            same(pair.peer.to_twist(want), V, ROUNDING)


def test_frames_accelerate_alike(pair, same):
    """Drake's spatial acceleration of a body is what its origin does, in world axes."""
    for q, v, a in pair.states:
        pair.put(q, v)
        found = pair.plant.CalcSpatialAccelerationsFromVdot(pair.context, pair.peer.to_a(q, v, a))
        for link in pair.robot.links:
            A = found[int(pair.plant.GetBodyByName(link).index())].get_coeffs()
            same(pair.peer.from_twist(A), torsor.kinematics.mixed_acceleration(pair.robot, q, v, a, link), ROUNDING)


def test_inverse_dynamics_agrees(pair, same):
    for q, v, a in pair.states:
        pair.put(q, v)
        tau, want = pair.inverse(pair.peer.to_a(q, v, a)), torsor.inverse_dynamics(pair.robot, q, v, a)
        same(pair.peer.from_tau(q, tau), want, ROUNDING)
        same(pair.peer.to_tau(q, want), tau, ROUNDING)


def test_mass_matrix_and_jacobian_agree(pair, same):
    for q, v, _ in pair.states:
        pair.put(q, v)
        K = pair.peer.to_v(q, np.eye(pair.robot.nv)).T
        M = pair.plant.CalcMassMatrix(pair.context)
        same(K.T @ M @ K, torsor.mass_matrix(pair.robot, q), ROUNDING)
        world, tool = pair.plant.world_frame(), pair.plant.GetFrameByName("tool")
        J = pair.plant.CalcJacobianSpatialVelocity(
            pair.context, JacobianWrtVariable.kV, tool, np.zeros(3), world, world
        )
        same(J @ K, torsor.mixed_jacobian(pair.robot, q, "tool"), ROUNDING)


def test_forward_dynamics_agrees(pair, same):
    for q, v, tau in pair.states:
        pair.put(q, v)
        pair.plant.get_applied_generalized_force_input_port().FixValue(pair.context, pair.peer.to_tau(q, tau))
        vdot = pair.plant.get_generalized_acceleration_output_port().Eval(pair.context)
        same(pair.peer.from_a(q, v, vdot), torsor.forward_dynamics(pair.robot, q, v, tau), INVERSE)


def test_a_wrench_on_a_body_agrees(pair, same):
    """A spatial force on a body, at its origin in world axes: torsor's wrench turned to world axes, in the same order."""
    link, F_0 = pair.robot.links[-1], np.array([0.3, -0.2, 0.5, 3.0, 4.0, -2.0])
    for q, v, tau in pair.states:
        pair.put(q, v)
        R = torsor.frame_pose(pair.robot, q, link)[:3, :3]
        push = ExternallyAppliedSpatialForce()
        push.body_index, push.p_BoBq_B = pair.plant.GetBodyByName(link).index(), np.zeros(3)
        push.F_Bq_W = SpatialForce(pair.peer.to_wrench(F_0))
        context = pair.plant.CreateDefaultContext()
        pair.plant.SetPositionsAndVelocities(context, np.concatenate([pair.peer.to_q(q), pair.peer.to_v(q, v)]))
        pair.plant.get_applied_generalized_force_input_port().FixValue(context, pair.peer.to_tau(q, tau))
        pair.plant.get_applied_spatial_force_input_port().FixValue(context, [push])
        vdot = pair.plant.get_generalized_acceleration_output_port().Eval(context)
        F = np.concatenate([R.T @ F_0[:3], R.T @ F_0[3:]])
        same(pair.peer.from_a(q, v, vdot), torsor.forward_dynamics(pair.robot, q, v, tau, wrenches={link: F}), INVERSE)
        same(pair.peer.from_wrench(push.F_Bq_W.get_coeffs()), F_0, 0.0)


def test_states_from_drake_come_back_to_it(pair, same):
    rng = np.random.default_rng(3)
    q_drake = rng.uniform(-1, 1, pair.plant.num_positions())
    for joint in pair.joints:
        if isinstance(joint, QuaternionFloatingJoint):
            quat = slice(joint.position_start(), joint.position_start() + 4)
            q_drake[quat] /= np.linalg.norm(q_drake[quat])
    v_drake, vdot = rng.normal(size=(2, pair.plant.num_velocities()))
    pair.plant.SetPositions(pair.context, q_drake)
    pair.plant.SetVelocities(pair.context, v_drake)
    q = pair.peer.from_q(q_drake)
    v = pair.peer.from_v(q, v_drake)
    a = pair.peer.from_a(q, v, vdot)
    same(pair.peer.to_q(q), q_drake, ROUNDING)
    same(pair.peer.from_tau(q, pair.inverse(vdot)), torsor.inverse_dynamics(pair.robot, q, v, a), ROUNDING)


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, 0.3])
def test_roll_pitch_and_yaw_are_drakes_also_where_two_axes_meet(pitch, same):
    robot = torsor.robots.random_tree(1, seed=0, kinds=("spherical",))
    for roll, yaw in np.random.default_rng(0).uniform(-3, 3, (20, 2)):
        R = RollPitchYaw(roll, pitch, yaw).ToRotationMatrix()
        w, x, y, z = R.ToQuaternion().wxyz()
        q = np.array([x, y, z, w])
        same(RollPitchYaw(Drake(robot).to_q(q)).ToRotationMatrix().matrix(), R.matrix(), 1e-14)
        same(torsor.lie.quaternion.to_rotation(Drake(robot).from_q([roll, pitch, yaw])), R.matrix(), 1e-14)
        same(torsor.lie.quaternion.to_rotation(Drake.from_quaternion(R.ToQuaternion().wxyz())), R.matrix(), 1e-14)
        same(Drake.to_quaternion(q), R.ToQuaternion().wxyz(), 0.0)
