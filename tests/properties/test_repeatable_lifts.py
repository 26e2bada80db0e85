"""Lifts made to be repeatable: what they hold constant, and that closed paths close, as with other lifts they do not."""

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from property_checks import assert_close, largest

import torsor
from torsor.geometry.freedoms import structure_constants
from torsor.redundancy import circle

STEP = 3e-4  # rad or m
DIFFERENCED = 1e-8  # central differences of order 4: 8e-15 times fifth derivatives, and rounding over the step
ZERO = 1e-12


class Case(NamedTuple):
    """A robot, a task, functions that complete it, and a configuration far from singular ones."""

    robot: torsor.Robot
    task: torsor.tasks.Task
    h: object
    q: np.ndarray

    @property
    def lift(self):
        return torsor.redundancy.extended_jacobian_lift(self.robot, self.task, self.h)


def first_joint(robot, q):
    return q[:1]


def sines(robot, q):
    """Two functions that are not linear."""
    return np.stack([np.sin(q[0]) + 0.3 * q[1] * q[2], q[1] - 0.5 * np.cos(q[2] + q[0])])


def middle_height(robot, q):
    return torsor.frame_pose(robot, q, robot.links[3])[2:3, 3]


def turned(robot, q):
    """Of a quaternion and numbers after it."""
    return np.stack([q[0] * q[1] - q[2] * q[3], q[4] + q[2]])


def random_chain(kinds, seed):
    rng = np.random.default_rng(seed)
    body = torsor.Inertia(1.0, (0.1, 0.05, 0.1), np.diag([0.02, 0.03, 0.025]))
    joints = [
        torsor.Joint(
            name=f"joint_{k}",
            kind=kind,
            parent="base" if k == 0 else f"link_{k - 1}",
            link=f"link_{k}",
            axis=rng.normal(size=3) if kind not in ("spherical", "free") else None,
            pitch=0.2 if kind == "helical" else None,
            pose=torsor.pose_from(rng.normal(scale=0.3, size=3)),
            inertia=body,
        )
        for k, kind in enumerate(kinds)
    ]
    tip = {"tip": (f"link_{len(kinds) - 1}", torsor.pose_from((0.3, -0.2, 0.25)))}
    return torsor.assemble(joints, name="".join(kind[0] for kind in kinds), frames=tip)


def far_from_singular(robot, task, h):
    """Of some random configurations the one that is farthest from singularities of the robot and of the choice of h."""
    some = torsor.random_configuration(robot, seed=0, batch=(200,))
    sigma = np.linalg.svd(task.jacobian(robot, some), compute_uv=False)
    good = (
        torsor.redundancy.extended_jacobian_lift(robot, task, h).transversality(robot, some)
        * sigma[:, -1]
        / sigma[:, 0]
    )
    return Case(robot, task, h, some[int(np.argmax(good))])


@cache
def case_of(name):
    xy = torsor.position_task("tip", ["vx", "vy"])
    if name == "3R":
        robot = torsor.robots.planar_chain([0.5, 0.4, 0.3], [1.0, 0.8, 0.5])
        return Case(robot, xy, first_joint, np.array([0.4, 0.7, 1.4]))
    if name == "4R":
        robot = torsor.robots.planar_chain([0.5, 0.4, 0.3, 0.2], [1.0, 0.8, 0.5, 0.3])
        return Case(robot, xy, sines, np.array([0.4, 0.7, 0.9, 0.6]))
    if name == "4R pose":
        robot = torsor.robots.planar_chain([0.5, 0.4, 0.3, 0.2], [1.0, 0.8, 0.5, 0.3])
        return Case(robot, torsor.pose_task("tip", ["wz", "vx", "vy"]), first_joint, np.array([0.4, 0.7, 0.9, 0.6]))
    if name == "RPHRR":
        robot = random_chain(["revolute", "prismatic", "helical", "revolute", "revolute"], seed=3)
        return far_from_singular(robot, torsor.position_task("tip"), sines)
    if name == "SRR":
        robot = random_chain(["spherical", "revolute", "revolute"], seed=5)
        return far_from_singular(robot, torsor.position_task("tip"), turned)
    if name == "FRR":
        robot = random_chain(["free", "revolute", "revolute"], seed=7)
        return far_from_singular(robot, torsor.pose_task("tip"), turned)
    panda = torsor.robots.panda()
    return Case(panda, torsor.pose_task("hand_tcp"), middle_height, np.array([0.3, -0.4, 0.5, -2.1, 0.1, 1.9, 0.6]))


NAMES = ("3R", "4R", "4R pose", "RPHRR", "SRR", "FRR", "panda")


@pytest.fixture(params=NAMES)
def case(request):
    return case_of(request.param)


def slopes(robot, function, q):
    """∂ of a function along v by differences, derivative index last."""
    weights, steps = np.array([1, -8, 8, -1]) / (12 * STEP), STEP * np.array([-2, -1, 1, 2])
    columns = [
        sum(w * function(torsor.integrate(robot, q, step * e)) for w, step in zip(weights, steps, strict=True))
        for e in np.eye(robot.nv)
    ]
    return np.stack(columns, axis=-1)


def test_it_does_the_task_and_holds_its_functions(case):
    """J K = 1, and ∂h K = 0 with ∂h by differences of h."""
    robot, task, h, q = case
    K = case.lift(robot, q)
    assert K.shape == (robot.nv, task.size)
    assert_close(task.jacobian(robot, q) @ K, np.eye(task.size), ZERO)
    H = slopes(robot, lambda q: np.asarray(h(robot, q)), q)
    assert_close(H @ K, np.zeros((robot.nv - task.size, task.size)), DIFFERENCED, scale=largest(H) * largest(K))


def test_its_derivative_is_exact(case):
    robot, task, _, q = case
    lift = case.lift
    exact = lift.derivative(robot, q)
    assert_close(exact, slopes(robot, lambda q: lift(robot, q), q), DIFFERENCED, scale=largest(exact))
    P = np.eye(robot.nv) - lift(robot, q) @ task.jacobian(robot, q)
    assert_close(lift.projector(robot, q), P, ZERO, scale=largest(lift(robot, q)))
    vertical = np.einsum("ij,jbk->ibk", P, exact)
    assert_close(lift.vertical_derivative(robot, q), vertical, ZERO, scale=largest(exact) * largest(P))


def test_brackets_of_the_definition_stay_among_its_columns(case):
    """Brackets by differences of K and those of the velocity frame: their vertical part vanishes, that of J⁺ does not."""
    robot, task, _, q = case
    J = task.jacobian(robot, q)

    def vertical(lift):
        K, dK = lift(q), slopes(robot, lift, q)
        brackets = np.einsum("ibk,ka->iab", dK, K) - np.einsum("iak,kb->iab", dK, K)
        if (s := structure_constants(robot.structure)) is not None:
            brackets = brackets + np.einsum("klr,ka,lb->rab", s, K, K)
        return np.einsum("ij,jab->iab", np.eye(robot.nv) - K @ J, brackets), largest(dK) * largest(K)

    found, size = vertical(lambda q: case.lift(robot, q))
    assert largest(found) < DIFFERENCED * size
    assert largest(torsor.redundancy.vertical_brackets(robot, q, task, lift=case.lift)) < 1e-13 * size
    drifting, size = vertical(lambda q: torsor.redundancy.pseudoinverse_lift(robot, q, task))
    assert largest(drifting) > 1e-4 * size


def test_it_is_found_repeatable_and_the_usual_lifts_are_not(case):
    robot, task, _, q = case
    near = np.stack([torsor.integrate(robot, q, 0.1 * e) for e in np.eye(robot.nv)])
    report = torsor.redundancy.is_repeatable(robot, task, lift=case.lift, q=near)
    assert report
    assert report.tolerance == 1e-9
    assert report.largest < 1e-13
    assert "the extended Jacobian lift of the task is repeatable" in str(report)
    assert not torsor.redundancy.is_repeatable(robot, task, q=near)
    assert not torsor.redundancy.is_repeatable(robot, task, lift="pseudoinverse", q=near)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["3R", "4R pose", "RPHRR", "SRR"])
def test_closed_paths_close(name):
    """Drift at most 1e-9 rad or m, where that of J⁺ is ten thousand times more."""
    robot, task, h, q = case_of(name)
    path = circle(task, 0.03)
    lift = torsor.redundancy.extended_jacobian_lift(robot, task, h)
    found = torsor.redundancy.closed_path_drift(robot, q, task, path, rounds=2, lift=lift, tolerance=1e-11)
    assert largest(found.drift) < 1e-9
    assert found.task_error[-1] < 1e-9
    values = np.array([h(robot, one) for one in found.q])
    assert_close(values, values[:1] + 0.0 * values, 1e-9)
    other = torsor.redundancy.closed_path_drift(robot, q, task, path, rounds=1, lift="pseudoinverse", tolerance=1e-9)
    assert largest(other.drift) > 1e-5


@pytest.mark.compiled
def test_closed_paths_of_poses_close_in_the_panda():
    robot, task, h, q = case_of("panda")
    loop = [np.zeros(6), [0, 0, 0.1, 0.05, 0, 0], [0.1, 0, 0, 0, 0.05, 0]]
    lift = torsor.redundancy.extended_jacobian_lift(robot, task, h)
    found = torsor.redundancy.closed_path_drift(robot, q, task, loop, rounds=2, lift=lift, tolerance=1e-12)
    assert largest(found.drift) < 1e-9
    assert torsor.redundancy.is_repeatable(robot, task, lift=lift)
    other = torsor.redundancy.closed_path_drift(robot, q, task, loop, rounds=1, lift="pseudoinverse")
    assert largest(other.drift) > 1e-5


def test_it_is_the_horizontal_lift_of_its_metric(case):
    robot, task, _, q = case
    lift = case.lift
    metric, K = lift.metric(robot, q), lift(robot, q)
    assert_close(torsor.redundancy.horizontal_lift(robot, q, task, metric=metric), K, 1e-11)
    v = np.linspace(-1.0, 1.0, robot.nv)
    part = torsor.redundancy.split_velocity(robot, q, v, task, metric=metric)
    assert_close(part.horizontal, K @ task.jacobian(robot, q) @ v, 1e-11)
    assert_close(part.vertical, lift.projector(robot, q) @ v, 1e-11)


def test_batches_are_their_states(case):
    robot, task, _, q = case
    some = np.stack([torsor.integrate(robot, q, 0.05 * e) for e in np.eye(robot.nv)[:2]])[:, None]
    lift = case.lift
    for found, of in (
        (lift(robot, some), lift),
        (lift.derivative(robot, some), lift.derivative),
        (lift.transversality(robot, some), lift.transversality),
    ):
        assert_close(found, np.array([[of(robot, one) for one in row] for row in some]), ZERO)
    assert lift(robot, some[:0]).shape == (0, 1, robot.nv, task.size)


def test_the_scale_of_its_functions_does_not_matter():
    robot, task, h, q = case_of("4R")
    large = torsor.redundancy.extended_jacobian_lift(robot, task, lambda robot, q: 1e8 * h(robot, q))
    small = case_of("4R").lift
    assert_close(large(robot, q), small(robot, q), ZERO)
    assert_close(large.transversality(robot, q), small.transversality(robot, q), ZERO)
    assert torsor.redundancy.is_repeatable(robot, task, lift=large, q=q)


def test_a_constraint_on_velocities_that_is_no_function_is_found_out():
    """Made by hand, past the check: columns that hold a twist's rows still are not integrable."""
    robot = torsor.robots.panda()
    velocities = torsor.pose_task("hand_tcp", ["wz", "vx", "vy"])
    task = torsor.stack_tasks(torsor.position_task(robot.links[4]), torsor.function_task(first_joint, 1))
    lift = torsor.redundancy.ExtendedJacobianLift(task, velocities)
    assert not torsor.redundancy.is_repeatable(robot, lift.task, lift=lift)
    with pytest.raises(torsor.TorsorError, match="is no function of the configuration"):
        torsor.redundancy.extended_jacobian_lift(robot, lift.task, velocities)


# Coordinates


def test_coordinates_come_back(case):
    robot, task, _, q = case
    chart = torsor.redundancy.local_trivialisation(robot, q, task, case.lift)
    rng = np.random.default_rng(1)
    y, s = 0.04 * rng.normal(size=(3, task.size)), 0.02 * rng.normal(size=(3, robot.nv - task.size))
    found = chart.coordinates(chart.configuration(y, s))
    assert_close(found.y, y, 1e-12)
    assert_close(found.s, s, 1e-12)
    there = torsor.integrate(robot, q, 0.05 * rng.normal(size=robot.nv))
    again = chart.configuration(*chart.coordinates(there))
    assert_close(torsor.difference(robot, there, again), np.zeros(robot.nv), 1e-11)
    assert_close(chart.configuration(np.zeros(task.size)), q, ZERO)


def test_coordinates_come_back_where_numbers_are_large():
    """A slide a kilometre out and a function in nanometres: steps end at rounding, which is larger there."""
    robot = random_chain(["prismatic", "prismatic", "prismatic", "revolute"], seed=2)
    task, q = torsor.position_task("tip"), np.array([1000.0, -700.0, 300.0, 0.4])
    chart = torsor.redundancy.local_trivialisation(robot, q, task, lambda robot, q: 1e9 * (q[3:] + 1e-3 * q[0:1]))
    found = chart.coordinates(chart.configuration([10.0, 5.0, -3.0], [1e8]))
    np.testing.assert_allclose(found.y, [10.0, 5.0, -3.0], rtol=1e-11)
    np.testing.assert_allclose(found.s, [1e8], rtol=1e-11)


def test_their_derivative_is_exact(case):
    """∂q/∂(y, s) times ∂(y, s)/∂q, by differences of the coordinates, is 1."""
    robot, task, _, q = case
    chart = torsor.redundancy.local_trivialisation(robot, q, task, case.lift)
    there = torsor.integrate(robot, q, np.linspace(-0.1, 0.1, robot.nv))
    D = slopes(robot, lambda q: np.concatenate(chart.coordinates(q)), there)
    found = chart.derivative(there)
    assert_close(D @ found, np.eye(robot.nv), DIFFERENCED, scale=largest(D) * largest(found))


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["4R", "4R pose", "SRR"])
def test_lifted_curves_are_sections(name):
    """The integrated lift of a curve, and the configurations at its coordinates by Newton's method."""
    robot, task, h, q = case_of(name)
    chart = torsor.redundancy.local_trivialisation(robot, q, task, h)
    points = 0.04 * np.random.default_rng(2).normal(size=(2, task.size)) * [[0.0], [1.0]]
    curve = torsor.redundancy.lift_curve(robot, q, task, points, lift=chart.lift, samples=3)
    for t, there in zip(curve.t, curve.q, strict=True):
        away = torsor.difference(robot, chart.configuration(t * points[1]), there)
        assert_close(away, np.zeros(robot.nv), 1e-8)
    assert_close(chart.coordinates(curve.q).s, np.zeros((3, robot.nv - task.size)), 1e-8)


# Sections


def bent(robot, y):
    """The first joint depends on where the hand should be; the other two follow from the law of cosines."""
    first = 0.2 + 0.5 * y[0] * y[1]
    x, z = y[0] - 0.5 * np.cos(first), y[1] - 0.5 * np.sin(first)
    c = (x * x + z * z - 0.4**2 - 0.3**2) / (2 * 0.4 * 0.3)
    s = np.sqrt(1.0 - c * c)
    second = np.arctan2(z, x) - np.arctan2(0.3 * s, 0.4 + 0.3 * c) - first
    return [first, second, np.arctan2(s, c)]


@pytest.mark.compiled
def test_the_lift_of_a_section_is_its_derivative():
    robot, task, _, _ = case_of("3R")
    y = np.array([0.55, 0.45])
    q = np.array(bent(robot, y))
    lift = torsor.redundancy.section_lift(robot, q, task, bent)
    steps = 1e-5 * np.eye(2)
    d_sigma = np.stack([np.subtract(bent(robot, y + e), bent(robot, y - e)) / 2e-5 for e in steps], axis=-1)
    assert_close(lift(robot, q), d_sigma, 1e-8)
    assert_close(task.jacobian(robot, q) @ lift(robot, q), np.eye(2), ZERO)
    corners = np.array([[0, 0], [0.05, 0], [0.05, -0.04]])
    curve = torsor.redundancy.lift_curve(robot, q, task, corners, lift=lift, samples=2)
    assert_close(curve.q, np.array([bent(robot, y + corner) for corner in corners]), 1e-8)
    chart = torsor.redundancy.local_trivialisation(robot, q, task, lift)
    assert_close(chart.configuration(corners), np.array([bent(robot, y + corner) for corner in corners]), 1e-11)
    assert torsor.redundancy.is_repeatable(robot, task, lift=lift, q=curve.q + 0.05)
    drift = torsor.redundancy.closed_path_drift(robot, q, task, corners, lift=lift, rounds=3)
    assert largest(drift.drift) < 1e-9
    assert "section lift" in str(drift)


def posed(robot, T):
    """Of a planar 4R by the pose of its hand: the first joint stands at 0.4."""
    x, z, angle = T[0, 3] - 0.2 * T[0, 0], T[1, 3] - 0.2 * T[1, 0], np.arctan2(T[1, 0], T[0, 0])
    x, z = x - 0.5 * np.cos(0.4), z - 0.5 * np.sin(0.4)
    c = (x * x + z * z - 0.4**2 - 0.3**2) / (2 * 0.4 * 0.3)
    s = np.sqrt(1.0 - c * c)
    second = np.arctan2(z, x) - np.arctan2(0.3 * s, 0.4 + 0.3 * c) - 0.4
    third = np.arctan2(s, c)
    return [0.0 * third + 0.4, second, third, angle - 0.4 - second - third]


def test_sections_take_poses_and_stacks():
    robot, _, _, q = case_of("4R pose")
    xy, turn = (
        torsor.position_task("tip", ["vx", "vy"]),
        torsor.function_task(lambda robot, q: q[:1] + q[1:2] + q[2:3] + q[3:], 1),
    )
    task = torsor.stack_tasks(xy, turn)

    def section(robot, value):
        (x, y), (angle,) = value
        zero = 0.0 * x
        c, s = np.cos(angle), np.sin(angle)
        T = np.stack([np.stack([c, -s, zero, x]), np.stack([s, c, zero, y])])
        return posed(robot, T)

    lift = torsor.redundancy.section_lift(robot, q, task, section)
    assert_close(lift(robot, q), torsor.redundancy.extended_jacobian_lift(robot, task, first_joint)(robot, q), 1e-11)


# Stationary configurations


def manipulability(robot, q):
    return torsor.tasks.manipulability(robot, q, torsor.position_task("tip", ["vx", "vy"]))


@pytest.mark.compiled
def test_baillieuls_lift_keeps_what_is_best_on_each_fibre():
    """From the most manipulable configuration of one fibre to that of others: any other configuration there is less so."""
    robot, task, _, q = case_of("3R")

    constraint = torsor.redundancy.stationary_constraint(robot, q, task, manipulability)
    chart = torsor.redundancy.local_trivialisation(robot, q, task, constraint)
    start = chart.configuration(np.zeros(2), -constraint.value(robot, q))  # h = 0 on this fibre
    assert_close(constraint.value(robot, start), [0.0], 1e-12)
    lift = chart.lift
    curve = torsor.redundancy.lift_curve(robot, start, task, [[0, 0], [0.06, -0.05]], lift=lift, samples=3)
    hold_first = torsor.redundancy.extended_jacobian_lift(robot, task, first_joint)
    for there in curve.q:
        assert_close(constraint.value(robot, there), [0.0], 1e-8)
        fibre = torsor.redundancy.local_trivialisation(
            robot, there, task, hold_first
        )  # the same fibre in another coordinate
        beside = fibre.configuration(np.zeros(2), [[-0.05], [0.05]])
        assert np.all(manipulability(robot, beside) < manipulability(robot, there))
    near = curve.q + 0.02
    assert torsor.redundancy.is_repeatable(robot, task, lift=lift, q=near)
    drift = torsor.redundancy.closed_path_drift(
        robot, start, task, circle(task, 0.03), lift=lift, rounds=1, tolerance=1e-11
    )
    assert largest(drift.drift) < 1e-9
