"""Every quantity of tests/data/golden.json that the library computes, for every robot and state there.

Tolerance. The golden numbers have thirty correct digits rounded to doubles, so all of the difference is our rounding:
3e-13 of the largest entry is a thousand units of it. Where that entry is what is left of terms that cancel (Coriolis
terms of a balanced robot, heights above and below the base, forces that balance), the size of those terms is the scale
and it is written beside the quantity. Where M is inverted, its condition number multiplies.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import torsor
from torsor import Inertia, Robot

GOLDEN = json.loads((Path(__file__).parents[1] / "data" / "golden.json").read_text())["robots"]
STATES = [(robot["name"], k) for robot in GOLDEN for k in range(len(robot["states"]))]
TOLERANCE = 3e-13

State = dict[str, np.ndarray]


def golden(name: str) -> dict:
    return next(robot for robot in GOLDEN if robot["name"] == name)


def robot_of(name: str) -> Robot:
    robot = golden(name)
    return torsor.serial_chain(
        [joint["screw"] for joint in robot["joints"]],
        [link["home"] for link in robot["links"]],
        [Inertia(link["mass"], link["com"], link["inertia_com"]) for link in robot["links"]],
        tip=robot["tip_home"],
        gravity=robot["gravity"],
        name=name,
    )


def state_of(name: str, k: int) -> State:
    return {key: np.array(x) for key, x in golden(name)["states"][k].items() if not isinstance(x, dict)}


def largest(x: object) -> float:
    return float(np.abs(x).max())


def coriolis_terms(robot: Robot, s: State) -> float:
    """Of C: sums of ∂M v, each of the size of M v."""
    return largest(s["M"]) * largest(s["qd"])


def force_terms(robot: Robot, s: State) -> float:
    """Of joint forces: M a, M v² and the weight of the robot at a metre from its base."""
    weight = robot.parameters.inertias[:, 0].sum() * largest(robot.gravity)
    return largest(s["M"]) * (largest(s["qdd"]) + largest(s["qd"]) ** 2) + weight


def energy_terms(robot: Robot, s: State) -> float:
    """Of potential energy: m g h of each link."""
    heights = np.abs(s["T_links"][:, :3, 3] @ robot.gravity)
    return float(robot.parameters.inertias[:, 0] @ heights) + largest(s["potential"])


def metric_terms(robot: Robot, s: State) -> float:
    """Of derivatives of M: sums of products of the sizes of M, which cancel in a balanced robot."""
    return largest(s["M"])


def curvature_terms(robot: Robot, s: State) -> float:
    """Of R: ∂Γ, M and ΓM⁻¹Γ, whose inverse carries the condition of M."""
    Gamma, M_inverse = np.abs(s["Gamma"]), np.abs(np.linalg.inv(s["M"]))
    products = np.einsum("ijr,rs,kls->ijkl", Gamma, M_inverse, Gamma)
    return max(largest(s["dGamma"]), largest(s["M"]), largest(products))


def ricci_terms(robot: Robot, s: State) -> float:
    """Of M⁻¹R: the terms of R times the inverse."""
    return curvature_terms(robot, s) * largest(np.linalg.inv(s["M"]))


def scalar_terms(robot: Robot, s: State) -> float:
    """Of M⁻¹M⁻¹R: the terms of R times the inverse, twice."""
    return curvature_terms(robot, s) * largest(np.linalg.inv(s["M"])) ** 2


class Quantity(NamedTuple):
    """How torsor computes a golden quantity from (robot, q, v, a, tip wrench), and the terms that cancel in it."""

    compute: Callable[..., np.ndarray]
    terms: Callable[[Robot, State], float] | None = None


QUANTITIES = {
    "T_links": Quantity(lambda r, q, v, a, F: torsor.link_poses(r, q)),
    "T_tip": Quantity(lambda r, q, v, a, F: torsor.frame_pose(r, q, "tip")),
    "J_body": Quantity(lambda r, q, v, a, F: torsor.body_jacobian(r, q, "tip")),
    "J_space": Quantity(lambda r, q, v, a, F: torsor.space_jacobian(r, q, "tip")),
    "J_tip_position": Quantity(lambda r, q, v, a, F: torsor.mixed_jacobian(r, q, "tip")[..., 3:, :]),
    "Jdot_body": Quantity(lambda r, q, v, a, F: torsor.kinematics.body_jacobian_rate(r, q, v, "tip")),
    "M": Quantity(lambda r, q, v, a, F: torsor.mass_matrix(r, q)),
    "kinetic": Quantity(lambda r, q, v, a, F: torsor.kinetic_energy(r, q, v)),
    "potential": Quantity(lambda r, q, v, a, F: torsor.potential_energy(r, q), energy_terms),
    "gravity_torque": Quantity(lambda r, q, v, a, F: torsor.gravity_forces(r, q), force_terms),
    "C": Quantity(lambda r, q, v, a, F: torsor.coriolis_matrix(r, q, v), coriolis_terms),
    "c": Quantity(lambda r, q, v, a, F: torsor.dynamics.coriolis_forces(r, q, v), force_terms),
    "bias": Quantity(lambda r, q, v, a, F: torsor.bias_forces(r, q, v), force_terms),
    "tau": Quantity(lambda r, q, v, a, F: torsor.inverse_dynamics(r, q, v, a), force_terms),
    # The golden wrench is exerted by the tip: the environment does the opposite to the robot.
    "tau_with_tip_wrench": Quantity(lambda r, q, v, a, F: torsor.inverse_dynamics(r, q, v, a, wrenches={"tip": -F})),
    "dtau_dq": Quantity(lambda r, q, v, a, F: torsor.inverse_dynamics_derivatives(r, q, v, a).q, force_terms),
    "dtau_dqd": Quantity(lambda r, q, v, a, F: torsor.inverse_dynamics_derivatives(r, q, v, a).v, coriolis_terms),
    "p": Quantity(lambda r, q, v, a, F: torsor.dynamics.generalised_momentum(r, q, v)),
    "dM": Quantity(
        lambda r, q, v, a, F: np.moveaxis(torsor.geometry.mass_matrix_derivative(r, q), -1, -3), metric_terms
    ),
    "Gamma": Quantity(lambda r, q, v, a, F: torsor.geometry.christoffel_symbols(r, q), metric_terms),
    "dGamma": Quantity(
        lambda r, q, v, a, F: np.moveaxis(torsor.geometry.christoffel_symbols_derivative(r, q), -1, -4), metric_terms
    ),
    "R": Quantity(lambda r, q, v, a, F: torsor.geometry.riemann_curvature(r, q), curvature_terms),
    "Ricci": Quantity(lambda r, q, v, a, F: torsor.geometry.ricci_curvature(r, q), ricci_terms),
    "scalar_curvature": Quantity(lambda r, q, v, a, F: torsor.geometry.scalar_curvature(r, q), scalar_terms),
}


def arguments(s: State) -> tuple[np.ndarray, ...]:
    return s["q"], s["qd"], s["qdd"], s["tip_wrench"]


@pytest.mark.parametrize(("name", "k"), STATES)
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_a_golden_quantity_is_met(quantity, name, k, same):
    robot, s = robot_of(name), state_of(name, k)
    compute, terms = QUANTITIES[quantity]
    same(compute(robot, *arguments(s)), s[quantity], TOLERANCE, scale=None if terms is None else terms(robot, s))


@pytest.mark.parametrize("name", [robot["name"] for robot in GOLDEN])
def test_all_golden_states_of_a_robot_as_one_batch_give_the_same(name, same):
    robot = robot_of(name)
    states = [state_of(name, k) for k in range(len(golden(name)["states"]))]
    assert len(states) > 1
    batch = [np.array(part) for part in zip(*map(arguments, states), strict=True)]
    for quantity, (compute, terms) in QUANTITIES.items():
        together = compute(robot, *batch)
        for k, s in enumerate(states):
            scale = None if terms is None else terms(robot, s)
            same(together[k], s[quantity], TOLERANCE, scale=scale)


@pytest.mark.parametrize(("name", "k"), STATES)
def test_the_rate_of_the_mass_matrix_is_its_golden_derivative_along_the_motion(name, k, same):
    robot, s = robot_of(name), state_of(name, k)
    rate = np.einsum("kij,k->ij", s["dM"], s["qd"])  # dM[k] is the derivative by q_k
    same(torsor.dynamics.mass_matrix_rate(robot, s["q"], s["qd"]), rate, TOLERANCE, scale=coriolis_terms(robot, s))


@pytest.mark.parametrize(("name", "k"), STATES)
def test_the_christoffel_symbols_give_the_golden_coriolis_matrix_and_forces(name, k, same):
    robot, s = robot_of(name), state_of(name, k)
    Gamma, v = torsor.geometry.christoffel_symbols(robot, s["q"]), s["qd"]
    same(np.einsum("ijk,i->kj", Gamma, v), s["C"], TOLERANCE, scale=coriolis_terms(robot, s))
    same(np.einsum("ijk,i,j->k", Gamma, v, v), s["c"], TOLERANCE, scale=force_terms(robot, s))


@pytest.mark.parametrize(("name", "k"), STATES)
def test_the_second_kind_and_geodesics_are_the_golden_symbols_raised(name, k, same):
    robot, s = robot_of(name), state_of(name, k)
    q, v, M_inverse = s["q"], s["qd"], np.linalg.inv(s["M"])
    raised = np.einsum("kh,ijh->ijk", M_inverse, s["Gamma"])
    # The condition of M multiplies the rounding of its inverse.
    scale = np.linalg.cond(s["M"]) * largest(raised) + largest(s["M"]) * largest(M_inverse)
    same(torsor.geometry.christoffel_symbols_second_kind(robot, q), raised, TOLERANCE, scale=scale)
    acceleration = -np.einsum("ijk,i,j->k", raised, v, v)
    same(torsor.geometry.geodesic_acceleration(robot, q, v), acceleration, TOLERANCE, scale=scale * largest(v) ** 2)


@pytest.mark.parametrize(("name", "k"), STATES)
def test_the_second_derivative_of_the_mass_matrix_is_golden_where_christoffel_symbols_show_it(name, k, same):
    """∂_l ∂_k M_ij = ∂_l Γ_kij + ∂_l Γ_kji: the metric is constant along itself."""
    robot, s = robot_of(name), state_of(name, k)
    second = s["dGamma"] + np.swapaxes(s["dGamma"], -1, -2)
    found = np.moveaxis(torsor.geometry.mass_matrix_second_derivative(robot, s["q"]), (-1, -2), (-4, -3))
    same(found, second, TOLERANCE, scale=metric_terms(robot, s))


@pytest.mark.parametrize(("name", "k"), STATES)
def test_the_golden_torques_produce_the_golden_accelerations(name, k, same):
    robot, s = robot_of(name), state_of(name, k)
    q, v, a, F = arguments(s)
    condition = np.linalg.cond(s["M"])
    assert condition < 1e4  # so that the tolerance below still says something
    # An error of rounding in τ, of the size of its terms, is multiplied by the inverse of M.
    scale = condition * (largest(a) + force_terms(robot, s) / largest(s["M"]))
    for algorithm in (torsor.forward_dynamics, torsor.papers.factorised_acceleration):
        same(algorithm(robot, q, v, s["tau"]), a, 1e-15, scale=scale)
        same(algorithm(robot, q, v, s["tau_with_tip_wrench"], wrenches={"tip": -F}), a, 1e-15, scale=scale)


@pytest.mark.parametrize("name", [robot["name"] for robot in GOLDEN])
def test_the_spatial_inertias_of_the_links_are_golden(name, same):
    robot = robot_of(name)
    for link, row in zip(golden(name)["links"], robot.links, strict=True):
        same(robot.inertia(row).matrix, link["spatial_inertia"], TOLERANCE)
