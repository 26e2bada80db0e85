"""Properties of lifts and splittings, for every joint kind, trees, mimics and any task of full rank."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from property_checks import DIFFERENTIATED, assert_close, derivative, dot, largest, times, transposed
from property_strategies import cases, mass_condition, robots, seeds

import torsor
from torsor.geometry.freedoms import structure_constants
from torsor.redundancy.configurations import LIMIT, is_regular

LIFTS = ("inertia", "pseudoinverse")
REGULAR = 1e3  # condition of the Jacobian of a task that is taken
some_cases = cases(robots(least=2, most=6, friction=False), batches=((), (3,), (2, 1)))


def task_of(case, redundant=False):
    """Rows of the twist of some frame that are independent at all states of the case; None if there are none."""
    robot, most = case.robot, case.robot.nv - redundant
    frames = [f for f in robot.frames if f not in (robot.structure.base,)]
    frame = str(case.rng.choice(frames))
    whole = torsor.stack_tasks(torsor.orientation_task(frame), torsor.position_task(frame))
    rows = []
    for row in case.rng.permutation(6):
        J = whole.select([*rows, int(row)]).jacobian(robot, case.q)
        if len(rows) < most and np.max(np.linalg.cond(J)) < REGULAR and largest(J) > 1e-3:
            rows.append(int(row))
    return whole.select(rows) if rows else None


def taken(case, redundant=False):
    task = task_of(case, redundant)
    assume(task is not None and mass_condition(case.robot, case.q) < 1e6)
    J = np.broadcast_to(task.jacobian(case.robot, case.q), (*case.batch, task.size, case.robot.nv))
    return task, J


def tolerance(case, J):
    """Rounding, multiplied by the condition of what is inverted."""
    return 1e-14 * mass_condition(case.robot, case.q) * float(np.max(np.linalg.cond(J), initial=1.0)) ** 2


@given(some_cases)
def test_the_horizontal_lift_does_the_task_and_is_orthogonal_to_self_motions(case):
    task, J = taken(case)
    K, M = torsor.redundancy.horizontal_lift(case.robot, case.q, task), torsor.mass_matrix(case.robot, case.q)
    near = tolerance(case, J)
    assert_close(J @ K, np.broadcast_to(np.eye(task.size), (*case.batch, task.size, task.size)), near)
    kernel = transposed(np.linalg.svd(J)[2][..., task.size :, :])
    products = transposed(K) @ M @ kernel
    assert_close(products, np.zeros_like(products), near, scale=largest(K) * largest(M))


@given(some_cases, st.booleans())
def test_the_lift_is_the_pseudoinverse_in_isometric_coordinates(case, eigenvectors):
    """K = N⁻¹ (J N⁻¹)⁺ for every factor NᵀN = M: Cholesky's and the spectral one."""
    task, J = taken(case)
    M = torsor.mass_matrix(case.robot, case.q)
    if eigenvectors:
        values, vectors = np.linalg.eigh(M)
        N = np.sqrt(values)[..., None] * transposed(vectors)
    else:
        N = transposed(np.linalg.cholesky(M))
    inverse = np.linalg.inv(N)
    assert_close(
        torsor.redundancy.horizontal_lift(case.robot, case.q, task),
        inverse @ np.linalg.pinv(J @ inverse),
        tolerance(case, J),
    )
    assert_close(torsor.redundancy.pseudoinverse_lift(case.robot, case.q, task), np.linalg.pinv(J), tolerance(case, J))


@given(some_cases)
def test_projectors_are_projectors(case):
    task, J = taken(case)
    H, V = torsor.redundancy.velocity_projectors(case.robot, case.q, task)
    M, near = torsor.mass_matrix(case.robot, case.q), tolerance(case, J)
    size = max(1.0, largest(H)) ** 2
    assert_close(H + V, np.broadcast_to(np.eye(case.robot.nv), H.shape), near, scale=size)
    for P in (H, V):
        assert_close(P @ P, P, near, scale=size)
        assert_close(M @ P, transposed(M @ P), near, scale=largest(M) * size)
    assert_close(J @ V, np.zeros_like(J), near, scale=largest(J) * size)
    assert_close(np.trace(H, axis1=-2, axis2=-1), np.full(case.batch, float(task.size)), near, scale=size)


@given(some_cases)
def test_a_velocity_splits_into_parts_whose_energies_add_up(case):
    task, J = taken(case)
    parts = torsor.redundancy.split_velocity(case.robot, case.q, case.v, task)
    H, V = torsor.redundancy.velocity_projectors(case.robot, case.q, task)
    near = tolerance(case, J)
    size = largest(case.v) * max(1.0, largest(H)) ** 2
    assert_close(parts.horizontal, times(H, case.v), near, scale=size)
    assert_close(parts.vertical, times(V, case.v), near, scale=size)
    whole, *energies = (torsor.kinetic_energy(case.robot, case.q, x) for x in (case.v, *parts))
    assert_close(sum(energies), whole, near, scale=largest(energies))


@given(some_cases, st.integers(0, 100))
def test_any_metric_has_its_lift(case, seed):
    task, J = taken(case)
    A = np.random.default_rng(seed).normal(size=(case.robot.nv,) * 2)
    metric = A @ A.T + np.eye(len(A))
    K = torsor.redundancy.horizontal_lift(case.robot, case.q, task, metric=metric)
    near = tolerance(case, J) * np.linalg.cond(metric)
    assert_close(J @ K, np.broadcast_to(np.eye(task.size), (*case.batch, task.size, task.size)), near)
    parts = torsor.redundancy.split_velocity(case.robot, case.q, case.v, task, metric=metric)
    product = dot(times(metric, parts.horizontal), parts.vertical)
    assert_close(product, np.zeros(case.batch), near, scale=largest(parts) ** 2 * largest(metric))
    many = np.broadcast_to(metric, (*case.batch, *metric.shape))
    assert_close(torsor.redundancy.horizontal_lift(case.robot, case.q, task, metric=many), K, near)


def brackets_by_differences(robot, q, task, lift):
    """(1 − K J) [K_a, K_b] from its definition, one pair of columns after the other."""
    K_of = torsor.redundancy.horizontal_lift if lift == "inertia" else torsor.redundancy.pseudoinverse_lift
    K, s = K_of(robot, q, task), structure_constants(robot.structure)
    found = np.zeros((robot.nv, task.size, task.size))
    along = [
        derivative(lambda t, a=a: K_of(robot, torsor.integrate(robot, q, K[:, a], t), task)) for a in range(task.size)
    ]
    for a in range(task.size):
        for b in range(task.size):
            found[:, a, b] = along[a][:, b] - along[b][:, a]
            if s is not None:
                found[:, a, b] += np.einsum("kli,k,l->i", s, K[:, a], K[:, b])
    P = np.eye(robot.nv) - K @ task.jacobian(robot, q)
    return np.einsum("ij,jab->iab", P, found), largest(found)


@given(cases(robots(least=3, most=5, friction=False), batches=((),)), st.sampled_from(LIFTS))
def test_brackets_are_those_of_the_definition(case, lift):
    task, J = taken(case, redundant=True)
    assume(task.size >= 2 and np.linalg.cond(J) < 50 and mass_condition(case.robot, case.q) < 1e4)
    assume(largest(torsor.redundancy.horizontal_lift(case.robot, case.q, task)) < 50)
    expected, size = brackets_by_differences(case.robot, case.q, task, lift)
    assert_close(
        torsor.redundancy.vertical_brackets(case.robot, case.q, task, lift=lift),
        expected,
        10 * DIFFERENTIATED,
        scale=10 * size,
    )


@given(cases(robots(least=3, most=5, friction=False), batches=((3,),)), st.sampled_from(LIFTS))
def test_brackets_of_a_batch_are_those_of_its_states(case, lift):
    task, _ = taken(case, redundant=True)
    together = torsor.redundancy.vertical_brackets(case.robot, case.q, task, lift=lift)
    for k, q in enumerate(case.q):
        alone = torsor.redundancy.vertical_brackets(case.robot, q, task, lift=lift)
        assert_close(together[k], alone, 1e-10, scale=largest(together))


@given(some_cases, seeds)
def test_holding_any_functions_makes_a_repeatable_lift_of_any_robot(case, seed):
    """h = B q with B at random, of all joint kinds, trees and mimics: J K = 1, ∂h K = 0, and brackets stay among the columns."""
    task, J = taken(case, redundant=True)
    robot, n, m = case.robot, case.robot.nv, task.size
    assume(n > m and np.all(is_regular(robot, case.q, J, LIMIT)))
    B = np.random.default_rng(seed).normal(size=(n - m, robot.nq))
    lift = torsor.redundancy.extended_jacobian_lift(robot, task, lambda robot, q: B @ q)
    H = B @ np.stack([torsor.kinematics.configuration_rate(robot, case.q, e) for e in np.eye(n)], axis=-1)
    E = np.concatenate([J, H], axis=-2)
    assume(np.max(np.linalg.cond(E), initial=1.0) < REGULAR)
    K = lift(robot, case.q)
    near = 1e-13 * REGULAR
    expected = np.concatenate([np.eye(m), np.zeros((n - m, m))])
    assert_close(E @ K, np.broadcast_to(expected, (*case.batch, n, m)), near, scale=largest(E) * largest(K))
    metric = lift.metric(robot, case.q)
    assert_close(
        torsor.redundancy.horizontal_lift(robot, case.q, task, metric=metric), K, near * REGULAR, scale=largest(K)
    )
    assert torsor.redundancy.is_repeatable(robot, task, lift=lift, q=case.q)
    brackets = torsor.redundancy.vertical_brackets(robot, case.q, task, lift=lift)
    assert_close(brackets, np.zeros((*case.batch, n, m, m)), near * REGULAR, scale=largest(K) ** 3)


@given(some_cases)
def test_functions_of_the_task_are_lifted_by_the_transpose(case):
    """d(θ∘ρ) is the derivative of θ along the motion of the task, and the gradient is horizontal."""
    task, J = taken(case)
    eta = case.rng.normal(size=(*case.batch, task.size))
    found = torsor.redundancy.lift_function(case.robot, case.q, task, eta)
    assert_close(dot(found.differential, case.v), dot(eta, times(J, case.v)), 1e-11, scale=largest(found.differential))
    parts = torsor.redundancy.split_velocity(case.robot, case.q, found.gradient, task)
    near = tolerance(case, J)
    H = torsor.redundancy.velocity_projectors(case.robot, case.q, task).horizontal
    size = largest(found.gradient) * max(1.0, largest(H)) ** 2
    assert_close(parts.vertical, np.zeros_like(parts.vertical), near, scale=size)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 100))
def test_the_criterion_for_equal_lifts_is_exact(m, more, seed):
    """lift_M = J⁺ ⟺ [M, J⁺J] = 0, of any M > 0 and J of full rank, made to agree and made not to."""
    rng = np.random.default_rng(seed)
    n = m + more
    J, A = rng.normal(size=(m, n)), rng.normal(size=(n, n))
    plus = np.linalg.pinv(J)
    P = plus @ J
    M = A @ A.T + np.eye(n)

    def lift(M):
        X = np.linalg.solve(M, J.T)
        return X @ np.linalg.inv(J @ X)

    split = P @ M @ P + (np.eye(n) - P) @ M @ (np.eye(n) - P)
    assert_close(lift(split), plus, 1e-9)
    assert_close(split @ P - P @ split, np.zeros((n, n)), 1e-12, scale=largest(M))
    assert (largest(lift(M) - plus) > 1e-9) == (largest(M @ P - P @ M) > 1e-9)
    assert torsor.redundancy.generalised_inverse_class(J, lift(split)).is_moore_penrose
    assert torsor.redundancy.generalised_inverse_class(J, lift(M)).holds[:3] == ("I", "II", "III")


def spherical_robot():
    """A joint of three freedoms that do not commute, and a revolute one beyond."""
    rng = np.random.default_rng(5)
    body = torsor.Inertia(1.0, (0.1, 0.2, 0.3), np.diag([0.5, 0.6, 0.7]))
    joints = [
        torsor.Joint(name="ball", kind="spherical", parent="base", link="a", inertia=body),
        torsor.Joint(
            name="hinge",
            kind="revolute",
            parent="a",
            link="b",
            axis=rng.normal(size=3),
            pose=torsor.pose_from((0.3, 0.1, 0.2)),
            inertia=body,
        ),
    ]
    return torsor.assemble(joints, name="ball", frames={"tip": ("b", torsor.pose_from((0.4, -0.2, 0.3)))})


@pytest.mark.compiled
@pytest.mark.parametrize("lift", LIFTS)
@pytest.mark.parametrize("robot", ["ball", "arm"])
def test_small_loops_drift_as_brackets_predict(robot, lift):
    """Second order in the size of the loop: the error is of third order. Also with joints whose freedoms do not commute."""
    robot = spherical_robot() if robot == "ball" else torsor.robots.planar_chain([0.5, 0.4, 0.3], [1.0, 0.8, 0.5])
    task, q = torsor.position_task("tip", ["vx", "vy"]), torsor.random_configuration(robot, seed=3)
    off = []
    for size in (0.02, 0.01):
        corners = size * np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
        found = torsor.redundancy.closed_path_drift(robot, q, task, corners, rounds=1, lift=lift, tolerance=1e-13)
        assert found.task_error[1] < 1e-11
        assert_close(found.area, size**2 * np.array([[0.0, 1.0], [-1.0, 0.0]]), 1e-15)
        off.append(largest(found.drift[1] - found.predicted) / size**2)
        assert largest(found.predicted) > 1e-2 * size**2
    assert 1.5 < off[0] / off[1] < 2.6
