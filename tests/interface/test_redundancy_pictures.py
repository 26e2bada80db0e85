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
    (way,) = lines(ax, "way of " + ARM.joints[2])
    np.testing.assert_allclose(np.array(way.get_data_3d()).T, torsor.link_poses(ARM, q)[:, 2, :3, 3], atol=1e-12)
    assert not lines(ax, "way of " + ARM.joints[0])  # it does not move
    with pytest.raises(torsor.ShapeError, match=r"shape \(k, 3\)"):
        torsor.plot.self_motion(ARM, np.zeros(3))


def drift(lift, loops):
    zero = np.zeros((loops + 1, 3))
    moved = np.arange(loops + 1)[:, None] * np.array([0.1, -0.3, 0.2])
    return torsor.LoopDrift("arm", lift, zero, moved, zero[:, 0], zero[:, 0], np.zeros((2, 2)), zero[0])


def test_a_drift_is_a_line_over_its_loops():
    ax = torsor.plot.loop_drift([drift("inertia", 4), drift("pseudoinverse", 2)], labels=["one", "other"])
    np.testing.assert_allclose(lines(ax, "drift 0")[0].get_ydata(), 0.3 * np.arange(5))
    np.testing.assert_allclose(lines(ax, "drift 1")[0].get_xdata(), [0, 1, 2])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "other"]
    alone = torsor.plot.loop_drift(drift("inertia", 4), ax=plt.figure().add_subplot())
    assert [text.get_text() for text in alone.get_legend().get_texts()] == ["inertia lift"]
    with pytest.raises(torsor.ShapeError, match="1 labels"):
        torsor.plot.loop_drift([drift("inertia", 4), drift("pseudoinverse", 2)], labels=["one"])
