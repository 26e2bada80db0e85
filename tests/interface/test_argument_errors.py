# ruff: noqa: E501 - one mistake a line
"""Plausible mistakes in calls: each is answered by a TorsorError with the function's name, and says what to type."""

import inspect

import numpy as np
import pytest

import torsor
from torsor import ArgumentTypeError, Inertia, ModelError, ShapeError, TorsorError, UnknownName
from torsor.border.arguments import explained

ARM = torsor.robots.planar2r()
PANDA = torsor.robots.panda()
Q, V, A = torsor.random_state(ARM, seed=0)
CALLED = "inverse_dynamics(robot, q, v, a, *, wrenches=None, base_motion=None)"


def written_into(robot, q):
    out = np.zeros(2)
    for k in range(2):
        out[k] = q[k]
    return out


def added_to(robot, q):
    out = np.zeros(2)
    out += q
    return out


ROLLOUT = torsor.scan(lambda robot, q, v: {"q": q + 0.1 * v, "v": v}, ARM, {"q": 2, "v": 2})
MISTAKES = {
    # names of arguments
    "unknown keyword": (lambda: torsor.inverse_dynamics(ARM, Q, V, A, wrench=1), ArgumentTypeError, f"inverse_dynamics: no argument is called `wrench`; did you mean `wrenches`? It is {CALLED}."),
    "missing": (lambda: torsor.inverse_dynamics(ARM, Q), ArgumentTypeError, f"inverse_dynamics: `v`, `a` are missing. It is {CALLED}."),
    "given twice": (lambda: torsor.inverse_dynamics(ARM, Q, V, A, q=Q), ArgumentTypeError, "inverse_dynamics: `q` is given twice, by position and by name."),
    "one too many": (lambda: torsor.mass_matrix(ARM, Q, V), ArgumentTypeError, "is one argument too many"),
    "of a controller": (lambda: torsor.control.computed_torque(ARM, Q, V, Q, V, A, kp=1.0, kv=1.0), ArgumentTypeError, "computed_torque: no argument is called `kv`; did you mean `kd`?"),
    "gains": (lambda: torsor.control.computed_torque(ARM, Q, V, Q, V, A), ArgumentTypeError, "computed_torque: `kp`, `kd` are missing."),
    "of a task": (lambda: torsor.control.operational_space(ARM, Q, V), ArgumentTypeError, "operational_space: `task`, `target`, `kp`, `kd` are missing."),
    "of simulate": (lambda: torsor.simulate(ARM, Q, V, 1.0, 0.1), ArgumentTypeError, "simulate: 1.0 is one argument too many; these are passed by name: duration=, dt=, method=, rtol=, atol=, tau=, controller=,"),
    "seed": (lambda: torsor.random_state(ARM), ArgumentTypeError, "random_state: `seed` is missing. It is random_state(robot, *, seed, batch=())."),
    "of a method": (lambda: ARM.with_payload("tip"), ArgumentTypeError, "Robot.with_payload: `inertia` is missing. It is with_payload(frame, inertia)."),
    # what stands in their place
    "a list of joints to lock": (lambda: PANDA.lock(["panda_joint3"]), ArgumentTypeError, "lock: `positions` must say where each joint is held, as in robot.lock({'panda_joint3': 0.0})"),
    "a joint to lock": (lambda: ARM.lock("joint_1"), ArgumentTypeError, "robot.lock({'joint_1': 0.0})"),
    "a position that is no number": (lambda: ARM.lock({"joint_1": "home"}), ShapeError, "lock: `positions['joint_1']` must be real numbers, got 'home'"),
    "a mass for a payload": (lambda: ARM.with_payload("tip", 1.5), ArgumentTypeError, "with_payload: `inertia` must be a torsor.Inertia, got float 1.5. A mass alone is torsor.Inertia.point(1.5)"),
    "a mass for an inertia": (lambda: ARM.with_inertia("link_1", 2.0), ArgumentTypeError, "with_inertia: `inertia` must be a torsor.Inertia, got float 2.0."),
    "no mapping": (lambda: ARM.q_from_dict([0.1, 0.2]), ArgumentTypeError, "Robot.q_from_dict: `values` must be a mapping, such as a dict, got list"),
    "no number": (lambda: Inertia.sphere("large", mass=1.0), TorsorError, "`radius` must be"),
    "no numbers": (lambda: Inertia("heavy"), ModelError, "Inertia: `mass` must be real numbers, got 'heavy'"),
    "the wrong shape": (lambda: Inertia.from_matrix(np.eye(3)), ModelError, "Inertia.from_matrix: `G` must be one matrix of shape (6, 6), got shape (3, 3)."),
    "an array for a name": (lambda: torsor.frame_pose(ARM, Q, Q), UnknownName, "robot 'planar2r' has no frame array("),
    "a frame after its targets": (lambda: torsor.inverse_kinematics(PANDA, np.eye(4), "hand_tcp"), ArgumentTypeError, "it comes before its targets, as in torsor.inverse_kinematics(robot, 'hand_tcp', targets)"),
    "a configuration for joints": (lambda: torsor.plot.mass_matrix_ellipse(ARM, [0.3, 0.8]), TorsorError, "mass_matrix_ellipse: `joints` must be two joints, by name or position, as in ('joint_1', 'joint_2') or (0, 1), got [0.3, 0.8]. A configuration is passed by name: q=."),
    "half a link": (lambda: torsor.robots.chain(2.0), ArgumentTypeError, "chain: `n` must be a whole number, got float 2.0."),
    "a mass too few": (lambda: torsor.robots.planar_chain([0.5, 0.5], [1.0]), ModelError, "planar_chain: as many lengths as masses"),
    "a negative seed": (lambda: torsor.random_state(ARM, seed=-1), ArgumentTypeError, "random_state: `seed` must be a whole number, not negative, or a numpy.random.Generator, got -1."),
    "a controller of q and v": (lambda: torsor.simulate(ARM, Q, V, duration=0.1, dt=0.1, controller=lambda q, v: V), ArgumentTypeError, "simulate: `controller` is called as controller(t, q, v), which (q, v) does not take: too many positional arguments."),
    "no robot for an adapter": (lambda: torsor.adapters.MuJoCo("arm"), ArgumentTypeError, "MuJoCo: `robot` must be a torsor.Robot, got str 'arm'."),
    "curves that are no numbers": (lambda: torsor.plot.paths(ARM, "home", joints=(0, 1)), ShapeError, "paths: `curves` must be real numbers, got 'home'."),
    "too many axes": (lambda: torsor.mass_matrix(ARM, np.zeros((1,) * 40 + (2,))), ShapeError, "mass_matrix: a batch has at most 28 axes, got 40"),
    "joints by name": (lambda: torsor.gravity_forces(ARM, {"joint_1": 0.3}), ShapeError, "Joints by name become one by robot.q_from_dict(…)."),
    "velocities by name": (lambda: torsor.coriolis_matrix(ARM, Q, {"joint_1": 0.3}), ShapeError, "Joints by name become one by robot.v_from_dict(…)."),
    "a force for a wrench": (lambda: torsor.inverse_dynamics(ARM, Q, V, A, wrenches={"tip": [0, 0, 9.0]}), ShapeError, "got (3,). A wrench is six numbers in the axes of its frame: torque (N·m), then force (N)."),
    "a joint for a frame": (lambda: torsor.frame_pose(PANDA, np.zeros(7), "panda_joint7"), UnknownName, "no frame 'panda_joint7'; nearest: 'link_7'."),
    "a joint for a link": (lambda: PANDA.inertia("panda_joint3"), UnknownName, "no link 'panda_joint3'; nearest: 'link_3'."),
    "a payload before its frame": (lambda: ARM.with_payload(Inertia.point(1.0), "tip"), ArgumentTypeError, "`inertia` must be a torsor.Inertia, but the name 'tip' stands in its place, and `frame` is Inertia(mass="),
    "gravity as a number": (lambda: ARM.with_gravity(9.81), ShapeError, "Robot.with_gravity: `gravity` must have shape (3,), such as (0, 0, -9.81) m/s², got ()."),
    "gravity as a word": (lambda: ARM.with_gravity("moon"), ArgumentTypeError, "`gravity` must be an array of numbers"),
    "armature of some joints": (lambda: PANDA.with_parameters(armature=[0.1, 0.2]), ShapeError, "`armature` must have shape (7,) for robot 'panda', got (2,)."),
    "armature as a word": (lambda: PANDA.with_parameters(armature="large"), ShapeError, "`armature` must have shape (7,) for robot 'panda', got ()."),
    "of base parameters": (lambda: torsor.identification.base_parameters(ARM).regressor(Q), ArgumentTypeError, "BaseParameters.regressor: `v`, `a` are missing. It is regressor(q, v, a, *, out=None)."),
    "one of torsor's own robots": (lambda: torsor.load("panda"), torsor.FileError, "torsor's own robot of this name is torsor.robots.panda()."),
    "a file for a robot": (lambda: torsor.Robot("arm.urdf"), ArgumentTypeError, "Robot: `parameters` is missing. It is Robot(structure, parameters, source=None, visuals=()). A file becomes a robot by torsor.load(path)."),
    "a joint by position": (lambda: torsor.Joint("a", "revolute"), ArgumentTypeError, "Joint: 'a' is one argument too many; these are passed by name: name=, kind=, parent=,"),
    "a function for an event": (lambda: torsor.simulate(ARM, Q, V, duration=0.1, dt=0.1, events=lambda t, q, v: q[0]), ArgumentTypeError, "`events` must be a torsor.Event or a sequence, each of them a torsor.Event, got"),
    "repair as a switch": (lambda: torsor.load("<robot name='a'/>", repair=True), ModelError, "`repair` takes 'all' or names of rules (docs/rules.md), like ['limits-inverted'], got True."),
    # functions to be traced
    "a function without robot": (lambda: torsor.compile(lambda q: q, ARM, {"q": 2}), ArgumentTypeError, "compile: <lambda>(q) gets the robot as its first argument, which here is called `q`. Write lambda robot, q: …."),
    "a law without robot": (lambda: torsor.compile(lambda q, v: -v, ARM), ArgumentTypeError, "called `q`. Write lambda robot, q, v: …."),
    "a step without robot": (lambda: torsor.scan(written_into, ARM, {"x": 2}), ArgumentTypeError, "scan: written_into(robot, q) cannot be called with the robot first and then x by name (missing a required argument: 'q'). Write def written_into(robot, x)."),
    "no robot": (lambda: torsor.scan(written_into, {"q": 2}, ARM), TorsorError, "scan: the second argument must be a torsor.Robot, got dict"),
    "written into": (lambda: torsor.compile(written_into, ARM, {"q": 2}), TorsorError, "traced numbers cannot be written into a NumPy array; make the array like an input of the function, as in np.zeros_like(q, shape=(3, 3))"),
    "added to": (lambda: torsor.compile(added_to, ARM, {"q": 2}), TorsorError, "the result of np.add on traced numbers cannot be written into a NumPy array; write x = x + y for x += y"),
    "np.array": (lambda: torsor.compile(lambda robot, q: np.linalg.inv(np.array([[q[0], q[1]], [0.0, 1.0]])), ARM, {"q": 2}), TorsorError, "np.array makes no traced array of traced numbers, but one of Python objects; make the array like an input"),
    "an array of numbers": (lambda: torsor.compile(lambda robot, q: np.asarray(q, float), ARM, {"q": 2}), TorsorError, "traced numbers have no place in a NumPy array of float64; make the array like an input"),
    "half a step": (lambda: ROLLOUT(steps=1.5, q=Q, v=V), TorsorError, "steps must be a whole number, not negative, and every one of at least 1, got 1.5, 1."),
    "a state that is no number": (lambda: ROLLOUT(steps=1, q="home", v=V), ShapeError, "scan '<lambda> of planar2r': `q` must be an array of numbers, got 'home'."),
    "masked": (lambda: ROLLOUT(steps=1, q=np.ma.array(Q, mask=[True, False]), v=V), ShapeError, "`q`: this is a masked array"),
    "batches of a scan": (lambda: ROLLOUT(steps=1, q=np.zeros((2, 2)), v=np.zeros((3, 2))), ShapeError, "the batch axes do not broadcast: `q` (2,), `v` (3,)."),
    "outputs as a list": (lambda: torsor.compile(torsor.mass_matrix, ARM).jacobian(["M"], "q"), ArgumentTypeError, "Kernel.jacobian: `output` must be a name"),
    # names of numbers
    "mass": (lambda: torsor.compile(torsor.gravity_forces, ARM, parameters=("mass",)), UnknownName, "compile: a robot has no group of parameters 'mass'; nearest: 'inertias'. All groups of parameters: poses, screws, inertias,"),
    "friction": (lambda: ARM.with_parameters(friction=0.1), UnknownName, "with_parameters: a robot has no group of parameters 'friction'; nearest: 'viscous_friction', 'coulomb_friction'."),
    "derivative by mass": (lambda: torsor.derivative(torsor.gravity_forces, ARM, wrt="mass"), UnknownName, "has no input or group of parameters 'mass'; nearest: 'inertias'. All inputs and groups of parameters: q,"),
    "repair": (lambda: torsor.load("<robot name='a'/>", repair=["every"]), UnknownName, "load: torsor has no repair 'every'. All repairs: "),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_answered_with_what_to_type(mistake):
    call, kind, words = MISTAKES[mistake]
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, TorsorError)
    assert words in str(caught.value)


def test_a_batch_of_one_axis_may_be_a_number():
    for one, many in zip(
        torsor.random_state(ARM, seed=1, batch=3), torsor.random_state(ARM, seed=1, batch=(3,)), strict=True
    ):
        np.testing.assert_array_equal(one, many)
    assert torsor.random_configuration(ARM, seed=1, batch=np.int64(0)).shape == (0, 2)


def test_armature_and_friction_may_be_one_number_for_all():
    one = PANDA.with_parameters(armature=0.1, viscous_friction=np.float64(0.2), coulomb_friction=np.full(7, 0.3))
    np.testing.assert_array_equal(one.parameters.armature, np.full(7, 0.1))
    np.testing.assert_array_equal(one.parameters.viscous_friction, np.full(7, 0.2))


@pytest.mark.parametrize("count", ["all", None, np.nan, np.inf, [2], 0, 1.5, -1])
def test_a_number_of_threads_is_a_whole_number(count):
    before = torsor.get_threads()
    with pytest.raises(
        TorsorError, match=r"set_threads: count must be a whole number of at least 1, got .*os\.cpu_count"
    ):
        torsor.set_threads(count)
    assert torsor.get_threads() == before


@pytest.mark.compiled
def test_wrong_names_are_told_after_the_fast_entry_was_opened():
    for _ in range(3):
        torsor.gravity_forces(ARM, Q)
    with pytest.raises(ArgumentTypeError, match="gravity_forces: no argument is called `w`"):
        torsor.gravity_forces(ARM, Q, w=1)
    with pytest.raises(ArgumentTypeError, match="gravity_forces: `q` is missing"):
        torsor.gravity_forces(ARM)
    with pytest.raises(ArgumentTypeError, match="`q` is given twice"):
        torsor.gravity_forces(ARM, Q, q=Q)


def test_one_group_of_parameters_needs_no_tuple():
    assert list(torsor.compile(torsor.gravity_forces, ARM, parameters="inertias").inputs) == ["q", "inertias"]


# Errors that are not ours


@explained
def doubled(robot: torsor.Robot, values: list[float], of: str = "x") -> float:
    return 2.0 * float(values[of])  # a mistake of the function's own


def test_an_error_that_no_argument_explains_is_left_as_it_is():
    with pytest.raises(TypeError, match="list indices must be integers") as caught:
        doubled(ARM, [1.0])
    assert not isinstance(caught.value, TorsorError)
    with pytest.raises(ArgumentTypeError, match=r"doubled: `robot` must be a torsor\.Robot, got str 'arm'") as caught:
        doubled("arm", [1.0])
    assert isinstance(caught.value.__cause__, TypeError)


def test_the_error_of_a_users_function_reaches_the_user():
    def controller(t, q, v):
        raise KeyError("my own")

    with pytest.raises(KeyError, match="my own"):
        torsor.simulate(ARM, Q, V, duration=0.1, dt=0.1, controller=controller)


def test_explained_functions_keep_their_signatures():
    assert list(inspect.signature(torsor.simulate).parameters)[:3] == ["robot", "q0", "v0"]
    assert torsor.simulate.__doc__ and ARM.lock.__doc__
