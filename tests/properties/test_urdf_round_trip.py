# ruff: noqa: E501 - files as they are written
"""A robot written as URDF and read again is the same robot; a file keeps its text where only inertias changed."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import torsor
from torsor import Inertia, Joint
from torsor.formats.write_urdf import roll_pitch_yaw

FILES = sorted((Path(__file__).parents[1] / "data" / "robots").glob("*.urdf"))
WITH_COMMENTS = """<?xml version="1.0" encoding="utf-8"?>
<!-- an arm, by hand -->
<robot name="arm">
  <link name="base"/>
  <link name="one"> <!-- the first -->
    <inertial><mass value="1.50"/><origin xyz="0.1 0 0" rpy="0.1 0.2 0.3"/>
      <inertia ixx="0.010" ixy="0" ixz="0" iyy="0.020" iyz="0" izz="0.020"/></inertial>
    <visual><geometry><mesh filename="package://arm/one.stl"/></geometry></visual>
  </link>
  <link name="plate"><inertial><mass value="0.2"/><inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>
  <link name="two &gt; one"/>
  <link name="end"><visual/></link>
  <joint name="j1" type="continuous"><parent link="base"/><child link="one"/><axis xyz="0 1 0"/></joint>
  <joint name="weld" type="fixed"><origin xyz="0 0 0.1" rpy="0 0.5 0"/><parent link="one"/><child link="plate"/></joint>
  <joint name="weld2" type="fixed"><parent link="plate"/><child link="two &gt; one"/></joint>
  <joint name="j2" type="prismatic"><origin xyz="0.3 0 0"/><parent link="two &gt; one"/><child link="end"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.1" effort="1" velocity="1"/></joint>
  <!-- the end -->
</robot>
"""
INERTIAL = "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>"
END = Inertia.box((0.1, 0.1, 0.1), mass=0.7, com=(0.05, 0, 0))


def assert_same_dynamics(one, other, tolerance=1e-12):
    assert one.coordinates == other.coordinates
    q, v, a = torsor.random_state(one, seed=3, batch=(4,))
    for function, arguments in (
        (torsor.inverse_dynamics, (q, v, a)),
        (torsor.mass_matrix, (q,)),
        (torsor.friction_forces, (v,)),
    ):
        want = function(one, *arguments)
        np.testing.assert_allclose(function(other, *arguments), want, rtol=0, atol=tolerance * (1 + np.abs(want).max()))
    for frame in one.frames:
        np.testing.assert_allclose(
            torsor.frame_pose(other, q, frame), torsor.frame_pose(one, q, frame), rtol=0, atol=tolerance
        )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_that_was_not_changed_is_written_as_it_was(path):
    for base in ("fixed", "floating"):
        robot = torsor.load(path, base=base)
        assert robot.to_urdf() == path.read_text()
        assert torsor.load(robot.to_urdf(), base=base).digest == robot.digest


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_written_anew_it_is_the_same_to_rounding(path):
    robot = torsor.load(path).with_source(None)
    again = torsor.load(robot.to_urdf())
    assert again.structure == robot.structure
    for mine, its in zip(robot.parameters, again.parameters, strict=True):
        np.testing.assert_allclose(its, mine, rtol=0, atol=4e-15 * (1 + np.abs(mine).max(initial=0)))


def test_other_inertias_are_written_into_the_file_and_nothing_else_changes():
    text = WITH_COMMENTS.replace(
        '<link name="end"><visual/></link>',
        '<link name="end"><visual/><inertial><mass value="0.1"/><inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial></link>',
    )
    robot = torsor.load(text)
    heavier = robot.with_inertia("end", END)
    written = heavier.to_urdf()
    start = text.index('<inertial><mass value="0.1"')
    end = text.index("</inertial>", start) + len("</inertial>")
    assert written.startswith(text[:start])
    assert written.endswith(text[end:])
    again = torsor.load(written)
    assert_same_dynamics(heavier, again)
    np.testing.assert_array_equal(again.parameters.inertias[0], robot.parameters.inertias[0])  # untouched: to the bit
    np.testing.assert_array_equal(again.parameters.poses, robot.parameters.poses)
    np.testing.assert_allclose(again.parameters.inertias[1], heavier.parameters.inertias[1], rtol=0, atol=1e-15)


def test_a_link_with_parts_fixed_to_it_takes_all_of_the_new_inertia():
    text = WITH_COMMENTS.replace(
        "<visual/>", "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>"
    )
    robot = torsor.load(text)
    changed = robot.with_inertia("one", END)
    written = changed.to_urdf()
    assert "<!-- the first -->" in written
    assert "package://arm/one.stl" in written
    assert written.count("<inertial>") == 2  # the plate's is part of the link's now
    assert_same_dynamics(changed, torsor.load(written))


def test_a_link_without_inertia_gets_one():
    text = WITH_COMMENTS.replace('<link name="end"><visual/></link>', '<link name="end"/>').replace(
        '<joint name="j2" type="prismatic"', '<joint name="j2" type="fixed"'
    )
    robot = torsor.load(text)
    heavy = torsor.load(robot.with_payload("end", END).to_urdf())
    assert_same_dynamics(robot.with_payload("end", END), heavy)


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1"])
def test_a_file_in_another_encoding_is_read_and_written_anew(encoding, tmp_path):
    path = tmp_path / "arm.urdf"
    text = WITH_COMMENTS.replace("utf-8", encoding).replace("the first", "erste Länge").replace("<visual/>", INERTIAL)
    path.write_bytes(text.encode(encoding))
    robot = torsor.load(path)
    with pytest.warns(torsor.ModelWarning, match="collisions, textures and comments are left out"):
        written = robot.with_inertia("end", END).to_urdf(tmp_path / "new.urdf")
    assert_same_dynamics(robot.with_inertia("end", END), torsor.load(tmp_path / "new.urdf"))
    assert torsor.load(written).joints == robot.joints


def test_what_is_lost_is_said():
    robot = torsor.load(WITH_COMMENTS.replace("<visual/>", INERTIAL))
    with pytest.warns(torsor.ModelWarning, match="<text> is written anew .* comments are left out"):
        robot.rename({"j1": "first"}).to_urdf()
    with pytest.raises(torsor.ModelError, match="has a gravity that URDF cannot say"):
        robot.with_gravity((0, 0, -1.62)).to_urdf()
    assert robot.with_gravity((0, 0, -1.62)).to_urdf(drop="gravity") == robot.to_urdf()


def test_repairs_on_the_base_are_written_back():
    bad = INERTIAL.replace("ixx='1'", "ixx='9'")
    text = WITH_COMMENTS.replace('<link name="base"/>', f'<link name="base">{bad}</link>').replace(
        "<visual/>", INERTIAL
    )
    robot = torsor.load(text, repair=["inertia-triangle"], base="floating")
    assert_same_dynamics(robot, torsor.load(robot.to_urdf(), base="floating"))
    fixed = torsor.load(text, repair="inertia-triangle")
    assert torsor.load(fixed.to_urdf()).source.findings == ()
    with pytest.warns(torsor.ModelWarning, match="inertia-of-base"):
        torsor.load(text)  # it enters no equation
    with pytest.raises(torsor.FileError, match="inertia-triangle"):
        torsor.load(text, base="floating")


def test_a_follower_that_turns_the_other_way_leaves_no_range_and_says_so():
    limit = '<limit lower="0" upper="0.5" effort="1" velocity="1"/>'
    joint = (
        '<joint name="{}" type="revolute"><parent link="base"/><child link="{}"/><axis xyz="0 0 1"/>'
        + limit
        + "{}</joint>"
    )
    links = "".join(f'<link name="{name}">{INERTIAL}</link>' for name in "ab")
    text = f'<robot name="r"><link name="base"/>{links}{joint.format("j", "a", "")}'
    text += joint.format("k", "b", '<mimic joint="j" multiplier="-1"/>') + "</robot>"
    with pytest.warns(torsor.ModelWarning, match="it leaves its leader 'j' only 0"):
        robot = torsor.load(text)
    assert torsor.random_configuration(robot, seed=0) == 0.0


def test_repairs_are_written_back():
    text = WITH_COMMENTS.replace(
        "<visual/>", "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='3'/></inertial>"
    )
    robot = torsor.load(text, repair=["inertia-triangle"])
    again = torsor.load(robot.to_urdf())
    assert_same_dynamics(robot, again)


def test_an_edited_robot_is_written_anew(tmp_path):
    robot = torsor.load(FILES[0]).with_frame(
        "camera", torsor.load(FILES[0]).links[-1], torsor.pose_from((0.1, 0, 0), (0, 1, 0))
    )
    robot.to_urdf(tmp_path / "arm.urdf")
    again = torsor.load(tmp_path / "arm.urdf")
    assert again.frames == robot.frames
    assert_same_dynamics(robot, again)


@settings(max_examples=30)
@given(st.integers(1, 12), st.integers(0, 10**6), st.booleans(), st.booleans(), st.booleans())
def test_random_trees_come_back(n, seed, mimic, friction, fixed):
    one = mimic or friction  # of joints with more freedoms, URDF can say neither
    kinds = ("revolute", "prismatic") if one else ("revolute", "prismatic", "planar", "free")
    robot = torsor.robots.random_tree(n, seed=seed, kinds=kinds, mimic=mimic and n > 1, friction=friction, fixed=fixed)
    again = torsor.load(robot.to_urdf(drop=["gravity", "coulomb width", "limits"]), gravity=robot.gravity)
    assert set(robot.frames) <= set(again.frames)
    assert again.joints == robot.joints
    np.testing.assert_allclose(again.limits.lower, robot.limits.lower)
    np.testing.assert_allclose(again.limits.upper, robot.limits.upper)
    assert_same_dynamics(robot, again.with_coulomb_width(robot.structure.coulomb_width))


@settings(max_examples=200)
@given(st.tuples(*[st.floats(-4, 4)] * 3), st.sampled_from([None, np.pi / 2, -np.pi / 2]))
def test_angles_give_the_rotation_back_also_when_it_points_straight_up(rpy, pitch):
    rpy = (rpy[0], rpy[1] if pitch is None else pitch, rpy[2])
    R = torsor.pose_from((0, 0, 0), rpy)[:3, :3]
    np.testing.assert_allclose(torsor.pose_from((0, 0, 0), roll_pitch_yaw(R))[:3, :3], R, rtol=0, atol=2e-15)


def test_what_urdf_cannot_say_is_refused_by_name():
    arm = torsor.robots.ur5()
    with pytest.raises(
        torsor.ModelError, match=r"has a gravity that URDF cannot say. Leave it out with .*drop=\['gravity'\]"
    ):
        arm.with_gravity((0, 0, -1.62)).to_urdf()
    with pytest.raises(torsor.ModelError, match="has a joint order that URDF cannot say"):
        arm.reorder(arm.coordinates[::-1]).to_urdf()
    sled = [Joint(name="s", kind="planar", inertia=END, viscous_friction=1.0)]
    with pytest.raises(torsor.ModelError, match="has friction that URDF cannot say"):
        torsor.assemble(sled).to_urdf()
    with pytest.raises(torsor.ModelError, match="which XML cannot hold"):
        arm.rename({arm.joints[0]: " "}).to_urdf()
    ball = torsor.assemble([Joint(name="b", kind="spherical", inertia=END)])
    with pytest.raises(
        torsor.ModelError, match=r"joint 'b' is spherical, which URDF cannot say; use robot.to_json\(\)"
    ):
        ball.to_urdf()
    with pytest.raises(torsor.UnknownName, match="`drop` must be 'gravity', 'armature'"):
        arm.to_urdf(drop=["inertia"])


def test_options_of_loading():
    text = FILES[0].read_text()
    robot = torsor.load(text)
    first, last = robot.coordinates[0], robot.coordinates[-1]
    assert torsor.load(text, lock={first: 0.3}).coordinates == robot.coordinates[1:]
    assert torsor.load(text, joint_order=robot.coordinates[::-1]).coordinates[0] == last
    assert tuple(torsor.load(text, gravity=(0, 0, -1.62)).gravity) == (0, 0, -1.62)
    floating = torsor.load(text, base="floating")
    assert floating.nv == robot.nv + 6
    assert floating.structure.kinds[0] == "free"
    with pytest.raises(torsor.UnknownName, match="`base` must be 'fixed' or 'floating', got 'free'"):
        torsor.load(text, base="free")
    with pytest.raises(torsor.UnknownName, match="`format` must be 'urdf', 'mjcf', 'json' or 'yaml', got 'sdf'"):
        torsor.load(text, format="sdf")


def test_mimic_joints_chains_friction_and_planar_axes():
    text = """<robot name="gripper"><link name="base"/>
      <link name="a"><inertial><mass value="1"/><origin xyz="0.1 0 0"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
      <link name="b"><inertial><mass value="2"/><origin xyz="0.2 0 0"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
      <link name="c"><inertial><mass value="3"/><origin xyz="0.3 0 0"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
      <joint name="ja" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/><dynamics damping="1" friction="1"/></joint>
      <joint name="jb" type="continuous"><parent link="base"/><child link="b"/><axis xyz="0 0 1"/><dynamics damping="1" friction="1"/>
        <mimic joint="ja" multiplier="-2" offset="0.5"/></joint>
      <joint name="jc" type="continuous"><parent link="base"/><child link="c"/><axis xyz="0 0 1"/><mimic joint="jb" multiplier="3"/></joint>
    </robot>"""
    robot = torsor.load(text)
    assert robot.nv == 1
    poses = torsor.link_poses(robot, [0.2])
    angles = np.arctan2(poses[:, 1, 0], poses[:, 0, 0])
    np.testing.assert_allclose(angles, [0.2, -2 * 0.2 + 0.5, 3 * (-2 * 0.2 + 0.5)], atol=1e-15)
    assert robot.parameters.viscous_friction[0] == 1 + 4  # by the ratio squared
    assert robot.parameters.coulomb_friction[0] == 1 + 2
    np.testing.assert_allclose(torsor.mass_matrix(robot, [0.2]), [[0.02 + 4 * 0.09 + 36 * 0.28]])


def test_a_planar_joint_moves_in_the_plane_normal_to_its_axis():
    text = """<robot name="puck"><link name="table"/>
      <link name="disc"><inertial><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial></link>
      <joint name="slide" type="planar"><parent link="table"/><child link="disc"/><axis xyz="0 1 0"/></joint></robot>"""
    robot = torsor.load(text)
    q = np.array([0.3, -0.2, 0.7])
    T = torsor.frame_pose(robot, q, "disc")
    np.testing.assert_allclose(T[:3, 1], [0, 1, 0], atol=1e-15)  # it turns about the axis
    assert abs(T[1, 3]) < 1e-15
    np.testing.assert_allclose(np.hypot(T[0, 3], T[2, 3]), np.hypot(0.3, 0.2))
    np.testing.assert_allclose(np.diag(torsor.mass_matrix(robot, q)), [0.02, 1, 1])


def test_an_inertia_beyond_a_plane_of_its_own_is_written_anew():
    """A planar joint that is not in x-y moves a link that its file does not have."""
    body = "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>"
    joint = '<joint name="j" type="planar"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/></joint>'
    robot = torsor.load(f'<robot name="r"><link name="a"/><link name="b">{body}</link>\n{joint}</robot>')
    heavier = robot.with_payload("b", torsor.Inertia.point(1.0))
    again = torsor.load(heavier.to_urdf())
    q, v, a = torsor.random_state(heavier, seed=0)
    expected = torsor.inverse_dynamics(heavier, q, v, a)
    np.testing.assert_allclose(torsor.inverse_dynamics(again, q, v, a), expected, atol=1e-12)
