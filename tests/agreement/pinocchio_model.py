"""The second road: any torsor robot as a Pinocchio model, and Pinocchio's answers in torsor's conventions.

Pinocchio writes twists and wrenches linear part first, keeps planar angles as (cos, sin), orders velocities joint by
joint and lets joints move about axes through their own frame only. Hence here:

shift[i]   pose of Pinocchio's joint frame in torsor's link frame i, which puts the joint's axis through its origin
K          Pinocchio's velocity from torsor's, v_pin = K v: order, ratios of couplings and mimic joints in one constant
           matrix, so that τ = Kᵀ τ_pin, M = Kᵀ M_pin K, C = Kᵀ C_pin K and J = J_pin K

Nothing here uses torsor's own mathematics. One state at a time; `over_batch` spreads a function over batch axes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pinocchio as pin

from torsor import Robot

AXES = {
    "body": pin.ReferenceFrame.LOCAL,
    "space": pin.ReferenceFrame.WORLD,
    "mixed": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
}
_ANGULAR_FIRST = [3, 4, 5, 0, 1, 2]
_ROW_TO_PIN = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # (Ixx, Ixy, Ixz, Iyy, …) to (Ixx, Ixy, Iyy, Ixz, …)
_COLUMNS = {  # which of torsor's velocities of a joint is Pinocchio's first, second, …
    "planar": [1, 2, 0],
    "spherical": [0, 1, 2],
    "free": [3, 4, 5, 0, 1, 2],
}


class Twin:
    """A robot in Pinocchio. With ``moving_base`` its base hangs on a free joint of its own, first in q_pin and v_pin."""

    def __init__(self, robot: Robot, *, moving_base: bool = False) -> None:
        s, p = robot.structure, robot.parameters
        self.robot, self.model = robot, pin.Model()
        self.model.gravity = pin.Motion(np.array(p.gravity), np.zeros(3))
        self.root = 0
        if moving_base:
            self.root = self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "moving base")
            self.model.addJointFrame(self.root)
        self.shift = [_axis_frame(kind, S) for kind, S in zip(s.kinds, p.screws, strict=True)]
        self.ids: list[int] = []
        for i, parent in enumerate(s.parents):
            home = pin.SE3(np.array(p.poses[i])) * self.shift[i]
            place = home if parent < 0 else self.shift[parent].inverse() * home
            onto = self.root if parent < 0 else self.ids[parent]
            self.ids.append(self.model.addJoint(onto, _joint(s.kinds[i], p.screws[i]), place, s.joints[i]))
            self.model.addJointFrame(self.ids[i])
            self.model.appendBodyToJoint(self.ids[i], _inertia(p.inertias[i]), self.shift[i].inverse())
        for frame in s.frames:
            pose = pin.SE3.Identity() if frame.pose_row is None else pin.SE3(np.array(p.frame_poses[frame.pose_row]))
            on, at = (self.root, pose) if frame.link < 0 else (self.ids[frame.link], self._in_joint(frame.link, pose))
            self.model.addFrame(pin.Frame(frame.name, on, at, pin.FrameType.OP_FRAME))
        self.K = self._velocity_map()
        # A follower's armature is its leader's: with couplings it is added after the projection, by hand.
        self.bare, self.added_armature = self.model.copy(), np.array(p.armature)
        if not s.has_couplings and not moving_base:
            self.model.armature = np.linalg.inv(self.K**2).T @ p.armature  # ½ armature v² is the same on both sides
            self.added_armature = np.zeros(robot.nv)
        self.data = self.model.createData()

    def _in_joint(self, link: int, pose: pin.SE3) -> pin.SE3:
        return self.shift[link].inverse() * pose

    def _velocity_map(self) -> np.ndarray:
        s = self.robot.structure
        K = np.zeros((self.model.nv, s.nv))
        for i, kind in enumerate(s.kinds):
            row, place = self.model.idx_vs[self.ids[i]], s.coordinate_of(i).v.start
            columns = _COLUMNS.get(kind, [0])
            ratio = 1.0 if kind in _COLUMNS else s.couplings[i].ratio
            for k, column in enumerate(columns):
                K[row + k, place + column] = ratio
        return K

    # States and forces

    def q(self, q: np.ndarray) -> np.ndarray:
        """Configuration (nq,) for Pinocchio."""
        s, result = self.robot.structure, pin.neutral(self.model)
        for i, kind in enumerate(s.kinds):
            part, start = q[s.coordinate_of(i).q], self.model.idx_qs[self.ids[i]]
            if kind == "planar":
                part = np.array([part[0], part[1], np.cos(part[2]), np.sin(part[2])])
            elif kind not in _COLUMNS:
                part = s.couplings[i].ratio * part + s.couplings[i].offset
            result[start : start + len(part)] = part
        return result

    def v(self, v: np.ndarray) -> np.ndarray:
        """Velocity or acceleration (nv,) for Pinocchio."""
        return self.K @ v

    def forces_on_joints(self, wrenches: Mapping[str, np.ndarray] | None) -> list[pin.Force]:
        """External wrenches by frame name as Pinocchio takes them: one per joint, in the joint's frame."""
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for name, F in (wrenches or {}).items():
            frame = self.model.frames[self.frame_id(name)]
            forces[frame.parentJoint] += frame.placement.act(pin.Force(F[3:], F[:3]))
        forces[0] = pin.Force.Zero()  # what acts on the base moves nothing
        return forces

    def frame_id(self, name: str) -> int:
        return self.model.getFrameId(name, pin.FrameType.OP_FRAME)

    # Kinematics

    def link_poses(self, q: np.ndarray) -> np.ndarray:
        pin.framesForwardKinematics(self.model, self.data, self.q(q))
        return np.array([self.data.oMf[self.frame_id(link)].homogeneous for link in self.robot.links])

    def frame_pose(self, q: np.ndarray, frame: str) -> np.ndarray:
        pin.framesForwardKinematics(self.model, self.data, self.q(q))
        return self.data.oMf[self.frame_id(frame)].homogeneous

    def jacobian(self, q: np.ndarray, frame: str, kind: str) -> np.ndarray:
        J = pin.computeFrameJacobian(self.model, self.data, self.q(q), self.frame_id(frame), AXES[kind])
        return J.reshape(6, -1)[_ANGULAR_FIRST] @ self.K

    def jacobian_rate(self, q: np.ndarray, v: np.ndarray, frame: str, kind: str) -> np.ndarray:
        pin.computeJointJacobiansTimeVariation(self.model, self.data, self.q(q), self.v(v))
        pin.updateFramePlacements(self.model, self.data)
        J = pin.getFrameJacobianTimeVariation(self.model, self.data, self.frame_id(frame), AXES[kind])
        return J.reshape(6, -1)[_ANGULAR_FIRST] @ self.K

    def twist(self, q: np.ndarray, v: np.ndarray, frame: str, kind: str) -> np.ndarray:
        pin.forwardKinematics(self.model, self.data, self.q(q), self.v(v))
        V = pin.getFrameVelocity(self.model, self.data, self.frame_id(frame), AXES[kind])
        return np.concatenate([V.angular, V.linear])

    def acceleration(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, frame: str, kind: str) -> np.ndarray:
        pin.forwardKinematics(self.model, self.data, self.q(q), self.v(v), self.v(a))
        A = pin.getFrameAcceleration(self.model, self.data, self.frame_id(frame), AXES[kind])
        return np.concatenate([A.angular, A.linear])

    def mixed_acceleration(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, frame: str) -> np.ndarray:
        pin.forwardKinematics(self.model, self.data, self.q(q), self.v(v), self.v(a))
        A = pin.getFrameClassicalAcceleration(self.model, self.data, self.frame_id(frame), AXES["mixed"])
        return np.concatenate([A.angular, A.linear])

    # Dynamics

    def inverse_dynamics(
        self, q: np.ndarray, v: np.ndarray, a: np.ndarray, wrenches: Mapping | None = None
    ) -> np.ndarray:
        forces = self.forces_on_joints(wrenches)
        return (
            self.K.T @ pin.rnea(self.model, self.data, self.q(q), self.v(v), self.v(a), forces)
            + self.added_armature * a
        )

    def joint_wrenches(
        self, q: np.ndarray, v: np.ndarray, a: np.ndarray, wrenches: Mapping | None = None
    ) -> np.ndarray:
        self.inverse_dynamics(q, v, a, wrenches)
        moved = [self.shift[i].act(self.data.f[k]) for i, k in enumerate(self.ids)]
        return np.array([np.concatenate([F.angular, F.linear]) for F in moved])

    def forward_dynamics(
        self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, wrenches: Mapping | None = None
    ) -> np.ndarray:
        forces = self.forces_on_joints(wrenches)
        if self.robot.structure.has_couplings:  # M a = τ − b in the coordinates that are left
            return np.linalg.solve(self.mass_matrix(q), tau - self.inverse_dynamics(q, v, 0.0 * v, wrenches))
        T = np.linalg.inv(self.K)
        return T @ pin.aba(self.model, self.data, self.q(q), self.v(v), T.T @ tau, forces)

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        M = np.triu(pin.crba(self.model, self.data, self.q(q)))
        return self.K.T @ (M + np.triu(M, 1).T) @ self.K + np.diag(self.added_armature)

    def inverse_mass_matrix(self, q: np.ndarray) -> np.ndarray:
        if self.robot.structure.has_couplings:
            return np.linalg.inv(self.mass_matrix(q))
        M = np.triu(pin.computeMinverse(self.model, self.data, self.q(q)))
        T = np.linalg.inv(self.K)
        return T @ (M + np.triu(M, 1).T) @ T.T

    def coriolis_matrix(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self.K.T @ pin.computeCoriolisMatrix(self.model, self.data, self.q(q), self.v(v)) @ self.K

    def gravity_forces(self, q: np.ndarray) -> np.ndarray:
        return self.K.T @ pin.computeGeneralizedGravity(self.model, self.data, self.q(q))

    def bias_forces(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self.K.T @ pin.nonLinearEffects(self.model, self.data, self.q(q), self.v(v))

    def kinetic_energy(self, q: np.ndarray, v: np.ndarray) -> float:
        """Armature by hand: Pinocchio 4.1 leaves it out of the energy of revolute and helical joints about free axes."""
        links = pin.computeKineticEnergy(self.bare, self.bare.createData(), self.q(q), self.v(v))
        return links + 0.5 * self.robot.parameters.armature @ v**2

    def potential_energy(self, q: np.ndarray) -> float:
        return pin.computePotentialEnergy(self.model, self.data, self.q(q))

    def centre_of_mass(self, q: np.ndarray) -> np.ndarray:
        return pin.centerOfMass(self.model, self.data, self.q(q)).copy()

    def spatial_momentum(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Pinocchio's is about the centre of mass c: about the base origin it is (L + c × p, p)."""
        h = pin.computeCentroidalMomentum(self.model, self.data, self.q(q), self.v(v))
        return np.concatenate([h.angular + np.cross(self.data.com[0], h.linear), h.linear])


def over_batch(function: Callable, *states: np.ndarray, **named: object) -> np.ndarray:
    """``function`` of one state, for all states of a batch: arrays (*batch, size) in, (*batch, …) out."""
    batch = states[0].shape[:-1]
    results = [np.array(function(*(x[index] for x in states), **named)) for index in np.ndindex(batch)]
    return np.array(results).reshape((*batch, *results[0].shape))


def _axis_frame(kind: str, S: np.ndarray) -> pin.SE3:
    """A frame with its origin on the axis of a screw; the screw's axis is the points p + λ ω, p = ω × v / |ω|²."""
    w, v = S[:3], S[3:]
    turns = kind in ("revolute", "helical")
    return pin.SE3(np.eye(3), np.cross(w, v) / (w @ w) if turns else np.zeros(3))


def _joint(kind: str, S: np.ndarray) -> pin.JointModel:
    w, v = np.array(S[:3]), np.array(S[3:])
    if kind == "revolute":
        return pin.JointModelRevoluteUnaligned(w)
    if kind == "helical":
        return pin.JointModelHelicalUnaligned(w, float(w @ v))
    if kind == "prismatic":
        return pin.JointModelPrismaticUnaligned(v)
    return {"planar": pin.JointModelPlanar, "spherical": pin.JointModelSpherical, "free": pin.JointModelFreeFlyer}[
        kind
    ]()


def _inertia(row: np.ndarray) -> pin.Inertia:
    return pin.Inertia.FromDynamicParameters(row[_ROW_TO_PIN]) if row[0] else pin.Inertia.Zero()
