"""The same robot in Pinocchio and MuJoCo, if they are installed: their numbers, in torsor's conventions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from torsor.adapters.linear_first import Pinocchio
from torsor.adapters.mujoco import MuJoCo
from torsor.arrays.typing import Array
from torsor.model import Robot


class Answer(NamedTuple):
    """What a peer says of one state: inverse dynamics without friction (nv,), and M a (nv,); N·m or N."""

    tau: Array
    momentum_rate: Array


Peer = Callable[[Array, Array, Array], Answer]


def pinocchio(robot: Robot) -> Peer:
    """The robot as Pinocchio reads it: its own URDF where it has one, else the one that torsor writes."""
    import pinocchio as pin

    source = robot.source
    same = source is not None and source.format == "urdf" and source.digest == robot.digest
    # Pinocchio does not look at the axis of a planar joint; torsor writes it along z.
    text = source.text if same and source is not None and "planar" not in robot.structure.kinds else None
    own = text is not None
    text = text or _as_urdf(robot)
    floating = own and robot.structure.kinds[0] == "free" and f'"{robot.joints[0]}"' not in text
    model = (
        pin.buildModelFromXML(text, pin.JointModelFreeFlyer(), robot.joints[0])
        if floating
        else pin.buildModelFromXML(text)
    )
    model.gravity.linear = np.array(robot.gravity)
    data = model.createData()
    circles = [name for k, name in enumerate(model.names) if k and model.joints[k].nq == 2 and model.joints[k].nv == 1]
    adapter = Pinocchio(robot, order=model.names, continuous=circles)
    armature = np.array(robot.parameters.armature)

    def answer(q: Array, v: Array, a: Array) -> Answer:
        theirs = adapter.to_q(q), adapter.to_v(q, v), adapter.to_a(q, v, a)
        tau = adapter.from_tau(q, pin.rnea(model, data, *theirs))
        M = pin.crba(model, data, theirs[0])
        M = np.triu(M) + np.triu(M, 1).T
        return Answer(tau + armature * a, adapter.from_tau(q, M @ adapter.to_v(q, a)) + armature * a)

    return answer


def mujoco(robot: Robot) -> Peer:
    """The robot as MuJoCo reads it from the MJCF that torsor writes, without contacts, limits and passive forces."""
    import mujoco as library

    model = library.MjModel.from_xml_string(robot.to_mjcf())
    flags = library.mjtDisableBit
    model.opt.disableflags |= flags.mjDSBL_CONSTRAINT | _passive(flags)
    data = library.MjData(model)
    names = [library.mj_id2name(model, library.mjtObj.mjOBJ_JOINT, k) for k in range(model.njnt)]
    adapter = MuJoCo(
        robot, order=[name for name in names if name in robot.joints]
    )  # planar joints are three of MuJoCo's

    def answer(q: Array, v: Array, a: Array) -> Answer:
        data.qpos, data.qvel, data.qacc = adapter.to_q(q), adapter.to_v(q, v), adapter.to_a(q, v, a)
        library.mj_inverse(model, data)
        tau = adapter.from_tau(q, np.array(data.qfrc_inverse))
        product = np.zeros(model.nv)
        library.mj_mulM(model, data, product, adapter.to_v(q, a))
        return Answer(tau, adapter.from_tau(q, product))

    return answer


def _passive(flags: Any) -> int:
    """Springs and dampers: one flag in older releases, two in newer ones."""
    names = ("mjDSBL_PASSIVE", "mjDSBL_SPRING", "mjDSBL_DAMPER")
    return sum(int(getattr(flags, name)) for name in names if hasattr(flags, name))


def _as_urdf(robot: Robot) -> str:
    return robot.to_urdf(drop=["gravity", "armature", "coulomb width", "joint order"])
