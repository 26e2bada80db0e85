"""Lynch & Park, Modern Robotics, draft chapter 9: §9.1 to §9.3, from the Lagrangian to the recursion."""

import by_hand
import numpy as np
import pytest
from by_hand import DIFFERENCED, Ad, ad, assert_close, assert_differs, bracket, hat, motion, pose, product, skew, vee
from scipy.linalg import block_diag, expm

import torsor
from torsor import lie
from torsor.lie import so3
from torsor.papers import rigid_body

inv = np.linalg.inv


@pytest.fixture(params=["RPHR", "HRRPRH"])
def chain(request):
    """The book's link frames sit at the centres of mass."""
    return by_hand.random_chain(request.param, seed=9, frames="centre of mass")


# §9.1 Lagrangian formulation


def test_9_1_9_2_equations_of_motion(chain, state):
    """LP (9.1), (9.2): τ = M θ̈ + b, and θ̈ = M⁻¹ (τ − b)."""
    q, v, a = state
    tau = chain.torques(q, v, a)
    b = torsor.bias_forces(chain.robot, q, v)
    assert_close(torsor.mass_matrix(chain.robot, q) @ a + b, tau)
    assert_close(b, chain.torques(q, v, 0.0 * a))
    assert_close(torsor.dynamics.inverse_mass_matrix(chain.robot, q), inv(chain.mass_matrix(q)), 1e-11)  # cond M < 1e2
    assert_close(torsor.forward_dynamics(chain.robot, q, v, tau), a, 1e-11)


def test_9_3_9_8_9_11_euler_lagrange_equations(chain, state):
    """LP (9.3), (9.8), (9.9), (9.11): τ = d/dt ∂L/∂θ̇ − ∂L/∂θ of L = K − P, differentiated numerically."""
    q, v, a = state

    def lagrangian(q, v):
        return torsor.kinetic_energy(chain.robot, q, v) - torsor.potential_energy(chain.robot, q)

    def momentum(t):
        at = q + t * v + 0.5 * t * t * a
        return by_hand.gradient(lambda v: lagrangian(at, v), v + t * a, step=1.0)

    tau = by_hand.derivative(momentum) - by_hand.gradient(lambda q: lagrangian(q, v), q)
    assert_close(torsor.inverse_dynamics(chain.robot, q, v, a), tau, DIFFERENCED)


def test_9_4_9_5_9_6_particle_on_a_vertical_line():
    """LP (9.4)–(9.6): L = ½ m ẋ² − m g x and f = m ẍ + m g."""
    m, g, x, v, a = 1.7, 9.81, 0.4, -0.6, 2.3
    particle = torsor.serial_chain([[0, 0, 0, 0, 0, 1.0]], [np.eye(4)], [torsor.Inertia.point(m)], gravity=(0, 0, -g))
    assert_close(torsor.kinetic_energy(particle, [x], [v]), 0.5 * m * v**2)
    assert_close(torsor.potential_energy(particle, [x]), m * g * x)
    assert_close(torsor.inverse_dynamics(particle, [x], [v], [a]), [m * a + m * g])


class Planar2R:
    """The book's planar 2R chain: point masses at the ends of the links, gravity along −y."""

    m1, m2, L1, L2, g = 1.3, 0.8, 0.9, 0.6, 9.81
    robot = torsor.robots.planar2r(masses=(m1, m2), lengths=(L1, L2))
    q, v, a = np.array([[0.4, -1.1], [0.7, 1.9], [-0.5, 1.2]])


def test_positions_and_velocities_of_the_2r_chain():
    """LP §9.1.1: (x_1, y_1), (x_2, y_2) and their rates."""
    arm, (t1, t2), (w1, w2) = Planar2R, Planar2R.q, Planar2R.v
    robot = arm.robot.with_frame("elbow", "link_1", pose(p=(arm.L1, 0.0, 0.0)))
    elbow = arm.L1 * np.array([np.cos(t1), np.sin(t1)])
    tip = elbow + arm.L2 * np.array([np.cos(t1 + t2), np.sin(t1 + t2)])
    assert_close(torsor.frame_pose(robot, arm.q, "elbow")[:2, 3], elbow)
    assert_close(torsor.frame_pose(robot, arm.q, "tip")[:2, 3], tip)
    s1, c1, s12, c12 = np.sin(t1), np.cos(t1), np.sin(t1 + t2), np.cos(t1 + t2)
    rate = [[-arm.L1 * s1 - arm.L2 * s12, -arm.L2 * s12], [arm.L1 * c1 + arm.L2 * c12, arm.L2 * c12]]
    assert_close(torsor.kinematics.mixed_twist(robot, arm.q, arm.v, "elbow")[3:5], arm.L1 * w1 * np.array([-s1, c1]))
    assert_close(torsor.mixed_jacobian(robot, arm.q, "tip")[3:5], rate)
    assert_close(torsor.kinematics.mixed_twist(robot, arm.q, arm.v, "tip")[3:5], np.array(rate) @ [w1, w2])


def test_9_7_energies_of_the_2r_chain():
    """LP (9.7), E002-1: in K_2, m_2 multiplies all three terms, not only the first."""
    arm, (t1, t2), (w1, w2) = Planar2R, Planar2R.q, Planar2R.v
    K1 = 0.5 * arm.m1 * arm.L1**2 * w1**2
    first = (arm.L1**2 + 2 * arm.L1 * arm.L2 * np.cos(t2) + arm.L2**2) * w1**2
    rest = 2 * (arm.L2**2 + arm.L1 * arm.L2 * np.cos(t2)) * w1 * w2 + arm.L2**2 * w2**2
    kinetic = torsor.kinetic_energy(arm.robot, arm.q, arm.v)
    assert_close(kinetic, K1 + 0.5 * arm.m2 * (first + rest))
    assert_differs(K1 + 0.5 * (arm.m2 * first + rest), kinetic)
    P1 = arm.m1 * arm.g * arm.L1 * np.sin(t1)
    P2 = arm.m2 * arm.g * (arm.L1 * np.sin(t1) + arm.L2 * np.sin(t1 + t2))
    assert_close(torsor.potential_energy(arm.robot, arm.q), P1 + P2)


def test_torques_of_the_2r_chain():
    """LP after (9.8), E002-2, E002-3: cos θ2 in τ_1; + m2 L1 L2 θ̇1² sin θ2 and + m2 g L2 cos(θ1 + θ2) in τ_2."""
    m1, m2, L1, L2, g = (getattr(Planar2R, name) for name in ("m1", "m2", "L1", "L2", "g"))
    (t1, t2), (w1, w2), (a1, a2) = Planar2R.q, Planar2R.v, Planar2R.a
    inertia_1 = ((m1 + m2) * L1**2 + m2 * (2 * L1 * L2 * np.cos(t2) + L2**2)) * a1
    coriolis_1 = -2 * m2 * L1 * L2 * w1 * w2 * np.sin(t2) - m2 * L1 * L2 * w2**2 * np.sin(t2)
    weight_1 = (m1 + m2) * L1 * g * np.cos(t1) + m2 * g * L2 * np.cos(t1 + t2)
    rest_1 = inertia_1 + coriolis_1 + weight_1
    inertia_2 = m2 * (L1 * L2 * np.cos(t2) + L2**2) * a1 + m2 * L2**2 * a2
    coriolis_2, weight_2 = m2 * L1 * L2 * w1**2 * np.sin(t2), m2 * g * L2 * np.cos(t1 + t2)
    tau = torsor.inverse_dynamics(Planar2R.robot, Planar2R.q, Planar2R.v, Planar2R.a)
    assert_close(tau[0], rest_1 + m2 * (L1 * L2 * np.cos(t2) + L2**2) * a2)
    assert_differs(rest_1 + m2 * (L1 * L2 * np.cos(t1) + L2**2) * a2, tau[0])
    assert_close(tau[1], inertia_2 + coriolis_2 + weight_2)
    assert_differs(inertia_2 - m2 * L1 * L2 * w1 * w2 * np.sin(t2) + weight_2, tau[1])
    assert_differs(inertia_2 + coriolis_2 - weight_2, tau[1])


def test_9_10_kinetic_energy(chain, state):
    """LP (9.10): K = ½ θ̇ᵀ M θ̇."""
    q, v, _ = state
    assert_close(0.5 * v @ torsor.mass_matrix(chain.robot, q) @ v, chain.kinetic_energy(q, v))
    assert_close(torsor.kinetic_energy(chain.robot, q, v), chain.kinetic_energy(q, v))


def test_9_12_9_13_9_85_9_86_christoffel_form(chain, state):
    """LP (9.12), (9.13), (9.85), (9.86): lowered index *first*; τ_i = Σ m_ij θ̈_j + Σ Γ_ijk θ̇_j θ̇_k + ∂P/∂θ_i."""
    q, v, a = state
    dm = by_hand.gradient(lambda q: torsor.mass_matrix(chain.robot, q), q)  # [i, j, k] = ∂m_ij/∂θ_k
    gamma = 0.5 * (dm + np.einsum("ikj->ijk", dm) - np.einsum("jki->ijk", dm))
    assert_close(gamma, np.einsum("jki->ijk", chain.christoffel(q)), DIFFERENCED)
    assert_close(gamma, np.einsum("jki->ijk", torsor.geometry.christoffel_symbols(chain.robot, q)), DIFFERENCED)
    weight = by_hand.gradient(lambda q: torsor.potential_energy(chain.robot, q), q)
    tau = chain.mass_matrix(q) @ a + np.einsum("ijk,j,k->i", gamma, v, v) + weight
    assert_close(torsor.inverse_dynamics(chain.robot, q, v, a), tau, DIFFERENCED)


# §9.2 A single rigid body, frame at the centre of mass


@pytest.fixture
def centred(body):
    return body.moved(pose(p=-body.com))


def test_9_14_to_9_20_classical_equations(centred, rng):
    """LP (9.14)–(9.20): f = m dv/dt and m = dh/dt of a tumbling body: m (v̇ + ω × v) and I ω̇ + ω × I ω in its axes."""
    V, V_dot = rng.normal(size=(2, 6))

    def path(t):
        return expm(hat(t * V + 0.5 * t * t * V_dot))  # twist V and its rate V̇ at t = 0

    def momentum(t):
        T, T_dot = path(t), by_hand.derivative(path, t)
        linear = centred.mass * T_dot[:3, 3]
        r, r_dot = centred.points @ T[:3, :3].T, centred.points @ T_dot[:3, :3].T
        return np.concatenate([(centred.masses[:, None] * np.cross(r, r_dot)).sum(axis=0), linear])

    actual = rigid_body.wrench_classical(centred.mass, centred.rotational, V, V_dot)
    assert_close(actual, by_hand.derivative(momentum), DIFFERENCED)
    assert_close(actual, centred.wrench(V, V_dot))


def test_rotational_inertia_as_a_sum(body):
    """LP §9.2.1: I_xx = Σ m (y² + z²), I_xy = −Σ m x y, … about the centre of mass."""
    inertia = torsor.Inertia.particles(body.masses, body.points)
    m, (x, y, z) = body.masses, (body.points - body.com).T
    expected = [
        [m @ (y * y + z * z), -m @ (x * y), -m @ (x * z)],
        [-m @ (x * y), m @ (x * x + z * z), -m @ (y * z)],
        [-m @ (x * z), -m @ (y * z), m @ (x * x + y * y)],
    ]
    assert_close(inertia.rotational, expected)
    assert_close(inertia.mass, body.mass)
    assert_close(inertia.com, body.com)


SOLIDS = {  # name: the library's body, half its height, and the half-axes of its elliptic slice at height z
    "cylinder": (torsor.Inertia.cylinder(0.3, 1.2, density=2.0), 0.6, lambda z: (0.3, 0.3)),
    "sphere": (torsor.Inertia.sphere(0.7, density=2.0), 0.7, lambda z: (np.sqrt(0.49 - z * z),) * 2),
    "ellipsoid": (
        torsor.Inertia.ellipsoid((0.5, 0.7, 0.9), density=2.0),
        0.9,
        lambda z: (0.5 * np.sqrt(1 - (z / 0.9) ** 2), 0.7 * np.sqrt(1 - (z / 0.9) ** 2)),
    ),
    "capsule": (
        torsor.Inertia.capsule(0.3, 1.2, density=2.0),
        0.9,
        lambda z: (np.sqrt(0.09 - max(abs(z) - 0.6, 0.0) ** 2),) * 2,
    ),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_rotational_inertia_as_an_integral(name):
    """LP §9.2.1: I_xx = ∫ (y² + z²) ρ dV, …, slice by slice."""
    inertia, half, slice_at = SOLIDS[name]
    nodes, weights = np.polynomial.legendre.leggauss(8)  # exact here: the integrands are polynomials on each piece
    mass, second = 0.0, np.zeros(3)
    for low, high in ((-half, -0.6), (-0.6, 0.6), (0.6, half)):  # the capsule's pieces; harmless for the others
        for node, weight in zip(nodes, weights, strict=True):
            z = 0.5 * (low + high) + 0.5 * (high - low) * node
            a, b = slice_at(z)
            area = 2.0 * 0.5 * (high - low) * weight * np.pi * a * b  # density 2
            mass += area
            second += area * np.array([a * a / 4, b * b / 4, z * z])
    assert_close(inertia.mass, mass)
    assert_close(inertia.rotational, np.diag(second.sum() - second))


def test_rotational_inertia_of_a_box():
    """LP §9.2.1: the same integrals over a box, by Gauss points (exact for quadratics)."""
    size, m = np.array([0.4, 0.7, 1.1]), 2.5
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, 8).T * size / np.sqrt(12.0)
    expected = by_hand.Body(np.full(8, m / 8), corners).rotational
    assert_close(torsor.Inertia.box(size, mass=m).rotational, expected)


def test_9_19_9_24_9_25_momentum_and_energy(centred, rng):
    """LP (9.18), (9.19), (9.24), (9.25): h_b = I ω, P = G V, ½ ωᵀIω + ½ m vᵀv = ½ VᵀGV."""
    V = rng.normal(size=6)
    P = np.array([centred.pairing(hat(V), hat(e)) for e in np.eye(6)])  # Σ (x × m ẋ, m ẋ)
    assert_close(np.concatenate([centred.rotational @ V[:3], centred.mass * V[3:]]), P)
    assert_close(rigid_body.momentum(centred.row, V), P)
    assert_close(rigid_body.kinetic_energy(centred.row, V), centred.energy(V))


def test_9_21_9_22_9_23_9_32_9_33_twist_wrench_formulation(centred, rng):
    """LP (9.21)–(9.23), (9.26), (9.32), (9.33): F = G V̇ − [ad_V]ᵀ G V, G = diag(I, m 1), power F·V."""
    V, V_dot = rng.normal(size=(2, 6))
    G, W = block_diag(centred.rotational, centred.mass * np.eye(3)), skew(V[:3])
    F = rigid_body.wrench(centred.row, V, V_dot)
    assert_close(centred.inertia.matrix, G)
    assert_close(F, G @ V_dot + block_diag(W, W) @ G @ V)  # (9.21)
    assert_close(F, centred.wrench(V, V_dot))
    assert_close(F @ V, centred.pairing(hat(V_dot) + hat(V) @ hat(V), hat(V)))


def test_9_27_to_9_31_bracket_and_its_transpose(rng):
    """LP (9.26)–(9.31): [ω1 × ω2] = [ω1][ω2] − [ω2][ω1], [V1, V2] = [ad_V1] V2, and [ad_V]ᵀ F."""
    V1, V2, F = rng.normal(size=(3, 6))
    W1, W2 = skew(V1[:3]), skew(V2[:3])
    assert_close(so3.hat(np.cross(V1[:3], V2[:3])), W1 @ W2 - W2 @ W1)
    matrix = np.block([[W1, np.zeros((3, 3))], [skew(V1[3:]), W1]])
    assert_close(lie.ad(V1), matrix)
    assert_close(lie.bracket(V1, V2), bracket(V1, V2))
    assert_close(lie.bracket_dual(V1, F), np.concatenate([-W1 @ F[:3] - skew(V1[3:]) @ F[3:], -W1 @ F[3:]]))
    assert_close(lie.bracket_dual(V1, F), ad(V1).T @ F)


def test_9_34_moment_equation(centred, rng):
    """LP (9.34): m_b = I ω̇ − [ω]ᵀ I ω, the rotational part of (9.33)."""
    V, V_dot = rng.normal(size=(2, 6))
    moment = centred.rotational @ V_dot[:3] - skew(V[:3]).T @ centred.rotational @ V[:3]
    assert_close(rigid_body.wrench(centred.row, V, V_dot)[:3], moment)


# §9.3 Inverse dynamics of open chains


def test_9_35_to_9_38_forward_kinematics(chain, state):
    """LP (9.35)–(9.38), (9.49), (9.50), (9.53): T_{i−1,i} = M_{i−1,i} e^{[A_i]θ_i}, T_0i = e^{[S_1]θ_1} ⋯ M_i."""
    M, A, q = [np.eye(4), *chain.homes], chain.link_screws, state.q
    T = [inv(M[i]) @ M[i + 1] @ motion(A[i], q[i]) for i in range(chain.n)]
    poses = torsor.link_poses(chain.robot, q)
    assert_close(poses, [product(T[: i + 1]) for i in range(chain.n)])
    assert_close(poses, chain.poses(q))
    assert_close(torsor.frame_pose(chain.robot, q, "tip"), chain.between(q, 0, chain.n - 1) @ chain.tip)


def test_9_39_9_40_9_51_screws_in_link_frames(chain):
    """LP (9.39), (9.40), (9.51), E002-4: A_i = Ad_{M_i⁻¹}(S_i); (9.51) prints M_{i−1}."""
    form, M = torsor.kinematics.link_form(chain.robot, "tip"), [np.eye(4), *chain.homes]
    for i, S in enumerate(chain.screws):
        assert_close(form.steps[i], inv(M[i]) @ M[i + 1])
        assert_close(form.screws[i], vee(inv(M[i + 1]) @ hat(S) @ M[i + 1]))
        assert_differs(vee(inv(M[i]) @ hat(S) @ M[i]), form.screws[i])
    space = torsor.kinematics.SpaceForm(chain.screws, chain.tip).to_link(chain.homes)
    assert_close(space.screws, chain.link_screws)


def test_9_41_9_52_link_inertias(chain):
    """LP (9.41), (9.52): G_i = diag(I_i, m_i 1) in a frame at the centre of mass."""
    for link, body in zip(chain.links, chain.bodies, strict=True):
        expected = block_diag(body.about(np.zeros(3)), body.mass * np.eye(3))
        assert_close(chain.robot.inertia(link).matrix, expected)


def test_9_42_free_body_diagram(chain, state):
    """LP (9.42): G_i V̇_i = ad_{V_i}ᵀ(G_i V_i) + F_i − Ad_{T_{i+1,i}}ᵀ(F_{i+1})."""
    V, V_dot = chain.link_motion(*state)
    F = torsor.dynamics.joint_wrenches(chain.robot.with_gravity(np.zeros(3)), *state)
    T = chain.poses(state.q)
    for i, body in enumerate(chain.bodies):
        G = body.matrix
        right = ad(V[i]).T @ G @ V[i] + F[i]
        if i + 1 < chain.n:
            right = right - Ad(inv(T[i + 1]) @ T[i]).T @ F[i + 1]
        assert_close(right, G @ V_dot[i])


def test_9_43_9_57_joint_torque(chain, state):
    """LP (9.43), (9.57): τ_i = F_iᵀ A_i."""
    F = chain.joint_wrenches(*state)
    assert_close(torsor.inverse_dynamics(chain.robot, *state), np.einsum("ia,ia->i", F, chain.link_screws))


def test_9_44_9_45_9_46_9_54_velocity_recursion(chain, state):
    """LP (9.44)–(9.46), (9.54): V_i = Ad_{T_{i,i−1}}(V_{i−1}) + A_i θ̇_i."""
    q, v, a = state
    V, T = [np.zeros(6), *chain.link_motion(q, v, a)[0]], chain.steps(q)
    for i, link in enumerate(chain.links):
        expected = Ad(inv(T[i])) @ V[i] + chain.link_screws[i] * v[i]
        assert_close(torsor.kinematics.body_twist(chain.robot, q, v, link), expected)


def test_9_47_9_48_9_55_9_58_acceleration_recursion(chain, state):
    """LP (9.47), (9.48), (9.55), (9.58), E002-5, E002-6: Ad_{T_{i,i−1}} in the bracket too, printed T_{i−1,i}."""
    q, v, a = state
    V, V_dot = ([np.zeros(6), *x] for x in chain.link_motion(q, v, a))
    T, A = chain.steps(q), chain.link_screws
    for i, link in enumerate(chain.links):
        actual, back = torsor.kinematics.body_acceleration(chain.robot, q, v, a, link), Ad(inv(T[i]))
        rest = A[i] * a[i] + back @ V_dot[i]
        assert_close(actual, rest + bracket(back @ V[i], A[i] * v[i]))  # (9.47), (9.58)
        assert_close(actual, rest + bracket(V[i + 1], A[i] * v[i]))  # (9.48), (9.55)
    assert_differs(rest + bracket(Ad(T[i]) @ V[i], A[i] * v[i]), actual)


def inverse_dynamics_algorithm(chain, state, V, V_dot, F_tip):
    """The book's algorithm (9.53)–(9.57) with 6×6 matrices, from V_0, V̇_0 and F_{n+1}."""
    (q, v, a), A = state, chain.link_screws
    T = [*chain.steps(q), inv(chain.homes[-1]) @ chain.tip]
    back = [Ad(inv(step)) for step in T]
    motions = []
    for i in range(chain.n):
        V = back[i] @ V + A[i] * v[i]
        V_dot = back[i] @ V_dot + bracket(V, A[i]) * v[i] + A[i] * a[i]
        motions.append((V, V_dot))
    F, tau = F_tip, []
    for i in reversed(range(chain.n)):
        G, (V, V_dot) = chain.bodies[i].matrix, motions[i]
        F = back[i + 1].T @ F + G @ V_dot - ad(V).T @ G @ V
        tau.append(F @ A[i])
    return np.array(tau[::-1])


def test_9_53_to_9_57_algorithm_with_gravity(chain, state):
    """LP Initialization and (9.53)–(9.57), E002-7: V̇_0 = (0, −g); with the printed (0, g) everything falls upwards."""
    still, g = np.zeros(6), np.concatenate([np.zeros(3), chain.gravity])
    tau = torsor.inverse_dynamics(chain.robot, *state)
    assert_close(tau, inverse_dynamics_algorithm(chain, state, still, -g, still))
    assert_close(tau, chain.torques(*state))
    assert_differs(inverse_dynamics_algorithm(chain, state, still, g, still), tau)


def test_9_53_to_9_57_algorithm_with_a_moving_base(chain, state, rng):
    """LP Initialization: V_0 and V̇_0 of a base in motion."""
    V, V_dot = rng.normal(size=(2, 6))
    tau = torsor.inverse_dynamics(chain.robot, *state, base_motion=(V, V_dot))
    lifted = V_dot - np.concatenate([np.zeros(3), chain.gravity])
    assert_close(tau, inverse_dynamics_algorithm(chain, state, V, lifted, np.zeros(6)))
    assert_close(tau, chain.torques(*state, base=(V, V_dot)))


def test_9_56_tip_wrench(chain, state, rng):
    """LP F_{n+1} = F_tip, E002-10: F_tip is what the tip does to the environment: minus the wrench on the robot."""
    still, F_tip = np.zeros(6), rng.normal(size=6)
    lifted = np.concatenate([np.zeros(3), -chain.gravity])
    expected = inverse_dynamics_algorithm(chain, state, still, lifted, F_tip)
    assert_close(torsor.inverse_dynamics(chain.robot, *state, wrenches={"tip": -F_tip}), expected)
    assert_differs(torsor.inverse_dynamics(chain.robot, *state, wrenches={"tip": F_tip}), expected)
