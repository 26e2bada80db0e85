"""Public functions called with JAX arrays on the CPU: XLA calls the machine code NumPy calls, and differentiates it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from test_compiled import LONG, ROBOTS, arguments, parts

import torsor
from torsor.compiler.kernel import Kernel
from torsor.compiler.run import jax_call
from torsor.functions import dispatch as compiled
from torsor.functions.dispatch import PUBLIC, about_of

pytestmark = [pytest.mark.compiled, pytest.mark.usefixtures("jax_in_doubles")]
TREE = ROBOTS["tree of every kind"]
ARM = torsor.robots.ur5()
Q, V, A = torsor.random_state(ARM, seed=0, batch=(3,))


def in_jax(values):
    return jax.tree.map(lambda x: x if isinstance(x, str) else jnp.asarray(x), values)


def text_of(function, *arrays) -> str:
    """What JAX makes of a function."""
    return str(jax.make_jaxpr(function)(*arrays))


# What hands arrays to machine code is the same for every kind of joint; a few functions are called for all kinds.
FOR_EVERY_KIND = {"inverse_dynamics", "forward_dynamics", "frame_pose", "integrate", "inverse_dynamics_derivatives"}


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_jit_gives_the_bits_that_numpy_gets(name):
    tree = TREE if name in FOR_EVERY_KIND else ROBOTS["cart_pole of points" if name in LONG else "short tree"]
    assert about_of(PUBLIC[name]).arrays_for(tree) is None
    given = arguments(tree, name, (4,))
    static = {key: value for key, value in given.items() if isinstance(value, (str, torsor.tasks.Task))}
    arrays = in_jax({key: value for key, value in given.items() if key not in static})
    function = PUBLIC[name]
    want = function(tree, **given)
    got = jax.jit(lambda arrays: function(tree, **arrays, **static))(arrays)
    assert type(got) is type(want) or not isinstance(want, tuple)
    for x, y in zip(parts(got), parts(want), strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("name", ["christoffel_symbols_second_kind", "sectional_curvature"])
def test_tensors_too_large_to_write_out_are_the_same_in_jit_and_vmap(name, same, monkeypatch):
    monkeypatch.setattr("torsor.functions.batched_arrays.ENTRIES_MOST", 0)
    tree = ROBOTS["short tree"].rename({}, robot="by arrays")
    given = arguments(tree, name, (4,))
    function = PUBLIC[name]
    want = function(tree, **given)
    for transformed in (jax.jit, jax.vmap):
        got = transformed(lambda arrays: function(tree, **arrays))(in_jax(given))
        for x, y in zip(parts(got), parts(want), strict=True):
            same(x, y, 1e-12)


def test_tensors_by_whole_arrays_are_differentiated_by_jax(same, monkeypatch):
    monkeypatch.setattr("torsor.functions.batched_arrays.ENTRIES_MOST", 0)
    arm = torsor.robots.chain(2)
    q = torsor.random_configuration(arm, seed=0)
    step = 1e-5 * np.eye(2)[1]
    slope = (
        torsor.geometry.mass_matrix_derivative(arm, q + step) - torsor.geometry.mass_matrix_derivative(arm, q - step)
    ) / 2e-5
    along = jax.jit(lambda q, d: jax.jvp(lambda q: torsor.geometry.mass_matrix_derivative(arm, q), (q,), (d,))[1])
    same(along(q, np.eye(2)[1]), slope, 1e-6)  # differences: 1e-10 of third derivatives


@pytest.mark.parametrize(
    ("name", "moving"),
    [("inverse_dynamics", "q"), ("forward_dynamics", "tau"), ("forward_dynamics", "v"), ("mass_matrix", "q"),
     ("kinetic_energy", "v"), ("frame_pose", "q"), ("body_jacobian", "q")],
)  # fmt: skip
def test_derivatives_are_those_of_the_algorithm(name, moving, same):
    robot = ROBOTS["short tree"]
    given = arguments(robot, name, ())
    x = jnp.asarray(given.pop(moving))

    def value(x):
        return PUBLIC[name](robot, **given, **{moving: x})

    with torsor.backend("numpy"):
        want = jax.jit(jax.jacfwd(value))(x)
    for differentiate in (jax.jacfwd, jax.jacrev):
        same(jax.jit(differentiate(value))(x), want, 1e-10)


@pytest.mark.parametrize("robot", ["short tree", "tree with mimic joints"])
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_by_the_configuration_dynamics_are_differentiated_by_their_own_derivatives(name, robot, same):
    """Analytic recursions instead of the program's derivatives, in the numbers of q, also of quaternions of any length."""
    robot = ROBOTS[robot]
    last = "a" if name == "inverse_dynamics" else "tau"
    given = {key: jnp.asarray(x) for key, x in arguments(robot, name, ()).items() if key in ("q", "v", last)}
    given["q"] = 1.1 * given["q"]
    function = PUBLIC[name]

    def value(q, v, x):
        return function(robot, q, v, x)

    got = jax.jit(jax.jacfwd(value, argnums=(0, 1, 2)))(*given.values())
    kernel = torsor.compile(function, robot).jacobian("tau" if last == "a" else "a", "q", "v", last)
    for part, want in zip(got, kernel(*map(np.asarray, given.values())).values(), strict=True):
        same(part, want, 1e-9)
    batch = [jnp.stack([x, x]) for x in given.values()]
    same(jax.jit(jax.vmap(jax.jacrev(value)))(*batch)[1], got[0], 1e-9)


def test_what_has_derivatives_of_its_own_is_never_too_large(monkeypatch, same):
    """However long the Jacobian of a humanoid's program would be, two kernels are called: the function, its derivatives."""
    monkeypatch.setattr(compiled, "JACOBIAN_MOST", 10)
    robot = torsor.robots.chain(3).with_gravity((0.1, 0.2, 0.3))  # not seen before
    q, v, a = torsor.random_state(robot, seed=0)
    got = jax.jit(jax.jacfwd(lambda q: torsor.inverse_dynamics(robot, q, v, a)))(q)
    same(got, torsor.inverse_dynamics_derivatives(robot, q, v, a).q, 1e-12)
    assert text_of(jax.jacfwd(lambda q: torsor.inverse_dynamics(robot, q, v, a)), q).count("ffi_call") == 2


def test_vmap_is_a_batch_and_one_call():
    over_q = jax.vmap(lambda q: torsor.inverse_dynamics(ARM, q, V[0], A[0]))
    np.testing.assert_array_equal(over_q(Q), torsor.inverse_dynamics(ARM, Q, V[0], A[0]))
    assert text_of(over_q, Q).count("ffi_call") == 1


def test_only_the_derivatives_that_are_wanted_are_computed(monkeypatch):
    asked = []
    jacobian = Kernel.jacobian
    monkeypatch.setattr(Kernel, "jacobian", lambda self, *names: asked.append(names) or jacobian(self, *names))
    robot = ARM.with_gravity((1.0, 2.0, 3.0))  # not seen before
    jax.jacfwd(lambda q, v, a: torsor.inverse_dynamics(robot, q, v, a), argnums=2)(jnp.asarray(Q[0]), V[0], A[0])
    assert asked == [("tau", "a")]


def test_tangents_of_the_robot_itself_are_not_dropped(same):
    """A robot with traced numbers runs as jax.numpy, where every number of the model has its derivative."""
    arm = torsor.robots.pendulum()
    q, v, a = torsor.random_state(arm, seed=0)

    def torque(robot):
        return torsor.inverse_dynamics(robot, q, v, a)[0]

    slope = jax.jit(jax.grad(torque))(arm).parameters.inertias
    assert np.count_nonzero(np.abs(slope) > 1e-3) > 2
    for number in range(10):  # linear in the inertial parameters, so that differences are exact
        step = np.zeros(slope.shape)
        step[0, number] = 0.5
        up, down = (arm.with_parameters(inertias=arm.parameters.inertias + sign * step) for sign in (1, -1))
        same(slope[0, number], torque(up) - torque(down), 1e-10, scale=1.0)
    assert "ffi_call" not in text_of(lambda robot: torsor.inverse_dynamics(robot, q, v, a), arm)


def test_a_large_jacobian_is_left_to_jax(monkeypatch, same):
    monkeypatch.setattr(compiled, "JACOBIAN_MOST", 10)
    robot = torsor.robots.chain(2).with_gravity((0.1, 0.2, 0.3))  # not seen before
    q, v, _ = torsor.random_state(robot, seed=0)
    got = jax.jit(jax.jacrev(lambda q: torsor.bias_forces(robot, q, v)))(q)
    assert text_of(jax.jacrev(lambda q: torsor.bias_forces(robot, q, v)), q).count("ffi_call") == 1
    exact = torsor.compile(torsor.bias_forces, robot).jacobian("tau", "q")(q, v)
    same(got, exact, 1e-12)


def test_elsewhere_than_on_the_cpu_the_algorithm_runs_as_jax_numpy(monkeypatch, same):
    arm = torsor.robots.chain(2)
    q, v, a = torsor.random_state(arm, seed=0, batch=(3,))
    want = torsor.inverse_dynamics(arm, q, v, a)
    monkeypatch.setattr(jax_call, "why_missing", lambda: "JAX computes on tpu, kernels on the CPU")
    function = jax.jit(lambda q: torsor.inverse_dynamics(arm, q, v, a))
    assert "ffi_call" not in text_of(function, q)
    same(function(q), want, 1e-12)


def test_the_numpy_backend_runs_the_algorithm_as_jax_numpy():
    with torsor.backend("numpy"):
        assert "ffi_call" not in text_of(lambda q: torsor.inverse_dynamics(ARM, q, V, A), Q)


def test_wrong_shapes_are_refused_before_jax_sees_them():
    with pytest.raises(torsor.ShapeError, match=r"inverse_dynamics: `q` must have shape \(\.\.\., 6\) .* got \(3, 5\)"):
        torsor.inverse_dynamics(ARM, jnp.zeros((3, 5)), V, A)


def test_single_precision_stays_single():
    result = torsor.mass_matrix(ARM, jnp.asarray(Q, jnp.float32))
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result, torsor.mass_matrix(ARM, Q.astype(np.float32)))


def test_a_jax_that_takes_no_kernels_is_named_once_and_answers_itself(monkeypatch):
    def refuse(*args, **kwargs):
        raise ValueError("unsupported interface version")

    monkeypatch.setattr(jax.ffi, "register_ffi_target", refuse)
    jax_call.why_missing.cache_clear()
    with pytest.warns(RuntimeWarning, match=r"did not take a kernel: ValueError: unsupported interface version"):
        result = torsor.inverse_dynamics(ARM, jnp.asarray(Q), V, A)
    monkeypatch.undo()
    jax_call.why_missing.cache_clear()
    np.testing.assert_allclose(result, torsor.inverse_dynamics(ARM, Q, V, A), atol=1e-10)
