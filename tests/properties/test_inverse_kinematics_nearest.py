"""What must be true of inverse kinematics that is to stay near a configuration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from property_checks import assert_close
from property_strategies import cases, pose_of, robots, seeds

import torsor
from torsor.tasks import Task
from torsor.tasks._inverse_kinematics import search
from torsor.tasks._inverse_kinematics.box_coordinates import columns, moved, numbers, towards
from torsor.tasks._inverse_kinematics.solve import aimed

ARMS = [
    ("panda", torsor.pose_task("hand_tcp")),
    ("iiwa", torsor.pose_task("ee")),
    ("panda", torsor.position_task("hand_tcp")),
    ("panda", torsor.function_task(torsor.dynamics.centre_of_mass, 3)),
]


def slope_left(robot: torsor.Robot, task: Task, q: np.ndarray, start: np.ndarray) -> float:
    """The part of the way to the start that a robot could go with its task at rest, limits that it touches held."""
    box = aimed(robot, task, True).aim.box
    w, x = towards(box, q, start), numbers(box, q)
    J = columns(box, q, task.jacobian(robot, q))
    free = (x < np.array(box.upper)) & (x > np.array(box.lower))
    w, J = w[free], J[:, free]
    return float(np.linalg.norm(w - np.linalg.pinv(J, rtol=1e-6) @ (J @ w)))


def nearest_with_and_without_slides(monkeypatch, *arguments, **options) -> list[torsor.tasks.InverseKinematics]:
    found = [torsor.inverse_kinematics(*arguments, nearest=True, **options)]
    monkeypatch.setattr(search, "is_redundant", lambda robot, aim: False)
    return [*found, torsor.inverse_kinematics(*arguments, nearest=True, **options)]


@pytest.mark.compiled
@pytest.mark.parametrize("name, task", ARMS)
def test_the_nearest_solution_cannot_be_made_nearer_by_self_motion(name, task, monkeypatch):
    robot = getattr(torsor.robots, name)()
    made_from, start = torsor.random_configuration(robot, seed=1, batch=(2, 50))
    targets = task.value(robot, made_from)
    slid, plain = nearest_with_and_without_slides(monkeypatch, robot, task, targets, start=start, starts=21)
    assert slid
    assert np.all((slid.q >= np.array(robot.limits.lower)) & (slid.q <= np.array(robot.limits.upper)))
    near, far = (np.linalg.norm(x.q - start, axis=-1) for x in (slid, plain))
    assert np.all(near <= far + 1e-9)
    assert np.mean(near < far - 1e-3) > 0.5
    slopes = [slope_left(robot, task, q, s) for q, s in zip(slid.q, start, strict=True)]
    # Sixty steps of first order: a flat valley may take more, but seldom.
    assert np.mean(np.array(slopes) < 1e-4) > 0.95
    assert np.median(slopes) < 1e-6


@pytest.mark.compiled
@pytest.mark.parametrize("seed", [0, 1])
def test_the_nearest_for_every_joint_kind(seed, monkeypatch):
    robot = torsor.robots.random_tree(7, seed=seed, serial=True, mimic=seed % 2 == 1)
    made_from, start = torsor.random_configuration(robot, seed=seed, batch=(2, 10))
    targets = torsor.frame_pose(robot, made_from, "tool")
    slid, plain = nearest_with_and_without_slides(monkeypatch, robot, "tool", targets, start=start, starts=21)
    assert slid
    box = aimed(robot, "tool", True).aim.box
    near, far = (np.linalg.norm(towards(box, x.q, start), axis=-1) for x in (slid, plain))
    assert np.all(near <= far + 1e-9)
    slopes = [slope_left(robot, torsor.pose_task("tool"), q, s) for q, s in zip(slid.q, start, strict=True)]
    assert np.median(slopes) < 1e-3 * np.median(near)


@given(cases(robots(), batches=((), (3,))), seeds)
@settings(max_examples=40)
def test_the_way_to_another_configuration_leads_there(case, seed):
    robot = case.robot
    frame = next(frame.name for frame in reversed(robot.structure.frames) if frame.link >= 0)
    box = aimed(robot, frame, False).aim.box
    other = torsor.random_configuration(robot, seed=seed, batch=case.q.shape[:-1])
    there = moved(robot, box, case.q, towards(box, case.q, other))
    assert_close(torsor.frame_pose(robot, there, frame), torsor.frame_pose(robot, other, frame), 1e-9)


@pytest.mark.compiled
@pytest.mark.parametrize("name, frame", [("iiwa", "ee"), ("panda", "hand_tcp"), ("ur5", "tool0")])
def test_a_start_from_which_the_target_is_reached_is_not_abandoned(name, frame):
    """Next to singularities the way is slow, and a random start would be a jump."""
    robot = getattr(torsor.robots, name)()
    q = torsor.random_configuration(robot, seed=1, batch=(3000,))
    T = torsor.frame_pose(robot, q, frame)
    start = q + 0.5 * np.random.default_rng(0).normal(size=q.shape) / np.sqrt(robot.nq)
    alone = torsor.inverse_kinematics(robot, frame, T, start=start, starts=1)
    usual = torsor.inverse_kinematics(robot, frame, T, start=start)
    assert alone.success.mean() > 0.99
    assert np.sum(alone.success & (usual.starts > 1)) <= 1
    same = usual.starts == 1
    assert_close(usual.q[same], alone.q[same], 1e-12)


@pytest.mark.compiled
def test_the_start_is_moved_into_all_limits():
    robot, frame = torsor.robots.panda(), "link_3"
    T = torsor.frame_pose(robot, torsor.random_configuration(robot, seed=9, batch=(20,)), frame)
    start = np.array(robot.limits.upper) + 1.0
    found = torsor.inverse_kinematics(robot, frame, T, start=start)
    assert found
    assert np.all((found.q >= np.array(robot.limits.lower)) & (found.q <= np.array(robot.limits.upper)))
    assert np.all(found.q[:, 3:] == np.array(robot.limits.upper)[3:])
    anywhere = torsor.inverse_kinematics(robot, frame, T, start=start, within_limits=False)
    assert np.all(anywhere.q[:, 3:] == start[3:])


# Far away


def far_robots() -> dict[str, torsor.Robot]:
    """Robots of which slides without limits, or with distant ones, are a part."""
    turns = [
        torsor.Joint(
            name=f"turn_{k}",
            kind="revolute",
            parent="root_link" if k == 0 else f"turn_{k - 1}_link",
            axis=[0, k % 2, 1 - k % 2],
            pose=pose_of([0.0, 0.0, 0.0], [0.2, 0.0, 0.3]),
            lower=-2.5,
            upper=2.5,
        )
        for k in range(4)
    ]
    free, planar = (torsor.Joint(name="root", kind=kind) for kind in ("free", "planar"))
    rail = torsor.Joint(name="root", kind="prismatic", axis=[1, 0, 0])
    long_rail = torsor.Joint(name="root", kind="prismatic", axis=[1, 0, 0], lower=-2e4, upper=2e4)
    made = {"body": [free], "flyer": [free, *turns[:3]], "cart": [planar, *turns]}
    made |= {"rail": [rail, turns[0]], "long rail": [long_rail, turns[0]]}
    return {name: torsor.assemble(joints, name=name) for name, joints in made.items()}


@pytest.mark.compiled
@pytest.mark.parametrize("away", [100.0, 5000.0])
@pytest.mark.parametrize("name", far_robots())
def test_far_targets_of_long_slides_are_reached(name, away):
    robot = far_robots()[name]
    frame, kind = robot.structure.links[-1], robot.structure.kinds[0]
    q = torsor.random_configuration(robot, seed=3, batch=(20,))
    slides = {"free": 3, "planar": 2, "prismatic": 1}[kind]
    q[:, :slides] = away * np.random.default_rng(0).normal(size=(20, slides))
    T = torsor.frame_pose(robot, q, frame)
    found = torsor.inverse_kinematics(robot, frame, T)
    assert found, found
    assert torsor.inverse_kinematics(robot, frame, T[0])
    tip = torsor.frame_pose(robot, found.q, frame)
    assert np.abs(tip - T).max() < 1.1e-8


@pytest.mark.compiled
def test_limits_that_are_not_in_the_way_are_not_blamed():
    robot = far_robots()["rail"]
    T = pose_of([0.5, 0.0, 0.0], [3.0, 0.0, 0.3])  # turned out of the plane of the only turning joint
    found = torsor.inverse_kinematics(robot, "turn_0_link", T, starts=4)
    assert not found
    assert "no solution after 4 starts" in found.reason.item()
    assert "limit" not in found.reason.item()
