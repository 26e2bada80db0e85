"""Robots and bodies are built from numbers that JAX differentiates or `torsor.compile` traces: lengths, masses, DH rows, screws.

The truth is central differences of the same builders with plain numbers; a step of 1e-5 leaves 1e-10 of a third derivative of
some units, and 1e-16/1e-5 of rounding.
"""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import torsor
from torsor import Inertia, Joint, lie

pytestmark = pytest.mark.usefixtures("jax_in_doubles")
STEP, DIFFERENCES = 1e-5, 1e-8
Q = np.array([0.4, -0.7, 0.9])


def differences(function, x):
    """Derivative by the numbers x (k,), last axis."""
    ends = [[np.asarray(function(x + sign * STEP * e)) for e in np.eye(len(x))] for sign in (1, -1)]
    return np.stack([(up - down) / (2 * STEP) for up, down in zip(*ends, strict=True)], axis=-1)


BODIES = {
    "point": (lambda x: Inertia.point(x[0], x[1:4]), 4),
    "particles": (lambda x: Inertia.particles(x[:2], [[x[2], 0.1, 0.2], [0.3, x[3], -0.1]]), 4),
    "box": (lambda x: Inertia.box(x[:3], mass=x[3], com=(x[4], 0.0, x[5])), 6),
    "box by density": (lambda x: Inertia.box([x[0], 0.2, x[1]], density=x[2]), 3),
    "sphere": (lambda x: Inertia.sphere(x[0], mass=x[1]), 2),
    "ellipsoid": (lambda x: Inertia.ellipsoid(x[:3], density=x[3]), 4),
    "cylinder": (lambda x: Inertia.cylinder(x[0], x[1], density=x[2], axis="y"), 3),
    "capsule": (lambda x: Inertia.capsule(x[0], x[1], mass=x[2], com=x[3:6], axis="x"), 6),
    "by its numbers": (lambda x: Inertia(x[0], x[1:4], jnp.diag(x[4:7]) if namespace(x) else np.diag(x[4:7])), 7),
    "a sum": (lambda x: Inertia.box(x[:3], mass=1.0) + Inertia.sphere(x[3], mass=x[4], com=(0.1, x[5], 0.2)), 6),
    "moved": (lambda x: Inertia.box(x[:3], mass=2.0).moved(torsor.pose_from(x[3:6], [x[0], 0.2, x[1]])), 6),
}


def namespace(x):
    return not isinstance(x, np.ndarray)


def test_bodies_are_differentiated_by_their_sizes(same):
    """Along one direction each, all in one program: JAX takes longer to compile than to compute."""
    at = {name: np.linspace(0.3, 0.5, count) for name, (_, count) in BODIES.items()}
    along = {name: np.random.default_rng(0).normal(size=x.shape) for name, x in at.items()}

    def rows(at):
        return {name: BODIES[name][0](x).row for name, x in at.items()}

    slopes = jax.jit(lambda at, along: jax.jvp(rows, (at,), (along,))[1])(at, along)
    for name, (make, _) in BODIES.items():
        want = differences(lambda t, f=make, name=name: f(at[name] + t[0] * along[name]).row, np.zeros(1))[..., 0]
        assert np.any(want)
        same(slopes[name], want, DIFFERENCES)


def body(k):
    return Inertia.box((0.1, 0.2, 0.3), mass=1.0 + k, com=(0.1, 0.0, -0.2))


def dh(x, convention):
    rows = [(x[0], x[1], x[2], x[3]), (x[4], 0.3, 0.1, x[5], True), torsor.DHRow(a=0.2, alpha=-0.4, d=x[6])]
    return torsor.dh_chain(
        rows, [body(k) for k in range(3)], convention=convention, tip=torsor.pose_from((x[0], 0, 0.1))
    )


def screws(x):
    axes = lie.se3.exp(np.random.default_rng(0).normal(size=(3, 6)))
    plain = [[0, 0, 1.0, 0, 0, 0], [0, 0, 0, 0, 1.0, 0], [0, 1.0, 0, 0.1, 0.2, 0]]
    moved = [lie.transform_twist(T, np.array(S)) for T, S in zip(axes, plain, strict=True)]  # revolute up to rounding
    # lengths, a pitch and a direction change with x
    S = [moved[0] * (1.0 + x[0]), moved[1] + x[1] * moved[1][[0, 1, 2, 4, 5, 3]], moved[2] * x[2]]
    homes = [axes[0], torsor.pose_from((x[3], x[4], 0.1), (0.1, x[5], 0.3)), axes[2]]
    kinds = ["revolute", "prismatic", "helical"]
    return torsor.serial_chain(S, homes, [body(k) for k in range(3)], gravity=[0.0, x[6], -9.0], kinds=kinds)


def joints(x):
    return torsor.assemble(
        [
            Joint(name="turn", kind="revolute", axis=[x[0], 0.2, 1.0], pose=torsor.pose_from((x[1], 0, 0)), link="one"),
            Joint(name="slide", kind="prismatic", axis=(x[2], 1.0, 0.0), parent="one", link="two", armature=x[3]),
            Joint(name="plate", kind="fixed", parent="two", link="plate", pose=torsor.pose_from((0, x[4], 0)), inertia=body(1)),
            Joint(
                name="screw", kind="helical", axis=[0.3, x[5], 1.0], pitch=x[6], parent="two", inertia=body(2),
                viscous_friction=x[0],
            ),
        ],
        frames={"tip": ("screw_link", torsor.pose_from((x[0], x[1], 0.2)))},
    ).with_frame("beyond", "tip", torsor.pose_from((0, x[3], 0)))  # fmt: skip


ROBOTS = {
    "planar_chain": (lambda x: torsor.robots.planar_chain(x[:3], x[3:6]), 6),
    "chain": (lambda x: torsor.robots.chain(3, mass=x[0], length=x[1], radius=x[2]), 3),
    "DH, standard": (lambda x: dh(x, "standard"), 7),
    "DH, modified": (lambda x: dh(x, "modified"), 7),
    "serial_chain": (screws, 7),
    "assemble": (joints, 7),
}


def numbers(robot):
    """All that a robot is made of; screws as long as its coordinates are fast."""
    p, ratios = robot.parameters, np.array([coupling.ratio for coupling in robot.structure.couplings])
    return {**p._asdict(), "screws": p.screws * ratios[:, None]}


def test_robots_are_differentiated_by_what_they_are_built_from(same):
    """Their numbers, along one direction each."""
    at = {name: np.linspace(0.3, 0.6, count) for name, (_, count) in ROBOTS.items()}
    along = {name: np.random.default_rng(1).normal(size=x.shape) for name, x in at.items()}

    def built(at):
        return {name: numbers(ROBOTS[name][0](x)) for name, x in at.items()}

    values, slopes = jax.jit(lambda at, along: jax.jvp(built, (at,), (along,)))(at, along)
    for name, (make, _) in ROBOTS.items():
        for group, plain in numbers(make(at[name])).items():
            same(values[name][group], plain, 1e-13, scale=max(1.0, np.abs(plain).max()))

            def moved(t, f=make, name=name, group=group):
                return numbers(f(at[name] + t[0] * along[name]))[group]

            same(slopes[name][group], differences(moved, np.zeros(1))[..., 0], DIFFERENCES, scale=1.0)


@pytest.mark.parametrize("name", ["serial_chain", "assemble"])
def test_kernels_and_their_derivatives_build_robots_too(name, same):
    """Of lengths that are inputs: every joint kind, screws of any length."""
    make, count = ROBOTS[name]
    x = np.linspace(0.3, 0.6, count)

    def forces(robot, x):
        return {"tau": torsor.inverse_dynamics(make(x), Q, 0.5 * Q, -Q)}

    some = torsor.robots.planar2r()
    same(torsor.compile(forces, some, {"x": count})(x), forces(some, x)["tau"], 1e-12)
    slope = torsor.derivative(forces, some, {"x": count}, wrt="x")(x)
    same(slope, differences(lambda x: forces(some, x)["tau"], x), DIFFERENCES)


def test_in_reverse_mode_and_in_a_batch(same):
    lengths = np.array([[0.5, 0.4], [1.0, 0.8]])

    def potential(lengths):
        return torsor.potential_energy(torsor.robots.planar_chain(lengths, [1.0, 0.8]), Q[:2])

    found = jax.jit(jax.vmap(jax.value_and_grad(potential)))(lengths)
    same(found[0], [potential(x) for x in lengths], 1e-12)
    same(found[1], [differences(potential, x) for x in lengths], DIFFERENCES)


def test_kinds_are_said_where_they_cannot_be_seen():
    homes, bodies = np.array([np.eye(4)] * 2), [body(0), body(1)]
    S = np.array([[0, 0, 1.0, 0, 0, 0], [0, 0, 0, 1.0, 0, 0]])
    with pytest.raises(torsor.ModelError, match=r"`screws` are traced.*say it: kinds=\['revolute', 'revolute'\]"):
        jax.jit(lambda S: torsor.mass_matrix(torsor.serial_chain(S, homes, bodies), Q[:2]))(S)
    with pytest.raises(torsor.UnknownName, match="`kinds` must be 'revolute', 'prismatic' or 'helical', got 'planar'"):
        torsor.serial_chain(S, homes, bodies, kinds=["revolute", "planar"])
    for wrong in (["revolute"], "revolute"):
        with pytest.raises(torsor.ModelError, match="`kinds` must hold 2 of 'revolute', 'prismatic' and 'helical'"):
            torsor.serial_chain(S, homes, bodies, kinds=wrong)
    with pytest.raises(torsor.ModelError, match=r"joint 'joint_2' is revolute, but its screw .* is prismatic"):
        torsor.serial_chain(S, homes, bodies, kinds=["revolute", "revolute"])
    assert torsor.serial_chain(S, homes, bodies, kinds=["revolute", "prismatic"]) == torsor.serial_chain(
        S, homes, bodies
    )
    with pytest.raises(torsor.ModelError, match="joint 'a': `axis` must be 3 numbers, got shape"):
        jax.jit(lambda x: torsor.assemble([Joint(name="a", kind="revolute", axis=x)]).parameters.screws)(Q[:2])
    with pytest.raises(torsor.ModelError, match="`upper` is traced, but limits are part of a robot's structure"):
        jax.jit(lambda x: torsor.assemble([Joint(name="a", kind="revolute", axis=Q, upper=x)]).gravity)(1.0)
    leader, follower = (Joint(name=name, kind="revolute", axis=Q, inertia=body(0)) for name in "ab")
    with pytest.raises(torsor.ModelError, match=r"ratio and offset of a mimic joint .* cannot be traced"):
        jax.jit(
            lambda x: torsor.assemble([leader, replace(follower, mimic=torsor.Mimic("a", x), parent="a_link")]).gravity
        )(1.0)
    with pytest.raises(torsor.ModelError, match="joint 'a': `axis` must be real numbers, got 'z'"):
        torsor.assemble([Joint(name="a", kind="revolute", axis="z")])
    with pytest.raises(torsor.ModelError, match="only helical joints have a pitch"):
        jax.jit(lambda h: Joint(name="a", kind="revolute", axis=(0, 0, 1), pitch=h).pitch)(0.1)


def test_arrays_of_jax_whose_numbers_are_known_are_plain_numbers():
    """As before: the kinds follow from the screws, and the robot can be hashed."""
    homes, S = jnp.array([jnp.eye(4)] * 2), jnp.array([[0, 0, 1.0, 0, 0, 0], [0, 0, 0, 1.0, 0, 0]])
    robot = torsor.serial_chain(S, homes, [body(0), body(1)])
    assert robot.structure.kinds == ("revolute", "prismatic") and robot.is_concrete
    assert robot == torsor.serial_chain(np.asarray(S), np.asarray(homes), [body(0), body(1)])
