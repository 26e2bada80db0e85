"""Tasks: every kind has one Jacobian, its rate and its derivative by definition; selections, stacks, functions, keys."""

from __future__ import annotations

import pickle
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from property_checks import DIFFERENTIATED, assert_close, derivative_along, largest, times
from property_strategies import cases, robots

import torsor
from torsor.tasks import as_task

few = settings(max_examples=10)
KINDS = {"pose": torsor.pose_task, "position": torsor.position_task, "orientation": torsor.orientation_task}

IN_AXES = {axes: partial(torsor.pose_task, axes=axes) for axes in ("body", "space", "mixed")}


def position(robot, q):
    """The origin of the tool."""
    return torsor.frame_pose(robot, q, "tool")[:3, 3]


def odd(robot, q):
    """Something that is no frame: height of the centre of mass, and a distance between two links."""
    T = torsor.link_poses(robot, q)
    gap = T[-1, :3, 3] - T[0, :3, 3]
    return np.stack([torsor.dynamics.centre_of_mass(robot, q)[2], gap @ gap, np.sin(q[0])])


def assert_is_task_of(task, case):
    """J̇ v is the rate of J v at constant v, ∂J the derivative of J, by differences."""
    robot, q, v = case.robot, case.q, case.v
    J, H = task.jacobian(robot, q), task.derivative(robot, q)
    assert J.shape == (*case.batch, task.size, robot.nv)
    assert H.shape == (*case.batch, task.size, robot.nv, robot.nv)
    assert len(task.labels) == task.size
    slopes = [derivative_along(task.jacobian, robot, q, e) for e in np.eye(robot.nv)]
    assert_close(H, np.stack(slopes, axis=-1), DIFFERENTIATED)
    rate = np.einsum("...ijk,...k->...ij", H, v)
    assert_close(task.drift(robot, q, v), times(rate, v), 1e-11, scale=largest(rate) * largest(v))


@few
@given(cases(robots(most=5), ((), (3,))))
def test_a_task_of_a_frame_is_its_jacobian_with_its_derivatives(case):
    frame = case.frame()
    for make in (*KINDS.values(), *IN_AXES.values()):
        assert_is_task_of(make(frame), case)
    q = case.q
    assert_close(torsor.pose_task(frame).jacobian(case.robot, q), torsor.body_jacobian(case.robot, q, frame))
    mixed = torsor.mixed_jacobian(case.robot, q, frame)
    assert_close(torsor.position_task(frame).jacobian(case.robot, q), mixed[..., 3:, :])


@few
@given(cases(robots(most=5), ((), (3,))))
def test_the_rows_of_a_pose_are_its_twist_in_the_axes_asked_for(case):
    """T⁻¹ Ṫ, Ṫ T⁻¹, and angular velocity with the velocity of the origin, by differences of T."""
    robot, q, frame = case.robot, case.q, case.frame()
    T = torsor.frame_pose(robot, q, frame)
    R = T[..., :3, :3]
    rate = derivative_along(lambda robot, q: torsor.frame_pose(robot, q, frame), robot, q, case.v)
    turned = torsor.lie.so3.vee(rate[..., :3, :3] @ np.swapaxes(R, -1, -2))
    expected = {
        "body": torsor.lie.se3.vee(torsor.lie.se3.inverse(T) @ rate),
        "space": torsor.lie.se3.vee(rate @ torsor.lie.se3.inverse(T)),
        "mixed": np.concatenate([turned, rate[..., :3, 3]], axis=-1),
    }
    for axes, twist in expected.items():
        task = torsor.pose_task(frame, axes=axes)
        assert_close(times(task.jacobian(robot, q), case.v), twist, DIFFERENTIATED)
    some = torsor.pose_task(frame, ["vz", "wx"], axes="mixed")
    assert some.labels == ("vz", "wx")
    assert_close(some.jacobian(robot, q), torsor.mixed_jacobian(robot, q, frame)[..., [5, 0], :])


def test_axes_are_part_of_what_a_task_is():
    body, space = torsor.pose_task("tool0"), torsor.pose_task("tool0", axes="space")
    assert torsor.pose_task("tool0", axes="body") == body != space
    assert space.title == "tool0 pose in space axes"
    assert torsor.stack_tasks(space, body).labels[5:7] == ("tool0 in space axes.vz", "tool0.wx")
    assert pickle.loads(pickle.dumps(space)) == space
    assert (
        len({task.key_for(torsor.robots.ur5()) for task in (body, space, torsor.pose_task("tool0", axes="mixed"))}) == 3
    )
    with pytest.raises(torsor.TorsorError, match="pose_task: `axes` must be 'body', 'space' or 'mixed', got 'world'"):
        torsor.pose_task("tool0", axes="world")
    robot = torsor.robots.ur5()
    q, goal = np.ones(6), np.eye(4)
    for refused in (
        lambda: torsor.control.operational_space(robot, q, 0 * q, space, goal, 1.0, 1.0),
        lambda: torsor.redundancy.closed_path_drift(robot, q, space, np.zeros((3, 6))),
    ):
        with pytest.raises(torsor.TorsorError, match="'tool0 in space axes' says how fast it moves, not where it is"):
            refused()


@few
@given(cases(robots(most=4), ((), (3,))))
def test_a_function_task_is_differentiated_exactly(case):
    frame, robot, q, v = case.frame(), case.robot, case.q, case.v
    task = torsor.function_task(lambda robot, q: torsor.frame_pose(robot, q, frame)[:3, 3], 3)
    known = torsor.position_task(frame)
    for x, y in [
        (task.jacobian(robot, q), known.jacobian(robot, q)),
        (task.drift(robot, q, v), known.drift(robot, q, v)),
        (task.derivative(robot, q), known.derivative(robot, q)),
    ]:
        assert_close(x, y, 1e-11)
    assert_close(task.value(robot, q), torsor.frame_pose(robot, q, frame)[..., :3, 3])


@settings(max_examples=5)
@given(cases(robots(least=2, most=4, friction=False), ((), (2,))))
def test_a_function_of_no_frame_is_a_task_like_any_other(case):
    task = torsor.function_task(odd, 3)
    assert_is_task_of(task, case)
    value = derivative_along(task.value, case.robot, case.q, case.v)
    assert_close(times(task.jacobian(case.robot, case.q), case.v), value, DIFFERENTIATED)


def test_rows_are_selected_by_number_and_by_label_and_stacked_in_order():
    robot = torsor.robots.ur5()
    q, v, _ = torsor.random_state(robot, seed=0)
    task = torsor.pose_task("tool0")
    assert task.labels == ("wx", "wy", "wz", "vx", "vy", "vz")
    some = task.select(["vy", 0])
    assert some == torsor.pose_task("tool0", ["vy", "wx"])
    assert some.labels == ("vy", "wx")
    np.testing.assert_array_equal(some.jacobian(robot, q), task.jacobian(robot, q)[[4, 0]])
    np.testing.assert_array_equal(some.drift(robot, q, v), task.drift(robot, q, v)[[4, 0]])
    np.testing.assert_array_equal(some.derivative(robot, q), task.derivative(robot, q)[[4, 0]])
    stacked = torsor.stack_tasks(torsor.position_task("tool0", "vz"), torsor.orientation_task("link_4"))
    assert stacked.labels == ("tool0.vz", "link_4.wx", "link_4.wy", "link_4.wz")
    parts = [torsor.mixed_jacobian(robot, q, "tool0")[5:], torsor.body_jacobian(robot, q, "link_4")[:3]]
    np.testing.assert_allclose(stacked.jacobian(robot, q), np.concatenate(parts), atol=1e-15)
    assert stacked.select("link_4.wy").select("wy").labels == ("link_4.wy",)
    np.testing.assert_array_equal(stacked.select("wy").derivative(robot, q), stacked.derivative(robot, q)[[2]])
    assert torsor.stack_tasks("tool0", some).size == 8


def test_tasks_are_values():
    a, b = torsor.position_task("tool", ["vx", "vy"]), torsor.position_task("tool").select([0, 1])
    assert a == b
    assert hash(a) == hash(b)
    assert pickle.loads(pickle.dumps(a)) == a
    stacked = torsor.stack_tasks(a, torsor.function_task(odd, 3))
    assert pickle.loads(pickle.dumps(stacked)) == stacked
    assert a != torsor.position_task("tool")


def test_wrong_tasks_are_refused_with_what_would_be_right():
    robot = torsor.robots.planar2r()
    with pytest.raises(torsor.UnknownName, match="has no row 'wxx'; nearest: 'wx'"):
        torsor.pose_task("tip", "wxx")
    with pytest.raises(torsor.UnknownName, match="has no row 6"):
        torsor.pose_task("tip", 6)
    with pytest.raises(torsor.TorsorError, match=r"select by number: 'tip\.vx' is row 3, 'link_1\.vx' is row 9"):
        torsor.stack_tasks("tip", "link_1").select("vx")
    with pytest.raises(torsor.UnknownName, match="has no frame 'tipp'; nearest: 'tip'"):
        as_task(robot, "tipp")
    with pytest.raises(torsor.TorsorError, match="a task is a frame name or made by pose_task"):
        as_task(robot, np.eye(3))
    with pytest.raises(torsor.TorsorError, match="nothing to stack"):
        torsor.stack_tasks()
    with pytest.raises(torsor.ShapeError, match=r"'odd' must return 2 numbers for one configuration"):
        torsor.function_task(odd, 2).jacobian(robot, np.zeros(2))
    for size in (0, 1.5, "a", True):
        with pytest.raises(torsor.TorsorError, match=r"needs a function of \(robot, q\) and the number of its rows"):
            torsor.function_task(odd, size)
    with pytest.raises(torsor.TorsorError, match=r"must take \(robot, q\): too many positional arguments"):
        torsor.function_task(lambda q: q, 2).jacobian(robot, np.zeros(2))


@pytest.mark.parametrize("rows", [[1.5], [True], [None], [-1], slice(0, 2), 1.0])
def test_a_row_is_a_whole_number_or_a_label(rows):
    with pytest.raises(torsor.UnknownName, match="task 'tip pose' of 6 rows has no row"):
        torsor.pose_task("tip", rows)


@pytest.mark.parametrize("rows", [[], [0, 0], ["wx", 0]])
def test_rows_are_selected_once_each(rows):
    with pytest.raises(torsor.TorsorError, match="select some of its rows"):
        torsor.pose_task("tip").select(rows)


def test_rows_may_come_from_numpy():
    assert torsor.pose_task("tip", np.int64(2)).labels == ("wz",)
    assert torsor.pose_task("tip", np.array([0, 5])).labels == ("wx", "vz")


def several(robot, q):
    """Lengths, products and means, as a list of numbers."""
    p, o = (torsor.frame_pose(robot, q, frame)[:3, 3] for frame in ("tool0", "link_3"))
    return [np.linalg.norm(p - o), np.cross(p, o)[2], np.mean(q), np.hypot(p[0], p[1]), 1.0]


@pytest.mark.parametrize("joined", [lambda y: y, np.array, tuple], ids=["list", "array", "tuple"])
def test_a_function_may_return_a_list_of_what_numpy_computes(joined):
    robot, q = torsor.robots.ur5(), np.array([0.2, -1.1, 1.3, -0.4, 0.3, 0.5])
    task = torsor.function_task(lambda robot, q: joined(several(robot, q)), 5)
    slopes = [np.subtract(several(robot, q + dq), several(robot, q - dq)) / 2e-6 for dq in 1e-6 * np.eye(6)]
    np.testing.assert_allclose(task.jacobian(robot, q), np.transpose(slopes), atol=1e-8)


@pytest.mark.compiled
def test_a_function_task_is_the_same_compiled_traced_and_as_numpy(jax_in_doubles):
    robot = torsor.robots.ur5().rename({"tool0": "tool"})
    q, v, _ = torsor.random_state(robot, seed=1, batch=(4,))
    task = torsor.function_task(position, 3)
    kernel = torsor.compile(lambda robot, q, v: task.drift(robot, q, v), robot, {"q": robot.nq, "v": robot.nv})
    in_jax = task.drift(robot, jax_in_doubles.numpy.asarray(q), v)
    compiled = task.drift(robot, q, v)
    with torsor.backend("numpy"):
        plain = task.drift(robot, q, v)
    for found in (kernel(q, v), in_jax, compiled, torsor.position_task("tool").drift(robot, q, v)):
        np.testing.assert_allclose(found, plain, atol=1e-13)
    push = jax_in_doubles.jacfwd(lambda q: task.value(robot, q))(q[0])
    np.testing.assert_allclose(push, task.jacobian(robot, q[0]), atol=1e-13)


@pytest.mark.compiled
def test_functions_that_look_alike_are_told_apart_on_disk():
    """Two functions of one name and place, each traced in a new process: kernels go by what a function does."""
    code = """if True:
        import sys, numpy as np, torsor
        robot, scale = torsor.robots.planar2r(), float(sys.argv[1])
        task = torsor.function_task(lambda robot, q: scale * torsor.frame_pose(robot, q, "tip")[:2, 3], 2)
        print(torsor.tasks.manipulability(robot, np.array([0.3, 1.0]), task), task.key_for(robot))
    """
    found = [subprocess.run([sys.executable, "-c", code, x], capture_output=True, text=True) for x in ("1", "2", "1")]
    values, keys = zip(*(done.stdout.split(" ", 1) for done in found), strict=True)
    assert float(values[1]) == pytest.approx(4 * float(values[0]), rel=1e-12)
    assert values[0] == values[2]
    assert keys[0] == keys[2] != keys[1]


def test_a_task_of_ones_own_is_identified_by_what_it_computes():
    class Double(torsor.tasks.Task):
        labels = ("twice",)
        factor = 2.0

        def jacobian(self, robot, q):
            return self.factor * torsor.position_task("tip", "vx").jacobian(robot, q)

        def drift(self, robot, q, v):
            return self.factor * torsor.position_task("tip", "vx").drift(robot, q, v)

        def derivative(self, robot, q):
            return self.factor * torsor.position_task("tip", "vx").derivative(robot, q)

    robot, other = torsor.robots.planar2r(), Double()
    assert Double().key_for(robot) == other.key_for(robot)
    other.factor = 3.0
    assert Double().key_for(robot) != other.key_for(robot)
