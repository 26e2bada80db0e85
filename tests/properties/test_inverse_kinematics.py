"""What must be true of inverse kinematics: targets are reached and limits kept, or it is said why not."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from property_checks import assert_close, derivative, largest
from property_strategies import Case, cases, pose_of, robots, seeds
from scipy.spatial.transform import Rotation

import torsor
from torsor.lie import se3
from torsor.tasks._inverse_kinematics.box_coordinates import columns, moved
from torsor.tasks._inverse_kinematics.descent import measured
from torsor.tasks._inverse_kinematics.search import distance_beyond, reach_of, unwound, within
from torsor.tasks._inverse_kinematics.solve import aimed

ARMS = {"panda": "hand_tcp", "ur5": "tool0", "iiwa": "ee"}
KINDS = {"pose": torsor.pose_task, "position": torsor.position_task, "orientation": torsor.orientation_task}
TOLERANCE = 1e-8
moving = cases(robots(), batches=((), (3,)))


def errors(robot: torsor.Robot, frame: str, q: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Angle and distance between where a frame is and where it should be, by SciPy."""
    now = torsor.frame_pose(robot, q, frame)
    turn = Rotation.from_matrix(T[..., :3, :3] @ np.swapaxes(now[..., :3, :3], -1, -2))
    return turn.magnitude(), np.linalg.norm(T[..., :3, 3] - now[..., :3, 3], axis=-1)


def respects(robot: torsor.Robot, q: np.ndarray) -> bool:
    """Whether limits are kept to the last bit."""
    return bool(np.all((q >= np.array(robot.limits.lower)) & (q <= np.array(robot.limits.upper))))


def moving_frame(case: Case) -> str:
    """A frame that some joint moves."""
    names = [frame.name for frame in case.robot.structure.frames if frame.link >= 0]
    return str(case.rng.choice(names))


# Round trips


@pytest.mark.compiled
@pytest.mark.parametrize("name", ARMS)
def test_thousands_of_reachable_poses_are_reached_within_the_limits(name):
    robot, frame = getattr(torsor.robots, name)(), ARMS[name]
    T = torsor.frame_pose(robot, torsor.random_configuration(robot, seed=7, batch=(3000,)), frame)
    found = torsor.inverse_kinematics(robot, frame, T, seed=1)
    assert found.success.mean() >= 0.998
    assert respects(robot, found.q)
    angle, distance = errors(robot, frame, found.q, T)
    assert angle[found.success].max() <= 1.01 * TOLERANCE
    assert distance[found.success].max() <= 1.01 * TOLERANCE
    assert_close(found.angle_error, angle, 1e-12)
    assert_close(found.position_error, distance, 1e-12)
    assert set(found.reason[found.success]) == {"reached"}
    assert bool(found) == found.success.all()


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["position", "orientation"])
def test_positions_and_orientations_alone(kind):
    robot, frame = torsor.robots.panda(), "hand_tcp"
    T = torsor.frame_pose(robot, torsor.random_configuration(robot, seed=3, batch=(500,)), frame)
    targets = T[:, :3, 3] if kind == "position" else T[:, :3, :3]
    found = torsor.inverse_kinematics(robot, KINDS[kind](frame), targets)
    assert found
    assert respects(robot, found.q)
    angle, distance = errors(robot, frame, found.q, T)
    asked, other = (distance, angle) if kind == "position" else (angle, distance)
    assert asked.max() <= 1.01 * TOLERANCE
    assert other.max() > 0.1  # nobody asked for it
    assert not np.any(found.angle_error if kind == "position" else found.position_error)


@pytest.mark.compiled
def test_without_limits_joints_go_anywhere():
    robot, frame = torsor.robots.panda(), "hand_tcp"
    q = np.array(robot.limits.upper) + 0.3  # all joints beyond
    T = torsor.frame_pose(robot, q, frame)
    assert torsor.inverse_kinematics(robot, frame, T, start=q + 0.05, starts=1, within_limits=False)
    assert not torsor.inverse_kinematics(robot, frame, T, start=q + 0.05, starts=1)


@pytest.mark.compiled
def test_every_joint_kind_from_random_starts():
    for seed in range(3):
        robot = torsor.robots.random_tree(6, seed=seed, serial=True, mimic=True)
        q = torsor.random_configuration(robot, seed=seed, batch=(50,))
        found = torsor.inverse_kinematics(robot, "tool", torsor.frame_pose(robot, q, "tool"))
        assert found, found


@given(moving, seeds)
@settings(max_examples=25)
def test_from_nearby_every_robot_finds_the_way_back(case, seed):
    robot, frame = case.robot, moving_frame(case)
    T = torsor.frame_pose(robot, case.q, frame)
    nudge = 0.02 * np.random.default_rng(seed).normal(size=case.v.shape)
    found = torsor.inverse_kinematics(robot, frame, T, start=torsor.integrate(robot, case.q, nudge), starts=1)
    angle, distance = errors(robot, frame, found.q, T)
    assert found, found
    assert max(largest(angle), largest(distance)) <= 1.01 * TOLERANCE + 1e-13 * largest(T)


# Limits


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(10))
def test_limits_of_planar_and_free_joints_are_kept_too(seed):
    robot, frame, rng = platform(), "turn_link", np.random.default_rng(seed)
    T = pose_of(rng.normal(size=3), 0.6 * rng.normal(size=3))
    found = torsor.inverse_kinematics(robot, frame, T, starts=5)
    assert respects(robot, found.q)
    assert bool(found) == (found.residual <= TOLERANCE)
    if not found:  # no small step that the limits allow makes it better
        box = aimed(robot, frame, True).aim.box
        for u in 1e-3 * rng.normal(size=(50, box.size)):
            near = moved(robot, box, found.q, u)
            assert merit(robot, near, T, found) >= merit(robot, found.q, T, found) * (1 - 1e-6)


def platform() -> torsor.Robot:
    """One joint of each kind that has limits of its own sort: of places, of an angle, on one side, of a position, none."""
    joints = [
        torsor.Joint(name="slide", kind="planar", lower=[-0.3, -0.2, -1.0], upper=[0.1, 0.4, 0.5]),
        torsor.Joint(name="lift", kind="prismatic", parent="slide_link", axis=[0, 0, 1], lower=-0.2),
        torsor.Joint(
            name="fly",
            kind="free",
            parent="lift_link",
            lower=[-0.1] * 3 + [-np.inf] * 4,
            upper=[0.2] * 3 + [np.inf] * 4,
        ),
        torsor.Joint(
            name="turn", kind="revolute", parent="fly_link", axis=[1, 0, 0], pose=pose_of([0.3, -0.2, 0.5], [0.1, 0, 0])
        ),
    ]
    return torsor.assemble(joints, name="platform")


def merit(robot: torsor.Robot, q: np.ndarray, T: np.ndarray, found: torsor.tasks.InverseKinematics) -> float:
    """What is to be small, by its definition."""
    e = measured(robot, q, T.ravel(), aimed(robot, found.task, True).aim).error
    return float(e @ e)


@pytest.mark.compiled
def test_what_is_stuck_at_a_limit_is_named():
    robot = torsor.assemble(
        [
            torsor.Joint(name="shoulder", kind="revolute", axis=[0, 0, 1], lower=-0.5, upper=0.5),
            torsor.Joint(name="slide", kind="prismatic", parent="shoulder_link", axis=[1, 0, 0], lower=0.2, upper=1.0),
        ],
        name="polar arm",
    )
    found = torsor.inverse_kinematics(robot, torsor.position_task("slide_link"), [0.0, 0.8, 0.0])
    assert not found.success
    # The nearest point of the sector is the foot on its edge, at angle 0.5.
    assert_close(found.position_error, 0.8 * np.cos(0.5), 1e-7)
    assert_close(found.q, [0.5, 0.8 * np.sin(0.5)], 1e-6)
    assert "no solution within limits after 101 starts; nearest 70.2 cm" in found.reason.item()
    assert "stuck at a limit: shoulder (upper)" in found.reason.item()
    inwards = torsor.inverse_kinematics(robot, torsor.position_task("slide_link"), [0.1, 0.0, 0.0])
    assert "slide (lower)" in inwards.reason.item()
    assert_close(inwards.position_error, 0.1, 1e-9)


# Out of reach


@pytest.mark.compiled
def test_out_of_reach_is_known_and_the_nearest_approach_found():
    robot = torsor.robots.planar2r(lengths=(1.0, 0.5))
    frame = robot.frames[-1]
    found = torsor.inverse_kinematics(robot, torsor.position_task(frame), [[2.0, 0.0, 0.0], [0.0, -3.0, 0.0]])
    assert not found.success.any()
    tip = torsor.frame_pose(robot, found.q, frame)[:, :3, 3]
    largest_possible = np.linalg.norm(torsor.frame_pose(robot, np.zeros(2), frame)[:3, 3])
    assert_close(found.position_error, np.array([2.0, 3.0]) - largest_possible, 1e-7)
    assert_close(tip, largest_possible * np.array([[1.0, 0, 0], [0, -1.0, 0]]), 1e-6)
    assert all(str(reason).startswith("target out of reach") for reason in found.reason)
    assert "0 of 2 targets reached" in str(found)
    assert "target out of reach" in str(found)


@given(cases(robots(), batches=((5,),)))
@settings(max_examples=60)
def test_no_configuration_is_out_of_reach(case):
    frame = moving_frame(case)
    reach = reach_of(case.robot, frame, True)
    p = torsor.frame_pose(case.robot, case.q, frame)[..., :3, 3]
    assert np.all(distance_beyond(reach, p) <= 1e-9 * (1.0 + largest(p)))
    assert np.isfinite(reach.size)


def test_the_reach_of_a_straight_arm_is_attained():
    robot = torsor.robots.planar2r(lengths=(1.0, 0.5))
    reach = reach_of(robot, robot.frames[-1], True)
    tip = torsor.frame_pose(robot, np.zeros(2), robot.frames[-1])[:3, 3]
    assert_close(distance_beyond(reach, tip), 0.0)


# Where it starts


@pytest.mark.compiled
def test_a_solution_near_the_start_is_preferred():
    robot, frame = torsor.robots.ur5(), "tool0"
    q = torsor.random_configuration(robot, seed=5, batch=(200,))
    T = torsor.frame_pose(robot, q, frame)
    start = within(aimed(robot, frame, True).aim.box, q + 0.01 * np.random.default_rng(0).normal(size=q.shape))
    found = torsor.inverse_kinematics(robot, frame, T, start=start)
    assert found
    near = np.linalg.norm(found.q - start, axis=-1) < 0.2
    assert near.mean() > 0.95  # next to singularities the way may be long
    anywhere = torsor.inverse_kinematics(robot, frame, T)
    assert (np.linalg.norm(anywhere.q - start, axis=-1) < 0.2).mean() < 0.5


@pytest.mark.compiled
def test_the_nearest_of_all_solutions_on_request():
    robot, frame = torsor.robots.ur5(), "tool0"
    q = torsor.random_configuration(robot, seed=6, batch=(50,))
    start = torsor.random_configuration(robot, seed=8, batch=(50,))
    T = torsor.frame_pose(robot, q, frame)
    some = torsor.inverse_kinematics(robot, frame, T, start=start)
    best = torsor.inverse_kinematics(robot, frame, T, start=start, nearest=True, starts=61)
    both = some.success & best.success
    assert both.mean() > 0.95
    far, near = (np.linalg.norm(x.q - start, axis=-1)[both] for x in (some, best))
    assert np.all(near <= far + 1e-6)
    assert near.mean() < 0.9 * far.mean()
    # The one that the target was made from is a candidate, and there are no more than eight, whole turns apart.
    made_from = unwound(robot, aimed(robot, frame, True).aim.box, q, start)
    assert np.mean(near <= np.linalg.norm(made_from - start, axis=-1)[both] + 1e-6) > 0.95


@pytest.mark.compiled
def test_whole_turns_go_back_towards_the_start():
    robot, frame = torsor.robots.ur5(), "tool0"  # its joints may turn by 4π
    q = np.array([5.0, -1.0, 1.2, 4.5, -5.5, 5.9])
    T = torsor.frame_pose(robot, q, frame)
    found = torsor.inverse_kinematics(robot, frame, T, start=q - 2 * np.pi * np.array([1, 0, 0, 1, -1, 1]))
    again = torsor.inverse_kinematics(robot, frame, T, start=q, nearest=True, starts=21)
    assert found
    assert_close(again.q, q, 1e-6)
    assert not np.allclose(found.q, q)


@pytest.mark.compiled
def test_coordinates_that_do_not_move_the_frame_stay():
    robot = torsor.robots.random_tree(7, seed=11)
    frame = "link_3"
    path = {robot.structure.joints[i] for i in robot.structure.path_from_base(robot.structure.frame(frame).link)}
    others = [c for c in robot.structure.coordinates if c.name not in path]
    assert others
    q, start = torsor.random_configuration(robot, seed=0, batch=(2, 4))
    found = torsor.inverse_kinematics(robot, frame, torsor.frame_pose(robot, q, frame), start=start)
    assert found
    for c in others:
        assert np.array_equal(found.q[..., c.q], start[..., c.q])


@pytest.mark.compiled
def test_what_does_not_move_the_frame_is_within_its_limits_too():
    robot, frame = torsor.robots.panda(), "link_3"  # the fourth joint's limits do not allow zero
    T = torsor.frame_pose(robot, torsor.random_configuration(robot, seed=9, batch=(20,)), frame)
    found = torsor.inverse_kinematics(robot, frame, T)
    assert found
    assert respects(robot, found.q)
    assert np.all(found.q[:, 3] == robot.limits.upper[3])
    assert not np.any(found.q[:, [4, 6]])


# The equations


@given(cases(robots(), batches=((),)), seeds, st.sampled_from(["pose", "position", "orientation"]))
@settings(max_examples=60)
def test_the_gradient_of_the_error_is_exact(case, seed, kind):
    robot, frame, rng = case.robot, moving_frame(case), np.random.default_rng(seed)
    T = pose_of(rng.normal(size=3), rng.normal(size=3))
    target = {"pose": T, "position": T[:3, 3], "orientation": T[:3, :3]}[kind]
    aim = aimed(robot, KINDS[kind](frame), False).aim
    u = rng.normal(size=aim.box.size)
    e, J = measured(robot, case.q, target.ravel(), aim)
    assume(kind == "position" or np.linalg.norm(e[:3]) < 3.0)  # at half a turn the shortest way jumps

    def value(t):
        now = measured(robot, moved(robot, aim.box, case.q, t * u), target.ravel(), aim).error
        return 0.5 * now @ now

    assert_close(derivative(value), -(J @ u) @ e, 1e-6, scale=e @ e)


@given(cases(robots(), batches=((),)))
@settings(max_examples=40)
def test_a_small_step_is_a_motion(case):
    """To first order a step in box coordinates moves the frame as its Jacobian says."""
    robot, frame = case.robot, moving_frame(case)
    aim = aimed(robot, frame, False).aim
    u = case.rng.normal(size=aim.box.size)
    J = columns(aim.box, case.q, torsor.mixed_jacobian(robot, case.q, frame))
    T = torsor.frame_pose(robot, case.q, frame)
    rate = derivative(lambda t: torsor.frame_pose(robot, moved(robot, aim.box, case.q, t * u), frame))
    V = se3.spatial_velocity(T, rate)
    assert_close(np.concatenate([V[:3], rate[:3, 3]]), J @ u, 1e-6, scale=largest(T) * largest(u))


# Shapes and errors


@pytest.mark.compiled
@pytest.mark.parametrize("batch", [(), (0,), (1,), (2, 3)])
def test_batch_axes_come_first(batch):
    robot, frame = torsor.robots.iiwa(), "ee"
    T = torsor.frame_pose(robot, torsor.random_configuration(robot, seed=2, batch=batch), frame)
    found = torsor.inverse_kinematics(robot, frame, T)
    assert found.q.shape == (*batch, robot.nq)
    for field in ("success", "angle_error", "position_error", "reason", "iterations", "starts", "residual"):
        assert getattr(found, field).shape == batch, field
    assert found
    assert str(found)
    assert found.robot is robot
    assert repr(found).startswith("InverseKinematics(robot=") and len(repr(found)) < 400
    assert pickle.loads(pickle.dumps(found)).q.shape == found.q.shape
    starts = torsor.random_configuration(robot, seed=3, batch=(4, *(1,) * len(batch)))
    assert torsor.inverse_kinematics(robot, frame, T, start=starts).q.shape == (4, *batch, robot.nq)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ARMS)
def test_one_target_from_nearby_is_answered_as_in_a_batch(name):
    """Arrays go to the kernel by the shortest way, lists by that of all others; in threads at the same time, too."""
    robot, frame = getattr(torsor.robots, name)(), ARMS[name]
    q = torsor.random_configuration(robot, seed=8, batch=(50,))
    T, start = torsor.frame_pose(robot, q, frame), q + 0.02 * np.random.default_rng(0).normal(size=q.shape)

    def solve(k: int) -> torsor.tasks.InverseKinematics:
        return torsor.inverse_kinematics(robot, frame, T[k], start=start[k], tolerance=1e-7)

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(solve, range(50)))
    assert all(found) and all(respects(robot, one.q) for one in found)
    assert all(one.starts == 1 and str(one.reason) == "reached" and one.q.shape == (robot.nq,) for one in found)
    listed = [torsor.inverse_kinematics(robot, frame, T[k].tolist(), start=start[k], tolerance=1e-7) for k in range(10)]
    assert_close([one.q for one in found[:10]], [one.q for one in listed], 1e-5)
    angle, distance = errors(robot, frame, np.array([one.q for one in found]), T)
    assert_close([one.angle_error for one in found], angle, 1e-12)
    assert_close([one.position_error for one in found], distance, 1e-12)
    assert all(one.residual == max(one.angle_error, one.position_error) for one in found)
    outside = np.array(start[0])
    outside[0] = robot.limits.upper[0] + 1.0
    assert respects(robot, torsor.inverse_kinematics(robot, frame, T[0], start=outside).q)


@pytest.mark.compiled
def test_the_same_call_gives_the_same_answer():
    robot, frame = torsor.robots.panda(), "hand_tcp"
    T = torsor.frame_pose(robot, torsor.random_configuration(robot, seed=2, batch=(100,)), frame)
    one, two, other = (torsor.inverse_kinematics(robot, frame, T, seed=seed).q for seed in (1, 1, 2))
    assert np.array_equal(one, two)
    assert not np.allclose(one, other)


def test_compiled_and_not_agree():
    robot, frame = torsor.robots.panda(), "hand_tcp"
    T = torsor.frame_pose(robot, torsor.random_configuration(robot, seed=4, batch=(20,)), frame)
    start = within(aimed(robot, frame, True).aim.box, torsor.random_configuration(robot, seed=5, batch=(20,)))
    numpy = torsor.inverse_kinematics(robot, frame, T, start=start, starts=1, iterations=20)
    with torsor.backend("compiled"):
        compiled = torsor.inverse_kinematics(robot, frame, T, start=start, starts=1, iterations=20)
    assert np.array_equal(numpy.success, compiled.success)
    assert 0.3 < numpy.success.mean() < 1.0
    assert_close(numpy.q[numpy.success], compiled.q[numpy.success], 1e-5)


EYE = np.eye(4)


@pytest.mark.parametrize(
    "arguments, kind, words",
    [
        (("hand", EYE), torsor.UnknownName, "hand_tcp"),
        (("base", EYE), torsor.ModelError, "fixed to the base"),
        (("hand_tcp", np.full((4, 4), np.nan)), torsor.ModelError, "NaN"),
        (("hand_tcp", np.stack([EYE, 2 * EYE])), torsor.ModelError, r"target \[1\].*bottom row"),
        (("hand_tcp", np.diag([1.0, 1.0, -1.0, 1.0])), torsor.ModelError, "reflection"),
        (("hand_tcp", np.diag([1.0, 1.1, 1.0, 1.0])), torsor.ModelError, "not a rotation"),
        (("hand_tcp", np.zeros(3)), torsor.ShapeError, r"\(..., 4, 4\)"),
        (
            ("hand_tcp", np.zeros(3)),
            torsor.ShapeError,
            r"got \(3,\). For this pass the task torsor.position_task\('hand_tcp'\)",
        ),
        (("hand_tcp", np.eye(3)), torsor.ShapeError, r"pass the task torsor.orientation_task\('hand_tcp'\)"),
        ((KINDS["position"]("hand_tcp"), EYE), torsor.ShapeError, r"\(..., 3\)"),
        ((KINDS["position"]("hand_tcp"), [np.inf, 0, 0]), torsor.ModelError, "infinity"),
        ((KINDS["orientation"]("hand_tcp"), 2 * np.eye(3)), torsor.ModelError, "not a rotation"),
        (("hand_tcp", EYE, {"kind": "place"}), torsor.TorsorError, "no argument is called `kind`"),
        (("hand_tcp", EYE, {"nearest": True}), torsor.TorsorError, "pass start="),
        (("hand_tcp", EYE, {"start": np.zeros(6)}), torsor.ShapeError, r"\(..., 7\)"),
        (("hand_tcp", EYE, {"start": np.full(7, np.nan)}), torsor.ModelError, "NaN"),
        (("hand_tcp", np.stack([EYE] * 3), {"start": np.zeros((2, 7))}), torsor.ShapeError, "do not broadcast"),
        (("hand_tcp", EYE, {"tolerance": 0.0}), torsor.TorsorError, "tolerance"),
        (("hand_tcp", EYE, {"starts": 0}), torsor.TorsorError, "starts"),
        (("hand_tcp", EYE, {"iterations": 0}), torsor.TorsorError, "iterations"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(arguments, kind, words):
    frame, targets, *options = arguments
    with pytest.raises(kind, match=words):
        torsor.inverse_kinematics(torsor.robots.panda(), frame, targets, **(options[0] if options else {}))


@pytest.mark.compiled
def test_arrays_of_jax_are_numbers_but_not_while_it_traces(jax_in_doubles):
    jax, robot = jax_in_doubles, torsor.robots.panda()
    T = jax.numpy.asarray(torsor.frame_pose(robot, torsor.random_configuration(robot, seed=0), "flange"))
    assert torsor.inverse_kinematics(robot, "flange", T)
    with pytest.raises(torsor.TorsorError, match="cannot run inside jit"):
        jax.jit(lambda T: torsor.inverse_kinematics(robot, "flange", T).q)(T)


def test_no_robot_and_no_traced_numbers():
    with pytest.raises(torsor.TorsorError, match=r"must be a torsor\.Robot"):
        torsor.inverse_kinematics("panda", "hand_tcp", EYE)
    with pytest.raises(torsor.TorsorError, match="plain numbers"):
        torsor.compile(
            lambda robot, T: torsor.inverse_kinematics(robot, "hand_tcp", T).q, torsor.robots.panda(), {"T": (4, 4)}
        )
