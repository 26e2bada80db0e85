"""The derivative index is the last one: every public derivative against differences of what it is the derivative of.

A walk over all public functions and methods finds derivatives by their names and by their records. Each is compared, along named
joints of an asymmetric robot, with differences; one that this file does not know how to check makes a test fail. The robot has
branches, joints of one and of three freedoms, and no symmetry, so that a transposed result is another result: a test shows it.
"""

import inspect
import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from property_checks import assert_close, largest

import torsor
from public_functions import functions
from torsor import modern_robotics as mr
from torsor.functions.dispatch import PUBLIC, about_of
from torsor.lie import se3, so3

ROBOT = torsor.robots.random_tree(6, seed=29, armature=True, kinds=("revolute", "helical", "planar", "spherical"))
ROBOT = ROBOT.with_limits({"joint_1": (-2.0, 3.0)})
FRAME = ROBOT.frames[-1]
JOINTS = ("joint_1", "joint_4")  # a revolute and a spherical one, each between others
Q, V, A = torsor.random_state(ROBOT, seed=3)
ARM = torsor.robots.random_tree(4, seed=8, kinds=("revolute", "helical"), serial=True)  # joints of one freedom
ARM_Q, ARM_V, _ = torsor.random_state(ARM, seed=5)
STEP = 2e-3
FUNCTIONS = functions()
NAMED = re.compile("derivative|hessian|gradient|jacobian", re.IGNORECASE)
PARTS = {"q", "v", "a", "tau", "qq", "qv", "vv", "aq", "tauq"}
NO_INDEX = {  # what is called a derivative and has no index of one, and why
    "torsor.geometry.covariant_derivative": "a vector, along the vector u",
    "torsor.geometry.left_invariant.covariant_derivative": "a vector, along the vector X",
    "torsor.papers.adjoint_between_derivative": "by the one coordinate k that is asked for",
    "torsor.papers.adjoint_between_second_derivative": "by the two coordinates k and l that are asked for",
    "torsor.redundancy.extended_jacobian_lift": "makes a lift",
    **{
        f"torsor.{name}_jacobian_rate": "along v"
        for name in ("kinematics.body", "kinematics.space", "kinematics.mixed", "dynamics.centre_of_mass")
    },
}


class Case(NamedTuple):
    """A derivative by the argument ``by`` at a point, and the function of a point that it is the derivative of."""

    found: np.ndarray
    function: Callable[[dict], np.ndarray]
    by: str
    point: dict
    robot: torsor.Robot | None = None  # of which ``by`` is a configuration, moved along its tangent coordinates
    error: float = 1e-7  # of the differences

    def along(self, k):
        """The derivative of the function along the k-th coordinate, by differences of fourth order."""
        one, two = ((self._moved(k, h) - self._moved(k, -h)) / (2 * h) for h in (STEP, 2 * STEP))
        return (4 * one - two) / 3

    def _moved(self, k, h):
        x = self.point[self.by]
        unit = np.eye(self.size)[k]
        moved = x + h * unit if self.robot is None else torsor.integrate(self.robot, x, unit, h)
        return np.asarray(self.function(self.point | {self.by: moved}))

    @property
    def size(self):
        return len(self.point[self.by]) if self.robot is None else self.robot.nv

    @property
    def columns(self):
        return [ROBOT.v_slice(joint).start for joint in JOINTS] if self.robot is ROBOT else [0, self.size - 1]


STATE = {"q": Q, "v": V, "a": A, "tau": 2.0 * A, "frame": FRAME, "wrenches": {FRAME: np.linspace(-1.0, 2.0, 6)}}
STATE |= {
    "weights": V - A,
    "dq": A,
    "dv": V,
    "da": V + A,
    "dtau": V + A,
    "posture": torsor.random_configuration(ROBOT, seed=4),
    "energy": np.array(1e3),
}
STATE |= {"task": torsor.position_task(FRAME, ["vx", "vy"])}


# What functions of the registry are derivatives of is read from their names


def called(name, part=None):
    """A public function of a point, or a part of its result."""
    parameters = inspect.signature(PUBLIC[name]).parameters
    taken = [x for x, p in parameters.items() if p.default is p.empty and x != "robot"]

    def function(point):
        result = PUBLIC[name](ROBOT, **{x: point[x] for x in taken})
        return np.asarray(result if part is None else getattr(result, part))

    return function


def in_state(derivative, function, by="q"):
    return Case(derivative(STATE), function, by, STATE, ROBOT if by == "q" else None)


def weighted(name, part):
    return lambda point: point["weights"] @ called(name, part)(point)


def in_direction(found, function):
    """A derivative along (dq, dv, …) as one by a single number t, by which the state is moved."""

    def moved(point):
        (t,) = point["t"]
        state = STATE | {x: STATE[x] + t * STATE[f"d{x}"] for x in ("v", "a", "tau")}
        return function(state | {"q": torsor.integrate(ROBOT, Q, STATE["dq"], t)})

    return Case(found(STATE)[..., None], moved, "t", {"t": np.zeros(1)})


def derivatives(name, base):
    return {f".{x}": in_state(called(name, x), called(base), x) for x in about_of(PUBLIC[name]).outputs.names}


def second_derivatives(name, base, weighted_by=called):
    """Part "qv" is the derivative by v of the part "q" of the first derivatives, and so on."""
    pairs = [(part, part[:-1], part[-1]) for part in about_of(PUBLIC[name]).outputs.names]
    return {f".{part}": in_state(called(name, part), weighted_by(f"{base}_derivatives", x), y) for part, x, y in pairs}


def hessian_product(name, base):
    parts = about_of(PUBLIC[name]).outputs.names
    return {f".{x}": in_direction(called(name, x), weighted(f"{base}_derivatives", x)) for x in parts}


BY_NAME = {
    "_second_derivatives": second_derivatives,
    "_second_derivative": lambda name, base: {"": in_state(called(name), called(f"{base}_derivative"))},
    "_derivatives": derivatives,
    "_derivative": lambda name, base: {"": in_state(called(name), called(base))},
    "_hessian": lambda name, base: second_derivatives(name, base, weighted),
    "_hessian_product": hessian_product,
    "_gradient": lambda name, base: {"": in_state(called(name), called(base))},
}


# Of others it is said here


def displacement(frame, axes):
    """A frame's displacement from where it is at Q, as a twist in these axes."""
    T_0, about = torsor.frame_pose(ROBOT, Q, frame), np.eye(4)
    if axes == "mixed":
        about[:3, 3] = -T_0[:3, 3]

    def function(point):
        T = torsor.frame_pose(ROBOT, point["q"], frame)
        if axes == "body":
            return se3.log(se3.inverse(T_0) @ T)
        return se3.log(about @ T @ se3.inverse(T_0) @ se3.inverse(about))

    return function


def frame_jacobian(axes):
    return in_state(called(f"{axes}_jacobian"), displacement(FRAME, axes))


def limit_gradient():
    def half_square(point):  # joint_1 has limits (-2, 3), the others have none
        (q,) = point["q"][ROBOT.q_slice("joint_1")]
        return 0.5 * ((q - 0.5) / 2.5) ** 2

    return in_state(called("limit_gradient"), half_square)


def posture_gradient():
    def spring(point):
        e = torsor.difference(ROBOT, point["q"], point["posture"])
        return 0.5 * e @ e

    return in_state(called("posture_gradient"), spring)


def of_exponential(group, side, inverse):
    """J_left: exp(x + dx) = exp(J dx) exp(x); its inverse: log(exp(dx) exp(x)) = x + J⁻¹ dx. From the right likewise."""
    x = np.linspace(0.3, -0.8, 6 if group is se3 else 3)
    g = group.exp(x)

    def one_first(a, b):
        return group.log(a @ b if side == "left" else b @ a)

    if inverse:
        found = getattr(group, f"{side}_jacobian_inverse")(x)
        return Case(found, lambda point: one_first(group.exp(point["d"]), g), "d", {"d": 0.0 * x})
    found = getattr(group, f"{side}_jacobian")(x)
    return Case(found, lambda point: one_first(group.exp(point["x"]), np.linalg.inv(g)), "x", {"x": x})


def task_case(kind, derivative):
    one, other = displacement(FRAME, "body"), displacement(ROBOT.frames[3], "body")
    rows = torsor.pose_task(FRAME).select([0, 4])
    task, value = {
        "SelectedTask": (rows, lambda p: one(p)[[0, 4]]),
        "StackedTask": (
            torsor.stack_tasks(rows, torsor.pose_task(ROBOT.frames[3])),
            lambda p: np.append(one(p)[[0, 4]], other(p)),
        ),
        "Task": (  # what a class has that says only where it is
            torsor.function_task(lambda robot, q: torsor.dynamics.centre_of_mass(robot, q)[..., :2], 2),
            lambda p: torsor.dynamics.centre_of_mass(ROBOT, p["q"])[:2],
        ),
    }[kind]
    assert getattr(type(task), "derivative" if derivative else "jacobian").__qualname__.startswith(f"{kind}.")
    if derivative:
        return in_state(lambda p: task.derivative(ROBOT, p["q"]), lambda p: task.jacobian(ROBOT, p["q"]))
    return in_state(lambda p: task.jacobian(ROBOT, p["q"]), value)


HELD = torsor.position_task(ARM.frames[-1], ["vx", "vy"])


def lift_of_arm():
    return torsor.redundancy.extended_jacobian_lift(ARM, HELD, lambda robot, q: q[..., 1:3] + 0.2 * q[..., :2] ** 2)


def lift_derivative(vertical):
    lift, point = lift_of_arm(), {"q": ARM_Q}
    if not vertical:
        return Case(lift.derivative(ARM, ARM_Q), lambda p: lift(ARM, p["q"]), "q", point, ARM)
    P = lift.projector(ARM, ARM_Q)
    return Case(lift.vertical_derivative(ARM, ARM_Q), lambda p: P @ lift(ARM, p["q"]), "q", point, ARM)


def trivialisation():
    chart = torsor.redundancy.local_trivialisation(ARM, ARM_Q, HELD, lift_of_arm())
    x = np.concatenate(chart.coordinates(ARM_Q))

    def configuration(point):
        return chart.configuration(point["x"][:2], point["x"][2:])

    return Case(chart.derivative(ARM_Q), configuration, "x", {"x": x}, error=1e-5)  # an iteration's differences


def flat_coordinates():
    flat = torsor.motion.flat_coordinates(torsor.balancing.balanced_planar_chain(3), np.array([0.1, -0.4, 0.7]))
    q = np.array([0.3, -0.2, 0.5])
    return Case(flat.jacobian(q), lambda p: flat.phi(p["q"]), "q", {"q": q})


def path_energy_gradient():
    path = torsor.random_configuration(ROBOT, seed=9, batch=(4,))

    def energy(point):
        return torsor.motion.path_energy(ROBOT, np.stack([path[0], path[1], point["q"], path[3]]))

    return Case(torsor.motion.path_energy_gradient(ROBOT, path)[2], energy, "q", {"q": path[2]}, ROBOT)


def kernel_jacobian():
    kernel = torsor.compile(torsor.mass_matrix, ARM)
    return Case(kernel.jacobian("M", "q")(ARM_Q), lambda p: kernel(p["q"]), "q", {"q": ARM_Q})


def traced_derivative():
    found = torsor.derivative(torsor.mass_matrix, ARM, wrt="q")(ARM_Q)
    return Case(found, lambda p: torsor.mass_matrix(ARM, p["q"]), "q", {"q": ARM_Q}, ARM)


def kool_energy_gradient():
    found = torsor.papers.formulations.kool_energy_gradient(ARM, ARM_Q, ARM_V)
    return Case(found, lambda p: torsor.kinetic_energy(ARM, p["q"], ARM_V), "q", {"q": ARM_Q})


def book_jacobian(jacobian, pose, body):
    screws, home = np.random.default_rng(3).normal(size=(6, 3)), se3.exp(np.linspace(-0.5, 0.8, 6))
    screws[:3] /= np.linalg.norm(screws[:3], axis=0)
    q = np.array([0.4, -0.9, 0.2])
    T_0 = pose(home, screws, q)

    def displacement(point):
        T = pose(home, screws, point["q"])
        return se3.log(se3.inverse(T_0) @ T if body else T @ se3.inverse(T_0))

    return Case(jacobian(screws, q), displacement, "q", {"q": q})


OTHERS: dict[str, Callable[[], Case]] = {
    "torsor.Kernel.jacobian": kernel_jacobian,
    "torsor.derivative": traced_derivative,
    "torsor.control.limit_gradient": limit_gradient,
    "torsor.control.posture_gradient": posture_gradient,
    "torsor.dynamics.centre_of_mass_jacobian": lambda: in_state(
        called("centre_of_mass_jacobian"), called("centre_of_mass")
    ),
    "torsor.modern_robotics.JacobianBody": lambda: book_jacobian(mr.JacobianBody, mr.FKinBody, True),
    "torsor.modern_robotics.JacobianSpace": lambda: book_jacobian(mr.JacobianSpace, mr.FKinSpace, False),
    "torsor.motion.FlatCoordinates.jacobian": flat_coordinates,
    "torsor.motion.path_energy_gradient": path_energy_gradient,
    "torsor.papers.formulations.kool_energy_gradient": kool_energy_gradient,
    "torsor.redundancy.ExtendedJacobianLift.derivative": lambda: lift_derivative(False),
    "torsor.redundancy.ExtendedJacobianLift.vertical_derivative": lambda: lift_derivative(True),
    "torsor.redundancy.LocalTrivialisation.derivative": trivialisation,
}
OTHERS |= {f"torsor.{axes}_jacobian": partial(frame_jacobian, axes) for axes in ("body", "space", "mixed")}
OTHERS |= {
    f"torsor.lie.{name}.{side}_jacobian{end}": partial(of_exponential, group, side, bool(end))
    for name, group in (("se3", se3), ("so3", so3))
    for side in ("left", "right")
    for end in ("", "_inverse")
}
OTHERS |= {
    f"torsor.tasks.{kind}.{name}": partial(task_case, kind, name == "derivative")
    for kind in ("SelectedTask", "StackedTask", "Task")
    for name in ("jacobian", "derivative")
}


def by_name(place):
    """How to check a function of the registry, its name, and that of what it is the derivative of; None if nobody knows."""
    name = place.rsplit(".", 1)[-1]
    ending = max((x for x in BY_NAME if name.endswith(x)), key=len, default="")
    base = name.removesuffix(ending)
    return (BY_NAME[ending], name, base) if ending and name in PUBLIC and base in PUBLIC else None


DERIVATIVES = {place for place in FUNCTIONS if NAMED.search(place.rsplit(".", 1)[-1])}
KNOWN = sorted(place for place in DERIVATIVES - set(NO_INDEX) if place in OTHERS or by_name(place))


def cases_of(place):
    """The cases of a derivative, by the parts of its result."""
    if place in OTHERS:
        return {"": OTHERS[place]()}
    make, name, base = by_name(place)
    return make(name, base)


def test_every_public_derivative_is_checked_here():
    """One that is new is either found by its name, or belongs above: among the others, or with the reason why it has no index."""
    assert DERIVATIVES - set(KNOWN) == set(NO_INDEX)
    assert set(OTHERS) <= set(KNOWN)


def test_derivatives_that_only_their_records_tell_are_found_too():
    names = {place.rsplit(".", 1)[-1] for place in DERIVATIVES}
    for name, function in PUBLIC.items():
        about = about_of(function)
        if about.outputs.kind is not None and set(about.outputs.names) <= PARTS:
            assert name in names
        if about.derivatives is not None:
            assert about.derivatives.name in names


@pytest.mark.parametrize("place", KNOWN)
def test_the_last_index_is_that_of_the_derivative(place):
    for part, case in cases_of(place).items():
        assert case.found.shape == (*np.shape(case.function(case.point)), case.size), part
        for k in case.columns:
            assert_close(case.found[..., k], case.along(k), case.error, scale=largest(case.found))


@pytest.mark.parametrize("place", KNOWN)
def test_another_order_of_indices_is_noticed(place):
    """A test of the test: with the derivative's index anywhere else the numbers are others, by much more than differences err."""
    for part, case in cases_of(place).items():
        if case.robot is ROBOT:
            for axis in range(case.found.ndim - 1):
                if case.found.shape[axis] == ROBOT.nv:
                    moved = np.moveaxis(case.found, -1, axis)
                    assert np.abs(moved - case.found)[..., case.columns].max() > 1e-3 * largest(case.found), part
