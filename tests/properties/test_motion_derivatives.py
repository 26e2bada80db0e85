"""Derivatives of what a robot does besides its dynamics: frames, energy, momentum, centre of mass, forces of wrenches."""

from __future__ import annotations

from collections.abc import Callable

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
    rate_along,
    times,
    transposed,
)
from property_strategies import ONE_NUMBER, any_robots, cases, robots, sixty_joints

import torsor
from torsor.functions.dispatch import PUBLIC

TWISTS = {
    "body": (torsor.kinematics.body_twist, torsor.derivatives.body_twist_derivatives, torsor.body_jacobian),
    "space": (torsor.kinematics.space_twist, torsor.derivatives.space_twist_derivatives, torsor.space_jacobian),
    "mixed": (torsor.kinematics.mixed_twist, torsor.derivatives.mixed_twist_derivatives, torsor.mixed_jacobian),
}
ACCELERATIONS = {
    "body": (
        torsor.kinematics.body_acceleration,
        torsor.derivatives.body_acceleration_derivatives,
        torsor.body_jacobian,
    ),
    "space": (
        torsor.kinematics.space_acceleration,
        torsor.derivatives.space_acceleration_derivatives,
        torsor.space_jacobian,
    ),
    "mixed": (
        torsor.kinematics.mixed_acceleration,
        torsor.derivatives.mixed_acceleration_derivatives,
        torsor.mixed_jacobian,
    ),
}
WRENCHES = {
    "body": (
        torsor.dynamics.body_wrench_forces,
        torsor.derivatives.body_wrench_forces_derivative,
        torsor.body_jacobian,
    ),
    "mixed": (
        torsor.dynamics.mixed_wrench_forces,
        torsor.derivatives.mixed_wrench_forces_derivative,
        torsor.mixed_jacobian,
    ),
}
STATE_DERIVATIVES = {
    "kinetic_energy": torsor.derivatives.kinetic_energy_derivatives,
    "generalised_momentum": torsor.derivatives.generalised_momentum_derivatives,
    "spatial_momentum": torsor.derivatives.spatial_momentum_derivatives,
    "centroidal_momentum": torsor.derivatives.centroidal_momentum_derivatives,
}
few = settings(max_examples=12)  # each differentiates along every freedom of a robot
heavy_robots = any_robots.filter(lambda robot: robot.parameters.inertias[:, 0].sum() > 0)


def by_q(f: Callable[..., np.ndarray], robot: torsor.Robot, q: np.ndarray) -> np.ndarray:
    """∂f/∂q along every tangent coordinate by central differences, derivative index last."""
    return np.stack([derivative_along(f, robot, q, e) for e in np.eye(robot.nv)], axis=-1)


def by_v(f: Callable[[np.ndarray], np.ndarray], v: np.ndarray) -> np.ndarray:
    """∂f/∂v of an f quadratic in v: central differences are exact for any step."""
    return np.stack([derivative(lambda t, e=e: f(v + t * e), step=1.0) for e in np.eye(v.shape[-1])], axis=-1)


# Frames


@pytest.mark.parametrize("kind", TWISTS)
@given(cases())
@few
def test_twist_derivatives_are_the_derivatives(kind, case):
    robot, q, v, _, _ = case
    twist, derivatives, jacobian = TWISTS[kind]
    frame = case.frame()
    found = derivatives(robot, q, v, frame)
    expected = by_q(lambda robot, q: twist(robot, q, v, frame), robot, q)
    assert_close(found.q, expected, DIFFERENTIATED, scale=largest(twist(robot, q, v, frame)))
    assert_close(found.v, jacobian(robot, q, frame), 1e-11)


@pytest.mark.parametrize("kind", ACCELERATIONS)
@given(cases())
@few
def test_acceleration_derivatives_are_the_derivatives(kind, case):
    robot, q, v, a, _ = case
    acceleration, derivatives, jacobian = ACCELERATIONS[kind]
    frame = case.frame()
    found = derivatives(robot, q, v, a, frame)
    scale = largest(acceleration(robot, q, v, a, frame))
    expected = by_q(lambda robot, q: acceleration(robot, q, v, a, frame), robot, q)
    assert_close(found.q, expected, DIFFERENTIATED, scale=scale)
    assert_close(found.v, by_v(lambda v: acceleration(robot, q, v, a, frame), v), 1e-11, scale=scale)
    assert_close(found.a, jacobian(robot, q, frame), 1e-11)


@pytest.mark.parametrize("kind", ACCELERATIONS)
def test_a_frame_fixed_to_the_base_never_moves(kind):
    robot = torsor.robots.random_tree(5, seed=3, fixed=True)
    robot = robot.with_frame("bench", robot.structure.base, torsor.pose_from((0.3, -0.2, 0.7), (0.4, 0.5, -1.6)))
    q, v, a = torsor.random_state(robot, seed=1, batch=(2,))
    for frame in (robot.structure.base, "bench"):
        parts = [*TWISTS[kind][1](robot, q, v, frame), *ACCELERATIONS[kind][1](robot, q, v, a, frame)]
        assert len(parts) == 5
        for part in parts:
            assert part.shape == (2, 6, robot.nv)
            assert not np.any(part)


def test_the_derivative_of_a_pose_is_the_body_jacobian():
    robot = torsor.robots.random_tree(6, seed=13, fixed=True)
    q = torsor.random_configuration(robot, seed=2)
    slopes = by_q(lambda robot, q: torsor.frame_pose(robot, q, "tool"), robot, q)
    T = torsor.frame_pose(robot, q, "tool")
    columns = [torsor.lie.se3.vee(np.linalg.inv(T) @ slopes[..., k]) for k in range(robot.nv)]
    assert_close(np.stack(columns, axis=-1), torsor.body_jacobian(robot, q, "tool"), DIFFERENTIATED)


# Forces of wrenches


@pytest.mark.parametrize("kind", WRENCHES)
@given(cases())
def test_wrenches_amount_to_the_forces_of_the_jacobians(kind, case):
    robot, q = case.robot, case.q
    forces, _, jacobian = WRENCHES[kind]
    wrenches = case.wrenches()
    expected = sum(times(transposed(jacobian(robot, q, frame)), F) for frame, F in wrenches.items())
    assert_close(forces(robot, q, wrenches), expected, 1e-11)


@pytest.mark.parametrize("kind", WRENCHES)
@given(cases())
@few
def test_wrench_derivatives_are_the_derivatives(kind, case):
    robot, q = case.robot, case.q
    forces, slope, _ = WRENCHES[kind]
    wrenches = case.wrenches()
    expected = by_q(lambda robot, q: forces(robot, q, wrenches), robot, q)
    assert_close(slope(robot, q, wrenches), expected, DIFFERENTIATED, scale=largest(forces(robot, q, wrenches)))


@given(cases())
def test_wrenches_enter_inverse_dynamics_with_the_opposite_sign(case):
    robot, q, v, a, _ = case
    wrenches = case.wrenches()
    with_and_without = [torsor.inverse_dynamics(robot, q, v, a, wrenches=pushed) for pushed in (wrenches, None)]
    change = with_and_without[1] - with_and_without[0]
    assert_close(torsor.dynamics.body_wrench_forces(robot, q, wrenches), change, 1e-11, scale=largest(with_and_without))


@pytest.mark.parametrize("kind", WRENCHES)
def test_no_wrenches_amount_to_nothing(kind):
    robot = torsor.robots.random_tree(5, seed=3)
    q = torsor.random_configuration(robot, seed=1, batch=(2,))
    forces, slope, _ = WRENCHES[kind]
    for wrenches in ({}, {robot.structure.base: np.ones(6)}):
        np.testing.assert_array_equal(forces(robot, q, wrenches), np.zeros((2, robot.nv)))
        np.testing.assert_array_equal(slope(robot, q, wrenches), np.zeros((2, robot.nv, robot.nv)))


@given(cases(robots(kinds=ONE_NUMBER)))
def test_pure_forces_in_base_axes_have_a_potential(case):
    pulls = {frame: F * [0, 0, 0, 1, 1, 1] for frame, F in case.wrenches().items()}
    K = torsor.derivatives.mixed_wrench_forces_derivative(case.robot, case.q, pulls)
    assert_close(K, transposed(K), 1e-11)


# Gravity and energy


@given(cases())
@few
def test_gravity_is_the_derivative_of_its_potential_energy_and_has_a_derivative(case):
    robot, q = case.robot.with_parameters(stiffness=np.zeros(case.robot.nv)), case.q
    g = torsor.gravity_forces(robot, q)
    assert_close(
        g, by_q(torsor.potential_energy, robot, q), DIFFERENTIATED, scale=largest(torsor.potential_energy(robot, q))
    )
    K = torsor.derivatives.gravity_forces_derivative(robot, q)
    assert_close(K, by_q(torsor.gravity_forces, robot, q), DIFFERENTIATED, scale=largest(g))


@given(cases(robots(kinds=ONE_NUMBER)))
def test_the_stiffness_of_gravity_is_symmetric_where_coordinates_commute(case):
    K = torsor.derivatives.gravity_forces_derivative(case.robot, case.q)
    assert_close(K, transposed(K), 1e-11)


@given(cases())
def test_weights_are_wrenches_in_base_axes(case):
    """Gravity pulls each link's centre of mass: minus its forces are those of the weights."""
    robot, q = case.robot, case.q
    weights = {}
    for link, row in zip(robot.links, robot.parameters.inertias, strict=True):
        if row[0] > 0:
            robot = robot.with_frame(f"centre of {link}", link, torsor.pose_from(row[1:4] / row[0]))
            weights[f"centre of {link}"] = np.concatenate([np.zeros(3), row[0] * robot.gravity])
    g, K = torsor.gravity_forces(robot, q), torsor.derivatives.gravity_forces_derivative(robot, q)
    scale = largest(torsor.dynamics.joint_wrenches(robot, q, 0 * case.v, 0 * case.v))
    assert_close(-torsor.dynamics.mixed_wrench_forces(robot, q, weights), g, 1e-11, scale=scale)
    assert_close(-torsor.derivatives.mixed_wrench_forces_derivative(robot, q, weights), K, 1e-11, scale=scale)


@pytest.mark.parametrize("name", STATE_DERIVATIVES)
@given(cases(heavy_robots))
@few
def test_energy_and_momentum_derivatives_are_the_derivatives(name, case):
    robot, q, v, _, _ = case
    function, found = PUBLIC[name], STATE_DERIVATIVES[name](robot, q, v)
    value = function(robot, q, v)
    expected = by_q(lambda robot, q: function(robot, q, v), robot, q)
    assert found.q.shape == (*value.shape, robot.nv)
    assert_close(found.q, expected, DIFFERENTIATED, scale=largest(value))
    assert_close(found.v, by_v(lambda v: function(robot, q, v), v), 1e-11, scale=largest(value))


@given(cases(robots(kinds=ONE_NUMBER)))
def test_lagranges_equations_are_those_of_motion(case):
    """d/dt ∂T/∂v − ∂T/∂q = M a + c for joints with one number each, whose tangent coordinates are coordinates."""
    robot, q, v, a, _ = case
    p, T = (
        torsor.derivatives.generalised_momentum_derivatives(robot, q, v),
        torsor.derivatives.kinetic_energy_derivatives(robot, q, v),
    )
    expected = times(torsor.mass_matrix(robot, q), a) + torsor.dynamics.coriolis_forces(robot, q, v)
    assert_close(times(p.q, v) + times(p.v, a) - T.q, expected, 1e-11, scale=largest(p.q) * largest(v))


@given(cases())
def test_the_momentum_changes_along_a_motion_by_the_rate_of_the_mass_matrix(case):
    robot, q, v, _, _ = case
    found = torsor.derivatives.generalised_momentum_derivatives(robot, q, v)
    assert_close(found.v, torsor.mass_matrix(robot, q), 1e-11)
    assert_close(
        times(found.q, v), times(torsor.dynamics.mass_matrix_rate(robot, q, v), v), 1e-11, scale=largest(found.q)
    )
    energy = torsor.derivatives.kinetic_energy_derivatives(robot, q, v)
    assert_close(2 * dot(energy.q, v), dot(times(found.q, v), v), 1e-10, scale=largest(found.q) * largest(v) ** 2)


# Momentum and centre of mass


@given(cases(heavy_robots))
def test_momentum_matrices_give_the_momenta(case):
    robot, q, v, _, _ = case
    P, h = torsor.dynamics.spatial_momentum(robot, q, v), torsor.dynamics.centroidal_momentum(robot, q, v)
    assert_close(times(torsor.dynamics.spatial_momentum_matrix(robot, q), v), P, 1e-11)
    assert_close(times(torsor.dynamics.centroidal_momentum_matrix(robot, q), v), h, 1e-11, scale=largest(P))
    c = torsor.dynamics.centre_of_mass(robot, q)
    assert_close(h[..., :3] + np.cross(c, P[..., 3:]), P[..., :3], 1e-11)


@given(cases(heavy_robots))
def test_the_centre_of_mass_moves_as_its_jacobian_says(case):
    robot, q, v, a, _ = case
    J, J_rate = (
        torsor.dynamics.centre_of_mass_jacobian(robot, q),
        torsor.dynamics.centre_of_mass_jacobian_rate(robot, q, v),
    )
    H = torsor.derivatives.centre_of_mass_jacobian_derivative(robot, q)
    c_rate = torsor.dynamics.centre_of_mass_velocity(robot, q, v)
    mass = robot.parameters.inertias[:, 0].sum()
    assert_close(J, by_q(torsor.dynamics.centre_of_mass, robot, q), DIFFERENTIATED)
    assert_close(H, by_q(torsor.dynamics.centre_of_mass_jacobian, robot, q), DIFFERENTIATED, scale=largest(J))
    assert_close(np.einsum("...ijk,...k->...ij", H, v), J_rate, 1e-11, scale=largest(H))
    assert_close(times(J, v), c_rate, 1e-11)
    assert_close(mass * c_rate, torsor.dynamics.spatial_momentum(robot, q, v)[..., 3:], 1e-11)
    c_acceleration = torsor.dynamics.centre_of_mass_acceleration(robot, q, v, a)
    assert_close(times(J, a) + times(J_rate, v), c_acceleration, 1e-11, scale=largest(J_rate))
    assert_close(c_acceleration, rate_along(torsor.dynamics.centre_of_mass_velocity, robot, q, v, a), DIFFERENTIATED)


@given(cases(heavy_robots))
def test_gravity_sees_the_mass_at_its_centre(case):
    robot, q = case.robot, case.q
    weight = robot.parameters.inertias[:, 0].sum() * robot.gravity
    J, H = (
        torsor.dynamics.centre_of_mass_jacobian(robot, q),
        torsor.derivatives.centre_of_mass_jacobian_derivative(robot, q),
    )
    g, K = torsor.gravity_forces(robot, q), torsor.derivatives.gravity_forces_derivative(robot, q)
    scale = largest(weight) * largest(J)
    assert_close(-np.einsum("i,...ij->...j", weight, J), g, 1e-11, scale=scale)
    assert_close(-np.einsum("i,...ijk->...jk", weight, H), K, 1e-11, scale=scale)


def test_a_robot_without_mass_has_no_centre_but_everything_else():
    robot = torsor.robots.random_tree(4, seed=2)
    robot = robot.with_parameters(inertias=np.zeros((robot.n, 10)))
    q, v, a = torsor.random_state(robot, seed=1)
    for found in (
        torsor.dynamics.centre_of_mass_jacobian(robot, q),
        torsor.dynamics.centre_of_mass_velocity(robot, q, v),
        torsor.dynamics.centre_of_mass_acceleration(robot, q, v, a),
        torsor.dynamics.centre_of_mass_jacobian_rate(robot, q, v),
        torsor.derivatives.centre_of_mass_jacobian_derivative(robot, q),
        torsor.dynamics.centroidal_momentum_matrix(robot, q)[:3],
        torsor.dynamics.centroidal_momentum(robot, q, v)[:3],
    ):
        assert np.all(np.isnan(found))
    for zero in (
        torsor.derivatives.gravity_forces_derivative(robot, q),
        torsor.dynamics.spatial_momentum_matrix(robot, q),
        *torsor.derivatives.spatial_momentum_derivatives(robot, q, v),
        torsor.derivatives.kinetic_energy_derivatives(robot, q, v).q,
        torsor.derivatives.generalised_momentum_derivatives(robot, q, v).q,
    ):
        assert not np.any(zero)


# By another road


@pytest.mark.parametrize("kind", TWISTS)
@given(cases())
@example(sixty_joints())
def test_along_a_motion_they_make_up_the_acceleration(kind, case):
    """V̇ = ∂V/∂q v + ∂V/∂v a; and as A is J a plus a quadratic in v, ∂A/∂v v = 2 (A − J a)."""
    robot, q, v, a, _ = case
    frame = case.frame()
    twist, (acceleration, of_acceleration, _) = TWISTS[kind][1](robot, q, v, frame), ACCELERATIONS[kind]
    A, by = acceleration(robot, q, v, a, frame), of_acceleration(robot, q, v, a, frame)
    assert_close(times(twist.q, v) + times(twist.v, a), A, 1e-11, scale=largest(twist.q) * largest(v))
    assert_close(times(by.v, v), 2 * (A - times(by.a, a)), 1e-11, scale=largest(by.v) * largest(v))


@pytest.mark.parametrize("kind", TWISTS)
@given(cases(robots(most=5)))
@settings(max_examples=10)
def test_twist_derivatives_contract_the_kinematic_hessians(kind, case):
    robot, q, v, _, _ = case
    frame = case.frame()
    H = PUBLIC[f"{kind}_jacobian_derivative"](robot, q, frame)
    assert_close(TWISTS[kind][1](robot, q, v, frame).q, np.einsum("...ijk,...j->...ik", H, v), 1e-11, scale=largest(H))


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("name", "rest"),
    [
        ("mixed_twist", ["v", "frame"]),
        ("mixed_acceleration", ["v", "a", "frame"]),
        ("generalised_momentum", ["v"]),
        ("centroidal_momentum", ["v"]),
        ("gravity_forces", []),
        ("mixed_wrench_forces", ["wrenches"]),
    ],
)
def test_the_compiler_differentiates_to_the_same(name, rest):
    """Through the exponential of each joint's group, to rounding."""
    robot = torsor.robots.random_tree(4, seed=4, kinds=("planar", "spherical", "helical", "free"), serial=True)
    assert len(set(robot.structure.kinds)) == 4
    q, v, a = torsor.random_state(robot, seed=4)
    pulls = {link: np.linspace(-1, 2, 6) for link in robot.links[1:]}
    values = {"v": v, "a": a, "frame": robot.links[-1], "wrenches": pulls}
    rest = [values[key] for key in rest]

    def moved(robot, u):
        return {"moved": PUBLIC[name](robot, torsor.integrate(robot, q, u), *rest)}

    slope = torsor.compile(moved, robot, {"u": robot.nv}).jacobian("moved", "u")
    both = [PUBLIC.get(name + end) for end in ("_derivative", "_derivatives")]
    found = next(function for function in both if function is not None)(robot, q, *rest)
    assert_close(found.q if isinstance(found, tuple) else found, slope(np.zeros(robot.nv)), 1e-11)
