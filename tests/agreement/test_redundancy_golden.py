"""Lifts, brackets and the Gram matrix of tasks against the golden values, which were differentiated in 110 digits."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from test_golden import robot_of

import torsor

GOLDEN = json.loads((Path(__file__).parents[1] / "data" / "golden.json").read_text())["robots"]
STATES = [(r["name"], k) for r in GOLDEN for k, s in enumerate(r["states"]) if "task" in s]
TOLERANCE = 3e-15  # times the condition of what is inverted


def state_of(name, k):
    return next(robot for robot in GOLDEN if robot["name"] == name)["states"][k]


def task_of(state):
    rows = state["task"]
    return torsor.pose_task("tip") if rows == "body" else torsor.position_task("tip", rows["rows_of_J_tip_position"])


def condition(state):
    J, M = np.array(state["task_jacobian"]), np.array(state["M"])
    return np.linalg.cond(M) * np.linalg.cond(J) ** 2


@pytest.fixture(params=STATES, ids=lambda s: f"{s[0]}-{s[1]}")
def golden(request):
    name, k = request.param
    state = state_of(name, k)
    return robot_of(name), np.array(state["q"]), task_of(state), state


def test_there_is_a_task_of_every_sort():
    assert len(STATES) >= 16
    assert {state_of(*s)["task"] == "body" for s in STATES} == {True, False}


def test_the_jacobian_of_the_task(golden, same):
    robot, q, task, state = golden
    same(task.jacobian(robot, q), state["task_jacobian"], 3e-13)


@pytest.mark.parametrize(
    ("key", "lift"),
    [("horizontal_lift", torsor.redundancy.horizontal_lift), ("pinv", torsor.redundancy.pseudoinverse_lift)],
)
def test_the_lifts(golden, same, key, lift):
    robot, q, task, state = golden
    scale = condition(state) * np.abs(state[key]).max()
    same(lift(robot, q, task), state[key], TOLERANCE, scale=scale)


def test_the_lift_of_any_metric_is_that_of_the_golden_mass_matrix(golden, same):
    robot, q, task, state = golden
    scale = condition(state) * np.abs(state["horizontal_lift"]).max()
    same(
        torsor.redundancy.horizontal_lift(robot, q, task, metric=state["M"]),
        state["horizontal_lift"],
        TOLERANCE,
        scale=scale,
    )
    scale = condition(state) * np.abs(state["pinv"]).max()
    same(
        torsor.redundancy.horizontal_lift(robot, q, task, metric=np.eye(robot.nv)),
        state["pinv"],
        TOLERANCE,
        scale=scale,
    )


def test_the_gram_matrix(golden, same):
    """J M⁻¹ Jᵀ through the defect against its own inverse as target, and through a gradient."""
    robot, q, task, state = golden
    gram = np.array(state["submersion_gram"])
    eta = np.eye(task.size)
    gradients = torsor.redundancy.lift_function(robot, q, task, eta).gradient
    same(gradients @ task.jacobian(robot, q).T, gram, TOLERANCE, scale=condition(state) * np.abs(gram).max())
    report = torsor.redundancy.is_riemannian_submersion(robot, task, target=np.linalg.inv(gram), q=q, tolerance=1e-8)
    assert report
    assert report.defect <= TOLERANCE * condition(state)


@pytest.mark.parametrize(("key", "lift"), [("lift", "inertia"), ("pinv", "pseudoinverse")])
def test_the_vertical_brackets(golden, same, key, lift):
    robot, q, task, state = golden
    if f"vertical_brackets_{key}" not in state:
        assert task.size == 1
        return
    a, b = np.triu_indices(task.size, 1)
    brackets = torsor.redundancy.vertical_brackets(robot, q, task, lift=lift)
    K = np.abs(state["horizontal_lift" if key == "lift" else "pinv"]).max()
    terms = K**2 * max(1.0, K)  # of products of derivatives and two lifts, which may cancel
    same(brackets[:, a, b].T, state[f"vertical_brackets_{key}"], TOLERANCE, scale=condition(state) * terms)
    np.testing.assert_array_equal(brackets, -np.swapaxes(brackets, -1, -2))


def test_oneills_tensor_is_half_the_bracket_of_the_horizontal_lift(golden, same):
    robot, q, task, _ = golden
    same(2 * torsor.redundancy.oneill_tensor(robot, q, task), torsor.redundancy.vertical_brackets(robot, q, task), 0.0)


@pytest.mark.parametrize("state", [("iiwa_like_7R", 0), ("planar3R_balanced", 1)], ids=lambda s: s[0])
@pytest.mark.compiled
def test_compiled_lifts_are_golden_too(state, same):
    robot, s = robot_of(state[0]), state_of(*state)
    q, task = np.array(s["q"]), task_of(s)
    for key, lift in (
        ("horizontal_lift", torsor.redundancy.horizontal_lift),
        ("pinv", torsor.redundancy.pseudoinverse_lift),
    ):
        same(lift(robot, q, task), s[key], TOLERANCE, scale=condition(s) * np.abs(s[key]).max())
        same(lift(robot, np.stack([q, q]), task)[1], s[key], TOLERANCE, scale=condition(s) * np.abs(s[key]).max())
