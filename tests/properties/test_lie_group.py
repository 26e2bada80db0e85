"""What must be true of every rotation, rigid motion, twist and wrench."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from property_checks import DIFFERENTIATED, assert_close, derivative, largest
from property_strategies import (
    PI,
    all_angles,
    all_lengths,
    angles_up_to_pi,
    directions,
    lengths,
    moderate_twists,
    poses,
    quaternions,
    rotation_vectors,
    seeds,
    sized,
    twists,
    vectors3,
    vectors6,
)
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from torsor import lie
from torsor.lie import quaternion, se3, so3
from torsor.lie.unchecked.twists import helical_motion, prismatic_motion, revolute_motion

far_poses = poses(all_angles, all_lengths)
# Beyond |w| = 6 the inverse Jacobians approach their singularity at 2π.
invertible_twists = twists(st.one_of(angles_up_to_pi, st.floats(PI, 6.0)), lengths)


# The group


@given(far_poses, far_poses, far_poses)
def test_composition_is_associative_with_identity_and_inverse(A, B, C):
    scale = 1 + largest(A) + largest(B) + largest(C)
    assert_close(se3.compose(se3.compose(A, B), C), se3.compose(A, se3.compose(B, C)), scale=scale)
    assert_close(se3.compose(A, np.eye(4)), A)
    assert_close(se3.compose(se3.inverse(A), A), np.eye(4), scale=scale)
    assert_close(se3.compose(A, se3.inverse(A)), np.eye(4), scale=scale)
    assert_close(se3.inverse(se3.compose(A, B)), se3.compose(se3.inverse(B), se3.inverse(A)), scale=scale)


@given(far_poses)
def test_a_pose_is_made_of_its_rotation_and_translation(T):
    assert_close(se3.pose(se3.rotation(T), se3.translation(T)), T, 0.0)


@given(rotation_vectors())
def test_exp_is_a_rotation_for_every_angle(w):
    R = so3.exp(w)
    assert_close(R @ R.T, np.eye(3))
    assert_close(np.linalg.det(R), 1.0)
    assert_close(R @ w, w)


@given(rotation_vectors())
def test_exp_turns_as_far_as_the_rotation_vector_says(w):
    # An angle of 1e6 rad is itself known only to 1e6 · 1.1e-16 rad.
    assert_close(so3.exp(w), Rotation.from_rotvec(w).as_matrix(), 1e-14 * max(100.0, np.linalg.norm(w)))


@given(moderate_twists)
def test_exp_is_the_matrix_exponential(S):
    assert_close(se3.exp(S), expm(se3.hat(S)))
    assert_close(so3.exp(S[:3]), expm(so3.hat(S[:3])))


@given(twists(lengths=all_lengths))
def test_exp_of_the_negative_is_the_inverse(S):
    assert_close(se3.exp(-S), se3.inverse(se3.exp(S)))


@given(moderate_twists, st.floats(-2, 2), st.floats(-2, 2))
def test_motions_along_one_screw_add(S, s, t):
    assert_close(se3.exp(s * S) @ se3.exp(t * S), se3.exp((s + t) * S))


@given(far_poses)
def test_exp_of_log_is_the_pose(T):
    assert_close(se3.exp(se3.log(T)), T)
    assert_close(so3.exp(so3.log(T[:3, :3])), T[:3, :3])


@given(twists(angles_up_to_pi, all_lengths))
def test_log_of_exp_is_the_screw_up_to_half_a_turn(S):
    angle, scale = np.linalg.norm(S[:3]), 1 + np.linalg.norm(S[3:])
    found = se3.log(se3.exp(S))
    if PI - angle < 1e-6 and found[:3] @ S[:3] < 0:  # at half a turn rounding decides between w and −w
        assert_close(se3.exp(found), se3.exp(S), scale=scale)
        assert_close(np.linalg.norm(found[:3]), angle)
    else:
        assert_close(found[:3], S[:3])
        assert_close(found, S, scale=scale)


@settings(max_examples=60)
@given(twists(sized(-12, 0.4), sized(-12, 0)))
def test_log_of_exp_keeps_the_digits_of_small_rotations(S):
    assert largest(so3.log(so3.exp(S[:3])) - S[:3]) <= 1e-12 * largest(S[:3])
    assert largest(se3.log(se3.exp(S)) - S) <= 1e-12 * largest(S)


@given(twists(lengths=all_lengths))
def test_log_never_turns_more_than_half(S):
    assert np.linalg.norm(se3.log(se3.exp(S))[:3]) <= PI * (1 + 1e-15)


# The algebra and its actions


@given(vectors6, vectors6)
def test_hat_and_vee_are_inverse_and_linear(V, W):
    assert_close(se3.vee(se3.hat(V)), V, 0.0)
    assert_close(so3.vee(so3.hat(V[:3])), V[:3], 0.0)
    assert_close(se3.hat(2 * V - W), 2 * se3.hat(V) - se3.hat(W))
    assert_close(so3.hat(V[:3]) @ W[:3], np.cross(V[:3], W[:3]))


@given(vectors6, vectors6, vectors6)
def test_bracket_is_antisymmetric_and_satisfies_jacobi(X, Y, Z):
    bracket = lie.bracket
    assert_close(bracket(X, Y), -bracket(Y, X))
    cyclic = bracket(X, bracket(Y, Z)) + bracket(Y, bracket(Z, X)) + bracket(Z, bracket(X, Y))
    assert_close(cyclic, np.zeros(6), scale=largest(X) * largest(Y) * largest(Z))


@given(vectors6, vectors6, poses())
def test_bracket_is_the_commutator_in_every_frame(X, Y, T):
    A, B = se3.hat(X), se3.hat(Y)
    assert_close(se3.hat(lie.bracket(X, Y)), A @ B - B @ A)
    moved = lie.bracket(lie.transform_twist(T, X), lie.transform_twist(T, Y))
    assert_close(lie.transform_twist(T, lie.bracket(X, Y)), moved)


@given(far_poses, poses(), vectors6)
def test_adjoint_is_a_homomorphism_and_conjugates(A, B, V):
    scale = largest(A) * largest(B)
    assert_close(lie.Ad(A @ B), lie.Ad(A) @ lie.Ad(B), scale=scale)
    assert_close(lie.Ad(se3.inverse(A)) @ lie.Ad(A), np.eye(6), scale=largest(A) ** 2)
    assert_close(se3.hat(lie.transform_twist(A, V)), A @ se3.hat(V) @ se3.inverse(A), scale=largest(A) ** 2)


@given(moderate_twists)
def test_adjoint_of_exp_is_exp_of_ad(S):
    assert_close(lie.Ad(se3.exp(S)), expm(lie.ad(S)))


@given(far_poses, vectors6, vectors6)
def test_actions_are_what_their_matrices_do(T, V, F):
    Ad, scale = lie.Ad(T), largest(T)
    assert_close(lie.transform_twist(T, V), Ad @ V)
    assert_close(lie.transform_twist_inverse(T, V), np.linalg.inv(Ad) @ V, scale=scale**2)
    assert_close(lie.transform_wrench(T, F), Ad.T @ F)
    assert_close(lie.transform_wrench_inverse(T, F), np.linalg.inv(Ad).T @ F, scale=scale**2)
    assert_close(lie.bracket(V, F), lie.ad(V) @ F)
    assert_close(lie.bracket_dual(V, F), lie.ad(V).T @ F)


@given(far_poses, vectors6, vectors6, vectors6)
def test_power_is_the_same_in_every_frame_and_duals_are_dual(T, F_a, V_b, W):
    V_a, F_b = lie.transform_twist(T, V_b), lie.transform_wrench(T, F_a)
    assert_close(F_a @ V_a, F_b @ V_b, scale=largest(T))
    assert_close(F_a @ lie.bracket(V_b, W), lie.bracket_dual(V_b, F_a) @ W)


# Jacobians of the exponential


@given(moderate_twists, vectors6)
def test_jacobians_are_the_derivative_of_exp(S, D):
    T_dot, T_inv = derivative(lambda t: se3.exp(S + t * D)), se3.inverse(se3.exp(S))
    assert_close(se3.left_jacobian(S) @ D, se3.vee(T_dot @ T_inv), DIFFERENTIATED)
    assert_close(se3.right_jacobian(S) @ D, se3.vee(T_inv @ T_dot), DIFFERENTIATED)
    w, d = S[:3], D[:3]
    R_dot, R_inv = derivative(lambda t: so3.exp(w + t * d)), so3.exp(-w)
    assert_close(so3.left_jacobian(w) @ d, so3.vee(R_dot @ R_inv), DIFFERENTIATED)
    assert_close(so3.right_jacobian(w) @ d, so3.vee(R_inv @ R_dot), DIFFERENTIATED)


@given(moderate_twists)
def test_adjoint_of_exp_leads_from_the_right_to_the_left_jacobian(S):
    assert_close(lie.Ad(se3.exp(S)) @ se3.right_jacobian(S), se3.left_jacobian(S))
    assert_close(se3.left_jacobian(S) @ S, S)


@given(invertible_twists)
def test_inverse_jacobians_are_inverses(S):
    # At |w| = 6 the inverse has grown to (w/2)/sin(w/2) ≈ 20, and twice that enters its lower left block.
    for left, inverse in (
        (se3.left_jacobian, se3.left_jacobian_inverse),
        (se3.right_jacobian, se3.right_jacobian_inverse),
    ):
        assert_close(left(S) @ inverse(S), np.eye(6), scale=largest(inverse(S)))
    for left, inverse in (
        (so3.left_jacobian, so3.left_jacobian_inverse),
        (so3.right_jacobian, so3.right_jacobian_inverse),
    ):
        assert_close(left(S[:3]) @ inverse(S[:3]), np.eye(3), scale=largest(inverse(S[:3])))


# Paths


@given(moderate_twists, poses(), vectors6)
def test_velocities_of_a_path_are_its_twist_seen_from_both_ends(S, T_0, D):
    def path(t):
        return se3.exp(S + t * D) @ T_0

    T, T_dot = path(0.0), derivative(path)
    V_s, V_b = se3.spatial_velocity(T, T_dot), se3.body_velocity(T, T_dot)
    assert_close(lie.transform_twist(T, V_b), V_s, DIFFERENTIATED)
    assert_close(se3.hat(V_s) @ T, T_dot, DIFFERENTIATED)
    assert_close(V_s, se3.left_jacobian(S) @ D, DIFFERENTIATED)


@given(poses(), vectors6)
def test_a_motion_along_a_screw_has_that_screw_as_its_velocity(T, S):
    assert_close(se3.spatial_velocity(T, se3.hat(S) @ T), S)
    assert_close(se3.body_velocity(T, T @ se3.hat(S)), S)
    R = T[:3, :3]
    assert_close(so3.angular_velocity(R, so3.rotation_rate(R, S[:3])), S[:3])


# Screws and lines


@given(directions, vectors3, st.floats(-2, 2), sized(-3, 3))
def test_line_coordinates_of_a_screw_are_its_axis_point_and_pitch(axis, point, pitch, length):
    line = lie.line_coordinates(length * lie.screw(axis, point, pitch))
    assert_close(line.direction, axis)
    assert_close(line.moment, np.cross(point, axis))
    assert_close(line.pitch, pitch)
    assert abs(line.magnitude - length) <= 1e-12 * length


@given(directions, sized(-3, 3))
def test_a_screw_without_rotation_is_a_line_at_infinity(direction, length):
    line = lie.line_coordinates(np.concatenate([np.zeros(3), length * direction]))
    assert_close(line.direction, direction)
    assert_close(line.moment, np.zeros(3))
    assert line.pitch == np.inf
    assert abs(line.magnitude - length) <= 1e-12 * length


@given(directions, vectors3, st.floats(-2, 2), poses())
def test_pitch_and_magnitude_do_not_depend_on_the_frame(axis, point, pitch, T):
    S = 1.7 * lie.screw(axis, point, pitch)
    here, there = lie.line_coordinates(S), lie.line_coordinates(lie.transform_twist(T, S))
    assert_close(there.pitch, here.pitch)
    assert_close(there.magnitude, here.magnitude)
    assert_close(there.direction, T[:3, :3] @ here.direction)
    assert_close(there.moment @ there.direction, 0.0)


@given(directions, vectors3, st.floats(-2, 2), st.floats(-10, 10))
def test_closed_form_motions_of_unit_screws_are_the_exponential(axis, point, pitch, x):
    x = np.float64(x)
    sine, cosine = np.sin(x), np.cos(x)
    turning, climbing = lie.screw(axis, point), lie.screw(axis, point, pitch)
    assert_close(revolute_motion(turning, sine, cosine), se3.exp(turning * x))
    assert_close(helical_motion(climbing, sine, cosine, x), se3.exp(climbing * x))
    sliding = np.concatenate([np.zeros(3), axis])
    assert_close(prismatic_motion(sliding, x), se3.exp(sliding * x))


# Quaternions


@given(quaternions())
def test_rotation_of_a_quaternion_does_not_depend_on_its_length(quat):
    R = quaternion.to_rotation(quat)
    assert_close(R @ R.T, np.eye(3))
    assert_close(R, Rotation.from_quat(quat).as_matrix())


@given(quaternions())
def test_quaternion_of_a_rotation_is_unit_and_leads_back(quat):
    found = quaternion.from_rotation(quaternion.to_rotation(quat))
    assert found[3] >= 0
    assert_close(np.linalg.norm(found), 1.0)
    unit = quat / np.linalg.norm(quat)
    assert_close(found * np.sign(found @ unit), unit)


@given(quaternions(), quaternions())
def test_quaternion_product_composes_rotations_and_conjugate_inverts(a, b):
    R_a, R_b = quaternion.to_rotation(a), quaternion.to_rotation(b)
    assert_close(quaternion.to_rotation(quaternion.product(a, b)), R_a @ R_b)
    assert_close(quaternion.to_rotation(quaternion.conjugate(a)), R_a.T)


@given(rotation_vectors(), sized(-1, 1))
def test_quaternion_exp_and_log_are_those_of_rotations(w, scale):
    quat = quaternion.exp(w)
    assert_close(np.linalg.norm(quat), 1.0)
    # An angle of 1e6 rad is itself known only to 1e6 · 1.1e-16 rad.
    assert_close(quaternion.to_rotation(quat), so3.exp(w), 1e-14 * max(100.0, np.linalg.norm(w)))
    assert_close(so3.exp(quaternion.log(scale * quat)), quaternion.to_rotation(quat))


# Batches

FUNCTIONS = {
    "so3.hat": (so3.hat, "3"),
    "so3.exp": (so3.exp, "3"),
    "so3.log": (so3.log, "R"),
    "so3.left_jacobian": (so3.left_jacobian, "3"),
    "so3.left_jacobian_inverse": (so3.left_jacobian_inverse, "3"),
    "so3.rotation_rate": (so3.rotation_rate, "R3"),
    "se3.exp": (se3.exp, "6"),
    "se3.log": (se3.log, "T"),
    "se3.inverse": (se3.inverse, "T"),
    "se3.pose": (se3.pose, "R3"),
    "se3.left_jacobian": (se3.left_jacobian, "6"),
    "se3.right_jacobian_inverse": (se3.right_jacobian_inverse, "6"),
    "se3.body_velocity": (se3.body_velocity, "TT"),
    "quaternion.from_rotation": (quaternion.from_rotation, "R"),
    "quaternion.exp": (quaternion.exp, "3"),
    "Ad": (lie.Ad, "T"),
    "ad": (lie.ad, "6"),
    "transform_twist": (lie.transform_twist, "T6"),
    "transform_twist_inverse": (lie.transform_twist_inverse, "T6"),
    "transform_wrench": (lie.transform_wrench, "T6"),
    "transform_wrench_inverse": (lie.transform_wrench_inverse, "T6"),
    "bracket": (lie.bracket, "66"),
    "bracket_dual": (lie.bracket_dual, "66"),
    "screw": (lie.screw, "331"),
    "screw without pitch": (lie.screw, "33"),
    "revolute_motion": (revolute_motion, "611"),
    "helical_motion": (helical_motion, "6111"),
    "prismatic_motion": (prismatic_motion, "61"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@given(st.sampled_from([(1,), (2,), (3,), (2, 3)]), seeds)
def test_a_batch_gives_what_each_element_gives_alone(name, batch, seed):
    function, letters = FUNCTIONS[name]
    rng = np.random.default_rng(seed)
    w, p, number = rng.normal(size=(*batch, 3)), rng.normal(size=(*batch, 3)), rng.normal(size=batch)
    T = np.array([se3.exp(x) for x in np.concatenate([w, p], -1).reshape(-1, 6)]).reshape(*batch, 4, 4)
    given_as = {"1": number, "3": w, "6": np.concatenate([w, p], -1), "R": T[..., :3, :3], "T": T}
    arguments = [given_as[letter] for letter in letters]
    alone = [function(*(x[index] for x in arguments)) for index in np.ndindex(batch)]
    assert_close(function(*arguments), np.reshape(alone, (*batch, *np.shape(alone[0]))))
    assert function(*(x[:0] for x in arguments)).shape == (0, *batch[1:], *np.shape(alone[0]))


@given(poses(angles_up_to_pi), st.integers(1, 5))
def test_one_pose_moves_a_whole_batch_of_twists(T, count):
    V = np.random.default_rng(count).normal(size=(count, 6))
    assert_close(lie.transform_twist(T, V), V @ lie.Ad(T).T)
