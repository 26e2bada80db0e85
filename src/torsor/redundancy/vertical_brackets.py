"""Brackets of the columns of a lift: does a closed way of the task close in the joints? And O'Neill's tensor, half of them."""

from __future__ import annotations

from typing import Annotated

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.model import Robot
from torsor.redundancy.connection import LiftName, configurations_of, connection, refuse_no_lift
from torsor.tasks import Task

LiftBrackets = Annotated[Array, "... nv * *"]


def vertical_brackets(
    robot: Robot, q: ConfigurationVector, task: Task | str, lift: LiftName = "inertia"
) -> LiftBrackets:
    """B[:, a, b] = (1 − K J) [K_a, K_b]: where the robot has drifted to, per area, after a small loop of the task.

    Doing rows a, b, −a, −b by ε one after the other displaces the joints by ε² B[:, a, b], a self-motion. If B vanishes
    everywhere the lift is repeatable: every closed way of the task that can be drawn together to a point closes in the
    joints too [Alt04, Cor. III.2 and §III.B, E004-7, E004-8, E004-14]. Exact, by the derivatives of J and M.

    ``q`` (..., nq), rad or m. ``task``: a `Task`, or the name of a frame for its body twist. ``lift``: "inertia" for
    `horizontal_lift`, "pseudoinverse", or a constant metric (nv, nv). Returns (..., nv, m, m), antisymmetric, rad or m per
    squared unit of the task; NaN where J loses rank.
    """
    q = configurations_of("vertical_brackets", robot, q)
    refuse_no_lift("vertical_brackets", robot, lift)
    return connection(robot, q, task, lift).vertical_brackets()


def oneill_tensor(robot: Robot, q: ConfigurationVector, task: Task | str) -> LiftBrackets:
    """A[:, a, b] = ½ [K_a, K_b]^v, the vertical part of ∇_{K_a} K_b of a Riemannian submersion [ONe66; Alt04, E004-8].

    Where the task is a Riemannian submersion (`is_riemannian_submersion`), planes of the task are more curved than those of
    the robot above them: K_base = K_Q + ¾ |[X, Y]^v|² = K_Q + 3 |A_X Y|² for orthonormal X and Y.

    ``q`` (..., nq), rad or m. ``task``: a `Task`, or the name of a frame for its body twist. Returns (..., nv, m, m),
    antisymmetric, rad or m per squared unit of the task.
    """
    return 0.5 * vertical_brackets(robot, q, task, "inertia")
