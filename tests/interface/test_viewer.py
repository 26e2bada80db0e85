"""What is shown of a robot, without a browser: scene, meshes and where they may be, clock, dragging, sliders, pages, pictures."""

import io
import json
import os
import re
import socket
import struct
import sys
import threading
import zlib
from itertools import pairwise

import numpy as np
import pytest

import torsor
from torsor import motion
from torsor.model import Visual
from torsor.viewer.course import Course
from torsor.viewer.dragging import at_limits, follow, movable_frames
from torsor.viewer.joint_sliders import from_sliders, sliders, to_sliders
from torsor.viewer.mesh_files import NoMesh, find_mesh, read_mesh
from torsor.viewer.panel import panel
from torsor.viewer.parts import LAYERS
from torsor.viewer.picture import Painter, png
from torsor.viewer.playback import Playback
from torsor.viewer.raster import covered, visible
from torsor.viewer.scene import figure_of
from torsor.viewer.shapes import joined, moved, unit_shape
from torsor.viewer.stage import stage_of
from torsor.viewer.written_page import in_script, scene_data, written_page

HOSTILE = "</script><img src=x onerror=alert(1)>{{player}}\"'&"
ROBOTS = {
    "arm": torsor.robots.planar2r(),
    "cart": torsor.robots.cart_pole(),
    "every kind": torsor.robots.random_tree(
        6, seed=2, kinds=("revolute", "prismatic", "helical", "planar", "spherical", "free"), serial=True
    ),
}


@pytest.fixture(params=ROBOTS)
def robot(request):
    return ROBOTS[request.param]


@pytest.fixture
def arm():
    return ROBOTS["arm"].with_limits({"joint_1": (-2.0, 2.0), "joint_2": (-1.5, 1.5)})


@pytest.fixture
def move(arm):
    return motion.polynomial(arm, [0.1, 0.2], [1.3, -0.9], duration=2.0)


# Shapes


@pytest.mark.parametrize("name", ["box", "cylinder", "sphere", "arrow", "turn", "coil"])
def test_shapes_are_right_side_out(name):
    points, normals, triangles = unit_shape(name)
    a, b, c = (points[triangles[:, k]] for k in range(3))
    outward = np.cross(b - a, c - a)
    assert np.all(np.sum(outward * normals[triangles].mean(axis=1), axis=1) >= -1e-12)
    assert np.sum(a * np.cross(b, c)) / 6 > 0
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0)


def test_a_mirrored_shape_stays_right_side_out():
    mirrored = moved(unit_shape("box"), np.eye(4), np.array([-1.0, 2.0, 3.0]))
    a, b, c = (mirrored.points[mirrored.triangles[:, k]] for k in range(3))
    assert np.sum(a * np.cross(b, c)) / 6 == pytest.approx(6.0)
    assert np.all(np.sum(np.cross(b - a, c - a) * mirrored.normals[mirrored.triangles[:, 0]], axis=1) > 0)
    assert len(joined([mirrored, mirrored]).points) == 2 * len(mirrored.points)


# The scene


def test_bodies_are_where_the_links_are(robot):
    q = np.stack([robot.neutral, torsor.random_configuration(robot, seed=1)])
    figure = figure_of(robot)
    poses, scales = figure.placed(q, shown=dict.fromkeys(LAYERS, True))
    assert poses.shape == (2, figure.n_bodies, 4, 4)
    np.testing.assert_allclose(poses[:, 1 : robot.n + 1], torsor.link_poses(robot, q), atol=1e-12)
    np.testing.assert_allclose(poses[:, robot.n + 1, :3, 3], torsor.dynamics.centre_of_mass(robot, q), atol=1e-12)
    np.testing.assert_allclose(
        poses[:, robot.n + 2, :3, 3], torsor.frame_pose(robot, q, figure.tip)[:, :3, 3], atol=1e-12
    )
    np.testing.assert_allclose(np.linalg.det(poses[..., :3, :3]), 1.0)
    assert np.all(scales > 0)
    assert {part.layer for part in figure.parts} >= {"robot", "frames", "centre of mass", "manipulability"}
    assert all(0 <= part.body < figure.n_bodies and part.shape in figure.shapes for part in figure.parts)


def test_the_manipulability_ellipsoid_has_the_singular_values_of_the_jacobian(arm):
    q = np.array([[0.3, 0.9]])
    figure = figure_of(arm)
    _, scales = figure.placed(q, shown={"manipulability": True})
    singular = np.linalg.svd(torsor.mixed_jacobian(arm, q[0], figure.tip)[3:], compute_uv=False)
    np.testing.assert_allclose(np.sort(scales[0, arm.n + 2])[1:] / 0.25, np.sort(singular)[-2:], rtol=1e-9)


def test_visuals_are_drawn_and_links_without_one_get_bars(arm):
    dressed = arm.with_visuals(
        [
            Visual("link_1", "box", (0.1, 0.2, 0.3), colour=(1.0, 0.0, 0.0, 0.5)),
            Visual("link_1", "capsule", (0.1, 0.2)),
            Visual("tip", "ellipsoid", (0.1, 0.2, 0.3)),
            Visual("base", "cylinder", (0.1, 0.2)),
            Visual("tip", "sphere", (0.1,)),
            Visual("tip", "box", (1e11, 1.0, 1.0)),  # more than can be drawn
        ]
    )
    parts = [part for part in figure_of(dressed).parts if part.layer == "robot"]
    assert [(part.body, part.shape) for part in parts] == [
        (1, "box"),
        (1, "cylinder"),
        (1, "sphere"),
        (1, "sphere"),
        (2, "sphere"),
        (0, "cylinder"),
        (2, "sphere"),
    ]
    assert parts[0].colour == (1.0, 0.0, 0.0)
    assert parts[0].opacity == 0.5
    np.testing.assert_allclose(parts[0].scale, (0.1, 0.2, 0.3))
    np.testing.assert_allclose(parts[5].scale, (0.1, 0.1, 0.2))
    assert {part.body for part in figure_of(arm).parts if part.layer == "robot"} == {0, 1, 2}


def test_the_box_of_an_inertia_has_that_inertia():
    """A rod of uniform density is its own box."""
    chain = torsor.robots.chain(3)
    parts = [part for part in figure_of(chain).parts if part.shape == "box" and part.layer == "robot"]
    assert len(parts) == 3
    for part, link in zip(parts, chain.links, strict=True):
        inertia = chain.inertia(link)
        again = torsor.Inertia.box(part.scale, mass=inertia.mass).moved(part.pose)
        np.testing.assert_allclose(again.row, inertia.row, rtol=1e-9, atol=1e-12)


def test_robots_side_by_side_do_not_touch(arm):
    stage = stage_of([arm, arm, ROBOTS["cart"]], None, None, None, None, ())
    clouds = [stage._cloud(k, figure) @ stage.ground_axes[:, 1] for k, figure in enumerate(stage.figures)]
    for left, right in pairwise(clouds):
        assert left.max() < right.min()


def test_a_ghost_moves_with_its_own_motion(arm, move):
    stage = stage_of(arm, move, motion.scaled(move, duration=1.0), None, None, ())
    stage.to_time(0.5)
    (_, body), (_, ghost) = stage.everyone()
    expected = torsor.link_poses(arm, move.at(0.5).q)[1]
    np.testing.assert_allclose(stage.placed(0, body)[0][2], expected, atol=1e-12)
    other = torsor.link_poses(arm, motion.scaled(move, duration=1.0).at(0.5).q)[1]
    np.testing.assert_allclose(stage.placed(0, ghost)[0][2], other, atol=1e-12)
    assert stage.shown["ghost"]


def test_wrenches_are_arrows_along_the_force(arm):
    stage = stage_of(arm, None, None, [0.4, 0.7], {"tip": [0, 0, 3.0, 0, 8.0, 0]}, ())
    poses, scales = stage.placed(0, stage.figures[0])
    tip = np.asarray(torsor.frame_pose(arm, [0.4, 0.7], "tip"))
    np.testing.assert_allclose(poses[-1, :3, 2], tip[:3, 1], atol=1e-12)  # the force, along y of the frame
    np.testing.assert_allclose(poses[-2, :3, 2], tip[:3, 2], atol=1e-12)  # the torque
    assert scales[-2, 2] / scales[-1, 2] == pytest.approx(3 / 8)


def test_wrenches_of_a_trajectory_are_held_from_sample_to_sample(arm):
    pushes = np.zeros((3, 6))
    pushes[:, 3] = [1.0, 2.0, 3.0]
    run = torsor.Trajectory(arm, [1.0, 2.0, 3.0], np.zeros((3, 2)), np.zeros((3, 2)), wrenches={"tip": pushes})
    course = Course(arm, run)
    held = course.wrenches(np.array([0.0, 0.99, 1.0, 5.0]))["tip"]
    assert held[:, 3].tolist() == [1.0, 1.0, 2.0, 3.0]
    assert course.duration == 2.0
    assert stage_of(arm, run, None, None, None, ()).shown["wrenches"]


# Motions


def test_a_motion_of_a_batch_is_chosen(arm):
    move = motion.polynomial(arm, [0.1, 0.2], np.array([[1.0, 0.0], [0.5, 0.3]]), duration=1.0)
    course = Course(arm, move)
    assert (course.batch, course.count) == ((2,), 2)
    course.chosen = 1
    np.testing.assert_allclose(course.q(1.0), [0.5, 0.3], atol=1e-12)
    np.testing.assert_allclose(course.samples(np.array([0.0, 1.0]))[-1], [0.5, 0.3], atol=1e-12)
    run = move.sample(dt=0.1)
    np.testing.assert_allclose(Course(arm, run).q(1.0), [1.0, 0.0], atol=1e-12)


def test_what_has_duration_and_at_is_a_motion(arm):
    class Own:
        duration = 2.0

        def at(self, t):
            return np.array([float(t), 0.0])

    course = Course(arm, Own())
    np.testing.assert_allclose(course.samples(np.array([0.0, 0.5])), [[0.0, 0.0], [0.5, 0.0]])
    np.testing.assert_allclose(course.velocity(0.5), 0.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"motion": np.zeros((5, 2))}, "`motion` must be a motion .*torsor.motion.spline"),
        ({"motion": np.zeros(2)}, r"got ndarray\. One configuration is passed by name: torsor\.view\(robot, q=q\)"),
        ({"motion": 3.0}, "`motion` must be a motion"),
        ({"ghost": "x"}, "`ghost` must be a motion"),
        ({"motion": []}, "nothing to show"),
        ({"q": [1.0]}, "`q` must have shape"),
        ({"q": [np.nan, 0.0]}, "`q` must be finite"),
        ({"wrenches": {"tip": [1.0]}}, "six finite numbers"),
        ({"wrenches": {"tipp": np.zeros(6)}}, "no frame 'tipp'.*'tip'"),
        ({"wrenches": [1.0]}, "must map frame names"),
        ({"mesh_roots": "/no/such folder"}, "must be folders that exist"),
    ],
)
def test_wrong_arguments_are_named(arm, arguments, words):
    with pytest.raises(torsor.TorsorError, match=re.compile(words, re.DOTALL)) as caught:
        torsor.view(arm, serve=False, **arguments)
    assert str(caught.value).startswith("view: ")


def test_other_robots_and_poses_are_no_motions_of_this_one(arm):
    with pytest.raises(torsor.ArgumentError, match="is of robot 'panda'"):
        torsor.view(arm, motion.polynomial(torsor.robots.panda(), np.zeros(7), np.ones(7), duration=1.0), serve=False)
    with pytest.raises(torsor.TorsorError, match="pose"):
        torsor.view(arm, motion.screw(np.eye(4), np.eye(4), duration=1.0), serve=False)
    with pytest.raises(torsor.ArgumentTypeError, match=r"torsor.load\(path\)"):
        torsor.view("arm.urdf", serve=False)


# The clock


def test_the_clock_plays_loops_and_stops():
    clock = Playback(2.0)
    assert clock.advance(1.0) == 0.0  # it does not play
    clock.play()
    assert clock.advance(0.5) == 0.5
    clock.speed = 2.0
    assert clock.advance(1.0) == pytest.approx(0.5)  # 2.5 is 0.5 of the next round
    clock.loop = False
    assert clock.advance(5.0) == 2.0
    assert not clock.playing
    clock.play()
    assert clock.time == 0.0
    clock.scrub(7.0)
    assert clock.time == 2.0
    clock.scrub(-1.0)
    assert clock.time == 0.0
    still = Playback(0.0)
    still.play()
    assert not still.playing
    assert still.advance(1.0) == 0.0


# Sliders and dragging


def test_sliders_say_the_configuration_and_back(robot):
    q = torsor.random_configuration(robot, seed=3)
    numbers = to_sliders(robot, q)
    found = sliders(robot)
    assert len(found) == len(numbers) == robot.nv
    np.testing.assert_allclose(torsor.difference(robot, from_sliders(robot, numbers), q), 0.0, atol=1e-9)
    for slider, number in zip(found, numbers, strict=True):
        assert slider.lower <= number <= slider.upper


def test_sliders_have_the_limits_of_the_joints(arm):
    assert [(s.label, s.lower, s.upper, s.bounded) for s in sliders(arm)] == [
        ("joint_1", -2.0, 2.0, True),
        ("joint_2", -1.5, 1.5, True),
    ]
    half = sliders(ROBOTS["arm"].with_limits({"joint_1": (1.0, np.inf)}))[0]
    assert (half.lower, half.bounded) == (1.0, False)
    assert half.upper == pytest.approx(1.0 + 2 * np.pi)


def test_a_dragged_frame_is_followed_within_limits(arm):
    q = np.array([0.4, 0.6])
    goal = np.asarray(torsor.frame_pose(arm, [0.6, 0.9], "tip"))
    found = follow(arm, "tip", goal, q, whole_pose=False)
    assert found.reached
    assert found.words == "reached"
    np.testing.assert_allclose(found.q, [0.6, 0.9], atol=1e-5)
    far = np.eye(4)
    far[:3, 3] = (0.0, 9.0, 0.0)
    out = follow(arm, "tip", far, q, whole_pose=False)
    assert not out.reached
    assert "away" in out.words
    assert np.all(np.abs(out.q) <= [2.0, 1.5])
    folded = np.asarray(torsor.frame_pose(arm, [0.4, 2.2], "tip"))  # the elbow would go beyond its limit
    pressed = follow(arm, "tip", folded, q, whole_pose=False)
    assert at_limits(arm, pressed.q) == ["joint_2"]
    assert "at the limit: joint_2" in pressed.words
    assert movable_frames(arm) == ["tip", "link_2", "link_1"]
    assert "fixed to the base" in follow(arm, "base", far, q).words


def test_the_panel_has_the_numbers_and_escapes_names(arm):
    named = arm.rename({"joint_2": "<img src=x>"})
    text = panel(named, np.array([0.3, 1.5]), np.array([1.0, 0.5]))
    assert "<img" not in text
    assert "&lt;img src=x&gt;" in text
    M = torsor.mass_matrix(arm, [0.3, 1.5])
    for number in (*M.ravel(), *np.linalg.eigvalsh(M), *torsor.gravity_forces(arm, [0.3, 1.5])):
        assert f"{number:.3g}" in text
    assert f"kinetic {torsor.kinetic_energy(arm, [0.3, 1.5], [1.0, 0.5]):.4g} J" in text
    chain = torsor.robots.chain(9)
    assert "too large" in panel(chain, chain.neutral, np.zeros(9))


# Meshes


@pytest.fixture
def folders(tmp_path):
    inside, outside = tmp_path / "share", tmp_path / "secret"
    (inside / "arm" / "meshes").mkdir(parents=True)
    outside.mkdir()
    for file in (inside / "arm" / "meshes" / "a.obj", outside / "b.obj"):
        file.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    (inside / "arm" / "link.obj").symlink_to(outside / "b.obj")
    (inside / "up").symlink_to(outside)
    return inside.resolve(), outside.resolve()


@pytest.mark.parametrize("name", ["package://arm/meshes/a.obj", "arm/meshes/a.obj", "package://arm/meshes/%61.obj"])
def test_a_mesh_is_found_in_a_declared_folder(folders, name):
    inside, _ = folders
    assert find_mesh(name, [inside]) == inside / "arm" / "meshes" / "a.obj"
    assert find_mesh("package://arm/meshes/a.obj", [inside / "arm"]) == inside / "arm" / "meshes" / "a.obj"
    assert find_mesh(str(inside / "arm" / "meshes" / "a.obj"), [inside]).is_file()
    with pytest.raises(NoMesh, match="no folder is declared"):
        find_mesh(name, [])


@pytest.mark.parametrize(
    "name",
    [
        "package://../secret/b.obj",
        "package://arm/../../secret/b.obj",
        "package://arm/%2e%2e/%2e%2e/secret/b.obj",
        "../secret/b.obj",
        "{outside}/b.obj",
        "file://{outside}/b.obj",
        "package://{outside}/b.obj",
        "package:///{outside}/b.obj",
        "arm/link.obj",  # a link that leads out
        "package://up/b.obj",
        "http://example.org/b.obj",
        "package://arm/meshes",  # a folder
        "",
        "a\0b.obj",
        "a" * 5000,
    ],
)
def test_no_name_leads_out_of_the_declared_folders(folders, name):
    inside, outside = folders
    with pytest.raises(NoMesh):
        find_mesh(name.format(outside=outside), [inside])


def test_a_mesh_is_drawn_and_a_missing_one_is_named_once(arm, folders):
    pytest.importorskip("trimesh")
    inside, _ = folders
    shape = Visual("link_1", "mesh", (2.0, 2.0, 2.0), file="package://arm/meshes/a.obj")
    gone = Visual("link_2", "mesh", (1.0, 1.0, 1.0), file="package://arm/<gone>.stl")
    robot = arm.with_visuals([shape, shape, gone, gone])
    with pytest.warns(torsor.ModelWarning) as caught:
        stage = stage_of([robot, robot], None, None, None, None, inside)
    assert len(caught) == 1
    assert str(caught[0].message).count("gone") == 1
    assert "a.obj" not in str(caught[0].message)
    parts = [part for part in stage.figures[0].parts if part.shape.startswith("mesh")]
    assert [part.body for part in parts] == [1, 1]
    assert len(stage.figures[0].shapes[parts[0].shape].triangles) == 4
    assert any(part.body == 2 and part.layer == "robot" for part in stage.figures[0].parts)  # a bar stands for it


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.stl", b"", "cannot be read|no triangles"),
        ("a.obj", b"v 0 0 0\n", "cannot be read|no triangles"),
        ("a.stl", b"solid \xff\xff", "cannot be read|no triangles"),
        ("a.glb", b"glTF\0\0\0\0", "cannot be read"),
        ("a.dae", b"<!DOCTYPE x [<!ENTITY a 'b'>]><COLLADA/>", "entities"),
        ("a.exe", b"", "are not read"),
    ],
)
def test_broken_meshes_are_refused_in_words(tmp_path, name, content, words):
    pytest.importorskip("trimesh")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(NoMesh, match=words):
        read_mesh(tmp_path / name)


def test_the_folder_of_the_robots_file_is_declared_by_itself(tmp_path, folders):
    pytest.importorskip("trimesh")
    inside, _ = folders
    text = (
        torsor.robots.planar2r()
        .with_visuals([Visual("link_1", "mesh", (1.0, 1.0, 1.0), file="meshes/a.obj")])
        .to_json()
    )
    (inside / "arm" / "arm.json").write_text(text)
    robot = torsor.load(inside / "arm" / "arm.json")
    assert torsor.view(robot, serve=False)._stage.figures[0].missing == ()


# Pages and pictures


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="scene">(.*?)</script>', page, re.DOTALL)[1])


def test_a_page_asks_for_nothing_and_is_small(arm, move):
    page = written_page(stage_of(arm, move.sample(dt=2.0 / 299), None, None, None, ()))
    assert len(page.encode()) < 400_000
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!data:)", page)
    assert not re.findall(r"\b(?:fetch|XMLHttpRequest|WebSocket|import\s*\(|https?://)", page)
    assert "default-src 'none'" in page


def test_the_page_of_a_panda_run_is_below_two_megabytes():
    panda = torsor.robots.panda()
    run = motion.polynomial(panda, np.zeros(7), 0.3 * np.ones(7), duration=2.99).sample(dt=0.01)
    assert len(run) == 300
    stage = stage_of(panda, run, motion.scaled(run, duration=2.0), None, {"hand_tcp": np.ones(6)}, ())
    assert scene_data(stage)["bodies"] > 2 * 7
    assert len(written_page(stage).encode()) < 2_000_000


def test_hostile_names_stay_text_in_pages(arm, move):
    named = arm.rename({"tip": HOSTILE, "link_1": "a\u2028b"}, robot=HOSTILE)
    page = written_page(stage_of(named, None, None, None, {HOSTILE: np.ones(6)}, ()))
    assert "<img" not in page
    assert page.count("</script>") == 2
    assert page.count("Plays a scene") == 1  # the player, once
    assert data_of(page)["bodies"] > 0
    assert in_script("</script>&\u2028") == '"\\u003c/script\\u003e\\u0026\\u2028"'


def test_tracks_of_a_page_do_not_jump(arm):
    """Quaternions of a joint that turns twice stay next to one another, though they come back with the other sign."""
    import base64

    spin = motion.polynomial(arm, [0.0, 0.0], [4 * np.pi, 0.0], duration=2.0)
    data = scene_data(stage_of(ROBOTS["arm"], spin, None, None, None, ()))
    tracks = np.frombuffer(base64.b64decode(data["tracks"]), "<f4").reshape(-1, data["bodies"], 7)
    assert np.abs(np.diff(tracks[..., 3:], axis=0)).max() < 0.2
    times = np.frombuffer(base64.b64decode(data["times"]), "<f4")
    assert len(times) == len(tracks)
    q = spin.at(times.astype(float)).q
    np.testing.assert_allclose(tracks[:, 2, :3], torsor.link_poses(arm, q)[:, 1, :3, 3], atol=1e-4)


def read_png(data):
    """Width, height and pixels, of the only kind that is written here."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    body = data[data.index(b"IDAT") + 4 : data.index(b"IEND") - 8]
    rows = np.frombuffer(zlib.decompress(body), np.uint8).reshape(height, 1 + 3 * width)
    return rows[:, 1:].reshape(height, width, 3)


def test_a_picture_shows_the_robot_where_it_is(arm, tmp_path):
    viewer = torsor.view(arm, serve=False, q=[0.3, 0.4])
    image = read_png(viewer.image(tmp_path / "a.png", size=(160, 120)).read_bytes())
    painter = Painter(viewer._stage, (160, 120))
    assert np.array_equal(image, painter.paint())
    assert np.array_equal(read_png(png(image)), image)
    # The middle of the upper arm is seen where the camera says, in the colour of links
    middle = np.asarray(torsor.link_poses(arm, [0.3, 0.4]))[0] @ [0.5, 0.0, 0.0, 1.0]
    x, y, _ = painter.camera.project(middle[:3]) / painter.fine
    link = image[int(y), int(x)].astype(float)
    assert np.ptp(link) < 15  # grey
    viewer.switch("robot", False)
    bare = read_png(viewer.image(tmp_path / "b.png", size=(160, 120)).read_bytes())
    assert np.any(bare[int(y), int(x)] != image[int(y), int(x)])
    viewer.switch("frames")
    assert not np.array_equal(read_png(viewer.image(tmp_path / "b.png", size=(160, 120)).read_bytes()), bare)


@pytest.mark.parametrize("seen_from", [(1, 0, 0), (0, 0, 1), (0, 0, -1), (0, 1, 0)])
def test_everything_is_in_the_picture_from_all_sides(robot, seen_from):
    stage = stage_of(robot, None, None, torsor.random_configuration(robot, seed=0), None, ())
    painter = Painter(stage, (40, 30), seen_from=np.array(seen_from, float))
    pixels = painter.camera.project(painter.view.points)
    assert np.all(pixels[:, :2] >= 0)
    assert np.all(pixels[:, :2] <= painter.camera.size)
    assert np.all((pixels[:, 2] > 0) & (pixels[:, 2] < 1))
    painter.paint()


def test_the_nearest_triangle_is_seen():
    square = np.array([[[1.0, 1, 0], [9, 1, 0], [1, 9, 0]], [[9, 9, 0], [1, 9, 0], [9, 1, 0]]])
    near, far = square + np.array([0, 0, 0.2]), square + np.array([0, 0, 0.6])
    seen = visible(np.concatenate([far, near]), (10, 10))
    assert sorted(seen.place) == [10 * y + x for y in range(1, 9) for x in range(1, 9)]
    assert set(seen.triangle) == {2, 3}
    np.testing.assert_allclose(seen.weights.sum(axis=1), 1.0)
    hidden = visible(near, (10, 10), depth=np.full(100, 0.1))
    assert len(hidden.place) == 0
    tilted = np.array([[[0.0, 0, 0.1], [10, 0, 0.9], [0, 10, 0.1]]])  # depth grows with x
    mixed = visible(np.concatenate([tilted, square + np.array([0, 0, 0.5])]), (10, 10))
    inner = (mixed.place // 10 >= 1) & (mixed.place // 10 <= 8)
    assert (mixed.place[inner & (mixed.triangle == 0)] % 10).max() == 4
    assert (mixed.place[inner & (mixed.triangle > 0)] % 10).max() == 8
    assert len(covered(np.zeros((0, 3, 3)), (10, 10))) == 0
    beyond = np.array([[[-50.0, -50, 0], [50, -50, 0], [0, 60, 0]]])
    assert len(covered(beyond, (10, 10))) == 100


@pytest.mark.parametrize("size", [(0, 10), (10,), "big", (10.5, 3), (10**6, 2)])
def test_sizes_that_no_picture_has(arm, size, tmp_path):
    with pytest.raises(torsor.ArgumentError, match="`size` must be"):
        torsor.view(arm, serve=False).image(tmp_path / "a.png", size=size)


def test_files_that_cannot_be_written(arm, tmp_path):
    viewer = torsor.view(arm, serve=False)
    for write in (viewer.image, viewer.html):
        options = {"size": (40, 30)} if write == viewer.image else {}
        with pytest.raises(torsor.FileError, match="cannot write"):
            write(tmp_path / "no" / "such" / ("a.png" if options else "a.html"), **options)
    with pytest.raises(torsor.ArgumentError, match=r"must end in \.png, got .*a\.jpg'\. Viewer\.html writes pages"):
        viewer.image(tmp_path / "a.jpg")
    with pytest.raises(torsor.ArgumentError, match=r"must end in \.html or \.htm, got .*Viewer\.image writes pictures"):
        viewer.html(tmp_path / "a.png")
    with pytest.raises(torsor.ArgumentError, match="`seen_from`"):
        viewer.image(tmp_path / "a.png", seen_from=(0, 0, 0))


# Animations


def test_an_animation_is_a_page_a_gif_or_a_film(arm, move, tmp_path):
    assert "torsor.state" not in move.animate(tmp_path / "a.html").read_text()[:200]
    Image = pytest.importorskip("PIL.Image")
    gif = Image.open(move.animate(tmp_path / "a.gif", fps=5, size=(64, 48)))
    assert gif.n_frames == 11
    assert gif.size == (64, 48)
    assert gif.info["duration"] == 200
    frames = []
    for k in range(gif.n_frames):
        gif.seek(k)
        frames.append(np.asarray(gif.convert("RGB"), int))
    assert np.abs(frames[0] - frames[-1]).max() > 50
    # Nothing but the robot and its shadow moves: the camera is one for all frames
    assert np.mean(np.abs(frames[0] - frames[-1]).max(axis=-1) > 40) < 0.25
    gif.close()


def test_a_film(arm, move, tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    film = torsor.viewer.animate(move.sample(dt=0.1), tmp_path / "a.mp4", fps=10, size=(64, 48))
    assert b"ftyp" in film.read_bytes()[:16]
    with pytest.raises(torsor.ArgumentError, match="even"):
        move.animate(tmp_path / "b.mp4", size=(63, 48))
    (tmp_path / "taken.mp4").mkdir()
    with pytest.raises(torsor.FileError, match=r"taken\.mp4"):
        move.animate(tmp_path / "taken.mp4", size=(64, 48))


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("a.avi", {}, "`path` must end in"),
        ("a.gif", {"fps": 0}, "must be positive"),
        ("a.gif", {"speed": -1.0}, "must be positive"),
        ("a.gif", {"speed": 1e-6}, "at most"),
    ],
)
def test_animations_that_cannot_be(move, tmp_path, name, options, words):
    with pytest.raises(torsor.ArgumentError, match=words):
        move.animate(tmp_path / name, **options)


def test_missing_extras_are_named(arm, move, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(torsor.MissingDependency, match=r"pip install 'torsor\[view\]'"):
        torsor.view(arm)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(torsor.MissingDependency, match=r"pip install 'torsor\[video\]'"):
        move.animate(tmp_path / "a.gif")
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(torsor.MissingDependency, match=r"pip install 'torsor\[video\]'"):
        move.animate(tmp_path / "a.mp4")
    monkeypatch.setitem(sys.modules, "trimesh", None)
    (tmp_path / "a.stl").write_bytes(b"x")
    robot = arm.with_visuals([Visual("link_1", "mesh", (1.0, 1.0, 1.0), file="a.stl")])
    with pytest.warns(torsor.ModelWarning, match=r"pip install 'torsor\[view\]'"):
        torsor.view(robot, serve=False, mesh_roots=tmp_path)


# The handle


def test_a_viewer_without_a_page(arm, move):
    viewer = torsor.view(arm, move, serve=False)
    with pytest.raises(torsor.ArgumentError, match="no page"):
        viewer.url
    assert not viewer.is_open
    viewer.time = 1.0
    np.testing.assert_allclose(viewer.q, move.at(1.0).q)
    viewer.q = [0.2, 0.3]
    assert viewer.q.tolist() == [0.2, 0.3]
    with pytest.raises(torsor.TorsorError, match="`robot` must be from 0 to 0"):
        viewer.show([0.0, 0.0], robot=1)
    with pytest.raises(torsor.UnknownName, match="did you mean 'frames'"):
        viewer.switch("frame")
    with pytest.raises(torsor.ArgumentError, match="positive"):
        viewer.play(speed=0.0)
    viewer.play(speed=2.0, loop=False)
    assert viewer._stage.clock.playing
    viewer.pause()
    viewer.wait()  # at once
    viewer.close()
    assert repr(viewer) == "<Viewer of 'planar2r': no page>"


def test_a_notebook_shows_the_page_itself_if_nothing_is_served(arm):
    named = arm.rename({}, robot='"><script>alert(1)</script>')
    shown = torsor.view(named, serve=False)._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert "<script" not in shown
    assert shown.count('"') == 10  # five attributes, and no quote in them


@pytest.fixture
def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_page_is_served_on_this_computer_alone_and_ends(arm, move, free_port, capsys, monkeypatch):
    pytest.importorskip("viser")
    monkeypatch.setenv("SSH_CONNECTION", "1 2 3 4")
    before = set(threading.enumerate())
    viewer = torsor.view(arm, move, port=free_port)
    said = capsys.readouterr()
    assert said.out == ""  # nothing but results there
    assert said.err.startswith(f"torsor.view: http://127.0.0.1:{free_port}\n")
    assert f"ssh -L {free_port}:127.0.0.1:{free_port}" in said.err
    assert viewer.url == f"http://127.0.0.1:{free_port}"
    assert viewer.url in repr(viewer)
    assert f'src="{viewer.url}"' in viewer._repr_html_()
    with socket.socket() as other, pytest.raises(OSError, match="refused"):
        other.connect(("127.0.0.2", free_port))  # this computer too, by another address
    with pytest.raises(torsor.ArgumentError, match=f"`port` {free_port} is in use"):
        torsor.view(arm, port=free_port)
    with torsor.view(arm) as second:
        assert second.url != viewer.url
    assert viewer._page.server.request_share_url() is None  # no tunnel
    viewer.close()
    viewer.close()
    assert capsys.readouterr().out == ""
    left = [thread for thread in threading.enumerate() if thread not in before and thread.name != "torsor-compiler"]
    for thread in left:
        thread.join(timeout=20.0)
        assert not thread.is_alive(), thread
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", free_port))


@pytest.mark.parametrize(
    ("options", "words"),
    [({"port": 0}, "`port` must be"), ({"port": "x"}, "`port` must be"), ({"host": "no such host"}, "`host` must be")],
)
def test_addresses_that_cannot_be(arm, options, words):
    pytest.importorskip("viser")
    with pytest.raises(torsor.TorsorError, match=words):
        torsor.view(arm, **options)


def test_the_thread_draws_what_is_asked_for(arm, free_port):
    pytest.importorskip("viser")
    with torsor.view(arm, port=free_port) as viewer:
        page, done = viewer._page, threading.Event()
        viewer.q = [0.4, -0.7]
        page.wish("told", done.set)  # after what came before
        assert done.wait(60.0)
        again = threading.Event()
        page.wish("told", again.set)
        assert again.wait(60.0)
        node = np.array(page._nodes[0].bodies[2].position)
        np.testing.assert_allclose(node, torsor.link_poses(arm, [0.4, -0.7])[1, :3, 3], atol=1e-6)
        controls = page.controls
        assert [round(slider.value, 6) for slider in controls._joints] == [0.4, -0.7]
        controls._move(1, 99.0)
        assert viewer.q[1] == 1.5  # not beyond the limit
        controls._pull(np.asarray(torsor.frame_pose(arm, [0.6, 0.9], "tip"))[:3, 3], np.array([1.0, 0, 0, 0]))
        np.testing.assert_allclose(
            torsor.frame_pose(arm, viewer.q, "tip")[:2, 3], torsor.frame_pose(arm, [0.6, 0.9], "tip")[:2, 3], atol=1e-5
        )


def test_one_of_several_robots_and_of_a_batch_is_chosen(arm, free_port):
    pytest.importorskip("viser")
    cart = ROBOTS["cart"]
    batch = motion.polynomial(arm, [0.1, 0.2], np.array([[1.0, 0.0], [0.5, 0.3]]), duration=1.0)
    with torsor.view([arm, cart], [batch, None], port=free_port) as viewer:
        page, done = viewer._page, threading.Event()
        controls = page.controls
        page.wish("batch", lambda: (controls._choose_of_batch(1), viewer._stage.to_time(1.0)))
        page.wish("choose", lambda: controls._choose(1))
        page.wish("move", lambda: controls._move(1, 0.4))
        page.wish("done", done.set)
        assert done.wait(60.0)
        np.testing.assert_allclose(viewer.q, [0.5, 0.3], atol=1e-12)
        assert controls.robot is cart
        assert len(controls._joints) == cart.nv
        assert viewer._stage.q[1][1] == 0.4
        offset = viewer._stage.figures[1].offset
        assert np.any(offset)
        target = np.asarray(torsor.frame_pose(cart, [0.1, 0.3], controls._frame.value))[:3, 3] + offset
        controls._pull(target, np.array([1.0, 0.0, 0.0, 0.0]))
        reached = np.asarray(torsor.frame_pose(cart, viewer._stage.q[1], controls._frame.value))[:3, 3]
        np.testing.assert_allclose(reached + offset, target, atol=1e-5)


def test_a_motion_that_fails_pauses_and_leaves_the_page(arm, free_port, capfd):
    pytest.importorskip("viser")

    class Broken:
        duration, broken = 1.0, False

        def at(self, t):
            if self.broken:
                raise ZeroDivisionError("it is broken")
            return np.zeros(2)

    move = Broken()
    with torsor.view(arm, move, port=free_port) as viewer:
        move.broken = True
        page = viewer._page
        page.wish("time", lambda: viewer._stage.to_time(0.7))
        first = threading.Event()
        threading.Timer(0.5, lambda: page.wish("first", first.set)).start()
        assert first.wait(60.0)
        viewer.q = [0.4, 0.2]
        later = threading.Event()
        page.wish("later", later.set)
        assert later.wait(60.0)
        assert viewer.q.tolist() == [0.4, 0.2]
    assert "ZeroDivisionError: it is broken" in capfd.readouterr().err


def test_a_slider_stops_a_replay(arm, move, free_port):
    pytest.importorskip("viser")
    with torsor.view(arm, move, port=free_port) as viewer:
        viewer.play()
        page, done, later = viewer._page, threading.Event(), threading.Event()
        page.wish("slide", lambda: page.controls._move(0, 1.7))
        page.wish("done", done.set)
        assert done.wait(60.0)
        page.wish("later", later.set)  # a turn of the thread after it
        assert later.wait(60.0)
        assert viewer.q[0] == 1.7
        assert not viewer._stage.clock.playing


def test_a_program_that_ends_takes_its_page_along(tmp_path):
    pytest.importorskip("viser")
    import subprocess

    code = "import torsor\nviewer = torsor.view(torsor.robots.planar2r())\nprint('end')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False, env={**os.environ}
    )
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr
    assert io.StringIO(done.stderr).readline().startswith("torsor.view: http://127.0.0.1:")
