"""Left-invariant metrics on SE(3) and other groups: the connection, its curvature, and the bodies and robots they belong to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from property_checks import assert_close, dot, times
from property_strategies import seeds, solid_bodies, vectors6

import torsor
from torsor import lie
from torsor.compiler.kernel import Kernel
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.geometry import left_invariant

GROUPS = {
    "SE(3)": None,
    "SO(3)": left_invariant.SO3,
    "SE(2)": left_invariant.SE2,
    "Abelian": np.zeros((4, 4, 4)),
}
E6 = np.eye(6)


def metric_of(seed: int, n: int = 6, batch: tuple[int, ...] = ()) -> np.ndarray:
    """Any symmetric positive definite matrix, of condition 100 at most."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(*batch, n, n)))[0]
    return np.einsum("...ij,...j,...kj->...ik", axes, 10.0 ** rng.uniform(-1, 1, (*batch, n)), axes)


metrics = seeds.map(metric_of)
pairs6 = seeds.map(lambda seed: np.random.default_rng(seed).normal(size=(2, 6)))


@st.composite
def groups(draw: st.DrawFn) -> tuple[np.ndarray | None, np.ndarray, np.random.Generator]:
    """Structure constants, and a batch of metrics on their group."""
    structure = GROUPS[draw(st.sampled_from(sorted(GROUPS)))]
    seed = draw(seeds)
    n = 6 if structure is None else len(structure)
    return structure, metric_of(seed, n, draw(st.sampled_from([(), (3,), (2, 2)]))), np.random.default_rng(seed)


def bracket(structure: np.ndarray | None, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    if structure is None:
        return lie.bracket(X, Y)
    return np.einsum("ijr,...i,...j->...r", structure, X, Y)


@given(groups())
def test_the_connection_has_no_torsion_and_keeps_lengths_which_no_other_does(case):
    structure, metric, rng = case
    Gamma = left_invariant.connection(metric, structure)
    s = left_invariant.SE3 if structure is None else structure
    assert_close(Gamma - np.swapaxes(Gamma, -3, -2), np.einsum("ijr,...rk->...ijk", s, metric), scale=metric)
    assert_close(Gamma, -np.swapaxes(Gamma, -1, -2), scale=metric)
    X, Y, rate = rng.normal(size=(3, *metric.shape[:-1]))
    along = left_invariant.covariant_derivative(metric, X, Y, structure=structure)
    assert_close(times(metric, along), np.einsum("...ijk,...i,...j->...k", Gamma, X, Y), 1e-11)
    assert_close(left_invariant.covariant_derivative(metric, X, Y, rate, structure), along + rate)
    back = left_invariant.covariant_derivative(metric, Y, X, structure=structure)
    assert_close(along - back, bracket(structure, X, Y), 1e-11, scale=along)


@given(groups())
def test_curvature_is_what_two_orders_of_differentiation_differ_by(case):
    """R(X, Y) Z = ∇_X ∇_Y Z − ∇_Y ∇_X Z − ∇_[X, Y] Z, paired with W, by covariant derivatives alone."""
    structure, metric, rng = case
    X, Y, Z, W = rng.normal(size=(4, *metric.shape[:-1]))

    def along(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        return left_invariant.covariant_derivative(metric, X, Y, structure=structure)

    R = left_invariant.riemann_curvature(metric, structure)
    twice = along(X, along(Y, Z)), along(Y, along(X, Z)), along(bracket(structure, X, Y), Z)
    expected = dot(times(metric, twice[0] - twice[1] - twice[2]), W)
    terms = max(float(np.abs(dot(times(metric, term), W)).max()) for term in twice)
    # A condition number of 100 multiplies the rounding of each inverse.
    assert_close(np.einsum("...ijkl,...i,...j,...k,...l->...", R, W, Z, X, Y), expected, 1e-11, scale=terms)


@given(groups())
def test_curvature_has_the_symmetries_of_a_curvature(case):
    structure, metric, _ = case
    R = left_invariant.riemann_curvature(metric, structure)
    for order, sign in (("jikl", -1.0), ("ijlk", -1.0), ("klij", 1.0)):
        assert_close(R, sign * np.einsum(f"...ijkl->...{order}", R), 1e-11)
    assert_close(
        R + np.einsum("...ijkl->...iklj", R) + np.einsum("...ijkl->...iljk", R), np.zeros_like(R), 1e-11, scale=R
    )


@given(groups())
def test_ricci_scalar_and_sectional_curvature_are_contractions_of_the_tensor(case):
    structure, metric, rng = case
    R = left_invariant.riemann_curvature(metric, structure)
    inverse = np.linalg.inv(metric)
    Ricci = np.einsum("...ik,...ijkl->...jl", inverse, R)
    assert_close(left_invariant.ricci_curvature(metric, structure), Ricci, 1e-11, scale=R)
    scale = np.abs(inverse).max() * np.abs(Ricci).max()
    scalar = left_invariant.scalar_curvature(metric, structure)
    assert_close(scalar, np.einsum("...jl,...jl->...", inverse, Ricci), 1e-11, scale=scale)
    X, Y = rng.normal(size=(2, *metric.shape[:-1]))
    XX, XY, YY = dot(X, times(metric, X)), dot(X, times(metric, Y)), dot(Y, times(metric, Y))
    expected = np.einsum("...ijkl,...i,...j,...k,...l->...", R, X, Y, X, Y) / (XX * YY - XY**2)
    assert_close(left_invariant.sectional_curvature(metric, X, Y, structure), expected, 1e-10, scale=R)


@given(groups())
def test_a_geodesic_accelerates_by_minus_the_derivative_of_its_velocity_along_itself(case):
    structure, metric, rng = case
    V = rng.normal(size=metric.shape[:-1])
    V_dot = left_invariant.geodesic_acceleration(metric, V, structure)
    # A condition number of 100 multiplies the rounding.
    rest = left_invariant.covariant_derivative(metric, V, V, V_dot, structure)
    assert_close(rest, np.zeros_like(rest), 1e-11, scale=V_dot)
    assert_close(dot(V_dot, times(metric, V)), np.zeros(V.shape[:-1]), 1e-11, scale=V_dot)  # the energy stays


@given(metrics, pairs6, vectors6)
def test_curvature_does_not_depend_on_the_frame_in_which_twists_are_written(metric, plane, S):
    X, Y = plane
    A = lie.Ad(lie.se3.exp(0.5 * S))
    seen = A.T @ metric @ A  # twists X = A X′
    K = left_invariant.sectional_curvature(metric, A @ X, A @ Y)
    scale = np.abs(left_invariant.riemann_curvature(metric)).max() * np.linalg.cond(A) ** 2
    assert_close(left_invariant.sectional_curvature(seen, X, Y), K, 1e-10, scale=scale)


# Rigid bodies and the robots they are


def one_joint(kind: str, inertia: torsor.Inertia) -> torsor.Robot:
    return torsor.assemble([torsor.Joint(name="joint", kind=kind, parent="base", link="body", inertia=inertia)])


@pytest.mark.parametrize(
    ("kind", "freedoms", "structure"),
    [
        ("free", slice(6), None),
        ("spherical", slice(3), left_invariant.SO3),
        ("planar", slice(2, 5), left_invariant.SE2),
    ],
)
@given(body=solid_bodies, seed=seeds)
def test_a_robot_of_one_body_has_the_geometry_of_its_inertia(kind, freedoms, structure, body, seed):
    """The same tensors, at every configuration: the kinetic energy of a body is a left-invariant metric."""
    robot, metric = one_joint(kind, body), body.matrix[freedoms, freedoms]
    q, v, _ = torsor.random_state(robot, seed=seed)
    condition = np.linalg.cond(metric)
    Gamma, R = left_invariant.connection(metric, structure), left_invariant.riemann_curvature(metric, structure)
    assert_close(torsor.geometry.christoffel_symbols(robot, q), Gamma, 1e-13)
    terms = np.einsum("ijr,rs,kls->ijkl", np.abs(Gamma), np.abs(np.linalg.inv(metric)), np.abs(Gamma))
    assert_close(torsor.geometry.riemann_curvature(robot, q), R, 1e-15 * condition, scale=terms)
    V_dot = left_invariant.geodesic_acceleration(metric, v, structure)
    assert_close(torsor.geometry.geodesic_acceleration(robot, q, v), V_dot, 1e-15 * condition)
    if kind == "free":
        assert_close(V_dot, torsor.papers.rigid_body.free_acceleration(body.row, v), 1e-15 * condition)


# Metrics of SE(3)


def planes(metric: np.ndarray) -> np.ndarray:
    """Sectional curvatures (6, 6) of the planes of the unit twists, zero on the diagonal."""
    K = np.zeros((6, 6))
    i, j = np.triu_indices(6, 1)
    K[i, j] = K[j, i] = left_invariant.sectional_curvature(metric, E6[i], E6[j])
    return K


def on_rotations(K: np.ndarray) -> np.ndarray:
    table = np.zeros((6, 6))
    table[:3, :3] = K - np.diag(np.diag(K))
    return table


@given(pairs6)
def test_the_identity_metric_bends_planes_of_rotations_alone(plane):
    """(SE(3), I): ¼ on the planes of so(3), 0 on all of ω–v and v–v; ¼ |ω_X × ω_Y|² over the area on any plane."""
    assert_close(planes(E6), on_rotations(np.full((3, 3), 0.25)))
    X, Y = plane
    area = (X @ X) * (Y @ Y) - (X @ Y) ** 2
    K = 0.25 * np.sum(np.cross(X[:3], Y[:3]) ** 2) / area
    assert_close(left_invariant.sectional_curvature(E6, X, Y), K, 1e-11)
    assert_close(left_invariant.scalar_curvature(E6), 1.5)


@given(seeds)
def test_the_curvature_of_a_rigid_body_is_that_of_its_rotations(seed):
    """At the centre of mass and along principal axes, with the closed form for SO(3); some planes are negative."""
    rng = np.random.default_rng(seed)
    I, m = rng.uniform(0.1, 2.0, 3), rng.uniform(0.1, 2.0)
    metric = np.diag([*I, m, m, m])
    a, b, c = I[:, None], I[None, :], I.sum() - I[:, None] - I[None, :]  # c: the third moment, off the diagonal
    with np.errstate(divide="ignore"):
        K = ((a - b) ** 2 + 2 * c * (a + b) - 3 * c**2) / (4 * a * b * c)
    assert_close(planes(metric), on_rotations(np.where(np.eye(3) == 1, 0.0, K)), 1e-11)


def test_a_flat_body_spun_in_its_plane_has_negative_curvature():
    K = planes(np.diag([0.3, 0.4, 0.5, 2.0, 2.0, 2.0]))
    assert_close(K[0, 1], -1 / 6)
    assert K[0, 2] > 0
    assert K[1, 2] > 0


@given(vectors6, vectors6, st.floats(0.1, 10.0), st.floats(0.1, 10.0))
def test_the_double_geodesic_connection_belongs_to_all_metrics_that_weigh_turning_and_moving_apart(X, Y, alpha, beta):
    metric = np.diag([alpha] * 3 + [beta] * 3)
    along = left_invariant.double_geodesic_connection(X, Y)
    assert_close(left_invariant.covariant_derivative(metric, X, Y), along)
    assert_close(along - left_invariant.double_geodesic_connection(Y, X), lie.bracket(X, Y))
    assert_close(planes(metric), on_rotations(np.full((3, 3), 0.25 / alpha)))
    # Y keeps its length along X: ⟨∇_X Y, Y⟩ = 0.
    assert_close(along @ metric @ Y, 0.0, 1e-11, scale=metric)


@given(vectors6)
def test_a_double_geodesic_turns_about_a_fixed_axis_and_moves_on_a_straight_line(V):
    """ω̇ = 0 and v̇ = −ω × v: the origin's velocity R v is constant in space."""
    V_dot = left_invariant.geodesic_acceleration(E6, V)
    assert_close(V_dot, -left_invariant.double_geodesic_connection(V, V))
    assert_close(V_dot[:3], np.zeros(3))
    assert_close(V_dot[3:] + np.cross(V[:3], V[3:]), np.zeros(3))


# One source, any array


FUNCTIONS = {
    "sectional": lambda metric, X, Y: left_invariant.sectional_curvature(metric, X, Y, left_invariant.SE2),
    "ricci": lambda metric, X, Y: left_invariant.ricci_curvature(metric, left_invariant.SE2),
    "along": lambda metric, X, Y: left_invariant.covariant_derivative(metric, X, Y, Y, left_invariant.SE2),
    "free": lambda metric, X, Y: left_invariant.geodesic_acceleration(metric, X, left_invariant.SE2),
    "apart": lambda metric, X, Y: left_invariant.double_geodesic_connection(
        *(np.vstack([np.eye(3)] * 2) @ V for V in (X, Y))
    ),
}


def test_jax_and_traced_arrays_give_the_same(jax_in_doubles):
    """On SE(2), for XLA takes seconds for the curvature of SE(3)."""
    metric, X, Y = metric_of(1, 3), *np.random.default_rng(2).normal(size=(2, 3))
    expected = {name: f(metric, X, Y) for name, f in FUNCTIONS.items()}
    everything = trace(
        lambda **given: {name: f(**given) for name, f in FUNCTIONS.items()},
        {"metric": (3, 3), "X": (3,), "Y": (3,)},
        Level.FULL,
    )
    traced = Kernel("everything", everything)(metric, X, Y)
    in_jax = jax_in_doubles.jit(lambda *given: {name: f(*given) for name, f in FUNCTIONS.items()})(metric, X, Y)
    for name, value in expected.items():
        assert_close(traced[name], value, 1e-11)
        assert_close(in_jax[name], value, 1e-11)


def test_parallel_velocities_span_no_plane():
    assert np.isnan(left_invariant.sectional_curvature(E6, E6[0], 2 * E6[0]))


@given(metrics, pairs6, st.floats(-5.0, 5.0))
def test_velocities_that_are_parallel_but_for_rounding_span_no_plane(metric, pair, factor):
    X, Y = pair
    assert np.isnan(left_invariant.sectional_curvature(metric, X, factor * X))
    assert np.isfinite(left_invariant.sectional_curvature(metric, X, X + 1e-4 * Y))


REFUSED = {
    "asymmetric": (
        np.eye(6) + 0.1 * np.eye(6)[[1, 2, 3, 4, 5, 0]],
        r"symmetric, .*\[0, 1\] and \[1, 0\] are 0\.1 and 0\.",
    ),
    "indefinite": (np.diag([1.0, 1.0, -1.0, 1.0, 1.0, 1.0]), "positive definite, .* is -1"),
    "indefinite with a positive diagonal": (
        np.eye(6) + 2.0 * np.eye(6)[[1, 0, 2, 3, 4, 5]] * (np.eye(6) == 0),
        "definite",
    ),
    "point mass": (torsor.Inertia.point(1.0, (0.3, 0.0, 0.0)).matrix, "positive definite.*point mass"),
    "nothing": (np.zeros((6, 6)), "positive definite"),
    "one of many": (np.stack([np.eye(6), -np.eye(6)]), "positive definite"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_metric_is_refused(name):
    metric, message = REFUSED[name]
    X, Y = E6[0], E6[1]
    for function, rest in (
        (left_invariant.connection, ()),
        (left_invariant.covariant_derivative, (X, Y)),
        (left_invariant.geodesic_acceleration, (X,)),
        (left_invariant.riemann_curvature, ()),
        (left_invariant.ricci_curvature, ()),
        (left_invariant.scalar_curvature, ()),
        (left_invariant.sectional_curvature, (X, Y)),
    ):
        with pytest.raises(torsor.ModelError, match=message):
            function(metric, *rest)


def test_small_parts_of_a_metric_are_no_reason_to_refuse_it():
    """Moments of inertia in kg·m² of a body of a millimetre are a millionth of its mass in kg."""
    assert np.isfinite(left_invariant.scalar_curvature(np.diag([1e-12, 2e-12, 2e-12, 1.0, 1.0, 1.0])))
    assert np.isnan(left_invariant.scalar_curvature(np.full((6, 6), np.nan)))


def test_a_metric_of_another_group_asks_for_its_structure():
    with pytest.raises(torsor.ShapeError, match=r"\(\.\.\., 6, 6\) for SE\(3\).*structure"):
        left_invariant.connection(np.eye(3))
    with pytest.raises(torsor.ShapeError, match=r"\(\.\.\., 3, 3\) for these structure constants"):
        left_invariant.riemann_curvature(np.eye(6), left_invariant.SO3)


THREE, SIX = np.ones(3), np.ones(6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: left_invariant.minus_connection(SIX, THREE), r"minus_connection: `Y` must have shape \(\.\.\., 6\)"),
        (
            lambda: left_invariant.minus_connection(SIX, SIX, [1.0]),
            r"minus_connection: `Y_rate` must have shape \(\.\.\., 6\)",
        ),
        (
            lambda: left_invariant.minus_torsion(THREE, THREE),
            r"minus_torsion: `X` must have shape \(\.\.\., 6\), .*got \(3,\)",
        ),
        (
            lambda: left_invariant.minus_torsion(THREE, THREE, np.eye(3)),
            r"`structure` must have shape \(n, n, n\), got \(3, 3\)",
        ),
        (
            lambda: left_invariant.covariant_derivative(np.eye(6), THREE, SIX),
            "covariant_derivative: `X` must have shape",
        ),
        (lambda: left_invariant.geodesic_acceleration(np.eye(6), THREE), "geodesic_acceleration: `V` must have shape"),
        (lambda: left_invariant.sectional_curvature(np.eye(6), SIX, THREE), "sectional_curvature: `Y` must have shape"),
        (lambda: left_invariant.sectional_curvature(np.eye(5), SIX, SIX), "`metric` must have shape"),
    ],
)
def test_vectors_and_constants_of_other_sizes_are_refused(call, message):
    with pytest.raises(torsor.ShapeError, match=message):
        call()
