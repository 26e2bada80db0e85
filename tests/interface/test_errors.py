"""Error texts: what was expected, what came, where, and what to type instead."""

import numpy as np
import pytest

import torsor
from torsor import Inertia, Joint, Mimic, ModelError, ShapeError, TorsorError, UnknownName, lie

ARM = torsor.robots.panda()
Q, V, A = torsor.random_state(ARM, seed=0)


def message(error, call, *args, **kwargs) -> str:
    with pytest.raises(error) as caught:
        call(*args, **kwargs)
    assert isinstance(caught.value, TorsorError)
    return str(caught.value)


def test_a_transposed_batch_is_answered_with_the_transpose():
    text = message(ShapeError, torsor.inverse_dynamics, ARM, Q, np.zeros((7, 1000)), A)
    assert text == (
        "inverse_dynamics: `v` must have shape (..., 7) for robot 'panda' (7 configuration numbers, 7 degrees of freedom), "
        "got (7, 1000). Batch axes come first: pass `v.T`."
    )


def test_batches_that_do_not_broadcast_are_named():
    text = message(ShapeError, torsor.inverse_dynamics, ARM, np.zeros((2, 7)), np.zeros((3, 7)), A)
    assert "do not broadcast: `q` (2,), `v` (3,), `a` ()" in text


def test_what_is_no_number_is_refused():
    assert "`q` must be an array of numbers with shape (..., 7), got 'home'" in message(
        ShapeError, torsor.mass_matrix, ARM, "home"
    )
    assert "(..., 7)" in message(ShapeError, torsor.mass_matrix, ARM, 1.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: torsor.frame_pose(ARM, Q, "hand_tpc"),
        lambda: torsor.body_jacobian(ARM, Q, "hand_tpc"),
        lambda: torsor.inverse_dynamics(ARM, Q, V, A, wrenches={"hand_tpc": np.zeros(6)}),
        lambda: ARM.with_payload("hand_tpc", Inertia.point(1.0)),
        lambda: ARM.with_frame("x", "hand_tpc", np.eye(4)),
    ],
)
def test_an_unknown_frame_names_the_nearest(call):
    text = message(UnknownName, call)
    who, text = text.split(": ", 1)
    assert who in ("frame_pose", "body_jacobian", "inverse_dynamics", "Robot.with_payload", "Robot.with_frame")
    assert text == "robot 'panda' has no frame 'hand_tpc'; nearest: 'hand_tcp'. All frames: robot.frames."


def test_unknown_joints_and_links_name_the_nearest():
    assert "no joint 'panda_joint8'; nearest: 'panda_joint" in message(UnknownName, ARM.lock, {"panda_joint8": 0.0})
    assert "no joint 'joint1'; nearest: 'panda_joint" in message(UnknownName, ARM.q_slice, "joint1")
    assert "no link 'link7'; nearest: 'link_7'" in message(UnknownName, ARM.inertia, "link7")
    assert "no coordinate 'elbow'" in message(UnknownName, ARM.q_from_dict, {"elbow": 1.0})
    assert isinstance(UnknownName("x"), KeyError)


def test_wrenches_must_be_a_mapping_of_six_numbers():
    assert "`wrenches` must map frame names to arrays (..., 6)" in message(
        ShapeError, torsor.inverse_dynamics, ARM, Q, V, A, wrenches=np.zeros(6)
    )
    assert "`wrenches['hand_tcp']` must have shape (..., 6)" in message(
        ShapeError, torsor.inverse_dynamics, ARM, Q, V, A, wrenches={"hand_tcp": np.zeros(3)}
    )


def test_inertias_that_no_body_has_are_refused():
    assert "mass must not be negative, got -1 kg" in message(ModelError, Inertia, -1.0)
    assert "`mass` must be finite" in message(ModelError, Inertia, np.nan)
    assert "`com` must have shape (3,), got (2,)" in message(ModelError, Inertia, 1.0, [0, 0])
    assert "must be symmetric" in message(ModelError, Inertia, 1.0, np.zeros(3), [[1, 2, 0], [0, 1, 0], [0, 0, 1]])
    assert "negative principal moments, got -1" in message(ModelError, Inertia, 1.0, np.zeros(3), np.diag([1, 1, -1]))
    assert "exactly one of mass= (kg) and density= (kg/m³)" in message(ModelError, Inertia.box, (1, 1, 1))
    assert "`radius` must be finite and positive" in message(ModelError, Inertia.sphere, -1.0, mass=1.0)
    assert "`axis` must be 'x', 'y' or 'z', got 'w'" in message(UnknownName, Inertia.cylinder, 1, 1, mass=1, axis="w")
    swapped = np.block([[np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), np.diag([1.0, 2.0, 3.0])]])
    assert "(angular, linear) order" in message(ModelError, Inertia.from_matrix, swapped)


def test_violations_say_by_how_much():
    (text,) = Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 2.5])).violations()
    assert text.startswith(
        "triangle inequality: the largest principal moment 2.5 exceeds the sum of the other two, 1 + 1, by 0.5"
    )


def chain(**changes):
    given = {
        "screws": [[0, 0, 1, 0, 0, 0]],
        "homes": [np.eye(4)],
        "inertias": [Inertia.point(1.0, (1, 0, 0))],
    } | changes
    return torsor.serial_chain(given.pop("screws"), given.pop("homes"), given.pop("inertias"), **given)


def test_bad_chains_are_refused():
    skewed = np.eye(4)
    skewed[0, 1] = 0.1
    assert "homes[0]: its 3×3 block is not a rotation: R Rᵀ differs from 1 by up to 0.1" in message(
        ModelError, chain, homes=[skewed]
    )
    assert "is a reflection" in message(ModelError, chain, homes=[np.diag([1.0, 1, -1, 1])])
    assert "bottom row must be (0, 0, 0, 1)" in message(ModelError, chain, homes=[np.ones((4, 4))])
    assert "NaN" in message(ModelError, chain, homes=[np.full((4, 4), np.nan)])
    assert "`screw` must be 6 finite numbers, not all zero" in message(ModelError, chain, screws=[[0] * 6])
    assert "for 1 inertias, `screws` must have shape (1, 6)" in message(ShapeError, chain, screws=np.zeros((2, 6)))
    assert "`gravity` must have 3 numbers" in message(ModelError, chain, gravity=9.81)
    assert "`gravity` holds a NaN" in message(ModelError, chain, gravity=[0, 0, np.nan])
    assert "`names` must hold 1 joint names, got 2" in message(ShapeError, chain, names=["a", "b"])
    assert "`convention` must be 'standard' or 'modified', got 'craig'" in message(
        UnknownName, torsor.dh_chain, [(0, 0, 0)], [Inertia.point(1.0)], convention="craig"
    )


def test_bad_trees_are_refused():
    one = Joint(name="a", kind="revolute", axis=(0, 0, 1))
    assert "`kind` of joint 'a' must be 'revolute', 'prismatic'" in message(UnknownName, Joint, name="a", kind="hinge")
    assert "repeated: a" in message(ModelError, torsor.assemble, [one, one])
    lost = Joint(name="b", kind="fixed", parent="a_lnk")
    assert "no link 'a_lnk'; nearest: 'a_link'" in message(UnknownName, torsor.assemble, [one, lost])
    ring = [Joint(name="a", kind="fixed", parent="b_link"), Joint(name="b", kind="fixed", parent="a_link")]
    assert "a, b do not hang on the base 'base'" in message(ModelError, torsor.assemble, [*ring])
    assert "no moving joint" in message(ModelError, torsor.assemble, [Joint(name="a", kind="fixed")])
    assert "give `axis=(x, y, z)`" in message(ModelError, torsor.assemble, [Joint(name="a", kind="revolute")])
    inverted = Joint(name="a", kind="revolute", axis=(0, 0, 1), lower=1.0, upper=-1.0)
    assert "lower limit [1.0] exceeds upper limit [-1.0]" in message(ModelError, torsor.assemble, [inverted])
    follower = Joint(name="b", kind="revolute", axis=(0, 0, 1), mimic=Mimic("c"))
    assert "joint 'b' mimics 'c'" in message(ModelError, torsor.assemble, [one, follower])
    negative = Joint(name="a", kind="revolute", axis=(0, 0, 1), armature=-1.0)
    assert "joint 'a': `armature` must not be negative" in message(ModelError, torsor.assemble, [negative])


def test_edits_that_make_no_sense_are_refused():
    assert "nothing is left to compute" in message(ModelError, ARM.lock, dict.fromkeys(ARM.joints, 0.0))
    assert "exactly once" in message(ModelError, ARM.reorder, ARM.joints[:-1])
    assert "already has a frame 'flange'" in message(ModelError, ARM.with_frame, "flange", "base", np.eye(4))
    assert "fixed to the base" in message(ModelError, ARM.with_payload, "base", Inertia.point(1.0))
    assert "is the base, which does not move" in message(ModelError, ARM.with_inertia, "base", Inertia.point(1.0))
    assert "two joints would have the same name" in message(ModelError, ARM.rename, {"panda_joint1": "panda_joint2"})
    assert "no group of parameters 'gravty'; nearest: 'gravity'" in message(
        UnknownName, ARM.with_parameters, gravty=np.zeros(3)
    )
    assert "`gravity` must have shape (3,)" in message(ShapeError, ARM.with_parameters, gravity=np.zeros(2))
    assert "`screws` holds a NaN" in message(ModelError, ARM.with_parameters, screws=np.full((7, 6), np.nan))


def test_a_joint_that_moves_no_inertia_is_named_at_the_first_forward_dynamics():
    joints = [
        Joint(name="lift", kind="prismatic", axis=(0, 0, 1), link="carriage", inertia=Inertia.point(1.0)),
        Joint(name="wrist", kind="revolute", axis=(0, 0, 1), parent="carriage"),
    ]
    robot = torsor.assemble(joints, name="gantry")
    np.testing.assert_allclose(torsor.inverse_dynamics(robot, [0, 0], [0, 0], [1, 0]), [10.81, 0])  # no inertia needed
    for call in (
        torsor.forward_dynamics,
        torsor.papers.factorised_acceleration,
        torsor.papers.articulated_body_acceleration,
    ):
        text = message(ModelError, call, robot, [0, 0], [0, 0], [0, 0])
        assert "robot 'gantry': joint 'wrist' moves no inertia" in text
        assert "robot.lock({'wrist': 0.0})" in text
    assert np.isfinite(torsor.forward_dynamics(robot.lock({"wrist": 0.0}), [0], [0], [0])).all()


def test_simulate_says_what_it_takes():
    assert (
        "`method` must be 'rk4', 'implicit_midpoint', 'variational', 'semi_implicit_euler' or 'euler', got 'heun'"
        in message(TorsorError, torsor.simulate, ARM, Q, V, duration=1.0, dt=0.1, method="heun")
    )
    assert "not both" in message(
        TorsorError, torsor.simulate, ARM, Q, V, duration=1.0, dt=0.1, tau=V, controller=lambda t, q, v: v
    )
    assert "has 3 rows for 10 steps" in message(
        ShapeError, torsor.simulate, ARM, Q, V, duration=1.0, dt=0.1, tau=np.zeros((3, 7))
    )
    assert "`dt` must be positive" in message(TorsorError, torsor.simulate, ARM, Q, V, duration=1.0, dt=0.0)


def test_lie_functions_check_their_arguments():
    assert "exp: `S` must have shape (..., 6), got (3,)" in message(ShapeError, lie.se3.exp, [0, 0, 1])
    assert "pass `V_b.T`" in message(ShapeError, lie.transform_twist, np.eye(4), np.zeros((6, 5)))


def test_nan_in_a_state_is_nan_in_the_result_and_no_exception():
    q = Q.copy()
    q[3] = np.nan
    assert np.isnan(torsor.inverse_dynamics(ARM, q, V, A)).any()
    assert np.isnan(torsor.forward_dynamics(ARM, q, V, A)).all()
    assert np.isfinite(torsor.frame_pose(ARM, q, "link_3")).all()  # what lies before the joint does not depend on it


def test_a_singular_configuration_gives_nan_and_a_report_says_why():
    arm = torsor.robots.planar2r()
    robot = arm.with_inertia("link_1", Inertia.zero())  # only the far mass is left: M is singular when stretched
    for q2 in (0.0, np.pi):
        assert np.isnan(torsor.forward_dynamics(robot, [0.3, q2], [0, 0], [1, 1])).all()
    report = torsor.dynamics.mass_matrix_report(robot, [0.3, 0.0])
    assert report.rank == 1
    assert "rank 1 of 2" in str(report)
    assert "singular here, though not everywhere" in str(report)
    assert np.isfinite(torsor.forward_dynamics(robot, [0.3, 1.0], [0, 0], [1, 1])).all()
    assert torsor.dynamics.mass_matrix_report(robot, [0.3, 1.0]).rank == 2
    assert "one configuration" in message(ShapeError, torsor.dynamics.mass_matrix_report, robot, np.zeros((4, 2)))


def test_what_a_joint_kind_does_not_have_is_refused():
    assert "only helical joints have a pitch; this one is revolute" in message(
        ModelError, Joint, name="a", kind="revolute", axis=(0, 0, 1), pitch=0.5
    )
    assert "free joints take no axis and no screw" in message(ModelError, Joint, name="a", kind="free", axis=(0, 0, 1))
    turning = Joint(name="a", kind="prismatic", screw=(0, 0, 1, 0, 0, 0))
    assert "joint 'a' is prismatic, but its screw" in message(ModelError, torsor.assemble, [turning])


def test_arguments_of_the_wrong_kind_are_named():
    assert "inverse_dynamics: `v` must be an array with shape (..., 7), got None." in message(
        ShapeError, torsor.inverse_dynamics, ARM, Q, None, A
    )
    assert "`base_motion` must be a pair of arrays (..., 6)" in message(
        ShapeError, torsor.inverse_dynamics, ARM, Q, V, A, base_motion=np.zeros(6)
    )
    assert "must be an array of numbers" in message(ShapeError, torsor.mass_matrix, ARM, Q + 1j)
    ball = torsor.assemble([Joint(name="ball", kind="spherical", inertia=Inertia.sphere(0.1, mass=1.0))])
    arm = Joint(name="arm", kind="revolute", axis=(0, 0, 1), parent="ball_link", inertia=Inertia.sphere(0.1, mass=1.0))
    both = torsor.assemble([Joint(name="ball", kind="spherical", inertia=Inertia.sphere(0.1, mass=1.0)), arm])
    assert "joint 'ball' takes 4 finite numbers, got 0.0" in message(ModelError, both.lock, {"ball": 0.0})
    assert "`size` takes 3 numbers (m), got 1.0" in message(ModelError, Inertia.box, 1.0, mass=1.0)
    assert "k at least 1" in message(ModelError, Inertia.particles, [], [])
    assert "row 0 takes (a, alpha, d, theta, prismatic), got 6 values" in message(
        ModelError, torsor.dh_chain, [(0,) * 6], [Inertia.point(1.0)], convention="standard"
    )
    assert "is fixed to the base: no joint moves it" in message(ModelError, torsor.kinematics.link_form, ARM, "base")
    assert ball.nv == 3


def test_simulate_refuses_what_it_cannot_do():
    def no_answer(t, q, v):
        return None

    assert "must return joint forces of shape (..., 7), got None" in message(
        ShapeError, torsor.simulate, ARM, Q, V, duration=0.1, dt=0.1, controller=no_answer
    )
    assert "is not a whole number of steps of 0.3 s; nearest is 0.9 s" in message(
        TorsorError, torsor.simulate, ARM, Q, V, duration=1.0, dt=0.3
    )
    assert "do not broadcast" in message(
        ShapeError, torsor.simulate, ARM, np.zeros((2, 7)), np.zeros((3, 7)), duration=0.1, dt=0.1
    )


def test_non_finite_states_give_no_warnings_either():
    ball = torsor.assemble([Joint(name="ball", kind="spherical", inertia=Inertia.sphere(0.1, mass=1.0))])
    assert np.isnan(torsor.frame_pose(ball, np.zeros(4), "ball_link")).any()  # no rotation has quaternion zero
    assert np.isnan(torsor.inverse_dynamics(ARM, np.full(7, np.inf), V, A)).any()


# Fits that are no bodies


def unphysical_fit():
    """The Panda with a link of negative moments, and one with a first moment but no mass."""
    pi = np.array(torsor.identification.inertial_parameters(ARM)).reshape(7, 10)
    pi[2, 4], pi[4, 0] = -0.5, 0.0
    return ARM.with_inertial_parameters(pi)


def test_a_fit_that_is_no_body_can_be_read_and_diagnosed():
    fit = unphysical_fit()
    np.testing.assert_array_equal(fit.inertia("link_3").row, fit.parameters.inertias[2])
    wrong = {link: fit.inertia(link).violations() for link in fit.links}
    before = {link: ARM.inertia(link).violations() for link in ARM.links}
    assert wrong["link_3"][0].startswith("negative principal moment about the centre of mass: -")
    assert wrong["link_5"][0].startswith("zero mass with a first moment of ")
    assert all(wrong[link] == before[link] for link in ("link_1", "link_2", "link_4", "link_6", "link_7"))
    # and edited, with the forces of the fit
    held = fit.lock({"panda_joint7": 0.3}).reorder(fit.coordinates[-2::-1])
    q, v, a = (np.append(x[:6][::-1], 0.0) for x in (Q, V, A))
    tau = torsor.inverse_dynamics(
        fit, np.append(q[:6][::-1], 0.3), np.append(v[:6][::-1], 0.0), np.append(a[:6][::-1], 0.0)
    )
    np.testing.assert_allclose(torsor.inverse_dynamics(held, q[:6], v[:6], a[:6]), tau[:6][::-1], atol=1e-12)


@pytest.mark.parametrize("writer", ["to_urdf", "to_mjcf", "to_json", "to_yaml"])
def test_a_fit_that_is_no_body_is_written_to_no_file(writer, tmp_path):
    text = message(ModelError, getattr(unphysical_fit(), writer), tmp_path / "fit")
    assert text.startswith(
        f"{writer}: robot 'panda': link 'link_3' has an inertia that no body has: negative principal moment"
    )
    assert "robot.with_inertia('link_3', torsor.Inertia(mass, com, rotational))" in text
    assert not (tmp_path / "fit").exists()


def test_numbers_of_no_body_are_named_where_bodies_are_needed():
    arm = torsor.robots.planar2r()
    fit = arm.with_inertial_parameters(-torsor.identification.inertial_parameters(arm))
    assert "link 'link_1' has an inertia that no body has: negative mass" in message(
        ModelError, torsor.symbolic.equations, fit
    )
    assert "lists: robot 'planar2r': link 'link_1'" in message(ModelError, torsor.modern_robotics.lists, fit)
