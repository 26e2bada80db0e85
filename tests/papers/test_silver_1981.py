"""Silver, On the representation of angular velocity and its effect on the efficiency of manipulator dynamics (1981)."""

from itertools import permutations
from typing import NamedTuple

import by_hand
import numpy as np
import pytest
from by_hand import DIFFERENCED, assert_close, assert_differs, motion, pose, skew

import torsor
from torsor import lie
from torsor.lie import se3, so3
from torsor.papers import formulations, rigid_body
from torsor.papers.formulations import angular_velocity

P = np.zeros((3, 3, 3))  # the permutation tensor of §2.2, written out
for order in permutations(range(3)):
    P[order] = np.linalg.det(np.eye(3)[list(order)])


def test_1_1_lagrange_equation(chain, state):
    """Sil81 (1.1): τ_i = d/dt ∂L/∂q̇_i − ∂L/∂q_i; ∂L/∂q̇ is the library's momentum, L itself a sum over particles."""
    q, v, a = state

    def lagrangian(q):
        return chain.kinetic_energy(q, v) - chain.potential_energy(q)

    momentum_rate = by_hand.derivative(
        lambda t: torsor.dynamics.generalised_momentum(chain.robot, q + t * v + 0.5 * t * t * a, v + t * a)
    )
    tau = torsor.inverse_dynamics(chain.robot, q, v, a)
    assert_close(tau, momentum_rate - by_hand.gradient(lagrangian, q), DIFFERENCED)
    assert_close(formulations.euler_lagrange(chain.robot, q, v, a), chain.torques(q, v, a))


def test_1_2_uicker_kahn(chain, state):
    """Sil81 (1.2): τ_i = Σ_j tr(∂W_j/∂q_i J_j Ẅ_jᵀ) with 4×4 matrices, J the pseudo-inertia; no gravity."""
    dW, W_ddot = chain.rates(state.q)[0], chain.accelerations(*state)
    J = [chain.robot.inertia(link).pseudo for link in chain.links]
    for pseudo, body in zip(J, chain.bodies, strict=True):
        assert_close(pseudo, body.moments)
    tau = [sum(np.trace(dW[j, i] @ J[j] @ W_ddot[j].T) for j in range(i, chain.n)) for i in range(chain.n)]
    weightless = chain.robot.with_gravity(np.zeros(3))
    assert_close(torsor.inverse_dynamics(weightless, *state), tau)
    assert_close(formulations.uicker_kahn(weightless, *state), tau)
    assert_close(formulations.uicker_kahn_shared(weightless, *state), tau)
    assert_close(formulations.uicker_kahn_accelerations(weightless, *state), tau)
    assert_close(formulations.uicker_kahn(chain.robot, *state), chain.torques(*state))  # and with the gravity term


def test_1_3_euler_equation(body, rng):
    """Sil81 (1.3): N = I·ω̇ + ω × (I·ω), the rate of L = I·ω."""
    w, w_dot = rng.normal(size=(2, 3))
    V, V_dot = np.append(w, np.zeros(3)), np.append(w_dot, np.zeros(3))
    centred = body.moved(pose(p=-body.com))
    N = rigid_body.wrench_classical(body.mass, body.rotational, V, V_dot)[:3]
    assert_close(N, centred.wrench(V, V_dot)[:3])
    L = sum(m * np.cross(r, np.cross(w, r)) for m, r in zip(centred.masses, centred.points, strict=True))
    assert_close(rigid_body.momentum(centred.row, V)[:3], L)


def test_section_1_3_newton_euler_in_four_steps(chain, state):
    """Sil81 §1.3: motion from the base out, total forces, forces at the joints from the tip in, projection on the axes."""
    assert_close(formulations.luh_walker_paul(chain.robot, *state), chain.torques(*state))
    load = np.array([0.3, -0.2, 0.5, 1.0, -2.0, 0.7])  # on the last link, from the environment
    J = torsor.body_jacobian(chain.robot, state.q, "tip")
    loaded = formulations.luh_walker_paul(chain.robot, *state, wrenches={"tip": load})
    assert_close(loaded, chain.torques(*state) - J.T @ load)


def test_section_1_4_recursive_lagrangian(chain, state):
    """Sil81 §1.4: Hollerbach's recursions give (1.2) in linear time, with 4×4 matrices and with 3×3."""
    assert_close(formulations.hollerbach_4x4(chain.robot, *state), chain.torques(*state))
    assert_close(formulations.hollerbach_3x3(chain.robot, *state), chain.torques(*state))


# §2 ω and Ẇ


def test_2_1_rotation_matrix(chain, state):
    """Sil81 (2.1): W_ij = e_i · e'_j, so that v_i = W_ij v'_j."""
    T = chain.poses(state.q)[-1]
    moved = [(T @ np.append(e, 1.0) - T @ [0.0, 0.0, 0.0, 1.0])[:3] for e in np.eye(3)]  # e'_j
    W = se3.rotation(torsor.link_poses(chain.robot, state.q)[-1])
    assert_close(W, [[e @ e_moved for e_moved in moved] for e in np.eye(3)])


def test_2_2_inverse_is_the_transpose(rng):
    """Sil81 (2.2): W_ik W_jk = δ_ij."""
    W = so3.exp(rng.normal(size=3))
    assert_close(np.einsum("ik,jk->ij", W, W), np.eye(3))


def test_cross_product_by_the_permutation_tensor(rng):
    """Sil81 §2.2: [a × b]_i = P_ijk a_j b_k; the library's [a] holds P_ijk a_j."""
    a = rng.normal(size=3)
    assert_close(so3.hat(a), np.einsum("ijk,j->ik", P, a))
    assert_close(so3.vee(np.einsum("ijk,j->ik", P, a)), a)


def test_2_3_2_4_identities_of_the_permutation_tensor():
    """Sil81 (2.3), (2.4): P_ijk P_ijl = 2 δ_kl, P_ijk P_ilm = δ_jl δ_km − δ_jm δ_kl; P read off the library's [e_j]."""
    tensor, one = np.moveaxis(so3.hat(np.eye(3)), 0, 1), np.eye(3)  # [i, j, k] = ([e_j])_ik
    assert_close(tensor, P)
    assert_close(angular_velocity.permutation_tensor(), P)
    assert_close(np.einsum("ijk,ijl->kl", tensor, tensor), 2.0 * one)
    expected = np.einsum("jl,km->jklm", one, one) - np.einsum("jm,kl->jklm", one, one)
    assert_close(np.einsum("ijk,ilm->jklm", tensor, tensor), expected)


def test_2_5_rotation_rate(rng):
    """Sil81 (2.5): Ẇ_ij = P_ikl ω_k W_lj, the rate of a matrix that turns with ω."""
    w, W = rng.normal(size=3), by_hand.random_pose(rng)[:3, :3]
    turned = by_hand.derivative(lambda t: motion(np.append(w, np.zeros(3)), t)[:3, :3] @ W)
    assert_close(so3.rotation_rate(W, w), turned, DIFFERENCED)
    assert_close(so3.rotation_rate(W, w), np.einsum("ikl,k,lj->ij", P, w, W))


def test_2_6_angular_velocity(rng):
    """Sil81 (2.6): ω_i = ½ P_ijk W_jl Ẇ_kl."""
    w, W = rng.normal(size=3), by_hand.random_pose(rng)[:3, :3]
    W_dot = skew(w) @ W
    assert_close(so3.angular_velocity(W, W_dot), 0.5 * np.einsum("ijk,jl,kl->i", P, W, W_dot))
    assert_close(so3.angular_velocity(W, W_dot), w)


def test_2_7_2_9_2_11_two_inertia_tensors(body):
    """Sil81 (2.7), (2.9), (2.11): J = ∫ r rᵀ dm, I = ∫ (r² 1 − r rᵀ) dm, I = tr(J) 1 − J, J = ½ tr(I) 1 − I."""
    r = body.points - body.com
    J = sum(m * np.outer(x, x) for m, x in zip(body.masses, r, strict=True))
    I = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(body.masses, r, strict=True))
    assert_close(torsor.Inertia.particles(body.masses, body.points).rotational, I)
    assert_close(torsor.Inertia.particles(body.masses, body.points).second_moment, J)
    assert_close(lie.second_moment(I), J)
    assert_close(lie.rotational_from_second_moment(J), I)


def test_2_8_2_10_two_forms_of_rotational_energy(body, rng):
    """Sil81 (2.8), (2.10): ½ tr(Ẇ J' Ẇᵀ) with J' in body axes, and ½ ω·I·ω with I in fixed axes."""
    w, W = rng.normal(size=3), by_hand.random_pose(rng)[:3, :3]
    centred, W_dot = body.moved(pose(p=-body.com)), skew(w) @ W
    energy = 0.5 * sum(m * np.sum((W_dot @ x) ** 2) for m, x in zip(centred.masses, centred.points, strict=True))
    assert_close(rigid_body.kinetic_energy_of_rotation_rate(body.inertia.second_moment, W_dot), energy)
    assert_close(rigid_body.kinetic_energy_of_rotation(W @ body.rotational @ W.T, w), energy)


# §3 Lagrangian dynamics using ω


class Links(NamedTuple):
    """Per link i, in fixed axes: what the library says of v, ω and their derivatives, at the centres of mass."""

    v: np.ndarray  # (n, 3)
    w: np.ndarray
    v_dot: np.ndarray
    w_dot: np.ndarray
    dv: np.ndarray  # ∂v_i/∂q̇_j (n, 3, n)
    dw: np.ndarray
    dv_rate: np.ndarray  # d/dt of the same
    dw_rate: np.ndarray


@pytest.fixture
def links(chain, state):
    q, v, a = state
    rows = []
    for link, body in zip(chain.links, chain.bodies, strict=True):
        robot = chain.robot.with_frame("centre", link, pose(p=body.com))
        twist, acceleration = (
            torsor.kinematics.mixed_twist(robot, q, v, "centre"),
            torsor.kinematics.mixed_acceleration(robot, q, v, a, "centre"),
        )
        J, J_dot = (
            torsor.mixed_jacobian(robot, q, "centre"),
            torsor.kinematics.mixed_jacobian_rate(robot, q, v, "centre"),
        )
        halves = [x[part] for x in (twist, acceleration, J, J_dot) for part in (slice(3, 6), slice(0, 3))]
        rows.append(halves)
    return Links(*(np.array(column) for column in zip(*rows, strict=True)))


def inertias(chain, q):
    """I_i of every link about its centre of mass, in fixed axes (n, 3, 3)."""
    return np.array([T[:3, :3] @ b.rotational @ T[:3, :3].T for T, b in zip(chain.poses(q), chain.bodies, strict=True)])


def angular_columns(chain, q):
    """∂ω_i/∂q̇_k (n, 3, n) from Ẇ Wᵀ, by differentiating the products of exponentials."""
    R, dR = chain.poses(q)[:, :3, :3], chain.rates(q)[0][:, :, :3, :3]
    return -0.5 * np.einsum("abc,ikbd,icd->iak", P, dR, R)  # (2.6), with the roles of j and k exchanged


def centre_columns(chain, q):
    """∂r_i/∂q_k (n, 3, n) of the centres of mass, and ∂²r_i/∂q_k∂q_l (n, 3, n, n)."""
    (dT, ddT), c = chain.rates(q), np.array([np.append(body.com, 1.0) for body in chain.bodies])
    return np.einsum("ikab,ib->iak", dT, c)[:, :3], np.einsum("iklab,ib->iakl", ddT, c)[:, :3]


def dots(x, y):
    """x_i · (y_i)_j, summed over the links i."""
    return np.einsum("ia,iaj->j", x, y)


def test_table_of_2_4_two_forms_of_generalised_force(chain, state, links):
    """Sil81 §2.4, E003-2: [ω̇·I + ω × (I·ω)]·∂ω/∂q̇ = tr(∂W/∂q J Ẅᵀ), with Ẅ; printed Ẇ."""
    q, v, a = state
    I, (dT, _) = inertias(chain, q), chain.rates(q)
    W_ddot, W_dot = chain.accelerations(q, v, a)[:, :3, :3], np.einsum("ikab,k->iab", dT, v)[:, :3, :3]
    for i, body in enumerate(chain.bodies):
        N = I[i] @ links.w_dot[i] + np.cross(links.w[i], I[i] @ links.w[i])
        J = body.inertia.second_moment
        by_W = [np.trace(dT[i, k, :3, :3] @ J @ W_ddot[i].T) for k in range(chain.n)]
        printed = [np.trace(dT[i, k, :3, :3] @ J @ W_dot[i].T) for k in range(chain.n)]
        assert_close(N @ links.dw[i], by_W)
        ours = formulations.angular_velocity.generalised_force_by_rotation_matrix(J, W_ddot[i], dT[i, :, :3, :3])
        assert_close(ours, by_W)
        dw = links.dw[i].T
        assert_close(formulations.angular_velocity.generalised_force(I[i], links.w[i], links.w_dot[i], dw), by_W)
    assert_differs(printed, by_W)


def test_3_1_kinetic_energy(chain, state, links):
    """Sil81 (3.1): K = Σ ½ m v² + ½ ω·I·ω."""
    I = inertias(chain, state.q)
    K = sum(
        0.5 * b.mass * v @ v + 0.5 * w @ I_i @ w for b, v, w, I_i in zip(chain.bodies, links.v, links.w, I, strict=True)
    )
    assert_close(K, chain.kinetic_energy(state.q, state.v))
    assert_close(torsor.kinetic_energy(chain.robot, state.q, state.v), K)


def momenta(chain, q, v):
    """m_i v_i and I_i·ω_i of every link, by hand."""
    linear = np.array([b.mass for b in chain.bodies])[:, None] * (centre_columns(chain, q)[0] @ v)
    return linear, np.einsum("iab,ib->ia", inertias(chain, q), angular_columns(chain, q) @ v)


def test_3_2_generalised_momentum(chain, state):
    """Sil81 (3.2): ∂K/∂q̇_j = Σ m v·∂v/∂q̇_j + ω·I·∂ω/∂q̇_j."""
    q, v, _ = state
    p, L = momenta(chain, q, v)
    expected = dots(p, centre_columns(chain, q)[0]) + dots(L, angular_columns(chain, q))
    assert_close(torsor.dynamics.generalised_momentum(chain.robot, q, v), expected)


def test_3_3_3_8_rate_of_the_generalised_momentum(chain, state, links):
    """Sil81 (3.3), (3.8): d/dt ∂K/∂q̇_j, with d/dt(∂v/∂q̇), İ and d/dt(∂ω/∂q̇), and with ∂v/∂q and ∂ω/∂q instead."""
    q, v, a = state
    (p, L), I = momenta(chain, q, v), inertias(chain, q)
    I_dot = by_hand.derivative(lambda t: inertias(chain, q + t * v))
    m = np.array([b.mass for b in chain.bodies])[:, None]
    moment = np.einsum("iab,ib->ia", I, links.w_dot)
    rate = by_hand.derivative(
        lambda t: torsor.dynamics.generalised_momentum(chain.robot, q + t * v + 0.5 * t * t * a, v + t * a)
    )
    shared = dots(m * links.v_dot, links.dv) + dots(moment, links.dw)
    flow = dots(np.einsum("iab,ib->ia", I_dot, links.w), links.dw)
    assert_close(rate, shared + dots(p, links.dv_rate) + flow + dots(L, links.dw_rate), DIFFERENCED)  # (3.3)
    dv_dq = np.einsum("iakl,l->iak", centre_columns(chain, q)[1], v)
    dw_dq = by_hand.gradient(lambda x: angular_columns(chain, x) @ v, q)
    assert_close(rate, shared + dots(p, dv_dq) + dots(L, dw_dq), DIFFERENCED)  # (3.8)


def test_3_4_rate_of_the_linear_columns(chain, state, links):
    """Sil81 (3.4): d/dt(∂v_i/∂q̇_j) = ∂v_i/∂q_j."""
    dv_dq = np.einsum("iakl,l->iak", centre_columns(chain, state.q)[1], state.v)
    assert_close(links.dv_rate, dv_dq)
    assert_close(angular_velocity.velocity_column_rates(chain.robot, state.q, state.v).linear, dv_dq)


def test_3_5_rate_of_the_inertia_tensor(chain, state, links):
    """Sil81 (3.5), E003-4: ω·İ·∂ω/∂q̇_j = ω × (I·ω)·∂ω/∂q̇_j, with İ on the left, which the appendix prints as I."""
    I = inertias(chain, state.q)
    I_dot = by_hand.derivative(lambda t: inertias(chain, state.q + t * state.v))
    right = np.einsum("ia,iaj->ij", np.cross(links.w, np.einsum("iab,ib->ia", I, links.w)), links.dw)
    assert_close(np.einsum("ia,iab,ibj->ij", links.w, I_dot, links.dw), right, DIFFERENCED)
    assert_differs(np.einsum("ia,iab,ibj->ij", links.w, I, links.dw), right)
    assert_close(angular_velocity.inertia_tensor_rate(I, links.w), I_dot, DIFFERENCED)
    moment = angular_velocity.gyroscopic_moment(I, links.w)
    assert_close(np.einsum("ia,iaj->ij", moment, links.dw), right)


def test_3_6_rate_of_the_angular_columns(chain, state, links):
    """Sil81 (3.6), E003-6: d/dt(∂ω_i/∂q̇_j) = ∂ω_i/∂q_j + ω_i × ∂ω_i/∂q̇_j, helical joints included."""
    dw_dq = by_hand.gradient(lambda q: angular_columns(chain, q) @ state.v, state.q)
    assert_close(links.dw_rate, dw_dq + np.cross(links.w[:, :, None], links.dw, axis=1), DIFFERENCED)
    rates = angular_velocity.velocity_column_rates(chain.robot, state.q, state.v)
    assert_close(rates.angular, dw_dq + np.cross(links.w[:, :, None], links.dw, axis=1), DIFFERENCED)


def test_3_7_triple_product(chain, state, links):
    """Sil81 (3.7): ω·I·(ω × ∂ω/∂q̇_j) = −ω × (I·ω)·∂ω/∂q̇_j."""
    L = momenta(chain, state.q, state.v)[1]
    left = np.einsum("ia,iaj->ij", L, np.cross(links.w[:, :, None], links.dw, axis=1))
    assert_close(left, -np.einsum("ia,iaj->ij", np.cross(links.w, L), links.dw))
    moment = angular_velocity.gyroscopic_moment(inertias(chain, state.q), links.w)
    assert_close(left, -np.einsum("ia,iaj->ij", moment, links.dw))


def test_3_9_gradient_of_the_kinetic_energy(chain, state, links):
    """Sil81 (3.9): ∂K/∂q_j = Σ m v·∂v/∂q_j + ω·I·∂ω/∂q_j + ½ ω·∂I/∂q_j·ω."""
    q, v, _ = state
    p, L = momenta(chain, q, v)
    dw_dq = by_hand.gradient(lambda q: angular_columns(chain, q) @ v, q)
    dI = by_hand.gradient(lambda q: inertias(chain, q), q)
    expected = dots(p, links.dv_rate) + dots(L, dw_dq) + 0.5 * np.einsum("ia,iabj,ib->j", links.w, dI, links.w)
    actual = by_hand.gradient(lambda q: torsor.kinetic_energy(chain.robot, q, v), q)
    assert_close(actual, expected, DIFFERENCED)


def test_3_10_gradient_of_the_inertia_tensor(chain, state, links):
    """Sil81 (3.10), E003-1: ½ ω·∂I/∂q_j·ω = −ω × (I·ω)·∂ω/∂q̇_j; printed ∂ω/∂q_j."""
    q, v, _ = state
    twisted = np.cross(links.w, momenta(chain, q, v)[1])
    left = 0.5 * np.einsum("ia,iabj,ib->ij", links.w, by_hand.gradient(lambda q: inertias(chain, q), q), links.w)
    assert_close(-np.einsum("ia,iaj->ij", twisted, links.dw), left, DIFFERENCED)
    I, dw = inertias(chain, q)[:, None], np.swapaxes(links.dw, 1, 2)  # ∂I_i/∂q_j, link i and joint j in front
    dI = angular_velocity.inertia_tensor_rate(np.broadcast_to(I, (chain.n, chain.n, 3, 3)), dw)
    assert_close(dI, np.moveaxis(by_hand.gradient(lambda q: inertias(chain, q), q), -1, 1), DIFFERENCED)
    moment = angular_velocity.gyroscopic_moment(inertias(chain, q), links.w)
    assert_close(-np.einsum("ia,iaj->ij", moment, links.dw), left, DIFFERENCED)
    dw_dq = by_hand.gradient(lambda q: angular_columns(chain, q) @ v, q)
    assert_differs(-np.einsum("ia,iaj->ij", twisted, dw_dq), left)


def forces_and_moments(chain, state, links):
    """F_i = m v̇_i and N_i = I·ω̇_i + ω_i × (I·ω_i) (1.3)."""
    I = inertias(chain, state.q)
    F = np.array([b.mass for b in chain.bodies])[:, None] * links.v_dot
    N = np.einsum("iab,ib->ia", I, links.w_dot) + np.cross(links.w, np.einsum("iab,ib->ia", I, links.w))
    return F, N


def test_3_11_3_12_generalised_forces(chain, state, links):
    """Sil81 (3.11), (3.12): τ_j = Σ F_i·∂v_i/∂q̇_j + N_i·∂ω_i/∂q̇_j, without gravity."""
    F, N = forces_and_moments(chain, state, links)
    tau = dots(F, links.dv) + dots(N, links.dw)
    assert_close(tau, chain.torques(*state, gravity=False))
    assert_close(torsor.inverse_dynamics(chain.robot.with_gravity(np.zeros(3)), *state), tau)
    assert_close(formulations.silver(chain.robot.with_gravity(np.zeros(3)), *state), tau)
    assert_close(formulations.silver(chain.robot, *state), chain.torques(*state))  # with gravity, E003-3


class Axis(NamedTuple):
    """Joint j in fixed axes: direction z, a point on the axis, pitch, and whether it turns."""

    z: np.ndarray
    point: np.ndarray
    pitch: float
    turns: bool


def axes(chain, q):
    found = []
    for j, (A, kind) in enumerate(zip(chain.screws, chain.kinds, strict=True)):
        T, (w, v) = chain.between(q, 0, j), A.reshape(2, 3)
        turns = kind != "P"
        z, point = (w, np.cross(w, v)) if turns else (v, np.zeros(3))
        found.append(Axis(T[:3, :3] @ z, T[:3, :3] @ point + T[:3, 3], w @ v if turns else 0.0, turns))
    return found


def test_3_13_to_3_16_velocities_as_sums_over_the_joints(chain, state, links):
    """Sil81 (3.13)–(3.16), E003-6: ∂v/∂q̇_j = z × p (+ h z if helical) or z, ∂ω/∂q̇_j = z or 0; and their sums."""
    centres, columns = chain.centres(state.q), angular_velocity.velocity_columns(chain.robot, state.q)
    for i in range(chain.n):
        dv, dw = np.zeros((3, chain.n)), np.zeros((3, chain.n))
        for j, axis in enumerate(axes(chain, state.q)[: i + 1]):
            p = centres[i] - axis.point
            dv[:, j] = np.cross(axis.z, p) + axis.pitch * axis.z if axis.turns else axis.z
            dw[:, j] = axis.z if axis.turns else 0.0
        assert_close(links.dv[i], dv)  # (3.15)
        assert_close(columns.linear[i], dv)
        assert_close(links.dw[i], dw)  # (3.16)
        assert_close(columns.angular[i], dw)
        assert_close(links.v[i], dv @ state.v)  # (3.13)
        assert_close(links.w[i], dw @ state.v)  # (3.14)


def test_joint_forces_as_projections(chain, state, links):
    """Sil81 after (3.16), E003-6: z·ΣF if translational, z·Σ(p × F + N) if rotational, plus h z·ΣF if helical."""
    (F, N), centres = forces_and_moments(chain, state, links), chain.centres(state.q)
    tau = []
    for j, (z, point, pitch, turns) in enumerate(axes(chain, state.q)):
        moment = (np.cross(centres[j:] - point, F[j:]) + N[j:]).sum(axis=0)
        tau.append(z @ moment + pitch * z @ F[j:].sum(axis=0) if turns else z @ F[j:].sum(axis=0))
    assert_close(torsor.inverse_dynamics(chain.robot.with_gravity(np.zeros(3)), *state), tau)


def test_gravity_as_an_acceleration_of_the_base(chain, state):
    """Sil81 §3.2, E003-3: the base accelerates with *minus* gravity; with plus it is wrong."""
    weightless, zero = chain.robot.with_gravity(np.zeros(3)), np.zeros(3)
    up, down = np.append(zero, -chain.gravity), np.append(zero, chain.gravity)
    tau = chain.torques(*state)
    still = np.zeros(6)
    assert_close(torsor.inverse_dynamics(weightless, *state, base_motion=(still, up)), tau)
    assert_close(torsor.inverse_dynamics(chain.robot, *state), tau)
    assert_differs(torsor.inverse_dynamics(weightless, *state, base_motion=(still, down)), tau)


# Appendix A


def test_a_1_linear_columns(chain, state, links):
    """Sil81 (A.1): ∂v_i/∂q̇_j = ∂r_i/∂q_j."""
    assert_close(links.dv, centre_columns(chain, state.q)[0])
    assert_close(links.dv, by_hand.gradient(chain.centres, state.q), DIFFERENCED)


def test_a_2_rate_of_an_axis(chain, state):
    """Sil81 (A.2): dz_j/dt = ω_j × z_j, the axis being fixed in link j."""
    w = angular_columns(chain, state.q) @ state.v
    z = np.array([axis.z if axis.turns else np.zeros(3) for axis in axes(chain, state.q)])
    assert_close(torsor.kinematics.joint_axes_rate(chain.robot, state.q, state.v)[:, :3], np.cross(w, z))


def test_a_3_derivative_of_an_axis(chain, state):
    """Sil81 (A.3): ∂z_k/∂q_j = z_j × z_k for j ≤ k, z = 0 for translational joints."""
    z = np.array([axis.z if axis.turns else np.zeros(3) for axis in axes(chain, state.q)])
    derivative = torsor.derivatives.mixed_jacobian_derivative(chain.robot, state.q, chain.links[-1])
    for k, j in np.ndindex(chain.n, chain.n):
        assert_close(derivative[:3, k, j], np.cross(z[j], z[k]) if j <= k else np.zeros(3))


def test_3_2_forces_and_moments_of_both_derivations(chain, state):
    """Sil81 §3.2: F_i and N_i of the Lagrange equation are those of Newton and Euler; sums over links give the joint forces."""
    q, v, a = state
    lagrange = formulations.lagrange_link_forces(chain.robot, q, v, a)
    newton = formulations.newton_euler_link_forces(chain.robot, q, v, a)
    assert_close(lagrange.force, newton.force)
    assert_close(lagrange.moment, newton.moment)
    felt, T = chain.felt(q, v, a), chain.poses(q)
    for i, body in enumerate(chain.bodies):
        x = np.column_stack([body.points, np.ones(len(body.masses))])
        pushes = body.masses[:, None] * (x @ felt[i].T)[:, :3]
        levers = (x @ T[i].T)[:, :3] - chain.centres(q)[i]
        assert_close(lagrange.force[i], pushes.sum(axis=0))
        assert_close(lagrange.moment[i], np.cross(levers, pushes).sum(axis=0))
    columns = formulations.angular_velocity.velocity_columns(chain.robot, q)
    tau = np.einsum("ia,iaj->j", lagrange.force, columns.linear) + np.einsum(
        "ia,iaj->j", lagrange.moment, columns.angular
    )
    assert_close(tau, chain.torques(q, v, a))
    assert_close(formulations.silver_recursive(chain.robot, q, v, a), tau)
    many = formulations.lagrange_link_forces(chain.robot, np.stack([q] * 2), v, a)
    assert many.force.shape == many.moment.shape == (2, chain.n, 3)


def test_3_2_a_load_on_the_tip_as_an_extra_link(chain, state, rng):
    """Sil81 §3.2: "an additional link attached to the terminal link, whose motion is defined so as to produce the required
    external forces".
    """
    (q, v, a), F, mass = state, rng.normal(size=6), 0.7
    V, J = (f(chain.robot, q, *x, "tip") for f, x in ((torsor.kinematics.body_twist, (v,)), (torsor.body_jacobian, ())))
    V_dot = formulations.extra_link_acceleration(mass, V, F)
    ball = torsor.Inertia(mass, np.zeros(3), mass * np.eye(3))
    pull = torsor.papers.rigid_body.wrench(ball.row, V, V_dot)
    assert_close(pull, -F)
    tau = formulations.silver_recursive(chain.robot, q, v, a) + J.T @ pull
    assert_close(tau, torsor.inverse_dynamics(chain.robot, q, v, a, wrenches={"tip": F}))
    assert_close(formulations.silver_recursive(chain.robot, q, v, a, wrenches={"tip": F}), tau)
