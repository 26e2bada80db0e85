"""A robot that was read from an MJCF, beside MuJoCo's own reading of the same text, in torsor's numbers."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np

import torsor
from torsor.adapters import MuJoCo


def load(text: str, **options: object) -> torsor.Robot:
    """`torsor.load` without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", torsor.ModelWarning)
        return torsor.load(text, **options)


def compiled(text: str) -> mujoco.MjModel:
    """MuJoCo's model of a text, its own warnings apart."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mujoco.MjSpec.from_string(text).compile()


class Beside:
    """MuJoCo's equations for a robot whose joints are those of the model, in the same order.

    What torsor does not have is switched off: constraints, springs of balls and free bodies, compensated weight, fluids. Damping
    and springs of hinges and slides stay.
    """

    def __init__(self, robot: torsor.Robot, model: mujoco.MjModel) -> None:
        off = mujoco.mjtDisableBit
        model.opt.disableflags |= off.mjDSBL_CONSTRAINT
        model.opt.density = model.opt.viscosity = 0.0
        model.jnt_stiffness[model.jnt_type <= int(mujoco.mjtJoint.mjJNT_BALL)] = 0.0  # free is 0, a ball 1
        model.body_gravcomp[:] = 0.0
        self.model, self.data = model, mujoco.MjData(model)
        self.robot, self.adapter = robot, MuJoCo(robot, order=robot.joints)

    def move(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
        """Put MuJoCo's model where the robot is."""
        self.q = q
        self.data.qpos, self.data.qvel = self.adapter.to_q(q), self.adapter.to_v(q, v)
        self.data.qacc = self.adapter.to_a(q, v, a)
        mujoco.mj_inverse(self.model, self.data)

    def tau(self) -> np.ndarray:
        """Inverse dynamics with damping, without Coulomb friction (nv,), N·m or N."""
        return self.adapter.from_tau(self.q, np.array(self.data.qfrc_inverse))

    def bias(self) -> np.ndarray:
        """C v + g (nv,); a follower's velocity is its leader's times a constant, so nothing is added."""
        return self.adapter.from_tau(self.q, np.array(self.data.qfrc_bias))

    def mass_matrix(self) -> np.ndarray:
        """M (nv, nv), by columns."""
        columns, product = [], np.zeros(self.model.nv)
        for unit in np.eye(self.robot.nv):
            mujoco.mj_mulM(self.model, self.data, product, self.adapter.to_v(self.q, unit))
            columns.append(self.adapter.from_tau(self.q, product.copy()))
        return np.array(columns).T

    def poses(self) -> dict[str, np.ndarray]:
        """Poses (4, 4) of all bodies and sites that the robot has under the same name."""
        m, d, result = self.model, self.data, {}
        for k in range(m.nbody):
            result[m.body(k).name or f"body_{k}"] = (d.xpos[k], d.xmat[k])
        for k in range(m.nsite):
            result.setdefault(m.site(k).name, (d.site_xpos[k], d.site_xmat[k]))
        found = {}
        for name, (position, turn) in result.items():
            if name in self.robot.frames:
                found[name] = np.eye(4)
                found[name][:3, 3], found[name][:3, :3] = position, turn.reshape(3, 3)
        return found


def without_coulomb(robot: torsor.Robot) -> torsor.Robot:
    """The robot without dry friction, which is a constraint in MuJoCo."""
    return robot.with_parameters(coulomb_friction=np.zeros(robot.nv))


def check_agreement(robot: torsor.Robot, model: mujoco.MjModel, within: float, seed: int = 0, states: int = 3) -> float:
    """Assert that M, bias forces, inverse dynamics and poses are MuJoCo's; the worst difference, of the largest entry."""
    smooth, peer, worst = without_coulomb(robot), Beside(robot, model), 0.0
    rng = np.random.default_rng(seed)
    for _ in range(states):
        q, v, a = torsor.random_state(robot, seed=rng)
        peer.move(q, v, a)
        pairs = {
            "M": (torsor.mass_matrix(robot, q), peer.mass_matrix()),
            "bias": (torsor.bias_forces(robot, q, v), peer.bias() + drift_forces(robot, peer, q, v)),
            "tau": (torsor.inverse_dynamics(smooth, q, v, a), peer.tau()),
        }
        for name, T in peer.poses().items():
            pairs[name] = (torsor.frame_pose(robot, q, name), T)
        for what, (got, want) in pairs.items():
            # Gravity may be off and velocities cancel: forces are compared with the largest of all.
            size = max(np.abs(want).max(), np.abs(pairs["tau"][1]).max() if what == "bias" else 0.0)
            off = np.abs(got - want).max() / size if size else np.abs(got).max()
            assert off <= within, f"{robot.name}, {what}: off by {off:.3g} of {size:.3g}"
            worst = max(worst, off)
    return worst


def drift_forces(robot: torsor.Robot, peer: Beside, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """M times what MuJoCo's acceleration is when ours is zero: its linear velocities are in axes that stand still."""
    product = np.zeros(peer.model.nv)
    mujoco.mj_mulM(peer.model, peer.data, product, peer.adapter.to_a(q, v, np.zeros(robot.nv)))
    return peer.adapter.from_tau(q, product)
