"""What must be true of motions next to a motion: Jacobi fields, conjugate points, minimality, and Jacobi's metric."""

from __future__ import annotations

import numpy as np
import pytest
from property_checks import assert_close, largest, times
from scipy.integrate import solve_ivp

import torsor
from torsor.geometry import (
    covariant_derivative,
    jacobi_geodesic_acceleration,
    jacobi_metric,
    jacobi_operator,
    jacobi_sectional_curvature,
    riemann_curvature,
    sectional_curvature,
)
from torsor.kinematics import configuration_rate
from torsor.motion import (
    conjugate_points,
    geodesic,
    geodesic_between,
    is_minimal,
    jacobi_field,
    minimum_energy_path,
    natural_motion,
)

pytestmark = pytest.mark.compiled  # thousands of evaluations for each motion
INTEGRATED = 1e-8  # steps are kept to 1e-10 and 1e-11 of what they carry, over tens of steps


def on_crossed_axes(radius, offset=0.0, mass=1.0):
    """A point mass on a sphere, or with an offset on a torus: q = (longitude, latitude)."""
    return torsor.assemble(
        [
            torsor.Joint(name="longitude", kind="revolute", axis=(0, 0, 1), link="ring"),
            torsor.Joint(
                name="latitude",
                kind="revolute",
                axis=(0, -1, 0),
                parent="ring",
                pose=torsor.pose_from((offset, 0, 0)),
                link="mass",
                inertia=torsor.Inertia.point(mass, (radius, 0, 0)),
            ),
        ],
        name="torus" if offset else "sphere",
    )


def ball(inertia):
    return torsor.assemble([torsor.Joint(name="ball", kind="spherical", inertia=inertia)], name="ball")


def stone(stiffness=0.0, mass=2.0):
    """A point mass that moves in a vertical plane, held by springs if there is a stiffness."""
    slide = {"kind": "prismatic", "stiffness": stiffness}
    robot = torsor.assemble(
        [
            torsor.Joint(name="x", axis=(1, 0, 0), **slide),
            torsor.Joint(
                name="z", axis=(0, 0, 1), parent="x_link", inertia=torsor.Inertia.point(mass, (0, 0, 0)), **slide
            ),
        ],
        name="stone",
    )
    return robot.with_gravity((0, 0, 0)) if stiffness else robot


SPHERE, TORUS, STONE = on_crossed_axes(0.7), on_crossed_axes(0.4, offset=1.0, mass=3.0), stone()
# Two kinds of joints in few programs, with armature, which turns with the spherical one.
MIXED = torsor.robots.random_tree(2, seed=2, kinds=("spherical", "revolute"), armature=True, serial=True)
BARE = MIXED.with_parameters(armature=np.zeros(MIXED.nv))
SPRINGS = np.zeros(MIXED.nv)
for c in MIXED.structure.coordinates:
    SPRINGS[c.v] = 2.0 if c.nv == 1 else 0.0
Q, V, A = torsor.random_state(MIXED, seed=1)


# Jacobi fields are what they are called


@pytest.mark.parametrize("robot", [MIXED, torsor.robots.random_tree(3, seed=12, kinds=("revolute",), mimic=True)])
def test_a_field_is_the_difference_of_geodesics_that_start_side_by_side(robot):
    q, v, w = torsor.random_state(robot, seed=1)
    curve = geodesic(robot, q, 0.5 * v, 1.0, samples=5)
    field = jacobi_field(robot, curve, 0.2 * v[::-1], 0.3 * w)
    assert_close(field.rate[0], 0.3 * w)
    start, change, h = field.displacement[0], field.velocity_change[0], 1e-4
    ends = [
        geodesic(robot, torsor.integrate(robot, q, s * start), 0.5 * v + s * change, 1.0, samples=5, tolerance=1e-12)
        for s in (h, -h)
    ]
    moved = [torsor.difference(robot, curve.q, end.q) for end in ends]
    assert_close((moved[0] - moved[1]) / (2 * h), field.displacement, 1e-7)  # h² of a third derivative
    assert_close((ends[0].v - ends[1].v) / (2 * h), field.velocity_change, 1e-7)
    M = torsor.mass_matrix(robot, curve.q)
    assert_close(field.size**2, np.einsum("ki,kij,kj->k", field.displacement, M, field.displacement))


def along(field_at, t, h=2e-3):
    """A function of time and its derivative, of fourth order."""
    one, two = ((field_at(t + k * h) - field_at(t - k * h)) / (2 * k * h) for k in (1, 2))
    return (4 * one - two) / 3


def test_curvature_bends_the_fields_of_a_geodesic():
    """D²ξ/dt² = −R(ξ, v) v, with the curvature from its own formula [PBP95, (66)]."""
    curve = geodesic(MIXED, Q, 0.5 * V, 1.0, samples=3)
    t, h = 0.5, 2e-3
    at = t + h * np.arange(-2, 3)
    field = jacobi_field(MIXED, curve, 0.2 * A, 0.3 * V[::-1], time=at, tolerance=1e-12)
    slope = (8 * (field.rate[3] - field.rate[1]) - (field.rate[4] - field.rate[0])) / (12 * h)
    q, v, xi = field.q[2], field.v[2], field.displacement[2]
    bent = covariant_derivative(MIXED, q, v, field.rate[2], slope)
    assert_close(
        bent, -times(jacobi_operator(MIXED, q, v), xi), 1e-7, scale=slope
    )  # differences of rates known to 1e-11
    step = (8 * (field.displacement[3] - field.displacement[1]) - (field.displacement[4] - field.displacement[0])) / (
        12 * h
    )
    assert_close(covariant_derivative(MIXED, q, v, xi, step), field.rate[2], 1e-7, scale=step)


def test_along_any_solution_forces_are_added_to_curvature():
    """D²ξ/dt² + R(ξ, v) v = ∇_ξ (M⁻¹ F), F = τ − g − springs − friction, for a motion under joint forces."""
    friction = np.linspace(0.1, 0.5, MIXED.nv)
    robot = BARE.with_parameters(viscous_friction=friction, stiffness=SPRINGS)
    driven = torsor.motion.polynomial(robot, Q, torsor.integrate(robot, Q, 0.3 * V), duration=1.0)
    t, h = 0.4, 2e-3
    at = t + h * np.arange(-2, 3)
    field = jacobi_field(robot, driven, 0.2 * A, 0.3 * V[::-1], time=at, tolerance=1e-12)
    slope = (8 * (field.rate[3] - field.rate[1]) - (field.rate[4] - field.rate[0])) / (12 * h)
    q, v, xi, change = field.q[2], field.v[2], field.displacement[2], field.velocity_change[2]
    left = covariant_derivative(robot, q, v, field.rate[2], slope) + times(jacobi_operator(robot, q, v), xi)
    tau = torsor.inverse_dynamics(robot, q, v, driven.at(t).a)

    def pushed(s):
        """M⁻¹ F at q ⊕ s ξ with the velocity v + s δv: forward dynamics at rest, for Coriolis forces are no force."""
        force = tau - friction * (v + s * change)
        return torsor.forward_dynamics(robot, torsor.integrate(robot, q, s * xi), 0 * v, force)

    right = covariant_derivative(robot, q, xi, pushed(0.0), along(pushed, 0.0))
    assert_close(left, right, 1e-7, scale=slope)


def test_along_a_simulated_motion_fields_are_its_sensitivities():
    robot, q, v = torsor.robots.planar2r(), np.array([0.3, 1.0]), np.array([0.5, -0.4])
    run = torsor.simulate(robot, q, v, duration=0.5, dt=2e-3, method="rk4", tau=np.array([0.5, -0.5]))
    by_start = torsor.simulation.sensitivities(run).by_start()[-1]
    xi, change = np.split(np.eye(4), 2, axis=-1)
    field = jacobi_field(robot, run, xi, covariant_derivative(robot, q, xi, v, change), time=run.time[[-1]])
    found = np.concatenate([field.displacement[:, 0], field.velocity_change[:, 0]], axis=-1).T
    assert_close(found, by_start, 1e-6)  # as samples are interpolated: h⁴ of a derivative


def test_batches_of_motions_and_of_fields_broadcast():
    curves = geodesic(SPHERE, [0.3, 0.4], [[1.0, 0.5], [0.5, -1.0], [0.2, 0.1]], 1.0, samples=4)
    fields = jacobi_field(SPHERE, curves, np.zeros(2), np.eye(2)[:, None])
    assert fields.displacement.shape == (2, 3, 4, 2) and fields.size.shape == (2, 3, 4)
    alone = jacobi_field(SPHERE, geodesic(SPHERE, [0.3, 0.4], [0.5, -1.0], 1.0, samples=4), np.zeros(2), [0.0, 1.0])
    assert_close(fields.displacement[1, 1], alone.displacement, INTEGRATED)
    assert "6 fields" in str(fields) and "at the end" in str(alone)


# Closed forms


def test_on_a_sphere_fields_are_sines():
    """Curvature 1/r²: across a great circle |ξ| = |sin √K s|/√K, along it |ξ| = s, for unit speed."""
    curve = geodesic(SPHERE, [0.3, 0.4], [1.0, 0.5], 4.0, samples=21)
    M, v, speed = torsor.mass_matrix(SPHERE, curve.q[0]), curve.v[0], np.sqrt(2 * curve.energy[0])
    across = np.array([-(M @ v)[1], (M @ v)[0]])
    across /= np.sqrt(across @ M @ across)
    fields = jacobi_field(SPHERE, curve, np.zeros(2), np.stack([across, v / speed]))
    angle = speed * curve.time / 0.7
    assert_close(fields.size[0], 0.7 * np.abs(np.sin(angle)) / speed, INTEGRATED)
    assert_close(fields.size[1], curve.time, INTEGRATED)
    assert_close(conjugate_points(SPHERE, curve).time, 0.7 * np.pi / speed * np.arange(1, 2), INTEGRATED)


def test_without_curvature_fields_grow_evenly_and_nothing_meets_again():
    cart = torsor.robots.cart_pole()
    curve = geodesic(cart, [0.1, 0.4], [1.0, 3.0], 6.0, samples=13)
    field = jacobi_field(cart, curve, np.zeros(2), [0.3, -1.0])
    assert_close(field.size, field.size[-1] * curve.time / 6.0, INTEGRATED)
    points = conjugate_points(cart, curve)
    assert len(points) == points.inside == 0 and "no conjugate point" in str(points)
    assert curve.certificate()


def test_on_the_rotation_group_neighbours_meet_after_full_turns():
    """A ball with equal inertias moves by a bi-invariant metric: two neighbours meet it at 2π, and two again at 4π."""
    spin = -2.5
    robot = ball(torsor.Inertia.sphere(0.3, mass=2.0))
    curve = geodesic(robot, torsor.random_configuration(robot, seed=2), [0.0, 0.6 * spin, 0.8 * spin], 14.0 / abs(spin))
    points = conjugate_points(robot, curve)
    assert_close(points.time, 2 * np.pi / abs(spin) * np.array([1.0, 2.0]), INTEGRATED)
    assert [point.multiplicity for point in points] == [2, 2] and points.inside == 4
    M = torsor.mass_matrix(robot, curve.q[0])
    for point in points:
        assert_close(point.directions @ M @ point.directions.T, np.eye(2))
        assert_close(point.directions @ M @ curve.v[0], np.zeros(2), INTEGRATED)
    end = torsor.difference(robot, curve(points.time[0])[0], curve.q[0])
    assert_close(end, np.zeros(3), INTEGRATED)


def test_a_symmetric_top_meets_its_neighbours_at_its_own_angle():
    """About its axis of symmetry a top with inertias I, I, I₃ is conjugate to its start where it has turned by 2π I/I₃."""
    robot = ball(torsor.Inertia.box((0.4, 0.4, 0.7), mass=2.0))
    I, _, I_3 = np.diag(torsor.mass_matrix(robot, robot.neutral))
    points = conjugate_points(robot, geodesic(robot, robot.neutral, [0.0, 0.0, 1.0], 2.5 * 2 * np.pi * I / I_3))
    assert_close(points.time, 2 * np.pi * I / I_3 * np.array([1.0, 2.0]), INTEGRATED)
    assert [point.multiplicity for point in points] == [2, 2]


def test_on_a_torus_the_outer_equator_has_conjugate_points_and_the_inner_none():
    R, r, m = 1.0, 0.4, 3.0  # curvature 1/(r (R + r)) outside, −1/(r (R − r)) inside, of the surface without the mass
    outer = conjugate_points(TORUS, geodesic(TORUS, [0.0, 0.0], [1.0, 0.0], 3.0))
    assert_close(outer.time, np.pi * np.sqrt(r * (R + r)) / (R + r) * np.arange(1, 2), INTEGRATED)
    inner = geodesic(TORUS, [0.0, np.pi], [1.0, 0.0], 3.0)
    assert len(conjugate_points(TORUS, inner)) == 0 and inner.certificate()
    field = jacobi_field(TORUS, inner, np.zeros(2), [0.0, 1.0])
    growth = np.sqrt(r * (R - r)) / (R - r)
    assert_close(field.size, np.sqrt(m) * r * growth * np.sinh(inner.time / growth), INTEGRATED)


# Morse: the index in two ways


BRICK = ball(torsor.Inertia.box((0.3, 0.5, 0.7), mass=2.0))


@pytest.mark.parametrize(("robot", "length"), [(SPHERE, 2.0), (SPHERE, 6.0), (TORUS, 8.0), (MIXED, 12.0), (BRICK, 9.0)])
def test_there_are_as_many_conjugate_points_as_negative_eigenvalues(robot, length):
    q, v, _ = torsor.random_state(robot, seed=4)
    curve = geodesic(robot, q, v / np.sqrt(v @ torsor.mass_matrix(robot, q) @ v), length)
    report = curve.certificate()
    assert report.certain and report.conjugate.inside == report.negative
    assert bool(report) == (report.negative == 0) == (report.lowest > 0)
    assert report.margin > report.uncertainty
    assert ("NOT a minimum" in str(report)) != bool(report)
    if robot is SPHERE:
        angle, lowest = length / 0.7, 1 - (length / 0.7 / np.pi) ** 2
        assert report.negative == int(angle / np.pi)
        assert_close(report.lowest, lowest, 1e-3)  # samples: their error is taken out to first order


def test_a_path_beyond_a_conjugate_point_is_not_the_shortest():
    """The long way round the sphere is a geodesic that does not pass, the short one does."""
    q0, q1 = np.array([0.0, 0.2]), np.array([2.0, -0.3])
    assert geodesic_between(SPHERE, q0, q1).certificate()
    report = geodesic_between(SPHERE, q0, q1 - [2 * np.pi, 0.0]).certificate()
    assert not report and report.certain and report.negative == 1 and "1 independent variation between" in str(report)


def test_a_geodesic_that_ends_at_a_conjugate_point_is_at_the_border():
    speed = 1.0
    curve = geodesic(SPHERE, [0.0, 0.0], [speed, 0.0], np.pi, tolerance=1e-12)
    points = conjugate_points(SPHERE, curve)
    assert points.end_is_conjugate and points.inside == 0 and len(points) == 1 and "the end itself" in str(points)
    report = curve.certificate()
    assert not report and not report.certain and "undecided: its end is conjugate" in str(report)
    assert not points.margin


def test_paths_of_least_energy_are_certified_within_what_is_free():
    robot = torsor.robots.planar2r()
    q0, q1 = np.array([0.0, 0.5]), np.array([1.0, 1.5])
    free = minimum_energy_path(robot, q0, q1)
    report = free.certificate()
    assert report and report.conjugate is not None and "51 samples" in report.what
    through = minimum_energy_path(robot, q0, q1, through={20: [0.3, 0.5]})
    assert through.through == (20,)
    report = is_minimal(robot, through)
    assert report and report.conjugate is None and "conjugate points do not apply" in str(report)
    held = minimum_energy_path(robot.with_limits({robot.joints[1]: (0.45, 0.55)}), [0.0, 0.5], [1.8, 0.5])
    assert held.active_limits and held.certificate()
    odd = minimum_energy_path(robot, q0, q1, through={20: [0.3, 0.5]}, samples=42).certificate()
    assert not odd and "pass an odd number of samples" in str(odd)


# Jacobi's metric


def test_a_thrown_stone_meets_its_neighbours_on_the_parabola_of_safety():
    """At the conjugate point t = v²/(g v_z) it touches the envelope z = v²/2g − g x²/2v² of all stones thrown with its speed."""
    g, v = 9.81, 7.0
    energy = 0.5 * 2.0 * v**2
    for angle in (0.4, 1.1):
        motion = natural_motion(STONE, [0.0, 0.0], [np.cos(angle), np.sin(angle)], energy=energy, duration=2.5)
        assert_close(motion.v[0], v * np.array([np.cos(angle), np.sin(angle)]))
        assert_close(motion.q[:, 1], motion.v[0, 1] * motion.time - 0.5 * g * motion.time**2, INTEGRATED)
        points = conjugate_points(STONE, motion, fixed="energy")
        assert_close(points.time, np.array([v / (g * np.sin(angle))]), INTEGRATED)
        x, z = points.q[0]
        assert_close(z, v**2 / (2 * g) - g * x**2 / (2 * v**2), INTEGRATED)
        assert len(conjugate_points(STONE, motion)) == 0  # of one duration they never meet again
        assert motion.certificate()
        report = motion.certificate(fixed="energy")
        assert not report and report.certain and report.negative == 1 and "∫ 2 T dt" in str(report)
    q = np.array([0.3, 0.8])
    left = energy - 2.0 * g * q[1]
    curvature = jacobi_sectional_curvature(STONE, q, [1.0, 0.2], [0.3, 1.0], energy)
    assert_close(curvature, 2.0 * g**2 / (4 * left**3))  # of 2 (E − V) m (dx² + dz²), V = m g z


def test_a_mass_on_springs_meets_its_neighbours_after_half_a_period():
    robot = stone(stiffness=3.0)
    motion = natural_motion(robot, [0.5, 0.0], [0.3, 1.0], energy=5.0, duration=4.0)
    half = np.pi * np.sqrt(2.0 / 3.0)
    hamilton, jacobi = conjugate_points(robot, motion), conjugate_points(robot, motion, fixed="energy")
    assert_close(hamilton.time, [half], INTEGRATED)
    assert hamilton[0].multiplicity == 2
    assert jacobi[0].multiplicity == 1 and min(abs(jacobi.time - half)) < 1e-7
    for fixed in ("duration", "energy"):
        report = motion.certificate(fixed=fixed)
        assert report.certain and report.conjugate.inside == report.negative > 0
    run = torsor.simulate(robot, motion.q[0], motion.v[0], duration=4.0, dt=0.002, method="rk4")
    assert_close(conjugate_points(robot, run).time, [half], 1e-6)  # of samples, as they are interpolated


def test_a_natural_motion_is_simulated_and_a_geodesic_of_jacobis_metric():
    robot = BARE.with_parameters(stiffness=SPRINGS)
    energy = torsor.potential_energy(robot, Q) + 2.0
    motion = natural_motion(robot, Q, V, energy=energy, duration=1.0, samples=11)
    assert motion.energy_drift <= 1e-10 and "action" in str(motion)
    total = torsor.kinetic_energy(robot, motion.q, motion.v) + torsor.potential_energy(robot, motion.q)
    assert_close(total, np.full(11, energy), 1e-9)
    run = torsor.simulate(robot, Q, motion.v[0], duration=1.0, dt=1e-3, method="rk4")
    assert largest(torsor.difference(robot, run.q[-1], motion.q[-1])) < 1e-8
    state = motion.at(0.4)
    assert_close(state.a, torsor.forward_dynamics(robot, state.q, state.v, 0 * state.v), 1e-9)

    def rate(s, y):
        q, u = y[: robot.nq], y[robot.nq :]
        return np.concatenate([configuration_rate(robot, q, u), jacobi_geodesic_acceleration(robot, q, u, energy)])

    metric = jacobi_metric(robot, Q, energy)
    u = V / np.sqrt(V @ metric @ V)
    curve = solve_ivp(
        rate, (0.0, motion.action[-1]), np.concatenate([motion.q[0], u]), rtol=1e-11, atol=1e-12, method="DOP853"
    )
    end, u = curve.y[: robot.nq, -1], curve.y[robot.nq :, -1]
    assert largest(torsor.difference(robot, end, motion.q[-1])) < INTEGRATED
    speed = 2.0 * (energy - torsor.potential_energy(robot, end))
    assert_close(speed * u, motion.v[-1], 1e-7)
    report = motion.certificate(fixed="energy")
    assert report.certain and report.conjugate.inside == report.negative


def test_jacobis_metric_has_the_curvature_of_its_own_fields():
    """Gauss' curvature of two joints at one energy, from the tensor of a chart: −Δφ against differences of log(E − V)."""
    q, energy = np.array([0.3, 0.9]), 60.0
    robot = torsor.robots.cart_pole()  # flat: in its own coordinates only the factor bends
    flat = torsor.motion.flat_coordinates(robot, q)
    N = np.linalg.inv(flat.jacobian(q))

    def phi(x):
        return 0.5 * np.log(2 * (energy - torsor.potential_energy(robot, flat.inverse(x, start=q))))

    x, h = flat.phi(q), 1e-3
    steps = h * np.eye(2)
    laplacian = sum(phi(x + e) + phi(x - e) - 2 * phi(x) for e in steps) / h**2
    expected = -laplacian / (2 * (energy - torsor.potential_energy(robot, q)))
    assert_close(jacobi_sectional_curvature(robot, q, N[:, 0], N[:, 1], energy) / expected, 1.0, 1e-5)


def test_the_operator_is_the_tensor_along_a_velocity():
    M, K = torsor.mass_matrix(MIXED, Q), jacobi_operator(MIXED, Q, V)
    R = riemann_curvature(MIXED, Q)
    assert_close(M @ K, np.einsum("hjkl,j,l->hk", R, V, V), scale=R)
    assert_close(M @ K, (M @ K).T, scale=R)
    assert_close(K @ V, 0 * V, scale=R)
    area = (A @ M @ A) * (V @ M @ V) - (A @ M @ V) ** 2
    assert_close(A @ M @ K @ A / area, sectional_curvature(MIXED, Q, A, V))


# What cannot be is answered in words


def curve_of(robot=SPHERE):
    return geodesic(robot, [0.3, 0.4], [1.0, 0.5], 1.0, samples=3)


def rubbing():
    robot = SPHERE.with_parameters(viscous_friction=np.ones(2))
    return robot, torsor.motion.polynomial(robot, [0.0, 0.1], [1.0, 0.2], duration=1.0)


def coming_to_rest():
    return natural_motion(STONE, [0.0, 0.0], [0.0, 1.0], energy=10.0, duration=2.0, samples=3)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: natural_motion(STONE, [0, 2.0], [1, 0], energy=3.0, duration=1.0),
            r"`energy` is 3 J and the potential energy at q0 is 39.24 J: no motion of this energy comes there. Pass an "
            r"energy above",
        ),
        (
            lambda: natural_motion(STONE, [[0, 0.0], [0, 1.0]], [1, 0], energy=9.0, duration=1.0),
            r"19.62 J \(state 1 of the batch\)",
        ),
        (lambda: natural_motion(STONE, [0, 0], [1, 0], energy=0.0, duration=1.0), "is at rest there"),
        (lambda: natural_motion(STONE, [0, 0], [0, 0], energy=1.0, duration=1.0), "`direction` must move something"),
        (lambda: coming_to_rest()(3.0), "lasts from 0 to 2 s; it was asked for t = 3"),
        (lambda: conjugate_points(STONE, coming_to_rest(), fixed="energy"), "comes to rest on its way"),
        (lambda: jacobi_field(SPHERE, [[0, 0], [1, 1]], [0, 0], [1, 0]), "`motion` must be a motion: a Geodesic"),
        (lambda: jacobi_field(TORUS, curve_of(), [0, 0], [1, 0]), "is one of another robot, 'sphere'"),
        (lambda: jacobi_field(SPHERE, curve_of(), [0, 0, 0], [1, 0]), r"`displacement` must have shape \(..., 2\)"),
        (lambda: jacobi_field(SPHERE, curve_of(), [0, 0], [1, 0], time=[2.0]), "times .* from 0 to 1 s"),
        (lambda: jacobi_field(SPHERE, curve_of(), np.ones((3, 2)), np.ones((2, 2))), "batch axes do not broadcast"),
        (lambda: conjugate_points(SPHERE, geodesic(SPHERE, [0, 0], np.ones((2, 2)), 1.0)), "must be one motion, got a batch"),
        (lambda: conjugate_points(SPHERE, geodesic(SPHERE, [0, 0], [0, 0], 1.0)), "is at rest"),
        (lambda: conjugate_points(*rubbing()), "has friction, so that its motions make no integral stationary"),
        (lambda: conjugate_points(SPHERE, curve_of().sample(0.1), fixed="energy"), "driven by joint forces"),
        (lambda: is_minimal(SPHERE, np.zeros((3, 2))), "must be a motion or a PathResult"),
        (lambda: is_minimal(SPHERE, curve_of(), samples=3), "at least 7 samples"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(call, text):
    with pytest.raises(torsor.TorsorError, match=text):
        call()


def test_where_no_motion_of_an_energy_comes_jacobis_metric_is_nan():
    high = np.array([0.0, 10.0])
    assert np.isnan(np.diag(jacobi_metric(STONE, high, 5.0))).all()
    assert np.isnan(jacobi_geodesic_acceleration(STONE, high, [1.0, 0.5], 5.0)).all()
    assert_close(jacobi_metric(STONE, [0.0, 0.0], 5.0), 20.0 * np.eye(2))
