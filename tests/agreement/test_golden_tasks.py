"""The quantities of tests/data/golden.json that belong to tasks, for every robot and state that has them.

Tolerance. As in test_golden all of the difference is our rounding, here magnified by the inverses of M and of J M⁻¹ Jᵀ, whose
condition numbers are up to 5e3 and 3e5: 3e-12 of the largest entry is ten thousand units of it (measured: 6e-13).
"""

from __future__ import annotations

import pytest
from test_golden import STATES, golden, robot_of, state_of

import torsor

TOLERANCE = 3e-12


def having(quantity: str) -> list[tuple[str, int]]:
    return [(name, k) for name, k in STATES if quantity in golden(name)["states"][k]]


def task_of(name: str, k: int) -> torsor.tasks.Task:
    said = golden(name)["states"][k]["task"]
    return torsor.pose_task("tip") if said == "body" else torsor.position_task("tip", said["rows_of_J_tip_position"])


@pytest.mark.parametrize(("name", "k"), having("Lambda"))
def test_inertia_and_bias_along_the_pose_are_golden(name, k, same):
    robot, s = robot_of(name), state_of(name, k)
    found = torsor.tasks.task_space_dynamics(robot, s["q"], s["qd"], "tip")
    same(found.inertia, s["Lambda"], TOLERANCE)
    same(found.bias, s["eta"], TOLERANCE)
    weightless = torsor.tasks.task_space_dynamics(robot.with_gravity((0.0, 0.0, 0.0)), s["q"], s["qd"], "tip")
    same(weightless.bias, found.coriolis, TOLERANCE)
    same(s["eta"] - weightless.bias, found.gravity, TOLERANCE, scale=abs(s["eta"]).max())


@pytest.mark.parametrize(("name", "k"), having("task_jacobian"))
def test_jacobian_inertia_and_inverse_of_a_task_are_golden(name, k, same):
    robot, s, task = robot_of(name), state_of(name, k), task_of(name, k)
    same(task.jacobian(robot, s["q"]), s["task_jacobian"], 3e-13)
    found = torsor.tasks.task_space_dynamics(robot, s["q"], s["qd"], task)
    same(found.inertia, s["Lambda_task"], TOLERANCE)
    same(found.inverse, s["horizontal_lift"], TOLERANCE)
