"""The picture of a motion over time: its lines, their colours, its limits and what it refuses."""

import numpy as np
import pytest

import torsor

pytest.importorskip("matplotlib").use("agg")


def run_of(robot, batch=()):
    time = np.linspace(0.0, 1.0, 21)
    q0 = torsor.random_configuration(robot, seed=0)
    v = np.broadcast_to(np.linspace(0.1, 1.0, robot.nv), (*batch, 21, robot.nv))
    return torsor.Trajectory(robot, time, torsor.integrate(robot, q0, v, time), v, a=0.0 * v)


@pytest.mark.parametrize(
    "robot",
    [torsor.robots.panda(), torsor.robots.random_tree(4, seed=1, kinds=("free", "spherical", "prismatic"))],
    ids=["panda", "free"],
)
def test_every_number_has_a_line_of_its_own_and_no_two_look_alike(robot):
    figure = run_of(robot).plot()
    positions, velocities, forces, energies = figure.axes
    for ax, size in ((positions, robot.nq), (velocities, robot.nv), (forces, robot.nv), (energies, 3)):
        lines = [line for line in ax.lines if len(line.get_xdata()) == 21]
        assert len(lines) == size
        assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == size
    assert energies.get_xlabel().startswith("time")


def test_limits_are_drawn_where_they_are_near():
    robot = torsor.robots.panda().with_limits(velocity=0.5)
    axes = run_of(robot).plot().axes
    assert any(np.all(np.asarray(line.get_ydata()) == 0.5) for line in axes[1].lines if len(line.get_xdata()) == 2)


def test_some_joints_any_motion_and_no_batch():
    robot = torsor.robots.panda()
    run = run_of(robot)
    figure = torsor.plot.trajectory(run, joints=[robot.coordinates[2]])
    assert len([line for line in figure.axes[1].lines if len(line.get_xdata()) == 21]) == 1
    log = torsor.motion.from_samples(run.time, run.q, robot=robot, cutoff=6.0)
    assert len(torsor.plot.trajectory(log).axes) == 4
    move = torsor.motion.polynomial(robot, run.q[0], run.q[-1], duration=1.0)
    assert len(torsor.plot.trajectory(move, dt=0.1).axes[0].lines[0].get_xdata()) == 11
    with pytest.raises(torsor.ArgumentError, match="`dt` must be finite and positive"):
        torsor.plot.trajectory(move, dt=0.0)
    with pytest.raises(torsor.ArgumentError, match=r"run\.of\(0\)"):
        run_of(robot, (2,)).plot()
    with pytest.raises(torsor.UnknownName):
        run.plot(joints=["elbow of nobody"])
    with pytest.raises(torsor.ArgumentTypeError, match="motion"):
        torsor.plot.trajectory(run.q)


def test_a_motion_of_a_pose_has_a_picture_too():
    T1 = np.eye(4)
    T1[:3, :3] = torsor.lie.so3.exp(np.array([0.0, 0.0, 3.0]))
    T1[:3, 3] = 1.0, 2.0, 3.0
    reach = torsor.motion.screw(np.eye(4), T1, duration=2.0)
    axes = torsor.plot.trajectory(reach).axes
    assert [ax.get_ylabel().split(" (")[0] for ax in axes] == [
        "position", "rotation from the start", "angular velocity", "linear velocity",
    ]  # fmt: skip
    ends = [[line.get_ydata()[-1] for line in ax.lines] for ax in axes[:2]]
    np.testing.assert_allclose(ends, [[1.0, 2.0, 3.0], [0.0, 0.0, 3.0]], atol=1e-12)
    with pytest.raises(torsor.ArgumentError, match="motion of a pose"):
        torsor.plot.trajectory(reach, joints=["a"])
    both = torsor.motion.screw(np.stack([np.eye(4)] * 2), T1, duration=2.0)
    with pytest.raises(torsor.ArgumentError, match=r"a batch \(2,\)"):
        torsor.plot.trajectory(both)
    still = torsor.motion.screw(T1, T1, duration=0.0)
    assert len(torsor.plot.trajectory(still).axes) == 4


def test_names_are_no_formulas(tmp_path):
    robot = torsor.robots.planar2r().rename({torsor.robots.planar2r().coordinates[0]: "$x^$"}, robot="a$^$b")
    figure = run_of(robot).plot()
    figure.savefig(tmp_path / "run.png")  # would raise if a name were read as a formula
    assert figure.axes[0].get_title().replace("\\", "") == "a$^$b"
