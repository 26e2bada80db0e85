"""docs/conventions.md, row by row, with the smallest robot that shows it."""

import numpy as np

import torsor
from torsor import Inertia, Joint


def one(kind, **more):
    body = Inertia.box((0.1, 0.2, 0.3), mass=2.0)
    return torsor.assemble([Joint(name="j", kind=kind, link="body", inertia=body, **more)])


def test_an_arm_hangs_down():
    """Let go horizontally under gravity (0, 0, −9.81), a pendulum about y swings so that its mass goes down."""
    robot = torsor.assemble(
        [Joint(name="j", kind="revolute", axis=(0, 1, 0), link="bob", inertia=Inertia.point(1.0, (1.0, 0, 0)))]
    ).with_frame("end", "bob", torsor.pose_from((1.0, 0, 0)))
    a = torsor.forward_dynamics(robot, [0.0], [0.0], [0.0])
    assert torsor.kinematics.mixed_acceleration(robot, [0.0], [0.0], a, "end")[5] == -9.81
    assert torsor.gravity_forces(robot, [0.0])[0] < 0  # holding it up takes a moment about −y


def test_free_joint_layout():
    robot = one("free")
    assert (robot.nq, robot.nv) == (7, 6)
    turn = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])  # a quarter turn about z, (x, y, z, w)
    T = torsor.frame_pose(robot, np.concatenate([[1, 2, 3], turn]), "body")
    np.testing.assert_allclose(T[:3, 3], [1, 2, 3])
    np.testing.assert_allclose(T[:3, :3], [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
    twist = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    q = np.concatenate([[1, 2, 3], turn])
    np.testing.assert_allclose(torsor.kinematics.body_twist(robot, q, twist, "body"), twist, atol=1e-15)


def test_planar_joint_layout():
    robot = one("planar")
    assert (robot.nq, robot.nv) == (3, 3)
    T = torsor.frame_pose(robot, [1.0, 2.0, np.pi / 2], "body")
    np.testing.assert_allclose(T[:3, 3], [1, 2, 0])
    np.testing.assert_allclose(T[:3, 0], [0, 1, 0], atol=1e-15)
    v = torsor.kinematics.mixed_twist(
        robot, [1.0, 2.0, np.pi / 2], [5.0, 1.0, 0.0], "body"
    )  # forward along the body's own x
    np.testing.assert_allclose(v, [0, 0, 5, 0, 1, 0], atol=1e-15)


def test_spherical_joint_layout():
    robot = one("spherical")
    assert (robot.nq, robot.nv) == (4, 3)
    q = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])
    v = torsor.kinematics.mixed_twist(robot, q, [1.0, 0.0, 0.0], "body")  # about the body's own x, which points along y
    np.testing.assert_allclose(v, [0, 1, 0, 0, 0, 0], atol=1e-15)


def test_a_continuous_joint_is_one_number_of_any_size():
    robot = one("continuous", axis=(1, 2, 3))
    q = np.array([0.7])
    far = torsor.frame_pose(robot, q + 2e3 * np.pi, "body")
    np.testing.assert_allclose(far, torsor.frame_pose(robot, q, "body"), atol=1e-12)


def test_an_external_wrench_is_done_to_the_robot():
    """Pushing a slider with 3 N along its axis leaves 3 N less for the motor."""
    robot = one("prismatic", axis=(1, 0, 0)).with_gravity((0, 0, 0))
    assert torsor.inverse_dynamics(robot, [0.0], [0.0], [0.0], wrenches={"body": [0, 0, 0, 3, 0, 0]})[0] == -3.0
    assert torsor.forward_dynamics(robot, [0.0], [0.0], [0.0], wrenches={"body": [0, 0, 0, 3, 0, 0]})[0] == 1.5
    a = torsor.papers.joint_acceleration(
        robot.with_frame("tip", "body", np.eye(4)), [0.0], [0.0], [0.0], F_tip=[0, 0, 0, 3, 0, 0]
    )
    assert a[0] == -1.5  # the book's F_tip is what the tip does


def test_joints_are_numbered_depth_first_in_the_order_given():
    def joint(name, parent):
        return Joint(name=name, kind="revolute", axis=(0, 0, 1), parent=parent, link=name.upper())

    given = [joint("d", "B"), joint("a", "base"), joint("b", "base"), joint("c", "A")]
    assert torsor.assemble(given).joints == ("a", "c", "b", "d")
    assert torsor.assemble(given).reorder(["d", "c", "b", "a"]).coordinates == ("d", "c", "b", "a")


def test_friction_and_armature_are_in_the_terms_that_name_them():
    robot = torsor.robots.puma560(friction=True)
    bare = torsor.robots.puma560(friction=True).with_parameters(
        armature=np.zeros(6), viscous_friction=np.zeros(6), coulomb_friction=np.zeros(6)
    )
    q, v, a = torsor.random_state(robot, seed=0)
    armature = robot.parameters.armature
    np.testing.assert_allclose(
        torsor.mass_matrix(robot, q) - torsor.mass_matrix(bare, q), np.diag(armature), atol=1e-13
    )
    np.testing.assert_array_equal(torsor.bias_forces(robot, q, v), torsor.bias_forces(bare, q, v))
    np.testing.assert_array_equal(
        torsor.dynamics.joint_wrenches(robot, q, v, a), torsor.dynamics.joint_wrenches(bare, q, v, a)
    )
    extra = torsor.inverse_dynamics(robot, q, v, a) - torsor.inverse_dynamics(bare, q, v, a)
    np.testing.assert_allclose(extra, armature * a + torsor.friction_forces(robot, v), atol=1e-12)
    smooth = robot.with_coulomb_width(0.01)
    np.testing.assert_allclose(
        torsor.friction_forces(smooth, v),
        robot.parameters.viscous_friction * v + robot.parameters.coulomb_friction * np.tanh(v / 0.01),
    )


def test_gravity_of_an_inertia_row_is_about_the_link_origin():
    row = Inertia(2.0, (1.0, 0, 0), np.diag([1.0, 2.0, 3.0])).row
    np.testing.assert_allclose(row, [2, 2, 0, 0, 1, 0, 0, 4, 0, 5])
