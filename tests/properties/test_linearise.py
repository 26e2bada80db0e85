"""Linearisation: the matrices are the derivatives of the motion, of every step, of what a frame shows of it."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings, strategies as st
from property_checks import DIFFERENTIATED, STEP, assert_close, largest
from property_strategies import ALL_KINDS, ONE_NUMBER, cases, mass_condition, robots

import torsor
from torsor.compiler.print import numpy as emit_numpy
from torsor.linearisation.exponential import exponential_and_integral
from torsor.linearisation.step_derivatives import DERIVATIVES, Drive
from torsor.simulation._simulate import METHODS
from torsor.simulation.steps.rate import Rate

METHOD_NAMES = ("rk4", "semi_implicit_euler", "euler")
methods = st.sampled_from(METHOD_NAMES)
smooth_robots = robots(most=4).map(lambda robot: robot.with_coulomb_width(0.5))
one_state = cases(smooth_robots, batches=((),))
H = 0.02  # s


def chain_of(*kinds, **effects):
    """A random chain with joints of these kinds, each once."""
    chains = (torsor.robots.random_tree(len(kinds), seed=k, kinds=kinds, serial=True, **effects) for k in count())
    return next(robot for robot in chains if set(robot.structure.kinds) == set(kinds))


def stepped(robot, q, v, tau, h, method, wrenches=None):
    """Where one step of `simulate` leads."""
    run = torsor.simulate(robot, q, v, duration=h, dt=h, tau=tau, method=method, wrenches=wrenches)
    return run.q[..., -1, :], run.v[..., -1, :]


def differenced(robot, flow, q, v, tau):
    """∂(q, v after the flow)/∂(q, v, tau) (2nv, 3nv), tangent coordinates at both ends, by central differences."""
    nv = robot.nv
    d = STEP * np.concatenate([np.eye(3 * nv), -np.eye(3 * nv)])
    moved = torsor.integrate(robot, q, d[:, :nv])
    q_end, v_end = flow(moved, v + d[:, nv : 2 * nv], tau + d[:, 2 * nv :])
    middle, _ = flow(q, v, tau)
    x = np.concatenate([torsor.difference(robot, middle, q_end), v_end], axis=-1)
    return (x[: 3 * nv] - x[3 * nv :]).T / (2 * STEP)


def assert_is_derivative(robot, near, flow, q, v, tau, error=DIFFERENTIATED):
    want = differenced(robot, flow, q, v, tau)
    nv = robot.nv
    # Rounding in solving with M grows with its condition, and is divided by the step of the differences.
    error = max(error, 1e-10 * mass_condition(robot, q))
    assert_close(near.A, want[:, : 2 * nv], error)
    assert_close(near.B, want[:, 2 * nv :], error)


# From step to step


@given(one_state, methods)
def test_the_matrices_of_a_method_are_the_derivatives_of_its_step(case, method):
    """Every joint kind, trees, mimic joints, armature, friction, wrenches."""
    robot, q, v, a, _ = case
    wrenches = case.wrenches()
    tau = torsor.inverse_dynamics(robot, q, v, a, wrenches=wrenches)
    near = torsor.linearise(robot, q, v, tau, dt=H, method=method, wrenches=wrenches)
    assert_is_derivative(robot, near, lambda q, v, tau: stepped(robot, q, v, tau, H, method, wrenches), q, v, tau)


@pytest.mark.parametrize("method", METHOD_NAMES)
def test_large_rotations_in_one_step_are_carried_exactly(method):
    """Joints that turn by 1.5 rad and move by 2 m within a step, where ad, Ad and the Jacobians of exp are far from 1."""
    robot = chain_of("planar", "spherical", "free", armature=True)
    q, v, a = torsor.random_state(robot, seed=2)
    tau = torsor.inverse_dynamics(robot, q, v, a)
    h = 1.5 / largest(v)
    near = torsor.linearise(robot, q, v, tau, dt=h, method=method)
    assert_is_derivative(robot, near, lambda q, v, tau: stepped(robot, q, v, tau, h, method), q, v, tau)


@pytest.mark.parametrize("method", METHOD_NAMES)
@pytest.mark.parametrize("kinds", [("spherical",), ("planar",), ("free",), ("helical", "prismatic")], ids="-".join)
def test_to_rounding_they_are_those_of_the_traced_step(kinds, method):
    """`torsor.derivative` of the step itself, in the tangent coordinates where it ends."""
    robot = chain_of(*kinds, friction=True).with_coulomb_width(0.5)
    q, v, tau = torsor.random_state(robot, seed=5)
    end, _ = stepped(robot, q, v, tau, H, method)

    def step(robot, q, v, tau):
        def rate(t, q, v):
            return Rate(torsor.forward_dynamics(robot, q, v, tau), 0.0 * v)

        new = METHODS[method](robot, rate, np.zeros(()), q, v, np.array(H))
        return {"q_new": torsor.difference(robot, end, new.q), "v_new": new.v}

    inputs = {"q": robot.nq, "v": robot.nv, "tau": robot.nv}
    kernel = torsor.derivative(step, robot, inputs, wrt=("q", "v", "tau"))
    parts = emit_numpy.build(kernel.program)(q, v, tau)  # compiling it for one state would take longer
    want = np.block([[parts[f"{row}_by_{x}"] for x in ("q", "v", "tau")] for row in ("q_new", "v_new")])
    near = torsor.linearise(robot, q, v, tau, dt=H, method=method)
    assert_close(np.concatenate([near.A, near.B], axis=-1), want, 1e-11)


@pytest.mark.parametrize("method", METHOD_NAMES)
def test_one_call_along_a_motion_gives_the_derivative_of_its_end(method):
    """The product of the matrices of all steps, against motions from displaced starts."""
    robot = chain_of("free", "revolute", "planar", armature=True)
    q, v, tau = torsor.random_state(robot, seed=3)
    settings = {"duration": 20 * H, "dt": H, "method": method}
    run = torsor.simulate(robot, q, v, tau=tau, **settings)
    near = torsor.linearise(robot, run.q[:-1], run.v[:-1], run.tau[:-1], dt=run.time[1], method=method)
    assert near.A.shape == (20, 2 * robot.nv, 2 * robot.nv)
    dx = np.eye(2 * robot.nv, 3 * robot.nv)
    for A, B in zip(near.A, near.B, strict=True):
        dx = A @ dx
        dx[:, 2 * robot.nv :] += B

    def flow(q, v, tau):
        run = torsor.simulate(robot, q, v, tau=tau, **settings)
        return run.q[..., -1, :], run.v[..., -1, :]

    want = differenced(robot, flow, q, v, tau)
    assert_close(dx, want, 1e-6)  # third derivatives grow along the way


@given(one_state)
def test_exact_steps_at_rest_are_those_of_the_motion(case):
    """At an equilibrium the linear equations have constant coefficients: a finely integrated motion agrees."""
    robot, q, _, _, _ = case
    rest = np.zeros(robot.nv)
    tau = torsor.gravity_forces(robot, q) + torsor.spring_forces(robot, q)
    near = torsor.linearise(robot, q, rest, tau, dt=H)
    assert_close(near.acceleration, rest, 1e-13 * mass_condition(robot, q) * (1 + largest(tau)))
    pieces = 16
    fine = torsor.linearise(robot, q, rest, tau, dt=H / pieces, method="rk4")
    A, B = np.eye(2 * robot.nv), np.zeros_like(fine.B)
    for _ in range(pieces):
        A, B = fine.A @ A, fine.A @ B + fine.B
    size = H / pieces * max(np.sqrt(largest(near_rates(robot, q, tau))), 1.0)
    error = 1e-9 + size**4  # of the Runge–Kutta steps
    assert_close(near.A, A, error)
    assert_close(near.B, B, error)


def near_rates(robot, q, tau):
    """The largest entries of ∂a/∂q and ∂a/∂v at rest."""
    slopes = torsor.forward_dynamics_derivatives(robot, q, np.zeros(robot.nv), tau)
    return np.stack([slopes.q, slopes.v**2])


# Continuous time


@given(one_state)
def test_in_continuous_time_they_are_the_rates_of_the_matrices_of_short_steps(case):
    """d/dh of ∂(state after h)/∂(state, tau) at h = 0, forwards and backwards in time."""
    robot, q, v, a, _ = case
    wrenches = case.wrenches()
    tau = torsor.inverse_dynamics(robot, q, v, a, wrenches=wrenches)
    near = torsor.linearise(robot, q, v, tau, wrenches=wrenches)
    h, drive = 1e-5, Drive(robot, tau, wrenches)
    there, back = (np.concatenate(DERIVATIVES["rk4"](drive, q, v, t)[:2]) for t in (h, -h))
    want = (there - back) / (2 * h)
    # h² of a third derivative, and rounding in solving with M over h
    error = max(DIFFERENTIATED, h**2 * largest(near.A) ** 2, 1e-11 * mass_condition(robot, q))
    assert_close(near.A, want[:, : 2 * robot.nv], error)
    assert_close(near.B, want[:, 2 * robot.nv :], error)


@pytest.mark.parametrize("kind", ["planar", "spherical", "free"])
def test_displacements_of_a_turning_body_turn_against_it(kind):
    """Two motions of one body, simulated: their displacement δ has the rate δv − ad(v) δ, and the block is not zero."""
    robot = torsor.robots.random_tree(1, seed=4, kinds=(kind,))
    q, v, tau = torsor.random_state(robot, seed=7)
    near = torsor.linearise(robot, q, v, tau)
    assert largest(near.A[: robot.nv, : robot.nv]) > 0.1
    far, h = 1e-4, 1e-3
    x = far * np.random.default_rng(1).normal(size=2 * robot.nv)

    def displacement(h):  # central in the displacement, so that its square drops out
        ends = [q, torsor.integrate(robot, q, x[: robot.nv]), torsor.integrate(robot, q, -x[: robot.nv])]
        starts = v + np.outer([0.0, 1.0, -1.0], x[robot.nv :])
        run = torsor.simulate(robot, np.array(ends), starts, duration=h, dt=h, tau=tau, method="rk4")
        d = torsor.difference(robot, run.q[0, -1], run.q[1:, -1])
        return np.concatenate([d[0] - d[1], run.v[1, -1] - run.v[2, -1]]) / 2

    # x(h) = x + h ẋ + h² ẍ / 2 + …, with two lengths to take out the square
    rate = (4 * displacement(h / 2) - displacement(h) - 3 * x) / h
    assert_close(near.A @ x / far, rate / far, 1e-4)  # h² of third derivatives


@given(one_state)
def test_the_blocks_are_those_of_forward_dynamics(case):
    robot, q, v, _, _ = case
    tau, nv = case.tau(), robot.nv
    near = torsor.linearise(robot, q, v, tau)
    slopes = torsor.forward_dynamics_derivatives(robot, q, v, tau)
    assert_close(near.A[nv:], np.concatenate([slopes.q, slopes.v], axis=-1), 0.0)
    assert_close(near.A[:nv, nv:], np.eye(nv), 0.0)
    assert_close(near.B, np.concatenate([0.0 * slopes.tau, slopes.tau]), 0.0)
    assert_close(near.acceleration, torsor.forward_dynamics(robot, q, v, tau), 0.0)
    if set(robot.structure.kinds) <= set(ONE_NUMBER):
        assert not near.A[:nv, :nv].any()
    assert near.dt is None and near.C is None
    assert near.freedoms == robot.structure.freedoms
    assert len(near.states) == 2 * nv and len(near.inputs) == nv


# What a frame shows


@given(one_state)
def test_a_frame_shows_its_displacement_and_the_change_of_its_twist(case):
    robot, q, v, _, rng = case
    frame = case.frame()
    C = torsor.linearise(robot, q, v, case.tau(), frame=frame).C
    x = rng.normal(size=2 * robot.nv)

    def shown(t):
        q_t, v_t = torsor.integrate(robot, q, x[: robot.nv], t), v + t * x[robot.nv :]
        moved = torsor.lie.se3.inverse(torsor.frame_pose(robot, q, frame)) @ torsor.frame_pose(robot, q_t, frame)
        return np.concatenate([torsor.lie.se3.log(moved), torsor.kinematics.body_twist(robot, q_t, v_t, frame)])

    assert_close(C @ x, (shown(STEP) - shown(-STEP)) / (2 * STEP), DIFFERENTIATED)


# Shapes


@pytest.mark.parametrize("backend", ["numpy", pytest.param("compiled", marks=pytest.mark.compiled)])
@pytest.mark.parametrize("method", [None, "exact", *METHOD_NAMES])
@pytest.mark.parametrize("batch", [(), (1,), (2, 3), (0,)], ids=str)
def test_a_batch_is_its_states_one_by_one(batch, method, backend):
    robot = torsor.robots.random_tree(3, seed=9, kinds=ALL_KINDS, mimic=True, armature=True)
    q, v, tau = torsor.random_state(robot, seed=1, batch=batch)
    settings = {"frame": "tool", "dt": None if method is None else H, "method": method}
    wrenches, nv = {"tool": np.arange(6.0)}, robot.nv
    near = torsor.linearise(robot, q, v, tau, wrenches=wrenches, **settings)
    alone = {i: torsor.linearise(robot, q[i], v[i], tau[i], wrenches=wrenches, **settings) for i in np.ndindex(batch)}
    shapes = {"A": (2 * nv, 2 * nv), "B": (2 * nv, nv), "C": (12, 2 * nv), "acceleration": (nv,)}
    for name, shape in shapes.items():
        assert getattr(near, name).shape == (*batch, *shape)
        for i, one in alone.items():
            assert_close(getattr(near, name)[i], getattr(one, name), 1e-11)


@pytest.mark.parametrize("method", [None, *METHOD_NAMES])
def test_batch_axes_broadcast_those_of_wrenches_too(method):
    robot = chain_of("spherical", "revolute")
    q, v, tau = torsor.random_state(robot, seed=1, batch=(4,))
    F = np.random.default_rng(0).normal(size=(2, 1, 6))
    settings = {"dt": None if method is None else H, "method": method}
    near = torsor.linearise(robot, q, v[0], tau[1], wrenches={"tool": F}, **settings)
    assert near.A.shape == (2, 4, 2 * robot.nv, 2 * robot.nv)
    one = torsor.linearise(robot, q[3], v[0], tau[1], wrenches={"tool": F[1, 0]}, **settings)
    assert_close(near.A[1, 3], one.A)
    assert_close(near.B[1, 3], one.B)


# The exponential


@given(st.integers(0, 2**20), st.integers(1, 6), st.floats(-6, 3))
@settings(max_examples=60)
def test_the_exponential_and_its_integral(seed, n, size):
    rng = np.random.default_rng(seed)
    X, Y = 10.0**size * rng.normal(size=(n, n)) / n, rng.normal(size=(n, 2))
    X = X - np.eye(n) * max(0.0, np.linalg.eigvals(X).real.max())  # what grows without bound cannot be compared
    E, F = exponential_and_integral(X, Y)
    both = scipy.linalg.expm(np.block([[X, Y], [np.zeros((2, n + 2))]]))
    error = 1e-13 * (1 + largest(X))  # squaring s times loses s bits at most, about log₂ of the norm
    assert_close(E, both[:n, :n], error, scale=np.linalg.norm(both))
    assert_close(F, both[:n, n:], error, scale=np.linalg.norm(both))


def test_each_matrix_of_a_batch_is_scaled_by_its_own_norm():
    X = np.array([[[0.0, 1e-9], [0.0, 0.0]], [[-60.0, 0.0], [0.0, 0.0]], [[0.0, 40.0], [-40.0, 0.0]]])
    E, F = exponential_and_integral(X, np.broadcast_to(np.eye(2), X.shape))
    c, s = np.cos(40.0), np.sin(40.0)
    assert_close(E, [[[1.0, 1e-9], [0.0, 1.0]], [[np.exp(-60.0), 0.0], [0.0, 1.0]], [[c, s], [-s, c]]], 1e-13)
    assert_close(F[1], [[(1 - np.exp(-60.0)) / 60.0, 0.0], [0.0, 1.0]], 1e-13)
    assert_close(E[0, 0, 1], 1e-9, 1e-24)


def test_what_is_not_finite_stays_in_its_own_matrix():
    X = np.array([[[np.nan, 0.0], [0.0, 0.0]], [[np.inf, 0.0], [0.0, 0.0]], np.zeros((2, 2))])
    E, _ = exponential_and_integral(X, np.ones((3, 2, 1)))
    assert np.isnan(E[:2]).any(axis=(-1, -2)).all()
    assert_close(E[2], np.eye(2))


# Errors


def test_what_is_missing_or_unknown_is_said():
    robot = torsor.robots.cart_pole()
    state = (robot, [0.0, 0.1], [0.0, 0.0], [0.0, 0.0])
    for wrong, text in (
        ({"method": "rk4"}, r"linearise: method 'rk4' goes from step to step: give its length in seconds, dt=0.01"),
        (
            {"dt": 0.01, "method": "rk5"},
            r"linearise: `method` must be 'exact', 'semi_implicit_euler', 'euler' or 'rk4', got 'rk5'; did you mean 'rk4'",
        ),
        ({"dt": 0.0}, r"linearise: `dt` must be a positive number of seconds, got 0.0"),
        ({"dt": np.nan}, r"positive number of seconds, got nan"),
        ({"dt": 0.01, "method": ["x"]}, r"linearise: `method` must be .*, got \['x'\]"),
        ({"dt": True}, r"positive number of seconds, got True"),
        ({"dt": np.array([0.1])}, r"positive number of seconds, got array"),
        ({"dt": "fast"}, r"positive number of seconds, got 'fast'"),
        ({"frame": "tpi"}, r"linearise: robot 'cart_pole' has no frame 'tpi'; nearest: 'tip'"),
        ({"wrenches": {"tpi": np.zeros(6)}}, r"no frame 'tpi'"),
    ):
        with pytest.raises(torsor.TorsorError, match=text):
            torsor.linearise(*state, **wrong)
    with pytest.raises(torsor.ShapeError, match=r"linearise: `v` must have shape \(\.\.\., 2\)"):
        torsor.linearise(robot, [0.0, 0.1], [0.0], [0.0, 0.0])
    with pytest.raises(torsor.TorsorError, match=r"linearise: the first argument must be a torsor\.Robot, got list"):
        torsor.linearise([1.0], *state[1:])


def test_the_step_may_be_an_array_without_axes():
    robot, rest = torsor.robots.cart_pole(), [0.0, 0.0]
    found = torsor.linearise(robot, rest, rest, rest, dt=np.array(0.01))
    assert found.dt == 0.01 and type(found.dt) is float
    np.testing.assert_array_equal(found.A, torsor.linearise(robot, rest, rest, rest, dt=0.01).A)


def test_a_joint_that_moves_nothing_is_named():
    idle = torsor.assemble([torsor.Joint(name="idle", kind="revolute", axis=(0, 0, 1))])
    with pytest.raises(torsor.ModelError, match="joint 'idle' moves no inertia"):
        torsor.linearise(idle, [0.0], [0.0], [0.0])


def test_within_jax_it_says_what_to_use(jax_in_doubles):
    jax, robot = jax_in_doubles, torsor.robots.cart_pole()
    q = jax.numpy.array([0.0, 0.1])
    assert_close(torsor.linearise(robot, q, 0 * q, 0 * q).A, torsor.linearise(robot, [0.0, 0.1], [0, 0], [0, 0]).A)
    with pytest.raises(torsor.TorsorError, match=r"torsor\.forward_dynamics_derivatives, which runs inside"):
        jax.jit(lambda q: torsor.linearise(robot, q, 0 * q, 0 * q).A)(q)
