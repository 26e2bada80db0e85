"""Eleven formulations, one torque: each historical road gives what `inverse_dynamics` gives.

Tolerance. 1e-11 of the largest torque (or of 1): some roads add up n³ terms that cancel; measured: 7e-15.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import torsor
from torsor import ModelError
from torsor.papers import formulations
from torsor.papers.formulations import FORMULATIONS

TOLERANCE = 1e-11
SCREWS = ("revolute", "prismatic", "helical")
BATCHES = ((), (1,), (3,), (2, 2), (0,))
NAMES = list(FORMULATIONS)


def assert_same(actual: np.ndarray, expected: np.ndarray) -> None:
    assert actual.shape == expected.shape
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=TOLERANCE * scale)


@st.composite
def robots(draw: st.DrawFn) -> torsor.Robot:
    """Chains and trees of revolute, prismatic and helical joints with every effect a robot can have."""
    flags = {name: draw(st.booleans()) for name in ("serial", "mimic", "friction", "armature", "fixed")}
    kinds = draw(st.sampled_from([SCREWS, SCREWS, *((kind,) for kind in SCREWS)]))
    return torsor.robots.random_tree(draw(st.integers(1, 6)), seed=draw(st.integers(0, 2**20)), kinds=kinds, **flags)


def wrenches(robot: torsor.Robot, batch: tuple[int, ...], rng: np.random.Generator) -> dict[str, np.ndarray]:
    names = rng.choice(robot.frames, size=min(3, len(robot.frames)), replace=False)
    return {str(name): rng.normal(size=(*batch, 6)) for name in names}


@settings(max_examples=40, deadline=None)
@given(robots(), st.sampled_from(BATCHES), st.integers(0, 2**20), st.booleans())
def test_every_formulation_gives_the_torque(robot, batch, seed, loaded):
    """Gravity, loads on frames, armature, friction, joints that follow others, batches and empty batches."""
    rng = np.random.default_rng(seed)
    q, v, a = torsor.random_state(robot, seed=rng, batch=batch)
    loads = wrenches(robot, batch, rng) if loaded else None
    expected = torsor.inverse_dynamics(robot, q, v, a, wrenches=loads)
    for formulation in FORMULATIONS.values():
        assert_same(formulation.function(robot, q, v, a, wrenches=loads), expected)


@pytest.mark.parametrize("name", NAMES)
def test_massless_links_and_point_masses_are_fine(name):
    """Several freedoms in one place, as Silver models them: links of zero mass and length [Sil81, §1]."""
    poses = [torsor.pose_from((0.1 * k, 0.2, 0.0), (0.3, 0.1 * k, 0.2)) for k in range(4)]
    bodies = [torsor.Inertia.zero(), torsor.Inertia.zero(), torsor.Inertia.particles([0.5], [[0.1, 0.2, 0.3]])]
    bodies.append(torsor.Inertia.cylinder(0.05, 0.3, mass=1.0, com=(0.0, 0.0, 0.15)))
    joints = [
        torsor.Joint(name=f"j{k}", kind="revolute", parent=f"l{k - 1}" if k else "base", link=f"l{k}", pose=T, axis=axis,
                     inertia=body)
        for k, (T, body, axis) in enumerate(zip(poses, bodies, np.eye(3)[[2, 0, 1, 2]], strict=True))
    ]  # fmt: skip
    robot = torsor.assemble(joints)
    state = torsor.random_state(robot, seed=4)
    assert_same(FORMULATIONS[name].function(robot, *state), torsor.inverse_dynamics(robot, *state))


@pytest.mark.parametrize(
    "make", [torsor.robots.panda, torsor.robots.puma560, torsor.robots.ur5], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("name", NAMES)
def test_on_real_arms(make, name):
    robot = make()
    state = torsor.random_state(robot, seed=1981)
    assert_same(FORMULATIONS[name].function(robot, *state), torsor.inverse_dynamics(robot, *state))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("jax_in_doubles")
def test_in_jax(name):
    robot = torsor.robots.random_tree(4, seed=7, kinds=SCREWS, friction=True, armature=True)
    state = torsor.random_state(robot, seed=7)
    actual = FORMULATIONS[name].function(robot, *(jnp.asarray(x) for x in state))
    assert isinstance(actual, jnp.ndarray)
    assert_same(np.asarray(actual), torsor.inverse_dynamics(robot, *state))


@pytest.mark.parametrize(
    "name", ["uicker_kahn_accelerations", "hollerbach_3x3", "luh_walker_paul", "silver", "silver_recursive", "kool"]
)
def test_compiled(name):
    """`torsor.compile` takes them as any function, also with the robot's inertias as inputs."""
    robot = torsor.robots.random_tree(4, seed=11, kinds=SCREWS, friction=True, armature=True).with_coulomb_width(0.3)
    q, v, a = torsor.random_state(robot, seed=11)
    expected = torsor.inverse_dynamics(robot, q, v, a)
    shapes = {"q": robot.nq, "v": robot.nv, "a": robot.nv}
    assert_same(torsor.compile(FORMULATIONS[name].function, robot, shapes)(q=q, v=v, a=a), expected)
    varied = torsor.compile(FORMULATIONS[name].function, robot, shapes, parameters=("inertias",))
    heavier = robot.with_parameters(inertias=2.0 * robot.parameters.inertias)
    actual = varied(q=q, v=v, a=a, inertias=heavier.parameters.inertias)
    assert_same(actual, torsor.inverse_dynamics(heavier, q, v, a))


@pytest.mark.parametrize("kind", ["planar", "spherical", "free"])
@pytest.mark.parametrize("name", NAMES)
def test_joints_with_several_freedoms_are_refused_by_name(name, kind):
    robot = torsor.robots.random_tree(2, seed=3, kinds=(kind,))
    with pytest.raises(ModelError, match=rf"^{name}: joint 'joint_0' .* is {kind}.*torsor.inverse_dynamics"):
        FORMULATIONS[name].function(robot, *torsor.random_state(robot, seed=0))


def test_kool_energy_gradient_of_trees_and_followers():
    """∂E/∂q by differences of the kinetic energy: a step of 1e-5 leaves 1e-10 times a third derivative."""
    robot = torsor.robots.random_tree(5, seed=12, kinds=SCREWS, mimic=True)
    q, v, _ = torsor.random_state(robot, seed=12)
    step = 1e-5 * np.eye(robot.nq)
    expected = [(torsor.kinetic_energy(robot, q + e, v) - torsor.kinetic_energy(robot, q - e, v)) / 2e-5 for e in step]
    np.testing.assert_allclose(formulations.kool_energy_gradient(robot, q, v), expected, atol=1e-7)


@settings(max_examples=15, deadline=None)
@given(robots(), st.sampled_from(BATCHES), st.integers(0, 2**20))
def test_velocity_columns_are_those_of_the_mixed_jacobians(robot, batch, seed):
    """∂v_i/∂q̇_j and ∂ω_i/∂q̇_j of the centres of mass, and their rates, on trees with followers."""
    q, v, _ = torsor.random_state(robot, seed=seed, batch=batch)
    columns = formulations.angular_velocity.velocity_columns(robot, q)
    rates = formulations.angular_velocity.velocity_column_rates(robot, q, v)
    for i, link in enumerate(robot.links):
        marked = robot.with_frame("centre", link, torsor.pose_from(robot.inertia(link).com))
        for pair, expected in (
            (columns, torsor.mixed_jacobian(marked, q, "centre")),
            (rates, torsor.kinematics.mixed_jacobian_rate(marked, q, v, "centre")),
        ):
            both = np.concatenate([pair.angular[..., i, :, :], pair.linear[..., i, :, :]], axis=-2)
            assert_same(np.broadcast_to(both, expected.shape), expected)


def test_the_table_is_complete():
    public = {name for name in vars(formulations) if name in NAMES}
    assert public == set(NAMES)
    for name, formulation in FORMULATIONS.items():
        assert formulation.function is getattr(formulations, name)
        assert formulation.title and formulation.source.startswith("[")
        assert formulation.core.__name__ == formulation.function.__name__ == name
