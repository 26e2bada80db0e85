"""Brackets of the columns of a lift: does a closed way of the task close in the joints? And O'Neill's tensor, half of them."""

from __future__ import annotations

import numpy as np

from torsor.arrays.namespace import is_concrete
from torsor.arrays.typing import ConfigurationVector
from torsor.border import explained
from torsor.border.numbers import refuse_strangers
from torsor.errors import ArgumentError
from torsor.model import Robot
from torsor.redundancy import compiled_brackets as compiled_functions, lift_brackets
from torsor.redundancy.connection import brackets_of, configurations_of
from torsor.redundancy.given_lift import Lift, given_lift
from torsor.redundancy.lift_brackets import LiftBrackets
from torsor.tasks import Task, as_task

COMPILED = 10_000  # products of ∂J and ∂M with K, more or less: ten joints and a pose; beyond, compiling takes too long


@explained
def vertical_brackets(robot: Robot, q: ConfigurationVector, task: Task | str, lift: Lift = "inertia") -> LiftBrackets:
    """B[:, a, b] = (1 − K J) [K_a, K_b]: where the robot has drifted to, per area, after a small loop of the task.

    Doing rows a, b, −a, −b by ε one after the other displaces the joints by ε² B[:, a, b], a self-motion. If B vanishes
    everywhere the lift is repeatable: every closed way of the task that can be drawn together to a point closes in the
    joints too [Alt04, Cor. III.2 and §III.B, E004-7, E004-8, E004-14]. Exact, by the derivatives of J and M.

    ``q`` (..., nq), rad or m. ``task``: a `Task`, or the name of a frame for its body twist. ``lift``: "inertia" for
    `horizontal_lift`, "pseudoinverse", a metric (nv, nv), or a function (robot, q) of one configuration that gives a metric
    (nv, nv) or K (nv, m) and is differentiated: exactly, compiled once, if it is made of torsor's functions and NumPy's (it must
    not change afterwards), else by differences. Returns (..., nv, m, m), antisymmetric, rad or m per squared unit of the task;
    NaN where J loses rank.
    """
    if not isinstance(robot, Robot):
        refuse_strangers(robot)
    found = as_task(robot, task)
    by = compiled_functions if robot.nv**2 * found.size * (robot.nv + found.size) <= COMPILED else lift_brackets
    if is_concrete(q) and robot.is_concrete:
        q = configurations_of(robot, q)
        start = q.reshape(-1, robot.nq)[0] if q.size else np.zeros(robot.nq)
        return brackets_of(robot, q, task, given_lift(robot, found, lift, start, exact=True), by)
    if callable(lift):
        raise ArgumentError("a lift that is a function needs plain numbers, and q is being traced.")
    return brackets_of(robot, q, task, given_lift(robot, found, lift, q), by)


@explained
def oneill_tensor(robot: Robot, q: ConfigurationVector, task: Task | str) -> LiftBrackets:
    """A[:, a, b] = ½ [K_a, K_b]^v, the vertical part of ∇_{K_a} K_b of a Riemannian submersion [ONe66; Alt04, E004-8].

    Where the task is a Riemannian submersion (`is_riemannian_submersion`), planes of the task are more curved than those of
    the robot above them: K_base = K_Q + ¾ |[X, Y]^v|² = K_Q + 3 |A_X Y|² for orthonormal X and Y.

    ``q`` (..., nq), rad or m. ``task``: a `Task`, or the name of a frame for its body twist. Returns (..., nv, m, m),
    antisymmetric, rad or m per squared unit of the task.
    """
    return 0.5 * vertical_brackets(robot, q, task, "inertia")
