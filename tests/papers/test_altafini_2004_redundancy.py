"""Altafini, Redundant robotic chains on Riemannian submersions (2004): §II.B to §IV, claims that hold and examples A to D
of those that do not.

"Theorem III.2, honestly": each example is a robot with the hypotheses it satisfies and the conclusion it breaks.
"""

import json
from pathlib import Path
from typing import NamedTuple

import by_hand
import numpy as np
import pytest
from by_hand import assert_close, assert_differs

import torsor
from torsor import lie
from torsor.redundancy import circle

inv, pinv = np.linalg.inv, np.linalg.pinv
DATA = Path(__file__).parents[1] / "data"
Z3 = np.zeros((3, 3))


class Example(NamedTuple):
    """A robot, a configuration and a task."""

    robot: torsor.Robot
    q: np.ndarray
    task: torsor.tasks.Task

    @property
    def J(self):
        return self.task.jacobian(self.robot, self.q)

    @property
    def M(self):
        return torsor.mass_matrix(self.robot, self.q)

    @property
    def K(self):
        return torsor.redundancy.horizontal_lift(self.robot, self.q, self.task)

    @property
    def J_plus(self):
        return torsor.redundancy.pseudoinverse_lift(self.robot, self.q, self.task)


def joint(k, kind, axis, inertia, place=(0, 0, 0)):
    return torsor.Joint(
        name=f"joint_{k}",
        kind=kind,
        parent="base" if k == 1 else f"link_{k - 1}",
        link=f"link_{k}",
        axis=axis,
        pose=torsor.pose_from(place),
        inertia=inertia,
    )


def point(mass, place=(0, 0, 0)):
    return torsor.Inertia(mass, place, Z3)


def example_a():
    """Two collinear prismatic joints, 2 kg and 1 kg, task x."""
    joints = [joint(1, "prismatic", (1, 0, 0), point(2.0)), joint(2, "prismatic", (1, 0, 0), point(1.0))]
    robot = torsor.assemble(joints, name="A", frames={"tip": ("link_2", torsor.pose_from((0, 0, 0)))})
    return Example(robot, np.array([0.3, -0.2]), torsor.position_task("tip", "vx"))


def lumped(kinds, masses, name, seed, tip):
    """Massless links with point masses on some, axes and places at random; a frame at the last mass, or anywhere."""
    rng = np.random.default_rng(seed)
    joints, place = [], np.zeros(3)
    for k, kind in enumerate(kinds, 1):
        axis = rng.normal(size=3)
        own = rng.normal(scale=0.4, size=3)
        inertia = point(masses[k], own) if k in masses else torsor.Inertia.zero()
        joints.append(joint(k, kind, axis, inertia, place))
        place = rng.normal(scale=0.4, size=3)
    frame = own if tip == "mass" else rng.normal(scale=0.4, size=3)
    return torsor.assemble(joints, name=name, frames={"tip": (f"link_{len(kinds)}", torsor.pose_from(frame))})


def example_b():
    """6R, point masses on links 3 and 6 (1 kg), task: position of the latter."""
    robot = lumped(["revolute"] * 6, {3: 0.7, 6: 1.0}, "B", seed=4, tip="mass")
    return Example(robot, np.array([0.34, 0.33, 2.07, 2.29, 2.28, 1.05]), torsor.position_task("tip"))


def example_c():
    """P and 6R, point masses on links 1, 4 and 7, task: the body twist."""
    robot = lumped(["prismatic", *["revolute"] * 6], {1: 0.8, 4: 0.6, 7: 1.0}, "C", seed=2, tip="anywhere")
    return Example(robot, np.array([0.2, 0.3, -0.5, 0.8, 0.4, -0.9, 0.6]), torsor.pose_task("tip"))


def example_d(shift=0.0):
    """PPR gantry of total mass 1 kg whose last centre of mass is on its axis, or beside it; task xy of the axis."""
    last = torsor.Inertia(0.4, (shift, 0, 0), 0.02 * np.eye(3))
    joints = [
        joint(1, "prismatic", (1, 0, 0), torsor.Inertia.zero()),
        joint(2, "prismatic", (0, 1, 0), point(0.6)),
        joint(3, "revolute", (0, 0, 1), last),
    ]
    robot = torsor.assemble(joints, name="D", frames={"tip": ("link_3", torsor.pose_from((0, 0, 0)))})
    return Example(robot, np.array([0.1, -0.2, 0.7]), torsor.position_task("tip", ["vx", "vy"]))


def balanced(state=0):
    """The dynamically balanced planar 3R of the golden values: M is constant, all inertias are positive."""
    data = next(r for r in json.loads((DATA / "golden.json").read_text())["robots"] if r["name"] == "planar3R_balanced")
    robot = torsor.serial_chain(
        [j["screw"] for j in data["joints"]],
        [link["home"] for link in data["links"]],
        [torsor.Inertia(link["mass"], link["com"], link["inertia_com"]) for link in data["links"]],
        tip=data["tip_home"],
        name=data["name"],
    )
    return Example(robot, np.array(data["states"][state]["q"]), torsor.position_task("tip", ["vx", "vy"]))


EXAMPLES = {
    "A": example_a,
    "B": example_b,
    "C": example_c,
    "D": example_d,
    "D2": lambda: example_d(0.3),
    "3R": balanced,
}


@pytest.fixture(params=EXAMPLES)
def example(request):
    return EXAMPLES[request.param]()


# §II.B and (13), (14): what holds of every redundant chain


def test_all_examples_are_flat(example):
    """Alt04 §II: "only flat redundant robotic chains are treated hereafter"; so are these."""
    assert torsor.motion.is_flat(example.robot)


def test_13_14_the_lift_is_the_weighted_inverse(example):
    """Alt04 (13), (14), E004-12: K = M⁻¹Jᵀ(JM⁻¹Jᵀ)⁻¹ = N⁻¹(JN⁻¹)⁺, J K = 1 and Kᵀ M ker J = 0."""
    J, M, K = example.J, example.M, example.K
    assert_close(K, inv(M) @ J.T @ inv(J @ inv(M) @ J.T), 1e-10)
    N = np.linalg.cholesky(M).T
    assert_close(K, inv(N) @ pinv(J @ inv(N)), 1e-10)
    kernel = np.linalg.svd(J)[2][len(J) :].T
    assert_close(J @ K, np.eye(len(J)), 1e-11)
    assert_close(K.T @ M @ kernel, np.zeros((len(J), kernel.shape[1])), 1e-11)


def test_19_the_pseudoinverse_is_the_shortest_lift(example, rng):
    """Alt04 (19): q̇ = J⁺ X has J q̇ = X and is the shortest of those in the coordinates; of the least energy is K X."""
    J, M, X = example.J, example.M, rng.normal(size=len(example.J))
    shortest, lifted = example.J_plus @ X, example.K @ X
    assert_close(example.J_plus, pinv(J), 1e-10)
    assert_close(J @ shortest, X, 1e-9)
    kernel = np.linalg.svd(J)[2][len(J) :]
    assert_close(kernel @ shortest, np.zeros(len(kernel)), 1e-9)
    assert shortest @ shortest <= lifted @ lifted * (1 + 1e-9)
    assert lifted @ M @ lifted <= shortest @ M @ shortest * (1 + 1e-9)


def test_a1_and_a2_are_one():
    """Alt04 A1, A2, E004-5: dim ker J = n − rank J ≥ n − 6, and at singular configurations it is larger, not smaller."""
    panda = torsor.robots.panda()
    regular, singular = np.array([0.3, -0.4, 0.2, -2.1, 0.1, 1.9, 0.6]), np.zeros(7)
    for q, rank in ((regular, 6), (singular, 5)):
        J = torsor.body_jacobian(panda, q, "hand_tcp")
        found = torsor.tasks.task_rank(panda, q, "hand_tcp")
        assert int(found.rank) == rank == np.linalg.matrix_rank(J, tol=1e-9)
        assert int(found.null_dimension) == 7 - rank >= 7 - 6


# Proposition II.1, Corollary III.2 and Theorem III.2, by examples


def test_example_a_satisfies_every_hypothesis_and_breaks_the_theorem():
    """Alt04 (23), E004-12: M and J constant, flat, H and V integrable, J M⁻¹ Jᵀ = 1; lift (0, 1), J⁺ (½, ½)."""
    a = example_a()
    assert_close(a.M, [[3.0, 1.0], [1.0, 1.0]])
    assert_close(a.J, [[1.0, 1.0]])
    report = torsor.redundancy.is_riemannian_submersion(a.robot, a.task)
    assert report
    assert report.defect < 1e-15
    assert report.constant_along_fibres
    assert torsor.redundancy.is_repeatable(a.robot, a.task)
    assert torsor.redundancy.is_repeatable(a.robot, a.task, lift="pseudoinverse")
    assert_close(a.K, [[0.0], [1.0]])
    assert_close(a.J_plus, [[0.5], [0.5]])
    found = torsor.redundancy.lifts_agree(a.robot, a.q, a.task)
    assert not found
    assert_close(found.difference, np.sqrt(0.5))
    P = a.J_plus @ a.J
    assert_close(found.commutator, np.linalg.norm(a.M @ P - P @ a.M) / np.linalg.norm(a.M))


def test_example_b_is_an_exact_submersion_with_integrable_horizontals_and_breaks_the_theorem():
    """Alt04 (23), E004-12: M flat and not constant, J M⁻¹ Jᵀ = 1 exactly; |lift − J⁺| > 1, J⁺ is not repeatable."""
    b = example_b()
    assert torsor.redundancy.is_riemannian_submersion(b.robot, b.task, tolerance=1e-10)
    assert torsor.redundancy.is_repeatable(b.robot, b.task)
    assert not torsor.redundancy.is_repeatable(b.robot, b.task, lift="pseudoinverse")
    found = torsor.redundancy.lifts_agree(b.robot, b.q, b.task)
    assert not found
    assert found.difference > 1.0
    assert_close(found.difference, np.linalg.norm(b.K - pinv(b.J)), 1e-9)


def test_example_c_is_flat_of_rank_six_and_neither_a_submersion_nor_integrable():
    """Alt04 Prop. II.1, Cor. III.2, (23), E004-6, E004-7, E004-12: A1 and A2 hold, and nothing else."""
    c = example_c()
    assert bool(torsor.tasks.task_rank(c.robot, c.q, c.task).is_onto)
    report = torsor.redundancy.is_riemannian_submersion(c.robot, c.task, q=c.q)
    assert not report
    assert not report.constant_along_fibres
    assert_close(report.defect, np.abs(c.J @ inv(c.M) @ c.J.T - np.eye(6)).max(), 1e-9)
    assert report.defect > 2.0
    assert not torsor.redundancy.is_repeatable(c.robot, c.task)
    assert torsor.redundancy.lifts_agree(c.robot, c.q, c.task).difference > 1.0


def test_example_d_is_one_of_which_everything_holds():
    """Alt04 Theorem III.2, the positive example: to rounding."""
    d = example_d()
    assert torsor.redundancy.is_riemannian_submersion(d.robot, d.task, tolerance=1e-14)
    for lift in ("inertia", "pseudoinverse"):
        assert torsor.redundancy.is_repeatable(d.robot, d.task, lift=lift, tolerance=1e-14)
    assert torsor.redundancy.lifts_agree(d.robot, d.q, d.task, tolerance=1e-14)
    assert_close(d.K, d.J_plus)
    # M = Jᵀ J + B with B Jᵀ = 0: equality for submersions onto the identity.
    B = d.M - d.J.T @ d.J
    assert_close(B @ d.J.T, np.zeros((3, 2)))


def test_example_d2_moves_a_centre_of_mass_and_nothing_is_left():
    """Alt04 Theorem III.2, E004-6, E004-7, E004-12: still flat; K turns the last link by m s/(I + m s²) of its speed."""
    d = example_d(0.3)
    assert not torsor.redundancy.is_riemannian_submersion(d.robot, d.task)
    assert not torsor.redundancy.is_repeatable(d.robot, d.task)
    found = torsor.redundancy.lifts_agree(d.robot, d.q, d.task)
    assert not found
    assert_close(found.difference, 0.4 * 0.3 / (0.02 + 0.4 * 0.3**2), 1e-12)


@pytest.mark.parametrize("state", [0, 1])
def test_the_balanced_arm_has_constant_inertia_and_drifts_with_either_lift(state):
    """Alt04 Cor. III.2, E004-7, E004-12: ordinary positive inertias; vertical brackets 114 and 62 at the golden states."""
    e = balanced(state)
    assert_close(torsor.geometry.mass_matrix_derivative(e.robot, e.q), np.zeros((3, 3, 3)), 1e-14)
    brackets = torsor.redundancy.vertical_brackets(e.robot, e.q, e.task)[:, 0, 1]
    assert np.abs(brackets).max() == pytest.approx([114.0, 62.0][state], rel=0.01)
    for lift in ("inertia", "pseudoinverse"):
        assert not torsor.redundancy.is_repeatable(e.robot, e.task, lift=lift)
    assert not torsor.redundancy.is_riemannian_submersion(e.robot, e.task).constant_along_fibres
    assert torsor.redundancy.lifts_agree(e.robot, e.q, e.task).difference > 2.0


def test_23_the_criterion(example):
    """Alt04 (23), E004-12: lift_M = J⁺ ⟺ [M, J⁺J] = 0 ⟺ M ker J ⊆ ker J, and (IV) is what decides."""
    found = torsor.redundancy.lifts_agree(example.robot, example.q, example.task)
    kernel = np.linalg.svd(example.J)[2][len(example.J) :].T
    stays = np.abs(example.J @ example.M @ kernel).max() < 1e-12
    assert bool(found) == stays == ("IV" in torsor.redundancy.generalised_inverse_class(example.J, example.K))
    assert bool(found) == (found.difference < 1e-9)


def test_a_generalised_inverses_of_the_examples(example):
    """Alt04 App. A: K is a {I, II, III} inverse of J always; J⁺ all four; Proposition A.1 for J N⁻¹ of exact submersions."""
    assert torsor.redundancy.generalised_inverse_class(example.J, example.K).holds[:3] == ("I", "II", "III")
    assert torsor.redundancy.generalised_inverse_class(example.J, example.J_plus).is_moore_penrose
    A = example.J @ inv(np.linalg.cholesky(example.M).T)
    exact = np.abs(example.J @ inv(example.M) @ example.J.T - np.eye(len(A))).max() < 1e-9
    assert bool(torsor.redundancy.is_partial_isometry(A)) == exact
    assert ("no partial isometry" in str(torsor.redundancy.is_partial_isometry(A))) != exact
    assert (np.abs(pinv(A) - A.T).max() < 1e-9) == exact
    assert bool(torsor.redundancy.is_partial_isometry(A.T)) == exact


def test_a_the_classes_of_generalised_inverses(rng):
    """Alt04 App. A, by their definition: an inverse of each class, of a matrix that has no full rank."""
    A = rng.normal(size=(4, 2)) @ rng.normal(size=(2, 5))
    plus = pinv(A)
    U, V = np.eye(4) - A @ plus, np.eye(5) - plus @ A
    R = rng.normal(size=(5, 4))
    made = {
        ("I", "II", "III", "IV"): plus,
        ("I", "III"): plus + V @ R,
        ("I", "IV"): plus + R @ U,
        ("I", "II", "III"): plus + V @ R @ A @ plus,
        ("I", "II", "IV"): plus + plus @ A @ R @ U,
        ("I",): plus + V @ R + R @ U,
        ("II",): _outer_inverse(A, rng),
    }
    for holds, X in made.items():
        assert torsor.redundancy.generalised_inverse_class(A, X).holds == holds


def _outer_inverse(A, rng):
    """X A X = X of rank one, less than that of A."""
    x, y = rng.normal(size=A.shape[1]), rng.normal(size=A.shape[0])
    return np.outer(x, y) / (y @ A @ x)


# §III: curves, repeatability, O'Neill's tensor


def last_angle(robot, q):
    return q[2:]


@pytest.mark.compiled
def test_15_the_task_is_the_projection_of_a_product_nearby():
    """Alt04 (15): near a regular configuration q is (ρ(q), a place on the fibre), and every fibre is a copy of ℝⁿ⁻ᵐ."""
    e = balanced(1)
    q0 = np.array([0.4, 0.9, 0.8])
    chart = torsor.redundancy.local_trivialisation(e.robot, q0, e.task, last_angle)
    tip = torsor.frame_pose(e.robot, q0, "tip")[:2, 3]
    values, fibre = 0.05 * np.array([[0, 0], [1, 0], [-1, 2]]), np.linspace(-0.3, 0.3, 5)[:, None]
    q = chart.configuration(values[:, None], fibre)  # (3, 5, 3): five places on each of three fibres
    assert_close(
        torsor.frame_pose(e.robot, q, "tip")[..., :2, 3], np.broadcast_to((tip + values)[:, None], (3, 5, 2)), 1e-10
    )
    back = chart.coordinates(q)
    assert_close(back.y, np.broadcast_to(values[:, None], (3, 5, 2)), 1e-10)
    assert_close(back.s, np.broadcast_to(fibre, (3, 5, 1)), 1e-10)
    # Along the fibres the task rests, and there is no more of them than n − m says.
    along = chart.derivative(q[2, 3])[:, 2:]
    assert along.shape == (3, 1)
    assert_close(e.task.jacobian(e.robot, q[2, 3]) @ along, np.zeros((2, 1)), 1e-10)
    assert_differs(along, np.zeros((3, 1)))


@pytest.mark.compiled
def test_iii_1_a_curve_has_one_horizontal_lift():
    """Alt04 Cor. III.1: above the curve, horizontal all along, determined by where it begins."""
    e = balanced(1)
    q = np.array([0.4, 0.9, 0.8])
    path = circle(e.task, 0.05)
    lifted = torsor.redundancy.lift_curve(e.robot, q, e.task, path, samples=41, tolerance=1e-12)
    above = torsor.frame_pose(e.robot, lifted.q, "tip")[:, :2, 3]
    t = 2 * np.pi * lifted.t
    wanted = above[0] + 0.05 * np.stack([1 - np.cos(t), np.sin(t)], axis=-1)
    assert_close(above, wanted, 1e-10)
    assert_close(
        torsor.redundancy.split_velocity(e.robot, lifted.q, lifted.v, e.task).vertical, np.zeros((41, 3)), 1e-9
    )
    assert_close(lifted.fibre, np.zeros(41), 1e-9)
    # The velocity is that of the curve.
    moved = np.gradient(lifted.q, lifted.t, axis=0)[1:-1]
    assert np.abs(moved - lifted.v[1:-1]).max() < 0.02 * np.abs(lifted.v).max()
    # The pseudoinverse's curve is another one above the same, and moves along the fibres.
    other = torsor.redundancy.lift_curve(e.robot, q, e.task, path, samples=41, lift="pseudoinverse", tolerance=1e-12)
    assert_close(torsor.frame_pose(e.robot, other.q, "tip")[:, :2, 3], wanted, 1e-10)
    assert np.abs(other.fibre).max() > 1e-3
    assert_differs(other.holonomy, lifted.holonomy)


@pytest.mark.compiled
def test_iii_b_repeatability_is_decided_by_brackets_and_not_by_flatness():
    """Alt04 after Theorem III.2, E004-14: on one loop of a flat robot J⁺ drifts and the horizontal lift does not."""
    b = example_b()
    loop = 0.05 * np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 1]])
    drift = {
        lift: torsor.redundancy.closed_path_drift(b.robot, b.q, b.task, loop, rounds=2, lift=lift, tolerance=1e-12)
        for lift in ("inertia", "pseudoinverse")
    }
    assert np.abs(drift["inertia"].drift).max() < 1e-8
    assert np.abs(drift["pseudoinverse"].drift[1]).max() > 1e-4
    assert max(found.task_error.max() for found in drift.values()) < 1e-9


def symmetric_top(a=0.7, b=0.3):
    """A ball joint that carries a top with moments a, a, b; the task is the velocity of a point of its axis, in body axes.

    Q = SO(3) with the metric (a, a, b) submerges onto the sphere of directions of the axis, with a times the round metric.
    """
    body = torsor.Inertia(1e-9, (0, 0, 0), np.diag([a, a, b]))
    joints = [torsor.Joint(name="ball", kind="spherical", parent="base", link="top", inertia=body)]
    robot = torsor.assemble(joints, name="top", frames={"tip": ("top", torsor.pose_from((0, 0, 1)))})
    return Example(robot, torsor.random_configuration(robot, seed=2), torsor.pose_task("tip", ["vx", "vy"]))


def wrist(a=0.7, b=0.3):
    """The same top on three revolute joints through one point without mass: coordinates instead of body twists."""
    body = torsor.Inertia(1e-9, (0, 0, 0), np.diag([a, a, b]))
    axes = [(0, 0, 1), (0, 1, 0), (0, 0, 1)]
    joints = [joint(k, "revolute", axis, body if k == 3 else torsor.Inertia.zero()) for k, axis in enumerate(axes, 1)]
    robot = torsor.assemble(joints, name="wrist", frames={"tip": ("link_3", torsor.pose_from((0, 0, 1)))})
    return Example(robot, np.array([0.4, 0.9, -0.3]), torsor.position_task("tip", ["vx", "vy"]))


@pytest.mark.parametrize("make", [symmetric_top, wrist])
def test_oneills_relation(make):
    """Alt04 Prop. III.1, E004-8: K_base = K_Q + ¾ |[X, Y]^v|² = K_Q + 3 |A_X Y|²; the sphere of radius √a has 1/a."""
    top = make()
    if make is wrist:
        report = torsor.redundancy.is_riemannian_submersion(top.robot, top.task)
        assert not report  # the metric of the sphere is not 1 in these coordinates
    else:
        report = torsor.redundancy.is_riemannian_submersion(top.robot, top.task, target=0.7 * np.eye(2))
        assert report
    assert report.constant_along_fibres
    assert not torsor.redundancy.is_repeatable(top.robot, top.task)
    X, Y = (top.K @ np.linalg.cholesky(top.J @ inv(top.M) @ top.J.T)).T  # orthonormal and horizontal
    assert_close(np.array([X, Y]) @ top.M @ np.array([X, Y]).T, np.eye(2), 1e-11)
    A = np.einsum("iab,a,b->i", torsor.redundancy.oneill_tensor(top.robot, top.q, top.task), top.J @ X, top.J @ Y)
    K_Q = torsor.geometry.sectional_curvature(top.robot, top.q, X, Y)
    assert_close(K_Q + 3 * A @ top.M @ A, 1 / 0.7, 1e-9)
    assert_differs(K_Q, 1 / 0.7)


@pytest.mark.parametrize("make", [symmetric_top, wrist])
def test_16_the_connection_has_a_vertical_part(make):
    """Alt04 (16), Prop. III.1, E004-8: ∇_X Y − (∇_X Y)^h = ½ [X, Y]^v of lifted fields, which does not vanish."""
    top = make()
    K, A = top.K, torsor.redundancy.oneill_tensor(top.robot, top.q, top.task)
    vertical = torsor.redundancy.velocity_projectors(top.robot, top.q, top.task).vertical
    for a in range(2):
        for b in range(2):

            def field(t, a=a, b=b):
                q = torsor.integrate(top.robot, top.q, K[:, a], t)
                return torsor.redundancy.horizontal_lift(top.robot, q, top.task)[:, b]

            rate = by_hand.derivative(field)
            along = torsor.geometry.covariant_derivative(top.robot, top.q, K[:, a], K[:, b], rate)
            assert_close(vertical @ along, A[:, a, b], 1e-8)
    assert_differs(A, np.zeros_like(A))


def connection_of_lifts(example, X, Y, vertical=0.0):
    """∇_X Y in joint space of fields above constant ones of the task, with a ``vertical`` part or horizontal."""
    robot, q, task = example.robot, example.q, example.task

    def above(Z, q):
        K = torsor.redundancy.horizontal_lift(robot, q, task)
        fibre = torsor.redundancy.velocity_projectors(robot, q, task).vertical
        return K @ Z + vertical * fibre @ np.ones(robot.nv)

    rate = by_hand.derivative(lambda t: above(Y, torsor.integrate(robot, q, above(X, q), t)))
    return torsor.geometry.covariant_derivative(robot, q, above(X, q), above(Y, q), rate)


def test_17_the_connection_of_the_workspace(rng):
    """Alt04 (17), E004-6, E004-17: J ∇ of *horizontal* fields is ∇ of the workspace, if J M⁻¹ Jᵀ = 1; flat is not enough."""
    for e in (example_b(), example_d()):  # onto Euclidean space, where constant fields have ∇_X Y = 0
        X, Y = rng.normal(size=(2, e.task.size))
        assert_close(e.J @ connection_of_lifts(e, X, Y), np.zeros(e.task.size), 1e-8)
    # With self-motions added to the fields, as the printed form allows, it is another: by O'Neill's tensor.
    top, (X, Y) = symmetric_top(), rng.normal(size=(2, 2))
    assert_differs(
        top.J @ connection_of_lifts(top, X, Y, vertical=1.0), top.J @ connection_of_lifts(top, X, Y, vertical=0.0)
    )
    c, (X, Y) = example_c(), rng.normal(size=(2, 6))  # flat and of rank six, onto SE(3)
    of_workspace = torsor.geometry.left_invariant.covariant_derivative(np.eye(6), X, Y)
    assert_differs(c.J @ connection_of_lifts(c, X, Y), of_workspace)


def test_18_dynamics_as_seen_from_the_end_effector(rng):
    """Alt04 (18), E004-9: γ̇ = γ X and Ẋ = J M⁻¹ (τ − C q̇) + J̇ q̇ along the motion, without gravity; printed ad*_X X + J M⁻¹ τ."""
    c = example_c()
    robot = c.robot.with_gravity(np.zeros(3))
    v, tau = rng.normal(size=(2, robot.nv))
    a = torsor.forward_dynamics(robot, c.q, v, tau)

    def along(t):
        return c.q + t * v + 0.5 * t**2 * a, v + t * a

    def twist(t):
        return torsor.body_jacobian(robot, along(t)[0], "tip") @ along(t)[1]

    gamma = torsor.frame_pose(robot, c.q, "tip")
    moved = by_hand.derivative(lambda t: torsor.frame_pose(robot, along(t)[0], "tip"), step=1e-4)
    assert_close(moved, gamma @ by_hand.hat(twist(0.0)), 1e-8)
    exact = torsor.tasks.workspace_acceleration(robot, c.q, v, c.task, tau)
    assert_close(exact, by_hand.derivative(twist, step=1e-4), 1e-7)
    C, J_dot = torsor.coriolis_matrix(robot, c.q, v), torsor.kinematics.body_jacobian_rate(robot, c.q, v, "tip")
    assert_close(exact, c.J @ inv(c.M) @ (tau - C @ v) + J_dot @ v, 1e-9)
    printed = lie.bracket_dual(twist(0.0), twist(0.0)) + c.J @ inv(c.M) @ tau
    assert_close(torsor.papers.altafini_workspace_acceleration(robot, c.q, v, "tip", tau), printed, 1e-9)
    assert_differs(printed, exact)


# §IV: lift of functions


def test_24_lift_of_functions(rng):
    """Alt04 (24), E004-13: dϑ = Jᵀ η and grad ϑ = M⁻¹ Jᵀ η; printed with J⁺."""
    c = example_c()
    robot, q, goal = c.robot, c.q, rng.normal(size=3)

    def distance(q):
        p = torsor.frame_pose(robot, q, "tip")[:3, 3]
        return np.array([0.5 * (p - goal) @ (p - goal)])

    T = torsor.frame_pose(robot, q, "tip")
    eta = np.concatenate([np.zeros(3), T[:3, :3].T @ (T[:3, 3] - goal)])  # the derivative along body twists
    slope = by_hand.gradient(distance, q)[0]
    found = torsor.redundancy.lift_function(robot, q, c.task, eta)
    assert_close(found.differential, slope, 1e-9)
    assert_close(c.M @ found.gradient, slope, 1e-9)
    assert_differs(c.J_plus @ eta, slope)
    assert_differs(inv(c.M) @ c.J_plus @ eta, found.gradient)
    # It is the lift of grad θ only where J M⁻¹ Jᵀ = 1.
    assert_differs(c.K @ eta, found.gradient)
    b, eta = example_b(), rng.normal(size=3)
    assert_close(b.K @ eta, torsor.redundancy.lift_function(b.robot, b.q, b.task, eta).gradient, 1e-9)
