"""Kernels inside JAX: the same bits in jit and vmap, and derivatives of every order and mode."""

import ctypes

import numpy as np
import pytest

import torsor
from torsor.compiler.run import engine
from torsor.compiler.run.jax_call import handler_ir

pytestmark = [pytest.mark.compiled, pytest.mark.usefixtures("jax_in_doubles")]
ARM = torsor.robots.ur5()
Q, V, A = torsor.random_state(ARM, seed=0, batch=(5,))


@pytest.fixture(scope="module")
def torque():
    with torsor.backend("compiled"):
        return torsor.compile(torsor.inverse_dynamics, ARM).to_jax()


def test_jit_and_vmap_give_the_bits_of_the_direct_call(torque):
    import jax

    expected = torsor.inverse_dynamics(ARM, Q, V, A)
    np.testing.assert_array_equal(torque(Q, V, A), expected)
    np.testing.assert_array_equal(jax.jit(torque)(Q, V, A), expected)
    np.testing.assert_array_equal(jax.jit(jax.vmap(torque))(Q, V, A), expected)
    np.testing.assert_array_equal(jax.jit(torque)(Q[0], V[0], A[0]), expected[0])
    shared = jax.vmap(torque, in_axes=(0, None, None))(Q, V[0], A[0])
    np.testing.assert_array_equal(shared, torsor.inverse_dynamics(ARM, Q, V[0], A[0]))


def test_first_derivatives_forward_and_reverse(torque):
    import jax

    q, v, a = Q[0], V[0], A[0]
    exact = torsor.compile(torsor.inverse_dynamics, ARM).jacobian("tau", "q", "a")(q, v, a)
    np.testing.assert_allclose(jax.jit(jax.jacfwd(torque))(q, v, a), exact["tau_by_q"], atol=1e-12)
    np.testing.assert_allclose(jax.jacrev(torque)(q, v, a), exact["tau_by_q"], atol=1e-12)
    np.testing.assert_allclose(jax.jacfwd(torque, argnums=2)(q, v, a), torsor.mass_matrix(ARM, q), atol=1e-12)


def test_second_derivatives(torque):
    import jax

    v, a = V[0], A[0]

    def total(q):
        return torque(q, v, a).sum()

    hessian = jax.hessian(total)(Q[0])
    h = 1e-6
    for j in range(6):
        step = h * np.eye(6)[j]
        numeric = (jax.grad(total)(Q[0] + step) - jax.grad(total)(Q[0] - step)) / (2 * h)
        np.testing.assert_allclose(hessian[:, j], numeric, atol=1e-6)  # central differences of tens of N·m


def test_several_outputs_and_single_precision():
    import jax

    def terms(robot, q, v):
        return {"T": torsor.kinetic_energy(robot, q, v), "M": torsor.mass_matrix(robot, q)}

    function = torsor.compile(terms, ARM, {"q": 6, "v": 6}).to_jax()
    result = jax.jit(function)(Q, V)
    np.testing.assert_array_equal(result["M"], torsor.mass_matrix(ARM, Q))
    slope = jax.grad(lambda v: function(Q[0], v)["T"])(V[0])
    np.testing.assert_allclose(slope, torsor.dynamics.generalised_momentum(ARM, Q[0], V[0]), atol=1e-12)
    assert function(Q.astype(np.float32), V.astype(np.float32))["T"].dtype == np.float32


def test_a_batch_of_zero(torque):
    empty = np.zeros((0, 6))
    assert torque(empty, empty, empty).shape == (0, 6)


def test_a_kernel_takes_jax_arrays():
    """In `jit`, `vmap` and derivatives, by place and by name, as its `to_jax` does."""
    import jax
    import jax.numpy as jnp

    arm = torsor.robots.planar2r()
    kernel = torsor.derivative(torsor.inverse_dynamics, arm, wrt=("q", "v"))
    state = torsor.random_state(arm, seed=3, batch=(4,))
    want, inside = kernel(*state), [jnp.array(x) for x in state]
    for found in (
        kernel(*inside),
        jax.jit(kernel)(*state),
        jax.vmap(kernel)(*inside),
        kernel(q=state[0], v=state[1], a=inside[2]),
    ):
        assert all(isinstance(part, jax.Array) for part in found.values())
        for name, part in found.items():
            np.testing.assert_array_equal(part, want[name])
    q, v, a = (x[0] for x in inside)
    second = jax.jacfwd(lambda a: kernel(q, v, a)["tau_by_q"])(a)
    tensors = torsor.derivatives.inverse_dynamics_second_derivatives(arm, *(x[0] for x in state))
    np.testing.assert_allclose(second, np.swapaxes(tensors.aq, -1, -2), atol=1e-12)
    with pytest.raises(torsor.ShapeError, match=r"`q` must have shape \(\.\.\., 2\), got \(3,\)"):
        jax.jit(kernel)(jnp.zeros(3), v, a)
    with pytest.raises(torsor.TorsorError, match="has no numbers yet, within a function that JAX transforms"):
        jax.jit(lambda q: kernel(q, v, a, out={name: np.zeros((2, 2)) for name in kernel.outputs}))(q)


def test_a_handler_says_the_oldest_version_of_the_interface_that_it_fits():
    """XLA refuses handlers of a newer interface than its own, so 0.1 is what every JAX from 0.5 on takes."""
    words = ctypes.c_void_p * 8
    metadata = (ctypes.c_int32 * 10)(*[-1] * 10)  # its size, the version (size, extension, major, minor), traits
    extension = words(0, 1, 0, ctypes.addressof(metadata))  # its size, the kind "metadata", the next, where to answer
    frame = words(0, ctypes.addressof(extension))
    code = torsor.compile(torsor.gravity_forces, torsor.robots.planar2r()).native(np.dtype(np.float64))
    handler = engine.compile_ir(handler_ir(code), "handler")
    assert ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(handler.address("handler"))(frame) is None
    assert list(metadata) == [-1] * 6 + [0, 1, 0, -1]
