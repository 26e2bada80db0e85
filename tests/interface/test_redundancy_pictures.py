"""Pictures of self-motions and drifts: artists are where the numbers are."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

import matplotlib.pyplot as plt

import torsor

ARM = torsor.robots.planar_chain([0.5, 0.4, 0.3], [1.0, 0.8, 0.5])


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def lines(ax, start):
    return [line for line in ax.get_lines() if str(line.get_gid()).startswith(start)]


def test_every_configuration_shown_is_a_skeleton_in_its_place():
    q = np.array([[0.1, 0.2, 0.3], [0.4, 0.6, 0.3], [0.5, -0.2, 0.1], [0.6, 0.1, -0.4]])
    ax = torsor.plot.self_motion(ARM, q, shown=2)
    for k, shown in ((0, q[0]), (1, q[-1])):
        bars = lines(ax, f"configuration {k}")
        ends = np.array([np.array(bar.get_data_3d()).T[-1] for bar in bars])
        tip = torsor.frame_pose(ARM, shown, "tip")[:3, 3]
        assert np.min(np.linalg.norm(ends - tip, axis=-1)) < 1e-12
    assert not lines(ax, "configuration 2")
    (way,) = lines(ax, "path of " + ARM.joints[2])
    np.testing.assert_allclose(np.array(way.get_data_3d()).T, torsor.link_poses(ARM, q)[:, 2, :3, 3], atol=1e-12)
    assert not lines(ax, "path of " + ARM.joints[0])  # it does not move
    with pytest.raises(torsor.ShapeError, match=r"shape \(k, 3\)"):
        torsor.plot.self_motion(ARM, np.zeros(3))


def drift(lift, rounds):
    zero = np.zeros((rounds + 1, 3))
    moved = np.arange(rounds + 1)[:, None] * np.array([0.1, -0.3, 0.2])
    return torsor.redundancy.PathDrift(ARM, lift, zero, moved, zero[:, 0], zero[:, 0], np.zeros((2, 2)), zero[0])


def test_a_drift_is_a_line_over_its_rounds():
    ax = torsor.plot.path_drift([drift("inertia", 4), drift("pseudoinverse", 2)], labels=["one", "other"])
    np.testing.assert_allclose(lines(ax, "drift 0")[0].get_ydata(), 0.3 * np.arange(5))
    np.testing.assert_allclose(lines(ax, "drift 1")[0].get_xdata(), [0, 1, 2])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "other"]
    alone = torsor.plot.path_drift(drift("inertia", 4), ax=plt.figure().add_subplot())
    assert [text.get_text() for text in alone.get_legend().get_texts()] == ["inertia lift"]
    with pytest.raises(torsor.ShapeError, match="1 labels"):
        torsor.plot.path_drift([drift("inertia", 4), drift("pseudoinverse", 2)], labels=["one"])


def test_the_displacement_is_in_the_units_that_the_joints_have():
    labels = {}
    body = torsor.Inertia.box((0.3, 0.2, 0.1), mass=1.0)
    for kinds in (("revolute",) * 3, ("prismatic",) * 3, ("revolute", "prismatic", "revolute")):
        zero = np.zeros((2, 3))
        joints = [torsor.Joint(name=f"j{k}", kind=kind, axis=(0, 0, 1), inertia=body) for k, kind in enumerate(kinds)]
        robot = torsor.assemble(joints, name="arm")
        one = torsor.redundancy.PathDrift(robot, "inertia", zero, zero, zero[:, 0], zero[:, 0], np.eye(2), zero[0])
        labels[kinds[:2]] = torsor.plot.path_drift(one).get_ylabel().rpartition(" (")[2]
    assert list(labels.values()) == ["rad)", "m)", "rad or m)"]
    task = torsor.position_task("tip", ["vx", "vy"])
    found = torsor.redundancy.closed_path_drift(ARM, [0.3, 0.9, -1.2], task, [[0, 0], [0.01, 0], [0, 0.01]], rounds=1)
    assert found.units == ("rad",) * 3


def test_a_self_motion_has_a_key_and_names_what_holds_still():
    motion = torsor.redundancy.self_motion(ARM, [0.3, 0.9, -1.2], torsor.position_task("tip", ["vx", "vy"]))
    ax = torsor.plot.self_motion(ARM, motion, shown=4)
    key = [text.get_text() for text in ax.get_legend().get_texts()]
    assert key == ["first of 4 configurations", "last, before it closes", "paths of the joints"]
    assert [text.get_text() for text in ax.texts if str(text.get_gid()).startswith("name of")] == ["tip"]
    moving = torsor.plot.self_motion(ARM, np.array([[0.3, 0.9, -1.2], [0.4, 0.9, -1.2]]))
    assert not [text for text in moving.texts if str(text.get_gid()).startswith("name of")]


@pytest.mark.parametrize("bounded", ["velocity", "energy", "force"])
def test_texts_of_an_ellipsoid_do_not_lie_on_each_other(bounded):
    panda, q = torsor.robots.panda(), np.array([0.3, -0.4, 0.2, -2.1, 0.1, 1.9, 0.6])
    ax = torsor.plot.manipulability_ellipsoid(panda, q, "hand_tcp", bounded=bounded)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts if str(text.get_gid()).startswith("text ")]
    assert len(boxes) == 3
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])
    unit = {"velocity": "1$ rad/s", "energy": "1$ J", "force": "1$ N m"}[bounded]
    assert ax.get_legend().get_texts()[0].get_text().endswith(unit)


def test_ellipsoids_of_tasks_lie_along_their_rows():
    panda, q = torsor.robots.panda(), np.array([0.3, -0.4, 0.2, -2.1, 0.1, 1.9, 0.6])
    T = torsor.frame_pose(panda, q, "hand_tcp")
    for task, normal in (
        (torsor.position_task("hand_tcp", ["vx", "vz"]), np.array([0, 1.0, 0])),
        (torsor.pose_task("hand_tcp", ["vx", "vy"]), T[:3, 2]),
    ):
        ax = torsor.plot.manipulability_ellipsoid(panda, q, task)
        axes = [np.diff(np.array(line.get_data_3d()), axis=1)[:, 0] for line in lines(ax, "semi-axis ")]
        assert len(axes) == 2
        np.testing.assert_allclose(np.array(axes) @ normal, 0.0, atol=1e-12)
        lengths = torsor.tasks.manipulability_ellipsoid(panda, q, task).lengths
        assert np.linalg.norm(axes[1]) / np.linalg.norm(axes[0]) == pytest.approx(lengths[1] / lengths[0])
    for task in (torsor.pose_task("hand_tcp"), torsor.orientation_task("hand_tcp")):
        with pytest.raises(torsor.TorsorError, match="one to three linear rows"):
            torsor.plot.manipulability_ellipsoid(panda, q, task)
