"""One rigid body: every form of its energy and equations of motion says the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st
from property_checks import DIFFERENTIATED, assert_close, derivative, largest
from property_strategies import bodies, poses, seeds, solid_bodies, vectors6

import torsor
from torsor import lie
from torsor.lie import se3, so3
from torsor.papers import rigid_body, second_kind


def at_centre(body: torsor.Inertia, V: np.ndarray) -> np.ndarray:
    """The twist V of the body's frame, referred to its centre of mass."""
    return np.concatenate([V[:3], V[3:] + np.cross(V[:3], body.com)])


# Energy


@given(bodies, vectors6)
def test_kinetic_energy_is_that_of_the_centre_plus_that_of_the_rotation(body, V):
    speed = at_centre(body, V)[3:]
    koenig = 0.5 * body.mass * speed @ speed + rigid_body.kinetic_energy_of_rotation(body.rotational, V[:3])
    assert_close(rigid_body.kinetic_energy(body.row, V), koenig, scale=largest(body.row))
    assert_close(rigid_body.kinetic_energy_by_pseudo_inertia(body.row, V), koenig, scale=largest(body.row))
    assert_close(body.kinetic_energy(V), koenig, scale=largest(body.row))


@given(bodies, vectors6, poses())
def test_energy_of_the_rotation_rate_is_that_of_the_angular_velocity(body, V, T):
    R, w = T[:3, :3], V[:3]  # body axes in fixed axes, angular velocity in body axes
    W_dot = so3.rotation_rate(R, R @ w)
    by_rate = rigid_body.kinetic_energy_of_rotation_rate(body.second_moment, W_dot)
    assert_close(by_rate, rigid_body.kinetic_energy_of_rotation(body.rotational, w))


@given(solid_bodies, poses(), vectors6, vectors6)
def test_trace_form_is_the_inner_product_of_the_inertia(body, T_pc, V, W):
    centred = torsor.Inertia(body.mass, rotational=body.rotational)
    form = rigid_body.trace_form(body.mass, body.rotational, T_pc)
    # The form divides by the determinant of the inertia, whose digits go with its condition number.
    tolerance = 1e-13 * np.linalg.cond(body.rotational)
    assert_close(rigid_body.trace_inner_product(form, V, W), V @ centred.moved(T_pc).matrix @ W, tolerance)


@given(bodies, vectors6)
def test_momentum_is_the_gradient_of_energy(body, V):
    gradient = [derivative(lambda t, e=e: rigid_body.kinetic_energy(body.row, V + t * e)) for e in np.eye(6)]
    assert_close(rigid_body.momentum(body.row, V), gradient, DIFFERENTIATED, scale=largest(body.row) * 10)


# Equations of motion


@given(bodies, vectors6, vectors6)
def test_wrenches_of_newton_euler_agree(body, V, V_dot):
    F = rigid_body.wrench(body.row, V, V_dot)
    scale = 10 * largest(body.row)
    assert_close(rigid_body.wrench_about_frame(body.mass, body.com, body.rotational, V, V_dot), F, scale=scale)
    V_c, A_c = at_centre(body, V), at_centre(body, V_dot)
    F_c = rigid_body.wrench_classical(body.mass, body.rotational, V_c, A_c)
    assert_close(np.concatenate([F_c[:3] + np.cross(body.com, F_c[3:]), F_c[3:]]), F, scale=scale)


@given(bodies, vectors6, vectors6, poses())
def test_the_wrench_is_the_rate_of_momentum_in_fixed_axes(body, V, V_dot, T):
    def momentum(t):
        pose = T @ se3.exp(t * V)  # moves with twist V at t = 0; V_dot enters through the momentum alone
        return lie.transform_wrench_inverse(pose, rigid_body.momentum(body.row, V + t * V_dot))

    F = lie.transform_wrench_inverse(T, rigid_body.wrench(body.row, V, V_dot))
    assert_close(derivative(momentum), F, DIFFERENTIATED, scale=largest(momentum(0.0)))


@given(solid_bodies, vectors6, vectors6)
def test_a_body_left_alone_needs_no_wrench_and_keeps_its_energy(body, V, W):
    A = rigid_body.free_acceleration(body.row, V)
    loss = np.linalg.cond(body.matrix)
    scale = largest(body.row) * (1 + largest(A))
    assert_close(rigid_body.wrench(body.row, V, A), np.zeros(6), scale=scale)
    assert_close(rigid_body.weak_residual(body.row, V, A, W), 0.0, scale=10 * scale)
    assert_close(A, np.linalg.solve(body.matrix, lie.bracket_dual(V, body.matrix @ V)), 1e-14 * (100 + loss))
    assert_close(V @ body.matrix @ A, 0.0, scale=10 * scale)


@given(solid_bodies, vectors6, vectors6)
def test_weak_residual_is_the_power_of_the_missing_wrench(body, V, V_dot):
    for W in np.eye(6):
        F = rigid_body.wrench(body.row, V, V_dot)
        assert_close(rigid_body.weak_residual(body.row, V, V_dot, W), F @ W, scale=10 * largest(body.row))


@given(solid_bodies, poses(), vectors6)
def test_matrix_residual_vanishes_exactly_for_free_motion(body, T_pc, V):
    row = torsor.Inertia(body.mass, rotational=body.rotational).moved(T_pc).row
    form = rigid_body.trace_form(body.mass, body.rotational, T_pc)
    A = rigid_body.free_acceleration(row, V)
    tolerance = 1e-13 * np.linalg.cond(body.rotational)
    scale = largest(row) * (1 + largest(A)) * 10
    assert_close(rigid_body.matrix_residual(form, V, A), np.zeros((4, 4)), tolerance, scale=scale)
    pushed = rigid_body.matrix_residual(form, V, A + np.array([0, 0, 0, 1.0, 0, 0]))
    assert largest(pushed) > 0.1 * body.mass


# Coordinates of the second kind


@given(st.integers(1, 6), seeds, solid_bodies)
def test_second_kind_coordinates_are_a_chain_of_screws(k, seed, body):
    rng = np.random.default_rng(seed)
    screws, x, x_dot, x_ddot = rng.normal(size=(k, 6)), *rng.normal(size=(3, k))
    T_dot = derivative(lambda t: second_kind.pose(screws, x + t * x_dot))
    V = second_kind.twist(screws, x, x_dot)
    scale = largest(second_kind.pose(screws, x)) ** 2
    assert_close(V, se3.body_velocity(second_kind.pose(screws, x), T_dot), DIFFERENTIATED, scale=scale)
    rate = derivative(lambda t: second_kind.twist(screws, x + t * x_dot, x_dot + t * x_ddot))
    assert_close(second_kind.twist_rate(screws, x, x_dot, x_ddot), rate, DIFFERENTIATED, scale=scale)
    g = second_kind.metric(screws, x, body.row)
    assert_close(0.5 * x_dot @ g @ x_dot, body.kinetic_energy(V), scale=largest(g))


@given(st.integers(1, 6), seeds, solid_bodies)
def test_second_kind_christoffel_symbols_are_derivatives_of_the_metric(k, seed, body):
    rng = np.random.default_rng(seed)
    screws, x = rng.normal(size=(k, 6)), rng.normal(size=k)
    # dg[i, j, l] = ∂_l g_ij, and γ_ijl = ½ (∂_i g_jl + ∂_j g_il − ∂_l g_ij)
    steps = [derivative(lambda t, e=e: second_kind.metric(screws, x + t * e, body.row)) for e in np.eye(k)]
    dg = np.stack(steps, axis=-1)
    expected = 0.5 * (np.einsum("jli->ijl", dg) + np.einsum("ilj->ijl", dg) - dg)
    found = second_kind.christoffel(screws, x, body.row)
    # The contraction with ẋẋ is what the motion feels; the symbols themselves are symmetric in i and j.
    scale = largest(second_kind.metric(screws, x, body.row))
    assert_close(found, np.swapaxes(found, 0, 1))
    assert_close(found, expected, DIFFERENTIATED, scale=scale)


# The operator between exponentials


@given(st.integers(2, 5), seeds)
def test_adjoint_between_exponentials_is_differentiated_by_brackets(n, seed):
    rng = np.random.default_rng(seed)
    screws, q, B = rng.normal(scale=0.7, size=(n, 6)), rng.normal(size=n), rng.normal(size=6)
    i, j, k, l = rng.integers(1, n + 1, size=4)
    i, j = min(i, j), max(i, j)

    def moved(q):
        return torsor.papers.adjoint_between(screws, q, i, j) @ B

    def slope(q):
        return torsor.papers.adjoint_between_derivative(screws, q, i, j, k, B)

    e_k, e_l = np.eye(n)[k - 1], np.eye(n)[l - 1]
    scale = largest(torsor.papers.adjoint_between(screws, q, i, j)) * 10
    assert_close(slope(q), derivative(lambda t: moved(q + t * e_k)), DIFFERENTIATED, scale=scale)
    curvature = torsor.papers.adjoint_between_second_derivative(screws, q, i, j, k, l, B)
    assert_close(curvature, derivative(lambda t: slope(q + t * e_l)), DIFFERENTIATED, scale=scale)
