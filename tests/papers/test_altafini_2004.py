"""Altafini, Redundant robotic chains on Riemannian submersions (2004): equations (2) to (12), and the metrics of II.B."""

import json
from pathlib import Path

import by_hand
import numpy as np
import pytest
from by_hand import DIFFERENCED, Ad, assert_close, assert_differs, motion, product, vee

import torsor
from torsor.geometry import left_invariant
from torsor.motion import flat_coordinates, is_flat, transport_factor

inv = np.linalg.inv
INTEGRATED = 1e-9  # tolerance 1e-10 of N and φ, summed over the steps of the integration
DIFFERENCED_PATH = 1e-7  # differences of step 1e-3 of something integrated: 1e-10/1e-3
DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def end_screws(chain):
    """V_i: all generators in the end-effector frame at home."""
    return np.array([Ad(inv(chain.tip)) @ A for A in chain.screws])


def test_1_2_forward_kinematics(chain, state, end_screws):
    """Alt04 (1), (2): g(q) = g(0) e^{V_1 q¹} ⋯ e^{V_n qⁿ}."""
    g = chain.tip @ product(motion(V, x) for V, x in zip(end_screws, state.q, strict=True))
    assert_close(torsor.kinematics.BodyForm(end_screws, chain.tip).pose(state.q), g)
    assert_close(torsor.frame_pose(chain.robot, state.q, "tip"), g)
    assert_close(torsor.kinematics.link_form(chain.robot, "tip").to_space().to_body().screws, end_screws)


def test_3_differential_forward_kinematics(chain, state):
    """Alt04 (3): X = J^b(q) q̇ is g⁻¹ ġ, and column i of J^b is g⁻¹ ∂g/∂q^i."""
    q, v, _ = state
    g = chain.between(q, 0, chain.n - 1) @ chain.tip
    rates, _ = by_hand.product_rates(chain.screws, q)
    columns = [vee(inv(g) @ rate @ chain.tip) for rate in rates]
    assert_close(torsor.body_jacobian(chain.robot, q, "tip"), np.transpose(columns))
    assert_close(torsor.kinematics.body_twist(chain.robot, q, v, "tip"), np.transpose(columns) @ v)


def test_4_columns_of_the_jacobian(chain, state, end_screws):
    """Alt04 (4), E004-1: Ad⁻¹ of g(0) e^{V_i q} ⋯ e^{V_n q} on ξ_i = Ad_{g(0)} V_i; with ξ_i = V_i only if g(0) = 1."""
    J = torsor.body_jacobian(chain.robot, state.q, "tip")
    E = [motion(V, x) for V, x in zip(end_screws, state.q, strict=True)]
    for i, V in enumerate(end_screws):
        back = Ad(inv(chain.tip @ product(E[i:])))
        assert_close(J[:, i], back @ Ad(chain.tip) @ V)
        assert_close(J[:, i], Ad(inv(product(E[i + 1 :]))) @ V)
        assert_differs(back @ V, J[:, i])


def test_5_lagrange_equations(chain, state):
    """Alt04 (5), E004-2: M q̈ + C q̇ + dV = τ with C_ij = M_ki Γ^k_jl q̇^l; the printed ½ halves it."""
    q, v, a = state
    M = torsor.mass_matrix(chain.robot, q)
    dM = by_hand.gradient(lambda q: torsor.mass_matrix(chain.robot, q), q)  # [i, j, k] = ∂M_ij/∂q^k
    lowered = 0.5 * (dM + np.einsum("ilj->ijl", dM) - np.einsum("jli->ijl", dM))  # [i, j, l], lowered index first
    second_kind = np.einsum("km,mjl->kjl", inv(M), lowered)  # Γ^k_jl
    C = np.einsum("ki,kjl,l->ij", M, second_kind, v)
    assert_close(torsor.coriolis_matrix(chain.robot, q, v), C, DIFFERENCED)
    dV = by_hand.gradient(lambda q: torsor.potential_energy(chain.robot, q), q)
    tau = torsor.inverse_dynamics(chain.robot, q, v, a)
    assert_close(tau, M @ a + C @ v + dV, DIFFERENCED)
    assert_differs(M @ a + 0.5 * C @ v + dV, tau)


def test_5_kinetic_energy_is_half_the_square_of_the_velocity(chain, state):
    """Alt04 §II.A, E004-4: T = ½ ⟨q̇, q̇⟩ with ⟨q̇, q̇⟩ = q̇ᵀ M q̇; printed T = ⟨q̇, q̇⟩ = ½ q̇ᵀ M q̇."""
    q, v, _ = state
    square = v @ torsor.mass_matrix(chain.robot, q) @ v
    energy = chain.kinetic_energy(q, v)
    assert_close(0.5 * square, energy)
    assert_close(torsor.kinetic_energy(chain.robot, q, v), energy)
    assert_differs(square, energy)


def test_5_coriolis_matrix_by_christoffel_symbols(chain, state):
    """Alt04 (5), E004-2: C_ij = M_ki Γ^k_jl q̇^l, without the printed ½."""
    q, v, _ = state
    M, Gamma = torsor.mass_matrix(chain.robot, q), torsor.geometry.christoffel_symbols_second_kind(chain.robot, q)
    C = np.einsum("ki,jlk,l->ij", M, Gamma, v)
    assert_close(C, np.einsum("lji,l->ij", chain.christoffel(q), v), 1e-11)
    assert_close(torsor.coriolis_matrix(chain.robot, q, v), C, 1e-11)
    assert_differs(0.5 * C, torsor.coriolis_matrix(chain.robot, q, v))


def test_6_equations_with_raised_index(chain, state):
    """Alt04 (6): q̈^k + Γ^k_ij q̇^i q̇^j = M^kj (τ_j − dV_j)."""
    q, v, a = state
    tau = chain.torques(q, v, a)
    Gamma = torsor.geometry.christoffel_symbols_second_kind(chain.robot, q)
    M_inverse, dV = torsor.dynamics.inverse_mass_matrix(chain.robot, q), torsor.gravity_forces(chain.robot, q)
    assert_close(a + np.einsum("ijk,i,j->k", Gamma, v, v), M_inverse @ (tau - dV), 1e-10)


def test_7_covariant_acceleration(chain, state):
    """Alt04 (7): ∇_q̇ q̇ = M⁻¹ (τ − dV), and 0 on a geodesic; ∇ has no torsion, Γ^k_ij = Γ^k_ji."""
    q, v, a = state
    tau = chain.torques(q, v, a)
    forced = torsor.dynamics.inverse_mass_matrix(chain.robot, q) @ (tau - torsor.gravity_forces(chain.robot, q))
    assert_close(torsor.geometry.covariant_derivative(chain.robot, q, v, v, a), forced, 1e-10)
    free = torsor.geometry.geodesic_acceleration(chain.robot, q, v)
    assert_close(torsor.geometry.covariant_derivative(chain.robot, q, v, v, free), np.zeros(chain.n), 1e-10)
    Gamma = torsor.geometry.christoffel_symbols_second_kind(chain.robot, q)
    assert_close(Gamma, np.swapaxes(Gamma, 0, 1), 1e-11)


# Flat chains: §II.A from (8) on


def two_point_masses():
    data = next(r for r in json.loads((DATA / "golden.json").read_text())["robots"] if r["name"].startswith("flat6R"))
    inertias = [torsor.Inertia(link["mass"], link["com"], link["inertia_com"]) for link in data["links"]]
    homes, screws = [link["home"] for link in data["links"]], [joint["screw"] for joint in data["joints"]]
    return torsor.serial_chain(screws, homes, inertias, name=data["name"]), np.array(data["states"][0]["q"])


FLAT = {
    "cart-pole": (torsor.robots.cart_pole(cart=1.0, pole=1.0, length=0.8), np.array([0.1, 0.7])),
    "2R": (torsor.robots.planar_chain([0.5, 0.4], [0.0, 1.0]), np.array([0.3, 0.9])),
    "6R": two_point_masses(),
}


@pytest.fixture(params=FLAT)
def flat(request):
    """A flat chain in its flat coordinates; q0 is not where they are looked at."""
    robot, q = FLAT[request.param]
    return flat_coordinates(robot, q - 0.1)


@pytest.fixture
def at(flat):
    """A configuration and two velocities of ``flat``."""
    v, w = np.random.default_rng(12).normal(size=(2, flat.robot.nv))
    return by_hand.State(flat.q0 + 0.1, v, w)


def spectral_factor(M):
    """D₁ P of the printed text: rows are eigenvectors times roots of eigenvalues, with one sign for all q nearby."""
    values, vectors = np.linalg.eigh(M)
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(M))])
    return np.sqrt(values)[:, None] * vectors.T


def closedness(factor, q):
    """∂_k N_aj − ∂_j N_ak by differences: zero if and only if the rows of N are gradients."""
    dN = by_hand.gradient(factor, q)
    return dN - np.swapaxes(dN, 1, 2)


@pytest.mark.compiled
def test_8_isometry_keeps_inner_products(flat, at):
    """Alt04 (8), (11): ⟨X, Y⟩ = ⟨φ_* X, φ_* Y⟩."""
    q, X, Y = at
    M = torsor.mass_matrix(flat.robot, q)
    assert_close(flat.velocity(q, X) @ flat.velocity(q, Y), X @ M @ Y, INTEGRATED)


@pytest.mark.compiled
def test_9_an_isometry_to_euclidean_space_exists_for_flat_chains(flat, at):
    """Alt04 (9): φ with φ_* = N, NᵀN = M; all Γ̃ = 0: ∂_k N_aj = N_ar Γ^r_kj."""
    assert is_flat(flat.robot)
    q, n = at.q, flat.robot.nv
    N = flat.jacobian(q)
    assert_close(N.T @ N, torsor.mass_matrix(flat.robot, q), INTEGRATED)
    assert_close(by_hand.gradient(flat.phi, q), N, DIFFERENCED_PATH)
    Gamma = torsor.geometry.christoffel_symbols_second_kind(flat.robot, q)
    dN = by_hand.gradient(flat.jacobian, q)  # [a, j, k]
    assert_close(dN - np.einsum("ar,kjr->ajk", N, Gamma), np.zeros((n, n, n)), DIFFERENCED_PATH)


def test_9_no_isometry_exists_for_curved_chains(chain):
    """Alt04 (9): the assumption of flatness is needed, and not met by chains at large."""
    assert not is_flat(chain.robot)
    with pytest.raises(torsor.ModelError, match="is curved"):
        flat_coordinates(chain.robot, np.zeros(chain.n))


@pytest.mark.compiled
def test_9_the_spectral_factor_is_no_jacobian(flat, at):
    """Alt04 §II.A, E004-3: N = D₁P has NᵀN = M, but its rows are not closed, so no φ has it as its Jacobian."""
    printed = spectral_factor(torsor.mass_matrix(flat.robot, at.q))
    assert_close(printed.T @ printed, torsor.mass_matrix(flat.robot, at.q))
    curl = closedness(lambda q: spectral_factor(torsor.mass_matrix(flat.robot, q)), at.q)
    assert_differs(curl, np.zeros_like(curl))
    assert_close(closedness(flat.jacobian, at.q), np.zeros_like(curl), DIFFERENCED_PATH)
    # What makes it one is an orthogonal matrix that depends on q.
    O = flat.jacobian(at.q) @ inv(printed)
    assert_close(O @ O.T, np.eye(flat.robot.nv), INTEGRATED)


def defect_around_a_square(robot, q):
    """What N differs by from itself after the way around a square of side 0.3, carried by dN = N Γ dq."""
    a, b = 0.3 * np.eye(robot.nv)[:2]
    N = transport_factor(robot, [q, q + a, q + a + b, q + b, q], tolerance=1e-12).N
    return N[-1] - N[0]


@pytest.mark.compiled
def test_9_the_factor_of_a_flat_chain_does_not_depend_on_the_path(flat):
    """Alt04 §II.A, E004-3: dN = N Γ dq can be integrated to a function of q if and only if R = 0."""
    assert_close(defect_around_a_square(flat.robot, flat.q0), np.zeros((flat.robot.nv,) * 2), 1e-11)


def test_9_the_factor_of_a_curved_chain_depends_on_the_path():
    """Alt04 §II.A, E004-3: the defect is far from rounding."""
    curved = defect_around_a_square(by_hand.random_chain("RPR", seed=3).robot, np.full(3, 0.4))
    assert_differs(curved, np.zeros((3, 3)))


@pytest.mark.compiled
def test_10_the_connection_pushed_forward(flat, at):
    """Alt04 (10): ∇̃_{φ_*X} (φ_*Y) = φ_* (∇_X Y); the left side is a plain derivative, for Γ̃ = 0."""
    q, X, _ = at
    A = np.random.default_rng(3).normal(size=(flat.robot.nv,) * 2)

    def field(q):
        return A @ np.sin(q)

    pushed = by_hand.derivative(lambda t: flat.velocity(q + t * X, field(q + t * X)))
    along = torsor.geometry.covariant_derivative(flat.robot, q, X, field(q), A @ (np.cos(q) * X))
    assert_close(pushed, flat.velocity(q, along), DIFFERENCED_PATH)


@pytest.mark.compiled
def test_11_lengths_are_kept(flat, at):
    """Alt04 (11): ⟨q̃̇, q̃̇⟩ = q̇ᵀ Nᵀ N q̇ = ⟨q̇, q̇⟩, twice the kinetic energy."""
    q, v, _ = at
    moved = by_hand.derivative(lambda t: flat.phi(q + t * v))
    assert_close(moved @ moved, 2 * torsor.kinetic_energy(flat.robot, q, v), DIFFERENCED_PATH)


@pytest.mark.compiled
def test_11_the_full_transformation(flat, at):
    """Alt04 §II.A: {q̃, ṽ, τ̃} = {φ(q), N v, N⁻ᵀ τ}, of the same power."""
    q, v, tau = at
    N, state = flat.jacobian(q), flat.state(q, v, tau)
    assert_close(state.q, flat.phi(q))
    assert_close(state.v, N @ v, INTEGRATED)
    assert_close(N.T @ state.tau, tau, INTEGRATED)
    assert_close(state.tau @ state.v, tau @ v, INTEGRATED)


@pytest.mark.compiled
def test_12_the_linearised_equations(flat, at):
    """Alt04 (12): q̃̈ = τ̃ without gravity, with it N⁻ᵀ (τ − dV); with the printed N = D₁P the equation does not hold (E004-3)."""
    q, v, a = at
    tau = torsor.inverse_dynamics(flat.robot, q, v, a)
    without = tau - torsor.gravity_forces(flat.robot, q)

    def velocity(factor):
        return lambda t: factor(q + t * v + 0.5 * t**2 * a) @ (v + t * a)

    acceleration = by_hand.derivative(velocity(flat.jacobian))
    assert_close(acceleration, flat.force(q, without), DIFFERENCED_PATH)
    assert_close(acceleration, flat.linearised_force(q, v, tau), DIFFERENCED_PATH)

    def printed(q):
        return spectral_factor(torsor.mass_matrix(flat.robot, q))

    assert_differs(by_hand.derivative(velocity(printed)), inv(printed(q)).T @ without)


# §II.B: metrics on SE(3)


def test_iib_the_double_geodesic_connection_keeps_lengths_and_has_no_torsion_on_se3(rng):
    """Alt04 §II.B, proof of Proposition II.1: metric; symmetric with the bracket of se(3), not with the zero bracket of ℝ⁶."""
    X, Y, Z = rng.normal(size=(3, 6))
    along = left_invariant.double_geodesic_connection
    # A left-invariant field keeps its products along X: 0 = X⟨Y, Z⟩ = ⟨∇_X Y, Z⟩ + ⟨Y, ∇_X Z⟩.
    assert_close(along(X, Y) @ Z + Y @ along(X, Z), 0.0)
    difference = along(X, Y) - along(Y, X)
    assert_close(difference, by_hand.bracket(X, Y))
    assert_differs(difference, np.zeros(6))
    assert_close(along(X, Y), left_invariant.covariant_derivative(np.eye(6), X, Y))


def test_iib_se3_has_curvature(rng):
    """Alt04 §II.B: "SE(3) has a nonnull curvature". With M_dg = I it is ¼ on the planes of so(3) and 0 on all others."""
    e = np.eye(6)
    for i in range(6):
        for j in range(i):
            expected = 0.25 if i < 3 else 0.0
            assert_close(left_invariant.sectional_curvature(e, e[i], e[j]), expected)
    body = torsor.Inertia(1.0, (0.0, 0.0, 0.0), np.eye(3))  # whose kinetic energy is M_dg = I
    joint = torsor.Joint(name="joint", kind="free", parent="base", link="body", inertia=body)
    robot = torsor.assemble([joint])
    q = torsor.random_configuration(robot, seed=4)
    assert_close(torsor.geometry.riemann_curvature(robot, q), left_invariant.riemann_curvature(e))
    assert not is_flat(robot)


def body_components(g, tangent):
    """Body components of a tangent vector, a matrix (4, 4), at g."""
    return vee(inv(g) @ tangent)


def test_iib_the_minus_connection_makes_left_invariant_fields_parallel(rng):
    """Alt04 proof of II.1, "absolute parallelism": along any curve, and those of a right-invariant field are not parallel."""
    V, Y = rng.normal(size=(2, 6))

    other = rng.normal(size=6)

    def curve(t):
        return motion(other, np.sin(t)) @ motion(V, t)

    g0 = curve(0.3)
    X = body_components(g0, by_hand.derivative(lambda t: curve(0.3 + t)))

    def rate(field):
        return by_hand.derivative(lambda t: body_components(curve(0.3 + t), field(curve(0.3 + t))))

    left, right = (lambda g: g @ by_hand.hat(Y)), (lambda g: by_hand.hat(Y) @ g)
    along = left_invariant.minus_connection
    assert_close(along(X, Y, rate(left)), np.zeros(6), DIFFERENCED)
    assert_close(along(X, Y), np.zeros(6))
    Z = body_components(g0, right(g0))
    # Of a right-invariant field, Ad(g⁻¹) Y in body components, it is −[X, Z].
    assert_close(along(X, Z, rate(right)), -by_hand.bracket(X, Z), DIFFERENCED)
    # Carried by left translation, a vector keeps its components, its length in every left-invariant metric, and its angles.
    carried = (curve(1.0) @ inv(g0)) @ left(g0)
    assert_close(body_components(curve(1.0), carried), Y)


def test_iib_the_minus_connection_is_flat_and_has_torsion(rng):
    """Alt04 §II.B: the (−) connection has T(X, Y) = −[X, Y] and no curvature; it keeps lengths too. By fields that vary."""
    X, Y, W = rng.normal(size=(3, 6))
    g = motion(rng.normal(size=6), 1.0)
    A, B = rng.normal(size=(2, 6, 4))

    def x(g):  # components of three fields, functions of the pose
        return X + A @ g[:, 3]

    def y(g):
        return Y + B @ g[:, 0]

    def z(g):
        return W * g[0, 1] + A @ g[:, 1]

    def derivative(u, field, g):
        """∇_u field: the rate of its components along the motion with body velocity u(g)."""
        rate = by_hand.derivative(lambda t: field(g @ motion(u(g), t)))
        return left_invariant.minus_connection(u(g), field(g), rate)

    def lie_bracket(g):
        """[x, y] of the fields, with that of their components."""
        return derivative(x, y, g) - derivative(y, x, g) + by_hand.bracket(x(g), y(g))

    torsion = derivative(x, y, g) - derivative(y, x, g) - lie_bracket(g)
    assert_close(torsion, left_invariant.minus_torsion(x(g), y(g)), DIFFERENCED)
    assert_close(left_invariant.minus_torsion(X, Y), -by_hand.bracket(X, Y))
    twice = derivative(x, lambda g: derivative(y, z, g), g) - derivative(y, lambda g: derivative(x, z, g), g)
    curvature = twice - derivative(lie_bracket, z, g)
    assert_close(curvature, np.zeros(6), 1e-7)  # differences of differences of step 1e-3
    assert_close(left_invariant.minus_torsion(X[:3], Y[:3], left_invariant.SO3), -np.cross(X[:3], Y[:3]))
    # The connection of the metric is the one without torsion, and that is the one with curvature.
    Gamma = left_invariant.connection(np.eye(6))
    assert_close(np.einsum("ijk,i,j->k", Gamma - np.swapaxes(Gamma, 0, 1), X, Y), by_hand.bracket(X, Y))
    assert_differs(left_invariant.riemann_curvature(np.eye(6)), np.zeros((6,) * 4))


def test_ii_1_no_connection_makes_a_submersion(chain, state):
    """Alt04 proof of II.1, E004-6: the (−) connection keeps lengths and is flat, and J M⁻¹ Jᵀ is what it was, not 1.

    Nor does ρ take the flat connection of the joints to it: torsion then goes to torsion, and ∂_i J_j − ∂_j J_i ≠ 0.
    """
    J = torsor.body_jacobian(chain.robot, state.q, "tip")
    dJ = by_hand.gradient(lambda q: torsor.body_jacobian(chain.robot, q, "tip"), state.q)  # [r, j, i] = ∂_i J_rj
    torsion = np.array(
        [[left_invariant.minus_torsion(J[:, i], J[:, j]) for j in range(chain.n)] for i in range(chain.n)]
    )
    assert_close(np.einsum("rji->ijr", dJ) - np.einsum("rij->ijr", dJ), torsion, DIFFERENCED)
    assert_differs(torsion, np.zeros_like(torsion))
    G = J @ inv(torsor.mass_matrix(chain.robot, state.q)) @ J.T
    assert_differs(G, np.eye(6))


def test_iib_the_equation_of_euler_and_poincare(body, rng):
    """Alt04 (18) without forces, E004-9: ∇_X X = −M⁻¹ ad_Xᵀ M X of a left-invariant field, so Ẋ = +M⁻¹ ad_Xᵀ M X is free."""
    X = rng.normal(size=6)
    for metric in (np.eye(6), np.diag([2.0, 2.0, 2.0, 0.5, 0.5, 0.5]), body.matrix):
        poincare = inv(metric) @ by_hand.ad(X).T @ metric @ X
        assert_close(left_invariant.geodesic_acceleration(metric, X), poincare, 1e-11)
        own = left_invariant.covariant_derivative(metric, X, X)
        assert_close(own, -poincare, 1e-11)
        assert_differs(own, poincare)  # the sign printed in the proof of (18)
    # A body left alone: no force on any particle.
    assert_close(body.wrench(X, left_invariant.geodesic_acceleration(body.matrix, X)), np.zeros(6), 1e-11)
