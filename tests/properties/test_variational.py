"""The variational step and the implicit midpoint rule: orders, what they conserve, forces, friction of any size, long robots."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest
from property_strategies import ONE_NUMBER

import torsor
from torsor.simulation import variational_run
from torsor.simulation.steps.implicit_midpoint import solved_midpoint
from torsor.simulation.steps.rate import Rate
from torsor.simulation.steps.rk4 import rk4
from torsor.simulation.steps.variational import variational_start, variational_step
from torsor.simulation.variational_run import run_variational

KINDS = (*ONE_NUMBER, "planar", "spherical", "free")


def chain_of(*kinds, **effects):
    """A random chain with joints of these kinds, each once."""
    chains = (torsor.robots.random_tree(len(kinds), seed=k, kinds=kinds, serial=True, **effects) for k in count())
    return next(robot for robot in chains if set(robot.structure.kinds) == set(kinds))


def without_coulomb(robot):
    p = robot.parameters
    return torsor.Robot(robot.structure, p._replace(coulomb_friction=np.zeros(robot.nv)))


def weightless_arm():
    """A free hull with an arm of three joints."""
    hull = torsor.Inertia.box((0.3, 0.2, 0.4), mass=2.0)
    joints = [torsor.Joint(name="float", kind="free", link="link_0", inertia=hull)]
    for k, axis in enumerate(np.eye(3), 1):
        joints.append(
            torsor.Joint(
                name=f"joint_{k}",
                kind="revolute",
                parent=f"link_{k - 1}",
                link=f"link_{k}",
                axis=axis,
                pose=torsor.pose_from((0.1, 0.05, 0.3)),
                inertia=torsor.Inertia.box((0.1, 0.2, 0.3), mass=1.0 / k, com=(0.0, 0.1, 0.2)),
            )
        )
    return torsor.assemble(joints, gravity=(0.0, 0.0, 0.0))


def drives(t, q, v):
    return np.sin(3.0 * t) + np.zeros_like(v) - 0.3 * v


def moved(robot, q, v, duration, steps, force=drives, midpoint=False):
    """q, v after so many steps, the worst residual and the most iterations."""
    t, h = np.asarray(0.0), np.asarray(duration / steps)
    memory, worst, most = variational_start(robot, q, v), 0.0, 0.0

    def rate(t, q, v):
        return Rate(torsor.forward_dynamics(robot, q, v, force(t, q, v)), v)

    for _ in range(steps):
        if midpoint:
            stepped, residual = solved_midpoint(robot, rate, t, q, v, h)
            q, v = stepped.q, stepped.v
        else:
            stepped = variational_step(robot, force, t, q, v, memory, h)
            q, v, memory, residual, iterations = stepped
            most = max(most, iterations.max())
        worst, t = max(worst, residual.max()), t + h
    return q, v, worst, most


def energy(robot, q, v):
    return torsor.kinetic_energy(robot, q, v) + torsor.potential_energy(robot, q)


def distance(robot, q, v, q_want, v_want):
    return max(np.abs(torsor.difference(robot, q_want, q)).max(), np.abs(v - v_want).max())


def small_steps(robot, q, v, duration, force, steps=40):
    """Where RK4 goes, with small steps."""
    t, h = np.asarray(0.0), np.asarray(duration / steps)
    for _ in range(steps):
        stepped = rk4(robot, lambda t, q, v: Rate(torsor.forward_dynamics(robot, q, v, force(t, q, v)), v), t, q, v, h)
        q, v, t = stepped.q, stepped.v, t + h
    return q, v


@pytest.mark.parametrize("kind", KINDS)
def test_both_are_of_second_order_for_every_joint_kind(kind):
    robot = without_coulomb(chain_of(*{kind: None, "revolute": None}, armature=True, friction=True, springs=True))
    q, v, _ = torsor.random_state(robot, seed=1)
    want = small_steps(robot, q, 0.5 * v, 0.08, drives)
    for midpoint in (False, True):
        found = [moved(robot, q, 0.5 * v, 0.08, steps, midpoint=midpoint) for steps in (4, 8)]
        errors = [distance(robot, *end[:2], *want) for end in found]
        assert 1.9 < np.log2(errors[0] / errors[1]) < 2.1
        assert max(worst for _, _, worst, _ in found) < 1e-12
        assert max(most for *_, most in found) <= 4


@pytest.mark.parametrize("effects", [{}, {"mimic": True}], ids=["tree", "mimic"])
def test_trees_and_mimic_joints(effects):
    robot = torsor.robots.random_tree(5, seed=4, **effects)
    q, v, _ = torsor.random_state(robot, seed=1)
    want = small_steps(robot, q, 0.5 * v, 0.04, drives)
    errors = [distance(robot, *moved(robot, q, 0.5 * v, 0.04, steps)[:2], *want) for steps in (4, 8)]
    assert 1.9 < np.log2(errors[0] / errors[1]) < 2.1


@pytest.mark.compiled
def test_momentum_of_a_floating_arm_is_conserved():
    robot = weightless_arm()
    q, v, _ = torsor.random_state(robot, seed=3)
    run = run_variational(robot, q, v, dt=0.01, steps=4000, every=10)
    momenta = torsor.dynamics.spatial_momentum(robot, run.q, run.v)
    size = np.linalg.norm(momenta[0]) + np.abs(run.q[:, :3]).max() * np.linalg.norm(momenta[0, 3:])
    assert np.abs(momenta - momenta[0]).max() < 2e-13 * size
    energies = torsor.kinetic_energy(robot, run.q, run.v)
    assert np.ptp(energies) < 0.02 * energies[0]


@pytest.mark.parametrize("kind", KINDS)
def test_it_goes_back_the_way_it_came(kind):
    robot = chain_of(*{kind: None, "revolute": None})
    q, v, _ = torsor.random_state(robot, seed=2)
    there = moved(robot, q, v, 0.2, 10, force=lambda t, q, v: 0.5 + 0.0 * v)
    back = moved(robot, there[0], -there[1], 0.2, 10, force=lambda t, q, v: 0.5 + 0.0 * v)
    assert distance(robot, back[0], -back[1], q, v) < 1e-10 * max(1.0, np.abs(v).max())


@pytest.mark.compiled
def test_energy_stays_in_a_band():
    robot = torsor.robots.chain(3)
    q, v = np.array([0.3, 1.5, -0.4]), np.array([0.1, 0.0, 0.2])
    run = run_variational(robot, q, v, dt=0.01, steps=50_000, every=5)
    energies = energy(robot, run.q, run.v)
    tenth = len(energies) // 10
    assert np.ptp(energies) < 0.2
    assert abs(energies[-tenth:].mean() - energies[:tenth].mean()) < 1e-3
    assert run.iterations.max() <= 4
    assert run.residual.max() < 1e-6  # where it swings through a singular pose
    assert np.median(run.residual) < 1e-14


@pytest.mark.compiled
@pytest.mark.parametrize("size", [1.0, 1e3, 1e9])
def test_viscous_friction_of_any_size_is_stable(size):
    robot = torsor.robots.chain(3)
    damped = torsor.Robot(robot.structure, robot.parameters._replace(viscous_friction=np.full(3, size)))
    q, v = np.array([0.3, 0.5, -0.4]), np.array([3.0, -2.0, 1.0])
    run = run_variational(damped, q, v, dt=0.01, steps=200)
    energies = energy(damped, run.q, run.v)
    assert np.all(np.diff(energies) < 1e-9 * energies[0])
    # What is left is creeping under gravity: D v = −g(q)
    slow = -torsor.gravity_forces(damped, run.q[-1]) / size
    assert size == 1.0 or np.allclose(run.v[-1], slow, rtol=1e-2, atol=1e-3 * np.abs(slow).max())


def test_a_pendulum_and_a_free_fall():
    pendulum = torsor.robots.chain(1)
    run = run_variational(pendulum, [0.2], [1.0], dt=0.01, steps=10)  # about a vertical axis nothing pulls
    assert np.allclose(run.q[:, 0], 0.2 + run.time, atol=1e-13)
    stone = torsor.assemble([torsor.Joint(name="fall", kind="free", inertia=torsor.Inertia.sphere(0.1, mass=2.0))])
    q, v = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.0, 1.0, 0.0, 2.0])
    run = run_variational(stone, q, v, dt=0.1, steps=20)
    fallen = 1.0 + 2.0 * run.time - 0.5 * 9.81 * run.time**2
    assert np.allclose(run.q[:, 2], fallen, atol=1e-3)


@pytest.mark.compiled
def test_sixty_joints_and_the_loop_over_iterations(monkeypatch):
    robot = torsor.robots.chain(60)
    rng = np.random.default_rng(0)
    q, v = rng.uniform(-0.5, 0.5, 60), rng.uniform(-0.2, 0.2, 60)
    run = run_variational(robot, q, v, dt=1e-3, steps=50)
    assert run.iterations.max() <= 4
    assert run.residual.max() < 1e-12
    energies = energy(robot, run.q, run.v)
    assert np.ptp(energies) < 1e-3 * energies[0]
    small = torsor.robots.chain(3)
    whole = run_variational(small, q[:3], v[:3], dt=0.01, steps=30, tau=[0.1, 0.2, -0.1])
    monkeypatch.setattr(variational_run, "WHOLE_STEP", 0)
    parts = run_variational(small, q[:3], v[:3], dt=0.01, steps=30, tau=[0.1, 0.2, -0.1])
    assert np.allclose(whole.q, parts.q, atol=1e-12)
    assert np.allclose(whole.v, parts.v, atol=1e-10)


@pytest.mark.compiled
def test_a_batch_is_many_runs_and_every_thins_them():
    robot = torsor.robots.chain(2)
    q, v = np.random.default_rng(0).uniform(-1.0, 1.0, (2, 5, 2))
    batch = run_variational(robot, q, v, dt=0.01, steps=20, tau=[0.1, -0.2])
    assert batch.q.shape == (5, 21, 2)
    one = run_variational(robot, q[3], v[3], dt=0.01, steps=20, tau=[0.1, -0.2], every=5)
    assert np.allclose(one.q, batch.q[3, ::5], atol=1e-13)
    assert np.allclose(one.time, batch.time[::5])


def test_midpoint_keeps_strong_friction_stable():
    robot = torsor.robots.chain(2)
    damped = torsor.Robot(robot.structure, robot.parameters._replace(viscous_friction=np.full(2, 1e6)))
    q, v = np.array([0.3, 0.5]), np.array([1.0, -1.0])
    _, v_end, residual, _ = moved(damped, q, v, 0.2, 10, force=lambda t, q, v: 0.0 * v, midpoint=True)
    assert np.abs(v_end).max() <= 1.01
    assert residual < 1e-6
