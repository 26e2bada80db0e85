"""A function of what a task moves in, as a function of the configuration: its differential and gradient there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import ConfigurationVector, JointVector, TaskVector
from torsor.border import explained
from torsor.border.numbers import numbers_of
from torsor.errors import ShapeError
from torsor.functions.public.dynamics import inverse_mass_matrix
from torsor.model import Robot
from torsor.redundancy.connection import configurations_of
from torsor.tasks import Task, as_task


class LiftedFunction(NamedTuple):
    """``differential`` Jᵀ η (..., nv), the joint forces of a potential; ``gradient`` M⁻¹ Jᵀ η (..., nv), horizontal."""

    differential: JointVector
    gradient: JointVector


@explained
def lift_function(robot: Robot, q: ConfigurationVector, task: Task | str, eta: TaskVector) -> LiftedFunction:
    """d(θ∘ρ) = Jᵀ η and grad(θ∘ρ) = M⁻¹ Jᵀ η of a function θ of the task with differential η [Alt04, (24), E004-13].

    The gradient is horizontal, J grad = J M⁻¹ Jᵀ η. It is the lift of grad θ = g⁻¹ η in a metric g of the task for all θ only
    where J M⁻¹ Jᵀ = g⁻¹ (`is_riemannian_submersion`). The printed J⁺ in place of Jᵀ gives neither.

    ``q`` (..., nq), rad or m. ``task``: a `Task`, or the name of a frame for its body twist. ``eta`` (..., m): the derivative
    of θ along each row of the task, so that θ̇ = η · ẏ. Returns two arrays (..., nv), in units of θ per rad or m, and those by
    kg·m² or kg.
    """
    q = configurations_of(robot, q)
    found = as_task(robot, task)
    eta = numbers_of("eta", eta, (found.size,))
    try:
        np.broadcast_shapes(q.shape[:-1], eta.shape[:-1])
    except ValueError as error:
        raise ShapeError(f"batch axes of `q` {q.shape[:-1]} and `eta` {eta.shape[:-1]} do not go together.") from error
    differential: Any = np.einsum("...ai,...a->...i", found.jacobian(robot, q), eta)
    return LiftedFunction(differential, np.einsum("...ij,...j->...i", inverse_mass_matrix(robot, q), differential))
