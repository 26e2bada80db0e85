"""Frames and tasks in calls, over every public function that takes one: unknown names, things that are none, exchanged arguments.

The function that was called answers, whichever inner one has noticed.
"""

import inspect

import numpy as np
import pytest

import torsor
from public_functions import functions

ARM = torsor.robots.random_tree(7, seed=1, kinds=("revolute",), serial=True)
FRAME = ARM.frames[-1]
Q, V, A = torsor.random_state(ARM, seed=0)
GIVEN = {"robot": ARM, "q": Q, "q0": Q, "v": V, "a": A, "tau": A, "kp": 1.0, "kd": 1.0, "dt": 0.01}
GIVEN |= {"constraint": lambda robot, q: q[..., :5], "section": lambda robot, y: Q, "path": lambda t: np.zeros(2)}
GIVEN |= {"objective": lambda robot, q: q[..., 0] ** 2, "curve": lambda t: np.zeros(2)}


def parameters(function):
    found = inspect.signature(function).parameters
    return [name for name, p in found.items() if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty]


TAKING = {
    place: (function, names, next(name for name in ("frame", "task", "tasks") if name in names))
    for place, function in functions().items()
    if (names := parameters(function))[:1] == ["robot"] and {"frame", "task", "tasks"} & set(names)
}
WRONG = {
    "a name": "hnd",
    "a task": torsor.position_task("hnd", ["vx", "vy"]),
    "one of several": torsor.stack_tasks(torsor.position_task(FRAME, ["vx"]), torsor.position_task("hnd", ["vx"])),
}


def called_with(place, wrong):
    """A call with something in place of the frame, task or tasks."""
    function, names, what = TAKING[place]
    several = isinstance(wrong, torsor.tasks.StackedTask)
    target = np.eye(4) if isinstance(wrong, str) else (np.zeros(3),) * 2 if several else np.zeros(3)
    others = {"targets": np.eye(4), "target": target} | GIVEN
    rows = 6 if isinstance(wrong, str) else 2
    args = [others.get(name, np.ones(rows)) for name in names]
    args[names.index(what)] = [(wrong, np.ones(rows))] if what == "tasks" else wrong
    return function(*args)


def test_the_walk_finds_functions_of_all_namespaces():
    assert len(TAKING) > 50
    assert {"torsor.frame_pose", "torsor.control.prioritised_velocities", "torsor.redundancy.self_motion"} <= set(
        TAKING
    )


@pytest.mark.compiled
@pytest.mark.parametrize("backend", ["numpy", "compiled"])
@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (place, wrong)
        for place, (_, _, what) in sorted(TAKING.items())
        for wrong in WRONG
        if wrong == "a name" or what != "frame"
    ],
)
def test_a_frame_that_is_not_there_is_told_by_the_function_that_was_called(place, wrong, backend):
    name = place.rsplit(".", 1)[-1]
    if name == "as_task" and wrong != "a name":
        assert called_with(place, WRONG[wrong]) is WRONG[wrong]  # of no robot yet
        return
    with torsor.backend(backend), pytest.raises(torsor.UnknownName) as caught:
        called_with(place, WRONG[wrong])
    assert str(caught.value).startswith(f"{name}: robot 'random_tree_7_1' has no frame 'hnd'")
    assert caught.value.where == name and caught.value.value == "hnd"


@pytest.mark.parametrize("place", sorted(place for place, (_, _, what) in TAKING.items() if what == "task"))
def test_what_is_no_task_is_told_by_the_function_that_was_called(place):
    words = "made by pose_task|must be a task or the name of a frame"
    with pytest.raises(torsor.TorsorError, match=words) as caught:
        called_with(place, 3.5)
    assert caught.value.where == place.rsplit(".", 1)[-1]


def test_a_name_that_a_function_of_ones_own_asks_for_is_told_where_it_was_asked():
    with pytest.raises(torsor.UnknownName, match=r"^frame_pose: robot"):
        torsor.compile(lambda robot, q: torsor.frame_pose(robot, q, "hnd"), ARM, {"q": 7})


@pytest.mark.parametrize(
    ("place", "other"),
    [
        (place, other)
        for place, (_, names, what) in sorted(TAKING.items())
        for other in names[1:]
        if what != "tasks" and other in ("q", "q0", "v", "a", "tau", "forces", "velocity", "acceleration")
    ],
)
def test_a_frame_in_place_of_numbers_is_answered_with_the_right_call(place, other):
    function, names, what = TAKING[place]
    args = [GIVEN.get(name, np.ones(6)) for name in names]
    args[names.index(what)], args[names.index(other)] = args[names.index(other)], FRAME
    with pytest.raises(torsor.ArgumentTypeError) as caught:
        function(*args)
    name = place.rsplit(".", 1)[-1]
    right = ", ".join(repr(FRAME) if x == what else x for x in names)
    assert str(caught.value).startswith(
        f"{name}: `{other}` must be numbers, but the name {FRAME!r} stands in its place"
    )
    assert str(caught.value).endswith(f"Write {name}({right}).")


def test_so_is_a_task():
    text = "resolved_rate: `q` must be numbers, but the task .* stands in its place, and `task` is an array of shape"
    with pytest.raises(torsor.ArgumentTypeError, match=text):
        torsor.control.resolved_rate(ARM, torsor.position_task(FRAME), Q, V)
