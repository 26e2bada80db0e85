"""Tensors of the metric by the robot's inertias, under JAX: kernels that take them as inputs, and their own derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import torsor
from torsor.functions.dispatch import PUBLIC
from torsor.functions.varied_in_jax import varied_groups

pytestmark = [pytest.mark.compiled, pytest.mark.usefixtures("jax_in_doubles")]
ARM = torsor.robots.planar_chain([0.5, 0.4], [1.0, 0.8])
Q = np.array([0.3, 0.7])


def scalar(inertias, q=Q, robot=ARM):
    return torsor.geometry.scalar_curvature(robot.with_parameters(inertias=inertias), q)


def norm(inertias, armature):
    return torsor.geometry.curvature_norm(ARM.with_parameters(inertias=inertias, armature=armature), Q)


def numbers():
    return jnp.asarray(ARM.parameters.inertias)


def test_the_gradient_is_that_of_torsor_and_of_differences():
    found = jax.grad(scalar)(numbers())
    np.testing.assert_allclose(
        found, torsor.derivative(torsor.geometry.scalar_curvature, ARM, wrt="inertias")(Q), rtol=1e-11, atol=1e-11
    )
    step = 1e-6 * np.random.default_rng(0).normal(size=found.shape)
    with torsor.backend("numpy"):
        rise = scalar(np.asarray(numbers()) + step) - scalar(np.asarray(numbers()) - step)
    np.testing.assert_allclose(np.sum(found * step), 0.5 * rise, rtol=1e-6)
    np.testing.assert_allclose(jax.jit(jax.grad(scalar))(numbers()), found, rtol=1e-13, atol=1e-13)


def test_it_is_one_call_of_machine_code():
    text = str(jax.make_jaxpr(scalar)(numbers()))
    assert text.count("ffi_call") == 1 and "dot_general" not in text


def test_second_derivatives_mixed_ones_and_those_by_the_configuration():
    direction = jnp.asarray(np.random.default_rng(1).normal(size=(2, 10)))
    along = jax.grad(lambda I: jnp.sum(jax.grad(scalar)(I) * direction))(numbers())
    h = 1e-5
    slopes = [jax.grad(scalar)(numbers() + sign * h * direction) for sign in (1, -1)]
    np.testing.assert_allclose(along, (slopes[0] - slopes[1]) / (2 * h), rtol=1e-5, atol=1e-4 * np.abs(along).max())
    mixed = jax.jacobian(jax.grad(scalar), argnums=1)(numbers(), jnp.asarray(Q))
    forward = jax.jacobian(jax.grad(scalar, argnums=1))(numbers(), jnp.asarray(Q))
    np.testing.assert_allclose(np.moveaxis(mixed, -1, 0), forward, rtol=1e-9, atol=1e-9 * np.abs(mixed).max())


def test_batches_of_configurations_and_of_inertias():
    q = np.random.default_rng(2).normal(size=(3, 2))
    with torsor.backend("numpy"):
        wanted = torsor.geometry.scalar_curvature(ARM, q)
    np.testing.assert_allclose(scalar(numbers(), jnp.asarray(q)), wanted, rtol=1e-11)
    np.testing.assert_allclose(jax.vmap(lambda q: scalar(numbers(), q))(jnp.asarray(q)), wanted, rtol=1e-11)
    heavier = jnp.stack([numbers(), 2.0 * numbers(), 4.0 * numbers()])  # twice the metric has half the curvature
    np.testing.assert_allclose(
        jax.vmap(scalar)(heavier), torsor.geometry.scalar_curvature(ARM, Q) / np.array([1.0, 2.0, 4.0]), rtol=1e-11
    )
    assert scalar(numbers(), jnp.zeros((0, 2))).shape == (0,)


@pytest.mark.parametrize("name", ["scalar_curvature", "curvature_norm", "ricci_curvature", "christoffel_symbols"])
def test_one_joint_has_no_plane_and_no_curvature(name):
    """Sums over no planes at all are 0, and so are their derivatives."""
    robot = torsor.robots.pendulum()

    def total(inertias):
        return jnp.sum(PUBLIC[name](robot.with_parameters(inertias=inertias), [0.3]))

    value, slope = jax.value_and_grad(total)(jnp.asarray(robot.parameters.inertias))
    assert value == 0.0 and not np.any(slope)


def test_armature_too():
    found = jax.grad(norm, argnums=(0, 1))(numbers(), jnp.zeros(2))
    wanted = torsor.derivative(torsor.geometry.curvature_norm, ARM, wrt=("inertias", "armature"))(Q)
    for x, y in zip(found, wanted.values(), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-10)


def test_derivatives_of_long_results_are_left_to_jax(monkeypatch):
    monkeypatch.setattr("torsor.functions.varied_in_jax.JACOBIAN_MOST", 0)
    robot = ARM.rename({}, robot="not seen before").with_gravity((0.0, 0.0, 1.0))

    def Gamma(I):
        return torsor.geometry.christoffel_symbols(robot.with_parameters(inertias=I), Q)

    wanted = torsor.derivative(torsor.geometry.christoffel_symbols, robot, wrt="inertias")(Q)
    np.testing.assert_allclose(jax.jit(jax.jacobian(Gamma))(numbers()), wanted, rtol=1e-12, atol=1e-12)


def test_only_inertias_are_taken_so():
    poses = jnp.asarray(ARM.parameters.poses)
    assert varied_groups(ARM) == ()
    assert varied_groups(ARM.with_parameters(inertias=numbers())) == ("inertias",)
    leaves, tree = jax.tree.flatten(ARM)
    assert varied_groups(jax.tree.unflatten(tree, [jnp.asarray(leaf) for leaf in leaves])) == ()
    assert varied_groups(ARM.with_parameters(poses=poses)) == ()


def test_single_precision(jax_in_singles):
    found = jax.grad(scalar)(jnp.asarray(ARM.parameters.inertias, jnp.float32), jnp.asarray(Q, jnp.float32))
    assert found.dtype == jnp.float32
    wanted = torsor.derivative(torsor.geometry.scalar_curvature, ARM, wrt="inertias")(Q)
    np.testing.assert_allclose(found, wanted, atol=2e-4 * np.abs(wanted).max())
