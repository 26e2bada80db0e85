"""Joint springs: a term of its own, in what it belongs to and in nothing else; in every derivative, edit, file and refusal."""

import inspect
import pickle

import numpy as np
import pytest
from property_checks import DIFFERENTIATED, STEP, assert_close, derivative

import torsor
from torsor import derivatives as of
from torsor.functions.dispatch import PUBLIC

ROUNDING = 1e-12
ONE_NUMBER = ("revolute", "prismatic", "helical")
EFFECTS = {"springs": True, "friction": True, "armature": True}
ROBOTS = {
    "chain": torsor.robots.random_tree(4, seed=1, kinds=ONE_NUMBER, serial=True, **EFFECTS),
    "followers": torsor.robots.random_tree(6, seed=3, kinds=ONE_NUMBER, mimic=True, **EFFECTS),
    "every kind": torsor.robots.random_tree(6, seed=4, **EFFECTS),
    "another order": torsor.robots.random_tree(4, seed=9, kinds=("spherical", "revolute", "planar"), **EFFECTS),
}
ROBOTS = {name: robot.with_coulomb_width(0.5) for name, robot in ROBOTS.items()}
ROBOTS["another order"] = ROBOTS["another order"].reorder(ROBOTS["another order"].coordinates[::-1])
every = pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)


def bare(robot: torsor.Robot) -> torsor.Robot:
    """The same robot without springs."""
    return robot.with_parameters(stiffness=np.zeros(robot.nv))


def stretch(robot: torsor.Robot, q: np.ndarray) -> np.ndarray:
    """q − rest of each degree of freedom (..., nv), zero where there is no spring."""
    found = np.zeros((*q.shape[:-1], robot.nv))
    for c in robot.structure.coordinates:
        if c.nq == 1:
            found[..., c.v] = q[..., c.q] - robot.parameters.rest[c.v]
    return found


def state(robot: torsor.Robot) -> tuple[np.ndarray, ...]:
    return torsor.random_state(robot, seed=5, batch=(3,))


# Where they are


@every
def test_springs_are_in_inverse_and_forward_dynamics_and_in_potential_energy(robot):
    q, v, a = state(robot)
    assert np.any(robot.parameters.stiffness)
    force = robot.parameters.stiffness * stretch(robot, q)
    assert_close(torsor.spring_forces(robot, q), force, ROUNDING)
    assert_close(
        torsor.inverse_dynamics(robot, q, v, a), torsor.inverse_dynamics(bare(robot), q, v, a) + force, ROUNDING
    )
    tau = torsor.inverse_dynamics(robot, q, v, a)
    assert_close(torsor.forward_dynamics(robot, q, v, tau), a, 1e-9)
    energy = 0.5 * np.sum(force * stretch(robot, q), axis=-1)
    assert_close(torsor.potential_energy(robot, q), torsor.potential_energy(bare(robot), q) + energy, ROUNDING)
    assert torsor.verify(robot, configurations=3)


@every
def test_springs_are_in_nothing_else_of_the_state(robot):
    """Every public function of a state that does not name them gives the same numbers to the bit."""
    with_springs = {
        "inverse_dynamics", "forward_dynamics", "potential_energy", "spring_forces", "inverse_dynamics_derivatives",
        "forward_dynamics_derivatives", "forward_dynamics_second_derivatives", "joint_acceleration", "factorised_acceleration",
        "articulated_body_acceleration",
    }  # fmt: skip
    given = dict(zip(("q", "v", "a", "tau", "v_ref", "a_ref", "u", "w", "w_rate"), [*state(robot)] * 3, strict=False))
    tried = 0
    for name, function in PUBLIC.items():
        wanted = list(inspect.signature(function).parameters)[1:]
        needed = [x for x in wanted if inspect.signature(function).parameters[x].default is inspect.Parameter.empty]
        needed = [x for x in needed if x not in ("args", "kwargs")]
        if name in with_springs or not set(needed) <= {"q", "v", "a"} or robot.nv > 8:
            continue
        tried += 1
        mine, other = (function(r, *(given[x] for x in needed)) for r in (robot, bare(robot)))
        for x, y in zip(*((z if isinstance(z, tuple) else (z,)) for z in (mine, other)), strict=True):
            np.testing.assert_array_equal(x, y, err_msg=name)
    assert tried > 20 or robot.nv > 8


@every
def test_the_energy_of_a_robot_without_drives_and_friction_is_kept(robot):
    """d(T + U)/dt = 0 along forward dynamics."""
    free = robot.with_parameters(viscous_friction=np.zeros(robot.nv), coulomb_friction=np.zeros(robot.nv))
    q, v, _ = torsor.random_state(robot, seed=2)
    a = torsor.forward_dynamics(free, q, v, np.zeros(robot.nv))

    def energy(t: float) -> np.ndarray:
        x, y = torsor.integrate(free, q, t * v), v + t * a
        return torsor.kinetic_energy(free, x, y) + torsor.potential_energy(free, x)

    assert_close(derivative(energy), 0.0, DIFFERENTIATED, scale=np.abs(a).max() * np.abs(v).max() * 10)


# Derivatives


@every
def test_first_derivatives(robot):
    q, v, a = state(robot)
    k = np.diag(robot.parameters.stiffness)
    mine, other = (torsor.inverse_dynamics_derivatives(r, q, v, a) for r in (robot, bare(robot)))
    assert_close(mine.q, other.q + k, ROUNDING)
    tau = torsor.inverse_dynamics(robot, q, v, a)
    forward = torsor.forward_dynamics_derivatives(robot, q, v, tau)
    for j, unit in enumerate(np.eye(robot.nv)):
        want = derivative(lambda t, u=unit: torsor.forward_dynamics(robot, torsor.integrate(robot, q, t * u), v, tau))
        assert_close(forward.q[..., j], want, DIFFERENTIATED, scale=np.abs(forward.q).max())


@every
def test_second_derivatives_hessians_and_products(robot):
    q, v, a = state(robot)
    weights, dq, dv, dtau = np.random.default_rng(0).normal(size=(4, 3, robot.nv))
    for name in ("inverse_dynamics_second_derivatives", "inverse_dynamics_hessian"):
        more = (weights,) if name.endswith("hessian") else ()
        mine, other = (getattr(of, name)(r, q, v, a, *more) for r in (robot, bare(robot)))
        for x, y in zip(mine, other, strict=True):
            assert_close(x, y, 1e-11)
    tau = torsor.inverse_dynamics(robot, q, v, a)
    second = of.forward_dynamics_second_derivatives(robot, q, v, tau)
    for k, unit in enumerate(np.eye(robot.nv)):
        ahead, behind = (
            torsor.forward_dynamics_derivatives(robot, torsor.integrate(robot, q, s * STEP * unit), v, tau).q
            for s in (1, -1)
        )
        assert_close(second.qq[..., k], (ahead - behind) / (2 * STEP), 1e-4, scale=np.abs(second.qq).max())
    H = of.forward_dynamics_hessian(robot, q, v, tau, weights)
    assert_close(H.qq, np.einsum("...i,...ijk->...jk", weights, second.qq), 1e-9)
    product = of.forward_dynamics_hessian_product(robot, q, v, tau, weights, dq, dv, dtau)
    want = (H.qq @ dq[..., None] + H.qv @ dv[..., None] + np.swapaxes(H.tauq, -1, -2) @ dtau[..., None])[..., 0]
    assert_close(product.q, want, 1e-8)


@every
@pytest.mark.parametrize("group", ["stiffness", "rest"])
def test_by_stiffness_and_rest(robot, group):
    q, v, a = torsor.random_state(robot, seed=3)
    function = {"tau": torsor.inverse_dynamics, "a": torsor.forward_dynamics}
    for name in function:
        slope = torsor.derivative(function[name], robot, wrt=group)(q, v, a)
        for c in robot.structure.coordinates:
            if c.nq > 1:
                np.testing.assert_array_equal(slope[:, c.v], 0.0)
                continue
            unit = np.eye(robot.nv)[c.v_start]

            def changed(t: float, u: np.ndarray = unit, f=function[name]) -> np.ndarray:
                return f(robot.with_parameters(**{group: getattr(robot.parameters, group) + t * u}), q, v, a)

            with torsor.backend("numpy"):
                want = derivative(changed)
            assert_close(slope[:, c.v_start], want, DIFFERENTIATED, scale=max(np.abs(slope).max(), 1.0))
    U = torsor.derivative(torsor.potential_energy, robot, wrt="stiffness")(q)
    assert_close(U, 0.5 * stretch(robot, q) ** 2, ROUNDING)


@every
def test_the_regressor_is_linear_in_stiffness_and_stiffness_times_rest(robot):
    q, v, a = state(robot)
    Y, x = torsor.identification.joint_regressor(robot, q, v, a), torsor.identification.joint_parameters(robot)
    names = torsor.identification.joint_parameter_names(robot)
    assert Y.shape[-1] == len(x) == len(names) == robot.n_joint_parameters == 5 * robot.nv
    springs = slice(3 * robot.nv, None)
    assert_close((Y[..., springs] @ x[springs]), torsor.spring_forces(robot, q), ROUNDING)
    assert names[3 * robot.nv].endswith(" stiffness")
    assert names[-1].endswith(" stiffness · rest")


@pytest.mark.parametrize("group", ["stiffness", "rest"])
def test_jax_differentiates_by_them(group):
    jax = pytest.importorskip("jax")
    robot = ROBOTS["followers"]
    q, v, a = torsor.random_state(robot, seed=3)
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():

        def squared(x):
            return (torsor.inverse_dynamics(robot.with_parameters(**{group: x}), q, v, a) ** 2).sum()

        found = jax.grad(squared)(jax.numpy.asarray(getattr(robot.parameters, group)))
        leaves, _ = jax.tree_util.tree_flatten(robot)
        assert len(leaves) == len(robot.parameters)
    slope = torsor.derivative(torsor.inverse_dynamics, robot, wrt=group)(q, v, a)
    assert_close(np.asarray(found), 2.0 * torsor.inverse_dynamics(robot, q, v, a) @ slope, 1e-9)


# Robots without them


def test_a_robot_without_stiffness_has_no_term_for_springs():
    """Nor has one with a rest alone, nor one that comes after many robots with springs."""
    robot = torsor.robots.panda()
    q, v, a = torsor.random_state(robot, seed=0)
    plain = torsor.inverse_dynamics(robot, q, v, a)
    operations = {
        f: sum(torsor.compile(f, robot).count().values()) for f in (torsor.inverse_dynamics, torsor.forward_dynamics)
    }
    resting = robot.with_parameters(rest=np.ones(7))
    assert resting != robot
    for f, count in operations.items():
        assert sum(torsor.compile(f, resting).count().values()) == count
        assert sum(torsor.compile(f, robot.with_parameters(stiffness=np.ones(7))).count().values()) > count
    for k in range(4):
        torsor.inverse_dynamics(robot.with_parameters(stiffness=np.full(7, 1.0 + k)), q, v, a)
    np.testing.assert_array_equal(torsor.inverse_dynamics(resting, q, v, a), plain)
    assert "springs" not in robot.effects
    assert "springs" in robot.with_parameters(stiffness=np.ones(7)).effects
    np.testing.assert_array_equal(torsor.spring_forces(robot, np.stack([q, q])), np.zeros((2, 7)))


def test_many_robots_that_differ_in_springs_share_a_kernel_with_right_numbers():
    robot = torsor.robots.planar2r()
    q, v, a = torsor.random_state(robot, seed=0)
    plain = torsor.inverse_dynamics(robot, q, v, a)
    for k in range(6):
        stiffness, rest = np.array([1.0 + k, 2.0]), np.array([0.1 * k, -0.3])
        tau = torsor.inverse_dynamics(robot.with_parameters(stiffness=stiffness, rest=rest), q, v, a)
        assert_close(tau, plain + stiffness * (q - rest), ROUNDING)


# Edits and files


def one(**changes: object) -> torsor.Robot:
    body = torsor.Inertia.point(1.0, (0.5, 0.0, 0.0))
    lead = torsor.Joint(name="a", kind="revolute", axis=(0, 1, 0), inertia=body, **changes)
    follow = torsor.Joint(
        name="b", kind="revolute", axis=(0, 1, 0), parent="a_link", inertia=body, mimic=torsor.Mimic("a", -2.0, 0.3)
    )
    last = torsor.Joint(
        name="c", kind="prismatic", axis=(1, 0, 0), parent="b_link", inertia=body, stiffness=4.0, rest=9.0
    )
    return torsor.assemble([lead, follow, last])


@every
def test_edits_keep_the_springs(robot):
    held = robot.coordinates[-1]
    q = torsor.random_configuration(robot, seed=1)
    order = robot.coordinates[::-1]
    turned = robot.reorder(order)
    named = turned.q_from_dict(robot.q_to_dict(q))
    assert torsor.potential_energy(turned, named) == pytest.approx(torsor.potential_energy(robot, q), rel=1e-12)
    locked = robot.lock({held: q[robot.q_slice(held)]})
    assert {c: locked.parameters.stiffness[locked.v_slice(c)].tolist() for c in locked.coordinates} == {
        c: robot.parameters.stiffness[robot.v_slice(c)].tolist() for c in robot.coordinates if c != held
    }
    assert pickle.loads(pickle.dumps(robot)) == robot
    assert robot.with_gravity((0, 0, 0)).parameters.stiffness.tolist() == robot.parameters.stiffness.tolist()
    for text, format_ in ((robot.to_json(), "json"), (robot.to_yaml(), "yaml")):
        assert torsor.load(text, format=format_) == robot


def test_a_screw_that_is_no_unit_has_its_spring_in_its_own_coordinate():
    """q moves the joint by 3 q: the spring is of q, in files too."""
    body = torsor.Inertia.point(1.0, (0.5, 0.0, 0.0))
    joint = torsor.Joint(name="a", kind="revolute", screw=(0, 3, 0, 0, 0, 0), inertia=body, stiffness=18.0, rest=0.1)
    robot = torsor.assemble([joint])
    assert torsor.spring_forces(robot, [0.5]) == pytest.approx([18.0 * 0.4])
    text = robot.to_mjcf()
    assert 'stiffness="2"' in text
    assert 'springref="0.3' in text
    assert torsor.load(robot.to_json(), format="json") == robot


def test_springs_of_a_follower_in_a_file_act_on_its_leader():
    """½ k_f (r q + o − s_f)² beside ½ k (q − s)², but for a constant."""
    import json

    data = json.loads(one(stiffness=5.0, rest=0.2).to_json())
    (follower,) = [joint for joint in data["joints"] if joint["name"] == "b"]
    follower |= {"stiffness": 3.0, "rest": -0.4}
    robot = torsor.load(json.dumps(data), format="json")
    q = np.linspace(-1.0, 1.0, 5)
    want = 5.0 * (q - 0.2) - 2.0 * 3.0 * (-2.0 * q + 0.3 + 0.4)
    assert_close(torsor.spring_forces(robot, np.stack([q, 9.0 + 0.0 * q], axis=-1))[:, 0], want, ROUNDING)


def test_what_urdf_cannot_say_is_refused_unless_dropped():
    robot = torsor.robots.planar2r().with_gravity((0.0, 0.0, -9.81)).with_parameters(stiffness=np.ones(2))
    with pytest.raises(torsor.ModelError, match=r"has springs that URDF cannot say.*drop=\['springs'\]"):
        robot.to_urdf()
    assert not np.any(torsor.load(robot.to_urdf(drop=["springs"])).parameters.stiffness)


# Refused


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stiffness": -1.0}, r"joint 'a': `stiffness` must not be negative"),
        ({"stiffness": np.inf}, r"`stiffness` holds a NaN or infinite number"),
        ({"stiffness": 1.0, "rest": np.nan}, r"`rest` holds a NaN or infinite number"),
        ({"stiffness": [1.0, 2.0]}, r"joint 'a': `stiffness` must be a number or 1 numbers"),
    ],
)
def test_impossible_springs_are_refused(changes, message):
    with pytest.raises(torsor.ModelError, match=message):
        one(**changes)


def test_a_rest_beyond_the_limits_is_a_spring_under_tension():
    robot = one(lower=-1.0, upper=1.0, stiffness=2.0, rest=3.0)
    assert torsor.spring_forces(robot, [1.0, 9.0]) == pytest.approx([-4.0, 0.0])


def test_springs_are_refused_on_joints_with_several_numbers_and_on_followers():
    ball = torsor.Joint(name="ball", kind="spherical", inertia=torsor.Inertia.sphere(0.1, mass=1.0), stiffness=2.0)
    with pytest.raises(
        torsor.ModelError, match=r"joint 'ball' is spherical, and only joints with one number .* have springs"
    ):
        torsor.assemble([ball])
    robot = ROBOTS["another order"]
    with pytest.raises(torsor.ModelError, match="only joints with one number"):
        robot.with_parameters(stiffness=np.ones(robot.nv))
    with pytest.raises(torsor.ModelError, match=r"`stiffness` must not be negative, got -1\. A force that pushes away"):
        one().with_parameters(stiffness=np.array([-1.0, 0.0]))
    follower = torsor.Joint(name="b", kind="revolute", axis=(0, 1, 0), mimic=torsor.Mimic("a"), stiffness=1.0)
    leader = torsor.Joint(name="a", kind="revolute", axis=(0, 1, 0), inertia=torsor.Inertia.sphere(0.1, mass=1.0))
    with pytest.raises(torsor.ModelError, match="give `stiffness` to its leader 'a'"):
        torsor.assemble([leader, follower])
    with pytest.raises(torsor.ModelError, match="has stiffness, for which the book's lists have no place"):
        torsor.modern_robotics.lists(torsor.robots.planar2r().with_parameters(stiffness=np.ones(2)))


# What uses them


def test_controllers_hold_them():
    """PD control comes to rest where it should, with springs as without."""
    robot = ROBOTS["chain"]
    q, v, a = torsor.random_state(robot, seed=1)
    force = torsor.spring_forces(robot, q)
    for law, given in (
        (torsor.control.pd_gravity, {"q_ref": q, "kp": 10.0, "kd": 1.0}),
        (torsor.control.computed_torque, {"q_ref": q, "v_ref": v, "a_ref": a, "kp": 10.0, "kd": 1.0}),
        (torsor.control.passivity_based, {"q_ref": q, "v_ref": v, "a_ref": a, "rate": 1.0, "kd": 1.0}),
    ):
        mine, other = (law(r, q, v, **given) for r in (robot, bare(robot)))
        assert_close(mine, other + force, 1e-11)
    pi = torsor.identification.inertial_parameters(robot)
    mine, other = (
        torsor.control.adaptive(r, q, v, q, v, a, pi, rate=1.0, kd=1.0, adaptation=1.0).tau
        for r in (robot, bare(robot))
    )
    assert_close(mine, other + force, 1e-11)


def test_dynamics_of_tasks_and_formulations_have_them():
    robot = torsor.robots.ur5().with_parameters(stiffness=np.arange(1.0, 7.0), rest=np.linspace(-1, 1, 6))
    q, v, a = torsor.random_state(robot, seed=1)
    force, task = torsor.spring_forces(robot, q), torsor.pose_task(robot.frames[-1])
    mine, other = (torsor.tasks.task_space_inverse_dynamics(r, q, v, task, a) for r in (robot, bare(robot)))
    assert_close(mine, other + force, 1e-9)
    tau = torsor.inverse_dynamics(robot, q, v, a)
    for name in torsor.papers.formulations.FORMULATIONS:
        assert_close(getattr(torsor.papers.formulations, name)(robot, q, v, a), tau, 1e-10)
    closed = torsor.papers.closed_form(robot, q)
    assert_close(closed.inverse_dynamics(v, a) + torsor.friction_forces(robot, v) + force, tau, 1e-10)
    linear = torsor.linearise(robot, q, v, tau)
    by = torsor.forward_dynamics_derivatives(robot, q, v, tau)
    assert_close(linear.A[6:, :6], by.q, 1e-9)
