"""What holds for every adapter, with no peer at hand: round trips, power, rates, batches, array libraries, errors."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import torsor
from torsor import Joint, Mimic, Robot
from torsor.adapters import ROS, Drake, MuJoCo, Pinocchio
from torsor.adapters.adapter import Adapter

PEERS = (Pinocchio, MuJoCo, Drake, ROS)
DOCS = Path(__file__).parents[2] / "docs" / "adapters.md"
EPS = 1e-14  # of numbers of size one, a few operations deep


def creature(*, helical: bool = True) -> Robot:
    """One joint of every kind, a free root with a home pose of its own, a screw of length 2, and a mimic joint."""
    lean = torsor.pose_from((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
    body = torsor.Inertia(1.0, (0.1, 0.0, 0.2), np.diag([0.1, 0.2, 0.25]))
    common = {"pose": lean, "inertia": body}
    joints = [
        Joint(name="float", kind="free", link="trunk", **common),
        Joint(name="turn", kind="revolute", parent="trunk", link="disc", axis=(0.0, 0.6, 0.8), **common),
        Joint(name="spin", kind="continuous", parent="disc", link="wheel", axis=(0, 0, 1), **common),
        Joint(name="slide", kind="prismatic", parent="trunk", link="sled", screw=(0, 0, 0, 0, 2, 0), **common),
        Joint(name="drift", kind="planar", parent="sled", link="puck", **common),
        Joint(name="ball", kind="spherical", parent="disc", link="head", **common),
        Joint(
            name="follow",
            kind="revolute",
            parent="head",
            link="ear",
            axis=(1, 0, 0),
            mimic=Mimic("turn", -0.5, 0.3),
            **common,
        ),
    ]
    if helical:
        joints.append(
            Joint(name="screw", kind="helical", parent="puck", link="nut", axis=(1, 0, 0), pitch=0.1, **common)
        )
    return torsor.assemble(joints, name="creature")


def adapter(peer: type[Adapter], *, followers: bool = True) -> Adapter:
    """The creature there, its joints in reverse order; the follower is a joint of its own unless said otherwise."""
    robot = creature(helical=peer is not MuJoCo)
    order = [name for name in reversed(robot.joints) if followers or name != "follow"]
    options = {Pinocchio: {"continuous": ["spin"]}, Drake: {"rpy": []}}.get(peer, {})
    return peer(robot, order=order, **options)


@pytest.fixture(params=PEERS, ids=lambda peer: peer.peer)
def there(request: pytest.FixtureRequest) -> Adapter:
    return adapter(request.param)


def rotations(robot: Robot, q: np.ndarray) -> np.ndarray:
    """q with every quaternion's sign chosen, since a quaternion and its negative are one rotation."""
    q = q.copy()
    for name in ("float", "ball"):
        quat = q[..., robot.q_slice(name)][..., -4:]
        quat *= np.sign(quat[..., 3:])
    return q


def test_round_trips_give_back_the_numbers(there, same):
    q, v, a = torsor.random_state(there.robot, seed=0, batch=(20,))
    same(rotations(there.robot, there.from_q(there.to_q(q))), rotations(there.robot, q), EPS)
    same(there.from_v(q, there.to_v(q, v)), v, EPS)
    same(there.from_a(q, v, there.to_a(q, v, a)), a, 10 * EPS)
    same(there.from_tau(q, there.to_tau(q, a)), a, EPS)
    assert np.abs(there.to_v(q, v)[..., : there.robot.nv] - v[..., : there.nv]).max() > 0.1  # it did something


def test_power_is_the_same_on_both_sides(there, same):
    q, v, tau = torsor.random_state(there.robot, seed=1, batch=(20,))
    there_tau = np.random.default_rng(1).normal(size=(20, there.nv))
    same(np.vecdot(there.to_tau(q, tau), there.to_v(q, v)), np.vecdot(tau, v), 1e-13)
    same(np.vecdot(there.from_tau(q, there_tau), v), np.vecdot(there_tau, there.to_v(q, v)), 1e-13)


def test_accelerations_are_the_rates_of_velocities(there, same):
    """Central difference along a motion with acceleration a: its own error is a few h² = 1e-8, its rounding 1e-12."""
    q, v, a = torsor.random_state(there.robot, seed=2)
    h = 1e-4
    ends = [there.to_v(torsor.integrate(there.robot, q, v + 0.5 * t * a, t), v + t * a) for t in (h, -h)]
    same((ends[0] - ends[1]) / (2 * h), there.to_a(q, v, a), 1e-6)


def test_an_acceleration_without_its_velocity_would_be_another(same):
    """A test of the test above: where the axes are the parent's, ω × v is not small."""
    for peer, drifts in ((Pinocchio, False), (ROS, False), (MuJoCo, True), (Drake, True)):
        x = adapter(peer)
        q, v, a = torsor.random_state(x.robot, seed=2)
        assert bool(np.abs(x.to_a(q, v, a) - x.to_v(q, a)).max() > 0.1) is drifts


@pytest.mark.parametrize("batch", [(), (3,), (2, 3), (0,), (1,)], ids=str)
def test_batch_axes_come_first_everywhere(there, batch):
    q, v, a = torsor.random_state(there.robot, seed=3, batch=batch)
    assert there.to_q(q).shape == (*batch, there.nq)
    assert there.from_q(there.to_q(q)).shape == q.shape
    for x in (there.to_v(q, v), there.to_a(q, v, a), there.to_tau(q, a)):
        assert x.shape == (*batch, there.nv)
    for x in (
        there.from_v(q, there.to_v(q, v)),
        there.from_a(q, v, there.to_a(q, v, a)),
        there.from_tau(q, there.to_v(q, a)),
    ):
        assert x.shape == v.shape


def test_a_batch_is_its_states_one_by_one_and_arguments_broadcast(there, same):
    q, v, a = torsor.random_state(there.robot, seed=4, batch=(3,))
    many = there.to_a(q[:, None], v[0], a[None])
    assert many.shape == (3, 3, there.nv)
    for i, j in np.ndindex(3, 3):
        same(many[i, j], there.to_a(q[i], v[0], a[j]), EPS)
    arm = ROS(torsor.robots.panda())
    assert arm.to_v(np.zeros((5, 7)), np.ones(7)).shape == (5, 7)  # though nothing there depends on q
    assert arm.from_tau(np.zeros((5, 7)), np.ones(7)).shape == (5, 7)


def test_results_are_not_views_of_arguments():
    pendulum = Pinocchio(torsor.robots.pendulum())
    q, v = np.array([0.5]), np.array([0.25])
    for x in (
        pendulum.to_q(q),
        pendulum.from_q(q),
        pendulum.to_v(q, v),
        pendulum.to_tau(q, v),
        Drake.to_twist(np.zeros(6)),
    ):
        x[...] = 9.0
    assert (q[0], v[0]) == (0.5, 0.25)


def test_jax_arrays_pass_through(there, same, jax_in_doubles):
    import jax

    q, v, a = torsor.random_state(there.robot, seed=5)

    @jax.jit
    def both_ways(q, v, a):
        x, y, z = there.to_q(q), there.to_v(q, v), there.to_a(q, v, a)
        return (
            x,
            y,
            z,
            there.from_q(x),
            there.from_v(q, y),
            there.from_a(q, v, z),
            there.from_tau(q, there.to_tau(q, a)),
        )

    wanted = both_ways.__wrapped__(q, v, a)
    for got, want in zip(both_ways(q, v, a), wanted, strict=True):
        assert isinstance(got, jax.Array)
        same(got, want, 10 * EPS)


@pytest.mark.compiled
def test_adapters_compile_with_the_robot(there, same):
    """A function of the peer's state as one kernel."""
    q, v, _ = torsor.random_state(there.robot, seed=6, batch=(4,))

    def forces(robot, q_there, v_there):
        q = there.from_q(q_there)
        return {"tau": there.to_tau(q, torsor.dynamics.coriolis_forces(robot, q, there.from_v(q, v_there)))}

    kernel = torsor.compile(forces, there.robot, {"q_there": there.nq, "v_there": there.nv})
    want = there.to_tau(q, torsor.dynamics.coriolis_forces(there.robot, q, v))
    same(kernel(there.to_q(q), there.to_v(q, v)), want, 1e-12)


# Mimic joints


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.peer)
def test_a_follower_moves_with_its_leader_if_named_and_is_absent_if_not(peer, same):
    named, absent = adapter(peer), adapter(peer, followers=False)
    q, v, a = torsor.random_state(named.robot, seed=7)
    lead, follow = named.robot.q_slice("turn"), named.q_slice("follow")
    same(named.to_q(q)[follow], -0.5 * q[lead] + 0.3, EPS)
    same(named.to_v(q, v)[named.v_slice("follow")], -0.5 * v[named.robot.v_slice("turn")], EPS)
    same(np.delete(named.to_a(q, v, a), named.v_slice("follow")), absent.to_a(q, v, a), 0.0)
    tau = np.zeros(named.nv)
    tau[named.v_slice("follow")], tau[named.v_slice("turn")] = 3.0, 1.0
    assert named.from_tau(q, tau)[named.robot.v_slice("turn")] == 1.0 - 0.5 * 3.0


def test_a_screw_of_any_length_is_scaled_to_the_peers_unit_axis(there):
    q, v, tau = torsor.random_state(there.robot, seed=8)
    own, here, there_v = there.robot.q_slice("slide"), there.robot.v_slice("slide"), there.v_slice("slide")
    assert there.to_q(q)[there.q_slice("slide")] == 2.0 * q[own]
    assert there.to_v(q, v)[there_v] == 2.0 * v[here]
    assert there.to_tau(q, tau)[there_v] == 0.5 * tau[here]


# Six, four and seven numbers


def test_orders_are_as_documented():
    six, four = np.arange(6.0), np.arange(4.0)  # (ω, v), (x, y, z, w)
    for peer in PEERS:
        linear_first, w_first = peer in (Pinocchio, ROS), peer in (MuJoCo, Drake)
        assert peer.to_twist(six).tolist() == ([3, 4, 5, 0, 1, 2] if linear_first else [0, 1, 2, 3, 4, 5])
        assert peer.to_wrench(six).tolist() == peer.to_twist(six).tolist()
        assert peer.to_quaternion(four).tolist() == ([3, 0, 1, 2] if w_first else [0, 1, 2, 3])
        T = torsor.pose_from((7.0, 8.0, 9.0))
        position = slice(4, 7) if peer is Drake else slice(0, 3)
        assert peer.to_pose(T)[position].tolist() == [7.0, 8.0, 9.0]


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.peer)
def test_orders_and_poses_come_back(peer, same):
    rng = np.random.default_rng(9)
    six, four = rng.normal(size=(2, 3, 6)), rng.normal(size=(2, 3, 4))
    T = torsor.lie.se3.exp(six)
    same(peer.from_twist(peer.to_twist(six)), six, 0.0)
    same(peer.from_wrench(peer.to_wrench(six)), six, 0.0)
    same(peer.from_quaternion(peer.to_quaternion(four)), four, 0.0)
    same(peer.from_pose(peer.to_pose(T)), T, EPS)


# Errors


ARM = torsor.robots.panda()
NAMES = [f"panda_joint{k}" for k in range(1, 8)]


def test_the_zoo_still_has_the_names_used_below():
    assert ARM.coordinates == tuple(NAMES)


@pytest.mark.parametrize(
    ("error", "call", "text"),
    [
        (
            torsor.UnknownName,
            lambda: Pinocchio(ARM, order=["panda_jonit1", *NAMES[1:]]),
            "Pinocchio: `order` is wrong, robot 'panda' has no joint 'panda_jonit1'; nearest: 'panda_joint1'",
        ),
        (
            torsor.ModelError,
            lambda: MuJoCo(ARM, order=NAMES[2:]),
            "MuJoCo: `order` must name every joint of robot 'panda' once, but lacks 'panda_joint1', 'panda_joint2'. "
            "Pass the names of robot.coordinates in the order of MuJoCo's vectors.",
        ),
        (
            torsor.ModelError,
            lambda: Drake(ARM, order=[*NAMES, NAMES[0]]),
            "Drake: `order` must name every joint of robot 'panda' once, but repeats 'panda_joint1'. Pass",
        ),
        (
            torsor.ModelError,
            lambda: Pinocchio(creature(), continuous=["slide"]),
            "Pinocchio: `continuous` names 'slide', which is prismatic; only revolute joints can be continuous. "
            "Leave it out.",
        ),
        (
            torsor.ModelError,
            lambda: Drake(creature(), rpy="ball"),
            "Drake: `rpy` names 'ball', which is spherical; only a free joint can be an RpyFloatingJoint. Leave it out.",
        ),
        (
            torsor.UnknownName,
            lambda: Pinocchio(creature(), continuous=["spinn"]),
            "Pinocchio: `continuous` is wrong, robot 'creature' has no joint 'spinn'; nearest: 'spin'",
        ),
        (
            torsor.UnknownName,
            lambda: ROS(ARM).q_slice("panda_joint0"),
            "robot 'panda in ROS' has no joint 'panda_joint0'; nearest: 'panda_joint",
        ),
        (
            torsor.ShapeError,
            lambda: Pinocchio(ARM).from_q(np.zeros(9)),
            "Pinocchio.from_q: `q` must have shape (..., 7) for robot 'panda in Pinocchio' (7 configuration numbers, 7 "
            "degrees of freedom), got (9,). A joint that a URDF calls continuous has two numbers there, (cos, sin): "
            "name it in `continuous=[...]`.",
        ),
        (
            torsor.ShapeError,
            lambda: Drake(creature(), order=creature().coordinates).from_q(np.zeros(16)),
            "got (16,). A free joint that is an RpyFloatingJoint has six numbers there: name it in `rpy=[...]`.",
        ),
        (
            torsor.ShapeError,
            lambda: MuJoCo(ARM).to_v(np.zeros(7), np.zeros((7, 100))),
            "MuJoCo.to_v: `v` must have shape (..., 7) for robot 'panda' (7 configuration numbers, 7 degrees of "
            "freedom), got (7, 100). Batch axes come first: pass `v.T`.",
        ),
        (
            torsor.ShapeError,
            lambda: MuJoCo(ARM).to_a(np.zeros((3, 7)), np.zeros((2, 7)), np.zeros(7)),
            "MuJoCo.to_a: the batch axes of the arguments do not broadcast: `q` (3,), `v` (2,), `a` (). "
            "Pass the same number of states in each, or one state.",
        ),
        (
            torsor.ShapeError,
            lambda: Drake.to_wrench(np.zeros(3)),
            "Drake.to_wrench: `F` must have shape (..., 6), got (3,).",
        ),
    ],
)
def test_errors_say_what_to_type(error, call, text):
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)


def test_an_adapter_says_what_it_is():
    assert repr(adapter(Pinocchio)) == "<Pinocchio adapter of robot 'creature': nq 21, nv 17>"


def test_no_peer_is_imported():
    code = "import sys, torsor.adapters; print([m for m in ('pinocchio', 'mujoco', 'pydrake', 'rclpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# Documentation


def test_every_line_of_the_page_runs(same):
    code = "\n".join(re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL))
    exec(compile(code, str(DOCS), "exec"), {})  # it holds its own assertions
    assert code.count("assert ") >= 4


def test_every_convention_on_the_page_is_that_of_the_code():
    """The rows of orders of the page's table, against the code."""
    rows = {
        cells[0]: cells[1:]
        for line in DOCS.read_text().splitlines()
        if len(cells := [cell.strip() for cell in line.strip("|").split("|")]) == 6
    }
    assert rows["quantity"] == ["torsor", *(peer.peer for peer in PEERS)]
    for peer, twist, quat, pose in zip(
        PEERS, rows["twist"][1:], rows["quaternion"][1:], rows["pose, 7 numbers"][1:], strict=True
    ):
        assert (twist == "linear, angular") == (peer.to_twist(np.arange(6.0))[0] == 3.0)
        assert (quat == "w, x, y, z") == (peer.to_quaternion(np.arange(4.0))[0] == 3.0)
        assert (pose == "quaternion, position") == (peer.to_pose(torsor.pose_from((5.0, 0.0, 0.0)))[0] != 5.0)
