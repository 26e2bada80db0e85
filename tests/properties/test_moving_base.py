"""A base that moves, in derivatives of the dynamics, motions of frames and linear equations.

The truth is the same robot on a free joint whose motion is prescribed, an inertial frame that coincides with the base now, and
differences of forward dynamics, which has its own tests.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from property_checks import DIFFERENTIATED, STEP, assert_close, largest
from property_strategies import Case, cases, joints_of, mass_condition, rebuilt, robots

import torsor
from torsor.functions.dispatch import PUBLIC

smooth = robots(most=3).map(lambda robot: robot.with_coulomb_width(0.5))
one_state, unlinked = cases(smooth, batches=((), (2,))), cases(robots(most=3, mimic=False), batches=((), (2,)))


def mounted(robot):
    """The robot on a massless free joint that carries its base."""
    mount = torsor.Joint(name="mount", kind="free", parent="ground", link="base", inertia=torsor.Inertia.zero())
    width = robot.structure.coulomb_width
    joints = [mount, *joints_of(robot)]
    return rebuilt(robot, joints, base="ground", order=["mount", *robot.coordinates], coulomb_width=width)


def on_its_mount(case: Case):
    """A motion of the base, and the mounted robot in the same state, the mount where it is at rest."""
    robot, q, v, a, rng = case
    V_0, A_0 = rng.normal(size=(2, *case.batch, 6))
    home = np.broadcast_to([0, 0, 0, 0, 0, 0, 1.0], (*case.batch, 7))
    state = [np.concatenate(pair, axis=-1) for pair in ((home, q), (V_0, v), (A_0, a))]
    return (V_0, A_0), mounted(robot), state


def size_of(*parts):
    return max(map(largest, parts))


@given(one_state)
def test_derivatives_of_inverse_dynamics_are_those_on_a_prescribed_mount(case):
    robot, q, v, a, _ = case
    wrenches = {name: F for name, F in case.wrenches().items() if name != "base"}
    base_motion, floating, state = on_its_mount(case)
    found = torsor.inverse_dynamics_derivatives(robot, q, v, a, wrenches=wrenches, base_motion=base_motion)
    want = torsor.inverse_dynamics_derivatives(floating, *state, wrenches=wrenches)
    for one, other in zip(found, want, strict=True):
        assert_close(one, other[..., 6:, 6:], 1e-10, scale=largest(other))


@given(unlinked)
def test_second_derivatives_and_hessians_are_those_on_a_prescribed_mount(case):
    robot, q, v, a, _ = case
    base_motion, floating, state = on_its_mount(case)
    weights, dq, dv, da = case.rng.normal(size=(4, *case.batch, robot.nv))
    padded = [np.concatenate([np.zeros((*case.batch, 6)), x], axis=-1) for x in (weights, dq, dv, da)]
    found = torsor.derivatives.inverse_dynamics_second_derivatives(robot, q, v, a, base_motion=base_motion)
    want = torsor.derivatives.inverse_dynamics_second_derivatives(floating, *state)
    for one, other in zip(found, want, strict=True):
        assert_close(one, other[..., 6:, 6:, 6:], 1e-10, scale=largest(other))
    found = torsor.derivatives.inverse_dynamics_hessian(robot, q, v, a, weights, base_motion=base_motion)
    want = torsor.derivatives.inverse_dynamics_hessian(floating, *state, padded[0])
    for one, other in zip(found, want, strict=True):
        assert_close(one, other[..., 6:, 6:], 1e-10, scale=largest(other))
    found = torsor.derivatives.inverse_dynamics_hessian_product(
        robot, q, v, a, weights, dq, dv, da, base_motion=base_motion
    )
    want = torsor.derivatives.inverse_dynamics_hessian_product(floating, *state, *padded)
    for one, other in zip(found, want, strict=True):
        assert_close(one, other[..., 6:], 1e-10, scale=largest(other))


def differenced(robot, q, v, tau, function):
    """∂ function/∂(q, v, tau), tangent coordinates, last axis, by central differences."""
    slopes = []
    for k in range(3):
        columns = []
        for unit in np.eye(robot.nv):

            def moved(t, k=k, e=unit):
                return function(
                    torsor.integrate(robot, q, e, t) if k == 0 else q,
                    v + t * e if k == 1 else v,
                    tau + t * e if k == 2 else tau,
                )

            columns.append((np.asarray(moved(STEP)) - np.asarray(moved(-STEP))) / (2 * STEP))
        slopes.append(np.stack(columns, axis=-1))
    return slopes


@given(one_state)
def test_derivatives_of_forward_dynamics_are_its_differences(case):
    robot, q, v, a, rng = case
    base_motion, wrenches = tuple(rng.normal(size=(2, *case.batch, 6))), case.wrenches()
    tau = torsor.inverse_dynamics(robot, q, v, a, wrenches=wrenches, base_motion=base_motion)
    found = torsor.forward_dynamics_derivatives(robot, q, v, tau, wrenches=wrenches, base_motion=base_motion)

    def accelerate(q, v, tau):
        return torsor.forward_dynamics(robot, q, v, tau, wrenches=wrenches, base_motion=base_motion)

    error = max(DIFFERENTIATED, 1e-10 * mass_condition(robot, q))
    for one, other in zip(found, differenced(robot, q, v, tau, accelerate), strict=True):
        assert_close(one, other, error, scale=largest(found.q))


@settings(max_examples=4)
@given(unlinked)
def test_second_derivatives_of_forward_dynamics_are_differences_of_the_first(case):
    robot, q, v, a, rng = case
    base_motion = tuple(rng.normal(size=(2, *case.batch, 6)))
    tau = torsor.inverse_dynamics(robot, q, v, a, base_motion=base_motion)
    found = torsor.derivatives.forward_dynamics_second_derivatives(robot, q, v, tau, base_motion=base_motion)
    slopes = differenced(
        robot, q, v, tau, lambda *x: torsor.forward_dynamics_derivatives(robot, *x, base_motion=base_motion).q
    )
    error = max(DIFFERENTIATED, 1e-9 * mass_condition(robot, q))
    assert_close(found.qq, slopes[0], error, scale=largest(found.qq))
    assert_close(found.qv, slopes[1], error, scale=largest(found.qq))
    weights, dq, dv, dtau = rng.normal(size=(4, *case.batch, robot.nv))
    hessian = torsor.derivatives.forward_dynamics_hessian(robot, q, v, tau, weights, base_motion=base_motion)
    for one, tensor in zip(hessian, found, strict=True):
        want = np.einsum("...i,...ijk->...jk", weights, tensor)
        assert_close(one, want, 1e-10 * mass_condition(robot, q), scale=largest(tensor))
    product = torsor.derivatives.forward_dynamics_hessian_product(
        robot, q, v, tau, weights, dq, dv, dtau, base_motion=base_motion
    )
    want = np.einsum("...kj,...k->...j", hessian.qv, dq) + np.einsum("...jk,...k->...j", hessian.vv, dv)
    assert_close(product.v, want, 1e-10 * mass_condition(robot, q), scale=size_of(hessian.qv, hessian.vv))


@given(unlinked)
def test_bias_forces_are_inverse_dynamics_at_zero_acceleration(case):
    robot, q, v, _, rng = case
    base_motion = tuple(rng.normal(size=(2, *case.batch, 6)))
    found = torsor.bias_forces(robot, q, v, base_motion=base_motion)
    tau = torsor.inverse_dynamics(robot, q, v, 0 * v, base_motion=base_motion)
    inside = torsor.friction_forces(robot, v) + torsor.spring_forces(robot, q)
    assert_close(found, tau - inside, 1e-12, scale=largest(inside))


@pytest.mark.parametrize("way", ["body", "space", "mixed"])
@given(case=one_state)
def test_motions_of_frames_are_those_on_a_prescribed_mount(way, case):
    robot, q, v, a, _ = case
    base_motion, floating, state = on_its_mount(case)
    frame, acceleration = case.frame(), way
    for name, given_state in ((f"{way}_twist", 2), (f"{acceleration}_acceleration", 3)):
        found = PUBLIC[name](robot, *(q, v, a)[:given_state], frame, base_motion=base_motion)
        want = PUBLIC[name](floating, *state[:given_state], frame)
        assert_close(found, want, 1e-11)
        parts = PUBLIC[f"{name}_derivatives"](robot, *(q, v, a)[:given_state], frame, base_motion=base_motion)
        whole = PUBLIC[f"{name}_derivatives"](floating, *state[:given_state], frame)
        for one, other in zip(parts, whole, strict=True):
            assert_close(one, other[..., 6:], 1e-11, scale=largest(other))


@given(one_state)
def test_a_lift_that_speeds_up_is_another_gravity(case):
    robot, q, v, a, rng = case
    up = rng.normal(scale=3.0, size=3)
    base_motion = np.zeros(6), np.concatenate([np.zeros(3), up])
    found = torsor.inverse_dynamics_derivatives(robot, q, v, a, base_motion=base_motion)
    want = torsor.inverse_dynamics_derivatives(robot.with_gravity(robot.gravity - up), q, v, a)
    for one, other in zip(found, want, strict=True):
        assert_close(one, other, 1e-11, scale=largest(want.q))


def test_linear_equations_on_a_moving_base():
    """Continuous time from the derivatives, a step of Euler from its differences, and what a frame shows."""
    robot = torsor.robots.random_tree(3, seed=8, kinds=("revolute", "spherical"), serial=True)
    q, v, a = torsor.random_state(robot, seed=1)
    base_motion = tuple(np.random.default_rng(3).normal(size=(2, 6)))
    tau, nv, h = torsor.inverse_dynamics(robot, q, v, a, base_motion=base_motion), robot.nv, 0.02
    near = torsor.linearise(robot, q, v, tau, frame="tool", base_motion=base_motion)
    by = torsor.forward_dynamics_derivatives(robot, q, v, tau, base_motion=base_motion)
    assert_close(near.acceleration, a, 1e-10)
    assert_close(near.A[nv:], np.concatenate([by.q, by.v], axis=-1))
    assert_close(near.B[nv:], by.tau)
    seen = torsor.derivatives.body_twist_derivatives(robot, q, v, "tool", base_motion=base_motion)
    assert_close(near.C[6:], np.concatenate([seen.q, seen.v], axis=-1))

    def step(q, v, tau):
        v_new = v + h * torsor.forward_dynamics(robot, q, v, tau, base_motion=base_motion)
        return np.concatenate([torsor.difference(robot, end, torsor.integrate(robot, q, h * v_new)), v_new])

    end = torsor.integrate(robot, q, h * (v + h * a))
    stepped = torsor.linearise(robot, q, v, tau, dt=h, method="semi_implicit_euler", base_motion=base_motion)
    want = np.concatenate(differenced(robot, q, v, tau, step), axis=-1)
    assert_close(np.concatenate([stepped.A, stepped.B], axis=-1), want, DIFFERENTIATED)
    with pytest.raises(torsor.ShapeError, match="`base_motion` must be a pair of arrays"):
        torsor.linearise(robot, q, v, tau, base_motion=np.zeros(6))


@pytest.mark.compiled
@pytest.mark.parametrize("blocks", [False, True])
def test_compiled_written_out_and_in_blocks(blocks, monkeypatch):
    """A kernel for a batch, and as it is for large robots: with loops over matrices and pairs of joints."""
    if blocks:
        monkeypatch.setattr("torsor.compiler.traced_array.LOOPED", 1)
        monkeypatch.setattr("torsor.compiler.trace.CALLED", {1: 1})
        monkeypatch.setattr("torsor.geometry.inverse_dynamics_second_derivatives.MANY", 1)
    robot = torsor.robots.chain(2).rename({}, robot="in blocks" if blocks else "written out")
    q, v, tau = torsor.random_state(robot, seed=0, batch=(2,))
    base_motion = tuple(np.random.default_rng(0).normal(size=(2, 6)))
    for name in ("forward_dynamics_derivatives", "inverse_dynamics_second_derivatives"):
        function = PUBLIC[name]
        with torsor.backend("numpy"):
            want = function(robot, q, v, tau, base_motion=base_motion)
        for one, other in zip(function(robot, q, v, tau, base_motion=base_motion), want, strict=True):
            assert_close(one, other, 1e-12, scale=largest(other))
