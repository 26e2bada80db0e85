"""Christoffel symbols and curvature by hand, by SymPy and by JAX: the sphere, the torus, textbook arms, other derivatives.

Tolerance. Against a formula only rounding differs: ROUNDING of the largest entry, or of the terms that cancel in it, which
are of the size of M (times |M⁻¹| where a result is contracted with it). All states keep the condition of M below 1e3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import torsor
from torsor import Inertia, Joint, Robot
from torsor.model._assemble import disassemble

ROUNDING = 1e-12
X, Y, Z = np.eye(3)

Step = tuple[str, np.ndarray, Inertia]


def chain(*steps: Step, offsets: Sequence[Sequence[float]] = ()) -> Robot:
    """Joints (kind, axis, inertia of the link) one after the other, each ``offset`` from the link before."""
    joints, parent = [], "base"
    for k, (kind, axis, inertia) in enumerate(steps):
        pose = np.eye(4)
        pose[:3, 3] = offsets[k] if k < len(offsets) else 0.0
        joints.append(
            Joint(name=f"joint {k}", kind=kind, axis=axis, pose=pose, parent=parent, link=f"link {k}", inertia=inertia)
        )
        parent = f"link {k}"
    return torsor.assemble(joints)


def configurations(robot: Robot, count: int = 20) -> np.ndarray:
    return np.random.default_rng(0).uniform(-1.3, 1.3, (count, robot.nq))


def from_derivatives(M: np.ndarray, dM: np.ndarray, d2M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Γ_ijk, and R_ijkl of the classical formula that has second derivatives of the metric in it, for coordinates:

    ½ (∂_j ∂_k m_il + ∂_i ∂_l m_jk − ∂_i ∂_k m_jl − ∂_j ∂_l m_ik) + m^rs (Γ_jkr Γ_ils − Γ_jlr Γ_iks).
    """
    Gamma = 0.5 * (dM + np.einsum("jik->ijk", dM) - np.einsum("kij->ijk", dM))
    products = np.einsum("jkr,rs,ils->ijkl", Gamma, np.linalg.inv(M), Gamma)
    R = products - np.einsum("ijlk->ijkl", products)
    for order, sign in (("jkil", 0.5), ("iljk", 0.5), ("ikjl", -0.5), ("jlik", -0.5)):
        R = R + sign * np.einsum(f"{order}->ijkl", d2M)
    return Gamma, R


def assert_has_curvature(robot: Robot, q: np.ndarray, K: np.ndarray, same) -> None:
    """Two joints of curvature K: everything that follows from it."""
    M = torsor.mass_matrix(robot, q)
    det, sizes = np.linalg.det(M), np.abs(M).max()
    scale = sizes * np.abs(np.linalg.inv(M)).max() ** 2
    R = torsor.geometry.riemann_curvature(robot, q)
    same(R[:, 0, 1, 0, 1], K * det, ROUNDING, scale=sizes)
    same(torsor.geometry.scalar_curvature(robot, q), 2 * K, ROUNDING, scale=scale)
    same(torsor.geometry.curvature_norm(robot, q), 2 * np.abs(K), ROUNDING, scale=scale)
    same(torsor.geometry.sectional_curvature(robot, q, [1.0, 0.2], [0.3, -1.0]), K, ROUNDING, scale=scale)
    same(torsor.geometry.ricci_curvature(robot, q), K[:, None, None] * M, ROUNDING, scale=scale * sizes)


# Surfaces on which a point mass is held


def test_a_point_on_a_gimbal_moves_on_a_sphere(same):
    """m r² (cos²φ dθ² + dφ²): K = 1/(m r²), positive everywhere."""
    m, r = 1.7, 0.6
    robot = chain(("revolute", Z, Inertia.zero()), ("revolute", -Y, Inertia.point(m, (r, 0, 0))))
    q = configurations(robot)
    c, s = np.cos(q[:, 1]), np.sin(q[:, 1])
    M = torsor.mass_matrix(robot, q)
    same(M[:, 0, 0], m * r**2 * c**2, ROUNDING)
    Gamma = torsor.geometry.christoffel_symbols(robot, q)
    want = np.zeros((20, 2, 2, 2))
    want[:, 0, 0, 1] = m * r**2 * s * c
    want[:, 0, 1, 0] = want[:, 1, 0, 0] = -m * r**2 * s * c
    same(Gamma, want, ROUNDING)
    second = torsor.geometry.christoffel_symbols_second_kind(robot, q)
    same(second[:, 0, 0, 1], s * c, ROUNDING)
    same(second[:, 0, 1, 0], -s / c, ROUNDING, scale=10.0)
    assert_has_curvature(robot, q, np.full(20, 1 / (m * r**2)), same)


def test_a_point_on_an_arm_that_turns_out_of_plane_moves_on_a_torus(same):
    """m ((R + r cos φ)² dθ² + r² dφ²): K = cos φ / (m r (R + r cos φ)), positive outside and negative inside."""
    m, R, r = 0.8, 1.1, 0.4
    robot = chain(
        ("revolute", Z, Inertia.zero()), ("revolute", -Y, Inertia.point(m, (r, 0, 0))), offsets=[(0, 0, 0), (R, 0, 0)]
    )
    q = configurations(robot) + np.array([0.0, 1.0])
    c = np.cos(q[:, 1])
    assert c.min() < -0.3 < 0.3 < c.max()
    assert_has_curvature(robot, q, c / (m * r * (R + r * c)), same)


def test_a_point_on_a_cylinder_or_a_cone_is_on_paper(same):
    """Both unroll: K = 0, though on the cone Christoffel symbols are not."""
    body = Inertia.point(1.3, (0.7, 0, 0))
    for axis in (Z, X + Z):
        robot = chain(("revolute", Z, Inertia.zero()), ("prismatic", axis, body))
        q = configurations(robot)
        assert_has_curvature(robot, q, np.zeros(20), same)
        assert np.abs(torsor.geometry.christoffel_symbols(robot, q)).max() > 0.1 or axis is Z


def test_spherical_coordinates_are_those_of_flat_space(same):
    """A point mass on turn, tilt and slide: R = 0 with the textbook's Γ^r_θθ = −r cos²φ, Γ^r_φφ = −r, Γ^θ_rθ = 1/r."""
    robot = chain(
        ("revolute", Z, Inertia.zero()), ("revolute", -Y, Inertia.zero()), ("prismatic", X, Inertia.point(0.9))
    )
    q = configurations(robot) + np.array([0.0, 0.0, 2.0])
    r, c, s = q[:, 2], np.cos(q[:, 1]), np.sin(q[:, 1])
    second = torsor.geometry.christoffel_symbols_second_kind(robot, q)
    want = np.zeros((20, 3, 3, 3))
    want[:, 0, 0, 2], want[:, 1, 1, 2], want[:, 0, 0, 1] = -r * c**2, -r, s * c
    want[:, 0, 1, 0] = want[:, 1, 0, 0] = -s / c
    for k in (0, 1):
        want[:, k, 2, k] = want[:, 2, k, k] = 1 / r
    same(second, want, ROUNDING, scale=1e2)  # cond M
    M_inverse = np.abs(torsor.dynamics.inverse_mass_matrix(robot, q)).max()
    same(torsor.geometry.riemann_curvature(robot, q), np.zeros((20, 3, 3, 3, 3)), ROUNDING, scale=10.0)
    same(torsor.geometry.scalar_curvature(robot, q), np.zeros(20), ROUNDING, scale=10.0 * M_inverse**2)


# Arms of two joints


def test_the_planar_2r_arm_has_the_curvature_of_its_three_moments(same):
    """M = [[a + 2 b cos q₂, c + b cos q₂], [·, c]]: R_0101 = b cos q₂ (a c − b² − c²)/det M; flat where q₂ = ±π/2."""
    m1, m2, l1, r1, r2, I1, I2 = 1.3, 0.7, 0.9, 0.4, 0.3, 0.11, 0.05

    def body(mass: float, at: float, moment: float) -> Inertia:
        return Inertia(mass, (at, 0, 0), np.diag([moment, moment, moment]))

    robot = chain(("revolute", Z, body(m1, r1, I1)), ("revolute", Z, body(m2, r2, I2)), offsets=[(0, 0, 0), (l1, 0, 0)])
    a, b, c = I1 + m1 * r1**2 + I2 + m2 * (l1**2 + r2**2), m2 * l1 * r2, I2 + m2 * r2**2
    q = configurations(robot)
    q[0, 1], q[1, 1] = np.pi / 2, -np.pi / 2
    cos, sin = np.cos(q[:, 1]), np.sin(q[:, 1])
    M = torsor.mass_matrix(robot, q)
    same(M[:, 0, 0], a + 2 * b * cos, ROUNDING)
    same(M[:, 0, 1], c + b * cos, ROUNDING)
    Gamma = np.zeros((20, 2, 2, 2))
    Gamma[:, 0, 0, 1] = b * sin
    Gamma[:, 0, 1, 0] = Gamma[:, 1, 0, 0] = Gamma[:, 1, 1, 0] = -b * sin
    same(torsor.geometry.christoffel_symbols(robot, q), Gamma, ROUNDING)
    dGamma = np.zeros((20, 2, 2, 2, 2))
    dGamma[:, 1, 0, 0, 1] = b * cos
    dGamma[:, 1, 0, 1, 0] = dGamma[:, 1, 1, 0, 0] = dGamma[:, 1, 1, 1, 0] = -b * cos
    same(np.moveaxis(torsor.geometry.christoffel_symbols_derivative(robot, q), -1, -4), dGamma, ROUNDING)
    det = a * c - c**2 - b**2 * cos**2
    assert_has_curvature(robot, q, b * cos * (a * c - b**2 - c**2) / det**2, same)


def test_a_2r_arm_of_point_masses_is_flat_without_the_first(same):
    """With m₁ = 0 the joints are coordinates of the plane in which the only mass moves: a c − b² − c² = 0."""
    q = configurations(torsor.robots.planar2r())
    q[:, 1] += np.where(q[:, 1] > 0, 0.5, -0.5)  # where the arm is stretched M would be singular
    flat, curved = (torsor.robots.planar2r(masses=(m, 0.7), lengths=(0.9, 0.6)) for m in (0.0, 1.3))
    assert_has_curvature(flat, q, np.zeros(20), same)
    b, c = 0.7 * 0.9 * 0.6, 0.7 * 0.6**2
    a = 1.3 * 0.9**2 + 0.7 * (0.9**2 + 0.6**2)
    cos = np.cos(q[:, 1])
    K = b * cos * (a * c - b**2 - c**2) / (a * c - c**2 - b**2 * cos**2) ** 2
    assert_has_curvature(curved, q, K, same)
    assert np.all(np.sign(K) == np.sign(cos))  # bent less than a right angle: positive


def test_the_cart_and_pole_are_flat_though_their_mass_matrix_is_not_constant(same):
    robot = torsor.robots.cart_pole(cart=1.4, pole=0.3, length=0.8)
    q = configurations(robot)
    assert np.abs(np.moveaxis(torsor.geometry.mass_matrix_derivative(robot, q), -1, -3)).max() > 0.1
    assert_has_curvature(robot, q, np.zeros(20), same)


def test_the_polar_arm_has_negative_curvature(same):
    """(I₀ + m r²) dθ² + m dr²: R_0101 = −I₀ m/(I₀ + m r²)."""
    I0, m = 0.4, 1.6
    turn = Inertia(1.0, (0, 0, 0), np.diag([I0 / 2, I0 / 2, I0]))
    robot = chain(("revolute", Z, turn), ("prismatic", X, Inertia.point(m)))
    q = configurations(robot)
    r = q[:, 1]
    same(torsor.geometry.riemann_curvature(robot, q)[:, 0, 1, 0, 1], -I0 * m / (I0 + m * r**2), ROUNDING)
    assert_has_curvature(robot, q, -I0 / (I0 + m * r**2) ** 2, same)


# Three joints and more


@pytest.mark.parametrize("kind", ["a spherical joint", "three hinges"])
def test_the_rotations_of_a_ball_are_a_sphere_of_three_dimensions(kind, same):
    """Moment I in every direction: K = 1/(4 I) in every plane, scalar 6 K, Ric = 2 K M, norm 2 √3 K (the bound's equality)."""
    I = 0.3
    ball = Inertia(1.0, (0, 0, 0), I * np.eye(3))
    if kind == "a spherical joint":
        robot = torsor.assemble([Joint(name="ball", kind="spherical", inertia=ball)])
        q = torsor.random_configuration(robot, seed=0, batch=(20,))
    else:
        robot = chain(("revolute", X, Inertia.zero()), ("revolute", Y, Inertia.zero()), ("revolute", Z, ball))
        q = configurations(robot)
    K, M = 1 / (4 * I), torsor.mass_matrix(robot, q)
    terms = 30 / I  # within 1.3 rad the inverse of M is at most 14/I, and cond M below 30
    same(torsor.geometry.scalar_curvature(robot, q), np.full(20, 6 * K), ROUNDING, scale=terms)
    same(torsor.geometry.curvature_norm(robot, q), np.full(20, 2 * np.sqrt(3) * K), ROUNDING, scale=terms)
    same(torsor.geometry.ricci_curvature(robot, q), 2 * K * M, ROUNDING, scale=terms)
    u, w = np.random.default_rng(1).normal(size=(2, 20, 3))
    same(
        torsor.geometry.sectional_curvature(robot, q, u, w), np.full(20, K), ROUNDING, scale=100 * terms
    )  # thin planes
    R = K * (np.einsum("...ik,...jl->...ijkl", M, M) - np.einsum("...il,...jk->...ijkl", M, M))
    same(torsor.geometry.riemann_curvature(robot, q), R, ROUNDING, scale=terms)


def test_two_robots_side_by_side_bend_no_plane_between_them(same):
    """The metric is a product: R is that of each, and zero with indices of both; curvatures add."""
    one, other = (
        torsor.robots.planar2r(masses=(1.3, 0.7)),
        torsor.robots.planar2r(masses=(0.4, 1.1), lengths=(0.5, 0.8)),
    )
    joints = []
    for k, robot in enumerate((one, other)):
        joints += disassemble(robot.rename({name: f"{name} of {k}" for name in {*robot.joints, *robot.links}}))
    both = torsor.assemble(joints)
    q = configurations(both)
    order = [both.v_slice(f"{name} of {k}").start for k, robot in enumerate((one, other)) for name in robot.joints]
    parts = q[:, order[:2]], q[:, order[2:]]
    want = np.zeros((20, 4, 4, 4, 4))
    for robot, part, rows in ((one, parts[0], order[:2]), (other, parts[1], order[2:])):
        want[(slice(None), *np.ix_(rows, rows, rows, rows))] = torsor.geometry.riemann_curvature(robot, part)
    same(torsor.geometry.riemann_curvature(both, q), want, ROUNDING, scale=1.0 + np.abs(want).max())
    scalars = [torsor.geometry.scalar_curvature(robot, part) for robot, part in zip((one, other), parts, strict=True)]
    same(torsor.geometry.scalar_curvature(both, q), scalars[0] + scalars[1], ROUNDING, scale=100.0)
    e = np.eye(4)
    across = torsor.geometry.sectional_curvature(both, q, e[order[0]], e[order[2]])
    same(across, np.zeros(20), ROUNDING, scale=100.0)


# Other derivatives


def test_sympy_finds_the_same_symbols_and_curvature(same):
    """The exported mass matrix of a chain with a hinge, a screw and a slide, differentiated by SymPy."""
    sympy = pytest.importorskip("sympy")
    robot = torsor.robots.random_tree(3, seed=25, kinds=("revolute", "helical", "prismatic"), serial=True)
    assert len(set(robot.structure.kinds)) == 3
    M = torsor.compile(torsor.mass_matrix, robot).to_sympy()["M"]
    symbols = sympy.symbols("q_0:3", real=True)
    first = [[[sympy.diff(M[i, j], k) for j in range(3)] for i in range(3)] for k in symbols]
    second = [[[[sympy.diff(x, l) for x in row] for row in matrix] for matrix in first] for l in symbols]
    evaluate = sympy.lambdify(symbols, [M.tolist(), first, second], modules="numpy", cse=True)
    for q in configurations(robot, 3):
        numbers = [np.array(x, float) for x in evaluate(*q)]
        Gamma, R = from_derivatives(*numbers)
        same(np.moveaxis(torsor.geometry.mass_matrix_derivative(robot, q), -1, -3), numbers[1], ROUNDING)
        same(
            np.moveaxis(torsor.geometry.mass_matrix_second_derivative(robot, q), (-1, -2), (-4, -3)),
            numbers[2],
            ROUNDING,
        )
        same(torsor.geometry.christoffel_symbols(robot, q), Gamma, ROUNDING)
        same(torsor.geometry.riemann_curvature(robot, q), R, ROUNDING, scale=np.abs(numbers[0]).max())


@pytest.mark.usefixtures("jax_in_doubles")
def test_jax_finds_the_same_derivatives_and_curvature_of_the_panda(same):
    """Of the mass matrix as a product of three matrices, for XLA takes three times as long to compile the recursion."""
    import jax

    robot = torsor.robots.panda()
    q = torsor.random_configuration(robot, seed=0)

    def with_value(q):
        M = torsor.papers.closed_form(robot, q).mass_matrix
        return M, M

    def with_both(q):
        dM, M = jax.jacfwd(with_value, has_aux=True)(q)
        return dM, (M, dM)

    d2M, (M, dM) = jax.jit(jax.jacfwd(with_both, has_aux=True))(q)  # compiled once for all three
    M, dM, d2M = np.asarray(M), np.moveaxis(np.asarray(dM), -1, 0), np.transpose(np.asarray(d2M), (3, 2, 0, 1))
    same(np.moveaxis(torsor.geometry.mass_matrix_derivative(robot, q), -1, -3), dM, ROUNDING)
    same(np.moveaxis(torsor.geometry.mass_matrix_second_derivative(robot, q), (-1, -2), (-4, -3)), d2M, ROUNDING)
    Gamma, R = from_derivatives(M, dM, d2M)
    same(torsor.geometry.christoffel_symbols(robot, q), Gamma, ROUNDING)
    inverse = np.linalg.inv(M)
    terms = np.abs(M).max() + np.abs(np.einsum("ijr,rs,kls->ijkl", *map(np.abs, (Gamma, inverse, Gamma)))).max()
    same(torsor.geometry.riemann_curvature(robot, q), R, ROUNDING, scale=terms)
    Ricci = np.einsum("ik,ijkl->jl", inverse, R)
    same(torsor.geometry.ricci_curvature(robot, q), Ricci, ROUNDING, scale=terms * np.abs(inverse).max())
    scalar = np.einsum("jl,jl->", inverse, Ricci)
    same(torsor.geometry.scalar_curvature(robot, q), scalar, ROUNDING, scale=terms * np.abs(inverse).max() ** 2)


@pytest.mark.usefixtures("jax_in_doubles")
def test_jax_finds_the_same_derivatives_along_body_velocities(same):
    """d/dx_l of q ⊕ x at x = 0 is ∂_l, for joints whose velocities are body twists too: to rounding, unlike differences."""
    import jax
    import jax.numpy as jnp

    robot = torsor.robots.random_tree(2, seed=3, kinds=("planar", "spherical"), serial=True, armature=True)
    assert set(robot.structure.kinds) == {"planar", "spherical"}
    q = torsor.random_configuration(robot, seed=0)

    def tensors(x):
        there = torsor.integrate(robot, jnp.asarray(q), x, 1.0)
        return torsor.mass_matrix(robot, there), torsor.geometry.mass_matrix_derivative(robot, there)

    dM, d2M = (np.asarray(x) for x in jax.jit(jax.jacfwd(tensors))(jnp.zeros(robot.nv)))
    same(torsor.geometry.mass_matrix_derivative(robot, q), dM, ROUNDING)
    same(torsor.geometry.mass_matrix_second_derivative(robot, q), d2M, ROUNDING)
