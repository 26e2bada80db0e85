"""What a robot looks like: read from files, kept through edits, written back, drawn; and no part of what it is."""

import json
import pickle
import warnings

import numpy as np
import pytest
from test_urdf_rules import GOOD

import torsor
from torsor.model import Visual

URDF = GOOD.replace(
    '<link name="tool"/>',
    """<material name="red"><color rgba="1 0 0 0.5"/></material>
  <link name="tool">
    <visual><origin xyz="0 0 0.1" rpy="0 0 0.5"/><geometry><cylinder radius="0.02" length="0.1"/></geometry>
      <material name="red"/></visual>
    <visual><geometry><sphere radius="0.03"/></geometry><material name=""><color rgba="0 0 1 1"/></material></visual>
    <visual><origin xyz="0 1 0"/><geometry><mesh filename="package://arm/tool.stl" scale="0.001 0.001 0.001"/></geometry></visual>
  </link>""",
)
MJCF = """<mujoco model="m">
  <asset><mesh name="cover" file="meshes/cover.obj" scale="2 2 2"/></asset>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="arm" pos="0 0 1">
      <inertial pos="0 0 0.1" mass="1" diaginertia="0.1 0.1 0.1"/>
      <joint name="j"/>
      <geom type="box" size="0.1 0.2 0.3" pos="0 0 0.1" rgba="0 1 0 1"/>
      <geom type="capsule" size="0.05 0.2" quat="0.6 0.8 0 0"/>
      <geom type="ellipsoid" size="0.1 0.2 0.3"/>
      <geom type="mesh" mesh="cover" pos="1 2 3"/>
      <geom type="sphere" size="0.4" group="3"/>
    </body>
  </worldbody>
</mujoco>"""


def look(robot):
    """All visuals of a robot as plain data."""
    return [(v.link, v.kind, v.size, np.round(v.pose, 12).tolist(), v.colour, v.file) for v in robot.visuals]


@pytest.fixture
def arm():
    return torsor.load(URDF)


def test_the_visuals_of_a_urdf(arm):
    assert [(v.link, v.kind, v.size, v.colour, v.file) for v in arm.visuals] == [
        ("upper", "box", (0.1, 0.1, 0.5), None, ""),  # the collision of "lower" is none
        ("tool", "cylinder", (0.02, 0.1), (1.0, 0.0, 0.0, 0.5), ""),
        ("tool", "sphere", (0.03,), (0.0, 0.0, 1.0, 1.0), ""),
        ("tool", "mesh", (0.001, 0.001, 0.001), None, "package://arm/tool.stl"),
    ]
    np.testing.assert_allclose(arm.visuals[1].pose, torsor.pose_from((0, 0, 0.1), (0, 0, 0.5)))
    assert arm.visuals[3].pose[1, 3] == 1.0


@pytest.mark.parametrize(
    "part",
    ['<mesh filename="a.stl" scale="1 2"/>', '<torus radius="1"/>', "", '<box size="1 1 1"/></geometry><geometry>'],
)
def test_looks_that_cannot_be_read_refuse_no_file(part):
    text = GOOD.replace('<link name="tool"/>', f'<link name="tool"><visual><geometry>{part}</geometry></visual></link>')
    robot = torsor.load(text)
    assert robot == torsor.load(GOOD)
    assert [v.kind for v in robot.visuals if v.link == "tool"] == (["box"] if "box" in part else [])


def test_a_colour_that_is_none_is_left_out():
    text = URDF.replace('rgba="0 0 1 1"', 'rgba="0 blue 1 1"').replace('rgba="1 0 0 0.5"', 'rgba="255 0 0 1"')
    assert [v.colour for v in torsor.load(text).visuals] == [None] * 4


def test_the_visuals_of_an_mjcf():
    pytest.importorskip("mujoco")
    robot = torsor.load(MJCF)
    assert [(v.link, v.kind, v.size, v.colour, v.file) for v in robot.visuals] == [
        ("arm", "box", (0.2, 0.4, 0.6), (0.0, 1.0, 0.0, 1.0), ""),
        ("arm", "capsule", (0.05, 0.4), None, ""),
        ("arm", "ellipsoid", (0.1, 0.2, 0.3), None, ""),
        ("arm", "mesh", (2.0, 2.0, 2.0), None, "meshes/cover.obj"),  # the sphere of group 3 is for contacts
    ]
    assert robot.visuals[0].pose[2, 3] == 0.1
    assert robot.visuals[3].pose[:3, 3].tolist() == [1, 2, 3]
    np.testing.assert_allclose(
        robot.visuals[1].pose[:3, :3], torsor.pose_from(rpy=(2 * np.arctan2(0.8, 0.6), 0, 0))[:3, :3]
    )


def test_looks_are_no_part_of_what_a_robot_is(arm):
    bare = arm.with_visuals(())
    assert bare == arm
    assert hash(bare) == hash(arm)
    assert bare.digest == arm.digest == torsor.load(URDF).digest
    assert look(pickle.loads(pickle.dumps(arm))) == look(arm)


def test_edits_keep_what_stays(arm):
    whole = look(arm)
    assert look(arm.lock({"elbow": 0.3})) == look(arm.reorder(["elbow", "shoulder"])) == whole
    assert look(arm.with_gravity((0, 0, 0)).with_payload("tool", torsor.Inertia.point(1.0))) == whole
    assert look(torsor.load(URDF, lock={"elbow": 0.3}, base="floating")) == whole
    assert [v.link for v in arm.rename({"tool": "gripper"}).visuals] == ["upper", "gripper", "gripper", "gripper"]
    assert [v.link for v in arm.subtree("elbow").visuals] == ["upper", "tool", "tool", "tool"]
    assert [v.link for v in torsor.load(GOOD).subtree("elbow").visuals] == ["upper"]
    assert arm.with_visuals([Visual("nowhere", "sphere", (1.0,))]).visuals == ()


def test_our_own_formats_give_them_back_to_the_bit(arm):
    for text in (arm.to_json(), arm.to_yaml()):
        again = torsor.load(text)
        assert again == arm
        assert [(v.link, v.kind, v.size, v.pose.tobytes(), v.colour, v.file) for v in again.visuals] == [
            (v.link, v.kind, v.size, v.pose.tobytes(), v.colour, v.file) for v in arm.visuals
        ]


def test_a_urdf_that_is_written_anew_has_them(arm):
    changed = arm.rename({"shoulder": "first"})
    with pytest.warns(torsor.ModelWarning, match="collisions, textures and comments are left out"):
        text = changed.to_urdf()
    assert look(torsor.load(text)) == look(arm)


def test_a_capsule_is_written_to_urdf_in_parts():
    pytest.importorskip("mujoco")
    robot = torsor.load(torsor.load(MJCF).to_urdf())
    assert [v.kind for v in robot.visuals] == ["box", "cylinder", "sphere", "sphere", "mesh"]
    cylinder, *ends = robot.visuals[1:4]
    for side, end in zip((-0.2, 0.2), ends, strict=True):
        np.testing.assert_allclose(end.pose[:3, 3], cylinder.pose[:3, 3] + side * cylinder.pose[:3, 2], atol=1e-15)


def test_mjcf_gives_back_what_mujoco_can_draw(arm):
    mujoco = pytest.importorskip("mujoco")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = arm.to_mjcf()
    model = mujoco.MjModel.from_xml_string(text)
    assert model.ngeom == 3
    assert not model.geom_contype.any()
    bare = mujoco.MjModel.from_xml_string(arm.with_visuals(()).to_mjcf())
    assert np.array_equal(model.body_mass, bare.body_mass)
    again = torsor.load(text)
    np.testing.assert_array_equal(
        again.parameters.inertias, torsor.load(arm.with_visuals(()).to_mjcf()).parameters.inertias
    )
    assert [(v.link, v.kind, v.colour) for v in again.visuals] == [
        ("upper", "box", None), ("lower", "cylinder", (1.0, 0.0, 0.0, 0.5)), ("lower", "sphere", (0.0, 0.0, 1.0, 1.0)),
    ]  # fmt: skip
    place = arm.structure.frame("tool").pose_row
    np.testing.assert_allclose(
        again.visuals[1].pose, arm.parameters.frame_poses[place] @ arm.visuals[1].pose, atol=1e-12
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "torus"}, "unknown kind 'torus'"),
        ({"size": [1, 2]}, "'visuals[0].size' must be a list of 3 numbers"),
        ({"colour": [0, 0, 255, 1]}, "'visuals[0].colour' must be four numbers from 0 to 1"),
        ({"size": None}, "'visuals[0].size' is missing"),
        ({"link": "arm9"}, "its link 'arm9' does not exist"),
    ],
)
def test_mistakes_in_our_own_format_are_told(change, message):
    document = json.loads(torsor.load(GOOD).to_json())
    document["visuals"][0] |= change
    with pytest.raises(torsor.FileError) as caught:
        torsor.load(json.dumps(document))
    assert message in str(caught.value)


def test_a_picture_shows_them_if_asked(arm):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    def polygons(**options):
        ax = torsor.plot.mechanism(arm, names=None, **options)
        (body,) = [part for part in ax.collections if part.get_gid() == "mechanism on base"]
        count = len(body.get_facecolor())
        pyplot.close(ax.figure)
        return count, body.get_facecolor()[:, 3]

    with torsor.backend("numpy"):
        with_looks, opacity = polygons()
        without, _ = polygons(visuals=False)
    assert with_looks == without + 6 + 60 + 72  # box, cylinder and ball; no mesh
    assert np.sum(opacity < 1) == 6 + 60 + 72
