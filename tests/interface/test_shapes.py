"""What a function returns has the shape its signature says, for every batch."""

import inspect

import numpy as np
import pytest

import torsor
from torsor.functions.dispatch import PUBLIC, about_of

FUNCTIONS = PUBLIC
TREE = torsor.robots.random_tree(6, seed=5, armature=True, friction=True, fixed=True)
ROBOTS = {"tree": TREE, "pendulum": torsor.robots.pendulum().rename({"tip": "tool"})}
TASK = torsor.position_task("tool", "vx")


def arguments(robot, name, batch):
    q, v, a = torsor.random_state(robot, seed=1, batch=batch)
    state = {"q": q, "q0": q, "q1": q, "v": v, "a": a, "tau": a, "dt": 0.1, "u": v, "w": a, "w_rate": v}
    state |= {"v_ref": a, "a_ref": v, "q_rate": q}
    state |= {"weights": v, "dq": v, "dv": a, "da": v, "dtau": a}
    state |= {"task": TASK, "acceleration": np.ones((*batch, TASK.size)), "forces": np.ones((*batch, TASK.size))}
    state |= {"velocity": np.ones((*batch, TASK.size)), "null": v, "posture": q, "energy": np.full(batch, 1e3)}
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    wanted = {key: state[key] for key in parameters if key in state}
    wanted |= {"frame": "tool"} if "frame" in parameters else {}
    return wanted | ({"wrenches": {"tool": np.linspace(-1, 1, 6)}} if "wrenches" in parameters else {})


def expected_shapes(robot, name, batch):
    sizes = {"*": TASK.size, "nq": robot.nq, "nv": robot.nv, "n": robot.n, "n_frames": robot.n_frames}
    sizes |= {"n_inertial_parameters": 10 * robot.n, "n_joint_parameters": 5 * robot.nv}
    return [
        (*batch, *(int(axis) if axis.isdigit() else sizes[axis] for axis in axes))
        for axes in about_of(PUBLIC[name]).outputs.axes(about_of(PUBLIC[name]).algorithm)
    ]


def parts(result):
    """The arrays of a result: one, or the fields of a named tuple."""
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("batch", [(), (2,), (2, 3), (0,), (1,)], ids=str)
@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_results_have_the_annotated_shape(name, robot, batch):
    robot = ROBOTS[robot]
    result = FUNCTIONS[name](robot, **arguments(robot, name, batch))
    assert [x.shape for x in parts(result)] == expected_shapes(robot, name, batch)
    assert all(x.dtype == np.float64 for x in parts(result))


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_batch_is_the_same_as_its_states_one_by_one(name):
    given = arguments(TREE, name, (3,))
    result = FUNCTIONS[name](TREE, **given)
    for k in range(3):
        one = {key: value[k] if isinstance(value, np.ndarray) else value for key, value in given.items()}
        expected = FUNCTIONS[name](TREE, **one)
        for x, y in zip(parts(result), parts(expected), strict=True):
            np.testing.assert_allclose(x[k], y, rtol=0, atol=1e-12 * (1 + np.abs(y).max()))


def test_arguments_broadcast_against_each_other():
    q, v, a = torsor.random_state(TREE, seed=1, batch=(2, 1))
    many = np.stack([a, 2 * a, 3 * a])[:, 0, 0]
    tau = torsor.inverse_dynamics(TREE, q, v, many, wrenches={"tool": np.ones((2, 1, 6))})
    assert tau.shape == (2, 3, TREE.nv)
    one = torsor.inverse_dynamics(TREE, q[1, 0], v[1, 0], many[2], wrenches={"tool": np.ones(6)})
    np.testing.assert_allclose(tau[1, 2], one, rtol=1e-12, atol=1e-12)


def test_lists_and_integers_are_numbers():
    arm = torsor.robots.planar2r()
    np.testing.assert_array_equal(
        torsor.inverse_dynamics(arm, [0, 1], [1, 2], [0, 0]),
        torsor.inverse_dynamics(arm, [0.0, 1.0], [1.0, 2.0], [0.0, 0.0]),
    )


def test_a_result_that_does_not_depend_on_the_state_can_still_be_written_to():
    M = torsor.mass_matrix(torsor.robots.pendulum(), np.zeros((3, 1)))
    M[0] = 5.0
    assert M[1, 0, 0] == 1.0
