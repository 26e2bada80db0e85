"""`torsor.simulate` of JAX arrays: the motions of NumPy arrays, and derivatives that agree with differences of these."""

import subprocess
import sys

import numpy as np
import pytest

import torsor
from torsor.errors import ArgumentError, ShapeError
from torsor.simulation import JaxRollout

pytestmark = pytest.mark.compiled  # as users run it; under jax.numpy alone compiling takes minutes

METHODS = ("rk4", "semi_implicit_euler", "euler")
BARE = {"duration": 0.1, "dt": 0.01, "within_limits": False}
SAME = {"rtol": 1e-12, "atol": 1e-13}  # two compilers round the same steps


def floating_arm():
    """A free base, a spherical and two other joints."""
    ball = torsor.Inertia.sphere(0.1, mass=2.0)
    rod = torsor.Inertia.box((0.1, 0.1, 0.4), mass=1.0)
    away = np.eye(4)
    away[:3, 3] = (0.0, 0.1, 0.3)
    return torsor.assemble(
        [
            torsor.Joint(name="base", kind="free", inertia=ball),
            torsor.Joint(name="shoulder", kind="spherical", inertia=rod, parent="base_link", pose=away),
            torsor.Joint(
                name="elbow", kind="revolute", axis=(0.0, 1.0, 0.0), inertia=rod, parent="shoulder_link", pose=away
            ),
        ],
        name="floating arm",
    )


@pytest.fixture(params=["planar2r", "floating"])
def robot(request):
    return torsor.robots.planar2r() if request.param == "planar2r" else floating_arm()


@pytest.fixture
def state(robot):
    rng = np.random.default_rng(19)
    q = torsor.random_configuration(robot, seed=19)
    return q, rng.normal(size=robot.nv), rng.normal(size=robot.nv)


@pytest.mark.parametrize("method", METHODS)
def test_motions_are_those_of_numpy_arrays(jax_in_doubles, robot, state, method):
    q, v, tau = state
    plain = torsor.simulate(robot, q, v, tau=tau, method=method, **BARE)
    run = torsor.simulate(robot, jax_in_doubles.numpy.asarray(q), v, tau=tau, method=method, **BARE)
    assert isinstance(run, JaxRollout)
    for name in ("time", "q", "v", "tau"):
        np.testing.assert_allclose(getattr(run, name), getattr(plain, name), err_msg=name, **SAME)


def test_forces_per_step_batches_and_every(jax_in_doubles, robot, state):
    """The shapes of `tau`, samples that are left out, and a batch, as with NumPy arrays; also by vmap."""
    jax, (q, v, _) = jax_in_doubles, state
    many = np.random.default_rng(3).normal(size=(4, 10, robot.nv))
    both_v = v + np.arange(4)[:, None] * 0.1
    plain = torsor.simulate(robot, q, both_v, tau=many, every=3, **BARE)

    def one(v, tau):
        return torsor.simulate(robot, q, v, tau=tau, every=3, **BARE)

    together = torsor.simulate(robot, q, jax.numpy.asarray(both_v), tau=many, every=3, **BARE)
    mapped = jax.vmap(one)(jax.numpy.asarray(both_v), jax.numpy.asarray(many))
    for name in ("q", "v", "tau"):
        np.testing.assert_allclose(getattr(together, name), getattr(plain, name), **SAME)
        np.testing.assert_allclose(getattr(mapped, name), getattr(plain, name), **SAME)
    np.testing.assert_allclose(together.time, plain.time, atol=1e-15)


@pytest.mark.parametrize("control_dt", [None, 0.02, 0])
def test_controllers_are_asked_as_often(jax_in_doubles, robot, state, control_dt):
    jax, (q, v, _) = jax_in_doubles, state

    def law(t, q, v):
        return -0.5 * v + t

    plain = torsor.simulate(robot, q, v, controller=law, control_dt=control_dt, **BARE)
    run = jax.jit(lambda q: torsor.simulate(robot, q, v, controller=law, control_dt=control_dt, **BARE))(q)
    for name in ("q", "v", "tau"):
        np.testing.assert_allclose(getattr(run, name), getattr(plain, name), **SAME)


def test_controllers_with_memory(jax_in_doubles, robot, state):
    jax, (q, v, _) = jax_in_doubles, state

    def law(t, q, v, state):
        total = state["sum"] + 0.01 * v
        return -0.5 * v - 2.0 * total, {"sum": total}

    start = {"sum": np.zeros(robot.nv)}
    plain = torsor.simulate(robot, q, v, controller=law, controller_state=start, **BARE)
    run = torsor.simulate(robot, jax.numpy.asarray(q), v, controller=law, controller_state=start, **BARE)
    for name in ("q", "v", "tau"):
        np.testing.assert_allclose(getattr(run, name), getattr(plain, name), **SAME)


def test_wrenches_forces_of_time_and_a_moving_base(jax_in_doubles, state, robot):
    jax, (q, v, _) = jax_in_doubles, state
    frame, one = robot.frames[-1], np.ones(robot.nv)
    given = {
        "tau": lambda t: t * one,
        "wrenches": {frame: lambda t, q, v: 0.1 * np.ones(6) + t},
        "base_motion": (0.1 * np.ones(6), 0.2 * np.ones(6)),
    }
    plain = torsor.simulate(robot, q, v, **given, **BARE)
    run = torsor.simulate(robot, jax.numpy.asarray(q), v, **given, **BARE)
    np.testing.assert_allclose(run.v, plain.v, **SAME)
    constant = {"wrenches": {frame: np.ones(6)}}
    run = torsor.simulate(robot, jax.numpy.asarray(q), v, **constant, **BARE)
    np.testing.assert_allclose(run.v, torsor.simulate(robot, q, v, **constant, **BARE).v, **SAME)


def test_stiff_viscous_friction_takes_the_steps_of_numpy_arrays(jax_in_doubles):
    robot = torsor.robots.planar2r()
    robot = robot.with_parameters(viscous_friction=np.array([300.0, 400.0]))
    q, v = np.array([0.3, 0.4]), np.array([1.0, -1.0])
    plain = torsor.simulate(robot, q, v, **BARE)
    run = torsor.simulate(robot, jax_in_doubles.numpy.asarray(q), v, **BARE)
    np.testing.assert_allclose(run.v, plain.v, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("robot", "method"),
    [("planar2r", "rk4"), ("planar2r", "semi_implicit_euler"), ("floating", "euler")],  # XLA takes its time for others
    indirect=["robot"],
)
def test_gradients_by_velocity_and_forces_are_those_of_differences(jax_in_doubles, robot, state, method):
    jax, (q, v, _) = jax_in_doubles, state
    taus = np.random.default_rng(2).normal(size=(10, robot.nv))
    weights = np.random.default_rng(4).normal(size=(robot.nq,))

    def cost(q, v, taus):
        run = torsor.simulate(robot, q, v, tau=taus, method=method, **BARE)
        return run.q[-1] @ weights + (run.v**2).sum()

    by_v, by_tau = jax.grad(cost, argnums=(1, 2))(q, v, taus)
    rng, h = np.random.default_rng(5), 1e-6
    dv, dtau = rng.normal(size=v.shape), rng.normal(size=taus.shape)
    slope = (cost(q, v + h * dv, taus + h * dtau) - cost(q, v - h * dv, taus - h * dtau)) / (2 * h)
    # differences of numbers around 10 with steps of 1e-6 have about nine digits
    np.testing.assert_allclose(by_v @ dv + (by_tau * dtau).sum(), slope, rtol=1e-7, atol=1e-7)


def test_gradients_by_start_gains_and_masses(jax_in_doubles):
    """Through a controller with gains that are differentiated, and by the robot's own numbers."""
    jax, arm = jax_in_doubles, torsor.robots.planar2r()
    q, v = np.array([0.3, -0.4]), np.array([0.1, 0.2])

    def cost(q, gain, inertias):
        robot = arm.with_parameters(inertias=inertias)
        run = torsor.simulate(robot, q, v, controller=lambda t, q, v: -gain * q - v, **BARE)
        return (run.q[-1] ** 2).sum()

    given = (q, 3.0, np.asarray(arm.parameters.inertias))
    slopes = jax.jit(jax.grad(cost, argnums=(0, 1, 2)))(*(jax.numpy.asarray(x) for x in given))
    rng, h = np.random.default_rng(1), 1e-6
    along = [rng.normal(size=np.shape(x)) * (1.0 if k < 2 else 0.1) for k, x in enumerate(given)]
    along[2] = along[2] * (np.asarray(arm.parameters.inertias) != 0)

    def at(s):
        return cost(*(x + s * h * d for x, d in zip(given, along, strict=True)))

    expected = (at(1) - at(-1)) / (2 * h)
    np.testing.assert_allclose(sum((a * b).sum() for a, b in zip(slopes, along, strict=True)), expected, rtol=1e-6)


def limited_arm():
    return torsor.robots.planar2r().with_limits(([-3.0, -0.5], [3.0, 0.5]), effort=15.0)


def sticking_arm():
    arm = torsor.robots.planar2r().with_parameters(coulomb_friction=np.array([2.0, 80.0]))
    return arm.with_coulomb_width(0.0)


@pytest.mark.parametrize("make", [limited_arm, sticking_arm])
def test_gradients_through_stops_friction_and_effort_limits(jax_in_doubles, make):
    """They are those of differences, within jit and vmap too, and the steps in which something changed are told."""
    jax, arm, time = jax_in_doubles, make(), {"duration": 0.2, "dt": 0.01}
    given = (np.array([0.2, 0.3]), np.array([0.3, 3.0]), 10.0 * np.random.default_rng(0).normal(size=(20, 2)))
    plain = torsor.simulate(arm, *given[:2], tau=given[2], **time)
    run = torsor.simulate(arm, jax.numpy.asarray(given[0]), given[1], tau=given[2], **time)
    for name in ("time", "q", "v", "tau"):
        np.testing.assert_allclose(getattr(run, name), getattr(plain, name), err_msg=name, **SAME)
    changes = [change.time for change in torsor.simulation.sensitivities(plain).mode_changes]
    found = np.flatnonzero(run.changed)
    assert changes and sorted({int(t / 0.01) for t in changes}) == found.tolist()

    def cost(q, v, tau):
        run = torsor.simulate(arm, q, v, tau=tau, **time)
        return (run.q[-1] ** 2).sum() + 0.01 * (run.v**2).sum() + 1e-3 * (run.tau**2).sum()

    slopes = jax.grad(cost, argnums=(0, 1, 2))
    by, together = slopes(*given), jax.jit(slopes)(*given)
    rng, h = np.random.default_rng(5), 1e-6
    along = [rng.normal(size=x.shape) for x in given]

    def at(s):
        return cost(*(jax.numpy.asarray(x + s * h * d) for x, d in zip(given, along, strict=True)))

    expected = (at(1) - at(-1)) / (2 * h)
    np.testing.assert_allclose(sum((a * b).sum() for a, b in zip(by, along, strict=True)), expected, rtol=1e-6)
    for one, other in zip(by, together, strict=True):
        np.testing.assert_allclose(one, other, **SAME)
    many = jax.vmap(jax.grad(cost, argnums=1), in_axes=(None, 0, None))
    both = many(given[0], np.stack([given[1], 0.5 * given[1]]), given[2])
    np.testing.assert_allclose(both[0], by[1], rtol=1e-9, atol=1e-12)


def test_effort_limits_clamp_laws(jax_in_doubles):
    """A controller asks for more than its drive can do: the rest is no force, and its gain makes no difference."""
    jax, arm = jax_in_doubles, torsor.robots.planar2r().with_limits(effort=(5.0, 100.0))
    q, v, time = np.array([0.3, -0.4]), np.zeros(2), {"duration": 0.05, "dt": 0.01}

    def moved(gain):
        run = torsor.simulate(arm, jax.numpy.asarray(q), v, controller=lambda t, q, v: -gain * q, **time)
        return run.q[-1].sum(), run

    gains = np.array([200.0, 3.0])
    slope, run = jax.grad(moved, has_aux=True)(gains)
    plain = torsor.simulate(arm, q, v, controller=lambda t, q, v: -gains * q, **time)
    np.testing.assert_allclose(run.q, plain.q, **SAME)
    np.testing.assert_allclose(run.tau, plain.tau, **SAME)
    assert slope[0] == 0.0 and slope[1] != 0.0


def test_jumps_that_jax_cannot_follow_are_refused_with_what_to_type(jax_in_doubles):
    jax, (arm, q), time = jax_in_doubles, (limited_arm(), np.zeros(2)), {"duration": 0.1, "dt": 0.01}
    start = jax.numpy.asarray(q)
    with pytest.raises(ArgumentError, match=r"has joint stops.* Pass within_limits=False"):
        torsor.simulate(arm, start, q, controller=lambda t, q, v: -q, **time)
    with pytest.raises(ArgumentError, match="has joint stops"):
        torsor.simulate(arm, start, q, wrenches={arm.frames[-1]: jax.numpy.ones(6)}, **time)
    with pytest.raises(ArgumentError, match="would hold joints at rest: pass"):
        jax.grad(
            lambda c: torsor.simulate(
                arm.with_parameters(coulomb_friction=c).with_coulomb_width(0.0), q, q, **time
            ).q.sum()
        )(jax.numpy.ones(2))
    with pytest.raises(ArgumentError, match=r"rest.* Pass robot.with_coulomb_width"):
        torsor.simulate(sticking_arm(), start, q, tau=lambda t: q, **time)


def test_settings_that_do_not_run_in_jax_are_refused(jax_in_doubles):
    arm, q = torsor.robots.planar2r(), jax_in_doubles.numpy.zeros(2)
    crossing = torsor.simulation.Event(lambda t, q, v: q[0])
    for given, words in (
        ({"dt": None}, "pass `dt`"),
        ({"events": crossing}, "`events` are not looked for"),
        ({"method": "rk5"}, "rk4"),
        ({"controller_state": 1.0}, "belongs to a `controller`"),
        ({"control_dt": 0.015, "controller": lambda t, q, v: v}, "whole number of steps"),
    ):
        with pytest.raises(ArgumentError, match=words):
            torsor.simulate(arm, q, q, **(BARE | given))
    with pytest.raises(ShapeError, match="rows for 10 steps"):
        torsor.simulate(arm, q, q, tau=np.zeros((7, 2)), **BARE)
    with pytest.raises(ShapeError, match="the controller must return"):
        torsor.simulate(arm, q, q, controller=lambda t, q, v: v[:1], **BARE)
    with pytest.raises(ArgumentError, match="plain numbers"):
        jax_in_doubles.jit(lambda dt: torsor.simulate(arm, q, q, duration=0.1, dt=dt))(0.01)


def test_simulating_numpy_arrays_imports_no_jax():
    code = (
        "import sys, torsor; r = torsor.robots.planar2r(); "
        "torsor.simulate(r, [0.1, 0.2], [0.0, 0.0], duration=0.01, dt=0.01); assert 'jax' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_first_derivative_finds_the_functions_it_needs():
    """Functions that differentiate others are imported when they are needed, though nobody has used them before."""
    code = (
        "import jax, torsor; r = torsor.robots.planar2r(); z = jax.numpy.zeros(2); "
        "jax.grad(lambda q: torsor.forward_dynamics(r, q, z, z).sum())(z)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_under_jax_numpy_alone_the_motion_is_the_same(jax_in_doubles):
    arm, start = torsor.robots.planar2r(), (np.array([0.3, -0.4]), np.array([0.1, 0.2]))
    numbers = torsor.simulate(arm, *start, duration=0.03, dt=0.01, method="euler", within_limits=False)
    with torsor.backend("numpy"):
        traced = (jax_in_doubles.numpy.asarray(x) for x in start)
        run = torsor.simulate(arm, *traced, duration=0.03, dt=0.01, method="euler", within_limits=False)
    np.testing.assert_allclose(run.q, numbers.q, **SAME)
    np.testing.assert_allclose(run.v, numbers.v, **SAME)
