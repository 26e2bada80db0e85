"""NumPy and JAX give one number; JAX's derivatives are those of the NumPy path; a robot is a pytree.

Tolerance. The same operations in the same doubles, but XLA may reorder and fuse them: ROUNDING = 1e-12 of the largest
entry (measured: 3e-15). Derivatives are compared with central differences of the NumPy path. Where the function is a
polynomial of degree two in the variable these are exact for any step, and only rounding is left; elsewhere a step of
1e-5 leaves its square, 1e-10 times a third derivative of some units, and 1e-16/1e-5 of rounding: 1e-8.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import torsor
from torsor import Inertia, Joint, Robot, TorsorError, lie
from torsor.functions.dispatch import PUBLIC, about_of
from torsor.model._assemble import disassemble, frames_of

pytestmark = pytest.mark.usefixtures("jax_in_doubles")

ROUNDING = 1e-12
DIFFERENCES = 1e-8


@cache
def tree() -> Robot:
    """Six links, one of each joint kind, on two branches, with friction (smooth), armature and lumped links."""
    robot = torsor.robots.random_tree(6, seed=55, armature=True, friction=True, fixed=True).with_coulomb_width(0.5)
    assert sorted(robot.structure.kinds) == ["free", "helical", "planar", "prismatic", "revolute", "spherical"]
    assert len(set(robot.structure.parents)) > 2
    return robot


@cache
def chain_of(*kinds: str) -> Robot:
    """A chain of joints of these kinds, few enough to be cheap to compile, with a tool on the last link."""
    rng = np.random.default_rng(4)
    joints = [
        Joint(
            name=f"joint_{k}",
            kind=kind,
            parent="base" if k == 0 else f"link_{k - 1}",
            link=f"link_{k}",
            pose=lie.se3.exp(rng.normal(size=6)),
            axis=rng.normal(size=3) if kind in ("revolute", "prismatic", "helical") else None,
            pitch=0.2 if kind == "helical" else 0.0,
            inertia=Inertia.particles(rng.uniform(0.1, 1.0, 6), rng.normal(scale=0.3, size=(6, 3))),
            armature=0.3,
        )
        for k, kind in enumerate(kinds)
    ]
    tool = (joints[-1].link, lie.se3.exp(rng.normal(size=6)))
    return torsor.assemble(joints, gravity=rng.normal(scale=5.0, size=3), frames={"tool": tool})


def small() -> Robot:
    return chain_of("revolute", "spherical")


def arm() -> Robot:
    """Joints that have a screw."""
    return chain_of("revolute", "helical")


def arguments(robot: Robot, *, seed: int = 0, batch: tuple[int, ...] = ()) -> dict:
    """A value for every argument name that public functions have."""
    rng = np.random.default_rng(seed)
    q, v, a = torsor.random_state(robot, seed=rng, batch=batch)
    return {
        "q": q, "v": v, "a": a, "tau": rng.normal(size=v.shape), "dt": np.array(0.3), "frame": "tool",
        "u": v, "w": a, "w_rate": v - a, "q0": q, "q1": torsor.random_configuration(robot, seed=rng, batch=batch),
        "wrenches": {"tool": rng.normal(size=(*batch, 6)), robot.links[1]: rng.normal(size=(*batch, 6))},
        "base_motion": tuple(rng.normal(size=(2, *batch, 6))), "v_ref": v + a, "a_ref": v - a,
        "q_rate": q[..., ::-1], "weights": v + a, "dq": v, "dv": a, "da": v - a, "dtau": v - a,
        "task": torsor.position_task("tool"), "acceleration": rng.normal(size=3), "forces": rng.normal(size=3),
        "metric": np.eye(robot.nv) + 0.1, "velocity": rng.normal(size=3), "null": a, "damping": np.array(0.3),
        "posture": torsor.random_configuration(robot, seed=rng, batch=batch), "energy": np.array(1e3),
    }  # fmt: skip


def given(function: Callable, values: dict) -> dict:
    """The values a function takes; every argument it has must be among them (an array to write to apart)."""
    names = [name for name in inspect.signature(function).parameters if name not in ("robot", "out")]
    assert set(names) <= set(values), f"no value for {set(names) - set(values)}: add one to `arguments`"
    return {name: values[name] for name in names}


def in_jax(values: object) -> object:
    return jax.tree.map(lambda x: x if isinstance(x, str | torsor.tasks.Task) else jnp.asarray(x), values)


def central(function: Callable, x: np.ndarray, step: float) -> np.ndarray:
    """Derivative by the entries of x, last axis, by central differences."""
    columns = []
    for index in np.ndindex(x.shape):
        nudge = np.zeros(x.shape)
        nudge[index] = step
        columns.append((np.asarray(function(x + nudge)) - np.asarray(function(x - nudge))) / (2 * step))
    return np.stack(columns, axis=-1).reshape((*columns[0].shape, *x.shape))


# The same numbers


# What is the joints' own matter: poses, screws, friction, moving on the manifold. The rest knows no kinds of joints.
FOR_EVERY_KIND = {
    "frame_pose", "body_jacobian", "inverse_dynamics", "friction_forces", "integrate", "difference", "configuration_rate",
    "velocity_of_rate",
}  # fmt: skip
# JAX compiles every operation for every shape, and of tensors for every entry: these come last, after what they share with
# others, for two joints.
IN_ORDER = sorted(PUBLIC, key=lambda name: (about_of(PUBLIC[name]).arrays is not None, name))


@pytest.mark.parametrize("name", IN_ORDER)
def test_a_public_function_gives_the_same_in_numpy_and_jax(name, same):
    tensors = about_of(PUBLIC[name]).arrays is not None
    robot = tree() if name in FOR_EVERY_KIND else arm() if tensors else small()
    values = given(PUBLIC[name], arguments(robot))
    got, want = PUBLIC[name](robot, **in_jax(values)), PUBLIC[name](robot, **values)
    assert isinstance(got, jax.Array | tuple)
    for x, y in zip(*((r if isinstance(r, tuple) else (r,)) for r in (got, want)), strict=True):
        assert isinstance(x, jax.Array)
        assert x.dtype == np.float64
        assert isinstance(y, np.ndarray | np.float64)
        same(x, y, ROUNDING)


def test_the_report_on_a_mass_matrix_reads_jax_arrays():
    q = arguments(tree())["q"]
    here, there = (torsor.dynamics.mass_matrix_report(tree(), x) for x in (q, jnp.asarray(q)))
    assert (there.rank, there.idle_joints) == (here.rank, here.idle_joints) == (tree().nv, ())
    assert there.condition == pytest.approx(here.condition, rel=1e-10)  # a ratio of eigenvalues, some 1e2 to 1e3


@pytest.mark.parametrize(
    ("name", "make"), [("inverse_dynamics", small), ("mass_matrix", small), ("forward_dynamics", arm)]
)
def test_a_compiled_function_gives_the_same(name, make, same):
    values = given(PUBLIC[name], arguments(make()))
    compiled = jax.jit(PUBLIC[name])
    same(compiled(make(), **values), PUBLIC[name](make(), **values), ROUNDING)


@pytest.mark.parametrize("name", ["inverse_dynamics", "body_jacobian_rate"])
def test_mapping_over_states_is_a_batch_of_states(name, same):
    values = given(PUBLIC[name], arguments(arm(), batch=(4,)))
    frame = {"frame": values.pop("frame")} if "frame" in values else {}
    mapped = jax.jit(jax.vmap(lambda state: PUBLIC[name](arm(), **state, **frame)))
    same(mapped(values), PUBLIC[name](arm(), **values, **frame), ROUNDING)


# A robot is a pytree


def test_a_robot_survives_flattening_and_unflattening():
    leaves, shape = jax.tree.flatten(tree())
    assert len(leaves) == len(tree().parameters)
    assert jax.tree.unflatten(shape, leaves) == tree()
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_flatten_with_path(tree())[0]]
    assert paths == [f".{field}" for field in tree().parameters._fields]


def test_mapping_over_the_leaves_of_a_robot_makes_another_robot(same):
    twice = jax.tree.map(lambda leaf: 2.0 * leaf, small())
    assert isinstance(twice, Robot)
    assert twice.structure == small().structure
    same(twice.parameters.inertias, 2.0 * small().parameters.inertias, 0.0)


def test_a_compiled_function_of_the_robot_is_traced_once_per_structure(same):
    traced = []

    @jax.jit
    def energy(robot: Robot, q: jax.Array) -> jax.Array:
        traced.append(robot.name)
        return torsor.potential_energy(robot, q)

    robot = small()
    heavier = robot.with_parameters(inertias=3.0 * robot.parameters.inertias)
    turned = robot.with_gravity((1.0, 2.0, 3.0))
    q = arguments(robot)["q"]
    for one in (robot, heavier, turned, robot):
        same(energy(one, q), torsor.potential_energy(one, q), ROUNDING)
    assert traced == [robot.name]
    other = robot.rename({}, robot="other")
    energy(other, q)
    assert traced == [robot.name, "other"]


def test_a_robot_with_traced_leaves_refuses_to_be_hashed():
    def use(mass: jax.Array) -> jax.Array:
        robot = small().with_inertia("link_0", Inertia(mass))
        for ask in (lambda: hash(robot), lambda: robot == small(), lambda: robot.digest):
            with pytest.raises(TorsorError, match="traced parameters"):
                ask()
        return mass

    assert jax.jit(use)(2.0) == 2.0


# Derivatives


def test_torques_are_differentiated_by_velocity_as_on_the_numpy_path(same):
    x = arguments(small())
    forward = jax.jit(jax.jacfwd(lambda v: torsor.inverse_dynamics(small(), x["q"], v, x["a"])))
    # Torques are quadratic in the velocity: central differences are exact with a step of one.
    want = central(lambda v: torsor.inverse_dynamics(small(), x["q"], v, x["a"]), x["v"], 1.0)
    same(forward(x["v"]), want, ROUNDING)


def test_accelerations_are_differentiated_by_torque_and_configuration_as_on_the_numpy_path(same):
    x = arguments(arm())

    def accelerate(tau: jax.Array, q: jax.Array) -> jax.Array:
        return torsor.forward_dynamics(arm(), q, x["v"], tau)

    by_torque, by_place = jax.jit(jax.jacfwd(accelerate, argnums=(0, 1)))(x["tau"], x["q"])
    same(by_torque, torsor.dynamics.inverse_mass_matrix(arm(), x["q"]), ROUNDING)
    same(by_place, central(lambda q: accelerate(x["tau"], q), x["q"], 1e-5), DIFFERENCES)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("forward_dynamics_derivatives", "q"),
        ("inverse_dynamics_second_derivatives", "qq"),
        ("forward_dynamics_second_derivatives", "qq"),
    ],
)
def test_what_may_run_by_whole_arrays_is_differentiated_by_the_numbers_of_a_robot(name, part, same):
    robot = torsor.robots.pendulum()
    q, v, a = torsor.random_state(robot, seed=0)

    def value(gravity: object) -> object:
        return getattr(PUBLIC[name](robot.with_parameters(gravity=gravity), q, v, a), part)

    gravity = jnp.array(robot.gravity)
    want = central(value, robot.gravity, 1.0)  # linear in gravity
    same(jax.jit(jax.jacfwd(value))(gravity), want, 1e-10)


def test_kinetic_energy_is_differentiated_by_the_mass_of_a_link(same):
    x, body = arguments(small()), small().inertia("link_1")

    def energy(mass: object) -> object:
        robot = small().with_inertia("link_1", Inertia(mass, body.com, body.rotational))
        return torsor.kinetic_energy(robot, x["q"], x["v"])

    # Linear in the mass: differences are exact.
    want = central(energy, np.array(body.mass), 0.5 * float(body.mass))
    same(jax.jit(jax.grad(energy))(float(body.mass)), want, ROUNDING)


def test_the_gradient_by_a_whole_robot_is_a_robot_of_derivatives(same):
    robot, x = arm(), arguments(arm())

    def power(robot: Robot) -> object:
        return x["v"] @ torsor.inverse_dynamics(robot, x["q"], x["v"], x["a"])

    gradient = jax.jit(jax.grad(power))(robot)
    assert isinstance(gradient, Robot)
    for field, linear in {"inertias": True, "gravity": True, "armature": True, "poses": False}.items():
        at = np.array(getattr(robot.parameters, field))
        varied = lambda leaf, f=field: Robot(robot.structure, robot.parameters._replace(**{f: leaf}))  # noqa: E731
        want = central(lambda leaf, at=varied: power(at(leaf)), at, 1.0 if linear else 1e-5)
        assert np.any(want)
        same(getattr(gradient.parameters, field), want, ROUNDING if linear else DIFFERENCES)
    want = central(lambda screws: power(moving_by(robot, screws)), np.array(robot.parameters.screws), 1e-5)
    same(gradient.parameters.screws, want, DIFFERENCES)


def moving_by(robot: Robot, screws: np.ndarray) -> Robot:
    """The robot built anew with joints that move by exp(S q) of any screws, of whatever kinds they are."""
    pairs = zip(disassemble(robot), screws, strict=True)
    joints = [replace(joint, kind="helical", screw=S) for joint, S in pairs]
    return torsor.assemble(joints, gravity=robot.gravity, frames=frames_of(robot))


# What would be wrong in silence if a joint moved by the closed form of its kind: directions that leave the kind
LEAVING = {
    "a pitch on a revolute joint": (0, [0, 0, 0, 0.3, -0.2, 0.9]),
    "an axis tilted, its moment kept": (0, [-0.5, 0.7, 0.1, 0, 0, 0]),
    "a length that is not one": (2, [0.4, 0.1, 0.8, 0.3, 0.2, 0.1]),
    "a prismatic joint that turns": (1, [0.3, -0.6, 0.2, 0, 0, 0]),
}


@pytest.mark.parametrize("case", LEAVING)
def test_gradients_by_screws_are_right_in_directions_that_leave_the_kind_of_joint(case, same):
    """JAX cannot refuse them: they are the derivatives of the mechanism with that other screw."""
    robot = chain_of("revolute", "prismatic", "helical")
    (i, direction), x = LEAVING[case], arguments(robot)
    change = np.zeros((3, 6))
    change[i] = direction

    def outputs(robot: Robot) -> object:
        return torsor.inverse_dynamics(robot, x["q"], x["v"], x["a"]), torsor.frame_pose(robot, x["q"], "tool")

    at = robot.parameters.screws
    _, slopes = jax.jvp(lambda screws: outputs(robot.with_parameters(screws=screws)), (at,), (change,))
    for k, slope in enumerate(slopes):
        f = {t: np.asarray(outputs(moving_by(robot, at + t * change))[k]) for t in (-2e-3, -1e-3, 1e-3, 2e-3)}
        # fourth order: a prismatic joint that hardly turns has a pitch of a kilometre, and loses digits to smaller steps
        same(slope, (8 * (f[1e-3] - f[-1e-3]) - (f[2e-3] - f[-2e-3])) / 12e-3, DIFFERENCES)


def along(function: Callable, at: np.ndarray, d: np.ndarray) -> list[jax.Array]:
    """The derivative of a function, forwards in the direction d; and backwards, if it has as many values as arguments."""
    value, forwards = jax.jvp(function, (at,), (d,))
    return [forwards, jax.vjp(function, at)[1](d)[0]] if value.shape == d.shape else [forwards]


def test_exponentials_and_logarithms_have_their_derivatives_at_zero(same):
    w, S = np.random.default_rng(0).normal(size=3), np.random.default_rng(1).normal(size=6)

    def at_zero(three: jax.Array, six: jax.Array) -> list[list[jax.Array]]:
        return [
            along(lie.so3.exp, three, w),
            along(lie.se3.exp, six, S),
            along(lambda w: lie.quaternion.log(lie.quaternion.exp(w)), three, w),
            along(lambda S: lie.se3.log(lie.se3.exp(S)), six, S),
        ]

    found = jax.jit(at_zero)(np.zeros(3), np.zeros(6))
    wanted = [lie.so3.hat(w), lie.se3.hat(S), w, S]
    assert [len(ways) for ways in found] == [1, 1, 2, 2]
    for ways, want in zip(found, wanted, strict=True):
        for got in ways:
            same(got, want, ROUNDING)


def test_moving_on_the_manifold_has_its_derivatives_where_nothing_moves(same):
    robot = chain_of("revolute", "planar", "spherical", "free")
    q = arguments(robot)["q"]
    d = np.random.default_rng(2).normal(size=robot.nv)

    def at_rest(zero: jax.Array) -> list[jax.Array]:
        there = along(lambda v: torsor.difference(robot, q, torsor.integrate(robot, q, v, 1.0)), zero, d)
        back = jax.jvp(lambda v: torsor.difference(robot, torsor.integrate(robot, q, v, 1.0), q), (zero,), (d,))[1]
        return [*there, -back]

    found = jax.jit(at_rest)(np.zeros(robot.nv))
    assert len(found) == 3
    for got in found:
        same(got, d, ROUNDING)


def test_screws_of_jax_are_not_refused_and_joints_move_by_their_exponential(same):
    """Of traced values nobody knows whether they are unit screws of their joint's kind."""
    robot, q = arm(), np.array([0.4, 0.8])
    S, poses = np.array(robot.parameters.screws), robot.parameters.poses
    S[0, 3:] += 0.3 * S[0, :3]  # a pitch on the revolute joint
    want = poses[0] @ lie.se3.exp(S[0] * q[0]) @ poses[1] @ lie.se3.exp(S[1] * q[1])
    got = jax.jit(lambda S: torsor.frame_pose(robot.with_parameters(screws=S), q, "link_1"))(jnp.asarray(S))
    same(got, want, ROUNDING)


def test_the_precision_of_jax_may_change_in_between():
    """JAX keeps constants of 64 bits as it first met them, and programs that were made for others then refuse them."""
    robot = torsor.robots.planar_chain([0.5, 0.4], [1.0, 0.8])
    q, v, a = torsor.random_state(robot, seed=3)
    want, before = torsor.inverse_dynamics(robot, q, v, a), jax.config.jax_enable_x64
    try:
        for doubles, tolerance in ((True, ROUNDING), (False, 1e-5), (True, ROUNDING)):  # 1e-5: roundings of singles
            jax.config.update("jax_enable_x64", doubles)
            for function in (torsor.inverse_dynamics, jax.jit(torsor.inverse_dynamics)):
                got = np.asarray(function(robot, *map(jnp.asarray, (q, v, a))), float)
                assert np.allclose(got, want, rtol=tolerance, atol=tolerance)
            assert np.array_equal(lie.so3.vee(lie.so3.hat(jnp.arange(3.0))), np.arange(3.0))
    finally:
        jax.config.update("jax_enable_x64", before)
