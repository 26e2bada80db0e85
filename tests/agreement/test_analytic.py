"""Textbook equations written out by hand, and numbers that others have published.

Tolerance. Against a formula only rounding differs: ROUNDING of the largest entry or term. Published numbers are right to
the digits printed. A simulation is right to its order, which is measured by halving the step.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import torsor
from torsor import Inertia, Joint, Robot

ROUNDING = 1e-13
G = 9.81


def states(robot: Robot, count: int = 20) -> tuple[np.ndarray, ...]:
    return torsor.random_state(robot, seed=0, batch=(count,))


# The pendulum: a point mass m at the distance l from the axis, θ from the horizontal


def test_the_pendulum_obeys_its_equation(same):
    m, l = 1.7, 0.6
    robot = torsor.robots.pendulum(mass=m, length=l)
    q, v, a = states(robot)
    weight = m * G * l * np.cos(q)
    same(torsor.inverse_dynamics(robot, q, v, a), m * l**2 * a + weight, ROUNDING)
    same(torsor.forward_dynamics(robot, q, v, a), (a - weight) / (m * l**2), ROUNDING)
    same(torsor.kinetic_energy(robot, q, v), 0.5 * m * l**2 * v[:, 0] ** 2, ROUNDING)
    same(torsor.potential_energy(robot, q), m * G * l * np.sin(q[:, 0]), ROUNDING)
    same(torsor.coriolis_matrix(robot, q, v), np.zeros((20, 1, 1)), ROUNDING, scale=m * l**2)


def test_a_small_swing_of_the_pendulum_takes_its_period():
    # q = −π/2 hangs down. An amplitude of 1e-3 lengthens the period by a²/16 = 6e-8, a step of a 200th of the period
    # by (hω)⁴/120 = 1e-8; at the ends of the swing and in its middle the position shows it once, times 2π.
    l = 0.4
    robot = torsor.robots.pendulum(length=l)
    period = 2 * np.pi * np.sqrt(l / G)
    swing = torsor.simulate(robot, [-np.pi / 2 + 1e-3], [0.0], duration=period, dt=period / 200, method="rk4")
    angle = swing.q[[0, 50, 100, 150, 200], 0] + np.pi / 2
    assert angle == pytest.approx(1e-3 * np.array([1, 0, -1, 0, 1]), abs=1e-9)


# The planar 2R chain with point masses at the ends of its links [LP, (9.9)–(9.11)]


def planar_2r() -> tuple[Robot, float, float, float, float]:
    m1, m2, l1, l2 = 1.3, 0.7, 0.9, 0.6
    return torsor.robots.planar2r(masses=(m1, m2), lengths=(l1, l2)), m1, m2, l1, l2


def test_the_planar_2r_chain_has_the_mass_matrix_of_the_textbook(same):
    robot, m1, m2, l1, l2 = planar_2r()
    q, _, _ = states(robot)
    c2 = np.cos(q[:, 1])
    one = np.ones_like(c2)
    M11 = m1 * l1**2 + m2 * (l1**2 + 2 * l1 * l2 * c2 + l2**2)
    M12 = m2 * (l1 * l2 * c2 + l2**2)
    want = np.moveaxis(np.array([[M11, M12], [M12, m2 * l2**2 * one]]), -1, 0)
    same(torsor.mass_matrix(robot, q), want, ROUNDING)


def test_the_planar_2r_chain_has_the_velocity_terms_of_the_textbook(same):
    robot, _, m2, l1, l2 = planar_2r()
    q, v, _ = states(robot)
    h = m2 * l1 * l2 * np.sin(q[:, 1])
    v1, v2 = v.T
    same(torsor.dynamics.coriolis_forces(robot, q, v), np.array([-h * (2 * v1 * v2 + v2**2), h * v1**2]).T, ROUNDING)
    # Christoffel's choice among the matrices C with C v = c and Ṁ = C + Cᵀ
    C = np.moveaxis(np.array([[-h * v2, -h * (v1 + v2)], [h * v1, 0 * h]]), -1, 0)
    same(torsor.coriolis_matrix(robot, q, v), C, ROUNDING)
    rate = np.moveaxis(np.array([[-2 * h * v2, -h * v2], [-h * v2, 0 * h]]), -1, 0)
    same(torsor.dynamics.mass_matrix_rate(robot, q, v), rate, ROUNDING)


def test_the_planar_2r_chain_has_the_gravity_terms_of_the_textbook(same):
    robot, m1, m2, l1, l2 = planar_2r()
    q, _, _ = states(robot)
    c1, c12 = np.cos(q[:, 0]), np.cos(q[:, 0] + q[:, 1])
    want = np.array([(m1 + m2) * l1 * G * c1 + m2 * G * l2 * c12, m2 * G * l2 * c12]).T
    same(torsor.gravity_forces(robot, q), want, ROUNDING)


def test_the_tip_of_the_planar_2r_chain_moves_as_plane_geometry_says(same):
    robot, _, _, l1, l2 = planar_2r()
    q, v, a = states(robot)
    (q1, q2), (v1, v2), (a1, a2) = q.T, v.T, a.T
    s1, c1, s12, c12 = np.sin(q1), np.cos(q1), np.sin(q1 + q2), np.cos(q1 + q2)
    w, alpha = v1 + v2, a1 + a2
    same(torsor.frame_pose(robot, q, "tip")[:, :2, 3], np.array([l1 * c1 + l2 * c12, l1 * s1 + l2 * s12]).T, ROUNDING)
    velocity = np.array([-l1 * s1 * v1 - l2 * s12 * w, l1 * c1 * v1 + l2 * c12 * w]).T
    same(torsor.kinematics.mixed_twist(robot, q, v, "tip")[:, 3:5], velocity, ROUNDING)
    x = -l1 * (s1 * a1 + c1 * v1**2) - l2 * (s12 * alpha + c12 * w**2)
    y = l1 * (c1 * a1 - s1 * v1**2) + l2 * (c12 * alpha - s12 * w**2)
    same(torsor.kinematics.mixed_acceleration(robot, q, v, a, "tip")[:, 3:5], np.array([x, y]).T, ROUNDING)


# The cart and pole: cart M at x, point mass m on a pole of length l, θ = 0 hanging down


def test_the_cart_and_pole_obey_their_equations(same):
    M, m, l = 1.4, 0.3, 0.8
    robot = torsor.robots.cart_pole(cart=M, pole=m, length=l)
    q, v, a = states(robot)
    (_, theta), (_, w), (x_acc, w_acc) = q.T, v.T, a.T
    s, c = np.sin(theta), np.cos(theta)
    push = (M + m) * x_acc + m * l * (c * w_acc - s * w**2)
    turn = m * l * c * x_acc + m * l**2 * w_acc + m * G * l * s
    tau = torsor.inverse_dynamics(robot, q, v, a)
    same(tau, np.array([push, turn]).T, ROUNDING)
    # Solved for the accelerations by hand: with D = M + m sin²θ, never zero
    f, t = a.T
    D = M + m * s**2
    x_acc = (f - t * c / l + m * l * s * w**2 + m * G * s * c) / D
    w_acc = (t / (m * l) - G * s - c * x_acc) / l
    same(torsor.forward_dynamics(robot, q, v, a), np.array([x_acc, w_acc]).T, 1e-12)  # M is conditioned to some 1e1


# The Puma 560 at its "nominal" configuration


NOMINAL = np.array([0, np.pi / 4, np.pi, 0, np.pi / 4, 0])


def test_the_puma_560_carries_the_published_gravity_load():
    # P. Corke's Robotics Toolbox, p560.gravload(qn): four digits are printed
    want = [0, 31.6399, 6.0351, 0, 0.0283, 0]
    assert torsor.gravity_forces(torsor.robots.puma560(), NOMINAL) == pytest.approx(want, abs=5.1e-5)


def test_the_puma_560_has_the_published_inertias_seen_by_its_motors():
    # P. Corke's Robotics Toolbox, diag(p560.inertia(qn)), armature included: four digits are printed
    want = [3.6594, 4.4137, 0.9378, 0.1925, 0.1713, 0.1941]
    assert np.diag(torsor.mass_matrix(torsor.robots.puma560(), NOMINAL)) == pytest.approx(want, abs=5.1e-5)


# A free rigid body


@cache
def tumbling(step: float) -> tuple[Robot, torsor.Trajectory]:
    """An asymmetric body thrown about no principal axis, without gravity; its centre of mass is off the link's origin."""
    body = Inertia(2.0, (0.1, -0.2, 0.3), np.diag([0.3, 0.5, 0.7]))
    robot = torsor.assemble([Joint(name="flight", kind="free", link="body", inertia=body)], gravity=(0.0, 0.0, 0.0))
    v = [1.0, 2.0, 1.5, 0.3, -0.4, 0.5]
    return robot, torsor.simulate(robot, robot.neutral, v, duration=2.0, dt=step, method="rk4")


def drifts(step: float) -> tuple[float, float]:
    """How far energy and momentum go from where they started, relatively."""
    robot, flight = tumbling(step)
    momentum = torsor.dynamics.spatial_momentum(robot, flight.q, flight.v)
    energy = np.abs(flight.energy / flight.energy[0] - 1).max()
    return float(energy), float(np.abs(momentum - momentum[0]).max() / np.abs(momentum[0]).max())


def test_a_free_body_tumbles_and_yet_keeps_its_energy_and_momentum():
    _, flight = tumbling(0.01)
    assert np.abs(flight.v[:, :3] - flight.v[0, :3]).max() > 0.5  # or there would be nothing to conserve
    # RK4 with steps of 0.01 s at 2.7 rad/s is right to a fraction of (h ω)⁴ = 5e-7; that it is this order, see below
    assert max(drifts(0.01)) < 1e-7


def test_the_drift_of_a_free_body_shrinks_with_the_fourth_power_of_the_step():
    coarse, fine = drifts(0.04), drifts(0.02)
    for before, after in zip(coarse, fine, strict=True):
        assert after > 1e-13  # well above rounding, so that the ratio means something
        assert 3.5 < np.log2(before / after) < 5.5  # fourth order; energy may do one better


def test_the_centre_of_mass_of_a_free_body_flies_straight(same):
    robot, flight = tumbling(0.01)
    c = torsor.dynamics.centre_of_mass(robot, flight.q)
    velocity = torsor.dynamics.spatial_momentum(robot, flight.q[0], flight.v[0])[3:] / 2.0
    same(c, c[0] + flight.time[:, None] * velocity, 1e-7)  # as above


def test_a_free_body_falls_as_galileo_says(same):
    robot, _ = tumbling(1.0)
    robot = robot.with_gravity((0.0, 0.0, -G))
    fall = torsor.simulate(robot, robot.neutral, np.zeros(6), duration=1.0, dt=0.1, method="rk4")
    # From rest nothing turns, and a parabola is integrated exactly.
    want = np.zeros((11, 3))
    want[:, 2] = -0.5 * G * fall.time**2
    same(fall.q[:, :3], want, 1e-12)
    same(fall.energy, np.full(11, fall.energy[0]), 1e-12, scale=2.0 * G * 5.0)
