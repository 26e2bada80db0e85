"""Inverse dynamics as it was computed through the years: one small file per formulation, all with the same result.

Each is ``(robot, q, v, a, *, wrenches=None) -> tau`` as `torsor.inverse_dynamics`, for trees of revolute, prismatic and
helical joints; `FORMULATIONS` lists them by name. `torsor.papers.count_operations` says what each costs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from torsor.papers.formulations import angular_velocity as angular_velocity
from torsor.papers.formulations._euler_lagrange import euler_lagrange as euler_lagrange, euler_lagrange_core
from torsor.papers.formulations._hollerbach import (
    hollerbach_3x3 as hollerbach_3x3,
    hollerbach_3x3_core,
    hollerbach_4x4 as hollerbach_4x4,
    hollerbach_4x4_core,
)
from torsor.papers.formulations._kool import kool as kool, kool_core, kool_energy_gradient as kool_energy_gradient
from torsor.papers.formulations._luh_walker_paul import luh_walker_paul as luh_walker_paul, luh_walker_paul_core
from torsor.papers.formulations._park import (
    park_dense as park_dense,
    park_dense_core,
    park_structured as park_structured,
    park_structured_core,
)
from torsor.papers.formulations._silver import silver as silver, silver_core
from torsor.papers.formulations._uicker_kahn import (
    uicker_kahn as uicker_kahn,
    uicker_kahn_accelerations as uicker_kahn_accelerations,
    uicker_kahn_accelerations_core,
    uicker_kahn_core,
    uicker_kahn_shared as uicker_kahn_shared,
    uicker_kahn_shared_core,
)
from torsor.papers.formulations.links import (
    Core,
    MakeModel,
    dense_model,
    lagrangian_model,
    matrix_model,
    moving_screw_model,
    newton_euler_model,
    screw_model,
)


class Published(NamedTuple):
    """Counts that others printed for revolute joints, multiplications and additions; quoted from memory, not verified.

    ``six_links``: the numbers for n = 6. ``polynomials``: those in n, where known.
    """

    six_links: tuple[int, int]
    polynomials: tuple[str, str] | None


class Formulation(NamedTuple):
    """A way to compute the joint forces: ``function(robot, q, v, a, wrenches=None)``, and what it is counted by.

    ``core`` computes τ from the ``make_model`` data; ``frames`` is the Denavit–Hartenberg convention its source puts its
    frames by, "standard" (joint i turns about z of the parent) or "modified" (about z of its own link).
    """

    function: Callable[..., Any]
    title: str
    source: str
    published: Published | None
    core: Core
    make_model: MakeModel
    frames: str


FORMULATIONS: dict[str, Formulation] = {
    "uicker_kahn": Formulation(
        uicker_kahn,
        "Uicker/Kahn, as written",
        "[Uic65; Kah69; Sil81, (1.2)]",
        # A polynomial 32.5 n⁴ + 86 5/12 n³ + 171.25 n² + 53 1/3 n − 128 is remembered too, but gives 67,143 multiplications.
        Published((66_271, 51_548), None),
        uicker_kahn_core,
        matrix_model,
        "standard",
    ),
    "uicker_kahn_shared": Formulation(
        uicker_kahn_shared,
        "Uicker/Kahn, shared products",
        "[Uic65; Kah69; Sil81, (1.2)]",
        None,
        uicker_kahn_shared_core,
        matrix_model,
        "standard",
    ),
    "uicker_kahn_accelerations": Formulation(
        uicker_kahn_accelerations,
        "Uicker/Kahn, accelerations formed once",
        "[Uic65; Kah69; Sil81, (1.2)]",
        None,
        uicker_kahn_accelerations_core,
        matrix_model,
        "standard",
    ),
    "euler_lagrange": Formulation(
        euler_lagrange,
        "Lagrange equation, differentiated directly",
        "[Sil81, (1.1); LP, (9.8)]",
        None,
        euler_lagrange_core,
        screw_model,
        "modified",
    ),
    "hollerbach_4x4": Formulation(
        hollerbach_4x4,
        "Recursive Lagrangian, 4×4",
        "[Hol80; Sil81, §1.4]",
        Published((4_388, 3_586), ("830n − 592", "675n − 464")),
        hollerbach_4x4_core,
        matrix_model,
        "standard",
    ),
    "hollerbach_3x3": Formulation(
        hollerbach_3x3,
        "Recursive Lagrangian, 3×3",
        "[Hol80; Sil81, §1.4]",
        Published((2_195, 1_719), ("412n − 277", "320n − 201")),
        hollerbach_3x3_core,
        lagrangian_model,
        "standard",
    ),
    "silver": Formulation(
        silver,
        "Lagrangian in ω",
        "[Sil81, (3.11)–(3.16)]",
        None,
        silver_core,
        newton_euler_model,
        "standard",
    ),
    "kool": Formulation(
        kool,
        "Line coordinates, absolute frame",
        "[Kool04, (5)–(10), EK-2]",
        None,
        kool_core,
        moving_screw_model,
        "modified",
    ),
    "park_dense": Formulation(
        park_dense,
        "Lie-group recursion, 6×6",
        "[PBP95, (24)–(27)]",
        None,
        park_dense_core,
        dense_model,
        "modified",
    ),
    "park_structured": Formulation(
        park_structured,
        "Lie-group recursion, (R, p)",
        "[PBP95, (24)–(27)]",
        Published((712, 550), ("130n − 68", "101n − 56")),  # Featherstone's own, as [PBP95, §3] quotes them
        park_structured_core,
        moving_screw_model,
        "modified",
    ),
    "luh_walker_paul": Formulation(
        luh_walker_paul,
        "Newton–Euler in vectors",
        "[LWP80; Sil81, §1.3]",
        Published((852, 738), ("150n − 48", "131n − 48")),
        luh_walker_paul_core,
        newton_euler_model,
        "standard",
    ),
}
