"""A robot written in torsor's own format and read again is the same robot, to the last bit: every number, name and order."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from property_strategies import ALL_KINDS, lumped_robots, robots, seeds, twists

import torsor
from torsor import Inertia, Joint, Mimic
from torsor.formats.write_screw_list import to_json, to_yaml
from torsor.model._assemble import disassemble, frames_of
from torsor.model.structure import Coupling

WRITERS = {"json": to_json, "yaml": to_yaml}
TINY = 5e-324  # the least number there is
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)


def assert_comes_back(robot):
    for format, write in WRITERS.items():
        text = write(robot)
        again = torsor.load(text, format=format)
        assert again.structure == robot.structure
        for name, mine, theirs in zip(robot.parameters._fields, robot.parameters, again.parameters, strict=True):
            assert np.array_equal(mine, theirs), (format, name)
        assert again.digest == robot.digest  # the signs of zeros too
        assert format != "json" or write(again) == text
        assert max(map(len, text.splitlines())) <= 120


def with_numbers_changed(robot, seed):
    """Zeros of either sign and tiny numbers wherever a number may be anything."""
    rng = np.random.default_rng(seed)

    def sprinkle(values, choices):
        chosen = np.where(rng.random(np.shape(values)) < 0.3, rng.choice(choices, size=np.shape(values)), values)
        return np.where(values == 0, np.copysign(0.0, rng.normal(size=np.shape(values))), chosen)

    def signs(values):
        return np.where(values == 0, np.copysign(0.0, rng.normal(size=np.shape(values))), values)

    p, special = robot.parameters, [0.0, -0.0, TINY, -TINY, 1e-310]
    return robot.with_parameters(
        gravity=sprinkle(p.gravity, special),
        armature=np.abs(sprinkle(p.armature, special)) * np.where(p.armature == 0, -1.0, 1.0),
        viscous_friction=np.abs(sprinkle(p.viscous_friction, [*special, 1e9])),
        coulomb_friction=signs(p.coulomb_friction),
        poses=signs(p.poses),
        screws=np.where(np.any(p.screws, axis=-1, keepdims=True), signs(p.screws), 0.0),
        frame_poses=signs(p.frame_poses),
        inertias=signs(p.inertias),
        base_inertia=signs(p.base_inertia),
    )


@given(robots(), seeds)
def test_random_trees_come_back(robot, seed):
    assert_comes_back(robot)
    assert_comes_back(with_numbers_changed(robot, seed))


@given(lumped_robots())
def test_robots_with_point_masses_rods_and_massless_links_come_back(robot):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", torsor.ModelWarning)  # massless connectors are accepted with a warning
        assert_comes_back(robot)


@given(robots(least=2, mimic=True), seeds)
@settings(max_examples=10)
def test_every_order_of_the_coordinates_comes_back(robot, seed):
    order = list(np.random.default_rng(seed).permutation(robot.coordinates))
    assert_comes_back(robot.reorder([str(name) for name in order]))


@given(robots(least=2), seeds)
@settings(max_examples=10)
def test_limits_base_inertia_and_friction_width_come_back(robot, seed):
    rng = np.random.default_rng(seed)

    def bounds(size, sign):
        values = sign * rng.uniform(0, 5, size) * 10.0 ** rng.integers(-300, 300, size)
        return np.where(rng.random(size) < 0.5, sign * np.inf, values)

    joints = []
    for joint in disassemble(robot):
        i = robot.structure.joint_index(joint.name)
        c = robot.structure.coordinate_of(i)
        if joint.mimic is None:
            joint = replace(
                joint,
                lower=bounds(c.nq, -1),
                upper=bounds(c.nq, 1),
                velocity_limit=bounds(c.nv, 1),
                effort_limit=bounds(c.nv, 1),
                armature=rng.uniform(0, 1, c.nv),
                coulomb_friction=rng.uniform(0, 1, c.nv) * (rng.random(c.nv) < 0.5),
            )
        joints.append(joint)
    body = Inertia.particles(rng.uniform(0.1, 1, 4), rng.normal(size=(4, 3)))
    made = torsor.assemble(
        joints,
        name=robot.name,
        frames=frames_of(robot),
        base_inertia=body,
        coulomb_width=float(rng.uniform()),
    )
    assert_comes_back(made)


@given(st.lists(twists(st.floats(0.1, 10.0), st.floats(0.1, 10.0)), min_size=1, max_size=5), seeds)
@settings(max_examples=10)
def test_screws_of_every_length_and_pitch_come_back(screws, seed):
    rng = np.random.default_rng(seed)
    homes = [torsor.pose_from(rng.normal(size=3), rng.normal(size=3)) for _ in screws]
    bodies = [Inertia.box(rng.uniform(0.1, 1, 3), mass=1.0, com=rng.normal(size=3)) for _ in screws]
    assert_comes_back(torsor.serial_chain(screws, homes, bodies))


@given(robots(least=2, serial=True), seeds)
@settings(max_examples=10)
def test_edited_robots_come_back(robot, seed):
    rng = np.random.default_rng(seed)
    edited = robot.with_frame("extra", "tool", torsor.pose_from(rng.normal(size=3), rng.normal(size=3)))
    edited = edited.with_payload("extra", Inertia.box((0.1, 0.2, 0.3), mass=0.7)).with_coulomb_width(-0.0)
    assert_comes_back(edited)
    assert_comes_back(edited.lock({name: edited.neutral[edited.q_slice(name)] for name in edited.coordinates[:-1]}))


@given(st.lists(NAMES, min_size=7, max_size=7, unique=True))
@settings(max_examples=10)
def test_every_name_comes_back(names):
    robot = torsor.robots.random_tree(2, seed=3, kinds=("revolute",), serial=True)
    old = ["base", "joint_0", "link_0", "joint_1", "link_1", "tool"]
    assert_comes_back(robot.rename(dict(zip(old, names[:-1], strict=True)), robot=names[-1]))


@pytest.mark.parametrize(
    "name", ["null", "true", "no", "1e5", "1", "~", "a: b", "# c", " x ", "-", "\x00", "\x85\u2028\ufeff", "é😀"]
)
def test_names_that_look_like_something_else_come_back(name):
    arm = torsor.robots.pendulum()
    assert_comes_back(arm.rename({arm.joints[0]: name}, robot=name))


@pytest.mark.parametrize("kind", ALL_KINDS)
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_robot_that_was_loaded_comes_back(kind, base):
    text = to_json(torsor.robots.random_tree(3, seed=2, kinds=(kind,), friction=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", torsor.ModelWarning)  # the floating base has no mass
        assert_comes_back(torsor.load(text, base=base, gravity=(0.0, 1.0, -0.0)))


def test_mimic_joints_keep_their_ratios_and_offsets():
    arm = torsor.robots.random_tree(6, seed=5, kinds=("revolute", "prismatic"), mimic=True)
    s = arm.structure
    odd = tuple(
        Coupling(c.coordinate, 0.1 + 0.2, -0.0) if s.coordinates[c.coordinate].name != name else c
        for name, c in zip(s.joints, s.couplings, strict=True)
    )
    assert s.has_couplings
    assert_comes_back(replace(arm, structure=replace(s, couplings=odd)))


def test_the_robots_of_the_zoo_come_back(tmp_path):
    zoo = torsor.robots
    for robot in (zoo.panda(), zoo.ur5(), zoo.iiwa(), zoo.pendulum(), zoo.planar2r(), zoo.cart_pole(), zoo.chain(5)):
        assert_comes_back(robot)
        for suffix, write in (("json", robot.to_json), ("yaml", robot.to_yaml), ("yml", robot.to_yaml)):
            path = tmp_path / f"robot.{suffix}"
            assert write(path) == path.read_text(encoding="utf-8")
            assert torsor.load(path) == robot


def test_a_robot_that_cannot_exist_says_so_in_its_file():
    """The Puma of the literature has a link without mass that has an inertia: refused, unless the file says it is meant."""
    puma = torsor.robots.puma560()
    text = to_json(puma)
    again = torsor.load(text, ignore=["massless-connector"])
    assert again.digest == puma.digest
    assert {finding.rule for finding in again.source.findings} == {"massless-with-inertia", "inertia-triangle"}
    assert all(finding.severity == "note" for finding in again.source.findings)
    with pytest.raises(torsor.FileError, match="massless-with-inertia"):
        torsor.load(text.replace('"accept"', '"ignored"'))
    found = torsor.check(text.replace('"massless-with-inertia"', '"mass-negative"'))
    assert any(
        "'accept' takes massless-with-inertia, inertia-triangle, inertia-units, idle-joint" in f.message for f in found
    )
    assert "massless-with-inertia" in {finding.rule for finding in found if finding.severity == "error"}


@pytest.mark.parametrize("name", ["panda", "ur5", "iiwa", "puma560", "planar2r", "cart_pole", "pendulum"])
def test_the_zoo_comes_back(name):
    robot = getattr(torsor.robots, name)()
    for text in (to_json(robot), to_yaml(robot)):
        assert torsor.load(text, ignore=["massless-connector"]) == robot


def test_what_the_format_cannot_say_is_refused():
    arm = torsor.robots.planar2r()
    p = arm.parameters
    with pytest.raises(torsor.ModelError, match=r"to_json: robot 'planar2r' cannot be written .* not a rotation"):
        to_json(torsor.Robot(arm.structure, p._replace(poses=p.poses * [[2.0], [1.0], [1.0], [1.0]])))
    with pytest.raises(torsor.ModelError, match=r"to_yaml: .*`parameters.screws` differs"):
        to_yaml(torsor.Robot(arm.structure, p._replace(screws=1.001 * p.screws)))
    with pytest.raises(torsor.ModelError, match="nothing in SI units exceeds 1e\\+50"):
        to_json(arm.with_gravity((0.0, 0.0, -1e60)))
    with pytest.raises(torsor.FileError, match="to_json: cannot write "):
        arm.to_json("/no/such/place.json")


def test_traced_robots_are_refused():
    jax = pytest.importorskip("jax")
    arm = torsor.robots.pendulum()
    with pytest.raises(torsor.ModelError, match="holds traced parameters"):
        jax.grad(lambda g: len(to_json(arm.with_gravity(g))) * g[0])(np.zeros(3))


def test_a_follower_of_a_follower_and_a_fixed_link_are_read_as_assembled():
    """Hand-written numbers that building must change are not taken as they are."""
    text = """
torsor: 1
joints:
  - {name: a, kind: revolute, axis: [0, 0, 2], inertia: {mass: 1, com: [1, 0, 0]}}
  - {name: b, kind: revolute, parent: a_link, axis: [0, 0, 1], mimic: {joint: a, ratio: 2, offset: 1}}
  - name: c
    kind: revolute
    parent: b_link
    screw: [0, 0, 3, 0, 0, 0]
    ratio: 2
    mimic: {joint: b, ratio: -1}
    inertia: {parameters: [1, 1, 0, 0, 0, 0, 0, 1, 0, 1]}
  - {name: weld, kind: fixed, parent: c_link, pose: {xyz: [0, 1, 0]}, inertia: {mass: 1.0e-11}}
"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", torsor.ModelWarning)
        read = torsor.load(text)
    a, b, c = (Inertia(1.0, (1.0, 0, 0)), Inertia.zero(), Inertia(1.0, (1.0, 0, 0)))
    made = torsor.assemble(
        [
            Joint(name="a", kind="revolute", axis=(0, 0, 1), inertia=a),
            Joint(name="b", kind="revolute", parent="a_link", axis=(0, 0, 1), inertia=b, mimic=Mimic("a", 2.0, 1.0)),
            Joint(name="c", kind="revolute", parent="b_link", screw=(0, 0, 6, 0, 0, 0), inertia=c, mimic=Mimic("a", -2.0, -1.0)),
            Joint(name="weld", kind="fixed", parent="c_link", pose=torsor.pose_from((0, 1, 0)), inertia=Inertia(1e-11)),
        ]
    )  # fmt: skip
    assert read == made
