"""Inverse dynamics as it was computed through the years: one small file per formulation, all with the same result.

Each is ``(robot, q, v, a, *, wrenches=None) -> tau`` as `torsor.inverse_dynamics`, for trees of revolute, prismatic and
helical joints; `FORMULATIONS` lists them by name. `torsor.papers.count_operations` says what each costs.
"""

from __future__ import annotations

from torsor.papers.formulations import angular_velocity as angular_velocity
from torsor.papers.formulations._euler_lagrange import euler_lagrange as euler_lagrange
from torsor.papers.formulations._hollerbach import (
    hollerbach_3x3 as hollerbach_3x3,
    hollerbach_3x3_shared as hollerbach_3x3_shared,
    hollerbach_4x4 as hollerbach_4x4,
    hollerbach_4x4_shared as hollerbach_4x4_shared,
)
from torsor.papers.formulations._kool import (
    kool as kool,
    kool_energy_gradient as kool_energy_gradient,
    kool_partial_momenta as kool_partial_momenta,
)
from torsor.papers.formulations._luh_walker_paul import luh_walker_paul as luh_walker_paul
from torsor.papers.formulations._park import park_dense as park_dense, park_structured as park_structured
from torsor.papers.formulations._silver import silver as silver, silver_recursive as silver_recursive
from torsor.papers.formulations._uicker_kahn import (
    uicker_kahn as uicker_kahn,
    uicker_kahn_accelerations as uicker_kahn_accelerations,
    uicker_kahn_shared as uicker_kahn_shared,
)
from torsor.papers.formulations.formulation import FOUND, Formulation as Formulation
from torsor.papers.formulations.link_forces import (
    LinkForces as LinkForces,
    extra_link_acceleration as extra_link_acceleration,
    lagrange_link_forces as lagrange_link_forces,
    newton_euler_link_forces as newton_euler_link_forces,
)

IN_ORDER = (
    "uicker_kahn", "uicker_kahn_shared", "uicker_kahn_accelerations", "euler_lagrange", "hollerbach_4x4",
    "hollerbach_4x4_shared", "hollerbach_3x3", "hollerbach_3x3_shared", "silver", "silver_recursive", "kool",
    "park_dense", "park_structured", "luh_walker_paul",
)  # fmt: skip
FORMULATIONS: dict[str, Formulation] = {name: FOUND[name] for name in IN_ORDER}
