"""Second derivatives of inverse dynamics, and their contractions: against the first, as properties, and in every library."""

import numpy as np
import pytest
from hypothesis import given
from property_checks import DIFFERENTIATED, STEP, assert_close, largest, times, transposed
from property_strategies import ALL_KINDS, ONE_NUMBER, any_robots, cases, robots, sixty_joints

import torsor
from torsor.geometry.freedoms import structure_constants

smooth_robots = any_robots.map(lambda robot: robot.with_coulomb_width(0.5))  # friction that has a second derivative
BALL_HINGE_PLANE = torsor.robots.random_tree(
    3, seed=3, kinds=ALL_KINDS, serial=True, armature=True, friction=True
).with_coulomb_width(0.5)
BALL_ON_HINGE = torsor.robots.random_tree(
    2, seed=2, kinds=("spherical", "revolute"), serial=True, armature=True, friction=True
).with_coulomb_width(0.5)
MIMIC = torsor.robots.random_tree(6, seed=3, kinds=ONE_NUMBER, mimic=True, armature=True)
QUICKLY = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}  # compiled, not evaluated


def by_differences(case, wrenches):
    """The first derivatives along every coordinate of q and of v, by central differences; what they are taken by is last."""
    robot, q, v, a, _ = case
    steps = STEP * np.concatenate([np.eye(robot.nv), -np.eye(robot.nv)])
    q, v, a = (np.repeat(x[..., None, :], 2 * robot.nv, axis=-2) for x in (q, v, a))
    held = {name: F[..., None, :] for name, F in wrenches.items()}

    def differences(q, v):
        found = torsor.inverse_dynamics_derivatives(robot, q, v, a, wrenches=held)
        ends = [np.split(np.moveaxis(x, -3, -1), 2, axis=-1) for x in found]
        return [(ahead - behind) / (2 * STEP) for ahead, behind in ends]

    by_q, by_v = differences(torsor.integrate(robot, q, steps), v), differences(q, v + steps)
    return by_q[0], by_v[0], by_v[1], by_q[2]


def in_jax(jax, function, *given):
    return jax.jit(function).lower(*given).compile(compiler_options=QUICKLY)(*given)


def contracted(case, wrenches):
    """Some weights, and the tensors contracted with them."""
    weights = case.rng.normal(size=case.v.shape)
    tensors = torsor.derivatives.inverse_dynamics_second_derivatives(
        case.robot, case.q, case.v, case.a, wrenches=wrenches
    )
    return weights, [np.einsum("...i,...ijk->...jk", weights, tensor) for tensor in tensors]


@given(cases(smooth_robots, batches=((), (3,))))
def test_they_are_the_derivatives_of_the_first(case):
    """Every joint kind, trees, mimic joints, armature, friction, external wrenches held in their frames."""
    wrenches = case.wrenches()
    found = torsor.derivatives.inverse_dynamics_second_derivatives(
        case.robot, case.q, case.v, case.a, wrenches=wrenches
    )
    for tensor, want in zip(found, by_differences(case, wrenches), strict=True):
        assert_close(tensor, want, DIFFERENTIATED, scale=max(map(largest, found)))


def test_they_are_what_jax_finds(jax_in_doubles):
    """The first derivatives differentiated by another method, to rounding."""
    jax, robot = jax_in_doubles, BALL_ON_HINGE
    assert robot.structure.kinds == ("revolute", "spherical")
    q, v, a = torsor.random_state(robot, seed=5)
    wrenches = {robot.links[-1]: np.linspace(-1.0, 2.0, 6)}

    def first(step, v):
        return tuple(
            torsor.inverse_dynamics_derivatives(robot, torsor.integrate(robot, q, step), v, a, wrenches=wrenches)
        )

    (qq, qv), (_, vv), (aq, _) = in_jax(jax, jax.jacfwd(first, argnums=(0, 1)), np.zeros(robot.nv), v)
    found = torsor.derivatives.inverse_dynamics_second_derivatives(robot, q, v, a, wrenches=wrenches)
    for tensor, want in zip(found, (qq, qv, vv, aq), strict=True):
        assert_close(tensor, want, 1e-11, scale=max(map(largest, found)))


@given(cases(robots(friction=False)))
def test_they_are_consistent_with_the_terms(case):
    """Coriolis forces are the quadratic ½ vv v v (Euler's theorem), vv is made of Christoffel symbols, aq is ∂M."""
    robot, q, v, a, _ = case
    found = torsor.derivatives.inverse_dynamics_second_derivatives(robot, q, v, a)
    twice = np.einsum("...ijk,...j,...k->...i", found.vv, v, v)
    assert_close(0.5 * twice, torsor.dynamics.coriolis_forces(robot, q, v), 1e-11, scale=largest(found.vv))
    weightless = robot.with_parameters(armature=np.zeros(robot.nv))  # armature has no Coriolis forces
    Gamma = np.moveaxis(torsor.geometry.christoffel_symbols(weightless, q), -1, -3)
    assert_close(found.vv, Gamma + transposed(Gamma), 1e-11, scale=largest(found.vv))
    assert_close(found.aq, torsor.geometry.mass_matrix_derivative(robot, q), 1e-11)


@given(cases(robots(kinds=ONE_NUMBER)))
def test_the_order_of_two_derivatives_does_not_matter_for_joints_with_one_number(case):
    qq = torsor.derivatives.inverse_dynamics_second_derivatives(
        case.robot, case.q, case.v, case.a, wrenches=case.wrenches()
    ).qq
    assert_close(qq, transposed(qq), 1e-11)


@given(cases(robots(kinds=("planar", "spherical", "free", "revolute"), most=4)))
def test_the_order_within_a_joint_matters_as_its_velocities_do_not_commute(case):
    """∂_k ∂_j τ − ∂_j ∂_k τ is the derivative along [e_k, e_j]."""
    robot, q, v, a, _ = case
    s, wrenches = structure_constants(robot.structure), case.wrenches()
    qq = torsor.derivatives.inverse_dynamics_second_derivatives(robot, q, v, a, wrenches=wrenches).qq
    dq = torsor.inverse_dynamics_derivatives(robot, q, v, a, wrenches=wrenches).q
    along = 0.0 * qq if s is None else np.einsum("kjr,...ir->...ijk", s, dq)
    assert_close(qq - transposed(qq), along, 1e-11, scale=largest(qq))


@given(cases(smooth_robots))
def test_the_hessian_is_the_contraction_of_the_tensors(case):
    wrenches = case.wrenches()
    weights, want = contracted(case, wrenches)
    found = torsor.derivatives.inverse_dynamics_hessian(case.robot, case.q, case.v, case.a, weights, wrenches=wrenches)
    for matrix, expected in zip(found, want, strict=True):
        assert_close(matrix, expected, 1e-11, scale=max(map(largest, want)))


@given(cases(smooth_robots))
def test_the_product_is_the_hessian_along_a_direction(case):
    wrenches = case.wrenches()
    weights, (qq, qv, vv, aq) = contracted(case, wrenches)
    dq, dv, da = case.rng.normal(size=(3, *case.v.shape))
    found = torsor.derivatives.inverse_dynamics_hessian_product(
        case.robot, case.q, case.v, case.a, weights, dq, dv, da, wrenches=wrenches
    )
    scale = max(map(largest, (qq, qv, vv, aq)))
    assert_close(found.q, times(qq, dq) + times(qv, dv) + times(transposed(aq), da), 1e-11, scale=scale)
    assert_close(found.v, times(transposed(qv), dq) + times(vv, dv), 1e-11, scale=scale)
    assert_close(found.a, times(aq, dq), 1e-11, scale=scale)


def test_at_rest_they_are_the_third_derivatives_of_the_potential():
    """Without motion ∂τ/∂q is the Hessian of the potential energy: all orders of the three indices are the same."""
    arm = torsor.robots.panda()
    q = torsor.random_configuration(arm, seed=2)
    qq = torsor.derivatives.inverse_dynamics_second_derivatives(arm, q, np.zeros(7), np.zeros(7)).qq
    assert largest(qq) > 1.0
    for order in ((1, 0, 2), (0, 2, 1), (2, 1, 0)):
        assert_close(qq, np.transpose(qq, order))


def test_sixty_joints():
    """Two algorithms for one number, far from the base."""
    case = sixty_joints()
    weights, want = contracted(case, None)
    found = torsor.derivatives.inverse_dynamics_hessian(case.robot, case.q, case.v, case.a, weights)
    for matrix, expected in zip(found, want, strict=True):
        assert_close(matrix, expected, 1e-11, scale=max(map(largest, want)))


def everything(robot, q, v, a, weights, dq, dv, da):
    """All three functions, by the names of their results."""
    direction = (dq, dv, da)
    tensors = torsor.derivatives.inverse_dynamics_second_derivatives(robot, q, v, a)
    hessian = torsor.derivatives.inverse_dynamics_hessian(robot, q, v, a, weights)
    product = torsor.derivatives.inverse_dynamics_hessian_product(robot, q, v, a, weights, *direction)
    return {
        f"{what}_{name}": value
        for what, found in (("tensor", tensors), ("hessian", hessian), ("product", product))
        for name, value in found._asdict().items()
    }


def arguments(robot, batch=()):
    rng = np.random.default_rng(8)
    return (*torsor.random_state(robot, seed=7, batch=batch), *rng.normal(size=(4, *batch, robot.nv)))


@pytest.mark.compiled
@pytest.mark.parametrize("robot", [BALL_HINGE_PLANE, MIMIC], ids=lambda robot: robot.name)
def test_as_machine_code(robot):
    """All of them in one kernel, and a ball, a hinge and a plane in one chain."""
    assert BALL_HINGE_PLANE.structure.kinds == ("spherical", "revolute", "planar")
    given = arguments(robot, batch=(5,))
    names = ("v", "a", "weights", "dq", "dv", "da")
    kernel = torsor.compile(everything, robot, {"q": robot.nq, **dict.fromkeys(names, robot.nv)})
    found, want = kernel(*given), everything(robot, *given)
    for name, value in want.items():
        assert_close(found[name], value, 1e-11)


def test_in_jax(jax_in_doubles):
    robot, given = BALL_ON_HINGE, arguments(BALL_ON_HINGE)
    found, want = in_jax(jax_in_doubles, lambda *x: everything(robot, *x), *given), everything(robot, *given)
    for name, value in want.items():
        assert_close(found[name], value, 1e-11)
