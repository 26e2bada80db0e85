"""Who is measured, and how each is called: through its public Python interface, in the best way it has."""

from __future__ import annotations

import numpy as np

import torsor
from robots import is_floating, path_of, torsor_robot

TASKS = {  # name → arguments
    "inverse dynamics": "qva",
    "forward dynamics": "qvt",
    "mass matrix": "q",
    "ID derivatives": "qva",
}


class Torsor:
    """One state: the public call. A batch: the public call with a reused ``out=``."""

    name = "torsor"

    def __init__(self, robot: str, dtype=np.float64) -> None:
        self.robot, self.dtype = torsor_robot(robot), dtype
        self.functions = {
            "inverse dynamics": torsor.inverse_dynamics,
            "forward dynamics": torsor.forward_dynamics,
            "mass matrix": torsor.mass_matrix,
        }

    def states(self, count: int, seed: int = 0):
        q, v, a = torsor.random_state(self.robot, seed=seed, batch=(count,))
        return {
            "q": q.astype(self.dtype),
            "v": v.astype(self.dtype),
            "a": a.astype(self.dtype),
            "t": a.astype(self.dtype),
        }

    def derivative_kernel(self):
        return torsor.compile(torsor.inverse_dynamics, self.robot).jacobian("tau", "q", "v", "a")

    def one(self, task, states):
        arrays = [np.ascontiguousarray(states[key][0]) for key in TASKS[task]]
        if task == "ID derivatives":
            kernel = self.derivative_kernel()
            return lambda: kernel(*arrays)
        function, robot = self.functions[task], self.robot
        if len(arrays) == 1:
            q = arrays[0]
            return lambda: function(robot, q)
        q, v, x = arrays
        return lambda: function(robot, q, v, x)

    def batch(self, task, states):
        arrays = [states[key] for key in TASKS[task]]
        if task == "ID derivatives":
            kernel = self.derivative_kernel()
            out = kernel(*arrays)
            return lambda: kernel(*arrays, out=out)
        function, robot = self.functions[task], self.robot
        out = function(robot, *arrays)
        return lambda: function(robot, *arrays, out=out)


class Pinocchio:
    """One state: the call. A batch: its own batch call where there is one, else a loop that stores each result."""

    name = "pinocchio"

    def __init__(self, robot: str) -> None:
        import pinocchio as pin

        self.pin = pin
        path = str(path_of(robot))
        free = is_floating(robot)
        self.model = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if free else pin.buildModelFromUrdf(path)
        self.data = self.model.createData()
        self.free = free

    def convert(self, states):
        if not self.free:
            return states
        order = [3, 4, 5, 0, 1, 2, *range(6, self.model.nv)]  # its free joint moves (linear, angular)
        return {key: x if key == "q" else np.ascontiguousarray(x[:, order]) for key, x in states.items()}

    def function(self, task):
        pin, model, data = self.pin, self.model, self.data
        return {
            "inverse dynamics": lambda q, v, a: pin.rnea(model, data, q, v, a),
            "forward dynamics": lambda q, v, t: pin.aba(model, data, q, v, t),
            "mass matrix": lambda q: pin.crba(model, data, q),
            "ID derivatives": lambda q, v, a: pin.computeRNEADerivatives(model, data, q, v, a),
        }[task]

    def one(self, task, states):
        states = self.convert(states)
        pin, model, data = self.pin, self.model, self.data
        arrays = [np.ascontiguousarray(states[key][0]) for key in TASKS[task]]
        if task == "mass matrix":
            (q,) = arrays
            return lambda: pin.crba(model, data, q)
        q, v, x = arrays
        call = {
            "inverse dynamics": pin.rnea,
            "forward dynamics": pin.aba,
            "ID derivatives": pin.computeRNEADerivatives,
        }[task]
        return lambda: call(model, data, q, v, x)

    def batch(self, task, states):
        states = self.convert(states)
        arrays = [states[key] for key in TASKS[task]]
        count, n = len(arrays[0]), self.model.nv
        function = self.function(task)

        def loop():
            if task == "ID derivatives":
                out = np.empty((3, count, n, n))
                for k in range(count):
                    out[0, k], out[1, k], out[2, k] = function(arrays[0][k], arrays[1][k], arrays[2][k])
                return out
            out = np.empty((count, n, n) if task == "mass matrix" else (count, n))
            for k in range(count):
                out[k] = function(*(array[k] for array in arrays))
            return out

        own = {"inverse dynamics": "rneaInParallel", "forward dynamics": "abaInParallel"}.get(task)
        if own is None:
            return [loop]
        pool = self.pin.ModelPool(self.model, 1)
        columns = [np.asfortranarray(array.T) for array in arrays]
        out = np.empty((n, count), order="F")
        return [loop, lambda: getattr(self.pin, own)(1, pool, *columns, out)]


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
        arrays = [np.ascontiguousarray(states[key][0]) for key in TASKS[task]]
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
