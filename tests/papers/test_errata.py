"""docs/errata.md: every row has a test that names it; here are those of lines that carry no number, or no numbered equation."""

import re
from pathlib import Path

import by_hand
import numpy as np
import pytest
from by_hand import Ad, ad, assert_close, assert_differs, bracket, hat, vee
from scipy.linalg import block_diag

import torsor

inv = np.linalg.inv
HERE = Path(__file__).parent
ROW = re.compile(r'^\| <a id=".*?"></a>(E00\d-\d+b?|EK-\d+) \|', re.MULTILINE)


def test_every_erratum_is_named_by_a_test():
    """The printed form fails and the corrected one holds: which test shows that is found by the erratum's name."""
    rows = ROW.findall((HERE.parents[1] / "docs" / "errata.md").read_text())
    assert len(rows) > 60 and len(set(rows)) == len(rows)
    tests = "\n".join(path.read_text() for path in HERE.glob("test_*.py"))
    assert [row for row in rows if not re.search(rf"\b{row.rstrip('b')}\b", tests)] == []


def rod_and_point():
    """A thin rod along x and a point on its end, as particles."""
    x = np.array([[-1.0, 0, 0], [0.0, 0, 0], [1.0, 0, 0]])
    return by_hand.Body(np.array([1.0, 1.0, 1.0]), x), by_hand.Body(np.array([2.0]), np.array([[1.0, 0, 0]]))


def test_inertias_of_rods_and_points_are_semidefinite():
    """PBP95 (21), E001-15, and LP §9.2, E002-15: "positive definite" is true of bodies that fill a volume only."""
    for body, rank in zip(rod_and_point(), (5, 3), strict=True):
        eigenvalues = np.linalg.eigvalsh(body.inertia.matrix)
        assert_close(body.inertia.matrix, body.matrix)
        assert eigenvalues.min() > -1e-15 and np.sum(eigenvalues > 1e-12) == rank


def test_a_mass_matrix_may_be_singular():
    """LP §9.4, E002-15: "M is always invertible" fails for a joint that turns a rod, or points, about their own axis."""
    along_x = np.array([[1.0, 0, 0, 0, 0, 0]])
    for body in rod_and_point():
        robot = torsor.serial_chain(along_x, [np.eye(4)], [body.inertia])
        assert_close(torsor.mass_matrix(robot, [0.3]), [[0.0]])
        with pytest.raises(np.linalg.LinAlgError):
            inv(torsor.mass_matrix(robot, [0.3]))


def test_coriolis_forces_with_a_moving_base():
    """LP (9.81)–(9.83), E002-14: with V_base ≠ 0, V = L (A θ̇ + V_base) in c; printed without, although (9.69) allows it."""
    chain = by_hand.random_chain("RPHR", seed=9, frames="centre of mass")
    q, v, a, *base = np.random.default_rng(14).normal(size=(5, 6))
    q, v, a, n = q[: chain.n], v[: chain.n], a[: chain.n], chain.n
    T, A, G = chain.poses(q), block_diag(*chain.link_screws[:, :, None]), block_diag(*(b.matrix for b in chain.bodies))

    def blocks(filled):
        return np.block(
            [[Ad(inv(T[i]) @ T[j]) if filled(i, j) else np.zeros((6, 6)) for j in range(n)] for i in range(n)]
        )

    L, Gamma = blocks(lambda i, j: i >= j), blocks(lambda i, j: i == j + 1)
    ad_joints = block_diag(*(ad(S * rate) for S, rate in zip(chain.link_screws, v, strict=True)))
    into_first = Ad(inv(T[0]))
    V_base, V_dot_base = (np.append(into_first @ x, np.zeros(6 * (n - 1))) for x in base)
    M = A.T @ L.T @ G @ L @ A

    def forces(V_base):
        V = L @ (A @ v + V_base)
        ad_twists = block_diag(*map(ad, V.reshape(n, 6)))
        turning = ad_joints @ (Gamma @ V + V_base)
        c = A.T @ L.T @ (G @ L @ -turning - ad_twists.T @ G @ V)
        return M @ a + c + A.T @ L.T @ G @ L @ V_dot_base  # (9.81), without gravity

    tau = chain.torques(q, v, a, base, gravity=False)
    weightless = chain.robot.with_gravity(np.zeros(3))
    assert_close(torsor.inverse_dynamics(weightless, q, v, a, base_motion=tuple(base)), tau)
    assert_close(forces(V_base), tau)
    assert_differs(forces(0.0 * V_base), tau)


def test_kinetic_energy_depends_on_the_velocity():
    """LP §9.1, E002-13: K(θ) is printed where K(θ, θ̇) is meant; and J_ib and J_bi are one matrix, that of link i."""
    chain = by_hand.random_chain("RPHR", seed=9)
    q, v = np.random.default_rng(13).normal(size=(2, chain.n))
    K = torsor.kinetic_energy(chain.robot, q, v)
    assert_close(K, chain.kinetic_energy(q, v))
    assert_close(torsor.kinetic_energy(chain.robot, q, 2.0 * v), 4.0 * K)
    assert_differs(torsor.kinetic_energy(chain.robot, q, 2.0 * v), K)


def test_work_is_the_integral_of_force_along_the_way():
    """LP §9.1, E002-16: fᵀ dq is work, fᵀ q is not: of a weight that is lifted from q_0 to q_1 it depends on the zero of q."""
    pendulum = torsor.robots.pendulum(mass=1.0, length=1.0)
    q = np.linspace(0.2, 1.1, 2001)[:, None]
    f = torsor.gravity_forces(pendulum, q)[:, 0]
    lifted = torsor.potential_energy(pendulum, q[-1]) - torsor.potential_energy(pendulum, q[0])
    work = np.sum(0.5 * (f[1:] + f[:-1]) * np.diff(q[:, 0]))
    assert_close(work, lifted, tolerance=1e-6)
    assert_differs(f[-1] * q[-1, 0] - f[0] * q[0, 0], lifted)


def test_forces_take_the_acceleration_of_the_centres_of_mass():
    """Sil81 §3.2, E003-5: "compute ṗ_i, ω_i, ω̇_i" leaves out v̇_i, without which m_i v̇_i, the force on a link, is unknown.

    Two motions with the same p, ṗ, ω and ω̇ of every link need different forces.
    """
    slide = torsor.serial_chain([[0.0, 0, 0, 0, 0, 1.0]], [np.eye(4)], [torsor.Inertia.sphere(0.1, mass=2.0)])
    slide = slide.with_gravity(np.zeros(3))
    q, v = np.array([0.4]), np.array([0.7])
    motions = [torsor.kinematics.body_twist(slide, q, v, slide.links[0]) for _ in range(2)]
    turning = [torsor.kinematics.body_acceleration(slide, q, v, a, slide.links[0])[:3] for a in ([0.0], [3.0])]
    assert_close(motions[0], motions[1])
    assert_close(turning[0], turning[1])
    assert_close(torsor.inverse_dynamics(slide, q, v, [3.0]), [6.0])
    assert_differs(torsor.inverse_dynamics(slide, q, v, [0.0]), [6.0])


def two_sliders():
    """Two collinear sliders, M constant, so flat; the task is the position of the second."""
    along_x, body = [[0.0, 0, 0, 1.0, 0, 0]] * 2, torsor.Inertia.point(1.0)
    return torsor.serial_chain(along_x, [np.eye(4)] * 2, [body, body]), np.array([[1.0, 1.0]])


def test_horizontal_spaces_need_not_follow_the_eigenvectors():
    """Alt04 (20)–(22), E004-10: P̃_n = Diag(P̃_6, P̃_n−6) does not follow from involutive H and V; here both are constant."""
    robot, J = two_sliders()
    eigenvalues, P = np.linalg.eigh(torsor.mass_matrix(robot, np.zeros(2)))
    N = np.sqrt(eigenvalues)[:, None] * P.T  # N = D_1 P of the paper, with NᵀN = M
    tangent = J @ inv(N)  # ρ̃_*
    onto = np.linalg.pinv(tangent) @ tangent  # ρ̃^{*h} ρ̃_*, of (20)
    assert_close(onto @ onto, onto)
    assert_differs(onto, np.diag([1.0, 0.0]))  # (22)
    lift = inv(N) @ np.linalg.pinv(tangent)
    assert_close(lift, [[0.0], [1.0]])  # true: M⁻¹Jᵀ(JM⁻¹Jᵀ)⁻¹
    assert_differs(lift, np.linalg.pinv(J))  # (23), which (22) would give


def test_the_chain_of_maps():
    """Alt04 before Th. III.2, E004-11: ρ = ρ̃ ∘ φ, so J = ρ̃_* N; the printed φ ∘ ρ̃ has no meaning, nor has ρ̃_h for ρ̃^{*h}."""
    robot, J = two_sliders()
    N = np.linalg.cholesky(torsor.mass_matrix(robot, np.zeros(2))).T
    tangent = J @ inv(N)
    assert_close(tangent @ N, J)
    with pytest.raises(ValueError, match="mismatch"):
        N @ tangent


def test_se3_is_a_semidirect_sum():
    """Alt04, proof of Prop. II.1, E004-15: [ω, v] = ω × v; in so(3) ⊗ ℝ³, or in their direct sum, it would be 0."""
    omega, v = np.random.default_rng(15).normal(size=(2, 3))
    turning, moving = np.append(omega, np.zeros(3)), np.append(np.zeros(3), v)
    commutator = vee(hat(turning) @ hat(moving) - hat(moving) @ hat(turning))
    assert_close(commutator, np.append(np.zeros(3), np.cross(omega, v)))
    assert_close(bracket(turning, moving), commutator)
    assert_differs(commutator, np.zeros(6))


def test_two_twists_have_two_lifts():
    """Alt04 before (16), E004-16: q̇_X^h and q̇_Y^h; printed q̇_X^h twice, which is one lift for two twists."""
    robot = torsor.robots.planar_chain([0.5, 0.4, 0.3], [1.0, 0.8, 0.5])
    task, q = torsor.position_task("tip", ["vx", "vy"]), np.array([0.3, 0.5, -0.7])
    X, Y = np.eye(2)
    lift = torsor.redundancy.horizontal_lift(robot, q, task)
    J = task.jacobian(robot, q)
    assert_close(J @ (lift @ X), X)
    assert_close(J @ (lift @ Y), Y)
    assert_differs(J @ (lift @ X), Y)
