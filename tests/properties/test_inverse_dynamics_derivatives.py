"""Derivatives of inverse dynamics: against differences, as properties, and as machine code."""

import numpy as np
import pytest
from hypothesis import given
from property_checks import DIFFERENTIATED, assert_close, derivative, largest
from property_strategies import any_robots, cases, sixty_joints

import torsor


def by_differences(case, wrenches):
    """∂τ/∂q along every tangent coordinate, and ∂τ/∂v (quadratic in v but for friction), columns last."""
    robot, q, v, a, _ = case
    units = np.eye(robot.nv)

    def tau(q, v):
        return torsor.inverse_dynamics(robot, q, v, a, wrenches=wrenches)

    dq = [derivative(lambda t, e=e: tau(torsor.integrate(robot, q, e, t), v)) for e in units]
    dv = [derivative(lambda t, e=e: tau(q, v + t * e)) for e in units]
    return np.stack(dq, axis=-1), np.stack(dv, axis=-1)


@given(cases(any_robots.map(lambda robot: robot.with_coulomb_width(0.5)), batches=((), (3,))))
def test_they_are_the_derivatives(case):
    """Every joint kind, trees, mimic joints, armature, friction, external wrenches held in their frames."""
    wrenches = case.wrenches()
    found = torsor.inverse_dynamics_derivatives(case.robot, case.q, case.v, case.a, wrenches=wrenches)
    dq, dv = by_differences(case, wrenches)
    assert_close(found.q, dq, DIFFERENTIATED, scale=largest(dq))
    assert_close(found.v, dv, DIFFERENTIATED, scale=largest(dv))
    assert_close(found.a, torsor.mass_matrix(case.robot, case.q))


@given(cases(any_robots))
def test_they_are_consistent_with_the_terms(case):
    """Without friction, forces are a quadratic in v: ∂τ/∂v v = 2 C v (Euler's theorem)."""
    robot = case.robot.with_parameters(
        viscous_friction=np.zeros(case.robot.nv), coulomb_friction=np.zeros(case.robot.nv)
    )
    found = torsor.inverse_dynamics_derivatives(robot, case.q, case.v, case.a)
    twice = 2 * torsor.dynamics.coriolis_forces(robot, case.q, case.v)
    assert_close(np.einsum("...ij,...j->...i", found.v, case.v), twice, 1e-11, scale=largest(found.v))


def test_gravity_alone_gives_the_stiffness_of_the_potential():
    """At rest ∂τ/∂q is the Hessian of the potential energy, symmetric for joints with one number."""
    arm = torsor.robots.panda()
    q = torsor.random_configuration(arm, seed=2)
    K = torsor.inverse_dynamics_derivatives(arm, q, np.zeros(7), np.zeros(7)).q
    assert_close(K, K.T)


def test_sixty_joints():
    case = sixty_joints()
    found = torsor.inverse_dynamics_derivatives(case.robot, case.q, case.v, case.a)
    for d in case.rng.normal(size=(3, 60)):
        along_q = derivative(lambda t, d=d: torsor.inverse_dynamics(case.robot, case.q + t * d, case.v, case.a))
        along_v = derivative(lambda t, d=d: torsor.inverse_dynamics(case.robot, case.q, case.v + t * d, case.a))
        assert_close(found.q @ d, along_q, DIFFERENTIATED, scale=largest(along_q))
        assert_close(found.v @ d, along_v, DIFFERENTIATED, scale=largest(along_v))


@pytest.mark.compiled
def test_as_machine_code():
    arm = torsor.robots.panda()
    q, v, a = torsor.random_state(arm, seed=0, batch=(5,))
    kernel = torsor.compile(torsor.inverse_dynamics_derivatives, arm, {"q": 7, "v": 7, "a": 7})
    found, want = kernel(q, v, a), torsor.inverse_dynamics_derivatives(arm, q, v, a)
    for name, part in want._asdict().items():
        assert_close(found[name], part)
