"""MJCF against MuJoCo itself: whatever it can say, the robot that torsor reads has MuJoCo's mass matrix, forces and poses.

Tolerance. Both compute in doubles from the same numbers: 1e-12 of the largest entry. Real models go to 1e-10, for their
masses differ by ten orders of magnitude.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import mujoco
import numpy as np
import pytest
from mjcf_models import MODELS, world
from mujoco_model import check_agreement, compiled, load

import torsor

ROUNDING = 1e-12
REAL = 1e-10


@pytest.mark.parametrize("name", MODELS)
def test_a_model_has_the_equations_and_poses_that_mujoco_has(name):
    check_agreement(load(MODELS[name]), compiled(MODELS[name]), ROUNDING, states=5)


@pytest.mark.parametrize("name", MODELS)
def test_read_written_and_read_again_it_is_the_same(name):
    robot = load(MODELS[name])
    text = robot.to_mjcf()
    check_agreement(robot, compiled(text), ROUNDING)
    assert_same(load(text), robot)


def assert_same(got: torsor.Robot, want: torsor.Robot, within: float = 1e-12) -> None:
    """The same names, tree and numbers; frames may come in another order."""
    for field in ("name", "base", "joints", "links", "parents", "kinds", "coordinates"):
        assert getattr(got.structure, field) == getattr(want.structure, field), field
    assert set(got.frames) == set(want.frames)
    pairs = [
        (getattr(got.structure.limits, f), getattr(want.structure.limits, f)) for f in ("lower", "upper", "effort")
    ]
    pairs += [(tuple(a), tuple(b)) for a, b in zip(got.structure.couplings, want.structure.couplings, strict=True)]
    for leaf in got.parameters._fields:
        if leaf != "frame_poses":
            pairs.append((getattr(got.parameters, leaf), getattr(want.parameters, leaf)))
    for frame in want.structure.frames:
        other = got.structure.frame(frame.name)
        assert other.link == frame.link
        if frame.pose_row is not None:
            pairs.append((got.parameters.frame_poses[other.pose_row], want.parameters.frame_poses[frame.pose_row]))
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=within, atol=within)


# What is where


def test_names_and_chains():
    robot = load(MODELS["several joints in one body"])
    assert robot.joints == ("x", "z", "turn", "roll", "up", "out")
    assert robot.links == ("torso__x", "torso__z", "torso__turn", "torso", "arm__up", "arm")
    assert (robot.name, robot.structure.base) == ("small", "world")


def test_nameless_things_get_names_that_stay():
    robot = load(MODELS["frames, copies, nameless things"])
    assert robot.joints[:4] == ("body_1_joint1", "body_1_joint2", "body_2_joint1", "body_2_joint2")
    assert robot.joints[4:] == ("sway0", "sway1", "sway2")
    assert robot.links[1] == "body_1" and robot.links[3:] == ("body_2", "post0", "post1", "post2")


def test_q_is_qpos_whatever_the_reference():
    """At qpos = ref the body is where the file draws it."""
    text = world(
        '<body name="a" pos="1 2 3"><joint type="slide" axis="0 0 1" ref="3" range="2 4"/><geom size=".1"/></body>'
    )
    robot = load(text)
    assert torsor.frame_pose(robot, [3.0], "a")[2, 3] == 3.0
    assert (robot.limits.lower, robot.limits.upper) == ((2.0,), (4.0,))


def test_limits_efforts_and_friction():
    robot = load(MODELS["friction, armature, efforts, limits"])
    assert robot.limits.lower[0] == -1.0 and robot.limits.upper[0] == 2.0
    assert robot.limits.effort[0] == 5.0 and np.isinf(robot.limits.effort[1])
    assert np.isinf(robot.limits.upper[-1])  # limited="false"
    np.testing.assert_allclose(robot.parameters.armature, [0.2, 0.02, 0.02, 0.02, 0.0])
    np.testing.assert_allclose(robot.parameters.viscous_friction, [0.3, 0.03, 0.03, 0.03, 0.0])
    np.testing.assert_allclose(robot.parameters.coulomb_friction, [0.4, 0.04, 0.04, 0.04, 0.0])


def test_a_constraint_between_joints_makes_one_follow_the_other():
    robot = load(MODELS["joints that follow others"])
    assert robot.coordinates == ("lead",)
    # follow − (−0.1) = 0.3 − 2 (lead − 0.2), third = 0.1 (follow − (−0.1)), for the reference of `third` is 0
    follow, third = robot.structure.couplings[1:]
    np.testing.assert_allclose([follow.ratio, follow.offset], [-2.0, 0.6])
    np.testing.assert_allclose([third.ratio, third.offset], [-0.2, 0.1 * 0.7])
    np.testing.assert_allclose(robot.parameters.viscous_friction, [4 * 0.3])


def test_gravity_and_its_switch():
    np.testing.assert_array_equal(load(MODELS["gravity elsewhere"]).gravity, [1, 2, 3])
    np.testing.assert_array_equal(load(MODELS["no gravity"]).gravity, [0, 0, 0])
    np.testing.assert_array_equal(load(MODELS["no gravity"], gravity=(0, 0, -9.81)).gravity, [0, 0, -9.81])


def test_flags_switch_off_what_they_name():
    text = MODELS["friction, armature, efforts, limits"]
    flags = '<option><flag frictionloss="disable" limit="disable"/></option>'
    robot = load(text.replace("<worldbody>", flags + "<worldbody>"))
    assert not np.any(robot.parameters.coulomb_friction) and np.all(np.isinf(robot.limits.upper))
    text = MODELS["joints that follow others"]
    robot = load(text.replace("<worldbody>", '<option><flag equality="disable"/></option><worldbody>'))
    assert robot.coordinates == ("lead", "follow", "third")


def test_sites_and_cameras_that_stand_still_are_frames():
    robot = load(MODELS["sites and cameras"])
    assert robot.frames == ("world", "a", "origin", "a_site", "tip", "eye")


def test_the_armature_and_damping_of_actuators_belong_to_their_joints():
    text = world(
        """<body name="a"><joint name="j" axis="1 0 0" armature="0.1" damping="0.2"/><geom size=".1" pos="0.1 0 0"/>
             <body name="b"><joint name="k" type="ball"/><geom size=".1" pos="0.1 0 0"/></body></body>""",
        '<compiler angle="radian"/><default><motor armature="0.5"/></default>',
        """<actuator><motor joint="j" gear="3" damping="0.7"/><motor joint="k" gear="2 0 0 0 0 0"/>
             <muscle joint="j"/></actuator>""",
    )
    if not hasattr(mujoco.MjModel, "actuator_armature"):
        pytest.skip("this release of MuJoCo has no armature of actuators")
    robot = load(text)
    # MuJoCo would simulate to find out how long its muscle gets: not if it is told to leave that.
    told = text.replace("<default>", '<compiler><lengthrange mode="none"/></compiler><default>')
    check_agreement(robot, compiled(told), ROUNDING)
    np.testing.assert_allclose(robot.parameters.armature, [0.1 + 0.5 * 9 + 0.5, 2.0, 2.0, 2.0])


def test_a_mesh_may_stand_where_no_file_does():
    """No file of that name exists, and none is looked for."""
    text = world(
        """<body name="a"><joint axis="1 0 0"/><inertial pos="0 0 0.1" mass="1" diaginertia="0.1 0.1 0.1"/>
             <geom type="mesh" mesh="m"/></body>""",
        '<asset><mesh name="m" file="nowhere/arm.stl"/><texture name="t" type="2d" file="nowhere.png"/></asset>',
    )
    robot = load(text)
    assert not any(finding.rule == "path-outside" for finding in robot.source.findings)
    np.testing.assert_allclose(robot.inertia("a").mass, 1.0)


# Real models


def real_models() -> list[Path]:
    """The models that come with gymnasium and with MuJoCo itself; only looked up, neither is imported."""
    found = []
    for package, folder in (("gymnasium", "envs/mujoco/assets"), ("mujoco", "testdata")):
        spec = find_spec(package)
        if spec is not None and spec.origin is not None:
            found += sorted((Path(spec.origin).parent / folder).glob("*.xml"))
    return found


# Each with the rule that refuses it: a file of one mesh, and a model with bodies made of meshes.
REFUSED = {"msh": {"no-moving-joint"}, "model": {"mesh-inertia"}}


@pytest.mark.parametrize("path", real_models(), ids=lambda path: path.stem)
def test_a_real_model_agrees_or_is_refused_for_a_reason(path):
    text = path.read_text()
    if path.stem in REFUSED:
        with pytest.raises(torsor.FileError) as raised:
            load(text)
        assert {finding.rule for finding in raised.value.findings} == REFUSED[path.stem]
        return
    robot = load(text)
    check_agreement(robot, compiled(text), REAL)
    again = load(robot.to_mjcf())
    assert_same(again, robot)
    check_agreement(again, compiled(text), REAL)


def test_real_models_are_there():
    assert len(real_models()) >= 14


def test_the_model_that_mujoco_tests_itself_with_agrees_once_its_meshes_have_inertias():
    """MuJoCo writes the inertias of meshes into the file, as the advice says; it is then read without opening them."""
    path = next(path for path in real_models() if path.stem == "model")
    spec = mujoco.MjSpec.from_file(str(path))
    if not hasattr(spec.compiler, "saveinertial"):
        pytest.skip("this release of MuJoCo does not write inertias")
    spec.compiler.saveinertial = True
    spec.compile()
    text = spec.to_xml()
    check_agreement(load(text), compiled(text), REAL)
