"""What must be true of the equations of motion of every robot: M a + C v + g + friction = τ + Σ JᵀF."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from property_checks import (
    DIFFERENTIATED,
    assert_close,
    derivative,
    derivative_along,
    dot,
    largest,
    one_by_one,
    rate_along,
    times,
    transposed,
)
from property_strategies import ONE_NUMBER, any_robots, cases, mass_condition, robots, sixty_joints

import torsor
from torsor.functions.dispatch import PUBLIC

states = cases()
any_states = cases(huge_angles=True)
one_number_states = cases(robots(kinds=ONE_NUMBER, mimic=False, most=5), batches=((), (3,)))


def terms(robot: torsor.Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> float:
    """The largest term of the equations of motion: what rounding is measured against when terms cancel."""
    M = torsor.mass_matrix(robot, q)
    return largest(M) * (1 + largest(v) ** 2 + largest(a)) + largest(torsor.gravity_forces(robot, q))


# The mass matrix


@given(any_states)
@example(sixty_joints())
def test_the_mass_matrix_is_symmetric_and_positive_definite(case):
    M = torsor.mass_matrix(case.robot, case.q)
    assert M.shape == (*case.batch, case.robot.nv, case.robot.nv)
    assert_close(M, transposed(M), 1e-14)
    assert np.all(np.linalg.eigvalsh(M) > 0)


@given(any_states)
@example(sixty_joints())
def test_kinetic_energy_and_momentum_are_those_of_the_mass_matrix(case):
    robot, q, v, _, _ = case
    M = torsor.mass_matrix(robot, q)
    momentum, energy = torsor.dynamics.generalised_momentum(robot, q, v), torsor.kinetic_energy(robot, q, v)
    assert energy.shape == case.batch
    assert_close(momentum, times(M, v), scale=largest(M))
    assert_close(energy, 0.5 * dot(v, times(M, v)), scale=largest(M))
    assert np.all(energy > 0)


@given(states)
def test_the_mass_matrix_is_the_sum_over_links_of_their_inertia(case):
    robot, q, _, _, _ = case
    M = np.broadcast_to(np.diag(robot.parameters.armature), (*case.batch, robot.nv, robot.nv))
    for link in robot.links:
        J = torsor.body_jacobian(robot, q, link)
        M = M + transposed(J) @ torsor.lie.inertia_matrix(robot.parameters.inertias[robot.links.index(link)]) @ J
    assert_close(torsor.mass_matrix(robot, q), M)


@given(states)
@example(sixty_joints())
def test_the_inverse_mass_matrix_inverts(case):
    robot, q, _, _, _ = case
    M, inverse = torsor.mass_matrix(robot, q), torsor.dynamics.inverse_mass_matrix(robot, q)
    product = M @ inverse
    loss = 1e-14 * mass_condition(robot, q) * robot.nv
    assert_close(product, np.broadcast_to(np.eye(robot.nv), M.shape), 1e-13 + loss)


@given(states)
@example(sixty_joints())
def test_the_mass_matrix_rate_is_the_derivative_and_the_sum_of_coriolis(case):
    robot, q, v, _, _ = case
    M_dot, C = torsor.dynamics.mass_matrix_rate(robot, q, v), torsor.coriolis_matrix(robot, q, v)
    M = torsor.mass_matrix(robot, q)
    assert_close(M_dot, C + transposed(C), scale=largest(M))
    assert_close(M_dot, transposed(M_dot), 1e-14)
    assert_close(M_dot, derivative_along(torsor.mass_matrix, robot, q, v), DIFFERENTIATED, scale=largest(M))


# The other terms


@given(any_states)
@example(sixty_joints())
def test_the_coriolis_matrix_gives_the_coriolis_forces(case):
    robot, q, v, _, _ = case
    C = torsor.coriolis_matrix(robot, q, v)
    assert_close(times(C, v), torsor.dynamics.coriolis_forces(robot, q, v), 1e-11, scale=largest(C))


@given(states)
def test_the_coriolis_matrix_is_linear_in_the_velocity_and_the_forces_quadratic(case):
    robot, q, v, a, _ = case
    C = torsor.coriolis_matrix
    together = C(robot, q, 2.0 * v - a)
    assert_close(together, 2.0 * C(robot, q, v) - C(robot, q, a), 1e-11, scale=terms(robot, q, v, a))
    c, tripled = torsor.dynamics.coriolis_forces(robot, q, v), torsor.dynamics.coriolis_forces(robot, q, -3.0 * v)
    assert_close(tripled, 9.0 * c, 1e-11, scale=terms(robot, q, v, a))


@given(one_number_states)
def test_coriolis_forces_are_those_of_lagrange(case):
    """c = Ṁ v − ½ ∂/∂q (vᵀ M v), for joints whose v is the rate of q."""
    robot, q, v, _, _ = case
    gradient = [
        derivative(lambda t, e=e: torsor.kinetic_energy(robot, torsor.integrate(robot, q, e, t), v))
        for e in np.eye(robot.nv)
    ]
    lagrange = times(torsor.dynamics.mass_matrix_rate(robot, q, v), v) - np.stack(gradient, axis=-1)
    scale = largest(torsor.mass_matrix(robot, q))
    assert_close(
        torsor.dynamics.coriolis_forces(robot, q, v), lagrange, DIFFERENTIATED, scale=scale * (1 + largest(v) ** 2)
    )


@given(one_number_states)
@settings(max_examples=10)
def test_the_coriolis_matrix_holds_the_christoffel_symbols(case):
    robot, q, v, _, _ = case
    steps = [derivative_along(torsor.mass_matrix, robot, q, e) for e in np.eye(robot.nv)]
    dM = np.stack(steps, axis=-1)  # ∂_k M_ij
    symbols = 0.5 * (dM + np.swapaxes(dM, -1, -2) - np.moveaxis(dM, -1, -3))  # ½ (∂_k M_ij + ∂_j M_ik − ∂_i M_jk)
    scale = largest(torsor.mass_matrix(robot, q)) * (1 + largest(v))
    expected = np.einsum("...ijk,...k->...ij", symbols, v)
    assert_close(torsor.coriolis_matrix(robot, q, v), expected, DIFFERENTIATED, scale=scale)


@given(states)
@example(sixty_joints())
def test_gravity_and_spring_forces_are_the_gradient_of_potential_energy(case):
    robot, q, v, _, _ = case
    slope = derivative_along(torsor.potential_energy, robot, q, v)
    scale = largest(torsor.potential_energy(robot, q)) + largest(robot.gravity)
    forces = torsor.gravity_forces(robot, q) + torsor.spring_forces(robot, q)
    assert_close(dot(forces, v), slope, DIFFERENTIATED, scale=scale)


@given(states)
def test_potential_energy_without_springs_is_the_weight_at_the_centre_of_mass(case):
    robot, q, v, _, _ = case
    robot = robot.with_parameters(stiffness=np.zeros(robot.nv))
    mass = robot.parameters.inertias[:, 0].sum()
    com = torsor.dynamics.centre_of_mass(robot, q)
    assert_close(torsor.potential_energy(robot, q), -mass * com @ robot.gravity, scale=mass * largest(robot.gravity))
    velocity = derivative_along(torsor.dynamics.centre_of_mass, robot, q, v)
    momentum = torsor.dynamics.spatial_momentum(robot, q, v)
    assert_close(momentum[..., 3:], mass * velocity, DIFFERENTIATED, scale=mass * largest(com))


@given(states)
def test_friction_takes_power_out_and_acts_joint_by_joint(case):
    robot, _, v, _, _ = case
    p, friction = robot.parameters, torsor.friction_forces(robot, v)
    assert np.all(dot(friction, v) >= 0)
    assert_close(friction, p.viscous_friction * v + p.coulomb_friction * np.sign(v))
    assert_close(torsor.friction_forces(robot, -v), -friction, 0.0)
    # tanh(v/w) has reached sign(v) to rounding once |v| > 20 w.
    v = np.where(np.abs(v) < 1e-3, 0.0, v)
    sharp = torsor.friction_forces(robot.with_coulomb_width(1e-5), v)
    assert_close(sharp, torsor.friction_forces(robot, v))


# Inverse and forward dynamics


@given(any_states)
@example(sixty_joints())
def test_inverse_dynamics_is_the_sum_of_its_terms(case):
    robot, q, v, a, _ = case
    wrenches = case.wrenches()
    M, C = torsor.mass_matrix(robot, q), torsor.coriolis_matrix(robot, q, v)
    tau = times(M, a) + times(C, v) + torsor.gravity_forces(robot, q) + torsor.friction_forces(robot, v)
    for frame, F in wrenches.items():
        tau = tau - times(transposed(torsor.body_jacobian(robot, q, frame)), F)
    scale = terms(robot, q, v, a)
    assert_close(torsor.inverse_dynamics(robot, q, v, a, wrenches=wrenches), tau, 1e-11, scale=scale)
    bias = torsor.dynamics.coriolis_forces(robot, q, v) + torsor.gravity_forces(robot, q)
    assert_close(torsor.bias_forces(robot, q, v), bias, 1e-11, scale=scale)


@given(states)
def test_inverse_dynamics_is_linear_in_the_acceleration_with_slope_m(case):
    robot, q, v, a, _ = case
    still = torsor.inverse_dynamics(robot, q, v, 0.0 * a)
    for k in range(min(robot.nv, 6)):
        unit = np.broadcast_to(np.eye(robot.nv)[k], a.shape)
        slope = torsor.inverse_dynamics(robot, q, v, unit) - still
        assert_close(slope, torsor.mass_matrix(robot, q)[..., k], 1e-11, scale=terms(robot, q, v, a))


@pytest.mark.parametrize("algorithm", ["forward", "factorised", "articulated body"])
@given(cases(robots(mimic=False), huge_angles=True))
@example(sixty_joints())
def test_forward_dynamics_undoes_inverse_dynamics(algorithm, case):
    robot, q, v, a, _ = case
    function = {
        "forward": torsor.forward_dynamics,
        "factorised": torsor.papers.factorised_acceleration,
        "articulated body": torsor.papers.articulated_body_acceleration,
    }[algorithm]
    wrenches = case.wrenches()
    tau = torsor.inverse_dynamics(robot, q, v, a, wrenches=wrenches)
    # A solution with M loses its condition number in digits, times terms of the size of the right-hand side.
    loss = 1e-15 * mass_condition(robot, q) * robot.nv
    assert_close(function(robot, q, v, tau, wrenches=wrenches), a, 1e-11 + loss)


@given(cases(any_robots))
def test_forward_dynamics_undoes_inverse_dynamics_with_mimics_and_lumped_links(case):
    robot, q, v, a, _ = case
    tau = torsor.inverse_dynamics(robot, q, v, a)
    # Rounding errors of the terms that cancel in tau come back through M⁻¹.
    loss = 1e-15 * mass_condition(robot, q) * robot.nv * (1 + terms(robot, q, v, a) / (1e-9 + largest(tau)))
    assert_close(torsor.forward_dynamics(robot, q, v, tau), a, 1e-11 + loss)
    assert_close(torsor.papers.factorised_acceleration(robot, q, v, tau), a, 1e-11 + loss)


@given(cases(robots(mimic=False)))
def test_inverse_dynamics_undoes_forward_dynamics(case):
    robot, q, v, _, _ = case
    tau = case.tau()
    a = torsor.forward_dynamics(robot, q, v, tau)
    scale = terms(robot, q, v, a)
    assert_close(torsor.inverse_dynamics(robot, q, v, a), tau, 1e-11, scale=scale)


# Energy


@given(states)
def test_power_in_is_the_rate_of_energy(case):
    """τ·v = d/dt (T + U) + friction·v − Σ F·V."""
    robot, q, v, a, _ = case
    wrenches = case.wrenches()

    def energy(robot, q, v):
        return torsor.kinetic_energy(robot, q, v) + torsor.potential_energy(robot, q)

    rate = rate_along(energy, robot, q, v, a)
    given = sum(dot(F, torsor.kinematics.body_twist(robot, q, v, frame)) for frame, F in wrenches.items())
    power = dot(torsor.inverse_dynamics(robot, q, v, a, wrenches=wrenches) - torsor.friction_forces(robot, v), v)
    assert_close(power, rate - given, DIFFERENTIATED, scale=largest(energy(robot, q, v)) + terms(robot, q, v, a))


@given(states)
def test_momentum_changes_by_the_forces(case):
    """ṗ = τ − friction − springs − g + Cᵀ v for p = M v, since Ṁ = C + Cᵀ."""
    robot, q, v, a, _ = case
    rate = rate_along(torsor.dynamics.generalised_momentum, robot, q, v, a)
    C = torsor.coriolis_matrix(robot, q, v)
    tau = torsor.inverse_dynamics(robot, q, v, a) - torsor.friction_forces(robot, v)
    tau = tau - torsor.spring_forces(robot, q)
    expected = tau - torsor.gravity_forces(robot, q) + times(transposed(C), v)
    assert_close(rate, expected, DIFFERENTIATED, scale=terms(robot, q, v, a))


# Batches


@given(cases(batches=((1,), (3,), (2, 3))))
@settings(max_examples=40)
def test_a_batch_of_states_gives_what_each_state_gives_alone(case):
    robot, q, v, a, rng = case
    by_q = ["mass_matrix", "gravity_forces", "potential_energy", "centre_of_mass", "inverse_mass_matrix"]
    by_q_v = ["mass_matrix_rate", "coriolis_matrix", "coriolis_forces", "bias_forces", "kinetic_energy"]
    by_q_v += ["generalised_momentum", "spatial_momentum"]
    by_q_v_a = ["inverse_dynamics", "joint_wrenches", "forward_dynamics"]
    name = str(rng.choice(by_q + by_q_v + by_q_v_a))
    arguments = (q,) if name in by_q else (q, v) if name in by_q_v else (q, v, a)

    def f(*state):
        return PUBLIC[name](robot, *state)

    loss = 1e-15 * mass_condition(robot, q) if name in ("forward_dynamics", "inverse_mass_matrix") else 0.0
    assert_close(f(*arguments), one_by_one(f, case.batch, *arguments), 1e-11 + loss)
