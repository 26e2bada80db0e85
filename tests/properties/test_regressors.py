"""What must be true of regressors: times the parameters they are the forces, energies and momenta, for every robot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from property_checks import (
    DIFFERENTIATED,
    assert_close,
    derivative,
    derivative_along,
    dot,
    largest,
    rate_along,
    times,
    transposed,
)
from property_strategies import cases, particles, robots, vectors3, vectors6

import torsor
from torsor import lie, verification
from torsor.functions.public import dynamics

ROUNDING = 1e-11  # a recursion runs through a whole robot
states = cases()
moving = cases(batches=((), (3,)))


def without_joint_effects(robot: torsor.Robot) -> torsor.Robot:
    """The same links on joints without armature, friction and springs."""
    none = np.zeros(robot.nv)
    return robot.with_parameters(armature=none, viscous_friction=none, coulomb_friction=none, stiffness=none)


def sizes(Y: np.ndarray, pi: np.ndarray) -> float:
    """The largest sum of terms of Y π, which may cancel."""
    return largest(np.abs(Y) @ np.abs(pi))


def any_parameters(case) -> np.ndarray:
    """π of no body in particular: what is linear is linear for these too."""
    return case.rng.normal(size=case.robot.n_inertial_parameters)


# Forces


@given(states)
def test_the_regressors_times_the_parameters_are_inverse_dynamics(case):
    robot, q, v, a, _ = case
    pi = torsor.identification.inertial_parameters(robot)
    Y, Y_joints = (
        torsor.identification.torque_regressor(robot, q, v, a),
        torsor.identification.joint_regressor(robot, q, v, a),
    )
    assert Y.shape == (*case.batch, robot.nv, 10 * robot.n)
    assert Y_joints.shape == (*case.batch, robot.nv, 5 * robot.nv)
    tau = Y @ pi + Y_joints @ torsor.identification.joint_parameters(robot)
    assert_close(tau, torsor.inverse_dynamics(robot, q, v, a), ROUNDING, scale=sizes(Y, pi))


@given(states)
def test_a_column_is_the_force_for_a_unit_of_its_parameter_alone(case):
    robot, q, v, a, rng = case
    base = without_joint_effects(robot)
    column = int(rng.integers(robot.n_inertial_parameters))
    unit = np.eye(robot.n_inertial_parameters)[column]
    Y = torsor.identification.torque_regressor(robot, q, v, a)
    tau = torsor.inverse_dynamics(base.with_inertial_parameters(unit), q, v, a)
    assert_close(Y[..., column], tau, ROUNDING, scale=largest(Y))


@given(robots(friction=True))
def test_joint_regressors_have_armature_friction_and_spring_columns_in_that_order(robot):
    q = torsor.random_configuration(robot, seed=1)
    v, a = np.linspace(-2, 2, robot.nv), np.linspace(1, 3, robot.nv)
    blocks = np.split(torsor.identification.joint_regressor(robot, q, v, a), 5, axis=-1)
    one, x = np.zeros(robot.nv), np.zeros(robot.nv)
    for c in robot.structure.coordinates:
        if c.nq == 1:
            one[c.v], x[c.v] = 1.0, q[c.q]
    for block, diagonal in zip(blocks, (a, v, np.sign(v), x, -one), strict=True):
        np.testing.assert_array_equal(block, np.diag(diagonal))
    smooth = torsor.identification.joint_regressor(robot.with_coulomb_width(0.3), q, v, a)
    np.testing.assert_allclose(smooth[:, 2 * robot.nv : 3 * robot.nv], np.diag(np.tanh(v / 0.3)), rtol=1e-15)


@given(moving)
def test_a_moving_base_is_felt_as_in_inverse_dynamics(case):
    robot, q, v, a, rng = case
    pi, motion = torsor.identification.inertial_parameters(robot), tuple(rng.normal(size=(2, 6)))
    Y = torsor.identification.torque_regressor(robot, q, v, a, base_motion=motion)
    tau = torsor.inverse_dynamics(without_joint_effects(robot), q, v, a, base_motion=motion)
    assert_close(Y @ pi, tau, ROUNDING, scale=sizes(Y, pi))


@given(states)
def test_links_that_a_joint_does_not_move_have_zero_columns(case):
    """An exact zero, which those who look for the parameters that matter may rely on."""
    robot, q, v, a, _ = case
    Y = torsor.identification.torque_regressor(robot, q, v, a)
    s = robot.structure
    for link in range(robot.n):
        carrying = {s.couplings[i].coordinate for i in s.path_from_base(link)}
        for c, coordinate in enumerate(s.coordinates):
            if c not in carrying:
                assert not Y[..., coordinate.v, 10 * link : 10 * link + 10].any()


# Adaptive control


@given(states)
def test_the_reference_regressor_is_mass_coriolis_and_gravity_along_the_reference(case):
    robot, q, v, a, rng = case
    v_ref, pi = rng.normal(size=v.shape), torsor.identification.inertial_parameters(robot)
    base = without_joint_effects(robot)
    Y = torsor.identification.reference_regressor(robot, q, v, v_ref, a)
    forces = times(torsor.mass_matrix(base, q), a) + times(torsor.coriolis_matrix(base, q, v), v_ref)
    scale = sizes(Y, pi) + largest(forces)
    assert_close(Y @ pi, forces + torsor.gravity_forces(base, q), ROUNDING, scale=scale)


@given(states)
def test_along_the_motion_itself_the_reference_regressor_is_the_torque_regressor(case):
    robot, q, v, a, _ = case
    Y = torsor.identification.torque_regressor(robot, q, v, a)
    assert_close(torsor.identification.reference_regressor(robot, q, v, v, a), Y, ROUNDING)


@given(moving)
def test_the_reference_regressor_is_passive_for_any_parameters(case):
    """d/dt of sᵀ M s / 2 is sᵀ (M ṡ + C s), column by column: what adaptive control stands on [SL87]."""
    robot, q, v, _, rng = case
    s, s_rate = rng.normal(size=(2, *v.shape))
    pi, weightless = any_parameters(case), robot.with_gravity(np.zeros(3))

    def lyapunov(robot, q, s):
        return torsor.identification.kinetic_energy_regressor(robot, q, s) @ pi

    power = dot(s, torsor.identification.reference_regressor(weightless, q, v, s, s_rate) @ pi)
    rate = derivative(lambda t: lyapunov(robot, torsor.integrate(robot, q, v, t), s + t * s_rate))
    assert_close(power, rate, DIFFERENTIATED, scale=1e2 * largest(lyapunov(robot, q, s)))


# Energy and momentum


@given(states)
def test_energies_and_momenta_are_their_regressors_times_the_parameters(case):
    robot, q, v, _, _ = case
    base, pi = without_joint_effects(robot), torsor.identification.inertial_parameters(robot)
    for regressor, value, given_ in (
        (torsor.identification.kinetic_energy_regressor, torsor.kinetic_energy, (q, v)),
        (torsor.identification.potential_energy_regressor, torsor.potential_energy, (q,)),
        (torsor.identification.generalised_momentum_regressor, torsor.dynamics.generalised_momentum, (q, v)),
        (torsor.identification.spatial_momentum_regressor, torsor.dynamics.spatial_momentum, (q, v)),
    ):
        Y = regressor(robot, *given_)
        assert_close(Y @ pi, value(base, *given_), ROUNDING, scale=sizes(Y, pi))


@given(moving)
def test_momentum_is_the_derivative_of_kinetic_energy_by_velocity(case):
    robot, q, v, _, rng = case
    u = rng.normal(size=v.shape)
    slope = derivative(
        lambda t: torsor.identification.kinetic_energy_regressor(robot, q, v + t * u), 1.0
    )  # quadratic: no step is too long
    along = (u[..., None, :] @ torsor.identification.generalised_momentum_regressor(robot, q, v))[..., 0, :]
    assert_close(along, slope, ROUNDING, scale=largest(torsor.identification.kinetic_energy_regressor(robot, q, v)))


@given(moving)
def test_power_is_the_rate_of_energy_for_each_parameter_alone(case):
    """vᵀ Y = d/dt (T + U), column by column."""
    robot, q, v, a, _ = case
    power = (v[..., None, :] @ torsor.identification.torque_regressor(robot, q, v, a))[..., 0, :]
    kinetic = rate_along(torsor.identification.kinetic_energy_regressor, robot, q, v, a)
    potential = derivative_along(torsor.identification.potential_energy_regressor, robot, q, v)
    sizes_ = largest(torsor.identification.kinetic_energy_regressor(robot, q, v)) + largest(
        torsor.identification.potential_energy_regressor(robot, q)
    )
    assert_close(power, kinetic + potential, DIFFERENTIATED, scale=1e2 * sizes_)


@given(moving)
def test_the_rate_of_momentum_makes_up_the_torque_with_the_transposed_coriolis_matrix(case):
    """d/dt (M v) = M a + C v + Cᵀ v, so that filtered identification needs no acceleration."""
    robot, q, v, a, _ = case
    pi, base = torsor.identification.inertial_parameters(robot), without_joint_effects(robot).with_gravity(np.zeros(3))
    rate = rate_along(torsor.identification.generalised_momentum_regressor, robot, q, v, a) @ pi
    back = times(transposed(torsor.coriolis_matrix(base, q, v)), v)
    forces = torsor.identification.torque_regressor(base, q, v, a) @ pi
    assert_close(rate, forces + back, DIFFERENTIATED, scale=1e2 * largest(forces) + 1e2 * largest(back))


@given(particles(), vectors6, vectors3, vectors3)
def test_a_work_row_is_the_work_of_a_field_on_the_particles_of_a_body(body, V, L, a):
    Xi = np.outer(a, L) - np.eye(3)[[1, 2, 0]] * V[:3]  # no symmetry of any kind
    field = L + body.positions @ Xi.T
    velocity = V[3:] + np.cross(V[:3], body.positions)
    row = body.inertia().row
    scale = largest(lie.work_row(V, L, Xi)) * largest(row)
    assert_close(lie.work_row(V, L, Xi) @ row, np.einsum("k,ki,ki", body.masses, velocity, field), scale=scale)


@given(vectors6, vectors6)
def test_a_work_row_of_a_rigid_field_is_the_energy_row(V, W):
    assert_close(lie.work_row(V, W[3:], lie.so3.hat(W[:3])), lie.energy_row(V, W))


# The parameters themselves


@given(states)
def test_inertial_parameters_make_the_robot_they_came_from(case):
    robot = case.robot
    pi = torsor.identification.inertial_parameters(robot)
    np.testing.assert_array_equal(pi, np.concatenate([robot.parameters.inertias[i] for i in range(robot.n)]))
    assert robot.with_inertial_parameters(pi) == robot
    other = any_parameters(case)
    np.testing.assert_array_equal(
        torsor.identification.inertial_parameters(robot.with_inertial_parameters(other)), other
    )
    np.testing.assert_array_equal(robot.with_inertial_parameters(list(other)).parameters.inertias.ravel(), other)
    assert robot.with_inertial_parameters(other.reshape(-1, 10)) == robot.with_inertial_parameters(other)


def test_every_parameter_has_a_name_of_its_own():
    arm = torsor.robots.planar2r()
    names = torsor.identification.inertial_parameter_names(arm)
    link = arm.links[0]
    assert names[:5] == (f"{link} m", f"{link} m c_x", f"{link} m c_y", f"{link} m c_z", f"{link} Ixx")
    assert names[5:10] == (f"{link} Ixy", f"{link} Ixz", f"{link} Iyy", f"{link} Iyz", f"{link} Izz")
    tree = torsor.robots.random_tree(6, seed=13, mimic=True)
    names = torsor.identification.inertial_parameter_names(tree) + torsor.identification.joint_parameter_names(tree)
    assert len(set(names)) == len(names) == tree.n_inertial_parameters + tree.n_joint_parameters
    mass = {f"{link} m": tree.inertia(link).mass for link in tree.links}
    named = dict(
        zip(
            torsor.identification.inertial_parameter_names(tree),
            torsor.identification.inertial_parameters(tree),
            strict=True,
        )
    )
    assert {name: named[name] for name in mass} == mass
    ball = torsor.robots.random_tree(1, seed=0, kinds=("spherical",))
    joint = ball.joints[0]
    assert torsor.identification.joint_parameter_names(ball)[:4] == (
        *(f"{joint}[{k}] armature" for k in range(3)),
        f"{joint}[0] viscous friction",
    )


@pytest.mark.parametrize("shape", [(19,), (10, 2), (3, 20), (1, 2, 10), ()])
def test_parameters_of_a_wrong_shape_are_refused(shape):
    message = r"`pi` must have shape \(20,\) or \(2, 10\), ten numbers for each of the 2 moving links"
    with pytest.raises(torsor.ShapeError, match=message):
        torsor.robots.planar2r().with_inertial_parameters(np.ones(shape))


@pytest.mark.parametrize("wrong", [None, "heavy", [[1.0], [1.0, 2.0]]])
def test_parameters_that_are_no_numbers_are_refused(wrong):
    with pytest.raises(torsor.ShapeError, match="with_inertial_parameters: `pi` must be real numbers, got"):
        torsor.robots.planar2r().with_inertial_parameters(wrong)


def test_parameters_that_are_not_finite_are_refused_and_those_of_no_body_are_not():
    arm = torsor.robots.planar2r()
    pi = np.array(torsor.identification.inertial_parameters(arm))
    pi[3] = np.nan
    with pytest.raises(torsor.ModelError, match="holds a NaN or infinite number"):
        arm.with_inertial_parameters(pi)
    pi[3], pi[0] = 0.0, -1.0
    strange = arm.with_inertial_parameters(pi)
    assert strange.inertia(strange.links[0]).violations()[0] == "negative mass: -1 kg"


# Other roads


def test_forces_are_differentiated_by_the_parameters_in_jax(jax_in_doubles):
    """The regressor is the Jacobian of inverse dynamics by π, which JAX finds on its own."""
    robot = torsor.robots.random_tree(4, seed=3, kinds=("revolute", "prismatic", "spherical"), armature=True)
    q, v, a = torsor.random_state(robot, seed=1)

    def forces(pi):
        return torsor.inverse_dynamics(robot.with_inertial_parameters(pi), q, v, a)

    pi = jax_in_doubles.numpy.asarray(torsor.identification.inertial_parameters(robot))
    Y = jax_in_doubles.jacfwd(forces)(pi)
    assert_close(torsor.identification.torque_regressor(robot, q, v, a), Y, scale=largest(Y))
    back = jax_in_doubles.jit(lambda pi: torsor.identification.inertial_parameters(robot.with_inertial_parameters(pi)))(
        pi
    )
    assert_close(back, pi)


@pytest.mark.compiled
@pytest.mark.parametrize("batch", [(), (0,), (7,)], ids=str)
def test_compiled_regressors_are_those_of_numpy(batch):
    robot = torsor.robots.random_tree(6, seed=21, mimic=True, armature=True, friction=True)
    q, v, a = torsor.random_state(robot, seed=2, batch=batch)
    for regressor, given_ in (
        (torsor.identification.torque_regressor, (q, v, a)),
        (torsor.identification.reference_regressor, (q, v, a - v, a)),
        (torsor.identification.generalised_momentum_regressor, (q, v)),
        (torsor.identification.joint_regressor, (q, v, a)),
    ):
        compiled = regressor(robot, *given_)
        with torsor.backend("numpy"):
            assert_close(compiled, regressor(robot, *given_), ROUNDING)


@pytest.mark.parametrize(
    ("name", "identity"),
    [
        ("torque_regressor", "τ = Y π + armature + friction + springs"),
        ("joint_regressor", "τ = Y π + armature + friction + springs"),
        ("kinetic_energy_regressor", "kinetic energy = Y π + armature"),
        ("potential_energy_regressor", "potential energy = Y π + springs"),
    ],
)
def test_verify_would_notice_a_wrong_regressor(name, identity, monkeypatch):
    robot = torsor.robots.random_tree(4, seed=2, armature=True, friction=True)
    right = getattr(dynamics, name)
    assert {row.name: row.holds for row in verification.verify(robot, configurations=3)}[identity]
    monkeypatch.setattr(dynamics, name, lambda *args: 1.01 * right(*args))
    wrong = [row.name for row in verification.verify(robot, configurations=3) if not row.holds]
    assert wrong == [identity]
