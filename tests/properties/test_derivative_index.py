"""The derivative index is the last one: every derivative by q against differences along one named joint of an asymmetric robot.

The robot has branches, joints of one and of three freedoms, and no symmetry, so that a transposed result is another result: the
last test shows it.
"""

import numpy as np
import pytest
from property_checks import assert_close, largest

import torsor

ROBOT = torsor.robots.random_tree(6, seed=29, armature=True, kinds=("revolute", "helical", "planar", "spherical"))
FRAME = ROBOT.frames[-1]
JOINTS = ("joint_1", "joint_4")  # a revolute and a spherical one, each between others
Q, V, A = torsor.random_state(ROBOT, seed=3)
STEP = 2e-3


def of_q(name, *more, part=None):
    """A function of the configuration: one of torsor's, or a part of its result."""
    spaces = (torsor.derivatives, torsor.geometry, torsor.dynamics, torsor.kinematics)
    function = next(getattr(space, name) for space in spaces if name in dir(space))
    return lambda q: np.asarray(function(ROBOT, q, *more) if part is None else getattr(function(ROBOT, q, *more), part))


DERIVATIVES = {
    "mass_matrix_derivative": (of_q("mass_matrix_derivative"), of_q("mass_matrix")),
    "mass_matrix_second_derivative": (of_q("mass_matrix_second_derivative"), of_q("mass_matrix_derivative")),
    "christoffel_symbols_derivative": (of_q("christoffel_symbols_derivative"), of_q("christoffel_symbols")),
    "body_jacobian_derivative": (of_q("body_jacobian_derivative", FRAME), of_q("body_jacobian", FRAME)),
    "space_jacobian_derivative": (of_q("space_jacobian_derivative", FRAME), of_q("space_jacobian", FRAME)),
    "mixed_jacobian_derivative": (of_q("mixed_jacobian_derivative", FRAME), of_q("mixed_jacobian", FRAME)),
    "centre_of_mass_jacobian_derivative": (
        of_q("centre_of_mass_jacobian_derivative"),
        of_q("centre_of_mass_jacobian"),
    ),
    "gravity_forces_derivative": (of_q("gravity_forces_derivative"), of_q("gravity_forces")),
    "inverse_dynamics_derivatives.q": (
        of_q("inverse_dynamics_derivatives", V, A, part="q"),
        of_q("inverse_dynamics", V, A),
    ),
    "forward_dynamics_derivatives.q": (
        of_q("forward_dynamics_derivatives", V, A, part="q"),
        of_q("forward_dynamics", V, A),
    ),
    "generalised_momentum_derivatives.q": (
        of_q("generalised_momentum_derivatives", V, part="q"),
        of_q("generalised_momentum", V),
    ),
    "inverse_dynamics_second_derivatives.qq": (
        of_q("inverse_dynamics_second_derivatives", V, A, part="qq"),
        of_q("inverse_dynamics_derivatives", V, A, part="q"),
    ),
    "inverse_dynamics_second_derivatives.aq": (
        of_q("inverse_dynamics_second_derivatives", V, A, part="aq"),
        of_q("mass_matrix"),
    ),
    "forward_dynamics_second_derivatives.tauq": (
        of_q("forward_dynamics_second_derivatives", V, A, part="tauq"),
        of_q("inverse_mass_matrix"),
    ),
}


def along(joint, function):
    """The derivative of a function of q along the first freedom of a joint, by differences of fourth order."""
    unit = np.zeros(ROBOT.nv)
    unit[ROBOT.v_slice(joint).start] = 1.0
    one, two = (
        (function(torsor.integrate(ROBOT, Q, unit, h)) - function(torsor.integrate(ROBOT, Q, unit, -h))) / (2 * h)
        for h in (STEP, 2 * STEP)
    )
    return (4 * one - two) / 3


@pytest.mark.parametrize("name", DERIVATIVES)
@pytest.mark.parametrize("joint", JOINTS)
def test_the_last_index_is_that_of_the_derivative(name, joint):
    derivative, function = DERIVATIVES[name]
    found = derivative(Q)
    assert found.shape == (*function(Q).shape, ROBOT.nv)
    assert_close(found[..., ROBOT.v_slice(joint).start], along(joint, function), 1e-7, scale=largest(found))


@pytest.mark.parametrize("name", DERIVATIVES)
def test_another_order_of_indices_is_noticed(name):
    """A test of the test: with the derivative's index anywhere else the numbers are others, by much more than differences err."""
    found, columns = DERIVATIVES[name][0](Q), [ROBOT.v_slice(joint).start for joint in JOINTS]
    for axis in range(found.ndim - 1):
        if found.shape[axis] == ROBOT.nv:
            moved = np.moveaxis(found, -1, axis)
            assert np.abs(moved[..., columns] - found[..., columns]).max() > 1e-3 * largest(found)
