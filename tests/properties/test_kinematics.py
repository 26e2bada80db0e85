"""What must be true of the poses, velocities and accelerations of every robot's frames."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from property_checks import (
    DIFFERENTIATED,
    assert_close,
    derivative_along,
    largest,
    one_by_one,
    rate_along,
    times,
    transposed,
)
from property_strategies import (
    Case,
    any_robots,
    cases,
    quaternion_slices,
    robots,
    seeds,
    sized,
    whole_turns,
    with_scaled_quaternions,
)

import torsor
from torsor import lie
from torsor.lie import se3

JACOBIANS = {
    "body": (
        torsor.body_jacobian,
        torsor.kinematics.body_jacobian_rate,
        torsor.derivatives.body_jacobian_derivative,
        torsor.kinematics.body_twist,
    ),
    "space": (
        torsor.space_jacobian,
        torsor.kinematics.space_jacobian_rate,
        torsor.derivatives.space_jacobian_derivative,
        torsor.kinematics.space_twist,
    ),
    "mixed": (
        torsor.mixed_jacobian,
        torsor.kinematics.mixed_jacobian_rate,
        torsor.derivatives.mixed_jacobian_derivative,
        torsor.kinematics.mixed_twist,
    ),
}
ACCELERATIONS = {
    "body": torsor.kinematics.body_acceleration,
    "space": torsor.kinematics.space_acceleration,
    "mixed": torsor.kinematics.mixed_acceleration,
}


def sixty_screws() -> Case:
    """A long chain of revolute and helical joints in random directions."""
    robot = torsor.robots.random_tree(60, seed=60, kinds=("revolute", "helical"), serial=True)
    q, v, a = torsor.random_state(robot, seed=6)
    return Case(robot, q, 0.1 * v, 0.1 * a, np.random.default_rng(6))


# Poses


@given(cases())
def test_link_poses_are_the_poses_of_the_link_frames(case):
    robot, q = case.robot, case.q
    poses = torsor.link_poses(robot, q)
    assert poses.shape == (*case.batch, robot.n, 4, 4)
    for i, link in enumerate(robot.links):
        assert_close(torsor.frame_pose(robot, q, link), poses[..., i, :, :])
    assert_close(torsor.frame_pose(robot, q, "base"), np.broadcast_to(np.eye(4), (*case.batch, 4, 4)), 0.0)


@given(cases(huge_angles=True))
def test_every_frame_pose_is_a_rigid_motion(case):
    T = torsor.frame_pose(case.robot, case.q, case.frame())
    R = T[..., :3, :3]
    assert_close(R @ transposed(R), np.broadcast_to(np.eye(3), R.shape))
    assert_close(np.linalg.det(R), np.ones(case.batch))
    assert_close(T[..., 3, :], np.broadcast_to([0.0, 0, 0, 1], (*case.batch, 4)), 0.0)


@given(cases(), sized(-1, 1))
def test_the_length_of_a_quaternion_does_not_matter(case, scale):
    robot, q, v, a, _ = case
    scaled = with_scaled_quaternions(robot, q, scale)
    assert_close(torsor.link_poses(robot, scaled), torsor.link_poses(robot, q))
    there, here = torsor.inverse_dynamics(robot, scaled, v, a), torsor.inverse_dynamics(robot, q, v, a)
    assert_close(there, here, 1e-11)
    assert_close(torsor.integrate(robot, scaled, v, 0.1), torsor.integrate(robot, q, v, 0.1))


@given(cases(), st.integers(-160_000, 160_000))
def test_full_turns_change_nothing(case, turns):
    robot, q = case.robot, case.q
    turned = q + whole_turns(robot, turns)
    # 1e6 rad is known to 1.2e-10 rad, and each of up to eight joints adds its share over a few metres.
    assert_close(torsor.link_poses(robot, turned), torsor.link_poses(robot, q), 1e-8)


@given(cases(), seeds)
def test_a_frame_can_be_added_anywhere(case, seed):
    robot, q = case.robot, case.q
    T = se3.exp(np.random.default_rng(seed).normal(size=6))
    parent = case.frame()
    more = robot.with_frame("probe", parent, T)
    assert_close(torsor.frame_pose(more, q, "probe"), torsor.frame_pose(robot, q, parent) @ T)


# Jacobians


@given(cases())
@example(sixty_screws())
def test_jacobians_are_the_derivative_of_the_pose(case):
    robot, q, v, _, _ = case
    frame = case.frame()
    T = torsor.frame_pose(robot, q, frame)
    T_dot = derivative_along(lambda robot, q: torsor.frame_pose(robot, q, frame), robot, q, v)
    scale = largest(T) ** 2
    by_body = times(torsor.body_jacobian(robot, q, frame), v)
    by_space = times(torsor.space_jacobian(robot, q, frame), v)
    by_mixed = times(torsor.mixed_jacobian(robot, q, frame), v)
    assert_close(by_body, se3.body_velocity(T, T_dot), DIFFERENTIATED, scale=scale)
    assert_close(by_space, se3.spatial_velocity(T, T_dot), DIFFERENTIATED, scale=scale)
    assert_close(by_mixed[..., 3:], T_dot[..., :3, 3], DIFFERENTIATED, scale=scale)
    assert_close(by_mixed[..., :3], by_space[..., :3])


@given(cases())
def test_the_three_jacobians_are_one_in_three_frames(case):
    robot, q, frame = case.robot, case.q, case.frame()
    T = torsor.frame_pose(robot, q, frame)
    turned, shifted = T.copy(), T.copy()
    turned[..., :3, 3], shifted[..., :3, :3] = 0.0, np.eye(3)
    body, space = torsor.body_jacobian(robot, q, frame), torsor.space_jacobian(robot, q, frame)
    assert_close(lie.Ad(T) @ body, space)
    assert_close(lie.Ad(turned) @ body, torsor.mixed_jacobian(robot, q, frame))
    assert_close(lie.Ad(shifted) @ torsor.mixed_jacobian(robot, q, frame), space)


@pytest.mark.parametrize("kind", JACOBIANS)
@given(cases())
@example(sixty_screws())
@settings(max_examples=15)
def test_jacobian_rates_are_derivatives_along_the_motion(kind, case):
    robot, q, v, _, _ = case
    jacobian, rate, _, _ = JACOBIANS[kind]
    frame = case.frame()
    expected = derivative_along(lambda robot, q: jacobian(robot, q, frame), robot, q, v)
    assert_close(rate(robot, q, v, frame), expected, DIFFERENTIATED, scale=largest(jacobian(robot, q, frame)))


@pytest.mark.parametrize("kind", JACOBIANS)
@given(cases(robots(most=4)))
@settings(max_examples=15)
def test_jacobian_derivatives_are_derivatives_along_each_freedom(kind, case):
    robot, q, v, _, _ = case
    jacobian, rate, hessian, _ = JACOBIANS[kind]
    frame = case.frame()
    H = hessian(robot, q, frame)
    assert H.shape == (*case.batch, 6, robot.nv, robot.nv)
    assert_close(np.einsum("...ijk,...k->...ij", H, v), rate(robot, q, v, frame), 1e-11)
    k = int(case.rng.integers(robot.nv))
    along = derivative_along(lambda robot, q: jacobian(robot, q, frame), robot, q, np.eye(robot.nv)[k])
    assert_close(H[..., k], along, DIFFERENTIATED, scale=largest(jacobian(robot, q, frame)))


# Velocities and accelerations


@pytest.mark.parametrize("kind", JACOBIANS)
@given(cases())
@example(sixty_screws())
@settings(max_examples=15)
def test_twists_and_accelerations_are_those_of_the_jacobians(kind, case):
    robot, q, v, a, _ = case
    jacobian, rate, _, twist = JACOBIANS[kind]
    frame = case.frame()
    J, J_dot = jacobian(robot, q, frame), rate(robot, q, v, frame)
    assert_close(twist(robot, q, v, frame), times(J, v), 1e-11)
    assert_close(ACCELERATIONS[kind](robot, q, v, a, frame), times(J, a) + times(J_dot, v), 1e-11)


@pytest.mark.parametrize("kind", JACOBIANS)
@given(cases())
@settings(max_examples=15)
def test_accelerations_are_rates_of_twists(kind, case):
    robot, q, v, a, _ = case
    twist, frame = JACOBIANS[kind][3], case.frame()
    expected = rate_along(lambda robot, q, v: twist(robot, q, v, frame), robot, q, v, a)
    scale = largest(twist(robot, q, v, frame)) + largest(torsor.frame_pose(robot, q, frame)) ** 2
    assert_close(ACCELERATIONS[kind](robot, q, v, a, frame), expected, DIFFERENTIATED, scale=scale)


# Joint axes


@given(cases(robots(mimic=False)))
def test_joint_axes_are_the_columns_of_the_space_jacobians(case):
    robot, q, _, _, _ = case
    L = torsor.kinematics.joint_axes(robot, q)
    assert L.shape == (*case.batch, robot.nv, 6)
    for joint, link in zip(robot.joints, robot.links, strict=True):
        part = robot.v_slice(joint)
        assert_close(transposed(L)[..., part], torsor.space_jacobian(robot, q, link)[..., part])


@given(cases())
@example(sixty_screws())
def test_joint_axes_rate_is_the_derivative_of_the_axes(case):
    robot, q, v, _, _ = case
    expected = derivative_along(torsor.kinematics.joint_axes, robot, q, v)
    scale = largest(torsor.kinematics.joint_axes(robot, q))
    assert_close(torsor.kinematics.joint_axes_rate(robot, q, v), expected, DIFFERENTIATED, scale=scale)


@given(cases(robots(kinds=("revolute",), mimic=False)))
def test_axes_of_revolute_joints_are_lines_through_their_links(case):
    robot, q, _, _, _ = case
    line = lie.line_coordinates(torsor.kinematics.joint_axes(robot, q))
    p = torsor.link_poses(robot, q)[..., :3, 3]  # random trees have their joints at the origins of the links
    order = [robot.v_slice(joint).start for joint in robot.joints]
    assert_close(line.moment[..., order, :], np.cross(p, line.direction[..., order, :]))
    assert_close(line.pitch, np.zeros((*case.batch, robot.nv)))
    assert_close(line.magnitude, np.ones((*case.batch, robot.nv)))


# The configuration manifold


def assert_same_configuration(robot: torsor.Robot, q0: np.ndarray, q1: np.ndarray) -> None:
    """Equal up to the sign of quaternions and full turns of planar joints."""
    assert q0.shape == q1.shape
    assert_close(torsor.link_poses(robot, q0), torsor.link_poses(robot, q1), 1e-11)


@given(cases(), seeds)
def test_integrating_the_difference_leads_there(case, seed):
    robot, q0, _, _, _ = case
    q1 = torsor.random_configuration(robot, seed=seed, batch=case.batch)
    assert_same_configuration(robot, torsor.integrate(robot, q0, torsor.difference(robot, q0, q1), 1.0), q1)


@given(cases())
def test_the_difference_of_an_integration_is_its_increment(case):
    robot, q, v, _, _ = case
    u = v / max(1.0, largest(v))  # rotations by less than half a turn: √3 < π
    # Near half a turn the logarithm of a free joint has grown by (w/2)/sin(w/2) < 2, nothing else is lost.
    assert_close(torsor.difference(robot, q, torsor.integrate(robot, q, u, 1.0)), u, 1e-11)


@given(cases())
def test_integrating_nothing_stays_and_gives_unit_quaternions(case):
    robot, q, v, _, _ = case
    for still in (torsor.integrate(robot, q, 0.0 * v, 1.0), torsor.integrate(robot, q, v, 0.0)):
        assert_same_configuration(robot, still, q)
        for part in quaternion_slices(robot):
            assert_close(np.linalg.norm(still[..., part], axis=-1), np.ones(case.batch), 1e-14)
    assert_close(torsor.difference(robot, q, q), np.zeros_like(v))


@given(cases(), st.floats(-1, 1), st.floats(-1, 1))
def test_integration_with_one_velocity_adds_up(case, s, t):
    robot, q, v, _, _ = case
    twice = torsor.integrate(robot, torsor.integrate(robot, q, v, s), v, t)
    assert_same_configuration(robot, twice, torsor.integrate(robot, q, v, s + t))


@given(cases())
def test_integrate_takes_unit_time_unless_told(case):
    robot, q, v, _, _ = case
    assert_close(torsor.integrate(robot, q, v), torsor.integrate(robot, q, v, 1.0), 0.0)


@given(cases())
def test_the_neutral_configuration_is_home(case):
    robot = case.robot
    home = torsor.link_poses(robot, robot.neutral)
    assert_close(torsor.difference(robot, robot.neutral, robot.neutral), np.zeros(robot.nv))
    for i, parent in enumerate(robot.structure.parents):
        if robot.structure.couplings[i].offset == 0.0:
            T_p = np.eye(4) if parent < 0 else home[parent]
            assert_close(home[i], T_p @ robot.parameters.poses[i])


# Names


@given(cases(batches=((),)))
def test_states_survive_their_dictionaries(case):
    robot, q, v, _, _ = case
    assert_close(robot.q_from_dict(robot.q_to_dict(q)), q, 0.0)
    assert_close(robot.v_from_dict(robot.v_to_dict(v)), v, 0.0)
    some = dict(list(robot.q_to_dict(q).items())[::2])
    mixed = robot.q_from_dict(some, default=q + 1.0)
    for name in robot.coordinates:
        part = robot.q_slice(name)
        assert_close(mixed[part], q[part] if name in some else q[part] + 1.0, 0.0)
    assert_close(robot.q_from_dict({}), robot.neutral, 0.0)


@given(cases())
def test_dictionaries_of_batches_hold_each_joints_numbers(case):
    robot, q, v, _, _ = case
    for values, named, part_of in ((q, robot.q_to_dict(q), robot.q_slice), (v, robot.v_to_dict(v), robot.v_slice)):
        assert list(named) == list(robot.coordinates)
        for name, numbers in named.items():
            part = values[..., part_of(name)]
            assert_close(numbers, part[..., 0] if part.shape[-1] == 1 else part, 0.0)


# Batches


@given(cases(batches=((1,), (3,), (2, 3))))
def test_a_batch_of_states_gives_what_each_state_gives_alone(case):
    robot, q, v, a, _ = case
    frame, batch = case.frame(), case.batch
    other = torsor.random_configuration(robot, seed=case.rng, batch=batch)
    functions = {
        "link_poses": (lambda q: torsor.link_poses(robot, q), q),
        "joint_axes_rate": (lambda q, v: torsor.kinematics.joint_axes_rate(robot, q, v), q, v),
        "integrate": (lambda q, v: torsor.integrate(robot, q, v, 0.3), q, v),
        "difference": (lambda q, other: torsor.difference(robot, q, other), q, other),
    }
    for kind, (jacobian, rate, hessian, twist) in JACOBIANS.items():
        acceleration = ACCELERATIONS[kind]
        functions |= {
            f"{kind} jacobian": (lambda q, f=jacobian: f(robot, q, frame), q),
            f"{kind} rate": (lambda q, v, f=rate: f(robot, q, v, frame), q, v),
            f"{kind} twist": (lambda q, v, f=twist: f(robot, q, v, frame), q, v),
            f"{kind} acceleration": (lambda q, v, a, f=acceleration: f(robot, q, v, a, frame), q, v, a),
        }
        if robot.nv <= 8:
            functions[f"{kind} derivative"] = (lambda q, f=hessian: f(robot, q, frame), q)
    name = str(case.rng.choice(list(functions)))
    f, *arguments = functions[name]
    assert_close(f(*arguments), one_by_one(f, batch, *arguments))


@given(any_robots, seeds)
def test_one_configuration_serves_a_batch_of_velocities(robot, seed):
    q, _, _ = torsor.random_state(robot, seed=seed)
    v = np.random.default_rng(seed).normal(size=(4, robot.nv))
    frame = robot.frames[seed % len(robot.frames)]
    V = torsor.kinematics.body_twist(robot, q, v, frame)
    assert V.shape == (4, 6)
    assert_close(V, times(torsor.body_jacobian(robot, q, frame), v), 1e-11)
