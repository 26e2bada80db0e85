"""Who is measured, and how each is called: through its public Python interface, in the best way it has."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

import torsor
from robots import is_floating, path_of, torsor_robot
from torsor._lazy import load_everything
from torsor.functions.dispatch import PUBLIC

load_everything()  # the registry of public functions has what was imported

TASKS = {"inverse dynamics": "qva", "forward dynamics": "qvt", "mass matrix": "q"}  # name → arguments
DERIVATIVES = {  # name → arguments, Pinocchio's name where it has the function
    "ID derivatives": ("qva", "computeRNEADerivatives"),
    "FD derivatives": ("qvt", "computeABADerivatives"),
    "torque regressor": ("qva", "computeJointTorqueRegressor"),
    "ID second derivatives": ("qva", None),
}
ARGUMENTS = TASKS | {task: arguments for task, (arguments, _) in DERIVATIVES.items()}
FUNCTIONS = {  # of torsor
    "inverse dynamics": "inverse_dynamics",
    "forward dynamics": "forward_dynamics",
    "mass matrix": "mass_matrix",
    "ID derivatives": "inverse_dynamics_derivatives",
    "FD derivatives": "forward_dynamics_derivatives",
    "torque regressor": "torque_regressor",
    "ID second derivatives": "inverse_dynamics_second_derivatives",
}
AGREEMENT = 1e-9  # of the largest number: rounding, and what forward dynamics makes of it where the mass matrix is ill


def require_agreement(task: str, results: dict[str, object]) -> None:
    """Refuse to compare the times of contenders whose numbers differ; every result is in torsor's terms."""
    own = results["torsor"]
    for who, result in results.items():
        pairs = zip(own, result, strict=True) if isinstance(own, tuple) else [(own, result)]
        for x, y in pairs:
            worst = np.abs(x - y).max() / np.abs(x).max()
            if not worst < AGREEMENT:
                raise AssertionError(f"{task}: {who} differs from torsor by {worst:.1e} of the largest number.")


class Torsor:
    """One state: the public call. A batch: the public call with a reused ``out=``."""

    name = "torsor"

    def __init__(self, robot: str, dtype=np.float64) -> None:
        self.robot, self.dtype = torsor_robot(robot), dtype

    def states(self, count: int, seed: int = 0):
        q, v, a = torsor.random_state(self.robot, seed=seed, batch=(count,))
        return {
            "q": q.astype(self.dtype),
            "v": v.astype(self.dtype),
            "a": a.astype(self.dtype),
            "t": a.astype(self.dtype),
        }

    def one(self, task, states):
        function, robot = PUBLIC[FUNCTIONS[task]], self.robot
        arrays = [np.ascontiguousarray(states[key][0]) for key in ARGUMENTS[task]]
        if len(arrays) == 1:
            q = arrays[0]
            return lambda: function(robot, q)
        q, v, x = arrays
        return lambda: function(robot, q, v, x)

    def batch(self, task, states):
        function, robot = PUBLIC[FUNCTIONS[task]], self.robot
        arrays = [states[key] for key in ARGUMENTS[task]]
        out = function(robot, *arrays)
        return lambda: function(robot, *arrays, out=out)

    def in_torsor_terms(self, task, result):
        return result


class Pinocchio:
    """One state: the call. A batch: its own batch call where there is one, else a loop that stores each result."""

    name = "pinocchio"
    batch_calls: ClassVar = {"inverse dynamics": "rneaInParallel", "forward dynamics": "abaInParallel"}

    def __init__(self, robot: str) -> None:
        import pinocchio as pin

        self.pin = pin
        path = str(path_of(robot))
        free = is_floating(robot)
        self.model = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if free else pin.buildModelFromUrdf(path)
        self.data = self.model.createData()
        self.free = free
        base = [3, 4, 5, 0, 1, 2] if free else []  # its free joint moves (linear, angular); the order back is the same
        self.order = [*base, *range(len(base), self.model.nv)]

    def convert(self, states):
        if not self.free:
            return states
        return {key: x if key == "q" else np.ascontiguousarray(x[:, self.order]) for key, x in states.items()}

    def in_torsor_terms(self, task, result):
        """A result for one state or for many, its rows and columns in torsor's order."""
        if isinstance(result, tuple):
            return tuple(self.in_torsor_terms(task, x) for x in result)
        if task in ("inverse dynamics", "forward dynamics"):
            return result[..., self.order]
        if task == "torque regressor":  # (Ixx, Ixy, Iyy, Ixz, Iyz, Izz) of a link to (Ixx, Ixy, Ixz, Iyy, Iyz, Izz)
            links = np.asarray(result).reshape(*result.shape[:-1], -1, 10)
            return links[..., self.order, :, :][..., [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]].reshape(result.shape)
        return result[..., self.order, :][..., self.order]

    def function(self, task):
        known = {"inverse dynamics": "rnea", "forward dynamics": "aba", "mass matrix": "crba"}
        name = known[task] if task in known else DERIVATIVES[task][1]
        return None if name is None else getattr(self.pin, name)

    def one(self, task, states):
        call, model, data = self.function(task), self.model, self.data
        if call is None:
            return None
        states = self.convert(states)
        arrays = [np.ascontiguousarray(states[key][0]) for key in ARGUMENTS[task]]
        if len(arrays) == 1:
            q = arrays[0]
            return lambda: call(model, data, q)
        q, v, x = arrays
        return lambda: call(model, data, q, v, x)

    def batch(self, task, states):
        """The ways there are, to choose the fastest: of those tried, these loops were."""
        if self.function(task) is None:
            return []
        states = self.convert(states)
        arrays = [states[key] for key in ARGUMENTS[task]]
        ways = [self.loop(task, arrays)]
        if task in self.batch_calls:
            own, pool = getattr(self.pin, self.batch_calls[task]), self.pin.ModelPool(self.model, 1)
            columns = [np.asfortranarray(array.T) for array in arrays]
            out = np.empty_like(columns[1], order="F")

            def at_once():
                own(1, pool, *columns, out)
                return out.T

            ways.append(at_once)
        return ways

    def loop(self, task, arrays):
        call, model, data, count = self.function(task), self.model, self.data, len(arrays[0])
        first = call(model, data, *(array[0] for array in arrays))
        if isinstance(first, tuple):
            outs = tuple(np.empty((count, *x.shape)) for x in first)

            def store_all():
                for q, v, x, by_q, by_v, by_x in zip(*arrays, *outs, strict=True):
                    by_q[...], by_v[...], by_x[...] = call(model, data, q, v, x)
                return outs

            return store_all
        out = np.empty((count, *first.shape))

        def store():
            for row, *state in zip(out, *arrays, strict=True):
                row[...] = call(model, data, *state)
            return out

        return store


class MuJoCo:
    """mj_inverse, mj_forward and mj_fullM, contacts and limits off; batches by a loop."""

    name = "mujoco"

    def __init__(self, robot: str) -> None:
        import mujoco

        if is_floating(robot):
            raise ImportError("floating bases are not measured with mujoco")
        self.mj = mujoco
        text = path_of(robot).read_text().replace('<link name="world"/>', '<link name="base_of_all"/>')
        text = text.replace('<parent link="world"/>', '<parent link="base_of_all"/>')
        self.model = mujoco.MjModel.from_xml_string(text)
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
        self.data = mujoco.MjData(self.model)

    def one(self, task, states):
        mj, m, d = self.mj, self.model, self.data
        arrays = [np.ascontiguousarray(states[key][0]) for key in ARGUMENTS[task]]
        full = np.empty((m.nv, m.nv))

        def inverse():
            d.qpos[:], d.qvel[:], d.qacc[:] = arrays
            mj.mj_inverse(m, d)
            return d.qfrc_inverse

        def forward():
            d.qpos[:], d.qvel[:], d.qfrc_applied[:] = arrays
            mj.mj_forward(m, d)
            return d.qacc

        def mass():
            d.qpos[:] = arrays[0]
            mj.mj_kinematics(m, d)
            mj.mj_comPos(m, d)
            mj.mj_makeM(m, d)
            mj.mj_fullM(m, d, full)
            return full

        return {"inverse dynamics": inverse, "forward dynamics": forward, "mass matrix": mass}.get(task)

    def batch(self, task, states):
        return []

    def in_torsor_terms(self, task, result):
        return result
