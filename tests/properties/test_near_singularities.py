"""Dynamics along a task next to a singularity: as many digits as J and M have, against 40 digits of the same J and M."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from property_checks import largest

import torsor

NEAR = 1e-8  # relative, for conditions of J up to 1e7; what rounding of J alone makes of it is 1e-9
UR5, PANDA, FLAT = torsor.robots.ur5(), torsor.robots.panda(), torsor.robots.planar2r()


def exactly(function, *arrays: np.ndarray) -> list[np.ndarray]:
    """What a function of matrices gives in 40 digits, as doubles."""
    with mpmath.workdps(40):
        found = function(*(mpmath.matrix(np.reshape(x, (len(x), -1)).tolist()) for x in arrays))
        return [np.array(x.tolist(), dtype=object).astype(float) for x in found]


def assert_same(found: np.ndarray, expected: np.ndarray) -> None:
    expected = expected.reshape(found.shape)
    assert largest(found - expected) <= NEAR * largest(expected)


def wrist(epsilon: float) -> np.ndarray:
    return np.array([0.2, -1.1, 1.3, -0.4, epsilon, 0.5])


def stretched(epsilon: float) -> np.ndarray:
    return np.array([0.3, 0.4, -0.5, 0.7, 0.2, 0.9, 0.6]) * np.where(np.arange(7) % 6 == 0, 1.0, epsilon)


def outstretched(epsilon: float) -> np.ndarray:
    return np.array([0.4, epsilon])


TURNED = UR5.with_frame("turned", "tool0", torsor.lie.se3.exp([0.3, -0.5, 0.7, 0.1, 0.2, -0.1]))
CASES = {
    "the wrist of a UR5": (UR5, torsor.pose_task("tool0"), wrist),
    "the wrist, in axes that are turned": (TURNED, torsor.pose_task("turned"), wrist),
    "a stretched Panda": (PANDA, torsor.pose_task("hand_tcp"), stretched),
    "five rows of a stretched Panda": (PANDA, torsor.pose_task("hand_tcp", [5, 0, 3, 2, 1]), stretched),
    "a stretched planar arm": (FLAT, torsor.position_task("tip", ["vx", "vy"]), outstretched),
}


@pytest.mark.parametrize("epsilon", [1e-3, 1e-5, 1e-6])
@pytest.mark.parametrize("case", CASES)
def test_task_space_dynamics_keep_their_digits_near_singularities(case, epsilon):
    robot, task, place = CASES[case]
    q, v = place(epsilon), np.linspace(-1.0, 1.0, robot.nv)
    found = torsor.tasks.task_space_dynamics(robot, q, v, task)
    J, M = found.jacobian, torsor.mass_matrix(robot, q)
    assert np.linalg.cond(J) < 2e7
    forces = torsor.dynamics.coriolis_forces(robot, q, v), torsor.gravity_forces(robot, q)

    def truth(J, M, c, g, drift):
        M_inverse = M**-1
        inertia = (J * M_inverse * J.T) ** -1
        coriolis, gravity = inertia * (J * M_inverse * c - drift), inertia * (J * M_inverse * g)
        lift = M_inverse * J.T * inertia
        return inertia, coriolis + gravity, coriolis, gravity, lift, mpmath.eye(J.cols) - lift * J

    expected = exactly(truth, J, M, *forces, found.drift)
    parts = found.inertia, found.bias, found.coriolis, found.gravity, found.inverse
    for part, exact in zip(parts, expected, strict=False):
        assert_same(part, exact)
    if task.size < robot.nv:
        assert_same(found.projector, expected[-1])
    else:
        np.testing.assert_array_equal(found.projector, 0.0)
    np.testing.assert_array_equal(found.inertia, found.inertia.T)


@pytest.mark.parametrize("case", CASES)
def test_all_that_goes_with_them_keeps_its_digits_too(case):
    robot, task, place = CASES[case]
    q, v, epsilon = place(3e-6), np.linspace(-1.0, 1.0, robot.nv), np.linspace(0.5, -0.7, task.size)
    J, M = task.jacobian(robot, q), torsor.mass_matrix(robot, q)
    tau, bias = np.cos(np.arange(robot.nv)), torsor.bias_forces(robot, q, v)
    W = np.diag(np.linspace(1.0, 3.0, robot.nv)) + 0.2

    def truth(J, M, W, y, tau, bias, drift):
        one = mpmath.eye(J.cols)

        def inverse(metric):
            return metric**-1 * J.T * (J * metric**-1 * J.T) ** -1

        K, K_W, plain = inverse(M), inverse(W), inverse(one)
        volumes = [mpmath.sqrt(mpmath.det(J * X * J.T)) for X in (one, M**-1, M**-2)]
        inertia = (J * M**-1 * J.T) ** -1
        torques = J.T * inertia * (y - drift + J * M**-1 * (bias - tau)) + tau
        return (
            *(K, K_W, plain, K * J, K.T * tau, J.T * y + tau - J.T * (K.T * tau), torques, plain * y, K_W * y),
            *(mpmath.matrix([volume]) for volume in volumes),
        )

    friction = torsor.friction_forces(robot, v)
    found = [
        torsor.redundancy.horizontal_lift(robot, q, task),
        torsor.redundancy.horizontal_lift(robot, q, task, metric=W),
        torsor.redundancy.pseudoinverse_lift(robot, q, task),
        torsor.redundancy.velocity_projectors(robot, q, task).horizontal,
        torsor.tasks.torques_to_task_forces(robot, q, task, tau),
        torsor.tasks.task_forces_to_torques(robot, q, task, epsilon, null=tau),
        torsor.tasks.task_space_inverse_dynamics(robot, q, v, task, epsilon, null=tau) - friction,
        torsor.control.resolved_rate(robot, q, task, epsilon),
        torsor.control.resolved_rate(robot, q, task, epsilon, metric=W),
        torsor.tasks.manipulability(robot, q, task),
        torsor.tasks.inertia_manipulability(robot, q, task),
        torsor.tasks.dynamic_manipulability(robot, q, task),
    ]
    expected = exactly(truth, J, M, W, epsilon, tau, bias, task.drift(robot, q, v))
    for mine, exact in zip(found, expected, strict=True):
        assert_same(np.asarray(mine), exact)
    part = torsor.redundancy.split_velocity(robot, q, v, task).horizontal
    assert_same(part, expected[3] @ v)


@pytest.mark.parametrize("damping", [1e-6, 1e-3])
@pytest.mark.parametrize("weighed", [False, True])
def test_damped_rates_keep_their_digits_where_damping_is_small(damping, weighed):
    q, y = wrist(1e-5), np.linspace(0.5, -0.7, 6)
    J, W = torsor.body_jacobian(UR5, q, "tool0"), np.diag(np.linspace(1.0, 3.0, 6)) + 0.2 if weighed else np.eye(6)

    def truth(J, W, y):
        d = mpmath.mpf(damping)
        return (W**-1 * J.T * ((J * W**-1 * J.T + d**2 * mpmath.eye(6)) ** -1 * y),)

    v = torsor.control.resolved_rate(UR5, q, "tool0", y, metric=W if weighed else None, damping=damping)
    assert_same(v, *exactly(truth, J, W, y))


@pytest.mark.compiled
def test_machine_code_keeps_the_digits_and_tells_what_is_singular_in_both_precisions():
    """cos π is −1 but sin π is not 0: what is left of J there is rounding error, and nothing is made of it."""
    task = torsor.pose_task("tool0")
    q = torsor.random_configuration(UR5, seed=1, batch=(64,))
    q[:, 4] = np.where(np.arange(64) % 2, 3e-6, -1e-4)
    found = torsor.tasks.task_space_dynamics(UR5, q, 0 * q, task)
    for k in range(0, 64, 9):
        J, M = found.jacobian[k], torsor.mass_matrix(UR5, q[k])
        if np.linalg.cond(J) < 1e7:
            assert_same(found.inertia[k], *exactly(lambda J, M: ((J**-1).T * M * J**-1,), J, M))
    q[:, 4] = np.where(np.arange(64) % 2, np.pi, 0.0)
    for kind in (np.float64, np.float32):
        lost = torsor.tasks.task_space_dynamics(UR5, q.astype(kind), 0 * q.astype(kind), task)
        assert np.isnan(lost.inertia).all()
        assert np.isnan(lost.inverse).all()
        assert np.isnan(lost.projector).all()


@pytest.mark.compiled
def test_derivatives_near_singularities_are_those_of_the_inverse(jax_in_doubles):
    """∂Λ = −Λ ∂(J M⁻¹ Jᵀ) Λ in 40 digits, for machine code and for JAX."""
    task = torsor.position_task("tip", ["vx", "vy"])
    q = outstretched(1e-4)

    def inertia(robot, q):
        return torsor.tasks.task_space_dynamics(robot, q, 0 * q, task).inertia

    J, M = task.jacobian(FLAT, q), torsor.mass_matrix(FLAT, q)
    dJ, dM = task.derivative(FLAT, q), np.moveaxis(torsor.geometry.mass_matrix_derivative(FLAT, q), -1, -3)

    def truth(J, M, dJ, dM):
        W = M**-1
        inertia = (J * W * J.T) ** -1
        change = dJ * W * J.T + J * W * dJ.T - J * W * dM * W * J.T
        return (-inertia * change * inertia,)

    expected = np.stack([exactly(truth, J, M, dJ[:, :, k], dM[k])[0] for k in range(2)], axis=-1)
    assert_same(torsor.derivative(inertia, FLAT, {"q": 2}, wrt="q")(q), expected)
    slope = jax_in_doubles.jit(jax_in_doubles.jacfwd(lambda q: inertia(FLAT, q)))
    assert_same(np.asarray(slope(q)), expected)
