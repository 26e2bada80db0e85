"""What must be true of every simulated motion."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from property_checks import assert_close, largest, times, transposed
from property_strategies import ONE_NUMBER, cases, robots

import torsor

METHODS = ("euler", "semi_implicit_euler", "rk4", "implicit_midpoint", "variational")
methods = st.sampled_from(METHODS)
small_robots = robots(most=3, friction=False)
one_state = cases(small_robots, batches=((),))

ROBOTS = {
    "serial chain": torsor.robots.random_tree(2, seed=3, kinds=ONE_NUMBER, serial=True),
    "free body": torsor.robots.random_tree(1, seed=5, kinds=("free",)),
    "spherical on planar": torsor.robots.random_tree(2, seed=8, kinds=("planar", "spherical"), serial=True),
    "flying arm": torsor.assemble(
        [
            torsor.Joint(name="float", kind="free", link="hull", inertia=torsor.Inertia.box((0.4, 0.5, 0.6), mass=3.0)),
            torsor.Joint(
                name="arm",
                kind="revolute",
                axis=(1, 2, 3),
                parent="hull",
                pose=torsor.pose_from((0.2, 0.1, 0.3)),
                inertia=torsor.Inertia.cylinder(0.1, 0.5, mass=1.0, com=(0.0, 0.1, 0.3)),
            ),
        ]
    ),
    "coupled joints": torsor.robots.random_tree(3, seed=12, kinds=("revolute",), mimic=True),
}


def start(robot: torsor.Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return torsor.random_state(robot, seed=1)


def error(robot: torsor.Robot, one: torsor.Trajectory, other: torsor.Trajectory) -> float:
    """How far the ends of two motions are apart, on the manifold."""
    q_error = torsor.difference(robot, one.q[..., -1, :], other.q[..., -1, :])
    return max(largest(q_error), largest(one.v[..., -1, :] - other.v[..., -1, :]))


# Order


@cache
def reference(name: str, duration: float) -> torsor.Trajectory:
    """The motion under constant torques, a hundred thousand times more exactly than what it is held against."""
    robot = ROBOTS[name]
    q, v, tau = start(robot)
    return torsor.simulate(robot, q, v, duration=duration, dt=duration / 100, tau=tau, method="rk4")


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize(
    ("method", "order", "steps"),
    [
        ("euler", 1, 40),
        ("semi_implicit_euler", 1, 40),
        ("rk4", 4, 5),
        ("implicit_midpoint", 2, 20),
        ("variational", 2, 20),
    ],
)
def test_halving_the_step_divides_the_error_by_two_to_the_order(name, method, order, steps):
    robot = ROBOTS[name]
    q, v, tau = start(robot)
    duration = 0.2

    def run(steps):
        return torsor.simulate(robot, q, v, duration=duration, dt=duration / steps, tau=tau, method=method)

    exact = reference(name, duration)
    ratio = error(robot, run(steps), exact) / error(robot, run(2 * steps), exact)
    # The next term of the error is a step's size smaller: ratios of 2, 4 and 16 within a fifth and a third.
    low, high = {1: (1.7, 2.4), 2: (3.3, 4.8), 4: (11.0, 24.0)}[order]
    assert low < ratio < high


@pytest.mark.parametrize("name", ["serial chain", "flying arm"])
def test_a_continuous_law_is_asked_at_every_stage_so_that_the_order_is_kept(name):
    robot = ROBOTS[name]
    q, v, force = start(robot)

    def controller(t, q, v):
        return force * np.cos(3 * t) - 0.05 * v

    def run(steps):
        return torsor.simulate(robot, q, v, duration=0.2, dt=0.2 / steps, controller=controller, control_dt=0)

    exact = run(80)
    assert 11.0 < error(robot, run(5), exact) / error(robot, run(10), exact) < 24.0


@pytest.mark.compiled
def test_variational_steps_of_a_long_robot_and_a_base_that_is_moved():
    robot = torsor.robots.random_tree(14, seed=3, kinds=("revolute",), serial=True)
    q, v, _ = torsor.random_state(robot, seed=1)
    settings = {"duration": 0.005, "dt": 2.5e-4, "within_limits": False}
    long = torsor.simulate(robot, q, 0.1 * v, method="variational", **settings)
    exact = torsor.simulate(robot, q, 0.1 * v, **settings)
    assert error(robot, long, exact) < 1e-3  # of second order
    assert largest(long.energy - long.energy[0]) < 1e-3 * largest(long.kinetic)
    with pytest.raises(torsor.ArgumentError, match="base_motion"):
        torsor.simulate(robot, q, v, method="variational", base_motion=(np.zeros(6), np.zeros(6)), **settings)


# Energy


@pytest.mark.parametrize("name", ROBOTS)
def test_rk4_keeps_the_energy_without_friction_and_force(name):
    robot = ROBOTS[name]
    q, v, _ = start(robot)
    drifts = []
    for steps in (10, 20):
        energy = torsor.simulate(robot, q, v, duration=0.2, dt=0.2 / steps, method="rk4").energy
        drifts.append(largest(energy - energy[0]) / largest(energy))
    assert drifts[0] < 1e-4
    assert drifts[1] < max(drifts[0] / 10, 1e-12)  # fourth order: by 16


@given(cases(robots(most=3, friction=True, mimic=False), batches=((),)))
@settings(max_examples=8)
def test_friction_takes_energy_away(case):
    robot, q, v, _, _ = case
    # Viscous friction alone: Coulomb's jumps where a joint stops, and no step size resolves a jump.
    robot = robot.with_parameters(coulomb_friction=0.0 * robot.parameters.coulomb_friction)
    run = torsor.simulate(robot, q, v, duration=0.02, dt=0.002, method="rk4")
    loss = torsor.friction_forces(robot, run.v) * run.v
    assert np.all(loss.sum(-1) >= 0)
    # Simpson's rule over pairs of steps: what friction took is what the energy lost, to fourth order.
    power = loss.sum(-1)
    taken = (power[0:-2:2] + 4 * power[1:-1:2] + power[2::2]) * 0.002 / 3
    lost = run.energy[0:-2:2] - run.energy[2::2]
    assert_close(lost, taken, 1e-5, scale=0.002 * largest(power))
    assert run.energy[-1] < run.energy[0]


@given(cases(robots(most=3, friction=True, mimic=False), batches=((),)))
@settings(max_examples=8)
def test_work_of_the_torques_and_friction_is_the_change_of_energy(case):
    robot, q, v, _, _ = case
    robot = robot.with_coulomb_width(10.0)  # smooth, so that the work integral is too
    tau, step = case.tau(), 0.002
    run = torsor.simulate(robot, q, v, duration=5 * 2 * step, dt=step, tau=tau, method="rk4")
    power = ((tau - torsor.friction_forces(robot, run.v)) * run.v).sum(-1)
    work = (power[0:-2:2] + 4 * power[1:-1:2] + power[2::2]).sum() * step / 3
    # Both are of fourth order in 0.002 s times accelerations of up to a hundred: (0.2)⁴ of a small work.
    assert_close(run.energy[-1] - run.energy[0], work, 1e-5)


@pytest.mark.parametrize("name", ["free body", "flying arm"])
def test_a_floating_robot_keeps_its_momentum(name):
    robot = ROBOTS[name].with_gravity((0, 0, 0))
    q, v, _ = start(robot)
    run = torsor.simulate(robot, q, v, duration=0.2, dt=0.005, method="rk4")
    momentum = torsor.dynamics.spatial_momentum(robot, run.q, run.v)
    # Fourth order: 40 steps of (0.005 · |ω|)⁵ with |ω| of a few rad/s.
    assert_close(momentum, np.broadcast_to(momentum[0], momentum.shape), 1e-7)


# What a trajectory is


@given(one_state, methods, st.integers(0, 4))
def test_a_trajectory_records_its_states_forces_and_energies(case, method, steps):
    robot, q, v, _, _ = case
    tau, step = case.tau(), 0.01
    run = torsor.simulate(robot, q, v, duration=steps * step, dt=step, tau=tau, method=method)
    assert_close(run.time, step * np.arange(steps + 1))
    assert run.q.shape == (steps + 1, robot.nq) and run.v.shape == (steps + 1, robot.nv)
    assert_close(run.q[0], q, 0.0)
    assert_close(run.v[0], v, 0.0)
    assert_close(run.tau, np.broadcast_to(tau, (steps + 1, robot.nv)), 0.0)
    assert_close(run.kinetic, torsor.kinetic_energy(robot, run.q, run.v))
    assert_close(run.potential, torsor.potential_energy(robot, run.q))
    assert_close(run.energy, run.kinetic + run.potential, 0.0)


@given(one_state, methods)
def test_no_time_means_no_motion(case, method):
    robot, q, v, _, _ = case
    run = torsor.simulate(robot, q, v, duration=0.0, dt=0.01, method=method)
    assert_close(run.time, [0.0], 0.0)
    assert_close(run.q, q[None], 0.0)
    assert_close(run.v, v[None], 0.0)
    assert run.tau.shape == (1, robot.nv)


@given(one_state)
def test_one_step_is_what_its_method_says(case):
    robot, q, v, _, _ = case
    tau, h = case.tau(), 0.01
    a = torsor.forward_dynamics(robot, q, v, tau)
    for method, mean in (("euler", v), ("semi_implicit_euler", v + h * a)):
        run = torsor.simulate(robot, q, v, duration=h, dt=h, tau=tau, method=method)
        assert_close(run.v[1], v + h * a)
        assert_close(run.q[1], torsor.integrate(robot, q, mean, h))


@given(one_state, methods)
def test_constant_torques_may_be_given_in_three_ways(case, method):
    robot, q, v, _, _ = case
    tau, steps, step = case.tau(), 3, 0.01

    def run(**drive):
        return torsor.simulate(robot, q, v, duration=steps * step, dt=step, method=method, **drive)

    constant = run(tau=tau)
    for other in (run(tau=np.tile(tau, (steps, 1))), run(controller=lambda t, q, v: tau)):
        for name in ("time", "q", "v", "a", "tau"):
            assert_close(getattr(other, name), getattr(constant, name), 0.0)


@given(one_state, methods)
def test_no_torques_are_torques_of_zero(case, method):
    robot, q, v, _, _ = case
    runs = [
        torsor.simulate(robot, q, v, duration=0.03, dt=0.01, method=method, tau=torques)
        for torques in (None, np.zeros(robot.nv))
    ]
    for name in ("time", "q", "v", "a", "tau"):
        assert_close(getattr(runs[0], name), getattr(runs[1], name), 0.0)


@given(one_state, methods)
def test_torques_per_step_are_one_simulation_after_another(case, method):
    robot, q, v, _, rng = case
    tau, step = rng.normal(size=(3, robot.nv)), 0.01
    whole = torsor.simulate(robot, q, v, duration=0.03, dt=step, tau=tau, method=method)
    for k in range(3):
        part = torsor.simulate(robot, whole.q[k], whole.v[k], duration=step, dt=step, tau=tau[k], method=method)
        # A variational step begins its iterations with the motion of the steps before
        assert_close(part.q[1], whole.q[k + 1], 1e-8 if method == "variational" else 0.0)
        assert_close(part.v[1], whole.v[k + 1], 1e-6 if method == "variational" else 0.0)


@given(cases(small_robots, batches=((1,), (3,), (2, 2), (0,))), methods)
def test_a_batch_of_motions_is_each_motion_alone(case, method):
    robot, q, v, _, rng = case
    steps, step = 2, 0.01
    wrenches = {"tool": rng.normal(size=(*case.batch, 6))}
    tau = rng.normal(size=(*case.batch, steps, robot.nv))
    settings = {"duration": steps * step, "dt": step, "method": method}
    together = torsor.simulate(robot, q, v, tau=tau, wrenches=wrenches, **settings)
    assert together.q.shape == (*case.batch, steps + 1, robot.nq)
    assert together.tau.shape == (*case.batch, steps + 1, robot.nv)
    assert together.energy.shape == (*case.batch, steps + 1)
    for i in np.ndindex(case.batch):
        push = {"tool": wrenches["tool"][i]}
        alone = torsor.simulate(robot, q[i], v[i], tau=tau[i], wrenches=push, **settings)
        for mine, its in ((alone.q, together.q), (alone.v, together.v), (alone.energy, together.energy)):
            assert_close(its[i], mine, 1e-9)  # light links lose digits in the order of summation


@given(cases(small_robots, batches=((3,),)), methods)
def test_constant_torques_may_differ_over_a_batch(case, method):
    """As documented: ``tau`` (..., nv) constant."""
    robot, q, v, _, _ = case
    tau = case.tau()
    run = torsor.simulate(robot, q, v, duration=0.02, dt=0.01, tau=tau, method=method)
    assert_close(run.tau, np.stack([tau, tau, tau], axis=-2), 0.0)


@given(one_state)
def test_wrenches_act_as_their_joint_forces_do_at_the_start(case):
    robot, q, v, _, rng = case
    F = rng.normal(size=6)
    tau = times(transposed(torsor.body_jacobian(robot, q, "tool")), F)
    pushed = torsor.simulate(robot, q, v, duration=0.01, dt=0.01, method="euler", wrenches={"tool": F})
    driven = torsor.simulate(robot, q, v, duration=0.01, dt=0.01, method="euler", tau=tau)
    assert_close(pushed.v, driven.v, 1e-9)  # digits lost in solving with M, as above


# The book's algorithms

one_number = cases(robots(kinds=ONE_NUMBER, most=3, mimic=False, friction=False), batches=((),))


@given(one_number)
def test_the_books_trajectory_is_the_euler_method(case):
    robot, q, v, _, rng = case
    torques = rng.normal(size=(3, robot.nv))
    qs, vs = torsor.papers.euler_trajectory(robot, q, v, torques, 0.01)
    run = torsor.simulate(robot, q, v, duration=0.03, dt=0.01, tau=torques, method="euler")
    # Two algorithms solve with M; its condition number, up to 1e4 here, costs digits in each of three steps.
    assert_close(qs, run.q, 1e-10)
    assert_close(vs, run.v, 1e-10)


@given(cases(robots(mimic=False)))
def test_the_books_acceleration_has_the_tip_push_the_environment(case):
    robot, q, v, _, rng = case
    tau, F = case.tau(), rng.normal(size=(*case.batch, 6))
    book = torsor.papers.joint_acceleration(robot, q, v, tau, F_tip=F, frame="tool")
    ours = torsor.papers.factorised_acceleration(robot, q, v, tau, wrenches={"tool": -F})
    # Accelerations of light links are large differences of larger terms: digits go with the condition of M.
    assert_close(book, ours, 1e-10)
