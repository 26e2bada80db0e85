"""Kool, An analytical expression for the generalized forces in multibody Lagrange equations (2004).

No gravity there: τ is what the motion alone takes. The paper's L_{i−1} is the axis that moves link i.
"""

import by_hand
import numpy as np
import pytest
from by_hand import DIFFERENCED, Ad, ad, assert_close, assert_differs, skew, vee

import torsor
from torsor import lie
from torsor.papers import formulations

inv = np.linalg.inv


@pytest.fixture
def robot(chain):
    return chain.robot.with_gravity(np.zeros(3))


def absolute_inertias(chain, q):
    """N_j: the 6×6 inertia of every link where it is now, about the origin of the absolute frame."""
    return np.array([body.moved(T).matrix for body, T in zip(chain.bodies, chain.poses(q), strict=True)])


def twists(chain, q, v):
    """T_j of every link in the absolute frame: Ṫ T⁻¹."""
    T_dot = np.einsum("ikab,k->iab", chain.rates(q)[0], v)
    return np.array([vee(X_dot @ inv(X)) for X_dot, X in zip(T_dot, chain.poses(q), strict=True)])


def momenta(chain, q, v):
    """M_i = Σ_{j ≥ i} N_j T_j."""
    each = np.einsum("jab,jb->ja", absolute_inertias(chain, q), twists(chain, q, v))
    return np.cumsum(each[::-1], axis=0)[::-1]


def along(state):
    """The motion through the state with its acceleration, as a function of time."""
    q, v, a = state
    return lambda t: (q + t * v + 0.5 * t * t * a, v + t * a)


def test_1_lagrange_equation(chain, state, robot):
    """Kool04 (1), EK-1: τ_i = dp_i/dt − ∂E/∂q_i (printed r_i)."""
    q, v, _ = state
    path = along(state)
    p_dot = by_hand.derivative(lambda t: torsor.dynamics.generalised_momentum(robot, *path(t)))
    dE = by_hand.gradient(lambda q: torsor.kinetic_energy(robot, q, v), q)
    assert_close(p_dot - dE, chain.torques(*state, gravity=False), DIFFERENCED)


def test_2_kinetic_energy(chain, state, robot):
    """Kool04 (2): E = Σ ½ T_jᵀ N_j T_j."""
    q, v, _ = state
    T = np.array([torsor.kinematics.space_twist(robot, q, v, link) for link in chain.links])
    energy = 0.5 * np.einsum("ja,jab,jb->", T, absolute_inertias(chain, q), T)
    assert_close(energy, chain.kinetic_energy(q, v))
    assert_close(torsor.kinetic_energy(robot, q, v), energy)


def test_3_inertia_in_the_absolute_frame(chain, state, robot):
    """Kool04 (3): N = (I, m r*; −m r*, m E_3), I and r about the origin of the absolute frame."""
    T = chain.poses(state.q)
    for link, body, T_0j in zip(chain.links, chain.bodies, T, strict=True):
        seen = body.moved(T_0j)
        r, m = skew(seen.com), seen.mass
        printed = np.block([[seen.about(np.zeros(3)), m * r], [-m * r, m * np.eye(3)]])
        assert_close(printed, seen.matrix)
        assert_close(robot.inertia(link).moved(T_0j).matrix, printed)


def test_4_generalised_momentum(chain, state, robot):
    """Kool04 (4): p_i = ∂E/∂q̇_i = Σ T_jᵀ N_j ∂T_j/∂q̇_i."""
    q, v, _ = state
    p = torsor.dynamics.generalised_momentum(robot, q, v)
    assert_close(p, by_hand.gradient(lambda v: chain.kinetic_energy(q, v), v, step=1.0))
    dT = np.array([torsor.space_jacobian(robot, q, link) for link in chain.links])
    assert_close(p, np.einsum("ja,jab,jbi->i", twists(chain, q, v), absolute_inertias(chain, q), dT))


def test_5_twist_of_a_link(chain, state, robot):
    """Kool04 (5): T_k = Σ_{j ≤ k} L_{j−1} q̇_j."""
    q, v, _ = state
    L = torsor.kinematics.joint_axes(robot, q)
    assert_close(np.cumsum(L * v[:, None], axis=0), twists(chain, q, v))


def test_6_7_line_vectors_of_the_joints(chain, state, robot):
    """Kool04 (6), (7): (e, m + h e) of a helicoidal joint, h = 0 if revolute, and (0, e) of a prismatic one."""
    L = torsor.kinematics.joint_axes(robot, state.q)
    for j, (A, kind) in enumerate(zip(chain.screws, chain.kinds, strict=True)):
        T, (w, v) = chain.between(state.q, 0, j), A.reshape(2, 3)
        line = lie.line_coordinates(L[j])
        assert_close(line.magnitude, 1.0)
        if kind == "P":
            e = T[:3, :3] @ v
            assert_close(L[j], np.append(np.zeros(3), e))
            assert_close(line.direction, e)
            assert_close(line.moment, np.zeros(3))
            assert line.pitch == np.inf
            continue
        e, point = T[:3, :3] @ w, T[:3, :3] @ np.cross(w, v) + T[:3, 3]
        h = w @ v if kind == "H" else 0.0
        assert_close(L[j], np.append(e, np.cross(point, e) + h * e))
        assert_close(lie.screw(e, point, h), L[j])
        assert_close(line.direction, e)
        assert_close(line.moment, np.cross(point, e))
        assert_close(line.pitch, h)  # a rigid motion keeps the pitch


def test_8_generalised_momentum_along_the_axis(chain, state, robot):
    """Kool04 (8): p_i = L_{i−1}ᵀ M_i, M_i the momentum from link i to the end; M_1 that of the whole chain."""
    q, v, _ = state
    M, L = momenta(chain, q, v), torsor.kinematics.joint_axes(robot, q)
    assert_close(torsor.dynamics.generalised_momentum(robot, q, v), np.einsum("ia,ia->i", L, M))
    assert_close(L, [Ad(chain.between(q, 0, j)) @ A for j, A in enumerate(chain.screws)])
    assert_close(torsor.dynamics.spatial_momentum(robot, q, v), M[0])
    assert_close(formulations.kool_partial_momenta(robot, q, v), M)


def test_9_rate_of_the_generalised_momentum(chain, state, robot):
    """Kool04 (9): dp_i/dt = L_{i−1}ᵀ dM_i/dt + L̇_{i−1}ᵀ M_i."""
    q, v, _ = state
    path = along(state)
    M_dot = by_hand.derivative(lambda t: momenta(chain, *path(t)))
    L, L_dot = torsor.kinematics.joint_axes(robot, q), torsor.kinematics.joint_axes_rate(robot, q, v)
    p_dot = by_hand.derivative(lambda t: torsor.dynamics.generalised_momentum(robot, *path(t)))
    expected = np.einsum("ia,ia->i", L, M_dot) + np.einsum("ia,ia->i", L_dot, momenta(chain, q, v))
    assert_close(p_dot, expected, DIFFERENCED)


def test_10_force_is_the_wrench_through_the_joint(chain, state, robot):
    """Kool04 (10), completed, EK-2: W_i = dM_i/dt goes through joint i, so τ_i = L_{i−1}ᵀ dM_i/dt, without L̇ᵀM."""
    q, v, _ = state
    path = along(state)
    M_dot = by_hand.derivative(lambda t: momenta(chain, *path(t)))
    wrenches = torsor.dynamics.joint_wrenches(robot, *state)
    in_base = [Ad(inv(T)).T @ F for T, F in zip(chain.poses(q), wrenches, strict=True)]
    assert_close(in_base, M_dot, DIFFERENCED)
    tau, L = torsor.inverse_dynamics(robot, *state), torsor.kinematics.joint_axes(robot, q)
    assert_close(tau, np.einsum("ia,ia->i", L, M_dot), DIFFERENCED)
    assert_close(formulations.kool(robot, *state), chain.torques(*state, gravity=False))
    assert_close(
        formulations.kool(chain.robot, *state), chain.torques(*state)
    )  # with gravity, which the page leaves out
    L_dot = torsor.kinematics.joint_axes_rate(robot, q, v)
    assert_differs(tau + np.einsum("ia,ia->i", L_dot, momenta(chain, q, v)), tau)


def test_10_gradient_of_the_kinetic_energy(chain, state, robot):
    """Kool04 (10), completed, EK-2: ∂E/∂q_i = L̇_{i−1}ᵀ M_i."""
    q, v, _ = state
    L_dot = torsor.kinematics.joint_axes_rate(robot, q, v)
    dE = by_hand.gradient(lambda q: chain.kinetic_energy(q, v), q)
    assert_close(np.einsum("ia,ia->i", L_dot, momenta(chain, q, v)), dE, DIFFERENCED)
    assert_close(formulations.kool_energy_gradient(robot, q, v), dE, DIFFERENCED)
    assert_close(formulations.kool_energy_gradient(robot, q, v), np.einsum("ia,ia->i", L_dot, momenta(chain, q, v)))


def test_rate_of_the_line_vectors(chain, state, robot):
    """Kool04 after (10), EK-2: L̇_{i−1} = ad_T L_{i−1}, T the twist of a link the axis is fixed to."""
    q, v, _ = state
    actual = torsor.kinematics.joint_axes_rate(robot, q, v)
    lines = [Ad(chain.between(q, 0, j)) @ A for j, A in enumerate(chain.screws)]
    assert_close(actual, [ad(T) @ line for T, line in zip(twists(chain, q, v), lines, strict=True)])
    before = [np.zeros(6), *twists(chain, q, v)[:-1]]  # the axis is fixed to link i − 1 as well
    assert_close(actual, [ad(T) @ line for T, line in zip(before, lines, strict=True)])
    assert_close(actual, by_hand.derivative(lambda t: torsor.kinematics.joint_axes(robot, q + t * v)), DIFFERENCED)
    assert_close(torsor.kinematics.space_jacobian_rate(robot, q, v, "tip"), actual.T)
    derivative = torsor.derivatives.space_jacobian_derivative(robot, q, "tip")  # the same, one joint moving at a time
    assert_close(derivative, by_hand.gradient(lambda q: torsor.kinematics.joint_axes(robot, q).T, q), DIFFERENCED)


def test_rate_of_the_momentum(chain, state, robot):
    """Kool04 after (10), EK-2: dM_i/dt = Σ_{j ≥ i} N_j Ṫ_j − ad_{T_j}ᵀ N_j T_j with Ṫ_k = Σ L q̈ + L̇ q̇."""
    q, v, a = state
    path = along(state)
    L, L_dot = torsor.kinematics.joint_axes(robot, q), torsor.kinematics.joint_axes_rate(robot, q, v)
    T_dot = np.cumsum(L * a[:, None] + L_dot * v[:, None], axis=0)
    assert_close([torsor.kinematics.space_acceleration(robot, q, v, a, link) for link in chain.links], T_dot)
    N, T = absolute_inertias(chain, q), [torsor.kinematics.space_twist(robot, q, v, link) for link in chain.links]
    each = np.array([N[j] @ T_dot[j] - ad(T[j]).T @ N[j] @ T[j] for j in range(chain.n)])
    M_dot = by_hand.derivative(lambda t: momenta(chain, *path(t)))
    assert_close(np.cumsum(each[::-1], axis=0)[::-1], M_dot, DIFFERENCED)
