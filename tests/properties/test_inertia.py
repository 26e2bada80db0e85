"""What must be true of the inertia of every rigid body."""

from __future__ import annotations

import functools
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from property_checks import assert_close, largest
from property_strategies import (
    bodies,
    directions,
    lengths,
    particles,
    pose_of,
    poses,
    rotation_vectors,
    seeds,
    solid_bodies,
    vectors3,
    vectors6,
)

from torsor import ArgumentError, Inertia, ModelError, lie

sizes = st.floats(0.05, 2.0)
axis_names = st.sampled_from(["x", "y", "z"])


def assert_same_body(actual: Inertia, expected: Inertia, tolerance: float = 1e-12, scale: object = 0.0) -> None:
    assert_close(actual.mass, expected.mass, tolerance, scale=scale)
    assert_close(actual.com, expected.com, tolerance, scale=scale)
    assert_close(actual.rotational, expected.rotational, tolerance, scale=scale)


# Frames


@given(bodies, poses())
def test_a_change_of_frame_is_a_congruence(body, T_ab):
    Ad_ba = lie.Ad(lie.se3.inverse(T_ab))
    moved = lie.transform_inertia(T_ab, body.row)
    assert_close(lie.inertia_matrix(moved), Ad_ba.T @ body.matrix @ Ad_ba)
    assert_close(body.moved(T_ab).row, moved)


@given(bodies, poses(), vectors6)
def test_a_change_of_frame_keeps_the_kinetic_energy(body, T_ab, V_b):
    V_a = lie.transform_twist(T_ab, V_b)
    assert_close(body.moved(T_ab).kinetic_energy(V_a), body.kinetic_energy(V_b), scale=largest(body.row) * 10)


@given(bodies, poses(), poses())
def test_changes_of_frame_compose(body, A, B):
    assert_close(body.moved(B).moved(A).row, body.moved(A @ B).row, scale=largest(body.moved(B).row))


@given(bodies, vectors6)
def test_the_inertia_acts_as_its_matrix(body, V):
    assert_close(lie.apply_inertia(body.row, V), body.matrix @ V)
    assert_close(body.matrix, body.matrix.T, 0.0)


# Bodies made of particles


@settings(max_examples=100)
@given(particles())
def test_particles_add_up_to_the_definition(body):
    m, r = body
    row = Inertia.particles(m, r).row
    I = np.einsum("k,kij->ij", m, (r**2).sum(-1)[:, None, None] * np.eye(3) - r[:, :, None] * r[:, None, :])
    assert_close(row, np.concatenate([[m.sum()], m @ r, I[np.triu_indices(3)]]))


@given(particles(), vectors6)
def test_kinetic_energy_is_that_of_the_particles(body, V):
    m, r = body
    speeds = V[3:] + np.cross(V[:3], r)
    assert_close(body.inertia().kinetic_energy(V), 0.5 * m @ (speeds**2).sum(-1))


@given(particles())
def test_pseudo_inertia_is_the_sum_over_particles_and_not_indefinite(body):
    m, r = body
    points = np.column_stack([r, np.ones(len(m))])
    pseudo = body.inertia().pseudo
    assert_close(pseudo, np.einsum("k,ki,kj->ij", m, points, points))
    assert np.linalg.eigvalsh(pseudo)[0] >= -1e-13 * largest(pseudo)


@settings(max_examples=100)
@given(particles(), particles())
def test_welding_two_bodies_adds_their_rows(one, other):
    a, b = one.inertia(), other.inertia()
    both = a + b
    assert_close(both.row, a.row + b.row)
    assert_close(both.mass * both.com, a.mass * a.com + b.mass * b.com)
    assert_same_body(b + a, both)


@given(bodies)
def test_second_moment_and_rotational_inertia_give_each_other(body):
    assert_close(lie.rotational_from_second_moment(body.second_moment), body.rotational)
    J = body.second_moment
    assert_close(lie.second_moment(lie.rotational_from_second_moment(J)), J)
    assert np.linalg.eigvalsh(J)[0] >= -1e-12 * largest(J)


@given(solid_bodies)
def test_principal_axes_diagonalise_the_inertia(body):
    moments, axes = body.principal()
    assert_close(axes @ np.diag(moments) @ axes.T, body.rotational)
    assert_close(np.linalg.det(axes), 1.0)
    assert np.all(np.diff(moments) >= 0)


# Round trips


@given(solid_bodies)
def test_a_solid_body_survives_its_row_and_its_matrix(body):
    # The shift between origin and centre of mass costs the digits of the larger inertia, that about the origin.
    assert_same_body(Inertia.from_row(body.row), body, scale=body.row)
    assert_same_body(Inertia.from_matrix(body.matrix), body, scale=body.row)


@given(st.floats(0.1, 5.0), directions, lengths)
def test_a_point_mass_survives_its_row_and_its_matrix(mass, direction, distance):
    body = Inertia.point(mass, distance * direction)
    assert_same_body(Inertia.from_row(body.row), body, scale=body.row)
    assert_same_body(Inertia.from_matrix(body.matrix), body, scale=body.row)


@settings(max_examples=100)
@given(particles(least=2))
def test_every_body_of_particles_survives_its_row(body):
    body = body.inertia()
    assert_same_body(Inertia.from_row(body.row), body, scale=body.row)


@given(seeds)
def test_a_massless_link_survives_its_row(seed):
    assert_same_body(Inertia.from_row(Inertia.zero().row), Inertia.zero())
    I = np.diag(np.random.default_rng(seed).uniform(1, 2, 3))  # a link known by its moments alone
    assert_same_body(Inertia.from_row(Inertia(0.0, rotational=I).row), Inertia(0.0, rotational=I))


# Solids


def sample(rng: np.random.Generator, shape: str, size: tuple[float, ...]) -> np.ndarray:
    """Points spread evenly over a solid whose axis is z, by rejection from its bounding box."""
    a, b, c = size
    points = rng.uniform(-1.0, 1.0, (400_000, 3))
    if shape == "box":
        return points * (a / 2, b / 2, c / 2)
    if shape == "ellipsoid":
        return points[(points**2).sum(-1) <= 1] * (a, b, c)
    if shape == "cylinder":
        return points[(points[:, :2] ** 2).sum(-1) <= 1] * (a, a, b / 2)
    points = points * (a, a, b / 2 + a)
    beyond = np.maximum(np.abs(points[:, 2]) - b / 2, 0.0)
    return points[(points[:, :2] ** 2).sum(-1) + beyond**2 <= a * a]


SOLIDS = {
    "box": lambda a, b, c: Inertia.box((a, b, c), mass=1.0),
    "ellipsoid": lambda a, b, c: Inertia.ellipsoid((a, b, c), mass=1.0),
    "cylinder": lambda a, b, c: Inertia.cylinder(a, b, mass=1.0),
    "capsule": lambda a, b, c: Inertia.capsule(a, b, mass=1.0),
}


@pytest.mark.parametrize("shape", SOLIDS)
@settings(max_examples=4)
@given(sizes, sizes, sizes, seeds)
def test_solids_agree_with_points_spread_over_them(shape, a, b, c, seed):
    x = sample(np.random.default_rng(seed), shape, (a, b, c))
    second = x.T @ x / len(x)
    # Over 150 000 points remain: the mean of x² scatters by about 0.9/√150 000 = 0.24 %, four times that is 1 %.
    assert largest(SOLIDS[shape](a, b, c).second_moment - second) <= 1e-2 * largest(second)


@given(sizes, sizes, axis_names)
def test_a_capsule_is_a_cylinder_and_two_half_balls(r, l, axis):
    k = "xyz".index(axis)
    half = 2 / 3 * np.pi * r**3
    # Half a ball has half the ball's inertia about the middle of its flat face, and its centre 3r/8 from there.
    about_face = 0.4 * half * r**2 * np.eye(3)
    offset = 3 / 8 * r * np.eye(3)[k]
    about_com = about_face - half * (offset @ offset * np.eye(3) - np.outer(offset, offset))
    ends = [Inertia(half, s * (offset + l / 2 * np.eye(3)[k]), about_com) for s in (1, -1)]
    whole = Inertia.cylinder(r, l, density=1.0, axis=axis) + ends[0] + ends[1]
    assert_same_body(Inertia.capsule(r, l, density=1.0, axis=axis), whole)


@given(sizes, sizes, st.floats(0.1, 0.9), axis_names, vectors3)
def test_a_tube_and_what_fills_it_are_a_cylinder(R, l, share, axis, com):
    hole = Inertia.cylinder(share * R, l, density=2.0, axis=axis, com=com)
    whole = Inertia.tube(R, share * R, l, density=2.0, axis=axis, com=com) + hole
    assert_same_body(whole, Inertia.cylinder(R, l, density=2.0, axis=axis, com=com))


@given(sizes, sizes, axis_names)
def test_a_cone_is_a_stack_of_discs(r, h, axis):
    k, body = "xyz".index(axis), Inertia.cone(r, h, density=3.0, axis=axis)
    nodes, weights = np.polynomial.legendre.leggauss(4)  # exact: polynomials of degree 4
    discs = []
    for u, w in zip(0.5 * (nodes + 1.0), 0.5 * weights, strict=True):
        mass, radius = 3.0 * np.pi * (r * (1.0 - u)) ** 2 * h * w, r * (1.0 - u)
        moments = np.full(3, mass * radius**2 / 4)
        moments[k] *= 2.0
        discs.append(Inertia(mass, (u - 0.25) * h * np.eye(3)[k], np.diag(moments)))
    assert_same_body(body, functools.reduce(lambda a, b: a + b, discs))
    assert_close(body.com, np.zeros(3), 1e-15)


# Densities


@given(sizes, sizes, sizes, vectors3)
def test_a_uniform_density_is_a_box(x, y, z, com):
    size = np.array([x, y, z])
    body = Inertia.from_density(lambda x, y, z: 2.5, com - size / 2, com + size / 2)
    assert_same_body(body, Inertia.box(size, density=2.5, com=com))


def test_a_density_that_grows_along_a_box():
    """ρ = z from 0 to 1 over a unit square: m = ½, c_z = ⅔, ∫ z² dm = ¼, ∫ x² dm = 1/24."""
    body = Inertia.from_density(lambda x, y, z: z, (-0.5, -0.5, 0.0), (0.5, 0.5, 1.0))
    along, across = 0.25 - 0.5 * (2 / 3) ** 2, 1 / 24
    assert_close(body.mass, 0.5)
    assert_close(body.com, [0.0, 0.0, 2 / 3])
    assert_close(body.rotational, np.diag([across + along, across + along, 2 * across]))


def test_a_density_that_is_no_polynomial():
    """exp(−a x²) exp(−b y²) exp(−c z²): ∫ = √(π/a) …, ∫ x² dm = m / (2 a) …"""
    a = np.array([20.0, 30.0, 15.0])
    body = Inertia.from_density(
        lambda x, y, z: np.exp(-a[0] * x**2 - a[1] * y**2 - a[2] * z**2), (-2.0,) * 3, (2.0,) * 3
    )
    second = np.prod(np.sqrt(np.pi / a)) / (2.0 * a)
    assert_close(body.mass, np.prod(np.sqrt(np.pi / a)), 1e-8)
    assert_close(body.rotational, np.diag(second.sum() - second), 1e-8)


def test_a_density_that_jumps():
    """A ball in a box; more than a thousandth is refused in words, with what was reached."""

    def ball(x, y, z):
        return 1000.0 * (x * x + y * y + z * z < 0.01)

    body, exact = Inertia.from_density(ball, (-0.1,) * 3, (0.1,) * 3, rtol=1e-2), Inertia.sphere(0.1, density=1000.0)
    assert abs(body.mass / exact.mass - 1.0) < 1e-2
    assert largest(body.rotational - exact.rotational) < 1e-2 * largest(exact.rotational)
    with pytest.raises(ArgumentError, match=r"known to .* rtol is 1e-09.*larger rtol="):
        Inertia.from_density(ball, (-0.1,) * 3, (0.1,) * 3)


@pytest.mark.parametrize(
    ("density", "lower", "upper", "words"),
    [
        (lambda x, y, z: -x, (0, 0, 0), (1, 1, 1), "not negative"),
        (lambda x, y, z: np.nan, (0, 0, 0), (1, 1, 1), "finite"),
        (lambda x, y, z: 0.0, (0, 0, 0), (1, 1, 1), "mass of 0 kg"),
        (lambda x, y, z: np.ones(3), (0, 0, 0), (1, 1, 1), "one number for each point"),
        (lambda x, y, z: 1.0, (0, 0, 1), (1, 1, 1), "must be less than `upper`"),
        (lambda x, y, z: 1.0, (0, 0), (1, 1, 1), "a corner"),
    ],
)
def test_densities_that_are_none_are_refused(density, lower, upper, words):
    with pytest.raises(ArgumentError, match=words):
        Inertia.from_density(density, lower, upper)


# Meshes

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
FACES = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 7, 5], [4, 6, 7], [0, 4, 5], [0, 5, 1]),
        *([2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ]
)


@given(sizes, sizes, sizes, poses(), st.booleans())
def test_a_mesh_of_a_box_is_the_box(x, y, z, T, inside_out):
    size = np.array([x, y, z])
    corners = (CUBE - 0.5) * size @ T[:3, :3].T + T[:3, 3]
    faces = FACES[:, ::-1] if inside_out else FACES
    box = Inertia.box(size, density=2.0).moved(T)
    scale = 1.0 + largest(T[:3, 3]) ** 2 / min(size) ** 2
    body = Inertia.from_mesh((corners, faces), density=2.0)
    assert_close(body.mass, box.mass, 1e-13 * scale)
    assert_close(body.com, box.com, 1e-13 * scale)
    assert largest(body.rotational - box.rotational) <= 1e-12 * scale * largest(box.rotational)


def test_a_mesh_may_repeat_its_corners_and_be_in_millimetres():
    soup = (1000.0 * CUBE[FACES].reshape(-1, 3), np.arange(36).reshape(-1, 3))
    body = Inertia.from_mesh(soup, mass=3.0, scale=1e-3)
    assert_same_body(body, Inertia.box((1.0, 1.0, 1.0), mass=3.0, com=(0.5, 0.5, 0.5)))
    assert_same_body(
        Inertia.from_mesh((CUBE, FACES), mass=1.0, scale=(2.0, -1.0, 1.0)),
        Inertia.box((2.0, 1.0, 1.0), mass=1.0, com=(1.0, -0.5, 0.5)),
    )


def test_what_encloses_nothing_is_refused():
    for faces, words in ((FACES[1:], "not a closed surface"), (FACES[[0]], "not a closed surface")):
        with pytest.raises(ModelError, match=words):
            Inertia.from_mesh((CUBE, faces), mass=1.0)
    flipped = FACES.copy()
    flipped[0] = flipped[0, ::-1]
    with pytest.raises(ModelError, match="of its edges do not have one"):
        Inertia.from_mesh((CUBE, flipped), mass=1.0)
    with pytest.raises(ModelError, match="encloses"):
        Inertia.from_mesh((CUBE * [1.0, 1.0, 0.0], FACES), mass=1.0)
    with pytest.raises(ModelError, match="indices of its 8 corners"):
        Inertia.from_mesh((CUBE, FACES + 1), mass=1.0)
    with pytest.raises(ModelError, match="exactly one of mass="):
        Inertia.from_mesh((CUBE, FACES))
    with pytest.raises(TypeError, match="a pair of corners"):
        Inertia.from_mesh(3.0, mass=1.0)


@given(sizes, vectors3)
def test_a_sphere_is_an_ellipsoid_with_equal_axes(r, com):
    sphere = Inertia.sphere(r, density=3.0, com=com)
    assert_same_body(sphere, Inertia.ellipsoid((r, r, r), density=3.0, com=com))
    assert_close(sphere.mass, 3.0 * 4 / 3 * np.pi * r**3)
    assert_close(sphere.rotational, 0.4 * sphere.mass * r**2 * np.eye(3))


@given(sizes, sizes, sizes, st.floats(0.1, 0.9), st.integers(0, 2))
def test_a_box_is_two_boxes_side_by_side(x, y, z, share, k):
    whole, size = np.array([x, y, z]), np.array([x, y, z])
    parts = []
    for part, side in ((share, -1), (1 - share, 1)):
        edges = size.copy()
        edges[k] *= part
        parts.append(Inertia.box(edges, density=2.0, com=side * (size - edges) / 2))
    assert_same_body(parts[0] + parts[1], Inertia.box(whole, density=2.0))


@given(sizes, sizes, st.floats(0.1, 0.9), axis_names)
def test_a_cylinder_is_two_cylinders_end_to_end(r, l, share, axis):
    e = np.eye(3)["xyz".index(axis)]
    parts = [
        Inertia.cylinder(r, part * l, density=2.0, axis=axis, com=side * (1 - part) * l / 2 * e)
        for part, side in ((share, -1), (1 - share, 1))
    ]
    assert_same_body(parts[0] + parts[1], Inertia.cylinder(r, l, density=2.0, axis=axis))


@given(sizes)
def test_thin_solids_become_discs_rods_plates_and_balls(size):
    thin, square = 1e-9, size**2
    assert_close(Inertia.cylinder(size, thin, mass=1.0).rotational, square * np.diag([1 / 4, 1 / 4, 1 / 2]))
    assert_close(Inertia.cylinder(thin, size, mass=1.0).rotational, square * np.diag([1 / 12, 1 / 12, 0]))
    assert_close(
        Inertia.capsule(thin, size, mass=1.0, axis="x").rotational, square * np.diag([0, 1 / 12, 1 / 12]), 1e-8
    )
    assert_close(Inertia.box((size, size, thin), mass=1.0).rotational, square * np.diag([1 / 12, 1 / 12, 1 / 6]))
    # The remaining length of 1e-9 m is felt in first order.
    assert_close(Inertia.capsule(size, thin, mass=1.0).rotational, square * 0.4 * np.eye(3), 1e-8)


# What real bodies cannot have


@given(bodies, poses())
def test_real_bodies_have_no_violations(body, T):
    assert body.violations() == []
    assert body.moved(T).violations() == []


@settings(max_examples=100)
@given(particles(), particles())
def test_welded_bodies_have_no_violations(one, other):
    assert (one.inertia() + other.inertia()).violations() == []


@given(st.floats(0.1, 2), st.floats(0.1, 2), st.floats(1e-3, 2), rotation_vectors(), vectors3)
def test_the_triangle_inequality_is_named_with_the_amount(low, middle, excess, w, com):
    R = pose_of(w, com)[:3, :3]
    I = R @ np.diag([low, middle, low + middle + excess]) @ R.T
    (violation,) = Inertia(1.0, com, 0.5 * (I + I.T)).violations()
    assert violation.startswith("triangle inequality")
    named = float(re.search(r"by (\S+) kg·m²", violation).group(1))
    assert abs(named - excess) <= 0.006 * excess  # three digits are printed


@given(particles(least=2))
def test_rotation_without_mass_is_a_violation(body):
    (violation,) = Inertia(0.0, rotational=body.inertia().rotational).violations()
    assert "zero mass" in violation


# Any ten numbers

WRONG = {
    "negative mass": [-0.5, 0.1, 0, 0, 1.0, 0, 0, 1.0, 0, 1.0],
    "negative principal moment about the centre of mass": [1.0, 0.5, 0, 0, 1.0, 0, 0, 0.1, 0, 1.0],
    "zero mass with a first moment of 0.5 kg·m": [0.0, 0.3, 0.4, 0, 1.0, 0, 0, 1.0, 0, 1.0],
    "zero mass with a rotational inertia of 2 kg·m²": [0.0, 0, 0, 0, 2.0, 0, 0, 1.5, 0, 1.0],
    "negative principal moment about the link frame": [0.0, 0, 0, 0, 2.0, 0, 0, -1.5, 0, 1.0],
    "triangle inequality": [1.0, 0, 0, 0, 1.0, 0, 0, 1.0, 0, 2.5],
    "numbers that are not finite: m c_x = nan, Izz = inf": [1.0, np.nan, 0, 0, 1.0, 0, 0, 1.0, 0, np.inf],
}


@pytest.mark.parametrize("problem", WRONG)
def test_violations_tell_for_any_ten_numbers(problem):
    row = np.array(WRONG[problem])
    body = Inertia.unchecked(row)
    assert any(text.startswith(problem) for text in body.violations())
    np.testing.assert_array_equal(body.row, row)
    assert str(body).startswith("Inertia(mass=")
    copy = pickle.loads(pickle.dumps(body))
    np.testing.assert_array_equal(copy.row, row)
    assert copy.violations() == body.violations()


@given(seeds, poses())
def test_numbers_of_no_body_move_and_add_as_all_do(seed, T):
    row, other = np.random.default_rng(seed).normal(size=(2, 10))
    body, sum_of_both = Inertia.unchecked(row), Inertia.unchecked(row) + Inertia.unchecked(other)
    assert_close(body.row, row)
    assert_close(body.moved(T).row, lie.transform_inertia(T, row), scale=largest(T) ** 2)
    assert_close(sum_of_both.row, row + other)


@given(bodies)
def test_a_body_that_was_not_checked_is_the_body(body):
    again = Inertia.unchecked(body.row)
    assert again.numbers is None
    assert_same_body(again, Inertia.from_row(body.row), 0.0)
    assert again.violations() == []


def test_what_is_not_ten_numbers_is_refused():
    for make in (Inertia.from_row, Inertia.unchecked):
        for row in (np.zeros(9), "heavy", None, [[1.0] * 10], 3.0):
            with pytest.raises(ModelError, match=rf"Inertia.{make.__name__}: `row` must be ten numbers"):
                make(row)
