"""IPOPT as a second opinion on optimal motions: the same finite problem, by an interior-point method."""

import numpy as np
import pytest
from libraries import library

import torsor
from torsor.motion.optimal_motions import ipopt
from torsor.motion.optimal_motions.setting import Setting, problem_of, straight
from torsor.motion.optimal_motions.sqp import Progress, improve

casadi = library("casadi")
pytestmark = pytest.mark.compiled

AT_REST = dict.fromkeys(("v0", "v1", "a0", "a1"))


@pytest.mark.parametrize("duration", [0.9, None])
def test_ipopt_finds_the_same_motion(arm, duration):
    arm = arm.with_limits(velocity=3.0, effort=80.0)
    cost = "torque" if duration else {"time": 1.0, "torque": 1e-3}
    q0, q1 = np.array([-0.3, 0.4]), np.array([0.8, -0.9])
    ours = torsor.motion.optimal(arm, q0, q1, duration=duration, cost=cost)
    theirs = torsor.motion.optimal(arm, q0, q1, duration=duration, cost=cost, solver="ipopt")
    assert ours and theirs
    # Nodes are added where each of them is on its way, by which limits are kept to 5e-4 of them more or less.
    np.testing.assert_allclose(theirs.cost, ours.cost, rtol=1e-4)


def test_ipopt_stays_where_we_end(arm):
    arm = arm.with_limits(velocity=3.0, effort=80.0)
    q0, q1 = np.array([-0.3, 0.4]), np.array([0.8, -0.9])
    setting = Setting(arm, 0.9, "torque", True, {}, None, AT_REST, 7)
    problem = problem_of(setting, q0, q1)
    ours = improve(problem, straight(problem, setting, q0, q1), iterations=50, tolerance=1e-10, overshoot=5e-4)
    assert ours.converged
    theirs = Progress(ours.problem, ours.point, 0.0 * ours.multipliers)
    assert ipopt.run(casadi, theirs, 200, 1e-11)
    np.testing.assert_allclose(theirs.point.y, ours.point.y, atol=1e-8)
    np.testing.assert_allclose(theirs.multipliers, ours.multipliers, atol=1e-6 * np.abs(ours.multipliers).max())
