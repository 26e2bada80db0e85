"""Lynch & Park, Modern Robotics, draft chapter 9: §9.4 closed form, §9.5 forward dynamics, §9.6 task space."""

from typing import NamedTuple

import by_hand
import numpy as np
import pytest
from by_hand import DIFFERENCED, Ad, ad, assert_close, assert_differs, vee
from scipy.integrate import solve_ivp
from scipy.linalg import block_diag

import torsor
from torsor.papers._closed_form import closed_form

inv = np.linalg.inv


@pytest.fixture(params=["RPHR", "HRRPRH"])
def chain(request):
    """The book's link frames sit at the centres of mass."""
    return by_hand.random_chain(request.param, seed=9, frames="centre of mass")


def tip_jacobian(chain, q):
    """Body Jacobian of the tip: columns T⁻¹ ∂T/∂θ_k."""
    T = chain.between(q, 0, chain.n - 1) @ chain.tip
    rates, _ = by_hand.product_rates(chain.screws, q)
    return np.transpose([vee(inv(T) @ rate @ chain.tip) for rate in rates])


@pytest.fixture
def form(chain, state):
    """The stacked form that the library gives."""
    return closed_form(chain.robot, state.q)


@pytest.fixture
def base(rng):
    """Twist and acceleration of a base that moves."""
    return rng.normal(size=(2, 6))


def less_gravity(chain, base):
    """The base accelerates upwards by g in addition."""
    return base[0], base[1] - np.concatenate([np.zeros(3), chain.gravity])


class Stacked(NamedTuple):
    """The stacked matrices (9.64)–(9.68) and (9.76)."""

    A: np.ndarray
    G: np.ndarray
    ad_twists: np.ndarray
    ad_joints: np.ndarray
    Gamma: np.ndarray
    L: np.ndarray


@pytest.fixture
def stacked(chain, state):
    q, v, a = state
    n, T, A = chain.n, chain.poses(q), chain.link_screws
    V, _ = chain.link_motion(q, v, a)

    def blocks(filled):
        return np.block(
            [[Ad(inv(T[i]) @ T[j]) if filled(i, j) else np.zeros((6, 6)) for j in range(n)] for i in range(n)]
        )

    return Stacked(
        block_diag(*A[:, :, None]),
        block_diag(*(body.matrix for body in chain.bodies)),
        block_diag(*map(ad, V)),
        block_diag(*(ad(S * rate) for S, rate in zip(A, v, strict=True))),
        blocks(lambda i, j: i == j + 1),
        blocks(lambda i, j: i >= j),
    )


# §9.4 Closed form


def test_9_59_9_60_kinetic_energy_of_the_links(form, chain, state):
    """LP (9.59), (9.60): K = ½ Σ V_iᵀ G_i V_i with V_i = J_ib θ̇."""
    q, v, a = state
    V, _ = chain.link_motion(q, v, a)
    energy = torsor.kinetic_energy(chain.robot, q, v)
    assert_close(energy, 0.5 * sum(V_i @ body.matrix @ V_i for V_i, body in zip(V, chain.bodies, strict=True)))
    for link, V_i in zip(chain.links, V, strict=True):
        assert_close(torsor.body_jacobian(chain.robot, q, link) @ v, V_i)
    stacked = form.velocities(v)
    assert_close(energy, 0.5 * stacked @ form.link_inertia @ stacked)


def test_9_61_mass_matrix_as_a_sum(form, chain, state):
    """LP (9.61): M = Σ J_ibᵀ G_i J_ib, J_ib filled up with zero columns."""
    T, (dT, _) = chain.poses(state.q), chain.rates(state.q)
    total = np.zeros((chain.n, chain.n))
    for i, body in enumerate(chain.bodies):
        J = np.transpose([vee(inv(T[i]) @ rate) for rate in dT[i]])
        assert_close(torsor.body_jacobian(chain.robot, state.q, chain.links[i]), J)
        assert_close(form.link_jacobian[6 * i : 6 * i + 6], J)
        total += J.T @ body.matrix @ J
    assert_close(torsor.mass_matrix(chain.robot, state.q), total)


def test_9_64_screws(form, stacked):
    """LP (9.64): A = Diag[A_1, …, A_n], constant, each in its link's frame."""
    assert_close(form.link_screws, stacked.A)


def test_9_65_inertias(form, stacked, chain):
    """LP (9.65), (9.52): G = Diag[G_1, …, G_n], constant; with frames at the centres of mass G_i = Diag[I_i, m_i 1]."""
    assert_close(form.link_inertia, stacked.G)
    parts = [part for body in chain.bodies for part in (body.rotational, body.mass * np.eye(3))]
    assert_close(form.link_inertia, block_diag(*parts))


def test_9_66_brackets_of_the_twists(form, stacked, chain, state, base):
    """LP (9.66): [ad_V] = Diag[ad(V_1), …, ad(V_n)], base at rest and moving."""
    assert_close(form.twist_brackets(state.v), stacked.ad_twists)
    V, _ = chain.link_motion(*state, base)
    assert_close(form.twist_brackets(state.v, base_motion=tuple(base)), block_diag(*map(ad, V)))


def test_9_67_brackets_of_the_joint_twists(form, stacked, state):
    """LP (9.67): [ad_Aθ̇] = Diag[ad(A_1 θ̇_1), …, ad(A_n θ̇_n)]."""
    assert_close(form.joint_brackets(state.v), stacked.ad_joints)


def test_9_68_9_76_nilpotent_propagation(form, stacked, chain):
    """LP (9.68), (9.76): Γⁿ = 0 and L = (1 − Γ)⁻¹ = 1 + Γ + … + Γⁿ⁻¹."""
    powers = [np.linalg.matrix_power(stacked.Gamma, k) for k in range(chain.n + 1)]
    assert not powers[-1].any()
    assert_close(sum(powers), stacked.L)
    assert_close(inv(np.eye(6 * chain.n) - stacked.Gamma), stacked.L)
    assert_close(form.parent_propagation, stacked.Gamma)
    assert_close(form.link_propagation, stacked.L)
    assert not np.linalg.matrix_power(form.parent_propagation, chain.n).any()


def test_9_69_twist_of_the_base(form, chain, state, base):
    """LP (9.69): V_base = (Ad(T_10) V_0, 0, …, 0)."""
    into_first = Ad(inv(chain.poses(state.q)[0]))
    rest = np.zeros(6 * (chain.n - 1))
    assert_close(form.base_velocity(base_motion=tuple(base)), np.append(into_first @ base[0], rest))
    assert_close(form.base_velocity(), np.zeros(6 * chain.n))


def test_9_70_acceleration_of_the_base(form, chain, state, base):
    """LP (9.70), E002-7: V̇_base = (Ad(T_10) V̇_0, 0, …, 0), V̇_0 = (0, −g) at rest; printed +g."""
    into_first = Ad(inv(chain.poses(state.q)[0]))
    rest, g = np.zeros(6 * (chain.n - 1)), np.concatenate([np.zeros(3), chain.gravity])
    assert_close(form.base_acceleration(), np.append(into_first @ -g, rest))
    assert_close(form.base_acceleration(base_motion=tuple(base)), np.append(into_first @ (base[1] - g), rest))
    assert_differs(np.append(into_first @ g, rest), form.base_acceleration())


def test_9_71_wrench_of_the_tip(form, chain, rng):
    """LP (9.71), E002-10: (0, …, 0, Ad(T_{n+1,n})ᵀ F_{n+1}), what the tip does to the environment, in the last frame."""
    F_tip = rng.normal(size=6)
    T_tip_last = inv(chain.tip) @ chain.homes[-1]
    expected = np.append(np.zeros(6 * (chain.n - 1)), Ad(T_tip_last).T @ F_tip)
    assert_close(form.wrenches_on_environment(F_tip=F_tip), expected)
    assert_close(form.wrenches_on_environment(wrenches={"tip": -F_tip}), expected)


def test_9_62_9_69_9_72_9_77_stacked_twists(form, stacked, chain, state, base):
    """LP (9.62), (9.69), (9.72), (9.77): V = Γ V + A θ̇ + V_base, so V = L (A θ̇ + V_base)."""
    q, v, _ = state
    moving, _ = chain.link_motion(*state, base)
    assert_close(form.velocities(v, base_motion=tuple(base)), moving.ravel())
    assert_close(form.velocities(v), stacked.L @ stacked.A @ v)
    V = np.concatenate([torsor.kinematics.body_twist(chain.robot, q, v, link) for link in chain.links])
    assert_close(V, stacked.L @ stacked.A @ v)
    assert_close(V, stacked.Gamma @ V + stacked.A @ v)


def test_9_73_9_78_stacked_accelerations(form, stacked, chain, state, base):
    """LP (9.73), (9.78), E002-8: − [ad_{Aθ̇}] Γ V; printed with +. Those of the form are less gravity, as in the book."""
    q, v, a = state
    V_dot = np.concatenate([torsor.kinematics.body_acceleration(chain.robot, q, v, a, link) for link in chain.links])
    V = stacked.L @ stacked.A @ v
    turning = stacked.ad_joints @ stacked.Gamma @ V
    assert_close(V_dot, stacked.Gamma @ V_dot + stacked.A @ a - turning)
    assert_close(V_dot, stacked.L @ (stacked.A @ a - turning))
    assert_differs(stacked.L @ (stacked.A @ a + turning), V_dot)
    at_rest, moving = less_gravity(chain, np.zeros((2, 6))), less_gravity(chain, base)
    assert_close(form.accelerations(v, a), chain.link_motion(q, v, a, at_rest)[1].ravel())
    assert_close(form.accelerations(v, a, base_motion=tuple(base)), chain.link_motion(q, v, a, moving)[1].ravel())


def test_9_69_to_9_75_9_78_9_80_with_a_moving_base(form, stacked, chain, state, rng, base):
    """LP (9.69)–(9.75), (9.78)–(9.80), E002-8: the same with V_base, V̇_base and F_tip; printed with + wrong again."""
    (q, v, a), F_tip = state, rng.normal(size=6)
    A, G, _, ad_joints, Gamma, L = stacked
    rest = np.zeros(6 * (chain.n - 1))
    into_first = Ad(inv(chain.poses(q)[0]))
    lifted = base[1] - np.concatenate([np.zeros(3), chain.gravity])
    V_base, V_dot_base = np.append(into_first @ base[0], rest), np.append(into_first @ lifted, rest)
    tip = np.append(rest, Ad(inv(chain.tip) @ chain.homes[-1]).T @ F_tip)
    V = L @ (A @ v + V_base)
    moving_ads = block_diag(*map(ad, V.reshape(chain.n, 6)))

    def wrenches(sign):
        V_dot = L @ (A @ a + sign * ad_joints @ (Gamma @ V + V_base) + V_dot_base)
        return L.T @ (G @ V_dot - moving_ads.T @ G @ V + tip)

    F = torsor.dynamics.joint_wrenches(chain.robot, q, v, a, wrenches={"tip": -F_tip}, base_motion=tuple(base))
    assert_close(F.ravel(), wrenches(-1))
    assert_differs(wrenches(+1), F.ravel())
    tau = torsor.inverse_dynamics(chain.robot, q, v, a, wrenches={"tip": -F_tip}, base_motion=tuple(base))
    assert_close(tau, A.T @ wrenches(-1))
    assert_close(form.wrenches(v, a, F_tip=F_tip, base_motion=tuple(base)), wrenches(-1))
    assert_close(form.inverse_dynamics(v, a, F_tip=F_tip, base_motion=tuple(base)), tau)


def test_9_63_9_74_9_79_stacked_wrenches(form, stacked, chain, state, base):
    """LP (9.63), (9.74), (9.79): F = Γᵀ F + G V̇ − [ad_twists]ᵀ G V, so F = Lᵀ(…); without gravity and tip wrench."""
    V, V_dot = (x.ravel() for x in chain.link_motion(*state))
    F = torsor.dynamics.joint_wrenches(chain.robot.with_gravity(np.zeros(3)), *state).ravel()
    needed = stacked.G @ V_dot - stacked.ad_twists.T @ stacked.G @ V
    assert_close(F, stacked.Gamma.T @ F + needed)
    assert_close(F, stacked.L.T @ needed)
    _, v, a = state
    assert_close(form.wrenches(v, a), chain.joint_wrenches(*state).ravel())
    assert_close(form.wrenches(v, a, base_motion=tuple(base)), chain.joint_wrenches(*state, base).ravel())


def test_9_75_9_80_joint_forces(form, chain, state):
    """LP (9.75), (9.80): τ = AᵀF."""
    _, v, a = state
    assert_close(form.link_screws.T @ form.wrenches(v, a), chain.torques(*state))
    assert_close(form.inverse_dynamics(v, a), chain.torques(*state))


def test_9_81_tip_wrench(form, chain, state, rng):
    """LP (9.81), E002-10: τ = M θ̈ + c + g + Jᵀ F_tip, the tip pushing the environment with F_tip."""
    q, v, a = state
    F_tip = rng.normal(size=6)
    J = tip_jacobian(chain, q)
    assert_close(torsor.body_jacobian(chain.robot, q, "tip"), J)
    tau = torsor.inverse_dynamics(chain.robot, q, v, a, wrenches={"tip": -F_tip})
    assert_close(tau, chain.torques(q, v, a) + J.T @ F_tip)
    assert_close(form.inverse_dynamics(v, a, F_tip=F_tip), tau)
    terms = form.mass_matrix @ a + form.coriolis_forces(v) + form.gravity_forces
    assert_close(terms + J.T @ F_tip, tau)


def test_9_82_mass_matrix(form, stacked, chain, state):
    """LP (9.82): M = AᵀLᵀGLA."""
    A, G, _, _, _, L = stacked
    assert_close(torsor.mass_matrix(chain.robot, state.q), A.T @ L.T @ G @ L @ A)
    assert_close(form.mass_matrix, chain.mass_matrix(state.q))


def test_9_83_coriolis_forces(form, stacked, chain, state):
    """LP (9.83), E002-9: c = −AᵀLᵀ(G L [ad_{Aθ̇}] Γ + [ad_twists]ᵀ G) L A θ̇; printed with other signs."""
    A, G, ad_twists, ad_joints, Gamma, L = stacked
    c = torsor.dynamics.coriolis_forces(chain.robot, state.q, state.v)
    first, second = G @ L @ ad_joints @ Gamma, ad_twists.T @ G
    assert_close(c, -A.T @ L.T @ (first + second) @ L @ A @ state.v)
    assert_close(form.coriolis_forces(state.v), chain.torques(state.q, state.v, 0.0 * state.a, gravity=False))
    assert_differs(A.T @ L.T @ (first - second) @ L @ A @ state.v, c)


def test_9_84_gravity_forces(form, stacked, chain, state):
    """LP (9.84), E002-7: g = AᵀLᵀGL V̇_base with V̇_base from V̇_0 = (0, −g)."""
    A, G, _, _, _, L = stacked
    lift = Ad(inv(chain.poses(state.q)[0])) @ np.concatenate([np.zeros(3), -chain.gravity])
    V_dot_base = np.append(lift, np.zeros(6 * (chain.n - 1)))
    assert_close(torsor.gravity_forces(chain.robot, state.q), A.T @ L.T @ G @ L @ V_dot_base)
    assert_close(form.gravity_forces, chain.torques(state.q, 0.0 * state.v, 0.0 * state.a))


def test_9_87_coriolis_matrix(chain, state):
    """LP (9.87): c_ij = ½ Σ_k (∂m_ij/∂θ_k + ∂m_ik/∂θ_j − ∂m_jk/∂θ_i) θ̇_k."""
    q, v, _ = state
    dm = by_hand.gradient(lambda q: torsor.mass_matrix(chain.robot, q), q)
    expected = 0.5 * np.einsum("ijk,k->ij", dm + np.einsum("ikj->ijk", dm) - np.einsum("jki->ijk", dm), v)
    C = torsor.coriolis_matrix(chain.robot, q, v)
    assert_close(C, expected, DIFFERENCED)
    assert_close(C, np.einsum("jki,k->ij", chain.christoffel(q), v))
    assert_close(C, np.einsum("jki,k->ij", torsor.geometry.christoffel_symbols(chain.robot, q), v))


def test_9_88_coriolis_forces(chain, state):
    """LP (9.88): c = C θ̇, quadratic in θ̇."""
    q, v, a = state
    c = chain.torques(q, v, 0.0 * a, gravity=False)
    assert_close(torsor.coriolis_matrix(chain.robot, q, v) @ v, c)
    assert_close(torsor.dynamics.coriolis_forces(chain.robot, q, -3.0 * v), 9.0 * c)


def test_proposition_9_1_passivity(stacked, chain, state):
    """LP Prop. 9.1: Ṁ − 2C is skew for the C of (9.87), not for a C read off (9.83), which also has C θ̇ = c."""
    q, v, _ = state
    M_dot = by_hand.derivative(lambda t: chain.mass_matrix(q + t * v))
    assert_close(torsor.dynamics.mass_matrix_rate(chain.robot, q, v), M_dot, DIFFERENCED)
    N = torsor.dynamics.mass_matrix_rate(chain.robot, q, v) - 2.0 * torsor.coriolis_matrix(chain.robot, q, v)
    assert_close(N, -N.T)
    assert_differs(N, np.zeros_like(N))
    A, G, ad_twists, ad_joints, Gamma, L = stacked
    other = -A.T @ L.T @ (G @ L @ ad_joints @ Gamma + ad_twists.T @ G) @ L @ A
    assert_close(other @ v, torsor.dynamics.coriolis_forces(chain.robot, q, v))
    assert_differs(M_dot - 2.0 * other, -(M_dot - 2.0 * other).T)


# §9.5 Forward dynamics


def test_9_89_get_joint_accel(chain, state, rng):
    """LP (9.89) and GetJointAccel, E002-10: M θ̈ = τ − γ − Jᵀ F_tip, γ by inverse dynamics at θ̈ = 0."""
    q, v, a = state
    tau, F_tip = rng.normal(size=chain.n), rng.normal(size=6)
    right = tau - chain.torques(q, v, 0.0 * a) - tip_jacobian(chain, q).T @ F_tip
    expected = np.linalg.solve(chain.mass_matrix(q), right)
    # 1e-11: solving multiplies rounding by the condition number of M, < 1e2
    assert_close(torsor.papers.joint_acceleration(chain.robot, q, v, tau, F_tip=F_tip), expected, 1e-11)
    assert_close(torsor.forward_dynamics(chain.robot, q, v, tau, wrenches={"tip": -F_tip}), expected, 1e-11)


def acceleration(chain, q, v, tau):
    return np.linalg.solve(chain.mass_matrix(q), tau - chain.torques(q, v, np.zeros(chain.n)))


def test_euler_integration(chain, state, rng):
    """LP §9.5, E002-12: θ[k+1] = θ[k] + h θ̇[k], θ̇[k+1] = θ̇[k] + h θ̈[k] from k = 0 (printed 1) to N − 1."""
    h, torques = 0.01, rng.normal(size=(6, chain.n))
    q, v = [state.q], [state.v]
    for k in range(6):
        a = acceleration(chain, q[k], v[k], torques[k])
        q.append(q[k] + h * v[k])
        v.append(v[k] + h * a)
    qs, vs = torsor.papers.euler_trajectory(chain.robot, state.q, state.v, torques, h)
    assert_close(qs, q, 1e-11)  # errors of the solves, 1e-12, add up
    assert_close(vs, v, 1e-11)
    run = torsor.simulate(chain.robot, state.q, state.v, duration=0.06, dt=h, tau=torques, method="euler")
    assert_close(run.q, q, 1e-11)
    assert_close(run.v, v, 1e-11)


@pytest.mark.parametrize(
    ("dt", "wrenches", "message"),
    [
        (-0.1, 5, "`dt` must be a positive and finite time"),
        (0.1, 4, r"`tip_wrenches` must have shape \(5, 6\), one for each row of `tau`, got \(4, 6\)"),
        (0.1, 6, r"got \(6, 6\)"),
    ],
)
def test_euler_integration_refuses_steps_back_and_other_numbers_of_wrenches(dt, wrenches, message):
    robot, still = torsor.robots.planar2r(), np.zeros(2)
    with pytest.raises(torsor.errors.ArgumentError, match=message):
        torsor.papers.euler_trajectory(robot, still, still, np.ones((5, 2)), dt, tip_wrenches=np.ones((wrenches, 6)))


def test_euler_integration_is_of_first_order():
    """LP §9.5: half the step, half the error, against an adaptive integration of (9.2) to 1e-10."""
    arm = by_hand.random_chain("RH", seed=5, frames="centre of mass")
    start, tau = np.array([0.3, -0.2, 0.5, 0.4]), np.array([0.2, -0.1])

    def rate(t, y):
        return np.concatenate([y[2:], acceleration(arm, y[:2], y[2:], tau)])

    exact = solve_ivp(rate, (0.0, 0.2), start, method="DOP853", rtol=1e-10, atol=1e-12).y[:2, -1]
    errors = []
    for steps in (100, 200):
        torques = np.tile(tau, (steps, 1))
        qs, _ = torsor.papers.euler_trajectory(arm.robot, start[:2], start[2:], torques, 0.2 / steps)
        errors.append(np.abs(qs[-1] - exact).max())
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.05)  # 2 + O(h)


# §9.6 Task space


def test_9_91_9_92_twist_and_acceleration_of_the_tip(chain, state):
    """LP (9.91), (9.92): V = J θ̇ and V̇ = J̇ θ̇ + J θ̈, in the tip's own axes."""
    q, v, a = state
    J_dot = by_hand.derivative(lambda t: tip_jacobian(chain, q + t * v))
    assert_close(torsor.kinematics.body_twist(chain.robot, q, v, "tip"), tip_jacobian(chain, q) @ v)
    assert_close(torsor.kinematics.body_jacobian_rate(chain.robot, q, v, "tip"), J_dot, DIFFERENCED)
    V_dot = torsor.kinematics.body_acceleration(chain.robot, q, v, a, "tip")
    assert_close(V_dot, J_dot @ v + tip_jacobian(chain, q) @ a, DIFFERENCED)


def test_9_93_to_9_99_dynamics_in_task_space(rng):
    """LP (9.90), (9.93)–(9.99), E002-11: F = Λ V̇ + η; in (9.95) the last term is b(θ, J⁻¹V), not J⁻ᵀ b."""
    arm = by_hand.random_chain("RRPRHR", seed=6, frames="centre of mass")
    q, v, a = rng.normal(size=(3, 6))
    robot, tau = arm.robot, arm.torques(q, v, a)
    J, J_dot = torsor.body_jacobian(robot, q, "tip"), torsor.kinematics.body_jacobian_rate(robot, q, v, "tip")
    V, V_dot = (
        torsor.kinematics.body_twist(robot, q, v, "tip"),
        torsor.kinematics.body_acceleration(robot, q, v, a, "tip"),
    )
    M, b, K = torsor.mass_matrix(robot, q), torsor.bias_forces(robot, q, v), inv(J)
    # 1e-10: inverting J multiplies rounding by its condition number, ~ 1e3
    assert_close(K @ V, v, 1e-10)
    assert_close(K @ V_dot - K @ J_dot @ K @ V, a, 1e-10)
    rest = M @ (K @ V_dot - K @ J_dot @ K @ V)
    assert_close(rest + b, tau, 1e-10)
    assert_differs(rest + K.T @ b, tau)
    Lambda = K.T @ M @ K
    eta = K.T @ torsor.bias_forces(robot, q, K @ V) - Lambda @ J_dot @ K @ V
    assert_close(Lambda @ V_dot + eta, np.linalg.solve(J.T, tau), 1e-10)
