"""Derivatives of motion, momentum and centre of mass against Pinocchio: arms, a floating base, trees of every joint kind.

Tolerance. As in test_pinocchio: doubles on numbers of size one, so 1e-12 of the largest terms; the forces of wrenches and
gravity can be small parts of the wrenches through a joint, which are the scale there.

Pinocchio 4.1 misses its own central differences in two places if a joint beyond the root has several freedoms: accelerations
in WORLD axes and kinematic Hessians in LOCAL axes. These two are compared on robots without such joints.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_model import AXES, Twin, over_batch

import torsor
from torsor.functions.dispatch import PUBLIC

ROUNDING = 1e-12
ANGULAR_FIRST = [3, 4, 5, 0, 1, 2]
FILES = Path(__file__).parents[1] / "data" / "robots"
ROBOTS = {
    "panda": lambda: torsor.robots.panda().rename({"hand_tcp": "tool"}),
    "ur5": lambda: torsor.robots.ur5().rename({"tool0": "tool"}),
    "talos on a floating base": lambda: torsor.load(FILES / "talos38_floating.urdf"),
    "tree of every kind": lambda: torsor.robots.random_tree(8, seed=13, armature=True, fixed=True),
    "another tree of every kind": lambda: torsor.robots.random_tree(12, seed=55, fixed=True),
    "tree with mimic joints": lambda: torsor.robots.random_tree(9, seed=4, mimic=True, fixed=True),
    "tree of screws with mimic joints": lambda: torsor.robots.random_tree(
        9, seed=8, kinds=SCREWS, mimic=True, fixed=True
    ),
}
SCREWS = ("revolute", "prismatic", "helical")
PLAIN = ["panda", "ur5", "talos on a floating base", "tree of screws with mimic joints"]


class Derivatives(Twin):
    """What Pinocchio differentiates, for one state, in torsor's order and coordinates: columns by K."""

    def twist(self, q, v, frame, kind):
        pin.computeForwardKinematicsDerivatives(self.model, self.data, self.q(q), self.v(v), 0 * self.v(v))
        parts = pin.getFrameVelocityDerivatives(self.model, self.data, self.frame_id(frame), AXES[kind])
        return [part[ANGULAR_FIRST] @ self.K for part in parts]

    def acceleration(self, q, v, a, frame, kind):
        pin.computeForwardKinematicsDerivatives(self.model, self.data, self.q(q), self.v(v), self.v(a))
        parts = pin.getFrameAccelerationDerivatives(self.model, self.data, self.frame_id(frame), AXES[kind])[1:]
        return [part[ANGULAR_FIRST] @ self.K for part in parts]

    def velocity_of_origin(self, q, v, frame):
        pin.computeForwardKinematicsDerivatives(self.model, self.data, self.q(q), self.v(v), 0 * self.v(v))
        place = self.model.frames[self.frame_id(frame)]
        given = self.model, self.data, place.parentJoint, place.placement, AXES["mixed"]
        return [part @ self.K for part in pin.getPointVelocityDerivatives(*given)]

    def acceleration_of_origin(self, q, v, a, frame):
        pin.computeForwardKinematicsDerivatives(self.model, self.data, self.q(q), self.v(v), self.v(a))
        place = self.model.frames[self.frame_id(frame)]
        given = self.model, self.data, place.parentJoint, place.placement, AXES["mixed"]
        return [part @ self.K for part in pin.getPointClassicAccelerationDerivatives(*given)[1:]]

    def hessian(self, q, frame, kind):
        pin.computeJointJacobians(self.model, self.data, self.q(q))
        pin.computeJointKinematicHessians(self.model, self.data)
        pin.updateFramePlacements(self.model, self.data)
        H = pin.getFrameKinematicHessian(self.model, self.data, self.frame_id(frame), AXES[kind])
        H = np.reshape(H, -1).reshape(
            H.shape, order="F"
        )  # Pinocchio 4.1 hands over its column-major memory as row-major
        return np.einsum("iab,aj,bk->ijk", H[ANGULAR_FIRST], self.K, self.K)

    def gravity_forces_derivative(self, q):
        return self.K.T @ pin.computeGeneralizedGravityDerivatives(self.model, self.data, self.q(q)) @ self.K

    def static_forces(self, q, wrenches):
        return self.K.T @ pin.computeStaticTorque(self.model, self.data, self.q(q), self.forces_on_joints(wrenches))

    def static_forces_derivative(self, q, wrenches):
        forces = pin.StdVec_Force()
        forces.extend(self.forces_on_joints(wrenches))
        return self.K.T @ pin.computeStaticTorqueDerivatives(self.model, self.data, self.q(q), forces) @ self.K

    def centroidal(self, q, v):
        """Momentum, its matrix, and its derivative by q."""
        dh_dq = pin.computeCentroidalDynamicsDerivatives(self.model, self.data, self.q(q), self.v(v), 0 * self.v(v))[0]
        A = pin.ccrba(self.model, self.data, self.q(q), self.v(v))
        h = np.concatenate([self.data.hg.angular, self.data.hg.linear])
        return h, A[ANGULAR_FIRST] @ self.K, dh_dq[ANGULAR_FIRST] @ self.K

    def centre_of_mass_motion(self, q, v, a):
        """Velocity, acceleration, Jacobian, its rate, and the derivative of the velocity by q."""
        pin.computeForwardKinematicsDerivatives(self.model, self.data, self.q(q), self.v(v), self.v(a))
        pin.centerOfMass(self.model, self.data, self.q(q), self.v(v), self.v(a))
        by_q = pin.getCenterOfMassVelocityDerivatives(self.model, self.data).copy()
        moved = self.data.vcom[0].copy(), self.data.acom[0].copy()
        J = pin.jacobianCenterOfMass(self.model, self.data, self.q(q)).copy()
        rate = pin.dccrba(self.model, self.data, self.q(q), self.v(v))[:3] / self.data.mass[0]
        return *moved, J @ self.K, rate @ self.K, by_q @ self.K


class Pair:
    """A robot on both roads, in two states, and the frame that most joints carry."""

    def __init__(self, name: str) -> None:
        self.robot = ROBOTS[name]()
        self.twin = Derivatives(self.robot)
        self.states = [torsor.random_state(self.robot, seed=seed) for seed in (1, 2)]
        depths = [len(self.robot.structure.path_from_base(i)) for i in range(self.robot.n)]
        self.frame = "tool" if name in ("panda", "ur5") else self.robot.links[int(np.argmax(depths))]

    def wrenches(self) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(5)
        return {self.frame: rng.normal(size=6), self.robot.links[1]: rng.normal(size=6)}


@cache
def make_pair(name: str) -> Pair:
    return Pair(name)


@pytest.fixture(params=ROBOTS, scope="module")
def pair(request: pytest.FixtureRequest) -> Pair:
    return make_pair(request.param)


@pytest.fixture(params=PLAIN, scope="module")
def plain_pair(request: pytest.FixtureRequest) -> Pair:
    """A robot whose joints have one freedom each, its root apart."""
    return make_pair(request.param)


def largest(*arrays: np.ndarray) -> float:
    return max(float(np.abs(x).max()) for x in arrays)


@pytest.mark.parametrize("kind", ["body", "space"])
def test_derivatives_of_twists_agree(kind, pair, same):
    for q, v, _ in pair.states:
        found = PUBLIC[f"{kind}_twist_derivatives"](pair.robot, q, v, pair.frame)
        want = pair.twin.twist(q, v, pair.frame, kind)
        for got, expected in zip(found, want, strict=True):
            same(got, expected, ROUNDING, scale=largest(*want))


def test_derivatives_of_mixed_twists_agree(pair, same):
    """The angular part is that of the space twist, the linear part that of the origin as a point."""
    for q, v, _ in pair.states:
        found = torsor.derivatives.mixed_twist_derivatives(pair.robot, q, v, pair.frame)
        linear = pair.twin.velocity_of_origin(q, v, pair.frame)
        angular = [part[:3] for part in pair.twin.twist(q, v, pair.frame, "space")]
        for got, top, bottom in zip(found, angular, linear, strict=True):
            same(got, np.concatenate([top, bottom]), ROUNDING, scale=largest(*found))


def check_accelerations(pair, same, kind):
    for q, v, a in pair.states:
        found = PUBLIC[f"{kind}_acceleration_derivatives"](pair.robot, q, v, a, pair.frame)
        want = pair.twin.acceleration(q, v, a, pair.frame, kind)
        for got, expected in zip(found, want, strict=True):
            same(got, expected, ROUNDING, scale=largest(*want))


def test_derivatives_of_accelerations_in_body_axes_agree(pair, same):
    check_accelerations(pair, same, "body")


def test_derivatives_of_accelerations_in_base_axes_agree(plain_pair, same):
    check_accelerations(plain_pair, same, "space")


def test_derivatives_of_the_acceleration_of_the_origin_agree(pair, same):
    for q, v, a in pair.states:
        found = torsor.derivatives.mixed_acceleration_derivatives(pair.robot, q, v, a, pair.frame)
        want = pair.twin.acceleration_of_origin(q, v, a, pair.frame)
        for got, expected in zip(found, want, strict=True):
            same(got[3:], expected, ROUNDING, scale=largest(*want))


def test_derivatives_of_angular_acceleration_agree(plain_pair, same):
    pair = plain_pair
    for q, v, a in pair.states:
        found = torsor.derivatives.mixed_acceleration_derivatives(pair.robot, q, v, a, pair.frame)
        want = pair.twin.acceleration(q, v, a, pair.frame, "space")
        for got, expected in zip(found, want, strict=True):
            same(got[:3], expected[:3], ROUNDING, scale=largest(*want))


def check_hessians(pair, same, kind):
    q = pair.states[0][0]
    H = PUBLIC[f"{kind}_jacobian_derivative"](pair.robot, q, pair.frame)
    same(H, pair.twin.hessian(q, pair.frame, kind), ROUNDING)


@pytest.mark.parametrize("kind", ["space", "mixed"])
def test_kinematic_hessians_in_base_axes_agree(kind, pair, same):
    check_hessians(pair, same, kind)


def test_kinematic_hessians_in_body_axes_agree(plain_pair, same):
    check_hessians(plain_pair, same, "body")


def test_the_stiffness_of_gravity_agrees(pair, same):
    for q, v, _ in pair.states:
        scale = largest(over_batch(pair.twin.joint_wrenches, q, 0 * v, 0 * v))
        same(
            torsor.derivatives.gravity_forces_derivative(pair.robot, q),
            pair.twin.gravity_forces_derivative(q),
            ROUNDING,
            scale=scale,
        )


def test_forces_of_wrenches_and_their_derivatives_agree(pair, same):
    for q, v, _ in pair.states:
        wrenches = pair.wrenches()
        scale = largest(over_batch(pair.twin.joint_wrenches, q, 0 * v, 0 * v))
        held = torsor.gravity_forces(pair.robot, q) - torsor.dynamics.body_wrench_forces(pair.robot, q, wrenches)
        same(held, pair.twin.static_forces(q, wrenches), ROUNDING, scale=scale)
        slope = torsor.derivatives.gravity_forces_derivative(pair.robot, q)
        slope = slope - torsor.derivatives.body_wrench_forces_derivative(pair.robot, q, wrenches)
        same(slope, pair.twin.static_forces_derivative(q, wrenches), ROUNDING, scale=scale)


def test_momenta_about_the_centre_of_mass_and_their_derivatives_agree(pair, same):
    for q, v, _ in pair.states:
        h, A, dh_dq = pair.twin.centroidal(q, v)
        found = torsor.derivatives.centroidal_momentum_derivatives(pair.robot, q, v)
        scale = largest(
            torsor.dynamics.spatial_momentum(pair.robot, q, v),
            *torsor.derivatives.spatial_momentum_derivatives(pair.robot, q, v),
        )
        same(torsor.dynamics.centroidal_momentum(pair.robot, q, v), h, ROUNDING, scale=scale)
        same(torsor.dynamics.centroidal_momentum_matrix(pair.robot, q), A, ROUNDING, scale=scale)
        same(found.q, dh_dq, ROUNDING, scale=scale)
        same(found.v, A, ROUNDING, scale=scale)


def test_the_centre_of_mass_moves_alike(pair, same):
    robot = pair.robot
    for q, v, a in pair.states:
        velocity, acceleration, J, J_rate, by_q = pair.twin.centre_of_mass_motion(q, v, a)
        same(torsor.dynamics.centre_of_mass_velocity(robot, q, v), velocity, ROUNDING, scale=largest(J) * largest(v))
        scale = largest(J_rate, J) * largest(v, a) * robot.nv
        same(torsor.dynamics.centre_of_mass_acceleration(robot, q, v, a), acceleration, ROUNDING, scale=scale)
        same(torsor.dynamics.centre_of_mass_jacobian(robot, q), J, ROUNDING)
        same(torsor.dynamics.centre_of_mass_jacobian_rate(robot, q, v), J_rate, ROUNDING, scale=scale)
        H = torsor.derivatives.centre_of_mass_jacobian_derivative(robot, q)
        same(np.einsum("ijk,j->ik", H, v), by_q, ROUNDING, scale=scale)
