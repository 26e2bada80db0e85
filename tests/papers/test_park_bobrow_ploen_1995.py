"""Park, Bobrow & Ploen, A Lie group formulation of robot dynamics (1995): §2, §3 and the appendix."""

import by_hand
import numpy as np
from by_hand import DIFFERENCED, Ad, assert_close, assert_differs, bracket, hat, motion, pose, product, skew, vee
from scipy.linalg import block_diag, expm

import torsor
from torsor import lie
from torsor.lie import se3, so3
from torsor.papers import force_first, rigid_body

inv = np.linalg.inv


# §2.1 SE(3) and se(3)


def test_group_multiplication(rng):
    """PBP95 §2.1: (Θ1, b1)·(Θ2, b2) = (Θ1 Θ2, Θ1 b2 + b1), and the inverse undoes it."""
    X, Y = by_hand.random_pose(rng), by_hand.random_pose(rng)
    expected = se3.pose(X[:3, :3] @ Y[:3, :3], X[:3, :3] @ Y[:3, 3] + X[:3, 3])
    assert_close(se3.compose(X, Y), expected)
    assert_close(se3.inverse(X), inv(X))


def test_1_5_6_bracket(rng):
    """PBP95 (1), (5), (6): [x, y] = (ω1 × ω2, ω1 × v2 − ω2 × v1), the commutator of the 4×4 matrices."""
    x, y = rng.normal(size=(2, 6))
    printed = np.concatenate([np.cross(x[:3], y[:3]), np.cross(x[:3], y[3:]) - np.cross(y[:3], x[3:])])
    assert_close(printed, bracket(x, y))
    assert_close(lie.bracket(x, y), printed)
    assert_close(lie.ad(x), np.block([[skew(x[:3]), np.zeros((3, 3))], [skew(x[3:]), skew(x[:3])]]))


def test_2_3_adjoint(rng):
    """PBP95 (2), (3): Ad_X(x) = (Θω, b × Θω + Θv), as a pair and as a 6×6 matrix."""
    X, x = by_hand.random_pose(rng), rng.normal(size=6)
    Theta, b = X[:3, :3], X[:3, 3]
    printed = np.concatenate([Theta @ x[:3], np.cross(b, Theta @ x[:3]) + Theta @ x[3:]])
    assert_close(printed, vee(X @ hat(x) @ inv(X)))
    assert_close(lie.transform_twist(X, x), printed)
    assert_close(lie.Ad(X), np.block([[Theta, np.zeros((3, 3))], [skew(b) @ Theta, Theta]]))


def test_inverse_and_product_of_adjoints(rng):
    """PBP95 after (3): Ad_X⁻¹ = Ad_{X⁻¹} and Ad_X Ad_Y = Ad_XY."""
    X, Y, x = by_hand.random_pose(rng), by_hand.random_pose(rng), rng.normal(size=6)
    assert_close(lie.transform_twist_inverse(X, x), Ad(inv(X)) @ x)
    assert_close(lie.Ad(X) @ lie.Ad(Y), Ad(X @ Y))


def test_4_dual_adjoint(rng):
    """PBP95 (4): Ad*_X is the transpose, (Θᵀ, Θᵀ[b]ᵀ; 0, Θᵀ)."""
    X, z = by_hand.random_pose(rng), rng.normal(size=6)
    Theta, b = X[:3, :3], X[:3, 3]
    printed = np.block([[Theta.T, Theta.T @ skew(b).T], [np.zeros((3, 3)), Theta.T]])
    assert_close(printed, Ad(X).T)
    assert_close(lie.transform_wrench(X, z), printed @ z)


def test_7_dual_bracket(rng):
    """PBP95 (7): ad*_x(z) = (−[ω], −[v]; 0, −[ω])(m, f), the transpose of ad_x."""
    x, z = rng.normal(size=(2, 6))
    printed = np.block([[-skew(x[:3]), -skew(x[3:])], [np.zeros((3, 3)), -skew(x[:3])]])
    assert_close(printed, by_hand.ad(x).T)
    assert_close(lie.bracket_dual(x, z), printed @ z)


# §2.2 Velocities and forces


def test_inertial_and_body_fixed_velocity(rng):
    """PBP95 §2.2: Ẋ X⁻¹ = (Θ̇Θ⁻¹, ḃ − Θ̇Θ⁻¹ b), X⁻¹ Ẋ = (Θ⁻¹Θ̇, Θ⁻¹ ḃ), and Ad_T⁻¹ of it for X T."""
    X, T, V = by_hand.random_pose(rng), by_hand.random_pose(rng), rng.normal(size=6)
    X_dot = X @ hat(V)
    Theta, b, Theta_dot, b_dot = X[:3, :3], X[:3, 3], X_dot[:3, :3], X_dot[:3, 3]
    turning = Theta_dot @ Theta.T
    inertial = np.concatenate([(turning[2, 1], turning[0, 2], turning[1, 0]), b_dot - turning @ b])
    assert_close(se3.spatial_velocity(X, X_dot), inertial)
    assert_close(se3.body_velocity(X, X_dot), V)
    assert_close(se3.body_velocity(X @ T, X_dot @ T), Ad(inv(T)) @ V)


def test_8_moment_as_a_skew_matrix(rng):
    """PBP95 (8): the moment of a moment-force pair as a skew matrix."""
    m = rng.normal(size=3)
    assert_close(so3.hat(m), np.array([[0, -m[2], m[1]], [m[2], 0, -m[0]], [-m[1], m[0], 0]]))
    assert_close(so3.vee(skew(m)), m)


def test_9_10_11_wrench_under_a_change_of_frame(rng):
    """PBP95 (9)–(11): a force at a point, its moment about the new origin; (f, m) moves like a twist; same power."""
    T, point, force, V = by_hand.random_pose(rng), *rng.normal(size=(2, 3)), rng.normal(size=6)
    Theta, b = T[:3, :3], T[:3, 3]
    m, f = np.cross(point, force), force
    moved = lie.transform_wrench(T, np.concatenate([m, f]))
    assert_close(moved, np.concatenate([Theta.T @ np.cross(point - b, force), Theta.T @ force]))
    assert_close(np.roll(moved, 3), inv(Ad(T)) @ np.concatenate([f, m]))  # (9)
    assert_close(hat(np.roll(moved, 3)), inv(T) @ hat(np.concatenate([f, m])) @ T)  # (10)
    assert_close(moved @ (Ad(inv(T)) @ V), np.concatenate([m, f]) @ V)
    assert_close(lie.transform_wrench_inverse(T, moved), np.concatenate([m, f]))


def test_kinetic_energy_as_a_quadratic_form(body, rng):
    """PBP95 §2.3: ½ ωᵀĪω + ½ m vᵀv, the form diag(Ī, m 1) at the centre of mass."""
    centred, V = body.moved(pose(p=-body.com)), rng.normal(size=6)
    form = block_diag(body.rotational, body.mass * np.eye(3))
    assert_close(0.5 * V @ form @ V, centred.energy(V))
    assert_close(rigid_body.kinetic_energy(centred.row, V), centred.energy(V))


# §2.4 Products of exponentials


def test_12_13_14_products_of_exponentials(chain, state):
    """PBP95 (12)–(14), E001-14: local, space and body form give the same pose; M⁻¹ e^P M = e^{M⁻¹PM}."""
    x, tip = state.q, chain.tip
    f = chain.between(x, 0, chain.n - 1) @ tip
    M = [*chain.homes[:-1], tip]  # each link's frame at its tip
    M = [M[0], *(inv(M[i - 1]) @ M[i] for i in range(1, chain.n))]
    P = [Ad(inv(product(M[:i]))) @ A for i, A in enumerate(chain.screws)]
    local = torsor.kinematics.LocalForm(np.array(P), np.array(M))
    space, body = (
        torsor.kinematics.SpaceForm(chain.screws, tip),
        torsor.kinematics.BodyForm(chain.screws @ Ad(inv(tip)).T, tip),
    )
    assert_close(local.pose(x), product(motion(S, t) @ step for S, t, step in zip(P, x, M, strict=True)))
    assert_close(space.pose(x), f)
    assert_close(body.pose(x), tip @ product(motion(B, t) for B, t in zip(body.screws, x, strict=True)))
    for form in (local, body, torsor.kinematics.link_form(chain.robot, "tip")):
        assert_close(form.pose(x), f)
        assert_close(form.to_space().screws, chain.screws)
        assert_close(form.to_space().home, tip)
    assert_close(space.to_body().screws, body.screws)
    assert_close(space.to_local(np.array(M)).screws, P)
    inertias = [body.inertia for body in chain.bodies]
    for robot in (chain.robot, local.robot(inertias), body.robot(chain.homes, inertias)):
        assert_close(torsor.frame_pose(robot, x, "tip"), f)


def test_15_16_17_closed_form_of_the_exponential(rng):
    """PBP95 (15)–(17), E001-13: for |ω| = 1 as printed; by normalising for other lengths; (1, vφ) for ω = 0."""
    S, phi = rng.normal(size=6), 0.7
    S = S / np.linalg.norm(S[:3])
    W = skew(S[:3])
    R = np.eye(3) + np.sin(phi) * W + (1 - np.cos(phi)) * W @ W
    b = (phi * np.eye(3) + (1 - np.cos(phi)) * W + (phi - np.sin(phi)) * W @ W) @ S[3:]
    assert_close(se3.exp(S * phi), pose(R, b))
    assert_close(se3.exp(S * phi), expm(hat(S) * phi))
    for length in (1e-9, 1e-3, 1.0, 3.0, 7.0):
        assert_close(se3.exp(S * length), expm(hat(S) * length))
        assert_close(motion(S, length), expm(hat(S) * length))  # nor does the tests' own exponential err
    sliding = np.concatenate([np.zeros(3), S[3:]])
    assert_close(se3.exp(sliding * phi), pose(p=phi * S[3:]))


def test_15_joints_with_screws_of_any_length(chain, state, rng):
    """PBP95 (15), E001-13: a screw twice as long moves its joint twice as far."""
    lengths = rng.uniform(0.5, 2.0, chain.n)
    inertias = [body.inertia for body in chain.bodies]
    scaled = torsor.serial_chain(chain.screws * lengths[:, None], chain.homes, inertias)
    assert_close(torsor.link_poses(scaled, state.q / lengths), chain.poses(state.q))
    assert_close(torsor.mass_matrix(scaled, state.q / lengths), chain.mass_matrix(state.q) * np.outer(lengths, lengths))
    assert_close(torsor.kinematics.link_form(scaled, "tip").to_space().screws, chain.screws * lengths[:, None])


def test_18_19_20_velocity_of_the_tip(chain, state):
    """PBP95 (18)–(20): f⁻¹ḟ = B_n ẋ_n + e^{−B_n x_n} B_{n−1} e^{B_n x_n} ẋ_{n−1} + …, and Ad_{M⁻¹} of it with A."""
    x, x_dot, _ = state
    B = [inv(chain.tip) @ hat(A) @ chain.tip for A in chain.screws]
    by_B, by_A = np.zeros((4, 4)), np.zeros((4, 4))
    for k in range(chain.n):
        beyond = chain.between(x, k + 1, chain.n - 1)
        beyond_B = inv(chain.tip) @ beyond @ chain.tip
        by_B = by_B + inv(beyond_B) @ B[k] @ beyond_B * x_dot[k]
        by_A = by_A + inv(beyond) @ hat(chain.screws[k]) @ beyond * x_dot[k]
    V = torsor.body_jacobian(chain.robot, x, "tip") @ x_dot
    assert_close(V, vee(by_B))
    assert_close(V, vee(inv(chain.tip) @ by_A @ chain.tip))

    def f(t):
        return chain.between(x + t * x_dot, 0, chain.n - 1) @ chain.tip

    assert_close(V, vee(inv(f(0.0)) @ by_hand.derivative(f)), DIFFERENCED)


# §3 The recursive formulation (no gravity)


def test_21_inertia_about_the_link_frame(body):
    """PBP95 (21): J = (I − m[r]², m[r]; −m[r], m 1), symmetric and positive definite."""
    m, r = body.mass, skew(body.com)
    printed = np.block([[body.rotational - m * r @ r, m * r], [-m * r, m * np.eye(3)]])
    assert_close(printed, body.matrix)
    assert_close(body.inertia.matrix, printed)
    assert np.linalg.eigvalsh(body.inertia.matrix)[0] > 0


def test_23_67_link_poses(chain, state):
    """PBP95 (23), (67): f_{i−1,i} = M_i e^{S_i x_i}, and f_i = f_01 f_12 ⋯ f_{i−1,i}."""
    M, S = [np.eye(4), *chain.homes], chain.link_screws
    f = [inv(M[i]) @ M[i + 1] @ motion(S[i], state.q[i]) for i in range(chain.n)]
    assert_close(torsor.link_poses(chain.robot, state.q), [product(f[: i + 1]) for i in range(chain.n)])


def test_22_24_70_velocity_recursion(chain, state):
    """PBP95 (22), (24), (68)–(70), E001-1: V_i = Ad_{f⁻¹}(V_{i−1}) + S_i ẋ_i; with Ad_f, as printed in (24), wrong."""
    q, v, a = state
    V, S, f = [np.zeros(6), *chain.link_motion(q, v, a)[0]], chain.link_screws, chain.steps(q)
    for i, link in enumerate(chain.links):
        V_i = torsor.kinematics.body_twist(chain.robot, q, v, link)
        assert_close(V_i, Ad(inv(f[i])) @ V[i] + S[i] * v[i])
    assert_differs(Ad(f[i]) @ V[i] + S[i] * v[i], V_i)


def test_25_71_73_acceleration_recursion(chain, state):
    """PBP95 (25), (71)–(73), E001-2, E001-10: Ad_{f⁻¹} twice, on V_{i−1}; with Ad_f (25) or on V_i (73) wrong."""
    q, v, a = state
    (V, V_dot), S, f = chain.link_motion(q, v, a), chain.link_screws, chain.steps(q)
    V, V_dot = [np.zeros(6), *V], [np.zeros(6), *V_dot]
    for i, link in enumerate(chain.links):
        A_i, back, own = torsor.kinematics.body_acceleration(chain.robot, q, v, a, link), Ad(inv(f[i])), S[i] * v[i]
        assert_close(A_i, S[i] * a[i] + back @ V_dot[i] + bracket(back @ V[i], own))
    printed_25 = S[i] * a[i] + Ad(f[i]) @ V_dot[i] + bracket(Ad(f[i]) @ V[i], own)
    printed_73 = S[i] * a[i] + back @ V_dot[i] + bracket(back @ V[i + 1], own)
    assert_differs(printed_25, A_i)
    assert_differs(printed_73, A_i)


def test_26_80_force_recursion(chain, state):
    """PBP95 (26), (80), E001-3: F_i = Ad*_{f_{i,i+1}⁻¹}(F_{i+1}) + J_i V̇_i − ad*_{V_i}(J_i V_i); printed Ad*_f."""
    q, v, a = state
    robot = chain.robot.with_gravity(np.zeros(3))
    F = torsor.dynamics.joint_wrenches(robot, q, v, a)
    assert_close(F, chain.joint_wrenches(q, v, a, gravity=False))
    (V, V_dot), f = chain.link_motion(q, v, a), chain.steps(q)
    beyond = [*F[1:], np.zeros(6)]
    f = [*f, np.eye(4)]
    for i, body in enumerate(chain.bodies):
        on_link = body.matrix @ V_dot[i] - by_hand.ad(V[i]).T @ (body.matrix @ V[i])
        assert_close(on_link, body.wrench(V[i], V_dot[i]))
        assert_close(F[i] - Ad(inv(f[i + 1])).T @ beyond[i], on_link)
    assert_differs(F[0] - Ad(f[1]).T @ beyond[0], chain.bodies[0].wrench(V[0], V_dot[0]))


def test_27_joint_torque(chain, state):
    """PBP95 (27): τ_i = S_iᵀ F_i."""
    F = chain.joint_wrenches(*state, gravity=False)
    tau = [S @ F_i for S, F_i in zip(chain.link_screws, F, strict=True)]
    assert_close(torsor.inverse_dynamics(chain.robot.with_gravity(np.zeros(3)), *state), tau)


def test_28_featherstone_arrangement(body, rng):
    """PBP95 (28): the inertia with its rows of blocks exchanged goes with (a, b)^(c, d) = aᵀd + bᵀc."""
    V, m, r = rng.normal(size=6), body.mass, skew(body.com)
    printed = np.block([[-m * r, m * np.eye(3)], [body.rotational - m * r @ r, m * r]])
    assert_close(np.roll(body.inertia.matrix, 3, axis=0), printed)
    P = printed @ V
    assert_close(0.5 * (V[:3] @ P[3:] + V[3:] @ P[:3]), body.energy(V))


# Appendix


def test_74_77_newton_and_euler_about_the_link_frame(body, rng):
    """PBP95 (74)–(77): f = m ā, moment I ω̇ + ω × I ω + r × m ā, ā = v̇ + ω × v + ω̇ × r + ω × (ω × r)."""
    V, V_dot = rng.normal(size=(2, 6))
    force = rigid_body.wrench_about_frame(body.mass, body.com, body.rotational, V, V_dot)
    assert_close(force, body.wrench(V, V_dot))


def test_78_79_81_force_and_moment_by_cross_products(body, rng):
    """PBP95 (78), (79), (81): the same, multiplied out with [ω], [r]."""
    V, V_dot = rng.normal(size=(2, 6))
    W, W_dot, r, m = skew(V[:3]), skew(V_dot[:3]), body.com, body.mass
    f = m * (V_dot[3:] + W @ V[3:] + W_dot @ r + W @ W @ r)
    moment = body.rotational @ V_dot[:3] + W @ body.rotational @ V[:3] + np.cross(r, f)
    assert_close(rigid_body.wrench(body.row, V, V_dot), np.concatenate([moment, f]))


def test_82_83_moment_by_the_geometric_formula(body, rng):
    """PBP95 (82)–(83), E001-11: −m[ω][r]²ω, not + as printed; and the identities that lead to (79)."""
    V, V_dot = rng.normal(size=(2, 6))
    (w, v), (w_dot, v_dot), m = V.reshape(2, 3), V_dot.reshape(2, 3), body.mass
    W, U, X, I = skew(w), skew(v), skew(body.com), body.rotational
    rest = I @ w_dot - m * X @ X @ w_dot + m * X @ v_dot + W @ I @ w + m * W @ X @ v + m * U @ W @ body.com
    moment = rigid_body.wrench(body.row, V, V_dot)[:3]
    assert_close(rest - m * W @ X @ X @ w, moment)
    assert_differs(rest + m * W @ X @ X @ w, moment)
    assert_close(-W @ X @ X @ w, X @ W @ W @ body.com)
    assert_close(-X @ X @ w_dot, X @ skew(w_dot) @ body.com)
    assert_close(W @ X @ v + U @ W @ body.com, X @ W @ v)


def test_8_9_10_28_wrenches_with_the_force_first(body, rng):
    """PBP95 (8)–(10), (28): as calls. A wrench (f, m) moves like a twist; the inertia and the product of Featherstone."""
    T, V, F = by_hand.random_pose(rng), *rng.normal(size=(2, 6))
    m, f = F[:3], F[3:]
    ours, moved = force_first.exchanged(F), lie.transform_wrench(T, F)
    assert_close(force_first.moment_matrix(m), skew(m))
    assert_close(ours, np.concatenate([f, m]))
    assert_close(force_first.exchanged(ours), F)
    assert_close(force_first.transform(T, ours), np.concatenate([moved[3:], moved[:3]]))
    assert_close(force_first.matrix(ours), np.block([[skew(f), m[:, None]], [np.zeros((1, 4))]]))
    assert_close(force_first.matrix(force_first.transform(T, ours)), inv(T) @ force_first.matrix(ours) @ T)
    r = skew(body.com)
    printed = np.block([[-body.mass * r, body.mass * np.eye(3)], [body.rotational - body.mass * r @ r, body.mass * r]])
    assert_close(force_first.inertia(body.row), printed)
    assert_close(0.5 * force_first.inner_product(V, force_first.inertia(body.row) @ V), body.energy(V))
    assert_close(force_first.inner_product(V, ours), V @ F)
    many = np.stack([body.row] * 2)
    assert force_first.inertia(many).shape == (2, 6, 6)
