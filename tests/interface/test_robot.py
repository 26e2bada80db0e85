"""A robot is a value: frozen, hashable, picklable, shared between threads; edits give new ones."""

import dataclasses
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import torsor
from torsor import Inertia, Joint, Mimic

ARM = torsor.robots.panda()


def test_a_robot_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        ARM.structure = None
    for leaf in ARM.parameters:
        with pytest.raises(ValueError, match="read-only"):
            leaf[...] = 0.0


def test_equal_robots_have_equal_hashes_and_different_ones_differ():
    twin = torsor.robots.panda()
    assert twin == ARM
    assert hash(ARM) == hash(twin)
    assert ARM.with_gravity((0, 0, -9.80665)) != ARM
    assert ARM.rename({}, robot="other") != ARM
    assert {ARM: 1}[twin] == 1
    assert ARM != "panda"


def test_a_robot_survives_pickling():
    robot = torsor.robots.random_tree(5, seed=2, mimic=True, friction=True)
    again = pickle.loads(pickle.dumps(robot))
    assert again == robot
    assert not again.parameters.inertias.flags.writeable


def test_threads_share_a_robot():
    q, v, a = torsor.random_state(ARM, seed=0, batch=(20,))
    expected = torsor.inverse_dynamics(ARM, q, v, a)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda k: torsor.inverse_dynamics(ARM, q[k], v[k], a[k]), range(20)))
    np.testing.assert_allclose(results, expected, rtol=1e-12, atol=1e-12)


def test_states_by_joint_name():
    robot = torsor.robots.random_tree(4, seed=1, kinds=("free", "revolute", "spherical"))
    q, v, _ = torsor.random_state(robot, seed=0, batch=(2,))
    named = robot.q_to_dict(q)
    assert set(named) == set(robot.coordinates)
    np.testing.assert_array_equal(robot.q_from_dict(named), q)
    np.testing.assert_array_equal(robot.v_from_dict(robot.v_to_dict(v[0])), v[0])
    assert ARM.q_from_dict({"panda_joint2": 0.5})[1] == 0.5
    assert ARM.q_slice("panda_joint3") == slice(2, 3)


def test_neutral_is_the_home_pose_of_every_joint_kind():
    robot = torsor.robots.random_tree(6, seed=8)
    identity = np.eye(4)
    poses = torsor.link_poses(robot, robot.neutral)
    for i, parent in enumerate(robot.structure.parents):
        base = identity if parent < 0 else poses[parent]
        np.testing.assert_allclose(poses[i], base @ robot.parameters.poses[i], atol=1e-14)


def test_random_configurations_are_within_limits_and_repeatable():
    q = torsor.random_configuration(ARM, seed=3, batch=(500,))
    assert np.all(q >= ARM.limits.lower)
    assert np.all(q <= ARM.limits.upper)
    np.testing.assert_array_equal(q, torsor.random_configuration(ARM, seed=3, batch=(500,)))


def test_effects_lists_what_is_on():
    assert ARM.effects == ("gravity",)
    assert torsor.robots.puma560(friction=True).effects == (
        "gravity",
        "armature",
        "viscous friction",
        "coulomb friction",
    )
    assert ARM.with_gravity((0, 0, 0)).effects == ()


def test_subtree_is_the_outer_part():
    wrist = ARM.subtree("panda_joint5")
    assert wrist.joints == ARM.joints[4:]
    assert "hand_tcp" in wrist.frames
    q = torsor.random_configuration(wrist, seed=0)
    still = np.concatenate([np.zeros(4), q])
    M = torsor.mass_matrix(ARM, still)[4:, 4:]
    np.testing.assert_allclose(torsor.mass_matrix(wrist, q), M, atol=1e-14)


def test_a_frame_can_be_put_on_a_frame():
    offset = torsor.pose_from((0.1, 0.2, 0.3), (0.1, 0.2, 0.3))
    robot = ARM.with_frame("camera", "hand_tcp", offset)
    q = torsor.random_configuration(ARM, seed=0)
    expected = torsor.frame_pose(ARM, q, "hand_tcp") @ offset
    np.testing.assert_allclose(torsor.frame_pose(robot, q, "camera"), expected, atol=1e-14)


def test_a_payload_is_the_same_as_a_link_on_a_fixed_joint():
    body = Inertia.box((0.1, 0.2, 0.3), mass=2.0, com=(0.01, 0.02, 0.03))
    base = Joint(name="a", kind="revolute", axis=(0, 1, 0), link="arm", inertia=Inertia.point(1.0, (1, 0, 0)))
    pose = torsor.pose_from((0.5, 0, 0), (0.3, 0.2, 0.1))
    welded = torsor.assemble(
        [base, Joint(name="weld", kind="fixed", parent="arm", link="tool", pose=pose, inertia=body)]
    )
    carried = torsor.assemble([base], frames={"tool": ("arm", pose)}).with_payload("tool", body)
    np.testing.assert_allclose(welded.parameters.inertias, carried.parameters.inertias, atol=1e-14)
    assert "tool" in welded.frames


def test_the_numbers_of_a_robot_cannot_be_made_writeable():
    robot = torsor.robots.planar2r()
    for variant in (robot, robot.with_gravity((0, 0, -1.62)), robot.with_frame("tool", "link_2", np.eye(4))):
        for leaf in variant.parameters:
            while isinstance(leaf, np.ndarray) and leaf.size:
                with pytest.raises(ValueError, match="WRITEABLE"):
                    leaf.flags.writeable = True
                with pytest.raises(ValueError, match="read-only"):
                    leaf[...] = 0.0
                leaf = leaf.base
    given = np.array(robot.parameters.inertias)
    changed = robot.with_parameters(inertias=given)
    given[:] = 0.0
    assert changed == robot


def test_limits_of_a_follower_bind_its_leader():
    leader = Joint(
        name="a", kind="revolute", axis=(0, 0, 1), lower=-1.0, upper=1.0, inertia=Inertia.point(1, (1, 0, 0))
    )
    follower = Joint(
        name="b", kind="revolute", axis=(0, 0, 1), parent="a_link", lower=-1.0, upper=0.5, mimic=Mimic("a", -2.0, 0.0)
    )
    limits = torsor.assemble([leader, follower]).limits
    assert limits.lower == (-0.25,)
    assert limits.upper == (0.5,)


def screw_drive(*followers):
    """A motor and what it moves through a spindle, as (ratio, velocity limit, effort limit) of each follower."""
    body = Inertia.box((0.1, 0.1, 0.1), mass=1.0)
    motor = Joint(name="motor", kind="revolute", axis=(0, 0, 1), velocity_limit=100.0, effort_limit=5.0, inertia=body)
    quills = [
        Joint(
            name=f"quill_{k}",
            kind="prismatic",
            axis=(0, 0, 1),
            parent="motor_link",
            inertia=body,
            velocity_limit=velocity,
            effort_limit=effort,
            mimic=Mimic("motor", ratio),
        )
        for k, (ratio, velocity, effort) in enumerate(followers)
    ]
    return torsor.assemble([motor, *quills])


def test_velocity_and_effort_limits_of_followers_bind_their_leader():
    ratio = 0.016 / (2 * np.pi)  # m per rad
    limits = screw_drive((ratio, 0.05, 100.0)).limits
    np.testing.assert_allclose((limits.velocity[0], limits.effort[0]), (0.05 / ratio, 100.0 * ratio))
    # the narrowest of several counts, whatever the sign of the ratio; what is wider than the leader's own changes nothing
    limits = screw_drive((-0.5, 20.0, 4.0), (2.0, 60.0, 100.0), (1.0, 1e6, 1e6), (1.0, np.inf, np.inf)).limits
    assert (limits.velocity, limits.effort) == ((30.0,), (2.0,))


def test_a_follower_without_a_motor_or_a_motion_binds_nothing():
    for follower in ((1.0, 0.0, 0.0), (0.0, 0.1, 0.1)):
        limits = screw_drive(follower).limits
        assert (limits.velocity, limits.effort) == ((100.0,), (5.0,))


def test_limits_of_followers_survive_edits_and_files():
    robot = screw_drive((-0.5, 20.0, 4.0))
    assert robot.reorder(robot.coordinates).limits == robot.limits
    for text in (robot.to_urdf(drop=["gravity"]), robot.to_json()):
        assert torsor.load(text).limits == robot.limits


def test_a_helical_joint_without_pitch_is_revolute_and_a_screw_decides_by_itself():
    screws = [[0, 0, 1, 0, 0, 0], [0, 0, 2, 0, 0, 0.5], [0, 0, 0, 0, 3, 0], [1, 0, 0, 1e-17, 1, 0]]
    robot = torsor.serial_chain(screws, [np.eye(4)] * 4, [Inertia.sphere(0.1, mass=1.0)] * 4)
    assert robot.structure.kinds == ("revolute", "helical", "prismatic", "revolute")
    assert [c.ratio for c in robot.structure.couplings] == [1.0, 2.0, 3.0, 1.0]


def test_the_modern_robotics_sample_arm_with_a_screw_of_length_root_two():
    """The code of the book documents τ for its three-link arm, whose first screw has |ω| = √2 (7 digits given)."""
    homes, T = [], np.eye(4)
    for step in (
        torsor.pose_from((0, 0, 0.089159)),
        np.array([[0, 0, 1, 0.28], [0, 1, 0, 0.13585], [-1, 0, 0, 0], [0, 0, 0, 1.0]]),
        torsor.pose_from((0, -0.1197, 0.395)),
    ):
        T = T @ step
        homes.append(T)
    moments = [
        (0.010267, 0.010267, 0.00666, 3.7),
        (0.22689, 0.22689, 0.0151074, 8.393),
        (0.0494433, 0.0494433, 0.004095, 2.275),
    ]
    inertias = [Inertia(m, (0, 0, 0), np.diag(d)) for *d, m in moments]
    screws = [[1, 0, 1, 0, 1, 0], [0, 1, 0, -0.089, 0, 0], [0, 1, 0, -0.089, 0, 0.425]]
    tip = T @ torsor.pose_from((0, 0, 0.14225))
    robot = torsor.serial_chain(screws, homes, inertias, tip=tip, gravity=(0, 0, -9.8))
    tau = torsor.inverse_dynamics(robot, [0.1, 0.1, 0.1], [0.1, 0.2, 0.3], [2, 1.5, 1], wrenches={"tip": -np.ones(6)})
    np.testing.assert_allclose(tau, [74.69616155, -33.06766016, -3.23057314], atol=1e-8)


def test_a_robot_can_be_built_from_every_form_of_its_product_of_exponentials():
    robot = torsor.robots.random_tree(4, seed=3, kinds=("revolute", "prismatic", "helical"), serial=True)
    inertias = [robot.inertia(link) for link in robot.links]
    homes = torsor.link_poses(robot, robot.neutral)
    link = torsor.kinematics.link_form(robot, "tool")
    space = link.to_space()
    steps = np.concatenate([link.steps[:-1], (link.steps[-1] @ link.tip)[None]])
    local = space.to_local(steps)
    at_tip = [*inertias[:-1], inertias[-1].moved(np.linalg.inv(link.tip))]  # the local form's last frame is the tip
    built = [
        link.robot(inertias),
        space.robot(homes, inertias),
        space.to_body().robot(homes, inertias),
        local.robot(at_tip),
    ]
    q, v, a = torsor.random_state(robot, seed=0)
    expected = torsor.inverse_dynamics(robot.with_gravity((0, 0, -9.81)), q, v, a)
    for again in built[:3]:
        np.testing.assert_allclose(torsor.inverse_dynamics(again, q, v, a), expected, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(torsor.frame_pose(again, q, "tip"), torsor.frame_pose(robot, q, "tool"), atol=1e-12)
    np.testing.assert_allclose(torsor.inverse_dynamics(built[3], q, v, a), expected, rtol=1e-11, atol=1e-11)


def test_limits_of_free_joints_are_of_their_place_and_quaternions_have_none():
    base = Joint(
        name="base", kind="free", link="body", lower=-0.5, upper=0.5, inertia=Inertia(1.0, np.zeros(3), np.eye(3))
    )
    robot = torsor.assemble([base])
    nothing = (np.inf,) * 4
    assert robot.limits.upper == (0.5, 0.5, 0.5, *nothing)
    assert robot.limits.lower == (-0.5, -0.5, -0.5, *(-x for x in nothing))
    assert torsor.control.prioritised_velocities(robot, robot.neutral, [], 0.01).feasible
    slope = torsor.control.limit_gradient(robot, np.array([0.5, 0.0, 0.0, 0.0, 0.0, 0.6, 0.8]))
    np.testing.assert_array_equal(slope[:3], 0.0)
    assert torsor.load(robot.to_json()).limits == robot.limits
    with pytest.raises(
        torsor.ModelError, match=r"`lower` -0\.5 cannot bound a spherical joint, whose numbers are a quat"
    ):
        torsor.assemble([dataclasses.replace(base, kind="spherical")])
    given = dataclasses.replace(base, lower=-0.5 * np.ones(7), upper=0.5 * np.ones(7))  # said of each: kept, never used
    robot = torsor.assemble([given])
    assert robot.limits.upper == (0.5,) * 7
    assert torsor.control.prioritised_velocities(robot, robot.neutral, [], 0.01).feasible
    np.testing.assert_array_equal(torsor.control.limit_gradient(robot, robot.neutral), 0.0)
